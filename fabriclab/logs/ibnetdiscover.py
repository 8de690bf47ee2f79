"""ibnetdiscover: who is plugged where, by the subnet's own account; and ibsim's net files, which
share the layout.

Three layouts, in our words. By default a block a device: its kind, its number of ports, its name in
quotes (S- or H- and its GUID) and, behind #, its description; then a line a connected port: local
port, the far device's name and port, and behind # its description, LID, width and speed. With -p a
line a port: kind, LID, port, GUID, width, speed, and the same of the far end, or nothing where the
port is free. With -l a line a device and no links.
"""

import re

from fabriclab.logs import infiniband
from fabriclab.logs.infiniband.fabric import Fabric
from fabriclab.logs.source import Part, lines, name, refuse, shorten

TOOL = "ibnetdiscover"
_DEVICE = re.compile(
    r'^(Switch|Ca|CA|Hca|HCA|Rt|Router)\s+(\d{1,4})\s+"([^"]{1,200})"\s*(?:#\s*(.*))?$'
)
_PORT = re.compile(
    r'^\[(\d{1,4})\](?:\[ext \d+\])?(?:\([0-9a-f]+\))?\s*"([^"]{1,200})"\s*\[(\d{1,4})\](?:\[ext'
    r" \d+\])?\s*(?:\([0-9a-f]+\))?\s*(?:w=(\d{1,2}))?\s*(?:#\s*(.*))?$"
)
_END = r"(CA|SW|RT)\s+(\d{1,5})\s+(\d{1,4})\s+0x([0-9a-f]{16})"
_ROW = re.compile(
    rf"^{_END}\s+(\d{{1,2}}|\?+)x?\s+([A-Z0-9?]+)\s+"
    rf"(?:-\s+{_END}\s+\(\s*'([^']*)'\s+-\s+'([^']*)'\s*\)|'([^']*)')\s*$"
)
_LISTED = re.compile(r'^(Switch|Ca|Router)\s+: 0x([0-9a-f]{16}) ports (\d{1,4}) .*"([^"]*)"\s*$')
SIGN = re.compile(
    rf'^(?:Switch|Ca|CA|Hca|HCA|Rt|Router)\s+\d{{1,4}}\s+"|^{_END}\s|^(?:Switch|Ca|Router)\s+:'
    r" 0x[0-9a-f]+ ports"
)
_KINDS = {
    "Switch": "switch",
    "SW": "switch",
    "Ca": "host",
    "CA": "host",
    "Hca": "host",
    "HCA": "host",
    "Rt": "router",
    "RT": "router",
    "Router": "router",
}
_PREFIXES = {"S-": "switch", "H-": "host", "R-": "router"}


def _speed(comment):
    found = re.search(r"\b(\d{1,2})x([A-Z]DR(?:10)?)\b", comment)
    return (int(found[1]), found[2]) if found and found[2] in infiniband.PER_LANE else (None, None)


def _quoted(comment):
    found = re.search(r'"([^"]*)"', comment or "")
    return found[1].strip() if found else None


def read(path: Part) -> Fabric:
    """A `Fabric` from ibnetdiscover's output, or from a net file of ibsim, at `path`.

    Raises ValueError naming file, line and reason for a line that begins as one of the layout and
    does not go on so, for a port line before any device, and for a file without a device.
    """
    devices, cables, gathered, last, device, simulated = (
        {},
        [],
        infiniband.Gatherer(),
        0,
        None,
        False,
    )
    try:
        for line in lines(path):
            last, text = line.number, line.text.rstrip()
            if len(text) > 2000:
                refuse(path, last, f"a line of {len(text):,} characters")
            if found := _DEVICE.match(text):
                kind, ports, device, comment = found.groups()
                simulated |= kind == "Hca"  # the word of ibsim alone
                comment = comment if line.whole else None  # the end of a cut line may be missing
                lid = re.search(r"\blid (\d{1,5})\b", comment or "")
                devices[device] = (
                    _KINDS[kind],
                    int(ports),
                    _quoted(comment),
                    int(lid[1]) if lid else None,
                )
            elif found := _PORT.match(text):
                if device is None:
                    refuse(path, last, "a port before any device")
                cables.append(
                    (
                        last,
                        device,
                        *found.groups()[:3],
                        found[4] if line.whole else None,
                        found[5] if line.whole else None,
                    )
                )
            elif found := _ROW.match(text):
                _row(gathered, last, found.groups())
            elif found := _LISTED.match(text):
                gathered.vertex(
                    found[2], _KINDS[found[1]], found[4].strip(), int(found[3]), listed=True
                )
            elif re.match(r"\[\d|(?:Switch|Ca|CA|Hca|HCA|Rt|Router|SW|RT)\s+[\d:]", text):
                refuse(path, last, f"not a whole line of ibnetdiscover: {shorten(text)}")
            if len(devices) + len(cables) > 2 * infiniband.MOST:
                refuse(path, last, f"more than {infiniband.MOST:,} devices and ports")
        _blocks(gathered, devices, cables)
    except infiniband.TooMany as error:
        refuse(path, last, str(error))
    if not gathered.vertices:
        refuse(path, last, "no device in it")
    return gathered.fabric("ibsim net" if simulated else TOOL, name(path))


def _blocks(gathered, devices, cables):
    """The default layout, once all devices are known: a switch is one vertex, each port of an end
    point another.
    """
    for device, (kind, ports, text, lid) in devices.items():
        if kind == "switch":
            gathered.vertex(device, kind, text, ports, lid, listed=True)

    def end(device, port, text, listed):
        kind = devices[device][0] if device in devices else _PREFIXES.get(device[:2], "unknown")
        key = f"{device}[{port}]" if kind in ("host", "router") else device
        return gathered.vertex(
            key,
            kind,
            (devices[device][2] if device in devices else None) or text or device,
            listed=listed,
        )

    for number, device, here, far, there, width, comment in cables:
        lanes, speed = _speed(comment or "")
        a, b = end(device, int(here), None, True), end(far, int(there), _quoted(comment), False)
        gathered.link(
            number, a, int(here), b, int(there), lanes or (int(width) if width else None), speed
        )
    plugged = {cable[1] for cable in cables} | {cable[3] for cable in cables}
    for device, (kind, _, text, _) in devices.items():
        if kind != "switch" and device not in plugged:
            gathered.vertex(f"{device}[1]", kind, text or device, listed=True)


def _row(gathered, number, fields):
    """A line of the -p layout."""
    (
        kind,
        lid,
        port,
        guid,
        width,
        speed,
        far_kind,
        far_lid,
        far_port,
        far_guid,
        text,
        far_text,
        alone,
    ) = fields
    a = gathered.vertex(
        guid, _KINDS[kind], (text or alone or "").strip(), lid=int(lid), listed=True
    )
    if far_kind is None:
        gathered.down[a, int(port)] = None
        return
    b = gathered.vertex(far_guid, _KINDS[far_kind], far_text.strip(), lid=int(far_lid))
    known = width.isdigit() and speed in infiniband.PER_LANE
    gathered.link(
        number,
        a,
        int(port),
        b,
        int(far_port),
        int(width) if known else None,
        speed if known else None,
    )


report, signs = infiniband.report, infiniband.signs
