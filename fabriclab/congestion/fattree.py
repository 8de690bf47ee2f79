"""A permutation on a fat-tree: one flow from each host to another, under four ways to choose paths.

Simulated, one flow per host, no two to the same host: the fabric could carry it at full rate. Up
from its edge switch a flow chooses an aggregation switch and a core; the way down follows. Each
flow sends one unit, which takes time 1 on a link of its own; a link's load is its units, and a flow
is done when the fullest link on its way is. That is exact for the slowest flow, whose link never
rests, and at most a little high for the others.

Source: Al-Fares et al. 2008 for the tree; chapter, section on adaptive routing, for the choices.
"""

import numpy as np

from fabriclab.checks import Values, count, number, one_of, scalar

CHOICES = ("hashing", "flowlets", "spraying", "adaptive")
MOST_PIECES, MOST_IN_ALL = 10**6, 10**8  # parts of flows: in memory at once, and in a whole run


def _links(radix, source, target, up, core):
    """Link numbers, shape (4, ...), of paths through aggregation switch `up` and its core `core`;
    -1 where a path needs none.
    """
    half = radix // 2
    edge_from, edge_to = source // half, target // half
    pod_from, pod_to = edge_from // half, edge_to // half
    per_layer = radix * half * half
    leaves_edge, leaves_pod = edge_from != edge_to, pod_from != pod_to
    return np.stack(
        [
            np.where(leaves_edge, edge_from * half + up, -1),
            np.where(leaves_pod, per_layer + (pod_from * half + up) * half + core, -1),
            np.where(leaves_pod, 2 * per_layer + (pod_to * half + up) * half + core, -1),
            np.where(leaves_edge, 3 * per_layer + edge_to * half + up, -1),
        ]
    )


def _random_paths(radix, source, target, pieces, rng):
    shape, half = (source.size, pieces), radix // 2
    return _links(
        radix,
        source[:, None],
        target[:, None],
        rng.integers(half, size=shape),
        rng.integers(half, size=shape),
    )


def _least_loaded_paths(radix, source, target, pieces, rng):
    """Piece after piece, round robin over the flows in random order, each on the path whose fullest
    link is least loaded; ties by chance.
    """
    half = radix // 2
    up, core = np.divmod(np.arange(half * half), half)
    every = _links(radix, source[:, None], target[:, None], up, core)  # (4, flows, paths)
    load = np.zeros(radix**3 + 1)  # the last entry is link -1, which stays empty
    chosen = np.empty((4, source.size, pieces), dtype=int)
    for piece in range(pieces):
        for flow in rng.permutation(source.size):
            fullest = load[every[:, flow]].max(axis=0)
            best = rng.choice(np.flatnonzero(fullest == fullest.min()))
            links = every[:, flow, best]
            chosen[:, flow, piece] = links
            load[links[links >= 0]] += 1
    return chosen


def _times(radix, links):
    """Each flow's time, its unit cut into equal pieces on the paths `links` (4, flows, pieces)."""
    pieces = links.shape[2]
    load = np.bincount(links[links >= 0], minlength=radix**3 + 1) / pieces
    load[-1] = 0.0
    # the host's own link carries the whole unit
    return np.maximum(1.0, load[links].max(axis=(0, 2)))


def _whole(name, value, least, most, expected):
    return int(scalar(name, number(name, value, least, most, expected=expected, whole=True)))


def permutation_slowdown(
    radix: Values, choice: str, trials: Values = 20, pieces: Values = 16, seed: Values = 0
) -> np.ndarray:
    """Times, in units of the ideal, of every flow of random permutations: an array (trials, hosts).

    `choice` is

    - "hashing": one path per flow, for good; `pieces` does not enter
    - "flowlets": `pieces` bursts one after another, each hashed anew, all flows in step; a flow's
      time is their mean
    - "spraying": `pieces` parts at the same time, each hashed by itself
    - "adaptive": `pieces` parts, each sent where the fullest link of the path is least loaded so
      far; with one piece, a whole flow placed once

    `radix` is the switches' ports k, even: k^3/4 hosts. The same seed gives the same permutations.
    Raises ValueError for an odd radix, an unknown choice, or more pieces than `MOST_PIECES`
    at once and `MOST_IN_ALL` in all.

    >>> slowest = permutation_slowdown(8, "hashing").max(axis=1)
    >>> 4 < float(slowest.mean()) < 5
    True
    """
    radix = _whole("radix", radix, 2, 32, "an even number of ports from 2 to 32")
    trials = _whole("trials", trials, 1, 10**5, "a whole number from 1 to 100,000")
    pieces = _whole("pieces", pieces, 1, 1024, "a whole number from 1 to 1,024")
    if radix % 2:
        raise ValueError(f"radix must be an even number of ports from 2 to 32, not {radix}")
    one_of("choice", choice, CHOICES)
    rng = np.random.default_rng(int(scalar("seed", count("seed", seed, least=0))))
    source = np.arange(radix**3 // 4)
    at_once = source.size * (1 if choice in ("hashing", "flowlets") else pieces)
    if at_once > MOST_PIECES or trials * source.size * pieces > MOST_IN_ALL:
        raise ValueError(
            f"pieces of all flows must be at most {MOST_PIECES:,} at once and {MOST_IN_ALL:,} in"
            f" all trials, not {at_once:,} and {trials * source.size * pieces:,}"
        )
    times = np.empty((trials, source.size))
    for trial in range(trials):
        target = rng.permutation(source.size)
        if choice == "hashing":
            times[trial] = _times(radix, _random_paths(radix, source, target, 1, rng))
        elif choice == "flowlets":
            times[trial] = np.mean(
                [
                    _times(radix, _random_paths(radix, source, target, 1, rng))
                    for _ in range(pieces)
                ],
                axis=0,
            )
        elif choice == "spraying":
            times[trial] = _times(radix, _random_paths(radix, source, target, pieces, rng))
        else:
            times[trial] = _times(radix, _least_loaded_paths(radix, source, target, pieces, rng))
    return times
