"""The eye and the link budget alive: waves, bars and words follow the models wherever the controls
stand.
"""

import re

import numpy as np
import pytest
from explored import move
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from scipy import stats

from fabriclab import link
from fabriclab.course.engine import plot
from fabriclab.course.wires import explorers
from fabriclab.units import Gbps

MAKERS = {"eye": explorers.eye, "budget": explorers.budget}


def exact(code, snr, bandwidth):
    """Share of wrong bits by trying every pair of neighbours on either side: the pulse smears no
    further on these channels.
    """
    spread = np.sqrt(np.log(2)) / (2 * np.pi * bandwidth)
    height = [
        stats.norm.cdf((k + 0.5) / spread) - stats.norm.cdf((k - 0.5) / spread) for k in range(3)
    ]
    levels = np.linspace(-1, 1, 2**code.bits)
    bits = {1: [0, 1], 2: [0b00, 0b01, 0b11, 0b10]}[code.bits]
    smear = sum(np.meshgrid(*(height[k] * levels for k in (1, 1, 2, 2)))).ravel()
    sigma = np.sqrt(np.mean(levels**2) / 10 ** (snr / 10))
    edges = height[0] * (levels[1:] + levels[:-1]) / 2
    wrong = 0.0
    for sent, level in enumerate(levels):
        seen = height[0] * level + smear
        for decided in range(len(levels)):
            low, high = ([-np.inf, *edges][decided], [*edges, np.inf][decided])
            if decided > sent:
                chance = stats.norm.sf(low, seen, sigma) - stats.norm.sf(high, seen, sigma)
            else:
                chance = stats.norm.cdf(high, seen, sigma) - stats.norm.cdf(low, seen, sigma)
            wrong += (bits[sent] ^ bits[decided]).bit_count() * chance.mean()
    return wrong / (code.bits * len(levels))


def said(words):
    """A printed probability as a number."""
    return {"below 1e-99": 0.0, "all": 1.0}.get(words) if words[0] in "ab" else float(words)


def assert_eye_is_the_model(explorer):
    code, snr, bandwidth = (explorer.values[name] for name in ("code", "snr", "bandwidth"))
    seen = link.eye(code, snr, bandwidth, 2048, 16)
    (waves,) = [artist for artist in explorer.artists if isinstance(artist, LineCollection)]
    for drawn, trace in zip(waves.get_segments(), seen.traces[:96]):
        np.testing.assert_array_equal(drawn, np.column_stack([seen.time, trace]))
    lengths = [
        line.get_ydata()[1] - line.get_ydata()[0]
        for line in explorer.figure.axes[0].lines
        if line.get_linewidth() == 6 and len(line.get_ydata())
    ]
    assert lengths == pytest.approx([opening for opening in seen.openings if opening > 0])
    first, second, third = explorer.readout.splitlines()
    assert first.startswith(f"{code.name}, {snr:g} dB, channel {bandwidth:.0%} of baud: worst eye ")
    if "closed" in first:
        assert seen.openings.min() <= 0
    else:
        assert float(re.search(r"worst eye ([\d.]+) of", first)[1]) == pytest.approx(
            seen.openings.min(), abs=0.00501
        )
    wrong, bits = re.search(r"; ([\d,]+) of ([\d,]+) bits wrong", first).groups()
    assert int(bits.replace(",", "")) == 2048 * code.bits
    assert int(wrong.replace(",", "")) == round(seen.ber * 2048 * code.bits)
    share, noise = map(
        said,
        re.match(
            r"Share of wrong bits, exactly: (.+); from noise alone, without smear: (.+)\.", second
        ).groups(),
    )
    truth = exact(code, snr, bandwidth)
    assert share == pytest.approx(truth, rel=0.06, abs=1e-99) and noise == pytest.approx(
        exact(code, snr, 100), rel=0.06, abs=1e-99
    )
    assert "lost: 1. " not in third  # reads as one codeword, and means all of them
    lost = said(re.match(r"After KP4, codewords lost: (.+?)\. (?:Within|Beyond)", third)[1])
    tail = stats.binom.sf(15, 544, -np.expm1(10 * np.log1p(-truth)))
    if tail > 1e-12:
        assert lost == pytest.approx(tail, rel=0.06)
    else:
        assert lost < 2e-12
    assert ("Within" in third) == (lost <= 1e-12)
    # what was counted agrees with what was computed, to within the luck of so few bits
    expected = 2048 * code.bits * truth
    assert (
        abs(round(seen.ber * 2048 * code.bits) - expected)
        <= 6 * np.sqrt(expected + 1) + 0.2 * expected
    )


def loss(lane_rate):
    """dB per metre by the chapter's cable: 6 at 50G, most of it as the square root of the rate, 12
    % in proportion.
    """
    ratio = lane_rate / (50 * Gbps)
    return 6 * (0.88 * np.sqrt(ratio) + 0.12 * ratio)


def assert_budget_is_the_model(explorer):
    rate, metres, connectors, medium = (
        explorer.values[name] for name in ("lane_rate", "metres", "connectors", "medium")
    )
    cable = loss(rate) * metres
    margin = 30 - cable - connectors
    above, below = explorer.figure.axes
    ends = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in above.patches]
    spent = [min(30, cable), min(30, cable + connectors)]
    expected = [
        (0, spent[0]),
        (spent[0], spent[1]),
        (spent[1], max(30, spent[1])),
        (30, 30 + max(0, -margin)),
    ]
    np.testing.assert_allclose(ends, expected, rtol=1e-9, atol=1e-9)
    assert to_hex(above.patches[3].get_facecolor()).upper() == plot.COLOURS["bad"]
    assert (above.patches[3].get_width() > 0) == (margin < 0)
    longest = (30 - connectors) / loss(rate)
    reaches = {"DAC": longest, "AOC": 30.0, "pluggable optics": 100.0}
    # drawn from the lowest row upwards
    for bar, (name, reach) in zip(
        (
            below.patches[::-1]
            if below.patches[0].get_y() < below.patches[-1].get_y()
            else below.patches
        ),
        reaches.items(),
    ):
        assert bar.get_x() + bar.get_width() == pytest.approx(reach)
        assert (
            to_hex(bar.get_facecolor()).upper()
            == plot.COLOURS["good" if metres <= reach else "bad"]
        )
        assert (bar.get_linewidth() == 3) == (name == medium)
    first, second, third = explorer.readout.splitlines()
    words = f"margin {margin:.1f} dB" if margin >= 0 else f"short by {-margin:.1f} dB"
    assert (
        first
        == f"Copper, {metres:g} m at {rate / Gbps:g} Gb/s: {cable:.1f} + {connectors:.1f} of 30 dB,"
        f" {words}; longest cable {longest:.3g} m."
    )
    price, watts, delay = {
        "DAC": ("$50", "0 W", 4.5e-9),
        "AOC": ("$500", "40 W", 5e-9),
        "pluggable optics": ("$500", "40 W", 5e-9),
    }[medium]
    assert second.startswith(f"{medium}: {price} and {watts} a link, ") and second.endswith(
        "it reaches." if metres <= reaches[medium] else "it does not reach."
    )
    number, unit = re.search(r"link, ([\d.]+) ([nu])s on the way", second).groups()
    assert float(number) * {"n": 1e-9, "u": 1e-6}[unit] == pytest.approx(delay * metres, rel=6e-3)
    enough = [name for name, reach in reaches.items() if metres <= reach]
    assert third == f"What reaches {metres:g} m: {', '.join(enough) or 'nothing in the table'}."


CHECKS = {"eye": assert_eye_is_the_model, "budget": assert_budget_is_the_model}


def test_the_budget_opens_on_the_chapters_link():
    """18 + 2 of 30 dB, a margin of 10, is not what a reader sees first."""
    explorer = explorers.budget()
    assert repr(explorer).splitlines() == [
        "Copper, 3 m at 50 Gb/s: 18.0 + 2.0 of 30 dB, margin 10.0 dB; longest cable 4.67 m.",
        "DAC: $50 and 0 W a link, 13.5 ns on the way; it reaches.",
        "What reaches 3 m: DAC, AOC, pluggable optics.",
    ]
    assert_budget_is_the_model(explorer)


def test_the_eye_opens_open():
    """The first eye a reader sees is closed, or its numbers are not the exact ones."""
    explorer = explorers.eye()
    assert repr(explorer).splitlines() == [
        "PAM4, 22 dB, channel 75% of baud: worst eye 0.28 of 0.67 open; 0 of 4,096 bits wrong.",
        "Share of wrong bits, exactly: 8.1e-09; from noise alone, without smear: 6.8e-09.",
        "After KP4, codewords lost: 7.4e-84. Within the 2.4e-04 it takes for one in 1e12.",
    ]
    assert_eye_is_the_model(explorer)


def test_a_cable_too_long_turns_the_bar_red():
    """A link that does not close looks as if it did."""
    explorer = explorers.budget()
    explorer.controls["metres"].value = 5.0
    assert (
        "short by 2.0 dB" in explorer.readout
        and "DAC: $50 and 0 W a link, 22.5 ns on the way; it does not reach." in explorer.readout
    )
    assert "What reaches 5 m: AOC, pluggable optics." in explorer.readout
    assert_budget_is_the_model(explorer)


def test_the_picture_does_not_flicker():
    """Coming back to the same place shows another noise."""
    explorer = explorers.eye()
    frame = explorer.frame
    move(explorer.controls["snr"], 1)
    move(explorer.controls["snr"], -1)
    same = explorer.frame == frame
    assert same


@pytest.mark.parametrize("code", [link.NRZ, link.PAM4])
@pytest.mark.parametrize("snr, bandwidth", [(-6, 0.5), (12, 0.5), (16, 0.35), (18, 100)])
def test_the_exact_error_ratio_of_an_eye_is_what_neighbours_and_noise_make_it(code, snr, bandwidth):
    """`link.eye_error_ratio` leaves out a neighbour, weighs a slip by the wrong bits, or is not
    what long simulations count.
    """
    ratio = link.eye_error_ratio(snr, code, bandwidth)
    assert ratio == pytest.approx(exact(code, snr, bandwidth), rel=1e-3)
    if ratio > 1e-3:
        counted = np.mean([link.eye(code, snr, bandwidth, 2**15, 4, seed).ber for seed in range(4)])
        assert counted == pytest.approx(ratio, rel=6 / np.sqrt(4 * 2**15 * code.bits * ratio))
