"""NCCL's topology file (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE): one machine inside, as NCCL sees or
is told it.

The layout, in our words. XML: a system of CPUs (NUMA nodes), each with a tree of PCI devices; a
bridge holds what is plugged into it. A device has a class (0x0302 a GPU, 0x0207 an InfiniBand and
0x0200 an Ethernet card, 0x0604 a bridge) and its link's speed and width; a dump also names GPUs,
their NVLinks and the cards' ports. It is parsed as a stream and without a document type: nothing is
expanded, nothing fetched.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from xml.parsers import expat

import numpy as np
from scipy.sparse import csr_array

from fabriclab.logs.sign import Sign, marked
from fabriclab.logs.source import MOST_ROWS, Part, lines, name, refuse, shorten
from fabriclab.units import Gbps, Mbps, si

TOOL = "NCCL topology"
SIGN = re.compile(r"^\s*<system\b")
_DEEPEST = 64
_LARGEST = 16 * 2**20  # bytes of XML
_CLASSES = {
    "0x0302": "GPU",
    "0x0300": "GPU",
    "0x0207": "InfiniBand",
    "0x0200": "Ethernet",
    "0x0604": "bridge",
    "0x0680": "NVSwitch",
}
# Share of a lane's transfers that are data: PCI Express base specification, 8b/10b, then 128b/130b,
# then flits
_SHARE = {
    2.5: 8 / 10,
    5.0: 8 / 10,
    8.0: 128 / 130,
    16.0: 128 / 130,
    32.0: 128 / 130,
    64.0: 242 / 256,
}


@dataclass(frozen=True)
class Device:
    """A CPU, bridge, GPU or card: `above` is the number of what it is plugged into (None for a
    CPU), `speed` in GT/s per lane over `width` lanes; `numa` its CPU's number; `ports` (name, bytes
    per second) of a card; `nvlinks` (target, count).
    """

    line: int
    kind: str
    bus: str
    above: int | None
    numa: int | None
    speed: float | None = None
    width: int | None = None
    rank: int | None = None
    ports: tuple[tuple[str, float | None], ...] = ()
    nvlinks: tuple[tuple[str, int], ...] = ()

    @property
    def rate(self):
        """Bytes per second of data one way over its PCIe link, or None."""
        return (
            self.speed * self.width * Gbps * _SHARE[self.speed]
            if self.speed in _SHARE and self.width
            else None
        )


@dataclass(frozen=True)
class Reading:
    """NCCL's view of a machine: its `devices`, each plugged into an earlier one."""

    path: str
    devices: tuple[Device, ...]

    tool = TOOL

    @property
    def nodes(self):
        """GPUs and cards."""
        return tuple(
            device for device in self.devices if device.kind in ("GPU", "InfiniBand", "Ethernet")
        )

    @property
    def switches(self):
        """PCI bridges and NVSwitches."""
        return tuple(device for device in self.devices if device.kind in ("bridge", "NVSwitch"))

    @property
    def links(self):
        """(device, what it is plugged into) by their numbers."""
        return tuple(
            (at, device.above) for at, device in enumerate(self.devices) if device.above is not None
        )

    def graph(self):
        """PCIe links from device to device, a symmetric sparse matrix of ones over `devices`."""
        ends = np.array(self.links, int).reshape(-1, 2)
        rows, columns = (
            np.concatenate([ends[:, 0], ends[:, 1]]),
            np.concatenate([ends[:, 1], ends[:, 0]]),
        )
        return csr_array(
            (np.ones(rows.size, int), (rows, columns)), shape=(len(self.devices), len(self.devices))
        )


class _Tree:
    """Takes expat's events; every refusal raises ValueError with the line."""

    def __init__(self, path):
        self.path, self.devices, self.open, self.seen, self.closed = path, [], [], 0, False
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.StartDoctypeDeclHandler = self.doctype

    def refuse(self, reason):
        refuse(self.path, self.parser.CurrentLineNumber, reason)

    def doctype(self, *_):
        self.refuse(
            "declares a document type: NCCL writes none, and it may hide entities that grow"
            " without end"
        )

    def start(self, tag, attributes):
        self.seen += 1
        if not self.open and tag != "system":
            self.refuse(f"begins with <{tag[:40]}>, not with <system>")
        if len(self.open) >= _DEEPEST or self.seen > MOST_ROWS:
            self.refuse(
                f"more than {_DEEPEST} levels"
                if len(self.open) >= _DEEPEST
                else f"more than {MOST_ROWS:,} elements"
            )
        at = self.open[-1] if self.open else None
        if tag in ("cpu", "pci"):
            self.devices.append(self.device(tag, attributes, at))
            at = len(self.devices) - 1
        elif at is not None and tag == "gpu":
            self.devices[at] |= {"kind": "GPU", "rank": self.whole(attributes, "rank", -1, 10**7)}
        elif at is not None and tag == "net":
            speed = self.whole(attributes, "speed", 0, 10**8)
            self.devices[at].setdefault("ports", []).append(
                (attributes.get("name", "")[:80], speed * Mbps if speed else None)
            )
        elif at is not None and tag == "nvlink":
            self.devices[at].setdefault("nvlinks", []).append(
                (attributes.get("target", "")[:40], self.whole(attributes, "count", 0, 1000) or 0)
            )
        self.open.append(at)

    def end(self, tag):
        self.open.pop()
        self.closed = not self.open

    def whole(self, attributes, key, least, most):
        text = attributes.get(key)
        if text is None:
            return None
        if not re.fullmatch(r"-?\d{1,10}", text) or not least <= int(text) <= most:
            self.refuse(f"{key} is {shorten(text)}, not a whole number from {least} to {most:,}")
        return int(text)

    def device(self, tag, attributes, above):
        line = self.parser.CurrentLineNumber
        if tag == "cpu":
            numa = self.whole(attributes, "numaid", -1, 10**5)
            return {"line": line, "kind": "CPU", "bus": "", "above": None, "numa": numa}
        kind = _CLASSES.get(attributes.get("class", "")[:6].lower(), "other")
        text = attributes.get("link_speed", "")
        speed = re.fullmatch(r"(\d{1,3}(?:\.\d)?) GT/s(?: PCIe)?", text)
        if text and not speed and text not in ("Unknown", "Unknown speed"):
            self.refuse(f"link_speed is {shorten(text)}, not in GT/s")
        numa = self.devices[above]["numa"] if above is not None else None
        width = self.whole(attributes, "link_width", 0, 255) or None
        place = {
            "line": line,
            "kind": kind,
            "bus": attributes.get("busid", "")[:40],
            "above": above,
            "numa": numa,
        }
        return place | {"speed": float(speed[1]) if speed else None, "width": width}


def read(path: Part) -> "Reading":
    """A `Reading` of NCCL's topology file at `path`.

    Raises ValueError naming file, line and reason for XML that is broken or cut, declares a
    document type, is larger than 16 MiB or deeper than 64 levels, or gives a speed or width that is
    no number.
    """
    tree, last, size = _Tree(path), 0, 0
    try:
        for line in lines(path):
            last, size = line.number, size + len(line.text)
            if size > _LARGEST:
                refuse(path, last, f"more than {_LARGEST // 2**20} MiB of XML")
            tree.parser.Parse(line.text + "\n", False)
        tree.parser.Parse("", True)
    except expat.ExpatError as error:
        reason = expat.errors.messages.get(error.code, "broken")
        refuse(path, error.lineno, f"XML is malformed or truncated: {reason}")
    if not any(device["kind"] != "CPU" for device in tree.devices):
        refuse(path, last, "no device in it")
    listed = [
        device | {key: tuple(device.get(key, ())) for key in ("ports", "nvlinks")}
        for device in tree.devices
    ]
    return Reading(name(path), tuple(Device(**device) for device in listed))


def signs(reading: "Reading", rate: float | None = None) -> Iterator:
    """What is slow for its kind or wired unevenly inside the machine; `rate` is not needed."""
    best = {}
    for device in reading.nodes:
        best[device.kind] = max(best.get(device.kind, 0.0), device.rate or 0.0)
    slow = [
        device for device in reading.nodes if device.rate and device.rate < 0.99 * best[device.kind]
    ]
    for device in slow[:6]:
        has = f"PCIe {device.speed:g} GT/s x{device.width}, {si(device.rate, 'B/s')}"
        yield Sign(
            "pcie-slow",
            f"{device.kind} {device.bus} (line {device.line}) has {has}, where the best has"
            f" {si(best[device.kind], 'B/s')}",
        )
    pairs = [
        (below, reading.devices[below.above]) for below in reading.nodes if below.above is not None
    ]
    tight = dict.fromkeys(
        above.bus
        for below, above in pairs
        if above.rate and below.rate and below.rate > 1.01 * above.rate
    )
    for bus in list(tight)[:3]:
        yield Sign(
            "pcie-narrow", f"the bridge {bus} has less bandwidth upwards than one device below it"
        )
    links = Counter(
        sum(count for _, count in device.nvlinks)
        for device in reading.nodes
        if device.kind == "GPU"
    )
    if len(links) > 1:
        yield Sign(
            "nvlinks-differ",
            "GPUs differ in NVLinks:"
            f" {', '.join(f'{gpus} have {count}' for count, gpus in sorted(links.items()))}",
        )
    gpus = Counter(device.numa for device in reading.nodes if device.kind == "GPU")
    if len(set(gpus.values())) > 1:
        yield Sign(
            "gpus-uneven",
            "GPUs per CPU differ:"
            f" {', '.join(f'{count} on {numa}' for numa, count in sorted(gpus.items(), key=str))}",
        )
    alone = [
        device
        for device in reading.nodes
        if device.kind == "GPU"
        and _cards(reading)
        and not any(card.above == device.above for card in _cards(reading))
    ]
    if alone:
        yield Sign(
            "gpu-far",
            f"{len(alone)} GPUs share no bridge with a network card: their traffic crosses the CPU"
            f" (first: {alone[0].bus})",
        )


def _cards(reading):
    return [device for device in reading.nodes if device.kind != "GPU"]


def report(reading: "Reading") -> str:
    """The few lines that ``fabriclab read`` prints for NCCL's topology file."""
    kinds = Counter(device.kind for device in reading.devices)
    words = {
        "CPU": "CPUs",
        "GPU": "GPUs",
        "InfiniBand": "InfiniBand cards",
        "Ethernet": "Ethernet cards",
        "bridge": "PCI bridges",
    }
    words |= {"NVSwitch": "NVSwitches", "other": "other devices"}
    lines_ = [
        f"{TOOL}: "
        + ", ".join(f"{kinds[kind]} {word}" for kind, word in words.items() if kinds[kind])
    ]
    for kind in ("GPU", "InfiniBand", "Ethernet"):
        rates = Counter(
            (device.speed, device.width) for device in reading.nodes if device.kind == kind
        )
        for (speed, width), count in sorted(rates.items(), key=str):
            rate = Device(0, kind, "", None, None, speed, width).rate
            lines_.append(
                f"  {kind}: {count} at "
                + (
                    f"PCIe {speed:g} GT/s x{width}, {si(rate, 'B/s')} each way"
                    if rate
                    else "a PCIe speed that is not given"
                )
            )
    for name_, rate in [port for card in _cards(reading) for port in card.ports][:16]:
        lines_.append(f"  port {name_}: {si(rate, 'b/s') if rate else 'speed not given'}")
    paired = sum(
        any(card.above == device.above for card in _cards(reading))
        for device in reading.nodes
        if device.kind == "GPU"
    )
    if paired:
        lines_.append(
            f"  {paired} of {kinds['GPU']} GPUs share a bridge with a network card: GPUDirect RDMA"
            " there stays off the CPU"
        )
    return "\n".join(lines_ + marked(signs(reading)))
