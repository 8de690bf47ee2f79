"""CONTRIBUTING's way to add a reader, followed: a table of a tool that is not there yet."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from fabriclab.logs.diagnose.causes import SIGNS
from fabriclab.logs.layout import Layout
from fabriclab.logs.sign import Sign, marked
from fabriclab.logs.source import name, refuse

ROOT = Path(__file__).parent.parent
TOOL = "fancounters"
LAYOUT = Layout(
    TOOL,
    begins={"head": "Fans of {host:word}:"},
    lines={"fan": "fan {fan:int}: {turns:count} rpm"},
    skip=("checked at {rest}",),
)
TEXT = "Fans of node7:\n  checked at noon\n  fan 0: 12,000 rpm\n\n  fan 1: 0 rpm\n"


@dataclass(frozen=True)
class Reading:
    path: str
    fans: tuple
    tool = TOOL


def read(path):
    fans = [found.values for found in LAYOUT.read(path) if found.form == "fan"]
    if not fans:
        refuse(path, 1, "no fan: no data")
    return Reading(name(path), tuple((fan["fan"], fan["turns"]) for fan in fans))


def signs(reading, rate=None):
    for fan, turns in reading.fans:
        if not turns:
            yield Sign("hot-module", f"fan {fan} stands")


def test_the_ten_lines_make_a_reader(tmp_path):
    """Who follows CONTRIBUTING would end with a reader that loses lines or tells nothing."""
    path = tmp_path / "fans.txt"
    path.write_text(TEXT)
    reading = read(path)
    assert reading.fans == ((0, 12000), (1, 0)) and re.match(LAYOUT.sign, TEXT.splitlines()[0])
    assert marked(signs(reading)) == ["  ! fan 1 stands"]
    assert all(sign.name in SIGNS for sign in signs(reading))
    path.write_text(TEXT.replace("fan 0: 12,000", "fan 0: x2,000"))
    with pytest.raises(ValueError, match="line 3: not a line of fancounters"):
        read(path)


@pytest.mark.parametrize("cut", range(0, len(TEXT) - 1, 3))
def test_a_cut_table_is_refused_or_shorter(tmp_path, cut):
    """A cut count would pass for a smaller one."""
    path = tmp_path / "fans.txt"
    path.write_text(TEXT[:cut])
    try:
        assert read(path).fans == ((0, 12000),)
    except ValueError as error:
        assert "fans.txt" in str(error)


def test_contributing_names_what_is_there():
    """A path or a name that was moved would send a newcomer astray."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    steps = text[text.index("Add a reader") :]
    named = re.findall(r"`(fabriclab/[\w/]+\.py)`", steps)
    assert len(named) >= 5 and "telemetry" not in steps
    for path in named:
        assert "TOOL" in path or (ROOT / path).is_file(), path
