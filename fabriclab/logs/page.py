"""Lines of a report as wide as a terminal or a notebook's cell: whole sentences, no word broken."""

import re
import textwrap

TERMINAL, NOTEBOOK = 100, 110
_TABLE = re.compile(r"\S {3,}\S")  # columns, which are wide on purpose


def wrap(text: str, width: int = TERMINAL) -> str:
    """`text` with its long lines folded at spaces, what follows indented below its line's begin.

    >>> print(wrap("  ! one two three", 12))
      ! one two
        three
    """
    return "\n".join(part for line in text.split("\n") for part in _folded(line, width))


def _folded(line, width):
    if len(line) <= width or _TABLE.search(line.lstrip()):
        return [line]
    begins = len(line) - len(line.lstrip())
    return textwrap.wrap(
        line,
        width,
        subsequent_indent=" " * (begins + 2),
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
        replace_whitespace=False,
    )
