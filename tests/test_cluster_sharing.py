"""Fair shares: what makes a division max-min fair, linear programmes, a scheduler of unit packets,
sums done by hand.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from fabriclab import catalog, cluster
from fabriclab.units import GB, Gbps, ms

INF = np.inf
RATE = st.one_of(st.floats(0, 100), st.just(INF), st.just(0.0))
FLOW = st.tuples(
    RATE, st.floats(0.1, 10), st.one_of(st.just(INF), st.floats(0, 60))
)  # demand, weight, cap
FLOWS = st.lists(FLOW, min_size=1, max_size=7)


@st.composite
def networks(draw):
    """(demands, weights, caps, capacities, crosses) of a few flows over a few links, each flow over
    one or more.
    """
    flows = draw(st.lists(FLOW, min_size=1, max_size=5))
    links = draw(st.integers(1, 4))
    paths = [draw(st.sets(st.integers(0, links - 1), min_size=1)) for _ in flows]
    capacities = draw(st.lists(st.floats(1, 100), min_size=links, max_size=links))
    crosses = [[int(link in path) for path in paths] for link in range(links)]
    return *(np.array(column) for column in zip(*flows)), np.array(capacities), np.array(crosses)


def assert_each_has_a_bottleneck(rates, limits, weights, capacities, crosses):
    """Bertsekas and Gallager's theorem: fair means feasible, and a full link for each that wants
    more, on which none has more per weight.
    """
    assert (
        (rates >= 0).all()
        and (rates <= limits * (1 + 1e-9)).all()
        and (crosses @ rates <= capacities * (1 + 1e-9)).all()
    )
    for i, rate in enumerate(rates):
        if rate < limits[i] * (1 - 1e-9) - 1e-12:
            full = (crosses[:, i] == 1) & (crosses @ rates >= capacities * (1 - 1e-9))
            assert any(
                (rates / weights)[row == 1].max() <= rate / weights[i] * (1 + 1e-7) + 1e-12
                for row in crosses[full]
            ), (i, rates)


def programmed(limits, weights, capacities, crosses):
    """The lexicographic maximum by linear programmes: lift the least normalised rate, fix whoever
    no programme can lift further, repeat.
    """
    n = len(limits)
    limits, fixed = np.minimum(limits, 1e4), np.full(n, np.nan)
    while np.isnan(fixed).any():
        free = np.isnan(fixed)
        # variables: rates and the level t; rates of the free at least w t
        bounds = [
            (0, limit) if loose else (value, value)
            for limit, loose, value in zip(limits, free, fixed)
        ] + [(0, None)]
        above = np.column_stack([-np.eye(n), weights])[free]
        # who cannot reach t is held by its own limit: it leaves the race at that limit
        load = np.column_stack([crosses, np.zeros(len(capacities))])

        def best(objective, level=None):
            floor = bounds if level is None else [*bounds[:-1], (level, level)]
            found = linprog(
                -objective,
                np.vstack([above, load]),
                np.concatenate([np.zeros(len(above)), capacities]),
                bounds=floor,
                method="highs",
            )
            assert found.success
            return -found.fun

        level = best(np.eye(n + 1)[n])
        for i in np.flatnonzero(free):
            if best(np.eye(n + 1)[i], level * (1 - 1e-9)) <= weights[i] * level * (1 + 1e-6) + 1e-9:
                fixed[i] = min(limits[i], weights[i] * level)
        # a fixed flow's own wish must not bind the others a hair too hard
        fixed = np.where(np.isnan(fixed), fixed, fixed * (1 - 1e-10))
    return fixed


@given(FLOWS, st.floats(1, 200))
def test_a_port_is_shared_fairly_and_never_left_idle(flows, capacity):
    """Somebody could have more without taking it from one with less, or bandwidth that somebody
    wants lies idle.
    """
    demands, weights, caps = (np.array(column) for column in zip(*flows))
    rates, limits = cluster.max_min(demands, capacity, weights, caps), np.minimum(demands, caps)
    assert_each_has_a_bottleneck(
        rates, limits, weights, np.array([capacity]), np.ones((1, len(flows)))
    )
    assert rates.sum() == pytest.approx(min(capacity, limits.sum()), rel=1e-9, abs=1e-12)
    level = cluster.water_level(demands, capacity, weights, caps)
    assert np.allclose(rates, np.minimum(limits, weights * level)) and np.isinf(level) == (
        limits.sum() <= capacity
    )
    # a weight is a guarantee
    assert (rates >= np.minimum(limits, capacity * weights / weights.sum()) * (1 - 1e-9)).all()


@given(networks())
def test_a_network_gives_each_flow_its_bottleneck(network):
    """Over several links a flow is held back by no full link, or on one where another has more for
    its weight.
    """
    demands, weights, caps, capacities, crosses = network
    rates = cluster.max_min_network(demands, capacities, crosses, weights, caps)
    assert_each_has_a_bottleneck(rates, np.minimum(demands, caps), weights, capacities, crosses)


@given(networks())
@settings(max_examples=20)
def test_it_is_what_linear_programmes_find(network):
    """The division is not the lexicographic maximum of the rates per weight, sorted upwards."""
    demands, weights, caps, capacities, crosses = network
    rates = cluster.max_min_network(demands, capacities, crosses, weights, caps)
    np.testing.assert_allclose(
        rates,
        programmed(np.minimum(demands, caps), weights, capacities, crosses),
        rtol=1e-5,
        atol=1e-6,
    )


@given(FLOWS, st.floats(1, 200), st.randoms())
def test_names_units_and_a_network_of_one_link_change_nothing(flows, capacity, random):
    """Shares would depend on the order of tenants, on bits or bytes, on the scale of weights, or on
    which function is asked.
    """
    demands, weights, caps = (np.array(column) for column in zip(*flows))
    rates = cluster.max_min(demands, capacity, weights, caps)
    order = random.sample(range(len(flows)), len(flows))
    np.testing.assert_allclose(
        cluster.max_min(demands[order], capacity, weights[order], caps[order]),
        rates[order],
        rtol=1e-9,
    )
    np.testing.assert_allclose(
        cluster.max_min(8 * demands, 8 * capacity, 3 * weights, 8 * caps), 8 * rates, rtol=1e-9
    )
    np.testing.assert_allclose(
        cluster.max_min_network(demands, capacity, np.ones((1, len(flows))), weights, caps),
        rates,
        rtol=1e-9,
        atol=1e-12,
    )


@given(st.lists(st.tuples(RATE, st.integers(1, 4)), min_size=1, max_size=5), st.floats(1, 200))
def test_a_weight_counts_as_that_many_flows(flows, capacity):
    """A flow of weight 3 is not worth three of weight 1 that want a third each."""
    demands, weights = (np.array(column, dtype=float) for column in zip(*flows))
    parts = np.repeat(demands / weights, weights.astype(int))
    split = np.add.reduceat(
        cluster.max_min(parts, capacity), np.concatenate([[0], np.cumsum(weights.astype(int))[:-1]])
    )
    np.testing.assert_allclose(
        split, cluster.max_min(demands, capacity, weights), rtol=1e-9, atol=1e-12
    )


@given(
    st.lists(st.tuples(st.floats(0, 100), st.integers(0, 3)), min_size=1, max_size=6),
    st.floats(1, 200),
)
def test_strict_priority_is_the_limit_of_large_weights(flows, capacity):
    """A lower class takes from a higher one, or gets more or less than what is left."""
    demands, priority = (np.array(column, dtype=float) for column in zip(*flows))
    rates = cluster.max_min(demands, capacity, priority=priority)
    np.testing.assert_allclose(
        rates, cluster.max_min(demands, capacity, weights=1e9**priority), rtol=1e-6, atol=1e-5
    )
    top = priority == priority.max()
    np.testing.assert_allclose(rates[top], cluster.max_min(demands[top], capacity))


def test_shares_done_by_hand():
    """Sums that a reader can do on paper come out otherwise, and with them the notebook's."""
    assert cluster.max_min([10, 30, 80], 100).tolist() == [10, 30, 60]
    assert cluster.max_min([10, 30, 80], 120).tolist() == [10, 30, 80]
    assert cluster.max_min([50, 50, 50], 100, [2, 1, 1]).tolist() == [50, 25, 25]
    assert cluster.max_min([20, 50, 50], 100, [2, 1, 1]).tolist() == [20, 40, 40]
    assert cluster.max_min([INF, INF, 5], 100, caps=[30, INF, INF]).tolist() == [30, 65, 5]
    assert cluster.max_min([INF, 40, 70], 100, priority=[0, 1, 1]).tolist() == [0, 40, 60]
    # a long flow over three links, one short flow on each; the second link is half as wide
    assert cluster.max_min_network(
        [INF] * 4, [10, 5, 10], [[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]]
    ).tolist() == [2.5, 7.5, 2.5, 7.5]
    # four to one host at 12.5 each leave a neighbour on the way there its own
    assert cluster.max_min_network([50] * 5, [50, 200], [[0, 1, 1, 1, 1], [1] * 5]).tolist() == [
        50,
        12.5,
        12.5,
        12.5,
        12.5,
    ]


def test_eight_virtual_functions():
    """A cap is not a ceiling for a function alone on the adapter, or a weight is (R180)."""
    port = catalog.link_rate("NDR").per_direction
    alone, all_busy = [INF] + [0] * 7, [INF] * 8
    for busy, capped, weighted in ((alone, 50, 400), (all_busy, 50, 50)):
        assert cluster.max_min(busy, port, caps=50 * Gbps)[0] == pytest.approx(capped * Gbps)
        assert cluster.max_min(busy, port)[0] == pytest.approx(weighted * Gbps)


def played(packets, weights, arrivals=(0, 0)):
    """When two queues of unit packets are empty, if a link sends one packet a tick: of those
    waiting, the queue least served for its weight.
    """
    left, served, clock, tick, end = list(packets), [0.0, 0.0], 0.0, 0, [None, None]
    while any(left):
        waiting = [i for i in (0, 1) if left[i] and arrivals[i] <= tick]
        tick += 1
        if waiting:
            i = min(waiting, key=lambda i: (max(served[i], clock), i))
            clock = max(served[i], clock)
            served[i] = clock + 1 / weights[i]
            left[i] -= 1
            end[i] = tick if not left[i] else None
    return end


@given(st.integers(1, 150), st.integers(0, 150), st.integers(1, 5), st.integers(1, 5))
@settings(max_examples=20)
def test_a_burst_delays_as_a_scheduler_of_packets_has_it(size, burst, w, v):
    """A transfer beside a burst ends elsewhere than min(M/s, M + B)/C, which a packet scheduler
    misses by a round at most.
    """
    end = played((size, burst), (w, v))[0]
    assert cluster.shared_time(size, burst, 1, w / (w + v)) == pytest.approx(end, abs=w + v + 1)


@given(
    st.lists(st.tuples(st.floats(0.1, 100), st.floats(0.2, 5)), min_size=2, max_size=2),
    st.floats(0.5, 20),
)
def test_the_closed_form_is_the_play_of_two(flows, capacity):
    """The formula and the event-by-event division of a link disagree about two that begin
    together.
    """
    (size, w), (burst, v) = flows
    both = cluster.processor_sharing([size, burst], capacity, weights=[w, v])
    assert both.finish[0] == pytest.approx(
        cluster.shared_time(size, burst, capacity, w / (w + v)), rel=1e-9
    )
    assert both.finish[1] == pytest.approx(
        cluster.shared_time(burst, size, capacity, v / (w + v)), rel=1e-9
    )
    for share, priority in ((1, [1, 0]), (0, [0, 1])):
        strict = cluster.processor_sharing([size, burst], capacity, priority=priority)
        assert strict.finish[0] == pytest.approx(
            cluster.shared_time(size, burst, capacity, share), rel=1e-9
        )
    # the transfer alone may take all; a burst capped at k leaves it 1 - k
    capped = cluster.processor_sharing(
        [size, burst], capacity, weights=[1, 9], caps=[INF, 0.3 * capacity]
    )
    assert capped.finish[0] == pytest.approx(
        cluster.shared_time(size, burst, capacity, 0.7), rel=1e-9
    )


@given(
    st.lists(
        st.tuples(st.floats(0, 100), st.floats(0, 30), st.floats(0.2, 5), st.integers(0, 2)),
        min_size=1,
        max_size=6,
    ),
    st.floats(0.5, 20),
)
def test_all_bytes_pass_and_none_before_its_time(flows, capacity):
    """A flow sends more or fewer bytes than it has, before it starts or after it ends, or the link
    carries more than it can or idles.
    """
    sizes, starts, weights, priority = (np.array(column) for column in zip(*flows))
    shared = cluster.processor_sharing(sizes, capacity, starts, weights, priority=priority)
    edges, rates, finish = (
        np.array(shared.edges),
        np.array(shared.rates).reshape(-1, len(flows)),
        np.array(shared.finish),
    )
    assert (np.diff(edges) > 0).all()
    np.testing.assert_allclose(np.diff(edges) @ rates, sizes, rtol=1e-9, atol=1e-9)
    assert (finish >= starts + sizes / capacity - 1e-9).all() and (
        finish <= starts.max() + sizes.sum() / capacity + 1e-9
    ).all()
    for begin, end, now in zip(edges, edges[1:], rates):
        assert not now[(starts >= end) | (finish <= begin)].any()
        wanted = ((starts <= begin) & (finish >= end) & (sizes > 0)).any()
        assert now.sum() == pytest.approx(capacity if wanted else 0)


def test_four_rules_done_by_hand():
    """A rule divides the link otherwise than its words say: in one lane by flows, by caps even when
    alone, by weights, in order.
    """
    links = cluster.isolation(12 * GB, 100 * GB, 50 * GB, share=0.8, flows=3, start=60 * ms)
    by_hand = {
        "one lane": (0.78, 2.24),
        "rate limits": (0.3, 10.06),
        "weighted lanes": (0.285, 2.24),
        "strict priority": (0.24, 2.24),
    }
    assert list(links) == list(by_hand)
    for rule, ends in by_hand.items():
        assert links[rule].finish == pytest.approx(ends), rule


def test_late_starts_done_by_hand():
    """What comes late is served early, or what ends gives its part to nobody; a packet scheduler is
    within a round of it.
    """
    late = cluster.processor_sharing([100, 50], 10, starts=[0, 5])
    assert late.edges == (0, 5, 15) and late.rates == ((10, 0), (5, 5)) and late.finish == (15, 15)
    assert played((100, 50), (1, 1), (0, 50)) == pytest.approx([150, 150], abs=2)
    empty = cluster.processor_sharing([0, 10], 10, starts=[3, 2], weights=[1, 2])
    assert empty.finish == (3, 3) and empty.rates == ((0, 0), (0, 10))


def test_the_texts_checkpoint_and_its_fifty_per_cent():
    """100 GB at 400 Gb/s are not 2 s (R181), two equal flows do not double the AllReduce, or 50 %
    more is another share than 2/3 (R182).
    """
    port, burst = catalog.link_rate("NDR").per_direction, 100 * GB
    assert burst / port == pytest.approx(2.0)
    alone = 12 * GB / port
    longer = cluster.shared_time(12 * GB, burst, port, np.array([1, 0.8, 2 / 3, 0.5])) / alone - 1
    assert longer == pytest.approx([0, 0.25, 0.5, 1])
    # no transfer waits longer than the burst lasts: 50 % need one of 200 GB at most on that link
    assert cluster.shared_time(700 * GB, burst, port, 0.5) == pytest.approx(14 + 2)
    assert cluster.shared_time(200 * GB, burst, port, 0.5) == pytest.approx(1.5 * 4)
    assert cluster.shared_time(0, burst, port, 0) == 0 and cluster.shared_time(
        12 * GB, 0, port, 0
    ) == pytest.approx(240 * ms)


@pytest.mark.parametrize(
    "call, word",
    [
        (lambda: cluster.max_min([], 1), "demands"),
        (lambda: cluster.max_min([[1]], 1), "demands"),
        (lambda: cluster.max_min([-1], 1), "demands"),
        (lambda: cluster.max_min([float("nan")], 1), "demands"),
        (lambda: cluster.max_min("fast", 1), "demands"),
        (lambda: cluster.max_min([1], 0), "capacity"),
        (lambda: cluster.max_min([1], [1, 2]), "capacity"),
        (lambda: cluster.max_min([1], INF), "capacity"),
        (lambda: cluster.max_min([1, 2], 1, [1, 0]), "weights"),
        (lambda: cluster.max_min([1, 2], 1, [1, 2, 3]), "weights"),
        (lambda: cluster.max_min([1, 2], 1, caps=-1), "caps"),
        (lambda: cluster.max_min([1, 2], 1, priority=[0.5, 1]), "priority"),
        (lambda: cluster.water_level([1, 2], -1), "capacity"),
        (lambda: cluster.max_min_network([1, 2], [1], [[1, 0]]), "crosses.* flow 1"),
        (lambda: cluster.max_min_network([1, 2], [1], [[1, 1, 1]]), "crosses"),
        (lambda: cluster.max_min_network([1, 2], [1], [1, 1]), "crosses"),
        (lambda: cluster.max_min_network([1, 2], [1], [[1, 2]]), "crosses"),
        (lambda: cluster.max_min_network([1, 2], [[1]], [[1, 1]]), "crosses"),
        (lambda: cluster.max_min_network([1, 2], [0], [[1, 1]]), "capacities"),
        (lambda: cluster.shared_time(-1, 1, 1), "size"),
        (lambda: cluster.shared_time(1, float("nan"), 1), "burst"),
        (lambda: cluster.shared_time(1, 1, 0), "capacity"),
        (lambda: cluster.shared_time(1, 1, 1, 80), "share"),
        (lambda: cluster.shared_time([1, 2], [1, 2, 3], 1), "size and burst"),
        (lambda: cluster.processor_sharing([], 1), "sizes"),
        (lambda: cluster.processor_sharing([1, 2], 1, starts=-1), "starts"),
        (lambda: cluster.processor_sharing([1, 2], 1, caps=0), "caps"),
        (lambda: cluster.processor_sharing([1, 2], 1, weights=[1, 2, 3]), "weights"),
        (lambda: cluster.isolation([1, 2], 1, 1), "size"),
        (lambda: cluster.isolation(1, -1, 1), "burst"),
        (lambda: cluster.isolation(1, 1, 1, share=1), "share"),
        (lambda: cluster.isolation(1, 1, 1, flows=0), "flows"),
        (lambda: cluster.isolation(1, 1, 1, start=float("inf")), "start"),
    ],
)
def test_bad_input_is_named(call, word):
    """A slip of the reader's becomes a NaN, an endless loop, or an error that does not say which
    argument it is.
    """
    with pytest.raises(ValueError, match=word):
        call()
