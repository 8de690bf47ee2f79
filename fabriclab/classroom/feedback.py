"""What each student gets to read, and what waits for the instructor's own eyes.

A page names the student, so hand it to that student alone: feedback/ada-8a15fea9.html. No page
prints an answer.
"""

from html import escape

from fabriclab.classroom import marks as by_hand
from fabriclab.classroom import page, results
from fabriclab.classroom.roster import folder
from fabriclab.course.engine.exercises import bank
from fabriclab.course.engine.exercises.core import BLANK


def write(out, roster, asked, graded, marks=None, blind=False):
    """One page for each student into `out`/feedback, and the texts to mark into
    `out`/for-marking.html and for-marking.csv; arguments as of `gradebook.write`. `blind` keeps
    names out of these two.
    """
    marks = marks or {}
    (out / "feedback").mkdir(exist_ok=True)
    for person in roster:
        own = {notebook: graded.get((person.id, notebook)) for notebook in asked}
        results.write(
            out / "feedback" / f"{folder(person.id)}.html", student(person, asked, own, marks)
        )
    results.write(out / "for-marking.html", for_marking(roster, asked, graded, marks, blind))
    sheet = by_hand.sheet(roster, asked, graded, marks, blind)
    results.write(out / "for-marking.csv", f"\ufeff{sheet}")


def student(person, asked, own, marks=None):
    """One student's page. `own` is {notebook: Graded or None}, `marks` as of `gradebook.write`."""
    marks = {name: mark for (who, name), mark in (marks or {}).items() if who == person.id}
    points = sum(result.points for result in own.values() if result)
    possible = sum(_by_machine(ids) for ids in asked.values())
    parts = [page.line(f"{points:g} of {possible} right{_kept(own.values(), marks)}.")]
    for notebook, ids in asked.items():
        parts += _notebook(notebook, ids, own[notebook], marks)
    return page.page(
        f"Exercises of {person.name or person.id}" + (f" ({person.id})" if person.name else ""),
        *parts,
    )


def _notebook(notebook, ids, result, marks):
    head = page.heading(notebook.removesuffix(".ipynb"))
    if result is None:
        return [head, page.line("Not sent.")]
    if result.refused:
        return [
            head,
            page.line(f"Sent as {result.file}, and not graded: {result.refused}."),
            page.lines(result.notes),
        ]
    rows = []
    for name in ids:
        verdict, fault = result.verdicts[name], result.faults.get(name, "")
        said = "" if verdict.status == BLANK else verdict.message
        said = said if fault in said else f"{said} ({fault})"
        status = verdict.status
        if name in marks:
            status = f"{marks[name].points:g} of {bank.find(name).kind.worth:g} points"
            said = f"Marked by your instructor. {marks[name].remark}".strip()
        rows.append((bank.find(name).title, status, said))
    own = {name: marks[name] for name in ids if name in marks}
    total = page.line(f"{result.points:g} of {_by_machine(ids)} right{_kept([result], own)}.")
    return [
        head,
        total,
        page.lines(result.notes),
        page.table(("exercise", "status", "what there is to say"), rows, ("", "status", "")),
    ]


def _by_machine(ids):
    return sum(not bank.find(name).kind.by_hand for name in ids)


def _kept(graded, marks):
    waits = sum(
        bool(result.text(name)) and name not in marks
        for result in graded
        if result
        for name in result.verdicts
    )
    given = f", and {sum(mark.points for mark in marks.values()):g} of"
    given += f" {sum(bank.find(name).kind.worth for name in marks):g} points by your instructor"
    return (given if marks else "") + (f", {waits} for your instructor to read" if waits else "")


def for_marking(roster, asked, graded, marks=None, blind=False):
    """All free texts, exercise by exercise; the rubrics are in INSTRUCTOR.md and in solutions/."""
    parts = [
        page.line(
            "No program marks these. Each has its rubric in INSTRUCTOR.md, and a sample answer in"
            " solutions/. Write the points into for-marking.csv and save it as marks.csv beside"
            " the class list: grade reads it at every run, so that nothing you gave gets lost."
        )
    ]
    for notebook, ids in asked.items():
        for name in (name for name in ids if bank.find(name).kind.by_hand):
            kind = bank.find(name).kind
            parts.append(
                page.heading(f"{bank.find(name).title} ({name}, up to {kind.worth:g} points)")
            )
            texts = [
                _text(person, graded.get((person.id, notebook)), name, marks or {}, blind)
                for person in roster
            ]
            texts = [text for text in texts if text]
            parts += (sorted(texts) if blind else texts) or [page.line("Nobody has written one.")]
    return page.page("For marking by hand", *parts)


def _text(person, result, name, marks, blind):
    if result is None or not result.text(name):
        return ""
    who = f"{person.name} ({person.id})" if person.name else person.id
    who = by_hand.code(person.id, name) if blind else who
    mark = marks.get((person.id, name))
    had = f", {mark.points:g} points so far" if mark else ""
    return f"<p><b>{escape(who)}</b>{had}</p><pre>{escape(result.text(name))}</pre>"
