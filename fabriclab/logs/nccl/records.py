"""What a table of nccl-tests holds, as records, and how its printed tokens become numbers."""

import re
from dataclasses import dataclass, field

from fabriclab.logs.nccl import log
from fabriclab.logs.source import shorten

TOOL = "nccl-tests"
TYPES = {  # bytes of an element
    **dict.fromkeys(("int8", "uint8", "char", "fp8_e4m3", "fp8_e5m2", "f8e4m3", "f8e5m2"), 1),
    **dict.fromkeys(("half", "float16", "bfloat16"), 2),
    **dict.fromkeys(("int", "int32", "uint32", "float"), 4),
    **dict.fromkeys(("int64", "uint64", "double"), 8),
}
_NUMBER = re.compile(r"\d+(?:\.(\d+))?(?:e([+-]\d{1,2}))?")
CLOCK = re.compile(r"\s+\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\s*$")


@dataclass(frozen=True)
class Pass:
    """One measurement: `time` s, `algbw` and `busbw` bytes/s, and the `check` (None for N/A) as
    printed; `half_steps` is
    half of the last printed place of the first three."""

    time: float
    algbw: float
    busbw: float
    check: float | None
    half_steps: tuple[float, float, float] = field(repr=False)


@dataclass(frozen=True)
class Row:
    """One row: its `line`, `size` in bytes and `count` of elements exactly as printed, and its
    passes.
    """

    line: int
    size: int
    count: int
    type: str
    redop: str | None
    root: int | None
    out_of_place: Pass | None
    in_place: Pass | None

    @property
    def passes(self):
        return tuple(one for one in (self.out_of_place, self.in_place) if one)


@dataclass(frozen=True)
class Rank:
    """One rank as its line names it."""

    rank: int
    group: int
    pid: int
    host: str
    device: int
    bus: str
    gpu: str


@dataclass(frozen=True)
class Table:
    """One table and the header it came with. `check` says what the last column holds: "wrong"
    (elements), "error" (largest deviation) or None where no header tells; `lead` the header's
    columns of reduction and root, None without a header;
    `cpu_time` that the time column is the CPU's and no collective's."""

    rows: tuple[Row, ...]
    version: str | None = None
    program: str | None = None
    processes: tuple[Rank, ...] = ()
    threads: int | None = None
    gpus_per_thread: int | None = None
    smallest: int | None = None
    largest: int | None = None
    step: tuple[int, str] | None = None
    validation: bool | None = None
    check: str | None = None
    lead: tuple[str, ...] | None = None
    cpu_time: bool = False
    out_of_bounds: int | None = None
    average: float | None = None


@dataclass(frozen=True)
class Reading:
    """nccl-tests output as read: its tables, NCCL's log where lines of it stood between, and runs
    that `died` before their first row, as (line, what was said).
    """

    path: str
    tables: tuple[Table, ...]
    log: "log.Reading | None" = None
    died: tuple[tuple[int, str], ...] = ()

    tool = TOOL


class Cut(Exception):
    """A row that is not whole."""


def number(token: str, column: str) -> tuple[float, ...]:
    match = _NUMBER.fullmatch(token)
    value = float(token) if match else -1.0
    if not match or value > 1e15:
        raise Cut(f"{column} is {shorten(token)}, not a valid number")
    return value, 0.5 * 10.0 ** (int(match[2] or 0) - len(match[1] or ""))


def one_pass(tokens: list[str]) -> Pass:
    time, algbw, busbw, check = tokens[:4]
    (t, dt), (a, da), (b, db) = (
        number(token, column)
        for token, column in zip((time, algbw, busbw), ("time", "algbw", "busbw"))
    )
    checked = None if check == "N/A" else number(check, "the check")[0]
    return Pass(t / 1e6, a * 1e9, b * 1e9, checked, (dt / 1e6, da * 1e9, db * 1e9))


def follows(size: int, one: Pass) -> bool:
    """Whether a pass's algbw is `size` over its time, as far as the printed places tell."""
    dt, da, _ = one.half_steps
    least, most = size / (one.time + dt), size / max(one.time - dt, 1e-12)
    return least * (1 - 1e-9) - 1.001 * da <= one.algbw <= most * (1 + 1e-9) + 1.001 * da


def printed(text: str) -> list:
    """The tokens of a line that holds results and nothing else, or an empty list."""
    tokens = CLOCK.sub("", text).split()
    return (
        tokens
        if len(tokens) <= 16 and all(token == "N/A" or _NUMBER.fullmatch(token) for token in tokens)
        else []
    )


def ways_to_part(tokens: list[str], wanted: int) -> list:
    """Every way to part tokens that ran into each other (36.470.000.00), each piece with one or two
    decimals, into `wanted`.
    """
    if not any(token.count(".") > 1 for token in tokens):
        return []
    ways = [[]]
    for token in tokens:
        pieces = _pieces(token) if token.count(".") > 1 else [[token]]
        ways = [way + piece for way in ways for piece in pieces][:4096]
    return [way for way in ways if len(way) == wanted]


def _pieces(text, most=8):
    if re.fullmatch(r"\d*", text) or not most:
        return [[text]] if text and most else [[]] if not text else []
    heads = {
        found[0] for found in (re.match(r"\d+\.\d", text), re.match(r"\d+\.\d\d", text)) if found
    }
    return [
        [head, *rest] for head in sorted(heads) for rest in _pieces(text[len(head) :], most - 1)
    ]
