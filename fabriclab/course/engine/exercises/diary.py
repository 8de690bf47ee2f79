"""Where a student stands, in a small file of the student's own: `progress.json` beside the
notebooks.

It holds, for each exercise tried, how often, how the first and the last try went, and on which day.
No answer is in it. It is written from a notebook alone, and never with FABRICLAB_PROGRESS=off, as
tests have it.
"""

import contextlib
import datetime
import json
import os
from pathlib import Path

from fabriclab.course.engine.exercises.core import BLANK, KEPT, RIGHT, UNREADABLE, WRONG

NAME = "progress.json"


def in_notebook():
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    return getattr(get_ipython(), "kernel", None) is not None


def is_on():
    """Whether tries are written down here: in a notebook's kernel, unless it is switched off."""
    return os.environ.get("FABRICLAB_PROGRESS", "").lower() not in ("off", "0") and in_notebook()


def read(student, folder="."):
    """{exercise id: what is known of it} for one student; empty where there is no file, or one that
    cannot be read.
    """
    try:
        return entries(student, (Path(folder) / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def entries(student, text):
    """What the text of such a file says of one student; nothing where it is damaged."""
    try:
        mine = json.loads(text)[student]
        return {name: told for name, told in mine.items() if _is_entry(told)}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _is_entry(told):
    return (
        type(told) is dict
        and type(told.get("tries")) is int
        and told.get("last") in (RIGHT, WRONG, KEPT)
        and type(told.get("day")) is str
    )


def after(before, status, today):
    """The entry of an exercise after one more try. `right_at` is the try that was the first right
    one, and stays.

    >>> after(after(None, "wrong", "2026-09-01"), "right", "2026-09-02")["right_at"]
    2
    """
    told = dict(before or {"tries": 0, "first": status})
    told |= {"tries": told["tries"] + 1, "last": status, "day": today}
    if status in (RIGHT, KEPT):
        told.setdefault("right_at", told["tries"])
    return told


def write(student, exercise, status, folder="."):
    """Write one more try down. A blank, or what could not be read, is no try.

    A file that cannot be read is put aside as `progress.json.old`, and a folder that cannot be
    written is left alone: nobody's work stops for this.
    """
    if status in (BLANK, UNREADABLE):
        return
    path = Path(folder) / NAME
    with contextlib.suppress(OSError):
        everybody = load(path)
        mine = everybody.setdefault(student, {})
        before = mine.get(exercise) if _is_entry(mine.get(exercise)) else None
        mine[exercise] = after(before, status, datetime.date.today().isoformat())
        save(path, everybody)


def save(path, everybody):
    """Write the whole file at once, so that no reader meets half of it."""
    part = path.with_name(f"{NAME}.{os.getpid()}")
    part.write_text(json.dumps(everybody, indent=1, ensure_ascii=False), encoding="utf-8")
    os.replace(part, path)


def load(path):
    """All that the file holds; one that cannot be read is put aside."""
    try:
        everybody = json.loads(path.read_text(encoding="utf-8"))
        if type(everybody) is dict and all(type(mine) is dict for mine in everybody.values()):
            return everybody
    except FileNotFoundError:
        return {}
    except (ValueError, RecursionError):
        pass
    os.replace(path, path.with_name(f"{NAME}.old"))
    return {}


def due(entries, exercises, today, most=5):
    """Up to `most` ids to look at again: first what is still wrong, then what took several tries,
    then what was right longest ago. An exercise right at once comes back after 14 days, one that
    took more tries after 3.
    """
    waiting = []
    for name in exercises:
        told = entries.get(name)
        if told is None or told["last"] == KEPT:
            continue
        try:
            age = (today - datetime.date.fromisoformat(told["day"])).days
        except ValueError:
            continue
        late = told.get("right_at", 1) > 1
        if told["last"] == WRONG or age >= (3 if late else 14):
            waiting.append((told["last"] != WRONG, not late, -age, name))
    return [name for *_, name in sorted(waiting)][:most]
