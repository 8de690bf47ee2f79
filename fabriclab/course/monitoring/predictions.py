"""What a reader of this part is asked to guess, in the order of the notebook."""

import numpy as np

from fabriclab import catalog, cluster, reliability, topology, transport
from fabriclab.course.engine.exercises.slips import Slip
from fabriclab.course.engine.predict import Prediction
from fabriclab.course.monitoring import figures
from fabriclab.logs import diagnose, infiniband, pairs, perfquery, perftest
from fabriclab.units import GB, Gbps, us

PORT = catalog.NDR.beta
RISE = 120_750_000_000  # words of 4 bytes in 10 s


def _with_tree():
    """What two trees make of a large AllReduce with one port at half its rate."""
    path = 15 * GB, 512, catalog.NDR.alpha, 48 * GB
    slow, trees = cluster.slow_link(*path, 2), cluster.slow_trees(*path, 2)
    return "nothing" if trees > 0.9 * slow else "a little" if trees > 0.6 * slow else "it is cured"


def _rule(time):
    marks = {"healthy": perftest.HEALTHY, "in between": perftest.SUSPICIOUS}
    return next((word for word, most in marks.items() if time <= most), "suspicious")


def _many_under_way():
    alpha, beta = 1.08 * us, 47.9 * GB
    alone = 4096 / transport.transfer_time(4096, alpha, beta)
    together = 128 * 4096 / transport.transfer_time(128 * 4096, alpha, beta)
    return "more" if together > 1.1 * alone else "that"


def _pattern():
    """What one slow receiver draws: cold cells all down its column."""
    network = topology.leaf_spine(4, 2, 4, 4)
    slow = {pairs.Part("host", "host-06", way="in"): 0.5}
    cold = np.argwhere(pairs.measure(network, slow, noise=0).matrix < 30 * GB)
    return "a column" if len(set(cold[:, 1])) == 1 else "a row"


def _cause(*signs):
    weight = {
        cause: sum(diagnose.SIGNS[sign].get(cause, 0) for sign in signs)
        for cause in ("link", "neighbour", "hca")
    }
    return diagnose.CAUSES[max(weight, key=weight.get)].name


def _strongest():
    signs = {
        "GPUs that compute all the time": "gpu-full",
        "a good AllReduce": "nccl-good",
        "a good pair": "pairs-good",
    }
    return max(signs, key=lambda words: sum(n < 0 for n in diagnose.SIGNS[signs[words]].values()))


def _apart():
    two_lanes, slower = infiniband.link_rate(2, "NDR"), infiniband.link_rate(4, "HDR")
    return "lanes and speed of the port" if two_lanes == slower else "the bandwidth"


CAUSES = tuple(diagnose.CAUSES[cause].name for cause in ("link", "neighbour", "hca"))

PREDICTIONS = (
    Prediction(
        "monitoring.busy",
        "the share of the line that is busy",
        lambda: RISE * perfquery.WORD / 10 / PORT,
        "%",
        slips=(Slip("bytes", "the counter counts words of 4 bytes", lambda: RISE / 10 / PORT),),
    ),
    Prediction(
        "monitoring.full", "the time until 32 bits are full", lambda: figures.full(400 * Gbps), "s"
    ),
    Prediction(
        "monitoring.scrape",
        "that an hour of scrapes sees the queue",
        lambda: float(reliability.at_least_one(10 * 640 * us / 60, 240)),
        "%",
        slips=(Slip("one", "that is one scrape of the 240", lambda: 10 * 640 * us / 60),),
    ),
    Prediction(
        "monitoring.degraded",
        "the chance that at least one of 3,000 is degraded",
        lambda: reliability.at_least_one(0.001, 3000),
        "%",
    ),
    Prediction(
        "monitoring.on_ring",
        "the chance that a ring over 128 meets one",
        lambda: reliability.at_least_one(0.001, 128),
        "%",
    ),
    Prediction(
        "monitoring.bandwidth_test",
        "what the bandwidth test shows at 4 KiB",
        _many_under_way,
        options=("less", "that", "more"),
        moral="It keeps many messages under way at once.",
    ),
    Prediction(
        "monitoring.idle_port",
        "what the rule says of the chapter's 1.5 µs",
        lambda: _rule(catalog.NDR.alpha),
        options=("healthy", "in between", "suspicious"),
        moral=f"Of the appendix's 5 µs it says: {_rule(5 * us)}.",
    ),
    Prediction(
        "monitoring.pattern",
        "what a slow receiving side draws, with senders down and receivers across",
        _pattern,
        options=("a row", "a column", "a block", "single cells"),
    ),
    Prediction(
        "monitoring.steady_quarter",
        "the likely cause",
        lambda: _cause("pair-like-lanes", "nccl-like-lanes"),
        options=CAUSES,
    ),
    Prediction(
        "monitoring.stop_and_go",
        "the likely cause, if the pair's bandwidth comes and goes",
        lambda: _cause("pair-stop-and-go", "nccl-varies"),
        options=CAUSES,
    ),
    Prediction(
        "monitoring.healthy",
        "the one sign that speaks against most causes",
        _strongest,
        options=("a good pair", "GPUs that compute all the time", "a good AllReduce"),
        moral='One sign is not enough: "healthy" needs the pair and the counters too.',
    ),
    Prediction(
        "monitoring.utilisation",
        "the utilisation the tool should show",
        lambda: 0.92 / (4.8 / 4.2),
        "%",
    ),
    Prediction(
        "monitoring.half_port",
        "what tells lost lanes from a slower speed",
        _apart,
        options=("the bandwidth", "lanes and speed of the port", "the latency"),
    ),
    Prediction(
        "monitoring.tree",
        "what a tree changes for a large AllReduce",
        _with_tree,
        options=("it is cured", "a little", "nothing"),
    ),
)
