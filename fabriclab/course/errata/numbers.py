"""The errata by number, so that a number named anywhere leads to what it stands for."""

import re
from html import escape

from fabriclab.course.engine import ledger
from fabriclab.course.errata.words import SAYINGS


class Table:
    """Every erratum's number, the places it speaks of, and the verdict there: a number can be
    linked to by its id.
    """

    def __init__(self):
        found = {
            number: list(
                dict.fromkeys((row.where, ledger.SIGNS[row.verdict], row.verdict) for row in rows)
            )
            for number, rows in ledger.numbered().items()
        }
        for saying in SAYINGS:
            for number in ledger.NUMBER.findall(saying.id):
                found.setdefault(number, []).append((saying.where, "✎", "words"))
        self.found = {number: found[number] for number in sorted(found, key=_order)}

    def _repr_html_(self):
        body = "".join(
            f"<tr id='{number}'><td style='text-align:left'>{number}</td>"
            f"<td style='text-align:left'>{'<br>'.join(escape(_line(one)) for one in of)}</td></tr>"
            for number, of in self.found.items()
        )
        head = (
            "<tr><th>Number</th><th style='text-align:left'>Where, and the verdict there</th></tr>"
        )
        return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"

    def __repr__(self):
        return "\n".join(
            f"{number}: {'; '.join(map(_line, of))}" for number, of in self.found.items()
        )


def _order(number):
    kind, count = re.fullmatch(r"E-([TBX]?)(\d+)", number).groups()
    return kind, int(count)


def _line(one):
    where, sign, verdict = one
    return f"{where} {sign} {verdict}"
