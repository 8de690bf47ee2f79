"""Exercises of monitoring: counters and what they show."""

import numpy as np

from fabriclab import cluster
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.function import Function
from fabriclab.course.engine.exercises.kinds import Quantity
from fabriclab.course.engine.exercises.slips import Slip
from fabriclab.course.engine.exercises.template import pick
from fabriclab.course.monitoring.exercises.common import EXPECTED
from fabriclab.logs import perfquery
from fabriclab.units import GB, Gbps, si

RANKS = 512


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
        f"{time}\nPortXmitData:....................{port.count('PortXmitData')}\n"
        f"PortRcvData:.....................{port.count('PortRcvData')}"
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


EXERCISES = [
    Exercise(
        id="monitoring.rates",
        title="Rates from two readings",
        chinese="由计数器求速率",
        numbers=_readings,
        prompt=(
            "`perfquery -x` of one port, twice, with the time in front:\n\n```\n{answers}\n"
            "```\n\nAt what rate, in bytes a second, did the port *send* in between?"
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
        places={"answers": _answers},
    ),
    Exercise(
        id="monitoring.full",
        title="When 32 bits are full",
        chinese="32 位计数器何时饱和",
        numbers={"rate": pick(100, 200, 400, 800, unit=Gbps), "load": pick(0.15, 0.3, 0.6, 0.7)},
        prompt=(
            "A port of {rate:b/s} sends at {load:.0%} of its rate, day and night. "
            "Somebody clears its counters. After how long does the plain, 32-bit "
            "`PortXmitData` stand at all ones, and stop?"
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
        numbers={},
        prompt=(
            "Write `most(before, after, seconds, bits)`: the largest rate, in bytes a "
            "second, that two readings of `PortXmitData` allow, from a counter of `bits` "
            "bits that stops at all ones. While it counts, that is the rate itself. Once "
            "it is full, it may have stopped at any moment, and there is no largest: "
            "return infinity. `before` and `after` may be numpy arrays."
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
        numbers={
            "before": pick(3.6, 4.2, 5.4),
            "more": pick(0.3, 0.6, 0.9),
            "left": pick(12, 30, 36, unit=GB),
        },
        prompt=(
            "A job's step has grown from {before} s to {after:.1f} s. `ib_write_bw` finds"
            " one pair of its ring at {left:B/s}, where {expected:B/s} are expected; all "
            "else is well, nothing overlaps, and buffers are large. If that link is the "
            "whole story, how many seconds of the *healthy* step were AllReduce?"
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
        places={"after": lambda x: x.before + x.more, "expected": lambda x: EXPECTED},
    ),
    Exercise(
        id="monitoring.trees",
        title="Would a tree help",
        chinese="换成树形 AllReduce 有用吗",
        numbers={
            "size": pick(4, 8, 10, 20, unit=GB),
            "slowdown": pick(3, 4, 6),
            "place": pick("port", "cable"),
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
]
