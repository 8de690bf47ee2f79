"""Switches: ports, price and power, and what a traversal costs."""

from dataclasses import dataclass

from fabriclab.units import Gbps, us


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
