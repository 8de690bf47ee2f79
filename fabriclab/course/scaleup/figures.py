"""Drawings for scale-up: payload under headers, a PCIe tree's shares, a share per peer, the
campus's bases, a port behind a host. Floor 5.
"""

import numpy as np
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, NullLocator

from fabriclab import scaleup
from fabriclab.course.engine.plot import COLOURS, SERIES, drawing, log_axis
from fabriclab.units import GB, MB, Gbps, si

SIZES = np.geomspace(4, 9000, 241)
STACKS = ("ESUN", "IPv4", "IPv6", "RoCEv2")
SHARES = (
    ("to_host", "to the host, all at once"),
    ("across", "across the root"),
    ("all_to_all", "to all others, evenly"),
    ("to_neighbour", "to a neighbour, or in a ring"),
)
LEAST, MOST = (
    1 * MB,
    10_000 * GB,
)  # of a tree's axis: a thousand GPUs behind one link, and room for words on the right
EXABIT = 1e18 / 8
_CLEAR = {"facecolor": "white", "edgecolor": "none", "pad": 1}
PORTS = (200 * Gbps, 400 * Gbps, 800 * Gbps, 1600 * Gbps)


@drawing
def efficiency(ax, size, transactions=1, command=0):
    """Payload share of a packet against the size of one transaction, a curve for each stack of
    headers; dots at `size` bytes.
    """
    log_axis(ax.xaxis, "B", SIZES[0], SIZES[-1])
    ax.xaxis.set_major_locator(FixedLocator([4, 16, 64, 256, 1024, 4096]))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f} B")
    ax.set(ylim=(0, 1.02), xlabel="one transaction", ylabel="payload, of time on the wire")
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    ax.grid(True, axis="y", color="#DDDDDD", linewidth=0.8)
    artists = {
        "lines": [],
        "dots": [],
        "size": ax.plot([], [], ":", color=COLOURS["muted"], linewidth=1.4),
    }
    for stack, (colour, dash) in zip(STACKS, SERIES):
        artists["lines"] += ax.plot([], [], color=COLOURS[colour], linestyle=dash, label=stack)
        artists["dots"] += ax.plot([], [], "o", color=COLOURS[colour], markersize=7)
    artists["legend"] = ax.legend(
        artists["lines"],
        STACKS,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=4,
        borderaxespad=0.2,
    )
    move_efficiency(artists, size, transactions, command)
    return artists


def move_efficiency(artists, size, transactions=1, command=0):
    """Set the artists of `efficiency` to another packet."""
    for stack, line, dot in zip(STACKS, artists["lines"], artists["dots"]):
        line.set_data(SIZES, scaleup.payload_efficiency(SIZES, stack, transactions, command))
        dot.set_data([size], [scaleup.payload_efficiency(size, stack, transactions, command)])
    artists["size"][0].set_data([size, size], [0, 1.02])


@drawing
def tree(ax, of):
    """What each GPU of a `scaleup.PcieTree` can send, one way, when all do the same: a bar for each
    pattern, its number beside it.

    A dashed line is the GPU's own link. A share below the axis stands at its left end.
    """
    log_axis(ax.xaxis, "B/s", LEAST, MOST, each=1000)
    ax.set(ylim=(-0.6, 3.6), yticks=range(4), xlabel="a GPU's share, one way")
    ax.set_yticklabels([words for _, words in SHARES])
    ax.tick_params(axis="y", length=0)
    ax.grid(False, axis="y")
    artists = {
        "bars": [],
        "labels": [],
        "link": ax.plot([], [], "--", color=COLOURS["muted"], linewidth=1.4),
    }
    for row, name in enumerate(("bad", "startup", "wire", "first")):
        artists["bars"].append(
            ax.add_patch(
                Rectangle((LEAST, row - 0.3), 0, 0.6, facecolor=COLOURS[name], linewidth=0)
            )
        )
        artists["labels"].append(ax.text(LEAST, row, "", va="center", bbox=_CLEAR, zorder=4))
    move_tree(artists, of)
    return artists


def move_tree(artists, of):
    """Set the artists of `tree` to another tree."""
    for (pattern, _), bar, label in zip(SHARES, artists["bars"], artists["labels"]):
        share = getattr(of, pattern)
        end = max(share, LEAST)
        bar.set_width(end - LEAST)
        label.set(x=end * 1.25, text=si(share, "B/s", 3))
    artists["link"][0].set_data([of.rate, of.rate], [-0.6, 3.6])


@drawing
def peers(ax, devices):
    """Share per device and per peer, one way, of fabrics where each talks to all others; `devices`
    are (words, n, rate one way).
    """
    names = [f"{words}\n{n} devices" for words, n, _ in devices]
    highest = max(rate for _, _, rate in devices)
    ax.set(
        yscale="log",
        ylim=(0.2 * GB, 6 * highest),
        xlim=(-0.6, len(devices) - 0.4),
        ylabel="bandwidth, one way",
    )
    ax.yaxis.set_major_formatter(lambda value, _: si(value, "B/s"))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set_xticks(range(len(devices)), names)
    artists = {"device": [], "peer": [], "labels": []}
    for k, (_, n, rate) in enumerate(devices):
        for name, offset, value, colour in (
            ("device", -0.2, rate, "first"),
            ("peer", 0.2, scaleup.peer_share(rate, n), "startup"),
        ):
            artists[name] += ax.bar([k + offset], [value], width=0.36, color=COLOURS[colour])
            artists["labels"].append(
                ax.text(k + offset, value * 1.12, si(value, "B/s", 3), ha="center")
            )
    artists["legend"] = ax.legend(
        [artists[name][0] for name in ("device", "peer")],
        ["to all peers together", "to each peer"],
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=2,
        borderaxespad=0.2,
    )
    return artists


@drawing
def campus(ax, pyramid):
    """A `scaleup.Pyramid`, its narrowest tier on top: outlined what is stated, filled what flows
    one way.
    """
    n, widest = len(pyramid.names), max(pyramid.stated)
    ax.set(xlim=(-0.55 * widest, 1.02 * widest), ylim=(-0.6, n - 0.4), yticks=range(n), xticks=[])
    ax.set_yticklabels(pyramid.names)
    ax.tick_params(axis="y", length=0)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
    artists = {"stated": [], "per direction": [], "labels": []}
    for row, (stated, one_way) in enumerate(zip(pyramid.stated, pyramid.per_direction)):
        artists["per direction"].append(
            ax.add_patch(
                Rectangle(
                    (-one_way / 2, row - 0.36),
                    one_way,
                    0.72,
                    facecolor=COLOURS["wire"],
                    linewidth=0,
                )
            )
        )
        artists["stated"].append(
            ax.add_patch(
                Rectangle(
                    (-stated / 2, row - 0.36),
                    stated,
                    0.72,
                    fill=False,
                    edgecolor=COLOURS["ink"],
                    linewidth=1.6,
                )
            )
        )
        artists["labels"].append(
            ax.text(
                0.55 * widest,
                row,
                f"{stated / EXABIT:.3g} Eb/s stated\n{one_way / EXABIT:.3g} one way",
                va="center",
            )
        )
    artists["legend"] = ax.legend(
        [artists[name][0] for name in ("stated", "per direction")],
        ["as stated", "one way"],
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=2,
        borderaxespad=0.2,
    )
    return artists


@drawing
def host_link(ax, generations=(4, 5, 6), payload=256):
    """What reaches a host of a NIC's port against the port's rate, one curve for each PCIe
    generation of x16, in packets of `payload` bytes.
    """
    rates = np.geomspace(100 * Gbps, 2000 * Gbps, 181)
    ax.set(
        xscale="log",
        xlim=(rates[0], rates[-1]),
        ylim=(0, 1.2 * scaleup.payload_rate(generations[-1], payload)),
    )
    ax.set(xlabel="port of the NIC, one way", ylabel="reaches the host")
    ax.set_xticks(PORTS, [si(port, "b/s") for port in PORTS])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(lambda value, _: si(value, "B/s"))
    ax.grid(True, color="#DDDDDD", linewidth=0.8)
    artists = {
        "port": ax.plot(
            rates,
            rates,
            color=COLOURS["muted"],
            linestyle=":",
            linewidth=1.4,
            label="the port itself",
        ),
        "lines": [],
        "dots": [],
    }
    for generation, (colour, dash) in zip(generations, SERIES):
        host = scaleup.payload_rate(generation, payload)
        artists["lines"] += ax.plot(
            rates,
            scaleup.behind_host(rates, host),
            color=COLOURS[colour],
            linestyle=dash,
            label=f"PCIe {generation} x16",
        )
        artists["dots"] += ax.plot(
            PORTS,
            scaleup.behind_host(np.array(PORTS), host),
            "o",
            color=COLOURS[colour],
            markersize=6,
        )
    artists["legend"] = ax.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=4,
        borderaxespad=0.2,
        columnspacing=1.2,
        handlelength=1.8,
    )
    return artists
