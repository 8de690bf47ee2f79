"""perftest: what a table of ib_write_bw, ib_write_lat and their sisters says, and what looks wrong
in it.

`table` reads and describes the layout; here it is judged against a port's rate and the chapter's
thresholds, and told.
"""

from fabriclab.checks import positive
from fabriclab.logs.perftest.table import SIGN, TOOL, Reading, Row, Table, read
from fabriclab.units import Gbps, KiB, si, us

__all__ = [
    "GOOD",
    "HEALTHY",
    "LARGE",
    "PORTS",
    "SEVERE",
    "SIGN",
    "SUSPICIOUS",
    "TOOL",
    "Reading",
    "Row",
    "Table",
    "doubts",
    "read",
    "report",
    "share",
]

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


def share(table, rate):
    """The best average bandwidth of `table`, one way, as a share of a port's `rate` in bytes per
    second.

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


def doubts(table, rate=None):
    """What looks wrong in a table, one sentence each, the gravest first; `rate` is the port's,
    bytes per second, if known.
    """
    found = _slow(table, rate) if table.kind == "bandwidth" else _late(table)
    if table.loopback:
        found.append("both ends have one LID: a loopback inside the adapter, no cable was crossed")
    if (table.device or "").startswith(("rxe", "siw")):
        found.append(f"{table.device} is RDMA in software: it measures the CPU, not an adapter")
    if table.clocks:
        one, other = table.clocks
        found.append(
            f"CPU clocks disagree ({one:,.0f} and {other:,.0f} MHz), and time is counted in their"
            " ticks: set the governor to performance and repeat"
        )
    return found


def _slow(table, rate):
    found, best = [], table.best
    above = next((row for row in table.rows if row.peak and row.average > row.peak), None)
    if above:
        found.append(
            f"the average is above the peak at {_size(above.size)} (line {above.line}): damaged, or"
            " the peak was not measured well"
        )
    off = [row for row in table.rows if row.messages and not _follows(table, row)]
    if off:
        found.append(
            f"the message rate times the size is not the average at {_size(off[0].size)} (line"
            f" {off[0].line}): edited, or not these units"
        )
    large = [row for row in table.rows if row.size >= LARGE]
    if large and rate and table.bidirectional is not None and share(table, rate) < GOOD:
        found.append(
            f"{share(table, rate):.0%} of the port's {si(rate, 'b/s')}; a healthy one carries 96 %"
            " or more: speed, width, PCIe slot and NUMA node"
        )
    if large and rate and table.bidirectional is not None and share(table, rate) > 1:
        found.append("more than the port carries: a loopback, or another port")
    last = max(table.rows, key=lambda row: row.size)
    if last.size > best.size and last.average < 0.9 * best.average:
        found.append(
            f"the average falls with size: {si(best.average, 'b/s')} at {_size(best.size)},"
            f" {si(last.average, 'b/s')} at {_size(last.size)}; congestion, or memory far from the"
            " adapter"
        )
    jumpy = [row for row in large if row.peak and row.average < 0.8 * row.peak]
    if jumpy:
        found.append(
            f"the average is {jumpy[0].average / jumpy[0].peak:.0%} of the peak at"
            f" {_size(jumpy[0].size)}: stops and starts, as with congestion, pauses or losses"
        )
    return found


def _follows(table, row):
    """Whether the average is size times message rate, as far as the printed places tell."""
    return (
        abs(row.average - row.size * row.messages)
        <= 1.01 * (table.step + row.size * 0.5) + 1e-9 * row.average
    )


def _late(table):
    found, row = [], min(table.rows, key=lambda row: row.size)
    time = table.one_way(row)
    if time is not None and row.size <= 4 * KiB:
        if time > SEVERE:
            found.append(
                f"{si(time, 's')} one way is severe (above {si(SEVERE, 's')}): pauses,"
                " retransmission, or not RDMA hardware at all"
            )
        elif time > SUSPICIOUS:
            found.append(
                f"{si(time, 's')} one way is suspicious (above {si(SUSPICIOUS, 's')}): a long path,"
                " congestion, a sleeping CPU or a far NUMA node"
            )
    tail = next(
        (row for row in table.rows if row.p99 and row.typical and row.p99 > 10 * row.typical), None
    )
    if tail:
        found.append(
            f"the slowest hundredth takes {tail.p99 / tail.typical:.0f} times the median or more at"
            f" {_size(tail.size)}: queues, pauses or the operating system"
        )
    return found


def report(reading):
    """The few lines that ``fabriclab read`` prints for perftest output, one block a table."""
    said = [
        line
        for number, table in enumerate(reading.tables[:20], 1)
        for line in _block(table, number, len(reading.tables))
    ]
    return "\n".join(
        said
        + ([f"… and {len(reading.tables) - 20} more tables"] if len(reading.tables) > 20 else [])
    )


def _block(table, number, of):
    sizes = [row.size for row in table.rows]
    what = [
        f"{table.verb or 'a test without its title,'} {table.kind}"
        + (", both directions summed" if table.bidirectional else "")
    ]
    what += [
        table.device,
        table.link,
        f"MTU {table.mtu:,} B" if table.mtu else None,
        f"{table.qps} QPs" if (table.qps or 1) > 1 else None,
    ]
    many = (
        f"{len(sizes)} sizes, {_size(min(sizes))} to {_size(max(sizes))}"
        if len(set(sizes)) > 1
        else _size(sizes[0])
    )
    head = (
        f"perftest{f', table {number} of {of}' if of > 1 else ''}:"
        f" {', '.join(part for part in what if part)}; {many}"
    )
    said = _bandwidth_lines(table) if table.kind == "bandwidth" else _latency_lines(table)
    if table.echoes:
        said.append(
            f"both sides printed here: {table.echoes} row{'s' * (table.echoes != 1)} twice, each"
            " one measurement"
        )
    return [head, *(f"  {line}" for line in said), *(f"  ! {line}" for line in doubts(table))]


def _bandwidth_lines(table):
    best, way = table.best, table.one_way(table.best)
    said = [
        f"best average {si(best.average, 'B/s')} at {_size(best.size)}"
        + (f", {si(way, 'b/s')} one way" if way is not None else "")
    ]
    if best.messages:
        said[0] += f", {si(best.messages, '').strip()} messages/s"
    if all(row.peak is None for row in table.rows):
        said.append(
            "peak 0.00: not measured, as in duration mode, where half of the time is margin"
        )
    if way is None:
        said.append("the title is missing: with -b this is the sum of both directions")
    elif max(row.size for row in table.rows) < LARGE:
        said.append(
            f"no message of {_size(int(LARGE))} or more: the start of a message rules here, so this"
            " tells nothing about the port's rate"
        )
    elif port := next((rate for rate in PORTS if way <= rate), None):
        faster = (
            f", {way / (2 * port):.0%} of one twice as fast, as if that had lost half of its lanes"
            if 2 * port in PORTS
            else ""
        )
        said.append(
            f"the port's rate is not printed: {way / port:.0%} of a {si(port, 'b/s')} port (96 % or"
            f" more is healthy){faster}"
        )
    else:
        said.append("more than any port carries that is known here")
    return said


def _latency_lines(table):
    row = min(table.rows, key=lambda row: row.size)
    printed = row.typical if row.typical is not None else row.mean
    said = [
        f"{'median' if row.typical is not None else 'mean'} {si(printed, 's')} at {_size(row.size)}"
        + (f", 99 % within {si(row.p99, 's')}" if row.p99 else "")
    ]
    if row.most is not None:
        said[0] += f", at most {si(row.most, 's')}"
    time = table.one_way(row)
    if time is None:
        said.append(
            "the title is missing: a write or a send counts half a round trip, a read a whole one"
        )
        return said
    whole = table.verb in ("read", "atomic")
    said.append(
        f"a {table.verb} counts {'a whole' if whole else 'half a'} round trip: {si(time, 's')}"
        " one way" + (", and the reading of memory with it" if whole else "")
    )
    if row.size > 4 * KiB:
        said.append("no small message: this is transfer time as much as start-up")
    elif time < HEALTHY:
        said[-1] += f"; below {si(HEALTHY, 's')}, as it should be"
    elif time <= SUSPICIOUS:
        said[-1] += (
            f"; between {si(HEALTHY, 's')} and {si(SUSPICIOUS, 's')}: several switches, or Ethernet"
        )
    return said


def _size(size):
    for unit, name_of in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name_of}"
    return f"{size:,} B"
