"""A scene of a ring AllReduce, chunk by chunk."""

import numpy as np

from fabriclab.course.engine.scene import Scene, scene
from fabriclab.units import GB, KB, MB, si, us

PARTS = 6  # frames of one transfer


def ring_steps(ranks):
    """Step by step, what a ring AllReduce sends: [[(from, to, chunk, adds)]]."""
    return [
        [(r, (r + 1) % ranks, (r - s) % ranks, s < ranks - 1) for r in range(ranks)]
        for s in range(2 * (ranks - 1))
    ]


def held(ranks, chunks, steps):
    """(steps + 1, ranks, chunks): of how many ranks each holds the sum, before each step and at
    the end. Raises ValueError where a schedule adds a contribution twice.
    """
    mask = np.array([[1 << r] * chunks for r in range(ranks)], dtype=object)
    states = [mask]
    for moves in steps:
        after = mask.copy()
        for source, target, chunk, adds in moves:
            if adds and mask[source, chunk] & mask[target, chunk]:
                raise ValueError(f"rank {source} is added to rank {target} twice")
            after[target, chunk] = mask[source, chunk] | (after[target, chunk] if adds else 0)
        mask = after
        states.append(mask)
    return np.array([[[m.bit_count() for m in row] for row in state] for state in states])


def clock(durations, alpha):
    """Frames of steps of so many seconds, `alpha` of each a start-up: (times, step, part sent)."""
    times, step, part, begin = [0.0], [0], [0.0], 0.0
    for s, (lasts, start) in enumerate(zip(durations, np.broadcast_to(alpha, len(durations)))):
        for j in range(PARTS + 1):
            times.append(begin + start + (lasts - start) * j / PARTS)
            step.append(s)
            part.append(j / PARTS)
        begin += lasts
    return np.array(times), np.array(step), np.array(part)


@scene
def ring(ranks=8, size=1 * MB, alpha=1.5 * us, beta=50 * GB):
    """A ring AllReduce, chunk by chunk."""
    n, steps = ranks, ring_steps(ranks)
    lasts = alpha + size / n / beta
    times, step, part = clock([lasts] * len(steps), alpha)
    states = held(n, n, steps)
    level = states[step] + part[:, None, None] * (states[step + 1] - states[step])
    total, last = float(times[-1]), len(steps)

    def words(s):
        if s < n - 1:
            return (
                f"Reduce-scatter, step {s + 1} of {n - 1}: every rank sends one chunk on, the"
                " next adds it to its own."
            )
        return f"All-gather, step {s - n + 2} of {n - 1}: whole sums go round, the next keeps them."

    stops = [(s * lasts, words(s)) for s in range(last)]
    stops[0] = (0.0, f"{n} ranks hold {si(size, 'B')} each, cut into {n} chunks. {words(0)}")
    stops[n - 1] = (
        stops[n - 1][0],
        f"Half-way: each rank has one chunk whole, the sum of all {n}. {words(n - 1)}",
    )
    stops.append(
        (
            total,
            f"Done after {si(total, 's')}: every rank has all {n} sums. {last} start-ups"
            f" took {si(last * alpha, 's')}, the bytes {si(last * (lasts - alpha), 's')}.",
        )
    )
    shown = Scene(
        700,
        440,
        times,
        "us",
        stops=stops,
        seconds=30,
        telling=(n - 2) * lasts + alpha + 0.6 * (lasts - alpha),
        alt=f"Ring AllReduce of {n} ranks: chunks travel round the ring, and each rank's {n} cells"
        " fill with partial sums, then with whole ones.",
    )
    cx, cy, reach = 262, 200, (112, 80)
    turn = -np.pi / 2 + 2 * np.pi * np.arange(n) / n
    bx, by = cx + 200 * np.cos(turn), cy + 158 * np.sin(turn)
    circle = np.linspace(0, 2 * np.pi, 97)
    shown.path(
        "ring",
        x=cx + reach[0] * np.cos(circle),
        y=cy + reach[1] * np.sin(circle),
        stroke="line",
        line=2,
    )
    shown.rects(
        "ranks", x=bx - 52, y=by - 31, w=104, h=62, fill="paper", stroke="muted", line=1.2, round=5
    )
    shown.texts(
        "names", x=bx, y=by - 20, size=13, bold=1, text=np.array([f"rank {r}" for r in range(n)])
    )
    wide, deep = 90 / n, 34
    left = (bx[:, None] - 45 + wide * np.arange(n)).ravel()
    floor = np.repeat(by + 26, n)
    flat = level.reshape(len(times), -1)
    shown.rects("ground", x=left, y=floor - deep, w=wide - 1.5, h=deep, fill="pale")
    shown.rects(
        "cells",
        x=left,
        y=floor - deep * flat / n,
        w=wide - 1.5,
        h=deep * flat / n,
        fill=np.where(flat > n - 1e-9, "good", "wire"),
    )
    # chunk c begins at rank c and is handed on at every step
    way = turn[0] + 2 * np.pi * (np.arange(n) + (step + part)[:, None]) / n
    x, y = cx + reach[0] * np.cos(way), cy + reach[1] * np.sin(way)
    rests, whole = (part == 0)[:, None], (step >= n - 1)[:, None]
    shown.rects(
        "chunks",
        x=x - 13,
        y=y - 13,
        w=26,
        h=26,
        round=4,
        line=2.5,
        stroke=np.where(rests, "startup", "ink"),
        fill=np.where(whole, "good", "wire"),
    )
    shown.texts(
        "chunk names",
        x=x,
        y=y,
        size=14,
        bold=1,
        fill="black",
        text=np.array([str(c) for c in range(n)]),
    )
    phase = np.where(step < n - 1, "reduce-scatter", "all-gather")[:, None]
    shown.texts("phase", x=cx, y=cy - 24, text=phase, size=17, bold=1)
    shown.texts(
        "step", x=cx, y=cy, text=np.array([[f"step {s + 1} of {last}"] for s in step]), size=15
    )
    shown.texts(
        "sent",
        x=cx,
        y=cy + 23,
        size=13,
        fill="muted",
        text=np.array([[f"each sent {v * size / n / KB:.0f} KB"] for v in step + part]),
    )
    shown.rects(
        "key",
        x=536,
        y=[24, 48, 72],
        w=14,
        h=14,
        line=[0, 0, 2.5],
        stroke="startup",
        fill=np.array(["wire", "good", "paper"]),
    )
    notes = [
        "partial sum",
        f"whole: sum of {n}",
        "start-up, α",
        "",
        "Cells: the chunks",
        f"0 to {n - 1}. Height: of",
        "how many ranks",
        "it is the sum.",
        "",
        f"α = {si(alpha, 's')}",
        f"β = {si(beta, 'B/s')}",
        f"M = {si(size, 'B')}",
    ]
    shown.texts(
        "notes",
        x=[558] * 3 + [536] * 9,
        y=[31, 55, 79, *(98 + 19 * np.arange(9))],
        align="left",
        size=13,
        text=np.array(notes),
    )
    spot = lambda at: 20 + 660 * np.asarray(at) / total
    begin = np.arange(last) * lasts
    kinds = np.where(np.arange(last) < n - 1, "wire", "good")
    shown.rects("start-ups", x=spot(begin), y=404, w=660 * alpha / total - 1, h=18, fill="startup")
    shown.rects(
        "transfers",
        x=spot(begin + alpha),
        y=404,
        w=660 * (lasts - alpha) / total - 1,
        h=18,
        fill=kinds,
    )
    shown.texts(
        "numbers",
        x=spot(begin + (alpha + lasts) / 2),
        y=413,
        size=12,
        bold=1,
        fill="black",
        text=np.array([str(s + 1) for s in range(last)]),
    )
    shown.lines("now", x=spot(times)[:, None], x2=spot(times)[:, None], y=396, y2=430, line=2.5)
    return shown
