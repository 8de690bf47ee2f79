"""A network as its wiring: hosts, switches tier by tier, and a list of cable bundles.

Vertices are numbered hosts first (0 … hosts-1), then the switches of the lowest tier, and so on up.
A host is one network port (an end point); where several belong to one machine, `node` says which. A
bundle is all the cables between one pair.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.sparse import csr_array

from fabriclab.checks import Values, count, each, number, positive, scalar

MOST_HOSTS = 600_000  # a full fat-tree of 128-port switches has 524,288
MOST_BUNDLES = 2_000_000  # and 1.6 million bundles


def whole(name: str, value: float, least: int = 1) -> int:
    """One whole number as an int; a network has one shape, so no arrays."""
    return int(scalar(name, count(name, value, least)))


def bundle_count(names: str, bundles: int) -> None:
    """Refuses `names`, the arguments that make so many bundles of cables, beyond `MOST_BUNDLES`."""
    if bundles > MOST_BUNDLES:
        raise ValueError(
            f"{names} must make at most {MOST_BUNDLES:,} bundles of cables, not {bundles:,}"
        )


def rate(bandwidth: Values) -> float:
    """The one bandwidth of all cables, bytes per second."""
    return scalar("bandwidth", positive("bandwidth", bandwidth))


def port_count(ports: int, least: int = 2) -> int:
    """`ports` of one switch as an int; beyond `MOST_HOSTS` it is a slip."""
    ports = whole("radix", ports, least)
    if ports > MOST_HOSTS:
        raise ValueError(f"radix must be at most {MOST_HOSTS:,} ports, not {ports:,}")
    return ports


def wired(name: str, network: "Topology") -> "Topology":
    """`network`, or a ValueError where something else than a `Topology` was given."""
    if not isinstance(network, Topology):
        raise ValueError(
            f"{name} must be a topology.Topology, such as fat_tree(8), not {network!r:.60}"
        )
    return network


def host_count(name: str, hosts: float) -> int:
    """`hosts` as an int, one or more, or a ValueError: beyond `MOST_HOSTS` it is a slip, and would
    fill the memory.
    """
    hosts = whole(name, hosts)
    if hosts > MOST_HOSTS:
        raise ValueError(f"{name} must make at most {MOST_HOSTS:,} hosts, not {hosts:,}")
    return hosts


@dataclass(frozen=True, eq=False, repr=False)
class Topology:
    """A wired network.

    `a`, `b`: the two ends of each bundle, a < b; `multiplicity`: cables in it; `capacity`: bytes
    per second of one cable in one direction; `layer`: index into `layers` ("host-leaf",
    "leaf-spine", …). `counts` and `radix` go with `tiers`.
    `position` (hosts x levels) says where a host sits, outermost first: (pod, leaf), (group,
    router) or coordinates.
    `direct`: no switches, the hosts forward (a torus). `representatives`: hosts whose view every
    other host shares, while nothing is broken. `optical`: the layers too long for copper.
    `management`: further cables to spare leaf ports, which carry no host's traffic. `closed`: what
    closed forms say of this network, to be held against the wiring.
    Raises ValueError when a switch would need more ports than it has.
    """

    name: str
    hosts: int
    tiers: tuple
    counts: tuple
    radix: tuple
    a: np.ndarray
    b: np.ndarray
    multiplicity: np.ndarray
    capacity: np.ndarray
    layer: np.ndarray
    layers: tuple
    position: np.ndarray
    node: np.ndarray | None = None
    direct: bool = False
    representatives: np.ndarray | None = None
    optical: tuple = ()
    management: int = 0
    closed: dict = field(default_factory=dict)

    def __post_init__(self):
        for name in (
            "a",
            "b",
            "multiplicity",
            "capacity",
            "layer",
            "position",
            "node",
            "representatives",
        ):
            array = getattr(self, name)
            if array is not None:
                array = np.asarray(array)
                array.flags.writeable = False
                object.__setattr__(self, name, array)
        used = self.ports_used
        for tier, ports in zip(self.tiers, self.radix, strict=True):
            if used[tier] > ports:
                raise ValueError(
                    f"{self.name} cannot be wired: a {tier} switch would need {used[tier]} ports"
                    f" and has {ports} (radix)"
                )

    def __repr__(self):
        parts = [f"{self.hosts:,} hosts"] + [f"{n:,} {tier}" for tier, n in self.switches.items()]
        return f"{self.name}: {', '.join(parts)}, {sum(self.cables.values()):,} cables"

    @property
    def vertices(self):
        """Hosts and switches together."""
        return self.hosts + sum(self.counts)

    @property
    def switches(self):
        """Switches per tier, {"leaf": 32, "spine": 16}."""
        return dict(zip(self.tiers, self.counts, strict=True))

    @property
    def cables(self):
        """Cables per layer, {"host-leaf": 1024, "leaf-spine": 1024}."""
        totals = np.bincount(self.layer, weights=self.multiplicity, minlength=len(self.layers))
        return {name: int(total) for name, total in zip(self.layers, totals, strict=True)}

    def ports(self):
        """Ports in use on every vertex, an integer array."""
        ends = np.bincount(self.a, self.multiplicity, self.vertices) + np.bincount(
            self.b, self.multiplicity, self.vertices
        )
        return ends.astype(int)

    @property
    def ports_used(self):
        """The most ports in use on any one switch of each tier."""
        ports = self.ports()
        return {
            tier: int(ports[self.first(tier) : self.first(tier) + n].max(initial=0))
            for tier, n in self.switches.items()
        }

    def first(self, tier):
        """Vertex number of the first switch of `tier`; the others follow. Raises ValueError for a
        tier it has not.
        """
        if tier not in self.tiers:
            raise ValueError(
                "tier must be one of"
                f" {', '.join(self.tiers) or 'none: this network has no switches'}, not {tier!r}"
            )
        at = self.tiers.index(tier)
        return self.hosts + sum(self.counts[:at])

    def graph(self):
        """The wiring as a symmetric sparse matrix: bytes per second from row to column, all cables
        of the bundle together.
        """
        each = self.multiplicity * self.capacity
        ends = np.concatenate([self.a, self.b]), np.concatenate([self.b, self.a])
        return csr_array((np.concatenate([each, each]), ends), shape=(self.vertices, self.vertices))

    def injection(self):
        """Bytes per second each host can send, all its cables together: an array over hosts."""
        each = self.multiplicity * self.capacity
        total = np.bincount(self.a, each, self.vertices) + np.bincount(self.b, each, self.vertices)
        return total[: self.hosts]


def assemble(
    name: str,
    hosts: int,
    tiers: list[str] | tuple[str, ...],
    counts: list[int] | tuple[int, ...],
    radix: list[int] | tuple[int, ...],
    bundles: dict[str, tuple],
    position: Values,
    **hints,
) -> Topology:
    """A `Topology` from bundles given layer by layer: ``{"host-leaf": (a, b, multiplicity,
    capacity), …}``; all broadcast.

    >>> two = assemble("two hosts, one switch", 2, ("switch",), (1,), (2,),
    ...     {"host-switch": ([0, 1], 2, 1, 50e9)}, [[0], [0]])
    >>> two.cables, two.ports_used
    ({'host-switch': 2}, {'switch': 2})
    """
    hosts, counts = (
        whole("hosts", hosts),
        tuple(whole("counts", n, 0) for n in each("counts", counts)),
    )
    radix = tuple(whole("radix", n) for n in each("radix", radix))
    tiers = tuple(each("tiers", tiers))
    host_count("hosts and counts", hosts + sum(counts))
    if not all(isinstance(tier, str) for tier in tiers):
        raise ValueError(f"tiers must be names, such as ('leaf', 'spine'), not {tiers!r:.60}")
    if not len(tiers) == len(counts) == len(radix):
        raise ValueError(
            f"tiers, counts and radix must be of one length, not {len(tiers)}, {len(counts)} and"
            f" {len(radix)}"
        )
    if not isinstance(bundles, dict) or not bundles:
        raise ValueError(
            'bundles must be a dict such as {"host-leaf": (a, b, multiplicity, capacity)}, not'
            f" {bundles!r:.60}"
        )
    place = number("position", position)
    if np.ndim(place) != 2 or len(place) != hosts:
        raise ValueError(
            f"position must have a row for each of {hosts} hosts, not shape {np.shape(place)}"
        )
    columns = [[], [], [], [], []]
    for index, bundle in enumerate(bundles.values()):
        a, b, multiplicity, capacity = _ends(bundle)
        parts = np.minimum(a, b), np.maximum(a, b), multiplicity, capacity, np.full(a.shape, index)
        for column, part in zip(columns, parts, strict=True):
            column.append(part)
    kinds = (np.int64, np.int64, np.int64, float, np.int64)
    a, b, multiplicity, capacity, layer = (
        np.concatenate([np.asarray(p, k) for p in c]) for c, k in zip(columns, kinds, strict=True)
    )
    vertices = hosts + sum(counts)
    if a.size and (a.min() < 0 or b.max() >= vertices or (a == b).any() or multiplicity.min() < 1):
        raise ValueError(
            f"{name} cannot be wired: a cable needs two different ends among {vertices} vertices"
        )
    return Topology(
        name,
        hosts,
        tuple(tiers),
        tuple(counts),
        tuple(radix),
        a,
        b,
        multiplicity,
        capacity,
        layer,
        tuple(bundles),
        np.asarray(position),
        **hints,
    )


def _ends(bundle):
    try:
        a, b, multiplicity, capacity = bundle
        ends = (number("bundles", end, least=0, whole=True) for end in (a, b))
        cables = number("bundles", multiplicity, least=1, whole=True), positive("bundles", capacity)
        return np.broadcast_arrays(*np.atleast_1d(*ends, *cables))
    except (TypeError, ValueError) as error:
        raise ValueError(
            "bundles must hold (a, b, multiplicity, capacity), numbers or arrays that broadcast:"
            f" {error}"
        ) from None


def without_vertex(topology: Topology, vertex: int) -> Topology:
    """The network after one switch (or host) died: its cables are gone, the numbering stays.

    >>> from fabriclab.topology import fat_tree
    >>> tree = fat_tree(4)
    >>> sum(without_vertex(tree, tree.first("leaf")).cables.values()), sum(tree.cables.values())
    (44, 48)
    """
    topology, vertex = wired("topology", topology), whole("vertex", vertex, least=0)
    if vertex >= topology.vertices:
        raise ValueError(f"vertex must be below {topology.vertices}, not {vertex}")
    return _keep(topology, (topology.a != vertex) & (topology.b != vertex), topology.multiplicity)


def without_cable(topology: Topology, bundle: int) -> Topology:
    """The network after one cable of bundle number `bundle` was pulled.

    >>> from fabriclab.topology import fat_tree
    >>> without_cable(fat_tree(4), 0).cables
    {'host-leaf': 15, 'leaf-spine': 16, 'spine-core': 16}
    """
    topology, bundle = wired("topology", topology), whole("bundle", bundle, least=0)
    if bundle >= topology.a.size:
        raise ValueError(f"bundle must be below {topology.a.size}, not {bundle}")
    left = topology.multiplicity.copy()
    left[bundle] -= 1
    return _keep(topology, left > 0, left)


def _keep(topology, kept, multiplicity):
    columns = {name: getattr(topology, name)[kept] for name in ("a", "b", "capacity", "layer")}
    return replace(
        topology, multiplicity=multiplicity[kept], representatives=None, closed={}, **columns
    )
