"""Links, generation by generation: a rate is what one port or device can send; it receives as much
at the same time.
"""

from dataclasses import dataclass

from fabriclab.checks import Values, number, one_of, scalar
from fabriclab.units import GB, Gbps


@dataclass(frozen=True)
class LinkRate:
    """One generation of a link: `per_direction` bytes per second of data one way, after line
    coding; `both_directions` is twice that.
    """

    family: str
    name: str
    year: int
    per_direction: float
    source: str

    @property
    def both_directions(self):
        return 2 * self.per_direction


def _nvlink(version, chip, year, links, each):
    return LinkRate(
        "NVLink",
        f"NVLink {version}",
        year,
        links * each * GB,
        f"NVIDIA {chip} data sheet: {links} links of {each} GB/s each way",
    )


@dataclass(frozen=True)
class PcieGeneration:
    """A generation of PCI Express: `signalling` bytes per second of one lane one way, of which
    `share` is left after `coding`.

    A write of P bytes of payload costs `tlp_overhead` bytes more, and of the bytes after coding
    `tlp_share` is for such packets.
    """

    version: int
    year: int
    signalling: float
    share: float
    coding: str
    tlp_overhead: int
    tlp_share: float
    source: str


def _generation(version, year, gigatransfers, share, coding):
    overhead, of_flit = (16, 236 / 242) if version >= 6 else (24, 1.0)
    what = (
        "header 16 bytes; 236 bytes of a flit for packets"
        if version >= 6
        else "header 16 bytes for 64-bit addresses, framing and sequence number 4, CRC 4"
    )
    return PcieGeneration(
        version,
        year,
        gigatransfers * Gbps,
        share,
        coding,
        overhead,
        of_flit,
        f"PCI-SIG, PCI Express {version}.0 specification: {gigatransfers} GT/s, {coding}; {what}",
    )


PCIE = (
    _generation(2, 2007, 5, 8 / 10, "8b/10b"),
    _generation(3, 2010, 8, 128 / 130, "128b/130b"),
    _generation(4, 2017, 16, 128 / 130, "128b/130b"),
    _generation(5, 2019, 32, 128 / 130, "128b/130b"),
    _generation(6, 2022, 64, 242 / 256, "PAM4, 242 of a flit's 256 bytes"),
)


def _pcie(g):
    return LinkRate(
        "PCIe",
        f"PCIe {g.version}.0 x16",
        g.year,
        16 * g.signalling * g.share,
        f"16 lanes; {g.source}",
    )


# By year of launch (NVLink), of first adapters shipped (InfiniBand, 4 lanes), of the standard
# (Ethernet, PCI Express).
LINK_RATES = (
    _nvlink(1, "P100", 2016, 4, 20),
    _nvlink(2, "V100", 2017, 6, 25),
    _nvlink(3, "A100", 2020, 12, 25),
    _nvlink(4, "H100", 2022, 18, 25),
    _nvlink(5, "B200", 2024, 18, 50),
    LinkRate("InfiniBand", "QDR", 2008, 32 * Gbps, "IBTA roadmap: 4 lanes of 10 Gb/s, 8b/10b"),
    LinkRate(
        "InfiniBand",
        "FDR",
        2011,
        4 * 14.0625 * 64 / 66 * Gbps,
        "IBTA roadmap: 4 lanes of 14.0625 Gb/s, 64b/66b",
    ),
    LinkRate("InfiniBand", "EDR", 2014, 100 * Gbps, "IBTA roadmap: 4 lanes of 25 Gb/s of data"),
    LinkRate(
        "InfiniBand",
        "HDR",
        2019,
        200 * Gbps,
        "IBTA roadmap: 4 lanes of 50 Gb/s of data; announced 2016, first large systems 2019",
    ),
    LinkRate(
        "InfiniBand",
        "NDR",
        2022,
        400 * Gbps,
        "IBTA roadmap: 4 lanes of 100 Gb/s of data; announced 2020",
    ),
    LinkRate(
        "InfiniBand",
        "XDR",
        2024,
        800 * Gbps,
        "IBTA specification 1.7 (2023): 4 lanes of 200 Gb/s of data; Quantum-X800, 2024",
    ),
    LinkRate("Ethernet", "10GbE", 2002, 10 * Gbps, "IEEE 802.3ae"),
    LinkRate("Ethernet", "40GbE", 2010, 40 * Gbps, "IEEE 802.3ba"),
    LinkRate("Ethernet", "100GbE", 2010, 100 * Gbps, "IEEE 802.3ba"),
    LinkRate("Ethernet", "400GbE", 2017, 400 * Gbps, "IEEE 802.3bs"),
    LinkRate("Ethernet", "800GbE", 2024, 800 * Gbps, "IEEE 802.3df"),
    *map(_pcie, PCIE),
)


def link_rate(name: str) -> LinkRate:
    """The `LinkRate` called `name`.

    >>> link_rate("NVLink 4").per_direction / GB, link_rate("NVLink 4").both_directions / GB
    (450.0, 900.0)
    """
    one_of("name", name, [rate.name for rate in LINK_RATES])
    return next(rate for rate in LINK_RATES if rate.name == name)


def fastest(family: str, year: Values) -> LinkRate | None:
    """The fastest `LinkRate` of `family` that existed in `year`, or None: a point of figure 2's
    staircase.

    >>> fastest("InfiniBand", 2016).name, fastest("NVLink", 2010)
    ('EDR', None)
    """
    one_of("family", family, dict.fromkeys(r.family for r in LINK_RATES))
    year = scalar("year", number("year", year))
    return max(
        (r for r in LINK_RATES if r.family == family and r.year <= year),
        key=lambda r: r.per_direction,
        default=None,
    )
