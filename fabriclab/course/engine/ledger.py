"""The ledger: every number the texts print, beside the call that recomputes it, and a verdict that
a test holds it to.

One file of rows per part of the chapter, in the chapter's order; `table` shows some of
them in a notebook.

Verdicts:

- ``agrees``     the recomputed value rounds to the digits the text prints
- ``rounds``     it does so after a coarser rounding, which the row names
- ``assumed``    an input of the text: what the models use, with an outside source where one is
  known
- ``differs``    the recomputed value does *not* round to the printed digits; the note gives the
  arithmetic
- ``conflicts``  two places in the texts say different things; both are shown
"""

import importlib
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from math import inf

from fabriclab import units
from fabriclab.course import PARTS

VERDICTS = ("agrees", "rounds", "assumed", "differs", "conflicts")
SEVERITIES = (
    ("off by a factor of two or more", 2.0),
    ("off by a tenth or more", 1.1),
    ("off by less than a tenth", 1.0),
)


@dataclass(frozen=True)
class Row:
    """One printed number.

    `id` is ``part-of-text/name``; `where` the place that prints it; `says` the quantity as printed
    ("242.8 ms"), a range ("10-20 us"), or words, for which `between` gives the SI range they stand
    for. `compute` recomputes it in SI. `step` is the rounding that a ``rounds`` row names; `other`
    is what the second place says in a ``conflicts`` row.
    `compute` may be missing only where nothing in the texts allows to recompute: in ``assumed`` and
    ``conflicts`` rows.
    """

    id: str
    where: str
    says: str
    compute: Callable[[], float] | None
    verdict: str
    note: str = ""
    between: tuple[float, float] | None = None
    step: str = ""
    other: str = ""

    def printed(self):
        """(low, high) in SI: everything that prints as this row's digits."""
        return self.between or _interval(self.says)

    def problem(self):
        """Why the row's verdict does not hold, or an empty string if it does."""
        if self.verdict not in VERDICTS:
            return f"unknown verdict {self.verdict!r}"
        if self.verdict != "agrees" and not self.note:
            return "only a row that agrees may go without a note"
        if self.compute is None:
            return (
                self._no_conflict()
                if self.verdict in ("assumed", "conflicts")
                else "nothing recomputes this row"
            )
        value, (low, high) = self.compute(), self.printed()
        if value != value:
            return "recomputed to NaN"
        fits = low <= value <= high
        if self.verdict in ("agrees", "assumed") and not fits:
            return f"recomputed {self.recomputed()}, which does not print as {self.says}"
        if self.verdict == "differs" and fits:
            return (
                f"recomputed {self.recomputed()}, which prints as {self.says}: the text no longer"
                " differs"
            )
        if self.verdict == "rounds":
            if fits:
                return "agrees without the rounding"
            # a coarser rounding goes to the nearest step, so half of one is the furthest it can
            # move a number
            half = units.read(self.step).value / 2
            if not low - half <= value <= high + half:
                return (
                    f"recomputed {self.recomputed()}, not within a rounding to {self.step} of"
                    f" {self.says}"
                )
        return self._no_conflict()

    def _no_conflict(self):
        if self.verdict == "conflicts":
            (low, high), (other_low, other_high) = self.printed(), _interval(self.other)
            if low <= other_high and other_low <= high:
                return f"{self.says} and {self.other} are compatible: no conflict"
        return ""

    def factor(self):
        """How far off an erratum is: the larger over the smaller of what is printed and what is
        right, or of the two things printed.

        Digits count as printed, of ranges the nearest ends; 1 where they meet, inf from nothing to
        something.
        """
        low, high = self.between or _interval(self.says, rounded=False)
        least, most = (
            _interval(self.other, rounded=False)
            if self.verdict == "conflicts"
            else (self.compute(),) * 2
        )
        return max(
            (above / below if below > 0 else inf) if above > below else 1.0
            for above, below in ((low, most), (least, high))
        )

    def recomputed(self):
        """The recomputed value as text, to five digits, in the unit the text prints."""
        if self.compute is None:
            return "-"
        value = self.compute()
        dimension, unit = _unit(self.says)
        if dimension == "money":
            return units.si(value, "$", 5)
        number = units.si_digits(value / units.UNITS[unit][1], 5)
        return number + unit if unit == "x" else f"{number} {unit}".strip()


_RANGE = re.compile(
    r"^(?P<low>\$?[\d.,]+)\s*(?P<low_unit>[A-Za-z%/$]*)\s*(?:-|–|to)\s*(?P<high>\$?[\d.,]+.*)$"
)


def _unit(says):
    """(dimension, unit) that a printed quantity, range or wording such as "hundreds of TB" ends on;
    a bare number where it names none.
    """
    words = says.split()
    for start in range(len(words)):
        tail = " ".join(words[start:])
        match = _RANGE.match(tail)
        try:
            quantity = units.read(match["high"] if match else tail)
        except ValueError:
            continue
        return quantity.dimension, quantity.unit
    return units.UNITS[words[-1]][0] if words[-1] in units.UNITS else "number", (
        words[-1] if words[-1] in units.UNITS else ""
    )


def _interval(says, rounded=True):
    """(low, high) in SI: what the words claim, or everything that is `rounded` to it."""
    match = _RANGE.match(says)
    if match:
        dollar = "$" if match["low"].startswith("$") and not match["high"].startswith("$") else ""
        high = units.read(dollar + match["high"])
        if match["low_unit"]:
            low = units.read(match["low"] + " " + match["low_unit"])
        else:
            suffix = match["high"][re.match(r"\$?[\d.,]+", match["high"]).end() :]
            low = units.read(match["low"] + (suffix if match["low"].lstrip("$") else ""))
        # a range's ends are whole claims: what rounds to them is inside
        return low.value - rounded * low.resolution / 2, high.value + rounded * high.resolution / 2
    q = units.read(says)
    slack = rounded * q.resolution * (0.5 + 1e-9)
    return q.value - slack, q.value + slack


def rows(prefix=""):
    """All rows in the chapter's order, or those whose id starts with `prefix`."""
    return [row for name in PARTS for row in part(name) if row.id.startswith(prefix)]


def part(name):
    """The rows of one part of the chapter, one of `PARTS`."""
    if name not in PARTS:
        raise ValueError(f"the ledger's parts are {', '.join(PARTS)}, not {name!r}")
    return importlib.import_module(f"fabriclab.course.{name}.rows").ROWS


def errata(name):
    """The rows of one part that differ or conflict, as a `Table`."""
    return Table(_errata(part(name)))


def by_severity():
    """All rows that differ or conflict, the furthest off first: a `Table` for each of `SEVERITIES`,
    by its words.

    >>> [(words, len(table.rows) > 5) for words, table in by_severity().items()][0]
    ('off by a factor of two or more', True)
    """
    shown = sorted(_errata(rows()), key=Row.factor, reverse=True)
    ends = (inf, *(least for _, least in SEVERITIES))
    return {
        words: Table(
            [row for row in shown if least <= row.factor() and (row.factor() < most or most == inf)]
        )
        for (words, least), most in zip(SEVERITIES, ends)
    }


def _errata(of):
    return [row for row in of if row.verdict in ("differs", "conflicts")]


class Table:
    """Rows as a table: HTML in a notebook, plain lines elsewhere."""

    def __init__(self, shown):
        self.rows = shown

    def _repr_html_(self):
        head = "".join(
            f"<th style='text-align:left'>{h}</th>"
            for h in ("Where", "The text prints", "Recomputed", "Verdict", "Note")
        )
        body = "".join(
            "<tr>"
            + "".join(
                f"<td style='text-align:left'>{_cell(cell)}</td>"
                for cell in (r.where, _says(r), r.recomputed(), r.verdict, r.note)
            )
            + "</tr>"
            for r in self.rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __repr__(self):
        return "\n".join(_line(r) for r in self.rows)


def _cell(text):
    # two prices in one cell would be set as mathematics; a dollar sign in an element of its own is
    # left alone
    return escape(text).replace("$", "<span>$</span>")


def _says(row):
    return f"{row.says} / {row.other}" if row.other else row.says


def _line(row):
    text = (
        f"{row.id}: {row.where} prints {_says(row)}; recomputed {row.recomputed()}; {row.verdict}"
    )
    return f"{text}. {row.note}" if row.note else text


def table(*prefixes):
    """The rows whose id starts with any of `prefixes`, as a `Table`. Raises ValueError where there
    are none.

    >>> table("napkin-1.2/ring-6GB")
    napkin-1.2/ring-6GB: Napkin Math 1.2 prints 242.8 ms; recomputed 242.83 ms; agrees
    """
    shown = [row for row in rows() if row.id.startswith(prefixes)]
    if not shown or not prefixes:
        known = sorted({row.id.split("/")[0] for row in rows()})
        raise ValueError(
            f"no rows of the ledger start with {', '.join(map(repr, prefixes))}; there are"
            f" {', '.join(known)}"
        )
    return Table(shown)


def report(errata=False, every=False, find=""):
    """What ``fabriclab ledger`` prints: rows per verdict and part; with `errata`, each that differs
    or conflicts, with its arithmetic; with `every`, each row; with `find`, only the rows that hold
    all of its words.

    >>> report(find="ring-6GB 242.83").startswith("napkin-1.2/ring-6GB")
    True
    """
    if find:
        words = find.lower().split()
        found = [_line(row) for row in rows() if all(w in _line(row).lower() for w in words)]
        return "\n".join(found) or f"no row of the ledger holds all of: {find}"
    counts = {name: Counter(row.verdict for row in part(name)) for name in PARTS}
    counts["all"] = sum(counts.values(), Counter())
    lines = [" " * 12 + "".join(f"{v:>11}" for v in VERDICTS) + f"{'rows':>8}"]
    lines += [
        f"{name:12}" + "".join(f"{c[v]:>11}" for v in VERDICTS) + f"{c.total():>8}"
        for name, c in counts.items()
    ]
    if errata or every:
        lines += [""] + [_line(row) for row in (rows() if every else _errata(rows()))]
    return "\n".join(lines)
