"""What moves the ceiling (notebook 09)."""

from fabriclab.course import on_demand

__getattr__ = on_demand(__name__)
