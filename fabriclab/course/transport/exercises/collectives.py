"""Exercises of level 2: what collectives need."""

from fabriclab import collectives
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.formula import Formula
from fabriclab.course.engine.exercises.function import Function
from fabriclab.course.engine.exercises.kinds import Ordering, Quantity
from fabriclab.course.engine.exercises.slips import BITS, Slip
from fabriclab.course.engine.exercises.template import pick
from fabriclab.course.transport.exercises.common import _path, _says
from fabriclab.units import GB, KB, MB, Gbps, si, us

ALGORITHMS = {
    "ring": collectives.ring_allreduce,
    "tree": collectives.tree_allreduce,
    "recursive doubling": collectives.recursive_doubling_allreduce,
    "Rabenseifner": collectives.rabenseifner_allreduce,
}


def _steps(n):
    return 2 * (n - 1)


def _log(draw):
    size, rate = (
        draw.pick("size", (2**28, 2**29, 2**30, 2**31)),
        draw.pick("rate", (18.5, 22.1, 26.4, 31.7, 36.9, 42.3)) * GB,
    )
    return {
        "collective": draw.pick("collective", ("all_reduce", "all_gather", "reduce_scatter")),
        "ranks": draw.pick("ranks", (8, 16, 24, 32)),
        "size": float(size),
        "time": round(size / rate / us) * us,
    }


def _ring_inputs(draw):
    sizes = [draw.pick(f"size {i}", (64 * KB, 3 * MB, 50 * MB, 750 * MB, 6 * GB)) for i in range(4)]
    ranks = [draw.pick(f"ranks {i}", (2, 3, 8, 96, 1024)) for i in range(4)]
    path = (draw.pick("a", (0.7, 1.5, 5)) * us, draw.pick("b", (12.5, 25, 50)) * GB)
    return [(n, r, *path) for n, r in zip(sizes, ranks, strict=True)] + [
        (sizes[0], 1, *path),
        ([0.0, 4 * KB, 1 * MB, 2 * GB], ranks[0], *path),
    ]


def _threshold_points(draw):
    points = []
    for i in range(12):
        ranks, alpha = (
            2 + int(1500 * draw.share(f"N {i}") ** 3),
            10 ** (-6.3 + 1.5 * draw.share(f"alpha {i}")),
        )
        points.append(
            {
                "t": _steps(ranks) * alpha * (1.2 + 20 * draw.share(f"t {i}")),
                "N": ranks,
                "alpha": alpha,
                "beta": 10 ** (9 + 2 * draw.share(f"beta {i}")),
            }
        )
    return points


def _halves(x, number):
    """Seconds of so many halves of a ring AllReduce, by the model, without start-ups."""
    return number * collectives.all_gather(2 * x.parameters, x.ranks, 0.0, x.rate)


EXERCISES = [
    Exercise(
        id="transport.ring",
        title="A ring AllReduce",
        chinese="环状 AllReduce 的时间",
        numbers=lambda draw: (
            _path(draw, alphas=(1.5, 2, 3, 5), rates=(200, 400))
            | {
                "size": draw.pick("size", (50, 100, 200, 400)) * MB,
                "ranks": draw.pick("ranks", (128, 256, 512, 1024)),
            }
        ),
        prompt=(
            "{ranks:,} ranks sum gradients of {size:B} each around a ring; every step has"
            " {says}. How long does the AllReduce take? This is the number a training "
            "step waits for."
        ),
        kind=Quantity(
            lambda x: collectives.ring_allreduce(x.size, x.ranks, x.alpha, x.beta),
            "time",
            slips=(
                Slip(
                    "forgot the 2",
                    "you went round once: reduce-scatter and all-gather each take N - 1 steps",
                    lambda x: collectives.ring_allreduce(x.size, x.ranks, x.alpha, x.beta) / 2,
                ),
                Slip(
                    "left out alpha",
                    "you left out the start-ups",
                    lambda x: collectives.ring_allreduce(x.size, x.ranks, 0.0, x.beta),
                ),
                Slip(
                    "one start-up",
                    "you paid one start-up; every step pays its own",
                    lambda x: x.alpha + collectives.ring_allreduce(x.size, x.ranks, 0.0, x.beta),
                ),
                Slip(
                    "whole buffer each step",
                    "you sent the whole buffer in every step; a step carries 1/N of it",
                    lambda x: _steps(x.ranks) * (x.alpha + x.size / x.beta),
                ),
                Slip(
                    BITS,
                    "you took the port's bits per second for bytes per second",
                    lambda x: collectives.ring_allreduce(x.size, x.ranks, x.alpha, 8 * x.beta),
                ),
            ),
        ),
        hints=(
            "How many steps are there, and how many bytes does each carry?",
            (
                "N - 1 steps to reduce and scatter, N - 1 to gather; each carries M/N bytes and"
                " pays α."
            ),
        ),
        moral="The bytes cost nearly the same for any N; the start-ups grow with N.",
        places={"says": _says},
    ),
    Exercise(
        id="transport.sharded",
        title="A step with sharded weights",
        chinese="ZeRO-3 的通信时间",
        numbers=lambda draw: {
            "parameters": draw.pick("parameters", (7, 13, 34, 70)) * 1e9,
            "ranks": draw.pick("ranks", (8, 16, 32, 64)),
            "rate": draw.pick("rate", (200, 400, 800)) * Gbps,
        },
        prompt=(
            "A model of {parameters:,.0f} parameters, two bytes each, is sharded over {ranks} "
            "ranks with a port of {rate:b/s} each (ZeRO-3): weights are gathered for the "
            "forward pass and again for the backward pass, gradients are scattered as sums. "
            "All are rings; leave start-ups out. How long do they take in a step?"
        ),
        kind=Quantity(
            lambda x: _halves(x, 3),
            "time",
            tolerance=0.005,
            slips=(
                Slip(
                    "an AllReduce",
                    "that is one AllReduce: it has two halves, and here there are three",
                    lambda x: _halves(x, 2),
                ),
                Slip(
                    "three AllReduces",
                    "you took each for a whole AllReduce; each is a half",
                    lambda x: _halves(x, 6),
                ),
                Slip(
                    "whole buffer each",
                    "you sent the whole buffer each time; a rank keeps its own part",
                    lambda x: 3 * 2 * x.parameters / x.rate,
                ),
                Slip(
                    BITS,
                    "you took the port's bits per second for bytes per second",
                    lambda x: _halves(x, 3) / 8,
                ),
            ),
        ),
        hints=(
            "An AllReduce is a ReduceScatter and an AllGather. How many such halves are here?",
            "Each half takes (N - 1)/N · M/β.",
        ),
        moral="Half as much again as plain data parallelism, for 1/N of the memory.",
    ),
    Exercise(
        id="transport.threshold",
        title="The largest payload that hides behind compute",
        chinese="瓶颈阈值",
        numbers={},
        prompt=(
            "N ranks run a ring AllReduce on a path with α and β while a compute phase of"
            " t seconds goes on. Derive the largest payload M whose AllReduce is over "
            "when the phase is, for phases longer than the start-ups. A title in the "
            "chapter promises this threshold; its text does not print it."
        ),
        kind=Formula(
            ("t", "N", "alpha", "beta"),
            lambda t, N, alpha, beta: collectives.hidden_payload(t, N, alpha, beta),
            _threshold_points,
            slips=(
                (
                    "left out alpha",
                    "you left out the start-ups",
                    lambda t, N, alpha, beta: collectives.hidden_payload(t, N, 0.0, beta),
                ),
                (
                    "one start-up",
                    "you paid one start-up; every step pays its own",
                    lambda t, N, alpha, beta: collectives.hidden_payload(t - alpha, N, 0.0, beta),
                ),
                (
                    "forgot the 2",
                    "you went round once: reduce-scatter and all-gather each take N - 1 steps",
                    lambda t, N, alpha, beta: (t - (N - 1) * alpha) * beta * N / (N - 1),
                ),
                (
                    "took N as endless",
                    "you took N as endless in (N - 1)/N",
                    lambda t, N, alpha, beta: (t - _steps(N) * alpha) * beta / 2,
                ),
            ),
            answer="N*beta*(t/(2*(N - 1)) - alpha)",
        ),
        hints=(
            "Write the ring's time 2 (N-1)/N M/β + 2 (N-1) α and set it equal to t.",
            "sympy.solve(sympy.Eq(ring, t), M) does the algebra.",
        ),
        moral=lambda x: (
            "For the chapter's phase of 101 ms, 1,024 ranks and NDR at 1.5 us it is"
            f" {si(collectives.hidden_payload(0.101, 1024, 1.5 * us, 400 * Gbps), 'B')}."
        ),
    ),
    Exercise(
        id="transport.write_ring",
        title="Write the ring",
        chinese="写出环状 AllReduce",
        numbers={},
        prompt=(
            "Write `ring(size, ranks, alpha, beta)`: the seconds a ring AllReduce takes. "
            "`size` is bytes and may be a numpy array, `beta` is bytes per second, and "
            "one rank has nothing to do. A model you wrote is one you can change."
        ),
        kind=Function(
            ("size", "ranks", "alpha", "beta"),
            collectives.ring_allreduce,
            _ring_inputs,
            "time",
            ("size", "number", "time", "rate"),
            slips=(
                (
                    "forgot the 2",
                    "you went round once: reduce-scatter and all-gather each take N - 1 steps",
                    lambda m, n, a, b: collectives.ring_allreduce(m, n, a, b) / 2,
                ),
                (
                    "left out alpha",
                    "you left out the start-ups",
                    lambda m, n, a, b: collectives.ring_allreduce(m, n, 0.0, b),
                ),
                (
                    "whole buffer each step",
                    "you sent the whole buffer in every step; a step carries 1/N of it",
                    lambda m, n, a, b: _steps(n) * (a + m / b),
                ),
            ),
        ),
        hints=(
            "Two terms: what the bytes cost, what the start-ups cost.",
            "Plain arithmetic works on numpy arrays as it is; an `if` on size does not.",
        ),
        moral="Four symbols and a page of network behind them.",
    ),
    Exercise(
        id="transport.order",
        title="Which algorithm wins here",
        chinese="算法选择",
        numbers={
            "size": pick(10 * KB, 1 * MB, 100 * MB),
            "ranks": pick(64, 256, 1024),
            "alpha": 1.5 * us,
            "beta": 400 * Gbps,
        },
        prompt=(
            "An AllReduce of {size:B} among {ranks:,} ranks, with {says}. The costs, with"
            " L = log2 N: ring 2(N-1) α + 2(N-1)/N M/β; tree (not pipelined) 2L (α + "
            "M/β); recursive doubling L (α + M/β); Rabenseifner 2L α + 2(N-1)/N M/β. "
            "Order them. A library chooses so on every call."
        ),
        kind=Ordering(
            lambda x: {
                name: cost(x.size, x.ranks, x.alpha, x.beta) for name, cost in ALGORITHMS.items()
            },
            "fastest",
        ),
        hints=(
            "Compare M/β with α first: which of the two is large here?",
            "Work out the four times; numbers settle it.",
        ),
        moral="The boundary moves with both M and N, so no single rule of thumb holds.",
        places={"says": _says},
    ),
    Exercise(
        id="transport.busbw",
        title="Bus bandwidth from a log line",
        chinese="总线带宽",
        numbers=_log,
        prompt=(
            "From an nccl-tests run of {collective} on {ranks} ranks; the last columns "
            "are torn off:\n\n```\n#       size     time\n#        (B)     (us)\n  "
            "{size:10.0f} {microseconds:8.0f}\n```\n\nWhat busbw would it have printed (the "
            "line is in `.size` and `.time` of this question, in SI)? It is the number to"
            " hold against a link's data sheet."
        ),
        kind=Quantity(
            lambda x: x.size / x.time * collectives.bus_factor(x.collective, x.ranks),
            "rate",
            slips=(
                Slip(
                    "algbw for busbw",
                    "you gave algbw, size over time; busbw counts what crosses each link",
                    lambda x: x.size / x.time,
                ),
                Slip(
                    "another collective's factor",
                    "you took another collective's factor",
                    lambda x: (
                        x.size
                        / x.time
                        * collectives.bus_factor(
                            "all_gather" if x.collective == "all_reduce" else "all_reduce", x.ranks
                        )
                    ),
                ),
            ),
        ),
        hints=(
            "algbw is size over time, in decimal GB/s.",
            (
                "busbw = algbw × what a link carries per byte of size; collectives.bus_factor knows"
                " it for each collective."
            ),
        ),
        moral="Whatever the rank count, it should stay just below what one link can do.",
        places={"microseconds": lambda x: x.time / us},
    ),
]
