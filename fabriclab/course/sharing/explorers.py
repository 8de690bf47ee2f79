"""Sharing alive: tenants on one port under a water level, and a checkpoint beside an AllReduce
under four rules.
"""

import numpy as np

from fabriclab import catalog, cluster
from fabriclab.course.engine.explorer import Grip, explorer, slider, steps
from fabriclab.course.sharing import figures as drawings
from fabriclab.units import GB, Gbps, ms, si

TENANTS = ("training", "serving", "data")
GIGABITS = (0, 10, 20, 30, 40, 50, 60, 80, 100, 120, 150, 160, 200, 240, 250, 300, 320, 350, 400)
RATES = [rate * Gbps for rate in GIGABITS]
WEIGHTS = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16]
PORT = catalog.link_rate("NDR").per_direction


def _rate(value):
    return "none" if np.isinf(value) else si(value, "b/s")


def _wants(name):
    return {f"{name}_wants": slider(f"{name} wants", RATES, _rate)}


def _weights(*names):
    return {f"{name}_weight": slider(f"{name} weight", WEIGHTS, "{:g}") for name in names}


def _grips(**at):
    """A vessel's brim moves what its tenant wants, its side the weight, its lid the cap."""
    weights = np.array([at[f"{name}_weight"] for name in TENANTS], float)
    top = 1.08 * PORT / Gbps
    for number, (name, weight) in enumerate(zip(TENANTS, weights)):
        left, right = (edge[number] for edge in drawings.vessels(weights))
        # the last one ends where the picture does: its left side is the one that moves
        side, unit = int(number < len(TENANTS) - 1), weight * Gbps
        height = min(at[f"{name}_wants"] / unit, 0.97 * top)
        middle = (left + right) / 2

        def wants(x, y, name=name, unit=unit):
            return {f"{name}_wants": y * unit}

        def wider(x, y, name=name, number=number, side=side):
            def off(choice):
                tried = [*weights[:number], choice, *weights[number + 1 :]]
                return abs(drawings.vessels(tried)[side][number] - x)

            return {f"{name}_weight": min(WEIGHTS, key=off)}

        def lid(x, y, name=name, unit=unit):
            return {f"{name}_cap": y * unit}

        yield Grip((middle, height), wants)
        yield Grip(((left, right)[side], max(height / 2, 0.05 * top)), wider)
        if at[f"{name}_cap"] / unit < top:
            yield Grip((left + 0.15 * (right - left), at[f"{name}_cap"] / unit), lid)


def _caps(*names):
    return {f"{name}_cap": slider(f"{name} cap", [*RATES[1:], np.inf], _rate) for name in names}


@explorer(
    drawings.shares,
    drawings.move_shares,
    [_wants(TENANTS[0]), _wants(TENANTS[1]) | _wants(TENANTS[2])],
    alt="Three vessels as wide as the tenants' weights and as high as their demands, with water to"
    " one level: areas are shares of the port.",
    size=(7.6, 3.6),
    more=[_weights(*TENANTS[:2]), _weights(TENANTS[2]), _caps(*TENANTS[:2]), _caps(TENANTS[2])],
    grips=_grips,
)
def shares(
    training_wants=400 * Gbps,
    training_weight=8,
    training_cap=np.inf,
    serving_wants=30 * Gbps,
    serving_weight=1,
    serving_cap=np.inf,
    data_wants=400 * Gbps,
    data_weight=1,
    data_cap=np.inf,
):
    """Three tenants on one NDR port alive: what each wants, its weight, its cap, and what max-min
    fairness gives it.

    It starts with the chapter's 80 % for training, and inference serving and data preparation
    beside it.
    """
    demands = np.array([training_wants, serving_wants, data_wants], dtype=float)
    weights = np.array([training_weight, serving_weight, data_weight], dtype=float)
    caps = np.array([training_cap, serving_cap, data_cap], dtype=float)
    rates = cluster.max_min(demands, PORT, weights, caps)
    level, idle = cluster.water_level(demands, PORT, weights, caps), PORT - rates.sum()
    missed = max(0.0, demands.sum() - rates.sum())
    if not np.isinf(level):
        last = (
            f"The port is full, at {_rate(level)} for each unit of weight; {_rate(missed)} more is"
            " wanted."
        )
    else:
        last = (
            f"The port is {f'not full: {_rate(idle)} idle' if idle > 1e-9 * PORT else 'just full'}"
        )
        last += (
            f", while caps keep back {_rate(missed)} that is wanted."
            if missed
            else "; all have what they want."
        )
    return (TENANTS, demands, PORT, weights, caps), [
        *(
            f"{name}: gets {_rate(rate)} of {_rate(demand)}; its weight guarantees"
            f" {_rate(PORT * weight / weights.sum())}."
            for name, rate, demand, weight in zip(TENANTS, rates, demands, weights)
        ),
        last,
    ]


@explorer(
    drawings.isolation,
    drawings.move_isolation,
    [
        {
            "size": slider("AllReduce", steps(1 * GB, 1000 * GB), "B"),
            "burst": slider("checkpoint", [0.0, *steps(1 * GB, 1000 * GB)], "B"),
        },
        {
            "share": slider("AllReduce's share", [k / 20 for k in range(1, 20)], "{:.0%}"),
            "flows": slider(
                "flows in one lane",
                [1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0, 8.0, 16.0],
                lambda n: f"{n:g} to 1" if n >= 1 else f"1 to {1 / n:g}",
            ),
        },
        {"start": slider("checkpoint begins", [0.0, *steps(10 * ms, 10.0)], "s")},
    ],
    alt="A link in time under four rules: one lane, rate limits, weighted lanes, strict priority;"
    " the AllReduce's rate from below and the checkpoint's from above.",
    size=(7.8, 4.2),
    still=("legend", "link"),
)
def isolation(size=12 * GB, burst=100 * GB, share=0.8, flows=1.0, start=0.0):
    """A checkpoint of `burst` bytes beside an AllReduce that puts `size` bytes on the same NDR
    link, alive, under four rules at once.

    It starts with the chapter's 100 GB and what a ring AllReduce of 6 GB puts on a link; `share` of
    the link is the AllReduce's by weight or by rate limits, and in one lane the checkpoint has
    `flows` flows for each of the AllReduce's.
    """
    links = cluster.isolation(size, burst, PORT, share, flows, start)
    alone = size / PORT
    ends = zip(*(link.finish for link in links.values()))
    mine, its = (", ".join(si(end, "s") for end in finish) for finish in ends)
    return (links, PORT), [
        f"AllReduce alone {si(alone, 's')}; under the rules, from above: {mine}.",
        f"Checkpoint done at {its}.",
        f"In one lane the AllReduce takes {links['one lane'].finish[0] / alone - 1:.0%} longer;"
        f" whatever the flows, {si(burst / PORT, 's')} more at most.",
    ]
