"""An InfiniBand fabric as a tool lists it: ports, switches, links; what is slow for its kind, what
is wired unevenly.

The readers of ibnetdiscover and iblinkinfo fill a `Gatherer`; what comes out is one `Fabric`,
whichever tool it was, and its `topology()` is the same kind of network that `fabriclab.topology`
builds from a plan.
"""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from fabriclab.logs.sign import Sign, marked
from fabriclab.topology import assemble
from fabriclab.units import Gbps, si

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


def link_rate(width, speed):
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


class TooMany(Exception):
    """More than a fabric holds."""


class Gatherer:
    """Collects vertices and links as a reader meets them; each cable once, though most files show
    it from both ends.
    """

    def __init__(self):
        self.vertices, self.links, self.down, self.disagreements = {}, {}, {}, []
        self.plugged = {}

    def vertex(self, key, kind=None, name=None, ports=None, lid=None, listed=False):
        """The number of the vertex called `key`, adding to it whatever is new. Raises `TooMany`."""
        if key not in self.vertices and len(self.vertices) >= MOST:
            raise TooMany(f"more than {MOST:,} ports and switches")
        known = self.vertices.setdefault(
            key,
            {
                "number": len(self.vertices),
                "kind": None,
                "name": None,
                "ports": None,
                "lid": None,
                "listed": False,
            },
        )
        for field, value in (("kind", kind), ("name", name), ("ports", ports), ("lid", lid)):
            if known[field] is None and value not in (None, ""):
                known[field] = value
        known["listed"] |= listed
        return known["number"]

    def link(
        self, line, a, a_port, b, b_port, width=None, speed=None, could_be=None, state="Active"
    ):
        """Note a cable; seen again from its other end it stays one. Raises `TooMany`."""
        here, there = (a, a_port), (b, b_port)
        for end, far in ((here, there), (there, here)):
            if self.plugged.setdefault(end, far) != far and len(self.disagreements) < 20:
                self.disagreements.append(
                    f"line {line} plugs port {end[1]} of {self._name(end[0])} elsewhere than an"
                    " earlier line does"
                )
        key = tuple(sorted((here, there)))
        if key not in self.links:
            if len(self.links) >= MOST:
                raise TooMany(f"more than {MOST:,} links")
            cable = {"line": line, "a": a, "a_port": a_port, "b": b, "b_port": b_port}
            self.links[key] = cable | {
                "from": {here},
                "width": width,
                "speed": speed,
                "could_be": could_be,
                "state": state,
            }
            return
        known = self.links[key]
        known["from"].add(here)
        for field, value in (("width", width), ("speed", speed), ("could_be", could_be)):
            if known[field] is None:
                known[field] = value
            elif (
                value is not None
                and value != known[field]
                and field != "could_be"
                and len(self.disagreements) < 20
            ):
                self.disagreements.append(
                    f"lines {known['line']} and {line} give one cable as {known[field]} and as"
                    f" {value}"
                )

    def _name(self, number):
        return next(
            known["name"] or key
            for key, known in self.vertices.items()
            if known["number"] == number
        )

    def fabric(self, tool, path):
        """All that was gathered, as a `Fabric`."""
        ports = defaultdict(set)
        for here, there in self.links:
            ports[here[0]].add(here[1])
            ports[there[0]].add(there[1])
        vertices = []
        for key, known in self.vertices.items():
            used = ports[known["number"]]
            # an end point has a vertex for each of its ports, so what shows several, or a high one,
            # is a switch
            kind = known["kind"] or (
                "switch" if len(used) > 1 or max(used, default=0) > 2 else "host"
            )
            name = known["name"] or key
            if kind == "host" and re.search(r"Aggregation Node", name):
                kind = "aggregation"
            vertices.append(Vertex(kind, name, key, known["listed"], known["ports"], known["lid"]))
        links = tuple(
            Link(
                **{field: value for field, value in known.items() if field != "from"},
                ends=len(known["from"]),
            )
            for known in self.links.values()
        )
        return Fabric(
            tool, path, tuple(vertices), links, tuple(self.down), tuple(self.disagreements)
        )


def kind_of(fabric, link):
    """What a link joins: "host-switch", "switch-switch", …"""
    return "-".join(sorted(fabric.vertices[at].kind for at in (link.a, link.b)))


def degraded(fabric):
    """Links below what their two ends could do, or below the best of their kind, as (link, why).

    >>> box = Gatherer()
    >>> a, b, s = box.vertex("a", "host"), box.vertex("b", "host"), box.vertex("s", "switch")
    >>> box.link(1, a, 1, s, 1, 4, "NDR"); box.link(2, b, 1, s, 2, 2, "NDR")
    >>> [(link.a_port, link.b_port, why) for link, why in degraded(box.fabric("by hand", ""))]
    [(1, 2, '2x NDR, where the best host-switch link is 4x NDR')]
    """
    best = {}
    for link in fabric.links:
        kind = kind_of(fabric, link)
        if link.rate and link.rate > best.get(kind, (0.0, ""))[0]:
            best[kind] = link.rate, f"{link.width}x {link.speed}"
    found = []
    for link in fabric.links:
        kind, shown = kind_of(fabric, link), f"{link.width or '?'}x {link.speed or '?'}"
        if link.could_be:
            found.append((link, f"{shown}, though both ends could do {link.could_be}"))
        elif link.rate and link.rate < 0.99 * best[kind][0]:
            found.append((link, f"{shown}, where the best {kind} link is {best[kind][1]}"))
    return found


def uneven(fabric):
    """What differs between switches that should be alike, in words: uplinks per leaf, and a leaf's
    cables to each spine.

    Only switches that the file lists themselves are judged: of the others it may show a part.
    """
    tier, found = fabric.tiers(), []
    up = defaultdict(Counter)
    for link in fabric.links:
        for low, high in ((link.a, link.b), (link.b, link.a)):
            if tier[low] >= 1 and tier[high] == tier[low] + 1:
                up[low][high] += 1
    for depth in range(1, max(tier, default=0)):
        leaves = [at for at in up if tier[at] == depth and fabric.vertices[at].listed]
        totals = Counter(sum(up[at].values()) for at in leaves)
        usual = max(totals, key=lambda total: (totals[total], total), default=0)
        for at in leaves:
            name, total, per_spine = (
                fabric.vertices[at].name,
                sum(up[at].values()),
                sorted(set(up[at].values())),
            )
            if total != usual:
                found.append(f"{name} has {total} uplinks, where most have {usual}")
            if len(per_spine) > 1:
                few = next(high for high, cables in up[at].items() if cables == per_spine[0])
                found.append(
                    f"{name} has {per_spine[0]} to {per_spine[-1]} cables per switch above it;"
                    f" fewest to {fabric.vertices[few].name}"
                )
    return found


def signs(fabric, rate: float | None = None):
    """What stands out in a fabric; `rate` is not needed."""

    def name(at):
        return fabric.vertices[at].name

    for link, why in degraded(fabric)[:6]:
        yield Sign(
            "slow-cable",
            f"{name(link.a)} port {link.a_port} to {name(link.b)} port {link.b_port} runs at {why}",
        )
    if len(degraded(fabric)) > 6:
        yield Sign("slow-cable", f"… and {len(degraded(fabric)) - 6} more slow links")
    irregular = uneven(fabric)
    for words in irregular[:6]:
        yield Sign("uneven", words)
    if len(irregular) > 6:
        yield Sign("uneven", f"… and {len(irregular) - 6} more uneven switches")
    asleep = [link for link in fabric.links if link.state != "Active"]
    if asleep:
        yield Sign(
            "asleep",
            f"{_several(len(asleep), 'link')} connected but {asleep[0].state}, not Active: is a"
            " subnet manager running?",
        )
    once = sum(
        link.ends == 1 and fabric.vertices[link.a].listed and fabric.vertices[link.b].listed
        for link in fabric.links
    )
    if once:
        yield Sign(
            "one-end",
            f"{_several(once, 'link')} shown from one end only, though both ends are listed: an"
            " excerpt, or it changed while it was read",
        )
    for words in fabric.disagreements[:4]:
        yield Sign("ends-disagree", words)


def _several(count, word):
    return f"{count:,} {word}" + (
        "" if count == 1 or " of " in word else "es" if word.endswith("ch") else "s"
    )


def report(fabric) -> str:
    """The few lines that ``fabriclab read`` prints for a fabric."""
    kinds = Counter(vertex.kind for vertex in fabric.vertices)
    machines = len({vertex.machine for vertex in fabric.nodes})
    parts = [
        f"{_several(kinds['host'], 'host port')} on {_several(machines, 'machine')}",
        _several(kinds["switch"], "switch"),
        _several(len(fabric.links), "link"),
    ]
    rarer = {
        "aggregation": "aggregation node",
        "router": "router port",
        "unknown": "device of unknown kind",
    }
    lines = [
        f"{fabric.tool}: "
        + ", ".join(
            parts + [_several(kinds[kind], word) for kind, word in rarer.items() if kinds[kind]]
        )
    ]
    shown = Counter((kind_of(fabric, link), link.width, link.speed) for link in fabric.links)
    for (kind, width, speed), count in sorted(shown.items(), key=str):
        rate = link_rate(width, speed)
        known = f"{width}x {speed}, {si(rate, RATE)} each way" if rate else None
        lines.append(f"  {kind}: {count} at {known or 'a speed that is not printed'}")
    lines += [f"  {line}" for line in _tier_lines(fabric)]
    if fabric.down:
        lines.append(f"  {_several(len(fabric.down), 'port')} with nothing at the far end")
    unlisted = sum(not vertex.listed for vertex in fabric.vertices)
    if unlisted:
        lines.append(
            f"  {unlisted} of the {len(fabric.vertices)} appear only at a far end: the file is an"
            " excerpt"
        )
    return "\n".join(lines + marked(signs(fabric)))


def _tier_lines(fabric):
    tier = fabric.tiers()
    counts = Counter(depth for depth in tier if depth > 0)
    if not counts:
        return []
    said = [
        "tiers: "
        + ", ".join(
            f"{counts[depth]} {_TIERS[depth - 1] if depth <= 3 else f'tier {depth}'}"
            for depth in sorted(counts)
        )
    ]
    down, up = Counter(), Counter()
    for link in fabric.links:
        for low, high in ((link.a, link.b), (link.b, link.a)):
            if tier[high] == 1 and tier[low] == 0:
                down[high] += link.rate or 0.0
            if tier[low] == 1 and tier[high] == 2:
                up[low] += link.rate or 0.0
    ratios = [
        down[leaf] / up[leaf]
        for leaf in up
        if down[leaf] and up[leaf] and fabric.vertices[leaf].listed
    ]
    if ratios:
        least, most = min(ratios), max(ratios)
        said.append(
            f"hosts' rate over uplinks' rate per leaf: {least:.3g}"
            + (f" to {most:.3g}" if most > least else "")
            + " (more than 1 is oversubscribed)"
        )
    return said
