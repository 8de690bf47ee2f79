"""What a reader of this part is asked to guess, in the order of the notebook."""

from fabriclab import catalog, collectives, transport
from fabriclab.course.engine.exercises.slips import Slip
from fabriclab.course.engine.predict import Prediction
from fabriclab.units import GB, KB, MB, KiB

NDR = catalog.NDR
COMPUTE = 5e13 / (0.5 * catalog.H100_PEAK_FP16)


def _saved():
    times = (transport.transfer_time(10 * KB, p.alpha, p.beta) for p in (catalog.HDR, NDR))
    slow, fast = times
    return 1 - fast / slow


def _headers(stack):
    return sum(next(s.headers.values() for s in catalog.RDMA_STACKS if s.name == stack))


def _sharded():
    """ZeRO-3 against an AllReduce, in bytes: without start-ups."""
    halves = collectives.reduce_scatter, collectives.all_gather, collectives.all_gather
    return sum(half(1, 1024, 0, 1) for half in halves) / collectives.ring_allreduce(1, 1024, 0, 1)


PREDICTIONS = (
    Prediction(
        "transport.host_memory",
        "bytes over the host's memory bus if the payload is staged",
        lambda: transport.staging_traffic(350 * GB),
        "B",
        slips=(Slip("one way", "you counted the way in and not the way out", lambda: 350 * GB),),
        moral="With GPUDirect it is nothing.",
    ),
    Prediction(
        "transport.go_back",
        "bytes that go again under go-back-N, told at the end",
        lambda: transport.tail_go_back_n(1000 * MB, 900 * MB),
        "B",
        slips=(Slip("front", "what came before the loss stays", lambda: 900 * MB),),
    ),
    Prediction(
        "transport.go_back_time",
        "their time at 50 GB/s",
        lambda: transport.tail_go_back_n(1000 * MB, 900 * MB) / NDR.beta,
        "s",
    ),
    Prediction(
        "transport.selective",
        "bytes that go again under selective repeat",
        lambda: transport.tail_selective(1000 * MB, 900 * MB),
        "B",
    ),
    Prediction(
        "transport.stacks",
        "RoCE's headers in 4 KiB packets",
        lambda: _headers("RoCEv2, PFC") / (_headers("RoCEv2, PFC") + 4 * KiB),
        "%",
        slips=(
            Slip(
                "frame",
                "preamble and gap pass over the wire as well",
                lambda: (_headers("RoCEv2, PFC") - 20) / (_headers("RoCEv2, PFC") - 20 + 4 * KiB),
            ),
        ),
    ),
    Prediction(
        "transport.n_star",
        "the size at which both terms cost the same",
        lambda: transport.crossover(NDR.alpha, NDR.beta),
        "B",
    ),
    Prediction(
        "transport.control",
        "how much sooner 10 KB arrive",
        _saved,
        "%",
        slips=(Slip("all bytes", "start-up stays as it was", lambda: 0.5),),
    ),
    Prediction(
        "transport.without_end",
        "what grows without end as ranks are added",
        lambda: (
            "start-up"
            if collectives.ring_allreduce(GB, 10**6, 0.0, NDR.beta) < 2.001 * GB / NDR.beta
            else "bandwidth"
        ),
        options=("start-up", "bandwidth", "both", "neither"),
        moral="The bandwidth term stops at twice the payload.",
    ),
    Prediction(
        "transport.napkin",
        "the ring for 6 GB over 1,024 ranks",
        lambda: collectives.ring_allreduce(6 * GB, 1024, NDR.alpha, NDR.beta),
        "s",
        slips=(Slip("once", "the bytes go round twice", lambda: 6 * GB / NDR.beta),),
        moral=f"Compute takes {1000 * COMPUTE:.0f} ms, so it does not hide.",
    ),
    Prediction(
        "transport.sharded",
        "the bytes of a sharded step, in AllReduces",
        _sharded,
        "x",
        slips=(
            Slip("three", "each of the three is half an AllReduce", lambda: 3.0),
            Slip("once", "the backward pass gathers the weights again", lambda: 1.0),
        ),
    ),
    Prediction(
        "transport.busbw",
        "the best busbw of two nodes with eight ports each",
        lambda: 8 * NDR.beta,
        "B/s",
        slips=(Slip("one port", "each node has eight ports", lambda: NDR.beta),),
    ),
)
