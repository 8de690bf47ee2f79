"""Figures of scale-up: headers, trees, peers, the campus and a port behind a host are the models'
numbers, in view and in the clear.
"""

import numpy as np
import pytest
from drawn import assert_clear

from fabriclab import scaleup
from fabriclab.course.engine import plot
from fabriclab.course.scaleup import figures as drawings
from fabriclab.units import GB, Gbps

TREE = scaleup.PcieTree(64, 144, 64 * GB)
PEERS = [("PCIe 5 mesh", 64, 64 * GB), ("NVL8", 8, 450 * GB), ("NVL72", 72, 900 * GB)]
DRAWINGS = {
    "efficiency": lambda ax: drawings.efficiency(ax, 64),
    "efficiency, packed": lambda ax: drawings.efficiency(ax, 4, 64, 16),
    "tree": lambda ax: drawings.tree(ax, TREE),
    "tree, tiny": lambda ax: drawings.tree(ax, scaleup.PcieTree(2, 48, 121 * GB)),
    "tree, too large for its axis": lambda ax: drawings.tree(
        ax, scaleup.PcieTree(10**6, 48, 0.5 * GB)
    ),
    "peers": lambda ax: drawings.peers(ax, PEERS),
    "campus": lambda ax: drawings.campus(ax, scaleup.pyramid()),
    "campus, all one way": lambda ax: drawings.campus(ax, scaleup.pyramid((1, 1, 1))),
    "host link": lambda ax: drawings.host_link(ax),
}


@pytest.fixture
def fresh():
    return plot.new(7.8, 4.0)


@pytest.mark.parametrize("name", DRAWINGS)
def test_words_keep_clear_and_can_be_read_from_the_last_row(name, fresh):
    """A label lies on another or leaves the picture, a legend hides a curve, or type is set below
    11 points.
    """
    figure, axes = fresh
    DRAWINGS[name](axes)
    assert_clear(figure)


def test_curves_are_payload_over_wire(fresh):
    """A curve is not P/(P + overhead) of its stack (from 46 B on), is named for another, or its dot
    is at another size.
    """
    artists = DRAWINGS["efficiency"](fresh[1])
    for line, dot, name, overhead in zip(
        artists["lines"],
        artists["dots"],
        ("ESUN", "IPv4", "IPv6", "RoCEv2"),
        (42, 58, 78, 82),
        strict=True,
    ):
        sizes, shares = line.get_data()
        long = sizes >= 46
        np.testing.assert_allclose(shares[long], (sizes / (sizes + overhead))[long])
        assert line.get_label() == name and [float(v[0]) for v in dot.get_data()] == [
            64,
            pytest.approx(64 / (64 + overhead)),
        ]
    drawings.move_efficiency(artists, 256, 4, 8)
    assert [float(v[0]) for v in artists["dots"][0].get_data()] == [
        256,
        pytest.approx(1024 / (42 + 4 * 264)),
    ]
    assert list(artists["size"][0].get_xdata()) == [256, 256]
    assert [text.get_text() for text in artists["legend"].get_texts()] == [
        "ESUN",
        "IPv4",
        "IPv6",
        "RoCEv2",
    ]


def test_bars_of_a_tree_are_its_shares(fresh):
    """A bar ends elsewhere than its share, or stands beside another's words: 1, 8, 9 and 64 GB/s,
    by hand (64 GPUs, 8 down).
    """
    artists = DRAWINGS["tree"](fresh[1])
    ends = [bar.get_x() + bar.get_width() for bar in artists["bars"]]
    assert ends == pytest.approx([1 * GB, 8 * GB, 64 * GB * 63 / 448, 64 * GB])
    assert [label.get_text() for label in artists["labels"]] == [
        "1 GB/s",
        "8 GB/s",
        "9 GB/s",
        "64 GB/s",
    ]
    assert [tick.get_text() for tick in fresh[1].get_yticklabels()] == [
        "to the host, all at once",
        "across the root",
        "to all others, evenly",
        "to a neighbour, or in a ring",
    ]
    assert [bar.get_y() + 0.3 for bar in artists["bars"]] == pytest.approx([0, 1, 2, 3]) and list(
        artists["link"][0].get_xdata()
    ) == [64 * GB] * 2


def test_peers_and_devices_side_by_side(fresh):
    """A device's bar is a peer's, or both directions: 64 and 1.02, 450 and 64.3, 900 and 12.7 GB/s
    one way (R310).
    """
    artists = DRAWINGS["peers"](fresh[1])
    assert [bar.get_height() / GB for bar in artists["device"]] == [64, 450, 900]
    assert [bar.get_height() / GB for bar in artists["peer"]] == pytest.approx(
        [64 / 63, 450 / 7, 900 / 71]
    )
    assert [label.get_text() for label in artists["labels"]] == [
        "64 GB/s",
        "1.02 GB/s",
        "450 GB/s",
        "64.3 GB/s",
        "900 GB/s",
        "12.7 GB/s",
    ]


def test_the_campus_as_stated_and_one_way(fresh):
    """A tier's width is not what it carries, is not centred, or one way is drawn where both are
    (E-B7).
    """
    artists = DRAWINGS["campus"](fresh[1])
    for name, exabits in (("stated", (14.4, 1.6, 0.16)), ("per direction", (7.2, 1.6, 0.16))):
        assert [8 * bar.get_width() / 1e18 for bar in artists[name]] == pytest.approx(exabits)
        assert [bar.get_x() + bar.get_width() / 2 for bar in artists[name]] == pytest.approx(
            [0, 0, 0], abs=1e3
        )
    assert [tick.get_text() for tick in fresh[1].get_yticklabels()] == [
        "scale-up",
        "scale-out",
        "scale-across",
    ]
    assert artists["labels"][0].get_text() == "14.4 Eb/s stated\n7.2 Eb/s one way".replace(
        "7.2 Eb/s", "7.2"
    )


def test_a_port_behind_a_host_is_the_slower_of_the_two(fresh):
    """A curve is not min(port, host), or a dot is not at 200, 400, 800 or 1,600 Gb/s; 57.6 GB/s by
    hand for PCIe 5 at 256 B.
    """
    artists = DRAWINGS["host link"](fresh[1])
    for line, dots, generation, host in zip(
        artists["lines"], artists["dots"], (4, 5, 6), (28.807, 57.614, 118 * 256 / 272), strict=True
    ):
        ports, rates = line.get_data()
        np.testing.assert_allclose(rates, np.minimum(ports, host * GB), rtol=1e-4)
        at, reached = dots.get_data()
        np.testing.assert_allclose(at, np.array([200, 400, 800, 1600]) * Gbps)
        np.testing.assert_allclose(reached, np.minimum(at, host * GB), rtol=1e-4)
        assert line.get_label() == f"PCIe {generation} x16"
