"""Drawings for level 4, what waits for what: pauses that spread over a network, and the circle
among buffers. Floor 5.
"""

import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.lines import Line2D

from fabriclab.course.engine.plot import COLOURS, drawing
from fabriclab.units import si, us

WIDE, HIGH, MARGIN = 7.2, 4.2, 0.35  # inches: the room that buffers are laid out in


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
def dependencies(ax, graph, places, waiting=None, period=None):
    """The buffers of a `deadlock.Dependencies` and which may wait for which; one shortest circle of
    each component is marked.

    `places` maps each vertex to (x, y), in any unit. A dot is the buffer at the end of a channel,
    by the vertex it leads to, on the right-hand side of its cable; a line joins it to the buffers
    its packets may want next. `waiting` says which are full, as for `graph.verdict`. `period` is
    (width, height) of places that wrap around, as of a torus; lines then leave on one side and
    enter on the other. Returns the artists, lists by name.
    """
    ax.set(xlim=(0, WIDE), ylim=(0, HIGH), aspect="equal")
    ax.set_axis_off()
    artists = {
        "cables": [ax.add_collection(LineCollection([], colors="#BBBBBB", linewidths=1, zorder=1))],
        "vertices": ax.plot(
            [],
            [],
            "s",
            color=COLOURS["pale"],
            markeredgecolor=COLOURS["muted"],
            markersize=15,
            zorder=2,
        ),
        "waits": [
            ax.add_collection(
                LineCollection([], colors=COLOURS["first"], linewidths=1, alpha=0.7, zorder=3)
            )
        ],
        "circles": [
            ax.add_collection(LineCollection([], colors=COLOURS["bad"], linewidths=3, zorder=4))
        ],
        "arrows": [
            ax.add_collection(
                PolyCollection([], facecolor=COLOURS["bad"], edgecolor="none", zorder=4)
            )
        ],
        "buffers": ax.plot(
            [],
            [],
            "o",
            color="white",
            markeredgecolor=COLOURS["first"],
            markeredgewidth=1.6,
            markersize=7,
            zorder=5,
        ),
        "full": ax.plot(
            [],
            [],
            "o",
            color=COLOURS["ink"],
            markeredgecolor=COLOURS["ink"],
            markersize=9,
            zorder=6,
        ),
        "names": [
            ax.text(0, 0, "", ha="center", va="center", fontsize=11, zorder=7) for _ in range(20)
        ],
    }
    artists["legend"] = ax.legend(
        [
            artists["buffers"][0],
            artists["full"][0],
            Line2D([], [], color=COLOURS["first"], linewidth=1.4),
            Line2D([], [], color=COLOURS["bad"], linewidth=3),
        ],
        ["buffer", "full buffer", "may wait for", "circle"],
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=4,
        borderaxespad=0.2,
    )
    move_dependencies(artists, graph, places, waiting, period)
    return artists


def move_dependencies(artists, graph, places, waiting=None, period=None):
    """Set the artists of `dependencies` to another graph, of any network."""
    room, period = _fitted(places, period)
    spots = {channel: _spot(room, channel, period) for channel in graph.channels}
    used = sorted({vertex for a, b, _ in graph.channels for vertex in (a, b)}, key=str)
    artists["cables"][0].set_segments(
        [
            line
            for pair in {frozenset(c[:2]) for c in graph.channels}
            for line in _lines(room[min(pair)], room[max(pair)], period)
        ]
    )
    artists["vertices"][0].set_data(*zip(*(room[v] for v in used)) if used else ([], []))
    artists["buffers"][0].set_data(*zip(*spots.values()) if spots else ([], []))
    full = [spots[channel] for channel in waiting or {}]
    artists["full"][0].set_data(*zip(*full) if full else ([], []))
    artists["waits"][0].set_segments(
        [
            line
            for a, after in graph.follows.items()
            for b in after
            for line in _lines(spots[a], spots[b], period)
        ]
    )
    marked = [
        line
        for circle in graph.cycles()
        for a, b in zip(circle, circle[1:] + circle[:1])
        for line in _lines(spots[a], spots[b], period)
    ]
    artists["circles"][0].set_segments(marked)
    artists["arrows"][0].set_verts([_arrow(*line) for line in marked])
    names = used if len(used) <= len(artists["names"]) else []
    for label, vertex in zip(artists["names"], [*names, *[None] * len(artists["names"])]):
        label.set(
            text="" if vertex is None else str(vertex),
            position=(0, 0) if vertex is None else room[vertex],
        )


def _fitted(places, period):
    """`places` and `period` in the room of the picture: in the middle, as large as fits, or filling
    it where they wrap around.
    """
    points, room = np.array(list(places.values()), float), np.array([WIDE, HIGH])
    if period is not None:
        return dict(zip(places, (points + 0.5) * room / period)), room
    low, high = points.min(axis=0), points.max(axis=0)
    scale = np.min((room - 2 * MARGIN) / np.maximum(high - low, 1e-9))
    return dict(zip(places, room / 2 + (points - (low + high) / 2) * scale)), None


def _step(start, end, period):
    """From `start` to `end`, the short way where the picture wraps around."""
    step = np.subtract(end, start)
    return step if period is None else step - period * np.round(step / period)


def _spot(room, channel, period):
    a, b, lane = channel
    step = _step(room[a], room[b], period)
    length = np.hypot(*step)
    aside = np.array([step[1], -step[0]]) / length * (0.16 + 0.14 * lane)
    spot = room[a] + step * max(0.6, 1 - 0.35 / length) + aside
    return spot if period is None else spot % period


def _lines(start, end, period):
    """The line from `start` to `end`: one, or where the picture wraps around two, which its edges
    cut.
    """
    step = _step(start, end, period)
    if np.allclose(start + step, end):
        return [(start, end)]
    return [(start, start + step), (end - step, end)]


def _arrow(start, end):
    """A triangle in the middle of a line, inside the picture."""
    step = np.subtract(end, start)
    ahead = step / max(np.hypot(*step), 1e-9)
    aside, middle = np.array([-ahead[1], ahead[0]]), np.add(start, end) / 2
    return [
        middle + 0.12 * ahead,
        middle - 0.08 * ahead + 0.09 * aside,
        middle - 0.08 * ahead - 0.09 * aside,
    ]
