"""Scale-up: trees by counting what crosses every link, frames byte by byte, bases, planes, and
collectives over domains.
"""

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabriclab import catalog, collectives, scaleup
from fabriclab.scaleup import PcieTree
from fabriclab.units import GB, KB, MB, Gbps, Tbps, ns


def wire_tree(gpus, down):
    """A tree of switches as a directed graph, filled from one side, its leaves 0 to gpus-1, its
    root "root"; and its levels.
    """
    graph, level, here = nx.DiGraph(), 0, list(range(gpus))
    while len(here) > 1 or level == 0:
        above = [("switch", level, k) for k in range(-(-len(here) // down))]
        for k, node in enumerate(here):
            graph.add_edge(node, above[k // down])
            graph.add_edge(above[k // down], node)
        here, level = above, level + 1
    return nx.relabel_nodes(graph, {here[0]: "root"}), level


def busiest(graph, pairs, send):
    """Bytes per second on the fullest link where each sender spreads `send` over its partners; the
    path in a tree is the only one.
    """
    load, routes, partners = (
        dict.fromkeys(graph.edges, 0.0),
        dict(nx.all_pairs_shortest_path(graph)),
        {},
    )
    for a, b in pairs:
        partners.setdefault(a, []).append(b)
    for a, others in partners.items():
        for b in others:
            for edge in itertools.pairwise(routes[a][b]):
                load[edge] += send / len(others)
    return max(load.values())


@pytest.mark.parametrize(
    "lanes, gpus",
    [
        (48, 2),
        (48, 3),
        (48, 8),
        (48, 13),
        (64, 9),
        (80, 16),
        (80, 21),
        (144, 8),
        (144, 9),
        (144, 40),
    ],
)
def test_a_trees_shares_are_what_its_fullest_link_allows(lanes, gpus):
    """Depth, or a share of a GPU, is not what counting every pair's bytes on every link gives."""
    tree = PcieTree(gpus, lanes, 64 * GB)
    graph, levels = wire_tree(gpus, lanes // 16 - 1)
    assert scaleup.tree_depth(gpus, lanes) == levels == len(tree.limits)
    everyone = list(itertools.permutations(range(gpus), 2))
    assert busiest(graph, everyone, tree.all_to_all) == pytest.approx(64 * GB)
    # a ring along the leaves sends once over every link each way, so it runs at a link's rate
    assert busiest(
        graph, [(k, (k + 1) % gpus) for k in range(gpus)], tree.to_neighbour
    ) == pytest.approx(64 * GB)
    graph.add_edges_from([("root", "host"), ("host", "root")])
    assert busiest(graph, [(k, "host") for k in range(gpus)], tree.to_host) == pytest.approx(
        64 * GB
    )
    # all under the root's first link send to the rest; with one switch there is no such link but
    # their own
    first = tree.subtrees[-1]
    assert busiest(
        graph, itertools.product(range(first), range(first, gpus)), tree.across
    ) == pytest.approx(64 * GB)


def test_the_texts_tree_and_one_of_today():
    """64 GPUs are not six levels of doubling and two of 144 lanes; or 128/2^6 is called what the
    root leaves a pair (R312).
    """
    text, today = PcieTree(64, 48, 128 * GB), PcieTree(64, 144, 128 * GB)
    assert (
        scaleup.tree_depth(64, 48),
        scaleup.tree_depth(64, 144),
        scaleup.tree_depth(512, 144),
        scaleup.tree_depth(65, 144),
    ) == (6, 2, 3, 3)
    assert text.subtrees == (1, 2, 4, 8, 16, 32) and today.subtrees == (1, 8)
    assert [share / GB for share in (text.to_host, text.across, today.across, today.to_host)] == [
        2,
        4,
        16,
        2,
    ]
    assert text.all_to_all / GB == pytest.approx(
        128 * 63 / (32 * 32)
    ) and today.all_to_all / GB == pytest.approx(128 * 63 / (8 * 56))


@pytest.mark.parametrize(
    "generation, gigabytes", [(2, 8.0), (3, 15.754), (4, 31.508), (5, 63.015), (6, 121.0)]
)
def test_pcie_rates_are_the_published_ones(generation, gigabytes):
    """A rate is before coding, of other lanes, or of both directions (the usual table of x16,
    PCI-SIG).
    """
    assert scaleup.pcie_rate(generation) / GB == pytest.approx(gigabytes, rel=1e-4)
    assert scaleup.pcie_rate(generation, 4) == pytest.approx(scaleup.pcie_rate(generation) / 4)
    assert (
        scaleup.pcie_rate(generation, coded=False) / GB
        == {2: 10, 3: 16, 4: 32, 5: 64, 6: 128}[generation]
    )


def test_packets_take_their_share():
    """TLPs cost other than 24 bytes to generation 5 (Neugebauer et al.

    2018: 24 for a write) or 16 and a flit's 20 in generation 6.
    """
    by_hand = {
        128: 63.015 * 128 / 152,
        256: 63.015 * 256 / 280,
        512: 63.015 * 512 / 536,
        4096: 63.015 * 4096 / 4120,
    }
    np.testing.assert_allclose(
        scaleup.payload_rate(5, np.array(list(by_hand))) / GB, list(by_hand.values()), rtol=1e-4
    )
    assert scaleup.payload_rate(6, 256) / GB == pytest.approx(128 * 236 / 256 * 256 / 272)
    # the text's 50 to 60 GB/s end to end is what the usual 128 to 512 bytes leave (R331)
    assert 50 * GB < scaleup.payload_rate(5, 128) < scaleup.payload_rate(5, 256) < 60 * GB


def test_what_a_faster_port_gains_behind_a_host():
    """400G fills other than 78 % of PCIe 5, 800G is filled, or gains other than 1.28 times; PCIe 6
    gives less than twice (R322-R324).
    """
    host = scaleup.pcie_rate(5, coded=False)
    assert (
        8 * host / 1e9 == 512
        and 400 * Gbps / host == pytest.approx(0.78, abs=0.005)
        and 800 * Gbps / host == pytest.approx(1.56, abs=0.005)
    )
    np.testing.assert_allclose(
        scaleup.behind_host(np.array([400, 512, 800]) * Gbps, host), [50 * GB, 64 * GB, 64 * GB]
    )
    assert scaleup.behind_host(800 * Gbps, scaleup.pcie_rate(6)) == 100 * GB


def test_per_peer_is_not_per_device():
    """128/63 and 1800/71 (R310) are not the shares of a pair, or the pairs do not add up to the
    device.
    """
    assert (
        round(scaleup.peer_share(128, 64), 2) == 2.03
        and round(scaleup.peer_share(64, 64), 2) == 1.02
        and round(scaleup.peer_share(1800, 72), 1) == 25.4
    )
    assert 63 * scaleup.peer_share(128, 64) == pytest.approx(128)


@pytest.mark.parametrize(
    "size, shares",
    [
        (64, (60.4, 52.5, 45.1, 43.8)),
        (256, (85.9, 81.5, 76.6, 75.7)),
        (4096, (99.0, 98.6, 98.1, 98.0)),
    ],
)
def test_payload_efficiency_frame_by_frame(size, shares):
    """A header is forgotten or counted twice: Ethernet 14 + 4 + 20, EH 4, IPv4 20, IPv6 40, full
    RoCEv2 44 (R307).
    """
    assert [
        round(100 * scaleup.payload_efficiency(size, stack), 1)
        for stack in ("ESUN", "IPv4", "IPv6", "RoCEv2")
    ] == list(shares)


def test_gains_at_64_bytes():
    """ESUN's gain at 64 B is not 15 % over IPv4 and 34 % over IPv6 (R307)."""
    esun, four, six = (scaleup.payload_efficiency(64, stack) for stack in ("ESUN", "IPv4", "IPv6"))
    assert (round(100 * (esun / four - 1)), round(100 * (esun / six - 1))) == (15, 34)


def frame(stack, payload):
    """A packet's time on the wire in bytes, field by field: IEEE 802.3 pads what is under 46
    between type and check sequence.
    """
    inside = b"h" * {"ESUN": 4, "IPv4": 20, "IPv6": 40, "RoCEv2": 44}[stack] + b"d" * payload
    return len(
        b"P" * 7 + b"S" + b"d" * 6 + b"s" * 6 + b"tt" + inside.ljust(46, b"0") + b"FCSS" + b"." * 12
    )


@given(
    st.integers(1, 4096), st.sampled_from(scaleup.STACKS), st.integers(1, 64), st.integers(0, 16)
)
def test_packing_counts_every_byte(size, stack, k, command):
    """Transactions in one packet cost other than its frame; or more in a packet, or a shorter
    header, ever carries less.
    """
    packed = scaleup.payload_efficiency(size, stack, k, command)
    assert packed == pytest.approx(k * size / frame(stack, k * (size + command)), rel=1e-12)
    assert 0 < packed < 1 and packed >= scaleup.payload_efficiency(size, stack, 1, command) - 1e-12
    assert scaleup.payload_efficiency(size, "ESUN", k, command) >= packed


def test_headers_bits_and_waiting():
    """The fields of ESUN's header do not leave 7 of 32 bits (R306), or the first of sixteen waits
    for other than fifteen.
    """
    assert (
        scaleup.spare_bits() == 7
        and sum(catalog.ESUN_FIELDS.values()) == 25
        and scaleup.spare_bits({"all": 32}) == 0
    )
    assert [scaleup.header_bytes(stack) for stack in scaleup.STACKS] == [42, 58, 78, 82]
    assert (
        scaleup.packing_delay(16, 64, 1 * GB) == pytest.approx(960 * ns)
        and scaleup.packing_delay(1, 64, 1 * GB) == 0
    )


def test_the_campus_and_its_bases():
    """14.4, 1.6 and 0.16 Eb/s, 8.18 to one as stated and 4.09 like for like, 9 and 10 from tier to
    tier, do not come out (R297-R302).
    """
    stated, mixed = scaleup.pyramid((2, 2, 2)), scaleup.pyramid((2, 1, 1))
    assert [total * 8 / 1e18 for total in stated.stated] == pytest.approx([14.4, 1.6, 0.16])
    assert [total * 8 / 1e18 for total in mixed.per_direction] == pytest.approx([7.2, 1.6, 0.16])
    assert stated.ratio_stated == stated.ratio_per_direction == pytest.approx(
        14.4 / 1.76
    ) and mixed.ratio_per_direction == pytest.approx(7.2 / 1.76)
    assert scaleup.pyramid(xpus=1).stated[0] == catalog.B200.nvlink.both_directions
    assert catalog.CAMPUS_HBM == 12.5e12 and stated.stated[0] / (
        stated.xpus * catalog.CAMPUS_HBM
    ) == pytest.approx(0.144)


def test_watts_of_the_three_regimes():
    """Watts an accelerator are not 1.5 to 0.98 kW, 1.8 and 1.0 (R294-R296)."""
    assert [
        tuple(round(watts) for watts in scaleup.watts_each(regime)) for regime in catalog.REGIMES
    ] == [(1500, 977), (1800, 1800), (1000, 1000)]


def test_planes_count_like_for_like():
    """72 planes of 200G for 14.4 Tb/s (R313) is not half that one way, or a part of a plane is
    lost.
    """
    assert (
        scaleup.planes_to_match(14.4 * Tbps, 200 * Gbps) == 72
        and scaleup.planes_to_match(catalog.NVL72.per_direction, 200 * Gbps) == 36
    )
    assert scaleup.planes_to_match(np.array([0, 199, 200, 201]) * Gbps, 200 * Gbps).tolist() == [
        0,
        1,
        1,
        2,
    ]
    assert scaleup.planes_to_match(3 * 0.1 * Tbps, 0.1 * Tbps) == 3
    assert scaleup.overlaid(catalog.ETHERNET_512, 36).per_direction == catalog.NVL72.per_direction


def test_domains_are_what_nvidia_says_of_them():
    """Packages and dies are mixed up: names of Rubin count dies, of Blackwell packages; totals 130,
    260, 1500 TB/s are both ways (GTC 2025).
    """
    assert [(d.packages, d.packages * d.dies) for d in catalog.NVLINK_DOMAINS] == [
        (8, 8),
        (72, 144),
        (72, 144),
        (144, 576),
    ]
    totals = [2 * d.packages * d.per_direction / 1e12 for d in catalog.NVLINK_DOMAINS]
    assert totals == pytest.approx([7.2, 130, 260, 1500], rel=0.005)
    assert scaleup.bisection(catalog.NVL72) == 36 * 900 * GB


def test_the_matrix_reads_as_the_text():
    """A row of the selection matrix ends elsewhere, or a maker's row is given to another."""
    sizes = (1, 8, 9, 72, 73, 144, 145, 576, 577)
    assert [scaleup.matrix_row(n) for n in sizes] == [
        "NVL8",
        "NVL8",
        "NVL72",
        "NVL72",
        "NVL144",
        "NVL144",
        "NVL576",
        "NVL576",
        "scale-out",
    ]
    assert [scaleup.matrix_row(n, nvidia=False) for n in (64, 65, 10_000)] == [
        "PCIe scale-up",
        "Ethernet scale-up",
        "Ethernet scale-up",
    ]


def test_an_allreduce_in_one_domain_and_over_several():
    """Inside, another algorithm than the better of two; across, other than the three stages; a tree
    gets what only a switch can do.
    """
    size = 1 * GB
    assert scaleup.domain_allreduce(size, 72, catalog.NVL72) == collectives.ring_allreduce(
        size, 72, 1e-6, 900 * GB
    )
    assert scaleup.domain_allreduce(
        1 * KB, 64, catalog.NVL72
    ) == collectives.rabenseifner_allreduce(1 * KB, 64, 1e-6, 900 * GB)
    assert scaleup.domain_allreduce(1 * KB, 64, catalog.PCIE_64) == collectives.ring_allreduce(
        1 * KB, 64, 1e-6, catalog.PCIE_64.per_direction
    )
    path = catalog.NDR
    three = collectives.hierarchical_allreduce(
        size, 3, 64, path.alpha, path.beta, 1e-6, catalog.PCIE_64.per_direction
    )
    assert scaleup.domain_allreduce(size, 192, catalog.PCIE_64) == pytest.approx(three, rel=1e-4)
    sizes = np.array([1 * KB, 1 * MB, 1 * GB])
    np.testing.assert_allclose(
        scaleup.domain_allreduce(sizes, 100, catalog.NVL144),
        [scaleup.domain_allreduce(float(s), 100, catalog.NVL144) for s in sizes],
    )


@given(st.sampled_from(catalog.DOMAINS), st.integers(1, 2000), st.floats(0, 1e10))
def test_no_domain_beats_its_own_wire(domain, gpus, size):
    """An AllReduce takes less than its bytes need on one link, or a second domain costs nothing."""
    time, inside = scaleup.domain_allreduce(size, gpus, domain), min(gpus, domain.packages)
    assert time >= 2 * (inside - 1) / inside * size / domain.per_direction * (1 - 1e-12)
    if gpus > domain.packages:
        assert (
            time
            >= scaleup.domain_allreduce(size, domain.packages, domain)
            + size / domain.packages / catalog.NDR.beta
        )


def test_compare_lists_the_fastest_first():
    """The order is not of time, or a domain too small is counted once: 100 packages take two of
    what is sold as NVL144.
    """
    rows = scaleup.compare(64 * MB, 100)
    times = [time for _, _, time in rows]
    assert times == sorted(times) and len(rows) == len(catalog.DOMAINS)
    assert {domain.name: needed for domain, needed, _ in rows} == {
        "NVL8": 13,
        "NVL72": 2,
        "NVL144": 2,
        "NVL576": 1,
        "Ethernet, one plane": 1,
        "PCIe 5 tree": 2,
    }


@pytest.mark.parametrize(
    "call, word",
    [
        (lambda: scaleup.pcie_rate(7), "generation"),
        (lambda: scaleup.pcie_rate("5"), "generation"),
        (lambda: scaleup.pcie_rate(True), "generation"),
        (lambda: scaleup.pcie_rate(5, 12), "lanes"),
        (lambda: scaleup.payload_rate(5, 64), "payload"),
        (lambda: scaleup.payload_rate(5, 256.5), "payload"),
        (lambda: scaleup.behind_host(-1, 1), "port"),
        (lambda: scaleup.behind_host(1, 0), "host"),
        (lambda: scaleup.peer_share(1, 1), "devices"),
        (lambda: scaleup.down_ports(40), "switch_lanes"),
        (lambda: scaleup.down_ports(2048), "switch_lanes"),
        (lambda: scaleup.tree_depth(1, 144), "gpus"),
        (lambda: scaleup.tree_depth(2e6, 144), "gpus"),
        (lambda: PcieTree(8, 144, float("nan")), "rate"),
        (lambda: PcieTree([8, 9], 144, 1), "gpus"),
        (lambda: scaleup.payload_efficiency(0, "ESUN"), "size"),
        (lambda: scaleup.payload_efficiency(64, "TCP"), "stack"),
        (lambda: scaleup.payload_efficiency(64, "ESUN", 1.5), "transactions"),
        (lambda: scaleup.payload_efficiency(64, "ESUN", 1, -1), "command"),
        (lambda: scaleup.packing_delay(2, 64, 0), "rate"),
        (lambda: scaleup.spare_bits({"a": 33}), "fields"),
        (lambda: scaleup.spare_bits([3]), "fields"),
        (lambda: scaleup.pyramid((2, 1)), "directions"),
        (lambda: scaleup.pyramid((2, 1, 3)), "directions"),
        (lambda: scaleup.pyramid(2), "directions"),
        (lambda: scaleup.pyramid(xpus=0), "xpus"),
        (lambda: scaleup.watts_each("scale-up"), "regime"),
        (lambda: scaleup.planes_to_match(1, 0), "port"),
        (lambda: scaleup.matrix_row(0), "gpus"),
        (lambda: scaleup.matrix_row(8, "AMD"), "nvidia"),
        (lambda: scaleup.bisection(catalog.PCIE_64), "domain"),
        (lambda: scaleup.overlaid(catalog.NVL72, 0), "planes"),
        (lambda: scaleup.domain_allreduce(-1, 8, catalog.NVL8), "size"),
        (lambda: scaleup.domain_allreduce(1, [8, 9], catalog.NVL8), "gpus"),
        (lambda: scaleup.domain_allreduce(1, 8, "NVL8"), "domain"),
        (lambda: scaleup.domain_allreduce(1, 8, catalog.NVL8, 50 * GB), "between"),
        (lambda: scaleup.compare([1, 2], 8), "size"),
        (lambda: scaleup.compare(1, 8, 3), "domains"),
    ],
)
def test_bad_input_is_named(call, word):
    """A slip of the reader's becomes a NaN, a negative rate, or an error that does not say which
    argument it is.
    """
    with pytest.raises(ValueError, match=rf"^{word}\b"):
        call()


def test_messages_cut_to_the_mtu():
    """A message would not be what its packets add up to, laid out one by one; or the best that a
    standard MTU allows would not be 1480 of 1538 bytes under IPv4.
    """
    for stack, inside in (("IPv4", 20), ("RoCEv2", 44)):
        for size in (1, 60, 1456, 1457, 4096, 1e5):
            for mtu in (256, 1500, 9000):
                for tags in (0, 1, 2):
                    left, wire, frame = size, 0, 0
                    while left > 0:
                        piece = min(left, mtu - inside)
                        held = max(46, inside + piece)
                        wire, frame = wire + 38 + 4 * tags + held, frame + 18 + 4 * tags + held
                        left -= piece
                    for on, all_bytes in ((True, wire), (False, frame)):
                        got = scaleup.payload_efficiency(size, stack, mtu=mtu, tags=tags, wire=on)
                        assert got == pytest.approx(size / all_bytes)
    # IPv4 alone in full frames of 1500
    assert scaleup.payload_efficiency(1480, "IPv4", mtu=1500) == pytest.approx(1480 / 1538)
    with pytest.raises(ValueError, match="^mtu must hold the 1,?068 bytes"):
        scaleup.payload_efficiency(64, "RoCEv2", transactions=16, mtu=1000)
    with pytest.raises(ValueError, match="^mtu must be"):
        scaleup.payload_efficiency(64, "RoCEv2", mtu=44)
