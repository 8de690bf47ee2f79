"""Path lengths from the wiring: breadth-first search, but only from vertices that really differ.

Two steps keep it exact and small. Hosts with one switch are folded onto it: their paths are the
switch's, one link longer at each end. Then twins (switches with the same neighbours, such as the
leaves of a pod) are merged: they see the same distances, and each other at two links. A full
fat-tree of radix k shrinks from 5k²/4 switches to about k²/2, k of them with hosts.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from fabriclab.topology.graph import Topology, wired


class Spread(NamedTuple):
    """The longest and the average over all pairs of hosts that can reach each other."""

    worst: int
    mean: float


@dataclass(frozen=True)
class Paths:
    """Shortest paths between hosts.

    `pairs`: {links on the path: ordered pairs of hosts that far apart}; `unreachable`: share of the
    pairs with no path.
    """

    pairs: dict
    unreachable: float

    @property
    def links_on_path(self):
        """Links a packet crosses, the two host cables included."""
        total = sum(self.pairs.values())
        return Spread(
            max(self.pairs, default=0),
            sum(d * n for d, n in self.pairs.items()) / total if total else 0.0,
        )

    @property
    def switches_on_path(self):
        """Switches a packet crosses (in a torus: hosts that forward it): one less than links."""
        worst, mean = self.links_on_path
        return Spread(max(worst - 1, 0), mean - 1 if self.pairs else 0.0)


def paths(topology: Topology, among: Sequence[int] | None = None) -> Paths:
    """Shortest-path lengths between all hosts, or among some of them (host numbers).

    Raises ValueError for hosts that do not exist, or a host cabled to two switches (model each port
    as a host).

    Other words: diameter, average distance, mean number of hops, shortest path length, worst
    latency.

    >>> from fabriclab.topology import fat_tree
    >>> found = paths(fat_tree(4))
    >>> found.links_on_path.worst, round(found.links_on_path.mean, 4), found.switches_on_path.worst
    (6, 5.4667, 5)
    """
    topology = wired("topology", topology)
    chosen = np.arange(topology.hosts) if among is None else host_set(topology, "among", among)
    sources = (
        topology.representatives
        if among is None and topology.representatives is not None
        else chosen
    )
    home, away, size = homes(topology)
    weight = _weigh(home, chosen, size)
    pattern, label = collapse([_pattern(topology, size)])
    mine = _weigh(home, sources, size)
    total, squares = np.bincount(label, weight), np.bincount(label, mine * weight)
    begin = np.bincount(label, mine)
    pairs = Counter(
        {2 * away: squares.sum() - begin.sum(), 2 * away + 2: begin @ total - squares.sum()}
    )
    start = np.flatnonzero(begin)
    for block in blocks(start, total.size):
        for distance, new in enumerate(levels(pattern[0], block)):
            if distance:
                pairs[distance + 2 * away] += begin[block] @ (total @ new)
    scale = chosen.size / sources.size if sources.size else 1
    pairs = {int(d): round(float(n) * scale) for d, n in sorted(pairs.items()) if n > 0}
    possible = chosen.size * (chosen.size - 1)
    return Paths(pairs, 1 - sum(pairs.values()) / possible if possible else 0.0)


def extra_links(topology: Topology, broken: Topology) -> int:
    """How many links longer the worst-hit pair's path has become, over the pairs that `broken`
    still connects.

    `broken` is `topology` with parts removed (same numbering).

    >>> from fabriclab.topology import torus, without_cable
    >>> ring = torus((8,))
    >>> extra_links(ring, without_cable(ring, 0))
    6
    """
    topology, broken = wired("topology", topology), wired("broken", broken)
    home, away, size = homes(broken)
    weight = _weigh(home, np.arange(broken.hosts), size)
    (before, after), label = collapse([_pattern(topology, size), _pattern(broken, size)])
    start = np.flatnonzero(np.bincount(label, weight))
    worst = 0
    for block in blocks(start, before.shape[0]):
        tables = []
        for pattern in (before, after):
            table = np.full((before.shape[0], block.size), -1, np.int32)
            for distance, new in enumerate(levels(pattern, block)):
                table[new > 0] = distance
            tables.append(table[start])
        worst = max(worst, int(np.where(tables[1] >= 0, tables[1] - tables[0], 0).max(initial=0)))
    return worst


def host_set(topology: Topology, name: str, hosts: Sequence[int]) -> np.ndarray:
    """Host numbers, sorted and once each, or a ValueError that says what is wrong with them."""
    try:
        array = np.asarray(hosts)
    except ValueError:  # a ragged list
        array = np.array(None)
    if (
        array.ndim != 1
        or array.size == 0
        or array.dtype.kind not in "iu"
        or array.min() < 0
        or array.max() >= topology.hosts
    ):
        raise ValueError(
            f"{name} must be host numbers from 0 to {topology.hosts - 1}, not {str(hosts)[:60]}"
        )
    return np.unique(array)


def homes(topology: Topology) -> tuple[int | np.ndarray, ...]:
    """(where each host's paths start, links from the host to there, vertices that forward).

    No start: -1.
    """
    hosts = topology.hosts
    if topology.direct:
        return np.arange(hosts), 0, hosts
    up = topology.a < hosts
    home = np.full(hosts, -1)
    home[topology.a[up]] = topology.b[up] - hosts
    if np.bincount(topology.a[up], minlength=1).max() > 1 or (topology.b < hosts).any():
        raise ValueError(
            "a host is cabled to more than one other end: model each of its ports as a host, or set"
            " direct"
        )
    return home, 1, topology.vertices - hosts


def _weigh(home, hosts, size):
    at = home[hosts]
    return np.bincount(at[at >= 0], minlength=size).astype(float)


def _pattern(topology, size):
    """Who forwards to whom, as a 0/1 matrix over the forwarding vertices."""
    shift = 0 if topology.direct else topology.hosts
    inner = topology.a >= shift
    a, b = topology.a[inner] - shift, topology.b[inner] - shift
    ones = np.ones(2 * a.size, np.uint64)
    return csr_array((ones, (np.concatenate([a, b]), np.concatenate([b, a]))), shape=(size, size))


def collapse(patterns: list[csr_array]) -> tuple:
    """Merge twins that are twins in every pattern: (reduced patterns, merged vertex of each old
    one).
    """
    draw = np.random.default_rng(1)
    label = np.arange(patterns[0].shape[0])
    while True:
        size = patterns[0].shape[0]
        key = np.zeros(size, np.uint64)
        alone = np.zeros(size, bool)
        for pattern in patterns:
            # a random number per vertex: equal sums over the neighbours mean equal neighbours, but
            # for odds of about 2^-40
            key = key * np.uint64(0x9E3779B97F4A7C15) + pattern @ draw.integers(
                1, 2**64, size, np.uint64
            )
            alone |= np.diff(pattern.indptr) == 0
        key[alone] = draw.integers(1, 2**64, alone.sum(), np.uint64)
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        if first.size == size:
            return [pattern.astype(np.float32) for pattern in patterns], label
        patterns = [pattern[first][:, first] for pattern in patterns]
        label = inverse[label]


def blocks(start: np.ndarray, size: int) -> list[np.ndarray]:
    """`start` cut so that a table of all vertices by one block stays at a few million entries."""
    return np.array_split(start, max(1, -(-start.size * size // 4_000_000))) if start.size else []


def levels(pattern: csr_array, start: np.ndarray) -> Iterator:
    """Breadth-first search from all of `start` at once: for distance 0, 1, …, which vertices (rows)
    are first reached then.
    """
    new = np.zeros((pattern.shape[0], start.size), np.float32)
    new[start, np.arange(start.size)] = 1
    seen = new.copy()
    while new.any():
        yield new
        new = ((pattern @ new) > 0) & (seen == 0)
        new = new.astype(np.float32)
        seen += new
