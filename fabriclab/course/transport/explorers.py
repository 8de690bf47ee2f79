"""Level 2 alive: one message on two paths, and an AllReduce against the compute phase that may hide
it.
"""

import numpy as np

from fabriclab import catalog, collectives, transport
from fabriclab.course.engine.explorer import Grip, explorer, slider, steps, tick
from fabriclab.course.transport import figures as drawings
from fabriclab.units import GB, KB, MB, TB, ms, si, us

ALPHAS, BETAS = steps(0.1, 100, us), steps(1, 1000, GB)
ALGORITHMS = {
    "ring": collectives.ring_allreduce,
    "tree": collectives.tree_allreduce,
    "pipelined tree": collectives.pipelined_tree_allreduce,
    "recursive doubling": collectives.recursive_doubling_allreduce,
    "Rabenseifner": collectives.rabenseifner_allreduce,
}
SIZES = np.geomspace(1 * KB, 1 * TB, 181)


def times(ratio):
    """A ratio for people, to three digits: 3.37, 18.8, 2,130; from a million on as a power of ten.

    >>> times(3.3671), times(2133.3), times(1e8)
    ('3.37', '2,130', '1e+08')
    """
    return f"{float(f'{ratio:.3g}'):,.0f}" if 100 <= ratio < 1e6 else f"{ratio:.3g}"


def _grips(size, **path):
    """The message's dots move n, the flat end of a curve its alpha, the sloping end its beta."""
    yield Grip((size, 3e-8), lambda x, y: {"size": x})
    for letter in "ab":
        alpha, beta = path[f"alpha_{letter}"], path[f"beta_{letter}"]
        yield Grip((size, alpha + size / beta), lambda x, y: {"size": x})
        yield Grip((10.0, alpha + 10 / beta), lambda x, y, letter=letter: {f"alpha_{letter}": y})
        yield Grip(
            (3 * GB, alpha + 3 * GB / beta),
            lambda x, y, letter=letter, alpha=alpha: {f"beta_{letter}": x / max(y - alpha, 1e-12)},
        )


def _path(letter):
    name = letter.upper()
    return {
        f"alpha_{letter}": slider(f"{name}: start-up α", ALPHAS, "s"),
        f"beta_{letter}": slider(f"{name}: bandwidth β", BETAS, "B/s"),
    }


@explorer(
    drawings.alpha_beta,
    drawings.move_alpha_beta,
    [
        _path("a"),
        _path("b"),
        {
            "size": slider(
                "message n", [*(n for n in steps(1, 10 * GB) if n == int(n)), 350 * MB], "B"
            )
        },
    ],
    alt="Transfer time against message size for two paths, both axes logarithmic; crossovers and"
    " the message are marked.",
    grips=_grips,
)
def crossover(
    alpha_a=catalog.NDR.alpha,
    beta_a=catalog.NDR.beta,
    alpha_b=catalog.ROCE_100G.alpha,
    beta_b=catalog.ROCE_100G.beta,
    size=4 * KB,
):
    """Figure 8 alive: `T(n) = alpha + n/beta` for two paths, with sliders for both alphas, both
    betas and the message.

    It starts from a message of `size` bytes on NDR and 100G RoCE, named A and B as they soon are
    others.
    """
    a, b = paths = [
        catalog.Path(f"path {letter}", alpha, beta, "sliders")
        for letter, alpha, beta in (("A", alpha_a, beta_a), ("B", alpha_b, beta_b))
    ]
    return (paths, size), [_one_path(a, size), _one_path(b, size), _two_paths(a, b, size)]


def _one_path(path, size):
    startup, wire = path.alpha, size / path.beta
    more, less = max(startup, wire), min(startup, wire)
    if more <= less * (1 + 1e-9):
        rule = "the two are equal"
    else:
        rule = (
            f"{'start-up' if startup > wire else 'bandwidth'} dominates, {times(more / less)} to 1"
        )
    total = transport.transfer_time(size, path.alpha, path.beta)
    star = transport.crossover(path.alpha, path.beta)
    return (
        f"{path.name[-1]}: {si(total, 's')} = {si(startup, 's')} start-up + {si(wire, 's')}"
        f" transfer; {rule} (n* = {si(star, 'B')})"
    )


def _two_paths(a, b, size):
    slow, fast = (
        transport.transfer_time(size, a.alpha, a.beta),
        transport.transfer_time(size, b.alpha, b.beta),
    )
    equal = transport.break_even(a.alpha, a.beta, b.alpha, b.beta)
    if (a.alpha, a.beta) == (b.alpha, b.beta):
        return f"{si(size, 'B')}: the two paths are the same."
    winner, ratio = ("A", fast / slow) if slow <= fast else ("B", slow / fast)
    alike = times(ratio) == "1"
    faster = f"{winner} is {times(ratio)} times faster"
    verdict = (
        f"{si(size, 'B')}: {'both take the same time, to half a percent' if alike else faster}"
    )
    if np.isinf(equal) or equal == 0:  # with one start-up for both, they meet at no bytes at all
        return (
            f"{verdict}; {winner} is no slower at any size."
            if alike
            else f"{verdict}, and no slower at any other size."
        )
    return f"{verdict}; they take equal time at {si(equal, 'B')}."


def _both(payload, compute, **_):
    """Where payload and compute phase cross moves both; the ends of their lines move one."""
    yield Grip((payload, compute), lambda x, y: {"payload": x, "compute": y})
    yield Grip((payload, 3 * us), lambda x, y: {"payload": x})
    yield Grip((3 * KB, compute), lambda x, y: {"compute": y})


@explorer(
    lambda axes, costs, *numbers: drawings.allreduce(
        axes, list(ALGORITHMS), SIZES, costs, *numbers
    ),
    drawings.move_allreduce,
    [
        {
            "ranks": slider("ranks N", [2**k for k in range(1, 17)], "{:,}"),
            "payload": slider("payload M", [*steps(1 * KB, 1 * TB), 280 * GB], "B"),
        },
        {"alpha": slider("start-up α", ALPHAS, "s"), "beta": slider("bandwidth β", BETAS, "B/s")},
        {"compute": slider("compute phase", steps(10 * us, 100.0), "s")},
        {name.lower().replace(" ", "_"): tick(name) for name in ALGORITHMS},
    ],
    alt="AllReduce time against payload for each algorithm, both axes logarithmic; a line marks the"
    " compute phase, shading what it leaves exposed.",
    size=(8.2, 4.2),
    grips=_both,
)
def allreduce(
    ranks=1024,
    payload=6 * GB,
    alpha=1.5 * us,
    beta=50 * GB,
    compute=101.1 * ms,
    ring=True,
    tree=True,
    pipelined_tree=True,
    recursive_doubling=True,
    rabenseifner=True,
):
    """AllReduce time against payload for five algorithms, the compute phase as a line, and what it
    leaves exposed shaded.

    It starts as Napkin Math 1.2: `ranks`, `payload` bytes each, `alpha` s, `beta` bytes/s, a
    `compute` phase in seconds.
    """
    ticked = ring, tree, pipelined_tree, recursive_doubling, rabenseifner
    chosen = {name: cost for on, (name, cost) in zip(ticked, ALGORITHMS.items()) if on}
    if not chosen:
        raise ValueError("Tick at least one algorithm.")
    curves = {name: cost(SIZES, ranks, alpha, beta) for name, cost in chosen.items()}
    here = {name: float(cost(payload, ranks, alpha, beta)) for name, cost in chosen.items()}
    lines = _overlap(here, ranks, payload, alpha, beta, compute)
    return (curves, payload, here, compute), lines


def _overlap(at_payload, ranks, payload, alpha, beta, compute):
    best = min(at_payload, key=at_payload.get)
    ring, hidden = (
        collectives.ring_allreduce(payload, ranks, alpha, beta),
        collectives.hidden_payload(compute, ranks, alpha, beta),
    )
    exposed = collectives.exposed_time(at_payload[best], compute)
    hides = f"hides up to {si(hidden, 'B')}" if hidden else "hides nothing"

    def share(communication):
        return f"{communication / (communication + compute):.1%} of the step"

    return [
        f"{ranks:,} ranks, {si(payload, 'B')} each. Fastest shown: {best},"
        f" {si(at_payload[best], 's')}; without overlap {share(at_payload[best])}.",
        f"With full overlap {si(exposed, 's')} of it stay exposed."
        if exposed
        else "With full overlap all of it hides behind the compute phase.",
        f"Ring: {si(ring, 's')}; without overlap {share(ring)}; {hides} behind"
        f" {si(compute, 's')} of compute.",
    ]
