"""A class from hand-out to gradebook, with real notebooks in the real sandbox."""

import csv
import shutil
from pathlib import Path

import pytest

from fabriclab.__main__ import main
from fabriclab.classroom import release, sandbox
from fabriclab.classroom.roster import folder
from fabriclab.classroom.submission import exercise_ids
from fabriclab.course.engine.exercises import bank

ROOT = Path(__file__).parents[1]
NOTEBOOK = "06-cluster-design.ipynb"


def sandboxed():
    try:
        sandbox.ready()
    except RuntimeError as error:
        return str(error)
    return ""


@pytest.mark.skipif(bool(sandboxed()), reason=sandboxed() or "there is one")
def test_a_class_from_hand_out_to_gradebook(tmp_path, monkeypatch, capsys):
    """A worked notebook would not get all its points, a blank one some, or the released kit would
    not be what is graded.
    """
    for name in ("solutions", "exercises", "notebooks"):
        (tmp_path / name).mkdir()
        shutil.copy(ROOT / name / NOTEBOOK, tmp_path / name)
    for name in ("fabriclab", "tools"):
        (tmp_path / name).symlink_to(ROOT / name)
    for name in release.DOORS:
        shutil.copy(ROOT / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "class.csv").write_text(
        "Student;ID;SIS User ID;SIS Login ID;Section\nLovelace,"
        " Ada;7;ADA;al;A\n=2+2;8;ada;aa;A\nThird;9;third;tt;A\n",
        encoding="utf-8",
    )
    assert main(["release", "--roster", "class.csv", "--out", "out"]) == 0
    worked = release.personal(
        (tmp_path / "solutions" / NOTEBOOK).read_text(encoding="utf-8"), "ADA"
    )
    (tmp_path / "out" / "students" / folder("ADA") / "exercises" / NOTEBOOK).write_text(
        worked, encoding="utf-8"
    )
    shutil.rmtree(tmp_path / "out" / "students" / folder("third"))
    assert main(["grade", "out", "--roster", "class.csv", "--out", "graded", "--workers", "2"]) == 0
    assert "2 of 3 students sent 2 notebooks: 2 graded" in capsys.readouterr().out
    with open(tmp_path / "graded" / "grades.csv", encoding="utf-8-sig", newline="") as file:
        ada, other, third = csv.DictReader(file)
    ids = exercise_ids(tmp_path / "exercises" / NOTEBOOK)
    assert [ada[name] for name in ids] == [
        "-" if bank.find(name).kind.by_hand else "1" for name in ids
    ]
    assert [other[name] for name in ids] == [third[name] for name in ids] == ["0"] * len(ids)
    assert (ada["Student"], ada["ID"], ada["SIS User ID"], other["Student"]) == (
        "Lovelace, Ada",
        "7",
        "ADA",
        "'=2+2",
    )
    assert "not attempted" in (
        tmp_path / "graded" / "feedback" / f"{folder('ada')}.html"
    ).read_text(encoding="utf-8")
