"""All-pairs bandwidth: read a matrix or a list of pairs, or make one, and name the part that
explains its cold cells.

`table` reads, `write` writes and reports, `model` says what a slow part does, `suspects` names it
by the `evidence`; `records` holds pairs, parts and the wiring that they lie in.
"""

from fabriclab.telemetry.pairs.model import HEALTHY, hosts, measure
from fabriclab.telemetry.pairs.records import Pairs, Part, of_matrix, wiring
from fabriclab.telemetry.pairs.suspects import Finding, Suspect, Verdict, explain
from fabriclab.telemetry.pairs.table import SIGN, TOOL, Reading, read
from fabriclab.telemetry.pairs.write import as_list, as_matrix, report, signs, verdict_of

__all__ = [
    "HEALTHY",
    "SIGN",
    "TOOL",
    "Finding",
    "Pairs",
    "Part",
    "Reading",
    "Suspect",
    "Verdict",
    "as_list",
    "as_matrix",
    "explain",
    "hosts",
    "measure",
    "of_matrix",
    "read",
    "report",
    "signs",
    "verdict_of",
    "wiring",
]
