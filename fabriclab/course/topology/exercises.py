"""The exercises on level 3: switches and topology. Keys are calls to `topology`, most of them on a
wired network.

The lists numbers are drawn from are part of what students were given: add exercises, but do not
change these lists.
"""

from functools import cache

import numpy as np

from fabriclab import collectives, topology
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.formula import Formula
from fabriclab.course.engine.exercises.function import Function
from fabriclab.course.engine.exercises.kinds import Choice, Free, Option, Ordering, Quantity
from fabriclab.course.engine.exercises.slips import BITS, BOTH_WAYS, Slip
from fabriclab.units import GB, MB, TB, Gbps, ns, si

LEAVES = ((48, 16), (50, 10), (56, 8))  # hosts and uplinks of a leaf: 3:1, 5:1, 7:1
SPINES = (
    (8, 4),
    (8, 8),
    (16, 8),
    (16, 16),
    (32, 16),
)  # leaves and spines of a 1:1 tree with 32 hosts a leaf


@cache
def _bisection(leaves, spines, down, up, lost=0):
    """Bisection in cables, without the first `lost` spines."""
    network = topology.leaf_spine(leaves, spines, down, up, radix=128, bandwidth=1.0)
    for spine in range(lost):
        network = topology.without_vertex(network, network.first("spine") + spine)
    return topology.bisection(network)


@cache
def _worst(tiers):
    """(switches, links) on the longest path of a full tree."""
    found = topology.paths(topology.fat_tree(4, tiers))
    return found.switches_on_path.worst, found.links_on_path.worst


@cache
def _tree_switches(hosts, radix, tiers):
    return float(sum(topology.fat_tree(radix, tiers, hosts).counts))


def _tree_points(draw):
    points = []
    for i in range(12):
        k, t = draw.pick(f"k {i}", (8, 16, 32)), draw.pick(f"t {i}", (2, 3))
        smallest, doublings = (
            (k, k.bit_length() - 2) if t == 2 else (k * k // 4, k.bit_length() - 1)
        )
        points.append(
            {"N": smallest * 2 ** int(1 + doublings * draw.share(f"N {i}")), "k": k, "t": t}
        )
    return points


@cache
def _placed(down, up, most, rest):
    """What a job on the first `most` hosts of one leaf and `rest` of another meets."""
    network = topology.leaf_spine(2, up, down, up, bandwidth=1.0)
    return topology.placement_oversubscription(network, [*range(most), *range(down, down + rest)])


@cache
def _leaf_cut(leaves, down, up):
    """Cables that one leaf's hosts have towards all others, by maximum flow."""
    network = topology.leaf_spine(leaves, 1, down, up, radix=10_000, bandwidth=1.0)
    return topology.flow(network, range(down), range(down, network.hosts))


def _leaf_alltoall(M, N, d, r, beta):
    return d * (N - d) / N * M / (_leaf_cut(round(N / d), d, round(d / r)) * beta)


def _leaf_points(draw):
    points = []
    for i in range(12):
        d, r = draw.pick(f"d {i}", (8, 16, 32, 48)), draw.pick(f"r {i}", (1, 2, 4, 8))
        points.append(
            {
                "M": 10 ** (6 + 5 * draw.share(f"M {i}")),
                "N": d * draw.pick(f"leaves {i}", (2, 3, 8, 20, 64)),
                "d": d,
                "r": r,
                "beta": 10 ** (9 + 2 * draw.share(f"beta {i}")),
            }
        )
    return points


def _floor(size, ranks, bandwidth, cut):
    return np.maximum(
        topology.allreduce_port_bound(size, ranks, bandwidth),
        topology.allreduce_ring_cut_bound(size, ranks, cut),
    )


def _floor_inputs(draw):
    """Fabrics whose ports decide, fabrics whose cut does, one rank, and an array of sizes."""
    given = []
    for i, narrow in enumerate((False, True, False, True, False)):
        beta = draw.pick(f"beta {i}", (12.5, 25, 50, 100)) * GB
        cut = beta * draw.pick(f"cut {i}", (0.2, 0.5, 0.8) if narrow else (2, 16, 128))
        given.append(
            (
                draw.pick(f"size {i}", (5 * MB, 350 * MB, 6 * GB, 100 * GB)),
                draw.pick(f"ranks {i}", (2, 3, 16, 1024)),
                beta,
                cut,
            )
        )
    return given + [
        (1 * GB, 1, 50 * GB, 25 * GB),
        (
            [0.0, 1 * MB, 6 * GB, 100 * GB],
            512,
            50 * GB,
            draw.pick("last", (0.02, 0.04, 6.4, 25.6)) * TB,
        ),
    ]


@cache
def _hop_nodes(radix, ratio):
    """Nodes of a large rail-optimised network whose GPU 0 is one switch away from node 0's, node 0
    included.
    """
    rail = topology.rail_optimised(4 * radix, 2, radix, ratio)
    home = rail.position[:, -1]
    return float((home == home[0]).sum())


@cache
def _a_host(family, value):
    """Bisection in cables, per host."""
    network = {
        "full tree": lambda: topology.leaf_spine(32, 16, 32, 32, bandwidth=1.0),
        "tapered tree": lambda: topology.leaf_spine(
            16, *{3: (16, 48, 16), 8: (7, 56, 7)}[value], bandwidth=1.0
        ),
        "dragonfly": lambda: topology.dragonfly(4, 8, 4, bandwidth=1.0),
        "torus": lambda: topology.torus((value,) * 3, bandwidth=1.0),
    }[family]()
    return topology.bisection(network) / network.hosts


def _leaf_seen(x):
    """Oversubscription of one leaf whose uplinks differ, as maximum flow sees it."""
    up, slow = x.up * [4], x.slow * [x.lanes]
    d, ends = x.down, len(up + slow)
    bundles = {
        "host-leaf": (
            np.arange(d + 1),
            np.repeat([d + 1, d + 2], [d, 1]),
            1,
            np.append(np.full(d, 4.0), 1e4),
        ),
        "uplinks": (np.full(ends, d + 1), d + 2, 1, up + slow),
    }
    network = topology.assemble(
        "one leaf and all beyond it", d + 1, ("switch",), (2,), (10_000,), bundles, [[0]] * (d + 1)
    )
    return 4 * d / topology.flow(network, range(d), [d])


EXERCISES = [
    Exercise(
        id="topology.two_tier",
        title="Checkpoint 1.2: the most a pair of tiers can join",
        chinese="两级胖树的上限",
        numbers=lambda draw: {"radix": draw.pick("radix", (32, 36, 40, 48, 72, 144))},
        prompt=lambda x: (
            f"Switches of {x.radix} ports, two tiers, non-blocking: every leaf has as many uplinks"
            " as hosts. How many hosts (GPU ports) can such a network have at most? One more host,"
            " and a third tier must be bought."
        ),
        kind=Quantity(
            lambda x: topology.fat_tree(x.radix, 2).hosts,
            "number",
            whole=True,
            tolerance=1e-6,
            slips=(
                Slip("three tiers", "you counted three tiers", lambda x: x.radix**3 / 4),
                Slip(
                    BOTH_WAYS,
                    "a factor of 2 slipped: half of a leaf's ports go up, but all of a spine's go"
                    " down, as nothing is above it",
                    lambda x: x.radix**2 / 4,
                ),
            ),
        ),
        hints=(
            "How many hosts has one leaf?",
            "How many leaves can a spine see, when each sends it one cable?",
        ),
        moral="Two tiers grow with the square of the radix, three with its cube.",
    ),
    Exercise(
        id="topology.nonblocking",
        title="Checkpoint 1.2: why 1:1 at every tier",
        chinese="为何每一级都要无阻塞",
        numbers=lambda draw: {
            "ratio": draw.pick("ratio", (2, 3, 4)),
            "gpus": draw.pick("gpus", (8192, 16_384, 32_768)),
        },
        prompt=lambda x: (
            f"To save money on a three-tier tree of {x.gpus:,} GPUs, someone keeps the leaves at"
            f" 1:1 and makes only the spines {x.ratio}:1 towards the cores. What has been given up?"
        ),
        kind=Choice(
            (
                Option(
                    "Any permutation at line rate: hosts of two pods share a fraction of it,"
                    " hosts of one pod keep it",
                    "The narrowest tier on a path decides, and maximum flow finds it. Inside a pod"
                    " nothing changed, which is why placement matters.",
                    right=True,
                    also=(
                        "Any permutation at line rate: inside a pod all is as before, between"
                        " pods hosts share what is left",
                    ),
                ),
                Option(
                    "Nothing: every host still has its full port and every leaf its full uplinks,"
                    " so no pair has lost any",
                    "That is aggregate bandwidth. What leaves the pod meets the tier above, and"
                    " there is less of it.",
                ),
                Option(
                    "Line rate everywhere, also between two hosts of one leaf, as their packets"
                    " have fewer cores to go through",
                    "Two hosts of one leaf meet in the leaf. No tier above it sees their traffic.",
                ),
                Option(
                    "Only latency: fewer cores make the paths longer, with six hops between pods"
                    " in place of four",
                    "The paths are as long as before; there are fewer of them.",
                ),
            )
        ),
        hints=(
            (
                "Follow a packet between two hosts of one pod, then between two pods: which tiers"
                " does each meet?"
            ),
        ),
        moral=(
            "Oversubscription is a property of a tier and of where a job sits, never of a cluster"
            " alone."
        ),
    ),
    Exercise(
        id="topology.bisection",
        title="Checkpoint 1.2: bisection, not aggregate",
        chinese="对分带宽与聚合带宽",
        numbers=lambda draw: {
            "leaves": draw.pick("leaves", (16, 24, 32, 48)),
            "wired": draw.pick("wired", LEAVES),
            "rate": draw.pick("rate", (100, 200, 400)) * Gbps,
        },
        prompt=lambda x: (
            f"{x.leaves} leaves, each with {x.wired[0]} hosts and {x.wired[1]} uplinks to spines;"
            f" every cable carries {si(x.rate, 'b/s')} each way. What is the bisection bandwidth,"
            " one way? The sum of all ports is what is advertised; this is what is delivered."
        ),
        kind=Quantity(
            lambda x: _bisection(x.leaves, x.wired[1], *x.wired) * x.rate,
            "rate",
            slips=(
                Slip(
                    "the hosts' side",
                    "you counted the hosts' cables; the uplinks are the oversubscribed side",
                    lambda x: x.leaves / 2 * x.wired[0] * x.rate,
                ),
                Slip(
                    "aggregate",
                    "you counted all hosts: that is what they inject together",
                    lambda x: x.leaves * x.wired[0] * x.rate,
                ),
                Slip(
                    BOTH_WAYS,
                    "a factor of 2 slipped: the uplinks of one half of the leaves carry what"
                    " crosses one way",
                    lambda x: x.leaves * x.wired[1] * x.rate,
                ),
                Slip(
                    BITS,
                    "you took the cable's bits per second for bytes per second",
                    lambda x: 8 * x.leaves / 2 * x.wired[1] * x.rate,
                ),
            ),
        ),
        hints=(
            "Put half of the leaves on one side. Which cables can carry their traffic away?",
            "(N/2) β / r is the same thing, with r the hosts over the uplinks of a leaf.",
        ),
        moral="A cut counts only the cables that cross it.",
    ),
    Exercise(
        id="topology.third_tier",
        title="Checkpoint 1.2: what a third tier adds to α",
        chinese="第三级带来的启动延迟",
        numbers=lambda draw: {
            "switch": draw.pick("switch", (300, 350, 450, 600)) * ns,
            "cable": draw.pick("cable", (50, 75, 100, 150)) * ns,
        },
        prompt=lambda x: (
            "A tree grows from two tiers to three. Each switch holds a packet for"
            f" {si(x.switch, 's')}, each cable for {si(x.cable, 's')}. How much longer does the"
            " longest path between two hosts take, one way? Every start-up on that path pays it."
        ),
        kind=Quantity(
            lambda x: sum(
                (three - two) * each
                for two, three, each in zip(_worst(2), _worst(3), (x.switch, x.cable), strict=True)
            ),
            "time",
            slips=(
                Slip(
                    BOTH_WAYS,
                    "you added one switch and one cable, or went both ways; the path goes up"
                    " through the new tier and comes down again, and this asks for one way",
                    lambda x: x.switch + x.cable,
                ),
                Slip(
                    "the whole path",
                    "you gave the whole path of three tiers; this asks for what it adds",
                    lambda x: sum(
                        n * each for n, each in zip(_worst(3), (x.switch, x.cable), strict=True)
                    ),
                ),
                Slip("no cables", "you left out the cables", lambda x: 2 * x.switch),
                Slip("no switches", "you left out the switches", lambda x: 2 * x.cable),
            ),
        ),
        hints=(
            "Write both paths down: host, leaf, spine, leaf, host; and the same by way of a core.",
            "A path has one cable more than it has switches.",
        ),
        moral="Counted in switches, links or tiers the two paths are 3 and 5, 4 and 6, 2 and 3.",
    ),
    Exercise(
        id="topology.switches",
        title="How many switches",
        chinese="交换机数量",
        numbers=lambda draw: {},
        prompt=lambda x: (
            "A non-blocking tree of t tiers is built from k-port switches for N hosts, with all"
            " ports in use. Derive the number of switches. Then see whether it grows as N log N, as"
            " the text says, while t stays the same."
        ),
        kind=Formula(
            ("N", "k", "t"),
            lambda N, k, t: _tree_switches(N, k, t),
            _tree_points,
            slips=(
                (
                    "top tier with uplinks",
                    (
                        "you gave the top tier uplinks; with nothing above it, all of its ports"
                        " point down"
                    ),
                    lambda N, k, t: 2 * t * N / k,
                ),
                (
                    "all ports down",
                    "you pointed all ports of every tier down; below the top half of them point up",
                    lambda N, k, t: t * N / k,
                ),
                ("leaves alone", "you counted one tier", lambda N, k, t: 2 * N / k),
                ("cables", "you counted cables", lambda N, k, t: t * N),
            ),
        ),
        hints=(
            "Each tier carries the traffic of all N hosts: N cables come from below.",
            "How many of those end on one switch of the top tier, and on one of any other?",
        ),
        moral=(
            "Twice the hosts take twice the switches, until a tier is full; then the next one costs"
            " 2N/k more at once."
        ),
    ),
    Exercise(
        id="topology.money",
        title="What oversubscription costs",
        chinese="超额订阅的代价",
        numbers=lambda draw: {
            "capital": draw.pick("capital", (80, 120, 200, 450)) * 1e6,
            "share": draw.pick("share", (0.2, 0.25, 0.4)),
            "ratio": draw.pick("ratio", (2, 3, 4, 8)),
        },
        prompt=lambda x: (
            f"A cluster cost {si(x.capital, '$')}. In the worst case {x.share:.0%} of every step is"
            f" communication that crosses a tier oversubscribed {x.ratio}:1, at its full rate, and"
            " hides behind nothing. How much of that capital stands idle, next to a network of"
            " 1:1? A network's price is argued with this."
        ),
        kind=Quantity(
            lambda x: topology.wasted_money(x.capital, x.share, x.ratio),
            "money",
            slips=(
                Slip(
                    "what still works",
                    "you gave the part that still works",
                    lambda x: x.capital * topology.relative_throughput(x.share, x.ratio),
                ),
                Slip(
                    "the older edition's",
                    "you took f (1 - 1/r), as an older edition did; the step grows by f (r - 1),"
                    " and the loss is a share of the longer step",
                    lambda x: x.capital * x.share * (1 - 1 / x.ratio),
                ),
                Slip(
                    "share of the shorter step",
                    "you divided by the step as it was; what is lost is a share of the step as it"
                    " has become",
                    lambda x: x.capital * x.share * (x.ratio - 1),
                ),
                Slip(
                    "all of the step",
                    "you slowed the whole step down; the rest of it does not cross the tier",
                    lambda x: x.capital * (1 - 1 / x.ratio),
                ),
            ),
        ),
        hints=(
            "How long is a step now, if it took 1 before?",
            "Throughput is one over that. What is missing from 1 stands idle.",
        ),
        moral=(
            "The law is only as good as its share: an AllReduce along a ring hardly meets the cut"
            " at all."
        ),
    ),
    Exercise(
        id="topology.floor",
        title="Write what a ring cannot beat",
        chinese="环状 AllReduce 的下界",
        numbers=lambda draw: {},
        prompt=lambda x: (
            "Write `floor(size, ranks, bandwidth, cut)`: the seconds that an AllReduce along a ring"
            " takes at least, start-ups aside. Every rank sends through a port of `bandwidth`; the"
            " ring crosses a bisection of `cut` bytes per second once in each direction. `size` is"
            " what each rank holds, and may be an array. The slower of the two decides."
        ),
        kind=Function(
            ("size", "ranks", "bandwidth", "cut"),
            _floor,
            _floor_inputs,
            "time",
            ("size", "number", "rate", "rate"),
            slips=(
                (
                    "every buffer across",
                    (
                        "you sent every buffer of one half across, as Napkin Math 1.3 does; over"
                        " one cable of the ring go 2(N-1)/N of one buffer"
                    ),
                    lambda m, n, b, c: np.maximum(
                        topology.allreduce_port_bound(m, n, b),
                        topology.every_buffer_across(m, n, c),
                    ),
                ),
                (
                    "the faster of the two",
                    "you let the faster of the two decide",
                    lambda m, n, b, c: np.minimum(
                        topology.allreduce_port_bound(m, n, b),
                        topology.allreduce_ring_cut_bound(m, n, c),
                    ),
                ),
                (
                    "ports alone",
                    "you looked at the ports alone",
                    lambda m, n, b, c: topology.allreduce_port_bound(m, n, b),
                ),
                (
                    "cut alone",
                    "you looked at the cut alone",
                    lambda m, n, b, c: topology.allreduce_ring_cut_bound(m, n, c),
                ),
                (
                    "forgot the 2",
                    (
                        "you went round once: reduce-scatter and all-gather each send (N-1)/N of"
                        " the buffer"
                    ),
                    lambda m, n, b, c: _floor(m, n, b, c) / 2,
                ),
                (
                    "both, one after the other",
                    "you added the two; they go on at the same time",
                    lambda m, n, b, c: (
                        topology.allreduce_port_bound(m, n, b)
                        + topology.allreduce_ring_cut_bound(m, n, c)
                    ),
                ),
            ),
        ),
        hints=(
            "What does each rank send in all? So does the rank whose cable crosses the cut.",
            "numpy.maximum takes arrays; max does not. Or divide by the smaller of two numbers.",
        ),
        moral="A ring feels the cut only where it is narrower than one port.",
    ),
    Exercise(
        id="topology.alltoall",
        title="Where an AllToAll hurts",
        chinese="AllToAll 与叶交换机上行",
        numbers=lambda draw: {},
        prompt=lambda x: (
            "N ranks fill whole leaves of d hosts. A leaf has d hosts' cables of β bytes per second"
            " and d/r uplinks of the same kind. In an AllToAll each rank has a buffer of M bytes, a"
            " piece of M/N for every rank; its own stays where it is. Derive the time that one"
            " leaf's uplinks need at least. Hold it against (N-1)/N M/β, what a port needs."
        ),
        kind=Formula(
            ("M", "N", "d", "r", "beta"),
            _leaf_alltoall,
            _leaf_points,
            slips=(
                (
                    "all of it leaves",
                    "you sent all of it up; part of it is for the leaf's own hosts",
                    lambda M, N, d, r, beta: r * M / beta,
                ),
                (
                    "without itself",
                    "you cut M into a piece for each of the others; a buffer has one for oneself,"
                    " too, as nccl-tests counts it",
                    lambda M, N, d, r, beta: r * M * (N - d) / (N - 1) / beta,
                ),
                (
                    "forgot r",
                    "you gave the leaf as many uplinks as hosts",
                    lambda M, N, d, r, beta: M * (N - d) / N / beta,
                ),
                (
                    "one rank's bytes",
                    "you sent one rank's bytes; all d of them share the uplinks",
                    lambda M, N, d, r, beta: _leaf_alltoall(M, N, d, r, beta) / d,
                ),
                (
                    "the middle cut",
                    "you took the cut through the middle; this asks for the uplinks of one leaf",
                    lambda M, N, d, r, beta: r * M / 2 / beta,
                ),
            ),
        ),
        hints=(
            "How many of a rank's N - 1 partners sit on other leaves?",
            "d ranks share d/r uplinks.",
        ),
        moral=(
            "For many leaves it tends to r M/β: here, at the leaves and not in the middle, 4:1"
            " means four times as long."
        ),
    ),
    Exercise(
        id="topology.rack",
        title="What a dead leaf takes away",
        chinese="故障域",
        numbers=lambda draw: {
            "nodes": draw.pick("nodes", (4, 8)),
            "jobs": draw.pick("jobs", (2, 4)),
        },
        prompt=lambda x: (
            "Nodes of 8 GPUs, one port each. Design A: a leaf on top of each rack serves all GPUs"
            f" of its {x.nodes} nodes. Design B, rails: leaf i serves GPU i of {8 * x.nodes} nodes."
            f" The cluster runs many jobs of {x.jobs} whole nodes. One leaf dies. What is lost?"
        ),
        kind=Choice(
            (
                Option(
                    "As many ports in both; A loses all eight of a few nodes, B one each of eight"
                    " times as many nodes",
                    "The domain has the same size and another shape. In B each node keeps seven"
                    " ports, and software may send the eighth GPU's bytes over NVLink and a"
                    " neighbour's port, more slowly.",
                    right=True,
                    also=(
                        "As many ports in both; in B they belong to eight times as many nodes, so"
                        " that more jobs feel it",
                    ),
                ),
                Option(
                    "A loses eight times as many ports, because its nodes die with all their"
                    " GPUs, and those of B with one",
                    "Count the leaf's cables: one a GPU, as many in both.",
                ),
                Option(
                    "B loses nothing, because seven other rails lead to the same nodes and take"
                    " an eighth more each",
                    "To the nodes, but not to GPU i's own port. Its bytes must first cross to"
                    " another GPU, and that port now carries twice the load.",
                ),
                Option(
                    "Neither loses a host: the spines route around the leaf, as around any one"
                    " switch of a fat-tree",
                    "A spine has cables to leaves alone. What hangs on one leaf by one cable goes"
                    " with it.",
                ),
            )
        ),
        hints=(
            "Count the host cables of the leaf in each design.",
            "Then count the nodes those cables belong to, and the jobs on them.",
        ),
        moral="Ask of each part: whom does it take along, and what is left to the rest?",
    ),
    Exercise(
        id="topology.spine",
        title="What a dead spine leaves",
        chinese="脊交换机故障后的对分带宽",
        numbers=lambda draw: {
            "wired": draw.pick("wired", SPINES),
            "rate": draw.pick("rate", (100, 200, 400)) * Gbps,
        },
        prompt=lambda x: (
            f"{x.wired[0]} leaves with 32 hosts each, at 1:1, their uplinks spread evenly over"
            f" {x.wired[1]} spines; cables of {si(x.rate, 'b/s')} each way. One spine dies. What"
            " bisection bandwidth is left, one way? Nobody's host is gone, and every large"
            " AllToAll is slower."
        ),
        kind=Quantity(
            lambda x: _bisection(*x.wired, 32, 32, lost=1) * x.rate,
            "rate",
            slips=(
                Slip(
                    "before",
                    "you gave what there was before it died",
                    lambda x: _bisection(*x.wired, 32, 32) * x.rate,
                ),
                Slip(
                    "what is lost",
                    "you gave what is lost; this asks for what is left",
                    lambda x: (
                        (_bisection(*x.wired, 32, 32) - _bisection(*x.wired, 32, 32, lost=1))
                        * x.rate
                    ),
                ),
                Slip(
                    BOTH_WAYS,
                    "a factor of 2 slipped: half of the hosts send across the cut, and one"
                    " direction counts",
                    lambda x: 2 * _bisection(*x.wired, 32, 32, lost=1) * x.rate,
                ),
                Slip(
                    BITS,
                    "you took the cable's bits per second for bytes per second",
                    lambda x: 8 * _bisection(*x.wired, 32, 32, lost=1) * x.rate,
                ),
            ),
        ),
        hints=(
            "What was the bisection before? Half of the hosts, one port each.",
            "Which share of all uplinks went to that spine?",
        ),
        moral=(
            "More spines make each one's death smaller: bandwidth degrades, where a leaf's death"
            " removes."
        ),
    ),
    Exercise(
        id="topology.rails",
        title="Checkpoint 1.3: who gains from rails",
        chinese="轨道优化适合哪种并行",
        numbers=lambda draw: {"nodes": draw.pick("nodes", (16, 24, 32)), "gpus": 8},
        prompt=lambda x: (
            f"{x.nodes} nodes of {x.gpus} GPUs, GPU i of every node on rail switch i. Tensor"
            " parallelism stays in a node, pipeline stages are neighbouring nodes, data"
            " parallelism sums gradients over all nodes, same rank with same rank. Which gains"
            " most from the rails, and why?"
        ),
        kind=Choice(
            (
                Option(
                    "Data parallelism: each of its rings joins GPUs of one number, so it stays on"
                    " one switch",
                    "One switch on the path, and isolation besides: eight rings on eight switches"
                    " cannot collide.",
                    right=True,
                    also=(
                        "Data parallelism: its rings join GPUs of equal number, so that eight"
                        " rings have eight switches",
                    ),
                ),
                Option(
                    "Tensor parallelism: its messages are the most frequent, several in each"
                    " layer, so a hop less counts most",
                    "They are, and they travel over NVLink inside the node. They see no rail at"
                    " all.",
                ),
                Option(
                    "Pipeline parallelism: its stages are neighbours, and rails bring neighbours"
                    " from three switches to one",
                    "They help it too, but it sends little, point to point; a ring over all nodes"
                    " has the bytes.",
                ),
                Option(
                    "All alike: a rail is a faster cable, so all bytes take less time",
                    "The cables are the same. What changes is who sits on the same switch.",
                ),
            )
        ),
        hints=("For each of the three: which GPUs talk to which? Do they have the same number?",),
        moral="A topology serves a pattern: rails serve GPU i talking to GPU i.",
    ),
    Exercise(
        id="topology.one_hop",
        title="Checkpoint 1.3: how far one switch reaches",
        chinese="单跳范围",
        numbers=lambda draw: {
            "radix": draw.pick("radix", (36, 48, 72, 144)),
            "ratio": draw.pick("ratio", (3, 5)),
        },
        prompt=lambda x: (
            f"A rail-optimised cluster of thousands of nodes, leaves of {x.radix} ports,"
            f" oversubscribed {x.ratio}:1, spines above. Among how many nodes, at most, are GPUs of"
            " the same rail a single switch apart? This is the size of a scalable unit; beyond it,"
            " a rail is a tree like any other."
        ),
        kind=Quantity(
            lambda x: _hop_nodes(x.radix, x.ratio),
            "number",
            whole=True,
            tolerance=1e-6,
            slips=(
                Slip(
                    "the uplinks",
                    "you counted the leaf's uplinks; its hosts hang on the other, oversubscribed"
                    " side",
                    lambda x: x.radix / (1 + x.ratio),
                ),
                Slip(
                    "the whole switch",
                    "you filled the whole switch with hosts, and left no way on",
                    lambda x: x.radix,
                ),
                Slip(
                    "split evenly", "you split the ports evenly, as at 1:1", lambda x: x.radix / 2
                ),
            ),
        ),
        hints=(
            "How many of a leaf's ports point down?",
            "Down over up is r, and both together are all ports.",
        ),
        moral="At 1:1 and 64 ports that is 32 nodes: the 128 of Napkin Math 1.4 do not fit.",
    ),
    Exercise(
        id="topology.no_core",
        title="Checkpoint 1.3: may the spines go",
        chinese="轨道能否取代核心层",
        numbers=lambda draw: {
            "nodes": draw.pick("nodes", (24, 32)),
            "experts": draw.pick("experts", (64, 128)),
        },
        prompt=lambda x: (
            f"True or false: with {x.nodes} nodes on 8 rail switches nothing needs the spines any"
            " more, so they can be left out. Think of data parallelism, and of a mixture of"
            f" {x.experts} experts, one on each of as many GPUs."
        ),
        kind=Choice(
            (
                Option(
                    "False: between GPUs of different number no path outside the nodes is left,"
                    " and experts need one",
                    "Between rails the bisection without spines is 0. NVLink inside the nodes can"
                    " carry bytes to the right rail first, at a price that someone must be willing"
                    " to pay.",
                    right=True,
                    also=(
                        "False: between GPUs of two numbers no path is left outside the nodes; an"
                        " AllToAll uses them all",
                    ),
                ),
                Option(
                    "True: every pair of nodes is still joined, and by eight switches, so every"
                    " GPU reaches every other",
                    "Every pair of nodes, yes; not every pair of GPUs. Follow GPU 0 of one node to"
                    " GPU 5 of another.",
                ),
                Option(
                    "True, as long as each rail switch has a port for every node: then all"
                    " traffic takes one hop",
                    "Then the rails are whole, but they are still eight separate networks.",
                ),
                Option(
                    "False: without spines even data parallelism has no path between nodes, as"
                    " its ring needs two tiers",
                    "It does: same rank with same rank, on its own rail switch.",
                ),
            )
        ),
        hints=(
            (
                "Draw two nodes and two rails without any spine. Which pairs of GPUs cannot reach"
                " each other?"
            ),
        ),
        moral="Rails without spines exist, for jobs whose traffic is known in advance.",
    ),
    Exercise(
        id="topology.efficiency",
        title="Napkin Math 1.4 done again",
        chinese="效率与通信加速",
        numbers=lambda draw: {
            "before": draw.pick("before", (0.5, 0.6, 0.7, 0.8)),
            "speedup": draw.pick("speedup", (2, 3, 4)),
        },
        prompt=lambda x: (
            f"{x.before:.0%} of a step is compute, the rest communication that nothing hides."
            f" Better placement makes all of that communication {x.speedup} times faster. Which"
            " share of a step is compute now? Give three digits. The text's own jump, from 80 to"
            " 95 %, would take more than its 3."
        ),
        kind=Quantity(
            lambda x: topology.efficiency_after(x.before, x.speedup),
            "number",
            tolerance=0.004,
            slips=(
                Slip(
                    "share of the old step",
                    "you took a share of the old step; the step has become shorter",
                    lambda x: 1 - (1 - x.before) / x.speedup,
                ),
                Slip(
                    "the communication's share",
                    "you gave the communication's share",
                    lambda x: 1 - topology.efficiency_after(x.before, x.speedup),
                ),
            ),
        ),
        hints=("Say compute takes E and communication 1 - E. How long is each afterwards?",),
        moral="And latency alone is a tiny part of that communication: 0.13 % of a 6 GB ring.",
    ),
    Exercise(
        id="topology.order",
        title="Four fabrics in a row",
        chinese="拓扑比较",
        numbers=lambda draw: {
            "ratio": draw.pick("ratio", (3, 8)),
            "side": draw.pick("side", (6, 10, 20)),
        },
        prompt=lambda x: (
            f"Cables of one kind throughout. A full tree (1:1); a tapered tree ({x.ratio}:1); a"
            " balanced dragonfly of 1,056 hosts (33 groups, one cable between any two); a torus of"
            f" {x.side}×{x.side}×{x.side} hosts. Order them by bisection bandwidth per host. An"
            " AllToAll that spans the machine feels it."
        ),
        kind=Ordering(
            lambda x: {
                family: _a_host(family, {"tapered tree": x.ratio, "torus": x.side}.get(family))
                for family in ("full tree", "tapered tree", "dragonfly", "torus")
            },
            "least",
            "count the cables that cross the middle and divide by the hosts; the torus is cut"
            " twice, as it closes on itself",
        ),
        hints=(
            (
                "Tree: (N/2)/r cables. Torus: 2 for every line of hosts that the cut crosses."
                " Dragonfly: the cables between 16 groups and the other 17."
            ),
            (
                "The odd group of the dragonfly is split; roughly, 16 · 16 cables cross, and some"
                " more."
            ),
        ),
        moral="Of these only the torus loses bisection per host as it grows.",
    ),
    Exercise(
        id="topology.pick",
        title="Checkpoint 1.4: one workload, one fabric",
        chinese="拓扑选型",
        numbers=lambda draw: {"gpus": draw.pick("gpus", (1024, 4096))},
        prompt=lambda x: (
            f"Three machines of {x.gpus:,} accelerators, each for one kind of work: (1) dense"
            " data-parallel training, gradients summed with AllReduce, jobs coming and going; (2)"
            " a mixture of experts, AllToAll in every layer; (3) a simulation on a grid, each part"
            " talking to its four neighbours for ever. Which fabrics?"
        ),
        kind=Choice(
            (
                Option(
                    "(1) rails with spines, or a fat-tree; (2) a non-blocking fat-tree; (3) a"
                    " torus, which needs no switch",
                    "Each pays for what its traffic asks: same-rank rings, any-to-any bisection,"
                    " neighbours in copper and no switch at all.",
                    right=True,
                    also=(
                        "(1) rails with spines, or a fat-tree; (2) a fat-tree that blocks nobody;"
                        " (3) a torus of short cables",
                    ),
                ),
                Option(
                    "(1) a torus; (2) rails without spines, one for each expert; (3) a fat-tree"
                    " for its bisection",
                    "Experts on different rails could not reach each other, and the grid would pay"
                    " for a bisection it never uses.",
                ),
                Option(
                    "A fat-tree for all three: more bisection is never worse, and one kind of"
                    " network is enough",
                    "It is never slower, and seldom worth its price for (3), whose traffic crosses"
                    " the middle hardly at all.",
                ),
                Option(
                    "A torus for all three: with six links and no switch it is the cheapest per"
                    " port",
                    "An AllToAll over thousands of hosts needs bisection, and the torus has less"
                    " per host the larger it grows.",
                ),
            )
        ),
        hints=(
            (
                "For each: which pairs talk, and how many of those pairs lie on both sides of a cut"
                " through the middle?"
            ),
        ),
        moral="The traffic comes first; the fabric follows.",
    ),
    Exercise(
        id="topology.mixed",
        title="Checkpoint 1.4: a mixed cluster",
        chinese="混合负载的集群",
        numbers=lambda draw: {"gpus": draw.pick("gpus", (1024, 2048)), "ratio": 2},
        prompt=lambda x: (
            f"A cluster of {x.gpus:,} GPUs trains a 175B model (tensor parallel 8 inside nodes,"
            " pipeline and data parallel across) and serves a mixture of experts beside it. The"
            f" budget allows spines at {x.ratio}:1. Which topology do you build, where do you place"
            f" the two, who suffers more from {x.ratio}:1 and by how much at most? Name what you"
            " would measure in the first week."
        ),
        kind=Free(least_words=60, worth=10),
        hints=(
            "Which of the two has traffic between GPUs of different number?",
            (
                "Traffic from rail to rail meets the spines even inside a scalable unit. Where does"
                " it not?"
            ),
        ),
    ),
    Exercise(
        id="topology.leaf",
        title="A leaf as the log shows it",
        chinese="从 ibnetdiscover 读出超额订阅",
        numbers=lambda draw: {
            "down": draw.pick("down", (24, 31, 32)),
            "up": draw.pick("up", (8, 12, 16)),
            "slow": draw.pick("slow", (2, 3, 4)),
            "lanes": draw.pick("lanes", (1, 2)),
        },
        prompt=lambda x: (
            f"`ibnetdiscover` lists one leaf. In short:\n\n```\n{x.down:3} ports to hosts   "
            f" 4xNDR\n{x.up:3} ports to spines   4xNDR\n{x.slow:3} ports to spines  "
            f" {x.lanes}xNDR\n```\n\n(An NDR lane is 100 Gb/s; the last line's cables came up with"
            " lanes missing.) What is this leaf's oversubscription, hosts' rate over uplinks'"
            " rate? A count of cables would hide it."
        ),
        kind=Quantity(
            _leaf_seen,
            "number",
            slips=(
                Slip(
                    "cables for rates",
                    "you counted cables; the slow ones carry less",
                    lambda x: x.down / (x.up + x.slow),
                ),
                Slip(
                    "left out the slow",
                    "you left out the slow cables; they carry something",
                    lambda x: x.down / x.up,
                ),
                Slip(
                    "upside down",
                    "you turned it upside down: hosts over uplinks",
                    lambda x: (4 * x.up + x.lanes * x.slow) / (4 * x.down),
                ),
            ),
        ),
        hints=("Count lanes, down and up.",),
        moral="fabriclab read does this for every leaf of a real listing.",
    ),
    Exercise(
        id="topology.axis",
        title="An AllToAll round a ring",
        chinese="环面上的 AllToAll",
        numbers=lambda draw: {
            "side": draw.pick("side", (8, 12, 16, 24)),
            "size": draw.pick("size", (90, 240, 700)) * MB,
            "rate": draw.pick("rate", (25, 45, 50)) * GB,
        },
        prompt=lambda x: (
            f"One axis of a torus: {x.side} hosts in a closed ring, {si(x.rate, 'B/s')} each way on"
            f" every link. Each host has a buffer of {si(x.size, 'B')} for an AllToAll, a piece for"
            " every host, its own included. Pieces go the short way, and half of what goes halfway"
            " round takes either. How long do the links need at least? Leave start-ups out."
        ),
        kind=Quantity(
            lambda x: collectives.torus("all_to_all", x.size, (x.side,), 0.0, x.rate),
            "time",
            slips=(
                Slip(
                    "no closing cable",
                    "that is a line's fullest link, in its middle; a ring has a way round",
                    lambda x: collectives.torus(
                        "all_to_all", x.size, (x.side,), 0.0, x.rate, wrap=False
                    ),
                ),
                Slip(
                    "as an AllGather",
                    "you counted what a host takes in; here it also passes on what is for others",
                    lambda x: collectives.torus("all_gather", x.size, (x.side,), 0.0, x.rate),
                ),
                Slip(
                    "as on a switch",
                    "you let every pair talk directly at a port's rate, as a switch would",
                    lambda x: collectives.all_to_all(x.size, x.side, 0.0, x.rate),
                ),
            ),
        ),
        hints=(
            "How many links does a piece travel on average? A quarter of the way round.",
            "All pieces together, bytes times links, over 2k one-way links.",
        ),
        moral=(
            "k/8 M/β: it grows with the ring, where an AllGather's does not. A torus keeps its"
            " experts near."
        ),
    ),
    Exercise(
        id="topology.placement",
        title="What a placement meets",
        chinese="作业放置与收敛比",
        numbers=lambda draw: {
            "down": draw.pick("down", (32, 48)),
            "up": draw.pick("up", (4, 8)),
            "most": draw.pick("most", (24, 28)),
            "rest": draw.pick("rest", (13, 19, 22)),
        },
        prompt=lambda x: (
            f"Leaves with {x.down} hosts and {x.up} uplinks, all at one speed. A job got"
            f" {x.most} hosts of one leaf and {x.rest} of another; nobody else is busy. Every host"
            " of the job sends to one other of it and receives from one. In the worst pairing, how"
            " many times more is asked of a leaf's uplinks than they carry?"
        ),
        kind=Quantity(
            lambda x: _placed(x.down, x.up, x.most, x.rest),
            "number",
            slips=(
                Slip(
                    "whole leaf",
                    "you took the ratio of the whole leaf; the job has part of it",
                    lambda x: x.down / x.up,
                ),
                Slip(
                    "the larger part",
                    "you let every host of the larger part send out; the other leaf has fewer to"
                    " receive",
                    lambda x: x.most / x.up,
                ),
                Slip(
                    "half the job",
                    "you sent half of the job across; the smaller part has fewer hosts than that",
                    lambda x: (x.most + x.rest) / 2 / x.up,
                ),
            ),
        ),
        hints=(
            "How many hosts of the larger part can have a partner on the other leaf?",
            "Hosts that send out, over the uplinks that they share.",
        ),
        moral="A leaf is as oversubscribed as the job on it: the ratio is the placement's.",
    ),
]
