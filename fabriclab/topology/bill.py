"""What a network costs to buy and to run, and its card: every derived number beside its closed
form.
"""

from dataclasses import dataclass

from fabriclab import catalog
from fabriclab.catalog.cables import Module
from fabriclab.catalog.switches import Switch
from fabriclab.checks import instance
from fabriclab.topology.cuts import bisection
from fabriclab.topology.graph import Topology, wired
from fabriclab.topology.paths import paths


@dataclass(frozen=True)
class Bill:
    """Counts; (low, high) dollars for the switches; dollars for the cables, modules included; watts
    of switches and modules.
    """

    switches: int
    cables: int
    modules: int
    switch_price: tuple
    cable_price: float
    watts: float


def bill(
    topology: Topology, switch: Switch = catalog.QM9700, module: Module = catalog.PLUGGABLE
) -> Bill:
    """What to buy: switches of one model, optical links for the long layers (two modules each),
    copper for the others.

    ``switches x (low, high)``, ``links x dollars a link`` with the prices of `catalog.MEDIA`,
    ``switches x watts + modules x watts``. A host's cable is copper, as are a dragonfly's local and
    a torus's cables. Raises ValueError when the model has too few ports.

    Source: chapter, Definition 1.5 ($10,000 to $50,000 a switch), The cost of distance ($50 and
    $500 a link, 20 W a module).

    Other words: price, cost, capital, parts list, cables and transceivers of a fabric.

    >>> from fabriclab.topology import build, fat_tree
    >>> bill(fat_tree(64)).switch_price
    (51200000.0, 256000000.0)
    >>> bill(build(1024, 64)).modules, bill(build(1024, 64)).cable_price
    (2048, 563200.0)
    """
    instance("switch", switch, catalog.Switch, "catalog.QM9700")
    instance("module", module, catalog.Module, "catalog.PLUGGABLE")
    most = max(wired("topology", topology).ports_used.values(), default=0)
    if most > switch.ports:
        raise ValueError(
            f"switch must have at least the {most} ports that {topology.name} uses, not"
            f" {switch.ports}"
        )
    switches, every = sum(topology.counts), sum(topology.cables.values()) + topology.management
    optical = sum(n for layer, n in topology.cables.items() if layer in topology.optical)
    dac, fibre = (
        next(m.price for m in catalog.MEDIA if m.name == name)
        for name in ("DAC", "pluggable optics")
    )
    return Bill(
        switches,
        every,
        2 * optical,
        (switches * switch.price_low, switches * switch.price_high),
        (every - optical) * dac + optical * fibre,
        switches * switch.watts + 2 * optical * module.watts,
    )


def card(topology: Topology) -> dict[str, tuple]:
    """{quantity: (from the wiring, by closed form)}; None where no closed form is known for this
    network.

    >>> from fabriclab.topology import fat_tree
    >>> card(fat_tree(8))["links_worst"]
    (6, 6)
    """
    links = paths(topology).links_on_path
    derived = {
        "hosts": topology.hosts,
        "bisection": bisection(topology),
        "links_worst": links.worst,
        "links_mean": links.mean,
    }
    derived |= topology.switches | topology.cables
    return {name: (value, topology.closed.get(name)) for name, value in derived.items()}
