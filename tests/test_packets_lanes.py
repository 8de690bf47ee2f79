"""Lanes of the packet simulator: shares against closed forms, isolation against the same flows
alone, and what no labels may change.
"""

import dataclasses

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_packets import LINE, RING, SERVICE, clockwise, conserved, scenes

from fabriclab import deadlock
from fabriclab.congestion import Dcqcn, pfc_headroom
from fabriclab.packets import Flows, Hpcc, Lanes, run
from fabriclab.topology import assemble, leaf_spine
from fabriclab.units import KB, MB, ms, us


def star(speeds):
    """Host 0 at line rate and others at `speeds`, all on one switch, which is the last vertex."""
    hosts = len(speeds) + 1
    return assemble(
        "star",
        hosts,
        ("switch",),
        (1,),
        (hosts,),
        {"cables": (range(hosts), hosts, 1, [LINE, *speeds])},
        [[0]] * hosts,
    )


def in_lane(flows, lane):
    return dataclasses.replace(flows, lane=lane)


def carried(result, start, to):
    """Bytes by lane on one cable."""
    return result.carried[(result.ports == [start, to]).all(axis=1)]


def identical(one, other, rows=slice(None)):
    """Two runs agree to the last bit; `rows` are those of the other's ports that belong to the
    one's.
    """
    for field in (
        "completion",
        "sent",
        "delivered",
        "discarded",
        "dropped",
        "held",
        "retransmitted",
        "marked",
        "duration",
        "outcome",
        "events",
    ):
        assert np.array_equal(getattr(one, field), getattr(other, field)), field
    for field in ("ports", "carried", "busy", "peak", "pauses", "paused"):
        assert np.array_equal(getattr(one, field), getattr(other, field)[rows]), field


# ---- shares


@pytest.mark.parametrize("same_host", [False, True])
@pytest.mark.parametrize("weights", [(3, 1), (1, 1), (0.5, 7.3)])
def test_two_busy_lanes_share_by_weight(same_host, weights):
    """At every moment each has what its weight says to within a packet of either lane, in a switch
    and in a host's NIC.
    """
    flows = Flows([1, 1 if same_host else 2], 0, 20 * MB, lane=[0, 1])
    busy = (1, 3) if same_host else (3, 0)  # the port where they meet
    for until in (7.7 * us, 33.3 * us, 100 * us, 1 * ms):
        result = run(
            star([LINE] * 2), flows, lanes=Lanes(weights), pfc=None, buffer=1e9, until=until
        )
        first, second = carried(result, *busy).tolist()
        assert (
            abs(first / weights[0] - second / weights[1]) <= 1000 / weights[0] + 1000 / weights[1]
        )
        assert first + second >= (until - 1 * us) * LINE - 2000
        ahead = (
            result.carried / LINE - result.busy
        )  # of the packet under way when time was up, what is still to come
        assert (
            (ahead > -1e-12).all()
            and (result.busy >= 0).all()
            and (ahead.reshape(-1, 2).sum(axis=1) <= SERVICE + 1e-12).all()
        )


def test_equal_lanes_take_turns_whatever_their_numbers():
    """Lanes that are owed the same are served in the order in which they came, not in that of their
    numbers.
    """
    orders = [
        run(
            star([LINE] * 3), Flows([1, 2, 3], 0, 100 * KB, lane=lane), lanes=Lanes((1, 1, 1))
        ).completion.tolist()
        for lane in ([0, 1, 2], [1, 2, 0], [2, 1, 0])
    ]
    assert orders[0] == orders[1] == orders[2] and len(set(orders[0])) == 3


def test_small_packets_do_not_get_less():
    """Shares are of bytes, not of turns: messages of a tenth of a packet would take a tenth."""
    flows = Flows([1] * 3000 + [2], 0, [100] * 3000 + [10 * MB], lane=[0] * 3000 + [1])
    small, large = carried(
        run(star([LINE] * 2), flows, lanes=Lanes((1, 1)), pfc=None, buffer=1e9, until=40 * us), 3, 0
    )
    assert abs(small - large) <= 1100 and small > 200 * KB


def test_what_one_lane_leaves_the_others_use():
    """Demands of 0.1, 1 and 1 at weights 2, 2, 1: the first gets its tenth, the rest is divided 2
    to 1. Idle weights are not lost.
    """
    result = run(
        star([0.1 * LINE, LINE, LINE]),
        Flows([1, 2, 3], 0, 100 * MB, lane=[0, 1, 2]),
        lanes=Lanes((2, 2, 1)),
        pfc=None,
        buffer=1e9,
        until=1 * ms,
    )
    assert carried(result, 4, 0) / (1 * ms * LINE) == pytest.approx([0.1, 0.6, 0.3], rel=0.005)


def test_a_lane_alone_has_the_whole_wire():
    """Work conserving: a lane of a thousandth of the weights is as fast as on a wire of its own."""
    flows = Flows([1, 2], 0, 1 * MB)
    alone, light = (
        run(star([LINE] * 2), flows, buffer=4 * MB),
        run(star([LINE] * 2), in_lane(flows, 1), lanes=Lanes((999, 1)), buffer=8 * MB),
    )
    assert np.array_equal(alone.completion, light.completion)


@pytest.mark.parametrize("size", [1 * MB, 200 * KB])
def test_nobody_saves_up_turns(size):
    """A lane that was silent for 0.1 ms shares evenly from then on; with credit for the silence it
    would take the wire alone.
    """
    result = run(
        star([LINE] * 2),
        Flows([1, 2], 0, [20 * MB, size], [0, 100 * us], lane=[0, 1]),
        lanes=Lanes((1, 1)),
        pfc=None,
        buffer=1e9,
    )
    assert result.completion[1] == pytest.approx(2 * size / LINE, abs=4 * SERVICE + 1 * us)


def test_flows_take_turns_inside_their_lane():
    """Two flows of lane 0 have a quarter each, the one of lane 1 half: lanes are served before
    flows.
    """
    result = run(
        star([LINE] * 3), Flows(1, 0, 10 * MB, lane=[0, 0, 1]), lanes=Lanes((1, 1)), until=400 * us
    )
    assert result.sent / (400 * us * LINE) == pytest.approx([0.25, 0.25, 0.5], rel=0.01)


# ---- strict priority


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 300 * KB), st.floats(0, 50e-6), st.integers(1, 6))
def test_strict_priority_waits_one_packet_at_most(size, start, crowd):
    """A packet on the wire is not interrupted, and that is all that the strict lane ever waits for,
    at each of four hops.
    """
    network = leaf_spine(2, 1, 7, 1, bandwidth=LINE)
    background = [0, *range(1, crowd)]
    high, low = Flows(0, 7, size, start), Flows(background, 7, 1 * MB)
    alone = run(network, high).completion[0]
    both = Flows(
        [0, *background], 7, [size, *low.size], [start, *low.start], lane=[1] + [0] * crowd
    )
    with_crowd = conserved(run(network, both, lanes=Lanes((1, 1), strict=(1,)))).completion[0]
    assert alone <= with_crowd <= alone + 4 * SERVICE + 1e-12


def test_strict_lanes_go_in_the_order_named():
    """Lane 2 before lane 0 before lane 1: each ends when those before it and itself are through."""
    result = run(
        star([LINE] * 3),
        Flows([1, 2, 3], 0, 1 * MB, lane=[0, 1, 2]),
        lanes=Lanes((1, 100, 1), strict=(2, 0)),
        buffer=30 * MB,
    )
    assert result.completion == pytest.approx(np.array([2, 3, 1]) * MB / LINE, rel=0.02)


def test_strict_lanes_leave_the_weights_of_the_others_alone():
    """Lanes 1 and 2 share 3 to 1 what a strict lane leaves, though it cuts in before every one of
    their packets.
    """
    flows = Flows([1, 2, 3], 0, 100 * MB, lane=[0, 1, 2])
    result = run(
        star([0.5 * LINE, LINE, LINE]),
        flows,
        lanes=Lanes((1, 3, 1), strict=(0,)),
        pfc=None,
        buffer=1e9,
        until=1 * ms,
    )
    assert carried(result, 4, 0) / (1 * ms * LINE) == pytest.approx([0.5, 0.375, 0.125], rel=0.005)


# ---- buffers, pauses and marks


def test_a_pause_stops_one_lane_only():
    """A victim behind the crowd's pauses slows down in their lane; in its own it waits for one
    packet on each wire, and is never paused.
    """
    cables = {
        "host": ([0, 1, 2, 3, 4, 5], [6, 6, 6, 6, 7, 7], 1, LINE),
        "wide": ([6], [7], 1, 4 * LINE),
    }
    two = assemble("two switches", 6, ("switch",), (2,), (6,), cables, [[0]] * 6)
    flows = Flows([0, 1, 2, 3], [4, 4, 4, 5], 1 * MB)
    alone = run(two, Flows(3, 5, 1 * MB)).completion[0]
    shared = conserved(run(two, flows, buffer=150 * KB))
    apart = conserved(run(two, in_lane(flows, [1, 1, 1, 0]), lanes=Lanes((1, 1)), buffer=300 * KB))
    assert (
        shared.completion[3] > 2 * alone
        and alone <= apart.completion[3] <= alone + SERVICE / 4 + 1e-12
    )
    assert (
        apart.pauses[apart.lanes == 0].sum() == 0
        and apart.paused[apart.lanes == 0].sum() == 0
        and apart.pauses[apart.lanes == 1].sum() > 10
    )
    assert set(apart.lanes[apart.pause_log[:, 1].astype(int)]) == {1}


def test_a_lane_that_drops_leaves_the_others_buffer_alone():
    """Without PFC a crowd fills its own share and drops; were the buffer common, the other lane
    would lose packets too.
    """
    flows = Flows([1, 2, 3, 4], 0, 300 * KB, lane=[0, 1, 1, 1])
    result = conserved(
        run(
            star([LINE] * 4),
            flows,
            lanes=Lanes((1, 1)),
            pfc=None,
            buffer=300 * KB,
            recovery="selective",
        )
    )
    assert (result.dropped[1:] > 0).all() and result.dropped[0] == 0
    assert result.peak[result.lanes == 1].max() == 150 * KB and result.peak[
        result.lanes == 0
    ].max() == pytest.approx(150 * KB, abs=2000)


def test_lanes_mark_by_their_own_queue():
    """The crowd's queue must not mark, and slow, a flow whose own lane is empty."""
    flows = Flows([1, 2, 3, 4], 0, 2 * MB, lane=[0, 1, 1, 1])
    result = conserved(
        run(star([0.4 * LINE] + [LINE] * 3), flows, lanes=Lanes((1, 1)), congestion=Dcqcn())
    )
    assert result.marked[0] == 0 and (result.marked[1:] > 0).all()
    assert result.completion[0] == pytest.approx(2 * MB / (0.4 * LINE), rel=0.01)


def test_hpcc_sees_the_whole_wire():
    """Telemetry counts what all lanes carry: a sender that saw its lane only would aim at 95 % of a
    wire of which it has half.
    """
    result = run(
        star([LINE] * 2),
        Flows([1, 2], 0, 100 * MB, lane=[0, 1]),
        lanes=Lanes((1, 1)),
        congestion=Hpcc(),
        sample=5 * us,
        watch=[(3, 0)],
        watch_flows=[0, 1],
        until=1 * ms,
    )
    steady = result.times > 500 * us
    assert (
        result.rates[steady].sum(axis=1).mean() == pytest.approx(0.95 * LINE, rel=0.03)
        and result.queues[3, 0][steady].mean() < 3 * KB
    )


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.integers(0, 2), min_size=2, max_size=10),
    st.tuples(*[st.floats(0.1, 10)] * 3),
    st.sampled_from([(), (1,), (2, 0)]),
    st.floats(0, 3e-6),
)
def test_pfc_with_its_headroom_loses_nothing_in_any_lane(lanes, weights, strict, delay):
    """Each lane's share must hold the headroom of all cables: the least that `run` takes, three
    times over, is enough.
    """
    least = (len(lanes) + 1) * (pfc_headroom(LINE, 2 * delay, 1000, response=0, mac_phy=0) + 1001)
    flows = Flows(np.arange(1, len(lanes) + 1), 0, 100 * KB, lane=lanes)
    result = run(
        star([LINE] * len(lanes)),
        flows,
        lanes=Lanes(weights, strict),
        delay=delay,
        buffer=3 * int(least + 1),
    )
    assert result.dropped.sum() == 0 and result.outcome == "finished"


# ---- deadlock


def test_two_lanes_break_the_circle():
    """The four flows that lock a ring in one lane finish in two: two flows wait for each other in
    no circle.
    """
    assert run(RING, clockwise(range(4)), buffer=200 * KB).outcome == "locked"
    for lane in ([0, 0, 1, 1], [0, 1, 0, 1]):
        assert (
            conserved(
                run(RING, in_lane(clockwise(range(4)), lane), lanes=Lanes((1, 1)), buffer=400 * KB)
            ).outcome
            == "finished"
        )


def test_a_lock_is_one_lanes():
    """Lane 1 locks and names its channels; a flow of lane 0 over the same cables comes through."""
    ways = [*clockwise(range(4)).routes, (0, 4, 5, 6, 2)]
    flows = Flows([0, 1, 2, 3, 0], [2, 3, 0, 1, 2], 2 * MB, routes=ways, lane=[1, 1, 1, 1, 0])
    result = conserved(run(RING, flows, lanes=Lanes((1, 1)), buffer=400 * KB))
    assert result.outcome == "locked" and np.isfinite(result.completion).tolist() == [False] * 4 + [
        True
    ]
    assert {channel[2] for pair in result.waits.items() for channel in pair} == {1}
    graph = deadlock.dependencies(
        [deadlock.route(way, int(lane)) for way, lane in zip(ways, flows.lane)]
    )
    assert graph.verdict(result.waits) == "certain"


# ---- what labels may not change


@st.composite
def laned(draw):
    """A scene of the simulator's own tests, its flows dealt to lanes."""
    network, flows, options = draw(scenes())
    count = draw(st.integers(1, 4))
    weights = tuple(draw(st.sampled_from([1, 1, 2, 0.3])) for _ in range(count))
    strict = tuple(draw(st.permutations(range(count)))[: draw(st.integers(0, count))])
    lane = [draw(st.integers(0, count - 1)) for _ in range(len(flows))]
    options["buffer"] *= count
    return network, in_lane(flows, lane), options, weights, strict


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(laned(), st.data())
def test_lanes_have_no_names(scene, data):
    """Bytes are conserved and runs end, in any lanes; and which number a lane has changes nothing,
    to the last bit.
    """
    network, flows, options, weights, strict = scene
    result = conserved(run(network, flows, lanes=Lanes(weights, strict), **options))
    assert result.outcome in ("finished", "out of time", "locked") and result.duration <= 0.02
    busy = result.busy.reshape(-1, len(weights)).sum(axis=1)
    assert (result.busy >= 0).all() and (busy <= result.duration + 1e-12).all()
    unused = ~np.isin(result.lanes, flows.lane)
    assert not any(field[unused].any() for field in (result.carried, result.peak, result.pauses))
    new = np.array(data.draw(st.permutations(range(len(weights)))))
    other = Lanes(
        tuple(weights[i] for i in np.argsort(new)), tuple(int(new[lane]) for lane in strict)
    )
    again = run(network, in_lane(flows, new[flows.lane]), lanes=other, **options)
    identical(
        result, again, (np.arange(len(result.ports)).reshape(-1, len(weights))[:, new]).ravel()
    )


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(laned(), st.integers(0, 3))
def test_empty_lanes_cost_nothing(scene, lane):
    """All flows in one of L lanes, the buffer L times as large so that its share is the same: the
    run of one lane, to the last bit.
    """
    network, flows, options, weights, strict = scene
    lane %= len(weights)
    result = run(network, in_lane(flows, lane), lanes=Lanes(weights, strict), **options)
    identical(
        run(network, in_lane(flows, 0), **options | {"buffer": options["buffer"] // len(weights)}),
        result,
        slice(lane, None, len(weights)),
    )


def test_queues_by_lane_add_up():
    """(from, to) is the cable, (from, to, lane) one lane of it."""
    network = leaf_spine(2, 1, 4, 2, bandwidth=LINE)
    flows = Flows(range(4), range(4, 8), 200 * KB, lane=[0, 1, 1, 0])
    queues = run(
        network,
        flows,
        lanes=Lanes((1, 2)),
        routing="spray",
        recovery="selective",
        sample=1 * us,
        watch=[(8, 10), (8, 10, 0), (8, 10, 1)],
    ).queues
    assert (
        np.array_equal(queues[8, 10], queues[8, 10, 0] + queues[8, 10, 1])
        and min(queue.max() for queue in queues.values()) > 0
    )


# ---- an AllReduce and a checkpoint

TRAINERS, STORAGE = range(12), (12, 13)
FABRIC = leaf_spine(
    4, 2, 4, 2, bandwidth=LINE
)  # hosts 0 to 15, leaves 16 to 19, spines 20 and 21; leaves are 2 to 1 oversubscribed


def way(source, target, spine):
    up, down = 16 + source // 4, 16 + target // 4
    return [source, up, target] if up == down else [source, up, 20 + spine, down, target]


EXCHANGE = [
    way(host, (host + 1) % 12, 0) for host in TRAINERS
]  # a step of the ring, over spine 0 where it leaves its leaf
CHECKPOINT = [way(host, STORAGE[host % 2], host % 2) for host in TRAINERS]


def training(exchange, checkpoint, lanes=None):
    """(seconds of the exchange, of the checkpoint), 1 MB per host each; the checkpoint is in lane 1
    where there are lanes.
    """
    ways = EXCHANGE * exchange + CHECKPOINT * checkpoint
    lane = [0] * 12 * exchange + [int(lanes is not None)] * 12 * checkpoint
    flows = Flows([w[0] for w in ways], [w[-1] for w in ways], 1 * MB, routes=ways, lane=lane)
    result = conserved(run(FABRIC, flows, lanes=lanes, buffer=2 * MB))
    assert result.outcome == "finished" and result.dropped.sum() == 0
    return [
        float(part.max())
        for part in (result.completion[: 12 * exchange], result.completion[12 * exchange :])
        if part.size
    ]


def test_a_checkpoint_holds_up_training_unless_it_has_a_lane_of_its_own():
    """Twelve hosts write to two: in one lane their pauses stop the ring for most of the burst; in
    two it has at least half of every wire.
    """
    (alone,), (write,) = training(1, 0), training(0, 1)
    assert alone == pytest.approx(1 * MB / LINE, rel=0.03) and write == pytest.approx(
        6 * MB / LINE, rel=0.01
    )
    shared, even, strict = (
        training(1, 1),
        training(1, 1, Lanes((1, 1))),
        training(1, 1, Lanes((1, 1), strict=(0,))),
    )
    assert shared[0] > 4 * alone
    assert alone < even[0] < 2 * alone
    assert alone <= strict[0] <= alone + 4 * SERVICE
    # the storage is the bottleneck, so isolation costs the checkpoint nothing, but for strict
    # priority the time in which it may not send
    assert shared[1] == pytest.approx(write, rel=0.01) and even[1] == pytest.approx(write, rel=0.01)
    assert strict[1] == pytest.approx(write + alone, rel=0.01)


# ---- bad input


@pytest.mark.parametrize(
    "name, make",
    [
        ("weights", lambda: Lanes(())),
        ("weights", lambda: Lanes((1, 0))),
        ("weights", lambda: Lanes((1, -1))),
        ("weights", lambda: Lanes((1, float("nan")))),
        ("weights", lambda: Lanes((1,) * 17)),
        ("weights", lambda: Lanes(3)),
        ("weights", lambda: Lanes("31")),
        ("weights", lambda: Lanes(([1, 2],))),
        ("strict", lambda: Lanes((1, 1), (2,))),
        ("strict", lambda: Lanes((1, 1), (0, 0))),
        ("strict", lambda: Lanes((1, 1), 1)),
        ("strict", lambda: Lanes((1, 1), (0.5,))),
        ("lane", lambda: Flows(0, 2, 1000, lane=-1)),
        ("lane", lambda: Flows(0, 2, 1000, lane=0.5)),
        ("lane", lambda: Flows(0, 2, 1000, lane=16)),
        ("lane", lambda: Flows([0, 1], 2, 1000, lane=[0, 0, 0])),
        ("lane", lambda: run(RING, Flows(0, 2, 1000, lane=1))),
        ("lane", lambda: run(RING, Flows(0, 2, 1000, lane=2), lanes=Lanes((1, 1)))),
        ("lanes", lambda: run(RING, Flows(0, 2, 1000), lanes=(1, 1))),
        ("watch", lambda: run(RING, Flows(0, 2, 1000), watch=[(4, 5, 1)], sample=1e-6)),
        ("watch", lambda: run(RING, Flows(0, 2, 1000), watch=[(4, 5, 0, 0)], sample=1e-6)),
        ("buffer", lambda: run(RING, Flows(0, 2, 1000), lanes=Lanes((1,) * 16), buffer=200 * KB)),
    ],
)
def test_bad_lanes_are_named(name, make):
    """A lane that is not there must not be taken for another one."""
    with pytest.raises(ValueError, match=f"^{name} must|^source.*{name} must"):
        make()
