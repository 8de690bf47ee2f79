"""Level 3 alive: a network of one's own choosing with its bill and its bounds, and what a dead part
takes away.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from fabriclab import catalog, collectives, topology
from fabriclab.course.engine import plot
from fabriclab.course.engine.explorer import Grip, dropdown, explorer, slider, steps
from fabriclab.course.topology import figures as drawings
from fabriclab.units import GB, MB, TB, ns, si

FAMILIES = [
    "leaf-spine",
    "fat-tree, 2 tiers",
    "fat-tree, 3 tiers",
    "rails, joined",
    "rails, separate",
    "dragonfly",
    "torus",
]
# what a control is for; the others leave the network as it is
USES = {
    "radix": set(FAMILIES) - {"torus"},
    "oversubscription": {"leaf-spine", "rails, joined", "rails, separate"},
    "rails": {"rails, joined", "rails, separate"},
}
BOUNDS = [
    ("AllReduce, ports", "port"),
    ("AllReduce, cut", "cut"),
    ("AllToAll, ports", "port"),
    ("AllToAll, cut", "cut"),
]
DESIGNS = {
    "leaf-spine, 1,024 hosts": lambda: topology.build(1024, 64),
    "leaf-spine at 4:1, 1,024 hosts": lambda: topology.leaf_spine(32, 8, 32, 8),
    "fat-tree k=4, 16 hosts": lambda: topology.fat_tree(4),
    "fat-tree k=16, 1,024 hosts": lambda: topology.fat_tree(16),
    "joined rails, 128 nodes of 8": lambda: topology.rail_optimised(128),
    "separate rails, 128 nodes of 8": lambda: topology.rail_optimised(128, joined=False),
    "dragonfly, 72 hosts": lambda: topology.dragonfly(2, 4, 2),
    "dragonfly, 1,056 hosts": lambda: topology.dragonfly(4, 8, 4),
    "torus 4x4x4, 64 hosts": lambda: topology.torus((4, 4, 4)),
}
PARTS = ["switch at the hosts", "spine", "core", "host's cable", "cable further up"]


@plot.drawing
def _below(above, share, left):
    """Leave `above` to the wiring, and below, on a `share` of the figure, new Axes that start at
    `left`.
    """
    figure, height = above.figure, above.figure.get_figheight()
    # by hand, so that the labels below do not narrow what is above
    figure.set_layout_engine("none")
    above.set_position((0.01, share, 0.98, 0.99 - share))
    below = figure.add_axes((left, 0.58 / height, 0.96 - left, share - 0.66 / height))
    below.tick_params(labelsize=plot.STYLE["xtick.labelsize"])
    below.set_axisbelow(True)
    return below


def _draw_fabric(axes, network, times):
    below = _below(axes, 0.36, 0.2)
    artists = {"wires": drawings.wiring(axes, network), "bars": drawings.bounds(below, times)}
    plot.log_axis(below.xaxis, "s", 1 * ns, 1e5, each=1000)
    return artists


def _move_fabric(artists, network, times):
    longer = [first + (times[first][1] < times[first + 1][1]) for first in (0, 2)]
    drawings.move_wiring(artists["wires"], network)
    drawings.move_bounds(artists["bars"], times, longer)


def _idle(family, **_):
    return [name for name, families in USES.items() if family not in families]


@explorer(
    _draw_fabric,
    _move_fabric,
    [
        {
            "family": dropdown("family", FAMILIES),
            "hosts": slider("hosts", [2**k for k in range(4, 13)], "{:,}"),
        },
        {
            "radix": slider("ports of a switch", [2**k for k in range(2, 8)], "{}"),
            "oversubscription": slider("oversubscription", [1, 1.5, 2, 3, 4, 7], "{:g}:1"),
        },
        {
            "rails": slider("rails", [1, 2, 4, 8], "{}"),
            "payload": slider("payload of a rank", steps(1 * MB, 1 * TB), "B"),
        },
    ],
    alt="Above, the wiring of a network, tier by tier; below, the least time of AllReduce and of"
    " AllToAll that ports and cut allow.",
    size=(7.6, 5.6),
    idle=_idle,
)
def fabric(
    family="leaf-spine", hosts=1024, radix=64, oversubscription=1, rails=8, payload=100 * GB
):
    """A network alive: its wiring, bill, bisection, path lengths, and what AllReduce and AllToAll
    need at least.

    It starts from `hosts` ports on switches of `radix` ports, 50 GB/s a cable; `payload` bytes a
    rank. A dragonfly is the smallest balanced one for that many hosts, a torus as nearly a cube as
    can be. Switches are priced by the port.
    """
    shape = {"radix": radix, "oversubscription": oversubscription, "rails": rails}
    facts = _facts(
        family, hosts, **{name: shape[name] for name in shape if name not in _idle(family)}
    )
    ranks, port, cut = facts.network.hosts, facts.port, facts.bisection
    seconds = [
        topology.allreduce_port_bound(payload, ranks, port),
        topology.allreduce_cut_bound(payload, cut),
        collectives.all_to_all(payload, ranks, 0.0, port),
        topology.alltoall_cut_bound(payload, ranks, cut),
    ]
    times = [(label, bound, kind) for (label, kind), bound in zip(BOUNDS, seconds)]
    decides = [_decides(pair, payload) for pair in (times[:2], times[2:])]
    return (facts.network, times), [*_words(facts), *decides]


class _Facts:
    """What the readout says of a network; `port` is what the weakest host sends,
    bytes per second.
    """

    def __init__(self, network, radix):
        per_port = catalog.QM9700
        share = radix / per_port.ports
        switch = replace(
            per_port,
            ports=radix,
            price_low=share * per_port.price_low,
            price_high=share * per_port.price_high,
            watts=share * per_port.watts,
        )
        self.network, self.bill, self.paths = (
            network,
            topology.bill(network, switch),
            topology.paths(network),
        )
        # where a closed form is known it is what the wiring gives, in no time: the tests of both
        # hold them together
        self.bisection = (
            network.closed["bisection"]
            if "bisection" in network.closed
            else topology.bisection(network)
        )
        self.port = float(network.injection().min())


@lru_cache(maxsize=64)
def _facts(family, hosts, radix=64, oversubscription=1, rails=8):
    return _Facts(_network(family, hosts, radix, oversubscription, rails), radix)


def _network(family, hosts, radix, oversubscription, rails):
    """The network that the controls ask for; ValueError, in their words, where there is none."""
    if family == "torus":
        sides = sorted(2 ** ((hosts.bit_length() - 1 + extra) // 3) for extra in range(3))
        return topology.torus(tuple(sides))
    if family == "dragonfly":
        h = next(h for h in range(1, 100) if 2 * h * h * (2 * h * h + 1) >= hosts)
        if 4 * h - 1 > radix:
            raise ValueError(
                f"A balanced dragonfly for {hosts:,} hosts needs routers of {4 * h - 1} ports, and"
                f" these have {radix}."
            )
        return topology.dragonfly(h, 2 * h, h)
    if family.startswith("rails"):
        return topology.rail_optimised(
            hosts // rails, rails, radix, oversubscription, joined=family == "rails, joined"
        )
    if family.startswith("fat-tree"):
        return topology.fat_tree(radix, 2 if "2" in family else 3, hosts)
    network = topology.build(hosts, radix, oversubscription)
    if "core" in network.tiers:
        raise ValueError(
            f"{hosts:,} hosts need {network.switches['leaf']:,} leaves, and a spine joins at most"
            f" {radix}: a third tier is needed."
        )
    return network


def _words(facts):
    network, bill = facts.network, facts.bill
    switches = (
        " + ".join(f"{count:,} {tier}" for tier, count in network.switches.items())
        or "no switches, hosts forward"
    )
    low, high = bill.switch_price
    price = (
        f"switches {si(low, '$', 3)} to {si(high, '$', 3)}, cables {si(bill.cable_price, '$', 3)}"
        if high
        else f"cables {si(bill.cable_price, '$', 3)}"
    )
    worst, mean = facts.paths.switches_on_path
    nowhere = (
        f"; {facts.paths.unreachable:.1%} of pairs have no path"
        if facts.paths.unreachable > 1e-12
        else ""
    )
    ratio = network.injection().sum() / 2 / facts.bisection
    nodes = "" if network.node is None else f" in {int(network.node.max()) + 1:,} nodes"
    return [
        (
            f"{network.hosts:,} hosts of {si(facts.port, 'B/s')}{nodes}; {switches};"
            f" {bill.cables:,} cables."
        ),
        (
            f"Bill: {price}; {si(bill.watts, 'W', 3)}."
            if bill.watts
            else f"Bill: {price}; no watts but the hosts'."
        ),
        f"Bisection {si(facts.bisection, 'B/s')}, {ratio:.3g}:1 for one half sending to the other.",
        (
            f"{'Hosts' if network.direct else 'Switches'} on the path: {worst} at worst, {mean:.3g}"
            f" on average{nowhere}."
        ),
    ]


def _decides(rows, payload):
    (name, port, _), (_, cut, _) = rows
    ports, more = port >= cut, max(port, cut)
    collective = name.partition(",")[0]
    return (
        f"{collective} of {si(payload, 'B')}: at least {si(more, 's')}."
        f" {'The ports decide' if ports else 'The cut decides'}; the {'cut' if ports else 'ports'}"
        f" alone: {si(min(port, cut), 's')}."
    )


def _draw_failure(axes, network, lost):
    below = _below(axes, 0.27, 0.03)
    return {"wires": drawings.wiring(axes, network), "bar": drawings.failures(below, [lost])}


def _move_failure(artists, network, lost):
    drawings.move_wiring(artists["wires"], network, lost.part)
    drawings.move_failures(artists["bar"], [lost])


def _grips(design, **_):
    """A click on a box kills such a switch, or the cable of such a host."""
    network, found = _failures(design)
    boxes = [
        (corners, kind)
        for corners, kind in drawings.layout(network).shapes
        if kind in ("switch", "host", "here")
    ]
    middles = np.array([np.mean(corners, axis=0) for corners, _ in boxes])
    of_switches = np.array([kind != "host" for _, kind in boxes])
    rows = np.unique(middles[of_switches, 1].round(3)) if len(network.tiers) > 1 else []
    for (x, y), switch in zip(middles.tolist(), of_switches):
        tier = int(np.searchsorted(rows, y - 0.01)) if switch else 0
        part = PARTS[min(tier, 2)] if switch or network.direct else "host's cable"
        yield Grip((x, y), lambda x, y, part=part: {"part": part})


@explorer(
    _draw_failure,
    _move_failure,
    [{"design": dropdown("design", list(DESIGNS)), "part": dropdown("what dies", PARTS)}],
    alt="Above, the wiring of a network with one part crossed out and the hosts it cuts off; below,"
    " the bisection that is left.",
    size=(7.6, 4.9),
    grips=_grips,
)
def failure(design="leaf-spine, 1,024 hosts", part="switch at the hosts"):
    """One dead part alive: hosts lost, bisection left, longer paths, and the wiring with the part
    crossed out.

    Of parts alike, the one drawn stands for the one measured: the busiest at the narrowest cut.
    """
    network, found = _failures(design)
    lost = found[_named(design, network, part)]
    return (network, lost), _damage(network, lost)


@lru_cache(maxsize=len(DESIGNS))
def _failures(design):
    """(network, {part: Failure}): all at once, so that a second look costs nothing."""
    network = DESIGNS[design]()
    return network, {lost.part: lost for lost in topology.failures(network)}


def _named(design, network, part):
    """The part that `PARTS` means in this network, as `topology.failures` names it."""
    if network.direct:
        here = {"switch at the hosts": "host", "host's cable": "x cable"}
    else:
        here = dict(zip(PARTS, [f"{tier} switch" for tier in network.tiers])) | {
            "host's cable": f"{network.layers[0]} cable",
            "cable further up": f"{network.layers[-1]} cable",
        }
    if part not in here:
        raise ValueError(
            f"{design.partition(',')[0].capitalize()} has no {part}. It has: {', '.join(here)}."
        )
    return here[part]


def _damage(network, lost):
    nodes = (
        ""
        if network.node is None or not lost.hosts_lost
        else (
            f" Nodes that lost a port: {lost.nodes_touched:,}; every port:"
            f" {lost.nodes_lost or 'none'}."
        )
    )
    share = lost.bisection_left / lost.bisection_before
    before, after = lost.links_before, lost.links_after
    return [
        f"One {lost.part} gone: {lost.hosts_lost:,} of {network.hosts:,} hosts cut off.{nodes}",
        f"Bisection: {si(lost.bisection_left, 'B/s')} left of {si(lost.bisection_before, 'B/s')},"
        f" {100 * share:.4g}%.",
        f"Links on the path: worst {before.worst}, then {after.worst}; mean {before.mean:.3f}, then"
        f" {after.mean:.3f}; the pair hit worst takes {lost.extra_links} more.",
    ]
