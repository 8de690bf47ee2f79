"""Collectives among ranks that are all alike: one port each, at full rate to any other."""

from dataclasses import dataclass

import numpy as np

from fabriclab.checks import (
    Values,
    broadcastable,
    count,
    fraction,
    nonnegative,
    positive,
    scalar,
    scalar_or_array,
)


def _read(size, ranks, alpha, beta):
    size, ranks, alpha, beta = (
        nonnegative("size", size),
        count("ranks", ranks),
        nonnegative("alpha", alpha),
        positive("beta", beta),
    )
    broadcastable(size=size, ranks=ranks, alpha=alpha, beta=beta)
    return size, ranks, alpha, beta


def _levels(ranks):
    # log2 of a whole number below 2^49 is exact at powers of two and never rounds up onto one
    return np.ceil(np.log2(ranks))


def ring_allreduce(size: Values, ranks: Values, alpha: Values, beta: Values) -> Values:
    """Seconds: ``2(N-1)/N · M/beta + 2(N-1) alpha``: N-1 steps of ReduceScatter, N-1 of AllGather,
    M/N bytes each.

    Other words: AllReduce; sum gradients over all GPUs; data parallel; reduce-scatter then
    all-gather.

    >>> from fabriclab.units import GB, ms, us
    >>> round(ring_allreduce(6 * GB, 1024, 1.5 * us, 50 * GB) / ms, 1)
    242.8
    """
    size, ranks, alpha, beta = _read(size, ranks, alpha, beta)
    return scalar_or_array(2 * (ranks - 1) * (size / ranks / beta + alpha))


def tree_allreduce(size: Values, ranks: Values, alpha: Values, beta: Values) -> Values:
    """Seconds: ``2 L (alpha + M/beta)`` with ``L = ceil(log2 N)``: reduce up a binomial tree, then
    broadcast, in one piece.

    The unpipelined tree; NCCL's is pipelined, see `pipelined_tree_allreduce`.

    >>> from fabriclab.units import GB, KB, us
    >>> round(tree_allreduce(1 * KB, 1024, 1.5 * us, 50 * GB) / us, 2)
    30.4
    """
    size, ranks, alpha, beta = _read(size, ranks, alpha, beta)
    return scalar_or_array(2 * _levels(ranks) * (alpha + size / beta))


def pipelined_tree_allreduce(
    size: Values, ranks: Values, alpha: Values, beta: Values, chunks: Values | None = None
) -> Values:
    """Seconds: ``2 (L + k - 1)(alpha + M/(k beta))``: reduce, then broadcast, each as k chunks that
    follow one another.

    With `chunks` left out, the best whole k: near ``sqrt((L-1) M / (alpha beta))``. Assumes that a
    rank can take in a chunk and pass one on in the same step, which two complementary trees achieve
    (each rank is a leaf of one of them); k = 1 is `tree_allreduce`. For large M it tends to 2
    M/beta, as the ring does, at a fraction of its start-ups.

    >>> from fabriclab.units import GB, ms, us
    >>> round(pipelined_tree_allreduce(6 * GB, 1024, 1.5 * us, 50 * GB) / ms, 1)
    245.1
    """
    size, ranks, alpha, beta = _read(size, ranks, alpha, beta)
    levels = _levels(ranks)

    def cost(k):
        return 2 * (levels + k - 1) * (alpha + size / (k * beta))

    if chunks is not None:
        chunks = count("chunks", chunks)
        broadcastable(size=size, ranks=ranks, alpha=alpha, beta=beta, chunks=chunks)
        return scalar_or_array(np.where(ranks > 1, cost(chunks), 0.0))
    # chunks smaller than a byte do not exist
    most = np.maximum(1, np.floor(size))
    unlimited = np.full(np.broadcast(size, alpha, beta).shape, np.inf)
    with np.errstate(over="ignore"):
        per_start = np.divide(size, alpha * beta, out=unlimited, where=np.asarray(alpha * beta) > 0)
    best = np.clip(np.sqrt(np.maximum(levels - 1, 0) * np.minimum(per_start, most**2)), 1, most)
    return scalar_or_array(
        np.where(
            ranks > 1, np.minimum(cost(np.floor(best)), cost(np.minimum(np.ceil(best), most))), 0.0
        )
    )


def _folded(ranks):
    """(log2 of the largest power of two within N, 1 where ranks are left over): the extras fold
    into a partner first and are told last.
    """
    whole = np.floor(np.log2(ranks))
    return whole, np.where(2.0**whole < ranks, 1.0, 0.0)


def recursive_doubling_allreduce(
    size: Values, ranks: Values, alpha: Values, beta: Values
) -> Values:
    """Seconds: ``log2(N) (alpha + M/beta)``: partners at distance 1, 2, 4, … exchange the whole
    buffer.

    Where N is no power of two the extra ranks fold into partners first and are told last: 2 further
    steps of M bytes.

    >>> from fabriclab.units import GB, KB, us
    >>> round(recursive_doubling_allreduce(1 * KB, 1024, 1.5 * us, 50 * GB) / us, 2)
    15.2
    """
    size, ranks, alpha, beta = _read(size, ranks, alpha, beta)
    steps, extra = _folded(ranks)
    return scalar_or_array((steps + 2 * extra) * (alpha + size / beta))


def rabenseifner_allreduce(size: Values, ranks: Values, alpha: Values, beta: Values) -> Values:
    """Seconds: ``2 log2(N) alpha + 2(N-1)/N · M/beta``: recursive halving, then doubling; the
    ring's bytes, a tree's start-ups.

    Where N is no power of two, N becomes the largest one within it, and 2 further steps of M bytes
    fold in the rest.

    >>> from fabriclab.units import GB, KB, us
    >>> round(rabenseifner_allreduce(1 * KB, 1024, 1.5 * us, 50 * GB) / us, 2)
    30.04
    """
    size, ranks, alpha, beta = _read(size, ranks, alpha, beta)
    steps, extra = _folded(ranks)
    share = 1 - 2.0**-steps
    return scalar_or_array(
        2 * steps * alpha + 2 * share * size / beta + 2 * extra * (alpha + size / beta)
    )


def hierarchical_allreduce(
    size: Values,
    nodes: Values,
    per_node: Values,
    alpha: Values,
    beta: Values,
    alpha_inside: Values,
    beta_inside: Values,
) -> Values:
    """Seconds of the three-stage AllReduce: ReduceScatter inside each node, a ring per rail between
    nodes, AllGather inside.

    Between `nodes` the `per_node` rings run side by side, each on its own port of `beta`, on
    M/per_node bytes. Over equal links the bandwidth term is exactly the flat ring's, 2(N-1)/N
    M/beta, and the start-ups are 2(g-1) + 2(n-1), not 2(gn-1).

    Other words: two levels, NVLink inside a node and network between nodes.

    >>> from fabriclab.units import GB, ms, us
    >>> round(hierarchical_allreduce(6 * GB, 128, 8, 1.5 * us, 50 * GB, 0.5 * us, 450 * GB) / ms, 1)
    53.5
    """
    size, nodes, alpha, beta = (
        nonnegative("size", size),
        count("nodes", nodes),
        nonnegative("alpha", alpha),
        positive("beta", beta),
    )
    per_node, alpha_inside, beta_inside = (
        count("per_node", per_node),
        nonnegative("alpha_inside", alpha_inside),
        positive("beta_inside", beta_inside),
    )
    broadcastable(
        size=size,
        nodes=nodes,
        alpha=alpha,
        beta=beta,
        per_node=per_node,
        alpha_inside=alpha_inside,
        beta_inside=beta_inside,
    )
    inside = 2 * reduce_scatter(size, per_node, alpha_inside, beta_inside)
    return scalar_or_array(inside + ring_allreduce(size / per_node, nodes, alpha, beta))


def reduce_scatter(size: Values, ranks: Values, alpha: Values, beta: Values) -> Values:
    """Seconds: ``(N-1)/N · M/beta + (N-1) alpha``, as a ring.

    Other words: ReduceScatter; sum and keep one shard, FSDP, ZeRO.

    >>> reduce_scatter(8e9, 8, 0.0, 1e9)
    7.0
    """
    size, ranks, alpha, beta = _read(size, ranks, alpha, beta)
    return scalar_or_array((ranks - 1) * (size / ranks / beta + alpha))


def all_gather(size: Values, ranks: Values, alpha: Values, beta: Values) -> Values:
    """Seconds: ``(N-1)/N · M/beta + (N-1) alpha``, as a ring: a ReduceScatter run backwards.

    Other words: AllGather; collect the shard of every GPU, FSDP, ZeRO; concatenate.

    >>> all_gather(8e9, 8, 0.0, 1e9)
    7.0
    """
    return reduce_scatter(size, ranks, alpha, beta)


def all_to_all(size: Values, ranks: Values, alpha: Values, beta: Values) -> Values:
    """Seconds: ``(N-1)/N · M/beta + (N-1) alpha``: each rank sends M/N to each other rank in turn,
    on a fabric that gives every port its full rate.

    `size` M is the whole buffer of a rank, the piece that it keeps included, as nccl-tests counts
    it. A tapered fabric has a bound of its own, `topology.alltoall_cut_bound`, which counts alike;
    it is never above this time where the cut carries what the ports of one half send.

    Other words: transpose, personalised exchange, mixture of experts (MoE), expert parallel
    dispatch.

    >>> all_to_all(8e9, 8, 0.0, 1e9)
    7.0
    """
    return reduce_scatter(size, ranks, alpha, beta)


def broadcast(size: Values, ranks: Values, alpha: Values, beta: Values) -> Values:
    """Seconds: ``ceil(log2 N)(alpha + M/beta)``: a binomial tree, in one piece.

    Other words: one to all, distribute weights.

    >>> broadcast(1e9, 8, 0.0, 1e9)
    3.0
    """
    size, ranks, alpha, beta = _read(size, ranks, alpha, beta)
    return scalar_or_array(_levels(ranks) * (alpha + size / beta))


_FACTORS = {
    "all_reduce": lambda n: 2 * (n - 1) / n,
    "reduce_scatter": lambda n: (n - 1) / n,
    "all_gather": lambda n: (n - 1) / n,
    "alltoall": lambda n: (n - 1) / n,
    "all_to_all": lambda n: (n - 1) / n,
    "gather": lambda n: (n - 1) / n,
    "scatter": lambda n: (n - 1) / n,
    "hypercube": lambda n: (n - 1) / n,
    "broadcast": lambda n: np.ones_like(n),
    "reduce": lambda n: np.ones_like(n),
    "sendrecv": lambda n: np.ones_like(n),
}


def bus_factor(collective: str, ranks: Values) -> Values:
    """What nccl-tests multiplies algbw (size/time) by to get busbw, which a perfect ring would show
    as its links' rate.

    `collective` is a program of nccl-tests without its _perf: "all_reduce" (``2(n-1)/n``),
    "reduce_scatter", "all_gather", "alltoall" (or "all_to_all"), "gather", "scatter", "hypercube"
    (``(n-1)/n``), "broadcast", "reduce" or "sendrecv" (1). 0 for one rank of those that have n-1:
    each process ran alone. hypercube_perf prints algbw with its factor already in it; here size is
    the whole buffer for it, too. Raises ValueError for any other name.
    Source: nccl-tests, its performance notes and src/*.cu.

    Other words: busbw, algbw, nccl-tests correction factor.

    >>> bus_factor("all_reduce", 16)
    1.875
    """
    if not isinstance(collective, str) or collective not in _FACTORS:
        raise ValueError(f"collective must be one of {', '.join(_FACTORS)}, not {collective!r}")
    return scalar_or_array(_FACTORS[collective](np.asarray(count("ranks", ranks))))


def exposed_time(communication: Values, compute: Values) -> Values:
    """Seconds of communication that a compute phase cannot hide: ``max(0, communication -
    compute)``.

    Assumes that all of it may overlap: the best case. Chapter, section "The GPU-to-GPU gradient
    bus".

    Other words: overlap, hide communication behind compute, what is left over.

    >>> exposed_time(0.3, 0.5)
    0.0
    """
    communication, compute = (
        nonnegative("communication", communication),
        nonnegative("compute", compute),
    )
    broadcastable(communication=communication, compute=compute)
    return scalar_or_array(np.maximum(0.0, communication - compute))


def utilisation(compute: Values, communication: Values, overlap: Values = 0.0) -> Values:
    """Share of a step in which the GPUs compute: ``compute / (compute + max(0, communication -
    overlap · compute))``.

    `compute` and `communication` in seconds, compute more than zero. `overlap`, 0 to 1, is the
    share of the compute during which communication may run: 0 is the chapter's figure 4, 1 the best
    case of `exposed_time`; where gradients leave during the backward pass only, and that is half
    the compute, 0.5 is the most.

    >>> from fabriclab.units import ms
    >>> round(100 * utilisation(200 * ms, 1 * ms), 3), round(100 * utilisation(200 * ms, 30 * ms),
    ...     3)
    (99.502, 86.957)
    """
    compute, communication, overlap = (
        positive("compute", compute),
        nonnegative("communication", communication),
        fraction("overlap", overlap),
    )
    broadcastable(compute=compute, communication=communication, overlap=overlap)
    return scalar_or_array(compute / (compute + exposed_time(communication, overlap * compute)))


@dataclass(frozen=True)
class Step:
    """One training step, in seconds: a forward and a backward pass, and an AllReduce that may start
    in the backward pass.

    `overlap`, 0 to 1, is the share of the backward pass, its end, during which gradients already
    travel.

    >>> step = Step(forward=0.1, backward=0.1, communication=0.03)
    >>> round(step.total, 9), round(step.idle, 9), round(step.utilisation, 3)
    (0.23, 0.03, 0.87)
    """

    forward: float
    backward: float
    communication: float
    overlap: float = 0.0

    def __post_init__(self):
        for name in ("forward", "backward", "communication"):
            scalar(name, nonnegative(name, getattr(self, name)))
        scalar("overlap", fraction("overlap", self.overlap))
        positive("forward + backward", self.forward + self.backward)

    @property
    def idle(self):
        """What of the AllReduce no compute hides."""
        return exposed_time(self.communication, self.overlap * self.backward)

    @property
    def total(self):
        return self.forward + self.backward + self.idle

    @property
    def utilisation(self):
        return (self.forward + self.backward) / self.total

    @property
    def bars(self):
        """(name, start, duration) of the three phases, as a timeline draws them."""
        first = self.forward + (1 - self.overlap) * self.backward
        return (
            ("forward", 0.0, self.forward),
            ("backward", self.forward, self.backward),
            ("AllReduce", first, self.communication),
        )


def hidden_payload(compute: Values, ranks: Values, alpha: Values, beta: Values) -> Values:
    """Bytes: the largest AllReduce whose ring hides behind `compute` seconds: ``(t - 2(N-1) alpha)
    beta N / (2(N-1))``.

    0 where the start-ups alone outlast the phase; `inf` for one rank. The inverse of
    `ring_allreduce`.

    Other words: largest message that overlap hides behind compute.

    >>> from fabriclab.units import GB, ms, us
    >>> round(hidden_payload(101.11 * ms, 1024, 1.5 * us, 50 * GB) / GB, 3)
    2.453
    """
    compute, ranks, alpha, beta = (
        nonnegative("compute", compute),
        count("ranks", ranks),
        nonnegative("alpha", alpha),
        positive("beta", beta),
    )
    broadcastable(compute=compute, ranks=ranks, alpha=alpha, beta=beta)
    steps = np.asarray(2 * (ranks - 1))
    room = np.maximum(0.0, compute - steps * alpha) * beta * ranks
    shape = np.broadcast(room, steps).shape
    return scalar_or_array(np.divide(room, steps, out=np.full(shape, np.inf), where=steps > 0))
