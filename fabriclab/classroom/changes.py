"""Whose points moved since the last run: from what, to what, and why. What a student sends for the
first time is no change.
"""

import csv
import io
import time

from fabriclab.classroom import results

HEADER = ("when", "id", "exercise", "before", "now", "why")
_PARTS = {
    1: "another file, or another version of it, was sent",
    2: "the notebook as handed out was changed",
    3: "fabriclab's models or exercises were changed",
    0: "the numbers of another id",
    4: "run without a sandbox, or with one again",
}


def before(out, roster, asked):
    """What the last run left: ({(student, exercise): cell of grades.csv}, {(student, notebook):
    its key}).
    """
    cells, keys = {}, {}
    try:
        text = (out / "grades.csv").read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        return {}, {}
    for row in csv.DictReader(io.StringIO(text, newline="")):
        student = (row.get("SIS User ID") or "").removeprefix("'")
        cells |= {(student, name): cell for name, cell in row.items() if name and cell is not None}
    for person in roster:
        for notebook in asked:
            kept = results.last(out, person.id, notebook)
            if kept:
                keys[person.id, notebook] = kept
    return cells, keys


def moved(old, roster, asked, graded, table, marks):
    """[(student, exercise, before, now, why)]; `old` as of `before`, `table` the new rows."""
    cells, keys = old
    header, rows = table
    found = []
    for person, row in zip(roster, rows, strict=True):
        now = dict(zip(header, row, strict=True))
        for notebook, ids in asked.items():
            for name in ids:
                was = cells.get((person.id.removeprefix("'"), name))
                if was is None or was == now[name]:
                    continue
                result = graded.get((person.id, notebook))
                why = _why(keys.get((person.id, notebook)), result, (person.id, name) in marks)
                if why:
                    found.append((person.id, name, was, now[name], why))
    return found


def _why(key, result, marked):
    if result is None:
        return "nothing is there any more" if key else ""
    if key is None:
        return "marked by hand" if marked else ""
    if result.refused:
        return f"refused: {result.refused}"
    pairs = enumerate(zip(key.split(":"), result.key.split(":"), strict=False))
    parts = [_PARTS[at] for at, (was, now) in pairs if was != now]
    return "; ".join(parts) or ("marked by hand" if marked else "another share for later tries")


def write(out, found):
    """Add to `out`/changes.csv, which keeps what every run has moved."""
    from fabriclab.classroom.gradebook import safe

    target, when = out / "changes.csv", time.strftime("%Y-%m-%d %H:%M")
    try:
        held = target.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        held = ""
    text = io.StringIO()
    rows = [(when, *map(safe, row)) for row in found]
    csv.writer(text, lineterminator="\r\n").writerows(rows if held else [HEADER, *rows])
    if found:
        results.write(target, f"\ufeff{held}{text.getvalue()}")


def told(found):
    """The same in lines."""
    return [f"{who}, {name}: {was} became {now} ({why})" for who, name, was, now, why in found]
