"""Accelerators with what they are tied to, and the power of the nodes and racks that hold them."""

from dataclasses import dataclass

from fabriclab.catalog.links import LinkRate, link_rate
from fabriclab.units import GB, TFLOPs, kW


@dataclass(frozen=True)
class Accelerator:
    """A data-centre GPU and what it is tied to: `hbm` bytes per second, `nvlink`, `host` (PCIe),
    and the InfiniBand `port`.

    `port` is what the maker's own eight-GPU system shipped with, `port_in_text` what the chapter's
    figure 3 draws beside it.
    `tdp` in watts.
    """

    name: str
    year: int
    hbm: float
    nvlink: LinkRate
    host: LinkRate
    port: LinkRate
    port_in_text: LinkRate
    tdp: float
    source: str


def _accelerator(name, year, hbm, nvlink, pcie, port, port_in_text, tdp, source):
    return Accelerator(
        name,
        year,
        hbm * GB,
        link_rate(f"NVLink {nvlink}"),
        link_rate(f"PCIe {pcie} x16"),
        link_rate(port),
        link_rate(port_in_text),
        tdp,
        source,
    )


V100 = _accelerator(
    "V100",
    2017,
    900,
    2,
    "3.0",
    "EDR",
    "HDR",
    300.0,
    "NVIDIA V100 SXM2 data sheet; DGX-1 with V100: four EDR ports for eight GPUs",
)
A100 = _accelerator(
    "A100",
    2020,
    2039,
    3,
    "4.0",
    "HDR",
    "HDR",
    400.0,
    "NVIDIA A100 80 GB SXM data sheet; DGX A100: one HDR port per GPU",
)
H100 = _accelerator(
    "H100",
    2022,
    3350,
    4,
    "5.0",
    "NDR",
    "NDR",
    700.0,
    "NVIDIA H100 SXM data sheet; DGX H100: one NDR port per GPU",
)
B200 = _accelerator(
    "B200",
    2024,
    8000,
    5,
    "5.0",
    "NDR",
    "XDR",
    1000.0,
    "NVIDIA B200 data sheet; DGX B200: one 400 Gb/s ConnectX-7 port per GPU",
)
ACCELERATORS = (V100, A100, H100, B200)

H100_PEAK_FP16 = 989 * TFLOPs  # FLOP/s, dense FP16/BF16: NVIDIA H100 SXM data sheet
DGX_H100_POWER = 10.2 * kW  # a whole node at most: NVIDIA DGX H100 data sheet
RACK_OTHER_POWER = 11.1 * kW  # a rack of four nodes, all but its GPUs: the chapter's registry
# AllReduce busbw measured on 1, 2 and 4 nodes of eight H100 and eight 400 Gb/s ports: NVIDIA/nccl
# issue 1374. One node's has the
# NVSwitches adding up (NVLink SHARP); between two nodes a tree may show more than the ports carry.
H100_BUSBW = {1: 480 * GB, 2: 470 * GB, 4: 366 * GB}
