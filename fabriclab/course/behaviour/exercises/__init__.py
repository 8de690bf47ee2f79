"""The exercises on level 4: waiting for the slowest, pauses, locks, fleets that fail, incast,
hashing, marks.

The lists numbers are drawn from are part of what students were given: add exercises, but do not
change these lists.
"""

from fabriclab.course.behaviour.exercises import control, failures, judging, pauses, queues, steps

EXERCISES = [
    *steps.EXERCISES,
    *pauses.EXERCISES,
    *failures.EXERCISES,
    *queues.EXERCISES,
    *control.EXERCISES,
    *judging.EXERCISES,
]
