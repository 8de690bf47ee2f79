"""A small language for tables that tools print: every line is matched, skipped on purpose, or
refused.

A form is a line as it looks, with places for values: ``"Port {number:int}:"``. A blank stands for
any run of blanks, and kinds of values are int, float, word (no blanks), hex, text (the rest) and
count (digits that may be parted by commas). A form that begins a block stands in `begins`: lines
before the first such line are no part of the table, and behind a blank line only those that a form
matches are.
"""

import re
from typing import NamedTuple

from fabriclab.logs.source import MOST_ROWS, lines, refuse, shorten

_KINDS = {
    "int": (r"\d{1,20}", int),
    "float": (r"\d{1,15}(?:\.\d{1,12})?(?:[eE][+-]?\d{1,3})?", float),
    "count": (r"\d{1,3}(?:,\d{3}){1,6}|\d{1,20}", lambda text: int(text.replace(",", ""))),
    "hex": (r"0x[0-9a-fA-F]{1,32}", str),
    "word": (r"\S{1,200}", str),
    "text": (r"\S.{0,800}?|", str),
}
_PLACE = re.compile(r"\{(\w+)(?::(\w+))?\}")


class Form(NamedTuple):
    """One kind of line: its name, its pattern, and how each of its values is read."""

    name: str
    pattern: object
    kinds: dict


class Match(NamedTuple):
    """A line that a form matched, with its values by name."""

    line: int
    form: str
    values: dict


def form(name: str, template: str) -> Form:
    """The `Form` of a template.

    >>> form("rate", "Rate: {rate:float} Gb/s").pattern.match("  Rate:   400 Gb/s")["rate"]
    '400'
    """
    parts, kinds, at = [], {}, 0
    for place in _PLACE.finditer(template):
        parts += [_literal(template[at : place.start()]), None]
        kinds[place[1]] = _KINDS[place[2] or "text"]
        parts[-1] = f"(?P<{place[1]}>{kinds[place[1]][0]})"
        at = place.end()
    parts.append(_literal(template[at:]))
    return Form(name, re.compile(rf"\s*{''.join(parts)}\s*$"), kinds)


def _literal(text):
    return re.sub(r"(?:\\ |\\\n|\s)+", r"\\s+", re.escape(text)).replace(r":\s+", r":\s*")


class Layout:
    """The forms of a tool's lines. `begins` and `lines` map names to templates, `skip` lists those
    of lines that are known and not needed.
    """

    def __init__(self, tool, begins, lines, skip=()):
        self.tool = tool
        self.begins = [form(name, one) for name, one in begins.items()]
        self.forms = [form(name, one) for name, one in lines.items()]
        self.skip = [form("", one) for one in skip]

    @property
    def sign(self):
        """A pattern that the first line of a block matches, for a reader's SIGN."""
        return "|".join(
            f"(?:{re.sub(r'[(][?]P<[^>]*>', '(?:', one.pattern.pattern)})" for one in self.begins
        )

    def read(self, path):
        """Yield a `Match` of each line, in order. Raises ValueError naming file and line for a line
        inside a block that no form matches, for one that is cut, and for no block at all."""
        inside, last, rows = False, 0, 0
        # tools set blank lines inside a block too: behind one, a line of the table goes on with it
        for line in lines(path):
            last = line.number
            if not line.text.strip():
                inside = False
                continue
            found = self._match(line, self.begins)
            if not found and not rows:
                continue
            found = found or self._match(line, self.forms)
            if not found and not inside:
                continue
            inside = True
            if found:
                rows += 1
                if rows > MOST_ROWS:
                    refuse(path, last, f"more than {MOST_ROWS:,} rows")
                if not line.whole:
                    refuse(
                        path, last, f"the file ends in the middle of a line: {shorten(line.text)}"
                    )
                yield found
            elif not any(one.pattern.match(line.text) for one in self.skip):
                refuse(path, last, f"not a line of {self.tool}: {shorten(line.text)}")
        if not rows:
            refuse(path, max(last, 1), f"nothing of {self.tool} in it")

    def _match(self, line, forms):
        for one in forms:
            if found := one.pattern.match(line.text):
                values = {key: one.kinds[key][1](text) for key, text in found.groupdict().items()}
                return Match(line.number, one.name, values)
        return None
