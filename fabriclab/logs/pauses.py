"""PFC counters: how often a port was told to stop sending, or told its peer to, priority by
priority.

Two layouts, in our words. ``ethtool -S``: lines of ``name: value`` under "NIC statistics:", whole
or through grep; what the drivers call the counters stands in `nic`; the port's name is not printed.
SONiC's ``show pfc counters``: a table of ports by PFC0 to PFC7, once for Rx and once for Tx,
thousands parted by commas, N/A where the port does not count. PFC is per priority, eight of them
(IEEE 802.1Qbb).

Received pauses (rx) are the peer stopping us; sent ones (tx) are us stopping the peer.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fabriclab.logs import nic
from fabriclab.logs.sign import Sign, marked
from fabriclab.logs.source import Part, lines, name, refuse, shorten
from fabriclab.units import si

TOOL = "PFC counters"
PRIORITIES = 8
SIGN = re.compile(
    rf"^\s*(?:NIC statistics:\s*$|[rt]x_prio[0-7]_pause_transition:|(?:{nic.NAMES}):(?!\.)"
    r"|Port [RT]x\s+PFC0\s+PFC1\b)"
)
AGAIN = re.compile(r"^\s*Port (?:(?P<rx>Rx)|(?P<tx>Tx))\s")
ROW = re.compile(r"^\s*(?:Ethernet|PortChannel)\d+(?:\s+(?:[\d,]+|N/A)){8}\s*$")
_FIELD = re.compile(r"^\s*([A-Za-z_][\w.]{0,80}):(?!\.)(.*)$")
_CACHED = re.compile(r"^Last cached time was (\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)")
_VALUE = re.compile(
    r"\s*(\d{1,20})(?:\s+[^\d\s,.+-].*)?\s*"
)  # people annotate such listings behind the value
_TABLE = re.compile(r"^\s*Port ([RT]x)((?:\s+PFC\d){1,20})\s*$")
_CELL = re.compile(r"\d{1,3}(?:,\d{3}){1,6}|\d{1,20}|N/A")
_MOST_PORTS = 10_000
_NONE = (None,) * PRIORITIES


@dataclass(frozen=True)
class Port:
    """One port: its first `line`, its `name` (ethtool prints none), and by priority 0 to 7 the
    pause frames received (`rx`) and sent (`tx`), and the seconds paused and pausing; None where not
    printed or N/A. `lost` holds counters of discards and pause storms by their own names,
    `errors` those of damage, of the link going down, of drops and marks; `link_rx` and `link_tx`
    count pauses of the whole link, or of all priorities together; `packets` are all that arrived.
    """

    line: int
    name: str | None = None
    rx: tuple[int | None, ...] = _NONE
    tx: tuple[int | None, ...] = _NONE
    rx_seconds: tuple[float | None, ...] = _NONE
    tx_seconds: tuple[float | None, ...] = _NONE
    lost: tuple[tuple[str, int], ...] = ()
    link_rx: int | None = None
    link_tx: int | None = None
    errors: tuple[tuple[str, int], ...] = ()
    packets: int | None = None

    @property
    def counted(self):
        """Whether anything has a count; N/A everywhere is no data, not zeros."""
        pauses = (*self.rx, *self.tx, *self.rx_seconds, *self.tx_seconds)
        rest = (self.link_rx, self.link_tx, *self.lost, *self.errors)
        return any(value is not None for value in (*pauses, *rest))

    def paused(self, way):
        """The priorities with pauses, `way` "rx" (the peer stopped us) or "tx" (we stopped the
        peer).
        """
        frames, seconds = getattr(self, way), getattr(self, f"{way}_seconds")
        return tuple(
            priority for priority in range(PRIORITIES) if frames[priority] or seconds[priority]
        )


@dataclass(frozen=True)
class Reading:
    """Pause counters as read: `source` "ethtool" or "SONiC", the ports in the order of the file,
    and `since` when SONiC's table counts, where it is a difference against a kept reading.
    """

    path: str
    source: str
    ports: tuple[Port, ...]
    since: str | None = None

    tool = TOOL


def read(path: Part | Path) -> "Reading":
    """A `Reading` of the PFC counters at `path`, from ``ethtool -S`` or SONiC's ``show pfc
    counters``.

    Raises ValueError naming file, line and reason for a count that is none, a row that is not
    whole, a port or counter given twice, the two layouts in one file, and statistics without a PFC
    counter.
    """
    cards, tables, way, last, seen, since = [], {}, None, 0, set(), None
    for line in lines(path):
        last, text = line.number, line.text[:1000]
        if found := _CACHED.match(text):
            since, way = found[1], None
        elif found := _TABLE.match(text):
            way = found[1].lower()
            if (
                found[2].split() != [f"PFC{priority}" for priority in range(PRIORITIES)]
                or not line.whole
            ):
                refuse(path, last, f"the table's head is not whole: {shorten(text)}")
            if way in seen:
                refuse(path, last, f"a second table of Port {found[1]}; save one reading per file")
            seen.add(way)
        elif not text.strip() or re.match(r"\S+@\S+", text):
            way = None
        elif seen and (
            way or len(text.split()) > 1 and all(_CELL.fullmatch(cell) for cell in text.split()[1:])
        ):
            if not re.fullmatch(r"[\s-]+", text):
                _row(path, line, way, tables)
        elif not seen:
            _field(path, line, cards)
        if len(cards) + len(tables) > _MOST_PORTS:
            refuse(path, last, f"more than {_MOST_PORTS:,} ports")
    if tables and cards:
        refuse(
            path,
            last,
            "ethtool's listing and SONiC's table in one file; save each tool's output in its own"
            " file",
        )
    ports = [Port(at, port, **ways) for port, (at, ways) in tables.items()] or [
        _card(card) for card in cards if len(card) > 1
    ]
    if not any(port.counted for port in ports):
        refuse(
            path,
            last,
            (
                "every port is N/A: missing data is not zero"
                if ports and tables
                else "statistics, but no counter of pauses or errors (rx_prio3_pause,"
                " rx_crc_errors_phy and the like)"
            ),
        )
    return Reading(name(path), "SONiC" if tables else "ethtool", tuple(ports), since)


def _row(path, line, way, tables):
    port, *cells = line.text[:1000].split()
    if way is None:
        refuse(path, line.number, f"table row before any table header: {shorten(line.text)}")
    if (
        not line.whole
        or len(cells) != PRIORITIES
        or not all(_CELL.fullmatch(cell) for cell in cells)
    ):
        refuse(
            path,
            line.number,
            f"not a whole row of a port and {PRIORITIES} counts: {shorten(line.text)}",
        )
    _, ways = tables.setdefault(port[:100], (line.number, {}))
    if way in ways:
        refuse(path, line.number, f"{port[:40]} is listed twice in the table")
    ways[way] = tuple(None if cell == "N/A" else int(cell.replace(",", "")) for cell in cells)


def _field(path, line, cards):
    if re.match(r"\s*NIC statistics:\s*$", line.text):
        cards.append({"line": line.number})
        return
    found = _FIELD.match(line.text[:1000])
    what = nic.meaning(found[1]) if found else None
    if not what:
        return
    value = _VALUE.fullmatch(found[2])
    if not line.whole:
        refuse(path, line.number, f"the file ends in the middle of {found[1]}")
    if not value:
        refuse(path, line.number, f"{found[1]} is {shorten(found[2])}: not a count")
    if what[2] is not None and what[2] >= PRIORITIES:
        refuse(path, line.number, f"{found[1]}: there are priorities 0 to {PRIORITIES - 1}")
    if not cards:
        cards.append({"line": line.number})
    if found[1] in cards[-1]:
        refuse(
            path,
            line.number,
            f"{found[1]} is listed twice: two ports' counters without"
            ' "NIC statistics:" between them',
        )
    cards[-1][found[1]] = int(value[1])


def _card(card):
    by, whole, lost, errors, packets = {}, {"rx": None, "tx": None}, [], [], None
    for counter, value in card.items():
        field, way, priority, unit = nic.meaning(counter) or (None,) * 4
        if field in ("pause", "duration"):
            by[field, way, priority] = value * unit
        elif field == "global":
            whole[way] = max(value, whole[way] or 0)  # one driver's names may say it twice
        elif field == "packets":
            packets = max(value, packets or 0)
        elif field:
            (lost if way in ("storm", "lost") else errors).append((counter, value))

    def of(field, way):
        return tuple(by.get((field, way, priority)) for priority in range(PRIORITIES))

    pauses = (of(field, way) for field in ("pause", "duration") for way in ("rx", "tx"))
    return Port(card["line"], None, *pauses, tuple(lost), *whole.values(), tuple(errors), packets)


def saying(port: Port) -> str:
    """A port's pauses in a sentence: who stopped whom, and where that points.

    >>> saying(Port(1, rx=(0, 0, 0, 142, 0, 0, 0, 0), tx=(0,) * 8))
    'the peer stopped us: what we send piles up at or behind the peer'
    """
    rx, tx = (bool(port.paused(way) or getattr(port, f"link_{way}")) for way in ("rx", "tx"))
    if rx and tx:
        return (
            "the peer stopped us and we stopped the peer: congestion ahead is being passed on"
            " backwards, or both ends are slow receivers"
        )
    if rx:
        return "the peer stopped us: what we send piles up at or behind the peer"
    if tx:
        return (
            "we stopped the peer: what it sends piles up here or behind us; at a host, look at"
            " PCIe, memory and the receiving process"
        )
    return (
        "no pause either way" if port.counted else "N/A: not counted here; missing data is not zero"
    )


def signs(reading: "Reading", rate: float | None = None) -> Iterator:
    """What stands out in pause counters; `rate` is not needed."""
    for port in reading.ports:
        yield from port_signs(port)
    if reading.since:
        yield Sign(
            "cached-counts",
            f"counts since {reading.since}, when a reading was kept, and not since boot: a zero"
            " here does not say that there was no pause; pfcstat -d forgets the kept reading",
        )


def port_signs(port: Port) -> Iterator:
    """What stands out at one port, the gravest first."""
    lost = {counter: value for counter, value in port.lost if value}
    if storms := [f"{counter} {value:,}" for counter, value in lost.items() if "storm" in counter]:
        yield Sign(
            "card-storms",
            f"{', '.join(storms)}: this card went on pausing so long that its own watchdog noticed,"
            " as a receiver that hangs does",
        )
    if dropped := [
        f"{counter} {value:,}" for counter, value in lost.items() if "storm" not in counter
    ]:
        yield Sign(
            "dropped",
            f"{', '.join(dropped)}: packets were dropped all the same; on a lossless priority the"
            " headroom is too small or its PFC is off at one end",
        )
    for kind, says in nic.told(port.errors, port.packets):
        if kind == "damage":
            yield Sign("errors-once", says)
        elif kind == "down":
            yield Sign("link-downs", says)
        elif kind == "hot":
            yield Sign("hot-module", says)
        elif kind == "marked":
            yield Sign("marked", says)
        else:
            yield Sign("dropped", says)
    stopped = sorted({*port.paused("rx"), *port.paused("tx")})
    if len(stopped) > 2:
        yield Sign(
            "many-priorities",
            f"priorities {', '.join(map(str, stopped))} are paused: more than the one or two that"
            " carry RDMA, so a pause stops other traffic too; compare the PFC settings of both"
            " ends",
        )


def report(reading: "Reading") -> str:
    """The few lines that ``fabriclab read`` prints for pause counters."""
    counted = [port for port in reading.ports if port.counted]
    stopped = [port for port in counted if _total(port)]
    said = [
        f"PFC counters ({reading.source}): {_ports(len(reading.ports))}, {len(stopped)} with"
        " pauses; rx: the peer stopped us, tx: we stopped the peer"
    ]
    for port in sorted(stopped, key=lambda port: -_total(port))[:12]:
        said.append(f"  {port.name or 'port at line ' + str(port.line)}: {saying(port)}")
        said += [
            f"    {words} {_listed(port, way)}"
            for way, words in (("rx", "rx"), ("tx", "tx"))
            if port.paused(way) or getattr(port, f"link_{way}")
        ]
        said += marked(port_signs(port), "    ")
    if len(stopped) > 12:
        said.append(f"  … and {len(stopped) - 12} more with fewer pauses")
    said += marked(sign for port in counted if not _total(port) for sign in port_signs(port))[:12]
    said += [f"  {says}" for port in counted for says in nic.usual(port.errors, port.packets)][:12]
    if len(counted) < len(reading.ports):
        missing = [port.name for port in reading.ports if not port.counted and port.name]
        said.append(
            "  N/A, so no data and not zeros:"
            f" {', '.join(missing[:8])}{' …' if len(missing) > 8 else ''}"
        )
    if reading.since:
        said += marked(signs(reading))[-1:]
    else:
        said.append("  counts since they were last cleared: a second reading tells if they grow")
    return "\n".join(said)


def _ports(count):
    return f"{count} port{'s' * (count != 1)}"


def _total(port):
    """Pauses of any kind, to put the ports in order."""
    seconds = sum(value or 0.0 for value in (*port.rx_seconds, *port.tx_seconds))
    frames = sum(value or 0 for value in (*port.rx, *port.tx))
    return frames or (port.link_rx or 0) + (port.link_tx or 0) or seconds


def _listed(port, way):
    frames, seconds = getattr(port, way), getattr(port, f"{way}_seconds")
    whole = getattr(port, f"link_{way}")
    said = []
    for priority in port.paused(way):
        counted = f"{frames[priority]:,}" if frames[priority] is not None else "paused"
        held = f" ({si(seconds[priority], 's')} in all)" if seconds[priority] else ""
        said.append(f"priority {priority}: {counted}{held}")
    if whole and whole != sum(value or 0 for value in frames):
        said.append(f"whole link or all priorities: {whole:,}")
    return "; ".join(said)
