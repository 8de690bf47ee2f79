"""Level 5: sharing and virtualisation (notebook 07)."""

from fabriclab.course import on_demand

__getattr__ = on_demand(__name__)
