"""A file as the readers see it: a stream of clean lines, or a refusal that names the line and the
reason.

Nothing is held but the line at hand, so a file's length does not matter to memory; a file that is
no text, or larger than a benchmark's log can be, is refused as soon as that shows.
"""

import os
import re
import stat
import sys
from typing import NamedTuple

LONGEST_LINE = 64 * 1024  # bytes
LARGEST_FILE = 256 * 2**20  # bytes
LONG_FILE = 16 * 2**20  # bytes: from here on one waits
MOST_ROWS = 100_000

_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]{0,200}\x07|\x1b[()][A-Z0-9]")
# mpirun --tag-output and its kin set one before each piece a rank writes, which may be the middle
# of a line
# what else a terminal would act on, or an editor show in another order
_CONTROL = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
_SPACE = re.compile("[\x0b\x0c\x0d\x1c-\x1f\x85\u2028\u2029]")
_RANK_TAGS = re.compile(r"\[[\w.@-]*,\d+\]<std(?:out|err|diag)>:")
_PACKED = {
    b"\x1f\x8b": "gzip",
    b"PK": "zip",
    b"\xfd7zXZ": "xz",
    b"BZh": "bzip2",
    b"\x28\xb5\x2f\xfd": "zstd",
}


class Line(
    NamedTuple
):  # a file has millions, and a tuple is made four times as fast as a frozen dataclass
    """One line: its number, its text without colours, rank tags and line ending, and whether its
    ending was there.
    """

    number: int
    text: str
    whole: bool


def name(path):
    """The path as text. Raises ValueError for what is no path."""
    try:
        text = os.fspath(path)
    except TypeError:
        raise ValueError(f"path must be a file's path, not {path!r}") from None
    return os.fsdecode(text)


def refuse(path, number, reason):
    """Raise the one kind of error the readers know: file, line, reason."""
    where = f", line {number}" if number else ""
    raise ValueError(f"{name(path)}{where}: {reason}")


def shorten(text, most=60):
    """A piece of a line, fit to be shown in a message."""
    shown = "".join(c if c.isprintable() else "?" for c in text.strip())
    return repr(shown if len(shown) <= most else shown[: most - 1] + "…")


def lines(path):
    """Yield the `Line`s of the file at `path`.

    Colours (ANSI), carriage returns, a byte-order mark and MPI rank tags are taken off, and what
    else a terminal would act on is a question mark. Raises ValueError naming file and line for what
    is no text file: missing, a folder or a device, empty, compressed, holding a zero byte, a line
    of more than 64 KiB, more than 256 MiB in all.
    """
    read, text_of_path = 0, name(path)
    if "\0" in text_of_path:
        refuse(path, 0, "no name of a file: it holds a zero byte")
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):
            refuse(
                path,
                0,
                (
                    "a folder"
                    if stat.S_ISDIR(found.st_mode)
                    else "not a plain file: save the tool's output in one first"
                ),
            )
        if found.st_size > LARGEST_FILE:
            refuse(
                path,
                0,
                f"larger than {LARGEST_FILE // 2**20} MiB: cut out the part that holds the tool's"
                " output",
            )
        with open(path, "rb") as file:
            number, shown = 0, LONG_FILE
            while raw := file.readline(LONGEST_LINE + 1):
                number += 1
                read += len(raw)
                if number == 1:
                    raw = _first(path, raw)
                if b"\0" in raw or len(raw) > LONGEST_LINE or read > LARGEST_FILE:
                    _refuse_content(path, number, raw)
                if read > shown:
                    shown += LONG_FILE
                    _progress(text_of_path, read, found.st_size)
                text = raw.decode("utf-8", "replace").rstrip("\r\n")
                if "\x1b" in text:
                    text = _COLOURS.sub("", text)
                if not text.isprintable():
                    text = _SPACE.sub(" ", _CONTROL.sub("?", text))
                if ">:" in text:
                    text = _RANK_TAGS.sub("", text)
                yield Line(number, text, raw[-1:] == b"\n")
    except OSError as error:
        refuse(path, 0, f"cannot be opened: {error.strerror or error}")
    if not read:
        refuse(path, 1, "empty")


def _refuse_content(path, number, raw):
    if b"\0" in raw:
        refuse(
            path, number, "holds a zero byte: a binary file, or text in UTF-16; save it as UTF-8"
        )
    if len(raw) > LONGEST_LINE:
        refuse(
            path,
            number,
            f"longer than {LONGEST_LINE // 1024} KiB: no tool known here prints such a line",
        )
    refuse(
        path,
        number,
        f"the file goes on beyond {LARGEST_FILE // 2**20} MiB: cut out the part that holds the"
        " tool's output",
    )


def _progress(text, read, size):
    """For one who waits at a terminal: how far a long file is read. It is wiped by whatever is said
    next.
    """
    if sys.stderr is not None and sys.stderr.isatty():
        end = "\r\x1b[K" if read + LONG_FILE > size else ""
        sys.stderr.write(f"\r\x1b[K{shorten(text, 50)}: {read / max(size, read):.0%} read{end}")
        sys.stderr.flush()


def _first(path, raw):
    for magic, kind in _PACKED.items():
        if raw.startswith(magic):
            refuse(path, 1, f"compressed ({kind}): unpack it first")
    return raw.removeprefix(b"\xef\xbb\xbf")
