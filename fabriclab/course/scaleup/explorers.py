"""Scale-up alive: what headers leave of a packet, and what a tree of PCIe switches leaves to a GPU.
Floor 6.
"""

import math

from fabriclab import catalog, collectives, scaleup
from fabriclab.course.engine import plot
from fabriclab.course.engine.explorer import Explorer, slider, steps
from fabriclab.course.scaleup import figures as drawings
from fabriclab.units import GB, MB, TB, si, us

FRAME = 9000  # bytes between an Ethernet header and its check sequence, the usual jumbo frame
GPUS = [2, 4, 8, 12, 16, 24, 32, 48, 64, 72, 96, 128, 192, 256, 512, 1024]
LANES = [48, 64, 80, 96, 112, 128, 144]


def _bytes(value):
    return f"{value:,} B"


def _rate(value):
    return si(value, "B/s", 3)


def headers(size=64, transactions=1, command=0, rate=100 * GB):
    """Payload efficiency alive: `transactions` of `size` bytes in one packet, each with `command`
    bytes of its own, made at `rate`.

    It starts at 64 B alone: 60.4 % under ESUN, 52.5 under IPv4. Packing lifts all of them, and
    makes the first one wait.
    """
    controls = {
        "size": slider(
            "transaction",
            [4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096, 8192],
            _bytes,
            size,
        ),
        "transactions": slider(
            "in one packet", [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64], "{:,}".format, transactions
        ),
        "command": slider("command of each", [0, 2, 4, 8, 12, 16], _bytes, command),
        "rate": slider("made at", steps(1 * GB, 1 * TB), _rate, rate),
    }

    def move(size, transactions, command, rate):
        drawings.move_efficiency(artists, size, transactions, command)
        shares = {
            stack: scaleup.payload_efficiency(size, stack, transactions, command)
            for stack in scaleup.STACKS
        }
        longest = max(stack.inside for stack in catalog.HEADER_STACKS) + transactions * (
            size + command
        )
        wait = scaleup.packing_delay(transactions, size, rate)
        return "\n".join(
            [
                f"{transactions} x {size:,} B: payload "
                + ", ".join(f"{stack} {share:.1%}" for stack, share in shares.items())
                + ".",
                (
                    f"ESUN carries {shares['ESUN'] / shares['IPv4'] - 1:.1%} more than IPv4 on the"
                    f" same wire, {shares['ESUN'] / shares['IPv6'] - 1:.1%} more than IPv6."
                ),
                (
                    f"The first waits {si(wait, 's', 3)} for the last."
                    if transactions > 1
                    else "Alone, it waits for nobody."
                )
                + (
                    f" {longest:,} B do not fit one frame of {FRAME:,} B."
                    if longest > FRAME
                    else ""
                ),
            ]
        )

    figure, axes = plot.new(7.6, 4.0)
    artists = drawings.efficiency(axes, size, transactions, command)
    return Explorer(
        controls,
        figure,
        [artist for name, group in artists.items() if name != "legend" for artist in group],
        move,
        alt=(
            "Payload share of a packet against the size of a transaction, under ESUN, IPv4, IPv6"
            " and RoCEv2."
        ),
        rows=[["size", "transactions"], ["command", "rate"]],
    )


def tree(gpus=64, lanes=144, generation=5, width=16):
    """A tree of PCIe switches alive: what each of `gpus` can send, by pattern, under switches of
    `lanes` with ports of x`width`.

    It starts with the text's 64 GPUs on the largest switch of generation 5; 48 lanes are its
    doubling, six levels deep.
    """
    controls = {
        "gpus": slider("GPUs", GPUS, "{:,}".format, gpus),
        "lanes": slider("switch", LANES, "{} lanes".format, lanes),
        "generation": slider("PCIe", [3, 4, 5, 6], "generation {}".format, generation),
        "width": slider("port width", [4, 8, 16], "x{}".format, width),
    }

    def at(gpus, lanes, generation, width):
        return scaleup.PcieTree(gpus, lanes, scaleup.pcie_rate(generation, width), width)

    def move(**values):
        of = at(**values)
        drawings.move_tree(artists, of)
        levels, doubling = len(of.limits), math.ceil(math.log2(of.gpus))
        ring = collectives.ring_allreduce(64 * MB, of.gpus, 1 * us, of.to_neighbour)
        return "\n".join(
            [
                (
                    f"{levels} level{'s' if levels > 1 else ''} of switches, {of.down} ports down"
                    f" from each; by doubling it would be {doubling}."
                ),
                (
                    f"All at once, one way: across the root {_rate(of.across)}, evenly"
                    f" {_rate(of.all_to_all)}, to the host {_rate(of.to_host)}."
                ),
                (
                    f"The text's rule, both directions halved {doubling}"
                    f" time{'s' if doubling > 1 else ''}: {_rate(2 * of.rate / 2**doubling)}."
                ),
                (
                    f"A ring keeps {_rate(of.to_neighbour)}: 64 MB in {si(ring, 's', 3)}, at 1 us a"
                    " step."
                ),
            ]
        )

    figure, axes = plot.new(7.8, 3.4)
    artists = drawings.tree(axes, at(gpus, lanes, generation, width))
    return Explorer(
        controls,
        figure,
        [artist for group in artists.values() for artist in group],
        move,
        alt=(
            "A GPU's share of a PCIe tree, one way: to a neighbour, to all others, across the root,"
            " to the host."
        ),
        rows=[["gpus", "lanes"], ["generation", "width"]],
    )
