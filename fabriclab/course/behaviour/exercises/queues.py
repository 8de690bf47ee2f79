"""Exercises of level 4: queues and incast."""

import math

import numpy as np

from fabriclab import congestion
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.function import Function
from fabriclab.course.engine.exercises.kinds import Quantity
from fabriclab.course.engine.exercises.slips import BITS, Slip
from fabriclab.course.engine.exercises.template import pick
from fabriclab.units import GB, KB, MB, Gbps, us


def _incast(draw):
    return {
        "senders": draw.pick("senders", (256, 384, 512)),
        "ports": draw.pick("ports", (32, 64, 128)),
        "rate": draw.pick("rate", (200, 400, 800)) * Gbps,
        "buffer": draw.pick("buffer", (16, 32, 64)) * MB,
    }


def _fill(x, arrival):
    return congestion.fill_time(arrival, x.rate, x.buffer)


def _queues(draw):
    """Inputs that fill, overflow, drain, run dry and stand still."""
    buffer, service = (
        draw.pick("buffer", (8, 16, 32)) * MB,
        draw.pick("service", (25, 50, 100)) * GB,
    )
    held = draw.pick("held", (0.2, 0.4, 0.6)) * buffer
    fill, dry = buffer / service, held / service
    return [
        (0.1 * fill, 3 * service, service, buffer, held),
        (2 * fill, 3 * service, service, buffer, held),
        (0.5 * dry, 0.0, service, buffer, held),
        (3 * dry, 0.2 * service, service, buffer, held),
        (fill, service, service, buffer, held),
        ([0.0, 0.05 * fill, 5 * fill], 4 * service, service, buffer, 0.0),
    ]


def _one_bound(time, arrival, service, buffer, initial):
    """The chapter's law: it knows the full buffer, and not the empty one."""
    return np.minimum(buffer, initial + (arrival - service) * time)


def _save(x, rate=1, mark_at=1):
    return congestion.largest_fan_in(
        rate * x.rate, rate * x.rate, x.buffer, x.trip, mark_at * x.mark_at
    )


def _staggered(draw):
    senders = draw.pick("senders", (9, 17, 33))
    size = draw.pick("size", (100, 200, 400)) * KB
    return {
        "senders": senders,
        "size": size,
        "rate": draw.pick("rate", (200, 400, 800)) * Gbps,
        "buffer": draw.pick("share", (0.25, 0.4, 0.6)) * (senders - 1) * size,
    }


EXERCISES = [
    Exercise(
        id="behaviour.fill",
        title="An incast on a switch one can buy",
        chinese="Incast 与缓冲区填满时间",
        numbers=_incast,
        prompt=(
            "{senders} hosts, at {rate:b/s} each, send to one host of the same rate on a "
            "switch of {ports} such ports and {buffer:B} of buffer. All paths before the "
            "switch are as wide as need be. How long until the buffer is full? Figure 12 "
            "counts senders; look at what can reach the switch."
        ),
        kind=Quantity(
            lambda x: _fill(x, congestion.offered_load(x.senders, x.rate, x.ports)),
            "time",
            tolerance=0.005,
            slips=(
                Slip(
                    "senders for ports",
                    "you let every sender reach the port at once; the switch has fewer ports to"
                    " receive on",
                    lambda x: _fill(x, congestion.offered_load(x.senders, x.rate)),
                ),
                Slip(
                    "one port off",
                    "you were one port off: the receiver's own port does not feed it, and while the"
                    " others fill the buffer it drains one port's worth",
                    lambda x: x.buffer / ((x.ports - 1) * x.rate),
                ),
                Slip(
                    BITS,
                    "you took the ports' bits per second for bytes per second",
                    lambda x: _fill(x, congestion.offered_load(x.senders, x.rate, x.ports)) / 8,
                ),
            ),
        ),
        hints=(
            "Through how many ports can packets for this host come in?",
            "The buffer grows by what comes in, less what goes out.",
        ),
        moral=(
            "The chapter's 2.5 us needs a switch of 257 ports; with 64 it is 10.3 us. The moral is"
            " the same: microseconds."
        ),
    ),
    Exercise(
        id="behaviour.write_queue",
        title="Write the queue",
        chinese="写出队列方程",
        numbers={},
        prompt=(
            "Write `queue(time, arrival, service, buffer, initial)`: the bytes queued "
            "after `time` seconds at constant rates, for a buffer that held `initial` "
            "bytes at first. `time` may be a numpy array. The chapter's law has one "
            "bound, min(B, Q0 + (λ - μ) t). Try it on a queue that drains."
        ),
        kind=Function(
            ("time", "arrival", "service", "buffer", "initial"),
            congestion.queue_after,
            _queues,
            "size",
            ("time", "rate", "rate", "size", "size"),
            slips=(
                (
                    "no floor",
                    (
                        "your queue falls below zero: the chapter's law has one bound, and a queue"
                        " has two"
                    ),
                    _one_bound,
                ),
                (
                    "no ceiling",
                    "your queue outgrows the buffer; what does not fit is lost, or must be paused",
                    lambda t, a, s, b, q: congestion.queue_after(t, a, s, math.inf, q),
                ),
                (
                    "forgot what was there",
                    "you began with an empty buffer",
                    lambda t, a, s, b, q: congestion.queue_after(t, a, s, b),
                ),
            ),
        ),
        hints=(
            "A straight line, and two walls.",
            "np.minimum and np.maximum take numbers and arrays alike; min and max do not.",
        ),
        moral="Two walls and a line: every queue of this part is made of these.",
    ),
    Exercise(
        id="behaviour.save",
        title="Whom feedback can still save",
        chinese="反馈能挽救的扇入",
        numbers={
            "rate": pick(400, 800, unit=Gbps),
            "buffer": pick(16, 24, 32, unit=MB),
            "trip": pick(4, 5, 8, 10, unit=us),
            "mark_at": pick(1.3, 1.35, 1.7, unit=MB, name="mark at"),
        },
        prompt=(
            "A switch marks packets once a port's queue reaches {mark_at:B}; the buffer "
            "holds {buffer:B}. Senders at {rate:b/s} each, the port's own rate, hear of a"
            " mark one round trip of {trip:s} later, and are silent from then on, at "
            "best. With how many senders at most, a whole number, is nothing lost? Beyond"
            " them it takes PFC, or a smaller fan-in."
        ),
        kind=Quantity(
            _save,
            "number",
            whole=True,
            tolerance=0.001,
            slips=(
                Slip(
                    "forgot the marking threshold",
                    "you had the switch mark from the first byte",
                    lambda x: _save(x, mark_at=0),
                ),
                Slip(
                    "forgot that the port drains",
                    "you forgot that the port sends all the while: one sender's worth never queues",
                    lambda x: _save(x) - 1,
                ),
                Slip(
                    BITS,
                    "you took the ports' bits per second for bytes per second",
                    lambda x: _save(x, rate=8),
                ),
            ),
        ),
        hints=(
            "How many bytes arrive in the round trip that nobody can call back? How many leave?",
            "(N rate - rate) × trip must fit between the threshold and the buffer's end.",
        ),
        moral="Figure 12's 256 senders are beyond any of these: no mark comes in time for them.",
    ),
    Exercise(
        id="behaviour.stagger",
        title="One after another",
        chinese="错开起始时间",
        numbers=_staggered,
        prompt=(
            "{senders} hosts send {size:B} each to one host. All ports have {rate:b/s}, and "
            "the switch has {buffer:B} of buffer; nothing is to be lost, and nobody is to be "
            "paused. The senders begin evenly, one after another. How long after one another, "
            "at the least?"
        ),
        kind=Quantity(
            lambda x: (x.size - x.buffer / (x.senders - 1)) / x.rate,
            "time",
            tolerance=0.002,
            slips=(
                Slip(
                    "no queue at all",
                    "then no queue forms at all; the buffer may take its part",
                    lambda x: x.size / x.rate,
                ),
                Slip(
                    "forgot that the port drains",
                    "one sender's worth never waits: the port sends all the while",
                    lambda x: x.size / x.rate - x.buffer / x.rate / x.senders,
                ),
                Slip(
                    "time to drain",
                    "that is how long the buffer alone takes to drain",
                    lambda x: x.buffer / x.rate,
                ),
                Slip(
                    BITS,
                    "you took the ports' bits per second for bytes per second",
                    lambda x: (x.size - x.buffer / (x.senders - 1)) / x.rate / 8,
                ),
            ),
        ),
        hints=(
            "When the last one has sent, how many bytes have come, and how many have left?",
            "n s have come. The port was busy for (n - 1) d + s/C.",
        ),
        moral="It costs no time: the port is busy from the first byte to the last, either way.",
    ),
]
