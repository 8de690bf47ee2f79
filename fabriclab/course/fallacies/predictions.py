"""What a reader of this part is asked to guess, in the order of the notebook."""

from fabriclab import catalog, cluster, link, packets, topology, transport
from fabriclab.course.engine.exercises.slips import Slip
from fabriclab.course.engine.predict import Prediction
from fabriclab.units import GB, KB, MB, Gbps, day, us

PER_DAY = cluster.gpu_hours(1024, day, 0.10)
CODEWORDS = day / link.KP4.codeword_time(link.KP4.line_rate(400 * Gbps))
WINDOW = 400 * Gbps * 10 * us / 4096


def _tapered():
    return topology.leaf_spine(32, 8, 32, 8)


def _tcp(rate):
    return transport.kernel_bandwidth(rate * Gbps, 64 * KB, 4 * us, 5 * GB)


def _victim():
    """The slowest of the three pairs beside the crowd."""
    tree = topology.leaf_spine(4, 2, 4, 4)
    pairs = [(host, 0, host % 2) for host in range(4, 16)] + [(5, 2, 0), (12, 9, 1), (8, 3, 1)]
    ways = [[a, 16 + a // 4, 20 + spine, 16 + b // 4, b] for a, b, spine in pairs]
    sources, targets, _ = zip(*pairs, strict=True)
    flows = packets.Flows(list(sources), list(targets), 1 * MB, 0.0, ways)
    return float(packets.run(tree, flows, buffer=2 * MB).completion[-3:].max())


PREDICTIONS = (
    Prediction(
        "fallacies.saved",
        "how much shorter it is",
        lambda: transport.time_saved(10 * KB, catalog.HDR.alpha, catalog.HDR.beta, 2),
        "%",
        slips=(Slip("all bytes", "start-up stays as it was", lambda: 0.5),),
    ),
    Prediction(
        "fallacies.go_back",
        "what go-back-N keeps of 400 Gb/s",
        lambda: transport.goodput_go_back_n(1e-4, WINDOW),
        "%",
    ),
    Prediction(
        "fallacies.victims", "the slowest of the three pairs, which alone take 22 µs", _victim, "s"
    ),
    Prediction(
        "fallacies.taper",
        "what the taper costs",
        lambda: topology.wasted_money(300e6, 0.3, 4),
        "$",
        slips=(Slip("share", "a crossing step takes four times as long", lambda: 90e6),),
    ),
    Prediction("fallacies.tcp", "one TCP stream on 100 Gb/s", lambda: _tcp(100), "b/s"),
    Prediction(
        "fallacies.tcp_fast",
        "and on 1.6 Tb/s",
        lambda: _tcp(1600),
        "b/s",
        slips=(Slip("port", "the core is the limit, not the port", lambda: 1600 * Gbps),),
    ),
    Prediction(
        "fallacies.two_leaves",
        "the oversubscription on two leaves, to 1",
        lambda: topology.placement_oversubscription(_tapered(), range(64)),
    ),
    Prediction(
        "fallacies.spread",
        "spread over all 32, to 1",
        lambda: topology.placement_oversubscription(
            _tapered(), [32 * leaf + gpu for leaf in range(32) for gpu in range(2)]
        ),
    ),
    Prediction(
        "fallacies.thousand",
        "the time until a thousand GPU-hours are lost",
        lambda: 1000 / PER_DAY * day,
        "s",
    ),
    Prediction(
        "fallacies.corrected",
        "symbols corrected in a day",
        lambda: CODEWORDS * link.KP4.n * link.KP4.symbol_error(1e-6),
    ),
    Prediction(
        "fallacies.lost",
        "codewords lost in a day",
        lambda: "none in a lifetime" if CODEWORDS * link.KP4.codeword_loss(1e-6) < 1e-5 else "some",
        options=("none in a lifetime", "some", "thousands"),
    ),
)
