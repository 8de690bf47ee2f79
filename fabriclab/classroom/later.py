"""Less for a later try, where a class wants it, by the diary that a student sent along.

A diary is the student's file. Whoever lowers its counts, or leaves it out, loses nothing here: it
serves a class that is told so and is trusted.
"""

from dataclasses import replace

from fabriclab.course.engine.exercises import diary
from fabriclab.course.engine.exercises.core import RIGHT

LARGEST = 2**20  # bytes of a diary that is looked into


def lessened(graded, sent, share):
    """The `Graded` with `share` of the point for each answer that the diaries of a `Sent` say was
    right at the second try or later.
    """
    tries = {}
    for path in sent.diaries:
        for name, told in _entries(sent.numbers or sent.student, path).items():
            at = told.get("right_at")
            if type(at) is int and at > 1:
                tries[name] = max(at, tries.get(name, 0))
    verdicts = {
        name: _less(verdict, tries[name], share)
        if name in tries and verdict.status == RIGHT
        else verdict
        for name, verdict in graded.verdicts.items()
    }
    return replace(graded, verdicts=verdicts)


def _entries(student, path):
    try:
        if path.stat().st_size > LARGEST:
            return {}
        return diary.entries(student, path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _less(verdict, tries, share):
    words = f"It was right at try {tries}, as progress.json says: {share:.0%} of the point."
    return replace(verdict, score=share * verdict.score, message=f"{verdict.message} {words}")
