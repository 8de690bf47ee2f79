"""What a collective puts on a host's NICs: how many hosts there are, as far as they can be counted,
and what each collective sends from host to host.
"""

import math
import re
from dataclasses import dataclass
from fractions import Fraction

from fabriclab import catalog
from fabriclab.catalog.accelerators import Accelerator
from fabriclab.logs.nccl.facts import SHOWN, candidates, ranks, rate
from fabriclab.logs.nccl.records import Table
from fabriclab.logs.sign import Sign
from fabriclab.units import GB, si

RINGS = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce")
FITS = 1.1  # above this multiple of what healthy ports give, the model is not of this machine
LOW = 0.6  # of the reference node's port: slow, whichever port the node has
_RACK = re.compile(r"\bGB[23]00\b|NVL72")


@dataclass(frozen=True)
class Hosts:
    """How many hosts took part, None where they cannot be counted, and `how` it is known."""

    count: int | None
    how: str = ""

    def __str__(self):
        if not self.count:
            return self.how
        words = f"{self.count} node{'s' * (self.count != 1)}"
        return f"{words} ({self.how})" if self.how else words


def hosts(table: Table) -> Hosts:
    """The `Hosts` of a table: counted where every rank has its line, else ranks over the GPUs of a
    host where the lines that are left show a whole host, else unknown.
    """
    named = {process.rank: process for process in table.processes}
    n = ranks(table).count
    if not named:
        return Hosts(None)
    if not n or len(named) >= n or len(table.processes) >= n:
        return Hosts(len({process.host for process in table.processes}))
    each = max(process.device for process in named.values()) + 1
    regular = all(rank % each == process.device for rank, process in named.items())
    blocks = {}
    for rank, process in named.items():
        blocks.setdefault(process.host, set()).add(rank // each)
    apart = len({next(iter(found)) for found in blocks.values()}) == len(blocks)
    if regular and apart and len(blocks) > 1 and all(len(found) == 1 for found in blocks.values()):
        return Hosts(math.ceil(n / each), f"if each has {each} GPUs; not all ranks have lines")
    return Hosts(None, "hosts not counted: not all ranks have lines")


def domains(table: Table) -> int | None:
    """How many NVLink domains the ranks fill: as many as hosts, or racks of 72 GPUs where the GPUs
    are a rack's; None where that is not known.
    """
    n, count = ranks(table).count, hosts(table).count
    if in_racks(table):
        return math.ceil(n / catalog.NVL72.packages) if n else None
    return count


def in_racks(table: Table) -> bool:
    """Whether the GPUs share one NVLink domain across hosts."""
    return any(_RACK.search(process.gpu) for process in table.processes)


def traffic(collective: str, ranks_: int, hosts_: int) -> Fraction | None:
    """What a host's NICs carry one way, as a multiple of busbw, None where no model holds.

    A ring crosses each host once, whatever it has inside: 1. Of an AllToAll each of a host's g
    ranks sends (n-g)/(n-1) of what busbw counts to other hosts: ``g (n-g)/(n-1)``. SendRecv goes
    round the ranks, so one rank of a host sends to the next host: 1. Gather and Scatter load the
    root's host alone: ``(n-g)/(n-1)``.

    >>> traffic("alltoall", 16, 2) / 8
    Fraction(8, 15)
    """
    if not ranks_ or not hosts_ or hosts_ < 2 or ranks_ % hosts_:
        return None
    each = ranks_ // hosts_
    if collective in RINGS or collective == "sendrecv":
        return Fraction(1)
    if collective == "alltoall":
        return Fraction(each * (ranks_ - each), ranks_ - 1)
    return Fraction(ranks_ - each, ranks_ - 1) if collective in ("gather", "scatter") else None


def known(gpus: list[str]) -> Accelerator | None:
    """The catalogue's record of the one kind of GPU in use, in its module form (PCIe cards have
    less NVLink or none), or None.
    """
    if len(gpus) != 1 or "PCI" in gpus[0].upper() or "NVL" in gpus[0].upper():
        return None
    return next(
        (one for one in catalog.ACCELERATORS if re.search(rf"\b{one.name}\b", gpus[0])), None
    )


def against_hardware(table: Table) -> tuple[list, ...]:
    """(lines, signs): the best busbw beside one direction of NVLink, or what crosses the NICs."""
    best = max(one.busbw for row in table.rows for one in row.passes)
    n, count = ranks(table).count, hosts(table).count
    gpus = list(dict.fromkeys(process.gpu for process in table.processes))
    record = known(gpus)
    if n and n > 1 and count == 1 and record:
        return _inside(best, record)
    if in_racks(table) and domains(table) == 1 and n and n > 1:
        return [
            f"best busbw {rate(best)}, over NVLink: {n} GPUs fit into one NVLink domain of"
            f" {catalog.NVL72.packages}, so hosts are not crossed by NICs"
        ], []
    names = candidates(table)
    if in_racks(table) or len(names) != 1:
        return [], []
    times = traffic(names[0], n, count)
    return _across(best, names[0], n, count, times, record) if times else ([], [])


def _inside(best, record):
    one_way = record.nvlink.per_direction
    basis = f"{rate(one_way)} (data sheets say {2 * one_way / GB:g}, counting both)"
    said = [
        f"best busbw {rate(best)}: {best / one_way:.0%} of one direction of the {record.name}'s"
        f" NVLink, {basis}"
    ]
    if best > one_way:
        said.append(
            "more than one direction holds: in-network reduction, which the factor of busbw"
            " does not know of, or another GPU"
        )
    elif best < LOW * one_way:
        return said, [
            Sign(
                "nvlink-low",
                "under 60 % of NVLink: the largest size is too small, or NCCL went through PCIe"
                " or host memory (its log says P2P or SHM)",
            )
        ]
    return said, []


def _across(best, collective, n, count, times, record):
    each = n // count
    node = best * float(times)
    one = collective in ("sendrecv", "gather", "scatter")
    port = node if one else node / each
    if collective == "alltoall":
        share = Fraction(n - each, n - 1)
        way = f"of an AllToAll {share.numerator}/{share.denominator} leaves the node"
    elif one:
        way = f"a {SHOWN[collective]} crosses between nodes at one GPU at a time"
    else:
        way = "as a ring, each node's NICs together carry that one way"
    said = [f"best busbw {rate(best)}: {way}, {si(port, 'b/s')} per GPU"]
    if not record or each != 8:
        return said, []
    full = port / record.port.per_direction
    said[0] += f", {full:.0%} of the one {record.port.name} port per GPU in NVIDIA's reference node"
    if full > 1:
        tree = "between two nodes a tree may show up to twice the wire; " if count == 2 else ""
        said.append(
            f"more than the model could carry: {tree}in-network reduction too, or the ports are"
            " others"
        )
    elif full < LOW and not one:
        return said, [
            Sign(
                "nics-low",
                "under 60 %: if the node has those ports, look for one that is slow, down or"
                " unused; a ring goes at the pace of its slowest link",
            )
        ]
    return said, []
