"""Level 5: cluster design and case studies (notebook 06)."""

from fabriclab.course import on_demand

__getattr__ = on_demand(__name__)
