"""Logs of our own making in the tools' layouts, from model numbers: for notebooks, exercises, incidents and tests.

`nccl_tests` and `mlxlink` format; `shipped` holds the files of ``notebooks/logs``, which are written by
``python -m fabriclab.telemetry.made notebooks/logs`` and are the same bytes on every machine.
"""

import random
import sys
from pathlib import Path

from fabriclab import collectives, topology
from fabriclab.telemetry.infiniband import PER_LANE, link_rate
from fabriclab.telemetry.nccl import factor
from fabriclab.units import GB, Gbps, day, minute, us

_SHARED = ("reduce_scatter", "all_gather", "alltoall")
_ELEMENT = 4  # bytes of a float


def _float(value, width):
    """A number as nccl-tests prints it: as many decimals as fit, two at most."""
    whole = len(str(int(value))) if value >= 1 else 0
    if whole < width - 2:
        return f"{value:{width}.2f}"
    if whole < width - 1:
        return f"{value:{width}.1f}"
    if whole < width + 1:
        return f"{value:{width}.0f}"
    return f"{value:{width}.1e}" if width >= 7 else f"{value:{width}.0e}"


def _columns(size, time, ranks, collective, wrong):
    algbw = size / time / 1e9
    busbw = algbw * factor(collective, ranks)
    check = "N/A" if wrong is None else f"{wrong:6g}"
    return f"  {_float(time * 1e6, 7)}  {_float(algbw, 6)}  {_float(busbw, 6)}  {check:>6}", busbw


def nccl_tests(collective, sizes, times, hosts, per_node, in_place=None, wrong=None, validated=True, gpu="NVIDIA H100 80GB HBM3", alone=False):
    """The text that nccl-tests 2.18 prints for runs of `collective` that took `times` seconds at `sizes` bytes.

    `collective` by nccl-tests' name ("all_reduce", …); sizes whole numbers of elements (4 bytes a rank's share); `in_place`
    seconds as well, else only out of place is measured twice alike; `hosts` names of nodes with `per_node` GPUs each;
    `wrong` a count of wrong elements a size. `validated` False prints N/A. `alone` prints what comes of a program built
    without MPI: one process a GPU, each a world of one rank, their lines interleaved. Rounds as the program does.
    Raises ValueError for an unknown collective or lists of different lengths.

    >>> print(nccl_tests("all_reduce", [1 << 30], [4.9e-3], ["node-a", "node-b"], 8).splitlines()[-6].strip())
    1073741824     268435456     float     sum      -1  4900.00  219.13  410.87       0  4900.00  219.13  410.87       0
    """
    in_place = times if in_place is None else in_place
    wrong = [0] * len(sizes) if wrong is None else wrong
    if not len(sizes) == len(times) == len(in_place) == len(wrong) or not len(sizes):
        raise ValueError(f"sizes, times, in_place and wrong must be lists of one length, not {len(sizes)}, {len(times)}, {len(in_place)}, {len(wrong)}")
    processes = [(host, device) for host in hosts for device in range(per_node)]
    ranks = 1 if alone else len(processes)
    redop, root = ("sum" if "reduce" in collective else "none"), (0 if collective in ("broadcast", "reduce") else -1)
    lines = []
    for _ in processes if alone else (0,):
        lines += [
            "# nccl-tests version 2.18.0 nccl-headers=22907 nccl-library=22907",
            f"# Collective test starting: {collective}_perf",
            f"# nThread 1 nGpus 1 minBytes {sizes[0]} maxBytes {sizes[-1]} step: 2(factor)"
            f" warmup iters: 1 iters: 20 agg iters: 1 validation: {int(validated)} graph: 0 unalign: 0",
            "#",
            "# Using devices",
        ]
    for rank, (host, device) in enumerate(processes):
        seat = f"on {host:>10} device {device:2d} [0000:{0x1B + 0x15 * device:02x}:00] {gpu}"
        lines.append(f"#  Rank {0 if alone else rank:2d} Group {0:2d} Pid {41000 + rank:6d} {seat}")
    left = f"# {'':>10}  {'':>12}  {'':>8}  {'':>6}  {'':>6}"
    for _ in processes if alone else (0,):
        lines += [
            "#",
            left + "           out-of-place                       in-place          ",
            f"# {'size':>10}  {'count':>12}  {'type':>8}  {'redop':>6}  {'root':>6}" + f"  {'time':>7}  {'algbw':>6}  {'busbw':>6}  {'#wrong':>6}" * 2,
            f"# {'(B)':>10}  {'(elements)':>12}  {'':>8}  {'':>6}  {'':>6}" + f"  {'(us)':>7}  {'(GB/s)':>6}  {'(GB/s)':>6}  {'':>6}" * 2,
        ]
    rates = []
    for size, out, into, bad in zip(sizes, times, in_place, wrong):
        count = size // _ELEMENT // (ranks if collective in _SHARED else 1)
        for _ in processes if alone else (0,):
            one, rate = _columns(size, out, ranks, collective, bad if validated else None)
            other, again = _columns(size, into, ranks, collective, bad if validated else None)
            rates += [rate, again]
            lines.append(f"{size:12d}  {count:12d}  {'float':>8}  {redop:>6}  {root:6d}{one}{other}")
    bad = sum(1 for count in wrong for _ in (0, 1) if count)
    lines.append(f"# {'Out of bounds values':<20} : {bad} {'FAILED' if bad else 'OK'}")
    lines.append(f"# {'Avg bus bandwidth':<20} : {sum(rates) / len(rates):g} ")
    lines += ["#", f"# Collective test concluded: {collective}_perf", "#"]
    return "\n".join(lines) + "\n"


def ratio(value):
    """A bit error ratio as the firmware prints it: one digit and a power of ten, 15E-255 for none.

    >>> ratio(2.2e-9), ratio(0.0), ratio(9.7e-6)
    ('2E-9', '15E-255', '1E-5')
    """
    if not value:
        return "15E-255"
    digit, power = f"{value:.0e}".split("e")
    return f"{digit}E-{-int(power)}"


def mlxlink(
    lane_errors,
    seconds,
    speed="IB-NDR",
    rate=425 * Gbps,
    effective_errors=0,
    link_downs=0,
    recoveries=0,
    recommendation="No issue was observed",
    colours=True,
):
    """The text that mlxlink -c prints for a port whose lanes saw `lane_errors` in `seconds` at a line `rate` in bytes per second.

    The raw and effective bit error ratios follow from errors, rate and time; `speed` is the name that is printed.

    >>> print(mlxlink([10, 20, 10, 10], 60.0, colours=False).splitlines()[-3])
    Raw Physical BER                   : 2E-12
    """
    bits = rate * 8 * seconds

    def coloured(text):
        return f"\x1b[32m{text}\x1b[0m" if colours else text

    def section(title, *fields):
        return ["", title, "-" * len(title), *(f"{name:<35}: {value}" for name, value in fields)]

    lines = [
        *section(
            "Operational Info",
            ("State", coloured("Active")),
            ("Physical state", coloured("LinkUp")),
            ("Speed", coloured(speed)),
            ("Width", coloured(f"{len(lane_errors)}x")),
            ("FEC", coloured("Standard_RS-FEC - (544,514)")),
            ("Loopback Mode", coloured("No Loopback")),
            ("Auto Negotiation", coloured("ON")),
        ),
        *section("Troubleshooting Info", ("Status Opcode", "0"), ("Group Opcode", "N/A"), ("Recommendation", recommendation)),
        *section(
            "Physical Counters and BER Info",
            ("Time Since Last Clear [Min]", f"{seconds / minute:.1f}"),
            ("Symbol Errors", effective_errors),
            ("Symbol BER", coloured(ratio(effective_errors / bits))),
            ("Effective Physical Errors", effective_errors),
            ("Effective Physical BER", coloured(ratio(effective_errors / bits))),
            ("Raw Physical Errors Per Lane", ",".join(str(errors) for errors in lane_errors)),
            ("Raw Physical BER", coloured(ratio(sum(lane_errors) / bits))),
            ("Link Down Counter", link_downs),
            ("Link Error Recovery Counter", recoveries),
        ),
    ]
    return "\n".join(lines) + "\n"


def _generation(capacity):
    """(lanes, generation) of a link of `capacity` bytes per second, four lanes before fewer."""
    for lanes in (4, 2, 1, 8, 12):
        for speed in PER_LANE:
            if abs(link_rate(lanes, speed) - capacity) < 1e-6 * capacity:
                return lanes, speed
    raise ValueError(f"capacity must be that of an InfiniBand link, not {capacity:g} bytes per second")


def ibnetdiscover(network):
    """The text that ibnetdiscover prints for a `fabriclab.topology.Topology`: a block a device, each cable from both ends.

    Raises ValueError for a network without switches, and for a cable whose capacity no InfiniBand link has.

    >>> text = ibnetdiscover(topology.leaf_spine(2, 1, 2, 1, radix=8))
    >>> [line for line in text.splitlines() if "spine" in line and line.startswith("[3]")]
    ['[3]\\t"S-0002c90000000006"[1]\\t\\t# "spine-1" lid 7 4xNDR', '[3]\\t"S-0002c90000000006"[2]\\t\\t# "spine-1" lid 7 4xNDR']
    """
    if network.direct:
        raise ValueError(f"network must have switches, and {network.name} has none")
    names, kinds = [], ["H"] * network.hosts
    nodes = network.node if network.node is not None else range(network.hosts)
    cards = {}
    for node in nodes:
        cards[node] = cards.get(node, -1) + 1
        names.append(f"node-{int(node) + 1:04d} mlx5_{cards[node]}")
    for tier, count in network.switches.items():
        names += [f"{tier}-{number + 1}" for number in range(count)]
        kinds += ["S"] * count
    radix = [1] * network.hosts + [ports for ports, count in zip(network.radix, network.counts) for _ in range(count)]
    plugged = [[] for _ in names]
    for a, b, cables, capacity in zip(network.a.tolist(), network.b.tolist(), network.multiplicity.tolist(), network.capacity.tolist()):
        for _ in range(cables):
            here, there = len(plugged[a]) + 1, len(plugged[b]) + 1
            lanes, speed = _generation(capacity)
            plugged[a].append((here, b, there, f"{lanes}x{speed}"))
            plugged[b].append((there, a, here, f"{lanes}x{speed}"))

    def called(at):
        return f'"{kinds[at]}-{0x2C9_0000_0000_00 + at:016x}"'

    lines = ["#", "# Topology file: made by fabriclab", "#"]
    for at in [*range(network.hosts, len(names)), *range(network.hosts)]:
        switch = kinds[at] == "S"
        lines += ["", "vendid=0x2c9", "devid=0xd2f2" if switch else "devid=0x1021"]
        lines.append(f'{"Switch" if switch else "Ca"}\t{radix[at]} {called(at)}\t\t# "{names[at]}"' + (f" enhanced port 0 lid {at + 1} lmc 0" if switch else ""))
        for here, far, there, speed in plugged[at]:
            own = "" if switch else f"({0x2C9_0000_0000_00 + at:x}) "
            lines.append(f"[{here}]{own}\t{called(far)}[{there}]\t\t# " + ("" if switch else f"lid {at + 1} lmc 0 ") + f'"{names[far]}" lid {far + 1} {speed}')
    return "\n".join(lines) + "\n"


def _slow_and_uneven():
    """32 hosts, 4 leaves, 2 spines at 1:1; one cable of leaf-2 fell to one lane, one of leaf-3's uplinks is gone."""
    text = ibnetdiscover(topology.leaf_spine(4, 2, 8, 8, radix=40))
    blocks = text.split("\n\n")
    for at, block in enumerate(blocks):
        rows = block.splitlines()
        for row in list(rows):
            if ('# "leaf-2"' in rows[2] and row.startswith("[9]")) or ('# "spine-1"' in rows[2] and row.startswith("[5]")):
                rows[rows.index(row)] = row.replace("4xNDR", "1xNDR")
            if ('# "leaf-3"' in rows[2] and row.startswith("[16]")) or ('# "spine-2"' in rows[2] and row.startswith("[12]")):
                rows.remove(row)
        blocks[at] = "\n".join(rows)
    return "\n\n".join(blocks) + "\n"


def _noisy(times, seed, spread):
    """Each time a little longer, never shorter: the sum of three even draws, most near the middle. Plain arithmetic, so that
    every machine draws the same."""
    draw = random.Random(seed).random
    return [time * (1 + spread * (draw() + draw() + draw()) / 3) for time in times]


_SIZES = [1 << power for power in range(3, 34)]  # 8 B to 8 GiB
_NODES = ["gpu-a01", "gpu-a02"]


def _allreduce(seed, link):
    """An AllReduce of two nodes of eight as one ring: 1.5 us a step, `link` bytes/s through all eight NICs of a node."""
    times = [collectives.ring_allreduce(size, 16, 1.5 * us, link) for size in _SIZES]
    return nccl_tests("all_reduce", _SIZES, _noisy(times, seed, 0.04), _NODES, 8, _noisy(times, seed + 1, 0.03))


def _alone():
    copies = [4 * us + 2 * size / (2.6e12) for size in _SIZES[20:27]]
    return nccl_tests("all_reduce", _SIZES[20:27], _noisy(copies, 7, 0.2), _NODES[:1], 8, [0.31 * us] * 7, alone=True)


def shipped():
    """The logs of ``notebooks/logs`` by file name."""
    return {
        "allreduce_16_ranks.txt": _allreduce(20, 8 * 48.5 * GB),
        "allreduce_slow_port.txt": _allreduce(22, 8 * 24.2 * GB),  # one port in eight fell to half speed, and the ring with it
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
    }


if __name__ == "__main__":
    for file, text in shipped().items():
        Path(sys.argv[1], file).write_text(text)
