"""Chinese clusters' own networks: what the field guide says of them, what can be found of it, and
the supernodes whose numbers are published. As of November 2026.
"""

from dataclasses import dataclass

from fabriclab.catalog.cables import Module
from fabriclab.catalog.scaleup import NVL72
from fabriclab.units import TB, Gbps


@dataclass(frozen=True)
class Claim:
    """What the field guide says (`guide`) of a `subject`, what a search `found`, and whether that
    bears it out: "yes", "in part" or "unverified".
    """

    subject: str
    guide: str
    found: str
    holds: str
    source: str


DOMESTIC = (
    Claim(
        "鹊信 (Galaxlink)",
        "Huawei's network of the Atlas clusters",
        "the name occurs in no page found; Huawei's interconnect is 灵衢, UnifiedBus (UB)",
        "unverified",
        "Huawei Connect, 18 September 2025; a search of November 2026",
    ),
    Claim(
        "what it runs on",
        "Ethernet",
        "two networks: UB, a protocol of its own, inside the supernode; RoCE between supernodes",
        "in part",
        "Zuo et al., arXiv 2506.12708, June 2025",
    ),
    Claim(
        "latency end to end",
        "microseconds",
        "below 1 us between nodes on UB, by its maker; no outside measurement",
        "unverified",
        "reports of 2025 on arXiv 2506.12708",
    ),
    Claim(
        "HCCL",
        "stands in for NCCL",
        "the collective library of Huawei's CANN, as NCCL is of CUDA",
        "yes",
        "Huawei CANN documentation, as of November 2026",
    ),
    Claim(
        "clusters of 10,000 cards",
        "in service",
        "over 300 supernodes of 384 deployed by September 2025; no published run of one such"
        " cluster",
        "unverified",
        "Huawei Connect, as CFOL reports it, September 2025",
    ),
    Claim(
        "中际旭创, under RDMA NICs",
        "ships 800G optical modules",
        "a maker of optical modules, as it says; not of NICs, as its heading has it",
        "in part",
        "market reports of September 2025",
    ),
    Claim(
        "新华三, 锐捷, under RDMA NICs",
        "Ethernet switches",
        "makers of switches, as it says; not of NICs",
        "in part",
        "Huaxi Securities, September 2025",
    ),
    Claim(
        "domestic NICs for InfiniBand and RoCE",
        "weak yet",
        "no measurement found either way",
        "unverified",
        "a search of November 2026",
    ),
)


@dataclass(frozen=True)
class Supernode:
    """Accelerators in one scale-up domain: `ports` of each, `port_rate` bytes per second of data
    one way, of which the maker prints `published`; `fibre_hops` of a port's way are optical.
    """

    name: str
    year: int
    accelerators: int
    ports: int
    port_rate: float
    published: float
    fibre_hops: int
    source: str

    @property
    def modules(self):
        """Optical modules for each accelerator: one at each end of a link."""
        return 2 * self.ports * self.fibre_hops

    @property
    def data(self):
        """Bytes per second of data that all accelerators send together, one way."""
        return self.accelerators * self.ports * self.port_rate


CLOUDMATRIX_384 = Supernode(
    "CloudMatrix384",
    2025,
    384,
    7,
    400 * Gbps,
    448 * Gbps,
    1,
    "Zuo et al., arXiv 2506.12708, June 2025: 392 GB/s one way a chip, seven first-tier switches a"
    " node; fibre from there to the second tier, 400G modules: reports of April to September 2025",
)
NVL72_RACK = Supernode(
    "GB200 NVL72",
    2024,
    NVL72.packages,
    18,
    NVL72.per_direction / 18,
    NVL72.per_direction / 18,
    0,
    "NVIDIA, March 2024: 18 links of 50 GB/s one way, all copper",
)
SUPERNODES = (CLOUDMATRIX_384, NVL72_RACK)
CLOUDMATRIX_MODULES = 6912  # of 400 Gb/s, scale-out included: reports of April to September 2025
ATLAS_950 = (8192, 2 * TB, 16.3e15)  # chips, B/s a chip, B/s in all: Huawei, 18 September 2025
LPO_400G = Module(
    "400G linear module",
    400 * Gbps,
    4.25,
    500.0,
    "unverified: half of the 8 to 9 W that the trade press gives for 800G, 2026; reach: LPO MSA",
)
