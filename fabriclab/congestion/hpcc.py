"""HPCC: senders that are told how full the link is, once per round trip, and set their window by
it.

Each switch stamps its queue and its rate into the packets (in-band telemetry). A sender works out
U, the bytes in flight on the busiest link over what the link takes in one base round trip, ``U =
q/(C T) + rate/C``, and steers it to eta, a little below one: ``W <- W eta/U + W_AI`` where U is at
least eta, ``W <- W + W_AI`` for up to `max_stage` round trips where it is less, then the first rule
again. W_AI is what lets N flows become equal: R_AI T.

All of this takes windows of a packet or more: N flows share what the path holds, C T, so it holds
for up to `most_windows` of them. Beyond, a sender whose window is less than its one packet waits
for each answer before the next: the port stands idle in between, and the packets of so many queue
all the same. The functions refuse that, or, given a packet of 0 bytes, are the fluid law alone.

Functions take scalars or arrays that broadcast and raise ValueError for an eta outside 0 to 1 or
rates of zero.
Source: Li et al., HPCC: High Precision Congestion Control, SIGCOMM 2019, algorithm 1 and its
section on parameters.
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
    scalar,
    scalar_or_array,
)
from fabriclab.congestion.queue import over

MOST_RATES = 10**7  # flows times round trips
PACKET = 1000.0  # bytes, the authors'


def most_windows(capacity: Values, round_trip: Values, packet: Values = PACKET) -> Values:
    """The most flows whose windows hold a packet each: ``floor(C T / packet)``; `inf` for packets
    of 0 bytes.

    >>> from fabriclab.units import Gbps, us
    >>> most_windows(100 * Gbps, 5 * us), most_windows(400 * Gbps, 5 * us)
    (62.0, 250.0)
    """
    capacity, trip = positive("capacity", capacity), nonnegative("round_trip", round_trip)
    packet = nonnegative("packet", packet)
    broadcastable(capacity=capacity, round_trip=trip, packet=packet)
    return scalar_or_array(np.floor(over(np.asarray(capacity) * trip, packet) * (1 + 1e-12)))


def _windows_fit(flows, capacity, round_trip, packet):
    most = np.asarray(most_windows(capacity, round_trip, packet))
    broadcastable(flows=np.asarray(flows), packet=most)
    if np.any(np.asarray(flows) > most):
        raise ValueError(
            f"flows must be at most {np.min(most):g}, the packets that the path holds, not"
            f" {np.max(flows):g}: beyond, a window is less than one packet and HPCC does not rest"
            " where its rule says (packet=0: the fluid law alone)"
        )


def steady_rate(
    capacity: Values,
    flows: Values,
    increase: Values,
    eta: Values = 0.95,
    *,
    round_trip: Values | None = None,
    packet: Values = PACKET,
) -> Values:
    """Bytes per second at which each of N equal flows sends in the steady state: ``eta C/N +
    R_AI``, at most C/N.

    `increase` is R_AI. With more than (1 - eta) C/R_AI flows the link is full, each with its C/N.
    Holds for up to `most_windows` flows; with the `round_trip`, more are refused.

    >>> from fabriclab.units import Gbps, Mbps
    >>> round(steady_rate(100 * Gbps, 16, 50 * Mbps) / Gbps, 4)
    5.9875
    """
    capacity, flows = positive("capacity", capacity), count("flows", flows)
    eta, increase = fraction("eta", eta), nonnegative("increase", increase)
    broadcastable(capacity=capacity, flows=flows, increase=increase, eta=eta)
    if round_trip is not None:
        _windows_fit(flows, capacity, round_trip, packet)
    return scalar_or_array(np.minimum(eta * capacity / flows + increase, capacity / flows))


def steady_queue(
    capacity: Values,
    flows: Values,
    increase: Values,
    round_trip: Values,
    eta: Values = 0.95,
    *,
    packet: Values = PACKET,
) -> Values:
    """Bytes that stand in the queue with N equal flows: ``max(0, eta + N R_AI/C - 1) C T``.

    The window rule rests where U = eta + N R_AI/C; what of U is above 1 is queue. Raises ValueError
    for more flows than the path holds packets (`most_windows`).

    Other words: HPCC queue at rest, equilibrium.

    >>> from fabriclab.units import Gbps, KB, Mbps, us
    >>> round(steady_queue(100 * Gbps, 256, 50 * Mbps, 25 * us) / KB, 3)
    24.375
    """
    capacity, flows = positive("capacity", capacity), count("flows", flows)
    eta, increase = fraction("eta", eta), nonnegative("increase", increase)
    trip = nonnegative("round_trip", round_trip)
    broadcastable(capacity=capacity, flows=flows, increase=increase, round_trip=trip, eta=eta)
    _windows_fit(flows, capacity, trip, packet)
    load = eta + np.asarray(flows) * increase / capacity
    return scalar_or_array(np.maximum(0.0, load - 1) * capacity * trip)


def next_window(
    window: Values,
    utilisation: Values,
    window_increase: Values,
    eta: Values = 0.95,
    probing: bool = False,
) -> Values:
    """One update: ``W eta/U + W_AI``, or ``W + W_AI`` while `probing`; bytes.

    `probing` holds where U is below eta and fewer than `max_stage` additive steps were taken in a
    row.

    >>> next_window(100e3, 1.9, 1e3)
    51000.0
    """
    window, utilisation = nonnegative("window", window), positive("utilisation", utilisation)
    eta, more = fraction("eta", eta), nonnegative("window_increase", window_increase)
    probing = flag("probing", probing)
    broadcastable(
        window=window, utilisation=utilisation, window_increase=more, eta=eta, probing=probing
    )
    return scalar_or_array(window * np.where(probing, 1.0, eta / np.asarray(utilisation)) + more)


@dataclass(frozen=True)
class Rounds:
    """HPCC round trip by round trip: `queue` in bytes, shape (rounds,), and `rates` in bytes/s,
    shape (rounds, flows).
    """

    queue: np.ndarray
    rates: np.ndarray


def rounds(
    capacity: Values,
    flows: Values,
    increase: Values,
    round_trip: Values,
    trips: Values,
    eta: Values = 0.95,
    max_stage: Values = 5,
    rates: Values | None = None,
    *,
    packet: Values = PACKET,
) -> Rounds:
    """The `Rounds` of N flows through one link, `trips` base round trips long; all update once in
    each.

    Flows start at `rates` (bytes/s; left out: all at line rate, an incast). In flight are the sum
    of the windows: what exceeds C T queues, and each flow gets its share of the link, ``R = W/T``
    where there is no queue. Raises ValueError for more flows than the path holds packets
    (`most_windows`), or more than ten million flows times trips.

    >>> from fabriclab.units import Gbps, Mbps, us
    >>> run = rounds(100 * Gbps, 16, 50 * Mbps, 5 * us, 3)
    >>> # 15 of 16 line-rate windows queue, for one round trip
    >>> (run.queue / 1e3).round(1).tolist()
    [937.5, 0.0, 0.0]
    """
    capacity, round_trip = (
        scalar(n, positive(n, v)) for n, v in (("capacity", capacity), ("round_trip", round_trip))
    )
    flows, trips, max_stage = (
        int(
            scalar(
                n, number(n, v, least=1, most=1e6, expected="a whole number, 1 or more", whole=True)
            )
        )
        for n, v in (("flows", flows), ("trips", trips), ("max_stage", max_stage))
    )
    if flows * trips > MOST_RATES:
        raise ValueError(
            f"trips times flows must be at most {MOST_RATES:,}, not {trips:,} times {flows:,}"
        )
    increase, eta = (
        scalar("increase", nonnegative("increase", increase)),
        scalar("eta", fraction("eta", eta)),
    )
    _windows_fit(flows, capacity, round_trip, packet)
    start = positive("rates", capacity if rates is None else rates)
    if np.ndim(start) > 1 or np.size(start) not in (1, flows):
        raise ValueError(
            f"rates must be one rate or {flows} of them, not of shape {np.shape(start)}"
        )
    holds = capacity * round_trip
    window, stage = np.full(flows, 0.0) + np.asarray(start) * round_trip, 0
    queue, sent = np.empty(trips), np.empty((trips, flows))
    for i in range(trips):
        load = window.sum() / holds
        queue[i], sent[i] = max(0.0, load - 1) * holds, window / round_trip / max(1.0, load)
        probing = load < eta and stage < max_stage
        stage = stage + 1 if probing else 0
        window = next_window(window, load, increase * round_trip, eta, probing)
    return Rounds(queue, sent)
