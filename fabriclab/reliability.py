"""How often a fleet fails: at least one of n, the time to the first, how much stands broken, how
often to save the state.

Times are seconds, rates are failures per second of one part; parts fail independently of
each other and of their age. Two ways to say how good a part is are kept apart: a *probability* per
period, as in the chapter's Napkin Math 1.5 ("0.001 % per day"), and a *rate*, as in a mean time to
failure. For small numbers they agree; for large ones a rate of 3 a day is fine and a probability of
3 is not. All functions take scalars or arrays that broadcast, and raise ValueError for negative or
missing numbers.
"""

import numpy as np
from scipy import special

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
from fabriclab.units import day

YEAR = 365 * day


def _rate(rate):
    """Failures per second of a part; one that failed every second would be a mean time given for a
    rate.
    """
    return number(
        "rate",
        rate,
        least=0.0,
        most=1.0,
        expected=(
            "failures per second of one part, 0 to 1 (of a mean time in seconds, rate_from_mttf"
            " makes one)"
        ),
    )


def _or_inf(name, value):
    return np.inf if isinstance(value, float) and value == np.inf else positive(name, value)


def at_least_one(probability: Values, units: Values, periods: Values = 1) -> Values:
    """Chance that at least one of `units` parts fails within `periods`: ``1 - (1-p)^(n k)``.

    `probability` is one part's, per period. Chapter, Napkin Math 1.5.

    Other words: probability that any of many parts fails; failure within a day, a week.

    >>> round(at_least_one(1e-5, 24_576), 4), round(at_least_one(1e-5, 24_576, periods=7), 3)
    (0.2179, 0.821)
    """
    probability = fraction("probability", probability)
    units, periods = count("units", units, least=0), count("periods", periods, least=0)
    broadcastable(probability=probability, units=units, periods=periods)
    trials = units * periods
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = -np.expm1(trials * np.log1p(-np.asarray(probability)))
    return scalar_or_array(np.where(trials == 0, 0.0, chance))


def periods_to_first(probability: Values, units: Values) -> Values:
    """Mean number of periods up to and including the first with a failure: ``1 / (1 - (1-p)^n)``;
    `inf` where none ever fails.

    At 0.22 a day the first bad *day* is on average the 4.6th, while the first *failure* comes after
    4.1 days (`time_to_first`): a day with two failures is one bad day.

    >>> round(periods_to_first(1e-5, 24_576), 2)
    4.59
    """
    probability, units = fraction("probability", probability), count("units", units, least=0)
    broadcastable(probability=probability, units=units)
    chance = np.asarray(at_least_one(probability, units))
    return scalar_or_array(
        np.divide(1.0, chance, out=np.full(chance.shape, np.inf), where=chance > 0)
    )


def units_for(chance: Values, probability: Values) -> Values:
    """The fleet at which the chance of at least one failure reaches `chance`: ``ln(1-P) /
    ln(1-p)``, not rounded.

    `probability` is one part's, per period, more than zero and less than one.

    >>> round(units_for(0.5, 1e-5))
    69314
    """
    probability = number(
        "probability",
        probability,
        least=1e-300,
        most=1 - 1e-15,
        expected="more than 0 and less than 1",
    )
    chance = fraction("chance", chance)
    broadcastable(chance=chance, probability=probability)
    with np.errstate(divide="ignore"):
        return scalar_or_array(np.log1p(-np.asarray(chance)) / np.log1p(-probability) + 0.0)


def rate_from_mttf(mttf: Values) -> Values:
    """Failures per second of a part whose mean time to failure is `mttf` seconds: ``1 / mttf``.

    >>> from fabriclab.units import day, hour
    >>> round(8192 * rate_from_mttf(50_000 * hour) * day, 2)
    3.93
    """
    return scalar_or_array(1 / positive("mttf", mttf))


def rate_from_ppm(ppm: Values) -> Values:
    """Failures per second from parts per million and day: ``ppm 1e-6 / day``.

    >>> round(100_000 * rate_from_ppm(500) * day, 9)
    50.0
    """
    return scalar_or_array(nonnegative("ppm", ppm) * 1e-6 / day)


def rate_from_events(events: Values, period: Values, units: Values = 1) -> Values:
    """Failures per second of one part, from `events` seen among `units` parts in `period` seconds:
    ``n / (m t)``.

    How sure that is: `rate_bounds`.

    >>> from fabriclab.units import day, hour
    >>> round(1 / rate_from_events(419, 54 * day, 16_384) / hour)
    50677
    """
    events, exposure = _exposure(events, period, units)
    return scalar_or_array(events / exposure)


def rate_bounds(
    events: Values, period: Values, units: Values = 1, confidence: Values = 0.95
) -> tuple[float, ...]:
    """(least, most) failures per second of one part that `events` in `period` seconds among `units`
    parts leave possible.

    Each bound is missed with chance ``1 - confidence`` at most, so both together with twice that;
    0.975 gives the usual interval of 95 %. ``G^-1(1 - c; n) / (m t)`` and ``G^-1(c; n + 1) / (m
    t)``, G the gamma distribution of that shape: with none seen 0 and ``-ln(1 - c) / (m t)``, about
    3 over all the time watched. Garwood 1936.

    >>> from fabriclab.units import day, hour
    >>> [round(1 / rate / hour) for rate in rate_bounds(419, 54 * day, 16_384)]
    [55023, 46743]
    """
    events, exposure = _exposure(events, period, units)
    confidence = number(
        "confidence", confidence, least=0.5, most=1 - 1e-12, expected="from 0.5 to less than 1"
    )
    broadcastable(events=np.asarray(events + 0 * exposure), confidence=confidence)
    few = np.maximum(events, 0.5)  # the gamma of shape 0 is 0 itself
    least = np.where(np.asarray(events) > 0, special.gammaincinv(few, 1 - confidence), 0.0)
    most = special.gammaincinv(events + 1.0, confidence)
    return scalar_or_array(least / exposure), scalar_or_array(most / exposure)


def _exposure(events, period, units):
    events, period = count("events", events, least=0), positive("period", period)
    units = count("units", units)
    broadcastable(events=events, period=period, units=units)
    return events, units * period


def system_mttf(mttfs: Values, counts: Values) -> Values:
    """Seconds between failures of a system that stops when any part does: ``1 / sum(n_i /
    MTTF_i)``.

    `mttfs` and `counts` are lists of one length, one entry per kind of part.

    Other words: MTBF, mean time between failures of a cluster, of parts in series.

    >>> from fabriclab.units import hour
    >>> round(system_mttf([50e3 * hour, 150e3 * hour, 100e3 * hour, 200e3 * hour, 200e3 * hour],
    ...     [8, 8, 2, 1, 8]) / hour)
    3593
    """
    mttfs, counts = (
        np.atleast_1d(positive("mttfs", mttfs)),
        np.atleast_1d(count("counts", counts, least=0)),
    )
    if mttfs.shape != counts.shape or mttfs.ndim != 1:
        raise ValueError(
            f"mttfs and counts must be two lists of one length, not of shapes {mttfs.shape} and"
            f" {counts.shape}"
        )
    total = float(np.sum(counts / mttfs))
    return 1 / total if total else float("inf")


def expected_failures(rate: Values, units: Values, period: Values) -> Values:
    """Failures of the fleet in a period: ``n lambda t``.

    >>> from fabriclab.units import day, hour
    >>> round(expected_failures(rate_from_mttf(50_000 * hour), 24_576, day), 1)
    11.8
    """
    rate, units = _rate(rate), count("units", units, least=0)
    period = nonnegative("period", period)
    broadcastable(rate=rate, units=units, period=period)
    return scalar_or_array(rate * units * period)


def port_time_lost(
    rate: Values, units: Values, ports: Values, repair: Values, period: Values = YEAR
) -> Values:
    """Port-seconds lost in a period: ``n lambda t k r``, where each failure of one of `units` parts
    takes `ports` ports for `repair` seconds.

    What a repair takes counts, and not what broke: where an engine fails that only a new switch
    mends, `ports` are all of the switch's. Chapter, optical interconnects, has the part that is no
    longer replaced by itself.

    Other words: blast radius, field-replaceable unit, mean time to repair.

    >>> from fabriclab.units import hour
    >>> round(port_time_lost(rate_from_ppm(10), 128_000, 1, 1 * hour) / hour)
    467
    """
    rate, units = _rate(rate), count("units", units, least=0)
    ports, repair = count("ports", ports, least=0), nonnegative("repair", repair)
    period = nonnegative("period", period)
    broadcastable(rate=rate, units=units, ports=ports, repair=repair, period=period)
    return scalar_or_array(rate * units * period * ports * repair)


def time_to_first(rate: Values, units: Values = 1) -> Values:
    """Mean seconds to the fleet's first failure, and between failures: ``1 / (n lambda)``; `inf`
    where none ever fails. `rate` is one part's, per second: a mean time in its place is refused.

    >>> from fabriclab.units import day
    >>> round(time_to_first(rate_from_ppm(10), 24_576) / day, 2)
    4.07
    """
    rate, units = _rate(rate), count("units", units, least=0)
    broadcastable(rate=rate, units=units)
    total = np.asarray(rate * units)
    return scalar_or_array(np.divide(1.0, total, out=np.full(total.shape, np.inf), where=total > 0))


def failure_free(rate: Values, units: Values, period: Values) -> Values:
    """Chance that the fleet gets through a period without a failure: ``exp(-n lambda t)``.

    >>> from fabriclab.units import day, hour
    >>> round(failure_free(65 / day, 1, hour), 3)
    0.067
    """
    return scalar_or_array(np.exp(-np.asarray(expected_failures(rate, units, period))))


def transceivers(hosts: Values, tiers: Values, copper_hosts: bool = False) -> Values:
    """Optical modules of a non-blocking tree, two per link: ``2 hosts tiers``, or with copper to
    the hosts ``2 hosts (tiers - 1)``.

    The chapter's Napkin Math 1.5 counts the hosts' links too, though its section on media makes
    them passive copper.

    >>> transceivers(4096, 3), transceivers(4096, 3, copper_hosts=True)
    (24576.0, 16384.0)
    """
    hosts, tiers = count("hosts", hosts), count("tiers", tiers)
    copper = flag("copper_hosts", copper_hosts)
    broadcastable(hosts=hosts, tiers=tiers, copper_hosts=copper)
    return scalar_or_array(2 * hosts * (tiers - copper))


def young_interval(cost: Values, mtbf: Values) -> Values:
    """Seconds of work between two checkpoints that waste least: ``sqrt(2 C M)``, for a checkpoint
    of C seconds, C << M.

    Work, not the period: period = work + save, ``sqrt(2 C M) + C``; `best_interval` is exact.
    `mtbf` is the whole job's, see `time_to_first`. Young 1974.

    Other words: checkpoint, how often to save, best interval, Daly.

    >>> from fabriclab.units import day, minute
    >>> round(young_interval(60, day / 67.5) / minute, 1)
    6.5
    """
    cost, mtbf = nonnegative("cost", cost), positive("mtbf", mtbf)
    broadcastable(cost=cost, mtbf=mtbf)
    return scalar_or_array(np.sqrt(2 * cost * mtbf))


def best_interval(cost: Values, mtbf: Values) -> Values:
    """Seconds of work between two checkpoints at which `wasted_share` is least, exactly: the root
    of ``(1 - tau/M) e^((tau + C)/M) = 1``.

    Work, not the period: period = work + save. A restart of R seconds makes every failure dearer by
    the same factor e^(R/M), so it moves the waste and not the best interval. More than Young's
    ``sqrt(2 C M) - C`` and never more than M. Daly 2006, whose series this root agrees with; his
    first-order ``sqrt(2 C (M + R)) - C`` is for rare failures and keeps R.

    >>> from fabriclab.units import day, minute
    >>> round(best_interval(60, day / 67.5) / minute, 2), round(best_interval(3600, 60), 2)
    (5.88, 60.0)
    """
    cost, mtbf = nonnegative("cost", cost), positive("mtbf", mtbf)
    broadcastable(cost=cost, mtbf=mtbf)
    c = np.minimum(np.asarray(cost / mtbf), 100.0)  # beyond, the root is M to the last digit
    root = np.sqrt(c / 2)
    share = np.where(c < 2, 2 * root * (1 + root / 3 + c / 18) - c, 1.0)  # Daly's series
    for _ in range(6):  # Newton, from above; for tiny c the series is exact
        slope = -np.expm1(-(share + np.maximum(c, 1e-6)))
        share = np.where(c > 1e-6, share - (share - slope) / slope, share)
    return scalar_or_array(share * mtbf)


def wasted_share(interval: Values, cost: Values, mtbf: Values, *, restart: Values = 0.0) -> Values:
    """Share of the time that is not work: ``1 - tau / (M e^(R/M) (e^((tau+C)/M) - 1))``; exact for
    failures at random.

    A job works `interval` seconds, then saves for `cost` (period = work + save); a failure throws
    it back to the last checkpoint and costs `restart`, during which it may fail again. It tends to
    1 where no interval is ever finished: 1 for an `interval` of `inf`, a job that never saves and
    never ends. ``C/(tau + C)`` for an `mtbf` of `inf`. The share is of *all* the time: the sum
    ``C/tau + tau/2M`` that Young's interval makes least is per second of *work*.
    Daly 2006, equation for the complete cost.

    Other words: lost work, goodput, checkpoint overhead, restart.

    >>> from fabriclab.units import day, hour, minute
    >>> round(wasted_share(1 * hour, 1 * minute, day / 67.5),
    ...     2), round(wasted_share(6.5 * minute, 1 * minute, day / 67.5), 2)
    (0.83, 0.28)
    """
    interval, cost, mtbf, restart = (
        _or_inf("interval", interval),
        nonnegative("cost", cost),
        _or_inf("mtbf", mtbf),
        nonnegative("restart", restart),
    )
    broadcastable(interval=interval, cost=cost, mtbf=mtbf, restart=restart)
    if mtbf is np.inf or interval is np.inf:
        never = 0.0 if mtbf is np.inf else 1.0
        share = np.asarray(never if interval is np.inf else cost / (interval + cost))
        return scalar_or_array(
            share + np.zeros(np.broadcast_shapes(*map(np.shape, (interval, cost, mtbf, restart))))
        )
    # both exponents are negative, so nothing overflows: tau/M e^-((tau+C+R)/M) / (1 -
    # e^-((tau+C)/M))
    span = np.asarray((interval + cost) / mtbf)
    return scalar_or_array(
        np.maximum(
            0.0, 1 + np.asarray(interval / mtbf) * np.exp(-span - restart / mtbf) / np.expm1(-span)
        )
    )
