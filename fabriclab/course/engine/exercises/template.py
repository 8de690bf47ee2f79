"""Words with named places: `{size:B}` in a prompt is the student's `size`, in bytes.

A place is a name and, after a colon, a unit or one of Python's own formats (`{gpus:,}`,
`{share:.0%}`). Units are those of `UNITS`; a place without either prints the value as it stands.
"""

import string
from collections.abc import Callable
from dataclasses import dataclass

from fabriclab.units import si

UNITS = ("B", "B/s", "b/s", "s", "W", "J", "m", "Bd", "$", "Hz", "flop/s")


class _Places(string.Formatter):
    def get_value(self, key, args, kwargs):
        if type(key) is not str or not key:
            raise ValueError("a place has a name, such as {size:B}; write {{ for a brace")
        x = kwargs["x"]
        if key in x.places:
            return x.places[key](x)
        if key == "draw" or key not in vars(x):
            known = ", ".join(sorted({*vars(x), *x.places} - {"draw"})) or "none"
            raise ValueError(f"no number is called {{{key}}}; there are {known}")
        return vars(x)[key]

    def get_field(self, field_name, args, kwargs):
        # a name alone: no attributes, no items
        return self.get_value(field_name, args, kwargs), field_name

    def format_field(self, value, format_spec):
        return si(value, format_spec) if format_spec in UNITS else format(value, format_spec)


def fill(text, x):
    """`text` with this student's numbers in its places. Raises ValueError for a place that has no
    number, or a unit that does not fit.
    """
    if "{" not in text and "}" not in text:
        return text
    return _Places().vformat(text, (), {"x": x})


def places(text):
    """The names of a text's places, in order. Raises ValueError for a brace that does not close.

    >>> places("{size:B} at {rate:b/s}")
    ['size', 'rate']
    """
    return [name for _, name, _, _ in string.Formatter().parse(text) if name is not None]


@dataclass(frozen=True)
class Template:
    """A text with places, to be called with a student's numbers."""

    text: str

    def __call__(self, x):
        return fill(self.text, x)

    def __bool__(self):
        return bool(self.text)


@dataclass(frozen=True)
class Pick:
    """One of `values`, drawn by id under the number's own name, or under `name`; times `unit`."""

    values: tuple
    unit: float | None = None
    name: str | None = None

    def drawn(self, draw, name):
        value = draw.pick(self.name or name, self.values)
        return value if self.unit is None else value * self.unit


def pick(*values, unit=None, name=None):
    """A number of an exercise: one of `values`, in `unit`, drawn for each student.

    `pick(2, 4, 8, unit=GB)` is 2, 4 or 8 GB. Once handed out, a list must stay as it is.
    """
    return Pick(values, unit, name)


@dataclass(frozen=True)
class Drawn:
    """An exercise's numbers from a dict of picks and constants, to be called with a draw."""

    numbers: dict

    def __call__(self, draw):
        return {
            name: value.drawn(draw, name) if isinstance(value, Pick) else value
            for name, value in self.numbers.items()
        }


def called(given: str | Callable) -> Callable:
    """A text as something to call with the numbers; what can be called already stays."""
    return given if callable(given) else Template(given)
