"""The exercises on monitoring: rates from counters, full counters, Checkpoint 1.5 in numbers, and
causes read from signs.

The lists numbers are drawn from are part of what students were given: add exercises, but do not
change these lists.
"""

import numpy as np

from fabriclab import cluster
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.function import Function
from fabriclab.course.engine.exercises.kinds import Choice, Free, Option, Ordering, Quantity
from fabriclab.course.engine.exercises.slips import Slip
from fabriclab.logs import perfquery
from fabriclab.units import GB, Gbps, si

EXPECTED = 48 * GB  # a healthy pair: the chapter, Checkpoint 1.5
RANKS = 512
STEPS = (
    "dcgmi dmon",
    "NCCL_DEBUG=INFO",
    "ib_write_bw",
    "show pfc counters",
    "mlxlink",
)  # of the chapter's workflow, one tool a step


def _readings(draw):
    """Two answers of a busy port: what it has sent, and in the time between sends and receives, in
    words.
    """
    seconds = draw.pick("seconds", (5, 15, 20, 30))
    sent = round(draw.pick("sends", (0.34, 0.56, 0.82, 0.94)) * 12.5e9 * seconds) + round(
        1e6 * draw.share("odd words")
    )
    return {
        "seconds": seconds,
        "start": 10**13 + round(9e13 * draw.share("start")),
        "sent": sent,
        "received": round(sent * draw.pick("receives", (0.41, 0.63, 0.77))),
    }


def _port(x, at):
    words = (
        ("PortXmitData", x.start + at * x.sent),
        ("PortRcvData", x.start // 3 + at * x.received),
    )
    return perfquery.Port(1, 41, None, 17, "extended", words)


def _answers(x):
    return "\n".join(
        f"{time}\nPortXmitData:....................{port.count('PortXmitData')}\nPortRcvData:.....................{port.count('PortRcvData')}"
        for time, port in (
            ("2026-03-04T05:48:00", _port(x, 0)),
            (f"2026-03-04T05:48:{x.seconds:02d}", _port(x, 1)),
        )
    )


def _rates(x):
    return perfquery.rates(_port(x, 0), _port(x, 1), x.seconds)


def _full(x):
    return perfquery.WORD * 2**32 / (x.load * x.rate)


def _healthy(x):
    """Seconds of AllReduce in the healthy step."""
    return cluster.share_behind(x.more / x.before, 1 - x.left / EXPECTED) * x.before


def _trees(x, share=None, slowdown=None):
    share = {"port": 1.0, "cable": 0.5}[x.place] if share is None else share
    return cluster.slow_trees(
        x.size, RANKS, 0.0, 50 * GB, x.slowdown if slowdown is None else slowdown, share
    )


def _most(before, after, seconds, bits):
    """The largest rate, bytes per second, that two readings of a counter of `bits` bits allow; inf
    where the second is full.
    """
    rate = perfquery.WORD * (np.asarray(after) - before) / seconds
    return np.where(np.asarray(after) >= 2.0**bits - 1, np.inf, rate)


def _pairs_of_readings(draw):
    """(before, after, seconds, bits): at rest, busy, full at the end, full at both ends, beyond 32
    bits where 64 are counted.
    """
    full, some = float(2**32 - 1), draw.pick("some", (1.0e9, 1.5e9, 2.0e9))
    each = [(some, some), (some, some + 1e9), (some, full), (full, full), (0.0, full - 1)]
    return [
        *((before, after, 10.0, 32.0) for before, after in each),
        ([before for before, _ in each], [after for _, after in each], 20.0, 32.0),
        ([some, full, 1e12], [full, full + some, 1e12 + 5e10], 10.0, 64.0),
    ]


_SITUATION = (
    "AllReduce at a third of its bandwidth, and of two pairs of the job one is as slow. The rest of"
    " what was measured, on the path of the slow pair:"
)

EXERCISES = [
    Exercise(
        id="monitoring.rates",
        title="Rates from two readings",
        chinese="由计数器求速率",
        numbers=_readings,
        prompt=lambda x: (
            "`perfquery -x` of one port, twice, with the time in"
            f" front:\n\n```\n{_answers(x)}\n```\n\nAt what rate, in bytes a second, did the port"
            " *send* in between?"
        ),
        kind=Quantity(
            lambda x: _rates(x).sent,
            "rate",
            tolerance=0.002,
            slips=(
                Slip(
                    "words for bytes",
                    "you took the counter's words for bytes; each is four of them",
                    lambda x: x.sent / x.seconds,
                ),
                Slip(
                    "received for sent",
                    "you took what came in; sending is PortXmitData",
                    lambda x: _rates(x).received,
                ),
                Slip(
                    "not per second",
                    "you gave what was sent, and not yet per second",
                    lambda x: _rates(x).sent * x.seconds,
                ),
            ),
        ),
        hints=(
            "Which of the two counters, and how much did it rise?",
            "One unit is a word of four bytes, however many lanes the port has.",
        ),
        moral=(
            "Behind a surprising utilisation on a dashboard there is often a factor of four, or of"
            " eight."
        ),
    ),
    Exercise(
        id="monitoring.full",
        title="When 32 bits are full",
        chinese="32 位计数器何时饱和",
        numbers=lambda draw: {
            "rate": draw.pick("rate", (100, 200, 400, 800)) * Gbps,
            "load": draw.pick("load", (0.15, 0.3, 0.6, 0.7)),
        },
        prompt=lambda x: (
            f"A port of {si(x.rate, 'b/s')} sends at {x.load:.0%} of its rate, day and night."
            " Somebody clears its counters. After how long does the plain, 32-bit `PortXmitData`"
            " stand at all ones, and stop?"
        ),
        kind=Quantity(
            _full,
            "time",
            tolerance=0.005,
            slips=(
                Slip(
                    "bytes for words",
                    "you let it count bytes; it counts words of four, and lasts four times as long",
                    lambda x: _full(x) / perfquery.WORD,
                ),
                Slip(
                    "at line rate",
                    "you let the port send at its full rate",
                    lambda x: _full(x) * x.load,
                ),
            ),
        ),
        hints=(
            "How many bytes have been sent when the counter stands at all ones?",
            "Bytes over bytes a second; the port's rate is printed in bits.",
        ),
        moral=(
            "Read every 10 to 30 s, it is full every time, and its rate looks like a flat line: use"
            " the extended counters."
        ),
    ),
    Exercise(
        id="monitoring.most",
        title="What two readings allow",
        chinese="饱和的计数器能说明什么",
        numbers=lambda draw: {},
        prompt=lambda x: (
            "Write `most(before, after, seconds, bits)`: the largest rate, in bytes a second, that"
            " two readings of `PortXmitData` allow, from a counter of `bits` bits that stops at all"
            " ones. While it counts, that is the rate itself. Once it is full, it may have stopped"
            " at any moment, and there is no largest: return infinity. `before` and `after` may be"
            " numpy arrays."
        ),
        kind=Function(
            ("before", "after", "seconds", "bits"),
            _most,
            _pairs_of_readings,
            "rate",
            ("number", "number", "time", "number"),
            slips=(
                (
                    "a flat line",
                    (
                        "you gave a rate where the counter is full: there it only says how much at"
                        " least"
                    ),
                    lambda before, after, seconds, bits: 4 * (np.asarray(after) - before) / seconds,
                ),
                (
                    "words for bytes",
                    "you took the counter's words for bytes",
                    lambda before, after, seconds, bits: _most(before, after, seconds, bits) / 4,
                ),
                (
                    "always 32 bits",
                    "you held a 64-bit counter to be full at 32 bits",
                    lambda before, after, seconds, bits: _most(before, after, seconds, 32),
                ),
                (
                    "nothing where full",
                    "you gave 0 where the counter is full: a busy port would look idle",
                    lambda before, after, seconds, bits: np.where(
                        np.asarray(after) >= 2.0**bits - 1, 0.0, _most(before, after, seconds, bits)
                    ),
                ),
            ),
        ),
        hints=(
            "All ones in b bits is 2**b - 1. Which of the two readings tells that it stopped?",
            "`np.where(condition, np.inf, rate)` takes arrays and single numbers.",
        ),
        moral="A monitor that draws a bound as if it were a value hides exactly the busiest ports.",
    ),
    Exercise(
        id="monitoring.share",
        title="Checkpoint 1.5 backwards",
        chinese="由变慢反推通信占比",
        numbers=lambda draw: {
            "before": draw.pick("before", (3.6, 4.2, 5.4)),
            "more": draw.pick("more", (0.3, 0.6, 0.9)),
            "left": draw.pick("left", (12, 30, 36)) * GB,
        },
        prompt=lambda x: (
            f"A job's step has grown from {x.before} s to {x.before + x.more:.1f} s. `ib_write_bw`"
            f" finds one pair of its ring at {si(x.left, 'B/s')}, where {si(EXPECTED, 'B/s')} are"
            " expected; all else is well, nothing overlaps, and buffers are large. If that link is"
            " the whole story, how many seconds of the *healthy* step were AllReduce?"
        ),
        kind=Quantity(
            _healthy,
            "time",
            tolerance=0.005,
            slips=(
                Slip(
                    "growth for all",
                    "you took the growth for the AllReduce; that is so only at half the bandwidth",
                    lambda x: x.more,
                ),
                Slip(
                    "now for before",
                    "you gave the AllReduce as it is now",
                    lambda x: _healthy(x) + x.more,
                ),
            ),
        ),
        hints=(
            "At that bandwidth, how many times as long does the AllReduce take?",
            "That factor less one, times the healthy AllReduce, is the growth.",
        ),
        moral=(
            "Then look into day one's trace. If it shows much less AllReduce than that, the link is"
            " not the whole story."
        ),
    ),
    Exercise(
        id="monitoring.trees",
        title="Would a tree help",
        chinese="换成树形 AllReduce 有用吗",
        numbers=lambda draw: {
            "size": draw.pick("size", (4, 8, 10, 20)) * GB,
            "slowdown": draw.pick("slowdown", (3, 4, 6)),
            "place": draw.pick("place", ("port", "cable")),
        },
        prompt=lambda x: (
            f"AllReduce of {si(x.size, 'B')} over {RANKS} ranks with 50 GB/s a port, start-ups left"
            " out, over two complementary pipelined trees, each for half of the buffer: up, then"
            " down. Every rank but the two roots has two children in one tree and is a leaf of the"
            " other. "
            + {
                "port": f"The port of one such rank has fallen to 1/{x.slowdown} of its rate.",
                "cable": (
                    "A cable between two switches, over which only *one* edge of *one* tree runs,"
                    f" has fallen to 1/{x.slowdown} of a port's rate."
                ),
            }[x.place]
            + " How long does the AllReduce take? The ring would take 2M/β, times the factor by"
            " which its slowest link is slower."
        ),
        kind=Quantity(
            _trees,
            "time",
            tolerance=0.01,
            slips=(
                Slip(
                    "the other place",
                    "you put the other number of bytes over the slow part: a port passes all edges"
                    " of its rank, in both trees; the cable passes one",
                    lambda x: _trees(x, {"port": 0.5, "cable": 1.0}[x.place]),
                ),
                Slip(
                    "as if healthy", "you left the slow part out", lambda x: _trees(x, slowdown=1)
                ),
            ),
        ),
        hints=(
            (
                "On the way up, how many bytes pass the slow part in one direction? And on the way"
                " down?"
            ),
            (
                "The phase lasts as long as its slowest part: that one, or a healthy port with M"
                " bytes."
            ),
        ),
        moral=(
            "At a port a tree is no better than the ring. On a cable with one edge it is twice as"
            " good, and at half the rate even cured."
        ),
    ),
    Exercise(
        id="monitoring.signs",
        title="Discards, and no receive errors",
        chinese="有丢弃而无接收错误",
        numbers=lambda draw: {
            "discards": 10 * draw.pick("discards", (231, 512, 1740)),
            "sends": draw.pick("sends", (96, 97, 98)),
            "pair": draw.pick("pair", (15, 16, 17)),
        },
        prompt=lambda x: (
            f"{_SITUATION}\n\n```\nswitch port, 10 s     sends {x.sends} % of its line,"
            f" PortXmitDiscards +{x.discards:,}, PortXmitWait grows\nits errors           "
            " SymbolErrorCounter 0, PortRcvErrors 0, LinkDownedCounter 0\nib_write_bw          "
            f" peak 47 GB/s, average {x.pair} GB/s\nthe same last night   47 GB/s\nmlxlink, both"
            " ends    4x NDR, no error after correction\n```\n\nWhich cause fits all of it?"
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
    ),
    Exercise(
        id="monitoring.flat",
        title="A flat line",
        chinese="监控曲线为何是平的",
        numbers=lambda draw: {
            "every": draw.pick("every", (10, 20, 30)),
            "ports": draw.pick("ports", (96, 256, 512)),
        },
        prompt=lambda x: (
            f"A home-made monitor reads and *clears* the counters of {x.ports} ports of 400 Gb/s"
            f" every {x.every} s. While training runs, all of them show"
            f" {si(perfquery.WORD * 2**32 / x.every, 'b/s')}, to the last digit, hour after hour."
            " NCCL's bus bandwidth is as its model has it. What is it?"
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
    ),
    Exercise(
        id="monitoring.incident",
        title="An incident, and the next measurement",
        chinese="事件诊断与下一步测量",
        numbers=lambda draw: {},
        prompt=lambda x: (
            "Incident `10-willow`. Beside this notebook,"
            ' `diagnosis.diagnose("../notebooks/incidents/10-willow")` walks its files; run it in a'
            " new cell if you like. What it reads:\n\n```\nstep                     4.26 s before,"
            " 7.25 s now\nall_reduce, 16 ranks     33 % of what healthy ports give\nib_write_bw,"
            " one pair    -q 1:  15.99 GB/s, steady\n                         -q 16: 47.8"
            " GB/s\nib_write_bw, another     -q 1:  47.8 GB/s\nethtool                 "
            " rx_prio3_pause 10,943, no discards\nmlxlink                  4 lanes, 400G,"
            " clean\n```\n\nWhich cause, and which measurement next?"
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
        numbers=lambda draw: {},
        prompt=lambda x: (
            "A job is slow. Put the tools into the order of the chapter's workflow, which begins"
            " where the symptom is, at the application, and ends at the cable."
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
        numbers=lambda draw: {
            "gpus": draw.pick("gpus", (256, 512, 1024)),
            "left": draw.pick("left", (12, 24)) * GB,
            "step": draw.pick("step", (3.6, 4.2, 4.8)),
            "share": draw.pick("share", (0.15, 0.2, 0.3)),
        },
        prompt=lambda x: (
            f"A job on {x.gpus} GPUs has slowed down. `ib_write_bw` finds one pair of hosts at"
            f" {si(x.left, 'B/s')}, where {si(EXPECTED, 'B/s')} are expected. The healthy step took"
            f" {x.step} s, {x.share:.0%} of it AllReduce that nothing hides. (a) Name two physical"
            " causes that give just this rate, and one that is not physical; say which counters or"
            " settings of the switch tell them apart, and what each would show. (b) How long is"
            " the step now, if the link lies on the ring? (c) Would switching to trees help? Say"
            " on what it depends, and what you do on Monday morning. (The first part of this"
            " checkpoint is in exercises 05.)"
        ),
        kind=Free(least_words=60, worth=10),
        hints=(
            (
                "Lanes times speed: in which two ways does a quarter, or a half, come about? And"
                " how do two flows share a port?"
            ),
            "Count the bytes that pass a rank's port in a ring and in two trees.",
        ),
    ),
]
