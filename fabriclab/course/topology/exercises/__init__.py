"""The exercises on level 3: switches and topology. Keys are calls to `topology`, most of them on a
wired network.

The lists numbers are drawn from are part of what students were given: add exercises, but do not
change these lists.
"""

from fabriclab.course.topology.exercises import code, collectives, layouts, trees

EXERCISES = [*trees.EXERCISES, *collectives.EXERCISES, *layouts.EXERCISES, *code.EXERCISES]
