"""Fallacies and pitfalls (notebook 12)."""
