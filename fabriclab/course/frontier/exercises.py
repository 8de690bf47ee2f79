"""The exercises beyond the levels: ends of fibre, a fleet's watts, a claim to check, a pool's
budget, tiers.

The lists numbers are drawn from are part of what students were given: add exercises, but do not
change these lists.
"""

import numpy as np

from fabriclab import catalog, link
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.function import Function
from fabriclab.course.engine.exercises.kinds import Choice, Option, Quantity
from fabriclab.course.engine.exercises.slips import BITS, Slip
from fabriclab.course.engine.exercises.template import pick
from fabriclab.units import Gbps, Tbps, ns, pJ, si

NODE_SHARE = catalog.DGX_H100_POWER / 8


def _radix(x):
    return int(link.switch_ports(x.chip, x.port))


def _optics(x, **change):
    return link.tree_optics(x.hosts, _radix(x), x.watts, 0, **change)


def _all_ports(hosts, radix):
    """Tiers if every port of a switch pointed down."""
    hosts, tiers = np.asarray(hosts), np.ones(np.shape(hosts))
    while (short := radix**tiers < hosts).any():
        tiers = tiers + short
    return tiers


def _tiers_inputs(draw):
    hosts = [
        draw.pick(
            f"hosts {i}", (2, 40, 64, 100, 600, 2048, 2049, 9000, 30_000, 65_536, 70_000, 200_000)
        )
        for i in range(4)
    ]
    radix = draw.pick("radix", (16, 32, 64, 128))
    # on the edge and one past it, in two tiers and in three
    edges = [radix, radix + 1, radix**2 // 2, radix**2 // 2 + 1, radix**3 // 4, radix**3 // 4 + 1]
    return [(host, radix) for host in hosts] + [
        (edges, radix),
        ([2, *edges], draw.pick("other", (8, 256, 512))),
    ]


def _on_planes(x):
    """Any number of GPUs that fills more than one switch of a plane, and no third tier."""
    ports = int(link.switch_ports(x.chip, x.nic / x.planes))
    return link.multi_plane(2 * ports, x.nic, x.chip, x.planes).most_hosts


def _two_tiers(radix):
    return radix**2 / 2


EXERCISES = [
    Exercise(
        id="frontier.ends",
        title="Count the ends",
        chinese="数一数光模块",
        numbers={
            "hosts": pick(10_000, 24_576, 32_768, 60_000),
            "chip": pick(25.6, 51.2, 102.4, unit=Tbps),
            "port": 400 * Gbps,
            "watts": pick(8, 9, 16, 20),
        },
        prompt=(
            "A non-blocking tree joins {hosts:,} GPUs, a port of {port:b/s} each. The "
            "switch chips carry {chip:b/s} one way. Hosts hang on copper; every link "
            "between switches is fibre, with a module of {watts} W at either end. How "
            "many watts do all the modules draw?"
        ),
        kind=Quantity(
            lambda x: _optics(x).pluggable,
            "power",
            tolerance=0.002,
            slips=(
                Slip(
                    "one end a link",
                    "you gave a link one module; it has two ends",
                    lambda x: _optics(x).pluggable / 2,
                ),
                Slip(
                    "a tier too many",
                    "you lit a tier too many: the hosts' own cables are copper here, so the tier of"
                    " the leaves adds no fibre",
                    lambda x: _optics(x, hosts_on_fibre=True).pluggable,
                ),
            ),
        ),
        hints=(
            "Ports of a switch: capacity over port rate. Two tiers hold k²/2 hosts.",
            "Each tier above the leaves adds one link a host.",
        ),
        moral=(
            "A chip with twice the ports may take a whole tier away, and with it two modules a"
            " host: that is the dividend of radix."
        ),
    ),
    Exercise(
        id="frontier.fed",
        title="What the watts would feed",
        chinese="光学红利能供多少 GPU",
        numbers={
            "switches": pick(400, 1000, 2500),
            "ports": pick(64, 128),
            "module": pick(14, 16, 20, 30),
            "engine": pick(5, 9, 10),
        },
        prompt=(
            "A fleet of {switches:,} switches with {ports} ports each goes from pluggable"
            " modules of {module} W to co-packaged engines of {engine} W. How many H100 "
            "does the saving feed, if a whole node of eight takes up to {node_power:W}? A"
            " fraction is fine."
        ),
        kind=Quantity(
            lambda x: link.accelerators_fed(
                link.optical_dividend(x.ports, x.module, x.engine, x.switches).saved, NODE_SHARE
            ),
            "number",
            tolerance=0.005,
            slips=(
                Slip(
                    "chip alone",
                    "you fed the chips alone, 700 W each; they need a node around them",
                    lambda x: link.accelerators_fed(
                        link.optical_dividend(x.ports, x.module, x.engine, x.switches).saved
                    ),
                ),
                Slip(
                    "nodes for GPUs",
                    "you counted nodes; there are eight GPUs in each",
                    lambda x: link.accelerators_fed(
                        link.optical_dividend(x.ports, x.module, x.engine, x.switches).saved,
                        8 * NODE_SHARE,
                    ),
                ),
                Slip(
                    "all for the difference",
                    "you spent all that the modules draw; the engines draw something too",
                    lambda x: link.accelerators_fed(
                        link.optical_dividend(x.ports, x.module, 0, x.switches).saved, NODE_SHARE
                    ),
                ),
            ),
        ),
        hints=("What does one port save?", "Watts a GPU: the node's over eight."),
        moral=(
            "The chapter's 1,800 GPUs are chips of 700 W; with the node around each, the same watts"
            " feed a thousand."
        ),
        places={"node_power": lambda x: catalog.DGX_H100_POWER},
    ),
    Exercise(
        id="frontier.lane",
        title="Watts of a copper port",
        chinese="铜缆端口的功耗",
        numbers={
            "rate": pick(400, 800, 1600, unit=Gbps),
            "energy": pick(7, 8.5, 10, 15, 18, 20, unit=pJ),
        },
        prompt=(
            "A copper port of {rate:b/s} costs {picojoules:g} pJ for every bit it sends. "
            "How many watts is that, at full rate?"
        ),
        kind=Quantity(
            lambda x: link.serdes_power(x.rate, x.energy),
            "power",
            tolerance=0.005,
            slips=(
                Slip(
                    BITS,
                    "you multiplied bytes by joules a bit; the port sends eight times as many bits",
                    lambda x: x.rate * x.energy,
                ),
            ),
        ),
        hints=("Joules a bit times bits a second.",),
        moral=(
            "The rate doubled from generation to generation, the energy a bit doubled too: the"
            " watts of a port go up fourfold."
        ),
        places={"picojoules": lambda x: x.energy / pJ},
    ),
    Exercise(
        id="frontier.claim",
        title="More than a megawatt",
        chinese="“超过一兆瓦”",
        numbers={},
        prompt=(
            "The chapter: for a cluster of 10,000 GPUs, getting rid of pluggable modules "
            "saves more than one megawatt. It has 20 W for a module and 10 W for an "
            "engine. Which check settles it with the least effort?"
        ),
        kind=Choice(
            (
                Option(
                    "Count the switch ports of three tiers, five for each host, and take 10 W"
                    " from each",
                    "50,000 ports, 0.5 MW: half of the claim, even with every port of every switch"
                    " on fibre. The chapter's own count of links gives 0.4.",
                    right=True,
                    also=(
                        "Count the switch ports of three tiers, five to a host, at a saving of 10"
                        " W a port",
                    ),
                ),
                Option(
                    "Multiply the saving of one switch, 1.28 kW, by the 1,000 switches of the"
                    " napkin: 1.28 MW",
                    "That is the napkin's fleet of 128,000 ports. A cluster of 10,000 GPUs has a"
                    " fraction of them: count its own.",
                ),
                Option(
                    "Divide one megawatt by 10,000: 100 W a GPU is little beside its 700, so it"
                    " may well be",
                    "Plausible is not a check: 100 W a GPU would be ten modules a GPU, each of them"
                    " saving 10 W. A tree has five switch ports a GPU.",
                ),
                Option(
                    "Look up what makers' modules take in place of the 20 W",
                    "Worth doing, and it makes the claim worse (8 or 9 W are less than the engine's"
                    " 10). But the text's own numbers settle it first.",
                ),
            )
        ),
        hints=(
            "Which number of the claim can you count yourself?",
            "How many switch ports are there for each host in three tiers?",
        ),
        moral=(
            "Ports a host is the number to carry in your head: 2t - 1 in switches, and one in the"
            " host."
        ),
    ),
    Exercise(
        id="frontier.pool",
        title="A budget for the pool",
        chinese="内存池的延迟预算",
        numbers={
            "home": 85 * ns,
            "pool": pick(155, 165, 180, 270, unit=ns),
            "slower": pick(0.05, 0.1, 0.15, 0.2),
        },
        prompt=(
            "A task spends its time on loads that wait for one another, {home:s} each at "
            "home. A load from the CXL pool takes {pool:s}. The task may become at most "
            "{slower:.0%} slower. What share of its loads may go to the pool?"
        ),
        kind=Quantity(
            lambda x: x.slower * x.home / (x.pool - x.home),
            "number",
            tolerance=0.005,
            slips=(
                Slip(
                    "pool for difference",
                    "you charged a pooled load in full; it replaces one at home",
                    lambda x: x.slower * x.home / x.pool,
                ),
                Slip(
                    "the rest",
                    "you gave the share that must stay at home",
                    lambda x: 1 - x.slower * x.home / (x.pool - x.home),
                ),
            ),
        ),
        hints=("The mean load takes (1 - s) α + s α'.", "Set it to (1 + slower) α."),
        moral=(
            "At about twice the start-up a task gets slower by the very share it keeps in the pool;"
            " behind a switch, by twice that. So it matters *which* data go there."
        ),
    ),
    Exercise(
        id="frontier.tiers",
        title="Write the staircase",
        chinese="写出层数函数",
        numbers={},
        prompt=(
            "Write `tiers(hosts, radix)`: how many tiers of switches a non-blocking tree "
            "needs. `hosts` is a whole number and may be a numpy array of them; `radix` "
            "is the ports of a switch, even and at least 4. One switch takes `radix` "
            "hosts, and each further tier multiplies by half the radix."
        ),
        kind=Function(
            ("hosts", "radix"),
            link.tree_tiers,
            _tiers_inputs,
            "number",
            ("number", "number"),
            slips=(
                (
                    "whole radix a tier",
                    "each tier multiplied by all ports of a switch; half of them point up",
                    _all_ports,
                ),
                (
                    "full is one too many",
                    "where the hosts just fit you add a tier that nobody needs",
                    lambda hosts, radix: link.tree_tiers(hosts + 1, radix),
                ),
            ),
        ),
        hints=(
            "Two tiers hold k²/2 hosts, three k³/4: write that as 2 (k/2)^t.",
            (
                "Logarithms round badly on the edge; counting up does not. For an array, count with"
                " `+ (condition)`."
            ),
        ),
        moral=(
            "A staircase of powers: the next chip generation moves its edges by two, four or eight,"
            " and you may drop a tier, or not."
        ),
    ),
    Exercise(
        id="frontier.planes",
        title="One NIC on many planes",
        chinese="多平面网络",
        numbers=lambda draw: {
            "chip": draw.pick("chip", (25.6, 51.2, 102.4)) * Tbps,
            "nic": draw.pick("nic", (400, 800)) * Gbps,
            "planes": draw.pick("planes", (2, 4, 8)),
        },
        prompt=lambda x: (
            f"A NIC of {si(x.nic, 'b/s')} is cut into {x.planes} equal ports, each on a plane of"
            f" its own: {x.planes} separate non-blocking trees of two tiers, of switches that carry"
            f" {si(x.chip, 'b/s')} one way. How many GPUs, a NIC each, can they join at most?"
        ),
        kind=Quantity(
            _on_planes,
            "number",
            tolerance=1e-6,
            slips=(
                Slip(
                    "whole ports",
                    "you cut the chip into ports of the whole NIC; a plane's port is thinner",
                    lambda x: _two_tiers(x.chip / x.nic),
                ),
                Slip(
                    "added the planes",
                    "you added the planes' hosts up; every GPU is on all planes",
                    lambda x: x.planes * _two_tiers(x.chip * x.planes / x.nic),
                ),
                Slip(
                    "every port down",
                    "you let every port of a leaf point down; half of them point up",
                    lambda x: 2 * _two_tiers(x.chip * x.planes / x.nic),
                ),
            ),
        ),
        hints=(
            "What rate has a port of one plane, and how many such ports has a switch?",
            "All planes join the same GPUs: count one of them.",
            "Two tiers of k-port switches hold k²/2.",
        ),
        moral=(
            "The planes' number enters squared: eight of them, and two tiers hold what took four."
            " The price is a transport that spreads one message over all of them, in any order."
        ),
    ),
]
