"""What families and sizes cost, and what a failed share of links leaves."""

import numpy as np
from matplotlib.ticker import MaxNLocator

from fabriclab import topology
from fabriclab.course.engine.plot import COLOURS, SERIES, drawing, log_axis
from fabriclab.course.topology.wiring import move_wiring, wiring  # noqa: F401
from fabriclab.units import si

_CLEAR = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1}
BESIDE = {"textcoords": "offset points", "va": "center"}


@drawing
def families(ax, derived, printed, unit="B/s"):
    """Figure 11: what each family has, from its wiring, beside what the text prints (a diamond).

    `derived` maps a name to a value, to (low, high), or to None where no wiring is given; `printed`
    to the text's value.
    `unit` "B/s", which gets a second scale in bits, or "$", dollars per Gb/s of bisection.
    """
    ranges = {
        name: None if value is None else np.broadcast_to(value, 2).astype(float)
        for name, value in derived.items()
    }
    highest = max(
        [*printed.values(), *(value[1] for value in ranges.values() if value is not None)]
    )
    ax.set(xlim=(0, 1.03 * highest), ylim=(len(derived), -0.15), yticks=[])
    ax.spines["left"].set_visible(False)
    ax.set_xlabel(
        "bisection, bytes per second one way" if unit == "B/s" else "dollars per Gb/s of bisection"
    )
    ax.xaxis.set_major_formatter(lambda value, _: si(value, unit))
    artists = {"derived": [], "printed": [], "labels": []}
    for row, (name, value) in enumerate(ranges.items()):
        if value is not None:
            # a single value is a bar from zero, a range floats
            low, high = value if value[0] < value[1] else (0.0, value[1])
            artists["derived"] += ax.barh(
                [row + 0.65],
                [high - low],
                left=[low],
                height=0.34,
                color=COLOURS["first"],
                label="from the wiring" if not artists["derived"] else None,
            )
        if name in printed:
            artists["printed"] += ax.plot(
                [printed[name]],
                [row + 0.65],
                "D",
                markersize=9,
                color=COLOURS["second"],
                markeredgecolor="white",
                markeredgewidth=1.5,
                zorder=3,
                label="the text's value" if not artists["printed"] else None,
            )
        ours = (
            "no wiring given"
            if value is None
            else (
                si(value[1], unit, 3)
                if value[0] == value[1]
                else f"{si(value[0], unit, 3)} to {si(value[1], unit, 3)}"
            )
        )
        theirs = f"; text {si(printed[name], unit, 3)}" if name in printed else ""
        artists["labels"].append(
            ax.text(0, row + 0.38, f"{name}: {ours}{theirs}", va="bottom", parse_math=False)
        )
    if unit == "B/s":
        bits = ax.secondary_xaxis(
            "top", functions=(lambda value: 8 * value, lambda value: value / 8)
        )
        bits.set_xticks(
            [tick for tick in MaxNLocator(5).tick_values(0, 8 * highest) if tick <= 8 * highest]
        )
        bits.xaxis.set_major_formatter(lambda value, _: si(value / 8, "b/s"))
        bits.tick_params(labelsize=11)
        artists["bits"] = bits
    artists["legend"] = ax.legend(
        loc="lower right", bbox_to_anchor=(1, 1.1 if unit == "B/s" else 1.0), ncols=2
    )
    return artists


@drawing
def against_hosts(ax, curves, label, unit):
    """A quantity against the number of hosts, log-log: `curves` maps a family to its (hosts, value)
    pairs.
    """
    points = np.array([pair for pairs in curves.values() for pair in pairs], float)
    low, high = points.min(axis=0), points.max(axis=0)
    log_axis(ax.xaxis, "", low[0] / 1.3, high[0] * 1.3)
    log_axis(ax.yaxis, unit, low[1] / 1.6, high[1] * 1.6)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    ax.set(xlabel="hosts", ylabel=label)
    marks = "osD^vP"
    artists = {"curves": []}
    for place, (name, pairs) in enumerate(curves.items()):
        colour, dash = SERIES[place % len(SERIES)]
        artists["curves"] += ax.plot(
            *np.array(sorted(pairs), float).T,
            color=COLOURS[colour],
            linestyle=dash,
            marker=marks[place % len(marks)],
            markersize=6,
            label=name,
        )
    # beside the axes: curves of other families may reach every corner
    artists["legend"] = ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02), borderaxespad=0.2)
    return artists


@drawing
def law(ax, shares=(0.1, 0.3, 0.5), marked=0.3, ratios=(2, 4, 8), printed=None):
    """Throughput ``1/((1-f) + f r)`` against oversubscription r, one curve for each share f of a
    step.

    Dots on the curve of share `marked` at `ratios` say what is lost there; `printed` maps a ratio
    to another loss, crossed.
    """
    ratio = np.geomspace(1, 10, 181)
    ax.set_xscale("log")
    ax.set(
        xlim=(1, 10),
        ylim=(0, 1.02),
        xlabel="oversubscription r, downlinks to uplinks",
        ylabel="throughput, 1:1 is 100 %",
    )
    ax.set_xticks([1, 2, 3, 4, 6, 8, 10], [f"{r}:1" for r in (1, 2, 3, 4, 6, 8, 10)])
    ax.minorticks_off()
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    ax.grid(True, axis="y", color="#DDDDDD", linewidth=0.8)
    artists = {"curves": [], "points": [], "printed": [], "labels": []}
    for share, (colour, dash) in zip(shares, SERIES):
        artists["curves"] += ax.plot(
            ratio, topology.relative_throughput(share, ratio), color=COLOURS[colour], linestyle=dash
        )
        end = topology.relative_throughput(share, 10)
        artists["labels"].append(
            ax.annotate(
                f"f = {share:.0%}",
                (10, end),
                (6, 0),
                **BESIDE,
                color=COLOURS[colour],
                annotation_clip=False,
            )
        )
    for at in ratios:
        kept = topology.relative_throughput(marked, at)
        artists["points"] += ax.plot([at], [kept], "o", markersize=8, color=COLOURS["ink"])
        artists["labels"].append(
            ax.annotate(
                f"−{1 - kept:.1%}", (at, kept), (5, 5), textcoords="offset points", bbox=_CLEAR
            )
        )
    for at, loss in (printed or {}).items():
        artists["printed"] += ax.plot(
            [at], [1 - loss], "x", markersize=10, markeredgewidth=3, color=COLOURS["bad"]
        )
        artists["labels"].append(
            ax.annotate(
                f"printed: −{loss:.0%}",
                (at, 1 - loss),
                (12, 30),
                textcoords="offset points",
                arrowprops={"arrowstyle": "-", "color": COLOURS["bad"], "shrinkB": 7},
            )
        )
    return artists
