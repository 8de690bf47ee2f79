"""Level 2, many ranks: the cost formulas against schedules carried out step by step on real
data.
"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabriclab import collectives as c
from fabriclab.units import GB, KB, MB, us

A, B = 1.5 * us, 50 * GB
REDUCING = [
    c.ring_allreduce,
    c.tree_allreduce,
    c.pipelined_tree_allreduce,
    c.recursive_doubling_allreduce,
    c.rabenseifner_allreduce,
]
EVERY = REDUCING + [c.reduce_scatter, c.all_gather, c.all_to_all, c.broadcast]


def play(rounds):
    """Seconds for rounds of simultaneous messages given as byte counts: a round lasts as long as
    its largest message.
    """
    return sum(A + max(r) / B for r in rounds if r)


def ring_schedule(data):
    """AllReduce around a ring on real numbers, chunk by chunk; gives (result, rounds of byte
    counts).
    """
    n, size = data.shape
    parts = [np.array_split(row.copy(), n) for row in data]
    rounds = []
    for step in range(2 * (n - 1)):
        moving = [
            (r, (r - step) % n if step < n - 1 else (r - step + n) % n, (r + 1) % n)
            for r in range(n)
        ]
        sent = [(src, chunk, dst, parts[src][chunk].copy()) for src, chunk, dst in moving]
        for _, chunk, dst, values in sent:
            parts[dst][chunk] = parts[dst][chunk] + values if step < n - 1 else values
        rounds.append([8 * values.size for *_, values in sent])
    return np.array([np.concatenate(p) for p in parts]), rounds


def fold(values, rounds):
    """Ranks beyond the largest power of two hand their data to a partner; gives that power."""
    n, size = values.shape
    whole = 2 ** int(math.log2(n))
    if n > whole:
        values[: n - whole] += values[whole:]
        rounds.append([8 * size] * (n - whole))
    return whole


def tell(values, whole, rounds):
    """The ranks folded in are told the result."""
    n, size = values.shape
    if n > whole:
        values[whole:] = values[: n - whole]
        rounds.append([8 * size] * (n - whole))


def doubling_schedule(data):
    """Recursive doubling on real numbers, extra ranks folded in first and told last."""
    n, size = data.shape
    values, rounds = data.copy(), []
    whole = fold(values, rounds)
    distance = 1
    while distance < whole:
        values[:whole] = values[:whole] + values[[r ^ distance for r in range(whole)]]
        rounds.append([8 * size] * whole)
        distance *= 2
    tell(values, whole, rounds)
    return values, rounds


def rabenseifner_schedule(data):
    """Recursive halving ReduceScatter, then recursive doubling AllGather, on real numbers (size
    divisible by the power of two).
    """
    n, size = data.shape
    values, rounds = data.copy(), []
    whole = fold(values, rounds)
    low, high = np.zeros(whole, int), np.full(whole, size)
    distance = whole // 2
    while distance >= 1:
        before, sizes = values.copy(), []
        for r in range(whole):
            middle = (low[r] + high[r]) // 2
            if r & distance:
                low[r] = middle
            else:
                high[r] = middle
            values[r, low[r] : high[r]] += before[r ^ distance, low[r] : high[r]]
            sizes.append(8 * (high[r] - low[r]))
        rounds.append(sizes)
        distance //= 2
    distance = 1
    while distance < whole:
        before, l0, h0 = values.copy(), low.copy(), high.copy()
        for r in range(whole):
            p = r ^ distance
            values[r, l0[p] : h0[p]] = before[p, l0[p] : h0[p]]
            low[r], high[r] = min(l0[r], l0[p]), max(h0[r], h0[p])
        rounds.append([8 * (h0[r] - l0[r]) for r in range(whole)])
        distance *= 2
    tell(values, whole, rounds)
    return values, rounds


def tree_schedule(data):
    """Binomial tree up to rank 0 and down again on real numbers."""
    n, size = data.shape
    values, up, distance = data.copy(), [], 1
    while distance < n:
        pairs = [(r, r + distance) for r in range(0, n, 2 * distance) if r + distance < n]
        for parent, child in pairs:
            values[parent] += values[child]
        up.append(pairs)
        distance *= 2
    for pairs in reversed(up):
        for parent, child in pairs:
            values[child] = values[parent]
    return values, [[8 * size] * len(pairs) for pairs in up + up[::-1]]


@pytest.mark.parametrize("n", [2, 3, 4, 5, 7, 8, 12, 16])
@pytest.mark.parametrize(
    "schedule, cost",
    [
        (ring_schedule, c.ring_allreduce),
        (tree_schedule, c.tree_allreduce),
        (doubling_schedule, c.recursive_doubling_allreduce),
        (rabenseifner_schedule, c.rabenseifner_allreduce),
    ],
)
def test_cost_is_that_of_a_schedule_that_really_sums(schedule, cost, n):
    """A formula would not be the cost of any schedule that leaves the sum on every rank."""
    whole = 2 ** int(math.log2(n))
    data = np.random.default_rng(n).integers(0, 100, (n, 6 * n * whole)).astype(float)
    result, rounds = schedule(data)
    assert (result == data.sum(axis=0)).all()
    assert cost(8 * data.shape[1], n, A, B) == pytest.approx(play(rounds), rel=1e-12)


def test_published_table():
    """The independently computed table for N = 1024, 1.5 us, 50 GB/s (1 kB, 1 MB, 1 GB) would not
    come out.
    """
    table = {
        1 * KB: (3069.04, 30.4, 15.2, 30.04),
        1 * MB: (3108.96, 430, 215, 69.96),
        1 * GB: (43_029.9, 400_030, 200_015, 39_990.9),
    }
    for size, row in table.items():
        got = [
            f(size, 1024, A, B) / us
            for f in (
                c.ring_allreduce,
                c.tree_allreduce,
                c.recursive_doubling_allreduce,
                c.rabenseifner_allreduce,
            )
        ]
        assert got == pytest.approx(row, rel=1e-4)


def test_against_a_public_simulator():
    """A packet-free public simulator's ring of 16 over 1 MiB (its GB is 2^30, 500 ns a hop) would
    part from ours.

    ASTRA-sim's analytical back end, point to point: one hop store-and-forward costs alpha + n/beta;
    its 4-hop figure is 60,093 ns for 3 hops of 20,031 ns each.
    """
    assert c.broadcast(2**20, 2, 500e-9, 50 * 2**30) * 1e9 == pytest.approx(20_031, abs=1)
    assert 3 * c.broadcast(2**20, 2, 500e-9, 50 * 2**30) * 1e9 == pytest.approx(60_093, abs=2)


def test_pipelined_tree_takes_the_best_number_of_chunks():
    """The chosen chunk count would not be the best one (scanned by brute force), or k = 1 would not
    be the plain tree.
    """
    for size, n in itertools.product(
        [0, 1, 1 * KB, 64 * KB, 1 * MB, 30 * MB], [2, 3, 8, 100, 1024]
    ):
        best = min(
            c.pipelined_tree_allreduce(size, n, A, B, chunks=k)
            for k in range(1, 5001)
            if k <= max(size, 1)
        )
        assert c.pipelined_tree_allreduce(size, n, A, B) == pytest.approx(best, rel=1e-12)
        assert c.pipelined_tree_allreduce(size, n, A, B, chunks=1) == pytest.approx(
            c.tree_allreduce(size, n, A, B)
        )


def test_pipeline_against_a_chunk_by_chunk_run():
    """L + k - 1 would not be the number of steps that k chunks need through L hops."""
    hops, chunks = 5, 7
    done = np.zeros((hops + 1, chunks))  # step in which chunk c reaches depth d
    for d, k in itertools.product(range(1, hops + 1), range(chunks)):
        done[d, k] = 1 + max(done[d - 1, k], done[d, k - 1] if k else 0)
    assert c.pipelined_tree_allreduce(chunks * MB, 2**hops, A, B, chunks=chunks) == pytest.approx(
        2 * done[-1, -1] * (A + 1 * MB / B)
    )


@given(st.floats(0, 1e13), st.integers(1, 200), st.integers(1, 64))
def test_hierarchical_over_equal_links_moves_the_rings_bytes(size, nodes, per_node):
    """The three-stage AllReduce over equal links would not have exactly the flat ring's bandwidth
    term.
    """
    assert c.hierarchical_allreduce(size, nodes, per_node, 0, B, 0, B) == pytest.approx(
        c.ring_allreduce(size, nodes * per_node, 0, B), rel=1e-9
    )
    steps = c.hierarchical_allreduce(0, nodes, per_node, 1, B, 1, B)
    assert steps == 2 * (per_node - 1) + 2 * (nodes - 1)


@given(
    st.sampled_from(EVERY),
    st.one_of(st.floats(0, 1e60), st.integers(0, 2**70)),
    st.one_of(st.integers(1, 10**18), st.just(10**50)),
    st.floats(0, 1e60),
    st.floats(1e-60, 1e60),
)
def test_any_sensible_input_gives_a_time(cost, size, ranks, alpha, beta):
    """Extremes would give NaN, a negative time, a warning or a crash."""
    time = cost(size, ranks, alpha, beta)
    assert type(time) is float and time >= 0


@given(st.sampled_from(EVERY), st.integers(1, 5000), st.floats(0, 1e12), st.floats(0, 1e12))
def test_more_bytes_never_take_less(cost, ranks, size, more):
    """A larger buffer would be cheaper."""
    assert cost(size, ranks, A, B) <= cost(size + more, ranks, A, B) * (1 + 1e-12)


@pytest.mark.parametrize("cost", EVERY)
def test_one_rank_two_ranks_no_bytes_and_arrays(cost):
    """One rank would talk to itself, two would not meet in the middle, or an array would not match
    its scalars.
    """
    assert cost(1 * GB, 1, A, B) == 0
    assert cost(0, 2, A, B) in (pytest.approx(A), pytest.approx(2 * A))
    n, m = np.array([[1], [2], [3], [1024]]), np.array([0, 1 * KB, 6 * GB])
    assert cost(m, n, A, B) == pytest.approx(
        np.array([[cost(float(x), int(y), A, B) for x in m] for y in n[:, 0]])
    )


@pytest.mark.parametrize(
    "bad, word",
    [
        ((-1, 2, 0, 1), "size"),
        ((1, 0, 0, 1), "ranks"),
        ((1, 2.5, 0, 1), "ranks"),
        ((1, 2, -1, 1), "alpha"),
        ((1, 2, 0, 0), "beta"),
        ((1, [2, 2.5], 0, 1), "ranks"),
        ((math.inf, 2, 0, 1), "size"),
    ],
)
@pytest.mark.parametrize("cost", EVERY)
def test_nonsense_is_refused_by_name(cost, bad, word):
    """Bad input would pass as a number, or fail without saying which argument is wrong."""
    with pytest.raises(ValueError, match=f"^{word}"):
        cost(*bad)


def test_bus_factor():
    """busbw would not be the links' rate for a perfect ring, at any rank count, or an unknown name
    would pass.
    """
    for n in (2, 3, 16, 1000):
        assert 1 * GB / c.ring_allreduce(1 * GB, n, 0, B) * c.bus_factor(
            "all_reduce", n
        ) == pytest.approx(B)
        assert 1 * GB / c.reduce_scatter(1 * GB, n, 0, B) * c.bus_factor(
            "reduce_scatter", n
        ) == pytest.approx(B)
        assert 1 * GB / c.all_to_all(1 * GB, n, 0, B) * c.bus_factor(
            "alltoall", n
        ) == pytest.approx(B)
        for shared in ("all_to_all", "gather", "scatter", "hypercube", "all_gather"):
            assert c.bus_factor(shared, n) == (n - 1) / n
    assert c.bus_factor("sendrecv", 7) == c.bus_factor("reduce", 7) == 1
    assert c.bus_factor("all_reduce", 1) == 0 and c.bus_factor("broadcast", 1) == 1
    with pytest.raises(ValueError, match="^collective must be one of"):
        c.bus_factor("allreduce", 2)


@given(st.floats(0, 100), st.integers(1, 100_000), st.floats(0, 1e-3), st.floats(1e3, 1e13))
def test_hidden_payload_is_the_rings_inverse(compute, ranks, alpha, beta):
    """The largest payload said to hide would be exposed, or a larger one would still hide."""
    size = c.hidden_payload(compute, ranks, alpha, beta)
    if ranks == 1:
        assert size == math.inf
    elif size == 0:
        assert c.ring_allreduce(0, ranks, alpha, beta) >= compute * (1 - 1e-12)
    else:
        assert c.ring_allreduce(size, ranks, alpha, beta) == pytest.approx(compute, rel=1e-6)


def test_exposed_time():
    """Hidden communication would count, or a shorter AllReduce give time back."""
    assert c.exposed_time(np.array([0.3, 0.5, 0.8]), 0.5) == pytest.approx([0, 0, 0.3])


def test_step_against_a_clock():
    """A step's idle time, length or bars would not be what a clock ticking through it shows,
    whatever overlaps.
    """
    for forward, backward, communication, overlap in (
        (100, 100, 30, 0),
        (100, 100, 1, 0),
        (40, 80, 30, 0.5),
        (40, 80, 60, 0.5),
        (0, 10, 25, 1),
        (10, 0, 5, 1),
    ):
        first = forward + backward - round(overlap * backward)
        ticks = [
            (t < forward + backward, first <= t < first + communication)
            for t in range(forward + backward + communication)
        ]
        idle = sum(1 for busy, sending in ticks if sending and not busy)
        step = c.Step(forward, backward, communication, overlap)
        assert (step.idle, step.total) == (idle, forward + backward + idle)
        assert step.utilisation == pytest.approx((forward + backward) / (forward + backward + idle))
        assert step.bars[2][1:] == (first, communication) and step.bars[1][1] == forward
        assert max(start + length for _, start, length in step.bars) == step.total


@given(st.floats(1e-6, 1e3), st.floats(0, 1e3), st.floats(0, 1), st.floats(0, 1))
def test_utilisation(compute, communication, overlap, more):
    """More overlap would help less, or the share leave 0 to 1, or full overlap not be that of
    `exposed_time`.
    """
    u = c.utilisation(compute, communication, overlap)
    assert 0 < u <= c.utilisation(compute, communication, max(overlap, more)) <= 1
    assert c.utilisation(compute, communication, 1) == pytest.approx(
        compute / (compute + c.exposed_time(communication, compute))
    )


def test_steps_that_cannot_be():
    """A step without compute, or one that overlaps more than there is, would be drawn."""
    for bad in ((0, 0, 1, 0), (1, 1, -1, 0), (1, 1, 1, 1.5), ("1 s", 1, 1, 0)):
        with pytest.raises(ValueError):
            c.Step(*bad)
    with pytest.raises(ValueError, match="compute"):
        c.utilisation(0, 1)


def test_nodes_are_named_as_nodes():
    """Shapes that do not meet would be blamed on an argument that the function has not."""
    with pytest.raises(ValueError, match="^nodes and beta must have shapes"):
        c.hierarchical_allreduce(1.0, [2, 4, 8], 8, 0.0, [1.0, 2.0], 0.0, 1.0)
