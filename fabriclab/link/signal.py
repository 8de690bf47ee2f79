"""Line codes on a noisy wire: levels, symbol rates, bit error ratios, and the eye a receiver sees.

NRZ sends one bit a symbol on two levels, PAM4 two bits on four. Levels are evenly spaced from -1 to
+1 and Gray coded, so that a slip to the neighbouring level costs one bit. Signal-to-noise is
average signal power over noise variance at the moment of decision, in dB; with `d` half the spacing
of levels over the noise's standard deviation it is d^2 for NRZ and 5 d^2 for PAM4.

Sources: Proakis and Salehi, Digital Communications, on PAM; IEEE 802.3 clauses 94 and 120 on PAM4.
"""

from dataclasses import dataclass

import numpy as np
from scipy import special

from fabriclab.checks import (
    Values,
    broadcastable,
    count,
    each,
    instance,
    number,
    positive,
    scalar,
    scalar_or_array,
)
from fabriclab.link.fec import KP4, ReedSolomon


@dataclass(frozen=True)
class LineCode:
    """A line code of 2^bits levels; `gray[i]` is the bit pattern the i-th level from below stands
    for, each pattern once.

    Up to 8 bits a symbol.

    >>> LineCode("PAM8", 3, (0, 1, 3, 2, 6, 7, 5, 4)).levels.size
    8
    """

    name: str
    bits: int
    gray: tuple

    def __post_init__(self):
        instance("name", self.name, str, "'PAM8'")
        bits = scalar("bits", number("bits", self.bits, 1, 8, whole=True))
        patterns = tuple(each("gray", self.gray))
        last = 2 ** int(bits) - 1
        if sorted(map(repr, patterns)) != sorted(map(repr, range(last + 1))):
            raise ValueError(
                f"gray must hold each pattern from 0 to {last} once, not {self.gray!r:.60}"
            )
        object.__setattr__(self, "bits", int(bits))
        object.__setattr__(self, "gray", patterns)

    @property
    def levels(self):
        """The levels, evenly spaced from -1 to +1."""
        return np.linspace(-1.0, 1.0, len(self.gray))

    @property
    def power(self):
        """Mean square of the levels, all equally likely: 1 for NRZ, 5/9 for PAM4."""
        return float(np.mean(self.levels**2))


NRZ = LineCode("NRZ", 1, (0b0, 0b1))
PAM4 = LineCode("PAM4", 2, (0b00, 0b01, 0b11, 0b10))


def _coded(code):
    return instance("code", code, LineCode, "PAM4")


def symbol_rate(lane_rate: Values, code: LineCode = PAM4, fec: ReedSolomon | None = KP4) -> Values:
    """Symbols per second (Bd) on a lane that carries `lane_rate` bytes per second of data: ``line
    rate in bits / bits a symbol``.

    The line rate includes `fec`'s parity and 256b/257b transcoding; None sends the data bare.

    >>> from fabriclab.units import GBd, Gbps
    >>> symbol_rate(100 * Gbps) / GBd, symbol_rate(50 * Gbps) / GBd, symbol_rate(25 * Gbps, NRZ,
    ...     None) / GBd
    (53.125, 26.5625, 25.0)
    """
    rate = positive("lane_rate", lane_rate)
    if fec is not None:
        rate = instance("fec", fec, ReedSolomon, "KP4").line_rate(rate)
    return scalar_or_array(8 * rate / _coded(code).bits)


def _wrong_bits(code, chance_beyond):
    """Mean share of wrong bits: each threshold passed away from the level sent makes so many bits
    more wrong; `chance_beyond` gives the chance to pass, from level and threshold.
    """
    gray, total = np.array(code.gray), 0.0
    for level in range(gray.size):
        wrong = np.bitwise_count((gray ^ gray[level]).astype(np.uint8)).astype(float)
        for place in range(gray.size - 1):
            away = 1 if place >= level else -1
            total += away * (wrong[place + 1] - wrong[place]) * chance_beyond(level, place, away)
    return total / (code.bits * gray.size)


def bit_error_ratio(snr_db: Values, code: LineCode = PAM4) -> Values:
    """Exact bit error ratio in Gaussian noise at `snr_db` decibels of average signal over noise
    power.

    The mean over all levels and thresholds of the chance to land beyond, times the bits that it
    makes wrong. NRZ: ``Q(d)``, SNR = d^2. Gray-coded PAM4: ``3/4 Q(d) + 1/2 Q(3d) - 1/4 Q(5d)``,
    SNR = 5 d^2. Any `LineCode` may be given. `snr_db` from -100 to 100; a number or an array.
    Raises ValueError outside. Source: Cho and Yoon, IEEE Trans. Commun. 50(7), 2002.

    Other words: BER, bit error rate, signal to noise ratio (SNR), noise, Q function.

    >>> f"{bit_error_ratio(16, PAM4):.7e}", f"{bit_error_ratio(16, NRZ):.7e}"
    ('1.7912181e-03', '1.3990278e-10')
    """
    levels = _coded(code).levels
    sigma = np.sqrt(code.power / 10 ** (np.asarray(number("snr_db", snr_db, -100, 100)) / 10))
    thresholds = (levels[1:] + levels[:-1]) / 2
    return scalar_or_array(
        _wrong_bits(
            code,
            lambda level, place, away: special.ndtr(
                away * (levels[level] - thresholds[place]) / sigma
            ),
        )
    )


def snr_for(ber: Values, code: LineCode = PAM4) -> Values:
    """The signal-to-noise ratio in dB at which `code` errs at `ber`: the inverse of
    `bit_error_ratio`, found by halving.

    `ber` from 1e-300 to 0.4, and no more than `code` has without any signal. Raises ValueError
    outside.

    Other words: signal to noise ratio that a BER needs.

    >>> round(snr_for(2.4e-4), 2), round(snr_for(2.4e-4, NRZ), 2)
    (17.66, 10.86)
    """
    wanted = np.asarray(number("ber", ber, 1e-300, 0.4))
    low, high = np.full(wanted.shape, -100.0), np.full(wanted.shape, 100.0)
    for _ in range(60):
        middle = (low + high) / 2
        noisy = np.asarray(bit_error_ratio(middle, code)) > wanted
        low, high = np.where(noisy, middle, low), np.where(noisy, high, middle)
    return scalar_or_array((low + high) / 2)


def peak_penalty(levels: Values = 4) -> Values:
    """dB of SNR lost against two levels in the same peak-to-peak swing: ``20 log10(levels - 1)``.

    The eye is one third as tall, 1/3 in amplitude: the penalty of a driver that is limited in
    volts.

    >>> round(peak_penalty(), 3)
    9.542
    """
    return scalar_or_array(20 * np.log10(count("levels", levels, least=2) - 1))


def power_penalty(levels: Values = 4) -> Values:
    """dB of SNR lost against two levels at the same average power: ``10 log10((levels^2 - 1)/3)``,
    10 log10 5 for PAM4.

    The gap between the curves of `bit_error_ratio`, but for the counting of bits.

    >>> round(power_penalty(), 3)
    6.99
    """
    return scalar_or_array(10 * np.log10((count("levels", levels, least=2) ** 2 - 1) / 3))


def optical_penalty(levels: Values = 4) -> Values:
    """dB of optical power lost against two levels of the same modulation amplitude: ``10
    log10(levels - 1)``.

    A photodiode's current follows the optical power, so a third of the amplitude is a third of the
    power: half of `peak_penalty`'s decibels for the same eye.

    >>> round(optical_penalty(), 3)
    4.771
    """
    return scalar_or_array(10 * np.log10(count("levels", levels, least=2) - 1))


@dataclass(frozen=True)
class Eye:
    """What an oscilloscope would show, and what the receiver made of it; amplitudes in units where
    the levels span -1 to +1.

    `time` in symbols, from -1 to 1 with the decision at 0; `traces` one row per symbol, the wave
    from the symbol before to the one after; `thresholds` between neighbouring levels; `openings`
    the inner height of each eye at the decision, from the lowest sample above to the highest below
    (negative: closed); `wrong` how many bits of each symbol were decided wrong, `ber` their share.
    """

    time: np.ndarray
    traces: np.ndarray
    thresholds: np.ndarray
    openings: np.ndarray
    wrong: np.ndarray
    ber: float

    @property
    def height(self):
        """The opening of the worst eye."""
        return float(self.openings.min())


# symbols either way that a pulse is followed: at the narrowest bandwidth allowed the rest is below
# 1e-9
_REACH = 4


def pulse(time: Values, bandwidth: Values) -> Values:
    """One symbol of height 1 after a Gaussian channel: ``Phi((t + 1/2)/s) - Phi((t - 1/2)/s)``, ``s
    = sqrt(ln 2)/(2 pi f)``.

    `time` in symbols; `bandwidth` f is where the channel is 3 dB down, as a share of the symbol
    rate (0.2 or more). A smooth, symmetric stand-in for the fourth-order Bessel-Thomson response
    that IEEE 802.3 measures eyes through.

    >>> round(pulse(0, 0.75), 4), round(pulse(1, 0.75), 4)
    (0.9953, 0.0023)
    """
    time, bandwidth = number("time", time), number("bandwidth", bandwidth, 0.2, 100)
    broadcastable(time=time, bandwidth=bandwidth)
    spread = np.sqrt(np.log(2)) / (2 * np.pi * bandwidth)
    return scalar_or_array(
        special.ndtr((time + 0.5) / spread) - special.ndtr((time - 0.5) / spread)
    )


def eye(
    code: LineCode = PAM4,
    snr_db: Values = 22.0,
    bandwidth: Values = 0.75,
    symbols: Values = 2000,
    samples: Values = 32,
    seed: Values = 1,
) -> Eye:
    """An `Eye` of `symbols` random symbols through a Gaussian channel, with noise that the
    receiver's filter has shaped.

    `code` is a `LineCode`. `snr_db` is average power of the levels as sent over noise variance;
    `bandwidth` the channel's 3 dB point as a share of the symbol rate (0.2 to 100): below about 0.5
    neighbours smear into each other. `samples` (even) per symbol. Levels are drawn as equal shares
    in shuffled order, so every eye is there. Decisions are made in mid-symbol against thresholds
    midway between the levels as received. The same `seed` gives the same wave. At most 2^22
    samples. Raises ValueError for anything else.

    Other words: eye diagram, eye opening, PAM4, NRZ, inter-symbol interference.

    >>> clean = eye(NRZ, snr_db=100, bandwidth=100)
    >>> round(clean.height, 3), clean.ber
    (2.0, 0.0)
    >>> round(eye(PAM4, snr_db=100, bandwidth=100).height, 3)  # a third
    0.667
    """
    code = _coded(code)
    snr = 10 ** (scalar("snr_db", number("snr_db", snr_db, -100, 100)) / 10)
    bandwidth = scalar("bandwidth", number("bandwidth", bandwidth, 0.2, 100))
    symbols = int(scalar("symbols", count("symbols", symbols, least=16)))
    samples = int(scalar("samples", count("samples", samples, least=4)))
    seed = scalar("seed", count("seed", seed, least=0))
    if samples % 2 or symbols * samples > 2**22:
        raise ValueError(
            f"samples must be even, and symbols times samples at most 2^22, not {samples} and"
            f" {symbols}"
        )
    rng = np.random.default_rng(int(seed))
    sent = rng.permutation(np.arange(symbols) % len(code.gray))

    # the wave, symbol by symbol: each sample is the sum of the pulses within reach
    phase = np.arange(samples) / samples - 0.5
    offsets = np.arange(-_REACH, _REACH + 1)
    shape = pulse(phase[None, :] - offsets[:, None], bandwidth)
    padded = np.pad(code.levels[sent], _REACH, mode="wrap")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * _REACH + 1)
    wave = (windows @ shape).ravel() + np.sqrt(code.power / snr) * _shaped_noise(
        rng, symbols * samples, samples, bandwidth
    )

    # the wave is a ring: traces of the first and last symbol run across its seam
    rows = np.pad(wave, samples // 2, mode="wrap")
    rows = np.append(rows, rows[samples])
    traces = np.lib.stride_tricks.sliding_window_view(rows, 2 * samples + 1)[::samples]
    middle = wave.reshape(symbols, samples)[:, samples // 2]
    received = code.levels * pulse(0.0, bandwidth)
    thresholds = (received[1:] + received[:-1]) / 2
    decided = np.searchsorted(thresholds, middle)
    gray = np.array(code.gray)
    wrong = np.bitwise_count((gray[sent] ^ gray[decided]).astype(np.uint8))
    of_level = [middle[sent == level] for level in range(len(gray))]
    openings = np.array([upper.min() - lower.max() for lower, upper in zip(of_level, of_level[1:])])
    return Eye(
        np.linspace(-1, 1, 2 * samples + 1),
        traces,
        thresholds,
        openings,
        wrong,
        float(wrong.sum() / (symbols * code.bits)),
    )


def eye_error_ratio(snr_db: Values, code: LineCode = PAM4, bandwidth: Values = 0.75) -> Values:
    """Exact bit error ratio of `eye`'s receiver: noise, and the neighbours that a narrow channel
    smears into a symbol.

    The mean, over all levels of three neighbours either way, of the chance to land beyond each
    threshold: ``Q((t - x)/sigma)``.
    `snr_db` is a number or an array, `bandwidth` one number; `code` of up to 8 levels. On a wide
    channel it is `bit_error_ratio`.

    >>> f"{bit_error_ratio(18, PAM4):.4e}", *(
    ...     f"{eye_error_ratio(18, PAM4, wide):.4e}" for wide in (100, 0.5))
    ('1.4318e-04', '1.4318e-04', '5.5698e-04')
    """
    if len(_coded(code).gray) > 8:
        raise ValueError(f"code must have at most 8 levels here, not {len(code.gray)}")
    snr = 10 ** (np.asarray(number("snr_db", snr_db, -100, 100)) / 10)
    shape = pulse(np.arange(4), scalar("bandwidth", number("bandwidth", bandwidth, 0.2, 100)))
    around = np.zeros(1)
    for height in np.repeat(shape[1:], 2):
        around = np.add.outer(around, height * code.levels).ravel()
    received = code.levels * shape[0]
    thresholds = (received[1:] + received[:-1]) / 2

    def errors(sigma):
        return _wrong_bits(
            code,
            lambda level, place, away: special.ndtr(
                away * (received[level] + around - thresholds[place]) / sigma
            ).mean(),
        )

    sigmas = np.sqrt(code.power / snr)
    return scalar_or_array(np.reshape([errors(sigma) for sigma in sigmas.ravel()], sigmas.shape))


def _shaped_noise(rng, size, samples, bandwidth):
    """Gaussian noise of variance 1 through the channel's own response, as a ring, so that its two
    ends meet.
    """
    frequency = np.fft.rfftfreq(size, d=1 / samples)
    response = np.exp(-np.log(2) / 2 * (frequency / bandwidth) ** 2)
    energy = response**2
    energy[1:] *= 2  # every line but the first (and, for an even size, the last) stands for a pair
    if size % 2 == 0:
        energy[-1] /= 2
    white = np.fft.rfft(rng.standard_normal(size))
    return np.fft.irfft(white * response, size) * np.sqrt(size / energy.sum())
