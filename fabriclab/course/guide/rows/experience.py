"""Rows of the field guide: numbers from experience."""

from fabriclab import catalog, nccl, scaleup
from fabriclab.course.engine.ledger import Row
from fabriclab.course.guide.rows.common import _adapter
from fabriclab.units import GB, MB, ms, us

EIGHT_PORTS = nccl.settings({})


def _ten_thousand(size):
    """An AllReduce of `size` bytes on 10,000 H100."""
    return nccl.allreduce_time(size, 1250, EIGHT_PORTS)


ROWS = [
    # numbers from experience
    Row(
        "numbers/nvlink",
        "field guide, numbers from experience",
        "1,500 GB/s",
        lambda: catalog.H100_BUSBW[1],
        "differs",
        "busbw of a node of H100: a ring has at most one direction of NVLink 4,"
        f" {catalog.H100.nvlink.per_direction / GB:.0f}; with the switches adding up 480 was"
        f" measured, and {catalog.H100.nvlink.per_direction * 1.75 / GB:.0f} is the ideal (E-B13)",
    ),
    Row(
        "numbers/ib",
        "field guide, numbers from experience",
        "about 360 GB/s",
        lambda: catalog.H100_BUSBW[4],
        "agrees",
        f"busbw across nodes, 8 x 400G; {100 * 360 * GB / nccl.network_bandwidth(EIGHT_PORTS):.0f}"
        f" % of {nccl.network_bandwidth(EIGHT_PORTS) / GB:.0f}. Measured on four nodes",
        between=(350 * GB, 370 * GB),
    ),
    Row(
        "numbers/roce",
        "field guide, numbers from experience",
        "340 GB/s",
        None,
        "assumed",
        f"with PFC in order; {100 * 340 / 360:.0f} % of its InfiniBand,"
        f" {100 * 340 * GB / nccl.network_bandwidth(EIGHT_PORTS):.0f} % of the ports",
    ),
    Row(
        "numbers/ten-thousand",
        "field guide, numbers from experience",
        "1-3 ms",
        lambda: _ten_thousand(360 * MB),
        "assumed",
        "AllReduce of 10,000 GPUs, by gradient size, of which it names none; here 360 MB. 1 MB"
        f" takes {_ten_thousand(1 * MB) / us:.0f} us, 6 GB {_ten_thousand(6 * GB) / ms:.0f} ms, and"
        f" 140 GB of gradients {_ten_thousand(140 * GB) / ms:.0f} ms over all eight ports of a"
        f" node, {_ten_thousand(140 * GB) / ms * 8 / 1000:.1f} s over one: 1-3 ms are a bucket, not"
        " a gradient",
    ),
    Row(
        "numbers/pcie5",
        "field guide, numbers from experience",
        "50-60 GB/s",
        lambda: scaleup.payload_rate(5),
        "agrees",
        "end to end; what packets of 256 bytes leave, acknowledgements not counted",
    ),
    Row(
        "numbers/pcie5-most",
        "field guide, numbers from experience",
        "64 GB/s",
        lambda: scaleup.pcie_rate(5, coded=False),
        "agrees",
        "in theory, one way",
    ),
    Row(
        "numbers/connectx-7",
        "field guide, numbers from experience",
        "50 GB/s",
        lambda: _adapter(7).port.per_direction,
        "agrees",
        "a port of 400 Gb/s, one way",
    ),
    Row(
        "guide/written",
        "field guide, colophon",
        "2026",
        None,
        "assumed",
        "year, 15 June, from slides of OCP and from SemiAnalysis",
    ),
]
