"""Gradients in buckets: what of their AllReduces runs past the end of the backward pass.

Sources: chapter, level 5; Li et al. 2020 (PyTorch Distributed, VLDB), section 3.2, for buckets.
"""

from dataclasses import dataclass

import numpy as np

from fabriclab.checks import (
    Values,
    broadcastable,
    fraction,
    nonnegative,
    number,
    scalar,
    scalar_or_array,
)

MOST_BUCKETS = 100_000


@dataclass(frozen=True)
class BucketedStep:
    """A backward pass whose gradients travel bucket by bucket; seconds from the start of the pass,
    tuples with one entry a bucket.

    `ready` is when a bucket's gradients are there, `start` and `finish` those of its AllReduce.
    `exposed` is what runs past the end of the pass, `total` the pass and that, `busy` the seconds
    that the link works.
    """

    backward: float
    ready: tuple
    start: tuple
    finish: tuple
    exposed: float
    total: float
    busy: float


def bucketed_step(
    backward: Values, buckets: Values, allreduce_times: Values, ready: Values | None = None
) -> BucketedStep:
    """The `BucketedStep` of a pass of `backward` seconds: ``finish_k = max(ready_k, finish_(k-1)) +
    t_k``, in order on one link.

    `buckets` is how many; `allreduce_times` seconds each, one number for all or one for every
    bucket; `ready` when each is complete, within the pass. Left out, equal buckets: ``ready_k = k/n
    · backward``, the last at the very end. Then

    - one bucket hides nothing: exposed is the whole AllReduce;
    - n buckets of C/n seconds expose ``max(C/n, C - backward (n-1)/n)``;
    - which tends to the chapter's ``max(0, C - backward)``; but a ring's start-ups come with every
      bucket, so C grows with n.

    Raises ValueError for more than 100,000 buckets, lists of another length, or a bucket ready
    outside the pass.

    Other words: overlap gradient buckets with the backward pass, DDP, exposed communication.

    >>> from fabriclab.units import ms, si
    >>> [si(bucketed_step(500 * ms, n, 300 * ms / n).exposed, "s") for n in (1, 4, 100)]
    ['300 ms', '75 ms', '3 ms']
    """
    backward = scalar("backward", nonnegative("backward", backward))
    n = int(
        scalar(
            "buckets",
            number(
                "buckets",
                buckets,
                least=1,
                most=MOST_BUCKETS,
                expected=f"a whole number from 1 to {MOST_BUCKETS:,}",
                whole=True,
            ),
        )
    )
    times = _per_bucket("allreduce_times", nonnegative("allreduce_times", allreduce_times), n)
    if ready is None:
        moments = [backward * (k / n) for k in range(1, n + 1)]
    else:
        moments = _per_bucket(
            "ready",
            number(
                "ready",
                ready,
                least=0.0,
                most=backward,
                expected=f"within the backward pass, 0 to {backward:g} s",
            ),
            n,
        )
    start, finish, free = [], [], 0.0
    for there, time in zip(moments, times):
        start.append(max(there, free))
        free = start[-1] + time
        finish.append(free)
    total = max(backward, free)
    return BucketedStep(
        backward,
        tuple(moments),
        tuple(start),
        tuple(finish),
        total - backward,
        total,
        float(sum(times)),
    )


def _per_bucket(name, values, n):
    if np.ndim(values) > 1 or (np.ndim(values) == 1 and len(values) != n):
        raise ValueError(
            f"{name} must be one number, or one for each of {n} buckets, not of shape"
            f" {np.shape(values)}"
        )
    return np.broadcast_to(values, n).tolist()


def exposed_overlap(communication: Values, compute: Values, efficiency: Values = 1.0) -> Values:
    """Seconds exposed when overlap hides only a share of what it could: ``comm - efficiency ·
    min(comm, compute)``.

    `efficiency` 0 to 1; 1 is `collectives.exposed_time`. An older edition of the chapter has 60 to
    80 %.

    >>> from fabriclab.units import ms, si
    >>> [si(exposed_overlap(300 * ms, 500 * ms, e), "s") for e in (0.6, 0.8, 1.0)]
    ['120 ms', '60 ms', '0 s']
    """
    communication, compute = (
        nonnegative("communication", communication),
        nonnegative("compute", compute),
    )
    efficiency = fraction("efficiency", efficiency)
    broadcastable(communication=communication, compute=compute, efficiency=efficiency)
    return scalar_or_array(communication - efficiency * np.minimum(communication, compute))
