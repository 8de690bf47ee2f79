"""Rows of level 3: rails and published designs."""

from fabriclab import topology
from fabriclab.catalog import SWITCH_LATENCY
from fabriclab.course.engine.ledger import Row
from fabriclab.course.topology.rows.common import RADIX, RANKS, _rails, _tree, _worst_switches


def _rail(nodes):
    """GPU 0 of the first `nodes` nodes."""
    return range(0, 8 * nodes, 8)


ROWS = [
    # rails and Napkin Math 1.4
    Row(
        "rails/rails",
        "Rail-optimised design",
        "8",
        lambda: 8,
        "assumed",
        "one port and one rail for each GPU of a DGX node",
    ),
    Row(
        "rails/nodes",
        "Rail-optimised design",
        "128",
        lambda: len(_rail(RANKS // 8)),
        "agrees",
        "1,024 GPUs over 8 rails",
    ),
    Row(
        "rails/drawn",
        "Figure 10",
        "4",
        None,
        "assumed",
        "GPUs a node, two nodes: a drawing's economy; a DGX node has eight, and eight rails",
    ),
    Row(
        "napkin-1.4/traversal",
        "Napkin Math 1.4",
        "0.6 us",
        lambda: SWITCH_LATENCY,
        "assumed",
        "the text's value for one switch; 3 of them are 1.8 us, more than its own 1.5 us for a"
        " whole path (E-06)",
    ),
    Row(
        "napkin-1.4/fat-tree",
        "Napkin Math 1.4",
        "1.8 us",
        lambda: _worst_switches(_tree()) * SWITCH_LATENCY,
        "agrees",
        "leaf, spine, leaf",
    ),
    Row(
        "napkin-1.4/fat-tree-older",
        "older edition, Napkin Math 1.4",
        "1.2 us",
        lambda: _worst_switches(_tree()) * SWITCH_LATENCY,
        "differs",
        "two hops counted as two switches; the path has three",
    ),
    Row(
        "napkin-1.4/rail",
        "Napkin Math 1.4",
        "0.6 us",
        lambda: _worst_switches(_rails(), _rail(32)) * SWITCH_LATENCY,
        "agrees",
        "between nodes of one scalable unit",
    ),
    Row(
        "napkin-1.4/ratio",
        "Napkin Math 1.4",
        "3x",
        lambda: _worst_switches(_tree()) / _worst_switches(_rails(), _rail(32)),
        "agrees",
        "of the switches' latency, and inside a scalable unit",
    ),
    Row(
        "napkin-1.4/ratio-older",
        "older edition, Napkin Math 1.4",
        "2x",
        lambda: _worst_switches(_tree()) / _worst_switches(_rails(), _rail(32)),
        "differs",
        "from the two hops of its 1.2 us; the path has three switches; corrected since",
    ),
    Row(
        "napkin-1.4/efficiency-before",
        "Napkin Math 1.4",
        "80 %",
        lambda: topology.efficiency_after(0.80, 1),
        "assumed",
        "an input: communication takes a quarter of the computing",
    ),
    Row(
        "napkin-1.4/efficiency",
        "Napkin Math 1.4",
        "95 %",
        lambda: topology.efficiency_after(0.80, 3),
        "differs",
        "from 80 %, communication three times faster gives 92.3 %; 95 % needs 4.75 times; and"
        " latency is 0.13 % of a 242.8 ms ring (E-16)",
    ),
    Row(
        "napkin-1.4/efficiency-older",
        "older edition, Napkin Math 1.4",
        "95 %",
        lambda: topology.efficiency_after(0.80, 2),
        "differs",
        "the same 80 to 95 % was printed for twice: 88.9 % (E-16)",
    ),
    Row(
        "napkin-1.4/one-switch",
        "Napkin Math 1.4",
        "128",
        lambda: topology.one_hop_nodes(RADIX),
        "differs",
        "nodes on one 64-port rail switch: 32 at 1:1, 64 with no uplink at all; 128 take four"
        " leaves a rail and spines (E-16)",
    ),
    Row(
        "lighthouse-1.1/one-hop",
        "Lighthouse 1.1, data parallel on a rail",
        "one hop",
        lambda: _worst_switches(_rails(), _rail(128)),
        "differs",
        "over 128 nodes the worst pair of a rail is 3 switches apart; one only inside 32 nodes"
        " (E-16)",
        between=(1, 1),
    ),
]
