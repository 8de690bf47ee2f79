"""Chapter, field guide and makers side by side: every disagreement is shown whole, in a notebook
and in plain text.
"""

from fabriclab import catalog
from fabriclab.course.errata import sides


def test_the_table_shows_all_sides():
    """A side, an erratum or a source would be lost on the way to a reader."""
    shown = sides.table()
    page, lines = shown._repr_html_(), repr(shown).splitlines()
    assert page.count("<tr>") == len(catalog.DISAGREEMENTS) + 1 and len(lines) == len(
        catalog.DISAGREEMENTS
    )
    for one, line in zip(catalog.DISAGREEMENTS, lines):
        assert all(
            side in line
            for side in (one.subject, one.chapter, one.guide, one.vendor, one.errata, one.source)
        )
    assert "Meta&#x27;s" in page and "<td style='text-align:left'>Spectrum-X Ethernet</td>" in page


def test_what_was_found_of_domestic_networks_is_shown_whole():
    """A claim, what was found or its source would be lost, or a verdict be none of the three."""
    shown = sides.domestic()
    page, lines = shown._repr_html_(), repr(shown).splitlines()
    assert page.count("<tr>") == len(catalog.DOMESTIC) + 1 and len(lines) == len(catalog.DOMESTIC)
    for one, line in zip(catalog.DOMESTIC, lines):
        assert one.holds in ("yes", "in part", "unverified")
        assert all(words in line for words in (one.subject, one.guide, one.found, one.source))
