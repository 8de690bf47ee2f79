"""Exercises of level 3: trees of switches: sizes, tapers, bisection."""

from functools import cache

from fabriclab import topology
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.formula import Formula
from fabriclab.course.engine.exercises.kinds import Choice, Option, Quantity
from fabriclab.course.engine.exercises.slips import BITS, BOTH_WAYS, Slip
from fabriclab.course.engine.exercises.template import pick
from fabriclab.course.topology.exercises.common import _bisection
from fabriclab.units import Gbps, ns

LEAVES = ((48, 16), (50, 10), (56, 8))  # hosts and uplinks of a leaf: 3:1, 5:1, 7:1


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


EXERCISES = [
    Exercise(
        id="topology.two_tier",
        title="Checkpoint 1.2: the most a pair of tiers can join",
        chinese="两级胖树的上限",
        numbers={"radix": pick(32, 36, 40, 48, 72, 144)},
        prompt=(
            "Switches of {radix} ports, two tiers, non-blocking: every leaf has as many "
            "uplinks as hosts. How many hosts (GPU ports) can such a network have at "
            "most? One more host, and a third tier must be bought."
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
        chinese="为何每一级都要非阻塞",
        numbers={"ratio": pick(2, 3, 4), "gpus": pick(8192, 16_384, 32_768)},
        prompt=(
            "To save money on a three-tier tree of {gpus:,} GPUs, someone keeps the "
            "leaves at 1:1 and makes only the spines {ratio}:1 towards the cores. What "
            "has been given up?"
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
        chinese="二分带宽与聚合带宽",
        numbers={
            "leaves": pick(16, 24, 32, 48),
            "wired": pick(*LEAVES),
            "rate": pick(100, 200, 400, unit=Gbps),
        },
        prompt=(
            "{leaves} leaves, each with {down} hosts and {up} uplinks to spines; every "
            "cable carries {rate:b/s} each way. What is the bisection bandwidth, one way?"
            " The sum of all ports is what is advertised; this is what is delivered."
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
        places={"down": lambda x: x.wired[0], "up": lambda x: x.wired[1]},
    ),
    Exercise(
        id="topology.third_tier",
        title="Checkpoint 1.2: what a third tier adds to α",
        chinese="第三级带来的启动延迟",
        numbers={
            "switch": pick(300, 350, 450, 600, unit=ns),
            "cable": pick(50, 75, 100, 150, unit=ns),
        },
        prompt=(
            "A tree grows from two tiers to three. Each switch holds a packet for "
            "{switch:s}, each cable for {cable:s}. How much longer does the longest path "
            "between two hosts take, one way? Every start-up on that path pays it."
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
        numbers={},
        prompt=(
            "A non-blocking tree of t tiers is built from k-port switches for N hosts, "
            "with all ports in use. Derive the number of switches. Then see whether it "
            "grows as N log N, as the text says, while t stays the same."
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
            answer="(2*t - 1)*N/k",
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
        prompt=(
            "A cluster cost {capital:$}. In the worst case {share:.0%} of every step is "
            "communication that crosses a tier oversubscribed {ratio}:1, at its full "
            "rate, and hides behind nothing. How much of that capital stands idle, next "
            "to a network of 1:1? A network's price is argued with this."
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
]
