"""Level 4 alive: which buffers wait for which, and whether the waiting closes a circle. Floor 6."""

import functools

import ipywidgets
import numpy as np

from fabriclab import deadlock as models
from fabriclab.course.behaviour import figures as drawings
from fabriclab.course.engine import plot
from fabriclab.course.engine.explorer import Explorer, slider
from fabriclab.topology import leaf_spine

RING, SIDE = 6, 4
TREE = leaf_spine(3, 2, 2, 2)
NETWORKS = [
    ("ring of 6", "ring"),
    ("torus 4 x 4", "torus"),
    ("leaf-spine", "tree"),
    ("leaf-spine, rerouted", "valley"),
]


@functools.lru_cache(maxsize=16)
def _routes(network, dateline):
    """All routes of a network, in an order of no meaning, the same each time."""
    if network == "ring":
        routes = models.grid_routes((RING,), wrap=True, dateline=dateline)
    elif network == "torus":
        routes = models.grid_routes((SIDE, SIDE), wrap=True, dateline=dateline)
    else:
        routes = list(models.shortest_routes(TREE)) + (
            models.valley_routes(TREE) if network == "valley" else []
        )
    return [routes[i] for i in np.random.default_rng(5).permutation(len(routes))]


def _places(network):
    """({vertex: (x, y)}, period or None) of a network."""
    if network == "ring":
        return {
            i: (np.sin(2 * np.pi * i / RING), np.cos(2 * np.pi * i / RING)) for i in range(RING)
        }, None
    if network == "torus":
        return {SIDE * i + j: (i, j) for i in range(SIDE) for j in range(SIDE)}, (SIDE, SIDE)
    rows = [
        range(TREE.hosts),
        range(TREE.hosts, TREE.hosts + TREE.counts[0]),
        range(TREE.hosts + TREE.counts[0], TREE.vertices),
    ]
    return {
        vertex: (6 * (i + 0.5) / len(row), 1.7 * level)
        for level, row in enumerate(rows)
        for i, vertex in enumerate(row)
    }, None


def deadlock(network="ring", dateline=False, share=1.0, full=False):
    """Equation 1 alive: the buffers of a ring, a torus or a tree, which may wait for which, and the
    circles among them.

    A `share` of all its flows is on; a `dateline` moves packets that close a ring to buffers of
    their own; `full` fills the buffers of the circles, each with a packet that waits for the next.
    Rerouted, the tree has two more flows, whose ways bend at a leaf. "none", "possible" and
    "certain" as `deadlock.Dependencies.verdict` has them.
    """
    style = {"description_width": "130px", "button_width": "auto"}
    controls = {
        "network": ipywidgets.ToggleButtons(
            options=NETWORKS, value=network, description="network", style=style
        ),
        "share": slider("flows on", [k / 20 for k in range(1, 21)], "{:.0%}".format, share),
        "dateline": ipywidgets.Checkbox(
            dateline,
            description="dateline",
            indent=False,
            layout={"width": "auto", "margin": "0 14px 0 0"},
        ),
        "full": ipywidgets.Checkbox(
            full,
            description="fill the circles' buffers",
            indent=False,
            layout={"width": "auto", "margin": "0 14px 0 0"},
        ),
    }

    def state(network, share, dateline, full):
        routes = _routes(network, dateline)
        chosen = routes[: max(1, round(share * len(routes)))]
        graph = models.dependencies(chosen)
        circles = graph.cycles()
        waiting = (
            {
                buffer: after
                for circle in circles
                for buffer, after in zip(circle, circle[1:] + circle[:1])
            }
            if full
            else {}
        )
        return graph, circles, waiting, len(chosen), len(routes)

    def move(network, share, dateline, full):
        graph, circles, waiting, flows, every = state(network, share, dateline, full)
        places, period = _places(network)
        drawings.move_dependencies(artists, graph, places, waiting, period)
        return _locked(
            graph, circles, waiting, flows, every, dateline and network in ("ring", "torus")
        )

    figure, axes = plot.new(7.2, 4.6)
    places, period = _places(network)
    graph, _, waiting, _, _ = state(network, share, dateline, full)
    artists = drawings.dependencies(axes, graph, places, waiting, period)
    return Explorer(
        controls,
        figure,
        [artist for name, group in artists.items() if name != "legend" for artist in group],
        move,
        alt=(
            "The buffers of a network as dots, joined to those their packets may wait for; circles"
            " among them are thick, with arrows."
        ),
        rows=[["network"], ["share"], ["dateline", "full"]],
    )


def _locked(graph, circles, waiting, flows, every, dateline):
    verdict = graph.verdict(waiting)
    lanes = "two lanes, changed at the dateline" if dateline else "one lane"
    first = (
        f"{flows:,} of {every:,} flows, {lanes}: {len(graph.channels):,} buffers, {graph.count:,}"
        " dependencies."
    )
    if verdict == "none":
        return "\n".join([first, "No circle: no deadlock, whatever the load.", "Circle: none."])
    shortest = min(circles, key=len)
    many = f"{len(circles)} circles" if len(circles) > 1 else "a circle"
    second = {
        "possible": (
            f"Deadlock possible: {many}. It locks only if all {len(shortest)} buffers of one are"
            " full at once."
        ),
        "certain": (
            f"Deadlock certain: in {many} each full buffer waits for the next. Only dropping helps."
        ),
    }[verdict]
    return "\n".join(
        [
            first,
            second,
            "Circle: "
            + ", then ".join(f"{a}→{b}" + (" (lane 1)" if lane else "") for a, b, lane in shortest)
            + ".",
        ]
    )
