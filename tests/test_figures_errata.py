"""Figures of the ledger: every row is counted once, and every erratum stands as far off as it
is.
"""

import numpy as np
import pytest
from drawn import assert_clear

from fabriclab.course.engine import ledger, plot
from fabriclab.course.errata import figures as drawings

PARTS = {name: ledger.part(name) for name in ledger.PARTS}
SHOWN = [row for table in ledger.by_severity().values() for row in table.rows]
DRAWINGS = {
    "verdicts": lambda ax: drawings.verdicts(ax, PARTS),
    "factors": lambda ax: drawings.factors(ax, SHOWN),
    "few": lambda ax: drawings.factors(ax, SHOWN[-3:]),
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_words_keep_clear_and_can_be_read_from_the_last_row(name):
    """A label lies on another or leaves the picture, a legend hides a dot, or type is set below 11
    points.
    """
    figure, axes = plot.new(8.2, 5.0)
    DRAWINGS[name](axes)
    assert_clear(figure)


def test_bars_count_every_row_once():
    """A part's bars leave rows out, or stand for another part or verdict than their label."""
    _, axes = plot.new()
    artists = drawings.verdicts(axes, PARTS)
    for place, (name, rows) in enumerate(PARTS.items()):
        assert axes.get_yticklabels()[place].get_text() == name
        widths = {verdict: artists[verdict][place].get_width() for verdict in ledger.VERDICTS}
        assert widths == {
            verdict: sum(row.verdict == verdict for row in rows) for verdict in ledger.VERDICTS
        }
        assert artists["conflicts"][place].get_x() + widths["conflicts"] == len(rows)


def test_dots_stand_as_far_off_as_the_errata_are():
    """A dot is missing, out of order, of the other verdict's kind, or not at its row's factor (cut
    at the edge).
    """
    _, axes = plot.new()
    differs, conflicts = drawings.factors(axes, SHOWN)["dots"]
    assert len(differs.get_xdata()) + len(conflicts.get_xdata()) == len(SHOWN)
    for line, verdict in ((differs, "differs"), (conflicts, "conflicts")):
        factors = [min(row.factor(), 100_000) for row in SHOWN if row.verdict == verdict]
        np.testing.assert_allclose(line.get_ydata(), factors)
    assert sorted([*differs.get_xdata(), *conflicts.get_xdata()]) == list(range(len(SHOWN)))
