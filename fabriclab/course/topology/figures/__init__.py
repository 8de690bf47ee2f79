"""Drawings for level 3: rails, families compared, bounds on collectives, the oversubscription law,
paths, failures.

The wiring of a network, whatever its family, is drawn by `wiring`, which has a module of its own.
"""

from fabriclab.course.topology.figures.costs import against_hosts, families, law
from fabriclab.course.topology.figures.limits import (
    KINDS,
    LEAST,
    bounds,
    failures,
    move_bounds,
    move_failures,
)
from fabriclab.course.topology.figures.shapes import paths, rails
from fabriclab.course.topology.wiring import layout, move_wiring, wiring
