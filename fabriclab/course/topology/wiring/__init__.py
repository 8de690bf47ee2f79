"""The wiring of any network, drawn so that it stays legible from a handful of hosts to a hundred
thousand. Floor 5.

A tree is drawn tier by tier. Where a tier has more switches than fit, the first ones and the last
stand for all, dots for those between; every line is a bundle of the network. A dragonfly is one of
its groups and the ring of all; a torus is one of its planes. `layout` says where everything goes;
`wiring` makes the artists once, `move_wiring` gives them a new layout.
"""

import numpy as np
from matplotlib.collections import LineCollection, PolyCollection

from fabriclab.course.engine.plot import COLOURS, drawing
from fabriclab.course.topology.wiring.direct import dragonfly, torus
from fabriclab.course.topology.wiring.scene import HEIGHT, WIDTH
from fabriclab.course.topology.wiring.tree import tree

WORDS = 56  # texts kept in stock; no layout needs more
LOOKS = {  # face and edge
    "switch": ("white", COLOURS["first"]),
    "host": (COLOURS["pale"], COLOURS["muted"]),
    "here": (COLOURS["first"], COLOURS["first"]),
    "dead": ("white", COLOURS["bad"]),
    "cut off": ("white", COLOURS["bad"]),
}


@drawing
def wiring(ax, network, lost=None):
    """The wiring of `network`, a `topology.Topology`, with switches and cables counted beside it.

    `lost` names a part as `topology.failures` does, such as "spine switch" or "leaf-spine cable":
    one of that kind is crossed out, its cables are dashed, and the hosts that are cut off marked.
    Raises ValueError for a part it has not.
    Returns the artists: "planes", "cables" and "shapes" are one collection each, "crosses" one
    line, "labels" the texts.
    """
    ax.set(xlim=(0, WIDTH), ylim=(0, HEIGHT))
    ax.set_axis_off()
    artists = {
        "planes": [
            ax.add_collection(
                PolyCollection([], facecolor="white", edgecolor="#AAAAAA", zorder=0.5)
            )
        ],
        "cables": [ax.add_collection(LineCollection([], zorder=1))],
        "shapes": [ax.add_collection(PolyCollection([], linewidth=1.7, zorder=2))],
        "crosses": ax.plot(
            [], [], "x", color=COLOURS["bad"], markersize=15, markeredgewidth=3.5, zorder=3
        ),
        "labels": [ax.text(0, 0, "", va="center", fontsize=11, zorder=4) for _ in range(WORDS)],
    }
    move_wiring(artists, network, lost)
    return artists


def move_wiring(artists, network, lost=None):
    """Set the artists of `wiring` to another network or another lost part."""
    scene = layout(network, lost)
    (lines,), (shapes,) = artists["cables"], artists["shapes"]
    artists["planes"][0].set_verts(scene.planes)
    # what is dead lies over the rest
    in_order = sorted(scene.lines, key=lambda line: line.dead)
    lines.set_segments([line.points for line in in_order])
    lines.set_color([COLOURS["bad" if line.dead else "muted"] for line in in_order])
    lines.set_linestyle([(0, (2, 1.5)) if line.dead else "-" for line in in_order])
    lines.set_linewidth([min(0.9 + 0.35 * (line.cables - 1), 3.5) for line in in_order])
    shapes.set_verts([corners for corners, _ in scene.shapes])
    shapes.set_facecolor([LOOKS[kind][0] for _, kind in scene.shapes])
    shapes.set_edgecolor([LOOKS[kind][1] for _, kind in scene.shapes])
    shapes.set_linestyle(["--" if kind == "cut off" else "-" for _, kind in scene.shapes])
    artists["crosses"][0].set_data(*np.reshape(scene.crosses, (-1, 2)).T)
    for label, (x, y, text, ha, colour) in zip(artists["labels"], scene.words):
        label.set_position((x, y))
        label.set_text(text)
        label.set_horizontalalignment(ha)
        label.set_color(COLOURS[colour])
    for label in artists["labels"][len(scene.words) :]:
        label.set_text("")


def layout(network, lost=None):
    """The `Scene` of a network with one part lost: what `wiring` draws, as plain data."""
    kinds = (
        [f"{tier} switch" for tier in network.tiers]
        + ["host"] * network.direct
        + [f"{layer} cable" for layer in network.layers]
    )
    if lost is not None and lost not in kinds:
        raise ValueError(f"lost must be one of {', '.join(kinds)}, not {lost!r}")
    draw = torus if network.direct else dragonfly if "global" in network.layers else tree
    return draw(network, lost)
