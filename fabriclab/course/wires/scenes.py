"""A scene of an eye that fills until it says how often a receiver errs."""

import numpy as np

from fabriclab import link
from fabriclab.course.engine.scene import Scene, scene
from fabriclab.link import PAM4

SHOWN = 90  # waves drawn one by one; the histogram counts all


def moments(symbols):
    """The numbers of symbols at which the scene has a frame: one by one, then ever faster."""
    fast = np.unique(np.round(np.geomspace(SHOWN, symbols, 70)).astype(int))
    return np.concatenate([np.arange(SHOWN), fast])


@scene
def eye(snr_db=16.0, bandwidth=0.75, symbols=20_000):
    """A PAM4 eye filled wave by wave, and the histogram at the moment of decision."""
    run = link.eye(PAM4, snr_db=snr_db, bandwidth=bandwidth, symbols=symbols, samples=16)
    exact = link.eye_error_ratio(snr_db, PAM4, bandwidth)
    seen = moments(symbols)
    middle = run.traces[:, 16]
    wrong = np.concatenate([[0], np.cumsum(run.wrong, dtype=int)])[seen]
    bits = PAM4.bits * seen
    edges = np.linspace(-1.6, 1.6, 65)
    box = np.clip(np.digitize(middle, edges) - 1, 0, 63)
    counts = np.zeros((len(seen), 2, 64), int)
    for k, n in enumerate(seen):
        for fate in (0, 1):
            counts[k, fate] = np.bincount(box[:n][(run.wrong[:n] > 0) == fate], minlength=64)
    hit = int(np.flatnonzero(run.wrong)[0]) + 1
    least, most = link.error_ratio_bounds(int(bits[-1]), int(wrong[-1]))
    tenth = int(seen[np.searchsorted(wrong, 10)])
    rough = link.error_ratio_bounds(PAM4.bits * tenth, 10)
    few = float(seen[20])
    stops = [
        (
            0.0,
            f"PAM4 at {snr_db:g} dB. Each wave is one symbol with its neighbours; the receiver"
            " decides"
            " in the middle, against three thresholds (dashed).",
        ),
        (
            few,
            "Every wave leaves one mark in the histogram, at the height it had at the decision."
            " Four"
            " heaps grow, and between them three eyes.",
        ),
        (
            float(SHOWN),
            "Enough waves drawn; only the histogram goes on, ever faster. Its scale is"
            " logarithmic: what matters is the rare.",
        ),
        (float(hit), f"The first wrong decision: symbol {hit:,} landed beyond a threshold (red)."),
        (
            float(tenth),
            f"Ten wrong bits in {PAM4.bits * tenth:,}. With 95 % confidence the"
            f" ratio lies between {rough[0]:.1e} and {rough[1]:.1e}.",
        ),
        (
            float(seen[-1]),
            f"{wrong[-1]} of {bits[-1]:,} bits wrong: {wrong[-1] / bits[-1]:.2e}, with 95 %"
            " confidence between"
            f" {least:.2e} and {most:.2e}. The exact ratio is {exact:.2e}: the tails say it.",
        ),
    ]
    shown = Scene(
        700,
        400,
        seen,
        "symbols",
        stops=stops,
        seconds=26,
        digits=0,
        pace=np.concatenate([np.linspace(0, 12, SHOWN), np.linspace(12.1, 26, len(seen) - SHOWN)]),
        alt="The eye of a PAM4 signal fills wave by wave, and beside it a histogram of the"
        " heights at"
        " the moment of decision, in which wrong decisions are red.",
    )
    left, wide, middle_y, scale = 14, 380, 185, 104
    spot = lambda t: left + wide * (np.asarray(t) + 1) / 2
    level = lambda v: middle_y - scale * np.asarray(v)
    shown.rects("frame", x=left, y=level(1.6), w=wide, h=3.2 * scale, stroke="line", line=1)
    there = seen[:, None] > np.arange(SHOWN)
    newest = seen[:, None] == np.arange(SHOWN) + 1
    for i in range(SHOWN):
        shown.path(
            f"wave {i}",
            x=spot(run.time[::2]),
            y=level(run.traces[i, ::2]),
            line=1.6,
            stroke=np.where(newest[:, [i]], "ink", "first"),
            alpha=np.where(newest[:, [i]], 1.0, np.where(there[:, [i]], 0.3, 0.0)),
            hold=("alpha",),
        )
    shown.lines(
        "decision", x=spot(0), x2=spot(0), y=level(1.6), y2=level(-1.6), stroke="ink", line=1.5
    )
    shown.lines(
        "thresholds",
        x=left,
        x2=690,
        y=level(run.thresholds),
        y2=level(run.thresholds),
        stroke="muted",
        line=1.5,
        dash=5,
        gap=4,
    )
    tall = 3.2 * scale / 64
    length = lambda n: 250 * np.log10(1 + n) / np.log10(1 + counts[-1].max())
    y = level((edges[1:] + edges[:-1]) / 2) - tall / 2
    shown.rects("right", x=424, y=y, h=tall - 0.6, w=length(counts[:, 0]), fill="first")
    shown.rects("wrong", x=424, y=y, h=tall - 0.6, w=length(counts[:, 1]), fill="bad")
    shown.texts(
        "heads",
        x=[left, 424],
        y=[378, 378],
        size=13,
        bold=1,
        align="left",
        text=np.array(
            [
                [f"{n:,} symbols", f"{w:,} of {b:,} bits wrong" + (f": {w / b:.1e}" if w else "")]
                for n, w, b in zip(seen, wrong, bits)
            ]
        ),
    )
    ticks = np.array([n for n in (1, 10, 100, 1000) if n < counts[-1].max()])
    shown.texts(
        "ticks",
        x=424 + length(ticks),
        y=10,
        size=12,
        fill="muted",
        text=np.array([f"{n:,}" for n in ticks]),
    )
    shown.texts("decision word", x=spot(0), y=10, text="decision", size=12, fill="muted")
    return shown
