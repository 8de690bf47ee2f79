"""Level 1 alive: the eye that a receiver sees, and the budget that a cable spends."""

from dataclasses import replace

from fabriclab import catalog, link
from fabriclab.course.engine import plot
from fabriclab.course.engine.explorer import Grip, buttons, explorer, slider, steps
from fabriclab.course.wires import figures as drawings
from fabriclab.units import Gbps, si

# as many as a move can afford; one seed, so that the picture does not flicker
SYMBOLS, SAMPLES = 2048, 16
BUDGET = 30.0  # dB
CONNECTOR = 1.0  # dB each: the chapter's two cost 2 dB
DAC = catalog.MEDIA[0]


def chance(value):
    """A probability for people: 1.5e-13, 0.02; below 1e-99 it is none, and what rounds to 1 is all.

    >>> chance(1.4983e-13), chance(0.02), chance(1e-120), chance(1 - 1e-9)
    ('1.5e-13', '0.02', 'below 1e-99', 'all')
    """
    shown = "below 1e-99" if value < 1e-99 else f"{value:.2g}"
    return "all" if shown == "1" else shown


@explorer(
    drawings.eye,
    drawings.move_eye,
    [
        {"code": buttons("line code", [("NRZ", link.NRZ), ("PAM4", link.PAM4)])},
        {
            "snr": slider("signal to noise", [half / 2 for half in range(16, 71)], "{:g} dB"),
            "bandwidth": slider("channel", [k / 20 for k in range(6, 31)], "{:.0%} of baud"),
        },
    ],
    alt="Eye diagram: the wave of many symbols laid over one another, the receiver's thresholds,"
    " and the opening of each eye.",
    still=("heading",),
)
def eye(snr=22.0, bandwidth=0.75, code=link.PAM4):
    """Figure 5 alive: the eye of `code` at `snr` dB through a channel of `bandwidth`, a share of
    the symbol rate (the baud).

    Words count the bits decided wrong, compute their share exactly, and say how many codewords KP4
    then loses.
    """
    seen = link.eye(code, snr, bandwidth, SYMBOLS, SAMPLES)
    bits = SYMBOLS * code.bits
    exact, noise = link.eye_error_ratio(snr, code, bandwidth), link.bit_error_ratio(snr, code)
    lost, limit = link.KP4.codeword_loss(exact), link.KP4.ber_for(1e-12)
    apart = code.levels[1] - code.levels[0]
    height = f"{seen.height:.2f} of {apart:.2f} open" if seen.height > 0 else "closed"
    return (seen, code), [
        f"{code.name}, {snr:g} dB, channel {bandwidth:.0%} of baud: worst eye {height};"
        f" {round(seen.ber * bits)} of {bits:,} bits wrong.",
        f"Share of wrong bits, exactly: {chance(exact)}; from noise alone, without smear:"
        f" {chance(noise)}.",
        f"After KP4, codewords lost: {chance(lost)}."
        f" {'Within' if exact <= limit else 'Beyond'} the {limit:.1e} it takes for one in 1e12.",
    ]


def _draw_budget(axes, loss, media, metres, medium):
    below = _below(axes.figure, axes)
    return {
        "bar": drawings.budget(axes, {"passive copper": loss}, BUDGET),
        "table": drawings.media(below, media, metres, medium),
    }


def _move_budget(artists, loss, media, metres, medium):
    drawings.move_budget(artists["bar"], {"passive copper": loss}, BUDGET)
    drawings.move_media(artists["table"], media, metres, medium)


def _grips(lane_rate, metres, **_):
    """The end of the cable in the bar, and the dashed line below, move the length."""
    each = link.loss_per_metre(lane_rate)
    yield Grip((min(metres * each, BUDGET), 0.34), lambda x, y: {"metres": x / each})
    for row in range(len(catalog.MEDIA)):
        yield Grip((metres, row + 0.5), lambda x, y: {"metres": x}, axes=1)


@explorer(
    _draw_budget,
    _move_budget,
    [
        {
            "lane_rate": slider("lane rate", [50 * Gbps, 100 * Gbps, 200 * Gbps], "b/s"),
            "metres": slider("length", steps(0.5, 200), "{:g} m"),
        },
        {"connectors": slider("connectors", range(9), "{}")},
        {"medium": buttons("medium", [each.name for each in catalog.MEDIA])},
    ],
    alt="Above, a link budget in dB: cable, connectors, and the margin left or missing. Below, how"
    " far each medium reaches, against the length.",
    size=(7.2, 4.6),
    grips=_grips,
)
def budget(lane_rate=50 * Gbps, metres=3.0, connectors=2, medium="DAC"):
    """The link budget of the chapter alive: 30 dB, spent by `metres` of copper and `connectors`;
    below, which media reach, at what price.

    `lane_rate` in bytes per second, PAM4; `medium` names one of `catalog.MEDIA`. Copper reaches as
    far as its budget.
    """
    per_metre = link.loss_per_metre(lane_rate)
    loss = metres * per_metre, connectors * CONNECTOR
    copper = replace(DAC, reach=link.longest_cable(BUDGET, per_metre, connectors, CONNECTOR))
    media = [copper, *catalog.MEDIA[1:]]
    chosen = next(each for each in media if each.name == medium)
    return (loss, media, metres, medium), [
        _margin(lane_rate, metres, loss, copper.reach),
        _medium(chosen, metres),
        _which(media, metres),
    ]


@plot.drawing
def _below(figure, above):
    """A second Axes under the first, in the same style."""
    grid = figure.add_gridspec(2, 1, height_ratios=(1, 1.9))
    above.set_subplotspec(grid[0])
    below = figure.add_subplot(grid[1])
    below.set_axisbelow(True)
    below.tick_params(labelsize=plot.STYLE["xtick.labelsize"])
    return below


def _margin(lane_rate, metres, loss, longest):
    margin = BUDGET - sum(loss)
    verdict = f"margin {margin:.1f} dB" if margin >= 0 else f"short by {-margin:.1f} dB"
    return (
        f"Copper, {metres:g} m at {si(lane_rate, 'b/s')}: {loss[0]:.1f} + {loss[1]:.1f} of"
        f" {BUDGET:g} dB, {verdict}; longest cable {longest:.3g} m."
    )


def _medium(medium, metres):
    flight = si(link.propagation_delay(metres, medium.velocity), "s", 3)
    verdict = "it reaches" if metres <= medium.reach else "it does not reach"
    return (
        f"{medium.name}: {si(medium.price, '$')} and {si(2 * medium.watts_per_end, 'W')} a link,"
        f" {flight} on the way; {verdict}."
    )


def _which(media, metres):
    names = [medium.name for medium in link.media_for(metres, media)]
    return f"What reaches {metres:g} m: {', '.join(names) if names else 'nothing in the table'}."
