"""NCCL's own log (NCCL_DEBUG=INFO or WARN): what it found and chose, with no measurement in it.

A line of it is ``host:pid:thread [device] NCCL LEVEL text``; a program's own lines may stand
between. What is taken: the version, the network it uses and by which ports, whether they reach GPU
memory directly, settings forced from the environment, the rings it drew, the way of each
connection, warnings. `ways` tells what follows from it.
"""

import re
from dataclasses import dataclass

from fabriclab.logs.nccl import torch
from fabriclab.logs.nccl.ways import log_signs, network_lines, report, signs
from fabriclab.logs.source import MOST_ROWS, Part, lines, name, refuse

__all__ = [
    "INSIDE",
    "SIGN",
    "TOOL",
    "Connection",
    "Gatherer",
    "Reading",
    "log_signs",
    "network_lines",
    "read",
    "report",
    "signs",
]

TOOL = "NCCL's log"
INSIDE = "CCL"
SIGN = re.compile(
    r"(?<![\w.-])[A-Za-z][\w.-]*:\d+:\d+ \[\d+\](?: \S+:\d+)? NCCL"
    r" (?:INFO|WARN|ERROR|TRACE)\b|^(?:NCCL|RCCL) version\s*:? ?\d|" + torch.SIGN
)
_LINE = re.compile(r":\d+:\d+ \[(\d+)\](?: \S+:\d+)? NCCL (INFO|WARN|ERROR|TRACE)\b\s*(.*)")
_HOST = re.compile(r"[A-Za-z][\w.-]*$")
_NETWORK = re.compile(r"NET/([\w-]+) ?: Using (.*)")
_DECIDED = re.compile(r"Using network ([A-Za-z][\w -]{0,40})$")
_NO_DEVICE = re.compile(r"NET/IB ?: No device found")
_PORT = re.compile(r"\[\d+\]([\w.-]+):(\d+)/(IB|RoCE)")
_SPEED = re.compile(
    r"NET/IB ?: ?\[\d+\] ([\w.-]{1,40}):[\w.-]{1,40}:(\d+)/(IB|RoCE) .{0,80}?\bspeed=(\d{1,9})\b"
)
_DIRECT = re.compile(r"NET/\w+ ?: GPU Direct RDMA (Enabled|Disabled) for HCA \d+ '([\w.-]+)'")
_CHANNEL = re.compile(r"Channel (\d+)/(\d+) ?:((?: +\d+)+)\s*$")
_CONNECTION = re.compile(
    r"Channel (\d{1,4})(?:/\d{1,4})? ?: (\d{1,7})\[\w+\] -> (\d{1,7})\[\w+\] (?:\[(send|receive)\]"
    r" )?via (\S[\w /().:\[\]-]*?)\s*$"
)
_VIA_NET = re.compile(r"NET/([A-Za-z][\w -]*?)/(\d{1,4})(?:\((\d{1,7})\))?((?:/\w+)*)$")
_CHANNELS = re.compile(r"(\d{1,4}) coll channels")
_RANK = re.compile(r"comm \S+ rank (\d{1,7}) n[rR]anks (\d{1,7})\b")
_FORCED = re.compile(r"(NCCL_\w+) set by environment to (.*?)\.?$")
_VERSION = re.compile(r"^(?:NCCL|RCCL) version\s*:? ?(\d\S*)")
_PROVIDER = re.compile(
    r"fi_getinfo: provider (\w{1,20}) output empty list|NET/OFI (No eligible providers)"
)
_GRAPH = re.compile(r"=== System : maxBw ([\d.]+) totalBw ([\d.]+) ===")


@dataclass(frozen=True, order=True)
class Connection:
    """One line ``Channel c : a -> b via …`` of `host`'s: ranks `sender` and `receiver`, and which
    of the two speaks (`side`).

    `way` is the transport's first words: "P2P", "SHM", "NET/IB", "NET/Socket". `port` is the
    network device's number on that host; `direct` says that it reaches GPU memory by itself
    (GDRDMA).
    """

    host: str
    channel: int
    sender: int
    receiver: int
    side: str
    way: str
    port: int | None = None
    direct: bool = False


@dataclass(frozen=True)
class Reading:
    """NCCL's log as read: `hosts` in order of appearance, `network` ("IB", "Socket", …) and that of
    each host, its `ports` per host, `speeds` of ports (bytes/s) where printed, `direct` (host,
    adapter, whether it reaches GPU memory), `rings` (each a tuple of ranks), `connections`, the
    `seats` (rank, host) it told, `channels` for collectives, what the environment `forced`,
    `warnings`, the libfabric `providers` that were asked for and not found, PyTorch's `timeouts`
    and the `last_work` (enqueued, completed) of its ranks, and the `graph_bandwidth` (bytes/s) that
    NCCL ascribes to the node inside.
    """

    path: str
    version: str | None = None
    hosts: tuple[str, ...] = ()
    network: str | None = None
    networks: tuple[tuple[str, str], ...] = ()
    ports: tuple[tuple[str, str], ...] = ()
    speeds: tuple[tuple[str, str, float], ...] = ()
    direct: tuple[tuple[str, str, bool], ...] = ()
    no_device: tuple[str, ...] = ()
    rings: tuple[tuple[int, ...], ...] = ()
    connections: tuple[Connection, ...] = ()
    seats: tuple[tuple[int, str], ...] = ()
    rank_count: int | None = None
    channels: int | None = None
    forced: tuple[tuple[str, str], ...] = ()
    graph_bandwidth: float | None = None
    warnings: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    timeouts: tuple[torch.Timeout, ...] = ()
    last_work: tuple[tuple[int, tuple[int, int]], ...] = ()

    tool = TOOL

    @property
    def ranks(self):
        """The rank count, as printed, or where a ring was printed whole; otherwise None."""
        if self.rank_count:
            return self.rank_count
        sizes = {len(ring) for ring in self.rings if sorted(ring) == list(range(len(ring)))}
        return sizes.pop() if len(sizes) == 1 else None


class Gatherer:
    """Takes the log's lines as they come, by themselves or from between the rows of a benchmark's
    table.
    """

    def __init__(self):
        self.lines, self.torch, self.providers = 0, torch.Gatherer(), {}
        self.version = self.network = self.graph = self.rank_count = self.channels = None
        self.hosts, self.networks, self.ports, self.speeds, self.direct, self.no_device = (
            {},
            {},
            {},
            {},
            {},
            {},
        )
        self.rings, self.connections, self.seats, self.forced, self.warnings = {}, {}, {}, {}, {}

    def take(self, text):
        """Note what `text` says; where in it the log's line begins, None when there is none."""
        if self.torch.take(text):
            self.lines += 1
            return 0
        if "provider" in text and (found := _PROVIDER.search(text)):
            self.providers[found[1] or found[2]] = None
        if version := _VERSION.match(text):
            self.version = self.version or version[1]
            return 0
        match = _LINE.search(text) if " NCCL " in text else None
        before = max(0, match.start() - 254) if match else 0
        named = _HOST.search(text[before : match.start()]) if match else None
        if not named:
            return None
        self.lines += 1
        host, (_, level, said), begins = named[0], match.groups(), before + named.start()
        if (
            len(self.hosts)
            + len(self.ports)
            + len(self.forced)
            + len(self.connections)
            + len(self.seats)
            > MOST_ROWS
        ):
            return begins
        self.hosts[host] = None
        if level in ("WARN", "ERROR") and len(self.warnings) < 20:
            self.warnings[said] = None
        if said.startswith("Channel "):
            self._channel(host, said)
        elif said.startswith("NET/"):
            self._network(host, said)
        elif found := _DECIDED.match(said):
            self.network = self.networks[host] = found[1]
        elif found := _FORCED.match(said):
            self.forced[found[1]] = found[2]
        elif found := _RANK.search(said):
            if int(found[1]) < int(found[2]):
                self.seats[int(found[1])], self.rank_count = host, int(found[2])
        elif found := _CHANNELS.match(said):
            self.channels = max(self.channels or 0, int(found[1]))
        elif found := _GRAPH.match(said):
            self.graph = (
                float(found[1]) * 1e9
                if found[1].replace(".", "", 1).isdigit() and len(found[1]) < 12
                else None
            )
        return begins

    def _network(self, host, said):
        if found := _NETWORK.match(said):
            ports = _PORT.findall(found[2])
            # some versions name the sockets of their bootstrap first, and ranks' lines run into one
            # another
            if (ports or found[1] != "Plugin") and not (
                found[1] == "Socket" and self.networks.get(host)
            ):
                self.network = self.networks[host] = found[1]
            for device, port, kind in ports[:64]:
                self.ports[host, f"{device}:{port}/{kind}"] = None
        elif found := _SPEED.match(said):
            self.speeds[host, f"{found[1]}:{found[2]}/{found[3]}"] = int(found[4]) * 1e6 / 8
        elif found := _DIRECT.match(said):
            self.direct[host, found[2]] = found[1] == "Enabled"
        elif _NO_DEVICE.match(said):
            self.no_device[host] = None

    def _channel(self, host, said):
        if found := _CHANNEL.match(said):
            if len(self.rings) < 1024:
                self.rings[tuple(int(rank) for rank in found[3].split() if len(rank) < 8)] = None
        elif found := _CONNECTION.match(said):
            channel, sender, receiver = (int(found[i]) for i in (1, 2, 3))
            side = found[4] or "send"
            if net := _VIA_NET.match(found[5]):
                one = Connection(
                    host,
                    channel,
                    sender,
                    receiver,
                    side,
                    f"NET/{net[1]}",
                    int(net[2]),
                    "/GDRDMA" in net[4],
                )
            elif found[5].startswith("NET/"):
                return
            else:
                one = Connection(
                    host,
                    channel,
                    sender,
                    receiver,
                    side,
                    "SHM" if "shared memory" in found[5] else found[5].split("/")[0].split()[0],
                )
            self.connections[one] = None
            # through a port of another GPU's (PXN) the speaker may stand in for its neighbour on
            # the same host, no more
            self.seats.setdefault(sender if side == "send" else receiver, host)
            if not one.way.startswith("NET/"):
                self.seats.setdefault(receiver, host)

    def reading(self, path):
        """All that was taken, as a `Reading`."""
        return Reading(
            path,
            self.version,
            hosts=tuple(self.hosts),
            network=self.network,
            networks=tuple(self.networks.items()),
            ports=tuple(self.ports),
            speeds=tuple((*key, speed) for key, speed in self.speeds.items()),
            direct=tuple((*key, on) for key, on in self.direct.items()),
            no_device=tuple(self.no_device),
            rings=tuple(self.rings),
            connections=tuple(self.connections),
            seats=tuple(sorted(self.seats.items())),
            rank_count=self.rank_count,
            channels=self.channels,
            forced=tuple(self.forced.items()),
            graph_bandwidth=self.graph,
            warnings=tuple(self.warnings),
            providers=tuple(self.providers),
            timeouts=tuple(self.torch.timeouts.values()),
            last_work=tuple(sorted(self.torch.last.items())),
        )


def read(path: Part) -> "Reading":
    """A `Reading` of NCCL's log at `path`.

    Raises ValueError naming file and line for a file with no line of it.
    """
    log, last = Gatherer(), 0
    for line in lines(path):
        last = line.number
        if (
            line.whole
        ):  # a list of ranks or ports, a way or a speed cut at the file's end is another one
            log.take(line.text)
        elif not log.lines and not log.version:
            refuse(path, last, "the file ends in the middle of its only line of NCCL's log")
    if not log.lines and not log.version:
        refuse(path, last, "no line of NCCL's log")
    return log.reading(name(path))
