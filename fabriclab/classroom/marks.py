"""Points that a person gives: a table of the course's own, read at every run and never written.

Its columns are `id`, `exercise`, `points` and `remark`. The file for-marking.csv that `grade`
writes has a row for each text that waits, with the points there are: fill it in and save it as the
course's marks.csv. Where marking is blind, a text has a code in the place of the id; both are
understood.
"""

import csv
import hashlib
import io
from dataclasses import dataclass
from pathlib import Path

from fabriclab.classroom import roster as lists
from fabriclab.course.engine.exercises import bank
from fabriclab.course.engine.exercises.core import identify

COLUMNS = ("id", "exercise", "points", "remark")


@dataclass(frozen=True)
class Mark:
    """What a person gave a text, and said of it."""

    points: float
    remark: str = ""


def code(student, exercise):
    """What a text is called where its writer is not to be known.

    >>> code("ada", "fallacies.own")
    'text-f2a5415bfd'
    """
    return "text-" + hashlib.sha256(f"{student} {exercise}".encode()).hexdigest()[:10]


def read(path, roster):
    """({(student, exercise): Mark}, lines on rows of nobody in the class) of a file.

    Raises ValueError with the line: columns that are missing, an exercise that a program marks,
    points that are no number or more than it is worth, two rows for one text.
    """
    rows = lists.rows_of(lists.decode(Path(path).read_bytes()))
    header = [cell.strip().casefold() for cell in rows[0][1]] if rows else []
    missing = [name for name in COLUMNS[:3] if name not in header]
    if missing:
        raise ValueError(f"line 1: no column is called {missing[0]}")
    people = {name: person.id for person in roster for name in (*person.former, person.id)}
    found, strange = {}, []
    for line, cells in rows[1:]:
        given = dict(zip(header, (cell.strip() for cell in cells), strict=False))
        if not given.get("points"):
            continue
        name = given.get("exercise", "")
        points = _points(name, given["points"], line)
        who = _who(given["id"], name, people)
        if who is None:
            strange.append(f"{Path(path).name}, line {line}: {given['id'][:60]!r} is in no class")
        elif (who, name) in found:
            raise ValueError(f"line {line}: a second row for {given['id']!r} and {name}")
        else:
            found[who, name] = Mark(points, given.get("remark", ""))
    return found, tuple(strange)


def _who(name, exercise, people):
    coded = {code(student, exercise): student for student in set(people.values())}
    try:
        # a spreadsheet's apostrophe, as grades.csv has it too
        return coded.get(name) or people.get(identify(name)) or people.get(identify(name[1:]))
    except ValueError:
        return None


def _points(name, text, line):
    if name not in bank.ids() or not bank.find(name).kind.by_hand:
        raise ValueError(f"line {line}: {name[:60]!r} is not an exercise that needs your points")
    worth = bank.find(name).kind.worth
    try:
        points = float(text.replace(",", "."))
    except ValueError:
        points = -1.0
    if not 0 <= points <= worth:
        raise ValueError(f"line {line}: {name} is worth 0 to {worth:g} points, not {text[:20]!r}")
    return points


def sheet(roster, asked, graded, given, blind):
    """for-marking.csv as text: a row for each text that waits, with the points it has."""
    from fabriclab.classroom.gradebook import safe

    rows = [(*COLUMNS[:3], "of", COLUMNS[3])]
    for notebook, ids in asked.items():
        for name in (name for name in ids if bank.find(name).kind.by_hand):
            texts = []
            for person in roster:
                result, mark = graded.get((person.id, notebook)), given.get((person.id, name))
                if (result and result.text(name)) or mark:
                    who = code(person.id, name) if blind else safe(person.id)
                    points, remark = (f"{mark.points:g}", safe(mark.remark)) if mark else ("", "")
                    texts.append((who, name, points, bank.find(name).kind.worth, remark))
            rows += sorted(texts) if blind else texts
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue()
