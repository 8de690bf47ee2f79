"""The first fallacy alive: what a faster link saves of a message's time."""

from fabriclab import catalog, transport
from fabriclab.course.engine.explorer import explorer, slider, steps
from fabriclab.course.fallacies import figures as drawings
from fabriclab.units import GB, KB, TB, si, us


@explorer(
    drawings.upgrade,
    drawings.move_upgrade,
    [
        {
            "size": slider("message n", [n for n in steps(1, 1 * TB) if n == int(n)], "B"),
            "alpha": slider("start-up", steps(0.1, 100, us), "s"),
        },
        {
            "beta": slider("old link", steps(1, 500, GB), "B/s"),
            "faster": slider("new link", [1.25, 1.5, 2.0, 3.0, 4.0, 8.0, 16.0], "{:g} times"),
        },
    ],
    alt="Share of a transfer's time that a faster link saves against the size of the message, and"
    " the share that its rate promises.",
    size=(7.6, 4.0),
)
def upgrade(size=10 * KB, alpha=1.5 * us, beta=catalog.HDR.beta, faster=2.0):
    """A message on a link of `beta` bytes per second, and on one `faster` times as fast: the
    start-up `alpha` stays.

    It starts with the text's 10 KB from HDR to NDR: 10.5 % for twice the bandwidth.
    """
    before, after = (transport.transfer_time(size, alpha, rate) for rate in (beta, faster * beta))
    saved, half = (
        transport.time_saved(size, alpha, beta, faster),
        transport.crossover(alpha, beta),
    )
    return (size, alpha, beta, faster), [
        f"{si(size, 'B')}: {si(before, 's')} before, {si(after, 's')} after: {saved:.1%} saved,"
        f" {1 - 1 / faster:.1%} promised.",
        f"Half of the promise is kept from n* = {si(half, 'B', 3)} on; nine tenths from"
        f" {si(9 * half, 'B', 3)} on.",
    ]
