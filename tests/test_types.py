"""py.typed promises annotations: the models and the readers of logs keep that promise in full."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "fabriclab"
# the models and the readers of logs; the core of the packet simulator is numba's, which finds types
# itself, and what is left of the room takes its tables
FILES = [
    path.relative_to(PACKAGE).as_posix()
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.relative_to(PACKAGE).parts[0]
    not in ("course", "classroom", "packets", "__main__.py", "doctor.py", "find.py")
]


def unannotated(path):
    """The public functions of a file that lack a type, of an argument or of what they return."""
    for one in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(one, ast.FunctionDef) and not one.name.startswith("_"):
            given = one.args.posonlyargs + one.args.args + one.args.kwonlyargs
            if one.returns is None or any(each.annotation is None for each in given):
                yield one.name


@pytest.mark.parametrize("name", FILES)
def test_every_public_function_is_annotated(name):
    """An editor would show nothing for a function that lost its types."""
    assert [*unannotated(PACKAGE / name)] == []
