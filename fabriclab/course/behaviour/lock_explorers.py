"""Level 4 alive: which buffers wait for which, and whether the waiting closes a circle."""

import functools

import numpy as np

from fabriclab import deadlock as models
from fabriclab.course.behaviour import figures as drawings
from fabriclab.course.engine.explorer import buttons, explorer, slider, tick
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


@explorer(
    drawings.dependencies,
    drawings.move_dependencies,
    [
        {"network": buttons("network", NETWORKS)},
        {"share": slider("flows on", [k / 20 for k in range(1, 21)], "{:.0%}")},
        {"dateline": tick("dateline"), "full": tick("fill the circles' buffers")},
    ],
    alt="The buffers of a network as dots, joined to those their packets may wait for; circles"
    " among them are thick, with arrows.",
    size=(7.2, 4.6),
)
def deadlock(network="ring", dateline=False, share=1.0, full=False):
    """Equation 1 alive: the buffers of a ring, a torus or a tree, which may wait for which, and the
    circles among them.

    A `share` of all its flows is on; a `dateline` moves packets that close a ring to buffers of
    their own; `full` fills the buffers of the circles, each with a packet that waits for the next.
    Rerouted, the tree has two more flows, whose ways bend at a leaf. "none", "possible" and
    "certain" as `deadlock.Dependencies.verdict` has them.
    """
    routes, (places, period) = _routes(network, dateline), _places(network)
    chosen = routes[: max(1, round(share * len(routes)))]
    graph = models.dependencies(chosen)
    circles = graph.cycles()
    waiting = {
        buffer: after
        for circle in (circles if full else [])
        for buffer, after in zip(circle, circle[1:] + circle[:1])
    }
    two = dateline and network in ("ring", "torus")
    return (graph, places, waiting, period), [
        f"{len(chosen):,} of {len(routes):,} flows,"
        f" {'two lanes, changed at the dateline' if two else 'one lane'}:"
        f" {len(graph.channels):,} buffers, {graph.count:,} dependencies.",
        *_verdict(graph.verdict(waiting), circles),
    ]


def _verdict(verdict, circles):
    if verdict == "none":
        return ["No circle: no deadlock, whatever the load.", "Circle: none."]
    shortest = min(circles, key=len)
    many = f"{len(circles)} circles" if len(circles) > 1 else "a circle"
    said = {
        "possible": f"Deadlock possible: {many}. It locks only if all {len(shortest)} buffers of"
        " one are full at once.",
        "certain": f"Deadlock certain: in {many} each full buffer waits for the next. Only dropping"
        " helps.",
    }[verdict]
    steps = (f"{a}→{b}" + (" (lane 1)" if lane else "") for a, b, lane in shortest)
    return [said, f"Circle: {', then '.join(steps)}."]
