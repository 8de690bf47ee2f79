"""Exercises of level 4: synchronous steps and stragglers."""

from fabriclab import congestion
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.kinds import Quantity
from fabriclab.course.engine.exercises.slips import Slip
from fabriclab.course.engine.exercises.template import pick
from fabriclab.units import ms

EXERCISES = [
    Exercise(
        id="behaviour.idle",
        title="What one slow GPU costs a step",
        chinese="大规模同步并行与慢节点",
        numbers={
            "gpus": pick(256, 512, 1024, 2048, 4096),
            "drop": pick(0.05, 0.08, 0.1, 0.15, 0.2),
        },
        prompt=(
            "One of {gpus:,} GPUs gets hot, and its *speed* drops by {drop_per_cent:g} %."
            " At the barrier all others wait for it. How many GPU-steps does a step "
            "waste, a GPU-step being what a healthy GPU does in a healthy step? The "
            "chapter says 102 for its case; was that speed, or time?"
        ),
        kind=Quantity(
            lambda x: congestion.idle_workers(x.gpus, 1 / (1 - x.drop) - 1),
            "number",
            slips=(
                Slip(
                    "slower for longer",
                    "you let the step take as many per cent longer as the speed dropped; at half"
                    " the speed it takes twice as long, not half as long again",
                    lambda x: congestion.idle_workers(x.gpus, x.drop),
                ),
                Slip(
                    "the slow one alone",
                    "you counted what the slow GPU loses; it is the only one that works all the"
                    " time",
                    lambda x: 1 / (1 - x.drop) - 1,
                ),
            ),
        ),
        hints=(
            "How long does its step take, if a healthy one takes 1?",
            "Everybody but the slow GPU waits for the difference.",
        ),
        moral=(
            "The chapter's 102 is a step that takes 10 % longer; a speed that drops by 10 % wastes"
            " 114."
        ),
        places={"drop_per_cent": lambda x: 100 * x.drop},
    ),
    Exercise(
        id="behaviour.hiccups",
        title="The tail of one is the mean of all",
        chinese="尾延迟主导平均步长",
        numbers={
            "compute": pick(100, 120, 150, unit=ms),
            "delay": pick(30, 50, 80, unit=ms),
            "chance": pick(5e-4, 1e-3, 2e-3),
            "workers": pick(1024, 2048, 4096),
        },
        prompt=(
            "{workers:,} workers do steps of {compute:s}. In each step each worker is "
            "late by {delay:s} with chance {chance:g}, independently. How long is a step "
            "on average? A dashboard of single workers would call them all healthy."
        ),
        kind=Quantity(
            lambda x: congestion.step_with_hiccups(x.compute, x.delay, x.chance, x.workers),
            "time",
            tolerance=0.005,
            slips=(
                Slip(
                    "one worker's mean",
                    "you gave the mean of one worker; the step is the slowest of all",
                    lambda x: x.compute + x.delay * x.chance,
                ),
                Slip(
                    "added up the delays",
                    "you added up the delays; two workers late in one step make it no later"
                    " than one",
                    lambda x: x.compute + x.delay * x.chance * x.workers,
                ),
            ),
        ),
        hints=(
            "What is the chance that nobody is late?",
            "Late is late: the step is longer by one delay, however many had one.",
        ),
        moral="What happens to one worker in a thousand steps happens to the job in most of them.",
    ),
    Exercise(
        id="behaviour.stale",
        title="Nobody waits, and gradients grow old",
        chinese="异步训练与过期梯度",
        numbers=lambda draw: {
            "workers": draw.pick("workers", (4, 8, 16, 32)),
            "curvature": draw.pick("curvature", (0.5, 2, 4, 10)),
        },
        prompt=lambda x: (
            f"{x.workers} workers train without waiting for one another. They take turns, so while"
            " one computes its gradient each of the others updates the weights once. Along its"
            f" steepest direction the loss is a quadratic of curvature {x.curvature}:"
            f" {x.curvature}/2 · w². Up to which learning rate does w settle?"
        ),
        kind=Quantity(
            lambda x: congestion.stale_limit(x.workers - 1) / x.curvature,
            "number",
            tolerance=0.005,
            slips=(
                Slip(
                    "fresh gradients",
                    "that is the limit if everybody waits; here gradients are old",
                    lambda x: 2 / x.curvature,
                ),
                Slip(
                    "one update too old",
                    "you counted a worker's own update as well; only the others' come in between",
                    lambda x: congestion.stale_limit(x.workers) / x.curvature,
                ),
                Slip(
                    "divided by the workers",
                    "you divided the limit of fresh gradients by the workers; the delay turns the"
                    " correction round sooner",
                    lambda x: 2 / x.curvature / x.workers,
                ),
            ),
        ),
        hints=(
            "How many updates old is a gradient when it is applied?",
            "w[t+1] = w[t] - k w[t-d]: try w[t] = z^t. When has every root |z| < 1?",
            "At the edge z = exp(iφ) with φ = π/(2d+1), and k = 2 sin(φ/2).",
        ),
        moral=(
            "Waiting costs time in every step, not waiting costs learning rate in every step: about"
            " as many times as there are workers."
        ),
    ),
]
