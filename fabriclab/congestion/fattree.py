"""A permutation on a fat-tree: one flow from each host to another, under four ways to choose paths.

Simulated, one flow per host, no two to the same host: the fabric could carry it at full rate. Up
from its edge switch a flow chooses an aggregation switch and a core; the way down follows. Each
flow sends one unit, which takes time 1 on a link of its own; a link's load is its units, and a flow
is done when the fullest link on its way is. That is exact for the slowest flow, whose link never
rests, and at most a little high for the others.

Source: Al-Fares et al. 2008 for the tree; chapter, section on adaptive routing, for the choices.
"""

import numpy as np

from fabriclab.checks import count, number, scalar

MOST_PIECES = 2_000_000  # of flows that one call places, all trials together
CHOICES = ("hashing", "flowlets", "spraying", "adaptive")


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


def permutation_slowdown(radix, choice, trials=20, pieces=16, seed=0):
    """Times, in units of the ideal, of every flow of random permutations: an array (trials, hosts).

    `choice` is

    - "hashing": one path per flow, for good; `pieces` does not enter
    - "flowlets": `pieces` bursts one after another, each hashed anew, all flows in step; a flow's
      time is their mean
    - "spraying": `pieces` parts at the same time, each hashed by itself
    - "adaptive": `pieces` parts, each sent where the fullest link of the path is least loaded so
      far; with one piece, a whole flow placed once

    `radix` is the switches' ports k, even: k^3/4 hosts. The same seed gives the same permutations.
    Raises ValueError for an odd radix or an unknown choice.

    >>> slowest = permutation_slowdown(8, "hashing").max(axis=1)
    >>> 4 < float(slowest.mean()) < 5
    True
    """
    radix = int(
        number(
            "radix",
            radix,
            least=2,
            most=32,
            expected="an even number of ports from 2 to 32",
            whole=True,
        )
    )
    trials = int(
        number(
            "trials", trials, least=1, most=1e6, expected="a whole number, 1 or more", whole=True
        )
    )
    pieces = int(
        number(
            "pieces",
            pieces,
            least=1,
            most=1024,
            expected="a whole number from 1 to 1,024",
            whole=True,
        )
    )
    if radix % 2:
        raise ValueError(f"radix must be an even number of ports from 2 to 32, not {radix}")
    if choice not in CHOICES:
        raise ValueError(f"choice must be one of {', '.join(CHOICES)}, not {choice!r}")
    placed = trials * radix**3 // 4 * (1 if choice == "hashing" else pieces)
    if placed > MOST_PIECES:
        raise ValueError(
            f"trials, hosts and pieces must multiply to at most {MOST_PIECES:,}, not {placed:,}"
        )
    rng, source = (
        np.random.default_rng(int(scalar("seed", count("seed", seed, least=0)))),
        np.arange(radix**3 // 4),
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
