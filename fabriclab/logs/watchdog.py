"""SONiC's PFC watchdog (``show pfcwd stats``, ``show pfcwd config``): queues that were paused so
long that it let go.

The layout, in our words. Statistics: one row per queue ("Ethernet4:3"), its status (operational or
stormed), storms detected and restored as "2/2", packets let through and dropped as "100/300" for
each direction, and the same again since the last storm. The configuration: one row per port with
the action (drop, forward, alert) and two times in milliseconds, after a line that may tell the
polling interval.

A storm is a queue that received pauses without a break for the detection time, 200 ms by default:
the peer, or what is behind it, did not take a packet for that long. The watchdog then drops that
queue's packets (or forwards them, no longer lossless) until the pauses have been gone for the
restoration time. It ends the stop of the others, not the cause.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fabriclab.logs.sign import Sign, marked
from fabriclab.logs.source import Part, lines, name, refuse, shorten
from fabriclab.units import ms, si

TOOL = "PFC watchdog"
DEFAULT = 200 * ms  # detection and restoration: SONiC's PFC watchdog, start_default
_STATS = re.compile(r"^\s*QUEUE\s+STATUS\s+STORM DETECTED/RESTORED\s+TX OK/DROP\s+RX OK/DROP\b")
_CONFIG = re.compile(r"^\s*PORT\s+ACTION\s+DETECTION TIME\s+RESTORATION TIME\b")
AGAIN = re.compile(f"(?P<stats>{_STATS.pattern})|(?P<config>{_CONFIG.pattern})")
SIGN = re.compile(f"{_STATS.pattern}|{_CONFIG.pattern}")
ROW = re.compile(r"\b(?:operational|stormed)\s+\d+/\d+\s+\d+/\d+")
_PAIR = re.compile(r"(\d{1,18})/(\d{1,18})")
_ACTIONS = ("drop", "forward", "alert")
_MOST = 20_000


@dataclass(frozen=True)
class Queue:
    """One queue: its `line`, `port` and `number`, whether it is `stormed` now, storms `detected`
    and `restored`, packets sent
    and received that passed and that were dropped while it stormed; None where N/A."""

    line: int
    port: str
    number: int
    stormed: bool
    detected: int
    restored: int
    sent: int | None = None
    sent_dropped: int | None = None
    received: int | None = None
    received_dropped: int | None = None

    @property
    def dropped(self):
        return (self.sent_dropped or 0) + (self.received_dropped or 0)


@dataclass(frozen=True)
class Setting:
    """How one port is watched: `action`, and `detection` and `restoration` in seconds (the latter
    None where not set).
    """

    line: int
    port: str
    action: str
    detection: float
    restoration: float | None


@dataclass(frozen=True)
class Reading:
    """The watchdog as read: `queues` with statistics, `settings` by port."""

    path: str
    queues: tuple[Queue, ...]
    settings: tuple[Setting, ...]

    tool = TOOL

    @property
    def storms(self):
        """The queues that had a storm, most first."""
        return tuple(
            sorted(
                (queue for queue in self.queues if queue.detected or queue.stormed),
                key=lambda queue: -queue.detected,
            )
        )


def read(path: Part) -> "Reading":
    """A `Reading` of SONiC's watchdog at `path`, statistics or configuration or both.

    Raises ValueError naming file, line and reason for a row that is not whole, a queue or port
    given twice, more storms restored than detected, and a table without a row: no data, not a quiet
    network.
    """
    queues, settings, table, last = {}, {}, None, 0
    for line in lines(path):
        last, text = line.number, line.text[:500]
        if _STATS.match(text) or _CONFIG.match(text):
            if not line.whole:
                refuse(path, last, f"the table's head is not whole: {shorten(text)}")
            table = _queue if _STATS.match(text) else _setting
        elif not text.strip() or re.match(r"\S+@\S+", text):
            table = None
        elif table and not re.fullmatch(r"[\s-]+", text):
            if not line.whole:
                refuse(path, last, "the file ends in the middle of a row")
            kept = queues if table is _queue else settings
            key, row = table(path, last, text)
            if key in kept:
                refuse(
                    path, last, f"{shorten(str(key))} is listed twice; save one reading per file"
                )
            kept[key] = row
            if len(kept) > _MOST:
                refuse(path, last, f"more than {_MOST:,} rows")
    if not queues and not settings:
        refuse(
            path,
            last,
            "watchdog header but no rows: missing data does not mean that there were no storms",
        )
    return Reading(name(path), tuple(queues.values()), tuple(settings.values()))


def _queue(path, number, text):
    cells = text.split()
    where = re.fullmatch(r"([A-Za-z][\w./-]{0,40}):(\d{1,2})", cells[0])
    pairs = [_PAIR.fullmatch(cell) for cell in cells[2:]]
    if (
        not where
        or len(cells) < 5
        or not pairs[0]
        or not all(pair or cell == "N/A" for pair, cell in zip(pairs, cells[2:]))
    ):
        refuse(
            path,
            number,
            f"not a whole row of a queue, its status and pairs of counts: {shorten(text)}",
        )
    if cells[1] not in ("operational", "stormed", "N/A"):  # N/A: not watched at present
        refuse(
            path,
            number,
            f"{shorten(cells[1])} is an unknown queue status (expected operational or stormed):"
            f" {shorten(text)}",
        )
    detected, restored = (int(count) for count in pairs[0].groups())
    if restored > detected:
        refuse(
            path,
            number,
            f"{restored} storms restored of {detected} detected, which cannot be: {shorten(text)}",
        )
    passed = [
        count
        for pair in pairs[1:3]
        for count in ((int(pair[1]), int(pair[2])) if pair else (None, None))
    ]
    return cells[0], Queue(
        number, where[1], int(where[2]), cells[1] == "stormed", detected, restored, *passed
    )


def _setting(path, number, text):
    cells = text.split()
    if cells[4:] and cells[4].lower() in ("enable", "disable", "enabled", "disabled", "n/a"):
        del cells[4]  # HISTORY, of later versions
    times = [float(cell) * ms if re.fullmatch(r"\d{1,7}", cell) else None for cell in cells[2:]]
    if (
        len(cells) != 4
        or cells[1] not in _ACTIONS
        or times[0] is None
        or times[1] is None
        and cells[3] not in ("infinite", "N/A", "0")
    ):
        refuse(path, number, f"not a whole row of a port, an action and two times: {shorten(text)}")
    return cells[0][:60], Setting(number, cells[0][:60], cells[1], times[0], times[1])


def signs(reading: "Reading", rate: float | None = None) -> Iterator:
    """What stands out in the watchdog's counts, storms that go on first; `rate` is not needed."""
    for queue in sorted(reading.storms, key=lambda queue: not queue.stormed)[:6]:
        now = (
            "and one goes on"
            if queue.stormed
            else (
                "all over, and when is not told"
                if queue.restored == queue.detected
                else f"{queue.restored} of them over, and it works now"
            )
        )
        lost = (
            f"; {queue.dropped:,} packet{'s' * (queue.dropped != 1)} dropped to end them"
            if queue.dropped
            else ""
        )
        says = (
            f"{queue.port} queue {queue.number}: {queue.detected}"
            f" storm{'s' * (queue.detected != 1)}, {now}{lost}; what is plugged in there, or lies"
            " behind it, stopped taking packets"
        )
        if queue.stormed:
            yield Sign("stormed", says)
        else:
            yield Sign("stormed-before", says)
    if len(reading.storms) > 6:
        yield Sign(
            "storms-spread",
            f"… and {len(reading.storms) - 6} more queues with storms: they spread from one place,"
            " look where most began",
        )
    slow = [setting for setting in reading.settings if setting.detection > DEFAULT]
    if slow:
        yield Sign(
            "watchdog-slow",
            f"{slow[0].port} waits {si(slow[0].detection, 's')} before it calls a storm, where"
            f" {si(DEFAULT, 's')} is the default: all that time it spreads",
        )


def report(reading: "Reading") -> str:
    """The few lines that ``fabriclab read`` prints for the watchdog."""
    stormy = len(reading.storms)
    said = []
    if reading.queues:
        head = (
            f"{TOOL} (SONiC): {len(reading.queues)} queue{'s' * (len(reading.queues) != 1)},"
            f" {stormy} with a storm"
        )
        if stormy:
            said.append(
                "a storm: pauses received without a break for the detection time,"
                f" {si(DEFAULT, 's')} unless set otherwise"
            )
    else:
        head = (
            f"{TOOL} (SONiC), its configuration: {len(reading.settings)}"
            f" port{'s' * (len(reading.settings) != 1)}"
        )
    for action, detection, restoration in list(
        dict.fromkeys((one.action, one.detection, one.restoration) for one in reading.settings)
    )[:4]:
        ports = sum(
            (one.action, one.detection, one.restoration) == (action, detection, restoration)
            for one in reading.settings
        )
        said.append(
            f"{ports} port{'s' * (ports != 1)}: {action} after {si(detection, 's')}"
            + (
                f", back after {si(restoration, 's')} without pauses"
                if restoration is not None
                else ""
            )
        )
    return "\n".join([head, *(f"  {line}" for line in said), *marked(signs(reading))])
