"""The chapter's debugging workflow as a tool: from the files of one incident to the layer, the
cause, what speaks for it.

It holds what `logs` reads against the models. `diagnose(folder)`
walks five steps (GPU utilisation, NCCL, point to point, pause and congestion counters, the physical
layer), each of which turns readings into signs; the table in `causes` says what a sign speaks for
and against; `walk` concludes and tells. `incidents` makes the folders of
``notebooks/incidents``, and `game` lets them be played.
"""

from fabriclab.logs.diagnose.causes import CAUSES, SIGNS, Cause
from fabriclab.logs.diagnose.finding import Finding
from fabriclab.logs.diagnose.walk import Diagnosis, Step, diagnose, report, weigh

__all__ = [
    "CAUSES",
    "SIGNS",
    "Cause",
    "Diagnosis",
    "Finding",
    "Step",
    "diagnose",
    "report",
    "weigh",
]
