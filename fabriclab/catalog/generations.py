"""Generations side by side: InfiniBand lane by lane, and the ConnectX adapters with the years that
the field guide gives them.
"""

from dataclasses import dataclass

from fabriclab.catalog.links import LinkRate, link_rate
from fabriclab.units import Gbps

_8B10B, _64B66B, _FEC = (
    ("8b/10b", 8 / 10),
    ("64b/66b", 64 / 66),
    ("256b/257b and RS(544,514)", 514 / 544 * 256 / 257),
)


@dataclass(frozen=True)
class InfiniBandGeneration:
    """A generation of InfiniBand in its usual width: `lanes` of `lane_rate` signalled bytes per
    second, of which `share` is data.

    `levels` of the signal are 2 (NRZ) or 4 (PAM4); `rate` is the `LinkRate` that comes of it.
    """

    name: str
    lanes: int
    lane_rate: float
    levels: int
    coding: str
    share: float
    rate: LinkRate
    source: str

    @property
    def signalled(self):
        """Bytes per second on all lanes, coding and all."""
        return self.lanes * self.lane_rate


def _generation(name, lane, levels, coding, rate=None):
    return InfiniBandGeneration(
        name,
        4,
        lane * Gbps,
        levels,
        *coding,
        rate or link_rate(name),
        "IBTA InfiniBand roadmap; lane rates from the IBTA specification, volume 2",
    )


# The two that came before the families of figure 2 begin.
_SDR = LinkRate(
    "InfiniBand",
    "SDR",
    2003,
    8 * Gbps,
    "IBTA roadmap: 4 lanes of 2.5 Gb/s, 8b/10b; specification 2000, first clusters 2003",
)
_DDR = LinkRate("InfiniBand", "DDR", 2005, 16 * Gbps, "IBTA roadmap: 4 lanes of 5 Gb/s, 8b/10b")

INFINIBAND = (
    _generation("SDR", 2.5, 2, _8B10B, _SDR),
    _generation("DDR", 5, 2, _8B10B, _DDR),
    _generation("QDR", 10, 2, _8B10B),
    _generation("FDR", 14.0625, 2, _64B66B),
    _generation("EDR", 25.78125, 2, _64B66B),
    _generation("HDR", 53.125, 4, _FEC),
    _generation("NDR", 106.25, 4, _FEC),
    _generation("XDR", 212.5, 4, _FEC),
)


@dataclass(frozen=True)
class Adapter:
    """A network adapter: its fastest `port`, the widest `host` link it has, the year it was
    `announced`, and `year_in_text`.
    """

    name: str
    port: LinkRate
    host: LinkRate
    announced: int
    year_in_text: int
    source: str


CONNECTX = (
    Adapter(
        "ConnectX-5",
        link_rate("EDR"),
        link_rate("PCIe 4.0 x16"),
        2016,
        2017,
        "Mellanox press release, June 2016; year in text: field guide, generations of NICs",
    ),
    Adapter(
        "ConnectX-6",
        link_rate("HDR"),
        link_rate("PCIe 4.0 x16"),
        2016,
        2020,
        "Mellanox press release, November 2016, with HDR; year in text: field guide, generations of"
        " NICs",
    ),
    Adapter(
        "ConnectX-7",
        link_rate("NDR"),
        link_rate("PCIe 5.0 x16"),
        2021,
        2022,
        "NVIDIA press release, November 2021, with Quantum-2; year in text: field guide,"
        " generations of NICs",
    ),
    Adapter(
        "ConnectX-8",
        link_rate("XDR"),
        link_rate("PCIe 6.0 x16"),
        2024,
        2024,
        "NVIDIA press release, March 2024, with Quantum-X800; ConnectX-8 user manual; year in text:"
        " field guide",
    ),
)
