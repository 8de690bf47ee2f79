"""Where the switches, hosts and cables of a tree are drawn: leaf-spine, fat-tree, rails, or a
network read from a log.
"""

import numpy as np
from scipy.sparse.csgraph import connected_components

from fabriclab.course.topology.wiring.scene import HEIGHT, LEFT, WIDTH, Scene, homes, take_out

TALL, APART = 0.42, 0.35  # height of a switch, room between groups
MOST = {
    1: 8,
    2: 5,
    3: 3,
    4: 2,
    # boxes in a row of each group, by the number of groups that are drawn; one more where that is
    # all
}
MESH, CORES = (
    5,
    8,
    # boxes in a row that all groups share: over leaves, which all reach it, and over spines, which
    # reach parts
)


def tree(network, lost):
    """The `Scene` of a network of tiers."""
    scene, (home, stem) = Scene(), homes(network)
    name, groups = _groups(network, home)
    chosen = [0, 1, len(groups) - 1] if len(groups) > 4 else list(range(len(groups)))
    level = np.linspace(0.8, HEIGHT - 0.5, 1 + len(network.tiers))
    leaves = [_few(groups[g], MOST[len(chosen)]) for g in chosen]
    spans = _spans(leaves)
    if len(groups) > 4:
        scene.word((spans[1][1] + spans[2][0]) / 2, (level[0] + level[1]) / 2, "…")
    x, width = _place(scene, network, leaves, spans, level)
    rails = _rail_numbers(network, home) or {}
    dead, bundle, gone = take_out(network, lost, list(x))
    tier = np.searchsorted(np.cumsum(network.counts), np.array(list(x)) - network.hosts, "right")
    y = dict(zip(x, level[1 + tier].tolist()))
    for at in np.flatnonzero(np.isin(network.a, list(x)) & np.isin(network.b, list(x))):
        a, b = int(network.a[at]), int(network.b[at])
        scene.line(
            (x[a], y[a] + TALL / 2),
            (x[b], y[b] - TALL / 2),
            at,
            network.multiplicity[at],
            dead in (a, b),
            at == bundle,
        )
    for vertex in x:
        scene.box(x[vertex], y[vertex], width[vertex], TALL, "dead" if vertex == dead else "switch")
        if vertex in rails and vertex != dead:
            scene.word(x[vertex], y[vertex], str(rails[vertex]))
    if dead is not None:
        scene.crosses.append((x[dead], y[dead]))
    _hosts(scene, network, np.concatenate(leaves), home, stem, x, width, level, gone, bundle)
    if len(groups) > 1:
        for (low, high), g in zip(spans, chosen):
            scene.word((low + high) / 2, 0.2, f"{name} {g}")
    _tally(scene, network, level, gone)
    return scene


def _few(vertices, most):
    """`vertices`, or where there are more than `most` and one the first ones and the last."""
    return vertices if vertices.size <= most + 1 else np.append(vertices[: most - 1], vertices[-1])


def _groups(network, home):
    """(what a group of leaves is called, the leaves of each): networks apart, pods, scalable units
    of rails, or all leaves.
    """
    leaves = np.unique(home[home >= 0])
    if not leaves.size:
        return "", [np.arange(network.hosts, network.hosts + sum(network.counts[:1]))]

    def parts(graph):
        label = connected_components(graph, directed=False)[1][leaves]
        return [leaves[label == each] for each in dict.fromkeys(label.tolist())]

    apart = parts(network.graph())
    rails = _rail_numbers(network, home)
    if len(apart) > 1:
        return "rail" if rails else "part", apart
    if len(network.tiers) > 2:
        top = network.first(network.tiers[-1])
        return "pod", parts(network.graph()[:top][:, :top])
    if rails:
        # leaves with a GPU of the same node belong together
        lowest = np.full(int(network.node.max()) + 1, network.vertices)
        np.minimum.at(lowest, network.node, home)
        unit = np.zeros(network.vertices, int)
        unit[home] = lowest[network.node]
        return "unit", [leaves[unit[leaves] == each] for each in np.unique(unit[leaves])]
    return "", [leaves]


def _rail_numbers(network, home):
    """{leaf: GPU number} where every leaf serves the same GPU of each of its nodes, and there are
    several; else None.
    """
    if network.node is None or (home < 0).any():
        return None
    start = np.full(int(network.node.max()) + 1, network.hosts)
    np.minimum.at(start, network.node, np.arange(network.hosts))
    number = np.arange(network.hosts) - start[network.node]
    low, high = np.full(network.vertices, network.hosts), np.zeros(network.vertices, int)
    np.minimum.at(low, home, number)
    np.maximum.at(high, home, number)
    leaves = np.unique(home)
    return (
        dict(zip(leaves.tolist(), low[leaves].tolist()))
        if (low == high)[leaves].all() and high.max() > 0
        else None
    )


def _jumps(vertices):
    """Before which of these are some left out."""
    return np.diff(vertices, prepend=vertices[:1] - 1) > 1


def _spans(groups):
    """From where to where each group reaches, as wide as it has boxes."""
    sizes = np.array([len(group) + _jumps(group).sum() for group in groups], float)
    share = sizes / sizes.sum() * (WIDTH - 0.1 - LEFT - APART * (len(groups) - 1))
    ends = LEFT + np.cumsum(share) + APART * np.arange(len(groups))
    return list(zip(ends - share, ends))


def _place(scene, network, leaves, spans, level):
    """({vertex: x}, {vertex: width of its box}) of every switch that is drawn: over the leaves
    shown, what they lead to.
    """
    x, width = {}, {}

    def row(vertices, low, high, y):
        slots = np.cumsum(1 + _jumps(vertices)) - 0.5
        each = (high - low) / (slots[-1] + 0.5)
        for slot in slots[_jumps(vertices)]:
            scene.word(low + (slot - 1) * each, y, "…")
        x.update(zip(vertices.tolist(), (low + slots * each).tolist()))
        width.update(dict.fromkeys(vertices.tolist(), min(0.62, 0.78 * each)))

    for span, some in zip(spans, leaves):
        row(some, *span, level[1])
    shown = leaves
    for tier in range(1, len(network.tiers)):
        above = [
            [up for vertex in some if (up := np.sort(network.b[network.a == vertex])).size]
            for some in shown
        ]
        found = [np.unique(np.concatenate(some)) if some else np.array([], int) for some in above]
        every = np.unique(np.concatenate(found))
        if len(found) > 1 and every.size == sum(map(len, found)):
            shown, at = [_few(some, MOST[len(leaves)]) for some in found], spans
        else:
            shown, at = (
                [_few(every, MESH) if tier == 1 or not every.size else _shared(above)],
                [(LEFT + 0.1, WIDTH - 0.2)],
            )
        for (low, high), some in zip(at, shown):
            if len(some):
                row(some, low, high, level[tier + 1])
    return x, width


def _shared(above):
    """Of the cores that all pods share those to draw: if it can be, each spine keeps a line to one
    or two.
    """
    every = np.unique(np.concatenate([cores for group in above for cores in group]))
    if every.size <= CORES:
        return every
    both = np.unique([cores[[0, -1]] for group in above for cores in group])
    first = np.unique([cores[0] for group in above for cores in group])
    return next((some for some in (both, first) if 1 < some.size <= CORES), _few(every, CORES))


def _hosts(scene, network, leaves, home, stem, x, width, level, gone, bundle):
    """Under every leaf its hosts: each by itself where all are few,
    else one box with their number.
    """
    on_leaf = np.bincount(home[home >= 0], minlength=network.vertices)[leaves]
    each_by_itself = on_leaf.sum() == network.hosts <= 24 and on_leaf.max() <= 4
    for leaf in leaves.tolist():
        mine = np.flatnonzero(home == leaf)
        if not mine.size:
            continue
        boxes = mine[:, None] if each_by_itself else [mine]
        room = 1.15 * width[leaf]
        for number, hosts in enumerate(boxes):
            place = x[leaf] + room * ((number + 0.5) / len(boxes) - 0.5)
            lost = gone[hosts].all()
            scene.line(
                (place, level[0] + 0.2),
                (x[leaf], level[1] - TALL / 2),
                stem[hosts[0]],
                min(hosts.size, 8),
                lost,
                bundle in stem[hosts],
            )
            scene.box(place, level[0], 0.9 * room / len(boxes), 0.4, "cut off" if lost else "host")
            if not each_by_itself:
                scene.word(place, level[0], f"{hosts.size}", colour="bad" if lost else "ink")


def _tally(scene, network, level, gone):
    """The words on the left: how many of what, tier by tier and layer by layer."""
    scene.word(0, level[0], f"{network.hosts:,} hosts", "left")
    if gone.any():
        scene.word(0, 0.32, f"{gone.sum():,} cut off", "left", "bad")
    elif network.node is not None:
        scene.word(0, 0.32, f"in {int(network.node.max()) + 1:,} nodes", "left")
    used = network.ports_used
    for (tier, count), radix, y in zip(network.switches.items(), network.radix, level[1:]):
        ports = f"{radix}" if used[tier] == radix else f"{used[tier]}/{radix}"
        scene.word(0, y, f"{count:,} {tier}, {ports} ports", "left")
    for index, ((_, cables), low, high) in enumerate(zip(network.cables.items(), level, level[1:])):
        each = network.multiplicity[network.layer == index].max(initial=1)
        scene.word(
            0.25,
            (low + high) / 2,
            f"{cables:,} cables" + (f", {each} a pair" if each > 1 else ""),
            "left",
        )
