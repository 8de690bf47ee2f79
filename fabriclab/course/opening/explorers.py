"""The opening alive: one training step inside a node and across the network, and what the wait
costs. Floor 6.
"""

from fabriclab import catalog, collectives
from fabriclab.course.engine import plot
from fabriclab.course.engine.explorer import Explorer, slider, steps
from fabriclab.course.opening import figures as drawings
from fabriclab.units import GB, MB, day, hour, ms, si, si_digits

NODE = 8  # ranks of the comparison: one node, on NVLink


def step(compute=100 * ms, payload=757 * MB, ranks=64, beta=50 * GB, overlap=0.0):
    """Figure 4 alive: a forward and a backward pass of `compute` seconds each, then a ring
    AllReduce over `ranks` at `beta` bytes/s.

    Beside it the same payload inside one node. It starts with the text's 30 ms: what 757 MB take
    over 64 ranks with the start-up of `catalog.NDR`. `overlap` is the share of the backward pass in
    which gradients already travel.
    """
    controls = {
        "compute": slider("each pass", steps(1 * ms, 10.0), lambda value: si(value, "s"), compute),
        "overlap": slider("overlap", [share / 10 for share in range(11)], "{:.0%}".format, overlap),
        "payload": slider(
            "payload M",
            [*steps(1 * MB, 1000 * GB), 350 * GB],
            lambda value: si(value, "B"),
            payload,
        ),
        "ranks": slider("ranks N", [2**k for k in range(1, 17)], "{:,}".format, ranks),
        "beta": slider(
            "link, one way",
            [*steps(1 * GB, 1000 * GB), 12.5 * GB, 450 * GB],
            lambda value: si(value, "B/s"),
            beta,
        ),
    }

    def both(compute, payload, ranks, beta, overlap):
        inside = collectives.ring_allreduce(
            payload, NODE, catalog.NVLINK4.alpha, catalog.NVLINK4.beta
        )
        across = collectives.ring_allreduce(payload, ranks, catalog.NDR.alpha, beta)
        return {
            f"{NODE} ranks in a node, {si(catalog.NVLINK4.beta, 'B/s')}": collectives.Step(
                compute, compute, inside, overlap
            ),
            f"{ranks:,} ranks, {si(beta, 'B/s')}": collectives.Step(
                compute, compute, across, overlap
            ),
        }

    def move(**values):
        shown = both(**values)
        drawings.move_timeline(artists, shown)
        return _cost(*shown.values(), values["ranks"], values["payload"], values["beta"])

    figure, axes = plot.new(7.2, 3.6)
    artists = drawings.timeline(
        axes, both(**{name: control.value for name, control in controls.items()})
    )
    return Explorer(
        controls,
        figure,
        [artist for name, group in artists.items() if name != "legend" for artist in group],
        move,
        alt=(
            "Time line of a training step inside one node and across the network: forward,"
            " backward, AllReduce, and the wait for it."
        ),
        rows=[["compute", "overlap"], ["payload", "ranks"], ["beta"]],
    )


def _cost(inside, across, ranks, payload, beta):
    lost = (1 - across.utilisation) * ranks * day / hour
    exposed = f"{si(across.idle, 's')} exposed" if across.idle else "all of it hidden"
    return "\n".join(
        [
            (
                f"{ranks:,} ranks, {si(payload, 'B')} each at {si(beta, 'B/s')} one way: AllReduce"
                f" {si(across.communication, 's')}, {exposed}."
            ),
            (
                f"Step {si(across.total, 's')}, busy {across.utilisation:.1%}: {si_digits(lost, 4)}"
                " GPU-hours idle a day, all ranks together."
            ),
            (
                f"Inside a node of {NODE}: AllReduce {si(inside.communication, 's')}, busy"
                f" {inside.utilisation:.1%}. Across takes"
                f" {across.communication / inside.communication:.3g} times as long."
            ),
        ]
    )
