"""Rows of scale-up: PCIe trees and headers."""

from fabriclab import catalog, scaleup
from fabriclab.course.engine.ledger import Row
from fabriclab.course.scaleup.rows.common import SMALL, UP
from fabriclab.units import GB, Gbps

BOTH = 2 * scaleup.pcie_rate(5, coded=False)


DOUBLING = scaleup.PcieTree(64, 48, BOTH)


def _share(stack, size=SMALL):
    return scaleup.payload_efficiency(size, stack)


def _table(size):
    return ", ".join(f"{stack} {100 * _share(stack, size):.1f}" for stack in scaleup.STACKS)


ROWS = [
    # ESUN
    Row(
        "esun/members",
        "field guide, ESUN",
        "166",
        None,
        "assumed",
        "members at the text's date; trade press at the release of 1.0, March 2026: more than 175,"
        " from 12 founders",
    ),
    Row(
        "esun/ip",
        "field guide, ESUN",
        "20-40 B",
        lambda: scaleup.header_bytes("IPv6") - 38,
        "agrees",
        "IPv4 20, IPv6 40, without options",
    ),
    Row(
        "esun/header",
        "field guide, ESUN",
        "4 B",
        lambda: (sum(catalog.ESUN_FIELDS.values()) + scaleup.spare_bits()) / 8,
        "agrees",
        f"the fields take {sum(catalog.ESUN_FIELDS.values())} of 32 bits; {scaleup.spare_bits()}"
        " are left for version, user and reserve",
    ),
    *[
        Row(
            f"esun/{name.lower().replace(' ', '-')}",
            "field guide, fields of the ESUN header",
            str(bits),
            lambda bits=bits: bits,
            "assumed",
            "bits",
        )
        for name, bits in catalog.ESUN_FIELDS.items()
    ],
    Row(
        "esun/gain",
        "field guide, ESUN",
        "a large gain for small packets",
        lambda: _share("ESUN") / _share("IPv4") - 1,
        "agrees",
        f"of payload at 64 B over IPv4; over IPv6 {_share('ESUN') / _share('IPv6') - 1:.0%}."
        f" Payload share in %: at 64 B {_table(64)}; at 256 B {_table(256)}; at 4 KB"
        f" {_table(4096)}",
        between=(0.1, 1.0),
    ),
    # PCIe
    Row(
        "pcie/limit",
        "field guide, PCIe Scale-Up",
        "64",
        lambda: catalog.PCIE_64.packages,
        "assumed",
        'accelerators, "about"; no property of a tree: three levels of 144-lane switches hold'
        f" {scaleup.down_ports(144) ** 3}",
    ),
    Row(
        "pcie/x16",
        "field guide, PCIe Scale-Up",
        "128 GB/s",
        lambda: BOTH,
        "agrees",
        f"both directions, before coding; after it 2 x {scaleup.pcie_rate(5) / GB:.1f}. The same"
        " text's 64 GB/s for the same link is one direction",
    ),
    Row(
        "pcie/peer",
        "field guide, PCIe Scale-Up",
        "2 GB/s",
        lambda: scaleup.peer_share(BOTH, 64),
        "agrees",
        "128/63 is the share for each of 63 peers, both directions; one way 1.02. An NVL72 by the"
        f" same rule: {scaleup.peer_share(catalog.NVL72.per_direction * 2, 72) / GB:.1f}",
    ),
    Row(
        "pcie/device",
        "field guide, PCIe Scale-Up",
        "2 GB/s",
        lambda: BOTH,
        "differs",
        "called what a GPU can use; to all its peers together a GPU of a full mesh keeps its whole"
        " link (E-B8)",
    ),
    Row(
        "pcie/switch-latency",
        "field guide, PCIe Scale-Up",
        "500 ns-1 us",
        None,
        "assumed",
        "Broadcom's brief for a 144-lane switch of generation 5: 115 ns in the chip; the rest is"
        " links, end points and how it is measured",
    ),
    Row(
        "pcie/levels",
        "field guide, PCIe Scale-Up",
        "6",
        lambda: scaleup.tree_depth(64, catalog.PCIE_SWITCH_LANES),
        "differs",
        "log2(64) is right for switches with two ports down; one of 144 lanes has"
        f" {scaleup.down_ports(144)} of x16 down and one up, and 8 x 8 = 64 (E-B8)",
    ),
    Row(
        "pcie/deep",
        "field guide, PCIe Scale-Up",
        "less than 5 GB/s",
        lambda: DOUBLING.across,
        "agrees",
        "both directions, six levels of doubling, all 64 GPUs across the root: 128/32. Halved six"
        f" times, 128/64 = {DOUBLING.to_host / GB:.0f} GB/s, is what each has to the host; evenly"
        f" to all others {DOUBLING.all_to_all / GB:.1f}; along a ring all 128",
        between=(0, 5 * GB),
    ),
    Row(
        "pcie/suits",
        "field guide, PCIe Scale-Up",
        "8-16",
        lambda: scaleup.down_ports(catalog.PCIE_SWITCH_LANES),
        "assumed",
        "cards: 8 is what one 144-lane switch holds",
    ),
    # Ethernet, and the matrix
    Row(
        "ethernet/ports",
        "field guide, Ethernet Scale-Up",
        "512",
        lambda: catalog.ASIC_102T.capacity / (200 * Gbps),
        "agrees",
        "a 102.4 Tb/s chip as ports of 200 Gb/s, 51.2 as 100. To equal 14.4 Tb/s it takes"
        f" {scaleup.planes_to_match(UP.rate, 200 * Gbps)} planes, the text's bases mixed; one way"
        f" against one way {scaleup.planes_to_match(UP.rate / 2, 200 * Gbps)}",
    ),
    Row(
        "ethernet/threshold",
        "field guide, Ethernet Scale-Up",
        "64",
        None,
        "assumed",
        "accelerators from which Ethernet is preferred: where the text sees PCIe's limit",
    ),
    Row(
        "ethernet/latency",
        "field guide, Ethernet Scale-Up",
        "500 ns-2 us",
        lambda: catalog.ETHERNET_512.latency,
        "assumed",
        "called higher than NVLink's 700 ns-1 us, but the two ranges overlap; and neither is the"
        ' "ns level" of the first picture',
    ),
    Row(
        "ethernet/nvlink-latency",
        "field guide, Ethernet Scale-Up",
        "700 ns-1 us",
        lambda: catalog.NVL72.latency,
        "assumed",
        "700 ns in a node and 1 us in an NVL72, by the same text",
    ),
    Row(
        "matrix/nvl8",
        "field guide, selection matrix",
        "8",
        lambda: catalog.NVL8.packages,
        "agrees",
        "GPUs; packages of one die",
    ),
    Row(
        "matrix/nvl72",
        "field guide, selection matrix",
        "72",
        lambda: catalog.NVL72.packages,
        "agrees",
        "GPUs: packages, of two dies each, so it holds as many dies as an NVL144",
    ),
    Row(
        "matrix/nvl144",
        "field guide, selection matrix",
        "144",
        lambda: catalog.NVL144.packages,
        "differs",
        "GPUs; the name counts dies: 72 packages of two. NVIDIA has since called it Vera Rubin"
        " NVL72 (E-B9)",
    ),
    Row(
        "matrix/nvl576",
        "field guide, selection matrix",
        "576",
        lambda: catalog.NVL576.packages,
        "differs",
        "GPUs; 144 packages of four dies. It is Rubin Ultra, announced with the NVLink after 6, not"
        " with 6 (E-B9)",
    ),
    Row(
        "matrix/others",
        "field guide, selection matrix",
        "64",
        lambda: catalog.PCIE_64.packages,
        "assumed",
        "GPUs of other makers beyond which the matrix has Ethernet; it has no row for fewer",
    ),
]
