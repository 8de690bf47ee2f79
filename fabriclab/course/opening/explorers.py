"""The opening alive: one training step inside a node and across the network, and what the wait
costs.
"""

from fabriclab import catalog, collectives
from fabriclab.course.engine.explorer import explorer, slider, steps
from fabriclab.course.opening import figures as drawings
from fabriclab.units import GB, MB, day, hour, ms, si, si_digits

NODE = 8  # ranks of the comparison: one node, on NVLink


@explorer(
    drawings.timeline,
    drawings.move_timeline,
    [
        {
            "compute": slider("each pass", steps(1 * ms, 10.0), "s"),
            "overlap": slider("overlap", [share / 10 for share in range(11)], "{:.0%}"),
        },
        {
            "payload": slider("payload M", [*steps(1 * MB, 1000 * GB), 350 * GB], "B"),
            "ranks": slider("ranks N", [2**k for k in range(1, 17)], "{:,}"),
        },
        {"beta": slider("link, one way", [*steps(1 * GB, 1000 * GB), 12.5 * GB, 450 * GB], "B/s")},
    ],
    alt="Time line of a training step inside one node and across the network: forward, backward,"
    " AllReduce, and the wait for it.",
    size=(7.2, 3.6),
)
def step(compute=100 * ms, payload=757 * MB, ranks=64, beta=50 * GB, overlap=0.0):
    """Figure 4 alive: a forward and a backward pass of `compute` seconds each, then a ring
    AllReduce over `ranks` at `beta` bytes/s.

    Beside it the same payload inside one node. It starts with the text's 30 ms: what 757 MB take
    over 64 ranks with the start-up of `catalog.NDR`. `overlap` is the share of the backward pass in
    which gradients already travel.
    """
    nvlink = catalog.NVLINK4
    inside, across = (
        collectives.Step(
            compute, compute, collectives.ring_allreduce(payload, n, alpha, rate), overlap
        )
        for n, alpha, rate in ((NODE, nvlink.alpha, nvlink.beta), (ranks, catalog.NDR.alpha, beta))
    )
    shown = {
        f"{NODE} ranks in a node, {si(nvlink.beta, 'B/s')}": inside,
        f"{ranks:,} ranks, {si(beta, 'B/s')}": across,
    }
    lost = (1 - across.utilisation) * ranks * day / hour
    exposed = f"{si(across.idle, 's')} exposed" if across.idle else "all of it hidden"
    return [shown], [
        f"{ranks:,} ranks, {si(payload, 'B')} each at {si(beta, 'B/s')} one way: AllReduce"
        f" {si(across.communication, 's')}, {exposed}.",
        f"Step {si(across.total, 's')}, busy {across.utilisation:.1%}: {si_digits(lost, 4)}"
        " GPU-hours idle a day, all ranks together.",
        f"Inside a node of {NODE}: AllReduce {si(inside.communication, 's')}, busy"
        f" {inside.utilisation:.1%}. Across takes"
        f" {across.communication / inside.communication:.3g} times as long.",
    ]
