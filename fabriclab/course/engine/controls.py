"""The controls of explorers: each is opened at a value by the explorer it belongs to."""

import functools
import html

import ipywidgets
import numpy as np

from fabriclab.units import si

LABEL = {"description_width": "130px"}
WIDE = {"width": "400px", "max_width": "100%"}
NARROW = {"width": "auto", "margin": "0 14px 0 0"}


def slider(name, values, words):
    """A slider over `values`, to be opened at a value, which joins them if it is not there.

    `words` says how a value is shown: a unit, such as "B/s"; a format, such as "{:,}"; or a
    function. A slider stands on printed, round numbers, one to a press of an arrow key, and its
    label carries the unit.
    """
    if not callable(words):
        words = words.format if "{" in words else functools.partial(si, unit=words)

    def open_at(value):
        # numbers in their order, names in the order given
        stops = values if isinstance(value, str) else sorted({*values, value})
        return ipywidgets.SelectionSlider(
            options=[(words(stop), stop) for stop in stops],
            value=value,
            description=name,
            style=LABEL,
            layout=WIDE,
        )

    return open_at


def dropdown(name, options):
    """A list to choose from, to be opened at one of its `options`."""
    return lambda value: ipywidgets.Dropdown(
        options=options, value=value, description=name, style=LABEL, layout=WIDE
    )


def buttons(name, options):
    """A row of buttons, one of them down, to be opened at one of its `options`."""
    return lambda value: ipywidgets.ToggleButtons(
        options=options, value=value, description=name, style=LABEL | {"button_width": "auto"}
    )


def tick(name):
    """A box to tick, to be opened ticked or not."""
    return lambda value: ipywidgets.Checkbox(value, description=name, indent=False, layout=NARROW)


def steps(low, high, unit=1.0):
    """Round numbers from `low` to `high`, twelve to the decade, times `unit`.

    >>> steps(1, 10)
    [1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]
    """
    decades = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    numbers = [
        float(f"{first}e{power}")
        for power in decades
        for first in (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)
    ]
    return [number * unit for number in numbers if low <= number <= high]


def nearest(control, value):
    """Where a control that is to stand at `value` can stand: a slider of positive numbers measures
    by ratio; what has no order takes the value as it is.
    """
    if not isinstance(control, ipywidgets.SelectionSlider):
        return value
    stops = np.array([stop for _, stop in control.options], dtype=float)
    if not np.isfinite(stops).all() and value > 1.1 * stops[np.isfinite(stops)].max():
        at = int(np.argmax(stops))
    elif stops.min() > 0:
        at = int(np.argmin(np.abs(np.log(stops) - np.log(max(value, 1e-30)))))
    else:
        at = int(np.argmin(np.abs(stops - value)))
    return control.options[at][1]


def shown(control):
    """A control that cannot be moved, as HTML: the place of its slider and the words of its
    value.
    """
    if isinstance(control, ipywidgets.Checkbox):
        return "☑" if control.value else "☐"
    slides = isinstance(control, ipywidgets.SelectionSlider)
    place = (
        f'<input type="range" disabled max="{len(control.options) - 1}" value="{control.index}">'
        if slides
        else ""
    )
    words = control.label if hasattr(control, "label") else str(control.value)
    return f"{place}{html.escape(words)}"
