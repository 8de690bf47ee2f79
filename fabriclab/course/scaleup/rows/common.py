"""What several of these rooms use."""

from fabriclab import catalog

UP, OUT, ACROSS = catalog.CAMPUS


SMALL, ONE_WAY = (
    64,
    (2, 1, 1),
)  # bytes; the bases that make a NIC's rate one-way and NVLink's 1.8 TB/s two-way
