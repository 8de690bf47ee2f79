"""The rule of the house: models <- logs; models and logs <- course <- classroom; nothing else."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import fabriclab

PACKAGE = Path(fabriclab.__file__).parent
# The models, each with those it may build on: a level of the chapter rests on the levels before it.
MODELS = {"units": 0, "checks": 0, "progress": 0, "extras": 0, "terminal": 0, "catalog": 1}
MODELS |= {"link": 2, "transport": 2, "reliability": 2}
MODELS |= {"collectives": 3, "topology": 3}
MODELS |= {"congestion": 4, "deadlock": 4, "cluster": 4, "scaleup": 4, "nccl": 4}
MODELS |= {"packets": 5}  # the simulator takes the settings of congestion's models
DOORS = {"__main__", "doctor", "find"}  # the commands: they fetch a wing when one is asked for
WINGS = {
    "models": {"models"},
    "logs": {"models", "logs"},
    "course": {"models", "logs", "course"},
    "classroom": {"models", "logs", "course", "classroom"},
    "doors": {"models", "logs", "course", "classroom", "doors"},
}
# slow to import, and neither a model nor a reader of logs needs them
HEAVY = {"matplotlib", "ipywidgets", "anywidget", "IPython", "sympy", "numba", "networkx"}


def wing(room):
    """The wing that a top-level module or folder of the package belongs to."""
    return "models" if room in MODELS else "doors" if room in DOORS else room


def room(path):
    """The top-level module or folder that a file lies in."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def modules_named(node, within):
    """Dotted names, relative to fabriclab, that one import statement may bring in."""
    if isinstance(node, ast.Import):
        return [
            alias.name.split(".", 1)[-1] if "." in alias.name else ""
            for alias in node.names
            if alias.name.split(".")[0] == "fabriclab"
        ]
    if not isinstance(node, ast.ImportFrom):
        return []
    if node.level:
        base = within[: len(within) - node.level + 1]
        base = base + (node.module.split(".") if node.module else [])
    else:
        base = node.module.split(".")
    if base[0] != "fabriclab":
        return []
    return [".".join(base[1:])] if len(base) > 1 else [alias.name for alias in node.names]


def rooms_used(source, within):
    """The rooms a module's source reaches into: by any form of import, or as `fabriclab.room`."""
    tree = ast.parse(source)
    used = {name.split(".")[0] for node in ast.walk(tree) for name in modules_named(node, within)}
    used |= {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "fabriclab"
    }
    return used & {*MODELS, *DOORS, *WINGS}


def against_the_rule(own, used):
    """The rooms among `used` that room `own` must not import."""
    bad = {other for other in used - {own} if wing(other) not in WINGS[wing(own)]}
    if own in MODELS:
        bad |= {one for one in used - {own} if one in MODELS and MODELS[one] >= MODELS[own]}
    return sorted(bad)


def package_of(path):
    return ["fabriclab", *path.relative_to(PACKAGE).parts[:-1]]


FILES = sorted(
    path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or path.name != "__init__.py"
)


def test_every_room_belongs_to_a_wing():
    """A room that the tables do not know would escape the rule."""
    rooms = {path.stem for path in PACKAGE.glob("*.py")} | {
        path.parent.name for path in PACKAGE.glob("*/__init__.py")
    }
    assert rooms - {"__init__"} == {*MODELS, *DOORS, *WINGS} - {"models", "doors"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_only_what_its_wing_may(path):
    """A model that imports what is built on it could not be read, tested or used by itself."""
    used = rooms_used(path.read_text(encoding="utf-8"), package_of(path))
    assert against_the_rule(room(path), used) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_parts_of_the_course_stand_alone(path):
    """The engine would need a part to be imported, or one part would be half of another."""
    parts = path.relative_to(PACKAGE).parts
    if parts[0] != "course" or len(parts) < 3:
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    named = {n for node in ast.walk(tree) for n in modules_named(node, package_of(path))}
    others = {n.split(".")[1] for n in named if n.startswith("course.")} - {parts[1], "engine"}
    assert not others


def test_the_package_itself_imports_no_room():
    """`import fabriclab` must not fetch any module before it is asked for."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    assert not [n for node in ast.walk(tree) for n in modules_named(node, ["fabriclab"])]


def test_what_a_student_reads_is_the_models():
    """`dir(fabriclab)` would show the workshop beside the models."""
    assert set(dir(fabriclab)) == {*MODELS, "logs", "course", "classroom", "require"} - {
        "progress",
        "extras",
        "terminal",
    }


@pytest.mark.parametrize(
    "statement",
    [
        "import fabriclab.course",
        "import fabriclab.course.engine as e",
        "from fabriclab import course",
        "from fabriclab import units, course",
        "from fabriclab.course import PARTS",
        "from fabriclab.course.engine.ledger import Row",
        "from . import course",
        "from .course import PARTS",
        "def f():\n    from fabriclab import course",
        "import fabriclab\nfabriclab.course.PARTS",
    ],
)
def test_the_rule_sees_every_form_of_import(statement):
    """A form of import that the reader of imports does not know would be a way round the rule."""
    used = rooms_used(statement, ["fabriclab"])
    assert against_the_rule("transport", used) == ["course"]
    assert against_the_rule("logs", used) == ["course"]
    assert against_the_rule("classroom", used) == []


def test_the_rule_sees_out_of_folders_and_leaves_neighbours_alone():
    """In a folder, `from . import x` is a neighbour and `from .. import x` is another room."""
    within = ["fabriclab", "logs"]
    assert rooms_used("from . import course\nfrom .link import x", within) == {"logs"}
    assert against_the_rule("logs", rooms_used("from .. import course", within)) == ["course"]
    assert against_the_rule("logs", rooms_used("from .. import transport", within)) == []
    assert against_the_rule("deadlock", {"congestion"}) == ["congestion"]
    assert against_the_rule("course", {"classroom"}) == ["classroom"]


def loaded_after(statement):
    """The top-level packages that a fresh Python holds after running one statement."""
    code = (
        f"{statement}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}},"
        " 'pyplot' if 'matplotlib.pyplot' in sys.modules else '')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_fabriclab_is_light():
    """A slow import greets every reader, every kernel start and every test."""
    loaded = loaded_after("import fabriclab")
    assert "fabriclab" in loaded
    assert not loaded & {*HEAVY, "pyplot", "scipy"}


def test_models_and_logs_need_no_plots_and_no_widgets():
    """A model must work in a script on a cluster's login node, at once; so must `read`."""
    names = [*sorted(MODELS), "logs"]
    loaded = loaded_after(
        f"from fabriclab import {', '.join(names)}\nimport fabriclab.logs.diagnose"
    )
    assert "numpy" in loaded
    assert not loaded & {*HEAVY, "pyplot"}


@pytest.mark.parametrize(
    "name", ["course.engine.plot", "course.engine.ledger", "course.engine.exercises", "doctor"]
)
def test_figures_and_ledger_leave_pyplot_alone(name):
    """pyplot keeps every figure alive and picks a window system: the kernel would fill."""
    assert "pyplot" not in loaded_after(f"import fabriclab.{name}")


def test_an_exercise_notebook_pays_for_its_own_part():
    """The first cell of an exercise notebook would wait for all twelve parts."""
    code = (
        "from fabriclab.course.engine import exercises; exercises.find('transport.crossover');"
        "import sys; print(*[m for m in sys.modules if m.endswith('.exercises')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {m.split(".")[2] for m in done.stdout.split()} - {"engine"}
    assert loaded == {"transport"}
