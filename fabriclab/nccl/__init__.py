"""NCCL: what the environment tells it, and what an AllReduce then costs.

`settings(environment)` reads the variables as NCCL would on a given node and says what
each does, what it ignores, and what this model does not know; `allreduce_time(size, nodes,
settings)` is NCCL's own cost model, with its own constants.
"""

from fabriclab.nccl.cost import (
    ALGORITHMS,
    PROTOCOLS,
    allreduce_time,
    busbw,
    choice,
    inside_bandwidth,
    network_bandwidth,
    options,
)
from fabriclab.nccl.environment import DGX_H100, Node, Settings, settings
from fabriclab.nccl.variables import MOST_CHANNELS, chosen_hcas

__all__ = [
    name
    for name in dir()
    if not name.startswith("_") and name not in ("cost", "environment", "variables")
]
