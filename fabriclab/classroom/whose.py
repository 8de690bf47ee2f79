"""Whose a folder or a file is, by its name.

Known are: a student's id or a former one, and the folder that either was handed out in; the number
by which Canvas begins its files; the full name in Moodle's; a full name, an e-mail address or a
user name alone; and an id with the name of its own student, as in 学号-姓名, in any order. All but
ids count only where one student alone has them.
"""

import re

from fabriclab.classroom.roster import folder
from fabriclab.course.engine.exercises.core import identify

_SENT = r"\.(?:ipynb|zip)"
_CANVAS = re.compile(rf"[^_]+(?:_LATE)?_(\d+)_\d+_.+{_SENT}", re.IGNORECASE)
_MOODLE = re.compile(r"(.+?)_\d+_assignsubmission_(?:file|onlinetext)_?(.*)")
_AGAIN = re.compile(r" ?\(\d{1,2}\)$")  # what a browser adds to a second download
_CHINESE = re.compile(r"[\u3400-\u9fff]")


def owners(roster):
    """A function from (name, whether it is a folder's) to the id of the student, or None."""
    ids = {}
    for person in roster:
        for name in (person.id, *person.former):
            ids |= {name: person.id, folder(name): person.id}
    # an id that somebody has now comes before one that somebody had
    ids |= {known: person.id for person in roster for known in (person.id, folder(person.id))}
    canvas = _alone((person.canvas, person.id) for person in roster)
    names = _alone((name, person.id) for person in roster for name in called(person.name))
    others = _alone(
        (text.casefold(), person.id)
        for person in roster
        for text in {spelt(person.email), spelt(person.login)}
    )

    def whose(name, is_folder):
        number = None if is_folder else _CANVAS.fullmatch(name)
        if number and number[1] in canvas:
            return canvas[number[1]]
        moodle = _MOODLE.fullmatch(name)
        if moodle and (is_folder or re.search(rf"{_SENT}$", name, re.IGNORECASE)):
            text = spelt(moodle[1])
            return names.get(_plain(text)) or _both(text, roster)
        if not is_folder and not name.lower().endswith(".zip"):
            return None
        text = spelt(name if is_folder else name[:-4])
        for tried in (text, _AGAIN.sub("", text)):
            known = ids.get(tried) or others.get(tried.casefold()) or names.get(_plain(tried))
            if known:
                return known
        return _both(text, roster)

    return whose


def _alone(pairs):
    """{name: student} of the names that one student alone has."""
    found = {}
    for name, student in pairs:
        if name:
            found.setdefault(name, set()).add(student)
    return {name: students.pop() for name, students in found.items() if len(students) == 1}


def _both(text, roster):
    """The student whose id and name both stand in a text, if it is one alone."""
    found = [
        person.id
        for person in roster
        for name in (person.id, *person.former)
        if name in text
        and re.search(rf"(?<![0-9A-Za-z]){re.escape(name)}(?![0-9A-Za-z])", text)
        and any(written in _plain(text.replace(name, " ", 1)) for written in called(person.name))
    ]
    return found[0] if len(set(found)) == 1 else None


def called(name):
    """The ways in which a full name is written: in each order of its parts, and Chinese ones in one
    piece. At least two letters, so that none is found in every text.

    >>> sorted(called("小明 王"))
    ['小明 王', '小明王', '王 小明', '王小明']
    """
    parts = _plain(name).split()
    turned = [[*parts[at:], *parts[:at]] for at in range(len(parts))]
    found = {" ".join(one) for one in turned}
    if _CHINESE.search(name):
        found |= {"".join(one) for one in turned}
    return {one for one in found if len(one) > 1}


def _plain(name):
    return " ".join(name.replace(",", " ").casefold().split())


def spelt(name):
    try:
        return identify(name)
    except ValueError:
        return ""
