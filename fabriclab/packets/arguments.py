"""What `run` reads its arguments by."""

from fabriclab.checks import count, each, number, scalar
from fabriclab.congestion import Dcqcn
from fabriclab.packets.settings import Hpcc


def bit_errors(ber, packet):
    """The bit error ratio; ValueError where hardly a packet would come through."""
    ber = scalar(
        "ber", number("ber", ber, least=0.0, most=0.1, expected="a bit error ratio from 0")
    )
    if ber and (spoilt := 1 - (1 - ber) ** (8 * packet)) > 0.9:
        raise ValueError(
            f"ber must spoil at most nine in ten packets of {packet:,} bytes, not {spoilt:.3f}"
        )
    return ber


def one_of(name, value, names):
    if not isinstance(value, str) or value not in names:
        raise ValueError(f"{name} must be one of {', '.join(names)}, not {value!r}")
    return names.index(value)


def below(name, value, limit):
    return int(
        number(
            name,
            value,
            least=0,
            most=limit - 1,
            expected=f"whole numbers below {limit:,}",
            whole=True,
        )
    )


def channel(value, lanes):
    ends = tuple(
        int(scalar("watch", count("watch", end, least=0)))
        for end in each("watch", value, "channels (from, to) or (from, to, lane)")
    )
    if len(ends) not in (2, 3) or ends[2:] >= (len(lanes.weights),):
        raise ValueError(
            "watch must be channels (from, to) or (from, to, lane) with a lane below"
            f" {len(lanes.weights)}, not {value!r}"
        )
    return ends


def seconds(name, value):
    return scalar(
        name,
        number(
            name,
            value,
            least=1e-12,
            most=1e5,
            expected="one number of seconds, from 1 ps to 100,000 s",
        ),
    )


def kind(congestion, records):
    for kind, settings in (
        (records.PLAIN, type(None)),
        (records.DCQCN, Dcqcn),
        (records.HPCC, Hpcc),
    ):
        if isinstance(congestion, settings):
            return kind
    raise ValueError(
        f"congestion must be None, congestion.Dcqcn(...) or packets.Hpcc(...), not {congestion!r}"
    )
