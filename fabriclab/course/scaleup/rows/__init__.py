"""The field guide on scale-up: three regimes, the campus, ESUN, the limits of PCIe, and the
selection matrix.
"""

from fabriclab.course.scaleup.rows import campus, pcie

ROWS = [*campus.ROWS, *pcie.ROWS]
