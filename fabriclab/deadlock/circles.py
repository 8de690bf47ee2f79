"""Routes, what waits for what on them, and whether the waiting closes a circle."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from fabriclab.checks import each, instance

MOST_ROUTES = 250_000
MOST_LINKS = 500_000  # of all routes that one call makes together


def route(vertices: Sequence[int], lane: int | Sequence[int] = 0) -> tuple[tuple, ...]:
    """The channels along a list of vertices, all on one lane, or each on its own where `lane` is a
    list.

    >>> route([0, 1, 2])
    ((0, 1, 0), (1, 2, 0))
    """
    vertices = list(each("vertices", vertices))
    lanes = (
        [lane] * (len(vertices) - 1)
        if isinstance(lane, int)
        else list(each("lane", lane, "one lane, or a list of one for each step"))
    )
    if len(vertices) < 2 or len(lanes) != len(vertices) - 1:
        raise ValueError(
            "vertices must be two or more, with one lane for each step between them, not"
            f" {len(vertices)} with {len(lanes)} lanes"
        )
    return tuple(zip(vertices, vertices[1:], lanes))


@dataclass(frozen=True)
class Dependencies:
    """Who waits for whom: `follows` maps each channel to the channels its packets may want next.

    Other words: cycle of buffers, channel dependency graph, credit loop, circular wait.
    """

    follows: dict

    @property
    def channels(self):
        """All channels that some route uses."""
        return list(self.follows)

    @property
    def count(self):
        """Number of dependencies."""
        return sum(len(after) for after in self.follows.values())

    def components(self):
        """Lists of channels that wait for each other in circles: the strongly connected components
        of more than one channel.
        """
        if not self.count:
            return []
        number_of = {channel: i for i, channel in enumerate(self.follows)}
        ends = np.array(
            [(number_of[a], number_of[b]) for a, after in self.follows.items() for b in after]
        ).T
        graph = coo_array((np.ones(ends.shape[1]), tuple(ends)), shape=(len(number_of),) * 2)
        _, label = connected_components(graph, connection="strong")
        groups = {}
        for channel, group in zip(self.follows, label.tolist()):
            groups.setdefault(group, []).append(channel)
        return [group for group in groups.values() if len(group) > 1]

    def cycles(self):
        """One shortest circle of each component, as a list of channels in the order they wait.

        An empty list: no deadlock, ever.
        """
        return [self._shortest(group) for group in self.components()]

    def _shortest(self, group):
        best, inside = None, set(group)
        for start in group:
            before, line = {start: None}, deque([start])
            while line:
                channel = line.popleft()
                if start in self.follows[channel]:
                    circle = [channel]
                    while before[circle[-1]] is not None:
                        circle.append(before[circle[-1]])
                    if best is None or len(circle) < len(best):
                        best = circle[::-1]
                    break
                for after in self.follows[channel]:
                    if after in inside and after not in before:
                        before[after] = channel
                        line.append(after)
        return best

    def verdict(self, waiting=None):
        """ "none", "possible" or "certain".

        `waiting` says what is known of the load: it maps each *full* buffer's channel to the
        channel that the packet at its head waits for (buffers are first in, first out). "certain"
        where these close a circle; a full buffer whose head is bound for a host or for a buffer
        with room will drain, and is left out. Raises ValueError for a wait that no route has.

        >>> from fabriclab.deadlock import ring_routes
        >>> dependencies(ring_routes(4, 2)).verdict()
        'possible'
        """
        waiting = {} if waiting is None else waiting
        instance("waiting", waiting, dict, "{(0, 1): (1, 2)}")
        for full, wanted in waiting.items():
            if wanted not in self.follows.get(full, ()):
                raise ValueError(
                    f"waiting must hold dependencies of the routes: no packet in {full!r} wants"
                    f" {wanted!r}"
                )
        for start in waiting:
            at, seen = start, set()
            while at in waiting and at not in seen:
                seen.add(at)
                at = waiting[at]
            if at in seen:
                return "certain"
        return "possible" if self.components() else "none"


def dependencies(routes: Iterable) -> Dependencies:
    """The `Dependencies` of a list of routes.

    Raises ValueError for a route whose channels do not join or lead back to where they start.

    Other words: cycle of buffer dependencies, channel dependency graph, credit loop.

    >>> from fabriclab.deadlock import ring_routes
    >>> ring = dependencies(ring_routes(4, 2))
    >>> ring.verdict(), ring.cycles()
    ('possible', [[(0, 1, 0), (1, 2, 0), (2, 3, 0), (3, 0, 0)]])
    >>> circle = ring.cycles()[0]
    >>> ring.verdict(dict(zip(circle, circle[1:] + circle[:1])))
    'certain'
    """
    follows = {}
    for channels in each("routes", routes):
        before = None
        for channel in each("routes", channels, "a list of routes, as `route` makes them"):
            if not isinstance(channel, tuple) or len(channel) != 3 or channel[0] == channel[1]:
                raise ValueError(
                    "routes must hold channels (from, to, lane) between two vertices, not"
                    f" {channel!r}"
                )
            follows.setdefault(channel, {})
            if before is not None:
                if before[1] != channel[0]:
                    raise ValueError(
                        f"routes must be joined: {before!r} ends at {before[1]!r}, where"
                        f" {channel!r} does not begin"
                    )
                follows[before][channel] = None
            before = channel
    return Dependencies({channel: tuple(after) for channel, after in follows.items()})
