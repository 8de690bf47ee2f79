"""Level 5: what a step exposes, what a slow link and a bad placement cost, and how tenants share a
port.

An AllReduce hides behind the backward pass only as far as its gradients are ready: they
come in buckets, last layer first, and the bucket that comes last has nothing left to hide behind
(`overlap`). Bandwidth that is lost shows in the step only through the share of it that
communicates, so it is rarely noticed and always paid for (`costs`). Where jobs share a link, each
gets the fair share that weights, caps and priorities leave it (`sharing`). Memory in a pool is paid
for at every access (`pooling`). Idle workers are counted in `fabriclab.congestion`, a network's
power over each base in `fabriclab.link.power_shares`, the designs' switches and cables in
`fabriclab.topology`.
"""

from fabriclab.cluster.costs import (
    ScalableUnit,
    cost_of,
    gpu_hours,
    placement_lengthening,
    scalable_unit,
    share_behind,
    slow_link,
    slow_trees,
    waste,
)
from fabriclab.cluster.overlap import BucketedStep, bucketed_step, exposed_overlap
from fabriclab.cluster.pooling import pooled_loads, pooled_stream, stranded
from fabriclab.cluster.sharing import (
    SharedLink,
    isolation,
    max_min,
    max_min_network,
    processor_sharing,
    shared_time,
    water_level,
)

__all__ = [
    "BucketedStep",
    "ScalableUnit",
    "SharedLink",
    "bucketed_step",
    "cost_of",
    "exposed_overlap",
    "gpu_hours",
    "isolation",
    "max_min",
    "max_min_network",
    "placement_lengthening",
    "pooled_loads",
    "pooled_stream",
    "processor_sharing",
    "scalable_unit",
    "share_behind",
    "shared_time",
    "slow_link",
    "slow_trees",
    "stranded",
    "waste",
    "water_level",
]
