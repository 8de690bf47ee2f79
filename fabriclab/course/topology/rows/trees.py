"""Rows of level 3: trees of switches: sizes, tapers, bisection."""

from fabriclab import topology
from fabriclab.catalog import QM9700
from fabriclab.course.engine.ledger import Row
from fabriclab.course.topology.rows.common import RADIX, _tree, _worst_switches


def _switches(network):
    return sum(network.counts)


def _pod():
    """Hosts of one pod of the full three-tier tree."""
    return int((_tree(RADIX**3 // 4, 3).position[:, 0] == 0).sum())


ROWS = [
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
]
