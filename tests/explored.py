"""What tests do to an explorer: move its controls, read its words, see that its picture holds."""

import re

import ipywidgets
import pytest
from drawn import behind_legend, collisions

from fabriclab import units


def move(control, by):
    """What a few presses of an arrow key, or a click, do to a control."""
    if isinstance(control, ipywidgets.Checkbox):
        control.value = not control.value
    else:
        control.index = (control.index + by) % len(control.options)


def set_all(explorer, places):
    """Put every control somewhere; `places` are numbers from 0 to 1."""
    for control, place in zip(explorer.controls.values(), places):
        if isinstance(control, ipywidgets.Checkbox):
            control.value = place < 0.5
        else:
            control.index = round(place * (len(control.options) - 1))


def assert_drawn_afresh(explorer):
    """The frame is what a drawing from nothing gives, with no background left from before."""
    blitted = explorer.frame
    explorer._drawn = None
    assert explorer._draw() == blitted


def assert_fits(explorer):
    """The readout is no wider than the picture, no words collide or hide, and the frame is what a
    fresh drawing gives.
    """
    assert 7 * max(map(len, explorer.readout.splitlines())) <= explorer.canvas.size[0] - 16
    assert_drawn_afresh(explorer)
    assert collisions(explorer.figure) == [] and behind_legend(explorer.figure) == []


def assert_fault_passes(explorer, control, where, function, by=1):
    """What the model `where.function` refuses is said over the picture as it was, and is gone with
    the next good value.
    """

    def refuse(*arguments):
        raise ValueError("this cannot be")

    frame = explorer.frame
    with pytest.MonkeyPatch.context() as broken:
        broken.setattr(where, function, refuse)
        move(control, by)
        assert explorer.readout == "this cannot be" and isinstance(explorer.error, ValueError)
        same = explorer.frame == frame
        assert same
    move(control, by)
    assert explorer.error is None


def quantities(line):
    """The sizes and times that a line of a readout names."""
    return [
        units.read(f"{number} {unit}")
        for number, unit in re.findall(
            r"([\d.,]*\d(?:e[+-]?\d+)?) ([KMGT]?B|[num]?s|min|h|d)\b", line
        )
    ]


def near(quantity, value):
    """Whether a printed quantity is `value` to its digits."""
    return abs(
        quantity.value - value
    ) <= 0.5001 * quantity.resolution or quantity.value == pytest.approx(value, rel=5.1e-4)
