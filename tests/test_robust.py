"""The kit where it is not at home: other Pythons, odd folders, no display (`make test-all`)."""

import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ("3.11", "3.12", "3.13")
NOTEBOOK = "notebooks/01-bandwidth-cliff.ipynb"
COPIED = ("fabriclab", "notebooks", "tools", "README.md", "pyproject.toml")
RUN = """
import sys, nbformat, nbclient
book = nbformat.read(sys.argv[1], 4)
nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": sys.argv[2]}}).execute()
"""
MODELS = """
from fabriclab import collectives, topology, transport
assert transport.crossover(1.5e-6, 50e9) == 75e3
assert topology.fat_tree(8).hosts == 128
assert round(collectives.ring_allreduce(6e9, 1024, 1.5e-6, 50e9), 4) == 0.2428
"""

pytestmark = pytest.mark.slow


def copy(target):
    """The kit copied to `target`, without what make made."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            skip = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
            shutil.copytree(source, target / name, ignore=skip)
        else:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target / name)
    return target


def run(code, *arguments, root=ROOT, python=sys.executable, flags=(), **variables):
    """Run `code` with the kit at `root`; what it said, if it failed."""
    variables = os.environ | {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"} | variables
    command = [str(python), *flags, "-c", code, *map(str, arguments)]
    done = subprocess.run(
        command, cwd=root, env=variables, capture_output=True, text=True, timeout=400
    )
    return "" if done.returncode == 0 else (done.stderr or done.stdout)[-2000:]


def environment(version, folder):
    """The Python of a new environment of this version with numpy and scipy alone."""
    python, pyenv = shutil.which(f"python{version}"), os.environ | {"PYENV_VERSION": version}
    if not python or subprocess.run([python, "-V"], env=pyenv, capture_output=True).returncode:
        pytest.skip(f"no Python {version} on this machine")
    subprocess.run([python, "-m", "venv", folder], env=pyenv, check=True)
    inside = folder / "bin" / "python"
    install = [inside, "-m", "pip", "install", "--quiet", "numpy", "scipy"]
    if subprocess.run(install, capture_output=True).returncode:
        pytest.skip("numpy and scipy could not be installed (no network?)")
    return inside


@pytest.mark.parametrize("version", PYTHONS)
def test_models_on_each_python(version, tmp_path):
    """A reader with another Python than ours would not get the models to work."""
    assert run(MODELS, python=environment(version, tmp_path / "env")) == ""


def test_folder_with_spaces_and_chinese_letters(tmp_path):
    """A student who unpacks the kit into such a folder could not run a notebook."""
    root = copy(tmp_path / "my 网络 课程")
    assert run(RUN, root / NOTEBOOK, root / "notebooks", root=root) == ""


def test_read_only_checkout(tmp_path):
    """On a shared disk that cannot be written, a notebook would fail."""
    root = copy(tmp_path / "kit")
    before = _state(root)
    for path in [*root.rglob("*"), root]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        assert run(RUN, root / NOTEBOOK, root / "notebooks", root=root) == ""
        assert _state(root) == before  # root may write where others may not
    finally:
        for path in [root, *(path for path in root.rglob("*") if path.is_dir())]:
            path.chmod(0o755)


def _state(root):
    return {path: path.stat().st_mtime_ns for path in root.rglob("*")}


def test_two_kernels_at_once():
    """Two notebooks open side by side would trip over each other."""
    books = [ROOT / NOTEBOOK, ROOT / "notebooks" / "10-scale-up.ipynb"]
    with ThreadPoolExecutor(2) as both:
        told = both.map(lambda book: run(RUN, book, book.parent), books)
        assert list(told) == ["", ""]


def test_no_display():
    """On a server without a screen the figures would not be drawn."""
    code = "from fabriclab.course.transport import explorers; assert explorers.crossover().readout"
    assert run(code, DISPLAY="", WAYLAND_DISPLAY="") == ""


def test_warnings_are_errors():
    """A warning of our own would greet a reader, and break with the next version of a package."""
    assert run(MODELS, flags=("-W", "error")) == ""
    code = "import fabriclab.course.transport.explorers, fabriclab.logs, fabriclab.classroom"
    # what other packages warn of on import is not ours to mend
    assert run(f"import ipywidgets, matplotlib\n{code}", flags=("-W", "error:::fabriclab")) == ""


@pytest.mark.parametrize("version", ("0.0.9", "9.9.0"))
def test_notebook_and_package_of_different_versions(version, tmp_path):
    """A notebook older or newer than the package would fail in the middle instead of saying at once
    what does not match and what to do.
    """
    root = copy(tmp_path / "kit")
    module = root / "fabriclab" / "__init__.py"
    text, count = re.subn('__version__ = ".*"', f'__version__ = "{version}"', module.read_text())
    module.write_text(text)
    cells = json.loads((root / NOTEBOOK).read_text(encoding="utf-8"))["cells"]
    first = next("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    done = subprocess.run(
        [sys.executable, "-c", first], cwd=root, capture_output=True, text=True, timeout=60
    )
    assert count == 1 and done.returncode == 0, done.stderr
    assert version.rsplit(".", 1)[0] in done.stdout and "make setup" in done.stdout
