"""Deadlock: which buffers wait for which, whether the waiting closes a circle, and what it costs to
break one.

A lossless packet holds the buffer at the end of one channel until there is room at the end of the
next. A *channel* is ``(from, to, lane)``: one direction of a cable, and the virtual lane (a buffer
of its own) a packet uses on it. A *route* is a tuple of channels, each beginning where the one
before ended; `route` makes one from a list of vertices. Each pair of neighbours on a route is a
dependency: the first channel's buffer may wait for the second's.

No circle of dependencies: no deadlock, whatever the load. A circle makes deadlock **possible**, and
only that; it is
**certain** once every buffer of a circle is full and waits for the next. The chapter's equation 1
has the circle alone and says "if and only if": that holds of routes (without a circle no load locks
them, with one some load does), not of a moment. Vertices are anything hashable; those of
`fabriclab.topology` are numbers.

Sources: Dally and Seitz 1987; Guo et al. 2016 and Hu et al. 2017 (Tagger) for PFC; chapter,
Definition 1.8, equation 1.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from fabriclab.checks import (
    Values,
    broadcastable,
    count,
    each,
    flag,
    instance,
    nonnegative,
    number,
    positive,
    scalar,
)
from fabriclab.topology.graph import Topology, wired

MOST_ROUTES = 250_000
MOST_LINKS = 500_000  # of all routes that one call makes together


def route(vertices: Sequence[int], lane: int | Sequence[int] = 0) -> tuple[tuple, ...]:
    """The channels along a list of vertices, all on one lane, or each on its own where `lane` is a
    list.

    >>> route([0, 1, 2])
    ((0, 1, 0), (1, 2, 0))
    """
    vertices = list(each("vertices", vertices))
    lanes = (
        [lane] * (len(vertices) - 1)
        if isinstance(lane, int)
        else list(each("lane", lane, "one lane, or a list of one for each step"))
    )
    if len(vertices) < 2 or len(lanes) != len(vertices) - 1:
        raise ValueError(
            "vertices must be two or more, with one lane for each step between them, not"
            f" {len(vertices)} with {len(lanes)} lanes"
        )
    return tuple(zip(vertices, vertices[1:], lanes))


@dataclass(frozen=True)
class Dependencies:
    """Who waits for whom: `follows` maps each channel to the channels its packets may want next.

    Other words: cycle of buffers, channel dependency graph, credit loop, circular wait.
    """

    follows: dict

    @property
    def channels(self):
        """All channels that some route uses."""
        return list(self.follows)

    @property
    def count(self):
        """Number of dependencies."""
        return sum(len(after) for after in self.follows.values())

    def components(self):
        """Lists of channels that wait for each other in circles: the strongly connected components
        of more than one channel.
        """
        if not self.count:
            return []
        number_of = {channel: i for i, channel in enumerate(self.follows)}
        ends = np.array(
            [(number_of[a], number_of[b]) for a, after in self.follows.items() for b in after]
        ).T
        graph = coo_array((np.ones(ends.shape[1]), tuple(ends)), shape=(len(number_of),) * 2)
        _, label = connected_components(graph, connection="strong")
        groups = {}
        for channel, group in zip(self.follows, label.tolist()):
            groups.setdefault(group, []).append(channel)
        return [group for group in groups.values() if len(group) > 1]

    def cycles(self):
        """One shortest circle of each component, as a list of channels in the order they wait.

        An empty list: no deadlock, ever.
        """
        return [self._shortest(group) for group in self.components()]

    def _shortest(self, group):
        best, inside = None, set(group)
        for start in group:
            before, line = {start: None}, deque([start])
            while line:
                channel = line.popleft()
                if start in self.follows[channel]:
                    circle = [channel]
                    while before[circle[-1]] is not None:
                        circle.append(before[circle[-1]])
                    if best is None or len(circle) < len(best):
                        best = circle[::-1]
                    break
                for after in self.follows[channel]:
                    if after in inside and after not in before:
                        before[after] = channel
                        line.append(after)
        return best

    def verdict(self, waiting=None):
        """ "none", "possible" or "certain".

        `waiting` says what is known of the load: it maps each *full* buffer's channel to the
        channel that the packet at its head waits for (buffers are first in, first out). "certain"
        where these close a circle; a full buffer whose head is bound for a host or for a buffer
        with room will drain, and is left out. Raises ValueError for a wait that no route has.

        >>> dependencies(ring_routes(4, 2)).verdict()
        'possible'
        """
        waiting = {} if waiting is None else waiting
        instance("waiting", waiting, dict, "{(0, 1): (1, 2)}")
        for full, wanted in waiting.items():
            if wanted not in self.follows.get(full, ()):
                raise ValueError(
                    f"waiting must hold dependencies of the routes: no packet in {full!r} wants"
                    f" {wanted!r}"
                )
        for start in waiting:
            at, seen = start, set()
            while at in waiting and at not in seen:
                seen.add(at)
                at = waiting[at]
            if at in seen:
                return "certain"
        return "possible" if self.components() else "none"


def dependencies(routes: Iterable) -> Dependencies:
    """The `Dependencies` of a list of routes.

    Raises ValueError for a route whose channels do not join or lead back to where they start.

    Other words: cycle of buffer dependencies, channel dependency graph, credit loop.

    >>> ring = dependencies(ring_routes(4, 2))
    >>> ring.verdict(), ring.cycles()
    ('possible', [[(0, 1, 0), (1, 2, 0), (2, 3, 0), (3, 0, 0)]])
    >>> circle = ring.cycles()[0]
    >>> ring.verdict(dict(zip(circle, circle[1:] + circle[:1])))
    'certain'
    """
    follows = {}
    for channels in each("routes", routes):
        before = None
        for channel in each("routes", channels, "a list of routes, as `route` makes them"):
            if not isinstance(channel, tuple) or len(channel) != 3 or channel[0] == channel[1]:
                raise ValueError(
                    "routes must hold channels (from, to, lane) between two vertices, not"
                    f" {channel!r}"
                )
            follows.setdefault(channel, {})
            if before is not None:
                if before[1] != channel[0]:
                    raise ValueError(
                        f"routes must be joined: {before!r} ends at {before[1]!r}, where"
                        f" {channel!r} does not begin"
                    )
                follows[before][channel] = None
            before = channel
    return Dependencies({channel: tuple(after) for channel, after in follows.items()})


def ring_routes(
    switches: Values, links: Values, senders: Sequence[int] | None = None
) -> list[tuple]:
    """Clockwise routes of `links` links on a ring, one from each switch, or from `senders` only.

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


def grid_routes(sides: tuple[int, ...], wrap: bool = False, dateline: bool = False) -> list[tuple]:
    """Dimension-order routes between all places of a mesh, or with `wrap` of a torus (numbered as
    `topology.torus` does).

    Each axis in turn, the short way round (clockwise where both are equal). With `dateline`, a
    packet changes from lane 0 to lane 1 of an axis when it takes the cable that closes the ring, so
    that no circle of waits can close.

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


@dataclass(frozen=True)
class Recovery:
    """What a watchdog's cure costs: bytes `dropped`, bytes `resent`, and seconds of `stall` until
    all is sent again.
    """

    dropped: float
    resent: float
    stall: float


def watchdog(
    detection: Values,
    held: Values,
    rate: Values,
    timeout: Values = 0.0,
    flows: Values = 0,
    in_flight: Values = 0.0,
) -> Recovery:
    """The `Recovery` from a lock that a PFC watchdog breaks by dropping: ``stall = detection +
    timeout + resent / rate``.

    `detection` is how long a queue must stand paused, `held` the bytes dropped, `rate` the port's
    in bytes/s, `timeout` the senders' retransmission timeout. Under go-back-N each of `flows` that
    lost a packet sends all its `in_flight` bytes again, and at least what was dropped; leave both
    at 0 for selective repeat, which sends again what was dropped alone.
    The wait dwarfs the sending: SONiC's watchdog takes 200 ms by default, 1 MB at 50 GB/s takes 20
    us.

    >>> from fabriclab.units import GB, KB, MB, ms
    >>> cure = watchdog(200 * ms, 1 * MB, 50 * GB, timeout=4 * ms, flows=64, in_flight=250 * KB)
    >>> cure.resent / MB, round(cure.stall / ms, 2)
    (16.0, 204.32)
    """
    held, in_flight = (
        scalar(n, nonnegative(n, v)) for n, v in (("held", held), ("in_flight", in_flight))
    )
    flows = scalar("flows", count("flows", flows, least=0))
    detection, timeout = nonnegative("detection", detection), nonnegative("timeout", timeout)
    rate = positive("rate", rate)
    broadcastable(detection=detection, rate=rate, timeout=timeout)
    resent = max(held, flows * in_flight)
    return Recovery(held, resent, detection + timeout + resent / rate)
