"""The plan of the house: every module imports only from floors below its own, and the door opens
fast.
"""

import ast
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import fabriclab

PACKAGE = Path(fabriclab.__file__).parent
FLOORS = {
    "units": 0,
    "checks": 0,
    "progress": 0,
    "catalog": 1,
    "link": 2,
    "transport": 2,
    "reliability": 2,
    "collectives": 3,
    "topology": 3,
    "congestion": 4,
    "deadlock": 4,
    "cluster": 4,
    "scaleup": 4,
    "telemetry": 4,
    "nccl": 4,
    "packets": 4.5,  # the simulator takes the settings of congestion's models
    "diagnosis": 4.5,  # holds readings against the models of floor 4
    "ledger": 5,
    "figures": 5,
    "explore": 6,
    "exercises": 6,
    "doctor": 7,
    "grading": 7,
    "__main__": 8,
}
MODELS = sorted(name for name in FLOORS if FLOORS[name] < 5 and name in dir(fabriclab))
# Slow to import, and a model needs none of them. numba may be used where it pays, in the packet
# simulator.
HEAVY = ("matplotlib", "ipywidgets", "anywidget", "IPython", "sympy", "numba")


def room(path):
    """The room of the house that a file belongs to: fabriclab/ledger/link.py lies in "ledger"."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def modules_named(node, within):
    """Dotted names, relative to fabriclab, that one import statement may bring in; `within` is the
    importing module's package.
    """
    if isinstance(node, ast.Import):
        return [
            alias.name.split(".", 1)[-1] if "." in alias.name else ""
            for alias in node.names
            if alias.name.split(".")[0] == "fabriclab"
        ]
    if not isinstance(node, ast.ImportFrom):
        return []
    if node.level:
        base = within[: len(within) - node.level + 1] + (
            node.module.split(".") if node.module else []
        )
    else:
        base = node.module.split(".")
    if base[0] != "fabriclab":
        return []
    return [".".join(base[1:])] if len(base) > 1 else [alias.name for alias in node.names]


def rooms_used(source, within):
    """The rooms that a module's source reaches into: by any form of import, or as `fabriclab.room`
    after `import fabriclab`.
    """
    tree = ast.parse(source)
    used = {name.split(".")[0] for node in ast.walk(tree) for name in modules_named(node, within)}
    used |= {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "fabriclab"
    }
    return used & set(FLOORS)


def steps_up(name, used):
    """The rooms among `used` that do not lie below room `name`."""
    return sorted(other for other in used if other != name and FLOORS[other] >= FLOORS[name])


def package_of(path):
    return ["fabriclab", *path.relative_to(PACKAGE).parts[:-1]]


FILES = sorted(
    path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or path.name != "__init__.py"
)


def test_every_room_has_a_floor():
    """A module that the table does not know would escape the import rule."""
    assert {module.name for module in pkgutil.iter_modules([str(PACKAGE)])} <= set(FLOORS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_only_from_floors_below(path):
    """A model that imports what is built on it could no longer be read,
    tested or used by itself.
    """
    used = rooms_used(path.read_text(encoding="utf-8"), package_of(path))
    assert not steps_up(room(path), used), (
        f"{path.name} imports from its own floor or above: {steps_up(room(path), used)}"
    )


def test_the_package_itself_imports_no_room():
    """`import fabriclab` must not fetch any module before it is asked for."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    assert not [name for node in ast.walk(tree) for name in modules_named(node, ["fabriclab"])]


@pytest.mark.parametrize(
    "statement",
    [
        "import fabriclab.course.engine.ledger",
        "import fabriclab.course.engine.ledger.rows as r",
        "from fabriclab import ledger",
        "from fabriclab import units, ledger",
        "from fabriclab.course.engine.ledger import Row",
        "from fabriclab.course.engine.ledger.rows import ROWS",
        "from . import ledger",
        "from .ledger import Row",
        "def f():\n    from fabriclab import ledger",
        "import fabriclab\nfabriclab.ledger.table()",
    ],
)
def test_the_rule_sees_every_form_of_import(statement):
    """A form of import that the reader of imports does not know would be a way up the stairs."""
    assert steps_up("transport", rooms_used(statement, ["fabriclab"])) == ["ledger"]


def test_the_rule_sees_out_of_folders_and_leaves_neighbours_alone():
    """In a folder, `from . import x` is a neighbour and `from .. import x` is another room."""
    within = ["fabriclab", "telemetry"]
    assert rooms_used("from . import ledger\nfrom .link import x", within) == {"telemetry"}
    assert steps_up("telemetry", rooms_used("from .. import ledger", within)) == ["ledger"]
    assert steps_up("telemetry", rooms_used("from ..ledger import Row", within)) == ["ledger"]
    assert (
        steps_up(
            "telemetry",
            rooms_used(
                "from .nccl import read\nfrom fabriclab.logs import fit\nfrom .. import transport",
                within,
            ),
        )
        == []
    )
    assert steps_up("deadlock", {"congestion"}) == ["congestion"]


def loaded_after(statement):
    """The top-level packages that a fresh Python holds after running one statement (and "pyplot",
    if matplotlib's is among them).
    """
    code = (
        f"{statement}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}}, 'pyplot'"
        " if 'matplotlib.pyplot' in sys.modules else '')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_fabriclab_is_light():
    """A slow import greets every reader, every kernel start and every test."""
    loaded = loaded_after("import fabriclab")
    assert "fabriclab" in loaded
    assert not loaded & {*HEAVY, "pyplot", "scipy"}


def test_models_need_no_plots_and_no_widgets():
    """A model must work in a script on a cluster's login node, at once."""
    loaded = loaded_after("from fabriclab import " + ", ".join(MODELS))
    assert "numpy" in loaded
    assert not loaded & {*HEAVY, "pyplot"}


@pytest.mark.parametrize(
    "name", [name for name in ("figures", "ledger", "doctor") if name in dir(fabriclab)]
)
def test_figures_and_ledger_leave_pyplot_alone(name):
    """pyplot keeps every figure alive and picks a window system: a hundred figures later the kernel
    is full.
    """
    assert "pyplot" not in loaded_after(f"from fabriclab import {name}")
