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

from fabriclab.checks import count, fraction, nonnegative, number, positive, scalar_or_array
from fabriclab.units import day

YEAR = 365 * day


def at_least_one(probability, units, periods=1):
    """Chance that at least one of `units` parts fails within `periods`: ``1 - (1-p)^(n k)``.

    `probability` is one part's, per period. Chapter, Napkin Math 1.5.

    >>> round(at_least_one(1e-5, 24_576), 4), round(at_least_one(1e-5, 24_576, periods=7), 3)
    (0.2179, 0.821)
    """
    probability, trials = (
        fraction("probability", probability),
        count("units", units, least=0) * count("periods", periods, least=0),
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = -np.expm1(trials * np.log1p(-np.asarray(probability)))
    return scalar_or_array(np.where(trials == 0, 0.0, chance))


def periods_to_first(probability, units):
    """Mean number of periods up to and including the first with a failure: ``1 / (1 - (1-p)^n)``;
    `inf` where none ever fails.

    At 0.22 a day the first bad *day* is on average the 4.6th, while the first *failure* comes after
    4.1 days (`time_to_first`): a day with two failures is one bad day.

    >>> round(periods_to_first(1e-5, 24_576), 2)
    4.59
    """
    chance = np.asarray(at_least_one(probability, units))
    return scalar_or_array(
        np.divide(1.0, chance, out=np.full(chance.shape, np.inf), where=chance > 0)
    )


def units_for(chance, probability):
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
    with np.errstate(divide="ignore"):
        return scalar_or_array(
            np.log1p(-np.asarray(fraction("chance", chance))) / np.log1p(-probability) + 0.0
        )


def rate_from_mttf(mttf):
    """Failures per second of a part whose mean time to failure is `mttf` seconds: ``1 / mttf``.

    >>> from fabriclab.units import day, hour
    >>> round(8192 * rate_from_mttf(50_000 * hour) * day, 2)
    3.93
    """
    return scalar_or_array(1 / positive("mttf", mttf))


def rate_from_ppm(ppm):
    """Failures per second from parts per million and day: ``ppm 1e-6 / day``.

    >>> round(100_000 * rate_from_ppm(500) * day, 9)
    50.0
    """
    return scalar_or_array(nonnegative("ppm", ppm) * 1e-6 / day)


def system_mttf(mttfs, counts):
    """Seconds between failures of a system that stops when any part does: ``1 / sum(n_i /
    MTTF_i)``.

    `mttfs` and `counts` are lists of one length, one entry per kind of part.

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


def expected_failures(rate, units, period):
    """Failures of the fleet in a period: ``n lambda t``.

    >>> from fabriclab.units import day, hour
    >>> round(expected_failures(rate_from_mttf(50_000 * hour), 24_576, day), 1)
    11.8
    """
    return scalar_or_array(
        nonnegative("rate", rate) * count("units", units, least=0) * nonnegative("period", period)
    )


def time_to_first(rate, units=1):
    """Mean seconds to the fleet's first failure, and between failures: ``1 / (n lambda)``; `inf`
    where none ever fails.

    >>> from fabriclab.units import day
    >>> round(time_to_first(rate_from_ppm(10), 24_576) / day, 2)
    4.07
    """
    total = np.asarray(nonnegative("rate", rate) * count("units", units, least=0))
    return scalar_or_array(np.divide(1.0, total, out=np.full(total.shape, np.inf), where=total > 0))


def failure_free(rate, units, period):
    """Chance that the fleet gets through a period without a failure: ``exp(-n lambda t)``.

    >>> from fabriclab.units import day, hour
    >>> round(failure_free(65 / day, 1, hour), 3)
    0.067
    """
    return scalar_or_array(np.exp(-np.asarray(expected_failures(rate, units, period))))


def transceivers(hosts, tiers, copper_hosts=False):
    """Optical modules of a non-blocking tree, two per link: ``2 hosts tiers``, or with copper to
    the hosts ``2 hosts (tiers - 1)``.

    The chapter's Napkin Math 1.5 counts the hosts' links too, though its section on media makes
    them passive copper.

    >>> transceivers(4096, 3), transceivers(4096, 3, copper_hosts=True)
    (24576.0, 16384.0)
    """
    return scalar_or_array(2 * count("hosts", hosts) * (count("tiers", tiers) - bool(copper_hosts)))


def young_interval(cost, mtbf):
    """Seconds of work between two checkpoints that waste least: ``sqrt(2 C M)``, for a checkpoint
    of C seconds, C << M.

    `mtbf` is the whole job's, see `time_to_first`. Young 1974.

    >>> from fabriclab.units import day, minute
    >>> round(young_interval(60, day / 67.5) / minute, 1)
    6.5
    """
    return scalar_or_array(np.sqrt(2 * nonnegative("cost", cost) * positive("mtbf", mtbf)))


def wasted_share(interval, cost, mtbf, restart=0.0):
    """Share of the time that is not work: ``1 - tau / (M e^(R/M) (e^((tau+C)/M) - 1))``; exact for
    failures at random.

    A job works `interval` seconds, then saves for `cost`; a failure throws it back to the last
    checkpoint and costs `restart`, during which it may fail again. Near 0 for rare failures, it
    tends to 1 where no interval is ever finished.
    Daly 2006, equation for the complete cost.

    >>> from fabriclab.units import day, hour, minute
    >>> round(wasted_share(1 * hour, 1 * minute, day / 67.5),
    ...     2), round(wasted_share(6.5 * minute, 1 * minute, day / 67.5), 2)
    (0.83, 0.28)
    """
    interval, cost, mtbf, restart = (
        positive("interval", interval),
        nonnegative("cost", cost),
        positive("mtbf", mtbf),
        nonnegative("restart", restart),
    )
    # both exponents are negative, so nothing overflows: tau/M e^-((tau+C+R)/M) / (1 -
    # e^-((tau+C)/M))
    span = np.asarray((interval + cost) / mtbf)
    return scalar_or_array(
        np.maximum(
            0.0, 1 + np.asarray(interval / mtbf) * np.exp(-span - restart / mtbf) / np.expm1(-span)
        )
    )
