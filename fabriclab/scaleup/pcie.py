"""PCI Express: what a link carries, what a NIC behind it can use, and what a tree of switches
leaves to each device.

A rate is bytes per second one way; vendors often print both directions together, which is twice
that. Devices hang on switches, switches on switches, and every device and every switch has one link
of the same width to what is above it.

Sources: PCI-SIG base specifications (catalog); Neugebauer et al. 2018 (SIGCOMM) for packets and
credits; field guide, PCIe Scale-Up.
"""

from dataclasses import dataclass

import numpy as np

from fabriclab import catalog
from fabriclab.checks import (
    Values,
    broadcastable,
    count,
    flag,
    nonnegative,
    number,
    positive,
    scalar,
    scalar_or_array,
)

WIDTHS = (1, 2, 4, 8, 16)
MOST_LANES = 1024
PAYLOADS = (128, 4096)  # bytes, the least and the most that a packet's payload may be limited to


def _generation(version):
    for generation in catalog.PCIE:
        if (
            isinstance(version, (int, float))
            and not isinstance(version, bool)
            and version == generation.version
        ):
            return generation
    raise ValueError(
        f"generation must be one of {', '.join(str(g.version) for g in catalog.PCIE)}, not"
        f" {version!r}"
    )


def _width(name, lanes):
    lanes = scalar(name, count(name, lanes))
    if lanes not in WIDTHS:
        raise ValueError(
            f"{name} must be one of {', '.join(map(str, WIDTHS))} lanes, not {lanes:g}"
        )
    return int(lanes)


def pcie_rate(generation: int, lanes: int = 16, coded: bool = True) -> float:
    """Bytes per second one way of a PCIe link: lanes x transfers x coding.

    `generation` 2 to 6, `lanes` 1, 2, 4, 8 or 16. Without `coded`, the signalling rate, which is
    what slides round to.

    Other words: PCIe bandwidth by generation, x16, lanes, GT/s.

    >>> from fabriclab.units import GB
    >>> round(pcie_rate(5) / GB, 1), pcie_rate(5, coded=False) / GB
    (63.0, 64.0)
    """
    of, coded = _generation(generation), scalar("coded", flag("coded", coded))
    return _width("lanes", lanes) * of.signalling * (of.share if coded else 1.0)


def payload_rate(generation: int, payload: Values = 256, lanes: int = 16) -> Values:
    """Bytes per second one way that are data: ``rate · P/(P + overhead)``, for writes in packets of
    `payload` bytes.

    `payload` is the maximum payload size that the whole path agreed on, 128 to 4096 bytes, a number
    or an array. To generation 5 a packet costs 24 bytes more: a header of 16, framing and sequence
    number 4, CRC 4. Acknowledgements and credits take some 8 to 10 % on top, which are not counted
    here.

    >>> from fabriclab.units import GB
    >>> [round(payload_rate(5, size) / GB, 1) for size in (128, 256, 512)]
    [53.1, 57.6, 60.2]
    """
    of, (least, most) = _generation(generation), PAYLOADS
    payload = number(
        "payload",
        payload,
        least=least,
        most=most,
        expected=f"from {least} to {most} bytes",
        whole=True,
    )
    return scalar_or_array(
        pcie_rate(generation, lanes) * of.tlp_share * payload / (payload + of.tlp_overhead)
    )


def behind_host(port: Values, host: Values) -> Values:
    """Bytes per second one way that reach a host: the slower of its NIC's `port` and its `host`
    link: ``min(port, host)``.

    What a faster port gains is the ratio of two of these: never more than what the host link has
    left.

    >>> from fabriclab.units import Gbps
    >>> 8 * behind_host(800 * Gbps, 64e9) / 1e9, behind_host(800 * Gbps,
    ...     64e9) / behind_host(400 * Gbps, 64e9)
    (512.0, 1.28)
    """
    port, host = nonnegative("port", port), positive("host", host)
    broadcastable(port=port, host=host)
    return scalar_or_array(np.minimum(port, host))


def peer_share(rate: Values, devices: Values) -> Values:
    """Bytes per second for each pair, of a device that talks to all others at once: ``rate/(n-1)``.
    The device keeps `rate`.

    >>> from fabriclab.units import GB
    >>> # both directions in, both out
    >>> round(peer_share(128 * GB, 64) / GB, 2), round(peer_share(1800 * GB, 72) / GB, 1)
    (2.03, 25.4)
    """
    rate, devices = nonnegative("rate", rate), count("devices", devices, least=2)
    broadcastable(rate=rate, devices=devices)
    return scalar_or_array(rate / (devices - 1))


def down_ports(switch_lanes: Values, width: int = 16) -> int:
    """Ports of a PCIe switch that lead down: ``lanes // width - 1``, one leads up.

    >>> down_ports(144), down_ports(48)
    (8, 2)
    """
    width, lanes = (
        _width("width", width),
        scalar("switch_lanes", count("switch_lanes", switch_lanes)),
    )
    if not 3 * width <= lanes <= MOST_LANES:
        raise ValueError(
            f"switch_lanes must be from {3 * width}, one port up and two down, to {MOST_LANES}, not"
            f" {lanes:g}"
        )
    return int(lanes) // width - 1


def tree_depth(gpus: int, switch_lanes: int, width: int = 16) -> int:
    """Levels of switches over `gpus`: the least L with ``down^L >= gpus``.

    >>> # a switch of our time, and the text's, which doubles
    >>> tree_depth(64, 144), tree_depth(64, 48)
    (2, 6)
    """
    return len(PcieTree(gpus, switch_lanes, 1.0, width).subtrees)


@dataclass(frozen=True)
class PcieTree:
    """A tree of PCIe switches, filled from one side: `gpus` at its leaves, every link `rate` bytes
    per second one way.

    All shares are of one GPU, sending, when every GPU does the same at the same time. `gpus` up to
    a million.

    >>> from fabriclab.units import GB
    >>> tree = PcieTree(64, 144, 64 * GB)
    >>> [round(share / GB, 2) for share
    ...     in (tree.to_neighbour, tree.all_to_all, tree.across, tree.to_host)]
    [64.0, 9.0, 8.0, 1.0]
    """

    gpus: int
    switch_lanes: int
    rate: float
    width: int = 16

    def __post_init__(self):
        gpus = number(
            "gpus",
            self.gpus,
            least=2,
            most=10**6,
            expected="a whole number from 2 to 1,000,000",
            whole=True,
        )
        object.__setattr__(self, "gpus", int(scalar("gpus", gpus)))
        object.__setattr__(self, "rate", scalar("rate", positive("rate", self.rate)))
        down_ports(self.switch_lanes, self.width)

    @property
    def down(self):
        """Links that lead down from a switch."""
        return down_ports(self.switch_lanes, self.width)

    @property
    def subtrees(self):
        """GPUs that share one link up, level by level: 1 on a GPU's own, then ``down``, ``down^2``,
        …; the root is above the last.
        """
        sizes = [1]
        while sizes[-1] * self.down < self.gpus:
            sizes.append(sizes[-1] * self.down)
        return tuple(sizes)

    @property
    def limits(self):
        """What each level's links allow a GPU that sends evenly to all others: ``rate (n-1)/(m
        (n-m))``, m GPUs under a link.
        """
        n = self.gpus
        return tuple(self.rate * (n - 1) / (m * (n - m)) for m in self.subtrees)

    @property
    def to_neighbour(self):
        """To a GPU under the same switch; and, as a ring along the leaves uses no link twice, the
        rate of a ring.
        """
        return self.rate

    @property
    def all_to_all(self):
        """To all others evenly: the tightest level."""
        return min(self.limits)

    @property
    def across(self):
        """To a partner under another of the root's links: the fullest of these shared by all below
        it.
        """
        return self.rate / self.subtrees[-1]

    @property
    def to_host(self):
        """To the host above the root: one link for all."""
        return self.rate / self.gpus
