"""What a box may not do, tried in one: as whoever runs the tests, and as an ordinary user where
root does.
"""

import ctypes
import functools
import json
import os
import platform
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from fabriclab.classroom import bounds, box, checkup, mounts, sandbox, seccomp

HERE = Path(__file__).parent
MACHINE = platform.machine()
COLUMN = seccomp.MACHINES.get(MACHINE, (0,))[0]
boxed = pytest.mark.skipif(
    not shutil.which("bwrap") and "CI" not in os.environ, reason="bubblewrap is not installed here"
)


def run(program):
    """The output of a Python program, given as text with its argument, run in a box."""
    with tempfile.TemporaryDirectory() as folder, box._calls() as calls:
        words = [sys.executable, "-I", "-c", *program]
        done = subprocess.run(
            box._outside((), mounts.command(Path(folder), calls.fileno(), words)),
            capture_output=True,
            text=True,
            pass_fds=[calls.fileno()],
            env={"SECRET": "of the grader's"},
            timeout=300,
        )
    assert done.returncode == 0, done.stderr
    return done.stdout


@functools.cache
def tried():
    """What `boxed.py` found in a box."""
    calls = {name: at[COLUMN] for name, at in seccomp.REFUSED.items() if at[COLUMN] is not None}
    given = {"calls": calls, "last": seccomp.LAST, "clone": seccomp.CLONE[COLUMN]}
    given["x86"] = MACHINE == "x86_64"
    return json.loads(run([(HERE / "boxed.py").read_text(encoding="utf-8"), json.dumps(given)]))


@boxed
def test_no_file_of_the_kernel_can_be_written():
    """One setting, such as core_pattern, makes a student root on the grader's machine."""
    assert tried()["writable"] == []


@boxed
def test_a_crash_leaves_no_core_and_starts_nothing():
    """A core fills the disk; a program named by core_pattern runs as root, fed by the student."""
    assert tried()["core"] == [] and tried()["limit"] in ([1, 1], [0, 0])


@boxed
def test_calls_of_every_family_are_refused():
    """The grader's keys, other processes or memory without bound would be within reach."""
    allowed = {name: said for name, said in tried()["calls"].items() if said != "EPERM"}
    assert allowed == {} and len(tried()["calls"]) > 50
    assert tried()["newer"] == tried()["clone3"] == "ENOSYS"
    assert tried()["namespaces"] == [["EPERM"], 0]
    # two families that the kernel here has, and local ones
    assert set(tried()["sockets"]) <= {1, 2, 10} and 1 in tried()["sockets"]


@boxed
@pytest.mark.skipif(MACHINE != "x86_64", reason="only x86 has more than one way to call")
def test_calls_of_another_architecture_are_refused():
    """The same number is another call there: 32-bit programs would walk round the filter."""
    assert (tried()["x32"], tried()["foreign"]) == ("ENOSYS", "SIGSYS")


@boxed
def test_the_box_has_no_rights():
    """Root's box would hold root's files open, and root's groups."""
    users, groups, others = tried()["ids"]
    assert users == [users[0]] * 3 and groups == [users[0]] * 3 and users[0] >= 1000
    assert not mounts.root() or (users[0] > 2**31 - 2**26 and others == [])
    assert {int(held, 16) for held in tried()["rights"]} == {0}
    assert tried()["privileges"] == ["1", "2"]
    assert tried()["environment"] == sorted(mounts.environment("")) and "keys" not in tried()


@boxed
def test_each_of_roots_boxes_has_a_user_of_its_own():
    """A fork bomb in one box would use up the processes of all the others."""
    if not mounts.root():
        pytest.skip("only root's boxes need one; a namespace counts for itself")
    ids = {run(["import os; print(os.getuid())"]) for _ in range(3)}
    assert len(ids) == 3


def keyring(program):
    """What a program prints that has a session keyring with a key in it, in place of a grader."""
    lines = (
        "import ctypes, sys",
        "libc = ctypes.CDLL(None, use_errno=True)",
        f"add, keyctl = {(248, 250) if COLUMN == 0 else (217, 219)}",
        "if libc.syscall(keyctl, 1, None) == -1: sys.exit(77)",
        "libc.syscall(add, b'user', b'ticket', b'S3CR3T', 6, -3)",
        f"sys.path[:0] = [{str(HERE)!r}, {str(HERE.parent)!r}]",
        program,
    )
    return subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True)


@boxed
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="keyrings are Linux's")
def test_the_graders_keyring_stays_outside():
    """A ticket for a file server would come out on a student's page; and one student could leave a
    message for the next.
    """
    add, keyctl = (248, 250) if COLUMN == 0 else (217, 219)
    search = (
        "libc.syscall.restype = ctypes.c_long; print(libc.syscall(keyctl, 10, -3, b'user',"
        " b'ticket', 0) > 0, libc.syscall(keyctl, 10, -3, b'user', b'left', 0) > 0)"
    )
    inside = (
        f"import ctypes; libc = ctypes.CDLL(None); add, keyctl = {add}, {keyctl}; libc.syscall(add,"
        f" b'user', b'left', b'x', 1, -3); {search}"
    )
    # the second time without the filter: the keyring is another one all the same
    tries = f"""
import struct, test_classroom_box as t
print(t.run([{inside!r}]), end='')
{search}
t.seccomp.program = lambda: struct.pack('=HBBI', 6, 0, 0, 0x7FFF0000)
print(t.run([{inside!r}]), end='')
{search}
"""
    both = keyring(tries)
    if both.returncode == 77:
        pytest.skip("no keyrings here")
    seen = [line.split() for line in both.stdout.splitlines()]
    no, kept = ["False", "False"], ["True", "False"]
    assert seen == [no, kept, ["False", "True"], kept], both.stderr


@boxed
def test_an_ordinary_users_box_is_no_looser():
    """What root's box refuses must not rest on root."""
    if not mounts.root():
        pytest.skip("the tests above were run as an ordinary user")
    user, group = 65534, 65534
    seen = subprocess.run(
        ["/bin/sh", "-c", f"exec {sys.executable} -c 0"], user=user, group=group, extra_groups=[]
    )
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "not ordinary"]
    if seen.returncode:
        pytest.skip("no other user can read this Python, so none can try it")
    done = subprocess.run(
        [*words, str(Path(__file__))],
        user=user,
        group=group,
        extra_groups=[],
        capture_output=True,
        text=True,
        env=os.environ | {"HOME": "/", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stdout


def numbers(machine):
    """{name: number} of the system calls by this machine's own headers, or {}."""
    place = {
        "x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
        "aarch64": "/usr/include/asm-generic/unistd.h",
    }[machine]
    found = {}
    if os.path.exists(place):
        for line in Path(place).read_text().splitlines():
            words = line.split()
            if len(words) > 2 and words[0] == "#define" and words[2].isdigit():
                found[words[1].removeprefix("__NR_").removeprefix("__NR3264_")] = int(words[2])
    return found


@pytest.mark.parametrize("machine", seccomp.MACHINES)
def test_the_numbers_are_the_kernels(machine):
    """A wrong number refuses something harmless and allows what was meant."""
    known, column = numbers(machine), seccomp.MACHINES[machine][0]
    if not known:
        pytest.skip("the kernel's headers are not installed")
    table = seccomp.REFUSED | {
        "clone": seccomp.CLONE,
        "clone3": seccomp.CLONE3,
        "socket": seccomp.SOCKET,
        "setrlimit": seccomp.SETRLIMIT,
        "prlimit64": seccomp.PRLIMIT,
    }
    ours = {name: at[column] for name, at in table.items() if at[column] is not None}
    assert ours == {name: known[name] for name in ours if name in known} and len(ours) > 60
    assert not {name for name, at in table.items() if at[column] is None} & known.keys()


def outcome(program, machine, number, arguments=(), architecture=None):
    """The filter's answer to one call, by an interpreter of the few instructions it has."""
    arguments = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack(
        "=iIQ6Q", number, architecture or seccomp.MACHINES[machine][1], 0, *arguments
    )
    steps, at, held = list(struct.iter_unpack("=HBBI", program)), 0, 0
    while True:
        code, yes, no, value = steps[at]
        at += 1
        if code == 0x20:
            (held,) = struct.unpack_from("=I", data, value)
        elif code == 0x06:
            return value
        else:
            true = {0x15: held == value, 0x25: held > value, 0x45: bool(held & value)}[code]
            at += yes if true else no


@pytest.mark.parametrize("machine", seccomp.MACHINES)
def test_the_filter_by_the_kernels_rules(machine):
    """On the machine that is not at hand the table could allow what it names."""
    filtered, at = seccomp.program(machine), seccomp.MACHINES[machine][0]
    allow, kill, eperm = 0x7FFF0000, 0x80000000, 0x50001
    for name, place in seccomp.REFUSED.items():
        if place[at] is not None:
            assert outcome(filtered, machine, place[at]) == eperm, name
    assert outcome(filtered, machine, 0, architecture=0x40000003) == kill
    fork = 0x11 | 0x1200000
    assert outcome(filtered, machine, seccomp.CLONE[at], [fork]) == allow
    assert outcome(filtered, machine, seccomp.CLONE[at], [0x10000000 | fork]) == eperm
    families = {
        family
        for family in range(64)
        if outcome(filtered, machine, seccomp.SOCKET[at], [family]) == allow
    }
    assert families == {1, 2, 10}
    for limit in range(16):
        wanted = eperm if limit == 4 else allow
        assert outcome(filtered, machine, seccomp.SETRLIMIT[at], [limit, 1]) == wanted
        for address in (0x7F0000000000, 0x1000):
            new = [0, limit, address, 0]
            assert outcome(filtered, machine, seccomp.PRLIMIT[at], new) == wanted
        assert outcome(filtered, machine, seccomp.PRLIMIT[at], [0, limit, 0, 1]) == allow


def test_a_machine_without_a_table_is_refused():
    """With no filter at all a box would look like one."""
    with pytest.raises(RuntimeError, match="no filter of system calls for riscv64"):
        seccomp.program("riscv64")


@pytest.mark.parametrize("works", [True, False])
def test_systemd_bounds_memory_where_no_group_can_be_made(tmp_path, monkeypatch, works):
    """A login of an ordinary user has no group to write in: a notebook would take all memory."""
    said = "for word; do shift; [ $word = -- ] && break; done; "
    said += 'case $2 in -c) echo 1073741824;; *) exec "$@";; esac' if works else "echo max"
    fake = tmp_path / "systemd-run"
    fake.write_text(f"#!/bin/sh\n{said}\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(bounds, "_places", lambda limits: [])
    bounds._scope.cache_clear()
    limits = sandbox.Limits(memory=2**30)
    words = bounds.scope(limits)
    assert bounds.bound(limits) == ("scope" if works else "")
    assert (words[-2:] == ["TasksMax=64", "--"] and "MemoryMax=1073741824" in words) == works
    bounds._scope.cache_clear()


@boxed
def test_memory_is_bounded_as_it_is_said(monkeypatch):
    """`doctor` would promise a bound that is none: memory of several processes together."""
    limits = sandbox.Limits(memory=2**28)
    with bounds.groups(limits) as made:
        if not any(bounds.holds(group, limits) for group in made):
            pytest.skip("no control group can be made here")
        eats = "x = bytearray(2**27)\nimport os\nfor _ in range(3): os.fork()\nx[:] = b'1' * 2**27"
        words = [sys.executable, "-I", "-c", eats]
        with tempfile.TemporaryDirectory() as folder, box._calls() as calls:
            command = mounts.command(Path(folder), calls.fileno(), words)
            done = subprocess.run(
                box._outside(made, command), pass_fds=[calls.fileno()], stderr=subprocess.DEVNULL
            )
    assert done.returncode != 0


@boxed
def test_memory_is_watched_where_no_group_bounds_it(monkeypatch):
    """Sixty-four processes of two gigabytes each, every one within its limit, stop the machine."""
    monkeypatch.setattr(bounds, "_places", lambda limits: [])
    monkeypatch.setattr(bounds, "scope", lambda limits: [])
    eats = (
        "import os, time\nfor _ in range(4): os.fork()\nx = bytearray(2**25)\n"
        "for at in range(0, 2**25, 4096): x[at] = 1\ntime.sleep(60)"
    )
    most, looked = [], bounds.used

    def looking(pid, limit):
        most.append(looked(pid, limit))
        return most[-1]

    monkeypatch.setattr(bounds, "used", looking)
    job = {"owner": "ada", "sheet": {}, "setup": [], "seconds": 60.0, "cells": [(1, eats)]}
    limits = sandbox.Limits(wall=60.0, memory=2**29)  # and each process may have as much
    begun = time.monotonic()
    with box.Box(job, limits) as one:
        said = []
        while message := one.message(time.monotonic() + 30):
            said.append(message)
    assert said[-1] == {"begin": 1} and time.monotonic() - begun < 30
    assert 2**29 < max(most) < 2**30


def test_doctor_says_which_of_the_two_holds(monkeypatch):
    """An instructor would trust a bound that this machine does not have."""
    for bound, good in (("group", True), ("scope", True), ("", False)):
        monkeypatch.setattr(bounds, "bound", lambda limits, bound=bound: bound)
        monkeypatch.setattr(box, "ready", lambda: None)
        monkeypatch.setattr(shutil, "which", lambda name: name)
        ((said, words, mend),) = checkup.examine()
        assert said == good == ("bounded as a whole" in words) and bool(mend) != good
        assert ("each box gets a user of its own" in words) == mounts.root()
    monkeypatch.setattr(box, "ready", lambda: (_ for _ in ()).throw(RuntimeError("no luck")))
    assert "no luck" in checkup.examine()[0][1]
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert checkup.examine() == []
    told = " ".join((HERE.parent / "INSTRUCTOR.md").read_text(encoding="utf-8").split())
    assert "`fabriclab doctor` says whether this machine does" in told and "2 GiB" in told


def test_whoever_reads_this_runs_no_attack():
    """The attacks must not be imported by collecting tests."""
    assert "boxed" not in sys.modules and ctypes.sizeof(ctypes.c_long) == 8
