"""The grades as CSV, for people, Moodle and Canvas.

`grades.csv` has the columns that Canvas knows a student by (Student, ID, SIS User ID, SIS Login ID,
Section), one column for each exercise, and totals whose names end in "Final Points", which Canvas
takes for its own sums and does not import.
Moodle asks which column identifies a student (SIS User ID, mapped to "ID number") and takes it as
it is.

`canvas.csv` is the same with Canvas' row "Points Possible", by which it makes new columns. Moodle
would read that row as a student, so one file cannot serve both. (Canvas: lib/gradebook_importer.rb;
Moodle: grade/import/csv/classes/load_data.php.)

A text for the instructor to mark stands as "-" until there are points for it in the course's marks
(see `marks`): both take it for no grade yet where there is none, and would delete one that somebody
typed in there. What was not sent is worth 0.
"""

import csv
import io
import unicodedata

from fabriclab.classroom import results
from fabriclab.course.engine.exercises import bank

CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
TOTAL = "Final Points"
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def write(out, roster, asked, graded, marks=None):
    """Write both files into `out`.

    `asked` is {notebook: exercise ids}, `graded` {(student, notebook): Graded}, `marks` {(student,
    exercise): Mark}.
    """
    header, worth, rows = table(roster, asked, graded, marks)
    results.write(out / "grades.csv", _text([header, *rows]))
    results.write(out / "canvas.csv", _text([header, worth, *rows]))


def table(roster, asked, graded, marks=None):
    """(header, points possible, one row for each student in the list's order),
    as lists of cells.
    """
    header, worth = [*CANVAS], ["Points Possible", "", "", "", ""]
    worths = {name: bank.find(name).kind.worth for ids in asked.values() for name in ids}
    for notebook, ids in asked.items():
        header += [*ids, f"{notebook.removesuffix('.ipynb')} {TOTAL}"]
        worth += [*(f"{worths[name]:g}" for name in ids), f"{sum(map(worths.get, ids)):g}"]
    header.append(TOTAL)
    worth.append(f"{sum(worths.values()):g}")
    return header, worth, [_row(person, asked, graded, marks or {}) for person in roster]


def _row(person, asked, graded, marks):
    # half of the world's spreadsheets take a semicolon for the next cell
    name, login, section = (
        " ".join(text.replace(";", ",").split())
        for text in (person.name, person.login or person.email, person.section)
    )
    cells = [safe(text) for text in (name, person.canvas, person.id, login, section)]
    total = 0.0
    for notebook, ids in asked.items():
        result = graded.get((person.id, notebook))
        given = [marks[person.id, name].points for name in ids if (person.id, name) in marks]
        cells += [_points(name, result, marks.get((person.id, name))) for name in ids]
        points = (result.points if result else 0.0) + sum(given)
        cells.append(f"{points:g}")
        total += points
    return [*cells, f"{total:g}"]


def _points(name, result, mark):
    if mark:
        return f"{mark.points:g}"
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
    return f"\ufeff{text.getvalue()}"  # by which Excel knows UTF-8; Canvas and Moodle take it too
