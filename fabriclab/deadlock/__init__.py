"""Deadlock: which buffers wait for which, whether the waiting closes a circle, and what it costs to
break one.

A lossless packet holds the buffer at the end of one channel until there is room at the end of the
next. A *channel* is ``(from, to, lane)``: one direction of a cable, and the virtual lane (a buffer
of its own) a packet uses on it. A *route* is a tuple of channels, each beginning where the one
before ended; `route` makes one from a list of vertices. Each pair of neighbours on a route is a
dependency: the first channel's buffer may wait for the second's.

No circle of dependencies: no deadlock, whatever the load. A circle makes deadlock **possible**, and
only that; it is
**certain** once every buffer of a circle is full and waits for the next. The chapter's equation 1
has the circle alone and says "if and only if": that holds of routes (without a circle no load locks
them, with one some load does), not of a moment. Vertices are anything hashable; those of
`fabriclab.topology` are numbers.

Sources: Dally and Seitz 1987; Guo et al. 2016, Hu et al. 2016 and 2017 (Tagger) for PFC; chapter,
Definition 1.8, equation 1.
"""

from fabriclab.deadlock.circles import MOST_LINKS, MOST_ROUTES, Dependencies, dependencies, route
from fabriclab.deadlock.recovery import Recovery, watchdog
from fabriclab.deadlock.routes import (
    grid_routes,
    loop_limit,
    ring_routes,
    shortest_routes,
    valley_routes,
)

__all__ = [
    name
    for name in dir()
    if not name.startswith("_") and name not in ("circles", "recovery", "routes")
]
