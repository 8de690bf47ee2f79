"""A `Design`, its wiring, its bill and its cables' lengths: `wired`, `bought`, `lengths`."""

import functools
import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from fabriclab import catalog, link, topology
from fabriclab.course.design.brief import BRIEF, Brief
from fabriclab.units import Gbps

FABRICS = ("tree", "rails", "separate rails")
CHIPS = {chip.name: chip for chip in catalog.ASICS}
MODULES = {module.name: module for module in catalog.MODULES}


@dataclass(frozen=True)
class Design:
    """A fabric, as one would order it.

    `fabric`: "tree", "rails" or "separate rails"; `chip`: a name of `catalog.ASICS`; `port`: bytes
    per second of an accelerator's port, one way; `oversubscription` of the leaves; `planes` that a
    port is cut into; `module`: a name of `catalog.MODULES`; `hosts_on_fibre`: modules to the
    accelerators as well, not copper; `spares`: nodes beyond those asked for; `checkpoint`: seconds
    of work between two, None for the best there is.
    """

    fabric: str = "tree"
    chip: str = catalog.ASIC_25T.name
    port: float = 400 * Gbps
    oversubscription: float = 1.0
    planes: int = 1
    module: str = catalog.PLUGGABLE.name
    hosts_on_fibre: bool = False
    spares: int = 8
    checkpoint: float | None = None

    def __post_init__(self):
        for name, known in (("fabric", FABRICS), ("chip", CHIPS), ("module", MODULES)):
            if getattr(self, name) not in tuple(known):
                raise ValueError(
                    f"{name} must be one of {', '.join(known)}, not {getattr(self, name)!r:.60}"
                )
        for name, least in (("port", 1), ("oversubscription", 1), ("planes", 1), ("spares", 0)):
            value = getattr(self, name)
            if isinstance(value, np.generic):
                value = value.item()  # a setting travels as plain data
                object.__setattr__(self, name, value)
            if type(value) not in (int, float) or not least <= value < math.inf:
                raise ValueError(f"{name} must be a number, {least} or more, not {value!r:.60}")
        for name in ("planes", "spares"):
            if getattr(self, name) != int(getattr(self, name)):
                raise ValueError(f"{name} must be a whole number, not {getattr(self, name)!r}")
        if type(self.hosts_on_fibre) is not bool:
            raise ValueError(f"hosts_on_fibre must be True or False, not {self.hosts_on_fibre!r}")
        every = self.checkpoint
        if every is not None and (type(every) not in (int, float) or not 0 < every < math.inf):
            raise ValueError(f"checkpoint must be seconds, more than 0, or None, not {every!r:.60}")

    def settings(self):
        """The fields as plain data."""
        return asdict(self)


def wired(design: Design, accelerators: int, brief: Brief = BRIEF) -> topology.Topology:
    """One plane of the design over that many accelerators and its spares. Raises ValueError, with
    the reason, for what cannot be wired.
    """
    nodes = accelerators // brief.per_node + int(design.spares)
    radix = int(link.switch_ports(CHIPS[design.chip].capacity, design.port / design.planes))
    rate = design.port / design.planes
    return _wired(design.fabric, nodes, brief.per_node, radix, design.oversubscription, rate)


@functools.lru_cache(maxsize=64)
def _wired(fabric, nodes, per_node, radix, ratio, rate):
    if fabric == "tree":
        return topology.build(nodes * per_node, radix, ratio, per_node, bandwidth=rate)
    joined = fabric == "rails"
    return topology.rail_optimised(nodes, per_node, radix, ratio, joined, bandwidth=rate)


def bought(design: Design, net: topology.Topology, brief: Brief = BRIEF) -> dict:
    """What all planes come to: `switches`, `copper` and `fibre` links of a whole port's rate,
    `modules`, `dollars` (spares included) and `watts` of the network.
    """
    long = {name for name in net.cables if name in net.optical}
    if design.hosts_on_fibre:
        long.add("host-leaf")
    fibre = sum(n for name, n in net.cables.items() if name in long)
    copper = sum(net.cables.values()) - fibre
    switches = sum(net.counts) * int(design.planes)
    capacity = CHIPS[design.chip].capacity
    light = link.optics_bill(fibre, brief.fibre_price * design.port, MODULES[design.module].watts)
    wire = link.optics_bill(copper, brief.copper_price * design.port, 0.0)
    more = net.hosts * max(0.0, design.port - 400 * Gbps)  # beyond what a node brings
    return {
        "switches": switches,
        "copper": copper,
        "fibre": fibre,
        "modules": int(light.modules),
        "optics": light.power,
        "dollars": switches * capacity * brief.switch_price
        + light.cost
        + wire.cost
        + more * brief.nic_price
        + design.spares * brief.node_price,
        "watts": switches * capacity * brief.switch_watts + light.power + more * brief.nic_watts,
    }


@functools.lru_cache(maxsize=64)
def nodes_under_leaf(net: topology.Topology) -> int:
    """The most nodes that one leaf has a cable to."""
    hosts = net.layer == net.layers.index("host-leaf")
    pairs = np.unique(net.b[hosts].astype(np.int64) * net.hosts + net.node[net.a[hosts]])
    return int(np.bincount(pairs // net.hosts).max())


def lengths(net: topology.Topology, racks: int, brief: Brief = BRIEF) -> tuple[float, float]:
    """Metres of the longest cable from a node to its leaf, and of the longest in the hall: racks
    under one leaf stand side by side, rows one behind another.
    """
    under = math.ceil(nodes_under_leaf(net) / brief.nodes_in_rack)
    across = brief.pitch * (min(racks, brief.row) - 1)
    behind = brief.aisle * (math.ceil(racks / brief.row) - 1)
    return brief.in_rack + brief.pitch * (under - 1), brief.in_rack + across + behind


def handed_in(folder: str | Path, exercise: str = "design.order") -> dict[str, Design]:
    """A class's designs by student, from the `folder` that `fabriclab grade` wrote. Who handed in
    none, or one that nobody sells, is left out.
    """
    found = {}
    for path in sorted(Path(folder).glob("results/*/*.json")):
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
            found[kept["student"]] = Design(**json.loads(kept["answers"][exercise]["text"]))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return found
