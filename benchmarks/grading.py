"""Seconds to grade a class: against running each notebook with `jupyter nbconvert --execute`, and
as the class grows.

Run it: ``make bench``, or ``python benchmarks/grading.py 300`` for a class of three hundred (and of
thirty, to see how it grows). Each student sends the worked notebook on cluster design with the own
id; the sandbox is the real one.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fabriclab.classroom import batch, release, sandbox
from fabriclab.classroom.roster import Person, folder

ROOT = Path(__file__).parents[1]
NOTEBOOK = "06-cluster-design.ipynb"
WORKED = (ROOT / "solutions" / NOTEBOOK).read_text(encoding="utf-8")


def taken(call):
    begun = time.monotonic()
    call()
    return time.monotonic() - begun


def against_nbconvert(folder, rounds=3):
    """Median seconds for one submission, in turns: (nbconvert, which judges and shields nothing;
    the sandbox).
    """
    path = Path(folder) / NOTEBOOK
    path.write_text(release.personal(WORKED, "ADA"), encoding="utf-8")
    execute = [
        sys.executable,
        "-m",
        "nbconvert",
        "--to",
        "notebook",
        "--execute",
        "--output",
        "executed.ipynb",
        str(path),
    ]
    pairs = []
    for _ in range(rounds):
        usual = taken(lambda: subprocess.run(execute, check=True, capture_output=True))
        pairs.append(
            (usual, taken(lambda: sandbox.collect(path, "ADA", ROOT / "exercises" / NOTEBOOK)))
        )
    return tuple(statistics.median(column) for column in zip(*pairs))


def a_class(count, top):
    """(seconds, seconds with nothing left to do) to grade `count` students on all processors."""
    people = tuple(Person(f"s{number:04d}") for number in range(count))
    for person in people:
        path = top / "sent" / folder(person.id) / NOTEBOOK
        path.parent.mkdir(parents=True)
        path.write_text(release.personal(WORKED, person.id), encoding="utf-8")
    batches = []
    first, again = (
        taken(lambda: batches.append(batch.grade(top / "sent", people, top / "out", root=ROOT)))
        for _ in range(2)
    )
    points = {graded.points for graded in batches[0].results.values()}
    assert points == {float(max(points))} and batches[0].graded == batches[1].kept == count, (
        "a worked notebook lost points"
    )
    return first, again


if __name__ == "__main__":
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    with tempfile.TemporaryDirectory() as there:
        usual, ours = against_nbconvert(there)
    print(
        f"one submission: nbconvert --execute {usual:.1f} s, sandbox {ours:.1f} s:"
        f" {ours / usual:.2f} times",
        flush=True,
    )
    each = {}
    for count in (max(largest // 10, 1), largest):
        with tempfile.TemporaryDirectory() as there:
            seconds, again = a_class(count, Path(there))
        each[count] = seconds / count
        print(
            f"{count} submissions on {os.cpu_count()} processors: {seconds:.0f} s,"
            f" {each[count]:.2f} s each; again, with nothing to do: {again:.1f} s",
            flush=True,
        )
    small, large = each.values()
    print(
        f"each of {largest} costs {large / small:.2f} times each of {max(largest // 10, 1)}, and"
        f" {large / usual:.2f} times nbconvert one by one"
    )
