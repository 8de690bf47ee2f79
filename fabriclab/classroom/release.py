"""Handing out: one kit for all, and for each student a folder of exercises that carry the student's
id.

    OUT/kit/                          notebooks, package, doors; the same for all, without solutions
    and without this room OUT/students/ada-8a15fea9/exercises/01-….ipynb   to be put beside the
    kit's notebooks/ OUT/manifest.json                 which folder is whose, and the hash of every
    file handed out; not for students

The same id gets the same bytes, whoever else is on the list.
"""

import hashlib
import json
import os
import re
import shutil
import tempfile
from pathlib import Path

import fabriclab
from fabriclab.classroom import strip
from fabriclab.classroom.roster import folder
from fabriclab.course.engine.exercises import own
from fabriclab.course.engine.exercises.core import identify
from fabriclab.progress import Bar

DOORS = ("LICENSE", "Makefile", "environment.yml", "pyproject.toml", "requirements.lock")
# what `make lab` and `make slides` call
TOOLS = ("lab_config.py", "rerun.py", "slides.py", "slides.css", "slides.js", "look.css")
PACKAGE, NOTEBOOKS = (
    (".py", ".js", ".css", ".txt", ".log"),
    (".py", ".js", ".css", ".ipynb", ".png", ".log", ".txt", ".csv", ".toml", ""),
)
ASKED = re.compile(r'Student\("demo"\).*')


def release(roster, out, root="."):
    """Write a release for the `Person`s of `roster` into the folder `out`, from the repository at
    `root`.

    Returns what happened: "written", "already there" (the same release) or "renewed" (an older
    release, or another list).
    All is built beside `out` and moved there at the end; whatever is refused leaves no trace.

    Raises ValueError for solution markers that are not in order, an exercises/ that is not what
    solutions/ makes, a notebook that does not say who its student is, and an `out` that holds
    anything but an untouched release.
    """
    root, out = Path(root), Path(out).absolute()
    blank = exercises(root)
    kept = _manifest(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as made:
        made = Path(made) / "release"
        _write_kit(made / "kit", root)
        _write_students(made / "students", blank, roster)
        students = {person.id: folder(person.id) for person in roster}
        manifest = {
            "fabriclab": fabriclab.__version__,
            "students": students,
            "files": _hashes(made),
        }
        (made / "manifest.json").write_text(
            json.dumps(manifest, indent=1, ensure_ascii=False) + "\n",
            encoding="utf-8",
            newline="\n",
        )
        if manifest == kept:
            return "already there"
        _replace(out, made)
    return "written" if kept is None else "renewed"


def exercises(root):
    """{file name: text} of the students' notebooks, once they are known to be what solutions/
    makes. Raises ValueError.
    """
    worked = sorted((root / "solutions").glob("*.ipynb"))
    if not worked:
        raise ValueError(
            f"{root / 'solutions'}: no notebooks; a release is made in the folder that holds"
            " solutions/ and exercises/"
        )
    handed = {
        path.name: path.read_text(encoding="utf-8")
        for path in sorted((root / "exercises").glob("*.ipynb"))
    }
    for path in worked:
        try:
            made = strip.strip(path.read_text(encoding="utf-8"), path.name)
        except RuntimeError as error:
            # nbgrader's own word for a marker
            raise ValueError(f"{path.name}: {error}") from error
        if handed.get(path.name) != made:
            raise ValueError(
                f"exercises/{path.name} is not what solutions/{path.name} makes: run `make"
                " exercises` first"
            )
    strange = sorted(handed.keys() - {path.name for path in worked})
    if strange:
        raise ValueError(f"exercises/{strange[0]} has no notebook in solutions/")
    for name, text in handed.items():
        personal(text, "demo", name)
    return handed


def personal(text, student, name="notebook"):
    """A student's notebook, as text: `me = exercises.Student("demo")` carries the own id of the
    student, and the questions shown are the student's own.

    Raises ValueError unless exactly one line of code says who the student is.
    """
    notebook = json.loads(text)
    found = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            source = "".join(cell["source"])
            found += ASKED.findall(source)
            # json writes printable text in quotes just as Python reads it
            written = f"Student({json.dumps(identify(student), ensure_ascii=False)})  # you"
            cell["source"] = ASKED.sub(lambda _, line=written: line, source).splitlines(
                keepends=True
            )
    if len(found) != 1:
        raise ValueError(
            f'exercises/{name}: {len(found) or "no"} lines say exercises.Student("demo"), where one'
            " should"
        )
    strip.show_questions(notebook["cells"], student)
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _write_kit(kit, root):
    for name in DOORS:
        _copy(root / name, kit / name)
    _copy(root / "fabriclab" / "classroom" / "kit.txt", kit / "README.md")
    for path in _files(root / "fabriclab", PACKAGE):
        if "classroom" not in path.relative_to(root).with_suffix("").parts:
            _copy(path, kit / path.relative_to(root))
    for path in own.files().values():
        _copy(path, kit / "fabriclab" / "course" / "own" / path.name)
    for name in TOOLS:
        _copy(root / "tools" / name, kit / "tools" / name)
    for path in _files(root / "notebooks", NOTEBOOKS):
        if path.suffix == ".ipynb" and "### BEGIN SOLUTION" in path.read_text(encoding="utf-8"):
            raise ValueError(f"{path}: a worked solution among the notebooks")
        _copy(path, kit / path.relative_to(root))


def _files(top, endings):
    """The files under `top` with these endings, in order; what is hidden or made by Python stays
    out.
    """
    for path in sorted(top.rglob("*")):
        parts = path.relative_to(top).parts
        if (
            path.is_file()
            and path.suffix in endings
            and not any(part.startswith(".") or part == "__pycache__" for part in parts)
        ):
            yield path


def _copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        shutil.copyfile(source, target)
    except FileNotFoundError as error:
        raise ValueError(
            f"{source}: missing; a release is made in the folder that holds it"
        ) from error


def _write_students(students, blank, roster):
    bar = Bar("students")
    for done, person in enumerate(roster):
        own = students / folder(person.id) / "exercises"
        own.mkdir(parents=True)
        for name, text in blank.items():
            (own / name).write_text(personal(text, person.id, name), encoding="utf-8", newline="\n")
        bar.show(done / len(roster))
    bar.close()


def _hashes(top):
    return {
        path.relative_to(top).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(top.rglob("*"))
        if path.is_file()
    }


def _manifest(out):
    """The manifest of an earlier release at `out`, or None.

    Raises ValueError if anything there is not as it was released.
    """
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return None
    try:
        manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
        known = dict(manifest["files"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{out} exists and is not a release: name a folder that does not exist yet"
        ) from error
    there = _hashes(out)
    there.pop("manifest.json", None)
    strange = sorted(name for name, value in there.items() if known.get(name) != value)
    if strange:
        raise ValueError(
            f"{out / strange[0]} is not as it was released: move it away, or name another folder"
        )
    return manifest if there == known else {}


def _replace(out, made):
    """Put the folder `made` where `out` is; the old one is moved aside first, and back if that
    fails.
    """
    aside = made.parent / "aside"
    old = out.exists()
    if old:
        os.rename(out, aside)
    try:
        os.rename(made, out)
    except OSError:
        if old:
            os.rename(aside, out)
        raise
