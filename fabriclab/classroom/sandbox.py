"""Take the answers out of one student's notebook, whatever its code does: as plain data, to be
judged elsewhere.

The notebook's cells run in a `box`. Where a cell ends the process, or cannot be stopped, or holds
up those after it, the box is thrown away and the notebook is run in a new one without that cell: so
a cell can cost its own exercise alone.
Exercises that end without an answer are run once more by themselves, since an earlier cell may have
spoilt theirs.
"""

import re
import time
from dataclasses import dataclass, field

from fabriclab.classroom import standin, submission
from fabriclab.classroom.box import Box, Flood, Limits, ready
from fabriclab.course.engine.exercises.core import identify

__all__ = ["Collected", "Limits", "collect", "ready"]

GRACE = 1.0  # seconds between the interrupt that a cell may handle and the end it cannot
_VERBS = (
    "ran longer ",
    "ended the ",
    "sent out ",
    "left threads ",
    "was not reached",
)  # how words that are no exception's begin
ODD = {"unreadable": "not an answer as this kit writes it down"}
_PLACE = re.compile(r"<ipython-input-[^>]{1,40}>, line ")  # a file that no student knows
SETUP = 60.0  # seconds for Python and the imports, on a machine busy with others


@dataclass(frozen=True)
class Collected:
    """What came of one notebook: `answers` {id: data or None} for `judge`, `faults` {id: words} of
    exercises without one, `notes`.

    `refused` is "" or the reason why nothing could be run.
    """

    answers: dict
    faults: dict = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    refused: str = ""
    seconds: float = 0.0


@dataclass
class _Run:
    """One box's run over the cells: what was answered, what went wrong, and how it ended."""

    answers: dict = field(default_factory=dict)
    wrong: dict = field(default_factory=dict)  # cell number: words
    changed: dict = field(default_factory=dict)  # cell number: names
    others: set = field(default_factory=set)
    late: set = field(default_factory=set)
    done: set = field(default_factory=set)
    left: int | None = None  # the first cell that left threads running
    to_come: list = field(default_factory=list)  # the cells not begun yet, in order
    last: int | None = None  # the last cell begun, at the monotonic time `began`
    began: float = 0.0
    ready: bool = False
    deadline: float | None = None  # the monotonic time when the notebook's is used up
    ended: str = ""  # why it was cut short, or ""


def collect(path, student_id, assignment, limits=Limits(), unsafe=False):  # noqa: B008  frozen
    """The answers in the notebook at `path`, for this student and the released notebook
    `assignment`, as `Collected`.

    Nothing a student can send makes it raise. Raises RuntimeError where there is no bubblewrap to
    run it in and `unsafe` is not said, or where the released notebook itself does not run;
    ValueError for a bad student id or assignment.
    """
    begun, owner = time.monotonic(), identify(student_id)
    ids, variables = submission.exercise_ids(assignment), submission.variables(assignment)
    nothing = dict.fromkeys(ids)
    try:
        sent = submission.read(path, variables)
    except submission.Refused as error:
        return Collected(nothing, refused=_line(error), seconds=time.monotonic() - begun)
    strange = [name for name in dict.fromkeys(sent.asks) if name not in ids]
    if strange and len(strange) == len(set(sent.asks)):
        return Collected(
            nothing,
            refused=_line(f"it asks {', '.join(strange[:3])}: not one exercise of this notebook"),
            seconds=time.monotonic() - begun,
        )
    job = {
        "owner": owner,
        "sheet": standin.sheet(owner, ids),
        "setup": submission.released(assignment),
        "seconds": limits.seconds,
    }
    runs, skipped = _runs(job, sent.cells, limits, unsafe)
    answers = dict(nothing)
    for run in runs:
        answers.update(run.answers)
    spoilt = _again(job, sent.cells, runs, limits, unsafe)
    answers |= spoilt
    faults, notes = _faults(sent, runs, skipped, answers, limits)
    notes += [
        f"{name} was answered only when its cells were run without the others" for name in spoilt
    ]
    notes = [
        *sent.notes,
        *(f"asks {name}, which is not in this notebook as released" for name in strange),
        *_others(runs),
        *notes,
    ]
    return Collected(answers, faults, tuple(map(_line, notes[:100])), "", time.monotonic() - begun)


def _again(job, cells, runs, limits, unsafe):
    """{exercise: data} of those that no run before came to check: an earlier cell may have spoilt
    what they need.

    The last comes first, so that whichever of them spoils the others comes after. Nobody is asked
    twice: what was checked once, blank or wrong, stays. A cell that was too slow is not waited for
    again.
    """
    checked = {name for run in runs for name in run.answers}
    slow = {cell.exercise for cell in cells for run in runs if cell.number in run.late}
    unchecked = [
        name
        for name in job["sheet"]
        if name not in checked | slow
        and any(".check(" in cell.source for cell in cells if cell.exercise == name)
    ]
    chosen = [
        cell for name in ("", *reversed(unchecked)) for cell in cells if cell.exercise == name
    ]
    bare = [
        cell for cell in chosen if re.search(r"\.(check|ask)\(", cell.source)
    ]  # which cell spoils may be one of no exercise's own
    found = {}
    for tried in (chosen, bare) if bare != chosen else (chosen,):
        if len(found) < len(unchecked) and time.monotonic() < runs[-1].deadline:
            for run in _runs(job, tried, limits, unsafe, runs[-1].deadline)[0]:
                found |= {
                    name: data
                    for name, data in run.answers.items()
                    if name in unchecked and name not in found and data is not None
                }
    return found


def _runs(job, cells, limits, unsafe, deadline=None):
    """Run the cells until a run comes to its end; returns the runs, and {cell number: words} for
    those left out.
    """
    runs, skipped = [], {}
    while True:
        run = _run(
            job
            | {
                "cells": [
                    (cell.number, cell.source) for cell in cells if cell.number not in skipped
                ]
            },
            limits,
            deadline,
            unsafe,
        )
        runs.append(run)
        deadline = run.deadline
        skipped |= {number: run.wrong[number] for number in run.late}
        if not run.ended or time.monotonic() >= deadline or run.last is None:
            return runs, skipped
        if run.left is None:
            skipped[run.last] = run.ended
        else:  # what it left running may be what ended the later cell
            skipped.pop(run.last, None)
            skipped[run.left] = f"left threads running; in a later cell, Python {run.ended}"
        if all(cell.number in run.done or cell.number in skipped for cell in cells):
            return runs, skipped


def _run(job, limits, deadline, unsafe):
    run = _Run(deadline=deadline, to_come=[number for number, _ in job["cells"]])
    said_done = False
    with Box(job, limits, unsafe) as box:
        until = time.monotonic() + SETUP
        while True:
            try:
                message = box.message(until)
            except TimeoutError:
                run.ended = f"ran longer than {limits.seconds:g} s and could not be interrupted"
                break
            except Flood:
                run.ended = f"sent out more than {limits.output:,} bytes"
                break
            if message is None:
                if not said_done:
                    run.ended = "ended the Python process: an exit, a crash, or no memory left"
                elif (
                    not {number for number, _ in job["cells"]} <= run.done
                ):  # not what the box says of itself
                    run.ended = "ended the run before its end"
                break
            said_done = said_done or "done" in message
            came = len(run.to_come), len(run.done), run.ready
            _note(run, message, job["sheet"], limits)
            if run.left is not None and run.last in run.late and run.last != run.left:
                run.ended = "was too slow"
                break
            if run.ready and came != (len(run.to_come), len(run.done), run.ready):
                # a notebook's time begins with its first cell: a busy machine is no student's fault
                run.deadline = run.deadline or time.monotonic() + limits.wall
                until = min(time.monotonic() + limits.seconds + GRACE, run.deadline)
        if not run.ready:
            slow = (
                f"nothing came within {SETUP:g} s; is this machine too busy?"
                if time.monotonic() >= until
                else ""
            )
            raise RuntimeError(
                run.wrong.get(0)
                or f"the sandbox did not start: {box.complaint() or slow or run.ended}"
            )
    return run


def _note(run, message, sheet, limits):
    """Write down one message; one of a wrong form or out of turn, which only a student's code can
    have sent, is passed over.
    """
    number, exercise = message.get("begin", message.get("end")), message.get("check")
    if "ready" in message:
        run.ready = True
    elif "setup" in message and not run.ready:
        run.wrong[0] = (
            f"the released notebook itself does not run in the sandbox: {message['setup']}"
        )
    elif type(exercise) is str:
        data = _bounded(message.get("data"), sheet[exercise]) if exercise in sheet else None
        if exercise in sheet and (exercise not in run.answers or data not in (None, ODD)):
            run.answers[exercise] = data
    elif type(message.get("other")) is str:
        run.others |= {message["other"]} if len(run.others) < 10 else set()
    elif "begin" in message and number in run.to_come[:1]:
        run.last, run.began = run.to_come.pop(0), time.monotonic()
    elif (
        number == run.last
        and number not in run.done
        and type(message.get("wrong")) is str
        and type(message.get("changed")) is list
    ):
        run.done.add(run.last)
        if message["wrong"]:
            run.wrong[run.last] = message["wrong"]
            # by the clock out here as well; half, as a busy machine may bring word of the beginning
            # late
            if message.get("late") is True and time.monotonic() - run.began >= limits.seconds / 2:
                run.late.add(run.last)
        if message.get("left") is True and run.left is None:
            run.left = run.last
        if message["changed"]:
            run.changed[run.last] = ", ".join(map(str, message["changed"]))


def _faults(sent, runs, skipped, answers, limits):
    """({exercise: words} for those without an answer, notes on the rest)."""
    run, faults, notes, of = runs[-1], {}, [], {cell.number: cell for cell in sent.cells}
    wrong = {**run.wrong, **skipped}
    if run.ended:
        unreached = [number for number in of if number not in run.done and number not in wrong]
        wrong |= dict.fromkeys(
            unreached, f"was not reached: the notebook had used up its {limits.wall:g} s"
        )
    for number, words in sorted(wrong.items()):
        exercise = of[number].exercise if number in of else ""
        words = words if words.startswith(_VERBS) else f"stopped with {_PLACE.sub('line ', words)}"
        if exercise in answers and answers[exercise] is None:
            faults[exercise] = _line(f"cell {number} {words}")
        elif number in of:
            notes.append(f"cell {number} ({exercise or 'of no exercise'}) {words}")
    for exercise, words in sent.retyped.items():
        if answers.get(exercise, "") is None:
            faults.setdefault(exercise, words)
        elif exercise in answers:
            notes.append(words)
    changed = {number: names for run in runs for number, names in run.changed.items()}
    notes += [
        f"cell {number} changed {names}; this was put back"
        for number, names in sorted(changed.items())
    ]
    looked_at = {name for run in runs for name in run.answers} | set(faults)
    notes += [f"no cell checks an answer to {name}" for name in answers if name not in looked_at]
    return faults, notes


def _others(runs):
    return [
        f"it names the student {other!r}; the numbers asked for, and judged, are the owner's"
        for other in sorted({other for run in runs for other in run.others})
    ]


def _line(text):
    """One line of at most 500 printable characters, whatever a student wrote into it."""
    return " ".join("".join(c if c.isprintable() else " " for c in str(text)[:1_000]).split())[:500]


def _bounded(data, question):
    """Data as `take` may have written it, or {"unreadable"}: what a student's code sent by itself
    may be of any size and shape.
    """
    if data is None:
        return None
    if type(data) is not dict or not set(data) <= {
        "unreadable",
        "text",
        "value",
        "dimension",
        "items",
        "outputs",
    }:
        return ODD
    kept = {}
    for key, value in data.items():
        if key == "outputs":
            good = (
                type(value) is list
                and len(value) == len(question["needs"].get("inputs", ()))
                and all(map(_output, value))
            )
        elif key == "items":
            good = (
                type(value) is list
                and len(value) < 50
                and all(type(item) is str and len(item) <= 100 for item in value)
            )
        elif key == "value":
            good = _number(value)
        elif key == "dimension":
            good = value is None or (type(value) is str and len(value) <= 50)
        else:
            good = type(value) is str and len(value) <= (
                300 if key == "unreadable" else question["longest"]
            )
        if not good:
            return ODD
        kept[key] = _clean(value)
    return kept


def _number(value):
    return type(value) is float or (type(value) is int and abs(value) < 2**53)


def _output(out):
    if type(out) is list:
        return len(out) <= 10_000 and all(map(_number, out))
    return (
        out is None
        or _number(out)
        or (
            type(out) is dict
            and all(
                type(key) is str and type(value) is str and len(key) + len(value) < 500
                for key, value in out.items()
            )
        )
    )


def _clean(value):
    """Text that can be written anywhere: no lone surrogates, no NUL."""
    if type(value) is str:
        return value.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    if type(value) is list:
        return [_clean(item) for item in value]
    return (
        {_clean(key): _clean(item) for key, item in value.items()} if type(value) is dict else value
    )
