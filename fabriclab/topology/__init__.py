"""Level 3: what switches and cables can carry, derived from the wiring.

Make a network with `build`, `leaf_spine`, `fat_tree`, `rail_optimised`, `dragonfly`,
`torus` or a published design, then ask it: `paths`, `bisection`, `oversubscription`,
`placement_oversubscription`, `bill`, `failures`, `card`. All read the list of cables, not the name
of the family; the closed forms stand beside them. `hops` is a word this package avoids: a path has
links and switches.
"""

from fabriclab.topology.bill import Bill, bill, card
from fabriclab.topology.bounds import (
    allreduce_cut_bound,
    allreduce_in_network_bound,
    allreduce_port_bound,
    allreduce_ring_cut_bound,
    alltoall_cut_bound,
    efficiency_after,
    every_buffer_across,
    one_hop_nodes,
    relative_throughput,
    speedup_needed,
    wasted_money,
)
from fabriclab.topology.clos import build, fat_tree, leaf_spine
from fabriclab.topology.cuts import (
    bisection,
    flow,
    halvings,
    oversubscription,
    placement_oversubscription,
)
from fabriclab.topology.designs import meta_24k, superpod_b200, superpod_h100
from fabriclab.topology.direct import dragonfly, torus
from fabriclab.topology.failures import Failure, failure, failures
from fabriclab.topology.graph import Topology, assemble, without_cable, without_vertex
from fabriclab.topology.loads import Loads, equal_paths, loads
from fabriclab.topology.paths import Paths, Spread, extra_links, paths
from fabriclab.topology.rails import rail_optimised
