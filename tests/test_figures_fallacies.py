"""Figures and explorer of the fallacies: savings, tests and counters are the models' numbers, in
view and in the clear.
"""

import re

import numpy as np
import pytest
from drawn import assert_clear
from explored import assert_fits, move, near, quantities, set_all
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabriclab import transport
from fabriclab.course.engine import plot
from fabriclab.course.fallacies import explorers
from fabriclab.course.fallacies import figures as drawings
from fabriclab.units import GB, KB, MB, Gbps, us

SEEN = [("ib_write_bw", 400 * Gbps, 390 * Gbps), ("iperf", 400 * Gbps, 30 * Gbps)]
DRAWINGS = {
    "upgrade": lambda ax: drawings.upgrade(ax, 10 * KB, 1.5 * us, 25 * GB, 2),
    "upgrade, large": lambda ax: drawings.upgrade(ax, 300 * MB, 1.5 * us, 25 * GB, 16),
    "upgrade, one byte": lambda ax: drawings.upgrade(ax, 1, 1.5 * us, 25 * GB, 2),
    "iperf": lambda ax: drawings.iperf(ax, 64 * KB, 4 * us, 5 * GB, SEEN),
    "early": drawings.early,
}


@pytest.fixture
def fresh():
    return plot.new(7.6)


@pytest.mark.parametrize("name", DRAWINGS)
def test_words_keep_clear_and_can_be_read_from_the_last_row(name, fresh):
    """A label lies on another or leaves the picture, a legend hides a curve, or type is set below
    11 points.
    """
    figure, axes = fresh
    DRAWINGS[name](axes)
    assert_clear(figure)


def test_the_upgrade_is_two_transfers(fresh):
    """The curve is not 1 - T/T, the promise not 1 - 1/f, n* not where the two terms meet, or the
    dot says another size (R217).
    """
    artists = DRAWINGS["upgrade"](fresh[1])
    size, saved = artists["saved"][0].get_data()
    np.testing.assert_allclose(
        saved, 1 - (1.5e-6 + size / 50e9) / (1.5e-6 + size / 25e9), atol=1e-12
    )
    assert list(artists["promised"][0].get_ydata()) == [0.5, 0.5] and artists["n*"][0].get_xdata()[
        0
    ] == pytest.approx(37.5 * KB)
    assert (
        artists["dot"][0].get_xydata()[0] == pytest.approx([1e4, 1 - 1.70 / 1.90])
        and artists["label"][0].get_text() == "10.5%"
    )


def test_a_tcp_test_stops_at_the_core(fresh):
    """The TCP curve goes on with the link, or stops elsewhere than at a core's 64 KB in 4 us and
    12.8 us of copying.
    """
    artists = DRAWINGS["iperf"](fresh[1])
    rate, tcp = artists["tcp"][0].get_data()
    np.testing.assert_allclose(tcp, np.minimum(rate, 64e3 / (4e-6 + 64e3 / 5e9)))
    np.testing.assert_array_equal(artists["rdma"][0].get_data()[1], rate)
    assert [line.get_xydata().tolist() for line in artists["seen"]] == [
        [[50e9, 48.75e9]],
        [[50e9, 3.75e9]],
    ]
    assert [label.get_text() for label in artists["labels"]] == [
        "ib_write_bw: 390 Gb/s",
        "iperf: 30 Gb/s",
    ]


def test_counters_speak_long_before_a_codeword_is_lost(fresh):
    """Corrections are not 544 symbols x their error, losses not the binomial tail: 8.15e-13 of a
    codeword at 2.4e-4.
    """
    artists = DRAWINGS["early"](fresh[1])
    a_day = 425e9 / 5440 * 86_400  # codewords of 5,440 bits
    ratio, corrected = artists["corrected"][0].get_data()
    np.testing.assert_allclose(corrected, a_day * 544 * (1 - (1 - ratio) ** 10), rtol=1e-4)
    ratio, lost = artists["lost"][0].get_data()
    assert np.interp(np.log(2.4e-4), np.log(ratio), np.log(lost)) == pytest.approx(
        np.log(a_day * 8.1515734e-13), abs=0.05
    )
    assert artists["corrected"][1].get_xydata()[0] == pytest.approx(
        [1e-6, a_day * 5440e-6], rel=1e-4
    )


def assert_is_the_model(explorer):
    at = explorer.values
    before, after = (
        at["alpha"] + at["size"] / rate for rate in (at["beta"], at["beta"] * at["faster"])
    )
    first, second = explorer.readout.splitlines()
    said = quantities(first)
    assert near(said[0], at["size"]) and near(said[1], before) and near(said[2], after)
    saved, promised = (float(text) for text in re.findall(r"([\d.]+)%", first))
    assert saved == pytest.approx(
        100 * (1 - after / before), abs=0.051
    ) and promised == pytest.approx(100 * (1 - 1 / at["faster"]), abs=0.051)
    half, most = quantities(second)
    assert half.value == pytest.approx(
        at["alpha"] * at["beta"], rel=6e-3
    ) and most.value == pytest.approx(9 * at["alpha"] * at["beta"], rel=6e-3)
    for share, size in ((0.5, at["alpha"] * at["beta"]), (0.9, 9 * at["alpha"] * at["beta"])):
        assert transport.time_saved(size, at["alpha"], at["beta"], at["faster"]) == pytest.approx(
            share * (1 - 1 / at["faster"])
        )
    lines = {line.get_label(): line for line in explorer.figure.axes[0].lines}
    size, curve = lines["saved"].get_data()
    np.testing.assert_allclose(
        curve,
        1 - (at["alpha"] + size / at["beta"] / at["faster"]) / (at["alpha"] + size / at["beta"]),
        atol=1e-12,
    )


def test_the_explorer_opens_on_the_texts_numbers():
    """What a reader sees first is not the text's case: 10 KB, 1.90 and 1.70 us, 10.5 %."""
    explorer = explorers.upgrade()
    assert (
        explorer.readout.splitlines()[0]
        == "10 KB: 1.9 us before, 1.7 us after: 10.5% saved, 50.0% promised."
    )
    assert_is_the_model(explorer)


@pytest.mark.parametrize("control", ["size", "alpha", "beta", "faster"])
def test_every_control_moves_picture_and_words(control):
    """A control does nothing that a reader can see, or what it shows is not what the formula
    gives.
    """
    explorer = explorers.upgrade()
    frame, readout = explorer.frame, explorer.readout
    move(explorer.controls[control], 1)
    assert explorer.error is None and explorer.readout != readout and explorer.frame != frame
    assert_is_the_model(explorer)


ONE = explorers.upgrade()


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(
    places=st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0])), min_size=4, max_size=4)
)
def test_whatever_the_controls_say_the_picture_is_the_model(places):
    """Somewhere a number is wrong, words collide or outgrow the picture, or the frame is not what a
    fresh drawing gives.
    """
    set_all(ONE, places)
    assert ONE.error is None
    assert_is_the_model(ONE)
    assert_fits(ONE)
