"""The system calls that a box may not make: a filter for seccomp(2), as the bytes bubblewrap takes.

What is refused is not needed by a notebook, and is not divided by namespaces or bounded by limits:
keys, tracing, kernel programs, new namespaces and mounts, memory that belongs to no process, the
machine's clock. The kernel's names and numbers: asm/unistd.h of Linux 6.1.
"""

import platform
import struct

# name: (number on x86_64, on aarch64); None where there is no such call
REFUSED = {
    # the keyrings of whoever runs the grader
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # other processes, process 1 among them
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    # programs, counters and queues in the kernel
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_setup": (206, 0),
    "fanotify_init": (300, 262),
    # namespaces and mounts
    "unshare": (272, 97),
    "setns": (308, 268),
    "chroot": (161, 51),
    "pivot_root": (155, 41),
    "mount": (165, 40),
    "umount2": (166, 39),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    # memory that no limit of a process counts
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "shmctl": (31, 195),
    "shmat": (30, 196),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    # the machine itself
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "acct": (163, 89),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "vhangup": (153, 58),
    "personality": (135, 92),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "uselib": (134, None),
    "_sysctl": (156, None),
    "lookup_dcookie": (212, 18),
    "nfsservctl": (180, 42),
}
# refused by what they are called with
CLONE, CLONE3, SOCKET = (56, 220), (435, 435), (41, 198)
SETRLIMIT, PRLIMIT = (160, 164), (302, 261)
LAST = 450  # set_mempolicy_home_node; what is newer was never looked at, nor are x32's numbers
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column, AUDIT_ARCH

_NAMESPACES = 0x7E020000  # CLONE_NEWUSER, NEWNS, NEWPID, NEWNET, NEWIPC, NEWUTS, NEWCGROUP
_FAMILIES = (1, 2, 10)  # AF_UNIX, AF_INET, AF_INET6: the network namespace is empty
_CORE = 4  # RLIMIT_CORE
_KILL, _ALLOW, _ERRNO = 0x80000000, 0x7FFF0000, 0x00050000
_EPERM, _ENOSYS, _EAFNOSUPPORT = _ERRNO | 1, _ERRNO | 38, _ERRNO | 97
_LOAD, _EQUAL, _GREATER, _ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x06


def program(machine=None):
    """The filter for `machine` (this one's) as the bytes of an array of struct sock_filter.

    Raises RuntimeError for a machine whose system calls this table does not know.
    """
    machine = machine or platform.machine()
    if machine not in MACHINES:
        raise RuntimeError(
            f"the box has no filter of system calls for {machine}: grade on x86_64 or aarch64"
        )
    at, architecture = MACHINES[machine]
    steps = [
        (_LOAD, 0, 0, 4),  # seccomp_data.arch: another one's numbers mean other calls
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),  # seccomp_data.nr
        (_GREATER, 0, 1, LAST),
        (_RETURN, 0, 0, _ENOSYS),
        # the library calls clone instead, whose flags can be looked at
        (_EQUAL, 0, 1, CLONE3[at]),
        (_RETURN, 0, 0, _ENOSYS),
    ]
    for numbers in REFUSED.values():
        if numbers[at] is not None:
            steps += [(_EQUAL, 0, 1, numbers[at]), (_RETURN, 0, 0, _EPERM)]
    steps += _called(CLONE[at], [_argument(0), (_ANY_BIT, 0, 1, _NAMESPACES)], _EPERM)
    # not one of these families: vsock, for one, reaches the host from any network namespace
    families = [(_EQUAL, 3 - place, 0, name) for place, name in enumerate(_FAMILIES)]
    steps += _called(SOCKET[at], [_argument(0), *families], _EAFNOSUPPORT)
    # a limit of 1 byte alone keeps a crash from a program that core_pattern names: see core(5)
    steps += _called(SETRLIMIT[at], [_argument(0), (_EQUAL, 0, 1, _CORE)], _EPERM)
    reading = [(_EQUAL, 1, 0, 0), (_RETURN, 0, 0, _EPERM)]  # a half of the new limits' address
    steps += _called(
        PRLIMIT[at],
        [
            _argument(1),
            (_EQUAL, 0, 6, _CORE),
            _argument(2),
            *reading,
            _argument(2, 4),
            *reading[:1],
        ],
        _EPERM,
    )
    steps.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _argument(number, half=0):
    """Load the low (0) or high (4) half of an argument."""
    return (_LOAD, 0, 0, 16 + 8 * number + half)


def _called(number, test, answer):
    """Steps that give `answer` where a call passes `test`, which jumps one step too far if not."""
    inner = [*test, (_RETURN, 0, 0, answer), (_RETURN, 0, 0, _ALLOW)]
    return [(_EQUAL, 0, len(inner), number), *inner]
