"""What bounds a box as a whole: a control group, made here or by systemd, where this user may have
one. Limits of single processes do not add up to one.
"""

import contextlib
import functools
import os
import secrets
import shutil
import subprocess
import time
from pathlib import Path

# prints the group's own bound, if systemd has set one
_TRIED = 'cat "/sys/fs/cgroup$(sed -n s/^0:://p /proc/self/cgroup)/memory.max"'

_SESSION = ("PATH", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")


def bound(limits):
    """What holds the memory of a box on this machine: "group", "scope" (systemd's), or "" where
    each process has its limit and their sum is only watched.
    """
    with groups(limits) as made:
        if any(holds(group, limits) for group in made):
            return "group"
    return "scope" if scope(limits) else ""


def holds(group, limits):
    """Whether a control group bounds memory as it was told to."""
    for name in ("memory.limit_in_bytes", "memory.max"):
        with contextlib.suppress(OSError, ValueError):
            return int((group / name).read_text()) <= limits.memory
    return False


def scope(limits):
    """The words before a command by which systemd runs it in a control group of its own; none where
    there is no systemd of this user's that can.
    """
    return list(_scope(limits.memory, limits.processes))


def used(pid, most):
    """The bytes of memory that a process and all its children have taken, each page counted once if
    there are more than `most`: what is looked at again and again must cost little.
    """
    pids, left = [], [pid]
    while left:
        pids.append(left.pop())
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{pids[-1]}/task"):
                left += map(int, _words(f"/proc/{pids[-1]}/task/{task}/children"))
    page = os.sysconf("SC_PAGE_SIZE")
    taken = sum(page * int(_words(f"/proc/{one}/statm", "0 0")[1]) for one in pids)
    if taken <= most:
        return taken
    shares = (_words(f"/proc/{one}/smaps_rollup") for one in pids)
    return sum(1024 * int(words[words.index("Pss:") + 1]) for words in shares if "Pss:" in words)


def _words(path, otherwise=""):
    try:
        return Path(path).read_text().split()
    except OSError:  # it has just ended
        return otherwise.split()


def session():
    """What a program needs to know to find this user's systemd; nothing of it gets into a box."""
    return {name: os.environ[name] for name in _SESSION if name in os.environ}


@functools.cache
def _scope(memory, processes):
    if not shutil.which("systemd-run") or not os.environ.get("XDG_RUNTIME_DIR"):
        return ()
    words = ["systemd-run", "--user", "--scope", "--quiet", "--collect"]
    words += ["-p", f"MemoryMax={memory}", "-p", "MemorySwapMax=0", "-p", f"TasksMax={processes}"]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        said = subprocess.run(
            [*words, "--", "/bin/sh", "-c", _TRIED],
            capture_output=True,
            text=True,
            timeout=20,
            stdin=subprocess.DEVNULL,
        )
        if said.stdout.strip() == str(memory):
            return (*words, "--")
    return ()


@contextlib.contextmanager
def groups(limits):
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
                    with contextlib.suppress(OSError):
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
                if "memory" in held:
                    settings |= {"memory.max": limits.memory, "memory.swap.max": 0}
                if settings:
                    yield place, settings
