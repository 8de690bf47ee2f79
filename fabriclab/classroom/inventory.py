"""The concept inventory as a test before and after: a page to print, its key, and a report for the
class.
"""

import csv
import html
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from fabriclab.classroom.beliefs import QUESTIONS
from fabriclab.course.engine.exercises import sheet
from fabriclab.course.engine.exercises.core import identify

NUMBERS = [str(n) for n in range(1, len(QUESTIONS) + 1)]


def pages():
    """(questions, key) as HTML pages; the key says which belief stands behind each letter."""
    asked = "".join(
        f"<section><h2>{n}</h2><p>{_marked(q.asks)} …</p><ul>"
        + "".join(f"<li>{letter}: {_marked(text)}</li>" for letter, text in q.lettered().items())
        + "</ul></section>"
        for n, q in enumerate(QUESTIONS, start=1)
    )
    rows = "".join(
        f"<tr><td>{n}</td><td>{letter}</td><td>{html.escape(q.belief(letter) or 'right')}</td></tr>"
        for n, q in enumerate(QUESTIONS, start=1)
        for letter in "abcd"
    )
    head = "<p>One letter for each. Do not guess: leave out what you have no idea of.</p>"
    return _page("What do you think?", head + asked), _page("Key", f"<table>{rows}</table>")


def _marked(text):
    pieces = html.escape(text).split("*")
    return "".join(f"<em>{p}</em>" if n % 2 else p for n, p in enumerate(pieces))


def _page(title, body):
    return sheet.page(title, [f"<h1>{html.escape(title)}</h1>{body}"])


def read(path):
    """{student: {number: letter}} of a CSV file with the columns student, 1, 2, … 12. An empty cell
    or a dash is no answer. Raises ValueError with the line.
    """
    with Path(path).open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file)
        given = [(name or "").strip().casefold() for name in rows.fieldnames or ()]
        missing = [name for name in ["student", *NUMBERS] if name not in given]
        if missing:
            raise ValueError(f"{path}, line 1: no column called {missing[0]!r}")
        rows.fieldnames = given
        answers = {}
        for row in rows:
            try:
                student = identify(row["student"])
                if student in answers:
                    raise ValueError(f"{student} is there twice")
                answers[student] = {n: _letter(n, row[n]) for n in NUMBERS}
            except ValueError as fault:
                raise ValueError(f"{path}, line {rows.line_num}: {fault}") from None
    if not answers:
        raise ValueError(f"{path}: no student")
    return answers


def _letter(number, cell):
    letter = (cell or "").strip().strip(".)").casefold()
    if letter in ("", "-", "–"):
        return ""
    if letter not in tuple("abcd"):
        raise ValueError(f"question {number}: {cell.strip()[:20]!r} is not a letter from a to d")
    return letter


@dataclass(frozen=True)
class Outcome:
    """One sitting: the mean share of right answers, the share right by question, and how many hold
    each belief, as {(question number, belief): students}.
    """

    students: int
    mean: float
    right: dict
    beliefs: Counter


def outcome(answers):
    """The `Outcome` of what `read` gave."""
    keys = {n: q.lettered() for n, q in zip(NUMBERS, QUESTIONS, strict=True)}
    right, beliefs = dict.fromkeys(NUMBERS, 0), Counter()
    for given in answers.values():
        for (number, letter), question in zip(given.items(), QUESTIONS, strict=True):
            if letter and keys[number][letter] == question.right:
                right[number] += 1
            elif letter:
                beliefs[number, question.belief(letter)] += 1
    shares = {number: count / len(answers) for number, count in right.items()}
    return Outcome(len(answers), sum(shares.values()) / len(shares), shares, beliefs)


def gain(before, after):
    """The normalised gain (Hake 1998): what was won of what could be won, from two means of 0 to 1.

    Raises ValueError where nothing was left to win.

    >>> round(gain(0.4, 0.7), 2)
    0.5
    """
    if not 0 <= before < 1 or not 0 <= after <= 1:
        raise ValueError("the means lie from 0 to 1, and the first below 1")
    return (after - before) / (1 - before)


def report(before, after=None):
    """What a class believes, as text; with a second sitting, what has changed for those who sat
    both.
    """
    if after is None:
        one = outcome(before)
        lines = [f"{one.students} students, {one.mean:.0%} right.", "", *_table(one, None)]
        return "\n".join(lines)
    both = [student for student in before if student in after]
    if not both:
        raise ValueError("nobody sat both tests: are the ids written alike?")
    one, two = (outcome({s: sitting[s] for s in both}) for sitting in (before, after))
    alone = len(before) + len(after) - 2 * len(both)
    lines = [f"{len(both)} students sat both tests" + (f", {alone} one alone." if alone else ".")]
    lines.append(f"Right: {one.mean:.0%} before, {two.mean:.0%} after.")
    if one.mean < 1:
        won = gain(one.mean, two.mean)
        lines.append(f"Normalised gain: {won:.2f} of what could be won. Lectures without activity")
        lines.append("have about 0.2 in physics, with activity 0.5 (Hake 1998).")
    return "\n".join([*lines, "", *_table(one, two)])


def _table(one, two):
    yield "question      right" + ("      after" if two else "")
    for number, question in zip(NUMBERS, QUESTIONS, strict=True):
        after = f"{two.right[number]:11.0%}" if two else ""
        yield f"{number:>2} {question.id:<12}{one.right[number]:4.0%}{after}"
    yield ""
    yield "students who hold it" + (" before, after" if two else "") + ", and the belief"
    seen = {**one.beliefs, **(two.beliefs if two else {})}
    ranked = sorted(seen, key=lambda key: (-(two or one).beliefs[key], -one.beliefs[key], key))
    for number, belief in ranked:
        after = f"{two.beliefs[number, belief]:6}" if two else ""
        yield f"{one.beliefs[number, belief]:6}{after}  {belief} (question {number})"


def run(files):
    """The lines of a report on one or two files of answers; without any, the pages are written and
    their paths given.
    """
    if len(files) > 2:
        raise ValueError("two files at most: the answers before and after")
    if files:
        return report(*map(read, files)).splitlines()
    questions, key = pages()
    return [*sheet.write("inventory.html", questions), *sheet.write("inventory-key.html", key)]
