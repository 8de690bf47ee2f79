"""Level 5, network virtualisation: idle capital, slices of an adapter, the checkpoint beside an
AllReduce, virtual lanes.
"""

import numpy as np

from fabriclab import catalog, cluster
from fabriclab.course.engine.ledger import Row
from fabriclab.units import GB, Gbps

PORT = catalog.link_rate("NDR").per_direction
BURST = 100 * GB
RING = (
    2 * 6 * GB
)  # what a ring AllReduce of 6 GB over many ranks puts on each link, Napkin Math 1.2


def _longer(share, size=RING):
    """How much longer an AllReduce of `size` bytes on the link gets beside the checkpoint."""
    return cluster.shared_time(size, BURST, PORT, share) * PORT / size - 1


ROWS = [
    Row(
        "sharing/capital",
        "Network virtualisation",
        "$90 M",
        lambda: 0.3 * 300e6,
        "agrees",
        "30 % of $300 M. The translation set the sentence between its dollar signs as mathematics"
        " (E-T6)",
    ),
    Row(
        "sharing/split",
        "Network virtualisation",
        "80 %",
        lambda: cluster.max_min([np.inf, np.inf], PORT, [8, 2])[0] / PORT,
        "assumed",
        "of the bisection for training, while the others want theirs: a policy, here as weights of"
        f" 8 to 2, which lengthen an AllReduce by {_longer(0.8):.0%} at most. The sentence before"
        ' says "on condition of sacrificing" predictable performance; the source says without'
        " (E-T3)",
    ),
    Row(
        "sharing/rest",
        "Network virtualisation",
        "20 %",
        lambda: cluster.max_min([np.inf, np.inf], PORT, [8, 2])[1] / PORT,
        "assumed",
        "for inference and preprocessing; a weight lets training have it while they are quiet, a"
        " hard boundary does not",
    ),
    Row(
        "sr-iov/slice",
        "SR-IOV",
        "50 Gb/s",
        lambda: cluster.max_min([np.inf] * 8, PORT)[0],
        "agrees",
        "of 400 Gb/s for each of eight VFs that want all; alone on the adapter, one with a cap of"
        f" that gets {cluster.max_min([np.inf], PORT, caps=PORT / 8)[0] / Gbps:.0f} Gb/s still, one"
        " with a guarantee 400",
    ),
    Row(
        "sr-iov/overhead",
        "SR-IOV",
        "a few %",
        None,
        "assumed",
        "below bare metal, where adapter, hypervisor and placement are set up well; no measurement"
        " is named, and a function across a NUMA boundary loses more",
    ),
    Row(
        "isolation/burst",
        "Traffic isolation and quality of service",
        "2 s",
        lambda: BURST / PORT,
        "agrees",
        "100 GB at 400 Gb/s, 50 GB/s",
    ),
    Row(
        "isolation/allreduce",
        "Traffic isolation and quality of service",
        "50 %",
        lambda: _longer(2 / 3),
        "assumed",
        "nothing in the text allows to derive it. Two AllReduce flows to the checkpoint's one on a"
        f" link are exactly 50 % more, one to one {_longer(1 / 2):.0%}; and in the fluid the"
        " checkpoint delays nobody by more than its 2 s, so 50 % needs an AllReduce of"
        f" {2 * BURST / GB:.0f} GB at most on that link: at one to one, the 700 GB of a 350 GB"
        f" gradient take {_longer(1 / 2, 700 * GB):.0%} more",
    ),
    Row(
        "isolation/lanes",
        "Traffic isolation and quality of service",
        "16",
        lambda: catalog.VIRTUAL_LANES,
        "agrees",
        f"of InfiniBand, VL15 for management among them: {catalog.DATA_LANES} for data, and a port"
        f" may have fewer; Ethernet has {catalog.TRAFFIC_CLASSES} classes",
    ),
]
