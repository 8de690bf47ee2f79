"""The exercises on level 5: overlap by buckets, waste that nobody sees, the money of a straggler, a
ring's slow link, units, bases.

The lists numbers are drawn from are part of what students were given: add exercises, but do not
change these lists.
"""

from fabriclab import catalog, cluster, collectives, congestion, link, topology
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.kinds import Quantity
from fabriclab.course.engine.exercises.slips import BOTH_WAYS, Slip
from fabriclab.course.engine.exercises.template import pick
from fabriclab.units import GB, day, ms, us

TDP, NODE = catalog.H100.tdp, catalog.DGX_H100_POWER
LANES = 4


def _step(x):
    return (
        x.forward
        + cluster.bucketed_step(x.backward, x.buckets, x.share * x.backward / x.buckets).total
    )


def _gpu_hours(x, share):
    return cluster.gpu_hours(x.gpus, x.days * day, share)


def _bill(x, share):
    return cluster.cost_of(_gpu_hours(x, share), x.price)


def _ring(x, slowdown):
    return cluster.slow_link(x.size, x.ranks, 1.5 * us, 50 * GB, slowdown)


def _pod(x):
    return topology.superpod_h100(x.units).hosts


def _fabric(x):
    return x.share * TDP * x.gpus


EXERCISES = [
    Exercise(
        id="cluster.buckets",
        title="A step with buckets",
        chinese="分桶的通信—计算重叠",
        numbers={
            "forward": pick(200, 250, 300, unit=ms),
            "backward": pick(400, 500, 600, unit=ms),
            "buckets": pick(4, 5, 8),
            "share": pick(0.6, 0.8, 1.2, 1.5),
        },
        prompt=(
            "Forward {forward:s}, backward {backward:s}. The gradients come in {buckets} "
            "equal buckets, each complete when its equal share of the backward pass is "
            "done; the network takes them in that order, one at a time, and all together "
            "need it for {comm:s}. How long from the start of the forward pass until the "
            "last gradient is reduced? One max over the whole pass says what the chapter "
            "says."
        ),
        kind=Quantity(
            _step,
            "time",
            tolerance=0.005,
            slips=(
                Slip(
                    "one max",
                    "you let the network start with the backward pass and end with it; the first"
                    " bucket is not there at once, the last not before the end",
                    lambda x: x.forward + max(x.backward, x.share * x.backward),
                ),
                Slip(
                    "no overlap",
                    "you hid nothing: while later gradients are computed, earlier buckets are on"
                    " their way",
                    lambda x: x.forward + x.backward * (1 + x.share),
                ),
            ),
        ),
        hints=(
            "When is the first bucket complete, and when the last?",
            "Draw two rows, computing and network. Which of them runs without a gap?",
        ),
        moral="Even a network that is fast enough leaves one bucket exposed: the last.",
        places={"comm": lambda x: x.share * x.backward},
    ),
    Exercise(
        id="cluster.silent",
        title="Waste that no alarm sees",
        chinese="静默浪费",
        numbers={
            "gpus": pick(512, 1024, 2048, 4096),
            "days": pick(7, 30, 90),
            "share": pick(0.15, 0.2, 0.25, 0.3),
            "loss": pick(0.1, 0.15, 0.2),
        },
        prompt=lambda x: (
            f"A job needs {x.gpus:,} GPUs for {x.days} days while the network is well;"
            f" communication that nothing hides is {100 * x.share:g} % of a step. Now the network"
            f" gives {100 * x.loss:g} % less bandwidth, nobody notices, and the job runs to its"
            " end. How many GPU-hours more does it take? (Start-up times count for nothing here.)"
        ),
        kind=Quantity(
            lambda x: _gpu_hours(x, cluster.waste(x.share, x.loss)),
            "number",
            tolerance=0.005,
            slips=(
                Slip(
                    "loss for time",
                    "you made the communication longer by the lost share; at half the bandwidth it"
                    " takes twice as long, not half as long again",
                    lambda x: _gpu_hours(x, x.share * x.loss),
                ),
                Slip(
                    "whole step",
                    "you slowed the whole step; only its communication feels the network",
                    lambda x: _gpu_hours(x, cluster.waste(1.0, x.loss)),
                ),
                Slip(
                    "days for hours",
                    "you gave GPU-days",
                    lambda x: _gpu_hours(x, cluster.waste(x.share, x.loss)) / 24,
                ),
            ),
        ),
        hints=(
            "By what factor is a transfer longer at that bandwidth?",
            "Only the communication is longer. Then: GPUs × hours × that share.",
        ),
        moral="The chapter's 15,000 to 22,000 hours are a communication share of 18 to 27 %.",
    ),
    Exercise(
        id="cluster.money",
        title="What the straggler took of the bill",
        chinese="慢节点的代价",
        numbers={
            "gpus": pick(512, 1024, 2048, 4096),
            "days": pick(30, 60, 90),
            "price": pick(2.5, 3, 4),
            "longer": pick(0.05, 0.08, 0.1, 0.15),
        },
        prompt=(
            "A run is over: {gpus:,} GPUs for {days} days at {price:g} dollars a "
            "GPU-hour. One GPU was slow all the while and made every step "
            "{longer_per_cent:g} % longer than the others alone would have. How many "
            "dollars of this bill did it cost?"
        ),
        kind=Quantity(
            lambda x: congestion.straggler_cost(_bill(x, 1.0), x.longer),
            "money",
            tolerance=0.005,
            slips=(
                Slip(
                    "wrong base",
                    "you took the share of the bill; it is one of the healthy run, and the bill is"
                    " for the longer one",
                    lambda x: _bill(x, x.longer),
                ),
                Slip(
                    "the slow one alone",
                    "you charged the slow GPU's own time; all the others waited too",
                    lambda x: _bill(x, x.longer / (1 + x.longer)) / x.gpus,
                ),
            ),
        ),
        hints=("What would the run have cost without it?", "The bill is 1 + longer times that."),
        moral=(
            "The chapter's 5 % of 50 million dollars is 2.5 million if these are the healthy run's,"
            " 2.38 if they are the bill."
        ),
        places={"longer_per_cent": lambda x: 100 * x.longer},
    ),
    Exercise(
        id="cluster.ring",
        title="One link of a ring",
        chinese="环中的一条慢链路",
        numbers={
            "size": pick(2, 4, 6, 8, unit=GB),
            "ranks": pick(64, 128, 256),
            "left": pick(1, 3, name="lanes left"),
        },
        prompt=(
            "A ring AllReduce of {size:B} over {ranks} ranks, 1.5 us and 50 GB/s a hop. "
            "One link of the ring falls back from four lanes to {left}; its latency "
            "stays. How long does the AllReduce take now? All other {others} links are "
            "well."
        ),
        kind=Quantity(
            lambda x: _ring(x, LANES / x.left),
            "time",
            tolerance=0.005,
            slips=(
                Slip(
                    "as if healthy",
                    "you spread one link's trouble over the ring; every chunk has to pass it, and"
                    " all wait",
                    lambda x: _ring(x, 1.0),
                ),
                Slip(
                    "lost for left",
                    "you kept the lanes that were lost",
                    lambda x: _ring(x, LANES / (LANES - x.left)),
                ),
                Slip(
                    BOTH_WAYS,
                    "you went round the ring once; an AllReduce does so twice",
                    lambda x: collectives.all_gather(
                        x.size, x.ranks, 1.5 * us, x.left / LANES * 50 * GB
                    ),
                ),
            ),
        ),
        hints=(
            (
                "In each of the 2(N-1) steps every link carries a chunk. When does the next step"
                " begin?"
            ),
            "The slowest link sets the pace of all.",
        ),
        moral=(
            "One slow link in a ring is as bad as if all were as slow: at half its rate it doubles"
            " a job's AllReduce."
        ),
        places={"others": lambda x: x.ranks - 1},
    ),
    Exercise(
        id="cluster.units",
        title="Scalable units, and one node less",
        chinese="可扩展单元",
        numbers={"units": pick(2, 3, 4), "nodes": pick(4, 8, 16)},
        prompt=(
            "A DGX SuperPOD of {units} scalable units of 32 nodes, eight GPUs each. The "
            "whole pod gives one node up for the fabric manager's ports, as NVIDIA's "
            "does. A model is trained in replicas of {nodes} nodes each, whole replicas "
            "only. How many GPUs can work on it? The chapter counts 256 a unit."
        ),
        kind=Quantity(
            lambda x: 8.0 * x.nodes * (_pod(x) // (8 * x.nodes)),
            "number",
            whole=True,
            tolerance=0.001,
            slips=(
                Slip(
                    "full units",
                    "you counted full units, as the chapter does; one node is not there",
                    lambda x: 256 * x.units,
                ),
                Slip("broken replica", "you let part of a replica work", _pod),
            ),
        ),
        hints=("How many nodes are there?", "How many whole replicas do they hold?"),
        moral=(
            "One missing node can idle a whole replica's worth: ask for the count of nodes before"
            " you choose the parallelism."
        ),
    ),
    Exercise(
        id="cluster.base",
        title="Per cent of what",
        chinese="百分比的基数",
        numbers={"gpus": pick(512, 1024, 4096), "share": pick(0.08, 0.09, 0.105, 0.12)},
        prompt=(
            "A slide says: the fabric of our {gpus:,} H100s takes {share_per_cent:g} % of"
            " the cluster's power. A footnote: \"cluster\" is the GPUs' TDP alone, 700 W "
            "each. A node of eight takes up to 10.2 kW. Which share of *all* power, nodes"
            " and fabric, is the fabric's?"
        ),
        kind=Quantity(
            lambda x: link.power_shares(_fabric(x), x.gpus, NODE / 8).of_accelerators_and_network,
            "number",
            tolerance=0.005,
            slips=(
                Slip(
                    "fabric not in the base",
                    "you divided by the nodes alone; all power is nodes and fabric",
                    lambda x: link.power_shares(_fabric(x), x.gpus).of_nodes,
                ),
                Slip(
                    "GPUs and fabric",
                    "you took GPUs and fabric for all there is",
                    lambda x: x.share / (1 + x.share),
                ),
            ),
        ),
        hints=(
            "How many watts does the fabric take for every eight GPUs?",
            "Fabric over (node + fabric).",
        ),
        moral=(
            "The chapter's 10.5 % are 9.5 % with the fabric in the base, and under 6 % of whole"
            " nodes: write the base beside every per cent."
        ),
        places={"share_per_cent": lambda x: 100 * x.share},
    ),
]
