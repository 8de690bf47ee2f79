"""The opening: the bandwidth cliff (notebook 01)."""
