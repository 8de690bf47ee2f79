"""Drawings for level 4, loss: who repeats what cables spoil."""

import numpy as np

from fabriclab import transport
from fabriclab.course.engine.plot import COLOURS, SERIES, drawing, log_axis


@drawing
def retry(ax, packet, rate, delay, cables, window):
    """Share of a line that carries new bytes against the bit error ratio of each cable, for three
    who may repeat: the cable's ends, and the sender by selective repeat or go-back-N over `cables`.

    `packet` in bytes, `rate` in bytes/s, `delay` of one cable in seconds, `window` in packets.
    Returns the lines by name.
    """
    ber = np.logspace(-13, -6, 141)
    one, path = (transport.spoilt_share(ber, packet, n) for n in (1, cables))
    shares = {
        "the cable's ends": transport.goodput_link_retry(one, packet, rate, delay),
        "the sender, selective": transport.goodput_selective(path),
        "the sender, go-back-N": transport.goodput_go_back_n(path, window),
    }
    log_axis(ax.xaxis, "", 1e-13, 1e-6)
    ax.xaxis.set_major_formatter(lambda value, _: f"1e{round(np.log10(value))}")
    ax.set(
        xlabel="bit error ratio of a cable, after FEC",
        ylabel="share of the line for new bytes",
        ylim=(0, 1.05),
    )
    lines = {
        name: ax.plot(ber, share, color=COLOURS[colour], linestyle=dashes, label=name)[0]
        for (name, share), (colour, dashes) in zip(shares.items(), SERIES)
    }
    ax.legend(loc="lower left", frameon=False)
    return lines
