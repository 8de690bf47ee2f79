"""What two groups of hosts can exchange: the exact maximum flow, bisection, oversubscription, and
what of it a job meets.

The flow is computed on a small network: vertices that play the same part are merged until every
member of a class has the same capacity towards every other class (an equitable partition). A flow
between classes, spread evenly over their members, is a flow of the whole, and averaging a flow of
the whole over the members gives one between classes: the two maxima are equal. (Fractional
isomorphism; Scheinerman and Ullman 1997, chapter 6.)
"""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, maximum_flow

from fabriclab.checks import flag, scalar
from fabriclab.topology.graph import Topology, wired
from fabriclab.topology.paths import homes, host_set

ROUNDS = 200  # of refinement; a network deeper than this (a long ring) is left as it is


def flow(topology: Topology, left: Sequence[int], right: Sequence[int]) -> float:
    """Bytes per second that hosts `left` can send to hosts `right` at most, over all routes at once
    (maximum flow).

    Raises ValueError for hosts that do not exist or stand on both sides.

    >>> from fabriclab.topology import fat_tree
    >>> flow(fat_tree(4), [0, 1], [14, 15]) / 1e9
    100.0
    """
    topology = wired("topology", topology)
    left, right = host_set(topology, "left", left), host_set(topology, "right", right)
    sends, takes = np.zeros((2, topology.hosts), bool)
    sends[left] = takes[right] = True
    if (sends & takes).any():
        raise ValueError(
            f"right must share no host with left, not {np.flatnonzero(sends & takes)[:5].tolist()}"
        )
    if not topology.a.size:
        return 0.0
    each, unit = _whole(topology)
    whole = int(each.sum()) + 1  # as good as infinite
    kept, supply, demand = _fold(topology, each, sends, takes, whole)
    inner = kept[topology.a] & kept[topology.b]
    number = np.cumsum(kept) - 1
    a, b = number[topology.a[inner]], number[topology.b[inner]]
    a, b, weight = np.concatenate([a, b]), np.concatenate([b, a]), np.tile(each[inner], 2)
    start = np.unique(np.column_stack([supply, demand]), axis=0, return_inverse=True)[1].ravel()
    colour = _refine(csr_array((weight.astype(np.uint64), (a, b)), shape=(supply.size,) * 2), start)
    classes = int(colour.max()) + 1
    into, out = np.bincount(colour, supply), np.bincount(colour, demand)
    source, sink = np.flatnonzero(into), np.flatnonzero(out)
    across = colour[a] != colour[b]
    row = np.concatenate([colour[a[across]], np.full(source.size, classes), sink])
    column = np.concatenate([colour[b[across]], source, np.full(sink.size, classes + 1)])
    value = np.concatenate([weight[across], into[source], out[sink]])
    network = coo_array((value, (row, column)), shape=(classes + 2,) * 2).tocsr()
    scale = max(1.0, 2 * whole / 2**30)  # the solver counts in 32 bits
    network.data = np.minimum(network.data / scale, 2**30).astype(np.int32)
    return float(maximum_flow(network, classes, classes + 1).flow_value * scale * unit)


def _whole(topology):
    """(capacity of each bundle as a whole number, bytes per second of one): exact for equal rates
    and for simple ratios.
    """
    unit = float(topology.capacity.min())
    if not np.allclose(topology.capacity / unit % 1, 0):
        unit /= 720_720  # divisible by every number up to 16
    return np.rint(topology.multiplicity * (topology.capacity / unit)).astype(np.int64), unit


def _fold(topology, each, sends, takes, whole):
    """Hosts of one bundle become what their switch sends and takes: (vertices that stay, supply of
    each, demand of each).
    """
    bundles = np.bincount(topology.a, minlength=topology.vertices) + np.bincount(
        topology.b, minlength=topology.vertices
    )
    stub = (
        (topology.b >= topology.hosts) & (topology.a < topology.hosts) & (bundles[topology.a] == 1)
    )
    kept = np.ones(topology.vertices, bool)
    kept[topology.a[stub]] = False
    amounts = []
    for group in (sends, takes):
        amount = np.zeros(topology.vertices)
        amount[: topology.hosts][group] = whole
        mine = stub.copy()
        mine[stub] = group[topology.a[stub]]
        amount += np.bincount(topology.b[mine], each[mine], topology.vertices)
        amounts.append(amount[kept])
    return kept, *amounts


def _refine(weights, colour):
    """The coarsest equitable partition finer than `colour`, as class numbers from 0."""
    draw = np.random.default_rng(2)
    for _ in range(ROUNDS):
        classes = colour.max() + 1
        # one random number per class; the weighted sum over the neighbours is the same only for the
        # same neighbourhood
        name, seen = (
            draw.integers(1, 2**64, classes, np.uint64),
            draw.integers(1, 2**64, classes, np.uint64),
        )
        key = (weights @ seen[colour]) * np.uint64(0x9E3779B97F4A7C15) + name[colour]
        colour = np.unique(key, return_inverse=True)[1]
        if colour.max() + 1 == classes:
            return colour
    return np.arange(colour.size)


def halvings(
    topology: Topology, hosts: Sequence[int] | None = None, whole_nodes: bool = True
) -> list[tuple]:
    """The halvings that a structure offers, as (left, right) host numbers: along its pods, leaves,
    groups, or each dimension.

    `hosts`: those to halve, all by default. `whole_nodes`: the GPUs of one machine stay together,
    as their own links inside the machine would otherwise be cut too.

    >>> from fabriclab.topology import torus
    >>> [[side.tolist() for side in halves] for halves in halvings(torus((4,)))]
    [[[0, 1], [2, 3]]]
    """
    topology = wired("topology", topology)
    hosts = np.arange(topology.hosts) if hosts is None else host_set(topology, "hosts", hosts)
    whole_nodes = scalar("whole_nodes", flag("whole_nodes", whole_nodes))
    found = []
    for keys in _orders(topology, hosts):
        place = np.unique(np.column_stack(keys), axis=0, return_inverse=True)[1].ravel()
        if whole_nodes and topology.node is not None:
            machine = np.unique(topology.node[hosts], return_inverse=True)[1]
            rank = _line_up_machines(machine, place)[machine]
        else:
            rank = np.empty(hosts.size, int)
            rank[np.argsort(place, kind="stable")] = np.arange(hosts.size)
        size = int(rank.max()) + 1
        # of an odd number, the one in the middle may go to either half
        for half in sorted({size // 2, (size + 1) // 2} - {0, size}):
            left = rank < half
            if not any(np.array_equal(left, other) for other in found):
                found.append(left)
    return [(hosts[left], hosts[~left]) for left in found]


def _line_up_machines(machine, place):
    """The rank of each machine in a line by the places of its hosts; machines at equal places are
    alike, whatever they are called.
    """
    order = np.lexsort([place, machine])
    first = np.flatnonzero(np.diff(machine[order], prepend=-1))
    nth = np.arange(order.size) - first[machine[order]]
    places = np.full((first.size, int(nth.max()) + 1), place.max() + 1)
    places[machine[order], nth] = place[order]
    rank = np.empty(first.size, int)
    rank[np.lexsort(places.T[::-1])] = np.arange(first.size)
    return rank


def _orders(topology, hosts):
    """Sort keys, outermost first, that line hosts up so that a cut in the middle of the line cuts
    little.
    """
    keys = list(topology.position[hosts].T)
    if topology.direct:
        return [keys[turn:] + keys[:turn] for turn in range(len(keys))]
    largest_first = []
    for key in keys:
        block, size = np.unique(key, return_inverse=True, return_counts=True)[1:]
        largest_first += [-size[block], key]
    return [keys, largest_first]


def bisection(topology: Topology, whole_nodes: bool = True) -> float:
    """Bisection bandwidth, bytes per second one way: the least flow between two halves of the
    hosts.

    ``(N/2) beta / r`` in a tree oversubscribed r:1; ``2 N/k`` links in a torus of even longest side
    k. Taken over the halvings of `halvings`: for the families built here these hold the minimum,
    which brute force over all halvings of small cases confirms; for any other wiring the result is
    an upper bound. An odd host goes to the larger half.
    One host, or one machine, has nothing to cut: 0.

    Source: chapter, Definition 1.3; Dally and Towles 2004, section 3.1.

    Other words: bisection bandwidth, aggregate bandwidth between halves, minimum cut.

    >>> from fabriclab.topology import build, torus
    >>> bisection(build(1024, 64)) / 1e12, bisection(torus((8, 8, 16))) / 1e12
    (25.6, 6.4)
    """
    return min(
        (flow(topology, *halves) for halves in halvings(topology, None, whole_nodes)), default=0.0
    )


def oversubscription(topology: Topology, tier: str | None = None) -> float:
    """Downlinks over uplinks, both in bytes per second: of the switches of one `tier`, or of the
    whole network.

    Of a tier, ``cables down x rate / cables up x rate``, the largest of its switches; the top tier
    has no uplinks and no ratio. Of a network, the largest over leaves and pods of ``what the hosts
    below can send / what leads out``: 2:1 leaves under 2:1 spines make 4:1. 1 is non-blocking,
    below 1 there is more above than below; one switch alone is 1. What a job on some of the hosts
    meets is `placement_oversubscription`. Raises ValueError for a network without tiers (torus,
    dragonfly).

    Source: chapter, Definition 1.4; Dally and Towles 2004, section 3.1.

    >>> from fabriclab.topology import build, leaf_spine
    >>> oversubscription(leaf_spine(1, 4, 40, 4)), oversubscription(build(1344, 64, 2))
    (10.0, 2.0)
    >>> pods = build(24_576, (32, 224, 224), (1, 7))
    >>> [round(oversubscription(pods, tier), 2) for tier in ("leaf", "spine", None)]
    [1.0, 6.86, 6.86]
    """
    topology = wired("topology", topology)
    tier_of = _tier_of(topology)
    if (tier_of[topology.a] == tier_of[topology.b]).any() or not topology.tiers:
        raise ValueError(
            "topology must be a tree of switches, with downlinks and uplinks, not"
            f" {topology.name}: see bisection and placement_oversubscription"
        )
    each = topology.multiplicity * topology.capacity
    if tier is None:
        worst = [1.0] if len(topology.tiers) == 1 else []
        for label in _below(topology, False)[:-1]:
            sends = np.bincount(label[: topology.hosts], topology.injection(), label.max() + 1)
            worst.append(_largest(sends, _leaving(topology, label)))
        return float(max(worst))
    if not isinstance(tier, str) or tier not in topology.tiers[:-1]:
        below_top = ", ".join(topology.tiers[:-1]) or f"nothing: {topology.name} has one tier"
        raise ValueError(
            f"tier must be one with uplinks ({below_top}), not {tier!r:.60}; for a job's hosts see"
            " placement_oversubscription"
        )
    first = topology.first(tier)
    own = slice(first, first + topology.switches[tier])
    high = np.where(tier_of[topology.a] > tier_of[topology.b], topology.a, topology.b)
    low = topology.a + topology.b - high
    down, up = (np.bincount(end, each, topology.vertices)[own] for end in (high, low))
    return float(_largest(down, up))


def placement_oversubscription(
    topology: Topology, placement: Sequence[int], whole_nodes: bool = True
) -> float:
    """How many times more a job's hosts may ask of the narrowest place between them than it
    carries, over all permutations: 1 is non-blocking.

    Every host sends to one other of the job and receives from one (a permutation). Of a leaf, or a
    pod, or a dragonfly's group, at most ``min(what its hosts of the job send, what the others
    receive)`` then goes out, through that group's uplinks; the ratio is the largest, and no routing
    lowers it. So jobs on 2, 3, 4 or 5 full leaves of a 4:1 tree all meet 4:1: pair rank i with i +
    N/2. Halves of the job (`halvings`) are tried too, each by its maximum flow, which finds what
    dead parts have cut. The rest of the network is idle.

    `placement`: the job's host numbers. `whole_nodes`: GPUs of one machine reach each other inside
    it. Never below 1; no path at all gives inf; one host, or one machine, 1. In a tree this is the
    worst there is; elsewhere (torus, dragonfly) a lower bound of it.

    Source: Dally and Towles 2004, section 3.1; Yuan, Nienaber, Duan and Melhem 2007 (permutations).

    >>> from fabriclab.topology import leaf_spine
    >>> tree = leaf_spine(leaves=5, spines=4, down=32, up=8)       # 4:1
    >>> [placement_oversubscription(tree, range(32 * leaves)) for leaves in (1, 2, 3, 5)]
    [1.0, 4.0, 4.0, 4.0]
    """
    hosts = host_set(wired("topology", topology), "placement", placement)
    whole_nodes = flag("whole_nodes", whole_nodes)
    sends = topology.injection()
    job = np.zeros(topology.hosts)
    job[hosts] = sends[hosts]
    worst = 1.0
    for label in _below(topology, whole_nodes) + _places(topology, whole_nodes):
        inside = np.bincount(label[: topology.hosts], job, label.max() + 1)
        wanted = np.minimum(inside, inside.sum() - inside)
        worst = max(worst, _largest(wanted, _leaving(topology, label)))
    for left, right in halvings(topology, hosts, whole_nodes):
        wanted = min(sends[left].sum(), sends[right].sum())
        worst = max(worst, _largest(wanted, flow(topology, left, right)))
    return float(worst)


def _largest(wanted, carried):
    """The largest of ``wanted / carried``; infinite where something is wanted, nothing carried."""
    wanted, carried = np.atleast_1d(wanted, carried)
    none = np.where(wanted > 0, np.inf, 0.0)
    return np.divide(wanted, carried, out=none, where=carried > 0).max(initial=0.0)


def _tier_of(topology):
    """0 for hosts, then 1, 2, … from the lowest tier of switches up."""
    return np.repeat(np.arange(len(topology.counts) + 1), (topology.hosts, *topology.counts))


def _below(topology, whole_nodes):
    """For each tier the groups that its switches and all below them fall into, once the tiers above
    are gone: the number of each vertex's group. A machine's hosts hold together where
    `whole_nodes`.
    """
    tier_of, found = _tier_of(topology), []
    a, b = topology.a, topology.b
    if whole_nodes and topology.node is not None:
        order = np.argsort(topology.node, kind="stable")
        same = np.diff(topology.node[order]) == 0
        a, b = np.append(a, order[:-1][same]), np.append(b, order[1:][same])
    for tier in range(1, len(topology.counts) + 1):
        stays = np.maximum(tier_of[a], tier_of[b]) <= tier
        graph = coo_array((stays[stays], (a[stays], b[stays])), shape=(topology.vertices,) * 2)
        found.append(connected_components(graph, directed=False)[1])
    return found


def _places(topology, whole_nodes):
    """The groups by position (a dragonfly's groups and routers), as `_below`: hosts and the switch
    they are cabled to; none that would part a machine's hosts where `whole_nodes`.
    """
    if topology.direct:
        return []
    home, found = homes(topology)[0], []
    for level in range(topology.position.shape[1]):
        group = np.unique(topology.position[:, : level + 1], axis=0, return_inverse=True)[1].ravel()
        if whole_nodes and topology.node is not None:
            parts = np.unique(np.column_stack([topology.node, group]), axis=0)
            if len(parts) > np.unique(topology.node).size:
                continue
        label = np.full(topology.vertices, group.max() + 1)
        label[: topology.hosts] = group
        label[topology.hosts + home[home >= 0]] = group[home >= 0]
        found.append(label)
    return found


def _leaving(topology, label):
    """Bytes per second of all cables that lead out of each group."""
    out = label[topology.a] != label[topology.b]
    each = (topology.multiplicity * topology.capacity)[out]
    groups = label.max() + 1
    return np.bincount(label[topology.a[out]], each, groups) + np.bincount(
        label[topology.b[out]], each, groups
    )
