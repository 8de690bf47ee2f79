"""Figures of the field guide: tiers, generations, hours without a failure and NCCL's settings are
the numbers, in view and in the clear.
"""

import math

import numpy as np
import pytest
from drawn import assert_clear

from fabriclab import catalog, nccl
from fabriclab.course.engine import plot
from fabriclab.course.guide import figures as drawings
from fabriclab.units import GB, KB, MB, TB, Gbps

PLAIN, ONE, TCP = (
    nccl.settings(e) for e in ({}, {"NCCL_IB_HCA": "mlx5_0"}, {"NCCL_IB_DISABLE": "1"})
)
RATES = {"field guide": 67.5, "Llama 3": 47.4}
DRAWINGS = {
    "bandwidth": lambda ax: drawings.ladder(ax, catalog.TIERS, "bandwidth"),
    "latency": lambda ax: drawings.ladder(ax, catalog.TIERS, "latency"),
    "generations": lambda ax: drawings.generations(ax, catalog.INFINIBAND, catalog.CONNECTX),
    "failure free": lambda ax: drawings.failure_free(ax, RATES),
    "settings": lambda ax: drawings.settings(
        ax, {"nothing set": PLAIN, "one adapter": ONE, "sockets": TCP}, 16
    ),
    "busbw": lambda ax: drawings.busbw(ax, 1 * GB, 16, ONE, PLAIN),
    "busbw, small": lambda ax: drawings.busbw(ax, 1 * KB, 1250, TCP, PLAIN),
    "busbw, large": lambda ax: drawings.busbw(ax, 100 * GB, 1, PLAIN, PLAIN),
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


def test_ladder_of_bandwidth(fresh):
    """A rung is not where the table has it, or the factor between two is not theirs (E-B1: 1.7 to
    4.4, none, 18 to 36).
    """
    artists = DRAWINGS["bandwidth"](fresh[1])
    spans = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in artists["bars"]]
    np.testing.assert_allclose(
        spans,
        [(3 * TB, 8 * TB), (1.8 * TB, 1.8 * TB), (1.8 * TB, 1.8 * TB), (50 * GB, 100 * GB)],
        rtol=0.05,
    )
    assert [f.get_text() for f in artists["factors"]] == [
        "1.7 to 4.4 times",
        "the same",
        "18 to 36 times",
    ]
    assert [label.get_text() for label in artists["labels"]] == [
        "3 TB/s to 8 TB/s",
        "1.8 TB/s, both ways",
        "1.8 TB/s, both ways",
        "50 GB/s to 100 GB/s",
        "not given",
    ]
    assert {f.get_color() for f in artists["factors"]} == {plot.COLOURS["bad"]}


def test_ladder_of_latency_and_a_rule_that_holds(fresh):
    """Latency's factors are wrong, or a step within the rule is shown as one outside it."""
    artists = DRAWINGS["latency"](fresh[1])
    assert [f.get_text() for f in artists["factors"]] == [
        "1.4 times",
        "3 to 5 times",
        "2,000 to 33,333 times",
    ]
    wide = drawings.ladder(plot.new()[1], catalog.TIERS, "latency", rule=(2, 6))
    assert [f.get_color() == plot.COLOURS["good"] for f in wide["factors"]] == [False, True, False]


def test_generations_stand_at_their_years(fresh):
    """A generation or an adapter is drawn at another year or rate, or a name is missing."""
    artists = DRAWINGS["generations"](fresh[1])
    four, one = artists["four lanes"][0], artists["one lane"][0]
    np.testing.assert_allclose(
        np.array(four.get_ydata()) / Gbps, [8, 16, 32, 54.545, 100, 200, 400, 800], rtol=1e-4
    )
    np.testing.assert_allclose(one.get_ydata(), np.array(four.get_ydata()) / 4)
    assert list(four.get_xdata()) == [2003, 2005, 2008, 2011, 2014, 2019, 2022, 2024]
    assert [tuple(line.get_xdata()) for line in artists["adapters"][::3]] == [
        (2016, 2017),
        (2016, 2020),
        (2021, 2022),
        (2024, 2024),
    ]
    words = [label.get_text() for label in artists["labels"]]
    assert words[:8] == ["SDR", "DDR", "QDR", "FDR", "EDR", "HDR", "NDR", "XDR"] and words[
        8:10
    ] == ["ConnectX-5, 100 Gb/s", "ConnectX-6, 200 Gb/s"]


def test_hours_without_a_failure(fresh):
    """A curve is not exp(-lambda n), or the marks do not say it: 67.5 a day of 100,000 leave 6.0 %
    of hours, of 10,000 75.5.
    """
    artists = DRAWINGS["failure free"](fresh[1])
    for count, line in zip(RATES.values(), artists["chances"]):
        fleets, chances = line.get_data()
        np.testing.assert_allclose(chances, np.exp(-count / 24 * fleets / 1e5), rtol=1e-9)
    assert [label.get_text() for label in artists["labels"]] == ["75.5%", "6.0%", "82.1%", "13.9%"]
    assert artists["marked"][1].get_data()[1][0] == pytest.approx(math.exp(-67.5 / 24))


def test_settings_are_the_model(fresh):
    """A line is not its settings' time, or another's label stands at it."""
    artists = DRAWINGS["settings"](fresh[1])
    for line, case in zip(artists["times"], (PLAIN, ONE, TCP), strict=True):
        sizes, times = line.get_data()
        np.testing.assert_allclose(
            times[::40],
            [nccl.allreduce_time(float(size), 16, case) for size in sizes[::40]],
            rtol=1e-9,
        )
    assert [line.get_label() for line in artists["times"]] == [
        "nothing set",
        "one adapter",
        "sockets",
    ]


def test_busbw_moves(fresh):
    """Moved, the curves, dots or words stay behind or change places."""
    artists = DRAWINGS["busbw"](fresh[1])
    assert [label.get_text() for label in artists["labels"]] == ["386 GB/s", "49.4 GB/s"]
    drawings.move_busbw(artists, 1 * MB, 4, TCP, PLAIN)
    for name, case in (("plain", PLAIN), ("chosen", TCP)):
        sizes, rates = artists[name][0].get_data()
        np.testing.assert_allclose(
            rates, [nccl.busbw(float(size), 4, case) for size in sizes], rtol=1e-9
        )
        assert artists[f"{name} dot"][0].get_data() == ([1 * MB], [nccl.busbw(1 * MB, 4, case)])
