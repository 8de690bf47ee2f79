"""By which ports a flow may leave each vertex, and by which it does."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from fabriclab.topology.paths import homes

MOST_ENTRIES = 200_000_000


@dataclass(frozen=True)
class Routes:
    """The ports by which flows leave each vertex, as numbers of places in `choices`.

    Flow f leaves its source by ``ups[f]`` ports from place ``up[f]`` on, and ``home[f]``, the
    switch to which its target is cabled, by ``downs[f]`` from ``down[f]`` on. It leaves any other
    vertex v by those from ``first[row[f], v - hosts]`` up to the next: one row for all targets of
    one switch, and one for each route that was given. In a direct network `hosts` is 0 here, each
    target has a row, and nobody a home.
    """

    source: np.ndarray
    row: np.ndarray
    home: np.ndarray
    up: np.ndarray
    ups: np.ndarray
    down: np.ndarray
    downs: np.ndarray
    first: np.ndarray
    choices: np.ndarray
    hosts: int

    def leaving(self, f, vertex):
        """(first place, how many ports) of flows f at these vertices."""
        here = np.maximum(vertex - self.hosts, 0)
        first = self.first[self.row[f], here]
        ways = self.first[self.row[f], here + 1] - first
        if self.hosts:
            for ends, start, count in (
                (self.home, self.down, self.downs),
                (self.source, self.up, self.ups),
            ):
                there = np.flatnonzero(vertex == ends[f])
                first[there], ways[there] = start[f[there]], count[f[there]]
        return first, ways


def routes(topology, wires, flows):
    """The `Routes` of all flows; ValueError where a flow has none."""
    if max(flows.source.max(), flows.target.max()) >= topology.hosts:
        raise ValueError(
            f"source and target must be below {topology.hosts} hosts, not"
            f" {max(flows.source.max(), flows.target.max())}"
        )
    start, _, inner = homes(topology)  # says so where a host has cables to two switches
    hosts = topology.vertices - inner
    ends, row = np.unique(start[flows.target], return_inverse=True)
    distinct = {}
    for f, route in enumerate(flows.routes or ()):
        if route is not None:
            if (route[0], route[-1]) != (flows.source[f], flows.target[f]):
                raise ValueError(
                    f"routes must lead from source to target, {flows.source[f]} to"
                    f" {flows.target[f]}, not {route}"
                )
            row[f] = distinct.setdefault(route, ends.size + len(distinct))
    rows = ends.size + len(distinct)
    if rows * inner > MOST_ENTRIES:
        raise ValueError(
            f"flows must go to fewer targets in a network of {inner:,} vertices than {rows:,}"
        )
    size, ports, near = _shortest(wires, hosts, inner, ends, rows)
    for route, r in distinct.items():
        ports += _along(wires, route, size[r], hosts)
        near[r] = True
    # the ports themselves come first: those of a host, and of a switch to a host, lie side by side
    places = np.cumsum(size.ravel()).reshape(size.shape) + wires.owner.size
    first = np.concatenate([places - size, places[:, -1:]], axis=1)
    choices = np.concatenate([np.arange(wires.owner.size, dtype=np.int32), *ports])
    if hosts:
        home, begun = start[flows.target] + hosts, start[flows.source] + hosts
        up, ups = _cabled(wires, flows.source, begun)
        down, downs = _cabled(wires, home, flows.target)
        lost = (ups == 0) | (downs == 0) | ~near[row, np.maximum(begun - hosts, 0)]
    else:
        up, ups = first[row, flows.source], size[row, flows.source]
        home, down, downs = np.full((3, len(flows)), -1)
        lost = ups == 0
    if lost.any():
        raise ValueError(
            f"target must be reachable: no path leads from host {flows.source[lost][0]} to host"
            f" {flows.target[lost][0]}"
        )
    return Routes(flows.source, row, home, up, ups, down, downs, first, choices, hosts)


def _cabled(wires, one, other):
    """(first port from one vertex to another, how many), of arrays of vertices."""
    most = int(wires.vertices)
    number, asked = wires.owner * most + wires.peer, one * most + other
    first = np.searchsorted(number, asked)
    return first, np.searchsorted(number, asked, side="right") - first


def _shortest(wires, hosts, inner, ends, rows):
    """(ports that each row has at each vertex that forwards, those ports, whether a path leads
    there), by rows of shortest paths to `ends`.
    """
    forwards = np.flatnonzero((wires.owner >= hosts) & (wires.peer >= hosts))
    owner, peer = wires.owner[forwards] - hosts, wires.peer[forwards] - hosts
    forwards = forwards.astype(np.int32)
    graph = csr_array((np.ones(owner.size), (owner, peer)), shape=(inner, inner))
    size, near = np.zeros((rows, inner), np.int64), np.zeros((rows, inner), bool)
    ports, known = [], np.flatnonzero(ends >= 0)  # a host with no cable has no home
    for block in np.array_split(known, -(-known.size // 256) or 1):
        for r, far in zip(block, dijkstra(graph, unweighted=True, indices=ends[block])):
            near[r] = np.isfinite(far)
            nearer = np.flatnonzero((far[peer] + 1 == far[owner]) & near[r][owner])
            size[r] = np.bincount(owner[nearer], minlength=inner)
            ports.append(forwards[nearer])
    return size, ports, near


def _along(wires, route, size, hosts):
    """The ports of one route between vertices that forward, in their order; fills in how many each
    has.
    """
    if len(set(route)) < len(route):
        raise ValueError(f"routes must visit no vertex twice, not {route}")
    steps = {}
    for here, there in zip(route, route[1:]):
        try:
            ports = wires.between(here, there)
        except ValueError as error:
            raise ValueError(f"routes must follow cables: {error}") from None
        if min(here, there) >= hosts:
            steps[here] = ports.astype(np.int32)
            size[here - hosts] = ports.size
    return [steps[vertex] for vertex in sorted(steps)]


def longest(wires, flows, routes, packet):
    """(most links on a flow's path, longest round trip in seconds of a packet and its answer on
    idle links).
    """
    at, links, trip = flows.source.copy(), np.zeros(len(flows), int), np.zeros(len(flows))
    moving = np.flatnonzero(at != flows.target)
    while moving.size:
        port = routes.choices[routes.leaving(moving, at[moving])[0]]
        links[moving] += 1
        trip[moving] += 2 * wires.delay[port] + packet / wires.capacity[port]
        at[moving] = wires.peer[port]
        moving = moving[at[moving] != flows.target[moving]]
    return int(links.max()), float(trip.max())


def hashed(wires, flows, routes, labels):
    """(where each flow's ports begin, the ports of all flows, first to last, links on each path),
    each port chosen among equals by a hash of flow and switch: every switch hashes for itself, or
    all would choose alike and use few of the paths.
    """
    links, steps = np.zeros(len(flows), np.int64), []
    f, at = np.arange(len(flows)), flows.source
    while f.size:
        place, ways = routes.leaving(f, at)
        many = np.flatnonzero(ways > 1)
        mixed = labels[f[many]] ^ at[many].astype(np.uint64)
        mixed *= np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
        place[many] += ((mixed >> np.uint64(32)) % ways[many].astype(np.uint64)).astype(int)
        port = routes.choices[place]
        steps.append((f, port))
        links[f] += 1
        going = np.flatnonzero(wires.peer[port] != flows.target[f])
        f, at = f[going], wires.peer[port[going]]
    begin = np.cumsum(links) - links
    via = np.empty(links.sum(), np.int32)
    for hop, (f, port) in enumerate(steps):
        via[begin[f] + hop] = port
    return begin, via, links
