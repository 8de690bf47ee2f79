"""Networks without a tree: the dragonfly, whose groups are joined pairwise, and the torus, whose
hosts forward themselves.
"""

import numpy as np

from fabriclab.topology.graph import Topology, assemble, bundle_count, host_count, rate, whole
from fabriclab.units import GB


def dragonfly(p: int, a: int, h: int, bandwidth: float = 50 * GB) -> Topology:
    """Dragonfly of ``g = a h + 1`` groups: `a` routers a group, all joined; `p` hosts and `h`
    global cables a router.

    ``a p g`` hosts, ``g a (a-1)/2`` local and ``g a h/2`` global cables, one between any two
    groups; at most a local, a global and a local cable between two routers. Balanced when a = 2p =
    2h. Router r's global port q of group i leads to group i + r h + q + 1 (mod g), so all groups
    see the same picture. Bisection, in cables: ``(g/2)^2`` for even g, and ``((g-1)/2)^2 +
    (a/2)^2`` for odd g, one group being split; never more than N/2. That is about half of a
    balanced dragonfly's injection, and less where h is below p. Books that write (a, p, h) mean the
    same letters: name them. `dragonfly(8, 4, 4)` is refused, as a = 8 is what was meant.

    Source: Kim, Dally, Scott and Abts 2008.

    Other words: groups, global links, low diameter.

    >>> dragonfly(2, 4, 2)
    dragonfly p=2 a=4 h=2: 72 hosts, 36 router, 162 cables
    >>> dragonfly(2, 4, 2).cables
    {'host-router': 72, 'local': 54, 'global': 36}
    """
    p, a, h = (whole(name, value) for name, value in (("p", p), ("a", a), ("h", h)))
    if p == 2 * a == 2 * h:
        raise ValueError(
            f"p must be the hosts of a router, and a the routers of a group, not {p} and {a}: in"
            f" another order that is the balanced dragonfly(p={a}, a={p}, h={h})"
        )
    bandwidth = rate(bandwidth)
    groups = a * h + 1
    hosts, routers = host_count("p, a and h", groups * a * p), groups * a
    bundle_count("p, a and h", hosts + routers * (a - 1) // 2 + routers * h // 2)
    host = np.arange(hosts)
    one, other = np.triu_indices(a, 1)
    base = np.arange(groups)[:, None] * a
    group, offset = np.divmod(np.arange(groups * a * h), a * h)
    target = (group + offset + 1) % groups
    back = a * h - 1 - offset  # the other group counts the same cable from its own side
    once = group < target
    bundles = {
        "host-router": (host, hosts + host // p, 1, bandwidth),
        "local": (hosts + (base + one).ravel(), hosts + (base + other).ravel(), 1, bandwidth),
        "global": (
            hosts + (group * a + offset // h)[once],
            hosts + (target * a + back // h)[once],
            1,
            bandwidth,
        ),
    }
    closed = {"router": routers, "local": groups * a * (a - 1) // 2, "global": groups * a * h // 2}
    if groups % 2 == 0:
        closed["bisection"] = min(hosts // 2, (groups // 2) ** 2) * bandwidth
    elif a % 2 == 0 and 4 <= a <= 2 * (h + p):
        closed["bisection"] = min(hosts // 2, (groups // 2) ** 2 + (a // 2) ** 2) * bandwidth
    return assemble(
        f"dragonfly p={p} a={a} h={h}",
        hosts,
        ("router",),
        (routers,),
        (p + a - 1 + h,),
        bundles,
        np.column_stack([host // (a * p), -(host // p)]),
        representatives=np.arange(a * p),
        optical=("global",),
        closed=closed,
    )


def torus(sides: tuple[int, ...], bandwidth: float = 50 * GB) -> Topology:
    """A torus of the given sides, one host per place, a cable to each neighbour; a side of 2 has
    one cable, of 1 none.

    Diameter ``sum floor(k/2)``; with an even longest side above 2 a bisection of ``2 N/k_max``
    cables; mean path ``N/(N-1) sum m(k)``, m = k/4 for even and (k^2-1)/(4k) for odd sides.
    `bandwidth` is per cable: a host that feeds six cables from one 50 GB/s port gives each a sixth.
    Hosts forward, so "switches on the path" are hosts here. Neighbours are wired in copper.

    Source: Dally and Towles 2004, chapter 5.

    Other words: TPU, 3D torus, mesh, wrap-around, nearest neighbour.

    >>> torus((16, 16, 16)).cables, torus((16, 16, 16)).closed["bisection"] / (50 * GB)
    ({'x': 4096, 'y': 4096, 'z': 4096}, 512.0)
    """
    if not isinstance(sides, (tuple, list)) or not sides or len(sides) > 8:
        raise ValueError(
            f"sides must be one to eight whole numbers, such as (8, 8, 16), not {sides!r}"
        )
    sides = tuple(whole("sides", k) for k in sides)
    bandwidth = rate(bandwidth)
    hosts = host_count("sides", float(np.prod(sides, dtype=float)))
    bundle_count("sides", hosts * sum(k > 1 for k in sides))
    host = np.arange(hosts)
    place = np.array(np.unravel_index(host, sides))
    bundles = {}
    for axis, k in enumerate(sides):
        step = place.copy()
        step[axis] = (step[axis] + 1) % k
        ends = host, np.ravel_multi_index(tuple(step), sides)
        starts = place[axis] < (k if k > 2 else k - 1)
        bundles["xyzwvuts"[axis]] = (ends[0][starts], ends[1][starts], 1, bandwidth)
    longest = max(sides)
    mean = sum(k / 4 if k % 2 == 0 else (k * k - 1) / (4 * k) for k in sides)
    closed = {"links_worst": sum(k // 2 for k in sides)}
    if hosts > 1:
        closed["links_mean"] = mean * hosts / (hosts - 1)
    if longest % 2 == 0:
        closed["bisection"] = (2 if longest > 2 else 1) * hosts / longest * bandwidth
    return assemble(
        f"torus {'x'.join(map(str, sides))}",
        hosts,
        (),
        (),
        (),
        bundles,
        place.T,
        direct=True,
        representatives=np.array([0]),
        closed=closed,
    )
