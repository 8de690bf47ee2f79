"""What several of these rooms use."""

RANKS = 1024
