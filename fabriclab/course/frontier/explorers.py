"""Beyond the levels alive: how many ends of fibre a cluster lights, and what they draw."""

from fabriclab import catalog, link
from fabriclab.course.engine.explorer import Grip, explorer, slider
from fabriclab.course.frontier import figures as drawings
from fabriclab.units import Gbps, Tbps, si

CAPACITIES = [25.6 * Tbps, 51.2 * Tbps, 102.4 * Tbps]
RATES = [200 * Gbps, 400 * Gbps, 800 * Gbps, 1600 * Gbps]
HOSTS = sorted([*(2**k for k in range(7, 20)), 10_000, 24_576, 100_000, 1_000_000])
WATTS = [2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 9.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0, 25.0, 30.0]


def _grips(hosts, capacity, port, **_):
    height = 2 * (link.tree_tiers(hosts, int(link.switch_ports(capacity, port))) - 1)
    yield Grip((hosts, float(height)), lambda x, y: {"hosts": x})


@explorer(
    drawings.tiers,
    drawings.move_tiers,
    [
        {
            "hosts": slider("hosts", HOSTS, "{:,}"),
            "capacity": slider("switch chip", CAPACITIES, "b/s"),
        },
        {"port": slider("port rate", RATES, "b/s"), "pluggable": slider("module", WATTS, "W")},
        {"copackaged": slider("co-packaged", WATTS, "W")},
    ],
    alt="Staircases of transceivers a host against the number of hosts, one for each number of"
    " ports of a switch; a dot marks this cluster.",
    size=(7.8, 4.0),
    still=("steps", "names"),
    grips=_grips,
)
def optics(hosts=10_000, capacity=25.6 * Tbps, port=400 * Gbps, pluggable=20.0, copackaged=10.0):
    """The optics of a non-blocking tree over `hosts` ports: a switch chip's `capacity` and its
    `port` rate make the radix, and that the tiers.

    Every link between switches is on fibre, hosts hang on copper. It starts with the chapter's
    10,000 GPUs, 64 ports, and 20 and 10 W an end.
    """
    radix = int(link.switch_ports(capacity, port))
    tree = link.tree_optics(hosts, radix, pluggable, copackaged)
    saved = tree.pluggable - tree.copackaged
    fed = link.accelerators_fed(abs(saved), catalog.DGX_H100_POWER / 8)
    gain = (
        f"{si(saved, 'W')} saved, enough for {fed:,.0f} H100 in whole nodes"
        if saved > 0
        else f"{si(-saved, 'W')} more"
        if saved
        else "nothing saved"
    )
    plugged, inside = (1e12 * link.energy_per_bit(watts, port) for watts in (pluggable, copackaged))
    return (hosts, radix), [
        f"{radix} ports a switch: {f'{tree.tiers:.0f} tiers' if tree.tiers > 1 else 'one switch'},"
        f" {tree.links:,.0f} links on fibre, {tree.switch_ends:,.0f} transceivers.",
        f"Pluggable {si(tree.pluggable, 'W')}, co-packaged {si(tree.copackaged, 'W')}: {gain}.",
        f"Energy a bit and end: {plugged:.3g} pJ plugged in, {inside:.3g} pJ in the package.",
    ]
