"""Rows of level 3: definitions 1.3 to 1.5."""

from fabriclab import topology
from fabriclab.catalog import NDR
from fabriclab.course.engine.ledger import Row
from fabriclab.course.topology.rows.common import (
    BUFFER,
    RADIX,
    RANKS,
    SHARE,
    _cut,
    _oversubscribed,
    _tree,
)
from fabriclab.units import TB


def _dead_leaf():
    return topology.failures(topology.build(RANKS, RADIX, per_node=8))[0]


def _allreduce(cut):
    """Seconds below which no AllReduce of host sums gets: the port or the cut,
    whichever is slower.
    """
    return max(
        topology.allreduce_port_bound(BUFFER, RANKS, NDR.beta),
        topology.allreduce_ring_cut_bound(BUFFER, RANKS, cut),
    )


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
]
