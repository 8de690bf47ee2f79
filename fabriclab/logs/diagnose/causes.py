"""The causes that can be told apart, and what each sign says for or against them: a table, to be
read and argued with.

A weight says how far a sign speaks for a cause: 4 names it, 3 hardly leaves another, 2 points to
it, 1 fits; the same below zero against it. A sign that is not in the table is a fact without a
direction. The sum over the signs that were seen ranks the causes; `verdict` says how much of a lead
is enough.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cause:
    """A cause by name, its layer in the chapter's terms, and what to measure or do next."""

    name: str
    layer: str
    next: str


CAUSES = {
    "input": Cause(
        "starved input",
        "application and input",
        "run the same step on made-up input (no files, no decoding): if it is fast, watch the"
        " loader's CPUs and storage (top, iostat)",
    ),
    "alone": Cause(
        "every rank ran alone",
        "NCCL and configuration",
        "build nccl-tests with MPI=1, start it with mpirun, and see one table of all ranks",
    ),
    "socket": Cause(
        "fallback to TCP sockets",
        "NCCL and configuration",
        "ibv_devinfo on every node, then NCCL_DEBUG=INFO NCCL_IB_HCA unset: does NET/IB find a"
        " device?",
    ),
    "hca": Cause(
        "wrong or too few HCAs",
        "NCCL and configuration",
        "unset NCCL_IB_HCA, run all_reduce_perf with NCCL_DEBUG=INFO again, and see every port of"
        " the node behind NET/IB",
    ),
    "gdr": Cause(
        "GPUDirect RDMA is off",
        "NCCL and configuration",
        "load nvidia_peermem (or use DMA-BUF) on every node, then NCCL_DEBUG=INFO again: is GDRDMA"
        " behind NET/IB?",
    ),
    "mtu": Cause(
        "an MTU that differs on the path",
        "transport and congestion",
        "compare active_mtu (ibv_devinfo) at both ends and the MTU of the switch ports between:"
        " make them one, and run again",
    ),
    "pcie": Cause(
        "ACS, IOMMU or PCIe below the NIC",
        "the host",
        "run ib_write_bw from host and from GPU memory; lspci -vvv for LnkSta and ACSCtl, and the"
        " kernel's IOMMU setting: ACS off on the bridges, IOMMU passed through",
    ),
    "host": Cause(
        "one slow host",
        "the host",
        "take that host out and run the same collective again; then look at its clocks, PCIe,"
        " memory and NICs",
    ),
    "neighbour": Cause(
        "a noisy neighbour on the path",
        "transport and congestion",
        "repeat ib_write_bw with the other job stopped or moved; then give it a lane or a limit of"
        " its own",
    ),
    "storm": Cause(
        "a PFC storm",
        "transport and congestion",
        "show pfcwd stats again and ethtool -S on the host behind the port that pauses most; take"
        " that host out and see the pauses end",
    ),
    "ecmp": Cause(
        "flows that collide on one path (ECMP)",
        "topology and placement",
        "repeat ib_write_bw between the pair with -q 1 and -q 16, several times: a collision"
        " changes with the ports that are hashed",
    ),
    "placement": Cause(
        "a placement across oversubscribed uplinks",
        "topology and placement",
        "run alltoall_perf again with all nodes under one leaf, and compare",
    ),
    "link": Cause(
        "a degraded link",
        "physical layer",
        "mlxlink -d DEVICE -c at both ends of that link; reseat, clean or swap the cable, and run"
        " ib_write_bw again",
    ),
    "setting": Cause(
        "a port set below its speed",
        "physical layer",
        "mlxlink -d DEVICE at both ends: enable the speed that the cable is good for, by the"
        " administrator's word, and run ib_write_bw again",
    ),
    "counters": Cause(
        "full 32-bit counters, and no fault",
        "the measurement",
        "read the extended counters: perfquery -x LID PORT, twice, with date -Is before each",
    ),
}

NETWORK = (
    "socket",
    "hca",
    "gdr",
    "mtu",
    "pcie",
    "host",
    "neighbour",
    "storm",
    "ecmp",
    "placement",
    "link",
    "setting",
)


def _all(weight, **others):
    return dict.fromkeys(NETWORK, weight) | others


SIGNS = {
    # 1: GPU utilisation
    "gpu-full": _all(-2, input=-3),
    "gpu-holes": _all(
        -1, input=2
    ),  # computing is dense, but part of the time there is nothing to compute
    "gpu-low": {"input": 1},  # the chapter: starved input and a slow network look alike here
    "gpu-waits": _all(1, input=-3),
    "gpu-busy": {"input": -2},
    "gpu-sparse": {},
    "gpu-unclear": {},
    "gpu-left-out": {"host": 1},
    "slow": {},
    "input-cures": _all(-3, input=3),
    "input-partly": {"input": 1},
    "input-cleared": {"input": -3},
    "slow-without-network": {"input": 2, "counters": -2},
    "slow-elsewhere": {
        "input": 1,
        "counters": -2,
    },  # the same, and nobody looked whether the GPUs lack work: one may be slow itself
    # 2: NCCL
    "alone": {"alone": 4},
    "socket": {"socket": 4},
    "socket-set": {},
    "networks-differ": {"socket": 2},
    "no-provider": {"socket": 3},
    "transport": {"socket": -4},
    "ports-all": {"hca": -4},
    "told-ports": {},
    "one-port": {},
    "ports-unused": {"hca": 1},
    "speeds-differ": {},
    "no-gdr": {"gdr": 4},
    "gdr-on": {"gdr": -4},
    "shm": {},
    "net-inside": {},
    "rails-change": {},
    "ring-crosses": {},
    "nccl-warns": {},
    # NCCL's status of a transfer, as verbs name it
    "status-retry": {"mtu": 1, "link": 1, "storm": 1},
    "status-not-ready": {"host": 1},
    "status-protection": {"pcie": 2, "gdr": 1, "link": -2},
    "status-length": {"mtu": 3, "link": -1},
    "status-flushed": {},
    "status-other": {},
    "collective-timeout": {"host": 1},
    "collectives-differ": {},
    "ranks-behind": {"host": 1},
    "test-died": {},
    # nccl-tests: what spoils a table, or is odd in it
    "wrong-results": {},
    "out-of-bounds": {},
    "unchecked": {},
    "ranks-disagree": {},
    "shared-gpu": {},
    "algbw-off": {},
    "busbw-off": {},
    "mean-off": {},
    "beyond-memory": {},
    "passes-differ": {},
    "busbw-falls": {},
    "hole": {},
    "busbw-jumps": {},
    "stalled": {},
    "cut-short": {},
    "nvlink-low": {},
    "nics-low": {},
    "nccl-beyond": {},
    "nccl-good-once": {},
    "nccl-good-so-far": {},
    "alltoall-good": {},
    "alltoall-low": {},
    "slow-on-some-hosts": {"host": 2, "link": 1, "neighbour": -1},
    # NCCL's topology
    "pcie-slow": {"pcie": 3},
    "pcie-narrow": {"pcie": 1},
    "nvlinks-differ": {},
    "gpus-uneven": {},
    "gpu-far": {},
    "fewer-than-gpus": {"hca": 1},  # as many nodes are built
    "few-ports": {"hca": 3, "link": -1, "ecmp": -1, "placement": -1},
    "forced-ports": {"hca": 1},
    "nccl-good": _all(
        -2, placement=-1
    ),  # a ring goes at its slowest link, but hardly crosses a tapered cut
    "nccl-unjudged": {"counters": -3},  # slow or not, by a port's rate that nobody told
    "nccl-low": _all(1, input=-1, counters=-2),
    "nccl-like-ports": {"hca": 1, "link": -1, "ecmp": -1},
    "nccl-like-lanes": {"link": 1, "setting": 1, "ecmp": 1},
    "nccl-varies": {"neighbour": 2, "ecmp": 1, "storm": 1, "link": -2, "hca": -2, "placement": -1},
    "alltoall-only": {"placement": 3, "ecmp": 1, "link": -2, "hca": -2},
    # 3: point to point
    "pairs-good": {"link": -1, "neighbour": -1, "ecmp": -1, "storm": -1},
    "pairs-good-nccl-low": {"hca": 1, "placement": 1, "socket": 1, "gdr": 1, "pcie": 1},
    "pair-like-lanes": {"link": 2, "setting": 1, "ecmp": 1, "placement": -2, "hca": -1},
    "pair-low": {"counters": -2, "input": -1, "placement": -1, "hca": -1},
    "pair-stop-and-go": {"neighbour": 2, "storm": 1, "link": -2},
    "pair-varies": {"neighbour": 1, "ecmp": 1, "link": -2},
    "some-pairs": {"link": 1, "ecmp": 1},
    "more-flows-cure": {"ecmp": 3, "link": -3, "neighbour": -1, "storm": -1},
    "cold-part": {"link": 2, "storm": 1, "ecmp": -1, "neighbour": -1, "placement": -1, "hca": -1},
    "cold-host": {"host": 4, "link": -2, "ecmp": -2, "neighbour": -1, "storm": -1},
    "cold-alike": {},
    "cold-unexplained": {},
    "pairs-unclear": {},
    "gpu-memory-low": {"pcie": 3, "placement": -1},
    "host-memory-good": {"pcie": 2, "link": -2, "ecmp": -2, "neighbour": -2, "storm": -1},
    "mtu-differs": {"mtu": 3},
    "too-fast": {},
    "loopback": {},
    "software": {},
    "clocks": {},
    "too-short": {},
    "average-above-peak": {},
    "messages-off": {},
    "average-falls": {},
    "long-tail": {"neighbour": 1, "storm": 1},
    "cold-scattered": {"ecmp": 2, "neighbour": 1, "link": -1},
    "pair-unjudged": {"counters": -3},
    "late": {"neighbour": 1, "storm": 1, "ecmp": 1, "link": -1},
    "very-late": {"storm": 1},
    "prompt": {"neighbour": -1, "storm": -1},
    # 4: pauses, waits, discards
    "stormed": {"storm": 4},
    "stormed-before": {"storm": 2},  # counted since who knows when
    "card-storms": {"storm": 2},
    "storms-spread": {},
    "watchdog-slow": {},
    "dropped": {},
    "many-priorities": {},
    "one-pauser": {"storm": 2, "neighbour": -1},
    "paused": {"storm": 1, "neighbour": 1, "ecmp": 1},
    "no-pauses": {"storm": -3, "neighbour": -1, "ecmp": -1},
    "no-storm": {"storm": -2},
    "infiniband": {
        "storm": -3
    },  # credits, not pauses; two flows that meet on one route are halved there as well
    "waits": {"neighbour": 1, "placement": 1},
    "discards": {"neighbour": 1, "storm": 1, "link": -2},
    "discards-once": {},
    "not-comparable": {},
    "no-counters": {},
    "rate": {},
    "idle": {},
    "fabric-unclear": {},
    "others-fill-it": {"neighbour": 3, "link": -1},
    "counters-full": {"counters": 3},
    "marked": {"neighbour": 1, "ecmp": 1},
    "cached-counts": {},
    # counters of RDMA devices, since the driver was loaded
    "rdma-damage": {"link": 2},
    "rdma-down": {"link": 1},
    "rdma-retry": {"mtu": 1, "link": 1, "storm": 1},
    "rdma-loss": {"link": 1, "neighbour": 1},
    "rdma-discard": {"neighbour": 1, "storm": 1},
    "rdma-receiver": {"host": 1},
    "rdma-work": {},
    "rdma-marked": {"neighbour": 1, "ecmp": 1},
    "quiet": {"neighbour": -2, "storm": -1, "placement": -1},
    "tapered": {"placement": 3},
    "not-tapered": {"placement": -3},
    # 5: the physical layer
    "slow-port": {"link": 4},
    "slower-port": {"link": 1},  # than another one here, which may be meant for something else
    "set-slow": {"setting": 4, "link": -3, "ecmp": -2},
    "port-down": {"link": 1},
    "weak-light": {"link": 2},
    "hot-module": {"link": 1},
    "port-idle": {},
    "one-lane": {"link": 1},
    "mtu-below": {},
    "nvlink-down": {},
    "nvlink-slow": {},
    "nvlink-errors": {},
    "acs-on": {"pcie": 3},
    "nic-far": {"pcie": 1},
    "slow-cable": {"link": 3},
    "uneven": {},
    "asleep": {},
    "one-end": {},
    "ends-disagree": {},
    "no-speed": {},
    "firmware-says": {"link": 1},
    "fec-margin": {"link": 1},
    "bad-lane": {"link": 2},
    "recoveries": {"link": 1},
    "errors-old": {},
    "other-errors": {},
    "bit-errors": {"link": 2},
    "receive-errors": {"link": 2},
    "errors-once": {"link": 1},  # counted since who knows when
    "link-downs": {"link": 1},
    "clean": {"link": -2},
}

SLOW = frozenset(
    (
        "slow",
        "nccl-low",
        "alltoall-low",
        "alltoall-only",
        "pair-low",
        "gpu-memory-low",
        "nccl-varies",
        "pair-varies",
        "slow-on-some-hosts",
    )
)  # something is slow, whatever the cause
FELT = SLOW | {
    "late",
    "test-died",
    "collective-timeout",
    "status-retry",
    "status-not-ready",
    "status-protection",
    "status-length",
    "status-other",
}  # something is amiss for a job; without it a weak sign of a fault is none of a cause
SOUND = {  # what shows that a step was looked at and found in order
    1: {"gpu-full", "gpu-busy", "input-cleared"},
    2: {"nccl-good"},
    3: {"pairs-good"},
    4: {"quiet", "no-pauses"},
    5: {"clean"},
}
