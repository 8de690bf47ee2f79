"""A page of HTML that stands alone: no scripts, nothing fetched, and everything from outside
escaped.
"""

import base64
from html import escape

from fabriclab.course.engine import plot

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; \
color: #111; background: #fff; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; vertical-align: top; \
padding: .35rem .6rem; border-bottom: 1px solid #ccc; overflow-wrap: anywhere; }
th { overflow-wrap: normal; } td:first-child { min-width: 11rem; }
td.number, th.number { text-align: right; white-space: nowrap; } td.status, th.status { \
white-space: nowrap; }
img { max-width: 100%; } pre { white-space: pre-wrap; overflow-wrap: anywhere; background: \
#f4f4f4; padding: .6rem; font: inherit; }
"""


def page(title, *parts):
    """A whole page from a title, which is escaped here, and parts, which are HTML already."""
    head = (
        '<meta charset="utf-8"><meta name="viewport"'
        f' content="width=device-width"><title>{escape(title)}</title><style>{STYLE}</style>'
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n<h1>{escape(title)}</h1>\n'
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def table(header, rows, classes=None):
    """A table from cells of text; `classes` names one CSS class for each column."""
    classes = classes or [""] * len(header)
    head = "".join(
        f'<th class="{name}">{escape(cell)}</th>'
        for name, cell in zip(classes, header, strict=True)
    )
    body = "\n".join(
        "<tr>"
        + "".join(
            f'<td class="{name}">{escape(str(cell))}</td>'
            for name, cell in zip(classes, row, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"


def heading(text):
    return f"<h2>{escape(text)}</h2>"


def line(text):
    return f"<p>{escape(text)}</p>"


def lines(texts):
    return "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in texts) + "</ul>" if texts else ""


def picture(figure, alt):
    """A figure inside the page, with its words for those who do not see it."""
    return (
        f'<p><img alt="{escape(alt)}"'
        f' src="data:image/png;base64,{base64.b64encode(plot.png(figure)).decode()}"></p>'
    )
