"""What a reader of this part is asked to guess, in the order of the notebook."""

import numpy as np

from fabriclab import catalog, cluster
from fabriclab.course.engine.exercises.slips import Slip
from fabriclab.course.engine.predict import Prediction
from fabriclab.units import GB, Gbps

PORT = catalog.NDR.beta


def _longer(size):
    return cluster.shared_time(size, 100 * GB, PORT, 1 / 2) / (size / PORT) - 1


def _long_flow():
    crosses = [[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]]
    return cluster.max_min_network([np.inf] * 4, [10, 5, 10], crosses)[0]


def _better_off():
    """Whether the fluid gives an AllReduce more beside a slow storage than beside a fast one."""
    beside = [
        cluster.max_min_network([np.inf] * 2, [50 * GB, storage], [[1, 1], [0, 1]], [1, 1])[0]
        for storage in (50 * GB, 12.5 * GB)
    ]
    return beside[1] > beside[0]


def _same():
    """Which rules let the checkpoint finish at the same time: those that leave nothing idle."""
    capped = cluster.max_min([np.inf], PORT, caps=[0.2 * PORT])[0]
    return "all but rate limits" if capped < PORT else "all four"


def _gain(busy, longer):
    """What sharing adds: the big job does less, and others fill the idle part."""
    return busy / (1 + longer) + (1 - busy) - busy


PREDICTIONS = (
    Prediction(
        "sharing.gain",
        "the machine gained of $300 M, with steps 10 % longer",
        lambda: 300e6 * _gain(0.7, 0.1),
        "$",
        slips=(Slip("free", "the big job slows down, too", lambda: 90e6),),
    ),
    Prediction(
        "sharing.asleep",
        "what you get, if the word is cap",
        lambda: cluster.max_min([np.inf] + [0] * 7, PORT, caps=PORT / 8)[0],
        "b/s",
        moral="If it is guarantee, you get the whole port.",
    ),
    Prediction(
        "sharing.third",
        "what C gets",
        lambda: cluster.max_min([10, 30, 80], 100)[2],
        slips=(Slip("thirds", "A does not need its third", lambda: 100 / 3),),
    ),
    Prediction(
        "sharing.training",
        "what training gets",
        lambda: cluster.max_min(np.array([400, 30, 400]) * Gbps, PORT, (8, 1, 1))[0],
        "b/s",
        slips=(Slip("cap", "what inference leaves is shared again", lambda: 320 * Gbps),),
    ),
    Prediction(
        "sharing.long_flow",
        "what the long flow gets",
        _long_flow,
        slips=(Slip("all", "it shares the middle link", lambda: 5),),
    ),
    Prediction("sharing.short_reduce", "how much longer 12 GB take", lambda: _longer(12 * GB), "%"),
    Prediction(
        "sharing.long_reduce",
        "how much longer 700 GB take",
        lambda: _longer(700 * GB),
        "%",
        slips=(Slip("share", "the burst ends long before", lambda: 1.0),),
    ),
    Prediction(
        "sharing.checkpoint",
        "the rules under which the checkpoint ends at the same time",
        _same,
        options=("all four", "all but rate limits", "only lanes", "none"),
    ),
    Prediction(
        "sharing.slow_storage",
        "the AllReduce beside the slow storage, with pauses in one lane",
        lambda: "worse than the fluid says" if _better_off() else "the same",
        options=("better off", "the same", "worse than the fluid says"),
        moral="The fluid knows no pauses: what waits for the storage stands in the way.",
    ),
    Prediction(
        "sharing.two_jobs",
        "each of two jobs that want all, in lanes of their own",
        lambda: cluster.max_min([np.inf, np.inf], PORT)[0],
        "b/s",
    ),
    Prediction("sharing.lanes", "lanes for data on InfiniBand", lambda: catalog.DATA_LANES),
)
