"""The ledger: every row's verdict holds, and a verdict that no longer holds is noticed."""

import dataclasses
import math
import re

import pytest

from fabriclab import ledger
from fabriclab.ledger import Row
from fabriclab.units import ms, us


@pytest.mark.parametrize("row", ledger.rows(), ids=lambda row: row.id)
def test_row(row):
    """A printed number would be given a verdict that its recomputation does not bear out."""
    assert row.problem() == ""


def test_ids_are_unique_and_have_two_parts():
    """A row could not be found by its id, or a table would show another part's."""
    ids = [row.id for row in ledger.rows()]
    assert len(ids) == len(set(ids)) and all(i.count("/") == 1 for i in ids)


def _row(**change):
    return dataclasses.replace(Row("a/b", "here", "242.8 ms", lambda: 242.84 * ms, "agrees", "because"), **change)


@pytest.mark.parametrize(
    "change, word",
    [
        ({"compute": lambda: 242.86 * ms}, "does not print"),
        ({"compute": lambda: 242.74 * ms}, "does not print"),
        ({"verdict": "assumed", "compute": lambda: 0.2}, "does not print"),
        ({"verdict": "differs"}, "no longer differs"),
        ({"verdict": "differs", "note": "", "compute": lambda: 1.0}, "note"),
        ({"verdict": "rounds", "step": "1 ms"}, "agrees without"),
        ({"verdict": "rounds", "step": "1 ms", "compute": lambda: 0.244}, "not within"),
        ({"verdict": "conflicts", "other": "242.8 ms"}, "no conflict"),
        ({"compute": lambda: math.nan}, "NaN"),
        ({"compute": None}, "nothing recomputes"),
        ({"verdict": "fine"}, "unknown verdict"),
        ({"says": "10-20 us", "compute": lambda: 21 * us}, "does not print"),
        ({"says": "hundreds", "between": (100, 999), "compute": lambda: 99.0}, "does not print"),
    ],
)
def test_a_verdict_that_does_not_hold_is_a_problem(change, word):
    """A wrong verdict would pass: the test of the rows above could not fail."""
    assert word in _row(**change).problem()


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"compute": lambda: 242.85 * ms},
        {"verdict": "differs", "compute": lambda: 0.3},
        {"verdict": "rounds", "step": "1 ms", "compute": lambda: 242.3 * ms},
        {"verdict": "conflicts", "other": "250 ms"},
        {"verdict": "assumed", "compute": None},
        {"says": "10-20 us", "compute": lambda: 12 * us},
        {"says": "$10-20 M", "compute": lambda: 12e6},
        {"says": "200 ns-1 us", "compute": lambda: 0.9 * us},
    ],
)
def test_a_verdict_that_holds_is_none(change):
    """A right verdict would be called a problem."""
    assert _row(**change).problem() == ""


def test_prices_are_not_set_as_mathematics():
    """JupyterLab would set what stands between two dollar signs of one cell as a formula."""
    html = ledger.table("figure-4/millions")._repr_html_()
    assert "<span>$</span>3 an hour" in html and html.count("$") == html.count("<span>$</span>") >= 2


def test_tables_and_report():
    """A table would miss its rows, swallow a wrong id, or the report's counts not add up to the rows."""
    assert "242.83 ms" in repr(ledger.table("napkin-1.2/ring-6GB"))
    assert ledger.table("napkin-1.1", "figure-8")._repr_html_().count("<tr>") == 1 + len(ledger.rows("napkin-1.1")) + len(ledger.rows("figure-8"))
    with pytest.raises(ValueError, match="napkin-1.1"):
        ledger.table("napkin-99")
    with pytest.raises(ValueError):
        ledger.table()
    total = ledger.report().splitlines()[-1].split()
    assert int(total[-1]) == len(ledger.rows()) == sum(map(int, total[1:-1]))
    errata = ledger.report(errata=True)
    for row in ledger.rows():
        assert (f"{row.id}: " in errata) == (row.verdict in ("differs", "conflicts"))


@pytest.mark.parametrize(
    "change, factor",
    [
        ({"verdict": "differs", "says": "18x", "compute": lambda: 9.0}, 2.0),
        ({"verdict": "differs", "says": "2 ms", "compute": lambda: 8 * ms}, 4.0),
        ({"verdict": "differs", "says": "10-50 ms", "compute": lambda: 25 * us}, 400.0),
        ({"verdict": "differs", "says": "70-100 kW", "compute": lambda: 200e3}, 2.0),
        ({"verdict": "differs", "says": "alike", "between": (0.5, 2.0), "compute": lambda: 6.0}, 3.0),
        ({"verdict": "differs", "says": "0 ms", "compute": lambda: 1.0}, math.inf),
        ({"verdict": "conflicts", "says": "10-20 us", "other": "50-100 us"}, 2.5),
        ({"verdict": "conflicts", "says": "49,152", "other": "24,576"}, 2.0),
    ],
)
def test_how_far_off(change, factor):
    """An erratum would stand among the wrong severity: worked by hand, either side of the truth, ranges by their nearest ends."""
    assert _row(**change).factor() == pytest.approx(factor, rel=1e-12)


def test_errata_by_severity_are_all_errata_once_and_sorted():
    """An erratum would be missing from the list of all, stand twice, or a small one before a grave one."""
    listed = [row for table in ledger.by_severity().values() for row in table.rows]
    assert sorted(row.id for row in listed) == sorted(row.id for row in ledger.rows() if row.verdict in ("differs", "conflicts"))
    assert [row.factor() for row in listed] == sorted((row.factor() for row in listed), reverse=True)
    for (words, table), (_, least) in zip(ledger.by_severity().items(), ledger.SEVERITIES, strict=True):
        assert min(row.factor() for row in table.rows) >= least, words


KNOWN = [f"E-{n:02}" for n in range(1, 28)] + [f"E-{kind}{n}" for kind, most in (("T", 6), ("B", 13), ("X", 8)) for n in range(1, most + 1)]


def test_every_known_erratum_has_a_row_or_a_saying():
    """An erratum that was once found would be listed nowhere: 27 of the chapter, 6 of its translation, 13 of the guide, 8 between the two."""
    from fabriclab.ledger import words

    told = " ".join([*(row.note for row in ledger.rows()), *(saying.id for saying in words.SAYINGS)])
    assert [name for name in KNOWN if not re.search(rf"{name}\b", told)] == []


def test_sayings_are_shown_whole():
    """A saying would miss from the table, or its words be set as marks of HTML."""
    from fabriclab.ledger import words

    assert words.table()._repr_html_().count("<tr>") == 1 + len(words.SAYINGS) == 1 + len(repr(words.table()).splitlines())
    odd = words.Table((words.Saying("E-00", "<b>", "says", "so", "source"),))
    assert "&lt;b&gt;" in odd._repr_html_()
