"""The field guide: scale-up and scale-out (notebook 10)."""

from fabriclab.course import on_demand

__getattr__ = on_demand(__name__)
