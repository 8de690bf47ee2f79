"""What is asked for: the jobs, the budget, the prices and the hall, each with where it comes from.

Prices, the hall and the jobs are a scenario, ours, and fields of the brief: `dataclasses.replace`
makes another one. Rates of failure, reach and power are the catalogue's.
"""

from dataclasses import dataclass, replace

from fabriclab import catalog, reliability
from fabriclab.units import GB, MB, MW, Gbps, Tbps, day, minute, ms


@dataclass(frozen=True)
class Collective:
    """One kind of collective of a step: `times` of `size` bytes (as nccl-tests counts) in groups of
    `ranks`, all groups at once, `hidden` seconds of it behind compute at best. A group's nodes are
    neighbours, or `spread` evenly over the machine.
    """

    kind: str
    size: float
    ranks: int
    times: int
    hidden: float
    spread: bool = False


@dataclass(frozen=True)
class Job:
    """A job of the mix: its `share` of the machine's hours, seconds of `compute` a step, what it
    sends.
    """

    name: str
    share: float
    compute: float
    collectives: tuple


@dataclass(frozen=True)
class Brief:
    """What is asked for: SI units, dollars. `dollars` pays for the network and the spare nodes; the
    watts and the racks are those of everything.
    """

    accelerators: int
    growth: int
    per_node: int
    dollars: float
    watts: float
    racks: int
    jobs: tuple
    # prices: scenario; a switch's are those of the QM9700 for each bit it carries
    node_price: float = 300e3
    nic_price: float = 1600 / (400 * Gbps)  # each further byte a second beyond the node's own 400G
    switch_price: float = (catalog.QM9700.price_low + catalog.QM9700.price_high) / 2 / (25.6 * Tbps)
    copper_price: float = catalog.MEDIA[0].price / (400 * Gbps)  # a link
    fibre_price: float = catalog.MEDIA[2].price / (400 * Gbps)  # a link, both modules included
    # watts
    node_watts: float = catalog.DGX_H100_POWER
    nic_watts: float = catalog.PORT_POWER / (400 * Gbps)
    switch_watts: float = catalog.QM9700.watts / (25.6 * Tbps)
    # the hall: scenario
    nodes_in_rack: int = 4
    switches_in_rack: int = 20
    in_rack: float = 1.4  # metres of cable from a node to a switch in its own rack
    pitch: float = 0.6  # metres from rack to rack
    row: int = 40  # racks in a row
    aisle: float = 2.4  # metres from row to row
    # what fails: one accelerator with its share of the node, and one module
    accelerator_rate: float = reliability.rate_from_events(
        catalog.LLAMA3.interruptions, catalog.LLAMA3.seconds, catalog.LLAMA3.gpus
    )
    module_rate: float = reliability.rate_from_ppm(10)  # 0.001 % a day: Napkin Math 1.5
    repair: float = 2 * day  # until a node is back: scenario
    save: float = 1 * minute
    restart: float = 10 * minute

    @property
    def nodes(self):
        return self.accelerators // self.per_node


# A dense model of 70e9 parameters in two bytes, sharded over all accelerators (FSDP): gathered
# before the forward and before the backward pass, gradients scattered after it. Compute times and
# what overlap hides: ours.
DENSE = Job(
    "dense",
    0.6,
    2000 * ms,
    (
        Collective("all_gather", 140 * GB, 4096, 2, 1000 * ms),
        Collective("reduce_scatter", 140 * GB, 4096, 1, 500 * ms),
    ),
)
# Tokens go to their experts and back in 32 layers, forward and backward: 128 exchanges. The
# scheduler takes nodes where they are free: groups are spread over the machine.
EXPERTS = Job(
    "experts",
    0.4,
    1500 * ms,
    (
        Collective("all_to_all", 200 * MB, 256, 128, 300 * ms, spread=True),
        Collective("reduce_scatter", 40 * GB, 4096, 1, 150 * ms),
    ),
)
BRIEF = Brief(4096, 16_384, 8, 26e6, 5.75 * MW, 145, (DENSE, EXPERTS))


def asked(dollars: float, watts: float, experts: float) -> Brief:
    """`BRIEF` with another budget, and `experts` of the machine's hours for the mixture."""
    jobs = replace(DENSE, share=1 - experts), replace(EXPERTS, share=experts)
    return replace(BRIEF, dollars=dollars, watts=watts, jobs=jobs)
