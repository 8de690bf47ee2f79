"""A class list: who is in the class, from a CSV file as a spreadsheet, Canvas or Moodle writes it.

Only the id is needed. Its column may be called `id`, `student id`, `学号`, `SIS User ID`,
`SIS Login ID` (Canvas) or `ID number` (Moodle), in any case; in a list without one, the user name
or the e-mail address is the id. Ids are text: `001` is not `1`, and `ADA` is not `ada`. What a
spreadsheet has already made of an id (`001` to `1`, `1E5` to `100000`) cannot be seen any more:
import the column as text. A column `former id` keeps an id that a student was handed out before, or
several with semicolons between.
"""

import csv
import hashlib
import io
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from fabriclab.classroom.submission import chinese
from fabriclab.course.engine.exercises.core import identify

EMAILS = ("email address", "email", "e-mail", "email地址", "电子邮件地址", "电子邮件", "邮箱")
LOGINS = ("sis login id", "username", "user name", "login", "用户名")
# in this order where a file has several: Canvas' own `ID` is a number that no student knows
IDS = (
    *("sis user id", "sis login id", "id number", "idnumber", "id号", "student id", "学号", "id"),
    *LOGINS[1:],
    *EMAILS,
)
NAMES, FIRST, LAST = (
    ("student", "name", "full name", "student name", "姓名", "学生姓名"),
    ("first name", "firstname", "名", "名字"),
    ("last name", "surname", "lastname", "姓", "姓氏"),
)
FORMER = ("former id", "former ids", "alias", "aliases", "old id", "原学号")
_TEST = re.compile(r"[0-9a-f]{8,}")  # the login of Canvas' test student: a hash


@dataclass(frozen=True)
class Person:
    """One line of the list.

    `login`, `section` and `canvas` (its own number) go back into the gradebook where the list has
    them; `former` are ids that work was handed out under before.
    """

    id: str
    name: str = ""
    email: str = ""
    login: str = ""
    section: str = ""
    canvas: str = ""
    former: tuple[str, ...] = ()


def read(path):
    """The class as a tuple of `Person`, in the list's order.

    The file is UTF-8, UTF-16 or GB 18030, as Excel writes them; commas, semicolons or tabs part its
    columns. The rows that Canvas adds to an export (points possible, posting policy, test student)
    are left out.

    Raises ValueError with the line: no column of ids, an id that is empty, no text or a formula,
    two lines for one student.
    """
    text = decode(Path(path).read_bytes())
    rows = rows_of(text)
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
        raise ValueError("the class list has no students")
    for person in people:
        for former in person.former:
            if former in lines:
                raise ValueError(
                    f"lines {lines[former]} and {lines[person.id]}: {former!r} is one student's id"
                    " and another's former one"
                )
            lines[former] = lines[person.id]
    return tuple(people)


def decode(data):
    """The text of a table as Excel and others write it. Raises ValueError."""
    if data.startswith(b"PK"):
        raise ValueError('this is a workbook or a zip; save it as "CSV UTF-8"')
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        text = chinese(data)
        if text is None:
            raise ValueError('this is not UTF-8 text; save it as "CSV UTF-8"') from error
        return text


def rows_of(text):
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
    former = _first(given, FORMER)
    try:
        held = tuple(identify(one) for one in re.split("[;；,，、]", former) if one.strip())
    except ValueError as error:
        raise ValueError(f"line {line}: {error}") from error
    return Person(
        student,
        name,
        _first(given, EMAILS),
        _first(given, LOGINS),
        given.get("section", ""),
        canvas,
        held,
    )


def _of_canvas(given, header):
    """A row that a Canvas export holds besides its students: who teaches can be a student there,
    to try things, with a hash for a login and no SIS User ID.
    """
    if "section" not in header:
        return False
    name, login = _first(given, NAMES), given.get("sis login id", "")
    if given.get("sis user id") or given.get("id number") or given.get("student id"):
        return False
    if len(login) == 40 and _TEST.fullmatch(login):
        return True
    if name in ("Student, Test", "Test Student"):
        return not login or bool(_TEST.fullmatch(login))
    return not login and not given.get("id") and (not name or name.startswith("Points Possible"))


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
