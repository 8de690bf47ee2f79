"""nccl-tests and rccl-tests: the table that all_reduce_perf and its sisters print.

The layout, in our words. A header of lines that begin with #: the version, the program's name, one
line of settings (threads, GPUs a thread, smallest and largest size, validation), one line a rank
(rank, group, process, host, device, bus id, GPU). Then two lines that name columns and units, and
one row a size: bytes, elements, type; the reduction and the root where the collective has one
(older programs leave the columns out, or leave the cell blank); then time in us, algbw and busbw in
GB/s (decimal) and a check, once out of place and mostly once more in place. The check is a count of
wrong elements, in old versions a largest deviation, or N/A. Last a count of values out of bounds
and a plain mean of busbw.

Rank tags of mpirun, labels of srun and colours come off; NCCL's log may stand between the rows, or
in the middle of one, because a row's first half is printed before its run. Whatever does not add up
to a whole row is refused by its line.
"""

import re

from fabriclab.logs.nccl import log
from fabriclab.logs.nccl.lines import (
    _AVERAGE,
    _BLOCKS,
    _COMPLAINT,
    _LABEL,
    _NAMED,
    _OUT_OF_BOUNDS,
    _RANK,
    _ROW,
    _ROW_INSIDE,
    _SETTINGS,
    _Columns,
    _Pending,
)
from fabriclab.logs.nccl.records import (
    CLOCK,
    Cut,
    Rank,
    Reading,
    Row,
    Table,
    follows,
    one_pass,
    printed,
    ways_to_part,
)
from fabriclab.logs.source import MOST_ROWS, Died, Part, lines, name, refuse, shorten

_LONGEST = 1000  # characters of a row or a comment, generously


class _Reader:
    """Reads line by line; every method that refuses raises ValueError with the line at fault."""

    def __init__(self, path):
        self.path, self.log = path, log.Gatherer()
        self.tables, self.total = [], 0
        self.head, self.ranks, self.footer, self.next_program = {}, {}, {}, None
        self.died, self.words = [], None  # runs without a row; what the run at hand complains of
        self._fresh()
        self.pending = None

    def _fresh(self):
        self.rows, self.passes, self.columns, self.begun = [], set(), None, 0
        self.widths = set()  # of the rows so far: the same in all where the layout is aligned

    def take(self, line):
        text = line.text
        at = (self.log if line.whole else log.Gatherer()).take(
            text
        )  # what the file ends in the middle of is no fact
        if at is not None:
            text = text[:at]  # the log may be glued behind a row's first half
            if not _ROW.match(text):
                return
        if len(text) > _LONGEST:
            if _ROW.match(text[:_LONGEST]):
                self._refuse(line.number, f"a row of {len(text):,} characters")
            return
        text = _LABEL.sub("", text)
        if not text.strip():
            return
        results = printed(text)
        if self.pending and results:
            self.pending.tokens += results
            self.pending.whole = line.whole
            return self._complete()
        self._settle()
        if row := _ROW.match(text):
            self._row(line, text.rstrip(), row)
        elif text.lstrip().startswith("#"):
            if line.whole:  # what a cut line would say may be something else
                self._comment(line, text.strip())
        else:
            self._other(line, text, results)

    def _other(self, line, text, results):
        if version := re.match(r"rccl-tests: Version (\S+)", text):
            self._begin()
            self.head["version"] = f"rccl-tests {version[1]}"
        elif _ROW_INSIDE.search(text):
            self._refuse(line.number, f"a row behind other text: {shorten(text)}")
        elif program := _NAMED.search(text):
            self.next_program = program[1]
        elif self.rows or self.columns:
            if self.columns and not self.rows and _COMPLAINT.search(text):
                self.words = self.words or text.strip()[:200]
            if results and any("." in token for token in results):
                self._refuse(
                    line.number,
                    "results with no size in front of them: the row's beginning is missing",
                )
            if not line.whole and re.match(r"\s*\d+(\s+\d+)?(\s+[a-z]+\d*)?\s*$", text):
                self._refuse(line.number, "the file ends in the middle of a row")

    def end(self, last):
        self._settle()
        self._begin(header=not self.tables)  # of a file without a row all is said below
        if not self.tables and not (self.head or self.ranks or self.columns or self.died):
            if not (self.log.lines or self.log.version):
                self._refuse(last, "the file ends in the middle of its only line of NCCL's log")
            return self.log.reading(name(self.path))
        if not self.tables:
            said = self.words or next(
                (words for _, words in self.died if "no row" not in words), ""
            )
            self._refuse(
                last,
                "the header of nccl-tests, but no row of results: the run died, or the file is cut"
                + (f"; it says {shorten(said, 120)}" if said else ""),
                Died,
            )
        return Reading(
            name(self.path),
            tuple(self.tables),
            self.log.reading(name(self.path)) if self.log.lines else None,
            tuple(self.died),
        )

    def _refuse(self, number, reason, kind=ValueError):
        refuse(self.path, number, reason, kind)

    def _dies(self):
        """The run at hand ended before its first row."""
        self.died.append((self.begun, self.words or "no row of results, and no error of its own"))
        self.head, self.ranks, self.footer = {}, {}, {}
        self._fresh()

    def _begin(self, header=False):
        """Close the table at hand, if there is one: what comes now belongs to the next."""
        if not self.rows:
            if self.columns and not header:
                self._dies()
            return
        if len(self.passes) > 1:
            odd = next(row for row in self.rows if len(row.passes) == 1)
            self._refuse(
                odd.line,
                "a row with one measurement in a table whose rows have two: its rest is missing",
            )
        columns = (
            {
                "check": self.columns.check,
                "lead": tuple(self.columns.lead),
                "cpu_time": self.columns.cpu_time,
            }
            if self.columns
            else {}
        )
        self.tables.append(
            Table(
                tuple(self.rows),
                processes=tuple(Rank(*rank) for rank in self.ranks),
                **columns,
                **self.head,
                **self.footer,
            )
        )
        self.head, self.ranks, self.footer = {}, {}, {}
        self._fresh()

    def _comment(self, line, text):
        if rank := _RANK.match(text):
            self._begin()
            number, group, pid, host, device, bus, gpu = rank.groups()
            self.ranks[
                int(number), int(group or 0), int(pid), host, int(device), bus.lower(), gpu[:80]
            ] = None
            if len(self.ranks) > MOST_ROWS:
                self._refuse(line.number, f"more than {MOST_ROWS:,} ranks")
        elif found := _SETTINGS.match(text):
            self._begin()
            threads, gpus, least, most, step, kind, rest = found.groups()
            validation = re.search(r"validation:\s*(\d{1,9})", rest)
            self.head |= {
                "threads": int(threads),
                "gpus_per_thread": int(gpus),
                "smallest": int(least),
                "largest": int(most),
            }
            self.head |= {
                "step": (int(step), kind),
                "validation": bool(int(validation[1])) if validation else None,
            }
        elif found := re.match(r"# ((?:nccl|rccl)-tests) version (\S+)", text):
            self._begin()
            self.head["version"] = f"{found[1]} {found[2]}"
        elif re.match(r"# Collective test (starting|concluded)", text):
            if "starting" in text:
                self._begin()
            if program := _NAMED.search(text):
                self.head["program"] = program[1]
        elif re.match(r"#\s+size\s+count\b", text):
            self._header(line, text)
        elif re.match(r"#\s+\(B\)", text):
            units = set(re.findall(r"\([^)]*\)", text)) - {
                "(B)",
                "(elements)",
                "(us)",
                "(GB/s)",
                "(%)",
            }
            if units:
                self._refuse(
                    line.number,
                    f"units {', '.join(sorted(units))}: nccl-tests prints (us) and (GB/s)",
                )
        elif self.rows and (found := _OUT_OF_BOUNDS.match(text)):
            self.footer["out_of_bounds"] = int(found[1])
        elif self.rows and (found := _AVERAGE.match(text)) and float(found[1]) < 1e15:
            self.footer["average"] = float(found[1]) * 1e9

    def _header(self, line, text):
        kept = self.head, self.ranks
        self._begin(header=True)
        if not self.head and not self.ranks:  # a second table under the same settings
            self.head, self.ranks = kept
        if self.next_program:
            self.head.setdefault("program", self.next_program)
        names = re.sub(r"\bcount\s+\(elements\)", "count", text).lstrip("#").split()
        if names[-1] == "timestamp":
            names.pop()
        starts = [at for at, column in enumerate(names) if column in ("time", "cputime")]
        blocks = [names[at:to] for at, to in zip(starts, [*starts[1:], len(names)])]
        lead = names[3 : starts[0]] if starts else []
        fits = (
            names[:3] == ["size", "count", "type"]
            and len(blocks) in (1, 2)
            and lead in ([], ["redop"], ["root"], ["redop", "root"])
        )
        if not fits or any(
            block != [block[0], *blocks[0][1:]] or block[1:] not in _BLOCKS for block in blocks
        ):
            self._refuse(
                line.number, f"columns {shorten(' '.join(names), 120)}, not those of nccl-tests"
            )
        self.columns = _Columns(
            lead,
            len(blocks[0]),
            len(blocks),
            blocks[0][3].strip("#"),
            names[starts[0]] == "cputime",
        )
        self.widths, self.begun, self.words = {len(text)}, line.number, None

    def _row(self, line, text, match):
        size, count, kind, rest = match.groups()
        if int(size) > 2**63 or int(count) > 2**63:
            self._refuse(line.number, f"a size of {size} bytes is implausibly large")
        if not line.whole and len(self.widths) == 1 and len(text) < max(self.widths):
            self._refuse(line.number, "the file ends in the middle of a row")
        self.widths = {len(text)} if not self.rows else self.widths | {len(text)}
        self.pending = _Pending(
            line.number, int(size), int(count), kind, CLOCK.sub("", rest).split(), line.whole
        )
        self._complete()

    def _complete(self):
        """Make the pending row a `Row` if it has all the columns of two measurements, or of what
        the header names.
        """
        lead, results = self._part(self.pending.tokens)
        width, most = (self.columns.width, self.columns.blocks) if self.columns else (4, 2)
        if len(results) > width * most:
            self._refuse(
                self.pending.number,
                f"{len(results)} columns of results, where {width * most} belong:"
                f" {shorten(' '.join(self.pending.tokens))}",
            )
        if len(results) < width * most:
            results = self._unglued(results, width, most)
        if results:
            self._add(lead, results, width)

    def _settle(self):
        """What is pending gets no more: one measurement stands where no row has two, anything less
        is refused.
        """
        if not self.pending:
            return
        lead, results = self._part(self.pending.tokens)
        width = self.columns.width if self.columns else 4
        if self.passes != {2} and self.pending.whole:
            if len(results) == width:
                return self._add(lead, results, width)
            if glued := self._unglued(results, width, 1):
                return self._add(lead, glued, width)
        what = f"{self.pending.size} {self.pending.count} {self.pending.type}"
        self._refuse(
            self.pending.number,
            f"a row that is not whole: {len(results)} column{'s' * (len(results) != 1)} of results"
            f" after {shorten(what)}",
        )

    def _part(self, tokens):
        """The reduction and the root, then the results."""
        names, redop, root = self.columns.lead if self.columns else ["redop", "root"], None, None
        if "redop" in names and tokens and re.fullmatch(r"[a-z]+", tokens[0]):
            redop, tokens = tokens[0], tokens[1:]
        # a time may be a whole number too: without a header only the number of columns tells it
        # from a root
        if (
            "root" in names
            and tokens
            and re.fullmatch(r"-1|\d{1,7}", tokens[0])
            and (self.columns or tokens[0] == "-1" or len(tokens) in (1, 5, 9))
        ):
            root, tokens = int(tokens[0]), tokens[1:]
        return (redop, root), tokens

    def _unglued(self, results, width, most):
        """The results with columns parted that ran into each other, where one way and only one
        agrees with size/time.
        """
        ways = ways_to_part(results, width * most)
        sound = []
        for way in ways:
            try:
                passes = [one_pass(way[at : at + 4]) for at in range(0, len(way), width)]
            except Cut:
                continue
            # no collective's factor is above 2
            if all(
                one.time > 0
                and follows(self.pending.size, one)
                and one.busbw <= 2 * (one.algbw + sum(one.half_steps[1:]))
                for one in passes
            ):
                sound.append(way)
        return sound[0] if len(sound) == 1 else None

    def _add(self, lead, results, width):
        row, self.pending = self.pending, None
        try:
            passes = [one_pass(results[at : at + 4]) for at in range(0, len(results), width)]
        except Cut as cut:
            self._refuse(row.number, str(cut))
        if not self.columns and not all(follows(row.size, one) for one in passes):
            self._refuse(
                row.number,
                "no header names the columns, and read in the usual order algbw is not size/time",
            )
        self.passes.add(len(passes))
        self.rows.append(
            Row(
                row.number,
                row.size,
                row.count,
                row.type,
                *lead,
                passes[0],
                passes[1] if len(passes) > 1 else None,
            )
        )
        self.total += 1
        if self.total > MOST_ROWS:
            self._refuse(row.number, f"more than {MOST_ROWS:,} rows")


def read(path: Part) -> Reading:
    """A `Reading` of nccl-tests or rccl-tests output at `path`.

    Sizes are bytes exactly as printed; times seconds, bandwidths bytes per second. Raises
    ValueError naming file, line and reason for a row that is cut, has too many columns or holds
    what is no measurement, for other units, and for a file without a single row.
    """
    reader, last = _Reader(path), 0
    for line in lines(path):
        last = line.number
        reader.take(line)
    return reader.end(last)
