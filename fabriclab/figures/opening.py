"""Drawings for the opening: the five levels, line rates over the years, the bandwidth hierarchy, one training step. Floor 5.

As in `fabriclab.figures.transport`, what an explorer brings to life is drawn by the same `move_...` that moves it.
"""

import numpy as np
from matplotlib.patches import Rectangle

from fabriclab.figures import COLOURS, SERIES, drawing, log_axis
from fabriclab.units import GB, si

BASES = {"per direction": 1, "both directions": 2}
# marks that differ as well as colours and dashes do
MARKS = "osD^v"


def _bare(ax):
    ax.set_axis_off()
    ax.set(xlim=(0, 1), ylim=(0, 1))


@drawing
def levels(ax, levels):
    """Figure 1: the levels as a stack. `levels` lists (name, what it holds, the module that computes it), from the ground up."""
    _bare(ax)
    each = 1 / len(levels)
    artists = {"boxes": [], "labels": []}
    for row, (name, holds, module) in enumerate(levels):
        colour = COLOURS[SERIES[row % len(SERIES)][0]]
        low, high = row * each + 0.08 * each, (row + 1) * each - 0.08 * each
        artists["boxes"].append(ax.add_patch(Rectangle((0, low), 1, high - low, facecolor="white", edgecolor=colour, linewidth=1.6)))
        ax.add_patch(Rectangle((0, low), 0.015, high - low, facecolor=colour))
        artists["labels"] += [
            ax.text(0.035, high - 0.29 * each, name, fontweight="bold", va="center"),
            ax.text(0.035, low + 0.25 * each, holds, fontsize=11, va="center"),
            ax.text(0.985, high - 0.29 * each, module, family="DejaVu Sans Mono", fontsize=11, ha="right", va="center", color=COLOURS["first"]),
        ]
    return artists


@drawing
def history(ax, rates):
    """Figure 2: the fastest link of each family so far, one direction of one port or device, year by year.

    `rates` are `catalog.LinkRate`s in any order. A generation no faster than one before it is left out: each line is a
    staircase that holds its value until the next step. Returns the lines by family, in the legend's order.
    """
    families = list(dict.fromkeys(rate.family for rate in rates))
    last = max(rate.year for rate in rates)
    values = [rate.per_direction for rate in rates]
    log_axis(ax.yaxis, "B/s", 10 ** np.floor(np.log10(min(values)) - 0.01), 2 * max(values))
    ax.set(xlim=(min(rate.year for rate in rates) - 0.5, last + 1), xlabel="year", ylabel="line rate, per direction")
    artists = {"rates": [], "labels": []}
    for family, (colour, dash), mark in zip(families, SERIES, MARKS):
        best = []
        for rate in sorted((r for r in rates if r.family == family), key=lambda r: (r.year, r.per_direction)):
            if best and best[-1].year == rate.year:
                best.pop()
            if not best or rate.per_direction > best[-1].per_direction:
                best.append(rate)
        years, steps = [r.year for r in best], [r.per_direction for r in best]
        artists["rates"] += ax.plot(
            [*years, last + 1], [*steps, steps[-1]], color=COLOURS[colour], linestyle=dash, drawstyle="steps-post",
            marker=mark, markevery=range(len(years)), markersize=6, label=family,
        )
    artists["legend"] = ax.legend(loc="upper left")
    return artists


@drawing
def hierarchy(ax, accelerators, basis="per direction"):
    """Figure 3: memory, NVLink, PCIe and network port of each of `accelerators`, on a log axis; above each port, NVLink over port.

    `basis` is "per direction" or "both directions" and holds for every link alike, so that the ratio is the same on either.
    Memory has no directions: reads and writes share its bandwidth. Raises ValueError for another basis.
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
    log_axis(ax.yaxis, "B/s", 10 ** np.floor(np.log10(min(every)) - 0.01), 30 * max(every))
    ax.xaxis.grid(False)
    ax.set_ylabel(f"bandwidth of links, {basis}")
    ax.set_xticks(range(len(accelerators)), [f"{gpu.name}, {gpu.year}\nport: {gpu.port.name}" for gpu in accelerators])
    artists = {"bars": [], "labels": []}
    for place, ((name, values), colour, hatch) in enumerate(zip(kinds.items(), ("muted", "first", "fourth", "startup"), ("", "//", "..", "\\\\"))):
        x = np.arange(len(values)) + 0.2 * (place - 1.5)
        artists["bars"].append(ax.bar(x, values, width=0.19, color=COLOURS[colour], edgecolor="white", hatch=hatch, linewidth=0.5, label=name))
    for place, gpu in enumerate(accelerators):
        ratio = gpu.nvlink.per_direction / gpu.port.per_direction
        artists["labels"].append(ax.annotate(f"1 : {ratio:.3g}", (place + 0.3, ways * gpu.port.per_direction), (0, 4), textcoords="offset points", ha="center", fontsize=11))
    artists["legend"] = ax.legend(loc="upper left", ncols=2)
    return artists


def _round_up(value):
    """The next of 1, 2, 5, 10, 20, 50 … at or above `value`: an axis that stands still while a bar grows."""
    decade = 10 ** np.floor(np.log10(value))
    return float(next(step * decade for step in (1, 2, 5, 10) if step * decade >= value * (1 - 1e-9)))


@drawing
def timeline(ax, steps):
    """Figure 4: training steps on one time scale. `steps` maps a scenario's name to its `collectives.Step`.

    Of each, above what the GPUs do (forward, backward, and hatched the wait for the network), below the AllReduce on the wire.
    """
    rows = len(steps)
    ax.set(ylim=(0, rows), yticks=[], xlabel="time")
    ax.xaxis.set_major_formatter(lambda value, _: si(value, "s"))
    ax.spines["left"].set_visible(False)
    looks = {
        "forward": {"facecolor": COLOURS["compute"], "edgecolor": "white"},
        "backward": {"facecolor": COLOURS["first"], "edgecolor": "white"},
        "idle": {"facecolor": "white", "edgecolor": COLOURS["muted"], "hatch": "////"},
        "AllReduce": {"facecolor": COLOURS["exposed"], "edgecolor": "white"},
    }
    artists = {"names": [], "labels": []} | {phase: [] for phase in looks}
    for row in reversed(range(rows)):
        for phase, look in looks.items():
            y, height = (row + 0.11, 0.22) if phase == "AllReduce" else (row + 0.35, 0.3)
            artists[phase].append(ax.add_patch(Rectangle((0, y), 0, height, linewidth=1, **look)))
        artists["names"].append(ax.text(0, row + 0.74, "", va="bottom"))
        artists["labels"].append([ax.text(0, row + y, "", va="center", ha="center", color=colour, fontsize=11) for y, colour in ((0.5, "white"), (0.5, "white"), (0.22, "black"))])
    artists["labels"] = sum(artists["labels"], [])
    move_timeline(artists, steps)
    return artists


def move_timeline(artists, steps):
    """Set the artists of `timeline` to other `steps`, as many as before."""
    ax = artists["names"][0].axes
    longest = _round_up(1.02 * max(max(step.total, *(start + length for _, start, length in step.bars)) for step in steps.values()))
    ax.set_xlim(0, longest)
    for row, (name, step) in enumerate(steps.items()):
        bars = {phase: (start, length) for phase, start, length in step.bars} | {"idle": (step.forward + step.backward, step.idle)}
        for phase, (start, length) in bars.items():
            artists[phase][row].set(x=start, width=length)
        idle = f"idle {si(step.idle, 's')}" if step.idle else "never idle"
        artists["names"][row].set_text(f"{name}: {step.utilisation:.1%} busy, {idle}")
        for phase, label in zip(("forward", "backward", "AllReduce"), artists["labels"][3 * row : 3 * row + 3]):
            start, length = bars[phase]
            words = f"{phase} {si(length, 's')}"
            inside = length / longest > 0.0155 * len(words)
            label.set_text(words if inside or phase == "AllReduce" else "")
            if inside:
                label.set(x=start + length / 2, ha="center")
            else:
                left = start + length / 2 > longest / 2
                label.set(x=start - 0.01 * longest if left else start + length + 0.01 * longest, ha="right" if left else "left")


@drawing
def traffic(ax, patterns):
    """The traffic-pattern map: which measure of the fabric each pattern leans on.

    `patterns` maps a pattern's name to the measures it stresses; the columns are the measures in the order they turn up.
    """
    measures = list(dict.fromkeys(measure for stressed in patterns.values() for measure in stressed))
    ax.set(xlim=(-0.5, len(measures) - 0.5), ylim=(len(patterns) - 0.5, -0.5))
    ax.set_xticks(range(len(measures)), measures, rotation=30, ha="left")
    ax.set_yticks(range(len(patterns)), list(patterns))
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.set_xticks(np.arange(len(measures) + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(len(patterns) + 1) - 0.5, minor=True)
    ax.grid(which="minor", color="#DDDDDD")
    ax.tick_params(which="minor", length=0)
    at = [(measures.index(measure), row) for row, stressed in enumerate(patterns.values()) for measure in stressed]
    return {"stressed": ax.plot(*zip(*at), "o", markersize=15, color=COLOURS["first"])}
