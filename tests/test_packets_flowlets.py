"""Flowlets in the packet simulator: a burst keeps its path, and the next one may take another."""

import numpy as np
import pytest

from fabriclab.packets import Flows, run
from fabriclab.topology import fat_tree, leaf_spine
from fabriclab.units import GB, KB, us

RATE, PACKET = 5 * GB, 1000
LASTS = PACKET / RATE
# two leaves, two spines, two hosts per leaf: hosts 0 and 1 send to 2 and 3
TREE = leaf_spine(2, 2, 2, 2, bandwidth=RATE)
WORDS = (
    "completion sent delivered discarded dropped retransmitted carried busy peak pauses duration"
).split()


def uplinks(end):
    """Bytes that each of leaf 0's two cables to spines carried."""
    return sorted(end.carried[(end.ports[:, 0] == 4) & (end.ports[:, 1] > 5)].tolist())


def test_a_flow_in_turn_with_another_moves_only_where_the_gap_is_shorter_than_its_pauses():
    """Two flows of one host take turns, so each comes to the leaf every other packet time. A gap
    longer than that must never move a flow (one flow per spine, and nothing out of order); else
    the timer would run from the burst's beginning instead of from its last packet.
    """
    flows = Flows([0, 0], [2, 3], 100 * KB)
    longer = run(TREE, flows, packet=PACKET, routing="flowlet", gap=2.01 * LASTS)
    assert uplinks(longer) == [100 * KB, 100 * KB]
    assert longer.discarded.sum() == 0
    alone = run(TREE, Flows(0, 2, 100 * KB), packet=PACKET, routing="flowlet", gap=1.01 * LASTS)
    assert uplinks(alone) == [0, 100 * KB]  # a sender without pauses has no flowlets


def test_a_gap_of_nothing_is_adaptive_routing():
    """Every packet then begins a flowlet: the same draws and the same choices to the last bit."""
    flows = Flows([0, 1, 0], [2, 3, 3], [90 * KB, 70 * KB, 50 * KB])
    options = {"packet": PACKET, "recovery": "selective", "seed": 3}
    one = run(TREE, flows, routing="flowlet", gap=1e-12, **options)
    other = run(TREE, flows, routing="adaptive", **options)
    for name in WORDS:
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


def test_nothing_is_overtaken_where_the_gap_covers_the_skew():
    """A gap above what paths' queues can differ by must reorder nothing, and still finish sooner
    than a hash that collides; a gap of nothing reorders, so go-back-N sends again.
    """
    tree = fat_tree(4, bandwidth=RATE)
    order = np.random.default_rng(5).permutation(16)
    flows = Flows(order, np.roll(order, 1), 200 * KB)
    none, some = (
        run(tree, flows, packet=PACKET, routing="flowlet", gap=gap) for gap in (1e-12, 400 * us)
    )
    assert none.discarded.sum() > 0 and some.discarded.sum() == 0
    assert some.duration <= run(tree, flows, packet=PACKET).duration


def test_flowlets_spread_what_a_hash_puts_on_one_path():
    """Two flows whose hash collides share one cable; flowlets' first packets see the busy cable
    and take the other. Half the time, or the emptiest port was not looked for.
    """
    flows = Flows([0, 1], [2, 3], 200 * KB)
    seed = next(s for s in range(20) if uplinks(run(TREE, flows, packet=PACKET, seed=s))[0] == 0)
    slow = run(TREE, flows, packet=PACKET, seed=seed).duration
    quick = run(TREE, flows, packet=PACKET, seed=seed, routing="flowlet").duration
    assert quick == pytest.approx((slow + 4 * LASTS) / 2, rel=0.05)
