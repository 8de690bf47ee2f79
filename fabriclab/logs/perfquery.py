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

from fabriclab.checks import positive
from fabriclab.logs.sign import Sign, marked
from fabriclab.logs.source import lines, name, refuse, shorten
from fabriclab.units import Gbps, si

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
CABLE = (
    "SymbolErrorCounter",
    "PortRcvErrors",
    "LocalLinkIntegrityErrors",
    "LinkErrorRecoveryCounter",
)


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


@dataclass(frozen=True)
class Rates:
    """What a port did between two readings: bytes and packets per second, ticks of PortXmitWait per
    second, None where either reading lacks the counter; `grown` is by how much each counter rose.
    `at_least` names the counters that were full at
    the end: their rates and rises are lower bounds."""

    seconds: float
    sent: float | None
    received: float | None
    packets_sent: float | None
    packets_received: float | None
    wait: float | None
    grown: tuple[tuple[str, int], ...]
    at_least: tuple[str, ...]


def _bytes(words):
    return None if words is None else words * WORD


def read(path) -> "Reading":
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
        refuse(path, last, "no counter in it: an empty answer is no data, not zeros")
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


def rates(before, after, seconds):
    """The `Rates` of a port between two of its answers, `seconds` apart: ``(after - before) /
    seconds``, data x 4 bytes.

    Raises ValueError for answers of different ports or sets of counters, for a counter that went
    backwards (cleared in between, a device restarted, or the two swapped), for answers with no
    counter in common, and for no time in between.

    >>> before, after = (Port(1, 133, None, 1, "extended", (("PortXmitData", words),)) for words
    ...     in (1_000, 12_500_001_000))
    >>> rates(before, after, 2.0).sent
    25000000000.0
    """
    seconds = positive("seconds", seconds)
    for argument, port in (("before", before), ("after", after)):
        if not isinstance(port, Port):
            raise ValueError(f"{argument} must be a perfquery.Port, not {type(port).__name__}")
    if (before.lid, before.route, before.number) != (after.lid, after.route, after.number):
        raise ValueError(
            f"before and after must be of one port, not of {before.called} and {after.called}"
        )
    if before.set != after.set:
        raise ValueError(
            f"before and after must hold one set of counters, not {before.set} and {after.set}"
        )
    first, grown = dict(before.counters), {}
    for counter, value in after.counters:
        if counter not in first:
            continue
        if value < first[counter]:
            raise ValueError(
                f"after must not count less than before: {counter} fell from {first[counter]:,} to"
                f" {value:,}; cleared in between, or swapped"
            )
        if counter not in before.full:  # full at the start, it could not tell anything
            grown[counter] = value - first[counter]
    if not set(first) & set(dict(after.counters)):
        raise ValueError("before and after must have a counter in common")

    def rate(counter, unit=1):
        return grown[counter] * unit / seconds if counter in grown else None

    traffic = (
        rate("PortXmitData", WORD),
        rate("PortRcvData", WORD),
        rate("PortXmitPkts"),
        rate("PortRcvPkts"),
        rate("PortXmitWait"),
    )
    return Rates(
        seconds,
        *traffic,
        tuple(grown.items()),
        tuple(counter for counter in after.full if counter in first),
    )


def pairs(reading):
    """(before, after, seconds) for answers of one port and set that follow each other in the file;
    seconds None without times, and where one
    of the two has a zone and the other none."""
    latest, found = {}, []
    for port in reading.ports:
        key = (port.lid, port.route, port.number, port.set)
        if key in latest:
            before = latest[key]
            found.append(
                (
                    before,
                    port,
                    (
                        port.at - before.at
                        if None not in (port.at, before.at) and port.local == before.local
                        else None
                    ),
                )
            )
        latest[key] = port
    return found


def told(found, rate=None):
    """What the `Rates` between two answers say, line by line; `rate` is the port's line rate in
    bytes per second, if known.
    """
    said = []
    for words, amount, data in (
        ("sent", found.sent, "PortXmitData"),
        ("received", found.received, "PortRcvData"),
    ):
        if amount is not None:
            least = "at least " if data in found.at_least else ""
            said.append(
                f"{words} {least}{si(amount, 'B/s')}"
                + (f", {amount / rate:.0%} of the line" if rate else "")
            )
    if found.wait:
        said.append(
            f"PortXmitWait grows by {found.wait:,.0f} ticks a second: data ready, and no credit, or"
            " no turn, to send"
        )
    grown = [
        f"{counter} by {'at least ' * (counter in found.at_least)}{rise:,}"
        for counter, rise in found.grown
        if rise and not counter.endswith(("Data", "Pkts", "Wait"))
    ]
    said.append(f"grew: {', '.join(grown)}" if grown else "no error counter grew")
    stuck = [counter for counter in found.at_least if counter not in dict(found.grown)]
    if stuck:
        said.append(f"full at both readings, so they tell nothing: {', '.join(stuck)}")
    return said


def signs(reading: "Reading", rate: float | None = None):
    """What stands out in perfquery's answers, of each port the last one's; `rate` is not needed."""
    for port in latest(reading):
        yield from port_signs(port)


def latest(reading):
    """The last answer of each port and set of counters."""
    return tuple({(port.called, port.set): port for port in reading.ports}.values())


def port_signs(port):
    """What stands out in one answer, the gravest first."""
    if not port.counters:
        yield Sign("no-counters", "no counter was answered: this is no data, not zeros")
        return
    full = port.full

    def seen(counter):
        return f"{'at least ' if counter in full else ''}{port.count(counter):,}"

    if stuck := [counter for counter in full if counter.endswith(("Data", "Pkts", "Wait"))]:
        data = [port.count(counter) for counter in stuck if counter.endswith("Data")]
        least = f": at least {si(max(data) * WORD, 'B')} each" if data else ""
        when = (
            f"; {si((1 << 32) * WORD / (400 * Gbps), 's', 2)} at 400 Gb/s fill 32 bits of data:"
            " read the extended counters (-x)"
            if port.set == "plain"
            else ""
        )
        yield Sign(
            "counters-full",
            f"{port.called}: {', '.join(stuck)} stopped at all ones{least}, and any rate from them"
            f" is a lower bound{when}",
        )
    damaged = [counter for counter in CABLE if port.count(counter)]
    if damaged:
        yield Sign(
            "errors-once",
            f"{', '.join(f'{counter} {seen(counter)}' for counter in damaged)}: bits arrive"
            " damaged; look at this cable and both its ends (mlxlink)",
        )
    if port.count("PortXmitDiscards"):
        why = "congestion or a port that is or was down" + (
            ", not a bad cable: no receive errors beside them"
            if port.count("PortRcvErrors") == 0
            else ""
        )
        yield Sign(
            "discards-once",
            f"PortXmitDiscards {seen('PortXmitDiscards')}: packets that could not leave; {why}",
        )
    if port.count("LinkDownedCounter"):
        yield Sign(
            "link-downs",
            f"the link went down {seen('LinkDownedCounter')}"
            f" time{'s' * (port.count('LinkDownedCounter') != 1)} since the counters were cleared",
        )
    for counter, meaning in (
        (
            "PortRcvRemotePhysicalErrors",
            "packets that another port had already marked bad: look further up the path, not here",
        ),
        ("ExcessiveBufferOverrunErrors", "the sender at the far end ran over this port's buffer"),
        ("PortXmitConstraintErrors", "packets against the partition or routing rules, not sent"),
        ("PortRcvConstraintErrors", "packets against the partition or routing rules, not taken"),
        (
            "PortRcvSwitchRelayErrors",
            "packets that the switch had no way out for; a few are common with multicast",
        ),
        ("PortLocalPhysicalErrors", "damaged on this link"),
        ("PortMalformedPktErrors", "packets that are none"),
        ("PortBufferOverrunErrors", "packets that found no buffer"),
    ):
        if port.count(counter):
            yield Sign("other-errors", f"{counter} {seen(counter)}: {meaning}")


def report(reading: "Reading") -> str:
    """The few lines that ``fabriclab read`` prints for perfquery's output."""
    said = [
        line
        for number, port in enumerate(reading.ports[:20], 1)
        for line in _block(port, number, len(reading.ports))
    ]
    if len(reading.ports) > 20:
        wrong = sum(any(port_signs(port)) for port in reading.ports[20:])
        said.append(
            f"… and {len(reading.ports) - 20} more ports, {wrong} of them with something to look at"
        )
    between = [pair for pair in pairs(reading) if pair[0].set in ("plain", "extended")]
    timed = [pair for pair in between if pair[2] is not None]
    for before, after, seconds in timed[:8]:
        try:
            found = rates(before, after, seconds)
        except ValueError as error:
            said.append(
                f"! no rates of {after.called}, lines {before.line} and {after.line}: {error}"
            )
        else:
            said += [
                (
                    f"{after.called}, in the {si(seconds, 's')} from line {before.line} to line"
                    f" {after.line}:"
                ),
                *(f"  {line}" for line in told(found)),
            ]
    if len(timed) > 8:
        said.append(f"… and {len(timed) - 8} more pairs of answers")
    if between and not timed:
        said.append(
            f"{between[0][1].called} is read more than once: a line of date -Is before each answer"
            " gives the rates, or perfquery.rates(before, after, seconds)"
        )
    return "\n".join(said)


def _block(port, number, of):
    which = {"plain": "32-bit counters", "extended": "extended counters"}.get(
        port.set, f"counters of {port.set}"
    )
    head = f"perfquery{f', answer {number} of {of}' if of > 1 else ''}: {port.called}, {which}"
    said = []
    for words, amount, data, packets in (
        ("sent", port.sent, "PortXmitData", "PortXmitPkts"),
        ("received", port.received, "PortRcvData", "PortRcvPkts"),
    ):
        if amount is not None:
            least = "at least " if data in port.full else ""
            said.append(
                f"{words} {least}{si(amount, 'B')}"
                + (
                    f" in {port.count(packets):,} packets"
                    if port.count(packets) is not None
                    else ""
                )
            )
    if said:
        said[-1] += "; data are counted in words of 4 bytes"
    if port.count("PortXmitWait"):
        said.append(
            f"PortXmitWait {port.count('PortXmitWait'):,} ticks with data ready and no credit, or"
            " no turn, to send; a tick's length is the device's own, so watch how it grows"
        )
    if port.counters and not any(
        value for counter, value in port.counters if not counter.endswith(("Data", "Pkts", "Wait"))
    ):
        said.append("no error counted")
    if said and port.set in ("plain", "extended"):
        said.append(
            "one reading is a sum since the counters were cleared: take a second one for rates"
        )
    return [head, *(f"  {line}" for line in said), *marked(port_signs(port))]
