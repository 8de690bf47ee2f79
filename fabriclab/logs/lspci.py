"""``lspci -vv``: how each PCIe device trained (LnkSta against LnkCap), and whether access control
(ACSCtl) sends peer-to-peer traffic through the CPU.

The layout, in our words. A line per device ("3b:00.0 Infiniband controller: …"), under it
indented lines of ``name: words``. A flag with + is on, with - off. Filtered by grep the devices may
be missing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fabriclab.logs.sign import Sign, marked
from fabriclab.logs.source import Part, lines, name, refuse, shorten

TOOL = "lspci"
_DEVICE = re.compile(r"^((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) (\S.{0,200})$")
SIGN = re.compile(r"^\s*(?:LnkSta|LnkCap|ACSCtl|ACSCap):\s")
BEFORE = re.compile(r"^(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7] ")
_LINK = re.compile(r"^\s*(LnkSta|LnkCap):.*?\bSpeed ([\d.]{1,5})GT/s.*?\bWidth x(\d{1,2})\b")
_ACS = re.compile(r"^\s*ACSCtl:\s*((?:\w+[+-]\s*){1,12})$")
# these redirect what one device sends to another to the root complex
_REDIRECT = ("ReqRedir", "CmpltRedir", "SrcValid")


@dataclass(frozen=True)
class Device:
    """One device: its `line`, `address` and `kind` (None where grep left them out), how its link
    trained and what it could be: (GT/s, lanes), and the ACS flags that are on.
    """

    line: int
    address: str | None = None
    kind: str | None = None
    trained: tuple[float, int] | None = None
    able: tuple[float, int] | None = None
    acs: tuple[str, ...] | None = None
    downgraded: bool = False

    @property
    def called(self):
        if not self.address:
            return f"device at line {self.line}"
        return f"{self.address} {self.kind[:100]}"


@dataclass(frozen=True)
class Reading:
    """The devices that say anything, in the order of the text."""

    path: str
    devices: tuple[Device, ...]

    tool = TOOL


def read(path: Part) -> "Reading":
    """A `Reading` of ``lspci -vv`` at `path`, whole or through grep.

    Raises ValueError naming file, line and reason for a LnkSta, LnkCap or ACSCtl that is not whole.
    """
    found, now, last = [], {"line": 1}, 0

    def close():
        if len(now) > 1 and now.keys() & {"trained", "able", "acs"}:
            found.append(Device(**now))

    for line in lines(path):
        last, text = line.number, line.text[:1000]
        if device := _DEVICE.match(text):
            close()
            now = {"line": last, "address": device[1], "kind": device[2]}
            continue
        label = text.strip().partition(":")[0]
        if label not in ("LnkSta", "LnkCap", "ACSCtl"):
            continue
        key = {"LnkSta": "trained", "LnkCap": "able", "ACSCtl": "acs"}[label]
        if key in now or "trained" in now and key == "able":
            close()  # grep left the device's line out
            now = {"line": last}
        if now.keys() == {"line"}:
            now["line"] = last
        link, acs = _LINK.match(text), _ACS.match(text)
        if not line.whole or not (link or acs):
            if "unknown" in text.lower():
                continue
            refuse(path, last, f"not a whole {label}: {shorten(text)}")
        if link:
            now[key] = (float(link[2]), int(link[3]))
            now["downgraded"] = now.get("downgraded", False) or "downgraded" in text
        else:
            now[key] = tuple(word[:-1] for word in acs[1].split() if word.endswith("+"))
    close()
    if not found:
        refuse(
            path, max(last, 1), "no LnkSta, LnkCap or ACSCtl in it: lspci -vv as root shows them"
        )
    return Reading(name(path), tuple(found))


def signs(reading: "Reading", rate: float | None = None) -> Iterator:
    """What stands out: ACS that redirects, links below what the device could be."""
    on = [device for device in reading.devices if device.acs and set(device.acs) & set(_REDIRECT)]
    if on:
        flags = sorted({flag for device in on for flag in device.acs if flag in _REDIRECT})
        count = len(on)
        yield Sign(
            "acs-on",
            f"ACS is on at {count} bridge{'s' * (count != 1)} ({', '.join(flags)}): a GPU and a NIC"
            " reach each other through the root complex, which is slower; off for bare metal",
        )
    for device in reading.devices:
        below = (
            device.trained
            and device.able
            and (device.trained[0] < device.able[0] or device.trained[1] < device.able[1])
        )
        if not (below or device.downgraded and device.trained and device.trained[1]):
            continue
        could = f", able to do {device.able[0]:g} GT/s x{device.able[1]}" if device.able else ""
        yield Sign(
            "pcie-narrow",
            f"{device.called}: PCIe at {device.trained[0]:g} GT/s x{device.trained[1]}{could}: the"
            " slot, a riser, or an idle device that saves power",
        )


def report(reading: "Reading") -> str:
    """The few lines that ``fabriclab read`` prints for lspci."""
    links = [device for device in reading.devices if device.trained]
    acs = [device for device in reading.devices if device.acs is not None]
    said = [
        f"{TOOL}: {len(reading.devices)} device{'s' * (len(reading.devices) != 1)};"
        f" link of {len(links)}, ACS of {len(acs)}"
    ]
    kinds = {}
    for device in links:
        kinds.setdefault(device.trained, []).append(device)
    said += [
        f"  {speed:g} GT/s x{width}: {len(devices)}"
        for (speed, width), devices in sorted(kinds.items(), reverse=True)[:8]
    ]
    if acs and not any(device.acs for device in acs):
        said.append("  ACS is off everywhere: peer-to-peer goes the short way")
    found = list(signs(reading))
    said += marked(found[:16])
    if len(found) > 16:
        said.append(f"  ! … and {len(found) - 16} more")
    return "\n".join(said)
