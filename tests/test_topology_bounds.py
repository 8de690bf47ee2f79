"""What a cut allows, what oversubscription costs, and what one dead part takes away."""

import dataclasses
import itertools
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabriclab import collectives, topology
from fabriclab.topology import (
    allreduce_cut_bound,
    allreduce_in_network_bound,
    allreduce_port_bound,
    allreduce_ring_cut_bound,
    alltoall_cut_bound,
    bisection,
    build,
    dragonfly,
    efficiency_after,
    equal_paths,
    every_buffer_across,
    failure,
    failures,
    fat_tree,
    leaf_spine,
    loads,
    meta_24k,
    one_hop_nodes,
    oversubscription,
    placement_oversubscription,
    rail_optimised,
    relative_throughput,
    speedup_needed,
    torus,
    wasted_money,
    without_cable,
    without_vertex,
)
from fabriclab.units import GB, TB, ms, us

M = 100 * GB


def test_the_case_of_napkin_1_3():
    """E-15 by hand: 100 GB on 1,024 ranks needs 3.9 ms of a 25.6 TB/s cut, 3.996 s of its ports, 2
    s with sums in the switches.
    """
    assert allreduce_cut_bound(M, np.array([25.6, 6.4]) * TB) == pytest.approx(
        np.array([3.90625, 15.625]) * ms
    )
    assert allreduce_port_bound(M, 1024, 50 * GB) == pytest.approx(2 * 1023 / 1024 * 2)
    assert allreduce_in_network_bound(M, 50 * GB) == 2.0
    assert [every_buffer_across(M, 1024, cut * TB) for cut in (25.6, 6.4)] == [2.0, 8.0]
    assert alltoall_cut_bound(M, 1024, 25.6 * TB) == pytest.approx(512 * 512 * M / 1024 / 25.6e12)


@given(ranks=st.integers(2, 40), size=st.floats(1, 1e12))
def test_alltoall_bound_counts_pairs(ranks, size):
    """The bytes that cross are those of all ordered pairs from one half to the other, counted one
    by one.
    """
    half = ranks // 2
    across = sum(size / ranks for a in range(ranks) for b in range(ranks) if a < half <= b)
    assert alltoall_cut_bound(size, ranks, 1.0) == pytest.approx(across)


@given(st.integers(1, 3000), st.floats(1, 1e12), st.floats(1e6, 1e12))
def test_the_cut_never_asks_for_more_time_than_the_ports(ranks, size, beta):
    """The bound and the time would count the size of an AllToAll differently: on a fabric whose cut
    carries what half of the ports send, the bound would come out above the time.
    """
    cut = max(ranks // 2, 1) * beta
    time = collectives.all_to_all(size, ranks, 0.0, beta)
    assert alltoall_cut_bound(size, ranks, cut) <= time * (1 + 1e-12)
    if ranks == 2:
        assert alltoall_cut_bound(size, ranks, cut) == pytest.approx(time)


@pytest.mark.parametrize(
    "network",
    [
        leaf_spine(4, 4, 4, 4),
        leaf_spine(2, 1, 3, 1),
        leaf_spine(3, 1, 2, 2),
        fat_tree(4),
        torus((4,)),
        torus((4, 4)),
        dragonfly(2, 3, 1),
        rail_optimised(4, 2, 8),
        build(7, 8),
    ],
    ids=lambda network: network.name,
)
def test_alltoall_bound_below_the_load_of_any_routes(network):
    """On some network the bound would be above what pieces of size/N, each sent along a shortest
    path, take at the fullest cable.
    """
    size, hosts = 1e9, network.hosts
    graph = nx.Graph()
    for a, b, n, c in zip(network.a, network.b, network.multiplicity, network.capacity):
        graph.add_edge(int(a), int(b), width=n * c)
    load = Counter()
    for a, b in itertools.permutations(range(hosts), 2):
        ways = list(nx.all_shortest_paths(graph, a, b))
        for way in ways:
            for arc in itertools.pairwise(way):
                load[arc] += size / hosts / len(ways)
    slowest = max(bytes_ / graph.edges[arc]["width"] for arc, bytes_ in load.items())
    assert alltoall_cut_bound(size, hosts, bisection(network, False)) <= slowest * (1 + 1e-9)


@given(
    ranks=st.integers(2, 2000),
    size=st.floats(1, 1e12),
    beta=st.floats(1e9, 1e12),
    cut=st.floats(1e9, 1e15),
)
def test_bounds_are_below_what_achieves_them(ranks, size, beta, cut):
    """A ring without start-ups takes exactly the port bound; one that crosses a cut sends at least
    what any AllReduce must.
    """
    assert allreduce_port_bound(size, ranks, beta) == pytest.approx(
        collectives.ring_allreduce(size, ranks, 0.0, beta)
    )
    assert allreduce_in_network_bound(size, beta) <= allreduce_port_bound(size, ranks, beta) * (
        1 + 1e-12
    )
    assert allreduce_cut_bound(size, cut) <= allreduce_ring_cut_bound(size, ranks, cut) * (
        1 + 1e-12
    )


def test_a_ring_across_a_four_to_one_cut():
    """The ring's cut share of Napkin 1.3 stays far below its port time at 4:1: oversubscription
    does not slow it (R120).
    """
    tree = build(1536, 64, 4)
    cut = bisection(tree)
    assert cut == pytest.approx(768 * 50 * GB / 4)
    assert allreduce_ring_cut_bound(M, 1536, cut) < allreduce_port_bound(M, 1536, 50 * GB) / 100


@pytest.mark.parametrize(
    ("share", "ratio", "left"),
    [(0.3, 1, 1), (0.3, 2, 1 / 1.3), (0.3, 4, 1 / 1.9), (0.3, 8, 1 / 3.1), (0, 9, 1), (1, 4, 0.25)],
)
def test_oversubscription_law(share, ratio, left):
    """Throughput by the lengthened step, with the ends f = 0 (nothing to slow) and f = 1 (all of
    it).
    """
    assert relative_throughput(share, ratio) == pytest.approx(left)
    assert wasted_money(300e6, share, ratio) == pytest.approx(300e6 * (1 - left))


def test_the_text_and_its_money():
    """$142.1 M at 4:1, $69.2 M at 2:1, $203.2 M at 8:1, of $300 M with f = 0.3."""
    assert wasted_money(300e6, 0.3, np.array([2, 4, 8])) / 1e6 == pytest.approx(
        [69.23, 142.11, 203.23], abs=0.005
    )


def test_efficiency():
    """From 80 %, three times faster communication gives 92.3 %, twice 88.9 %, and 95 % needs 4.75
    times (E-16); the two are inverses.
    """
    assert [round(efficiency_after(0.8, s), 3) for s in (2, 3)] == [0.889, 0.923]
    assert efficiency_after(0.8, speedup_needed(0.8, 0.95)) == pytest.approx(0.95)
    assert speedup_needed(0.8, 1) == float("inf")


def test_one_hop_reach_is_the_leaf_of_the_wiring():
    """The formula is the number of nodes that really share a rail switch in what is built, at any
    ratio.
    """
    for radix, ratio in ((64, 1), (64, 2), (64, 3), (40, 1.5), (128, 1)):
        rails = rail_optimised(300, 4, radix, ratio)
        assert np.bincount(rails.b[rails.layer == 0] - rails.hosts).max() == one_hop_nodes(
            radix, ratio
        )
    assert one_hop_nodes(64) == 32


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: allreduce_cut_bound(-1, 1), "size"),
        (lambda: allreduce_cut_bound(1, 0), "cut"),
        (lambda: allreduce_port_bound(1, 0, 1), "ranks"),
        (lambda: alltoall_cut_bound(1, 1.5, 1), "ranks"),
        (lambda: relative_throughput(1.1, 2), "share"),
        (lambda: relative_throughput(0.3, 0.5), "oversubscription"),
        (lambda: wasted_money(float("nan"), 0.3, 2), "capital"),
        (lambda: efficiency_after(0, 2), "efficiency"),
        (lambda: speedup_needed(0.8, 1.2), "target"),
        (lambda: one_hop_nodes(1), "radix"),
        (lambda: every_buffer_across("x", 2, 1), "size"),
    ],
)
def test_bad_numbers_are_refused(call, name):
    """A wrong argument is named, instead of becoming NaN or a negative time."""
    with pytest.raises(ValueError, match=name):
        call()


def by_part(network):
    """The failure report as {part: Failure}."""
    return {lost.part: lost for lost in failures(network)}


def test_a_dead_top_of_rack_switch():
    """Four nodes of eight behind one switch: 32 hosts and 4 whole nodes lost (R099), 32 cables less
    across the middle.
    """
    lost = by_part(build(1024, 64, per_node=8))["leaf switch"]
    assert (lost.hosts_lost, lost.nodes_touched, lost.nodes_lost) == (32, 4, 4)
    assert lost.bisection_left == lost.bisection_before - 32 * 50 * GB


def test_a_dead_rail_switch():
    """The same switch in a rail design touches 32 nodes and loses none: each keeps seven ports."""
    lost = by_part(rail_optimised(128))["leaf switch"]
    assert (lost.hosts_lost, lost.nodes_touched, lost.nodes_lost) == (32, 32, 0)


def test_a_dead_spine_or_cable():
    """One of 16 spines takes 1/16 of the bisection and no host; one cable of a 1:1 leaf takes one;
    nothing gets longer.
    """
    parts = by_part(build(1024, 64))
    assert parts["spine switch"].bisection_left / parts["spine switch"].bisection_before == 15 / 16
    assert (
        parts["leaf-spine cable"].bisection_before - parts["leaf-spine cable"].bisection_left
        == 50 * GB
    )
    assert parts["host-leaf cable"].hosts_lost == 1
    assert {p.hosts_lost for name, p in parts.items() if "spine" in name} == {0}
    assert {p.extra_links for p in parts.values()} == {0}


def test_a_tree_without_spare_paths():
    """A fat-tree of radix 2 has one path each way: a dead spine splits it, and the smaller rest is
    lost.
    """
    tree = fat_tree(2)
    assert (
        by_part(tree)["spine switch"].hosts_lost == tree.hosts
    )  # rests of one host each reach nobody


def test_a_broken_ring():
    """A ring of 8 with a cable gone is a line: its ends are 7 apart instead of 1, one cable is left
    across the middle.
    """
    ring = torus((8,))
    lost = by_part(ring)["x cable"]
    assert (lost.extra_links, lost.links_after.worst, lost.bisection_left / (50 * GB)) == (6, 7, 1)
    two = failure(ring, without_vertex(without_vertex(ring, 0), 3), "two hosts")
    assert (two.hosts_lost, two.bisection_left) == (
        4,
        0,
    )  # both, and the smaller of the rests of 2 and 4


def test_torus_and_dragonfly_parts_that_matter():
    """The part broken is one that the narrowest cut needs: breaking one far from it would show no
    loss at all.
    """
    for network, part in (
        (torus((4, 4, 4)), "z cable"),
        (torus((4, 4, 4)), "host"),
        (dragonfly(2, 4, 2), "global cable"),
        (dragonfly(2, 4, 2), "router switch"),
    ):
        lost = by_part(network)[part]
        assert lost.bisection_left < lost.bisection_before, part


def test_a_dead_core_of_meta():
    """Where the top tier is the narrow one, a chassis of sixteen takes a sixteenth of what crosses
    pods.
    """
    lost = by_part(meta_24k())["core switch"]
    assert lost.bisection_left / lost.bisection_before == pytest.approx(15 / 16)


@given(
    st.sampled_from(
        [
            fat_tree(4),
            build(30, 6, (2, 2)),
            rail_optimised(6, 3, 6),
            torus((3, 4)),
            dragonfly(2, 3, 1),
        ]
    ),
    st.data(),
)
def test_failures_only_take(network, data):
    """Any two parts gone: never more bisection; lost are the hosts outside the largest rest, as
    networkx finds the rests.
    """
    broken = without_vertex(network, data.draw(st.integers(0, network.vertices - 1)))
    broken = without_cable(broken, data.draw(st.integers(0, broken.a.size - 1)))
    lost = failure(network, broken)
    assert lost.bisection_left <= lost.bisection_before
    graph = nx.Graph(zip(broken.a.tolist(), broken.b.tolist(), strict=True))
    graph.add_nodes_from(range(network.hosts))
    rests = [
        sum(vertex < network.hosts for vertex in rest) for rest in nx.connected_components(graph)
    ]
    assert lost.hosts_lost == network.hosts - (max(rests) if max(rests) > 1 else 0)


def test_latency_of_tiers():
    """Switches on the worst path: 1, 3, 5 for one, two and three tiers; a third tier adds 1.2 us at
    0.6 us each (R122).
    """
    worst = [topology.paths(build(n, 64)).switches_on_path.worst for n in (64, 2048, 65_536)]
    assert worst == [1, 3, 5]
    assert (worst[2] - worst[1]) * 0.6 * us == pytest.approx(1.2 * us)


WIRINGS = [
    leaf_spine(3, 2, 2, 4),
    fat_tree(4),
    torus((4, 3)),
    dragonfly(2, 3, 1),
    rail_optimised(3, 2, 8),
]


@pytest.mark.parametrize("network", WIRINGS, ids=lambda network: network.name)
def test_shortest_paths_are_networkxs(network):
    """Ways would be missed or counted twice; each cable of a bundle is one."""
    graph = nx.Graph()
    for a, b, n in zip(network.a.tolist(), network.b.tolist(), network.multiplicity.tolist()):
        graph.add_edge(a, b, cables=n)
    for a, b in itertools.product(range(network.hosts), repeat=2):
        ways = nx.all_shortest_paths(graph, a, b) if nx.has_path(graph, a, b) else []
        counted = sum(
            int(np.prod([graph.edges[arc]["cables"] for arc in itertools.pairwise(way)]))
            for way in ways
        )
        assert equal_paths(network, a, b) == counted


@pytest.mark.parametrize("network", WIRINGS, ids=lambda network: network.name)
def test_loads_are_counted_cable_by_cable(network):
    """Bytes would go astray between links, layers and switches, or the slowest link not be that of
    the packet simulator's one flow at a time.
    """
    graph = nx.Graph(zip(network.a.tolist(), network.b.tolist()))
    routes = [
        nx.shortest_path(graph, a, b) for a, b in itertools.permutations(range(network.hosts), 2)
    ]
    sizes = np.arange(1, len(routes) + 1) * 1e6
    found, by_hand = loads(network, routes, sizes), Counter()
    for way, size in zip(routes, sizes):
        for arc in itertools.pairwise(way):
            by_hand[arc] += size
    assert found.links == pytest.approx(dict(by_hand))
    crossed = sum(size * (len(way) - 1) for way, size in zip(routes, sizes))
    assert sum(found.layers.values()) == pytest.approx(crossed)
    entered = sum(size * sum(v >= network.hosts for v in way) for way, size in zip(routes, sizes))
    assert sum(found.switches.values()) == pytest.approx(entered)
    width = network.graph()
    assert found.slowest == pytest.approx(max(n / width[arc] for arc, n in by_hand.items()))


def test_a_permutation_on_one_uplink_is_what_the_placement_meets():
    """Routes over the one uplink there is would take another time than the placement's ratio says:
    three leaves at 4:1, rank i to i + 6.
    """
    tree = leaf_spine(3, 1, 4, 1)
    routes = [
        [i, 12 + i // 4, 15, 12 + (i + 6) % 12 // 4, (i + 6) % 12]
        if i // 4 != (i + 6) % 12 // 4
        else [i, 12 + i // 4, (i + 6) % 12]
        for i in range(12)
    ]
    slower = loads(tree, routes, 50e9).slowest
    assert slower == placement_oversubscription(tree, range(12)) == 4


def test_faster_uplinks():
    """Uplinks at twice the hosts' rate would count for one: 32 hosts at 400G, 8 uplinks at 800G."""
    tree = leaf_spine(4, 8, 32, 8, uplink=100 * GB)
    assert oversubscription(tree) == oversubscription(tree, "leaf") == 2
    assert placement_oversubscription(tree, range(64)) == 2
    assert bisection(tree) == tree.closed["bisection"] == 64 * 50 * GB / 2
    full = leaf_spine(4, 8, 32, 16, uplink=100 * GB)
    assert oversubscription(full) == 1 and bisection(full) == 64 * 50 * GB
    assert (
        leaf_spine(2, 1, 2, 1).capacity.tolist()
        == leaf_spine(2, 1, 2, 1, uplink=50e9).capacity.tolist()
    )


@pytest.mark.parametrize(
    "call, word",
    [
        (lambda: loads(fat_tree(4), [[0, 1]]), "routes must follow cables"),
        (lambda: loads(fat_tree(4), [[0]]), "routes must have two"),
        (lambda: loads(fat_tree(4), 5), "routes must be"),
        (lambda: loads(fat_tree(4), [5]), "routes must be"),
        (lambda: loads(fat_tree(4), [range(10**9)]), "routes must have"),
        (lambda: loads(fat_tree(4), [[0, 16]], [1, 2]), "sizes must be"),
        (lambda: loads("tree", [[0, 16]]), "topology must be"),
        (lambda: equal_paths(fat_tree(4), 0, 16), "target must be a host"),
        (lambda: equal_paths(fat_tree(4), [0, 1], 2), "source must be one number"),
        (lambda: leaf_spine(2, 1, 2, 1, uplink=0), "uplink must be"),
        (lambda: leaf_spine(2, 1, 2, 1, uplink=[1, 2]), "uplink must be one"),
    ],
)
def test_routes_that_are_none_are_refused_by_name(call, word):
    """A route beside the cables would be carried, or end in a KeyError."""
    with pytest.raises(ValueError, match=f"^{word}"):
        call()


@pytest.mark.parametrize("speed", [0.5, 2, 4])
@pytest.mark.parametrize(
    "network",
    [
        lambda uplink: build(64, 16, 3, uplink=uplink),
        lambda uplink: build(256, (8, 8, 32), (3, 1), uplink=uplink),
        lambda uplink: fat_tree(4, 3, uplink=uplink),
        lambda uplink: rail_optimised(8, 4, 8, uplink=uplink),
        lambda uplink: rail_optimised(16, 2, 8, joined=False, uplink=uplink),
    ],
)
def test_every_tree_takes_faster_uplinks(network, speed):
    """A speed given for the cables between switches would reach the wiring and not the closed
    forms, or stop at the first tier; the bisection is the best of halves by maximum flow.
    """
    alike, other = network(None), network(speed * 50 * GB)
    assert alike.counts == other.counts
    assert oversubscription(other) == pytest.approx(oversubscription(alike) / speed)
    if "bisection" in other.closed:
        cut = dataclasses.replace(other, closed={})
        assert bisection(cut) == pytest.approx(other.closed["bisection"])
