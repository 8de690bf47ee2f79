"""What a reader of this part is asked to guess, in the order of the notebook."""

import math

from fabriclab import catalog, link
from fabriclab.course.engine.exercises.slips import Slip
from fabriclab.course.engine.predict import Prediction
from fabriclab.link import KP4, NRZ, PAM4
from fabriclab.units import Gbps


def _margin(rate):
    return link.link_margin(30, 3, link.loss_per_metre(rate * Gbps), connectors=2)


_TIMES = {"ten": 1, "a thousand": 3, "ten million": 7}  # powers of ten


def _more_errors():
    return math.log10(link.bit_error_ratio(16, PAM4) / link.bit_error_ratio(16, NRZ))


PREDICTIONS = (
    Prediction(
        "wires.symbols",
        "symbols per second of a 100 Gb/s lane in PAM4",
        lambda: link.symbol_rate(100 * Gbps, PAM4, KP4),
        "Bd",
        slips=(
            Slip("no FEC", "the error correction rides along", lambda: 50e9),
            Slip("NRZ", "PAM4 carries two bits in each symbol", lambda: 100e9),
        ),
    ),
    Prediction(
        "wires.eye",
        "the height of a PAM4 eye, as a share of an NRZ eye",
        lambda: 10 ** (-link.peak_penalty() / 20),
        "%",
        slips=(Slip("levels", "four levels have three gaps", lambda: 1 / 4),),
    ),
    Prediction(
        "wires.eye_decibels",
        "the same in decibels of voltage",
        lambda: link.peak_penalty(),
        "dB",
        slips=(Slip("power", "volts take 20 log, not 10 log", lambda: link.optical_penalty()),),
    ),
    Prediction(
        "wires.errors",
        "how many times more errors PAM4 has at 16 dB",
        lambda: min(_TIMES, key=lambda words: abs(_more_errors() - _TIMES[words])),
        options=tuple(_TIMES),
    ),
    Prediction(
        "wires.line_rate",
        "the line rate of a 400 Gb/s port",
        lambda: KP4.line_rate(400 * Gbps),
        "b/s",
    ),
    Prediction(
        "wires.ten_times",
        "codewords lost at ten times the limit, a raw ratio of 2.4e-3",
        lambda: KP4.codeword_loss(2.4e-3),
        "%",
    ),
    Prediction(
        "wires.switches",
        "switches on the longest path of three tiers",
        lambda: link.switches_on_path(3),
        slips=(
            Slip("tiers", "the path goes up and comes down again", lambda: 3),
            Slip("core twice", "the core is crossed once", lambda: 6),
        ),
    ),
    Prediction(
        "wires.medium",
        "the cheapest medium for 12 m",
        lambda: link.media_for(12)[0].name,
        options=tuple(medium.name for medium in catalog.MEDIA),
    ),
    Prediction(
        "wires.flight",
        "the time light takes through 60 m of fibre",
        lambda: link.propagation_delay(60, link.media_for(60)[0].velocity),
        "s",
        slips=(Slip("vacuum", "light in glass is slower than in vacuum", lambda: 60 / 3e8),),
    ),
    Prediction(
        "wires.links",
        "links from switch to switch, for 10,000 GPUs under three tiers",
        lambda: link.tree_links(10_000, 3) - link.tree_links(10_000, 1),
        slips=(
            Slip(
                "all", "the GPUs' own cables were counted too", lambda: link.tree_links(10_000, 3)
            ),
        ),
    ),
    Prediction(
        "wires.rack",
        "the power of a rack of four DGX H100",
        lambda: link.rack_power(4, catalog.DGX_H100_POWER),
        "W",
        slips=(Slip("chips", "a node is more than its GPUs", lambda: 4 * 8 * catalog.H100.tdp),),
    ),
    Prediction(
        "wires.fabric",
        "links of a non-blocking network of 1,024 GPUs under two tiers",
        lambda: link.tree_links(1024, 2),
        slips=(Slip("one tier", "each tier has its own links", lambda: 1024),),
        moral="Each link has two ports.",
    ),
    Prediction(
        "wires.margin",
        "the margin that is left",
        lambda: _margin(50),
        "dB",
        slips=(Slip("connectors", "the connectors take 2 dB", lambda: 12),),
    ),
    Prediction(
        "wires.doubled",
        "3 m at twice the lane rate",
        lambda: (
            "more than half of it is gone" if _margin(100) < _margin(50) / 2 else "half is left"
        ),
        options=("as good", "half is left", "more than half of it is gone"),
        moral="What is left is too little to keep in reserve.",
    ),
    Prediction(
        "wires.raw",
        "raw errors of a good NDR port in six days",
        lambda: 6 * 86400 * 4 * KP4.line_rate(100 * Gbps) * 8 * 9e-10,
        moral="All of them were corrected.",
    ),
)
