"""Grade a class: every submission once, on all processors, and after an interrupt only what is
still to do.

Each result is kept in OUT/results under the hash of all that it follows from: the student, what was
sent, the released notebook, and the sources of this package. A changed submission is graded anew,
everything else is left as it is.
"""

import contextlib
import functools
import hashlib
import os
import shutil
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

from fabriclab.classroom import (
    changes,
    classreport,
    feedback,
    gradebook,
    inbox,
    later,
    pool,
    results,
    sandbox,
    submission,
    versions,
)
from fabriclab.classroom.worker import sources, work
from fabriclab.progress import Bar
from fabriclab.units import plural


@dataclass(frozen=True)
class Batch:
    """What one run of `grade` did: `graded` anew and `kept` of {(student, notebook): Graded},
    `strange` lines, `seconds`, and lines on whose points `moved`.
    """

    results: dict
    graded: int
    kept: int
    strange: tuple[str, ...]
    seconds: float
    moved: tuple[str, ...] = ()


def grade(
    submissions,
    roster,
    out,
    root=".",
    workers=None,
    scheduler=None,
    unsafe=False,
    marks=None,
    blind=False,
    share=1.0,
):
    """Grade what lies in `submissions` for the `Person`s of `roster`, against the exercises/ at
    `root`; returns a `Batch`.

    `submissions` is a folder, or a platform's zip of them all. Writes into `out`: grades.csv,
    canvas.csv, feedback/, for-marking.html, for-marking.csv, report.html, changes.csv where points
    have moved, and results/ to go on from. `marks` is {(student, exercise): Mark}, given by hand;
    `blind` keeps names from who gives them. An answer that was right at a later try only, by the
    student's own diary, gets `share` of its point.

    Work goes to `workers` processes (as many as there are processors), or to the dask scheduler at
    the address `scheduler`. `unsafe` runs students' code without a sandbox where there is none.

    Raises ValueError for folders that are not there or an `out` where another batch runs,
    RuntimeError where there is no sandbox.
    """
    begun, out = time.monotonic(), Path(out)
    assignments = {
        path.name: tuple(submission.exercise_ids(path))
        for path in sorted((Path(root) / "exercises").glob("*.ipynb"))
    }
    if not assignments:
        raise ValueError(
            f"{Path(root) / 'exercises'}: no notebooks; grade in the folder that holds exercises/"
        )
    if not 0 <= share <= 1:
        raise ValueError(f"later must be a share from 0 to 1, such as 0.8, not {share:g}")
    if workers is not None and workers < 1:
        raise ValueError(f"workers must be one or more, not {workers}")
    if not Path(submissions).exists():
        raise ValueError(f"{submissions}: no such folder of submissions")
    if not scheduler:
        sandbox.ready(unsafe)
    with alone(out), tempfile.TemporaryDirectory(prefix=".sent-", dir=out) as room:
        sent, strange = inbox.look(submissions, roster, assignments, room, Path(root) / "exercises")
        done, to_do = {}, []
        for one in sent:
            kept = _kept(out, one, assignments[one.notebook], Path(root), unsafe)
            if kept:
                done[one.student, one.notebook] = kept
            else:
                to_do.append(one)
        old = changes.before(out, roster, assignments)
        graded = _run(
            out, to_do, assignments, Path(root), workers or os.cpu_count() or 1, scheduler, unsafe
        )
        everything = {**done, **graded}
        for one in sent:
            result = everything[one.student, one.notebook]
            if share < 1:
                result = everything[one.student, one.notebook] = later.lessened(result, one, share)
            if one.note:
                noted = replace(result, notes=(one.note, *result.notes))
                everything[one.student, one.notebook] = noted
        notebooks = [
            name for name in assignments if any(name == sent_one.notebook for sent_one in sent)
        ] or list(assignments)
        asked = {name: assignments[name] for name in notebooks}
        marks = marks or {}
        header, _, rows = gradebook.table(roster, asked, everything, marks)
        moved = changes.moved(old, roster, asked, everything, (header, rows), marks)
        changes.write(out, moved)
        gradebook.write(out, roster, asked, everything, marks)
        feedback.write(out, roster, asked, everything, marks, blind)
        told = tuple(changes.told(moved))
        classreport.write(out, roster, asked, everything, strange, told)
    seconds = time.monotonic() - begun
    return Batch(everything, len(graded), len(done), strange, seconds, told)


def summary(batch, roster):
    """What there is to say at the end, in a few lines."""
    sent = {student for student, _ in batch.results}
    refused = sum(bool(result.refused) for result in batch.results.values())
    lines = [
        f"{len(sent)} of {len(roster)} students sent"
        f" {plural(len(batch.results), 'notebook')}: {batch.graded} graded in"
        f" {batch.seconds:.0f} s, {batch.kept} kept from before."
    ]
    if refused:
        lines.append(f"{refused} refused; report.html says why.")
    if batch.moved:
        lines.append(f"Points moved since the last run ({len(batch.moved)}; see changes.csv):")
        lines += batch.moved[:10]
        lines += [f"... and {len(batch.moved) - 10} more."] if len(batch.moved) > 10 else []
    lines += batch.strange[:20]
    if len(batch.strange) > 20:
        lines.append(f"... and {len(batch.strange) - 20} more; report.html lists them.")
    return "\n".join(lines)


@contextlib.contextmanager
def alone(out):
    """Hold `out` for this batch; a killed one lets go by itself. Raises ValueError where another
    holds it, or nothing can be written.
    """
    import fcntl

    try:
        out.mkdir(parents=True, exist_ok=True)
        lock = open(out / ".lock", "w")  # noqa: SIM115  held until the batch ends
    except OSError as error:
        raise ValueError(
            f"{out}: cannot write to this folder ({(error.strerror or str(error)).lower()}); name"
            " another with --out"
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ValueError(f"{out}: another batch is writing there") from error
        for half in out.rglob("*.part"):
            half.unlink()
        for left in out.glob(".sent-*"):  # by a batch that was killed
            shutil.rmtree(left, ignore_errors=True)
        yield


def key(student, content, assignment, unsafe, numbers=""):
    """The hashes of all that a result follows from: what is equal in all of it need not be graded
    again, and what is not says why (see `changes`).
    """
    parts = (
        f"{student}\0{numbers}".encode(),
        content,
        assignment,
        sources().encode(),
        b"unsafe" if unsafe else b"",
    )
    return ":".join(hashlib.sha256(part).hexdigest()[:32] for part in parts)


def _read(one, root, unsafe):
    """(what was sent, the released notebook, their key)."""
    content, assignment = versions.read(one.path), (root / "exercises" / one.notebook).read_bytes()
    return content, assignment, key(one.student, content, assignment, unsafe, one.numbers)


def _kept(out, one, ids, root, unsafe):
    """The result kept for a submission as it is now, or one that says why it cannot be opened, or
    None.
    """
    if one.refused:
        return results.refuse(one.student, one.notebook, one.name, ids, one.refused)
    return results.load(out, one.student, one.notebook, _read(one, root, unsafe)[-1])


def _run(out, to_do, assignments, root, workers, scheduler, unsafe):
    """Grade and keep each; {(student, notebook): Graded}."""
    done, bar = {}, Bar("grading")
    jobs = [
        functools.partial(
            _job, one, assignments[one.notebook], root, unsafe, sources() if scheduler else ""
        )
        for one in to_do
    ]
    width = (
        max(workers, 1) if not scheduler else 200
    )  # a scheduler spreads them itself; this many wait there at once
    opener = (
        functools.partial(pool.cluster, scheduler)
        if scheduler
        else functools.partial(pool.processes, min(width, len(to_do)))
    )
    try:
        for job, graded, why in pool.run(opener, width, work, jobs):
            one = job.args[0]
            if graded is None:
                # not kept: the next run tries again
                graded = results.refuse(
                    one.student, one.notebook, one.name, assignments[one.notebook], why
                )
            else:
                results.save(out, graded)
            done[one.student, one.notebook] = graded
            bar.show(len(done) / len(jobs))
    finally:
        bar.close()
    return done


def _job(one, ids, root, unsafe, expected):
    """What a worker needs, read when its turn comes: the worker may have no view of this machine's
    files.
    """
    return (
        sandbox.collect,
        one.student,
        one.notebook,
        one.name,
        ids,
        *_read(one, root, unsafe),
        unsafe,
        expected,
        one.numbers,
    )
