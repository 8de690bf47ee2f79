"""mlxlink: one port as its firmware sees it: state, speed, lanes, FEC, and how many bits arrive
wrong.

The layout, in our words. Sections with a title underlined by dashes; under each, lines of ``name :
value``, the values of lanes parted by commas, colours around what is judged good or bad. Any
section may be missing: -c adds the counters. A bit error ratio is printed with one digit (2E-9),
and 15E-255 is how the firmware says that it has seen no error at all; that is a bound, not a ratio.
A file may hold several ports, one dump after another.
"""

import math
import re
import statistics
from dataclasses import dataclass, field

from fabriclab import link
from fabriclab.logs import module
from fabriclab.logs.infiniband import link_rate
from fabriclab.logs.jsonform import as_lines, fields
from fabriclab.logs.sign import Sign, marked
from fabriclab.logs.source import name, refuse, shorten
from fabriclab.units import Gbps, bit, day, minute, si

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


def bound(port, rate=None):
    """The bit error ratio that a port with no error seen stays below, with 95 % confidence: ``3 /
    (bits seen)``.

    No error in n bits has probability (1 - b)^n, which is 5 % at b = 3/n: the rule of three. `rate`
    in bytes per second goes before the speed that the file prints. None where rate or time is not
    known.

    >>> f"{bound(Port(1, cleared=60.0), 400 * Gbps):.3e}"
    '1.250e-13'
    """
    rate = rate or port.rate
    if not rate or not port.cleared:
        return None
    return 3 / (rate / bit * port.cleared)


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


def read(path) -> "Reading":
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


def code_of(port):
    """The Reed-Solomon code that the port's FEC line names, RS(544,514) where the line is missing,
    None where none is in use.
    """
    if port.fec is None:
        return link.KP4
    found = re.search(r"\((\d{2,4}),\s*(\d{2,4})\)", port.fec)
    try:
        return (
            link.ReedSolomon(int(found[1]), int(found[2]), name=f"RS({found[1]},{found[2]})")
            if found
            else None
        )
    except ValueError:
        return None


def threshold(code):
    """The raw bit error ratio at which `code` loses as many codewords as RS(544,514) does at
    2.4e-4, its limit by IEEE 802.3.

    >>> f"{threshold(link.KP4):.2g}"
    '0.00024'
    """
    return code.ber_for(link.KP4.codeword_loss(KP4_LIMIT))


def worst_lane(port):
    """(lane from 0, its errors over the median of the other lanes, its share of all), or None for
    fewer than two lanes or no errors.

    >>> worst_lane(Port(1, raw_errors_per_lane=(10, 20, 600, 10)))
    (2, 60.0, 0.9375)
    """
    lanes = port.raw_errors_per_lane or port.raw_ber_per_lane
    if len(lanes) < 2 or not any(lanes):
        return None
    worst = max(range(len(lanes)), key=lanes.__getitem__)
    others = statistics.median(value for lane, value in enumerate(lanes) if lane != worst)
    return worst, lanes[worst] / others if others else math.inf, lanes[worst] / sum(lanes)


def best(port):
    """Bytes per second that port and cable are both good for over the lanes in use, None where
    neither lists its speeds.
    """
    both = [
        speed
        for speed in port.cable_speeds
        if not port.enabled_speeds or speed in port.enabled_speeds
    ]
    return max(
        (rate for rate in (_rate(speed, port.width) for speed in both) if rate), default=None
    )


def enabled(port):
    """Bytes per second of the fastest speed enabled, over the lanes in use, None where none is
    listed.
    """
    return max(
        (rate for rate in (_rate(speed, port.width) for speed in port.enabled_speeds) if rate),
        default=None,
    )


def signs(reading: "Reading", rate: float | None = None):
    """What stands out at mlxlink's ports. `rate`: bytes per second that a port should carry, where
    it is told.
    """
    for port in reading.ports:
        yield from port_signs(port, rate)


def port_signs(port, rate=None):
    """What stands out at one port, the gravest first."""
    if port.state and port.state.split()[0].lower() not in ("active", "up"):
        yield Sign(
            "port-down",
            f"the link is not up: state {port.state[:40]}"
            + (f", physical state {port.physical_state[:40]}" if port.physical_state else ""),
        )
    if port.recommendation and not port.recommendation.startswith("No issue"):
        yield Sign("firmware-says", f"the firmware says: {shorten(port.recommendation, 120)}")
    if port.effective_errors or port.effective_ber:
        seen = (
            f"{port.effective_errors:,} errors"
            if port.effective_errors
            else f"a ratio of {port.effective_ber:g}"
        )
        yield Sign(
            "bit-errors",
            f"errors get past the FEC: {seen} after correction; each costs a packet, which"
            " go-back-N pays for with all that is in flight",
        )
    code = code_of(port)
    if port.raw_ber and code and port.raw_ber > threshold(code) / 10:
        near = "beyond" if port.raw_ber > threshold(code) else "within a factor of ten of"
        yield Sign(
            "fec-margin",
            f"raw BER {port.raw_ber:g} is {near} the {threshold(code):.2g} that {code.name} is"
            " good for",
        )
    worst = worst_lane(port)
    if (
        worst
        and worst[1] > 10
        and (not port.raw_errors_per_lane or max(port.raw_errors_per_lane) > 100)
    ):
        times = (
            f"{_times(worst[1])} times the errors of the median of the others"
            if worst[1] < math.inf
            else "all the errors"
        )
        yield Sign(
            "bad-lane",
            f"lane {worst[0]} alone has {times}: dirt or damage on one fibre or contact, not a weak"
            " module",
        )
    if port.link_downs:
        often = (
            f" in {si(port.cleared, 's')}: {port.link_downs / (port.cleared / day):.3g} a day"
            if port.cleared
            else ""
        )
        yield Sign(
            "link-downs",
            f"the link went down {port.link_downs} time{'s' * (port.link_downs != 1)}{often}",
        )
    if port.recoveries:
        yield Sign(
            "recoveries",
            f"{port.recoveries} link error recover{'ies' if port.recoveries != 1 else 'y'}: it"
            " dropped and came back by itself",
        )
    yield from module.signs(port)
    yield from _speed_signs(port, rate)


def slower(port, rate):
    """Whether a port runs below `rate`, bytes per second."""
    return bool(port.rate and port.rate < 0.99 * rate)


def _speed_signs(port, rate):
    fastest, allowed, runs = best(port), enabled(port), port.rate
    if not runs:
        return
    if rate and slower(port, rate):
        where = f"{si(runs, 'b/s')} ({port.width or '?'}x {port.speed}), where"
        if allowed and runs >= 0.99 * allowed and (port.width or 4) >= 4:
            yield Sign(
                "set-slow",
                f"the port runs at {where} {si(rate, 'b/s')} was to be, and no faster speed is"
                " enabled: it is set so",
            )
        else:
            yield Sign("slow-port", f"the port runs at {where} {si(rate, 'b/s')} was to be")
    elif fastest and slower(port, fastest):
        yield Sign(
            "slow-port",
            f"the port runs at {si(runs, 'b/s')}, though port and cable are good for"
            f" {si(fastest, 'b/s')}: negotiated down, or lanes are dead",
        )


def report(reading: "Reading") -> str:
    """The few lines that ``fabriclab read`` prints for mlxlink's output."""
    blocks = [
        _block(port, number, len(reading.ports))
        for number, port in enumerate(reading.ports[:20], 1)
    ]
    if len(reading.ports) > 20:
        blocks.append([f"… and {len(reading.ports) - 20} more ports"])
    return "\n".join(line for block in blocks for line in block)


def _block(port, number, of):
    facts = [port.state, port.speed, f"{port.width} lanes" if port.width else None, port.fec]
    head = f"mlxlink{f', port {number} of {of}' if of > 1 else ''}: " + (
        ", ".join(fact for fact in facts if fact) or "counters only, speed and FEC not printed"
    )
    if port.cleared:
        head += f"; counters since {si(port.cleared, 's')}"
    lines = [
        head,
        *(f"  {line}" for line in (*_raw_lines(port), *_after_lines(port), *module.words(port))),
    ]
    return lines + marked(port_signs(port))


def _raw_lines(port):
    said, code = [], code_of(port)
    if port.raw_ber:
        said.append(f"raw BER {port.raw_ber:g}, before correction")
        if code:
            limit = threshold(code)
            loss = code.codeword_loss(port.raw_ber)
            named = "" if port.fec else " (taken for granted: the file names no FEC)"
            where = (
                f"{_times(limit / port.raw_ber)} times below" if port.raw_ber <= limit else "above"
            )
            said[0] += f": {where} the {limit:.2g} of {code.name}{named}"
            said.append(
                f"if errors were independent, {code.name} would lose"
                f" {'fewer than 1e-300' if loss < 1e-300 else f'{loss:.2g}'} of the codewords"
            )
    elif port.raw_ber == 0.0:
        said.append(f"raw BER: no error seen{_bound_words(port)}")
    if worst := worst_lane(port):
        lane, times, share = worst
        last = len(port.raw_errors_per_lane or port.raw_ber_per_lane) - 1
        beside = f", {_times(times)} times the median of the others" if times < math.inf else ""
        said.append(f"worst lane {lane} (of 0 to {last}): {share:.0%} of the errors{beside}")
    return said


def _times(value):
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def _after_lines(port):
    if port.effective_ber == 0.0 or (port.effective_ber is None and port.effective_errors == 0):
        return [f"after correction: no error seen{_bound_words(port)}"]
    return [f"after correction: BER {port.effective_ber:g}"] if port.effective_ber else []


def _bound_words(port):
    if limit := bound(port):
        return f", so the ratio is below {limit:.2g} (95 %: fewer than 3 in all bits since)"
    if port.cleared:
        return (
            "; the speed is not printed, at 400 Gb/s the ratio would be below"
            f" {bound(port, 400 * Gbps):.2g} (95 %: fewer than 3 in all bits since)"
        )
    return "; without time and speed that bounds nothing"
