"""Level 3: switches and topology. The translation at hand lacks this section: `where` names the
English edition's parts.
"""

from functools import cache

from fabriclab import topology
from fabriclab.catalog import NDR, QM9700, SWITCH_LATENCY
from fabriclab.course.engine.ledger import Row
from fabriclab.units import GB, TB

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
def _dragonfly():
    return topology.dragonfly(4, 8, 4)


@cache
def _cut(network):
    return topology.bisection(network)


def _switches(network):
    return sum(network.counts)


def _dead_leaf():
    return topology.failures(topology.build(RANKS, RADIX, per_node=8))[0]


def _pod():
    """Hosts of one pod of the full three-tier tree."""
    return int((_tree(RADIX**3 // 4, 3).position[:, 0] == 0).sum())


def _worst_switches(network, among=None):
    return topology.paths(network, among).switches_on_path.worst


def _rail(nodes):
    """GPU 0 of the first `nodes` nodes."""
    return range(0, 8 * nodes, 8)


def _allreduce(cut):
    """Seconds below which no AllReduce of host sums gets: the port or the cut,
    whichever is slower.
    """
    return max(
        topology.allreduce_port_bound(BUFFER, RANKS, NDR.beta),
        topology.allreduce_ring_cut_bound(BUFFER, RANKS, cut),
    )


def _taper():
    """Bisection of a balanced dragonfly of 16,512 hosts, as a share of what half of them inject."""
    fly = topology.dragonfly(8, 16, 8)
    return _cut(fly) / (fly.hosts / 2 * NDR.beta)


ROWS = [
    # Definition 1.3, bisection
    Row(
        "principles/bisection",
        "Level 3, opening",
        "4",
        None,
        "assumed",
        "the book's own number for the bisection-bandwidth theorem",
    ),
    Row(
        "principles/scaling",
        "Level 3, opening",
        "8",
        None,
        "assumed",
        "the book's own number for the scaling-efficiency bound",
    ),
    Row(
        "principles/alpha-beta",
        "summary",
        "11",
        None,
        "assumed",
        "the book's own number for the alpha-beta model",
    ),
    Row(
        "definition-1.3/formula",
        "Definition 1.3",
        "(N/2) beta / r",
        lambda: _cut(_oversubscribed()) / (RANKS / 2 * NDR.beta / 4),
        "agrees",
        "maximum flow over the wiring of a 4:1 tree, divided by the formula",
        between=(1 - 1e-9, 1 + 1e-9),
    ),
    Row(
        "definition-1.3/full",
        "Definition 1.3",
        "25.6 TB/s",
        lambda: _cut(_tree()),
        "agrees",
        "per direction, 204.8 Tb/s; all ranks together inject 51.2 TB/s",
    ),
    Row(
        "definition-1.3/4-1",
        "Definition 1.3",
        "6.4 TB/s",
        lambda: _cut(_oversubscribed()),
        "agrees",
    ),
    Row(
        "definition-1.3/4x",
        "Definition 1.3, an AllReduce at 4:1",
        "4x",
        lambda: _allreduce(6.4 * TB) / _allreduce(25.6 * TB),
        "differs",
        "a ring needs 31.2 ms of the 6.4 TB/s cut and 3,996 ms of every port: the ports decide, and"
        " 4:1 need not slow it (E-15)",
    ),
    Row(
        "definition-1.3/star",
        "Definition 1.3, star",
        "1,000 links",
        None,
        "assumed",
        "one switch: the cut runs through its host cables, or through its backplane if that is"
        " narrower, which no wiring shows",
        between=(1000, 1000),
    ),
    Row(
        "definition-1.3/all-to-all",
        "Definition 1.3, AllReduce as all-to-all traffic",
        "alike",
        lambda: (
            topology.alltoall_cut_bound(BUFFER, RANKS, 25.6 * TB)
            / topology.allreduce_cut_bound(BUFFER, 25.6 * TB)
        ),
        "differs",
        "an AllReduce can cross a cut with M bytes each way, an AllToAll needs (N/2)(N/2) M/N:"
        " 256 times as much at N = 1,024 (E-15)",
        between=(1.0, 1.0),
    ),
    # Definition 1.4, non-blocking
    Row(
        "definition-1.4/line-rate",
        "Definition 1.4",
        "line rate",
        lambda: topology.placement_oversubscription(_tree(), range(RANKS)),
        "agrees",
        "every permutation of the hosts runs at full rate: no leaf has fewer uplinks than hosts",
        between=(1.0, 1.0),
    ),
    Row(
        "definition-1.4/share",
        "Definition 1.4",
        "30 %",
        lambda: SHARE,
        "assumed",
        "share of a step that is communication across the tier; with overlap less of it counts",
    ),
    Row(
        "definition-1.4/loss-2-1",
        "Definition 1.4",
        "23.1 %",
        lambda: 1 - topology.relative_throughput(SHARE, 2),
        "agrees",
        "47.4 % at 4:1, 67.7 % at 8:1; all of the share must cross the tier, unhidden",
    ),
    Row(
        "definition-1.4/loss-2-1-older",
        "older edition, Definition 1.4",
        "15 %",
        lambda: 1 - topology.relative_throughput(SHARE, 2),
        "differs",
        "1 - 1/(0.7 + 0.3 x 2) = 23.1 %; 15 % would be f (1 - 1/r), which lengthens no step",
    ),
    # racks
    Row(
        "rack/gpus",
        "Racks and leaves",
        "32",
        lambda: _dead_leaf().hosts_lost,
        "agrees",
        "4 nodes x 8 GPUs behind one switch: what its death takes away",
    ),
    Row(
        "rack/down",
        "Racks and leaves",
        "32",
        lambda: topology.one_hop_nodes(RADIX),
        "agrees",
        "half of 64 ports down, half up: 1:1",
    ),
    Row("rack/racks", "Racks and leaves", "32", lambda: _tree().switches["leaf"], "agrees"),
    # Definition 1.5, fat-tree
    Row(
        "definition-1.5/two-tier",
        "Definition 1.5",
        "2,048",
        lambda: topology.fat_tree(RADIX, 2).hosts,
        "agrees",
        "k^2/2, on 64 leaves and 32 spines",
    ),
    Row(
        "definition-1.5/three-tier",
        "Definition 1.5",
        "65,536",
        lambda: topology.fat_tree(RADIX).hosts,
        "agrees",
        "k^3/4",
    ),
    Row(
        "definition-1.5/growth",
        "Definition 1.5",
        "O(N log N)",
        lambda: _switches(_tree(65_536, 3)) / _switches(_tree(32_768, 3)),
        "differs",
        "twice the hosts take twice the switches, (2t-1) N/k, while the tiers stay; N log N would"
        " be 2.13 times",
        between=(2.13, 2.14),
    ),
    Row(
        "definition-1.5/switch-price",
        "Definition 1.5",
        "$10,000-$50,000",
        lambda: QM9700.price_low,
        "assumed",
        "a switch of 64 ports, an input: $156 to $781 a port, where an optical link costs $500",
    ),
    Row(
        "definition-1.5/cost-4096",
        "Definition 1.5",
        "$20 M-$100 M",
        lambda: topology.bill(_tree(4096, 3)).switch_price[1],
        "differs",
        "320 switches at the section's $10,000 to $50,000 are $3.2 to 16 M; $20 M needs $62,500"
        " each (E-08)",
    ),
    Row(
        "definition-1.5/switches-4096",
        "Fat-tree for 4,096 GPUs",
        "hundreds",
        lambda: _switches(_tree(4096, 3)),
        "agrees",
        "128 leaves, 128 spines, 64 cores",
        between=(200, 999),
    ),
    Row(
        "definition-1.5/cables-4096",
        "Fat-tree for 4,096 GPUs",
        "tens of thousands",
        lambda: sum(_tree(4096, 3).cables.values()),
        "agrees",
        "3 x 4,096; optical are the 8,192 between switches, if the hosts' own are copper",
        between=(10_000, 99_999),
    ),
    Row(
        "definition-1.5/pods-4096",
        "two pods and a bridging core",
        "2,048",
        _pod,
        "differs",
        "a three-tier pod has k^2/4 = 1,024 hosts, so 4,096 are four; a 2,048-host two-tier fabric"
        " uses every spine port downwards and has none for a core (E-08)",
    ),
    Row(
        "definition-1.5/pod",
        "Two tiers in a larger tree",
        "1,024",
        _pod,
        "agrees",
        "(k/2)^2: 32 leaves, 32 spines with half their ports upwards",
    ),
    Row(
        "definition-1.5/same-switches",
        "'the same switches accounted differently'",
        "96",
        lambda: _switches(_tree(1024, 3)) - _tree(1024, 3).switches["core"],
        "differs",
        "2,048 hosts take 64 + 32 switches; a 1,024-host pod 32 + 32, or 32 + 16 where no core"
        " follows (E-08)",
    ),
    Row(
        "definition-1.5/switches-65536",
        "Fat-tree, full",
        "5,120",
        lambda: _switches(_tree(65_536, 3)),
        "agrees",
        "5k^2/4: 2,048 leaves, 2,048 spines, 1,024 cores",
    ),
    Row(
        "definition-1.5/switches-65536-older",
        "older edition",
        "4,096",
        lambda: _switches(_tree(65_536, 3)),
        "differs",
        "leaves and spines alone; the 1,024 cores were left out",
    ),
    Row(
        "definition-1.5/cost-least",
        "Fat-tree, full",
        "$50 M",
        lambda: topology.bill(_tree(65_536, 3)).switch_price[0],
        "rounds",
        "5,120 x $10,000 = $51.2 M; the source prints a fixed number",
        step="$10 M",
    ),
    Row(
        "definition-1.5/cost-most",
        "Fat-tree, full",
        "$250 M",
        lambda: topology.bill(_tree(65_536, 3)).switch_price[1],
        "rounds",
        "5,120 x $50,000 = $256 M; the source prints a fixed number",
        step="$50 M",
    ),
    Row(
        "hops/two-tier",
        "Fat-tree, hop counts",
        "2",
        lambda: topology.paths(_tree()).links_on_path.worst - 2,
        "agrees",
        "cables between switches, leaf to spine to leaf",
    ),
    Row(
        "hops/three-tier",
        "Fat-tree, hop counts",
        "4",
        lambda: topology.paths(_tree(4096, 3)).links_on_path.worst - 2,
        "agrees",
        "cables between switches; 5 switches, 6 cables with the hosts'",
    ),
    Row(
        "hops/convention",
        "Fat-tree against Napkin Math 1.4",
        "2",
        lambda: _worst_switches(_tree()),
        "conflicts",
        "the same leaf-spine-leaf path: 2 hops as cables between switches, 3 as switches;"
        " Definition 1.1 gives 3 to a three-tier tree, which has 5 (E-09)",
        between=(2, 2),
        other="3",
    ),
    Row(
        "hops/radix",
        "Footnote on radix",
        "2,048",
        lambda: topology.fat_tree(RADIX, 2).hosts,
        "agrees",
        "64 ports of 400 Gb/s, two tiers",
    ),
    Row(
        "hops/radix-larger",
        "Footnote on radix",
        "128-256",
        None,
        "assumed",
        "ports for clusters towards 100,000: two tiers end at 8,192 and 32,768 hosts, so 100,000"
        " takes three tiers even then; two would need 448 ports",
        between=(128, 256),
    ),
    # Napkin Math 1.3
    Row("napkin-1.3/bisection", "Napkin Math 1.3", "25,600 GB/s", lambda: _cut(_tree()), "agrees"),
    Row(
        "napkin-1.3/bisection-older",
        "older edition, Napkin Math 1.3",
        "51.2 TB/s",
        lambda: _cut(_tree()),
        "differs",
        "that is what all 1,024 ranks inject; half of them face the other half",
    ),
    Row(
        "napkin-1.3/buffer",
        "Napkin Math 1.3",
        "100 GB",
        lambda: BUFFER,
        "assumed",
        "of each GPU, an input; more than an H100's memory of 80 GB",
    ),
    Row(
        "napkin-1.3/data",
        "Napkin Math 1.3",
        "51,200 GB",
        lambda: RANKS / 2 * BUFFER,
        "agrees",
        "every byte of one half sent across: a choice of the text, and no need of an AllReduce"
        " (E-15)",
    ),
    Row(
        "napkin-1.3/time-1-1",
        "Napkin Math 1.3",
        "2,000 ms",
        lambda: topology.every_buffer_across(BUFFER, RANKS, _cut(_tree())),
        "agrees",
        "as arithmetic. The cut's own bound for an AllReduce is 3.9 ms, an AllToAll's 1,000 ms"
        " (E-15)",
    ),
    Row(
        "napkin-1.3/time-4-1",
        "Napkin Math 1.3",
        "8,000 ms",
        lambda: topology.every_buffer_across(BUFFER, RANKS, _cut(_oversubscribed())),
        "agrees",
        "as arithmetic. The cut's own bound for an AllReduce is 15.6 ms, an AllToAll's 4,000 ms"
        " (E-15)",
    ),
    Row(
        "napkin-1.3/as-allreduce",
        "Napkin Math 1.3, as an AllReduce",
        "2,000 ms",
        lambda: topology.allreduce_port_bound(BUFFER, RANKS, NDR.beta),
        "differs",
        "2 (N-1)/N x 100 GB / 50 GB/s = 3,996 ms through every port, whatever the cut; 2,000 ms is"
        " M/beta, within reach only when switches do the sums (E-15)",
    ),
    Row(
        "napkin-1.3/slowdown-alltoall",
        "Napkin Math 1.3",
        "4x",
        lambda: (
            topology.alltoall_cut_bound(BUFFER, RANKS, 6.4 * TB)
            / topology.alltoall_cut_bound(BUFFER, RANKS, 25.6 * TB)
        ),
        "agrees",
        "right for an AllToAll, an upper bound for an AllReduce",
    ),
    Row(
        "napkin-1.3/capital",
        "Napkin Math 1.3",
        "$300 M",
        lambda: CAPITAL,
        "assumed",
        "the scenario's price of the cluster",
    ),
    Row(
        "napkin-1.3/waste",
        "Napkin Math 1.3",
        "$142.1 M",
        lambda: topology.wasted_money(CAPITAL, SHARE, 4),
        "agrees",
        "carried by one assumption: 30 % of every step crosses the 4:1 tier, unhidden and"
        " cut-bound, which a ring's AllReduce is not (E-15)",
    ),
    Row(
        "napkin-1.3/waste-older",
        "older edition, Napkin Math 1.3",
        "$75 M",
        lambda: topology.wasted_money(CAPITAL, SHARE, 4),
        "differs",
        "(1 - 1/(0.7 + 0.3 x 4)) x $300 M = $142.1 M; $75 M is a quarter of the capital",
    ),
    Row(
        "checkpoint-1.2/radix",
        "Checkpoint 1.2",
        "64",
        lambda: RADIX,
        "assumed",
        "NVIDIA Quantum-2: 64 ports of 400 Gb/s; the answers: 2,048 GPUs, maximum flow, two more"
        " switches or 1.2 us, bisection",
    ),
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
    # dragonfly and torus
    Row(
        "dragonfly/cabling",
        "Dragonfly, text against footnote",
        "50 %",
        lambda: 1 - _dragonfly().cables["global"] / _dragonfly().hosts,
        "conflicts",
        "two figures for one saving. Balanced, 1,056 hosts: 0.5 global cables a host, where a"
        " two-tier tree has 1 between switches and a three-tier one 2",
        other="52 %",
    ),
    Row(
        "dragonfly/taper",
        "Dragonfly",
        "25-50 %",
        _taper,
        "assumed",
        "of injection, between groups: a design's choice. A balanced dragonfly has 51.5 % at 1,056"
        " hosts and tends to 50 % as it grows; fewer global ports give less",
    ),
    Row(
        "dragonfly/slowdown",
        "Dragonfly",
        "2-4x",
        lambda: 1 / 0.25,
        "agrees",
        "1/0.5 = 2 and 1/0.25 = 4",
    ),
    Row(
        "torus/neighbours",
        "Torus",
        "6",
        lambda: topology.torus((16, 16, 16)).ports().max(),
        "agrees",
    ),
    Row(
        "torus/local",
        "Torus",
        "1-2",
        None,
        "assumed",
        "hops of local traffic: what a placement makes of it; the worst pair of 16x16x16 is 24"
        " apart",
        between=(1, 2),
    ),
    Row(
        "torus/moe",
        "Torus, MoE AllToAll",
        "2-4x",
        lambda: _cut(_tree(4096, 3)) / _cut(topology.torus((16, 16, 16))),
        "agrees",
        "16x16x16: 512 cables, 25.6 TB/s against a fat-tree's 102.4; only 4.3 TB/s if one 50 GB/s"
        " port feeds six cables, 24 times less",
    ),
    # Figure 11
    Row(
        "figure-11/fat-tree", "Figure 11, 1,024 GPUs", "25.6 TB/s", lambda: _cut(_tree()), "agrees"
    ),
    Row(
        "figure-11/dragonfly",
        "Figure 11, 1,024 GPUs",
        "20.0 TB/s",
        lambda: _cut(_dragonfly()),
        "differs",
        "78 % of the fat-tree, though the text says 25 to 50 %, 6.4 to 12.8 TB/s; the balanced one"
        " of 1,056 hosts has 272 cables, 13.6 TB/s (E-19)",
    ),
    Row(
        "figure-11/torus",
        "Figure 11, 1,024 GPUs",
        "8.0 TB/s",
        lambda: _cut(topology.torus((8, 8, 16))),
        "differs",
        "8x8x16: 128 cables x 50 GB/s = 6.4 TB/s; 8.0 would need 160 (E-19)",
    ),
    Row(
        "figure-11/rail",
        "Figure 11, 1,024 GPUs",
        "12.8 TB/s",
        lambda: _cut(_rails()),
        "differs",
        "25.6 TB/s between halves of the nodes; 0 between rails where no spine joins them; 12.8 is"
        " neither (E-19)",
    ),
    Row(
        "figure-11/butterfly",
        "Figure 11, 1,024 GPUs",
        "6.4 TB/s",
        None,
        "assumed",
        "no wiring is given that it would follow from; 1/4 of the fat-tree",
    ),
    Row(
        "figure-11/unit",
        "Figure 11, axis against caption",
        "25.6 Tb/s",
        lambda: _cut(_tree()),
        "conflicts",
        "the axis says Tb/s, the caption TB/s: 25.6 TB/s are 204.8 Tb/s (E-20)",
        other="25.6 TB/s",
    ),
    Row(
        "figure-11/cost-fat-tree",
        "Figure 11, dollars per Gb/s",
        "$3.0",
        None,
        "assumed",
        "illustrative: 204,800 Gb/s at that price are $614,000; 48 switches alone are $0.48 to"
        " 2.4 M",
    ),
    Row(
        "figure-11/cost-dragonfly",
        "Figure 11, dollars per Gb/s",
        "$4.0",
        None,
        "assumed",
        "dearer than the fat-tree, although half of the long cables are saved: the two claims do"
        " not go together (E-19)",
    ),
    Row(
        "figure-11/cost-torus",
        "Figure 11, dollars per Gb/s",
        "$1.5",
        None,
        "assumed",
        "illustrative: no switches, and neighbours wired in copper",
    ),
    Row(
        "figure-11/cost-rail",
        "Figure 11, dollars per Gb/s",
        "$2.0",
        None,
        "assumed",
        "illustrative: joined rails need the very switches and cables of the fat-tree",
    ),
    Row(
        "figure-11/cost-butterfly",
        "Figure 11, dollars per Gb/s",
        "$5.0",
        None,
        "assumed",
        "illustrative; the fewest stages and yet the dearest (E-19)",
    ),
    Row(
        "figure-11/cost-ratio",
        "Figure 11, fat-tree over torus",
        "2x",
        lambda: 3.0 / 1.5,
        "agrees",
        "of the figure's own prices",
    ),
    Row(
        "checkpoint-1.4/spine",
        "Checkpoint 1.4",
        "2:1",
        None,
        "assumed",
        "an input, with TP = 8 and a 175B model: the MoE traffic suffers more; place it inside"
        " a pod",
    ),
]
