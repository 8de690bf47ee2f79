"""All exercises by id, and the two halves of grading: `take` an answer as plain data, `judge` the
data.
"""

import difflib
from dataclasses import replace

from fabriclab.course.behaviour import exercises as behaviour
from fabriclab.course.cluster import exercises as cluster
from fabriclab.course.engine.exercises.core import RIGHT, Draw, Numbers, as_data, blank, unreadable
from fabriclab.course.fallacies import exercises as fallacies
from fabriclab.course.frontier import exercises as frontier
from fabriclab.course.guide import exercises as guide
from fabriclab.course.monitoring import exercises as monitoring
from fabriclab.course.opening import exercises as opening
from fabriclab.course.scaleup import exercises as scaleup
from fabriclab.course.sharing import exercises as sharing
from fabriclab.course.topology import exercises as topology
from fabriclab.course.transport import exercises as transport
from fabriclab.course.wires import exercises as wires

BANK = {
    exercise.id: exercise
    for part in (
        opening,
        wires,
        transport,
        topology,
        behaviour,
        cluster,
        sharing,
        monitoring,
        frontier,
        scaleup,
        guide,
        fallacies,
    )
    for exercise in part.EXERCISES
}


def ids(part=""):
    """The ids of all exercises, or of one part ("transport"), in the order they are asked."""
    return [name for name in BANK if name.startswith(part)]


def find(exercise_id):
    """The exercise of that id. Raises ValueError with the closest ids for one that does not exist.

    >>> find("transport.crosover")
    Traceback (most recent call last):
    ValueError: no exercise is called 'transport.crosover'; did you mean transport.crossover?
    """
    if type(exercise_id) is str and exercise_id in BANK:
        return BANK[exercise_id]
    text = exercise_id[:60] if type(exercise_id) is str else "that"
    close = difflib.get_close_matches(text, BANK, n=3, cutoff=0.85) or list(BANK)
    raise ValueError(f"no exercise is called {text!r}; did you mean {', '.join(close)}?")


def numbers(student_id, exercise_id):
    """This student's numbers for this exercise, as attributes."""
    exercise = find(exercise_id)
    draw = Draw(student_id, exercise.id)
    return Numbers(draw, exercise.numbers(draw))


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
        result = exercise.kind.judge(data, x)
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError, AttributeError):
        return unreadable("not an answer as this kit writes it down")
    return (
        replace(result, message=f"{result.message} {exercise.moral}")
        if result.status == RIGHT and exercise.moral
        else result
    )


def grade(student_id, exercise_id, answer):
    """The `Result` for an answer: right, wrong, not attempted, could not read, or for the
    instructor.

    >>> grade("demo", "transport.crossover", ...).status
    'not attempted'
    """
    return judge(student_id, exercise_id, take(student_id, exercise_id, answer))
