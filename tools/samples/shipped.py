"""The logs of ``notebooks/logs``, the same bytes on every machine."""

import random

from fabriclab import collectives, topology
from fabriclab.logs.pairs import write as pairs
from fabriclab.logs.perfquery import WORD
from fabriclab.units import GB, day, us
from tools.samples.fabric import ibnetdiscover
from tools.samples.nccl import nccl_tests
from tools.samples.nccl_log import nccl_log
from tools.samples.perftest import perftest_bandwidth, perftest_latency
from tools.samples.port import mlxlink, perfquery


def _slow_and_uneven():
    """32 hosts, 4 leaves, 2 spines at 1:1; one cable of leaf-2 fell to one lane, one of leaf-3's
    uplinks is gone.
    """
    text = ibnetdiscover(topology.leaf_spine(4, 2, 8, 8, radix=40))
    blocks = text.split("\n\n")
    for at, block in enumerate(blocks):
        rows = block.splitlines()
        for row in list(rows):
            if ('# "leaf-2"' in rows[2] and row.startswith("[9]")) or (
                '# "spine-1"' in rows[2] and row.startswith("[5]")
            ):
                rows[rows.index(row)] = row.replace("4xNDR", "1xNDR")
            if ('# "leaf-3"' in rows[2] and row.startswith("[16]")) or (
                '# "spine-2"' in rows[2] and row.startswith("[12]")
            ):
                rows.remove(row)
        blocks[at] = "\n".join(rows)
    return "\n\n".join(blocks) + "\n"


def noisy(times, seed, spread):
    """Each time a little longer, never shorter: the sum of three even draws, most near the middle.
    Plain arithmetic, so that
    every machine draws the same."""
    draw = random.Random(seed).random
    return [time * (1 + spread * (draw() + draw() + draw()) / 3) for time in times]


_SIZES = [1 << power for power in range(3, 34)]  # 8 B to 8 GiB
_NODES = ["gpu-a01", "gpu-a02"]


def _allreduce(seed, link):
    """An AllReduce of two nodes of eight as one ring: 1.5 us a step, `link` bytes/s through all
    eight NICs of a node.
    """
    times = [collectives.ring_allreduce(size, 16, 1.5 * us, link) for size in _SIZES]
    return nccl_tests(
        "all_reduce", _SIZES, noisy(times, seed, 0.04), _NODES, 8, noisy(times, seed + 1, 0.03)
    )


def _alone():
    copies = [4 * us + 2 * size / (2.6e12) for size in _SIZES[20:27]]
    return nccl_tests(
        "all_reduce",
        _SIZES[20:27],
        noisy(copies, 7, 0.2),
        _NODES[:1],
        8,
        [0.31 * us] * 7,
        alone=True,
    )


def _congested(seconds):
    """A switch's port to one node, `seconds` after a first look: it sends all that a 400 Gb/s port
    can, more waits, some is thrown away.
    """
    sent, received = 48.3 * GB, 11.7 * GB
    counters = {
        "PortXmitData": 51_204_117_880_312 + int(sent * seconds / WORD),
        "PortRcvData": 48_822_091_554_121 + int(received * seconds / WORD),
        "PortXmitPkts": 49_870_518_554 + int(sent * seconds / 4150),
        "PortRcvPkts": 47_390_712_203 + int(received * seconds / 4150),
        "SymbolErrorCounter": 0,
        "LinkErrorRecoveryCounter": 0,
        "LinkDownedCounter": 0,
        "PortRcvErrors": 0,
        "PortXmitDiscards": 311 + int(181.2 * seconds),
        "PortXmitWait": 7_204_551 + int(9_140_226.0 * seconds),
    }
    return perfquery(41, 17, counters)


def _write_sweep():
    """One message starts 0.22 us after the other until a 400 Gb/s port, 97 % of it payload, has no
    more room.
    """
    times = noisy([max(0.22 * us, size / (48.6 * GB)) for size in _POWERS], 31, 0.02)
    averages = [size / time for size, time in zip(_POWERS, times)]
    return perftest_bandwidth(_POWERS, averages, [1.01 * average for average in averages])


def _write_latency():
    each = noisy([1.05 * us + size / (48.6 * GB) for size in _POWERS[:16]], 33, 0.05)
    return perftest_latency(
        _POWERS[:16],
        [
            (0.96 * time, 4.1 * time, time, 1.02 * time, 0.06 * time, 1.2 * time, 2.6 * time)
            for time in each
        ],
    )


_POWERS = [1 << power for power in range(1, 24)]  # 2 B to 8 MiB


def shipped():
    """The logs of ``notebooks/logs`` by file name."""
    return {
        "allreduce_16_ranks.txt": _allreduce(20, 8 * 48.5 * GB),
        "allreduce_slow_port.txt": _allreduce(
            22, 8 * 24.2 * GB
        ),  # one port in eight fell to half speed, and the ring with it
        "allreduce_each_alone.txt": _alone(),
        "ibnetdiscover_32_hosts.txt": _slow_and_uneven(),
        "mlxlink_400g.txt": mlxlink([51_204_117, 48_822_091, 60_518_554, 47_390_712], 6 * day),
        "mlxlink_dirty_lane.txt": mlxlink(
            [51_204_117, 48_822_091, 9_870_518_554_121, 47_390_712],
            6 * day,
            effective_errors=212,
            link_downs=3,
            recoveries=2,
            recommendation="Bad signal integrity",
        ),
        "perfquery_before.txt": _congested(0),
        "perfquery_after.txt": _congested(10),
        "nccl_debug_eight_ports.txt": nccl_log(_NODES),
        "nccl_debug_one_port.txt": nccl_log(_NODES, ports=1, forced=[("NCCL_IB_HCA", "mlx5_0")]),
        "perftest_write_bw.txt": _write_sweep(),
        "perftest_write_lat.txt": _write_latency(),
        **pairs.shipped(),
    }
