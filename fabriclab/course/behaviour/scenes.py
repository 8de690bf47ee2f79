"""Scenes of how buffers fill: an incast whose pauses climb, and a lock that closes."""

import numpy as np

from fabriclab import deadlock, packets, topology
from fabriclab.course.engine.scene import Scene, scene
from fabriclab.units import KB, MB, ms, si, us

FLOWS = ["first", "fourth", "good", "muted", "wire", "startup"]
TREE = topology.leaf_spine(4, 2, 4, 4)  # hosts 0 to 15, leaves 16 to 19, spines 20 and 21
VICTIMS = ((5, 2, 0), (12, 9, 1), (8, 3, 1))  # from, to, over which spine


def way(source, target, spine):
    """The vertices of a flow between two hosts of different leaves of TREE."""
    return [source, 16 + source // 4, 20 + spine, 16 + target // 4, target]


def shares_paused(run, channels):
    """(samples, channels): the share of the time since the sample before that each was paused."""
    spent = np.column_stack([run.channel_samples["paused"][c] for c in channels])
    gone = np.diff(run.times)[:, None]
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
        (up[0], f"{name_of(up[1][1])} holds too much that came from {name_of(up[1][0])}, and pauses it."),
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
    shown.rects("switches", x=x - 64, y=y - 22, w=128, h=44, fill="paper", stroke="ink", line=1.6,
                round=5)  # fmt: skip
    shown.texts("switch names", x=x - 58, y=y - 9, size=13, bold=1, align="left",
                text=np.array([name_of(v) for v in held]))  # fmt: skip
    shown.texts("held", x=x + 58, y=y - 9, size=12, align="right",
                text=np.array([[f"{q / MB:.2f} MB" for q in row] for row in bytes_held]))  # fmt: skip
    shown.rects("ground", x=x - 58, y=y + 3, w=116, h=12, fill="pale")
    shown.rects("buffers", x=x - 58, y=y + 3, w=116 * bytes_held / buffer, h=12, fill="startup")


@scene
def lock(switches=6, links=3, buffer=600 * KB, stagger=8 * us, patience=150 * us, step=2 * us):
    """A ring of switches whose pauses close a circle, buffer by buffer; a watchdog opens it."""
    n, size = switches, 1 * MB
    routes = deadlock.ring_routes(n, links)
    ways = [[a for a, _, _ in r] + [r[-1][1]] for r in routes]
    flows = packets.Flows(
        [w[0] for w in ways], [w[-1] for w in ways], size, np.arange(n) * stagger, ways
    )
    around = [(i, (i + 1) % n) for i in range(n)]
    options = {"buffer": buffer, "until": 10.0}
    ring = topology.torus((n,))
    run = packets.run(
        ring,
        flows,
        pfc=packets.Pfc(watchdog=patience),
        sample=step,
        watch=around,
        watch_flows=range(n),
        **options,
    )
    left = packets.run(ring, flows, **options)
    share, delivered = shares_paused(run, around), run.flow_samples["delivered"]
    dropped = run.flow_samples["dropped"].sum(axis=1)
    queue = np.column_stack([run.queues[c] for c in around])

    port = [next(i for i, p in enumerate(run.ports) if tuple(p) == c) for c in around]
    log = run.pause_log[np.isin(run.pause_log[:, 1], port)]
    quiet = int(np.argmax(np.diff(log[:, 0])))
    locked, freed = float(log[quiet, 0]), float(log[quiet + 1, 0])
    firsts = sorted((float(log[(log[:, 1] == p) & (log[:, 2] == 1), 0].min()), i)
                    for i, p in enumerate(port))  # fmt: skip
    arrived = float(np.interp(locked, run.times, delivered.sum(axis=1)))
    graph = deadlock.dependencies(routes)
    stops = [
        (0.0, f"{n} switches in a ring, a flow over {links} cables from each, one after another."
         f" Who waits for whom has {len(graph.cycles())} circle: a deadlock is {graph.verdict()}."),
        *((at, f"Switch {(i + 1) % n} holds too much and pauses switch {i}: {k} of {n} cables have"
           " been paused so far. Pauses come and go; packets still move.")
          for k, (at, i) in enumerate(firsts, 1)),
        (locked, f"Locked. All {n} cables are paused at once, each full buffer waits for the next."
         f" {arrived / MB:.1f} of {n * size / MB:.0f} MB had arrived. Waiting will not help."),
        (freed, f"A port has been paused for {si(patience, 's')}: the watchdog DROPS what waits there."
         f" (Real ones wait {si(200 * ms, 's')} or so, a thousand times longer.)"),
        (float(run.times[-1]), f"All delivered after {si(run.duration, 's')}, with"
         f" {si(float(run.dropped.sum()), 'B')} dropped and {si(float(run.retransmitted.sum()), 'B')}"
         f" sent again. Without a watchdog: {left.outcome} for ever."),
    ]  # fmt: skip
    pace = np.interp(
        run.times, [0, locked + 8 * us, freed - 4 * us, run.times[-1]], [0, 15, 18, 30]
    )
    shown = Scene(
        700,
        450,
        run.times,
        "us",
        stops=stops,
        seconds=30,
        pace=pace,
        telling=locked + 10 * us,
        alt=f"A ring of {n} switches: buffers fill and cables are paused one by one until all are;"
        " the watchdog drops, and the flows finish.",
    )
    cx, cy, angle = 272, 225, -np.pi / 2 + 2 * np.pi * np.arange(n) / n
    px, py = cx + 195 * np.cos(angle), cy + 180 * np.sin(angle)
    for f in range(n):
        reach = 58 + 10 * f
        turn = np.linspace(angle[f] + 0.08, angle[f] + 2 * np.pi * links / n - 0.08, 24)
        shown.path(
            f"flow {f}",
            x=cx + 1.08 * reach * np.cos(turn),
            y=cy + reach * np.sin(turn),
            line=5,
            stroke=FLOWS[f % 6],
            dash=10,
            gap=6,
            offset=(delivered[:, f] / (4 * KB))[:, None],
            head=12,
            alpha=np.where(delivered[:, f] >= size, 0.15, 1.0)[:, None],
        )
    qx, qy = np.roll(px, -1), np.roll(py, -1)
    x, y, x2, y2 = (a + part * (b - a) for part in (0.29, 0.71) for a, b in ((px, qx), (py, qy)))
    shown.lines("cables", x=x, y=y, x2=x2, y2=y2, stroke="line", line=4, head=13)
    shown.lines("paused", x=x, y=y, x2=x2, y2=y2, stroke="bad", line=8, head=18, alpha=share)
    mx, my = (x + x2) / 2, (y + y2) / 2
    shown.circles("pause signs", x=mx, y=my, r=12, fill="bad", alpha=share)
    for side in (-3.5, 3.5):
        shown.lines(f"pause bars {side}", x=mx + side, x2=mx + side, y=my - 6, y2=my + 6,
                    stroke="paper", line=3.5, alpha=share)  # fmt: skip
    shut = share > 0.98
    shown.rects("switches", x=px - 64, y=py - 24, w=128, h=48, fill="paper", stroke="ink", line=1.6,
                round=6)  # fmt: skip
    shown.texts("names", x=px - 58, y=py - 10, size=13, bold=1, align="left",
                text=np.array([f"switch {i}" for i in range(n)]))  # fmt: skip
    shown.texts("held", x=px + 58, y=py - 10, size=12, align="right",
                text=np.array([[f"{q / KB:.0f} KB" for q in row] for row in queue]))  # fmt: skip
    shown.rects("ground", x=px - 58, y=py + 3, w=116, h=13, fill="pale")
    shown.rects("buffers", x=px - 58, y=py + 3, w=116 * queue / queue.max(), h=13,
                fill=np.where(shut, "bad", "startup"))  # fmt: skip
    count, all_shut = (share > 0.02).sum(axis=1), shut.all(axis=1)
    shown.texts("count", x=cx, y=cy - 11, size=19, bold=1,
                text=np.where(all_shut, "LOCKED", [f"{k} of {n}" for k in count])[:, None],
                fill=np.where(all_shut, "bad", "ink")[:, None])  # fmt: skip
    shown.texts("what", x=cx, y=cy + 10, size=13,
                text=np.where(all_shut, "none moves", "paused")[:, None])  # fmt: skip
    y = 42 + 22 * np.arange(n)
    shown.texts("delivered", x=540, y=18, text="delivered", size=13, align="left", fill="muted")
    shown.lines("key flows", x=540, x2=566, y=y, y2=y, line=5, dash=9, gap=5,
                stroke=np.array([FLOWS[f % 6] for f in range(n)]))  # fmt: skip
    shown.texts("key names", x=574, y=y, size=13, align="left",
                text=np.array([f"{f} to {(f + links) % n}" for f in range(n)]))  # fmt: skip
    shown.rects("ground of flows", x=624, y=y - 6, w=64, h=12, fill="pale")
    shown.rects("progress", x=624, y=y - 6, w=64 * delivered / size, h=12,
                fill=np.array([FLOWS[f % 6] for f in range(n)]))  # fmt: skip
    shown.rects("key buffer", x=530, y=352, w=26, h=13, fill="startup")
    shown.lines("key pause", x=530, x2=548, y=382, y2=382, stroke="bad", line=8, head=16)
    shown.texts("key", x=566, y=[359, 382], size=13, align="left",
                text=np.array(["waits in a switch", "paused"]))  # fmt: skip
    shown.texts("dropped", x=530, y=425, size=15, bold=1, align="left",
                text=np.array([f"dropped {d / KB:.0f} KB" for d in dropped])[:, None],
                fill=np.where(dropped > 0, "bad", "muted")[:, None])  # fmt: skip
    return shown
