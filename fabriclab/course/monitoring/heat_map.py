"""Drawings of all-pairs bandwidth: the heat map with what explains its cold cells outlined, and the
suspects ranked.
"""

import numpy as np
from matplotlib import colormaps
from matplotlib.collections import LineCollection

from fabriclab.course.engine.plot import COLOURS, drawing
from fabriclab.logs.pairs import wiring
from fabriclab.units import GB, si

MAP = colormaps["cividis"].with_extremes(
    bad=(0, 0, 0, 0)
)  # made for colour-blind readers; bright is fast
_MOST_NAMES = 12
_ROWS = 6


def order(pairs, where=None):
    """The hosts leaf by leaf: (indices into ``pairs.hosts``, where one leaf ends and the next
    begins, the leaves' names).
    """
    hosts = np.arange(len(pairs.hosts))
    if where is None:
        return hosts, np.zeros(0, int), ()
    where = wiring(where)
    leaf = where.leaf[[where.hosts.index(host) for host in pairs.hosts]]
    hosts = np.argsort(leaf, kind="stable")
    ends = np.flatnonzero(np.diff(leaf[hosts])) + 1
    return hosts, ends, tuple(where.leaves[at] for at in leaf[hosts][np.append(0, ends)])


def cells_of(pairs, indices, hosts):
    """Which cells of the map, hosts in the order `hosts`, the measurements `indices` stand in: a
    boolean matrix.
    """
    place = np.argsort(hosts)
    cells = np.zeros((hosts.size,) * 2, bool)
    cells[place[pairs.source[indices]], place[pairs.target[indices]]] = True
    return cells


def outline(cells):
    """The edges between the True cells of a matrix and the rest, as segments in the map's
    coordinates.
    """
    wide = np.pad(cells, 1)
    row, column = np.nonzero(wide[1:] != wide[:-1])
    level = [[(x - 1.5, y - 0.5), (x - 0.5, y - 0.5)] for y, x in zip(row, column)]
    row, column = np.nonzero(wide[:, 1:] != wide[:, :-1])
    return level + [[(x - 0.5, y - 1.5), (x - 0.5, y - 0.5)] for y, x in zip(row, column)]


@drawing
def heat_map(ax, pairs, where=None, verdict=None, rate=None):
    """`telemetry.pairs.Pairs` as a map: senders down, receivers across, hosts leaf by leaf where
    the wiring `where` is given.

    Bright is fast; the scale ends at `rate` bytes/s, the line rate, so that the same speed keeps
    its colour, or at a round number above all that was measured. What is not measured is hatched;
    the cells that `verdict` (of `explain`) speaks of are outlined. Returns the artists, lists by
    name.
    """
    size = len(pairs.hosts)
    ax.set(
        xlim=(-0.5, size - 0.5),
        ylim=(size - 0.5, -0.5),
        aspect="equal",
        xlabel="receiver",
        ylabel="sender",
    )
    ax.patch.set(facecolor=COLOURS["pale"], hatch="////", edgecolor="#B5B5B5")
    for side in ("top", "right", "left", "bottom"):
        ax.spines[side].set_visible(False)
    image = ax.imshow(
        np.full((size, size), np.nan), cmap=MAP, interpolation="nearest", aspect="equal"
    )
    artists = {
        "cells": [image],
        "leaves": [
            ax.add_collection(
                LineCollection([], colors="white", linewidths=1.6 if size <= 64 else 0.6),
                autolim=False,
            )
        ],
        "outline": [
            ax.add_collection(
                LineCollection([], colors=COLOURS["bad"], linewidths=2.0 if size <= 64 else 0.7),
                autolim=False,
            )
        ],
    }
    hosts, ends, leaves = order(pairs, where)
    artists["leaves"][0].set_segments(
        [
            line
            for at in ends
            for line in (
                [(at - 0.5, -0.5), (at - 0.5, size - 0.5)],
                [(-0.5, at - 0.5), (size - 0.5, at - 0.5)],
            )
        ]
    )
    starts = np.append(0, ends)
    middles = (starts + np.append(ends, size) - 1) / 2
    names = leaves or [pairs.hosts[at] for at in hosts]
    places = middles if leaves else np.arange(size)
    for axis, most in ((ax.xaxis, 4), (ax.yaxis, _MOST_NAMES)):
        every = -(-len(names) // most)
        axis.set_ticks(places[::every], names[::every])
        axis.set_tick_params(length=0)
    scale = ax.figure.colorbar(
        image, ax=ax, label="bandwidth", shrink=0.9, format=lambda value, _: si(value, "B/s", 3)
    )
    scale.outline.set_visible(False)
    artists["scale"] = [scale]
    move_heat_map(artists, pairs, where, verdict, rate)
    return artists


def move_heat_map(artists, pairs, where=None, verdict=None, rate=None):
    """Set the artists of `heat_map` to other measurements of as many hosts on the same leaves."""
    hosts, _, _ = order(pairs, where)
    matrix = pairs.matrix[np.ix_(hosts, hosts)]
    image, (scale,) = artists["cells"][0], artists["scale"]
    image.set_data(np.ma.masked_invalid(matrix))
    image.set_clim(0.0, scale_end(matrix) if rate is None else rate)
    scale.update_normal(image)
    spoken = (
        np.concatenate([finding.cold for finding in verdict.findings])
        if verdict is not None and verdict.findings
        else np.zeros(0, int)
    )
    artists["outline"][0].set_segments(outline(cells_of(pairs, spoken, hosts)))


def scale_end(matrix):
    """A round number above all bandwidths of `matrix`, in steps of 10 GB/s."""
    most = float(np.nanmax(matrix))
    return float(np.ceil(most / (10 * GB)) * 10 * GB) if most > 5 * GB else most or 1.0


@drawing
def suspects(ax, verdict):
    """The suspects of a `Verdict`, each alone, ranked by how much better it explains the cells than
    nothing being wrong.

    Bars that the evidence does not part from the best are in one colour, the rest grey. Returns the
    artists, lists by name.
    """
    shown = verdict.suspects[:_ROWS]
    gains = [suspect.gain for suspect in shown]
    named = {part for finding in verdict.findings for part in finding.parts}
    colours = [COLOURS["bad"] if named & set(suspect.parts) else "#B5B5B5" for suspect in shown]
    rows = np.arange(len(shown))
    longest = max([*gains, 1.0])
    ax.set(
        xlim=(0, 1.02 * longest),
        ylim=(max(len(shown), 1) - 0.3, -0.75),
        yticks=[],
        xlabel="evidence beyond nothing being wrong, 2 ln(likelihood ratio)",
    )
    ax.spines["left"].set_visible(False)
    artists = {
        "bars": list(ax.barh(rows + 0.15, gains, height=0.4, color=colours)) if shown else [],
        "labels": [
            ax.text(0.005 * longest, row - 0.1, label(suspect), va="bottom", fontsize=11)
            for row, suspect in zip(rows, shown)
        ],
    }
    return artists


def label(suspect):
    """A suspect in one short line: who, at what share of the rate, in how many cells."""
    first = str(suspect.parts[0])
    others = f" or {len(suspect.parts) - 1} more" if len(suspect.parts) > 1 else ""
    return (
        f"{first}{others}: {suspect.fraction:.0%}, {suspect.cells:,} cells, {suspect.against:,}"
        " against"
    )


def words(pairs, verdict):
    """The map in words and numbers, for a `Picture`."""
    measured = pairs.bandwidth
    return (
        f"Heat map of {pairs!r}: median {si(float(np.median(measured)), 'B/s')}, least"
        f" {si(float(measured.min()), 'B/s')}. {' '.join(line + '.' for line in verdict.lines)}"
    )
