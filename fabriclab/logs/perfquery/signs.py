"""What a port's counters show: what stands out in one answer, and the rates between two."""

from collections.abc import Iterator
from dataclasses import dataclass

from fabriclab.checks import positive
from fabriclab.logs.perfquery.counters import WORD, Port, Reading
from fabriclab.logs.sign import Sign
from fabriclab.units import Gbps, si

CABLE = (
    "SymbolErrorCounter",
    "PortRcvErrors",
    "LocalLinkIntegrityErrors",
    "LinkErrorRecoveryCounter",
)


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


def rates(before: Port, after: Port, seconds: float) -> Rates:
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


def pairs(reading: Reading) -> list:
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


def signs(reading: Reading, rate: float | None = None) -> Iterator:
    """What stands out in perfquery's answers, of each port the last one's; `rate` is not needed."""
    for port in latest(reading):
        yield from port_signs(port)


def latest(reading: Reading) -> tuple[Port, ...]:
    """The last answer of each port and set of counters."""
    return tuple({(port.called, port.set): port for port in reading.ports}.values())


def port_signs(port: Port) -> Iterator:
    """What stands out in one answer, the gravest first."""
    if not port.counters:
        yield Sign("no-counters", "no counter was answered: missing data is not zero")
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
