"""Drawings for level 2. Floor 5.

The two that an explorer brings to life come in pairs: the drawing makes its artists and calls its
`move_...`, which an explorer calls again with other numbers. So the picture is one and the same,
alive and printed.
"""

import numpy as np
from matplotlib.patches import FancyBboxPatch, Rectangle

from fabriclab import transport
from fabriclab.course.engine.plot import COLOURS, SERIES, drawing, log_axis
from fabriclab.units import GB, KB, MB, TB, ns, si, us

# behind a label that a line may cross
_CLEAR = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1}


@drawing
def alpha_beta(ax, paths, size=None):
    """Transfer time against message size for `paths` (each with name, alpha in s, beta in bytes/s),
    in log-log: figure 8.

    A diamond marks each path's crossover n*, where T = 2 alpha; a ring the size at which two paths
    take equal time; a dashed line and a dot on each curve the message of `size` bytes, where given.
    Returns the artists, lists by name.
    """
    log_axis(ax.xaxis, "B", 1, 10 * GB, each=1000)
    log_axis(ax.yaxis, "s", 10 * ns, 10, each=10)
    ax.set_xlabel("message size")
    ax.set_ylabel("transfer time T(n)")
    styles = [
        {"color": COLOURS[colour], "linestyle": dash} for colour, dash in SERIES[: len(paths)]
    ]
    artists = {
        "times": [
            ax.plot([], [], label=path.name, **style)[0] for path, style in zip(paths, styles)
        ],
        "crossovers": [
            ax.plot(
                [],
                [],
                "D",
                markersize=8,
                markerfacecolor="white",
                markeredgewidth=2,
                color=s["color"],
            )[0]
            for s in styles
        ],
        "labels": [
            ax.annotate(
                "", (1, 1), (0, 0), textcoords="offset points", bbox=_CLEAR, color=s["color"]
            )
            for s in styles
        ],
        "equal": ax.plot(
            [],
            [],
            "o",
            markersize=13,
            markerfacecolor="none",
            markeredgewidth=1.6,
            color=COLOURS["ink"],
        ),
        "size": ax.plot([], [], "--", linewidth=1.4, color=COLOURS["muted"]),
        "messages": [ax.plot([], [], "o", markersize=7, color=s["color"])[0] for s in styles],
        "size label": [
            ax.annotate(
                "",
                (1, 0),
                (0, 8),
                xycoords=ax.get_xaxis_transform(),
                textcoords="offset points",
                color=COLOURS["muted"],
            )
        ],
    }
    ax.legend(loc="upper left")
    move_alpha_beta(artists, paths, size)
    return artists


def move_alpha_beta(artists, paths, size=None):
    """Set the artists of `alpha_beta` to these paths and this message."""
    sizes = np.geomspace(1, 10 * GB, 241)
    highest = max(path.alpha for path in paths)
    for number, path in enumerate(paths):
        star = transport.crossover(path.alpha, path.beta)
        artists["times"][number].set_data(
            sizes, transport.transfer_time(sizes, path.alpha, path.beta)
        )
        artists["crossovers"][number].set_data([star], [2 * path.alpha])
        # the upper crossover is labelled above its curve, the lower below, so that the two never
        # meet
        above = path.alpha == highest and number == [p.alpha for p in paths].index(highest)
        label = artists["labels"][number]
        label.xy = star, 2 * path.alpha
        label.set(
            text=f"n* = {si(star, 'B')}",
            position=(-9, 6) if above else (9, -6),
            ha="right" if above else "left",
            va="bottom" if above else "top",
        )
        artists["messages"][number].set_data(
            [] if size is None else [size],
            [] if size is None else [transport.transfer_time(size, path.alpha, path.beta)],
        )
    equal = (
        transport.break_even(paths[0].alpha, paths[0].beta, paths[1].alpha, paths[1].beta)
        if len(paths) == 2
        else 0.0
    )
    met = 1 <= equal <= 10 * GB
    artists["equal"][0].set_data(
        [equal] if met else [],
        [transport.transfer_time(equal, paths[0].alpha, paths[0].beta)] if met else [],
    )
    if size is not None:
        left = size < 300 * MB
        artists["size"][0].set_data([size, size], artists["size"][0].axes.get_ylim())
        artists["size label"][0].xy = size, 0
        artists["size label"][0].set(
            text=si(size, "B"), position=(5 if left else -5, 6), ha="left" if left else "right"
        )


@drawing
def shares(ax, path):
    """What share of the time is start-up and what share transfer, against message size, for one
    path. Half each at n*.
    """
    sizes = np.geomspace(1, 10 * GB, 241)
    share = transport.latency_share(sizes, path.alpha, path.beta)
    star = transport.crossover(path.alpha, path.beta)
    log_axis(ax.xaxis, "B", 1, 10 * GB, each=1000)
    ax.set(
        ylim=(0, 1), yticks=[0, 0.25, 0.5, 0.75, 1], xlabel="message size", ylabel="share of T(n)"
    )
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    areas = [
        ax.fill_between(sizes, 0, share, color=COLOURS["startup"], label="start-up, alpha"),
        ax.fill_between(sizes, share, 1, color=COLOURS["wire"], label="transfer, n/beta"),
    ]
    edge = ax.plot(sizes, share, color=COLOURS["ink"])
    marker = ax.plot(
        [star],
        [0.5],
        "D",
        markersize=8,
        markerfacecolor="white",
        markeredgewidth=2,
        color=COLOURS["ink"],
    )
    texts = [
        ax.annotate(f"n* = {si(star, 'B')}", (star, 0.5), (12, 4), textcoords="offset points"),
        ax.text(0.03, 0.08, "start-up, alpha", transform=ax.transAxes),
        ax.text(0.97, 0.88, "transfer, n/beta", transform=ax.transAxes, ha="right"),
    ]
    return {"areas": areas, "share": edge, "crossover": marker, "labels": texts}


@drawing
def allreduce(ax, names, sizes, times, payload, at_payload, compute):
    """AllReduce time against payload per algorithm, the compute phase as a line, and what it leaves
    exposed shaded.

    `names` fixes the order of all algorithms; `times` holds those shown, name -> seconds at `sizes`
    (bytes); `at_payload` the same at `payload` bytes; `compute` seconds. Shaded is what the fastest
    one shown leaves after full overlap; the bar stands at the payload. Returns the artists, lists
    by name.
    """
    log_axis(ax.xaxis, "B", 1 * KB, 1 * TB, each=1000)
    log_axis(ax.yaxis, "s", 1 * us, 1e4, each=10)
    ax.set_xlabel("payload of each rank")
    ax.set_ylabel("AllReduce time")
    artists = {
        "exposed": [
            ax.fill_between(
                sizes,
                compute,
                compute,
                color=COLOURS["exposed"],
                alpha=0.35,
                linewidth=0,
                label="exposed",
            )
        ],
        "times": [
            ax.plot(sizes, np.ones_like(sizes), color=COLOURS[c], linestyle=d, label=name)[0]
            for name, (c, d) in zip(names, SERIES)
        ],
        "compute": ax.plot([], [], color=COLOURS["muted"], linewidth=1.6, label="compute phase"),
        "payload": ax.plot([], [], "--", linewidth=1.4, color=COLOURS["muted"]),
        "bar": ax.plot([], [], color=COLOURS["exposed"], linewidth=8, solid_capstyle="butt"),
        "fastest": ax.plot([], [], "o", markersize=6, color=COLOURS["ink"]),
        "labels": [
            ax.annotate(
                "",
                (1, 0),
                (0, 6),
                xycoords=ax.get_xaxis_transform(),
                textcoords="offset points",
                color=COLOURS["muted"],
            ),
            ax.annotate(
                "",
                (0, 1),
                (6, 4),
                xycoords=ax.get_yaxis_transform(),
                textcoords="offset points",
                color=COLOURS["muted"],
            ),
        ],
    }
    # beside the axes: the curves of many ranks and slow links reach every corner
    artists["legend"] = ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02), borderaxespad=0.2)
    move_allreduce(artists, times, payload, at_payload, compute)
    return artists


def move_allreduce(artists, times, payload, at_payload, compute):
    """Set the artists of `allreduce` to these values; algorithms that are not in `times` are
    hidden.
    """
    handles = dict(
        zip(
            (text.get_text() for text in artists["legend"].get_texts()),
            artists["legend"].legend_handles,
        )
    )
    for line in artists["times"]:
        shown = line.get_label() in times
        line.set_visible(shown)
        handles[line.get_label()].set_alpha(1.0 if shown else 0.15)
        if shown:
            line.set_ydata(times[line.get_label()])
    sizes = artists["times"][0].get_xdata()
    fastest = np.min(list(times.values()), axis=0)
    artists["exposed"][0].set_data(sizes, compute, np.maximum(compute, fastest))
    artists["compute"][0].set_data([sizes[0], sizes[-1]], [compute, compute])
    ax = artists["compute"][0].axes
    artists["payload"][0].set_data([payload, payload], ax.get_ylim())
    best = min(at_payload.values())
    artists["bar"][0].set_data([payload, payload], [compute, max(compute, best)])
    artists["fastest"][0].set_data([payload], [best])
    at, phase = artists["labels"]
    left = payload < 20 * GB
    at.xy, phase.xy = (payload, 0), (0, compute)
    at.set(text=si(payload, "B"), position=(5 if left else -5, 6), ha="left" if left else "right")
    phase.set_text(f"compute {si(compute, 's')}")


def _box(ax, x, y, width, height, text, **style):
    box = FancyBboxPatch(
        (x, y),
        width,
        height,
        boxstyle="round,pad=0,rounding_size=0.08",
        linewidth=1.6,
        **{"facecolor": "white", "edgecolor": COLOURS["ink"]} | style,
    )
    ax.add_patch(box)
    return box, ax.text(x + width / 2, y + height / 2, text, ha="center", va="center")


def _arrow(ax, start, end, **style):
    return ax.annotate(
        "",
        end,
        start,
        arrowprops={
            "arrowstyle": "-|>",
            "linewidth": 2,
            "shrinkA": 1,
            "shrinkB": 1,
            "mutation_scale": 16,
        }
        | style,
    )


@drawing
def gpudirect(ax, size, staged):
    """Figure 6: the way of a payload of `size` bytes from GPU to wire, staged through host memory
    and direct.

    `staged` is the bytes of host-memory traffic that staging costs, shown on its two copies.
    Returns the artists.
    """
    ax.set(xlim=(-0.1, 10), ylim=(0, 5.3))
    ax.set_axis_off()
    artists = {"boxes": [], "arrows": [], "labels": []}
    for y, title in (
        (3.1, "Staged: bounce through host memory"),
        (0.2, "GPUDirect RDMA: the NIC reads GPU memory"),
    ):
        artists["labels"].append(ax.text(0, y + 1.7, title, fontweight="bold"))
        for x, name in ((0, "GPU\nmemory"), (7.9, "NIC")):
            artists["boxes"].append(_box(ax, x, y, 2.0, 1.1, name))
    artists["boxes"].append(
        _box(
            ax, 3.95, 3.1, 2.1, 1.1, "host RAM", facecolor=COLOURS["pale"], edgecolor=COLOURS["bad"]
        )
    )
    for start, end, word in ((2.0, 3.95, "write"), (6.05, 7.9, "read")):
        artists["arrows"].append(_arrow(ax, (start, 3.65), (end, 3.65), color=COLOURS["bad"]))
        artists["labels"].append(
            ax.text(
                (start + end) / 2,
                3.65,
                f"{word}\n{si(staged / 2, 'B')}",
                ha="center",
                va="center",
                linespacing=1.9,
            )
        )
    artists["arrows"].append(_arrow(ax, (2.0, 0.75), (7.9, 0.75), color=COLOURS["first"]))
    artists["labels"] += [
        ax.text(5.0, 0.9, f"{si(size, 'B')}, once over PCIe", ha="center", va="bottom"),
        ax.text(
            5.0, 0.6, "host-memory traffic: 0 B", ha="center", va="top", color=COLOURS["first"]
        ),
        ax.text(5.0, 2.95, f"host-memory traffic: {si(staged, 'B')}", ha="center", va="top"),
    ]
    return artists


@drawing
def stacks(ax, paths):
    """Figure 7: what a message passes through on each path, and the latency range that costs.

    `paths` is a list of (name, layers from the top, copies in words, lowest seconds, highest
    seconds), two of them usually.
    """
    highest = max(high for *_, high in paths)
    room = 1.05 * highest
    ax.set(
        xlim=(0, room / us),
        ylim=(-0.15, len(paths)),
        yticks=[],
        xlabel="one-way latency of a small message, us",
    )
    ax.spines["left"].set_visible(False)
    artists = {"ranges": [], "boxes": [], "labels": []}
    for row, (name, layers, copies, low, high) in enumerate(reversed(paths)):
        colour = COLOURS[SERIES[len(paths) - 1 - row][0]]
        artists["labels"].append(ax.text(0, row + 0.82, f"{name}: {copies}", fontweight="bold"))
        gap = 0.02
        each = 1 / max(len(layers) for _, layers, *_ in paths) - gap
        for place, layer in enumerate(layers):
            x = place * (each + gap)
            box = Rectangle(
                (x, row + 0.42),
                each,
                0.3,
                transform=ax.get_yaxis_transform(),
                facecolor=COLOURS["pale"],
                edgecolor=colour,
                linewidth=1.4,
                clip_on=False,
            )
            ax.add_patch(box)
            artists["boxes"].append(
                (
                    box,
                    ax.text(
                        x + each / 2,
                        row + 0.57,
                        layer,
                        ha="center",
                        va="center",
                        fontsize=11,
                        transform=ax.get_yaxis_transform(),
                    ),
                )
            )
        artists["ranges"] += ax.barh(
            [row + 0.15], [(high - low) / us], left=[low / us], height=0.22, color=colour
        )
        right = high < 0.7 * highest
        artists["labels"].append(
            ax.text(
                high / us + 0.01 * room / us if right else low / us - 0.01 * room / us,
                row + 0.15,
                f"{si(low, 's')} to {si(high, 's')}",
                ha="left" if right else "right",
                va="center",
            )
        )
    return artists


@drawing
def recovery(ax, size, lost_at, tails, beta):
    """One packet lost at byte `lost_at` of `size`: what each way of recovering sends again.

    `tails` maps a name to (first byte sent again, bytes sent again); `beta` (bytes/s) turns these
    into wire time.
    """
    ax.set(
        xlim=(0, 1.02 * size), ylim=(-0.25, len(tails)), yticks=[], xlabel="offset in the message"
    )
    ax.xaxis.set_major_formatter(lambda value, _: si(value, "B"))
    ax.spines["left"].set_visible(False)
    artists = {"messages": [], "tails": [], "labels": [], "loss": []}
    for row, (name, (start, again)) in enumerate(reversed(tails.items())):
        artists["messages"] += ax.barh(
            [row + 0.2], [size], height=0.3, color=COLOURS["pale"], edgecolor=COLOURS["muted"]
        )
        # a packet is thinner than a dot of the picture: its outline is what shows
        artists["tails"] += ax.barh(
            [row + 0.2],
            [again],
            left=[start],
            height=0.3,
            color=COLOURS["startup"],
            edgecolor=COLOURS["bad"],
            hatch="//",
            linewidth=1.5,
        )
        artists["loss"] += ax.plot(
            [lost_at], [row + 0.2], "x", color=COLOURS["bad"], markersize=11, markeredgewidth=3
        )
        artists["labels"].append(
            ax.text(
                0,
                row + 0.47,
                f"{name}: {si(again, 'B')} again, {si(again / beta, 's')} of wire time",
                va="bottom",
            )
        )
    artists["labels"].append(
        ax.annotate(
            f"lost at {si(lost_at, 'B')}",
            (lost_at, 0.05),
            (0, -6),
            textcoords="offset points",
            ha="right",
            va="top",
        )
    )
    return artists


@drawing
def measured(ax, sizes, values, model, unit="s", names=("measured", "fitted model")):
    """A benchmark's points with the model's line through them: `values` and `model` at `sizes`, in
    seconds (`unit` "s")
    or bytes/s ("B/s", for bus bandwidth)."""
    sizes, values, model = (np.asarray(each, dtype=float) for each in (sizes, values, model))
    some = np.concatenate([values, model])
    decade = lambda value, up: (
        10.0 ** (np.ceil(np.log10(value) - 0.02) if up else np.floor(np.log10(value) + 0.02))
    )  # noqa: E731
    shown = sizes > 0
    log_axis(ax.xaxis, "B", sizes[shown].min() / 2, sizes.max() * 2, each=1000)
    log_axis(ax.yaxis, unit, decade(some[some > 0].min(), False), decade(some.max(), True))
    ax.set(xlabel="message size", ylabel="time" if unit == "s" else "bus bandwidth")
    line = ax.plot(sizes[shown], model[shown], color=COLOURS["second"], label=names[1], zorder=2)
    points = ax.plot(
        sizes[shown],
        values[shown],
        "o",
        markersize=7,
        color=COLOURS["first"],
        label=names[0],
        zorder=3,
    )
    # both times and bandwidths rise with size
    ax.legend(loc="upper left" if unit == "s" else "lower right")
    return {"measured": points, "model": line}
