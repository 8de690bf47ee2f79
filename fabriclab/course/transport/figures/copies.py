"""What a message passes through, and what is sent again: figures 6 and 7, and recovery."""

from matplotlib.patches import FancyBboxPatch, Rectangle

from fabriclab.course.engine.plot import COLOURS, SERIES, drawing
from fabriclab.units import si, us

# behind a label that a line may cross
_CLEAR = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1}


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
