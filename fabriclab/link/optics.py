"""What light costs: watts in modules and in packages, what they would feed instead, and how many
ends a tree has to light.

A port's optics draw power at every end of a link. Plugged into the front panel, a module drives the
signal over centimetres of board; in the switch's package, over millimetres. How many ends there are
is the network's business: each tier of switches adds two for every host, and switches with more
ports need fewer tiers.

Sources: chapter, "The next technologies" with Napkin Math 1.6; the modules' and switches' data
sheets, in `catalog`.
"""

import math
from dataclasses import dataclass

import numpy as np

from fabriclab import catalog
from fabriclab.checks import (
    Values,
    broadcastable,
    count,
    flag,
    nonnegative,
    number,
    positive,
    scalar,
    scalar_or_array,
)
from fabriclab.link.budget import tree_links


def switch_ports(capacity: Values, port_rate: Values) -> Values:
    """How many ports of `port_rate` a switch of `capacity` has, both bytes per second one way:
    ``capacity / port_rate``.

    Raises ValueError where it does not come out even. Mind the base: a data sheet may count both
    directions.

    >>> from fabriclab.units import Gbps, Tbps
    >>> switch_ports(51.2 * Tbps, 400 * Gbps), switch_ports(102.4 * Tbps, 1.6 * Tbps)
    (128.0, 64.0)
    """
    capacity, port_rate = positive("capacity", capacity), positive("port_rate", port_rate)
    broadcastable(capacity=capacity, port_rate=port_rate)
    ports = np.asarray(capacity / port_rate)
    nearest = np.rint(ports)
    if (nearest < 1).any() or not np.allclose(ports, nearest, rtol=1e-9):
        raise ValueError(
            f"port_rate must divide the capacity into whole ports, not {ports.tolist()} of them"
        )
    return scalar_or_array(nearest)


@dataclass(frozen=True)
class Dividend:
    """Watts of a switch's optics, `pluggable` and `copackaged`, what is `saved`, and the `ports`
    they serve.
    """

    ports: float
    pluggable: float
    copackaged: float
    saved: float


def optical_dividend(
    ports: Values,
    pluggable: Values = catalog.PLUGGABLE.watts,
    copackaged: Values = catalog.CPO.watts,
    switches: Values = 1,
) -> Dividend:
    """The `Dividend` of `switches` switches: ``switches · ports · (pluggable - copackaged)`` watts,
    a module at every port.

    `pluggable` and `copackaged` are watts a port. The defaults are the chapter's 20 and 10 W;
    NVIDIA's own 400G modules take 8 or 9. A negative saving is a loss, and given as such.

    >>> from fabriclab.units import MW, kW
    >>> optical_dividend(128).saved / kW, optical_dividend(128, switches=1000).saved / MW
    (1.28, 1.28)
    """
    ports, switches, pluggable, copackaged = (
        count("ports", ports),
        count("switches", switches),
        nonnegative("pluggable", pluggable),
        nonnegative("copackaged", copackaged),
    )
    broadcastable(ports=ports, switches=switches, pluggable=pluggable, copackaged=copackaged)
    before, after = ports * switches * pluggable, ports * switches * copackaged
    return Dividend(
        scalar_or_array(ports * switches),
        scalar_or_array(before),
        scalar_or_array(after),
        scalar_or_array(before - after),
    )


def energy_per_bit(watts: Values, rate: Values) -> Values:
    """Joules a bit of what draws `watts` to move `rate` bytes per second: ``watts / (8 · rate)``,
    `serdes_power` turned round.

    >>> from fabriclab.units import Gbps, pJ
    >>> round(energy_per_bit(20, 400 * Gbps) / pJ, 9), round(energy_per_bit(9, 1600 * Gbps) / pJ, 9)
    (50.0, 5.625)
    """
    watts, rate = nonnegative("watts", watts), positive("rate", rate)
    broadcastable(watts=watts, rate=rate)
    return scalar_or_array(watts / (8 * rate))


def accelerators_fed(watts: Values, per_accelerator: Values = catalog.H100.tdp) -> Values:
    """How many accelerators `watts` feed: ``watts / per_accelerator``. TDP is the chip alone; a
    node's share is nearly twice that.

    >>> round(accelerators_fed(1.28e6)), round(accelerators_fed(1.28e6, catalog.DGX_H100_POWER / 8))
    (1829, 1004)
    """
    watts, per_accelerator = (
        nonnegative("watts", watts),
        positive("per_accelerator", per_accelerator),
    )
    broadcastable(watts=watts, per_accelerator=per_accelerator)
    return scalar_or_array(watts / per_accelerator)


def tree_tiers(hosts: Values, radix: Values) -> Values:
    """Tiers of switches that a non-blocking tree needs: the least t with ``2 (radix/2)^t >=
    hosts``, and 1 for one switch.

    So `radix` hosts hang on one switch, ``radix^2/2`` under two tiers, ``radix^3/4`` under three.
    `radix` is even, 4 or more.

    >>> tree_tiers(1024, 64), tree_tiers(10_000, 64), tree_tiers(10_000, 256)
    (2.0, 3.0, 2.0)
    """
    hosts, radix = (
        count("hosts", hosts),
        number("radix", radix, least=4, expected="an even number of ports, 4 or more", whole=True),
    )
    if np.any(np.asarray(radix) % 2):
        raise ValueError(
            "radix must be an even number of ports, 4 or more, as half of them point up, not"
            f" {radix}"
        )
    broadcastable(hosts=hosts, radix=radix)
    hosts, half = np.broadcast_arrays(hosts, np.asarray(radix) / 2)
    tiers = np.ones(hosts.shape)
    while (short := 2 * half**tiers < hosts).any():
        tiers = tiers + short
    return scalar_or_array(tiers)


@dataclass(frozen=True)
class Planes:
    """A non-blocking fabric of planes side by side: `planes`, the `radix` of a switch cut into
    their ports, `tiers`, `most_hosts` that those hold, `switches` in all planes, and `fibres`:
    links of the host's whole rate, each with a module at either end, hosts' own included.
    """

    planes: int
    radix: int
    tiers: int
    most_hosts: int
    switches: int
    fibres: int


def multi_plane(hosts: Values, rate: Values, capacity: Values, planes: Values = 1) -> Planes:
    """The `Planes` that join `hosts` of one NIC of `rate` each, cut into as many ports as `planes`;
    every plane is a tree of its own, of switches that carry `capacity` one way.

    ``radix = capacity planes / rate``, ``most = 2 (radix/2)^tiers``, ``switches = planes ·
    ceil(hosts (2 tiers - 1) / radix)``, ``fibres = hosts tiers``: a thinner port makes a flatter
    tree. A host that loses a plane keeps ``(planes-1)/planes`` of its rate, if its transport can
    spread one message over planes. Source: Araujo et al. 2026, MRC (arXiv 2605.04333).

    >>> from fabriclab.units import Gbps, Tbps
    >>> eight = multi_plane(131_072, 800 * Gbps, 51.2 * Tbps, planes=8)
    >>> eight.radix, eight.tiers, eight.most_hosts, eight.switches
    (512, 2, 131072, 6144)
    """
    hosts = int(scalar("hosts", count("hosts", hosts)))
    planes = int(scalar("planes", count("planes", planes)))
    rate, capacity = (
        scalar("rate", positive("rate", rate)),
        scalar("capacity", positive("capacity", capacity)),
    )
    radix = round(min(capacity * planes / rate, 2.0**53))
    whole = math.isclose(radix, capacity * planes / rate, rel_tol=1e-9)
    if not whole or radix % 2 or not 4 <= radix <= 1e6:
        raise ValueError(
            "capacity must be an even number of ports of rate / planes, 4 to 1,000,000, not"
            f" {capacity * planes / rate:,g}"
        )
    tiers = int(tree_tiers(hosts, radix))
    each = 1 if tiers == 1 else math.ceil(hosts * (2 * tiers - 1) / radix)
    return Planes(planes, radix, tiers, 2 * (radix // 2) ** tiers, planes * each, hosts * tiers)


@dataclass(frozen=True)
class TreeOptics:
    """A tree's optics: `tiers`, the `links` on fibre, their ends in switches and in hosts, and
    watts of both ways to light them.
    """

    tiers: float
    links: float
    switch_ends: float
    host_ends: float
    pluggable: float
    copackaged: float


def tree_optics(
    hosts: Values,
    radix: Values,
    pluggable: Values = catalog.PLUGGABLE.watts,
    copackaged: Values = catalog.CPO.watts,
    hosts_on_fibre: bool = False,
) -> TreeOptics:
    """The `TreeOptics` of a non-blocking tree of `radix`-port switches over `hosts` ports: every
    link between switches is optical.

    ``hosts · (tiers - 1)`` links with two ends each; with `hosts_on_fibre` a host's own cable too,
    one end of it in a switch. In packages only switches' ends change: a host's stays a module.
    Watts an end, as in `optical_dividend`.

    >>> three, two = tree_optics(10_000, 64), tree_optics(10_000, 256)
    >>> three.links, two.links, three.pluggable, three.pluggable - three.copackaged
    (20000.0, 10000.0, 800000.0, 400000.0)
    """
    fibre = scalar("hosts_on_fibre", flag("hosts_on_fibre", hosts_on_fibre))
    tiers, hosts = tree_tiers(hosts, radix), count("hosts", hosts)
    own, between = hosts * float(fibre), tree_links(hosts, tiers) - hosts
    plugged, packaged = nonnegative("pluggable", pluggable), nonnegative("copackaged", copackaged)
    broadcastable(hosts=np.asarray(between), pluggable=plugged, copackaged=packaged)
    inside = 2 * between + own
    return TreeOptics(
        tiers,
        scalar_or_array(between + own),
        scalar_or_array(inside),
        scalar_or_array(own),
        scalar_or_array((inside + own) * plugged),
        scalar_or_array(inside * packaged + own * plugged),
    )
