"""A folder of an incident, gathered: every file through the one door of `logs`, part by part,
and one folder per host.
"""

import os
import stat
from itertools import islice
from pathlib import Path

from fabriclab import logs
from fabriclab.logs import samples
from fabriclab.logs.diagnose.evidence import MOST_FILES, STEP_OF, TOLD, Evidence, Told, read_told
from fabriclab.logs.source import Died, name, refuse, shorten


def gather(path: Path) -> Evidence:
    """The `Evidence` in the folder at `path`; files that cannot be read are kept with the reason.

    Raises ValueError for what is no folder, for an empty one, and for one of more than 500 files:
    an incident has a few.
    """
    shown = shorten(name(path), 200)[1:-1]
    path, gathered = samples.at(path), _Gathered()
    entries = _listed(path, shown, MOST_FILES)
    if not entries:
        raise ValueError(f"{shown}: an empty folder: nothing to go by")
    for entry in entries:
        at, file = Path(os.fsdecode(path), entry), shorten(entry, 80)[1:-1]
        if entry == TOLD:
            try:
                gathered.told = read_told(at)
            except ValueError as error:
                gathered.refused(file, at, error)
        elif at.is_dir() and not at.is_symlink():
            gathered.folder(file, at)
        else:
            gathered.file(file, at, None)
    kept = (gathered.files, gathered.unread, gathered.on, gathered.died)
    files, unread, on, died = map(tuple, kept)
    return Evidence(shown, files, unread, gathered.told, on, died)


def _listed(path, shown, most):
    """The names in a folder, in order, without hidden ones."""
    try:
        with os.scandir(path) as listing:
            entries = [entry.name for entry in islice(listing, most + 1)]
    except (OSError, ValueError) as error:
        raise ValueError(
            f"{shown}: no folder that can be opened: {getattr(error, 'strerror', None) or error}"
        ) from None
    if len(entries) > most:
        raise ValueError(
            f"{shown}: more than {MOST_FILES} files: put those of one incident in a folder of"
            " their own"
        )
    return sorted(entry for entry in entries if not entry.startswith("."))


class _Gathered:
    """What is read so far, file by file."""

    def __init__(self):
        self.files, self.unread, self.on, self.died = [], [], [], []
        self.told, self.count = Told(), 0

    def folder(self, host, path):
        """A folder inside the incident's holds the files of one host, and has its name."""
        try:
            entries = _listed(path, name(path), MOST_FILES - self.count)
        except ValueError as error:
            self.refused(host, path, error)
            return
        if not entries:
            self.unread.append((host, "an empty folder"))
        for entry in entries:
            file, at = f"{host}/{shorten(entry, 80)[1:-1]}", Path(path, entry)
            if at.is_dir():
                self.unread.append((file, "a folder in a folder: one folder per host holds files"))
            else:
                self.file(file, at, host)

    def file(self, file, path, host):
        """The readings in one file, each under the file's name and what tells it apart."""
        self.count += 1
        try:
            if stat.S_ISFIFO(os.stat(path).st_mode):  # it would be waited for
                refuse(path, 0, "not a plain file")
            found = logs.readings(path)
        except (ValueError, OSError) as error:
            self.refused(file, path, error)
            return
        self.died += [self._test(file, path, error) for error in found.died]
        for part in found.found:
            called = f"{file} ({part.label})" if part.label else file
            self.files.append((called, part.reading))
            if part.host or host:
                self.on.append((called, part.host or host))
        for reason in found.refused:
            self.refused(file, path, reason)
        self.unread += [(file, sentence) for sentence in found.left]

    def refused(self, file, path, reason):
        if isinstance(reason, Died):
            self.died.append(self._test(file, path, reason))
        reason = getattr(reason, "strerror", None) or str(reason)
        self.unread.append((file, _short(path, reason)))

    def _test(self, file, path, error):
        step = STEP_OF.get(getattr(error.reader, "Reading", None), 2)
        return file, step, _short(path, str(error))


def _short(path, reason):
    return reason.removeprefix(name(path)).lstrip(",: ")
