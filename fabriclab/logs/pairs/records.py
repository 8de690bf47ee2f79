"""What an all-pairs measurement is: hosts, ordered pairs with a bandwidth, the parts that lie on a
pair's path.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fabriclab.checks import count, nonnegative, number, scalar
from fabriclab.logs.infiniband import Fabric
from fabriclab.topology import Topology

MOST_HOSTS = 2048  # 4.2 million cells, 32 MiB as a matrix
KINDS, WAYS = ("host", "leaf", "bundle", "spine"), ("both", "out", "in")


@dataclass(frozen=True, eq=False)
class Pairs:
    """Bandwidths of ordered pairs: `source` sends to `target` (indices into `hosts`) at `bandwidth`
    bytes per second.

    Where the operator pinned each pair's path, `via` is the spine, an index into `spines`, and a
    pair may stand once a spine;
    -1 where both hosts are on one leaf. Raises ValueError for a host with itself, a pair given
    twice, what is no bandwidth, and more than `MOST_HOSTS` hosts.

    >>> Pairs(("a", "b"), [0, 1], [1, 0], [48e9, 24e9]).matrix.tolist()
    [[nan, 48000000000.0], [24000000000.0, nan]]
    """

    hosts: tuple[str, ...]
    source: np.ndarray
    target: np.ndarray
    bandwidth: np.ndarray
    spines: tuple[str, ...] = ()
    via: np.ndarray | None = None

    def __post_init__(self):
        hosts = tuple(self.hosts)
        if not 2 <= len(hosts) <= MOST_HOSTS or len(set(hosts)) < len(hosts):
            raise ValueError(
                f"hosts must be 2 to {MOST_HOSTS:,} different names, not {len(hosts):,} of them,"
                f" {len(set(hosts)):,} different"
            )
        source, target = (
            _indices(name, getattr(self, name), len(hosts)) for name in ("source", "target")
        )
        bandwidth = np.atleast_1d(nonnegative("bandwidth", self.bandwidth))
        via = (
            np.full(source.size, -1)
            if self.via is None
            else _indices("via", self.via, len(self.spines), -1)
        )
        if not source.size or not source.shape == target.shape == bandwidth.shape == via.shape:
            raise ValueError(
                "source, target and bandwidth must be lists of one length, one or more, not"
                f" {source.size}, {target.size}, {bandwidth.size}"
            )
        if (source == target).any():
            raise ValueError(
                f"source and target must differ: {hosts[source[source == target][0]]} is both"
            )
        key = (source * len(hosts) + target) * (len(self.spines) + 1) + via + 1
        if np.unique(key).size < key.size:
            raise ValueError("source and target must name each pair once, or once a spine")
        arrays = {
            "source": source,
            "target": target,
            "bandwidth": bandwidth,
            "via": None if self.via is None else via,
        }
        for name, array in {"hosts": hosts, "spines": tuple(self.spines), **arrays}.items():
            if isinstance(array, np.ndarray):
                array = array.copy()
                array.flags.writeable = False
            object.__setattr__(self, name, array)

    def __len__(self):
        return self.source.size

    def __repr__(self):
        size, many = len(self.hosts), np.unique(self.source * len(self.hosts) + self.target).size
        return f"{many:,} of {size * (size - 1):,} ordered pairs of {size:,} hosts" + (
            f", {len(self):,} measurements of pinned paths" if self.via is not None else ""
        )

    @property
    def matrix(self):
        """Bytes per second, row sends to column, NaN where not measured; the least where a pair was
        measured over several spines.
        """
        cells = np.full((len(self.hosts),) * 2, np.inf)
        np.minimum.at(cells, (self.source, self.target), self.bandwidth)
        return np.where(np.isinf(cells), np.nan, cells)


def _indices(name, value, below, least=0):
    found = np.atleast_1d(
        number(
            name, value, least, below - 1, f"whole numbers from {least} to {below - 1}", whole=True
        )
    )
    return found.astype(np.int64)


def of_matrix(matrix: np.ndarray, hosts: Sequence[str] | None = None) -> Pairs:
    """`Pairs` of a square `matrix` of bytes per second, row sends to column; NaN is not measured,
    the diagonal is left.

    `hosts` are names, host-1 and so on if not given. Raises ValueError for another shape, or
    nothing measured.

    >>> of_matrix([[0, 48e9], [float("nan"), 0]])
    1 of 2 ordered pairs of 2 hosts
    """
    try:
        cells = np.array(matrix, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"matrix must be numbers, bytes per second, not {matrix!r:.60}") from None
    if cells.ndim != 2 or cells.shape[0] != cells.shape[1]:
        raise ValueError(
            f"matrix must be square, one row and one column per host, not {cells.shape}"
        )
    np.fill_diagonal(cells, np.nan)
    source, target = np.nonzero(~np.isnan(cells))
    return Pairs(
        numbered("host", len(cells)) if hosts is None else hosts,
        source,
        target,
        cells[source, target],
    )


def numbered(word: str, many: int) -> tuple[str, ...]:
    """Names that sort as they count: host-01 … host-32."""
    return tuple(f"{word}-{at + 1:0{len(str(many))}d}" for at in range(many))


@dataclass(frozen=True)
class Part:
    """What may be slow. `kind` "host" (its NIC, its PCIe slot or its cable to the leaf: no pair
    tells them apart), "leaf" (all that touches it), "bundle" (the cables of leaf `name` to `spine`)
    or "spine"; `way` "out" (host sends, leaf to spine), "in" or "both".

    >>> print(Part("host", "host-05", way="out"), "|", Part("bundle", "leaf-2", "spine-1"), "|",
    ...     Part("spine", "spine-1"))
    host-05 sending | bundle leaf-2 to spine-1 | spine-1
    """

    kind: str
    name: str
    spine: str | None = None
    way: str = "both"

    def __post_init__(self):
        if self.kind not in KINDS or self.way not in WAYS:
            raise ValueError(
                f"a part must be of kind {', '.join(KINDS)} and way {', '.join(WAYS)}, not"
                f" {self.kind!r} and {self.way!r}"
            )
        if (self.spine is None) == (self.kind == "bundle") or (
            self.way != "both" and self.kind in ("leaf", "spine")
        ):
            raise ValueError(
                "a part must be a host or a bundle (leaf and spine), out, in or both ways, or a"
                f" leaf or spine both ways, not {self.kind} with spine {self.spine!r}, {self.way}"
            )

    @property
    def place(self):
        """Where it is, whichever way it is slow."""
        return self.kind, self.name, self.spine

    def __str__(self):
        if self.kind == "bundle":
            return (
                f"bundle {self.name} to"
                f" {self.spine}{ {'both': '', 'out': ', upwards', 'in': ', downwards'}[self.way] }"
            )
        return self.name + {"both": "", "out": " sending", "in": " receiving"}[self.way]


@dataclass(frozen=True, eq=False)
class Wiring:
    """Which leaf each host is on, and which spines a leaf reaches: `leaf` of each of `hosts` as an
    index into `leaves`, `plane` of each leaf, `spines` of each plane. Leaves of different planes
    (rails that are not joined) have no path to each other.
    """

    hosts: tuple[str, ...]
    leaves: tuple[str, ...]
    leaf: np.ndarray
    plane: np.ndarray
    spines: tuple[tuple[str, ...], ...]


def wiring(where: Topology | dict[str, str], spines: int | tuple[str, ...] | None = None) -> Wiring:
    """The `Wiring` of `where`: a `topology.Topology` of one or two tiers, a fabric that
    ibnetdiscover or iblinkinfo listed, or {host: leaf}.

    A Topology's vertices are called host-001, leaf-01, spine-1. `spines` goes with {host: leaf}:
    names, or how many every leaf reaches; none named, only hosts and leaves can be. Raises
    ValueError for other things, and for uneven wiring.

    >>> wiring({"a": "leaf-1", "b": "leaf-1", "c": "leaf-2"}, spines=2).spines
    (('spine-1', 'spine-2'),)
    """
    if isinstance(where, Wiring):
        return where
    if isinstance(where, Mapping):
        leaves = tuple(sorted({str(leaf) for leaf in where.values()}))
        named = (
            ()
            if spines is None
            else (
                numbered("spine", int(scalar("spines", count("spines", spines))))
                if not isinstance(spines, (tuple, list))
                else tuple(map(str, spines))
            )
        )
        return Wiring(
            tuple(map(str, where)),
            leaves,
            np.array([leaves.index(str(leaf)) for leaf in where.values()], int),
            np.zeros(len(leaves), int),
            (named,),
        )
    if isinstance(where, Fabric):
        network = where.topology()
        return _of_network(network, *_names_in(where, network))
    if isinstance(where, Topology):
        return _of_network(
            where,
            numbered("host", where.hosts),
            {tier: numbered(tier, many) for tier, many in where.switches.items()},
        )
    raise ValueError(
        f"where must be a Topology, a fabric that was read, or {{host: leaf}}, not {where!r:.60}"
    )


def _names_in(fabric, network):
    """The hosts' and switches' own names, in the order of `Fabric.topology`: as listed, tier by
    tier.
    """
    tier = fabric.tiers()
    hosts = [vertex for vertex, at in zip(fabric.vertices, tier) if at == 0]
    machines = [vertex.machine for vertex in hosts]
    alone = len(set(machines)) == len(machines)
    names = {
        word: tuple(vertex.name for vertex, at in zip(fabric.vertices, tier) if at == level)
        for level, word in enumerate(network.tiers, 1)
    }
    return tuple(machines if alone else (vertex.name.replace(" ", "/") for vertex in hosts)), names


def _of_network(network, hosts, names):
    if network.direct or len(network.tiers) > 2:
        raise ValueError(
            f"where must have one tier of switches or two, leaves and spines, and {network.name}"
            f" has {len(network.tiers)}"
        )
    leaves, spines = (
        names[network.tiers[0]],
        names[network.tiers[1]] if len(network.tiers) > 1 else (),
    )
    low = network.a < network.hosts
    leaf = np.full(network.hosts, -1)
    leaf[network.a[low]] = network.b[low] - network.hosts
    if (leaf < 0).any() or low.sum() > network.hosts:
        raise ValueError(f"where must have every host on one leaf, and {network.name} has not")
    reach = np.zeros((len(leaves), len(spines)), bool)
    reach[network.a[~low] - network.hosts, network.b[~low] - network.hosts - len(leaves)] = True
    planes, plane = np.unique(reach, axis=0, return_inverse=True)
    if (planes.sum(0) > 1).any():
        raise ValueError(
            "where must have leaves that share all their spines or none, and some in"
            f" {network.name} share some"
        )
    return Wiring(
        hosts,
        leaves,
        leaf,
        plane.ravel(),
        tuple(tuple(name for name, there in zip(spines, row) if there) for row in planes),
    )
