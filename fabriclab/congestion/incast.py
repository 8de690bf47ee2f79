"""Many to one: what an incast offers to a port, how long feedback has, and what PFC reserves and
costs.

Rates are bytes per second, sizes bytes, times seconds. Functions take scalars or arrays that
broadcast and raise ValueError for negative amounts, ports of rate zero, or fractional counts.

Sources: chapter, Definitions 1.7 and 1.9 and figure 12; IEEE 802.1Qbb (PFC); Zhu et al. 2015,
section on buffer settings.
"""

import numpy as np

from fabriclab.checks import count, nonnegative, number, positive, scalar_or_array
from fabriclab.congestion.queue import over

QUANTUM_BITS = 512  # IEEE 802.3: the unit of a pause, in bit times of the link
MAX_QUANTA = 65_535


def offered_load(senders, rate, ports=None, port_rate=None):
    """Bytes per second that arrive for one egress port: ``n rate``, and on a real switch at most
    ``(ports - 1) port_rate``.

    Without `ports` any number of senders reaches the port at once, as in the chapter's stress case
    (256 of them). A
    switch of `ports` ports has only ports - 1 others to receive on, each at `port_rate` (left out:
    the senders' `rate`):
    the rest of the senders wait upstream.

    >>> from fabriclab.units import GB, TB
    >>> offered_load(256, 50 * GB) / TB, offered_load(256, 50 * GB, ports=64) / TB
    (12.8, 3.15)
    """
    senders, rate = count("senders", senders, least=0), nonnegative("rate", rate)
    if ports is None:
        return scalar_or_array(senders * rate)
    most = (count("ports", ports, least=2) - 1) * (
        rate if port_rate is None else positive("port_rate", port_rate)
    )
    return scalar_or_array(np.minimum(senders * rate, most))


def bandwidth_delay_product(rate, round_trip):
    """Bytes in flight on a busy path before the first answer is back: ``rate RTT``.

    What the *path* holds, not what an incast needs for a buffer.

    Other words: BDP, bytes in flight, window, pipe.

    >>> from fabriclab.units import GB, KB, us
    >>> round(bandwidth_delay_product(50 * GB, 5 * us) / KB, 9)
    250.0
    """
    return scalar_or_array(nonnegative("rate", rate) * nonnegative("round_trip", round_trip))


def feedback_backlog(senders, rate, service, round_trip):
    """Bytes that pile up before senders can have heard of it: ``max(0, n rate - mu) RTT``.

    >>> from fabriclab.units import GB, MB, us
    >>> round(feedback_backlog(256, 50 * GB, 50 * GB, 5 * us) / MB, 9)
    63.75
    """
    excess = np.asarray(offered_load(senders, rate) - positive("service", service))
    return scalar_or_array(np.maximum(0.0, excess) * nonnegative("round_trip", round_trip))


def largest_fan_in(rate, service, buffer, round_trip, mark_at=0.0):
    """Senders that feedback can still save: the largest n with ``K + (n rate - mu) RTT <= B``;
    `inf` without a delay.

    `mark_at` is K, the queue at which the switch begins to mark; 0 is the chapter's best case,
    marks from the first byte.
    Assumes senders at full `rate` until they hear, and silent then. 0 where even one sender
    overflows the buffer.

    Other words: incast, how many senders a buffer takes, many to one.

    >>> from fabriclab.units import GB, MB, us
    >>> largest_fan_in(50 * GB, 50 * GB, 32 * MB, 5 * us)
    129.0
    """
    rate, service, round_trip = (
        positive("rate", rate),
        positive("service", service),
        np.asarray(nonnegative("round_trip", round_trip)),
    )
    buffer, mark_at = nonnegative("buffer", buffer), nonnegative("mark_at", mark_at)
    room = np.asarray(buffer - mark_at)
    if np.any(room < 0):
        raise ValueError(
            f"mark_at must lie within the buffer of {np.min(buffer):g} bytes, not at"
            f" {np.max(mark_at):g}"
        )
    # a whole number that division left a rounding error below itself is still that number
    return scalar_or_array(np.floor((over(room, round_trip) + service) / rate * (1 + 1e-12)))


def pfc_headroom(rate, round_trip, packet=0.0):
    """Bytes a lossless port must keep free above its pause threshold, per priority: ``rate RTT + 2
    packet``.

    `round_trip` is from the decision to pause to the last byte that still arrives: the cable there
    and back and the peer's reaction. `packet` is the largest packet: one that the switch itself had
    begun to send delays the PAUSE, one that the peer had begun still comes. The chapter's 1-5 us
    leave both out.

    Other words: lossless buffer, skid, bytes in flight after a PAUSE, xoff threshold.

    >>> from fabriclab.units import GB, KB, us
    >>> round(pfc_headroom(50 * GB, 5 * us) / KB, 9)
    250.0
    """
    return scalar_or_array(
        bandwidth_delay_product(rate, round_trip) + 2 * nonnegative("packet", packet)
    )


def pause_time(quanta, rate):
    """Seconds that a PAUSE of `quanta` lasts: ``512 bits quanta / rate``, 0 to 65,535 of them. IEEE
    802.3 annex 31B, 802.1Qbb.

    >>> from fabriclab.units import Gbps, us
    >>> round(pause_time(65_535, 400 * Gbps) / us, 1)
    83.9
    """
    quanta = number(
        "quanta",
        quanta,
        least=0,
        most=MAX_QUANTA,
        expected="a whole number from 0 to 65,535",
        whole=True,
    )
    return scalar_or_array(quanta * (QUANTUM_BITS / 8) / positive("rate", rate))


def pause_signal_time(hops, round_trip):
    """Seconds a PAUSE needs to travel upstream where every buffer on the way is full already:
    ``hops RTT``.

    >>> from fabriclab.units import us
    >>> round(pause_signal_time(5, 5 * us) / us, 9)
    25.0
    """
    return scalar_or_array(count("hops", hops, least=0) * nonnegative("round_trip", round_trip))


def pause_spread_time(hops, buffer, excess, round_trip):
    """Seconds until a pause has spread upstream through buffers that must fill first: ``hops
    (B/excess + RTT)``.

    `excess` is what each switch receives for the paused port beyond what it can pass on; a stopped
    receiver makes it the whole rate. `inf` where nothing is in excess. With 32 MB a switch and 10
    GB/s this is where the chapter's 10-50 ms lie; the signal itself takes microseconds
    (`pause_signal_time`).

    Other words: congestion spreading, PFC cascade, victims, head-of-line blocking.

    >>> from fabriclab.units import GB, MB, ms, us
    >>> round(pause_spread_time(5, 32 * MB, 10 * GB, 5 * us) / ms, 1)
    16.0
    """
    hops, buffer, trip = (
        count("hops", hops, least=0),
        nonnegative("buffer", buffer),
        nonnegative("round_trip", round_trip),
    )
    fill = np.where(
        np.asarray(buffer) == 0, 0.0, over(buffer, np.asarray(nonnegative("excess", excess)))
    )
    with np.errstate(invalid="ignore"):
        return scalar_or_array(np.where(np.asarray(hops) == 0, 0.0, hops * (fill + trip)))
