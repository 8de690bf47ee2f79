"""What a wire costs: decibels, metres, nanoseconds, watts and dollars.

A link budget is what the receiver can spare between the transmitter's power and its own
sensitivity; cable and connectors spend it. Losses grow with the signal's top frequency, half the
symbol rate (Nyquist): the square root of it in the conductor's skin, in proportion in the
dielectric. Power and money are counted in links and in modules, which are not the same thing: an
optical link has two.

Sources: chapter, "SerDes, link budgets and power" and "The cost of distance"; Johnson and Graham,
High-Speed Signal Propagation.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fabriclab import catalog
from fabriclab.catalog.cables import Medium
from fabriclab.checks import (
    Values,
    broadcastable,
    count,
    each,
    fraction,
    instance,
    nonnegative,
    number,
    positive,
    scalar,
    scalar_or_array,
)
from fabriclab.link.signal import PAM4, LineCode, symbol_rate

_REFERENCE = symbol_rate(catalog.COPPER_LOSS.lane_rate, PAM4)


def loss_per_metre(
    lane_rate: Values,
    code: LineCode = PAM4,
    dielectric_share: Values = catalog.COPPER_LOSS.dielectric_share,
) -> Values:
    """dB per metre of passive copper for lanes of `lane_rate` bytes per second: ``L0 ((1 - e)
    sqrt(f/f0) + e f/f0)``.

    f is half the symbol rate; L0 = 6 dB/m at the 50G PAM4 lane's f0 = 13.28 GHz is the chapter's
    cable, 18 dB in 3 m.
    `dielectric_share` e (0 to 1) is how much of L0 the dielectric takes: 0 is pure skin effect. The
    default is that of foamed twinax, ``pi f sqrt(er) tan d / c`` = 0.7 dB/m of the 6. The text
    gives no scaling: "increases sharply".

    Other words: attenuation, insertion loss of a copper cable, skin effect.

    >>> from fabriclab.units import Gbps
    >>> round(loss_per_metre(50 * Gbps), 9), round(loss_per_metre(100 * Gbps), 2)
    (6.0, 8.91)
    """
    share = fraction("dielectric_share", dielectric_share)
    ratio = symbol_rate(lane_rate, code) / _REFERENCE
    broadcastable(lane_rate=ratio, dielectric_share=share)
    return scalar_or_array(
        catalog.COPPER_LOSS.per_metre * ((1 - share) * np.sqrt(ratio) + share * ratio)
    )


def link_margin(
    budget: Values,
    metres: Values,
    per_metre: Values,
    connectors: Values = 0,
    per_connector: Values = 1.0,
) -> Values:
    """dB left: ``budget - metres · per_metre - connectors · per_connector``; negative means the
    link does not close.

    `budget` in dB, `metres` of cable, `per_metre` dB/m as from `loss_per_metre`. No `connectors`
    are taken off unless asked for; the chapter's two cost 1 dB each.

    Other words: link budget, dB left, attenuation, insertion loss.

    >>> link_margin(30, 3, 6), link_margin(30, 3, 6, connectors=2)
    (12.0, 10.0)
    """
    budget, metres = number("budget", budget), nonnegative("metres", metres)
    per_metre = nonnegative("per_metre", per_metre)
    connectors = count("connectors", connectors, least=0)
    per_connector = nonnegative("per_connector", per_connector)
    broadcastable(
        budget=budget,
        metres=metres,
        per_metre=per_metre,
        connectors=connectors,
        per_connector=per_connector,
    )
    return scalar_or_array(budget - metres * per_metre - connectors * per_connector)


def longest_cable(
    budget: Values,
    per_metre: Values,
    connectors: Values = 0,
    per_connector: Values = 1.0,
    margin: Values = 0.0,
) -> Values:
    """Metres until only `margin` dB are left: ``(budget - connectors · per_connector - margin) /
    per_metre``; 0 if none are.

    Other words: reach, how long a copper cable (DAC) may be, maximum length.

    >>> round(longest_cable(30, 28 / 3, connectors=2), 2), round(longest_cable(30, 10), 2)
    (3.0, 3.0)
    """
    left = np.asarray(link_margin(budget, 0, 0, connectors, per_connector))
    margin, per_metre = nonnegative("margin", margin), positive("per_metre", per_metre)
    broadcastable(budget=left, margin=margin, per_metre=per_metre)
    return scalar_or_array(np.maximum(0.0, (left - margin) / per_metre))


def propagation_delay(metres: Values, velocity: Values = catalog.FIBRE_VELOCITY) -> Values:
    """Seconds light or a signal needs for `metres`: ``metres / velocity``; 5 ns a metre at the
    default 200,000 km/s.

    Other words: time of flight, speed of light, fibre, cable length, latency per metre.

    >>> from fabriclab.units import ns
    >>> round(propagation_delay(30) / ns, 9), round(propagation_delay(100) / ns, 9)
    (150.0, 500.0)
    """
    metres, velocity = nonnegative("metres", metres), positive("velocity", velocity)
    broadcastable(metres=metres, velocity=velocity)
    return scalar_or_array(metres / velocity)


def media_for(metres: Values, media: Sequence[Medium] | None = None) -> list[Medium]:
    """The media that reach `metres`, cheapest first; without `media`, the chapter's table.

    >>> [medium.name for medium in media_for(2)], [medium.name for medium in media_for(30)]
    (['DAC', 'AOC', 'pluggable optics'], ['AOC', 'pluggable optics'])
    """
    metres = scalar("metres", nonnegative("metres", metres))
    media = [
        instance("media", medium, catalog.Medium, "those of catalog.MEDIA")
        for medium in each("media", catalog.MEDIA if media is None else media)
    ]
    return [medium for medium in media if metres <= medium.reach]


def tree_links(hosts: Values, tiers: Values) -> Values:
    """Cables of a non-blocking tree: ``hosts · tiers``: every tier of switches takes as many cables
    down as there are hosts.

    The lowest tier's are the hosts' own cables; switch to switch run ``hosts · (tiers - 1)``.

    >>> tree_links(1024, 2), tree_links(1024, 3), tree_links(10_000, 3) - tree_links(10_000, 1)
    (2048.0, 3072.0, 20000.0)
    """
    hosts, tiers = count("hosts", hosts), count("tiers", tiers)
    broadcastable(hosts=hosts, tiers=tiers)
    return scalar_or_array(hosts * tiers)


@dataclass(frozen=True)
class Bill:
    """What a number of links comes to: `links`, `modules` at their ends, dollars, watts."""

    links: float
    modules: float
    cost: float
    power: float


def optics_bill(
    links: Values, per_link: Values, per_module: Values, modules_per_link: Values = 2
) -> Bill:
    """The `Bill` of `links` links at `per_link` dollars and `per_module` watts: ``cost = links ·
    per_link``, ``power = links · modules · per_module``.

    A link has a module at either end, so `modules_per_link` is 2. The chapter multiplies by one;
    pass 1 to see its number.

    Other words: cost and power of optical transceivers, pluggable modules, watts of light.

    >>> from fabriclab.units import kW
    >>> optics_bill(20_000, 500, 20).power / kW, optics_bill(20_000, 500, 20,
    ...     modules_per_link=1).power / kW
    (800.0, 400.0)
    """
    links, ends = nonnegative("links", links), count("modules_per_link", modules_per_link, least=0)
    per_link, per_module = nonnegative("per_link", per_link), nonnegative("per_module", per_module)
    broadcastable(links=links, per_link=per_link, per_module=per_module, modules_per_link=ends)
    modules = links * ends
    return Bill(
        scalar_or_array(links),
        scalar_or_array(modules),
        scalar_or_array(links * per_link),
        scalar_or_array(modules * per_module),
    )


@dataclass(frozen=True)
class PowerShares:
    """One network's power over three bases: the accelerators alone, accelerators and network, whole
    nodes.
    """

    of_accelerators: float
    of_accelerators_and_network: float
    of_nodes: float


def power_shares(
    network: Values,
    accelerators: Values,
    per_accelerator: Values = catalog.H100.tdp,
    per_node: Values = catalog.DGX_H100_POWER,
    accelerators_per_node: Values = 8,
) -> PowerShares:
    """The `PowerShares` of a network that draws `network` watts: a percentage means nothing until
    its base is named.

    ``network / (n · per_accelerator)``, ``network / (n · per_accelerator + network)`` and ``network
    / (n/g · per_node)``.

    >>> from fabriclab.units import kW
    >>> s = power_shares(75 * kW, 1024)
    >>> round(100 * s.of_accelerators, 2), round(100 * s.of_accelerators_and_network,
    ...     2), round(100 * s.of_nodes, 2)
    (10.46, 9.47, 5.74)
    """
    network, n = nonnegative("network", network), count("accelerators", accelerators)
    each_chip, each_node = (
        positive("per_accelerator", per_accelerator),
        positive("per_node", per_node),
    )
    in_node = count("accelerators_per_node", accelerators_per_node)
    broadcastable(
        network=network,
        accelerators=n,
        per_accelerator=each_chip,
        per_node=each_node,
        accelerators_per_node=in_node,
    )
    chips, nodes = n * each_chip, n / in_node * each_node
    return PowerShares(
        scalar_or_array(network / chips),
        scalar_or_array(network / (chips + network)),
        scalar_or_array(network / nodes),
    )


def rack_power(nodes: Values, per_node: Values, other: Values = 0.0) -> Values:
    """Watts of a rack: ``nodes · per_node + other``.

    >>> from fabriclab.units import kW
    >>> round(rack_power(4, 8 * 700, other=11.1 * kW) / kW,
    ...     9), round(rack_power(4, 10.2 * kW) / kW, 9)
    (33.5, 40.8)
    """
    nodes, per_node = count("nodes", nodes, least=0), nonnegative("per_node", per_node)
    other = nonnegative("other", other)
    broadcastable(nodes=nodes, per_node=per_node, other=other)
    return scalar_or_array(nodes * per_node + other)


def serdes_power(rate: Values, energy_per_bit: Values) -> Values:
    """Watts to move `rate` bytes per second at `energy_per_bit` joules: ``8 · rate · energy``.

    >>> from fabriclab.units import Gbps, pJ
    >>> round(serdes_power(400 * Gbps, 7 * pJ), 9), round(serdes_power(800 * Gbps, 20 * pJ), 9)
    (2.8, 16.0)
    """
    rate, energy = nonnegative("rate", rate), nonnegative("energy_per_bit", energy_per_bit)
    broadcastable(rate=rate, energy_per_bit=energy)
    return scalar_or_array(8 * rate * energy)
