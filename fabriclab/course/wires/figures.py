"""Drawings for level 1: eyes, error ratios before and after correction, budgets, reach, the latency
of FEC, bills. Floor 5.

As in `fabriclab.course.transport.figures`, what an explorer brings to life is drawn by the same `move_...`
that moves it.
"""

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.patches import Rectangle

from fabriclab import link
from fabriclab.course.engine.plot import COLOURS, SERIES, drawing, log_axis
from fabriclab.units import Gbps, ns, si

TRACES = 96  # drawn of an eye: enough to show every transition, few enough to follow a slider
_CLEAR = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1}


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


@drawing
def budget(ax, spent, budget):
    """Link budgets of `budget` dB as stacked bars: cable, connectors, then the margin left, or in
    red what is missing.

    `spent` maps a link's name to (dB in its cable, dB in its connectors). The axis ends at twice
    the budget; bars run off it.
    """
    rows = len(spent)
    ax.set(xlim=(0, 2 * budget), ylim=(0, rows), yticks=[], xlabel="dB")
    ax.spines["left"].set_visible(False)
    looks = {
        "cable": {"facecolor": COLOURS["wire"]},
        "connectors": {"facecolor": COLOURS["fourth"], "hatch": ".."},
        "margin": {"facecolor": COLOURS["good"], "hatch": "//"},
        "short": {"facecolor": COLOURS["bad"], "hatch": "xx"},
    }
    artists = {
        name: [
            ax.add_patch(
                Rectangle((0, row + 0.14), 0, 0.4, edgecolor="white", linewidth=0.5, **look)
            )
            for row in reversed(range(rows))
        ]
        for name, look in looks.items()
    }
    artists["names"] = [ax.text(0, row + 0.62, "", va="bottom") for row in reversed(range(rows))]
    artists["budget"] = [ax.plot([], [], color=COLOURS["ink"], linewidth=3)[0] for _ in range(rows)]
    artists["legend"] = ax.legend(
        [*(artists[name][0] for name in looks), artists["budget"][0]],
        [*looks, "budget"],
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=5,
        columnspacing=1.0,
        handlelength=1.4,
    )
    move_budget(artists, spent, budget)
    return artists


def move_budget(artists, spent, budget):
    """Set the artists of `budget` to other decibels."""
    for row, (name, (cable, connectors)) in enumerate(spent.items()):
        margin = budget - cable - connectors
        # what is spent beyond the budget is not there to be drawn: it is what is missing
        ends = np.minimum([0.0, cable, cable + connectors], budget)
        artists["cable"][row].set(x=0, width=ends[1])
        artists["connectors"][row].set(x=ends[1], width=ends[2] - ends[1])
        artists["margin"][row].set(x=ends[2], width=max(0.0, margin))
        artists["short"][row].set(x=budget, width=max(0.0, -margin))
        verdict = f"margin {margin:.1f} dB" if margin >= 0 else f"short by {-margin:.1f} dB"
        artists["names"][row].set_text(f"{name}: {verdict}")
        middle = len(spent) - 1 - row + 0.34
        artists["budget"][row].set_data([budget, budget], [middle - 0.23, middle + 0.23])


@drawing
def media(ax, media, metres, chosen):
    """Which of `media` (`catalog.Medium`s) reach `metres`, with dollars and watts of a link.

    Bars on a log axis end at each reach; the dashed line is where the link ends; the bar of the
    medium named `chosen` is framed.
    """
    rows = list(reversed(range(len(media))))
    log_axis(ax.xaxis, "m", 0.5, 300)
    ax.set(ylim=(0, len(media)), xticks=[0.5, 1, 3, 10, 30, 100, 300], xlabel="reach")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g} m")
    ax.set_yticks(
        [row + 0.45 for row in rows],
        [
            f"{medium.name}\n{si(medium.price, '$')}, {si(2 * medium.watts_per_end, 'W')} a link"
            for medium in media
        ],
    )
    ax.tick_params(axis="y", length=0)
    artists = {
        "bars": [ax.add_patch(Rectangle((0.1, row + 0.1), 0.1, 0.36)) for row in rows],
        "metres": ax.plot([], [], "--", color=COLOURS["ink"], linewidth=2.2, zorder=1.5),
        "verdicts": [
            ax.text(0.53, row + 0.53, "", va="bottom", bbox=_CLEAR, zorder=3) for row in rows
        ],
    }
    move_media(artists, media, metres, chosen)
    return artists


def move_media(artists, media, metres, chosen):
    """Set the artists of `media` to other reaches of the same media, another length, another
    choice.
    """
    artists["metres"][0].set_data([metres, metres], artists["metres"][0].axes.get_ylim())
    for medium, bar, verdict in zip(media, artists["bars"], artists["verdicts"]):
        reaches, framed = metres <= medium.reach, medium.name == chosen
        bar.set_width(max(0.0, medium.reach - bar.get_x()))
        bar.set(
            facecolor=COLOURS["good" if reaches else "bad"],
            hatch="" if reaches else "xx",
            edgecolor=COLOURS["ink"] if framed else "white",
            linewidth=3 if framed else 0.5,
        )
        verdict.set_text(f"{'reaches' if reaches else 'too short,'} {medium.reach:.3g} m")


@drawing
def reach(ax, media, lane_rates, copper, claims=()):
    """How far each medium reaches, in metres, for lanes of `lane_rates` bytes per second.

    `media` are `catalog.Medium`s, drawn as lines at their reach; `copper` is metres of passive
    copper at each of `lane_rates`, as a model has it; `claims` are `catalog.CopperReach`es, what
    others say, drawn as bars from least to most.
    """
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    rates = np.asarray(lane_rates)
    ax.set(xlim=(min(rates) / 1.5, max(rates) * 2.6), xlabel="lane rate", ylabel="reach")
    shown = sorted({*rates, *(claim.lane_rate for claim in claims)})
    shown = [rate for rate in shown if any(np.isclose(rate / Gbps, (25, 50, 100, 200, 400)))]
    ax.set_xticks(shown, [si(rate, "b/s") for rate in shown])
    ax.minorticks_off()
    every = [*np.atleast_1d(copper), *(m.reach for m in media), *(c.least for c in claims)]
    ax.set_ylim(min(every) / 1.6, max(every) * 1.8)
    ax.set_yticks(
        [
            tick
            for tick in (0.5, 1, 2, 3, 5, 10, 30, 100, 300)
            if ax.get_ylim()[0] <= tick <= ax.get_ylim()[1]
        ]
    )
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g} m")
    ax.grid(True, axis="y", color="#DDDDDD", linewidth=0.8)
    artists = {"media": [], "claims": [], "labels": []}
    for medium, (colour, dash) in zip(media, SERIES[1:]):
        artists["media"] += ax.plot(
            ax.get_xlim(), [medium.reach] * 2, color=COLOURS[colour], linestyle=dash
        )
        artists["labels"].append(
            ax.annotate(
                f"{medium.name}: {medium.reach:g} m",
                (ax.get_xlim()[1], medium.reach),
                (-2, 4),
                textcoords="offset points",
                ha="right",
            )
        )
    artists["copper"] = ax.plot(
        rates,
        copper,
        color=COLOURS["first"],
        marker="o",
        markersize=6,
        label="copper, from the budget",
    )
    # claims for the same rate stand side by side
    for rate in dict.fromkeys(claim.lane_rate for claim in claims):
        same = [claim for claim in claims if claim.lane_rate == rate]
        for place, claim in enumerate(same):
            x = rate * 2 ** (0.12 * (place - (len(same) - 1) / 2))
            artists["claims"] += ax.plot(
                [x, x],
                [claim.least, claim.most],
                color=COLOURS["ink"],
                marker="s",
                markersize=5,
                linewidth=2,
                label="copper, as published" if not artists["claims"] else None,
            )
    artists["legend"] = ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    return artists


@drawing
def fec_path(ax, tiers=(2, 3), per_switch=(100 * ns, 200 * ns)):
    """The longest path through a tree of each of `tiers`, and what FEC adds one way at `per_switch`
    seconds, least and most.

    Above, hosts and the switches crossed; below, on a common scale, the latency of FEC from least
    to most.
    """
    counts = [int(link.switches_on_path(tier)) for tier in tiers]
    times = [tuple(link.fec_latency(count, each) for each in per_switch) for count in counts]
    highest = max(high for _, high in times)
    ax.set(
        xlim=(0, 1.02 * highest),
        ylim=(-0.1, len(tiers)),
        yticks=[],
        xlabel="FEC on the way, one direction",
    )
    ax.xaxis.set_major_formatter(lambda value, _: si(value, "s"))
    ax.spines["left"].set_visible(False)
    artists = {"boxes": [], "ranges": [], "labels": [], "links": []}
    widest = max(counts) + 2
    for place, (tier, count, (low, high), (colour, _)) in enumerate(
        zip(tiers, counts, times, SERIES)
    ):
        row = len(tiers) - 1 - place
        cables = int(link.links_on_path(tier))
        artists["labels"].append(
            ax.text(
                0, row + 0.8, f"{tier} tiers: {count} switches, {cables} links", fontweight="bold"
            )
        )
        width = 1 / (1.35 * widest - 0.35)
        artists["links"] += ax.plot(
            [0, (1.35 * count + 1.35) * width],
            [row + 0.58] * 2,
            color=COLOURS["ink"],
            linewidth=2,
            zorder=1,
            transform=ax.get_yaxis_transform(),
        )
        for step in range(count + 2):
            host = step in (0, count + 1)
            box = Rectangle(
                (1.35 * step * width, row + 0.45),
                width,
                0.26,
                transform=ax.get_yaxis_transform(),
                facecolor=COLOURS["pale"] if host else "white",
                edgecolor=COLOURS["muted" if host else colour],
                linewidth=1.8,
                clip_on=False,
                zorder=2,
            )
            artists["boxes"].append(ax.add_patch(box))
            ax.text(
                1.35 * (step + 0.37) * width,
                row + 0.58,
                "host" if host else "switch",
                ha="center",
                va="center",
                fontsize=11,
                transform=ax.get_yaxis_transform(),
            )
        artists["ranges"] += ax.barh(
            [row + 0.18], [high - low], left=[low], height=0.2, color=COLOURS[colour]
        )
        right = high < 0.7 * highest
        artists["labels"].append(
            ax.text(
                high + 0.01 * highest if right else low - 0.01 * highest,
                row + 0.18,
                f"{si(low, 's')} to {si(high, 's')}",
                ha="left" if right else "right",
                va="center",
            )
        )
    return artists


@drawing
def bill(ax, bills):
    """Watts of named `link.Bill`s as bars, each with its modules and dollars in words: `bills` maps
    a name to its Bill.
    """
    watts = [bill.power for bill in bills.values()]
    ax.set(xlim=(0, 1.02 * max(watts)), ylim=(len(bills), 0), yticks=[], xlabel="power")
    ax.xaxis.set_major_formatter(lambda value, _: si(value, "W"))
    ax.spines["left"].set_visible(False)
    words = [
        f"{name}: {bill.modules:,.0f} modules, {si(bill.power, 'W')}, {si(bill.cost, '$')}"
        for name, bill in bills.items()
    ]
    return {
        "bars": list(
            ax.barh(np.arange(len(bills)) + 0.68, watts, height=0.36, color=COLOURS["first"])
        ),
        "labels": [ax.text(0, row + 0.44, text, va="bottom") for row, text in enumerate(words)],
    }


@drawing
def shares(ax, cases):
    """A network's share of power over three bases, side by side: `cases` maps a name to its
    `link.PowerShares`.
    """
    bases = {
        "the accelerators": "of_accelerators",
        "accelerators and network": "of_accelerators_and_network",
        "whole nodes": "of_nodes",
    }
    each = 0.8 / len(cases)
    artists = {"bars": [], "labels": []}
    highest = max(getattr(share, field) for share in cases.values() for field in bases.values())
    ax.set(
        ylim=(len(bases) - 0.5, -0.5),
        xlim=(0, 1.15 * highest),
        xlabel="network power, as a share of the power of …",
    )
    ax.set_yticks(range(len(bases)), bases)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    for place, ((name, share), (colour, _), hatch) in enumerate(
        zip(cases.items(), SERIES, ("", "//", "..", "\\\\", "xx"))
    ):
        values = [getattr(share, field) for field in bases.values()]
        rows = np.arange(len(bases)) + each * (place - (len(cases) - 1) / 2)
        artists["bars"].append(
            ax.barh(
                rows,
                values,
                height=0.92 * each,
                color=COLOURS[colour],
                hatch=hatch,
                edgecolor="white",
                linewidth=0.5,
                label=name,
            )
        )
        artists["labels"] += [
            ax.annotate(
                f"{value:.1%}", (value, row), (4, 0), textcoords="offset points", va="center"
            )
            for value, row in zip(values, rows)
        ]
    artists["legend"] = ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    return artists
