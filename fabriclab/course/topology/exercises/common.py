"""What several of these rooms use."""

from functools import cache

from fabriclab import topology


@cache
def _bisection(leaves, spines, down, up, lost=0):
    """Bisection in cables, without the first `lost` spines."""
    network = topology.leaf_spine(leaves, spines, down, up, radix=128, bandwidth=1.0)
    for spine in range(lost):
        network = topology.without_vertex(network, network.first("spine") + spine)
    return topology.bisection(network)
