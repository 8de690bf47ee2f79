"""Markdown, formulas, docstrings and tables as the site sets them; a page's text by section."""

import html
import inspect
import re
from html.parser import HTMLParser

from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from tools.slides import formula  # TeX as an SVG outline: the same everywhere, no font, no script


class Prose(IPythonRenderer):
    """Markdown as a notebook shows it: formulas drawn, links kept between the pages of the site."""

    def __init__(self):
        super().__init__(escape=False, exclude_anchor_links=True)

    def inline_math(self, body):
        return formula(body)

    def block_math(self, body):
        return f'<div class="display">{formula(body)}</div>'

    def link(self, text, url, title=None):
        if re.match(r"[a-z]+:|#", url):
            return f'<a href="{html.escape(url)}">{text}</a>'
        page = re.fullmatch(r"((?:\.\./(?:notebooks|exercises)/)?[\w-]+)\.ipynb(#.*)?", url)
        if page:
            anchor = (page[2] or "").replace("#cell-id=", "#")  # a cell of a page is a section
            return f'<a href="{page[1]}.html{html.escape(anchor)}">{text}</a>'
        # a file of the project that is no page
        return f"<code>{html.escape(url.removeprefix('../'))}</code>" if text in url else text


def markdown(text):
    return MarkdownWithMath(renderer=Prose())(text)


def latex(text):
    return f'<div class="display">{formula(text.strip().strip("$"))}</div>'


def docstring(text):
    """A docstring of this package as HTML: paragraphs, lists, indented blocks, doctests, code."""
    out = []
    for block in re.split(r"\n\s*\n", inspect.cleandoc(text or "")):
        words = re.sub(
            r"``(.+?)``|`(.+?)`",
            lambda match: f"<code>{match[1] or match[2]}</code>",
            html.escape(block, quote=False),
            flags=re.S,
        )
        if block.startswith(("    ", ">>>")):
            out.append(f"<pre>{html.escape(inspect.cleandoc(block))}</pre>")
        elif re.match(r"[-*] ", block):
            items = re.split(r"^[-*] ", words, flags=re.M)[1:]
            out.append("<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>")
        else:
            out.append(f"<p>{re.sub('::$', ':', words)}</p>")
    return "".join(out)


def wrap_tables(body):
    """Each table in a frame that scrolls, its cells with their column's name for a phone."""
    return re.sub(r"<table.*?</table>", _table, body, flags=re.S)


def _table(found):
    text = found[0].replace(" style='text-align:left'", "")
    names = re.findall(r"<th[^>]*>(.*?)</th>", text.split("</thead>")[0], re.S)
    if len(names) < 4 or "</thead>" not in text:
        return f'<div class="wide" tabindex="0">{text}</div>'
    plain = [html.escape(re.sub("<.*?>", "", name)) for name in names]
    cells = iter(range(text.count("<td")))
    text = re.sub("<td", lambda _: f'<td data-name="{plain[next(cells) % len(plain)]}"', text)
    return f'<div class="wide stacks" tabindex="0">{text}</div>'


def _greek(tex):
    return re.sub(r"\\([a-zA-Z]+)", lambda found: html.unescape(f"&{found[1]};"), tex)


class Sections(HTMLParser):
    """A page's text by section for the search, [anchor, heading, text], and its `outline`."""

    SKIP = {"script", "style", "svg"}
    APART = {"p", "td", "th", "li", "pre", "div", "tr", "br"}

    def __init__(self, body):
        super().__init__()
        self.found, self.outline = [["", "", ""]], []
        self._anchor, self._heading, self._deep = "", None, 0
        self.feed(body)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag in self.SKIP:
            self._deep += 1
        if tag == "svg" and self._heading:
            self._heading[1] += _greek(attrs.get("aria-label", ""))
        if tag == "section":
            self._anchor = attrs.get("id", "")
        if tag in ("h1", "h2", "h3"):
            self._heading = [attrs.get("id", self._anchor), "", tag]
        if tag == "img":
            self.found[-1][2] += f" {attrs.get('alt') or ''} "
        if tag in self.APART:
            self.found[-1][2] += " "

    def handle_endtag(self, tag):
        if tag in self.SKIP:
            self._deep -= 1
        if self._heading and tag == self._heading[2]:
            anchor, title = self._heading[0], " ".join(self._heading[1].split())
            if re.match(r"[\w.]+\(", title):  # of a function its name is enough
                title = title.split("(")[0]
            self.found.append([anchor, title, ""])
            self.outline.append((anchor, title, tag))
            self._heading = None

    def handle_data(self, data):
        if self._deep:
            return
        if self._heading:
            self._heading[1] += data
        else:
            self.found[-1][2] += data

    def sections(self):
        return [[a, h, " ".join(t.split())] for a, h, t in self.found if h or t.strip()]
