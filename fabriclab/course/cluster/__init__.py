"""Level 5: cluster design and case studies (notebook 06)."""
