"""nccl-tests and NCCL's log: what a table says, where it lies against the model, what looks wrong.

`table` reads and describes the layout, `facts` draws the collective, the ranks and the fit from it,
`signs` what looks wrong; here they are told. `log` reads NCCL's own log, alone or from between the
rows.
"""

import math
from collections.abc import Iterator

from fabriclab import collectives, transport
from fabriclab.logs.nccl.facts import (
    SHOWN,
    Ranks,
    binary,
    candidates,
    factor,
    fit,
    measured,
    ranks,
    rate,
    steps,
)
from fabriclab.logs.nccl.lines import _ROW_INSIDE, SIGN
from fabriclab.logs.nccl.log import log_signs, network_lines
from fabriclab.logs.nccl.records import TOOL, Pass, Rank, Reading, Row, Table
from fabriclab.logs.nccl.signs import table_signs as _table_signs
from fabriclab.logs.nccl.table import read
from fabriclab.logs.nccl.wire import against_hardware, hosts
from fabriclab.logs.sign import Sign, marked
from fabriclab.units import GB, si

BAD_FIT = 0.25  # the worst row so far off one line: no bandwidth or start-up is read from it
__all__ = [
    "BAD_FIT",
    "COMMANDS",
    "ROW",
    "SIGN",
    "TOOL",
    "Pass",
    "Rank",
    "Ranks",
    "Reading",
    "Row",
    "Table",
    "candidates",
    "factor",
    "fit",
    "ranks",
    "read",
    "report",
    "signs",
    "steps",
    "table_signs",
]

COMMANDS = True  # they name the collective
ROW = _ROW_INSIDE


def signs(reading: Reading, rate: float | None = None) -> Iterator:
    """What stands out in nccl-tests output, and in NCCL's log beside it. `rate`: bytes per second
    that a port should carry, where it is known: then the NICs are not held against the maker's
    node.
    """
    for table in reading.tables:
        yield from table_signs(table, rate)
    yield from died_signs(reading)
    if reading.log:
        yield from log_signs(reading.log)


def died_signs(reading: Reading) -> Iterator:
    """The runs that ended before their first row."""
    for line, words in reading.died:
        yield Sign("test-died", f"the run whose columns are named at line {line} died: {words}")


def table_signs(table: Table, rate: float | None = None) -> list[Sign]:
    """What stands out in one table, as a list of `Sign`, the gravest first."""
    found = _table_signs(table)
    if ranks(table).count != 1 and not rate:
        found += against_hardware(table)[1]
    return found


def report(reading: Reading) -> str:
    """The few lines that ``fabriclab read`` prints for nccl-tests output, one block a table."""
    blocks = [
        _block(table, number, len(reading.tables))
        for number, table in enumerate(reading.tables[:20], 1)
    ]
    if len(reading.tables) > 20:
        blocks.append([f"… and {len(reading.tables) - 20} more tables"])
    blocks.append(marked(died_signs(reading)))
    if reading.log:
        said = network_lines(reading.log)
        blocks.append([*(f"  {line}" for line in said), *marked(log_signs(reading.log))])
    return "\n".join(line for block in blocks for line in block)


def _block(table, number, of):
    names, who = candidates(table), ranks(table)
    shown = (
        " or ".join(SHOWN[one] for one in names)
        if len(names) < 4
        else "a collective its columns do not tell"
    )
    gpus = list(dict.fromkeys(process.gpu for process in table.processes))
    head = (
        f"{table.version or TOOL}{f', table {number} of {of}' if of > 1 else ''}:"
        f" {shown}{'' if table.program else ' (inferred from its columns)'}, {who}"
    )
    if gpus:
        head += f", {hosts(table)}, {' and '.join(gpus[:2])}"
    sizes = [row.size for row in table.rows]
    head += (
        f"; {len(sizes)} row{'s' * (len(sizes) != 1)}, {binary(min(sizes))} to {binary(max(sizes))}"
        + ("" if table.rows[0].in_place else ", out of place only")
    )
    lines = [head, *_busbw_lines(table)]
    if table.smallest and min(sizes) > table.smallest:
        lines.append(f"  an excerpt: the run began at {binary(table.smallest)}")
    if who.count != 1:
        lines += [f"  {line}" for line in _model_lines(table, names, who)]
    if table.average is not None:
        lines.append(
            f"  the printed average ({table.average / GB:g} GB/s) averages all sizes; do not read"
            " it as bandwidth"
        )
    return lines + marked(table_signs(table))


def _busbw_lines(table, across=4):
    if not any(one.busbw for row in table.rows for one in row.passes):
        return [f"  busbw 0.00 GB/s in all {len(table.rows)} row{'s' * (len(table.rows) != 1)}"]
    cells = [
        f"{binary(row.size):>8} " + " /".join(f"{one.busbw / GB:7.2f}" for one in row.passes)
        for row in table.rows
    ]
    if len(cells) > 64:
        cells = [*cells[:32], "…".center(26), *cells[-31:]]
    down = -(-len(cells) // across)
    head = (
        "  busbw, GB/s, by size: out of place / in place"
        if table.rows[0].in_place
        else "  busbw, GB/s, by size"
    )
    return [head, *("    " + "   ".join(cells[at::down]) for at in range(down))]


def _model_lines(table, names, who):
    hardware, _ = against_hardware(table)
    try:
        line = fit(table)
    except ValueError as error:
        return [f"no start-up and bandwidth fitted: {error}", *hardware]
    n = who.count
    times = factor(names[0], n) if n and len({factor(one, n) for one in names}) == 1 else None
    bus = f" = {rate(line.beta * times)} busbw" if times else ""
    said = [
        f"fit T = alpha + S/B: alpha {si(line.alpha, 's')} for the whole collective, B"
        f" {rate(line.beta)} algbw{bus}; worst row {line.worst:.0%} off"
    ]
    quickest = min(measured(table)[1])
    if quickest > 4 * line.alpha:
        beyond = (
            f": even the quickest row takes {quickest / line.alpha:.0f} times as long"
            if line.alpha
            else ""
        )
        return [
            *said,
            f"alpha is extrapolated, not measured{beyond}; start at small sizes to see it",
            *hardware,
        ]
    said.append(
        "start-up and bandwidth take equal time at"
        f" {si(transport.crossover(line.alpha, line.beta), 'B')}"
    )
    if line.worst > BAD_FIT:
        return [
            *said,
            "so far off one line, several algorithms or protocols are at work: no start-up and no"
            " ceiling is read from it",
            *hardware,
        ]
    steps_of = steps(names[0], n) if n and len({steps(one, n) for one in names}) == 1 else None
    if steps_of:
        said += _against_model(names[0], n, line, line.beta * times, steps_of)
    return said + hardware


def _against_model(collective, n, line, link, steps_of):
    each = line.alpha / steps_of
    way = "an exchange in pairs" if collective == "alltoall" else "a ring"
    said = [
        f"read as {way} of {steps_of} steps: {si(each, 's')} a step, links of {rate(link)}: the"
        " ceiling of busbw"
    ]
    if collective == "all_reduce" and n > 2:
        tree = 2 * math.ceil(math.log2(n))
        size = _tree_wins_below(n, each, link)
        said[0] += f"; read as a tree of {tree} steps: {si(line.alpha / tree, 's')} a step"
        said.append(
            "with the ring's numbers the model expects "
            + (
                f"a pipelined tree below {si(size, 'B')}, the ring above"
                if size
                else "the ring at every size"
            )
        )
    return said


def _tree_wins_below(n, alpha, beta):
    """Bytes below which a pipelined tree beats the ring with these links, 0 if it never does."""

    def gain(size):
        return collectives.ring_allreduce(
            size, n, alpha, beta
        ) - collectives.pipelined_tree_allreduce(size, n, alpha, beta)

    low, high = 1.0, 1e15
    if n < 3 or gain(low) <= 0:
        return 0.0
    if gain(high) > 0:
        return high
    while high / low > 1.001:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if gain(middle) > 0 else (low, middle)
    return low
