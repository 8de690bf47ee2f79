"""The systems that the two texts name, what a long run on one of them met, and where texts and
makers say different things.
"""

from dataclasses import dataclass

from fabriclab.catalog.links import link_rate
from fabriclab.checks import one_of
from fabriclab.units import GB, MW, day


@dataclass(frozen=True)
class System:
    """A training system: its `accelerators`, the `fabric` between them, and `port`, bytes per
    second one way of one port on that fabric, of which each accelerator has `ports`. None where
    nobody publishes it.

    `shape` says how the fabric is wired, `errata` what of it the texts tell otherwise.
    """

    name: str
    year: int
    accelerators: int | None
    chip: str
    fabric: str
    port: float | None
    shape: str
    errata: str
    source: str
    ports: int = 1

    @property
    def injection(self):
        """Bytes per second that one accelerator can send on all its ports together, or None."""
        return self.port and self.ports * self.port


_NDR = link_rate("NDR").per_direction
_400GBE = link_rate("400GbE").per_direction

SYSTEMS = (
    System(
        "DGX SuperPOD, 4 units",
        2023,
        1016,
        "H100",
        "InfiniBand NDR",
        _NDR,
        "two tiers, 32 leaves and 16 spines, non-blocking",
        "E-B4, E-X7",
        "NVIDIA DGX SuperPOD reference architecture, H100, as of November 2026: 127 nodes of 8",
    ),
    System(
        "xAI Colossus",
        2024,
        100_000,
        "H100",
        "Spectrum-X Ethernet",
        _400GBE,
        "three tiers of 64-port 800 Gb/s switches",
        "E-B2",
        "NVIDIA press release, 28 October 2024; one 400GbE BlueField-3 a GPU: Data Center Dynamics,"
        " October 2024",
    ),
    System(
        "Meta 24K, RoCE",
        2024,
        24_576,
        "H100",
        "RoCE",
        _400GBE,
        "pods of 3,072, non-blocking inside, 1:7 above",
        "E-B3, E-X1",
        "Meta, Building Meta's GenAI infrastructure, March 2024; Llama 3 paper, section 3.3:"
        " Minipack2 and Arista switches",
    ),
    System(
        "Meta 24K, InfiniBand",
        2024,
        24_576,
        "H100",
        "InfiniBand NDR",
        _NDR,
        "Quantum-2; wiring not published",
        "E-X1",
        "Meta, Building Meta's GenAI infrastructure, March 2024",
    ),
    System(
        "Azure ND H100 v5",
        2023,
        10_752,
        "H100",
        "InfiniBand NDR",
        _NDR,
        "fat tree, eight ports a virtual machine",
        "",
        "Microsoft Learn, ND H100 v5 series, as of November 2026: 8 x 400 Gb/s; accelerators: its"
        " entry in MLPerf Training 3.1, 2023",
    ),
    System(
        "Google TPU v5p pod",
        2023,
        8960,
        "TPU v5p",
        "ICI with optical circuit switches",
        100 * GB,
        "3D torus",
        "",
        "Google Cloud documentation, TPU v5p, as of November 2026: 1,200 GB/s a chip in both"
        " directions together, six links in a 3D torus",
        ports=6,
    ),
    System(
        "Google TPU v6e pod",
        2024,
        256,
        "TPU v6e (Trillium)",
        "ICI",
        100 * GB,
        "2D torus",
        "",
        "Google Cloud documentation, TPU v6e, as of November 2026: 3,200 Gb/s a chip, four links in"
        " a 2D torus",
        ports=4,
    ),
)

COLOSSUS_POWER = 150 * MW  # the substation: field guide, xAI Colossus


def system(name: str) -> System:
    """The `System` called `name`.

    >>> system("xAI Colossus").fabric
    'Spectrum-X Ethernet'
    """
    one_of("name", name, [known.name for known in SYSTEMS])
    return next(known for known in SYSTEMS if known.name == name)


@dataclass(frozen=True)
class Run:
    """A training run of `seconds` on `gpus`: unexpected `interruptions`, and those among them
    `by_gpu`, its memory included.
    """

    name: str
    gpus: int
    seconds: float
    interruptions: int
    by_gpu: int
    source: str


LLAMA3 = Run(
    "Llama 3 405B",
    16_384,
    54 * day,
    419,
    220,
    "Llama 3 paper, 2024, table 5: 419 unexpected interruptions in 54 days; 148 faulty GPUs and 72"
    " of HBM3",
)


@dataclass(frozen=True)
class Failures:
    """Failures a day of `gpus` as the field guide lists them; flaps from `flaps_least` to
    `flaps_most`.
    """

    gpus: int
    gpu: float
    flaps_least: float
    flaps_most: float
    power: float
    source: str

    @property
    def least(self):
        return self.gpu + self.flaps_least + self.power

    @property
    def most(self):
        return self.gpu + self.flaps_most + self.power


HUNDRED_THOUSAND = Failures(
    100_000,
    50.0,
    5.0,
    10.0,
    10.0,
    "field guide, failures of xAI Colossus: GPUs about 50 a day, link flaps 5 to 10, power supplies"
    " and fans about 10",
)


@dataclass(frozen=True)
class Disagreement:
    """What the chapter and the field guide say about one thing, and what the maker or a standard
    does; a dash where one is silent.
    """

    subject: str
    chapter: str
    guide: str
    vendor: str
    errata: str
    source: str


DISAGREEMENTS = (
    Disagreement(
        "Meta's 24,576-GPU cluster",
        "two clusters, one RoCE and one InfiniBand",
        "one, RoCE, Wedge400, no oversubscription",
        "two; RoCE with 1:7 above its pods",
        "E-B3, E-X1",
        "Meta, March 2024; Llama 3 paper, section 3.3",
    ),
    Disagreement(
        "Colossus' fabric",
        "-",
        "InfiniBand",
        "Spectrum-X Ethernet",
        "E-B2",
        "NVIDIA press release, 28 October 2024",
    ),
    Disagreement(
        "Tencent's and Alibaba's clusters",
        "-",
        "mostly InfiniBand",
        "Ethernet of their own: Xingmai, HPN",
        "",
        "Tencent, June 2023; Qian et al., Alibaba HPN, SIGCOMM 2024",
    ),
    Disagreement(
        "a SuperPOD's GPUs",
        "4 units of 256",
        "256 in the heading, 1,024 in the body",
        "127 nodes, 1,016",
        "E-X7",
        "NVIDIA DGX SuperPOD reference architecture, H100, as of November 2026",
    ),
    Disagreement(
        "spines of four units",
        "-",
        "8",
        "16",
        "E-B4, E-X7",
        "NVIDIA DGX SuperPOD reference architecture, H100, as of November 2026",
    ),
    Disagreement(
        "RoCE slower than InfiniBand by",
        "3.5 us (appendix: 5)",
        "1.5 to 2 us",
        "-",
        "E-X2",
        "neither text names a measurement, as of November 2026",
    ),
    Disagreement(
        "PFC",
        "per priority",
        "without priorities",
        "eight priorities, paused one by one",
        "E-B6, E-X3",
        "IEEE 802.1Qbb",
    ),
    Disagreement(
        "B200's host link",
        "PCIe 5",
        "PCIe 6",
        "PCIe 5",
        "E-B12, E-X4",
        "NVIDIA DGX B200 data sheet, as of November 2026",
    ),
    Disagreement(
        "NVLink to InfiniBand",
        "9 times",
        "5 to 10 by its rule, 18 to 36 by its table",
        "9 times one way (H100, NDR)",
        "E-01, E-B1, E-X5",
        "NVIDIA H100 data sheet, as of November 2026",
    ),
    Disagreement(
        "NVLink's latency",
        "500 ns",
        "700 ns in a node, 1 us in an NVL72",
        "-",
        "E-X6",
        "NVIDIA prints none, as of November 2026",
    ),
    Disagreement(
        "latency of TCP",
        "10 to 20 us, tens of us, 50 us",
        "5 to 50 us",
        "-",
        "E-18",
        "three places of the chapter, one of the guide",
    ),
    Disagreement(
        "DCQCN on RoCE",
        "dropped by Meta at 400G",
        "brings RoCE near InfiniBand",
        "off at 400G, after trials",
        "E-X8",
        "Meta, SIGCOMM 2024",
    ),
    Disagreement(
        "RCCL and HCCL stand in for",
        "-",
        "NVLink",
        "NCCL",
        "E-B5",
        "AMD ROCm and Huawei CANN documentation, as of November 2026",
    ),
    Disagreement(
        "Mellanox bought by NVIDIA",
        "-",
        "2019",
        "announced March 2019, closed April 2020",
        "",
        "NVIDIA press releases of 11 March 2019 and 27 April 2020",
    ),
)
