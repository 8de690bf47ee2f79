"""Drawings for fallacies and pitfalls: what a faster link saves, what a TCP test measures, how
early a counter speaks. Floor 5.
"""

import numpy as np
from matplotlib.ticker import FixedLocator

from fabriclab import link, transport
from fabriclab.course.engine.plot import COLOURS, SERIES, drawing, log_axis
from fabriclab.units import TB, Gbps, day, si

_SIZES = np.geomspace(1, 1e12, 241)
_RATES = np.geomspace(1 * Gbps, 1600 * Gbps, 200)


@drawing
def upgrade(ax, size, alpha, beta, faster):
    """Share of a transfer's time that a link `faster` times as fast saves, against the message; a
    dot at `size` bytes.

    The dashed line is what the data sheet suggests, ``1 - 1/faster``.
    """
    log_axis(ax.xaxis, "B", 1, 1 * TB, each=1000)
    ax.set(ylim=(0, 1), xlabel="message", ylabel="time saved")
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    artists = {
        "saved": ax.plot([], [], color=COLOURS["first"], label="saved"),
        "promised": ax.plot(
            [], [], "--", color=COLOURS["second"], label="promised by the link rate"
        ),
        "n*": ax.plot([], [], ":", color=COLOURS["muted"], label="n* of the old link"),
        "dot": ax.plot([], [], "o", color=COLOURS["ink"], markersize=9),
        "label": [ax.annotate("", (1, 0), (0, 0), textcoords="offset points")],
    }
    artists["legend"] = ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=3, borderaxespad=0.2
    )
    move_upgrade(artists, size, alpha, beta, faster)
    return artists


def move_upgrade(artists, size, alpha, beta, faster):
    """Set the artists of `upgrade` to another message or link."""
    artists["saved"][0].set_data(_SIZES, transport.time_saved(_SIZES, alpha, beta, faster))
    artists["promised"][0].set_data(_SIZES[[0, -1]], [1 - 1 / faster] * 2)
    star = transport.crossover(alpha, beta)
    artists["n*"][0].set_data([star] * 2, [0, 1])
    saved = transport.time_saved(size, alpha, beta, faster)
    artists["dot"][0].set_data([size], [saved])
    label = artists["label"][0]
    label.xy = size, saved
    # the curve rises to the right: above its left end and below its right end there is room
    left = size < star
    label.set(
        text=f"{saved:.1%}",
        ha="right" if left else "left",
        va="bottom" if left else "top",
        position=(-6, 6) if left else (6, -8),
    )
    if size < 100:
        label.set(ha="left", position=(2, 10))
    elif size > 1e10:
        label.set(ha="right", position=(-6, -10))


@drawing
def iperf(ax, segment, per_segment, copy, seen=()):
    """What one kernel TCP stream and an RDMA test report against the link's rate; `seen` are (name,
    link rate, bytes per second).
    """
    ax.set(
        xscale="log",
        yscale="log",
        xlim=(_RATES[0], _RATES[-1]),
        ylim=(_RATES[0], _RATES[-1]),
        xlabel="link rate",
        ylabel="the test reports",
    )
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(
            FixedLocator([1 * Gbps, 10 * Gbps, 100 * Gbps, 400 * Gbps, 1600 * Gbps])
        )
        axis.set_minor_locator(FixedLocator([]))
        axis.set_major_formatter(lambda value, _: si(value, "b/s"))
        axis.grid(True, color="#DDDDDD", linewidth=0.8)
    artists = {
        "rdma": ax.plot(
            _RATES, _RATES, color=COLOURS["first"], label="RDMA (ib_write_bw), at best"
        ),
        "tcp": ax.plot(
            _RATES,
            transport.kernel_bandwidth(_RATES, segment, per_segment, copy),
            "--",
            color=COLOURS["second"],
            label="one stream of kernel TCP (iperf)",
        ),
        "seen": [],
        "labels": [],
    }
    for name, rate, value in seen:
        artists["seen"] += ax.plot([rate], [value], "o", color=COLOURS["ink"], markersize=8)
        artists["labels"].append(
            ax.annotate(
                f"{name}: {si(value, 'b/s')}",
                (rate, value),
                (-10, 8),
                textcoords="offset points",
                ha="right",
            )
        )
    artists["legend"] = ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2
    )
    return artists


@drawing
def early(ax, fec=link.KP4, rate=400 * Gbps, seen=1e-6):
    """What a day counts against the bit error ratio before correction: symbols corrected, and
    codewords lost, at `rate`.

    The dotted line is one a day; between the two curves' crossings of it lie the ratios at which a
    counter already speaks and nothing is lost yet. A dot on each curve at `seen`.
    """
    ratios = np.geomspace(1e-12, 1e-2, 401)
    words = fec.line_rate(rate) / (fec.n * fec.symbol_bits / 8) * day
    log_axis(ax.xaxis, "", 1e-12, 1e-2, each=100)
    log_axis(ax.yaxis, "", 1e-3, 1e18, each=1e3)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(
            lambda value, _: "1" if value == 1 else f"$10^{{{round(np.log10(value))}}}$"
        )
    ax.set(xlabel="bit error ratio before correction", ylabel="a day")
    artists = {}
    for name, values, (colour, dash) in (
        ("corrected", lambda b: words * fec.n * fec.symbol_error(b), SERIES[0]),
        ("lost", lambda b: words * fec.codeword_loss(b), SERIES[1]),
    ):
        label = "symbols in error" if name == "corrected" else "codewords lost"
        artists[name] = ax.plot(
            ratios, values(ratios), color=COLOURS[colour], linestyle=dash, label=label
        )
        artists[name] += ax.plot([seen], [values(seen)], "o", color=COLOURS[colour], markersize=8)
    artists["one"] = [ax.axhline(1, color=COLOURS["muted"], linestyle=":", linewidth=1.6)]
    artists["legend"] = ax.legend(
        handles=[artists["corrected"][0], artists["lost"][0]],
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=2,
        borderaxespad=0.2,
    )
    return artists
