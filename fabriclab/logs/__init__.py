"""Readers of real tools' output, and what they say: one door, one reader per tool.

`read(path)` recognises a file by its content and returns a frozen reading; `report(path)`
says it in a few lines, as ``fabriclab read FILE`` prints; `readings(path)` takes a scroll-back of
several tools, a zip archive or the mixed lines of several hosts part by part. A file that no reader
knows, or that is damaged, is refused with a ValueError that names the file, the line and the
reason: never a guess passed off as a reading.

A reader is a module with `TOOL` (its name), `SIGN` (a regular expression that a line of that tool
matches from its beginning and no other tool's does), `read(path)`, `signs(reading, rate=None)`,
which yields a `Sign` for whatever stands out, and `report(reading)`, which prints them. Where the
sign may stand further inside a line, `INSIDE` is a text that each such line has: a long file is
looked through for it quickly. Optional: `AGAIN`, `BEFORE` and `ROW`, see `parts`.
"""

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from fabriclab.logs import (
    gpus,
    iblinkinfo,
    ibnetdiscover,
    infiniband,
    lspci,
    mlxlink,
    nccl,
    nvlink,
    pairs,
    pauses,
    perfquery,
    perftest,
    ports,
    queryerrors,
    rdma,
    sai,
    topo,
    unread,
    watchdog,
)
from fabriclab.logs.nccl import log as nccl_log
from fabriclab.logs.nccl import system
from fabriclab.logs.parts import Parts
from fabriclab.logs.source import Died, Part, refuse, shorten
from fabriclab.logs.stream import name, texts

READERS = (
    nccl,
    mlxlink,
    perfquery,
    perftest,
    pairs,
    pauses,
    sai,
    watchdog,
    gpus,
    ibnetdiscover,
    iblinkinfo,
    system,
    ports,
    rdma,
    queryerrors,
    topo,
    nvlink,
    lspci,
    nccl_log,
)


class Found(NamedTuple):
    """One part as read: its `reader`, the `reading`, the `host` that a prefix, prompt or archive
    names (or None), the first `line`, and `label`: what tells it from the other parts.
    """

    reader: object
    reading: object
    host: str | None
    line: int
    label: str


class Readings(NamedTuple):
    """All that was found at a path: the parts read, why others were `refused`, and what is `left`
    over (sentences): rows that belong to nothing, output of tools that are known but not read.
    `died` are those of the refused that are a test without a result.
    """

    found: tuple[Found, ...]
    refused: tuple[str, ...]
    left: tuple[str, ...]
    died: tuple[Died, ...] = ()


def _same(one, other):
    """NCCL's log may stand beside the table of nccl-tests."""
    return one is other or {one, other} <= {nccl, nccl_log}


def readings(path: str | Path | Part) -> Readings:
    """The `Readings` of a file, a pipe ("-" is standard input) or a zip archive, part by part.

    A part that is damaged is refused and the others are read. Raises ValueError where nothing at
    all can be read.
    """
    found, refused, left = [], [], []
    for text in texts(path):
        parts = Parts(text, (*READERS, unread), _same)
        before = len(found), len(refused), len(left)
        try:
            for part in parts:
                _take(part, found, refused, left)
        except ValueError as error:
            refused.append(str(error))
        for reader, (count, line) in parts.left.items():
            more = f" and {count - 1} more line{'s' * (count > 2)} look" if count > 1 else " looks"
            left.append(
                f"line {line.number}{more} like {reader.TOOL}, but not where a reading could take"
                f" {'them' if count > 1 else 'it'}: {shorten(line.text)}"
            )
        if before == (len(found), len(refused), len(left)):
            refused.append(_unknown(text, parts.first))
        elif len(found) == before[0] and len(refused) == before[1] and len(left) > before[2]:
            refused.append(f"{text.path}: nothing in it that is read here; {left.pop()}")
    found = _labelled(found)
    if not found:
        if not refused:
            refuse(path, 0, "nothing to read in it")
        first = next((one for one in refused if isinstance(one, Died)), None) or refused[0]
        more = len(refused) - 1
        says = f"{first} (and {more} more part{'s' * (more > 1)} refused)" if more else str(first)
        error = Died(says) if isinstance(first, Died) else ValueError(says)
        error.reader = getattr(first, "reader", None)
        raise error
    died = tuple(one for one in refused if isinstance(one, Died))
    return Readings(tuple(found), tuple(map(str, refused)), tuple(left), died)


def _take(part, found, refused, left):
    reader = nccl if part.reader is nccl_log else part.reader
    if reader is unread:
        left.append(unread.told(part))
        return
    try:
        reading = reader.read(part)
    except Died as error:
        error.reader = reader
        refused.append(error)
        return
    except ValueError as error:
        refused.append(str(error))
        return
    if isinstance(reading, nccl_log.Reading):
        reader = nccl_log
    found.append(Found(reader, reading, part.host, part.line, part.path))


def _labelled(found):
    """Each part with a label of its own: the host, where one is known, else the line."""
    if len(found) < 2:
        return [one._replace(label=one.host or "") for one in found]
    paths = {one.label for one in found}
    labels = []
    for one in found:
        where = [one.host] if one.host else []
        if len(paths) > 1:
            where.insert(0, one.label)
        labels.append(", ".join([*where, f"line {one.line}"]))
    return [one._replace(label=label) for one, label in zip(found, labels, strict=True)]


def _unknown(text, first):
    if first is None:
        return f"{text.path}, line 1: the file has only blank lines; missing data is not zero"
    tools = ", ".join(reader.TOOL for reader in READERS)
    return (
        f"{text.path}, line {first.number}: begins {shorten(first.text)}, which is not the output"
        f" of a tool known here ({tools})"
    )


def read(path: str | Path | Part) -> object:
    """A frozen reading of the file at `path`: what the tool printed, in SI units, nothing added.

    Its type is the reader's: `nccl.Reading`, `mlxlink.Reading`, …; each has `tool` and `path`.
    Raises ValueError naming file, line and reason for a file that cannot be read whole, or that
    holds several readings: `readings` takes those.
    """
    return _one(path).reading


def recognise(path: str | Path | Part) -> ModuleType | None:
    """The reader module for the file at `path`, of a test that died too. Raises ValueError as
    `read`.
    """
    try:
        return _one(path).reader
    except Died as error:
        return error.reader


def _one(path):
    all_of_it = readings(path)
    if all_of_it.refused:
        raise ValueError(all_of_it.refused[0])
    if len(all_of_it.found) > 1:
        one, other = all_of_it.found[:2]
        refuse(
            path,
            other.line,
            f"holds {len(all_of_it.found)} readings ({one.reader.TOOL} at line {one.line},"
            f" {other.reader.TOOL} at line {other.line}, …): logs.readings takes them part by"
            " part",
        )
    return all_of_it.found[0]


def signs(reading: object, rate: float | None = None, **more) -> Iterator:
    """What stands out in a reading, as `Sign`, the gravest first: what `report` marks with "!".

    `rate` is bytes per second that a port should carry, where it is known.
    """
    if isinstance(reading, infiniband.Fabric):
        return infiniband.signs(reading, rate)
    return next(one for one in READERS if reading.tool == one.TOOL).signs(reading, rate, **more)


def report(path: str | Path | Part) -> str:
    """What the file at `path` says, in a few lines: what it is, its numbers, where it lies against
    the model, what looks wrong; part by part where it holds several.

    Raises ValueError where nothing could be read.
    """
    return told(readings(path))


def told(all_of_it: Readings) -> str:
    """The lines of `Readings`, what was refused and what is left over behind them."""
    blocks = []
    for one in all_of_it.found:
        shown = one.reader.report(one.reading)
        blocks.append(f"-- {one.label}\n{shown}" if one.label else shown)
    blocks += [f"! {sentence}" for sentence in all_of_it.left]
    return "\n".join(blocks)
