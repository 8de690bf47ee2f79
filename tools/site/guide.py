"""The reading guide and the glossary as pages: from a text's heading or word to a place here."""

import html
import re

import nbformat

from fabriclab.course.engine import reading
from tools.site.text import markdown

ASK = re.compile(r'(\w+) = me\.ask\("([\w.]+)"\)')
COLUMNS = ("The text's heading", "What to read", "Where", "Exercises", "Minutes", "Objectives")
FILTER = (
    '<form class="filter" hidden><label>Words <input type="search" autocomplete="off"></label>'
    '<span role="status"></span></form>'
)


def guide_page(root):
    """Every heading of both texts, section by section: what to read, do, and in how long."""
    asked, parts, text = questions(root / "exercises"), [], ""
    for group in _groups(reading.headings()):
        if group[0].text != text:
            text = group[0].text
            parts.append(f'<h2 id="{text}">{text.capitalize()}</h2>')
        rows = "".join(_row(heading, asked) for heading in group)
        head = "".join(f"<th>{name}</th>" for name in COLUMNS)
        title = html.escape(group[0].title)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        parts.append(f'<section id="{anchor(group[0])}"><h3>{title}</h3>{table}</section>')
    aims = "".join(f"<li>{words}</li>" for words in reading.OBJECTIVES.values())
    return (
        '<h1 id="guide">The reading guide (阅读指南)</h1><p>From each heading of the two texts to'
        " what to read here, the exercises that go with it, and the minutes both take. The last"
        f" column counts the chapter's objectives:</p><ol>{aims}</ol>{FILTER}{''.join(parts)}"
    )


def _groups(headings):
    """Each title or section of a text with the headings below it."""
    found = []
    for heading in headings:
        if heading.level <= 2 or not found:
            found.append([])
        found[-1].append(heading)
    return found


def _row(heading, asked):
    places = " ".join(
        f'<a href="../notebooks/{page(place)}">{place}</a>' for place in heading.places
    )
    names = ", ".join(
        f'<a href="../exercises/{asked[name]}">{name}</a>' if name in asked else name
        for name in heading.exercises()
    )
    objectives = " ".join(map(str, heading.objectives))
    cells = (heading.read, places, names, str(heading.minutes() or ""), objectives)
    title = f'<td lang="zh">{html.escape(heading.title)}</td>'
    return f"<tr>{title}{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def anchor(heading):
    """The anchor of a heading's group: it stays as long as the text's title does."""
    return f"{heading.text} {heading.title}".replace(" ", "-")


def page(place):
    """Where a place of the guide is among the pages of notebooks.

    >>> page("03"), page("2.1")
    ('03-transport.html', '02-wires-and-links.html#pam4')
    """
    return reading.link(place).replace(".ipynb", ".html").replace("#cell-id=", "#")


def headings_of(name):
    """The titles and sections of the texts that go with the whole notebook `name`."""
    return [h for h in reading.headings() if name[:2] in h.places and h.level <= 2]


def questions(folder):
    """{exercise: its page and anchor}, from the sheets in `folder`."""
    found = {}
    for path in sorted(folder.glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            for name, exercise in ASK.findall(cell.source if cell.cell_type == "code" else ""):
                found.setdefault(exercise, f"{path.stem}.html#{name}")
    return found


def glossary_page(root):
    """Both tables of words, as notebook 00 has them."""
    book = nbformat.read(root / "notebooks" / "00-start-here.ipynb", as_version=4)
    words = {cell.get("id"): cell.source for cell in book.cells}
    there, back = (markdown(words[name]) for name in ("glossary", "glossary-back"))
    there = re.sub("<h2.*?</h2>", "", there)
    return (
        f'<h1 id="glossary">The glossary (术语表)</h1>{FILTER}'
        f'<section id="english">{there}</section><section id="chinese">{back}</section>'
    )
