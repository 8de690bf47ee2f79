"""What it costs to break a deadlock."""

from dataclasses import dataclass

from fabriclab.checks import Values, broadcastable, count, nonnegative, positive, scalar


@dataclass(frozen=True)
class Recovery:
    """What a watchdog's cure costs: bytes `dropped`, bytes `resent`, and seconds of `stall` until
    all is sent again.
    """

    dropped: float
    resent: float
    stall: float


def watchdog(
    detection: Values,
    held: Values,
    rate: Values,
    timeout: Values = 0.0,
    flows: Values = 0,
    in_flight: Values = 0.0,
) -> Recovery:
    """The `Recovery` from a lock that a PFC watchdog breaks by dropping: ``stall = detection +
    timeout + resent / rate``.

    `detection` is how long a queue must stand paused, `held` the bytes dropped, `rate` the port's
    in bytes/s, `timeout` the senders' retransmission timeout. Under go-back-N each of `flows` that
    lost a packet sends all its `in_flight` bytes again, and at least what was dropped; leave both
    at 0 for selective repeat, which sends again what was dropped alone.
    The wait dwarfs the sending: SONiC's watchdog takes 200 ms by default, 1 MB at 50 GB/s takes 20
    us.

    >>> from fabriclab.units import GB, KB, MB, ms
    >>> cure = watchdog(200 * ms, 1 * MB, 50 * GB, timeout=4 * ms, flows=64, in_flight=250 * KB)
    >>> cure.resent / MB, round(cure.stall / ms, 2)
    (16.0, 204.32)
    """
    held, in_flight = (
        scalar(n, nonnegative(n, v)) for n, v in (("held", held), ("in_flight", in_flight))
    )
    flows = scalar("flows", count("flows", flows, least=0))
    detection, timeout = nonnegative("detection", detection), nonnegative("timeout", timeout)
    rate = positive("rate", rate)
    broadcastable(detection=detection, rate=rate, timeout=timeout)
    resent = max(held, flows * in_flight)
    return Recovery(held, resent, detection + timeout + resent / rate)
