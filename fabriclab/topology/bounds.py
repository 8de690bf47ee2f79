"""What a collective needs from a cut, what oversubscription costs, and how far one hop reaches on a
rail.

`size` is the buffer of each rank as nccl-tests prints it, bytes: for an AllToAll the whole of it, a
rank's own piece of size/N included, which stays where it is, as in `collectives.all_to_all`. `cut`
is the bisection, bytes per second one way. All are lower bounds on the time, whatever the
algorithm, unless they say otherwise; all take scalars or arrays.
"""

import numpy as np

from fabriclab.checks import (
    Values,
    broadcastable,
    count,
    fraction,
    nonnegative,
    number,
    positive,
    scalar_or_array,
)


def allreduce_port_bound(size: Values, ranks: Values, bandwidth: Values) -> Values:
    """Seconds: ``2 (N-1)/N · M/beta``: what one port must send when hosts do the sums. A ring meets
    it, but for start-ups.

    Source: Patarasu and Yuan 2009.

    >>> from fabriclab.units import GB
    >>> round(allreduce_port_bound(100 * GB, 1024, 50 * GB), 3)
    3.996
    """
    size, ranks, bandwidth = (
        nonnegative("size", size),
        count("ranks", ranks),
        positive("bandwidth", bandwidth),
    )
    broadcastable(size=size, ranks=ranks, bandwidth=bandwidth)
    return scalar_or_array(2 * (ranks - 1) / ranks * size / bandwidth)


def allreduce_in_network_bound(size: Values, bandwidth: Values) -> Values:
    """Seconds: ``M/beta``: switches that do the sums let every host send its buffer once and
    receive the result once.

    >>> from fabriclab.units import GB
    >>> allreduce_in_network_bound(100 * GB, 50 * GB)
    2.0
    """
    size, bandwidth = nonnegative("size", size), positive("bandwidth", bandwidth)
    broadcastable(size=size, bandwidth=bandwidth)
    return scalar_or_array(size / bandwidth)


def allreduce_cut_bound(size: Values, cut: Values) -> Values:
    """Seconds: ``M/BW``: each half must learn the other half's sum, M bytes, however many ranks it
    has.

    >>> from fabriclab.units import GB, TB, ms
    >>> allreduce_cut_bound(100 * GB, 25.6 * TB) / ms
    3.90625
    """
    size, cut = nonnegative("size", size), positive("cut", cut)
    broadcastable(size=size, cut=cut)
    return scalar_or_array(size / cut)


def allreduce_ring_cut_bound(size: Values, ranks: Values, cut: Values) -> Values:
    """Seconds: ``2 (N-1)/N · M/BW``: what one ring that crosses the cut once each way sends over
    it.

    A ring that zigzags k times needs k times that; so does the number of rings not matter, as g
    rings carry M/g each.

    >>> from fabriclab.units import GB, TB, ms
    >>> round(allreduce_ring_cut_bound(100 * GB, 1024, 6.4 * TB) / ms, 2)
    31.22
    """
    size, ranks, cut = nonnegative("size", size), count("ranks", ranks), positive("cut", cut)
    broadcastable(size=size, ranks=ranks, cut=cut)
    return scalar_or_array(2 * (ranks - 1) / ranks * size / cut)


def alltoall_cut_bound(size: Values, ranks: Values, cut: Values) -> Values:
    """Seconds: ``(N/2)(N/2) M/N / BW``: each rank of one half sends M/N to each of the other.

    `size` M is the whole buffer of a rank, its own piece included, as nccl-tests and
    `collectives.all_to_all` count it. An odd N halves as evenly as it can. One rank sends nothing:
    0.

    >>> from fabriclab.units import GB, TB
    >>> alltoall_cut_bound(100 * GB, 1024, 25.6 * TB)
    1.0
    """
    size, ranks, cut = nonnegative("size", size), count("ranks", ranks), positive("cut", cut)
    broadcastable(size=size, ranks=ranks, cut=cut)
    small = np.floor(ranks / 2)
    return scalar_or_array(small * (ranks - small) * size / ranks / cut)


def every_buffer_across(size: Values, ranks: Values, cut: Values) -> Values:
    """Seconds: ``(N/2) M / BW``, every byte of one half sent to the other: Napkin Math 1.3's own
    count, and no bound.

    It charges an AllReduce with traffic that it need not send; see `allreduce_cut_bound`.

    >>> from fabriclab.units import GB, TB
    >>> every_buffer_across(100 * GB, 1024, 25.6 * TB), every_buffer_across(100 * GB, 1024,
    ...     6.4 * TB)
    (2.0, 8.0)
    """
    size, ranks, cut = nonnegative("size", size), count("ranks", ranks), positive("cut", cut)
    broadcastable(size=size, ranks=ranks, cut=cut)
    return scalar_or_array(ranks / 2 * size / cut)


def relative_throughput(share: Values, oversubscription: Values) -> Values:
    """Throughput next to a non-blocking network: ``1/((1-f) + f r)``, f the `share` of a step that
    is communication.

    Assumes that all of that share crosses the oversubscribed tier, at its full rate, and that
    nothing hides it.

    Source: chapter, Definition 1.4.

    >>> round(relative_throughput(0.3, 2), 4), round(relative_throughput(0.3, 4), 4)
    (0.7692, 0.5263)
    """
    share, ratio = fraction("share", share), _ratio(oversubscription)
    broadcastable(share=share, oversubscription=ratio)
    return scalar_or_array(1 / (1 - share + share * ratio))


def wasted_money(capital: Values, share: Values, oversubscription: Values) -> Values:
    """Dollars of `capital` that stand idle: ``(1 - relative_throughput) · capital``, with the same
    assumptions.

    >>> round(wasted_money(300e6, 0.30, 4) / 1e6, 1)
    142.1
    """
    capital, left = nonnegative("capital", capital), relative_throughput(share, oversubscription)
    broadcastable(capital=capital, share=left)
    return scalar_or_array(capital * (1 - left))


def efficiency_after(efficiency: Values, speedup: Values) -> Values:
    """Compute share of a step, ``T/(T+c)``, once communication c runs `speedup` times faster:
    ``E/(E + (1-E)/s)``.

    >>> round(efficiency_after(0.8, 3), 3)
    0.923
    """
    efficiency, speedup = _share("efficiency", efficiency), positive("speedup", speedup)
    broadcastable(efficiency=efficiency, speedup=speedup)
    return scalar_or_array(efficiency / (efficiency + (1 - efficiency) / speedup))


def speedup_needed(efficiency: Values, target: float) -> Values:
    """How many times faster communication must run to lift E to `target`: ``E'(1-E) / (E (1-E'))``;
    inf to reach 1.

    >>> round(speedup_needed(0.80, 0.95), 2)
    4.75
    """
    efficiency, target = _share("efficiency", efficiency), _share("target", target)
    broadcastable(efficiency=efficiency, target=target)
    above, below = target * (1 - efficiency), efficiency * (1 - np.asarray(target, float))
    return scalar_or_array(np.where(below > 0, above / np.where(below > 0, below, 1), np.inf)[()])


def one_hop_nodes(radix: Values, oversubscription: Values = 1) -> Values:
    """Nodes whose same-numbered GPUs share one rail switch: a leaf's downlinks, ``radix -
    floor(radix/(1+r))`` at most.

    k/2 at 1:1: one scalable unit. With no uplinks at all (`oversubscription` inf) the whole switch,
    k nodes, and no way on.

    >>> one_hop_nodes(64), one_hop_nodes(64, float("inf"))
    (32.0, 64.0)
    """
    radix = count("radix", radix, 2)
    if np.isscalar(oversubscription) and oversubscription == float("inf"):
        return scalar_or_array(radix)
    ratio = _ratio(oversubscription)
    broadcastable(radix=radix, oversubscription=ratio)
    return scalar_or_array(np.floor(np.floor(radix / (1 + ratio) + 1e-9) * ratio + 1e-9))


def _ratio(oversubscription):
    return number(
        "oversubscription",
        oversubscription,
        least=1.0,
        expected="1 or more (downlinks over uplinks)",
    )


def _share(name, value):
    return number(name, value, least=1e-12, most=1.0, expected="more than 0, and at most 1")
