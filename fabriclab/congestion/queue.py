"""One egress queue as a fluid: it fills, drains, overflows and keeps packets waiting.

Bytes arrive at rate lambda and leave at rate mu, the port's; the buffer holds B bytes. The
chapter's law has one bound, ``Q(t) = min(B, Q(0) + (lambda - mu) t)``; a queue also stops at zero,
and both bounds are kept here. Rates are bytes per second, queues bytes, times seconds. Functions
take scalars or arrays that broadcast and raise ValueError for a negative amount, a port of rate
zero, or a queue larger than its buffer.

Source: chapter, section on incast; Kleinrock, Queueing Systems, for the M/D/1 wait.
"""

from dataclasses import dataclass

import numpy as np

from fabriclab.checks import (
    Values,
    broadcastable,
    nonnegative,
    number,
    positive,
    scalar,
    scalar_or_array,
)


def _buffer(buffer):
    """A buffer's size; `inf`, without a bound, is one."""
    if isinstance(buffer, (int, float)) and buffer == np.inf:
        return np.inf
    return nonnegative("buffer", buffer)


def _within(initial, buffer):
    initial = nonnegative("initial", initial)
    broadcastable(initial=initial, buffer=buffer)
    if np.any(np.asarray(initial) > buffer):
        raise ValueError(
            f"initial must fit the buffer of {np.min(buffer):g} bytes, not be {np.max(initial):g}"
        )
    return initial


def over(top: Values, bottom: Values) -> np.ndarray:
    """``top / bottom``, `inf` where bottom is zero or less: a time that never comes."""
    top, bottom = np.broadcast_arrays(top, bottom)
    with np.errstate(over="ignore"):
        return np.divide(top, bottom, out=np.full(top.shape, np.inf), where=bottom > 0)


def queue_after(
    time: Values, arrival: Values, service: Values, buffer: Values = np.inf, initial: Values = 0.0
) -> Values:
    """Bytes queued after `time` at constant rates: ``min(B, max(0, Q0 + (lambda - mu) t))``.

    >>> from fabriclab.units import GB, MB, TB, us
    >>> queue_after([1 * us, 5 * us], 12.8 * TB, 50 * GB, 32 * MB) / MB
    array([12.75, 32.  ])
    """
    buffer = _buffer(buffer)
    grown = _unbounded(time, arrival, service, buffer, initial)
    return scalar_or_array(np.minimum(buffer, np.maximum(0.0, grown)))


def _unbounded(time, arrival, service, buffer, initial):
    """What the queue would hold without bounds: ``Q0 + (lambda - mu) t``."""
    initial = _within(initial, buffer)
    arrival, service = nonnegative("arrival", arrival), positive("service", service)
    time = nonnegative("time", time)
    broadcastable(time=time, arrival=arrival, service=service, buffer=buffer, initial=initial)
    return initial + (arrival - np.asarray(service)) * time


def fill_time(arrival: Values, service: Values, buffer: Values, initial: Values = 0.0) -> Values:
    """Seconds until the buffer is full: ``(B - Q0) / (lambda - mu)``; `inf` where no more arrives
    than leaves.

    Other words: incast, many to one, time until a switch buffer overflows.

    >>> from fabriclab.units import GB, MB, TB, us
    >>> round(fill_time(12.8 * TB, 50 * GB, 32 * MB) / us, 3), fill_time(50 * GB, 50 * GB, 32 * MB)
    (2.51, inf)
    """
    buffer = _buffer(buffer)
    initial = _within(initial, buffer)
    arrival, service = nonnegative("arrival", arrival), positive("service", service)
    broadcastable(arrival=arrival, service=service, buffer=buffer, initial=initial)
    room, excess = buffer - np.asarray(initial), np.asarray(arrival) - service
    return scalar_or_array(np.where(room == 0, 0.0, over(room, excess)))


def drain_time(queue: Values, service: Values, arrival: Values = 0.0) -> Values:
    """Seconds until a queue is empty: ``Q / (mu - lambda)``; `inf` where as much arrives as leaves.

    Other words: time until a queue is empty again, recovery after incast.

    >>> from fabriclab.units import GB, MB, us
    >>> round(drain_time(32 * MB, 50 * GB) / us, 9), drain_time(32 * MB, 50 * GB, 50 * GB)
    (640.0, inf)
    """
    service, arrival = positive("service", service), nonnegative("arrival", arrival)
    queue = nonnegative("queue", queue)
    broadcastable(queue=queue, service=service, arrival=arrival)
    spare, queue = np.asarray(service) - arrival, np.asarray(queue)
    return scalar_or_array(np.where(queue == 0, 0.0, over(queue, spare)))


def wait(queue: Values, service: Values) -> Values:
    """Seconds a byte that joins a first-in-first-out queue waits: ``Q / mu``.

    >>> from fabriclab.units import GB, KB, us
    >>> round(wait(250 * KB, 50 * GB) / us, 9)
    5.0
    """
    queue, service = nonnegative("queue", queue), positive("service", service)
    broadcastable(queue=queue, service=service)
    return scalar_or_array(queue / service)


def overflow(
    time: Values, arrival: Values, service: Values, buffer: Values, initial: Values = 0.0
) -> Values:
    """Bytes lost in `time` at constant rates: ``max(0, Q0 + (lambda - mu) t - B)``, where lambda
    exceeds mu.

    >>> from fabriclab.units import GB, MB, TB, us
    >>> round(overflow(5 * us, 12.8 * TB, 50 * GB, 32 * MB) / MB, 3)
    31.75
    """
    buffer = _buffer(buffer)
    return scalar_or_array(
        np.maximum(0.0, _unbounded(time, arrival, service, buffer, initial) - buffer)
    )


def md1_wait(load: Values, service_time: Values) -> Values:
    """Mean seconds in line before a port with random (Poisson) arrivals of equal packets: ``s rho /
    (2 (1 - rho))``.

    `load` is rho = lambda/mu, `service_time` s one packet's time on the wire; `inf` from rho = 1
    on. The fluid queue is empty at any rho below 1: this wait comes from randomness alone.
    Pollaczek and Khinchine; Kleinrock 1975.

    Other words: queueing delay, M/D/1, utilisation, waiting time.

    >>> md1_wait(0.5, 1.0), round(md1_wait(0.9, 1.0), 9), md1_wait(1.0, 1.0)
    (0.5, 4.5, inf)
    """
    load, service_time = nonnegative("load", load), nonnegative("service_time", service_time)
    broadcastable(load=load, service_time=service_time)
    return scalar_or_array(over(np.asarray(load) * service_time, 2 * (1 - np.asarray(load))))


@dataclass(frozen=True)
class Trace:
    """A fluid queue over time, exact: straight lines between `times`.

    `queue` is the bytes held; `arrived`, `served` and `lost` are bytes since the start. At every
    moment ``queue[0] + arrived = queue + served + lost``.
    """

    times: np.ndarray
    queue: np.ndarray
    arrived: np.ndarray
    served: np.ndarray
    lost: np.ndarray

    def at(self, time):
        """Bytes queued at `time`, scalar or array.

        >>> fluid_queue([2.0], [3.0], 1.0).at(0.5)
        1.0
        """
        return scalar_or_array(
            np.interp(
                number(
                    "time", time, least=0.0, most=float(self.times[-1]), expected="within the trace"
                ),
                self.times,
                self.queue,
            )
        )

    def first_above(self, level):
        """Seconds until the queue first reaches `level` bytes, a marking or pause threshold; `inf`
        if it never does.

        >>> fluid_queue([2.0], [3.0], 1.0).first_above(2)
        1.0
        """
        level = scalar("level", nonnegative("level", level))
        if self.queue[0] >= level:
            return 0.0
        for i in range(1, len(self.times)):
            if self.queue[i] >= level:
                share = (level - self.queue[i - 1]) / (self.queue[i] - self.queue[i - 1])
                return float(self.times[i - 1] + share * (self.times[i] - self.times[i - 1]))
        return float("inf")


def fluid_queue(
    durations: Values,
    arrivals: Values,
    service: Values,
    buffer: Values = np.inf,
    initial: Values = 0.0,
) -> Trace:
    """The `Trace` of a queue whose arrival rate is constant in pieces.

    `durations` (s) and `arrivals` (bytes/s) are lists of one length; `service` (bytes/s) is one
    rate or one per piece, and may be 0 there: a paused port. Within a piece the queue moves along a
    straight line until it meets 0 or the buffer, so every breakpoint is computed, none stepped to.

    >>> from fabriclab.units import GB, MB, TB, us
    >>> trace = fluid_queue([3 * us, 700 * us], [12.8 * TB, 0], 50 * GB, 32 * MB)
    >>> (trace.times / us).round(2).tolist(), (trace.queue / MB).round(2).tolist()
    ([0.0, 2.51, 3.0, 643.0, 703.0], [0.0, 32.0, 32.0, 0.0, 0.0])
    >>> round(float(trace.lost[-1]) / MB, 2)
    6.25
    """
    durations, arrivals = (
        np.atleast_1d(nonnegative("durations", durations)),
        np.atleast_1d(nonnegative("arrivals", arrivals)),
    )
    service = np.atleast_1d(nonnegative("service", service))
    if (
        durations.ndim != 1
        or durations.shape != arrivals.shape
        or service.shape not in ((1,), durations.shape)
    ):
        raise ValueError(
            "durations, arrivals and service must be lists of one length, not of shapes"
            f" {durations.shape}, {arrivals.shape} and {service.shape}"
        )
    buffer = scalar("buffer", _buffer(buffer))
    held = scalar("initial", _within(initial, buffer))
    rows = [(0.0, held, 0.0, 0.0, 0.0)]

    def move(time, to, rate_in, rate_out, rate_lost):
        t, _, arrived, served, lost = rows[-1]
        if time > 0:
            rows.append(
                (
                    t + time,
                    to,
                    arrived + rate_in * time,
                    served + rate_out * time,
                    lost + rate_lost * time,
                )
            )

    for left, rate_in, rate_out in zip(
        durations.tolist(), arrivals.tolist(), np.broadcast_to(service, durations.shape).tolist()
    ):
        held = rows[-1][1]
        net = rate_in - rate_out
        until = (buffer - held) / net if net > 0 else (held / -net if net < 0 else np.inf)
        if until > left:
            move(left, min(buffer, max(0.0, held + net * left)), rate_in, rate_out, 0.0)
        elif net > 0:
            move(until, buffer, rate_in, rate_out, 0.0)
            move(left - until, buffer, rate_in, rate_out, net)
        else:
            move(until, 0.0, rate_in, rate_out, 0.0)
            move(left - until, 0.0, rate_in, rate_in, 0.0)
    return Trace(*(np.array(column) for column in zip(*rows)))
