"""Level 5: buckets and rings played event by event, closed forms at the ends, the published
designs.
"""

import heapq

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabriclab import cluster, collectives, congestion, link, topology
from fabriclab.units import GB, TB, day, ms, us

SECONDS = st.floats(0, 10)


def play_buckets(ready, times):
    """Finish times of one link that is told of ready buckets by events and serves them first in,
    first out, by number.
    """
    events = [(moment, 0, k) for k, moment in enumerate(ready)]
    heapq.heapify(events)
    there, finish, following, busy = set(), [None] * len(ready), 0, False
    while events:
        now, done, k = heapq.heappop(events)
        if done:
            finish[k], busy = now, False
        else:
            there.add(k)
        if not busy and following in there:
            heapq.heappush(events, (now + times[following], 1, following))
            following, busy = following + 1, True
    return finish


def play_ring(n, alpha, chunk_times):
    """Seconds until the last rank of a ring holds all sums; link r leads from rank r to the next,
    and waits for its own last
    send and for the chunk that it must pass on."""
    received = np.zeros(n)  # when rank r had its latest chunk
    sent = np.zeros(n)
    for _ in range(2 * (n - 1)):
        sent = np.maximum(sent, received) + alpha + chunk_times
        received = np.roll(sent, 1)
    return received.max()


@given(st.lists(st.tuples(st.floats(0, 1), SECONDS), min_size=1, max_size=12), SECONDS)
def test_buckets_end_when_a_link_that_serves_them_ends(buckets, backward):
    """A bucket starts before it is ready or before the link is free, or waits for nothing; exposed
    or busy is another sum.
    """
    ready, times = [share * backward for share, _ in buckets], [time for _, time in buckets]
    step = cluster.bucketed_step(backward, len(buckets), times, ready)
    assert step.finish == pytest.approx(play_buckets(ready, times), rel=1e-12, abs=1e-12)
    assert step.exposed == pytest.approx(
        max(0, step.finish[-1] - backward)
    ) and step.total == pytest.approx(backward + step.exposed)
    assert step.busy == pytest.approx(sum(times)) and step.ready == tuple(ready)
    assert [f - t for f, t in zip(step.finish, times)] == pytest.approx(list(step.start), abs=1e-9)


def in_order_tree(ranks):
    """{child: parent} of NCCL's kind of tree on 2^k ranks: odd ranks are leaves, 0 is the root with
    one child.
    """
    parent = {}
    for rank in range(1, ranks):
        low = rank & -rank
        parent[rank] = next((up for up in ((rank - low) | 2 * low,) if up < ranks), 0)
    return parent


def tree_time(ranks, beta, slow_ports=(), slow_edge=None, slowdown=1.0):
    """Seconds for 1 B at no start-up: the fullest port or edge of two such trees, the second
    shifted by a rank; reduce, then broadcast.
    """
    sent, received, edges = np.zeros(ranks), np.zeros(ranks), {}
    for shift in (0, 1):
        for child, up in in_order_tree(ranks).items():
            child, up = (child + shift) % ranks, (up + shift) % ranks
            sent[child] += 0.5
            received[up] += 0.5
            edges[shift, child, up] = 0.5
    rates = np.full(ranks, beta)
    rates[list(slow_ports)] /= slowdown
    slowest = max(
        (sent / rates).max(),
        (received / rates).max(),
        *(load / beta * (slowdown if edge == slow_edge else 1) for edge, load in edges.items()),
    )
    return 2 * slowest, sent, received, list(edges)


@pytest.mark.parametrize("ranks", [8, 32])
@pytest.mark.parametrize("slowdown", [1.0, 1.5, 2.0, 4.0])
def test_trees_with_a_slow_part_take_as_long_as_their_fullest_port(ranks, slowdown):
    """Some rank's port, some edge, or a root's port carries another share of the buffer than
    `slow_trees` is told, or paces otherwise.
    """
    healthy, sent, received, edges = tree_time(ranks, 1.0)
    assert healthy == 2.0
    roots = [rank for rank in range(ranks) if max(sent[rank], received[rank]) == 0.5]
    assert len(roots) == 2 and all(
        max(sent[rank], received[rank]) == 1.0 for rank in range(ranks) if rank not in roots
    )
    many = 10.0**12  # bytes, so that ever more chunks leave no filling of the pipeline
    for rank in range(ranks):
        share = 0.5 if rank in roots else 1.0
        assert cluster.slow_trees(many, ranks, 0, many, slowdown, share) == pytest.approx(
            tree_time(ranks, 1.0, [rank], None, slowdown)[0], rel=1e-6
        )
    for edge in edges:
        assert cluster.slow_trees(many, ranks, 0, many, slowdown, 0.5) == pytest.approx(
            tree_time(ranks, 1.0, (), edge, slowdown)[0], rel=1e-6
        )


def test_whole_trees_are_the_collectives_trees():
    """With nothing slow, or a share of nothing, the time is another than that of the pipelined
    trees, start-ups and all.
    """
    for size in (0, 4e3, 6 * GB):
        whole = collectives.pipelined_tree_allreduce(size, 512, 1.5 * us, 50 * GB)
        assert (
            cluster.slow_trees(size, 512, 1.5 * us, 50 * GB, 1.0)
            == cluster.slow_trees(size, 512, 1.5 * us, 50 * GB, 9.0, 0.0)
            == whole
        )


@given(SECONDS, SECONDS, st.integers(1, 40))
def test_equal_buckets_expose_the_closed_form(backward, communication, n):
    """Equal buckets miss max(C/n, C - B (n-1)/n); or leave its bounds: at least the last bucket and
    C - B, at most all of C.
    """
    step = cluster.bucketed_step(backward, n, communication / n)
    assert step.exposed == pytest.approx(
        max(communication / n, communication - backward * (n - 1) / n), rel=1e-9, abs=1e-9
    )
    assert (
        max(communication / n, communication - backward) - 1e-9
        <= step.exposed
        <= communication + 1e-9
    )
    if n == 1:
        assert step.exposed == pytest.approx(communication)


@given(st.lists(SECONDS, min_size=1, max_size=12), SECONDS)
def test_unequal_buckets_expose_the_last_one_at_least(times, backward):
    """The bucket that is ready last hides behind nothing, and no more than all communication can be
    exposed.
    """
    exposed = cluster.bucketed_step(backward, len(times), times).exposed
    assert max(0, sum(times) - backward, times[-1]) - 1e-9 <= exposed <= sum(times) + 1e-9


@given(SECONDS, SECONDS, st.integers(1, 60))
def test_without_start_ups_more_buckets_are_never_worse(backward, communication, n):
    """Cutting finer delays a step although a cut costs nothing."""
    coarse, fine = (
        cluster.bucketed_step(backward, k, communication / k).exposed for k in (n, n + 1)
    )
    assert fine <= coarse + 1e-9


def test_many_buckets_tend_to_the_chapters_max_and_start_ups_end_that():
    """The limit is not max(0, C - B), or ever finer buckets stay free although a ring's start-ups
    come with each (R171).
    """
    assert cluster.bucketed_step(500 * ms, 100_000, 300 * ms / 100_000).exposed == pytest.approx(
        0, abs=1e-5
    )
    assert cluster.bucketed_step(300 * ms, 100_000, 500 * ms / 100_000).exposed == pytest.approx(
        200 * ms, abs=1e-5
    )

    def ring(n):
        return cluster.bucketed_step(
            500 * ms, n, collectives.ring_allreduce(7.4 * GB / n, 1024, 1.5 * us, 50 * GB)
        ).exposed

    assert ring(1) > ring(10) > ring(60) < ring(400)
    # 2 (N-1) alpha a bucket: 400 of them fill the pass and more
    assert ring(400) > 400 * 2 * 1023 * 1.5 * us - 500 * ms > 0


def test_overlap_that_is_less_than_perfect():
    """60 to 80 % of 300 ms leave other than 120 to 60 ms; perfect overlap is not the chapter's max;
    none hides something.
    """
    assert cluster.exposed_overlap(300 * ms, 500 * ms, np.array([0.6, 0.8])) == pytest.approx(
        [0.12, 0.06]
    )
    for communication, compute in ((0.3, 0.5), (0.5, 0.3), (0, 1), (1, 0)):
        assert cluster.exposed_overlap(communication, compute) == pytest.approx(
            collectives.exposed_time(communication, compute)
        )
        assert cluster.exposed_overlap(communication, compute, 0) == communication


@given(st.integers(1, 9), st.floats(1, 50), st.floats(0, 1e-3), st.integers(0, 8))
def test_a_ring_runs_at_its_slowest_link(n, slowdown, alpha, place):
    """The formula leaves what a ring does, chunk by chunk, wherever its slow link is; or a slowdown
    of 1 is no plain ring.
    """
    size, beta = 1e6, 1e9
    chunk = np.full(n, size / n / beta)
    chunk[place % n] *= slowdown
    assert cluster.slow_link(size, n, alpha, beta, slowdown) == pytest.approx(
        play_ring(n, alpha, chunk), rel=1e-9, abs=1e-15
    )
    assert cluster.slow_link(size, n, alpha, beta, 1) == pytest.approx(
        collectives.ring_allreduce(size, n, alpha, beta), abs=1e-15
    )


def test_half_a_link_is_half_the_ring():
    """One link at half rate makes less or more of a ring than a ring of such links (Checkpoint 1.5,
    R196).
    """
    assert cluster.slow_link(6 * GB, 1024, 1.5 * us, 50 * GB, 2) == pytest.approx(
        collectives.ring_allreduce(6 * GB, 1024, 1.5 * us, 25 * GB)
    )


@given(st.floats(0, 1), st.floats(0, 0.99))
def test_waste_is_what_a_step_made_of_two_parts_gains(share, loss):
    """Lengthening is not (1-f) + f/(1-x) - 1, or is not turned round by `share_behind`."""
    longer = cluster.waste(share, loss)
    assert longer == pytest.approx((1 - share) + share / (1 - loss) - 1, rel=1e-9, abs=1e-12)
    if loss > 1e-6:
        assert cluster.share_behind(longer, loss) == pytest.approx(share, rel=1e-9, abs=1e-12)


def test_silent_waste_in_hours_and_money():
    """30 days of 1,024 GPUs at 2 to 3 % leave 14,746 to 22,118 hours, $44,237 to 66,355
    (R184-R186); 2,458 h a day at 10 % (R222).
    """
    hours = cluster.gpu_hours(1024, 30 * day, np.array([0.02, 0.03]))
    assert np.round(hours).tolist() == [14746, 22118] and np.round(
        cluster.cost_of(hours, 3)
    ).tolist() == [44237, 66355]
    assert cluster.gpu_hours(1024, day, 0.1) == pytest.approx(2457.6)
    # a straggler's 5 % of a $50 M run, at $3 an hour 16.7 million hours, is $2.5 M more (R143)
    assert cluster.cost_of(50e6 / 3 * 0.05) == pytest.approx(2.5e6)
    assert congestion.idle_workers(1024, 0.1) == pytest.approx(102.3)


def test_placement_pays_for_the_tier_it_crosses():
    """A job on one leaf pays for others' oversubscription, or one across leaves does not: 4:1 at 30
    % is 1.9 times the step (R219).
    """
    tree = topology.leaf_spine(32, 8, 32, 8)
    assert cluster.placement_lengthening(tree, range(32), 0.3) == 0
    for leaves in (3, 4, 5):
        assert cluster.placement_lengthening(tree, range(32 * leaves), 0.3) == pytest.approx(0.9)
    spread = cluster.placement_lengthening(tree, range(64), 0.3)
    assert spread == pytest.approx(0.9) and 1 / (1 + spread) == pytest.approx(
        topology.relative_throughput(0.3, 4)
    )


def test_designs_are_the_published_ones():
    """The unit is not 32 nodes, 256 GPUs, 12.8 TB/s; or NVIDIA's table for 1 to 4 units is missed
    (R172-R175).
    """
    unit = cluster.scalable_unit()
    assert (unit.nodes, unit.gpus, unit.injection) == (32, 256, 12.8 * TB)
    assert unit.injection == topology.superpod_b200(1).injection().sum()
    pods = [topology.superpod_h100(n) for n in (1, 2, 3, 4)]
    assert [pod.hosts // 8 for pod in pods] == [31, 63, 95, 127]
    assert [tuple(pod.switches.values()) for pod in pods] == [(8, 4), (16, 8), (24, 16), (32, 16)]
    assert topology.meta_24k().hosts == 3072 * 8


def test_shares_name_their_base():
    """Network over the rest and over the whole are mixed up, in money or in power (E-13: 10.46,
    9.47, 5.74 %).
    """
    power = link.power_shares(75e3, 1024)
    assert [
        round(100 * s, 2)
        for s in (power.of_accelerators, power.of_accelerators_and_network, power.of_nodes)
    ] == [10.46, 9.47, 5.74]


@pytest.mark.parametrize(
    "call, word",
    [
        (lambda: cluster.bucketed_step(-1, 2, 1), "backward"),
        (lambda: cluster.bucketed_step([1, 2], 2, 1), "backward"),
        (lambda: cluster.bucketed_step(1, 0, 1), "buckets"),
        (lambda: cluster.bucketed_step(1, 1e9, 1), "buckets"),
        (lambda: cluster.bucketed_step(1, 2.5, 1), "buckets"),
        (lambda: cluster.bucketed_step(1, 2, [1, 2, 3]), "allreduce_times"),
        (lambda: cluster.bucketed_step(1, 2, [1, float("nan")]), "allreduce_times"),
        (lambda: cluster.bucketed_step(1, 2, 1, [0.5, 1.5]), "ready"),
        (lambda: cluster.exposed_overlap(1, 1, 60), "efficiency"),
        (lambda: cluster.slow_link(1, 2, 0, 1, 0.5), "slowdown"),
        (lambda: cluster.slow_link(1, 2.5, 0, 1, 2), "ranks"),
        (lambda: cluster.waste(0.2, 1), "bandwidth_loss"),
        (lambda: cluster.waste(20, 0.1), "share"),
        (lambda: cluster.share_behind(0.1, 0), "bandwidth_loss"),
        (lambda: cluster.slow_trees(1, 8, 0, 1, 0.9), "slowdown"),
        (lambda: cluster.slow_trees(1, 8, 0, 1, 2, 1.5), "share"),
        (lambda: cluster.gpu_hours(-1, 1), "gpus"),
        (lambda: cluster.cost_of(1, -3), "dollars"),
        (lambda: cluster.scalable_unit([32, 16]), "nodes"),
    ],
)
def test_bad_input_is_named(call, word):
    """A slip of the reader's becomes a NaN, a negative time, or an error that does not say which
    argument it is.
    """
    with pytest.raises(ValueError, match=word):
        call()


def test_an_alltoall_in_two_pods_feels_half_of_the_ratio():
    """Notebook 06 and the docstring would charge an AllToAll with bytes that never leave its half:
    49 % for 14 %.
    """
    meta, size, beta = topology.meta_24k(), 1 * GB, 50 * GB
    job = [3072 * pod + host for pod in range(2) for host in range(1536)]
    cut = min(
        topology.flow(meta, job[:1536], job[1536:]), topology.flow(meta, job[1536:], job[:1536])
    )
    slower = topology.alltoall_cut_bound(size, len(job), cut) / (size / beta)
    assert slower == pytest.approx(topology.placement_oversubscription(meta, job) / 2, rel=1e-3)
    assert 0.2 * (slower - 1) == pytest.approx(0.143, rel=1e-2)
    assert cluster.placement_lengthening(meta, job, 0.2) == pytest.approx(0.486, rel=1e-2)
