"""Drawings for level 2.

The two that an explorer brings to life come in pairs: the drawing makes its artists and calls its
`move_...`, which an explorer calls again with other numbers. So the picture is one and the same,
alive and printed.
"""

from fabriclab.course.transport.figures.copies import gpudirect, recovery, stacks
from fabriclab.course.transport.figures.curves import alpha_beta, measured, move_alpha_beta, shares
from fabriclab.course.transport.figures.overlap import allreduce, move_allreduce
