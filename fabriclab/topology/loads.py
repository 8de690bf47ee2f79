"""What given routes put on the links of a network, and how many shortest ways there are."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

import numpy as np

from fabriclab.checks import Values, each, nonnegative
from fabriclab.topology.graph import Topology, whole, wired

MOST_LINKS = 1_000_000  # of all routes together


@dataclass(frozen=True)
class Loads:
    """Bytes that routes carry: `links`, {(from, to): bytes} of each bundle and direction in use;
    `layers`, {"host-leaf": bytes} of both directions; `switches`, {vertex: bytes that enter it}.

    `slowest` is the seconds that the fullest bundle needs, at its cables' rate.
    """

    links: dict
    layers: dict
    switches: dict
    slowest: float


def loads(topology: Topology, routes: Iterable, sizes: Values = 1.0) -> Loads:
    """The `Loads` of `routes`, each a list of neighbouring vertices from where its bytes start to
    where they end.

    `sizes`: bytes of each route, or one number for all. A bundle's cables share its bytes evenly.
    Raises ValueError for a route over a cable that is not there, and beyond a million links.

    Source: Dally and Towles 2004, chapter 3 (channel load).

    >>> from fabriclab.topology import leaf_spine
    >>> tree = leaf_spine(2, 1, 2, 2)          # hosts 0 to 3, leaves 4 and 5, spine 6
    >>> found = loads(tree, [[0, 4, 6, 5, 2], [1, 4, 6, 5, 3]], 100e9)
    >>> found.links[4, 6] / 1e9, found.layers["leaf-spine"] / 1e9, found.slowest
    (200.0, 400.0, 2.0)
    """
    topology = wired("topology", topology)
    ways, links = [], 0
    for route in each("routes", routes):
        way = [whole("routes", v, 0) for v in islice(each("routes", route), MOST_LINKS + 1)]
        links += len(way)
        if links > MOST_LINKS or len(way) < 2:
            raise ValueError(
                f"routes must have two vertices or more each, at most {MOST_LINKS:,} in all"
            )
        ways.append(way)
    sizes = nonnegative("sizes", sizes)
    if np.ndim(sizes) and np.shape(sizes) != (len(ways),):
        raise ValueError(f"sizes must be one number or one for each of {len(ways)} routes")
    bundle = {
        ends: index for index, ends in enumerate(zip(topology.a.tolist(), topology.b.tolist()))
    }
    carried, layers, switches, slowest = {}, dict.fromkeys(topology.layers, 0.0), {}, 0.0
    for way, size in zip(ways, np.broadcast_to(sizes, len(ways)).tolist()):
        for arc in zip(way, way[1:]):
            if (min(arc), max(arc)) not in bundle:
                raise ValueError(f"routes must follow cables of {topology.name}: none joins {arc}")
            carried[arc] = carried.get(arc, 0.0) + size
    for (start, end), size in carried.items():
        at = bundle[min(start, end), max(start, end)]
        layers[topology.layers[topology.layer[at]]] += size
        slowest = max(slowest, size / float(topology.multiplicity[at] * topology.capacity[at]))
        if end >= topology.hosts:
            switches[end] = switches.get(end, 0.0) + size
    return Loads(carried, layers, switches, slowest)


def equal_paths(topology: Topology, source: int, target: int) -> int:
    """How many shortest paths lead from host `source` to host `target`, each cable of a bundle
    counted: what ECMP has to choose from; 0 where there is none.

    ``(k/2)^2`` between pods of a fat-tree of k ports, ``(x+y)!/(x! y!)`` for x and y steps in a
    torus.

    Source: Al-Fares, Loukissas and Vahdat 2008; Dally and Towles 2004, section 3.1.

    >>> from fabriclab.topology import fat_tree, torus
    >>> equal_paths(fat_tree(8), 0, 127), equal_paths(torus((8, 8)), 0, 19)
    (16, 10)
    """
    topology = wired("topology", topology)
    source, target = whole("source", source, 0), whole("target", target, 0)
    for name, host in (("source", source), ("target", target)):
        if host >= topology.hosts:
            raise ValueError(f"{name} must be a host from 0 to {topology.hosts - 1}, not {host}")
    ends = np.concatenate([topology.a, topology.b]), np.concatenate([topology.b, topology.a])
    cables = np.tile(topology.multiplicity, 2).astype(float)
    found, seen = np.zeros(topology.vertices), np.zeros(topology.vertices, bool)
    found[source], seen[source] = 1, True
    while found.any() and not seen[target]:
        # each step takes every way on, and keeps what is reached for the first time
        found = np.bincount(ends[1], cables * found[ends[0]], topology.vertices)
        found[seen] = 0
        seen |= found > 0
    return int(found[target])
