"""What ``ethtool -S`` calls the counters that matter here: pauses by priority, damage on the cable,
drops, marks. Every driver has its own names.

mlx5: rx_prio3_pause (frames) and rx_prio3_pause_duration (us), the cable's behind _phy; bnxt:
rx_pfc_ena_frames_pri3 and pfc_pri3_rx_duration_us; ice and i40e: rx_priority_3_xoff, with .nic
behind or port. in front.
"""

import re
from collections.abc import Iterator

from fabriclab.units import us

_PRIORITY = (  # (pattern with way and priority, unit: None counts frames)
    (re.compile(r"(?P<way>[rt]x)_prio(?P<priority>\d+)_pause"), None),
    (re.compile(r"(?P<way>[rt]x)_prio(?P<priority>\d+)_pause_duration"), us),
    (re.compile(r"(?P<way>[rt]x)_pfc_ena_frames_pri(?P<priority>\d+)"), None),
    (re.compile(r"pfc_pri(?P<priority>\d+)_(?P<way>[rt]x)_duration_us"), us),
    (re.compile(r"(?:port\.)?(?P<way>[rt]x)_priority_(?P<priority>\d+)_xoff(?:\.nic)?"), None),
)
_GLOBAL = re.compile(
    r"(?P<way>[rt]x)_(?:pause_ctrl_phy|global_pause|pause_frames|flow_control_xoff|pfc_frames)"
    r"|(?:port\.)?(?:link_xoff_(?P<port>[rt]x)|(?P<nic>[rt]x)_link_xoff\.nic)"
)
_ERRORS = (  # (kind, pattern, what it means), the gravest first
    (
        "damage",
        r"(?:port\.)?rx_(?:crc_errors|symbol_err(?:ors)?|pcs_symbol_err|fcs_err(?:_frames)?"
        r"|align_err(?:_frames)?|illegal_bytes|code_err_frames|fec_uncorrectable\w*"
        r"|undersize_pkts|fragments|jabbers|undrsz_frames|jbr_frames)(?:_phy|\.nic)?"
        r"|illegal_bytes\.nic",
        "packets arrived damaged: clean, reseat or replace the cable",
    ),
    (
        "down",
        r"(?:port\.)?(?:link_down_events(?:_phy)?|mac_(?:local|remote)_faults(?:\.nic)?)"
        r"|module_(?:unplug|bad_shorted|bus_stuck)",
        "the link went down or lost its signal",
    ),
    (
        "storm",
        r"tx_pause_storm_(?:warning|error)_events",
        "this card went on pausing so long that its own watchdog noticed, as a receiver that hangs"
        " does",
    ),
    (
        "lost",
        r"(?:port\.)?(?:[rt]x_discards(?:_phy|\.nic)?|rx_prio\d_(?:buf_)?discards?|rx_out_of_buffer"
        r"|rx_missed_errors|rx_buf_discard\w*|[rt]x_(?:total|stat)_(?:\w+_)?discards?\w*"
        r"|rx_discard_(?:bytes|packets)_cos\d|rx_steer_missed_packets)",
        "packets were dropped all the same; on a lossless priority the headroom is too small or its"
        " PFC is off at one end",
    ),
    ("hot", r"module_high_temp", "the module in the port was too hot: air, dust, or the module"),
    (
        "dropped",
        r"(?:port\.)?[rt]x_(?:dropped|errors_phy)(?:\.nic)?|tx_dropped_link_down(?:\.nic)?",
        "packets were dropped",
    ),
    (
        "marked",
        r"(?:rx_)?ecn_marked?(?:_packets|_pkts)?|rx_ecn_mark"
        r"|np_(?:cnp_sent|ecn_marked_roce_packets)"
        r"|rp_cnp_handled|rx_cnp_pkts|rx_roce_cnp\w*",
        "packets were marked: a queue on the way is filling, and senders slow down",
    ),
)
_PACKETS = re.compile(r"rx_packets(?:_phy)?|(?:port\.)?rx_unicast(?:\.nic)?|rx_ucast_packets")
RARE = 10**8  # packets of 1,500 bytes between two that IEEE 802.3's 10^-12 allows to be damaged
_KINDS = [(kind, re.compile(pattern), meaning) for kind, pattern, meaning in _ERRORS]
NAMES = "|".join(
    [re.sub(r"[(][?]P<\w+>", "(?:", one.pattern) for one, _ in _PRIORITY]
    + [re.sub(r"[(][?]P<\w+>", "(?:", _GLOBAL.pattern)]
    + [pattern for _, pattern, _ in _ERRORS]
)


def meaning(
    counter: str,
) -> tuple[None | int | str, ...] | tuple[float | int | str, ...] | tuple[int | str, ...] | None:
    """(field, way or kind, priority, unit) of a counter, None for one of no interest.

    >>> meaning("rx_prio3_pause_duration")
    ('duration', 'rx', 3, 1e-06)
    """
    for pattern, unit in _PRIORITY:
        if found := pattern.fullmatch(counter):
            return "duration" if unit else "pause", found["way"], int(found["priority"]), unit or 1
    if found := _GLOBAL.fullmatch(counter):
        return "global", found["way"] or found["port"] or found["nic"], None, 1
    for kind, pattern, _ in _KINDS:
        if pattern.fullmatch(counter):
            return "error", kind, None, 1
    return ("packets", None, None, 1) if _PACKETS.fullmatch(counter) else None


def told(errors: tuple[tuple, ...], packets: int | None = None) -> Iterator:
    """(kind, sentence) of each kind of error that was counted, the gravest first, but for what is
    `usual`; `packets` that arrived meanwhile, None where not printed.
    """
    by = _by_kind(errors)
    for kind, _, says in _KINDS:
        if kind in by and not _usual(kind, by[kind], packets):
            yield kind, f"{_listed(by[kind])}: {says}"


def usual(errors: tuple[tuple, ...], packets: int | None = None) -> Iterator:
    """Of what was counted since the driver was loaded, what a sound port counts too: the link that
    came up once, and damage within what IEEE 802.3 allows, one bit in 10^12, some one packet in
    10^8.
    """
    for kind, counts in _by_kind(errors).items():
        if kind == "down" and _usual(kind, counts, packets):
            yield f"{_listed(counts)}: as when the driver was loaded"
        elif _usual(kind, counts, packets):
            yield f"{_listed(counts)} of {packets:,} packets: less than one in 10^8, as allowed"


def _by_kind(errors):
    by = {}
    for counter, value in errors:
        what = meaning(counter)
        if value and what and what[0] == "error":
            by.setdefault(what[1], []).append((counter, value))
    return by


def _usual(kind, counts, packets):
    if kind == "down":
        return max(value for _, value in counts) <= 1
    most = max(value for _, value in counts)
    return kind == "damage" and packets is not None and most * RARE <= packets


def _listed(counts):
    return ", ".join(f"{counter} {value:,}" for counter, value in counts)
