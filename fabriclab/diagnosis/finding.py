"""A finding, and what measured values are held against.

Measured values are compared with models (a ring of healthy ports, the same ring with one slow link,
the payload of a port, the oversubscription of the job's own hosts), and these are the few numbers
that say how near is near.
"""

from dataclasses import dataclass

from fabriclab.telemetry.perftest import NEAR, PAYLOAD

__all__ = ["NEAR", "PAYLOAD", "SLOWER", "VARIES", "Finding"]

VARIES = 1.25  # the same test again, and this much faster or slower
SLOWER = 1.05  # a step that takes so much longer is slower, not a wave


@dataclass(frozen=True)
class Finding:
    """What one step showed: a `sign` by name, in words, and from which file. `odd` where a reader
    marks it as standing out.
    """

    step: int
    sign: str
    says: str
    file: str
    odd: bool = False
