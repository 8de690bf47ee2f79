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


@dataclass(frozen=True)
class RdmaStack:
    """How RDMA travels: `headers` (name to bytes of a packet's time on the wire), what `keeps` a
    buffer from overflowing ("credits", "pauses" or nothing), and how a sender `repeats` what was
    lost.
    """

    name: str
    headers: dict[str, int]
    keeps: str
    repeats: str
    source: str


_ETHERNET = {"Ethernet": ETHERNET_FRAME + ETHERNET_PREAMBLE + ETHERNET_GAP, "IPv4": 20}
_ROCE = _ETHERNET | {"UDP": 8, "BTH": 12, "ICRC": 4}

RDMA_STACKS = (
    RdmaStack(
        "InfiniBand",
        {"LRH": 8, "BTH": 12, "ICRC": 4, "VCRC": 2},
        "credits",
        "go-back-N",
        "IBTA specification, volume 1: inside one subnet, between the first packet of a message and"
        " the last; go-back-N is the reliable connection's as specified",
    ),
    RdmaStack("RoCEv2, PFC", _ROCE, "pauses", "go-back-N", "IBTA annex 17; Guo et al. 2016"),
    RdmaStack(
        "RoCEv2, no PFC", _ROCE, "", "selective", "the same packets; IRN (Mittal et al. 2018)"
    ),
    RdmaStack(
        "iWARP",
        _ETHERNET | {"TCP": 20, "MPA": 6, "DDP, RDMAP": 14},
        "",
        "selective",
        "RFC 5040, 5041 (tagged, 14 bytes), 5044 (length and CRC, no markers, no padding); RFC 9293"
        " without options; RFC 2018 (selective acknowledgement)",
    ),
)

# Fields of the ESUN extension header, bits: field guide. Version, user-defined and reserved bits
# share the rest.
ESUN_FIELDS = {"CoS": 3, "ECN": 2, "Flow Label": 16, "TTL": 4}
