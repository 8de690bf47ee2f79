"""Hardware figures with where they come from: one value, one place.

A record is a frozen dataclass of SI floats and a `source`, which says who and, of what can age,
when. The chapter's own scenario values say so; they are inputs of its examples and not properties
of a product. One file for each kind of thing; all of it is reached from here.
"""

from fabriclab.catalog.accelerators import (
    A100,
    ACCELERATORS,
    B200,
    DGX_H100_POWER,
    H100,
    H100_BUSBW,
    H100_PEAK_FP16,
    RACK_OTHER_POWER,
    V100,
    Accelerator,
)
from fabriclab.catalog.cables import (
    COPPER_LOSS,
    COPPER_REACH,
    COPPER_VELOCITY,
    CPO,
    FIBRE_VELOCITY,
    MEDIA,
    MODULES,
    PLUGGABLE,
    PORT_POWER,
    SERDES_112G,
    SERDES_224G,
    Copper,
    CopperReach,
    Medium,
    Module,
)
from fabriclab.catalog.domestic import (
    ATLAS_950,
    CLOUDMATRIX_384,
    CLOUDMATRIX_MODULES,
    DOMESTIC,
    LPO_400G,
    NVL72_RACK,
    SUPERNODES,
    Claim,
    Supernode,
)
from fabriclab.catalog.generations import CONNECTX, INFINIBAND, Adapter, InfiniBandGeneration
from fabriclab.catalog.headers import (
    ESUN_FIELDS,
    ETHERNET_FRAME,
    ETHERNET_GAP,
    ETHERNET_LEAST,
    ETHERNET_PREAMBLE,
    HEADER_STACKS,
    RDMA_STACKS,
    VLAN_TAG,
    HeaderStack,
    RdmaStack,
)
from fabriclab.catalog.lanes import DATA_LANES, TRAFFIC_CLASSES, VIRTUAL_LANES
from fabriclab.catalog.links import LINK_RATES, PCIE, LinkRate, PcieGeneration, fastest, link_rate
from fabriclab.catalog.paths import (
    CXL_POOL,
    CXL_SWITCHED,
    DRAM,
    HDR,
    HDR_APPENDIX,
    NDR,
    NDR_APPENDIX,
    NVLINK4,
    ROCE_100G,
    ROCE_APPENDIX,
    TCP,
    Path,
)
from fabriclab.catalog.recent import (
    Q3400,
    Q3450,
    RECENT_SWITCHES,
    RECENT_SYSTEMS,
    SN6800,
    SN6810,
    TH6_DAVISSON,
    RecentSwitch,
)
from fabriclab.catalog.scaleup import (
    CAMPUS,
    CAMPUS_HBM,
    CAMPUS_XPUS,
    DOMAINS,
    ETHERNET_512,
    NVL8,
    NVL72,
    NVL144,
    NVL576,
    NVLINK_DOMAINS,
    PCIE_64,
    PCIE_SWITCH_LANES,
    REGIMES,
    CampusTier,
    Domain,
    Regime,
)
from fabriclab.catalog.switches import (
    ASIC_25T,
    ASIC_51T,
    ASIC_102T,
    ASICS,
    QM9700,
    SWITCH_LATENCY,
    Asic,
    Switch,
)
from fabriclab.catalog.systems import (
    COLOSSUS_POWER,
    DISAGREEMENTS,
    HUNDRED_THOUSAND,
    LLAMA3,
    SYSTEMS,
    Disagreement,
    Failures,
    Run,
    System,
    system,
)
from fabriclab.catalog.tiers import TIERS, Tier, step_between
