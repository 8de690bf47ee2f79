"""Level 4: how a fabric behaves under load (notebook 05)."""
