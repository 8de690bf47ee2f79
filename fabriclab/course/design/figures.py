"""Designs side by side: dollars against the step, and the front that none beats."""

import numpy as np

from fabriclab.course.design.judge import front
from fabriclab.course.engine.plot import COLOURS, drawing
from fabriclab.units import MW, si


@drawing
def tries(ax, named):
    """Dollars of each design against its mean step, for `named`, a dict of names and
    `judge.Report`s: dots that grow with the watts, crosses for what cannot be built as asked, and
    the front as a line. A design that cannot be wired has no dollars, and no mark.
    """
    shown = {name: report for name, report in named.items() if np.isfinite(report.dollars)}
    ax.set(xlabel="dollars of network and spares", ylabel="mean step, s")
    ax.xaxis.set_major_formatter(lambda value, _: si(value, "$", 3))
    artists = {"able": None, "not": None, "front": [], "names": []}
    for kind, marker, colour in (("able", "o", "first"), ("not", "x", "second")):
        some = [report for report in shown.values() if report.feasible == (kind == "able")]
        artists[kind] = ax.scatter(
            [report.dollars for report in some],
            [report.step for report in some],
            [size(report) for report in some],
            marker=marker,
            color=COLOURS[colour],
            alpha=0.8,
            label="can be built" if kind == "able" else "not as asked",
        )
    best = sorted(front(shown.values()), key=lambda report: report.dollars)
    # cheaper than the cheapest there is nothing; from each on, its step can be had
    artists["front"] = ax.step(
        [report.dollars for report in best],
        [report.step for report in best],
        where="post",
        color=COLOURS["muted"],
        linewidth=1.4,
        label="the front",
    )
    if shown:
        limit = next(iter(shown.values())).brief.dollars
        artists["budget"] = ax.axvline(limit, color=COLOURS["ink"], linestyle=":", linewidth=1.4)
        right = 1.08 * max(limit, *(report.dollars for report in shown.values()))
        ax.set_xlim(0, right)
        for name, report in shown.items():
            late = report.dollars > 0.7 * right
            artists["names"].append(
                ax.annotate(
                    name,
                    (report.dollars, report.step),
                    (-9 if late else 9, 6),
                    textcoords="offset points",
                    ha="right" if late else "left",
                    fontsize=11,
                )
            )
        ax.margins(y=0.18)
    artists["legend"] = ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=3, borderaxespad=0.2
    )
    return artists


def size(report):
    """Area of a mark, in square points: the watts beyond those of the nodes that were asked for."""
    nodes = report.brief.nodes * report.brief.node_watts
    return 40 + 400 * (report.watts - nodes) / (0.5 * MW)


def words(named):
    """What `tries` shows, in words."""
    best = front(named.values())
    told = []
    for name, report in named.items():
        if not np.isfinite(report.dollars):
            told.append(f"{name} cannot be wired")
            continue
        can = "" if report.feasible else ", not as asked"
        on = ", on the front" if report in best else ""
        told.append(
            f"{name} {si(report.dollars, '$')}, {si(report.step, 's')},"
            f" {si(report.watts, 'W')}{can}{on}"
        )
    return f"Dollars against the mean step of each design. {'; '.join(told)}."
