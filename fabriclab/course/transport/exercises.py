"""The exercises on level 2: transport and the alpha-beta model. Keys are calls to `transport` and
`collectives`.

The lists numbers are drawn from are part of what students were given: add exercises, but do not
change these lists.
"""

import numpy as np

from fabriclab import collectives, transport
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.formula import Formula
from fabriclab.course.engine.exercises.function import Function
from fabriclab.course.engine.exercises.kinds import Choice, Free, Option, Ordering, Quantity
from fabriclab.course.engine.exercises.slips import BITS, BOTH_WAYS, Slip
from fabriclab.units import GB, KB, MB, Gbps, si, us

ALGORITHMS = {
    "ring": collectives.ring_allreduce,
    "tree": collectives.tree_allreduce,
    "recursive doubling": collectives.recursive_doubling_allreduce,
    "Rabenseifner": collectives.rabenseifner_allreduce,
}


def _path(draw, alphas=(1.5, 2, 2.5, 3, 4, 5), rates=(100, 200, 400, 800)):
    return {"alpha": draw.pick("alpha", alphas) * us, "beta": draw.pick("beta", rates) * Gbps}


def _says(x):
    """A path in words; the rate in bits, as ports are sold."""
    return f"α = {si(x.alpha, 's')} and β = {si(x.beta, 'b/s')} one way"


def _steps(n):
    return 2 * (n - 1)


def _measured(draw):
    """A small benchmark: a path, seen through half a percent of noise and four printed digits."""
    alpha, beta = (
        draw.pick("alpha", (2, 2.5, 3, 4, 5, 6)) * us,
        draw.pick("beta", (12.5, 25, 50)) * GB,
    )
    sizes = [16 * KB, 64 * KB, 256 * KB, 1 * MB, 4 * MB, 16 * MB, 64 * MB]
    noise = [1 + 0.005 * (2 * draw.share(f"noise {i}") - 1) for i in range(len(sizes))]
    return {
        "sizes": sizes,
        "times": [
            float(f"{transport.transfer_time(n, alpha, beta) * e:.4g}")
            for n, e in zip(sizes, noise, strict=True)
        ],
    }


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


EXERCISES = [
    Exercise(
        id="transport.protocol",
        title="Checkpoint 1.1: which transport for which message",
        chinese="协议选型",
        numbers=lambda draw: {
            "gpus": draw.pick("gpus", (512, 1024, 2048, 4096)),
            "gradient": draw.pick("gradient", (2, 4, 6, 8)) * GB,
        },
        prompt=lambda x: (
            f"A cluster of {x.gpus:,} GPUs trains a language model (gradient messages of"
            f" {si(x.gradient, 'B')}) beside reinforcement learning (control messages of a few"
            " hundred bytes, thousands a second). Which plan fits, for the right reason?"
        ),
        kind=Choice(
            (
                Option(
                    "RDMA for both: the gradients ask for its bandwidth, the control messages for"
                    " its start-up time",
                    "Gigabytes lie far above the crossover and live on β; hundreds of bytes lie far"
                    " below it and live on α. InfiniBand and RoCE can both serve, if a lost packet"
                    " costs a bounded time.",
                    right=True,
                    also=(
                        "RDMA for both, judged by β for the gradients, and by α and the cost of a"
                        " loss for the small messages",
                    ),
                ),
                Option(
                    "RDMA for the gradients, kernel TCP for the control messages, which at a few"
                    " hundred bytes are too small for RDMA to matter",
                    "Small is just where the start-up time is everything, and kernel TCP's is tens"
                    " of microseconds against a few.",
                ),
                Option(
                    "InfiniBand for both, because RDMA over Ethernet cannot recover when 1 packet"
                    " in 10^6 is lost",
                    "Reliable RDMA transports find a loss and send again on either network."
                    " Lossless Ethernet is one way to keep that rare, not a condition of RDMA.",
                ),
                Option(
                    "The fastest ports on sale for both, because every message gets quicker in"
                    " proportion: twice the rate, half the time",
                    "Only messages far above the crossover do. Twice the bandwidth saves a message"
                    " of a few hundred bytes next to nothing.",
                ),
            )
        ),
        hints=(
            "Put both message sizes beside the crossover α β of a path you know, about 75 KB.",
            "Which term of α + n/β can each plan make smaller?",
        ),
    ),
    Exercise(
        id="transport.fabric",
        title="Checkpoint 1.1: one fabric for all",
        chinese="共享互连结构",
        numbers=lambda draw: {"gpus": draw.pick("gpus", (512, 1024, 2048, 4096))},
        prompt=lambda x: (
            f"The same cluster of {x.gpus:,} GPUs. (a) What must be set up and watched for RoCE"
            " with PFC, for RoCE without PFC, and for InfiniBand with its credits? (b) Now"
            " inference for outside users shall share the network. What do you change, and what"
            " would you measure first? Purchases are decided by arguments like this one."
        ),
        kind=Free(least_words=40, worth=8),
        hints=(
            (
                "For each fabric: what keeps a full buffer from dropping packets, and what happens"
                " if it drops one all the same?"
            ),
            (
                "Inference cares about the slowest few requests in a thousand. What does a burst of"
                " gradients do to them?"
            ),
        ),
    ),
    Exercise(
        id="transport.crossover",
        title="Where start-up and bytes take equal time",
        chinese="交叉点",
        numbers=_path,
        prompt=lambda x: (
            f"A path has {_says(x)}. At what message size n* do the two terms of T(n) = α + n/β"
            " take equal time? It tells you which half of a path is worth paying for."
        ),
        kind=Quantity(
            lambda x: transport.crossover(x.alpha, x.beta),
            "size",
            slips=(
                Slip(
                    "divided by beta",
                    "you divided by the bandwidth where the size wants a product",
                    lambda x: x.alpha / x.beta,
                ),
            ),
        ),
        hints=(
            "Write down the two terms and set them equal.",
            (
                "Ports are sold in bits per second. The `.beta` of this question is in bytes per"
                " second already."
            ),
        ),
        moral="Below it a faster port buys little; above it a shorter start-up buys little.",
    ),
    Exercise(
        id="transport.time",
        title="One message, one path",
        chinese="传输时间",
        numbers=lambda draw: (
            _path(draw, rates=(100, 200, 400))
            | {"size": draw.pick("size", (60, 90, 150, 240, 300)) * KB}
        ),
        prompt=lambda x: (
            f"A message of {si(x.size, 'B')} crosses a path with {_says(x)}. How long does it take?"
            " At this size neither term can be left out."
        ),
        kind=Quantity(
            lambda x: transport.transfer_time(x.size, x.alpha, x.beta),
            "time",
            slips=(
                Slip("left out alpha", "you left out the start-up time", lambda x: x.size / x.beta),
                Slip(
                    "left out the bytes", "you left out the time the bytes take", lambda x: x.alpha
                ),
                Slip(
                    BITS,
                    "you took the port's bits per second for bytes per second",
                    lambda x: x.alpha + x.size / (8 * x.beta),
                ),
            ),
        ),
        hints=(
            "T(n) = α + n/β. Work out each term in microseconds.",
            "A port of 100 Gb/s moves 12.5 GB/s.",
        ),
        moral="Most real messages of a pipeline live near here, where both terms count.",
    ),
    Exercise(
        id="transport.break_even",
        title="Two paths, and the size that decides",
        chinese="盈亏平衡点",
        numbers=lambda draw: {
            "alpha": draw.pick("alpha", (1, 1.5, 2, 3)) * us,
            "beta": draw.pick("beta", (8, 10, 12.5, 16)) * GB,
            "other_alpha": draw.pick("other alpha", (6, 8, 10, 12)) * us,
            "other_beta": draw.pick("other beta", (40, 50, 100)) * GB,
        },
        prompt=lambda x: (
            f"Path A starts in {si(x.alpha, 's')} and carries {si(x.beta, 'B/s')}; path B starts in"
            f" {si(x.other_alpha, 's')} and carries {si(x.other_beta, 'B/s')}. From what message"
            " size on is B the quicker? Libraries hold such thresholds to pick a path for each"
            " message."
        ),
        kind=Quantity(
            lambda x: transport.break_even(x.alpha, x.beta, x.other_alpha, x.other_beta),
            "size",
            slips=(
                Slip(
                    "bytes free on the fast path",
                    "you let the bytes on path B cost nothing",
                    lambda x: (x.other_alpha - x.alpha) * x.beta,
                ),
                Slip(
                    "subtracted bandwidths",
                    "you subtracted the bandwidths; what differs is the time per byte, 1/β",
                    lambda x: (x.other_alpha - x.alpha) * (x.other_beta - x.beta),
                ),
            ),
        ),
        hints=(
            "Set the two times equal and solve for n.",
            "B starts later by a fixed time, and wins back a fixed time with every byte.",
        ),
        moral="One path is seldom the better at every size.",
    ),
    Exercise(
        id="transport.fit",
        title="α from a benchmark",
        chinese="拟合 α 与 β",
        numbers=_measured,
        prompt=lambda x: (
            "A benchmark gave these times (as `.sizes` and `.times` of this question, in SI):\n\n|"
            " size | time |\n|---:|---:|\n"
            + "\n".join(
                f"| {si(n, 'B')} | {si(t, 's')} |" for n, t in zip(x.sizes, x.times, strict=True)
            )
            + "\n\nWhat is the path's α? Whoever can read it from a log need not trust a data"
            " sheet."
        ),
        kind=Quantity(
            lambda x: transport.fit(x.sizes, x.times).alpha,
            "time",
            tolerance=0.05,
            slips=(
                Slip(
                    "smallest time as alpha",
                    "you took the time of the smallest message, which holds the time of its"
                    " bytes too",
                    lambda x: x.times[0],
                ),
                Slip(
                    "unweighted fit",
                    "you fitted absolute errors: then the largest messages drown the smallest,"
                    " which alone know α",
                    lambda x: float(np.polyfit(x.sizes, x.times, 1)[1]),
                ),
            ),
        ),
        hints=(
            (
                "The largest message tells you β. What is left of the smallest message's time once"
                " its bytes are paid for?"
            ),
            "transport.fit weighs relative errors, so that each row counts the same.",
        ),
        moral="Times span decades, so errors must be weighed relative to them.",
    ),
    Exercise(
        id="transport.staging",
        title="The detour through host memory",
        chinese="主机内存暂存",
        numbers=lambda draw: {"size": draw.pick("size", (28, 52, 140, 260, 350)) * GB},
        prompt=lambda x: (
            f"A GPU sends a payload of {si(x.size, 'B')}. Without GPUDirect RDMA it is staged in"
            " host memory. How many bytes of host-memory traffic does that cost? Data loading"
            " needs that same memory."
        ),
        kind=Quantity(
            lambda x: transport.staging_traffic(x.size),
            "size",
            slips=(
                Slip(
                    BOTH_WAYS,
                    "you counted the way into host memory, and not the way out of it again",
                    lambda x: x.size,
                ),
            ),
        ),
        hints=("Follow one byte from the GPU to the NIC: how often does host memory see it?",),
        moral="With GPUDirect it is none, though the payload still crosses PCIe and the wire.",
    ),
    Exercise(
        id="transport.tail",
        title="One lost packet",
        chinese="Go-Back-N 恢复尾迹",
        numbers=lambda draw: {
            "size": draw.pick("size", (1, 2, 4)) * GB,
            "share": draw.pick("share", (0.6, 0.7, 0.8, 0.9, 0.95)),
            "beta": draw.pick("beta", (100, 200, 400)) * Gbps,
        },
        prompt=lambda x: (
            f"A transfer of {si(x.size, 'B')} at {si(x.beta, 'b/s')} loses one packet, the one at"
            f" offset {si(x.size * x.share, 'B')}. The NIC goes back N: all from the loss on is"
            " sent again (count it as all on its way already). How long does sending it again"
            " take? Every rank of the AllReduce waits for it."
        ),
        kind=Quantity(
            lambda x: transport.tail_go_back_n(x.size, x.size * x.share) / x.beta,
            "time",
            slips=(
                Slip(
                    "sent again what had arrived",
                    "you sent again what had arrived before the loss",
                    lambda x: x.size * x.share / x.beta,
                ),
                Slip(
                    "sent all again", "you sent the whole message again", lambda x: x.size / x.beta
                ),
                Slip(
                    "selective repeat",
                    "you sent one packet again: that is selective repeat",
                    lambda x: transport.tail_selective(x.size, x.size * x.share) / x.beta,
                ),
            ),
        ),
        hints=(
            "How many bytes lie behind the lost packet?",
            "Bytes over bytes per second; the port's rate is given in bits.",
        ),
        moral="Selective repeat would send one packet of 4 KiB again, in well under a microsecond.",
    ),
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
        prompt=lambda x: (
            f"{x.ranks:,} ranks sum gradients of {si(x.size, 'B')} each around a ring; every step"
            f" has {_says(x)}. How long does the AllReduce take? This is the number a training step"
            " waits for."
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
    ),
    Exercise(
        id="transport.threshold",
        title="The largest payload that hides behind compute",
        chinese="瓶颈阈值",
        numbers=lambda draw: {},
        prompt=lambda x: (
            "N ranks run a ring AllReduce on a path with α and β while a compute phase of t seconds"
            " goes on. Derive the largest payload M whose AllReduce is over when the phase is, for"
            " phases longer than the start-ups. A title in the chapter promises this threshold; its"
            " text does not print it."
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
        numbers=lambda draw: {},
        prompt=lambda x: (
            "Write `ring(size, ranks, alpha, beta)`: the seconds a ring AllReduce takes. `size` is"
            " bytes and may be a numpy array, `beta` is bytes per second, and one rank has nothing"
            " to do. A model you wrote is one you can change."
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
        numbers=lambda draw: {
            "size": draw.pick("size", (10 * KB, 1 * MB, 100 * MB)),
            "ranks": draw.pick("ranks", (64, 256, 1024)),
            "alpha": 1.5 * us,
            "beta": 400 * Gbps,
        },
        prompt=lambda x: (
            f"An AllReduce of {si(x.size, 'B')} among {x.ranks:,} ranks, with {_says(x)}. The"
            " costs, with L = log2 N: ring 2(N-1) α + 2(N-1)/N M/β; tree (not pipelined) 2L (α +"
            " M/β); recursive doubling L (α + M/β); Rabenseifner 2L α + 2(N-1)/N M/β. Order them."
            " A library chooses so on every call."
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
    ),
    Exercise(
        id="transport.busbw",
        title="Bus bandwidth from a log line",
        chinese="总线带宽",
        numbers=_log,
        prompt=lambda x: (
            f"From an nccl-tests run of {x.collective} on {x.ranks} ranks; the last columns are"
            f" torn off:\n\n```\n#       size     time\n#        (B)     (us)\n  {x.size:10.0f}"
            f" {x.time / us:8.0f}\n```\n\nWhat busbw would it have printed (the line is in `.size`"
            " and `.time` of this question, in SI)? It is the number to hold against a link's data"
            " sheet."
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
    ),
]
