"""The least times that ports and cuts allow, and what a dead part takes away."""

import numpy as np
from matplotlib.patches import Rectangle

from fabriclab.course.engine.plot import COLOURS, drawing, log_axis
from fabriclab.course.topology.wiring import move_wiring, wiring  # noqa: F401
from fabriclab.units import si, us

_CLEAR = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1}
BESIDE = {"textcoords": "offset points", "va": "center"}

# what a time comes from: colour and hatch, so that neither is needed alone
KINDS = {
    "port": ("first", ""),
    "cut": ("second", "//"),
    "switches": ("third", ".."),
    "text": ("muted", "xx"),
}


LEAST = 1e-15  # s, where the bars of a log axis start: out of sight on any


@drawing
def bounds(ax, rows):
    """Lower bounds on the time of a collective as bars, log scale: `rows` are (label, seconds,
    kind), kind one of `KINDS`.
    """
    axis_low, axis_high = _room([seconds for _, seconds, _ in rows])
    log_axis(ax.xaxis, "s", axis_low, axis_high)
    ax.set(ylim=(len(rows) - 0.4, -0.6), xlabel="at least this long")
    ax.set_yticks(range(len(rows)), [label for label, *_ in rows])
    ax.tick_params(axis="y", length=0)
    artists = {
        "bars": [
            ax.add_patch(Rectangle((LEAST, row - 0.31), 0, 0.62, edgecolor="white", linewidth=0.5))
            for row in range(len(rows))
        ]
    }
    artists["labels"] = [ax.annotate("", (1, row), (5, 0), **BESIDE) for row in range(len(rows))]
    move_bounds(artists, rows)
    return artists


def move_bounds(artists, rows, decide=()):
    """Set the artists of `bounds` to other times of as many rows; labels and axis stay. `decide`:
    rows that are said to.
    """
    for row, ((_, seconds, kind), bar, label) in enumerate(
        zip(rows, artists["bars"], artists["labels"], strict=True)
    ):
        colour, hatch = KINDS[kind]
        bar.set(width=seconds - bar.get_x(), facecolor=COLOURS[colour], hatch=hatch)
        label.xy = seconds, row
        label.set_text(si(seconds, "s") + ", decides" * (row in decide))


def _room(seconds):
    """Limits of a log axis in whole decades, with place for a label beyond the longest bar."""
    some = [each for each in seconds if 0 < each < np.inf] or [us]
    return 10.0 ** (np.floor(np.log10(min(some))) - 0.3), 10.0 ** (np.log10(max(some)) + 1)


@drawing
def failures(ax, found):
    """What is left of the bisection when one part of each kind dies, with hosts lost and detours:
    `found` are `topology.Failure`s.
    """
    ax.set(xlim=(0, 1), ylim=(len(found), 0), yticks=[], xlabel="bisection left")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    ax.spines["left"].set_visible(False)
    rows = np.arange(len(found))
    artists = {
        "whole": list(
            ax.barh(
                rows + 0.7,
                1,
                height=0.34,
                color=COLOURS["pale"],
                edgecolor=COLOURS["bad"],
                hatch="xx",
                linewidth=0,
            )
        ),
        "left": list(ax.barh(rows + 0.7, 1, height=0.34, color=COLOURS["first"])),
        "labels": [ax.text(0, row + 0.46, "", va="bottom") for row in rows],
    }
    move_failures(artists, found)
    return artists


def move_failures(artists, found):
    """Set the artists of `failures` to as many others."""
    for lost, bar, label in zip(found, artists["left"], artists["labels"], strict=True):
        share = lost.bisection_left / lost.bisection_before if lost.bisection_before else 0.0
        bar.set_width(share)
        hosts = _many(lost.hosts_lost, "host") + " lost" if lost.hosts_lost else "no host lost"
        detour = (
            f", paths up to {_many(lost.extra_links, 'link')} longer" if lost.extra_links else ""
        )
        label.set_text(f"{lost.part}: {hosts}, {100 * share:.4g}% left{detour}")


def _many(number, thing):
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
