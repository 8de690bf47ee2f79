"""All-pairs bandwidth as people keep it: a square matrix, or a list of pairs.

The layouts, in our words. Cells are parted by commas, semicolons, tabs or blanks, whichever the
head uses; lines with # are comments. A matrix has the targets' names in its head and a source's
name in front of each row: the row sends to the column. Its corner is empty or says which is which
("source\\target"); the other order turns the table. A list has a head "source,target, bandwidth",
and a fourth column (spine, via or path) where each path was pinned. Empty, - and nan are not
measured, on the diagonal always; 0 is a measurement. The unit stands in the head or in a comment:
Gb/s, GB/s, GiB/s, MiB/s and so on, but not MB/s: perftest prints MB/sec for 2^20 bytes a second,
others for 10^6.
"""

import re
from dataclasses import dataclass

import numpy as np

from fabriclab.logs.pairs.records import MOST_HOSTS, Pairs
from fabriclab.logs.source import Part, lines, name, refuse, shorten
from fabriclab.units import UNITS

TOOL = "all-pairs bandwidth"
_FROM, _TO = (
    r"(?:src|source|from|client|sender)",
    r"(?:dst|dest|destination|target|to|server|receiver)",
)
_RATE, _PATH = (
    r"(?:bandwidth|bw|rate|throughput|[KMGT]i?b(?:its?|ytes?)?(?:/s(?:ec)?|ps))",
    r"(?:spine|via|path)",
)
_GAP = r"(?:\s*[,;]\s*|\s+)"
_LIST = re.compile(rf'^\s*"?{_FROM}"?{_GAP}"?{_TO}"?{_GAP}"?{_RATE}(?![a-z])', re.I)
_CORNER = re.compile(
    rf"^({_FROM})?\s*[\\/>-]{{0,2}}\s*({_TO})?\s*[\\/>-]{{0,2}}\s*({_FROM})?$", re.I
)
# a list without a head: two hosts' names with numbers in them, and a number
_BARE = re.compile(
    r"^\s*([A-Za-z][\w.-]{0,80}?\d[\w.-]{0,40})(?:\s*[,;:]\s*|\s+|\s*->\s*)"
    r"([A-Za-z][\w.-]{0,80}?\d[\w.-]{0,40})(?:\s*[,;:]\s*|\s+)(\d{1,12}(?:\.\d{1,9})?)\s*(?:#.*)?$"
)
_BIG = 2000  # a number above it is no GB/s
# flags stand inside, as the signs of all readers are joined into one
SIGN = re.compile(
    rf'(?i:{_LIST.pattern}|^\s*"?(?:{_FROM}\s*[\\/>]{{1,2}}\s*{_TO}|{_TO}\s*[\\/]\s*{_FROM})\b'
    rf"|^\s*#.{{0,200}}\ball["
    rf' -]?pairs\b|^[,;]\s*"?[A-Za-z][\w.-]{{0,80}}"?\s*[,;])|{_BARE.pattern}'
)
_UNIT = re.compile(r"(?<![A-Za-z0-9/])([KMGT]i?b(?:its?|ytes?)?(?:/s(?:ec)?|ps))(?![\w/])", re.I)
_BESIDE = re.compile(r"\s*[\[(]([^\])]{1,20})[\])]")
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{0,12})?(?:[eE][+-]?\d{1,2})?")
_NOTHING = {"", "-", "--", "nan", "n/a", "na"}
_MOST_PAIRS, _MOST_SPINES = 1 << 20, 1024


@dataclass(frozen=True)
class Reading:
    """A file of pairs as read: `layout` "matrix" or "list", the `unit` as it is spelt there, the
    `pairs`, and whether the unit was `guessed`: a list without a head names none, and only ratios
    count.
    """

    path: str
    layout: str
    unit: str
    pairs: Pairs
    guessed: bool = False

    tool = TOOL


def read(path: Part) -> "Reading":
    """A `Reading` of the matrix or list of pairs at `path`.

    Raises ValueError naming file, line and reason for a unit that is missing, unknown, ambiguous or
    named twice; a row that is not whole; a cell that is no bandwidth; a host twice in the head, or
    in rows and not in columns; a pair twice with different values; a host measured with itself in a
    list; more than 2,048 hosts; and for nothing measured.
    """
    units, head, rows, last, bare = {}, None, None, 0, False
    for line in lines(path):
        last, text = line.number, line.text.strip("\r\n")
        if not text.strip() or re.fullmatch(r"\s*[-=]{3,}[-=\s]*", text):
            continue
        if text.lstrip().startswith("#"):
            _units_in(path, line, text, units)
            continue
        if head is None and _BARE.match(text):
            head = _Head(path, line._replace(text="source,target,rate"))
            bare, rows = True, _List(path, head)
        elif head is None:
            if not line.whole:
                refuse(path, last, "the file ends in its head")
            _units_in(path, line, text, units)
            head = _Head(path, line)
            rows = _List(path, head) if head.list else _Matrix(path, head)
            continue
        cells = _bare(path, line) if bare else head.cells(text)
        if not line.whole:
            refuse(path, last, f"the file ends in the middle of a row: {shorten(text)}")
        rows.add(line, cells)
    if head is None:
        refuse(path, max(last, 1), "comments, but no head with hosts or columns")
    guessed = bare and not units
    if guessed:
        units = {"MiB/s" if max(rows.found.values(), default=0) > _BIG else "GB/s": last}
    if not units:
        refuse(path, head.line, "no unit: name it in the head or in a comment, such as # Gb/s")
    if len(units) > 1:
        (one, _), (other, at) = list(units.items())[:2]
        refuse(path, at, f"two units, {one} and {other}: state one")
    unit = next(iter(units))
    try:
        pairs = rows.pairs(_scale(unit))
    except ValueError as error:
        if str(error).startswith(name(path)):
            raise
        refuse(path, last, str(error))
    return Reading(name(path), "list" if head.list else "matrix", unit, pairs, guessed)


def _bare(path, line):
    found = _BARE.match(line.text)
    if not found:
        refuse(path, line.number, f"not a pair of hosts and a number: {shorten(line.text)}")
    return list(found.groups())


def _spelling(unit):
    return re.sub("[bB]ytes?", "B", re.sub("[bB]its?", "b", unit)).replace("/sec", "/s")


def _scale(unit):
    return UNITS[_spelling(unit)][1]


def _units_in(path, line, text, units):
    for unit in _UNIT.findall(text[:4096]):
        plain = _spelling(unit)
        if plain in ("MB/s", "MBps", "KB/s", "KBps", "kB/s", "kBps"):
            refuse(
                path,
                line.number,
                f"{unit} is two things: 2^20 bytes a second where perftest prints it, 10^6"
                " elsewhere; write MiB/s or Gb/s",
            )
        if plain not in UNITS:
            refuse(
                path,
                line.number,
                f"{unit} is not a known unit, and case matters: b is a bit, B a byte; Gb/s, GB/s,"
                " GiB/s, MiB/s",
            )
        if plain not in map(_spelling, units):
            units[unit] = line.number


class _Head:
    """The first line that is no comment: how cells are parted, and the columns."""

    def __init__(self, path, line):
        text = _BESIDE.sub(
            lambda found: f"[{found[1]}]" if _UNIT.fullmatch(found[1].strip()) else found[0],
            line.text,
        )
        self.line = line.number
        self.apart = next((mark for mark in ",;\t" if mark in text), None)
        self.columns = self.cells(text)
        bare = [
            _UNIT.sub("", column).replace("[]", "").strip(" _").lower()
            for column in self.columns[:5]
        ]
        self.list = len(bare) > 2 and bool(_LIST.match(" ".join([*bare[:2], bare[2] or "rate"])))
        if self.list:
            if len(bare) > 4 or (len(bare) == 4 and not re.fullmatch(_PATH, bare[3])):
                refuse(
                    path,
                    line.number,
                    "the head of a list must be source, target, bandwidth and perhaps spine, not"
                    f" {shorten(text)}",
                )
            return
        corner = _CORNER.match(bare[0].strip("\"'"))
        self.turned = bool(corner and corner[2] and not corner[1] and corner[3])
        self.hosts = tuple(self.columns[1:])
        if len(self.hosts) > MOST_HOSTS:
            refuse(path, line.number, f"more than {MOST_HOSTS:,} hosts")
        if len(self.hosts) < 2:
            refuse(
                path,
                line.number,
                "neither the head of a list (source, target, bandwidth) nor of a matrix, which has"
                f" a column a host: {shorten(text)}",
            )
        if len(set(self.hosts)) < len(self.hosts) or "" in self.hosts:
            twice = next(
                host for at, host in enumerate(self.hosts) if not host or host in self.hosts[:at]
            )
            refuse(
                path,
                line.number,
                f"the head names {shorten(twice)} twice" if twice else "a column without a name",
            )

    def cells(self, text):
        return [cell.strip().strip('"').strip() for cell in text.split(self.apart)]


def _value(path, line, cell):
    """The number in a cell, NaN for none measured."""
    if cell.lower() in _NOTHING:
        return np.nan
    if not _NUMBER.fullmatch(cell):
        refuse(
            path,
            line.number,
            f"{shorten(cell)} is not a bandwidth"
            + (": it is below zero" if cell.startswith("-") else ""),
        )
    return float(cell)


class _Matrix:
    def __init__(self, path, head):
        self.path, self.head, self.rows = path, head, {}
        self.at = {host: number for number, host in enumerate(head.hosts)}

    def add(self, line, cells):
        if self.head.apart is None and not self.rows and len(cells) == len(self.head.columns) + 1:
            self.head.hosts = tuple(
                self.head.columns
            )  # blanks part the cells, and the corner is one of them
            self.at = {host: number for number, host in enumerate(self.head.hosts)}
        source, hosts = cells[0], self.head.hosts
        if len(cells) != len(hosts) + 1:
            refuse(
                self.path,
                line.number,
                f"row {shorten(source)} has {len(cells) - 1} values, the header {len(hosts)} hosts",
            )
        if source not in self.at or source in self.rows:
            refuse(
                self.path,
                line.number,
                (
                    f"{shorten(source)} stands in two rows"
                    if source in self.rows
                    else f"{shorten(source)} is a row, but no column: a matrix is square"
                ),
            )
        self.rows[source] = np.array([_value(self.path, line, cell) for cell in cells[1:]])

    def pairs(self, scale):
        missing = [host for host in self.head.hosts if host not in self.rows]
        if missing:
            refuse(
                self.path,
                self.head.line,
                f"{shorten(missing[0])} is a column, but no row: cut short? A matrix is square",
            )
        cells = np.array([self.rows[host] for host in self.head.hosts]) * scale
        cells = cells.T if self.head.turned else cells
        np.fill_diagonal(cells, np.nan)
        source, target = np.nonzero(~np.isnan(cells))
        if not source.size:
            refuse(self.path, self.head.line, "no pair was measured: missing data is not zero")
        return Pairs(self.head.hosts, source, target, cells[source, target])


class _List:
    def __init__(self, path, head):
        self.path, self.columns, self.found, self.hosts, self.spines = (
            path,
            len(head.columns),
            {},
            {},
            {},
        )

    def add(self, line, cells):
        if len(cells) != self.columns:
            refuse(
                self.path,
                line.number,
                f"{len(cells)} cells, and the head has {self.columns}: {shorten(line.text)}",
            )
        source, target, value = cells[0], cells[1], _value(self.path, line, cells[2])
        if not source or not target:
            refuse(self.path, line.number, f"a pair without a name: {shorten(line.text)}")
        if source == target:
            refuse(
                self.path,
                line.number,
                f"{shorten(source)} is both source and target: no cable is crossed",
            )
        out, into = (self.hosts.setdefault(host, len(self.hosts)) for host in (source, target))
        via = cells[3] if self.columns > 3 and cells[3].lower() not in _NOTHING else None
        over = -1 if via is None else self.spines.setdefault(via, len(self.spines))
        if len(self.hosts) > MOST_HOSTS or len(self.spines) > _MOST_SPINES:
            refuse(
                self.path,
                line.number,
                f"more than {MOST_HOSTS:,} hosts, or {_MOST_SPINES:,} spines",
            )
        if np.isnan(value):
            return
        key = (out * MOST_HOSTS + into) * (_MOST_SPINES + 1) + over + 1
        if self.found.setdefault(key, value) != value:
            refuse(
                self.path,
                line.number,
                f"{shorten(source)} to {shorten(target)} is listed twice, with different values",
            )
        if len(self.found) > _MOST_PAIRS:
            refuse(self.path, line.number, f"more than {_MOST_PAIRS:,} pairs: a matrix holds more")

    def pairs(self, scale):
        if not self.found:
            refuse(self.path, 1, "no pair was measured: missing data is not zero")
        # hosts and spines come in any order; people count them by their numbers
        hosts, spines = (sorted(names, key=_natural) for names in (self.hosts, self.spines))
        host = np.argsort([self.hosts[name] for name in hosts])
        spine = np.append(np.argsort([self.spines[name] for name in spines]).astype(int), -1)
        pair, over = np.divmod(np.fromiter(self.found, np.int64, len(self.found)), _MOST_SPINES + 1)
        source, target = np.divmod(pair, MOST_HOSTS)
        values = np.fromiter(self.found.values(), float, len(self.found)) * scale
        return Pairs(
            tuple(hosts),
            host[source],
            host[target],
            values,
            tuple(spines),
            spine[over - 1] if spines else None,
        )


def _natural(host):
    """Names with numbers in the order in which people count: node-2 before node-10."""
    return [
        (0, int(part), "") if part.isdigit() else (1, 0, part)
        for part in re.split(r"(\d{1,9})", host)
    ]
