"""NCCL's own log (NCCL_DEBUG=INFO or WARN): what it found and chose, with no measurement in it.

A line of it is ``host:pid:thread [device] NCCL LEVEL text``; a program's own lines may stand between. What is taken:
the version, the network it uses and by which ports, settings forced from the environment, the rings it drew, warnings.
"""

import re
from dataclasses import dataclass

from fabriclab.telemetry.source import MOST_ROWS, lines, name, refuse, shorten

TOOL = "NCCL's log"
SIGN = re.compile(r"(?<![\w.-])[A-Za-z][\w.-]*:\d+:\d+ \[\d+\](?: \S+:\d+)? NCCL (?:INFO|WARN|ERROR|TRACE)\b|^(?:NCCL|RCCL) version\s*:? ?\d")
_LINE = re.compile(r":\d+:\d+ \[(\d+)\](?: \S+:\d+)? NCCL (INFO|WARN|ERROR|TRACE)\b\s*(.*)")
_HOST = re.compile(r"[A-Za-z][\w.-]*$")
_NETWORK = re.compile(r"NET/([\w-]+) ?: Using (.*)")
_PORT = re.compile(r"\[\d+\]([\w.-]+):(\d+)/(IB|RoCE)")
_CHANNEL = re.compile(r"Channel (\d+)/(\d+) ?:((?: +\d+)+)\s*$")
_FORCED = re.compile(r"(NCCL_\w+) set by environment to (.*?)\.?$")
_VERSION = re.compile(r"^(?:NCCL|RCCL) version\s*:? ?(\d\S*)")
_GRAPH = re.compile(r"=== System : maxBw ([\d.]+) totalBw ([\d.]+) ===")


@dataclass(frozen=True)
class Reading:
    """NCCL's log as read: `hosts` in order of appearance, `network` ("IB", "Socket", …), its `ports` per host, `rings`
    (each a tuple of ranks), what the environment `forced`, `warnings` with their lines, and the `graph_bandwidth`
    (bytes/s) that NCCL ascribes to the node inside."""

    path: str
    version: str | None = None
    hosts: tuple[str, ...] = ()
    network: str | None = None
    ports: tuple[tuple[str, str], ...] = ()
    rings: tuple[tuple[int, ...], ...] = ()
    forced: tuple[tuple[str, str], ...] = ()
    graph_bandwidth: float | None = None
    warnings: tuple[str, ...] = ()

    tool = TOOL

    @property
    def ranks(self):
        """The rank count where a ring was printed whole, otherwise None."""
        sizes = {len(ring) for ring in self.rings if sorted(ring) == list(range(len(ring)))}
        return sizes.pop() if len(sizes) == 1 else None


class Gatherer:
    """Takes the log's lines as they come, by themselves or from between the rows of a benchmark's table."""

    def __init__(self):
        self.lines = 0
        self.version = self.network = self.graph = None
        self.hosts, self.ports, self.rings, self.forced, self.warnings = {}, {}, {}, {}, {}

    def take(self, text):
        """Note what `text` says; where in it the log's line begins, None when there is none."""
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
        if len(self.hosts) + len(self.ports) + len(self.forced) > MOST_ROWS:
            return begins
        self.hosts[host] = None
        if level in ("WARN", "ERROR") and len(self.warnings) < 20:
            self.warnings[said] = None
        if found := _NETWORK.match(said):
            ports = _PORT.findall(found[2])
            self.network = found[1] if ports or found[1] != "Plugin" else self.network
            for device, port, kind in ports[:64]:
                self.ports[host, f"{device}:{port}/{kind}"] = None
        elif found := _FORCED.match(said):
            self.forced[found[1]] = found[2]
        elif (found := _CHANNEL.match(said)) and len(self.rings) < 1024:
            self.rings[tuple(int(rank) for rank in found[3].split() if len(rank) < 8)] = None
        elif found := _GRAPH.match(said):
            self.graph = float(found[1]) * 1e9 if found[1].replace(".", "", 1).isdigit() and len(found[1]) < 12 else None
        return begins

    def reading(self, path):
        """All that was taken, as a `Reading`."""
        return Reading(
            path,
            self.version,
            hosts=tuple(self.hosts),
            network=self.network,
            ports=tuple(self.ports),
            rings=tuple(self.rings),
            forced=tuple(self.forced.items()),
            graph_bandwidth=self.graph,
            warnings=tuple(self.warnings),
        )


def read(path):
    """A `Reading` of NCCL's log at `path`. Raises ValueError naming file and line for a file with no line of it."""
    log, last = Gatherer(), 0
    for line in lines(path):
        last = line.number
        if line.whole or not _CHANNEL.search(line.text):  # a list of ranks cut at the file's end is another list
            log.take(line.text)
    if not log.lines and not log.version:
        refuse(path, last, "no line of NCCL's log")
    return log.reading(name(path))


def network_lines(reading):
    """What the log says about the network, and what of it looks wrong: two lists of lines."""
    said, wrong = [], []
    kinds = sorted({port.rsplit("/", 1)[1] for _, port in reading.ports})
    if reading.network:
        each = {host: [port for at, port in reading.ports if at == host] for host, _ in reading.ports}
        over = f" over {' and '.join(kinds)}" if kinds else ""
        said.append(f"network: {reading.network}{over}" + "".join(f"; {host} uses {', '.join(ports[:8])}" for host, ports in list(each.items())[:2]))
        if each and all(len(ports) == 1 for ports in each.values()) and (reading.ranks or 0) > 2 * len(reading.hosts):
            wrong.append("one port a node serves all of its ranks: the node's bandwidth to others is that port's, not the sum of its NICs")
    if reading.network == "Socket":
        wrong.append("NCCL uses TCP sockets, not RDMA: check that its IB/RoCE transport finds a device (NCCL_IB_HCA, drivers, permissions)")
    wrong += [f"NCCL warns: {shorten(text, 100)}" for text in reading.warnings[:3]]
    return said, wrong


def report(reading):
    """The few lines that ``fabriclab read`` prints for NCCL's log."""
    said, wrong = network_lines(reading)
    head = f"NCCL's log{f', version {reading.version}' if reading.version else ''}: {len(reading.hosts)} host{'s' * (len(reading.hosts) != 1)}"
    head += f", {reading.ranks} ranks (length of its ring)" if reading.ranks else ""
    if reading.graph_bandwidth:
        said.append(f"inside a node NCCL counts on {reading.graph_bandwidth / 1e9:g} GB/s a GPU, by its own tables, not by a measurement")
    said += [f"ring: {' '.join(map(str, ring[:32]))}{' …' if len(ring) > 32 else ''}" for ring in reading.rings[:2]]
    said += [f"set by the environment: {setting} = {value}" for setting, value in reading.forced[:8]]
    said.append("no measurement in it: run nccl-tests (all_reduce_perf) and read its table")
    return "\n".join([head, *(f"  {line}" for line in said), *(f"  ! {line}" for line in wrong)])
