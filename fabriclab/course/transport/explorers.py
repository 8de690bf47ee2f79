"""Level 2 alive: one message on two paths, and an AllReduce against the compute phase that may hide
it. Floor 6.
"""

import ipywidgets
import numpy as np

from fabriclab import catalog, collectives, transport
from fabriclab.course.engine import plot
from fabriclab.course.engine.explorer import Explorer, slider, steps
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


def seconds(value):
    return si(value, "s")


def size_in_bytes(value):
    return si(value, "B")


def rate(value):
    return si(value, "B/s")


def times(ratio):
    """A ratio for people, to three digits: 3.37, 18.8, 2,130; from a million on as a power of ten.

    >>> times(3.3671), times(2133.3), times(1e8)
    ('3.37', '2,130', '1e+08')
    """
    return f"{float(f'{ratio:.3g}'):,.0f}" if 100 <= ratio < 1e6 else f"{ratio:.3g}"


def crossover(size=4 * KB, first=catalog.NDR, second=catalog.ROCE_100G):
    """Figure 8 alive: `T(n) = alpha + n/beta` for two paths, with sliders for both alphas, both
    betas and the message.

    It starts from a message of `size` bytes on the paths `first` and `second`, named A and B as
    they soon are others.
    """
    controls = {}
    for letter, path in (("a", first), ("b", second)):
        controls[f"alpha_{letter}"] = slider(
            f"{letter.upper()}: start-up α", ALPHAS, seconds, path.alpha
        )
        controls[f"beta_{letter}"] = slider(
            f"{letter.upper()}: bandwidth β", BETAS, rate, path.beta
        )
    whole = [stop for stop in steps(1, 10 * GB) if stop == int(stop)]
    controls["size"] = slider("message n", [*whole, 350 * MB], size_in_bytes, size)

    def paths(alpha_a, beta_a, alpha_b, beta_b):
        return catalog.Path("path A", alpha_a, beta_a, "sliders"), catalog.Path(
            "path B", alpha_b, beta_b, "sliders"
        )

    def move(size, **ends):
        both = paths(**ends)
        drawings.move_alpha_beta(artists, both, size)
        return "\n".join([*(_one_path(path, size) for path in both), _two_paths(*both, size)])

    figure, axes = plot.new()
    starts = {name: control.value for name, control in controls.items() if name != "size"}
    artists = drawings.alpha_beta(axes, paths(**starts), size)
    return Explorer(
        controls,
        figure,
        sum(artists.values(), []),
        move,
        alt=(
            "Transfer time against message size for two paths, both axes logarithmic; crossovers"
            " and the message are marked."
        ),
        rows=[["alpha_a", "beta_a"], ["alpha_b", "beta_b"], ["size"]],
    )


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


def allreduce(ranks=1024, payload=6 * GB, alpha=1.5 * us, beta=50 * GB, compute=101.1 * ms):
    """AllReduce time against payload for five algorithms, the compute phase as a line, and what it
    leaves exposed shaded.

    It starts as Napkin Math 1.2: `ranks`, `payload` bytes each, `alpha` s, `beta` bytes/s, a
    `compute` phase in seconds.
    """
    controls = {
        "ranks": slider("ranks N", [2**k for k in range(1, 17)], "{:,}".format, ranks),
        "payload": slider("payload M", [*steps(1 * KB, 1 * TB), 280 * GB], size_in_bytes, payload),
        "alpha": slider("start-up α", ALPHAS, seconds, alpha),
        "beta": slider("bandwidth β", BETAS, rate, beta),
        "compute": slider("compute phase", steps(10 * us, 100.0), seconds, compute),
    }
    algorithms = {
        name: ipywidgets.Checkbox(
            True, description=name, indent=False, layout={"width": "auto", "margin": "0 14px 0 0"}
        )
        for name in ALGORITHMS
    }
    sizes = np.geomspace(1 * KB, 1 * TB, 181)

    def costs(size, ranks, alpha, beta, chosen):
        return {
            name: float(value) if np.ndim(value) == 0 else value
            for name in chosen
            for value in [ALGORITHMS[name](size, ranks, alpha, beta)]
        }

    def move(ranks, payload, alpha, beta, compute, **ticked):
        chosen = [name for name in ALGORITHMS if ticked[name]]
        if not chosen:
            raise ValueError("Tick at least one algorithm.")
        at_payload = costs(payload, ranks, alpha, beta, chosen)
        drawings.move_allreduce(
            artists, costs(sizes, ranks, alpha, beta, chosen), payload, at_payload, compute
        )
        return _overlap(at_payload, ranks, payload, alpha, beta, compute)

    figure, axes = plot.new(8.2, 4.2)
    start = (ranks, alpha, beta, list(ALGORITHMS))
    artists = drawings.allreduce(
        axes,
        list(ALGORITHMS),
        sizes,
        costs(sizes, *start),
        payload,
        costs(payload, *start),
        compute,
    )
    moving = [artist for name, group in artists.items() if name != "legend" for artist in group]
    return Explorer(
        controls | algorithms,
        figure,
        moving,
        move,
        alt=(
            "AllReduce time against payload for each algorithm, both axes logarithmic; a line marks"
            " the compute phase, shading what it leaves exposed."
        ),
        rows=[["ranks", "payload"], ["alpha", "beta"], ["compute"], list(ALGORITHMS)],
    )


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

    return "\n".join(
        [
            (
                f"{ranks:,} ranks, {si(payload, 'B')} each. Fastest shown: {best},"
                f" {si(at_payload[best], 's')}; without overlap {share(at_payload[best])}."
            ),
            (
                f"With full overlap {si(exposed, 's')} of it stay exposed."
                if exposed
                else "With full overlap all of it hides behind the compute phase."
            ),
            (
                f"Ring: {si(ring, 's')}; without overlap {share(ring)}; {hides} behind"
                f" {si(compute, 's')} of compute."
            ),
        ]
    )
