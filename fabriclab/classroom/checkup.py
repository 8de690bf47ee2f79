"""Whether a class can be graded on this machine, and what bounds the memory of a notebook here: for
`fabriclab doctor`.
"""

import shutil

from fabriclab.classroom import bounds, box, mounts


def examine():
    """[(whether it is in order, what there is to say, how to mend it)]; nothing without bubblewrap,
    whose lack has been told already.
    """
    if not shutil.which("bwrap"):
        return []
    try:
        box.ready()
    except RuntimeError as fault:
        why = f"No student's notebook can be graded here: {fault}."
        return [(False, why, "This matters only to who grades a class.")]
    return [memory(bounds.bound(box.Limits()), mounts.root())]


def memory(bound, root):
    """What holds a student's notebook to its memory: `bound` as of `bounds.bound`."""
    who = "; as you are root, each box gets a user of its own" if root else ""
    if bound:
        by = "a control group" if bound == "group" else "systemd"
        says = f"the memory of a student's notebook is bounded as a whole, by {by}{who}"
        return True, says, ""
    return (
        False,
        "No control group bounds the memory of a student's notebook here: each of its processes"
        " has a limit, and their sum is looked at ten times a second. What a notebook takes in"
        f" between, and the kernel's own for its sockets and pipes, is not bounded{who}.",
        "This matters only to who grades a class: log in as a user with systemd (`systemctl --user"
        " status` works), or grade in a virtual machine.",
    )
