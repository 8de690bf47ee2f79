"""The whole site: every page with its frame, the index of the search, the frames of explorers."""

import copy
import json
import os
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from jinja2 import DictLoader
from nbconvert import HTMLExporter
from pygments.formatters import HtmlFormatter

from tools.site import frames, guide
from tools.site.notebook import prepare
from tools.site.reference import ledger_page, reference
from tools.site.text import Sections, latex, markdown, wrap_tables
from tools.slides import CODE

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OUT = "build/site"
SECTIONS = (("notebooks", "Chapters"), ("exercises", "Exercises"), ("reference", "Reference"))
CHINESE = re.compile(r"[\u2e80-\u9fff][\u2e80-\u9fff\s、，：；·（）\w]*")


@dataclass
class Page:
    folder: str
    name: str
    title: str
    body: str
    chinese: str = ""
    calls: list = field(default_factory=list)

    @property
    def short(self):
        return re.sub(r": exercises.*", "", self.title)


def build(out=OUT, only=None):
    """Write the site into `out`; how many pages. `only` names notebooks (stems), for a quick look.

    Frames are kept as long as the package is the same: they take minutes.
    """
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    for old in out.iterdir():
        if old.name != "explorers":
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    pages = _pages(out, only)
    template = _exporter().environment.get_template("page.html.j2")
    index = []
    for place, page in enumerate(pages):
        index.append([f"{page.folder}/{page.name}.html", page.title])
        read = Sections(page.body)
        index[-1].append(read.sections())
        around = [pages[n] if 0 <= n < len(pages) else None for n in (place - 1, place + 1)]
        _write(out, template, pages, page, read.outline[1:], *around)
    start = Page("", "index", "fabriclab: a companion to a chapter on network fabrics", "")
    _write(out, template, pages, start, [], None, None)
    words = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
    (out / "search-index.js").write_text(f"SITE_INDEX={words}", encoding="utf-8")
    _assets(out)
    _explorers(out / "explorers", {call.slug: call for page in pages for call in page.calls})
    return len(pages) + 1


def _pages(out, only):
    exporter, pages = _exporter(), []
    for folder in ("notebooks", "exercises"):
        (out / folder).mkdir()
        for path in sorted((ROOT / folder).glob("*.ipynb")):
            if only and path.stem not in only:
                continue
            notebook = nbformat.read(path, as_version=4)
            _download(notebook, out / folder / path.name)
            head = notebook.cells[0].source
            calls = prepare(notebook, folder, path.stem, out)
            body = wrap_tables(exporter.from_notebook_node(notebook)[0])
            title = head.splitlines()[0].lstrip("# ")
            found = CHINESE.search(head) if folder == "notebooks" else None
            chinese = found[0].strip(" ·") if found else ""
            pages.append(Page(folder, path.stem, title, body, chinese, calls))
    (out / "reference").mkdir()
    for name, title, body in (
        ("guide", "The reading guide", guide.guide_page(ROOT)),
        ("glossary", "The glossary", guide.glossary_page(ROOT)),
        ("ledger", "The ledger", ledger_page()),
    ):
        pages.append(Page("reference", name, title, wrap_tables(body)))
    return pages + [Page("reference", name, name, body) for name, body in reference()]


def _download(notebook, path):
    """The notebook to be run: its pictures are on the page, and weigh; a question's text stays."""
    bare = copy.deepcopy(notebook)
    for cell in bare.cells:
        if cell.cell_type == "code":
            cell.outputs = [o for o in cell.outputs if "text/markdown" in o.get("data", {})]
            cell.execution_count = None
    nbformat.write(bare, path)


def _exporter():
    sources = {p.name: p.read_text(encoding="utf-8") for p in (HERE / "template").glob("*.j2")}
    exporter = HTMLExporter(
        extra_loaders=[DictLoader(sources)], template_file="notebook.html.j2", template_name="basic"
    )
    exporter.register_filter("markdown2html", markdown)
    exporter.register_filter("latex2html", latex)
    return exporter


def _write(out, template, pages, page, outline, before, after):
    """One page in its frame; `binder` needs a public repository, which a workflow names."""
    repository = os.environ.get("GITHUB_REPOSITORY", "")
    notebook = page.folder in ("notebooks", "exercises")
    place = f"{page.folder}/{page.name}.ipynb"
    text = template.render(
        up="../" if page.folder else "",
        page=page,
        menu={folder: [p for p in pages if p.folder == folder] for folder, _ in SECTIONS},
        sections=SECTIONS,
        outline=outline,
        before=before,
        after=after,
        notebook=notebook,
        binder=f"https://mybinder.org/v2/gh/{repository}/HEAD?urlpath=lab/tree/{place}"
        if repository
        else "",
        headings=guide.headings_of(page.name) if page.folder == "notebooks" else (),
        anchor=guide.anchor,
        twin=next((p for p in pages if p.name == page.name and p.folder != page.folder), None),
    )
    (out / page.folder / f"{page.name}.html").write_text(text, encoding="utf-8")


def _assets(out):
    for path in (HERE / "assets").iterdir():
        shutil.copyfile(path, out / path.name)
    light = HtmlFormatter(style=CODE).get_style_defs(".highlight")
    dark = HtmlFormatter(style="lightbulb").get_style_defs('[data-theme="dark"] .highlight')
    look = (HERE.parent / "look.css").read_text(encoding="utf-8")
    own = (HERE / "assets" / "site.css").read_text(encoding="utf-8")
    style = f"{look}{own}{light}\n@media screen {{{dark}}}\n"
    (out / "site.css").write_text(style, encoding="utf-8")


def _explorers(folder, calls):
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        if old.name not in calls:
            shutil.rmtree(old)
    key = frames.sources_key()
    for call in calls.values():
        frames.write(call, folder, key)
