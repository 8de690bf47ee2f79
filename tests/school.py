"""A class for tests: students, what they send, and a collector that reads answers out of a file
instead of running it.
"""

import functools
import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path

from fabriclab.classroom.roster import Person
from fabriclab.course.engine.exercises import bank

ROOT = Path(__file__).parents[1]
IDS = ("ADA", "ada", "001", "1", "zoé@example.org", "李雷", "o'neil", "@handle")


@dataclass(frozen=True)
class Collected:
    """What `sandbox.collect` gives."""

    answers: dict = field(default_factory=dict)
    faults: dict = field(default_factory=dict)
    notes: tuple = ()
    refused: str = ""
    seconds: float = 0.0


def collect(path, student_id, assignment, limits=None, unsafe=False):
    """In place of the sandbox: the file itself says what comes out of it, and what it does to its
    worker.
    """
    said = json.loads(path.read_text(encoding="utf-8"))
    time.sleep(said.get("sleep", 0))
    if said.get("dies"):
        os._exit(9)
    if said.get("raises") and not os.path.exists(said.get("once", "")):
        Path(said.get("once", os.devnull)).touch()
        raise RuntimeError(said["raises"])
    if said.get("log"):
        # a batch that is to be interrupted comes this far and no further, however busy the machine
        if os.path.exists(said["log"]) and len(
            Path(said["log"]).read_text(encoding="utf-8").split("\n")
        ) > int(os.environ.get("HOLD_AFTER", 10**9)):
            time.sleep(60)
        with open(said["log"], "a", encoding="utf-8") as log:
            log.write(f"{student_id} {path.name}\n")
    return Collected(
        said["answers"],
        said.get("faults", {}),
        tuple(said.get("notes", ())),
        said.get("refused", ""),
        said.get("sleep", 0),
    )


def people(count):
    """`count` students, the awkward ids first."""
    ids = [*IDS, *(f"s{number:04d}" for number in range(count))][:count]
    return tuple(
        Person(name, f"Name of {name}", f"{index}@example.org", section="A")
        for index, name in enumerate(ids)
    )


def right(student, name):
    """The data of a right answer, or of a free text; None for the kinds whose answers are code."""
    kind, x = bank.find(name).kind, bank.numbers(student, name)
    answers = {
        "Quantity": lambda: kind.key(x),
        "Choice": lambda: next(option.text for option in kind.options if option.right),
        "Ordering": lambda: sorted(kind.values(x), key=kind.values(x).get),
        "Free": lambda: "because of the bandwidth " * 30,
    }
    return (
        bank.take(student, name, answers[type(kind).__name__]())
        if type(kind).__name__ in answers
        else None
    )


def eightfold(student, name):
    """The data of an answer eight times too large, where a number is asked for."""
    kind = bank.find(name).kind
    return (
        bank.take(student, name, 8 * kind.key(bank.numbers(student, name)))
        if type(kind).__name__ == "Quantity"
        else None
    )


@functools.cache
def asked():
    """{notebook: ids of its exercises}, of all notebooks handed out."""
    from fabriclab.classroom.submission import exercise_ids

    return {
        path.name: tuple(exercise_ids(path))
        for path in sorted((ROOT / "exercises").glob("*.ipynb"))
    }


def send(top, folder, notebook, answers, **said):
    """Put a file into `top`/`folder` that says these answers; returns its path."""
    path = Path(top) / folder / notebook
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        json.dumps({"answers": answers, "asks": asked().get(notebook, ()), **said}),
        encoding="utf-8",
    )
    return path
