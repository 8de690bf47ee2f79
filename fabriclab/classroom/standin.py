"""What stands in for `exercises.bank` in the sandbox: the questions of one student as plain data,
and no key to any of them.

`sheet` writes the data, outside, where the bank is. In the box this file lies in the bank's place:
a notebook finds there what it finds at home, but an answer is taken down instead of judged.
"""

import importlib
import re

from fabriclab.course.engine.exercises.core import (
    Draw,
    Exercise,
    Numbers,
    Result,
    as_data,
    identify,
)

_PLAIN = (str, int, float, bool, type(None))

SHEET, OWNER = {}, ""
taken = print  # taken(exercise id, data): where answers go
noted = print  # noted(student id): somebody else's id was used


def sheet(student_id, exercise_ids):
    """{id: plain data} for one student: all that the box may know about these exercises. Called
    outside only.

    Raises ValueError for an exercise that does not exist or whose numbers are no plain data.
    """
    from fabriclab.course.engine.exercises import bank
    from fabriclab.course.engine.exercises.template import fill

    questions = {}
    for name in exercise_ids:
        exercise, x = bank.find(name), bank.numbers(student_id, name)
        kind = exercise.kind
        questions[name] = {
            "title": exercise.title,
            "chinese": exercise.chinese,
            "prompt": exercise.prompt(x),
            "wants": kind.wants(x),
            "hints": tuple(fill(hint, x) for hint in exercise.hints),
            "numbers": {key: value for key, value in vars(x).items() if key != "draw"},
            "kind": [type(kind).__module__, type(kind).__name__],
            "needs": kind.needs(x),
            "longest": kind.longest,
        }
        if not plain(questions[name]):
            raise ValueError(f"{name}: its numbers are more than plain data")
    return questions


def plain(value):
    """Whether a value is made of text, numbers, lists and dicts alone."""
    if type(value) in (list, tuple):
        return all(map(plain, value))
    return (
        all(type(key) is str and plain(item) for key, item in value.items())
        if type(value) is dict
        else type(value) in _PLAIN
    )


class _Kind:
    """A kind that takes answers and says what is wanted in the words written outside."""

    def __init__(self, kind, wants):
        self._kind, self._wants, self.by_hand = kind, wants, kind.by_hand

    def wants(self, x):
        return self._wants

    def take(self, answer, x):
        return self._kind.take(answer, x)


def ids(part=""):
    return [name for name in SHEET if name.startswith(part)]


def find(exercise_id):
    if type(exercise_id) is not str or exercise_id not in SHEET:
        raise ValueError(
            "this notebook asks no exercise called"
            f" {exercise_id if type(exercise_id) is str else 'that'!r:.60}"
        )
    given = SHEET[exercise_id]
    module, name = given["kind"]
    kind = getattr(importlib.import_module(module), name).rebuild(given["needs"])
    return Exercise(
        exercise_id,
        given["title"],
        given["chinese"],
        lambda draw: dict(given["numbers"]),
        lambda x: given["prompt"],
        _Kind(kind, given["wants"]),
        tuple(re.sub("[{}]", r"\g<0>\g<0>", hint) for hint in given["hints"]),
    )


def numbers(student_id, exercise_id):
    """The owner's numbers, whatever id the notebook names: an answer must fit them."""
    given = find(exercise_id).numbers(None)
    name = identify(student_id)
    if name != OWNER:
        noted(name)
    return Numbers(Draw(OWNER, exercise_id), given)


def take(student_id, exercise_id, answer):
    return as_data(find(exercise_id), numbers(student_id, exercise_id), answer)


def judge(student_id, exercise_id, data):
    return Result(
        0.0,
        "not attempted" if data is None else "taken down",
        "Your instructor's machine judges this.",
    )


def grade(student_id, exercise_id, answer):
    data = take(student_id, exercise_id, answer)
    taken(exercise_id, data)
    return judge(student_id, exercise_id, data)
