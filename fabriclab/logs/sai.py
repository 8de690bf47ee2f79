"""The counters of a switch's own chip, by port and priority, as its diagnostic shell prints them:
``a_pause_mac_ctrl_frames_received = 1234``, under "Prio 3" rx_pause and rx_pause_duration.

What they count is since boot; SONiC's table of the same port is a difference against a kept
reading.
"""

import re

from fabriclab.logs.pauses import PRIORITIES, Port, Reading, report, signs
from fabriclab.logs.source import Part, lines, name, refuse, shorten
from fabriclab.units import us

__all__ = ["SIGN", "TOOL", "read", "report", "signs"]

TOOL = "switch chip counters"
SIGN = re.compile(
    r"^\s*(?:Port 0x[0-9a-f]+ - .*Counters Group\s*$|a_\w+_(?:ok|received|xmitted) = \d)"
)
_PORT = re.compile(r"^\s*Port (0x[0-9a-f]{1,16}) - ")
_PRIORITY = re.compile(r"^\s*Prio (\d)\s*$")
_FIELD = re.compile(r"^\s*([a-z]\w{1,60}) = (\S{1,40})\s*$")
_FIELDS = ("rx_pause", "tx_pause", "rx_pause_duration", "tx_pause_duration")
_LINK = {
    "a_pause_mac_ctrl_frames_received": "link_rx",
    "a_pause_mac_ctrl_frames_transmitted": "link_tx",
}
_ERRORS = (
    "a_frame_check_sequence_errors",
    "a_alignment_errors",
    "a_symbol_error_during_carrier",
    "dot3stats_fcs_errors",
    "ether_stats_drop_events",
)


def read(path: Part) -> Reading:
    """A `pauses.Reading` of a switch chip's counters at `path`.

    Raises ValueError naming file, line and reason for a value that is not a count, and for a
    listing without pauses or errors.
    """
    ports, priority, last = {}, None, 0
    now = None
    for line in lines(path):
        last = line.number
        if found := _PORT.match(line.text):
            now, priority = found[1], None
        elif found := _PRIORITY.match(line.text):
            priority = int(found[1])
        elif found := _FIELD.match(line.text):
            key = found[1]
            if not (key in _FIELDS and priority is not None or key in _LINK or key in _ERRORS):
                continue
            if not found[2].isdecimal() or not line.whole:
                refuse(path, last, f"{key} is {shorten(found[2])}: not a count, or cut")
            of = ports.setdefault(now, {"line": last, "name": now})
            if key in _FIELDS:
                of[key, priority] = int(found[2])
            else:
                of[key] = int(found[2])
    if not ports:
        refuse(path, max(last, 1), "no counter of pauses or errors in it")
    return Reading(name(path), "switch chip", tuple(map(_port, ports.values())))


def _port(found):
    def of(key, unit=1):
        values = (found.get((key, priority)) for priority in range(PRIORITIES))
        return tuple(None if value is None else value * unit for value in values)

    return Port(
        found["line"],
        found["name"],
        of("rx_pause"),
        of("tx_pause"),
        of("rx_pause_duration", us),
        of("tx_pause_duration", us),
        errors=tuple((key, found[key]) for key in _ERRORS if found.get(key)),
        **{field: found.get(key) for key, field in _LINK.items()},
    )
