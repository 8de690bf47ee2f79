"""Formulas as answers: a sympy expression, or text, read as arithmetic on named symbols and
compared at many points.

Text is never evaluated as code. It is parsed, and only numbers, the symbols of the prompt, the four
operations, powers and a few functions are computed with. Two formulas are equal when they agree at
points spread over decades; no symbolic simplification, which may take for ever and differs between
versions.
"""

import ast
import math
import re
import sys
import unicodedata
import warnings
from collections.abc import Callable
from dataclasses import dataclass

from fabriclab.course.engine.exercises.core import right, unreadable, wrong
from fabriclab.course.engine.exercises.reader import kind_of, many, number, only
from fabriclab.course.engine.exercises.slips import words

_TWO = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: math.pow(a, b),
}
_ONE = {ast.UAdd: lambda a: a, ast.USub: lambda a: -a}
_CALLS = {
    "sqrt": math.sqrt,
    "log": math.log,
    "ln": math.log,
    "log2": math.log2,
    "log10": math.log10,
    "exp": math.exp,
    "abs": abs,
    "ceil": math.ceil,
    "ceiling": math.ceil,
    "floor": math.floor,
    "max": max,
    "min": min,
}
_LONGEST, _DEEPEST = 600, 60


def parse(text, symbols):
    """The syntax tree of a formula in `symbols`. Raises ValueError saying what cannot be read.

    >>> evaluate(parse("2*(N-1)/N * M/β", ["N", "M", "beta"]), {"N": 4, "M": 8.0, "beta": 2.0})
    6.0
    """
    plain = unicodedata.normalize("NFKC", re.sub(_RAISED, _power, text.translate(_SIGNS))).strip()
    plain = re.sub(r"(\d+)⁄(\d+)", r"(\1/\2)", plain)  # what NFKC makes of ½
    plain = plain.replace("^", "**").replace("α", "alpha").replace("β", "beta")
    if len(plain) > _LONGEST:
        raise ValueError(f"a formula of more than {_LONGEST} characters")
    if re.search(r"(?<![<>=!])=(?!=)|^Eq\(", plain):
        raise ValueError("an equation: give its right-hand side alone")
    plain = _with_products(plain, symbols)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(plain, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ValueError(
            "not a formula; write every multiplication as *, as in 2*(N - 1)"
        ) from error
    _admit(tree, symbols, _DEEPEST)
    return tree


_SIGNS = str.maketrans({"−": "-", "–": "-", "×": "*", "·": "*", "⋅": "*", "∙": "*", "÷": "/"})
_RAISED = "[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+"
_TOKEN = re.compile(r"\s*(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|[^\W\d]\w*|\*\*|\S)")


def _power(found):
    return f"**({unicodedata.normalize('NFKC', found[0]).replace('−', '-')})"


def _with_products(text, symbols):
    """The formula with its products written out: 2(N-1), 2N, αβ and √N are what they look like.

    A product without a sign behind / or √ could mean two things, and is refused.

    >>> _with_products("2(N-1) alpha/N", ["N", "alpha"])
    '2 * ( N - 1 ) * alpha / N'
    """
    tokens = [part for token in _TOKEN.findall(text) for part in _apart(token, symbols)]
    out, after_root = [], False
    for before, token in zip([""] + tokens, tokens, strict=False):
        operand = re.match(r"[\w.]", token)
        called = token == "(" and before.lower() in _CALLS or before == "√"
        unknown = token == "(" and re.match(r"[^\W\d]", before) and before not in symbols
        begins = (operand or token in ("(", "√")) and not called and not unknown
        if begins and re.match(r"[\w.)]", before):
            if after_root or _divides(out):
                raise ValueError(
                    f"{before}{token} after {'√' if after_root else '/'} could mean two things:"
                    " write * and brackets, as in 1/(2*N)"
                )
            out.append("*")
        if token == "√":
            out.append("sqrt")
            continue
        after_root = before == "√" and token != "("
        out += ["(", token, ")"] if after_root else [token]
    return " ".join(out)


def _divides(tokens):
    """Whether the last operand, with its powers, stands behind a division sign."""
    place, depth = len(tokens) - 1, 0
    while place >= 0:
        depth += {")": 1, "(": -1}.get(tokens[place], 0)
        before = tokens[place - 1] if place else ""
        if depth == 0 and before.lower() not in (*_CALLS, "**") and tokens[place] != "**":
            return before == "/"
        place -= 1
    return False


def _apart(token, symbols):
    """A run of symbols as its symbols: NM is N and M. What is no such run stays as it is."""
    if token in symbols or token.lower() in _CALLS or not re.match(r"[^\W\d]", token):
        return [token]
    runs = re.findall("|".join(sorted(map(re.escape, symbols), key=len, reverse=True)), token)
    return runs if "".join(runs) == token else [token]


def _admit(node, symbols, depth):
    """Refuse whatever is not arithmetic, before anything is computed."""
    if depth == 0:
        raise ValueError("a formula nested too deeply")
    match node:
        case ast.Constant() if type(node.value) in (int, float):
            return
        case ast.Name() if node.id in symbols:
            return
        case ast.Name():
            raise ValueError(f"it uses {node.id[:30]}, which is none of {', '.join(symbols)}")
        case ast.BinOp() if type(node.op) in _TWO:
            parts = [node.left, node.right]
        case ast.UnaryOp() if type(node.op) in _ONE:
            parts = [node.operand]
        case ast.Call(func=ast.Name()) if (
            node.func.id.lower() in _CALLS and node.args and not node.keywords
        ):
            parts = node.args
        case ast.Call():
            raise ValueError(
                "a function this formula may not use; if you meant a product, write *, as in 2*(N"
                " - 1)"
            )
        case _:
            raise ValueError(
                "more than arithmetic: only numbers, the symbols, + - * / ** and functions such as"
                " sqrt or log"
            )
    for part in parts:
        _admit(part, symbols, depth - 1)


def evaluate(node, at):
    """The value of an admitted tree, in floats.

    Raises ArithmeticError or ValueError where it has none.
    """
    match node:
        case ast.Constant():
            return float(node.value)
        case ast.Name():
            return float(at[node.id])
        case ast.BinOp():
            return _TWO[type(node.op)](evaluate(node.left, at), evaluate(node.right, at))
        case ast.UnaryOp():
            return _ONE[type(node.op)](evaluate(node.operand, at))
        case ast.Call():
            return float(_CALLS[node.func.id.lower()](*(evaluate(part, at) for part in node.args)))


@dataclass(frozen=True)
class Formula:
    """An expression in `symbols`. `key(**point)` asks a model, at each of `points(draw)`: dicts
    over the symbols.

    `slips` are (name, words, wrong key) with the same arguments as `key`.
    """

    symbols: tuple[str, ...]
    key: Callable
    points: Callable
    slips: tuple = ()
    answer: str = ""  # as text, for the key of an exam
    by_hand, worth, longest = False, 1, 4 * _LONGEST

    def needs(self, x):
        return {"symbols": self.symbols}

    @classmethod
    def rebuild(cls, needs):
        return cls(tuple(needs["symbols"]), None, None)

    def wants(self, x):
        return (
            f"Answer: a formula in {', '.join(f'`{s}`' for s in self.symbols)}, as a sympy"
            f' expression or as text such as `"{self.symbols[-2]}*{self.symbols[-1]} / 2"`.'
        )

    def take(self, answer, x):
        answer = only(answer)
        if type(answer) is str:
            return {"text": answer[: self.longest]}
        if type(answer) in (list, tuple):
            return {"unreadable": f"this asks for one formula, and yours is {many(answer)}"}
        sympy = sys.modules.get("sympy")
        if sympy and isinstance(answer, sympy.Basic):
            return {"text": str(answer)[: self.longest]}
        value = number(answer)
        return (
            {"unreadable": f"{kind_of(answer)} is not a formula, nor text with one"}
            if value is None
            else {"text": repr(value)}
        )

    def solution(self, x):
        return self.answer or None

    def judge(self, data, x):
        try:
            tree = parse(data["text"], self.symbols)
        except ValueError as error:
            return unreadable(str(error))
        at, values = self.points(x.draw), []
        for point in at:
            try:
                values.append(evaluate(tree, point))
            except (ArithmeticError, ValueError, TypeError):
                return wrong(
                    "Not yet: your formula has no value at an ordinary point of the range the"
                    " prompt names (a division by zero, or a root or logarithm of a negative"
                    " number).",
                    "no value",
                )
        keys = [self.key(**point) for point in at]
        if _agree(values, keys):
            return right("Right: your formula agrees with the model at every point tried.")
        found = [
            (name, says)
            for name, says, slip in self.slips
            if _agree(values, [slip(**point) for point in at])
        ]
        missing = [
            s
            for s in self.symbols
            if s not in {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        ]
        factor = _constant(values, keys)
        if found:
            hint = words(found)
        elif missing:
            hint = f"It does not depend on {' or '.join(missing)}; should it not?"
        elif factor is not None:
            hint = (
                f"Yours is {_says_factor(factor)} the model's value at every point tried: only a"
                " constant factor is amiss."
            )
            found = [("constant factor", "")]
        else:
            first = "N = 2" if "N" in self.symbols else f"{self.symbols[0]} twice as large"
            hint = f"Try a case you can do in your head, such as {first}."
        return wrong(
            f"Not yet: your formula and the model part ways. {hint}", *(name for name, _ in found)
        )


def _constant(values, keys):
    """The ratio of values to keys where it is the same at all points, or None."""
    ratios = [v / k for v, k in zip(values, keys, strict=True) if k and math.isfinite(v)]
    if len(ratios) < len(keys) or not ratios or ratios[0] == 0:
        return None
    same = all(abs(r - ratios[0]) <= 1e-9 * abs(ratios[0]) for r in ratios)
    return ratios[0] if same else None


def _says_factor(factor):
    """A factor for people: "8 times", "1/8 of", "-1 times"."""
    near = round(1 / factor) if abs(factor) < 0.9 else 0
    if near and abs(near * factor - 1) < 1e-6:
        return f"1/{near} of" if near > 0 else f"-1/{-near} of"
    return f"{factor:.4g} times"


def _agree(values, keys):
    return all(
        math.isfinite(v) and abs(v - key) <= 1e-9 * abs(key)
        for v, key in zip(values, keys, strict=True)
    )
