"""Figures of pairs: the map's cells, borders and outlines are the measurements and the verdict, in
view and in the clear.
"""

import numpy as np
import pytest
from drawn import LUMINANCE, assert_clear, linear

from fabriclab import topology
from fabriclab.course.engine import plot
from fabriclab.course.monitoring import heat_map as drawings
from fabriclab.logs.pairs import Pairs, Part, explain, measure, of_matrix
from fabriclab.units import GB

SMALL = topology.leaf_spine(4, 2, 4, 4)
SLOW = measure(SMALL, {Part("host", "host-06", way="in"): 0.5}, pairs=150)


def drawn(ax, network, slow, **more):
    measured = measure(network, slow, **more)
    return drawings.heat_map(ax, measured, network, explain(measured, network))


DRAWINGS = {
    "16 hosts": lambda ax: drawings.heat_map(ax, SLOW, SMALL, explain(SLOW, SMALL)),
    "16 hosts, no wiring": lambda ax: drawings.heat_map(ax, SLOW),
    "64 hosts": lambda ax: drawn(
        ax, topology.leaf_spine(8, 4, 8, 8), {Part("bundle", "leaf-3", "spine-2"): 0.5}
    ),
    "256 hosts": lambda ax: drawn(
        ax, topology.leaf_spine(16, 4, 16, 16), {Part("host", "host-100"): 0.7}
    ),
    "two hosts": lambda ax: drawings.heat_map(ax, Pairs(("a", "b"), [0], [1], [48 * GB])),
    "suspects": lambda ax: drawings.suspects(ax, explain(SLOW, SMALL)),
    "suspects, many": lambda ax: drawings.suspects(
        ax,
        explain(
            measure(SMALL, {Part("host", f"host-{at:02d}"): 0.5 for at in (1, 6, 7, 12)}), SMALL
        ),
    ),
    "no suspects": lambda ax: drawings.suspects(ax, explain(measure(SMALL), SMALL)),
}


@pytest.fixture
def fresh():
    return plot.new(7.2, 5.0)


@pytest.mark.parametrize("name", DRAWINGS)
def test_words_keep_clear_and_can_be_read_from_the_last_row(name, fresh):
    """A label lies on another or leaves the picture, or type is set below 11 points."""
    figure, axes = fresh
    DRAWINGS[name](axes)
    assert_clear(figure)


def test_cells_are_the_measurements_leaf_by_leaf(fresh):
    """A cell shows another pair's bandwidth, senders stand across, what was not measured has a
    colour, or leaves are mixed.
    """
    # joined rails: host n is on leaf n mod 2, so leaf by leaf is another order than by number
    network = topology.rail_optimised(4, 2, radix=8)
    measured = measure(network, {Part("host", "host-2", way="out"): 0.5}, noise=0)
    kept = np.arange(len(measured)) % 5 > 0
    measured = Pairs(
        measured.hosts, measured.source[kept], measured.target[kept], measured.bandwidth[kept]
    )
    artists = drawings.heat_map(fresh[1], measured, network)
    shown = artists["cells"][0].get_array()
    order = [0, 2, 4, 6, 1, 3, 5, 7]
    np.testing.assert_array_equal(
        np.ma.filled(shown, np.nan), measured.matrix[np.ix_(order, order)]
    )
    assert (
        np.nanmax(np.ma.filled(shown, np.nan)[4]) == 24 * GB and shown.mask.sum() == 64 - kept.sum()
    )
    np.testing.assert_array_equal(
        drawings.cells_of(measured, np.arange(len(measured)), np.array(order)), ~shown.mask
    )
    assert artists["cells"][0].cmap(np.nan)[3] == 0 and fresh[1].patch.get_hatch()
    assert {tuple(line[0]) for line in artists["leaves"][0].get_segments()} == {
        (3.5, -0.5),
        (-0.5, 3.5),
    }
    assert artists["cells"][0].get_clim() == (0, 50 * GB)


def test_bright_is_fast():
    """The map's brightness does not rise with bandwidth all the way, so a grey copy or a
    colour-blind reader sees other ranks.
    """
    shades = [drawings.MAP(at)[:3] for at in np.linspace(0, 1, 33)]
    bright = [
        float(LUMINANCE @ linear("#" + "".join(f"{round(255 * part):02X}" for part in shade)))
        for shade in shades
    ]
    assert all(a < b for a, b in zip(bright, bright[1:]))


def test_outlines_surround_what_the_verdict_speaks_of(fresh):
    """The outline is not the border of the verdict's cells: counted by hand, a lone column of 15
    cells that the diagonal parts.
    """
    measured = measure(SMALL, {Part("host", "host-06", way="in"): 0.5})
    artists = drawings.heat_map(fresh[1], measured, SMALL, explain(measured, SMALL))
    segments = artists["outline"][0].get_segments()
    # 15 cells, each with a left and a right edge, and the ends of two stretches
    assert len(segments) == 2 * 15 + 4
    assert {x for line in segments for x in np.asarray(line)[:, 0]} == {4.5, 5.5}
    drawings.move_heat_map(artists, measure(SMALL), SMALL, explain(measure(SMALL), SMALL))
    assert artists["outline"][0].get_segments() == []


def test_outline_by_hand():
    """An edge between a cell and its neighbour inside is drawn, or one to the outside is not."""
    cells = np.zeros((3, 3), bool)
    cells[1, 1:] = True
    found = {tuple(map(tuple, line)) for line in drawings.outline(cells)}
    across = {((x - 0.5, y), (x + 0.5, y)) for x in (1, 2) for y in (0.5, 1.5)}
    assert found == across | {((0.5, 0.5), (0.5, 1.5)), ((2.5, 0.5), (2.5, 1.5))}


def test_suspects_are_ranked_and_the_named_ones_stand_out(fresh):
    """A bar is not its suspect's gain, the culprit is not on top or not in colour, or a label gives
    other counts.
    """
    verdict = explain(SLOW, SMALL)
    artists = drawings.suspects(fresh[1], verdict)
    assert [bar.get_width() for bar in artists["bars"]] == [
        suspect.gain for suspect in verdict.suspects[:6]
    ]
    assert (
        artists["bars"][0].get_facecolor() != artists["bars"][-1].get_facecolor()
        or len(artists["bars"]) == 1
    )
    assert artists["labels"][0].get_text() == "host-06 receiving: 50%, 10 cells, 0 against"


def test_the_words_have_the_numbers():
    """A reader of the words gets other numbers than one of the picture."""
    assert (
        drawings.words(SLOW, explain(SLOW, SMALL))
        == "Heat map of 150 of 240 ordered pairs of 16 hosts: median 48 GB/s, least 23.5 GB/s."
        " host-06 receiving: 10 cold pairs at 50% of 48.05 GB/s."
    )
    dead = of_matrix(np.where(np.eye(4) > 0, np.nan, 0.0))
    assert "median 0 B/s" in drawings.words(dead, explain(dead))
