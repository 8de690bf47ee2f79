"""Level 5: monitoring and debugging (notebook 08)."""

from fabriclab.course import on_demand

__getattr__ = on_demand(__name__)
