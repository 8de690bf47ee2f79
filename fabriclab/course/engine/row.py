"""One row of the ledger: a number that a text prints, the call that recomputes it, and a verdict.

Verdicts:

- ``agrees``     the recomputed value rounds to the digits the text prints
- ``rounds``     it does so after a coarser rounding, which the row names
- ``assumed``    an input of the text: what the models use, with an outside source where one is
  known
- ``differs``    the recomputed value does *not* round to the printed digits; the note gives the
  arithmetic
- ``conflicts``  two places in the texts say different things; both are shown

A reader holds two of the texts, the chapter and the guide (`READERS`); `SOURCES` has the others
too.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from fabriclab import units

VERDICTS = ("agrees", "rounds", "assumed", "differs", "conflicts")
READERS = ("chapter", "guide")
# what `where` says of the text; the first that fits
_SOURCES = {
    "older edition": r"older|earlier|earliest|first edition|quiz|English source",
    "appendix": r"^appendix",
    "registry": r"registry|^fabric constants|^fleet numbers",
    "guide": r"^field guide",
    "level 3": r"Level 3|Definition 1\.[345]|^Napkin Math 1\.[34]|Figure (9|10|11)\b"
    r"|Checkpoint 1\.[234]|^Fat-tree|^Racks and leaves|^Rail-optimised|^Dragonfly|^Torus"
    r"|Lighthouse|^Footnote on radix|^Two tiers in|^'the same switches|^two pods",
    "chapter": "",
}
SOURCES = (*READERS, *(name for name in _SOURCES if name not in READERS))


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

    @property
    def source(self):
        """Which text prints it, one of `SOURCES`."""
        return next(name for name, words in _SOURCES.items() if re.search(words, self.where))

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
