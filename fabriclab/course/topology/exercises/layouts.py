"""Exercises of level 3: rails, racks and other layouts."""

from functools import cache

from fabriclab import topology
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.kinds import Choice, Option, Quantity
from fabriclab.course.engine.exercises.slips import BITS, BOTH_WAYS, Slip
from fabriclab.course.engine.exercises.template import pick
from fabriclab.course.topology.exercises.common import _bisection
from fabriclab.units import GB, Gbps, plural, si

SPINES = (
    (8, 4),
    (8, 8),
    (16, 8),
    (16, 16),
    (32, 16),
)  # leaves and spines of a 1:1 tree with 32 hosts a leaf


@cache
def _hop_nodes(radix, ratio):
    """Nodes of a large rail-optimised network whose GPU 0 is one switch away from node 0's, node 0
    included.
    """
    rail = topology.rail_optimised(4 * radix, 2, radix, ratio)
    home = rail.position[:, -1]
    return float((home == home[0]).sum())


def _routed(x):
    """The loads of host i to host i, where hosts from `kept` on share the last spine."""
    tree = topology.leaf_spine(2, x.hosts, x.hosts, x.hosts, bandwidth=x.rate)
    near, far = 2 * x.hosts, 2 * x.hosts + 1
    spines = [i if i < x.kept else x.hosts - 1 for i in range(x.hosts)]
    ways = [[i, near, far + 1 + spine, far, x.hosts + i] for i, spine in enumerate(spines)]
    return topology.loads(tree, ways, x.size)


EXERCISES = [
    Exercise(
        id="topology.routes",
        title="Routes written down by hand",
        chinese="静态路由的链路负载",
        numbers=lambda draw: {
            "size": draw.pick("size", (2, 5, 8)) * GB,
            "rate": draw.pick("rate", (25, 50)) * GB,
            "hosts": draw.pick("hosts", (4, 6, 8)),
            "kept": draw.pick("kept", (1, 2)),
        },
        prompt=lambda x: (
            f"Two leaves with {x.hosts} hosts each, and as many spines, one cable from every leaf"
            f" to every spine, every cable of {si(x.rate, 'B/s')}. Host i of the first leaf sends"
            f" {si(x.size, 'B')} to host i of the second. A routing table gives the first"
            f" {plural(x.kept, 'host')} a spine each, and sends all the others, by a slip, over the"
            " last one. How long does the whole exchange need?"
        ),
        kind=Quantity(
            lambda x: _routed(x).slowest,
            "time",
            slips=(
                Slip(
                    "as if spread",
                    "you spread the flows over all spines; the table does not",
                    lambda x: x.size / x.rate,
                ),
                Slip(
                    "all over one",
                    "you sent everybody over the last spine; some have one of their own",
                    lambda x: x.hosts * x.size / x.rate,
                ),
                Slip(
                    "shared by the spines in use",
                    "you shared all bytes among the spines in use; the fullest cable decides",
                    lambda x: x.hosts * x.size / (x.kept + 1) / x.rate,
                ),
            ),
        ),
        hints=(
            "Count the flows on each cable. Which cable is the fullest?",
            "The exchange ends when the fullest cable is empty: its bytes over its rate.",
        ),
        moral="Capacity is a property of the network; what it carries, of the routes.",
    ),
    Exercise(
        id="topology.rack",
        title="What a dead leaf takes away",
        chinese="故障域",
        numbers={"nodes": pick(4, 8), "jobs": pick(2, 4)},
        prompt=(
            "Nodes of 8 GPUs, one port each. Design A: a leaf on top of each rack serves "
            "all GPUs of its {nodes} nodes. Design B, rails: leaf i serves GPU i of "
            "{gpus} nodes. The cluster runs many jobs of {jobs} whole nodes. One leaf "
            "dies. What is lost?"
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
        places={"gpus": lambda x: 8 * x.nodes},
    ),
    Exercise(
        id="topology.spine",
        title="What a dead spine leaves",
        chinese="脊交换机故障后的二分带宽",
        numbers={"wired": pick(*SPINES), "rate": pick(100, 200, 400, unit=Gbps)},
        prompt=(
            "{down} leaves with 32 hosts each, at 1:1, their uplinks spread evenly over "
            "{up} spines; cables of {rate:b/s} each way. One spine dies. What bisection "
            "bandwidth is left, one way? Nobody's host is gone, and every large AllToAll "
            "is slower."
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
        places={"down": lambda x: x.wired[0], "up": lambda x: x.wired[1]},
    ),
    Exercise(
        id="topology.rails",
        title="Checkpoint 1.3: who gains from rails",
        chinese="轨道优化适合哪种并行",
        numbers={"nodes": pick(16, 24, 32), "gpus": 8},
        prompt=(
            "{nodes} nodes of {gpus} GPUs, GPU i of every node on rail switch i. Tensor "
            "parallelism stays in a node, pipeline stages are neighbouring nodes, data "
            "parallelism sums gradients over all nodes, same rank with same rank. Which "
            "gains most from the rails, and why?"
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
        numbers={"radix": pick(36, 48, 72, 144), "ratio": pick(3, 5)},
        prompt=(
            "A rail-optimised cluster of thousands of nodes, leaves of {radix} ports, "
            "oversubscribed {ratio}:1, spines above. Among how many nodes, at most, are "
            "GPUs of the same rail a single switch apart? This is the size of a scalable "
            "unit; beyond it, a rail is a tree like any other."
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
        numbers={"nodes": pick(24, 32), "experts": pick(64, 128)},
        prompt=(
            "True or false: with {nodes} nodes on 8 rail switches nothing needs the "
            "spines any more, so they can be left out. Think of data parallelism, and of "
            "a mixture of {experts} experts, one on each of as many GPUs."
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
        numbers={"before": pick(0.5, 0.6, 0.7, 0.8), "speedup": pick(2, 3, 4)},
        prompt=(
            "{before:.0%} of a step is compute, the rest communication that nothing "
            "hides. Better placement makes all of that communication {speedup} times "
            "faster. Which share of a step is compute now? Give three digits. The text's "
            "own jump, from 80 to 95 %, would take more than its 3."
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
]
