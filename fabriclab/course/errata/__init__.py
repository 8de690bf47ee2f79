"""Every number that does not follow, in one place (notebook 13)."""
