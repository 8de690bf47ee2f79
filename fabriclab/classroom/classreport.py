"""What a class has learnt: report.html, with pictures. It names no student except where something
was sent that needs the instructor.
"""

from collections import Counter

from fabriclab.classroom import figures as drawings
from fabriclab.classroom import page, results
from fabriclab.course.engine import plot
from fabriclab.course.engine.exercises import bank
from fabriclab.course.engine.exercises.core import KEPT, RIGHT

MOST = 15  # rows of a picture; the table below has them all


def write(out, roster, asked, graded, strange, moved=()):
    results.write(out / "report.html", report(roster, asked, graded, strange, moved))


def report(roster, asked, graded, strange=(), moved=()):
    """The report as HTML; `asked` and `graded` as of `gradebook.write`, `strange` the lines of
    `inbox.look`, `moved` those of `changes.told`.
    """
    sent = {
        notebook: [
            graded[person.id, notebook] for person in roster if (person.id, notebook) in graded
        ]
        for notebook in asked
    }
    anybody = {student for student, _ in graded}
    parts = [
        page.line(
            f"{len(anybody)} of {len(roster)} students sent {sum(map(len, sent.values()))}"
            " notebooks."
        )
    ]
    parts.append(
        page.table(
            ("notebook", "sent by", "mean of those"),
            [_summary(name, asked[name], there) for name, there in sent.items()],
            ("", "number", "number"),
        )
    )
    if anybody:
        parts += _distribution(roster, asked, graded)
        parts += _exercises(asked, sent)
        parts += _slips(sent)
    parts += _odd(graded, strange, moved)
    return page.page("Class report", *parts)


def by_machine(asked):
    return [name for ids in asked.values() for name in ids if not bank.find(name).kind.by_hand]


def _summary(notebook, ids, there):
    most = len(by_machine({notebook: ids}))
    mean = f"{sum(result.points for result in there) / len(there):.1f} of {most}" if there else "-"
    return notebook.removesuffix(".ipynb"), len(there), mean


def _distribution(roster, asked, graded):
    totals = {}
    for (student, _), result in graded.items():
        totals[student] = totals.get(student, 0.0) + result.points
    points = [totals[person.id] for person in roster if person.id in totals]
    figure, axes = plot.new(7.2, 3.2)
    drawings.distribution(axes, points, len(by_machine(asked)))
    middle = sorted(points)[len(points) // 2]
    alt = (
        f"Histogram of points: {len(points)} students, from {min(points):g} to {max(points):g}, the"
        f" middle one at {middle:g}, of {len(by_machine(asked))}."
    )
    return [
        page.heading("Points"),
        page.line("Of those who sent anything; what you mark by hand is not in it."),
        page.picture(figure, alt),
    ]


def tally(asked, sent):
    """[(exercise id, {outcome: students})], the hardest first: least right of those who sent the
    notebook.
    """
    counted = []
    for notebook, ids in asked.items():
        for name in ids:
            counted.append(
                (name, Counter(result.verdicts[name].status for result in sent[notebook]))
            )
    machine = set(by_machine(asked))
    return sorted(
        counted, key=lambda item: (item[0] not in machine, item[1][RIGHT] / max(item[1].total(), 1))
    )


def _exercises(asked, sent):
    counted = [(name, counts) for name, counts in tally(asked, sent) if counts.total()]
    shown = [(name, counts) for name, counts in counted if not bank.find(name).kind.by_hand][:MOST]
    parts = [page.heading("Exercises, the hardest first")]
    if shown:
        figure, axes = plot.new(7.2, 1.3 + 0.34 * len(shown))
        titles = [bank.find(name).title for name, _ in shown]
        drawings.outcomes(
            axes,
            titles,
            {
                outcome: [counts[outcome] / counts.total() for _, counts in shown]
                for outcome in drawings.OUTCOMES
            },
        )
        parts.append(
            page.picture(
                figure,
                f"Bars of outcomes. Hardest: {titles[0]}, right for {shown[0][1][RIGHT]} of"
                f" {shown[0][1].total()}.",
            )
        )
    columns = (*drawings.OUTCOMES, KEPT)
    rows = [
        (bank.find(name).title, name, *(counts[outcome] for outcome in columns))
        for name, counts in counted
    ]
    parts.append(
        page.table(("exercise", "id", *columns), rows, ("", "status", *("number" for _ in columns)))
    )
    return parts


def slips(sent):
    """[((slip, exercise id), students)], the commonest first."""
    made = Counter(
        (slip, name)
        for there in sent.values()
        for result in there
        for name, verdict in result.verdicts.items()
        for slip in set(verdict.slips)
    )
    return sorted(made.items(), key=lambda item: (-item[1], item[0]))


def _slips(sent):
    made = slips(sent)
    parts = [page.heading("Slips, by name")]
    if not made:
        return [*parts, page.line("None that the kit knows.")]
    kinds = Counter()
    for (slip, _), students in made:
        kinds[slip] += students
    top = kinds.most_common(MOST)
    figure, axes = plot.new(7.2, 1.0 + 0.34 * len(top))
    drawings.slips(axes, [slip for slip, _ in top], [count for _, count in top])
    parts.append(
        page.picture(
            figure,
            f"Bars of slips over all exercises. The commonest: {top[0][0]}, {top[0][1]} times.",
        )
    )
    parts.append(
        page.table(
            ("slip", "exercise", "students"),
            [(slip, bank.find(name).title, count) for (slip, name), count in made[:40]],
            ("", "", "number"),
        )
    )
    return parts


def _odd(graded, strange, moved):
    refused = [
        f"{result.student}, {result.notebook} ({result.file}): {result.refused}"
        for result in graded.values()
        if result.refused
    ]
    noted = [
        f"{result.student}, {result.notebook}: {note}"
        for result in graded.values()
        for note in result.notes
    ]
    stopped = [
        f"{result.student}, {name}: {fault}"
        for result in graded.values()
        for name, fault in result.faults.items()
        if not result.refused
    ]
    parts = []
    for title, told in (
        ("Points that moved", list(moved)),
        ("Not matched", list(strange)),
        ("Refused", refused),
        ("Noted", noted),
        ("Answers that could not be taken", stopped),
    ):
        parts += [page.heading(title), page.lines(told)] if told else []
    return parts
