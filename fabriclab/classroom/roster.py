"""A class list: who is in the class, from a CSV file as a spreadsheet, Canvas or Moodle writes it.

Only the id is needed. Its column may be called `id`, `student id`, `SIS User ID`, `SIS Login ID`
(Canvas) or `ID number` (Moodle), in any case. Ids are text: `001` is not `1`, and `ADA` is not
`ada`. What a spreadsheet has already made of an id (`001` to `1`, `1E5` to `100000`) cannot be seen
any more: import the column as text.
"""

import csv
import hashlib
import io
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from fabriclab.course.engine.exercises.core import identify

# in this order where a file has several: Canvas' own `ID` is a number that no student knows
IDS = ("sis user id", "sis login id", "id number", "idnumber", "student id", "id")
NAMES, FIRST, LAST = (
    ("student", "name", "full name", "student name"),
    ("first name", "firstname"),
    ("last name", "surname", "lastname"),
)
EMAILS, LOGINS = ("email address", "email", "e-mail"), ("sis login id", "username", "login")


@dataclass(frozen=True)
class Person:
    """One line of the list.

    `login`, `section` and `canvas` (its own number) go back into the gradebook where the list has
    them.
    """

    id: str
    name: str = ""
    email: str = ""
    login: str = ""
    section: str = ""
    canvas: str = ""


def read(path):
    """The class as a tuple of `Person`, in the list's order.

    The file is UTF-8, with or without a byte order mark; commas, semicolons or tabs part its
    columns. The rows that Canvas adds to an export (points possible, posting policy, test student)
    are left out.

    Raises ValueError with the line: no column of ids, an id that is empty, no text or a formula,
    two lines for one student.
    """
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError('the class list is not UTF-8 text; save it as "CSV UTF-8"') from error
    rows = _rows(text)
    header = _header(rows)
    people, lines = [], {}
    for line, row in rows[1:]:
        if len(row) > len(header):
            raise ValueError(
                f"line {line}: {len(row)} columns where the first line has {len(header)}; put text"
                " with a comma in quotes"
            )
        given = dict(zip(header, (" ".join(cell.split()) for cell in row), strict=False))
        if _of_canvas(given, header):
            continue
        person = _person(given, header, line)
        if person.id in lines:
            raise ValueError(f"lines {lines[person.id]} and {line} are one student: {person.id!r}")
        lines[person.id] = line
        people.append(person)
    if not people:
        raise ValueError("the class list names nobody")
    return tuple(people)


def _rows(text):
    """(line number, cells) of each row that is not blank; the delimiter is the one by which the
    first line names a column of ids.
    """
    first = text.lstrip("\r\n").splitlines()[:1]
    named = [
        mark
        for mark in ",;\t"
        if first and any(_plain(cell) in IDS for cell in next(csv.reader(first, delimiter=mark)))
    ]
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=named[0] if named else ",", strict=True
    )
    try:
        return [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from error


def _header(rows):
    header = [_plain(cell) for cell in rows[0][1]] if rows else []
    ids = [name for name in header if name in IDS]
    if not ids:
        found = ", ".join(cell.strip()[:30] for cell in rows[0][1][:8]) if rows else "an empty file"
        raise ValueError(
            "line 1: no column is called id (or SIS User ID, ID number, student id); found:"
            f" {found}"
        )
    double = [name for name in ids if ids.count(name) > 1]
    if double:
        raise ValueError(f"line 1: two columns are called {double[0]}")
    return header


def _person(given, header, line):
    column = next(name for name in IDS if name in header)
    try:
        student = identify(given.get(column, ""))
    except ValueError as error:
        raise ValueError(
            f"line {line}: {f'{column} is empty' if not given.get(column) else error}"
        ) from error
    if student.startswith("="):
        raise ValueError(
            f"line {line}: the id {student[:40]!r} is a spreadsheet's formula, not text"
        )
    name = _first(given, NAMES) or " ".join(
        part for part in (_first(given, FIRST), _first(given, LAST)) if part
    )
    canvas = given.get("id", "") if "section" in header and column != "id" else ""
    return Person(
        student,
        name,
        _first(given, EMAILS),
        _first(given, LOGINS),
        given.get("section", ""),
        canvas,
    )


def _of_canvas(given, header):
    """A row that a Canvas export holds besides its students."""
    if "section" not in header or any(given.get(name) for name in IDS if name != "id"):
        return False
    name = _first(given, NAMES)
    return name in ("Student, Test", "Test Student") or (
        not given.get("id") and (not name or name.startswith("Points Possible"))
    )


def _first(given, names):
    return next((given[name] for name in names if given.get(name)), "")


def _plain(cell):
    return " ".join(cell.replace("_", " ").casefold().split())


def folder(student):
    """The name of a student's folder: readable, the same for ever, and another for each id on any
    file system.

    Windows and macOS fold case and accents, so the name is plain small letters and the start of a
    hash tells ids apart.

    >>> folder("ADA"), folder("ada")
    ('ada-8a15fea9', 'ada-fdee430d')
    """
    student = identify(student)
    letters = unicodedata.normalize("NFKD", student).encode("ascii", "ignore").decode().lower()
    readable = re.sub(r"[^a-z0-9]+", "-", letters).strip("-")[:30].rstrip("-") or "student"
    return f"{readable}-{hashlib.sha256(student.encode('utf-8')).hexdigest()[:8]}"
