"""ibqueryerrors: the ports of a fabric whose error counters are above a threshold.

The layout, in our words. A line per node ("Errors for "host7 mlx4_0"", or a GUID and the name), a
line per port with counters in brackets: ``GUID 0x… port 5: [SymbolErrorCounter == 65535] […]``;
"port ALL" sums a switch. Under a port may stand its link. At the end a summary behind ##.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fabriclab.logs.layout import Layout
from fabriclab.logs.perfquery.counters import _BITS
from fabriclab.logs.sign import Sign, marked
from fabriclab.logs.source import Part, name, refuse, shorten

TOOL = "ibqueryerrors"
LAYOUT = Layout(
    TOOL,
    begins={
        "node": 'Errors for "{node:text}"',
        "switch": 'Errors for {guid:hex} "{node:text}"',
        "port": "GUID {guid:hex} port {number:word}: {counters:text}",
        "summary": "## Summary: {nodes:count} nodes checked, {bad:count} bad nodes found",
    },
    lines={
        "ports": "## {ports:count} ports checked, {bad:count} ports have errors beyond threshold"
    },
    skip=("# {rest}", "## {rest}", "##", "Link info: {rest}", "{rest}==({more:text}", "> {rest}"),
)
SIGN = re.compile(rf"{LAYOUT.sign}|^\s*# ?ibqueryerrors\b")
_COUNTER = re.compile(r"\[(\w{1,60}) == (\d{1,20})(?: \([^)]*\))?\]")
_CABLE = ("SymbolErrorCounter", "PortRcvErrors", "LocalLinkIntegrityErrors")
_MOST_NODES = 20


@dataclass(frozen=True)
class Port:
    """One port: its `line`, its `node`'s name, its `number` (None: the sum over a switch), its
    `counters` by name.
    """

    line: int
    node: str
    number: int | None
    counters: tuple[tuple[str, int], ...]

    def count(self, counter):
        """The count, 0 where it is below the threshold and so not printed."""
        return dict(self.counters).get(counter, 0)

    @property
    def called(self):
        return f"{self.node} port {self.number}"


@dataclass(frozen=True)
class Reading:
    """The ports above the threshold; how many nodes and ports were `checked`, None where not
    printed.
    """

    path: str
    ports: tuple[Port, ...]
    nodes: int | None = None
    checked: int | None = None

    tool = TOOL


def read(path: Part) -> "Reading":
    """A `Reading` of ibqueryerrors' output at `path`.

    Raises ValueError naming file, line and reason for a port's line that is not counters in
    brackets, and for a line that is none of the tool's.
    """
    ports, node, nodes, checked, at = [], "a node not named", None, None, 1
    for at, form, values in LAYOUT.read(path):
        if form in ("node", "switch"):
            node = values["node"][:80]
        elif form == "summary":
            nodes = values["nodes"]
        elif form == "ports":
            checked = values["ports"]
        else:
            found = _COUNTER.findall(values["counters"])
            number = values["number"]
            if not found or _COUNTER.sub("", values["counters"]).strip():
                refuse(path, at, f"not counters in brackets: {shorten(values['counters'])}")
            if not re.fullmatch(r"\d{1,3}|ALL", number):
                refuse(path, at, f"{shorten(number)} is not a port's number")
            ports.append(
                Port(
                    at,
                    node,
                    None if number == "ALL" else int(number),
                    tuple((counter, int(value)) for counter, value in found),
                )
            )
    if not ports and nodes is None:
        refuse(path, at, "no port and no summary in it: missing data is not zero")
    return Reading(name(path), tuple(ports), nodes, checked)


def _seen(counter, value):
    full = value == (1 << _BITS.get(counter, 64)) - 1
    return f"{counter} {'at least ' * full}{value:,}{' (full: it has stopped)' * full}"


def signs(reading: "Reading", rate: float | None = None) -> Iterator:
    """What stands out, port by port, the gravest first."""
    ports = [port for port in reading.ports if port.number is not None]
    for sign, counters, meaning in (
        (
            lambda says: Sign("errors-once", says),
            _CABLE,
            "damaged on this cable: clean, reseat or replace it",
        ),
        (
            lambda says: Sign("link-downs", says),
            ("LinkDownedCounter", "LinkErrorRecoveryCounter"),
            "the link came and went",
        ),
        (
            lambda says: Sign("discards-once", says),
            ("PortXmitDiscards",),
            "packets thrown away: behind it something is stuck",
        ),
    ):
        for port in sorted(ports, key=lambda port: -sum(map(port.count, counters)))[:_MOST_NODES]:
            seen = [_seen(one, port.count(one)) for one in counters if port.count(one)]
            if seen:
                yield sign(f"{port.called}: {', '.join(seen)}: {meaning}")


def report(reading: "Reading") -> str:
    """The few lines that ``fabriclab read`` prints for ibqueryerrors' output."""
    ports = [port for port in reading.ports if port.number is not None]
    of = f" of {reading.checked:,}" if reading.checked else ""
    said = [f"{TOOL}: {len(ports)} port{'s' * (len(ports) != 1)}{of} above the threshold"]
    waits = sum(1 for port in ports if port.count("PortXmitWait"))
    if waits:
        said.append(
            f"  PortXmitWait at {waits}: ticks with data ready and no credit; one reading says"
            " little, watch how it grows"
        )
    found = list(signs(reading))
    said += marked(found[:_MOST_NODES])
    if len(found) > _MOST_NODES:
        said.append(f"  ! … and {len(found) - _MOST_NODES} more")
    said.append("  counts since they were cleared: ibqueryerrors -k clears, then look again")
    return "\n".join(said)
