"""Deadlock: published dependency counts, networkx, and buffers that really fill up."""

import random

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabriclab import deadlock, topology
from fabriclab.deadlock import (
    dependencies,
    grid_routes,
    ring_routes,
    route,
    shortest_routes,
    valley_routes,
)
from fabriclab.units import GB, KB, MB, ms


def graph_of(found):
    """The same dependencies as a networkx graph."""
    graph = nx.DiGraph()
    graph.add_nodes_from(found.follows)
    graph.add_edges_from((a, b) for a, after in found.follows.items() for b in after)
    return graph


@pytest.mark.parametrize(
    "routes, channels, count, circles",
    [
        (lambda: shortest_routes(topology.fat_tree(4)), 96, 208, []),
        (lambda: ring_routes(4, 2), 4, 4, [4]),
        (lambda: ring_routes(4, 2, senders=[0, 1, 2]), 4, 3, []),
        (lambda: grid_routes((4, 4)), 48, 68, []),
        (lambda: grid_routes((4, 4), wrap=True), 64, 96, [4] * 8),
        (lambda: grid_routes((4, 4), wrap=True, dateline=True), None, None, []),
        (lambda: grid_routes((3, 4, 5), wrap=True, dateline=True), None, None, []),
        (lambda: shortest_routes(topology.dragonfly(2, 4, 2)), None, None, None),
    ],
)
def test_published_counts(routes, channels, count, circles):
    """Channels, dependencies and circles would not be the known ones: a tree has none, a torus one
    per ring and way round.
    """
    found = dependencies(routes())
    assert channels is None or (len(found.channels), found.count) == (channels, count)
    sizes = sorted(len(group) for group in found.components())
    if circles is None:
        assert sizes, (
            "a dragonfly on one lane, minimal routes, has circles (Kim et al. 2008 use two)"
        )
    else:
        assert sizes == circles and found.verdict() == ("possible" if circles else "none")


@given(st.lists(st.lists(st.integers(0, 5), min_size=2, max_size=6), min_size=1, max_size=8))
def test_circles_against_networkx(walks):
    """Components, shortest circles or the verdict would differ from an independent library's on
    random routes.
    """
    walks = [[v for i, v in enumerate(w) if i == 0 or v != w[i - 1]] for w in walks]
    found = dependencies(route(w) for w in walks if len(w) > 1)
    graph = graph_of(found)
    wanted = {frozenset(c) for c in nx.strongly_connected_components(graph) if len(c) > 1}
    assert {frozenset(c) for c in found.components()} == wanted and (
        found.verdict() == "none"
    ) == nx.is_directed_acyclic_graph(graph)
    for circle, group in zip(found.cycles(), found.components()):
        assert all(b in found.follows[a] for a, b in zip(circle, circle[1:] + circle[:1])) and set(
            circle
        ) <= set(group)
        assert (
            len(circle)
            == min(map(len, nx.simple_cycles(graph.subgraph(group))))
            == len(set(circle))
        )


def test_the_circle_shown_is_the_shortest():
    """Of a circle of two and one of three that share a channel, the longer would be drawn."""
    assert dependencies([route([0, 1, 0, 1]), route([0, 1, 2, 0, 1])]).cycles() == [
        [(0, 1, 0), (1, 0, 0)]
    ]


def runs_dry(routes, steps=4000, room=2, seed=0):
    """Push packets along routes through buffers of `room` packets, one move at a time, sources
    always ready: (stuck, {full: wants}).
    """
    draw, buffers = random.Random(seed), {}
    for r in routes:
        for channel in r:
            buffers[channel] = []
    for _ in range(steps):
        moves = [(None, r, 0) for r in routes if len(buffers[r[0]]) < room]
        busy = [c for c in buffers if buffers[c]]
        inside = []
        for channel in busy:
            r, at = buffers[channel][0]
            if at + 1 == len(r) or len(buffers[r[at + 1]]) < room:
                inside.append((channel, r, at + 1))
        if not inside and not moves:
            break
        channel, r, at = draw.choice(inside + moves)
        if channel is not None:
            buffers[channel].pop(0)
        if at < len(r):
            buffers[r[at]].append((r, at))
    full = {
        c: b[0][0][b[0][1] + 1]
        for c, b in buffers.items()
        if len(b) >= room and b[0][1] + 1 < len(b[0][0])
    }
    # stuck for good: nothing inside can move any more once the sources are silent
    return not inside and bool(full), full


def test_a_ring_that_really_locks():
    """Four two-link flows would not fill a ring of buffers for ever, or the verdict on that moment
    not be "certain"; three flows never lock.
    """
    four, three = ring_routes(4, 2), ring_routes(4, 2, senders=[0, 1, 2])
    outcomes = [runs_dry(four, seed=seed) for seed in range(5)]
    assert any(stuck for stuck, _ in outcomes)
    for stuck, full in outcomes:
        assert dependencies(four).verdict(full) == "certain" or not stuck
    for seed in range(5):
        stuck, full = runs_dry(three, seed=seed)
        assert not stuck and dependencies(three).verdict(full) == "none"


def test_full_buffers_that_drain_are_not_certain():
    """Buffers that are full, but whose heads do not wait in a circle, would be called a lock."""
    ring = dependencies(ring_routes(4, 2))
    circle = ring.cycles()[0]
    waits = dict(zip(circle, circle[1:] + circle[:1]))
    assert ring.verdict(waits) == "certain"
    for missing in circle:
        assert ring.verdict({a: b for a, b in waits.items() if a != missing}) == "possible"
    with pytest.raises(ValueError, match="waiting"):
        ring.verdict({circle[0]: circle[2]})


@pytest.mark.parametrize(
    "network",
    [
        lambda: topology.fat_tree(4),
        lambda: topology.leaf_spine(3, 2, 2, 2),
        lambda: topology.fat_tree(8),
    ],
)
def test_two_valleys_lock_a_tree_and_one_does_not(network):
    """Detours that bend at a leaf would close no circle, also among all the ordinary routes, or a
    single one would.
    """
    tree = network()
    detours = valley_routes(tree)
    cables = set(zip(tree.a.tolist(), tree.b.tolist()))
    for detour in detours:
        assert all((min(a, b), max(a, b)) in cables for a, b, _ in detour)
        assert detour[0][0] < tree.hosts and detour[-1][1] < tree.hosts
    assert [len(c) for c in dependencies(detours).cycles()] == [4]
    ordinary = list(shortest_routes(tree)) if tree.hosts < 100 else []
    assert (
        dependencies(ordinary).verdict() == dependencies(ordinary + detours[:1]).verdict() == "none"
    )
    assert dependencies(ordinary + detours).verdict() == "possible"
    # on a lane of their own for the way after the bend, the detours are harmless (Tagger's idea)
    bent = [route([c[0] for c in d] + [d[-1][1]], [0] * (len(d) - 3) + [1] * 3) for d in detours]
    assert dependencies(ordinary + bent).verdict() == "none"


@pytest.mark.parametrize("sides", [(5,), (2, 3), (4, 4), (3, 3, 3), (2, 2, 2)])
def test_grid_routes_are_shortest_and_use_the_torus_cables(sides):
    """A route would leave the torus's cables, or take a longer way than the shortest."""
    net = topology.torus(sides)
    graph = nx.Graph(list(zip(net.a.tolist(), net.b.tolist())))
    length = dict(nx.all_pairs_shortest_path_length(graph))
    routes = grid_routes(sides, wrap=True, dateline=True)
    assert len(routes) == net.hosts * (net.hosts - 1)
    for r in routes:
        assert len(r) == length[r[0][0]][r[-1][1]] and all(graph.has_edge(a, b) for a, b, _ in r)


def test_shortest_routes_are_all_of_them():
    """A way up and down the tree would be missing or listed twice."""
    tree = topology.fat_tree(4)
    graph = nx.Graph(list(zip(tree.a.tolist(), tree.b.tolist())))
    got = list(shortest_routes(tree))
    wanted = {
        route(p)
        for s in range(16)
        for t in range(16)
        if s != t
        for p in nx.all_shortest_paths(graph, s, t)
    }
    assert len(got) == len(wanted) and set(got) == wanted


def test_relabelling_changes_nothing():
    """The verdict would depend on what the switches are called."""
    names = "ABCD"
    for routes in (ring_routes(4, 2), ring_routes(4, 2, senders=[1, 2, 3])):
        named = [tuple((names[a], names[b], lane) for a, b, lane in r) for r in routes]
        assert dependencies(named).verdict() == dependencies(routes).verdict()


def test_watchdog():
    """Dropping 1 MB of 64 flows would not cost 64 windows under go-back-N and 1 MB under selective
    repeat, after the wait.
    """
    back = deadlock.watchdog(
        200 * ms, 1 * MB, 50 * GB, timeout=4 * ms, flows=64, in_flight=250 * KB
    )
    assert (back.dropped, back.resent) == (1 * MB, 16 * MB) and back.stall == pytest.approx(
        0.2 + 0.004 + 16e6 / 50e9
    )
    selective = deadlock.watchdog(200 * ms, 1 * MB, 50 * GB, timeout=4 * ms)
    assert selective.resent == selective.dropped and selective.stall < back.stall
    assert deadlock.watchdog(0, 5 * MB, 1 * GB, flows=1, in_flight=1 * KB).resent == 5 * MB


@pytest.mark.parametrize(
    "call",
    [
        lambda: route([1]),
        lambda: route([0, 1, 2], [0]),
        lambda: dependencies([[(0, 1, 0), (2, 3, 0)]]),
        lambda: dependencies([[(0, 0, 0)]]),
        lambda: dependencies([[0, 1]]),
        lambda: ring_routes(2, 1),
        lambda: ring_routes(4, 0),
        lambda: ring_routes(4, 5),
        lambda: grid_routes(4),
        lambda: grid_routes((40, 40)),
        lambda: grid_routes((2.5,)),
        lambda: list(shortest_routes(topology.fat_tree(16))),
        lambda: valley_routes(topology.leaf_spine(2, 2, 2, 2)),
        lambda: valley_routes(topology.torus((4, 4))),
        lambda: deadlock.watchdog(-1, 1, 1),
        lambda: deadlock.watchdog(1, 1, 0),
    ],
)
def test_bad_input_is_refused(call, monkeypatch):
    """A wrong argument would give a wrong verdict, or a hang, instead of a ValueError."""
    for room in ("circles", "routes"):
        monkeypatch.setattr(f"fabriclab.deadlock.{room}.MOST_ROUTES", 1000)
    with pytest.raises(ValueError, match="must"):
        call()


def test_no_routes_no_lock():
    """Nothing at all would break the search for circles."""
    assert dependencies([]).verdict() == dependencies(
        [route([0, 1])]
    ).verdict() == "none" and np.array_equal(dependencies([]).cycles(), [])


# ---- the three triggers


def loop_locks(switches, ttl, rate, room=12, slots=4000):
    """Whether a lossless loop stops for good: `rate` packets a slot come to switch 0, each cable
    carries one a slot, and each has `room` behind it.
    """
    behind = [[] for _ in range(switches)]  # by the cable from the switch before
    waiting, owed, own_turn = 0, 0.0, False
    for _ in range(slots):
        owed += rate
        waiting, owed = waiting + int(owed), owed % 1
        sent = []
        for here in range(switches):
            ahead = behind[(here + 1) % switches]
            own = here == 0 and waiting and (own_turn or not behind[0])
            if here == 0 and waiting and behind[0]:
                own_turn = not own_turn
            if len(ahead) < room and (own or behind[here]):
                age = ttl if own else behind[here].pop(0)
                waiting -= bool(own)
                sent.append((here, age - 1))
        for here, age in sent:
            if age:
                behind[(here + 1) % switches].append(age)
        if not sent and waiting:
            return True
    return False


@pytest.mark.parametrize("switches, ttl", [(2, 16), (3, 9), (4, 64)])
def test_a_loop_locks_just_above_its_limit(switches, ttl):
    """The rate that a loop bears would be another than that of one in which buffers fill."""
    limit = deadlock.loop_limit(1.0, switches, ttl)
    assert [loop_locks(switches, ttl, share * limit) for share in (0.9, 1.15)] == [False, True]


def test_a_loop_never_bears_more_than_its_cable():
    """A packet that dies before it has gone round once would seem to ask for less than nothing."""
    assert deadlock.loop_limit(1.0, 4, 2) == 1.0


def test_three_triggers_close_a_circle_each():
    """A loop, a flood or a cable between leaves would look harmless; or a tree without them would
    not.
    """
    loop = [route([0, 6, 9, 6, 9])]  # leaf 6 and spine 9 send to each other
    flood = [route([0, 6, 9, 7, 10]), route([2, 7, 10, 6, 9])]  # up again at the last leaf
    across = [route([0, 6, 7, 9, 8, 4]), route([4, 8, 9, 6, 7, 2]), route([2, 7, 9, 6, 0])]
    for routes, length in ((loop, 2), (flood, 4), (across, 3)):
        assert [len(circle) for circle in dependencies(routes).cycles()] == [length]
        assert dependencies(routes[:-1]).verdict() == "none" or len(routes) == 1
    ends = [route([0, 6, 9, 7]), route([2, 7, 10, 6])]  # dropped where the address is unknown
    assert dependencies(ends).verdict() == "none"
