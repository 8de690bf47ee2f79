"""What launchers, log collectors and mail set in front of every line, and the prompts of shells.

A prefix is taken off where all lines have it, but for a few (the command that was typed, a line of
the collector's own). Several may stand one behind the other. Where one names a host, that is kept:
lines of pdsh come mixed. A label such as ``node01:`` might as well be the name of a counter, so it
is taken off only where the lines are known without it at least as well as with it.
"""

import json
import re
from collections.abc import Callable
from typing import NamedTuple

from fabriclab.logs.source import clean

_DAY = r"\d{4}-\d\d-\d\d"
_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_ISO = rf"{_DAY}[T ]{_CLOCK}(?:Z|[+-]\d\d:?\d\d)?"
_SYSLOG = rf"(?:[A-Z][a-z]{{2}} [ \d]\d (?:\d{{4}} )?{_CLOCK}|{_DAY}T{_CLOCK}(?:Z|[+-]\d\d:?\d\d)?)"
_WEEKDAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_NODE = r"[A-Za-z0-9][\w.-]{0,80}"
CERTAIN = tuple(  # none of these begins a line of a tool known here
    re.compile(pattern)
    for pattern in (
        rf"{_ISO} (?:stdout|stderr) [FP](?: |$)",  # containerd
        rf"\[(?:pod|container)/(?P<host>{_NODE})(?:/[\w.-]+)?\](?: |$)",  # kubectl --prefix
        rf"\s*\| {_ISO} \|(?: |$)",  # CloudWatch, as copied from the console
        rf"<\d{{1,3}}>1 {_ISO} (?P<host>\S+) \S+ \S+ \S+ (?:-|\[.*?\])(?: |$)",  # RFC 5424
        # RFC 3164, journald
        rf"{_SYSLOG} (?P<host>{_NODE}) [\w./@-]{{1,80}}(?:\[\d+\])?:(?: |$)",
        rf"\[{_WEEKDAY},? [\w :.,+-]{{10,40}}\](?: |$)",  # dmesg -T
        rf"\[(?:{_ISO}|\d{{4}}/\d\d/\d\d[ -]{_CLOCK}|\d{{1,7}}\.\d{{6}}|{_CLOCK})\](?: |$)",
        rf"{_ISO}(?: (?:DEBUG|INFO|WARN|WARNING|ERROR)\b:?| -)?(?: |\t|$)",  # kubectl --timestamps
        rf"{_SYSLOG}(?: |$)",  # ts
        r"\[(?:rank|default|worker)\d{1,7}\]: ?",  # torchrun
    )
)
LABELS = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?:[>|] ?){1,8}",  # a quoted mail
        r" *\d{1,7}: ?",  # srun -l
        r"\[\d{1,7}\](?:: ?| )",  # mpiexec -prepend-rank
        rf"\[(?P<host>{_NODE})\](?: out)?:? ",  # pssh
        rf"(?P<host>{_NODE}) +\| ?",  # docker compose
        rf"(?P<host>{_NODE}):(?: |$)",  # pdsh, clush, mpirun
    )
)
_DEEPEST = 4
_PROMPT = re.compile(
    r"(?:\([\w.-]{1,40}\) ?)?"
    r"(?:\[(?:[\w.-]{1,40}@(?P<a>[\w.-]{1,80})|[\w.-]{1,80})(?: [^\]]{0,200})?\][$#] ?"
    r"|[\w.-]{1,40}@(?P<b>[\w.-]{1,80})(?:[: ][^\s$#]{0,200})? ?[$#>](?: |$)"  # me@host:~$
    r"|(?P<c>[\w.-]{1,80}):[~/][^\s$#]{0,200} ?[$#] "  # host:~ #
    r"|(?:ba|z|k)?sh-[\d.]{1,10}[$#] |[$%] )"
)
_BANNER = re.compile(
    rf"==> (?P<a>.{{1,200}}) <==$|(?P<b>{_NODE}) \| (?:CHANGED|SUCCESS|FAILED!?) \| rc=\d+ >>$"
    rf"|[=#*]{{2,80}} ?(?P<c>{_NODE}) ?[=#*]{{2,80}}$"
)

_DEVICE = re.compile(r"(?:mlx|bnxt|irdma|roce|ionic|hfi|ib|eth|en|bond|Ethernet)\w*\d$")


class Docker:
    """Docker's json-file: a line is an object, its text under "log"."""

    def match(self, text):
        if text.startswith('{"log":'):
            return True

    def strip(self, text):
        try:
            said = json.loads(text)["log"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return None, text
        return None, clean(said.rstrip("\r\n")) if isinstance(said, str) else text


class Layer(NamedTuple):
    """One prefix, by its pattern."""

    pattern: object

    def match(self, text):
        return self.pattern.match(text)

    def strip(self, text):
        found = self.pattern.match(text)
        if not found:
            return None, text
        return found.groupdict().get("host"), text[found.end() :]


def layers(sample: list[str], known: Callable) -> list[Layer]:
    """The prefixes of all lines, the outermost first, from the first lines of a text.

    `known(text)` says whether a text is a line of a tool known here.

    >>> [layer] = layers(["n1: # a", "n1: # b", "n2: # b"], lambda text: text.startswith("#"))
    >>> layer.strip("n2: # b")
    ('n2', '# b')
    """
    found, texts = [], [text for text in sample if text.strip()]
    while len(texts) > 2 and len(found) < _DEEPEST:
        layer = _layer(texts, known)
        if layer is None:
            break
        found.append(layer)
        texts = [text for text in (layer.strip(text)[1] for text in texts) if text.strip()]
    return found


def _layer(texts, known):
    few = max(1, len(texts) // 10)
    if sum(map(bool, map(Docker().match, texts))) >= len(texts) - few:
        return Docker()
    for pattern in CERTAIN:
        if sum(map(bool, map(pattern.match, texts))) >= len(texts) - few:
            return Layer(pattern)
    for pattern in LABELS:
        found = [pattern.match(text) for text in texts]
        if sum(map(bool, found)) < len(texts) - few:
            continue
        bare = [text[one.end() :] for text, one in zip(texts, found, strict=True) if one]
        before = sum(map(known, texts))
        after = sum(known(text) or _known_behind(text, known) for text in bare)
        labels = {one[0] for one in found if one}
        if after >= max(before, 1) or not before and 4 * len(labels) <= len(texts):
            return Layer(pattern)
    return None


def _known_behind(text, known):
    """Whether a text is known once the next prefix is off."""
    return any(found and known(text[found.end() :]) for found in (p.match(text) for p in CERTAIN))


def prompt(text: str) -> tuple[str, ...] | None:
    """(host or None, the command) where `text` is a shell's prompt with a command, else None.

    >>> prompt("[me@node7 ~]$ ib_write_bw -d mlx5_0")
    ('node7', '$ ib_write_bw -d mlx5_0')
    """
    found = _PROMPT.match(text)
    if not found:
        return None
    return found["a"] or found["b"] or found["c"], "$ " + text[found.end() :].strip()


def banner(text: str) -> str | None:
    """The host or file that a line such as ``==> node01.txt <==`` announces, or None."""
    found = _BANNER.match(text)
    named = found and (found["a"] or found["b"] or found["c"])
    return None if named and _DEVICE.match(named) else named
