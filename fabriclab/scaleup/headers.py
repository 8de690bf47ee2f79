"""What of a packet is payload: Ethernet under IP, under RoCEv2 and under ESUN, and many small
transactions in one packet.

Scale-up moves cache lines and flags, tens to hundreds of bytes at a time, where a header of IP is
as large as what it carries. Two remedies: a shorter header (ESUN), or one header for several
transactions (packing, SUE-T).

Sources: IEEE 802.3; RFC 791, 8200, 768; IBTA annex 17; field guide, ESUN and SUE-T.
"""

import numpy as np

from fabriclab import catalog
from fabriclab.checks import (
    Values,
    broadcastable,
    count,
    flag,
    nonnegative,
    positive,
    scalar,
    scalar_or_array,
)

STACKS = tuple(stack.name for stack in catalog.HEADER_STACKS)


def header_bytes(stack: str) -> int:
    """Bytes of a frame's time on the wire that are not payload: 38 of Ethernet and what `stack` has
    inside.

    `stack` is "ESUN", "IPv4", "IPv6" or "RoCEv2".

    Other words: framing, preamble, encapsulation, overhead.

    >>> [header_bytes(stack) for stack in STACKS]
    [42, 58, 78, 82]
    """
    return _around(0, True) + _inside(stack)


def _around(tags, wire):
    """Bytes of Ethernet round what a frame holds; on the wire, preamble and gap too."""
    frame = catalog.ETHERNET_FRAME + tags * catalog.VLAN_TAG
    return frame + (catalog.ETHERNET_PREAMBLE + catalog.ETHERNET_GAP if wire else 0)


def _inside(stack):
    for known in catalog.HEADER_STACKS:
        if isinstance(stack, str) and known.name == stack:
            return known.inside
    raise ValueError(f"stack must be one of {', '.join(STACKS)}, not {stack!r}")


def payload_efficiency(
    size: Values,
    stack: str,
    transactions: Values = 1,
    command: Values = 0,
    *,
    mtu: Values | None = None,
    tags: Values = 0,
    wire: bool = True,
) -> Values:
    """Share of a packet's time on the wire that is data: ``k s / (38 + max(46, H + k (s + c)))``.

    `transactions` k of `size` s bytes each, more than zero, travel in one packet behind H bytes of
    headers of `stack`, each with `command` c bytes of its own that say what it is. Below 46 bytes
    Ethernet pads.

    With `mtu`, the most bytes that a frame holds between its Ethernet header and check sequence
    (1500, 9000), a message of `size` is cut into ``ceil(s / (mtu - H))`` packets, each with headers
    of its own; several transactions have to fit one. Without it the path takes any packet. `tags`
    are VLAN tags of 4 bytes. `wire=False` counts the frame alone, without preamble and gap. The
    headers' share is 1 minus this.

    Other words: header overhead, goodput of small packets, framing.

    >>> [round(100 * payload_efficiency(64, stack), 1) for stack in STACKS]
    [60.4, 52.5, 45.1, 43.8]
    >>> round(100 * payload_efficiency(64, "ESUN", transactions=16), 1)
    96.1
    >>> [round(100 * payload_efficiency(1e6, "RoCEv2", mtu=mtu), 1) for mtu in (1500, 4200, 9000)]
    [94.7, 98.1, 99.1]
    """
    size, k, command = (
        positive("size", size),
        count("transactions", transactions),
        nonnegative("command", command),
    )
    tags, wire = count("tags", tags, least=0), scalar("wire", flag("wire", wire))
    inside, around = _inside(stack), _around(tags, wire)
    room = np.inf if mtu is None else count("mtu", mtu, least=inside + 1) - inside
    broadcastable(size=size, transactions=k, command=command, mtu=room, tags=tags)
    held = k * (size + command)
    if np.any((np.asarray(held) > room) & ((np.asarray(k) > 1) | (np.asarray(command) > 0))):
        raise ValueError(
            f"mtu must hold the {np.max(held + inside):g} bytes of one packet, not {mtu!r}"
        )
    full = np.ceil(held / np.asarray(room)) - 1 if mtu is not None else 0.0
    last = held - full * np.where(full > 0, room, 0.0)
    spent = around + np.maximum(catalog.ETHERNET_LEAST, inside + last)
    if mtu is not None:
        spent = spent + full * (around + np.maximum(catalog.ETHERNET_LEAST, inside + room))
    return scalar_or_array(k * size / spent)


def packing_delay(transactions: Values, size: Values, rate: Values) -> Values:
    """Seconds that the first of k transactions waits for the last, where `rate` bytes per second of
    them are made: ``(k-1) s / rate``.

    A packer that conserves work does not wait: it takes what is there when the port is free.

    >>> from fabriclab.units import GB, ns
    >>> round(packing_delay(16, 64, 1 * GB) / ns)
    960
    """
    size, k, rate = (
        nonnegative("size", size),
        count("transactions", transactions),
        positive("rate", rate),
    )
    broadcastable(size=size, transactions=k, rate=rate)
    return scalar_or_array((k - 1) * size / rate)


def spare_bits(fields: dict[str, int] | None = None, width: Values = 32) -> int:
    """Bits that the fields of a header leave: ``width - sum``. Without `fields`, a dict of bits by
    name, those of ESUN's.

    >>> spare_bits()
    7
    """
    fields = catalog.ESUN_FIELDS if fields is None else fields
    if not isinstance(fields, dict):
        raise ValueError(f"fields must be a dict of bits by name, not {fields!r}")
    used, width = (
        sum(count(f"fields[{name!r}]", bits) for name, bits in fields.items()),
        scalar("width", count("width", width)),
    )
    if used > width:
        raise ValueError(f"fields must fit {width:g} bits, not take {used:g}")
    return int(width - used)
