"""Fallacies and pitfalls (notebook 12)."""

from fabriclab.course import on_demand

__getattr__ = on_demand(__name__)
