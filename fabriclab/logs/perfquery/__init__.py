"""perfquery: a port's counters. `counters` reads the layout, `signs` judges an answer and makes
rates of two; here they are told.
"""

from fabriclab.logs.perfquery.counters import SIGN, TOOL, WORD, Port, Reading, read
from fabriclab.logs.perfquery.signs import CABLE, Rates, latest, pairs, port_signs, rates, signs
from fabriclab.logs.sign import marked
from fabriclab.units import si

__all__ = [
    "CABLE",
    "Port",
    "Rates",
    "Reading",
    "SIGN",
    "TOOL",
    "WORD",
    "latest",
    "pairs",
    "port_signs",
    "rates",
    "read",
    "report",
    "signs",
    "told",
]


def told(found: Rates, rate: float | None = None) -> list[str]:
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


def report(reading: Reading) -> str:
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
