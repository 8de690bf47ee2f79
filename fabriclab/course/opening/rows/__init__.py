"""The opening: the running example, the bandwidth cliff (figures 1 to 4), the workload inversion,
the five levels.
"""

from fabriclab.course.opening.rows import cliff, figures

ROWS = [*cliff.ROWS, *figures.ROWS]
