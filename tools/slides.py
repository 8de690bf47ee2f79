"""Slides for a lecture: `make slides`, or `python notebooks/slides.py FILE...` for a few. Open
slides/00-start-here.html.

Each notebook becomes one HTML file that loads nothing: pictures, formulas, style and keys are in
it, so it works from a memory stick in a room without network. The notebook is run anew for it, with
its pictures at twice the resolution. Where a slide begins, and what waits for a key, stands in each
cell's `slideshow.slide_type`, as JupyterLab shows it; what the lecturer asks the room stands in
`slideshow.notes`, which only the second window shows (key S).
"""

import functools
import html
import re
import sys
import tempfile
from pathlib import Path

import matplotlib
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path as Outline
from matplotlib.textpath import TextToPath
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

HERE = Path(__file__).resolve().parent
NOTEBOOKS = HERE.parent / "notebooks"
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" \
content="width=device-width"><title>{title}</title>
<style>{style}</style></head>
<body><main>{slides}<footer></footer></main><script>{script}</script></body></html>
"""
SHARP = "--IPKernelApp.exec_lines=import matplotlib; matplotlib.rcParams['savefig.dpi'] = 200"
_GROUP = r"\{(?:[^{}]|\{[^{}]*\})*\}"
CODE = "xcode"  # of the light styles the one whose faintest colour is still read on grey
LONGEST_SHOWN = 6  # lines of code; longer ones fold away behind a click
_LETTERS = {
    Outline.MOVETO: "M",
    Outline.LINETO: "L",
    Outline.CURVE3: "Q",
    Outline.CURVE4: "C",
    Outline.CLOSEPOLY: "Z",
}


def _plain(tex):
    """The same in the part of TeX that matplotlib draws."""
    tex = re.sub(r"\\(displaystyle|[bB]igg?[lr]?)(?![A-Za-z])", "", " ".join(tex.split())).replace(
        r"\tfrac", r"\frac"
    )
    tex = re.sub(r"\\frac(\d)(\d|\\[a-z]+)", r"\\frac{\1}{\2}", tex)
    return re.sub(rf"\\underbrace({_GROUP})_({_GROUP})", r"\\underset\2\1", tex).strip()


@functools.cache
def formula(tex):
    """A formula as an SVG that stands on the line of the text around it.

    Raises ValueError for what cannot be drawn.
    """
    plain = f"${_plain(tex)}$"
    try:
        if re.search("[\u2e80-\uffff]", tex):
            raise ValueError("its font has no Chinese")
        with matplotlib.rc_context({"mathtext.fontset": "stix", "font.family": ["DejaVu Sans"]}):
            font = FontProperties(size=TextToPath.FONT_SCALE)
            width, height, below = TextToPath().get_text_width_height_descent(
                plain, font, ismath=True
            )
            vertices, codes = TextToPath().get_text_path(font, plain, ismath=True)
    except ValueError as error:
        raise ValueError(
            f"the formula {tex!r} cannot be drawn: {str(error).splitlines()[-1]}"
        ) from error
    outline = " ".join(
        _LETTERS[code] + ("" if code == Outline.CLOSEPOLY else " ".join(f"{p:.4g}" for p in points))
        for points, code in Outline(vertices, codes).iter_segments()
    )
    em = TextToPath.FONT_SCALE
    return (
        f'<svg class="formula" role="img" aria-label="{html.escape(tex.strip())}" viewBox="0'
        f' {below - height:.4g} {width:.4g} {height:.4g}"'
        f' style="width:{width / em:.3f}em;height:{height / em:.3f}em;'
        f'vertical-align:{-below / em:.3f}em"><path transform="scale(1,-1)" d="{outline}"/></svg>'
    )


class Prose(IPythonRenderer):
    """Markdown as a notebook shows it, with formulas drawn and links that lead on from the folder
    of slides.
    """

    def __init__(self):
        super().__init__(
            escape=False, embed_images=True, exclude_anchor_links=True, path=str(NOTEBOOKS)
        )

    def inline_math(self, body):
        return formula(body)

    def block_math(self, body):
        return f'<p class="display">{formula(body)}</p>'

    def link(self, text, url, title=None):
        if not re.match(r"[a-z]+:|#|\.\./", url):
            url = (
                re.sub(r"\.ipynb(?=$|#)", ".html", url) if "/" not in url else f"../notebooks/{url}"
            )
        return f'<a href="{html.escape(url)}">{text}</a>'


def markdown(text):
    return MarkdownWithMath(renderer=Prose())(text)


def shown(output):
    """One output of a code cell, in the richest form that needs no script."""
    if "text" in output:
        return f"<pre>{html.escape(output['text'])}</pre>"
    data = output.get("data", {})
    if "image/png" in data:
        image = "".join(data["image/png"].split())
        return (
            f'<img src="data:image/png;base64,{image}"'
            f' alt="{html.escape(data.get("text/plain", ""))}">'
        )
    if "text/html" in data:
        return data["text/html"]
    if "text/markdown" in data:
        return markdown(data["text/markdown"])
    if "text/latex" in data:
        return f'<p class="display">{formula(data["text/latex"].strip().strip("$"))}</p>'
    return f"<pre>{html.escape(data.get('text/plain', ''))}</pre>"


def contents(cell):
    """What a cell shows: prose, or code (folded if it is long, left out where the notebook hides
    it) and its outputs.
    """
    if cell["cell_type"] == "markdown":
        return markdown(cell["source"])
    outputs = "".join(shown(output) for output in cell["outputs"])
    folded = cell["metadata"].get("jupyter", {})
    # a derivation that is folded whole, source and outputs, waits for its reader: here for a key
    if folded.get("source_hidden") and not folded.get("outputs_hidden"):
        return outputs
    coloured = highlight(cell["source"], PythonLexer(), HtmlFormatter(nowrap=True))
    code = f'<pre class="code">{coloured}</pre>'
    if cell["source"].count("\n") < LONGEST_SHOWN:
        return code + outputs
    return f"<details><summary>code</summary>{code}</details>{outputs}"


def slides(cells):
    """The sections of a deck: a slide or subslide begins one, a fragment waits in it for a key,
    notes and skip stay out.
    """
    begun = []
    for cell in cells:
        place = cell["metadata"].get("slideshow", {})
        kind = place.get("slide_type")
        if kind in ("slide", "subslide"):
            begun.append(["", ""])
        if kind in ("slide", "subslide", "fragment"):
            waits = ' class="waits"' if kind == "fragment" else ""
            begun[-1][0] += f"<div{waits}>{contents(cell)}</div>"
            begun[-1][1] += markdown(place.get("notes", ""))
    return [
        f"<section>{body}{f'<aside>{notes}</aside>' if notes else ''}</section>"
        for body, notes in begun
    ]


def deck(notebook):
    """One notebook, as it is, as the text of one HTML page."""
    title = notebook["cells"][0]["source"].splitlines()[0].lstrip("# ")
    style = "".join(
        (HERE / name).read_text(encoding="utf-8") for name in ("look.css", "slides.css")
    )
    style += HtmlFormatter(style=CODE).get_style_defs("pre.code")
    script = (HERE / "slides.js").read_text(encoding="utf-8")
    return PAGE.format(
        title=html.escape(title),
        style=style,
        slides="\n".join(slides(notebook["cells"])),
        script=script,
    )


def main(names):
    import nbformat

    from tools import rerun

    if missing := [name for name in names if not Path(name).is_file()]:
        print(
            f"{missing[0]}: no such notebook; name a file, such as notebooks/07-sharing.ipynb",
            file=sys.stderr,
        )
        return 2
    out = NOTEBOOKS.parent / "slides"
    out.mkdir(exist_ok=True)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in [Path(name) for name in names] or sorted(NOTEBOOKS.glob("*.ipynb")):
            sharp = Path(folder) / path.name
            failure = rerun.rerun(path.resolve(), sharp, SHARP)
            failed += failure is not None
            if failure is None:
                (out / f"{path.stem}.html").write_text(
                    deck(nbformat.read(sharp, as_version=4)), encoding="utf-8", newline="\n"
                )
            print(
                (
                    f"slides/{path.stem}.html"
                    if failure is None
                    else f"{path.name}: no slides: {failure}"
                ),
                flush=True,
            )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
