"""An InfiniBand fabric: its vertices, its links, and the network they make."""

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from fabriclab.topology import assemble
from fabriclab.units import Gbps

# Data per lane in Gb/s, after the line code; and the name by the lane's signal rate in Gb/s. IBTA
# architecture specification.
PER_LANE = {
    "SDR": 2.0,
    "DDR": 4.0,
    "QDR": 8.0,
    "FDR10": 10.0,
    "FDR": 14.0625 * 64 / 66,
    "EDR": 25.0,
    "HDR": 50.0,
    "NDR": 100.0,
    "XDR": 200.0,
}


BY_SIGNAL = {
    2.5: "SDR",
    5.0: "DDR",
    10.0: "QDR",
    14.0625: "FDR",
    25.78125: "EDR",
    53.125: "HDR",
    106.25: "NDR",
    212.5: "XDR",
}


MOST = 400_000  # vertices, and links: three tiers of 64-port switches come to 200,000


RATE = "b/s"


_TIERS = ("leaf", "spine", "core")


def link_rate(width: int | None, speed: str | None) -> float | None:
    """Bytes per second of data one way over `width` lanes of the generation called `speed`; None
    where either is not known.

    >>> link_rate(4, "NDR") / Gbps, link_rate(1, "EDR") / Gbps, link_rate(4, None)
    (400.0, 25.0, None)
    """
    return width * PER_LANE[speed] * Gbps if width and speed in PER_LANE else None


@dataclass(frozen=True)
class Vertex:
    """A host's port, a switch, a router's port, or an aggregation node (in-network reduction inside
    a switch): its `kind`, or "unknown" where the file does not say. `listed` where the file shows
    it by itself and not only at another's far end; `ports` as the file says, or None.
    """

    kind: str
    name: str
    key: str
    listed: bool
    ports: int | None = None
    lid: int | None = None

    @property
    def machine(self):
        """The host's own name: what stands in front of its adapter's."""
        return self.name.split()[0] if self.name.split() else self.key


@dataclass(frozen=True)
class Link:
    """One cable between vertex `a` at `a_port` and `b` at `b_port`; `width` lanes of `speed`;
    `could_be` where the tool says that both ends could do more; `ends` how many of them the file
    shows it from; `line` where it was first seen.
    """

    line: int
    a: int
    a_port: int
    b: int
    b_port: int
    width: int | None = None
    speed: str | None = None
    could_be: str | None = None
    state: str = "Active"
    ends: int = 1

    @property
    def rate(self):
        return link_rate(self.width, self.speed)


@dataclass(frozen=True)
class Fabric:
    """A fabric as read. `vertices` holds everything, and links number their ends by it; `down` is
    the ports with nothing at
    the far end, as (vertex, port)."""

    tool: str
    path: str
    vertices: tuple[Vertex, ...]
    links: tuple[Link, ...]
    down: tuple[tuple[int, int], ...] = ()
    disagreements: tuple[str, ...] = ()

    @property
    def nodes(self):
        """The host ports."""
        return tuple(vertex for vertex in self.vertices if vertex.kind == "host")

    @property
    def switches(self):
        return tuple(vertex for vertex in self.vertices if vertex.kind == "switch")

    def graph(self):
        """Cables from row to column, a symmetric sparse matrix over `vertices`."""
        n = len(self.vertices)
        a, b = ([getattr(link, end) for link in self.links] for end in "ab")
        return csr_array(
            (np.ones(2 * len(a), int), (np.array(a + b, int), np.array(b + a, int))), shape=(n, n)
        )

    def tiers(self):
        """The tier of every vertex: 0 for a host's port, 1 for a switch with hosts on it (leaf), 2
        above it (spine), and so
        on; -1 for what no host reaches and for what is neither."""
        tier = [0 if vertex.kind == "host" else -1 for vertex in self.vertices]
        beside = defaultdict(set)
        for link in self.links:
            beside[link.a].add(link.b)
            beside[link.b].add(link.a)
        front, depth = [at for at, found in enumerate(tier) if found == 0], 0
        while front:
            depth += 1
            front = sorted(
                {
                    far
                    for at in front
                    for far in beside[at]
                    if tier[far] < 0 and self.vertices[far].kind == "switch"
                }
            )
            for at in front:
                tier[at] = depth
        return tier

    def topology(self, rate=None):
        """The same network as a `fabriclab.topology.Topology`: host ports first, then switches tier
        by tier.

        `rate`, bytes per second, stands in where a link's speed is not printed. Aggregation nodes
        and routers are left out.
        Raises ValueError for a fabric without hosts, with switches that no host reaches, or with a
        speed that is missing.
        """
        tier = self.tiers()
        hosts = [at for at, vertex in enumerate(self.vertices) if vertex.kind == "host"]
        lost = [
            vertex.name
            for at, vertex in enumerate(self.vertices)
            if vertex.kind == "switch" and tier[at] < 0
        ]
        if not hosts or lost:
            raise ValueError(
                f"{self.path} cannot be made a network:"
                f" {f'no host reaches switch {lost[0]}' if lost else 'it lists no host'}"
            )
        names = [
            _TIERS[depth - 1] if depth <= len(_TIERS) else f"tier {depth}"
            for depth in range(1, max(tier) + 1)
        ]
        order = hosts + [
            at
            for depth in range(1, max(tier) + 1)
            for at, found in enumerate(tier)
            if found == depth
        ]
        number = {at: new for new, at in enumerate(order)}
        bundles, leaf = defaultdict(Counter), {}
        for link in self.links:
            if link.a not in number or link.b not in number:
                continue
            speed = link.rate or rate
            if speed is None:
                raise ValueError(
                    f"{self.path}, line {link.line}: the link's speed is not printed; give a rate"
                    " for such links"
                )
            low, high = sorted((link.a, link.b), key=lambda at: number[at])
            layer = "-".join("host" if tier[at] == 0 else names[tier[at] - 1] for at in (low, high))
            bundles[layer][number[low], number[high], speed] += 1
            if tier[low] == 0:
                leaf.setdefault(number[low], number[high])
        counts = [sum(found == depth for found in tier) for depth in range(1, max(tier) + 1)]
        used = Counter(end for link in self.links for end in (link.a, link.b))
        radix = [
            max(
                max(self.vertices[at].ports or 0, used[at])
                for at, found in enumerate(tier)
                if found == depth
            )
            for depth in range(1, max(tier) + 1)
        ]
        columns = {
            layer: tuple(zip(*((a, b, count, speed) for (a, b, speed), count in found.items())))
            for layer, found in bundles.items()
        }
        machines = {
            name: at
            for at, name in enumerate(dict.fromkeys(self.vertices[at].machine for at in hosts))
        }
        position = np.array([[leaf.get(at, -1)] for at in range(len(hosts))])
        return assemble(
            self.tool,
            len(hosts),
            names,
            counts,
            radix,
            columns,
            position,
            node=np.array([machines[self.vertices[at].machine] for at in hosts]),
        )
