"""What stands out in a table of nccl-tests."""

from fabriclab.logs.nccl.facts import SHOWN, binary, candidates, factor, listed, ranks, rate
from fabriclab.logs.nccl.records import Table, follows
from fabriclab.logs.sign import Sign
from fabriclab.units import GB, si

_FASTEST = 10e12  # bytes/s: beyond any accelerator's memory


def table_signs(table: Table) -> list[Sign]:
    """What stands out in a table, as a list of `Sign`, the gravest first."""
    names, who = candidates(table), ranks(table)
    found = [*_alone(table, who), *_invalid(table), *_inconsistent(table, names, who)]
    found += _absurd(table)
    if who.count != 1:
        found += _shape(table)
    return found + _incomplete(table)


def _alone(table, who):
    found, named = [], listed(table)
    zeros = sum(process.rank == 0 for process in table.processes)
    if who.count == 1:
        found.append(
            Sign(
                "alone",
                "busbw is 0 in every row although algbw is not. n = 1: each process ran alone and"
                " nothing crossed a link; algbw is a copy inside the device. Was the program built"
                " with MPI=1, and started by mpirun?",
            )
        )
    if zeros > 1:
        found.append(
            Sign(
                "alone",
                f"{zeros} processes each call themselves rank 0: they ran side by side, not"
                " together",
            )
        )
    elif named and who.how != named.how and who.count != 1:
        found.append(
            Sign(
                "ranks-disagree",
                f"the rank lines name {named.count}, but the numbers are those of {who}",
            )
        )
    seats = {}
    for process in table.processes:
        seats.setdefault((process.host, process.device, process.bus), []).append(process.rank)
    shared = next((both for both in seats.values() if len(set(both)) > 1), None)
    if shared:
        found.append(
            Sign(
                "shared-gpu",
                f"ranks {shared[0]} and {shared[1]} share one GPU: what is measured is that GPU's"
                " memory and scheduling, not a link",
            )
        )
    return found


def _invalid(table):
    wrong = (
        [row.size for row in table.rows for one in row.passes if one.check]
        if table.check == "wrong" or table.check is None
        else []
    )
    found = []
    if wrong:
        sizes = list(dict.fromkeys(binary(size) for size in wrong))
        shown = ", ".join(sizes[:6]) + (" …" if len(sizes) > 6 else "")
        found.append(
            Sign(
                "wrong-results",
                f"wrong results (#wrong > 0) at {shown}: no speed counts until the data are right",
            )
        )
    if table.out_of_bounds:
        found.append(Sign("out-of-bounds", f"{table.out_of_bounds} values out of bounds (FAILED)"))
    if not wrong and (
        table.validation is False
        or all(one.check is None for row in table.rows for one in row.passes)
    ):
        found.append(
            Sign(
                "unchecked",
                "results were not validated (N/A): a fast answer may be a wrong one; run with -c 1",
            )
        )
    return found


def _inconsistent(table, names, who):
    found, rows = [], [(row, one) for row in table.rows for one in row.passes]
    if not table.cpu_time and "hypercube" not in names:
        off = [row for row, one in rows if one.time > 0 and not follows(row.size, one)]
        if off:
            found.append(
                Sign(
                    "algbw-off",
                    f"algbw is not size/time at {_first(off)}: edited, or not this table's",
                )
            )
    if (
        who.count
        and set(names) <= set(SHOWN)
        and len({factor(one, who.count) for one in names}) == 1
    ):
        times = factor(names[0], who.count)
        off = [
            row
            for row, one in rows
            if abs(one.busbw - times * one.algbw)
            > 1.01 * (one.half_steps[2] + times * one.half_steps[1])
        ]
        if off:
            found.append(
                Sign(
                    "busbw-off",
                    f"busbw is not algbw x {times:g}, the factor for {who.count} ranks, at"
                    f" {_first(off)}",
                )
            )
    mean = sum(one.busbw for _, one in rows) / len(rows)
    shown = min(row.size for row, _ in rows) <= (table.smallest or 0)  # else rows are left out
    if (
        table.average is not None
        and (shown or not table.smallest)
        and abs(mean - table.average) > 0.006 * GB + 1e-5 * mean
    ):
        found.append(
            Sign(
                "mean-off",
                f"the printed average {table.average / GB:g} GB/s is not the mean of these rows,"
                f" {mean / GB:.4g}: rows are missing or changed",
            )
        )
    return found


def _first(rows):
    return f"{binary(rows[0].size)} (line {rows[0].line})" + (
        f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    )


def _absurd(table):
    found = []
    fast = [row for row in table.rows for one in row.passes if one.algbw > _FASTEST]
    if fast:
        found.append(
            Sign(
                "beyond-memory",
                f"at {binary(fast[0].size)} algbw is beyond {si(_FASTEST, 'B/s')}, faster than any"
                " memory: nothing was moved",
            )
        )
    apart = [
        row
        for row in table.rows
        if row.in_place
        and row.size >= 2**20
        and not fast
        and min(p.time for p in row.passes) * 2 < max(p.time for p in row.passes)
    ]
    if apart:
        found.append(
            Sign(
                "passes-differ",
                f"in-place and out-of-place differ more than twofold at {binary(apart[0].size)}: a"
                " noisy run, or one of them did not run",
            )
        )
    return found


def _shape(table):
    """Falls, jumps and holes in busbw over size; small messages, where start-up rules, are left
    out.
    """
    found, rows = [], sorted((row for row in table.rows if row.size), key=lambda row: row.size)
    best = max((row.passes[0].busbw for row in rows), default=0.0)
    top = max(rows, key=lambda row: row.passes[0].busbw, default=None)
    if not best:
        return found
    last = rows[-1]
    if last.size > top.size and last.passes[0].busbw < 0.9 * best:
        fall = (
            f"{rate(best)} at {binary(top.size)}, {rate(last.passes[0].busbw)} at"
            f" {binary(last.size)}"
        )
        found.append(
            Sign(
                "busbw-falls",
                f"busbw falls with size: {fall}; congestion, a slow path taken by large messages,"
                " or heat",
            )
        )
    for before, row, after in zip(rows, rows[1:], rows[2:]):
        here, sides = row.passes[0].busbw, (before.passes[0].busbw, after.passes[0].busbw)
        if (
            before.size < row.size < after.size
            and here < 0.85 * min(sides)
            and before.passes[0].busbw > best / 10
        ):
            found.append(
                Sign(
                    "hole",
                    f"a hole at {binary(row.size)}: {rate(here)} between {rate(sides[0])} and"
                    f" {rate(sides[1])}; repeat that size",
                )
            )
    if (stall := _stall(rows)) is not None:
        first, last = stall
        found.append(
            Sign(
                "stalled",
                f"{si(first.passes[0].time, 's')} at every size from {binary(first.size)} to"
                f" {binary(last.size)}: a stall or a time-out, not the transfer, sets the time",
            )
        )
        return found
    for before, row in zip(rows, rows[1:]):
        flat = before.passes[0].busbw > best / 4
        if (
            flat
            and row.size <= 2 * before.size
            and row.passes[0].busbw > 1.3 * before.passes[0].busbw
            and row.size >= 2**28
        ):
            jump = (
                f"{rate(before.passes[0].busbw)} to {rate(row.passes[0].busbw)} at"
                f" {binary(row.size)}"
            )
            found.append(
                Sign(
                    "busbw-jumps",
                    f"busbw jumps from {jump}: another algorithm or protocol takes over; one line"
                    " does not describe both sides",
                )
            )
    return found


def _stall(rows, least=3):
    """(first, last) of rows in a run that take one time whatever their size, far above the
    quickest, or None.
    """
    timed = [row for row in rows if row.passes[0].time > 0]
    quickest = min((row.passes[0].time for row in timed), default=0.0)
    for at, first in enumerate(timed):
        time, last = first.passes[0].time, at
        while last + 1 < len(timed) and abs(timed[last + 1].passes[0].time / time - 1) < 0.03:
            last += 1
        if last - at + 1 >= least and time > 4 * quickest and timed[last].size >= 4 * first.size:
            return first, timed[last]
    return None


def _incomplete(table):
    sizes = [row.size for row in table.rows]
    found = []
    if (
        table.largest
        and table.step
        and table.step[1] == "factor"
        and table.step[0] > 1
        and max(sizes) * table.step[0] <= table.largest
    ):
        found.append(
            Sign(
                "cut-short",
                f"the table stops at {binary(max(sizes))} of {binary(table.largest)}: the run ended"
                " early, or the file is cut",
            )
        )
    return found
