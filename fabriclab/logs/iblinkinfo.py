"""iblinkinfo: every port with the state, width and speed of its link, and whether both ends could
do more.

The layout, in our words. A line names a device (a switch with its GUID, an adapter without), then a
line a port: the port's GUID where it is an adapter's, LID, port, then between ==( and )==> width,
signal rate per lane, and the two states, then LID, port and description of the far end, and in
brackets "Could be …" where both ends support more. With -l the device stands in each line instead,
and the far end's GUID too. Free ports have states and no far end.
"""

import re

from fabriclab.logs import infiniband
from fabriclab.logs.infiniband.fabric import Fabric
from fabriclab.logs.source import Part, lines, name, refuse, shorten

TOOL = "iblinkinfo"
INSIDE = "==("
# ibqueryerrors shows links too, behind "Link info:"
SIGN = re.compile(r"^(?!\s*Link info:).{0,400}?\d\[ *\d*\]\s+==\(.{0,200}\)==>")
_DEVICE = re.compile(r"^(?:[<>] )?(Switch|CA|Router): (?:0x([0-9a-f]+) )?(.{0,200}?):?\s*$")
_PORT = re.compile(
    r'^\s*(?:0x([0-9a-f]{1,16})\s+)?(?:"([^"]*)"\s+)?(\d{1,5})\s+(\d{1,4})\[\s*\d*\s*\]'
    r"\s+==\((.*)\)==>\s*(.*?)\s*$"
)
_STATE = re.compile(
    r"^\s*(?:(\d{1,2})X\s+(\d{1,3}(?:\.\d{1,6})?) Gbps(?: \((FDR10)\))?\s+)?(\w+)\s*/\s*(\w+)\)?"
)
_FAR = re.compile(
    r'^(?:0x([0-9a-f]{1,16})\s+)?(\d{1,5})\s+(\d{1,4})\[\s*\d*\s*\]\s+"([^"]*)"\s*\((.*)\)$'
)
_KINDS = {"Switch": "switch", "CA": "host", "Router": "router"}


def read(path: Part) -> Fabric:
    """A `Fabric` from iblinkinfo's output at `path`.

    Ports are told apart by LID, which is all that the far end is given by. Raises ValueError naming
    file, line and reason for a port line that is not whole, and for a speed that no generation has.
    """
    gathered, last, kind, device = infiniband.Gatherer(), 0, None, None
    try:
        for line in lines(path):
            last, text = line.number, line.text.rstrip()
            if "==(" in text:
                if len(text) > 2000:
                    refuse(path, last, f"a line of {len(text):,} characters")
                _port(path, gathered, last, kind, device, text)
            elif len(text) < 300 and (found := _DEVICE.match(text)):
                kind, device = _KINDS[found[1]], found[3].strip()
    except infiniband.TooMany as error:
        refuse(path, last, str(error))
    if not gathered.vertices:
        refuse(path, last, "no port in it")
    return gathered.fabric(TOOL, name(path))


def _port(path, gathered, number, kind, device, text):
    found = _PORT.match(text)
    state = _STATE.match(found[5]) if found else None
    if not state:
        refuse(path, number, f"not a whole line of iblinkinfo: {shorten(text)}")
    guid, inline, lid, port, _, rest = found.groups()
    # in the one-line layout the device stands in the line, and no line says what kind it is
    own_kind, own_name = (None, inline.strip()) if inline is not None else (kind, device)
    here = gathered.vertex(
        _key(lid, guid, own_name, port), own_kind, own_name, lid=int(lid), listed=True
    )
    width, signal, ten, logical, physical = state.groups()
    far = _FAR.match(rest)
    if not far:
        if not re.match(r'^(?:\[\s*\]\s*""\s*\(\s*\)|"Port not available")$', rest):
            refuse(path, number, f"the remote end of this line is incomplete: {shorten(rest)}")
        gathered.down[here, int(port)] = None
        return
    speed = "FDR10" if ten else infiniband.BY_SIGNAL.get(float(signal)) if signal else None
    if signal and not speed:
        refuse(path, number, f"no generation of InfiniBand signals at {signal} Gb/s per lane")
    there = gathered.vertex(
        _key(far[2], far[1], far[4], far[3]), None, far[4].strip(), lid=int(far[2])
    )
    gathered.link(
        number,
        here,
        int(port),
        there,
        int(far[3]),
        int(width) if width else None,
        speed,
        _could_be(far[5]),
        logical,
    )


def _key(lid, guid, text, port):
    """What tells a port from others: its LID where it has one."""
    return f"lid {lid}" if int(lid) else f"guid {guid}" if guid else f"{text}[{port}]"


def _could_be(text):
    """What both ends support, from "Could be 4X" or "Could be 25.78125 Gbps", or None."""
    found = re.findall(r"Could be (\d{1,2}X|\d{1,3}(?:\.\d{1,6})? Gbps)", text)
    named = [
        (
            infiniband.BY_SIGNAL.get(float(one.split()[0]), one)
            if one.endswith("Gbps")
            else one.lower()
        )
        for one in found
    ]
    return " ".join(named) or None


report, signs = infiniband.report, infiniband.signs
