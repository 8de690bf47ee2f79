"""The kit's own logs and incidents, found from wherever one has started."""

import os
import sys
from pathlib import Path

FOLDERS = ("logs", "incidents")
# the notebooks of a clone; where the wheel puts its copies
HOMES = (Path(__file__).parents[2] / "notebooks", Path(sys.prefix) / "share" / "fabriclab")


def at(path: str) -> Path:
    """`path`; or, where nothing is there and it begins with logs/ or incidents/, the kit's file of
    that name, so that a notebook reads its logs in whatever folder its kernel was started.

    >>> at("logs/mlxlink_400g.txt").name if not os.path.exists("logs") else "here"
    'mlxlink_400g.txt'
    >>> at("no/such/file")
    'no/such/file'
    """
    text = os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else ""
    if Path(text).parts[:1] and Path(text).parts[0] in FOLDERS and not os.path.lexists(text):
        for home in HOMES:
            if (home / text).exists():
                return home / text
    return path
