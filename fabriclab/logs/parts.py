"""A text cut into parts, each the output of one tool from one host, as it streams by.

A part begins at a line that a reader knows by its `SIGN`, where the part at hand is another
reader's or another host's, or where `AGAIN`, the head of a tool whose file holds one reading,
comes again. It takes along what stands in front of it since the last blank line or prompt (a
``date`` before perfquery's answer). What follows a prompt is no longer handed to the part at hand,
but for readers that want the commands themselves (`COMMANDS`). Lines that look like rows of a tool
(`ROW`) and lie in no part of that tool are counted: they are not to be lost in silence.
"""

import re
from collections import deque
from collections.abc import Callable
from functools import cache
from itertools import chain, islice
from types import ModuleType

from fabriclab.logs import prefix
from fabriclab.logs.source import Line, Part, lines, refuse

_SIGHT = 4096  # characters of a line by which a tool is known
_SAMPLE = 200  # lines by which prefixes are known
_BEFORE = 60  # lines kept in front of a part
_MIXED = 64 * 2**20  # characters of lines that come mixed from several hosts
_MOST_PARTS = 500
_NUMBERS = re.compile(r"\d\.\d\d?\s+\d+\.\d\d\b|\bstormed\b|\boperational\b|==>|\d\s+[\d,]+\s+\d")


@cache
def signs(readers: tuple[ModuleType, ...]) -> Callable:
    """A function that says which of `readers` know a line, in their order."""
    begins = tuple(reader for reader in readers if not hasattr(reader, "INSIDE"))
    inside = tuple((reader, reader.INSIDE) for reader in readers if hasattr(reader, "INSIDE"))
    any_begins = re.compile("|".join(f"(?:{reader.SIGN.pattern})" for reader in begins)).match

    def seen(text):
        found = [one for one in begins if one.SIGN.match(text)] if any_begins(text) else []
        for reader, word in inside:
            if word in text and reader.SIGN.search(text):
                found.append(reader)
        return found

    return seen


class Parts:
    """Iterates over the `Part`s of a text; what is left over is in `left` at its end.

    `left` maps a reader to [number of lines that look like its rows, the first of them]; `first` is
    the first line that is not blank.
    """

    def __init__(self, text, readers, same=lambda one, other: one is other):
        self.path, self.readers, self.same = text.path, readers, same
        self.seen, self.left, self.first = signs(readers), {}, None
        self.rows = [(one, one.ROW) for one in readers if hasattr(one, "ROW")]
        self.stream = lines(text)

    def __iter__(self):
        sample = list(islice(self.stream, _SAMPLE))
        layers = prefix.layers(
            [line.text[:_SIGHT] for line in sample], lambda text: bool(self.seen(text))
        )
        stream = chain(sample, self.stream)
        if not layers:
            yield from self._cut((None, line) for line in stream)
            return
        hosts = {_strip(layers, line)[0] for line in sample} - {None}
        stripped = (_strip(layers, line) for line in stream)
        if len(hosts) < 2:
            yield from self._cut(stripped)
            return
        by_host, held = {}, 0
        for host, line in stripped:
            held += len(line.text) + 64
            if held > _MIXED:
                refuse(
                    self.path,
                    line.number,
                    "the lines of several hosts are mixed, and this is too long to sort them: one"
                    " file per host",
                )
            by_host.setdefault(host, []).append((host, line))
        for mixed in by_host.values():
            yield from self._cut(iter(mixed))

    def _cut(self, stream):
        """The parts of one host's lines, each drawn from `stream` as its reader asks."""
        before, count = deque(maxlen=_BEFORE), 0
        state = {"next": None, "host": None}
        while True:
            start = state["next"] or self._seek(stream, before, state)
            if start is None:
                return
            reader, host, line = start
            state["next"] = None
            count += 1
            if count > _MOST_PARTS:
                refuse(
                    self.path,
                    line.number,
                    f"more than {_MOST_PARTS} changes of tool or host: one tool's output per file",
                )
            kept = (
                [one for one in before if reader.BEFORE.match(one.text)]
                if hasattr(reader, "BEFORE")
                else list(before)
            )
            before.clear()
            kept = [self._shown(one, reader) for one in kept]
            drawn = chain(kept, [line], self._rest(stream, reader, host, line, before, state))
            part = Part(self.path, reader, host, line.number, drawn)
            yield part
            for _ in part.drawn:  # what a reader that refused has left
                pass

    def _seek(self, stream, before, state):
        """The next line that a reader knows, as (reader, host, line)."""
        for named, line in stream:
            line = self._prompt(line, state)
            found = self.seen(line.text[:_SIGHT])
            if found:
                return found[0], named or state["host"], line
            self._look(line, None)
            if line.text.startswith("$ "):
                before.clear()
            before.append(line)
        return None

    def _rest(self, stream, reader, host, line, before, state):
        """The further lines of a part; the next part's first is left in `state`."""
        again = getattr(reader, "AGAIN", None)
        heads = set()

        def head(text):
            found = again.match(text) if again else None
            if not found:
                return False
            new = found.lastgroup or found[0]
            if new in heads:
                return True
            heads.add(new)
            return False

        head(line.text)
        outside = False  # behind a prompt: what follows is another command's
        for named, line in stream:
            line = self._prompt(line, state)
            command = line.text.startswith("$ ")
            found = self.seen(line.text[:_SIGHT])
            if found:
                mine = any(self.same(one, reader) for one in found)
                where = named or state["host"]
                other = host and where and where != host
                if not mine or other or head(line.text):
                    state["next"] = (reader if mine else found[0]), where, line
                    return
                if outside:
                    yield from (self._shown(one, reader) for one in before)
                before.clear()
                outside = False
                yield line
                continue
            self._look(line, reader)
            if not line.text.strip() or command:
                before.clear()
            before.append(line)
            if command:
                outside = not hasattr(reader, "COMMANDS")
                yield self._shown(line, reader)
            elif not outside:
                yield line

    def _shown(self, line, reader):
        """A command ends a table as a blank line does; some readers find the test's name in it."""
        if line.text.startswith("$ ") and not hasattr(reader, "COMMANDS"):
            return Line(line.number, "", line.whole)
        return line

    def _prompt(self, line, state):
        text = line.text
        if self.first is None and text.strip():
            self.first = line
        if text[:1] in "[$%" or "@" in text[:40] or ":" in text[:80] and text[-1:] != ":":
            found = prefix.prompt(text[:_SIGHT])
            if found:
                state["host"] = found[0] or state["host"]
                return Line(line.number, found[1], line.whole)
        if text[:1] in ("=", "#", "*") or text[-1:] == ">":
            found = prefix.banner(text[:300])
            if found:
                state["host"] = found
        return line

    def _look(self, line, reader):
        text = line.text[:1000]
        if not _NUMBERS.search(text):
            return
        for one, row in self.rows:
            if not (reader and self.same(one, reader)) and row.search(text):
                self.left.setdefault(one, [0, line])[0] += 1
                return


def _strip(layers, line):
    host, text = None, line.text
    for layer in layers:
        named, text = layer.strip(text)
        host = named or host
    return host, Line(line.number, text, line.whole)
