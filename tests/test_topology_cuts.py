"""Flows, bisections and paths against other people's algorithms, and against brute force where that
can be done.
"""

import itertools
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import relabel
from scipy.optimize import linprog

from fabriclab import packets
from fabriclab.topology import (
    assemble,
    bisection,
    build,
    dragonfly,
    extra_links,
    fat_tree,
    flow,
    halvings,
    leaf_spine,
    meta_24k,
    oversubscription,
    paths,
    placement_oversubscription,
    rail_optimised,
    superpod_h100,
    torus,
    without_cable,
    without_vertex,
)
from fabriclab.units import GB

LINK = 50 * GB


def as_networkx(network):
    """The same wiring for networkx, capacities in cables of 50 GB/s."""
    graph = nx.Graph()
    graph.add_nodes_from(range(network.vertices))
    for a, b, n, c in zip(
        network.a, network.b, network.multiplicity, network.capacity, strict=True
    ):
        graph.add_edge(int(a), int(b), capacity=float(n * c / LINK))
    return graph


def networkx_flow(network, left, right):
    """Maximum flow between two sets of hosts, by networkx."""
    graph = as_networkx(network)
    for host in left:
        graph.add_edge("from", int(host), capacity=1e9)
    for host in right:
        graph.add_edge(int(host), "to", capacity=1e9)
    return nx.maximum_flow_value(graph, "from", "to")


def brute_bisection(network):
    """The least cut over all halvings of the hosts, in cables: every side for every switch, then
    the hosts that must go against it.
    """
    cables = network.multiplicity
    if network.direct:
        n, least = network.hosts, np.inf
        for chosen in itertools.combinations(range(1, n), n // 2 if n % 2 else n // 2 - 1):
            side = np.zeros(n, bool)
            side[list(chosen)] = True
            side[0] = n % 2 == 0
            least = min(least, cables[side[network.a] != side[network.b]].sum())
        return least
    switches, up = network.vertices - network.hosts, network.a < network.hosts
    hosts = np.bincount(network.b[up] - network.hosts, minlength=switches)
    a, b = network.a[~up] - network.hosts, network.b[~up] - network.hosts
    least, half = np.inf, network.hosts // 2
    for start in range(0, 1 << (switches - 1), 1 << 16):
        code = np.arange(start, min(start + (1 << 16), 1 << (switches - 1)))
        side = (code[:, None] >> np.arange(switches) & 1).astype(bool)
        cut = (side[:, a] != side[:, b]) @ cables[~up]
        left = side @ hosts
        least = min(
            least, (cut + np.minimum(abs(left - half), abs(left - network.hosts + half))).min()
        )
    return least


SMALL = [
    fat_tree(4),
    build(13, 4),
    build(9, 4),
    build(12, 6, 2),
    build(16, 6, 2),
    build(30, 6, (2, 2)),
    build(17, 8, 2),
    build(31, 8, 3),
    build(19, 6, (1.5, 2)),
    build(6, 8),
    leaf_spine(3, 1, 4, 1, 8),
    leaf_spine(7, 2, 6, 2, 8),
    rail_optimised(4, 2, 4),
    rail_optimised(5, 2, 4),
    rail_optimised(4, 2, 4, joined=False),
    dragonfly(1, 2, 1),
    dragonfly(2, 2, 2),
    dragonfly(1, 3, 1),
    dragonfly(2, 3, 1),
    dragonfly(3, 4, 1),
    dragonfly(1, 1, 5),
    dragonfly(1, 2, 3),
    torus((3, 3)),
    torus((4, 4)),
    torus((5, 3)),
    torus((2, 2, 4)),
    torus((3, 3, 2)),
    torus((7,)),
    torus((3, 6)),
    torus((2, 5)),
    torus((2, 2, 2, 2)),
]


@pytest.mark.parametrize("network", SMALL, ids=repr)
def test_bisection_is_the_least_over_all_halvings(network):
    """A halving that cuts less than the ones the structure offers would show here, odd sides and
    uneven leaves included.
    """
    assert bisection(network, whole_nodes=False) / LINK == brute_bisection(network)


@settings(max_examples=20)
@given(
    hosts=st.integers(2, 50),
    radix=st.integers(4, 8),
    leaf=st.sampled_from([1, 1.5, 2, 3]),
    spine=st.sampled_from([1, 2]),
)
def test_bisection_of_any_small_tree(hosts, radix, leaf, spine):
    """The same for trees that nobody chose: uneven leaves, uneven pods, odd numbers."""
    try:
        tree = build(hosts, radix, (leaf, spine))
    except ValueError:
        return
    if sum(tree.counts) <= 15:
        assert bisection(tree) / LINK == brute_bisection(tree)


@pytest.mark.parametrize("arguments", [(2, 4, 2), (3, 4, 2), (1, 4, 2), (2, 5, 2), (2, 4, 1)])
def test_no_local_search_beats_the_dragonfly_bisection(arguments):
    """Kernighan-Lin from random halvings of the routers finds no smaller cut than the one the
    groups offer (too many to try all).
    """
    fly = dragonfly(*arguments)
    graph = as_networkx(fly).subgraph(range(fly.hosts, fly.vertices))
    for seed in range(15):
        left, right = nx.community.kernighan_lin_bisection(
            graph, weight="capacity", max_iter=50, seed=seed
        )
        odd = abs(len(left) - len(right)) * arguments[0] // 2
        assert nx.cut_size(graph, left, right, weight="capacity") + odd >= bisection(fly) / LINK


@pytest.mark.parametrize(
    "network",
    [
        fat_tree(8),
        build(60, 8, (3, 2)),
        superpod_h100(1),
        dragonfly(2, 4, 2),
        torus((4, 4, 4)),
        torus((3, 5)),
    ],
    ids=repr,
)
def test_bisection_by_networkx(network):
    """Maximum flow over the same halvings by another solver on the whole graph: fails if merging
    classes loses or adds capacity.
    """
    assert bisection(network) / LINK == min(
        networkx_flow(network, *halves) for halves in halvings(network)
    )


@st.composite
def wirings(draw):
    """A random network without any symmetry, mixed cable rates, some hosts cut off, and two random
    groups of its hosts.
    """
    hosts, switches = draw(st.integers(2, 12)), draw(st.integers(1, 8))
    draw_switch = st.integers(hosts, hosts + switches - 1)
    homes = draw(st.lists(draw_switch, min_size=hosts, max_size=hosts))
    far = [
        p
        for p in draw(
            st.lists(
                st.tuples(draw_switch, draw_switch),
                max_size=20,
                unique_by=lambda p: tuple(sorted(p)),
            )
        )
        if p[0] != p[1]
    ]
    rates = st.sampled_from([LINK / 2, LINK, 9 * LINK])
    a, b = list(range(hosts)) + [p[0] for p in far], homes + [p[1] for p in far]
    bundles = {
        "all": (
            a,
            b,
            draw(st.lists(st.integers(1, 3), min_size=len(a), max_size=len(a))),
            draw(st.lists(rates, min_size=len(a), max_size=len(a))),
        )
    }
    network = assemble(
        "random", hosts, ("switch",), (switches,), (10_000,), bundles, np.array(homes)[:, None]
    )
    if draw(st.booleans()):
        network = without_vertex(network, draw(st.integers(0, network.vertices - 1)))
    side = draw(
        st.lists(st.sampled_from([0, 1, 2]), min_size=hosts, max_size=hosts).filter(
            lambda s: {0, 1} <= set(s)
        )
    )
    return network, *(np.flatnonzero(np.array(side) == s) for s in (0, 1))


@given(wirings())
def test_flow_on_any_wiring(drawn):
    """Exact maximum flow where no two vertices need be alike: fails if refinement merges what
    differs, or capacities are rounded.
    """
    network, left, right = drawn
    assert flow(network, left, right) / LINK == pytest.approx(networkx_flow(network, left, right))


@given(wirings())
def test_paths_on_any_wiring(drawn):
    """Every pair's distance as networkx's breadth-first search has it: fails if folding or merging
    twins moves a vertex.
    """
    network, group, _ = drawn
    distances = dict(nx.all_pairs_shortest_path_length(as_networkx(network)))
    for hosts in (range(network.hosts), group):
        seen = Counter(
            distances[a][b] for a in hosts for b in hosts if a != b and b in distances[a]
        )
        found = paths(network, list(hosts))
        assert found.pairs == dict(sorted(seen.items()))
        pairs = len(hosts) * (len(hosts) - 1)
        assert found.unreachable == pytest.approx(1 - seen.total() / pairs if pairs else 0)


@pytest.mark.parametrize(
    "network",
    [*SMALL, fat_tree(6), dragonfly(2, 4, 2), torus((4, 3, 5)), rail_optimised(20, 4, 8)],
    ids=repr,
)
def test_paths_by_networkx(network):
    """Path statistics of every family, symmetry used, against all pairs by networkx; among a part
    of the hosts too.
    """
    distances = dict(nx.all_pairs_shortest_path_length(as_networkx(network)))
    for hosts in (range(network.hosts), range(0, network.hosts, 3)):
        seen = Counter(
            distances[a][b] for a in hosts for b in hosts if a != b and b in distances[a]
        )
        found = paths(network) if hosts == range(network.hosts) else paths(network, hosts)
        assert found.pairs == dict(sorted(seen.items()))
        if seen:
            assert found.links_on_path.worst == max(seen)
            assert found.switches_on_path.mean == pytest.approx(
                sum(d * n for d, n in seen.items()) / seen.total() - 1
            )


networks = st.sampled_from(
    [*SMALL, fat_tree(6), rail_optimised(20, 4, 8), dragonfly(2, 4, 2), torus((4, 3, 5))]
)


@given(networks, st.randoms(use_true_random=False))
def test_relabelling_hosts_changes_nothing(network, random):
    """Names of hosts carry no meaning: bisection, paths and a job's oversubscription stay when they
    are shuffled.
    """
    order = list(range(network.hosts))
    random.shuffle(order)
    renamed = relabel(network, order)
    assert bisection(renamed) == bisection(network)
    assert paths(renamed) == paths(network)
    job = random.sample(range(network.hosts), max(1, network.hosts // 2))
    assert paths(renamed, [order[h] for h in job]) == paths(network, job)
    assert placement_oversubscription(renamed, [order[h] for h in job]) == pytest.approx(
        placement_oversubscription(network, job)
    )


def test_a_job_that_takes_its_machines_unevenly():
    """Which machines a half gets would hang on their numbers: two of a job's machines on one rail,
    two on the other.
    """
    network = rail_optimised(4, 2, 8, joined=False)
    for order in itertools.permutations(range(4)):
        job = [2 * order[0], 2 * order[1], 2 * order[2] + 1, 2 * order[3] + 1]
        assert placement_oversubscription(network, job) == np.inf
        assert placement_oversubscription(network, job[:2]) == 1


@given(networks, st.data())
def test_removing_a_cable_never_helps(network, data):
    """One cable less: no more bisection, no shorter path, no port used more."""
    broken = without_cable(network, data.draw(st.integers(0, network.a.size - 1)))
    assert bisection(broken) <= bisection(network)
    assert extra_links(network, broken) >= 0
    assert (broken.ports() <= network.ports()).all()
    assert sum(network.cables.values()) - sum(broken.cables.values()) == 1


@given(networks, st.data())
def test_extra_links_by_networkx(network, data):
    """The worst detour, pair by pair, against networkx, after a random vertex died."""
    broken = without_vertex(network, data.draw(st.integers(0, network.vertices - 1)))
    before, after = (
        dict(nx.all_pairs_shortest_path_length(as_networkx(n))) for n in (network, broken)
    )
    worst = max(
        (
            after[a][b] - before[a][b]
            for a in range(network.hosts)
            for b in after[a]
            if b < network.hosts
        ),
        default=0,
    )
    assert extra_links(network, broken) == worst


def test_flow_needs_two_groups():
    """Hosts on both sides, or hosts that are none, are refused."""
    tree = fat_tree(4)
    with pytest.raises(ValueError, match="right must share no host"):
        flow(tree, [0, 1], [1, 2])
    with pytest.raises(ValueError, match="left must be host numbers from 0 to 15"):
        flow(tree, [-1], [1])
    with pytest.raises(ValueError, match="left must be host numbers"):
        flow(tree, ["0"], [1])


def test_a_placement_meets_the_worst_permutation():
    """4:1 leaves: 1 inside a leaf, 4 for full leaves however many, 1 for a job that takes few hosts
    of every leaf; inf across separate rails. An odd number of leaves had seemed to halve it.
    """
    tree = build(1536, 64, 4)  # 48 hosts on 12 uplinks
    assert placement_oversubscription(tree, range(48)) == 1
    for leaves in (2, 3, 4, 5, 31, 32):
        assert placement_oversubscription(tree, range(48 * leaves)) == 4
    spread = [48 * leaf + i for leaf in range(32) for i in range(12)]
    assert placement_oversubscription(tree, spread) == 1
    assert placement_oversubscription(tree, [*spread, 12]) == pytest.approx(13 / 12)
    assert placement_oversubscription(tree, [7]) == 1
    # 48 on one leaf and 20 on another: 20 can leave either
    assert placement_oversubscription(tree, range(68)) == pytest.approx(20 / 12)
    rails = rail_optimised(16, joined=False)
    assert placement_oversubscription(rails, [0, 1], whole_nodes=False) == np.inf
    assert placement_oversubscription(rails, range(128)) == 1


def worst_by_brute_force(network, job):
    """The largest ``min(|S|, |rest|) / maximum flow`` over every part S of the job's hosts, in
    networkx: what a permutation may ask of a cut.
    """
    worst = 1.0
    for size in range(1, len(job) // 2 + 1):
        for part in itertools.combinations(job, size):
            carried = networkx_flow(network, part, [h for h in job if h not in part])
            worst = max(worst, size / carried if carried else np.inf)
    return worst


def worst_by_permutations(network, job):
    """The largest, over every permutation of the job, of the least load that any split of its flows
    over all routes puts on the fullest cable: a linear program for each, by scipy.
    """
    arcs = [(a, b) for a, b in zip(network.a, network.b)] + list(zip(network.b, network.a))
    width = np.tile(network.multiplicity * network.capacity / LINK, 2)
    ends = np.zeros((network.vertices, len(arcs)))
    for at, (a, b) in enumerate(arcs):
        ends[a, at], ends[b, at] = 1, -1
    worst = 1.0
    for order in itertools.permutations(job):
        flows = [(a, b) for a, b in zip(job, order) if a != b]
        if len(flows) < len(job):
            continue  # a flow more never hurts the worst
        sent = np.zeros((len(flows), network.vertices))
        for at, (a, b) in enumerate(flows):
            sent[at, a], sent[at, b] = 1, -1
        keep = np.hstack([np.kron(np.eye(len(flows)), ends), np.zeros((sent.size, 1))])
        room = np.hstack([np.tile(np.eye(len(arcs)), len(flows)), -width[:, None]])
        cost = np.append(np.zeros(keep.shape[1] - 1), 1)
        found = linprog(cost, room, np.zeros(len(arcs)), keep, sent.ravel())
        worst = max(worst, found.fun)
    return worst


@given(st.integers(2, 4), st.integers(1, 2), st.integers(1, 4), st.integers(1, 2), st.data())
@settings(max_examples=15)
def test_placement_by_brute_force(leaves, spines, down, per_spine, data):
    """Some part of a job in a leaf-spine, not a leaf's and not a half, would ask more of its cut
    than the function says.
    """
    tree = leaf_spine(leaves, spines, down, per_spine * spines)
    job = data.draw(st.sets(st.integers(0, tree.hosts - 1), min_size=1, max_size=8).map(sorted))
    assert placement_oversubscription(tree, job) == pytest.approx(worst_by_brute_force(tree, job))


@pytest.mark.parametrize(
    "network, job",
    [
        (leaf_spine(3, 1, 2, 1), range(6)),
        (leaf_spine(2, 2, 4, 2), [0, 1, 2, 4, 5]),
        (fat_tree(4), [0, 1, 2, 4, 8]),
        (build(12, (6, 4, 4), (2, 1)), [0, 1, 2, 3, 4]),
    ],
)
def test_placement_by_every_permutation(network, job):
    """The worst permutation, split over all routes as well as can be, would be slower or faster."""
    assert placement_oversubscription(network, job) == pytest.approx(
        worst_by_permutations(network, list(job)), rel=1e-6
    )


def test_three_pods_and_a_dragonflys_groups():
    """The cut of a pod or a group would be left out: three pods of 1,024 GPUs at 448 uplinks each,
    a dragonfly's group of 8 hosts behind 4 global cables, all of it in a job of 20.
    """
    pods = meta_24k()
    job = [3072 * pod + host for pod in range(3) for host in range(1024)]
    assert placement_oversubscription(pods, job) == pytest.approx(1024 / 448)
    fly = dragonfly(p=2, a=4, h=1)
    job = [*range(8), *(8 * group + host for group in range(1, 5) for host in range(3))]
    assert placement_oversubscription(fly, job) == 2


def test_packets_meet_what_the_placement_says():
    """12 flows i to i + 6 over three leaves at 4:1 would not take four times as long, packet by
    packet on the one uplink there is, where a halving of the leaves had said two.
    """
    tree, size = leaf_spine(leaves=3, spines=1, down=4, up=1), 1e6
    far = np.arange(12)
    run = packets.run(tree, packets.Flows(far, (far + 6) % 12, size))
    assert placement_oversubscription(tree, far) == 4
    assert run.completion.max() / (size / LINK) == pytest.approx(4, rel=0.05)


def test_down_over_up():
    """A tier's or a network's plain ratio, as textbooks and `build` have it: 40 down and 4 up are
    10:1, 2:1 under 2:1 is 4:1, more up than down is below 1, one switch 1.
    """
    assert oversubscription(leaf_spine(1, 4, 40, 4)) == 10
    assert oversubscription(leaf_spine(4, 2, 8, 16), "leaf") == 0.5
    assert oversubscription(build(48, 64)) == 1
    two = build(1536, 32, (3, 2))
    assert oversubscription(two, "leaf") == 3 and oversubscription(two, "spine") == 2
    assert oversubscription(two) == 6
    for radix in (4, 8):
        assert oversubscription(fat_tree(radix)) == oversubscription(fat_tree(radix), "spine") == 1
    # a dead cable makes one leaf worse than the others: 4 over 3
    tree = leaf_spine(2, 4, 4, 4)
    uplink = int(np.flatnonzero(tree.layer == 1)[0])
    assert oversubscription(without_cable(tree, uplink)) == pytest.approx(4 / 3)
    # the SuperPOD's leaves have a port to spare
    assert oversubscription(superpod_h100(4)) == 1


@pytest.mark.parametrize(
    "call, word",
    [
        (lambda: oversubscription(torus((4, 4))), "topology must be a tree"),
        (lambda: oversubscription(dragonfly(2, 4, 2)), "topology must be a tree"),
        (lambda: oversubscription(fat_tree(4), "core"), "tier must be one with uplinks"),
        (lambda: oversubscription(fat_tree(4), range(8)), "placement_oversubscription"),
        (lambda: placement_oversubscription(fat_tree(4), [99]), "placement must be"),
    ],
)
def test_what_has_no_ratio_is_refused(call, word):
    """A torus would get a ratio of tiers, or a job's hosts be taken for a tier."""
    with pytest.raises(ValueError, match=word):
        call()


def test_oversubscription_of_the_blogs_eight_spines():
    """32 leaves of 32 hosts under 8 spines of 64 ports: 512 ports for 1,024 hosts leave 16 uplinks
    a leaf, 2:1 (E-B4).
    """
    assert oversubscription(leaf_spine(32, 8, 32, 16)) == 2
    assert oversubscription(leaf_spine(32, 16, 32, 32)) == 1


def test_torus_by_its_port():
    """16x16x16 with six cables fed from one 50 GB/s port: a bisection of 4.27 TB/s, not 25.6."""
    assert bisection(torus((16, 16, 16), 50 * GB / 6)) == pytest.approx(512 * 50 * GB / 6)


def test_long_ring_ends():
    """A ring of 20,000 hosts, too deep for refinement, still gives its two cables and does not
    hang.
    """
    assert bisection(torus((20_000,))) == 2 * LINK
