"""Level 3: switches and topologies (notebook 04)."""

from fabriclab.course import on_demand

__getattr__ = on_demand(__name__)
