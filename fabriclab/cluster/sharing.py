"""Who gets how much of a link that several want: max-min fair shares, weights, caps, strict
priority, and a burst in time.

A flow here is anything that a scheduler tells apart: a virtual function of an adapter, a virtual
lane or traffic class, a tenant. Flows are fluids: no packets, no queues, no start-up. What queues
and pauses make of it is for `fabriclab.packets`.

Sources: Bertsekas & Gallager, Data Networks, 2nd ed. (1992), section 6.5.2, for max-min fairness
and its progressive filling; Parekh & Gallager 1993 for weighted processor sharing; chapter, level
5, network virtualisation.
"""

from dataclasses import dataclass

import numpy as np

from fabriclab.checks import (
    SMALLEST,
    Values,
    broadcastable,
    fraction,
    nonnegative,
    number,
    positive,
    scalar,
    scalar_or_array,
)

ROUNDING = 1e-12  # of what a flow began with: bytes fewer than this are none


def water_level(
    demands: Values, capacity: Values, weights: Values = 1.0, caps: Values = np.inf
) -> Values:
    """Bytes/s for each unit of weight at which a port of `capacity` bytes/s is full; inf if it
    never is.

    The level l solves ``sum_i min(demand_i, cap_i, w_i l) = C``: water poured into vessels as wide
    as the weights, closed at the top by what each flow wants or may have. Arguments as in
    `max_min`.

    >>> water_level([10, 30, 80], 100)     # 10 + 30 + 60
    60.0
    """
    limits, weights = _limits(demands, caps, weights)
    return _level(limits, weights, scalar("capacity", positive("capacity", capacity)))


def max_min(
    demands: Values,
    capacity: Values,
    weights: Values = 1.0,
    caps: Values = np.inf,
    priority: Values = 0,
) -> np.ndarray:
    """Weighted max-min fair rates of the flows on one port, bytes/s, as an array: nobody can have
    more without someone with less, per weight, losing.

    Each flow gets ``min(demand_i, cap_i, w_i l)`` at the `water_level` l.

    - `demands`: bytes/s that each flow could send, 0 or more, inf for all it can get; a list of one
      or more. `capacity`: bytes/s of the port.
    - `weights`: more than zero. What one leaves is shared among the others by their weights, so a
      weight is a guarantee:
      at least ``C w_i / sum(w)``, as of enhanced transmission selection (IEEE 802.1Qaz) or virtual
      lanes' arbitration.
    - `caps`: bytes/s that each may have at most, as a virtual function's rate limit. What a cap
      forbids stays unused if nobody else wants it.
    - `priority`: whole numbers. A higher one is served first, the others share what is left: the
      limit of ever larger weights.

    These three: one for all or one for each flow.

    Other words: fair share of bandwidth between tenants, water filling, weighted fair queueing,
    caps.

    >>> max_min([10, 30, 80], 100).tolist()
    [10.0, 30.0, 60.0]
    >>> max_min([np.inf, np.inf], 100, weights=[4, 1]).tolist(), max_min([np.inf, 0], 100,
    ...     caps=50).tolist()
    ([80.0, 20.0], [50.0, 0.0])
    """
    limits, weights = _limits(demands, caps, weights)
    left = scalar("capacity", positive("capacity", capacity))
    classes = _per_flow(
        "priority", number("priority", priority, expected="whole numbers", whole=True), len(limits)
    )
    rates = np.zeros(len(limits))
    for served in sorted(set(classes.tolist()), reverse=True):
        now = classes == served
        rates[now] = np.minimum(limits[now], weights[now] * _level(limits[now], weights[now], left))
        left = max(0.0, left - rates[now].sum())
    return rates


def max_min_network(
    demands: Values,
    capacities: Values,
    crosses: Values,
    weights: Values = 1.0,
    caps: Values = np.inf,
) -> np.ndarray:
    """Weighted max-min fair rates of flows over several links, bytes/s, as an array.

    All rates rise together, per weight, until a link is full or a flow has what it may; those stop,
    the others go on (progressive filling). So each flow that wants more has a bottleneck: a full
    link on which no other gets more, per weight.

    `capacities`: bytes/s of each link. `crosses`: a row for each link with 1 where a flow crosses
    it, else 0; every flow crosses one or more. The rest as in `max_min`. Weights count on every
    link alike.

    >>> # the one in the middle crosses both
    >>> max_min_network([np.inf] * 3, [100, 60], [[1, 1, 0], [0, 1, 1]]).tolist()
    [70.0, 30.0, 30.0]
    """
    limits, weights = _limits(demands, caps, weights)
    capacities = np.atleast_1d(positive("capacities", capacities))
    crosses = number("crosses", crosses, least=0, most=1, expected="rows of 0 and 1", whole=True)
    if capacities.ndim > 1 or np.shape(crosses) != (len(capacities), len(limits)):
        raise ValueError(
            f"crosses must have a row for each link and a column for each flow, ({capacities.size},"
            f" {len(limits)}), not shape {np.shape(crosses)}"
        )
    if not crosses.any(axis=0).all():
        raise ValueError(
            f"crosses must have a link for every flow; flow {int(np.argmin(crosses.any(axis=0)))}"
            " crosses none"
        )
    rates, rising = np.zeros(len(limits)), np.ones(len(limits), dtype=bool)
    while rising.any():
        width = crosses @ (weights * rising)
        used = width > 0
        room = np.maximum(0.0, capacities[used] - crosses[used] @ np.where(rising, 0.0, rates))
        levels = room / width[used]
        level = min(levels.min(), (limits / weights)[rising].min())
        full = crosses[used][levels <= level].any(axis=0)
        stop = rising & (full | (limits / weights <= level))
        rates[stop] = np.minimum(limits, weights * level)[stop]
        rising &= ~stop
    return rates


def shared_time(size: Values, burst: Values, capacity: Values, share: Values = 0.5) -> Values:
    """Seconds that a transfer takes when a burst begins with it on the same link: ``min(M/s, M + B)
    / C``.

    While both last, the transfer has the share s of the link; who is left alone has all of it. So
    it takes M/(sC), unless the burst ends first: then all bytes of both have passed, and none waits
    longer than the burst's own B/C.

    `size` M and `burst` B in bytes, `capacity` C in bytes/s, `share` s from 0 to 1: ``w / (w + v)``
    for weights w and v, 1/2 for two equal flows in one queue, 1 for strict priority, 0 for the
    burst's, ``1 - k`` where the burst is capped at k of the link.

    >>> from fabriclab.units import GB, ms, si
    >>> [si(shared_time(12 * GB, 100 * GB, 50 * GB, share), "s") for share in (1, 0.8, 0.5, 0)]
    ['240 ms', '300 ms', '480 ms', '2.24 s']
    """
    size, burst, capacity, share = (
        nonnegative("size", size),
        nonnegative("burst", burst),
        positive("capacity", capacity),
        fraction("share", share),
    )
    broadcastable(size=size, burst=burst, capacity=capacity, share=share)
    # with no share at all the burst goes first, and what has no bytes is done at once
    slowed = np.divide(size, np.maximum(share, SMALLEST))
    return scalar_or_array(np.minimum(slowed, np.add(size, burst)) / capacity)


@dataclass(frozen=True)
class SharedLink:
    """Transfers on one link in time: `edges`, seconds where a rate changes, from 0; `rates`,
    bytes/s between them, a tuple of one a flow for each gap; `finish`, seconds.
    """

    edges: tuple
    rates: tuple
    finish: tuple


def processor_sharing(
    sizes: Values,
    capacity: Values,
    starts: Values = 0.0,
    weights: Values = 1.0,
    caps: Values = np.inf,
    priority: Values = 0,
) -> SharedLink:
    """The `SharedLink` of transfers of `sizes` bytes each that begin at `starts` seconds: at any
    time, those that are there have `max_min` rates.

    What ends leaves its part to the others at once. `capacity`, `weights`, `caps` (more than zero)
    and `priority` as in `max_min`.

    >>> # alone, then both at 5, then alone
    >>> processor_sharing([100, 50], capacity=10, starts=[0, 5])
    SharedLink(edges=(0.0, 5.0, 15.0), rates=((10.0, 0.0), (5.0, 5.0)), finish=(15.0, 15.0))
    """
    sizes = np.atleast_1d(nonnegative("sizes", sizes))
    if sizes.ndim > 1 or not sizes.size:
        raise ValueError(f"sizes must be a list of one or more, not of shape {sizes.shape}")
    n = len(sizes)
    starts, capacity = (
        _per_flow("starts", nonnegative("starts", starts), n),
        scalar("capacity", positive("capacity", capacity)),
    )
    caps = _per_flow(
        "caps", number("caps", caps, least=SMALLEST, most=np.inf, expected="more than zero"), n
    )
    weights, priority = (
        _per_flow("weights", positive("weights", weights), n),
        _per_flow(
            "priority", number("priority", priority, whole=True, expected="whole numbers"), n
        ),
    )
    now, left, finish = 0.0, sizes.astype(float), np.where(sizes == 0, starts, np.inf)
    edges, history = [0.0], []
    while np.isinf(finish).any():
        there = (starts <= now) & np.isinf(finish)
        rates = max_min(np.where(there, np.inf, 0.0), capacity, weights, caps, priority)
        coming = np.min(starts[(starts > now)], initial=np.inf)
        done = now + np.divide(left, rates, out=np.full(n, np.inf), where=rates > 0)
        following = min(coming, done.min())
        left = np.where(done <= following, 0.0, left - rates * (following - now))
        finish[there & (left <= ROUNDING * sizes)] = following
        if following > now:
            edges.append(float(following))
            history.append(tuple(rates.tolist()))
        now = following
    return SharedLink(tuple(edges), tuple(history), tuple(finish.tolist()))


def isolation(
    size: Values,
    burst: Values,
    capacity: Values,
    share: Values = 0.8,
    flows: Values = 1.0,
    start: Values = 0.0,
) -> dict[str, SharedLink]:
    """The `SharedLink` of a transfer of `size` bytes, from 0 s, and a burst of `burst` bytes, from
    `start` s, under four rules, by name.

    - "one lane": each flow has the same; the burst has `flows` of them for each of the transfer's.
    - "rate limits": the transfer may have at most `share` of the link and the burst the rest, idle
      or not, as VFs with caps.
    - "weighted lanes": weights `share` and 1 - `share`; who is alone has all.
    - "strict priority": the transfer first.

    Other words: noisy neighbour, quality of service, checkpoint beside AllReduce, virtual lanes.

    >>> from fabriclab.units import GB, ms
    >>> {rule: round(link.finish[0] / ms) for rule, link
    ...     in isolation(12 * GB, 100 * GB, 50 * GB).items()}
    {'one lane': 480, 'rate limits': 300, 'weighted lanes': 300, 'strict priority': 240}
    """
    sizes = [
        scalar("size", nonnegative("size", size)),
        scalar("burst", nonnegative("burst", burst)),
    ]
    starts, capacity = (
        [0.0, scalar("start", nonnegative("start", start))],
        scalar("capacity", positive("capacity", capacity)),
    )
    share = scalar(
        "share",
        number(
            "share", share, least=1e-9, most=1 - 1e-9, expected="between 0 and 1, neither of them"
        ),
    )
    flows, split = scalar("flows", positive("flows", flows)), np.array([share, 1 - share])
    rules = {
        "one lane": {"weights": [1.0, flows]},
        "rate limits": {"caps": split * capacity},
        "weighted lanes": {"weights": split},
        "strict priority": {"priority": [1, 0]},
    }
    return {
        rule: processor_sharing(sizes, capacity, starts, **settings)
        for rule, settings in rules.items()
    }


def _limits(demands, caps, weights):
    """What each flow wants and may have, and its weight, as two arrays."""
    demands = np.atleast_1d(
        number("demands", demands, least=0.0, most=np.inf, expected="zero or more")
    )
    if demands.ndim > 1 or not demands.size:
        raise ValueError(f"demands must be a list of one or more, not of shape {demands.shape}")
    caps = _per_flow(
        "caps", number("caps", caps, least=0.0, most=np.inf, expected="zero or more"), len(demands)
    )
    return np.minimum(demands, caps), _per_flow(
        "weights", positive("weights", weights), len(demands)
    )


def _per_flow(name, value, n):
    if np.ndim(value) > 1 or (np.ndim(value) == 1 and len(value) != n):
        raise ValueError(
            f"{name} must be one number, or one for each of {n} flows, not of shape"
            f" {np.shape(value)}"
        )
    return np.broadcast_to(value, n)


def _level(limits, weights, capacity):
    if limits.sum() <= capacity:
        return np.inf
    order = np.argsort(limits / weights)
    before = np.concatenate([[0.0], np.cumsum(limits[order])[:-1]])
    rest = np.cumsum(weights[order][::-1])[::-1]
    # counting one more vessel as full raises the level while that one is under water, and lowers it
    # after
    return float(((capacity - before) / rest).max())
