"""Published designs, wired by the same rules as everything else: the tables they must match are in
the tests.
"""

from dataclasses import replace

from fabriclab.topology.clos import build
from fabriclab.topology.graph import Topology, whole
from fabriclab.topology.rails import rail_optimised

MOST_UNITS = 256  # what three tiers of 64-port switches can join


def _units(units):
    if whole("units", units) > MOST_UNITS:
        raise ValueError(f"units must be at most {MOST_UNITS}, as 64-port switches join no more")
    return whole("units", units)


def superpod_h100(units: int = 4) -> Topology:
    """NVIDIA DGX SuperPOD with DGX H100: `units` scalable units of 32 nodes, the last of 31 to
    leave room for management.

    NVIDIA publishes 1 to 4 units; four cables of the fabric manager sit on ports that the missing
    node would have used.

    Source: NVIDIA DGX SuperPOD Reference Architecture, DGX H100, network fabrics.

    >>> pod = superpod_h100(4)
    >>> pod.hosts, pod.switches, pod.management
    (1016, {'leaf': 32, 'spine': 16}, 4)
    """
    units = _units(units)
    return replace(
        rail_optimised(32 * units - 1), name=f"DGX SuperPOD H100, {units} SU", management=4
    )


def superpod_b200(units: int = 4) -> Topology:
    """NVIDIA DGX SuperPOD with DGX B200: full scalable units of 32 nodes; a core tier above eight
    of them.

    Source: NVIDIA DGX SuperPOD Reference Architecture, DGX B200, architecture, component counts for
    2 to 64 units.

    >>> superpod_b200(8).switches, superpod_b200(16).switches
    ({'leaf': 64, 'spine': 32}, {'leaf': 128, 'spine': 128, 'core': 64})
    """
    units = _units(units)
    return replace(rail_optimised(32 * units), name=f"DGX SuperPOD B200, {units} SU")


def meta_24k() -> Topology:
    """Meta's 24,576-GPU RoCE cluster: racks of two 8-GPU nodes, pods of 192 racks (3,072 GPUs) at
    1:1, 1:7 above the pods.

    The papers give hosts, racks, pods and ratios. The switches above the racks are modular chassis
    whose number they do not give: 16 a pod and 16 above, with 224 ports in use, is the smallest
    even wiring of those ratios, and ours (28 uplinks for 192 downlinks, 6.86:1, the nearest whole
    number that does not exceed 7).

    Source: Llama Team 2024, section 3.3.1; Gangidi et al. 2024 (SIGCOMM).

    >>> meta_24k().switches
    {'leaf': 1536, 'spine': 128, 'core': 16}
    """
    return replace(build(24_576, (32, 224, 224), (1, 7), per_node=8), name="Meta 24,576")
