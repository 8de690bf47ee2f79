"""perftest: what a table of ib_write_bw, ib_write_lat and their sisters says, and what looks wrong
in it.

`table` reads and describes the layout; here it is judged against a port's rate and the chapter's
thresholds, and told.
"""

from fabriclab.logs.perftest.judge import (
    GOOD,
    HEALTHY,
    LARGE,
    NEAR,
    PAYLOAD,
    PORTS,
    SEVERE,
    SUSPICIOUS,
    ceiling,
    died_signs,
    good,
    judged,
    share,
    signs,
    size_words,
    table_signs,
)
from fabriclab.logs.perftest.table import ROW, SIGN, TOOL, Reading, Row, Table, read
from fabriclab.logs.sign import marked
from fabriclab.units import KiB, si

__all__ = [
    "GOOD",
    "HEALTHY",
    "LARGE",
    "NEAR",
    "PAYLOAD",
    "PORTS",
    "SEVERE",
    "ROW",
    "SIGN",
    "SUSPICIOUS",
    "TOOL",
    "Reading",
    "Row",
    "Table",
    "ceiling",
    "good",
    "judged",
    "read",
    "report",
    "share",
    "signs",
    "table_signs",
]


def report(reading: Reading) -> str:
    """The few lines that ``fabriclab read`` prints for perftest output, one block a table."""
    said = [
        line
        for number, table in enumerate(reading.tables[:20], 1)
        for line in _block(table, number, len(reading.tables))
    ]
    return "\n".join(
        said
        + ([f"… and {len(reading.tables) - 20} more tables"] if len(reading.tables) > 20 else [])
        + marked(died_signs(reading))
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
        "from GPU memory" if table.gpu else None,
        f"{table.qps} QPs" if (table.qps or 1) > 1 else None,
    ]
    many = (
        f"{len(sizes)} sizes, {size_words(min(sizes))} to {size_words(max(sizes))}"
        if len(set(sizes)) > 1
        else size_words(sizes[0])
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
    return [head, *(f"  {line}" for line in said), *marked(table_signs(table))]


def _bandwidth_lines(table):
    best, way = table.best, table.one_way(table.best)
    said = [
        f"best average {si(best.average, 'B/s')} at {size_words(best.size)}"
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
            f"no message of {size_words(int(LARGE))} or more: the start of a message rules here, so"
            " this tells nothing about the port's rate"
        )
    elif table.loopback:
        pass
    elif port := next((rate for rate in PORTS if way <= rate), None):
        most = ceiling(table, port)
        healthy = f"its MTU leaves {most:.0%}" if most < 0.95 else "96 % or more is healthy"
        if most <= 0.8:
            healthy = f"8b/10b coding and headers leave {most:.0%}"
        said.append(
            f"the port's rate is not printed: {way / port:.0%} of a {si(port, 'b/s')} port"
            f" ({healthy})"
        )
        if most <= 0.8:
            said.append(f"{way / port / 0.8:.0%} of the {si(0.8 * port, 'b/s')} left by 8b/10b")
        if table.link == "Ethernet" and most < 0.95:
            said.append("a larger MTU leaves more: 98 % at 4096, with frames of 9000 on the path")
    else:
        said.append("more than any port carries that is known here")
    return said


def _latency_lines(table):
    row = min(table.rows, key=lambda row: row.size)
    printed = row.typical if row.typical is not None else row.mean
    mean = "median" if row.typical is not None else "mean"
    said = [
        f"{mean} {si(printed, 's')} at {size_words(row.size)}"
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
