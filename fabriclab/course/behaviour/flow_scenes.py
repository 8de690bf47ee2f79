"""Scenes of how flows share: control loops that rest or swing, and three ways to choose a path."""

import numpy as np

from fabriclab import congestion, packets, topology
from fabriclab.course.engine.scene import Scene, scene
from fabriclab.units import GB, KB, MB, Gbps, Mbps, ms, si, us

PORT, TRIP = 40 * Gbps, 20 * us


def controlled(duration=70 * ms, trip=TRIP):
    """{name: (rates, queue, rest)} at every round trip, from rates between 20 and 100 % of PORT."""
    start = lambda flows: np.linspace(0.2, 1, flows) * PORT
    there = {}
    for flows in (4, 16):
        run = congestion.trajectory(flows, duration, trip, step=trip, rates=start(flows))
        point = congestion.fixed_point(flows)
        rest = point.queue if point.exists else None
        there[f"DCQCN, {flows} flows"] = (run.rates, run.queue, rest)
    trips = len(run.times)
    told = congestion.rounds(PORT, 16, 50 * Mbps, trip, trips, rates=start(16))
    rest = congestion.steady_queue(PORT, 16, 50 * Mbps, trip)
    there["HPCC, 16 flows"] = (told.rates, told.queue, rest)
    return run.times, there


def settled(queue, rest, within):
    """The first index from which on `queue` stays within so many bytes of `rest`."""
    far = np.flatnonzero(np.abs(queue - rest) > within)
    return int(far[-1]) + 1 if len(far) else 0


@scene
def control(each=10):
    """Rates and queue of DCQCN and HPCC on linear time, until they rest or swing; a frame for
    every `each` round trips.
    """
    times, runs = controlled()
    (few, four, rest_four), (many, sixteen, _), (told, hpcc, rest_told) = (
        (rates, queue, rest) for rates, queue, rest in runs.values()
    )
    late = times > times[-1] - 20 * ms
    low, high = float(sixteen[late].min()), float(sixteen[late].max())
    rests = settled(four, rest_four, 0.05 * rest_four)
    quick = settled(hpcc, rest_told, 1 * KB)
    kmax = congestion.Dcqcn().kmax
    tops = np.flatnonzero((sixteen[1:-1] >= sixteen[:-2]) & (sixteen[1:-1] > sixteen[2:]))
    over = float(times[np.flatnonzero((sixteen > kmax) & (times > 10 * ms))[0]])
    again = int(np.sum(sixteen[tops + 1][late[tops + 1]] > kmax))
    stops = [
        (
            0.0,
            f"Three crowds share a port of {si(PORT, 'b/s')}. Their senders begin between 20 %"
            " and 100 % of it: far too much, so the queues jump beyond the picture.",
        ),
        (
            float(times[quick]),
            f"HPCC rests after {si(float(times[quick]), 's')}: its queue stays within 1 KB"
            f" of {si(rest_told, 'B', 3)}. Its senders are told how full the link is.",
        ),
        (
            over,
            f"16 flows under DCQCN: the queue runs over Kmax = {si(kmax, 'B')}, every packet is"
            " marked, all cut at once, and it empties.",
        ),
        (
            float(times[rests]),
            f"4 flows under DCQCN have come to rest: the queue stays within 5 % of"
            f" {si(rest_four, 'B', 3)}, the length whose marks hold 4 flows down.",
        ),
        (
            float(times[-1]),
            f"In the last 20 ms DCQCN's 16 flows swung between"
            f" {si(low, 'B', 3)} and {si(high, 'B', 3)}, {again} times over Kmax. No queue on the"
            " ramp"
            " marks often enough for them.",
        ),
    ]
    stops = sorted(stops)
    pick = np.arange(0, len(times), each)
    if pick[-1] != len(times) - 1:
        pick = np.append(pick, len(times) - 1)
    t = times[pick]
    pace = np.interp(t, [0, 2 * ms, t[-1]], [0, 4, 28])
    shown = Scene(
        700,
        440,
        t,
        "ms",
        stops=stops,
        seconds=28,
        pace=pace,
        alt="Rates and queues of DCQCN with 4 and 16 flows and of HPCC with 16, from 0 to 70 ms on"
        " a linear axis: HPCC rests at once, DCQCN's 4 flows after some time, its 16 flows swing.",
    )
    left, right, tall, most = 260, 690, 92, 1.12 * kmax
    spot = lambda at: left + (right - left) * np.asarray(at) / times[-1]
    shown.texts(
        "heads",
        x=[14, left],
        y=16,
        size=13,
        bold=1,
        align="left",
        text=np.array(["each sender's rate", "queue at the port"]),
    )
    fine = np.arange(0, len(times), 5)
    for row, (name, (rates, queue, rest)) in enumerate(runs.items()):
        floor = 128 + 132 * row
        colour = ["first", "bad", "good"][row]
        level = lambda q: floor - tall * np.minimum(np.asarray(q) / most, 1.0)  # noqa: B023
        flows = rates.shape[1]
        wide = 200 / flows
        bars = tall * rates[pick] / PORT
        shown.lines(
            f"share {row}",
            x=24,
            x2=232,
            y=floor - tall / flows,
            y2=floor - tall / flows,
            stroke="muted",
            line=1.2,
            dash=4,
            gap=3,
        )
        shown.rects(
            f"rates {row}",
            x=28 + wide * np.arange(flows),
            w=0.8 * wide,
            h=bars,
            y=floor - bars,
            fill=colour,
        )
        shown.lines(
            f"kmax {row}",
            x=left,
            x2=right,
            y=level(kmax),
            y2=level(kmax),
            stroke="muted",
            line=1,
            dash=3,
            gap=4,
        )
        if rest is not None:
            shown.lines(
                f"rest {row}",
                x=left,
                x2=right,
                y=level(rest),
                y2=level(rest),
                stroke="startup",
                line=2,
            )
        shown.path(
            f"queue {row}", x=spot(times[fine]), y=level(queue[fine]), stroke=colour, line=1.8
        )
        # what is still to come lies under a sheet that draws back
        shown.rects(
            f"sheet {row}",
            x=spot(t)[:, None],
            w=(right + 4 - spot(t))[:, None],
            y=floor - tall - 8,
            h=tall + 10,
            fill="paper",
        )
        shown.lines(
            f"ground {row}", x=[24, left], x2=[232, right], y=floor, y2=floor, stroke="ink", line=1
        )
        shown.circles(
            f"now {row}", x=spot(t)[:, None], y=level(queue[pick])[:, None], r=4.5, fill=colour
        )
        shown.texts(f"name {row}", x=24, y=floor + 14, text=name, size=13, bold=1, align="left")
        shown.texts(
            f"queued {row}",
            x=right,
            y=floor + 14,
            size=13,
            align="right",
            text=np.array([f"{q / KB:.0f} KB queued" for q in queue[pick]])[:, None],
        )
    shown.texts(
        "kmax words",
        x=left - 4,
        y=128 - tall * kmax / most,
        text="Kmax",
        size=12,
        align="right",
        fill="muted",
    )
    marks = np.arange(0, 70, 10) * ms
    shown.texts(
        "marks",
        x=np.clip(spot(marks), left + 12, right - 22),
        y=428,
        size=12,
        text=np.array([f"{m / ms:.0f} ms" for m in marks]),
        fill="muted",
    )
    return shown


HOSTS, PATHS, BURSTS, EVERY = 8, 4, 4, 6 * us
TWO = topology.leaf_spine(2, PATHS, HOSTS, PATHS, uplink=100 * GB)
BURST = 250 * KB


def bursts(draw):
    """The same eight flows of four bursts each, `draw` (flow, burst) giving each burst's path."""
    flow, burst = np.divmod(np.arange(HOSTS * BURSTS), BURSTS)
    over = 2 * HOSTS + 2 + draw[flow, burst]
    ways = np.column_stack(
        [flow, np.full(flow.size, 2 * HOSTS), over, np.full(flow.size, 2 * HOSTS + 1), flow + HOSTS]
    )
    return packets.Flows(flow, flow + HOSTS, BURST, burst * EVERY, ways.tolist())


def choices(seed=3):
    """{name: (path of each burst or None, Run)}: by flow, by burst, by packet."""
    rng = np.random.default_rng(seed)
    by_flow = np.repeat(rng.integers(PATHS, size=(HOSTS, 1)), BURSTS, axis=1)
    by_burst = rng.integers(PATHS, size=(HOSTS, BURSTS))
    up = [(2 * HOSTS, 2 * HOSTS + 2 + p) for p in range(PATHS)]
    options = {
        "pfc": None,
        "buffer": 100 * MB,
        "recovery": "selective",
        "sample": 0.5 * us,
        "watch": up,
        "watch_flows": range(HOSTS * BURSTS),
    }
    free = bursts(by_flow)
    free = packets.Flows(free.source, free.target, free.size, free.start)
    return {
        "ECMP: by flow": (by_flow, packets.run(TWO, bursts(by_flow), **options)),
        "flowlets: by burst": (by_burst, packets.run(TWO, bursts(by_burst), **options)),
        "spraying: by packet": (None, packets.run(TWO, free, routing="spray", **options)),
    }


@scene
def paths(seed=3):
    """Eight flows over four paths: hashed by flow, by burst, and by packet."""
    runs = choices(seed)
    ends = {name: float(run.duration) for name, (_, run) in runs.items()}
    times = np.unique(np.round(np.concatenate([run.times for _, run in runs.values()]), 12))
    ideal = float((BURSTS - 1) * EVERY + BURST / (50 * GB))
    by_flow = next(iter(runs.values()))[0]
    crowd = np.bincount(by_flow[:, 0], minlength=PATHS)
    odds = float(congestion.fullest_path(HOSTS, PATHS)[crowd.max() :].sum())
    ecmp, flowlets, spray = ends
    stops = [
        (
            0.0,
            f"Eight flows of {BURSTS} bursts each, four paths that carry two flows each at full"
            f" rate. ECMP's hash has put {crowd.max()} flows on one path and left"
            f" {int((crowd == 0).sum())} idle: so bad or worse in {odds:.0%} of draws.",
        ),
        (
            float(EVERY),
            "Second burst. Flowlets draw a new path in the gap between bursts; ECMP goes on"
            " with the first.",
        ),
        (
            ends[spray],
            f"Spraying is done after {si(ends[spray], 's')}; with no collision at all it"
            f" would be {si(ideal, 's')} and the way. Its packets arrive out of order.",
        ),
        (
            ends[flowlets],
            f"Flowlets are done after {si(ends[flowlets], 's')}: bursts collide too, but"
            " each time others.",
        ),
        (
            ends[ecmp],
            f"ECMP is done after {si(ends[ecmp], 's')}, {ends[ecmp] / ends[spray]:.1f} times"
            " as long as spraying, with the same flows on the same cables.",
        ),
    ]
    times = times[times <= max(ends.values()) * (1 + 1e-9)]
    stops = [(min(at, float(times[-1])), words) for at, words in sorted(stops)]
    shown = Scene(
        700,
        430,
        times,
        "us",
        stops=stops,
        seconds=24,
        telling=0.6 * ends[spray],
        alt="Eight flows over four paths, three times: ECMP crowds some paths and leaves others"
        " idle, flowlets draw anew for each burst, spraying fills all four evenly and ends first.",
    )
    flow_of = np.arange(HOSTS * BURSTS) // BURSTS
    for k, (name, (_, run)) in enumerate(runs.items()):
        x0 = 14 + 232 * k
        at = lambda values: np.column_stack(  # noqa: B023
            [np.interp(times, run.times, column) for column in np.asarray(values, float).T]  # noqa: B023
        )
        ports = list(run.queues)
        queue = at(np.column_stack([run.queues[c] for c in ports]))
        carried = at(np.column_stack([run.channel_samples["carried"][c] for c in ports]))
        done = at(
            np.column_stack(
                [run.flow_samples["delivered"][:, flow_of == f].sum(axis=1) for f in range(HOSTS)]
            )
        )
        shown.texts(f"name {k}", x=x0, y=18, text=name, size=14, bold=1, align="left")
        y = 60 + 34 * np.arange(PATHS)
        shown.rects(f"leaf {k}", x=x0 + 66, y=42, w=14, h=140, fill="pale", stroke="ink", line=1.2)
        shown.rects(
            f"far leaf {k}", x=x0 + 192, y=42, w=14, h=140, fill="pale", stroke="ink", line=1.2
        )
        busy = np.vstack([np.zeros(PATHS), np.diff(carried, axis=0)]) > 0
        for p in range(PATHS):
            shown.lines(
                f"path {k}.{p}",
                x=x0 + 82,
                x2=x0 + 190,
                y=y[p],
                y2=y[p],
                line=7,
                dash=8,
                gap=5,
                stroke=np.where(busy[:, [p]], "first", "line"),
                offset=carried[:, [p]] / (8 * KB),
            )
        shown.rects(
            f"queues {k}",
            x=x0 + 64 - np.minimum(64, queue / (16 * KB)),
            y=y - 7,
            h=14,
            w=np.minimum(64, queue / (16 * KB)),
            fill="startup",
        )
        y = 232 + 18 * np.arange(HOSTS)
        shown.rects(f"ground {k}", x=x0, y=y - 6, w=206, h=12, fill="pale")
        shown.rects(
            f"progress {k}",
            x=x0,
            y=y - 6,
            h=12,
            w=206 * done / (BURSTS * BURST),
            fill=np.where(done > BURSTS * BURST * (1 - 1e-9), "good", "wire"),
        )
        shown.texts(
            f"done {k}",
            x=x0,
            y=390,
            size=13,
            bold=1,
            align="left",
            text=np.where(
                times >= ends[name] * (1 - 1e-9),
                f"done: {si(ends[name], 's')}",
                [
                    f"{total / MB:.1f} of {HOSTS * BURSTS * BURST / MB:.0f} MB there"
                    for total in done.sum(axis=1)
                ],
            )[:, None],
        )
    shown.texts(
        "words",
        x=14,
        y=208,
        text="the eight flows, bytes there",
        size=13,
        align="left",
        fill="muted",
    )
    shown.rects("key", x=14, y=410, w=22, h=12, fill="startup")
    shown.texts(
        "key words",
        x=44,
        y=416.5,
        size=13,
        align="left",
        text="waits before a path (full width: 1 MB)",
    )
    return shown
