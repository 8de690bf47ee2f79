"""What several of these rooms use."""

PER_METRE = 5e-9  # seconds, in fibre
