"""Exercises of monitoring: incidents to tell apart."""

from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.kinds import Choice, Free, Option, Ordering
from fabriclab.course.engine.exercises.template import pick
from fabriclab.course.monitoring.exercises.common import EXPECTED
from fabriclab.logs import perfquery
from fabriclab.units import GB

STEPS = (
    "dcgmi dmon",
    "NCCL_DEBUG=INFO",
    "ib_write_bw",
    "show pfc counters",
    "mlxlink",
)  # of the chapter's workflow, one tool a step


_SITUATION = (
    "AllReduce at a third of its bandwidth, and of two pairs of the job one is as slow. The rest of"
    " what was measured, on the path of the slow pair:"
)


EXERCISES = [
    Exercise(
        id="monitoring.signs",
        title="Discards, and no receive errors",
        chinese="有丢弃而无接收错误",
        numbers=lambda draw: {
            "discards": 10 * draw.pick("discards", (231, 512, 1740)),
            "sends": draw.pick("sends", (96, 97, 98)),
            "pair": draw.pick("pair", (15, 16, 17)),
        },
        prompt=(
            "{situation}\n\n```\nswitch port, 10 s     sends {sends} % of its line, "
            "PortXmitDiscards +{discards:,}, PortXmitWait grows\nits errors            "
            "SymbolErrorCounter 0, PortRcvErrors 0, LinkDownedCounter 0\nib_write_bw"
            "           peak 47 GB/s, average {pair} GB/s\nthe same last night   47 GB/s\n"
            "mlxlink, both ends    4x NDR, no error after correction\n```\n\nWhich cause "
            "fits all of it?"
        ),
        kind=Choice(
            (
                Option(
                    "A degraded cable: packets are lost on this very link, and sending them again"
                    " fills the port",
                    "Damage shows at the receiver, as symbol and receive errors, and it does not go"
                    " home at night. A discard is a packet that could not *leave*.",
                ),
                Option(
                    "Another job's traffic on the same port: it is full, and our pair gets what"
                    " is left",
                    "The port is full and our pair has a third of it; peaks reach the whole rate,"
                    " and at night it had it. The rest is somebody else's.",
                    right=True,
                    also=(
                        "Another job's traffic: the port is full, and a third of it is left for"
                        " this pair",
                    ),
                ),
                Option(
                    "Two lanes of four are lost: the port is full at the 200 Gb/s that are left"
                    " to it",
                    "Then mlxlink would say 2x, the peak would be 24 GB/s, and the night no"
                    " better.",
                ),
                Option(
                    "Starved input: the ranks send late, so the average falls to a third, and the"
                    " peak does not",
                    "ib_write_bw reads no training data, and is as slow.",
                ),
            )
        ),
        hints=(
            "Where does a damaged packet count, and where one that found no room?",
            "How can a port be full while the pair over it gets a third?",
        ),
        moral=(
            "Average far below peak, a full port, no receive error: look for the neighbour, and not"
            " for a cable."
        ),
        places={"situation": lambda x: _SITUATION},
    ),
    Exercise(
        id="monitoring.flat",
        title="A flat line",
        chinese="监控曲线为何是平的",
        numbers={"every": pick(10, 20, 30), "ports": pick(96, 256, 512)},
        prompt=(
            "A home-made monitor reads and *clears* the counters of {ports} ports of 400 "
            "Gb/s every {every} s. While training runs, all of them show {wrap_rate:b/s},"
            " to the last digit, hour after hour. NCCL's bus bandwidth is as its model "
            "has it. What is it?"
        ),
        kind=Choice(
            (
                Option(
                    "The job is limited by its input, and sends just that much in each interval,"
                    " on every port alike",
                    "Its AllReduce would still come in bursts, and never to the last digit alike on"
                    " every port.",
                ),
                Option(
                    "The plain 32-bit counters are full at every reading",
                    "4 B × 2^32 over the interval is that number. Read the extended counters.",
                    right=True,
                    also=("The plain 32-bit counters stop at their limit each time",),
                ),
                Option(
                    "A rate limit of the tenant's virtual function on every port, which cuts all"
                    " bursts at one height",
                    "A cap is a possible flat line. But it would bind NCCL as well, and would"
                    " hardly be 2^34 bytes an interval.",
                ),
                Option(
                    "All links have come up with one lane of four, and are full",
                    "One NDR lane is 100 Gb/s, and NCCL would be at a quarter.",
                ),
            )
        ),
        hints=(
            "Multiply the rate by the interval. Do you know that number of bytes?",
            "Which unit, and how many bits, has the plain counter?",
        ),
        moral=(
            "A line that is *too* flat is an instrument at its stop. The network was well all"
            " along."
        ),
        places={"wrap_rate": lambda x: perfquery.WORD * 2**32 / x.every},
    ),
    Exercise(
        id="monitoring.incident",
        title="An incident, and the next measurement",
        chinese="事件诊断与下一步测量",
        numbers={},
        prompt=(
            "Incident `10-willow`. Beside this notebook, "
            '`diagnosis.diagnose("../notebooks/incidents/10-willow")` walks its files; '
            "run it in a new cell if you like. What it reads:\n\n```\nstep"
            "                     4.26 s before, 7.25 s now\nall_reduce, 16 ranks     33 %"
            " of what healthy ports give\nib_write_bw, one pair    -q 1:  15.99 GB/s, "
            "steady\n                         -q 16: 47.8 GB/s\nib_write_bw, another     -q"
            " 1:  47.8 GB/s\nethtool                  rx_prio3_pause 10,943, no discards\n"
            "mlxlink                  4 lanes, 400G, clean\n```\n\nWhich cause, and which "
            "measurement next?"
        ),
        kind=Choice(
            (
                Option(
                    "A degraded link, where one flow alone meets the bad lane; next, `mlxlink` at"
                    " both ends, and a new cable",
                    "The same cable carries 47.8 GB/s as soon as 16 queue pairs share the work, and"
                    " mlxlink calls it clean: it can, so it is not the cable.",
                ),
                Option(
                    "Flows that share one path by an unlucky hash; next, `-q 1` again, with other"
                    " ports in the hash",
                    "One flow gets a third, 16 get all: the links can, one path cannot. Another"
                    " draw of the hash moves the trouble elsewhere, and that proves it.",
                    right=True,
                    also=(
                        "Flows that share one path, as the hash drew it; next, `-q 1` several"
                        " times, to draw it anew",
                    ),
                ),
                Option(
                    "A PFC storm; next, the watchdog's counters, and the host that sent most of"
                    " the 10,943 pauses",
                    "A storm stops pairs for whole round trips. This pair runs steadily, at a"
                    " third, and with 16 flows at full rate. Pauses are what any congestion on this"
                    " fabric shows.",
                ),
                Option(
                    "Too few ports in NCCL; next, unset NCCL_IB_HCA and look for all eight"
                    " adapters in its log",
                    "ib_write_bw knows nothing of NCCL's settings, and one of its pairs is slow.",
                ),
            )
        ),
        hints=(
            "What differs between the slow test of the pair and the fast one?",
            "Hashing sends one flow over one path. What do 16 flows do?",
        ),
        moral=(
            "A good next measurement is one that comes out differently for the causes that are"
            " left."
        ),
    ),
    Exercise(
        id="monitoring.order",
        title="Five steps, five tools",
        chinese="系统性调试工作流",
        numbers={},
        prompt=(
            "A job is slow. Put the tools into the order of the chapter's workflow, which"
            " begins where the symptom is, at the application, and ends at the cable."
        ),
        kind=Ordering(
            lambda x: {tool: at for at, tool in enumerate(STEPS)},
            "first step",
            "which layer does each tool look at? Application, collective, pair, path, port",
        ),
        hints=(
            "Who tells you whether the network is to blame at all?",
            "A pair comes before its path, and the path before its port.",
        ),
        moral=(
            "From the top down, each step makes the next one smaller. From the cable up, there are"
            " 3,000 of them."
        ),
    ),
    Exercise(
        id="monitoring.checkpoint",
        title="Checkpoint 1.5, second and third part",
        chinese="检查点 1.5：物理层与集合通信",
        numbers={
            "gpus": pick(256, 512, 1024),
            "left": pick(12, 24, unit=GB),
            "step": pick(3.6, 4.2, 4.8),
            "share": pick(0.15, 0.2, 0.3),
        },
        prompt=(
            "A job on {gpus} GPUs has slowed down. `ib_write_bw` finds one pair of hosts "
            "at {left:B/s}, where {expected:B/s} are expected. The healthy step took "
            "{step} s, {share:.0%} of it AllReduce that nothing hides. (a) Name two "
            "physical causes that give just this rate, and one that is not physical; say "
            "which counters or settings of the switch tell them apart, and what each "
            "would show. (b) How long is the step now, if the link lies on the ring? (c) "
            "Would switching to trees help? Say on what it depends, and what you do on "
            "Monday morning. (The first part of this checkpoint is in exercises 05.)"
        ),
        kind=Free(least_words=60, worth=10),
        hints=(
            (
                "Lanes times speed: in which two ways does a quarter, or a half, come about? And"
                " how do two flows share a port?"
            ),
            "Count the bytes that pass a rank's port in a ring and in two trees.",
        ),
        places={"expected": lambda x: EXPECTED},
    ),
]
