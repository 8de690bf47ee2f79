"""The scenes of this part, each in a room of its own."""

from fabriclab.course.transport.recovery_scenes import recovery
from fabriclab.course.transport.ring_scenes import ring
from fabriclab.course.transport.ways_scenes import ways

__all__ = ["recovery", "ring", "ways"]
