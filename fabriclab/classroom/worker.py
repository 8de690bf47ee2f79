"""What a worker does with one notebook.

A worker imports this and no pictures: it starts in a second.
"""

import functools
import hashlib
import tempfile
from pathlib import Path

import fabriclab
from fabriclab.classroom import results
from fabriclab.classroom.pool import Stop
from fabriclab.course.engine.exercises import own


@functools.cache
def sources():
    """One hash of the package's files and the instructor's own: a mended model or exercise must not
    leave verdicts of the old one behind.
    """
    top = Path(fabriclab.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(top.rglob("*.py")):
        digest.update(f"{path.relative_to(top).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    for name, path in own.files().items():
        digest.update(f"own/{name}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


def work(
    collect, student, notebook, name, ids, content, assignment, key, unsafe, expected, numbers=""
):
    """Collect one notebook's answers in the sandbox and judge them here, in a process that ran
    nothing of the student's.

    `collect` is `sandbox.collect`; `content` and `assignment` are the bytes of what was sent and of
    the released notebook.
    `numbers` is the id whose numbers count, if it is not the student's.
    Raises `pool.Stop` where no notebook could be graded: without a sandbox, or if this fabriclab is
    not the `expected` one.
    """
    if expected and sources() != expected:
        raise Stop("a worker runs a different fabriclab: install the same release on all machines")
    with tempfile.TemporaryDirectory(prefix="fabriclab-grading-") as folder:
        paths = [Path(folder, part, notebook) for part in ("sent", "released")]
        for path, written in zip(paths, (content, assignment), strict=True):
            path.parent.mkdir()
            path.write_bytes(written)
        try:
            collected = collect(paths[0], numbers or student, paths[1], unsafe=unsafe)
        except RuntimeError:
            # nobody's fault who sent something: a busy machine gets a second chance, and then the
            # next one would fare no better
            try:
                collected = collect(paths[0], numbers or student, paths[1], unsafe=unsafe)
            except RuntimeError as error:
                raise Stop(f"the sandbox did not work: {error}") from error
    return results.judge(student, notebook, name, key, ids, collected, numbers)
