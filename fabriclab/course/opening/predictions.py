"""What a reader of this part is asked to guess, in the order of the notebook."""

from fabriclab import catalog, collectives, reliability
from fabriclab.congestion import bsp
from fabriclab.course.engine.exercises.slips import Slip
from fabriclab.course.engine.predict import Prediction
from fabriclab.units import GB, ms

GRADIENT = 175e9 * 2  # bytes: two for each BF16 number


def _cliff():
    return catalog.H100.nvlink.per_direction / catalog.H100.port.per_direction


def _saw():
    years = (2016, 2018, 2019, 2020, 2022, 2024)
    inside, across = ([catalog.fastest(f, y) for y in years] for f in ("NVLink", "InfiniBand"))
    ratios = [a.per_direction / b.per_direction for a, b in zip(inside, across, strict=True)]
    if ratios == sorted(ratios):
        return "it grows"
    return "it shrinks" if ratios == sorted(ratios)[::-1] else "it goes up and down"


PREDICTIONS = (
    Prediction(
        "opening.gradient",
        "one copy of the gradients in BF16",
        lambda: GRADIENT,
        "B",
        slips=(
            Slip("FP32", "you counted four bytes for each number", lambda: 2 * GRADIENT),
            Slip("one byte", "you counted one byte for each number", lambda: GRADIENT / 2),
        ),
    ),
    Prediction(
        "opening.port",
        "its time through one port of 400 Gb/s",
        lambda: GRADIENT / catalog.link_rate("NDR").per_direction,
        "s",
        slips=(Slip("bits", "400 Gb/s are 50 GB/s", lambda: GRADIENT / (400 * GB)),),
    ),
    Prediction(
        "opening.cliff",
        "the factor between NVLink and the port of an H100",
        _cliff,
        "x",
        slips=(
            Slip("bases", "both directions stand against one", lambda: 2 * _cliff()),
            Slip("bits and bytes", "GB/s were divided by Gb/s", lambda: 900 / 400),
        ),
        moral="One way against one way, in the same unit.",
    ),
    Prediction(
        "opening.history",
        "the ratio of NVLink to InfiniBand over ten years",
        _saw,
        options=("it grows", "it shrinks", "it goes up and down"),
        moral="The gap in GB/s grows throughout; the ratio falls with every new port.",
    ),
    Prediction(
        "opening.first_port",
        "the port that a V100 must have had",
        lambda: catalog.V100.port_in_text.per_direction,
        "b/s",
        slips=(
            Slip(
                "shipped",
                "that is the port V100 systems shipped with; it gives a factor of 8, not 4",
                lambda: catalog.V100.port.per_direction,
            ),
        ),
    ),
    Prediction(
        "opening.utilisation",
        "the share of a step that the GPUs compute",
        lambda: collectives.Step(100 * ms, 100 * ms, 30 * ms).utilisation,
        "%",
        slips=(Slip("base", "30 ms were divided by 200, not by 230", lambda: 1 - 30 / 200),),
    ),
    Prediction(
        "opening.late",
        "the mean step of 1,024 GPUs",
        lambda: bsp.step_with_hiccups(100 * ms, 100 * ms, 1e-3, 1024),
        "s",
        slips=(
            Slip("mean of one", "that is the mean of one GPU alone", lambda: 100.1 * ms),
            Slip("added", "the chances were added up; they overlap", lambda: 202.4 * ms),
        ),
        moral=f"Someone is late in {reliability.at_least_one(1e-3, 1024):.0%} of the steps.",
    ),
    Prediction(
        "opening.measurement",
        "what to ask a vendor for if pipeline stages are your concern",
        lambda: min(("bandwidth", "start-up time"), key=_pipeline),
        options=("bandwidth", "start-up time"),
        moral="Stages send one message at a time, over few switches.",
    ),
)


def _pipeline(halved):
    """The time of a stage's 4 KB message when one of the two things is twice as good."""
    alpha, beta = catalog.NDR.alpha, catalog.NDR.beta
    better = (alpha / 2, beta) if halved == "start-up time" else (alpha, 2 * beta)
    return better[0] + 4e3 / better[1]
