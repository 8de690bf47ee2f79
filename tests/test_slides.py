"""A lecture from a memory stick: each notebook gives a deck, no deck loads anything, and the keys
walk through it.

The last needs Chromium, as tests/test_browser.py does. The decks here are made from the notebooks
as they are committed.
"""

import copy
import functools
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import lab
import nbformat
import pytest

from fabriclab import doctor
from tools import slides

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@functools.cache
def notebook(path):
    return nbformat.read(path, as_version=4)


@functools.cache
def deck(path):
    return slides.deck(notebook(path))


class Page(HTMLParser):
    """What a page would fetch, where it links to, and its elements counted;
    every tag must close.
    """

    def __init__(self, text):
        super().__init__()
        self.fetched, self.links, self.count, self.open = [], [], {}, []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1
        attrs = dict(attrs)
        self.fetched += [
            attrs[key]
            for key in ("src", "srcset", "data", "poster", "xlink:href")
            if attrs.get(key)
        ]
        if attrs.get("href"):
            (self.links if tag == "a" else self.fetched).append(attrs["href"])
        self.fetched += re.findall(r"url\(([^)]*)\)", attrs.get("style") or "")
        if tag in ("section", "main", "div", "svg", "table", "pre", "details", "aside"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in ("section", "main", "div", "svg", "table", "pre", "details", "aside"):
            assert self.open.pop() == tag


def places(book):
    return [cell["metadata"].get("slideshow", {}).get("slide_type") for cell in book["cells"]]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_deck(path):
    """A slide missing, a half-drawn page, or something fetched over a network that the lecture room
    does not have.
    """
    text, book = deck(path), notebook(path)
    page = Page(text)
    assert page.open == []
    assert page.count["section"] == sum(place in ("slide", "subslide") for place in places(book))
    assert text.count('<div class="waits">') == places(book).count("fragment")
    assert page.count.get("aside", 0) == sum(
        "notes" in cell["metadata"].get("slideshow", {}) for cell in book["cells"]
    )
    assert [source[:60] for source in page.fetched if not source.startswith("data:")] == []
    code = "".join(re.findall(r"<(?:style|script)>(.*?)</(?:style|script)>", text, re.S))
    assert code and not re.search(r"https?:|@import|url\(|fetch\(|import\s|XMLHttp", code)
    shown = [
        cell
        for cell, place in zip(book["cells"], places(book))
        if place in ("slide", "subslide", "fragment")
    ]
    pictures = sum(
        "image/png" in output.get("data", {})
        for cell in shown
        for output in cell.get("outputs", [])
    )
    assert page.count.get("img", 0) >= pictures
    assert (
        page.count.get("svg", 0) == text.count('class="formula"') and "$\\displaystyle" not in text
    )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_links_of_a_deck(path):
    """From slides/, a link to the next notebook must lead to its deck, and one to an exercise to
    the exercise.
    """
    links = [
        link.partition("#")[0]
        for link in Page(deck(path)).links
        if not re.match(r"https?:|#", link)
    ]
    for link in links:
        target = link if "/" in link else f"../notebooks/{link.replace('.html', '.ipynb')}"
        assert ("/" in link) != link.endswith(".html") and (
            ROOT / "slides" / target
        ).resolve().exists(), link


def test_formula():
    """A formula must stand on the line of its text, keep its words for who cannot see it, and fail
    aloud if it cannot be drawn.
    """
    plain, deep = slides.formula("x"), slides.formula(r"\frac{1}{\displaystyle\bigl(1+x\bigr)}")
    height = [float(re.search(r"height:([\d.]+)em", svg)[1]) for svg in (plain, deep)]
    below = [-float(re.search(r"vertical-align:(-?[\d.]+)em", svg)[1]) for svg in (plain, deep)]
    assert height[0] < 0.6 < height[1] < 2 and 0 <= below[0] < 0.05 < below[1] < height[1]
    assert 'aria-label="x"' in plain and 'aria-label="a &lt; b"' in slides.formula("a < b")
    assert slides.formula(r"\frac12") != slides.formula(r"\frac21")
    assert (
        slides.formula(r"\frac1\beta").split("<path")[1]
        == slides.formula(r"\frac{1}{\beta}").split("<path")[1]
    )
    for wrong in (r"\unknown{x}", r"\frac{1}", "网"):
        with pytest.raises(ValueError, match="cannot be drawn"):
            slides.formula(wrong)


def test_slides_of_cells():
    """Skipped cells must not show, fragments must wait on the slide before, long code must fold,
    hidden code stay hidden.
    """
    new = nbformat.v4
    short, long = "x = 1\nx", "\n".join(f"y = {n}" for n in range(12))
    output = [new.new_output("stream", text="a < b\n")]
    cells = [
        new.new_markdown_cell("# T"),
        new.new_markdown_cell("waits"),
        new.new_code_cell(short, outputs=output),
        new.new_code_cell(long),
        new.new_code_cell("hidden = 1", outputs=output),
        new.new_markdown_cell("never"),
    ]
    for cell, place in zip(cells, ("slide", "fragment", "subslide", "fragment", "slide", "skip")):
        cell["metadata"]["slideshow"] = {"slide_type": place}
    cells[0]["metadata"]["slideshow"]["notes"] = "**Ask**"
    cells[4]["metadata"]["jupyter"] = {"source_hidden": True}
    first, second, third = slides.slides(cells)
    assert (
        first.count("waits") == 2
        and "<aside><p><strong>Ask</strong></p>" in first
        and "aside" not in second + third
    )
    assert "<details>" in second and second.index("<details>") > second.index("a &lt; b")
    assert "hidden" not in third and "a &lt; b" in third and "never" not in first + second + third


def test_main_leaves_the_notebook_alone(monkeypatch, tmp_path, capsys):
    """`make slides` must draw at twice the resolution, and change nothing that is committed."""
    home = tmp_path / "notebooks"
    home.mkdir()
    book = copy.deepcopy(notebook(ROOT / "notebooks" / "13-errata.ipynb"))
    source = (
        "from fabriclab.course.engine import plot\nfigure, axes = plot.new(2, 1)\n"
        "plot.Picture(figure, 'An empty pair of axes, nothing in it.')"
    )
    book["cells"] = [
        book["cells"][0],
        nbformat.v4.new_code_cell(source, metadata={"slideshow": {"slide_type": "subslide"}}),
    ]
    nbformat.write(book, home / "book.ipynb")
    before = (home / "book.ipynb").read_bytes()
    monkeypatch.setattr(slides, "NOTEBOOKS", home)
    assert slides.main([]) == 0 and capsys.readouterr().out == "slides/book.html\n"
    untouched = (home / "book.ipynb").read_bytes() == before
    assert untouched
    import base64

    image = base64.b64decode(
        re.search(
            r"base64,([^\"]+)", (tmp_path / "slides" / "book.html").read_text(encoding="utf-8")
        )[1]
    )
    assert [int.from_bytes(image[at : at + 4], "big") for at in (16, 20)] == [400, 200]


@pytest.fixture(scope="module")
def chromium():
    if doctor.chromium() is None:
        missing = "no Chromium (set CHROMIUM to one, or install the package chromium)"
        pytest.fail(missing) if os.environ.get("CI") == "true" else pytest.skip(missing)
    with lab.browser() as running:
        yield running


def test_a_lecture(chromium, tmp_path):
    """In the browser, from a file, offline: slides that do not fit, keys that do nothing, or a room
    that reads the lecturer's notes.
    """
    path = next(path for path in NOTEBOOKS if path.stem.startswith("06"))
    (tmp_path / "deck.html").write_text(deck(path), encoding="utf-8")
    context = chromium.new_context(viewport={"width": 1280, "height": 720}, offline=True)
    page, complaints = context.new_page(), []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request",
        lambda request: (
            complaints.append(request.url)
            if not request.url.startswith(("file:", "data:"))
            else None
        ),
    )
    page.goto((tmp_path / "deck.html").as_uri())
    title = page.get_by_role("heading", name="6 · Cluster design")
    assert title.is_visible() and page.locator("footer").inner_text().endswith(
        "1 / %d" % page.evaluate("sections.length")
    )

    page.keyboard.press("ArrowRight")
    assert (
        not title.is_visible()
        and page.get_by_role("heading", name="6.1 The gradient bus").is_visible()
    )
    drawn = page.locator("section.now svg.formula").first.bounding_box()
    assert drawn["width"] > 30 and drawn["height"] > 10
    strays = """svg => { const box = svg.getBoundingClientRect(), ink = \
svg.querySelector("path").getBoundingClientRect();
                        return Math.max(box.left - ink.left, ink.right - box.right, box.top - \
ink.top, ink.bottom - box.bottom) }"""
    assert page.locator("section.now svg.formula").first.evaluate(strays) < 3
    assert not page.get_by_text("Ask the room").first.is_visible()
    page.keyboard.press("ArrowLeft")
    assert title.is_visible()

    # a whole walk: every step shows something more, and no slide is wider than the screen
    steps, places_seen = 0, set()
    while (place := page.evaluate("[at, out, sections[at].scrollTop].join()")) not in places_seen:
        places_seen.add(place)
        wide, height = page.evaluate("[sections[at].scrollWidth - 1280, sections[at].clientHeight]")
        assert wide <= 1 and height > 600
        page.keyboard.press("PageDown")
        steps += 1
    assert page.evaluate("at + 1 === sections.length") and steps > page.evaluate("sections.length")
    assert page.evaluate(
        "[...document.images].every(image => image.complete && image.naturalWidth > 500)"
    )

    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    notes = opened.value
    assert (
        "Ask the room" in notes.locator("body").inner_text()
        and "6.1" in notes.locator("h2").inner_text()
    )
    notes.keyboard.press("Home")
    assert title.is_visible() and "6 · Cluster design" in notes.locator("h2").inner_text()
    assert complaints == []
    context.close()


def test_every_slide_fits(chromium, tmp_path):
    """A slide wider than the screen is cut; one that is too high must at least be readable by
    scrolling, and hold a table or a tool's output.
    """
    page = chromium.new_page(viewport={"width": 1280, "height": 720})
    for path in NOTEBOOKS:
        (tmp_path / "deck.html").write_text(deck(path), encoding="utf-8")
        page.goto((tmp_path / "deck.html").as_uri())
        page.wait_for_function("[...document.images].every(image => image.complete)")
        wrong = page.evaluate("""() => sections.flatMap((section, n) => {
            go(n, Infinity);
            const high = section.scrollHeight > section.clientHeight + 30 && \
!section.querySelector("table, pre");
            return section.scrollWidth > section.clientWidth + 1 || high || \
section.innerText.trim() + section.querySelector("img, svg") === "null" ? [n + 1] : [];
        })""")
        assert wrong == [], path.stem
    page.close()
