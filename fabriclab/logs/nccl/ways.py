"""What follows from NCCL's log: by which ways its channels go, which ports they use, how often a
ring changes the host.
"""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fabriclab.logs.nccl import status, torch
from fabriclab.logs.sign import Sign, marked
from fabriclab.logs.source import shorten
from fabriclab.units import si

if TYPE_CHECKING:
    from fabriclab.logs.nccl.log import Reading


def ways(reading: "Reading") -> dict:
    """How many connections go each way, most first: {"P2P": 224, "NET/IB (direct)": 32}. Both ends
    of one count once.

    Direct is GPU Direct RDMA: the adapter reads and writes GPU memory; else all goes through the
    host's.
    """
    ends = {}
    for c in reading.connections:
        # the two ends may differ, one with and one without direct access: the worse counts
        ends.setdefault((c.channel, c.sender, c.receiver), []).append(c)
    counted = Counter()
    for both in ends.values():
        net = [c for c in both if c.way.startswith("NET/")]
        how = (
            f" ({'direct' if all(c.direct for c in net) else 'through host memory'})"
            if net and "Socket" not in net[0].way
            else ""
        )
        counted[both[0].way + how] += 1
    return dict(counted.most_common())


def ports_used(reading: "Reading") -> dict:
    """{host: names of the ports that its connections use}; a number in place of a name where the
    log does not list the ports.
    """
    listed = {host: [port for at, port in reading.ports if at == host] for host in reading.hosts}
    used = {}
    for c in reading.connections:
        if c.port is not None and "Socket" not in c.way:
            names = listed[c.host]
            used.setdefault(c.host, {})[names[c.port] if c.port < len(names) else str(c.port)] = (
                None
            )
    return {host: tuple(sorted(used[host])) for host in reading.hosts if host in used}


def seats(reading: "Reading") -> tuple | None:
    """({rank: host}, True where some were inferred): as the log tells, or equal blocks of ranks for
    hosts in order of appearance.

    Blocks are inferred only where nothing that is told speaks against it. Empty where they cannot
    be known.
    """
    told, n, hosts = dict(reading.seats), reading.ranks, reading.hosts
    if not n or len(told) == n or n % len(hosts) or len(hosts) == 1:
        return told, False  # one host's log is not the whole job's
    # by the lowest rank that each host tells, else in order of appearance
    lowest = {
        host: min((rank for rank, at in told.items() if at == host), default=None) for host in hosts
    }
    order = (
        sorted(hosts, key=lambda host: lowest[host]) if None not in lowest.values() else list(hosts)
    )
    blocks = {rank: order[rank * len(hosts) // n] for rank in range(n)}
    if any(rank >= n or blocks[rank] != host for rank, host in told.items()):
        return told, False
    return blocks, True


def crossings(ring: tuple[int, ...], seat: dict[int, str]) -> int | None:
    """How often `ring` steps from one host to another, or None where a rank's host is not known; as
    few as there are hosts is best.

    >>> crossings((0, 1, 2, 3), {0: "a", 1: "a", 2: "b", 3: "b"}), crossings((0, 2, 1, 3),
    ...     {0: "a", 1: "a", 2: "b", 3: "b"})
    (2, 4)
    """
    if not all(rank in seat for rank in ring):
        return None
    return sum(seat[a] != seat[b] for a, b in zip(ring, (*ring[1:], ring[0])))


def rail_changes(reading: "Reading") -> tuple[int, ...]:
    """How many connections leave by a port of one number and arrive by another, of how many with
    both ends told.
    """
    rails = [c for c in reading.connections if c.port is not None and "Socket" not in c.way]
    sent = {(c.channel, c.sender, c.receiver): c.port for c in rails if c.side == "send"}
    met = [
        (sent[key], c.port)
        for c in rails
        if c.side == "receive" and (key := (c.channel, c.sender, c.receiver)) in sent
    ]
    return sum(a != b for a, b in met), len(met)


def network_lines(reading: "Reading") -> list[str]:
    """What the log says about the network, line by line."""
    said, kinds = [], sorted({port.rsplit("/", 1)[1] for _, port in reading.ports})
    each = _listed(reading)
    if reading.network:
        named = {"IB": "InfiniBand"} if kinds == ["IB"] else {}
        over = f" over {' and '.join(kinds)}" if kinds and not named else ""
        said.append(
            f"network: {named.get(reading.network, reading.network)}{over}"
            + "".join(
                f"; {host} uses {', '.join(ports[:8])}" for host, ports in list(each.items())[:2]
            )
        )
    if rates := _rates(reading):
        said.append(f"ports of {' and '.join(si(rate, 'b/s') for rate in rates)}")
    if by_way := ways(reading):
        said.append(
            f"connections: {', '.join(f'{count} by {way}' for way, count in by_way.items())}"
        )
    changed, both = rail_changes(reading)
    if both:
        said.append(
            f"rails: {both - changed} of {both} connections between nodes arrive by the port number"
            " they left by"
        )
    return said


def log_signs(reading: "Reading") -> list[Sign]:
    """What stands out in NCCL's log, as a list of `Sign`."""
    return [
        *_network_signs(reading),
        *_connection_signs(reading),
        *status.warning_signs(reading.warnings),
        *(
            Sign(
                "no-provider",
                f"libfabric finds no provider {one}: NCCL falls back to TCP sockets; load the"
                " driver, and give the container its devices (fi_info -p efa)",
            )
            for one in reading.providers
        ),
        *torch.signs(reading.timeouts, dict(reading.last_work)),
    ]


def signs(reading: "Reading", rate: float | None = None) -> Iterator:
    """What stands out in NCCL's log. `rate` is not needed: no rate is in it."""
    yield from log_signs(reading)
    yield from _ring_signs(reading)


def on_sockets(reading: "Reading") -> bool:
    """Whether what leaves a host goes by TCP: as the log decides, or by its connections."""
    nets = {c.way for c in reading.connections if c.way.startswith("NET/")}
    return reading.network == "Socket" or nets == {"NET/Socket"}


def _listed(reading):
    return {host: [port for at, port in reading.ports if at == host] for host, _ in reading.ports}


def _rates(reading):
    return sorted({rate for _, _, rate in reading.speeds})


def _network_signs(reading):
    each = _listed(reading)
    if (
        reading.network
        and each
        and all(len(ports) == 1 for ports in each.values())
        and (reading.ranks or 0) > 2 * len(reading.hosts)
    ):
        chosen = dict(reading.forced).get("NCCL_IB_HCA")
        why = f" (NCCL_IB_HCA = {shorten(chosen, 40)} left no other)" if chosen else ""
        yield Sign(
            "one-port",
            "all ranks of a node share one port, so the node has the bandwidth of one port, not of"
            f" all its NICs{why}",
        )
    if len(_rates(reading)) > 1:
        yield Sign(
            "speeds-differ",
            "ports of different speeds: a ring goes at the pace of its slowest link",
        )
    if on_sockets(reading):
        yield Sign(
            "socket",
            "NCCL uses TCP sockets, not RDMA: check that its IB/RoCE transport finds a device"
            " (NCCL_IB_HCA, drivers, permissions)"
            + ("; it says: no device found" if reading.no_device else ""),
        )
        for name, value in reading.forced:
            if name == "NCCL_IB_DISABLE":
                yield Sign(
                    "socket-set",
                    f"{name} = {shorten(value, 40)} is set: it takes RDMA away where it is 1",
                )
            elif name == "NCCL_IB_HCA":
                yield Sign(
                    "socket-set",
                    f"{name} = {shorten(value, 40)} is set: a name that matches no adapter leaves"
                    " none",
                )
    elif reading.no_device or len(set(dict(reading.networks).values())) > 1:
        yield Sign(
            "networks-differ",
            "not all hosts use the same network: "
            + ", ".join(f"{host} {network}" for host, network in reading.networks[:4])
            + "".join(f", {host} finds no device" for host in reading.no_device[:4]),
        )


def _connection_signs(reading):
    by_way, listed = ways(reading), _listed(reading)
    for host, ports in list(ports_used(reading).items())[:4]:
        has = len(listed.get(host, ()))
        if has > len(ports):
            yield Sign(
                "ports-unused",
                f"{host}'s channels use {len(ports)} of its {has} ports ({', '.join(ports[:8])}):"
                " the others carry nothing",
            )
    off = sorted({adapter for _, adapter, on in reading.direct if not on})
    if off or any("through host memory" in way for way in by_way):
        yield Sign(
            "no-gdr",
            f"no GPUDirect RDMA{' for ' + ', '.join(off[:8]) if off else ''}: what the network"
            " carries is copied through host memory (nvidia_peermem or DMA-BUF,"
            " NCCL_NET_GDR_LEVEL)",
        )
    if "SHM" in by_way:
        yield Sign(
            "shm",
            f"{by_way['SHM']} connection{'s' * (by_way['SHM'] != 1)} by SHM: GPUs of one node talk"
            " through host memory, not over NVLink or PCIe",
        )
    seat, _ = seats(reading)
    inside = sum(
        seat.get(c.sender) == seat.get(c.receiver) is not None
        for c in reading.connections
        if c.way.startswith("NET/")
    )  # noqa: E711
    if inside:
        yield Sign(
            "net-inside",
            f"{inside} connection{'s' * (inside != 1)} of GPUs on one host through the network: P2P"
            " and SHM are off or fail between them",
        )
    changed, both = rail_changes(reading)
    if changed:
        yield Sign(
            "rails-change",
            f"{changed} of {both} connections change the rail: on rail-optimised wiring they go"
            " over the spines (NCCL_CROSS_NIC=0 forbids it)",
        )


def _rings(reading):
    """(how often the rings change the host, sorted; hosts; a proviso), None where not known."""
    seat, inferred = seats(reading)
    hosts = len(set(seat.values()))
    steps = {count for ring in reading.rings if (count := crossings(ring, seat)) is not None}
    guess = ", if ranks fill the hosts in order" if inferred else ""
    return (sorted(steps), hosts, guess) if steps and hosts > 1 else None


def _ring_signs(reading):
    if (found := _rings(reading)) and found[0][-1] > found[1]:
        counts, hosts, guess = found
        yield Sign(
            "ring-crosses",
            f"a ring crosses between hosts {counts[-1]} times where {hosts} would do: each further"
            f" time takes as much of a port again{guess}",
        )


def report(reading: "Reading") -> str:
    """The few lines that ``fabriclab read`` prints for NCCL's log."""
    said = network_lines(reading)
    head = (
        f"NCCL's log{f', version {reading.version}' if reading.version else ''}:"
        f" {len(reading.hosts)} host{'s' * (len(reading.hosts) != 1)}"
    )
    if reading.ranks:
        head += f", {reading.ranks} ranks" + ("" if reading.rank_count else " (length of its ring)")
    head += f", {reading.channels} channels for collectives" if reading.channels else ""
    if reading.graph_bandwidth:
        said.append(
            f"inside a node NCCL counts on {reading.graph_bandwidth / 1e9:g} GB/s per GPU, by its"
            " own tables, not by a measurement"
        )
    said += [
        f"ring: {' '.join(map(str, ring[:32]))}{' …' if len(ring) > 32 else ''}"
        for ring in reading.rings[:2]
    ]
    if found := _rings(reading):
        counts, hosts, guess = found
        said.append(
            f"each ring crosses between hosts {' or '.join(map(str, counts))} times (the minimum is"
            f" {hosts}){guess}"
        )
    said += [
        f"set by the environment: {setting} = {value}" for setting, value in reading.forced[:8]
    ]
    said.append("no measurement in it: run nccl-tests (all_reduce_perf) and read its table")
    return "\n".join([head, *(f"  {line}" for line in said), *marked(signs(reading))])
