"""Headers on the wire: what an Ethernet frame costs beside its payload, stack by stack, and the
bits of the ESUN header.
"""

from dataclasses import dataclass

ETHERNET_FRAME = 14 + 4  # bytes: addresses and type, then the check sequence: IEEE 802.3
ETHERNET_PREAMBLE = 8  # bytes ahead of each frame, start delimiter included: IEEE 802.3
ETHERNET_GAP = 12  # bytes of time that the wire rests between frames: IEEE 802.3
VLAN_TAG = 4  # bytes of one tag: IEEE 802.1Q
ETHERNET_LEAST = (
    46  # bytes: what a frame is padded to between its header and its check sequence: IEEE 802.3
)


@dataclass(frozen=True)
class HeaderStack:
    """What stands between an Ethernet header and the payload: `inside` bytes."""

    name: str
    inside: int
    source: str


HEADER_STACKS = (
    HeaderStack(
        "ESUN",
        4,
        "OCP ESUN base specification 1.0, as the field guide and the trade press report it (as of"
        " November 2026): an extension header of 4 bytes in place of IP",
    ),
    HeaderStack("IPv4", 20, "RFC 791: header without options"),
    HeaderStack("IPv6", 40, "RFC 8200: header without extensions"),
    HeaderStack(
        "RoCEv2",
        20 + 8 + 12 + 4,
        "IPv4, UDP (RFC 768), base transport header and invariant CRC (IBTA specification, annex"
        " 17); the first packet of a write has 16 more",
    ),
)

# Fields of the ESUN extension header, bits: field guide. Version, user-defined and reserved bits
# share the rest.
ESUN_FIELDS = {"CoS": 3, "ECN": 2, "Flow Label": 16, "TTL": 4}
