"""From a `Topology` to the simulator's ports, and to who may send what where."""

from dataclasses import dataclass

import numpy as np

from fabriclab.catalog import VIRTUAL_LANES
from fabriclab.checks import LARGEST, Values, count, each, number, scalar

PICOSECONDS = 1e12


@dataclass(frozen=True, eq=False)
class Flows:
    """Messages to send: `source` and `target` host numbers, `size` in bytes, `start` in seconds;
    they broadcast, and so does `lane`: the number, from 0, of the virtual lane or traffic class
    that a flow's packets keep on all the way (see `Lanes`).

    `routes`: None for shortest paths, or one list of vertices per flow, from source to target (None
    among them: shortest).

    >>> len(Flows(source=[1, 2, 3], target=0, size=2e6))
    3
    """

    source: np.ndarray
    target: np.ndarray
    size: np.ndarray
    start: np.ndarray = 0.0
    routes: tuple | None = None
    lane: np.ndarray = 0

    def __post_init__(self):
        whole = {"least": 0, "most": 2**31, "expected": "host numbers", "whole": True}
        columns = {
            "source": number("source", self.source, **whole),
            "target": number("target", self.target, **whole),
        }
        columns["size"] = number(
            "size",
            self.size,
            least=1,
            most=1e15,
            expected="a whole number of bytes, 1 or more",
            whole=True,
        )
        columns["start"] = number(
            "start", self.start, least=0.0, most=1e5, expected="from 0 to 100,000 seconds"
        )
        columns["lane"] = number(
            "lane",
            self.lane,
            least=0,
            most=VIRTUAL_LANES - 1,
            expected=f"lane numbers, 0 to {VIRTUAL_LANES - 1}",
            whole=True,
        )
        try:
            arrays = np.broadcast_arrays(*(np.atleast_1d(column) for column in columns.values()))
        except ValueError:
            shapes = [np.shape(column) for column in columns.values()]
            raise ValueError(
                "source, target, size, start and lane must be of one length, not of shapes"
                f" {shapes}"
            ) from None
        if arrays[0].ndim != 1 or not arrays[0].size:
            raise ValueError(
                f"source must be a list of one host or more, not of shape {arrays[0].shape}"
            )
        for name, array in zip(columns, arrays):
            array = array.astype(float if name == "start" else np.int64)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if (self.source == self.target).any():
            raise ValueError(
                "target must be another host than source, not"
                f" {self.target[self.source == self.target][0]} as well"
            )
        if self.routes is not None:
            routes = tuple(
                (
                    None
                    if route is None
                    else tuple(
                        int(scalar("routes", count("routes", v, least=0)))
                        for v in each("routes", route)
                    )
                )
                for route in each("routes", self.routes)
            )
            if len(routes) != len(self):
                raise ValueError(
                    f"routes must be one per flow, {len(self)} of them, not {len(routes)}"
                )
            object.__setattr__(self, "routes", routes)

    def __len__(self):
        return self.source.size


@dataclass(frozen=True)
class Lanes:
    """Virtual lanes (InfiniBand), traffic classes (Ethernet): how every port, hosts' too, divides
    its wire among flows' lanes.

    `weights`: one per lane. Lanes with packets waiting share the wire's bytes in proportion; what
    one leaves, the others use.
    Of two that are busy all the time, ``|bytes_i / w_i - bytes_j / w_j| <= packet / w_i + packet /
    w_j`` (start-time fair
    queueing; real ports take turns by deficits or credits, whose shares are the same and whose
    bound is wider). `strict`:
    lanes served before all others, the first named first of all; their weights do not count. A
    packet under way is never interrupted. Raises ValueError for weights not above zero, more than
    16 lanes, and strict lanes that are none.
    Sources: IEEE 802.1Qaz, enhanced transmission selection; InfiniBand Architecture Specification,
    VL arbitration; Goyal, Vin, Cheng 1996.

    >>> Lanes((3, 1))
    Lanes(weights=(3.0, 1.0), strict=())
    """

    weights: tuple = (1.0,)
    strict: tuple = ()

    def __post_init__(self):
        weights = tuple(
            scalar(
                "weights", number("weights", w, least=1e-6, most=1e6, expected="from 1e-6 to 1e6")
            )
            for w in each("weights", self.weights)
        )
        if not 1 <= len(weights) <= VIRTUAL_LANES:
            raise ValueError(
                f"weights must be one per lane, of 1 to {VIRTUAL_LANES} lanes, not {len(weights)}"
            )
        below = {
            "least": 0,
            "most": len(weights) - 1,
            "expected": f"lane numbers below {len(weights)}",
            "whole": True,
        }
        strict = tuple(
            int(scalar("strict", number("strict", lane, **below)))
            for lane in each("strict", self.strict)
        )
        if len(set(strict)) < len(strict):
            raise ValueError(f"strict must name no lane twice, not {strict}")
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "strict", strict)


@dataclass(frozen=True)
class Wires:
    """Every direction of every cable, a port: `owner` and `peer` vertices, `capacity` in bytes/s,
    `delay` in seconds.
    """

    vertices: int
    owner: np.ndarray
    peer: np.ndarray
    capacity: np.ndarray
    delay: np.ndarray

    def between(self, one, other):
        """Numbers of the ports from one vertex to another; ValueError where there is no cable."""
        found = np.flatnonzero((self.owner == one) & (self.peer == other))
        if not found.size:
            raise ValueError(f"no cable leads from vertex {one} to vertex {other}")
        return found


def wires(topology, delay: Values):
    """The `Wires` of a topology, sorted by owner; `delay` is one number or one per bundle of
    cables.
    """
    delay = number("delay", delay, least=0.0, most=1e3, expected="from 0 to 1,000 seconds")
    if np.shape(delay) not in ((), topology.a.shape):
        raise ValueError(
            f"delay must be one number or one for each of {topology.a.size} bundles, not of shape"
            f" {np.shape(delay)}"
        )
    times = topology.multiplicity
    a, b = np.repeat(topology.a, times), np.repeat(topology.b, times)
    capacity, delay = (
        np.repeat(topology.capacity, times),
        np.repeat(np.broadcast_to(delay, topology.a.shape), times),
    )
    owner, peer = np.concatenate([a, b]), np.concatenate([b, a])
    order = np.lexsort((peer, owner))
    return Wires(
        topology.vertices,
        owner[order],
        peer[order],
        np.tile(capacity, 2)[order],
        np.tile(delay, 2)[order],
    )


def picoseconds(name, seconds):
    """Seconds as the simulator counts them; ValueError beyond what fits."""
    most = 1e6
    if np.any(np.asarray(seconds) > most):
        raise ValueError(f"{name} must be at most {most:,.0f} seconds, not {np.max(seconds):g}")
    return np.rint(np.minimum(np.asarray(seconds), LARGEST) * PICOSECONDS).astype(np.int64)
