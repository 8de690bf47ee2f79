"""A box for somebody else's code: bubblewrap with nothing shared, a filter of system calls, limits
on all that can run out, and one pipe out of it.

What is in it says `mounts`; what it may call, `seccomp`; what bounds it as a whole, `bounds`.
"""

import contextlib
import json
import os
import pickle
import secrets
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from fabriclab.classroom import bounds, mounts, seccomp
from fabriclab.classroom.mounts import DISK, KIT

LOOK = 0.1  # seconds between two looks at a box's memory
_UNBOXED = (
    "without bubblewrap (Linux only) students' code can read the keys and this machine's files: "
    "grade on a machine that has it, or say plainly that you want to run unsafely"
)
_ROOT = (
    "; as you are root, students' code runs as a user who owns nothing, and who must be able to"
    " read Python and this package: grade as an ordinary user, or let all read them (chmod -R a+rX)"
)
_READS = f"open('{KIT}/inside.py'); open('{KIT}/fabriclab/__init__.py'); import numpy; print('in')"


@dataclass(frozen=True)
class Limits:
    """What one submission may use: `seconds` a cell, `wall` seconds in all, `memory` and `output`
    in bytes, `processes`.
    """

    seconds: float = 20.0
    wall: float = 120.0
    memory: int = 2 * 2**30
    output: int = 2**20
    processes: int = 64


class Flood(Exception):
    """More came out of the box than `Limits.output`."""


def ready(unsafe=False):
    """Raises RuntimeError, saying why and what to do, unless code can be boxed here (or is to run
    `unsafe`).
    """
    if unsafe:
        return
    if not shutil.which("bwrap"):
        raise RuntimeError(
            f"bubblewrap is not installed (Debian, Ubuntu: apt-get install bubblewrap); {_UNBOXED}"
        )
    with tempfile.TemporaryDirectory() as folder, _calls() as calls:
        try:
            command = mounts.command(
                Path(folder), calls.fileno(), [sys.executable, "-I", "-c", _READS]
            )
            tried = subprocess.run(
                _outside((), command),
                capture_output=True,
                text=True,
                timeout=60,
                env={},
                stdin=subprocess.DEVNULL,
                pass_fds=[calls.fileno()],
            )
        except subprocess.TimeoutExpired as error:
            raise RuntimeError(
                "bubblewrap did not start Python within 60 s; is this machine too busy?"
            ) from error
    if tried.stdout != "in\n":
        why = " ".join(tried.stderr.split())[-300:] or f"it ended with status {tried.returncode}"
        cure = _ROOT if mounts.root() else ""
        raise RuntimeError(
            f"bubblewrap cannot run this Python in a box here ({why}{cure}); {_UNBOXED}"
        )


def _calls():
    """The filter of system calls, as an open file that bubblewrap reads."""
    file = tempfile.TemporaryFile()  # noqa: SIM115  the caller's to close
    file.write(seccomp.program())
    file.seek(0)
    return file


def _outside(groups, command):
    """The command as it is started: by way of `door`, into control groups if there are any."""
    door = [sys.executable, "-I", "-S", str(Path(__file__).with_name("door.py"))]
    return [*door, *(f"{group}/cgroup.procs" for group in groups), "--", *command]


class Box:
    """One process in a box, given a `job` (see `inside`); its messages are read with `message`.

    On leaving it ends, and all that it started; with `unsafe`, what has made itself a session of
    its own lives on.
    """

    def __init__(self, job, limits, unsafe=False):
        self._limits, self._buffer, self._came, self._looked = limits, b"", 0, 0.0
        self._word = secrets.token_hex(16)
        self._left = contextlib.ExitStack()
        with contextlib.ExitStack() as stack:
            folder = Path(
                stack.enter_context(
                    tempfile.TemporaryDirectory(prefix="fabriclab-box-", ignore_cleanup_errors=True)
                )
            )
            self._errors = stack.enter_context(tempfile.TemporaryFile())
            given = stack.enter_context(tempfile.TemporaryFile())
            kit = mounts.farm(folder / "kit") if unsafe else KIT
            room = {
                "RLIMIT_AS": limits.memory,
                "RLIMIT_CPU": int(limits.wall) + 1,
                "RLIMIT_FSIZE": DISK,
                "RLIMIT_NOFILE": 256,
            }
            if unsafe:
                room["RLIMIT_CORE"] = 0
            else:  # outside a box it would count all of this user's processes
                room["RLIMIT_NPROC"] = limits.processes
            here = {
                "word": self._word,
                "limits": room,
                "boxed": not unsafe,
                "package": str(kit),
                "path": mounts.packages(),
            }
            given.write(pickle.dumps(job | here))
            given.seek(0)
            self._watched = False
            command, where, kept = [sys.executable, "-I", "-B", f"{kit}/inside.py"], None, []
            if unsafe:
                where = folder / "home"
                where.mkdir()
            elif not shutil.which("bwrap"):
                ready()
            else:
                calls = stack.enter_context(_calls())
                kept = [calls.fileno()]
                command = mounts.command(folder, calls.fileno(), command)
                groups = stack.enter_context(bounds.groups(limits))
                if not any(bounds.holds(group, limits) for group in groups):
                    scope = bounds.scope(limits)
                    command, self._watched = [*scope, *command], not scope
                command = _outside(groups, command)
            self._process = subprocess.Popen(
                command,
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                cwd=where,
                start_new_session=True,
                env=bounds.session() if kept else mounts.environment(where),
                pass_fds=kept,
            )
            stack.callback(self._end)
            self._left = stack.pop_all()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._left.close()

    def _end(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process.stdout.close()

    def message(self, until):
        """The next message, or None once there are no more.

        Raises TimeoutError at the monotonic time `until`, and `Flood`.
        """
        while True:
            line, newline, rest = self._buffer.partition(b"\n")
            if newline:
                self._buffer = rest
                found = _read(line, self._word.encode())
                if found:
                    return found
                continue
            self._wait(until)
            piece = os.read(self._process.stdout.fileno(), 65536)
            if not piece:
                return None
            self._came += len(piece)
            self._buffer += piece
            if self._came > self._limits.output:
                raise Flood

    def _wait(self, until):
        """Wait for something on the pipe. Where no group bounds the box's memory, look at it now
        and then, and end the box that has taken too much. Raises TimeoutError.
        """
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._process.stdout, selectors.EVENT_READ)
            while (left := until - time.monotonic()) > 0:
                ready = waiting.select(min(left, LOOK) if self._watched else left)
                if self._watched and time.monotonic() >= self._looked + LOOK:
                    self._looked = time.monotonic()
                    most = self._limits.memory
                    if bounds.used(self._process.pid, most) > most:
                        os.killpg(self._process.pid, signal.SIGKILL)
                if ready:
                    return
        raise TimeoutError

    def complaint(self):
        """What bubblewrap, or Python before it ran anything, wrote to stderr."""
        self._errors.seek(0)
        return " ".join(self._errors.read(2_000).decode("utf-8", "replace").split())


def _read(line, word):
    """A message from a line of the pipe, or None for anything else that was written there."""
    if not line.startswith(word + b"{"):
        return None
    try:
        found = json.loads(line[len(word) :])
    except (ValueError, RecursionError, MemoryError):
        return None
    return found if type(found) is dict else None
