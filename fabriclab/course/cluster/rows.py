"""Level 5: the gradient bus, SuperPOD and Grand Teton, silent waste, and a job that slows down."""

from fabriclab import catalog, cluster, collectives, nccl, topology
from fabriclab.course.engine.ledger import Row
from fabriclab.units import GB, day, ms

NDR = catalog.NDR.alpha, catalog.NDR.beta

UNIT = cluster.scalable_unit()
RUN = cluster.gpu_hours(1024, 30 * day)
BEFORE, AFTER = 4.2, 4.8  # s an iteration, Checkpoint 1.5
AT_TEN = 1 / 0.9 - 1  # how much longer a transfer takes at 10 % less bandwidth


def _buckets(n):
    return cluster.bucketed_step(500 * ms, n, 300 * ms / n).exposed


def _pod(units):
    return topology.superpod_h100(units)


def _hours(lengthening):
    return cluster.gpu_hours(1024, 30 * day, lengthening)


ROWS = [
    # the gradient bus
    Row(
        "overlap/ideal",
        "The GPU-to-GPU gradient bus",
        "0 ms",
        lambda: cluster.exposed_overlap(300 * ms, 500 * ms),
        "agrees",
        "max(0, 300 - 500): as if every gradient were there from the start. Equal buckets expose"
        f" the last one at least: {_buckets(1) / ms:.0f} ms as one bucket, {_buckets(10) / ms:.0f}"
        " as ten",
    ),
    Row(
        "overlap/backward",
        "The GPU-to-GPU gradient bus",
        "500 ms",
        None,
        "assumed",
        "an input; Napkin Math 1.2 has 101 ms for all the computing of a step",
    ),
    Row(
        "overlap/allreduce",
        "The GPU-to-GPU gradient bus",
        "300 ms",
        None,
        "assumed",
        "an input; over NDR it is a ring of 1,024 ranks on about 7.4 GB"
        f" ({collectives.ring_allreduce(7.43 * GB, 1024, *NDR) / ms:.0f} ms)",
    ),
    Row(
        "overlap/least",
        "older edition, overlap 80 % effective",
        "60 ms",
        lambda: cluster.exposed_overlap(300 * ms, 500 * ms, 0.8),
        "agrees",
        "exposed; the edition prints 60-80 %, the milliseconds are its consequence",
    ),
    Row(
        "overlap/most",
        "older edition, overlap 60 % effective",
        "120 ms",
        lambda: cluster.exposed_overlap(300 * ms, 500 * ms, 0.6),
        "agrees",
        "exposed",
    ),
    # SuperPOD
    Row(
        "superpod/unit",
        "Case study: DGX SuperPOD",
        "256",
        lambda: UNIT.gpus,
        "agrees",
        "GPUs of a scalable unit, 32 nodes of 8",
    ),
    Row(
        "superpod/injection",
        "Case study: DGX SuperPOD",
        "12.8 TB/s",
        lambda: topology.superpod_b200(1).injection().sum(),
        "agrees",
        "256 ports of 50 GB/s, one way",
    ),
    Row(
        "superpod/nvlink",
        "Case study: DGX SuperPOD",
        "900 GB/s",
        lambda: catalog.H100.nvlink.both_directions,
        "agrees",
        "both directions together; the 50 GB/s of a port are one way (E-01)",
    ),
    Row(
        "superpod/port",
        "Case study: DGX SuperPOD",
        "400 Gb/s",
        lambda: catalog.H100.port.per_direction,
        "agrees",
    ),
    Row(
        "superpod/memory",
        "older edition, DGX H100",
        "640 GB",
        lambda: nccl.DGX_H100.gpus * 80 * GB,
        "agrees",
        "eight GPUs of 80 GB",
    ),
    Row(
        "superpod/host-memory",
        "older edition, DGX H100",
        "2 TB",
        None,
        "assumed",
        "NVIDIA DGX H100 data sheet; three times the memory of its GPUs, room to stage a"
        " checkpoint",
    ),
    Row(
        "superpod/adapters",
        "older edition, DGX H100",
        "8",
        lambda: len(nccl.DGX_H100.hcas),
        "agrees",
        "ConnectX-7 of the compute network, one a GPU; storage has its own",
    ),
    Row(
        "superpod/four-units",
        "Case study: DGX SuperPOD",
        "about four",
        lambda: 1024 / UNIT.gpus,
        "agrees",
        f"units for 1,024 GPUs; NVIDIA's system of four has {_pod(4).hosts // 8} nodes,"
        f" {_pod(4).hosts:,} GPUs: the fabric manager takes the ports of the last node",
        between=(3.5, 4.5),
    ),
    Row(
        "superpod/gpus-heading",
        "field guide, heading and body",
        "256",
        lambda: UNIT.gpus,
        "conflicts",
        "the heading calls a SuperPOD 256 H100, which is one unit; the body has four (E-X7)",
        other="1,024",
    ),
    Row(
        "superpod/leaves",
        "field guide, SuperPOD",
        "32",
        lambda: _pod(4).switches["leaf"],
        "agrees",
        "32 ports down and 32 up each: 1,024 uplinks",
    ),
    Row(
        "superpod/spines",
        "field guide, SuperPOD",
        "8",
        lambda: _pod(4).switches["spine"],
        "differs",
        "8 x 64 ports take 512 of 1,024 uplinks, 2:1; NVIDIA has 16 spines for four units, and 8"
        " for two (E-B4, E-X7)",
    ),
    # Grand Teton
    Row(
        "grand-teton/gpus",
        "Case study: Meta Grand Teton",
        "24,576",
        lambda: topology.meta_24k().hosts,
        "agrees",
        "3,072 nodes of 8; pods of 3,072 GPUs and 1:7 above them, from Meta's papers",
    ),
    Row(
        "grand-teton/clusters",
        "Case study: Meta Grand Teton, against the field guide",
        "49,152",
        None,
        "conflicts",
        "GPUs in two clusters, one on RoCE and one on InfiniBand; the field guide knows the RoCE"
        " one only (E-X1, E-B3)",
        other="24,576",
    ),
    Row(
        "grand-teton/port",
        "Case study: Meta Grand Teton",
        "400 Gb/s",
        lambda: topology.meta_24k().injection()[0],
        "agrees",
        "an end point, on both fabrics",
    ),
    Row(
        "grand-teton/iteration",
        "Systems Perspective 1.3",
        "seconds",
        lambda: BEFORE,
        "agrees",
        "an iteration, in which start-ups drown: 4.2 s in Checkpoint 1.5; in Napkin Math 1.2 a"
        " third of a second, of which the ring's start-ups are 3 ms",
        between=(1.0, 60.0),
    ),
    # silent waste
    Row(
        "waste/lengthening",
        "Monitoring and debugging",
        "2-3 %",
        lambda: cluster.waste(0.225, 0.1),
        "assumed",
        f"10 % less bandwidth makes a transfer {100 * AT_TEN:.1f} % longer, and the step by that"
        " times its communication share: 2-3 % needs a share of"
        f" {100 * cluster.share_behind(0.02, 0.1):.0f} to"
        f" {100 * cluster.share_behind(0.03, 0.1):.0f} %, which the text does not give; here"
        " 22.5 %",
    ),
    Row(
        "waste/hours-least",
        "Monitoring and debugging",
        "15,000",
        lambda: _hours(0.02),
        "rounds",
        f"GPU-hours, 2 % of 30 x 24 x 1,024 = {RUN:,.0f}: {_hours(0.02):,.0f}",
        step="1000",
    ),
    Row(
        "waste/hours-most",
        "Monitoring and debugging",
        "22,000",
        lambda: _hours(0.03),
        "rounds",
        f"GPU-hours, 3 %: {_hours(0.03):,.0f}",
        step="1000",
    ),
    Row(
        "waste/money-least",
        "Monitoring and debugging",
        "$45,000",
        lambda: cluster.cost_of(_hours(0.02)),
        "rounds",
        f"at $3: ${cluster.cost_of(_hours(0.02)):,.0f}; $45,000 is 3 x the 15,000 already rounded",
        step="$2000",
    ),
    Row(
        "waste/money-most",
        "Monitoring and debugging",
        "$66,000",
        lambda: cluster.cost_of(_hours(0.03)),
        "rounds",
        f"at $3: ${cluster.cost_of(_hours(0.03)):,.0f}",
        step="$1000",
    ),
    Row(
        "waste/hours-older",
        "first edition, monitoring",
        "72,000",
        lambda: RUN / 10,
        "differs",
        f"GPU-hours; a tenth of the run is {RUN / 10:,.0f}, as if the step were all communication;"
        " corrected since",
    ),
    Row(
        "waste/hours-second",
        "older edition, monitoring",
        "14,000",
        lambda: _hours(0.02),
        "differs",
        f"GPU-hours; {_hours(0.02):,.0f} cut, not rounded; corrected since",
    ),
    Row(
        "waste/money-first",
        "first edition, monitoring",
        "$200,000",
        lambda: cluster.cost_of(RUN / 10),
        "rounds",
        "72,000 hours at $3 are $216,000",
        step="$100,000",
    ),
    Row(
        "waste/money-second-least",
        "older edition, monitoring",
        "$40,000",
        lambda: cluster.cost_of(_hours(0.02)),
        "rounds",
        "3 x the 14,000 already cut, $42,000",
        step="$10,000",
    ),
    Row(
        "waste/money-second-most",
        "older edition, monitoring",
        "$65,000",
        lambda: cluster.cost_of(_hours(0.03)),
        "rounds",
        "3 x 22,000 is $66,000",
        step="$5,000",
    ),
    # Checkpoint 1.5
    # Checkpoint 1.5
    Row(
        "checkpoint-1.5/gpus",
        "Checkpoint 1.5",
        "512",
        lambda: 2 * UNIT.gpus,
        "assumed",
        f"GPUs, two scalable units, for three days: {cluster.gpu_hours(512, 3 * day):,.0f}"
        f" GPU-hours, of which at 4.8 s an iteration {1 - BEFORE / AFTER:.1%} are lost",
    ),
    Row(
        "checkpoint-1.5/before",
        "Checkpoint 1.5",
        "4.2 s",
        None,
        "assumed",
        f"an iteration at first, an input; {3 * day / BEFORE:,.0f} of them in three days",
    ),
    Row(
        "checkpoint-1.5/after",
        "Checkpoint 1.5",
        "4.8 s",
        None,
        "assumed",
        "an iteration at last, an input; of what a GPU does in a day"
        f" {24 * (1 - BEFORE / AFTER):.0f} hours' worth are gone",
    ),
    Row(
        "checkpoint-1.5/slowdown",
        "Checkpoint 1.5",
        "14 %",
        lambda: AFTER / BEFORE - 1,
        "agrees",
        "4.2 to 4.8 s",
    ),
    Row(
        "checkpoint-1.5/busy",
        "Checkpoint 1.5",
        "92 %",
        None,
        "assumed",
        "utilisation at first, an input: of nvidia-smi, which counts any running kernel, NCCL's as"
        " well",
    ),
    Row(
        "checkpoint-1.5/utilisation",
        "Checkpoint 1.5",
        "85 %",
        None,
        "assumed",
        "an observation that the task gives. The same work in a longer step would be"
        f" {92 * BEFORE / AFTER:.1f} % busy, but the tool counts kernels that spin while they wait",
    ),
    Row(
        "checkpoint-1.5/link",
        "Checkpoint 1.5",
        "50 %",
        lambda: 1 - 24 / 48,
        "agrees",
        "48 to 24 GB/s. On a ring it doubles the AllReduce; 0.6 s more means that it took 0.6 s,"
        f" {100 * cluster.share_behind(AFTER / BEFORE - 1, 0.5):.1f} % of the step",
    ),
]
