"""A tree of links: FEC on its way, its modules, its share of the power."""

import numpy as np
from matplotlib.patches import Rectangle

from fabriclab import link
from fabriclab.course.engine.plot import COLOURS, SERIES, drawing
from fabriclab.units import ns, si

_CLEAR = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1}


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
