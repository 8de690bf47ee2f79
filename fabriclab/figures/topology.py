"""Drawings for level 3: rails, families compared, bounds on collectives, the oversubscription law, paths, failures. Floor 5.

The wiring of a network, whatever its family, is drawn by `wiring`, which has a module of its own.
"""

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.patches import Rectangle

from fabriclab import topology
from fabriclab.figures import COLOURS, SERIES, drawing, log_axis
from fabriclab.figures.wiring import move_wiring, wiring  # noqa: F401
from fabriclab.units import Gbps, si

_CLEAR = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1}
# what a bound comes from: colour and hatch, so that neither is needed alone
KINDS = {"port": ("first", ""), "cut": ("second", "//"), "switches": ("third", ".."), "text": ("muted", "xx")}


@drawing
def rails(ax, network):
    """Figure 10: GPU i of every node on rail switch i, and the spine that joins the rails, of a small `rail_optimised`.

    Draws every node, GPU and cable: at most 4 nodes, 8 rails and 8 spines. Raises ValueError for more, or for no rails.
    """


@drawing
def families(ax, derived, printed, unit="B/s"):
    """Figure 11: what each family has, from its wiring, beside what the text prints (a diamond).

    `derived` maps a name to a value, to (low, high), or to None where no wiring is given; `printed` to the text's value.
    `unit` "B/s", which gets a second scale in bits, or dollars per Gb/s: "$".
    """


@drawing
def against_hosts(ax, curves, label, unit):
    """A quantity against the number of hosts, log-log: `curves` maps a family to its (hosts, value) pairs."""


@drawing
def law(ax, shares=(0.1, 0.3, 0.5), marked=0.3, ratios=(2, 4, 8), printed=None):
    """Throughput ``1/((1-f) + f r)`` against oversubscription r, one curve for each share f of a step.

    Dots on the curve of share `marked` at `ratios` say what is lost there; `printed` maps a ratio to another loss, crossed.
    """


@drawing
def bounds(ax, rows):
    """Lower bounds on the time of a collective as bars, log scale: `rows` are (label, seconds, kind), kind one of `KINDS`."""


@drawing
def paths(ax, lengths):
    """How many switches the shortest paths cross: a strip for each name in `lengths`, which maps to its `topology.Paths`."""


@drawing
def failures(ax, found):
    """What is left of the bisection when one part of each kind dies, with hosts lost and detours: `found` are `topology.Failure`s."""
