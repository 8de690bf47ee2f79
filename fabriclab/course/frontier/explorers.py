"""Beyond the levels alive: how many ends of fibre a cluster lights, and what they draw. Floor 6."""

from fabriclab import catalog, link
from fabriclab.course.engine import plot
from fabriclab.course.engine.explorer import Explorer, slider
from fabriclab.course.frontier import figures as drawings
from fabriclab.units import Gbps, Tbps, si

CAPACITIES = [25.6 * Tbps, 51.2 * Tbps, 102.4 * Tbps]
RATES = [200 * Gbps, 400 * Gbps, 800 * Gbps, 1600 * Gbps]
HOSTS = [
    128,
    256,
    512,
    1024,
    2048,
    4096,
    8192,
    10_000,
    16_384,
    24_576,
    32_768,
    65_536,
    100_000,
    131_072,
    262_144,
    524_288,
    1_000_000,
]
WATTS = [2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 9.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0, 25.0, 30.0]


def _bits(value):
    return si(value, "b/s")


def _watts(value):
    return si(value, "W", 4)


def optics(hosts=10_000, capacity=25.6 * Tbps, port=400 * Gbps, pluggable=20.0, copackaged=10.0):
    """The optics of a non-blocking tree over `hosts` ports: a switch chip's `capacity` and its
    `port` rate make the radix, and that the tiers.

    Every link between switches is on fibre, hosts hang on copper. It starts with the chapter's
    10,000 GPUs, 64 ports, and 20 and 10 W an end.
    """
    controls = {
        "hosts": slider("hosts", HOSTS, "{:,}".format, hosts),
        "capacity": slider("switch chip", CAPACITIES, _bits, capacity),
        "port": slider("port rate", RATES, _bits, port),
        "pluggable": slider("module", WATTS, _watts, pluggable),
        "copackaged": slider("co-packaged", WATTS, _watts, copackaged),
    }

    def move(hosts, capacity, port, pluggable, copackaged):
        radix = int(link.switch_ports(capacity, port))
        drawings.move_tiers(artists, hosts, radix)
        tree = link.tree_optics(hosts, radix, pluggable, copackaged)
        saved = tree.pluggable - tree.copackaged
        fed = link.accelerators_fed(abs(saved), catalog.DGX_H100_POWER / 8)
        gain = (
            f"{_watts(saved)} saved, enough for {fed:,.0f} H100 in whole nodes"
            if saved > 0
            else f"{_watts(-saved)} more"
            if saved
            else "nothing saved"
        )
        return "\n".join(
            [
                (
                    f"{radix} ports a switch:"
                    f" {f'{tree.tiers:.0f} tiers' if tree.tiers > 1 else 'one switch'},"
                    f" {tree.links:,.0f} links on fibre, {tree.switch_ends:,.0f} transceivers."
                ),
                (
                    f"Pluggable {_watts(tree.pluggable)}, co-packaged {_watts(tree.copackaged)}:"
                    f" {gain}."
                ),
                (
                    f"Energy a bit and end: {link.energy_per_bit(pluggable, port) * 1e12:.3g} pJ"
                    f" plugged in, {link.energy_per_bit(copackaged, port) * 1e12:.3g} pJ in the"
                    " package."
                ),
            ]
        )

    figure, axes = plot.new(7.8, 4.0)
    artists = drawings.tiers(axes, hosts, int(link.switch_ports(capacity, port)))
    return Explorer(
        controls,
        figure,
        [*artists["dot"], *artists["label"]],
        move,
        alt=(
            "Staircases of transceivers a host against the number of hosts, one for each number of"
            " ports of a switch; a dot marks this cluster."
        ),
        rows=[["hosts", "capacity"], ["port", "pluggable"], ["copackaged"]],
    )
