"""Reed-Solomon forward error correction: what gets through it, and what it costs in rate and time.

A code RS(n, k) sends n symbols for k of payload and corrects any t = (n - k)/2 wrong ones. A
codeword with more than t wrong symbols is lost. That probability is far below what ``1 - cdf`` can
hold in double precision (8e-13 at the limit of KP4, 1e-50 on a good link), so the tail itself is
summed, in logarithms.

Sources: IEEE 802.3 clauses 91 and 119 (RS(528,514), RS(544,514), 256b/257b transcoding, symbols
dealt to two codewords in turn); Anslow, IEEE P802.3cd, 2016.
"""

from dataclasses import dataclass

import numpy as np
from scipy import special

from fabriclab.checks import (
    Values,
    broadcastable,
    count,
    fraction,
    instance,
    nonnegative,
    number,
    positive,
    scalar,
    scalar_or_array,
)
from fabriclab.units import Gbps, ns


@dataclass(frozen=True)
class ReedSolomon:
    """The code RS(n, k) over symbols of `symbol_bits` bits.

    Other words: FEC, forward error correction, KP4, KR4, codeword, frame loss.

    >>> ReedSolomon(544, 514, 10).corrects
    15
    >>> KP4.corrects, round(KP4.overhead, 4), KP4.line_factor
    (15, 0.0584, 1.0625)
    """

    n: int
    k: int
    symbol_bits: int = 10
    name: str = ""

    def __post_init__(self):
        instance("name", self.name, str, "'KP4'")
        for name in ("n", "k", "symbol_bits"):
            value = number(name, getattr(self, name), 1, 2**16, whole=True)
            object.__setattr__(self, name, int(scalar(name, value)))
        # a Reed-Solomon code over 2^m values is at most 2^m + 1 symbols long
        if not self.k < self.n <= 2**self.symbol_bits + 1:
            raise ValueError(
                f"n must be more than k = {self.k} and at most 2^symbol_bits + 1 ="
                f" {2**self.symbol_bits + 1}, not {self.n}"
            )

    @property
    def corrects(self):
        """t, the wrong symbols a codeword survives: ``(n - k) // 2``."""
        return (self.n - self.k) // 2

    @property
    def overhead(self):
        """The parity's share of the payload: ``n/k - 1``."""
        return self.n / self.k - 1

    @property
    def line_factor(self):
        """Line rate over data rate with 256b/257b transcoding: ``257/256 · n/k``; exactly 1.0625
        for KP4.
        """
        return 257 * self.n / (256 * self.k)

    @property
    def payload(self):
        """Payload of one codeword, in bytes: ``k · symbol_bits / 8``."""
        return self.k * self.symbol_bits / 8

    def symbol_error(self, ber):
        """Probability that a symbol is wrong: ``p = 1 - (1 - b)^m`` for independent bit errors of
        ratio `ber`.

        >>> round(KP4.symbol_error(2.4e-4), 10)
        0.0023974097
        """
        ber = fraction("ber", ber)
        return scalar_or_array(-np.expm1(special.xlog1py(self.symbol_bits, -ber)))

    def codeword_loss(self, ber):
        """Probability that a codeword cannot be corrected: ``sum over i > t of C(n,i) p^i
        (1-p)^(n-i)``.

        `ber` is the bit error ratio before correction, from 0 to 1, a number or an array; errors
        are taken as independent (bursts are worse, and precoding or interleaving is what real links
        do about them). Raises ValueError outside.

        >>> f"{KP4.codeword_loss(2.4e-4):.7e}", f"{KP4.codeword_loss(1e-4):.7e}"
        ('8.1515734e-13', '1.3598111e-18')
        """
        p = np.asarray(self.symbol_error(ber))[..., None]
        i = np.arange(self.corrects + 1, self.n + 1)
        ways = (
            special.gammaln(self.n + 1) - special.gammaln(i + 1) - special.gammaln(self.n - i + 1)
        )
        log_terms = ways + special.xlogy(i, p) + special.xlog1py(self.n - i, -p)
        top = log_terms.max(axis=-1, keepdims=True)
        top = np.where(np.isfinite(top), top, 0.0)
        return scalar_or_array(
            np.minimum(1.0, np.exp(top[..., 0]) * np.exp(log_terms - top).sum(axis=-1))
        )

    def frame_loss(self, ber, frame=64, interleave=1):
        """Probability that a frame of `frame` bytes touches a lost codeword: ``1 - (1 - loss)^(I +
        frame/payload)``.

        Where a port deals its symbols to `interleave` (I) codewords in turn (`INTERLEAVE` by
        speed), a frame that starts anywhere lies in ``I (1 + frame/(I payload))`` codewords on
        average: 64 bytes in 1.1 at 100G, in 2.1 at 400G, 4 KiB in 7.4 and 8.4. Frames of less than
        a few bytes touch fewer. Source: Anslow 2016; the limits that IEEE 802.3 sets to frames of
        64 bytes at 2.4e-4, 1.7e-12 at 200G and 400G (802.3bs) and 9.2e-13 at 100G (802.3cd).

        >>> [f"{KP4.frame_loss(2.4e-4, interleave=words):.2e}" for words in (1, 2)]
        ['8.96e-13', '1.71e-12']
        """
        loss, frame = self.codeword_loss(ber), positive("frame", frame)
        interleave = count("interleave", interleave)
        broadcastable(ber=loss, frame=frame, interleave=interleave)
        words = np.asarray(interleave + frame / self.payload)
        return scalar_or_array(-np.expm1(special.xlog1py(words, -np.asarray(loss))))

    def ber_for(self, codeword_loss):
        """The bit error ratio before correction that gives this `codeword_loss`: ``1 - (1 -
        p)^(1/m)``.

        p is the inverse of the regularised incomplete beta function I_p(t + 1, n - t), which is the
        tail in closed form.
        `codeword_loss` from 0 to 1; 0 needs 0 errors.

        >>> f"{KP4.ber_for(8.1515734e-13):.4e}"
        '2.4000e-04'
        """
        wanted = fraction("codeword_loss", codeword_loss)
        p = special.betaincinv(self.corrects + 1, self.n - self.corrects, wanted)
        return scalar_or_array(-np.expm1(special.xlog1py(1 / self.symbol_bits, -p)))

    def line_rate(self, data_rate):
        """Bytes per second on the wire for `data_rate` bytes per second of data: ``rate · 257/256 ·
        n/k``.

        >>> from fabriclab.units import Gbps
        >>> KP4.line_rate(400 * Gbps) / Gbps
        425.0
        """
        return scalar_or_array(nonnegative("data_rate", data_rate) * self.line_factor)

    def codeword_time(self, line_rate, interleave=1):
        """Seconds a codeword takes on a line of `line_rate` bytes per second: ``I n m / (8 rate)``;
        no decoder has it whole before.

        The line carries `interleave` (I) codewords at a time, a symbol of each in turn
        (`INTERLEAVE` by speed), so each takes I times as long, and I of them end together.

        >>> from fabriclab.units import Gbps
        >>> round(KP4.codeword_time(425 * Gbps, 2) / ns,
        ...     3), round(KP4.codeword_time(106.25 * Gbps) / ns, 3)
        (25.6, 51.2)
        """
        line_rate, words = positive("line_rate", line_rate), count("interleave", interleave)
        broadcastable(line_rate=line_rate, interleave=words)
        return scalar_or_array(words * (self.n * self.symbol_bits / 8) / line_rate)

    def burst(self, interleave=1):
        """Bits of the longest burst that is corrected wherever it starts: ``(I t - 1) m + 1``.

        A burst of I t symbols, dealt to `interleave` (I) codewords in turn, puts t into each, the
        most that they correct; one that starts in the middle of a symbol touches one symbol more.
        No other bit may be wrong. Lin and Costello, Error Control Coding, on burst errors.

        >>> KP4.burst(), KP4.burst(interleave=2)
        (141.0, 291.0)
        """
        words = count("interleave", interleave)
        return scalar_or_array((words * self.corrects - 1) * self.symbol_bits + 1)

    def corrects_beside(self, erasures):
        """Wrong symbols a codeword survives beside `erasures`, symbols known to be lost: ``(n - k -
        e) // 2``.

        A decoder that is told the place of a symbol needs one symbol of parity for it, not two: 30
        erasures and no error, or 10 and 10 errors. At most n - k. Lin and Costello, on decoding of
        errors and erasures.

        >>> KP4.corrects_beside([0, 10, 30])
        array([15., 10.,  0.])
        """
        parity = self.n - self.k
        erasures = number(
            "erasures",
            erasures,
            least=0,
            most=parity,
            expected=f"a whole number from 0 to {parity}",
            whole=True,
        )
        return scalar_or_array((parity - np.asarray(erasures)) // 2)


KP4 = ReedSolomon(544, 514, 10, "RS(544,514), KP4")
KR4 = ReedSolomon(528, 514, 10, "RS(528,514), KR4")

# Codewords that a port of so many bytes per second fills in turn, symbol by symbol: one to 100G
# (802.3 clauses 134 and 91), two at 200G and 400G (clause 119), and at 800G two flows of blocks
# with two each (clause 172). 100G on one electrical lane may also have two (clause 161).
INTERLEAVE = {50 * Gbps: 1, 100 * Gbps: 1, 200 * Gbps: 2, 400 * Gbps: 2, 800 * Gbps: 4}


def switches_on_path(tiers: Values) -> Values:
    """Switches the longest path crosses in a tree of `tiers`: ``2 tiers - 1``: up to the top and
    down again.

    A tier is a level of switches; a two-tier path (leaf, spine, leaf) crosses 3, a three-tier one
    5, over `links_on_path` = 2 tiers cables. Definition 1.1 gives the three-tier tree 3 hops each
    way, which is the two-tier count.

    >>> switches_on_path(2), switches_on_path(3)
    (3.0, 5.0)
    """
    return scalar_or_array(2 * count("tiers", tiers) - 1)


def links_on_path(tiers: Values) -> Values:
    """Cables on the longest path in a tree of `tiers`, both hosts' own included: ``2 tiers``.

    >>> links_on_path(3)
    6.0
    """
    return scalar_or_array(2 * count("tiers", tiers))


def fec_latency(switches: Values, per_switch: Values = 100 * ns) -> Values:
    """Seconds of FEC on a path one way: ``switches · per_switch``.

    `per_switch` is the decoding and encoding at one hop: the chapter says 100 to 200 ns (Yin, Zhou
    and Lam 2022: about 100 ns host side). Twice that for a round trip. `switches` may be 0: two
    hosts back to back.

    Other words: latency of forward error correction, decoding delay, codeword.

    >>> round(fec_latency(3) / ns, 9), round(fec_latency(switches_on_path(3), 200 * ns) / ns, 9)
    (300.0, 1000.0)
    """
    switches, each = count("switches", switches, least=0), nonnegative("per_switch", per_switch)
    broadcastable(switches=switches, per_switch=each)
    return scalar_or_array(switches * each)
