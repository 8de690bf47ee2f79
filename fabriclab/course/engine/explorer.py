"""Widgets that bring a model to life: move a control, and picture and words answer together.

An explorer is a function from numbers to what is drawn and said, under the decorator `explorer`.
The explorers themselves stand with their part of the chapter::

    from fabriclab.course.transport import explorers
    explorers.crossover()
"""

import base64
import functools
import html
import inspect
import textwrap
import threading
from typing import NamedTuple

import numpy as np

from fabriclab.extras import missing

try:
    import ipywidgets
    from IPython.display import display
except ModuleNotFoundError as fault:
    raise missing(fault) from None

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from fabriclab.course.engine import plot
from fabriclab.course.engine.canvas import ASLEEP, Canvas
from fabriclab.course.engine.controls import (  # noqa: F401  one face for who writes an explorer
    buttons,
    dropdown,
    nearest,
    shown,
    slider,
    steps,
    tick,
)


class Grip(NamedTuple):
    """A place in the picture that can be held, by mouse or finger, and what that sets.

    `at` is (x, y) in the data of the figure's Axes number `axes`, or None for all of it; `sets(x,
    y)` takes where the pointer is, in the same data, and names controls with the values they are to
    have: each goes to the nearest stop. The control stays the way by keyboard.
    """

    at: tuple | None
    sets: object
    axes: int = 0


def explorer(
    draw,
    move,
    rows,
    alt,
    size=(7.2, 4.0),
    still=("legend",),
    idle=lambda **_: (),
    more=(),
    grips=lambda **_: (),
):
    """Make a function of numbers an explorer: called, it opens an `Explorer` at its arguments.

    The function takes the controls' values, asks its model once, and returns what the picture takes
    and the lines of the readout. `draw(axes, *numbers)` draws the picture on an Axes of `size`
    inches and returns its artists by name; `move(artists, *numbers)` moves them. Groups named in
    `still` do not move. `rows` are the controls by the name of the argument, one dict to a row, at
    most five sliders; those in `more` wait behind a button. `alt` says what the picture shows.
    `idle(**values)` names the controls that do nothing there; `grips(**values)` yields each `Grip`
    of the picture.
    """

    def make(model):
        signature = inspect.signature(model)

        @functools.wraps(model)
        def opened(*arguments, **named):
            start = signature.bind(*arguments, **named)
            start.apply_defaults()
            controls = {
                name: control(start.arguments[name])
                for row in [*rows, *more]
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
            layout = [[list(row) for row in each] for each in (rows, more)]
            return Explorer(
                controls, figure, _moving(artists, still), answer, alt, *layout, grips=grips
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
    picture, row by row, `more` those behind a button; `grips(**values)` yields each `Grip`.

    A move that changes the limits of an axis, or which artists are visible, costs a full drawing;
    any other only lays the artists over the rest. What `move` raises is shown in place, kept as
    `error`, and gone with the next good value; the first move, on making the explorer, raises.
    `readout`, `frame` (RGBA bytes), `values`, `controls` and `artists` are there to read.

    A cell shows it twice: as HTML that holds the last picture and its words for a page without a
    kernel, and alive. Where the widget lives, style sheets hide the HTML.
    """

    def __init__(self, controls, figure, artists, move, alt, rows=None, more=(), grips=None):
        self.controls, self.figure, self.artists, self.alt = (
            controls,
            figure,
            list(artists),
            " ".join(alt.split()),
        )
        self._rows, self._move, self._grips = rows or [list(controls)], move, grips
        self._drawn, self._background, self._sharp, self._handle, self._held = (None,) * 5
        self._waits = False
        # JupyterLab runs a widget's callbacks on a thread of their own, beside the cells
        self._lock = threading.RLock()
        for artist in self.artists:
            artist.set(animated=True, in_layout=False)
        self.error, self.readout = None, move(**self.values)
        self.frame = self._draw()
        self.canvas = Canvas(
            size=list(self.figure.canvas.get_width_height()), alt=self.alt, readout=self.readout
        )
        self.canvas.on_msg(lambda _, content, buffers: self._asked(content))
        for control in controls.values():
            control.observe(self._moved, "value")
        self.widget = ipywidgets.VBox(
            [*self._boxes(self._rows), *self._behind(more), self.canvas],
            _dom_classes=("fabriclab-explorer",),
        )

    def _boxes(self, rows):
        line = ipywidgets.Layout(flex_flow="row wrap")
        return [ipywidgets.Box([self.controls[name] for name in row], layout=line) for row in rows]

    def _behind(self, rows):
        """A button and, once it is down, the further controls."""
        if not rows:
            return []
        box = ipywidgets.VBox(self._boxes(rows), layout={"display": "none"})
        button = ipywidgets.ToggleButton(
            description="more controls", icon="sliders", layout={"margin": "2px 2px 2px 138px"}
        )
        button.observe(
            lambda change: box.layout.set_trait("display", "" if change["new"] else "none"), "value"
        )
        return [button, box]

    @property
    def values(self):
        """What the controls stand at, by name."""
        return {name: control.value for name, control in self.controls.items()}

    def _moved(self, change=None):
        with self._lock:
            if self._waits:
                return
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
            self._sharp = None
            self._show()

    def _show(self):
        with self._lock:
            self.canvas.show(self.readout, None if self.error else self.frame, self._places())

    # ---- the pointer

    def grips(self):
        """Each `Grip` where the controls stand now; none in a refusal."""
        return [] if self.error or not self._grips else list(self._grips(**self.values))

    def _places(self):
        """The grips as the canvas takes them: (x, y), or (left, top, right, bottom), as shares of
        the picture from its upper left corner.
        """
        size, found = self.figure.bbox.size, []
        for grip in self.grips():
            axes = self.figure.axes[grip.axes]
            points = (
                axes.bbox.get_points() if grip.at is None else axes.transData.transform([grip.at])
            )
            shares = np.round(points / size * (1, -1) + (0, 1), 4)
            left, top = shares.min(axis=0).tolist()
            right, bottom = shares.max(axis=0).tolist()
            found.append([left, top] + ([] if grip.at else [right, bottom]))
        return found

    def _asked(self, content):
        """Answer a message of the canvas: it wants the frame, holds a grip, or is at rest."""
        with self._lock:
            if "rest" in content:
                self._rest(content["rest"])
            elif "grip" in content:
                self._pull(content)
            else:
                self._show()

    def _pull(self, content):
        """Set what a grip sets: all its controls in one move. The canvas waits for an answer."""
        if content["down"]:
            grips = self.grips()
            self._held = grips[content["grip"]] if content["grip"] < len(grips) else None
        if self._held:
            across, down = content["at"]
            pixels = np.array([across, 1 - down]) * self.figure.bbox.size
            axes = self.figure.axes[self._held.axes]
            wanted = self._held.sets(*axes.transData.inverted().transform(pixels))
            old = self.values
            self._waits = True
            try:
                for name, value in wanted.items():
                    self.controls[name].value = nearest(self.controls[name], value)
            finally:
                self._waits = False
            if self.values != old:
                return self._moved()
        self._show()

    def _rest(self, scale):
        """Nothing has moved for a while: time for a sharp picture on a screen that can show it, and
        for the saved page to hold what is seen.
        """
        if self.error:
            return
        if scale > 1.1:
            self.canvas.sharpen(self._pixels(scale))
        if self._handle and self._sharp is None:
            self._handle.update(self._still(), raw=True)

    # ---- drawing

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
        self._lay()
        return bytes(canvas.buffer_rgba())

    def _lay(self):
        for artist in sorted(self.artists, key=lambda artist: artist.get_zorder()):
            self.figure.draw_artist(artist)

    def _pixels(self, scale):
        """The picture there is in `scale` times as many dots each way: rows of RGBA."""
        usual, dpi = self.figure.canvas, self.figure.dpi
        try:
            # on a canvas of its own: the usual one keeps its pixels for the next move
            canvas = FigureCanvasAgg(self.figure)
            self.figure.dpi = dpi * scale
            canvas.draw()
            self._lay()
            return np.array(canvas.buffer_rgba())
        finally:
            self.figure.dpi = dpi
            self.figure.set_canvas(usual)

    def _caption(self):
        """The readout as pixels as wide as the figure, for pages that show no HTML."""
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
        # a last row that rounds to another width than the figure's would not stack
        return np.asarray(canvas.buffer_rgba())[:, : self.figure.canvas.get_width_height()[0]]

    def __repr__(self):
        return self.readout

    def _still(self):
        """The picture and its words as a page without a kernel shows them, controls greyed."""
        with self._lock:
            if self._sharp is None:
                self._sharp = plot.small(self._pixels(2))
            width, height = self.figure.canvas.get_width_height()
            plain = np.frombuffer(self.frame, np.uint8).reshape(height, width, 4)
            controls = "".join(
                f"<span><b>{html.escape(control.description)}</b>{shown(control)}</span>"
                for row in self._rows
                for control in map(self.controls.get, row)
            )
            page = (
                f"<style>{plot.beside('picture.css')}{plot.beside('still.css')}</style>"
                f'<div class="fabriclab-still"><div class="fabriclab-controls">{controls}</div>'
                f"{plot.image_tag(self._sharp, self.alt, width)}"
                f'<div class="fabriclab-words">{html.escape(self.readout)}</div>'
                f'<div class="fabriclab-asleep">{ASLEEP}</div></div>'
            )
            return {
                "text/html": page,
                "image/png": base64.b64encode(
                    plot.small(np.vstack([plain, self._caption()]))
                ).decode(),
                "text/plain": self.readout,
            }

    def _ipython_display_(self):
        self._handle = display(self._still(), raw=True, display_id=True)
        view = self.widget._repr_mimebundle_()
        view = view[0] if isinstance(view, tuple) else view
        # without words of its own: what cannot show the widget has read them above
        display({key: view[key] for key in view if key != "text/plain"}, raw=True)
