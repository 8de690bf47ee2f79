"""The chapter, the field guide and the makers side by side, where they say different things:
`catalog.DISAGREEMENTS` as a table.
"""

from html import escape

from fabriclab import catalog

HEADS = ("Of", "The chapter", "The field guide", "Maker or standard", "Errata", "Source")


class Table:
    """Disagreements as a table: HTML in a notebook, plain lines elsewhere."""

    def __init__(self, shown):
        self.shown = shown

    def _repr_html_(self):
        head = "".join(f"<th style='text-align:left'>{h}</th>" for h in HEADS)
        cells = [(d.subject, d.chapter, d.guide, d.vendor, d.errata, d.source) for d in self.shown]
        body = "".join(
            "<tr>"
            + "".join(f"<td style='text-align:left'>{escape(cell)}</td>" for cell in row)
            + "</tr>"
            for row in cells
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __repr__(self):
        return "\n".join(
            f"{d.subject}: chapter {d.chapter}; field guide {d.guide}; maker or standard {d.vendor}"
            f" ({', '.join(filter(None, (d.errata, d.source)))})"
            for d in self.shown
        )


def table():
    """All disagreements, as a `Table`.

    >>> print(str(table()).splitlines()[1])
    Colossus' fabric: chapter -; field guide InfiniBand; maker or standard Spectrum-X Ethernet
    (E-B2, NVIDIA press release, 28 October 2024)
    """
    return Table(catalog.DISAGREEMENTS)
