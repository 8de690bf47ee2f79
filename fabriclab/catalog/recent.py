"""Systems and switches of 2024 to 2026 that neither text knows, as of November 2026.

A source that begins with "unverified" is one report, or several that disagree. No exercise draws
from these tuples, so that a new row changes nobody's numbers.
"""

from dataclasses import dataclass

from fabriclab.catalog.links import link_rate
from fabriclab.catalog.systems import System
from fabriclab.units import GB, TB, Gbps

_400GBE, _XDR = link_rate("400GbE").per_direction, link_rate("XDR").per_direction

RECENT_SYSTEMS = (
    System(
        "xAI Colossus, grown",
        2025,
        230_000,
        "H100, H200 and GB200",
        "Spectrum-X Ethernet",
        _400GBE,
        "as Colossus; 3.6 Tb/s a server",
        "",
        "unverified: reports of July 2025 say 230,000, of December 2025 say 200,000 and more;"
        " NVIDIA's press release of 28 October 2024 announced 200,000",
    ),
    System(
        "xAI Colossus 2",
        2026,
        550_000,
        "GB200 and GB300",
        "Spectrum-X Ethernet",
        None,
        "wiring not published",
        "",
        "unverified: the first 550,000 as xAI announced them in July 2025; running since January"
        " 2026 by its own word, and no count of what runs",
    ),
    System(
        "Azure ND GB300 v6",
        2025,
        4608,
        "GB300",
        "InfiniBand XDR (Quantum-X800)",
        _XDR,
        "64 racks of 72 on NVLink, a fat tree between them",
        "",
        "Microsoft and NVIDIA, 9 October 2025: 800 Gb/s a GPU",
    ),
    System(
        "Microsoft Fairwater, Atlanta",
        2025,
        None,
        "GB200 and GB300",
        "Ethernet (SONiC)",
        _XDR,
        "racks of 72 on NVLink, two tiers of Ethernet between them",
        "",
        "Microsoft, November 2025, as Converge Digest reports it: 800 Gb/s a GPU; hundreds of"
        " thousands of GPUs with the other sites, no count of one",
    ),
    System(
        "AWS Project Rainier",
        2025,
        500_000,
        "Trainium2",
        "EFA (Ethernet)",
        200 * Gbps,
        "UltraServers of 64 chips on NeuronLink",
        "",
        "unverified: nearly 500,000 chips by reports of late 2025; 3.2 Tb/s for 16 chips: AWS,"
        " December 2024",
    ),
    System(
        "AWS Trn3 Gen2 UltraServer",
        2025,
        144,
        "Trainium3",
        "NeuronLink-v4",
        2.56 * TB / 2,
        "switched, all to all",
        "",
        "AWS Neuron documentation, 2 December 2025: 2.56 TB/s a chip, no base named, here taken as"
        " both directions",
    ),
    System(
        "Google TPU7x (Ironwood) pod",
        2025,
        9216,
        "TPU7x",
        "ICI with optical circuit switches",
        100 * GB,
        "3D torus",
        "",
        "Google Cloud documentation, TPU7x, as of November 2026: 1,200 GB/s a chip in both"
        " directions together",
        ports=6,
    ),
    System(
        "Huawei CloudMatrix384",
        2025,
        384,
        "Ascend 910C",
        "UnifiedBus (灵衢)",
        56 * GB,
        "two tiers of UB switches, non-blocking",
        "",
        "Zuo et al., June 2025, arXiv 2506.12708: 392 GB/s one way a chip, over seven first-tier"
        " switches a node",
        ports=7,
    ),
    System(
        "Alibaba HPN",
        2024,
        15_360,
        "GPUs",
        "RoCE",
        200 * Gbps,
        "two tiers, two planes, rails; 15 segments of 1,024",
        "",
        "Qian et al., Alibaba HPN, SIGCOMM 2024",
        ports=2,
    ),
    System(
        "Tencent Xingmai 2.0",
        2024,
        100_000,
        "GPUs",
        "RoCE (TiTa)",
        _400GBE,
        "the most it can join; 3.2 Tb/s a server",
        "",
        "Tencent, 2024, as AIbase reports it",
    ),
    System(
        "ByteDance MegaScale",
        2024,
        10_000,
        "GPUs",
        "RoCE",
        _400GBE,
        "three tiers, non-blocking; more than 10,000",
        "",
        "Jiang et al., MegaScale, NSDI 2024; ports, unverified: a survey of Chinese clusters"
        " without a date",
    ),
    System(
        "Baidu HPN (AIPod)",
        2024,
        16_000,
        "GPUs",
        "RoCE",
        _400GBE,
        "three tiers, non-blocking; up to 16,000",
        "",
        "unverified: a survey of Chinese clusters without a date, read in November 2026",
    ),
)


@dataclass(frozen=True)
class RecentSwitch:
    """A switch of 2024 to 2026: `ports` of `port_rate` bytes per second one way, `year` it ships.

    `engines` and `lasers` count the optical engines and the laser modules of a switch with
    co-packaged optics; `watts` are with its optics. None where no source says.
    """

    name: str
    year: int
    ports: int
    port_rate: float
    optics: str
    engines: int | None
    lasers: int | None
    watts: float | None
    source: str

    @property
    def capacity(self):
        """Bytes per second one way on all ports."""
        return self.ports * self.port_rate


Q3400 = RecentSwitch(
    "Quantum-X800 Q3400",
    2024,
    144,
    _XDR,
    "modules",
    None,
    None,
    7000.0,
    "NVIDIA, March 2024: 144 ports of 800 Gb/s; watts with modules: Lambda, 2026",
)
Q3450 = RecentSwitch(
    "Quantum-X Q3450-LD",
    2026,
    144,
    _XDR,
    "co-packaged",
    72,
    18,
    3950.0,
    "Lambda on an engineering sample, 2026: 18 laser modules that come out, 3.95 kW; engines of 1.6"
    " Tb/s: reports of 2026",
)
TH6_DAVISSON = RecentSwitch(
    "Tomahawk 6 Davisson",
    2025,
    64,
    1600 * Gbps,
    "co-packaged",
    16,
    None,
    None,
    "Broadcom, 8 October 2025: 16 engines of 6.4 Tb/s, lasers that can be replaced in the field",
)
SN6810 = RecentSwitch(
    "Spectrum-X SN6810",
    2026,
    128,
    _XDR,
    "co-packaged",
    32,
    None,
    None,
    "NVIDIA, Hot Chips, August 2025: one Spectrum-6 chip, second half of 2026; engines of 3.2 Tb/s:"
    " reports of 2026; unverified, reports of June 2026: two quarters late",
)
SN6800 = RecentSwitch(
    "Spectrum-X SN6800",
    2026,
    512,
    _XDR,
    "co-packaged",
    128,
    None,
    None,
    "NVIDIA, Hot Chips, August 2025: four Spectrum-6 chips, second half of 2026; engines and delay:"
    " as the SN6810",
)
RECENT_SWITCHES = (Q3400, Q3450, TH6_DAVISSON, SN6810, SN6800)
