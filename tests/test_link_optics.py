"""Level 1, light: ports, tiers and ends of fibre against built networks, watts against the text and
against makers.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabriclab import catalog, link, topology
from fabriclab.units import MW, Gbps, Tbps, kW, pJ

BUILT = [
    (h, k)
    for h, k in itertools.product(
        (4, 16, 17, 64, 100, 128, 1024, 2048, 2049, 4096, 10_000), (4, 8, 16, 64, 128)
    )
    if h <= k**3 // 4
]  # three tiers at most


@pytest.mark.parametrize("hosts, radix", BUILT)
def test_tiers_are_those_of_a_network_that_was_built(hosts, radix):
    """The staircase would have its steps where no wiring has them: `topology.build` chooses tiers
    by wiring them.
    """
    assert link.tree_tiers(hosts, radix) == len(topology.build(hosts, radix).switches)


@given(st.integers(2, 10**7), st.integers(2, 256))
def test_tiers_are_the_least_that_hold_the_hosts(hosts, half):
    """A tier too few would not hold the hosts, or one too many would be bought: 2 (k/2)^t by
    counting up.
    """
    tiers = int(link.tree_tiers(hosts, 2 * half))
    assert 2 * half**tiers >= hosts and (tiers == 1 or 2 * half ** (tiers - 1) < hosts)


def test_the_worked_switch():
    """Napkin Math 1.6 would not come out: 128 x 20 and 10 W, 1,000 switches, and what 1.28 MW feed
    (R203 to R208).
    """
    one, fleet = link.optical_dividend(128), link.optical_dividend(128, switches=1000)
    assert (one.pluggable, one.copackaged, one.saved) == (2.56 * kW, 1.28 * kW, 1.28 * kW)
    assert (fleet.ports, fleet.pluggable, fleet.saved) == (128_000, 2.56 * MW, 1.28 * MW)
    assert (
        round(link.accelerators_fed(fleet.saved)) == 1829
        and round(link.accelerators_fed(fleet.saved, 10_200 / 8)) == 1004
    )


def test_makers_modules_turn_the_saving_round():
    """9 W modules against 10 W engines would still be called a saving (E-26)."""
    loss = link.optical_dividend(128, pluggable=9, copackaged=10)
    assert loss.pluggable == 1152 and loss.saved == -128


@pytest.mark.parametrize("hosts, radix", [(1024, 64), (4096, 64), (10_000, 64), (128, 8)])
def test_ends_of_fibre_against_the_wiring(hosts, radix):
    """Links, their ends in switches or in hosts would not be the cables of a network with whole
    pods, counted one by one.
    """
    net = topology.build(hosts, radix)
    between = sum(n for layer, n in net.cables.items() if layer != "host-leaf")
    tree, lit = link.tree_optics(hosts, radix), link.tree_optics(hosts, radix, hosts_on_fibre=True)
    if hosts != 10_000:  # whole leaves and pods: the closed form is the wiring
        assert tree.links == between and lit.links == between + net.cables["host-leaf"]
    assert tree.links <= between and (tree.switch_ends, tree.host_ends) == (2 * tree.links, 0)
    assert (lit.switch_ends, lit.host_ends) == (2 * tree.links + hosts, hosts)
    assert (
        lit.pluggable == 20 * (lit.switch_ends + hosts)
        and lit.copackaged == 10 * lit.switch_ends + 20 * hosts
    )


def test_ten_thousand_gpus_save_half_a_megawatt_at_most():
    """The text's "more than a megawatt" would be found: 50,000 switch ports x 10 W are 0.5 MW, with
    hosts on copper 0.4 (E-11).
    """
    lit, copper = link.tree_optics(10_000, 64, hosts_on_fibre=True), link.tree_optics(10_000, 64)
    assert lit.switch_ends == 50_000 and lit.pluggable - lit.copackaged == 0.5 * MW
    assert copper.switch_ends == 40_000 and copper.pluggable - copper.copackaged == 0.4 * MW


def test_three_tiers_to_two_halve_the_transceivers_only_on_copper():
    """The halving of R200 would hold for hosts on fibre too, where six ends a host become four."""
    ends = [
        [
            t.switch_ends + t.host_ends
            for t in (link.tree_optics(10_000, k, hosts_on_fibre=fibre) for k in (64, 256))
        ]
        for fibre in (False, True)
    ]
    assert ends == [[40_000, 20_000], [60_000, 40_000]]


def test_energy_a_bit_turns_serdes_power_round():
    """Watts to joules a bit and back would lose a factor, the 8 of bits in a byte say; 20 W at 400
    Gb/s are 50 pJ (R204).
    """
    assert link.energy_per_bit(20, 400 * Gbps) == pytest.approx(50 * pJ) and link.energy_per_bit(
        30, 1.6 * Tbps
    ) == pytest.approx(18.75 * pJ)
    watts = np.array([1.0, 9.0, 20.0])
    assert link.serdes_power(800 * Gbps, link.energy_per_bit(watts, 800 * Gbps)) == pytest.approx(
        watts
    )


def test_ports_of_chips_by_their_data_sheets():
    """A chip would have other ports than its maker sells it with: 64 of 400G, 128 of 400G, 64 of
    1.6T, 512 of 200G.
    """
    sold = [
        (catalog.ASIC_25T, 400, 64),
        (catalog.ASIC_51T, 400, 128),
        (catalog.ASIC_102T, 1600, 64),
        (catalog.ASIC_102T, 200, 512),
    ]
    assert [link.switch_ports(asic.capacity, rate * Gbps) for asic, rate, _ in sold] == [
        ports for *_, ports in sold
    ]


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: link.switch_ports(51.2 * Tbps, 300 * Gbps), "port_rate must divide"),
        (lambda: link.switch_ports(1 * Gbps, 400 * Gbps), "port_rate must divide"),
        (
            lambda: link.tree_tiers(100, 3),
            "radix must be an even number of ports, 4 or more, not 3",
        ),
        (
            lambda: link.tree_tiers(5, 5),
            "radix must be an even number of ports, 4 or more, as half of them point up, not 5",
        ),
        (
            lambda: link.tree_tiers([1, 2], [4, 6, 8]),
            "hosts and radix must have shapes that broadcast",
        ),
        (
            lambda: link.tree_optics([1, 2], 64, pluggable=[1, 2, 3]),
            "hosts and pluggable must have shapes",
        ),
        (
            lambda: link.optical_dividend([64, 128], [1, 2, 3]),
            "ports and pluggable must have shapes",
        ),
        (lambda: link.energy_per_bit([1, 2], [1, 2, 3]), "watts and rate must have shapes"),
        (
            lambda: link.accelerators_fed([1, 2], [1, 2, 3]),
            "watts and per_accelerator must have shapes",
        ),
        (lambda: link.switch_ports([1, 2], [1, 2, 3]), "capacity and port_rate must have shapes"),
        (lambda: link.tree_tiers(0, 64), "hosts"),
        (
            lambda: link.tree_optics(100, 64, hosts_on_fibre=2),
            "hosts_on_fibre must be True or False, not 2",
        ),
        (lambda: link.tree_optics(100, 64, pluggable=-1), "pluggable must be zero or more"),
        (lambda: link.optical_dividend(12.5), "ports must be a whole number"),
        (lambda: link.energy_per_bit(20, 0), "rate must be more than zero"),
        (lambda: link.accelerators_fed(float("nan")), "watts"),
    ],
)
def test_refusals_name_the_argument(call, words):
    """Nonsense would give a number, or a message that does not say which argument it was."""
    with pytest.raises(ValueError, match=words):
        call()


def test_eight_planes_are_as_published():
    """MRC (arXiv 2605.04333): eight planes of 100G on 51.2T switches join 131,072 GPUs in two tiers
    with 3/5 of the switches and 2/3 of the optics of three tiers. Another number here: the ports of
    a plane were miscounted.
    """
    hosts, nic, chip = 131_072, 800 * Gbps, 51.2 * Tbps
    eight, one = link.multi_plane(hosts, nic, chip, 8), link.multi_plane(hosts, nic, chip)
    assert (eight.tiers, eight.most_hosts) == (2, hosts)
    assert (one.tiers, one.most_hosts) == (4, 2_097_152)
    assert link.multi_plane(65_536, nic, chip).most_hosts == 65_536  # three tiers, full
    three = link.multi_plane(65_536, nic, chip)
    per_host = [(p.switches / n, p.fibres / n) for p, n in ((eight, hosts), (three, 65_536))]
    assert per_host[0][0] / per_host[1][0] == pytest.approx(3 / 5)
    assert per_host[0][1] / per_host[1][1] == pytest.approx(2 / 3)


@pytest.mark.parametrize("tiers", [2, 3])
@pytest.mark.parametrize("planes", [1, 2, 4])
def test_switches_of_planes_are_those_of_trees_that_were_built(tiers, planes):
    """A full tree of 8-port switches, wired host by host, once for each plane."""
    tree = topology.fat_tree(8, tiers)
    found = link.multi_plane(tree.hosts, planes * 100 * Gbps, 800 * Gbps, planes)
    assert found.switches == planes * (tree.vertices - tree.hosts)
    assert found.fibres == tree.multiplicity.sum()


@pytest.mark.parametrize(
    "name, change", [("planes", {"planes": 0}), ("rate", {"rate": -1.0}), ("hosts", {"hosts": 0.5})]
)
def test_planes_name_what_does_not_fit(name, change):
    """Half a host or no plane has no network."""
    given = {"hosts": 1024, "rate": 100.0, "capacity": 6400.0, "planes": 2} | change
    with pytest.raises(ValueError, match=f"^{name} must"):
        link.multi_plane(**given)
