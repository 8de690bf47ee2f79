"""What a slow link, lost bandwidth and a bad placement cost a job, shares of money, and the unit a
SuperPOD is built of.

Sources: chapter, level 5 and monitoring.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fabriclab import catalog, topology
from fabriclab.checks import (
    Values,
    broadcastable,
    count,
    fraction,
    nonnegative,
    number,
    positive,
    scalar,
    scalar_or_array,
)
from fabriclab.collectives import pipelined_tree_allreduce, ring_allreduce
from fabriclab.topology.graph import Topology, wired
from fabriclab.units import hour


def slow_link(size: Values, ranks: Values, alpha: Values, beta: Values, slowdown: Values) -> Values:
    """Seconds of a ring AllReduce with one link at beta/s, s the `slowdown`: ``2(N-1)(alpha + s
    M/(N beta))``.

    Every chunk passes every link, so one slow link sets the pace of all: a ring runs at its slowest
    link's rate.

    Other words: one degraded link in an AllReduce, straggler link, half-rate port.

    >>> from fabriclab.units import GB, ms, us
    >>> # 242.8 with all links whole
    >>> round(slow_link(6 * GB, 1024, 1.5 * us, 50 * GB, 2) / ms, 1)
    482.6
    """
    slowdown, beta = (
        number("slowdown", slowdown, least=1.0, expected="1 or more (2 is half the bandwidth)"),
        positive("beta", beta),
    )
    broadcastable(slowdown=slowdown, beta=beta)
    return ring_allreduce(size, ranks, alpha, beta / slowdown)


def slow_trees(
    size: Values, ranks: Values, alpha: Values, beta: Values, slowdown: Values, share: Values = 1.0
) -> Values:
    """Seconds of an AllReduce over two complementary trees with one slow part: pipelined at ``beta
    / max(1, share s)``.

    Each tree carries half of the buffer, up and then down, and every rank is a leaf of one of them
    (Sanders, Speck and Träff 2009). `share` is what part of M passes the slow part in each phase: 1
    at the port of a rank with two children, which is nearly every rank; 1/2 on a cable that carries
    one edge of one tree, and at the ports of the two roots, which have one child each. The part
    runs at beta/s, s the `slowdown`.

    >>> from fabriclab.units import GB, ms, us
    >>> # 255 with all links whole
    >>> [round(slow_trees(6 * GB, 512, 1.5 * us, 48 * GB, 2, share) / ms) for share in (1, 0.5)]
    [507, 255]
    """
    slowdown, share = (
        number("slowdown", slowdown, least=1.0, expected="1 or more (2 is half the bandwidth)"),
        fraction("share", share),
    )
    beta = positive("beta", beta)
    broadcastable(slowdown=slowdown, share=share, beta=beta)
    return pipelined_tree_allreduce(size, ranks, alpha, beta / np.maximum(1.0, share * slowdown))


def waste(share: Values, bandwidth_loss: Values) -> Values:
    """How much longer a step gets, as a share of it, when bandwidth drops by x: ``f (1/(1-x) -
    1)``.

    `share` f of the step is exposed communication, 0 to 1, all of it bandwidth; `bandwidth_loss` x
    from 0 to below 1.

    >>> round(waste(0.18, 0.10), 9), round(waste(0.27, 0.10), 9)
    (0.02, 0.03)
    """
    lost = number(
        "bandwidth_loss",
        bandwidth_loss,
        least=0.0,
        most=1 - 1e-12,
        expected="0 or more and less than 1",
    )
    share = fraction("share", share)
    broadcastable(share=share, bandwidth_loss=lost)
    return scalar_or_array(share * lost / (1 - lost))


def share_behind(lengthening: Values, bandwidth_loss: Values) -> Values:
    """The communication share that makes a bandwidth loss of x lengthen the step so: ``l (1-x)/x``,
    `waste` turned round.

    Above 1 no step can be so lengthened: bandwidth alone does not explain it. `bandwidth_loss` is
    more than 0, at most 1.

    >>> round(share_behind(0.6 / 4.2, 0.5), 3)     # Checkpoint 1.5: 4.2 to 4.8 s, 48 to 24 GB/s
    0.143
    """
    lost = number(
        "bandwidth_loss",
        bandwidth_loss,
        least=1e-12,
        most=1.0,
        expected="more than 0, and at most 1",
    )
    lengthening = nonnegative("lengthening", lengthening)
    broadcastable(lengthening=lengthening, bandwidth_loss=lost)
    return scalar_or_array(lengthening * (1 - lost) / lost)


def gpu_hours(gpus: Values, seconds: Values, share: Values = 1.0) -> Values:
    """GPU-hours: ``gpus · seconds · share / 3600``; `share` is the part of the time that counts,
    such as what `waste` gives.

    Other words: cost of idle GPUs, GPU time.

    >>> from fabriclab.units import day
    >>> gpu_hours(1024, 30 * day), round(gpu_hours(1024, 30 * day, 0.02))
    (737280.0, 14746)
    """
    gpus, seconds, share = (
        count("gpus", gpus, least=0),
        nonnegative("seconds", seconds),
        nonnegative("share", share),
    )
    broadcastable(gpus=gpus, seconds=seconds, share=share)
    return scalar_or_array(gpus * seconds * share / hour)


def cost_of(gpu_hours: Values, dollars: Values = 3.0) -> Values:
    """Dollars: ``gpu_hours · dollars``, the price of one GPU-hour; $3 is the chapter's.

    >>> cost_of(15_000)
    45000.0
    """
    gpu_hours, dollars = nonnegative("gpu_hours", gpu_hours), nonnegative("dollars", dollars)
    broadcastable(gpu_hours=gpu_hours, dollars=dollars)
    return scalar_or_array(gpu_hours * dollars)


def placement_lengthening(network: Topology, placement: Sequence[int], share: Values) -> Values:
    """How much longer a step gets by where its job sits, as a share of it: ``f (r - 1)``.

    r is `topology.placement_oversubscription` of the hosts in `placement`; `share` f of the step is
    communication at full rate in the worst permutation for this placement, such as rank i with rank
    i + N/2. Other traffic is slowed less, so this is the most: an AllToAll sends half of its bytes
    out of either of two halves, so r/2 stands for r there (from 1 on), and a ring hardly any.

    >>> tree = topology.build(1344, 64, oversubscription=2)      # 42 hosts and 21 uplinks a leaf
    >>> placement_lengthening(tree, range(42), 0.3), placement_lengthening(tree, range(84), 0.3)
    (0.0, 0.3)
    """
    return scalar_or_array(
        fraction("share", share)
        * (topology.placement_oversubscription(wired("network", network), placement) - 1)
    )


@dataclass(frozen=True)
class ScalableUnit:
    """A block that a cluster is built of: `nodes`, `gpus`, and `injection`, bytes per second one
    way of all its ports.
    """

    nodes: int
    gpus: int
    injection: float


def scalable_unit(
    nodes: Values = 32, per_node: Values = 8, port: Values = catalog.NDR.beta
) -> ScalableUnit:
    """The `ScalableUnit` of `nodes` nodes with a port of `port` bytes per second for each of
    `per_node` GPUs; the DGX SuperPOD's is 32.

    Four make the text's 1,024 GPUs. NVIDIA's own four-unit system has 127 nodes, as
    `topology.superpod_h100` wires it: the fabric manager takes the last node's ports.

    >>> from fabriclab.units import TB
    >>> unit = scalable_unit()
    >>> unit.gpus, unit.injection / TB, topology.superpod_h100(4).hosts
    (256, 12.8, 1016)
    """
    nodes, per_node = (
        int(scalar(name, count(name, value)))
        for name, value in (("nodes", nodes), ("per_node", per_node))
    )
    return ScalableUnit(
        nodes, nodes * per_node, scalar_or_array(nodes * per_node * positive("port", port))
    )
