"""Designs side by side: dollars against the step, and the front that none beats."""

import numpy as np

from fabriclab.course.design.judge import front
from fabriclab.course.engine.plot import COLOURS, drawing
from fabriclab.units import MW, si


@drawing
def tries(ax, named):
    """Dollars of each design against its mean step, for `named`, a dict of names and
    `judge.Report`s: discs that grow with the watts, hollow for what cannot be built as asked, and
    the front as a line; numbered by dollars, with the names beside. What cannot be wired has no
    dollars, and no disc.
    """
    shown = {name: report for name, report in named.items() if np.isfinite(report.dollars)}
    shown = dict(sorted(shown.items(), key=lambda item: item[1].dollars))
    ax.set(xlabel="dollars of network and spares", ylabel="mean step, s")
    ax.xaxis.set_major_formatter(lambda value, _: si(value, "$", 3))
    best = front(shown.values())
    artists = {"numbers": [], "names": []}
    artists["front"] = ax.step(
        [report.dollars for report in best],
        [report.step for report in best],
        where="post",  # from each design on, its step can be had
        color=COLOURS["muted"],
        linewidth=1.4,
        zorder=1,
        label="the front",
    )
    for kind, label in (("able", "can be built"), ("not", "not as asked")):
        some = [report for report in shown.values() if report.feasible == (kind == "able")]
        artists[kind] = ax.scatter(
            [report.dollars for report in some],
            [report.step for report in some],
            [size(report) for report in some],
            color=COLOURS["first"] if kind == "able" else "white",
            edgecolors=COLOURS["first" if kind == "able" else "second"],
            linewidths=1.8,
            label=label,
        )
    for number, (name, report) in enumerate(shown.items(), start=1):
        able = report.feasible
        artists["numbers"].append(
            ax.text(
                report.dollars,
                report.step,
                f"{number}",
                ha="center",
                va="center",
                fontsize=11,
                color="white" if able else COLOURS["second"],
            )
        )
        artists["names"].append(
            ax.text(
                1.03,
                1 - min(0.09, 1 / len(shown)) * number,
                f"{number}  {name}",
                transform=ax.transAxes,
                color=COLOURS["ink" if able else "second"],
            )
        )
    if shown:
        limit = next(iter(shown.values())).brief.dollars
        artists["budget"] = ax.axvline(limit, color=COLOURS["ink"], linestyle=":", linewidth=1.4)
        ax.set_xlim(0, 1.08 * max(limit, *(report.dollars for report in shown.values())))
        ax.margins(y=0.18)
    artists["legend"] = ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=3, borderaxespad=0.2, markerscale=0.6
    )
    return artists


def size(report):
    """Area of a mark, in square points: the watts beyond those of the nodes that were asked for."""
    nodes = report.brief.nodes * report.brief.node_watts
    return 160 + 400 * (report.watts - nodes) / (0.5 * MW)


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
