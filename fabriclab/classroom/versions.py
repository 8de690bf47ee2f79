"""Which notebook a file is, and which of several versions of one counts.

The rule: what is not a notebook does not count beside one that is; nor an untouched blank beside a
filled one; versions with the same code are one. Of those left the one saved last counts, if their
times can be compared and lie a minute apart. If not, none does, and the student is asked.
"""

import hashlib
import re
import time
from dataclasses import dataclass
from pathlib import Path

from fabriclab.classroom import submission
from fabriclab.classroom.submission import LARGEST

APART = 60.0  # seconds
MOST = 30  # versions that are looked into
_STUDENT = re.compile(r"""Student\([ \t]*["']([^"'\n]{1,200})["'].*""")
_ASK = re.compile(rb"""\.ask\([ \t]*(?:\\?["'])([^"'\\\n]{1,200})""")


@dataclass(frozen=True)
class Sent:
    """One notebook of one student: `path`, and its name below the folder of submissions. `refused`
    says why it is not opened, `note` which version it is; `numbers` is the id it was handed out to,
    where that is a former one of this student's. `diaries`: what came with it that may count tries.
    """

    student: str
    notebook: str
    path: Path
    name: str
    refused: str = ""
    note: str = ""
    numbers: str = ""
    diaries: tuple[Path, ...] = ()


@dataclass(frozen=True)
class File:
    """A file that came in: `name` as one may print it; `saved` in seconds, by the clock of `clock`:
    the machine that made the "zip", or "here".
    """

    name: str
    path: Path | None
    refused: str = ""
    saved: float | None = None
    clock: str = "here"


def which(file, assignments):
    """(notebook, weight) that a file is, or (None, 0): the one most of whose exercises it asks, or
    for a file that is damaged or lost its questions, the one it is called by.
    """
    name = file.name.rpartition("/")[2]
    called = next((notebook for notebook in assignments if Path(notebook).stem in name), None)
    try:
        data = _bytes(file)
    except ValueError:
        return called, 1.0
    asked = set(_ASK.findall(data))
    shares = {
        notebook: sum(one.encode() in asked for one in ids) / len(ids)
        for notebook, ids in assignments.items()
        if ids
    }
    best = max(shares, key=shares.get, default=None)
    if best and shares[best] and (shares[best] >= 0.5 or best == called):
        return best, shares[best]
    if b'"cells"' in data and b".check(" not in data:
        return None, 0.0  # a lecture, or somebody's holiday
    named = {
        notebook: sum(one.encode() in data for one in ids) for notebook, ids in assignments.items()
    }
    best = max(named, key=named.get, default=None)
    if best and named[best] and not asked:
        return best, 1.0
    return called, 1.0


def choose(person, notebook, files, released):
    """The `Sent` of one student's one notebook, from all files that are one."""
    taken, note, refused = files[0], "", ""
    kinds = {}
    for file in files[:MOST]:
        try:
            kinds.setdefault(hashlib.sha256(_bytes(file)).digest(), file)
        except ValueError as error:
            refused = str(error) if len(files) == 1 else f"{file.name}: {error}"
    if kinds:
        refused, taken = "", next(iter(kinds.values()))
    if len(files) > MOST:
        refused = f"{len(files):,} versions of it were sent, and at most {MOST} are looked into"
    elif len(kinds) > 1:
        taken, note = _best(list(kinds.values()), notebook, released)
        if taken is None:
            several = ", ".join(file.name for file in files)
            taken, refused = files[0], f"sent more than once, and not the same: {several}"
    numbers = _numbers(person, taken) if person.former and not refused else ""
    if numbers:
        note = "; ".join(filter(None, (note, f"graded with the numbers of the id {numbers}")))
    return Sent(person.id, notebook, taken.path, taken.name, refused, note, numbers)


def _best(files, notebook, released):
    """(the file that counts, what to say of it), or (None, "")."""
    read = {}
    for file in files:
        code = _code(file.path)
        if code is not None:
            read.setdefault(code, file)
    blank = _code(Path(released, notebook)) if released else None
    filled = {code: file for code, file in read.items() if code != blank}
    left = list((filled or read).values())
    said = f"of {len(files)} versions that were sent, {left[0].name if left else ''} counts"
    if len(left) == 1:
        why = "the others are blank, damaged or the same"
        return left[0], f"{said}: {why}"
    left.sort(key=lambda file: file.saved or 0.0)
    comparable = len({file.clock for file in left}) == 1 and all(file.saved for file in left)
    if not left or not comparable or left[-1].saved - left[-2].saved < APART:
        return None, ""
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(left[-1].saved))
    return left[-1], (
        f"of {len(files)} versions that were sent, {left[-1].name} counts: it was saved last,"
        f" {when}"
    )


def _code(path):
    """What a notebook computes, whoever it was handed out to and whatever it showed; None for what
    is no notebook.
    """
    try:
        cells = submission.read(path).cells
    except submission.Refused:
        return None
    sources = (_STUDENT.sub("Student()", cell.source) for cell in cells)
    return tuple("\n".join(map(str.rstrip, source.strip().split("\n"))) for source in sources)


def _numbers(person, file):
    """The former id of a person that a notebook was handed out to, or ""."""
    try:
        cells = submission.read(file.path).cells
    except submission.Refused:
        return ""
    said = [name for cell in cells for name in _STUDENT.findall(cell.source)]
    return next((name for name in person.former if name in said and person.id not in said), "")


def _bytes(file):
    if file.refused:
        raise ValueError(file.refused)
    data = read(file.path)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = data.decode("utf-16", "replace").encode()
    return data


def read(path):
    """The bytes of a submission.

    Raises ValueError, in one line, for what is too large or not to be opened.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError(f"more than {LARGEST / 2**20:.0f} MiB")
        return path.read_bytes()
    except OSError as error:
        raise ValueError(why(error)) from error


def shown(name):
    """A file name as one may print it: some hold what a terminal would obey."""
    return "".join(letter if letter.isprintable() else "?" for letter in name)


def why(error):
    return f"cannot be opened: {(error.strerror or str(error)).lower()}"
