"""Scale-up: PCIe links and trees (`pcie`), headers and packing (`headers`), the campus and its bases (`campus`), which domain to choose (`choice`)."""

from fabriclab.scaleup.pcie import behind_host, payload_rate, pcie_rate

__all__ = [name for name in dir() if not name.startswith("_") and name not in ("pcie",)]
