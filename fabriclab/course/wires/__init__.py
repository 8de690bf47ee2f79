"""Level 1: wires and links (notebook 02)."""
