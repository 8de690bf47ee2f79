"""What a drawn figure shows: its words, whether they run into each other or into a legend, and how
colours look.
"""

import itertools

import numpy as np
from matplotlib.legend import Legend
from matplotlib.text import Text

LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


def words(figure):
    """Visible texts that say something, with their boxes in pixels; the tick labels of each axis
    among them.
    """
    figure.canvas.draw()
    # ticks beyond the limits exist but are not drawn
    undrawn = set()
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        low, high = sorted(axis.get_view_interval())
        undrawn |= {
            tick.label1
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            if not axis.get_visible() or not low <= tick.get_loc() <= high
        }
    undrawn |= {
        text
        for axes in figure.axes
        if not axes.axison
        for text in axes.xaxis.findobj(Text) + axes.yaxis.findobj(Text)
    }
    texts = [
        text
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and text not in undrawn
    ]
    # the words themselves: an annotation's own extent takes in what it points at
    return [(text.get_text(), Text.get_window_extent(text)) for text in texts]


def collisions(figure):
    """Pairs of words of a figure whose boxes overlap, and words that leave the picture."""
    found = words(figure)
    edge = figure.bbox
    outside = [
        (word, "edge")
        for word, box in found
        if box.x0 < edge.x0 - 1
        or box.y0 < edge.y0 - 1
        or box.x1 > edge.x1 + 1
        or box.y1 > edge.y1 + 1
    ]
    pairs = [
        (a, b)
        for (a, first), (b, second) in itertools.combinations(found, 2)
        if first.padded(-1).overlaps(second.padded(-1))
    ]
    return outside + pairs


def behind_legend(figure):
    """Labels of the curves that pass behind a legend."""
    figure.canvas.draw()
    hidden = []
    for axes in figure.axes:
        for legend in axes.findobj(Legend):
            box = legend.get_window_extent()
            for line in axes.lines:
                if line.get_visible() and len(line.get_xdata()):
                    points = line.get_transform().transform(
                        np.column_stack([line.get_xdata(), line.get_ydata()])
                    )
                    if any(box.contains(*point) and axes.bbox.contains(*point) for point in points):
                        hidden.append(line.get_label())
    return hidden


def linear(colour):
    """Linear-light RGB of a colour such as "#0072B2"."""
    values = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def contrast(colour, ground="#FFFFFF"):
    """Contrast ratio of two colours as WCAG 2.2 defines it, 1 to 21."""
    one, other = sorted([float(LUMINANCE @ linear(colour)), float(LUMINANCE @ linear(ground))])
    return (other + 0.05) / (one + 0.05)


def assert_clear(figure):
    """No label lies on another or leaves the picture, no legend hides a curve, no type is set below
    11 points.
    """
    assert collisions(figure) == [] and behind_legend(figure) == []
    assert (
        min(text.get_fontsize() for text in figure.findobj(Text) if text.get_text().strip()) >= 11
    )
