"""A scene of a deadlock: pauses that close a circle, and a watchdog that opens it."""

import numpy as np

from fabriclab import deadlock, packets, topology
from fabriclab.course.behaviour.incast_scenes import FLOWS, shares_paused
from fabriclab.course.engine.scene import Scene, scene
from fabriclab.units import KB, MB, ms, si, us


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
    firsts = sorted(
        (float(log[(log[:, 1] == p) & (log[:, 2] == 1), 0].min()), i) for i, p in enumerate(port)
    )
    arrived = float(np.interp(locked, run.times, delivered.sum(axis=1)))
    graph = deadlock.dependencies(routes)
    stops = [
        (
            0.0,
            f"{n} switches in a ring, a flow over {links} cables from each, one after another."
            f" Who waits for whom has {len(graph.cycles())} circle: a deadlock is"
            f" {graph.verdict()}.",
        ),
        *(
            (
                at,
                f"Switch {(i + 1) % n} holds too much and pauses switch {i}: {k} of {n} cables have"
                " been paused so far. Pauses come and go; packets still move.",
            )
            for k, (at, i) in enumerate(firsts, 1)
        ),
        (
            locked,
            f"Locked. All {n} cables are paused at once, each full buffer waits for the next."
            f" {arrived / MB:.1f} of {n * size / MB:.0f} MB had arrived. Waiting will not help.",
        ),
        (
            freed,
            f"A port has been paused for {si(patience, 's')}: the watchdog DROPS what waits there."
            f" (Real ones wait {si(200 * ms, 's')} or so, a thousand times longer.)",
        ),
        (
            float(run.times[-1]),
            f"All delivered after {si(run.duration, 's')}, with"
            f" {si(float(run.dropped.sum()), 'B')} dropped and"
            f" {si(float(run.retransmitted.sum()), 'B')}"
            f" sent again. Without a watchdog: {left.outcome} for ever.",
        ),
    ]
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
        shown.lines(
            f"pause bars {side}",
            x=mx + side,
            x2=mx + side,
            y=my - 6,
            y2=my + 6,
            stroke="paper",
            line=3.5,
            alpha=share,
        )
    shut = share > 0.98
    shown.rects(
        "switches", x=px - 64, y=py - 24, w=128, h=48, fill="paper", stroke="ink", line=1.6, round=6
    )
    shown.texts(
        "names",
        x=px - 58,
        y=py - 10,
        size=13,
        bold=1,
        align="left",
        text=np.array([f"switch {i}" for i in range(n)]),
    )
    shown.texts(
        "held",
        x=px + 58,
        y=py - 10,
        size=12,
        align="right",
        text=np.array([[f"{q / KB:.0f} KB" for q in row] for row in queue]),
    )
    shown.rects("ground", x=px - 58, y=py + 3, w=116, h=13, fill="pale")
    shown.rects(
        "buffers",
        x=px - 58,
        y=py + 3,
        w=116 * queue / queue.max(),
        h=13,
        fill=np.where(shut, "bad", "startup"),
    )
    count, all_shut = (share > 0.02).sum(axis=1), shut.all(axis=1)
    shown.texts(
        "count",
        x=cx,
        y=cy - 11,
        size=19,
        bold=1,
        text=np.where(all_shut, "LOCKED", [f"{k} of {n}" for k in count])[:, None],
        fill=np.where(all_shut, "bad", "ink")[:, None],
    )
    shown.texts(
        "what", x=cx, y=cy + 10, size=13, text=np.where(all_shut, "none moves", "paused")[:, None]
    )
    y = 42 + 22 * np.arange(n)
    shown.texts("delivered", x=540, y=18, text="delivered", size=13, align="left", fill="muted")
    shown.lines(
        "key flows",
        x=540,
        x2=566,
        y=y,
        y2=y,
        line=5,
        dash=9,
        gap=5,
        stroke=np.array([FLOWS[f % 6] for f in range(n)]),
    )
    shown.texts(
        "key names",
        x=574,
        y=y,
        size=13,
        align="left",
        text=np.array([f"{f} to {(f + links) % n}" for f in range(n)]),
    )
    shown.rects("ground of flows", x=624, y=y - 6, w=64, h=12, fill="pale")
    shown.rects(
        "progress",
        x=624,
        y=y - 6,
        w=64 * delivered / size,
        h=12,
        fill=np.array([FLOWS[f % 6] for f in range(n)]),
    )
    shown.rects("key buffer", x=530, y=352, w=26, h=13, fill="startup")
    shown.lines("key pause", x=530, x2=548, y=382, y2=382, stroke="bad", line=8, head=16)
    shown.texts(
        "key",
        x=566,
        y=[359, 382],
        size=13,
        align="left",
        text=np.array(["waits in a switch", "paused"]),
    )
    shown.texts(
        "dropped",
        x=530,
        y=425,
        size=15,
        bold=1,
        align="left",
        text=np.array([f"dropped {d / KB:.0f} KB" for d in dropped])[:, None],
        fill=np.where(dropped > 0, "bad", "muted")[:, None],
    )
    return shown
