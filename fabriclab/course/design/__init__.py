"""A fabric for 4,096 accelerators, designed, priced and judged (notebook 14)."""

from fabriclab.course import on_demand

__getattr__ = on_demand(__name__)
