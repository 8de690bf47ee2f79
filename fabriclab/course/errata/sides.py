"""The chapter, the field guide and the makers side by side, where they say different things:
`catalog.DISAGREEMENTS` as a table; and what can be found of the guide's words on domestic networks.
"""

from html import escape

from fabriclab import catalog

HEADS = ("Of", "The chapter", "The field guide", "Maker or standard", "Errata", "Source")


CLAIM_HEADS = ("Of", "The field guide", "Found", "Holds", "Source")


class Table:
    """Rows under heads: HTML in a notebook, plain lines elsewhere."""

    def __init__(self, heads, cells, lines):
        self.heads, self.cells, self.lines = heads, cells, lines

    def _repr_html_(self):
        head = "".join(f"<th style='text-align:left'>{h}</th>" for h in self.heads)
        body = "".join(
            "<tr>"
            + "".join(f"<td style='text-align:left'>{escape(cell)}</td>" for cell in row)
            + "</tr>"
            for row in self.cells
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __repr__(self):
        return "\n".join(self.lines)


def table():
    """All disagreements, as a `Table`.

    >>> print(str(table()).splitlines()[1])
    Colossus' fabric: chapter -; field guide InfiniBand; maker or standard Spectrum-X Ethernet
    (E-B2, NVIDIA press release, 28 October 2024)
    """
    shown = catalog.DISAGREEMENTS
    return Table(
        HEADS,
        [(d.subject, d.chapter, d.guide, d.vendor, d.errata, d.source) for d in shown],
        [
            f"{d.subject}: chapter {d.chapter}; field guide {d.guide}; maker or standard {d.vendor}"
            f" ({', '.join(filter(None, (d.errata, d.source)))})"
            for d in shown
        ],
    )


def domestic():
    """The guide's claims on domestic networks and what was found of each, as a `Table`.

    >>> print(str(domestic()).splitlines()[3])
    HCCL: field guide: stands in for NCCL; found: the collective library of Huawei's CANN, as NCCL
    is of CUDA; holds: yes (Huawei CANN documentation, as of November 2026)
    """
    shown = catalog.DOMESTIC
    return Table(
        CLAIM_HEADS,
        [(c.subject, c.guide, c.found, c.holds, c.source) for c in shown],
        [
            f"{c.subject}: field guide: {c.guide}; found: {c.found}; holds: {c.holds} ({c.source})"
            for c in shown
        ],
    )
