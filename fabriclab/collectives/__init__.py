"""Level 2, many ranks: what a collective costs in the alpha-beta model, and what of it a compute
phase hides. `torus` and `hierarchical` are for networks where ranks are not all alike.

Every rank has one port that sends and receives at `beta` bytes per second at once; a step
costs `alpha`. `size` is the buffer that nccl-tests prints: for AllReduce and Broadcast what each
rank holds, for ReduceScatter, AllGather and AllToAll the whole buffer of which each rank's share is
size/N. One rank has nobody to talk to: 0 s. Sizes of 0 bytes still pay the start-ups. All functions
take scalars or arrays that broadcast and raise ValueError for a negative size or alpha, a beta that
is not more than zero, or a rank count that is not a whole number of one or more.

Sources: Thakur, Rabenseifner and Gropp 2005; Sanders, Speck and Träff 2009; chapter, Napkin Math
1.2, and its appendix.
"""

from fabriclab.collectives.flat import (
    Step,
    all_gather,
    all_to_all,
    broadcast,
    bus_factor,
    exposed_time,
    hidden_payload,
    hierarchical_allreduce,
    pipelined_tree_allreduce,
    rabenseifner_allreduce,
    recursive_doubling_allreduce,
    reduce_scatter,
    ring_allreduce,
    tree_allreduce,
    utilisation,
)
from fabriclab.collectives.shaped import hierarchical, torus

__all__ = [name for name in dir() if not name.startswith("_") and name not in ("flat", "shaped")]
