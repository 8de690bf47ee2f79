"""PCI Express: what a link carries, what a NIC behind it can use, and what a tree of switches leaves to each device.

A rate is bytes per second one way; vendors often print both directions together, which is twice that. Devices hang on
switches, switches on switches, and every device and every switch has one link of the same width to what is above it.

Sources: PCI-SIG base specifications (catalog); Neugebauer et al. 2018 (SIGCOMM) for packets and credits; field guide, PCIe Scale-Up.
"""

from dataclasses import dataclass

import numpy as np

from fabriclab import catalog
from fabriclab.checks import amount, count, number, one, out, positive, together

WIDTHS = (1, 2, 4, 8, 16)
MOST_LANES = 1024
PAYLOADS = (128, 4096)  # bytes, the least and the most that a packet's payload may be limited to


def _generation(version):
    for generation in catalog.PCIE:
        if isinstance(version, (int, float)) and not isinstance(version, bool) and version == generation.version:
            return generation
    raise ValueError(f"generation must be one of {', '.join(str(g.version) for g in catalog.PCIE)}, not {version!r}")


def _width(name, lanes):
    lanes = one(name, count(name, lanes))
    if lanes not in WIDTHS:
        raise ValueError(f"{name} must be one of {', '.join(map(str, WIDTHS))} lanes, not {lanes:g}")
    return int(lanes)


def pcie_rate(generation, lanes=16, coded=True):
    """Bytes per second one way of a PCIe link: lanes x transfers x coding.

    `generation` 2 to 6, `lanes` 1, 2, 4, 8 or 16. Without `coded`, the signalling rate, which is what slides round to.

    >>> from fabriclab.units import GB
    >>> round(pcie_rate(5) / GB, 1), pcie_rate(5, coded=False) / GB
    (63.0, 64.0)
    """
    of = _generation(generation)
    return _width("lanes", lanes) * of.signalling * (of.share if coded else 1.0)


def payload_rate(generation, payload=256, lanes=16):
    """Bytes per second one way that are data: ``rate · P/(P + overhead)``, for writes in packets of `payload` bytes.

    `payload` is the maximum payload size that the whole path agreed on, 128 to 4096 bytes, a number or an array. To
    generation 5 a packet costs 24 bytes more: a header of 16, framing and sequence number 4, CRC 4. Acknowledgements and credits take some
    8 to 10 % on top, which are not counted here.

    >>> from fabriclab.units import GB
    >>> [round(payload_rate(5, size) / GB, 1) for size in (128, 256, 512)]
    [53.1, 57.6, 60.2]
    """
    of, (least, most) = _generation(generation), PAYLOADS
    payload = number("payload", payload, least=least, most=most, expected=f"from {least} to {most} bytes", whole=True)
    return out(pcie_rate(generation, lanes) * of.tlp_share * payload / (payload + of.tlp_overhead))


def behind_host(port, host):
    """Bytes per second one way that reach a host: the slower of its NIC's `port` and its `host` link: ``min(port, host)``.

    What a faster port gains is the ratio of two of these: never more than what the host link has left.

    >>> from fabriclab.units import Gbps
    >>> 8 * behind_host(800 * Gbps, 64e9) / 1e9, behind_host(800 * Gbps, 64e9) / behind_host(400 * Gbps, 64e9)
    (512.0, 1.28)
    """
    port, host = amount("port", port), positive("host", host)
    together(port=port, host=host)
    return out(np.minimum(port, host))
