"""One student's one notebook, graded: as it is kept on disk, written so that a power cut leaves the
old file or the new one.
"""

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

from fabriclab.classroom.roster import folder
from fabriclab.course.engine.exercises import bank
from fabriclab.course.engine.exercises.core import Result, unreadable


@dataclass(frozen=True)
class Graded:
    """`verdicts`, `answers` (plain data) and `faults` by exercise id; `refused` says why the
    notebook as a whole was not graded.

    `key` is the hash of all that the verdicts follow from; see `batch.key`.
    """

    student: str
    notebook: str
    file: str
    key: str
    verdicts: dict[str, Result]
    answers: dict = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    refused: str = ""

    @property
    def points(self):
        return sum(verdict.score for verdict in self.verdicts.values())

    def text(self, name):
        """The free text that waits for a person to mark it, however short; or ""."""
        answer = self.answers.get(name)
        return (
            answer["text"]
            if bank.find(name).kind.by_hand
            and type(answer) is dict
            and type(answer.get("text")) is str
            else ""
        )


def judge(student, notebook, file, key, ids, collected, numbers=""):
    """The `Graded` for what `sandbox.collect` brought out. Runs nothing of the student's.
    `numbers` is the id whose numbers count, if it is another.
    """
    verdicts = {}
    for name in ids:
        data, fault = collected.answers.get(name), collected.faults.get(name, "")
        if collected.refused:
            verdicts[name] = unreadable(f"the notebook was refused: {collected.refused}")
        elif fault and data is None:
            verdicts[name] = unreadable(fault)
        else:
            try:
                verdicts[name] = bank.judge(numbers or student, name, data)
            except (
                Exception
            ):  # data that no judge foresaw is no answer, and costs this exercise alone
                verdicts[name] = unreadable("not an answer as this kit writes it down")
    answers = {name: collected.answers.get(name) for name in ids}
    faults = {name: fault for name, fault in collected.faults.items() if name in ids}
    return Graded(
        student,
        notebook,
        file,
        key,
        verdicts,
        answers,
        faults,
        tuple(collected.notes),
        collected.refused,
    )


def refuse(student, notebook, file, ids, why):
    """The `Graded` of a notebook that was not opened, or that cost the grader its worker twice."""
    return Graded(
        student,
        notebook,
        file,
        "",
        {name: unreadable(f"the notebook was refused: {why}") for name in ids},
        refused=why,
    )


def path(out, student, notebook):
    return Path(out) / "results" / folder(student) / f"{Path(notebook).stem}.json"


def save(out, graded):
    """Write it down: a file beside, flushed to the disk, then renamed."""
    target = path(out, graded.student, graded.notebook)
    target.parent.mkdir(parents=True, exist_ok=True)
    write(target, json.dumps(asdict(graded), indent=1, sort_keys=True) + "\n")


def last(out, student, notebook):
    """The key under which something was kept last, or ""."""
    try:
        kept = json.loads(path(out, student, notebook).read_text(encoding="utf-8"))
        return kept["key"] if type(kept["key"]) is str else ""
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def load(out, student, notebook, key):
    """What was kept under this key, or None."""
    try:
        kept = json.loads(path(out, student, notebook).read_text(encoding="utf-8"))
        kept["verdicts"] = {
            name: Result(**{**verdict, "slips": tuple(verdict["slips"])})
            for name, verdict in kept["verdicts"].items()
        }
        graded = Graded(**{**kept, "notes": tuple(kept["notes"])})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return (
        graded
        if graded.key == key and (graded.student, graded.notebook) == (student, notebook)
        else None
    )


def write(target, text):
    """A file with this text; until all of it is on the disk, the file that was there."""
    beside = target.with_name(f"{target.name}.part")
    # half a character, which Python lets a student write, is shown as its number
    with open(beside, "w", encoding="utf-8", newline="", errors="backslashreplace") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, target)
