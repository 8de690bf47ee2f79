"""Scale-up alive: what headers leave of a packet, what a PCIe tree leaves to a GPU."""

import math

from fabriclab import catalog, collectives, scaleup
from fabriclab.course.engine.explorer import explorer, slider, steps
from fabriclab.course.scaleup import figures as drawings
from fabriclab.units import GB, MB, TB, plural, si, us

FRAME = 9000  # bytes between an Ethernet header and its check sequence, the usual jumbo frame
SIZES = [4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096, 8192]
GPUS = [2, 4, 8, 12, 16, 24, 32, 48, 64, 72, 96, 128, 192, 256, 512, 1024]
LANES = [48, 64, 80, 96, 112, 128, 144]


@explorer(
    drawings.efficiency,
    drawings.move_efficiency,
    [
        {
            "size": slider("transaction", SIZES, "{:,} B"),
            "transactions": slider(
                "in one packet", [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64], "{:,}"
            ),
        },
        {
            "command": slider("command of each", [0, 2, 4, 8, 12, 16], "{:,} B"),
            "rate": slider("made at", steps(1 * GB, 1 * TB), "B/s"),
        },
    ],
    alt="Payload share of a packet against the size of a transaction, under ESUN, IPv4, IPv6 and"
    " RoCEv2.",
    size=(7.6, 4.0),
)
def headers(size=64, transactions=1, command=0, rate=100 * GB):
    """Payload efficiency alive: `transactions` of `size` bytes in one packet, each with `command`
    bytes of its own, made at `rate`.

    It starts at 64 B alone: 60.4 % under ESUN, 52.5 under IPv4. Packing lifts all of them, and
    makes the first one wait.
    """
    shares = {
        stack: scaleup.payload_efficiency(size, stack, transactions, command)
        for stack in scaleup.STACKS
    }
    longest = max(stack.inside for stack in catalog.HEADER_STACKS) + transactions * (size + command)
    wait = si(scaleup.packing_delay(transactions, size, rate), "s", 3)
    last = (
        f"The first waits {wait} for the last."
        if transactions > 1
        else "Alone, it waits for nobody."
    )
    if longest > FRAME:
        last += f" {longest:,} B do not fit one frame of {FRAME:,} B."
    return (size, transactions, command), [
        f"{transactions} x {size:,} B: payload "
        + ", ".join(f"{stack} {share:.1%}" for stack, share in shares.items())
        + ".",
        f"ESUN carries {shares['ESUN'] / shares['IPv4'] - 1:.1%} more than IPv4 on the same wire,"
        f" {shares['ESUN'] / shares['IPv6'] - 1:.1%} more than IPv6.",
        last,
    ]


@explorer(
    drawings.tree,
    drawings.move_tree,
    [
        {"gpus": slider("GPUs", GPUS, "{:,}"), "lanes": slider("switch", LANES, "{} lanes")},
        {
            "generation": slider("PCIe", [3, 4, 5, 6], "generation {}"),
            "width": slider("port width", [4, 8, 16], "x{}"),
        },
    ],
    alt="A GPU's share of a PCIe tree, one way: to a neighbour, to all others, across the root, to"
    " the host.",
    size=(7.8, 3.4),
)
def tree(gpus=64, lanes=144, generation=5, width=16):
    """A tree of PCIe switches alive: what each of `gpus` can send, by pattern, under switches of
    `lanes` with ports of x`width`.

    It starts with the text's 64 GPUs on the largest switch of generation 5; 48 lanes are its
    doubling, six levels deep.
    """
    of = scaleup.PcieTree(gpus, lanes, scaleup.pcie_rate(generation, width), width)
    doubling = math.ceil(math.log2(of.gpus))
    ring = collectives.ring_allreduce(64 * MB, of.gpus, 1 * us, of.to_neighbour)
    across, evenly, to_host, text, neighbour = (
        si(rate, "B/s", 3)
        for rate in (
            of.across,
            of.all_to_all,
            of.to_host,
            2 * of.rate / 2**doubling,
            of.to_neighbour,
        )
    )
    return [of], [
        f"{plural(len(of.limits), 'level')} of switches, {of.down} ports down from each; by"
        f" doubling it would be {doubling}.",
        f"All at once, one way: across the root {across}, evenly {evenly}, to the host {to_host}.",
        f"The text's rule, both directions halved {plural(doubling, 'time')}: {text}.",
        f"A ring keeps {neighbour}: 64 MB in {si(ring, 's', 3)}, at 1 us a step.",
    ]
