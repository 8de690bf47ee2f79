"""The questions that every model asks of its arguments."""

import decimal
import fractions
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabriclab import checks


@pytest.mark.parametrize("value", [3, 3.0, np.float32(3), np.int64(3), np.array(3), fractions.Fraction(3)])
def test_scalars_become_python_floats(value):
    """A kind of number that users have would be refused, or come back as something that prints oddly."""
    assert type(checks.number("x", value)) is float and checks.number("x", value) == 3.0


@pytest.mark.parametrize("value", [[1, 2], (1, 2), range(1, 3), np.array([1, 2], dtype=np.int8), np.array([1.0, 2.0])])
def test_sequences_become_float_arrays(value):
    """A list, a range or an integer array would be refused or keep an integer type that overflows."""
    assert checks.number("x", value).dtype == float and checks.number("x", value).tolist() == [1, 2]


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -math.inf, True, np.True_, "3", b"3", None, 1j, [1, math.nan], [1, "2"], [[1], [1, 2]], {1: 2}, {1}, object(), 10**400, [10**400], [True, False], np.array(["1"]), np.array([1j]), 1e61, decimal.Decimal("NaN"), [None]],
    ids=lambda value: f"{type(value).__name__} {value if isinstance(value, (float, str, list, bool)) else ''}"[:20],
)
def test_nonsense_is_refused_by_name(value):
    """Nonsense would pass as a number, crash elsewhere, or be refused without the argument's name."""
    with pytest.raises(ValueError, match="^x must be a number"):
        checks.number("x", value)


@pytest.mark.parametrize(
    "check, good, bad",
    [
        (checks.amount, [0, 0.0, 5, [0, 1]], [-1, -1e-300, [0, -1]]),
        (checks.positive, [1e-50, 5], [0, -1, 1e-70, [1, 0]]),
        (checks.count, [1, 2.0, 10**18, [1, 2]], [0, 1.5, -1, [1, 2.5]]),
        (checks.fraction, [0, 1, 0.5], [1.0000001, -0.1, [0.5, 2]]),
    ],
)
def test_ranges_include_their_ends_and_nothing_beyond(check, good, bad):
    """A check would let through what its name excludes, or refuse an allowed edge."""
    for value in good:
        check("x", value)
    for value in bad:
        with pytest.raises(ValueError, match="^x must be"):
            check("x", value)


def test_the_offending_element_is_named():
    """A bad element of a long array would have to be searched for."""
    with pytest.raises(ValueError, match=r"x must be zero or more, not -7\.0"):
        checks.amount("x", np.r_[np.ones(1000), -7.0])


@given(st.one_of(st.floats(), st.integers(), st.text(), st.lists(st.floats()), st.none(), st.binary(), st.complex_numbers()))
def test_anything_is_a_finite_number_or_a_value_error(value):
    """Some input would crash a check, or pass it as NaN or infinity."""
    try:
        assert np.isfinite(checks.number("x", value)).all()
    except ValueError as error:
        assert str(error).startswith("x must be")
