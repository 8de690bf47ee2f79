"""Level 2, one message on one path: the alpha-beta model, its fit to measurements, staging copies,
loss recovery.

Sizes are bytes, times seconds, bandwidths bytes per second one way. Scalars or arrays that
broadcast.
"""

from dataclasses import dataclass

import numpy as np

from fabriclab.checks import (
    Values,
    broadcastable,
    count,
    flag,
    fraction,
    nonnegative,
    number,
    positive,
    scalar_or_array,
)


def _read(size, alpha, beta):
    size, alpha, beta = (
        nonnegative("size", size),
        nonnegative("alpha", alpha),
        positive("beta", beta),
    )
    broadcastable(size=size, alpha=alpha, beta=beta)
    return size, alpha, beta


def transfer_time(size: Values, alpha: Values, beta: Values, roofline: bool = False) -> Values:
    """Seconds to move a message: ``T(n) = alpha + n / beta``, or with `roofline` ``max(alpha, n /
    beta)``.

    The sum is for a start-up that nothing hides; the maximum, as rooflines have it, for one that
    overlaps with the bytes of other messages. They part by a factor of two at `crossover`, and
    agree far from it.

    `size` bytes, `alpha` seconds of start-up, `beta` bytes per second. Raises ValueError for a
    negative size or alpha, or a beta that is not more than zero. Hockney 1994; chapter, section
    "The alpha-beta performance model".

    Other words: send, read or write a message over a link; one-way latency plus serialisation
    (transmission); how long a transfer takes.

    >>> from fabriclab.units import KB, GB, us
    >>> round(transfer_time(4 * KB, 1.5 * us, 50 * GB) / us, 3)
    1.58
    >>> round(transfer_time(75 * KB, 1.5 * us, 50 * GB, roofline=True) / us, 3)    # the sum: 3
    1.5
    """
    size, alpha, beta = _read(size, alpha, beta)
    if flag("roofline", roofline):
        return scalar_or_array(np.maximum(alpha, size / beta))
    return scalar_or_array(alpha + size / beta)


def crossover(alpha: Values, beta: Values) -> Values:
    """Bytes at which start-up and transfer take equal time: ``n* = alpha beta``.

    Below n* latency dominates, above it bandwidth. There T(n*) = 2 alpha. Raises ValueError as
    `transfer_time`.

    Other words: message size where latency and bandwidth cost the same; half-bandwidth point, n1/2;
    latency-bound against bandwidth-bound.

    >>> from fabriclab.units import KB, GB, us
    >>> crossover(1.5 * us, 50 * GB) / KB
    75.0
    """
    _, alpha, beta = _read(0.0, alpha, beta)
    return scalar_or_array(alpha * beta)


def latency_share(size: Values, alpha: Values, beta: Values) -> Values:
    """Share of the transfer time that is start-up: ``alpha / T(n)``, 1/2 at the crossover.

    A message of no bytes on a path of no start-up takes no time; its share is given as 0. Raises
    ValueError as `transfer_time`.

    Other words: start-up share; latency-bound or bandwidth-bound.

    >>> from fabriclab.units import KB, GB, us
    >>> # the bandwidth's share, in the chapter 5.1 %
    >>> round(1 - latency_share(4 * KB, 1.5 * us, 50 * GB), 4)
    0.0506
    """
    size, alpha, beta = _read(size, alpha, beta)
    total = np.asarray(alpha + size / beta)
    return scalar_or_array(np.divide(alpha, total, out=np.zeros_like(total), where=total > 0))


def effective_bandwidth(size: Values, alpha: Values, beta: Values) -> Values:
    """Bytes per second a message really sees: ``n / T(n) = beta n / (n + n*)``: half of beta at the
    crossover.

    Raises ValueError as `transfer_time`.

    Other words: goodput, achieved throughput, utilisation of a link at a message size.

    >>> from fabriclab.units import KB, GB, us
    >>> effective_bandwidth(75 * KB, 1.5 * us, 50 * GB) / GB
    25.0
    """
    size, alpha, beta = _read(size, alpha, beta)
    # without start-up every size sees the full rate, no bytes at all included
    whole = np.asarray(size + alpha * beta)
    return scalar_or_array(beta * np.divide(size, whole, out=np.ones_like(whole), where=whole > 0))


def break_even(alpha: Values, beta: Values, other_alpha: Values, other_beta: Values) -> Values:
    """Bytes at which two paths take equal time: ``(other_alpha - alpha) / (1/beta -
    1/other_beta)``.

    `inf` where they never meet: one path then starts no later *and* carries no slower, and is the
    better for every size.
    Two equal paths tie from the first byte: 0. Raises ValueError as `transfer_time`.

    Other words: message size at which two paths or links take the same time; where their curves
    meet.

    >>> from fabriclab.units import KB, GB, us
    >>> round(break_even(1 * us, 10 * GB, 5 * us, 50 * GB) / KB, 3)
    50.0
    >>> break_even(1.5 * us, 50 * GB, 5 * us, 12.5 * GB)
    inf
    """
    alpha, other_alpha = nonnegative("alpha", alpha), nonnegative("other_alpha", other_alpha)
    beta, other_beta = positive("beta", beta), positive("other_beta", other_beta)
    broadcastable(alpha=alpha, beta=beta, other_alpha=other_alpha, other_beta=other_beta)
    ahead, per_byte = np.asarray(other_alpha - alpha), np.asarray(1 / beta - 1 / other_beta)
    ahead, per_byte = np.broadcast_arrays(ahead, per_byte)
    meet = (ahead * per_byte >= 0) & (per_byte != 0)
    size = np.divide(ahead, per_byte, out=np.full(ahead.shape, np.inf), where=meet)
    return scalar_or_array(np.where((ahead == 0) & (per_byte == 0), 0.0, np.abs(size)))


@dataclass(frozen=True)
class Fit:
    """A path fitted to measurements: `alpha` s, `beta` bytes/s, and the `worst` relative error
    among the points.
    """

    alpha: float
    beta: float
    worst: float


def fit(sizes: Values, times: Values) -> Fit:
    """The path that explains measured `times` (s) of messages of `sizes` (bytes) best, as a `Fit`.

    Minimises ``sum(((alpha + n/beta - t) / t)^2)``: relative errors, because a benchmark's times
    span five decades and plain least squares would see the largest messages alone (its alpha then
    comes out several times too large).
    Raises ValueError for fewer than two distinct sizes, times that are not more than zero, a
    negative alpha, or times that do not grow with size: the model does not hold there, and no
    number is better than a wrong one.

    Other words: measurement, ping-pong, regression, estimate latency and bandwidth from a sweep.

    >>> from fabriclab.units import GB, MB, us
    >>> f = fit([0, 1 * MB], [5 * us, 25 * us])
    >>> round(f.alpha / us, 6), round(f.beta / GB, 6)
    (5.0, 50.0)
    """
    sizes, times = (
        np.atleast_1d(nonnegative("sizes", sizes)),
        np.atleast_1d(positive("times", times)),
    )
    if sizes.shape != times.shape or sizes.ndim != 1:
        raise ValueError(
            f"sizes and times must be two lists of one length, not of shapes {sizes.shape} and"
            f" {times.shape}"
        )
    if np.unique(sizes).size < 2:
        raise ValueError(
            "sizes must hold at least two different sizes: one point does not make a line"
        )
    scale = sizes.max()
    rows = np.column_stack([np.ones_like(times), sizes / scale]) / times[:, None]
    (alpha, per_scale), *_ = np.linalg.lstsq(rows, np.ones_like(times), rcond=None)
    # a noise-free fit through the origin may land a rounding error below zero
    alpha = 0.0 if abs(alpha) < 1e-12 * times.min() else float(alpha)
    if alpha < 0:
        raise ValueError(
            "times must not fall below the line through the origin: the fitted alpha is negative"
            f" ({alpha:.3g} s), so alpha + n/beta does not describe them"
        )
    if per_scale * 1e12 <= times.min():
        raise ValueError(
            "times must grow with size: these do not, so no bandwidth can be read from them"
        )
    beta = float(scale / per_scale)
    return Fit(alpha, beta, float(np.max(np.abs((alpha + sizes / beta) / times - 1))))


def staging_traffic(size: Values, copies: Values = 1) -> Values:
    """Bytes of host-memory traffic that staging a payload through host RAM costs: ``2 copies
    size``.

    Each bounce writes the payload once and reads it once; GPUDirect RDMA makes it zero, while the
    payload still crosses PCIe and the wire. `copies` is the bounces on the way, 0 for GPUDirect.
    Raises ValueError for a negative size or a fractional count. Chapter, Definition 1.2 and figure
    6.

    Other words: bounce buffer, GPUDirect RDMA, host memory copy, PCIe.

    >>> from fabriclab.units import GB
    >>> staging_traffic(350 * GB) / GB
    700.0
    """
    size, copies = nonnegative("size", size), count("copies", copies, least=0)
    broadcastable(size=size, copies=copies)
    return scalar_or_array(2.0 * copies * size)


def tail_go_back_n(size: Values, lost_at: Values, in_flight: Values = np.inf) -> Values:
    """Bytes sent again when one packet is lost at offset `lost_at` of a `size`-byte message:
    ``min(size - lost_at, in_flight)``.

    The receiver keeps nothing out of order, so all that was sent after the loss goes again: the
    whole rest of the message where the sender had already sent it (the chapter's reading,
    `in_flight` unbounded), or the bytes in flight before the sender heard of it, about rate times
    round trip. Raises ValueError for an offset beyond the message.

    Other words: retransmission, lost packet, timeout, RoCE.

    >>> from fabriclab.units import MB
    >>> tail_go_back_n(1000 * MB, 900 * MB) / MB
    100.0
    """
    rest = _rest(size, lost_at)
    if not (isinstance(in_flight, (int, float)) and in_flight == np.inf):
        in_flight = nonnegative("in_flight", in_flight)
        broadcastable(size=rest, in_flight=in_flight)
        rest = np.minimum(rest, in_flight)
    return scalar_or_array(rest)


def tail_selective(size: Values, lost_at: Values, packet: Values = 4096) -> Values:
    """Bytes sent again by selective repeat: the lost packet alone, ``min(packet, size - lost_at)``.

    Raises ValueError for an offset beyond the message or an empty packet. Mittal et al. 2018 (IRN).

    Other words: selective repeat, selective acknowledgement (SACK), retransmission, lost packet.

    >>> tail_selective(1_000_000_000, 900_000_000)
    4096.0
    """
    rest, packet = _rest(size, lost_at), positive("packet", packet)
    broadcastable(size=rest, packet=packet)
    return scalar_or_array(np.minimum(rest, packet))


def _rest(size, lost_at):
    size, lost_at = nonnegative("size", size), nonnegative("lost_at", lost_at)
    broadcastable(size=size, lost_at=lost_at)
    if np.any(lost_at > size):
        raise ValueError(
            f"lost_at must lie within the message of {np.max(size):g} bytes, not at"
            f" {np.max(lost_at):g}"
        )
    return size - lost_at


def goodput_go_back_n(loss: Values, window: Values) -> Values:
    """Share of the line that carries new bytes when each packet is lost with probability `loss`:
    ``(1-p) / (1-p+p W)``.

    `window` is the packets sent before the sender hears of a loss (W, one or more); all W are sent
    again. 1 at no loss, 0 when everything is lost. Raises ValueError for a probability outside 0 to
    1 or W below one. Textbook result for go-back-N with independent losses (Bertsekas and Gallager,
    Data Networks, section 2.4).

    >>> round(goodput_go_back_n(0.001, 100), 4)
    0.909
    """
    loss, window = (
        fraction("loss", loss),
        number("window", window, least=1, expected="one packet or more"),
    )
    broadcastable(loss=loss, window=window)
    return scalar_or_array((1 - loss) / (1 - loss + loss * window))


def goodput_selective(loss: Values) -> Values:
    """The same for selective repeat, which sends a lost packet again and nothing else: ``1 - p``.

    >>> goodput_selective(0.001)
    0.999
    """
    return scalar_or_array(1 - fraction("loss", loss))


def spoilt_share(ber: Values, size: Values, cables: Values = 1) -> Values:
    """Chance that bit errors spoil a packet of `size` bytes on its way over so many `cables`: ``1 -
    (1 - ber)^(8 size cables)``.

    `ber` is the bit error ratio after FEC, errors independent (bursts spoil fewer packets). Exact
    for the smallest ratios. Raises ValueError for a ratio outside 0 to 1.

    >>> round(spoilt_share(1e-9, 4096, cables=6) * 1e6)
    197
    """
    ber, size, cables = fraction("ber", ber), nonnegative("size", size), count("cables", cables)
    broadcastable(ber=ber, size=size, cables=cables)
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = np.asarray(8.0 * size * cables)
        share = np.where(bits > 0, -np.expm1(bits * np.log1p(-np.asarray(ber, float))), 0.0)
    return scalar_or_array(share)


def goodput_link_retry(loss: Values, packet: Values, rate: Values, delay: Values) -> Values:
    """Share of a cable that carries new bytes where its own two ends repeat what was spoilt: ``t /
    (t + p/(1-p) (t + 2 d))`` with ``t = packet/rate``.

    A packet needs 1/(1-p) tries; each failed one costs its time and a round trip d there, d back,
    in which whatever is sent comes again behind it (go-back-N over one cable, so the order stays).
    `loss` p is of one cable, `delay` d in seconds, of it alone. Sources: Ultra Ethernet
    Specification 1.0, link-level retry; Bertsekas and Gallager, Data Networks, section 2.4.

    >>> from fabriclab.units import Gbps, ns
    >>> # 1e-3 of all packets, and the line loses 0.7 %
    >>> round(goodput_link_retry(1e-3, 4096, 800 * Gbps, 125 * ns), 4)
    0.9929
    """
    loss, delay = fraction("loss", loss), nonnegative("delay", delay)
    packet, rate = positive("packet", packet), positive("rate", rate)
    broadcastable(loss=loss, packet=packet, rate=rate, delay=delay)
    lasts = packet / rate
    return scalar_or_array((1 - loss) * lasts / ((1 - loss) * lasts + loss * (lasts + 2 * delay)))


def time_saved(size: Values, alpha: Values, beta: Values, faster: Values) -> Values:
    """Share of a transfer's time that a link `faster` times as fast saves: ``(1 - 1/f) · (n/beta) /
    T(n)``.

    Only the bytes travel faster; the start-up stays. So at most ``1 - 1/f``, and hardly anything
    for a message well below n*.
    `faster` is 1 or more. Raises ValueError as `transfer_time`. Amdahl 1967, with the wire as the
    part that speeds up.

    Other words: speed-up, Amdahl, upgrade to a faster link.

    >>> from fabriclab.units import KB, GB, us
    >>> round(time_saved(10 * KB, 1.5 * us, 25 * GB, 2), 4)     # the first fallacy: 1.90 to 1.70 us
    0.1053
    """
    faster = number("faster", faster, least=1.0, expected="1 or more (2 is twice the bandwidth)")
    share = np.asarray(latency_share(size, alpha, beta))
    broadcastable(faster=faster, size=share)
    return scalar_or_array((1 - 1 / faster) * (1 - share))


def kernel_bandwidth(line: Values, segment: Values, per_segment: Values, copy: Values) -> Values:
    """Bytes per second of one kernel TCP stream: ``min(line, m / (a + m/c))``: the alpha-beta model
    of a processor core.

    For every segment of `segment` bytes m the core spends `per_segment` seconds a, and copies at
    `copy` bytes per second c in all. Above that the `line` no longer enters. The chapter has 20 to
    40 Gb/s, whatever the port.

    Other words: TCP, sockets, iperf, kernel networking, CPU copies.

    >>> from fabriclab.units import GB, Gbps, KB, us
    >>> [round(kernel_bandwidth(rate * Gbps, 64 * KB, 4 * us, 5 * GB) / Gbps, 1) for rate
    ...     in (10, 100, 400)]
    [10.0, 30.5, 30.5]
    """
    line, segment, per_segment, copy = (
        positive("line", line),
        positive("segment", segment),
        nonnegative("per_segment", per_segment),
        positive("copy", copy),
    )
    broadcastable(segment=segment, per_segment=per_segment, copy=copy)
    core = effective_bandwidth(segment, per_segment, copy)
    broadcastable(line=line, segment=np.asarray(core))
    return scalar_or_array(np.minimum(line, core))
