"""Figures: what is drawn is what the model says, nothing runs into anything else, and colours can
be told apart.
"""

import base64
import itertools
import subprocess
import sys

import nbconvert
import nbformat
import numpy as np
import pytest
from drawn import behind_legend, collisions, contrast, linear
from matplotlib.text import Text

from fabriclab import catalog, collectives, transport
from fabriclab.course.engine import plot
from fabriclab.course.transport import figures as drawings
from fabriclab.units import GB, KB, MB, TB, ms, us

TCP_AND_RDMA = [
    (
        "Kernel TCP",
        ["application", "socket buffer", "TCP/IP, driver", "NIC"],
        "2 to 3 copies",
        10 * us,
        20 * us,
    ),
    ("RDMA", ["application", "queue pair", "NIC"], "no copies", 1 * us, 3 * us),
]
ALGORITHMS = {
    "ring": collectives.ring_allreduce,
    "tree": collectives.tree_allreduce,
    "pipelined tree": collectives.pipelined_tree_allreduce,
    "recursive doubling": collectives.recursive_doubling_allreduce,
    "Rabenseifner": collectives.rabenseifner_allreduce,
}
SIZES = np.geomspace(1 * KB, 1 * TB, 91)


def allreduce(ax, shown=tuple(ALGORITHMS)):
    times = {name: ALGORITHMS[name](SIZES, 1024, 1.5 * us, 50 * GB) for name in shown}
    at = {name: ALGORITHMS[name](6 * GB, 1024, 1.5 * us, 50 * GB) for name in shown}
    return drawings.allreduce(ax, list(ALGORITHMS), SIZES, times, 6 * GB, at, 101.1 * ms)


def bench(ax, unit):
    sizes = 2.0 ** np.arange(3, 31)
    times = 50 * us + sizes / (40 * GB)
    values = times if unit == "s" else 1.875 * sizes / times
    return drawings.measured(ax, sizes, values * 1.05, values, unit)


DRAWINGS = {
    "alpha_beta": lambda ax: drawings.alpha_beta(ax, [catalog.NDR, catalog.ROCE_100G], 4 * KB),
    "alpha_beta, 350 MB": lambda ax: drawings.alpha_beta(
        ax, [catalog.NDR, catalog.ROCE_100G], 350 * MB
    ),
    "alpha_beta, one path": lambda ax: drawings.alpha_beta(ax, [catalog.NVLINK4]),
    "shares": lambda ax: drawings.shares(ax, catalog.NDR),
    "allreduce": allreduce,
    "gpudirect": lambda ax: drawings.gpudirect(ax, 350 * GB, transport.staging_traffic(350 * GB)),
    "stacks": lambda ax: drawings.stacks(ax, TCP_AND_RDMA),
    "recovery": lambda ax: drawings.recovery(
        ax,
        1 * GB,
        900 * MB,
        {"Go-back-N": (900 * MB, 100 * MB), "Selective repeat": (900 * MB, 4096)},
        50 * GB,
    ),
    "measured times": lambda ax: bench(ax, "s"),
    "measured busbw": lambda ax: bench(ax, "B/s"),
}


@pytest.fixture
def fresh():
    return plot.new()


@pytest.mark.parametrize("name", DRAWINGS)
def test_words_and_curves_keep_clear_of_each_other(name):
    """A label lies on another label, leaves the picture, or a legend hides a curve."""
    figure, axes = plot.new(
        8.2 if name == "allreduce" else 7.2, 4.2 if name == "allreduce" else 4.0
    )
    DRAWINGS[name](axes)
    assert collisions(figure) == []
    assert behind_legend(figure) == []


@pytest.mark.parametrize("name", DRAWINGS)
def test_type_is_large_enough_for_a_projector(name):
    """A text is set below 11 points on a picture some 7 inches wide: the last row of a lecture hall
    cannot read it.
    """
    figure, axes = plot.new()
    DRAWINGS[name](axes)
    figure.canvas.draw()
    assert (
        min(text.get_fontsize() for text in figure.findobj(Text) if text.get_text().strip()) >= 11
    )


def test_curves_are_the_model_and_diamonds_stand_at_twice_alpha(fresh):
    """Figure 8 shows another curve than alpha + n/beta, or marks n* anywhere but at (alpha beta, 2
    alpha).
    """
    artists = drawings.alpha_beta(fresh[1], [catalog.NDR, catalog.ROCE_100G], 4 * KB)
    for path, line, diamond, dot, label, star in zip(
        (catalog.NDR, catalog.ROCE_100G),
        artists["times"],
        artists["crossovers"],
        artists["messages"],
        artists["labels"],
        ("75 KB", "62.5 KB"),
    ):
        sizes = np.asarray(line.get_xdata())
        np.testing.assert_allclose(line.get_ydata(), path.alpha + sizes / path.beta, rtol=1e-12)
        assert sizes[0] == 1 and sizes[-1] == pytest.approx(10 * GB)
        assert (diamond.get_xdata()[0], diamond.get_ydata()[0]) == pytest.approx(
            (path.alpha * path.beta, 2 * path.alpha)
        )
        assert (dot.get_xdata()[0], dot.get_ydata()[0]) == pytest.approx(
            (4 * KB, path.alpha + 4 * KB / path.beta)
        )
        assert label.get_text() == f"n* = {star}" and label.xy == pytest.approx(
            (path.alpha * path.beta, 2 * path.alpha)
        )


def test_no_curve_runs_through_a_crossovers_label(fresh):
    """The number beside a diamond is struck through by a curve, so that a reader in the last row
    cannot tell it.
    """
    figure, axes = fresh
    artists = drawings.alpha_beta(axes, [catalog.NDR, catalog.ROCE_100G], 350 * MB)
    figure.canvas.draw()
    for label in artists["labels"]:
        box = Text.get_window_extent(label)
        for line in artists["times"]:
            assert not any(
                box.contains(*point) for point in line.get_transform().transform(line.get_xydata())
            )


def test_the_ring_stands_where_two_paths_take_equal_time(fresh):
    """The break-even marker is off the crossing of the curves,
    or is shown where they never cross.
    """
    late_and_wide, soon_and_narrow = (
        catalog.Path("wide", 5 * us, 50 * GB, ""),
        catalog.Path("narrow", 1 * us, 10 * GB, ""),
    )
    artists = drawings.alpha_beta(fresh[1], [late_and_wide, soon_and_narrow])
    # 5 us + n/50 GB/s = 1 us + n/10 GB/s where n (1/10 - 1/50) = 4000 B: n = 50 KB, T = 6 us
    assert (
        artists["equal"][0].get_xdata()[0],
        artists["equal"][0].get_ydata()[0],
    ) == pytest.approx((50 * KB, 6 * us))
    drawings.move_alpha_beta(artists, [catalog.NDR, catalog.ROCE_100G])
    assert len(artists["equal"][0].get_xdata()) == 0


def test_shares_add_up_and_meet_at_the_crossover(fresh):
    """The share drawn is not alpha over the whole, or the diamond is not on the curve at one
    half.
    """
    artists = drawings.shares(fresh[1], catalog.NDR)
    sizes, share = artists["share"][0].get_data()
    np.testing.assert_allclose(share, 1.5 * us / (1.5 * us + sizes / (50 * GB)), rtol=1e-12)
    assert artists["crossover"][0].get_xdata()[0] == pytest.approx(75 * KB)


def test_allreduce_draws_each_algorithm_and_shades_what_the_fastest_leaves_exposed(fresh):
    """A curve is not its algorithm's, or the shaded area and the bar do not reach from the compute
    phase to the fastest.
    """
    artists = allreduce(fresh[1])
    ring = 2 * 1023 / 1024 * SIZES / (50 * GB) + 2 * 1023 * 1.5 * us
    np.testing.assert_allclose(artists["times"][0].get_ydata(), ring, rtol=1e-12)
    fastest = np.min([line.get_ydata() for line in artists["times"]], axis=0)
    outline = artists["exposed"][0].get_paths()[0].vertices
    assert outline[:, 1].min() == pytest.approx(101.1 * ms) and outline[
        :, 1
    ].max() == pytest.approx(fastest.max())
    rabenseifner = 2 * 10 * 1.5 * us + 2 * 1023 / 1024 * 6 * GB / (50 * GB)
    assert list(artists["bar"][0].get_ydata()) == pytest.approx([101.1 * ms, rabenseifner])
    assert artists["fastest"][0].get_ydata()[0] == pytest.approx(rabenseifner)


def test_allreduce_hides_what_is_not_asked_for(fresh):
    """An algorithm left out stays on the picture, or still counts as the fastest."""
    artists = allreduce(fresh[1], shown=("ring", "tree"))
    assert [line.get_visible() for line in artists["times"]] == [True, True, False, False, False]
    assert artists["fastest"][0].get_ydata()[0] == pytest.approx(242.835 * ms, rel=1e-5)


def test_staging_is_labelled_with_the_bytes_each_copy_moves(fresh):
    """Figure 6 prints another number than the payload on each copy and twice that in all."""
    labels = [
        text.get_text()
        for text in drawings.gpudirect(fresh[1], 350 * GB, transport.staging_traffic(350 * GB))[
            "labels"
        ]
    ]
    assert (
        "write\n350 GB" in labels
        and "read\n350 GB" in labels
        and "host-memory traffic: 700 GB" in labels
        and "host-memory traffic: 0 B" in labels
    )


def test_latency_bars_span_the_ranges_given(fresh):
    """Figure 7's bars start or end elsewhere than at the latencies passed in."""
    bars = drawings.stacks(fresh[1], TCP_AND_RDMA)["ranges"]
    ends = sorted((bar.get_x(), bar.get_x() + bar.get_width()) for bar in bars)
    np.testing.assert_allclose(ends, [(1, 3), (10, 20)])


def test_recovery_bars_are_as_long_as_what_is_sent_again(fresh):
    """The tail drawn is not the bytes sent again, or its wire time is not those bytes over the
    bandwidth.
    """
    artists = DRAWINGS["recovery"](fresh[1])
    assert [(bar.get_x(), bar.get_width()) for bar in artists["tails"]] == [
        (900 * MB, 4096),
        (900 * MB, 100 * MB),
    ]
    assert [text.get_text() for text in artists["labels"]][
        1
    ] == "Go-back-N: 100 MB again, 2 ms of wire time"


@pytest.mark.parametrize("unit", ["s", "B/s"])
def test_measured_points_lie_in_view_beside_their_model(fresh, unit):
    """A point or the line is cut off by the axes, or a size of zero bytes breaks the logarithmic
    axis.
    """
    axes = fresh[1]
    values = np.array([3e-6, 4e-6, 9e-5, 2e-2]) if unit == "s" else np.array([0, 1e3, 1e8, 2e10])
    artists = drawings.measured(axes, [0, 8, 1e6, 1e9], values, values * 1.1, unit)
    assert list(artists["measured"][0].get_ydata()) == list(values[1:])
    assert axes.get_ylim()[0] <= values[1:].min() and axes.get_ylim()[1] >= 1.1 * values.max()


def test_a_picture_is_a_png_with_words_and_the_same_bytes_each_time():
    """A cell's output changes from run to run, or a screen reader finds nothing to say."""

    def bundle():
        figure, axes = plot.new()
        DRAWINGS["alpha_beta"](axes)
        return plot.Picture(figure, "Two curves,\n    n* = 75 KB and 62.5 KB.")._repr_mimebundle_()

    (data, metadata), again = bundle(), bundle()
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert (
        data["text/plain"] == metadata["image/png"]["alt"] == "Two curves, n* = 75 KB and 62.5 KB."
    )
    assert 'alt="Two curves, n* = 75 KB and 62.5 KB."' in data["text/html"]
    assert (data, metadata) == again


def test_the_words_of_a_picture_reach_the_page():
    """A rendered page says "No description has been provided" where its picture was described."""
    figure, axes = plot.new()
    DRAWINGS["alpha_beta"](axes)
    data, metadata = plot.Picture(figure, "Two curves, n* = 75 KB & 62.5 KB.")._repr_mimebundle_()
    output = nbformat.v4.new_output("execute_result", data, metadata=metadata)
    cell = nbformat.v4.new_code_cell("picture", outputs=[output])
    page, _ = nbconvert.HTMLExporter().from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    assert 'alt="Two curves, n* = 75 KB &amp; 62.5 KB."' in page
    assert "No description has been provided" not in page


@pytest.mark.parametrize("alt", ["", "  \n", None, 3])
def test_a_picture_without_words_is_refused(fresh, alt):
    """A figure reaches a notebook without a description."""
    with pytest.raises(ValueError, match="alt must be a description"):
        plot.Picture(fresh[0], alt)


def test_curves_stand_out_from_the_page():
    """A curve falls under 3:1 against white, or a text colour under 4.5:1 (WCAG 2.2, 1.4.11 and
    1.4.3).
    """
    assert min(contrast(plot.COLOURS[role]) for role, _ in plot.SERIES) >= 3
    assert min(contrast(plot.COLOURS[role]) for role in ("ink", "muted", "first")) >= 4.5


# Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB: no red cones, no green cones.
BLINDNESS = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
}


@pytest.mark.parametrize("eyes", BLINDNESS)
def test_curves_can_be_told_apart_by_colour_blind_readers(eyes):
    """Two curves of one picture look alike without red or green cones (distance under 10 in CIE
    Lab), or share a dash.
    """
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )

    def lab(colour):
        xyz = (
            to_xyz
            @ np.clip(np.array(BLINDNESS[eyes]) @ linear(colour), 0, 1)
            / [0.9505, 1.0, 1.089]
        )
        x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
        return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])

    seen = [lab(plot.COLOURS[role]) for role, _ in plot.SERIES]
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) >= 10
    assert len({str(dash) for _, dash in plot.SERIES}) == len(plot.SERIES)


def test_no_part_of_figures_or_explore_brings_in_pyplot():
    """pyplot keeps every figure alive: a notebook that makes a hundred would hold them all."""
    code = (
        "import sys, fabriclab.course.transport.figures, fabriclab.course.transport.explorers as t;"
        " t.crossover(); t.allreduce(); sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0
