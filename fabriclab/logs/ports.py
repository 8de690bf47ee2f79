"""Ports as the host sees them: ``ibstat``, ``ibstatus``, ``ibv_devinfo``, ``rdma link`` and
``ibdev2netdev``: state, rate, MTU and link layer of each.

The layouts, in our words. ibstat: a block per adapter ("CA 'mlx5_0'"), in it one per port with
State, Physical state, Rate in Gb/s. ibstatus: a block per port, the rate with its lanes and
generation ("200 Gb/sec (4X HDR)"). ibv_devinfo: a block per adapter ("hca_id: mlx5_0"), in it one
per port, with the MTU in use and the largest; with -v also active_width and active_speed per lane.
rdma link and ibdev2netdev: a line per port.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from fabriclab.logs.layout import Layout
from fabriclab.logs.sign import Sign, marked
from fabriclab.logs.source import Part, name, refuse
from fabriclab.units import Gbps, si

TOOL = "ibstat, ibstatus, ibv_devinfo"
LAYOUT = Layout(
    TOOL,
    begins={
        "adapter": "CA '{device:word}'",
        "numbered": "CA {number:int} '{device:word}'",
        "hca": "hca_id: {device:word}",
        "status": "Infiniband device '{device:word}' port {number:int} status:",
        "link": "link {device:word}/{number:int} state {state:word} physical_state {physical:word}"
        "{rest:text}",
        "netdev": "{device:word} port {number:int} ==> {netdev:word} ({state:word})",
    },
    lines={
        "port": "Port {number:int}:",
        "vport": "port: {number:int}",
        "state": "State: {state:text}",
        "physical": "Physical state: {physical:text}",
        "phys": "phys state: {code:int}: {physical:text}",
        "coded": "state: {code:int}: {state:text}",
        "verbs": "state: PORT_{state:word} ({code:int})",
        "verbs_physical": "phys_state: {physical:word} ({code:int})",
        "rate": "Rate: {rate:float}",
        "rate_ten": "Rate: {rate:float} (FDR10)",
        "lanes": "rate: {rate:float} Gb/sec ({width:int}X {speed:word})",
        "lanes_only": "rate: {rate:float} Gb/sec ({width:int}X)",
        "active_width": "active_width: {width:int}X ({code:int})",
        "active_speed": "active_speed: {lane:float} Gbps ({code:int})",
        "mtu": "active_mtu: {mtu:int} ({code:int})",
        "most_mtu": "max_mtu: {most:int} ({code:int})",
        "layer": "Link layer: {layer:word}",
        "link_layer": "link_layer: {layer:word}",
    },
    # addresses, versions, capabilities; -v of ibv_devinfo lists some eighty
    skip=(
        "{key:word}: {rest}",
        "{a:word} {key:word}: {rest}",
        "{a:word} {b:word} {key:word}: {rest}",
    )
    + ("{a:word} {b:word} {c:word} {key:word}: {rest}", "GID[{index:text}]: {rest}")
    + ("{CAPABILITY:word}", "{a:text} not supported", "{a:text}:"),
)
SIGN = re.compile(LAYOUT.sign)
_STATES = {"up": "active", "down": "down", "init": "initializing", "initialize": "initializing"}


@dataclass(frozen=True)
class Port:
    """One port: the adapter's name (`device`) and its `number`, `state` and `physical` state in
    lower case, `rate` in bytes per second as printed, `width` in lanes, `speed` ("HDR"), `mtu` in
    use and the largest (`most_mtu`) in bytes, `layer` ("InfiniBand", "Ethernet"), its `netdev`.
    None: not printed.
    """

    line: int
    device: str
    number: int | None = None
    state: str | None = None
    physical: str | None = None
    rate: float | None = None
    width: int | None = None
    speed: str | None = None
    mtu: int | None = None
    most_mtu: int | None = None
    layer: str | None = None
    netdev: str | None = None

    @property
    def called(self):
        return self.device if self.number in (None, 1) else f"{self.device} port {self.number}"

    @property
    def up(self):
        """Whether it carries data; None where its state is not printed."""
        return None if self.state is None else self.state == "active"


@dataclass(frozen=True)
class Reading:
    """The ports of one host, in the order of the text."""

    path: str
    ports: tuple[Port, ...]

    tool = TOOL


def read(path: Part) -> "Reading":
    """A `Reading` of ibstat, ibstatus, ibv_devinfo, rdma link or ibdev2netdev at `path`.

    Raises ValueError naming file, line and reason for a line that is none of theirs, and for a
    listing without a port.
    """
    ports, device, at, lane = [], None, 0, None

    def note(**facts):
        nonlocal lane
        if "lane" in facts:
            lane = facts.pop("lane")
        facts.pop("code", None)
        if ports and ports[-1].device == device:
            ports[-1] = replace(ports[-1], **_plain(facts))
            one = ports[-1]
            if lane and one.width and one.rate is None:
                ports[-1] = replace(one, rate=lane * one.width * Gbps)

    for found in LAYOUT.read(path):
        values, at = dict(found.values), found.line
        if found.form in ("adapter", "numbered", "hca"):
            device = values["device"]
        elif found.form in ("status", "link", "netdev"):
            device, lane = values.pop("device"), None
            rest = values.pop("rest", "")
            if named := re.search(r"\bnetdev (\S+)", rest):
                values["netdev"] = named[1]
            ports.append(Port(at, device, values.pop("number")))
            note(**values)
        elif found.form in ("port", "vport"):
            lane = None
            ports.append(Port(at, device, values["number"]))
        elif found.form == "rate" and not values["rate"]:
            continue
        else:
            note(**values)
    if not ports:
        refuse(path, at, "an adapter, but no port of it: cut, or filtered")
    return Reading(name(path), tuple(ports))


def _plain(facts):
    plain = {"most": "most_mtu"}
    facts = {plain.get(key, key): value for key, value in facts.items()}
    if "state" in facts:
        state = facts["state"].lower()
        facts["state"] = _STATES.get(state, state)
    if "physical" in facts:
        facts["physical"] = facts["physical"].lower().replace("_", "")
    if "rate" in facts:
        facts["rate"] *= Gbps
    return facts


def signs(reading: "Reading", rate: float | None = None) -> Iterator:
    """What stands out in a host's ports, the gravest first; `rate`, bytes per second that a port
    should carry, where it is known.
    """
    ports = reading.ports
    up = [port for port in ports if port.up]
    for port in ports:
        if port.up is False:
            where = f", physical state {port.physical}" if port.physical else ""
            idle = port.physical in ("disabled", "polling") and up
            says = f"{port.called} is {port.state}{where}"
            if idle:
                says += "; other ports of the host are up, so it may have no cable"
                yield Sign("port-idle", says)
            else:
                yield Sign("port-down", says)
    for port in up:
        whole = _split(port, up) and rate and port.rate and port.rate >= 0.99 * rate
        if port.width and port.width < 4 and port.rate and not whole:
            of = port.rate * 4 / port.width
            says = (
                f"{port.called} has {port.width} of 4 lanes: {si(port.rate, 'b/s')}, with all four"
                f" it would be {si(of, 'b/s')}"
            )
            if _split(port, up) and not rate:
                says += "; fine only where the card or a split cable has two"
                yield Sign("one-lane", says)
            elif port.layer == "Ethernet" and port.width == 1:
                says += "; fine only where it is meant to be a one-lane Ethernet port"
                yield Sign("one-lane", says)
            else:
                yield Sign("slow-port", says)
    rates = {port.rate for port in up if port.rate}
    if rate:
        for port in up:
            if port.rate and port.rate < 0.99 * rate and (port.width or 4) >= 4:
                yield Sign(
                    "slower-port",
                    f"{port.called} runs at {si(port.rate, 'b/s')}, below the {si(rate, 'b/s')}"
                    " that it should carry",
                )
    elif len(rates) > 1:
        most = max(rates)
        slow = [port.called for port in up if port.rate and port.rate < most and port.width != 1]
        if slow:
            yield Sign(
                "slower-port",
                f"{', '.join(slow[:6])} below {si(most, 'b/s')}, the fastest port of this host",
            )
    yield from _mtus(up)


def _mtus(up):
    for port in up:
        if port.mtu and port.most_mtu and port.mtu < port.most_mtu:
            yield Sign(
                "mtu-below",
                f"{port.called} uses an MTU of {port.mtu:,} B, and could use {port.most_mtu:,}:"
                " both ends and the switches must agree",
            )
    alike = {}  # a port for storage or management may well have another MTU
    for port in up:
        if port.mtu:
            alike.setdefault((port.layer, port.rate), set()).add(port.mtu)
    for mtus in alike.values():
        if len(mtus) > 1:
            yield Sign(
                "mtu-differs",
                f"MTUs of {' and '.join(f'{mtu:,}' for mtu in sorted(mtus))} B on one host",
            )


def _split(port, up):
    """Whether two lanes are all that it has, as cards of 100 Gb/s (2X HDR) and 200 Gb/s (2X NDR)
    and split cables have: no other port of the host that is up has more.
    """
    widest = max(one.width or 0 for one in up)
    return port.width == widest == 2 and (port.speed or "") in ("HDR", "NDR", "XDR")


def report(reading: "Reading") -> str:
    """The few lines that ``fabriclab read`` prints for a host's ports."""
    up = sum(bool(port.up) for port in reading.ports)
    count = len(reading.ports)
    said = [f"ports of a host: {count} port{'s' * (count != 1)}, {up} active"]
    for port in reading.ports[:24]:
        facts = [
            port.state,
            si(port.rate, "b/s") if port.rate else None,
            f"{port.width}x {port.speed or ''}".strip() if port.width else None,
            port.layer,
            f"MTU {port.mtu:,} B" if port.mtu else None,
            port.netdev,
        ]
        said.append(f"  {port.called}: {', '.join(fact for fact in facts if fact)}")
    if count > 24:
        said.append(f"  … and {count - 24} more ports")
    return "\n".join([*said, *marked(signs(reading))])
