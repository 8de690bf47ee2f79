"""Level 1: wires and links (notebook 02)."""

from fabriclab.course import on_demand

__getattr__ = on_demand(__name__)
