"""Other ways to what a model gives, too slow or too idle for the package."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np


def _ways(flows, paths, most):
    """Assignments in which no path has more than `most` flows, counted: the coefficient by Miller's
    recurrence for powers.
    """
    weights = [Fraction(1, math.factorial(i)) for i in range(most + 1)]
    powers = [Fraction(1)]
    for j in range(1, flows + 1):
        powers.append(
            sum(
                (i * (paths + 1) - j) * weights[i] * powers[j - i]
                for i in range(1, min(most, j) + 1)
            )
            / j
        )
    return powers[flows] * math.factorial(flows)


def fullest_path_exact(flows, paths):
    """Odds of the fullest path as exact fractions: ``{k: P(max = k)}``, for up to 64 flows.

    >>> odds = fullest_path_exact(8, 4)
    >>> sum(p for k, p in odds.items() if k >= 4)
    Fraction(3677, 8192)
    """
    least = -(-flows // paths)
    ways = [0, *(_ways(flows, paths, k) for k in range(least, flows + 1))]
    return {
        least + i: Fraction(more - less, paths**flows)
        for i, (less, more) in enumerate(zip(ways, ways[1:]))
    }


def relabel(topology, order):
    """The same network with old host i called ``order[i]``: nothing measured may change by it."""
    order = np.asarray(order)
    names = np.concatenate([order, np.arange(topology.hosts, topology.vertices)])
    back = np.argsort(order)
    a, b = names[topology.a], names[topology.b]
    some = topology.representatives
    return replace(
        topology,
        a=np.minimum(a, b),
        b=np.maximum(a, b),
        position=topology.position[back],
        node=None if topology.node is None else topology.node[back],
        representatives=None if some is None else order[some],
    )
