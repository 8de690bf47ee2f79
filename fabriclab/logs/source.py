"""A text as the readers see it: a stream of clean lines, or a refusal that names the line and the
reason.

Nothing is held but the block at hand, so a file's length does not matter to memory; a file that is
no text, or larger than a benchmark's log can be, is refused as soon as that shows.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fabriclab.logs.stream import LARGEST_FILE, LONG_FILE, Died, Text, name, refuse, texts

__all__ = [
    "LARGEST_FILE",
    "LONGEST_LINE",
    "LONG_FILE",
    "MOST_ROWS",
    "Died",
    "Line",
    "Part",
    "lines",
    "name",
    "refuse",
    "shorten",
]

LONGEST_LINE = 64 * 1024  # bytes
MOST_ROWS = 100_000

_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\n]{0,200}\x07|\x1b[()][A-Z0-9]")
# what else a terminal would act on, or an editor show in another order
_CONTROL = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
_SPACE = re.compile("[\x0b\x0c\x0d\x1c-\x1f\x85\u2028\u2029]")
# mpirun --tag-output and its kin set one before each piece a rank writes, which may be the middle
# of a line
_RANK_TAGS = re.compile(r"\[[\w.@-]*,\d+\]<std(?:out|err|diag)>:")
# no row of any tool: two characters, or one word
_TINY = re.compile(r"(?:(?:[^\n]{0,2}|[^\s,;:|=/]{3,16})\n){64,}")


class Line(
    NamedTuple
):  # a file has millions, and a tuple is made four times as fast as a frozen dataclass
    """One line: its number, its text without colours, rank tags and line ending, and whether its
    ending was there.
    """

    number: int
    text: str
    whole: bool


class Part:
    """A part of a text, the output of one tool: a reader takes it in place of a path.

    `reader` is the module that knows it, `host` the machine that a prefix or prompt names (or
    None), `line` where it begins. Its lines can be drawn once.
    """

    def __init__(self, path, reader, host, line, drawn):
        self.path, self.reader, self.host, self.line, self.drawn = path, reader, host, line, drawn

    def __iter__(self):
        return iter(self.drawn)


def shorten(text: str, most: int = 60) -> str:
    """A piece of a line, fit to be shown in a message."""
    shown = "".join(c if c.isprintable() else "?" for c in text.strip())
    return repr(shown if len(shown) <= most else shown[: most - 1] + "…")


def lines(path: Part | Path | Text) -> Iterator:
    """Yield the `Line`s of a file, a pipe ("-" is standard input), a `Text` or a `Part`.

    Colours (ANSI), carriage returns, a byte-order mark and MPI rank tags are taken off, and what
    else a terminal would act on is a question mark. Of a run of more than 64 lines that are too
    short for a row (two characters, or one word) only the first are handed on. Raises ValueError
    naming file and line for what is no text: missing, a folder or a device, empty, holding a zero
    byte, a line of more than 64 KiB, more than 256 MiB in all.
    """
    if isinstance(path, Part):
        yield from path
        return
    for text in texts(path):
        yield from _lines(text)


def _lines(source):
    number, rest, read = 0, b"", False
    try:
        for block in source.blocks:
            read = read or bool(block)
            block = rest + block if rest else block
            at = block.rfind(b"\n") + 1
            block, rest = block[:at], block[at:]
            if b"\0" in block or b"\0" in rest:
                _refuse_zero(source, number, block + rest)
            if len(rest) > LONGEST_LINE or block.find(b"\n") > LONGEST_LINE:
                refuse(
                    source,
                    number + 1 + (block.count(b"\n") if len(rest) > LONGEST_LINE else 0),
                    f"longer than {LONGEST_LINE // 1024} KiB: no tool known here prints such a"
                    " line",
                )
            for skipped, piece in _whole(clean(block.decode("utf-8", "replace"))):
                number += 1
                yield Line(number, piece, True)
                number += skipped
    except OSError as error:
        refuse(source, 0, f"cannot be read: {error.strerror or error}")
    if rest:
        yield Line(number + 1, clean(rest.decode("utf-8", "replace").rstrip("\r")), False)
    if not read:
        refuse(source, 1, "empty")


def clean(text: str) -> str:
    """A text without colours, rank tags and what else a terminal would act on."""
    if "\r" in text:
        text = re.sub(r"\r+\n", "\n", text)
    if "\x1b" in text:
        text = _COLOURS.sub("", text)
    if ">:" in text:
        text = _RANK_TAGS.sub("", text)
    if not text.isascii() or _CONTROL.search(text) or _SPACE.search(text):
        text = _SPACE.sub(" ", _CONTROL.sub("?", text))
    return text


def _whole(text):
    """(lines left out behind it, line) of every line of a block; runs of tiny ones are left out."""
    at = 0
    if 17 * text.count("\n") >= len(text):
        for run in _TINY.finditer(text):
            yield from ((0, piece) for piece in text[at : run.start()].split("\n")[:-1])
            first = run[0].split("\n", 2)[:2]
            yield from ((0, piece) for piece in first[:1])
            yield run[0].count("\n") - 2, first[1]
            at = run.end()
    yield from ((0, piece) for piece in text[at:].split("\n")[:-1])


def _refuse_zero(source, number, block):
    refuse(
        source,
        number + 1 + block[: block.index(b"\0")].count(b"\n"),
        "holds a zero byte: a binary file, or text in UTF-16 without its mark; save it as UTF-8",
    )
