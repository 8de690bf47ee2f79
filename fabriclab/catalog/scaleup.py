"""Scale-up: the campus of the field guide, the domains it chooses among, and what switches them."""

from dataclasses import dataclass

from fabriclab.catalog.links import link_rate
from fabriclab.catalog.switches import ASIC_102T
from fabriclab.units import GW, MW, TB, Tbps, kW, ns, us


@dataclass(frozen=True)
class Regime:
    """A regime of the field guide: `least` to `most` accelerators, and the watts that the fewest
    and the most draw.
    """

    name: str
    least: int
    most: int
    watts_least: float
    watts_most: float
    source: str


REGIMES = (
    Regime("scale-up", 8, 1024, 12 * kW, 1 * MW, "field guide, Scale-Up vs Scale-Out"),
    Regime("scale-out", 100_000, 100_000, 180 * MW, 180 * MW, "field guide, Scale-Up vs Scale-Out"),
    Regime(
        "scale-across",
        1_000_000,
        1_000_000,
        1 * GW,
        1 * GW,
        "field guide, Scale-Up vs Scale-Out: both are least values",
    ),
)


@dataclass(frozen=True)
class CampusTier:
    """What one accelerator has of a campus's tier: `rate` bytes per second as stated, which counts
    `directions` of traffic.
    """

    name: str
    rate: float
    directions: int
    source: str


# The text names no base; 14.4 Tb/s is NVLink 5's 1.8 TB/s, and that counts both directions.
CAMPUS_SOURCE = (
    "Broadcom, OCP EMEA 2026, as the field guide reports it: per campus of a million, here divided"
    " by that"
)
CAMPUS = (
    CampusTier("scale-up", 14.4 * Tbps, 2, CAMPUS_SOURCE),
    CampusTier("scale-out", 1.6 * Tbps, 1, CAMPUS_SOURCE),
    CampusTier("scale-across", 0.16 * Tbps, 1, CAMPUS_SOURCE),
)
CAMPUS_XPUS = 1_000_000
CAMPUS_HBM = 100 * Tbps  # an accelerator's memory, as the same slide takes it


@dataclass(frozen=True)
class Domain:
    """A scale-up domain: `packages` of `dies` each on one fabric, bytes per second `per_direction`
    a package, `latency` in seconds.

    `fabric` is "switched", where all can send to any others at full rate at once, or "tree", as of
    PCIe, where they cannot.
    """

    name: str
    packages: int
    dies: int
    per_direction: float
    latency: float
    fabric: str
    source: str


NVL8 = Domain(
    "NVL8",
    8,
    1,
    link_rate("NVLink 4").per_direction,
    700 * ns,
    "switched",
    "NVIDIA DGX H100 data sheet, as of November 2026; latency: field guide",
)
NVL72 = Domain(
    "NVL72",
    72,
    2,
    link_rate("NVLink 5").per_direction,
    1 * us,
    "switched",
    "NVIDIA GB200 NVL72 data sheet, as of November 2026; latency: field guide",
)
NVL144 = Domain(
    "NVL144",
    72,
    2,
    1.8 * TB,
    1 * us,
    "switched",
    "NVIDIA, GTC 2025: NVLink 6, 3.6 TB/s a package in both directions; renamed Vera Rubin NVL72 in"
    " January 2026; latency as NVL72's",
)
NVL576 = Domain(
    "NVL576",
    144,
    4,
    1500 * TB / 144 / 2,
    1 * us,
    "switched",
    "NVIDIA, GTC 2025, Rubin Ultra as announced: 1.5 PB/s of NVLink a rack in both directions;"
    " called Kyber NVL144, by its packages, in reports of 17 March 2026; latency as NVL72's",
)
ETHERNET_512 = Domain(
    "Ethernet, one plane",
    512,
    1,
    ASIC_102T.capacity / 512,
    1 * us,
    "switched",
    "one chip of 102.4 Tb/s as 512 ports of 200 Gb/s, one for each accelerator; latency: field"
    " guide, 0.5 to 2 us",
)
PCIE_64 = Domain(
    "PCIe 5 tree",
    64,
    1,
    link_rate("PCIe 5.0 x16").per_direction,
    1 * us,
    "tree",
    "field guide: about 64 accelerators; 0.5 to 1 us a switch",
)
NVLINK_DOMAINS = (NVL8, NVL72, NVL144, NVL576)
DOMAINS = (*NVLINK_DOMAINS, ETHERNET_512, PCIE_64)
PCIE_SWITCH_LANES = 144  # the largest switch of generation 5: Broadcom PEX89144, which adds 115 ns
