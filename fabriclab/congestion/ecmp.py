"""Hashing flows onto equal paths: the exact odds of the fullest one, and what a whole fat-tree
makes of them.

ECMP sends each of n equal flows to one of m paths, each path as likely as any other: balls into
boxes. The number of ways in which no path holds more than k is ``n! [x^n] (1 + x + x^2/2! + ... +
x^k/k!)^m`` (exponential generating function of one path, cut at k). The fullest path decides: a
step waits for its slowest flow.

Functions raise ValueError for fractional counts. Sources: chapter, section on adaptive routing;
Flajolet and Sedgewick, Analytic Combinatorics, II.3; Dixit et al. 2013 on spraying; Vanini et al.
2017 (LetFlow) on flowlets.
"""

import math
from fractions import Fraction

import numpy as np

from fabriclab.checks import (
    Values,
    broadcastable,
    count,
    nonnegative,
    number,
    positive,
    scalar,
    scalar_or_array,
)


def _whole(name, value, least=1, most=10**6):
    return int(
        scalar(
            name,
            number(
                name,
                value,
                least=least,
                most=most,
                expected=f"one whole number from {least:,} to {most:,}",
                whole=True,
            ),
        )
    )


def fullest_path(flows: Values, paths: Values) -> np.ndarray:
    """Odds of the fullest path, as an array: entry k is P(max = k), k from 0 to `flows`.

    For thousands of flows too: with each path's load Poisson of mean n/m, cut at
    k, P(max <= k) is the chance that the cut loads add up to n over the chance that uncut ones do;
    sums of loads by Fourier transform. Entries are good to about 1e-9. Up to 10,000 flows and
    paths.

    >>> odds = fullest_path(8, 4)
    >>> odds.size, round(float(odds[4:].sum()), 6)     # 3677/8192
    (9, 0.448853)
    """
    flows, paths = _whole("flows", flows, most=10_000), _whole("paths", paths, most=10_000)
    if paths == 1:
        return np.eye(1, flows + 1, flows)[0]
    least, mean = -(-flows // paths), flows / paths
    log_factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, flows + 1)))])
    load = np.exp(np.arange(flows + 1) * math.log(mean) - mean - log_factorials)
    total = math.exp(flows * math.log(flows) - flows - log_factorials[flows])
    # where even m independent loads would hardly ever pass k, neither do loads that add up to n
    beyond = np.append(np.cumsum(load[::-1])[::-1][1:], 0.0) * paths / total
    top = max(least, int(np.argmax(beyond < 1e-14)))
    at_most = np.where(np.arange(flows + 1) < top, 0.0, 1.0)
    for k in range(least, top):
        size = 1 << (paths * k).bit_length()
        at_most[k] = np.fft.irfft(np.fft.rfft(load[: k + 1], size) ** paths, size)[flows] / total
    # rounding may make it dip by 1e-16 where it is flat
    return np.diff(np.maximum.accumulate(np.clip(at_most, 0.0, 1.0)), prepend=0.0)


def mean_fullest(flows: Values, paths: Values) -> Values:
    """Mean number of flows on the fullest path, ``E[max]``.

    Other words: ECMP, hash collision, balls in bins, load imbalance, most loaded link.

    >>> # an AllToAll of 64 ranks: 63 on an even path
    >>> round(mean_fullest(8, 4), 6), round(mean_fullest(4032, 64), 1)
    (3.538086, 82.4)
    """
    odds = fullest_path(flows, paths)
    return float(odds @ np.arange(odds.size))


def mean_speed(flows: Values, paths: Values) -> Values:
    """Mean speed of the slowest flow against an even split: ``E[ceil(n/m) / max]``.

    >>> round(mean_speed(8, 4), 3)
    0.593
    """
    odds = fullest_path(flows, paths)
    least = -(-_whole("flows", flows) // _whole("paths", paths))
    return float(odds[least:] @ (least / np.arange(least, odds.size)))


def even_split(flows: Values, paths: Values) -> Fraction:
    """Chance of the most even split, exactly: each path floor(n/m) or ceil(n/m) flows. For n = m it
    is ``n!/n^n``.

    Other words: birthday problem, collision of flows hashed onto uplinks, no two on one path, ECMP.

    >>> even_split(8, 4) == Fraction(2520, 4**8), round(float(even_split(8, 4)), 4), even_split(4,
    ...     4)
    (True, 0.0385, Fraction(3, 32))
    """
    flows, paths = _whole("flows", flows, most=10_000), _whole("paths", paths, most=10_000)
    each, extra = divmod(flows, paths)
    ways = math.factorial(flows) // (
        math.factorial(each) ** (paths - extra) * math.factorial(each + 1) ** extra
    )
    return Fraction(math.comb(paths, extra) * ways, paths**flows)


def idle_path(flows: Values, paths: Values) -> Fraction:
    """Chance that at least one path carries nothing, exactly: ``1 - sum_i (-1)^i C(m,i) (1 -
    i/m)^n``.

    Other words: unused link, ECMP, hash, empty bin.

    >>> round(float(idle_path(8, 4)), 3)
    0.377
    """
    flows, paths = _whole("flows", flows, most=10_000), _whole("paths", paths, most=1000)
    onto = sum((-1) ** i * math.comb(paths, i) * (paths - i) ** flows for i in range(paths))
    return 1 - Fraction(onto, paths**flows)


def all_to_all_flows(ranks: Values) -> Values:
    """Directed flows of an AllToAll, without those to oneself: ``n (n - 1)``.

    >>> all_to_all_flows(64)
    4032.0
    """
    ranks = count("ranks", ranks)
    return scalar_or_array(ranks * (ranks - 1))


def reordering(spacing: Values, spread: Values) -> Values:
    """Chance that a sprayed packet is overtaken by the next one of its flow: ``exp(-s/d) / 2``.

    Assumes that queueing adds to each packet an independent, exponential delay of mean `spread` d;
    `spacing` s is the time between packets. Half of all packets where delays dwarf the spacing; 0
    where the delays do not vary.

    Other words: packet spraying, out of order.

    >>> round(reordering(0.08, 0.8), 3)
    0.452
    """
    spacing, spread = positive("spacing", spacing), np.asarray(nonnegative("spread", spread))
    broadcastable(spacing=spacing, spread=spread)
    with np.errstate(divide="ignore", over="ignore"):
        return scalar_or_array(np.where(spread > 0, np.exp(-np.divide(spacing, spread)) / 2, 0.0))
