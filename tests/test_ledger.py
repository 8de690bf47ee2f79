"""The ledger: every row's verdict holds, and a verdict that no longer holds is noticed."""

import dataclasses
import math
import re
from fnmatch import fnmatchcase
from pathlib import Path

import printed
import pytest

from fabriclab import units
from fabriclab.course.engine import ledger, row
from fabriclab.course.engine.row import Row
from fabriclab.units import ms, us

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"


@pytest.mark.parametrize("one", ledger.rows(), ids=lambda one: one.id)
def test_row(one):
    """A printed number would be given a verdict that its recomputation does not bear out."""
    assert one.problem() == ""


def test_ids_are_unique_and_have_two_parts():
    """A row could not be found by its id, or a table would show another part's."""
    ids = [row.id for row in ledger.rows()]
    assert len(ids) == len(set(ids)) and all(i.count("/") == 1 for i in ids)


def _row(**change):
    return dataclasses.replace(
        Row("a/b", "here", "242.8 ms", lambda: 242.84 * ms, "agrees", "because"), **change
    )


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
    assert (
        "<span>$</span>3 an hour" in html and html.count("$") == html.count("<span>$</span>") >= 2
    )


def test_tables_and_report():
    """A table would miss its rows, swallow a wrong id, or the report's counts not add up to the
    rows.
    """
    assert "242.83 ms" in repr(ledger.table("napkin-1.2/ring-6GB"))
    with pytest.raises(ValueError, match="napkin-1.1"):
        ledger.table("napkin-99")
    with pytest.raises(ValueError):
        ledger.table()
    total = ledger.report().splitlines()[-1].split()
    assert int(total[-1]) == len(ledger.rows()) == sum(map(int, total[1:-1]))
    errata, everything = ledger.report(errata=True), ledger.report(every=True)
    for one in ledger.rows():
        wrong = one.verdict in ("differs", "conflicts")
        assert (f"{one.id}: " in errata) == (wrong and one.source in ("chapter", "guide"))
        assert f"{one.id}: " in everything
    for one in ledger.rows()[::50]:
        assert one.id in ledger.report(find=f"{one.id}:")
    assert "source must be one of chapter, guide" in _refused(lambda: ledger.report(source="x"))


def _refused(call):
    with pytest.raises(ValueError) as told:
        call()
    return str(told.value)


def test_every_row_has_the_source_that_its_place_names():
    """Somebody else's number would be counted against the reader's two texts, or one of theirs
    hidden.
    """
    counted = {name: ledger.report(source=name).count("\n") + 1 for name in row.SOURCES}
    assert sum(counted.values()) == len(ledger.rows())
    for one in ledger.rows():
        older = "edition" in one.where or "quiz" in one.where or one.where.startswith("Figure 4, o")
        assert (one.source == "older edition") == older or "English source" in one.where, one.where
        assert (one.source == "guide") == one.where.startswith("field guide"), one.where
        if one.source == "level 3":  # the part that the chapter leaves out
            assert one in ledger.part("topology"), one.where
    others = {r.where for r in ledger.part("topology") if r.source == "chapter"}
    assert others == {"summary"}


def test_a_table_is_one_line_that_differs_first_and_says_what_it_leaves_out():
    """A table would stand in the way of the text, hide its errata at the end, or drop rows in
    silence.
    """
    shown = ledger.table("figure-3")
    found = [one for one in ledger.rows("figure-3")]
    assert len(shown.rows) + sum(shown.others.values()) == len(found)
    assert {one.source for one in shown.rows} == {"chapter"}
    verdicts = [one.verdict for one in shown.rows]
    assert verdicts[0] == "differs" and "differs" not in verdicts[verdicts.count("differs") :]
    html = shown._repr_html_()
    assert html.startswith("<details") and html.count("<tr") == 1 + len(shown.rows)
    summary = html.partition("</summary>")[0]
    assert f"✗ {verdicts.count('differs')} differ" in summary
    assert f"{shown.others['older edition']} of the older edition" in summary
    # more than a word: a sign, a tint and an edge
    assert html.count("✗ differs") == html.count("box-shadow") == verdicts.count("differs")
    # where the two texts print nothing of it, the text that does is shown and named
    assert "English Level 3" in ledger.table("napkin-1.3").summary()
    assert {one.source for one in ledger.table("napkin-1.2/work-earlier").rows} == {"older edition"}


def test_the_readme_counts_as_the_ledger_does():
    """The README would call an input recomputed, or count what the reader does not have."""
    said = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    found = re.search(r"Of the (\d+) that your.*?(\d+) are recomputed and (\d+).*?(\d+) of", said)
    both = ledger.readers(ledger.rows())
    inputs = [one for one in both if one.verdict == "assumed"]
    wrong = [one for one in both if one.verdict in ("differs", "conflicts")]
    counts = len(both), len(both) - len(inputs), len(inputs), len(wrong)
    assert tuple(map(int, found.groups())) == counts


def test_an_erratums_number_leads_to_its_row():
    """E-03 would be a word that leads nowhere."""
    html = ledger.table("figure-4/ratio")._repr_html_()
    assert "<a href='13-errata.ipynb#cell-id=errata-numbered'>E-04</a>" in html
    for number, found in ledger.numbered().items():
        assert found and all(number in one.note for one in found)


@pytest.mark.parametrize(
    "change, factor",
    [
        ({"verdict": "differs", "says": "18x", "compute": lambda: 9.0}, 2.0),
        ({"verdict": "differs", "says": "2 ms", "compute": lambda: 8 * ms}, 4.0),
        ({"verdict": "differs", "says": "10-50 ms", "compute": lambda: 25 * us}, 400.0),
        ({"verdict": "differs", "says": "70-100 kW", "compute": lambda: 200e3}, 2.0),
        (
            {"verdict": "differs", "says": "alike", "between": (0.5, 2.0), "compute": lambda: 6.0},
            3.0,
        ),
        ({"verdict": "differs", "says": "0 ms", "compute": lambda: 1.0}, math.inf),
        ({"verdict": "conflicts", "says": "10-20 us", "other": "50-100 us"}, 2.5),
        ({"verdict": "conflicts", "says": "49,152", "other": "24,576"}, 2.0),
    ],
)
def test_how_far_off(change, factor):
    """An erratum would stand among the wrong severity: worked by hand, either side of the truth,
    ranges by their nearest ends.
    """
    assert _row(**change).factor() == pytest.approx(factor, rel=1e-12)


def test_errata_by_severity_are_all_errata_once_and_sorted():
    """An erratum would be missing from the list of all, stand twice, or a small one before a grave
    one.
    """
    listed = [one for table in ledger.by_severity().values() for one in table.rows]
    others = [one for table in ledger.elsewhere().values() for one in table.rows]
    assert sorted(one.id for one in [*listed, *others]) == sorted(
        one.id for one in ledger.rows() if one.verdict in ("differs", "conflicts")
    )
    assert {one.source for one in listed} == {"chapter", "guide"}
    assert [row.factor() for row in listed] == sorted(
        (row.factor() for row in listed), reverse=True
    )
    for (words, table), (_, least) in zip(
        ledger.by_severity().items(), ledger.SEVERITIES, strict=True
    ):
        assert min(row.factor() for row in table.rows) >= least, words


KNOWN = [f"E-{n:02}" for n in range(1, 28)] + [
    f"E-{kind}{n}" for kind, most in (("T", 6), ("B", 13), ("X", 8)) for n in range(1, most + 1)
]


def test_every_known_erratum_has_a_row_or_a_saying():
    """An erratum that was once found would be listed nowhere: 27 of the chapter, 6 of its
    translation, 13 of the guide, 8 between the two.
    """
    from fabriclab.course.errata import words

    told = " ".join(
        [*(row.note for row in ledger.rows()), *(saying.id for saying in words.SAYINGS)]
    )
    assert [name for name in KNOWN if not re.search(rf"{name}\b", told)] == []


def test_sayings_are_shown_whole():
    """A saying would miss from the table, or its words be set as marks of HTML."""
    from fabriclab.course.errata import words

    assert (
        words.table()._repr_html_().count("<tr>")
        == 1 + len(words.SAYINGS)
        == 1 + len(repr(words.table()).splitlines())
    )
    odd = words.Table((words.Saying("E-00", "<b>", "says", "so", "source"),))
    assert "&lt;b&gt;" in odd._repr_html_()


def _claims():
    """(place, pattern of row ids) of every entry that has rows, and place of every entry that has a
    reason instead.
    """
    places = {**{f"R{number:03}": of for number, of in printed.ENTRIES.items()}, **printed.BESIDES}
    with_rows = {
        place: of.split() for place, of in places.items() if all("/" in word for word in of.split())
    }
    return [
        (place, pattern) for place, patterns in with_rows.items() for pattern in patterns
    ], sorted(set(places) - set(with_rows))


def test_every_printed_number_has_a_row_and_every_row_a_printed_number():
    """A number of the texts would have lost its row, or a row stand for nothing that a text
    prints.
    """
    claims, _ = _claims()
    ids = [row.id for row in ledger.rows()]
    assert [
        (place, pattern)
        for place, pattern in claims
        if not any(fnmatchcase(row, pattern) for row in ids)
    ] == []
    assert [row for row in ids if not any(fnmatchcase(row, pattern) for _, pattern in claims)] == []


def test_entries_without_rows_are_few_and_say_why():
    """An entry would be passed over without a reason, or a number of the list be left out."""
    _, without = _claims()
    assert [
        number for number in (*range(1, 243), *range(271, 334)) if number not in printed.ENTRIES
    ] == [] and len(printed.ENTRIES) == 242 + 63
    assert len(without) <= 26 and all(
        len(printed.ENTRIES[int(place[1:])].split()) > 2 for place in without
    )


@pytest.mark.skipif(
    not (SHARED / "facts" / "CHAPTER.md").is_file(), reason="no list of the texts' numbers here"
)
def test_the_list_of_numbers_has_no_other_entries():
    """Our list of the texts' numbers would have an entry that is not looked up in the ledger."""
    listed = re.findall(
        r"^\| R(\d+) \|", (SHARED / "facts" / "CHAPTER.md").read_text(), re.MULTILINE
    )
    assert sorted(map(int, listed)) == sorted(printed.ENTRIES)


UNITS = {
    "Gbps": "Gb/s",
    "μs": "us",
    "米": "m",
    "percent": "%",
    "百分数": "%",
    "百分比": "%",
    "百分点": "%",
    "个百分点": "%",
    "秒": "s",
    "×": "x",
    "倍": "x",
    "pJ": "pJ/bit",
    "\\mu": "us",
    "\\times": "x",
}  # as written: as `units` reads it
UNIT = (
    r"[GTE]b/s|[GT]B/s|TFLOP/s|Gbps|[KMGT]B|[kMG]?W\b|ms|ns|μs|us\b|米|m\b|pJ|dB|%|percent"
    r"|个?百分[数比点]|billion|秒|×|倍|x\b|\\mu|\\times"
)
QUANTITY = re.compile(
    rf"(?<![\w.])(\d[\d,]*(?:\.\d+)?)(?:\s*[-–至~]\s*(\d[\d,.]*))?[\s$\\;,]*?({UNIT})"
)
TEXTS = sorted((SHARED / "seeds").glob("*.txt")) if (SHARED / "seeds").is_dir() else []


def _values(text):
    """{(dimension, value to four digits)} of every quantity that a row's words begin with, end on
    or span.
    """
    match = row._RANGE.match(text)
    unit = match and match["high"].lstrip("0123456789.,$")
    tries = (
        [match["high"], f"{match['low']} {match['low_unit'] or unit}"]
        if match
        else [" ".join(text.split()[start:]) for start in range(len(text.split()))]
    )
    return {value for each in tries if (value := _value(each))}


def _value(text):
    try:
        quantity = units.read(text.strip())
    except ValueError:
        return None
    return quantity.dimension, float(f"{quantity.value:.4g}")


@pytest.mark.skipif(not TEXTS, reason="neither text lies here")
@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.name[:3])
def test_every_quantity_of_the_texts_is_one_of_a_row(text):
    """A text would print a quantity, a number with a unit, that no row of the ledger has."""
    held = {
        value
        for row in ledger.rows()
        for words in (row.says, row.other)
        if words
        for value in _values(words)
    }
    found = [
        (number, UNITS.get(unit, unit))
        for low, high, unit in QUANTITY.findall(text.read_text())
        for number in (low, high)
        if number
    ]
    assert (
        len(found) > 50
        and {(number, unit) for number, unit in found if _value(f"{number} {unit}") not in held}
        == set()
    )
