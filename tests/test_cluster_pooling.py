"""Pools of memory: loads against a weighted mean, streams against a simulation of two pipes,
stranding by hand.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabriclab import cluster, transport
from fabriclab.units import GB, MB, ms, ns

PATHS = (85 * ns, 300 * GB, 165 * ns, 64 * GB)


@given(st.lists(st.booleans(), min_size=1, max_size=200))
def test_waiting_loads_add_up_one_by_one(far):
    """Loads that wait for each other would not take the sum of their own latencies."""
    by_hand = sum(165 * ns if pooled else 85 * ns for pooled in far)
    assert cluster.pooled_loads(len(far), sum(far) / len(far), 85 * ns, 165 * ns) == pytest.approx(
        by_hand, rel=1e-12
    )


def test_a_stream_on_one_side_is_the_alpha_beta_model():
    """A stream from one side alone would be another bill than that of any wire."""
    for share, (alpha, beta) in ((0, PATHS[:2]), (1, PATHS[2:])):
        assert cluster.pooled_stream(5 * GB, share, *PATHS) == pytest.approx(
            transport.transfer_time(5 * GB, alpha, beta), rel=1e-12
        )
    assert cluster.pooled_stream(0, 0.5, *PATHS) == 0


def test_a_stream_is_two_pipes_side_by_side():
    """Two pipes drained step by step would not end when the formula says, or the sides would wait
    for each other.
    """
    for share in (0.05, 0.17, 0.4, 0.9):
        left, step, now = [(1 - share) * 64 * MB, share * 64 * MB], 50 * ns, 0.0
        while max(left) > 0:
            now += step
            left = [
                max(0.0, rest - beta * step * (now > alpha))
                for rest, alpha, beta in zip(left, PATHS[::2], PATHS[1::2])
            ]
        assert cluster.pooled_stream(64 * MB, share, *PATHS) == pytest.approx(now, abs=4 * step)


def test_the_best_share_is_that_of_the_bandwidths():
    """The pool would not be bandwidth: at s = b'/(b + b') a long stream runs at the sum of both,
    and any other share is slower.
    """
    shares = np.linspace(0, 1, 10_001)
    times = cluster.pooled_stream(300 * GB, shares, *PATHS)
    assert shares[times.argmin()] == pytest.approx(
        64 / 364, abs=1e-4
    ) and times.min() == pytest.approx(300 / 364, rel=1e-3)


def test_stranding_by_hand():
    """Alike nodes of the largest demand against a pool of the largest sum would be counted
    otherwise.
    """
    assert cluster.stranded([[4, 1, 1, 2], [1, 4, 1, 1]]) == 0.5
    assert cluster.stranded([[3, 3, 3]]) == 0 and cluster.stranded([[8, 0, 0, 0]]) == 0.75


@given(
    st.integers(1, 6).flatmap(
        lambda n: st.lists(
            st.lists(st.floats(0, 1e12), min_size=n, max_size=n), min_size=1, max_size=6
        )
    )
)
def test_a_pool_is_never_larger_than_the_nodes(demands):
    """A pool would need more than alike nodes, or the order of nodes or the unit would matter."""
    if max(map(max, demands)) == 0:
        return
    share = cluster.stranded(demands)
    assert -1e-12 <= share < 1 and cluster.stranded(
        [row[::-1] for row in demands]
    ) == pytest.approx(share, abs=1e-12)


@pytest.mark.parametrize(
    "call, words",
    [
        (
            lambda: cluster.pooled_loads(1e6, 1.2, 85 * ns, 165 * ns),
            "share must be between 0 and 1",
        ),
        (
            lambda: cluster.pooled_loads(np.ones(2), 0.5, np.ones(3), 1.0),
            "loads and alpha must have shapes",
        ),
        (lambda: cluster.pooled_stream(1 * GB, 0.5, 0, 0, 0, 1), "beta must be more than zero"),
        (lambda: cluster.stranded([1, 2, 3]), "demands must be a table"),
        (lambda: cluster.stranded([[0.0, 0.0]]), "demands must be a table"),
        (lambda: cluster.stranded([[1.0, -1.0]]), "demands must be a table of zero or more"),
    ],
)
def test_refusals_name_the_argument(call, words):
    """Nonsense would give a number, or a message that does not say which argument it was."""
    with pytest.raises(ValueError, match=words):
        call()


def test_a_thousand_loads_in_figures():
    """The docstring's own numbers: a quarter of the loads in the pool make them a quarter of 80 ns
    slower on the mean.
    """
    assert cluster.pooled_loads(1e6, 0.25, 85 * ns, 165 * ns) == pytest.approx(105 * ms)
