"""What a table of nccl-tests is: which collective, how many ranks, what start-up and bandwidth."""

import math
from dataclasses import dataclass

from fabriclab import collectives, transport
from fabriclab.logs.nccl.records import TYPES, Table
from fabriclab.transport import Fit
from fabriclab.units import GB, KiB

SHOWN = {
    "all_reduce": "AllReduce",
    "reduce_scatter": "ReduceScatter",
    "all_gather": "AllGather",
    "alltoall": "AllToAll",
    "broadcast": "Broadcast",
    "reduce": "Reduce",
    "sendrecv": "SendRecv",
    "gather": "Gather",
    "scatter": "Scatter",
    "hypercube": "HyperCube",
}
SHARED = (
    "reduce_scatter",
    "all_gather",
    "alltoall",
    "gather",
    "scatter",
)  # their rows print the buffer of all ranks


@dataclass(frozen=True)
class Ranks:
    """A rank count: from `least` to `most`, one number where they are equal, and `how` it is known
    ("" where it is not).
    """

    least: int
    most: float
    how: str

    @property
    def count(self):
        return self.least if self.least == self.most else None

    def __str__(self):
        if not self.how:
            return "an unknown number of ranks"
        if self.count == 1:
            return f"1 rank ({self.how})"
        span = (
            str(self.count)
            if self.count
            else (
                f"{self.least} or more" if self.most == math.inf else f"{self.least} to {self.most}"
            )
        )
        return f"{span} ranks ({self.how})"


def candidates(table: Table) -> tuple[str, ...]:
    """The collectives that a table may be of, by nccl-tests' names: one where the program is named,
    else what its columns leave open.

    Unnamed tables are told apart by reduction and root, by size against elements (the buffer of one
    rank or of all) and by busbw against algbw. Old programs give AllToAll a reduction column and
    leave it blank, and AllGather none; newer ones print the same columns for both, and then both
    are given.
    """
    if table.program:
        return (table.program,)
    row = next((row for row in reversed(table.rows) if row.count), table.rows[-1])
    own = row.count * TYPES[row.type]
    rooted = row.root is not None and row.root >= 0
    if row.size == own:
        if rooted:
            return ("reduce",) if row.redop not in (None, "none") else ("broadcast",)
        least, most = _ratio(table)
        plain = least <= 1 <= most
        return (
            ("sendrecv",)
            if row.redop in (None, "none")
            else ("all_reduce", "sendrecv")
            if plain
            else ("all_reduce",)
        )
    if not own or row.size % own:
        return tuple(SHOWN)
    if rooted:
        return ("gather", "scatter")
    if row.redop not in (None, "none"):
        return ("reduce_scatter",)
    if row.redop is None and table.lead is not None:
        return ("alltoall",) if "redop" in table.lead else ("all_gather",)
    return ("all_gather", "alltoall")


def factor(collective: str, ranks: int) -> float:
    """What nccl-tests multiplies algbw by to get busbw, `collectives.bus_factor`."""
    return collectives.bus_factor(collective, ranks)


def _ratio(table):
    """The interval that busbw/algbw lies in, by every row and the places it prints; (0, inf) when
    no row tells.
    """
    least, most = 0.0, math.inf
    for row in table.rows:
        for one in row.passes:
            _, da, db = one.half_steps
            if one.algbw > 2 * da:
                least = max(least, (one.busbw - db) / (one.algbw + da))
                most = min(most, (one.busbw + db) / (one.algbw - da))
    return least, most


def ranks(table: Table) -> Ranks:
    """How many ranks took part, as `Ranks`, from the strongest evidence there is.

    Size against elements is exact for collectives whose buffer all ranks share. busbw/algbw is
    ``2(n-1)/n`` for AllReduce and ``(n-1)/n`` for the shared ones, so it gives n within what the
    printed places allow. The lines that name ranks count where that does not contradict them (a
    list may be cut short: the highest rank decides); last, threads times GPUs.
    """
    named, counted = listed(table), _by_elements(table) or _by_ratio(table)
    if named and (not counted or counted.least <= named.least <= counted.most):
        return named
    if counted:
        return counted
    if table.threads and table.gpus_per_thread and table.threads * table.gpus_per_thread > 1:
        return Ranks(
            table.threads * table.gpus_per_thread, math.inf, "threads x GPUs of one process"
        )
    return Ranks(1, math.inf, "")


def listed(table: Table) -> Ranks | None:
    """`Ranks` from the lines that name them, or None where there are none."""
    if not table.processes:
        return None
    highest = max(process.rank for process in table.processes)
    groups = len({process.group for process in table.processes})
    count = (highest + 1) // groups if (highest + 1) % groups == 0 else highest + 1
    named = len({process.rank for process in table.processes})
    return Ranks(
        count,
        count,
        (
            "from their lines"
            if named == highest + 1
            else f"from the highest named; only {named} have lines"
        ),
    )


def _by_elements(table):
    if not set(candidates(table)) <= set(SHARED):
        return None
    counts = {
        row.size // (row.count * TYPES[row.type])
        for row in table.rows
        if row.count and row.size % (row.count * TYPES[row.type]) == 0
    }
    return Ranks(*counts, *counts, "inferred: size over elements") if len(counts) == 1 else None


def _by_ratio(table):
    names = candidates(table)
    least, most = _ratio(table)
    if most == math.inf or least > most:
        return None
    if names == ("all_reduce",):
        least, most = least / 2, most / 2
    elif not set(names) <= {*SHARED, "hypercube"}:
        return None
    # (n-1)/n = r, so n = 1/(1-r)
    low = max(1, math.ceil(1 / (1 - max(least, 0)) - 1e-9)) if least < 1 else None
    high = math.floor(1 / (1 - most) + 1e-9) if most < 1 else math.inf
    if low is None or low > high:
        return None
    return Ranks(
        low,
        high,
        "inferred from busbw/algbw"
        + ("" if low == high else ", as closely as the printed places allow"),
    )


def steps(collective: str, ranks: int) -> int | None:
    """Sequential steps of the ring (for AllToAll, of pairwise exchange): ``2(N-1)`` for AllReduce,
    ``N-1`` for its halves; None where no ring is meant.
    """
    if collective == "all_reduce":
        return 2 * (ranks - 1)
    return ranks - 1 if collective in ("reduce_scatter", "all_gather", "alltoall") else None


def measured(table: Table) -> tuple:
    """Sizes and times that a line can be laid through."""
    pairs = [
        (row.size, row.passes[0].time) for row in table.rows if row.size and row.passes[0].time > 0
    ]
    return [size for size, _ in pairs], [time for _, time in pairs]


def fit(table: Table) -> Fit:
    """`transport.fit` over the table's out-of-place rows: the whole collective as ``alpha +
    size/beta``, beta being algbw.

    Raises ValueError where the model does not hold, and for a table of CPU times.
    """
    if table.cpu_time:
        raise ValueError("the time column is what the CPU took to launch, not the collective")
    return transport.fit(*measured(table))


def binary(size: int) -> str:
    """A size as people say powers of two: 8 MiB."""
    for power, unit in ((3, "GiB"), (2, "MiB"), (1, "KiB")):
        if size >= KiB**power and size % KiB**power == 0:
            return f"{int(size // KiB**power)} {unit}"
    return f"{size:,} B"


def rate(value: float) -> str:
    """A bandwidth in nccl-tests' own unit."""
    return f"{value / GB:.4g} GB/s"
