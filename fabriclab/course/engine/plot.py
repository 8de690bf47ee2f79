"""Drawings of the models: each takes an Axes and model values, and returns the artists it made, by
name.

Floor 5. Figures are made here, never by pyplot, so none outlives the notebook cell that shows it. A
cell ends with a ``Picture``, whose text says in words and numbers what is drawn; that text is also
what a test of the notebook compares.

    >>> figure, axes = new()
    >>> _ = axes.plot([1, 2], [3, 4], color=COLOURS["first"])
    >>> Picture(figure, "A line from (1, 3) to (2, 4).")
    A line from (1, 3) to (2, 4).
"""

import base64
import io

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from fabriclab import on_demand
from fabriclab.units import si

__getattr__ = on_demand(__name__, __path__)

# Okabe and Ito, "Color Universal Design" (2008): eight colours that colour-blind readers tell
# apart.
_BLACK, _ORANGE, _SKY, _GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
_YELLOW, _BLUE, _VERMILLION, _PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"

# By role. Curves and outlines take the first row, all at least 3:1 against white; the second row is
# for filled areas.
COLOURS = {
    "first": _BLUE,
    "second": _VERMILLION,
    "third": _GREEN,
    "fourth": _PURPLE,
    "fifth": _BLACK,
    "startup": _ORANGE,
    "wire": _SKY,
    "highlight": _YELLOW,
    "pale": "#EEEEEE",
    "compute": _GREEN,
    "exposed": _ORANGE,
    "loss": _VERMILLION,
    "good": _GREEN,
    "bad": _VERMILLION,
    "ink": _BLACK,
    "muted": "#5F5F5F",
}
# Curves in order, told apart by dash as well as by colour.
SERIES = [
    ("first", "-"),
    ("second", "--"),
    ("third", "-."),
    ("fourth", (0, (5, 1, 1, 1, 1, 1))),
    ("fifth", ":"),
]

STYLE = {
    "font.family": ["DejaVu Sans"],
    "font.size": 12,
    "axes.labelsize": 12,
    "axes.titlesize": 13,
    "legend.fontsize": 11,
    "xtick.labelsize": 11,
    "ytick.labelsize": 11,
    "lines.linewidth": 2.2,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "axes.titlelocation": "left",
}
# Texts and legends take their size when they are made, so a drawing is made under the style:
# @drawing over its def.
drawing = matplotlib.rc_context(STYLE)


def new(width=7.2, height=4.0):
    """An empty `(Figure, Axes)`, `width` x `height` inches at 100 dots each, in type that a
    projector can show.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, height), dpi=100, facecolor="white", layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        axes.set_axisbelow(True)
        # ticks are made when first drawn, long after the style has gone
        axes.tick_params(which="both", labelsize=STYLE["xtick.labelsize"])
    return figure, axes


def log_axis(axis, unit, low, high, each=10):
    """Make `axis` logarithmic from `low` to `high`, with a label at every `each`-fold step, such as
    1 KB, 1 MB, 1 GB.
    """
    set_scale, set_limits = (
        (axis.axes.set_xscale, axis.axes.set_xlim)
        if axis.axis_name == "x"
        else (axis.axes.set_yscale, axis.axes.set_ylim)
    )
    set_scale("log")
    set_limits(low, high)
    axis.set_major_locator(LogLocator(base=each, numticks=30))
    axis.set_minor_locator(LogLocator(base=10, numticks=30))
    # whole decades: 10,000 s reads better there than 2.778 h
    axis.set_major_formatter(
        FuncFormatter(
            lambda value, _: f"{value:,.0f} s" if unit == "s" and value > 60 else si(value, unit)
        )
    )
    axis.set_minor_formatter(NullFormatter())
    axis.grid(True, which="major", color="#DDDDDD", linewidth=0.8)


def png(figure):
    """`figure` as PNG bytes, the same bytes each time it is drawn."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()


class Picture:
    """A figure together with its description in words: what a notebook cell ends with.

    Shown as a PNG that carries `alt` for screen readers; its plain text is `alt`. Raises ValueError
    without words.
    """

    def __init__(self, figure, alt):
        if not isinstance(alt, str) or not alt.strip():
            raise ValueError(f"alt must be a description in words, not {alt!r}")
        self.figure, self.alt = figure, " ".join(alt.split())

    def __repr__(self):
        return self.alt

    def _repr_mimebundle_(self, include=None, exclude=None):
        image = base64.b64encode(png(self.figure)).decode()
        return {"image/png": image, "text/plain": self.alt}, {"image/png": {"alt": self.alt}}
