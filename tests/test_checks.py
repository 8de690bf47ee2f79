"""The questions that every model asks of its arguments."""

import decimal
import fractions
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fabriclab import checks, cluster, congestion, deadlock, packets, topology


@pytest.mark.parametrize(
    "value", [3, 3.0, np.float32(3), np.int64(3), np.array(3), fractions.Fraction(3)]
)
def test_scalars_become_python_floats(value):
    """A kind of number that users have would be refused, or come back as something that prints
    oddly.
    """
    assert type(checks.number("x", value)) is float and checks.number("x", value) == 3.0


@pytest.mark.parametrize(
    "value", [[1, 2], (1, 2), range(1, 3), np.array([1, 2], dtype=np.int8), np.array([1.0, 2.0])]
)
def test_sequences_become_float_arrays(value):
    """A list, a range or an integer array would be refused or keep an integer type that
    overflows.
    """
    assert checks.number("x", value).dtype == float and checks.number("x", value).tolist() == [1, 2]


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        -math.inf,
        True,
        np.True_,
        "3",
        b"3",
        None,
        1j,
        [1, math.nan],
        [1, "2"],
        [[1], [1, 2]],
        {1: 2},
        {1},
        object(),
        10**400,
        [10**400],
        [True, False],
        np.array(["1"]),
        np.array([1j]),
        1e61,
        decimal.Decimal("NaN"),
        [None],
    ],
    ids=lambda value: (
        f"{type(value).__name__} {value if isinstance(value, (float, str, list, bool)) else ''}"[
            :20
        ]
    ),
)
def test_nonsense_is_refused_by_name(value):
    """Nonsense would pass as a number, crash elsewhere,
    or be refused without the argument's name.
    """
    with pytest.raises(ValueError, match="^x must be a number"):
        checks.number("x", value)


@pytest.mark.parametrize(
    "check, good, bad",
    [
        (checks.nonnegative, [0, 0.0, 5, [0, 1]], [-1, -1e-300, [0, -1]]),
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
        checks.nonnegative("x", np.r_[np.ones(1000), -7.0])


@given(
    st.one_of(
        st.floats(),
        st.integers(),
        st.text(),
        st.lists(st.floats()),
        st.none(),
        st.binary(),
        st.complex_numbers(),
    )
)
def test_anything_is_a_finite_number_or_a_value_error(value):
    """Some input would crash a check, or pass it as NaN or infinity."""
    try:
        assert np.isfinite(checks.number("x", value)).all()
    except ValueError as error:
        assert str(error).startswith("x must be")


def test_one_number_is_one_number():
    """A list given to a model of one number would end in numpy's own words, or in the first of
    them.
    """
    assert checks.scalar("x", checks.count("x", 3)) == 3.0
    for several in ([], [2], [2, 3], np.array([2.0])):
        with pytest.raises(ValueError, match="^x must be one number"):
            checks.scalar("x", checks.count("x", several))


NETWORK = topology.leaf_spine(2, 1, 2, 1)
SEVERAL = {
    "flows": [
        lambda x: congestion.fixed_point(x),
        lambda x: congestion.cube_root_marking(x),
        lambda x: congestion.trajectory(x, 1e-3, 2e-5),
        lambda x: congestion.mean_fullest(x, 4),
        lambda x: congestion.rounds(1e10, x, 5e6, 2e-5, 5),
    ],
    "workers": [
        lambda x: congestion.slowest_mean(stats.expon(), x),
        lambda x: congestion.slowest_simulated(stats.expon(), x, 5),
    ],
    "buffer": [
        lambda x: congestion.fluid_queue([1e-6], [1e9], 1e9, x),
        lambda x: packets.run(NETWORK, packets.Flows(0, 2, 1000), buffer=x),
    ],
    "held": [lambda x: deadlock.watchdog(0.2, x, 1e9)],
    "capacity": [lambda x: congestion.Dcqcn(capacity=x)],
    "seed": [
        lambda x: congestion.slowest_simulated(stats.expon(), 2, 5, x),
        lambda x: congestion.permutation_slowdown(4, "hashing", 1, 1, x),
    ],
    "senders": [lambda x: packets.incast(x)],
    "oversubscription": [lambda x: topology.build(1024, 64, [x])],
}


@pytest.mark.parametrize(
    "name, call", [(name, call) for name, calls in SEVERAL.items() for call in calls]
)
def test_models_of_one_number_refuse_several_by_name(name, call):
    """A student who passes an array, as most models allow, would see a traceback from inside the
    model.
    """
    for several in ([2, 3], np.array([2.0, 3.0]), []):
        with pytest.raises(ValueError, match=f"^{name} must be one number"):
            call(several)


@pytest.mark.parametrize(
    "name, call",
    [
        ("topology", lambda x: topology.bisection(x)),
        ("topology", lambda x: topology.flow(x, [0], [1])),
        ("topology", lambda x: topology.paths(x)),
        ("topology", lambda x: topology.failures(x)),
        ("topology", lambda x: topology.placement_oversubscription(x, [0])),
        ("topology", lambda x: topology.bill(x)),
        ("topology", lambda x: topology.card(x)),
        ("topology", lambda x: topology.without_vertex(x, 0)),
        ("topology", lambda x: topology.without_cable(x, 0)),
        ("broken", lambda x: topology.failure(NETWORK, x)),
        ("broken", lambda x: topology.extra_links(NETWORK, x)),
        ("network", lambda x: cluster.placement_lengthening(x, [0], 0.2)),
        ("topology", lambda x: list(deadlock.shortest_routes(x))),
        ("topology", lambda x: deadlock.valley_routes(x)),
        ("topology", lambda x: packets.run(x, packets.Flows(0, 2, 1000))),
        ("routes", lambda x: deadlock.dependencies([x] if x == 8 else x)),
        ("routes", lambda x: packets.Flows(0, 2, 1000, 0.0, [x])),
        (
            "watch",
            lambda x: packets.run(NETWORK, packets.Flows(0, 2, 1000), watch=[x], sample=1e-6),
        ),
        ("distribution", lambda x: congestion.slowest_mean(x, 4)),
        ("distribution", lambda x: congestion.slowest_quantile(x, 4, 0.5)),
        ("distribution", lambda x: congestion.slowest_simulated(x, 4, 5)),
    ],
)
def test_what_is_no_network_no_route_no_distribution_is_refused_by_name(name, call):
    """The first line of a notebook skipped, or its name misspelt, would end in an AttributeError
    from inside.
    """
    for wrong in (8, "a b"):
        with pytest.raises(ValueError, match=f"^{name} must"):
            call(wrong)


def test_a_slip_of_many_zeros_is_refused_at_once():
    """A radix, or a number of draws, of a slip of the keyboard would keep the notebook busy for
    good.
    """
    for call in (
        lambda: topology.fat_tree(10**30, 3, 16),
        lambda: topology.rail_optimised(8, 8, 10**30),
    ):
        with pytest.raises(ValueError, match="^radix must be at most"):
            call()
    with pytest.raises(ValueError, match="^steps and workers must each be at most"):
        congestion.slowest_simulated(stats.expon(), 10, 10**30)


def test_a_range_is_not_written_out():
    """range(10**9) is a few bytes and would become eight gigabytes; a short one is a list."""
    assert checks.number("x", range(3)).tolist() == [0, 1, 2]
    for huge in (range(10**9), range(10**30), range(10_000_001)):
        with pytest.raises(ValueError, match="^x must be a range of at most 10,000,000 numbers"):
            checks.number("x", huge)
    assert checks.number("x", range(10_000_000)).size == 10_000_000
