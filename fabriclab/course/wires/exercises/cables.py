"""Exercises of level 1: cables, budgets and bills."""

from fabriclab import link
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.kinds import Choice, Free, Option, Quantity
from fabriclab.course.engine.exercises.slips import BITS, BOTH_WAYS, Slip
from fabriclab.course.engine.exercises.template import pick
from fabriclab.logs import mlxlink
from fabriclab.units import Gbps, hour, kW, minute, si


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


def _seen(x):
    return link.error_ratio_bounds(8 * x.rate * x.time, x.errors)[1]


EXERCISES = [
    Exercise(
        id="wires.reach",
        title="How long may the cable be",
        chinese="链路预算与铜缆距离",
        numbers={
            "budget": pick(26, 28, 30, 32),
            "per_metre": pick(5.5, 6.5, 7.5, 9.5, 11, name="per metre"),
            "connectors": pick(2, 3, 4),
            "margin": pick(3, 4, 5),
        },
        prompt=(
            "A lane may lose {budget} dB. Its copper loses {per_metre:g} dB a metre, each"
            " of {connectors} connectors 1 dB, and {margin} dB are to stay in hand. How "
            "long may the cable be? Racks are laid out around this length."
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
        numbers={"hosts": pick(4096, 8192, 10_000, 16_384), "watts": pick(8, 9, 14, 15, 20)},
        prompt=(
            "A non-blocking tree of three tiers joins {hosts:,} GPUs. All its cables from"
            " switch to switch are optical, with pluggable modules of {watts} W; those to"
            " the GPUs are copper. What do the modules draw? It is paid for every hour "
            "the cluster exists."
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
        numbers={"network": pick(60, 75, 90, 105, 150, unit=kW), "gpus": pick(512, 1024, 1536)},
        prompt=(
            "The network of a cluster draws {network:W}. Its {gpus:,} GPUs draw 700 W "
            "each, by themselves; they sit in nodes of eight that draw 10.2 kW with all "
            "that is in them. What share does the network have of the power of network "
            "and GPUs together?"
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
        numbers={
            "rate": pick(100, 200, 400, 800, unit=Gbps),
            "time": pick(20 * minute, 2 * hour, 6 * hour, 24 * hour),
        },
        prompt=(
            "mlxlink shows 15E-255 after correction, which is its way to say that it has "
            "seen no error, on a port of {rate:b/s} whose counters were cleared {time:s} "
            "ago, all of it busy. Below which bit error ratio is this link with 95 % "
            "confidence? Nothing seen is not nothing there."
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
        id="wires.seen",
        title="A few errors seen",
        chinese="见过几个误码能说明什么",
        numbers=lambda draw: {
            "rate": draw.pick("rate", (100, 200, 400, 800)) * Gbps,
            "time": draw.pick("time", (20 * minute, 2 * hour, 6 * hour)),
            "errors": draw.pick("errors", (2, 4, 7, 12)),
        },
        prompt=lambda x: (
            f"A soak test of {si(x.time, 's')} on a busy port of {si(x.rate, 'b/s')} ends with"
            f" {x.errors} bit errors. The acceptance sheet asks for the error ratio that is not"
            " exceeded with 95 % confidence, not for the one that was seen. Which is it?"
        ),
        kind=Quantity(
            _seen,
            "number",
            tolerance=0.01,
            slips=(
                Slip(
                    "what was seen",
                    "you gave the ratio that was seen; half of all links that show it are worse",
                    lambda x: x.errors / (8 * x.rate * x.time),
                ),
                Slip(
                    "both sides",
                    "you shared the 5 % between both sides; a sheet that asks for 'not exceeded'"
                    " puts it all on one",
                    lambda x: link.error_ratio_bounds(8 * x.rate * x.time, x.errors, 0.975)[1],
                ),
                Slip(
                    "rule of three",
                    "you took the rule of three, which is for no error at all",
                    lambda x: link.error_ratio_bounds(8 * x.rate * x.time, 0)[1],
                ),
                Slip(
                    BITS,
                    "you counted bytes where errors are counted in bits",
                    lambda x: 8 * _seen(x),
                ),
            ),
        ),
        hints=(
            "How many errors must be expected for this few, or fewer, to come in 5 of 100 tests?",
            "The expected count solves a Poisson sum of 0.05; scipy.stats.chi2.ppf(0.95, 2k + 2)"
            " is twice it. Then divide by the bits.",
        ),
        moral="A handful of errors bounds the ratio to within a factor. Soak longer.",
    ),
    Exercise(
        id="wires.diagnosis",
        title="What the counters say",
        chinese="读懂 mlxlink",
        numbers={"worst": pick(0, 1, 2, 3, name="lane"), "errors": pick(38, 57, 112, 240)},
        prompt=(
            "An NDR port on RS(544,514) has been up for six days. Raw BER 4E-5, before "
            "correction; on lane {worst} there are two hundred times as many raw errors "
            "as on any other; {errors} errors after correction; three link-downs. What do"
            " you do first?"
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
        numbers={"nodes": pick(2, 4, 8), "racks": pick(8, 16, 32)},
        prompt=(
            "A cluster of {racks} racks, {nodes} nodes of 8 H100 in each, ports of 400 "
            "Gb/s on lanes of 100G. Leaf switches may sit in each rack, or together at "
            "the end of the row. Which links would you make copper, which optical, and "
            "why? Give one number each for reach, rack power, and the optics' power, say "
            "what each counts, and name what changes with lanes of 200G."
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
        numbers={"n": pick(528, 544, 560, 576), "k": 514, "ways": pick(2, 4)},
        prompt=(
            "A port protects its bits with RS({n},{k}) over symbols of ten bits, and "
            "deals the symbols to {ways} codewords in turn. A spike of noise inverts a "
            "run of bits and nothing else is wrong. How many bits may the run have, at "
            "most, so that it is mended wherever in a symbol it starts?"
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
