"""Makers of incidents in which switches, hosts or settings are at fault, and a healthy one on
Ethernet: each takes `incidents`' draw and gives the files by name.
"""

from dataclasses import replace

import numpy as np

from fabriclab import catalog, cluster, topology
from fabriclab.logs import pairs
from fabriclab.logs.diagnose.finding import PAYLOAD
from fabriclab.units import us
from tools import samples as made

PORT = catalog.NDR.beta
GPUS = 8  # a node, with a port each
_SIZES = [1 << power for power in range(16, 34)]


def storm(draw):
    ports = [f"Ethernet{4 * at}" for at in range(10)]
    source, priority = draw.random.choice(ports), 3
    quiet = {port: [0, 0, 0, draw.random.randrange(2_000), 0, 0, 0, 0] for port in ports}
    rx = quiet | {source: [0, 0, 0, draw.random.randrange(4_000_000, 90_000_000), 0, 0, 0, 0]}
    tx = {
        port: [
            0,
            0,
            0,
            draw.random.randrange(200_000, 900_000) if port != source else 12,
            0,
            0,
            0,
            0,
        ]
        for port in ports
    }
    storms = draw.random.randrange(2, 60)
    dropped = draw.random.randrange(10_000, 9_000_000)
    queues = {f"{port}:{priority}": (False, 0, 0, 0, 0, 0, 0) for port in ports[:4]} | {
        f"{source}:{priority}": (True, storms, storms - 1, 7 * dropped, dropped, 11, 0)
    }
    slowdown = draw.between(5, 30)
    return {
        "allreduce.txt": draw.allreduce(slowdown),
        "write_lat.txt": draw.latency(draw.between(150, 900) * us, "Ethernet"),
        "pfc_counters.txt": made.pfc_counters(rx, tx),
        "pfcwd_stats.txt": made.pfcwd_stats(queues),
        "mlxlink.txt": draw.port(speed="400G"),
        "incident.toml": draw.told(**draw.steps(slowdown)),
    }


def placement(draw):
    """A job half under one leaf and half under another, each with eight uplinks: enough for a ring,
    which leaves a
    leaf over one node's ports, and too few for all of its ports at once.
    """
    half = len(draw.hosts) // 2
    nodes = half + 1  # under each leaf, one of them another job's
    network = topology.leaf_spine(2, 2, nodes * GPUS, GPUS)
    network = replace(network, node=np.arange(network.hosts) // GPUS)
    seats = [*range(half), *range(nodes, nodes + half)]
    names = dict(zip(seats, draw.hosts))
    job = [node * GPUS + port for node in seats for port in range(GPUS)]
    return {
        "alltoall.txt": draw.alltoall(network, job),
        "allreduce.txt": draw.allreduce(),
        "write_bw.txt": draw.pair(),
        "ibnetdiscover.txt": made.ibnetdiscover(
            network, [names.get(node, f"gpu-x{node:02d}") for node in range(2 * nodes)]
        ),
        "perfquery_uplink.txt": draw.counters(
            sent=draw.between(0.9, 0.96), wait=draw.between(3, 30)
        ),
        "incident.toml": draw.told(),
    }


def gdr(draw):
    """GPUDirect RDMA is off on every node: all that the network carries is copied through host
    memory.
    """
    share = draw.between(0.28, 0.46)
    return {
        "gpu.txt": draw.waiting(),
        "nccl.log": made.nccl_log(draw.hosts, GPUS, GPUS, direct=False),
        "allreduce.txt": draw.allreduce(ports=GPUS * share),
        "write_bw.txt": draw.pair(),
        "perfquery.txt": draw.counters(sent=draw.between(0.1, 0.3)),
        "mlxlink.txt": draw.port(),
        "incident.toml": draw.told(**draw.steps(1 / share)),
    }


def pcie(draw):
    """Between GPU and NIC traffic goes by the root complex: host memory is at rate, GPU memory is
    not.
    """
    share = draw.between(0.3, 0.46)
    return {
        "gpu.txt": draw.waiting(),
        "nccl.log": made.nccl_log(draw.hosts, GPUS, GPUS),
        "allreduce.txt": draw.allreduce(ports=GPUS * share),
        "write_bw.txt": draw.pair(),
        "write_bw_gpu_memory.txt": draw.pair(share, gpu=True),
        "mlxlink.txt": draw.port(),
        "incident.toml": draw.told(**draw.steps(1 / share)),
    }


def host(draw):
    """One host is slow with all its ports together, as a job over pairs of hosts shows."""
    slow, share = draw.hosts[draw.random.randrange(2, len(draw.hosts))], draw.between(0.4, 0.66)
    node = GPUS * PORT * PAYLOAD
    names = tuple(draw.hosts)
    ends = [(a, b) for a in range(len(names)) for b in range(len(names)) if a != b]
    rates = [node * (share if slow in (names[a], names[b]) else 1.0) for a, b in ends]
    measured = draw.noisy(rates, 0.01)
    each = pairs.Pairs(names, [a for a, _ in ends], [b for _, b in ends], measured)

    def both(hosts, slowdown):
        times = [
            cluster.slow_link(size, 2 * GPUS, catalog.NDR.alpha, node, slowdown) for size in _SIZES
        ]
        return made.nccl_tests(
            "all_reduce", _SIZES, draw.noisy(times, 0.04), hosts, GPUS, draw.noisy(times, 0.03)
        )

    return {
        "allreduce_first_two.txt": both(draw.hosts[:2], 1.0),
        "allreduce_next_two.txt": both([draw.hosts[1], slow], 1 / share),
        "pairs.csv": pairs.as_list(each, "GB/s"),
        "mlxlink.txt": draw.port(),
        "incident.toml": draw.told(**draw.steps(1 / share)),
    }


def mtu(draw):
    """One host's MTU is 1024, the others' 4096: small messages pass, and a collective dies."""
    one, other = draw.hosts[:2]
    failed = [
        (one, "IBV_WC_LOC_LEN_ERR(1) opcode=IBV_WC_RECV_RDMA_WITH_IMM(129) vendor_err=105"),
        (other, "IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_RDMA_WRITE(1) vendor_err=129"),
    ]
    log = made.nccl_log(draw.hosts, GPUS, GPUS, kind="RoCE") + "".join(
        f"{name}:{41000 + at}:{41600 + at} [{at}] transport/net_ib/p2p.cc:648 NCCL WARN NET/IB: Got"
        f" completion from peer 10.0.0.{2 - at}<{draw.random.randrange(30000, 60000)}> with"
        f" status={status} hca mlx5_{at}\n"
        for at, (name, status) in enumerate(failed)
    )
    small = 1024 / (1024 + 82) / PAYLOAD  # of a healthy port's payload: what headers leave
    lines = draw.allreduce().splitlines(keepends=True)
    begins = next(at for at, line in enumerate(lines) if line.split()[:1] == [str(_SIZES[0])])
    return {
        "nccl.log": log,
        "allreduce.txt": "".join(lines[:begins]),
        "write_bw_one_pair.txt": draw.pair(0.99 * small, link="Ethernet", mtu=1024),
        "write_bw_other_pair.txt": draw.pair(link="Ethernet"),
        "mlxlink.txt": draw.port(speed="400G"),
        "incident.toml": draw.told(),
    }


def healthy_roce(draw):
    """Nothing is wrong on Ethernet; of an AllToAll's busbw, which looks low, all that crosses does
    so at the ports' rate.
    """
    n = draw.ranks
    times = [
        (n - 1) * catalog.NDR.alpha + size * (n - GPUS) / n / (PORT * PAYLOAD) for size in _SIZES
    ]
    counters = {"rx_prio3_pause": 0, "tx_prio3_pause": 0, "rx_discards_phy": 0}
    return {
        "gpu.txt": draw.working(),
        "allreduce.txt": draw.allreduce(),
        "alltoall.txt": made.nccl_tests(
            "alltoall", _SIZES, draw.noisy(times, 0.02), draw.hosts, GPUS, draw.noisy(times, 0.02)
        ),
        "write_bw.txt": draw.pair(link="Ethernet"),
        "ethtool.txt": made.ethtool(counters),
        "mlxlink.txt": draw.port(speed="400G"),
        "incident.toml": draw.told(),
    }
