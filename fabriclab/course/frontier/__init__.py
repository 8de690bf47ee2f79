"""What moves the ceiling (notebook 09)."""
