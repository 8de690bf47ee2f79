"""Hashing: against every assignment written out, exact fractions, simulation, and published packet
simulations.
"""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import fullest_path_exact

from fabriclab import congestion


@pytest.mark.parametrize(
    "flows, paths", [(1, 1), (1, 5), (5, 1), (3, 3), (4, 3), (5, 4), (6, 3), (8, 4)]
)
def test_odds_against_every_assignment(flows, paths):
    """The odds of the fullest path, of an even split or an idle path would not be those counted
    over all m^n assignments.
    """
    loads = [Counter(a) for a in itertools.product(range(paths), repeat=flows)]
    fullest = Counter(max(load.values()) for load in loads)
    exact = fullest_path_exact(flows, paths)
    assert {k: p for k, p in exact.items() if p} == {
        k: Fraction(n, paths**flows) for k, n in fullest.items()
    }
    assert congestion.fullest_path(flows, paths) == pytest.approx(
        [fullest[k] / paths**flows for k in range(flows + 1)], abs=1e-12
    )
    even = sum(
        max(load.values()) <= -(-flows // paths)
        and min(load[i] for i in range(paths)) >= flows // paths
        for load in loads
    )
    assert congestion.even_split(flows, paths) == Fraction(even, paths**flows)
    assert congestion.idle_path(flows, paths) == Fraction(
        sum(len(load) < paths for load in loads), paths**flows
    )


def test_eight_flows_on_four_paths():
    """The chapter's case would not have the odds published for it: E[max] 3.538086, 3677/8192, 3.85
    %, 37.7 %, 59.3 %.
    """
    exact = fullest_path_exact(8, 4)
    assert sum(k * p for k, p in exact.items()) == pytest.approx(
        3.538086, abs=5e-7
    ) and congestion.mean_fullest(8, 4) == pytest.approx(3.538086, abs=5e-7)
    assert sum(p for k, p in exact.items() if k >= 4) == Fraction(3677, 8192)
    assert float(congestion.even_split(8, 4)) == pytest.approx(0.0385, abs=5e-5)
    assert float(congestion.idle_path(8, 4)) == pytest.approx(0.377, abs=5e-4)
    assert congestion.mean_speed(8, 4) == pytest.approx(0.593, abs=5e-4)


@pytest.mark.parametrize("n", [1, 4, 16, 50])
def test_no_collision_among_equals(n):
    """n flows on n paths would not miss each other with chance n!/n^n."""
    assert (
        congestion.even_split(n, n)
        == Fraction(math.factorial(n), n**n)
        == fullest_path_exact(n, n)[1]
    )


@given(st.integers(1, 24), st.integers(1, 60))
def test_floats_agree_with_fractions(flows, paths):
    """The fast way would lose digits, or odds that do not add up to one."""
    odds = congestion.fullest_path(flows, paths)
    exact = fullest_path_exact(flows, paths)
    assert (
        sum(exact.values()) == 1 and odds.sum() == pytest.approx(1, abs=1e-12) and odds.min() >= 0
    )
    assert odds == pytest.approx([float(exact.get(k, 0)) for k in range(flows + 1)], abs=1e-11)


@pytest.mark.parametrize("flows, paths", [(4032, 64), (4032, 16), (500, 1000), (10_000, 2)])
def test_many_flows_against_simulation(flows, paths):
    """A 64-rank AllToAll's fullest path would not be what random hashing gives."""
    mean = congestion.mean_fullest(flows, paths)
    rng = np.random.default_rng(1)
    drawn = rng.multinomial(flows, np.full(paths, 1 / paths), size=4000).max(axis=1)
    assert mean == pytest.approx(drawn.mean(), abs=4 * drawn.std() / math.sqrt(4000) + 1e-9)


def test_extremes_of_the_exact_odds():
    """The largest cases allowed would hang or break: as many paths as flows, one path, far more
    paths than flows.
    """
    for flows, paths in ((10_000, 10_000), (10_000, 1), (2, 10_000), (10_000, 3)):
        odds = congestion.fullest_path(flows, paths)
        assert odds.size == flows + 1 and odds.sum() == pytest.approx(1, abs=1e-9)
    assert congestion.fullest_path(2, 10_000)[2] == pytest.approx(1e-4, rel=1e-6)


def slowest(choice, trials, pieces=16):
    return float(
        congestion.permutation_slowdown(8, choice, trials, pieces, seed=3).max(axis=1).mean()
    )


def test_permutations_against_published_simulations():
    """The slowest flow of a permutation at k = 8: 4.3 times the ideal under hashing (htsim
    4.0-5.2), 1.2 sprayed over 128 paths.
    """
    assert slowest("hashing", 200) == pytest.approx(4.3, abs=0.1)
    assert slowest("spraying", 20, 128) == pytest.approx(1.2, abs=0.05)


def test_choices_rank_as_they_see():
    """Moving bursts would not help a flow on its mean path, or seeing the load help less than not
    seeing it.
    """
    flowlets, sprayed, adaptive = (
        slowest("flowlets", 20),
        slowest("spraying", 20),
        slowest("adaptive", 2),
    )
    assert 1 <= adaptive < sprayed < flowlets < slowest("hashing", 20)
    assert slowest("adaptive", 4, pieces=1) < 2.5


def test_the_smallest_tree_by_hand():
    """With k = 2 there is one path between any two hosts and no collision in a permutation: every
    flow takes 1.
    """
    for choice in congestion.CHOICES:
        assert np.all(congestion.permutation_slowdown(2, choice, 3, 2) == 1)


def test_links_of_a_path_against_the_tree():
    """Two flows would share a link that they do not share in the tree, or the other way round (k =
    4, all pairs and paths).
    """
    from fabriclab.congestion.fattree import _links

    def by_hand(source, target, up, core):
        edge, pod = (lambda h: h // 2), (lambda h: h // 4)
        if edge(source) == edge(target):
            return set()
        links = {("up", edge(source), up), ("down", edge(target), up)}
        return (
            links
            if pod(source) == pod(target)
            else links | {("up2", pod(source), up, core), ("down2", pod(target), up, core)}
        )

    names = {}
    for source, target, up, core in itertools.product(range(16), range(16), range(2), range(2)):
        got = _links(
            4, np.array([source]), np.array([target]), np.array([up]), np.array([core])
        ).ravel()
        wanted = by_hand(source, target, up, core)
        assert sum(got >= 0) == len(wanted)
        layers = {"up": 0, "up2": 1, "down2": 2, "down": 3}
        for name in wanted:
            number = int(got[layers[name[0]]])
            assert names.setdefault(number, name) == name
    assert len(names) == len(set(names.values())) == 64 and max(names) < 4**3


def test_same_seed_same_permutations():
    """A figure would change from one run to the next."""
    a, b = (congestion.permutation_slowdown(4, "adaptive", 2, 2, seed=9) for _ in range(2))
    assert np.array_equal(a, b)


def test_reordering_against_drawn_delays():
    """The chance to be overtaken by the next packet would not be that of independent exponential
    delays.
    """
    rng = np.random.default_rng(6)
    delay = rng.exponential(0.8, 400_000)
    assert np.mean(delay[:-1] > delay[1:] + 0.3) == pytest.approx(
        congestion.reordering(0.3, 0.8), abs=0.003
    )
    assert congestion.reordering(1, 0) == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda: congestion.fullest_path(0, 4),
        lambda: congestion.fullest_path(4, 2.5),
        lambda: congestion.fullest_path(20_000, 2),
        lambda: congestion.even_split(4, 0),
        lambda: congestion.idle_path(-1, 2),
        lambda: congestion.permutation_slowdown(5, "hashing"),
        lambda: congestion.permutation_slowdown(4, "luck"),
        lambda: congestion.permutation_slowdown(4, "hashing", 0),
        lambda: congestion.reordering(0, 1),
        lambda: congestion.all_to_all_flows(0),
    ],
)
def test_bad_input_is_refused(call):
    """A wrong argument would give a wrong number, or a hang, instead of a ValueError."""
    with pytest.raises(ValueError, match="must be"):
        call()
