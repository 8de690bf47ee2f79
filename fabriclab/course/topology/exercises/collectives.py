"""Exercises of level 3: what collectives need."""

from functools import cache

import numpy as np

from fabriclab import topology
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.formula import Formula
from fabriclab.course.engine.exercises.function import Function
from fabriclab.units import GB, MB, TB


@cache
def _leaf_cut(leaves, down, up):
    """Cables that one leaf's hosts have towards all others, by maximum flow."""
    network = topology.leaf_spine(leaves, 1, down, up, radix=10_000, bandwidth=1.0)
    return topology.flow(network, range(down), range(down, network.hosts))


def _leaf_alltoall(M, N, d, r, beta):
    return d * (N - d) / N * M / (_leaf_cut(round(N / d), d, round(d / r)) * beta)


def _leaf_points(draw):
    points = []
    for i in range(12):
        d, r = draw.pick(f"d {i}", (8, 16, 32, 48)), draw.pick(f"r {i}", (1, 2, 4, 8))
        points.append(
            {
                "M": 10 ** (6 + 5 * draw.share(f"M {i}")),
                "N": d * draw.pick(f"leaves {i}", (2, 3, 8, 20, 64)),
                "d": d,
                "r": r,
                "beta": 10 ** (9 + 2 * draw.share(f"beta {i}")),
            }
        )
    return points


def _floor(size, ranks, bandwidth, cut):
    return np.maximum(
        topology.allreduce_port_bound(size, ranks, bandwidth),
        topology.allreduce_ring_cut_bound(size, ranks, cut),
    )


def _floor_inputs(draw):
    """Fabrics whose ports decide, fabrics whose cut does, one rank, and an array of sizes."""
    given = []
    for i, narrow in enumerate((False, True, False, True, False)):
        beta = draw.pick(f"beta {i}", (12.5, 25, 50, 100)) * GB
        cut = beta * draw.pick(f"cut {i}", (0.2, 0.5, 0.8) if narrow else (2, 16, 128))
        given.append(
            (
                draw.pick(f"size {i}", (5 * MB, 350 * MB, 6 * GB, 100 * GB)),
                draw.pick(f"ranks {i}", (2, 3, 16, 1024)),
                beta,
                cut,
            )
        )
    return given + [
        (1 * GB, 1, 50 * GB, 25 * GB),
        (
            [0.0, 1 * MB, 6 * GB, 100 * GB],
            512,
            50 * GB,
            draw.pick("last", (0.02, 0.04, 6.4, 25.6)) * TB,
        ),
    ]


EXERCISES = [
    Exercise(
        id="topology.floor",
        title="Write what a ring cannot beat",
        chinese="环状 AllReduce 的下界",
        numbers={},
        prompt=(
            "Write `floor(size, ranks, bandwidth, cut)`: the seconds that an AllReduce "
            "along a ring takes at least, start-ups aside. Every rank sends through a "
            "port of `bandwidth`; the ring crosses a bisection of `cut` bytes per second "
            "once in each direction. `size` is what each rank holds, and may be an array."
            " The slower of the two decides."
        ),
        kind=Function(
            ("size", "ranks", "bandwidth", "cut"),
            _floor,
            _floor_inputs,
            "time",
            ("size", "number", "rate", "rate"),
            slips=(
                (
                    "every buffer across",
                    (
                        "you sent every buffer of one half across, as Napkin Math 1.3 does; over"
                        " one cable of the ring go 2(N-1)/N of one buffer"
                    ),
                    lambda m, n, b, c: np.maximum(
                        topology.allreduce_port_bound(m, n, b),
                        topology.every_buffer_across(m, n, c),
                    ),
                ),
                (
                    "the faster of the two",
                    "you let the faster of the two decide",
                    lambda m, n, b, c: np.minimum(
                        topology.allreduce_port_bound(m, n, b),
                        topology.allreduce_ring_cut_bound(m, n, c),
                    ),
                ),
                (
                    "ports alone",
                    "you looked at the ports alone",
                    lambda m, n, b, c: topology.allreduce_port_bound(m, n, b),
                ),
                (
                    "cut alone",
                    "you looked at the cut alone",
                    lambda m, n, b, c: topology.allreduce_ring_cut_bound(m, n, c),
                ),
                (
                    "forgot the 2",
                    (
                        "you went round once: reduce-scatter and all-gather each send (N-1)/N of"
                        " the buffer"
                    ),
                    lambda m, n, b, c: _floor(m, n, b, c) / 2,
                ),
                (
                    "both, one after the other",
                    "you added the two; they go on at the same time",
                    lambda m, n, b, c: (
                        topology.allreduce_port_bound(m, n, b)
                        + topology.allreduce_ring_cut_bound(m, n, c)
                    ),
                ),
            ),
        ),
        hints=(
            "What does each rank send in all? So does the rank whose cable crosses the cut.",
            "numpy.maximum takes arrays; max does not. Or divide by the smaller of two numbers.",
        ),
        moral="A ring feels the cut only where it is narrower than one port.",
    ),
    Exercise(
        id="topology.alltoall",
        title="Where an AllToAll hurts",
        chinese="AllToAll 与叶交换机上行",
        numbers={},
        prompt=(
            "N ranks fill whole leaves of d hosts. A leaf has d hosts' cables of β bytes "
            "per second and d/r uplinks of the same kind. In an AllToAll each rank has a "
            "buffer of M bytes, a piece of M/N for every rank; its own stays where it is."
            " Derive the time that one leaf's uplinks need at least. Hold it against "
            "(N-1)/N M/β, what a port needs."
        ),
        kind=Formula(
            ("M", "N", "d", "r", "beta"),
            _leaf_alltoall,
            _leaf_points,
            slips=(
                (
                    "all of it leaves",
                    "you sent all of it up; part of it is for the leaf's own hosts",
                    lambda M, N, d, r, beta: r * M / beta,
                ),
                (
                    "without itself",
                    "you cut M into a piece for each of the others; a buffer has one for oneself,"
                    " too, as nccl-tests counts it",
                    lambda M, N, d, r, beta: r * M * (N - d) / (N - 1) / beta,
                ),
                (
                    "forgot r",
                    "you gave the leaf as many uplinks as hosts",
                    lambda M, N, d, r, beta: M * (N - d) / N / beta,
                ),
                (
                    "one rank's bytes",
                    "you sent one rank's bytes; all d of them share the uplinks",
                    lambda M, N, d, r, beta: _leaf_alltoall(M, N, d, r, beta) / d,
                ),
                (
                    "the middle cut",
                    "you took the cut through the middle; this asks for the uplinks of one leaf",
                    lambda M, N, d, r, beta: r * M / 2 / beta,
                ),
            ),
            answer="(N - d)*M/N * r/beta",
        ),
        hints=(
            "How many of a rank's N - 1 partners sit on other leaves?",
            "d ranks share d/r uplinks.",
        ),
        moral=(
            "For many leaves it tends to r M/β: here, at the leaves and not in the middle, 4:1"
            " means four times as long."
        ),
    ),
]
