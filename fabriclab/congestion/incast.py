"""Many to one: what an incast offers to a port, how long feedback has, and what PFC reserves and
costs.

Rates are bytes per second, sizes bytes, times seconds. Functions take scalars or arrays that
broadcast and raise ValueError for negative amounts, ports of rate zero, or fractional counts.

Sources: chapter, Definitions 1.7 and 1.9 and figure 12; IEEE 802.1Qbb (PFC); Zhu et al. 2015,
section on buffer settings.
"""

import numpy as np

from fabriclab.checks import (
    Values,
    broadcastable,
    count,
    nonnegative,
    number,
    positive,
    scalar_or_array,
)
from fabriclab.congestion.queue import over
from fabriclab.units import Gbps, KiB

QUANTUM_BITS = 512  # IEEE 802.3: the unit of a pause, in bit times of the link
MAX_QUANTA = 65_535

# The most quanta from a PAUSE's arrival to the peer's silence, by speed in bytes per second: IEEE
# 802.3 annex 31B.3.7; 800G as SONiC takes it.
RESPONSE_QUANTA = {
    10 * Gbps: 67,
    25 * Gbps: 80,
    40 * Gbps: 118,
    50 * Gbps: 147,
    100 * Gbps: 394,
    200 * Gbps: 453,
    400 * Gbps: 905,
    800 * Gbps: 905,
}
JUMBO = 9216  # bytes, the largest packet that data centre switches are set to carry
SMALLEST_FRAME = 64  # bytes, IEEE 802.3
MAC_PHY = 0.8 * KiB  # bytes: SONiC's figure for its Mellanox switches


def offered_load(
    senders: Values, rate: Values, ports: Values | None = None, port_rate: Values | None = None
) -> Values:
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
    broadcastable(senders=senders, rate=rate)
    if ports is None:
        return scalar_or_array(senders * rate)
    ports = count("ports", ports, least=2)
    port_rate = rate if port_rate is None else positive("port_rate", port_rate)
    broadcastable(senders=senders, rate=rate, ports=ports, port_rate=port_rate)
    return scalar_or_array(np.minimum(senders * rate, (ports - 1) * port_rate))


def bandwidth_delay_product(rate: Values, round_trip: Values) -> Values:
    """Bytes in flight on a busy path before the first answer is back: ``rate RTT``.

    What the *path* holds, not what an incast needs for a buffer.

    Other words: BDP, bytes in flight, window, pipe.

    >>> from fabriclab.units import GB, KB, us
    >>> round(bandwidth_delay_product(50 * GB, 5 * us) / KB, 9)
    250.0
    """
    rate, round_trip = nonnegative("rate", rate), nonnegative("round_trip", round_trip)
    broadcastable(rate=rate, round_trip=round_trip)
    return scalar_or_array(rate * round_trip)


def feedback_backlog(senders: Values, rate: Values, service: Values, round_trip: Values) -> Values:
    """Bytes that pile up before senders can have heard of it: ``max(0, n rate - mu) RTT``.

    >>> from fabriclab.units import GB, MB, us
    >>> round(feedback_backlog(256, 50 * GB, 50 * GB, 5 * us) / MB, 9)
    63.75
    """
    senders, rate = count("senders", senders, least=0), nonnegative("rate", rate)
    service, trip = positive("service", service), nonnegative("round_trip", round_trip)
    broadcastable(senders=senders, rate=rate, service=service, round_trip=trip)
    return scalar_or_array(np.maximum(0.0, np.asarray(senders) * rate - service) * trip)


def largest_fan_in(
    rate: Values, service: Values, buffer: Values, round_trip: Values, mark_at: Values = 0.0
) -> Values:
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
    broadcastable(rate=rate, service=service, buffer=buffer, round_trip=round_trip, mark_at=mark_at)
    room = np.asarray(buffer - mark_at)
    if np.any(room < 0):
        raise ValueError(
            f"mark_at must lie within the buffer of {np.min(buffer):g} bytes, not at"
            f" {np.max(mark_at):g}"
        )
    # a whole number that division left a rounding error below itself is still that number
    return scalar_or_array(np.floor((over(room, round_trip) + service) / rate * (1 + 1e-12)))


def staggered_peak(senders: Values, size: Values, offset: Values, rate: Values) -> Values:
    """The longest queue, in bytes, when n senders of `size` bytes begin `offset` seconds after one
    another: ``(n - 1) max(0, s - d C)``.

    All senders and the port have the same `rate` C. Until the last byte has come, the port is
    always busy, so an offset of up to s/C makes nobody later: all is there after ``n s / C``, as
    without it.

    Other words: incast, spread the start, stagger, pacing, jitter.

    >>> from fabriclab.units import GB, KB, us
    >>> [staggered_peak(33, 250 * KB, d, 50 * GB) / KB for d in (0, 4 * us, 5 * us)]
    [8000.0, 1600.0, 0.0]
    """
    senders, size = count("senders", senders, least=1), positive("size", size)
    offset, rate = nonnegative("offset", offset), positive("rate", rate)
    broadcastable(senders=senders, size=size, offset=offset, rate=rate)
    sent = np.asarray(offset) * rate  # before the next begins
    left = size - sent
    # two sizes that differ by rounding alone are one
    left = np.where(left <= 1e-12 * np.asarray(size), 0.0, left)
    return scalar_or_array((np.asarray(senders) - 1) * left)


def peer_response(rate: Values) -> Values:
    """The most seconds that a peer may take to obey a PAUSE at `rate`: ``512 bits quanta / rate``,
    quanta of `RESPONSE_QUANTA`.

    IEEE 802.3 gives the quanta by speed, so `rate` must be one of the standard's.

    >>> from fabriclab.units import GB, Gbps, us
    >>> round(peer_response(400 * Gbps) / us, 2), round(50 * GB * peer_response(400 * Gbps))
    (1.16, 57920)
    """
    rate = positive("rate", rate)
    quanta = np.zeros(np.shape(rate))
    for speed, most in RESPONSE_QUANTA.items():
        quanta = np.where(np.isclose(rate, speed, rtol=1e-9, atol=0), most, quanta)
    if not quanta.all():
        raise ValueError(
            "rate must be a speed for which IEEE 802.3 limits the response to a PAUSE"
            f" ({', '.join(f'{speed / Gbps:.0f}' for speed in RESPONSE_QUANTA)} Gb/s), not"
            f" {rate!r} bytes per second: give the response in seconds"
        )
    return scalar_or_array(quanta * (QUANTUM_BITS / 8) / rate)


def cell_waste(cell: Values, smallest: Values = SMALLEST_FRAME) -> Values:
    """Bytes of buffer that a byte of packets can take where a switch stores them in cells of `cell`
    bytes: the largest ``ceil(L/cell) cell / L``.

    L is from `smallest` up, both whole. The worst packet is the smallest, or the first that is one
    byte longer than whole cells: 2.25 in cells of 144, a frame of 64 bytes in each.

    >>> cell_waste(144), round(cell_waste(96), 3), round(cell_waste(144, smallest=1024), 3)
    (2.25, 1.979, 1.125)
    """
    cell, smallest = count("cell", cell), count("smallest", smallest)
    broadcastable(cell=cell, smallest=smallest)
    whole = np.ceil((smallest - 1) / np.asarray(cell))
    return scalar_or_array(
        np.maximum(
            np.ceil(smallest / np.asarray(cell)) * cell / smallest,
            (whole + 1) * cell / (whole * cell + 1),
        )
    )


def pfc_headroom(
    rate: Values,
    round_trip: Values,
    packet: Values = JUMBO,
    *,
    response: Values | None = None,
    mac_phy: Values = MAC_PHY,
    cell: Values = 1,
    smallest: Values = SMALLEST_FRAME,
) -> Values:
    """Bytes a lossless port must keep free above its pause threshold, per priority: ``w (rate (RTT
    + r) + P + m) + P``.

    What still comes after the decision to pause: what is on the cable there and back (`round_trip`,
    5 ns a metre each way); what the peer sends in the `response` r that it may take, left out: the
    most that IEEE 802.3 allows at this speed (`peer_response`); what it sends while a packet of P
    bytes (`packet`) that the switch had begun holds the PAUSE up; `mac_phy` m bytes in the switch's
    own MAC and PHY; and the packet that the peer had begun, whole. All but the last may be small
    packets, from `smallest` up, which fill cells of `cell` bytes badly: w = `cell_waste`, 1 where a
    switch counts bytes.

    The chapter's 1-5 us are RTT and r together: pass them as `round_trip`, with `response` 0.
    Sources: IEEE 802.1Qbb annex O, 802.3 annex 31B.3.7; SONiC's headroom for one vendor's switches,
    whose terms these are.

    Other words: lossless buffer, skid, bytes in flight after a PAUSE, xoff threshold.

    >>> from fabriclab.units import GB, KB, ns, us
    >>> [round(pfc_headroom(50 * GB, 400 * ns, cell=cell) / KB) for cell in (1, 144)]   # 40 m
    [97, 207]
    >>> round(pfc_headroom(50 * GB, 5 * us, packet=0, response=0, mac_phy=0) / KB, 9)
    250.0
    """
    flight = np.asarray(nonnegative("round_trip", round_trip))
    packet, held = nonnegative("packet", packet), nonnegative("mac_phy", mac_phy)
    rate = nonnegative("rate", rate)
    obeys = peer_response(rate) if response is None else nonnegative("response", response)
    broadcastable(rate=rate, round_trip=flight, packet=packet, response=obeys, mac_phy=held)
    arrives = rate * (flight + obeys) + packet + held
    waste = cell_waste(cell, smallest)
    broadcastable(rate=np.asarray(arrives), cell=np.asarray(waste))
    return scalar_or_array(waste * arrives + packet)


def pause_time(quanta: Values, rate: Values) -> Values:
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
    rate = positive("rate", rate)
    broadcastable(quanta=quanta, rate=rate)
    return scalar_or_array(quanta * (QUANTUM_BITS / 8) / rate)


def pause_signal_time(hops: Values, round_trip: Values) -> Values:
    """Seconds a PAUSE needs to travel upstream where every buffer on the way is full already:
    ``hops RTT``.

    >>> from fabriclab.units import us
    >>> round(pause_signal_time(5, 5 * us) / us, 9)
    25.0
    """
    hops, round_trip = count("hops", hops, least=0), nonnegative("round_trip", round_trip)
    broadcastable(hops=hops, round_trip=round_trip)
    return scalar_or_array(hops * round_trip)


def pause_spread_time(hops: Values, buffer: Values, excess: Values, round_trip: Values) -> Values:
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
    excess = nonnegative("excess", excess)
    broadcastable(hops=hops, buffer=buffer, excess=excess, round_trip=trip)
    fill = np.where(np.asarray(buffer) == 0, 0.0, over(buffer, np.asarray(excess)))
    with np.errstate(invalid="ignore"):
        return scalar_or_array(np.where(np.asarray(hops) == 0, 0.0, hops * (fill + trip)))
