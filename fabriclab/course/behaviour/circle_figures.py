"""The circle among buffers: a network's one-way cables, the buffer at the end of each, and which
may wait for which.
"""

import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.lines import Line2D

from fabriclab.course.engine.plot import COLOURS, drawing

WIDE, HIGH, MARGIN = 7.2, 4.2, 0.5  # inches: the room that a network is laid out in
RIM, ASIDE, LANE = 0.3, 0.1, 0.12  # from a switch to its cables; right of the middle; to lane 1
NAMED = 8  # buffers of a circle that are named at most
_CLEAR = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 0.6}


@drawing
def dependencies(ax, graph, places, waiting=None, period=None):
    """The buffers of a `deadlock.Dependencies` and which may wait for which; one shortest circle of
    each component is marked, and the shortest of them named, buffer by buffer.

    `places` maps each vertex to (x, y), in any unit. Each channel is a line of its own on the
    right-hand side of its cable, from vertex to vertex, with its buffer as a dot at its end; a
    short line about the vertex joins it to the channels its packets may want next. `waiting` says
    which are full, as for `graph.verdict`. `period` is (width, height) of places that wrap around,
    as of a torus; lines then leave on one side and enter on the other, where the vertex they lead
    to is named. Returns the artists, lists by name.
    """
    ax.set(xlim=(0, WIDE), ylim=(0, HIGH), aspect="equal")
    ax.set_axis_off()

    def lines(colour, width, zorder):
        return [
            ax.add_collection(
                LineCollection([], colors=colour, linewidths=width, zorder=zorder, capstyle="round")
            )
        ]

    def texts(number, **style):
        return [
            ax.text(0, 0, "", ha="center", va="center", fontsize=11, **style) for _ in range(number)
        ]

    def dots(marker, size, **style):
        return ax.plot([], [], marker, markersize=size, **style)

    artists = {
        "channels": lines("#BBBBBB", 1.4, 1),
        "vertices": dots(
            "s", 17, color=COLOURS["pale"], markeredgecolor=COLOURS["muted"], zorder=2
        ),
        "waits": lines(COLOURS["first"], 0.9, 3),
        "circles": lines(COLOURS["bad"], 3, 4),
        "arrows": [
            ax.add_collection(
                PolyCollection([], facecolor=COLOURS["bad"], edgecolor="none", zorder=4)
            )
        ],
        "buffers": dots(
            "o", 6, color="white", markeredgecolor=COLOURS["first"], markeredgewidth=1.4, zorder=5
        ),
        "full": dots("o", 9, color=COLOURS["ink"], markeredgecolor=COLOURS["ink"], zorder=6),
        "names": texts(20, zorder=7),
        "beyond": texts(20, zorder=7, color=COLOURS["muted"], bbox=_CLEAR),
        "circle names": texts(NAMED, zorder=8, color=COLOURS["bad"], bbox=_CLEAR),
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
    ends = {channel: _ends(room, channel, period) for channel in graph.channels}
    used = sorted({vertex for a, b, _ in graph.channels for vertex in (a, b)}, key=str)
    artists["channels"][0].set_segments(
        [line for start, end, step in ends.values() for line in _lines(start, end, step)]
    )
    artists["vertices"][0].set_data(*zip(*(room[v] for v in used)) if used else ([], []))
    artists["buffers"][0].set_data(
        *zip(*(end for _, end, _ in ends.values())) if ends else ([], [])
    )
    full = [ends[channel][1] for channel in waiting or {}]
    artists["full"][0].set_data(*zip(*full) if full else ([], []))
    artists["waits"][0].set_segments(
        [(ends[a][1], ends[b][0]) for a, after in graph.follows.items() for b in after]
    )
    circles = graph.cycles()
    along = [line for circle in circles for channel in circle for line in _lines(*ends[channel])]
    about = [
        (ends[a][1], ends[b][0])
        for circle in circles
        for a, b in zip(circle, circle[1:] + circle[:1])
    ]
    artists["circles"][0].set_segments(along + about)
    artists["arrows"][0].set_verts([_arrow(*line) for line in along])
    _say(artists["names"], [(str(v), room[v]) for v in used])
    _say(artists["beyond"], _beyond(graph, room, period))
    shortest = min(circles, key=len, default=[])
    _say(artists["circle names"], [_named(channel, ends[channel]) for channel in shortest])


def _say(labels, words):
    """Put `words`, (text, place), into `labels`; into none where they are more."""
    words = words if len(words) <= len(labels) else []
    for label, (text, place) in zip(labels, [*words, *[("", (0, 0))] * len(labels)]):
        label.set(text=text, position=place)


def _fitted(places, period):
    """`places` and `period` in the room of the picture: in the middle, as large as fits."""
    points, room = np.array(list(places.values()), float), np.array([WIDE, HIGH])
    inside = room - 2 * MARGIN
    if period is not None:
        return dict(zip(places, MARGIN + (points + 0.5) * inside / period)), inside
    low, high = points.min(axis=0), points.max(axis=0)
    scale = np.min(inside / np.maximum(high - low, 1e-9))
    return dict(zip(places, room / 2 + (points - (low + high) / 2) * scale)), None


def _step(start, end, period):
    """From `start` to `end`, the short way where the picture wraps around."""
    step = np.subtract(end, start)
    return step if period is None else step - period * np.round(step / period)


def _ends(room, channel, period):
    """(where a channel leaves its vertex, where its buffer stands, the whole step)."""
    a, b, lane = channel
    step = _step(room[a], room[b], period)
    ahead = step / np.hypot(*step)
    aside = np.array([ahead[1], -ahead[0]]) * (ASIDE + LANE * lane)
    return room[a] + RIM * ahead + aside, room[b] - RIM * ahead + aside, step


def _lines(start, end, step):
    """The line of a channel: one, or where the picture wraps around two, which its edges cut."""
    ahead = step / np.hypot(*step)
    whole = step - 2 * RIM * ahead
    if np.allclose(start + whole, end):
        return [(start, end)]
    # half the way, and a little under the name of the vertex beyond
    reach = step / 2 + ahead * (0.25 - RIM)
    return [(start, start + reach), (end - reach, end)]


def _beyond(graph, room, period):
    """The vertices that lines over the edge lead to, by the edge they leave at: (text, place)."""
    found = {}
    for a, b, _ in graph.channels:
        step = _step(room[a], room[b], period)
        if period is not None and not np.allclose(room[a] + step, room[b]):
            ahead = step / np.hypot(*step)
            found[a, b] = (str(b), room[a] + step / 2 + 0.28 * ahead)
    return list(found.values())


def _named(channel, ends):
    """The buffer's name, beside the later half of its channel: (text, place)."""
    start, _, step = ends
    ahead = step / np.hypot(*step)
    aside = np.array([ahead[1], -ahead[0]])
    return f"{channel[0]}→{channel[1]}", start + 0.62 * step - RIM * ahead + 0.26 * aside


def _arrow(start, end):
    """A triangle in the middle of a line."""
    step = np.subtract(end, start)
    ahead = step / max(np.hypot(*step), 1e-9)
    aside, middle = np.array([-ahead[1], ahead[0]]), np.add(start, end) / 2
    return [
        middle + 0.13 * ahead,
        middle - 0.09 * ahead + 0.1 * aside,
        middle - 0.09 * ahead - 0.1 * aside,
    ]
