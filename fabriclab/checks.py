"""What every model asks of its arguments: a number in range, or a ``ValueError`` that says which,
what and why.

Scalars come back as Python floats and arrays as float arrays, so a model is arithmetic and
nothing else.
"""

import math
import numbers
from collections.abc import Iterable, Iterator

import numpy as np

# what a quantity may be: one number, or an array of them
Values = float | np.ndarray

# Beyond these a number is a typing slip, and products of a few of them would leave double
# precision.
LARGEST, SMALLEST = 1e60, 1e-60
MOST_IN_RANGE = 10_000_000  # a range is a few bytes; its numbers are not


def _refuse(name, value, expected):
    shown = repr(value)
    raise ValueError(
        f"{name} must be {expected}, not {shown if len(shown) < 80 else shown[:77] + '...'}"
    )


def number(
    name: str,
    value: Values,
    least: float = -LARGEST,
    most: float = LARGEST,
    expected: str | None = None,
    whole: bool = False,
) -> Values:
    """`value` as a float or float array between `least` and `most`, both included.

    Raises ValueError naming the argument for anything else: text, booleans, complex numbers, NaN,
    out of range, or a fraction where `whole` is asked for.

    >>> number("alpha", 2)
    2.0
    >>> number("alpha", "2 us")
    Traceback (most recent call last):
    ValueError: alpha must be a number, not '2 us'
    """
    expected = expected or (
        "a number" if least == -LARGEST else f"a number from {least:g} to {most:g}"
    )
    if type(value) in (float, int):
        if not least <= value <= most or (whole and value != math.floor(value)):
            _refuse(name, value, expected)
        try:
            return float(value)
        except OverflowError:  # an int beyond floats, where infinity would do
            _refuse(name, value, expected)
    if isinstance(value, (bool, np.bool_)):
        _refuse(name, value, expected)
    if isinstance(value, numbers.Real) or (isinstance(value, np.ndarray) and value.ndim == 0):
        try:
            return number(
                name,
                float(value) if not isinstance(value, np.ndarray) else value.item(),
                least,
                most,
                expected,
                whole,
            )
        except (TypeError, OverflowError):
            _refuse(name, value, expected)
    if not isinstance(value, (np.ndarray, list, tuple, range)):
        _refuse(name, value, expected)
    if isinstance(value, range) and value[MOST_IN_RANGE:]:
        _refuse(name, value, f"a range of at most {MOST_IN_RANGE:,} numbers")
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "iuf" and given.size:
            _refuse(name, value, expected)
        array = np.asarray(given, dtype=float)
    except (TypeError, OverflowError):
        _refuse(name, value, expected)
    except ValueError as error:
        if str(error).startswith(name):
            raise
        _refuse(name, value, expected)
    # min and max carry NaN along, and NaN fails both comparisons
    if array.size and not (
        array.min() >= least
        and array.max() <= most
        and (not whole or (array == np.floor(array)).all())
    ):
        wrong = ~((array >= least) & (array <= most))
        if whole and not wrong.any():
            wrong = array != np.floor(array)
        _refuse(name, float(array[wrong].flat[0]), expected)
    return array


def nonnegative(name: str, value: Values) -> Values:
    """Zero or more: bytes, seconds, watts, dollars."""
    return number(name, value, least=0.0, expected="zero or more")


def positive(name: str, value: Values) -> Values:
    """More than zero: bandwidths, capacities, anything divided by."""
    return number(name, value, least=SMALLEST, expected="more than zero")


def count(name: str, value: Values, least: int = 1) -> Values:
    """A whole number, one or more unless `least` says otherwise: ranks, nodes, ports, chunks."""
    return number(
        name, value, least=least, expected=f"a whole number, {least:g} or more", whole=True
    )


def fraction(name: str, value: Values) -> Values:
    """A share or a probability, 0 to 1."""
    return number(name, value, least=0.0, most=1.0, expected="between 0 and 1")


def flag(name: str, value: bool | np.ndarray) -> bool | np.ndarray:
    """True or False, one or an array of them; text and numbers, which Python takes for true, are
    refused.

    >>> flag("coded", "False")
    Traceback (most recent call last):
    ValueError: coded must be True or False, not 'False'
    """
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if not (isinstance(value, np.ndarray) and value.dtype == bool):
        _refuse(name, value, "True or False")
    return value if value.ndim else bool(value)


def one_of(name: str, value: str, names: Iterable[str]) -> str:
    """`value`, one of the `names`.

    >>> one_of("what", "bandwith", ("bandwidth", "latency"))
    Traceback (most recent call last):
    ValueError: what must be one of bandwidth, latency, not 'bandwith'
    """
    if not (isinstance(value, str) and value in names):
        _refuse(name, value, f"one of {', '.join(names)}")
    return value


def instance(name: str, value: object, kind: type | tuple, such_as: str) -> object:
    """`value`, an object of `kind`; `such_as` names one that the caller could have meant.

    >>> instance("settings", "fast", dict, "{}")
    Traceback (most recent call last):
    ValueError: settings must be a dict, such as {}, not 'fast'
    """
    if not isinstance(value, kind):
        _refuse(name, value, f"a {kind.__name__}, such as {such_as}")
    return value


def broadcastable(**arguments) -> None:
    """Arguments that a check let through, refused by name where they are arrays whose shapes do not
    broadcast.

    >>> broadcastable(size=np.ones(3), alpha=1.0, beta=np.ones(2))
    Traceback (most recent call last):
    ValueError: size and beta must have shapes that broadcast, not (3,) and (2,)
    """
    shapes = {
        name: value.shape for name, value in arguments.items() if isinstance(value, np.ndarray)
    }
    if len(shapes) < 2:
        return
    try:
        np.broadcast_shapes(*shapes.values())
    except ValueError:
        raise ValueError(
            f"{' and '.join(shapes)} must have shapes that broadcast, not"
            f" {' and '.join(map(str, shapes.values()))}"
        ) from None


def scalar(name: str, value: Values) -> bool | float:
    """The single number that a check let through, where a model takes no list.

    >>> scalar("ranks", count("ranks", [2, 4]))
    Traceback (most recent call last):
    ValueError: ranks must be one number, not array([2., 4.])
    """
    if np.ndim(value):
        _refuse(name, value, "one number")
    return value


def each(name: str, value: Iterable, expected: str = "a list") -> Iterator:
    """The things in `value`, one by one, where a model takes several that are no numbers: routes,
    channels.
    """
    try:
        return iter(value)
    except TypeError:
        _refuse(name, value, expected)


def scalar_or_array(value: Values) -> Values:
    """A model's result: a Python float for scalars, the array itself otherwise."""
    return value if isinstance(value, np.ndarray) and value.ndim else float(value)
