"""What several of these rooms use."""

from fabriclab.units import GB

EXPECTED = 48 * GB  # a healthy pair: the chapter, Checkpoint 1.5
