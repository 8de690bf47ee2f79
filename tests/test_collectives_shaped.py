"""Collectives on tori, meshes and levels, against simulations by step and loads by link."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabriclab.collectives import (
    all_gather,
    hierarchical,
    hierarchical_allreduce,
    reduce_scatter,
    ring_allreduce,
    torus,
)

ALPHA, BETA, SIZE = 3.0, 2.0, 840.0


def gathered_step_by_step(k, closed):
    """Seconds of an AllGather of k ranks in a ring or line: in each step every rank passes on, both
    ways, what came in the step before; in a ring of even k the last piece comes by halves.
    """
    piece = SIZE / k
    owned = [Counter({(rank, half): 1 for half in (0, 1)}) for rank in range(k)]
    moving = {(rank, way): [(rank, 0), (rank, 1)] for rank in range(k) for way in (-1, 1)}
    seconds = 0.0
    while any(sum(o.values()) < 2 * k for o in owned):
        arriving, fullest = {}, 0.0
        for (rank, way), pieces in moving.items():
            to = (rank + way) % k if closed else rank + way
            if not 0 <= to < k:
                continue
            sent = [p for p in pieces if not owned[to][p]]
            # met from both sides in one step: one half from either
            clash = [p for p in sent if p in arriving.get((to, -way), ())]
            both = closed and 2 * (abs(to - sent[0][0]) % k) == k if sent else False
            if both or clash:
                sent = [p for p in sent if p[1] == (way > 0)]
            arriving[to, way] = sent
            fullest = max(fullest, len(sent) * piece / 2)
        for (rank, _), pieces in arriving.items():
            for p in pieces:
                owned[rank][p] += 1
        assert all(most == 1 for o in owned for most in o.values())  # nothing comes twice
        moving = arriving
        seconds += ALPHA + fullest / BETA
    return seconds


@pytest.mark.parametrize("k", range(1, 18))
@pytest.mark.parametrize("closed", [True, False])
def test_a_ring_and_a_line_step_by_step(k, closed):
    """Two ports of an axis would not halve a ring's bytes, or would halve a line's; or the steps be
    miscounted.
    """
    by_steps = gathered_step_by_step(k, closed and k > 2)
    found = [torus(kind, SIZE, (k,), ALPHA, BETA, wrap=closed)
             for kind in ("all_gather", "reduce_scatter", "all_reduce")]  # fmt: skip
    assert found == pytest.approx([by_steps, by_steps, 2 * by_steps])


def fullest_link(k, closed):
    """Bytes over the fullest link of one axis when each pair exchanges its piece the short way,
    both ways where they are equal.
    """
    load = Counter()
    for a, b in itertools.permutations(range(k), 2):
        ways = [range(a, b, 1 if b > a else -1)]
        steps = {1 if b > a else -1: abs(b - a)}
        if closed:
            steps = {1: (b - a) % k, -1: (a - b) % k}
        least = min(steps.values())
        ways = [way for way, n in steps.items() if n == least]
        for way in ways:
            for at in range(least):
                load[(a + way * at) % k, way] += SIZE / k / len(ways)
    return max(load.values(), default=0.0)


@pytest.mark.parametrize("k", range(1, 18))
@pytest.mark.parametrize("closed", [True, False])
def test_an_alltoall_along_an_axis_link_by_link(k, closed):
    """The fullest link of a ring or a line would carry other bytes than counted pair by pair."""
    closed = closed and k > 2
    steps = k // 2 if closed else k - 1
    assert torus("all_to_all", SIZE, (k,), ALPHA, BETA, wrap=closed) == pytest.approx(
        steps * ALPHA + fullest_link(k, closed) / BETA
    )


def fullest_of_dimension_order(sides):
    """Bytes over the fullest link of each axis of a torus when all pairs exchange SIZE/N, axis by
    axis, the short way.
    """
    places = list(itertools.product(*map(range, sides)))
    load = Counter()
    for a, b in itertools.permutations(places, 2):
        here = list(a)
        for axis, k in enumerate(sides):
            ahead, back = (b[axis] - a[axis]) % k, (a[axis] - b[axis]) % k
            least = min(ahead, back)
            for way in [w for w, n in ((1, ahead), (-1, back)) if n == least and least]:
                for at in range(least):
                    place = (*here[:axis], (a[axis] + way * at) % k, *here[axis + 1 :])
                    load[place, axis, way] += SIZE / len(places) / (1 + (ahead == back))
            here[axis] = b[axis]
    return [max(n for (_, at, _), n in load.items() if at == axis) for axis in range(len(sides))]


@pytest.mark.parametrize("sides", [(4, 3), (3, 3, 3), (4, 6)])
def test_an_alltoall_on_a_torus_link_by_link(sides):
    """Several axes would carry other bytes than dimension-order routes put on them."""
    assert torus("all_to_all", SIZE, sides, 0, BETA) == pytest.approx(
        sum(fullest_of_dimension_order(sides)) / BETA
    )


@pytest.mark.parametrize("kind", ["all_gather", "reduce_scatter", "all_reduce"])
def test_axes_one_after_another_and_at_once(kind):
    """By hand, 4 x 8 places: 840 bytes along 4, then a quarter along 8. At once: a half begins with
    either axis, and each phase waits for the longer side.
    """
    twice = 2 if kind == "all_reduce" else 1

    def ring(size, k):
        return k // 2 * ALPHA + (k - 1) / (2 * k) * size / BETA

    one = ring(SIZE, 4) + ring(SIZE / 4, 8)
    assert torus(kind, SIZE, (4, 8), ALPHA, BETA) == pytest.approx(twice * one)
    halves = ring(SIZE / 2, 8) + max(ring(SIZE / 2 / 4, 8), ring(SIZE / 2 / 8, 4))
    assert torus(kind, SIZE, (4, 8), ALPHA, BETA, at_once=True) == pytest.approx(twice * halves)
    # one axis closed, one not
    line = 7 * (ALPHA + SIZE / 4 / 8 / BETA)
    assert torus(kind, SIZE, (4, 8), ALPHA, BETA, wrap=(True, False)) == pytest.approx(
        twice * (ring(SIZE, 4) + line)
    )


@given(st.integers(2, 9), st.integers(1, 3), st.floats(1, 1e9))
def test_equal_axes_at_once_fill_all_ports(k, axes, size):
    """Without start-ups a cube's axes at once would not be as many times faster as there are axes;
    and no port would be left idle: 2 d beta is what a host of a closed torus has.
    """
    slow, fast = (torus("all_gather", size, (k,) * axes, 0, BETA, at_once=a) for a in (False, True))
    assert fast == pytest.approx(slow / axes)
    if k > 2:
        ranks = k**axes
        assert fast == pytest.approx((ranks - 1) / ranks * size / (2 * axes * BETA))


def test_two_places_have_one_cable():
    """A side of 2 would be given two cables, which `topology.torus` has not."""
    assert (
        torus("all_gather", 8.0, (2,), 0, 1.0) == torus("all_gather", 8.0, (2,), 0, 1.0, False) == 4
    )
    assert torus("all_to_all", 8.0, (2,), 0, 1.0) == 4


def pipelined(phases, chunks):
    """When the last of `chunks` leaves the last of `phases`: each level serves one chunk at a time,
    in order.
    """
    free = [0.0] * len(phases)
    for _ in range(chunks):
        ready = 0.0
        for level, seconds in enumerate(phases):
            ready = free[level] = max(ready, free[level]) + seconds
    return ready


LEVELS = st.lists(
    st.tuples(st.integers(1, 16), st.floats(0, 5), st.floats(0.1, 100)), min_size=1, max_size=4
)


@given(LEVELS, st.floats(0, 1e4), st.integers(1, 12))
def test_levels_chunk_by_chunk(levels, size, chunks):
    """Phases would not add up for one chunk, or several overlap in a way that no schedule has; an
    AllReduce be other than a ReduceScatter and an AllGather.
    """
    phases, left = [], size / chunks
    for ranks, alpha, beta in levels:
        phases.append(reduce_scatter(left, ranks, alpha, beta))
        left /= ranks
    once = pipelined(phases, chunks)
    assert hierarchical("reduce_scatter", size, levels, chunks) == pytest.approx(once)
    assert hierarchical("all_gather", size, levels, chunks) == pytest.approx(
        pipelined(phases[::-1], chunks)
    )
    assert hierarchical("all_reduce", size, levels, chunks) == pytest.approx(2 * once)


def test_levels_agree_with_what_was_there():
    """One level would not be the flat ring, or two not `hierarchical_allreduce`; over equal links
    and without start-ups any depth is the flat ring.
    """
    assert hierarchical("all_gather", SIZE, [(8, ALPHA, BETA)]) == all_gather(SIZE, 8, ALPHA, BETA)
    two = hierarchical("all_reduce", SIZE, [(8, 0.5, 9.0), (16, ALPHA, BETA)])
    assert two == pytest.approx(hierarchical_allreduce(SIZE, 16, 8, ALPHA, BETA, 0.5, 9.0))
    deep = hierarchical("all_reduce", SIZE, [(n, 0, BETA) for n in (2, 3, 4, 5)])
    assert deep == pytest.approx(ring_allreduce(SIZE, 120, 0, BETA))
    many = hierarchical("all_reduce", np.array([0.0, SIZE]), [(4, 1, 1), (2, 1, 1)], [[1], [4]])
    assert many.shape == (2, 2)


@pytest.mark.parametrize(
    "call, word",
    [
        (lambda: torus("allreduce", 1, (4,), 0, 1), "collective must be one of"),
        (lambda: torus("all_reduce", 1, 4, 0, 1), "sides must be"),
        (lambda: torus("all_reduce", 1, (), 0, 1), "sides must be"),
        (lambda: torus("all_reduce", 1, (4, 0), 0, 1), "sides must be"),
        (lambda: torus("all_reduce", 1, (4, 4), 0, 1, wrap=(True,)), "wrap must be"),
        (lambda: torus("all_reduce", 1, (4, 4), 0, 1, wrap="no"), "wrap must be"),
        (lambda: torus("all_reduce", 1, (4, 4), 0, 1, at_once=1), "at_once must be"),
        (lambda: torus("all_reduce", [1, 2], (4, 4), [1, 2, 3], 1), "size and alpha"),
        (lambda: hierarchical("broadcast", 1, [(2, 0, 1)]), "collective must be one of"),
        (lambda: hierarchical("all_reduce", 1, []), "levels must be"),
        (lambda: hierarchical("all_reduce", 1, 5), "levels must be"),
        (lambda: hierarchical("all_reduce", 1, [(2, 1)]), "levels must be"),
        (lambda: hierarchical("all_reduce", 1, [(2.5, 0, 1)]), "levels must be"),
        (lambda: hierarchical("all_reduce", 1, [(2, 0, 1)], 0), "chunks must be"),
    ],
)
def test_nonsense_is_refused_by_name(call, word):
    """Sides that are none, a flag in words or levels of another form would pass."""
    with pytest.raises(ValueError, match=f"^{word}"):
        call()


def test_a_tpu_slice():
    """A number to check: 16 chips in a ring, 45 GB/s each way a link; an AllGather of 256 MB takes
    15/32 x 256 MB / 45 GB/s = 2.67 ms, an AllToAll 16/8 x 256 MB / 45 GB/s.
    """
    assert torus("all_gather", 256e6, (16,), 0, 45e9) == pytest.approx(15 / 32 * 256e6 / 45e9)
    assert torus("all_to_all", 256e6, (16,), 0, 45e9) == pytest.approx(2 * 256e6 / 45e9)
    assert math.isclose(15 / 32 * 256e6 / 45e9, 2.667e-3, rel_tol=1e-3)


def test_an_all_to_all_over_levels_moves_every_byte_once_a_level():
    """Pieces would be sent across a level more than once, or not at all: every piece is walked,
    first to the rank of its own group that stands where it is going, then across.
    """
    inner, outer = 4, 3
    size, beta = 12e6, (5e9, 1e9)
    sent = np.zeros((2, inner * outer))
    for source in range(inner * outer):
        for target in range(inner * outer):
            by = source // inner * inner + target % inner
            sent[0, source] += (source != by) * size / (inner * outer)
            sent[1, by] += (by != target) * size / (inner * outer)
    busy = sum(row.max() / rate for row, rate in zip(sent, beta))
    start_ups = (inner - 1) * 2e-6 + (outer - 1) * 5e-6
    levels = [(inner, 2e-6, beta[0]), (outer, 5e-6, beta[1])]
    assert hierarchical("all_to_all", size, levels) == pytest.approx(busy + start_ups)
