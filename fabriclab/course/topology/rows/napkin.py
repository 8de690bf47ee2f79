"""Rows of level 3: Napkin Math 1.3 and 1.4."""

from fabriclab import topology
from fabriclab.catalog import NDR
from fabriclab.course.engine.ledger import Row
from fabriclab.course.topology.rows.common import (
    BUFFER,
    CAPITAL,
    RADIX,
    RANKS,
    SHARE,
    _cut,
    _oversubscribed,
    _tree,
)
from fabriclab.units import TB

ROWS = [
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
]
