"""A scene of one AllReduce three ways on one clock: a ring, a tree, and a ring per rail."""

import numpy as np

from fabriclab import collectives
from fabriclab.course.engine.scene import Scene, scene
from fabriclab.course.transport.ring_scenes import clock, held, ring_steps
from fabriclab.units import GB, KB, MB, si, us


def three_ways(size, alpha, beta, inside_alpha, inside_beta):
    """{name: (steps, seconds of each, start-up of each, seconds by the model)} for eight ranks, two
    nodes of four: a ring of all, a tree, and a ring per rail.
    """
    ring_of_8 = ring_steps(8)
    every = range(8)
    up = [[(r, r - d, c, True) for r in range(d, 8, 2 * d) for c in every] for d in (1, 2, 4)]
    tree = up + [[(b, a, c, False) for a, b, c, _ in moves] for moves in up[::-1]]
    # inside a node rank r comes to hold chunks r and r + 4, which its rail then sums with its twin
    local = [
        [
            (4 * node + a, 4 * node + b, c + half, adds)
            for node in (0, 1)
            for a, b, c, adds in moves
            for half in (0, 4)
        ]
        for moves in ring_steps(4)
    ]
    owned = lambda r: ((r + 1) % 4, (r + 1) % 4 + 4)
    mine = lambda r: owned(r % 4)[1 - r // 4]
    rails = [
        [(r, (r + 4) % 8, mine((r + 4) % 8), True) for r in every],
        [(r, (r + 4) % 8, mine(r), False) for r in every],
    ]
    one, fast = alpha + size / 8 / beta, inside_alpha + size / 4 / inside_beta
    return {
        "ring of 8": (
            ring_of_8,
            [one] * 14,
            [alpha] * 14,
            collectives.ring_allreduce(size, 8, alpha, beta),
        ),
        "tree": (
            tree,
            [alpha + size / beta] * 6,
            [alpha] * 6,
            collectives.tree_allreduce(size, 8, alpha, beta),
        ),
        "ring per rail": (
            local[:3] + rails + local[3:],
            [fast] * 3 + [one] * 2 + [fast] * 3,
            [inside_alpha] * 3 + [alpha] * 2 + [inside_alpha] * 3,
            collectives.hierarchical_allreduce(size, 2, 4, alpha, beta, inside_alpha, inside_beta),
        ),
    }


@scene
def ways(size=1 * MB, alpha=1.5 * us, beta=50 * GB, inside_alpha=0.5 * us, inside_beta=450 * GB):
    """The same AllReduce on one clock: round a ring, up and down a tree, and along rails."""
    runs = three_ways(size, alpha, beta, inside_alpha, inside_beta)
    frames = {name: clock(lasts, start) for name, (_, lasts, start, _) in runs.items()}
    ends = {name: float(t[-1]) for name, (t, _, _) in frames.items()}
    times = np.unique(np.round(np.concatenate([t for t, _, _ in frames.values()]), 13))
    ring_end, tree_end, rail_end = ends.values()
    three = 3 * (inside_alpha + size / 4 / inside_beta)
    half = 3 * (alpha + size / beta)
    small = {
        name: run[3]
        for name, run in three_ways(1 * KB, alpha, beta, inside_alpha, inside_beta).items()
    }
    stops = [
        (
            0.0,
            f"Two nodes of four ranks, {si(size, 'B')} each. The ring takes 14 steps of an eighth,"
            " the tree 6 steps of everything; on rails the nodes first sum up inside.",
        ),
        (
            three,
            "Rails: inside each node every rank holds a quarter of its node's sum. Now four pairs"
            " exchange across the network, all at once.",
        ),
        (
            rail_end,
            f"Rails are done after {si(rail_end, 's')}: 2 steps on the network, 6 on the fast"
            " links inside.",
        ),
        (
            half,
            "Tree: rank 0 has the whole sum; now it goes down the way it came. Most ports have been"
            " idle most of the time.",
        ),
        (
            ring_end,
            f"The ring is done after {si(ring_end, 's')}: every port busy all the time, and 14"
            " start-ups.",
        ),
        (
            tree_end,
            f"The tree is done after {si(tree_end, 's')}. For 1 KB it is {si(small['tree'], 's')}"
            f" against {si(small['ring of 8'], 's')} for the ring: then the start-ups count.",
        ),
    ]
    pace = np.interp(times, [0, rail_end, ring_end, tree_end], [0, 10, 20, 30])
    shown = Scene(
        700,
        400,
        times,
        "us",
        stops=stops,
        seconds=30,
        pace=pace,
        telling=1.5 * three,
        alt="One AllReduce of eight ranks three ways on one clock: a ring, a binomial tree, and a"
        " ring per rail; small bars in each rank show which sums it holds.",
    )
    turn = -np.pi / 2 + 2 * np.pi * np.arange(8) / 8
    places = [
        (113 + 84 * np.cos(turn), 170 + 116 * np.sin(turn)),
        (
            np.array([40, 40, 88, 88, 136, 136, 184, 184.0]),
            np.array([60, 270, 130, 270, 95, 270, 165, 270.0]),
        ),
        (30 + 55 * (np.arange(8) % 4) + 0.0, np.repeat([110.0, 240.0], 4)),
    ]
    for k, (name, (steps, lasts, _, _)) in enumerate(runs.items()):
        x0 = 8 + 232 * k
        at, step, part = frames[name]
        states = held(8, 8, steps)
        mine = np.clip(np.searchsorted(at, times * (1 + 1e-12), "right") - 1, 0, len(at) - 1)
        gone = np.interp(times, at, np.arange(len(at)))
        frac = gone - np.floor(gone)
        after = np.minimum(mine + 1, len(at) - 1)
        here, sent = step[mine], part[mine]
        # a frame between two of this panel's own lies part of the way between them
        sent = np.where(step[after] == here, sent + frac * (part[after] - part[mine]), sent)
        level = states[here] + sent[:, None, None] * (states[here + 1] - states[here])
        x, y = places[k][0] + x0, places[k][1]
        shown.texts(f"name {k}", x=x0, y=16, text=name, size=14, bold=1, align="left")
        _transfers(shown, k, steps, here, sent, x, y, times < ends[name] - 1e-12)
        shown.rects(
            f"ranks {k}",
            x=x - 24,
            y=y - 21,
            w=48,
            h=42,
            fill="paper",
            stroke="muted",
            line=1.2,
            round=4,
        )
        shown.texts(
            f"numbers {k}",
            x=x,
            y=y - 13,
            size=12,
            bold=1,
            text=np.array([str(r) for r in range(8)]),
        )
        left = (x[:, None] - 21 + 5.3 * np.arange(8)).ravel()
        floor, flat = np.repeat(y + 18, 8), level.reshape(len(times), -1)
        shown.rects(f"ground {k}", x=left, y=floor - 24, w=4.6, h=24, fill="pale")
        shown.rects(
            f"cells {k}",
            x=left,
            y=floor - 3 * flat,
            w=4.6,
            h=3 * flat,
            fill=np.where(flat > 8 - 1e-9, "good", "wire"),
        )
        told = np.where(
            times >= ends[name] - 1e-12,
            f"done: {si(ends[name], 's')}",
            [f"step {s + 1} of {len(steps)}" for s in here],
        )
        shown.texts(f"told {k}", x=x0, y=336, text=told[:, None], size=13, bold=1, align="left")
        spot = lambda t: x0 + 214 * np.asarray(t) / times[-1]  # noqa: B023
        begin = np.concatenate([[0], np.cumsum(lasts)[:-1]])
        shown.rects(
            f"steps {k}",
            x=spot(begin),
            y=350,
            h=10,
            fill="line",
            w=np.maximum(1.0, 214 * np.array(lasts) / times[-1] - 1),
        )
        shown.lines(
            f"clock {k}", x=spot(times)[:, None], x2=spot(times)[:, None], y=346, y2=364, line=2
        )
    shown.rects("key", x=[8, 130], y=377, w=13, h=13, fill=np.array(["wire", "good"]))
    shown.texts(
        "key words",
        x=[28, 150],
        y=384,
        size=13,
        align="left",
        text=np.array(["partial sum", "whole; eight chunks in each rank"]),
    )
    return shown


def _transfers(shown, k, steps, here, sent, x, y, running):
    """Arrows where something is sent, and a dot on its way along each."""
    pairs = sorted({(a, b) for moves in steps for a, b, _, _ in moves})
    live = np.array([[any(m[:2] == pair for m in moves) for pair in pairs] for moves in steps])
    on = live[here] & running[:, None]
    a, b = np.array(pairs).T
    dot_x, dot_y = (c[a] + sent[:, None] * (c[b] - c[a]) for c in (x, y))
    shown.lines(
        f"ways {k}",
        x=x[a],
        y=y[a],
        x2=x[b],
        y2=y[b],
        stroke="muted",
        line=2,
        alpha=np.where(on, 1.0, 0.25),
    )
    shown.circles(
        f"dots {k}",
        x=dot_x,
        y=dot_y,
        r=6,
        fill="startup",
        stroke="ink",
        line=1.2,
        alpha=np.where(on, 1.0, 0.0),
        hold=("alpha", "x", "y"),
    )
