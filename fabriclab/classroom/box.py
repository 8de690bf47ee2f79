"""A box for somebody else's code: bubblewrap with nothing shared, limits on all that can run out,
and one pipe out of it.

In the box are the system's and Python's own files, this package without the exercises' keys and
without this room, and an empty folder to write in. Nothing else: no other file of this machine, no
network, no other process.
"""

import ast
import contextlib
import functools
import glob
import importlib
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

import fabriclab
from fabriclab.course.engine import exercises

HERE, PACKAGE = Path(__file__).parent, Path(fabriclab.__file__).parent
KIT, HOME = "/kit", "/home/student"
DISK = 64 * 2**20  # bytes a student's code may keep in files; they count as memory too
_SYSTEM = (
    "/usr/bin",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/share/zoneinfo",
    "/usr/share/fonts",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/fonts",
)
_UNBOXED = (
    "without bubblewrap (Linux only) students' code can read the keys and this machine's files: "
    "grade on a machine that has it, or say plainly that you want to run unsafely"
)
_PYTHON = ("bin", "lib", "lib64", "pyvenv.cfg")


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
    with tempfile.TemporaryDirectory() as folder:
        try:
            command = [*_bwrap(Path(folder)), sys.executable, "-I", "-c", "print('in')"]
            tried = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=60,
                env={},
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired as error:
            raise RuntimeError(
                "bubblewrap did not start Python within 60 s; is this machine too busy?"
            ) from error
    if tried.stdout != "in\n":
        why = " ".join(tried.stderr.split())[:300] or f"it ended with status {tried.returncode}"
        raise RuntimeError(f"bubblewrap cannot run this Python in a box here ({why}); {_UNBOXED}")


class Box:
    """One process in a box, given a `job` (see `inside`); its messages are read with `message`.

    On leaving it ends, and all that it started; with `unsafe`, what has made itself a session of
    its own lives on.
    """

    def __init__(self, job, limits, unsafe=False):
        self._limits, self._buffer, self._came = limits, b"", 0
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
            kit = _farm(folder / "kit") if unsafe else KIT
            room = {
                "RLIMIT_AS": limits.memory,
                "RLIMIT_CPU": int(limits.wall) + 1,
                "RLIMIT_FSIZE": DISK,
                "RLIMIT_NOFILE": 256,
            }
            room["RLIMIT_CORE"] = 0
            if not unsafe:  # outside a box it would count all of this user's processes
                room["RLIMIT_NPROC"] = limits.processes
            here = {
                "word": self._word,
                "limits": room,
                "boxed": not unsafe,
                "package": str(kit),
                "path": _packages(),
            }
            given.write(pickle.dumps(job | here))
            given.seek(0)
            if unsafe:
                command, where = [], folder / "home"
                where.mkdir()
            elif not shutil.which("bwrap"):
                ready()
            else:
                command, where = _bwrap(folder), None
                groups = stack.enter_context(_groups(limits))
                if groups:
                    join = " && ".join(f"echo $$ > {group}/cgroup.procs" for group in groups)
                    command = ["/bin/sh", "-c", f'{join}; exec "$@"', "sh", *command]
            command = [*command, sys.executable, "-I", "-B", f"{kit}/inside.py"]
            self._process = subprocess.Popen(
                command,
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                cwd=where,
                start_new_session=True,
                env=_environment(where or HOME),
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
            with selectors.DefaultSelector() as waiting:
                waiting.register(self._process.stdout, selectors.EVENT_READ)
                left = until - time.monotonic()
                if left <= 0 or not waiting.select(left):
                    raise TimeoutError
            piece = os.read(self._process.stdout.fileno(), 65536)
            if not piece:
                return None
            self._came += len(piece)
            self._buffer += piece
            if self._came > self._limits.output:
                raise Flood

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


def _environment(home):
    return {
        "PATH": f"{sys.prefix}/bin:/usr/bin:/bin",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "MPLBACKEND": "agg",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "NUMBA_NUM_THREADS": "1",
        "IPYTHONDIR": f"{home}/.ipython",
        "PYTHONHASHSEED": "0",
    }


def _bwrap(folder):
    """The bubblewrap command, up to the program; `folder` is a place for a file it needs."""
    words = [
        shutil.which("bwrap") or "bwrap",
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "ALL",
    ]
    words += ["--uid", "1000", "--gid", "1000", "--hostname", "box", *_no_more_namespaces()]
    for path in _SYSTEM:
        words += ["--ro-bind-try", path, path]
    for name in ("bin", "lib", "lib32", "lib64"):
        if os.path.islink(f"/{name}"):
            words += ["--symlink", os.readlink(f"/{name}"), f"/{name}"]
        else:
            words += ["--ro-bind-try", f"/{name}", f"/{name}"]
    words += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    for path in ("/dev/shm", "/tmp", HOME):
        words += ["--size", str(DISK), "--tmpfs", path]
    # what follows may lie under /tmp or the home, and must not be covered by them
    for top in _tops():
        for name in _PYTHON:
            words += ["--ro-bind-try", f"{top}/{name}", f"{top}/{name}"]
    for path in _packages():
        words += ["--ro-bind-try", path, path]
    for path in _copies():
        words += ["--tmpfs", path, "--remount-ro", path]
    (folder / "passwd").write_text(f"student:x:1000:1000::{HOME}:/bin/sh\n")
    words += ["--ro-bind", str(folder / "passwd"), "/etc/passwd"]
    drawing = os.environ.get("MPLCONFIGDIR") or os.path.expanduser("~/.cache/matplotlib")
    for fonts in glob.glob(f"{drawing}/fontlist-*.json"):  # looking for fonts anew takes seconds
        words += ["--ro-bind", fonts, f"{HOME}/.cache/matplotlib/{os.path.basename(fonts)}"]
    words += [
        "--ro-bind",
        str(PACKAGE),
        f"{KIT}/fabriclab",
        "--tmpfs",
        f"{KIT}/fabriclab/exercises",
        "--tmpfs",
        f"{KIT}/fabriclab/grading",
    ]
    for name, path in _shown().items():
        words += ["--ro-bind", str(path), f"{KIT}/{name}"]
    words += [
        "--remount-ro",
        f"{KIT}/fabriclab/exercises",
        "--remount-ro",
        f"{KIT}/fabriclab/grading",
        "--remount-ro",
        "/",
        "--chdir",
        HOME,
    ]
    return words


@functools.cache
def _no_more_namespaces():
    """Who may make a namespace may mount memory without bound there; bubblewrap forbids it since
    0.8.
    """
    said = subprocess.run(
        ["bwrap", "--help"], capture_output=True, text=True, stdin=subprocess.DEVNULL
    ).stdout
    return ("--unshare-user", "--disable-userns") if "--disable-userns" in said else ()


@functools.cache
def _shown():
    """{place in the kit: file}: what of `exercises` is in the box: what takes answers and what that
    imports. Never a key.
    """
    from fabriclab.course.engine.exercises import bank

    at, found = Path(exercises.__file__).parent, {}
    wanted = {
        "student",
        "core",
        *(type(exercise.kind).__module__.rpartition(".")[2] for exercise in bank.BANK.values()),
    }
    while wanted:
        name = wanted.pop()
        path = at / f"{name}.py"
        if name == "bank" or name in found:
            continue
        if hasattr(
            importlib.import_module(f"fabriclab.course.engine.exercises.{name}"), "EXERCISES"
        ):
            raise RuntimeError(
                f"{path.name} holds exercises, and what takes answers needs it: their keys would be"
                " in the box"
            )
        found[name] = path
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
                "fabriclab.course.engine.exercises"
            ):
                inner = node.module.removeprefix("fabriclab.course.engine.exercises").strip(".")
                wanted |= {inner} if inner else {alias.name for alias in node.names}
    shown = {f"fabriclab/exercises/{name}.py": path for name, path in found.items()}
    for path in found.values():
        compiled = Path(importlib.util.cache_from_source(path))
        if compiled.exists():
            shown[f"fabriclab/exercises/__pycache__/{compiled.name}"] = compiled
    shown |= {
        "fabriclab/exercises/__init__.py": at / "__init__.py",
        "fabriclab/exercises/bank.py": HERE / "standin.py",
    }
    return shown | {"inside.py": HERE / "inside.py"}


def _farm(kit):
    """The kit as a folder of links, for a run without a box."""
    inner = kit / "fabriclab"
    (inner / "exercises" / "__pycache__").mkdir(parents=True)
    for path in PACKAGE.iterdir():
        if path.name not in ("exercises", "grading", "__pycache__"):
            (inner / path.name).symlink_to(path)
    for name, path in _shown().items():
        shutil.copy2(path, kit / name)
    return kit


def _tops():
    """Where Python lives: the virtual environment's folder and the one it was made from, by every
    name they have.
    """
    tops = [
        top for given in (sys.base_prefix, sys.prefix) for top in (given, os.path.realpath(given))
    ]
    real = os.path.dirname(os.path.dirname(os.path.realpath(sys.executable)))
    return [top for top in dict.fromkeys([*tops, real]) if top not in ("/usr", "/")]


def _packages():
    """Folders of installed packages that lie elsewhere, such as a user's own."""
    inside = (*_SYSTEM, *(f"{top}/lib" for top in _tops()))
    return [
        path for path in _installed() if not path.startswith(tuple(f"{top}/" for top in inside))
    ]


def _copies():
    """Copies of this package among the installed ones, keys and all: to be hidden."""
    return [
        path for path in (f"{entry}/fabriclab" for entry in _installed()) if os.path.isdir(path)
    ]


def _installed():
    return [
        path
        for path in dict.fromkeys(sys.path)
        if path.endswith(("site-packages", "dist-packages")) and os.path.isdir(path)
    ]


@contextlib.contextmanager
def _groups(limits):
    """Control groups for one box, where this user may make them: they alone bound the sum over all
    its processes.
    """
    made = []
    try:
        for place, settings in _places(limits):
            for left in place.glob("fabriclab-*-*"):  # by a batch that was killed
                if not os.path.exists(f"/proc/{left.name.split('-')[1]}"):
                    with contextlib.suppress(OSError):
                        left.rmdir()
            group = place / f"fabriclab-{os.getpid()}-{secrets.token_hex(4)}"
            with contextlib.suppress(OSError):
                group.mkdir()
                made.append(group)
                for name, value in settings.items():
                    (group / name).write_text(str(value))
        yield [group for group in made if os.access(group / "cgroup.procs", os.W_OK)]
    finally:
        for group in made:
            for _ in range(100):
                try:
                    group.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.02)


def _places(limits):
    """(folder, {setting: value}) for each kind of control group this process is in (see
    cgroups(7)); none on other systems.
    """
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, kinds, path = line.split(":", 2)
            if kinds == "pids":
                yield Path(f"/sys/fs/cgroup/pids{path}"), {"pids.max": limits.processes}
            elif kinds == "memory":
                yield Path(f"/sys/fs/cgroup/memory{path}"), {"memory.limit_in_bytes": limits.memory}
            elif not kinds:
                place = Path(f"/sys/fs/cgroup{path}")
                held = (place / "cgroup.subtree_control").read_text().split()
                settings = {"pids.max": limits.processes} if "pids" in held else {}
                settings |= {"memory.max": limits.memory} if "memory" in held else {}
                if settings:
                    yield place, settings
