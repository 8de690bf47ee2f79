"""perftest held against a port's rate and the chapter's thresholds: what stands out in a table."""

import math
from collections.abc import Iterator

from fabriclab import catalog
from fabriclab.catalog import ETHERNET_FRAME, ETHERNET_GAP, ETHERNET_PREAMBLE, HEADER_STACKS
from fabriclab.checks import positive
from fabriclab.logs.perftest.table import Reading, Table
from fabriclab.logs.sign import Sign
from fabriclab.units import GB, Gbps, KiB, si, us

HEALTHY, SUSPICIOUS, SEVERE = (
    2 * us,
    5 * us,
    100 * us,
)  # of a small write, one way: the chapter, Monitoring and debugging
PORTS = tuple(
    gigabits * Gbps for gigabits in (10, 25, 40, 50, 56, 100, 200, 400, 800)
)  # what is sold, one way
GOOD = 0.9  # of the port's rate; the chapter's healthy 400 Gb/s port carries 96 %
LARGE = (
    64 * KiB
)  # from here on the port and not the start of a message sets the rate, with several in flight
PAYLOAD = (
    48 * GB / catalog.NDR.beta
)  # the chapter, Checkpoint 1.5: 48 of 50 GB/s arrive over a healthy port
LONG_ENOUGH = 0.5  # seconds: below it start-up is a part of what is measured
_TEN_BITS = (10, 20, 40)  # Gb/s of SDR, DDR, QDR on the wire: 10 bits for 8, IBTA
_OVER = {stack.name: stack.inside for stack in HEADER_STACKS}
# bytes around a packet's payload
ROCE = ETHERNET_FRAME + ETHERNET_PREAMBLE + ETHERNET_GAP + _OVER["RoCEv2"]
INFINIBAND = 8 + 12 + 4 + 2  # local route and base transport headers, two CRCs: IBTA, volume 1
NEAR = 0.08  # of a model's value: as near as a busy cluster repeats itself


def share(table: Table, rate: float | None) -> float:
    """The best average bandwidth of `table`, one way, as a share of a port's `rate` in bytes per
    second.

    >>> from fabriclab.logs.perftest import Row, Table
    >>> share(Table((Row(1, 65536, 1000, average=48e9),), "bandwidth", bidirectional=False),
    ...     400 * Gbps)
    0.96

    Raises ValueError for a table of latencies, and for one whose title is missing: with -b it would
    be a sum.
    """
    rate = positive("rate", rate)
    if table.kind != "bandwidth" or table.bidirectional is None:
        raise ValueError(
            "table must be of bandwidths, with its title: it tells whether both directions are"
            " summed"
        )
    return table.one_way(table.best) / rate


def signs(reading: Reading, rate: float | None = None) -> Iterator:
    """What stands out in perftest's tables. `rate`: bytes per second that a port should carry,
    where it is known.
    """
    for table in reading.tables:
        yield from table_signs(table, rate)
    yield from died_signs(reading)


def died_signs(reading: Reading) -> Iterator:
    """The tests that ended before their first row."""
    for line, words in reading.died:
        yield Sign("test-died", f"the test at line {line} gave no result: {words}")


def table_signs(table: Table, rate: float | None = None) -> Iterator:
    """What stands out in one table, the gravest first; of a loopback nothing is said of a link."""
    if table.loopback:
        yield Sign(
            "loopback",
            "both ends have one LID: a loopback inside the adapter, no cable was crossed",
        )
    elif (table.device or "").startswith(("rxe", "siw")):
        yield Sign(
            "software", f"{table.device} is RDMA in software: it measures the CPU, not an adapter"
        )
    elif table.kind == "bandwidth":
        yield from _against_port(table, rate)
        yield from _rows(table)
    else:
        yield from _late(table)
    if table.clocks:
        one, other = table.clocks
        yield Sign(
            "clocks",
            f"CPU clocks disagree ({one:,.0f} and {other:,.0f} MHz), and time is counted in their"
            " ticks: set the governor to performance and repeat",
        )


def judged(table: Table) -> bool:
    """Whether the best row of a table says what its port carries: a known sum of directions, large
    messages, and a cable between.
    """
    return (
        table.kind == "bandwidth"
        and table.bidirectional is not None
        and max(row.size for row in table.rows) >= LARGE
        and not table.loopback
        and not (table.device or "").startswith(("rxe", "siw"))
    )


def ceiling(table: Table, rate: float | None = None) -> float:
    """The share of a port's rate that payload can be: what headers leave at the table's MTU, and on
    InfiniBand below FDR the 8 of 10 bits that its code carries.

    >>> from fabriclab.logs.perftest import Table
    >>> round(ceiling(Table((), "bandwidth", link="Ethernet", mtu=1024)), 3)
    0.926
    >>> round(ceiling(Table((), "bandwidth", link="IB", mtu=4096), 40 * Gbps), 2)
    0.79
    """
    coded = 0.8 if table.link == "IB" and rate and round(rate / Gbps) in _TEN_BITS else 1.0
    around = {"Ethernet": ROCE, "IB": INFINIBAND}.get(table.link)
    return coded * (table.mtu / (table.mtu + around) if table.mtu and around else 1.0)


def good(table: Table, rate: float | None) -> bool:
    """Whether a table reaches what a healthy port of `rate` gives at its MTU."""
    return share(table, rate) >= GOOD * ceiling(table, rate)


def seconds(row: tuple) -> float | None:
    """How long a row was measured, None where its message rate is not printed."""
    return row.iterations / row.messages if row.messages else None


def _against_port(table, rate):
    if not rate or not judged(table):
        return
    part, most = share(table, rate), ceiling(table, rate)
    reached = f"{si(table.one_way(table.best), 'B/s')}, {part:.0%} of the port's {si(rate, 'b/s')}"
    if part > 1 + NEAR:
        yield Sign(
            "too-fast", f"{reached}: more than the port carries: a loopback, or another port"
        )
    elif not good(table, rate):
        healthy = min(PAYLOAD, most)
        if table.gpu:
            yield Sign(
                "gpu-memory-low",
                f"{reached}, from GPU memory; a healthy one gives {healthy:.0%}: PCIe between GPU"
                " and NIC, ACS and IOMMU, GPUDirect RDMA",
            )
            return
        yield Sign(
            "pair-low",
            f"{reached}; a healthy one gives {healthy:.0%}: speed, width, PCIe slot and NUMA node",
        )
        halves = [k for k in (2, 4) if abs(part * k / healthy - 1) < NEAR]
        if halves and not any(_jumpy(table)):
            yield Sign(
                "pair-like-lanes",
                f"a steady 1/{halves[0]} of what is healthy: as half the lanes or half the speed"
                f" give, or {halves[0]} flows on one path",
            )


def _jumpy(table):
    """Rows of large messages whose average lies far below their peak."""
    return [
        row for row in table.rows if row.size >= LARGE and row.peak and row.average < 0.8 * row.peak
    ]


def _rows(table):
    best = table.best
    above = next((row for row in table.rows if row.peak and row.average > row.peak), None)
    if above:
        yield Sign(
            "average-above-peak",
            f"the average is above the peak at {size_words(above.size)} (line {above.line}):"
            " damaged, or the peak was not measured well",
        )
    off = [row for row in table.rows if row.messages and not _follows(table, row)]
    if off:
        yield Sign(
            "messages-off",
            f"the message rate times the size is not the average at {size_words(off[0].size)} (line"
            f" {off[0].line}): edited, or not these units",
        )
    last = max(table.rows, key=lambda row: row.size)
    if last.size > best.size and last.average < 0.9 * best.average:
        yield Sign(
            "average-falls",
            f"the average falls with size: {si(best.average, 'b/s')} at {size_words(best.size)},"
            f" {si(last.average, 'b/s')} at {size_words(last.size)}; congestion, or memory far from"
            " the adapter",
        )
    jumpy = _jumpy(table)
    if not jumpy:
        return
    row = max(jumpy, key=lambda row: seconds(row) or math.inf)
    words = f"the average is {row.average / row.peak:.0%} of the peak at {size_words(row.size)}"
    if (seconds(row) or math.inf) < LONG_ENOUGH:
        yield Sign(
            "too-short",
            f"{words}, measured for {si(seconds(row), 's')} only, start-up included: too short to"
            " judge; repeat with -D 10",
        )
    else:
        yield Sign(
            "pair-stop-and-go", f"{words}: stops and starts, as with congestion, pauses or losses"
        )


def _follows(table, row):
    """Whether the average is size times message rate, as far as the printed places tell."""
    return (
        abs(row.average - row.size * row.messages)
        <= 1.01 * (table.step + row.size * 0.5) + 1e-9 * row.average
    )


def _late(table):
    row = min(table.rows, key=lambda row: row.size)
    time = table.one_way(row)
    if time is not None and row.size <= 4 * KiB:
        if time > SEVERE:
            yield Sign("late", f"{si(time, 's')} one way for {row.size} bytes")
            yield Sign(
                "very-late",
                f"{si(time, 's')} one way is severe (above {si(SEVERE, 's')}): pauses,"
                " retransmission, or not RDMA hardware at all",
            )
        elif time > SUSPICIOUS:
            yield Sign(
                "late",
                f"{si(time, 's')} one way is suspicious (above {si(SUSPICIOUS, 's')}): a long path,"
                " congestion, a sleeping CPU or a far NUMA node",
            )
    tail = next(
        (row for row in table.rows if row.p99 and row.typical and row.p99 > 10 * row.typical), None
    )
    if tail:
        yield Sign(
            "long-tail",
            f"the slowest hundredth takes {tail.p99 / tail.typical:.0f} times the median or more at"
            f" {size_words(tail.size)}: queues, pauses or the operating system",
        )


def size_words(size: int) -> str:
    """A message size as people say it: 64 KiB."""
    for unit, name_of in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name_of}"
    return f"{size:,} B"
