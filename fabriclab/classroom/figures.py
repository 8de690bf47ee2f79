"""Drawings for a class report: how the points are spread, which exercises were hard, which slips
were made. Floor 5.
"""

import textwrap

import numpy as np
from matplotlib.ticker import MaxNLocator

from fabriclab.course.engine.plot import COLOURS, drawing

# outcome -> (colour, hatch): told apart without colour as well
OUTCOMES = {
    "right": ("good", ""),
    "wrong": ("bad", "//"),
    "could not read": ("startup", "xx"),
    "not attempted": ("pale", ""),
}


@drawing
def distribution(ax, points, most):
    """How many students have how many of `most` points; a dashed line at the median."""
    points = np.asarray(points, dtype=float)
    width = max(1, int(np.ceil((most + 1) / 25)))
    edges = np.arange(0, most + 1 + width, width) - 0.5
    counts, _ = np.histogram(points, edges)
    bars = ax.bar(
        edges[:-1] + width / 2,
        counts,
        width=0.9 * width,
        color=COLOURS["wire"],
        edgecolor=COLOURS["first"],
    )
    ax.set(
        xlim=(edges[0], edges[-1]),
        ylim=(0, 1.22 * max(counts.max(), 1)),
        xlabel=f"exercises right, of {most}",
        ylabel="students",
    )
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    middle = float(np.median(points))
    left = middle > most / 2
    line = ax.axvline(middle, color=COLOURS["second"], linestyle="--")
    label = ax.annotate(
        f"median {middle:g}",
        (middle, 1),
        (-6 if left else 6, -4),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        ha="right" if left else "left",
        va="top",
        color=COLOURS["second"],
    )
    return {"bars": list(bars), "median": [line], "labels": [label]}


@drawing
def outcomes(ax, titles, shares):
    """One bar for each exercise, top first; `shares` is {outcome: shares from 0 to 1 in the order
    of `titles`}, see OUTCOMES.
    """
    rows = np.arange(len(titles))
    left, artists = np.zeros(len(titles)), {"bars": {}}
    for name, (colour, hatch) in OUTCOMES.items():
        part = np.asarray(shares[name], dtype=float)
        artists["bars"][name] = list(
            ax.barh(
                rows,
                part,
                left=left,
                height=0.72,
                color=COLOURS[colour],
                hatch=hatch,
                edgecolor="white",
                linewidth=0.5,
                label=name,
            )
        )
        left = left + part
    _names(ax, titles)
    ax.set(xlim=(0, 1), xlabel="of the students who sent the notebook")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    artists["legend"] = ax.legend(
        loc="lower center",
        bbox_to_anchor=(0.2, 1),
        ncols=2,
        borderaxespad=0.2,
        handlelength=1.4,
        columnspacing=1.2,
    )
    return artists


@drawing
def slips(ax, names, counts):
    """How many answers made each slip, most first."""
    bars = ax.barh(
        np.arange(len(names)),
        counts,
        height=0.72,
        color=COLOURS["startup"],
        edgecolor=COLOURS["ink"],
        linewidth=0.5,
    )
    _names(ax, names)
    ax.set(xlim=(0, 1.2 * max(counts)), xlabel="answers")
    ax.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    labels = ax.bar_label(bars, fmt="{:,.0f}", padding=4, fontsize=11)
    return {"bars": list(bars), "labels": labels}


def _names(ax, names):
    ax.set_yticks(
        np.arange(len(names)), [textwrap.shorten(name, 46, placeholder=" ...") for name in names]
    )
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
