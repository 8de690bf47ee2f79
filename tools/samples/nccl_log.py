"""The text of NCCL's own log (NCCL_DEBUG=INFO), from what a run uses."""

_VERSION = "NCCL version 2.21.5+cuda12.4"


def nccl_log(
    hosts, per_node=8, ports=8, used=None, direct=True, channels=8, kind="IB", order=None, forced=()
):
    """The lines of a run on `hosts` (names) with `per_node` GPUs each, as NCCL 2.21 writes them,
    rank after rank.

    Each host lists `ports` adapters, of which channels use the first `used` (all, if left out),
    with GPU Direct RDMA or not (`direct`). Without ports: sockets. Channel c leaves a node by port
    c mod used. `order` is the ring of every channel as a list of ranks, else node after node, in
    each from GPU c on. `forced` are (variable, value) from the environment. Raises ValueError for a
    ring that is not all ranks.

    >>> print(nccl_log(["node-a", "node-b"], per_node=1, ports=1, channels=1).splitlines()[2])
    node-a:41000:41500 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.1<0>
    """
    n = len(hosts) * per_node
    if order is not None and sorted(order) != list(range(n)):
        raise ValueError(f"order must hold each of {n} ranks once, not {order!r}")
    # each channel enters a node at another GPU
    rings = [
        (
            list(order)
            if order is not None
            else [
                node * per_node + (at + channel) % per_node
                for node in range(len(hosts))
                for at in range(per_node)
            ]
        )
        for channel in range(channels)
    ]
    used, way = (ports if used is None else used), "/GDRDMA" if direct else ""
    lines = []

    def say(rank, text):
        lines.append(
            f"{hosts[rank // per_node]}:{41000 + rank}:{41500 + rank} [{rank % per_node}] NCCL INFO"
            f" {text}"
        )

    say(0, "Bootstrap : Using eth0:10.0.0.1<0>")
    lines.append(_VERSION)
    for rank in range(n):
        node, device = divmod(rank, per_node)
        for variable, value in forced:
            say(rank, f"{variable} set by environment to {value}.")
        oob = f"eth0:10.0.0.{node + 1}<0>"
        if ports:
            say(
                rank,
                f"NET/IB : Using {' '.join(f'[{i}]mlx5_{i}:1/{kind}' for i in range(ports))} [RO];"
                f" OOB {oob}",
            )
        else:
            say(rank, "NET/IB : No device found.")
            say(rank, f"NET/Socket : Using [0]{oob}")
        say(rank, f"Using network {'IB' if ports else 'Socket'}")
        say(
            rank,
            f"comm 0x55d0c0{rank:06x} rank {rank} nranks {n} cudaDev {device} nvmlDev {device}"
            f" busId {0x1B000 + 0x15000 * device:x} commId 0x5eed - Init START",
        )
    for channel in range(channels):
        say(
            0,
            f"Channel {channel:02d}/{channels:02d} : "
            + " ".join(f"{rank:3d}" for rank in rings[channel]),
        )
    for channel, ring in enumerate(rings):
        for rank, after in zip(ring, ring[1:] + ring[:1]):
            ends = (
                f"Channel {channel:02d}/0 : {rank}[{rank % per_node}] ->"
                f" {after}[{after % per_node}]"
            )
            if rank // per_node == after // per_node:
                say(rank, f"{ends} via P2P/CUMEM/read")
                continue
            net = f"NET/IB/{channel % used}{way}" if ports else "NET/Socket/0"
            say(after, f"{ends} [receive] via {net}")
            say(rank, f"{ends} [send] via {net}")
    for rank in range(n):
        say(
            rank,
            f"{channels} coll channels, 0 collnet channels, 0 nvls channels, {channels} p2p"
            " channels, 1 p2p channels per peer",
        )
    return "\n".join(lines) + "\n"
