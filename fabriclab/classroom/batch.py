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
import time
from dataclasses import dataclass
from pathlib import Path

from fabriclab.classroom import (
    classreport,
    feedback,
    gradebook,
    inbox,
    pool,
    results,
    sandbox,
    submission,
)
from fabriclab.classroom.worker import sources, work
from fabriclab.progress import Bar


@dataclass(frozen=True)
class Batch:
    """What one run of `grade` did: `graded` anew and `kept` of {(student, notebook): Graded},
    `strange` lines, and `seconds`.
    """

    results: dict
    graded: int
    kept: int
    strange: tuple[str, ...]
    seconds: float


def grade(submissions, roster, out, root=".", workers=None, scheduler=None, unsafe=False):
    """Grade what lies in `submissions` for the `Person`s of `roster`, against the exercises/ at
    `root`; returns a `Batch`.

    Writes into `out`: grades.csv, canvas.csv, feedback/, for-marking.html, report.html, and
    results/ to go on from. Work goes to `workers` processes (as many as there are processors), or
    to the dask scheduler at the address `scheduler`. `unsafe` runs students' code without a sandbox
    where there is none.

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
    sent, strange = inbox.look(submissions, roster, assignments)
    if workers is not None and workers < 1:
        raise ValueError(f"workers must be one or more, not {workers}")
    if not scheduler:
        sandbox.ready(unsafe)
    with alone(out):
        done, to_do = {}, []
        for one in sent:
            kept = _kept(out, one, assignments[one.notebook], Path(root), unsafe)
            if kept:
                done[one.student, one.notebook] = kept
            else:
                to_do.append(one)
        graded = _run(
            out, to_do, assignments, Path(root), workers or os.cpu_count() or 1, scheduler, unsafe
        )
        everything = {**done, **graded}
        notebooks = [
            name for name in assignments if any(name == sent_one.notebook for sent_one in sent)
        ] or list(assignments)
        asked = {name: assignments[name] for name in notebooks}
        gradebook.write(out, roster, asked, everything)
        feedback.write(out, roster, asked, everything)
        classreport.write(out, roster, asked, everything, strange)
    return Batch(everything, len(graded), len(done), strange, time.monotonic() - begun)


def summary(batch, roster):
    """What there is to say at the end, in a few lines."""
    sent = {student for student, _ in batch.results}
    refused = sum(bool(result.refused) for result in batch.results.values())
    lines = [
        f"{len(sent)} of {len(roster)} students sent {len(batch.results)}"
        f" notebook{'s' if len(batch.results) != 1 else ''}: {batch.graded} graded in"
        f" {batch.seconds:.0f} s, {batch.kept} kept from before."
    ]
    if refused:
        lines.append(f"{refused} refused; report.html says why.")
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
            f"{out}: no folder to write into ({(error.strerror or str(error)).lower()}); name"
            " another with --out"
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ValueError(f"{out}: another batch is writing there") from error
        for half in out.rglob("*.part"):
            half.unlink()
        yield


def key(student, content, assignment, unsafe):
    """The hash of all that a result follows from: what is equal in all of it need not be graded
    again.
    """
    parts = (
        student.encode(),
        content,
        assignment,
        sources().encode(),
        b"unsafe" if unsafe else b"",
    )
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def _read(one, root, unsafe):
    """(what was sent, the released notebook, their key)."""
    content, assignment = inbox.read(one.path), (root / "exercises" / one.notebook).read_bytes()
    return content, assignment, key(one.student, content, assignment, unsafe)


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
    )
