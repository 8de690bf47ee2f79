"""Drawings of level 3: every line is a bundle of the network, every count its own, nothing lies
over anything else.
"""

import numpy as np
import pytest
from drawn import assert_clear, collisions, words
from matplotlib.text import Text

from fabriclab import logs, topology
from fabriclab.course.engine import plot
from fabriclab.course.topology import figures as drawings
from fabriclab.course.topology.wiring import WORDS, layout
from fabriclab.course.topology.wiring.scene import cut_off
from fabriclab.units import GB, TB, ms

NETWORKS = {
    "one switch": lambda: topology.build(16, 64),
    "leaf-spine 16": lambda: topology.leaf_spine(4, 2, 4, 4, 8),
    "leaf-spine 128": lambda: topology.build(128, 16),
    "leaf-spine 1024": lambda: topology.build(1024, 64),
    "4:1": lambda: topology.leaf_spine(32, 8, 32, 8),
    "uneven": lambda: topology.build(1000, 64, 2, 8),
    "fat-tree 16": lambda: topology.fat_tree(4),
    "fat-tree 128": lambda: topology.fat_tree(8),
    "fat-tree 1024": lambda: topology.fat_tree(16),
    "fat-tree 4096": lambda: topology.fat_tree(64, 3, 4096),
    "fat-tree 65536": lambda: topology.fat_tree(64),
    "fat-tree k=2": lambda: topology.fat_tree(2),
    "rails 8": lambda: topology.rail_optimised(2, 4, 4),
    "rails 128": lambda: topology.rail_optimised(16),
    "rails 1024": lambda: topology.rail_optimised(128),
    "rails 4096": lambda: topology.rail_optimised(512),
    "separate rails 128": lambda: topology.rail_optimised(16, joined=False),
    "separate rails 1024": lambda: topology.rail_optimised(128, joined=False),
    "separate rails 4096, 16 ports": lambda: topology.rail_optimised(512, 8, 16, joined=False),
    "SuperPOD": lambda: topology.superpod_h100(4),
    "Meta": topology.meta_24k,
    "dragonfly 6": lambda: topology.dragonfly(1, 2, 1),
    "dragonfly 72": lambda: topology.dragonfly(2, 4, 2),
    "dragonfly 1056": lambda: topology.dragonfly(4, 8, 4),
    "dragonfly 5256": lambda: topology.dragonfly(6, 12, 6),
    "torus 16": lambda: topology.torus((2, 2, 4)),
    "torus 128": lambda: topology.torus((4, 4, 8)),
    "torus 1024": lambda: topology.torus((8, 8, 16)),
    "torus 4096": lambda: topology.torus((16, 16, 16)),
    "ring 40": lambda: topology.torus((40,)),
    "torus 4d": lambda: topology.torus((4, 4, 4, 4)),
}
LARGE = {"fat-tree 65536", "Meta"}
TREES = [
    name
    for name in NETWORKS
    if "torus" not in name and "ring" not in name and "dragonfly" not in name
]


def parts(network):
    """The kinds of part that can die, as `topology.failures` names them."""
    layers = [layer for layer, cables in network.cables.items() if cables]
    return (
        [f"{tier} switch" for tier in network.tiers]
        + ["host"] * network.direct
        + [f"{layer} cable" for layer in layers]
    )


CASES = [
    (name, lost) for name, make in NETWORKS.items() if name not in LARGE for lost in parts(make())
]
# what a loss adds to a drawing is a cross and a count: a few of each family tell
DRAWN = [(name, None) for name in NETWORKS] + [
    case
    for case in CASES
    if case[0] in ("fat-tree 16", "rails 1024", "dragonfly 1056", "torus 128")
]


def boxes(figure, artists):
    """The drawn boxes, in pixels, as (left, bottom, right, top)."""
    transform = artists["shapes"][0].get_transform()
    return [
        (*corners.min(axis=0), *corners.max(axis=0))
        for corners in (
            transform.transform(path.vertices) for path in artists["shapes"][0].get_paths()
        )
    ]


@pytest.mark.parametrize("name, lost", DRAWN)
def test_words_keep_clear_of_each_other_and_of_boxes(name, lost):
    """A count lies on another, leaves the picture, or runs into a switch; or two boxes overlap."""
    figure, axes = plot.new()
    artists = drawings.wiring(axes, NETWORKS[name](), lost)
    assert collisions(figure) == []
    assert (
        min(text.get_fontsize() for text in figure.findobj(Text) if text.get_text().strip()) >= 11
    )
    shapes = boxes(figure, artists)
    for word, box in words(figure):
        for left, bottom, right, top in shapes:
            inside = left <= box.x0 and box.x1 <= right and bottom <= box.y0 and box.y1 <= top
            apart = box.x1 <= left or right <= box.x0 or box.y1 <= bottom or top <= box.y0
            assert inside or apart, word
    lefts = np.array(shapes)
    overlap = (
        (lefts[:, None, 0] < lefts[None, :, 2] - 0.5)
        & (lefts[None, :, 0] < lefts[:, None, 2] - 0.5)
        & (lefts[:, None, 1] < lefts[None, :, 3] - 0.5)
        & (lefts[None, :, 1] < lefts[:, None, 3] - 0.5)
    )
    assert overlap.sum() == len(shapes)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_wiring_stays_a_drawing_at_any_size(name):
    """A large network is scribbled: more lines than an eye can follow, more words than there are
    artists for.
    """
    scene = layout(NETWORKS[name]())
    # a torus is a grid, which stays legible with more; a dragonfly has a mesh in each of its two
    # halves
    assert len(scene.lines) <= (600 if scene.planes else 160 if name == "dragonfly 5256" else 100)
    assert len(scene.words) < WORDS


@pytest.mark.parametrize("name", TREES)
def test_every_line_of_a_tree_joins_what_the_network_joins(name):
    """A line is drawn between two switches that no cable joins, or a cable between two that are
    drawn is missing.
    """
    network = NETWORKS[name]()
    scene = layout(network)
    bundles = [line.bundle for line in scene.lines]
    assert len(set(bundles)) == len(bundles)
    drawn = {}
    for line in scene.lines:
        a, b = int(network.a[line.bundle]), int(network.b[line.bundle])
        for vertex, (x, y) in ((a, line.points[0]), (b, line.points[1])):
            if vertex >= network.hosts:
                # a vertex has one place: its x, and y but for the top or bottom edge of its box
                assert drawn.setdefault(vertex, x) == x
                assert any(
                    corners[0][0] < x < corners[1][0]
                    and min(abs(y - corners[0][1]), abs(y - corners[2][1])) < 1e-9
                    for corners, _ in scene.shapes
                )
        if a >= network.hosts:
            assert line.cables == network.multiplicity[line.bundle]
    between = np.isin(network.a, list(drawn)) & np.isin(network.b, list(drawn))
    assert set(np.flatnonzero(between)) == {
        bundle for bundle in bundles if network.a[bundle] >= network.hosts
    }


@pytest.mark.parametrize("name", ["leaf-spine 16", "fat-tree 16", "rails 8"])
def test_a_small_tree_is_drawn_whole(name):
    """Figure 9's fat-tree of 4-port switches lacks a host, a switch or a cable."""
    network = NETWORKS[name]()
    scene = layout(network)
    assert sorted(line.bundle for line in scene.lines) == list(range(network.a.size))
    assert len(scene.shapes) == network.vertices


@pytest.mark.parametrize(
    "name", [name for name in NETWORKS if "torus" not in name and "ring" not in name]
)
def test_no_switch_that_is_drawn_hangs_in_the_air(name):
    """A switch is drawn whose every cable was left out: it looks unplugged."""
    network = NETWORKS[name]()
    scene = layout(network)
    joined = {
        int(v) for line in scene.lines for v in (network.a[line.bundle], network.b[line.bundle])
    }
    assert len([v for v in joined if v >= network.hosts]) >= sum(
        kind == "switch" for _, kind in scene.shapes
    ) - (network.position[:, 0].max() if "dragonfly" in name else 0)


def test_the_words_beside_a_tree_are_its_counts():
    """The tally on the left prints another number than the network has."""
    words = [text for *_, text, _, _ in layout(topology.leaf_spine(32, 8, 32, 8)).words]
    for expected in (
        "1,024 hosts",
        "32 leaf, 40/64 ports",
        "8 spine, 32/64 ports",
        "1,024 cables",
        "256 cables",
    ):
        assert expected in words
    words = [text for *_, text, _, _ in layout(topology.rail_optimised(128)).words]
    for expected in ("in 128 nodes", "16 spine, 64 ports", "1,024 cables, 2 a pair", "unit 3"):
        assert expected in words
    assert words.count("0") == words.count("7") == 4 and words.count("32") == 8


def test_pods_units_and_rails_are_told_apart():
    """A drawing groups leaves by something else than the wiring does, or calls the groups by a
    wrong name.
    """

    def names(network):
        return {
            text.split()[0]
            for *_, text, _, _ in layout(network).words
            if text.split()[0] in ("pod", "unit", "rail", "part")
        }

    assert names(topology.fat_tree(8)) == {"pod"} and names(topology.rail_optimised(128)) == {
        "unit"
    }
    assert (
        names(topology.rail_optimised(128, joined=False)) == {"rail"}
        and names(topology.build(1024, 64)) == set()
    )


@pytest.mark.parametrize("name, lost", CASES)
def test_what_is_lost_is_crossed_out_once_and_counts_what_it_cuts_off(name, lost):
    """The cross is missing, its cables look alive, or the number cut off is not what removing the
    part leaves behind.
    """
    network = NETWORKS[name]()
    scene = layout(network, lost)
    assert len(scene.crosses) == 1
    found = (
        next((f.hosts_lost for f in topology.failures(network) if f.part == lost), None)
        if network.hosts <= 128
        else None
    )
    told = [
        int(text.replace(" cut off", "").split(", ")[-1].replace(",", ""))
        for *_, text, _, _ in scene.words
        if "cut off" in text
    ]
    if found is not None:
        assert (told or [0]) == [found]
    (x, y), layers = scene.crosses[0], network.layers
    dead = [line for line in scene.lines if line.dead]
    if lost.endswith("cable"):
        there = [
            line
            for line in dead
            if layers[network.layer[line.bundle]] == lost.removesuffix(" cable")
        ]
        assert len(there) <= max(1, sum(told)) and all(
            network.a[line.bundle] < network.hosts for line in dead if line not in there
        )
        return
    at_the_cross = [
        line
        for line in scene.lines
        if any(abs(i - x) < 1e-9 and abs(j - y) < 0.22 for i, j in line.points)
    ]
    assert at_the_cross and all(line.dead for line in at_the_cross)
    # elsewhere only the cables of hosts that are cut off, the other end of a ring, and in the ring
    # of groups
    for line in dead:
        a, b = int(network.a[line.bundle]), int(network.b[line.bundle])
        assert (
            line in at_the_cross
            or network.direct
            or a < network.hosts
            or layers[network.layer[line.bundle]] == "global"
        ), (a, b)


def test_cut_off_agrees_with_the_failure_report():
    """The drawing and the report disagree on which hosts a dead part takes away; or on a tie both
    halves count as lost.
    """
    network = topology.leaf_spine(2, 1, 4, 4, 8)
    for vertex in range(network.hosts, network.vertices):
        broken = topology.without_vertex(network, vertex)
        assert cut_off(network, broken).sum() == topology.failure(network, broken).hosts_lost
    assert cut_off(network, topology.without_vertex(network, network.first("spine"))).sum() == 4


def test_a_part_that_a_network_has_not_is_named():
    """A slip in the name of a lost part draws an undamaged network."""
    with pytest.raises(
        ValueError,
        match=(
            "lost must be one of leaf switch, spine switch, host-leaf cable, leaf-spine cable, not"
            " 'core switch'"
        ),
    ):
        layout(topology.build(1024, 64), "core switch")


@pytest.mark.parametrize(
    "sides", [(2, 2, 4), (4, 4, 4), (8, 8, 16), (5, 3), (8,), (1, 6), (4, 4, 4, 4)]
)
def test_a_torus_draws_the_cables_of_its_front_plane(sides):
    """A cable of the plane is missing, a ring's last cable crosses the picture, or one host stands
    in another's place.
    """
    network = topology.torus(sides)
    scene = layout(network)
    long, high = sorted(sides)[-1], sorted(sides)[-2] if len(sides) > 1 else 1
    assert len(scene.shapes) == long * high
    assert len({tuple(corners[0]) for corners, _ in scene.shapes}) == long * high
    steps = (
        long * high * (2 if high > 1 else 1)
        - (high if long <= 2 else 0)
        - (long if high == 2 else 0)
    )
    wraps = (high if long > 2 else 0) + (long if high > 2 else 0)
    # each wrap is two stubs; and one line leads to the next plane
    deep = int(np.prod(sides)) > long * high
    assert len(scene.lines) == steps + wraps + deep
    centres = {tuple(np.round(np.mean(corners, axis=0), 9)) for corners, _ in scene.shapes}
    both = sum(
        all(tuple(np.round(point, 9)) in centres for point in line.points) for line in scene.lines
    )
    assert both == steps - wraps
    assert len(scene.planes) == (min(int(np.prod(sides)) // (long * high), 4) if deep else 0)


@pytest.mark.parametrize("size", [(1, 2, 1), (2, 4, 2), (4, 8, 4)])
def test_a_dragonfly_shows_all_local_cables_of_a_group_and_its_global_ones(size):
    """A router of the group lacks a line to another, or the ring lacks the cable to some group."""
    p, a, h = size
    network = topology.dragonfly(p, a, h)
    groups = a * h + 1
    scene = layout(network)
    layers = [network.layers[network.layer[line.bundle]] for line in scene.lines]
    assert layers.count("local") == a * (a - 1) // 2 and layers.count("host-router") == a
    assert layers.count("global") == (groups * (groups - 1) // 2 if groups <= 12 else groups - 1)
    assert sum(kind in ("switch", "here") for _, kind in scene.shapes) == a + groups


def test_a_fabric_read_from_a_log_can_be_drawn(tmp_path):
    """What `fabriclab read` makes of ibnetdiscover's output breaks the drawing,
    or loses a switch.
    """
    from tools import samples as made

    path = tmp_path / "fabric.txt"
    path.write_text(made.ibnetdiscover(topology.leaf_spine(4, 2, 8, 8, radix=40)))
    network = logs.read(path).topology()
    scene = layout(network)
    assert sum(kind == "switch" for _, kind in scene.shapes) == 6 and len(scene.lines) == 4 + 8


def test_moving_a_wiring_gives_what_a_new_drawing_gives():
    """An explorer's picture depends on what it showed before."""
    figure, axes = plot.new()
    artists = drawings.wiring(axes, topology.fat_tree(16), "core switch")
    for network, lost in (
        (topology.torus((4, 4, 8)), "z cable"),
        (topology.dragonfly(2, 4, 2), None),
        (topology.build(1024, 64), "leaf switch"),
    ):
        drawings.move_wiring(artists, network, lost)
        again, other = plot.new()
        drawings.wiring(other, network, lost)
        assert plot.png(figure) == plot.png(again)


# the charts

TREE, RAILS = topology.build(1024, 64), topology.rail_optimised(128)
FAILURES = {
    name: topology.failures(make())
    for name, make in (
        ("rails", lambda: RAILS),
        ("dragonfly", lambda: topology.dragonfly(2, 4, 2)),
        ("fat-tree", lambda: topology.fat_tree(8)),
    )
}
DERIVED = {
    "fat-tree": 25.6 * TB,
    "dragonfly, 1,056 hosts": 13.6 * TB,
    "torus 8x8x16": 6.4 * TB,
    "rails": (0, 25.6 * TB),
    "butterfly": None,
}
PRINTED = {
    "fat-tree": 25.6 * TB,
    "dragonfly, 1,056 hosts": 20 * TB,
    "torus 8x8x16": 8 * TB,
    "rails": 12.8 * TB,
    "butterfly": 6.4 * TB,
}
COSTS = (
    {"fat-tree": (5.09, 14.5), "torus": 3.0, "butterfly": None},
    {"fat-tree": 3.0, "torus": 1.5, "butterfly": 5.0},
)
ROWS = [
    ("AllReduce, ports", 3996.09375 * ms, "port"),
    ("AllReduce, sums in switches", 2.0, "switches"),
    ("AllReduce, cut at 1:1", 3.90625 * ms, "cut"),
    ("AllReduce, cut at 4:1", 15.625 * ms, "cut"),
    ("AllToAll, cut at 4:1", 4.004, "cut"),
    ("the text, 4:1", 8.0, "text"),
]
CURVES = {
    "fat-tree": [(64, 1.6 * TB), (1024, 25.6 * TB), (16384, 409.6 * TB)],
    "dragonfly": [(72, 1.0 * TB), (1056, 13.6 * TB)],
    "torus": [(64, 1.6 * TB), (1024, 6.4 * TB), (4096, 25.6 * TB)],
}
LENGTHS = {
    "leaf-spine": topology.paths(TREE),
    "fat-tree k=16": topology.paths(topology.fat_tree(16)),
    "dragonfly": topology.paths(topology.dragonfly(4, 8, 4)),
    "torus 8x8x16": topology.paths(topology.torus((8, 8, 16))),
}
CHARTS = {
    "families": lambda ax: drawings.families(ax, DERIVED, PRINTED),
    "families, cost": lambda ax: drawings.families(ax, *COSTS, "$"),
    "against hosts": lambda ax: drawings.against_hosts(ax, CURVES, "bisection", "B/s"),
    "against hosts, cost": lambda ax: drawings.against_hosts(
        ax, {"fat-tree": [(64, 4e4), (1024, 2e6)]}, "price", "$"
    ),
    "law": lambda ax: drawings.law(ax, printed={2: 0.15}),
    "bounds": lambda ax: drawings.bounds(ax, ROWS),
    "paths": lambda ax: drawings.paths(ax, LENGTHS),
    "failures, rails": lambda ax: drawings.failures(ax, FAILURES["rails"]),
    "failures, dragonfly": lambda ax: drawings.failures(ax, FAILURES["dragonfly"]),
    "failures, fat-tree": lambda ax: drawings.failures(ax, FAILURES["fat-tree"]),
    "rails 2 x 4": lambda ax: drawings.rails(ax, topology.rail_optimised(2, 4, 4)),
    "rails 4 x 8": lambda ax: drawings.rails(ax, topology.rail_optimised(4, 8, 8)),
    "rails apart": lambda ax: drawings.rails(ax, topology.rail_optimised(3, 4, 8, joined=False)),
}


@pytest.mark.parametrize("name", CHARTS)
def test_charts_are_legible(name):
    """Words run into each other or off the picture, a legend hides a curve, or type is too small
    for a projector.
    """
    figure, axes = plot.new(8.2 if "against" in name else 7.2, 4.6)
    CHARTS[name](axes)
    assert_clear(figure)


@pytest.fixture
def axes():
    return plot.new()[1]


def test_figure_10_cables_gpu_i_to_rail_switch_i(axes):
    """A GPU's line leads to another rail than its own, or the spine misses a rail."""
    network = topology.rail_optimised(2, 4, 4)
    artists = drawings.rails(axes, network)
    down, up = (collection.get_segments() for collection in artists["cables"])
    assert (
        len(down) == 8
        and len(up) == 8
        and len(artists["nodes"]) == 2
        and len(artists["boxes"]) == 8 + 4 + 2
    )
    numbers = {
        round(text.get_position()[0], 6): text.get_text()
        for text in artists["labels"]
        if text.get_text().isdigit() and text.get_position()[1] == 0.3
    }
    switches = {
        round(text.get_position()[0], 6): text.get_text()
        for text in artists["labels"]
        if text.get_text().isdigit() and text.get_position()[1] == 2.0
    }
    assert sorted(numbers.values()) == sorted("01230123") and sorted(switches.values()) == sorted(
        "0123"
    )
    for (x0, _), (x1, _) in down:
        assert numbers[round(x0, 6)] == switches[round(x1, 6)]


@pytest.mark.parametrize(
    "network",
    [
        topology.rail_optimised(128),
        topology.build(64, 8),
        topology.rail_optimised(5, 4, 16),
        topology.torus((4,)),
    ],
)
def test_figure_10_refuses_what_it_cannot_show(axes, network):
    """A network without rails, or too large for every GPU to be drawn, gives a wrong picture
    instead of a reason.
    """
    with pytest.raises(ValueError, match="network must be rails of 1 to 4 nodes"):
        drawings.rails(axes, network)


def test_figure_11_bars_are_the_wirings_and_diamonds_the_texts(axes):
    """A bar is not as long as the derived value, a range does not float, a diamond is off the
    text's value, or bits are not 8x.
    """
    artists = drawings.families(axes, DERIVED, PRINTED)
    assert [(bar.get_x(), bar.get_width()) for bar in artists["derived"]] == [
        (0, 25.6 * TB),
        (0, 13.6 * TB),
        (0, 6.4 * TB),
        (0, 25.6 * TB),
    ]
    assert [mark.get_xdata()[0] for mark in artists["printed"]] == list(PRINTED.values())
    assert [text.get_text() for text in artists["labels"]][
        1
    ] == "dragonfly, 1,056 hosts: 13.6 TB/s; text 20 TB/s"
    assert [text.get_text() for text in artists["labels"]][
        4
    ] == "butterfly: no wiring given; text 6.4 TB/s"
    low, high = axes.get_xlim()
    axes.figure.canvas.draw()
    np.testing.assert_allclose(artists["bits"].get_xlim(), (8 * low, 8 * high))
    # 25.6 TB/s are 204.8 Tb/s
    assert [text.get_text() for text in artists["bits"].get_xticklabels()][-1] == "200 Tb/s"
    costs = drawings.families(plot.new()[1], *COSTS, "$")
    assert [(round(bar.get_x(), 2), round(bar.get_width(), 2)) for bar in costs["derived"]] == [
        (5.09, 9.41),
        (0, 3.0),
    ]


def test_the_law_is_drawn_as_it_is_and_its_points_lose_what_the_text_says(axes):
    """A curve is not 1/((1-f) + f r), or a dot is not at 23.1, 47.4 and 67.7 % lost."""
    artists = drawings.law(axes, printed={2: 0.15})
    for share, line in zip((0.1, 0.3, 0.5), artists["curves"], strict=True):
        ratio = np.asarray(line.get_xdata())
        np.testing.assert_allclose(line.get_ydata(), 1 / (1 - share + share * ratio), rtol=1e-12)
    assert [point.get_ydata()[0] for point in artists["points"]] == pytest.approx(
        [1 / 1.3, 1 / 1.9, 1 / 3.1]
    )
    assert [text.get_text() for text in artists["labels"]][3:] == [
        "−23.1%",
        "−47.4%",
        "−67.7%",
        "printed: −15%",
    ]
    assert (artists["printed"][0].get_xdata()[0], artists["printed"][0].get_ydata()[0]) == (2, 0.85)


def test_bounds_end_where_the_times_are(axes):
    """A bar ends before or after its bound, or says another number."""
    artists = drawings.bounds(axes, ROWS)
    assert [bar.get_x() + bar.get_width() for bar in artists["bars"]] == pytest.approx(
        [seconds for _, seconds, _ in ROWS]
    )
    assert [text.get_text() for text in artists["labels"]] == [
        "3.996 s",
        "2 s",
        "3.906 ms",
        "15.62 ms",
        "4.004 s",
        "8 s",
    ]
    low, high = axes.get_xlim()
    assert low < 3.9 * ms and high > 8.0 and all(bar.get_x() < low for bar in artists["bars"])
    drawings.move_bounds(
        artists, [(label, seconds / 2, kind) for label, seconds, kind in ROWS], decide=[0]
    )
    assert artists["bars"][0].get_x() + artists["bars"][0].get_width() == pytest.approx(
        1998.046875 * ms
    )
    assert (
        artists["labels"][0].get_text() == "1.998 s, decides"
        and artists["labels"][1].get_text() == "1 s"
    )


def test_curves_against_hosts_pass_through_their_points(axes):
    """A family's points are left out, out of order, or out of view."""
    artists = drawings.against_hosts(
        axes,
        {"torus": list(reversed(CURVES["torus"])), "fat-tree": CURVES["fat-tree"]},
        "bisection",
        "B/s",
    )
    np.testing.assert_allclose(np.array(artists["curves"][0].get_data()).T, CURVES["torus"])
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    assert left < 64 and right > 16384 and bottom < 1.6 * TB and top > 409.6 * TB
    assert axes.get_xscale() == axes.get_yscale() == "log"


def test_path_strips_are_the_shares_of_pairs(axes):
    """A bar stands over another number of switches than the paths cross, or the mean is marked
    elsewhere.
    """
    artists = drawings.paths(axes, {"fat-tree k=4": topology.paths(topology.fat_tree(4))})
    # of 15 other hosts: 1 on the leaf, 2 in the pod, 12 beyond
    heights = {
        round(bar.get_x() + bar.get_width() / 2): bar.get_height() for bar in artists["bars"][0]
    }
    assert heights == pytest.approx({1: 0.6 / 12, 3: 0.6 * 2 / 12, 5: 0.6})
    assert artists["means"][0].get_xdata()[0] == pytest.approx((1 + 3 * 2 + 5 * 12) / 15)
    assert artists["labels"][0].get_text() == "fat-tree k=4: worst 5, mean 4.47"


def test_failure_bars_are_what_is_left(axes):
    """A bar is not the share of the bisection left, or the words count other hosts than were
    lost.
    """
    artists = drawings.failures(axes, FAILURES["rails"])
    assert [bar.get_width() for bar in artists["left"]] == pytest.approx(
        [24 / 25.6, 24 / 25.6, 25.55 / 25.6, 25.55 / 25.6]
    )
    assert [text.get_text() for text in artists["labels"]] == [
        "leaf switch: 32 hosts lost, 93.75% left",
        "spine switch: no host lost, 93.75% left",
        "host-leaf cable: 1 host lost, 99.8% left",
        "leaf-spine cable: no host lost, 99.8% left",
    ]
    dragonfly = drawings.failures(plot.new()[1], FAILURES["dragonfly"])
    assert (
        dragonfly["labels"][0].get_text()
        == "router switch: 2 hosts lost, 90% left, paths up to 2 links longer"
    )


def test_numbers_of_the_chapter_in_the_bounds():
    """The rows of this file's own example are not what the models give, so that a chart of them
    would teach a wrong number.
    """
    assert topology.allreduce_port_bound(100 * GB, 1024, 50 * GB) == pytest.approx(ROWS[0][1])
    assert topology.allreduce_cut_bound(100 * GB, topology.bisection(TREE)) == pytest.approx(
        ROWS[2][1]
    )
