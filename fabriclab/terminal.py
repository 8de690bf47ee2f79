"""What a command says at a terminal."""

import sys
from collections.abc import Callable, Iterable


def printed(command: str, work: Callable[[], Iterable[object]]) -> int:
    """Print the lines that `work` gives, or say why not."""
    try:
        print(*map(plain, work()), sep="\n")
    except (ValueError, OSError) as fault:
        return refuse(command, fault)
    return 0


def refuse(path: object, reason: object) -> int:
    shown = "standard input" if path == "-" else str(path)
    reason = str(reason) if str(reason).startswith(shown) else f"{shown}: {reason}"
    print(plain(" ".join(reason.split())), file=sys.stderr)
    return 2


def plain(text: object) -> str:
    """Text without what a terminal would act on: a file's name may hold anything."""
    return "".join(c if c.isprintable() else "?" for c in str(text))
