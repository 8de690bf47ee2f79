"""Level 4: how a fabric behaves under load (notebook 05)."""

from fabriclab.course import on_demand

__getattr__ = on_demand(__name__)
