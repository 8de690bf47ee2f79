"""Scenes: the shapes and the words at every moment are the model's, fit, and play in a page."""

import functools
import json
import re

import numpy as np
import pytest
from matplotlib.font_manager import FontProperties, findfont
from matplotlib.ft2font import FT2Font

from fabriclab import cluster, collectives, congestion, link, packets, topology, transport
from fabriclab.congestion import Dcqcn
from fabriclab.course.behaviour import flow_scenes, incast_scenes
from fabriclab.course.cluster import scenes as cluster_scenes
from fabriclab.course.engine import scene
from fabriclab.course.engine.scene import PALETTE, Scene
from fabriclab.course.topology import scenes as topology_scenes
from fabriclab.course.transport import recovery_scenes, ring_scenes, ways_scenes
from fabriclab.link import PAM4
from fabriclab.units import GB, KB, MB, Mbps, ms, si, us

MAKERS = scene.found()


@functools.cache
def made(name):
    return MAKERS[name]()


def column(shown, group, attribute):
    """An attribute of a group at all frames, (frames, shapes)."""
    kind, shapes, attributes, _ = shown.groups[group]
    return np.broadcast_to(attributes[attribute], (len(shown.axis), shapes))


def words_at(shown, group, value):
    return [str(word) for word in shown.values(group, "text", value)]


def said(shown, pattern):
    """The number in the one caption that matches `pattern`, and its moment."""
    found = [(at, re.search(pattern, words)) for at, words in shown.stops]
    ((at, match),) = [(at, match) for at, match in found if match]
    return at, match[1]


# ---- what holds for every scene


def test_the_parts_have_the_scenes_of_the_processes():
    """A scene has been lost, or is not found by the tests below."""
    assert set(MAKERS) == set(CHECKS)


@pytest.mark.parametrize("name", MAKERS)
def test_shapes_and_words_are_the_models(name):
    """What moves, or what is said of it, is not what the model computes on its own."""
    CHECKS[name](made(name))


def decode(data, shapes, frames, quantum):
    """`scene._told` undone: an iterator gives the next attribute's numbers, (frames, shapes)."""
    numbers = []
    while len(numbers) < shapes * frames:
        n, shift = 0, 0
        while True:
            byte = next(data)
            n |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        if n:
            numbers.append(-(n + 1) // 2 if n % 2 else n // 2)
        else:
            decode.zeros = 0
            shift = 0
            while True:
                byte = next(data)
                decode.zeros |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    break
            numbers += [0] * decode.zeros
    assert len(numbers) == shapes * frames
    return np.cumsum(np.reshape(numbers, (shapes, frames)), axis=1).T * quantum


def test_numbers_come_back_from_their_bytes():
    """Positions drift, jump, or are another shape's, once they are packed."""
    rng = np.random.default_rng(0)
    x = np.cumsum(rng.integers(-300, 300, (50, 7)), axis=0) * (rng.random((50, 7)) < 0.5) * 0.1
    shown = Scene(100, 100, np.arange(50.0), "s", alt="A.", stops=[(0, "a")])
    shown.rects("one", x=x, y=1, w=2, h=3)
    told, data = shown.packed()
    entry = told["groups"][0]["a"]["x"]
    assert np.allclose(decode(iter(data), entry["each"], 50, entry["quantum"]), x)


@pytest.mark.parametrize("name", MAKERS)
def test_a_scene_is_small_and_always_the_same(name):
    """A notebook swells, or nbval sees another output on the next run."""
    shown, again = made(name), made(name)
    page = shown.html()
    assert page == again.html() and len(page) < 150_000
    assert f'data-scene="{name}"' in page and repr(shown) == repr(again)
    assert not re.search(r'\bid="', page)  # two scenes on a page must not share an id
    assert page.count("</script>") == 1 and "NaN" not in page and "Infinity" not in page
    told, _ = shown.packed()
    json.dumps(told, allow_nan=False)


@pytest.mark.parametrize("name", MAKERS)
def test_words_for_each_moment(name):
    """A moment has no words, or ones that nobody can read in time, or the still is none of them."""
    shown = made(name)
    assert len(shown.alt) > 60 and len(shown.stops) >= 4
    for _, words in shown.stops:
        assert 15 < len(words) <= 230 and words[0] == words[0].upper() and words[-1] in ".)", words
        assert "nan" not in words and "inf" not in words.split() and "np." not in words
    assert shown.axis[0] <= shown.telling <= shown.axis[-1]
    still = shown.still()
    assert still.startswith("<svg") and still.count("<") > 20
    assert shown.caption(shown.telling) in shown.html().replace("&#x27;", "'").replace("&gt;", ">")


FACES = [FT2Font(findfont(FontProperties(family="DejaVu Sans", weight=w))) for w in (400, 700)]


@functools.cache
def width_of(text, size, bold):
    FACES[bold].set_size(size, 72)
    FACES[bold].set_text(text)
    return FACES[bold].get_width_height()[0] / 64


def boxes(shown, value):
    """(groups, texts, edges) of all words in the picture at a value of the axis: edges are left,
    right, top, bottom.
    """
    groups, texts, edges = [], [], []
    for group, (kind, shapes, attributes, _) in shown.groups.items():
        if kind != "text":
            continue
        get = {a: shown.values(group, a, value) for a in attributes}
        for i in range(shapes):
            text, size = str(get["text"][i]), float(get["size"][i])
            if not text.strip() or ("alpha" in get and get["alpha"][i] < 0.1):
                continue
            wide = width_of(text, size, bool("bold" in get and get["bold"][i]))
            x, y = float(get["x"][i]), float(get["y"][i])
            align = str(get["align"][i]) if "align" in get else "center"
            left = x - wide * {"left": 0, "center": 0.5, "right": 1}[align]
            groups.append(group)
            texts.append(text)
            edges.append((left, left + wide, y - 0.4 * size, y + 0.4 * size))
    return groups, texts, np.array(edges)


@pytest.mark.parametrize("name", MAKERS)
def test_words_fit_the_frame_and_each_other(name):
    """Words run out of the picture, lie on one another, or are too small to read."""
    shown = made(name)
    assert all(
        np.min(attributes["size"]) >= 12
        for kind, _, attributes, _ in shown.groups.values()
        if kind == "text"
    )
    for value in [at for at, _ in shown.stops] + list(np.linspace(*shown.axis[[0, -1]], 9)):
        groups, texts, edges = boxes(shown, value)
        left, right, top, bottom = edges.T
        out = (left < 0) | (right > shown.width) | (top < 0) | (bottom > shown.height)
        assert not out.any(), [texts[i] for i in np.flatnonzero(out)]
        across = np.minimum.outer(right, right) - np.maximum.outer(left, left)
        down = np.minimum.outer(bottom, bottom) - np.maximum.outer(top, top)
        for i, j in np.argwhere(np.triu((across >= 1) & (down >= 1), 1)):
            # packets pass each other on the wire
            assert groups[i].startswith("numbers") and name == "transport.recovery", (
                texts[i],
                texts[j],
                value,
            )


@pytest.mark.parametrize("name", MAKERS)
def test_shapes_are_finite_and_coloured(name):
    """A shape has no place, a negative size, or a colour that no palette has."""
    shown = made(name)
    for group, (_, _, attributes, _) in shown.groups.items():
        for attribute, value in attributes.items():
            if attribute in ("fill", "stroke"):
                assert set(np.unique(value)) <= set(PALETTE), group
            elif value.dtype.kind not in "US":
                assert np.isfinite(value.astype(float)).all(), group
            if attribute in ("w", "h", "r", "alpha"):
                assert (value.astype(float) > -1e-6).all(), group
        assert np.max(attributes.get("alpha", 0)) <= 1 + 1e-9


def test_a_scene_refuses_what_does_not_fit():
    """A wrong array, axis or moment is drawn all the same."""
    with pytest.raises(ValueError, match="axis must rise"):
        Scene(10, 10, [0, 0], "s", alt="a", stops=[(0, "a")])
    with pytest.raises(ValueError, match="stops must begin"):
        Scene(10, 10, [0, 1], "s", alt="a", stops=[(0.5, "a")])
    with pytest.raises(ValueError, match="stops must begin"):
        Scene(10, 10, [0, 1], "s", alt="a", stops=[(0, "a"), (2, "b")])
    with pytest.raises(ValueError, match="pace"):
        Scene(10, 10, [0, 1], "s", alt="a", stops=[(0, "a")], pace=[1, 0])
    shown = Scene(10, 10, [0, 1], "s", alt="a", stops=[(0, "a")])
    with pytest.raises(ValueError, match="x of one"):
        shown.rects("one", x=np.zeros((3, 2)), y=0, w=1, h=1)
    with pytest.raises(ValueError, match="y of two"):
        shown.rects("two", x=[0, 1], y=[0, 1, 2], w=1, h=1)
    shown.rects("three", x=0, y=0, w=1, h=1)
    with pytest.raises(ValueError, match="three"):
        shown.rects("three", x=0, y=0, w=1, h=1)


# ---- scene by scene, against the model asked anew


def ring(shown):
    """AllReduce over eight ranks: every cell ends whole, at the time of the alpha-beta model."""
    total = collectives.ring_allreduce(1 * MB, 8, 1.5 * us, 50 * GB)
    assert shown.axis[-1] == pytest.approx(total)
    assert said(shown, r"Done after ([\d.]+) us")[1] == f"{total / us:g}"
    high = column(shown, "cells", "h") / 34 * 8
    assert np.allclose(high[0], 1) and np.allclose(high[-1], 8)
    assert (np.diff(high, axis=0) > -1e-9).all()
    half, _ = said(shown, r"(Half-way)")
    whole = shown.values("cells", "h", half).reshape(8, 8) > 33.9
    assert half == pytest.approx(total / 2) and (whole.sum(axis=1) == 1).all()
    assert (whole.sum(axis=0) == 1).all()  # each rank another chunk
    # a plain sum of numbers, moved as the schedule says
    values = np.random.default_rng(0).integers(0, 99, (8, 8))
    now = values.copy()
    for moves in ring_scenes.ring_steps(8):
        before = now.copy()
        for source, target, chunk, adds in moves:
            now[target, chunk] = before[source, chunk] + (before[target, chunk] if adds else 0)
    assert (now == values.sum(axis=0)).all()


def ways(shown):
    """Three schedules: all sum right, and end when the models say."""
    runs = ways_scenes.three_ways(1 * MB, 1.5 * us, 50 * GB, 0.5 * us, 450 * GB)
    for k, (name, (steps, lasts, _, model)) in enumerate(runs.items()):
        assert sum(lasts) == pytest.approx(model), name
        assert (ring_scenes.held(8, 8, steps)[-1] == 8).all(), name
        end = np.searchsorted(shown.axis, model * (1 - 1e-9))
        full = column(shown, f"cells {k}", "h").min(axis=1) > 23.9
        assert full[end:].all() and not full[: end - 1].any(), name
        assert words_at(shown, f"told {k}", shown.axis[-1]) == [f"done: {si(model, 's')}"]
    ring, tree, rails = (run[3] for run in runs.values())
    for pattern, model in (("ring is", ring), ("tree is", tree), ("Rails are", rails)):
        at, number = said(shown, rf"{pattern} done after ([\d.]+ us)")
        assert at == pytest.approx(model) and number == si(model, "s")
    small = [collectives.tree_allreduce(1 * KB, 8, 1.5 * us, 50 * GB)]
    small.append(collectives.ring_allreduce(1 * KB, 8, 1.5 * us, 50 * GB))
    assert small[0] < small[1] and f"{si(small[0], 's')} against {si(small[1], 's')}" in repr(shown)


def recovery(shown):
    """Go-back-N sends what was under way again, selective repeat what was lost: `transport`."""
    for keeps, tail in (
        (False, transport.tail_go_back_n(24 * 4096, 5 * 4096, in_flight=7 * 4096)),
        (True, transport.tail_selective(24 * 4096, 5 * 4096, packet=4096)),
    ):
        rows, history = recovery_scenes.exchange(24, {5}, 3, keeps)
        assert sum(row[2] for row in rows) * 4096 == tail
        assert (history[-1] == 2).all()
    counts = [words_at(shown, f"count {k}", shown.axis[-1])[0] for k in (0, 1)]
    assert counts[0].startswith("38 sent, 14 of them again, 24 delivered")
    assert counts[1].startswith("26 sent, 2 of them again, 24 delivered")
    assert said(shown, r"Go-back-N is done .*: (\d+) packets")[1] == "14"
    assert said(shown, r"Selective repeat is done .*: (\d+) packets")[1] == "2"
    at, _ = said(shown, r"(is lost on the way)")
    sent = list(shown.values("numbers 0", "text", 0)).index("5")
    assert shown.values("packets 0", "fill", at)[sent] == "bad"
    # random losses: each packet gets there once, in order, whatever is lost
    rng = np.random.default_rng(1)
    for _ in range(30):
        lost = set(rng.choice(24, rng.integers(0, 6), replace=False).tolist()) - {23}
        for keeps in (False, True):
            rows, history = recovery_scenes.exchange(24, lost, int(rng.integers(1, 6)), keeps)
            assert [row[1] for row in rows if row[3] == "lost"] == sorted(lost)
            assert sorted(row[1] for row in rows if row[3] == "kept") == list(range(24))


def eye(shown):
    """Marks, wrong decisions and the ratio against the model's own eye, and its exact ratio."""
    run = link.eye(PAM4, snr_db=16.0, bandwidth=0.75, symbols=20_000, samples=16)
    wrong = int(run.wrong.sum())
    assert run.ber == wrong / 40_000
    exact = link.eye_error_ratio(16.0, PAM4, 0.75)
    least, most = link.error_ratio_bounds(40_000, wrong)
    assert least < exact < most
    last = shown.stops[-1][1]
    assert last.startswith(f"{wrong} of 40,000") and f"{exact:.2e}" in last
    at, number = said(shown, r"symbol (\d+) landed")
    hit = int(number)
    assert at == hit and run.wrong[hit - 1] > 0 and not run.wrong[: hit - 1].any()
    # bars are logarithms of counts: turned back they count all symbols seen
    for k in (0, 40, 90, 120, -1):
        top = 1 + peak(run)
        bars = [top ** (column(shown, group, "w")[k] / 250) - 1 for group in ("right", "wrong")]
        assert np.sum(bars) == pytest.approx(shown.axis[k], abs=0.01)
    assert words_at(shown, "heads", 0.0)[1] == "0 of 0 bits wrong"


def peak(run):
    good = run.traces[run.wrong == 0, 16]
    return int(np.histogram(good, np.linspace(-1.6, 1.6, 65))[0].max())


def incast(shown):
    """Buffers, pauses and victims against a run made anew, and against what ends when it is cut."""
    ways = [incast_scenes.way(h, 0, h % 2) for h in range(4, 16)]
    ways += [incast_scenes.way(*v) for v in incast_scenes.VICTIMS]
    flows = packets.Flows([w[0] for w in ways], [w[-1] for w in ways], 1 * MB, 0.0, ways)
    whole = packets.run(incast_scenes.TREE, flows, buffer=2 * MB)
    assert shown.axis[-1] == pytest.approx(whole.duration)
    for at in (20 * us, 100 * us):
        k = int(np.searchsorted(shown.axis, at * (1 - 1e-9)))
        cut = packets.run(incast_scenes.TREE, flows, buffer=2 * MB, until=float(shown.axis[k]))
        for j in range(3):
            bar = column(shown, f"progress {j}", "w")[k, 0] / 70 * MB
            assert bar == pytest.approx(cut.delivered[12 + j], abs=2000)
        held = column(shown, "buffers", "w")[k] / 116 * 2 * MB
        network = (cut.sent - cut.delivered - cut.discarded - cut.dropped).sum()
        assert 0.5 * network < held.sum() <= network  # the rest is on cables and in hosts
    paused, log = column(shown, "paused", "alpha"), whole.pause_log
    channels = sorted({c for w in ways for c in zip(w, w[1:])})
    beside = incast_scenes.cables(whole, channels)
    spent = (paused[1:] * np.diff(shown.axis)[:, None] * beside).sum()
    assert spent == pytest.approx(whole.paused.sum(), rel=1e-3)
    for pattern, ends in (
        (r"must (stop), ", lambda a, b: a < 16),
        (r"It (pauses|holds)", lambda a, b: a >= 20),
    ):
        at = [float(t) for t, p, on in log if on and ends(*whole.ports[int(p)])][0]
        assert any(moment == pytest.approx(at) for moment, _ in shown.stops), pattern
    last = float(whole.completion[12:].max())
    assert said(shown, r"is through after ([\d.]+) us")[1] == f"{last / us:.4g}"
    assert said(shown, r"Dropped: (\d+) bytes")[1] == str(int(whole.dropped.sum())) == "0"
    assert words_at(shown, "received", shown.axis[-1]) == ["host 0 has 12.0 of 12 MB"]


def lock(shown):
    """All cables paused when it says so, nothing moves, and the watchdog drops on time."""
    closed, arrived = said(shown, r"Locked\..* ([\d.]+) of 6 MB had arrived")
    opened, _ = said(shown, r"(the watchdog DROPS)")
    share = column(shown, "paused", "alpha")
    while_locked = (shown.axis > closed + 4 * us) & (shown.axis < opened)
    assert while_locked.sum() > 50 and (share[while_locked] > 0.99).all()
    done = column(shown, "progress", "w")
    assert np.ptp(done[while_locked], axis=0).max() == 0
    assert done[while_locked][0].sum() / 64 == pytest.approx(float(arrived), abs=0.06)
    assert np.allclose(done[-1], 64) and not np.allclose(done[while_locked][0], 64)
    assert opened - closed < 150 * us < opened - closed + 20 * us
    dropped = [words_at(shown, "dropped", at)[0] for at in (opened - 2 * us, shown.axis[-1])]
    total = float(dropped[1].split()[1])
    assert dropped[0] == "dropped 0 KB" and total > 0
    assert said(shown, r"with (\d+) KB dropped")[1] == f"{total:.0f}"
    assert "locked for ever" in shown.stops[-1][1]
    assert all(words_at(shown, "count", at)[0] == "LOCKED" for at in shown.axis[while_locked])


def control(shown):
    """DCQCN rests at its fixed point with 4 flows, has none with 16 and swings; HPCC rests."""
    point = congestion.fixed_point(4)
    assert point.exists and not congestion.fixed_point(16).exists
    tall, most, floor = 92, 1.12 * Dcqcn().kmax, [128, 260, 392]
    queue = [(floor[k] - column(shown, f"now {k}", "y")[:, 0]) / tall * most for k in range(3)]
    assert queue[0][-1] == pytest.approx(point.queue, rel=0.05)
    late = shown.axis > 45 * ms
    assert queue[1][late].min() < 10 * KB and queue[1][late].max() > Dcqcn().kmax
    rest = congestion.steady_queue(40e9 / 8, 16, 50 * Mbps, 20 * us)
    assert np.abs(queue[2][late] - rest).max() < 1 * KB
    at, number = said(shown, r"within 5 % of ([\d.]+) KB")
    assert number == f"{point.queue / KB:.1f}"
    after = shown.axis >= at
    assert (np.abs(queue[0][after] - point.queue) <= 0.051 * point.queue).all()
    rates = column(shown, "rates 0", "h")[-1] / tall
    assert np.allclose(rates, 0.25, atol=0.02)
    times, runs = flow_scenes.controlled(2 * ms)
    assert list(runs) == [words_at(shown, f"name {k}", 0)[0] for k in range(3)]
    assert shown.unit == "ms" and np.allclose(np.diff(shown.axis[:-1]), np.diff(shown.axis)[0])


def paths(shown):
    """Every choice delivers all; ECMP takes as long as its fullest path, and spraying least."""
    runs = flow_scenes.choices()
    for k, (name, (draw, run)) in enumerate(runs.items()):
        end = float(run.duration)
        assert run.outcome == "finished" and words_at(shown, f"done {k}", end)[0] == (
            f"done: {si(end, 's')}"
        )
        done = column(shown, f"progress {k}", "w") / 206
        assert np.allclose(done[-1], 1) and (np.diff(done, axis=0) > -1e-9).all()
        assert done[np.searchsorted(shown.axis, end * (1 - 1e-9)) - 1].min() < 1, name
        if draw is not None:  # what the fullest path must carry, at its rate
            most = max(np.bincount(column_, minlength=4).max() for column_ in draw.T)
            total = np.bincount(draw.ravel(), minlength=4).max()
            assert end > total * 250 * KB / (100 * GB) * 0.999 and most >= 2
            if name.startswith("ECMP"):
                assert end == pytest.approx(total * 250 * KB / (100 * GB), abs=3 * us)
                odds = congestion.fullest_path(8, 4)[total // 4 :].sum()
                assert f"{odds:.0%} of draws" in shown.stops[0][1]
    durations = [float(run.duration) for _, run in runs.values()]
    assert durations == sorted(durations, reverse=True)
    assert f"{durations[0] / durations[2]:.1f} times as long" in shown.stops[-1][1]
    # the same bytes at the same moments for all three
    sizes = [run.flows.size.sum() for _, run in runs.values()]
    starts = [np.asarray(run.flows.start) for _, run in runs.values()]
    assert sizes[0] == sizes[1] == sizes[2] and all(np.array_equal(starts[0], s) for s in starts)


def reroute(shown):
    """Rates against the wiring: no cable over its rate, and the cut of what is left is met."""
    for stage in topology_scenes.STAGES:
        rate, load = topology_scenes.rates(stage)
        assert load.max() <= 50 * GB * (1 + 1e-9)
        part = column(shown, "rates", "h")[np.searchsorted(
            shown.axis, topology_scenes.STAGES[stage] + 1 * ms)] / 76  # fmt: skip
        assert np.allclose(part, rate / (50 * GB)), stage
    dead, hashed, spread = (topology_scenes.rates(s)[0] / (50 * GB)
                            for s in ("dead", "hashed", "spread"))  # fmt: skip
    assert sorted(dead)[:2] == [0, 0] and (dead > 0).sum() == 14
    assert (np.isclose(hashed, 0.5)).sum() == 4 and (np.isclose(hashed, 1)).sum() == 12
    network = topology_scenes.NETWORK
    bundle = next(k for k, ends in enumerate(zip(network.a, network.b)) if set(ends) == {16, 21})
    broken = topology.without_cable(network, bundle)
    cut = topology.flow(broken, range(4), range(4, 16))  # max-flow, over all routes at once
    assert spread[:4].sum() * 50 * GB == pytest.approx(cut)
    assert said(shown, r"the slowest has (\d+)%")[1] == f"{spread.min():.0%}"[:-1]
    left = topology.bisection(broken) / topology.bisection(network)
    assert said(shown, r"bisection (\d+)%")[1] == f"{left:.0%}"[:-1]


def buckets(shown):
    """Bars against the bucketed step: what is exposed, when the link rests, when each is done."""
    for row, n in enumerate(cluster_scenes.COUNTS):
        each = collectives.ring_allreduce(7.43 * GB / n, 1024, 1.5 * us, 50 * GB)
        step = cluster.bucketed_step(500 * ms, n, each)
        end = shown.axis[-1]
        drawn = [column(shown, f"{part} {row}", "w")[-1].sum() / 670 * end
                 for part in ("start-up", "wire", "exposed")]  # fmt: skip
        gap = n * (1.5 if n <= 10 else 0.6) / 670 * end
        assert drawn[0] + drawn[1] == pytest.approx(step.busy - gap, rel=1e-6)
        assert drawn[2] == pytest.approx(step.exposed)
        assert words_at(shown, f"told {row}", end) == [f"done: {si(step.exposed, 's', 3)} exposed"]
        # in the middle of the pass: those complete that have not begun
        half = float(shown.axis[np.searchsorted(shown.axis, 0.25)])
        waits = sum(r <= half < s for r, s in zip(step.ready, step.start))
        assert words_at(shown, f"told {row}", half)[0].endswith(f"{waits} waiting")
    assert shown.axis[-1] == pytest.approx(
        0.5 + collectives.ring_allreduce(7.43 * GB, 1024, 1.5 * us, 50 * GB)
    )


CHECKS = {
    "behaviour.control": control,
    "behaviour.incast": incast,
    "behaviour.lock": lock,
    "behaviour.paths": paths,
    "cluster.buckets": buckets,
    "topology.reroute": reroute,
    "transport.recovery": recovery,
    "transport.ring": ring,
    "transport.ways": ways,
    "wires.eye": eye,
}
