"""Exercises with a student's own numbers, checked against the models, spoken to kindly. Floor 6.

    from fabriclab import exercises
    me = exercises.Student("demo")
    q = me.ask("transport.crossover")
    q.check(...)

Grading has two halves, so that a class can be graded without trusting a student's code: `take`
turns an answer into plain data (it may run the student's function, in the student's process),
`judge` reads the data alone.
"""

from fabriclab.course.engine.exercises.bank import find, grade, ids, judge, take
from fabriclab.course.engine.exercises.core import Result
from fabriclab.course.engine.exercises.student import Question, Student

__all__ = ["Question", "Result", "Student", "find", "grade", "ids", "judge", "take"]
