"""Figures of sharing: areas are the shares, strips are the rates in time,
bars are the completions.
"""

import numpy as np
import pytest
from drawn import assert_clear

from fabriclab import cluster
from fabriclab.course.engine import plot
from fabriclab.course.sharing import figures as drawings
from fabriclab.units import GB, Gbps, ms

PORT = 400 * Gbps
TENANTS = ["training", "serving", "data"]
LINKS = cluster.isolation(12 * GB, 100 * GB, PORT, start=60 * ms)
TIMES = {"one lane": 3.9e-3, "two lanes": 1.25e-3, "strict": 1e-3}
DRAWINGS = {
    "shares": lambda ax: drawings.shares(
        ax, TENANTS, np.array([400, 30, 400]) * Gbps, PORT, [8, 1, 1]
    ),
    "shares, capped": lambda ax: drawings.shares(
        ax, TENANTS, np.array([400, 30, 400]) * Gbps, PORT, 1, np.array([100, np.inf, 150]) * Gbps
    ),
    "shares, eight": lambda ax: drawings.shares(
        ax, [f"VF {k}" for k in range(8)], np.full(8, PORT), PORT, caps=PORT / 8
    ),
    "isolation": lambda ax: drawings.isolation(ax, LINKS, PORT),
    "isolation, no burst": lambda ax: drawings.isolation(
        ax, cluster.isolation(12 * GB, 0, PORT), PORT
    ),
    "completions": lambda ax: drawings.completions(
        ax, TIMES, 1e-3, {"one lane": 1.3e-3, "two lanes": 1.25e-3, "strict": 1e-3}
    ),
    "completions, no fluid": lambda ax: drawings.completions(ax, TIMES, 1e-3),
}


@pytest.fixture
def fresh():
    return plot.new(7.8, 4.2)


@pytest.mark.parametrize("name", DRAWINGS)
def test_words_keep_clear_and_can_be_read_from_the_last_row(name, fresh):
    """A label lies on another or leaves the picture, a legend hides a curve, or type is set below
    11 points.
    """
    figure, axes = fresh
    DRAWINGS[name](axes)
    assert_clear(figure)


def boxes(collection):
    """(left, right, bottom, top) of each box of a collection."""
    corners = [path.vertices for path in collection.get_paths()]
    return np.array([(c[:, 0].min(), c[:, 0].max(), c[:, 1].min(), c[:, 1].max()) for c in corners])


def test_areas_are_the_shares(fresh):
    """Water stands higher in one open vessel than in another, above what is wanted or capped, or an
    area is no tenant's rate.
    """
    demands, weights, caps = (
        np.array([400, 30, 400]),
        np.array([4, 1, 2]),
        np.array([np.inf, np.inf, 90]),
    )
    artists = drawings.shares(fresh[1], TENANTS, demands * Gbps, PORT, weights, caps * Gbps)
    water, wanted = boxes(artists["water"][0]), boxes(artists["wanted"][0])
    # by hand: data is held at 90, serving has its 30, training the rest; 70 a unit of weight is the
    # level
    areas = (water[:, 1] - water[:, 0]) * water[:, 3]
    np.testing.assert_allclose(areas / areas.sum(), np.array([280, 30, 90]) / 400)
    np.testing.assert_allclose(water[:, 3], [70, 30, 45])
    np.testing.assert_allclose(wanted[:, 3], [100, 30, 200])
    np.testing.assert_allclose(wanted[:, :2], water[:, :2])
    assert artists["level"][0].get_ydata() == pytest.approx([70, 70])
    (lid,) = artists["lids"][0].get_segments()
    np.testing.assert_allclose(lid, [[water[2, 0], 45], [water[2, 1], 45]])
    assert [label.get_text() for label in artists["labels"]] == [
        "training\n280 Gb/s",
        "serving\n30 Gb/s",
        "data\n90 Gb/s",
    ]
    assert (water[1:, 0] > water[:-1, 1]).all() and water[0, 0] > 0 and water[-1, 1] < 1
    drawings.move_shares(artists, TENANTS, np.array([10, 30, 40]) * Gbps, PORT)
    assert len(artists["level"][0].get_xdata()) == 0 and artists["lids"][0].get_segments() == []
    np.testing.assert_allclose(boxes(artists["water"][0])[:, 3], [10, 30, 40])


def test_strips_are_the_rates_in_time(fresh):
    """A strip shows another rule's rates, the words another time, or the axis ends before the
    slowest AllReduce.
    """
    artists = drawings.isolation(fresh[1], LINKS, PORT)
    named = dict(zip([text.get_text() for text in fresh[1].get_yticklabels()], range(4)))
    assert list(named) == list(LINKS)
    # by hand, in one lane: alone for 60 ms, 3 GB; then 9 GB at half rate, 360 ms; the burst then
    # alone until 2.24 s
    first, second = (boxes(artists[name][0]) for name in ("transfer", "burst"))
    np.testing.assert_allclose(first[:, :2], [[0, 0.06], [0.06, 0.42], [0.42, 2.24]])
    np.testing.assert_allclose(
        first[:, 3] - first[:, 2], drawings.STRIP * np.array([1, 0.5, 0]), atol=1e-12
    )
    np.testing.assert_allclose(
        second[:, 3] - second[:, 2], drawings.STRIP * np.array([0, 0.5, 1]), atol=1e-12
    )
    for rule, k in named.items():
        link = LINKS[rule]
        begin, end = np.array(link.edges[:-1]), np.array(link.edges[1:])
        for name, flow in (("transfer", 0), ("burst", 1)):
            drawn = boxes(artists[name][k])
            np.testing.assert_allclose(drawn[:, :2], np.column_stack([begin, end]))
            np.testing.assert_allclose(
                drawn[:, 3] - drawn[:, 2],
                drawings.STRIP * np.array(link.rates)[:, flow] / PORT,
                atol=1e-12,
            )
            assert (
                (drawn[:, 2] >= 3 - k - 1e-9) & (drawn[:, 3] <= 3 - k + drawings.STRIP + 1e-9)
            ).all()
    assert [label.get_text() for label in artists["labels"]] == [
        "AllReduce 420 ms (+75%), checkpoint done at 2.24 s",
        "AllReduce 300 ms (+25%), checkpoint done at 10.1 s",
        "AllReduce 285 ms (+19%), checkpoint done at 2.24 s",
        "AllReduce 240 ms (+0%), checkpoint done at 2.24 s",
    ]
    assert fresh[1].get_xlim()[1] > 0.42


def test_bars_are_the_completions(fresh):
    """A bar or a diamond stands at another rule, or is no multiple of the time alone."""
    artists = DRAWINGS["completions"](fresh[1])
    rows = dict(
        zip([text.get_text() for text in fresh[1].get_yticklabels()], fresh[1].get_yticks())
    )
    for name, bar, label in zip(TIMES, artists["bars"], artists["labels"], strict=True):
        assert bar.get_width() == pytest.approx(
            TIMES[name] / 1e-3
        ) and bar.get_y() + bar.get_height() / 2 == pytest.approx(rows[name])
        assert label.get_text() == f"{TIMES[name] / 1e-3:.2f}"
    at, where = artists["fluid"][0].get_data()
    np.testing.assert_allclose(at, [1.3, 1.25, 1])
    np.testing.assert_allclose(where, [rows[name] for name in TIMES])
