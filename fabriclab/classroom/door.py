"""The last thing outside a box: `python door.py [FILE ...] -- COMMAND ...` leaves what the
grader holds behind, enters the control groups of those files, and becomes the command.

Run as a script by `box`, in place of a function between fork and exec, where threads may hang.
"""

import contextlib
import errno
import os
import resource
import sys

JOIN = 1  # KEYCTL_JOIN_SESSION_KEYRING
KEYCTL = {"x86_64": 250, "aarch64": 219}


def main(groups, command):
    import ctypes

    with contextlib.suppress(ValueError, OSError):
        # one byte keeps even a program that core_pattern names from starting; see core(5)
        resource.setrlimit(resource.RLIMIT_CORE, (1, 1))
    for group in groups:
        with open(group, "w") as file:
            file.write(str(os.getpid()))
    # a session keyring of its own: it would be the grader's, with tickets for file servers in it
    libc = ctypes.CDLL(None, use_errno=True)
    joined = libc.syscall(KEYCTL[os.uname().machine], JOIN, None)
    # where a container allows no keys at all, there are none to hide
    if joined == -1 and ctypes.get_errno() not in (errno.ENOSYS, errno.EPERM):
        sys.exit(f"no session keyring for the box: {os.strerror(ctypes.get_errno())}")
    os.execvp(command[0], command)


if __name__ == "__main__":
    given = sys.argv[1:]
    at = given.index("--")
    main(given[:at], given[at + 1 :])
