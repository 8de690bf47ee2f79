"""Drawings for the field guide: the ladder of tiers, generations, hours without a failure, what
NCCL's settings do. Floor 5.
"""

import numpy as np
from matplotlib.patches import Rectangle

from fabriclab import catalog, nccl, reliability
from fabriclab.course.engine.plot import COLOURS, SERIES, drawing, log_axis
from fabriclab.units import GB, KB, TB, Gbps, day, hour, ms, ns, si

SMALLEST, LARGEST = 1 * KB, 100 * GB
_CLEAR = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1}
_NEAR = {"textcoords": "offset points"}
_UNITS = {"bandwidth": ("B/s", 20 * GB, 30 * TB), "latency": ("s", 100 * ns, 1000 * ms)}


def _range(low, high, words):
    return words(low) if low == high else f"{words(low)} to {words(high)}"


def _times(factor):
    return f"{factor:,.0f}" if factor >= 10 else f"{factor:.2g}"


@drawing
def ladder(ax, tiers, what, rule=(5, 10)):
    """`catalog.Tier`s from the top down, each a bar from least to most of its "bandwidth" or
    "latency" on a log axis.

    Between two rungs stands the factor from one to the next, in red where it is not within `rule`.
    A tier with no figure has no bar.
    """
    unit, low, high = _UNITS[what]
    log_axis(ax.xaxis, unit, low, high)
    rows = [len(tiers) - 1 - row for row in range(len(tiers))]
    ax.set(
        ylim=(-0.5, len(tiers) - 0.5), xlabel=f"{what}, as printed" if what == "bandwidth" else what
    )
    ax.set_yticks(rows, [tier.name for tier in tiers])
    ax.tick_params(axis="y", length=0)
    artists = {"bars": [], "labels": [], "factors": []}
    for row, tier in zip(rows, tiers):
        ends = getattr(tier, what)
        if ends is None:
            artists["labels"].append(
                ax.text(low * 1.1, row, "not given", va="center", color=COLOURS["muted"])
            )
            continue
        # a bar of one value would have no width
        left, right = ends[0] / 1.04, ends[1] * 1.04
        artists["bars"].append(
            ax.add_patch(
                Rectangle((left, row - 0.17), right - left, 0.34, facecolor=COLOURS["first"])
            )
        )
        inward = right > high / 30
        both = ", both ways" if what == "bandwidth" and tier.directions == 2 else ""
        artists["labels"].append(
            ax.annotate(
                _range(*ends, lambda value: si(value, unit, 3)) + both,
                (left if inward else right, row),
                (-6 if inward else 6, 0),
                ha="right" if inward else "left",
                va="center",
                **_NEAR,
            )
        )
    for row, above, below in zip(rows, tiers, tiers[1:]):
        factors = catalog.step_between(above, below, what)
        if factors:
            kept = rule[0] <= factors[0] and factors[1] <= rule[1]
            words = "the same" if factors == (1.0, 1.0) else f"{_range(*factors, _times)} times"
            artists["factors"].append(
                ax.text(
                    0.985,
                    row - 0.5,
                    words,
                    transform=ax.get_yaxis_transform(),
                    ha="right",
                    va="center",
                    color=COLOURS["good" if kept else "bad"],
                )
            )
    return artists


@drawing
def generations(ax, generations, adapters=()):
    """Rate one way of `catalog.InfiniBandGeneration`s over the years, on four lanes and on one.

    Below, in years alone, each of `adapters`: a diamond at its announcement, joined to a square at
    the year that the text gives.
    """
    log_axis(ax.yaxis, "b/s", 0.25 * Gbps, 2000 * Gbps)
    ax.set_yticks([rate * Gbps for rate in (1, 10, 100, 1000)])
    years = [one.rate.year for one in generations]
    ax.set(xlim=(min(years) - 2, max(years) + 1.5), xlabel="year", ylabel="rate, per direction")
    artists = {
        "adapters": [],
        "labels": [
            ax.annotate(g.name, (g.rate.year, g.rate.per_direction), (-6, 7), ha="right", **_NEAR)
            for g in generations
        ],
    }
    for name, rates, (colour, dash) in (
        ("four lanes", [g.rate.per_direction for g in generations], SERIES[0]),
        ("one lane", [g.rate.per_direction / g.lanes for g in generations], SERIES[1]),
    ):
        artists[name] = ax.plot(
            years,
            rates,
            color=COLOURS[colour],
            linestyle=dash,
            marker="o",
            markersize=6,
            label=f"InfiniBand, {name}",
        )
    green, strip = COLOURS["third"], ax.get_xaxis_transform()
    for row, adapter in enumerate(adapters):
        height, first = 0.28 - 0.08 * row, not row
        artists["adapters"] += ax.plot(
            [adapter.announced, adapter.year_in_text],
            [height] * 2,
            color=green,
            linewidth=1.4,
            transform=strip,
        )
        artists["adapters"] += ax.plot(
            [adapter.announced],
            [height],
            "D",
            color=green,
            markersize=6,
            transform=strip,
            label="adapter announced" if first else None,
        )
        artists["adapters"] += ax.plot(
            [adapter.year_in_text],
            [height],
            "s",
            markerfacecolor="none",
            markeredgecolor=green,
            markeredgewidth=1.8,
            markersize=10,
            transform=strip,
            label="its year in the field guide" if first else None,
        )
        words = f"{adapter.name}, {si(adapter.port.per_direction, 'b/s')}"
        artists["labels"].append(
            ax.annotate(
                words,
                (adapter.announced, height),
                (-10, 0),
                xycoords=strip,
                ha="right",
                va="center",
                fontsize=11,
                **_NEAR,
            )
        )
    artists["legend"] = ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2
    )
    return artists


@drawing
def failure_free(ax, a_day, gpus=(10_000, 100_000)):
    """Chance that a fleet gets through an hour without a failure against its GPUs, ``exp(-lambda n
    t)``.

    `a_day` maps two names at most to failures a day of 100,000 GPUs, the larger first; dots and
    chances stand at each of `gpus`.
    """
    log_axis(ax.xaxis, "", 100, 2e6)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    ax.set(
        ylim=(-0.09, 1.04),
        yticks=[0, 0.25, 0.5, 0.75, 1],
        xlabel="GPUs",
        ylabel="P(an hour without a failure)",
    )
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    fleets = np.geomspace(100, 2e6, 241).round()
    artists = {"chances": [], "marked": [], "labels": []}
    # the lower curve's words stand below it, the upper one's above
    for (name, count), (colour, dash), (side, ha, va) in zip(
        a_day.items(), SERIES, ((-1, "right", "top"), (1, "left", "bottom"))
    ):
        rate = count / 1e5 / day
        artists["chances"] += ax.plot(
            fleets,
            reliability.failure_free(rate, fleets, hour),
            color=COLOURS[colour],
            linestyle=dash,
            label=f"{name}: {count:.3g} a day of 100,000",
        )
        for n in gpus:
            chance = reliability.failure_free(rate, n, hour)
            artists["marked"] += ax.plot([n], [chance], "o", color=COLOURS[colour], markersize=7)
            artists["labels"].append(
                ax.annotate(
                    f"{chance:.1%}",
                    (n, chance),
                    (8 * side, 5 * side),
                    ha=ha,
                    va=va,
                    color=COLOURS[colour],
                    bbox=_CLEAR,
                    **_NEAR,
                )
            )
    artists["legend"] = ax.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2)
    return artists


@drawing
def settings(ax, cases, nodes):
    """AllReduce time against buffer size on `nodes` nodes, one line for each of `cases`, a dict of
    names and `nccl.Settings`.
    """
    log_axis(ax.xaxis, "B", SMALLEST, LARGEST, each=1000)
    log_axis(ax.yaxis, "s", 1e-5, 1e2, each=10)
    ax.set(xlabel="buffer", ylabel="AllReduce")
    sizes = np.geomspace(SMALLEST, LARGEST, 161)
    artists = {
        "times": [
            ax.plot(
                sizes,
                nccl.allreduce_time(sizes, nodes, case),
                color=COLOURS[colour],
                linestyle=dash,
                label=name,
            )[0]
            for (name, case), (colour, dash) in zip(cases.items(), SERIES)
        ]
    }
    artists["legend"] = ax.legend(loc="upper left")
    return artists


@drawing
def busbw(ax, size, nodes, chosen, plain):
    """Bus bandwidth against buffer size under the `chosen` settings and under `plain` ones; dots
    and words at `size`.
    """
    log_axis(ax.xaxis, "B", SMALLEST, LARGEST, each=1000)
    log_axis(ax.yaxis, "B/s", 10 * KB, 3 * TB, each=100)
    ax.set(xlabel="buffer", ylabel="busbw")
    artists = {}
    for name, label, (colour, dash) in (
        ("plain", "nothing set", SERIES[0]),
        ("chosen", "as set", SERIES[1]),
    ):
        artists[name] = ax.plot([], [], color=COLOURS[colour], linestyle=dash, label=label)
        artists[f"{name} dot"] = ax.plot([], [], "o", color=COLOURS[colour], markersize=8)
    artists["labels"] = [
        ax.annotate(
            "",
            (1, 1),
            (-7, 6),
            ha="right",
            va="bottom",
            color=COLOURS["first"],
            bbox=_CLEAR,
            **_NEAR,
        ),
        ax.annotate("", (1, 1), (7, -8), va="top", color=COLOURS["second"], bbox=_CLEAR, **_NEAR),
    ]
    artists["legend"] = ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2
    )
    move_busbw(artists, size, nodes, chosen, plain)
    return artists


def move_busbw(artists, size, nodes, chosen, plain):
    """Set the artists of `busbw` to other settings."""
    sizes = np.geomspace(SMALLEST, LARGEST, 161)
    for name, now, label in zip(("plain", "chosen"), (plain, chosen), artists["labels"]):
        here = nccl.busbw(size, nodes, now)
        artists[name][0].set_data(sizes, nccl.busbw(sizes, nodes, now))
        artists[f"{name} dot"][0].set_data([size], [here])
        label.xy = size, here
        label.set_text(si(here, "B/s", 3))
    # near an end of the axis there is room on one side only
    first, second = artists["labels"]
    first.set(
        ha="left" if size < 100 * KB else "right", position=(2, 18) if size < 100 * KB else (-7, 7)
    )
    second.set(ha="right" if size > 1 * GB else "left", position=(-7 if size > 1 * GB else 7, -8))
