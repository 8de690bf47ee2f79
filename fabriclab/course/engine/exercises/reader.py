"""Answers as plain data: only exact, known types are looked at, so that no object can talk its way
in.
"""

import contextlib
import math
import sys
import unicodedata
from decimal import Decimal
from fractions import Fraction

import numpy as np

from fabriclab import units
from fabriclab.course.engine.exercises import spelling

# dimension -> (what a bare number counts as, how `units.si` prints it, what to call it)
BASE = {
    "size": ("bytes", "B", "a size"),
    "rate": ("bytes per second", "B/s", "a rate"),
    "time": ("seconds", "s", "a time"),
    "power": ("watts", "W", "a power"),
    "energy": ("joules", "J", "an energy"),
    "length": ("metres", "m", "a length"),
    "money": ("dollars", "$", "an amount of money"),
    "number": ("a plain number", "", "a plain number"),
}
_SCALARS = tuple(
    getattr(np, name)
    for name in (
        "float16",
        "float32",
        "float64",
        "longdouble",
        *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    )
)


def kind_of(answer):
    """What to call an answer that is not of a kind asked for."""
    name = type.__dict__["__name__"].__get__(type(answer))
    return f"an answer of type {name[:40]}" if name.isidentifier() else "an answer of an odd type"


def number(answer):
    """A float from a number of a known type, or None.

    Raises ValueError for one that a float cannot hold.
    """
    if type(answer) is np.ndarray and answer.ndim == 0 and answer.dtype.kind in "iuf":
        answer = answer.item()
    if type(answer) is float:
        return answer
    sympy = sys.modules.get("sympy")
    if (
        type(answer) in (int, Fraction, Decimal)
        or type(answer) in _SCALARS
        or (sympy and _sympy_number(answer, sympy))
    ):
        try:
            value = float(answer)
        except (OverflowError, ValueError) as error:
            raise ValueError("a number too large, or none at all") from error
        if (
            math.isinf(value)
            and type(answer) in (int, Fraction, Decimal)
            and not (type(answer) is Decimal and answer.is_infinite())
        ):
            raise ValueError("a number too large")
        return value
    return None


def _sympy_number(answer, sympy):
    return type(answer) in (sympy.Integer, sympy.Float, sympy.Rational) or any(
        type(answer) is type(n)
        for n in (sympy.S.Zero, sympy.S.One, sympy.S.Half, sympy.S.NegativeOne)
    )


def only(answer):
    """What a list or an array of one element holds, as sympy.solve and numpy give it."""
    if type(answer) in (list, tuple) and len(answer) == 1:
        return answer[0]
    if type(answer) is np.ndarray and answer.size == 1 and answer.dtype.kind in "iuf":
        return answer.item()
    return answer


def many(answer):
    """What to call a list where one thing is asked for."""
    count = len(answer) if type(answer) in (list, tuple) else getattr(answer, "size", 0)
    return (
        f"a list of {count}; if they are solutions of an equation, say which one is meant, as in"
        " solutions[1]"
        if count
        else "an empty list"
    )


def quantity(answer):
    """A quantity as typed or computed, as plain data: {"value": …} bare, {"text": …}, or
    {"unreadable": why}.
    """
    answer = only(answer)
    if type(answer) is str:
        return (
            {"text": answer}
            if len(answer) <= 200
            else {"unreadable": "text longer than any quantity"}
        )
    if (
        type(answer) is units.Quantity
        and type(answer.value) is float
        and type(answer.dimension) is str
    ):
        return {"value": answer.value, "dimension": answer.dimension}
    try:
        value = number(answer)
    except ValueError as error:
        return {"unreadable": str(error)}
    if value is None:
        if type(answer) in (list, tuple, np.ndarray):
            return {"unreadable": f"this asks for one number, and yours is {many(answer)}"}
        if type(answer) in (bool, np.bool_):
            return {"unreadable": "True and False are no quantities"}
        return {"unreadable": f"{kind_of(answer)} is not a number, nor text such as '7 ms'"}
    return {"value": value}


def read(data):
    """(value, dimension, how it was read) from the data of `quantity`; dimension None where the
    number was bare.

    Raises ValueError in the words of `units.read`.
    """
    if "text" in data:
        text = data["text"]
        if type(text) is not str:
            raise ValueError("could not read this: text was promised")
        if text.strip().lower() in ("inf", "infinity", "∞", "never", "for ever"):
            return math.inf, None
        got = _read(text)
        return got.value, None if got.dimension == "number" else got.dimension
    value, dimension = data.get("value"), data.get("dimension")
    if type(value) not in (int, float) or (dimension is not None and type(dimension) is not str):
        raise ValueError("could not read this: a number was promised")
    return float(value), dimension


def _read(text):
    """`units.read`, and what people write besides: "about", Chinese or spelled-out units, a
    fraction, a ratio, hours with minutes. An error quotes what was typed.
    """
    with contextlib.suppress(ValueError):
        return units.read(text)
    plain = spelling.plain(text)
    for attempt in (units.read, spelling.fraction, spelling.sum_of_times):
        with contextlib.suppress(ValueError):
            return attempt(plain)
    return units.read(text)  # to say why not, in the student's own words


def show(value, dimension):
    """A value for people: `75 KB`."""
    unit = BASE[dimension][1]
    return units.si(value, unit) if unit else f"{value:.4g}"


def as_given(data, value, dimension):
    """A student's own number for people: as typed where it was typed with a unit, else in the
    prefix that suits it.
    """
    typed = data.get("text")
    if type(typed) is not str or not any(c.isalpha() or c == "%" for c in typed):
        return show(value, dimension)
    typed = " ".join(unicodedata.normalize("NFKC", typed).split())[:60]
    return typed.rstrip(".") if typed.isprintable() else show(value, dimension)


def within(answer, key, tolerance):
    """Whether an answer is right: NaN never; infinity only for infinity; zero only for zero; else
    relative.
    """
    if math.isnan(answer) or math.isnan(key):
        return False
    if math.isinf(answer) or math.isinf(key) or key == 0 or answer == 0:
        return answer == key
    return abs(answer - key) <= tolerance * abs(key)
