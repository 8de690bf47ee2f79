"""Figures of the opening: bars, steps and ratios stand where hand-computed numbers say, on one
base, and in view.
"""

from dataclasses import replace

import numpy as np
import pytest
from drawn import assert_clear
from hypothesis import given
from hypothesis import strategies as st

from fabriclab import catalog
from fabriclab.collectives import Step
from fabriclab.course.engine import plot
from fabriclab.course.opening import figures as drawings
from fabriclab.units import GB, Gbps, ms

LEVELS = [
    ("1  Wire and link", "PAM4, FEC, link budgets, media, SerDes power", "fabriclab.link"),
    ("2  Transport", "RDMA, the alpha-beta model, collectives", "fabriclab.transport"),
    ("3  Switches and topology", "fat-trees, rails, bisection", "fabriclab.topology"),
    ("4  Fabric behaviour", "incast, PFC, DCQCN, HPCC", "fabriclab.congestion"),
    ("5  Cluster design", "stragglers, power, money", "fabriclab.cluster"),
]
PATTERNS = {
    "global reduction": ["bisection bandwidth", "slowest path"],
    "pipeline point-to-point": ["start-up time", "switches on the path"],
    "expert AllToAll": ["path utilisation", "egress queue", "slowest path"],
    "checkpoint and tenants": ["bandwidth per class", "pause time"],
}
IN_TEXT = [replace(gpu, port=gpu.port_in_text) for gpu in catalog.ACCELERATORS]
FIGURE_4 = {
    "8 GPUs, NVLink": Step(0.1, 0.1, 1 * ms),
    "64 GPUs, InfiniBand": Step(0.1, 0.1, 30 * ms),
}
FOUR = FIGURE_4 | {
    "all of backward overlaps": Step(0.1, 0.1, 130 * ms, 1.0),
    "half of it": Step(0.1, 0.1, 242.8 * ms, 0.5),
}
DRAWINGS = {
    "levels": lambda ax: drawings.levels(ax, LEVELS),
    "history": lambda ax: drawings.history(ax, catalog.LINK_RATES),
    "hierarchy": lambda ax: drawings.hierarchy(ax, catalog.ACCELERATORS),
    "hierarchy, both directions": lambda ax: drawings.hierarchy(ax, IN_TEXT, "both directions"),
    "timeline": lambda ax: drawings.timeline(ax, FIGURE_4),
    "timeline of four": lambda ax: drawings.timeline(ax, FOUR),
    "traffic": lambda ax: drawings.traffic(ax, PATTERNS),
}


@pytest.fixture
def fresh():
    return plot.new()


@pytest.mark.parametrize("name", DRAWINGS)
def test_words_keep_clear_and_can_be_read_from_the_last_row(name):
    """A label lies on another or leaves the picture, a legend hides a curve, or type is set below
    11 points.
    """
    figure, axes = plot.new(8.2 if name == "traffic" else 7.2, 4.2)
    DRAWINGS[name](axes)
    assert_clear(figure)


def test_levels_stand_on_one_another_from_the_ground_up(fresh):
    """The wire is drawn above the cluster, or a level's words stand in another level's box."""
    artists = drawings.levels(fresh[1], LEVELS)
    bottoms = [box.get_y() for box in artists["boxes"]]
    assert bottoms == sorted(bottoms) and len(bottoms) == 5
    for row, box in enumerate(artists["boxes"]):
        words = artists["labels"][3 * row : 3 * row + 3]
        assert tuple(label.get_text() for label in words) == LEVELS[row]
        assert all(
            box.get_y() < label.get_position()[1] < box.get_y() + box.get_height()
            for label in words
        )


def test_history_is_one_direction_and_climbs_by_the_public_rates(fresh):
    """A family's line shows both directions, another year, or falls when a slower standard comes
    out.
    """
    lines = {
        line.get_label(): dict(zip(*line.get_data()))
        for line in drawings.history(fresh[1], catalog.LINK_RATES)["rates"]
    }
    # GB/s one way: half of NVLink's 160, 300, 600, 900 and 1,800; IEEE and IBTA line rates over 8
    assert lines["NVLink"] == pytest.approx(
        {
            2016: 80 * GB,
            2017: 150 * GB,
            2020: 300 * GB,
            2022: 450 * GB,
            2024: 900 * GB,
            2025: 900 * GB,
        }
    )
    assert lines["Ethernet"] == pytest.approx(
        {2002: 1.25 * GB, 2010: 12.5 * GB, 2017: 50 * GB, 2024: 100 * GB, 2025: 100 * GB}
    )
    assert lines["InfiniBand"][2014] == 12.5 * GB and lines["InfiniBand"][2022] == 50 * GB
    for line in lines.values():
        assert list(line.values()) == sorted(line.values())
    low, high = fresh[1].get_ylim()
    assert (
        fresh[1].get_yscale() == "log"
        and low < min(map(min, map(dict.values, lines.values())))
        and high > 900 * GB
    )


def test_a_slower_standard_that_comes_later_is_no_step(fresh):
    """25GbE, of 2016, takes Ethernet's line down from the 100GbE of 2010; or of two standards in a
    year the slower one stays.
    """
    slower = catalog.LinkRate("Ethernet", "25GbE", 2016, 25 * Gbps, "IEEE 802.3by")
    (line,) = drawings.history(
        fresh[1], [slower, *(rate for rate in catalog.LINK_RATES if rate.family == "Ethernet")]
    )["rates"]
    assert (
        list(line.get_xdata()) == [2002, 2010, 2017, 2024, 2025]
        and line.get_ydata()[1] == 12.5 * GB
    )


def test_hierarchy_never_mixes_one_direction_with_two(fresh):
    """On a base some links count double and others do not, so that the cliff of 9 becomes 18; or
    the axis does not say which base.
    """
    one = drawings.hierarchy(fresh[1], catalog.ACCELERATORS)
    two_axes = plot.new()[1]
    two = drawings.hierarchy(two_axes, catalog.ACCELERATORS, "both directions")
    heights = [
        [[bar.get_height() for bar in kind] for kind in artists["bars"]] for artists in (one, two)
    ]
    hbm, nvlink, pcie, port = (np.array(kind) / GB for kind in heights[0])
    np.testing.assert_allclose(hbm, [900, 2039, 3350, 8000])
    np.testing.assert_allclose(nvlink, [150, 300, 450, 900])
    np.testing.assert_allclose(pcie, [15.754, 31.508, 63.015, 63.015], rtol=1e-4)
    np.testing.assert_allclose(port, [12.5, 25, 50, 50])
    np.testing.assert_allclose(heights[1][0], heights[0][0])
    np.testing.assert_allclose(heights[1][1:], 2 * np.array(heights[0][1:]))
    assert fresh[1].get_ylabel().endswith("per direction") and two_axes.get_ylabel().endswith(
        "both directions"
    )
    # the ratio is the same on either base
    for artists in (one, two):
        assert [label.get_text() for label in artists["labels"]] == ["12x", "12x", "9x", "18x"]
    for arrow, top, foot in zip(one["ratios"], nvlink, port):
        assert (arrow.xyann[1] / GB, arrow.xy[1] / GB) == pytest.approx((top, foot))


def test_hierarchy_of_the_texts_ports_has_the_texts_ratios(fresh):
    """With the ports of the chapter's figure 3 the ratios are not 6, 12, 9 and 9."""
    assert [label.get_text() for label in drawings.hierarchy(fresh[1], IN_TEXT)["labels"]] == [
        "6x",
        "12x",
        "9x",
        "9x",
    ]


@pytest.mark.parametrize("basis", ["bidirectional", "", None])
def test_a_base_that_is_none_is_refused(fresh, basis):
    """A slip in the base draws numbers on no base at all."""
    with pytest.raises(ValueError, match="basis must be one of per direction, both directions"):
        drawings.hierarchy(fresh[1], catalog.ACCELERATORS, basis)


def spans(artists, phase):
    return [
        (pytest.approx(bar.get_x()), pytest.approx(bar.get_x() + bar.get_width()))
        for bar in artists[phase]
    ]


def test_figure_4_is_drawn_to_scale(fresh):
    """A bar of figure 4 is not as long as its phase, the wait does not fill the rest of the step,
    or the utilisation is another.
    """
    artists = drawings.timeline(fresh[1], FIGURE_4)
    assert spans(artists, "forward") == [(0, 0.1), (0, 0.1)]
    assert spans(artists, "backward") == [(0.1, 0.2), (0.1, 0.2)]
    assert spans(artists, "idle") == [(0.2, 0.201), (0.2, 0.230)]
    assert spans(artists, "AllReduce") == [(0.2, 0.201), (0.2, 0.230)]
    assert [name.get_text() for name in artists["names"]] == [
        "8 GPUs, NVLink: 99.5% busy, 1 ms idle",
        "64 GPUs, InfiniBand: 87.0% busy, 30 ms idle",
    ]
    assert fresh[1].get_xlim() == (0, 0.25)
    # the first scenario stands on top
    assert artists["forward"][0].get_y() > artists["forward"][1].get_y()


def test_overlap_starts_the_allreduce_inside_the_backward_pass(fresh):
    """Communication that overlaps is drawn after the backward pass, or the wait is not what sticks
    out of it.
    """
    artists = drawings.timeline(fresh[1], FOUR)
    # 130 ms from the start of the backward pass: 30 stick out; 242.8 ms from its middle: 192.8 do
    assert spans(artists, "AllReduce")[2:] == [(0.1, 0.23), (0.15, 0.3928)]
    assert spans(artists, "idle")[2:] == [(0.2, 0.23), (0.2, 0.3928)]
    drawings.move_timeline(artists, dict(zip("abcd", [Step(0.1, 0.1, 0.05, 1.0)] * 4)))
    assert (
        spans(artists, "idle") == [(0.2, 0.2)] * 4
        and artists["names"][0].get_text() == "a: 100.0% busy"
    )


@given(st.floats(1e-6, 100), st.floats(0, 1000), st.floats(0, 1))
def test_a_step_of_any_length_is_in_view_and_uses_the_width(compute, communication, overlap):
    """A bar runs off the end of the time axis, or all bars crowd into a corner of it."""
    axes = plot.new()[1]
    artists = drawings.timeline(axes, {"a step": Step(compute, compute, communication, overlap)})
    end = max(
        stop
        for phase in ("forward", "backward", "idle", "AllReduce")
        for bar in artists[phase]
        for stop in [bar.get_x() + bar.get_width()]
    )
    assert 0.55 * axes.get_xlim()[1] < end <= axes.get_xlim()[1]


def test_traffic_marks_what_each_pattern_stresses_and_nothing_else(fresh):
    """A dot stands at a measure that the pattern does not lean on."""
    artists, axes = drawings.traffic(fresh[1], PATTERNS), fresh[1]
    measures = [label.get_text() for label in axes.get_yticklabels()]
    columns = [label.get_text().replace("\n", " ") for label in axes.get_xticklabels()]
    dots = {(columns[int(x)], measures[int(y)]) for x, y in zip(*artists["stressed"][0].get_data())}
    assert dots == {
        (pattern, measure) for pattern, stressed in PATTERNS.items() for measure in stressed
    }
