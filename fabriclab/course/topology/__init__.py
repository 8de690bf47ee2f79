"""Level 3: switches and topologies (notebook 04)."""
