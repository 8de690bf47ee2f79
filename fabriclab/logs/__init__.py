"""Readers of real tools' output, and what they say: one door, one reader a file.

Floor 4. `read(path)` recognises a file by its content and returns a frozen reading; `report(path)`
says it in a few lines, as ``fabriclab read FILE`` prints. A file that no reader knows, or that is
damaged, is refused with a ValueError that names the file, the line and the reason: never a guess
passed off as a reading.

A reader is a module with `TOOL` (its name), `SIGN` (a regular expression that a line of that tool
matches from its beginning and no other tool's does), `read(path)`, `signs(reading, rate=None)`,
which yields a `Sign` for whatever stands out, and `report(reading)`, which prints them. Where the
sign may stand further inside a line, `INSIDE` is a text that each such line has: a long file is
looked through for it quickly.
"""

import re
from functools import cache

from fabriclab.logs import (
    gpus,
    iblinkinfo,
    ibnetdiscover,
    infiniband,
    mlxlink,
    nccl,
    pairs,
    pauses,
    perfquery,
    perftest,
    watchdog,
)
from fabriclab.logs.nccl import log as nccl_log
from fabriclab.logs.nccl import system
from fabriclab.logs.source import lines, refuse, shorten

READERS = (
    nccl,
    mlxlink,
    perfquery,
    perftest,
    pairs,
    pauses,
    watchdog,
    gpus,
    ibnetdiscover,
    iblinkinfo,
    system,
    nccl_log,
)
_SIGHT = 4096  # characters of a line by which a tool is known


@cache
def _any(readers):
    """Whether a text begins as one of `readers` knows: one look, where most lines of a long file
    need no second.
    """
    return re.compile("|".join(f"(?:{reader.SIGN.pattern})" for reader in readers)).match


def recognise(path):
    """The reader module for the file at `path`.

    Raises ValueError for a file that no reader knows, and for one that holds the output of two
    tools: which of the two was meant is not ours to guess. Lines of other programs in between are
    no matter, and NCCL's own log may stand beside the table of nccl-tests.
    """
    found, first = {}, None
    inside = {reader: reader.INSIDE for reader in READERS if hasattr(reader, "INSIDE")}
    begins = tuple(reader for reader in READERS if reader not in inside)
    any_begins = _any(begins)
    for line in lines(path):
        text = line.text if len(line.text) <= _SIGHT else line.text[:_SIGHT]
        first = first or (line if text.strip() else None)
        seen = [reader for reader in begins if reader.SIGN.match(text)] if any_begins(text) else []
        seen += [
            reader for reader, word in inside.items() if word in text and reader.SIGN.search(text)
        ]
        if seen:
            found |= dict.fromkeys(seen, line.number)
            begins = tuple(reader for reader in begins if reader not in found)
            inside = {reader: word for reader, word in inside.items() if reader not in found}
            any_begins = _any(begins)
    if nccl in found:
        found.pop(nccl_log, None)
    if not found:
        if first is None:
            refuse(path, 1, "nothing but blank lines: no data, which is not zeros")
        tools = ", ".join(reader.TOOL for reader in READERS)
        refuse(
            path,
            first.number,
            f"not the output of a tool known here ({tools}); it begins {shorten(first.text)}",
        )
    if len(found) > 1:
        (one, at), (other, there) = sorted(found.items(), key=lambda item: item[1])[:2]
        refuse(
            path,
            there,
            f"looks like {other.TOOL}, but line {at} like {one.TOOL}: one tool's output a file,"
            " please",
        )
    return next(iter(found))


def read(path):
    """A frozen reading of the file at `path`: what the tool printed, in SI units, nothing added.

    Its type is the reader's: `nccl.Reading`, `mlxlink.Reading`, …; each has `tool` and `path`.
    Raises ValueError naming file, line and reason for a file that cannot be read whole.
    """
    return recognise(path).read(path)


def signs(reading, rate=None, **more):
    """What stands out in a reading, as `Sign`, the gravest first: what `report` marks with "!".

    `rate` is bytes per second that a port should carry, where it is known.
    """
    if isinstance(reading, infiniband.Fabric):
        return infiniband.signs(reading, rate)
    return next(one for one in READERS if reading.tool == one.TOOL).signs(reading, rate, **more)


def report(path):
    """What the file at `path` says, in a few lines: what it is, its numbers, where it lies against
    the model, what looks wrong.

    Raises ValueError as `read`.
    """
    reader = recognise(path)
    return reader.report(reader.read(path))
