"""Exercises of level 2: estimate, find the bug, read, object, decide, explain."""

from fabriclab import collectives, transport
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.kinds import Option, Quantity
from fabriclab.course.engine.exercises.slips import Slip
from fabriclab.course.engine.exercises.tasks import Bug, Decision, Estimate, Explain, Plant, Several
from fabriclab.course.engine.exercises.template import pick
from fabriclab.units import GB, KB, MB, Gbps, us


def _seen(draw):
    """Times of a path whose α and β are not told."""
    alpha, beta = draw.pick("alpha", (2, 4, 6, 8)) * us, draw.pick("beta", (12.5, 25)) * GB
    sizes = [25 * KB * n for n in range(9)]
    return {"sizes": sizes, "times": [transport.transfer_time(n, alpha, beta) for n in sizes]}


def _curve(x):
    """Time against size, as a drawing in text."""
    unit = x.times[0] / 4
    rows = []
    for level in range(round(x.times[-1] / unit), -1, -1):
        marks = "".join("  o" if round(t / unit) == level else "   " for t in x.times)
        rows.append(f"{level * unit / us:6.2f} |{marks}".rstrip())
    axis = "".join(f"{n / KB:6.0f}" for n in x.sizes[::2])
    return "\n".join(["time (us)", *rows, "       +" + "-" * 27, f"     {axis}  KB"])


def _doubled(x):
    path = transport.fit(x.sizes[1:], x.times[1:])
    return transport.crossover(path.alpha, path.beta)


def _costs(x):
    """Dollars a month: the price of the link where it is bought; the wait where it is not."""
    waits = x.chance * x.large + (1 - x.chance) * x.small
    kept = x.chance * x.large / 2 + (1 - x.chance) * x.small * 0.95
    return {
        "buy": x.price + kept,
        "keep": waits,
        "measure": x.test
        + x.chance * min(x.price + x.large / 2, x.large)
        + (1 - x.chance) * min(x.price + x.small * 0.95, x.small),
    }


EXERCISES = [
    Exercise(
        id="transport.guess",
        title="Before you compute: how long does the gradient take",
        chinese="数量级估计",
        numbers={
            "size": pick(4, 14, 26, 140, unit=GB),
            "ranks": pick(64, 256, 1024),
            "beta": pick(100, 200, 400, unit=Gbps),
        },
        prompt=(
            "A ring AllReduce of {size:B} over {ranks:,} ranks with {beta:b/s} each way. How long"
            " does it take? No calculator: between what and what?"
        ),
        kind=Estimate(
            lambda x: collectives.ring_allreduce(x.size, x.ranks, 2 * us, x.beta), "time"
        ),
        hints=(
            "Picture one rank's port: how many bytes leave it?",
            "About twice the buffer leaves each port, for any number of ranks.",
            "Ten bits for a byte is near enough: 100 Gb/s is about 10 GB/s.",
        ),
        moral="A range that holds and spans a factor of three is worth more than four digits.",
    ),
    Exercise(
        id="transport.bug",
        title="Six lines, one of them wrong",
        chinese="找出模型中的错误",
        prompt=(
            "Somebody's model of a ring AllReduce: `size` in bytes, `alpha` in seconds, `rate` in"
            " bits per second. For two ranks and no start-up it should give size / bytes per"
            " second."
        ),
        kind=Bug(
            lines=(
                "def ring(size, ranks, alpha, rate):",
                "    beta = rate / 8",
                "    chunk = size / ranks",
                "    steps = 2 * (ranks - 1)",
                "    each = alpha + chunk / beta",
                "    return steps * each",
            ),
            plants=(
                Plant(2, "    beta = rate * 8", "A byte has eight bits: bits are divided by 8."),
                Plant(3, "    chunk = size / (ranks - 1)", "The buffer is cut into one per rank."),
                Plant(
                    4, "    steps = ranks - 1", "It reduces once round, then gathers once round."
                ),
                Plant(5, "    each = alpha + size / beta", "A step carries a chunk, no buffer."),
                Plant(6, "    return alpha + steps * (each - alpha)", "Every step starts up anew."),
            ),
            reasons={
                1: "All that the model needs is there.",
                2: "The rate comes in bits, the size in bytes.",
                3: "Each rank owns one chunk in the end.",
                4: "One chunk is reduced on N - 1 hops and copied on N - 1 more.",
                5: "A step is one message of one chunk.",
                6: "Steps follow one another.",
            },
        ),
        hints=(
            "Picture two ranks with half the buffer each: what passes between them?",
            "Take ranks = 2 and alpha = 0, and run the lines in your head.",
            "Then let alpha be large: how often is it paid?",
        ),
        moral="A case you can do in your head finds most wrong lines, in your own models too.",
    ),
    Exercise(
        id="transport.curve",
        title="α from a picture",
        chinese="读图：α 与 β",
        numbers=_seen,
        places={"curve": _curve},
        prompt=(
            "Time against message size on one path:\n\n```\n{curve}\n```\n\nWhich message size"
            " takes twice as long as an empty one?"
        ),
        kind=Quantity(
            key=_doubled,
            dimension="size",
            tolerance=0.15,
            slips=(
                Slip(
                    "once more for twice",
                    "you took the size at which the bytes alone take twice the start-up",
                    lambda x: 2 * _doubled(x),
                ),
            ),
        ),
        hints=(
            "Where does the line meet the axis of time? That is an empty message.",
            "Go up to twice that height, over to the line, and down; past the edge if need be.",
            "The line is straight: two of its points give its slope.",
        ),
        moral="Where the time has doubled is n*: the picture holds both α and β.",
    ),
    Exercise(
        id="transport.objections",
        title="Twice the rate, half the time",
        chinese="评判一个论断",
        numbers={"size": pick(8, 16, 32, unit=KB), "alpha": pick(2, 3, 4, unit=us)},
        prompt=(
            'A seller writes: "Our 800 Gb/s port halves the time of your messages of {size:B} from'
            ' that of a 400 Gb/s port." A message starts up in {alpha:s} on both. Which objections'
            " are sound?"
        ),
        kind=Several(
            (
                Option(
                    "The start-up is most of the time at this size, and no rate shortens it",
                    "These sizes lie below the crossover: α is the larger term.",
                    right=True,
                    also=("At this size most of the time is α, which a faster port leaves alone",),
                ),
                Option(
                    "A port of 800 Gb/s needs FEC, and one of 400 Gb/s with PAM4 does without it",
                    "Both use PAM4, and both need FEC.",
                    also=("FEC comes in with 800 Gb/s; PAM4 at 400 Gb/s can do without it",),
                ),
                Option(
                    "The host must feed the port: PCIe 5 x16 carries some 500 Gb/s each way",
                    "A port is no faster than the slot behind it.",
                    right=True,
                    also=("PCIe 5 x16 ends near 500 Gb/s each way, so the host cannot fill it",),
                ),
                Option(
                    "Light is no faster at 800 Gb/s, so the bytes take the same time to go out",
                    "Putting bytes on the wire (transmission) does get shorter; only the way of"
                    " light (propagation) stays.",
                    also=("Bytes travel at the speed of light, so they go out no faster at 800",),
                ),
            )
        ),
        hints=(
            "Draw both messages as bars of α and n/β.",
            "Which part of the bar does each objection speak of?",
            "Is it true, and would it change the time of this message?",
        ),
        moral="A claim about a rate is a claim about one of two terms.",
    ),
    Exercise(
        id="transport.invest",
        title="Buy, keep, or measure first",
        chinese="信息不全时的决策",
        numbers={
            "chance": pick(0.1, 0.3, 0.5, 0.8),
            "price": pick(20_000, 40_000),
            "large": pick(60_000, 120_000),
            "small": pick(2_000, 10_000),
            "test": pick(1_100, 6_300),
        },
        prompt=(
            "Nobody knows whether your job sends large messages; you give it a chance of"
            " {chance:.0%}. Waiting for the network costs {large:$} a month if it does, and"
            " {small:$} if not. Ports of twice the rate cost {price:$} a month; they halve the"
            " first, and take 5 % off the second. A profile that tells you for certain, after"
            " which you do what is cheaper, costs {test:$} once; count one month. What do you do?"
        ),
        kind=Decision(
            _costs,
            "Write down both cases for each action and weigh them by their chance; after a"
            " measurement you choose the cheaper action in each case.",
        ),
        hints=(
            "Draw a tree: first your action, then what turns out to be true.",
            "The cost of an action is the mean of its two ends, weighed by their chance.",
            "Measuring costs its price, and then the cheaper action in each case.",
        ),
        moral="A measurement is worth what it saves when it changes your mind, and no more.",
    ),
    Exercise(
        id="transport.explain",
        title="α and β for a colleague",
        chinese="向同事解释",
        numbers={"size": pick(10, 50, unit=KB), "large": pick(1, 10, unit=MB)},
        prompt=(
            'A colleague asks: "Why did our new ports, twice as fast, do so little for messages of'
            ' {size:B} and so much for those of {large:B}?" Explain.'
        ),
        kind=Explain(
            rubric=(
                "a message pays a start-up that does not depend on its size",
                "and a time per byte, which alone the faster port shortens",
                "a size is named at which the two are equal",
                "the small ones lie below it and the large ones above",
            ),
            sample=(
                "Each message pays a fixed start-up and then a time per byte. Faster ports shorten"
                " only the second. The two are equal at α times β, some tens of kilobytes. Below"
                " it you mostly pay the start-up, which stayed; above it mostly bytes, which got"
                " twice as quick."
            ),
        ),
        hints=(
            "Two bars for each message: what do they stand for?",
            "Which of them changed?",
            "Name the size at which they are equal.",
        ),
    ),
]
