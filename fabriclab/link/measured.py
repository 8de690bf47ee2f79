"""What counted errors say of a line: bounds on its error ratio, and how long to count.

A test sends n bits and sees k of them wrong. Each bit is wrong by itself with the ratio sought, so
k is binomial, and few errors leave the ratio open by a factor.

Sources: Clopper and Pearson 1934; the gamma limit for few errors among many bits as IEEE 802.3's
and the makers' notes on bit error ratio testers use it.
"""

import numpy as np
from scipy import special

from fabriclab.checks import Values, broadcastable, count, number, scalar_or_array


def _confidence(confidence):
    return number(
        "confidence", confidence, least=0.5, most=1 - 1e-12, expected="from 0.5 to less than 1"
    )


def error_ratio_bounds(
    bits: Values, errors: Values = 0, confidence: Values = 0.95
) -> tuple[float, ...]:
    """(least, most) error ratio that `errors` among `bits` leave possible, exactly: ``B^-1(1 - c;
    k, n - k + 1)`` and ``B^-1(c; k + 1, n - k)``, B the beta distribution.

    Each bound is missed with chance ``1 - confidence`` at most, so both together with twice that;
    0.975 gives the usual interval of 95 %. Without errors the ratio is at most ``1 - (1 - c)^(1/n)
    = 3/n`` at 95 %. The same for symbols, codewords or frames, whose losses are counted one by one.
    Raises ValueError for more errors than bits.

    >>> [f"{bound:.3g}" for bound in error_ratio_bounds(1e12, errors=2)]
    ['3.55e-13', '6.3e-12']
    >>> round(error_ratio_bounds(1e12)[1] * 1e12, 2)
    3.0
    """
    bits, errors = count("bits", bits), count("errors", errors, least=0)
    confidence = _confidence(confidence)
    broadcastable(bits=bits, errors=errors, confidence=confidence)
    bits, errors = np.asarray(bits), np.asarray(errors)
    if np.any(errors > bits):
        raise ValueError(
            f"errors must be at most the {np.min(bits):g} bits sent, not {np.max(errors):g}"
        )
    some, fewer = np.maximum(errors, 1), np.maximum(bits - errors, 1)
    least = np.where(errors > 0, special.betaincinv(some, bits - some + 1, 1 - confidence), 0.0)
    most = np.where(errors < bits, special.betaincinv(errors + 1, fewer, confidence), 1.0)
    return scalar_or_array(least + 0.0 * most), scalar_or_array(most + 0.0 * least)


def bits_to_show(ratio: Values, errors: Values = 0, confidence: Values = 0.95) -> Values:
    """Bits to send, with at most so many `errors` seen, to say that the error ratio is below
    `ratio`: ``G^-1(c; k + 1) / ratio``, G the gamma distribution of that shape.

    3.0 over the ratio without an error, 6.3 with two: the test grows with each error that it lets
    pass. `ratio` up to 0.01, where errors are few among the bits.

    >>> from fabriclab.units import Gbps, minute
    >>> f"{bits_to_show(1e-12):.3g}", round(bits_to_show(1e-12) / (8 * 100 * Gbps), 1)
    ('3e+12', 30.0)
    """
    ratio = number("ratio", ratio, least=1e-40, most=0.01, expected="from 1e-40 to 0.01")
    errors, confidence = count("errors", errors, least=0), _confidence(confidence)
    broadcastable(ratio=ratio, errors=errors, confidence=confidence)
    return scalar_or_array(special.gammaincinv(np.asarray(errors) + 1.0, confidence) / ratio)
