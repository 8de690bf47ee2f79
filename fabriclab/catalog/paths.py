"""End-to-end paths as the alpha-beta model sees them: the chapter's worked examples, and its
appendix.
"""

from dataclasses import dataclass

from fabriclab.units import GB, Gbps, ns, us


@dataclass(frozen=True)
class Path:
    """An end-to-end path as the alpha-beta model sees it: start-up `alpha` in seconds, `beta` in
    bytes per second one way.
    """

    name: str
    alpha: float
    beta: float
    source: str


NDR = Path(
    "NDR InfiniBand",
    1.5 * us,
    50 * GB,
    "chapter, Napkin Math 1.1: one 400 Gb/s port, modelled start-up",
)
HDR = Path(
    "HDR InfiniBand",
    1.5 * us,
    25 * GB,
    "chapter, first fallacy: one 200 Gb/s port, the same modelled start-up",
)
ROCE_100G = Path(
    "RoCE 100G", 5 * us, 12.5 * GB, "chapter, Napkin Math 1.1: one 100 Gb/s port, modelled start-up"
)
TCP = Path(
    "kernel TCP",
    15 * us,
    30 * Gbps,
    "chapter: 10 to 20 us (figure 7), 20 to 40 Gb/s on any link (fallacy on TCP tests)",
)
NVLINK4 = Path(
    "NVLink 4 (H100)",
    0.5 * us,
    450 * GB,
    "chapter: 900 GB/s counts both directions, 450 one way; start-up from its appendix",
)

# What the chapter's appendix gives for the same kinds of path: registry values, not the ones its
# worked examples use.
NDR_APPENDIX = Path(
    "NDR InfiniBand, appendix", 5 * us, 50 * GB, "chapter's appendix on the alpha-beta model"
)
HDR_APPENDIX = Path(
    "HDR InfiniBand, appendix", 7 * us, 25 * GB, "chapter's appendix on the alpha-beta model"
)
ROCE_APPENDIX = Path(
    "RoCE 100G, appendix", 10 * us, 12.5 * GB, "chapter's appendix on the alpha-beta model"
)

# Memory as a core sees it: `alpha` is one load, `beta` what a stream gets.
DRAM = Path(
    "local DRAM",
    85 * ns,
    300 * GB,
    "Li et al. 2023 (Pond): 85 ns unloaded; eight channels of DDR5-4800 are 307 GB/s",
)
CXL_POOL = Path(
    "CXL pool",
    165 * ns,
    64 * GB,
    "Li et al. 2023 (Pond): a pool of 8 to 16 sockets adds 70 to 90 ns; CXL 2.0 over 16 PCIe 5"
    " lanes, 64 GB/s one way",
)
CXL_SWITCHED = Path(
    "CXL pool behind a switch",
    270 * ns,
    64 * GB,
    "Li et al. 2023 (Pond): some 270 ns and more across a rack, from memory; CXL 2.0 over 16 PCIe 5"
    " lanes",
)
