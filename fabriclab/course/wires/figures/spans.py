"""Link budgets, and how far each medium reaches."""

import numpy as np
from matplotlib.patches import Rectangle

from fabriclab.course.engine.plot import COLOURS, SERIES, drawing, log_axis
from fabriclab.units import Gbps, si

_CLEAR = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1}


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
        beyond = ", off the scale" if -margin > budget else ""
        artists["names"][row].set_text(f"{name}: {verdict}{beyond}")
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
    ax.set(ylim=(0, len(media)), xticks=[0.5, 1, 3, 10, 30, 100, 300])
    ax.set_xlabel("reach (dashed: the length asked for)")
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
