"""What a reader of the capstone is asked to guess, in the order of the notebook."""

from dataclasses import replace

from fabriclab.course.design.exercises import PLAIN
from fabriclab.course.design.judge import judge
from fabriclab.course.engine.exercises.slips import Slip
from fabriclab.course.engine.predict import Prediction
from fabriclab.units import Gbps

PREDICTIONS = (
    Prediction(
        "design.useful",
        "useful accelerators of 4,096",
        lambda: judge(PLAIN).useful,
        slips=(Slip("all", "that is all of them; they wait, and they lose work", lambda: 4096.0),),
        moral="Most of what is missing waits for the network; checkpoints take the rest.",
    ),
    Prediction(
        "design.faster",
        "the network's dollars with ports of 800 Gb/s, in times of those with 400",
        lambda: (
            judge(replace(PLAIN, port=800 * Gbps, module="800G 2xDR4")).dollars
            / judge(PLAIN).dollars
        ),
        "x",
        slips=(Slip("twice", "the chip has half as many ports then: a third tier", lambda: 2.0),),
    ),
    Prediction(
        "design.grown",
        "dollars an accelerator at 16,384, in times of those at 4,096",
        lambda: judge(PLAIN).line("growth").value / (judge(PLAIN).dollars / 4096),
        "x",
        slips=(Slip("same", "the tree needs a third tier there", lambda: 1.0),),
    ),
)
