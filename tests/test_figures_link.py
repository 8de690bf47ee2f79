"""Figures of level 1: eyes, error ratios, budgets, reach and bills are the model's numbers, in view
and in the clear.
"""

import numpy as np
import pytest
from drawn import assert_clear
from matplotlib.colors import to_hex
from matplotlib.text import Text
from scipy import stats

from fabriclab import catalog, link
from fabriclab.course.engine import plot
from fabriclab.course.wires import figures as drawings
from fabriclab.units import Gbps, kW, ns

RATES = np.array([50, 100, 200]) * Gbps
COPPER = link.longest_cable(30, link.loss_per_metre(RATES), 2)
SPENT = {
    "50G lanes, 3 m": (18.0, 2.0),
    "100G lanes, 3 m": (27.0, 2.0),
    "200G lanes, 3 m": (40.0, 2.0),
    "100 m": (600.0, 2.0),
}
BILLS = {
    "one module a link": link.optics_bill(20_000, 500, 20, 1),
    "two modules a link": link.optics_bill(20_000, 500, 20),
}
SHARES = {"75 kW": link.power_shares(75 * kW, 1024), "150 kW": link.power_shares(150 * kW, 1024)}
OPEN, CLOSED = link.eye(link.PAM4, 22), link.eye(link.PAM4, 14, 0.4)
CODES, FECS = (link.NRZ, link.PAM4), (link.KP4, link.KR4)
DRAWINGS = {
    "eye, NRZ": lambda ax: drawings.eye(ax, link.eye(link.NRZ, 22), link.NRZ),
    "eye, PAM4": lambda ax: drawings.eye(ax, OPEN, link.PAM4),
    "eye, closed": lambda ax: drawings.eye(ax, CLOSED, link.PAM4),
    "waterfall": lambda ax: drawings.waterfall(ax, CODES, FECS, 8.1515734e-13),
    "codeword loss": lambda ax: drawings.codeword_loss(ax, FECS),
    "budget": lambda ax: drawings.budget(ax, SPENT, 30),
    "media": lambda ax: drawings.media(ax, catalog.MEDIA, 2.5, "AOC"),
    "reach": lambda ax: drawings.reach(ax, catalog.MEDIA, RATES, COPPER, catalog.COPPER_REACH),
    "FEC on the path": drawings.fec_path,
    "bill": lambda ax: drawings.bill(ax, BILLS),
    "shares": lambda ax: drawings.shares(ax, SHARES),
}


@pytest.fixture
def fresh():
    return plot.new()


@pytest.mark.parametrize("name", DRAWINGS)
def test_words_keep_clear_and_can_be_read_from_the_last_row(name):
    """A label lies on another or leaves the picture, a legend hides a curve, or type is set below
    11 points.
    """
    figure, axes = plot.new()
    DRAWINGS[name](axes)
    assert_clear(figure)


@pytest.mark.parametrize("name, curves", [("waterfall", "ratios"), ("codeword loss", "losses")])
def test_no_curve_runs_through_a_number(name, curves):
    """A number is struck through by a curve, or its background wipes a piece of one away."""
    figure, axes = plot.new()
    artists = DRAWINGS[name](axes)
    figure.canvas.draw()
    for label in artists["labels"]:
        box = Text.get_window_extent(label)
        for line in artists[curves]:
            assert not any(
                box.contains(*point) for point in line.get_transform().transform(line.get_xydata())
            )


def bars(artists):
    """(foot, top) of the openings drawn, by eye; None where there is none."""
    return [tuple(map(float, line.get_ydata())) or None for line in artists["openings"]]


@pytest.mark.parametrize(
    "code, snr, bandwidth",
    [(link.NRZ, 22, 0.75), (link.PAM4, 22, 0.75), (link.PAM4, 30, 0.5), (link.NRZ, 15, 0.45)],
)
def test_an_open_eye_is_marked_where_no_wave_passes(fresh, code, snr, bandwidth):
    """The bar in an eye is not as long as its opening, does not touch the waves around it, or lies
    across one.
    """
    seen = link.eye(code, snr, bandwidth)
    artists = drawings.eye(fresh[1], seen, code)
    middle = seen.traces[:, list(seen.time).index(0)]
    for number, (bar, opening, threshold) in enumerate(
        zip(bars(artists), seen.openings, seen.thresholds)
    ):
        assert opening > 0 and bar[1] - bar[0] == pytest.approx(opening)
        assert (
            bar[0] in middle
            and bar[1] in middle
            and not np.any((middle > bar[0]) & (middle < bar[1]))
        )
        assert bar[0] < threshold < bar[1]
        assert list(artists["thresholds"][number].get_xdata()) == [-1, 1] and list(
            artists["thresholds"][number].get_ydata()
        ) == [threshold, threshold]
        assert artists["heights"][number].get_text() == f"{opening:.2f}"
    assert bars(artists)[len(seen.openings) :] == [None] * (3 - len(seen.openings))


def test_the_waves_drawn_are_the_eyes_and_those_that_bound_it_are_among_them(fresh):
    """Another wave is drawn than the model's, or an opening is marked whose bounds cannot be
    seen.
    """
    artists = drawings.eye(fresh[1], OPEN, link.PAM4)
    drawn = np.array(artists["traces"][0].get_segments())
    assert len(drawn) >= drawings.TRACES
    rows = {row.tobytes() for row in OPEN.traces}
    for segment in drawn:
        np.testing.assert_array_equal(segment[:, 0], OPEN.time)
        assert np.ascontiguousarray(segment[:, 1]).tobytes() in rows
    middle = drawn[:, len(OPEN.time) // 2, 1]
    assert all(edge in middle for bar in bars(artists) for edge in bar)


def test_a_closed_eye_has_no_bar_and_says_so(fresh):
    """An eye with no room between its levels is still marked as open."""
    assert CLOSED.openings.max() < 0
    artists = drawings.eye(fresh[1], CLOSED, link.PAM4)
    assert (
        bars(artists) == [None] * 3
        and [label.get_text() for label in artists["heights"]] == ["closed"] * 3
    )


def test_levels_carry_their_gray_code(fresh):
    """The bits beside the levels are counted upwards instead of Gray coded, or stand at other
    levels.
    """
    labels = drawings.eye(fresh[1], OPEN, link.PAM4)["levels"]
    assert [(label.get_text(), label.get_position()[1]) for label in labels] == [
        ("00", -1),
        ("01", pytest.approx(-1 / 3)),
        ("11", pytest.approx(1 / 3)),
        ("10", 1),
    ]


def test_going_to_nrz_and_back_leaves_nothing_behind(fresh):
    """After PAM4 an NRZ eye keeps thresholds, bars or words of the eyes it does not have."""
    artists = drawings.eye(fresh[1], OPEN, link.PAM4)
    drawings.move_eye(artists, link.eye(link.NRZ, 22), link.NRZ)
    assert [len(line.get_xdata()) for line in artists["thresholds"]] == [2, 0, 0] and bars(artists)[
        1:
    ] == [None, None]
    assert [label.get_text() for label in artists["levels"]] == ["0", "1", "", ""] and [
        bool(label.get_text()) for label in artists["heights"]
    ] == [True, False, False]


def test_waterfalls_fall_as_q_functions_and_cross_the_limits_of_fec_where_marked(fresh):
    """A curve is not Q(d), a limit is not the published 2.4e-4, or a dot lies off its curve or its
    limit.
    """
    artists = DRAWINGS["waterfall"](fresh[1])
    nrz, pam4 = artists["ratios"]
    snr = 10 ** (np.asarray(nrz.get_xdata()) / 10)
    q = stats.norm.sf
    np.testing.assert_allclose(nrz.get_ydata(), q(np.sqrt(snr)), rtol=1e-9)
    d = np.sqrt(snr / 5)
    np.testing.assert_allclose(
        pam4.get_ydata(), (3 * q(d) + 2 * q(3 * d) - q(5 * d)) / 4, rtol=1e-9
    )
    # Anslow 2016 and REFERENCES: KP4 loses 8.15e-13 of its codewords at 2.4e-4; KR4 by the binomial
    # tail itself
    kp4, kr4 = (line.get_ydata()[0] for line in artists["thresholds"])
    assert kp4 == pytest.approx(2.4e-4, rel=1e-6)
    assert stats.binom.sf(7, 528, 1 - (1 - kr4) ** 10) == pytest.approx(8.1515734e-13, rel=1e-6)
    assert [label.get_text() for label in artists["labels"]] == [
        "KP4 copes to 2.4e-04",
        "KR4 copes to 2.2e-05",
        "10.9 dB",
        "17.7 dB",
    ]
    for dot, limit, curve in zip(artists["needed"], (kp4, kr4, kp4, kr4), (nrz, nrz, pam4, pam4)):
        assert dot.get_ydata()[0] == limit
        assert np.interp(
            dot.get_xdata()[0], curve.get_xdata(), np.log10(curve.get_ydata())
        ) == pytest.approx(np.log10(limit), abs=0.01)


def test_codeword_loss_is_the_binomial_tail_down_to_1e_40(fresh):
    """A curve is not the chance of more than t wrong symbols, breaks off where 1 - cdf would, or
    the limit is marked off it.
    """
    artists = DRAWINGS["codeword loss"](fresh[1])
    for line, n, t in zip(artists["losses"], (544, 528), (15, 7)):
        before, loss = line.get_data()
        tail = stats.binom.sf(t, n, 1 - (1 - before) ** 10)
        clear = tail > 1e-12
        assert clear.sum() > 50
        np.testing.assert_allclose(loss[clear], tail[clear], rtol=1e-6)
        # far down one term is the whole sum: C(n, t+1) (10 b)^(t+1)
        assert np.log10(loss[0]) == pytest.approx(
            np.log10(stats.binom.pmf(t + 1, n, 1e-5)), abs=0.01
        )
    assert artists["losses"][0].get_ydata().min() < 1e-40 and fresh[1].get_ylim()[
        0
    ] == pytest.approx(1e-40)
    assert [dot.get_xdata()[0] for dot in artists["marked"]] == [2.4e-4] * 2
    assert artists["marked"][0].get_ydata()[0] == pytest.approx(8.1515734e-13, rel=1e-6)
    assert [label.get_text() for label in artists["labels"]] == ["8.2e-13", "5.2e-05", "2.4e-04"]


def stack(artists, row):
    """(start, end) of each part of a budget's bar."""
    return {
        name: (
            artists[name][row].get_x(),
            artists[name][row].get_x() + artists[name][row].get_width(),
        )
        for name in ("cable", "connectors", "margin", "short")
    }


def test_a_budget_is_spent_in_order_and_what_is_missing_is_red(fresh):
    """The parts of a budget do not follow one another, a margin shows where none is left, or a lack
    is not drawn in red.
    """
    artists = drawings.budget(fresh[1], SPENT, 30)
    assert stack(artists, 0) == {
        "cable": (0, 18),
        "connectors": (18, 20),
        "margin": (20, 30),
        "short": (30, 30),
    }
    assert stack(artists, 1) == {
        "cable": (0, 27),
        "connectors": (27, 29),
        "margin": (29, 30),
        "short": (30, 30),
    }
    assert stack(artists, 2) == {
        "cable": (0, 30),
        "connectors": (30, 30),
        "margin": (30, 30),
        "short": (30, 42),
    }
    assert to_hex(artists["short"][2].get_facecolor()).upper() == plot.COLOURS["bad"]
    words = [name.get_text() for name in artists["names"]]
    assert words == [
        "50G lanes, 3 m: margin 10.0 dB",
        "100G lanes, 3 m: margin 1.0 dB",
        "200G lanes, 3 m: short by 12.0 dB",
        "100 m: short by 572.0 dB, off the scale",
    ]
    drawings.move_budget(artists, dict.fromkeys("abcd", (28.5, 3.0)), 30)
    assert stack(artists, 3) == {
        "cable": (0, 28.5),
        "connectors": (28.5, 30),
        "margin": (30, 30),
        "short": (30, 31.5),
    }


def test_media_that_reach_are_told_from_those_that_do_not(fresh):
    """A bar ends elsewhere than at its reach, a medium is called long enough that is not, or the
    wrong one is framed.
    """
    artists = drawings.media(fresh[1], catalog.MEDIA, 3.0, "DAC")
    assert [bar.get_x() + bar.get_width() for bar in artists["bars"]] == pytest.approx([3, 30, 100])
    assert [text.get_text() for text in artists["verdicts"]] == [
        "reaches 3 m",
        "reaches 30 m",
        "reaches 100 m",
    ]
    drawings.move_media(artists, catalog.MEDIA, 31.0, "AOC")
    assert [text.get_text() for text in artists["verdicts"]] == [
        "too short, 3 m",
        "too short, 30 m",
        "reaches 100 m",
    ]
    assert [to_hex(bar.get_facecolor()).upper() for bar in artists["bars"]] == [
        plot.COLOURS[role] for role in ("bad", "bad", "good")
    ]
    assert [bar.get_linewidth() for bar in artists["bars"]] == [0.5, 3, 0.5] and set(
        artists["metres"][0].get_xdata()
    ) == {31.0}
    # dollars and both ends' watts, as the catalogue has them
    assert [label.get_text() for label in fresh[1].get_yticklabels()] == [
        "DAC\n$50, 0 W a link",
        "AOC\n$500, 40 W a link",
        "pluggable optics\n$500, 40 W a link",
    ]


def test_reach_shows_every_claim_and_the_models_copper(fresh):
    """A claim is hidden behind another, ends elsewhere, or leaves its rate; or copper's line is not
    the model's.
    """
    artists = DRAWINGS["reach"](fresh[1])
    assert list(artists["copper"][0].get_xdata()) == list(RATES) and list(
        artists["copper"][0].get_ydata()
    ) == list(COPPER)
    ends = sorted(tuple(line.get_ydata()) for line in artists["claims"])
    assert ends == sorted((claim.least, claim.most) for claim in catalog.COPPER_REACH)
    places = [line.get_xdata()[0] for line in artists["claims"]]
    assert len(set(places)) == len(places)
    by_rate = sorted(claim.lane_rate for claim in catalog.COPPER_REACH)
    np.testing.assert_allclose(sorted(places), by_rate, rtol=0.25)
    assert [line.get_ydata()[0] for line in artists["media"]] == [3, 30, 100]


def test_the_path_through_fec_has_every_switch(fresh):
    """A three-tier path is drawn with the three switches of a two-tier one, or its bar is not
    switches times the latency of each.
    """
    artists = drawings.fec_path(fresh[1])
    assert len(artists["boxes"]) == (1 + 3 + 1) + (1 + 5 + 1)
    ends = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in artists["ranges"]]
    np.testing.assert_allclose(ends, [(300 * ns, 600 * ns), (500 * ns, 1000 * ns)])
    assert [text.get_text() for text in artists["labels"]] == [
        "2 tiers: 3 switches, 4 links",
        "300 ns to 600 ns",
        "3 tiers: 5 switches, 6 links",
        "500 ns to 1 us",
    ]


def test_bills_and_shares_are_as_long_as_their_watts(fresh):
    """Two modules a link are drawn like one, or a share stands on another base than its row
    says.
    """
    artists = drawings.bill(fresh[1], BILLS)
    assert [bar.get_width() for bar in artists["bars"]] == [400 * kW, 800 * kW]
    assert [label.get_text() for label in artists["labels"]][
        1
    ] == "two modules a link: 40,000 modules, 800 kW, $10 M"
    axes = plot.new()[1]
    bars = drawings.shares(axes, SHARES)["bars"]
    # 75 kW over 1,024 x 700 W; over that and 75 kW; over 128 nodes of 10.2 kW
    np.testing.assert_allclose(
        [bar.get_width() for bar in bars[0]], [75 / 716.8, 75 / 791.8, 75 / 1305.6]
    )
    np.testing.assert_allclose(
        [bar.get_width() for bar in bars[1]], [150 / 716.8, 150 / 866.8, 150 / 1305.6]
    )
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "the accelerators",
        "accelerators and network",
        "whole nodes",
    ]
