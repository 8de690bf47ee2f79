"""Widgets that bring a model to life: move a control, and picture and words answer together.

An explorer is a function from numbers to what is drawn and said, under the decorator `explorer`.
The explorers themselves stand with their part of the chapter::

    from fabriclab.course.transport import explorers
    explorers.crossover()
"""

import base64
import functools
import inspect
import io
import textwrap
import threading

import numpy as np

from fabriclab.extras import missing

try:
    import ipywidgets
    import matplotlib.image
except ModuleNotFoundError as fault:
    raise missing(fault) from None

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from fabriclab.course.engine import plot
from fabriclab.course.engine.canvas import Canvas
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


def explorer(draw, move, rows, alt, size=(7.2, 4.0), still=("legend",), idle=lambda **_: ()):
    """Make a function of numbers an explorer: called, it opens an `Explorer` at its arguments.

    The function takes the controls' values, asks its model once, and returns what the picture takes
    and the lines of the readout. `draw(axes, *numbers)` draws the picture on an Axes of `size`
    inches and returns its artists by name; `move(artists, *numbers)` moves them. Groups named in
    `still` do not move. `rows` are the controls by the name of the argument, one dict to a row;
    `alt` says what the picture shows. `idle(**values)` names the controls that do nothing there.
    """

    def make(model):
        signature = inspect.signature(model)

        @functools.wraps(model)
        def opened(*arguments, **named):
            start = signature.bind(*arguments, **named)
            start.apply_defaults()
            controls = {
                name: control(start.arguments[name])
                for row in rows
                for name, control in row.items()
            }
            # asked once for the first drawing and the first words
            first = [model(**start.arguments)]

            def answer(**values):
                nothing = idle(**values)
                for name, control in controls.items():
                    control.disabled = name in nothing
                numbers, lines = first.pop() if first else model(**values)
                move(artists, *numbers)
                return "\n".join(lines)

            figure, axes = plot.new(*size)
            artists = draw(axes, *first[0][0])
            return Explorer(
                controls, figure, _moving(artists, still), answer, alt, [list(row) for row in rows]
            )

        return opened

    return make


def _moving(artists, still):
    """The artists of groups by name, or of groups of groups, but for those named in `still`."""
    for name, group in artists.items():
        if name not in still:
            yield from _moving(group, still) if isinstance(group, dict) else group


class Explorer:
    """Controls, a model and a figure, bound together.

    `controls` maps names to ipywidgets; `figure` is drawn once; `artists` are those that move;
    `move(**values)` takes the controls' values, sets the artists and returns the readout, in lines.
    `alt` says what the picture shows. `rows` lists the controls' names as they stand above the
    picture, row by row.

    A move that changes the limits of an axis, or which artists are visible, costs a full drawing;
    any other only lays the artists over the rest. What `move` raises is shown in place, kept as
    `error`, and gone with the next good value; the first move, on making the explorer, raises.
    `readout`, `frame` (RGBA bytes), `values`, `controls` and `artists` are there to read.
    """

    def __init__(self, controls, figure, artists, move, alt, rows=None):
        self.controls, self.figure, self.artists, self.alt = (
            controls,
            figure,
            list(artists),
            " ".join(alt.split()),
        )
        self._move, self._drawn, self._background = move, None, None
        # JupyterLab runs a widget's callbacks on a thread of their own, beside the cells
        self._lock = threading.RLock()
        for artist in self.artists:
            artist.set(animated=True, in_layout=False)
        self.error, self.readout = None, move(**self.values)
        self.frame = self._draw()
        self.canvas = Canvas(
            size=list(self.figure.canvas.get_width_height()),
            alt=self.alt,
            still=self._still(),
            readout=self.readout,
        )
        self.canvas.on_msg(lambda _, content, buffers: self._show())
        for control in controls.values():
            control.observe(self._moved, "value")
        line = ipywidgets.Layout(flex_flow="row wrap")
        self.widget = ipywidgets.VBox(
            [
                ipywidgets.Box([controls[name] for name in row], layout=line)
                for row in rows or [controls]
            ]
            + [self.canvas]
        )

    @property
    def values(self):
        """What the controls stand at, by name."""
        return {name: control.value for name, control in self.controls.items()}

    def _moved(self, change):
        with self._lock:
            try:
                self.readout, self.error = self._move(**self.values), None
                self.frame = self._draw()
            except Exception as error:
                self.error = error
                self.readout = (
                    str(error)
                    if isinstance(error, ValueError)
                    else f"{type(error).__name__}: {error}"
                )
            self._show()

    def _show(self):
        with self._lock:
            self.canvas.show(self.readout, None if self.error else self.frame)

    def _draw(self):
        """The figure's pixels, drawn whole only when something other than the moving artists has
        changed.
        """
        canvas = self.figure.canvas
        fixed = [(axes.get_xlim(), axes.get_ylim()) for axes in self.figure.axes] + [
            artist.get_visible() for artist in self.artists
        ]
        if fixed != self._drawn:
            canvas.draw()
            # the first drawing has made room for the labels; the axes stand still from here on
            self.figure.set_layout_engine("none")
            self._background, self._drawn = canvas.copy_from_bbox(self.figure.bbox), fixed
        canvas.restore_region(self._background)
        for artist in sorted(self.artists, key=lambda artist: artist.get_zorder()):
            self.figure.draw_artist(artist)
        return bytes(canvas.buffer_rgba())

    def _pixels(self):
        width, height = self.figure.canvas.get_width_height()
        return np.frombuffer(self.frame, np.uint8).reshape(height, width, 4)

    def _still(self, *below):
        """The frame as base64 of a PNG, with further rows of pixels `below`."""
        buffer = io.BytesIO()
        matplotlib.image.imsave(
            buffer, np.vstack([self._pixels(), *below]), format="png", metadata={"Software": None}
        )
        return base64.b64encode(buffer.getvalue()).decode()

    def _caption(self):
        """The readout as pixels as wide as the figure, for pages that cannot run a widget."""
        width = self.figure.get_figwidth()
        lines = [
            part
            for line in self.readout.splitlines()
            for part in textwrap.wrap(line, int(13 * width))
        ]
        height = 0.12 + 0.2 * len(lines)
        strip = Figure(figsize=(width, height), dpi=self.figure.dpi, facecolor="white")
        strip.text(
            0.1 / width,
            1 - 0.05 / height,
            "\n".join(lines),
            va="top",
            fontsize=10,
            color=plot.COLOURS["bad" if self.error else "ink"],
            linespacing=1.3,
        )
        canvas = FigureCanvasAgg(strip)
        canvas.draw()
        pixels = np.asarray(canvas.buffer_rgba())
        # a last row that rounds to another width than the figure's would not stack
        return pixels[:, : self._pixels().shape[1]]

    def __repr__(self):
        return self.readout

    def _repr_mimebundle_(self, include=None, exclude=None):
        view = self.widget._repr_mimebundle_()
        view = view[0] if isinstance(view, tuple) else view
        with self._lock:
            data = view | {"image/png": self._still(self._caption()), "text/plain": self.readout}
        return data, {"image/png": {"alt": f"{self.alt} {self.readout}"}}
