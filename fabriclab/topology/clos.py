"""Trees of switches: leaf-spine, fat-tree, and `build`, which chooses tiers and wires evenly.

Even wiring is the rule behind the counts: every leaf sends the same number of cables to every spine
above it, so the number of spines divides a leaf's uplinks; dividing the cables by a switch's ports
and rounding up is not enough.
Cables from a spine to the cores of its plane are even too, or several planes share a core.

Sources: Al-Fares, Loukissas and Vahdat 2008 (fat-tree); NVIDIA DGX SuperPOD reference architectures
(counts).
"""

import math
from collections.abc import Sequence

import numpy as np

from fabriclab.checks import Values, number, positive, scalar
from fabriclab.topology.graph import (
    Topology,
    assemble,
    bundle_count,
    host_count,
    port_count,
    rate,
    whole,
)
from fabriclab.units import GB

TIERS = ("leaf", "spine", "core")


def build(
    end_points: int,
    radix: int | Sequence[int],
    oversubscription: float | Sequence[float] = 1,
    per_node: int = 1,
    bandwidth: float = 50 * GB,
    uplink: float | None = None,
) -> Topology:
    """The smallest evenly wired tree for `end_points` ports: one switch, two tiers, or three.

    `radix`: ports of a switch, or one number per tier. `oversubscription`: downlinks over uplinks
    of a leaf, or (leaf, spine); what is not named is 1. A leaf has ``floor(radix/(1+r))`` uplinks,
    so 64 ports at 2:1 make 42 down and 21 up.
    `per_node`: ports of one machine, kept on one leaf. `bandwidth`: bytes per second of a cable one
    way, `uplink` of one between switches, the same where it is None. A third tier starts above
    ``radix^2/2`` end points at 1:1. Raises ValueError for what cannot be wired, saying why.

    >>> build(1024, 64).switches, build(2049, 64).switches
    ({'leaf': 32, 'spine': 16}, {'leaf': 65, 'spine': 96, 'core': 64})
    >>> build(65_537, 64)
    Traceback (most recent call last):
    ValueError: end_points cannot be wired: 65,537 of them need 2,049 leaves, more than three tiers
    of 64-port switches can join
    """
    hosts, per_node = host_count("end_points", end_points), whole("per_node", per_node)
    radices, ratios = (
        per_tier("radix", radix, 2),
        per_tier("oversubscription", oversubscription, 1),
    )
    if hosts <= radices[0]:
        tiers, name = 1, f"one switch, {hosts} hosts"
        return wire(name, hosts, radices, ratios, tiers, per_node, bandwidth, uplink=uplink)
    name = f"build({hosts:,} at {radices[0]} ports, {':'.join(f'{r:g}' for r in ratios)})"
    leaves = _leaves(hosts, per_node, radices, ratios)
    tiers = 2 if leaves <= radices[1] else 3
    return wire(name, hosts, radices, ratios, tiers, per_node, bandwidth, uplink=uplink)


def leaf_spine(
    leaves: int,
    spines: int,
    down: int,
    up: int,
    radix: int = 64,
    bandwidth: float = 50 * GB,
    uplink: Values | None = None,
) -> Topology:
    """Two tiers exactly as told: `down` hosts and `up` uplinks on every leaf, the uplinks spread
    evenly over the spines.

    `bandwidth`: bytes per second of a host's cable one way, `uplink` of one to a spine, the same
    where it is None: 32 hosts at 400G under 8 uplinks at 800G are 2:1.
    Raises ValueError when they cannot be: `spines` must divide `up`, and nothing may need more than
    `radix` ports.

    Other words: two tiers, top-of-rack (ToR), Clos, how many hosts, uplinks.

    >>> leaf_spine(32, 16, 32, 32)
    leaf-spine: 1,024 hosts, 32 leaf, 16 spine, 2,048 cables
    >>> leaf_spine(32, 8, 32, 32)
    Traceback (most recent call last):
    ValueError: radix must be at least 128: a spine switch would need 128 ports and has 64
    """
    leaves, spines, down, up = (
        whole(n, v) for n, v in (("leaves", leaves), ("spines", spines), ("down", down), ("up", up))
    )
    radix, bandwidth = whole("radix", radix, 2), rate(bandwidth)
    uplink = bandwidth if uplink is None else scalar("uplink", positive("uplink", uplink))
    host_count("leaves times down", leaves * down)
    for tier, ports in (("leaf", down + up), ("spine", leaves * up // spines)):
        if ports > radix and not up % spines:
            raise ValueError(
                f"radix must be at least {ports}: a {tier} switch would need {ports} ports and has"
                f" {radix}"
            )
    bundle_count("leaves, spines and down", leaves * (down + spines))
    if up % spines:
        raise ValueError(
            f"spines must divide a leaf's {up} uplinks so that the wiring is even, not {spines}"
        )
    leaf, host = np.arange(leaves), np.arange(leaves * down)
    bundles = {
        "host-leaf": (host, host.size + host // down, 1, bandwidth),
        "leaf-spine": (
            host.size + np.repeat(leaf, spines),
            host.size + leaves + np.tile(np.arange(spines), leaves),
            up // spines,
            uplink,
        ),
    }
    # only an even number of full leaves halves along leaves; uplinks beyond the hosts' own cables
    # add nothing
    closed = (
        {"bisection": host.size / 2 * bandwidth * min(1.0, up * uplink / (down * bandwidth))}
        if leaves % 2 == 0
        else {}
    )
    place = (host // down)[:, None]
    return assemble(
        "leaf-spine",
        host.size,
        TIERS[:2],
        (leaves, spines),
        (radix,) * 2,
        bundles,
        place,
        optical=("leaf-spine",),
        closed=closed,
    )


def fat_tree(
    radix: int,
    tiers: int = 3,
    hosts: int | None = None,
    bandwidth: float = 50 * GB,
    uplink: float | None = None,
) -> Topology:
    """A tree of `radix`-port switches, as many ports up as down, full or cut down to `hosts`.

    Full: ``k^2/2`` hosts on ``3k/2`` switches (two tiers), ``k^3/4`` hosts on ``5k^2/4`` switches
    (three), whose pods hold ``k^2/4`` hosts each. `uplink`: bytes per second of a cable between
    switches, `bandwidth` where it is None. With N hosts and whole pods ``(2t-1) N/k``
    switches and ``t N`` cables.

    Other words: Clos, folded Clos, three tiers, edge, aggregation and core switches, k-ary, pods,
    number of switches.

    >>> fat_tree(64).switches, fat_tree(64, hosts=4096).switches
    ({'leaf': 2048, 'spine': 2048, 'core': 1024}, {'leaf': 128, 'spine': 128, 'core': 64})
    """
    radix, tiers = port_count(radix), whole("tiers", tiers, 2)
    if radix % 2 or tiers > 3:
        raise ValueError(
            f"radix must be even, as half of a leaf's ports point up, not {radix}"
            if radix % 2
            else f"tiers must be 2 or 3, not {tiers}"
        )
    most = radix**tiers // (4 if tiers == 3 else 2)
    hosts = host_count("radix", most) if hosts is None else host_count("hosts", hosts)
    if hosts > most:
        raise ValueError(
            f"hosts must be at most {most:,} in {tiers} tiers of {radix}-port switches, not"
            f" {hosts:,}"
        )
    name = f"fat-tree k={radix}, {tiers} tiers"
    return wire(name, hosts, (radix,) * 3, (1.0, 1.0), tiers, 1, bandwidth, uplink=uplink)


def per_tier(name: str, value: float | Sequence[float], least: int) -> tuple[float, ...]:
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    if not 1 <= len(values) <= 3 - (name == "oversubscription"):
        raise ValueError(f"{name} must be one number or one per tier, not {value!r}")
    if name == "radix":
        values = [port_count(v, least) for v in values]
        return tuple(values + values[-1:] * (3 - len(values)))
    values = [
        scalar(name, number(name, v, least=1.0, expected="1 or more (downlinks over uplinks)"))
        for v in values
    ]
    return tuple(values + [1.0] * (2 - len(values)))


def split(radix: int, ratio: float) -> tuple[int, ...]:
    """(down, up) of a switch whose downlinks outnumber its uplinks at most `ratio` to one."""
    up = math.floor(radix / (1 + ratio) + 1e-9)
    if up < 1:
        raise ValueError(
            f"oversubscription must leave a {radix}-port switch at least one uplink, not {ratio:g}"
        )
    return math.floor(up * ratio + 1e-9), up


def _divisors(n):
    return [d for d in range(1, n + 1) if n % d == 0]


def _leaves(hosts, per_node, radices, ratios):
    down, _ = split(radices[0], ratios[0])
    if hosts % per_node or per_node > down:
        raise ValueError(
            f"per_node must divide {hosts} and be at most a leaf's {down} downlinks, not {per_node}"
        )
    return -(-(hosts // per_node) // (down // per_node))


def wire(
    name: str,
    hosts: int,
    radices: Sequence[int],
    ratios: Sequence[float],
    tiers: int,
    per_node: int,
    bandwidth: float,
    home: np.ndarray | None = None,
    leaves: int | None = None,
    group: int = 1,
    uplink: float | None = None,
) -> Topology:
    """The tree itself.

    `home`: leaf of each host, evenly filled if not given; leaves come in groups that share a pod.
    """
    bandwidth = rate(bandwidth)
    uplink = bandwidth if uplink is None else scalar("uplink", positive("uplink", uplink))
    host = np.arange(hosts)
    many = f"end_points cannot be wired: {hosts:,} of them need"
    if home is not None:
        many = f"nodes cannot be wired: their {hosts:,} ports need"
    node = None if per_node == 1 else host // per_node
    if tiers == 1:
        bundles = {"host-leaf": (host, hosts, 1, bandwidth)}
        closed = {"bisection": hosts // 2 * bandwidth} if per_node == 1 else {}
        return assemble(
            name,
            hosts,
            ("leaf",),
            (1,),
            radices[:1],
            bundles,
            np.zeros((hosts, 1), int),
            node=node,
            closed=closed,
        )
    down, up = split(radices[0], ratios[0])
    if home is None:
        leaves = _leaves(hosts, per_node, radices, ratios)
        home = host // per_node * leaves // (hosts // per_node)
    leaf = np.arange(leaves)
    if tiers == 2:
        spines = next((s for s in _divisors(up) if leaves * up // s <= radices[1]), None)
        if spines is None:
            raise ValueError(
                f"{name} cannot be wired: {leaves:,} leaves need spines of {leaves:,} ports, and"
                f" they have {radices[1]}: add a third tier"
            )
        pod, pods, per_spine, cores = np.zeros(leaves, int), 1, 0, 0
    else:
        pod, pods, spines, per_spine, cores, fan = _upper(leaves, group, up, radices, ratios)
        if not pods:
            most = f"more than three tiers of {radices[0]}-port switches can join"
            raise ValueError(f"{many} {leaves:,} leaves, {most}")
    plane, at = np.tile(np.arange(spines), leaves), np.repeat(leaf, spines)
    counts = (leaves, pods * spines, cores)[:tiers]
    bundles = {
        "host-leaf": (host, hosts + home, 1, bandwidth),
        "leaf-spine": (hosts + at, hosts + leaves + pod[at] * spines + plane, up // spines, uplink),
    }
    if tiers == 3:
        wide = max(
            1, cores // spines
        )  # cores of one plane; several planes share a core where that is below one
        spine = np.repeat(np.arange(pods * spines), wide)
        core = spine % spines * cores // spines + np.tile(np.arange(wide), pods * spines)
        bundles["spine-core"] = (
            hosts + leaves + spine,
            hosts + leaves + pods * spines + core,
            fan,
            uplink,
        )
    place = np.column_stack([pod[home], home])
    closed = _closed(
        hosts,
        bandwidth,
        per_node,
        np.bincount(home, minlength=leaves),
        np.bincount(pod),
        up,
        spines,
        per_spine,
        tiers,
        group,
        uplink / bandwidth,
    )
    return assemble(
        name,
        hosts,
        TIERS[:tiers],
        counts,
        radices[:tiers],
        bundles,
        place,
        node=node,
        optical=("leaf-spine", "spine-core"),
        closed=closed,
    )


def _upper(leaves, group, up, radices, ratios):
    """Pods, and spines and cores over them: (pod of each leaf, pods, spines a pod, uplinks a spine,
    cores, cables a bundle).
    """
    down2, up2 = split(radices[1], ratios[1])
    groups, most = leaves // group, down2 // group
    pods = -(-groups // most) if most else 0
    if not 1 <= pods <= radices[2]:
        return None, 0, 0, 0, 0, 0
    pod = np.repeat(np.arange(groups) * pods // groups, group)
    largest = int(np.bincount(pod).max())
    spines = next(s for s in _divisors(up) if largest * up // s <= down2)
    needed = math.ceil(largest * up // spines / ratios[1] - 1e-9)
    found = []
    for links in range(min(needed, up2), up2 + 1):
        for wide in _divisors(links):
            if pods * links // wide <= radices[2]:
                shared = (
                    max(m for m in _divisors(spines) if m * pods * links <= radices[2])
                    if wide == 1
                    else 1
                )
                found.append((spines * wide // shared, links, links // wide))
                break
    if not found:
        return None, 0, 0, 0, 0, 0
    cores, links, fan = min(found)
    return pod, pods, spines, links, cores, fan


def _closed(
    hosts, bandwidth, per_node, on_leaf, in_pod, up, spines, per_spine, tiers, group, faster
):
    """The formulas that hold for this tree: those of a regular one, and the bisection of any that
    blocks nowhere.
    """
    closed = {}
    full = on_leaf.min() == on_leaf.max() and in_pod.min() == in_pod.max()
    leaf_ratio = on_leaf.max() / (up * faster)
    spine_ratio = in_pod.max() * (up // spines) / per_spine if tiers == 3 else 1.0
    nodes = hosts // per_node
    # a group of leaves (one a rail) shares its nodes: the middle passes between leaves only where
    # the groups are even
    even = (
        nodes % 2 == 0 and on_leaf.size // group % 2 == 0 and (tiers == 2 or in_pod.size % 2 == 0)
    )
    if leaf_ratio <= 1 and spine_ratio <= 1:
        closed["bisection"] = nodes // 2 * per_node * bandwidth
    elif full and even and leaf_ratio >= 1 and spine_ratio >= 1:
        closed["bisection"] = float(hosts / 2 * bandwidth / (leaf_ratio * spine_ratio))
    if full and hosts > 1:
        d, p, n = int(on_leaf[0]), int(in_pod[0]), hosts
        near = {2: d - 1, 4: d * (p - 1), 6: n - d * p}
        closed["links_worst"] = max(links for links, some in near.items() if some)
        closed["links_mean"] = sum(links * some for links, some in near.items()) / (n - 1)
    return closed
