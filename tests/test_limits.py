"""Limits on size, each tried on both sides: what is within is answered, what is beyond is refused
by the name of an argument, at once and in little memory.
"""

import re
import time
import tracemalloc

import numpy as np
import pytest
from scipy import stats

from fabriclab import cluster, congestion, deadlock, nccl, topology
from fabriclab.congestion import bsp


def refused(call, word):
    """`call` raises a ValueError that begins with `word`, within a second and 200 MB."""
    tracemalloc.start()
    began = time.process_time()
    try:
        with pytest.raises(ValueError) as told:
            call()
        took, most = time.process_time() - began, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert re.match(rf"{word}\b", str(told.value)), str(told.value)
    assert took < 5 and most < 200e6, (took, most)  # a slow machine takes more than a second


@pytest.mark.parametrize(
    "call, word",
    [
        (lambda: topology.torus((1000, 1000)), "sides"),
        (lambda: topology.torus((9, 9, 9, 9, 9, 9)), "sides"),
        (lambda: topology.dragonfly(1, 4, 1000), "p, a and h"),
        (lambda: topology.dragonfly(1, 1000, 1), "p, a and h"),
        (lambda: topology.fat_tree(256), "radix"),
        (lambda: topology.build(600_001, 128), "end_points"),
        (lambda: topology.leaf_spine(60_000, 64, 8, 64, radix=10**6), "leaves, spines and down"),
        (lambda: topology.leaf_spine(10**6, 1, 1, 1), "leaves"),
        (lambda: topology.leaf_spine(4, 4, 10**5, 32), "radix"),
        (lambda: topology.rail_optimised(10**6), "nodes"),
        (lambda: topology.rail_optimised(60_000), "nodes"),
        (lambda: topology.rail_optimised(70_000, joined=False), "nodes"),
        (lambda: topology.superpod_b200(257), "units"),
        (lambda: topology.superpod_b200(1000), "units"),
        (lambda: topology.superpod_h100(10**30), "units"),
        (lambda: topology.oversubscription(topology.fat_tree(4), 10**30), "tier"),
        (lambda: deadlock.ring_routes(10**6, 1), "switches"),
        (lambda: deadlock.ring_routes(1000, 501), "switches"),
        (lambda: deadlock.ring_routes(1000, 500, senders=range(10**9)), "senders"),
        (lambda: deadlock.ring_routes(10**30, 1), "switches"),
        (lambda: deadlock.grid_routes((10, 10, 10)), "sides"),
        (lambda: deadlock.grid_routes((1000,)), "sides"),
        (lambda: congestion.permutation_slowdown(32, "spraying", 1000, 1024), "pieces"),
        (lambda: congestion.permutation_slowdown(16, "hashing", 10**6), "trials"),
        (lambda: congestion.slowest_simulated(stats.expon(), 10**9, 10**9), "steps"),
    ],
)
def test_beyond_the_limit(call, word):
    """A slip of a zero would take the memory or the afternoon, or name what nobody gave."""
    refused(call, word)


def test_within_the_limit():
    """What the limits' own comments promise would be refused: a fat-tree of 128 ports, a SuperPOD
    of 256 units, a 64-cube, and every route of a fat-tree of 8 ports.
    """
    assert topology.fat_tree(128).hosts == 524_288
    assert topology.torus((64, 64, 64)).hosts == 262_144
    assert topology.superpod_b200(topology.designs.MOST_UNITS).hosts == 65_536
    assert sum(1 for _ in deadlock.shortest_routes(topology.fat_tree(8))) == 235_904
    assert len(deadlock.ring_routes(1000, 500)) == 1000
    assert len(deadlock.ring_routes(4, 2, senders=[1, 2])) == 2
    assert len(deadlock.grid_routes((8, 8, 4), wrap=True)) == 256 * 255


@pytest.mark.parametrize(
    "module, limit, edge, call",
    [
        # 3 x 2 routes between 3 hosts of one switch
        (deadlock.routes, "MOST_ROUTES", 6, lambda: list(deadlock.shortest_routes(_star(3)))),
        (deadlock.routes, "MOST_LINKS", 8, lambda: deadlock.ring_routes(4, 2)),
        # a mesh of 4 in a row: 2 (3 x 1 + 2 x 2 + 1 x 3) links
        (deadlock.routes, "MOST_LINKS", 20, lambda: deadlock.grid_routes((4,))),
        # a ring of 4: each place has two neighbours and one two links away
        (deadlock.routes, "MOST_LINKS", 16, lambda: deadlock.grid_routes((4,), wrap=True)),
        (bsp, "MOST_DRAWS", 12, lambda: congestion.slowest_simulated(stats.expon(), 3, 4)),
        # 16 hosts of a fat-tree of 4 ports
        (topology.graph, "MOST_HOSTS", 16, lambda: topology.torus((4, 4))),
        (topology.graph, "MOST_BUNDLES", 32, lambda: topology.torus((4, 4))),
        # 72 hosts, 54 local and 36 global cables
        (topology.graph, "MOST_BUNDLES", 162, lambda: topology.dragonfly(2, 4, 2)),
        (topology.graph, "MOST_BUNDLES", 24, lambda: topology.leaf_spine(4, 2, 4, 2)),
        (topology.designs, "MOST_UNITS", 2, lambda: topology.superpod_b200(2)),
    ],
)
def test_the_limit_itself(monkeypatch, module, limit, edge, call):
    """A limit would begin one too early, one too late, or not at all: exactly at it there is an
    answer, one below it there is none.
    """
    monkeypatch.setattr(module, limit, edge)
    call()
    monkeypatch.setattr(module, limit, edge - 1)
    with pytest.raises(ValueError, match="at most"):
        call()


def _star(hosts):
    return topology.build(hosts, 8)


@pytest.mark.parametrize(
    "call, word",
    [
        (lambda: topology.dragonfly(8, 4, 4), r"p must be .*dragonfly\(p=4, a=8, h=4\)"),
        (lambda: topology.bill(topology.fat_tree(4), 64), "switch must be"),
        (lambda: topology.bill(topology.fat_tree(4), module="LPO"), "module must"),
        (lambda: topology.bisection(topology.fat_tree(4), "False"), "whole_nodes must be"),
        (lambda: topology.rail_optimised(4, joined="no"), "joined must be"),
        (lambda: topology.paths(topology.fat_tree(4), [[1], [1, 2]]), "among must be"),
        (lambda: topology.allreduce_port_bound([1, 2, 3], [2, 4], 1e9), "size and ranks"),
        (lambda: topology.alltoall_cut_bound([1, 2, 3], 4, [1, 2]), "size and cut"),
        (lambda: topology.relative_throughput([0.1, 0.2, 0.3], [1, 2]), "share and oversubs"),
        (lambda: topology.wasted_money([1, 2, 3], [0.1, 0.2], 4), "capital and share"),
        (lambda: topology.speedup_needed([0.8, 0.9], [0.9, 0.95, 0.99]), "efficiency and target"),
        (lambda: topology.one_hop_nodes([64, 128], [1, 2, 3]), "radix and oversubscription"),
        (lambda: deadlock.watchdog([1, 2], 1, [1, 2, 3]), "detection and rate"),
        (lambda: deadlock.grid_routes((4, 4), wrap="False"), "wrap must be"),
        (lambda: nccl.chosen_hcas(5, ("mlx5_0",)), "value must be"),
        (lambda: nccl.chosen_hcas("mlx5", 5), "hcas must be"),
        (lambda: nccl.inside_bandwidth({}), "settings must be"),
        (lambda: nccl.allreduce_time(1, 4, nccl.settings({}), np.ones(2)), "algorithm must be"),
        (lambda: cluster.placement_lengthening(topology.fat_tree(4), [[1], [2, 3]], 0.2), "placem"),
        (lambda: topology.assemble("x", 2, ("s",), (1,), (2,), 5, [[0], [0]]), "bundles must"),
        (
            lambda: topology.assemble("x", 2, ("s",), (1,), (2,), {"c": ([0, 1], 2)}, [[0], [0]]),
            "bundles must",
        ),
        (lambda: topology.assemble("x", 2, "s", (1, 1), (2,), {}, [[0], [0]]), "tiers, counts"),
    ],
)
def test_what_does_not_fit_is_named(call, word):
    """A wrong object, a flag in words or shapes that do not meet would end in numpy's or Python's
    own words, or pass.
    """
    with pytest.raises(ValueError, match=f"^{word}"):
        call()
