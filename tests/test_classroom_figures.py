"""Pictures of a class: bars are the counts, in view and in the clear, for one student and for a
thousand.
"""

import numpy as np
import pytest
from drawn import assert_clear

from fabriclab.classroom import figures as drawings
from fabriclab.course.engine import plot

LONG = [
    "One exercise",
    "The largest payload that hides behind compute, and then some more words",
    "Three",
]
SHARES = {
    "right": [0.2, 0.5, 1.0],
    "wrong": [0.3, 0.5, 0.0],
    "could not read": [0.1, 0.0, 0.0],
    "not attempted": [0.4, 0.0, 0.0],
}
DRAWINGS = {
    "points": lambda ax: drawings.distribution(ax, np.arange(300) % 18, 17),
    "points, one student": lambda ax: drawings.distribution(ax, [0], 7),
    "points, all right": lambda ax: drawings.distribution(ax, [7, 7], 7),
    "points, many exercises": lambda ax: drawings.distribution(ax, np.arange(1000) % 121, 120),
    "points, nothing to be had": lambda ax: drawings.distribution(ax, [0], 0),
    "outcomes": lambda ax: drawings.outcomes(ax, LONG, SHARES),
    "outcomes, fifteen": lambda ax: drawings.outcomes(
        ax, LONG * 5, {name: shares * 5 for name, shares in SHARES.items()}
    ),
    "outcomes, one": lambda ax: drawings.outcomes(
        ax, ["One"], {name: shares[:1] for name, shares in SHARES.items()}
    ),
    "slips": lambda ax: drawings.slips(ax, ["8x", *LONG], [12_345, 30, 2, 1]),
    "slips, one": lambda ax: drawings.slips(ax, ["8x"], [1]),
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_words_keep_clear_and_can_be_read_from_the_last_row(name):
    """A label lies on another or leaves the picture, a legend hides a curve, or type is set below
    11 points.
    """
    rows = {"outcomes, fifteen": 15, "outcomes": 3, "slips": 4}.get(name, 1)
    figure, axes = plot.new(7.2, 3.2 if name.startswith("points") else 1.3 + 0.34 * rows)
    DRAWINGS[name](axes)
    assert_clear(figure)


@pytest.mark.parametrize(
    "points, most", [([0, 3, 3, 7], 7), (list(range(121)) + [60], 120), ([0], 0)]
)
def test_every_student_stands_in_one_bar(points, most):
    """Somebody with no points, or with all, would stand in no bar, or the median would be
    another's.
    """
    figure, axes = plot.new()
    artists = drawings.distribution(axes, points, most)
    assert sum(bar.get_height() for bar in artists["bars"]) == len(points)
    for bar in artists["bars"]:
        middle, half = bar.get_x() + bar.get_width() / 2, bar.get_width() / 1.8
        assert bar.get_height() == sum(middle - half <= value <= middle + half for value in points)
    assert (
        artists["median"][0].get_xdata()[0] == np.median(points)
        and artists["labels"][0].get_text() == f"median {np.median(points):g}"
    )
    low, high = axes.get_xlim()
    assert low < min(points) and max(points) < high


def test_outcomes_fill_a_row_in_order():
    """A share would be drawn over another, or the rows stand in another order than the names."""
    artists = drawings.outcomes(plot.new()[1], LONG, SHARES)
    left = np.zeros(3)
    for name, bars in artists["bars"].items():
        np.testing.assert_allclose([bar.get_x() for bar in bars], left, atol=1e-12)
        np.testing.assert_allclose([bar.get_width() for bar in bars], SHARES[name])
        left += SHARES[name]
    np.testing.assert_allclose(left, 1)
    axes = artists["legend"].axes
    assert [text.get_text() for text in axes.get_yticklabels()][0] == LONG[
        0
    ] and axes.yaxis_inverted()


def test_slips_are_counted_at_the_bar():
    """A bar would be as long as another's count."""
    artists = drawings.slips(plot.new()[1], ["8x", "sign"], [1200, 3])
    assert [bar.get_width() for bar in artists["bars"]] == [1200, 3] and [
        label.get_text() for label in artists["labels"]
    ] == ["1,200", "3"]
