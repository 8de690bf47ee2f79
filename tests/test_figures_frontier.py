"""Figures beyond the levels: watts, tiers, energies and a pool's bill are the models' numbers, in
view and in the clear.
"""

import numpy as np
import pytest
from drawn import assert_clear

from fabriclab import catalog, link
from fabriclab.course.engine import plot
from fabriclab.course.frontier import figures as drawings

ROWS = [
    ("the text", link.optical_dividend(128)),
    ("a maker's modules", link.optical_dividend(128, 9, 10)),
    ("1.6 Tb/s", link.optical_dividend(64, 30, 9)),
]
DRAWINGS = {
    "dividend": lambda ax: drawings.dividend(ax, ROWS),
    "tiers": lambda ax: drawings.tiers(ax, 10_000, 64),
    "tiers, least": lambda ax: drawings.tiers(ax, 128, 512),
    "tiers, most": lambda ax: drawings.tiers(ax, 1_000_000, 32),
    "energy": drawings.energy,
    "pool": drawings.pool,
}


@pytest.fixture
def fresh():
    return plot.new(7.8)


@pytest.mark.parametrize("name", DRAWINGS)
def test_words_keep_clear_and_can_be_read_from_the_last_row(name, fresh):
    """A label lies on another or leaves the picture, a legend hides a curve, or type is set below
    11 points.
    """
    figure, axes = fresh
    DRAWINGS[name](axes)
    assert_clear(figure)


def test_bars_are_a_switchs_watts(fresh):
    """A bar is not 128 x 20 or 10 W, 9 W modules against 10 W engines, or 64 ports of 30 and 9 W;
    or it wears another's label.
    """
    artists = DRAWINGS["dividend"](fresh[1])
    assert [bar.get_width() for bar in artists["pluggable"]] == [2560, 1152, 1920] and [
        bar.get_width() for bar in artists["copackaged"]
    ] == [1280, 1280, 576]
    assert [label.get_text() for label in artists["labels"]] == [
        "2.56 kW",
        "1.15 kW",
        "1.92 kW",
        "1.28 kW",
        "1.28 kW",
        "576 W",
    ]
    places = [
        bar.get_y() + bar.get_height() / 2
        for name in ("pluggable", "copackaged")
        for bar in artists[name]
    ]
    assert [label.get_position()[1] for label in artists["labels"]] == pytest.approx(places)
    assert [tick.get_text() for tick in fresh[1].get_yticklabels()] == [label for label, _ in ROWS]


def test_staircases_step_where_a_tier_is_full(fresh):
    """A step is not at k, k^2/2 or k^3/4 hosts, or not two transceivers high."""
    artists = DRAWINGS["tiers"](fresh[1])
    for radix, line in zip(drawings.RADICES, artists["steps"]):
        hosts, ends = line.get_data()
        for full, tiers in ((radix, 1), (radix**2 // 2, 2), (radix**3 // 4, 3)):
            inside = ends[(hosts <= full) & (hosts > full / 1.5)]
            assert inside.size == 0 or inside[-1] == 2 * (tiers - 1)
    assert (
        artists["dot"][0].get_xydata().tolist() == [[10_000, 4]]
        and artists["label"][0].get_text() == "64 ports: 3 tiers"
    )
    drawings.move_tiers(artists, 256, 512)
    assert (
        artists["dot"][0].get_xydata().tolist() == [[256, 0]]
        and artists["label"][0].get_text() == "512 ports: one switch"
    )


def test_energy_has_each_module_at_its_reach(fresh):
    """A module is drawn with another's watts, or copper not at the text's 7 to 10 pJ over 2 to 3 m
    and 15 to 20 over 1 to 1.5.
    """
    artists = DRAWINGS["energy"](fresh[1])
    boxes = [(*p.get_xy(), p.get_width(), p.get_height()) for p in artists["copper"]]
    np.testing.assert_allclose(boxes, [(2, 7e-12, 1, 3e-12), (1, 15e-12, 0.5, 5e-12)])
    drawn = [tuple(line.get_xydata()[0]) for line in artists["light"]]
    assert drawn == [(m.reach, pytest.approx(m.watts / (8 * m.rate))) for m in catalog.MODULES]
    by_hand = {
        "400G pluggable, chapter": 50,
        "400G co-packaged engine, chapter": 25,
        "400G DR4": 22.5,
        "1.6T pluggable": 18.75,
        "1.6T co-packaged engine": 5.625,
    }
    assert {
        m.name: 1e12 * y for m, (_, y) in zip(catalog.MODULES, drawn) if m.name in by_hand
    } == pytest.approx(by_hand)


def test_a_pools_lines_are_its_bill(fresh):
    """Loads do not rise in a straight line to the ratio of latencies, or the stream is not fastest
    at the share of its bandwidth.
    """
    artists = DRAWINGS["pool"](fresh[1])
    for line, latency in zip(artists["loads"], (165, 270)):
        share, ratio = line.get_data()
        np.testing.assert_allclose(ratio, 1 + share * (latency / 85 - 1))
    share, ratio = artists["stream"][0].get_data()
    assert share[ratio.argmin()] == pytest.approx(64 / 364, abs=0.005) and ratio[
        -1
    ] == pytest.approx(300 / 64, rel=1e-3)
