"""The exercises on level 1: eyes, error correction, budgets of decibels, watts and money.

The lists numbers are drawn from are part of what students were given: add exercises, but do not
change these lists.
"""

import math

import numpy as np
from scipy import stats

from fabriclab import link
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.formula import Formula
from fabriclab.course.engine.exercises.function import Function
from fabriclab.course.engine.exercises.kinds import Choice, Free, Option, Quantity
from fabriclab.course.engine.exercises.slips import BITS, BOTH_WAYS, Slip
from fabriclab.link import KP4, NRZ, PAM4
from fabriclab.logs import mlxlink
from fabriclab.units import Gbps, hour, kW, minute, ns, si


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


def _reach(x, **instead):
    given = {
        "budget": x.budget,
        "per_metre": x.per_metre,
        "connectors": x.connectors,
        "margin": x.margin,
    } | instead
    return link.longest_cable(**given)


def _bill(x, tiers=2, modules=2):
    return link.optics_bill(link.tree_links(x.hosts, tiers), 0, x.watts, modules).power


def _burst(x, erased=1, symbols=0):
    """Bits in a row that are mended wherever they start; `erased` 2 where places are known."""
    code = link.ReedSolomon(x.n, x.k, 10)
    return (x.ways * code.corrects * erased - 1 + symbols) * code.symbol_bits + 1


def _shares(x):
    return link.power_shares(x.network, x.gpus)


def _unseen(x):
    return mlxlink.bound(mlxlink.Port(1, cleared=x.time), x.rate)


EXERCISES = [
    Exercise(
        id="wires.eye",
        title="How much of the swing is left",
        chinese="眼图高度",
        numbers=lambda draw: {"loss": draw.pick("loss", (8, 10, 12, 14, 16, 22))},
        prompt=lambda x: (
            f"A PAM4 driver swings from its lowest level to its highest; the cable takes {x.loss}"
            " dB of the signal before the receiver, evenly over its band. Without noise and"
            " without an equaliser, how tall is one of the three eyes there, as a share of the"
            " swing sent? Receivers are bought to find this much."
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
        numbers=lambda draw: {},
        prompt=lambda x: (
            "PAM with M levels, evenly spaced, equally likely, Gray coded, so that neighbours"
            " differ in one bit. Noise pushes a symbol over one given threshold with the small"
            " chance q, and never over two. Derive the bit error ratio from M and q. It is how 3/4"
            " comes into PAM4's formula."
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
        numbers=lambda draw: {},
        prompt=lambda x: (
            "Write `loss(ber)`: the chance that a codeword of RS(544,514) cannot be mended, for"
            " independent bit errors of ratio `ber`, which may be a numpy array. Symbols have 10"
            " bits, one wrong bit spoils its symbol, and more than (544 - 514)/2 wrong symbols lose"
            " the codeword. Keep its digits where it is 1e-30: good links are there."
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
        numbers=lambda draw: {
            "tiers": draw.pick("tiers", (2, 3, 4)),
            "per_switch": draw.pick("per switch", (110, 120, 140, 160, 180)) * ns,
        },
        prompt=lambda x: (
            f"A fat-tree has {x.tiers} tiers of switches, and each switch adds"
            f" {si(x.per_switch, 's')} of FEC. How much FEC does a packet meet on its longest way,"
            " one way, in switches alone? It is part of every message's start-up, whatever its"
            " size."
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
    Exercise(
        id="wires.reach",
        title="How long may the cable be",
        chinese="链路预算与铜缆距离",
        numbers=lambda draw: {
            "budget": draw.pick("budget", (26, 28, 30, 32)),
            "per_metre": draw.pick("per metre", (5.5, 6.5, 7.5, 9.5, 11)),
            "connectors": draw.pick("connectors", (2, 3, 4)),
            "margin": draw.pick("margin", (3, 4, 5)),
        },
        prompt=lambda x: (
            f"A lane may lose {x.budget} dB. Its copper loses {x.per_metre:g} dB a metre, each of"
            f" {x.connectors} connectors 1 dB, and {x.margin} dB are to stay in hand. How long may"
            " the cable be? Racks are laid out around this length."
        ),
        kind=Quantity(
            _reach,
            "length",
            slips=(
                Slip(
                    "no connectors",
                    "you left out the connectors",
                    lambda x: _reach(x, connectors=0),
                ),
                Slip(
                    "one connector", "you counted one connector", lambda x: _reach(x, connectors=1)
                ),
                Slip("no margin", "you spent the margin too", lambda x: _reach(x, margin=0)),
            ),
        ),
        hints=(
            "Decibels add: what is left for the cable once all else is paid?",
            "Then divide by what a metre costs.",
        ),
        moral="Each doubling of the lane rate costs about half as many decibels a metre again.",
    ),
    Exercise(
        id="wires.bill",
        title="Watts for the spine",
        chinese="距离的成本",
        numbers=lambda draw: {
            "hosts": draw.pick("hosts", (4096, 8192, 10_000, 16_384)),
            "watts": draw.pick("watts", (8, 9, 14, 15, 20)),
        },
        prompt=lambda x: (
            f"A non-blocking tree of three tiers joins {x.hosts:,} GPUs. All its cables from switch"
            f" to switch are optical, with pluggable modules of {x.watts} W; those to the GPUs are"
            " copper. What do the modules draw? It is paid for every hour the cluster exists."
        ),
        kind=Quantity(
            _bill,
            "power",
            slips=(
                Slip(
                    BOTH_WAYS,
                    "you powered half or twice the modules: a link has one at each end",
                    lambda x: _bill(x, modules=1),
                ),
                Slip(
                    "counted the GPUs' cables",
                    "you counted the GPUs' own cables too, which are copper here",
                    lambda x: _bill(x, tiers=3),
                ),
                Slip(
                    "one tier of cables",
                    "you counted one tier of cables, with one module each: there are leaf to spine"
                    " and spine to core, and two ends",
                    lambda x: _bill(x, tiers=1, modules=1),
                ),
            ),
        ),
        hints=(
            "A non-blocking tier has as many cables going up as come from below.",
            "How many modules has a fibre?",
        ),
        moral="Count links for money laid out once, and modules for power.",
    ),
    Exercise(
        id="wires.share",
        title="A share of what",
        chinese="互连功耗占比",
        numbers=lambda draw: {
            "network": draw.pick("network", (60, 75, 90, 105, 150)) * kW,
            "gpus": draw.pick("gpus", (512, 1024, 1536)),
        },
        prompt=lambda x: (
            f"The network of a cluster draws {si(x.network, 'W')}. Its {x.gpus:,} GPUs draw 700 W"
            " each, by themselves; they sit in nodes of eight that draw 10.2 kW with all that is"
            " in them. What share does the network have of the power of network and GPUs together?"
        ),
        kind=Quantity(
            lambda x: _shares(x).of_accelerators_and_network,
            "number",
            tolerance=0.005,
            slips=(
                Slip(
                    "over the GPUs alone",
                    "you divided by the GPUs alone; a share of the two together has both below the"
                    " line",
                    lambda x: _shares(x).of_accelerators,
                ),
                Slip(
                    "over the nodes",
                    "you divided by whole nodes, which hold more than GPUs",
                    lambda x: _shares(x).of_nodes,
                ),
            ),
        ),
        hints=("Write the base down first, in watts.",),
        moral="Three bases, three percentages, one network: ask of what.",
    ),
    Exercise(
        id="wires.unseen",
        title="No error seen",
        chinese="零误码能说明什么",
        numbers=lambda draw: {
            "rate": draw.pick("rate", (100, 200, 400, 800)) * Gbps,
            "time": draw.pick("time", (20 * minute, 2 * hour, 6 * hour, 24 * hour)),
        },
        prompt=lambda x: (
            "mlxlink shows 15E-255 after correction, which is its way to say that it has seen no"
            f" error, on a port of {si(x.rate, 'b/s')} whose counters were cleared"
            f" {si(x.time, 's')} ago, all of it busy. Below which bit error ratio is this link with"
            " 95 % confidence? Nothing seen is not nothing there."
        ),
        kind=Quantity(
            _unseen,
            "number",
            slips=(
                Slip(
                    "one over the bits",
                    "you took one error in all bits; at that ratio no error would be seen in 37"
                    " cases of 100",
                    lambda x: _unseen(x) / 3,
                ),
                Slip(
                    BITS,
                    "you counted bytes where errors are counted in bits",
                    lambda x: 8 * _unseen(x),
                ),
            ),
        ),
        hints=(
            "How many bits went by?",
            "No error in n bits at ratio b has the chance exp(-n b). When is that 5 %?",
        ),
        moral="The rule of three: no event in n trials bounds the chance by 3/n.",
    ),
    Exercise(
        id="wires.diagnosis",
        title="What the counters say",
        chinese="读懂 mlxlink",
        numbers=lambda draw: {
            "worst": draw.pick("lane", (0, 1, 2, 3)),
            "errors": draw.pick("errors", (38, 57, 112, 240)),
        },
        prompt=lambda x: (
            "An NDR port on RS(544,514) has been up for six days. Raw BER 4E-5, before correction;"
            f" on lane {x.worst} there are two hundred times as many raw errors as on any other;"
            f" {x.errors} errors after correction; three link-downs. What do you do first?"
        ),
        kind=Choice(
            (
                Option(
                    "Take the port out of the job, then clean and reseat that one lane's fibre or"
                    " contact",
                    "One lane of four points at one fibre or contact. The code would mend random"
                    " errors at this ratio: that some got through says they come in bursts, as from"
                    " dirt or a loose plug.",
                    right=True,
                    also=(
                        "Take the port out of the job; clean that lane's fibre or contact, seat"
                        " it again and watch",
                    ),
                ),
                Option(
                    "Nothing: 4E-5 is a sixth of the 2.4E-4 that the code is good for",
                    "The average is, and yet errors got past the code and the link fell: they come"
                    " in bursts, and a burst is worse than its average.",
                ),
                Option(
                    "Turn the error correction off, to save its latency on every hop: 4E-5 is one"
                    " bit in 25,000",
                    "PAM4 lanes are not made to run without it: at 4E-5 three packets of 4 KiB in"
                    " four would hold a wrong bit.",
                ),
                Option(
                    "Replace the switch, since one lane alone could not bring the link down three"
                    " times in six days",
                    "Three of the port's four lanes are well, so the switch and the module's common"
                    " parts are; begin with what is cheap and points to one lane.",
                ),
            )
        ),
        hints=(
            "What have the four lanes in common, and what has each for itself?",
            (
                "Put the raw ratio beside the code's limit; then ask how anything came through all"
                " the same."
            ),
        ),
        moral="fabriclab read says as much of such a log.",
    ),
    Exercise(
        id="wires.geometry",
        title="Where copper ends",
        chinese="铜缆与光学的取舍",
        numbers=lambda draw: {
            "nodes": draw.pick("nodes", (2, 4, 8)),
            "racks": draw.pick("racks", (8, 16, 32)),
        },
        prompt=lambda x: (
            f"A cluster of {x.racks} racks, {x.nodes} nodes of 8 H100 in each, ports of 400 Gb/s on"
            " lanes of 100G. Leaf switches may sit in each rack, or together at the end of the"
            " row. Which links would you make copper, which optical, and why? Give one number each"
            " for reach, rack power, and the optics' power, say what each counts, and name what"
            " changes with lanes of 200G."
        ),
        kind=Free(least_words=60, worth=8),
        hints=(
            (
                "How far is it from a node to a switch in its own rack, and to one at the end of"
                " the row?"
            ),
            "A node draws 10.2 kW; what cooling does your rack then need?",
        ),
    ),
    Exercise(
        id="wires.burst",
        title="How long a burst",
        chinese="突发错误与交织",
        numbers=lambda draw: {
            "n": draw.pick("n", (528, 544, 560, 576)),
            "k": 514,
            "ways": draw.pick("ways", (2, 4)),
        },
        prompt=lambda x: (
            f"A port protects its bits with RS({x.n},{x.k}) over symbols of ten bits, and deals the"
            f" symbols to {x.ways} codewords in turn. A spike of noise inverts a run of bits and"
            " nothing else is wrong. How many bits may the run have, at most, so that it is mended"
            " wherever in a symbol it starts?"
        ),
        kind=Quantity(
            lambda x: link.ReedSolomon(x.n, x.k, 10).burst(x.ways),
            "number",
            tolerance=0.001,
            slips=(
                Slip(
                    "starts on a symbol",
                    "your run begins at the first bit of a symbol; one that begins at the last bit"
                    " touches one symbol more",
                    lambda x: _burst(x, symbols=1) - 1,
                ),
                Slip(
                    "one codeword",
                    "you gave the whole run to one codeword; its symbols are dealt out in turn",
                    lambda x: _burst(x) - (x.ways - 1) * 10 * (x.n - x.k) / 2,
                ),
                Slip(
                    "parity for errors",
                    "you let one symbol of parity mend one error; it takes two, one to find the"
                    " place and one to mend it",
                    lambda x: _burst(x, erased=2),
                ),
            ),
        ),
        hints=(
            "How many wrong symbols may each codeword have, and how many does that make for all?",
            "How many symbols does a run of bits touch if it begins at the last bit of one?",
        ),
        moral="The same bits spread at random over more symbols would have been too many.",
    ),
]
