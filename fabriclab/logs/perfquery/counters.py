"""perfquery: a port's counters: what it sent and received, what it threw away, what arrived
damaged.

The layout, in our words. A comment names the set of counters, the LID and the port; then lines of a
name, a colon, dots and a count. Two sets matter: the plain one (32 bits for traffic, 4 to 16 for
errors) and the extended one (-x, 64 bits).
The names are spelt long or short (PortXmitData, XmtData). A plain counter that is full stays at all
ones. PortXmitData and PortRcvData count words of 4 bytes, however many lanes the link has (IBTA
specification, volume 1, PortCounters).
A file may hold several ports. An answer without a counter is no data; it is not zeros.

Two answers of one port and the time between them make rates. perfquery prints no time; a line of
``date -Is`` (or of ``date +%s``) in front of each answer gives it: ``(date -Is; perfquery -x 41 17;
sleep 10; date -Is; perfquery -x 41 17) > file``.
"""

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from fabriclab.logs.source import Part, lines, name, refuse, shorten

TOOL = "perfquery"


WORD = 4  # bytes that PortXmitData and PortRcvData count as one


_BITS = {  # of the plain set; every extended counter has 64
    "SymbolErrorCounter": 16,
    "LinkErrorRecoveryCounter": 8,
    "LinkDownedCounter": 8,
    "PortRcvErrors": 16,
    "PortRcvRemotePhysicalErrors": 16,
    "PortRcvSwitchRelayErrors": 16,
    "PortXmitDiscards": 16,
    "PortXmitConstraintErrors": 8,
    "PortRcvConstraintErrors": 8,
    "LocalLinkIntegrityErrors": 4,
    "ExcessiveBufferOverrunErrors": 4,
    "QP1Dropped": 16,
    "VL15Dropped": 16,
    "PortXmitData": 32,
    "PortRcvData": 32,
    "PortXmitPkts": 32,
    "PortRcvPkts": 32,
    "PortXmitWait": 32,
}


_SHORT = {
    "SymbolErrors": "SymbolErrorCounter",
    "LinkRecovers": "LinkErrorRecoveryCounter",
    "LinkDowned": "LinkDownedCounter",
    "RcvErrors": "PortRcvErrors",
    "RcvRemotePhysErrors": "PortRcvRemotePhysicalErrors",
    "RcvSwRelayErrors": "PortRcvSwitchRelayErrors",
    "XmtDiscards": "PortXmitDiscards",
    "XmtConstraintErrors": "PortXmitConstraintErrors",
    "RcvConstraintErrors": "PortRcvConstraintErrors",
    "LinkIntegrityErrors": "LocalLinkIntegrityErrors",
    "ExcBufOverrunErrors": "ExcessiveBufferOverrunErrors",
    "XmtData": "PortXmitData",
    "RcvData": "PortRcvData",
    "XmtPkts": "PortXmitPkts",
    "RcvPkts": "PortRcvPkts",
    "XmtWait": "PortXmitWait",
}


_UNICAST = "PortUnicastXmitPkts"  # one that only the extended set has


SIGN = re.compile(
    rf"^\s*(?:# Port[A-Za-z ]{{0,40}} counters: |(?:PortSelect|{'|'.join((*_BITS, *_SHORT))}):\.\.)"
)


_HEAD = re.compile(
    r"^\s*#\s*(Port[A-Za-z ]{0,40}?) ?counters: (?:Lid (\d{1,5})|(DR path .{1,200}?)) port"
    r" (\d{1,3})(?!\d)"
)


_COMMENT = re.compile(r"\s*#\s*Port.* counters:")


_FIELD = re.compile(r"^\s*([A-Za-z]\w{1,60}):\.*\s*(.*?)\s*$")


_TIME = re.compile(
    r"^\s*#?\s*(?:(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:[.,](\d{1,6})\d{0,3})?"
    r"(Z|[+-]\d\d:?\d\d)?|(\d{10})(?:\.(\d{1,6})\d{0,3})?)\s*$"
)


_MOST_PORTS = 20_000


@dataclass(frozen=True)
class Port:
    """One answer: its first `line`, the port's `lid` (or directed `route`) and `number`, None where
    not printed; which `set` of counters ("extended", "plain", or the name of a set of details), and
    the counts by their long names, as printed; `at` the time of the line of `date` in front,
    seconds since 1970, None without one; `local` where it named no zone.
    """

    line: int
    lid: int | None
    route: str | None
    number: int | None
    set: str
    counters: tuple[tuple[str, int], ...]
    at: float | None = None
    local: bool = False

    def count(self, counter):
        """The count as printed, None where it was not."""
        return dict(self.counters).get(counter)

    @property
    def full(self):
        """The counters that stand at all ones: they have stopped, and the truth is that much or
        more.
        """
        return tuple(counter for counter, value in self.counters if value == self._most(counter))

    @property
    def sent(self):
        """Bytes sent since the counters were cleared; at least that where PortXmitData is
        `full`.
        """
        return _bytes(self.count("PortXmitData"))

    @property
    def received(self):
        """Bytes received since the counters were cleared; at least that where PortRcvData is
        `full`.
        """
        return _bytes(self.count("PortRcvData"))

    @property
    def called(self):
        where = f"LID {self.lid}" if self.lid is not None else self.route
        return (
            ", ".join(
                part
                for part in (where, f"port {self.number}" if self.number is not None else None)
                if part
            )
            or "a port not named"
        )

    def _most(self, counter):
        return (1 << (_BITS.get(counter, 32) if self.set == "plain" else 64)) - 1


@dataclass(frozen=True)
class Reading:
    """perfquery's output as read: its answers in the order of the file."""

    path: str
    ports: tuple[Port, ...]

    tool = TOOL


def _bytes(words):
    return None if words is None else words * WORD


def read(path: Part) -> Reading:
    """A `Reading` of perfquery's output at `path`, with as many ports as it holds answers.

    Raises ValueError naming file, line and reason for a count that is none or that its counter
    cannot hold, a comment or a line that is cut, and a file without a single counter: an empty
    answer is no data, not zeros.
    """
    ports, head, counters, last, at, local = [], None, {}, 0, None, False

    def close():
        if head:
            ports.append(replace(_port(path, head, counters, at), local=local))
            if len(ports) > _MOST_PORTS:
                refuse(path, last, f"more than {_MOST_PORTS:,} ports")

    for line in lines(path):
        last, text = line.number, line.text[:500]
        if "#" in text and _COMMENT.match(text):
            found = _HEAD.match(text)
            if not found or not line.whole:
                refuse(path, last, f"truncated perfquery header: {shorten(text)}")
            close()
            head, counters = (last, *found.groups()), {}
            continue
        if ":" not in text and len(text) > 40:  # neither a counter nor a time
            continue
        if line.whole and len(text) < 60 and (found := _TIME.match(text)):
            close()
            head, counters, at, local = (
                None,
                {},
                _seconds(path, last, *found.groups()),
                not (found[3] or found[4]),
            )
            continue
        found = _FIELD.match(text)
        if not found or not (":." in text or found[1] in _SHORT or found[1] in _BITS):
            continue
        if not line.whole:
            refuse(path, last, f"the file ends in the middle of {found[1][:40]}")
        counter, value = _SHORT.get(found[1], found[1]), found[2]
        select = re.fullmatch(r"(?:Port|Counter)Select2?", counter)
        if not re.fullmatch(r"\d{1,20}|0x[0-9a-fA-F]{1,16}" if select else r"\d{1,20}", value):
            refuse(path, last, f"{found[1]} is {shorten(value)}: not a count")
        if head is None or counter in counters:
            close()
            head, counters = (last, None, None, None, None), {}
        counters[counter] = (last, int(value, 0) if value.startswith("0x") else int(value))
        if len(counters) > 500:
            refuse(path, last, "more than 500 counters of one port")
    close()
    if not any(port.counters for port in ports):
        refuse(path, last, "no counters found: missing data is not zero")
    return Reading(name(path), tuple(ports))


def _seconds(path, number, day, part, zone, epoch, epoch_part):
    """Seconds since 1970 of a line of `date`; without a zone it is taken as UTC, since only
    differences count.
    """
    if epoch:
        return int(epoch) + float(f"0.{epoch_part or 0}")
    try:
        moment = datetime.fromisoformat(day + (zone or "+00:00"))
    except ValueError:
        refuse(path, number, f"{shorten(day)} is not a valid time")
    return moment.astimezone(UTC).timestamp() + float(f"0.{part or 0}")


def _port(path, head, found, at):
    line, kind, lid, route, number = head
    values = {
        counter: value
        for counter, (_, value) in found.items()
        if not counter.endswith(("Select", "Select2"))
    }
    if kind is None:
        kind = (
            "Port extended"
            if _UNICAST in values or any(value >> 32 for value in values.values())
            else "Port"
        )
        number = found.get("PortSelect", (0, None))[1]
    kept = {"Port": "plain", "Port extended": "extended"}.get(kind.strip(), kind.strip())
    port = Port(
        line,
        int(lid) if lid else None,
        route,
        int(number) if number is not None else None,
        kept,
        tuple(values.items()),
        at,
    )
    for counter, value in values.items():
        if value > port._most(counter):
            refuse(
                path,
                found[counter][0],
                f"{counter} is {value:,}, more than its {port._most(counter).bit_length()} bits"
                " hold",
            )
    return port
