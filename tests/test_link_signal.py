"""Level 1, line codes: the exact error ratios and the eye, against simulated bits, closed forms and
published values.
"""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabriclab import link
from fabriclab.link import NRZ, PAM4
from fabriclab.units import GBd, Gbps


def simulate(code, snr_db, symbols, seed):
    """Share of bits wrong when random bits are sent as levels with Gaussian noise and read back as
    the nearest level.
    """
    rng = np.random.default_rng(seed)
    table = {"NRZ": {(0,): -1, (1,): 1}, "PAM4": {(0, 0): -3, (0, 1): -1, (1, 1): 1, (1, 0): 3}}[
        code.name
    ]
    patterns, levels = np.array(list(table)), np.array(list(table.values()), dtype=float)
    bits = rng.integers(0, 2, size=(symbols, patterns.shape[1]))
    which = (bits[:, None, :] == patterns[None]).all(axis=2).argmax(axis=1)
    noise = math.sqrt(np.mean(levels**2) / 10 ** (snr_db / 10))
    heard = levels[which] + noise * rng.standard_normal(symbols)
    return float((patterns[np.abs(heard[:, None] - levels[None]).argmin(axis=1)] != bits).mean())


@pytest.mark.parametrize("code, snr_db", [(NRZ, 6), (NRZ, 9), (PAM4, 8), (PAM4, 12), (PAM4, 16)])
def test_error_ratio_is_what_simulated_bits_show(code, snr_db):
    """The exact expression would count levels, bits or noise differently from sending bits and
    reading them back.
    """
    symbols = 1_000_000
    expected = link.bit_error_ratio(snr_db, code)
    tolerance = 5 * math.sqrt(
        2 * expected / (symbols * code.bits)
    )  # a symbol may lose both its bits
    assert simulate(code, snr_db, symbols, seed=snr_db) == pytest.approx(expected, abs=tolerance)


@pytest.mark.parametrize("snr_db", [-10, 0, 10, 16, 20, 25, 30])
def test_error_ratio_from_an_integral(snr_db):
    """The closed form would not be the average over sent levels and heard levels of the bits
    between them.
    """
    with mpmath.workdps(40):
        d = mpmath.sqrt(mpmath.mpf(10) ** (mpmath.mpf(snr_db) / 10) / 5)
        gray, levels = [0b00, 0b01, 0b11, 0b10], [-3, -1, 1, 3]
        edges = [-mpmath.inf, -2, 0, 2, mpmath.inf]
        total = mpmath.mpf(0)
        for sent, level in enumerate(levels):
            for heard in range(4):
                # the tail form on either side, so that nothing cancels
                low, high = (edges[heard] - level) * d, (edges[heard + 1] - level) * d
                if low < 0:
                    low, high = -high, -low
                q = lambda x: mpmath.erfc(x / mpmath.sqrt(2)) / 2  # noqa: E731
                total += (q(low) - q(high)) * bin(gray[sent] ^ gray[heard]).count("1")
        assert link.bit_error_ratio(snr_db, PAM4) == pytest.approx(float(total / 8), rel=1e-12)


def test_published_error_ratios():
    """The signal-to-noise convention would be another one: average power over noise, 16 and 20 dB
    (project's references).
    """
    assert link.bit_error_ratio(16, PAM4) == pytest.approx(1.7912181e-3, rel=1e-7)
    assert link.bit_error_ratio(16, NRZ) == pytest.approx(1.3990278e-10, rel=1e-7)
    assert link.bit_error_ratio(20, PAM4) == pytest.approx(2.9040812e-6, rel=1e-7)


def test_rates_of_the_standard():
    """A lane's symbol rate would not be IEEE 802.3's: 26.5625 GBd at 50G, 53.125 at 100G, 25.78125
    for 25G NRZ with KR4.
    """
    assert link.symbol_rate(50 * Gbps) / GBd == 26.5625
    assert link.symbol_rate(100 * Gbps) / GBd == 53.125
    assert link.symbol_rate(25 * Gbps, NRZ, link.KR4) / GBd == 25.78125
    assert link.symbol_rate(100 * Gbps, NRZ) == 2 * link.symbol_rate(100 * Gbps, PAM4)


def test_the_three_penalties():
    """One of the three would be another: 9.542 equal peak, 6.990 equal power, 4.771 optical; all 0
    for two levels.
    """
    assert (
        round(link.peak_penalty(), 3),
        round(link.power_penalty(), 3),
        round(link.optical_penalty(), 3),
    ) == (9.542, 6.99, 4.771)
    assert link.peak_penalty(2) == link.power_penalty(2) == link.optical_penalty(2) == 0


def test_power_penalty_is_the_gap_between_the_curves():
    """The named penalty would not be what the error curves show far down, but for PAM4's 3/4 in
    front.
    """
    assert link.snr_for(0.75e-200, PAM4) - link.snr_for(1e-200, NRZ) == pytest.approx(
        link.power_penalty(), abs=1e-6
    )


@given(st.floats(-20, 40), st.floats(0.01, 5), st.sampled_from([NRZ, PAM4]))
def test_more_signal_fewer_errors(snr_db, more, code):
    """A better signal would err more often, or the ratio leave 0 to one half."""
    assert (
        0 <= link.bit_error_ratio(snr_db + more, code) <= link.bit_error_ratio(snr_db, code) <= 0.5
    )


@given(st.floats(-200, math.log10(0.3)), st.sampled_from([NRZ, PAM4]))
def test_snr_for_inverts(exponent, code):
    """The signal-to-noise ratio asked for would not give the error ratio it was asked for."""
    ber = 10**exponent
    assert link.bit_error_ratio(link.snr_for(ber, code), code) == pytest.approx(ber, rel=1e-6)


@pytest.mark.parametrize("code, snr_db", [(NRZ, 8), (PAM4, 13)])
def test_the_eyes_errors_are_the_exact_ones(code, snr_db):
    """The waveform's noise or decisions would not be those of the formula where the channel is wide
    open.
    """
    seen = link.eye(code, snr_db, bandwidth=5, symbols=400_000, samples=4, seed=3).ber
    expected = link.bit_error_ratio(snr_db, code)
    assert seen == pytest.approx(expected, abs=5 * math.sqrt(2 * expected / (400_000 * code.bits)))


@pytest.mark.parametrize("bandwidth", [0.3, 0.4, 0.5, 0.75, 1.0])
def test_noiseless_eye_against_peak_distortion(bandwidth):
    """The wave would not be the sum of its pulses: without noise the worst eye closes by what all
    neighbours together add.
    """
    pulse = lambda t: mpmath.erf((t + 0.5) / s) / 2 - mpmath.erf((t - 0.5) / s) / 2  # noqa: E731
    s = mpmath.sqrt(2 * mpmath.log(2)) / (2 * mpmath.pi * bandwidth)
    neighbours = 2 * sum(pulse(k) for k in range(1, 5))
    for code, gap in ((NRZ, 2.0), (PAM4, 2 / 3)):
        worst = float(gap * pulse(0) - 2 * neighbours)
        height = link.eye(code, 100, bandwidth, symbols=30_000, samples=4).height
        assert (
            worst - 1e-4 <= height <= worst + 0.02
        )  # the very worst neighbourhood may not be drawn


def test_pulses_add_up_to_a_steady_level():
    """The channel would not pass direct current: pulses one symbol apart must sum to 1 at any
    moment.
    """
    for bandwidth in (0.2, 0.5, 2.0):
        times = np.linspace(-0.5, 0.5, 11)
        assert sum(link.pulse(times + k, bandwidth) for k in range(-6, 7)) == pytest.approx(
            np.ones(11), abs=1e-12
        )


def test_pulse_is_3_db_down_at_its_bandwidth():
    """The bandwidth would be something else than the 3 dB point: by Fourier transform of the pulse,
    divided by a square one's.
    """
    time = np.arange(-20, 20, 1 / 64)
    for f in (0.3, 0.5, 0.8):
        spectrum = abs(np.sum(link.pulse(time, f) * np.exp(-2j * np.pi * f * time))) / 64
        assert 20 * math.log10(spectrum / np.sinc(f)) == pytest.approx(
            -10 * math.log10(2), abs=1e-6
        )


def test_shape_and_geometry_of_an_eye():
    """A trace would be cut at the wrong place: its middle must be the decided sample, and
    neighbours must share their halves.
    """
    eye = link.eye(PAM4, 30, 0.6, symbols=300, samples=16, seed=5)
    assert eye.traces.shape == (300, 33) and eye.time[16] == 0 and eye.time[0] == -1
    assert np.array_equal(eye.traces[:-1, 16:], eye.traces[1:, :17])
    low, high = (
        eye.traces[:, 16][eye.traces[:, 16] < eye.thresholds[0]],
        eye.traces[:, 16][eye.traces[:, 16] > eye.thresholds[0]],
    )
    assert (
        eye.openings[0] == pytest.approx(high.min() - low.max())
        and eye.height == eye.openings.min()
    )


def test_thresholds_and_seam():
    """Thresholds would not follow levels that the channel has shrunk, or the first and last symbol
    miss their neighbours.
    """
    eye = link.eye(PAM4, 100, 0.3, symbols=16, samples=8)
    assert eye.thresholds == pytest.approx(np.array([-2 / 3, 0, 2 / 3]) * link.pulse(0, 0.3))
    assert np.mean(eye.traces[:, 8]) == pytest.approx(
        0, abs=1e-4
    )  # equal shares of levels, and pulses that lose nothing


def test_noise_has_the_power_asked_for():
    """Noise after the receiver's filter would be weaker or stronger than the signal-to-noise ratio
    says.
    """
    for bandwidth in (0.3, 0.75, 3.0):
        noisy, clean = (
            link.eye(NRZ, snr, bandwidth, symbols=50_000, samples=8, seed=2).traces[:, 8]
            for snr in (10, 100)
        )
        assert np.var(noisy - clean) == pytest.approx(0.1, rel=0.05)


def test_seeds():
    """The same seed would give another wave, or another seed the same."""
    assert np.array_equal(link.eye(seed=4).traces, link.eye(seed=4).traces)
    assert not np.array_equal(link.eye(seed=4).traces, link.eye(seed=5).traces)


@settings(max_examples=20, deadline=None)
@given(
    st.floats(0, 40),
    st.floats(0.2, 10),
    st.sampled_from([NRZ, PAM4]),
    st.integers(16, 200),
    st.integers(2, 20),
)
def test_any_eye_is_finite(snr_db, bandwidth, code, symbols, half):
    """Some slider position would give a NaN, a missing eye, or errors outside 0 to 1."""
    eye = link.eye(code, snr_db, bandwidth, symbols, 2 * half)
    assert (
        np.isfinite(eye.traces).all()
        and len(eye.openings) == len(code.levels) - 1
        and 0 <= eye.ber <= 1
    )


@pytest.mark.parametrize(
    "call, name",
    [
        (lambda: link.bit_error_ratio(math.nan), "snr_db"),
        (lambda: link.bit_error_ratio("16 dB"), "snr_db"),
        (lambda: link.snr_for(0.6), "ber"),
        (lambda: link.snr_for(0), "ber"),
        (lambda: link.symbol_rate(0), "lane_rate"),
        (lambda: link.peak_penalty(1), "levels"),
        (lambda: link.power_penalty(3.5), "levels"),
        (lambda: link.eye(snr_db=[10, 20]), "snr_db"),
        (lambda: link.eye(bandwidth=0), "bandwidth"),
        (lambda: link.eye(symbols=3), "symbols"),
        (lambda: link.eye(symbols=10**12), "symbols"),
        (lambda: link.eye(samples=7), "samples"),
        (lambda: link.eye(seed=-1), "seed"),
    ],
)
def test_bad_input_is_named(call, name):
    """Nonsense would come back as a number, or as an error that does not say which argument it
    means.
    """
    with pytest.raises(ValueError, match=name):
        call()


def test_a_code_of_eight_levels_by_simulation():
    """Eight levels would be given PAM4's ratio of errors, or their own would not be what noise on
    Gray-coded levels makes.
    """
    pam8 = link.LineCode("PAM8", 3, (0, 1, 3, 2, 6, 7, 5, 4))
    rng, symbols, snr_db = np.random.default_rng(4), 400_000, 18.0
    sent = rng.integers(0, 8, symbols)
    sigma = math.sqrt(pam8.power / 10 ** (snr_db / 10))
    seen = pam8.levels[sent] + sigma * rng.standard_normal(symbols)
    decided = np.clip(np.rint((seen + 1) / 2 * 7), 0, 7).astype(int)
    gray = np.array(pam8.gray)
    wrong = np.bitwise_count((gray[sent] ^ gray[decided]).astype(np.uint8)).sum() / (3 * symbols)
    exact = link.bit_error_ratio(snr_db, pam8)
    assert wrong == pytest.approx(exact, rel=0.02)
    assert exact > 5 * link.bit_error_ratio(snr_db, link.PAM4)
    assert link.bit_error_ratio(link.snr_for(1e-5, pam8), pam8) == pytest.approx(1e-5)
    assert link.eye_error_ratio(18.0, pam8, 100) == pytest.approx(exact)


def test_many_signal_to_noise_ratios_at_once():
    """An array of ratios would come back as one number, the mean of all."""
    snrs = np.array([[14.0, 16.0], [18.0, 20.0]])
    many = link.eye_error_ratio(snrs, bandwidth=0.5)
    assert many.shape == (2, 2)
    assert many[1, 0] == pytest.approx(link.eye_error_ratio(18.0, bandwidth=0.5), rel=1e-12)


@pytest.mark.parametrize("code", ["PAM4", 4, None, (0, 1, 3, 2)])
def test_a_name_in_place_of_a_code_is_refused_by_name(code):
    """The slip a student makes first, bit_error_ratio(16, "PAM4"), would be an AttributeError."""
    for call in (
        lambda: link.bit_error_ratio(16, code),
        lambda: link.snr_for(1e-4, code),
        lambda: link.eye(code),
        lambda: link.symbol_rate(1e9, code),
    ):
        with pytest.raises(ValueError, match="^code must be a LineCode, such as PAM4, not"):
            call()
    for bits, gray in ((2, (0, 1, 3, 3)), (2, (0, 1)), (9, range(512)), (1.5, (0, 1, 3, 2))):
        with pytest.raises(ValueError, match="^(gray|bits) must"):
            link.LineCode("none", bits, gray)
