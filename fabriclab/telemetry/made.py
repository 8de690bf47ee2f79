"""Logs of our own making in the tools' layouts, from model numbers: for notebooks, exercises, incidents and tests.

`nccl_tests`, `mlxlink`, `perfquery`, `perftest_bandwidth`, `perftest_latency` and `ibnetdiscover` format; `shipped` holds the files of ``notebooks/logs``, which are written by
``python -m fabriclab.telemetry.made notebooks/logs`` and are the same bytes on every machine.
"""

import random
import sys
from pathlib import Path

from fabriclab import collectives, topology
from fabriclab.telemetry.infiniband import PER_LANE, link_rate
from fabriclab.telemetry.nccl import factor
from fabriclab.telemetry.perfquery import WORD
from fabriclab.units import GB, Gbps, MiB, day, minute, us

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


def perfquery(lid, port, counters, extended=True):
    """The text that perfquery prints for a port: `counters` by name, as they are counted (data in words of 4 bytes).

    >>> print(perfquery(41, 1, {"PortXmitData": 12_050_000_000}), end="")
    # Port extended counters: Lid 41 port 1 (CapMask: 0x5A00 CapMask2: 0x0000002)
    PortSelect:......................1
    CounterSelect:...................0x0000
    PortXmitData:....................12050000000
    """
    lines = [f"# Port {'extended ' * extended}counters: Lid {lid} port {port} (CapMask: 0x5A00{' CapMask2: 0x0000002' * extended})"]
    fields = {"PortSelect": port, "CounterSelect": "0x0000", **counters}
    return "\n".join([*lines, *(f"{counter + ':':.<33}{value}" for counter, value in fields.items())]) + "\n"


def _perftest(title, device, depth, columns, rows):
    rule = "-" * 87
    settings = [
        f" Dual-port       : OFF\t\tDevice         : {device}",
        " Number of qps   : 1\t\tTransport type : IB",
        " Connection type : RC\t\tUsing SRQ      : OFF",
        f" TX depth        : {depth}",
        " Mtu             : 4096[B]",
        " Link type       : IB",
    ]
    return "\n".join([rule, f"{'':20}{title} Test", *settings, rule, columns, *rows, rule]) + "\n"


def perftest_bandwidth(sizes, averages, peaks=None, verb="RDMA_Write", unit="Gb/sec", device="mlx5_0", bidirectional=False, iterations=5000):
    """The text that ib_write_bw (or the test of another `verb`) prints for `averages` and `peaks` in bytes per second at `sizes` bytes.

    Without peaks 0.00 stands there, as in duration mode. `unit` "Gb/sec", "MB/sec" or "MiB/sec"; `bidirectional` names
    the averages as sums of both directions.

    >>> perftest_bandwidth([65536], [48.2 * GB]).splitlines()[-2]
    ' 65536      5000             0.00               385.60             0.735474'
    """
    scale = Gbps if unit == "Gb/sec" else MiB
    rows = [
        f" {size:<7}    {iterations:<10}       {peak / scale:<7.2f}            {average / scale:<7.2f}            {average / size / 1e6:<7.6f}"
        for size, average, peak in zip(sizes, averages, peaks or [0.0] * len(sizes))
    ]
    columns = f" #bytes     #iterations    BW peak[{unit}]    BW average[{unit}]   MsgRate[Mpps]"
    return _perftest(f"{verb} {'Bidirectional ' * bidirectional}BW", device, 128, columns, rows)


def perftest_latency(sizes, times, verb="RDMA_Write", device="mlx5_0", iterations=1000):
    """The text that ib_write_lat (or the test of another `verb`) prints; `times` are, for each of `sizes` bytes, seven numbers of
    seconds: least, most, median, mean, standard deviation, 99th and 99.9th percentile, as the test counts them.

    >>> perftest_latency([2], [(1.0 * us, 3.2 * us, 1.1 * us, 1.12 * us, 0.05 * us, 1.31 * us, 2.4 * us)]).splitlines()[-2]
    ' 2       1000          1.00           3.20         1.10               1.12             0.05            1.31                    2.40   '
    """
    rows = []
    for size, each in zip(sizes, times):
        least, most, typical, mean, deviation, p99, p999 = (f"{time / us:<7.2f}" for time in each)
        rows.append(f" {size:<7} {iterations}          {least}        {most}      {typical}            {mean}          {deviation}         {p99}                 {p999}")
    columns = " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]"
    return _perftest(f"{verb} Latency", device, 1, columns, rows)


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


def _congested(seconds):
    """A switch's port to one node, `seconds` after a first look: it sends all that a 400 Gb/s port can, more waits, some is thrown away."""
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
    """One message starts 0.22 us after the other until a 400 Gb/s port, 97 % of it payload, has no more room."""
    times = _noisy([max(0.22 * us, size / (48.6 * GB)) for size in _POWERS], 31, 0.02)
    averages = [size / time for size, time in zip(_POWERS, times)]
    return perftest_bandwidth(_POWERS, averages, [1.01 * average for average in averages])


def _write_latency():
    each = _noisy([1.05 * us + size / (48.6 * GB) for size in _POWERS[:16]], 33, 0.05)
    return perftest_latency(_POWERS[:16], [(0.96 * time, 4.1 * time, time, 1.02 * time, 0.06 * time, 1.2 * time, 2.6 * time) for time in each])


_POWERS = [1 << power for power in range(1, 24)]  # 2 B to 8 MiB


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
        "perfquery_before.txt": _congested(0),
        "perfquery_after.txt": _congested(10),
        "perftest_write_bw.txt": _write_sweep(),
        "perftest_write_lat.txt": _write_latency(),
    }


if __name__ == "__main__":
    for file, text in shipped().items():
        Path(sys.argv[1], file).write_text(text)
