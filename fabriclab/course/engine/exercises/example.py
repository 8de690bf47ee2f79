"""What helps after an exercise's own hints: where others slip, and the same exercise with other
numbers and its answer.
"""

import numpy as np

from fabriclab.course.engine.exercises import bank, reader
from fabriclab.course.engine.exercises.formula import Formula
from fabriclab.course.engine.exercises.function import Function
from fabriclab.course.engine.exercises.kinds import Quantity
from fabriclab.course.engine.exercises.template import fill
from fabriclab.units import si


def rungs(exercise, x):
    """The hints of an exercise, in order: its own, and the slips that are often made here."""
    says = [s.says if hasattr(s, "says") else s[1] for s in getattr(exercise.kind, "slips", ())]
    often = [f"Check that none of these is yours. {_numbered(says)}"] if says else []
    return [fill(hint, x) for hint in (*exercise.hints, *often)]


def _numbered(says):
    return " ".join(f"({n}) {_sentence(words)}" for n, words in enumerate(says[:4], start=1))


def _sentence(words):
    return words[0].upper() + words[1:] + ("" if words.endswith(("?", ".")) else ".")


def worked(exercise, x):
    """The exercise with numbers that are not the student's and what comes out, or "" where there is
    none to give.
    """
    kind = exercise.kind
    if type(kind) is Quantity:
        return _quantity(exercise, x)
    if type(kind) is Formula:
        point = kind.points(x.draw)[0]
        at = ", ".join(f"{name} = {value:.4g}" for name, value in point.items())
        rounded = {name: float(f"{value:.4g}") for name, value in point.items()}
        if any(type(value) is int for value in point.values()):
            rounded |= {name: value for name, value in point.items() if type(value) is int}
        return f"With numbers: at {at} the right formula gives {kind.key(**rounded):.6g}."
    if type(kind) is Function:
        given = min(kind.inputs(x.draw), key=lambda a: any(type(v) is list for v in a))
        out = kind.key(*(np.array(v) if type(v) is list else v for v in given))
        values = ", ".join(reader.show(float(v), kind.dimension) for v in np.atleast_1d(out))
        return f"With numbers: for {_call(kind, given)} it gives {values}."
    return ""


def _call(kind, given):
    said = []
    for name, dimension, value in zip(kind.names, kind.arguments, given, strict=True):
        shown = [reader.show(v, dimension) for v in (value if type(value) is list else [value])]
        said.append(name + " = " + (f"[{', '.join(shown)}]" if type(value) is list else shown[0]))
    return ", ".join(said)


def _quantity(exercise, x):
    kind, mine = exercise.kind, exercise.kind.key(x)
    for place in range(1, 30):
        other = bank.numbers(f"example {place}", exercise.id)
        value = kind.key(other)
        if abs(value - mine) > 5 * kind.tolerance * abs(mine):
            prompt = " ".join(exercise.prompt(other).split())
            return (
                f"The same with other numbers: {exercise.prompt(other)}\n\nThere the answer is"
                f" {_shown(value, kind)}. Find the way to it, then walk it with your own numbers."
                if prompt != " ".join(exercise.prompt(x).split())
                else ""
            )
    return ""


def _shown(value, kind):
    if kind.dimension == "rate":
        return f"{si(value, 'B/s')} ({si(value, 'b/s')})"
    return f"{value:.3g}" if kind.dimension == "number" else reader.show(value, kind.dimension)
