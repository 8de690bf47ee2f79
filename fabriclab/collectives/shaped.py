"""Collectives where ranks are not all alike to each other: on the rings and lines of a torus or a
mesh, and over levels such as GPU, node and pod.
"""

import numpy as np

from fabriclab.checks import (
    Values,
    broadcastable,
    count,
    each,
    flag,
    nonnegative,
    positive,
    scalar,
    scalar_or_array,
)

GATHERS = {"all_gather": 1, "reduce_scatter": 1, "all_reduce": 2}


def _one_of_these(collective):
    if not isinstance(collective, str) or collective not in {*GATHERS, "all_to_all"}:
        raise ValueError(
            f"collective must be one of {', '.join(GATHERS)}, all_to_all, not {collective!r:.60}"
        )


def torus(
    collective: str,
    size: Values,
    sides: Values,
    alpha: Values,
    beta: Values,
    wrap: bool = True,
    at_once: bool = False,
) -> Values:
    """Seconds of a collective on a torus, or a mesh, of the given `sides`, with a link of `beta`
    each way between neighbours and both ports of an axis in use.

    `collective`: "all_gather", "reduce_scatter", "all_reduce" or "all_to_all"; `size` as
    nccl-tests counts it. `wrap`: whether an axis is closed, one for all axes or one each; a side of
    2 has one cable and is a line. Along one axis of k places:

    - AllGather and ReduceScatter in a ring: pieces of M/k both ways round, ``floor(k/2) alpha +
      (k-1)/(2k) M/beta``; on a line ``(k-1)(alpha + M/(k beta))``: an end has one port. AllReduce
      is one after the other.
    - AllToAll by the short way, bytes of the fullest link: ``floor(k/2) alpha + floor(k^2/4)/(2k)
      M/beta`` in a ring, ``(k-1) alpha + floor(k^2/4)/k M/beta`` on a line: no schedule is faster.

    Several axes one after another: a ReduceScatter leaves M/k for the next axis, and an AllGather
    goes back the same way; an AllToAll moves all of M along every axis. `at_once` cuts the buffer
    in as many parts as there are axes, each of which begins with another one, so that all links
    are busy; the phases wait for each other. Raises ValueError for another collective or sides.

    Sources: Thakur, Rabenseifner and Gropp 2005; Chan, Heimlich, Purkayastha and van de Geijn 2007;
    Dally and Towles 2004, chapter 3 (load of the fullest channel).

    >>> from fabriclab.units import GB, ms
    >>> for wrap in (True, False):
    ...     print([round(torus(kind, 1 * GB, (16,), 0, 50 * GB, wrap) / ms, 3)
    ...         for kind in ("all_gather", "all_to_all")])
    [9.375, 40.0]
    [18.75, 80.0]
    >>> [round(torus("all_reduce", 1 * GB, (4, 4), 0, 50 * GB, at_once=a) / ms, 3)
    ...     for a in (False, True)]
    [18.75, 9.375]
    """
    _one_of_these(collective)
    size, alpha, beta = (
        nonnegative("size", size),
        nonnegative("alpha", alpha),
        positive("beta", beta),
    )
    broadcastable(size=size, alpha=alpha, beta=beta)
    if not isinstance(sides, (tuple, list)) or not 1 <= len(sides) <= 8:
        raise ValueError(
            f"sides must be one to eight whole numbers, such as (8, 8, 16), not {sides!r:.60}"
        )
    sides = [scalar("sides", count("sides", k)) for k in sides]
    closed = list(wrap) if isinstance(wrap, (tuple, list)) else [wrap] * len(sides)
    if len(closed) != len(sides):
        raise ValueError(f"wrap must be one for all sides or one for each of {len(sides)}")
    closed = [scalar("wrap", flag("wrap", one)) and k > 2 for one, k in zip(closed, sides)]
    parts = len(sides) if flag("at_once", at_once) else 1
    total, left = 0.0, np.ones(parts)  # what share of its part each part still has
    for phase in range(len(sides)):
        axes = [(first + phase) % len(sides) for first in range(parts)]
        times = [
            _axis(collective, share * size / parts, sides[axis], closed[axis], alpha, beta)
            for share, axis in zip(left, axes)
        ]
        total = total + np.max(np.broadcast_arrays(*times), axis=0)
        if collective != "all_to_all":
            left = left / [sides[axis] for axis in axes]
    return scalar_or_array(GATHERS.get(collective, 1) * np.asarray(total))


def _axis(collective, size, k, closed, alpha, beta):
    """Seconds along one axis of `k` places, once."""
    steps = k // 2 if closed else k - 1
    ways = 2 if closed else 1
    across = k * k // 4 if collective == "all_to_all" else k - 1
    return steps * alpha + across / (ways * k) * size / beta


def hierarchical(collective: str, size: Values, levels: list[tuple], chunks: Values = 1) -> Values:
    """Seconds of a collective over `levels`, (ranks, alpha, beta) each, the innermost first: a ring
    in every group of a level, each rank on a port of its own.

    `collective`: "reduce_scatter" (inside first: level i has ``M_i = M/(n_1 … n_{i-1})`` to share
    out, in ``t_i = (n_i - 1)(alpha_i + M_i/(n_i beta_i))``), "all_gather" (the same phases from the
    outside in), "all_reduce" (one, then the other), or "all_to_all" (all of M once through every
    level, ``t_i = (n_i - 1)(alpha_i + M/(n_i beta_i))``: what goes far first goes to the rank of
    its own group that stands where it is going). `size` as nccl-tests counts it. One chunk:
    the phases add up. `chunks` c follow one another through the levels, which work at once on
    different ones: ``sum t_i + (c-1) max t_i``, with t_i those of M/c. Bandwidth then costs what
    the slowest level asks, and start-ups c times.

    With two levels and one chunk the AllReduce is `hierarchical_allreduce`. Raises ValueError for
    levels that are no such triples.

    Sources: Thakur, Rabenseifner and Gropp 2005; Cho et al. 2019, BlueConnect.

    >>> from fabriclab.units import GB, ms, us
    >>> levels = [(8, 0.5 * us, 450 * GB), (16, 1.5 * us, 50 * GB), (8, 3 * us, 25 * GB)]
    >>> [round(hierarchical("all_reduce", 6 * GB, levels, c) / ms, 1) for c in (1, 20)]
    [54.8, 30.4]
    >>> inside_out = [(8, 0, 450 * GB), (16, 0, 50 * GB)]
    >>> round(hierarchical("all_to_all", 1 * GB, inside_out) / ms, 2)    # 7/8 / 450 + 15/16 / 50
    20.69
    """
    _one_of_these(collective)
    size, chunks = nonnegative("size", size), count("chunks", chunks)
    broadcastable(size=size, chunks=chunks)
    phases, left = [], size / np.asarray(chunks)
    for level in each("levels", levels):
        if not isinstance(level, (tuple, list)) or len(level) != 3:
            raise ValueError(f"levels must be (ranks, alpha, beta) each, not {level!r:.60}")
        ranks = scalar("levels", count("levels", level[0]))
        alpha = scalar("levels", nonnegative("levels", level[1]))
        beta = scalar("levels", positive("levels", level[2]))
        phases.append((ranks - 1) * (alpha + left / ranks / beta))
        if collective != "all_to_all":
            left = left / ranks
        if len(phases) > 100:
            raise ValueError("levels must be at most 100")
    if not phases:
        raise ValueError("levels must be one or more")
    once = sum(phases) + (chunks - 1) * np.max(phases, axis=0)
    return scalar_or_array(np.asarray(GATHERS.get(collective, 1) * once))
