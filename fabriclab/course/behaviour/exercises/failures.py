"""Exercises of level 4: failing fleets and checkpoints."""

import math

from fabriclab import reliability
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.formula import Formula
from fabriclab.course.engine.exercises.kinds import Quantity
from fabriclab.course.engine.exercises.slips import BOTH_WAYS, Slip
from fabriclab.units import day, minute, si


def _fleet(draw, ppms=(5, 10, 20)):
    return {
        "gpus": draw.pick("gpus", (2048, 4096, 8192)),
        "tiers": draw.pick("tiers", (2, 3)),
        "ppm": draw.pick("ppm", ppms),
    }


def _modules(x):
    return reliability.transceivers(x.gpus, x.tiers)


def _fleet_words(x):
    return (
        f"{x.gpus:,} GPUs hang on a non-blocking tree of {x.tiers} tiers, every link of it optical,"
        " the hosts' included, with a transceiver at each end. Each transceiver degrades with"
        f" {x.ppm} in a million a day"
    )


EXERCISES = [
    Exercise(
        id="behaviour.week",
        title="At least one, in a week",
        chinese="至少一个收发器发生性能退化的概率",
        numbers=_fleet,
        prompt=(
            "{fleet_words}, independently of the others. What is the chance that in a "
            "*week* at least one does? Napkin Math 1.5 asks it of a day."
        ),
        kind=Quantity(
            lambda x: reliability.at_least_one(x.ppm * 1e-6, _modules(x), 7),
            "number",
            slips=(
                Slip(
                    "links for transceivers",
                    "you counted links; each has a transceiver at either end",
                    lambda x: reliability.at_least_one(x.ppm * 1e-6, _modules(x) / 2, 7),
                ),
                Slip(
                    "a day for a week",
                    "you gave the chance for a day",
                    lambda x: reliability.at_least_one(x.ppm * 1e-6, _modules(x)),
                ),
                Slip(
                    "added up the days",
                    "you added up the chances of seven days; the complements multiply",
                    lambda x: 7 * reliability.at_least_one(x.ppm * 1e-6, _modules(x)),
                ),
                Slip(
                    "added up the parts",
                    "you gave how many degrade in a week on average, which may well exceed one",
                    lambda x: x.ppm * 1e-6 * _modules(x) * 7,
                ),
            ),
        ),
        hints=(
            "How many links does a tree of so many tiers have, and how many transceivers?",
            (
                "The chance that none does, in any of seven days; then its complement. `1 -"
                " (1-p)**n` or -expm1(n log1p(-p))."
            ),
        ),
        moral=(
            "It says nothing of a PFC storm: for that you need the chance that a bad part sets one"
            " off."
        ),
        places={"fleet_words": _fleet_words},
    ),
    Exercise(
        id="behaviour.between",
        title="How long between two",
        chinese="平均故障间隔",
        numbers=_fleet,
        prompt=(
            "{fleet_words}, day and night alike, and is replaced at once. How much time "
            "passes on average from one degraded part of this fleet to the next? It is "
            "the M that checkpoint intervals are made from."
        ),
        kind=Quantity(
            lambda x: reliability.time_to_first(reliability.rate_from_ppm(x.ppm), _modules(x)),
            "time",
            slips=(
                Slip(
                    "first bad day",
                    "you gave the average number of days up to the first bad one; a day with two"
                    " failures is one bad day, and a day counts in full",
                    lambda x: reliability.periods_to_first(x.ppm * 1e-6, _modules(x)) * day,
                ),
                Slip(
                    BOTH_WAYS,
                    "you counted links; each has a transceiver at either end",
                    lambda x: reliability.time_to_first(
                        reliability.rate_from_ppm(x.ppm), _modules(x) / 2
                    ),
                ),
                Slip(
                    "one part's",
                    "you gave one transceiver's time between failures",
                    lambda x: reliability.time_to_first(reliability.rate_from_ppm(x.ppm)),
                ),
            ),
        ),
        hints=(
            "How many degrade in a day on average, in the whole fleet?",
            "Rates add up. The mean time between two is one over the fleet's rate.",
        ),
        moral=(
            "Napkin Math 1.5's fleet: one every 4.07 days, while its first bad day is on average"
            " the 4.59th."
        ),
        places={"fleet_words": _fleet_words},
    ),
    Exercise(
        id="behaviour.young",
        title="How often to save",
        chinese="检查点间隔",
        numbers={},
        prompt=(
            "A job saves its state after every tau seconds of work; a save takes C "
            "seconds. Failures come M seconds apart on average, M far above C, and one "
            "costs half of an interval on average, which is done again. Write down the "
            "share of time lost, and derive the tau at which it is least."
        ),
        kind=Formula(
            ("C", "M"),
            lambda C, M: reliability.young_interval(C, M),
            lambda draw: [
                {"C": 10 ** (2.5 * draw.share(f"C {i}")), "M": 10 ** (3 + 3 * draw.share(f"M {i}"))}
                for i in range(10)
            ],
            slips=(
                (
                    "lost the whole interval",
                    (
                        "you lost a whole interval to each failure; they come anywhere in it, on"
                        " average half-way"
                    ),
                    lambda C, M: math.sqrt(C * M),
                ),
                (
                    "forgot the root",
                    "you did not take the root; check the unit: the answer is a time",
                    lambda C, M: 2 * C * M,
                ),
                (
                    "upside down",
                    (
                        "numerator and denominator changed places: rarer failures ask for longer"
                        " intervals, cheaper saves for shorter ones"
                    ),
                    lambda C, M: math.sqrt(2 * M / C),
                ),
            ),
            answer="sqrt(2*C*M)",
        ),
        hints=(
            "Saving costs C in every tau; a failure, once in M, costs tau/2.",
            "sympy.diff, then sympy.solve, with the symbols positive.",
        ),
        moral=(
            "Young, 1974. It is flat at its bottom: half or double the interval costs a quarter"
            " more waste, no more."
        ),
    ),
    Exercise(
        id="behaviour.interval",
        title="When failures are no longer rare",
        chinese="故障频繁时的检查点间隔",
        numbers=lambda draw: {
            "cost": draw.pick("cost", (4, 6, 9)) * minute,
            "mtbf": draw.pick("mtbf", (30, 45, 70)) * minute,
        },
        prompt=lambda x: (
            f"A job on 100,000 GPUs fails every {si(x.mtbf, 's')} on average, and a save takes"
            f" {si(x.cost, 's')}. Young's rule takes failures to be rare. Failures that come at any"
            " moment, saves included, make a segment of t seconds of work take"
            " M (exp((t + C)/M) - 1) on average. How much *work* should lie between two saves?"
        ),
        kind=Quantity(
            lambda x: reliability.best_interval(x.cost, x.mtbf),
            "time",
            tolerance=0.01,
            slips=(
                Slip(
                    "Young's rule",
                    "you took Young's rule, which is for saves far shorter than the time between"
                    " failures",
                    lambda x: reliability.young_interval(x.cost, x.mtbf),
                ),
                Slip(
                    "Young less the save",
                    "you took the save off Young's period; that is the first term of a series",
                    lambda x: reliability.young_interval(x.cost, x.mtbf) - x.cost,
                ),
                Slip(
                    "the period for the work",
                    "you gave work and save together; the question is for the work",
                    lambda x: reliability.best_interval(x.cost, x.mtbf) + x.cost,
                ),
            ),
        ),
        hints=(
            "What share of the time on average is work? Put t over the time of a segment.",
            "Set the derivative to zero: (1 - t/M) exp((t + C)/M) = 1. scipy.optimize.brentq"
            " between 0 and M.",
        ),
        moral="Where a save costs a tenth of the time between failures, Young saves too rarely.",
    ),
]
