"""Every number that does not follow, in one place (notebook 13)."""

from fabriclab.course import on_demand

__getattr__ = on_demand(__name__)
