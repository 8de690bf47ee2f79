"""The notebooks of solutions/ are nbgrader's own assignments: one is made, sent, graded and given
back by nbgrader itself.

The other notebooks are held against nbgrader's rules for cells without being run.
"""

import json
import os
import re
import shutil
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader import preprocessors
from nbgrader.apps import NbGraderAPI
from traitlets.config import Config

from fabriclab.classroom import strip
from fabriclab.course.engine.exercises import bank

ROOT = Path(__file__).resolve().parent.parent
WORKED = sorted((ROOT / "solutions").glob("*.ipynb"))
NAME = "12-fallacies"
# nbgrader's own, about its own tables
pytestmark = pytest.mark.filterwarnings("ignore:Object of type")


def graded(cell):
    return cell["metadata"].get("nbgrader", {})


def asked(book):
    """{grade_id of the answer: exercise id}, as the cells before the answers ask."""
    asks = {
        graded(cell)["grade_id"].removeprefix("ask-"): re.search(
            r'\.ask\("([\w.]+)"\)', cell["source"]
        )
        for cell in book["cells"]
        if graded(cell).get("grade_id", "").startswith("ask-")
    }
    return {name: found[1] for name, found in asks.items()}


@pytest.mark.parametrize("path", WORKED, ids=lambda path: path.stem)
def test_cells(path):
    """nbgrader would stop at such a cell, book points for nothing, or give a class more points than
    there are exercises.
    """
    book = nbformat.read(path, as_version=4)
    preprocessors.CheckCellMetadata().preprocess(book, {})
    answers = asked(book)
    assert set(answers.values()) == {
        name for name in bank.ids() if name in answers.values()
    } and len(set(answers.values())) == len(answers)
    by_hand = {name for name, exercise in answers.items() if bank.find(exercise).kind.by_hand}
    points = {
        graded(cell)["grade_id"]: graded(cell)["points"]
        for cell in book["cells"]
        if graded(cell).get("grade")
    }
    worked = {name for name in points if name.startswith("worked-")}
    assert points.pop("points") == len(answers) - len(by_hand)
    assert {points.pop(name) for name in worked} == {0}
    assert set(points) == by_hand and all(value >= 4 for value in points.values())
    solutions = {graded(cell)["grade_id"] for cell in book["cells"] if graded(cell).get("solution")}
    assert solutions == set(answers) | worked
    (last,) = [cell for cell in book["cells"] if graded(cell).get("grade_id") == "points"]
    assert last["source"].rstrip().splitlines()[-1] == "me.points()"


def test_cells_sees_a_fault():
    """A grade_id used twice must not pass, or one answer would be graded as another."""
    book = nbformat.read(WORKED[0], as_version=4)
    twice = [cell for cell in book["cells"] if graded(cell)]
    twice[1]["metadata"]["nbgrader"]["grade_id"] = graded(twice[0])["grade_id"]
    with pytest.raises(Exception, match="failed to validate"):
        preprocessors.CheckCellMetadata().preprocess(book, {})


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course that has released one notebook, got it back from two students, and graded both."""
    root = tmp_path_factory.mktemp("course")
    with pytest.MonkeyPatch.context() as patch:
        # nbgrader calls alembic by its bare name, as it is in an environment that is active
        patch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
        patch.setenv("JUPYTER_PREFER_ENV_PATH", "1")
        patch.setenv("IPYTHONDIR", str(root / "ipython"))
        yield root, run(root)


def run(root):
    """The course's gradebook, once all is done."""
    config = Config()
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.course_id = "fabrics"
    config.ClearSolutions.code_stub = {"python": strip.STUB}
    config.ClearSolutions.text_stub = strip.NOTES
    config.Execute.timeout = 60
    config.Exchange.root = str(root / "exchange")
    (root / "exchange").mkdir()
    (root / "source" / NAME).mkdir(parents=True)
    shutil.copy(ROOT / "solutions" / f"{NAME}.ipynb", root / "source" / NAME)
    nbgrader = NbGraderAPI(config=config)
    done = nbgrader.generate_assignment(NAME)
    assert done["success"], done
    released = (root / "release" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8")
    worked = nbformat.read(ROOT / "solutions" / f"{NAME}.ipynb", as_version=4)
    for student, answers in (("ada", ("upgrade", "iperf", "own")), ("blank", ())):
        book = nbformat.reads(released, as_version=4)
        for cell in book["cells"]:
            if graded(cell).get("grade_id") in answers:
                cell["source"] = next(
                    other["source"]
                    for other in worked["cells"]
                    if graded(other).get("grade_id") == graded(cell)["grade_id"]
                )
        folder = root / "submitted" / student / NAME
        folder.mkdir(parents=True)
        nbformat.write(book, folder / f"{NAME}.ipynb")
        done = nbgrader.autograde(NAME, student)
        assert done["success"], done
        done = nbgrader.generate_feedback(NAME, student)
        assert done["success"], done
    return nbgrader


def booked(nbgrader, student):
    with nbgrader.gradebook as book:
        submission = book.find_submission_notebook(NAME, NAME, student)
        return {
            grade.name: (grade.score, grade.max_score, grade.needs_manual_grade)
            for grade in submission.grades
        }


def test_release(course):
    """A solution in nbgrader's release would be handed to the class."""
    root, _ = course
    text = (root / "release" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8")
    assert (
        "SOLUTION" not in text
        and "Rubric" not in text
        and "rubric" not in json.loads(text)["cells"][-2]["source"]
    )
    handed = nbformat.reads(text, as_version=4)
    mine = nbformat.read(ROOT / "exercises" / f"{NAME}.ipynb", as_version=4)
    code = [
        [cell["source"] for cell in book["cells"] if cell["cell_type"] == "code"]
        for book in (handed, mine)
    ]
    assert code[0] == code[1]


def test_points(course):
    """nbgrader must book one point for each exercise that is right, none for a blank, and leave the
    essay to a person.
    """
    _, nbgrader = course
    ada, blank = booked(nbgrader, "ada"), booked(nbgrader, "blank")
    assert ada["points"] == (2, 4, False) and blank["points"] == (0, 4, False)
    assert ada["own"] == (0, 5, True) and blank["own"][:2] == (0, 5) and not blank["own"][2]


def test_feedback(course):
    """A student would get no page, or one without the points."""
    root, _ = course
    for student, points in (("ada", "2.0 / 9.0"), ("blank", "0.0 / 9.0")):
        (page,) = (root / "feedback" / student / NAME).glob("*.html")
        assert points in re.sub(r"\s+", " ", page.read_text(encoding="utf-8"))
