"""The scenes of this part, each in a room of its own."""

from fabriclab.course.behaviour.flow_scenes import control, paths
from fabriclab.course.behaviour.incast_scenes import incast
from fabriclab.course.behaviour.lock_scenes import lock

__all__ = ["control", "incast", "lock", "paths"]
