"""Level 5: monitoring and debugging (notebook 08)."""
