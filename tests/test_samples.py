"""The kit's logs are found wherever one has started, and come with the package."""

import tomllib
from pathlib import Path

import pytest

from fabriclab import logs
from fabriclab.logs import diagnose, samples

ROOT = Path(__file__).resolve().parent.parent


def test_logs_are_read_from_any_folder_and_named_as_asked(tmp_path, monkeypatch):
    """A notebook run from another folder stops at its first log, or prints one machine's path."""
    monkeypatch.chdir(tmp_path)
    said = logs.report("logs/mlxlink_400g.txt")
    monkeypatch.chdir(ROOT / "notebooks")
    assert logs.report("logs/mlxlink_400g.txt") == said
    here = repr(diagnose.diagnose("incidents/03-cedar"))
    monkeypatch.chdir(tmp_path)
    assert repr(diagnose.diagnose("incidents/03-cedar")) == here


def test_a_file_of_ones_own_comes_first_and_no_other_is_made_up(tmp_path, monkeypatch):
    """The kit's sample is read in place of a reader's own log of that name, or of any other."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs").mkdir()
    own = tmp_path / "logs" / "mlxlink_400g.txt"
    own.write_text("not a log")
    assert samples.at("logs/mlxlink_400g.txt") == "logs/mlxlink_400g.txt"
    for name in ("logs/none.txt", "mlxlink_400g.txt", str(tmp_path / "x"), "../logs/x", "", "-"):
        assert samples.at(name) == name
    with pytest.raises(ValueError, match="logs/none.txt: cannot be opened"):
        logs.read("logs/none.txt")


def test_the_wheel_takes_every_sample_along():
    """A log or an incident is added and not listed, so that the package comes without it."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    taken = {
        path for globs in listed["data-files"].values() for one in globs for path in ROOT.glob(one)
    }
    there = {
        path
        for folder in samples.FOLDERS
        for path in (ROOT / "notebooks" / folder).rglob("*")
        if path.is_file()
    }
    assert taken == there
    for target, (one,) in listed["data-files"].items():
        assert target.removeprefix("share/fabriclab/") == one.removeprefix("notebooks/")[:-2]
