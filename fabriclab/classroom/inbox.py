"""What has come in: which file is whose, and which notebook it is. Whatever cannot be told is
reported, never guessed.

A folder for each student, called by the student's id or as `release` called it, with notebooks
anywhere inside. A folder `students` around them, as a release has it, is looked into. So is what a
platform's "download all" unpacks to, as far as the class list knows the names it gives: Canvas'
files by Canvas' own number of the student, Moodle's folders by a full name that one student alone
has. An id inside a notebook counts for nothing: anybody can write one.
"""

import os
import re
import stat
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from fabriclab.classroom.roster import folder
from fabriclab.classroom.submission import LARGEST
from fabriclab.course.engine.exercises.core import identify

_CANVAS = re.compile(
    r"[^_]+(?:_LATE)?_(\d+)_\d+_.+\.ipynb", re.IGNORECASE
)  # doejane_LATE_4711_98765_02-wires.ipynb
_MOODLE = re.compile(r"(.+)_\d+_assignsubmission_file_?")  # Jane Doe_12345_assignsubmission_file


@dataclass(frozen=True)
class Sent:
    """One notebook of one student: `path`, and its name below the folder of submissions. `refused`
    says why it is not opened.
    """

    student: str
    notebook: str
    path: Path
    name: str
    refused: str = ""


def look(submissions, roster, assignments):
    """(tuple of `Sent`, tuple of lines on what could not be matched); `assignments` is {notebook:
    its exercises' ids}.

    Of several files for one notebook none is taken unless they are the same: the student is asked
    which one counts.
    """
    top = Path(submissions)
    if not top.is_dir():
        raise ValueError(f"{top}: no such folder of submissions")
    if (top / "students").is_dir() and not (top / "students").is_symlink():
        top = top / "students"
    whose = _owners(roster)
    found, strange = {}, []
    for entry in sorted(top.iterdir()):
        if entry.name.startswith(".") or entry.name == "manifest.json":
            continue
        student = None if entry.is_symlink() else whose(entry)
        if student is None:
            strange.append(
                f"{_shown(entry.name)}: not matched to the class list; a folder is called by a"
                " student's id or as it was released"
            )
            continue
        files = list(_notebooks(entry)) if entry.is_dir() else [entry]
        if not files:
            strange.append(f"{_shown(entry.name)}: no notebook in it")
        others = []
        for path in files:
            name = _shown(path.relative_to(top).as_posix())
            notebook = _which(path, assignments)
            if notebook is None:
                others.append(name)
            else:
                found.setdefault((student, notebook), []).append((path, name))
        # one line, however many: a folder of thousands must not push the others' lines off the page
        if others:
            more = f" (and {len(others) - 1:,} more like it)" if len(others) > 1 else ""
            strange.append(f"{others[0]}{more}: asks none of this release's exercises")
    return tuple(_one(*key, files) for key, files in sorted(found.items())), tuple(strange)


def _owners(roster):
    """A function from an entry of the folder of submissions to the id of the student whose it is,
    or None.
    """
    folders = {folder(person.id): person.id for person in roster} | {
        person.id: person.id for person in roster
    }
    numbers = {person.canvas: person.id for person in roster if person.canvas}
    names = Counter(_spelt(person.name).casefold() for person in roster)
    named = {
        name: person.id
        for person in roster
        if names[name := _spelt(person.name).casefold()] == 1 and name
    }

    def whose(entry):
        if entry.is_dir():
            moodle = _MOODLE.fullmatch(entry.name)
            return folders.get(_spelt(entry.name)) or (
                named.get(_spelt(moodle[1]).casefold()) if moodle else None
            )
        canvas = _CANVAS.fullmatch(entry.name) if stat.S_ISREG(entry.lstat().st_mode) else None
        return numbers.get(canvas[1]) if canvas else None

    return whose


def read(path):
    """The bytes of a submission.

    Raises ValueError, in one line, for what is too large or not to be opened.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError(f"more than {LARGEST / 2**20:.0f} MiB")
        return path.read_bytes()
    except OSError as error:
        raise ValueError(f"cannot be opened: {(error.strerror or str(error)).lower()}") from error


def _spelt(name):
    try:
        return identify(name)
    except ValueError:
        return ""


def _shown(name):
    """A file name as one may print it: some hold what a terminal would obey."""
    return "".join(letter if letter.isprintable() else "?" for letter in name)


def _notebooks(top):
    """Notebook files below a student's folder: no links, which may lead anywhere, and no copies
    that an editor or a Mac keeps.
    """
    for where, folders, names in os.walk(top):
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and name != "__MACOSX"
        )
        for name in sorted(names):
            path = Path(where, name)
            if (
                name.lower().endswith(".ipynb")
                and not name.startswith(".")
                and stat.S_ISREG(path.lstat().st_mode)
            ):
                yield path


def _which(path, assignments):
    """The notebook that a file is: the one most of whose exercises it names, or else the one it is
    called by.
    """
    try:
        text = read(path)
    except ValueError:
        text = b""
    named = {
        notebook: sum(name.encode() in text for name in ids) / len(ids)
        for notebook, ids in assignments.items()
        if ids
    }
    best = max(named, key=named.get, default=None)
    if best and named[best]:
        return best
    return next((notebook for notebook in assignments if Path(notebook).stem in path.name), None)


def _one(student, notebook, files):
    path, name = files[0]
    contents = set()
    for other, _ in files:
        try:
            contents.add(read(other))
        except ValueError as error:
            return Sent(
                student, notebook, path, name, f"{error}" if len(files) == 1 else f"{name}: {error}"
            )
    several = ", ".join(name for _, name in files)
    return Sent(
        student,
        notebook,
        path,
        name,
        f"sent more than once, and not the same: {several}" if len(contents) > 1 else "",
    )
