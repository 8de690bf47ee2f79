"""Every public function of every room of the models: whatever it is given, a value or a ValueError
or TypeError that names an argument, within a second and 200 MB (`walk.py`, one argument after
another, in a process of its own); and some of them with several things wrong at once.
"""

import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from walk import sensible

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


# What is known to be answered otherwise, and why: a line here goes when its debt is paid.
KNOWN = {
    "congestion.trajectory\tduration=0.5\tTimeoutError: more than 1 s": "half a second of 10 us"
    " steps is no nonsense, and takes its time"
}


def test_every_public_function_refuses_nonsense_by_name():
    """Nonsense would come back as NaN, as numpy's or Python's own complaint, after a minute, or
    with the memory full; or a function be added whose docstring shows no call.
    """
    here = Path(__file__).parent
    walked = subprocess.run(
        [sys.executable, here / "walk.py"],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=here.parent,
        check=False,
    )
    *found, last = walked.stdout.splitlines() or [""]
    assert re.fullmatch(r"walked \d\d\d+", last), walked.stderr[-2000:]
    assert int(last.split()[1]) >= 225
    assert [line for line in found if line not in KNOWN] == []


FLAGS = [
    (function, name)
    for room in (
        "link reliability congestion topology deadlock scaleup cluster nccl transport collectives"
    ).split()
    for function in vars(importlib.import_module(f"fabriclab.{room}")).values()
    if inspect.isfunction(function) and function.__module__.startswith("fabriclab.")
    if not function.__module__.endswith(".checks")
    for name, parameter in inspect.signature(function).parameters.items()
    if isinstance(parameter.default, bool)
]


@pytest.mark.parametrize("function, name", FLAGS, ids=lambda each: getattr(each, "__name__", each))
def test_text_and_numbers_are_no_flags(function, name):
    """Text, "False" and "no" with it, is true in Python: it would switch on what it was to switch
    off.
    """
    _, _, calls = sensible(inspect.getmodule(function), function.__name__)
    for value in ("False", "no", "", 0, 1, None):
        with pytest.raises(ValueError, match=f"^{name} must be True or False, not"):
            function(**{**calls[0], name: value})


def drawn(data, function):
    names = list(inspect.signature(function).parameters)
    return {
        name: data.draw(st.one_of(SENSIBLE, SENSIBLE, st.sampled_from(ODD)), label=name)
        for name in names
    }


@pytest.mark.parametrize("function", OTHERS, ids=lambda function: function.__name__)
@settings(max_examples=20)
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
@settings(max_examples=20)
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
