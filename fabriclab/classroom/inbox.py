"""What has come in: which file is whose, and which notebook it is. Whatever cannot be told is
reported, never guessed.

A folder or a zip for each student, called by the student's id or as `release` called it, with
notebooks anywhere inside, in zips too. What a platform's "download all" gives is known as far as
the class list knows its names (see `whose`), unpacked or as the zip it comes in. A folder
`students` around them all, as a release has it, is looked into. An id inside a notebook counts for
nothing: anybody can write one. Which of several versions counts says `versions`.
"""

import os
import stat
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

from fabriclab.classroom import archive, versions
from fabriclab.classroom.versions import File, shown, why
from fabriclab.classroom.whose import owners
from fabriclab.course.engine.exercises import diary

_UNMATCHED = (
    "not matched to the class list; a folder or a zip is called by a student's id or as it was"
    " released"
)
_DEEPEST = 3  # zips inside zips


@dataclass
class _Entry:
    """What stands beside the others in the folder of submissions, or in a zip of many students'."""

    name: str
    folder: bool
    shown: str
    files: list = field(default_factory=list)
    link: bool = False


def look(submissions, roster, assignments, room, released=None):
    """(tuple of `Sent`, tuple of lines on what could not be matched); `assignments` is {notebook:
    its exercises' ids}.

    Zips are unpacked into the folder `room`, which has to be there as long as the files are read.
    `released` is the folder of the notebooks as handed out.
    """
    top = Path(submissions)
    if not top.is_dir() and not (top.is_file() and top.suffix.lower() == ".zip"):
        raise ValueError(f"{top}: no such folder of submissions")
    whose, found, strange, diaries = owners(roster), {}, [], {}
    last = []
    for entry in _entries(top, room):
        student = None if entry.link else whose(entry.name, entry.folder)
        if student is not None:
            _sort(student, entry, room, found, strange, assignments, diaries)
        elif not entry.folder and not entry.link and entry.name.lower().endswith(".zip"):
            last.append(entry)
        else:
            strange.append(f"{entry.shown}: {_UNMATCHED}")
    # a zip that is nobody's by its name may be a platform's, or hold a folder with a name: but
    # whoever sent something under the own name is not to be had by it
    for entry in last:
        known = {student for student, _ in found}
        inner = list(_inside(entry, room))
        mine = [(one, whose(one.name, one.folder)) for one in inner]
        if not any(student for _, student in mine):
            strange.append(f"{entry.shown}: {_UNMATCHED}")
            continue
        for one, student in mine:
            if student is None:
                strange.append(f"{one.shown}: {_UNMATCHED}")
            elif student in known:
                strange.append(f"{one.shown}: left out, as its student has sent something else")
            else:
                _sort(student, one, room, found, strange, assignments, diaries)
    people = {person.id: person for person in roster}
    chosen = [
        versions.choose(people[student], notebook, files, released)
        for (student, notebook), files in sorted(found.items(), key=lambda item: item[0])
    ]
    chosen = [replace(one, diaries=tuple(diaries.get(one.student, ()))) for one in chosen]
    return tuple(chosen), tuple(strange)


def _sort(student, entry, room, found, strange, assignments, diaries):
    """Put a student's files to the notebooks that they are."""
    files, others, weighed = list(_flat(entry.files, room)), [], []
    kept = [file for file in files if file.name.rpartition("/")[2] == diary.NAME]
    diaries.setdefault(student, []).extend(file.path for file in kept if not file.refused)
    files = [file for file in files if file not in kept]
    for file in files:
        if file.refused and not file.name.lower().endswith(".ipynb"):
            strange.append(f"{file.name}: {file.refused}")
            continue
        weighed.append((file, *versions.which(file, assignments)))
    for file, notebook, weight in weighed:
        if notebook is None:
            others.append(file.name)
        # what asks little of a notebook that another file asks whole is another notebook
        elif weight < max(other for _, name, other in weighed if name == notebook) / 2:
            continue
        else:
            found.setdefault((student, notebook), []).append(file)
    if not files:
        strange.append(f"{entry.shown}: no notebook in it")
    # one line, however many: a folder of thousands must not push the others' lines off the page,
    # and whoever sends the whole kit sends its lectures too
    asked = any(student == who for who, _ in found)
    if others and not (asked and all(_lecture(name) for name in others)):
        more = f" (and {len(others) - 1:,} more like it)" if len(others) > 1 else ""
        strange.append(f"{others[0]}{more}: asks none of this release's exercises")


def _lecture(name):
    return "notebooks" in name.split("/")[:-1]


def _entries(top, room):
    """The `_Entry`s of a folder of submissions, or of a zip in its place."""
    if top.is_file():
        yield from _inside(_Entry("", False, "", [File(shown(top.name), top)]), room, whole=True)
        return
    if (top / "students").is_dir() and not (top / "students").is_symlink():
        top = top / "students"
    for path in sorted(top.iterdir()):
        if path.name.startswith(".") or path.name == "manifest.json":
            continue
        kind, name = path.lstat().st_mode, shown(path.name)
        if stat.S_ISDIR(kind):
            yield _Entry(path.name, True, name, list(_below(path, top)))
        else:
            regular = stat.S_ISREG(kind)
            yield _Entry(path.name, False, name, [_loose(path, name)], link=not regular)


def _inside(entry, room, whole=False):
    """The `_Entry`s of a zip of many students'."""
    found = {}
    for member, file in _members(entry.files[0], room):
        parts = member.parts
        if whole and len(parts) > 1 and parts[0] == "students":
            parts = parts[1:]
        name = "/".join(filter(None, (entry.shown, parts[0])))
        one = found.setdefault(parts[0], _Entry(parts[0], len(parts) > 1, shown(name)))
        one.files.append(file)
    return found.values()


def _below(top, above):
    """Files below a student's folder: notebooks and zips; no links, which may lead anywhere, and no
    copies that an editor or a Mac keeps. What cannot be looked at is told.
    """
    closed = []
    for where, folders, names in os.walk(top, onerror=closed.append):
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and name != "__MACOSX"
        )
        for name in sorted(names):
            if name.startswith(".") or not name.lower().endswith((".ipynb", ".zip", diary.NAME)):
                continue
            path = Path(where, name)
            told = shown(path.relative_to(above).as_posix())
            try:
                if stat.S_ISREG(path.lstat().st_mode):
                    yield _loose(path, told)
            except OSError as error:
                yield File(told, None, why(error))
    for error in closed:
        name = shown(Path(os.fsdecode(error.filename)).relative_to(above).as_posix())
        yield File(f"{name}/", None, why(error))


def _loose(path, name):
    try:
        return File(name, path, "", path.lstat().st_mtime)
    except OSError as error:
        return File(name, None, why(error))


def _flat(files, room, depth=0):
    """The files with those of zips in the place of the zips."""
    for file in files:
        if file.refused or not file.name.lower().endswith(".zip"):
            yield file
        elif depth == _DEEPEST:
            yield File(file.name, None, "a zip in a zip in a zip; send the folder, zipped once")
        else:
            inner = list(_members(file, room))
            yield from _flat([one for _, one in inner], room, depth + 1)
            if not inner:
                yield File(file.name, None, "no notebook in it")


def _members(file, room):
    """(`archive.Member`, `File`) of what a zip holds; of one that cannot be opened, itself."""
    try:
        for member in archive.unpack(file.path, tempfile.mkdtemp(dir=room)):
            name = shown(f"{file.name}/{'/'.join(member.parts)}")
            yield member, File(name, member.path, member.refused, member.saved, "zip")
    except archive.Bad as error:
        parts = (Path(file.name).name,)
        yield archive.Member(parts, None, str(error)), File(file.name, None, str(error))
