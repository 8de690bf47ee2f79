"""Drawings beyond the levels: a switch's optics two ways, tiers against hosts, energy against
reach, a pool's bill.
"""

import numpy as np
from matplotlib.patches import Rectangle

from fabriclab import catalog, cluster, link
from fabriclab.course.engine.plot import COLOURS, SERIES, drawing, log_axis
from fabriclab.units import Gbps, ns, pJ, si

RADICES = (32, 64, 128, 256, 512)
_MOST = 1_000_000  # hosts
_CLEAR = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1}


def _watts(value):
    return si(value, "W", 3)


@drawing
def dividend(ax, rows):
    """Watts of one switch's optics, plugged in and in the package: `rows` of (label,
    `link.Dividend`), from top to bottom.
    """
    places = np.arange(len(rows))[::-1]
    most = max(d.pluggable for _, d in rows)
    ax.set(
        xlim=(0, 1.22 * most),
        ylim=(-0.6, len(rows) - 0.4),
        yticks=places,
        yticklabels=[label for label, _ in rows],
        xlabel="watts of optics a switch",
    )
    ax.tick_params(axis="y", length=0)
    ax.xaxis.set_major_formatter(lambda value, _: _watts(value))
    artists = {"labels": []}
    for name, label, shift, colour in (
        ("pluggable", "pluggable modules", 0.2, "second"),
        ("copackaged", "co-packaged engines", -0.2, "first"),
    ):
        values = [getattr(d, name) for _, d in rows]
        artists[name] = list(
            ax.barh(places + shift, values, height=0.36, color=COLOURS[colour], label=label)
        )
        artists["labels"] += [
            ax.text(value + 0.012 * most, place + shift, _watts(value), va="center")
            for place, value in zip(places, values)
        ]
    artists["legend"] = ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2
    )
    return artists


@drawing
def tiers(ax, hosts, radix):
    """Ends of fibre a host against the number of hosts, for switches of several `RADICES` ports,
    that of `radix` bold, with a dot at `hosts`.

    A staircase: two ends a host for every tier beyond the first, hosts themselves on copper.
    """
    log_axis(ax.xaxis, "", 100, _MOST)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    ax.set(
        xlabel="hosts (ports of the cluster)",
        ylabel="transceivers a host",
        ylim=(-0.6, 13.4),
        yticks=[0, 2, 4, 6, 8, 10, 12],
    )
    across = np.unique(np.rint(np.geomspace(100, _MOST, 1200)))
    artists = {
        # grey, so that where two of them run together nothing is hidden; the chosen one is bold
        "steps": [
            ax.plot(across, 2 * (link.tree_tiers(across, k) - 1), color="#BBBBBB", linewidth=1.4)[0]
            for k in RADICES
        ],
        "chosen": ax.plot([], [], color=COLOURS["first"], linewidth=3.2),
        "names": [],
        "dot": ax.plot([], [], "o", color=COLOURS["ink"], markersize=9),
        "label": [
            ax.annotate("", (1, 0), (0, 12), textcoords="offset points", ha="center", bbox=_CLEAR)
        ],
    }
    for k in RADICES:
        # beside the rise to its third tier, or the last there is
        rise = k**2 / 2 if k**2 / 2 < _MOST else k
        artists["names"].append(
            ax.annotate(
                f"{k} ports",
                (rise, 2 * float(link.tree_tiers(rise, k)) - 1.3),
                (-4, 0),
                textcoords="offset points",
                ha="right",
                color=COLOURS["muted"],
                fontsize=11,
            )
        )
    move_tiers(artists, hosts, radix)
    return artists


def move_tiers(artists, hosts, radix):
    """Set the dot of `tiers` to other hosts and ports, and that radix's staircase to bold."""
    count = link.tree_tiers(hosts, radix)
    across = artists["steps"][0].get_xdata()
    artists["chosen"][0].set_data(across, 2 * (link.tree_tiers(across, radix) - 1))
    artists["dot"][0].set_data([hosts], [2 * (count - 1)])
    label = artists["label"][0]
    label.xy = hosts, 2 * (count - 1)
    label.set(
        text=f"{radix} ports: {'one switch' if count == 1 else f'{count:.0f} tiers'}",
        ha="left" if hosts < 2000 else "right" if hosts > 100_000 else "center",
        # the names of the staircases stand above the second tier
        position=(0, -20 if count == 2 else 12),
    )


@drawing
def energy(ax):
    """Energy a bit against reach: copper at two lane rates as the text has them, and every module
    of `catalog.MODULES`, one end each.
    """
    log_axis(ax.xaxis, "m", 0.5, 3000, each=10)
    log_axis(ax.yaxis, "J", 1 * pJ, 200 * pJ, each=10)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value / pJ:g}")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.set(xlabel="reach, m", ylabel="pJ a bit")
    reach = {r.lane_rate: r for r in catalog.COPPER_REACH if "optical interconnects" in r.source}
    artists = {"copper": [], "light": [], "labels": []}
    for rate, cost, colour, name, above in (
        (100 * Gbps, catalog.SERDES_112G, "third", "copper, 112G lanes", False),
        (200 * Gbps, catalog.SERDES_224G, "fourth", "copper, 224G lanes", True),
    ):
        least, most = reach[rate].least, reach[rate].most
        artists["copper"].append(
            ax.add_patch(
                Rectangle(
                    (least, cost[0]),
                    most - least,
                    cost[1] - cost[0],
                    facecolor=COLOURS[colour],
                    alpha=0.75,
                )
            )
        )
        artists["labels"].append(
            ax.annotate(
                name,
                (least, cost[above]),
                (0, 4 if above else -4),
                textcoords="offset points",
                va="bottom" if above else "top",
                color=COLOURS[colour],
            )
        )
    for module in catalog.MODULES:
        packaged = "co-packaged" in module.name
        cost = link.energy_per_bit(module.watts, module.rate)
        artists["light"] += ax.plot(
            [module.reach],
            [cost],
            "D" if packaged else "o",
            color=COLOURS["first" if packaged else "second"],
            markersize=8,
        )
    for module in (catalog.PLUGGABLE, catalog.CPO, catalog.MODULES[-1]):
        words = f"{module.watts:g} W for {si(module.rate, 'b/s')}" + (
            ", the text" if "chapter" in module.name else ""
        )
        artists["labels"].append(
            ax.annotate(
                words,
                (module.reach, link.energy_per_bit(module.watts, module.rate)),
                (9, 0),
                textcoords="offset points",
                va="center",
            )
        )
    artists["labels"].append(
        ax.annotate(
            "makers' modules",
            (44, 20 * pJ),
            (0, 0),
            textcoords="offset points",
            ha="right",
            va="center",
        )
    )
    artists["legend"] = ax.legend(
        [artists["light"][0], artists["light"][1]],
        ["pluggable module", "co-packaged engine"],
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=2,
        borderaxespad=0.2,
    )
    return artists


@drawing
def pool(ax, home=catalog.DRAM, pools=(catalog.CXL_POOL, catalog.CXL_SWITCHED), size=1e9):
    """How much longer than at home a task takes against the share it keeps in a pool: loads that
    wait for each other, and a stream.

    One line of loads for each of `pools`, and one stream of `size` bytes from the first of them; 1
    is everything at home.
    """
    shares = np.linspace(0, 1, 201)
    ax.set(
        xlim=(0, 1),
        ylim=(0, 5),
        xlabel="share kept in the pool",
        ylabel="time, in times of all at home",
    )
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    ax.axhline(1, color=COLOURS["muted"], linewidth=1.2)
    artists = {"loads": [], "stream": []}
    for path, (colour, dash) in zip(pools, SERIES):
        ratio = cluster.pooled_loads(1, shares, home.alpha, path.alpha) / home.alpha
        artists["loads"] += ax.plot(
            shares,
            ratio,
            color=COLOURS[colour],
            linestyle=dash,
            label=f"waiting loads, {path.alpha / ns:.0f} ns",
        )
    whole = cluster.pooled_stream(size, 0, home.alpha, home.beta, pools[0].alpha, pools[0].beta)
    times = cluster.pooled_stream(
        size, shares, home.alpha, home.beta, pools[0].alpha, pools[0].beta
    )
    artists["stream"] += ax.plot(
        shares,
        times / whole,
        color=COLOURS["third"],
        linestyle="-.",
        label=f"stream, {si(pools[0].beta, 'B/s')} beside {si(home.beta, 'B/s')}",
    )
    artists["legend"] = ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2
    )
    return artists
