"""The exercises on sharing: what caps leave idle, max-min by hand and by program, a checkpoint
beside an AllReduce, pauses by lane.

The lists numbers are drawn from are part of what students were given: add exercises, but do not
change these lists.
"""

import math

import numpy as np

from fabriclab import cluster
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.function import Function
from fabriclab.course.engine.exercises.kinds import Choice, Option, Ordering, Quantity
from fabriclab.course.engine.exercises.slips import Slip
from fabriclab.course.engine.exercises.template import pick
from fabriclab.units import GB, Gbps, si

PORT = 400 * Gbps


def _slower(x, cap=True, busy=None):
    """Seconds for the write by a VF under its cap, or under a guarantee beside `busy` that all want
    everything.
    """
    wants = [math.inf] * (x.busy if busy is None else busy)
    return (
        x.size / cluster.max_min(wants, x.rate, caps=x.rate / x.functions if cap else math.inf)[0]
    )


def _four(x):
    return cluster.max_min([x.first, x.second, PORT, PORT], PORT, [1, 1, x.weight, 1])[2]


def _beside(x, share):
    return cluster.shared_time(x.size, x.part * x.size, PORT, share)


def _rules(x):
    """Times relative to the AllReduce alone, beside a checkpoint that outlasts it."""
    shares = {
        "one lane": 1 / (1 + x.flows),
        "weighted lanes": x.weight / (x.weight + 1),
        "rate limit": x.cap,
        "strict priority": 1.0,
    }
    return {rule: cluster.shared_time(1.0, 100.0, 1.0, share) for rule, share in shares.items()}


def _tenants(draw):
    """(demands, capacity): a port that is not full, one round, two rounds and three, tenants that
    want nothing, and one alone.
    """
    unit = draw.pick("unit", (5, 8, 10)) * Gbps
    lists = ([3, 2, 4], [5, 20, 20], [1, 9, 14, 30], [2, 8, 11, 14, 40], [0, 30, 6, 30], [50])
    return [([float(demand) * unit for demand in demands], 40.0 * unit) for demands in lists]


def _equal(demands, capacity):
    return np.minimum(demands, capacity / len(demands))


def _proportional(demands, capacity):
    return np.asarray(demands) * min(1.0, capacity / np.sum(demands))


def _once(demands, capacity):
    """What an equal division leaves over is dealt out once, and what is left then, lost."""
    rates = _equal(demands, capacity)
    open_ = np.asarray(demands) > rates
    return np.minimum(demands, rates + open_ * (capacity - rates.sum()) / max(1, open_.sum()))


EXERCISES = [
    Exercise(
        id="sharing.caps",
        title="What a cap leaves idle",
        chinese="VF 限速与带宽保证",
        numbers={
            "rate": pick(200, 400, unit=Gbps),
            "functions": pick(8, 16),
            "busy": pick(2, 3, 5),
            "size": pick(50, 100, 200, unit=GB),
        },
        prompt=(
            "An adapter of {rate:b/s} is cut into {functions} virtual functions, each "
            "*capped* at an equal part. At night only {busy} of them have anything to "
            "send, yours among them, and all of these want as much as they can get. You "
            "write {size:B}. How much longer does that take than if each part were a "
            "*guarantee*, and what nobody uses were shared?"
        ),
        kind=Quantity(
            lambda x: _slower(x) - _slower(x, cap=False),
            "time",
            tolerance=0.005,
            slips=(
                Slip(
                    "the whole time",
                    "you gave the time under the cap; the question is how much longer that is",
                    _slower,
                ),
                Slip(
                    "the guaranteed time",
                    "you gave the time under guarantees; the question is how much longer the cap"
                    " makes it",
                    lambda x: _slower(x, cap=False),
                ),
                Slip(
                    "alone at night",
                    "you gave yourself the whole adapter; the other busy ones want theirs too",
                    lambda x: _slower(x) - _slower(x, cap=False, busy=1),
                ),
            ),
        ),
        hints=(
            "What is your rate under the cap?",
            "Under guarantees, the busy ones share all of the adapter equally.",
        ),
        moral=(
            "A cap keeps the others' parts free for them, whether they use them or not. Ask which"
            " of the two your provider sells."
        ),
    ),
    Exercise(
        id="sharing.four",
        title="Max-min by hand",
        chinese="最大最小公平",
        numbers=lambda draw: {
            "weight": (weight := draw.pick("weight", (2, 3))),
            "first": draw.pick("first", (20, 30, 40)) * Gbps,
            "second": (
                (
                    draw.pick("second", (84, 86, 88))
                    if weight == 2
                    else draw.pick("second", (68, 69, 70))
                )
                * Gbps
            ),
        },
        prompt=(
            "Four tenants on a port of {port:b/s}, with no caps. A wants {first:b/s} and "
            "B {second:b/s}; C and D want all they can get. The weights are 1, 1, "
            "{weight} and 1. Which rate does C get under weighted max-min fairness?"
        ),
        kind=Quantity(
            _four,
            "rate",
            tolerance=0.002,
            slips=(
                Slip(
                    "guarantee alone",
                    "you stopped at C's guarantee; what A leaves is shared among the rest",
                    lambda x: PORT * x.weight / (x.weight + 3),
                ),
                Slip(
                    "one round",
                    "you shared out what A leaves, and stopped: with it B has all it wants, and"
                    " leaves something too",
                    lambda x: (PORT - x.first) * x.weight / (x.weight + 2),
                ),
                Slip(
                    "unweighted",
                    "you gave C and D the same",
                    lambda x: (PORT - x.first - x.second) / 2,
                ),
                Slip("D for C", "you gave D's rate", lambda x: _four(x) / x.weight),
            ),
        ),
        hints=(
            "Divide the port by the weights. Who wants less than that?",
            (
                "Take out whoever is content with what it wants, divide the rest by the remaining"
                " weights, and look again."
            ),
        ),
        moral=(
            "Take out the content, divide what is left, look again: at most as many rounds as"
            " tenants."
        ),
        places={"port": lambda x: PORT},
    ),
    Exercise(
        id="sharing.burst",
        title="A burst that ends first",
        chinese="检查点突发与 AllReduce",
        numbers={
            "size": pick(10, 20, 40, unit=GB),
            "part": pick(0.1, 0.2, 0.25),
            "weight": pick(1, 2, 3),
        },
        prompt=lambda x: (
            f"An AllReduce has {si(x.size, 'B')} to pass over a link of {si(PORT, 'b/s')}. Together"
            f" with it a neighbour's checkpoint of {si(x.part * x.size, 'B')} starts on the same"
            f" link. The lanes' weights are {x.weight} for the AllReduce and 1 for the checkpoint;"
            " who is alone has all. When is the AllReduce done, counted from the start?"
        ),
        kind=Quantity(
            lambda x: _beside(x, x.weight / (x.weight + 1)),
            "time",
            tolerance=0.005,
            slips=(
                Slip(
                    "a burst for ever",
                    "you let the checkpoint go on until the AllReduce is done; look at which of the"
                    " two ends first",
                    lambda x: x.size / (x.weight / (x.weight + 1)) / PORT,
                ),
                Slip("as if alone", "you left the checkpoint out", lambda x: x.size / PORT),
                Slip(
                    "a burst at full speed",
                    "you let the checkpoint be over as soon as if it were alone; beside the"
                    " AllReduce it takes longer",
                    lambda x: (x.size + x.part * x.size / (x.weight + 1)) / PORT,
                ),
            ),
        ),
        hints=(
            "At its share, when would the checkpoint be done? Is the AllReduce done by then?",
            (
                "How many bytes have passed when the later of the two is done? The link has never"
                " rested."
            ),
        ),
        moral=(
            "A burst that ends first costs its own bytes, B/C, whatever the weights. They matter"
            " while it lasts."
        ),
    ),
    Exercise(
        id="sharing.rules",
        title="Four rules for one neighbour",
        chinese="隔离策略比较",
        numbers={"flows": pick(2, 3, 4), "weight": pick(3, 4), "cap": pick(0.5, 0.85, 0.95)},
        prompt=(
            "A checkpoint starts with an AllReduce on one link, wants all of it, and "
            "outlasts it by far. Four rules: *one lane*, where the checkpoint has {flows}"
            " flows for each of the AllReduce's, and all flows get the same; *weighted "
            "lanes*, {weight} to 1 for the AllReduce; a *rate limit* that holds the "
            "AllReduce to {cap:.0%} of the link and the checkpoint to the rest; *strict "
            "priority* for the AllReduce. Order them by how long the AllReduce takes."
        ),
        kind=Ordering(
            _rules,
            "shortest",
            "work out the share of the link that each rule gives the AllReduce while both are"
            " there",
        ),
        hints=("Its time is 1 over its share.", "One flow among n + 1 equal ones has which share?"),
        moral=(
            "And without the checkpoint three of the four give it the whole link. The rate limit"
            " never does."
        ),
    ),
    Exercise(
        id="sharing.write",
        title="Write max-min",
        chinese="写出注水算法",
        numbers={},
        prompt=(
            "Write `max_min(demands, capacity)`: the max-min fair rates, all weights 1, "
            "of tenants that want `demands` (a numpy array of bytes/s) on a port of "
            "`capacity` bytes/s; an array in the order of the demands. Try it on `[10, "
            "30, 80]` and 100, and on demands that the port can all meet."
        ),
        kind=Function(
            ("demands", "capacity"),
            cluster.max_min,
            _tenants,
            "rate",
            ("rate", "rate"),
            slips=(
                (
                    "equal parts",
                    (
                        "you cut the port into equal parts, and what somebody leaves of its part"
                        " lies idle"
                    ),
                    _equal,
                ),
                (
                    "in proportion",
                    (
                        "you gave in proportion to what each wants: who asks for more gets more, so"
                        " everybody will ask for more"
                    ),
                    _proportional,
                ),
                (
                    "one round",
                    (
                        "you dealt out once what the content ones leave; some are content then, and"
                        " leave something again"
                    ),
                    _once,
                ),
            ),
            tolerance=1e-9,
        ),
        hints=(
            (
                "Begin with the tenant that wants least: is that more than an equal part of what"
                " there is?"
            ),
            (
                "`np.argsort(demands)` visits them upwards. Each takes min(what it wants, what is"
                " left / how many are left)."
            ),
        ),
        moral="One pass upwards does it, and nobody gains by asking for more than it needs.",
    ),
    Exercise(
        id="sharing.lanes",
        title="What a pause by lane isolates",
        chinese="按通道暂停",
        numbers={},
        prompt=(
            "Gradients travel in one lane and checkpoints in another, with weights 4 to "
            "1, and each lane is paused by itself (credits by lane on InfiniBand, PFC by "
            "priority on Ethernet). The storage falls behind, and its buffers fill. Which"
            " sentence is true?"
        ),
        kind=Choice(
            (
                Option(
                    "Only the checkpoints' lane stands still; the gradients go on, and may have"
                    " the wire to themselves",
                    "A pause names a lane. What the paused lane does not send, the other may:"
                    " weights bind only while both have something to send.",
                    right=True,
                    also=(
                        "Only the checkpoints' lane waits, back to its senders; what it leaves of"
                        " the wire, gradients may use",
                    ),
                ),
                Option(
                    "Every lane of a cable stands still while one of them is paused, so the"
                    " gradients wait as well",
                    "So it was with the old PAUSE of a whole link. PFC and credits by lane were"
                    " made to end that.",
                ),
                Option(
                    "Nobody is affected: two lanes give a cable twice the buffers and twice the"
                    " bandwidth",
                    "A lane is no bandwidth: the wire is the same, and the buffer is divided. The"
                    " checkpoint's senders do wait.",
                ),
                Option(
                    "The gradients get four fifths of the wire and no more, as the paused lane"
                    " keeps its fifth",
                    "A lane that may not send takes nothing, whatever its weight; the other has the"
                    " whole wire. Only a rate limit would hold it back.",
                ),
            )
        ),
        hints=(
            "What does a PAUSE of PFC name, and what does a credit belong to?",
            "A wire serves whoever may send.",
        ),
        moral=(
            "That holds if the map from flows to lanes is right. Gradients that somebody marked as"
            " bulk stand still with it."
        ),
    ),
]
