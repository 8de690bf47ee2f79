"""An InfiniBand fabric as a tool lists it: ports, switches, links; what is slow for its kind, what
is wired unevenly.

The readers of ibnetdiscover and iblinkinfo fill a `Gatherer`; what comes out is one `Fabric`,
whichever tool it was, and its `topology()` is the same kind of network that `fabriclab.topology`
builds from a plan.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator

from fabriclab.logs.infiniband.fabric import (
    _TIERS,
    BY_SIGNAL,
    MOST,
    PER_LANE,
    RATE,
    Fabric,
    Link,
    Vertex,
    link_rate,
)
from fabriclab.logs.infiniband.gather import Gatherer, TooMany
from fabriclab.logs.sign import Sign, marked
from fabriclab.units import si

__all__ = [
    "BY_SIGNAL",
    "Fabric",
    "Gatherer",
    "Link",
    "MOST",
    "PER_LANE",
    "TooMany",
    "Vertex",
    "degraded",
    "kind_of",
    "link_rate",
    "report",
    "signs",
    "uneven",
]


def kind_of(fabric: Fabric, link: Link) -> str:
    """What a link joins: "host-switch", "switch-switch", …"""
    return "-".join(sorted(fabric.vertices[at].kind for at in (link.a, link.b)))


def degraded(fabric: Fabric) -> list[tuple]:
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


def uneven(fabric: Fabric) -> list[str]:
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


def signs(fabric: Fabric, rate: float | None = None) -> Iterator:
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


def report(fabric: Fabric) -> str:
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
