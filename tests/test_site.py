"""The reading site: offline, alive without a kernel. What is seen in a browser needs Chromium.

Two pages in the default run; every page of the whole site in `make test-all`.
"""

import base64
import html
import io
import json
import re
import time
import urllib.parse
from html.parser import HTMLParser
from pathlib import Path

import lab
import nbformat
import numpy as np
import pytest
from PIL import Image

from fabriclab import doctor
from fabriclab.course.engine import reading
from tools.site import build, frames
from tools.site.text import Sections, docstring, markdown

ROOT = Path(__file__).resolve().parent.parent
QUICK = "10-scale-up"
FAINT = (ROOT / "tests" / "data" / "faint.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """The site of one chapter, its exercises and the reference."""
    out = tmp_path_factory.mktemp("site")
    build.build(out, [QUICK])
    return out


@pytest.fixture(scope="module")
def browser():
    if doctor.chromium() is None:
        pytest.skip("no Chromium (set CHROMIUM to one, or install the package chromium)")
    with lab.browser() as running:
        yield running


class Page(HTMLParser):
    """The ids, links, fetched files and pictures of a page."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.fetched, self.wordless = [], [], [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if attrs.get("id"):
            self.ids.append(attrs["id"])
        if tag == "a" and "href" in attrs:
            self.links.append(attrs["href"])
        if attrs.get("src") or (tag == "link" and attrs.get("href")):
            self.fetched.append(attrs.get("src") or attrs["href"])
        if tag == "img" and not (attrs.get("alt") or "").strip():
            self.wordless.append(attrs.get("src"))


def faults(out):
    """Every link, anchor, picture or file of a site that is not as it should be, in words."""
    pages = {path.resolve(): Page(path) for path in out.rglob("*.html")}
    for path, page in pages.items():
        name = path.relative_to(out.resolve())
        yield from (f"{name}: id {i} twice" for i in set(page.ids) if page.ids.count(i) > 1)
        yield from (f"{name}: a picture without words, {src}" for src in page.wordless)
        for url in page.fetched:
            local = not re.match("[a-z]+:|//", url) and (path.parent / url).exists()
            if not local and not url.startswith("data:"):
                yield f"{name}: asks for {url[:60]}"
        for url in page.links:
            address, _, anchor = urllib.parse.unquote(url).partition("#")
            if re.match("[a-z]+:", address):
                continue
            target = (path.parent / address).resolve() if address else path
            if not target.exists():
                yield f"{name}: a link to {url}, which is not there"
            elif anchor and target in pages and anchor not in pages[target].ids:
                yield f"{name}: no anchor for {url}"


def walk(browser, paths, widths=(390,)):
    """Open pages of a site from its folder, light and dark: what went wrong, in words."""
    page, wrong = browser.new_page(), []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda told: wrong.append(told.text) if told.type == "error" else None)
    page.on("requestfailed", lambda asked: wrong.append(f"no {asked.url[:90]}"))
    outside = lambda url: not url.startswith(("file:", "data:", "blob:"))
    page.on("request", lambda ask: wrong.append(ask.url) if outside(ask.url) else None)
    for path in sorted(paths):
        page.goto(path.as_uri())
        for width in widths:
            page.set_viewport_size({"width": width, "height": 800})
            wide = page.evaluate("document.documentElement.scrollWidth")
            if wide > width:
                wrong.append(f"{path.name} is {wide} wide at {width}")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.wait_for_function(
                "(s) => document.documentElement.dataset.theme === s", arg=scheme
            )
            wrong += [f"{path.name}, {scheme}: {told}" for told in page.evaluate(FAINT)]
    page.close()
    return wrong


KEYS = {
    "range": ("ArrowLeft", "ArrowRight"),
    "select-one": ("ArrowUp", "ArrowDown"),
    "checkbox": ("Space", "Space"),
}
ROOM = "(c) => c.type === 'checkbox' || Number(c.value) < (c.length ?? Number(c.max) + 1) - 1"
BACK = """async (c, up) => {
  const figure = c.closest("figure"), was = figure.dataset.shown, began = performance.now();
  if (c.type === "checkbox") c.checked = !c.checked;
  else c.value = Number(c.value) + (up ? -1 : 1);
  c.dispatchEvent(new Event("input", { bubbles: true }));
  while (figure.dataset.shown === was && performance.now() - began < 2000)
    await new Promise(requestAnimationFrame);
  return performance.now() - began;
}"""


def press(page, slug):
    """Press a key on every control of an explorer, and go back: milliseconds of each way back, the
    words at first, those after each key, and the last.
    """
    place, times, moved = page.locator(f'figure[data-explorer="{slug}"]').first, [], []
    place.scroll_into_view_if_needed()
    page.wait_for_selector(f'figure[data-ready="{slug}"]')
    words = place.locator(".readout").inner_text
    first = words()
    for number, control in enumerate(place.locator(".controls :is(input, select)").all()):
        up = control.evaluate(ROOM)
        control.press(KEYS[control.evaluate("(c) => c.type")][up])
        page.wait_for_selector(f'figure[data-explorer="{slug}"][data-shown^="{number}/"]')
        moved.append(words())
        times.append(control.evaluate(BACK, up))
    return times, first, moved, words()


def play(page):
    """Play every scene of a page by keyboard: the names of those that stand still."""
    still = []
    for scene in page.locator(".fabriclab-scene").all():
        scene.scroll_into_view_if_needed()
        began = float(scene.get_attribute("data-at"))
        scene.get_by_label("play", exact=True).press("Enter")
        page.wait_for_timeout(300)
        if not float(scene.get_attribute("data-at")) > began:
            still.append(scene.get_attribute("data-scene"))
        scene.get_by_label("pause", exact=True).press("Enter")
    return still


def search(page, words):
    """The addresses that a search finds."""
    page.keyboard.press("/")
    page.locator("dialog input").fill(words)
    page.wait_for_function("document.querySelector('dialog [role=status]').textContent")
    found = page.locator("dialog li a").evaluate_all("links => links.map((link) => link.href)")
    page.keyboard.press("Escape")
    return found


def test_pages_are_whole_and_ask_for_nothing_outside(few):
    """A reader would meet a broken link, a picture without words, or a need of a network."""
    found = [f for f in faults(few) if not re.search(r"\d\d-[\w-]+\.html", f.split(": ", 1)[1])]
    assert found == []
    assert (few / "notebooks" / f"{QUICK}.html").stat().st_size < 3e6
    assert (few / "notebooks" / f"{QUICK}.ipynb").exists()


def test_a_chapter_keeps_what_its_notebook_says(few):
    """An output or a question would be missing from its page, or a solution be on it."""
    notebook = nbformat.read(ROOT / "notebooks" / f"{QUICK}.ipynb", 4)
    text = (few / "notebooks" / f"{QUICK}.html").read_text(encoding="utf-8")
    for cell in notebook.cells:
        assert f'id="{cell.id}"' in text
    bare = nbformat.read(few / "notebooks" / f"{QUICK}.ipynb", 4)
    assert [cell.source for cell in bare.cells] == [cell.source for cell in notebook.cells]
    asked = nbformat.read(ROOT / "exercises" / f"{QUICK}.ipynb", 4)
    sheet = (few / "exercises" / f"{QUICK}.html").read_text(encoding="utf-8")
    count = sum("me.ask(" in cell.source for cell in asked.cells)
    assert sheet.count('<div class="question">') == count > 0
    assert "BEGIN SOLUTION" not in sheet


def test_frames_are_those_of_the_live_explorer(few):
    """A page without a kernel would show another picture, or say other words, than the kernel."""
    cells = nbformat.read(ROOT / "notebooks" / f"{QUICK}.ipynb", 4).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    scope = frames.imports(code)
    call = next(filter(None, (frames.find(cell, scope) for cell in code)))
    explorer = call.open()
    folder = few / "explorers" / call.slug
    head = _data(folder / "all.js")[1]
    base = _pixels(head["base"])
    for number, control in enumerate(explorer.controls.values()):
        stops = _data(folder / f"{number}.js")[2]
        readout, failed, patch = stops[-1]
        trait = "index" if hasattr(control, "options") else "value"
        was = getattr(control, trait)
        setattr(control, trait, len(stops) - 1 if trait == "index" else True)
        shown = base.copy()
        if patch:
            left, top, data = patch
            over = _pixels(data)
            window = shown[top : top + over.shape[0], left : left + over.shape[1]]
            window[over[..., 3] > 0] = over[over[..., 3] > 0]
        assert explorer.readout == readout
        if not failed:
            assert np.array_equal(shown[..., :3], frames._pixels(explorer)[..., :3])
        setattr(control, trait, was)


def _data(path):
    words = path.read_text(encoding="utf-8").partition("(")[2].removesuffix(")")
    return json.loads(f"[{words}]")


def _pixels(data):
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGBA"))


def test_frames_are_kept_until_the_sources_change(few):
    """Every build would take minutes, or an old picture would outlive a changed model."""
    head = next((few / "explorers").rglob("all.js"))
    assert not frames.write(_Named(head.parent.name), few / "explorers", frames.sources_key())
    with pytest.raises(AttributeError):  # another key: it would be drawn again
        frames.write(_Named(head.parent.name), few / "explorers", "another key")


class _Named:
    def __init__(self, slug):
        self.slug = slug


def test_two_pages_in_a_browser(few, browser):
    """On a phone a page would be too wide, fail, ask outside, or its explorer not answer a key."""
    assert walk(browser, few.glob(f"*/{QUICK}.html")) == []
    page = browser.new_page()
    page.goto((few / "notebooks" / f"{QUICK}.html").as_uri())
    for slug in sorted(path.name for path in (few / "explorers").iterdir()):
        took, before, moved, back = press(page, slug)
        assert set(moved) != {before} and back == before
        assert (
            max(took) < 200
        )  # 20 ms is measured in the whole; a busy machine is no fault of a page
    found = search(page, "分层架构")
    assert found and QUICK in found[0]
    assert search(page, "no-such-word-anywhere") == []
    page.goto((few / "reference" / "ledger.html").as_uri())
    page.locator(".filter select").select_option("errata")
    said = page.locator(".filter [role=status]").inner_text()
    shown, total = map(int, re.findall(r"\d+", said))
    assert 0 < shown < total
    page.close()


def test_links_and_formulas_of_prose():
    """A link would lead to a file that a reader of the site does not have."""
    text = markdown("[a](03-x.ipynb#h) [b](../exercises/03-x.ipynb) [c](../solutions/03-x.ipynb)")
    assert 'href="03-x.html#h"' in text and 'href="../exercises/03-x.html"' in text
    assert "solutions" not in text
    assert 'href="03-x.html#rdma"' in markdown("[3.1](03-x.ipynb#cell-id=rdma)")
    assert "<svg" in markdown(r"$\alpha + n\beta$")
    assert docstring("`a` is\n\n>>> 1") == "<p><code>a</code> is</p><pre>&gt;&gt;&gt; 1</pre>"
    read = Sections('<section id="s"><h2>Cut 对分</h2><p>text</p></section>')
    assert read.sections() == [["s", "Cut 对分", "text"]]
    named = Sections(markdown(r"## The $\alpha$-$\beta$ model")).outline
    assert [title for _, title, _ in named] == ["The α-β model"]


def test_the_way_in_from_the_texts(few):
    """Who comes with a heading of a text, or a word of it, would not find where to go."""
    guide = (few / "reference" / "guide.html").read_text(encoding="utf-8")
    titles = [html.escape(heading.title) for heading in reading.headings()]
    assert [title for title in titles if f'lang="zh">{title}<' not in guide] == []
    told = (few / "notebooks" / f"{QUICK}.html").read_text(encoding="utf-8")
    assert re.search(r'In the texts: <a lang="zh" href="\.\./reference/guide\.html#', told)
    for place in (f"../exercises/{QUICK}.html", f"{QUICK}.ipynb"):
        assert f'href="{place}"' in told
    words = (few / "reference" / "glossary.html").read_text(encoding="utf-8")
    assert words.count("<tr") > 150 and "对分带宽" in words


@pytest.fixture(scope="module")
def whole():
    """The whole site, where `make site` makes it: frames that are there are kept."""
    out = ROOT / "build" / "site"
    build.build(out)
    return out


@pytest.mark.slow
def test_whole_site_is_sound(whole):
    """Some page of the published site would have a broken link, or be too heavy."""
    assert list(faults(whole)) == []
    assert [p.name for p in whole.rglob("*.html") if _weight(p) > 3e6] == []
    assert sum(path.stat().st_size for path in whole.rglob("*") if path.is_file()) < 40e6


def _weight(path):
    """Bytes of a page with the pictures it shows."""
    pictures = set(re.findall(r'src="([^"]+\.png)"', path.read_text(encoding="utf-8")))
    return path.stat().st_size + sum((path.parent / p).stat().st_size for p in pictures)


@pytest.mark.slow
def test_second_build_takes_seconds(whole):
    """Who mends a word would wait for every explorer to be drawn again."""
    began = time.process_time()
    build.build(whole)
    assert time.process_time() - began < 60


@pytest.mark.slow
def test_whole_site_in_a_browser(whole, browser):
    """A page would fail, ask outside, be wider than a screen, or be faint in one theme."""
    assert walk(browser, whole.rglob("*.html"), (1920, 1280, 390)) == []


@pytest.mark.slow
def test_whole_site_is_alive(whole, browser):
    """A scene would stand still, an explorer not answer or be slow, a search find nothing."""
    page, times, still = browser.new_page(), [], []
    for path in sorted((whole / "notebooks").glob("*.html")):
        page.goto(path.as_uri())
        still += play(page)
        for slug in re.findall('data-explorer="([^"]+)"', path.read_text(encoding="utf-8")):
            took, before, moved, back = press(page, slug)
            assert set(moved) != {before} and back == before, slug
            times += took
    assert still == []
    assert np.quantile(times, 0.95) < 20
    for words in ("对分带宽", "bisection"):
        assert search(page, words), words
    page.close()
