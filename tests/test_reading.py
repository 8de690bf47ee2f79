"""The reading guide: headings of the texts, sections of the notebooks, exercises."""

import json
import os
import re
from pathlib import Path

import pytest

from fabriclab.course.engine import reading
from fabriclab.course.engine.exercises import bank, levels

ROOT = Path(__file__).resolve().parent.parent
BOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
QUOTED = re.compile("〔(.*?)〕")
CHINESE = "[\u4e00-\u9fff]"
TITLES = {heading.title for heading in reading.headings()}


def prose(path):
    """[(cell id, Markdown)] of a notebook."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [(c["id"], "".join(c["source"])) for c in cells if c["cell_type"] == "markdown"]


def sections():
    """(number, cell id, heading line) of every numbered section."""
    for path in BOOKS:
        for cell, text in prose(path):
            for number, line in re.findall(r"^## (\d+\.\d+) (.*)", text, re.M):
                yield number, cell, line


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_what_a_notebook_quotes_is_a_heading(path):
    """A reader would search the Chinese page for a heading that it does not have."""
    quoted = [title for _, text in prose(path) for title in QUOTED.findall(text)]
    assert [title for title in quoted if title not in TITLES] == []


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_round_brackets_are_our_own(path):
    """A quotation could not be told from our own words."""
    heads = [line for _, text in prose(path) for line in re.findall(r"^#+ .*", text, re.M)]
    ours = [words for line in heads for words in re.findall(rf"\(([^()]*{CHINESE}[^()]*)\)", line)]
    assert [words for words in ours if words in TITLES] == []


def test_every_section_leads_to_the_text_and_back():
    """A section would have no place in the text, or the guide would not lead from there to it."""
    lost = []
    for number, cell, line in sections():
        titles = QUOTED.findall(line)
        if cell == "errata" or number.startswith("13."):
            continue
        lost += [] if titles else [f"{number} names no heading of a text"]
        lost += [
            f"{number} quotes {title}, whose row does not name {number}"
            for title in titles
            if number not in reading.find(title).places
            and f"{int(number.split('.')[0]):02}" not in reading.find(title).places
        ]
    assert lost == []


def test_list_of_notebooks_is_theirs():
    """A link of the guide would lead nowhere, or its minutes would not be the notebook's."""
    written = {number: cell for number, cell, _ in sections()}
    listed = {n: c for book in reading.notebooks().values() for n, c in book.sections.items()}
    assert listed == written
    assert [book.file for book in reading.notebooks().values()] == [path.stem for path in BOOKS]
    for path, book in zip(BOOKS, reading.notebooks().values()):
        said = re.search(r"about (\d+) minutes", prose(path)[0][1])
        assert book.minutes == (int(said[1]) if said else 5), path.stem


def test_places_and_objectives_exist():
    """A row of the guide would send a reader to a section that is not there."""
    places = set(reading.notebooks()) | {number for number, _, _ in sections()}
    for heading in reading.headings():
        assert set(heading.places) <= places, heading.title
        assert set(heading.objectives) <= set(reading.OBJECTIVES), heading.title


def test_headings_of_level_1_and_2_have_something_to_read():
    """A whole section of a text would be left without a way to ours."""
    assert [h.title for h in reading.headings() if h.level <= 2 and not (h.places and h.read)] == []


def test_every_objective_and_every_section_is_reached():
    """An objective or a section would be in no row."""
    rows = reading.headings()
    assert {n for row in rows for n in row.objectives} == set(reading.OBJECTIVES)
    whole = {place for row in rows for place in row.places}
    missed = [n for n, cell, _ in sections() if cell != "errata" and not n.startswith("13.")]
    assert [n for n in missed if n not in whole] == []


def test_every_exercise_is_in_the_guide():
    """An exercise would be found from no heading, or the guide would name one that is not there."""
    named = {name for heading in reading.headings() for name in heading.exercises()}
    placed = {name for name in bank.ids() if levels.of(name)}
    assert named == placed


def test_minutes_by_hand():
    """The minutes of a row would not be those of its sections and exercises."""
    # notebook 02: 70 minutes over 7 sections, then each exercise's own
    assert reading.find("从 NRZ 到 PAM4 的编码").minutes() == 70 / 7 + 6
    assert reading.find("第 1 级：导线与链路").minutes() == 70 + sum(
        levels.of(name).minutes for name in bank.ids() if name.startswith("wires.")
    )
    assert reading.find("What’s Next: 从线缆到数据管线").minutes() == 0


def test_table_has_a_row_for_each_heading_and_no_broken_cell():
    """A heading with a bar or a bracket in it would break the table."""
    table = reading.Guide()._repr_markdown_()
    rows = [line for line in table.splitlines() if line.startswith("| ") and "---" not in line]
    assert len(rows) == len(reading.headings()) + 2  # a head for each text
    assert {row.count(" | ") for row in rows} == {5}
    plain = repr(reading.Guide()).splitlines()
    assert len(plain) == len(reading.headings()) + 1
    for target in re.findall(r"\]\(([^)]+)\)", table):
        file, _, cell = target.partition("#cell-id=")
        ids = dict(prose(ROOT / "notebooks" / file))
        assert not cell or cell in ids, target


def test_headings_are_the_texts():
    """A heading would not be the text's, letter by letter and in its order."""
    folder = os.environ.get("FABRICLAB_TEXTS")
    if not folder:
        pytest.skip("needs FABRICLAB_TEXTS, a folder with the two texts as .txt files")
    texts = [file.read_text(encoding="utf-8").split("\n") for file in Path(folder).glob("*.txt")]
    for name in {heading.text for heading in reading.headings()}:
        titles = [heading.title for heading in reading.headings() if heading.text == name]
        lines = next(lines for lines in texts if titles[0] in lines)
        assert [title for title in titles if title not in lines] == []
        places = [lines.index(title) for title in titles]
        # the chapter's third level stands in the table of contents alone, behind the text
        end = lines.index("回到顶部") if "回到顶部" in lines else len(lines)
        inside = [place for place in places if place < end]
        assert inside == sorted(inside)


def glossary():
    """The two tables of notebook 00, [(first, second, third)]."""
    text = dict(prose(BOOKS[0]))
    return [
        [
            tuple(cell.strip() for cell in line.strip("|").split("|"))
            for line in text[cell].splitlines()
            if line.startswith("| ")
        ][1:]
        for cell in ("glossary", "glossary-back")
    ]


def names(cell):
    """The first name and its aliases: 'a (also b, c)' is a, b, c."""
    return [name.strip() for name in re.split(r"、|，| \(also |, |\)$", cell) if name.strip()]
