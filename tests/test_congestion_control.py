"""DCQCN and HPCC: published fixed points, the characteristic roots of the delayed system, and
senders stepped by hand.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabriclab import congestion
from fabriclab.congestion import Dcqcn
from fabriclab.units import KB, MB, Gbps, Mbps, us

# The authors' setting once more, written out in packets of 1000 bytes, for the models of this file.
C, TAU, TAU2, F, B, RAI, T, G = 5e6, 50e-6, 55e-6, 5, 1e4, 5e3, 55e-6, 1 / 256


def mark(q):
    """RED marking at a queue of q packets."""
    return 0.0 if q <= 5 else (1.0 if q > 200 else (q - 5) / 195 * 0.01)


def slope(n, q, alpha, target, rate, p, before):
    """(dq, dalpha, dR_T, dR_C) of one of n equal flows, straight from the paper's equations; p and
    `before` are the late values.
    """
    p = min(max(p, 1e-12), 1 - 1e-12)
    b, c = (
        p / ((1 - p) ** -B - 1) if B * -math.log1p(-p) < 600 else 0.0,
        p / ((1 - p) ** (-T * before) - 1),
    )
    cut = 1 - (1 - p) ** (TAU * before)
    return (
        n * rate - C,
        G / TAU2 * (1 - (1 - p) ** (TAU2 * before) - alpha),
        -(target - rate) / TAU * cut
        + RAI * before * ((1 - p) ** (F * B) * b + (1 - p) ** (F * T * before) * c),
        -rate * alpha / (2 * TAU) * cut + (target - rate) / 2 * before * (b + c),
    )


@pytest.mark.parametrize(
    "flows, marking, queue", [(2, 7.769886e-4, 20.15), (4, 1.887666e-3, 41.81)]
)
def test_published_fixed_points(flows, marking, queue):
    """The fixed point would not be the one known for the authors' constants, or the cube root not
    some 20 % above it.
    """
    rest = congestion.fixed_point(flows)
    assert (
        rest.exists
        and rest.marking == pytest.approx(marking, abs=5e-10)
        and rest.queue / KB == pytest.approx(queue, abs=0.005)
    )
    assert 1.15 < congestion.cube_root_marking(flows) / rest.marking < 1.25


@pytest.mark.parametrize("flows", [1, 2, 4, 8, 14])
def test_everything_rests_at_the_fixed_point(flows):
    """Some derivative of the paper's equations would not vanish there."""
    rest = congestion.fixed_point(flows)
    rate, target = rest.rate / 1000, rest.target / 1000
    assert flows * rest.rate == pytest.approx(40 * Gbps)
    assert rest.queue == pytest.approx(5 * KB + rest.marking / 0.01 * 195 * KB)
    dq, dalpha, dtarget, drate = slope(
        flows, rest.queue / 1000, rest.alpha, target, rate, rest.marking, rate
    )
    assert (dq / C, dalpha * TAU2 / G, dtarget * TAU / rate, drate * TAU / rate) == pytest.approx(
        (0, 0, 0, 0), abs=1e-8
    )


def test_many_flows_have_no_fixed_point_on_the_ramp():
    """Past Pmax the model would report a queue that no marking curve gives; it must say so, and 16
    flows then swing across Kmax.
    """
    assert congestion.fixed_point(14).exists
    crowd = congestion.fixed_point(16)
    assert not crowd.exists and crowd.queue == math.inf and crowd.marking > 0.01
    late = congestion.trajectory(16, 0.05, 4 * us).queue[-5000:]
    assert late.min() < 200 * KB < late.max() < 1 * MB
    # a ramp that ends higher brings it back
    assert congestion.fixed_point(16, Dcqcn(pmax=0.02)).exists


def test_trajectory_against_the_equations_stepped_by_hand():
    """Three unequal flows would not move as the paper's equations do, one flow and one microsecond
    at a time.
    """
    run = congestion.trajectory(
        3, 0.008, 20 * us, step=2 * us, rates=[10 * Gbps, 20 * Gbps, 30 * Gbps]
    )
    dt, late, q = 0.5e-6, 40, 0.0
    flows = [[1.0, r * Gbps / 1000, r * Gbps / 1000] for r in (10, 20, 30)]
    past = []
    for i in range(16_001):
        past.append((q, [f[2] for f in flows]))
        if i % 200 == 0:
            at = np.argmin(abs(run.times - i * dt))
            assert run.queue[at] / 1000 == pytest.approx(q, rel=0.02, abs=3)
            assert run.rates[at] / 1000 == pytest.approx(past[-1][1], rel=0.01)
            assert run.alphas[at] == pytest.approx([f[0] for f in flows], rel=0.002)
        old_q, old_rates = past[i - late] if i >= late else (0.0, past[0][1])
        moves = [slope(3, q, *f, mark(old_q), before) for f, before in zip(flows, old_rates)]
        q = max(0.0, q + dt * (sum(f[2] for f in flows) - C))
        for f, (_, dalpha, dtarget, drate) in zip(flows, moves):
            f[0] += dt * dalpha
            f[1] = min(C, f[1] + dt * dtarget)
            f[2] = min(C, f[2] + dt * drate)


def rightmost_root(flows, delay, nodes=24):
    """Largest real part of the characteristic roots of the linearised, delayed model, by Chebyshev
    collocation (Breda et al. 2005).
    """
    rest = congestion.fixed_point(flows)
    at = np.array([rest.queue / 1000, rest.alpha, rest.target / 1000, rest.rate / 1000])

    def f(now, then):
        return np.array(slope(flows, *now, mark(then[0]), then[3]))

    now, then = np.empty((4, 4)), np.empty((4, 4))
    for j in range(4):
        h = np.zeros(4)
        h[j] = 1e-5 * at[j]
        now[:, j] = (f(at + h, at) - f(at - h, at)) / (2 * h[j])
        then[:, j] = (f(at, at + h) - f(at, at - h)) / (2 * h[j])
    x = np.cos(np.pi * np.arange(nodes + 1) / nodes)
    weight = np.array([2.0, *np.ones(nodes - 1), 2.0]) * (-1.0) ** np.arange(nodes + 1)
    gap = x[:, None] - x[None, :] + np.eye(nodes + 1)
    d = np.outer(weight, 1 / weight) / gap
    d -= np.diag(d.sum(axis=1))
    matrix = np.kron(d * 2 / delay, np.eye(4))
    matrix[:4] = 0
    matrix[:4, :4], matrix[:4, -4:] = now, then
    return np.linalg.eigvals(matrix).real.max()


@pytest.mark.parametrize(
    "flows, delay, settles", [(2, 50, True), (10, 50, True), (10, 85, False), (2, 100, False)]
)
def test_stable_and_unstable_as_the_characteristic_roots_say(flows, delay, settles):
    """The fluid would settle where the delayed system has a root to the right, or swing where it
    has none (50 and 85 us, as published).
    """
    assert (rightmost_root(flows, delay * us) < 0) == settles
    run, rest = (
        congestion.trajectory(flows, 0.12, delay * us, step=10 * us),
        congestion.fixed_point(flows),
    )
    late = run.queue[-len(run.queue) // 4 :]
    if settles:
        assert late == pytest.approx(rest.queue, rel=0.05)
        assert run.rates[-1] == pytest.approx(rest.rate, rel=0.01)
    else:
        assert late.max() - late.min() > 0.5 * rest.queue


def test_dcqcn_makes_unequal_flows_equal():
    """Flows that start at 35 and 5 Gb/s would keep unequal shares."""
    run = congestion.trajectory(2, 0.1, 4 * us, step=10 * us, rates=[35 * Gbps, 5 * Gbps])
    assert run.rates[-1] == pytest.approx(20 * Gbps, rel=0.02)


@given(st.integers(1, 300), st.floats(0.5, 1), st.floats(1, 200))
def test_hpcc_rests_where_the_formulas_say(flows, eta, increase):
    """Rate and queue of the steady state would not be where the window rule comes to rest, round
    trip by round trip.
    """
    run = congestion.rounds(100 * Gbps, flows, increase * Mbps, 5 * us, 400, eta, packet=0)
    assert run.rates[-1] == pytest.approx(
        congestion.steady_rate(100 * Gbps, flows, increase * Mbps, eta), rel=1e-3
    )
    assert run.queue[-1] == pytest.approx(
        congestion.steady_queue(100 * Gbps, flows, increase * Mbps, 5 * us, eta, packet=0),
        rel=1e-3,
        abs=500,
    )


def test_hpcc_of_the_paper():
    """With eta 0.95 and R_AI 50 Mb/s at 100 Gb/s, 100 flows would queue or 101 would not; each gets
    eta C/N + R_AI.
    """
    assert congestion.steady_queue(100 * Gbps, [100, 101], 50 * Mbps, 10 * us) == pytest.approx(
        [0, 62.5]
    )
    assert congestion.steady_rate(100 * Gbps, 10, 50 * Mbps) == pytest.approx(9.55 * Gbps)


def test_hpcc_refuses_windows_of_less_than_a_packet():
    """The law of rest would be given for flows that cannot follow it: 63 windows in the 62.5
    packets that 100 Gb/s hold in 5 us.
    """
    assert congestion.most_windows(100 * Gbps, 5 * us) == 62
    assert congestion.most_windows(100 * Gbps, 5 * us, packet=0) == math.inf
    for call in (
        lambda flows, **more: congestion.steady_queue(100 * Gbps, flows, 5e6, 5 * us, **more),
        lambda flows, **more: congestion.steady_rate(
            100 * Gbps, flows, 5e6, round_trip=5 * us, **more
        ),
        lambda flows, **more: congestion.rounds(100 * Gbps, flows, 5e6, 5 * us, 2, **more),
    ):
        call(62), call(63, packet=0)
        with pytest.raises(ValueError, match="^flows must be at most 62"):
            call(63)


def test_hpcc_drains_an_incast_in_one_round_trip_and_evens_out():
    """A queue of fifteen windows would stand for longer than the one round trip that telemetry
    needs, or unfairness stay.
    """
    run = congestion.rounds(100 * Gbps, 16, 50 * Mbps, 5 * us, 3)
    assert run.queue == pytest.approx([15 * 62.5 * KB, 0, 0])
    run = congestion.rounds(100 * Gbps, 2, 50 * Mbps, 5 * us, 6000, rates=[90 * Gbps, 1 * Gbps])
    assert run.rates[-1] == pytest.approx(47.55 * Gbps, rel=0.01)
    # by hand: in flight 0.91 C T, less than eta, so both add W_AI; then 0.911, and so on for five
    # rounds; then eta/U all the same
    assert run.rates[:7, 1] / Gbps == pytest.approx(
        [1, 1.05, 1.1, 1.15, 1.2, 1.25, 1.25 * 0.95 / 0.915 + 0.05]
    )
    assert (
        congestion.next_window(100.0, 0.5, 1.0, probing=True) == 101
        and congestion.next_window(100.0, 0.5, 1.0) == 191
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda: congestion.fixed_point(0),
        lambda: congestion.fixed_point(1.5),
        lambda: Dcqcn(kmin=300 * KB),
        lambda: Dcqcn(pmax=2),
        lambda: Dcqcn(timer=0),
        lambda: Dcqcn(fast_steps=-1),
        lambda: congestion.trajectory(2, 0.01, 0),
        lambda: congestion.trajectory(2, 1e9, 1e-6),
        lambda: congestion.trajectory(2, 0.01, 1e-5, rates=[1e9] * 3),
        lambda: congestion.trajectory(2, 0.01, 1e-5, rates=1e12),
        lambda: congestion.trajectory(2, 0.01, 1e-5, queue=-1),
        lambda: Dcqcn().marking(-1),
        lambda: congestion.steady_rate(1, 1, 1, eta=2),
        lambda: congestion.rounds(1, 2, 1, 1, 0),
        lambda: congestion.rounds(1, 2, 1, 1, 3, rates=[1, 2, 3]),
        lambda: congestion.next_window(1, 0, 1),
    ],
)
def test_bad_input_is_refused(call):
    """A wrong argument would give a wrong number, or a hang, instead of a ValueError."""
    with pytest.raises(ValueError, match="must"):
        call()
