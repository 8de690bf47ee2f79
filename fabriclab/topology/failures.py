"""What one dead part takes away, found by taking it out of the wiring and measuring again."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components

from fabriclab.checks import instance
from fabriclab.topology.cuts import bisection, flow, halvings
from fabriclab.topology.graph import Topology, wired, without_cable, without_vertex
from fabriclab.topology.paths import Spread, extra_links, homes, paths


@dataclass(frozen=True)
class Failure:
    """One part gone. `hosts_lost` can reach no more than a rest; `nodes_touched` lost at least one
    port, `nodes_lost` all.

    Bisections in bytes per second, between the halves as they were; `extra_links`: how much longer
    the worst-hit pair's path became; `links_before`, `links_after`: worst and mean over all pairs.
    """

    part: str
    hosts_lost: int
    nodes_touched: int
    nodes_lost: int
    bisection_before: float
    bisection_left: float
    extra_links: int
    links_before: Spread
    links_after: Spread


def failures(topology: Topology) -> tuple[Failure, ...]:
    """One `Failure` for each kind of part: the busiest switch of each tier, a cable of each layer,
    a host that forwards.

    Other words: what a dead switch, broken cable or lost link takes away; blast radius, fault
    domain, what happens when one fails.

    >>> from fabriclab.topology import rail_optimised
    >>> for lost in failures(rail_optimised(128))[:2]:
    ...     print(lost.part, lost.hosts_lost, lost.nodes_touched, lost.nodes_lost, end=" ")
    ...     print(lost.bisection_left / 1e12)
    leaf switch 32 32 0 24.0
    spine switch 0 0 0 24.0
    """
    before = bisection(topology), paths(topology).links_on_path, _pieces(topology)
    return tuple(_compare(topology, part, broken, *before) for part, broken in _each(topology))


def failure(topology: Topology, broken: Topology, part: str = "part") -> Failure:
    """The `Failure` that turned `topology` into `broken` (see `without_vertex`, `without_cable`;
    any number of parts).

    Raises ValueError when `broken` does not come from `topology`.

    >>> from fabriclab.topology import torus, without_vertex
    >>> ring = torus((8,))
    >>> failure(ring, without_vertex(ring, 3)).extra_links
    4
    """
    topology, broken = wired("topology", topology), wired("broken", broken)
    instance("part", part, str, "'spine switch'")
    if (broken.hosts, broken.counts) != (topology.hosts, topology.counts):
        raise ValueError(f"broken must be {topology.name} with parts removed, not {broken.name}")
    return _compare(
        topology,
        part,
        broken,
        bisection(topology),
        paths(topology).links_on_path,
        _pieces(topology),
    )


def _each(topology):
    ports, crossing = topology.ports(), _crossing(topology)
    at = np.bincount(topology.a, crossing, topology.vertices) + np.bincount(
        topology.b, crossing, topology.vertices
    )
    for tier, switches in topology.switches.items():
        first = topology.first(tier)
        tier_of = slice(first, first + switches)
        yield (
            f"{tier} switch",
            without_vertex(topology, first + int(np.lexsort((at[tier_of], ports[tier_of]))[-1])),
        )
    if topology.direct:
        yield "host", without_vertex(topology, int(at.argmax()))
    for index, layer in enumerate(topology.layers):
        bundles = np.flatnonzero(topology.layer == index)
        if bundles.size:
            yield (
                f"{layer} cable",
                without_cable(topology, int(bundles[crossing[bundles].argmax()])),
            )


def _crossing(topology):
    """Which bundles join the two sides of a narrowest halving: where all parts are alike, those are
    the ones to break.
    """
    cuts = [(flow(topology, *halves), halves) for halves in halvings(topology)]
    crossing = np.zeros(topology.a.size)
    home, _, size = homes(topology)
    shift = topology.vertices - size
    narrowest = min((width for width, _ in cuts), default=0.0)
    for width, (left, right) in cuts:
        if width == narrowest:
            side = np.bincount(home[left], minlength=size) - np.bincount(
                home[right], minlength=size
            )
            side = np.concatenate([np.zeros(shift), np.sign(side)])
            crossing = np.maximum(crossing, side[topology.a] * side[topology.b] < 0)
    return crossing


def _compare(topology, part, broken, bisected, links, pieces):
    lost = _lost(pieces, _pieces(broken))
    node = np.arange(topology.hosts) if topology.node is None else topology.node
    machines = np.bincount(node)
    hit = np.bincount(node[lost], minlength=machines.size)
    return Failure(
        part,
        int(lost.sum()),
        int((hit > 0).sum()),
        int(((hit == machines) & (machines > 0)).sum()),
        bisected,
        bisection(broken),
        extra_links(topology, broken),
        links,
        paths(broken).links_on_path,
    )


def _pieces(topology):
    return connected_components(topology.graph(), directed=False)[1][: topology.hosts]


def _lost(before, after):
    """Hosts no longer in the largest rest of what they were part of; a rest of one reaches nobody,
    and is lost too.
    """
    pair, at, size = np.unique(
        before * (after.max() + 1) + after, return_inverse=True, return_counts=True
    )
    whole = pair // (after.max() + 1)
    order = np.lexsort((-size, whole))
    keeps = np.zeros(pair.size, bool)
    keeps[order[np.unique(whole[order], return_index=True)[1]]] = True
    alone = (size == 1) & (np.bincount(before)[whole] > 1)
    return ~(keeps & ~alone)[at]
