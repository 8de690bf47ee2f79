"""mlxlink: one port as its firmware sees it: state, speed, lanes, FEC, and how many bits arrive
wrong.

The layout, in our words. Sections with a title underlined by dashes; under each, lines of ``name :
value``, the values of lanes parted by commas, colours around what is judged good or bad. Any
section may be missing: -c adds the counters. A bit error ratio is printed with one digit (2E-9),
and 15E-255 is how the firmware says that it has seen no error at all; that is a bound, not a ratio.
A file may hold several ports, one dump after another.
"""

import re
from dataclasses import dataclass, field

from fabriclab.logs import module
from fabriclab.logs.infiniband import link_rate
from fabriclab.logs.jsonform import as_lines, fields
from fabriclab.logs.source import Part, name, refuse, shorten
from fabriclab.units import Gbps, minute

TOOL = "mlxlink"


SIGN = re.compile(
    r"^\s*(?:(?:Raw|Effective) Physical (?:BER|Errors)\b.*:|Time Since Last Clear \[Min\]\s*:"
    r"|(?:Physical Counters and BER|Operational|Module) Info\s*$"
    r'|(?:\{\s*)?"(?:result|output)"\s*:\s*\{\s*"(?:output|[A-Z][\w ]* Info)"'
    r'|"(?:Physical Counters and BER|Operational|Module) Info"\s*:\s*\{)'
)


NONE_SEEN = 1e-250  # what is printed as 15E-255


KP4_LIMIT = 2.4e-4  # IEEE 802.3, clause 120: the raw ratio RS(544,514) is made for


_MOST_PORTS = 4096


_FIELD = re.compile(r"^\s*([A-Za-z][^:]{0,60}?)\s*:(?:\s+(.*?))?\s*$")


_RATIO = re.compile(r"\d{1,3}(?:\.\d{1,6})?[eE]-\d{1,3}|0(?:\.0+)?")


_SECTIONS = (
    "Operational Info",
    "Supported Info",
    "Troubleshooting Info",
    "Tool Information",
    "Physical Counters and BER Info",
    "Module Info",
)


@dataclass(frozen=True)
class Port:
    """One port as read; None for what was not printed or is N/A. `line` is where it begins,
    `cleared` the seconds since the
    counters were cleared; a bit error ratio of 0.0 means that none was seen (see `bound`)."""

    line: int
    state: str | None = None
    physical_state: str | None = None
    speed: str | None = None
    width: int | None = None
    fec: str | None = None
    recommendation: str | None = None
    enabled_speeds: tuple[str, ...] = ()
    cable_speeds: tuple[str, ...] = ()
    cleared: float | None = None
    raw_ber: float | None = None
    raw_ber_per_lane: tuple[float, ...] = ()
    raw_errors_per_lane: tuple[int, ...] = ()
    effective_ber: float | None = None
    effective_errors: int | None = None
    symbol_ber: float | None = None
    symbol_errors: int | None = None
    link_downs: int | None = None
    recoveries: int | None = None
    cable: str | None = None
    temperature: module.Measured | None = None
    rx_power: module.Measured | None = None
    tx_power: module.Measured | None = None
    other: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def rate(self):
        """Bytes per second of data one way, by the speed and width printed, or None."""
        return _rate(self.speed, self.width)


@dataclass(frozen=True)
class Reading:
    """mlxlink output as read: its ports in the order of the file."""

    path: str
    ports: tuple[Port, ...]

    tool = TOOL


def _rate(speed, width):
    if not speed:
        return None
    if found := re.match(r"(?:IB-)?([SDQFEHNX]DR(?:10)?)\b", speed):
        return link_rate(width, found[1])
    found = re.match(r"(\d{1,4}(?:\.\d)?)G", speed)
    return float(found[1]) * Gbps if found else None


def _ratio(text):
    value = float(text)
    return 0.0 if value < NONE_SEEN else value


def _count(text):
    if not re.fullmatch(r"\d{1,20}", text):
        raise ValueError("not a count")
    return int(text)


def _ratio_checked(text):
    if not _RATIO.fullmatch(text) or float(text) > 1:
        raise ValueError("not a bit error ratio")
    return _ratio(text)


def _minutes(text):
    if not re.fullmatch(r"\d{1,12}(?:\.\d{1,9})?", text):
        raise ValueError("not a number of minutes")
    return float(text) * minute


def _lanes(read_one):
    return lambda text: tuple(read_one(part.strip()) for part in text.split(",")[:64])


def _width(text):
    return int(re.fullmatch(r"(\d{1,2})x", text)[1]) if re.fullmatch(r"(\d{1,2})x", text) else None


def _names(text):
    found = re.search(r"\(([^)]*)\)", text)
    return tuple(part.strip() for part in found[1].split(",")) if found else ()


_READ = {
    "State": ("state", str),
    "Physical state": ("physical_state", str),
    "Speed": ("speed", str),
    "Width": ("width", _width),
    "FEC": ("fec", str),
    "Recommendation": ("recommendation", str),
    "Enabled Link Speed": ("enabled_speeds", _names),
    "Enabled Link Speed (Ext.)": ("enabled_speeds", _names),
    "Supported Cable Speed": ("cable_speeds", _names),
    "Supported Cable Speed (Ext.)": ("cable_speeds", _names),
    "Time Since Last Clear [Min]": ("cleared", _minutes),
    "Raw Physical BER": ("raw_ber", _ratio_checked),
    "Raw Physical BER Per Lane": ("raw_ber_per_lane", _lanes(_ratio_checked)),
    "Raw Physical Errors Per Lane": ("raw_errors_per_lane", _lanes(_count)),
    "Effective Physical BER": ("effective_ber", _ratio_checked),
    "Effective Physical Errors": ("effective_errors", _count),
    "Symbol BER": ("symbol_ber", _ratio_checked),
    "Symbol Errors": ("symbol_errors", _count),
    "Link Down Counter": ("link_downs", _count),
    "Link Error Recovery Counter": ("recoveries", _count),
    "Cable Technology": ("cable", str),
    "Temperature [C]": ("temperature", module.measured),
    "Rx Power Current [dBm]": ("rx_power", module.measured),
    "Tx Power Current [dBm]": ("tx_power", module.measured),
}


def read(path: Part) -> Reading:
    """A `Reading` of mlxlink's output at `path`, with as many ports as it holds dumps.

    Raises ValueError naming file, line and reason for a value that cannot be what its name says (a
    count with letters, a ratio above one), for a file that ends in the middle of a line it needs,
    and for one with no field of mlxlink's.
    """
    ports, kept, other, begun, last, at = [], {}, {}, 1, 0, set()

    def close():
        if kept:
            ports.append(Port(begun, other=tuple(other.items()), **kept))
            if len(ports) > _MOST_PORTS:
                refuse(path, last, f"more than {_MOST_PORTS:,} ports")

    for line in as_lines(path, _told):
        last = line.number
        title = line.text.strip()
        found = _FIELD.match(line.text[:4096])
        if (
            title in _SECTIONS
            and title in at
            or found
            and found[1] in _READ
            and _READ[found[1]][0] in kept
        ):
            close()
            kept, other, begun, at = {}, {}, line.number, set()
        if title in _SECTIONS:
            at.add(title)
        if not found or found[2] in (None, "", "N/A"):
            continue
        label, text = found[1], found[2]
        if label not in _READ:
            if len(other) < 200 and line.whole:
                other[label] = text[:200]
            continue
        if not line.whole:
            refuse(path, line.number, f"the file ends in the middle of {label}")
        key, reader = _READ[label]
        try:
            value = reader(text)
        except ValueError as error:
            refuse(path, line.number, f"{label} is {shorten(text)}: {error}")
        if value not in (None, ()):
            kept[key] = value
    close()
    if not ports:
        refuse(path, last, "no field of mlxlink's with a value in it")
    return Reading(name(path), tuple(ports))


def _told(found):
    """The lines of a dump in JSON."""
    for key, value in fields(found.get("result", found)) if isinstance(found, dict) else ():
        yield f"{key} : {value}"
