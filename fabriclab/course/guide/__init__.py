"""The field guide to AI cluster networks, and NCCL (notebook 11)."""

from fabriclab.course import on_demand

__getattr__ = on_demand(__name__)
