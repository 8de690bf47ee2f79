"""Figures of level 4: queues, stragglers, rates, odds, pauses, circles and fleets are the models'
numbers, in view and in the clear.
"""

import itertools

import numpy as np
import pytest
from drawn import assert_clear, behind_legend, collisions
from scipy import stats

from fabriclab import congestion, deadlock, packets, reliability, topology
from fabriclab.course.behaviour import figures as drawings
from fabriclab.course.behaviour import waiting_figures as waiting
from fabriclab.course.engine import plot
from fabriclab.units import GB, KB, MB, TB, Gbps, Mbps, day, hour, minute, ms, us

INCAST = congestion.fluid_queue([5 * us, 700 * us], [12.8 * TB, 0], 50 * GB, 32 * MB)
LEVELS = {
    "buffer": 32 * MB,
    "PFC Xoff": 16 * MB,
    "PFC Xon": 15 * MB,
    "ECN Kmax": 400 * KB,
    "ECN Kmin": 100 * KB,
}
RATES = {
    "text, 1e-5 a day": reliability.rate_from_ppm(10),
    "appendix, MTTF 50,000 h": reliability.rate_from_mttf(50_000 * hour),
}
STARTS = np.linspace(0.2, 1, 10) * 40 * Gbps
DCQCN = congestion.trajectory(10, 4 * ms, 20 * us, step=20 * us, rates=STARTS)
HPCC = congestion.rounds(40 * Gbps, 10, 50 * Mbps, 20 * us, 200, rates=STARTS)
RUNS = {
    "DCQCN": (DCQCN.times, DCQCN.rates, DCQCN.queue),
    "HPCC": (20 * us * np.arange(1, 201), HPCC.rates, HPCC.queue),
}
RESTS = {"DCQCN": congestion.fixed_point(10).queue, "HPCC": 0.0}
RING = deadlock.dependencies(deadlock.ring_routes(4, 2))
SQUARE = {0: (0, 1), 1: (1, 1), 2: (1, 0), 3: (0, 0)}  # clockwise from the upper left
TORUS = deadlock.dependencies(deadlock.grid_routes((4, 4), wrap=True))
GRID = {4 * i + j: (i, j) for i in range(4) for j in range(4)}

# hosts 0-15 on leaves 16-19 under spines 20 and 21: six send to host 0; three flows have nothing to
# do with it
NETWORK = topology.leaf_spine(4, 2, 4, 2)
SOURCES, TARGETS, SPINES = (
    (4, 5, 8, 9, 12, 13, 6, 10, 2),
    (0, 0, 0, 0, 0, 0, 1, 14, 3),
    (20, 20, 20, 21, 21, 20, 20, 20, None),
)
WAYS = tuple(
    (s, 16 + s // 4, t) if spine is None else (s, 16 + s // 4, spine, 16 + t // 4, t)
    for s, t, spine in zip(SOURCES, TARGETS, SPINES)
)
SIZES = (1 * MB,) * 6 + (200 * KB,) * 3


@pytest.fixture(scope="module")
def crowd():
    return packets.run(NETWORK, packets.Flows(SOURCES, TARGETS, SIZES, routes=WAYS), buffer=1 * MB)


DRAWINGS = {
    "incast": lambda ax: drawings.queue(ax, INCAST, LEVELS),
    "incast, small": lambda ax: drawings.queue(
        ax,
        congestion.fluid_queue([5 * us, 50 * us], [0.3 * TB, 0], 50 * GB, 32 * MB),
        {"buffer": 32 * MB, "PFC Xoff": None},
    ),
    "no incast": lambda ax: drawings.queue(
        ax, congestion.fluid_queue([5 * us], [1 * GB], 50 * GB, 32 * MB), {"buffer": 32 * MB}
    ),
    "stragglers": lambda ax: drawings.stragglers(ax, stats.expon(0.1, 0.005)),
    "stragglers alike": lambda ax: drawings.stragglers(ax, stats.norm(0.1, 1e-4), most=1000),
    "control": lambda ax: drawings.control(ax, 40 * Gbps, RUNS, RESTS),
    "loads": lambda ax: drawings.loads(ax, [3, 1, 4, 0], congestion.fullest_path(8, 4)),
    "loads, many": lambda ax: drawings.loads(
        ax, np.arange(31, 95), congestion.fullest_path(4032, 64)
    ),
    "loads, one each": lambda ax: drawings.loads(
        ax, [1, 3, *[0] * 14], congestion.fullest_path(4, 16)
    ),
    "at least one": lambda ax: drawings.at_least_one(ax, RATES),
    "at least one, large": lambda ax: drawings.at_least_one(ax, RATES, 1e6, 30 * day),
    "checkpoints": lambda ax: drawings.checkpoints(ax, 60, day / 67.5, interval=hour),
    "ring": lambda ax: drawings.dependencies(ax, RING, SQUARE),
    "torus": lambda ax: drawings.dependencies(ax, TORUS, GRID, period=(4, 4)),
}


@pytest.fixture
def fresh():
    return plot.new()


@pytest.mark.parametrize("name", DRAWINGS)
def test_words_keep_clear_and_can_be_read_from_the_last_row(name):
    """A label lies on another or leaves the picture, a legend hides a curve, or type is set below
    11 points.
    """
    figure, axes = plot.new(*{"control": (8.2, 4.6), "incast": (8.2, 4.2)}.get(name, ()))
    DRAWINGS[name](axes)
    assert_clear(figure)


def test_an_incast_fills_overflows_and_drains_as_computed_by_hand(fresh):
    """The queue of figure 12 is not min(B, (lambda - mu) t), then B - mu t; or another amount is
    shown as lost.
    """
    artists = DRAWINGS["incast"](fresh[1])
    times, held = artists["fluid"][0].get_data()
    by_hand = np.where(
        times <= 5 * us,
        np.minimum(32 * MB, 12.75 * TB * times),
        np.maximum(0, 32 * MB - 50 * GB * (times - 5 * us)),
    )
    np.testing.assert_allclose(held, by_hand, rtol=1e-9, atol=1e-6)
    assert times[-1] == pytest.approx(705 * us) and held.max() == 32 * MB
    corners = artists["lost"][0].get_paths()[0].vertices
    assert corners[:, 1].max() == pytest.approx(63.75 * MB) and corners[
        corners[:, 1].argmax(), 0
    ] == pytest.approx(5 * us)
    assert corners[:, 0].min() == pytest.approx(32 * MB / (12.75 * TB)) and corners[
        :, 0
    ].max() == pytest.approx(5 * us)
    assert [set(line.get_ydata()) for line in artists["levels"]] == 2 * [
        {level} for level in LEVELS.values()
    ]
    # filling takes about a third of the left, and next to nothing of the right
    left, right = (axes.get_xlim()[1] for axes in artists["axes"])
    assert 5 * us < left < 10 * us and right > 700 * us
    assert [label.get_text() for label in artists["level labels"]] == [
        "buffer 32 MB",
        "PFC Xoff 16 MB",
        "PFC Xon 15 MB",
        "ECN Kmax 400 KB",
        "ECN Kmin 100 KB",
    ]
    assert (
        artists["outcome"][0].get_text() == "full after 2.51 us, 31.75 MB lost, empty after 645 us"
    )


def test_a_queue_that_never_fills_shows_no_loss_and_hides_a_level_of_none(fresh):
    """After an overflow the loss stays in the picture, or a level that is not there is drawn."""
    artists = drawings.queue(fresh[1], INCAST, {"buffer": 32 * MB, "PFC Xoff": 16 * MB})
    drawings.move_queue(
        artists,
        congestion.fluid_queue([5 * us, 50 * us], [0.3 * TB, 0], 50 * GB, 32 * MB),
        {"buffer": 32 * MB, "PFC Xoff": None},
        ([1 * us, 2 * us], np.array([0, 500 * KB])),
    )
    assert artists["outcome"][0].get_text() == "never full, empty after 30 us"
    assert (
        np.ptp(artists["lost"][0].get_paths()[0].vertices, axis=0).max() == 0
        if artists["lost"][0].get_paths() and len(artists["lost"][0].get_paths()[0].vertices)
        else True
    )
    assert artists["levels"][1].get_xdata() == [] and artists["level labels"][1].get_text() == ""
    assert list(artists["packets"][0].get_ydata()) == [0, 500 * KB]
    # (0.3 TB/s - 50 GB/s) x 2 us are 500 KB: it is the first that is off, by 250 KB
    assert artists["apart"][0].get_xydata().tolist() == [[1 * us, 0]]


def test_labels_are_moved_apart_no_further_than_need_be():
    """Labels of near levels lie on each other, or wander off from what they name."""
    assert drawings.apart([0.5, None, 0.52, 0.9], 0.1) == pytest.approx([0.46, None, 0.56, 0.9])
    places = [0.3, 0.31, 0.1, 0.305]
    moved = drawings.apart(places, 0.05)
    assert (
        np.diff(sorted(moved)).min() >= 0.05 - 1e-12
        and np.argsort(moved).tolist() == np.argsort(places).tolist()
    )
    assert drawings.apart([0.2, 0.8], 0.1) == [0.2, 0.8]


def test_the_slowest_of_exponential_workers_takes_the_harmonic_number(fresh):
    """The mean of a maximum, its p99, or what is simulated strays from the closed forms for
    exponential times.
    """
    artists = drawings.stragglers(fresh[1], stats.expon(), most=1000)
    workers, mean = artists["mean"][0].get_data()
    np.testing.assert_allclose(mean, [np.sum(1 / np.arange(1, n + 1)) for n in workers], rtol=1e-6)
    np.testing.assert_allclose(
        artists["tail"][0].get_ydata(), -np.log(-np.expm1(np.log(0.99) / workers)), rtol=1e-9
    )
    few, dots = artists["simulated"][0].get_data()
    np.testing.assert_allclose(dots, np.interp(few, workers, mean), rtol=0.3)
    assert abs(np.mean(dots / np.interp(few, workers, mean)) - 1) < 0.06
    assert set(artists["one"][0].get_ydata()) == {1.0}
    assert [label.get_text() for label in artists["labels"]] == ["11.5 s", "7.49 s", "1 s"]


def test_congestion_control_shows_every_flow_and_the_queue(fresh):
    """A flow is missing, a rate is not its share of the port, the fair share is not 1/N, or the
    schemes are swapped.
    """
    artists = DRAWINGS["control"](fresh[1])
    for place, (times, rates, held) in enumerate(RUNS.values()):
        segments = artists["rates"][place].get_segments()
        assert len(segments) == 10
        for flow in range(10):
            np.testing.assert_allclose(
                segments[flow], np.column_stack([times, 10 * rates[:, flow] / (5 * GB)])
            )
        np.testing.assert_allclose(artists["queue"][place].get_ydata(), held)
        assert set(artists["fair"][place].get_ydata()) == {1}
    assert [axes.get_title(loc="left") for axes in artists["axes"][:2]] == ["DCQCN", "HPCC"]
    assert (
        set(artists["rests"][0].get_ydata()) == {RESTS["DCQCN"]}
        and len(artists["rests"][1].get_ydata()) == 0
    )
    assert [label.get_text() for label in artists["labels"]] == [
        "fair share 1/10",
        "point of rest 123 KB\nfirst peak 2.35 MB",
        "fair share 1/10",
        "point of rest 0 B\nfirst peak 500 KB",
    ]
    drawings.move_control(artists, 40 * Gbps, RUNS, {"DCQCN": np.inf})
    assert [label.get_text() for label in artists["labels"][1::2]] == [
        "no point of rest: it swings\nfirst peak 2.35 MB",
        "first peak 500 KB",
    ]


def ends(collection):
    """(left, bottom, width, height) of each bar of a collection, from the lower left up."""
    corners = [path.vertices[:4] for path in collection.get_paths()]
    return sorted((*box.min(axis=0), *np.ptp(box, axis=0)) for box in corners)


def test_hashing_shows_one_draw_and_the_odds_of_all(fresh):
    """A bar is not its path's load, or the odds are not those found by trying all 65,536 ways to
    hash 8 flows onto 4 paths.
    """
    artists = DRAWINGS["loads"](fresh[1])
    assert [bar[3] for bar in ends(artists["paths"][0])] == pytest.approx([1.5, 0.5, 0.0]) and [
        bar[3] for bar in ends(artists["fullest"][0])
    ] == [2.0]
    every = np.array(list(itertools.product(range(4), repeat=8)))
    fullest = np.max([(every == path).sum(axis=1) for path in range(4)], axis=0)
    odds = {k: (fullest == k).mean() for k in range(2, 9)}
    rows = ends(artists["odds"][0]) + ends(artists["drawn"][0])
    assert {round((y + height / 2) * 2): width for _, y, width, height in rows} == pytest.approx(
        odds, abs=1e-9
    )
    assert [bar[2] for bar in ends(artists["drawn"][0])] == pytest.approx([odds[4]])
    words = [label.get_text() for label in artists["chances"] if label.get_text()]
    assert words == [
        "2 flows: 3.8%",
        "3 flows: 51.3%",
        "4 flows: 34.0%",
        "5 flows: 9.2%",
        "6 flows: 1.5%",
        "7 flows: 0.1%",
    ]
    assert [label.get_text() for label in artists["counts"][:5]] == ["3", "1", "4", "0", ""]


def test_going_to_many_paths_leaves_no_words_of_the_few(fresh):
    """Sixty-four bars keep the counts or the odds of four."""
    artists = DRAWINGS["loads"](fresh[1])
    drawings.move_loads(artists, np.full(64, 63), congestion.fullest_path(4032, 64))
    assert not any(label.get_text() for label in artists["counts"])
    assert [label.get_text() for label in artists["chances"] if label.get_text()] == [
        "81 flows: 11.4%"
    ]
    assert (
        len(artists["paths"][0].get_paths()) == 0
        and [bar[3] for bar in ends(artists["fullest"][0])] == [1.0] * 64
    )


def test_at_least_one_is_one_minus_none(fresh):
    """A fleet's chance is not 1 - (1-p)^n; the text's 21.8 % or what the appendix's MTTF makes of
    it is not shown (E-22).
    """
    artists = DRAWINGS["at least one"](fresh[1])
    text, appendix = artists["chances"]
    fleets = text.get_xdata()
    np.testing.assert_allclose(text.get_ydata(), 1 - (1 - 1e-5) ** fleets, rtol=2e-5)
    np.testing.assert_allclose(appendix.get_ydata(), 1 - np.exp(-fleets * 24 / 50_000), rtol=1e-9)
    assert [dot.get_xdata()[0] for dot in artists["marked"]] == [24_576] * 2
    assert artists["marked"][0].get_ydata()[0] == pytest.approx(0.21789, abs=1e-5)
    assert [label.get_text() for label in artists["labels"]] == ["21.8%", "99.999%"]
    drawings.move_at_least_one(artists, RATES, 24_576, 7 * day)
    assert artists["labels"][0].get_text() == "82.1%"


def test_checkpoints_waste_least_near_youngs_optimum(fresh):
    """The curve is not Daly's, its lowest point lies far from the diamond, or the diamond is not
    sqrt(2 C M).
    """
    artists = DRAWINGS["checkpoints"](fresh[1])
    work, wasted = artists["wasted"][0].get_data()
    mtbf = day / 67.5
    reached = work < 20 * mtbf
    np.testing.assert_allclose(
        wasted[reached], 1 - work[reached] / mtbf / np.expm1((work[reached] + 60) / mtbf), rtol=1e-9
    )
    (best,), (least,) = artists["young"][0].get_data()
    assert best == pytest.approx(np.sqrt(2 * 60 * mtbf)) and least == pytest.approx(
        np.interp(best, work, wasted), rel=1e-3
    )
    assert least - wasted.min() < 0.002 and abs(np.log(work[wasted.argmin()] / best)) < 0.2
    assert [label.get_text() for label in artists["labels"]] == [
        "\u25c7 Young, 6.53 min: 27.7%",
        "\u25cf 60 min: 82.9%",
    ]
    drawings.move_checkpoints(artists, 5 * minute, mtbf)
    assert artists["labels"][1].get_text() == "" and len(artists["interval"][0].get_xdata()) == 0


def lines(artists, name):
    return [tuple(map(tuple, line.get_xydata())) for line in artists[name]]


def test_pauses_are_drawn_where_the_run_had_them_and_victims_lit(crowd):
    """A paused cable is thin, an idle one thick; a victim is not lit, or one that nobody delayed
    is.
    """
    figure, axes = plot.new(7.2, 4.6)
    artists = drawings.pauses(axes, NETWORK, crowd, 0)
    assert collisions(figure) == [] and behind_legend(figure) == []
    assert len(artists["paused"]) == (crowd.pauses > 0).sum() > 8
    assert len(artists["cables"]) == 16 + 8
    # lit are 6 -> 1 and 10 -> 14, by way of the spine; 2 -> 3 stays under its leaf
    assert waiting.victims(crowd, 0) == [6, 7] and [len(way) for way in lines(artists, "lit")] == [
        5,
        5,
    ]
    alone = packets.run(
        NETWORK, packets.Flows(SOURCES[6:], TARGETS[6:], SIZES[6:], routes=WAYS[6:]), buffer=1 * MB
    )
    slower = crowd.completion[6:] / alone.completion
    assert slower[:2].min() > 1.5 and slower[2] < 1.02
    words = {box.get_text().split("\n")[0]: box.get_text() for box in artists["boxes"]}
    on = crowd.pause_log[crowd.pause_log[:, 2] == 1]
    first = min(time for time, port, _ in on if crowd.ports[int(port)][0] == 20)
    assert words["spine 0"] == f"spine 0\n{first * 1e6:.3g} us" and words["leaf 0"] == "leaf 0"


def test_before_the_first_pause_nothing_is_thick_and_later_more_is(crowd):
    """The moment is not heeded: a pause shows before it happens."""
    starts = crowd.pause_log[crowd.pause_log[:, 2] == 1]
    times = [starts[0, 0] - 1e-9, starts[0, 0], 8 * us, crowd.duration]
    shown = [
        len(drawings.pauses(plot.new()[1], NETWORK, crowd, 0, at=time)["paused"]) for time in times
    ]
    expected = [len({int(port) for time, port, _ in starts if time <= at}) for at in times]
    assert shown == expected and shown[0] == 0 < shown[1] < shown[3]


def test_pauses_refuse_what_they_cannot_draw(crowd, fresh):
    """A fat-tree is drawn as if it were a leaf-spine, or a hashed flow is lit along a way that it
    may not have taken.
    """
    with pytest.raises(ValueError, match="leaf-spine of at most 20 hosts"):
        drawings.pauses(fresh[1], topology.fat_tree(4), crowd, 0)
    hashed = packets.run(NETWORK, packets.Flows([4], [0], 1000))
    with pytest.raises(ValueError, match="routes"):
        drawings.pauses(fresh[1], NETWORK, hashed, 0)


def test_a_ring_of_four_waits_in_a_circle(fresh):
    """A buffer or a wait is missing, the circle is not the ring's or its buffers not named, or a
    buffer is not on the right of its cable by its far end.
    """
    artists = DRAWINGS["ring"](fresh[1])
    buffers = artists["buffers"][0].get_xydata()
    assert len(buffers) == 4 and len(artists["waits"][0].get_segments()) == 4
    circle = np.array(artists["circles"][0].get_segments())
    along, about = circle[:4], circle[4:]
    assert len(circle) == 2 * len(artists["arrows"][0].get_paths()) == 8
    # along a cable to its buffer, about the vertex to the next cable, and so round
    np.testing.assert_allclose(along[:, 1], about[:, 0])
    np.testing.assert_allclose(about[:, 1], np.roll(along[:, 0], -1, axis=0))
    named = [name.get_text() for name in artists["circle names"] if name.get_text()]
    assert sorted(named) == ["0→1", "1→2", "2→3", "3→0"]
    room = dict(zip(range(4), artists["vertices"][0].get_xydata()))
    for (a, b, _), spot in zip(RING.channels, buffers):
        along, to = room[b] - room[a], spot - room[a]
        assert np.cross(np.append(along, 0), np.append(to, 0))[2] < 0
        assert 0.6 < along @ to / (along @ along) < 1
    along = circle[:4]
    # each arrow points the way its wait goes
    for path, (start, end) in zip(artists["arrows"][0].get_paths(), along):
        tip, left, right = path.vertices[:3]
        assert (tip - (left + right) / 2) @ (end - start) > 0
    assert len(artists["full"][0].get_xdata()) == 0
    ring = RING.cycles()[0]
    drawings.move_dependencies(artists, RING, SQUARE, dict(zip(ring, ring[1:] + ring[:1])))
    assert sorted(map(tuple, artists["full"][0].get_xydata())) == sorted(map(tuple, buffers))


def test_a_torus_wraps_at_the_edges(fresh):
    """A wait that closes a ring of a torus is drawn straight across the picture, or one of the
    eight circles is not marked.
    """
    artists = DRAWINGS["torus"](fresh[1])
    assert len(artists["buffers"][0].get_xdata()) == 64
    for name, least in (("waits", 96), ("circles", 64), ("channels", 64)):
        segments = artists[name][0].get_segments()
        steps = np.array([np.abs(end - start) for start, end in segments])
        # no line is longer than a side and a bit; those over the edge are drawn at both edges
        assert (
            steps[:, 0].max() < 7.2 * 0.4
            and steps[:, 1].max() < 4.2 * 0.4
            and len(segments) >= least
        )
    # 32 channels of which 8 are drawn at both edges, and 32 turns about a vertex
    assert len(artists["circles"][0].get_segments()) == 32 + 8 + 32
    beyond = [name.get_text() for name in artists["beyond"] if name.get_text()]
    assert sorted(beyond) == sorted(
        map(str, [0, 1, 2, 3, 12, 13, 14, 15, 0, 4, 8, 12, 3, 7, 11, 15])
    )
    drawings.move_dependencies(artists, RING, SQUARE)
    assert not any(name.get_text() for name in artists["beyond"])
    assert len(artists["circles"][0].get_segments()) == 8 and [
        name.get_text() for name in artists["names"]
    ][:5] == ["0", "1", "2", "3", ""]


def test_the_retry_figure_shows_who_loses_what():
    """At 1e-9 on each of six cables by hand: 4,096 bytes are spoilt with 3.28e-5 on one, 1.966e-4
    on all; 244 packets again make go-back-N 1 / (1 + 244 * 1.966e-4), the others lose next to none.
    """
    fig, ax = plot.new()
    lines = drawings.retry(ax, 4096, 100e9, 125e-9, cables=6, window=244)
    at = {name: np.interp(1e-9, *line.get_data()) for name, line in lines.items()}
    assert at["the sender, go-back-N"] == pytest.approx(1 / (1 + 244 * 1.966e-4), rel=1e-3)
    assert at["the sender, selective"] == pytest.approx(1 - 1.966e-4, abs=1e-6)
    assert at["the cable's ends"] == pytest.approx(1 - 3.28e-5 * (41 + 250) / 41, rel=1e-4)


def test_the_staggered_figure_peaks_where_the_formula_does():
    """By hand: 8 senders of 200 KB, 7 x 200 KB at once; 2 µs apart, 100 KB each have left before
    the next.
    """
    runs = {
        apart: packets.incast(
            8, 200 * KB, 50 * GB, 1000, apart, delay=0.0, pfc=None, sample=us / 4, watch=[(9, 0)]
        )
        for apart in (0.0, 2 * us)
    }
    fig, ax = plot.new()
    lines = drawings.staggered(ax, runs, (9, 0), 1 * MB)
    for apart, peak in ((0.0, 1.4), (2 * us, 0.7)):
        times, queue = lines[apart].get_data()
        assert queue.max() == pytest.approx(peak, abs=0.02)
        assert 0 in queue[times > 8 * 200 * KB / (50 * GB) / us]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "all at once",
        "2 us apart",
    ]
