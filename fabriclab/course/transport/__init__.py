"""Level 2: transport and the alpha-beta model (notebook 03)."""

from fabriclab.course import on_demand

__getattr__ = on_demand(__name__)
