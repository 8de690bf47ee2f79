"""A release gives each student a kit that works, with the student's own id and nobody's solutions,
the same for ever.
"""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from fabriclab.classroom.release import NOTEBOOKS as HANDED_OUT
from fabriclab.classroom.release import _files, personal, release
from fabriclab.classroom.roster import Person, folder
from fabriclab.course.engine import exercises

ROOT = Path(__file__).parents[1]
AWKWARD = [
    "ADA",
    "ada",
    "001",
    "zoé@example.org",
    "李雷",
    "o'neil",
    'say "hi"',
    "back\\slash",
    "{x}",
    "\\g<0>",
    "#",
]
NOTEBOOK = "06-cluster-design.ipynb"


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A small repository: one exercise notebook, one notebook, the package."""
    root = tmp_path_factory.mktemp("repository")
    for name in (
        "README.md",
        "LICENSE",
        "Makefile",
        "environment.yml",
        "pyproject.toml",
        "requirements.lock",
    ):
        shutil.copy(ROOT / name, root)
    for name in ("solutions", "exercises", "notebooks"):
        (root / name).mkdir()
        shutil.copy(ROOT / name / NOTEBOOK, root / name)
    shutil.copytree(
        ROOT / "fabriclab", root / "fabriclab", ignore=shutil.ignore_patterns("__pycache__")
    )
    (root / "notebooks" / ".ipynb_checkpoints").mkdir()
    (root / "notebooks" / ".ipynb_checkpoints" / "draft.ipynb").write_text("{}")
    return root


def people(*ids):
    return tuple(Person(name) for name in ids)


def files(top):
    return {
        path.relative_to(top).as_posix(): path.read_bytes()
        for path in sorted(Path(top).rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def released(repository, tmp_path_factory):
    out = tmp_path_factory.mktemp("release") / "out"
    assert release(people(*AWKWARD), out, repository) == "written"
    return out


def test_every_student_finds_the_own_id(released):
    """A quote or backslash in an id would break the notebook, or somebody would work on another's
    numbers.
    """
    for student in AWKWARD:
        notebook = nbformat.read(
            released / "students" / folder(student) / "exercises" / NOTEBOOK, as_version=4
        )
        nbformat.validate(notebook)
        line = next(cell.source for cell in notebook.cells if cell.id == "ex-student")
        names = {"exercises": importlib.import_module("fabriclab.course.engine.exercises")}
        exec(line, names)
        assert names["me"].id == student
    blank = nbformat.read(ROOT / "exercises" / NOTEBOOK, as_version=4)
    notebook.cells[3].source = blank.cells[3].source
    shown = [o.data["text/markdown"] for c in notebook.cells for o in c.get("outputs", ())]
    me = names["me"]
    own = [exercises.Question(me, name).text for name in exercises.ids("cluster")]
    assert sorted(shown) == sorted(own)
    for cell in [*notebook.cells, *blank.cells]:
        cell.pop("outputs", None)
    assert notebook == blank


def test_no_solution_and_no_grading_leaves_the_house(released):
    """A worked answer, or how answers are taken and judged for a class, would be in a student's
    hands.
    """
    there = files(released)
    assert not [
        name
        for name in there
        if "solutions" in name
        or "/grading" in name
        or "checkpoint" in name
        or "tests/" in name
        or name.endswith(".pyc")
    ]
    assert not [
        name
        for name, content in there.items()
        if b"### BEGIN SOLUTION" in content and not name.endswith(("strip.py", ".md"))
    ]
    assert {
        "kit/Makefile",
        "kit/requirements.lock",
        f"kit/notebooks/{NOTEBOOK}",
        "kit/fabriclab/course/engine/canvas.py",
    } <= there.keys()
    assert {name.split("/")[0] for name in there} == {"kit", "students", "manifest.json"}


def test_whatever_a_notebook_reads_is_handed_out():
    """A log, a list of pairs or an incident's own words would stay with us, and a student's
    notebook stop in the middle.
    """
    there = {
        path
        for path in (ROOT / "notebooks").rglob("*")
        if path.is_file()
        and not any(
            part.startswith(".") or part == "__pycache__" for part in path.relative_to(ROOT).parts
        )
    }
    assert there == set(_files(ROOT / "notebooks", HANDED_OUT)) and {".csv", ".toml"} <= {
        path.suffix for path in there
    }


def test_a_kit_runs(released, tmp_path):
    """A file left out of the kit would show on three hundred laptops at once: here it runs with the
    kit's own package alone.
    """
    kit = tmp_path / "kit"
    shutil.copytree(released / "kit", kit)
    shutil.copytree(released / "students" / folder("001"), kit, dirs_exist_ok=True)
    code = (
        "import contextlib, io, json, fabriclab, sys\nnames = {}\n"
        f"for cell in json.load(open('exercises/{NOTEBOOK}', encoding='utf-8'))['cells']:\n"
        "    if cell['cell_type'] == 'code':\n        exec(''.join(cell['source']), names)\n"
        "print(fabriclab.__file__, names['me'].id)"
    )
    environment = {**os.environ, "PYTHONPATH": str(kit)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=kit,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert (
        done.stdout.splitlines()[-1] == f"{kit / 'fabriclab' / '__init__.py'} 001"
        and "Not attempted yet" in done.stdout
    )
    # the command line goes without the room it has not
    refused = subprocess.run(
        [sys.executable, "-m", "fabriclab", "grade", "x", "--roster", "y", "--out", "z"],
        cwd=kit,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (
        refused.returncode == 2
        and "a student's kit" in refused.stderr
        and "Traceback" not in refused.stderr
    )


def test_the_same_id_gets_the_same_bytes_whoever_else_is_there(released, repository, tmp_path):
    """A late student, or another order of the list, would change what the others hold."""
    assert release(people("new", "ada"), tmp_path / "out", repository) == "written"
    mine = f"students/{folder('ada')}/exercises/{NOTEBOOK}"
    assert files(tmp_path / "out")[mine] == files(released)[mine]


def test_a_release_can_be_made_again_and_grow(repository, tmp_path):
    """Making it twice would fail or change something; a list that grew would need another
    folder.
    """
    out = tmp_path / "out"
    assert release(people("a", "b"), out, repository) == "written"
    before = files(out)
    assert release(people("a", "b"), out, repository) == "already there" and files(out) == before
    assert release(people("a", "b", "c"), out, repository) == "renewed"
    after = files(out)
    assert {name: after[name] for name in before if name != "manifest.json"} == {
        name: value for name, value in before.items() if name != "manifest.json"
    }
    assert json.loads((out / "manifest.json").read_text(encoding="utf-8"))["students"][
        "c"
    ] == folder("c")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_what_somebody_put_there_is_not_swept_away(repository, tmp_path):
    """A folder of submissions, or a student's work in a released folder, would be deleted by a
    second release.
    """
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("years of work")
    with pytest.raises(ValueError, match="is not a release"):
        release(people("a"), out, repository)
    assert files(out) == {"thesis.txt": b"years of work"}
    out = tmp_path / "released"
    release(people("a"), out, repository)
    worked = out / "students" / folder("a") / "exercises" / NOTEBOOK
    for path, content in (
        (worked, "my answers"),
        (out / "students" / folder("a") / "notes.txt", "mine"),
    ):
        before = path.read_bytes() if path.exists() else None
        path.write_text(content)
        with pytest.raises(ValueError, match="is not as it was released"):
            release(people("a", "b"), out, repository)
        assert path.read_text() == content
        path.unlink() if before is None else path.write_bytes(before)
    assert release(people("a", "b"), out, repository) == "renewed"


def altered(repository, tmp_path, change, folder="solutions"):
    """A copy of the repository with one line of a notebook changed."""
    root = tmp_path / "repository"
    shutil.copytree(repository, root)
    path = root / folder / NOTEBOOK
    text = path.read_text(encoding="utf-8")
    path.write_text(change(text), encoding="utf-8")
    assert change(text) != text
    return root


@pytest.mark.parametrize(
    "folder, change, says",
    [
        ("solutions", lambda text: text.replace("### END SOLUTION", "", 1), "BEGIN SOLUTION"),
        (
            "solutions",
            lambda text: text.replace("### BEGIN SOLUTION", "### BEGIN SOLUTON", 1),
            "not a marker as it should be written",
        ),
        (
            "solutions",
            lambda text: text.replace("### BEGIN SOLUTION", "### END SOLUTION", 1),
            "END SOLUTION without its BEGIN",
        ),
        (
            "solutions",
            lambda text: re.sub(r'"solution": true', '"solution": false', text, count=1),
            NOTEBOOK,
        ),
        (
            "exercises",
            lambda text: text.replace("answer = ...", "answer = 42", 1),
            "run `make exercises` first",
        ),
        (
            "notebooks",
            lambda text: text.replace("import fabriclab", "### BEGIN SOLUTION", 1),
            "a worked solution among the notebooks",
        ),
    ],
    ids=[
        "no end",
        "misspelt begin",
        "no begin",
        "not a solution cell",
        "edited exercises",
        "solution in a notebook",
    ],
)
def test_a_release_stops_where_a_solution_could_slip_out(
    repository, tmp_path, folder, change, says
):
    """A worked answer would reach the class because of one mistyped line."""
    root = altered(repository, tmp_path, change, folder)
    with pytest.raises(ValueError, match=re.escape(says)):
        release(people("a"), tmp_path / "out", root)
    assert [path.name for path in tmp_path.iterdir()] == ["repository"]


@pytest.mark.parametrize(
    "change, found",
    [
        (lambda text: text.replace('Student(\\"demo\\")', "Student(name)"), "no lines"),
        (
            lambda text: text.replace(
                'me = exercises.Student(\\"demo\\")',
                'you = exercises.Student(\\"demo\\")\\nme = exercises.Student(\\"demo\\")',
            ),
            "2 lines",
        ),
    ],
)
def test_a_notebook_that_does_not_say_whose_it_is_is_refused(change, found):
    """All students would be handed the demo student's numbers."""
    text = change((ROOT / "exercises" / NOTEBOOK).read_text(encoding="utf-8"))
    with pytest.raises(ValueError, match=f"{found} say"):
        personal(text, "a", NOTEBOOK)


def test_every_exercise_notebook_can_be_handed_out():
    """One of them would lack the line that carries the id."""
    for path in sorted((ROOT / "exercises").glob("*.ipynb")):
        assert 'Student(\\"\u674e\\")' in personal(
            path.read_text(encoding="utf-8"), "\u674e", path.name
        )


def test_the_command_says_what_was_wrong(repository, tmp_path, monkeypatch, capsys):
    """An instructor would get a traceback for a list with a mistake in it."""
    from fabriclab.__main__ import main

    monkeypatch.chdir(repository)
    (tmp_path / "class.csv").write_text("id\nA\nA\n")
    assert (
        main(["release", "--roster", str(tmp_path / "class.csv"), "--out", str(tmp_path / "out")])
        == 2
    )
    assert "class.csv: lines 2 and 3 are one student" in capsys.readouterr().err
    assert (
        main(["release", "--roster", str(tmp_path / "none.csv"), "--out", str(tmp_path / "out")])
        == 2
    )
    assert "no such file" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    (tmp_path / "class.csv").write_text("id\nA\n")
    assert (
        main(["release", "--roster", str(tmp_path / "class.csv"), "--out", str(tmp_path / "out")])
        == 0
    )
    assert "exercises of 1 student." in capsys.readouterr().out
    monkeypatch.chdir(tmp_path)
    assert main(["release", "--roster", "class.csv", "--out", "elsewhere"]) == 2
    assert "solutions" in capsys.readouterr().err and not (tmp_path / "elsewhere").exists()


def test_the_kits_page_names_what_is_in_the_kit(released):
    """A student would be told of tests, solutions or a folder that the kit does not have, or of
    commands that do nothing there.
    """
    kit = released / "kit"
    page = (kit / "README.md").read_text(encoding="utf-8")
    assert page != (ROOT / "README.md").read_text(encoding="utf-8")
    assert all(
        (ROOT / name).exists()
        for name in (
            *re.findall(r"\]\(([^)]+)\)", page),
            *re.findall(r"notebooks/[\w/.-]+\w", page),
        )
    )
    targets = set(
        re.findall(r"^(\w+):.*## ", (kit / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    )
    named = set(re.findall(r"`(\w+)`", page.split("only\n")[1].split(" have work here")[0]))
    assert named <= targets and "fabriclab release" not in page and "make test" not in page
