"""Drawings for level 4: queues, stragglers, congestion control, hashing, fleets that fail. Floor 5.

As in `fabriclab.figures.transport`, what an explorer brings to life is drawn by the same `move_...` that moves it. What
waits for what, pauses over a network and dependencies among buffers, has a module of its own.
"""

from fabriclab.figures import drawing
from fabriclab.figures.waiting import dependencies, pauses  # noqa: F401
from fabriclab.units import day


@drawing
def queue(ax, trace, levels, packets=None):
    """Figure 12: the bytes in a queue against time, as a fluid (`congestion.Trace`) and packet by packet, in log-log.

    `levels` maps a name to bytes, drawn as lines: the buffer, PFC's Xoff and Xon, ECN's Kmin and Kmax. What the buffer named
    "buffer" could not hold is shaded. `packets` is (seconds, bytes), as in ``run.times, run.queues[port]``.
    """


@drawing
def stragglers(ax, distribution, most=100_000, steps=200):
    """How long the slowest of N workers takes against N, one worker's time being drawn from `distribution` (scipy.stats, frozen).

    Curves: the mean step, its p99; a line at one worker's own mean; dots simulate `steps` steps each.
    """


@drawing
def control(ax, capacity, runs, fixed=None):
    """Congestion control against time, the schemes over each other: above each flow's rate, below the queue. Log time.

    `runs` maps a name to (seconds, rates in bytes/s with a column per flow, queue in bytes): a `congestion.Trajectory` or
    `Rounds`; `capacity` is the port's, in bytes/s; `fixed` a queue to mark, such as DCQCN's fixed point. Splits `ax` in two.
    """


@drawing
def loads(ax, counts, odds):
    """Flows on each path of one draw (`counts`), and beside it the exact odds of the fullest path.

    `odds[k]` is P(fullest = k), as `congestion.fullest_path` gives it. Both stand on one scale, multiples of the most even split.
    """


@drawing
def at_least_one(ax, rates, units=24_576, period=day):
    """Chance that at least one of a fleet fails within `period` seconds against the fleet's size.

    `rates` maps a name to failures per second of one part, such as ``{"1e-5 a day": rate_from_ppm(10)}``; dots stand at `units`.
    """


@drawing
def checkpoints(ax, cost, mtbf, restart=0.0, interval=None):
    """Share of the time wasted against the work between checkpoints, all in seconds; Young's optimum is marked, and `interval`."""
