"""Queues, incast and stragglers: against small steps, packets one by one, order statistics and the
chapter's own cases.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fabriclab import congestion, packets
from fabriclab.units import GB, KB, MB, TB, Gbps, us

pieces = st.lists(
    st.tuples(st.floats(0, 50), st.floats(0, 20), st.floats(0, 20)), min_size=1, max_size=8
)
buffers = st.one_of(st.just(math.inf), st.floats(0, 100))


@given(pieces, buffers, st.floats(0, 1))
def test_a_queue_keeps_every_byte_and_both_bounds(pieces, buffer, share):
    """Bytes would appear or vanish, the queue go below zero or above its buffer, or a port send
    faster than it can.
    """
    durations, arrivals, service = (list(column) for column in zip(*pieces))
    initial = share * min(buffer, 50.0)
    trace = congestion.fluid_queue(durations, arrivals, service, buffer, initial)
    assert initial + trace.arrived == pytest.approx(
        trace.queue + trace.served + trace.lost, abs=1e-9 * (1 + initial + trace.arrived[-1])
    )
    assert trace.queue.min() >= 0 and trace.queue.max() <= buffer
    assert trace.times[-1] == pytest.approx(sum(durations), abs=1e-9)
    assert trace.arrived[-1] == pytest.approx(np.dot(durations, arrivals), rel=1e-9, abs=1e-12)
    for column in (trace.times, trace.arrived, trace.served, trace.lost):
        assert np.all(np.diff(column) >= 0)
    assert np.all(np.diff(trace.served) <= np.diff(trace.times) * max(service) * (1 + 1e-9) + 1e-9)


def test_a_queue_against_small_steps():
    """Exact breakpoints would not be what a queue moved in ten thousand small steps does."""
    rng = np.random.default_rng(3)
    for _ in range(10):
        durations, arrivals = rng.uniform(0.5, 2, 6), rng.uniform(0, 8, 6)
        trace = congestion.fluid_queue(durations, arrivals, 4.0, 3.0, 1.0)
        dt, queue, lost, seen = durations.sum() / 20_000, 1.0, 0.0, []
        for i in range(20_000):
            rate = arrivals[min(5, np.searchsorted(np.cumsum(durations), (i + 0.5) * dt))]
            queue += (rate - 4.0) * dt
            lost += max(0.0, queue - 3.0)
            queue = min(3.0, max(0.0, queue))
            seen.append(queue)
        assert trace.at(np.arange(1, 20_001) * dt * (1 - 1e-12)) == pytest.approx(
            np.array(seen), abs=0.01
        )
        assert trace.lost[-1] == pytest.approx(lost, abs=0.01)


def test_chapter_incast():
    """The chapter's stress case, done by hand: 12.8 TB/s into 50 GB/s and 32 MB; and what a 64-port
    switch makes of it (E-23).
    """
    load = congestion.offered_load(256, 50 * GB)
    assert load == 12.8 * TB
    assert congestion.fill_time(load, 50 * GB, 32 * MB) == pytest.approx(32 / 12.75 * us)
    real = congestion.offered_load(256, 50 * GB, ports=64)
    assert real == 63 * 50 * GB
    assert congestion.fill_time(real, 50 * GB, 32 * MB) == pytest.approx(32 / 3.1 * us)
    assert congestion.offered_load(256, 10 * GB, ports=64, port_rate=50 * GB) == 2560 * GB
    assert (
        congestion.drain_time(32 * MB, 50 * GB)
        == congestion.wait(32 * MB, 50 * GB)
        == pytest.approx(640 * us)
    )
    assert congestion.feedback_backlog(256, 50 * GB, 50 * GB, 5 * us) == pytest.approx(63.75 * MB)


@given(
    st.floats(1, 100), st.floats(1, 100), st.floats(0, 1e4), st.floats(0.01, 100), st.floats(0, 1)
)
def test_largest_fan_in_is_the_last_that_fits(rate, service, buffer, trip, share):
    """One sender more would still fit, or the n given would not."""
    n = congestion.largest_fan_in(rate, service, buffer, trip, mark_at=share * buffer)
    room = (1 - share) * buffer
    assert congestion.feedback_backlog(n, rate, service, trip) <= room * (1 + 1e-9) + 1e-6
    assert congestion.feedback_backlog(n + 1, rate, service, trip) >= room * (1 - 1e-9) - 1e-6


def test_largest_fan_in_of_the_chapter():
    """129 senders of 50 GB/s fill 32 MB within 5 us exactly (6.4 TB/s over the port's rate); marks
    at half the buffer leave 65.
    """
    assert congestion.largest_fan_in(50 * GB, 50 * GB, 32 * MB, 5 * us) == 129
    assert congestion.largest_fan_in(50 * GB, 50 * GB, 32 * MB, 5 * us, mark_at=16 * MB) == 65
    assert congestion.largest_fan_in(50 * GB, 50 * GB, 32 * MB, 0) == math.inf
    with pytest.raises(ValueError, match="mark_at"):
        congestion.largest_fan_in(1, 1, 10, 1, mark_at=11)


def test_pause_and_headroom():
    """The longest pause at 400 Gb/s (65,535 x 512 bits), or the room for what still arrives in 1 to
    5 us, would be wrong.
    """
    assert congestion.pause_time(65_535, 400 * Gbps) == pytest.approx(65_535 * 512 / 400e9)
    bare = {"response": 0, "mac_phy": 0}
    assert congestion.pfc_headroom(50 * GB, np.array([1, 5]) * us, 0, **bare) == pytest.approx(
        np.array([50, 250]) * KB
    )
    assert congestion.pfc_headroom(50 * GB, 1 * us, packet=4 * KB, **bare) == pytest.approx(58 * KB)
    assert congestion.pause_signal_time([3, 5], [1 * us, 5 * us]) == pytest.approx(
        np.array([3, 25]) * us
    )
    for quanta in (65_536, -1, 0.5):
        with pytest.raises(ValueError, match="quanta"):
            congestion.pause_time(quanta, 1)


def test_headroom_by_the_standard_and_by_sonic():
    """The peer's time to obey would not be that of IEEE 802.3 annex 31B.3.7, in bytes at each
    speed; or the whole would part from what SONiC sets up: 40 m at 400 Gb/s in cells of 144 bytes.
    """
    quanta = {10: 67, 25: 80, 40: 118, 50: 147, 100: 394, 200: 453, 400: 905}
    for speed, most in quanta.items():
        rate = speed * Gbps
        assert rate * congestion.peer_response(rate) == pytest.approx(64 * most)
        bare = congestion.pfc_headroom(rate, 0, 0, mac_phy=0)
        assert bare == pytest.approx(64 * most)
    with pytest.raises(ValueError, match="^rate must be a speed"):
        congestion.pfc_headroom(33 * Gbps, 1 * us)
    assert congestion.pfc_headroom(33 * Gbps, 0, 0, response=1 * us, mac_phy=0) == pytest.approx(
        33e9 / 8 * 1e-6
    )
    # its script, in bytes: light at 198,000 km/s, small packets only, MTU 9,100
    cable = 2 * 40 / 198e6 * 50 * GB
    sonic = 9100 + (9100 + cable + 0.8 * 1024 + 905 * 64) * 144 / 64
    ours = congestion.pfc_headroom(400 * Gbps, 2 * 40 / 198e6, 9100, cell=144)
    assert ours == pytest.approx(sonic) and 195 * KB < ours < 210 * KB


@given(st.integers(1, 400), st.integers(1, 400))
def test_cells_waste_most_on_the_worst_packet(cell, smallest):
    """Some packet would fill cells worse than the worst one, or none so badly."""
    sizes = np.arange(smallest, smallest + 2 * cell + 2)
    brute = (np.ceil(sizes / cell) * cell / sizes).max()
    assert congestion.cell_waste(cell, smallest) == pytest.approx(brute)


@given(
    st.integers(1, 5),
    st.floats(1, 1000),
    st.one_of(st.just(0.0), st.floats(0.01, 20)),
    st.floats(0, 20),
)
def test_pauses_spread_buffer_by_buffer(hops, buffer, excess, trip):
    """The spread would not be the filling of one buffer after another, told upstream each time."""
    clock = 0.0
    for _ in range(hops):
        clock += congestion.fill_time(excess + 1.0, 1.0, buffer) + trip
    assert congestion.pause_spread_time(hops, buffer, excess, trip) == pytest.approx(
        clock, rel=1e-6
    )


def test_headroom_is_what_saves_a_paused_queue():
    """With the headroom one byte smaller, a queue paused at its threshold would still lose nothing;
    with it whole, it would.
    """
    room = congestion.pfc_headroom(50 * GB, 2 * us, 0, response=0, mac_phy=0)
    for spare, loses in ((0, False), (-1, True)):
        # a stopped port takes 50 GB/s from the threshold on, until the pause bites
        trace = congestion.fluid_queue(
            [1 * us, 2 * us, 5 * us], [0, 50 * GB, 0], 0, 1 * MB + room + spare, 1 * MB
        )
        assert (trace.lost[-1] > 0.5) == loses


def test_thresholds_and_moments_of_a_trace():
    """A threshold's crossing would be misplaced, or a moment outside the trace answered."""
    trace = congestion.fluid_queue([1, 1], [3, 0], 1, 10)
    assert (
        trace.first_above(1) == 0.5
        and trace.first_above(0) == 0
        and trace.first_above(2.1) == math.inf
    )
    assert trace.at(1.5) == 1.5 and type(trace.at(1.5)) is float
    with pytest.raises(ValueError, match="time"):
        trace.at(2.1)


@given(st.floats(0, 10), st.floats(0, 20), st.floats(0.1, 20), st.floats(0, 50), st.floats(0, 1))
def test_one_piece_agrees_with_the_closed_forms(time, arrival, service, buffer, share):
    """The formulas for constant rates and the queue in pieces would tell two stories."""
    initial = share * buffer
    trace = congestion.fluid_queue([time], [arrival], service, buffer, initial)
    assert trace.queue[-1] == pytest.approx(
        congestion.queue_after(time, arrival, service, buffer, initial), abs=1e-9
    )
    assert trace.lost[-1] == pytest.approx(
        congestion.overflow(time, arrival, service, buffer, initial), abs=1e-9
    )
    fill, drain = (
        congestion.fill_time(arrival, service, buffer, initial),
        congestion.drain_time(initial, service, arrival),
    )
    assert (fill == math.inf) == (
        arrival <= service and share < 1 and initial < buffer
    ) or fill == 0
    if 0 < fill < 1e6:
        assert congestion.queue_after(fill, arrival, service, buffer, initial) == pytest.approx(
            buffer, rel=1e-6
        )
    if 0 < drain < 1e6:
        assert congestion.queue_after(drain, arrival, service, buffer, initial) == pytest.approx(
            0, abs=1e-6
        )


def test_md1_against_packets_one_by_one():
    """The mean wait would not be what Lindley's recursion gives for a million random arrivals of
    equal packets.
    """
    rng = np.random.default_rng(1)
    for load in (0.5, 0.8):
        gaps = rng.exponential(1 / load, 400_000)
        # W(k+1) = max(0, W(k) + 1 - gap): a random walk less its running minimum
        walk = np.cumsum(1 - gaps)
        waits = walk - np.minimum(np.minimum.accumulate(walk), 0)
        assert waits.mean() == pytest.approx(congestion.md1_wait(load, 1.0), rel=0.04)
    assert (
        congestion.md1_wait(1.0, 1.0) == congestion.md1_wait(1.5, 1.0) == math.inf
        and congestion.md1_wait(0, 1) == 0
    )


@pytest.mark.parametrize("workers", [1, 2, 64, 1024, 100_000])
def test_slowest_of_many_against_order_statistics(workers):
    """The mean of the slowest would not be the harmonic number of exponential times, nor n/(n+1) of
    uniform ones.
    """
    harmonic = float(np.sum(1 / np.arange(1, workers + 1)))
    assert congestion.slowest_mean(stats.expon(loc=2, scale=0.1), workers) == pytest.approx(
        2 + 0.1 * harmonic, rel=1e-8
    )
    assert congestion.slowest_mean(stats.uniform(), workers) == pytest.approx(
        workers / (workers + 1), rel=1e-8
    )


def test_slowest_of_many_against_simulation():
    """Mean and tail of the slowest would not be those of drawn steps; or the same seed would give
    other steps.
    """
    law = stats.lognorm(0.3, scale=0.1)
    drawn = congestion.slowest_simulated(law, 64, 20_000, seed=4)
    assert drawn.shape == (20_000,)
    assert drawn.mean() == pytest.approx(congestion.slowest_mean(law, 64), rel=0.01)
    assert np.quantile(drawn, 0.99) == pytest.approx(
        congestion.slowest_quantile(law, 64, 0.99), rel=0.03
    )
    assert np.array_equal(drawn, congestion.slowest_simulated(law, 64, 20_000, seed=4))
    # two normal draws: the larger is 1/sqrt(pi) standard deviations above the mean
    assert congestion.slowest_mean(stats.norm(), 2) == pytest.approx(
        1 / math.sqrt(math.pi), rel=1e-8
    )
    with pytest.raises(ValueError, match="finite mean"):
        congestion.slowest_mean(stats.cauchy(), 2)


def test_hiccups_against_drawn_steps():
    """The mean step would not be that of steps that are late when any worker is."""
    late = np.random.default_rng(2).random((20_000, 200)) < 0.004
    drawn = 0.1 + 0.05 * late.any(axis=1)
    assert drawn.mean() == pytest.approx(
        congestion.step_with_hiccups(0.1, 0.05, 0.004, 200), rel=0.01
    )
    assert congestion.step_with_hiccups(1, 1, 1, 5) == 2


def test_stragglers_of_the_chapter():
    """One of 1,024 that is 10 % slower would not idle about 102 (Definition 1.6), nor a 5 % gap
    burn what it adds.
    """
    assert congestion.idle_workers(1024, 0.1) == pytest.approx(102.3)
    assert congestion.straggler_cost(50e6 * 1.05, 0.05) == pytest.approx(2.5e6)


@pytest.mark.parametrize(
    "call",
    [
        lambda: congestion.queue_after(-1, 1, 1),
        lambda: congestion.queue_after(1, 1, 0),
        lambda: congestion.queue_after(1, 1, 1, 5, 6),
        lambda: congestion.fill_time(1, 1, math.nan),
        lambda: congestion.drain_time(-1, 1),
        lambda: congestion.md1_wait(-0.1, 1),
        lambda: congestion.fluid_queue([1, 2], [1], 1),
        lambda: congestion.fluid_queue([-1], [1], 1),
        lambda: congestion.fluid_queue([1], [1], [1, 2]),
        lambda: congestion.fluid_queue([1], [1], 1, buffer=-1),
        lambda: congestion.offered_load(2.5, 1),
        lambda: congestion.offered_load(2, 1, ports=1),
        lambda: congestion.slowest_quantile(stats.expon(), 0, 0.5),
        lambda: congestion.slowest_quantile(stats.expon(), 4, 0),
        lambda: congestion.slowest_mean(stats.expon(), 1.5),
        lambda: congestion.step_with_hiccups(1, 1, 2, 1),
        lambda: congestion.idle_workers(0, 1),
        lambda: congestion.pause_signal_time(1.5, 1),
    ],
)
def test_bad_input_is_refused(call):
    """A wrong argument would give a wrong number instead of a ValueError."""
    with pytest.raises(ValueError, match="must"):
        call()


@pytest.mark.parametrize(
    "distribution",
    [
        stats.poisson(4.2),
        stats.geom(0.05),
        stats.bernoulli(0.1),
        stats.binom(20, 0.3, loc=-5),
        stats.randint(3, 9),
    ],
    ids=lambda d: d.dist.name,
)
def test_slowest_of_discrete_times(distribution):
    """The mean of the slowest would be NaN, infinite or low where times come in whole numbers: it
    is the sum over all values of value times its chance, worked out by hand here.
    """
    values = np.arange(-10, 2000)
    for workers in (1, 3, 1000):
        below = distribution.cdf(values) ** workers
        brute = float(values @ np.diff(below, prepend=0.0))
        assert congestion.slowest_mean(distribution, workers) == pytest.approx(brute, rel=1e-9)


def test_limits_of_size_on_both_sides():
    """A limit would refuse what fits, or let through what takes the memory of the machine."""
    some = stats.expon()
    most = congestion.bsp.MOST_STEPS
    assert congestion.slowest_mean(stats.randint(0, most // 2), 1) > 0
    with pytest.raises(ValueError, match="^distribution must spread over at most 10,000,000"):
        congestion.slowest_mean(stats.randint(0, most + 10), 1)
    assert congestion.slowest_simulated(some, 10, 10**5).size == 10**5
    for workers, steps in ((most + 1, 1), (1, most + 1)):
        with pytest.raises(ValueError, match="^steps and workers must each be at most 10,000,000"):
            congestion.slowest_simulated(some, workers, steps)
    with pytest.raises(ValueError, match="^steps times workers must be at most 20,000,000 draws"):
        congestion.slowest_simulated(some, 10**4, 10**6 + 1)
    assert congestion.permutation_slowdown(4, "hashing", trials=10**3).shape == (1000, 16)
    for more in ({"trials": 10**5 + 1}, {"pieces": 1025}):
        with pytest.raises(ValueError, match="^(trials|pieces) must be a whole number from 1 to"):
            congestion.permutation_slowdown(4, "spraying", **more)
    assert congestion.permutation_slowdown(16, "spraying", 1, 976).size == 1024
    with pytest.raises(ValueError, match="^pieces of all flows must be at most 1,000,000 at once"):
        congestion.permutation_slowdown(16, "spraying", 1, 977)
    with pytest.raises(ValueError, match="and 100,000,000 in all trials"):
        congestion.permutation_slowdown(16, "hashing", 97_657, 1024)
    with pytest.raises(ValueError, match="^trips times flows must be at most 10,000,000"):
        congestion.rounds(1e12, 11, 0, 1, 10**6)


@pytest.mark.parametrize("delay", [0, 1, 2, 7, 31])
def test_stale_gradients_settle_exactly_where_all_roots_lie_inside(delay):
    """numpy's roots of z^(d+1) - z^d + k: inside the unit circle just below the closed form's k,
    and not just above. Else the sine, or the delay in it, is off by one.
    """
    limit = congestion.stale_limit(delay)
    for k, inside in ((0.99 * limit, True), (1.01 * limit, False)):
        polynomial = np.zeros(delay + 2)
        polynomial[0], polynomial[1], polynomial[-1] = 1, -1, k - (delay == 0)
        if delay == 0:
            polynomial = np.array([1, k - 1])
        assert (np.abs(np.roots(polynomial)).max() < 1) == inside
        way = np.abs(congestion.stale_descent(k, delay, 4000 * (delay + 1)))
        assert (way[-delay - 1 :].max() < way[: 4 * delay + 4].max() / 2) == inside


def test_a_stale_descent_by_hand():
    """Delay 1, step 1/2: 1, 1/2, 0, -1/4, -1/4, -1/8 by hand; fresh: halves each time."""
    assert congestion.stale_descent(0.5, 1, 5).tolist() == [1, 0.5, 0, -0.25, -0.25, -0.125]
    assert congestion.stale_descent(0.5, 0, 3).tolist() == [1, 0.5, 0.25, 0.125]


@pytest.mark.parametrize("share", [0.0, 0.3, 0.8, 1.0])
def test_staggering_against_packets(share):
    """The peak would be another than that of packets, or spreading the start would cost time."""
    senders, size, rate, packet = 8, 200 * KB, 50 * GB, 1000
    offset = share * size / rate
    end = packets.incast(
        senders,
        size,
        rate,
        packet,
        apart=offset,
        delay=0.0,
        pfc=None,
        sample=20e-9,
        watch=[(senders + 1, 0)],
    )
    peak = congestion.staggered_peak(senders, size, offset, rate)
    seen = end.queues[senders + 1, 0].max()
    assert seen == pytest.approx(peak, abs=(senders + 1) * packet)
    assert end.duration == pytest.approx(senders * size / rate, rel=2 / 200 / senders + 0.005)
