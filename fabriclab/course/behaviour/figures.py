"""Drawings for level 4: queues, stragglers, congestion control, hashing.

As in `fabriclab.course.transport.figures`, what an explorer brings to life is drawn by the same
`move_...` that moves it. What waits for what, pauses over a network and dependencies among buffers,
has a module of its own, and so have fleets.
"""

import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.ticker import MaxNLocator

from fabriclab import congestion
from fabriclab.course.behaviour.circle_figures import dependencies, move_dependencies  # noqa: F401
from fabriclab.course.behaviour.fleet_figures import (  # noqa: F401  one face for the part
    apart,
    at_least_one,
    checkpoints,
    move_at_least_one,
    move_checkpoints,
)
from fabriclab.course.behaviour.loss_figures import retry  # noqa: F401
from fabriclab.course.behaviour.waiting_figures import pauses, staggered  # noqa: F401
from fabriclab.course.engine.plot import COLOURS, SERIES, STYLE, axis_end, drawing, log_axis
from fabriclab.units import KB, si

_CLEAR = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1}
_NEAR = {"textcoords": "offset points"}
HIGHEST = 5  # of a path's load, in even splits
MOST_SHARES, MOST_QUEUED = 3.4, 400 * KB  # twice DCQCN's Kmax: no swing goes higher


@drawing
def panels(ax, rows, columns, **grid):
    """`ax` and further Axes in its style that fill its figure, row by row."""
    grid = ax.figure.add_gridspec(rows, columns, **grid)
    ax.set_subplotspec(grid[0])
    others = [ax.figure.add_subplot(grid[place]) for place in range(1, rows * columns)]
    for other in others:
        other.set_axisbelow(True)
        other.tick_params(which="both", labelsize=STYLE["xtick.labelsize"])
    return [ax, *others]


@drawing
def queue(ax, trace, levels, packets=None):
    """Figure 12: the bytes in a queue against linear time, as a fluid (`congestion.Trace`) and
    packet by packet: left while it fills, right the whole, where filling is a wall and draining a
    slope.

    `levels` maps a name to bytes, drawn as lines: the buffer, PFC's Xoff and Xon, ECN's Kmin and
    Kmax; one that is None, or above the picture, is not drawn. What the buffer could not hold is
    hatched. `packets` is (seconds, bytes), as in ``run.times, run.queues[port]``; a cross marks
    where they are furthest from the fluid. Fills the figure of `ax`. Returns the artists by name.
    """
    left, right = panels(ax, 1, 2, width_ratios=(1, 1.25))
    looks = [("ink", "-")] + [("muted", dash) for dash in ((0, (6, 2)), (0, (2, 1)), "-.", ":")]
    artists = {"axes": [left, right], "lost": [], "levels": [], "fluid": [], "packets": []}
    artists["apart"] = []
    for each in (left, right):
        each.set_xlabel("time, while it fills" if each is left else "time, the whole")
        each.xaxis.set_major_locator(MaxNLocator(3))
        each.yaxis.set_major_locator(MaxNLocator(5))
        each.xaxis.set_major_formatter(lambda value, _: si(value, "s", 3) if value else "0")
        each.yaxis.set_major_formatter(lambda value, _: si(value, "B"))
        artists["lost"].append(
            each.fill_between(
                [1.0],
                1.0,
                1.0,
                facecolor=COLOURS["loss"],
                alpha=0.35,
                hatch="xx",
                edgecolor=COLOURS["loss"],
                linewidth=0,
            )
        )
        artists["levels"] += [
            each.plot([], [], color=COLOURS[colour], linestyle=dash, linewidth=1.4)[0]
            for _, (colour, dash) in zip(levels, looks)
        ]
        artists["fluid"] += each.plot(
            [], [], color=COLOURS["first"], linewidth=4.5, alpha=0.6, label="fluid"
        )
        artists["packets"] += each.plot([], [], color=COLOURS["second"], linewidth=1.4)
        artists["apart"] += each.plot(
            [], [], "x", color=COLOURS["ink"], markersize=11, markeredgewidth=2
        )
    left.set_ylabel("bytes in the queue")
    # room for wider tick labels than those it begins with
    left.figure.get_layout_engine().set(w_pad=12 / 72)
    right.tick_params(labelleft=False)
    artists["level labels"] = [
        right.annotate(
            "", (1, 1), (6, 0), xycoords=right.transAxes, va="center", fontsize=11, **_NEAR
        )
        for _ in levels
    ]
    # room for the outcome, which is wider than its panel and must not narrow it
    left.set_title(" ")
    artists["outcome"] = [
        left.annotate("", (0, 1), (0, 7), xycoords=left.transAxes, in_layout=False, **_NEAR)
    ]
    artists["nothing"] = [
        each.text(0.5, 0.5, "", transform=each.transAxes, ha="center", in_layout=False)
        for each in (left, right)
    ]
    artists["legend"] = left.figure.legend(
        [artists[name][0] for name in ("fluid", "packets", "lost", "apart")],
        ["fluid", "packets", "no room: lost", "furthest apart"],
        loc="outside upper left",
        ncols=4,
        borderaxespad=0.2,
        columnspacing=1.2,
    )
    move_queue(artists, trace, levels, packets)
    return artists


def move_queue(artists, trace, levels, packets=None):
    """Set the artists of `queue` to another trace and other levels of the same names."""
    end, top, missing = (float(x) for x in (trace.times[-1], trace.queue.max(), trace.lost[-1]))
    # from the moment the buffer is full until no more comes
    full = float(trace.first_above(top)) if top else end
    silent = float(trace.times[np.searchsorted(trace.lost, missing)]) if missing else full
    highest = axis_end(1.04 * max(top, 1 * KB))
    for each, until in zip(artists["axes"], (axis_end(1.2 * max(full, silent)), axis_end(end))):
        each.set(xlim=(0, min(until, axis_end(end))), ylim=(0, 1.25 * highest))
    times = np.union1d(
        np.linspace(0, end, 400), np.append(np.linspace(0, silent, 100), trace.times)
    )
    held, lost = trace.at(times), np.interp(times, trace.times, trace.lost)
    losing = (times >= full) & (times <= silent) & (missing > 0)
    for place, each in enumerate(artists["axes"]):
        artists["fluid"][place].set_data(times, held)
        artists["packets"][place].set_data(*([], []) if packets is None else packets)
        artists["lost"][place].set_data(times[losing], top, top + lost[losing])
        artists["apart"][place].set_data(*_furthest(trace, packets, each))
        artists["nothing"][place].set_text("" if top else "no queue:\nthe port keeps up")
    ceiling = 1.25 * highest
    places = apart(
        [value / ceiling if value and value <= ceiling else None for value in levels.values()],
        0.065,
    )
    for number, ((name, value), place) in enumerate(zip(levels.items(), places)):
        for line in artists["levels"][number :: len(levels)]:
            line.set_data([0, 1] if place else [], [value, value] if place else [])
            line.set_transform(line.axes.get_yaxis_transform())
        label = artists["level labels"][number]
        label.set_text(f"{name} {si(value, 'B')}" if place else "")
        label.xy = 1, place if place else 1
    artists["outcome"][0].set_text(_outcome(trace, top, full, missing))


def _furthest(trace, packets, axes):
    """([seconds], [bytes]) where packets are furthest from the fluid, if that is in the picture."""
    if packets is None or not len(packets[0]):
        return [], []
    times, held = map(np.asarray, packets)
    # a first sample may lie a packet's length before the trace
    inside = (times >= 0) & (times <= min(axes.get_xlim()[1], trace.times[-1]))
    if not inside.any():
        return [], []
    times, held = times[inside], held[inside]
    worst = int(np.argmax(np.abs(held - trace.at(times))))
    return [times[worst]], [held[worst]]


def _outcome(trace, top, full, missing):
    words = [
        f"full after {si(full, 's', 3)}, {si(missing, 'B')} lost"
        if missing
        else "never full"
        if top
        else "no queue"
    ]
    if trace.queue[-1] == 0 < top:
        empty = float(trace.times[np.flatnonzero(trace.queue > 0)[-1] + 1])
        words.append(f"empty after {si(empty, 's', 3)}")
    return ", ".join(words)


@drawing
def stragglers(ax, distribution, most=100_000, steps=200):
    """How long the slowest of N workers takes against N, one worker's time being drawn from
    `distribution` (scipy.stats, frozen).

    Curves: the mean step and its p99, from order statistics; a line at one worker's own mean; dots
    are means of `steps` simulated steps each. Returns the artists, lists by name.
    """
    workers = np.unique(np.round(np.geomspace(1, most, 61)))
    few = np.unique(np.round(np.geomspace(1, min(most, 10_000), 9)))
    log_axis(ax.xaxis, "", 1, most)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    mean = [congestion.slowest_mean(distribution, n) for n in workers]
    tail = congestion.slowest_quantile(distribution, workers, 0.99)
    ax.set(
        ylim=(0, 1.1 * max(tail)),
        xlabel="workers N, each step waits for all",
        ylabel="time of a step",
    )
    ax.yaxis.set_major_formatter(lambda value, _: si(value, "s"))
    artists = {
        "tail": ax.plot(workers, tail, color=COLOURS["second"], linestyle="--", label="p99 step"),
        "mean": ax.plot(workers, mean, color=COLOURS["first"], label="mean step"),
        "simulated": ax.plot(
            few,
            [congestion.slowest_simulated(distribution, n, steps).mean() for n in few],
            "o",
            color=COLOURS["first"],
            markerfacecolor="white",
            markersize=7,
            label="simulated",
        ),
        "one": ax.plot(
            [1, most],
            [distribution.mean()] * 2,
            ":",
            color=COLOURS["muted"],
            label="one worker's mean",
        ),
    }
    top = ax.get_ylim()[1]
    ends = [float(tail[-1]), mean[-1], distribution.mean()]
    artists["labels"] = [
        ax.annotate(
            si(end, "s", 3), (1, place), (6, 0), xycoords=ax.transAxes, va="center", **_NEAR
        )
        for end, place in zip(ends, apart([end / top for end in ends], 0.065))
    ]
    artists["legend"] = ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=4, columnspacing=1.0, borderaxespad=0.2
    )
    return artists


@drawing
def control(ax, capacity, runs, rests=None):
    """Congestion control side by side: a column per scheme, above the rate of each flow, below the
    queue, on linear time, so that rest and swing are seen.

    `runs` maps a name to (seconds, rates in bytes/s with a column per flow, queue in bytes): of a
    `congestion.Trajectory` or `Rounds`. `capacity` is the port's, in bytes/s; rates are drawn as
    multiples of each flow's fair share, whose line is at 1. `rests` maps a name to the queue at
    rest: `congestion.fixed_point`, `steady_queue`; inf where there is no rest. What leaves an axis
    is named. Fills the figure of `ax`. Returns the artists, lists by name, a scheme an entry.
    """
    axes = panels(ax, 2, len(runs), height_ratios=(1.1, 1))
    artists = {"axes": axes, "rates": [], "fair": [], "queue": [], "rests": [], "labels": []}
    for place, (name, (colour, _)) in enumerate(zip(runs, SERIES)):
        above, below = axes[place], axes[place + len(runs)]
        for each in (above, below):
            each.set_xlim(0, float(runs[name][0][-1]))
            each.xaxis.set_major_locator(MaxNLocator(4))
            each.xaxis.set_major_formatter(lambda value, _: si(value, "s", 3) if value else "0")
            each.grid(True, axis="y", color="#DDDDDD", linewidth=0.8)
        above.set(ylim=(0, MOST_SHARES), yticks=[0, 1, 2, 3])
        below.set(ylim=(0, MOST_QUEUED), yticks=[0, 100 * KB, 200 * KB, 300 * KB])
        below.yaxis.set_major_formatter(lambda value, _: si(value, "B"))
        above.set_title(name)
        above.tick_params(labelbottom=False)
        if place:
            above.tick_params(labelleft=False)
            below.tick_params(labelleft=False)
        artists["rates"].append(
            above.add_collection(
                LineCollection([], colors=COLOURS[colour], linewidths=1.2, alpha=0.8)
            )
        )
        artists["fair"] += above.plot(
            above.get_xlim(), [1, 1], color=COLOURS["ink"], linestyle=":", linewidth=1.6
        )
        artists["queue"] += below.plot([], [], color=COLOURS[colour], linewidth=1.6)
        artists["rests"] += below.plot([], [], color=COLOURS["ink"], linestyle="--", linewidth=1.4)
        artists["labels"] += [
            panel.text(
                0.98,
                0.95,
                "",
                transform=panel.transAxes,
                fontsize=11,
                bbox=_CLEAR,
                ha="right",
                va="top",
            )
            for panel in (above, below)
        ]
        below.set_xlabel("time")
    axes[0].set_ylabel("rate, in fair shares")
    axes[len(runs)].set_ylabel("queue")
    move_control(artists, capacity, runs, rests)
    return artists


def move_control(artists, capacity, runs, rests=None):
    """Set the artists of `control` to other runs of the same names."""
    for place, (name, (times, rates, held)) in enumerate(runs.items()):
        flows = np.shape(rates)[1]
        shares = np.asarray(rates) * flows / capacity
        artists["rates"][place].set_segments([np.column_stack([times, flow]) for flow in shares.T])
        artists["queue"][place].set_data(times, held)
        rest = (rests or {}).get(name)
        shown = rest is not None and 0 < rest < MOST_QUEUED
        across = artists["rests"][place].axes.get_xlim()
        artists["rests"][place].set_data(across if shown else [], [rest, rest] if shown else [])
        share, point = artists["labels"][2 * place : 2 * place + 2]
        share.set_text(f"fair share 1/{flows}")
        words = [
            ""
            if rest is None
            else "no point of rest: it swings"
            if rest == np.inf
            else f"point of rest {si(rest, 'B', 3)}"
        ]
        if held.max() > MOST_QUEUED:
            words.append(f"first peak {si(float(held.max()), 'B', 3)}")
        point.set_text("\n".join(filter(None, words)))


@drawing
def loads(ax, counts, odds):
    """Flows on each path of one draw (`counts`), and beside it the exact odds of the fullest path.

    `odds[k]` is P(fullest = k), as `congestion.fullest_path` gives it. Both stand on one scale,
    multiples of the most even split, ceil(n/m) flows; the fullest path and its odds are hatched.
    Fills the figure of `ax`. Returns the artists by name.
    """
    left, right = panels(ax, 1, 2, width_ratios=(1.2, 1))
    left.set(
        xlim=(0, 1),
        ylim=(0, HIGHEST),
        xticks=[],
        xlabel="paths, one draw",
        ylabel="load, in most even splits",
    )
    right.set(
        xlim=(0, 1),
        ylim=(0, HIGHEST),
        xlabel="chance that the fullest path is here",
        xticks=[0, 0.25, 0.5, 0.75, 1],
    )
    right.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    right.tick_params(labelleft=False)
    look, hatched = (
        {"facecolor": COLOURS["first"], "linewidth": 0},
        {"facecolor": COLOURS["second"], "edgecolor": "white", "hatch": "//", "linewidth": 0},
    )
    artists = {
        "paths": [left.add_collection(PolyCollection([], **look))],
        "fullest": [left.add_collection(PolyCollection([], **hatched))],
        "odds": [right.add_collection(PolyCollection([], **look))],
        "drawn": [right.add_collection(PolyCollection([], **hatched))],
        "even": [
            each.plot([0, 1], [1, 1], "--", color=COLOURS["ink"], linewidth=1.6)[0]
            for each in (left, right)
        ],
        "counts": [
            left.annotate("", (0, 0), (0, 3), ha="center", fontsize=11, **_NEAR) for _ in range(16)
        ],
        "chances": [
            right.annotate("", (0, 0), (5, 0), va="center", fontsize=11, bbox=_CLEAR, **_NEAR)
            for _ in range(3 * HIGHEST)
        ],
    }
    move_loads(artists, counts, odds)
    return artists


def move_loads(artists, counts, odds):
    """Set the artists of `loads` to another draw, of any number of flows and paths."""
    counts, odds = np.asarray(counts), np.asarray(odds)
    least, most = -(-int(counts.sum()) // counts.size), int(counts.max())
    width = 1 / counts.size
    bars = [
        _bar(width * (i + 0.1), 0, width * 0.8, count / least) for i, count in enumerate(counts)
    ]
    artists["paths"][0].set_verts([bar for bar, count in zip(bars, counts) if count < most])
    artists["fullest"][0].set_verts([bar for bar, count in zip(bars, counts) if count == most])
    rows = {k: _bar(0, (k - 0.4) / least, p, 0.8 / least) for k, p in enumerate(odds) if p > 1e-6}
    artists["odds"][0].set_verts([row for k, row in rows.items() if k != most])
    artists["drawn"][0].set_verts([row for k, row in rows.items() if k == most])
    # counts only where every bar is as wide as its digits, of 8 dots each on a panel of 360
    roomy = counts.size <= len(artists["counts"]) and 8 * len(f"{most:,}") * counts.size <= 360
    for i, label in enumerate(artists["counts"]):
        shown = roomy and i < counts.size and counts[i] <= least * (HIGHEST - 0.5)
        label.xy = width * (i + 0.5), counts[i] / least if shown else 0
        label.set_text(f"{counts[i]:,}" if shown else "")
    # words only where the rows are as tall as words
    named = (
        [k for k in rows if odds[k] > 5e-4 and k <= least * (HIGHEST - 0.2)]
        if least <= 3
        else [int(odds.argmax())]
    )
    for label, k in zip(artists["chances"], named + [None] * len(artists["chances"])):
        label.xy = (odds[k], k / least) if k is not None else (0, 0)
        label.set_text(f"{k} flows: {odds[k]:.1%}" if k is not None else "")
        inside = k is not None and odds[k] > 0.6
        label.set(ha="right" if inside else "left", position=(-5 if inside else 5, 0))


def _bar(x, y, width, height):
    return [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
