"""The exercises on the field guide: tiers and bases, busbw, NCCL's settings and its log, hours
without a failure, an hourly checkpoint.

The lists numbers are drawn from are part of what students were given: add exercises, but do not
change these lists.
"""

from fabriclab import catalog, nccl, reliability
from fabriclab.collectives import bus_factor
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.kinds import Choice, Option, Ordering, Quantity
from fabriclab.course.engine.exercises.slips import BINARY, BITS, BOTH_WAYS, Slip
from fabriclab.course.engine.exercises.template import pick
from fabriclab.units import GB, Gbps, GiB, day, hour, ms

SETTINGS = {
    "low latency": {"NCCL_PROTO": "LL"},
    "two channels": {"NCCL_MAX_NCHANNELS": "2"},
    "host memory": {"NCCL_P2P_LEVEL": "LOC"},
    "one adapter": {"NCCL_IB_HCA": "=mlx5_3"},
    "sockets": {"NCCL_IB_DISABLE": "1"},
}


def _lost(x, ways=2, sharing=8):
    """Bandwidth of a GPU inside the node over what it has outside, one way."""
    return x.both / ways / (x.ports * x.port / sharing)


def _busbw_share(x, factor=None, ways=2):
    return (
        x.size
        / x.time
        * (bus_factor("all_reduce", 8) if factor is None else factor)
        / (x.both / ways)
    )


def _a_run(draw):
    size, share = (
        draw.pick("size", (1, 2, 4, 8)) * GiB,
        draw.pick("share", (0.58, 0.66, 0.74, 0.82, 0.91)),
    )
    time = size * bus_factor("all_reduce", 8) / (share * catalog.H100.nvlink.per_direction)
    return {
        "size": size,
        "time": round(time / ms, 2) * ms,
        "both": catalog.H100.nvlink.both_directions,
    }


def _a_list(draw):
    return {
        "gpu": draw.pick("gpu", (40, 50, 60)),
        "flaps": draw.pick("flaps", (5, 8, 10)),
        "power": draw.pick("power", (8, 10, 12)),
    }


def _in_all(x):
    return x.gpu + x.flaps + x.power


def _list_words(x):
    return (
        f"A list for 100,000 GPUs, per day: {x.gpu} GPUs fail, {x.flaps} links flap, {x.power}"
        " power supplies or fans go"
    )


def _free(x, a_day, period=hour):
    return reliability.failure_free(a_day / 1e5 / day, x.gpus, period)


def _none_in_all(x):
    return reliability.failure_free(_in_all(x) / day, 1, hour)


def _fleet(x, factor=2.0):
    """GPUs at which Young's interval is an hour: M = tau^2 / (2 C)."""
    return factor * x.cost / hour**2 * day * 1e5 / _in_all(x)


EXERCISES = [
    Exercise(
        id="guide.tiers",
        title="What leaving the node costs",
        chinese="跨层带宽",
        numbers={
            "both": pick(600, 900, 1800, unit=GB),
            "port": pick(200, 400, 800, unit=Gbps),
            "ports": pick(2, 4),
        },
        prompt=(
            "A node of eight GPUs. A data sheet gives each GPU {both:B/s} of NVLink. The "
            "node has {ports} ports of {port:b/s}, and its GPUs share them evenly. By "
            "what factor is a GPU's bandwidth to the next node smaller than to its "
            "neighbour, like for like? The field guide's rule says five to ten a tier."
        ),
        kind=Quantity(
            _lost,
            "number",
            tolerance=0.005,
            slips=(
                Slip(
                    BOTH_WAYS,
                    "you set NVLink's total, both directions together, against a port's rate, which"
                    " is one",
                    lambda x: _lost(x, ways=1),
                ),
                Slip(BITS, "you divided by a port's bits", lambda x: _lost(x) / 8),
                Slip(
                    "a port each",
                    "you gave every GPU a port of its own",
                    lambda x: _lost(x, sharing=x.ports),
                ),
            ),
        ),
        hints=(
            (
                "Data sheets count NVLink in both directions together. Which of the two numbers"
                " must change?"
            ),
            "What has the whole node one way, in bytes a second, and what is a GPU's part of it?",
        ),
        moral="With a port a GPU an H100 loses a factor of nine. Shared ports are why rails came.",
    ),
    Exercise(
        id="guide.busbw",
        title="1,500 GB/s of busbw",
        chinese="节点内 busbw",
        numbers=_a_run,
        prompt=(
            "The field guide expects about 1,500 GB/s of busbw from AllReduce inside a "
            "node of eight H100. You run all_reduce_perf on one: {gibibytes:g} GiB take "
            "{time:s}. NVLink is {both:B/s} a GPU on the data sheet. Which share of the "
            "most that a ring could show as busbw is this?"
        ),
        kind=Quantity(
            _busbw_share,
            "number",
            tolerance=0.005,
            slips=(
                Slip(
                    "algbw",
                    "you stopped at algbw, size over time; a ring carries each byte nearly twice",
                    lambda x: _busbw_share(x, factor=1.0),
                ),
                Slip(
                    BOTH_WAYS,
                    "you took both directions of NVLink for what a ring can send; each link of it"
                    " sends one way",
                    lambda x: _busbw_share(x, ways=1),
                ),
                Slip(BINARY, "you took a GiB for 10^9 bytes", lambda x: _busbw_share(x) * GB / GiB),
                Slip(
                    "twice",
                    "you took twice algbw for busbw; the factor is 2(n-1)/n",
                    lambda x: _busbw_share(x, factor=2.0),
                ),
            ),
        ),
        hints=(
            "algbw is size over time. What is the factor to busbw for AllReduce on n ranks?",
            "A perfect ring shows the rate of its links as busbw: one direction.",
        ),
        moral=(
            "So no ring on H100s shows more than 450 GB/s. With the switches adding up 480 was"
            " measured; 1,500 is three times too high."
        ),
        places={"gibibytes": lambda x: x.size / GiB},
    ),
    Exercise(
        id="guide.settings",
        title="Five settings and what they cost",
        chinese="NCCL 环境变量",
        numbers={"size": pick(2, 4, 16, unit=GB), "nodes": pick(4, 8, 16)},
        prompt=(
            "An AllReduce of {size:B} on {nodes} DGX H100, eight ports of 400 Gb/s each. "
            "Five times somebody set one variable: NCCL_PROTO=LL (*low latency*), "
            "NCCL_MAX_NCHANNELS=2 (*two channels*), NCCL_P2P_LEVEL=LOC (*host memory*: "
            "GPUs of a node talk through it, over PCIe 5), NCCL_IB_HCA==mlx5_3 (*one "
            "adapter*), NCCL_IB_DISABLE=1 (*sockets*: 30 Gb/s). Order them by the time of"
            " that AllReduce, by NCCL's own table."
        ),
        kind=Ordering(
            lambda x: {
                name: nccl.allreduce_time(x.size, x.nodes, nccl.settings(variables))
                for name, variables in SETTINGS.items()
            },
            "fastest",
            "for a buffer this large only bandwidth counts; what is left of 400 GB/s at the"
            " narrowest place in each case?",
        ),
        hints=(
            "LL sends a flag of four bytes with every four of data. Across more than two nodes with"
            " Intel CPUs NCCL's table (2.27) expects 20.4 GB/s of it at most.",
            "A channel leaves its node by one port. And inside, a channel moves some 37 GB/s.",
        ),
        moral="None of the five is told by an error message: only busbw, and the log, show them.",
    ),
    Exercise(
        id="guide.log",
        title="A log explains a number",
        chinese="NCCL 日志",
        numbers={"adapter": pick(0, 2, 3, 5, 7), "nodes": pick(2, 4, 8)},
        prompt=(
            "{nodes} nodes of eight H100 with eight adapters each reach 48 GB/s of busbw,"
            " where others reach 380. Their logs (NCCL_DEBUG=INFO) say on every rank"
            "\n\n    NET/IB : Using [0]mlx5_{adapter}:1/IB [RO]; OOB eth0:10.0.0.1<0>\n    "
            "Channel 05/0 : 7[7] -> 8[0] [send] via NET/IB/0/GDRDMA\n    Channel 05/0 : "
            "6[6] -> 7[7] via P2P/CUMEM/read\n\nWhat explains the number?"
        ),
        kind=Choice(
            (
                Option(
                    "NCCL_IB_HCA names one adapter only",
                    'The list after "Using" holds one adapter of eight: all else follows from it,'
                    " and an eighth of the bandwidth with it.",
                    right=True,
                    also=("NCCL_IB_HCA leaves one adapter of eight",),
                ),
                Option(
                    "NCCL_IB_DISABLE=1 has turned InfiniBand off",
                    "Then the log would say NET/Socket, and busbw would be that of TCP, a few"
                    " GB/s.",
                ),
                Option(
                    "GPU Direct RDMA is missing, and all goes through host memory",
                    "What ends in /GDRDMA has it.",
                ),
                Option(
                    "NCCL_P2P_LEVEL=LOC keeps the GPUs of a node off NVLink",
                    "Inside the node the log says P2P. With LOC it would say SHM, and the network"
                    " would use all of its adapters.",
                ),
                Option(
                    "NCCL_MAX_NCHANNELS=1 leaves one channel of sixteen",
                    "There is a channel 05. And with one channel NCCL would still list all eight"
                    " adapters: it finds them before it uses them.",
                ),
            )
        ),
        hints=(
            'What does NCCL list after "Using", and what would it list on a healthy node?',
            "380 over 48 is nearly eight.",
        ),
        moral="`fabriclab read` says so too. Compare the list with what ibstat shows.",
    ),
    Exercise(
        id="guide.hour",
        title="An hour without a failure",
        chinese="无故障的一小时",
        numbers=lambda draw: {
            "gpus": draw.pick("gpus", (8192, 16_384, 24_576, 32_768)),
            **_a_list(draw),
        },
        prompt=(
            "{list_words}. Each of them stops a job that spans all GPUs. For a job on "
            "{gpus:,} such GPUs, which share of its hours passes without any of it? "
            "(Failures come at random and independently.)"
        ),
        kind=Quantity(
            lambda x: _free(x, _in_all(x)),
            "number",
            tolerance=0.005,
            slips=(
                Slip(
                    "whole list",
                    "you took the list as it stands; it is for 100,000 GPUs",
                    lambda x: reliability.failure_free(_in_all(x) / day, 1, hour),
                ),
                Slip(
                    "one minus",
                    "you subtracted the mean number of failures from one; an hour may have two",
                    lambda x: (
                        1 - reliability.expected_failures(_in_all(x) / 1e5 / day, x.gpus, hour)
                    ),
                ),
                Slip(
                    "GPUs alone",
                    "you counted the GPUs' own failures only; any of these stops the job",
                    lambda x: _free(x, x.gpu),
                ),
                Slip(
                    "a day",
                    "you gave days without a failure, not hours",
                    lambda x: _free(x, _in_all(x), day),
                ),
            ),
        ),
        hints=(
            "How many failures does an hour of this job have on average?",
            "The chance of none, where the mean is m, is exp(-m).",
        ),
        moral=lambda x: (
            f"At 100,000 GPUs {100 * _none_in_all(x):.2g} % of hours are left:"
            ' "a checkpoint every hour" would then lose all the others.'
        ),
        places={"list_words": _list_words},
    ),
    Exercise(
        id="guide.hourly",
        title="How large a job may save every hour",
        chinese="每小时检查点",
        numbers=lambda draw: {"cost": draw.pick("cost", (20, 30, 45, 90)) * 1.0, **_a_list(draw)},
        prompt=(
            "{list_words}, and each stops the job. A checkpoint takes {cost:s}. The field"
            ' guide saves "every hour". For how many GPUs is an hour the best interval, '
            "by Young's rule?"
        ),
        kind=Quantity(
            _fleet,
            "number",
            tolerance=0.01,
            slips=(
                Slip(
                    BOTH_WAYS,
                    "you left out the 2 under Young's root; half an interval is lost to a failure,"
                    " not all of it",
                    lambda x: _fleet(x, factor=1.0),
                ),
                Slip(
                    "an hour between failures",
                    "you asked when failures come an hour apart; the best interval is far shorter"
                    " than that",
                    lambda x: 24e5 / _in_all(x),
                ),
                Slip(
                    "GPUs alone",
                    "you counted the GPUs' own failures only; any of these stops the job",
                    lambda x: _fleet(x) * _in_all(x) / x.gpu,
                ),
            ),
        ),
        hints=(
            "tau = sqrt(2 C M). Which M has an hour for its tau?",
            (
                "M shrinks with the number of GPUs. At 100,000 it is a day over all failures of the"
                " list."
            ),
        ),
        moral=(
            "An hour suits a job of about a thousand GPUs. At 100,000 it is some six minutes for a"
            " checkpoint of one."
        ),
        places={"list_words": _list_words},
    ),
]
