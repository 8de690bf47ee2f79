"""What several of these rooms use."""

from functools import cache

from fabriclab import topology
from fabriclab.catalog import QM9700
from fabriclab.units import GB

RANKS, BUFFER, CAPITAL, SHARE = 1024, 100 * GB, 300e6, 0.30  # Napkin Math 1.3


RADIX = QM9700.ports


@cache
def _tree(hosts=RANKS, tiers=2):
    return topology.fat_tree(RADIX, tiers, hosts)


@cache
def _oversubscribed():
    """1,024 hosts at 4:1, wired so that leaves are full: 32 down and 8 up."""
    return topology.leaf_spine(32, 8, 32, 8)


@cache
def _rails():
    return topology.rail_optimised(RANKS // 8, 8, RADIX)


@cache
def _cut(network):
    return topology.bisection(network)


def _worst_switches(network, among=None):
    return topology.paths(network, among).switches_on_path.worst
