"""The text of ibnetdiscover, from a network of `fabriclab.topology`."""

from fabriclab.logs.infiniband import PER_LANE, link_rate


def _generation(capacity):
    """(lanes, generation) of a link of `capacity` bytes per second, four lanes before fewer."""
    for lanes in (4, 2, 1, 8, 12):
        for speed in PER_LANE:
            if abs(link_rate(lanes, speed) - capacity) < 1e-6 * capacity:
                return lanes, speed
    raise ValueError(
        f"capacity must be that of an InfiniBand link, not {capacity:g} bytes per second"
    )


def ibnetdiscover(network, machines=None):
    """The text that ibnetdiscover prints for a `fabriclab.topology.Topology`: a block a device,
    each cable from both ends.

    `machines` are the names of its nodes; left out, node-0001 and so on.

    Raises ValueError for a network without switches, and for a cable whose capacity no InfiniBand
    link has.

    >>> from fabriclab.topology import leaf_spine
    >>> text = ibnetdiscover(leaf_spine(2, 1, 2, 1, radix=8))
    >>> [line for line in text.splitlines() if "spine" in line and line.startswith("[3]")]
    ['[3]\\t"S-0002c90000000006"[1]\\t\\t# "spine-1" lid 7 4xNDR',
    '[3]\\t"S-0002c90000000006"[2]\\t\\t# "spine-1" lid 7 4xNDR']
    """
    if network.direct:
        raise ValueError(f"network must have switches, and {network.name} has none")
    names, kinds = [], ["H"] * network.hosts
    nodes = network.node if network.node is not None else range(network.hosts)
    cards = {}
    for node in nodes:
        cards[node] = cards.get(node, -1) + 1
        names.append(
            f"{machines[int(node)] if machines else f'node-{int(node) + 1:04d}'} mlx5_{cards[node]}"
        )
    for tier, count in network.switches.items():
        names += [f"{tier}-{number + 1}" for number in range(count)]
        kinds += ["S"] * count
    radix = [1] * network.hosts + [
        ports for ports, count in zip(network.radix, network.counts) for _ in range(count)
    ]
    plugged = [[] for _ in names]
    for a, b, cables, capacity in zip(
        network.a.tolist(),
        network.b.tolist(),
        network.multiplicity.tolist(),
        network.capacity.tolist(),
    ):
        for _ in range(cables):
            here, there = len(plugged[a]) + 1, len(plugged[b]) + 1
            lanes, speed = _generation(capacity)
            plugged[a].append((here, b, there, f"{lanes}x{speed}"))
            plugged[b].append((there, a, here, f"{lanes}x{speed}"))

    def called(at):
        return f'"{kinds[at]}-{0x2C9_0000_0000_00 + at:016x}"'

    lines = ["#", "# Topology file: made by fabriclab", "#"]
    for at in [*range(network.hosts, len(names)), *range(network.hosts)]:
        switch = kinds[at] == "S"
        lines += ["", "vendid=0x2c9", "devid=0xd2f2" if switch else "devid=0x1021"]
        lines.append(
            f'{"Switch" if switch else "Ca"}\t{radix[at]} {called(at)}\t\t# "{names[at]}"'
            + (f" enhanced port 0 lid {at + 1} lmc 0" if switch else "")
        )
        for here, far, there, speed in plugged[at]:
            own = "" if switch else f"({0x2C9_0000_0000_00 + at:x}) "
            lines.append(
                f"[{here}]{own}\t{called(far)}[{there}]\t\t# "
                + ("" if switch else f"lid {at + 1} lmc 0 ")
                + f'"{names[far]}" lid {far + 1} {speed}'
            )
    return "\n".join(lines) + "\n"
