"""What a wiring drawing is made of, as plain data, and what a lost part does to a network."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from fabriclab import topology

WIDTH, HEIGHT = 10.0, 6.0  # of the drawing, in its own units
LEFT = 3.0  # where the words end and the wiring begins


class Line(NamedTuple):
    """A bundle of `cables`, number `bundle` in the network, between two points; `dead` when it
    carries nothing any more.
    """

    points: list
    bundle: int
    cables: int
    dead: bool


@dataclass
class Scene:
    """What to draw: `planes` (corners), `shapes` (corners, kind), `lines`, `words` (x, y, text,
    alignment, colour), `crosses` (x, y).
    """

    planes: list = field(default_factory=list)
    shapes: list = field(default_factory=list)
    lines: list = field(default_factory=list)
    words: list = field(default_factory=list)
    crosses: list = field(default_factory=list)

    def box(self, x, y, width, height, kind):
        self.shapes.append(
            (rectangle(x - width / 2, y - height / 2, x + width / 2, y + height / 2), kind)
        )

    def line(self, start, end, bundle, cables=1, dead=False, crossed=False):
        # of several cables together one is gone, and the others still carry
        self.lines.append(
            Line([start, end], int(bundle), int(cables), bool(dead or crossed and cables == 1))
        )
        if crossed:
            self.crosses.append(tuple(np.mean([start, end], axis=0)))

    def word(self, x, y, text, ha="center", colour="ink"):
        self.words.append((x, y, text, ha, colour))


def rectangle(left, bottom, right, top):
    return [(left, bottom), (right, bottom), (right, top), (left, top)]


def homes(network):
    """(the switch of each host, the bundle that leads there), -1 for a host that has none."""
    up = np.flatnonzero(network.a < network.hosts)
    home, stem = np.full((2, network.hosts), -1)
    home[network.a[up]], stem[network.a[up]] = network.b[up], up
    return home, stem


def take_out(network, lost, shown):
    """(dead vertex, bundle that lost a cable, which hosts are cut off), for one part of kind `lost`
    among the vertices `shown`.
    """
    if lost is None:
        return None, None, np.zeros(network.hosts, bool)
    if lost.endswith(" cable"):
        drawn = np.isin(network.b, shown) & (
            (network.a < network.hosts) | np.isin(network.a, shown)
        )
        bundle = int(
            np.flatnonzero(
                drawn & (network.layer == network.layers.index(lost.removesuffix(" cable")))
            )[0]
        )
        return None, bundle, cut_off(network, topology.without_cable(network, bundle))
    first = network.first(lost.removesuffix(" switch"))
    some = [v for v in shown if first <= v < first + network.switches[lost.removesuffix(" switch")]]
    dead = some[int(network.ports()[some].argmax())]
    return dead, None, cut_off(network, topology.without_vertex(network, dead))


def cut_off(network, broken):
    """Which hosts of `network` can reach no more than a rest in `broken`: a boolean for each.

    >>> network = topology.leaf_spine(4, 2, 8, 8)
    >>> int(cut_off(network, topology.without_vertex(network, network.first("leaf"))).sum())
    8
    """
    before, after = (
        connected_components(each.graph(), directed=False)[1][: each.hosts]
        for each in (network, broken)
    )
    size, whole = np.bincount(after)[after], np.bincount(before)[before]
    # the largest rest of what was joined is where the network goes on; of equal ones, one
    rank = size * (after.max() + 1) - after
    best = np.full(before.max() + 1, rank.min())
    np.maximum.at(best, before, rank)
    return (rank < best[before]) | ((size == 1) & (whole > 1))
