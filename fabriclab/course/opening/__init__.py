"""The opening: the bandwidth cliff (notebook 01)."""

from fabriclab.course import on_demand

__getattr__ = on_demand(__name__)
