"""Level 3 alive: a network of one's own choosing with its bill and its bounds, and what a dead part
takes away.
"""

from dataclasses import replace
from functools import lru_cache

import ipywidgets

from fabriclab import catalog, collectives, topology
from fabriclab.course.engine import plot
from fabriclab.course.engine.explorer import Explorer, slider, steps
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


def _dropdown(name, options, value):
    return ipywidgets.Dropdown(
        options=options,
        value=value,
        description=name,
        style={"description_width": "130px"},
        layout={"width": "400px", "max_width": "100%"},
    )


@plot.drawing
def _two_axes(height, share, left):
    """A figure with the wiring above, and below, on a `share` of it, something smaller that starts
    at `left`: (figure, above, below).
    """
    figure, above = plot.new(7.6, height)
    # by hand, so that the labels below do not narrow what is above
    figure.set_layout_engine("none")
    above.set_position((0.01, share, 0.98, 0.99 - share))
    below = figure.add_axes((left, 0.58 / height, 0.96 - left, share - 0.66 / height))
    below.tick_params(labelsize=plot.STYLE["xtick.labelsize"])
    below.set_axisbelow(True)
    return figure, above, below


def fabric(
    family="leaf-spine", hosts=1024, radix=64, oversubscription=1, rails=8, payload=100 * GB
):
    """A network alive: its wiring, bill, bisection, path lengths, and what AllReduce and AllToAll
    need at least.

    It starts from `hosts` ports on switches of `radix` ports, 50 GB/s a cable; `payload` bytes a
    rank. A dragonfly is the smallest balanced one for that many hosts, a torus as nearly a cube as
    can be. Switches are priced by the port.
    """
    controls = {
        "family": _dropdown("family", FAMILIES, family),
        "hosts": slider("hosts", [2**k for k in range(4, 13)], "{:,}".format, hosts),
        "radix": slider("ports of a switch", [2**k for k in range(2, 8)], str, radix),
        "oversubscription": slider(
            "oversubscription", [1, 1.5, 2, 3, 4, 7], "{:g}:1".format, oversubscription
        ),
        "rails": slider("rails", [1, 2, 4, 8], str, rails),
        "payload": slider(
            "payload of a rank", steps(1 * MB, 1 * TB), lambda value: si(value, "B"), payload
        ),
    }

    def rows(facts, payload):
        ranks, port, cut = facts.network.hosts, facts.port, facts.bisection
        times = [
            topology.allreduce_port_bound(payload, ranks, port),
            topology.allreduce_cut_bound(payload, cut),
            collectives.all_to_all(payload, ranks, 0.0, port),
            topology.alltoall_cut_bound(payload, ranks, cut),
        ]
        return [(label, seconds, kind) for (label, kind), seconds in zip(BOUNDS, times)]

    def move(payload, **shape):
        for name, families in USES.items():
            controls[name].disabled = shape["family"] not in families
        facts = _facts(
            **{
                name: value
                for name, value in shape.items()
                if shape["family"] in USES.get(name, FAMILIES)
            }
        )
        times = rows(facts, payload)
        drawings.move_wiring(wires, facts.network)
        drawings.move_bounds(
            bars, times, [first + (times[first][1] < times[first + 1][1]) for first in (0, 2)]
        )
        return "\n".join(
            [*_words(facts), *(_decides(times[first : first + 2], payload) for first in (0, 2))]
        )

    figure, above, below = _two_axes(5.6, 0.36, 0.2)
    start = _facts("leaf-spine", 1024, 64)
    wires = drawings.wiring(above, start.network)
    bars = drawings.bounds(below, rows(start, payload))
    plot.log_axis(below.xaxis, "s", 1 * ns, 1e5, each=1000)
    return Explorer(
        controls,
        figure,
        sum([*wires.values(), *bars.values()], []),
        move,
        alt=(
            "Above, the wiring of a network, tier by tier; below, the least time of AllReduce and"
            " of AllToAll that ports and cut allow."
        ),
        rows=[["family", "hosts"], ["radix", "oversubscription"], ["rails", "payload"]],
    )


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


def failure(design="leaf-spine, 1,024 hosts", part="switch at the hosts"):
    """One dead part alive: hosts lost, bisection left, longer paths, and the wiring with the part
    crossed out.

    Of parts alike, the one drawn stands for the one measured: the busiest at the narrowest cut.
    """
    controls = {
        "design": _dropdown("design", list(DESIGNS), design),
        "part": _dropdown("what dies", PARTS, part),
    }

    def move(design, part):
        network, found = _failures(design)
        lost = found[_named(design, network, part)]
        drawings.move_wiring(wires, network, lost.part)
        drawings.move_failures(bar, [lost])
        return _damage(network, lost)

    figure, above, below = _two_axes(4.9, 0.27, 0.03)
    network, found = _failures("leaf-spine, 1,024 hosts")
    wires = drawings.wiring(above, network)
    bar = drawings.failures(below, [found["leaf switch"]])
    return Explorer(
        controls,
        figure,
        sum([*wires.values(), *bar.values()], []),
        move,
        alt=(
            "Above, the wiring of a network with one part crossed out and the hosts it cuts off;"
            " below, the bisection that is left."
        ),
        rows=[["design", "part"]],
    )


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
    return "\n".join(
        [
            f"One {lost.part} gone: {lost.hosts_lost:,} of {network.hosts:,} hosts cut off.{nodes}",
            (
                f"Bisection: {si(lost.bisection_left, 'B/s')} left of"
                f" {si(lost.bisection_before, 'B/s')}, {100 * share:.4g}%."
            ),
            (
                f"Links on the path: worst {before.worst}, then {after.worst}; mean"
                f" {before.mean:.3f}, then {after.mean:.3f}; the pair hit worst takes"
                f" {lost.extra_links} more."
            ),
        ]
    )
