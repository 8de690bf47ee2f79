"""Networks as they are wired: rails, and the lengths of paths."""

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.patches import Rectangle

from fabriclab.course.engine.plot import COLOURS, SERIES, drawing
from fabriclab.course.topology.wiring import move_wiring, wiring  # noqa: F401

_CLEAR = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1}
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
