"""Cables and modules: reach, price, power and loss."""

from dataclasses import dataclass

from fabriclab.units import Gbps, ns, pJ


@dataclass(frozen=True)
class Medium:
    """A way to join two ports: `reach` in metres, dollars a link, watts at each end, signal
    `velocity` in metres per second.
    """

    name: str
    reach: float
    price: float
    watts_per_end: float
    velocity: float
    source: str


@dataclass(frozen=True)
class Module:
    """A transceiver, or the share of one that serves a port: `rate` bytes per second one way,
    `watts`, `reach` in metres.
    """

    name: str
    rate: float
    watts: float
    reach: float
    source: str


FIBRE_VELOCITY = 2e8  # m/s, 5 ns a metre: glass of index 1.468 gives 4.9
COPPER_VELOCITY = 1 / (4.5 * ns)  # m/s: NVIDIA MCP1650 DAC specification, 4.5 ns a metre

MEDIA = (
    Medium(
        "DAC",
        3.0,
        50.0,
        0.0,
        COPPER_VELOCITY,
        "chapter, media table: about 3 m, about $50, no module to power",
    ),
    Medium(
        "AOC",
        30.0,
        500.0,
        20.0,
        FIBRE_VELOCITY,
        "chapter, media table: 3 to 30 m, about $500; it gives no watts, so a pluggable's",
    ),
    Medium(
        "pluggable optics",
        100.0,
        500.0,
        20.0,
        FIBRE_VELOCITY,
        "chapter: over 30 m (media table), to 100 m without loss of rate; $500 and 20 W from The"
        " cost of distance",
    ),
)

PLUGGABLE = Module(
    "400G pluggable, chapter",
    400 * Gbps,
    20.0,
    100.0,
    "chapter, Napkin Math 1.6 and The cost of distance",
)
CPO = Module(
    "400G co-packaged engine, chapter", 400 * Gbps, 10.0, 100.0, "chapter, Napkin Math 1.6"
)
MODULES = (
    PLUGGABLE,
    CPO,
    Module(
        "400G SR4",
        400 * Gbps,
        8.0,
        50.0,
        "NVIDIA MMA4Z00-NS400 specification, as of November 2026: 8 W typical, 9 W at most",
    ),
    Module(
        "400G DR4",
        400 * Gbps,
        9.0,
        100.0,
        "NVIDIA MMS4X00-NS400 specification, as of November 2026: 9 W",
    ),
    Module(
        "800G 2xDR4",
        800 * Gbps,
        16.0,
        100.0,
        "NVIDIA MMS4X00-NS specification, as of November 2026: two ports, 16 W typical, 17 W at"
        " most",
    ),
    Module(
        "1.6T pluggable",
        1600 * Gbps,
        30.0,
        100.0,
        "NVIDIA, Spectrum-X and Quantum-X Photonics, GTC 2025: about 30 W a port; its reach is a DR"
        " module's",
    ),
    Module(
        "1.6T co-packaged engine",
        1600 * Gbps,
        9.0,
        100.0,
        "NVIDIA, Spectrum-X and Quantum-X Photonics, GTC 2025: about 9 W a port",
    ),
)

PORT_POWER = (
    25.0  # W a 400 Gb/s port, SerDes and optics together: chapter, SerDes, link budgets and power
)


@dataclass(frozen=True)
class Copper:
    """How passive copper loses: `per_metre` dB at the Nyquist frequency of `lane_rate` PAM4, of it
    a share in the dielectric.
    """

    per_metre: float
    lane_rate: float
    dielectric_share: float
    source: str


COPPER_LOSS = Copper(
    6.0,
    50 * Gbps,
    0.12,
    "chapter: 18 dB in 3 m of 50G PAM4; share from foamed dielectric of er 1.5, tan d 0.0005 at"
    " 13.28 GHz: 0.74 dB/m",
)


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
    CopperReach(100 * Gbps, 0.5, 2.0, "NVIDIA MCP4Y10, as of November 2026: 800G to 800G, 30 AWG"),
    CopperReach(
        100 * Gbps, 1.0, 3.0, "NVIDIA MCP7Y00, as of November 2026: 800G to 2x400G, up to 26 AWG"
    ),
    CopperReach(200 * Gbps, 1.0, 1.5, "chapter, optical interconnects: 224 Gb/s lanes"),
)

# Energy of copper SerDes per bit, joules, lowest and highest: chapter, optical interconnects
SERDES_112G = (7 * pJ, 10 * pJ)
SERDES_224G = (15 * pJ, 20 * pJ)
