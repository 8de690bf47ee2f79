"""Exercises of level 2: one message on one path."""

import numpy as np

from fabriclab import transport
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.kinds import Choice, Free, Option, Quantity
from fabriclab.course.engine.exercises.slips import BITS, BOTH_WAYS, Slip
from fabriclab.course.engine.exercises.template import pick
from fabriclab.course.transport.exercises.common import _path, _says
from fabriclab.units import GB, KB, MB, Gbps, si, us


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


EXERCISES = [
    Exercise(
        id="transport.protocol",
        title="Checkpoint 1.1: which transport for which message",
        chinese="协议选型",
        numbers={"gpus": pick(512, 1024, 2048, 4096), "gradient": pick(2, 4, 6, 8, unit=GB)},
        prompt=(
            "A cluster of {gpus:,} GPUs trains a language model (gradient messages of "
            "{gradient:B}) beside reinforcement learning (control messages of a few "
            "hundred bytes, thousands a second). Which plan fits, for the right reason?"
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
        numbers={"gpus": pick(512, 1024, 2048, 4096)},
        prompt=(
            "The same cluster of {gpus:,} GPUs. (a) What must be set up and watched for "
            "RoCE with PFC, for RoCE without PFC, and for InfiniBand with its credits? "
            "(b) Now inference for outside users shall share the network. What do you "
            "change, and what would you measure first? Purchases are decided by arguments"
            " like this one."
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
        prompt=(
            "A path has {says}. At what message size n* do the two terms of T(n) = α + "
            "n/β take equal time? It tells you which half of a path is worth paying for."
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
        places={"says": _says},
    ),
    Exercise(
        id="transport.time",
        title="One message, one path",
        chinese="传输时间",
        numbers=lambda draw: (
            _path(draw, rates=(100, 200, 400))
            | {"size": draw.pick("size", (60, 90, 150, 240, 300)) * KB}
        ),
        prompt=(
            "A message of {size:B} crosses a path with {says}. How long does it take? At "
            "this size neither term can be left out."
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
        places={"says": _says},
    ),
    Exercise(
        id="transport.break_even",
        title="Two paths, and the size that decides",
        chinese="盈亏平衡点",
        numbers={
            "alpha": pick(1, 1.5, 2, 3, unit=us),
            "beta": pick(8, 10, 12.5, 16, unit=GB),
            "other_alpha": pick(6, 8, 10, 12, unit=us, name="other alpha"),
            "other_beta": pick(40, 50, 100, unit=GB, name="other beta"),
        },
        prompt=(
            "Path A starts in {alpha:s} and carries {beta:B/s}; path B starts in "
            "{other_alpha:s} and carries {other_beta:B/s}. From what message size on is B"
            " the quicker? Libraries hold such thresholds to pick a path for each "
            "message."
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
        numbers={"size": pick(28, 52, 140, 260, 350, unit=GB)},
        prompt=(
            "A GPU sends a payload of {size:B}. Without GPUDirect RDMA it is staged in "
            "host memory. How many bytes of host-memory traffic does that cost? Data "
            "loading needs that same memory."
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
        numbers={
            "size": pick(1, 2, 4, unit=GB),
            "share": pick(0.6, 0.7, 0.8, 0.9, 0.95),
            "beta": pick(100, 200, 400, unit=Gbps),
        },
        prompt=(
            "A transfer of {size:B} at {beta:b/s} loses one packet, the one at offset "
            "{offset:B}. The NIC goes back N: all from the loss on is sent again (count "
            "it as all on its way already). How long does sending it again take? Every "
            "rank of the AllReduce waits for it."
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
        places={"offset": lambda x: x.size * x.share},
    ),
]
