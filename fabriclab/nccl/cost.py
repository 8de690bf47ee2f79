"""What an AllReduce costs under given settings: NCCL's own table of start-ups and shares of
bandwidth, over this node's links.

NCCL chooses among algorithms and protocols by a table that it carries in its sources,
src/graph/tuning.cc. Here it is the table of NCCL 2.27.7 (2.30.7 has the same for rings and trees on
Hopper), with its limits: LL by the make of the CPU, trees and LL128 by channel, a ring's steps
never shorter than what posting to the network costs. What NCCL finds by searching the machine, the
rate of a ring or a tree, is taken from the node's links instead, and there are as many channels as
the settings allow. Left out: the factors by which NCCL lengthens trees below half a gigabyte, and
those of a Simple ring's start-ups (x 1.4); congestion, slow links and other jobs. NVLS and NVLSTree
go by what the data must pass and what was measured: the table's own share for them, 5/6, would make
four nodes slower than they were found to be.

Where the table and the wire part: it counts LL128 in a ring as 0.92 of the link, where 120 of 128
bytes are data; and it counts a tree's levels as log2 of the nodes rounded down, where the tree that
NCCL builds has them rounded up (3 nodes: 1 and 2 levels).

Sources: NCCL 2.27.7, graph/tuning.cc and graph/trees.cc; Hu et al. 2025, Demystifying NCCL, for
what the protocols are; Sanders, Speck and Träff 2009 for the two trees.
"""

import numpy as np

from fabriclab import catalog, collectives
from fabriclab.checks import Values, count, nonnegative, scalar, scalar_or_array
from fabriclab.nccl.environment import Settings
from fabriclab.units import GB, us

# Microseconds before the first step, and for each step inside a node (NVLink, PCIe) and between
# nodes. LL, LL128, Simple.
_BASE = {"Ring": (6.6, 14.0, 8.4), "Tree": (6.8, 14.0, 8.4)}
_NVLINK = {"Ring": (0.6, 1.9, 3.4), "Tree": (0.6, 1.25, 4.0)}
_PCIE = {"Ring": (1.0, 2.5, 5.7), "Tree": (1.0, 1.9, 4.0)}
_NET = {"Ring": (2.7, 4.0, 14.0), "Tree": (5.0, 8.5, 14.0)}
_NVLS_INSIDE, _NVLS_NET = 25.0, 14.0
# Microseconds to post one step of a ring to the network; three times as long for Simple.
_POST = {"Intel": 1.0, "AMD": 2.0}

# Of what goes over the link, the share that is data: LL sends 4 bytes of flag with 4 of data, LL128
# 8 with 120.
SHARES = {"LL": 4 / 8, "LL128": 120 / 128, "Simple": 1.0}
# The same by the table, of a ring, and of a tree's 92 %: on one node, and on several.
_RING_SHARE = {"LL": 0.5, "LL128": 0.92, "Simple": 1.0}
_TREE_SHARE = {"LL": (1 / 3.8, 1 / 3.8), "LL128": (7 / 9, 120 / 128), "Simple": (1.0, 1.0)}
TREE_SHARE = 0.92
ALGORITHMS, PROTOCOLS = ("Ring", "Tree", "NVLS", "NVLSTree"), tuple(SHARES)
# bytes/s at most: on one node (Hopper), on two, on more
_MOST_LL = {"Intel": (141.0 * GB, 39.0 * GB, 20.4 * GB), "AMD": (141.0 * GB, 22.5 * GB, 19.0 * GB)}
# bytes/s of each channel at most (Hopper), on one node, on two, on more
_MOST_TREE = 38.7 * GB, 41.4 * GB, 36.0 * GB
_MOST_TREE_LL128 = 36.7 * GB, 36.7 * GB, 29.0 * GB
PER_CHANNEL = 36.7 * GB  # of a ring with LL128; taken for what a channel moves inside a node, too


def _settings(settings):
    if not isinstance(settings, Settings):
        raise ValueError(
            f"settings must be Settings, as nccl.settings({{}}) gives, not {settings!r}"
        )
    return settings


def network_bandwidth(settings: Settings) -> float:
    """Bytes per second one way that a node has to others: its ports in use, one a channel at most;
    TCP's where there is none.

    >>> from fabriclab.nccl import settings as read
    >>> one, sockets, few = (
    ...     {"NCCL_IB_HCA": "mlx5_0"}, {"NCCL_IB_DISABLE": "1"}, {"NCCL_MAX_NCHANNELS": "4"})
    >>> [network_bandwidth(read(e)) / GB for e in ({}, one, sockets, few)]
    [400.0, 50.0, 3.75, 200.0]
    """
    ports = min(len(_settings(settings).hcas), settings.channels[1])
    return catalog.TCP.beta if settings.network == "Socket" else ports * settings.node.port


def inside_bandwidth(settings: Settings) -> float:
    """Bytes per second one way between GPUs of a node: NVLink's, or PCIe's through host memory, or
    what the channels move.

    >>> from fabriclab.nccl import settings as read
    >>> [round(inside_bandwidth(read(e)) / GB, 1) for e
    ...     in ({}, {"NCCL_P2P_LEVEL": "LOC"}, {"NCCL_MAX_NCHANNELS": "2"})]
    [450.0, 63.0, 73.4]
    """
    node = _settings(settings).node
    wire = node.host if settings.inside == "host memory" else node.nvlink
    return min(wire, settings.channels[1] * PER_CHANNEL)


def options(settings: Settings, nodes: Values) -> tuple[tuple, ...]:
    """The (algorithm, protocol) pairs that settings and model allow on `nodes` nodes; NVLS inside
    one node, NVLSTree across several.

    >>> from fabriclab.nccl import settings as read
    >>> options(read({"NCCL_ALGO": "Tree", "NCCL_PROTO": "^LL128"}), 4)
    (('Tree', 'LL'), ('Tree', 'Simple'))
    """
    nodes = scalar("nodes", count("nodes", nodes))
    pairs = []
    for algorithm in _settings(settings).algorithms:
        if (
            (algorithm == "NVLS" and nodes > 1)
            or (algorithm == "NVLSTree" and nodes == 1)
            or algorithm not in ALGORITHMS
        ):
            continue
        pairs += [
            (algorithm, protocol)
            for protocol in settings.protocols
            if protocol == "Simple" or not algorithm.startswith("NVLS")
        ]
    if not pairs:
        asked = f"{', '.join(settings.algorithms)} with {', '.join(settings.protocols)}"
        raise ValueError(
            f"settings allow no way for an AllReduce on {nodes:g} node{'s' * (nodes != 1)}:"
            f" {asked}; NVLS is for one node, NVLSTree for several, both Simple only"
        )
    return tuple(pairs)


def _startup(settings, nodes, algorithm, protocol):
    at, gpus = PROTOCOLS.index(protocol), settings.node.gpus
    waiting = catalog.TCP.alpha / us if settings.network == "Socket" else 0.0  # ours: NCCL has none
    depth = float(np.floor(np.log2(nodes)))
    if algorithm == "NVLS":
        return _NVLS_INSIDE * us
    if algorithm == "NVLSTree":
        return (_NVLS_INSIDE + 2 * depth * (_NVLS_NET + waiting)) * us
    inside = (_PCIE if settings.inside == "host memory" else _NVLINK)[algorithm][at]
    # one GPU a node hides nothing of the network: the tree's figure for both
    between = _NET[algorithm if gpus > 1 else "Tree"][at] + waiting
    if algorithm == "Tree":
        return (_BASE["Tree"][at] + 2 * ((gpus - 1) * inside + depth * between)) * us
    if nodes > 1:
        inside = max(inside, _POST[settings.node.cpu] * (3 if protocol == "Simple" else 1))
    across = 2 * (nodes - 1)
    return (_BASE["Ring"][at] + (2 * (nodes * gpus - 1) - across) * inside + across * between) * us


def _factor(settings, nodes, algorithm, protocol):
    """(bytes that must pass the slowest place for each byte of the buffer, that place's bytes per
    second).
    """
    gpus, channels = settings.node.gpus, settings.channels[1]
    size = int(min(nodes, 3)) - 1  # one node, two, more
    inside = inside_bandwidth(settings) if gpus > 1 else np.inf
    network = network_bandwidth(settings) if nodes > 1 else np.inf
    most_ll = _MOST_LL[settings.node.cpu][size] if protocol == "LL" else np.inf
    if algorithm == "Ring":
        rate = _RING_SHARE[protocol] * min(inside, network)
        if protocol == "LL128":
            rate = min(rate, channels * PER_CHANNEL)
        return collectives.bus_factor("all_reduce", nodes * gpus), min(rate, most_ll)
    # two trees, half of the buffer each: of two nodes either is the other's child once, so a byte
    # crosses once, not up and down
    crossing = network if nodes == 2 else network / 2
    if algorithm == "Tree":
        # a tree sends up and down what a ring sends round, to within 1/N
        rate = min(TREE_SHARE * min(inside, 2 * crossing), channels * _MOST_TREE[size])
        rate *= _TREE_SHARE[protocol][size > 0]
        if protocol == "LL128":
            rate = min(rate, channels * _MOST_TREE_LL128[size])
        return 2.0, min(rate, most_ll)
    alone = collectives.bus_factor("all_reduce", gpus)
    switch = min(settings.node.nvls / alone if gpus > 1 else np.inf, inside)
    return 1.0, switch if algorithm == "NVLS" else min(switch, crossing)


def allreduce_time(
    size: Values,
    nodes: Values,
    settings: Settings,
    algorithm: str | None = None,
    protocol: str | None = None,
) -> Values:
    """Seconds of an AllReduce of `size` bytes (a number or an array) on `nodes` nodes: ``start-up +
    bytes / (share · bandwidth)``.

    Without `algorithm` ("Ring", "Tree", "NVLS", "NVLSTree") and `protocol` ("LL", "LL128",
    "Simple"), the least of what `settings` allow, which is how NCCL chooses. One node of one GPU: 0
    s. Raises ValueError for a pair that is not allowed.

    Other words: NCCL cost model, ring, tree, LL, LL128, Simple.

    >>> from fabriclab.nccl import settings as read
    >>> from fabriclab.units import ms, si
    >>> [si(allreduce_time(6 * GB, 128, read(e)), "s", 3) for e
    ...     in ({}, {"NCCL_IB_HCA": "mlx5_0"}, {"NCCL_IB_DISABLE": "1"})]
    ['30.2 ms', '240 ms', '3.2 s']
    """
    size, nodes = nonnegative("size", size), scalar("nodes", count("nodes", nodes))
    for name, value in (("algorithm", algorithm), ("protocol", protocol)):
        if not (value is None or isinstance(value, str)):
            raise ValueError(f"{name} must be one of NCCL's by name, not {value!r:.60}")
    pairs = [
        pair
        for pair in options(settings, nodes)
        if algorithm in (None, pair[0]) and protocol in (None, pair[1])
    ]
    if not pairs:
        raise ValueError(
            "algorithm and protocol must be among"
            f" {', '.join('/'.join(pair) for pair in options(settings, nodes))}, not {algorithm!r}"
            f" and {protocol!r}"
        )
    if nodes * settings.node.gpus == 1:
        return scalar_or_array(np.zeros(np.shape(size)))
    return scalar_or_array(
        np.min([_pair_time(size, nodes, settings, *pair) for pair in pairs], axis=0)
    )


def _pair_time(size, nodes, settings, algorithm, protocol):
    passing, rate = _factor(settings, nodes, algorithm, protocol)
    return _startup(settings, nodes, algorithm, protocol) + passing * np.asarray(size) / rate


def choice(size: Values, nodes: Values, settings: Settings) -> tuple[str, ...]:
    """The (algorithm, protocol) that takes least for `size` bytes on `nodes` nodes.

    >>> from fabriclab.nccl import settings as read
    >>> from fabriclab.units import KB
    >>> choice(8 * KB, 16, read({})), choice(8 * GB, 16, read({"NCCL_ALGO": "^NVLSTree"}))
    (('Tree', 'LL'), ('Ring', 'Simple'))
    """
    size, nodes = scalar("size", nonnegative("size", size)), scalar("nodes", count("nodes", nodes))
    return min(
        options(settings, nodes), key=lambda pair: float(_pair_time(size, nodes, settings, *pair))
    )


def busbw(
    size: float,
    nodes: Values,
    settings: Settings,
    algorithm: str | None = None,
    protocol: str | None = None,
) -> Values:
    """Bytes per second: what nccl-tests would print as busbw, ``size / time · 2(N-1)/N``.

    Between two nodes it may show more than the ports: of two trees, each with half of the buffer,
    one goes up where the other comes down, so that every byte leaves a node once.

    >>> from fabriclab.nccl import settings as read
    >>> [round(busbw(8 * GB, n, read({})) / GB) for n in (1, 2, 4)]     # measured: 480, 470, 366
    [480, 513, 397]
    """
    ranks = scalar("nodes", count("nodes", nodes)) * _settings(settings).node.gpus
    time = np.asarray(allreduce_time(size, nodes, settings, algorithm, protocol))
    algbw = np.divide(size, time, out=np.zeros(time.shape), where=time > 0)
    return scalar_or_array(algbw * collectives.bus_factor("all_reduce", ranks))
