"""A finding, and what measured values are held against.

Measured values are compared with models (a ring of healthy ports, the same ring with one slow link,
the payload of a port, the oversubscription of the job's own hosts), and these are the few numbers
that say how near is near.
"""

from dataclasses import dataclass

from fabriclab import catalog
from fabriclab.units import GB

PAYLOAD = (
    48 * GB / catalog.NDR.beta
)  # the chapter, Checkpoint 1.5: 48 of 50 GB/s arrive over a healthy port
NEAR = 0.08  # of a model's value: as near as a busy cluster repeats itself
VARIES = 1.25  # the same test again, and this much faster or slower
SLOWER = 1.05  # a step that takes so much longer is slower, not a wave


@dataclass(frozen=True)
class Finding:
    """What one step showed: a `sign` by name, in words, and from which file."""

    step: int
    sign: str
    says: str
    file: str
