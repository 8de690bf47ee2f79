"""AllReduce against the compute phase that may hide it."""

import numpy as np

from fabriclab.course.engine.plot import COLOURS, SERIES, drawing, log_axis
from fabriclab.units import GB, KB, TB, si, us

# behind a label that a line may cross
_CLEAR = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1}


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
