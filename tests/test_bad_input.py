"""Every public function of the models of levels 1, 2 and 5 named here: whatever it is given, a
value or a ValueError that names an argument.
"""

import inspect
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabriclab import transport
from fabriclab.cluster import costs, overlap, pooling, sharing
from fabriclab.collectives import flat, shaped
from fabriclab.link import optics
from fabriclab.scaleup import campus, headers, pcie


def functions(*modules):
    return [
        function
        for module in modules
        for name, function in vars(module).items()
        if inspect.isfunction(function)
        and function.__module__ == module.__name__
        and not name.startswith("_")
    ]


FUNCTIONS = functions(transport, flat, shaped)
OTHERS = functions(
    optics, overlap, costs, pooling, sharing, headers, pcie, campus
)  # of these some differences may be negative, and some results are records
ODD = [
    np.nan,
    np.inf,
    -np.inf,
    -1,
    0,
    1e-300,
    1e300,
    10**400,
    True,
    None,
    "4 KB",
    b"1",
    1j,
    {},
    object(),
    [],
    [[1], [1, 2]],
    [np.nan],
    np.ones((4, 1)),
    "all_reduce",
]
SENSIBLE = st.one_of(
    st.sampled_from([1, 2, 0.5, 1024, 1.5e-6, 50e9, 6e9]),
    st.lists(st.floats(0, 1e12), max_size=3),
    st.integers(1, 10**6),
)


def drawn(data, function):
    names = list(inspect.signature(function).parameters)
    return {
        name: data.draw(st.one_of(SENSIBLE, SENSIBLE, st.sampled_from(ODD)), label=name)
        for name in names
    }


@pytest.mark.parametrize("function", OTHERS, ids=lambda function: function.__name__)
@settings(max_examples=60)
@given(data=st.data())
def test_nothing_but_a_value_error_that_names_the_argument(function, data):
    """Nonsense would come back as NaN, as numpy's own complaint, or as any other exception or
    warning.
    """
    given_now = drawn(data, function)
    try:
        result = function(**given_now)
    except ValueError as error:
        assert re.match(rf"({'|'.join(given_now)})\b", str(error)), str(error)
    else:
        assert not any(
            np.isnan(value).any()
            for value in (result, *getattr(result, "__dict__", {}).values())
            if isinstance(value, (float, np.ndarray))
        )


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@settings(max_examples=60)
@given(data=st.data())
def test_a_value_or_a_value_error_that_names_the_argument(function, data):
    """Nonsense would come back as NaN, as a negative, as numpy's own complaint, or as any other
    exception or warning.
    """
    given_now = drawn(data, function)
    try:
        result = function(**given_now)
    except ValueError as error:
        assert re.match(rf"({'|'.join(given_now)})\b", str(error)), str(error)
    else:
        values = np.asarray(
            (
                vars(result).get("beta")
                if hasattr(result, "__dict__") and not isinstance(result, np.ndarray)
                else result
            ),
            dtype=float,
        )
        assert not np.isnan(values).any() and (values >= 0).all()
