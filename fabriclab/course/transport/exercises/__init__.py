"""The exercises on level 2: transport and the alpha-beta model. Keys are calls to `transport` and
`collectives`.

The lists numbers are drawn from are part of what students were given: add exercises, but do not
change these lists.
"""

from fabriclab.course.transport.exercises import collectives, judging, paths

EXERCISES = [*paths.EXERCISES, *collectives.EXERCISES, *judging.EXERCISES]
