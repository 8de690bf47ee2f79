"""Sharing alive: tenants on one port under a water level, and a checkpoint beside an AllReduce
under four rules. Floor 6.
"""

import numpy as np

from fabriclab import catalog, cluster
from fabriclab.course.engine import plot
from fabriclab.course.engine.explorer import Explorer, slider, steps
from fabriclab.course.sharing import figures as drawings
from fabriclab.units import GB, Gbps, ms, si

TENANTS = ("training", "serving", "data")
RATES = [
    rate * Gbps
    for rate in (
        0,
        10,
        20,
        30,
        40,
        50,
        60,
        80,
        100,
        120,
        150,
        160,
        200,
        240,
        250,
        300,
        320,
        350,
        400,
    )
]
WEIGHTS = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16]


def _rate(value):
    return "none" if np.isinf(value) else si(value, "b/s", 4)


def _seconds(value):
    return si(value, "s", 4)


def _bytes(value):
    return si(value, "B", 4)


def shares(
    demands=(400 * Gbps, 30 * Gbps, 400 * Gbps), weights=(8, 1, 1), caps=(np.inf, np.inf, np.inf)
):
    """Three tenants on one NDR port alive: what each wants, its weight, its cap, and what max-min
    fairness gives it.

    It starts with the chapter's 80 % for training, and inference serving and data preparation
    beside it.
    """
    controls = {}
    for name, demand, weight, cap in zip(TENANTS, demands, weights, caps):
        controls[f"{name} wants"] = slider(f"{name} wants", RATES, _rate, demand)
        controls[f"{name} weight"] = slider(f"{name} weight", WEIGHTS, "{:g}".format, weight)
        controls[f"{name} cap"] = slider(f"{name} cap", [*RATES[1:], np.inf], _rate, cap)
    port = catalog.link_rate("NDR").per_direction

    def columns(values):
        return [
            np.array([values[f"{name} {what}"] for name in TENANTS], dtype=float)
            for what in ("wants", "weight", "cap")
        ]

    def move(**values):
        demands, weights, caps = columns(values)
        drawings.move_shares(artists, TENANTS, demands, port, weights, caps)
        rates = cluster.max_min(demands, port, weights, caps)
        level, idle = cluster.water_level(demands, port, weights, caps), port - rates.sum()
        missed = max(0.0, demands.sum() - rates.sum())
        lines = [
            f"{name}: gets {_rate(rate)} of {_rate(demand)}; its weight guarantees"
            f" {_rate(port * weight / weights.sum())}."
            for name, rate, demand, weight in zip(TENANTS, rates, demands, weights)
        ]
        if np.isinf(level):
            state = f"not full: {_rate(idle)} idle" if idle > 1e-9 * port else "just full"
            lines.append(
                f"The port is {state}"
                + (
                    f", while caps keep back {_rate(missed)} that is wanted."
                    if missed
                    else "; all have what they want."
                )
            )
        else:
            lines.append(
                f"The port is full, at {_rate(level)} for each unit of weight; {_rate(missed)} more"
                " is wanted."
            )
        return "\n".join(lines)

    figure, axes = plot.new(7.6, 3.6)
    demands, weights, caps = columns({name: control.value for name, control in controls.items()})
    artists = drawings.shares(axes, TENANTS, demands, port, weights, caps)
    return Explorer(
        controls,
        figure,
        [artist for name, group in artists.items() if name != "legend" for artist in group],
        move,
        alt=(
            "Three vessels as wide as the tenants' weights and as high as their demands, with water"
            " to one level: areas are shares of the port."
        ),
        rows=[[f"{name} wants", f"{name} weight"] for name in TENANTS]
        + [[f"{name} cap" for name in TENANTS[:2]], [f"{TENANTS[2]} cap"]],
    )


def isolation(size=12 * GB, burst=100 * GB, share=0.8, flows=1.0, start=0.0):
    """A checkpoint of `burst` bytes beside an AllReduce that puts `size` bytes on the same NDR
    link, alive, under four rules at once.

    It starts with the chapter's 100 GB and what a ring AllReduce of 6 GB puts on a link; `share` of
    the link is the AllReduce's by weight or by rate limits, and in one lane the checkpoint has
    `flows` flows for each of the AllReduce's.
    """
    controls = {
        "size": slider("AllReduce", steps(1 * GB, 1000 * GB), _bytes, size),
        "burst": slider("checkpoint", [0.0, *steps(1 * GB, 1000 * GB)], _bytes, burst),
        "share": slider(
            "AllReduce's share", [k / 20 for k in range(1, 20)], "{:.0%}".format, share
        ),
        "flows": slider(
            "flows in one lane",
            [1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0, 8.0, 16.0],
            lambda n: f"{n:g} to 1" if n >= 1 else f"1 to {1 / n:g}",
            flows,
        ),
        "start": slider("checkpoint begins", [0.0, *steps(10 * ms, 10.0)], _seconds, start),
    }
    port = catalog.link_rate("NDR").per_direction

    def links(**values):
        return cluster.isolation(
            values["size"], values["burst"], port, values["share"], values["flows"], values["start"]
        )

    def move(**values):
        now = links(**values)
        drawings.move_isolation(artists, now, port)
        alone = values["size"] / port
        return "\n".join(
            [
                (
                    f"AllReduce alone {_seconds(alone)}; under the rules, from above:"
                    f" {', '.join(_seconds(link.finish[0]) for link in now.values())}."
                ),
                (
                    "Checkpoint done at"
                    f" {', '.join(_seconds(link.finish[1]) for link in now.values())}."
                ),
                (
                    f"In one lane the AllReduce takes {now['one lane'].finish[0] / alone - 1:.0%}"
                    f" longer; whatever the flows, {_seconds(values['burst'] / port)} more at most."
                ),
            ]
        )

    figure, axes = plot.new(7.8, 4.2)
    artists = drawings.isolation(
        axes, links(**{name: control.value for name, control in controls.items()}), port
    )
    return Explorer(
        controls,
        figure,
        [
            artist
            for name, group in artists.items()
            if name not in ("legend", "link")
            for artist in group
        ],
        move,
        alt=(
            "A link in time under four rules: one lane, rate limits, weighted lanes, strict"
            " priority; the AllReduce's rate from below and the checkpoint's from above."
        ),
        rows=[["size", "burst"], ["share", "flows"], ["start"]],
    )
