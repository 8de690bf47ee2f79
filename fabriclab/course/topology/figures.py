"""Drawings for level 3: rails, families compared, bounds on collectives, the oversubscription law,
paths, failures. Floor 5.

The wiring of a network, whatever its family, is drawn by `wiring`, which has a module of its own.
"""

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from fabriclab import topology
from fabriclab.course.engine.plot import COLOURS, SERIES, drawing, log_axis
from fabriclab.course.topology.wiring import move_wiring, wiring
from fabriclab.units import si, us

_CLEAR = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1}
# what a time comes from: colour and hatch, so that neither is needed alone
KINDS = {
    "port": ("first", ""),
    "cut": ("second", "//"),
    "switches": ("third", ".."),
    "text": ("muted", "xx"),
}
LEAST = 1e-15  # s, where the bars of a log axis start: out of sight on any
BESIDE = {"textcoords": "offset points", "va": "center"}


@drawing
def rails(ax, network):
    """Figure 10: GPU i of every node on rail switch i, and the spine that joins the rails, of a
    small `rail_optimised`.

    Draws every node, GPU and cable: at most 4 nodes, 8 rails and 8 spines. Raises ValueError for
    more, or for no rails.
    """
    leaves, spines = network.switches.get("leaf", 0), network.switches.get("spine", 0)
    nodes = 0 if network.node is None else int(network.node.max()) + 1
    if not (
        1 <= nodes <= 4
        and network.hosts == nodes * leaves
        and leaves <= 8
        and spines <= 8
        and "core" not in network.tiers
    ):
        raise ValueError(
            "network must be rails of 1 to 4 nodes, with one leaf to each of at most 8 rails, not"
            f" {network!r}"
        )
    ax.set(xlim=(-1.9, 10), ylim=(-0.65, 4.2))
    ax.set_axis_off()
    gpu = np.arange(network.hosts)
    wide = 9.6 / nodes
    x = {
        int(g): 0.2 + network.node[g] * wide + 0.92 * wide * (g % leaves + 0.5) / leaves
        for g in gpu
    }
    x |= {network.first("leaf") + i: 10 * (i + 0.5) / leaves for i in range(leaves)}
    x |= {network.first("spine") + i: 10 * (i + 0.5) / spines for i in range(spines)}
    level = np.repeat([0.3, 2.0, 3.6], [network.hosts, leaves, spines])
    rail = np.concatenate([gpu % leaves, np.arange(leaves), np.full(spines, -1)])
    artists = {"nodes": [], "boxes": [], "labels": [], "cables": []}
    for layer in range(len(network.layers)):
        at = np.flatnonzero(network.layer == layer)
        ends = [
            [(x[a], level[a] + 0.2), (x[b], level[b] - 0.2)]
            for a, b in zip(network.a[at].tolist(), network.b[at].tolist())
        ]
        colours = [
            COLOURS[SERIES[rail[a] % 5][0]] if layer == 0 else COLOURS["muted"]
            for a in network.a[at]
        ]
        # rails past the fifth take the colours again, dashed
        dashes = ["--" if layer == 0 and rail[a] > 4 else "-" for a in network.a[at]]
        artists["cables"].append(
            ax.add_collection(
                LineCollection(
                    ends,
                    colors=colours,
                    linestyles=dashes,
                    linewidths=1.8 if layer == 0 else 1.1,
                    zorder=1,
                )
            )
        )
    for n in range(nodes):
        artists["nodes"].append(
            ax.add_patch(
                Rectangle(
                    (0.2 + n * wide, -0.05),
                    0.92 * wide,
                    0.7,
                    facecolor=COLOURS["pale"],
                    edgecolor=COLOURS["muted"],
                    zorder=0,
                )
            )
        )
        artists["labels"].append(
            ax.text(0.2 + (n + 0.46) * wide, -0.12, f"node {n}", ha="center", va="top")
        )
    for vertex, place in x.items():
        half = min(0.42, 0.4 * (0.92 * wide if vertex < network.hosts else 8) / leaves)
        edge = COLOURS["ink"] if rail[vertex] < 0 else COLOURS[SERIES[rail[vertex] % 5][0]]
        artists["boxes"].append(
            ax.add_patch(
                Rectangle(
                    (place - half, level[vertex] - 0.2),
                    2 * half,
                    0.4,
                    facecolor="white",
                    edgecolor=edge,
                    linewidth=2,
                    zorder=2,
                )
            )
        )
        if rail[vertex] >= 0:
            artists["labels"].append(
                ax.text(place, level[vertex], f"{rail[vertex]}", ha="center", va="center")
            )
    words = [(0.3, "GPU i of\neach node"), (2.0, "rail switch i")] + [(3.6, "spine")] * (spines > 0)
    artists["labels"] += [ax.text(-1.9, y, text, va="center") for y, text in words]
    return artists


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


@drawing
def bounds(ax, rows):
    """Lower bounds on the time of a collective as bars, log scale: `rows` are (label, seconds,
    kind), kind one of `KINDS`.
    """
    axis_low, axis_high = _room([seconds for _, seconds, _ in rows])
    log_axis(ax.xaxis, "s", axis_low, axis_high)
    ax.set(ylim=(len(rows) - 0.4, -0.6), xlabel="at least this long")
    ax.set_yticks(range(len(rows)), [label for label, *_ in rows])
    ax.tick_params(axis="y", length=0)
    artists = {
        "bars": [
            ax.add_patch(Rectangle((LEAST, row - 0.31), 0, 0.62, edgecolor="white", linewidth=0.5))
            for row in range(len(rows))
        ]
    }
    artists["labels"] = [ax.annotate("", (1, row), (5, 0), **BESIDE) for row in range(len(rows))]
    move_bounds(artists, rows)
    return artists


def move_bounds(artists, rows, decide=()):
    """Set the artists of `bounds` to other times of as many rows; labels and axis stay. `decide`:
    rows that are said to.
    """
    for row, ((_, seconds, kind), bar, label) in enumerate(
        zip(rows, artists["bars"], artists["labels"], strict=True)
    ):
        colour, hatch = KINDS[kind]
        bar.set(width=seconds - bar.get_x(), facecolor=COLOURS[colour], hatch=hatch)
        label.xy = seconds, row
        label.set_text(si(seconds, "s") + ", decides" * (row in decide))


def _room(seconds):
    """Limits of a log axis in whole decades, with place for a label beyond the longest bar."""
    some = [each for each in seconds if 0 < each < np.inf] or [us]
    return 10.0 ** (np.floor(np.log10(min(some))) - 0.3), 10.0 ** (np.log10(max(some)) + 1)


@drawing
def paths(ax, lengths):
    """How many switches the shortest paths cross: a strip for each name in `lengths`, which maps to
    its `topology.Paths`.

    A bar's height is the share of all pairs, in each strip next to its largest; a triangle marks
    the mean. In a torus the "switches" are hosts that forward.
    """
    furthest = max(found.switches_on_path.worst for found in lengths.values())
    ax.set(
        xlim=(-0.7, furthest + 0.7),
        ylim=(-0.1, len(lengths)),
        yticks=[],
        xlabel="switches on the path (torus: hosts that forward)",
    )
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.spines["left"].set_visible(False)
    artists = {"bars": [], "means": [], "labels": []}
    for row, ((name, found), (colour, _)) in enumerate(
        zip(
            reversed(lengths.items()),
            SERIES[len(lengths) - 1 :: -1] if len(lengths) <= 5 else SERIES * 2,
        )
    ):
        total = sum(found.pairs.values())
        shares = {links - 1: pairs / total for links, pairs in found.pairs.items()}
        artists["bars"].append(
            ax.bar(
                list(shares),
                [0.6 * share / max(shares.values()) for share in shares.values()],
                bottom=row,
                width=0.7,
                color=COLOURS[colour],
            )
        )
        worst, mean = found.switches_on_path
        artists["means"] += ax.plot(
            [mean],
            [row - 0.02],
            "^",
            markersize=10,
            color=COLOURS["ink"],
            markeredgecolor="white",
            clip_on=False,
            zorder=3,
        )
        ax.axhline(row, color=COLOURS["muted"], linewidth=0.8, zorder=0)
        artists["labels"].append(
            ax.text(
                -0.6,
                row + 0.66,
                f"{name}: worst {worst}, mean {mean:.2f}",
                va="bottom",
                fontweight="bold",
                fontsize=11,
            )
        )
    return artists


@drawing
def failures(ax, found):
    """What is left of the bisection when one part of each kind dies, with hosts lost and detours:
    `found` are `topology.Failure`s.
    """
    ax.set(xlim=(0, 1), ylim=(len(found), 0), yticks=[], xlabel="bisection left")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    ax.spines["left"].set_visible(False)
    rows = np.arange(len(found))
    artists = {
        "whole": list(
            ax.barh(
                rows + 0.7,
                1,
                height=0.34,
                color=COLOURS["pale"],
                edgecolor=COLOURS["bad"],
                hatch="xx",
                linewidth=0,
            )
        ),
        "left": list(ax.barh(rows + 0.7, 1, height=0.34, color=COLOURS["first"])),
        "labels": [ax.text(0, row + 0.46, "", va="bottom") for row in rows],
    }
    move_failures(artists, found)
    return artists


def move_failures(artists, found):
    """Set the artists of `failures` to as many others."""
    for lost, bar, label in zip(found, artists["left"], artists["labels"], strict=True):
        share = lost.bisection_left / lost.bisection_before if lost.bisection_before else 0.0
        bar.set_width(share)
        hosts = _many(lost.hosts_lost, "host") + " lost" if lost.hosts_lost else "no host lost"
        detour = (
            f", paths up to {_many(lost.extra_links, 'link')} longer" if lost.extra_links else ""
        )
        label.set_text(f"{lost.part}: {hosts}, {100 * share:.4g}% left{detour}")


def _many(number, thing):
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
