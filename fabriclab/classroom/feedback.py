"""What each student gets to read, and what waits for the instructor's own eyes.

A page names the student, so hand it to that student alone: feedback/ada-8a15fea9.html. No page
prints an answer.
"""

from html import escape

from fabriclab.classroom import page, results
from fabriclab.classroom.roster import folder
from fabriclab.course.engine.exercises import bank
from fabriclab.course.engine.exercises.core import BLANK


def write(out, roster, asked, graded):
    """One page for each student into `out`/feedback, and `out`/for-marking.html; arguments as of
    `gradebook.write`.
    """
    (out / "feedback").mkdir(exist_ok=True)
    for person in roster:
        own = {notebook: graded.get((person.id, notebook)) for notebook in asked}
        results.write(out / "feedback" / f"{folder(person.id)}.html", student(person, asked, own))
    results.write(out / "for-marking.html", for_marking(roster, asked, graded))


def student(person, asked, own):
    """One student's page. `own` is {notebook: Graded or None}."""
    points = sum(result.points for result in own.values() if result)
    possible = sum(_by_machine(ids) for ids in asked.values())
    parts = [page.line(f"{points:g} of {possible} right{_kept(own.values())}.")]
    for notebook, ids in asked.items():
        parts += _notebook(notebook, ids, own[notebook])
    return page.page(
        f"Exercises of {person.name or person.id}" + (f" ({person.id})" if person.name else ""),
        *parts,
    )


def _notebook(notebook, ids, result):
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
        rows.append((bank.find(name).title, verdict.status, said))
    total = page.line(f"{result.points:g} of {_by_machine(ids)} right{_kept([result])}.")
    return [
        head,
        total,
        page.lines(result.notes),
        page.table(("exercise", "status", "what there is to say"), rows, ("", "status", "")),
    ]


def _by_machine(ids):
    return sum(not bank.find(name).kind.by_hand for name in ids)


def _kept(graded):
    kept = sum(bool(result.text(name)) for result in graded if result for name in result.verdicts)
    return f", {kept} for your instructor to read" if kept else ""


def for_marking(roster, asked, graded):
    """All free texts, exercise by exercise; the rubric is in solutions/."""
    parts = [
        page.line(
            "No program marks these. Each has a rubric with a sample answer in solutions/. "
            "Write the points where you keep grades: grades.csv is made anew each time."
        )
    ]
    for notebook, ids in asked.items():
        for name in (name for name in ids if bank.find(name).kind.by_hand):
            parts.append(page.heading(f"{bank.find(name).title} ({name})"))
            texts = [_text(person, graded.get((person.id, notebook)), name) for person in roster]
            parts += [text for text in texts if text] or [page.line("Nobody has written one.")]
    return page.page("For marking by hand", *parts)


def _text(person, result, name):
    if result is None or not result.text(name):
        return ""
    who = f"{person.name} ({person.id})" if person.name else person.id
    return f"<p><b>{escape(who)}</b></p><pre>{escape(result.text(name))}</pre>"
