"""Time against message size: figure 8, its shares, and what was measured."""

import numpy as np

from fabriclab import transport
from fabriclab.course.engine.plot import COLOURS, SERIES, drawing, log_axis
from fabriclab.units import GB, MB, ns, si

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
