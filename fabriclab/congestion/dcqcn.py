"""DCQCN as a fluid: how senders that are told only "marked" or "not marked" share a port, and
whether they settle.

A switch marks packets with a probability p that rises with its queue q: 0 up to Kmin, then linearly
to Pmax at Kmax, 1 beyond. A sender that hears of a mark cuts its rate R_C by alpha/2; one that
hears nothing for a while climbs back to its target R_T, and then raises the target by R_AI. With
everything a delay d late (p and R below are those of time t - d), as
rates of change per flow, rates in packets per second and B in packets::

    dq/dt   = sum of R_C - C
    dalpha/dt = g/tau' (1 - (1-p)^(tau' R) - alpha)
    dR_T/dt = -(R_T - R_C)/tau (1 - (1-p)^(tau R)) + R_AI R ((1-p)^(F B) b + (1-p)^(F T R) c)
    dR_C/dt = -R_C alpha/(2 tau) (1 - (1-p)^(tau R)) + (R_T - R_C)/2 R (b + c)
    b = p/((1-p)^-B - 1),  c = p/((1-p)^-(T R) - 1)     # how often the byte counter and the timer
    run out unmarked

Sources: Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015; the same
model with its fixed point in Zhu, Ghobadi, Misra and Padhye, ECN or Delay, CoNEXT 2016.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from fabriclab.checks import (
    Values,
    count,
    fraction,
    instance,
    nonnegative,
    number,
    positive,
    scalar,
)
from fabriclab.units import KB, MB, Gbps, Mbps, us


@dataclass(frozen=True)
class Dcqcn:
    """A port of `capacity` bytes/s and the settings of its switch and senders; the defaults are the
    authors'.

    `cut_every` is tau, the least time between two cuts; `alpha_every` tau'; `timer` T and
    `byte_counter` B make the rate climb, `fast_steps` (F) times towards the target before the
    target itself rises by `increase` R_AI; `gain` is g.

    >>> Dcqcn().marking(102.5 * KB)
    0.005
    """

    capacity: float = 40 * Gbps
    packet: float = 1000.0
    kmin: float = 5 * KB
    kmax: float = 200 * KB
    pmax: float = 0.01
    gain: float = 1 / 256
    cut_every: float = 50 * us
    alpha_every: float = 55 * us
    timer: float = 55 * us
    byte_counter: float = 10 * MB
    fast_steps: int = 5
    increase: float = 40 * Mbps

    def __post_init__(self):
        for name in (
            "capacity",
            "packet",
            "kmax",
            "gain",
            "pmax",
            "cut_every",
            "alpha_every",
            "timer",
            "byte_counter",
            "increase",
        ):
            scalar(name, positive(name, getattr(self, name)))
        fraction("pmax", self.pmax)
        fraction("gain", self.gain)
        scalar("fast_steps", count("fast_steps", self.fast_steps, least=0))
        if not scalar("kmin", nonnegative("kmin", self.kmin)) < self.kmax:
            raise ValueError(
                f"kmin must be less than kmax = {self.kmax:g} bytes, not {self.kmin:g}"
            )

    def marking(self, queue):
        """Probability that a packet is marked at a queue of so many bytes.

        >>> Dcqcn().marking(200 * KB), Dcqcn().marking(200 * KB + 1)
        (0.01, 1.0)
        """
        return self._marking(scalar("queue", nonnegative("queue", queue)))

    def _marking(self, queue):
        if queue > self.kmax:
            return 1.0
        return self.pmax * max(0.0, (queue - self.kmin) / (self.kmax - self.kmin))

    def _events(self, p, rate):
        """At marking p and rates in packets/s: chance of a cut within tau, of a mark within tau', b
        + c, and their damped sum.
        """
        p = min(max(p, 1e-12), 1 - 1e-12)  # the limits at 0 and 1, without 0/0 and log 0
        unmarked = math.log1p(-p)
        counter, ticks = unmarked * self.byte_counter / self.packet, unmarked * self.timer * rate
        b, c = p * math.exp(counter) / -math.expm1(counter), p * np.exp(ticks) / -np.expm1(ticks)
        rise = b * math.exp(self.fast_steps * counter) + c * np.exp(self.fast_steps * ticks)
        return (
            -np.expm1(unmarked * self.cut_every * rate),
            -np.expm1(unmarked * self.alpha_every * rate),
            b + c,
            rise,
        )


@dataclass(frozen=True)
class FixedPoint:
    """Where N equal flows would rest: `marking` p*, `queue` in bytes, and each flow's `rate`,
    `target` (bytes/s) and `alpha`.

    `exists` is False where p* lies above Pmax: no queue on the ramp marks that often (`queue` is
    then `inf`), and the queue swings across Kmax, where marking jumps to 1. That a fixed point
    exists does not make it stable: see `trajectory`.
    """

    marking: float
    queue: float
    rate: float
    target: float
    alpha: float
    exists: bool


def fixed_point(flows: Values, settings: Dcqcn = Dcqcn()) -> FixedPoint:
    """The exact `FixedPoint` of N flows: all derivatives zero, ``a^2 alpha = tau^2 R_AI R (b +
    c)(damped b + c)`` solved for p.

    Here R = C/N and a = 1 - (1-p)^(tau R). Raises ValueError for a fractional number of flows.

    Other words: DCQCN queue and rate at rest, equilibrium, steady state, ECN marking.

    >>> rest = fixed_point(2)
    >>> round(rest.marking, 10), round(rest.queue / KB, 2), fixed_point(16).exists
    (0.0007769886, 20.15, False)
    """
    instance("settings", settings, Dcqcn, "Dcqcn(capacity=50 * Gbps)")
    flows = scalar(
        "flows",
        number(
            "flows", flows, least=1, most=1e6, expected="one whole number, 1 or more", whole=True
        ),
    )
    rate, increase = (
        settings.capacity / settings.packet / flows,
        settings.increase / settings.packet,
    )

    def excess(p):
        cut, alpha, climb, rise = settings._events(p, rate)
        return cut * cut * alpha - settings.cut_every**2 * increase * rate * climb * rise

    p = float(brentq(excess, 2e-12, 1 - 1e-9, xtol=1e-16, rtol=1e-12))
    cut, alpha, _, rise = settings._events(p, rate)
    exists = p <= settings.pmax
    queue = (
        settings.kmin + p / settings.pmax * (settings.kmax - settings.kmin) if exists else math.inf
    )
    target = rate + settings.cut_every * increase * rate * rise / cut
    return FixedPoint(
        p, queue, rate * settings.packet, float(target) * settings.packet, float(alpha), exists
    )


def cube_root_marking(flows: Values, settings: Dcqcn = Dcqcn()) -> Values:
    """The authors' approximation of p*: ``cbrt(R_AI N^2 / (tau' C^2) (1/B + N/(T C))^2)``; some 20
    % above the exact one.

    >>> round(cube_root_marking(2) / fixed_point(2).marking, 2)
    1.19
    """
    instance("settings", settings, Dcqcn, "Dcqcn(capacity=50 * Gbps)")
    flows = scalar(
        "flows",
        number(
            "flows", flows, least=1, most=1e6, expected="one whole number, 1 or more", whole=True
        ),
    )
    capacity, increase = settings.capacity / settings.packet, settings.increase / settings.packet
    expiries = settings.packet / settings.byte_counter + flows / (settings.timer * capacity)
    return float(np.cbrt(increase * flows**2 / (settings.alpha_every * capacity**2) * expiries**2))


@dataclass(frozen=True)
class Trajectory:
    """What the fluid does: `times` (s), `queue` (bytes), and per flow `rates` (bytes/s) and
    `alphas`, shape (times, flows).
    """

    times: np.ndarray
    queue: np.ndarray
    rates: np.ndarray
    alphas: np.ndarray


def trajectory(
    flows: Values,
    duration: Values,
    delay: Values,
    settings: Dcqcn = Dcqcn(),
    step: Values = 4 * us,
    rates: Values | None = None,
    queue: Values = 0.0,
) -> Trajectory:
    """The `Trajectory` of N flows over `duration` seconds when marks take `delay` seconds to bite.

    Each flow starts at its `rates` (bytes/s; left out: line rate, as DCQCN does) with alpha 1.
    Heun's method in steps of at most `step` that divide the delay, so that the past is looked up
    and never guessed. Rates stay between a ten-thousandth of the port's and the port's. Raises
    ValueError for a delay of zero or more than ten million steps.

    Other words: DCQCN over time, oscillation, rate and queue, fluid model.

    >>> run = trajectory(2, 0.05, 10 * us, step=10 * us)
    >>> round(float(run.queue[-1]) / KB)      # the fixed point has 20.15
    20
    """
    instance("settings", settings, Dcqcn, "Dcqcn(capacity=50 * Gbps)")
    flows = int(
        scalar(
            "flows",
            number(
                "flows",
                flows,
                least=1,
                most=10_000,
                expected="one whole number from 1 to 10,000",
                whole=True,
            ),
        )
    )
    duration, delay, step = (
        scalar(n, positive(n, v))
        for n, v in (("duration", duration), ("delay", delay), ("step", step))
    )
    behind = math.ceil(delay / step * (1 - 1e-12))
    step = delay / behind
    if duration / step * flows > 1e7:
        raise ValueError(
            f"duration must be at most ten million steps of {step:g} s over all flows, not"
            f" {duration:g}"
        )
    steps, port = math.ceil(duration / step), settings.capacity / settings.packet
    start = (
        number(
            "rates",
            settings.capacity if rates is None else rates,
            least=1e-4 * settings.capacity,
            most=settings.capacity,
        )
        / settings.packet
    )
    if np.ndim(start) > 1 or np.size(start) not in (1, flows):
        raise ValueError(
            f"rates must be one rate or {flows} of them, not of shape {np.shape(start)}"
        )
    increase, half_period = settings.increase / settings.packet, 2 * settings.cut_every

    queues, history, alphas = (
        np.empty(steps + 1),
        np.empty((steps + 1, flows)),
        np.ones((steps + 1, flows)),
    )
    queues[0], history[0] = scalar("queue", nonnegative("queue", queue)), start
    current, target, alpha = history[0], history[0], alphas[0]

    def bounded(x):
        return np.minimum(np.maximum(x, 1e-4 * port), port)

    def heard(past):
        # senders hear nothing before the first mark can reach them
        p, rate = (
            (settings._marking(float(queues[past])), history[past])
            if past >= 0
            else (0.0, history[0])
        )
        return rate, settings._events(p, rate)

    def slopes(news, current, target, alpha):
        rate, (cut, marked, climb, rise) = news
        gap = target - current
        return (
            -current * alpha / half_period * cut + gap / 2 * rate * climb,
            -gap / settings.cut_every * cut + increase * rate * rise,
            settings.gain / settings.alpha_every * (marked - alpha),
        )

    later = heard(-behind)
    for i in range(steps):
        # what a step ends on, the next begins on
        news, later = later, heard(i + 1 - behind)
        now = slopes(news, current, target, alpha)
        then = slopes(
            later,
            bounded(current + step * now[0]),
            bounded(target + step * now[1]),
            alpha + step * now[2],
        )
        inflow = current.sum()
        current = bounded(current + step / 2 * (now[0] + then[0]))
        target = bounded(target + step / 2 * (now[1] + then[1]))
        alpha = alpha + step / 2 * (now[2] + then[2])
        queues[i + 1] = max(
            0.0, queues[i] + step * settings.packet * ((inflow + current.sum()) / 2 - port)
        )
        history[i + 1], alphas[i + 1] = current, alpha
    return Trajectory(np.arange(steps + 1) * step, queues, history * settings.packet, alphas)
