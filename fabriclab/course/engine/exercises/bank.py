"""All exercises by id, and the two halves of grading: `take` an answer as plain data, `judge` the
data.
"""

import difflib
import functools
import importlib
from dataclasses import replace

from fabriclab.course import NUMBERED
from fabriclab.course.engine.exercises import own
from fabriclab.course.engine.exercises.core import RIGHT, Draw, Numbers, as_data, blank, unreadable
from fabriclab.course.engine.exercises.kinds import Quantity


@functools.cache
def _kits(name):
    module = importlib.import_module(f"fabriclab.course.{name}.exercises")
    return {exercise.id: exercise for exercise in module.EXERCISES}


def parts():
    """The parts by their notebooks' numbers, and after them an instructor's own."""
    return [*NUMBERED.values(), *own.files()]


def part(name):
    """The exercises of one part, by id, imported when first asked for."""
    return _kits(name) if name in NUMBERED.values() else own.load(own.files()[name])


def ids(of=""):
    """The ids of all exercises, or of one part ("transport"), in the order they are asked."""
    return [name for one in parts() if one.startswith(of) or not of for name in part(one)]


def find(exercise_id):
    """The exercise of that id. Raises ValueError with the closest ids for one that does not exist.

    >>> find("transport.crosover")
    Traceback (most recent call last):
    ValueError: no exercise is called 'transport.crosover'; did you mean transport.crossover?
    """
    home = exercise_id.partition(".")[0] if type(exercise_id) is str else ""
    if home in parts() and exercise_id in part(home):
        return part(home)[exercise_id]
    text = exercise_id[:60] if type(exercise_id) is str else "that"
    close = difflib.get_close_matches(text, ids(), n=3, cutoff=0.85) or ids()
    raise ValueError(f"no exercise is called {text!r}; did you mean {', '.join(close)}?")


def numbers(student_id, exercise_id):
    """This student's numbers for this exercise, as attributes."""
    exercise = find(exercise_id)
    draw = Draw(student_id, exercise.id)
    return Numbers(draw, exercise.numbers(draw), exercise.places)


def take(student_id, exercise_id, answer):
    """An answer as plain data: None for a blank, or a dict of floats, text and lists that JSON can
    carry.

    Runs the student's function where the exercise asks for one, so call it where that code may run.
    """
    return as_data(find(exercise_id), numbers(student_id, exercise_id), answer)


def judge(student_id, exercise_id, data):
    """The `Result` for what `take` gave.

    Runs nothing of the student's; any data at all gets a Result.
    """
    exercise, x = find(exercise_id), numbers(student_id, exercise_id)
    if data is None:
        return blank()
    if type(data) is not dict:
        return unreadable("not an answer as this kit writes it down")
    if "unreadable" in data:
        return unreadable(
            data["unreadable"][:300] if type(data["unreadable"]) is str else "no reason given"
        )
    try:
        words = (exercise.prompt(x),) if isinstance(exercise.kind, Quantity) else ()
        result = exercise.kind.judge(data, x, *words)
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError, AttributeError):
        return unreadable("not an answer as this kit writes it down")
    moral = exercise.moral(x) if result.status == RIGHT else ""
    if not moral:
        return result
    return replace(result, message=f"{result.message} {moral}")


def grade(student_id, exercise_id, answer):
    """The `Result` for an answer: right, wrong, not attempted, could not read, or for the
    instructor.

    >>> grade("demo", "transport.crossover", ...).status
    'not attempted'
    """
    return judge(student_id, exercise_id, take(student_id, exercise_id, answer))
