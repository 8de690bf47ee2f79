"""Rows of level 2: what collectives need."""

from fabriclab import catalog, collectives
from fabriclab.catalog import HDR, NDR
from fabriclab.course.engine.ledger import Row
from fabriclab.course.transport.rows.common import RANKS
from fabriclab.units import GB, ms

COMPUTE = 5e13 / (
    catalog.H100_PEAK_FP16 * 0.5
)  # Napkin Math 1.2: FLOP per step over peak times utilisation


def _ring(size, path=NDR, ranks=RANKS):
    return collectives.ring_allreduce(size, ranks, path.alpha, path.beta)


ROWS = [
    # Napkin Math 1.2
    Row(
        "napkin-1.2/work",
        "Napkin Math 1.2, English source",
        "5e13",
        lambda: 101 * ms * catalog.H100_PEAK_FP16 * 0.5,
        "agrees",
        "FLOP a step and GPU, back from the printed 101 ms; at 6 FLOP a parameter and token GPT-2"
        f" does {5e13 / 6 / 1.5e9:,.0f} tokens with them",
    ),
    Row(
        "napkin-1.2/work-earlier",
        "earlier edition, Napkin Math 1.2",
        "2e18",
        lambda: 101 * ms * catalog.H100_PEAK_FP16 * 0.5,
        "differs",
        f"FLOP a step: {2e18 / catalog.H100_PEAK_FP16 / 0.5 / 60:.0f} min of one H100 at 50 %, not"
        " 101 ms; corrected since",
    ),
    Row(
        "napkin-1.2/utilisation",
        "Napkin Math 1.2",
        "50 %",
        None,
        "assumed",
        "of the H100's peak, an input; Llama 3 reports 38 to 43 % on 8,192 to 16,384 GPUs",
    ),
    Row(
        "napkin-1.2/compute",
        "Napkin Math 1.2",
        "101 ms",
        lambda: COMPUTE,
        "agrees",
        "5e13 FLOP / (989 TFLOP/s x 50 %); the 5e13 is missing from the translation",
    ),
    Row(
        "napkin-1.2/payload",
        "Napkin Math 1.2",
        "6 GB",
        lambda: 1.5e9 * 4.0,
        "agrees",
        "GPT-2: 1.5 billion parameters of 4 bytes",
    ),
    Row("napkin-1.2/ring-6GB", "Napkin Math 1.2", "242.8 ms", lambda: _ring(6 * GB), "agrees"),
    Row(
        "napkin-1.2/fraction",
        "Napkin Math 1.2",
        "70.6 %",
        lambda: _ring(6 * GB) / (_ring(6 * GB) + COMPUTE),
        "agrees",
        "of a step in which nothing overlaps",
    ),
    Row(
        "napkin-1.2/parameters-70B",
        "Napkin Math 1.2",
        "70 billion",
        None,
        "assumed",
        f"an input; at FP32 they are {70 / 1.5:.0f} times GPT-2's, and so is the ring's time",
    ),
    Row(
        "napkin-1.2/payload-70B",
        "Napkin Math 1.2",
        "280 GB",
        lambda: 70e9 * 4.0,
        "agrees",
        "70 billion parameters of 4 bytes; 140 GB in BF16, as the appendix takes them",
    ),
    Row(
        "napkin-1.2/ring-280GB", "Napkin Math 1.2", "11192.1 ms", lambda: _ring(280 * GB), "agrees"
    ),
    Row(
        "napkin-1.2/dominance",
        "older edition, after Napkin Math 1.2",
        "more than 100x",
        lambda: _ring(280 * GB) / COMPUTE,
        "agrees",
        "11,192 ms over 101.1 ms",
        between=(100, 1000),
    ),
    Row(
        "napkin-1.2/dominance-earlier",
        "earlier edition, after Napkin Math 1.2",
        "3x",
        lambda: _ring(280 * GB) / COMPUTE,
        "differs",
        "11,192.1 ms / 101.1 ms = 110.7; corrected since",
    ),
    Row(
        "napkin-1.2/175B",
        "older edition, after Napkin Math 1.2",
        "2.5x",
        lambda: 175e9 / 70e9,
        "agrees",
        "parameters; the ring then takes 27.98 s in FP32, 13.99 s in FP16",
    ),
    Row(
        "napkin-1.2/fabric",
        "Napkin Math 1.2 against the cluster registry",
        "50 GB/s",
        lambda: NDR.beta,
        "conflicts",
        "the registry gives the running cluster HDR, 25 GB/s: its ring over 6 GB takes"
        f" {_ring(6 * GB, HDR) / ms:.1f} ms, not 242.8 (E-07)",
        other="25 GB/s",
    ),
]
