"""The optics explorer: picture and words follow the models wherever the controls stand."""

import re

import numpy as np
import pytest

from fabriclab import units
from fabriclab.course.frontier import explorers


def watts(text):
    return [
        units.read(f"{value} {unit}").value
        for value, unit in re.findall(r"([\d.]+) ([kMG]?W)\b", text)
    ]


def assert_is_the_model(explorer):
    at = explorer.values
    radix, tiers = round(at["capacity"] / at["port"]), 1
    while 2 * (radix / 2) ** tiers < at["hosts"]:
        tiers += 1
    links = at["hosts"] * (tiers - 1)
    first, second, third = explorer.readout.splitlines()
    words = "one switch" if tiers == 1 else f"{tiers} tiers"
    assert (
        first
        == f"{radix} ports a switch: {words}, {links:,} links on fibre, {2 * links:,} transceivers."
    )
    before, after = 2 * links * at["pluggable"], 2 * links * at["copackaged"]
    said = watts(second)
    assert said[:2] == [pytest.approx(before, rel=6e-4), pytest.approx(after, rel=6e-4)]
    if before > after:
        assert "saved" in second and said[2] == pytest.approx(before - after, rel=6e-4)
        assert int(re.search(r"for ([\d,]+) H100", second)[1].replace(",", "")) == pytest.approx(
            (before - after) / 1275, abs=0.51
        )
    elif before < after:
        assert "more" in second and said[2] == pytest.approx(after - before, rel=6e-4)
    else:
        assert "nothing saved" in second
    energies = [float(text) for text in re.findall(r"([\d.]+) pJ", third)]
    assert energies == pytest.approx(
        [1e12 * at[name] / (8 * at["port"]) for name in ("pluggable", "copackaged")], rel=6e-3
    )
    chosen, dot, label = explorer.artists
    assert dot.get_xydata().tolist() == [[at["hosts"], 2 * (tiers - 1)]]
    # the dot stands on the line
    across, ends = chosen.get_data()
    assert ends[np.searchsorted(across, at["hosts"])] == 2 * (tiers - 1)
    assert label.get_text() == f"{radix} ports: {words}"


MAKERS, CHECKS = {"optics": explorers.optics}, {"optics": assert_is_the_model}


def test_it_opens_on_the_chapters_numbers():
    """What a reader sees first is not the text's case: 10,000 GPUs under 64 ports, 20 and 10 W."""
    explorer = explorers.optics()
    assert repr(explorer).splitlines() == [
        "64 ports a switch: 3 tiers, 20,000 links on fibre, 40,000 transceivers.",
        "Pluggable 800 kW, co-packaged 400 kW: 400 kW saved, enough for 314 H100 in whole nodes.",
        "Energy a bit and end: 50 pJ plugged in, 25 pJ in the package.",
    ]
    assert_is_the_model(explorer)
