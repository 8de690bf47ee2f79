"""Figures of monitoring: a counter fills when 32 bits of words are sent, and a slow part paces as
the models say.
"""

import numpy as np
import pytest
from drawn import assert_clear

from fabriclab import cluster
from fabriclab.course.engine import plot
from fabriclab.course.monitoring import figures as drawings
from fabriclab.units import GB, MB, Gbps, us

JOB = (512, 1.5 * us, 48 * GB)
DRAWINGS = {
    "filling": lambda ax: drawings.filling(ax),
    "filling, other rates": lambda ax: drawings.filling(
        ax, [25 * Gbps, 200 * Gbps, 800 * Gbps], (5, 60)
    ),
    "slow part": lambda ax: drawings.slow_part(ax, 6 * GB, *JOB),
    "slow part, small": lambda ax: drawings.slow_part(ax, 1 * MB, *JOB),
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


def test_a_counter_is_full_when_its_words_are_sent(fresh):
    """The line is off by the 4 bytes of a word or the 8 bits of a byte, a dot or the band stands
    elsewhere.
    """
    artists = DRAWINGS["filling"](fresh[1])
    traffic, seconds = artists["line"][0].get_data()
    np.testing.assert_allclose(traffic * seconds, 4 * (2**32 - 1))
    np.testing.assert_allclose(artists["dots"][0].get_xdata(), [125e6, 1.25e9, 12.5e9, 50e9])
    fresh[0].canvas.draw()
    assert [label.get_text() for label in fresh[1].get_xticklabels()] == [
        "1 Gb/s",
        "10 Gb/s",
        "100 Gb/s",
        "400 Gb/s",
    ]
    # 17.18 GB at 50 GB/s
    assert (
        artists["dots"][0].get_ydata()[-1] == pytest.approx(0.3436, abs=1e-4)
        and artists["labels"][3].get_text() == "344 ms"
    )
    band = artists["polled"][0]
    assert (band.get_y(), band.get_y() + band.get_height()) == (10, 30)


def test_a_slow_part_paces_the_ring_and_a_port_but_not_one_edge(fresh):
    """For large buffers a ring or a port is not slower by what is lost, or an edge at half its
    bandwidth costs something.
    """
    artists = DRAWINGS["slow part"](fresh[1])
    for name, expected in (
        ("ring", lambda left: 1 / left),
        ("port", lambda left: 1 / left),
        ("edge", lambda left: np.maximum(1, 0.5 / left)),
    ):
        left, ratio = artists[name][0].get_data()
        np.testing.assert_allclose(ratio, expected(left), rtol=0.03)
    assert fresh[1].get_ylim()[1] > artists["port"][0].get_ydata().max()


def test_for_small_buffers_start_ups_decide(fresh):
    """At 1 MB a tree with a slow port is not far ahead of the whole ring, whose start-ups are a
    hundred times as many.
    """
    artists = DRAWINGS["slow part, small"](fresh[1])
    assert artists["port"][0].get_ydata()[
        np.argmin(abs(artists["port"][0].get_xdata() - 0.5))
    ] == pytest.approx(
        cluster.slow_trees(1 * MB, *JOB, 2) / cluster.slow_link(1 * MB, *JOB, 1), rel=0.02
    )
    assert artists["port"][0].get_ydata().max() < 0.5
