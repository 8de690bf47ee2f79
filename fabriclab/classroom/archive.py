"""Zips as they are sent: the notebooks in one, and in the zips inside it, written out under names
of our own. Nothing in a zip chooses a path, a size or a kind of file here.
"""

import io
import stat
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

from fabriclab.classroom.submission import LARGEST
from fabriclab.course.engine.exercises import diary

ENTRIES, BYTES = 100_000, 4 * LARGEST  # of one zip: its entries, and all that is written out
RATIO = 200  # bytes out of each packed byte, once a zip has given more than one large file would
DIRECTORY = 2**24  # bytes of the list of entries, which is read as a whole
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class Bad(ValueError):
    """A zip, or something in it, that is not unpacked; its text says why."""


@dataclass(frozen=True)
class Member:
    """A notebook or a zip out of a zip: `parts`, its name there; `path`, where it was written, or
    None and `refused` says why; `saved`, when its own machine saved it, in seconds, or None.
    """

    parts: tuple[str, ...]
    path: Path | None
    refused: str = ""
    saved: float | None = None


class _Short(io.FileIO):
    """A file that is never read in one large piece, as only a list without bound would have it."""

    def read(self, size=-1):
        if size is not None and size > DIRECTORY:
            raise zipfile.BadZipFile("its list of entries is too long")
        return super().read(size)


def unpack(path, room, wanted=(".ipynb", ".zip", diary.NAME)):
    """The `Member`s of the zip at `path` whose names end so, written into the folder `room`.

    Raises `Bad` for a file that is no zip, is damaged, or has more in it than a student sends.
    """
    found, packed, given = [], 0, 0
    try:
        with _Short(path) as file, zipfile.ZipFile(file) as opened:
            entries = opened.infolist()
            if len(entries) > ENTRIES:
                raise Bad(f"the zip holds {len(entries):,} files, and at most {ENTRIES:,} are read")
            for number, entry in enumerate(entries):
                parts = _parts(entry)
                if not parts or not parts[-1].lower().endswith(wanted) or entry.is_dir():
                    continue
                target = Path(room, f"{number:06d}{Path(parts[-1]).suffix.lower()}")
                try:
                    if given > LARGEST and given > RATIO * packed:
                        raise Bad("the zip is packed as no notebooks are, like a bomb")
                    given += _write(opened, entry, target, BYTES - given)
                    packed += entry.compress_size
                except Bad as error:
                    found.append(Member(parts, None, str(error)))
                else:
                    found.append(Member(parts, target, "", _saved(entry)))
    except (zipfile.BadZipFile, EOFError, OSError, ValueError, NotImplementedError) as error:
        if isinstance(error, Bad):
            raise
        raise Bad(f"the zip is damaged, or no zip ({str(error)[:100]})") from error
    return found


def _parts(entry):
    """The name of an entry as folders and a file; none for what an editor or a Mac keeps, and for
    one that leads out of its place.
    """
    name = _name(entry).replace("\\", "/")
    parts = tuple(part for part in name.split("/") if part not in ("", "."))
    odd = name.startswith("/") or ".." in parts or any(":" in part[1:2] for part in parts[:1])
    hidden = any(part.startswith(".") or part == "__MACOSX" for part in parts)
    return () if odd or hidden else parts


def _name(entry):
    """An entry's name. Where it is not marked as UTF-8, Macs write that all the same, and Chinese
    Windows GB 18030.
    """
    if entry.flag_bits & 0x800:
        return entry.filename
    for coding in ("utf-8", "gb18030"):
        try:
            return entry.filename.encode("cp437").decode(coding)
        except ValueError:
            continue
    return entry.filename


def _write(opened, entry, target, left):
    """Write one entry out, piece by piece; returns its bytes. What its head says of its size is
    not relied on. Raises `Bad`.
    """
    kind = entry.external_attr >> 16
    if kind and stat.S_ISLNK(kind):
        raise Bad("this is a link; send the notebook itself")
    if entry.flag_bits & 0x1:
        raise Bad("it is locked by a password; send it without one")
    if entry.compress_type not in _PACKED:
        raise Bad("it is packed in a way that is not read here; make a plain zip")
    most, written = min(LARGEST, left), 0
    try:
        with opened.open(entry) as source, open(target, "xb") as file:
            while piece := source.read(2**16):
                written += len(piece)
                if written > most:
                    raise Bad(
                        f"more than {LARGEST // 2**20} MiB"
                        if most == LARGEST
                        else f"the zip holds more than {BYTES // 2**20} MiB"
                    )
                file.write(piece)
    except Bad:
        target.unlink(missing_ok=True)
        raise
    except Exception as error:  # zlib's own, and what a forged head makes of it
        target.unlink(missing_ok=True)
        raise Bad(f"damaged in the zip ({str(error)[:100]})") from error
    return written


def _saved(entry):
    try:
        return time.mktime((*entry.date_time, 0, 0, -1)) if entry.date_time[0] > 1980 else None
    except (OverflowError, ValueError):
        return None
