"""nccl-tests and NCCL's log: what a table says, where it lies against the model, what looks wrong.

`table` reads and describes the layout, `facts` draws the collective, the ranks and the fit from it,
`doubts` what looks wrong; here they are told. `log` reads NCCL's own log, alone or from between the
rows.
"""

import math

from fabriclab import catalog, collectives, transport
from fabriclab.telemetry.nccl.doubts import doubts
from fabriclab.telemetry.nccl.facts import (
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
from fabriclab.telemetry.nccl.log import network_lines
from fabriclab.telemetry.nccl.records import TOOL, Pass, Rank, Reading, Row, Table
from fabriclab.telemetry.nccl.table import SIGN, read
from fabriclab.units import GB, si

__all__ = [
    "COMMANDS",
    "SIGN",
    "TOOL",
    "Pass",
    "Rank",
    "Ranks",
    "Reading",
    "Row",
    "Table",
    "candidates",
    "doubts",
    "factor",
    "fit",
    "ranks",
    "read",
    "report",
    "steps",
]

COMMANDS = True  # they name the collective


def report(reading):
    """The few lines that ``fabriclab read`` prints for nccl-tests output, one block a table."""
    blocks = [
        _block(table, number, len(reading.tables))
        for number, table in enumerate(reading.tables[:20], 1)
    ]
    if len(reading.tables) > 20:
        blocks.append([f"… and {len(reading.tables) - 20} more tables"])
    if reading.log:
        said, wrong = network_lines(reading.log)
        blocks.append([*(f"  {line}" for line in said), *(f"  ! {line}" for line in wrong)])
    return "\n".join(line for block in blocks for line in block)


def _block(table, number, of):
    names, who = candidates(table), ranks(table)
    shown = (
        " or ".join(SHOWN[one] for one in names)
        if len(names) < 4
        else "a collective its columns do not tell"
    )
    hosts = list(dict.fromkeys(process.host for process in table.processes))
    gpus = list(dict.fromkeys(process.gpu for process in table.processes))
    head = (
        f"{table.version or TOOL}{f', table {number} of {of}' if of > 1 else ''}:"
        f" {shown}{'' if table.program else ' (inferred from its columns)'}, {who}"
    )
    if hosts:
        head += f", {len(hosts)} node{'s' * (len(hosts) != 1)} of {', '.join(gpus[:2])}"
    sizes = [row.size for row in table.rows]
    head += (
        f"; {len(sizes)} row{'s' * (len(sizes) != 1)}, {binary(min(sizes))} to {binary(max(sizes))}"
        + ("" if table.rows[0].in_place else ", out of place only")
    )
    lines = [head, *_busbw_lines(table)]
    if who.count != 1:
        lines += [
            f"  {line}" for line in _model_lines(table, names, who, len(hosts), gpus)
        ]  # flags come marked
    if table.average is not None:
        lines.append(
            f"  the printed average, {table.average / GB:g} GB/s, is the plain mean over all rows:"
            " no bandwidth"
        )
    return lines + [f"  ! {line}" for line in doubts(table)]


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


def _model_lines(table, names, who, hosts, gpus):
    best = max(one.busbw for row in table.rows for one in row.passes)
    hardware = _against_hardware(best, who.count, hosts, gpus)
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
    if line.worst > 0.25:
        said.append(
            "so far off one line, several algorithms or protocols are at work: alpha holds for"
            " small messages, B only roughly"
        )
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


def _known(gpus):
    """The catalogue's record of the one kind of GPU in use, in its module form (PCIe cards have
    less NVLink or none), or None.
    """
    if len(gpus) != 1 or "PCI" in gpus[0].upper() or "NVL" in gpus[0].upper():
        return None
    return next((known for known in catalog.ACCELERATORS if known.name in gpus[0]), None)


def _against_hardware(best, n, hosts, gpus):
    """The best busbw beside one direction of NVLink (one node) or the NICs (several), flagged where
    it is under 60 %.
    """
    known, said = _known(gpus), []
    if hosts == 1 and known and n:
        one_way = known.nvlink.per_direction
        basis = f"{rate(one_way)} (data sheets say {2 * one_way / GB:g}, counting both)"
        said.append(
            f"best busbw {rate(best)}: {best / one_way:.0%} of one direction of the {known.name}'s"
            f" NVLink, {basis}"
        )
        if best > one_way:
            said.append(
                "more than one direction holds: in-network reduction, which the factor of busbw"
                " does not know of, or another GPU"
            )
        elif best < 0.6 * one_way:
            said.append(
                "! under 60 %: too small a largest size, or NCCL went through PCIe or host memory"
                " (its log says P2P or SHM)"
            )
    if hosts > 1 and n and n > hosts and n % hosts == 0:
        each = best * hosts / n
        said.append(
            f"best busbw {rate(best)}: as a ring, each node's NICs together carry that one way,"
            f" {si(each, 'b/s')} per GPU"
        )
        if known and n // hosts == 8:
            port = known.port
            said[-1] += (
                f", {each / port.per_direction:.0%} of the {port.name} port a GPU that the maker's"
                " node has"
            )
            if each > port.per_direction:
                tree = (
                    "between two nodes a tree may show up to twice the wire; " if hosts == 2 else ""
                )
                said.append(
                    f"more than a ring could carry: {tree}in-network reduction too, or the ports"
                    " are others"
                )
            elif each < 0.6 * port.per_direction:
                said.append(
                    "! under 60 %: if the node has those ports, look for one that is slow, down or"
                    " unused: a ring goes at the pace of its slowest link"
                )
    return said
