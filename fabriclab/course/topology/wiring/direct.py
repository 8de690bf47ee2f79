"""Where the parts of a dragonfly and of a torus are drawn."""

import numpy as np

from fabriclab import topology
from fabriclab.course.topology.wiring.scene import (
    HEIGHT,
    LEFT,
    WIDTH,
    Scene,
    cut_off,
    homes,
    rectangle,
    take_out,
)

FEW = 12  # groups whose cables are all drawn; of more, those of one group
SIDE = 16  # hosts drawn along a side of a torus
STUB, SHIFT = 0.35, (0.34, 0.28)  # length of a cable that closes a ring; from one plane to the next


def dragonfly(network, lost):
    """The `Scene` of a dragonfly: group 0 with its routers on the left, on the right the ring of
    all groups.
    """
    scene, (home, stem) = Scene(), homes(network)
    group = np.zeros(network.vertices, int)
    group[home] = network.position[:, 0]
    groups, mine = int(group.max()) + 1, np.unique(home[network.position[:, 0] == 0])
    inner, outer = (dict(zip(mine.tolist(), _ring(mine.size, 2.3, 3.05, r))) for r in (1.35, 2.05))
    circle = _ring(groups, 7.5, 3.05, 2.1)
    local, world = (network.layer == network.layers.index(name) for name in ("local", "global"))
    touching = np.isin(network.a, mine) | np.isin(network.b, mine)
    # a cable across the ring is easier to see than one to the next group
    shown = (
        np.unique(home[np.isin(network.position[:, 0], (0, groups // 2))])
        if lost == "global cable"
        else mine
    )
    dead, bundle, gone = take_out(network, lost, shown)
    for at in np.flatnonzero(local & touching | world & (touching | (groups <= FEW))):
        a, b = int(network.a[at]), int(network.b[at])
        ends = (inner[a], inner[b]) if local[at] else (circle[group[a]], circle[group[b]])
        scene.line(*ends, at, network.multiplicity[at], dead in (a, b), at == bundle)
    for router, place in inner.items():
        hosts = np.flatnonzero(home == router)
        cut = gone[hosts].all()
        scene.line(
            place, outer[router], stem[hosts[0]], min(hosts.size, 8), cut, bundle in stem[hosts]
        )
        scene.box(*place, 0.34, 0.34, "dead" if router == dead else "switch")
        scene.box(*outer[router], 0.46, 0.4, "cut off" if cut else "host")
        scene.word(*outer[router], f"{hosts.size}", colour="bad" if cut else "ink")
    if dead is not None:
        scene.crosses.append(inner[dead])
    size = min(0.3, 0.55 * 2 * np.pi * 2.1 / groups)
    for number, place in enumerate(circle):
        scene.box(*place, size, size, "switch" if number else "here")
    pairs = max(1, groups * (groups - 1) // 2)
    scene.word(2.3, 5.75, f"one group: {mine.size} routers, {network.hosts // groups:,} hosts")
    scene.word(
        7.5, 5.75, f"{groups} groups, {network.cables['global'] // pairs} cable between any two"
    )
    rest = f"{gone.sum():,} cut off" if gone.any() else f"{network.cables['local']:,} local cables"
    scene.word(2.3, 0.2, f"{network.hosts:,} hosts, {rest}", colour="bad" if gone.any() else "ink")
    scene.word(
        7.5,
        0.2,
        f"{network.cables['global']:,} global cables"
        + (", those of one drawn" if groups > FEW else ""),
    )
    return scene


def _ring(number, x, y, radius):
    """Places on a circle, the first on top, round on a picture 7 to 4 wide."""
    turn = 2 * np.pi * np.arange(number) / number
    return list(
        zip((x + 0.92 * radius * np.sin(turn)).tolist(), (y + radius * np.cos(turn)).tolist())
    )


def torus(network, lost):
    """The `Scene` of a torus: one plane of its two longest sides, the other planes as outlines
    behind.
    """
    scene, place, sides = Scene(), network.position, network.position.max(axis=0) + 1
    across, *others = np.argsort(-sides, kind="stable").tolist()
    upward = others[0] if others else across
    deep = [axis for axis in others[1:] if sides[axis] > 1]
    planes, long, high = (
        int(np.prod(sides[deep], dtype=int)),
        int(sides[across]),
        int(sides[upward]) if others else 1,
    )
    front = (
        (place[:, deep] == 0).all(axis=1)
        & (place[:, across] < SIDE)
        & ((place[:, upward] < SIDE) | (not others))
    )
    behind = min(planes - 1, 3)
    step, base = _grid(min(long, SIDE), min(high, SIDE), behind)
    at = {
        int(v): (
            base[0] + step[0] * place[v, across],
            base[1] + (step[1] * place[v, upward] if others else 0),
        )
        for v in np.flatnonzero(front)
    }
    last = max(at, key=lambda v: sum(at[v]))
    low, top = np.array(base) - 1.25 * STUB, np.array(at[last]) + 1.25 * STUB
    if deep:
        for depth in range(behind, -1, -1):
            scene.planes.append(
                rectangle(*(low + np.multiply(SHIFT, depth)), *(top + np.multiply(SHIFT, depth)))
            )
    dead, bundle, gone = _take_out(
        network, lost, at, (low + top) / 2, last, wraps := _wraps(network)
    )
    inside = np.isin(network.a, list(at)) & np.isin(network.b, list(at))
    for each in np.flatnonzero(inside):
        start, end = at[int(network.a[each])], at[int(network.b[each])]
        cut, crossed = dead in (network.a[each], network.b[each]), each == bundle
        if wraps[each]:
            out = np.sign(np.subtract(end, start)) * STUB
            scene.line(start, tuple(start - out), each, 1, cut or crossed)
            scene.line(end, tuple(end + out), each, 1, cut or crossed)
        else:
            scene.line(start, end, each, 1, cut, crossed)
    if deep:
        # the way to the next plane, at the corner that nothing hides
        axis = (
            deep[0]
            if bundle is None or network.layer[bundle] not in deep
            else network.layer[bundle]
        )
        each = _next_plane(network, axis, last, wraps)
        scene.line(
            at[last],
            tuple(np.add(at[last], np.multiply(SHIFT, 1.3))),
            each,
            1,
            dead == last,
            each == bundle,
        )
    size = min(0.36, 0.5 * step[0], 0.5 * step[1])
    for v, xy in at.items():
        scene.box(*xy, size, size, "cut off" if gone[v] else "host")
    if dead is not None:
        scene.crosses.append(at[dead])
    _words(scene, network, planes, min(long, SIDE), long, int(gone.sum()))
    return scene


def _grid(columns, rows, behind):
    """((step across, step up), the lowest corner) of a plane with `behind` more planes after it."""
    right, top = WIDTH - 0.6 - SHIFT[0] * behind, HEIGHT - 0.6 - SHIFT[1] * behind
    step = (
        min(1.6, (right - LEFT - 0.6) / max(columns - 1, 1)),
        min(1.4, (top - 0.6) / max(rows - 1, 1)),
    )
    return step, (LEFT + 0.5, 0.6 + (top - 0.6 - step[1] * (rows - 1)) / 2)


def _wraps(network):
    """Which cables close a ring, from its last host to its first."""
    return np.abs(network.position[network.a] - network.position[network.b]).max(axis=1) > 1


def _take_out(network, lost, at, middle, last, wraps):
    """As `take_out`, of parts near the middle of the plane that is drawn, or at its last corner."""
    if lost is None:
        return None, None, np.zeros(network.hosts, bool)
    nearest = min(at, key=lambda v: np.hypot(*np.subtract(at[v], middle)))
    if lost == "host":
        return nearest, None, cut_off(network, topology.without_vertex(network, nearest))
    layer = network.layers.index(lost.removesuffix(" cable"))
    near = np.flatnonzero((network.layer == layer) & (network.a == nearest) & ~wraps)
    inside = near.size and int(network.b[near[0]]) in at
    bundle = int(near[0]) if inside else _next_plane(network, layer, last, wraps)
    return None, bundle, cut_off(network, topology.without_cable(network, bundle))


def _next_plane(network, layer, vertex, wraps):
    """The cable of this layer that leads on from `vertex`."""
    ahead = np.flatnonzero(
        (network.layer == layer) & ((network.a == vertex) | (network.b == vertex))
    )
    return int(ahead[np.argmin(wraps[ahead])])


def _words(scene, network, planes, columns, long, gone):
    words = [f"{network.hosts:,} hosts", "no switches:", "hosts forward", ""]
    words += [f"{layer}: {cables:,} cables" for layer, cables in network.cables.items() if cables]
    if planes > 1:
        words += ["", f"{planes:,} such planes"]
    if columns < long:
        words += ["", f"{columns} of {long} across"]
    for row, text in enumerate(words):
        if text:
            scene.word(0, HEIGHT - 0.7 - 0.42 * row, text, "left")
    if gone:
        scene.word(0, 0.32, f"{gone:,} cut off", "left", "bad")
