"""A scene of an incast: buffers fill, pauses climb the tree, and flows that only cross stop."""

import numpy as np

from fabriclab import packets, topology
from fabriclab.course.engine.scene import Scene, scene
from fabriclab.units import KB, MB, si, us

FLOWS = ["first", "fourth", "good", "muted", "wire", "startup"]
TREE = topology.leaf_spine(4, 2, 4, 4)  # hosts 0 to 15, leaves 16 to 19, spines 20 and 21
VICTIMS = ((5, 2, 0), (12, 9, 1), (8, 3, 1))  # from, to, over which spine


def way(source, target, spine):
    """The vertices of a flow between two hosts of different leaves of TREE."""
    return [source, 16 + source // 4, 20 + spine, 16 + target // 4, target]


def cables(run, channels):
    """How many cables lie side by side in each channel."""
    return np.array([(run.ports == channel).all(axis=1).sum() for channel in channels])


def shares_paused(run, channels):
    """(samples, channels): the share of the time since the sample before that each was paused, a
    mean over cables side by side.
    """
    spent = np.column_stack([run.channel_samples["paused"][c] for c in channels])
    gone = np.diff(run.times)[:, None] * cables(run, channels)
    return np.vstack([np.zeros(len(channels)), np.clip(np.diff(spent, axis=0) / gone, 0, 1)])


def name_of(vertex):
    """What TREE's vertices are called."""
    if vertex < 16:
        return f"host {vertex}"
    return f"leaf {vertex - 15}" if vertex < 20 else f"spine {vertex - 19}"


@scene
def incast(buffer=2 * MB, step=2 * us):
    """Twelve hosts send to one under PFC; three flows that only cross their way are stopped too."""
    ways = [way(h, 0, h % 2) for h in range(4, 16)] + [way(*v) for v in VICTIMS]
    channels = sorted({c for w in ways for c in zip(w, w[1:])})
    run = packets.run(
        TREE,
        packets.Flows([w[0] for w in ways], [w[-1] for w in ways], 1 * MB, 0.0, ways),
        buffer=buffer,
        sample=step,
        watch=channels,
        watch_flows=range(len(ways)),
    )
    alone = packets.run(
        TREE,
        packets.Flows(*zip(*((w[0], w[-1]) for w in ways[12:])), 1 * MB, 0.0, ways[12:]),
        buffer=buffer,
    )
    share, delivered = shares_paused(run, channels), run.flow_samples["delivered"]
    held = {v: sum(run.queues[c] for c in channels if c[0] == v) for v in range(16, 22)}
    first = lambda test: next(
        (float(at), run.ports[int(port)].tolist())
        for at, port, on in run.pause_log
        if on and test(*run.ports[int(port)])
    )
    up = first(lambda a, b: 16 <= a < 20 <= b)
    down = first(lambda a, b: a >= 20)
    host = first(lambda a, b: a < 16)
    senders = [i for i, (a, _) in enumerate(channels) if 4 <= a < 16]
    stopped = (share[:, senders] > 0.5).sum(axis=1)
    worst = int(np.argmax(stopped))
    last = float(run.completion[12:].max())
    stops = [
        (
            0.0,
            "Twelve hosts (orange) begin to send 1 MB each to host 0. Three other flows only cross"
            " their way.",
        ),
        (
            down[0],
            f"{name_of(down[1][1])} has one cable to host 0, and 12 hosts want it. It holds too"
            f" much and pauses {name_of(down[1][0])}.",
        ),
        (
            up[0],
            f"{name_of(up[1][1])} holds too much that came from {name_of(up[1][0])}, and pauses"
            " it.",
        ),
        (
            host[0],
            f"The pauses have come down to the senders: {name_of(host[1][0])} must stop,"
            " whatever it sends and to whomever.",
        ),
        (
            float(run.times[worst]),
            f"{stopped[worst]} of 12 hosts stand paused most of the time. The"
            " three flows creep: they wait behind packets for host 0, to which they send nothing.",
        ),
        (
            last,
            f"The last of the three is through after {si(last, 's')}. Alone they take"
            f" {si(float(alone.completion.max()), 's')}. Dropped: {int(run.dropped.sum())} bytes.",
        ),
        (
            float(run.times[-1]),
            f"All done after {si(run.duration, 's')}: what one cable takes for 12"
            " MB. Flows that never went there have paid for it.",
        ),
    ]
    stops = [(at, words[0].upper() + words[1:]) for at, words in stops]
    pace = np.interp(run.times, [0, 2 * run.times[worst], run.times[-1]], [0, 18, 32])
    shown = Scene(
        700,
        440,
        run.times,
        "us",
        stops=stops,
        seconds=32,
        pace=pace,
        telling=run.times[worst],
        alt="A leaf-spine of 16 hosts: twelve send to host 0; buffers fill, pauses spread over the"
        " cables down to the hosts, and three flows that only cross their way slow to a crawl.",
    )
    place = {20: (255, 112), 21: (445, 112)} | {16 + i: (92 + 172 * i, 240) for i in range(4)}
    place |= {h: (place[16 + h // 4][0] + (h % 4 - 1.5) * 39, 362) for h in range(16)}
    _cables(shown, place, channels, share)
    got = delivered[:, :12].sum(axis=1)
    # the one cable that all want, and the three flows: dashes that go on as bytes arrive
    shown.path(
        "to host 0",
        x=[place[16][0], place[0][0]],
        y=[262, 362],
        stroke="ink",
        line=5,
        dash=9,
        gap=4,
        offset=(got / (16 * KB))[:, None],
    )
    for j, v in enumerate(VICTIMS):
        xs, ys = np.array([place[u] for u in way(*v)], float).T
        done = delivered[:, 12 + j] >= 1 * MB
        shown.path(
            f"flow {j}",
            x=xs + 5 * (j - 1),
            y=ys + 4 * (j - 1),
            stroke=FLOWS[j],
            line=4.5,
            dash=9,
            gap=7,
            offset=(delivered[:, 12 + j] / (4 * KB))[:, None],
            alpha=np.where(done, 0.0, 0.95)[:, None],
        )
    _switches(shown, place, held, buffer)
    x, y = np.array([place[h] for h in range(16)]).T
    shown.circles(
        "hosts",
        x=x,
        y=y,
        r=14,
        stroke="ink",
        line=1.5,
        fill=np.array(["ink"] + ["paper"] * 3 + ["startup"] * 12),
    )
    shown.texts(
        "host names",
        x=x,
        y=y,
        text=np.array([str(h) for h in range(16)]),
        size=13,
        bold=1,
        fill=np.array(["paper"] + ["ink"] * 3 + ["black"] * 12),
    )
    shown.texts("rate", x=place[0][0] - 22, y=312, text="50 GB/s", size=12, align="left")
    shown.texts(
        "received",
        x=14,
        y=412,
        size=14,
        bold=1,
        align="left",
        text=np.array([f"host 0 has {g / MB:.1f} of 12 MB" for g in got])[:, None],
    )
    for j, (a, b, _) in enumerate(VICTIMS):
        y = 22 + 22 * j
        shown.lines(f"key {j}", x=14, x2=42, y=y, y2=y, stroke=FLOWS[j], line=4.5, dash=9, gap=5)
        shown.texts(f"key name {j}", x=50, y=y, text=f"{a} to {b}", size=13, align="left")
        shown.rects(f"ground {j}", x=108, y=y - 6, w=70, h=12, fill="pale")
        shown.rects(
            f"progress {j}",
            x=108,
            y=y - 6,
            h=12,
            fill=FLOWS[j],
            w=(70 * delivered[:, 12 + j] / MB)[:, None],
        )
    shown.rects("key buffer", x=520, y=16, w=28, h=12, fill="startup")
    shown.lines("key pause", x=520, x2=548, y=44, y2=44, stroke="bad", line=4)
    shown.circles("key pause sign", x=534, y=44, r=7, fill="bad")
    shown.circles("key sender", x=534, y=66, r=8, fill="startup", stroke="ink", line=1.5)
    shown.texts(
        "key",
        x=558,
        y=[22, 44, 66],
        align="left",
        size=13,
        text=np.array([f"of {si(buffer, 'B')} buffer", "paused this way", "sends to host 0"]),
    )
    return shown


def _cables(shown, place, channels, share):
    """Both directions of each cable side by side, red where paused."""
    ends = np.array([(*place[a], *place[b]) for a, b in channels], float)
    away = ends[:, 2:] - ends[:, :2]
    aside = np.column_stack([-away[:, 1], away[:, 0]]) / np.hypot(*away.T)[:, None] * 3.5
    x, y, x2, y2 = (ends + np.tile(aside, 2)).T
    shown.lines("cables", x=x, y=y, x2=x2, y2=y2, stroke="line", line=1.3)
    shown.lines("paused", x=x, y=y, x2=x2, y2=y2, stroke="bad", line=4, alpha=share)
    mx, my = 0.64 * x + 0.36 * x2, 0.64 * y + 0.36 * y2
    shown.circles("pause signs", x=mx, y=my, r=7, fill="bad", alpha=share)
    for side in (-2, 2):
        shown.lines(
            f"pause bars {side}",
            x=mx + side,
            x2=mx + side,
            y=my - 3.5,
            y2=my + 3.5,
            stroke="paper",
            line=2,
            alpha=share,
        )


def _switches(shown, place, held, buffer):
    """A box for each switch, with what it holds of its buffer."""
    x, y = np.array([place[v] for v in held], float).T
    bytes_held = np.column_stack(list(held.values()))
    shown.rects(
        "switches", x=x - 64, y=y - 22, w=128, h=44, fill="paper", stroke="ink", line=1.6, round=5
    )
    shown.texts(
        "switch names",
        x=x - 58,
        y=y - 9,
        size=13,
        bold=1,
        align="left",
        text=np.array([name_of(v) for v in held]),
    )
    shown.texts(
        "held",
        x=x + 58,
        y=y - 9,
        size=12,
        align="right",
        text=np.array([[f"{q / MB:.2f} MB" for q in row] for row in bytes_held]),
    )
    shown.rects("ground", x=x - 58, y=y + 3, w=116, h=12, fill="pale")
    shown.rects("buffers", x=x - 58, y=y + 3, w=116 * bytes_held / buffer, h=12, fill="startup")
