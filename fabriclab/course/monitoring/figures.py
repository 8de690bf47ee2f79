"""Drawings for monitoring: how soon a 32-bit counter of data is full, and an AllReduce with one
slow part. Floor 5.
"""

import numpy as np
from matplotlib.ticker import FixedLocator, MaxNLocator

from fabriclab import cluster
from fabriclab.course.engine.plot import COLOURS, SERIES, drawing, log_axis
from fabriclab.logs.perfquery import WORD
from fabriclab.units import Gbps, si

LINKS = tuple(gigabits * Gbps for gigabits in (1, 10, 100, 400))
SLOWEST = 8
_LIGHT = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1}


@drawing
def filling(ax, rates=LINKS, polled=(10.0, 30.0)):
    """Seconds until 32 bits of 4-byte words are full against a port's rate in bytes per second,
    dots at `rates`; a band where it is polled.
    """
    log_axis(ax.xaxis, "b/s", 0.5 * Gbps, 1000 * Gbps)
    ax.xaxis.set_major_locator(FixedLocator(rates))
    log_axis(ax.yaxis, "s", 0.1, 1000)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g} s")
    ax.set(xlabel="a port's traffic, one way", ylabel="32 bits are full after")
    traffic = np.geomspace(0.5 * Gbps, 1000 * Gbps, 61)
    artists = {
        "polled": [ax.axhspan(*polled, facecolor=COLOURS["highlight"], alpha=0.6, linewidth=0)],
        "line": ax.plot(traffic, full(traffic), color=COLOURS["first"]),
        "dots": ax.plot(
            rates, [full(rate) for rate in rates], "o", color=COLOURS["first"], markersize=8
        ),
        "labels": [
            ax.annotate(
                si(full(rate), "s", 3),
                (rate, full(rate)),
                (9, 5),
                textcoords="offset points",
                color=COLOURS["first"],
                bbox=_LIGHT,
            )
            for rate in rates
        ],
    }
    artists["labels"].append(
        ax.text(
            0.6 * Gbps,
            float(np.sqrt(polled[0] * polled[1])),
            f"read every {polled[0]:g} to {polled[1]:g} s",
            va="center",
        )
    )
    return artists


def full(rate):
    """Seconds until a 32-bit counter of words of 4 bytes stands at all ones: ``4 (2^32 - 1) /
    rate``, bytes per second.

    >>> from fabriclab.units import GB
    >>> round(full(50 * GB), 3)
    0.344
    """
    return WORD * ((1 << 32) - 1) / rate


@drawing
def slow_part(ax, size, ranks, alpha, beta):
    """AllReduce time over that of the whole ring, against what is left of one part's bandwidth: in
    a ring, at a rank's port
    of two trees, at one edge of one of them."""
    left = np.linspace(1 / SLOWEST, 1, 201)
    whole = cluster.slow_link(size, ranks, alpha, beta, 1)
    ways = {
        "ring": ("ring, any link", cluster.slow_link(size, ranks, alpha, beta, 1 / left)),
        "port": ("two trees, a port", cluster.slow_trees(size, ranks, alpha, beta, 1 / left)),
        "edge": (
            "two trees, one edge",
            cluster.slow_trees(size, ranks, alpha, beta, 1 / left, 0.5),
        ),
    }
    ax.set(
        xlim=(0, 1),
        ylim=(0, None),
        xlabel="what the slow part has left of its bandwidth",
        ylabel="AllReduce / healthy ring",
    )
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    ax.grid(True, axis="y", color="#DDDDDD", linewidth=0.8)
    artists = {}
    for (name, (label, times)), (colour, dash) in zip(ways.items(), SERIES):
        artists[name] = ax.plot(
            left, times / whole, color=COLOURS[colour], linestyle=dash, label=label
        )
    ax.set_ylim(0, 1.05 * max(artists[name][0].get_ydata().max() for name in ways))
    ax.yaxis.set_major_locator(MaxNLocator(6))
    artists["legend"] = ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=3, borderaxespad=0.2
    )
    return artists
