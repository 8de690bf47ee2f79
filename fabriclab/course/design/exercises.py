"""The capstone's exercises: how often the machine stops, the design itself, its defence.

The lists numbers are drawn from are part of what students were given: add exercises, but do not
change these lists.
"""

import functools

from fabriclab import catalog, reliability
from fabriclab.course.design.brief import BRIEF, asked
from fabriclab.course.design.judge import judge
from fabriclab.course.design.order import Design
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.kinds import Free
from fabriclab.course.engine.exercises.tasks import Built, Estimate
from fabriclab.course.engine.exercises.template import pick
from fabriclab.units import MW, Gbps, si

PLAIN = Design(chip=catalog.ASIC_51T.name, module="400G DR4")  # the one to beat
OURS = Design(
    fabric="separate rails",
    chip=catalog.ASIC_51T.name,
    port=800 * Gbps,
    oversubscription=3,
    planes=4,
    module="800G 2xDR4",
    hosts_on_fibre=True,
    spares=4,
)


@functools.lru_cache(maxsize=256)
def _judged(design, dollars, watts, experts):
    return judge(design, asked(dollars, watts, experts))


def _report(design, x):
    return _judged(design, x.dollars, x.watts, x.experts)


def _faults(design, x):
    """What is wrong with a design: what keeps it from being built, or that the plain one is as
    good.
    """
    report, bar = _report(design, x), _report(PLAIN, x).price
    if not report.feasible:
        return [f"{reason[0].upper()}{reason[1:]}." for reason in report.reasons]
    if report.price >= bar:
        return [
            f"Price: it can be built, and a useful accelerator costs {si(report.price, '$')} in it;"
            f" the plain tree's {si(bar, '$')} are to be beaten."
        ]
    return []


def _praise(design, x):
    report = _report(design, x)
    return (
        f"It can be built, and leaves {report.useful:,.0f} useful accelerators for"
        f" {si(report.price, '$')} each."
    )


def _between(x):
    rates = [BRIEF.accelerator_rate, BRIEF.module_rate]
    stops = [
        reliability.expected_failures(rate, n, 1.0)
        for rate, n in zip(rates, (x.accelerators, 2 * x.accelerators * (x.tiers - 1)))
    ]
    return 1 / sum(stops)


EXERCISES = [
    Exercise(
        id="design.stops",
        title="How long until it stops",
        chinese="估计平均无故障时间",
        numbers={"accelerators": pick(2048, 4096, 8192, 16_384), "tiers": pick(2, 3)},
        prompt=(
            "{accelerators:,} accelerators under {tiers} tiers, hosts on copper. A run of 16,384"
            " accelerators met 419 unexpected stops in 54 days (Llama 3). A module fails with a"
            " chance of 0.001 % a day, and each failure stops the job. How long does the job run"
            " between two stops, on average?"
        ),
        kind=Estimate(_between, "time", widest=6.0),
        hints=(
            "Stops a day of that run, scaled to these accelerators; then the modules' own.",
            "Two modules on each link between switches, one such link an accelerator and tier.",
        ),
        moral=(
            "Accelerators stop a job far more often than modules do: four thousand of them about"
            " twice a day. The checkpoint follows from that, and so does the number of spares."
        ),
    ),
    Exercise(
        id="design.order",
        title="Design the fabric",
        chinese="设计一个 4,096 加速器的网络",
        numbers={
            "dollars": pick(22e6, 24e6, 26e6),
            "watts": pick(5.74 * MW, 5.8 * MW),
            "experts": pick(0.2, 0.4, 0.6),
        },
        prompt=(
            "The brief of notebook 14: 4,096 accelerators, to grow to 16,384. {dollars:$} for the"
            " network and the spare nodes, {watts:W} for everything, {racks} racks; the mixture of"
            " experts has {experts:.0%} of the hours. Return a `Design` that can be built and"
            " beats a plain tree of 51.2 Tb/s chips with 400G ports: there a useful accelerator"
            " costs {bar:$}, nodes and network together."
        ),
        kind=Built(Design, _faults, _praise, lambda x: OURS, "Design"),
        hints=(
            "`judge(Design(...), asked(q.dollars, q.watts, q.experts))` says line by line what it"
            " comes to, and why not.",
            "Where does the plain tree lose its accelerators: in exposed communication, or between"
            " checkpoints? Which of the two can money mend?",
        ),
        moral=(
            "Others may beat it: compare with `front`. What a faster port costs in watts, a taper"
            " may give back, if the jobs do not meet the cut."
        ),
        places={"bar": lambda x: _report(PLAIN, x).price, "racks": lambda x: BRIEF.racks},
    ),
    Exercise(
        id="design.defence",
        title="Defend it",
        chinese="为你的设计辩护",
        prompt=(
            "Two pages at most. Defend your design before the people who pay for it. What does it"
            " buy, and what did you give up for it? Which line of the report binds, and what would"
            " you do with ten per cent more of that? Which assumption, if it is wrong, breaks the"
            " design, and what would you measure in the first week to know?"
        ),
        kind=Free(least_words=100, worth=10),
        hints=("Change one field at a time, and say what it did to which line.",),
    ),
]
