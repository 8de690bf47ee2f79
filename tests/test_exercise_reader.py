"""Answers as students give them: numbers, text, formulas, functions,
and objects that mean no good.
"""

import json
import math
import time
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from fabriclab import units
from fabriclab.course.engine import exercises
from fabriclab.course.engine.exercises import bank, reader
from fabriclab.course.engine.exercises.formula import evaluate, parse
from fabriclab.course.engine.exercises.slips import explain

STATUSES = {"right", "wrong", "not attempted", "could not read", "for the instructor"}
QUANTITIES = [
    i
    for i in exercises.ids()
    if hasattr(bank.find(i).kind, "dimension") and not hasattr(bank.find(i).kind, "names")
]


def key(exercise_id, student="demo"):
    return bank.find(exercise_id).kind.key(bank.numbers(student, exercise_id))


def grade(exercise_id, answer):
    return exercises.grade("demo", exercise_id, answer)


def is_verdict(result):
    return (
        type(result) is exercises.Result
        and result.status in STATUSES
        and result.score == (result.status == "right")
        and type(result.message) is str
        and 0 < len(result.message) < 1500
    )


NUMBER_TYPES = [
    float,
    int,
    Fraction,
    Decimal,
    np.float64,
    np.float32,
    np.int64,
    lambda v: np.array(v),
    lambda v: sympy.Integer(int(v)),
    sympy.Float,
    lambda v: [v],
    lambda v: [sympy.Float(v)],
]


@pytest.mark.parametrize("make", NUMBER_TYPES)
def test_every_honest_kind_of_number_is_read(make):
    """A right number would be refused for the type it came in."""
    assert grade("transport.crossover", make(key("transport.crossover"))).status == "right"


@pytest.mark.parametrize(
    "text",
    [
        "125 KB",
        "0.125 MB",
        "1 Mb",
        "125,000 B",
        "1.25e5",
        "125000",
        " 125KB ",
        "122.07 KiB",
        "1000 Kbit",
        "1.25 x 10^5 B",
        "１２５ＫＢ",
        "约 125 KB",
        "大约125千字节",
        "~125 KB",
        "≈ 125 kB.",
        "about 125 KB",
        "125 KB。",
        "0.125 兆字节",
        "125，000 字节",
        "1 兆比特",
    ],
)
def test_text_is_read_with_its_unit(text):
    """The demo student's crossover is 5 us x 200 Gb/s = 125 KB; a right spelling of it would be
    refused.
    """
    assert grade("transport.crossover", text).status == "right"


@pytest.mark.parametrize(
    "chinese,plain",
    [
        ("3 毫秒", "3 ms"),
        ("约２.５微秒", "2.5 us"),
        ("40 吉比特每秒", "40 Gb/s"),
        ("5 千兆字节", None),
        ("7 纳秒。", "7 ns"),
        ("12 千瓦", "12 kW"),
        ("2 厘米", "2 cm"),
        ("2 小时", "2 h"),
        ("9 皮焦耳", "9 pJ"),
        ("1.5 太字节/秒", "1.5 TB/s"),
    ],
)
def test_a_unit_in_chinese_is_its_sign(chinese, plain):
    """毫 would be read as metres, or a unit be off by its prefix."""
    if plain is None:
        with pytest.raises(ValueError, match=chinese):
            reader.read({"text": chinese})
    else:
        assert reader.read({"text": chinese}) == reader.read({"text": plain})


@pytest.mark.parametrize(
    "text",
    [
        "seven",
        "125 kb/q",
        "3,5 ms",
        "KB",
        "--",
        "1e9999 B",
        "125 KB or so",
        "125 K",
        "约",
        "千字节",
        "约 约 125 KB",
        "125 毫",
        "about",
        "\x00",
        "\ud800",
        "9" * 10_000,
    ],
)
def test_what_cannot_be_read_is_never_called_wrong(text):
    """A student would be told 'wrong' for a spelling this kit does not know."""
    result = grade("transport.crossover", text)
    assert result.status == "could not read" and result.message.startswith("Could not read")


@pytest.mark.parametrize("answer", [None, ..., "", "  \n"])
@pytest.mark.parametrize("exercise_id", exercises.ids())
def test_a_blank_is_not_attempted(exercise_id, answer):
    """A blank would be marked, or stop the notebook."""
    assert grade(exercise_id, answer).status == "not attempted"


def test_a_bare_number_is_told_what_it_counted_as():
    """A student who gave microseconds as a bare number would not learn why it is wrong."""
    assert "a bare number counts as seconds" in grade("transport.time", 12.1).message


@pytest.mark.parametrize("exercise_id", QUANTITIES)
def test_the_wrong_dimension_is_named_and_not_compared(exercise_id):
    """A time would be compared with a size as if both were numbers."""
    kind = bank.find(exercise_id).kind
    other = "7 s" if kind.dimension != "time" else "7 KB"
    result = grade(exercise_id, other)
    assert result.slips == ("wrong dimension",) and "this asks for" in result.message


@pytest.mark.parametrize("exercise_id", QUANTITIES)
@pytest.mark.parametrize(
    "answer",
    [
        math.nan,
        0,
        0.0,
        -0.0,
        math.inf,
        -math.inf,
        "inf",
        "0 B",
        "0 s",
        np.float64("nan"),
        Decimal("NaN"),
        Decimal("Infinity"),
    ],
)
def test_nan_zero_and_infinity_are_never_right(exercise_id, answer):
    """An absolute tolerance, or a comparison with NaN, would give points for nothing."""
    assert grade(exercise_id, answer).status in ("wrong", "could not read")


def test_zero_and_infinity_are_right_where_they_are_the_answer():
    """A payload that cannot hide at all (0), or a path that is always the better (inf), could not
    be answered.
    """
    assert reader.within(0.0, 0.0, 0.01) and reader.within(math.inf, math.inf, 0.01)
    assert not any(
        reader.within(a, b, 0.01)
        for a, b in [
            (1e-300, 0.0),
            (0.0, 1e-300),
            (1e308, math.inf),
            (-math.inf, math.inf),
            (math.nan, math.nan),
        ]
    )


SLIPS = [
    (8, "bits for bytes"),
    (1 / 8, "bits for bytes"),
    (2, "one way for both ways"),
    (0.5, "one way for both ways"),
    (1000, "power of ten"),
    (1e-6, "power of ten"),
    (10, "power of ten"),
]
SLIPS += [(1.024**k, "1024 for 1000") for k in (1, 2, 3, 4, -1, -2, -3, -4)]


@pytest.mark.parametrize("ratio,name", SLIPS)
def test_a_general_slip_is_named(ratio, name):
    """An 8x or a 1024/1000 slip would go by without its name."""
    result = grade("transport.crossover", key("transport.crossover") * ratio)
    assert result.status == "wrong" and result.slips == (name,)


def test_a_tight_reading_is_not_a_slip():
    """Any wrong number at all would be given a slip's name."""
    for ratio in (1.3, 3, 5, 7.7, 9, 0.3, 20, 700, 1.012, -8):
        assert set(grade("transport.crossover", key("transport.crossover") * ratio).slips) <= {
            "sign"
        }


def test_two_slips_that_explain_one_number_are_both_named():
    """Half of a ring's time would be claimed to be one slip where two lead there."""
    result = grade("transport.ring", key("transport.ring") / 2)
    assert (
        result.slips == ("forgot the 2", "one way for both ways")
        and "More than one slip" in result.message
    )


def test_an_exercises_own_words_replace_a_general_slips():
    """A student who counted the staging copy once would read two versions of one slip."""
    assert grade("transport.staging", key("transport.staging") / 2).slips == (
        "one way for both ways",
    )
    assert grade("transport.staging", key("transport.staging") * 2).slips == (
        "one way for both ways",
    )


@given(st.floats(), st.floats(), st.floats(1e-6, 0.2))
def test_slips_are_found_for_any_pair_of_numbers(answer, expected, tolerance):
    """Infinities, zeros or subnormal ratios would raise inside the feedback."""
    assert isinstance(explain(answer, expected, [], tolerance), list)


class Liar:
    """Equal to everything, and a float of whatever is wanted."""

    def __init__(self, value):
        self.value = value

    __eq__ = __ge__ = __le__ = __lt__ = __gt__ = lambda self, other: True
    __hash__ = object.__hash__
    __float__ = __index__ = __array__ = lambda self, *a, **k: self.value
    __sub__ = __rsub__ = __abs__ = __mul__ = lambda self, *a: 0


class Bomb(type):
    __name__ = property(lambda cls: 1 / 0)
    __instancecheck__ = __eq__ = lambda cls, other: 1 / 0
    __hash__ = type.__hash__


class Raiser(metaclass=Bomb):
    def __getattribute__(self, name):
        raise SystemExit(name)

    __eq__ = __float__ = __str__ = __repr__ = __bool__ = __len__ = __call__ = __iter__ = (
        lambda self, *a: 1 / 0
    )
    __hash__ = object.__hash__


class FloatChild(float):
    __eq__ = __le__ = __ge__ = lambda self, other: True
    __hash__ = float.__hash__
    __sub__ = __rsub__ = __abs__ = lambda self, *a: 0.0


class TextChild(str):
    strip = lambda self, *a: 1 / 0  # noqa: E731


class ArrayChild(np.ndarray):
    __eq__ = __le__ = lambda self, other: True


def hostile():
    loop = []
    loop.append(loop)
    deep = "(" * 5000 + "1" + ")" * 5000
    return [
        Liar(1e5),
        Raiser(),
        FloatChild(1),
        TextChild("125 KB"),
        np.zeros(()).view(ArrayChild),
        loop,
        deep,
        "9" * 10**6,
        10**5000,
        -(10**400),
        Fraction(10**400),
        Decimal("sNaN"),
        Decimal("1e999999"),
        np.array(object()),
        np.array(["a"]),
        np.array(1 + 2j),
        1j,
        True,
        np.True_,
        object(),
        type,
        Raiser,
        {"text": "125 KB"},
        {1: 2},
        b"125 KB",
        (i for i in ()),
        sympy.oo,
        sympy.zoo,
        sympy.nan,
        sympy.Symbol("x") ** sympy.Symbol("y"),
        lambda *a: 1 / 0,
        lambda *a: Raiser(),
        lambda *a: Liar(1),
        lambda: 0,
        len,
        print,
        exit,
        float("nan"),
        units.Quantity("x", [], 0),
        np.datetime64("2020"),
        {1},
        range(3),
    ]


@pytest.mark.parametrize("number", range(len(hostile())))
def test_no_object_crashes_the_check_or_talks_its_way_to_right(number):
    """An object with a lying __eq__ would earn a point,
    or one that raises would stop the notebook.
    """
    for exercise_id in exercises.ids():
        result = grade(exercise_id, hostile()[number])
        assert is_verdict(result) and result.status != "right", exercise_id


QUANTITY_TEXT = st.builds(
    "{}{}{}".format,
    st.one_of(
        st.floats(allow_nan=False).map(repr),
        st.integers().map(str),
        st.text("0123456789.,+-eE^x", max_size=12),
    ),
    st.sampled_from(["", " ", "\t"]),
    st.one_of(st.sampled_from(sorted(units.UNITS)), st.text(max_size=4)),
)
NUMBERS = st.one_of(
    st.floats(), st.integers(), st.fractions(), st.decimals(), st.booleans(), st.complex_numbers()
)
ANYTHING = st.one_of(
    st.text(),
    QUANTITY_TEXT,
    NUMBERS,
    st.binary(),
    st.recursive(
        st.none() | st.floats() | st.text(),
        lambda s: st.lists(s) | st.dictionaries(st.text(), s),
        max_leaves=6,
    ),
)


@settings(max_examples=133, deadline=None)
@given(st.sampled_from(exercises.ids()), ANYTHING)
def test_any_answer_gets_a_verdict(exercise_id, answer):
    """Some text or number would raise out of `check` and stop a student's notebook."""
    assert is_verdict(grade(exercise_id, answer))


@settings(max_examples=133, deadline=None)
@given(
    st.sampled_from(QUANTITIES),
    st.one_of(QUANTITY_TEXT, st.floats(), st.floats(0.95, 1.05)),
    st.booleans(),
)
def test_right_means_within_tolerance(exercise_id, answer, scaled):
    """A number would be right that is not within its tolerance of the key,
    or the other way round.
    """
    kind, expected = bank.find(exercise_id).kind, key(exercise_id)
    if scaled and type(answer) is float:
        answer *= expected
    got = grade(exercise_id, answer).status
    if type(answer) is str:
        try:
            read = units.read(answer)
        except ValueError:
            assert got != "right"
            return
        value = read.value if read.dimension in (kind.dimension, "number") else math.nan
    else:
        value = answer
    assert (got == "right") == (abs(value - expected) <= kind.tolerance * expected)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda s: (
        st.lists(s, max_size=8)
        | st.dictionaries(
            st.sampled_from(
                ["text", "value", "items", "outputs", "dimension", "unreadable", "raised", "?"]
            ),
            s,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=133, deadline=None)
@given(st.sampled_from(exercises.ids()), JSON)
def test_any_data_gets_a_verdict(exercise_id, data):
    """Data written by a student's own process would crash the grader of the whole class."""
    assert is_verdict(exercises.judge("demo", exercise_id, data))


@settings(max_examples=66, deadline=None)
@given(st.sampled_from(exercises.ids()), ANYTHING)
def test_an_answer_as_data_passes_through_json_unchanged(exercise_id, answer):
    """The verdict in a notebook and the verdict on the data handed out of a sandbox would
    differ.
    """
    data = exercises.take("demo", exercise_id, answer)
    assert exercises.judge("demo", exercise_id, json.loads(json.dumps(data))) == grade(
        exercise_id, answer
    )


RIGHT_FORMULAS = [
    "(t - 2*(N-1)*alpha) * beta * N / (2*(N-1))",
    "N*beta*(t/(2*(N-1)) - alpha)",
    "(t − 2*(N-1)*α) × β·N/(2*N - 2)",
    "beta*N*t/(2*N-2) - alpha*beta*N",
    "0.5*N*beta*(N-1)^-1*(t - 2*alpha*(N - 1))",
    "exp(log(N)) * beta*(t/(2*(N-1)) - alpha)",
]


@pytest.mark.parametrize("text", RIGHT_FORMULAS)
def test_a_formula_is_right_in_any_form(text):
    """An equal formula would be refused for how it is written."""
    assert grade("transport.threshold", text).status == "right"


def test_sympy_objects_are_read_with_their_assumptions_and_as_solve_gives_them():
    """A symbol declared positive, or the list that sympy.solve returns, would not count."""
    M, t, N, alpha, beta = sympy.symbols("M t N alpha beta", positive=True)
    solved = sympy.solve(sympy.Eq(2 * (N - 1) / N * M / beta + 2 * (N - 1) * alpha, t), M)
    for answer in (solved, solved[0], sympy.expand(solved[0]), sympy.factor(solved[0])):
        assert grade("transport.threshold", answer).status == "right"
    assert "equation" in grade("transport.threshold", sympy.Eq(M, solved[0])).message


WRONG_FORMULAS = [
    ("t*beta*N/(2*(N-1))", "left out alpha"),
    ("(t-alpha)*beta*N/(2*(N-1))", "one start-up"),
    ("(t-(N-1)*alpha)*beta*N/(N-1)", "forgot the 2"),
    ("(t-2*(N-1)*alpha)*beta/2", "took N as endless"),
]


@pytest.mark.parametrize("text,name", WRONG_FORMULAS)
def test_a_formulas_slip_is_named(text, name):
    """A known wrong derivation would be told only that it is wrong."""
    assert grade("transport.threshold", text).slips == (name,)


def test_a_formula_that_misses_a_symbol_or_has_no_value_is_told_so():
    """A student would hear nothing about a symbol left out or a division by zero."""
    assert "does not depend on t" in grade("transport.threshold", "N*alpha*beta").message
    assert "no value" in grade("transport.threshold", "t*N*alpha*beta/0").message
    assert "none of t, N, alpha, beta" in grade("transport.threshold", "n*x").message
    assert "write *" in grade("transport.threshold", "f(N-1)").message


UNSAFE = [
    "__import__('os').system('true')",
    "().__class__",
    "lambda: 1",
    "[1 for _ in 'a']",
    "(t := 3)",
    "9**9**9**9",
    "t if N else 1",
    "t < N",
    "'a'*9",
    "t and N",
    "f'{t}'",
    "(" * 300,
    "1+" * 299 + "1",
    "t\n\nN",
    "**t",
    "1j*t",
    "True*t",
    "max()",
    "min(t)",
    "sqrt(t, N)",
    "exp(1e9)",
    "log(0)",
    "0**-1",
    "(-t)**0.5",
    "t.real",
    "t[0]",
    "*t",
    "10**400*t",
    "{'t'}",
    "await t",
]


@pytest.mark.parametrize("text", UNSAFE)
def test_a_formula_is_arithmetic_and_nothing_else_and_takes_no_time(text):
    """Text from a student would run as code, or hang the grader."""
    began = time.process_time()
    assert grade("transport.threshold", text).status in ("could not read", "wrong")
    assert time.process_time() - began < 10


TREES = st.recursive(
    st.sampled_from(["t", "N", "2", "0.5", "3e-1"]),
    lambda s: (
        st.builds("({} {} {})".format, s, st.sampled_from("+-*/"), s)
        | st.builds("sqrt({0}*{0})".format, s)
        | st.builds("({})**2".format, s)
        | st.builds("-({})".format, s)
    ),
    max_leaves=8,
)


@given(TREES, st.floats(0.1, 10), st.floats(0.1, 10))
def test_a_formulas_value_is_pythons_own(text, t, n):
    """Precedence or an operator would be read otherwise than Python and sympy read it."""
    if len(text) > 600:
        return
    try:
        expected = eval(text, {"sqrt": math.sqrt}, {"t": t, "N": n})
    except (ArithmeticError, ValueError):
        with pytest.raises((ArithmeticError, ValueError)):
            evaluate(parse(text, ["t", "N"]), {"t": t, "N": n})
    else:
        assert evaluate(parse(text, ["t", "N"]), {"t": t, "N": n}) == pytest.approx(
            expected, rel=1e-12
        )


def right_ring(size, ranks, alpha, beta):
    return 2 * (ranks - 1) / ranks * size / beta + 2 * (ranks - 1) * alpha


def ring_of_scalars(size, ranks, alpha, beta):
    return 0.0 if size == 0 else right_ring(size, ranks, alpha, beta)


def ring_by_list(size, ranks, alpha, beta):
    return (
        [right_ring(n, ranks, alpha, beta) for n in size]
        if np.ndim(size)
        else Fraction(right_ring(size, ranks, alpha, beta))
    )


def ring_that_spoils_its_input(size, ranks, alpha, beta):
    result = right_ring(size, ranks, alpha, beta)
    if np.ndim(size):
        size[:] = 0
    return result


FUNCTIONS = [
    (right_ring, "right", "all 6 inputs"),
    (ring_by_list, "right", "all 6"),
    (ring_that_spoils_its_input, "right", "all 6"),
    (ring_of_scalars, "wrong", "size = an array of 4"),
    (lambda *a: None, "not attempted", "end it with return"),
    (lambda *a: ..., "not attempted", "Not attempted"),
    (lambda m, n, a, b: None if n == 1 else right_ring(m, n, a, b), "wrong", "is a return missing"),
    (lambda m, n, a, b: right_ring(m, n, a, b) / 2, "wrong", "went round once"),
    (lambda m, n, a, b: right_ring(m, n, 0, b), "wrong", "left out the start-ups"),
    (lambda m, n, a, b: 2 * (n - 1) * (a + m / b), "wrong", "whole buffer"),
    (lambda: 0, "wrong", "TypeError"),
    (lambda *a: "7 ms", "wrong", "returned an answer of type str"),
    (lambda *a: float("nan"), "wrong", "agrees with the model on 0 of 6"),
    (3.0, "could not read", "not a function"),
]


@pytest.mark.parametrize("function,status,words", FUNCTIONS)
def test_functions_are_run_and_spoken_of_kindly(function, status, words):
    """A function that raises would stop the notebook, or one right for scalars alone would pass."""
    result = grade("transport.write_ring", function)
    assert result.status == status and words in result.message


def test_a_choice_is_taken_by_letter_or_by_text_and_each_wrong_option_has_its_answer():
    """A letter would mean another option than the one shown beside it."""
    for student in ("demo", "001", "ada", "zoé"):
        kind, x = bank.find("transport.protocol").kind, bank.numbers(student, "transport.protocol")
        for letter, option in kind.lettered(x).items():
            assert f"**{letter}**: {kind.wording(option, x)}" in kind.wants(x)
            for spelling in (
                letter,
                letter.upper(),
                f"({letter})",
                f"{letter})",
                f" {letter}.",
                f"选{letter}",
                f"答案：{letter.upper()}。",
                f"（{letter}）",
                chr(ord(letter) + 0xFEE0),
                f"Option {letter}",
                option.text,
                option.text.upper(),
            ):
                result = exercises.grade(student, "transport.protocol", spelling)
                assert (result.status == "right") == option.right and option.says in result.message
    for spelling in ("e", "a, b", "选", "option", "答案", "..", "the first"):
        assert grade("transport.protocol", spelling).status == "could not read"


def test_an_ordering_is_taken_as_text_or_list_and_backwards_is_named():
    """A right order would be refused for its spelling, or a reversed one go unnamed."""
    x = bank.numbers("demo", "transport.order")
    values = bank.find("transport.order").kind.values(x)
    order = sorted(values, key=values.get)
    for answer in (
        order,
        tuple(order),
        ", ".join(order),
        " < ".join(order),
        "，".join(order),
        "、 ".join(order),
        "；".join(order),
        "\n".join(order).upper(),
    ):
        assert grade("transport.order", answer).status == "right"
    assert grade("transport.order", order[::-1]).slips == ("backwards",)
    assert grade("transport.order", [order[1], order[0], *order[2:]]).status == "wrong"
    for answer in (
        order[:3],
        order + order[:1],
        "ring, tree",
        "ring, tree, butterfly, Rabenseifner",
        [1, 2, 3, 4],
    ):
        assert grade("transport.order", answer).status == "could not read"


def test_a_free_answer_is_kept_and_never_right():
    """A program would claim to have marked an argument."""
    result = grade("transport.fabric", "credits and pauses " * 30)
    assert (
        result.status == "for the instructor"
        and result.score == 0
        and "No program marks" in result.message
    )
    assert grade("transport.fabric", "InfiniBand.").status == "could not read"
    assert grade("transport.fabric", "无损网络依赖信用流控" * 12).status == "for the instructor"


@pytest.mark.parametrize(
    "text,value",
    [
        ("2(N-1)", 6), ("2N", 8), ("αβ", 3.5), ("2αβ", 7), ("√N", 2), ("√(N+5)", 3), ("N√N", 8),
        ("N²", 16), ("N⁻¹", 0.25), ("½N", 2), ("t·N×2", 24), ("t÷N", 0.75), ("(N-1)(N+1)", 15),
        ("2 sqrt(N)", 4), ("1e3N", 4000), ("N^2t", 48), ("t/(2N)", 0.375), ("Nt − t", 9),
        ("2log2(N)", 4), ("(N)2", 8),
    ],
)  # fmt: skip
def test_a_product_need_not_be_spelled_out(text, value):
    """A formula written as on paper would be refused, or read as another."""
    at = {"t": 3.0, "N": 4.0, "alpha": 0.5, "beta": 7.0}
    assert evaluate(parse(text, list(at)), at) == pytest.approx(value)


@pytest.mark.parametrize("text", ["1/2N", "t/N(N-1)", "√2N", "1/(2N)t", "t/N^2 t", "t/sqrt(N) t"])
def test_a_product_that_could_mean_two_things_is_refused(text):
    """A student who means 1/(2N) would be marked wrong for N/2."""
    assert "two things" in grade("transport.threshold", text).message


@pytest.mark.parametrize("factor,says", [(8, "8 times"), (0.5, "1/2 of"), (-1, "-1 times")])
def test_a_constant_factor_is_named(factor, says):
    """A student with a right formula but for a factor would start it all over."""
    result = grade("transport.threshold", f"{factor}*(t-2*(N-1)*alpha)*beta*N/(2*(N-1))")
    assert says in result.message and result.slips == ("constant factor",)


@pytest.mark.parametrize("name", [i for i in exercises.ids() if hasattr(bank.find(i).kind, "key")])
def test_no_hint_speaks_of_a_symbol_the_formula_has_not(name):
    """A student would be told to try N = 2 where there is no N."""
    kind = bank.find(name).kind
    if hasattr(kind, "points"):
        text = " + ".join(kind.symbols)
        assert "N = 2" not in grade(name, text).message or "N" in kind.symbols


def test_two_solutions_are_told_apart_from_an_answer():
    """The two roots of a quadratic, as sympy.solve gives them, would be called a wrong type."""
    C, M, tau = sympy.symbols("C M tau", positive=False)
    roots = sympy.solve(sympy.Eq(tau**2, 2 * C * M), tau)
    assert len(roots) == 2
    assert "list of 2" in grade("behaviour.young", roots).message
    assert grade("behaviour.young", roots[1:]).status == "right"
    assert "list of 2" in grade("transport.crossover", [1.0, 2.0]).message


@pytest.mark.parametrize(
    "text,value",
    [
        ("3.27 meters", 3.27), ("3.27 metres", 3.27), ("300/370", 300 / 370), ("28/5 s", 5.6),
        ("36:1", 36), ("1 min 28 s", 88), ("1 h 3 min", 3780), ("2 hours and 5 minutes", 7500),
        ("36倍", 36), ("7.8万美元", 78_000), ("US$ 78,046", 78_046), ("USD 78,046", 78_046),
        ("$ 78,046", 78_046), ("78,046 US dollars", None), ("75.9 percent", 0.759),
        ("75.9 per cent", 0.759), ("37500 Byte", 37_500), ("2.5 gigabytes per second", 2.5e9),
        ("40 Gigabits per second", 5e9), ("12 kilowatts", 12e3), ("3 milliseconds", 3e-3),
        ("= 5 ms", 5e-3), ("1.2亿", 1.2e8), ("5/0", None), ("1 s 2 min", None), ("5 s 3", None),
        ("1 min 28 m", None), ("/370", None), ("3 picojoules", 3e-12),
    ],
)  # fmt: skip
def test_what_people_write_is_read(text, value):
    """A right answer would be refused for a spelling that the prompt itself invites."""
    if value is None:
        with pytest.raises(ValueError, match="could not read"):
            reader.read({"text": text})
    else:
        assert reader.read({"text": text})[0] == pytest.approx(value)


def test_arrays_of_one_number_are_that_number():
    """np.array([5.6]) would be refused where [5.6] goes."""
    expected = key("transport.crossover")
    for answer in (np.array([expected]), np.array([[expected]]), [expected], (expected,)):
        assert grade("transport.crossover", answer).status == "right"


COUNTS = [i for i in QUANTITIES if bank.find(i).kind.whole]


@pytest.mark.parametrize("name", COUNTS)
def test_a_count_may_name_what_it_counts_and_one_off_is_said(name):
    """A count written as 24 senders would be refused, or one that is one off be called a mixture of
    1024 and 1000.
    """
    prompt = bank.find(name).prompt(bank.numbers("demo", name))
    nouns = [n for n in ("senders", "flows", "GPUs", "hosts", "planes") if n in prompt]
    expected = round(key(name))
    assert nouns and all(grade(name, f"{expected} {noun}").status == "right" for noun in nouns)
    assert grade(name, f"{expected} cats").status == "could not read"
    own = {slip.name for slip in bank.find(name).kind.slips}
    for by in (-1, 1):
        assert set(grade(name, expected + by).slips) <= own | {"off by one"} != set()
    half = grade(name, expected + 0.65)
    assert half.status == "right" or half.slips == ("not a whole number",)


@pytest.mark.parametrize("name", QUANTITIES)
def test_binary_slips_are_named_where_bytes_are_asked_alone(name):
    """A student who rounded a time would go looking for MiB."""
    kind = bank.find(name).kind
    own = {slip.name for slip in kind.slips}
    for power in (-4, -3, -2, -1, 1, 2, 3, 4):
        result = grade(name, key(name) * 1.024**power)
        if kind.dimension not in ("size", "rate") and "1024 for 1000" not in own:
            assert "1024 for 1000" not in result.slips


@pytest.mark.parametrize("name", QUANTITIES)
def test_a_per_cent_given_bare_is_named_and_a_near_miss_is_told(name):
    """71.4 for 0.714 would be called a wrong prefix, or 0.123 for 0.1212 hear of nothing."""
    kind, expected = bank.find(name).kind, key(name)
    if kind.dimension == "number" and expected < 1 and not kind.whole:
        result = grade(name, 100 * expected)
        assert "per cent given bare" in result.slips or result.slips == ("power of ten",)
        assert grade(name, f"{100 * expected} %").status == "right"
    near = grade(name, expected * (1 + 1.4 * kind.tolerance))
    assert near.slips or "Close: within" in near.message
    assert "Close" not in grade(name, expected * 1.37).message


def test_a_function_that_runs_too_long_is_stopped(monkeypatch):
    """A loop without an end would keep a student's kernel busy for ever."""
    monkeypatch.setattr("fabriclab.course.engine.exercises.function.LIMIT", 0.2)
    began = time.perf_counter()

    def endless(*arguments):
        while True:
            pass

    result = grade("transport.write_ring", endless)
    assert "was stopped after" in result.message and result.slips == ("took too long",)
    slow = grade("transport.write_ring", lambda *a: time.sleep(60))
    assert slow.slips == ("took too long",) and time.perf_counter() - began < 30
    assert grade("transport.write_ring", right_ring).status == "right"
