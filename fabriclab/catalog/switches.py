"""Switches: ports, price and power, and what a traversal costs."""

from dataclasses import dataclass

from fabriclab.units import Gbps, Tbps, us


@dataclass(frozen=True)
class Switch:
    """A switch: `ports` of `port_rate` bytes per second one way, a price range in dollars, watts
    without its modules.
    """

    name: str
    ports: int
    port_rate: float
    price_low: float
    price_high: float
    watts: float
    source: str


QM9700 = Switch(
    "QM9700",
    64,
    400 * Gbps,
    10e3,
    50e3,
    747.0,
    "NVIDIA Quantum-2 data sheet, as of November 2026: 64 ports of 400 Gb/s, 747 W with"
    " passive cables; price a switch: chapter, Definition 1.5",
)
SWITCH_LATENCY = (
    0.6 * us
    # a traversal, chapter, Napkin Math 1.4; three of them exceed the start-up of the path that has
    # them
)


@dataclass(frozen=True)
class Asic:
    """A switch chip: `capacity` in bytes per second one way, the `year` it shipped."""

    name: str
    capacity: float
    year: int
    source: str


ASIC_25T = Asic(
    "Quantum-2",
    25.6 * Tbps,
    2021,
    "NVIDIA Quantum-2 data sheet: 64 ports of 400 Gb/s; its 51.2 Tb/s count both directions",
)
ASIC_51T = Asic("Tomahawk 5", 51.2 * Tbps, 2022, "Broadcom: 128 ports of 400 Gb/s, one way")
ASIC_102T = Asic(
    "Tomahawk 6",
    102.4 * Tbps,
    2025,
    "Broadcom, 3 June 2025: 64 ports of 1.6 Tb/s, 512 of 200 Gb/s; the chapter's figure",
)
ASICS = (ASIC_25T, ASIC_51T, ASIC_102T)
