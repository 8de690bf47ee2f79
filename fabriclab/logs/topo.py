"""``nvidia-smi topo -m``: how far each GPU is from each NIC and from the other GPUs.

The layout, in our words. A head of names (GPU0, NIC0 or mlx5_0, then the affinities), a row per
device with a word per column: X itself, NV# that many NVLinks, PIX one PCIe switch at most, PXB
several, PHB through the host bridge, NODE across host bridges of one NUMA node, SYS across the
link between sockets. Below it legends, the second of which says what the NICs are called.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fabriclab.logs.sign import Sign, marked
from fabriclab.logs.source import Part, lines, name, refuse, shorten

TOOL = "nvidia-smi topo -m"
_DEVICE = (
    r"(?:GPU\d{1,3}|NIC\d{1,3}|(?:mlx|bnxt_re|irdma|ionic|efa|rocep|rdmap|ib)\w{0,20}\d\w{0,10})"
)
SIGN = re.compile(rf"^\s+GPU\d{{1,3}}\s(?:\s*{_DEVICE}(?=\s|$))*.*$")
AGAIN = re.compile(r"^\s+(?P<head>GPU\d{1,3})\s")
FAR = ("X", "NV", "PIX", "PXB", "PHB", "NODE", "SYS")  # from near to far
_CELL = re.compile(r"X|NV\d{1,3}|PIX|PXB|PHB|NODE|SYS|PIX?B|SOC|N/A|OK|-")
_NAMED = re.compile(r"^\s*(NIC\d{1,3}): (\S{1,60})\s*$")
_NEAR = ("PIX", "PXB")


@dataclass(frozen=True)
class Reading:
    """The matrix as read: the `devices` in order, `way` from (row, column) to the word between
    them, and what each NIC is `called`.
    """

    path: str
    devices: tuple[str, ...]
    way: tuple[tuple[tuple[str, str], str], ...]
    called: tuple[tuple[str, str], ...]

    tool = TOOL

    @property
    def gpus(self):
        return tuple(one for one in self.devices if one.startswith("GPU"))

    @property
    def nics(self):
        return tuple(one for one in self.devices if not one.startswith("GPU"))

    def between(self, one, other):
        """The word between two devices, either way round; None where not printed."""
        way = dict(self.way)
        return way.get((one, other)) or way.get((other, one))

    def nearest(self, gpu):
        """(word, NICs) of the NICs nearest to a GPU, or None without a NIC."""
        by = {}
        for nic in self.nics:
            by.setdefault(self.between(gpu, nic), []).append(nic)
        for word in FAR:
            if word in by:
                return word, tuple(by[word])
        return None


def read(path: Part) -> "Reading":
    """A `Reading` of ``nvidia-smi topo -m`` at `path`.

    Raises ValueError naming file, line and reason for a row that is not whole, a word that is none
    of the legend's, a device twice, and a matrix without rows.
    """
    columns, way, called, last, rows = None, {}, {}, 0, []
    for line in lines(path):
        last, text = line.number, line.text
        if columns is None:
            if SIGN.match(text):
                words = text.split()
                count = next(
                    (at for at, one in enumerate(words) if not re.fullmatch(_DEVICE, one)),
                    len(words),
                )
                columns = words[:count]
        elif found := _NAMED.match(text):
            called[found[1]] = found[2]
        elif text.strip() and text.split()[0] in columns:
            device, *cells = text.split()
            cells = cells[: len(columns)]
            odd = next((cell for cell in cells if not _CELL.fullmatch(cell)), None)
            if len(cells) < len(columns) or odd or not line.whole and len(cells) < len(columns):
                refuse(
                    path,
                    last,
                    f"not a whole row of {len(columns)} devices"
                    + (f", and {shorten(odd)} is not a distance" if odd else "")
                    + f": {shorten(text)}",
                )
            if device in rows:
                refuse(path, last, f"{device} has two rows")
            if cells[columns.index(device)] != "X":
                refuse(path, last, f"{device} is not X to itself: {shorten(text)}")
            rows.append(device)
            way |= {((device, other)): cell for other, cell in zip(columns, cells, strict=True)}
    if not rows:
        refuse(path, max(last, 1), "the head of the matrix, but no row")
    return Reading(name(path), tuple(columns), tuple(way.items()), tuple(called.items()))


def signs(reading: "Reading", rate: float | None = None) -> Iterator:
    """What stands out: GPUs far from every NIC, and pairs of GPUs without NVLink."""
    far = {}
    for gpu in reading.gpus:
        near = reading.nearest(gpu)
        if near and near[0] not in _NEAR:
            far.setdefault(near[0], []).append(gpu)
    for word, gpus in far.items():
        over = {
            "PHB": "through the CPU's host bridge",
            "NODE": "across host bridges",
            "SYS": "across the link between sockets",
        }.get(word, word)
        yield Sign(
            "nic-far",
            f"{', '.join(gpus[:8])} reach{'es' * (len(gpus) == 1)} the nearest NIC {over} ({word}):"
            " GPUDirect RDMA is slower there, and NCCL may not use it",
        )
    linked = {
        gpu
        for gpu in reading.gpus
        for other in reading.gpus
        if (reading.between(gpu, other) or "").startswith("NV")
    }
    alone = [gpu for gpu in reading.gpus if gpu not in linked]
    if linked and alone:
        yield Sign("nvlinks-differ", f"{', '.join(alone[:8])} without NVLink, the others have it")


def report(reading: "Reading") -> str:
    """The few lines that ``fabriclab read`` prints for the matrix."""
    called = dict(reading.called)
    said = [
        f"{TOOL}: {len(reading.gpus)} GPU{'s' * (len(reading.gpus) != 1)},"
        f" {len(reading.nics)} NIC{'s' * (len(reading.nics) != 1)}"
    ]
    for gpu in reading.gpus[:16]:
        near = reading.nearest(gpu)
        links = {
            reading.between(gpu, other)
            for other in reading.gpus
            if other != gpu and reading.between(gpu, other)
        }
        facts = []
        if near:
            nics = ", ".join(called.get(nic, nic) for nic in near[1][:6])
            facts.append(f"nearest NIC {nics} ({near[0]})")
        if links:
            facts.append(f"other GPUs by {', '.join(sorted(links))}")
        said.append(f"  {gpu}: {'; '.join(facts)}")
    if not reading.nics:
        said.append("  no NIC in the matrix: nothing is said of the network")
    return "\n".join([*said, *marked(signs(reading))])
