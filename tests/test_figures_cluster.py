"""Figures of level 5: buckets in time, silent waste and a slow link are the models' numbers, in
view and in the clear.
"""

import numpy as np
import pytest
from drawn import assert_clear

from fabriclab import cluster
from fabriclab.course.cluster import figures as drawings
from fabriclab.course.engine import plot
from fabriclab.units import GB, KB, day, ms, us

STEP = cluster.bucketed_step(500 * ms, 5, [20 * ms, 150 * ms, 40 * ms, 10 * ms, 80 * ms])
NDR = (1024, 1.5 * us, 50 * GB)
DRAWINGS = {
    "buckets": lambda ax: drawings.buckets(ax, STEP),
    "buckets, many": lambda ax: drawings.buckets(ax, cluster.bucketed_step(500 * ms, 200, 1 * ms)),
    "buckets, one": lambda ax: drawings.buckets(ax, cluster.bucketed_step(50 * ms, 1, 3000 * ms)),
    "waste": lambda ax: drawings.waste(ax),
    "waste in hours": lambda ax: drawings.waste(ax, gpus=1024, seconds=30 * day),
    "slow link": lambda ax: drawings.slow_link(ax, 6 * GB, *NDR, 2),
    "slow link, small": lambda ax: drawings.slow_link(ax, 4 * KB, *NDR, 16),
}


@pytest.fixture
def fresh():
    return plot.new()


@pytest.mark.parametrize("name", DRAWINGS)
def test_words_keep_clear_and_can_be_read_from_the_last_row(name, fresh):
    """A label lies on another or leaves the picture, a legend hides a curve, or type is set below
    11 points.
    """
    figure, axes = fresh
    DRAWINGS[name](axes)
    assert_clear(figure)


def spans(collection):
    """(left, right) of each box of a collection."""
    return [
        (path.vertices[:, 0].min(), path.vertices[:, 0].max()) for path in collection.get_paths()
    ]


def test_buckets_stand_where_the_step_has_them(fresh):
    """An AllReduce starts too early or lasts too long, a tick is not where its bucket is ready, or
    other time is shaded.
    """
    artists = DRAWINGS["buckets"](fresh[1])
    # by hand: ready at 100, 200, 300, 400 and 500 ms; the second, 150 ms, holds up the third
    by_hand = [(100, 120), (200, 350), (350, 390), (400, 410), (500, 580)]
    np.testing.assert_allclose(spans(artists["allreduce"][0]), np.array(by_hand) * ms)
    np.testing.assert_allclose(
        [left for left, _ in spans(artists["ready"][0])], [0.1, 0.2, 0.3, 0.4, 0.5]
    )
    shaded, passing = artists["exposed"][0], artists["backward"][0]
    assert (shaded.get_x(), shaded.get_width()) == (0.5, pytest.approx(0.08)) and (
        passing.get_x(),
        passing.get_width(),
    ) == (0, 0.5)
    assert [label.get_text() for label in artists["labels"]] == ["backward 500 ms", "exposed 80 ms"]
    assert fresh[1].get_xlim()[1] >= 0.58
    drawings.move_buckets(artists, cluster.bucketed_step(1 * ms, 2, 100 * ms))
    assert len(spans(artists["allreduce"][0])) == 2 and [
        label.get_text() for label in artists["labels"]
    ] == ["", "exposed 200 ms"]


def test_waste_rises_with_the_share_and_the_band_is_the_texts(fresh):
    """A line is not f (1/(1-x) - 1), the unseen 2 to 3 % or the share of 18 to 27 % that it takes
    are elsewhere (R184).
    """
    artists = DRAWINGS["waste in hours"](fresh[1])
    for line, loss in zip(artists["lines"], (0.05, 0.1, 0.2, 0.5), strict=True):
        shares, longer = line.get_data()
        np.testing.assert_allclose(longer, (1 - shares) + shares / (1 - loss) - 1, atol=1e-12)
        assert line.get_label() == f"{round(100 * loss)}% less bandwidth"
    shares, longer = artists["lines"][1].get_data()
    band = artists["seen"][0].get_extents().transformed(fresh[1].transData.inverted())
    assert (band.y0, band.y1) == (pytest.approx(0.02), pytest.approx(0.03))
    assert np.interp([0.02, 0.03], longer, shares) == pytest.approx([0.18, 0.27])
    fresh[0].canvas.draw()
    # the right axis says hours of the run: 20 % of 737,280
    assert artists["hours"][0].get_ylim() == pytest.approx((0, 0.2 * 737_280))


def test_a_slow_link_is_drawn_beside_the_whole_ring(fresh):
    """A curve is not 2 (N-1) (alpha + s M/(N beta)), the two are swapped, or the dots and words are
    at another size.
    """
    artists = DRAWINGS["slow link"](fresh[1])
    for name, slowdown, shown in (("whole", 1, "242.8 ms"), ("slow", 2, "482.6 ms")):
        sizes, times = artists[name][0].get_data()
        np.testing.assert_allclose(
            times, 2 * 1023 * (1.5 * us + slowdown * sizes / 1024 / (50 * GB)), rtol=1e-12
        )
        (size,), (time,) = artists[f"{name} dot"][0].get_data()
        assert size == 6 * GB and time == pytest.approx(
            2 * 1023 * (1.5 * us + slowdown * 6e9 / 1024 / 5e10)
        )
        assert shown in [label.get_text() for label in artists["labels"]]
    assert [artists[name][0].get_label() for name in ("slow", "whole")] == [
        "one link slow",
        "all links whole",
    ]
    assert [label.get_text() for label in artists["labels"]] == ["482.6 ms", "242.8 ms"]
    drawings.move_slow_link(artists, 6 * GB, *NDR, 4)
    assert artists["labels"][0].get_text() == "962.1 ms"
