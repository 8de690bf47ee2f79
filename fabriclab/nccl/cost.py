"""What an AllReduce costs under given settings: start-ups by NCCL's own table, bandwidth by what
the data must pass.

NCCL chooses among algorithms and protocols by a table of latencies and shares of bandwidth that it
carries in its sources; the same table is used here, so the choice is like its own. What is not in
it, and not here: congestion, slow links, other jobs, and the correction factors that NCCL
multiplies some sizes by. An upper bound of bandwidth, then, and no measurement.

Sources: NCCL 2.20 and later, graph/tuning.cc (baseLat, hwLat, tuning of bandwidth); Hu et al. 2025,
Demystifying NCCL, for what the protocols are; Sanders, Speck and Träff 2009 for the two trees.
"""

import numpy as np

from fabriclab import catalog, collectives
from fabriclab.checks import count, nonnegative, scalar, scalar_or_array
from fabriclab.nccl.environment import Settings
from fabriclab.units import GB, us

# Seconds before the first step, and for each step inside a node (NVLink, PCIe) and between nodes.
# LL, LL128, Simple.
_BASE = {"Ring": (6.6, 14.0, 8.4), "Tree": (6.8, 14.0, 8.4)}
_NVLINK = {"Ring": (0.6, 1.9, 3.4), "Tree": (0.6, 1.25, 4.0)}
_PCIE = {"Ring": (1.0, 2.5, 5.7), "Tree": (1.0, 1.9, 4.0)}
_NET = {"Ring": (2.7, 4.0, 14.0), "Tree": (5.0, 8.5, 14.0)}
_NVLS_INSIDE, _NVLS_NET = 25.0, 14.0

# Of what goes over the link, the share that is data: LL sends 4 bytes of flag with 4 of data, LL128
# 8 with 120.
SHARES = {"LL": 4 / 8, "LL128": 120 / 128, "Simple": 1.0}
TREE_SHARE = 0.92  # of the bandwidth, what the table lets a tree have
TREE_LL = 1 / 3.8  # of a tree's, what it lets LL have there: measured, not derived
ALGORITHMS, PROTOCOLS = ("Ring", "Tree", "NVLS", "NVLSTree"), tuple(SHARES)
PER_CHANNEL = (
    36.7 * GB
)  # bytes/s a channel moves inside a node: the table's figure for Hopper and LL128, taken for all


def _settings(settings):
    if not isinstance(settings, Settings):
        raise ValueError(
            f"settings must be Settings, as nccl.settings({{}}) gives, not {settings!r}"
        )
    return settings


def network_bandwidth(settings):
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


def inside_bandwidth(settings):
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


def options(settings, nodes):
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
    waiting = catalog.TCP.alpha / us if settings.network == "Socket" else 0.0
    depth = float(np.ceil(np.log2(nodes)))
    if algorithm == "NVLS":
        return _NVLS_INSIDE * us
    if algorithm == "NVLSTree":
        return (_NVLS_INSIDE + 2 * depth * (_NVLS_NET + waiting)) * us
    inside, between = (
        (_PCIE if settings.inside == "host memory" else _NVLINK)[algorithm][at],
        _NET[algorithm][at] + waiting,
    )
    if nodes > 1 and protocol == "LL":
        inside *= 1.8
    if algorithm == "Ring":
        across = 2 * nodes if nodes > 1 else 0
        return (
            _BASE["Ring"][at] + (2 * (nodes * gpus - 1) - across) * inside + across * between
        ) * us
    return (_BASE["Tree"][at] + 2 * ((gpus - 1) * inside + depth * between)) * us


def _factor(settings, nodes, algorithm):
    """(bytes that must pass the slowest place for each byte of the buffer, that place's bytes per
    second).
    """
    ranks = nodes * settings.node.gpus
    inside, network = (
        inside_bandwidth(settings),
        network_bandwidth(settings) if nodes > 1 else np.inf,
    )
    ring = collectives.bus_factor("all_reduce", ranks)
    switch = (
        settings.node.nvls / collectives.bus_factor("all_reduce", settings.node.gpus)
        if settings.node.gpus > 1
        else np.inf
    )
    if algorithm == "NVLS":
        return 1.0, min(switch, inside)
    # two trees, half of the buffer each: of two nodes either is the other's child once, so a byte
    # crosses once, not up and down
    crossing = network if nodes == 2 else network / 2
    if algorithm == "NVLSTree":
        return 1.0, min(switch, inside, crossing)
    # a tree sends up and down what a ring sends round, to within 1/N
    return (
        (ring, min(inside, network))
        if algorithm == "Ring"
        else (2.0, TREE_SHARE * min(inside, 2 * crossing))
    )


def allreduce_time(size, nodes, settings, algorithm=None, protocol=None):
    """Seconds of an AllReduce of `size` bytes (a number or an array) on `nodes` nodes: ``start-up +
    bytes / (share · bandwidth)``.

    Without `algorithm` ("Ring", "Tree", "NVLS", "NVLSTree") and `protocol` ("LL", "LL128",
    "Simple"), the least of what `settings` allow, which is how NCCL chooses. One node of one GPU: 0
    s. Raises ValueError for a pair that is not allowed.

    >>> from fabriclab.nccl import settings as read
    >>> from fabriclab.units import ms, si
    >>> [si(allreduce_time(6 * GB, 128, read(e)), "s", 3) for e
    ...     in ({}, {"NCCL_IB_HCA": "mlx5_0"}, {"NCCL_IB_DISABLE": "1"})]
    ['30.2 ms', '240 ms', '3.2 s']
    """
    size, nodes = nonnegative("size", size), scalar("nodes", count("nodes", nodes))
    for name, value in (("algorithm", algorithm), ("protocol", protocol)):
        if not (value is None or isinstance(value, str)):
            raise ValueError(f"{name} must be a name or None, not {value!r:.60}")
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
    passing, rate = _factor(settings, nodes, algorithm)
    share = TREE_LL if (algorithm, protocol) == ("Tree", "LL") else SHARES[protocol]
    return _startup(settings, nodes, algorithm, protocol) + passing * np.asarray(size) / (
        share * rate
    )


def choice(size, nodes, settings):
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


def busbw(size, nodes, settings, algorithm=None, protocol=None):
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
