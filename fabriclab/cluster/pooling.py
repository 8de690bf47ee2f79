"""Memory in a pool: what composing nodes over CXL saves in memory, and what every access to the
pool pays for it.

A pool of memory softens the edge of a node, but a load that crosses it still pays a start-up, and a
stream a bandwidth: the alpha-beta bill of any other wire. Loads that wait for one another pay the
start-up each time; a stream pays it once, and may even gain, as two paths carry it side by side.

Sources: chapter, "Disaggregated and composable architectures"; Li et al. 2023 (Pond, ASPLOS) for
latencies and stranding.
"""

import numpy as np

from fabriclab.checks import (
    Values,
    broadcastable,
    fraction,
    nonnegative,
    number,
    positive,
    scalar_or_array,
)


def pooled_loads(loads: Values, share: Values, alpha: Values, pool_alpha: Values) -> Values:
    """Seconds of `loads` that wait for one another, a `share` of them to the pool: ``loads · ((1-s)
    alpha + s pool_alpha)``.

    `alpha` and `pool_alpha` are seconds a load, at home and in the pool.

    >>> from fabriclab.units import ms, ns
    >>> [round(pooled_loads(1e6, s, 85 * ns, 165 * ns) / ms, 3) for s in (0, 0.25, 1)]
    [85.0, 105.0, 165.0]
    """
    given = {
        "loads": nonnegative("loads", loads),
        "share": fraction("share", share),
        "alpha": nonnegative("alpha", alpha),
        "pool_alpha": nonnegative("pool_alpha", pool_alpha),
    }
    broadcastable(**given)
    loads, share, alpha, pool_alpha = given.values()
    return scalar_or_array(loads * ((1 - share) * alpha + share * pool_alpha))


def pooled_stream(
    size: Values, share: Values, alpha: Values, beta: Values, pool_alpha: Values, pool_beta: Values
) -> Values:
    """Seconds to stream `size` bytes, a `share` of them from the pool, both at once: ``max(a +
    (1-s) n/b, a' + s n/b')``.

    `alpha`, `beta` at home and `pool_alpha`, `pool_beta` of the pool, as in
    `transport.transfer_time`; a side without bytes costs nothing. Long streams are fastest at ``s =
    b'/(b + b')``, where both end together: there a pool is bandwidth.

    >>> from fabriclab.units import GB, ms, ns
    >>> [round(pooled_stream(30 * GB, s, 85 * ns, 300 * GB, 165 * ns, 64 * GB) / ms) for s
    ...     in (0, 64 / 364, 0.5, 1)]
    [100, 82, 234, 469]
    """
    given = {
        "size": nonnegative("size", size),
        "share": fraction("share", share),
        "alpha": nonnegative("alpha", alpha),
        "beta": positive("beta", beta),
        "pool_alpha": nonnegative("pool_alpha", pool_alpha),
        "pool_beta": positive("pool_beta", pool_beta),
    }
    broadcastable(**given)
    size, share, alpha, beta, pool_alpha, pool_beta = given.values()
    home, pool = (1 - share) * size, share * size
    return scalar_or_array(
        np.maximum(
            np.where(home > 0, alpha + home / beta, 0.0),
            np.where(pool > 0, pool_alpha + pool / pool_beta, 0.0),
        )
    )


def stranded(demands: Values) -> Values:
    """Share of the memory that a pool would not need to buy: ``1 - max_t sum_i d / (n max d)``.

    `demands` has one row a moment and one column a node, bytes. Nodes that are all alike must each
    hold the largest demand of all; a pool only the largest sum of any one moment. Raises ValueError
    unless it is such a table with a demand in it.

    >>> stranded([[4, 1, 1, 2], [1, 4, 1, 1]])     # 4 nodes of 4, or a pool of 8
    0.5
    """
    table = number(
        "demands",
        demands,
        least=0.0,
        expected="a table of zero or more bytes, one row per moment and one column per node",
    )
    if np.ndim(table) != 2 or not np.size(table) or not table.max() > 0:
        raise ValueError(
            "demands must be a table with one row per moment and one column per node, and some"
            f" demand in it, not of shape {np.shape(table)}"
        )
    return scalar_or_array(1 - table.sum(axis=1).max() / (table.shape[1] * table.max()))
