"""Bulk-synchronous steps: everybody waits for the slowest, so the tail of one worker becomes the
mean of all.

Times are seconds. A distribution is anything with scipy.stats' frozen methods: ``ppf``, ``isf``,
``rvs``, for instance ``scipy.stats.expon(scale=0.01)``. Raises ValueError for fractional or zero
worker counts, or chances outside 0 to 1.

Sources: Valiant 1990; chapter, Definition 1.6; David and Nagaraja, Order Statistics, for the
largest of n.
"""

import numpy as np
from scipy.stats.distributions import rv_frozen

from fabriclab.checks import (
    Values,
    broadcastable,
    count,
    fraction,
    nonnegative,
    number,
    positive,
    scalar,
    scalar_or_array,
)

MOST_DRAWS = 20_000_000  # a second, and at most 160 MB
MOST_STEPS = 10**7


def step_with_hiccups(
    compute: Values, delay: Values, probability: Values, workers: Values
) -> Values:
    """Mean seconds of a step in which each worker is late by `delay` with some probability: ``t + d
    (1 - (1-p)^n)``.

    One late worker makes the step late, a second one makes it no later.

    Other words: straggler, synchronous (BSP) step, slowest worker, barrier, jitter.

    >>> round(step_with_hiccups(0.100, 0.050, 0.001, 1024), 4)
    0.1321
    """
    compute, delay = nonnegative("compute", compute), nonnegative("delay", delay)
    probability, workers = fraction("probability", probability), count("workers", workers)
    broadcastable(compute=compute, delay=delay, probability=probability, workers=workers)
    with np.errstate(divide="ignore"):
        return scalar_or_array(
            compute - delay * np.expm1(workers * np.log1p(-np.asarray(probability)))
        )


def idle_workers(workers: Values, slowdown: Values) -> Values:
    """Worker-steps lost per step when one worker takes ``1 + slowdown`` times as long: ``slowdown
    (n - 1)``.

    "10 % slower" means 0.1 here: ten per cent more time. A speed that drops by 10 % is 1/0.9 - 1 =
    0.111 more time.

    >>> round(idle_workers(1024, 0.1), 9), round(idle_workers(1024, 1 / 0.9 - 1), 1)
    (102.3, 113.7)
    """
    workers, slowdown = count("workers", workers), nonnegative("slowdown", slowdown)
    broadcastable(workers=workers, slowdown=slowdown)
    return scalar_or_array(slowdown * (workers - 1))


def _needs(method, distribution):
    if not hasattr(distribution, method):
        raise ValueError(
            "distribution must be one of scipy.stats with its parameters, such as"
            f" expon(scale=0.01), not {distribution!r:.60}"
        )


def _quantile(distribution, log_chance):
    """The time within which a worker is done with chance ``exp(log_chance)``; near 0 and near 1
    alike it keeps its digits.
    """
    _needs("isf", distribution)
    return np.where(
        log_chance < -0.7,
        distribution.ppf(np.exp(log_chance)),
        distribution.isf(-np.expm1(log_chance)),
    )


def slowest_quantile(distribution: rv_frozen, workers: Values, chance: Values) -> Values:
    """Seconds within which the slowest of n independent workers is done, with this chance:
    ``F^-1(P^(1/n))``.

    0.5 gives the median step, 0.99 its p99.

    >>> from scipy import stats
    >>> round(slowest_quantile(stats.expon(), 1024, 0.5), 3)     # -ln(1 - 0.5^(1/1024))
    7.298
    """
    chance = number("chance", chance, least=1e-300, most=1.0, expected="more than 0 and at most 1")
    workers = count("workers", workers)
    broadcastable(workers=workers, chance=chance)
    return scalar_or_array(_quantile(distribution, np.log(chance) / workers))


def slowest_mean(distribution: rv_frozen, workers: Values) -> Values:
    """Mean seconds of the slowest of n independent workers: ``integral of F^-1(u^(1/n)) du`` over 0
    to 1; of a discrete distribution, ``a + sum over k >= a of 1 - F(k)^n``.

    One number of workers at a time; the distribution needs a mean, and a discrete one may spread
    over ten million whole numbers. For exponential times it is the n-th harmonic number.

    >>> from scipy import stats
    >>> round(slowest_mean(stats.expon(), 4), 9)     # 1 + 1/2 + 1/3 + 1/4
    2.083333333
    >>> round(slowest_mean(stats.bernoulli(0.1), 4), 9)     # 1 - 0.9^4
    0.3439
    """
    workers = scalar(
        "workers", number("workers", count("workers", workers), most=1e15, expected="at most 1e15")
    )
    _needs("isf", distribution)
    if not np.isfinite(distribution.mean()):
        raise ValueError(
            "distribution must have a finite mean: the slowest of several then has one too"
        )
    if hasattr(distribution, "pmf"):
        return _slowest_discrete(distribution, workers)
    # with u = exp(-e^x) the integrand is smooth and dies away on both sides: equal steps in x then
    # converge fast
    x, step = np.linspace(-200, 6.5, 4131, retstep=True)
    return float(
        step * np.sum(_quantile(distribution, -np.exp(x) / workers) * np.exp(x - np.exp(x)))
    )


def _slowest_discrete(distribution, workers):
    # below the first of these the slowest never lies, beyond the last as good as never
    first = float(distribution.ppf(np.exp(-50 / workers))) - 1
    span = 64.0
    while workers * distribution.sf(first + span) > 1e-18 and span <= MOST_STEPS:
        span *= 1.25
    if span > MOST_STEPS:
        raise ValueError(
            f"distribution must spread over at most {MOST_STEPS:,} whole numbers, not more"
        )
    beyond = distribution.sf(first + np.arange(int(span)))
    with np.errstate(divide="ignore"):
        return float(first - np.sum(np.expm1(workers * np.log1p(-beyond))))


def slowest_simulated(
    distribution: rv_frozen, workers: Values, steps: Values, seed: Values = 0
) -> np.ndarray:
    """Seconds of each of `steps` steps of n workers that draw their times independently: an array
    of maxima.

    The same seed gives the same steps.

    >>> from scipy import stats
    >>> bool(abs(slowest_simulated(stats.expon(), 4, 20_000).mean() - 25 / 12) < 0.03)
    True
    """
    workers, steps = (
        int(scalar("workers", count("workers", workers))),
        int(scalar("steps", count("steps", steps))),
    )
    if workers > MOST_STEPS or steps > MOST_STEPS:
        raise ValueError(
            f"steps and workers must each be at most {MOST_STEPS:,}, not {steps:,} and {workers:,}"
        )
    if workers * steps > MOST_DRAWS:
        raise ValueError(
            f"steps times workers must be at most {MOST_DRAWS:,} draws, not {steps:,} times"
            f" {workers:,}"
        )
    _needs("rvs", distribution)
    rng = np.random.default_rng(int(scalar("seed", count("seed", seed, least=0))))
    # one step at a time in memory would be slow, all of them large: about a million draws at once
    batch = max(1, 1_000_000 // workers)
    return np.concatenate(
        [
            distribution.rvs(size=(min(batch, steps - i), workers), random_state=rng).max(axis=1)
            for i in range(0, steps, batch)
        ]
    )


def straggler_cost(run_cost: Values, gap: Values) -> Values:
    """Dollars of a run's cost that idle workers burn when each step is `gap` longer than need be:
    ``cost gap / (1 + gap)``.

    `gap` 0.05 means steps 5 % longer. The chapter multiplies cost and gap, which is the cost
    *added* to a run that would have cost `run_cost` without the gap.

    >>> from fabriclab.units import si
    >>> si(straggler_cost(50e6, 0.05), "$", 3)
    '$2.38 M'
    """
    run_cost, gap = positive("run_cost", run_cost), nonnegative("gap", gap)
    broadcastable(run_cost=run_cost, gap=gap)
    return scalar_or_array(run_cost * np.asarray(gap) / (1 + gap))


MOST_UPDATES = 1_000_000  # that one call simulates


def stale_limit(delay: Values) -> Values:
    """Largest learning rate times curvature with which descent on a quadratic settles, if every
    gradient is `delay` updates old: ``2 sin(pi / (2 (2 delay + 1)))``.

    ``w[t+1] = w[t] - k w[t - delay]`` has the characteristic polynomial ``z^(d+1) - z^d + k``, all
    of whose roots lie inside the unit circle below that k. 2 for fresh gradients (bulk-synchronous
    training), about ``pi / (2 delay)`` for old ones: among n workers that never wait, gradients are
    n - 1 updates old. Raises ValueError for a delay that is no whole number. Source: Levin and May
    1976; the asynchronous counterpart of the chapter's Definition 1.6.

    >>> [round(stale_limit(d), 3) for d in (0, 1, 15)]
    [2.0, 1.0, 0.101]
    """
    delay = count("delay", delay, least=0)
    return scalar_or_array(2 * np.sin(np.pi / (2 * (2 * np.asarray(delay, float) + 1))))


def stale_descent(step: Values, delay: Values, steps: Values) -> np.ndarray:
    """What is left of the way after each of `steps` updates, from 1 on: ``w[t+1] = w[t] - step
    w[t-delay]``; `step` is learning rate times curvature.

    >>> stale_descent(0.5, 1, 3).tolist()
    [1.0, 0.5, 0.0, -0.25]
    """
    step = scalar("step", nonnegative("step", step))
    delay = int(scalar("delay", count("delay", delay, least=0)))
    steps = int(scalar("steps", count("steps", steps, least=0)))
    for name, value in (("delay", delay), ("steps", steps)):
        if value > MOST_UPDATES:
            raise ValueError(f"{name} must be at most {MOST_UPDATES:,} updates, not {value:,}")
    way = np.ones(delay + steps + 1)
    for t in range(delay, delay + steps):
        way[t + 1] = way[t] - step * way[t - delay]
    return way[delay:]
