"""The exercises on fallacies and pitfalls: an upgrade, a test of the wrong thing, a loss too many,
a counter in time, your own.

The lists numbers are drawn from are part of what students were given: add exercises, but do not
change these lists.
"""

import math

from fabriclab import link, transport
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.kinds import Choice, Free, Option, Quantity
from fabriclab.course.engine.exercises.slips import BITS, Slip
from fabriclab.course.engine.exercises.template import pick
from fabriclab.units import GB, KB, Gbps, day, us

FEC = link.KP4


def _codewords_a_day(x):
    return day / FEC.codeword_time(FEC.line_rate(x.rate))


def _days(x, lost_a_day=1.0):
    return x.decade * math.log10(FEC.ber_for(lost_a_day / _codewords_a_day(x)) / x.now)


def _loss_for(x, window):
    """The loss at which go-back-N still has x.goodput: (1-p)/(1-p+pW) = g turned round."""
    return (1 - x.goodput) / (1 - x.goodput + x.goodput * window)


def _window(x):
    return x.rate * x.trip / x.packet


EXERCISES = [
    Exercise(
        id="fallacies.upgrade",
        title="A faster link, how much less time",
        chinese="带宽越高，训练就一定越快？",
        numbers={
            "size": pick(8, 16, 20, 40, 64, unit=KB),
            "alpha": pick(1.5, 2, 3, unit=us),
            "beta": pick(12.5, 25, 50, unit=GB),
            "faster": pick(2, 4),
        },
        prompt=(
            "A pipeline stage sends small messages, {size:B} each, over a link with a "
            "start-up of {alpha:s} and {beta:B/s}. The new link has {faster} times the "
            "bandwidth and the same start-up. By what share does a message get shorter in"
            " time? Give a fraction, such as 0.25."
        ),
        kind=Quantity(
            lambda x: transport.time_saved(x.size, x.alpha, x.beta, x.faster),
            "number",
            tolerance=0.005,
            slips=(
                Slip(
                    "the promise",
                    "you took what the link rate promises; the start-up does not get shorter",
                    lambda x: 1 - 1 / x.faster,
                ),
                Slip(
                    "of the new time",
                    "you divided by the new time; it is a share of the old one",
                    lambda x: 1 / (1 - transport.time_saved(x.size, x.alpha, x.beta, x.faster)) - 1,
                ),
                Slip(
                    BITS,
                    "bits and bytes got mixed up: the link carries bytes here",
                    lambda x: transport.time_saved(8 * x.size, x.alpha, x.beta, x.faster),
                ),
            ),
        ),
        hints=("Write both times, α + n/β and α + n/(fβ).", "Their difference over the first."),
        moral=(
            "Half of the promise is kept at n* and more only above: look at the sizes your job"
            " sends before you buy."
        ),
    ),
    Exercise(
        id="fallacies.iperf",
        title="Thirty gigabits on every port",
        chinese="TCP 带宽测试",
        numbers={},
        prompt=(
            "Acceptance test of a new cluster. iperf, one stream, kernel TCP, reports 30 "
            "Gb/s between nodes on 400 Gb/s ports; 30 Gb/s on the old 100 Gb/s ports; and"
            " 9.4 Gb/s on the 10 Gb/s management ports. What do these three numbers say "
            "about the 400 Gb/s fabric?"
        ),
        kind=Choice(
            (
                Option(
                    "Nothing yet: 30 Gb/s is what one core can do on any fast port; measure with"
                    " ib_write_bw",
                    "Equal results on unequal links are a measurement of what the links have in"
                    " common: the host. RDMA goes round it, as training does.",
                    right=True,
                    also=(
                        "Nothing yet: the two 30s measure the host, whatever the port; take"
                        " ib_write_bw",
                    ),
                ),
                Option(
                    "Its links run at a thirteenth of their rate: probably a cable or a lane"
                    " problem everywhere",
                    "Then the old ports should not show the same 30. A fault that gives the same"
                    " number on two kinds of port is not in the ports.",
                ),
                Option(
                    "It has congestion: TCP backs off; a larger window or more buffers would"
                    " bring the other 370",
                    "One stream on an idle fabric meets nobody. And congestion would not pick the"
                    " same 30 Gb/s on another network.",
                ),
                Option(
                    "TCP wastes nine tenths in headers, so divide by 0.075 to get what RDMA will"
                    " see",
                    "Headers cost a few per cent of a full segment. No factor turns one core's"
                    " speed into a port's.",
                ),
            )
        ),
        hints=(
            "What do the three measurements have in common, and what not?",
            "Which of the three is limited by its link?",
        ),
        moral="Test the path that the job uses: kernel bypass against kernel bypass.",
    ),
    Exercise(
        id="fallacies.loss",
        title="Lossless, or nearly",
        chinese="“无损”与丢包恢复",
        numbers={
            "rate": pick(100, 200, 400, unit=Gbps),
            "trip": pick(8, 10, 20, unit=us),
            "packet": 4 * KB,
            "goodput": pick(0.9, 0.95, 0.99),
        },
        prompt=(
            "Two RDMA stacks have the same {rate:b/s} on the box. This one recovers by "
            "go-back-N: a sender hears of a loss a round trip of {trip:s} later and sends"
            " everything since again, in packets of {packet:B}. What share of packets may"
            " be lost, at random, if {goodput:.0%} of the line is still to carry new "
            "bytes? Use the window W = line rate × round trip, in packets, as it comes."
        ),
        kind=Quantity(
            lambda x: _loss_for(x, _window(x)),
            "number",
            tolerance=0.01,
            slips=(
                Slip(
                    "as if selective",
                    "you let the sender repeat only what was lost; go-back-N repeats the window",
                    lambda x: 1 - x.goodput,
                ),
                Slip(
                    BITS,
                    "bits and bytes got mixed up in the window",
                    lambda x: _loss_for(x, 8 * _window(x)),
                ),
                Slip(
                    "goodput for loss",
                    "you have the loss that leaves the other share",
                    lambda x: x.goodput / (x.goodput + (1 - x.goodput) * _window(x)),
                ),
            ),
        ),
        hints=(
            "How many packets are on the way in a round trip?",
            "Goodput is (1-p)/(1-p+pW); solve for p.",
        ),
        moral=(
            "Selective repeat would stand a loss larger by nearly the whole window, tens to"
            " hundreds of packets: on equal links, who recovers and how is the difference that you"
            " buy."
        ),
    ),
    Exercise(
        id="fallacies.early",
        title="How long the counters speak first",
        chinese="计数器是领先指标",
        numbers={
            "rate": pick(200, 400, unit=Gbps),
            "now": pick(1e-8, 1e-7, 1e-6, 4e-6),
            "decade": pick(2, 5, 10, 14),
        },
        prompt=(
            "A transceiver ages: its bit error ratio before correction grows tenfold "
            "every {decade} days. Today it is {now:g}, on a {rate:b/s} port with KP4, "
            "RS(544,514). No packet is lost. After how many days does the port lose its "
            "first codeword a day? (`link.KP4` knows `line_rate`, `codeword_time` and "
            "`ber_for`; give a number of days.)"
        ),
        kind=Quantity(
            _days,
            "number",
            tolerance=0.02,
            slips=(
                Slip(
                    "a second for a day",
                    "you waited for a codeword a second; one a day comes first",
                    lambda x: _days(x, lost_a_day=day),
                ),
                Slip(
                    "e for ten",
                    "you counted in powers of e; the ratio grows tenfold",
                    lambda x: _days(x) * math.log(10),
                ),
            ),
        ),
        hints=(
            "How many codewords pass a day? Then one lost a day is which share of them?",
            (
                "ber_for turns that share into a bit error ratio. How many powers of ten is that"
                " from today's?"
            ),
        ),
        moral=(
            "Days of warning, free of charge, in a counter that nobody alarms on: that is what the"
            " last pitfall is about."
        ),
    ),
    Exercise(
        id="fallacies.own",
        title="A fallacy of your own",
        chinese="你自己的谬误",
        numbers={},
        prompt=(
            "Write up one fallacy about networks that you have heard, or held, and that "
            "is not in this notebook: the claim in one sentence; what it predicts, as a "
            "number; the one measurement or calculation that decides it; and what you "
            "would do differently now."
        ),
        kind=Free(40, worth=5),
        hints=(
            (
                "Good candidates are sentences that name a single number: a rate, a count of hops,"
                " an average."
            ),
            "Which quantity does the sentence quietly assume to be the one that binds?",
        ),
    ),
]
