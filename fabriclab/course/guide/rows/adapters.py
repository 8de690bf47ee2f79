"""Rows of the field guide: adapters and their hosts."""

from fabriclab import catalog, link, scaleup
from fabriclab.course.engine.ledger import Row
from fabriclab.course.guide.rows.common import NETWORK, _adapter, _rate
from fabriclab.units import GB, TB, Gbps


def _behind_gen5(port):
    return scaleup.behind_host(port, scaleup.pcie_rate(5))


def _host_generation(accelerator):
    return float(accelerator.host.name.split()[1])


ROWS = [
    # adapters
    *[
        Row(
            f"adapters/connectx-{n}",
            "field guide, generations of NICs",
            f"{rate} Gb/s",
            lambda n=n: _adapter(n).port.per_direction,
            "agrees",
            "a port, one way",
        )
        for n, rate in ((5, 100), (6, 200), (7, 400), (8, 800))
    ],
    *[
        Row(
            f"adapters/connectx-{n}-year",
            "field guide, generations of NICs",
            str(_adapter(n).year_in_text),
            None,
            "assumed",
            f"announced in {_adapter(n).announced}; shipped later, by a date that no source at hand"
            " gives",
        )
        for n in (5, 6, 7)
    ],
    Row(
        "adapters/connectx-8-year",
        "field guide, generations of NICs",
        "2024",
        None,
        "assumed",
        "announced in March 2024",
    ),
    Row(
        "host/pcie5",
        "field guide, why 800G does not help",
        "64 GB/s",
        lambda: scaleup.pcie_rate(5, coded=False),
        "agrees",
        f"one way, before coding; {scaleup.pcie_rate(5) / GB:.1f} after 128b/130b. Elsewhere the"
        " same link is 128, both ways",
    ),
    Row(
        "host/pcie5-bits",
        "field guide, why 800G does not help",
        "512 Gb/s",
        lambda: scaleup.pcie_rate(5, coded=False),
        "agrees",
    ),
    Row(
        "host/doubles",
        "field guide, why 800G does not help",
        "doubles",
        lambda: catalog.link_rate("XDR").per_direction / catalog.link_rate("NDR").per_direction,
        "agrees",
        "InfiniBand's bandwidth a generation, from EDR on; PCIe 3 to 6 doubled too, after 7, 2 and"
        " 3 years",
        between=(2, 2),
    ),
    Row(
        "host/400",
        "field guide, why 800G does not help",
        "near the limit",
        lambda: 400 * Gbps / scaleup.pcie_rate(5, coded=False),
        "agrees",
        f"of PCIe 5 x16; {100 * 400 * Gbps / scaleup.payload_rate(5):.0f} % of what packets of 256"
        " bytes leave of it",
        between=(0.75, 1),
    ),
    Row(
        "host/800",
        "field guide, why 800G does not help",
        "more than it carries",
        lambda: 800 * Gbps / scaleup.pcie_rate(5, coded=False),
        "agrees",
        "800G behind PCIe 5 cannot be filled: it gains"
        f" {_behind_gen5(800 * Gbps) / _behind_gen5(400 * Gbps):.2f}"
        " times over 400G, not 2",
        between=(1, 100),
    ),
    Row(
        "host/b200",
        "field guide, why 800G does not help",
        "6",
        lambda: _host_generation(catalog.B200),
        "conflicts",
        "generation of PCIe a B200 was designed with: the chip has PCIe 6, the DGX and"
        " HGX boards run it"
        " at 5, as the chapter's figure 3 has it (E-B12, E-X4)",
        between=(5.9, 6.1),
        other="5",
    ),
    Row(
        "host/b200-nvlink",
        "field guide, why 800G does not help",
        "5",
        lambda: float(catalog.B200.nvlink.name.split()[1]),
        "agrees",
        "generation of NVLink of a B200",
    ),
    # the last table
    Row(
        "stack/shared",
        "field guide, last table",
        "TB/s",
        lambda: 132 * 128 * 1.8e9,
        "assumed",
        "shared memory: 128 bytes a clock an SM (CUDA C++ Programming Guide), 0.23 TB/s each at 1.8"
        " GHz; an H100's 132 together 30",
        between=(1 * TB, 999 * TB),
    ),
    Row(
        "stack/hbm",
        "field guide, last table",
        "3-8 TB/s",
        lambda: catalog.H100.hbm,
        "agrees",
        f"an H100's; a B200 has {catalog.B200.hbm / TB:.0f} TB/s",
    ),
    Row(
        "stack/nvlink",
        "field guide, last table",
        "1.8 TB/s",
        lambda: catalog.B200.nvlink.both_directions,
        "agrees",
        "NVLink 5 in both directions; 0.9 one way (E-X5)",
    ),
    Row(
        "stack/nvlink-latency",
        "field guide, last table",
        "700 ns",
        lambda: catalog.NVLINK4.alpha,
        "conflicts",
        "the chapter's appendix has 500 ns; NVIDIA prints neither (E-X6)",
        other="500 ns",
    ),
    Row(
        "stack/nvl72",
        "field guide, last table",
        "72",
        lambda: catalog.NVL72.packages,
        "agrees",
        "GPUs",
    ),
    Row(
        "stack/nvl72-latency",
        "field guide, last table",
        "1 us",
        lambda: catalog.NVL72.latency,
        "assumed",
        "no other source (E-X6)",
    ),
    Row("stack/network", "field guide, last table", "400-800 Gb/s", _rate("NDR"), "agrees"),
    Row(
        "stack/network-latency",
        "field guide, last table",
        "3-5 us",
        lambda: NETWORK.latency[1],
        "assumed",
        "the chapter's examples have 1.5 us (E-05)",
    ),
    Row(
        "stack/wide",
        "field guide, last table",
        "10-100 ms",
        lambda: link.propagation_delay(2e6),
        "assumed",
        "fibre alone takes 10 ms for 2,000 km one way, and 100 ms half round the globe",
    ),
]
