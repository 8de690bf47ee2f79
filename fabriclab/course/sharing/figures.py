"""Drawings for sharing: vessels under one water level, a burst beside an AllReduce in time, and
completions side by side.
"""

import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.ticker import MaxNLocator

from fabriclab import cluster
from fabriclab.course.engine.plot import COLOURS, axis_end, drawing
from fabriclab.units import Gbps, si

STRIP = 0.5  # height of a rule's strip; the words stand above it


def _boxes(lefts, rights, bottoms, tops):
    return [
        [(a, low), (b, low), (b, high), (a, high)]
        for a, b, low, high in zip(lefts, rights, bottoms, tops)
    ]


@drawing
def shares(ax, names, demands, capacity, weights=1.0, caps=np.inf):
    """Max-min shares of one port as water: a vessel for each tenant, as wide as its weight, so that
    areas are bytes/s.

    A vessel is as high as what its tenant wants (outline), closed by a lid where a cap is lower;
    the water stands at one level in all that are not full. Arguments as of `cluster.max_min`, with
    the tenants' `names`. Returns the artists, lists by name.
    """
    ax.set(
        xlim=(0, 1),
        ylim=(0, 1.08 * capacity / Gbps),
        xticks=[],
        ylabel="Gb/s for each unit of weight",
    )
    artists = {
        "wanted": [
            ax.add_collection(
                PolyCollection(
                    [],
                    facecolor=COLOURS["pale"],
                    edgecolor=COLOURS["ink"],
                    linewidth=1.4,
                    label="wanted",
                ),
                autolim=False,
            )
        ],
        "water": [
            ax.add_collection(
                PolyCollection([], facecolor=COLOURS["wire"], edgecolor="none", label="given"),
                autolim=False,
            )
        ],
        "lids": [
            ax.add_collection(
                LineCollection(
                    [], color=COLOURS["loss"], linewidth=4, capstyle="butt", label="cap"
                ),
                autolim=False,
            )
        ],
        "level": ax.plot([], [], "--", color=COLOURS["first"], linewidth=1.8, label="water level"),
        "labels": [
            ax.text(
                0, -0.02, "", transform=ax.get_xaxis_transform(), ha="center", va="top", fontsize=11
            )
            for _ in names
        ],
    }
    ax.set_xlabel(" \n ")  # room for the tenants' labels, which are no ticks
    artists["legend"] = ax.legend(
        handles=[artists[name][0] for name in ("wanted", "water", "lids", "level")],
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=4,
        borderaxespad=0.2,
    )
    move_shares(artists, names, demands, capacity, weights, caps)
    return artists


def move_shares(artists, names, demands, capacity, weights=1.0, caps=np.inf):
    """Set the artists of `shares` to other tenants, as many as before."""
    rates, level = (
        cluster.max_min(demands, capacity, weights, caps),
        cluster.water_level(demands, capacity, weights, caps),
    )
    weights, caps = np.broadcast_to(weights, len(names)), np.broadcast_to(caps, len(names))
    left, right = vessels(weights)
    unit = weights * Gbps
    top = artists["level"][0].axes.get_ylim()[1]
    artists["wanted"][0].set_verts(
        _boxes(left, right, 0 * left, np.minimum(demands / unit, 2 * top))
    )
    artists["water"][0].set_verts(_boxes(left, right, 0 * left, rates / unit))
    artists["lids"][0].set_segments(
        [[(a, cap), (b, cap)] for a, b, cap in zip(left, right, caps / unit) if cap < 2 * top]
    )
    artists["level"][0].set_data(
        [0, 1] if np.isfinite(level) else [], [level / Gbps] * 2 if np.isfinite(level) else []
    )
    for label, name, x, rate in zip(artists["labels"], names, (left + right) / 2, rates):
        label.set(x=x, text=f"{name}\n{si(rate, 'b/s', 3)}")


def vessels(weights):
    """Left and right edges of the vessels of `shares`, from 0 to 1.

    >>> vessels([1, 1])
    (array([0.08333333, 0.58333333]), array([0.41666667, 0.91666667]))
    """
    weights = np.asarray(weights, float)
    # a third of the picture lies between vessels, so that the words under narrow ones have room
    gap = 1 / (3 * len(weights))
    widths = weights / weights.sum() * (1 - 1 / 3)
    left = np.cumsum(widths + gap) - widths - gap / 2
    return left, left + widths


@drawing
def isolation(ax, links, capacity):
    """A transfer and a burst on a link in time, a strip for each rule of `links`, as
    `cluster.isolation` gives it.

    A strip is as high as `capacity`: the transfer's rate from below, the burst's from above, and
    what is left empty is idle. Returns the artists.
    """
    rows = np.arange(len(links))[::-1]
    ax.set(
        ylim=(-0.12, len(links) - 0.05),
        yticks=rows + STRIP / 2,
        xlabel="time from the start of the AllReduce",
    )
    ax.set_yticklabels(list(links))
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10], prune="upper"))
    ax.xaxis.set_major_formatter(lambda value, _: si(value, "s", 3))
    artists = {
        "link": [
            ax.add_collection(
                PolyCollection(
                    _boxes([0], [1], [row], [row + STRIP]),
                    facecolor=COLOURS["pale"],
                    transform=ax.get_yaxis_transform(),
                ),
                autolim=False,
            )
            for row in rows
        ],
        "transfer": [
            ax.add_collection(
                PolyCollection([], facecolor=COLOURS["first"], linewidth=0, label="AllReduce"),
                autolim=False,
            )
            for _ in rows
        ],
        "burst": [
            ax.add_collection(
                PolyCollection([], facecolor=COLOURS["exposed"], linewidth=0, label="checkpoint"),
                autolim=False,
            )
            for _ in rows
        ],
        "labels": [
            ax.text(
                0.005,
                row + STRIP + 0.04,
                "",
                transform=ax.get_yaxis_transform(),
                va="bottom",
                fontsize=11,
            )
            for row in rows
        ],
    }
    artists["legend"] = ax.legend(
        handles=[artists["transfer"][0], artists["burst"][0]],
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=2,
        borderaxespad=0.2,
    )
    move_isolation(artists, links, capacity)
    return artists


def move_isolation(artists, links, capacity):
    """Set the artists of `isolation` to other transfers under the same rules."""
    ax = artists["transfer"][0].axes
    ax.set_xlim(0, axis_end(1.1 * max(max(link.finish[0] for link in links.values()), 1e-6)))
    alone = min(link.finish[0] for link in links.values())
    for k, link in enumerate(links.values()):
        row = len(links) - 1 - k
        rates = STRIP * np.array(link.rates).reshape(-1, 2) / capacity
        begin, end, whole = link.edges[:-1], link.edges[1:], np.full(len(rates), STRIP)
        artists["transfer"][k].set_verts(_boxes(begin, end, row + 0 * whole, row + rates[:, 0]))
        artists["burst"][k].set_verts(_boxes(begin, end, row + whole - rates[:, 1], row + whole))
        more = link.finish[0] / alone - 1 if alone else 0.0
        artists["labels"][k].set_text(
            f"AllReduce {si(link.finish[0], 's', 3)} ({more:+.0%}), checkpoint done at"
            f" {si(link.finish[1], 's', 3)}"
        )


@drawing
def completions(ax, times, alone, fluid=None):
    """Completion times as bars, each {name: seconds} of `times`, as multiples of `alone` seconds;
    diamonds where `fluid` {name: seconds} has them.
    """
    names, rows = list(times), np.arange(len(times))[::-1]
    values = np.array([times[name] / alone for name in names])
    ax.set(
        ylim=(-0.6, len(names) - 0.4),
        yticks=rows,
        xlim=(0, 1.2 * max(values.max(), 1.25)),
        xlabel="AllReduce, in multiples of its time alone",
    )
    ax.set_yticklabels(names)
    ax.tick_params(axis="y", length=0)
    artists = {"bars": list(ax.barh(rows, values, height=0.55, color=COLOURS["wire"]))}
    artists["alone"] = [ax.axvline(1, color=COLOURS["ink"], linewidth=1.2)]
    artists["labels"] = [
        ax.text(value + 0.02 * ax.get_xlim()[1], row, f"{value:.2f}", va="center")
        for value, row in zip(values, rows)
    ]
    if fluid is not None:
        shown = [(fluid[name] / alone, row) for name, row in zip(names, rows) if name in fluid]
        artists["fluid"] = ax.plot(*zip(*shown), "D", color=COLOURS["second"], markersize=8)
        artists["legend"] = ax.legend(
            [artists["bars"][0], artists["fluid"][0]],
            ["packets", "max-min fluid"],
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=2,
            borderaxespad=0.2,
        )
    return artists
