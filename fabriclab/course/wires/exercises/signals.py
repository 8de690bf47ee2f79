"""Exercises of level 1: signals, codes and error ratios."""

import math

import numpy as np
from scipy import stats

from fabriclab import link
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.formula import Formula
from fabriclab.course.engine.exercises.function import Function
from fabriclab.course.engine.exercises.kinds import Quantity
from fabriclab.course.engine.exercises.slips import BOTH_WAYS, Slip
from fabriclab.course.engine.exercises.template import pick
from fabriclab.link import KP4, NRZ, PAM4
from fabriclab.units import ns


def _eye(x, per_decade=20):
    """One PAM4 eye over the swing sent, after a loss of `x.loss` dB in amplitude."""
    third = (PAM4.levels[1] - PAM4.levels[0]) / (NRZ.levels[1] - NRZ.levels[0])
    return float(third) * 10 ** (-x.loss / per_decade)


def _gray(M, q):
    """Bit errors of Gray-coded PAM-M where a slip reaches the neighbour and no further: 2 (M-1)/M
    symbols, one bit of log2 M.
    """
    return 2 * (M - 1) / M * q / math.log2(M)


def _gray_points(draw):
    return [{"M": 2 ** (1 + i % 5), "q": 10 ** (-9 + 7 * draw.share(f"q {i}"))} for i in range(10)]


def _ratios(draw):
    few = [10 ** (-5 + 2.4 * draw.share(f"ber {i}")) for i in range(4)]
    return [(b,) for b in few] + [([2.4e-4, *few],)]


def _lost(limit=KP4.corrects, symbol_bits=KP4.symbol_bits):
    """A slip of the codeword's tail: more than `limit` wrong among the symbols, each of
    `symbol_bits` bits.
    """
    return lambda ber: stats.binom.sf(limit, KP4.n, -np.expm1(symbol_bits * np.log1p(-ber)))


def _one_less(ber):
    return 1 - stats.binom.cdf(KP4.corrects, KP4.n, -np.expm1(KP4.symbol_bits * np.log1p(-ber)))


EXERCISES = [
    Exercise(
        id="wires.eye",
        title="How much of the swing is left",
        chinese="眼图高度",
        numbers={"loss": pick(8, 10, 12, 14, 16, 22)},
        prompt=(
            "A PAM4 driver swings from its lowest level to its highest; the cable takes "
            "{loss} dB of the signal before the receiver, evenly over its band. Without "
            "noise and without an equaliser, how tall is one of the three eyes there, as "
            "a share of the swing sent? Receivers are bought to find this much."
        ),
        kind=Quantity(
            _eye,
            "number",
            slips=(
                Slip(
                    "10 log for 20 log",
                    "you took decibels of amplitude for decibels of power: 20 dB are a factor of"
                    " ten in volts, of a hundred in watts",
                    lambda x: _eye(x, 10),
                ),
                Slip(
                    "whole swing",
                    "you gave the whole swing that arrives; three eyes share it",
                    lambda x: 3 * _eye(x),
                ),
                Slip(
                    "a quarter",
                    "you divided by four levels; between four levels there are three gaps",
                    lambda x: 0.75 * _eye(x),
                ),
                Slip("forgot the cable", "you left out the cable", lambda x: 1 / 3),
            ),
        ),
        hints=(
            "How many gaps lie between four evenly spaced levels?",
            "Volts fall by 10^(-dB/20).",
        ),
        moral="NRZ would start with three times that, 9.5 dB more.",
    ),
    Exercise(
        id="wires.gray",
        title="From wrong symbols to wrong bits",
        chinese="格雷码与误码率",
        numbers={},
        prompt=(
            "PAM with M levels, evenly spaced, equally likely, Gray coded, so that "
            "neighbours differ in one bit. Noise pushes a symbol over one given threshold"
            " with the small chance q, and never over two. Derive the bit error ratio "
            "from M and q. It is how 3/4 comes into PAM4's formula."
        ),
        kind=Formula(
            ("M", "q"),
            _gray,
            _gray_points,
            slips=(
                (
                    "forgot the outer levels",
                    "you let every level have two neighbours; the outermost have one",
                    lambda M, q: 2 * q / math.log2(M),
                ),
                (
                    "symbols for bits",
                    (
                        "you counted wrong symbols; each has log2 M bits, of which Gray coding"
                        " spoils one"
                    ),
                    lambda M, q: 2 * (M - 1) / M * q,
                ),
                (
                    "all bits wrong",
                    "you counted each threshold on one side only",
                    lambda M, q: (M - 1) / M * q / math.log2(M),
                ),
            ),
            answer="2*(M - 1)/M * q/log2(M)",
        ),
        hints=(
            (
                "Count thresholds next to each level, over all M levels: how many are there on"
                " average?"
            ),
            "A symbol carries log2(M) bits. Try M = 2: one threshold, one bit.",
        ),
        moral=(
            "For M = 2 it is q, for PAM4 3/4 q: at the same q PAM4 errs less; but its q is far"
            " larger."
        ),
    ),
    Exercise(
        id="wires.codeword",
        title="Write the tail of RS(544,514)",
        chinese="里德—所罗门码的纠错极限",
        numbers={},
        prompt=(
            "Write `loss(ber)`: the chance that a codeword of RS(544,514) cannot be "
            "mended, for independent bit errors of ratio `ber`, which may be a numpy "
            "array. Symbols have 10 bits, one wrong bit spoils its symbol, and more than "
            "(544 - 514)/2 wrong symbols lose the codeword. Keep its digits where it is "
            "1e-30: good links are there."
        ),
        kind=Function(
            ("ber",),
            KP4.codeword_loss,
            _ratios,
            "number",
            ("number",),
            slips=(
                (
                    "bits for symbols",
                    "you gave a symbol the error ratio of one bit; any of its ten can spoil it",
                    _lost(symbol_bits=1),
                ),
                (
                    "lost at 15",
                    "you lost the codeword with 15 wrong symbols, which it still mends",
                    _lost(limit=KP4.corrects - 1),
                ),
                (
                    "corrects 30",
                    (
                        "you let every symbol of parity mend one error; finding an error takes one,"
                        " mending it another"
                    ),
                    _lost(limit=KP4.n - KP4.k),
                ),
                (
                    "one less the rest",
                    (
                        "you took the tail from one: below 1e-16 nothing is left of it; sum the"
                        " tail itself"
                    ),
                    _one_less,
                ),
            ),
        ),
        hints=(
            (
                "First the chance that a symbol of ten bits is wrong, then the chance of more than"
                " fifteen such among 544."
            ),
            "scipy.stats.binom.sf(15, 544, p) is the tail itself, to all its digits.",
        ),
        moral=(
            "At 2.4e-4 about one codeword in 10^12 is lost; halve the errors, and it is one in some"
            " 10^16."
        ),
    ),
    Exercise(
        id="wires.hops",
        title="FEC on the longest path",
        chinese="路径上的 FEC 延迟",
        numbers={
            "tiers": pick(2, 3, 4),
            "per_switch": pick(110, 120, 140, 160, 180, unit=ns, name="per switch"),
        },
        prompt=(
            "A fat-tree has {tiers} tiers of switches, and each switch adds "
            "{per_switch:s} of FEC. How much FEC does a packet meet on its longest way, "
            "one way, in switches alone? It is part of every message's start-up, whatever"
            " its size."
        ),
        kind=Quantity(
            lambda x: link.fec_latency(link.switches_on_path(x.tiers), x.per_switch),
            "time",
            slips=(
                Slip(
                    "tiers for switches",
                    "you counted tiers; the path meets each tier but the top twice, once up and"
                    " once down",
                    lambda x: link.fec_latency(x.tiers, x.per_switch),
                ),
                Slip(
                    "links for switches",
                    "you counted cables; there is one more of them than switches",
                    lambda x: link.fec_latency(link.links_on_path(x.tiers), x.per_switch),
                ),
                Slip(
                    BOTH_WAYS,
                    "you went there and back, or counted half of the way; this asks for one way",
                    lambda x: 2 * link.fec_latency(link.switches_on_path(x.tiers), x.per_switch),
                ),
            ),
        ),
        hints=(
            "Draw the path and write down the switches by name: leaf, spine, …",
            "Up to the top, where it turns, and down again: how many in all?",
        ),
        moral="Say switches, links or tiers; the word hop has been used for all three.",
    ),
]
