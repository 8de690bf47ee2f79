"""The ledger: every number the texts print, beside the call that recomputes it, and a verdict that
a test holds it to.

One file of rows per part of the chapter, in the chapter's order; `table` shows some of
them in a notebook. What a `Row` is, its verdicts and sources, stands in `row`.

A reader holds two of the texts, the chapter and the guide (`READERS`). What other sources print
(the English Level 3, which the chapter leaves out; the appendix; the registry of constants; older
editions) has its rows too: `report` counts them apart, and a table shows them where the two texts
print none of what it is asked for.
"""

import importlib
import re
from collections import Counter
from html import escape
from math import inf

from fabriclab import units
from fabriclab.course import PARTS
from fabriclab.course.engine.row import READERS, SOURCES, VERDICTS, Row

ERRATA = "13-errata.ipynb#cell-id=errata-numbered"  # where an erratum's number is explained
NUMBER = re.compile(r"\bE-[TBX]?\d+\b")  # of an erratum
SIGNS = {"agrees": "✓", "rounds": "≈", "assumed": "○", "differs": "✗", "conflicts": "⇄"}
_ONE, _MANY = (
    {"agrees": "agrees", "rounds": "rounds", "assumed": "is an input", "differs": "differs"},
    {"agrees": "agree", "rounds": "round", "assumed": "are inputs", "differs": "differ"},
)
SEVERITIES = (("off by a factor of two or more", 2.0), ("off by less than two", 1.0))


def rows(prefix=""):
    """All rows in the chapter's order, or those whose id starts with `prefix`."""
    return [row for name in PARTS for row in part(name) if row.id.startswith(prefix)]


def part(name):
    """The rows of one part of the chapter, one of `PARTS`."""
    if name not in PARTS:
        raise ValueError(f"the ledger's parts are {', '.join(PARTS)}, not {name!r}")
    return importlib.import_module(f"fabriclab.course.{name}.rows").ROWS


def readers(found):
    """Those of some rows that the reader's two texts print.

    >>> [row.source for row in readers(rows("napkin-1.2/ring"))]
    ['chapter', 'chapter']
    """
    return [row for row in found if row.source in READERS]


def errata(name):
    """The rows of one part that differ or conflict, as a `Table`."""
    return _first(_errata(part(name)))


def by_severity():
    """The rows of the reader's two texts that differ or conflict, the furthest off first: a `Table`
    for each of `SEVERITIES`, by its words.

    >>> [(words, len(table.rows) > 5) for words, table in by_severity().items()][0]
    ('off by a factor of two or more', True)
    """
    shown = sorted(_errata(readers(rows())), key=Row.factor, reverse=True)
    ends = (inf, *(least for _, least in SEVERITIES))
    return {
        words: Table(
            [
                row
                for row in shown
                if least <= row.factor() and (row.factor() < most or most == inf)
            ],
            folded=False,
        )
        for (words, least), most in zip(SEVERITIES, ends)
    }


def elsewhere():
    """The rows of all other sources that differ or conflict: a `Table` for each source."""
    found = {name: [] for name in SOURCES if name not in READERS}
    for row in _errata(rows()):
        if row.source in found:
            found[row.source].append(row)
    return {name: Table(of) for name, of in found.items() if of}


def _errata(of):
    return [row for row in of if row.verdict in ("differs", "conflicts")]


def _first(found):
    """A `Table` of what the reader's two texts print; where that is nothing, of the English Level
    3; and where that is nothing too, of all.
    """
    level_3 = [row for row in found if row.source == "level 3"]
    shown = readers(found) or level_3 or found
    return Table(shown, Counter(row.source for row in found if row not in shown))


class Table:
    """Rows as a table, those that differ first: in a notebook one line that opens, plain lines
    elsewhere. `others` counts, by source, the rows that are not shown.
    """

    def __init__(self, shown, others=None, folded=True):
        rank = ("differs", "conflicts", "rounds", "agrees", "assumed").index
        self.rows = sorted(shown, key=lambda row: rank(row.verdict)) if folded else shown
        self.others, self.folded = others or {}, folded

    def summary(self):
        """What the one line says.

        >>> table("napkin-1.2/ring").summary()
        'Ledger: 2 numbers of the text. ✓ 2 agree.'
        """
        counts = Counter(row.verdict for row in self.rows)
        told = []
        for verdict in ("differs", "conflicts", "agrees", "rounds", "assumed"):
            if count := counts[verdict]:
                word = (_ONE if count == 1 else _MANY).get(verdict, "in conflict")
                told.append(f"{SIGNS[verdict]} {count} {word}")
        source = self.rows[0].source if self.rows else READERS[0]
        of = (
            "of the text"
            if source in READERS
            else f"of the {source}".replace("level", "English Level")
        )
        more = ", ".join(f"{count} of the {name}" for name, count in self.others.items())
        return (
            f"Ledger: {units.plural(len(self.rows), 'number')} {of}. {', '.join(told)}."
            + f" Not shown: {more}." * bool(more)
        )

    def _repr_html_(self):
        head = "".join(
            f"<th style='text-align:left'>{h}</th>"
            for h in ("Where", "The text prints", "Recomputed", "Verdict", "Note")
        )
        body = "".join(map(_tr, self.rows))
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        if not self.folded:
            return table
        return (
            "<details class='fabriclab-ledger'><summary style='cursor:pointer'>"
            f"{_cell(self.summary())}</summary>{table}</details>"
        )

    def __repr__(self):
        return "\n".join(_line(r) for r in self.rows)


def _tr(row):
    tint = (
        " style='background:rgba(213,94,0,.14);box-shadow:inset 4px 0 #D55E00'"
        if row.verdict in ("differs", "conflicts")
        else ""
    )
    cells = (
        row.where,
        _says(row),
        row.recomputed(),
        f"{SIGNS[row.verdict]} {row.verdict}",
        row.note,
    )
    told = "".join(f"<td style='text-align:left'>{_linked(_cell(cell))}</td>" for cell in cells)
    return f"<tr{tint}>{told}</tr>"


def _cell(text):
    # two prices in one cell would be set as mathematics; a dollar sign in an element of its own is
    # left alone
    return escape(text).replace("$", "<span>$</span>")


def _linked(text):
    """HTML with each erratum's number a link to the list of them in 13.

    >>> _linked("(E-03)")
    "(<a href='13-errata.ipynb#cell-id=errata-numbered'>E-03</a>)"
    """
    return NUMBER.sub(rf"<a href='{ERRATA}'>\g<0></a>", text)


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
    return _first(shown)


def numbered():
    """The rows of the ledger that name an erratum's number, by that number.

    >>> [row.id for row in numbered()["E-04"]][:1]
    ['figure-4/ratio']
    """
    found = {}
    for row in rows():
        for number in dict.fromkeys(NUMBER.findall(row.note)):
            found.setdefault(number, []).append(row)
    return dict(sorted(found.items()))


def report(errata=False, every=False, find="", source=""):
    """What ``fabriclab ledger`` prints: rows per verdict, by part for the reader's two texts and by
    source for the others; with `errata`, each that differs or conflicts, with its arithmetic; with
    `every`, each row of every source; with `find`, only the rows that hold all of its words; with
    `source`, only that source's.

    >>> report(find="ring-6GB 242.83").startswith("napkin-1.2/ring-6GB")
    True
    """
    if source and source not in SOURCES:
        raise ValueError(f"source must be one of {', '.join(SOURCES)}, not {source!r}")
    within = [row for row in rows() if source in ("", row.source)]
    if find:
        words = find.lower().split()
        found = [_line(row) for row in within if all(w in _line(row).lower() for w in words)]
        return "\n".join(found) or f"no row of the ledger holds all of: {find}"
    if source:
        shown = _errata(within) if errata else within
        return "\n".join(map(_line, shown)) or f"no erratum of the {source}"
    lines = [" " * 13 + "".join(f"{v:>11}" for v in VERDICTS) + f"{'rows':>8}"]
    counted = {name: readers(part(name)) for name in PARTS}
    counted["both texts"] = readers(within)
    counted |= {
        name: [r for r in within if r.source == name] for name in SOURCES if name not in READERS
    }
    counted["all"] = within
    for name, of in counted.items():
        counts = Counter(row.verdict for row in of)
        lines.append(f"{name:13}" + "".join(f"{counts[v]:>11}" for v in VERDICTS) + f"{len(of):>8}")
    if errata or every:
        lines += [""] + [_line(row) for row in (within if every else _errata(readers(within)))]
    return "\n".join(lines)
