"""What a slow part does to the cells of an all-pairs measurement, and measurements of our own
making.

A pair's bandwidth is its healthy rate times the least fraction among the parts it passes: sender,
leaf, bundle up, spine,
bundle down, leaf, receiver. Between leaves there are k spines, and how a pair uses them decides
what a slow spine looks like:
- "hash": one QP keeps to one spine, chosen by a hash. One cell in k is cold, scattered, and at the
  part's own fraction f.
- "spread": many QPs lie evenly over all k, each runs as it can, and perftest adds them up. Every
  cell loses (1-f)/k. (A run that counts messages instead of seconds waits for the slowest QP and
  shows f.)
Pairs are measured in rounds that fill the links. A spread pair alone asks a spine for 1/k of its
rate, and hides any slower one.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from fabriclab.catalog import NDR
from fabriclab.checks import count, each, fraction, nonnegative, scalar
from fabriclab.logs.pairs.records import Pairs, Part, Wiring, wiring
from fabriclab.topology.graph import Topology

HEALTHY = (
    0.96 * NDR.beta
)  # 48 GB/s arrive where a sound NDR pair writes: the chapter, Monitoring and debugging
PATHS = ("hash", "spread")


def hosts(network: Topology | Mapping) -> tuple[str, ...]:
    """The names that `measure` and `explain` give the hosts of a `topology.Topology`: host-01,
    host-02, …
    """
    return wiring(network).hosts


def measure(
    network: Topology | Mapping,
    slow: Mapping | None = None,
    paths: str = "hash",
    noise: float = 0.01,
    seed: int = 0,
    pairs: int | Sequence | None = None,
    pinned: bool = False,
    rate: float = HEALTHY,
) -> Pairs:
    """`Pairs` as they would be measured on `network` with the parts in `slow`, {`Part`: fraction of
    its rate}, 0 to 1.

    `network` is what `wiring` takes. `paths` "hash" or "spread" (see above); `pinned` measures
    every pair of leaves over every spine, one after another, and notes which. `noise`: relative
    standard deviation of one measurement, never beyond three of them. `pairs`: ordered pairs
    (source, target) by index, or how many to draw; all of them if None. `rate`: bytes per second of
    a healthy pair. Raises ValueError for a part that the network has not.

    >>> from fabriclab import topology
    >>> network = topology.leaf_spine(4, 2, 4, 4)
    >>> found = measure(network, {Part("host", "host-05", way="out"): 0.5}, noise=0)
    >>> [sorted(set((row[~np.isnan(row)] / 1e9).tolist())) for row in found.matrix[3:6]]
    [[48.0], [24.0], [48.0]]
    """
    where = wiring(network)
    if paths not in PATHS:
        raise ValueError(f"paths must be {' or '.join(PATHS)}, not {paths!r}")
    noise, rate, seed = (
        scalar("noise", nonnegative("noise", noise)),
        scalar("rate", nonnegative("rate", rate)),
        int(scalar("seed", count("seed", seed, 0))),
    )
    rng = np.random.default_rng(seed)
    source, target = _chosen(where, pairs, rng)
    if pinned:
        source, target, via = _pin(where, source, target)
    else:
        via = _hashed(where, source, target, seed)
    slow = {} if slow is None else slow
    if not isinstance(slow, Mapping):
        raise ValueError(f"slow must be {{Part: fraction}}, not {slow!r:.60}")
    for part, share in slow.items():
        _known(where, part)
        scalar("fraction", fraction(f"fraction of {part}", share))
    of_rate = (
        _spread(where, source, target, slow)
        if paths == "spread" and not pinned
        else _single(where, source, target, via, slow)
    )
    # three even draws: nearly normal, and no cell is wild
    wobble = 1 + noise * (2 * rng.random((3, source.size)).sum(0) - 3)
    seen = _all_spines(where) if pinned else ()
    return Pairs(
        where.hosts,
        source,
        target,
        np.maximum(rate * of_rate * wobble, 0.0),
        seen,
        _by_name(where, seen, source, via) if pinned else None,
    )


def passes(
    where: Wiring, part: Part, source: np.ndarray, target: np.ndarray, via: np.ndarray
) -> np.ndarray:
    """Whether each pair over the spine `via` (of its plane, -1 within a leaf) passes `part`: a
    boolean array.
    """
    out, into = where.leaf[source], where.leaf[target]
    if part.kind == "host":
        at = where.hosts.index(part.name)
        return ((source == at) & (part.way != "in")) | ((target == at) & (part.way != "out"))
    if part.kind == "spine":
        return _over(where, part.name, out, via)
    at = where.leaves.index(part.name)
    if part.kind == "leaf":
        return (out == at) | (into == at)
    return _over(where, part.spine, out, via) & (
        ((out == at) & (part.way != "in")) | ((into == at) & (part.way != "out"))
    )


def _over(where, spine, leaf, via):
    number = np.array([names.index(spine) if spine in names else -2 for names in where.spines])
    return via == number[where.plane[leaf]]


def _single(where, source, target, via, slow):
    least = np.ones(source.size)
    for part, share in slow.items():
        least = np.where(passes(where, part, source, target, via), np.minimum(least, share), least)
    return least


def _spread(where, source, target, slow):
    """The mean over the spines that a pair may take."""
    many = spines_between(where, source, target)
    total = np.zeros(source.size)
    for spine in range(int(many.max(initial=0))):
        there = spine < many
        total[there] += _single(
            where, source[there], target[there], np.full(there.sum(), spine), slow
        )
    same = many == 0
    total[same] = _single(where, source[same], target[same], np.full(same.sum(), -1), slow)
    return total / np.maximum(many, 1)


def spines_between(where: Wiring, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """How many spines each pair may take, 0 within a leaf."""
    many = np.array([len(names) for names in where.spines])[where.plane[where.leaf[source]]]
    return np.where(where.leaf[source] == where.leaf[target], 0, many)


def connected(where: Wiring, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Whether each pair has a path."""
    out, into = where.leaf[source], where.leaf[target]
    return (out == into) | (
        (where.plane[out] == where.plane[into]) & (spines_between(where, source, target) > 0)
    )


def _hashed(where, source, target, seed):
    """The spine that each pair hashes to: a mixing function of the pair and `seed`, the same on
    every machine.
    """
    mixed = (source * 2654435761 + target * 40503 + seed * 97).astype(np.uint64)
    for shift in (30, 27, 31):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(0xBF58476D1CE4E5B9)
    many = spines_between(where, source, target)
    return np.where(many > 0, (mixed >> np.uint64(33)).astype(np.int64) % np.maximum(many, 1), -1)


def _chosen(where, pairs, rng):
    size = len(where.hosts)
    if pairs is None or np.ndim(pairs) == 0:
        source, target = np.divmod(np.arange(size * size), size)
        real = source != target
        source, target = source[real], target[real]
        there = connected(where, source, target)
        source, target = source[there], target[there]
        if pairs is not None:
            some = int(scalar("pairs", count("pairs", pairs)))
            if some > source.size:
                raise ValueError(
                    f"pairs must be at most the {source.size:,} ordered pairs with a path, not"
                    f" {some:,}"
                )
            kept = np.sort(np.argsort(rng.random(source.size), kind="stable")[:some])
            source, target = source[kept], target[kept]
        return source, target
    ends = np.array([tuple(each("pairs", pair)) for pair in each("pairs", pairs)])
    if (
        ends.ndim != 2
        or ends.shape[1] != 2
        or ends.dtype.kind not in "iu"
        or ends.min() < 0
        or ends.max() >= size
        or (ends[:, 0] == ends[:, 1]).any()
    ):
        raise ValueError(
            f"pairs must be pairs of two different hosts, by their numbers from 0 to {size - 1}"
        )
    source, target = ends.T
    if not connected(where, source, target).all():
        raise ValueError("pairs must have a path, and some lie in networks that are not joined")
    return source, target


def _pin(where, source, target):
    """Every pair once for each spine that it may take."""
    times = np.maximum(spines_between(where, source, target), 1)
    source, target = np.repeat(source, times), np.repeat(target, times)
    via = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
    return source, target, np.where(spines_between(where, source, target) > 0, via, -1)


def _all_spines(where):
    return tuple(name for names in where.spines for name in names)


def _by_name(where, names, source, via):
    """`via` as an index into `names`, from the number within its plane."""
    first = np.cumsum([0, *(len(own) for own in where.spines)])[:-1]
    return np.where(via < 0, -1, via + first[where.plane[where.leaf[source]]])


def _known(where, part):
    if not isinstance(part, Part):
        raise ValueError(f"slow must have Part objects as keys, not {part!r:.40}")
    there = {
        "host": where.hosts,
        "leaf": where.leaves,
        "bundle": where.leaves,
        "spine": _all_spines(where),
    }[part.kind]
    if part.name not in there or (
        part.kind == "bundle"
        and part.spine not in where.spines[where.plane[where.leaves.index(part.name)]]
    ):
        raise ValueError(
            f"slow must name parts of the network, and it has no {part}: {part.kind}s are"
            f" {there[0]} to {there[-1]}"
            if there
            else f"slow must name parts of the network, and it has no {part.kind}"
        )
