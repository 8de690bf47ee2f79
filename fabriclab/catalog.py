"""Hardware figures with where they come from: one value, one place.

Floor 1. A record is a frozen dataclass of SI floats and a `source`. The chapter's own scenario values say so; they are
inputs of its examples and not properties of a product.
"""

from dataclasses import dataclass

from fabriclab.units import GB, Gbps, TFLOPs, kW, ns, pJ, us


@dataclass(frozen=True)
class Path:
    """An end-to-end path as the alpha-beta model sees it: start-up `alpha` in seconds, `beta` in bytes per second one way."""

    name: str
    alpha: float
    beta: float
    source: str


NDR = Path("NDR InfiniBand", 1.5 * us, 50 * GB, "chapter, Napkin Math 1.1: one 400 Gb/s port, modelled start-up")
HDR = Path("HDR InfiniBand", 1.5 * us, 25 * GB, "chapter, first fallacy: one 200 Gb/s port, the same modelled start-up")
ROCE_100G = Path("RoCE 100G", 5 * us, 12.5 * GB, "chapter, Napkin Math 1.1: one 100 Gb/s port, modelled start-up")
NVLINK4 = Path("NVLink 4 (H100)", 0.5 * us, 450 * GB, "chapter: 900 GB/s counts both directions, 450 one way; start-up from its appendix")

# What the chapter's appendix gives for the same kinds of path: registry values, not the ones its worked examples use.
NDR_APPENDIX = Path("NDR InfiniBand, appendix", 5 * us, 50 * GB, "chapter's appendix on the alpha-beta model")
HDR_APPENDIX = Path("HDR InfiniBand, appendix", 7 * us, 25 * GB, "chapter's appendix on the alpha-beta model")
ROCE_APPENDIX = Path("RoCE 100G, appendix", 10 * us, 12.5 * GB, "chapter's appendix on the alpha-beta model")

H100_PEAK_FP16 = 989 * TFLOPs  # FLOP/s, dense FP16/BF16: NVIDIA H100 SXM data sheet


# Links, generation by generation. A rate is what one port or device can send; it receives as much at the same time.


@dataclass(frozen=True)
class LinkRate:
    """One generation of a link: `per_direction` bytes per second of data one way, after line coding; `both_directions` is twice that."""

    family: str
    name: str
    year: int
    per_direction: float
    source: str

    @property
    def both_directions(self):
        return 2 * self.per_direction


def _nvlink(version, chip, year, links, each):
    return LinkRate("NVLink", f"NVLink {version}", year, links * each * GB, f"NVIDIA {chip} data sheet: {links} links of {each} GB/s each way")


def _pcie(version, year, gigatransfers, share, coding):
    return LinkRate("PCIe", f"PCIe {version} x16", year, 16 * gigatransfers * Gbps * share, f"PCI-SIG, PCI Express {version} specification: 16 lanes of {gigatransfers} GT/s, {coding}")


# By year of launch (NVLink), of first adapters shipped (InfiniBand, 4 lanes), of the standard (Ethernet, PCI Express).
LINK_RATES = (
    _nvlink(1, "P100", 2016, 4, 20),
    _nvlink(2, "V100", 2017, 6, 25),
    _nvlink(3, "A100", 2020, 12, 25),
    _nvlink(4, "H100", 2022, 18, 25),
    _nvlink(5, "B200", 2024, 18, 50),
    LinkRate("InfiniBand", "QDR", 2008, 32 * Gbps, "IBTA roadmap: 4 lanes of 10 Gb/s, 8b/10b"),
    LinkRate("InfiniBand", "FDR", 2011, 4 * 14.0625 * 64 / 66 * Gbps, "IBTA roadmap: 4 lanes of 14.0625 Gb/s, 64b/66b"),
    LinkRate("InfiniBand", "EDR", 2014, 100 * Gbps, "IBTA roadmap: 4 lanes of 25 Gb/s of data"),
    LinkRate("InfiniBand", "HDR", 2019, 200 * Gbps, "IBTA roadmap: 4 lanes of 50 Gb/s of data; announced 2016, first large systems 2019"),
    LinkRate("InfiniBand", "NDR", 2022, 400 * Gbps, "IBTA roadmap: 4 lanes of 100 Gb/s of data; announced 2020"),
    LinkRate("InfiniBand", "XDR", 2024, 800 * Gbps, "IBTA specification 1.7 (2023): 4 lanes of 200 Gb/s of data; Quantum-X800, 2024"),
    LinkRate("Ethernet", "10GbE", 2002, 10 * Gbps, "IEEE 802.3ae"),
    LinkRate("Ethernet", "40GbE", 2010, 40 * Gbps, "IEEE 802.3ba"),
    LinkRate("Ethernet", "100GbE", 2010, 100 * Gbps, "IEEE 802.3ba"),
    LinkRate("Ethernet", "400GbE", 2017, 400 * Gbps, "IEEE 802.3bs"),
    LinkRate("Ethernet", "800GbE", 2024, 800 * Gbps, "IEEE 802.3df"),
    _pcie("2.0", 2007, 5, 8 / 10, "8b/10b"),
    _pcie("3.0", 2010, 8, 128 / 130, "128b/130b"),
    _pcie("4.0", 2017, 16, 128 / 130, "128b/130b"),
    _pcie("5.0", 2019, 32, 128 / 130, "128b/130b"),
    _pcie("6.0", 2022, 64, 242 / 256, "PAM4, 242 of a flit's 256 bytes"),
)


def link_rate(name):
    """The `LinkRate` called `name`.

    >>> link_rate("NVLink 4").per_direction / GB, link_rate("NVLink 4").both_directions / GB
    (450.0, 900.0)
    """
    for rate in LINK_RATES:
        if rate.name == name:
            return rate
    raise ValueError(f"name must be one of {', '.join(r.name for r in LINK_RATES)}, not {name!r}")


def fastest(family, year):
    """The fastest `LinkRate` of `family` that existed in `year`, or None: a point of figure 2's staircase.

    >>> fastest("InfiniBand", 2016).name, fastest("NVLink", 2010)
    ('EDR', None)
    """
    families = dict.fromkeys(r.family for r in LINK_RATES)
    if family not in families:
        raise ValueError(f"family must be one of {', '.join(families)}, not {family!r}")
    return max((r for r in LINK_RATES if r.family == family and r.year <= year), key=lambda r: r.per_direction, default=None)


@dataclass(frozen=True)
class Accelerator:
    """A data-centre GPU and what it is tied to: `hbm` bytes per second, `nvlink`, `host` (PCIe), and the InfiniBand `port`.

    `port` is what the maker's own eight-GPU system shipped with, `port_in_text` what the chapter's figure 3 draws beside it.
    `tdp` in watts.
    """

    name: str
    year: int
    hbm: float
    nvlink: LinkRate
    host: LinkRate
    port: LinkRate
    port_in_text: LinkRate
    tdp: float
    source: str


def _accelerator(name, year, hbm, nvlink, pcie, port, port_in_text, tdp, source):
    return Accelerator(name, year, hbm * GB, link_rate(f"NVLink {nvlink}"), link_rate(f"PCIe {pcie} x16"), link_rate(port), link_rate(port_in_text), tdp, source)


V100 = _accelerator("V100", 2017, 900, 2, "3.0", "EDR", "HDR", 300.0, "NVIDIA V100 SXM2 data sheet; DGX-1 with V100: four EDR ports for eight GPUs")
A100 = _accelerator("A100", 2020, 2039, 3, "4.0", "HDR", "HDR", 400.0, "NVIDIA A100 80 GB SXM data sheet; DGX A100: one HDR port a GPU")
H100 = _accelerator("H100", 2022, 3350, 4, "5.0", "NDR", "NDR", 700.0, "NVIDIA H100 SXM data sheet; DGX H100: one NDR port a GPU")
B200 = _accelerator("B200", 2024, 8000, 5, "5.0", "NDR", "XDR", 1000.0, "NVIDIA B200 data sheet; DGX B200: one 400 Gb/s ConnectX-7 port a GPU")
ACCELERATORS = (V100, A100, H100, B200)

DGX_H100_POWER = 10.2 * kW  # a whole node at most: NVIDIA DGX H100 data sheet
RACK_OTHER_POWER = 11.1 * kW  # a rack of four nodes, all but its GPUs: the chapter's registry


# Cables and modules


@dataclass(frozen=True)
class Medium:
    """A way to join two ports: `reach` in metres, dollars a link, watts at each end, signal `velocity` in metres per second."""

    name: str
    reach: float
    price: float
    watts_per_end: float
    velocity: float
    source: str


@dataclass(frozen=True)
class Module:
    """A transceiver, or the share of one that serves a port: `rate` bytes per second one way, `watts`, `reach` in metres."""

    name: str
    rate: float
    watts: float
    reach: float
    source: str


FIBRE_VELOCITY = 2e8  # m/s, 5 ns a metre: glass of index 1.468 gives 4.9
COPPER_VELOCITY = 1 / (4.5 * ns)  # m/s: NVIDIA MCP1650 DAC specification, 4.5 ns a metre

MEDIA = (
    Medium("DAC", 3.0, 50.0, 0.0, COPPER_VELOCITY, "chapter, media table: about 3 m, about $50, no module to power"),
    Medium("AOC", 30.0, 500.0, 20.0, FIBRE_VELOCITY, "chapter, media table: 3 to 30 m, about $500; it gives no watts, so a pluggable's"),
    Medium("pluggable optics", 100.0, 500.0, 20.0, FIBRE_VELOCITY, "chapter: over 30 m (media table), to 100 m without loss of rate; $500 and 20 W from The cost of distance"),
)

PLUGGABLE = Module("400G pluggable, chapter", 400 * Gbps, 20.0, 100.0, "chapter, Napkin Math 1.6 and The cost of distance")
CPO = Module("400G co-packaged engine, chapter", 400 * Gbps, 10.0, 100.0, "chapter, Napkin Math 1.6")
MODULES = (
    PLUGGABLE,
    CPO,
    Module("400G SR4", 400 * Gbps, 8.0, 50.0, "NVIDIA MMA4Z00-NS400 specification: 8 W typical, 9 W at most"),
    Module("400G DR4", 400 * Gbps, 9.0, 100.0, "NVIDIA MMS4X00-NS400 specification: 9 W"),
    Module("800G 2xDR4", 800 * Gbps, 16.0, 100.0, "NVIDIA MMS4X00-NS specification: two ports, 16 W typical, 17 W at most"),
)

PORT_POWER = 25.0  # W a 400 Gb/s port, SerDes and optics together: chapter, SerDes, link budgets and power


@dataclass(frozen=True)
class Copper:
    """How passive copper loses: `per_metre` dB at the Nyquist frequency of `lane_rate` PAM4, of it a share in the dielectric."""

    per_metre: float
    lane_rate: float
    dielectric_share: float
    source: str


COPPER_LOSS = Copper(6.0, 50 * Gbps, 0.12, "chapter: 18 dB in 3 m of 50G PAM4; share from foamed dielectric of er 1.5, tan d 0.0005 at 13.28 GHz: 0.74 dB/m")


@dataclass(frozen=True)
class CopperReach:
    """Metres of passive copper that someone says a lane rate allows: `least` to `most`."""

    lane_rate: float
    least: float
    most: float
    source: str


COPPER_REACH = (
    CopperReach(50 * Gbps, 3.0, 3.0, "IEEE 802.3cd objective: at least 3 m of twinax"),
    CopperReach(100 * Gbps, 1.0, 2.0, "chapter, level 1: 800 Gb/s ports"),
    CopperReach(100 * Gbps, 2.0, 3.0, "chapter, optical interconnects: 112 Gb/s lanes"),
    CopperReach(100 * Gbps, 2.0, 2.0, "IEEE 802.3ck objective: at least 2 m of twinax"),
    CopperReach(100 * Gbps, 0.5, 2.0, "NVIDIA MCP4Y10: 800G to 800G, 30 AWG"),
    CopperReach(100 * Gbps, 1.0, 3.0, "NVIDIA MCP7Y00: 800G to 2x400G, up to 26 AWG"),
    CopperReach(200 * Gbps, 1.0, 1.5, "chapter, optical interconnects: 224 Gb/s lanes"),
)

# Energy of copper SerDes per bit, joules, lowest and highest: chapter, optical interconnects
SERDES_112G = (7 * pJ, 10 * pJ)
SERDES_224G = (15 * pJ, 20 * pJ)

# Switches


@dataclass(frozen=True)
class Switch:
    """A switch: `ports` of `port_rate` bytes per second one way, a price range in dollars, watts without its modules."""

    name: str
    ports: int
    port_rate: float
    price_low: float
    price_high: float
    watts: float
    source: str


QM9700 = Switch("QM9700", 64, 400 * Gbps, 10e3, 50e3, 747.0, "NVIDIA Quantum-2 data sheet: 64 ports of 400 Gb/s, 747 W with passive cables; price a switch: chapter, Definition 1.5")
SWITCH_LATENCY = 0.6 * us  # a traversal, chapter, Napkin Math 1.4; three of them exceed the start-up of the path that has them
