"""Drawings for level 5: gradients in buckets, what lost bandwidth costs unseen, a ring with one
slow link. Floor 5.
"""

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from fabriclab import cluster
from fabriclab.course.engine.plot import COLOURS, SERIES, drawing, log_axis
from fabriclab.units import GB, KB, MB, si

LARGEST = 30_000 * GB  # of a buffer: room for words on the right of what one is likely to ask for
_CLEAR = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1}
_NEAR = {"textcoords": "offset points", "bbox": _CLEAR}


def _boxes(starts, ends, low, high):
    return [[(a, low), (b, low), (b, high), (a, high)] for a, b in zip(starts, ends)]


def _axis_end(value):
    """A round number at or above `value`, so that the axis stands still while what it shows grows a
    little.
    """
    decade = 10.0 ** np.floor(np.log10(value))
    return float(
        next(
            step * decade
            for step in (1, 1.5, 2, 3, 4, 6, 8, 10)
            if step * decade >= value * (1 - 1e-9)
        )
    )


@drawing
def buckets(ax, step):
    """A `cluster.BucketedStep` in time: the backward pass above, a tick where a bucket is ready;
    below the AllReduces, one a bucket.

    What runs past the end of the pass is shaded. Returns the artists, lists by name.
    """
    ax.set(ylim=(0, 1), yticks=[0.3, 0.71], xlabel="time from the start of the backward pass")
    ax.set_yticklabels(["link", "GPU"])
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    # a label at the very end would stand out of the picture
    ax.xaxis.set_major_locator(MaxNLocator(7, steps=[1, 2, 5, 10], prune="upper"))
    ax.xaxis.set_major_formatter(
        lambda value, _: f"{value:,.0f} s" if value >= 100 else si(value, "s", 3)
    )
    artists = {
        "exposed": [
            ax.add_patch(
                Rectangle((0, 0), 0, 1, facecolor=COLOURS["exposed"], alpha=0.3, linewidth=0)
            )
        ],
        "backward": [
            ax.add_patch(
                Rectangle(
                    (0, 0.58),
                    0,
                    0.26,
                    facecolor=COLOURS["first"],
                    edgecolor="white",
                    label="backward pass",
                )
            )
        ],
        "ready": [
            ax.add_collection(
                PolyCollection(
                    [],
                    facecolor=COLOURS["ink"],
                    edgecolor=COLOURS["ink"],
                    linewidth=1,
                    label="bucket ready",
                ),
                autolim=False,
            )
        ],
        "allreduce": [
            ax.add_collection(
                PolyCollection(
                    [],
                    facecolor=COLOURS["exposed"],
                    edgecolor="white",
                    label="AllReduce of a bucket",
                ),
                autolim=False,
            )
        ],
        "end": ax.plot([], [], "--", color=COLOURS["muted"], linewidth=1.4),
        "labels": [ax.text(0, 0.92, "", va="center", ha=side) for side in ("right", "left")],
    }
    artists["legend"] = ax.legend(
        [artists[name][0] for name in ("backward", "ready", "allreduce")],
        ["backward pass", "bucket ready", "AllReduce of a bucket"],
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=3,
        borderaxespad=0.2,
    )
    move_buckets(artists, step)
    return artists


def move_buckets(artists, step):
    """Set the artists of `buckets` to another step."""
    ax = artists["end"][0].axes
    longest = _axis_end(1.45 * max(step.total, 1e-9))
    ax.set_xlim(0, longest)
    artists["backward"][0].set_width(step.backward)
    artists["exposed"][0].set(x=step.backward, width=step.exposed)
    moments = np.asarray(step.ready)
    artists["ready"][0].set_verts(_boxes(moments, moments, 0.5, 0.58))
    artists["allreduce"][0].set(
        verts=_boxes(step.start, step.finish, 0.17, 0.43), linewidth=1 if len(moments) <= 64 else 0
    )
    artists["end"][0].set_data([step.backward] * 2, [0, 1])
    # the axis leaves room on the right for what is exposed
    left, right = artists["labels"]
    fits = step.backward > 0.3 * longest
    left.set(
        text=f"backward {si(step.backward, 's', 3)}" if fits else "",
        x=step.backward - 0.012 * longest,
    )
    right.set(text=f"exposed {si(step.exposed, 's', 3)}", x=step.backward + 0.012 * longest)


@drawing
def waste(ax, losses=(0.05, 0.1, 0.2, 0.5), seen=(0.02, 0.03), gpus=None, seconds=None):
    """How much longer a step gets against its communication share, one line for each of `losses` of
    bandwidth, 0 to below 1.

    The band `seen` is what goes unnoticed: the text's 2 to 3 %. With `gpus` and `seconds`,
    GPU-hours stand on the right.
    """
    shares = np.linspace(0, 1, 101)
    ax.set(
        xlim=(0, 1),
        ylim=(0, 0.2),
        yticks=[0, 0.05, 0.1, 0.15, 0.2],
        xlabel="communication share of the step, none of it hidden",
        ylabel="step longer by",
    )
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:.0%}")
    artists = {
        "seen": [ax.axhspan(*seen, facecolor=COLOURS["highlight"], alpha=0.6, linewidth=0)],
        "lines": [],
    }
    for loss, (colour, dash) in zip(losses, SERIES):
        artists["lines"] += ax.plot(
            shares,
            cluster.waste(shares, loss),
            color=COLOURS[colour],
            linestyle=dash,
            label=f"{loss:.0%} less bandwidth",
        )
    artists["legend"] = ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2
    )
    if gpus is not None and seconds is not None:
        run = cluster.gpu_hours(gpus, seconds)
        hours = ax.secondary_yaxis(
            "right", functions=(lambda part: part * run, lambda value: value / run)
        )
        hours.set_ylabel("GPU-hours lost", fontsize=12)
        hours.tick_params(labelsize=11)
        hours.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        artists["hours"] = [hours]
    return artists


@drawing
def slow_link(ax, size, ranks, alpha, beta, slowdown):
    """Ring AllReduce time against buffer size: all links whole, and one of them `slowdown` times
    slower; dots at `size`.
    """
    log_axis(ax.xaxis, "B", 1 * KB, LARGEST, each=1000)
    log_axis(ax.yaxis, "s", 1e-6, 1e5, each=100)
    ax.set(xlabel="buffer each rank holds", ylabel="ring AllReduce")
    artists = {}
    for name, label, (colour, dash) in (
        ("slow", "one link slow", SERIES[1]),
        ("whole", "all links whole", SERIES[0]),
    ):
        artists[name] = ax.plot([], [], color=COLOURS[colour], linestyle=dash, label=label)
        artists[f"{name} dot"] = ax.plot([], [], "o", color=COLOURS[colour], markersize=8)
    artists["labels"] = [
        ax.annotate("", (1, 1), (-9, 7), ha="right", color=COLOURS["second"], **_NEAR),
        ax.annotate("", (1, 1), (9, -7), va="top", color=COLOURS["first"], **_NEAR),
    ]
    artists["legend"] = ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2
    )
    move_slow_link(artists, size, ranks, alpha, beta, slowdown)
    return artists


def move_slow_link(artists, size, ranks, alpha, beta, slowdown):
    """Set the artists of `slow_link` to another ring."""
    sizes = np.geomspace(1 * KB, LARGEST, 181)
    for name, factor, label in zip(("slow", "whole"), (slowdown, 1.0), artists["labels"]):
        artists[name][0].set_data(sizes, cluster.slow_link(sizes, ranks, alpha, beta, factor))
        time = cluster.slow_link(size, ranks, alpha, beta, factor)
        artists[f"{name} dot"][0].set_data([size], [time])
        label.xy = size, time
        label.set_text(si(time, "s", 4))
    # above the curve stands on its left, where there is room
    room = size > 100 * MB
    artists["labels"][0].set(ha="right" if room else "left", position=(-9 if room else 0, 9))
