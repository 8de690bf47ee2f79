"""What several of these rooms use."""

from fabriclab import catalog

HBM, NODE, RACK, NETWORK, WIDE = catalog.TIERS


def _adapter(number):
    return next(adapter for adapter in catalog.CONNECTX if adapter.name == f"ConnectX-{number}")


def _rate(name):
    return lambda: catalog.link_rate(name).per_direction
