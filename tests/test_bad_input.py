"""Every public function of the models of level 2: whatever it is given, a value or a ValueError that names an argument."""

import inspect
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabriclab import collectives, transport

FUNCTIONS = [function for module in (transport, collectives) for name, function in vars(module).items()
             if inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_")]
ODD = [np.nan, np.inf, -np.inf, -1, 0, 1e-300, 1e300, 10**400, True, None, "4 KB", b"1", 1j, {}, object(), [], [[1], [1, 2]], [np.nan], np.ones((4, 1)), "all_reduce"]
SENSIBLE = st.one_of(st.sampled_from([1, 2, 0.5, 1024, 1.5e-6, 50e9, 6e9]), st.lists(st.floats(0, 1e12), max_size=3), st.integers(1, 10**6))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@settings(max_examples=60)
@given(data=st.data())
def test_a_value_or_a_value_error_that_names_the_argument(function, data):
    """Nonsense would come back as NaN, as a negative, as numpy's own complaint, or as any other exception or warning."""
    names = list(inspect.signature(function).parameters)
    given_now = {name: data.draw(st.one_of(SENSIBLE, SENSIBLE, st.sampled_from(ODD)), label=name) for name in names}
    try:
        result = function(**given_now)
    except ValueError as error:
        assert re.match(rf"({'|'.join(names)})\b", str(error)), str(error)
    else:
        values = np.asarray(vars(result).get("beta") if hasattr(result, "__dict__") and not isinstance(result, np.ndarray) else result, dtype=float)
        assert not np.isnan(values).any() and (values >= 0).all()
