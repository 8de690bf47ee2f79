"""Drawings of the models: each takes an Axes and model values, and returns the artists it made, by
name.

Figures are made here, never by pyplot, so none outlives the notebook cell that shows it. A
cell ends with a ``Picture``, whose text says in words and numbers what is drawn; that text is also
what a test of the notebook compares.

    >>> figure, axes = new()
    >>> _ = axes.plot([1, 2], [3, 4], color=COLOURS["first"])
    >>> Picture(figure, "A line from (1, 3) to (2, 4).")
    A line from (1, 3) to (2, 4).
"""

import base64
import html
import io
from pathlib import Path

import numpy as np

from fabriclab.extras import missing

try:
    import matplotlib
    import PIL.Image  # comes with matplotlib
except ModuleNotFoundError as fault:
    raise missing(fault) from None

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from fabriclab.units import si

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


def png(figure, dpi=None):
    """`figure` as PNG bytes, the same bytes each time it is drawn, of `dpi` dots per inch."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None}, dpi=dpi or figure.dpi)
    return buffer.getvalue()


def small(image):
    """A PNG of an image (PNG bytes, or rows of RGBA) in the 256 colours that a drawing can spare:
    about a third of the bytes.
    """
    opened = (
        PIL.Image.open(io.BytesIO(image))
        if isinstance(image, bytes)
        else PIL.Image.fromarray(image)
    )
    buffer = io.BytesIO()
    opened.convert("RGB").quantize(256, dither=PIL.Image.Dither.NONE).save(buffer, format="png")
    return buffer.getvalue()


def image_tag(image, alt, width):
    """HTML of a picture from PNG bytes, `width` CSS pixels wide, with `alt` where a screen reader
    finds it.

    >>> print(image_tag(b"", '"n*"', 720))
    <img class="fabriclab-picture" width="720" alt="&quot;n*&quot;" src="data:image/png;base64,">
    """
    source = "data:image/png;base64," + base64.b64encode(image).decode()
    return (
        f'<img class="fabriclab-picture" width="{width:.0f}" alt="{html.escape(alt)}"'
        f' src="{source}">'
    )


def beside(name):
    """The text of a file beside this one."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


class Picture:
    """A figure together with its description in words: what a notebook cell ends with.

    Shown as HTML, at twice the dots of a plain screen, since JupyterLab and nbconvert read out the
    `alt` of no other picture; a PNG stands beside it for what shows no HTML, and its plain text is
    `alt`. Raises ValueError without words.
    """

    def __init__(self, figure, alt):
        if not isinstance(alt, str) or not alt.strip():
            raise ValueError(f"alt must be a description in words, not {alt!r}")
        self.figure, self.alt = figure, " ".join(alt.split())

    def __repr__(self):
        return self.alt

    def _repr_mimebundle_(self, include=None, exclude=None):
        usual = matplotlib.rcParams["savefig.dpi"]  # a lecture asks for more
        plain = 100 if usual == "figure" else usual
        sharp, plain = (small(png(self.figure, dpi)) for dpi in (200, plain))
        return {
            "text/html": f"<style>{beside('picture.css')}</style>"
            + image_tag(sharp, self.alt, 100 * self.figure.get_figwidth()),
            "image/png": base64.b64encode(plain).decode(),
            "text/plain": self.alt,
        }, {"image/png": {"alt": self.alt}}


def axis_end(value):
    """A round number at or above `value`, so that the axis stands still while what it shows grows a
    little.
    """
    decade = 10.0 ** np.floor(np.log10(value))
    return float(
        next(
            step * decade
            for step in (1, 1.5, 2, 3, 4, 6, 8, 10)
            if step * decade >= value * (1 - 1e-9)
        )
    )
