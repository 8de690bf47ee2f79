"""What several of these rooms use."""

from fabriclab.units import GB, MB, us

PORT, BUFFER, FEEDBACK = 50 * GB, 32 * MB, 5 * us  # Definition 1.9 and the text around it
