"""Routes of rings, grids and trees, with the valleys and the loops that a reroute leaves."""

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from fabriclab.checks import (
    Values,
    broadcastable,
    count,
    each,
    flag,
    number,
    positive,
    scalar,
    scalar_or_array,
)
from fabriclab.deadlock.circles import MOST_LINKS, MOST_ROUTES, route
from fabriclab.topology.graph import Topology, wired


def ring_routes(
    switches: Values, links: Values, senders: Sequence[int] | None = None
) -> list[tuple]:
    """Clockwise routes of `links` links on a ring, one from each switch, or from `senders` only.

    >>> from fabriclab.deadlock import dependencies
    >>> dependencies(ring_routes(4, 2, senders=[0, 1, 2])).verdict()
    'none'
    """
    switches = int(scalar("switches", count("switches", switches, least=3)))
    if switches > MOST_LINKS:
        raise ValueError(f"switches must be at most {MOST_LINKS:,}, not {switches:,}")
    links = int(
        scalar(
            "links",
            number(
                "links",
                links,
                least=1,
                most=switches,
                expected=f"a whole number from 1 to {switches}",
                whole=True,
            ),
        )
    )
    # a switch may send once; one more is enough to see that there are too many
    told = range(switches) if senders is None else islice(each("senders", senders), switches + 1)
    starts = [int(scalar("senders", count("senders", start, least=0))) for start in told]
    if len(starts) > switches or len(starts) * links > MOST_LINKS:
        raise ValueError(
            f"{'senders' if len(starts) > switches else 'switches'} must be at most {switches:,}"
            f" routes, of at most {MOST_LINKS:,} links together"
        )
    return [route([(start + i) % switches for i in range(links + 1)]) for start in starts]


def loop_limit(rate: Values, switches: Values, ttl: Values) -> Values:
    """Bytes a second that may enter a forwarding loop of n `switches` without locking it, lossless
    as it is: ``n rate / ttl``.

    For as long as two routing tables contradict each other, a packet is forwarded `ttl` times
    before it is dropped, and so crosses each of the loop's n cables ``ttl / n`` times. Beyond the
    limit the cables are asked for more than `rate`, their buffers fill, and each then waits for the
    next: no packet is forwarded again, and so none grows old. Source: Hu et al., HotNets 2016.

    Other words: transient loop, BGP convergence, time to live, hop limit, micro-loop.

    >>> from fabriclab.units import Gbps
    >>> [round(loop_limit(400 * Gbps, 2, ttl) / Gbps, 3) for ttl in (16, 64)]
    [50.0, 12.5]
    """
    rate, switches = positive("rate", rate), count("switches", switches, least=2)
    ttl = count("ttl", ttl)
    broadcastable(rate=rate, switches=switches, ttl=ttl)
    return scalar_or_array(np.minimum(1.0, np.asarray(switches) / ttl) * rate)


def grid_routes(sides: tuple[int, ...], wrap: bool = False, dateline: bool = False) -> list[tuple]:
    """Dimension-order routes between all places of a mesh, or with `wrap` of a torus (numbered as
    `topology.torus` does).

    Each axis in turn, the short way round (clockwise where both are equal). With `dateline`, a
    packet changes from lane 0 to lane 1 of an axis when it takes the cable that closes the ring, so
    that no circle of waits can close.

    >>> from fabriclab.deadlock import dependencies
    >>> [len(dependencies(grid_routes((4, 4), wrap=True, dateline=d)).components()) for d
    ...     in (False, True)]
    [8, 0]
    """
    wrap = scalar("wrap", flag("wrap", wrap))
    dateline = scalar("dateline", flag("dateline", dateline))
    if not isinstance(sides, (tuple, list)) or not 1 <= len(sides) <= 4:
        raise ValueError(f"sides must be one to four whole numbers, such as (4, 4), not {sides!r}")
    sides = [int(scalar("sides", count("sides", k))) for k in sides]
    wrap, dateline = flag("wrap", wrap), flag("dateline", dateline)
    places = int(np.prod(sides, dtype=float))
    links = places**2 * sum((k * k // 4 if wrap else (k * k - 1) / 3) / k for k in sides)
    if links > MOST_LINKS:
        raise ValueError(
            f"sides must make routes of at most {MOST_LINKS:,} links together, such as (8, 8, 4),"
            f" not {links:,.0f}"
        )
    where = np.stack(np.unravel_index(np.arange(places), sides), axis=1).tolist()
    strides = [int(np.prod(sides[axis + 1 :])) for axis in range(len(sides))]
    routes = []
    for source in range(places):
        for target in range(places):
            if source == target:
                continue
            at, vertices, lanes = list(where[source]), [source], []
            for axis, side in enumerate(sides):
                steps = where[target][axis] - at[axis]
                if wrap and not -side < 2 * steps <= side:
                    steps -= side if steps > 0 else -side
                lane, way = 0, 1 if steps > 0 else -1
                for _ in range(abs(steps)):
                    step = (at[axis] + way) % side
                    if dateline and abs(step - at[axis]) > 1:
                        lane = 1
                    vertices.append(vertices[-1] + (step - at[axis]) * strides[axis])
                    lanes.append(lane)
                    at[axis] = step
            routes.append(route(vertices, lanes))
    return routes


def _neighbours(topology):
    near = {vertex: [] for vertex in range(wired("topology", topology).vertices)}
    for a, b in zip(topology.a.tolist(), topology.b.tolist()):
        near[a].append(b)
        near[b].append(a)
    return near


def _distances(near, goal):
    """Links from every vertex to `goal`; vertices that cannot reach it are missing."""
    far, line = {goal: 0}, deque([goal])
    while line:
        vertex = line.popleft()
        for other in near[vertex]:
            if other not in far:
                far[other] = far[vertex] + 1
                line.append(other)
    return far


def shortest_routes(topology: Topology) -> Iterator:
    """All shortest routes between all hosts of a `topology.Topology`: on a tree, every way up and
    down; a generator.

    Raises ValueError beyond 250,000 routes: a fat-tree of radix 8 has 235,904.

    >>> from fabriclab.deadlock import dependencies
    >>> from fabriclab.topology import fat_tree
    >>> tree = dependencies(shortest_routes(fat_tree(4)))
    >>> len(tree.channels), tree.count, tree.verdict()
    (96, 208, 'none')
    """
    near, made = _neighbours(topology), 0
    for target in range(topology.hosts):
        far = _distances(near, target)
        for source in range(topology.hosts):
            unfinished = [[source]] if source in far and source != target else []
            while unfinished:
                path = unfinished.pop()
                if path[-1] == target:
                    made += 1
                    if made > MOST_ROUTES:
                        raise ValueError(
                            f"topology must have at most {MOST_ROUTES:,} shortest routes between"
                            f" its hosts: {topology.name} has more"
                        )
                    yield route(path)
                else:
                    unfinished += [
                        path + [after]
                        for after in near[path[-1]]
                        if far.get(after, -1) == far[path[-1]] - 1
                    ]


def valley_routes(topology: Topology) -> list[tuple]:
    """Two routes that go down, up and down again, and together lock a tree: what local rerouting
    makes of two dead cables.

    Leaves l, m and spines s, t, all four joined. With the cable s-l dead, s sends what it has for l
    by way of m and t; with t-m dead, t sends what it has for m by way of l and s. Each detour bends
    at a leaf, where traffic never turns in up/down routing. One alone closes no circle. Raises
    ValueError where the network has no such four, or no other leaf.

    >>> from fabriclab.deadlock import dependencies
    >>> from fabriclab.topology import leaf_spine
    >>> [len(dependencies(routes).cycles()) for routes
    ...     in (valley_routes(leaf_spine(3, 2, 2, 2)), valley_routes(leaf_spine(3, 2, 2, 2))[:1])]
    [1, 0]
    """
    near = _neighbours(topology)
    above = {
        leaf: [v for v in near[leaf] if v >= topology.hosts]
        for leaf in range(topology.hosts, topology.hosts + (topology.counts or (0,))[0])
    }
    hosts = {leaf: [v for v in near[leaf] if v < topology.hosts] for leaf in above}
    for one in above:
        for other in above:
            shared = [s for s in above[one] if s in above[other]]
            if other <= one or len(shared) < 2 or not hosts[one] or not hosts[other]:
                continue
            left, right = shared[:2]
            detours = []
            for top, bend, low, last in ((left, other, right, one), (right, one, left, other)):
                # traffic comes from any further leaf, by a way that keeps off the two
                around = {
                    v: [w for w in near[v] if w not in (one, other)]
                    for v in near
                    if v not in (one, other)
                }
                far = _distances(around, top)
                start = min(
                    (v for leaf in hosts if leaf in far for v in hosts[leaf]),
                    key=lambda v: far.get(v, np.inf),
                    default=None,
                )
                if start is None:
                    break
                path = [start]
                while path[-1] != top:
                    path.append(
                        next(v for v in around[path[-1]] if far.get(v, -1) == far[path[-1]] - 1)
                    )
                detours.append(route([*path, bend, low, last, hosts[last][0]]))
            if len(detours) == 2:
                return detours
    raise ValueError(
        f"topology must have at least three leaves, two of them under the same two spines:"
        f" {topology.name} does not"
    )
