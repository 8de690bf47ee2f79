"""Pictures that move: shapes whose attributes change over time, played in the browser.

A scene is computed once, from a model's own run, and plays without a kernel: in a saved notebook,
in a static page, from a file. The scenes themselves stand with their part of the chapter, in its
`scenes.py`, each a function under the decorator `scene` that returns a `Scene`::

    from fabriclab.course.behaviour import scenes
    scenes.incast()

Where no script may run, a still picture and the words of all moments stand in its place.
"""

import base64
import functools
import html
import importlib
import json
import pkgutil
from pathlib import Path

import numpy as np

from fabriclab.course import PARTS
from fabriclab.course.engine.still import picture

PLAYER = Path(__file__).with_name("scene.js").read_text(encoding="utf-8")
SCALES = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1.0}
# By role, in a light page and in a dark one: Okabe and Ito's colours, lightened where the page is
# dark. "black" is for words on a coloured fill in both.
PALETTE = {
    "paper": ("#FFFFFF", "#14171C"),
    "ink": ("#000000", "#F2F2F2"),
    "muted": ("#5F5F5F", "#B4B4B4"),
    "line": ("#BBBBBB", "#5A5F68"),
    "pale": ("#EEEEEE", "#2B3038"),
    "black": ("#000000", "#000000"),
    "first": ("#0072B2", "#3D9FE0"),
    "bad": ("#D55E00", "#FF8533"),
    "good": ("#009E73", "#1FC294"),
    "fourth": ("#CC79A7", "#E39CC4"),
    "startup": ("#E69F00", "#EBAE2B"),
    "wire": ("#56B4E9", "#79C4EF"),
    "highlight": ("#F0E442", "#F0E442"),
}
# how finely an attribute is kept; the others are pixels, to a tenth
QUANTA = {"alpha": 0.01, "offset": 0.25}


def scene(make):
    """Make a function that returns a `Scene` one of its part's scenes; opened, it bears its name,
    such as "behaviour.incast".
    """

    @functools.wraps(make)
    def opened(*arguments, **named):
        shown = make(*arguments, **named)
        shown.name = f"{make.__module__.split('.')[-2]}.{make.__name__}"
        return shown

    opened.is_scene = True
    return opened


def found():
    """All scenes of all parts, from their modules named `scenes` or `..._scenes`: {name: the
    function that makes it}.
    """
    there = {}
    for part in PARTS:
        folder = importlib.import_module(f"fabriclab.course.{part}")
        for here in pkgutil.iter_modules(folder.__path__):
            if here.name.endswith("scenes"):
                module = importlib.import_module(f"{folder.__name__}.{here.name}")
                for name, value in vars(module).items():
                    if getattr(value, "is_scene", False) and value.__module__ == module.__name__:
                        there[f"{part}.{name}"] = value
    return there


class Scene:
    """A picture of `width` x `height` pixels over `axis`, an array that rises, frame by frame.

    `stops` are the moments that have words: (value of the axis, words). `seconds` is how long the
    whole takes to play; `pace`, one number per frame, gives each frame its place on that clock,
    where the axis itself would hurry past what matters. `telling` is the moment of the still.
    Raises ValueError for an axis that does not rise, and for words outside it.

    Shapes are added by `rects`, `circles`, `lines`, `path` and `texts`, from back to front, under
    a name. An attribute is a constant, one value for each of n shapes, or (frames, n); (frames, 1)
    moves all alike. x and y are pixels from the top left; colours are names of `PALETTE`. Numbers
    glide from frame to frame but for those named in `hold`; words and colours change at a frame.

    >>> ball = Scene(100, 50, [0.0, 1.0], "s", alt="A ball crosses.", stops=[(0, "Go."), (1, "There.")])
    >>> ball.circles("ball", x=[[10], [90]], y=25, r=5, fill="first")
    >>> float(ball.values("ball", "x", 0.5)[0]), ball.caption(0.5)
    (50.0, 'Go.')
    """  # noqa: E501

    name = "scene"

    def __init__(
        self, width, height, axis, unit, alt, stops, seconds=12.0, pace=None, telling=None, digits=1
    ):
        self.width, self.height, self.unit, self.digits = width, height, unit, digits
        self.axis = np.asarray(axis, float)
        self.pace = np.asarray(self.axis if pace is None else pace, float)
        if len(self.axis) < 2 or (np.diff(self.axis) <= 0).any():
            raise ValueError("axis must rise from frame to frame")
        if self.pace.shape != self.axis.shape or (np.diff(self.pace) < 0).any():
            raise ValueError("pace must have one number per frame, none below the one before")
        # a moment at the very end may miss it by a rounding
        end = self.axis[-1] + 1e-9 * (self.axis[-1] - self.axis[0])
        self.stops = sorted(
            (float(min(at, self.axis[-1]) if at <= end else at), words) for at, words in stops
        )
        if not self.stops or self.stops[0][0] != self.axis[0] or self.stops[-1][0] > self.axis[-1]:
            raise ValueError("stops must begin with the first value of axis, and lie within it")
        self.alt, self.seconds = " ".join(alt.split()), float(seconds)
        self.telling = float(self.axis[-1] if telling is None else telling)
        self.groups = {}

    def _add(self, kind, name, hold=(), **attributes):
        frames, shapes, kept = len(self.axis), 1, {}
        for attribute, value in attributes.items():
            value = np.asarray(value)
            if value.ndim > 2 or (value.ndim == 2 and len(value) != frames):
                raise ValueError(
                    f"{attribute} of {name} must be a constant, one value per shape or"
                    f" ({frames}, shapes), not of shape {value.shape}"
                )
            if value.ndim and value.shape[-1] > 1:
                if shapes not in (1, value.shape[-1]):
                    raise ValueError(
                        f"{attribute} of {name} must have {shapes} columns, not {value.shape[-1]}"
                    )
                shapes = value.shape[-1]
            kept[attribute] = value
        if name in self.groups:
            raise ValueError(f"there are shapes named {name!r} already")
        self.groups[name] = (kind, shapes, kept, set(hold))

    rects = functools.partialmethod(_add, "rect")
    """`x y w h`, and `round` for the corners. All shapes: `fill stroke line alpha`."""
    circles = functools.partialmethod(_add, "circle")
    """`x y r`."""
    lines = functools.partialmethod(_add, "line")
    """`x y x2 y2`; `dash gap offset`, and `head` for an arrow's."""
    path = functools.partialmethod(_add, "path")
    """One line through all `x y`; `dash gap offset head` as for lines."""
    texts = functools.partialmethod(_add, "text")
    """`x y text size align bold`: `y` is the middle; `align` "left", "center" or "right"."""

    def place(self, value):
        """(frame, part of the way to the next) of a value of the axis."""
        k = int(np.clip(np.searchsorted(self.axis, value, "right") - 1, 0, len(self.axis) - 1))
        if k == len(self.axis) - 1:
            return k, 0.0
        part = (value - self.axis[k]) / (self.axis[k + 1] - self.axis[k])
        return k, float(np.clip(part, 0.0, 1.0))

    def values(self, group, attribute, value):
        """One attribute of a named group at a value of the axis, an entry per shape."""
        kind, shapes, attributes, hold = self.groups[group]
        here, (k, part) = attributes[attribute], self.place(value)
        if here.ndim == 2:
            still = not part or attribute in hold or here.dtype.kind in "US"
            here = here[k] if still else here[k] + part * (here[k + 1] - here[k])
        return np.broadcast_to(here, (shapes,))

    def caption(self, value):
        """The words at a value of the axis."""
        return [words for at, words in self.stops if at <= value][-1]

    def when(self, value):
        """A value of the axis as the player shows it."""
        return f"{value * SCALES.get(self.unit, 1.0):,.{self.digits}f} {self.unit}".strip()

    def packed(self):
        """(what the player must know, bytes): numbers that change are whole multiples of a quantum,
        told as differences from frame to frame.
        """
        data, groups = bytearray(), []

        def put(attribute, value, hold):
            if value.ndim == 2 and (value == value[:1]).all():
                value = value[0]
            if value.ndim == 1 and (value == value[:1]).all():
                value = value[0]
            if value.dtype.kind in "US":
                if value.ndim < 2:
                    return value.tolist()
                words, coded = np.unique(value, return_inverse=True)
                entry = {"words": words.tolist()}
            else:
                quantum = QUANTA.get(attribute, 0.1)
                coded = np.rint(value.astype(float) / quantum).astype(int)
                if value.ndim < 2:
                    return np.round(coded * quantum, 2).tolist()
                entry = {"quantum": quantum}
            coded = coded.reshape(value.shape)
            data.extend(_told(np.diff(coded, axis=0, prepend=0).T.ravel()))
            return entry | {"each": value.shape[1]} | ({"hold": 1} if hold else {})

        for kind, shapes, attributes, hold in self.groups.values():
            told = {a: put(a, value, a in hold) for a, value in attributes.items()}
            groups.append({"kind": kind, "n": shapes, "a": told})
        clock = (self.pace - self.pace[0]) / (self.pace[-1] - self.pace[0])
        scale = SCALES.get(self.unit, 1.0)
        return {
            "size": [self.width, self.height],
            "axis": [float(f"{at * scale:.7g}") for at in self.axis],
            "clock": np.round(clock, 5).tolist(),
            "stops": [float(f"{at * scale:.7g}") for at, _ in self.stops],
            "digits": self.digits,
            "unit": self.unit,
            "seconds": self.seconds,
            "palette": PALETTE,
            "groups": groups,
        }, bytes(data)

    def still(self):
        """The telling moment as an SVG picture."""
        return picture(self, self.telling, {role: light for role, (light, _) in PALETTE.items()})

    def html(self):
        """The player with all it needs; until its script runs, the still and all words."""
        told, data = self.packed()
        inside = json.dumps(told, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
        image = base64.b64encode(self.still().encode()).decode()
        alt, telling = html.escape(self.alt, quote=True), html.escape(self.caption(self.telling))
        moments = "".join(
            f"<li><b>{self.when(at)}</b> <span>{html.escape(words)}</span></li>"
            for at, words in self.stops
        )
        return (
            f'<div class="fabriclab-scene" data-scene="{self.name}" style="max-width:{self.width}px'
            f'"><div><img alt="{alt}" src="data:image/svg+xml;base64,{image}" style="width:100%;'
            f'display:block"><p>At <b>{self.when(self.telling)}</b>: {telling}</p></div>'
            f"<details><summary>All moments in words</summary><ol>{moments}</ol></details>"
            f"<script>{{const root=document.currentScript.parentElement;\n{PLAYER}\n"
            f'play(root,{inside},"{base64.b64encode(data).decode()}")}}</script></div>'
        )

    def __repr__(self):
        moments = "\n".join(f"{self.when(at):>12}  {words}" for at, words in self.stops)
        return f"{self.alt}\n{moments}"

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": self.html(), "text/plain": repr(self)}


def _told(numbers):
    """Whole numbers as bytes: seven bits each, the lowest first, a sign in the lowest of all; zeros
    by how many there are.
    """
    out, zeros = bytearray(), 0

    def put(n):
        while n > 127:
            out.append(n & 127 | 128)
            n >>= 7
        out.append(n)

    for n in [*numbers.tolist(), None]:
        if n == 0:
            zeros += 1
            continue
        if zeros:
            put(0)
            put(zeros)
            zeros = 0
        if n is not None:
            put(2 * n if n > 0 else -2 * n - 1)
    return bytes(out)
