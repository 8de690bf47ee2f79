"""Drawings for level 4, fleets that fail: at least one of many parts, and how often to save the
state.
"""

import numpy as np

from fabriclab import reliability
from fabriclab.course.engine.plot import COLOURS, SERIES, drawing, log_axis
from fabriclab.units import day, hour, minute, si

LONGEST = 30 * day  # between checkpoints
_CLEAR = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1}
_NEAR = {"textcoords": "offset points"}


def apart(places, least):
    """`places` (None among them stays) moved as little as keeps neighbours `least` apart."""
    order = sorted(
        (i for i, place in enumerate(places) if place is not None), key=lambda i: places[i]
    )
    up, down = list(places), list(places)
    for before, i in zip(order, order[1:]):
        up[i] = max(up[i], up[before] + least)
    for after, i in zip(order[::-1], order[-2::-1]):
        down[i] = min(down[i], down[after] - least)
    return [None if place is None else (up[i] + down[i]) / 2 for i, place in enumerate(places)]


@drawing
def at_least_one(ax, rates, units=24_576, period=day):
    """Chance that at least one of a fleet fails within `period` seconds against the fleet's size,
    ``1 - exp(-n lambda t)``.

    `rates` maps a name to failures per second of one part: the text's ``rate_from_ppm(10)``, the
    appendix's ``rate_from_mttf(50_000 * hour)``. Dots stand at `units` parts. Returns the artists,
    lists by name.
    """
    log_axis(ax.xaxis, "", 1, 2e6)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    ax.set(
        ylim=(0, 1.04),
        yticks=[0, 0.25, 0.5, 0.75, 1],
        xlabel="parts in the fleet",
        ylabel="P(at least one)",
    )
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    artists = {
        "units": ax.plot([], [], "--", color=COLOURS["muted"], linewidth=1.4),
        "chances": [
            ax.plot([], [], color=COLOURS[colour], linestyle=dash, label=name)[0]
            for name, (colour, dash) in zip(rates, SERIES)
        ],
        "marked": [
            ax.plot([], [], "o", color=COLOURS[colour], markersize=8)[0]
            for _, (colour, _) in zip(rates, SERIES)
        ],
        "labels": [
            ax.annotate(
                "",
                (1, 0),
                (9, 0),
                xycoords=ax.get_xaxis_transform(),
                va="center",
                bbox=_CLEAR,
                **_NEAR,
            )
            for _ in rates
        ],
    }
    artists["legend"] = ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2
    )
    move_at_least_one(artists, rates, units, period)
    return artists


def move_at_least_one(artists, rates, units, period=day):
    """Set the artists of `at_least_one` to other rates of the same names."""
    fleets = np.geomspace(1, 2e6, 281).round()
    artists["units"][0].set_data([units, units], [0, 1.04])
    chances = [1 - reliability.failure_free(rate, units, period) for rate in rates.values()]
    places = apart(np.clip(chances, 0.15, 0.9).tolist(), 0.17)
    for rate, chance, place, line, dot, label in zip(
        rates.values(), chances, places, artists["chances"], artists["marked"], artists["labels"]
    ):
        line.set_data(fleets, 1 - reliability.failure_free(rate, fleets, period))
        dot.set_data([units], [chance])
        right = units < 3e5
        label.xy = units, place
        label.set(
            text=_percent(chance), ha="left" if right else "right", position=(9 if right else -9, 0)
        )


def _percent(chance):
    return (
        f"{chance:.3%}"
        if 0.99 < chance < 0.999995
        else f"{chance:.1%}"
        if chance >= 1e-2 or not chance
        else f"{100 * chance:.2g}%"
    )


@drawing
def checkpoints(ax, cost, mtbf, restart=0.0, interval=None):
    """Share of the time wasted against the work between checkpoints, of a job that fails every
    `mtbf` on average; all in seconds.

    A diamond marks Young's optimum sqrt(2 C M), a dot `interval`, where given. Returns the artists,
    lists by name.
    """
    ticks = {
        1.0: "1 s",
        10.0: "10 s",
        minute: "1 min",
        10 * minute: "10 min",
        hour: "1 h",
        day: "1 d",
        10 * day: "10 d",
    }
    log_axis(ax.xaxis, "s", 1, LONGEST)
    ax.set_xticks(list(ticks), list(ticks.values()))
    ax.set(
        ylim=(0, 1.04),
        yticks=[0, 0.25, 0.5, 0.75, 1],
        xlabel="work between checkpoints",
        ylabel="share wasted",
    )
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    artists = {
        "wasted": ax.plot([], [], color=COLOURS["first"]),
        "young": ax.plot(
            [],
            [],
            "D",
            markersize=8,
            markerfacecolor="white",
            markeredgewidth=2,
            color=COLOURS["second"],
        ),
        "interval": ax.plot([], [], "o", markersize=8, color=COLOURS["ink"]),
        # over the curve there is no place that is always free
        "labels": [
            ax.annotate("", (at, 1), (0, 7), xycoords=ax.transAxes, color=COLOURS[colour], **_NEAR)
            for at, colour in ((0.0, "second"), (0.52, "ink"))
        ],
    }
    move_checkpoints(artists, cost, mtbf, restart, interval)
    return artists


def move_checkpoints(artists, cost, mtbf, restart=0.0, interval=None):
    """Set the artists of `checkpoints` to another job."""
    work = np.geomspace(1, LONGEST, 281)
    best = reliability.young_interval(cost, mtbf)
    artists["wasted"][0].set_data(work, reliability.wasted_share(work, cost, mtbf, restart=restart))
    for name, label, at, words in zip(
        ("young", "interval"),
        artists["labels"],
        (best, interval),
        ("\u25c7 Young, {}: {:.1%}", "\u25cf {}: {:.1%}"),
    ):
        share = None if at is None else reliability.wasted_share(at, cost, mtbf, restart=restart)
        artists[name][0].set_data([] if at is None else [at], [] if at is None else [share])
        label.set_text("" if at is None else words.format(si(at, "s", 3), share))
