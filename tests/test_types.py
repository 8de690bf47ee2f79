"""py.typed promises annotations: the files listed here keep that promise in full."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "fabriclab"
# a file joins this list once every public function in it has its types
WHOLE = ["units.py", "link/fec.py", "cluster/pooling.py"]


def unannotated(path):
    """The public functions of a file that lack a type, of an argument or of what they return."""
    for one in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(one, ast.FunctionDef) and not one.name.startswith("_"):
            given = one.args.posonlyargs + one.args.args + one.args.kwonlyargs
            if one.returns is None or any(each.annotation is None for each in given):
                yield one.name


@pytest.mark.parametrize("name", WHOLE)
def test_every_public_function_is_annotated(name):
    """An editor would show nothing for a function that lost its types."""
    assert [*unannotated(PACKAGE / name)] == []
