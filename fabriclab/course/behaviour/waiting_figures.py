"""Drawings for level 4, what waits for what: pauses that spread over a network, and the circle
among buffers.
"""

import numpy as np
from matplotlib.lines import Line2D

from fabriclab.course.engine.plot import COLOURS, SERIES, drawing
from fabriclab.units import MB, si, us


def first_pauses(run, at=None):
    """{(from, to): seconds of its first pause} of the ports that a `packets.Run` saw paused, up to
    `at` seconds.
    """
    found = {}
    for time, port, on in run.pause_log.tolist():
        if on and (at is None or time <= at):
            found.setdefault(tuple(run.ports[int(port)].tolist()), time)
    return found


def victims(run, target, at=None):
    """Numbers of the flows that had to wait for a crowd they are no part of: not to `target`, but
    over a paused cable.

    The run's flows need `routes`: by hashing alone nobody outside a switch knows their way. Raises
    ValueError without.
    """
    if run.flows.routes is None or None in run.flows.routes:
        raise ValueError(
            "run must be of packets.Flows with routes for all: where a hashed flow goes cannot be"
            " drawn"
        )
    paused = first_pauses(run, at)
    return [
        flow
        for flow, (way, to) in enumerate(zip(run.flows.routes, run.flows.target.tolist()))
        if to != target and any(step in paused for step in zip(way, way[1:]))
    ]


@drawing
def pauses(ax, network, run, target, at=None):
    """PFC pauses over a small leaf-spine `network` (`topology.Topology`) in a `packets.Run`: who
    had to stop, and when first.

    A cable is thick on the side of a sender that was paused up to `at` seconds (left out: ever),
    and by the sender stands when that began first. Flows to host `target` are the cause; `victims`
    go elsewhere, and theirs are lit, ends and way. At most 20 hosts.
    Returns the artists, lists by name. Raises ValueError for other networks, more hosts, or flows
    without routes.
    """
    if tuple(network.tiers) != ("leaf", "spine") or network.hosts > 20:
        raise ValueError(f"network must be a leaf-spine of at most 20 hosts, not {network.name}")
    stopped, lit = first_pauses(run, at), victims(run, target, at)
    leaves = network.counts[0]
    rows = [
        (0.0, range(network.hosts)),
        (1.0, range(network.hosts, network.hosts + leaves)),
        (2.0, range(network.hosts + leaves, network.vertices)),
    ]
    place = {v: ((i + 0.5) / len(row), y) for y, row in rows for i, v in enumerate(row)}
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.5, 2.25))
    ax.set_axis_off()
    ways = [run.flows.routes[flow] for flow in lit]
    ends = {end for way in ways for end in (way[0], way[-1])}
    artists = {
        "lit": [
            ax.plot(
                *zip(*(place[v] for v in way)),
                color=COLOURS["highlight"],
                linewidth=11,
                solid_capstyle="round",
                zorder=0,
            )[0]
            for way in ways
        ],
        "cables": [
            ax.plot(*zip(place[a], place[b]), color=COLOURS["muted"], linewidth=1, zorder=1)[0]
            for a, b in zip(network.a.tolist(), network.b.tolist())
        ],
        # from the one that had to stop to the middle of the cable, so that both directions can be
        # told apart
        "paused": [
            ax.plot(
                *zip(place[a], np.mean([place[a], place[b]], axis=0)),
                color=COLOURS["bad"],
                linewidth=4,
                zorder=2,
            )[0]
            for a, b in stopped
        ],
        "boxes": [],
        "labels": [],
    }
    names = {0: ("leaf", network.hosts), 1: ("spine", network.hosts + leaves)}
    for vertex, (x, y) in place.items():
        host = vertex < network.hosts
        look = {
            "boxstyle": "round,pad=0.25",
            "edgecolor": COLOURS["ink"],
            "facecolor": COLOURS["highlight"] if vertex in ends else "white",
            "linewidth": 1.2,
        }
        if vertex == target:
            look |= {"edgecolor": COLOURS["bad"], "linewidth": 3}
        kind, first = names[int(y) - 1] if not host else ("", 0)
        begun = min((time for (owner, _), time in stopped.items() if owner == vertex), default=None)
        words = (
            str(vertex)
            if host
            else f"{kind} {vertex - first}"
            + (f"\n{si(begun, 's', 3)}" if begun is not None else "")
        )
        artists["boxes"].append(
            ax.text(x, y, words, ha="center", va="center", fontsize=11, bbox=look, zorder=4)
        )
        if begun is not None and host:
            artists["labels"].append(
                ax.text(x, y - 0.19, f"{begun / us:.3g}", ha="center", va="center", fontsize=11)
            )
    artists["labels"].append(
        ax.text(
            0.0,
            -0.42,
            "under a host, in us, and in a switch: when it first had to stop",
            fontsize=11,
            color=COLOURS["muted"],
            va="center",
        )
    )
    artists["legend"] = ax.legend(
        [
            Line2D([], [], color=COLOURS["bad"], linewidth=4),
            Line2D([], [], color=COLOURS["highlight"], linewidth=11),
            Line2D(
                [],
                [],
                marker="s",
                linestyle="",
                markersize=11,
                markerfacecolor="white",
                markeredgecolor=COLOURS["bad"],
                markeredgewidth=3,
            ),
        ],
        ["paused sender", "victim", f"target of the crowd: host {target}"],
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=3,
        borderaxespad=0.2,
    )
    return artists


@drawing
def staggered(ax, runs, channel, buffer):
    """The queue of `channel` against time in several runs, by how many seconds apart their senders
    begin, and the `buffer` that it should fit. Returns the lines, by seconds.
    """
    lines = {}
    for (offset, run), (colour, dashes) in zip(runs.items(), SERIES):
        (lines[offset],) = ax.plot(
            run.times / us,
            run.queues[channel] / MB,
            color=COLOURS[colour],
            linestyle=dashes,
            label=f"{si(offset, 's')} apart" if offset else "all at once",
        )
    ax.axhline(buffer / MB, color=COLOURS["ink"], linewidth=1)
    ax.annotate(
        f"buffer, {si(buffer, 'B')}",
        (1, buffer / MB),
        (0, 3),
        xycoords=ax.get_yaxis_transform(),
        textcoords="offset points",
        ha="right",
    )
    ax.set(xlabel="time, µs", ylabel="bytes in the queue, MB", xlim=0)
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False)
    return lines
