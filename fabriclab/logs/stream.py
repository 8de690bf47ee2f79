"""Bytes in: a plain file, a pipe, standard input, gzip or a zip archive, UTF-8 or UTF-16.

A `Text` is one text to read: its path as shown, and its bytes in blocks. A zip archive holds
several. Everything is bounded: bytes before and after unpacking, entries, and the time that a plain
file may keep silent (/proc/kmsg is a plain file and never ends).
"""

import codecs
import io
import os
import select
import stat
import sys
import time
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

from fabriclab.logs import samples

LARGEST_FILE = 256 * 2**20  # bytes
LONG_FILE = 16 * 2**20  # bytes: from here on one waits
MOST_ENTRIES = 500
MOST_RATIO = 200  # unpacked over packed, from LONG_FILE on: a log packs to a tenth
PATIENCE = {"plain": 5.0, "pipe": 120.0}  # seconds without a byte
STDIN = "-"
_BLOCK = 2**15
_PACKED = {b"\xfd7zXZ": "xz", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstd"}


class Text(NamedTuple):
    """One text: its path as shown in messages, and its bytes in blocks, as UTF-8."""

    path: str
    blocks: object


def name(path: object) -> str:
    """The path as text. Raises ValueError for what is no path."""
    if isinstance(path, Text) or hasattr(path, "path") and not isinstance(path, os.DirEntry):
        return path.path
    try:
        text = os.fspath(path)
    except TypeError:
        raise ValueError(f"path must be a file's path, not {path!r}") from None
    return "standard input" if text == STDIN else os.fsdecode(text)


class Died(ValueError):
    """A test that began and gave no result: nothing to read, and yet evidence. `reader` is the
    module that knows its tool, once one has refused it.
    """

    reader = None


def refuse(path: object, number: int, reason: str, kind: type = ValueError) -> NoReturn:
    """Raise the one kind of error the readers know: file, line, reason."""
    where = f", line {number}" if number else ""
    raise kind(f"{name(path)}{where}: {reason}")


def texts(path: Path | Text | str) -> Iterator:
    """Yield the `Text`s at `path`: one for a file, a pipe or "-", one per entry of a zip archive.

    Raises ValueError naming the file for what cannot be opened, is a folder or a device, is larger
    than 256 MiB, or is packed in a way not read here.
    """
    if isinstance(path, Text):
        yield path
        return
    if "\0" in name(path):
        refuse(path, 0, "not a valid file name: it contains a zero byte")
    try:
        raw = _opened(path)
        first = next(raw, b"")
        while len(first) < 4 and (more := next(raw, b"")):
            first += more
        if first.startswith(b"PK\x03\x04"):
            yield from _entries(path, _kept(path, first, raw))
        else:
            yield Text(name(path), _decoded(path, _unpacked(path, _again(first, raw))))
    except OSError as error:
        refuse(path, 0, f"cannot be opened: {error.strerror or error}")


def _again(first, raw):
    if first:
        yield first
        yield from raw


def _opened(path):
    """The bytes of a file, pipe or standard input, in blocks as they come."""
    if path == STDIN:
        yield from _from(path, 0, 0, None)
        return
    there = samples.at(path)
    found = os.stat(there)
    pipe = stat.S_ISFIFO(found.st_mode) or stat.S_ISSOCK(found.st_mode)
    if stat.S_ISDIR(found.st_mode):
        refuse(path, 0, "a folder: fabriclab diagnose reads the files of one")
    if not (stat.S_ISREG(found.st_mode) or pipe):
        refuse(path, 0, "not a plain file or a pipe: save the tool's output in one first")
    if found.st_size > LARGEST_FILE:
        _too_large(path)
    # without O_NONBLOCK a pipe that nobody writes, or a log that never ends, would hold us for ever
    handle = os.open(there, os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield from _from(path, handle, found.st_size, PATIENCE["pipe" if pipe else "plain"])
    finally:
        os.close(handle)


def _from(path, handle, size, patience):
    read, shown, since = 0, LONG_FILE, time.monotonic()
    while True:
        late = patience is not None and time.monotonic() - since > patience
        if late or not _ready(handle, patience):
            refuse(
                path,
                0,
                f"nothing more came for {patience:g} s, and it has not ended: save the tool's"
                " output in a file first",
            )
        try:
            block = os.read(handle, _BLOCK)
        except BlockingIOError:  # ready by its own word, and yet nothing to read
            time.sleep(0.02)
            continue
        if not block:
            break
        read, since = read + len(block), time.monotonic()
        if read > LARGEST_FILE:
            _too_large(path)
        if read > shown:
            shown += LONG_FILE
            _progress(name(path), read, size)
        yield block
    if read > LONG_FILE:
        _progress(name(path), 0, 0)


def _ready(handle, patience):
    try:
        return bool(select.select([handle], [], [], patience)[0])
    except (OSError, ValueError):  # a kind of handle that cannot be waited for
        return True


def _too_large(path):
    refuse(
        path,
        0,
        f"larger than {LARGEST_FILE // 2**20} MiB: cut out the part that holds the tool's output",
    )


def _progress(text, read, size):
    """For one who waits at a terminal: how far a long file is read; without `read`, wiped."""
    if sys.stderr is not None and sys.stderr.isatty():
        how = f"{read / size:.0%}" if size and size >= read else f"{read / 2**20:.0f} MiB"
        shown = "".join(c if c.isprintable() else "?" for c in text[-50:])
        sys.stderr.write(f"\r\x1b[K{shown}: {how} read" if read else "\r\x1b[K")
        sys.stderr.flush()


def _kept(path, first, raw):
    kept = bytearray(first)
    for block in raw:
        kept += block
    return bytes(kept)


def _entries(path, raw):
    """Yield the texts in a zip archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            entries = [one for one in archive.infolist() if not one.is_dir()]
            entries = [one for one in entries if not one.filename.startswith("__MACOSX/")]
            if not entries:
                refuse(path, 0, "an empty zip archive")
            if len(entries) > MOST_ENTRIES:
                refuse(path, 0, f"a zip archive of more than {MOST_ENTRIES} files")
            left = LARGEST_FILE
            for entry in entries:
                if entry.flag_bits & 1:
                    refuse(path, 0, f"{entry.filename[:80]} in it is encrypted")
                with archive.open(entry) as file:
                    blocks = _bounded(path, _blocks(file), lambda e=entry: e.compress_size)
                    inner = Text(f"{name(path)}/{entry.filename}", None)
                    spent = []
                    counted = _counted(inner, blocks, spent, left)
                    yield Text(inner.path, _decoded(inner, _unpacked(inner, counted)))
                left -= sum(spent)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, RuntimeError) as error:
        refuse(path, 0, f"a damaged zip archive, or packed in a way not read here: {error}")


def _blocks(file):
    while block := file.read(_BLOCK):
        yield block


def _counted(path, blocks, spent, left):
    for block in blocks:
        spent.append(len(block))
        left -= len(block)
        if left < 0:
            _too_large(path)
        yield block


def _bounded(path, blocks, packed):
    """`blocks`, as long as they do not unpack to more than a text can."""
    out = 0
    for block in blocks:
        out += len(block)
        if out > LARGEST_FILE or out > LONG_FILE and out > MOST_RATIO * packed():
            refuse(path, 0, f"unpacks to more than {out // 2**20} MiB: no tool's output is so even")
        yield block


def _unpacked(path, raw):
    """The bytes, unpacked where they are gzip's."""
    first = next(raw, b"")
    while len(first) < 6 and (more := next(raw, b"")):
        first += more
    for magic, kind in _PACKED.items():
        if first.startswith(magic):
            refuse(path, 1, f"compressed ({kind}): unpack it first")
    if not first.startswith(b"\x1f\x8b"):
        yield from _again(first, raw)
        return
    taken = [0]
    unpacked = _bounded(path, _gunzipped(path, _again(first, raw), taken), lambda: taken[0])
    first = next(unpacked, b"")
    if first[257:262] == b"ustar":
        refuse(path, 1, "a tar archive: unpack it and read its files, or its folder with diagnose")
    yield from _again(first, unpacked)


def _gunzipped(path, raw, taken):
    unpack = zlib.decompressobj(wbits=31)
    try:
        for block in raw:
            taken[0] += len(block)
            while block:
                if unpack.eof:  # a second member, as `cat a.gz b.gz` makes
                    unpack = zlib.decompressobj(wbits=31)
                piece = unpack.decompress(block, _BLOCK)
                block = unpack.unconsumed_tail or unpack.unused_data
                if piece:
                    yield piece
        if not unpack.eof:
            refuse(path, 0, "the gzip file is cut: its end is missing")
    except zlib.error as error:
        refuse(path, 0, f"a damaged gzip file: {error}")


def _decoded(path, raw):
    """The bytes as UTF-8, without a byte-order mark; UTF-16 is known by its mark."""
    first = next(raw, b"")
    while len(first) < 4 and (more := next(raw, b"")):
        first += more
    if first[:2] not in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        yield from _again(first.removeprefix(codecs.BOM_UTF8), raw)
        return
    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    for block in _again(first, raw):
        yield decoder.decode(block).encode("utf-8", "replace")
    yield decoder.decode(b"", True).encode("utf-8", "replace")
