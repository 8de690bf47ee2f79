"""What several of these rooms use."""

RANKS = 128 * 8


GRADIENT = 175e9 * 2.0  # bytes: FP16 or BF16, two a parameter


def _cliff(gpu, port):
    """One direction of NVLink over one direction of a port."""
    return gpu.nvlink.per_direction / port.per_direction
