"""INSTRUCTOR.md says what is so: its commands, files, sections, minutes and rubrics are held
against what there is.
"""

import re
import shlex
from pathlib import Path

import nbformat
import pytest
from distributed.cli import dask_scheduler, dask_worker
from nbgrader.apps.nbgraderapp import NbGraderApp
from traitlets.config import Config

from fabriclab import __main__ as cli
from fabriclab.classroom import batch, release, strip
from fabriclab.course.engine.exercises import bank

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "INSTRUCTOR.md").read_text(encoding="utf-8")
PARTS = dict(re.findall(r"^#{2,3} ([^\n]+)\n(.*?)(?=^#{2,3} |\Z)", TEXT, re.M | re.S))
LECTURES = re.findall(r"((?:^\| \d+ \| \[\d\d\]\(.*\n)+)", TEXT, re.M)
CODE = [
    code for kind, code in re.findall(r"^ *```(\w*)\n(.*?)^ *```$", TEXT, re.M | re.S) if not kind
]
COMMANDS = [
    line.strip() for block in CODE for line in block.splitlines() if line.strip()
] + re.findall(r"`((?:fabriclab|make|nbgrader) [^`]+)`", TEXT)
ESSAYS = [name for name in bank.ids() if bank.find(name).kind.by_hand]


def points(name):
    """What nbgrader books for an essay in solutions/."""
    for path in (ROOT / "solutions").glob("*.ipynb"):
        ids = set()
        for cell in nbformat.read(path, as_version=4)["cells"]:
            data = cell["metadata"].get("nbgrader", {})
            if f'.ask("{name}")' in cell["source"]:
                ids.add(data["grade_id"].removeprefix("ask-"))
            if data.get("grade_id") in ids:
                return data["points"]


@pytest.mark.parametrize("name", ESSAYS)
def test_rubric(name):
    """An essay without a rubric, or one whose points do not add up to those booked, is marked by
    mood.
    """
    (title,) = [title for title in PARTS if title.startswith(f"{name} (")]
    told = int(re.search(r"\((\d+) points\)", title)[1])
    rows = [int(row) for row in re.findall(r"^\| (\d+) \| \w", PARTS[title], re.M)]
    assert told == sum(rows) == points(name) == bank.find(name).kind.worth
    full, half = re.search(r"^\*Full:\* (.*?)^\*Half:\* (.*)", PARTS[title], re.M | re.S).groups()
    assert len(full.split()) >= bank.find(name).kind.least_words and len(half.split()) > 15


def test_no_rubric_for_nothing():
    """A rubric for an essay that is gone would be looked for in vain."""
    assert {title.partition(" (")[0] for title in PARTS if re.match(r"\w+\.\w+ \(", title)} == set(
        ESSAYS
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_command(command):
    """A command that an instructor copies must be understood."""
    program, *words = shlex.split(command)
    if program == "fabriclab":
        assert cli.parser().parse_args(words).run
    elif program == "nbgrader":
        assert words[0] in {name.replace("-", "_") for name in NbGraderApp().subcommands} and words[
            1
        ] in {path.stem for path in (ROOT / "solutions").glob("*.ipynb")}
    elif program == "dask":
        module = {"scheduler": dask_scheduler, "worker": dask_worker}[words[0]]
        known = {name for option in module.main.params for name in option.opts}
        assert known >= {word for word in words if word.startswith("--")}
    else:
        assert program == "make"
        assert re.search(rf"^{words[0]}:", (ROOT / "Makefile").read_text(), re.M)
        assert all((ROOT / word.removeprefix("ARGS=")).exists() for word in words[1:])


def test_there_are_commands_and_lectures():
    """With nothing found, everything above and below would pass."""
    assert (
        sum(command.startswith("fabriclab") for command in COMMANDS) >= 4
        and sum(command.startswith("nbgrader") for command in COMMANDS) == 3
    )
    assert len(LECTURES) == 1 + 2 + 4 and len(ESSAYS) >= 5


@pytest.mark.parametrize("lecture", range(len(LECTURES)))
def test_lecture(lecture):
    """A plan that overruns, or a section that the notebook calls otherwise, is found out in front
    of the class.
    """
    minutes = 0
    for row in LECTURES[lecture].splitlines():
        _, time, link, sections, _ = (part.strip() for part in row.split("|"))
        number, target = re.fullmatch(r"\[(\d\d)\]\((.*)\)", link).groups()
        assert Path(target).name.startswith(number)
        cells = nbformat.read(ROOT / target, as_version=4)["cells"]
        titles = [
            " ".join(re.sub(r"\$[^$]*\$-?", "", line).split())
            for cell in cells
            if cell["cell_type"] == "markdown"
            for line in re.findall(r"^## (.*)", cell["source"], re.M)
        ]
        for section in sections.split("; "):
            assert any(title.startswith(section) for title in titles), (section, titles)
        minutes += int(time)
    assert minutes == 90


def test_config_of_nbgrader():
    """With another stub than ours a blank would raise, and take the points of the whole notebook
    along.
    """
    config = Config()
    exec(re.search(r"```python\n(.*?)```", TEXT, re.S)[1], {"get_config": lambda: config})
    assert (
        config.ClearSolutions.code_stub == {"python": strip.STUB}
        and config.ClearSolutions.text_stub == strip.NOTES
    )


def test_files_of_a_batch():
    """An instructor would look for a file that is not written."""
    told = re.findall(r"^\| `([\w.-]+/?)` \|", PARTS["Collecting and grading"], re.M)
    assert len(told) == 7 and all(name in batch.grade.__doc__ for name in told)


def test_students_do_not_get_it(tmp_path):
    """The sample answers would be on three hundred laptops before the first lecture."""
    release._write_kit(tmp_path, ROOT)
    sample = re.search(r"^\*Full:\* ([^\n]*)", TEXT, re.M)[1]
    kit = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(kit) > 100 and not any(
        path.name == "INSTRUCTOR.md" or sample.encode() in path.read_bytes() for path in kit
    )
    assert _tools(tmp_path) == []


def _tools(kit):
    """What `make lab` and `make slides` of a kit call, step by step, and the kit has not."""
    recipes = re.findall(r"^(?:lab|slides):.*\n((?:\t.*\n)+)", (kit / "Makefile").read_text(), re.M)
    todo = [f"{name}.py" for name in re.findall(r"-m tools\.(\w+)", "".join(recipes))]
    todo += re.findall(r"tools/([\w.]+)", "".join(recipes))
    assert {"slides.py", "lab_config.py"} <= set(todo)
    missing = []
    for name in todo:
        if not (kit / "tools" / name).exists():
            missing.append(name)
            continue
        code = (kit / "tools" / name).read_text(encoding="utf-8")
        named = re.findall(r'"(\w+\.(?:css|js))"', code)
        named += [f"{module}.py" for module in re.findall(r"from tools import (\w+)", code)]
        todo += [each for each in named if each not in todo]
    return missing
