"""How often a fleet fails: exact fractions, simulated fleets, and published failure counts."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabriclab import reliability
from fabriclab.units import day, hour, minute


@given(st.fractions(0, 1, max_denominator=10**6), st.integers(0, 60), st.integers(0, 5))
def test_at_least_one_against_exact_fractions(p, units, periods):
    """The chance would not be one minus all of them holding out, counted exactly; zero units or
    periods included.
    """
    exact = 1 - (1 - p) ** (units * periods)
    assert reliability.at_least_one(float(p), units, periods) == pytest.approx(
        float(exact), rel=1e-9, abs=1e-300
    )


def test_small_chances_keep_their_digits():
    """1 - (1-p)^n in plain floats is 0 for p = 1e-18: a part that fails would be said never to."""
    assert reliability.at_least_one(1e-18, 1000) == pytest.approx(1e-15, rel=1e-12)


def test_napkin_1_5_and_its_variants():
    """The chapter's 21.8 % a day, or what its facts sheet derives from it: a week, copper to the
    hosts, another MTTF.
    """
    modules = reliability.transceivers(4096, 3)
    assert (
        modules == 2 * 12_288 and reliability.transceivers(4096, 3, copper_hosts=True) == 2 * 8192
    )
    chances = reliability.at_least_one(1e-5, np.array([modules, 7 * modules, 16_384]))
    assert chances == pytest.approx(np.array([0.21789, 0.821, 0.151]), abs=5e-4)
    worse = reliability.rate_from_mttf(50_000 * hour)
    assert 1 - reliability.failure_free(worse, modules, day) == pytest.approx(0.99999, abs=1e-5)
    assert reliability.expected_failures(worse, modules, day) == pytest.approx(11.8, abs=0.05)


def test_first_failure_and_first_bad_day_against_simulated_fleets():
    """The mean wait for the first failure, or for the first day with one, would not be what fleets
    with random failures show.
    """
    rng = np.random.default_rng(5)
    rate, units = 0.3 / day, 4
    first = rng.exponential(1 / rate, size=(40_000, units)).min(axis=1)
    assert first.mean() == pytest.approx(reliability.time_to_first(rate, units), rel=0.02)
    p = 1 - reliability.failure_free(rate, 1, day)
    assert np.ceil(first / day).mean() == pytest.approx(
        reliability.periods_to_first(p, units), rel=0.02
    )
    assert (first > day).mean() == pytest.approx(
        reliability.failure_free(rate, units, day), abs=0.01
    )


def test_published_failure_counts():
    """8,192 and 100,000 GPUs of MTTF 50,000 h, 500 ppm a day, or Llama 3's 419 interruptions would
    come out differently.
    """
    gpu = reliability.rate_from_mttf(50_000 * hour)
    assert reliability.expected_failures(gpu, np.array([8192, 100_000]), day) == pytest.approx(
        np.array([3.93, 48.0]), abs=0.005
    )
    assert 1 / reliability.rate_from_ppm(500) == pytest.approx(48_000 * hour)
    llama = reliability.rate_from_mttf(16_384 * 54 * day / 419)
    assert reliability.expected_failures(llama, 100_000, day) == pytest.approx(47, abs=0.5)


def test_a_system_fails_as_often_as_its_parts_together():
    """A node of the appendix's parts would not come to 3,593 h, or a system of parts that never
    fail would stop.
    """
    hours = np.array([50e3, 150e3, 100e3, 200e3, 200e3]) * hour
    assert reliability.system_mttf(hours, [8, 8, 2, 1, 8]) == pytest.approx(3593 * hour, rel=1e-3)
    assert reliability.system_mttf([hour], [0]) == math.inf
    with pytest.raises(ValueError, match="one length"):
        reliability.system_mttf([hour, hour], [1])


def lost_in_simulation(interval, cost, mtbf, restart, rng, segments=4000):
    """Share of wasted time of a job that works and saves `segments` times, thrown back by failures
    at random.
    """
    clock = 0.0
    for _ in range(segments):
        pause = 0.0
        while True:
            failure = rng.exponential(mtbf)
            if failure >= pause + interval + cost:
                clock += pause + interval + cost
                break
            clock += failure
            pause = restart
    return 1 - segments * interval / clock


def test_best_interval_is_the_least_waste():
    """Some interval, to either side, would waste less than the best; or a restart would move it; or
    it would part from Daly's own series (2006, equation 37).
    """
    for cost, mtbf in ((60, 1280), (60, 7200), (1, 1e6), (1e-6, 1e6), (500, 400), (1e4, 100)):
        best = reliability.best_interval(cost, mtbf)
        for restart in (0.0, 300.0):
            least = reliability.wasted_share(best, cost, mtbf, restart=restart)
            near = best * np.array([0.5, 0.9, 0.99, 1.01, 1.1, 2])
            around = reliability.wasted_share(near, cost, mtbf, restart=restart)
            assert (around >= least * (1 - 1e-12)).all()
        if cost < mtbf / 100:
            x = math.sqrt(cost / (2 * mtbf))
            daly = math.sqrt(2 * cost * mtbf) * (1 + x / 3 + x * x / 9) - cost
            assert best == pytest.approx(daly, rel=1e-4)
        # the slope of the logarithm of time per work is zero there
        slope = 1 / mtbf / -math.expm1(-(best + cost) / mtbf) - 1 / best
        assert abs(slope) * mtbf < 1e-4
    assert reliability.best_interval(1e4, 100) == pytest.approx(100)
    assert reliability.best_interval(np.array([60.0, 0.0]), 7200)[1] == 0


def test_a_job_that_never_saves_or_never_fails():
    """A job that never saves would not be said to waste everything, one that never fails would be
    said to waste more than its saving.
    """
    inf = math.inf
    assert reliability.wasted_share(inf, 60, 7200) == 1
    assert reliability.wasted_share(1e9, 60, 7200) == pytest.approx(1)
    assert reliability.wasted_share(540, 60, inf) == pytest.approx(0.1)
    assert reliability.wasted_share(inf, 60, inf) == 0


def test_rates_from_events_and_their_bounds():
    """Two fleets would not be told apart: bounds that published tables (Garwood 1936) do not give,
    or that miss the true rate more often than they say.
    """
    # 95 % interval of a Poisson mean, both sides: 0 seen to 3.69, 5 seen 1.62 to 11.67
    for seen, least, most in ((0, 0, 3.689), (1, 0.0253, 5.572), (5, 1.623, 11.668)):
        bounds = reliability.rate_bounds(seen, 1, confidence=0.975)
        assert bounds == pytest.approx((least, most), abs=1e-3)
    assert reliability.rate_bounds(0, 100, 2)[1] == pytest.approx(-math.log(0.05) / 200)
    rng = np.random.default_rng(3)
    for mean in (0.3, 4.0, 50.0):
        least, most = reliability.rate_bounds(rng.poisson(mean, 20_000), 1.0)
        assert np.mean(least > mean) < 0.055 and np.mean(most < mean) < 0.055
    rate = reliability.rate_from_events(419, 54 * day, 16_384)
    assert 1 / rate / hour == pytest.approx(16_384 * 54 * 24 / 419)


def test_a_mean_time_in_place_of_a_rate_is_refused():
    """50,000 hours given for a rate would come back as a fleet that fails 10^12 times a second."""
    for call in (
        lambda: reliability.time_to_first(50_000 * hour, 8192),
        lambda: reliability.expected_failures(50_000 * hour, 8192, day),
        lambda: reliability.failure_free(50_000 * hour, 8192, day),
    ):
        with pytest.raises(ValueError, match="^rate must be failures per second .*rate_from_mttf"):
            call()


@pytest.mark.parametrize("interval, restart", [(300.0, 0.0), (300.0, 120.0), (1500.0, 60.0)])
def test_wasted_share_against_a_simulated_job(interval, restart):
    """What failures and checkpoints cost would not be what a job that lives through thousands of
    them loses.
    """
    got = lost_in_simulation(interval, 40.0, 1000.0, restart, np.random.default_rng(11))
    assert got == pytest.approx(
        reliability.wasted_share(interval, 40.0, 1000.0, restart=restart), abs=0.015
    )


def test_youngs_interval_is_near_the_best():
    """No interval may beat Young's by more than a trifle while a checkpoint is short against the
    time between failures.
    """
    mtbf, cost = 6 * hour, 30.0
    tried = np.geomspace(10, 6 * hour, 4001)
    waste = reliability.wasted_share(tried, cost, mtbf)
    best = tried[waste.argmin()]
    assert reliability.young_interval(cost, mtbf) == pytest.approx(best, rel=0.05)
    # the field guide's cluster: one failure in 20.6 to 22.2 minutes, checkpoints of 30, 60 and 120
    # s
    got = reliability.young_interval(np.array([30.0, 60, 120]), day / 67.5) / minute
    assert got == pytest.approx(np.array([4.6, 6.5, 9.2]), abs=0.05)


@given(st.floats(1e-3, 1e6), st.floats(0, 1e6), st.floats(1e-3, 1e9), st.floats(0, 1e6))
def test_wasted_share_is_a_share(interval, cost, mtbf, restart):
    """A share below 0 or above 1, or a warning, would come out for some job; or less waste than the
    checkpoints alone.
    """
    waste = reliability.wasted_share(interval, cost, mtbf, restart=restart)
    assert cost / (interval + cost) - 1e-9 <= waste <= 1


@given(st.floats(1e-9, 0.5), st.floats(0, 0.99))
def test_units_for_undoes_at_least_one(p, chance):
    """The fleet said to reach a chance would have another."""
    units = reliability.units_for(chance, p)
    low, high = (reliability.at_least_one(p, f(units)) for f in (math.floor, math.ceil))
    assert low <= chance * (1 + 1e-9) and chance <= high + 1e-9


@pytest.mark.parametrize(
    "call",
    [
        lambda: reliability.at_least_one(1.5, 10),
        lambda: reliability.at_least_one(0.1, -1),
        lambda: reliability.at_least_one(0.1, 2.5),
        lambda: reliability.at_least_one(math.nan, 1),
        lambda: reliability.rate_from_mttf(0),
        lambda: reliability.rate_from_ppm(-1),
        lambda: reliability.units_for(0.5, 0),
        lambda: reliability.units_for(0.5, 1),
        lambda: reliability.young_interval(1, 0),
        lambda: reliability.wasted_share(0, 1, 1),
        lambda: reliability.transceivers(8, 0),
        lambda: reliability.failure_free(-1, 1, 1),
    ],
)
def test_bad_input_is_refused(call):
    """A wrong argument would give a wrong number instead of a ValueError."""
    with pytest.raises(ValueError, match="must be"):
        call()


def test_nothing_fails_and_everything_fails():
    """The ends of the scale would give a NaN or a warning: no parts, parts that never fail, parts
    that always do.
    """
    assert (
        reliability.at_least_one(1.0, 0) == 0
        and reliability.at_least_one(1.0, 1) == 1
        and reliability.at_least_one(0.0, 5) == 0
    )
    assert reliability.time_to_first(0, 10) == reliability.periods_to_first(0, 10) == math.inf
    assert reliability.periods_to_first(1, 10) == 1 and reliability.units_for(1, 0.5) == math.inf
    assert (
        type(reliability.at_least_one(0.1, 2)) is type(reliability.wasted_share(1, 1, 1)) is float
    )


def test_port_time_lost_is_what_a_simulation_counts():
    """A failure would take other ports, or for another time, than its repair: switches of 16 parts
    drawn failure by failure, a part's port for one hour against the whole switch for four.
    """
    draw, rate, parts = np.random.default_rng(4), 1 / (2000 * hour), 800
    failed = draw.poisson(rate * reliability.YEAR, parts)
    for ports, repair in ((1, 1 * hour), (16, 4 * hour)):
        counted = sum(ports * repair for times in failed for _ in range(times))
        assert reliability.port_time_lost(rate, parts, ports, repair) == pytest.approx(
            counted, rel=0.05
        )
    # by hand: Napkin Math 1.6's fleet at Napkin Math 1.5's rate, 128,000 x 1e-5 x 365
    fleet = reliability.rate_from_ppm(10), 128_000
    one = reliability.port_time_lost(*fleet, 1, 1 * hour)
    assert one / hour == pytest.approx(467.2)
    assert reliability.port_time_lost(*fleet, 128, 4 * hour) / one == pytest.approx(512)
    # eight ports behind one laser and an eighth as many lasers are the same port-hours
    assert reliability.port_time_lost(fleet[0], 16_000, 8, 1 * hour) == pytest.approx(one)
    assert reliability.port_time_lost(*fleet, 0, 1 * hour) == 0
    with pytest.raises(ValueError, match="repair"):
        reliability.port_time_lost(*fleet, 1, -1.0)
