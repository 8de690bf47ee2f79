"""Exercises of level 3: functions to write."""

from functools import cache

import numpy as np

from fabriclab import collectives, topology
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.kinds import Choice, Free, Option, Ordering, Quantity
from fabriclab.course.engine.exercises.slips import Slip
from fabriclab.course.engine.exercises.template import pick
from fabriclab.units import GB, MB


@cache
def _placed(down, up, most, rest):
    """What a job on the first `most` hosts of one leaf and `rest` of another meets."""
    network = topology.leaf_spine(2, up, down, up, bandwidth=1.0)
    return topology.placement_oversubscription(network, [*range(most), *range(down, down + rest)])


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
        id="topology.order",
        title="Four fabrics in a row",
        chinese="拓扑比较",
        numbers={"ratio": pick(3, 8), "side": pick(6, 10, 20)},
        prompt=(
            "Cables of one kind throughout. A full tree (1:1); a tapered tree "
            "({ratio}:1); a balanced dragonfly of 1,056 hosts (33 groups, one cable "
            "between any two); a torus of {side}×{side}×{side} hosts. Order them by "
            "bisection bandwidth per host. An AllToAll that spans the machine feels it."
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
        numbers={"gpus": pick(1024, 4096)},
        prompt=(
            "Three machines of {gpus:,} accelerators, each for one kind of work: (1) "
            "dense data-parallel training, gradients summed with AllReduce, jobs coming "
            "and going; (2) a mixture of experts, AllToAll in every layer; (3) a "
            "simulation on a grid, each part talking to its four neighbours for ever. "
            "Which fabrics?"
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
        numbers={"gpus": pick(1024, 2048), "ratio": 2},
        prompt=(
            "A cluster of {gpus:,} GPUs trains a 175B model (tensor parallel 8 inside "
            "nodes, pipeline and data parallel across) and serves a mixture of experts "
            "beside it. The budget allows spines at {ratio}:1. Which topology do you "
            "build, where do you place the two, who suffers more from {ratio}:1 and by "
            "how much at most? Name what you would measure in the first week."
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
        numbers={
            "down": pick(24, 31, 32),
            "up": pick(8, 12, 16),
            "slow": pick(2, 3, 4),
            "lanes": pick(1, 2),
        },
        prompt=(
            "`ibnetdiscover` lists one leaf. In short:\n\n```\n{down:3} ports to hosts    "
            "4xNDR\n{up:3} ports to spines   4xNDR\n{slow:3} ports to spines   {lanes}xNDR\n"
            "```\n\n(An NDR lane is 100 Gb/s; the last line's cables came up with lanes "
            "missing.) What is this leaf's oversubscription, hosts' rate over uplinks' "
            "rate? A count of cables would hide it."
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
        numbers={
            "side": pick(8, 12, 16, 24),
            "size": pick(90, 240, 700, unit=MB),
            "rate": pick(25, 45, 50, unit=GB),
        },
        prompt=(
            "One axis of a torus: {side} hosts in a closed ring, {rate:B/s} each way on "
            "every link. Each host has a buffer of {size:B} for an AllToAll, a piece for "
            "every host, its own included. Pieces go the short way, and half of what goes"
            " halfway round takes either. How long do the links need at least? Leave "
            "start-ups out."
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
        numbers={
            "down": pick(32, 48),
            "up": pick(4, 8),
            "most": pick(24, 28),
            "rest": pick(13, 19, 22),
        },
        prompt=(
            "Leaves with {down} hosts and {up} uplinks, all at one speed. A job got "
            "{most} hosts of one leaf and {rest} of another; nobody else is busy. Every "
            "host of the job sends to one other of it and receives from one. In the worst"
            " pairing, how many times more is asked of a leaf's uplinks than they carry?"
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
