"""Rails: GPU i of every node on the switches of rail i, joined above or not at all.

Source: NVIDIA DGX SuperPOD reference architectures.
"""

import numpy as np

from fabriclab.checks import Values, flag
from fabriclab.topology.clos import build, per_tier, split, wire
from fabriclab.topology.graph import Topology, assemble, host_count, whole
from fabriclab.units import GB


def rail_optimised(
    nodes: int,
    rails: int = 8,
    radix: int = 64,
    oversubscription: Values = 1,
    joined: bool = True,
    bandwidth: float = 50 * GB,
    uplink: float | None = None,
) -> Topology:
    """GPU i of every node on rail i. `joined`: leaves of all rails share the spines; otherwise
    every rail is a network alone.

    A scalable unit is as many nodes as a leaf has downlinks (radix/2 at 1:1) and one leaf per rail:
    inside it, GPUs of the same rail are one switch apart. Host n·rails + i is GPU i of node n.
    Separate rails meet only inside the nodes. `uplink`: bytes per second of a cable between
    switches, `bandwidth` where it is None.

    Other words: rails, NVIDIA, one leaf per GPU number.

    >>> rail_optimised(127).cables, rail_optimised(127).switches
    ({'host-leaf': 1016, 'leaf-spine': 1024}, {'leaf': 32, 'spine': 16})
    >>> rail_optimised(128, joined=False).switches
    {'leaf': 32, 'spine': 16}
    """
    nodes, rails = whole("nodes", nodes), whole("rails", rails)
    radices, ratios = (
        per_tier("radix", radix, 2),
        per_tier("oversubscription", oversubscription, 1),
    )
    host = np.arange(host_count("nodes times rails", nodes * rails))
    if not flag("joined", joined):
        try:
            one = build(nodes, radices, ratios, 1, bandwidth, uplink)
        except ValueError as error:
            raise ValueError(str(error).replace("end_points", "nodes")) from None
        return _separate(one, rails)
    down, _ = split(radices[0], ratios[0])
    units = -(-nodes // down)
    tiers = 2 if units * rails <= radices[1] else 3
    home = host // rails // down * rails + host % rails
    return wire(
        f"{rails} rails, {nodes:,} nodes",
        host.size,
        radices,
        ratios,
        tiers,
        rails,
        bandwidth,
        home,
        units * rails,
        rails,
        uplink,
    )


def _separate(one, rails):
    """`rails` copies of the network `one`, host n of copy i being GPU i of node n."""
    hosts = one.hosts * rails
    starts = np.concatenate([[one.hosts], one.hosts + np.cumsum(one.counts)])
    rail = np.arange(rails)[:, None]

    def copies(vertex):
        tier = np.searchsorted(starts, vertex, "right")
        size = np.array([0, *one.counts])[tier]
        first = starts[np.maximum(tier - 1, 0)]
        moved = hosts + (first - one.hosts) * rails + rail * size + vertex - first
        return np.where(tier == 0, vertex * rails + rail, moved).ravel()

    bundles = {}
    for index, name in enumerate(one.layers):
        at = one.layer == index
        bundles[name] = (
            copies(one.a[at]),
            copies(one.b[at]),
            np.tile(one.multiplicity[at], rails),
            float(one.capacity[at][0]),
        )
    place = np.concatenate(
        [np.tile(np.arange(rails), one.hosts)[:, None], np.repeat(one.position, rails, axis=0)],
        axis=1,
    )
    closed = (
        {"bisection": one.closed["bisection"] * rails}
        if "bisection" in one.closed and one.hosts % 2 == 0
        else {}
    )
    return assemble(
        f"{rails} separate rails, {one.hosts:,} nodes",
        hosts,
        one.tiers,
        tuple(n * rails for n in one.counts),
        one.radix,
        bundles,
        place,
        node=np.repeat(np.arange(one.hosts), rails),
        optical=one.optical,
        closed=closed,
    )
