"""Level 5: sharing and virtualisation (notebook 07)."""
