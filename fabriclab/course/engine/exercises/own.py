"""An instructor's own exercises: files of a folder, found beside the kit's parts.

`FABRICLAB_EXERCISES` names the folder; a release puts its files into the students' kit, under
`fabriclab/course/own`. A file `campus.py` is a part called "campus": its `EXERCISES` have ids such
as `campus.backup`. These files are run, so the folder is one that you trust: it is never looked for
where students' files lie.
"""

import ast
import functools
import importlib.util
import os
import traceback
from pathlib import Path

import fabriclab.course
from fabriclab.course.engine.exercises import levels
from fabriclab.course.engine.exercises.core import Exercise

VARIABLE = "FABRICLAB_EXERCISES"
KIT = Path(fabriclab.course.__file__).parent / "own"


def files():
    """{part: file} of all own parts. Raises ValueError for a folder that is not there, or two files
    of one name.
    """
    found = {}
    named = [Path(one) for one in os.environ.get(VARIABLE, "").split(os.pathsep) if one]
    for folder in [*named, KIT]:
        if folder is not KIT and not folder.is_dir():
            raise ValueError(f"{VARIABLE}: {folder} is not a folder")
        for path in sorted(folder.glob("[!_]*.py")):
            if path.stem in found:
                raise ValueError(f"{path} has the name of {found[path.stem]}: call it otherwise")
            found[path.stem] = path
    return found


def load(path):
    """{id: exercise} of one file. Raises ValueError with the file, the line and what is wrong."""
    path = Path(path)
    return _load(path, path.stat().st_mtime_ns) if path.is_file() else _no_file(path)


def _no_file(path):
    raise ValueError(f"{path}: there is no such file")


@functools.cache
def _load(path, changed):
    if path.stem in (*fabriclab.course.NUMBERED.values(), "engine", "own"):
        raise ValueError(f"{path}: the kit has a part of that name: call the file otherwise")
    spec = importlib.util.spec_from_file_location(f"fabriclab_own_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except SyntaxError as fault:
        raise ValueError(f"{path}, line {fault.lineno}: {fault.msg}") from None
    except Exception as fault:
        raise ValueError(f"{where(path, fault)}: {type(fault).__name__}: {fault}") from None
    listed = getattr(module, "EXERCISES", None)
    if type(listed) not in (list, tuple) or not all(type(one) is Exercise for one in listed):
        raise ValueError(f"{path}: EXERCISES should be a list of Exercise(…)")
    found = {}
    for one in listed:
        at = f"{path}, line {line_of(path, one.id)}"
        if type(one.id) is not str or one.id.partition(".")[0] != path.stem or one.id[-1:] == ".":
            raise ValueError(f"{at}: the id {one.id!r} should begin with {path.stem + '.'!r}")
        if one.id in found:
            raise ValueError(f"{at}: {one.id} is there twice")
        if not type(one.kind).__module__.startswith("fabriclab.course.engine.exercises."):
            raise ValueError(f"{at}: {one.id}: the kind {one.kind!r:.60} is none of the kit's")
        if one.level not in levels.LEVELS or one.minutes <= 0 or not one.section:
            raise ValueError(
                f"{at}: {one.id} needs a level ({', '.join(levels.LEVELS)}), minutes and a section"
            )
        found[one.id] = one
        levels.add(one)
    return found


def where(path, fault):
    """The file, and the last line in it that led to an exception."""
    frames = traceback.extract_tb(fault.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    return f"{path}, line {lines[-1]}" if lines else str(path)


def line_of(path, text):
    """The first line of a file where `text` stands as a string; 1 where it is made otherwise."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    at = [n.lineno for n in ast.walk(tree) if isinstance(n, ast.Constant) and n.value == text]
    return min(at, default=1)
