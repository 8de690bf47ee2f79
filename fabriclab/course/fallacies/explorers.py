"""The first fallacy alive: what a faster link saves of a message's time. Floor 6."""

from fabriclab import catalog, transport
from fabriclab.course.engine import plot
from fabriclab.course.engine.explorer import Explorer, slider, steps
from fabriclab.course.fallacies import figures as drawings
from fabriclab.units import GB, KB, TB, si, us


def upgrade(size=10 * KB, alpha=1.5 * us, beta=catalog.HDR.beta, faster=2.0):
    """A message on a link of `beta` bytes per second, and on one `faster` times as fast: the
    start-up `alpha` stays.

    It starts with the text's 10 KB from HDR to NDR: 10.5 % for twice the bandwidth.
    """
    whole = [stop for stop in steps(1, 1 * TB) if stop == int(stop)]
    controls = {
        "size": slider("message n", whole, lambda value: si(value, "B", 4), size),
        "alpha": slider("start-up", steps(0.1, 100, us), lambda value: si(value, "s", 4), alpha),
        "beta": slider("old link", steps(1, 500, GB), lambda value: si(value, "B/s", 4), beta),
        "faster": slider(
            "new link",
            [1.25, 1.5, 2.0, 3.0, 4.0, 8.0, 16.0],
            lambda factor: f"{factor:g} times",
            faster,
        ),
    }

    def move(size, alpha, beta, faster):
        drawings.move_upgrade(artists, size, alpha, beta, faster)
        before, after = (
            transport.transfer_time(size, alpha, beta),
            transport.transfer_time(size, alpha, faster * beta),
        )
        half = transport.crossover(alpha, beta)
        return "\n".join(
            [
                (
                    f"{si(size, 'B', 4)}: {si(before, 's', 4)} before, {si(after, 's', 4)} after:"
                    f" {transport.time_saved(size, alpha, beta, faster):.1%} saved,"
                    f" {1 - 1 / faster:.1%} promised."
                ),
                (
                    f"Half of the promise is kept from n* = {si(half, 'B', 3)} on; nine tenths from"
                    f" {si(9 * half, 'B', 3)} on."
                ),
            ]
        )

    figure, axes = plot.new(7.6, 4.0)
    artists = drawings.upgrade(axes, size, alpha, beta, faster)
    return Explorer(
        controls,
        figure,
        [artist for name, group in artists.items() if name != "legend" for artist in group],
        move,
        alt=(
            "Share of a transfer's time that a faster link saves against the size of the message,"
            " and the share that its rate promises."
        ),
        rows=[["size", "alpha"], ["beta", "faster"]],
    )
