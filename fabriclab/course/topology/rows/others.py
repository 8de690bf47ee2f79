"""Rows of level 3: dragonfly, torus and the rest."""

from functools import cache

from fabriclab import topology
from fabriclab.catalog import NDR
from fabriclab.course.engine.ledger import Row
from fabriclab.course.topology.rows.common import _cut, _rails, _tree


@cache
def _dragonfly():
    return topology.dragonfly(4, 8, 4)


def _taper():
    """Bisection of a balanced dragonfly of 16,512 hosts, as a share of what half of them inject."""
    fly = topology.dragonfly(8, 16, 8)
    return _cut(fly) / (fly.hosts / 2 * NDR.beta)


ROWS = [
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
