"""Scale-up: PCIe links and trees (`pcie`), headers and packing (`headers`), the campus (`campus`),
and which domain to choose (`choice`).

Every rate is bytes per second one way unless a name says otherwise.
"""

from fabriclab.scaleup.campus import Pyramid, planes_to_match, pyramid, watts_each
from fabriclab.scaleup.choice import bisection, compare, domain_allreduce, matrix_row, overlaid
from fabriclab.scaleup.headers import (
    STACKS,
    header_bytes,
    packing_delay,
    payload_efficiency,
    spare_bits,
)
from fabriclab.scaleup.pcie import (
    PcieTree,
    behind_host,
    down_ports,
    payload_rate,
    pcie_rate,
    peer_share,
    tree_depth,
)

__all__ = [
    name
    for name in dir()
    if not name.startswith("_") and name not in ("campus", "choice", "headers", "pcie")
]
