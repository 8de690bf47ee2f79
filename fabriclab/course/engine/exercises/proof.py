"""`fabriclab exercise check FILE`: what an instructor's exercises lack, a line for each fault."""

import math
import re

from fabriclab.course.engine.exercises import bank, own, reader
from fabriclab.course.engine.exercises.core import RIGHT, Draw, Numbers, as_data
from fabriclab.course.engine.exercises.kinds import Choice, Ordering, Quantity
from fabriclab.course.engine.exercises.template import fill

STUDENTS = ["demo", *(f"s{n:03d}" for n in range(39))]


def faults(path):
    """["FILE, line N: ID: what is wrong", …]; empty for a file that is ready to hand out."""
    try:
        exercises = own.load(path)
    except ValueError as fault:
        return [str(fault)]
    known = {*bank.ids(), *exercises}
    return [
        f"{path}, line {own.line_of(path, exercise.id)}: {exercise.id}: {fault}"
        for exercise in exercises.values()
        for fault in dict.fromkeys(_faults(exercise, known))
    ]


def _faults(exercise, known):
    yield from _missing(exercise, known)
    asked, keys = set(), set()
    for student in STUDENTS:
        draw = Draw(student, exercise.id)
        try:
            x = Numbers(draw, exercise.numbers(draw), exercise.places)
        except Exception as fault:
            yield f"its numbers cannot be drawn: {_said(fault)}"
            return
        bad = list(_words(exercise, x)) or list(_answer(exercise, x))
        yield from bad
        if bad:
            return
        if type(exercise.kind) is Quantity:
            asked.add(exercise.prompt(x))
            keys.add(float(exercise.kind.solution(x)))
    if len(asked) > 1 and len(keys) == 1:
        yield f"its key is {keys.pop():g} for everybody, whatever numbers they are given"
    if type(exercise.kind) is Choice:
        yield from _options(exercise)


def _missing(exercise, known):
    if not exercise.title:
        yield "it has no title"
    if not exercise.prompt:
        yield "it has no prompt"
    if len(exercise.hints) < 3:
        yield f"it has {len(exercise.hints)} hints; give three: a picture, a relation, a step"
    if not exercise.moral and not exercise.kind.by_hand:
        yield "it has no moral: what should a right answer leave behind?"
    for name in exercise.needs:
        if name not in known:
            yield f"it needs {name!r}, and no exercise is called so"


def _texts(exercise):
    """(what it is, text or call) of all that a student may read."""
    kind = exercise.kind
    yield "prompt", exercise.prompt
    yield "moral", exercise.moral
    for number, hint in enumerate(exercise.hints, start=1):
        yield f"hint {number}", hint
    for slip in getattr(kind, "slips", ()):
        if hasattr(slip, "says"):
            yield f"slip {slip.name!r}", slip.says
    for option in getattr(kind, "options", ()):
        for text in (option.text, *option.also, option.says):
            yield f"option {option.text[:30]!r}", text


def _words(exercise, x):
    for what, text in _texts(exercise):
        try:
            text(x) if callable(text) else fill(text, x)
        except Exception as fault:
            yield f"{what}: {_said(fault)}"


def _answer(exercise, x):
    kind = exercise.kind
    try:
        solution = kind.solution(x)
    except Exception as fault:
        yield f"its key fails: {_said(fault)}"
        return
    if solution is None:
        return
    if type(kind) is Quantity and not (
        isinstance(solution, int | float) and math.isfinite(solution)
    ):
        yield f"its key gives {solution!r:.40}, which is no number to answer with"
        return
    if type(kind) is Ordering and len(set(kind.values(x).values())) < len(kind.values(x)):
        yield "two of its names have the same value, so their order cannot be known"
        return
    if _judged(exercise, x, solution).status != RIGHT:
        yield f"its own key {solution!r:.60} is not taken as right"
        return
    if type(kind) is Quantity:
        yield from _slips(exercise, x, solution)
        yield from _printed(exercise, x, solution)


def _judged(exercise, x, answer):
    data = as_data(exercise, x, answer)
    words = (exercise.prompt(x),) if type(exercise.kind) is Quantity else ()
    return exercise.kind.judge(data, x, *words)


def _slips(exercise, x, key):
    for slip in exercise.kind.slips:
        try:
            value = slip.value(x)
        except Exception as fault:
            yield f"slip {slip.name!r} fails: {_said(fault)}"
            continue
        if reader.within(value, key, exercise.kind.tolerance):
            yield f"slip {slip.name!r} gives the right answer for some students"


def _printed(exercise, x, key):
    shown = reader.show(key, exercise.kind.dimension)
    for what, text in _texts(exercise):
        if what == "moral":
            continue
        read = text(x) if callable(text) else fill(text, x)
        if re.search(rf"(?<![\w.]){re.escape(shown)}(?!\w)", read):
            yield f"{what}: it prints the answer, {shown}, for some students"


def _options(exercise):
    options = exercise.kind.options
    right = [option for option in options if option.right]
    rest = [len(text) for option in options if not option.right for text in _ways(option)]
    if right and min(map(len, _ways(right[0]))) > max(rest, default=0):
        yield "its right option is always the longest, which gives it away"


def _ways(option):
    return (option.text, *option.also)


def _said(fault):
    return str(fault) if type(fault) is ValueError else f"{type(fault).__name__}: {fault}"
