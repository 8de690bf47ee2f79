"""Level 4 alive: curves, bars, circles and words follow the models wherever the controls stand."""

import re
import subprocess
import sys

import networkx
import numpy as np
import pytest
from explored import move, near, quantities
from matplotlib.collections import PolyCollection

from fabriclab import congestion, units
from fabriclab.course.behaviour import explorers
from fabriclab.course.behaviour import lock_explorers as locks
from fabriclab.units import GB, MB, Mbps, day, hour, us

MAKERS = {
    "incast": explorers.incast,
    "hashing": explorers.hashing,
    "congestion_control": explorers.congestion_control,
    "deadlock": explorers.deadlock,
    "reliability": explorers.reliability,
}


def offered(at):
    return min(at["senders"], at["ports"] - 1) * at["rate"]


def assert_incast_is_the_model(explorer):
    at = explorer.values
    rate, buffer, trip, mark = (at[name] for name in ("rate", "buffer", "round_trip", "mark_at"))
    excess = offered(at) - rate
    silent = trip + (mark / excess if excess > 0 else 0)
    grown = max(0.0, excess * silent)
    peak, lost = min(buffer, grown), max(0.0, grown - buffer)
    axes = explorer.figure.axes[0]
    curves = {line.get_label(): line for line in axes.lines}
    times, held = curves["fluid"].get_data()
    by_hand = np.where(
        times <= silent,
        np.minimum(peak, max(0.0, excess) * times),
        np.maximum(0.0, peak - rate * (times - silent)),
    )
    np.testing.assert_allclose(held, by_hand, rtol=1e-6, atol=max(peak, 1) * 1e-9)
    first, second, third, fourth = explorer.readout.splitlines()
    assert near(quantities(first.split(" for ")[0].replace("/s", ""))[0], offered(at))
    assert ("never fills" in first) == (excess <= 0)
    if excess > 0:
        filled, within, drained = quantities(first.partition("fills ")[2])
        assert (
            near(filled, buffer)
            and within.value == pytest.approx(buffer / excess, rel=6e-3)
            and drained.value == pytest.approx(buffer / rate, rel=6e-3)
        )
    assert ("too late" in second) == (lost > 0) != ("in time" in second)
    if lost:
        assert near(quantities(second.partition("late, ")[2])[0], lost)
    most = int(re.search(r"up to ([\d,]+) senders?\b", second)[1].replace(",", ""))
    assert most == int((buffer - mark) / trip / rate + 1 + 1e-9)
    if at["ports"] == np.inf:
        # at a whole number of senders' worth of buffer the last one fits exactly
        assert (at["senders"] > most) == (lost > 1)
    cables = min(at["senders"], at["ports"] - 1)
    each, total, *left = quantities(third)
    headroom = rate * trip + 2 * 9216  # and two packets
    assert near(each, headroom) and near(total, cables * headroom)
    room = buffer - cables * headroom
    assert near(left[0], room) if room > 0 else "more than the buffer" in third
    if not at["packets"]:
        assert fourth == "Packets: tick the box to run the simulator."
        return
    moments, queued = explorer.figure.axes[1].lines[-2].get_data()
    packet = quantities(fourth)[0].value
    fluid = np.where(
        moments <= silent,
        np.minimum(peak, max(0.0, excess) * moments),
        np.maximum(0.0, peak - rate * (moments - silent)),
    )
    # a packet on the wire is still held, each sender may be one early or late, and a buffer's rest
    # takes none that does not fit
    assert np.abs(queued - fluid).max() <= 2.1 * packet * cables + 0.02 * peak
    assert quantities(fourth)[2].value == pytest.approx(
        lost, abs=2.1 * packet * cables + 1, rel=0.02
    )


def odds(flows, paths):
    """P(fullest = k), k from 0, by adding one path at a time: how many flows are left for the
    others is binomial.
    """
    at_most = []
    for most in range(flows + 1):
        chance = np.zeros(flows + 1)
        chance[0] = (
            1.0  # no path yet, no flow placed; weights 1/i! make an exponential generating function
        )
        weight = np.cumprod(np.concatenate([[1.0], 1 / np.arange(1, flows + 1)]))
        weight[most + 1 :] = 0
        for _ in range(paths):
            chance = np.convolve(chance, weight)[: flows + 1]
        at_most.append(chance[flows] * np.prod(np.arange(1, flows + 1) / paths) if flows else 1.0)
    return np.diff(at_most, prepend=0.0)


def percent(text):
    return 0.0 if text.startswith("below") else float(text.rstrip("%")) / 100


def bars(collection):
    return [tuple(np.ptp(path.vertices[:4], axis=0)) for path in collection.get_paths()]


def assert_hashing_is_the_model(explorer):
    flows, paths, seed = (explorer.values[name] for name in ("flows", "paths", "seed"))
    least = -(-flows // paths)
    left, right = explorer.figure.axes
    drawn = [
        bars(collection)
        for collection in left.collections + right.collections
        if isinstance(collection, PolyCollection)
    ]
    loads = np.array([height for collection in drawn[:2] for _, height in collection]) * least
    assert len(loads) == paths and loads.sum() == pytest.approx(flows)
    first, second, third = explorer.readout.splitlines()
    most, best, idle = map(
        int,
        (
            number.replace(",", "")
            for number in re.match(
                r"This draw: ([\d,]+) flows? on the fullest path \(at best ([\d,]+)\), (\d+) idle",
                first,
            ).groups()
        ),
    )
    assert (most, best, idle) == (round(loads.max()), least, np.count_nonzero(loads < 0.5))
    assert percent(re.search(r"slowest flows at ([\d.]+%)", first)[1]) == pytest.approx(
        least / most, abs=6e-4
    )
    if flows <= 64:
        exact = odds(flows, paths)
        assert sorted(
            width for collection in drawn[2:] for width, _ in collection
        ) == pytest.approx(sorted(p for p in exact if p > 1e-6), abs=1e-7)
        assert float(re.search(r"carries ([\d.]+) on", second)[1]) == pytest.approx(
            exact @ np.arange(flows + 1), rel=6e-4
        )
        assert percent(re.search(r"slowest flows at ([\d.]+%)", second)[1]) == pytest.approx(
            exact[least:] @ (least / np.arange(least, flows + 1)), abs=6e-4
        )
        twice = percent(re.search(r"or more\) ([\d.e-]+%|below 1e-9)", third)[1])
        assert twice == pytest.approx(exact[2 * least :].sum(), rel=6e-2, abs=6e-4)
    none = (
        sum(
            (-1) ** i * float(congestion.ecmp.math.comb(paths, i)) * (1 - i / paths) ** flows
            for i in range(1, paths)
        )
        * -1
        if paths <= 8
        else None
    )
    if none is not None and none > 1e-6:
        assert percent(re.search(r"a path idle ([\d.e-]+%|below 1e-9)", third)[1]) == pytest.approx(
            none, rel=6e-2, abs=6e-4
        )


def assert_control_is_the_model(explorer):
    flows, rate, gain, eta = (explorer.values[name] for name in ("flows", "rate", "gain", "eta"))
    starts = np.linspace(0.2, 1, flows) * rate
    dcqcn = congestion.trajectory(
        flows,
        2500 * (20 * us),
        20 * us,
        congestion.Dcqcn(capacity=rate, gain=gain),
        step=20 * us,
        rates=starts,
    )
    hpcc = congestion.rounds(rate, flows, 50 * Mbps, 20 * us, 500, eta, rates=starts, packet=0)
    upper, lower = explorer.figure.axes[:2], explorer.figure.axes[2:]
    words = explorer.readout.splitlines()
    for above, below, rates, held, line in zip(
        upper, lower, (dcqcn.rates, hpcc.rates), (dcqcn.queue, hpcc.queue), words
    ):
        (collection,) = above.collections
        np.testing.assert_allclose(
            np.array([segment[:, 1] for segment in collection.get_segments()]).T,
            rates * flows / rate,
        )
        queue = next(each for each in below.lines if len(each.get_xdata()) > 2)
        np.testing.assert_allclose(queue.get_ydata(), held)
        assert (
            queue.get_xdata()[-1]
            == below.get_xlim()[1]
            == 20 * us * (len(held) - (above is upper[0]))
        )
        peak = quantities(line)[0]
        assert near(peak, held.max())
        assert float(re.search(r"flows ([\d.e+]+) to 1", line)[1]) == pytest.approx(
            rates[-1].max() / rates[-1].min(), rel=6e-3
        )
    # in the end HPCC rests where its rule says, each flow at eta C/N and its increase, or at C/N
    if eta + flows * 50 * Mbps / rate < 1:
        busy = percent(re.search(r"port (\d+%) busy", words[1])[1])
        assert busy == pytest.approx(eta + flows * 50 * Mbps / rate, abs=0.02)
    held = rate * 20 * us / 1000  # packets on the path
    if flows > held:
        assert f"{flows} windows share {held:.0f} packets" in words[2]
        return
    rest = congestion.fixed_point(flows, congestion.Dcqcn(capacity=rate, gain=gain))
    assert (
        near(quantities(words[2])[0], rest.queue) if rest.exists else "none below Kmax" in words[2]
    )


def assert_deadlock_is_the_model(explorer):
    at = explorer.values
    first, second, third = explorer.readout.splitlines()
    flows, every = map(int, re.match(r"(\d+) of (\d+) flows", first).groups())
    assert (
        every
        == {"ring": 6 * 5, "torus": 16 * 15, "tree": 6 * 1 + 24 * 2, "valley": 6 * 1 + 24 * 2 + 2}[
            at["network"]
        ]
    )
    assert flows == max(1, round(at["share"] * every))
    routes = locks._routes(at["network"], at["dateline"])[:flows]
    graph = networkx.DiGraph()
    for route in routes:
        networkx.add_path(graph, route)
    buffers, dependencies = map(
        int, re.search(r"(\d+) buffers, (\d+) dependencies", first).groups()
    )
    assert (buffers, dependencies) == (graph.number_of_nodes(), graph.number_of_edges())
    circles = [group for group in networkx.strongly_connected_components(graph) if len(group) > 1]
    dots, full = (
        line.get_xydata() for line in explorer.figure.axes[0].lines if line.get_marker() == "o"
    )
    assert len(dots) == buffers
    assert second.split(":")[0].split()[-1] == (
        "circle" if not circles else "certain" if at["full"] else "possible"
    )
    if not circles:
        assert third == "Circle: none." and len(full) == 0
        return
    assert f"{len(circles)} circles" in second or (len(circles) == 1 and "a circle" in second)
    named = [tuple(map(int, pair)) for pair in re.findall(r"(\d+)→(\d+)", third)]
    assert all(b == c for (_, b), (c, _) in zip(named, named[1:] + named[:1]))
    shortest = min(len(circle) for circle in networkx.simple_cycles(graph, length_bound=len(named)))
    assert len(named) == shortest
    assert len(full) >= len(named) if at["full"] else len(full) == 0
    # a tree with no detours never locks, nor what a dateline cuts
    assert at["network"] != "tree" and not (at["dateline"] and at["network"] in ("ring", "torus"))


def assert_reliability_is_the_model(explorer):
    parts, mttf, days, cost, interval = (
        explorer.values[name] for name in ("parts", "mttf", "days", "cost", "interval")
    )
    above, below = explorer.figure.axes
    lines = explorer.readout.splitlines()
    dots = [line for line in above.lines if line.get_marker() == "o"]
    curves = [line for line in above.lines if len(line.get_xdata()) > 2]
    for each, dot, curve, line in zip((mttf, 50_000 * hour), dots, curves, lines):
        load = parts * days * day / each
        assert (dot.get_xdata()[0], dot.get_ydata()[0]) == (parts, pytest.approx(-np.expm1(-load)))
        np.testing.assert_allclose(
            curve.get_ydata(),
            -np.expm1(-np.asarray(curve.get_xdata()) * days * day / each),
            rtol=1e-6,
            atol=1e-12,
        )
        said = re.search(
            r"at least one in \d+ d ([\d.e-]+%); ([\d.,e+-]+) expected; first after (.+)\.", line
        )
        assert percent(said[1]) == pytest.approx(
            -np.expm1(-load), rel=0.06, abs=6e-6 if load > 4 else 6e-4
        )
        assert float(said[2].replace(",", "")) == pytest.approx(load, rel=6e-3)
        assert units.read(said[3]).value == pytest.approx(each / parts, rel=6e-3)
    apart = mttf / parts
    best = np.sqrt(2 * cost * apart)
    (young,) = (line for line in below.lines if line.get_marker() == "D")
    (chosen,) = (line for line in below.lines if line.get_marker() == "o")
    assert young.get_xdata()[0] == pytest.approx(best) and chosen.get_xdata()[0] == interval

    def waste(work):
        return 1 - work / apart / np.expm1(min(700, (work + cost) / apart))

    assert young.get_ydata()[0] == pytest.approx(waste(best), abs=1e-9) and chosen.get_ydata()[
        0
    ] == pytest.approx(waste(interval), abs=1e-9)
    every, wasted, optimum, least = re.match(
        r"If each stops the job: saving every (.+) wastes (.+), every (.+) \(Young\) (.+)\.",
        lines[2],
    ).groups()
    assert units.read(every).value == pytest.approx(interval, rel=6e-3) and units.read(
        optimum
    ).value == pytest.approx(best, rel=6e-3)
    assert percent(wasted) == pytest.approx(waste(interval), rel=0.06, abs=6e-4) and percent(
        least
    ) == pytest.approx(waste(best), rel=0.06, abs=6e-4)


CHECKS = {
    "incast": assert_incast_is_the_model,
    "hashing": assert_hashing_is_the_model,
    "congestion_control": assert_control_is_the_model,
    "deadlock": assert_deadlock_is_the_model,
    "reliability": assert_reliability_is_the_model,
}

OPENINGS = {
    "incast": [
        (
            "12.8 TB/s for a port of 50 GB/s, 256 to 1: it fills 32 MB in 2.51 us; a full one"
            " drains in 640 us."
        ),
        (
            "Feedback, 5 us after the first byte, is too late, 31.75 MB lost; it can save up to 129"
            " senders."
        ),
        "PFC headroom: 256 cables x 268.4 KB = 68.72 MB, more than the buffer.",
        "Packets: tick the box to run the simulator.",
    ],
    "hashing": [
        (
            "This draw: 3 flows on the fullest path (at best 2), 0 idle; slowest flows at 66.7% of"
            " full speed."
        ),
        (
            "All draws: the fullest path carries 3.538 on average; slowest flows at 59.3% of full"
            " speed."
        ),
        "Odds: most even 3.8%, twice that or worse (4 or more) 44.9%, a path idle 37.7%.",
    ],
    "reliability": [
        "24,576 parts, 1e-05 a day: at least one in 1 d 21.8%; 0.246 expected; first after 4.07 d.",
        "The appendix's, 50,000 h: at least one in 1 d 99.999%; 11.8 expected; first after 2.03 h.",
        "If each stops the job: saving every 60 min wastes 2.2%, every 108 min (Young) 1.8%.",
    ],
    "deadlock": [
        "30 of 30 flows, one lane: 12 buffers, 12 dependencies.",
        "Deadlock possible: 2 circles. It locks only if all 6 buffers of one are full at once.",
        "Circle: 3→4, then 4→5, then 5→0, then 0→1, then 1→2, then 2→3.",
    ],
}


@pytest.mark.parametrize("name", OPENINGS)
def test_it_opens_on_the_chapters_numbers(name):
    """What a reader sees first is not the text's case: 2.5 us, 640 us, 44.9 %, 21.8 % (CHAPTER.md
    R155, R163, R165-R168).
    """
    explorer = MAKERS[name]()
    assert repr(explorer).splitlines() == OPENINGS[name]
    CHECKS[name](explorer)


def test_a_real_switch_lets_in_what_its_ports_bring():
    """A 64-port switch is still offered 12.8 TB/s (E-23): 63 x 50 GB/s fill the buffer in 10.3 us,
    after the feedback.
    """
    explorer = explorers.incast()
    explorer.controls["ports"].value = 64
    first, second, third, _ = explorer.readout.splitlines()
    assert (
        first.startswith("3.15 TB/s for a port of 50 GB/s, 63 to 1: it fills 32 MB in 10.3 us")
        and "in time, nothing lost" in second
    )
    assert third == "PFC headroom: 63 cables x 268.4 KB = 16.91 MB, leaves 15.09 MB."


def test_packets_do_what_the_fluid_says():
    """The simulator's queue leaves the fluid's, or another amount is lost."""
    explorer = explorers.incast(packets=True)
    assert (
        explorer.readout.splitlines()[3]
        == "Packets of 5.333 KB: highest queue 32 MB, 31.75 MB lost; 7.332 KB from the fluid at"
        " most."
    )
    assert_incast_is_the_model(explorer)
    moments, queued = explorer.figure.axes[1].lines[-2].get_data()
    fluid = np.where(
        moments <= 5 * us,
        np.minimum(32 * MB, 12.75e12 * moments),
        np.maximum(0, 32 * MB - 50 * GB * (moments - 5 * us)),
    )
    high = fluid > 2 * MB
    np.testing.assert_allclose(queued[high], fluid[high], rtol=0.05)


def test_what_an_incast_lost_is_not_sent_again_within_the_picture():
    """Packets that found no room come back and fill a queue that the fluid, and the words, call
    empty.
    """
    explorer = explorers.incast(1024, 12.5 * GB, 1 * MB, 50 * us, ports=32, packets=True)
    moments, queued = explorer.figure.axes[1].lines[-2].get_data()
    # 50 us of arrivals, then 1 MB at 12.5 GB/s
    assert queued[moments < 50 * us].max() > 0.99 * MB and queued[moments > 131 * us].max() == 0
    assert_incast_is_the_model(explorer)


def test_a_dateline_frees_the_torus_and_detours_lock_the_tree():
    """The dateline cuts nothing, or rerouting at a leaf goes unpunished."""
    explorer = explorers.deadlock("torus")
    assert explorer.readout.splitlines()[1].startswith("Deadlock possible: 8 circles")
    explorer.controls["dateline"].value = True
    assert explorer.readout.splitlines()[1] == "No circle: no deadlock, whatever the load."
    explorer.controls["network"].value = "tree"
    assert explorer.readout.splitlines()[2] == "Circle: none."
    explorer.controls["network"].value = "valley"
    explorer.controls["full"].value = True
    assert (
        explorer.readout.splitlines()[1]
        == "Deadlock certain: in a circle each full buffer waits for the next. Only dropping helps."
    )
    assert_deadlock_is_the_model(explorer)


def test_coming_back_runs_nothing_again(monkeypatch):
    """What was simulated or solved once is simulated again, so that going to and fro on a slider
    drags.
    """
    incast, control = explorers.incast(packets=True), explorers.congestion_control()
    for explorer, name in ((incast, "senders"), (control, "flows")):
        move(explorer.controls[name], 1)
    from fabriclab import packets

    monkeypatch.setattr(packets, "incast", None)
    monkeypatch.setattr(congestion, "trajectory", None)
    for explorer, name in ((incast, "senders"), (control, "flows")):
        frame = explorer.frame
        move(explorer.controls[name], -1)
        assert explorer.error is None and explorer.frame != frame


@pytest.mark.parametrize(
    "explorer",
    [
        lambda: explorers.incast(senders=1, buffer=1 * MB, round_trip=50 * us, rate=100 * GB),
        lambda: explorers.hashing(flows=1),
        lambda: explorers.reliability(parts=1),
    ],
)
def test_one_of_a_kind_is_said_in_the_singular(explorer):
    """The ends of the sliders would read "1 senders", "1 flows", "1 parts"."""
    assert not re.search(r"(?<![\d.,])1 (senders|cables|flows|parts)\b", explorer().readout)


def test_the_simulator_is_loaded_only_when_asked_for():
    """Opening the explorers of level 4 costs the seconds that the packet simulator takes to
    load.
    """
    code = (
        "import sys\nfrom fabriclab.course.behaviour import explorers as b\nexplorer ="
        " b.incast()\nb.hashing(), b.congestion_control(), b.deadlock(), b.reliability()\nassert"
        " 'numba' not in sys.modules\nexplorer.controls['packets'].value = True\nassert"
        " explorer.error is None and 'numba' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
