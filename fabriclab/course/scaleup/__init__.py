"""The field guide: scale-up and scale-out (notebook 10)."""
