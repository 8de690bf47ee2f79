"""What a reader of this part is asked to guess, in the order of the notebook."""

from fabriclab.course.engine import ledger
from fabriclab.course.engine.predict import Prediction


def _factors(low, high):
    """How many errata are off by a factor in a range."""
    shown = [row for table in ledger.by_severity().values() for row in table.rows]
    return sum(low <= row.factor() < high for row in shown)


PREDICTIONS = (
    Prediction("errata.twice", "errata off by almost exactly 2", lambda: _factors(1.9, 2.1)),
    Prediction("errata.tenfold", "errata off by more than ten", lambda: _factors(10, float("inf"))),
)
