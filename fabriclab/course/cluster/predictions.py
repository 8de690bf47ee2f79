"""What a reader of this part is asked to guess, in the order of the notebook."""

from fabriclab import catalog, cluster, collectives, congestion, link, topology
from fabriclab.course.engine.exercises.slips import Slip
from fabriclab.course.engine.predict import Prediction
from fabriclab.units import GB, day, kW, ms

ALPHA, BETA = catalog.NDR.alpha, catalog.NDR.beta


def _exposed(buckets):
    return cluster.bucketed_step(500 * ms, buckets, 300 * ms / buckets).exposed


def _with_startups(buckets):
    each = collectives.ring_allreduce(7.43 * GB / buckets, 1024, ALPHA, BETA)
    return cluster.bucketed_step(500 * ms, buckets, each).exposed


def _worst_pods():
    """Over how many of eight pods a job of 3,072 GPUs is oversubscribed worst."""
    meta = topology.meta_24k()

    def ratio(pods):
        job = [3072 * pod + host for pod in range(pods) for host in range(3072 // pods)]
        return topology.placement_oversubscription(meta, job)

    return str(max((1, 2, 3, 8), key=ratio))


PREDICTIONS = (
    Prediction("cluster.one_bucket", "exposed with one bucket", lambda: _exposed(1), "s"),
    Prediction("cluster.ten_buckets", "exposed with ten", lambda: _exposed(10), "s"),
    Prediction(
        "cluster.buckets",
        "the best number of buckets",
        lambda: min(range(1, 300), key=_with_startups),
    ),
    Prediction(
        "cluster.slow_link",
        "how many times longer the AllReduce takes",
        lambda: (
            cluster.slow_link(6 * GB, 512, ALPHA, 48 * GB, 2)
            / cluster.slow_link(6 * GB, 512, ALPHA, 48 * GB, 1)
        ),
        "x",
        slips=(
            Slip("one of 512", "every byte of the ring crosses that link", lambda: 1 + 1 / 512),
        ),
    ),
    Prediction(
        "cluster.straggler",
        "what the straggler costs if 50 million is the bill",
        lambda: congestion.straggler_cost(50e6, 0.05),
        "$",
        moral="It is 2.5 million if 50 was the plan.",
    ),
    Prediction(
        "cluster.gpu_hours",
        "GPU-hours lost at 2 %",
        lambda: cluster.gpu_hours(1024, 30 * day, 0.02),
        slips=(Slip("all", "that is the whole run", lambda: cluster.gpu_hours(1024, 30 * day)),),
    ),
    Prediction(
        "cluster.share",
        "the share of communication, if 10 % less bandwidth costs 2 %",
        lambda: cluster.share_behind(0.02, 0.1),
        "%",
    ),
    Prediction(
        "cluster.unit", "what one unit can inject", lambda: cluster.scalable_unit().injection, "B/s"
    ),
    Prediction(
        "cluster.four_units",
        "GPUs that four units really hold",
        lambda: topology.superpod_h100(4).hosts,
        moral="One node makes room for management.",
    ),
    Prediction(
        "cluster.pods",
        "the number of pods that is worst for the job",
        _worst_pods,
        options=("1", "2", "3", "8"),
    ),
    Prediction(
        "cluster.with_fabric",
        "the share of 75 kW, with the fabric in the base",
        lambda: link.power_shares(75 * kW, 1024).of_accelerators_and_network,
        "%",
    ),
    Prediction(
        "cluster.of_nodes",
        "its share of whole nodes",
        lambda: link.power_shares(75 * kW, 1024).of_nodes,
        "%",
    ),
)
