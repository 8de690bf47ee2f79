"""A notebook as a student sent it, read as far as it goes: its code cells in order, what they ask,
and what to say about the file.

Nothing here runs anything. A file that is no notebook is refused with one sentence; oddities become
notes.
"""

import contextlib
import json
import os
import re
import stat
from dataclasses import dataclass

LARGEST = 64 * 2**20  # bytes of one file; pictures in outputs make real notebooks large
MOST_CELLS = 1_000
MOST_NODES = 2_000_000  # values in the file's JSON
_QUOTED = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_ASK = re.compile(
    r"""^[ \t]*(?:(\w+)[ \t]*=[ \t]*)?\w+\.ask\([ \t]*(["'])([^"'\n]{1,200})\2[ \t]*\)""",
    re.MULTILINE,
)
_CHECK = re.compile(r"^[ \t]*(\w+)\.check\(", re.MULTILINE)
_MARKS = re.compile(r"^(<<<<<<< |=======\s*$|>>>>>>> )", re.MULTILINE)
_BEGINNINGS = {
    b"PK\x03\x04": "a zip archive; unpack it and send the notebook inside",
    b"%PDF": "a PDF; send the notebook itself",
    b"\x1f\x8b": "a gzip archive; unpack it and send the notebook inside",
    b"7z\xbc\xaf": "a 7-Zip archive; unpack it and send the notebook inside",
    b"Rar!": "a RAR archive; unpack it and send the notebook inside",
    b"\x89PNG": "a picture; send the notebook itself",
    b"\xff\xd8\xff": "a picture; send the notebook itself",
    b"\xd0\xcf\x11\xe0": "an office document; send the notebook itself",
    b"<!DOC": "a web page; send the notebook itself",
    b"<html": "a web page; send the notebook itself",
    b"{\\rtf": "an office document; send the notebook itself",
}


class Refused(ValueError):
    """A file that cannot be graded at all; its text is the one sentence to tell."""


@dataclass(frozen=True)
class Cell:
    """One code cell: its `number` in the notebook from 1, its source, and the exercise it belongs
    to ("" for none).
    """

    number: int
    source: str
    exercise: str = ""


@dataclass(frozen=True)
class Notebook:
    """The code cells of a notebook in order, the ids it asks, notes, and answer cells that are no
    code: {exercise: what became of it}.
    """

    cells: tuple[Cell, ...]
    asks: tuple[str, ...]
    notes: tuple[str, ...] = ()
    retyped: dict | None = None


def exercise_ids(assignment):
    """The ids of the exercises a released notebook asks, in its order, each once.

    Raises ValueError for a file that is no notebook, or one that asks nothing.
    """
    ids = list(dict.fromkeys(read(assignment).asks))
    if not ids:
        raise ValueError(
            f"{os.path.basename(assignment)} asks no exercise: a released notebook has cells such"
            ' as q1 = me.ask("transport.crossover")'
        )
    return ids


def released(assignment):
    """A released notebook's cells that come before any answer: imports, the student, the asks."""
    return tuple(
        cell.source
        for cell in read(assignment).cells
        if not re.search(r"\.(check|progress|points|hint)\(", cell.source)
    )


def read(path, variables=None):
    """The `Notebook` in a file; `variables` ({"q1": id}) are those that the released notebook asks
    with. Raises `Refused`.
    """
    text, notes = _decode(_bytes(path))
    cells = _cells(_parse(text, notes), notes)
    variables, asks, last, code, retyped = dict(variables or {}), [], "", [], {}
    for number, (kind, source) in enumerate(cells, start=1):
        if kind != "code":
            for name in _CHECK.findall(source):
                if name in variables:
                    retyped[variables[name]] = (
                        f"cell {number}, with {name}.check, is a {kind} cell: it was not run"
                    )
            continue
        for name, _, exercise in _ASK.findall(source):
            asks.append(exercise)
            last = exercise
            if name:
                variables[name] = exercise
        checked = [variables[name] for name in _CHECK.findall(source) if name in variables]
        code.append(Cell(number, source, checked[-1] if checked else last))
    if len(code) > MOST_CELLS:
        notes.append(f"{len(code):,} code cells; only the first {MOST_CELLS:,} were run")
        del code[MOST_CELLS:]
    return Notebook(tuple(code), tuple(asks), tuple(notes), retyped)


def variables(assignment):
    """{"q1": "transport.crossover", …}: the names that a released notebook gives its questions."""
    return {
        name: exercise
        for cell in read(assignment).cells
        for name, _, exercise in _ASK.findall(cell.source)
        if name
    }


def _bytes(path):
    """A regular file's bytes. Follows no link, waits for no pipe, reads no more than `LARGEST`."""
    try:
        kind = os.lstat(path).st_mode
        if not stat.S_ISREG(kind):
            what = (
                "a link"
                if stat.S_ISLNK(kind)
                else "a folder"
                if stat.S_ISDIR(kind)
                else "not a regular file"
            )
            raise Refused(f"this is {what}; send the notebook itself")
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise Refused("this is not a regular file; send the notebook itself")
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise Refused(
            f"the file cannot be read: {(error.strerror or str(error)).lower()}"
        ) from error
    if len(data) > LARGEST:
        raise Refused(
            f"the file holds more than {LARGEST // 2**20} MiB; clear its outputs and send it again"
        )
    if not data.strip(b"\0 \t\r\n\xef\xbb\xbf"):
        raise Refused("the file is empty")
    return data


def _decode(data):
    for beginning, what in _BEGINNINGS.items():
        if data.startswith(beginning):
            raise Refused(f"this is {what}")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace"), ["the file is UTF-16; notebooks are UTF-8"]
    if data.startswith(b"{"):
        data = data.rstrip(
            b"\0"
        )  # a disk that was full, or a machine that went down, fills up with these
    if b"\0" in data:
        raise Refused("this is not text, so no notebook")
    try:
        return data.decode("utf-8-sig"), []
    except UnicodeDecodeError as error:
        text = chinese(data)
        if text is not None:
            return text, [
                "the file is not UTF-8; it was read as GB 18030, as Chinese Windows writes text"
            ]
        return data.decode("utf-8-sig", "replace"), [
            f"the file is not UTF-8 (byte {error.start:,}); what could not be read became \ufffd"
        ]


def chinese(data):
    """Bytes that are no UTF-8 as text in GB 18030, or None where they are not that either."""
    with contextlib.suppress(UnicodeDecodeError):
        text = data.decode("gb18030")
        # two bytes above ASCII for a character; European text has one, and what follows it must not
        # be swallowed
        if sum(byte > 127 for byte in data) > 1.8 * sum(letter > "\x7f" for letter in text):
            return text
    return None


def _parse(text, notes):
    doubled = []
    if _nodes(text) > MOST_NODES:
        raise Refused(
            f"the notebook holds more than {MOST_NODES:,} values; clear its outputs and send it"
            " again"
        )

    def once(pairs):
        found = dict(pairs)
        if len(found) != len(pairs):
            doubled.append(1)
        return found

    try:
        content = json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        mark = _MARKS.search(text)
        if mark and text.lstrip().startswith(("{", "<<<<<<< ")):
            line = text.count("\n", 0, mark.start()) + 1
            raise Refused(
                f"line {line} is a mark of an unfinished merge ({mark[0].strip()}); settle the"
                " merge and send it again"
            ) from error
        if not text.lstrip().startswith("{"):
            raise Refused("this is not a notebook: a notebook is JSON and begins with {") from error
        what = (
            "it breaks off"
            if error.pos >= len(text.rstrip()) - 1 or "Unterminated" in error.msg
            else "it is not JSON"
        )
        raise Refused(
            f"the notebook is damaged: {what} at line {error.lineno}, column {error.colno}"
            f" (character {error.pos:,} of {len(text):,})"
        ) from error
    except (RecursionError, ValueError, MemoryError) as error:
        raise Refused(
            "the notebook is damaged: JSON nested too deeply, or a number too long"
        ) from error
    if doubled:
        notes.append("the file holds a key twice in one place; the last one counts")
    return content


def _nodes(text):
    """How many values JSON text may have, at most: they cost a hundred times their bytes. What
    stands in quotes is looked at only if it matters.
    """
    most = sum(map(text.count, ",[{"))
    if most <= MOST_NODES:
        return most
    return sum(map(_QUOTED.sub("", text).count, ",[{"))


def _cells(content, notes):
    """(kind, source) of each cell, of any nbformat."""
    if type(content) is not dict or not any(
        type(content.get(key)) is list for key in ("cells", "worksheets")
    ):
        raise Refused("this is JSON, but not a notebook: it has no list of cells")
    cells = content.get("cells")
    if type(cells) is not list:
        notes.append("an old notebook (nbformat 3 or older)")
        cells = [
            cell
            for sheet in content["worksheets"]
            if type(sheet) is dict and type(sheet.get("cells")) is list
            for cell in sheet["cells"]
        ]
    found, odd = [], 0
    for cell in cells:
        cell = cell if type(cell) is dict else {}
        kind, source = cell.get("cell_type"), cell.get("source", cell.get("input"))
        if type(source) is list and all(type(line) is str for line in source):
            source = "".join(source)
        if type(kind) is not str or type(source) is not str:
            odd += 1
            kind, source = "damaged", ""
        shown = {
            "code": "code",
            "markdown": "Markdown",
            "raw": "raw",
            "heading": "Markdown",
            "html": "Markdown",
        }.get(kind, "damaged")
        found.append((shown, source.replace("\r\n", "\n").replace("\r", "\n")))
    if odd:
        notes.append(f"{odd} damaged {'cell was' if odd == 1 else 'cells were'} left out")
    return found
