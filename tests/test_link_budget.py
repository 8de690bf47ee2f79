"""Level 1, budgets: decibels against a network simulator and transmission-line physics, bills and
shares against counting.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabriclab import catalog, link
from fabriclab.units import Gbps, kW, ns, pJ


def test_budget_against_a_cascade_of_attenuators():
    """Decibels would not add as attenuators do: scikit-rf cascades 18 dB of cable and two
    connectors of 1 dB to S21 = -20 dB.
    """
    import skrf

    line = skrf.media.DefinedGammaZ0(skrf.Frequency(1, 1, 1, unit="GHz"), z0=50)
    chain = line.attenuator(-1) ** line.attenuator(-18) ** line.attenuator(-1)
    through = 20 * math.log10(abs(chain.s[0, 1, 0]))
    assert link.link_margin(30, 3, 6, 2) == pytest.approx(30 + through) == pytest.approx(10)


def test_loss_against_skin_depth_and_loss_tangent():
    """The frequency law would not be that of a line: surface resistance from skin depth, and loss
    tangent, scaled to 6 dB/m.
    """

    def physics(lane_rate):
        f = link.symbol_rate(lane_rate) / 2
        skin_depth = math.sqrt(1.68e-8 / (math.pi * f * 4e-7 * math.pi))
        dielectric = math.pi * f * math.sqrt(1.5) * 5e-4 / 299_792_458 * 8.686
        return 1 / skin_depth, dielectric

    r0, d0 = physics(50 * Gbps)
    conductor = (6.0 - d0) / r0
    for rate in (25, 50, 100, 200):
        r, d = physics(rate * Gbps)
        assert link.loss_per_metre(rate * Gbps) == pytest.approx(conductor * r + d, rel=5e-3)


def test_loss_at_100G_is_the_quiz_range():
    """The default share would scale 18 dB in 3 m to something outside the 25 to 28 dB that an older
    quiz gives 100G lanes.
    """
    assert 25 <= 3 * link.loss_per_metre(100 * Gbps) <= 28
    assert 3 * link.loss_per_metre(100 * Gbps, dielectric_share=0) == pytest.approx(
        18 * math.sqrt(2)
    )
    assert 3 * link.loss_per_metre(100 * Gbps, dielectric_share=1) == pytest.approx(36)
    assert link.loss_per_metre(50 * Gbps, link.NRZ) == pytest.approx(
        link.loss_per_metre(100 * Gbps, link.PAM4)
    )


def test_the_quiz_has_metres_to_spare():
    """28 dB left for cable would not reach 3.0 to 3.4 m at 25 to 28 dB in 3 m (E-14)."""
    assert link.longest_cable(30, np.array([25, 28]) / 3, 2) == pytest.approx([3.36, 3.0])


@given(st.floats(0, 60), st.floats(0.1, 30), st.integers(0, 6), st.floats(0, 5))
def test_longest_cable_leaves_its_margin(budget, per_metre, connectors, margin):
    """The longest cable would leave another margin than asked for, or be reported where not even
    the connectors fit.
    """
    metres = link.longest_cable(budget, per_metre, connectors, 1.0, margin)
    left = link.link_margin(budget, metres, per_metre, connectors)
    if metres > 0:
        assert left == pytest.approx(margin, abs=1e-9)
    else:
        assert left <= margin + 1e-9


@given(st.floats(1, 400), st.floats(1.01, 4), st.floats(0, 1))
def test_faster_lanes_lose_more(rate, factor, share):
    """A faster lane would lose less, or more than in proportion to its frequency."""
    slow, fast = (
        link.loss_per_metre(r * Gbps, dielectric_share=share) for r in (rate, rate * factor)
    )
    assert slow * math.sqrt(factor) * (1 - 1e-9) <= fast <= slow * factor * (1 + 1e-9)


def test_delay():
    """Fibre would not add 150 ns in 30 m and 500 ns in 100 m; copper 4.5 ns a metre (NVIDIA MCP1650
    specification).
    """
    assert link.propagation_delay(np.array([30, 100])) / ns == pytest.approx([150, 500])
    assert link.propagation_delay(2, catalog.COPPER_VELOCITY) / ns == pytest.approx(9.0)


def test_media_by_distance():
    """A medium would be offered beyond its reach, or the cheap one not first."""
    assert [[m.name for m in link.media_for(d)] for d in (3, 3.1, 31, 101)] == [
        ["DAC", "AOC", "pluggable optics"],
        ["AOC", "pluggable optics"],
        ["pluggable optics"],
        [],
    ]
    with pytest.raises(ValueError, match="metres"):
        link.media_for(-1)
    with pytest.raises(ValueError, match="metres"):
        link.media_for([1, 2])


def test_links_counted_on_a_wired_tree():
    """hosts times tiers would not be the cables of a tree that is really wired: a k = 4 fat-tree,
    cable by cable.
    """
    cables = set()
    for pod in range(4):
        for edge in range(2):
            cables |= {((pod, "edge", edge), (pod, "host", edge, h)) for h in range(2)}
            cables |= {((pod, "edge", edge), (pod, "agg", a)) for a in range(2)}
        cables |= {((pod, "agg", a), ("core", a, c)) for a in range(2) for c in range(2)}
    assert len(cables) == 48 == link.tree_links(16, 3)


def test_the_cost_of_distance():
    """The bill would not be the text's with one module a link, and twice its power with the two a
    link has (E-11).
    """
    links = link.tree_links(10_000, 3) - link.tree_links(10_000, 1)
    one, two = (link.optics_bill(links, 500, 20, modules_per_link=m) for m in (1, 2))
    assert (one.links, one.cost, one.power / kW) == (20_000, 10e6, 400) and (
        two.modules,
        two.cost,
        two.power / kW,
    ) == (40_000, 10e6, 800)
    assert (
        link.optics_bill(3000, 0, catalog.PORT_POWER, 1).power / kW == 75
        and link.optics_bill(3000, 0, catalog.PORT_POWER).power / kW == 150
    )


def test_shares_by_base():
    """10.46 % of the GPUs would not be 9.47 % with the network and 5.74 % of whole nodes (E-13), or
    the bases be mixed.
    """
    s = link.power_shares(75 * kW, 1024)
    assert (s.of_accelerators, s.of_accelerators_and_network, s.of_nodes) == pytest.approx(
        (75 / 716.8, 75 / 791.8, 75 / 1305.6)
    )


def test_rack_and_serdes():
    """A rack of four nodes would not be 33.5 kW by its GPUs or 40.8 by its nodes (E-12); lanes not
    2.8-4 W and 12-16 W.
    """
    assert link.rack_power(4, 8 * catalog.H100.tdp, catalog.RACK_OTHER_POWER) / kW == pytest.approx(
        33.5
    )
    assert link.rack_power(4, catalog.DGX_H100_POWER) / kW == pytest.approx(40.8)
    assert link.serdes_power(400 * Gbps, np.array(catalog.SERDES_112G)) == pytest.approx([2.8, 4.0])
    assert link.serdes_power(800 * Gbps, np.array(catalog.SERDES_224G)) == pytest.approx(
        [12.0, 16.0]
    )
    assert link.serdes_power(1 / 8, 1 * pJ) == pytest.approx(1e-12)


@pytest.mark.parametrize(
    "call, name",
    [
        (lambda: link.loss_per_metre(0), "lane_rate"),
        (lambda: link.loss_per_metre(1e9, dielectric_share=1.5), "dielectric_share"),
        (lambda: link.link_margin(math.nan, 3, 6), "budget"),
        (lambda: link.link_margin(30, -3, 6), "metres"),
        (lambda: link.link_margin(30, 3, 6, 1.5), "connectors"),
        (lambda: link.longest_cable(30, 0), "per_metre"),
        (lambda: link.longest_cable(30, 6, margin=-1), "margin"),
        (lambda: link.propagation_delay(1, 0), "velocity"),
        (lambda: link.tree_links(0, 2), "hosts"),
        (lambda: link.tree_links(4, 0.5), "tiers"),
        (lambda: link.optics_bill(-1, 500, 20), "links"),
        (lambda: link.optics_bill(1, 500, 20, 1.5), "modules_per_link"),
        (lambda: link.power_shares(-1, 8), "network"),
        (lambda: link.power_shares(1, 0), "accelerators"),
        (lambda: link.power_shares(1, 8, per_node=0), "per_node"),
        (lambda: link.rack_power(-1, 1), "nodes"),
        (lambda: link.serdes_power(1, "5 pJ"), "energy_per_bit"),
    ],
)
def test_bad_input_is_named(call, name):
    """Nonsense would come back as a number, or as an error that does not say which argument it
    means.
    """
    with pytest.raises(ValueError, match=name):
        call()
