"""The grades as CSV, for people, Moodle and Canvas.

`grades.csv` has the columns that Canvas knows a student by (Student, ID, SIS User ID, SIS Login ID,
Section), one column for each exercise, and totals whose names end in "Final Points", which Canvas
takes for its own sums and does not import.
Moodle asks which column identifies a student (SIS User ID, mapped to "ID number") and takes it as
it is.

`canvas.csv` is the same with Canvas' row "Points Possible", by which it makes new columns worth a
point. Moodle would read that row as a student, so one file cannot serve both. (Canvas:
lib/gradebook_importer.rb; Moodle: grade/import/csv/classes/load_data.php.)

A text for the instructor to mark stands as "-", which both take for no grade yet. What was not sent
is worth 0.
"""

import csv
import io
import unicodedata

from fabriclab.classroom import results
from fabriclab.course.engine.exercises import bank

CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
TOTAL = "Final Points"
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def write(out, roster, asked, graded):
    """Write both files into `out`.

    `asked` is {notebook: exercise ids}, `graded` {(student, notebook): Graded}.
    """
    header, worth, rows = table(roster, asked, graded)
    results.write(out / "grades.csv", _text([header, *rows]))
    results.write(out / "canvas.csv", _text([header, worth, *rows]))


def table(roster, asked, graded):
    """(header, points possible, one row for each student in the list's order),
    as lists of cells.
    """
    header, worth = [*CANVAS], ["Points Possible", "", "", "", ""]
    for notebook, ids in asked.items():
        by_machine = sum(not bank.find(name).kind.by_hand for name in ids)
        header += [*ids, f"{notebook.removesuffix('.ipynb')} {TOTAL}"]
        worth += [*("1" for _ in ids), f"{by_machine}"]
    header.append(TOTAL)
    worth.append(
        str(sum(not bank.find(name).kind.by_hand for ids in asked.values() for name in ids))
    )
    return header, worth, [_row(person, asked, graded) for person in roster]


def _row(person, asked, graded):
    # half of the world's spreadsheets take a semicolon for the next cell
    name, login, section = (
        " ".join(text.replace(";", ",").split())
        for text in (person.name, person.login or person.email, person.section)
    )
    cells = [safe(text) for text in (name, person.canvas, person.id, login, section)]
    total = 0.0
    for notebook, ids in asked.items():
        result = graded.get((person.id, notebook))
        cells += [_points(name, result) for name in ids]
        points = result.points if result else 0.0
        cells.append(f"{points:g}")
        total += points
    return [*cells, f"{total:g}"]


def _points(name, result):
    if result is None:
        return "0"
    return "-" if result.text(name) else f"{result.verdicts[name].score:g}"


def safe(text):
    """A cell that no spreadsheet takes for a formula: an apostrophe goes before a sign that could
    begin one.

    Signs as OWASP lists them for CSV injection, their full-width forms among them; an id in quotes
    must lose the apostrophe again before it is imported, and `formulas` says which.

    >>> safe("=1+1"), safe("Zoe"), safe("\\uff1dA1")
    ("'=1+1", 'Zoe', "'\\uff1dA1")
    """
    return f"'{text}" if unicodedata.normalize("NFKC", text).lstrip().startswith(FORMULA) else text


def formulas(roster):
    """The ids that `safe` had to put an apostrophe before."""
    return tuple(person.id for person in roster if safe(person.id) != person.id)


def _text(rows):
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue()
