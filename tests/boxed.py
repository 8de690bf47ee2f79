"""Run inside a box by test_classroom_box: try what no box may allow, and print what came of it as
JSON. Never run it outside.
"""

import contextlib
import ctypes
import errno
import json
import mmap
import os
import resource
import signal
import socket
import stat
import subprocess
import sys

libc = ctypes.CDLL(None, use_errno=True)


def call(number, *arguments):
    """ "" where the call is done, or the name of its error."""
    done = libc.syscall(number, *[ctypes.c_long(a) if type(a) is int else a for a in arguments])
    return "" if done != -1 else errno.errorcode[ctypes.get_errno()]


def writable():
    """What under /proc and /sys says it can be written, and can: but for a process's own files."""
    found = []
    for top in ("/proc", "/sys"):
        for where, folders, names in os.walk(top):
            if where == "/proc":  # what is left is the kernel's
                own = ("self", "thread-self")
                folders[:] = [name for name in folders if name not in own and not name.isdigit()]
            for name in names:
                path = os.path.join(where, name)
                try:
                    regular = stat.S_ISREG(os.lstat(path).st_mode)
                    if regular and os.access(path, os.W_OK):
                        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
                        found.append(path)
                except OSError:
                    pass
    return found


def core():
    """What a student may do so that a crash leaves a core, or starts what core_pattern names."""
    found = []
    for path in ("/proc/sys/kernel/core_pattern", "/proc/self/root/proc/sys/kernel/core_pattern"):
        try:
            with open(path, "w") as file:
                file.write("|/tmp/x")
            found.append(path)
        except OSError:
            pass
    for limits in ((0, 0), (0, 1), (1, 0)):
        try:
            resource.setrlimit(resource.RLIMIT_CORE, limits)
            found.append(f"a limit of {limits}")
        except (OSError, ValueError):
            pass
    child = os.fork()
    if child == 0:
        os.abort()
    _, status = os.waitpid(child, 0)
    return (
        found
        + ["a core"] * os.WCOREDUMP(status)
        + [name for name in os.listdir(".") if name != ".cache"]
    )


def foreign():
    """How a process ends that calls as a 32-bit one does: fork, by int 0x80."""
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, 20 (getpid); int 0x80; ret
    at = ctypes.addressof(ctypes.c_char.from_buffer(code))
    child = os.fork()
    if child == 0:
        ctypes.CFUNCTYPE(ctypes.c_int)(at)()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else "lived"


def sockets():
    found = []
    for family in range(50):
        try:
            socket.socket(family, socket.SOCK_DGRAM).close()
            found.append(family)
        except OSError:
            pass
    return found


def namespaces(clone):
    """Each kind of namespace that a clone could make; and whether a plain fork still works."""
    kinds = (0x10000000, 0x20000, 0x20000000, 0x40000000, 0x8000000, 0x4000000, 0x2000000)
    said = {call(clone, kind | signal.SIGCHLD, 0, 0, 0, 0) for kind in kinds}
    return sorted(said), subprocess.run(["true"]).returncode


def main():
    given = json.loads(sys.argv[1])
    found = {"calls": {name: call(number, 0, 0, 0, 0) for name, number in given["calls"].items()}}
    found["newer"] = call(given["last"] + 1, 0, 0, 0)
    found["clone3"] = call(435, 0, 0)
    found["namespaces"] = namespaces(given["clone"])
    if given["x86"]:
        found["x32"], found["foreign"] = call(0x40000000 + 39), foreign()
    found["writable"], found["core"], found["sockets"] = writable(), core(), sockets()
    found["limit"] = resource.getrlimit(resource.RLIMIT_CORE)
    with contextlib.suppress(OSError), open("/proc/keys") as file:
        found["keys"] = file.read()
    found["ids"] = [os.getresuid(), os.getresgid(), os.getgroups()]
    with open("/proc/self/status") as file:
        told = dict(line.split(":\t", 1) for line in file.read().splitlines() if ":\t" in line)
    found["rights"] = [told[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")]
    found["privileges"] = told["NoNewPrivs"], told["Seccomp"]
    found["environment"] = sorted(set(os.environ) - {"PWD"})
    print(json.dumps(found))


main()
