"""Level 2, one message: closed forms, brute force and the chapter's own printed numbers as seen by
hand.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabriclab import transport
from fabriclab.units import GB, KB, MB, us

sizes = st.floats(0, 1e15)
alphas = st.floats(0, 10)
betas = st.floats(1e-3, 1e15)


def test_hand_computed_times():
    """Both messages on both paths of Napkin Math 1.1, multiplied out by hand, would differ."""
    got = transport.transfer_time(
        np.array([4e3, 350e6]), np.array([[1.5e-6], [5e-6]]), np.array([[50e9], [12.5e9]])
    )
    assert got == pytest.approx(np.array([[1.58e-6, 7.0015e-3], [5.32e-6, 28.005e-3]]), rel=1e-12)


def test_scalars_come_back_native():
    """A scalar call would hand out numpy scalars, which print and compare in surprising ways."""
    for value in (
        transport.transfer_time(1, 1, 1),
        transport.crossover(1, 1),
        transport.latency_share(1, 1, 1),
        transport.effective_bandwidth(1, 1, 1),
        transport.break_even(1, 1, 2, 2),
        transport.staging_traffic(1),
        transport.tail_go_back_n(2, 1),
        transport.tail_selective(2, 1),
        transport.goodput_go_back_n(0.1, 10),
        transport.goodput_selective(0.1),
        transport.time_saved(1, 1, 1, 2),
        transport.kernel_bandwidth(1, 1, 1, 1),
    ):
        assert type(value) is float


@given(alphas, betas)
def test_crossover_is_where_both_terms_are_equal(alpha, beta):
    """n* would not be the size at which start-up and transfer take the same time."""
    n = transport.crossover(alpha, beta)
    assert transport.transfer_time(n, alpha, beta) == pytest.approx(2 * alpha, rel=1e-9)
    if n > 1e-200:
        assert transport.latency_share(n, alpha, beta) == pytest.approx(0.5)
        assert transport.effective_bandwidth(n, alpha, beta) == pytest.approx(beta / 2)


@given(sizes, alphas, betas)
def test_effective_bandwidth_is_size_over_time(size, alpha, beta):
    """The share and the rate a message sees would not follow from its time."""
    time = transport.transfer_time(size, alpha, beta)
    if time > 1e-200:
        assert transport.effective_bandwidth(size, alpha, beta) * time == pytest.approx(
            size, rel=1e-9, abs=1e-300
        )
        assert transport.latency_share(size, alpha, beta) * time == pytest.approx(
            alpha, rel=1e-9, abs=1e-300
        )
    assert 0 <= transport.latency_share(size, alpha, beta) <= 1


@given(alphas, betas, alphas, betas)
def test_break_even_against_the_two_times(a, b, other_a, other_b):
    """Break-even would not be where the two curves meet,
    or would claim a meeting that never comes.
    """
    n = transport.break_even(a, b, other_a, other_b)
    assert n >= 0
    if math.isinf(n):
        # one path is then at least as good at both ends of the size scale
        assert (other_a - a) * (1 / other_b - 1 / b) >= 0
    elif 0 < n < 1e50:
        assert transport.transfer_time(n, a, b) == pytest.approx(
            transport.transfer_time(n, other_a, other_b), rel=1e-6
        )


def test_fit_recovers_a_path_exactly_and_refuses_a_negative_start():
    """A noise-free line would be read wrongly, or a log that no alpha can explain would get a
    negative one.
    """
    n = np.geomspace(8, 8e9, 31)
    f = transport.fit(n, transport.transfer_time(n, 20 * us, 40 * GB))
    assert (f.alpha, f.beta, f.worst) == (
        pytest.approx(20 * us),
        pytest.approx(40 * GB),
        pytest.approx(0, abs=1e-9),
    )
    with pytest.raises(ValueError, match="alpha is negative"):
        transport.fit([1 * MB, 2 * MB, 4 * MB], [1e-6, 5e-6, 20e-6])


def test_fit_weighs_small_messages_as_much_as_large_ones():
    """Five per cent of noise on gigabytes would drown a start-up of 20 us, as it does in plain
    least squares.
    """
    rng = np.random.default_rng(7)
    n = np.geomspace(8, 8e9, 31)
    t = transport.transfer_time(n, 20 * us, 40 * GB) * rng.normal(1, 0.05, n.size)
    f = transport.fit(n, t)
    assert f.alpha == pytest.approx(20 * us, rel=0.05) and f.beta == pytest.approx(
        40 * GB, rel=0.05
    )
    slope, plain = np.polyfit(n, t, 1)
    assert abs(plain - 20 * us) > 10 * abs(f.alpha - 20 * us)


def test_fit_is_the_best_of_its_neighbours():
    """The fit would not minimise the relative errors that its docstring names (checked against a
    scan around it).
    """
    rng = np.random.default_rng(11)
    n = np.geomspace(1e3, 1e9, 25)
    t = transport.transfer_time(n, 5 * us, 12.5 * GB) * rng.normal(1, 0.1, n.size)
    f = transport.fit(n, t)

    def loss(alpha, beta):
        return np.sum(((alpha + n / beta - t) / t) ** 2)

    for da, db in [(1.01, 1), (0.99, 1), (1, 1.01), (1, 0.99), (1.01, 1.01), (0.99, 1.01)]:
        assert loss(f.alpha, f.beta) < loss(f.alpha * da, f.beta * db)


@pytest.mark.parametrize(
    "bad, word",
    [
        (lambda: transport.fit([1], [1]), "sizes"),
        (lambda: transport.fit([1, 1], [1, 1]), "sizes"),
        (lambda: transport.fit([1, 2], [1, 2, 3]), "sizes and times"),
        (lambda: transport.fit([1, 2], [0, 1]), "times"),
        (lambda: transport.fit([1, 2], [2, 1]), "times must grow"),
        (lambda: transport.transfer_time(-1, 1, 1), "size"),
        (lambda: transport.transfer_time(1, math.nan, 1), "alpha"),
        (lambda: transport.transfer_time(1, 1, 0), "beta"),
        (lambda: transport.transfer_time("4 KB", 1, 1), "size"),
        (lambda: transport.transfer_time([1, -2], 1, 1), "size"),
        (lambda: transport.transfer_time([[1], [2, 3]], 1, 1), "size"),
        (lambda: transport.transfer_time(True, 1, 1), "size"),
        (lambda: transport.transfer_time(None, 1, 1), "size"),
        (lambda: transport.transfer_time(1j, 1, 1), "size"),
        (lambda: transport.transfer_time(10**400, 1, 1), "size"),
        (lambda: transport.tail_go_back_n(1, 2), "lost_at"),
        (lambda: transport.tail_selective(1, 2), "lost_at"),
        (lambda: transport.staging_traffic(1, 1.5), "copies"),
        (lambda: transport.goodput_go_back_n(1.1, 10), "loss"),
        (lambda: transport.goodput_go_back_n(0.1, 0), "window"),
        (lambda: transport.time_saved(1, 1, 1, 0.5), "faster must be 1 or more"),
        (lambda: transport.time_saved(1, -1, 1, 2), "alpha"),
        (lambda: transport.kernel_bandwidth(0, 1, 1, 1), "line"),
        (lambda: transport.kernel_bandwidth(1, 0, 1, 1), "segment"),
        (lambda: transport.kernel_bandwidth([1, 2], [1, 2, 3], 1, 1), "line and segment"),
    ],
)
def test_nonsense_is_refused_by_name(bad, word):
    """Bad input would pass as a number, or fail without saying which argument is wrong."""
    with pytest.raises(ValueError, match=f"^{word}"):
        bad()


def test_recovery_against_a_packet_by_packet_simulation():
    """The goodput formulas would not describe what senders that follow the two rules do."""
    rng = np.random.default_rng(3)
    loss, window, wanted = 0.02, 20, 40_000
    sent = delivered = 0
    while (
        delivered < wanted
    ):  # go-back-N: a loss is heard of after W packets, all of which go again
        sent += 1
        if rng.random() < loss:
            sent += window - 1
        else:
            delivered += 1
    assert delivered / sent == pytest.approx(transport.goodput_go_back_n(loss, window), rel=0.03)
    sent = np.sum(rng.geometric(1 - loss, wanted))  # selective repeat: each packet until it arrives
    assert wanted / sent == pytest.approx(transport.goodput_selective(loss), rel=0.01)


def test_tails_and_staging():
    """The chapter's 100 MB tail and 700 GB of host traffic, and the bounds of both, would not come
    out.
    """
    assert transport.tail_go_back_n(1000 * MB, 900 * MB) == 100 * MB
    assert transport.tail_go_back_n(1000 * MB, 900 * MB, in_flight=250 * KB) == 250 * KB
    assert transport.tail_go_back_n(1000 * MB, np.array([0, 1000 * MB])).tolist() == [1000 * MB, 0]
    assert transport.tail_selective(1000 * MB, 1000 * MB - 100) == 100
    assert (
        transport.staging_traffic(350 * GB) == 700 * GB
        and transport.staging_traffic(350 * GB, copies=0) == 0
    )


def test_goodput_edges():
    """No loss would cost something, or a dead line carry something."""
    assert transport.goodput_go_back_n(0, 1000) == 1 and transport.goodput_go_back_n(1, 1000) == 0
    assert transport.goodput_go_back_n(0.1, 1) == pytest.approx(transport.goodput_selective(0.1))


@given(sizes, alphas, betas, st.floats(1, 1e6))
def test_time_saved_is_the_difference_of_two_transfers(size, alpha, beta, faster):
    """What a faster link saves would not be the two transfer times' difference, or be more than the
    wire's share of it.
    """
    saved = transport.time_saved(size, alpha, beta, faster)
    before, after = (
        transport.transfer_time(size, alpha, beta),
        transport.transfer_time(size, alpha, beta * faster),
    )
    assert (
        saved * before == pytest.approx(before - after, rel=1e-9, abs=1e-12 * before)
        and 0 <= saved <= 1 - 1 / faster + 1e-12
    )


def test_a_kernel_stream_segment_by_segment():
    """A core that handles segments one after another would move other bytes a second than the
    formula says, or outrun the line.
    """
    rng = np.random.default_rng(4)
    for line, segment, each, copy in rng.uniform(
        [1e8, 1500, 1e-6, 1e9], [5e10, 65536, 1e-5, 2e10], (50, 4)
    ):
        clock = done = 0.0
        while done < 100 * segment:
            clock = max(clock + each + segment / copy, (done + segment) / line)
            done += segment
        assert transport.kernel_bandwidth(line, segment, each, copy) == pytest.approx(
            done / clock, rel=0.02
        )


@pytest.mark.parametrize(
    "function, given, words",
    [
        (transport.kernel_bandwidth, (1.0, 1.0, 0.0, float("nan")), "copy must be more than zero"),
        (transport.kernel_bandwidth, (1.0, 1.0, -1.0, 1.0), "per_segment must be"),
        (
            transport.kernel_bandwidth,
            (1.0, 1.0, [0.0] * 3, [1.0] * 2),
            "per_segment and copy must have shapes",
        ),
        (
            transport.time_saved,
            (1.0, 0.0, [1.0] * 3, [2.0] * 2),
            "faster and size must have shapes",
        ),
    ],
)
def test_bad_input_is_named_as_the_argument_that_it_is(function, given, words):
    """A refusal would name an argument of another function,
    or numpy's own complaint come through.
    """
    with pytest.raises(ValueError, match=f"^{words}"):
        function(*given)


@pytest.mark.parametrize("ber", [1e-15, 1e-9, 1e-4, 0.5, 1.0, 0.0])
def test_the_share_spoilt_is_that_of_exact_fractions(ber):
    """Naive ``1 - (1-b)^n`` in floats gives 0 or noise at 1e-15; exact rationals do not."""
    for size, cables in ((0, 1), (1, 1), (64, 3)):
        exact = 1 - (1 - Fraction(ber)) ** (8 * size * cables)
        got = transport.spoilt_share(ber, size, cables)
        assert got == pytest.approx(float(exact), rel=1e-12, abs=0)


def test_retry_on_the_cable_against_packets_drawn_by_lot():
    """A cable that repeats what was spoilt, packet by packet: t for each try, and a round trip
    after a failed one. The model's share is within 1 % of 200,000 packets.
    """
    loss, packet, rate, delay = 0.02, 1000, 5 * GB, 500e-9
    tries = np.random.default_rng(1).geometric(1 - loss, 200_000)
    lasts = packet / rate
    share = tries.size * lasts / (tries * lasts + (tries - 1) * 2 * delay).sum()
    assert transport.goodput_link_retry(loss, packet, rate, delay) == pytest.approx(share, rel=0.01)
    assert transport.goodput_link_retry(0, packet, rate, delay) == 1
    assert transport.goodput_link_retry(1, packet, rate, delay) == 0


def test_a_retry_of_no_length_is_selective_repeat():
    """Over a cable of no length a failed try costs its own time alone: 1 - p, as end to end."""
    loss = np.linspace(0, 1, 11)
    assert transport.goodput_link_retry(loss, 4096, 1e11, 0.0) == pytest.approx(
        transport.goodput_selective(loss)
    )
