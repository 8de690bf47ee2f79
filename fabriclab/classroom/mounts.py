"""What a box has in it: the system's and Python's own files, this package without the exercises'
keys and without this room, and an empty folder to write in. Nothing else: no other file of this
machine, no network, no other process.
"""

import ast
import functools
import glob
import importlib
import os
import secrets
import shutil
import subprocess
import sys
from pathlib import Path

import fabriclab
from fabriclab.course.engine import exercises

HERE, PACKAGE = Path(__file__).parent, Path(fabriclab.__file__).parent
KIT, HOME = "/kit", "/home/student"
_ENGINE = "fabriclab/course/engine/exercises"
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
_PYTHON = ("bin", "lib", "lib64", "pyvenv.cfg")
# each box of root's has a user of its own, from numbers that nobody is given
_USERS = (2_100_000_000, 40_000_000)
_DROP = """
import ctypes, os, sys
user, none = int(sys.argv[1]), (ctypes.c_uint32 * 6)()
os.setgroups([])
os.setresgid(user, user, user)
os.setresuid(user, user, user)
if ctypes.CDLL(None).capset((ctypes.c_uint32 * 2)(0x20080522), none):
    sys.exit("the rights of root could not be laid down")
os.execv(sys.argv[2], sys.argv[2:])
"""


def root():
    """Whether this process is root for the whole machine, and not only in a container's eyes."""
    try:
        whole = Path("/proc/self/uid_map").read_text().split() == ["0", "0", str(2**32 - 1)]
    except OSError:
        whole = True
    return os.geteuid() == 0 and whole


def command(folder, calls, program):
    """The command that runs `program`, a list of words, in a box; `folder` is a place for a file it
    needs, `calls` the descriptor of a filter of system calls (see `seccomp`).

    Where the grader is root, the files under /proc would be the box's to write, whatever bubblewrap
    calls its user. So root makes the box, and a user who owns nothing is in it.
    """
    if not root():
        words = ["--unshare-all", "--cap-drop", "ALL", "--uid", "1000", "--gid", "1000"]
        return [*_bwrap(folder, calls, 1000, [*words, *_no_more_namespaces()]), *program]
    user = _USERS[0] + secrets.randbelow(_USERS[1])
    words = [f"--unshare-{kind}" for kind in ("ipc", "pid", "net", "uts", "cgroup-try")]
    words += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    drop = [sys.executable, "-I", "-S", "-c", _DROP, str(user)]
    return [*_passable(_bwrap(folder, calls, user, words)), *drop, *program]


def _passable(words):
    """The same with the folders above what is mounted open to all: bubblewrap makes root's for root
    alone.
    """
    made = []
    for at, word in enumerate(words):
        if word.startswith("--ro-bind"):
            above = [str(path) for path in reversed(Path(words[at + 2]).parents)][1:]
            made += [given for path in above for given in ("--perms", "0755", "--dir", path)]
        made.append(word)
    return made


def _bwrap(folder, calls, user, rights):
    """The bubblewrap command, up to the program."""
    words = [shutil.which("bwrap") or "bwrap", *rights, "--die-with-parent", "--new-session"]
    words += ["--hostname", "box", "--seccomp", str(calls), "--clearenv"]
    for name, value in environment(HOME).items():
        words += ["--setenv", name, value]
    for path in _SYSTEM:
        words += ["--ro-bind-try", path, path]
    for name in ("bin", "lib", "lib32", "lib64"):
        if os.path.islink(f"/{name}"):
            words += ["--symlink", os.readlink(f"/{name}"), f"/{name}"]
        else:
            words += ["--ro-bind-try", f"/{name}", f"/{name}"]
    words += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    # the kernel's settings, which are not divided among boxes, and what it says of keys
    for path in filter(os.path.exists, ("/proc/sys", "/proc/pressure")):
        words += ["--tmpfs", path, "--remount-ro", path]
    for path in ("/proc/keys", "/proc/key-users"):
        words += ["--ro-bind", "/dev/null", path] if os.path.exists(path) else []
    for path in ("/dev/shm", "/tmp", HOME):
        words += ["--perms", "1777", "--size", str(DISK), "--tmpfs", path]
    # what follows may lie under /tmp or the home, and must not be covered by them
    for top in _tops():
        for name in _PYTHON:
            words += ["--ro-bind-try", f"{top}/{name}", f"{top}/{name}"]
    for path in packages():
        words += ["--ro-bind-try", path, path]
    for path in _copies():
        words += ["--tmpfs", path, "--remount-ro", path]
    (folder / "passwd").write_text(f"student:x:{user}:{user}::{HOME}:/bin/sh\n")
    (folder / "passwd").chmod(0o644)
    words += ["--ro-bind", str(folder / "passwd"), "/etc/passwd"]
    drawing = os.environ.get("MPLCONFIGDIR") or os.path.expanduser("~/.cache/matplotlib")
    for fonts in glob.glob(f"{drawing}/fontlist-*.json"):  # looking for fonts anew takes seconds
        words += ["--ro-bind", fonts, f"{HOME}/.cache/matplotlib/{os.path.basename(fonts)}"]
    return [*words, *_kit(folder), "--remount-ro", "/", "--chdir", HOME]


def _kit(folder):
    """This package in the box: read-only, its keys and the classroom covered."""
    words = ["--ro-bind", str(PACKAGE), f"{KIT}/fabriclab"]
    (folder / "empty").write_text("")
    (folder / "empty").chmod(0o644)
    covered = [f"{KIT}/{_ENGINE}", f"{KIT}/fabriclab/classroom"]
    for path in keys():
        place = f"{KIT}/fabriclab/{path.relative_to(PACKAGE)}"
        if path.is_dir():
            covered.append(place)
        else:
            words += ["--ro-bind", str(folder / "empty"), place]
    for place in covered:
        words += ["--tmpfs", place]
    for name, path in shown().items():
        words += ["--ro-bind", str(path), f"{KIT}/{name}"]
    for place in covered:
        words += ["--remount-ro", place]
    return words


def environment(home):
    """All that a program in a box has of an environment."""
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


@functools.cache
def _no_more_namespaces():
    """Who may make a namespace may mount memory without bound there; bubblewrap forbids it since
    0.8.
    """
    said = subprocess.run(
        ["bwrap", "--help"], capture_output=True, text=True, stdin=subprocess.DEVNULL
    ).stdout
    return ("--unshare-user", "--disable-userns") if "--disable-userns" in said else ()


def keys():
    """What holds the parts' exercises with their keys, compiled files included."""
    course = PACKAGE / "course"
    return sorted(
        path
        for path in [
            *course.glob("*/exercises*"),
            *course.glob("own"),
            *course.glob("*/__pycache__"),
        ]
        if path.parent.name != "engine"
    )


@functools.cache
def shown():
    """{place in the kit: file}: what of `exercises` is in the box: what takes answers and what that
    imports. Never a key.
    """
    from fabriclab.course.engine.exercises import bank

    at, found = Path(exercises.__file__).parent, {}
    wanted = {
        "student",
        "core",
        *(
            type(exercise.kind).__module__.rpartition(".")[2]
            for exercise in map(bank.find, bank.ids())
        ),
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
    files = {f"{_ENGINE}/{name}.py": path for name, path in found.items()}
    for path in found.values():
        compiled = Path(importlib.util.cache_from_source(path))
        if compiled.exists():
            files[f"{_ENGINE}/__pycache__/{compiled.name}"] = compiled
    files |= {
        f"{_ENGINE}/__init__.py": at / "__init__.py",
        f"{_ENGINE}/bank.py": HERE / "standin.py",
    }
    return files | {"inside.py": HERE / "inside.py"}


def farm(kit):
    """The kit as a folder of links, for a run without a box."""
    inner, engine = kit / "fabriclab", Path(exercises.__file__).parent
    hidden = {PACKAGE / "classroom", engine, *keys()}
    for path in PACKAGE.rglob("*"):
        place = inner / path.relative_to(PACKAGE)
        if path.name == "__pycache__" or any(one in hidden for one in (path, *path.parents)):
            continue
        if path.is_dir():
            place.mkdir(parents=True, exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(path)
    (kit / _ENGINE / "__pycache__").mkdir(parents=True)
    for name, path in shown().items():
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


def packages():
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
