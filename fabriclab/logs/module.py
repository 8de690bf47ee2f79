"""What ``mlxlink -m`` prints of the module in a port: temperature, light and current lane by lane.

The layout, in our words. A value, or one per lane parted by commas, and behind it in brackets what
the module's maker allows: ``Rx Power Current [dBm] : 1.3,1.1,-9.5,1.2 [-10.3..5.0]``.
"""

import re
import statistics
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from fabriclab.logs.sign import Sign

if TYPE_CHECKING:
    from fabriclab.logs.mlxlink.ports import Port

_VALUE = re.compile(r"(-?\d{1,6}(?:\.\d{1,6})?(?:\s*,\s*-?\d{1,6}(?:\.\d{1,6})?){0,31})")
_RANGE = re.compile(r"\[\s*(-?\d{1,6}(?:\.\d{1,6})?)\s*\.\.\s*(-?\d{1,6}(?:\.\d{1,6})?)\s*\]")
DARK = -30.0  # dBm: what a receiver shows without light
WEAKER = 3.0  # dB: half of the light of the other lanes


class Measured(NamedTuple):
    """What a module measures, one value per lane, and what its maker allows, None if not said."""

    values: tuple[float, ...]
    least: float | None = None
    most: float | None = None


def measured(text: str) -> Measured | None:
    """The `Measured` of a field's text, None where it holds no number.

    >>> measured("44 [-10..80]")
    Measured(values=(44.0,), least=-10.0, most=80.0)
    """
    found, allowed = _VALUE.match(text.strip()), _RANGE.search(text)
    if not found:
        return None
    values = tuple(float(part) for part in found[1].split(","))
    return (
        Measured(values, *(float(part) for part in allowed.groups()))
        if allowed
        else Measured(values)
    )


def signs(port: "Port") -> Iterator:
    """What stands out in a port's module: light below what is allowed or below the other lanes', a
    module too hot.
    """
    for way, words in (("rx_power", "received"), ("tx_power", "sent")):
        light = getattr(port, way)
        if not light:
            continue
        usual = statistics.median(light.values)
        for lane, value in enumerate(light.values):
            least = light.least if light.least is not None else DARK
            if value > least and value > usual - WEAKER:
                continue
            dark = "no light" if value <= DARK else f"{value:g} dBm"
            yield Sign(
                "weak-light",
                f"lane {lane} of the module: {dark} {words}, the median of its lanes is {usual:g}"
                + (f", {light.least:g} the least allowed" if light.least is not None else "")
                + ": dirt, a bend, or a laser that ages",
            )
    heat = port.temperature
    if heat and heat.most is not None and max(heat.values) >= heat.most:
        yield Sign(
            "hot-module",
            f"the module is at {max(heat.values):g} C, {heat.most:g} is the most allowed",
        )


def words(port: "Port") -> list[str]:
    """The module's facts for a report, none where nothing was printed."""
    facts = [port.cable]
    if port.temperature:
        facts.append(f"{max(port.temperature.values):g} C")
    for way, name in (("rx_power", "receives"), ("tx_power", "sends")):
        if light := getattr(port, way):
            least, most = min(light.values), max(light.values)
            facts.append(f"{name} {least:g}" + (f" to {most:g} dBm" if most > least else " dBm"))
    facts = [fact for fact in facts if fact]
    return [f"module: {', '.join(facts)}"] if facts else []
