"""Level 2: transport and the alpha-beta model (notebook 03)."""
