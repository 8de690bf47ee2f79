"""Drawings for the opening: the five levels, line rates over the years, the bandwidth hierarchy,
one training step. Floor 5.

As in `fabriclab.course.transport.figures`, what an explorer brings to life is drawn by the same `move_...`
that moves it.
"""

import textwrap

import numpy as np
from matplotlib.patches import Rectangle

from fabriclab.course.engine.plot import COLOURS, SERIES, drawing, log_axis
from fabriclab.units import si

BASES = {"per direction": 1, "both directions": 2}
# marks that differ, as colours and dashes do, in shape and in size: two that fall on one another
# both show
MARKS = [("o", 6), ("s", 11), ("D", 6), ("^", 7), ("v", 7)]


# behind words that something may pass
_CLEAR = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1}


def _bare(ax):
    ax.set_axis_off()
    ax.set(xlim=(-0.004, 1.004), ylim=(0, 1))


@drawing
def levels(ax, levels):
    """Figure 1: the levels as a stack. `levels` lists (name, what it holds, the module that
    computes it), from the ground up.
    """
    _bare(ax)
    each = 1 / len(levels)
    artists = {"boxes": [], "labels": []}
    for row, (name, holds, module) in enumerate(levels):
        colour = COLOURS[SERIES[row % len(SERIES)][0]]
        low, high = row * each + 0.08 * each, (row + 1) * each - 0.08 * each
        artists["boxes"].append(
            ax.add_patch(
                Rectangle(
                    (0, low), 1, high - low, facecolor="white", edgecolor=colour, linewidth=1.6
                )
            )
        )
        ax.add_patch(Rectangle((0, low), 0.015, high - low, facecolor=colour))
        artists["labels"] += [
            ax.text(0.035, high - 0.29 * each, name, fontweight="bold", va="center"),
            ax.text(0.035, low + 0.25 * each, holds, fontsize=11, va="center"),
            ax.text(
                0.985,
                high - 0.29 * each,
                module,
                family="DejaVu Sans Mono",
                fontsize=11,
                ha="right",
                va="center",
                color=COLOURS["first"],
            ),
        ]
    return artists


@drawing
def history(ax, rates):
    """Figure 2: the fastest link of each family so far, one direction of one port or device, year
    by year.

    `rates` are `catalog.LinkRate`s in any order. A generation no faster than one before it is left
    out: each line is a staircase that holds its value until the next step. Returns the lines by
    family, in the legend's order.
    """
    families = list(dict.fromkeys(rate.family for rate in rates))
    last = max(rate.year for rate in rates)
    values = [rate.per_direction for rate in rates]
    log_axis(ax.yaxis, "B/s", 10 ** np.floor(np.log10(min(values)) - 0.01), 2 * max(values))
    ax.set(
        xlim=(min(rate.year for rate in rates) - 0.5, last + 1),
        xlabel="year",
        ylabel="line rate, per direction",
    )
    artists = {"rates": []}
    for family, (colour, dash), (mark, size) in zip(families, SERIES, MARKS):
        best = []
        for rate in sorted(
            (r for r in rates if r.family == family), key=lambda r: (r.year, r.per_direction)
        ):
            if best and best[-1].year == rate.year:
                best.pop()
            if not best or rate.per_direction > best[-1].per_direction:
                best.append(rate)
        years, steps = [r.year for r in best], [r.per_direction for r in best]
        artists["rates"] += ax.plot(
            [*years, last + 1],
            [*steps, steps[-1]],
            color=COLOURS[colour],
            linestyle=dash,
            drawstyle="steps-post",
            marker=mark,
            markevery=range(len(years)),
            markersize=size,
            markerfacecolor="white",
            markeredgewidth=1.8,
            label=family,
        )
    artists["legend"] = ax.legend(loc="upper left")
    return artists


@drawing
def hierarchy(ax, accelerators, basis="per direction"):
    """Figure 3: memory, NVLink, PCIe and network port of each of `accelerators`, on a log axis;
    above each port, NVLink over port.

    `basis` is "per direction" or "both directions" and holds for every link alike, so that the
    ratio is the same on either.
    Memory has no directions: reads and writes share its bandwidth. Raises ValueError for another
    basis.
    """
    if basis not in BASES:
        raise ValueError(f"basis must be one of {', '.join(BASES)}, not {basis!r}")
    ways = BASES[basis]
    kinds = {
        "HBM (reads and writes share it)": [gpu.hbm for gpu in accelerators],
        "NVLink": [ways * gpu.nvlink.per_direction for gpu in accelerators],
        "PCIe to the host": [ways * gpu.host.per_direction for gpu in accelerators],
        "network port": [ways * gpu.port.per_direction for gpu in accelerators],
    }
    every = [value for values in kinds.values() for value in values]
    log_axis(ax.yaxis, "B/s", min(every) / 3, 20 * max(every))
    ax.set_ylabel(f"bandwidth of links, {basis}")
    ax.set_xticks(
        range(len(accelerators)),
        [f"{gpu.name}, {gpu.year}\nport: {gpu.port.name}" for gpu in accelerators],
    )
    artists = {"bars": [], "ratios": [], "labels": []}
    looks = (("muted", ""), ("first", "//"), ("fourth", ".."), ("startup", "\\\\"))
    for place, ((name, values), (colour, hatch)) in enumerate(zip(kinds.items(), looks)):
        x = np.arange(len(values)) + 0.2 * (place - 1.5)
        artists["bars"].append(
            ax.bar(
                x,
                values,
                width=0.19,
                color=COLOURS[colour],
                edgecolor="white",
                hatch=hatch,
                linewidth=0.5,
                label=name,
            )
        )
    for place, gpu in enumerate(accelerators):
        top, foot, x = ways * gpu.nvlink.per_direction, ways * gpu.port.per_direction, place + 0.3
        ax.plot([place, x + 0.1], [top, top], color=COLOURS["ink"], linewidth=1.2)
        artists["ratios"].append(
            ax.annotate(
                "",
                (x, foot),
                (x, top),
                arrowprops={"arrowstyle": "<->", "linewidth": 1.4, "shrinkA": 0, "shrinkB": 0},
            )
        )
        artists["labels"].append(
            ax.annotate(
                f"{top / foot:.3g}x",
                (x, np.sqrt(top * foot)),
                (-4, 0),
                textcoords="offset points",
                ha="right",
                va="center",
                bbox=_CLEAR,
            )
        )
    artists["legend"] = ax.legend(loc="upper left", ncols=2)
    return artists


def _round_up(value):
    """The next round number at or above `value`, five to the decade: an axis that stands still
    while a bar grows.
    """
    decade = 10 ** np.floor(np.log10(value))
    return float(
        next(
            step * decade for step in (1, 1.5, 2.5, 4, 6, 10) if step * decade >= value * (1 - 1e-9)
        )
    )


@drawing
def timeline(ax, steps):
    """Figure 4: training steps on one time scale. `steps` maps a scenario's name to its
    `collectives.Step`.

    Of each, above what the GPUs do (forward, backward, and hatched the wait for the network), below
    the AllReduce on the wire.
    """
    rows = len(steps)
    ax.set(ylim=(0, rows), yticks=[], xlabel="time")
    ax.xaxis.set_major_formatter(
        lambda value, _: f"{value:,.0f} s" if value >= 100 else si(value, "s")
    )
    ax.spines["left"].set_visible(False)
    looks = {
        "forward": {"facecolor": COLOURS["compute"], "edgecolor": "white"},
        "backward": {"facecolor": COLOURS["first"], "edgecolor": "white"},
        "idle": {"facecolor": "white", "edgecolor": COLOURS["muted"], "hatch": "////"},
        "AllReduce": {"facecolor": COLOURS["exposed"], "edgecolor": COLOURS["exposed"]},
    }
    artists = {"names": [], "labels": []} | {phase: [] for phase in looks}
    for row in reversed(range(rows)):
        for phase, look in looks.items():
            y, height = (row + 0.08, 0.24) if phase == "AllReduce" else (row + 0.34, 0.3)
            artists[phase].append(ax.add_patch(Rectangle((0, y), 0, height, linewidth=1, **look)))
        artists["names"].append(ax.text(0, row + 0.7, "", va="bottom"))
        artists["labels"] += [
            ax.text(0, row + y, "", va="center", color=colour, fontsize=11)
            for y, colour in ((0.49, "black"), (0.49, "white"), (0.2, "black"))
        ]
    artists["legend"] = ax.legend(
        [artists[phase][0] for phase in looks],
        looks,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=4,
    )
    move_timeline(artists, steps)
    return artists


def move_timeline(artists, steps):
    """Set the artists of `timeline` to other `steps`, as many as before."""
    ax = artists["names"][0].axes
    longest = _round_up(
        1.02
        * max(
            max(step.total, *(start + length for _, start, length in step.bars))
            for step in steps.values()
        )
    )
    ax.set_xlim(0, longest)
    for row, (name, step) in enumerate(steps.items()):
        bars = {phase: (start, length) for phase, start, length in step.bars} | {
            "idle": (step.forward + step.backward, step.idle)
        }
        for phase, (start, length) in bars.items():
            # without a width, an outline would still be a line
            artists[phase][row].set(x=start, width=length, linewidth=1 if length else 0)
        idle = f", {si(step.idle, 's')} idle" if step.idle else ""
        artists["names"][row].set_text(f"{name}: {step.utilisation:.1%} busy{idle}")
        for phase, label in zip(
            ("forward", "backward", "AllReduce"), artists["labels"][3 * row : 3 * row + 3]
        ):
            start, length = bars[phase]
            words = si(length, "s")
            if length / longest > 0.018 * len(words):
                label.set(text=words, x=start + length / 2, ha="center")
            else:
                # beside the AllReduce there is room, beside the passes there is not
                left = start + length / 2 > longest / 2
                label.set(
                    text=words if phase == "AllReduce" else "",
                    x=start - 0.01 * longest if left else start + length + 0.01 * longest,
                    ha="right" if left else "left",
                )


@drawing
def traffic(ax, patterns):
    """The traffic-pattern map: which measures of the fabric each pattern leans on.

    `patterns` maps a pattern's name to the measures it stresses; the rows are the measures in the
    order they turn up.
    """
    measures = list(
        dict.fromkeys(measure for stressed in patterns.values() for measure in stressed)
    )
    ax.set(xlim=(-0.5, len(patterns) - 0.5), ylim=(len(measures) - 0.5, -0.5))
    ax.set_xticks(
        range(len(patterns)),
        ["\n".join(textwrap.wrap(name, 16, break_on_hyphens=False)) for name in patterns],
    )
    ax.set_yticks(range(len(measures)), measures)
    ax.xaxis.tick_top()
    ax.set_xticks(np.arange(len(patterns) + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(len(measures) + 1) - 0.5, minor=True)
    ax.tick_params(which="both", length=0)
    ax.grid(which="minor", color="#DDDDDD")
    ax.spines[["left", "bottom"]].set_visible(False)
    at = [
        (column, measures.index(measure))
        for column, stressed in enumerate(patterns.values())
        for measure in stressed
    ]
    return {"stressed": ax.plot(*zip(*at), "o", markersize=13, color=COLOURS["first"])}
