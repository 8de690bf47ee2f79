"""Eyes, error ratios and what FEC makes of them."""

import numpy as np
from matplotlib.collections import LineCollection

from fabriclab import link
from fabriclab.course.engine.plot import COLOURS, SERIES, drawing, log_axis

_CLEAR = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1}

TRACES = 96  # drawn of an eye: enough to show every transition, few enough to follow a slider


def _chance(axis, low, high, each=10):
    """A logarithmic axis of probabilities, from 10^low to 10^high."""
    log_axis(axis, "", 10.0**low, 10.0**high, each)
    axis.set_major_formatter(
        lambda value, _: "1" if value == 1 else f"$10^{{{round(np.log10(value))}}}$"
    )


@drawing
def eye(ax, eye, code):
    """Figure 5: the eye of a `link.Eye` sent in `code`: its wave, the receiver's thresholds, the
    opening of each eye as a bar.

    Of many symbols the first `TRACES` are drawn, and the few that bound an opening. The openings
    are those of all.
    """
    ax.set(xlim=(-1, 1.42), ylim=(-1.6, 1.6), xticks=[-1, -0.5, 0, 0.5, 1], yticks=[-1, 0, 1])
    ax.set(xlabel="time in symbols; decision at 0", ylabel="amplitude")
    ax.spines["bottom"].set_bounds(-1, 1)
    artists = {
        "traces": [
            ax.add_collection(
                LineCollection(
                    [], colors=COLOURS["first"], alpha=0.35, linewidths=0.8, antialiaseds=False
                )
            )
        ],
        # three of each: what PAM4 needs, and NRZ one of
        "thresholds": [
            ax.plot([], [], "--", color=COLOURS["second"], linewidth=1.4)[0] for _ in range(3)
        ],
        "openings": [
            ax.plot([], [], color=COLOURS["ink"], linewidth=6, solid_capstyle="butt")[0]
            for _ in range(3)
        ],
        "heights": [ax.text(1.03, 0, "", va="center", fontsize=11) for _ in range(3)],
        "levels": [
            ax.text(1.03, 0, "", va="center", fontsize=11, fontweight="bold") for _ in range(4)
        ],
    }
    artists["heading"] = ax.text(1.03, 1.45, "opening", va="center", fontsize=11)
    move_eye(artists, eye, code)
    return artists


def move_eye(artists, eye, code):
    """Set the artists of `eye` to another `link.Eye`."""
    middle = eye.traces[:, len(eye.time) // 2]
    samples = np.sort(middle)
    bounds = [
        _bounds(samples, at, opening) if opening > 0 else []
        for at, opening in zip(eye.thresholds, eye.openings)
    ]
    chosen = np.isin(middle, np.concatenate(bounds))
    chosen[:TRACES] = True
    rows = eye.traces[chosen]
    artists["traces"][0].set_segments(np.dstack([np.broadcast_to(eye.time, rows.shape), rows]))
    for place in range(3):
        there = place < len(bounds)
        at, bar = (eye.thresholds[place], bounds[place]) if there else (0.0, [])
        artists["thresholds"][place].set_data([-1, 1] if there else [], [at, at] if there else [])
        artists["openings"][place].set_data([0.0] * len(bar), bar)
        artists["heights"][place].set(
            text="" if not there else f"{eye.openings[place]:.2f}" if len(bar) else "closed", y=at
        )
    for place, label in enumerate(artists["levels"]):
        there = place < len(code.gray)
        label.set(
            text=f"{code.gray[place]:0{code.bits}b}" if there else "",
            y=code.levels[place] if there else 0,
        )


def _bounds(samples, threshold, opening):
    """The two neighbours among sorted `samples` that lie `opening` apart, those next to the
    threshold where there are several.
    """
    gaps = np.diff(samples)
    fits = np.flatnonzero(np.isclose(gaps, opening, rtol=1e-9, atol=1e-12))
    first = fits[np.argmin(np.abs(samples[fits] + gaps[fits] / 2 - threshold))]
    return samples[first : first + 2]


@drawing
def waterfall(ax, codes, fecs, codeword_loss):
    """Bit error ratio against signal-to-noise for line codes `codes`, and the most that each of
    `fecs` can take.

    `fecs` are `link.ReedSolomon` codes; each line lies where the code loses a share `codeword_loss`
    of its codewords, and a dot on each curve marks the decibels needed.
    """
    snr = np.linspace(4, 30, 261)
    _chance(ax.yaxis, -15, 0, each=1000)
    ax.set(xlim=(4, 30), xlabel="signal to noise, dB", ylabel="bit error ratio before FEC")
    ax.xaxis.grid(True, color="#DDDDDD", linewidth=0.8)
    artists = {"ratios": [], "thresholds": [], "needed": [], "labels": []}
    for code, (colour, dash) in zip(codes, SERIES):
        ratio = link.bit_error_ratio(snr, code)
        artists["ratios"] += ax.plot(
            snr, ratio, color=COLOURS[colour], linestyle=dash, label=code.name
        )
    for place, fec in enumerate(fecs):
        ber = fec.ber_for(codeword_loss)
        artists["thresholds"] += ax.plot(
            [4, 30],
            [ber, ber],
            color=COLOURS["ink"],
            linewidth=1.4,
            linestyle=(0, (4, 2)) if place else "-",
        )
        name = fec.name.rpartition(" ")[2] or fec.name
        artists["labels"].append(
            ax.annotate(
                f"{name} copes to {ber:.1e}",
                (30, ber),
                (0, 3 if place == 0 else -3),
                textcoords="offset points",
                ha="right",
                va="bottom" if place == 0 else "top",
                fontsize=11,
            )
        )
    for code, (colour, _) in zip(codes, SERIES):
        for place, fec in enumerate(fecs):
            ber = fec.ber_for(codeword_loss)
            need = link.snr_for(ber, code)
            artists["needed"] += ax.plot([need], [ber], "o", markersize=7, color=COLOURS[colour])
            if place == 0:
                artists["labels"].append(
                    ax.annotate(
                        f"{need:.1f} dB",
                        (need, ber),
                        (7, 4),
                        textcoords="offset points",
                        bbox=_CLEAR,
                    )
                )
    artists["legend"] = ax.legend(loc="lower left")
    return artists


@drawing
def codeword_loss(ax, codes, ber=2.4e-4):
    """Codewords lost against the bit error ratio before correction, for `link.ReedSolomon` `codes`,
    down to 1e-40.

    A dashed line marks `ber`, by default the limit of 100 Gb/s lanes under KP4, and a dot on each
    curve its loss there.
    """
    before = np.geomspace(1e-6, 1e-1, 251)
    _chance(ax.xaxis, -6, -1)
    _chance(ax.yaxis, -40, 0, each=1e5)
    ax.set(xlabel="bit error ratio before FEC", ylabel="share of codewords lost")
    artists = {"losses": [], "marked": [], "labels": []}
    artists["ber"] = ax.plot(
        [ber, ber], [1e-40, 1], color=COLOURS["muted"], linestyle="--", linewidth=1.4
    )
    for code, (colour, dash) in zip(codes, SERIES):
        artists["losses"] += ax.plot(
            before,
            np.maximum(code.codeword_loss(before), 1e-300),
            color=COLOURS[colour],
            linestyle=dash,
            label=code.name,
        )
        loss = code.codeword_loss(ber)
        artists["marked"] += ax.plot([ber], [loss], "o", markersize=8, color=COLOURS[colour])
        # the lowest curve is the last, and free on its right; the others are free above
        low = loss == min(each.codeword_loss(ber) for each in codes)
        artists["labels"].append(
            ax.annotate(
                f"{loss:.1e}",
                (ber, loss),
                (9, -5) if low else (-9, 5),
                textcoords="offset points",
                ha="left" if low else "right",
                va="top" if low else "bottom",
            )
        )
    artists["labels"].append(
        ax.annotate(
            f"{ber:.1e}",
            (ber, 1e-40),
            (-5, 5),
            textcoords="offset points",
            ha="right",
            color=COLOURS["muted"],
        )
    )
    artists["legend"] = ax.legend(loc="lower right")
    return artists
