"""perftest: ib_write_bw, ib_read_bw, ib_send_bw and their _lat sisters: one pair of ports, message
by message.

The layout, in our words. A title names the verb, "Bidirectional" and BW or Latency; settings as
``name : value``, two a
line; a line of column names; one row per message size. What the numbers are:
- "MB/sec" and "MiB/sec" both are 2^20 bytes a second, "Gb/sec" is decimal; -b prints the sum of
  both directions.
- Peak 0.00 means not measured (duration mode).
- A write's or send's latency is half a round trip, a read's or an atomic's a whole one.
Both sides may print into one file: the same row twice is one measurement. A warning about CPU
frequencies may stand between rows. Columns may run into each other; they part again because each
has its fixed number of decimals.
"""

import re
from dataclasses import dataclass, field

from fabriclab.logs.jsonform import as_lines
from fabriclab.logs.perftest.jsonform import told
from fabriclab.logs.source import MOST_ROWS, Died, Part, name, refuse, shorten
from fabriclab.units import Gbps, MiB, us

TOOL = "perftest"
_VERBS = {"RDMA_Write": "write", "RDMA_Read": "read", "Send": "send", "Atomic": "atomic"}
_TITLE = re.compile(
    r"^\s*(RDMA_Write|RDMA_Read|Send|Atomic)\b([A-Za-z_ ]{0,60}?)\b(BW|Latency) (?:[A-Za-z]{1,20}"
    r" )?Test\s*$"
)
_HEAD = re.compile(r"^\s*#? ?#?bytes\s+(?:#sl\s+)?#iterations\b")
ROW = re.compile(r"(?<!\S)\d+\s+\d+\s+\d+\.\d\d\s+\d+\.\d\d\s+\d+\.\d{6}\b")
_JSON = r"^\s*(?:\{\s*)?\"test_info\"\s*:"
# what it says where it ends before its title: only lines that are perftest's own
_LONE = (
    r"^\s*(?:Couldn't (?:connect to |get context for the device|allocate MR|create \w+$)"
    r"|Port number \d+ state is Down|Completion with error at |Failed status \d+: wr_id"
    r"|Unable to init the socket connection)"
)
SIGN = re.compile(f"{_TITLE.pattern}|{_HEAD.pattern}|{_JSON}|{_LONE}")
_DIED = re.compile(
    r"^\s*(?:Couldn't |Unable to |Failed to |Failed status \d|Completion with error"
    r"|ethernet_read_keys: |Problems? with |pp_\w+ failed|Did not detect devices"
    r"|Requested mtu is higher|.*\bparse_?works?\b.*failed)"
)
_UNITS = {"MB/sec": MiB, "MiB/sec": MiB, "Gb/sec": Gbps}
_COLUMNS = {  # name in the head -> (field, decimals); those that no field keeps are read and left
    "#bytes": ("size", 0),
    "#sl": (None, 0),
    "#iterations": ("iterations", 0),
    "BW peak": ("peak", 2),
    "BW average": ("average", 2),
    "MsgRate[Mpps]": ("messages", 6),
    "t_min[usec]": ("least", 2),
    "t_max[usec]": ("most", 2),
    "t_typical[usec]": ("typical", 2),
    "t_avg[usec]": ("mean", 2),
    "t_stdev[usec]": ("deviation", 2),
    "99% percentile[usec]": ("p99", 2),
    "99.9% percentile[usec]": ("p999", 2),
    "tps average": (None, 2),
    "CPU_Util[%]": (None, 2),
}
_PER_PORT = re.compile(r"(?:BW|MsgRate) Port[12]\[[A-Za-z/]{4,7}\]")
_NAME = re.compile(
    "|".join(
        [
            _PER_PORT.pattern,
            *(
                re.escape(column) + (r"\[[A-Za-z/]{4,7}\]" if column.startswith("BW") else "")
                for column in _COLUMNS
            ),
        ]
    )
)
_SETTINGS = {
    "device": re.compile(r"\bDevice\s*:\s*([\w.-]{1,40})"),
    "link": re.compile(r"\bLink type\s*:\s*(IB|Ethernet)\b"),
    "mtu": re.compile(r"\bMtu\s*:\s*(\d{3,5})\[B\]"),
    "qps": re.compile(r"\bNumber of qps\s*:\s*(\d{1,6})\b"),
    "connection": re.compile(r"\bConnection type\s*:\s*(\w{1,10})"),
    "gpu": re.compile(r"\bUse (?:ROCm|CUDA|GPU) memory\s*:\s*(ON)\b|(\bCUDA device\b)", re.I),
}
_CLOCKS = re.compile(
    r"Conflicting CPU frequency values detected: (\d{1,9}\.\d{1,9}) != (\d{1,9}\.\d{1,9})"
)
_ADDRESS = re.compile(r"\b(local|remote) address: LID (0x[0-9a-f]{1,5}|0)\b")
_NUMBER = re.compile(r"\d{1,20}(?:\.\d{1,9})?")


@dataclass(frozen=True)
class Row:
    """One row: its `line`, message `size` in bytes, iterations; bytes per second as printed (both
    directions together where the table is `bidirectional`) and messages per second, or seconds as
    printed (see `Table.one_way`). None: not measured.
    """

    line: int = field(compare=False)
    size: int
    iterations: int
    peak: float | None = None
    average: float | None = None
    messages: float | None = None
    least: float | None = None
    most: float | None = None
    typical: float | None = None
    mean: float | None = None
    deviation: float | None = None
    p99: float | None = None
    p999: float | None = None


@dataclass(frozen=True)
class Table:
    """One run. `kind` "bandwidth" or "latency"; `step` half of the last place that bandwidths are
    printed to. From the title, None without one: the `verb` ("write", "read", "send", "atomic") and
    whether it is `bidirectional`. From the settings, None where missing: `device`, `link` ("IB",
    "Ethernet"), `mtu` in bytes, `qps`, `connection`, and whether `gpu` memory was used. `clocks`
    are the CPU frequencies in MHz that disagreed, `loopback` that both ends have one LID, `echoes`
    how many rows the other side printed again.
    """

    rows: tuple[Row, ...]
    kind: str
    step: float = 0.0
    verb: str | None = None
    bidirectional: bool | None = None
    device: str | None = None
    link: str | None = None
    mtu: int | None = None
    qps: int | None = None
    connection: str | None = None
    gpu: bool = False
    clocks: tuple[float, float] | None = None
    loopback: bool = False
    echoes: int = 0

    @property
    def best(self):
        """The row of the highest average bandwidth."""
        return max(self.rows, key=lambda row: row.average or 0.0)

    def one_way(self, row):
        """The row's bytes per second in one direction, or seconds one way (median, else mean). None
        where the title that would tell is missing.

        >>> Table((), "bandwidth", bidirectional=True).one_way(Row(1, 8, 1000, average=90e9))
        45000000000.0
        >>> Table((), "latency", verb="read").one_way(Row(1, 2, 1000, typical=3e-6))
        1.5e-06
        """
        if self.kind == "bandwidth":
            return (
                None
                if self.bidirectional is None
                else row.average / (2 if self.bidirectional else 1)
            )
        time = row.typical if row.typical is not None else row.mean
        return None if self.verb is None else time / (2 if self.verb in ("read", "atomic") else 1)


@dataclass(frozen=True)
class Reading:
    """perftest output as read: its tables in the order of the file, and tests that `died` before
    their first row: (line, what is known of why).
    """

    path: str
    tables: tuple[Table, ...]
    died: tuple[tuple[int, str], ...] = ()

    tool = TOOL


class _Reader:
    """Reads line by line; whatever is not whole it refuses by its line."""

    def __init__(self, path):
        self.path, self.tables, self.total = path, [], 0
        self.died, self.error, self.begun = [], None, 0
        self._fresh()

    def _fresh(self):
        self.rows, self.columns, self.scale, self.unit, self.title, self.found, self.echoes = (
            {},
            None,
            {},
            None,
            None,
            {},
            0,
        )

    def take(self, line):
        text = re.sub(r"^\s*# ?(?=\d+\s+\d+\s+[\d.]+\s)", " ", line.text[:1000])
        if found := _TITLE.match(text):
            if self.rows:
                self._close()
            if self.title and (self.title != found.groups() or self.error):
                self._dies()
            self.title, self.begun = found.groups(), line.number
        elif _HEAD.match(text):
            self._head(line, text)
        elif _DIED.match(text) and line.whole:
            self.error = self.error or (line.number, text.strip())
        elif re.fullmatch(r"[\s.…]*[.…]{2}[\s.…]*", text):
            return  # rows that whoever pasted it left out
        elif self.columns and re.match(r"\s*[.\d][.\d\s]*$|\s*\d+\s+\d", text):
            self._row(line, text)
        elif self.columns and re.search(r"\S\s+\d+\s+\d+\s+\d+\.\d\d\s+\d+\.\d\d", text):
            refuse(self.path, line.number, f"a row behind other text: {shorten(text)}")
        elif line.whole:
            self._setting(text)

    def _dies(self):
        """The test at hand has no row: it is told, and another may come."""
        at, words = self.error or (self.begun, "no row of results, and no error of its own")
        self.died.append((at, words[:200]))
        self._fresh()
        self.error = None

    def _head(self, line, text):
        text = re.sub(r"^(\s*)# ?(?=bytes\b|#bytes)", r"\1#", text).replace("##", "#")
        names = _NAME.findall(text)
        units = set(re.findall(r"BW (?:peak|average|Port\d)\[(.*?)\]", text))
        if (
            _NAME.sub("", text).strip()
            or not line.whole
            or len(units) > 1
            or not units <= set(_UNITS)
        ):
            refuse(
                self.path,
                line.number,
                f"a head with columns not known here, or cut: {shorten(text, 100)}",
            )
        keys = [re.sub(r"(BW .*)\[.*", r"\1", column) for column in names]
        columns = [
            _COLUMNS.get(key) or (None, 6 if key.startswith("MsgRate") else 2) for key in keys
        ]
        fields = [one for one, _ in columns if one]
        if len(set(fields)) != len(fields) or not (
            {"peak", "average"} <= set(fields)
            or "mean" in fields
            or {"least", "most", "typical"} <= set(fields)
        ):
            refuse(
                self.path,
                line.number,
                f"a head with columns missing or twice: {shorten(text, 100)}",
            )
        if self.rows:  # the other side's, or another run's without a title
            title, found = self.title, self.found
            self._close()
            self.title, self.found = title, found
        self.columns, self.unit = columns, units.pop() if units else None
        rate = _UNITS[self.unit] if self.unit else None
        self.scale = {"size": 1, "iterations": 1, "peak": rate, "average": rate, "messages": 1e6}

    def _row(self, line, text):
        if not line.whole:
            refuse(self.path, line.number, "the file ends in the middle of a row")
        tokens = text.split()
        if len(tokens) != len(self.columns) or not all(
            _NUMBER.fullmatch(token) for token in tokens
        ):
            parts = (
                r"(\d{1,20})\s+" if not decimals else rf"(\d{{1,20}}\.\d{{{decimals}}})\s*"
                for _, decimals in self.columns
            )
            glued = re.fullmatch(r"\s*" + "".join(parts), text)
            if not glued:
                refuse(
                    self.path,
                    line.number,
                    f"not a whole row of {len(self.columns)} columns: {shorten(text, 100)}",
                )
            tokens = glued.groups()
        values = {}
        for (key, decimals), token in zip(self.columns, tokens):
            if bool(decimals) != ("." in token) or float(token) > 1e15:
                refuse(
                    self.path,
                    line.number,
                    f"{shorten(token)} is no {'measurement' if decimals else 'count'}:"
                    f" {shorten(text, 100)}",
                )
            if key:
                values[key] = float(token) * self.scale.get(key, us) if decimals else int(token)
        self._add(line.number, text, values)

    def _add(self, number, text, values):
        if values.get("peak") == 0:
            values["peak"] = None  # not measured
        for low, high in (
            ("least", "typical"),
            ("typical", "most"),
            ("least", "most"),
            ("p99", "most"),
        ):
            if (
                values.get(low) is not None
                and values.get(high) is not None
                and values[low] > values[high]
            ):
                refuse(
                    self.path, number, f"{low} above {high}, which cannot be: {shorten(text, 100)}"
                )
        if not values["size"]:
            refuse(self.path, number, f"message size is 0: {shorten(text, 100)}")
        row = Row(number, **values)
        if row in self.rows:
            self.echoes += 1
            return
        self.rows[row] = None
        self.total += 1
        if self.total > MOST_ROWS:
            refuse(self.path, number, f"more than {MOST_ROWS:,} rows")

    def _setting(self, text):
        for key, pattern in _SETTINGS.items():
            if found := pattern.search(text):
                self.found[key] = found[1] or found[0]
        if found := _CLOCKS.search(text):
            self.found["clocks"] = (float(found[1]), float(found[2]))
        elif (found := _ADDRESS.search(text)) and len(self.found.setdefault(found[1], set())) < 100:
            self.found[found[1]].add(int(found[2], 0))

    def _close(self):
        found, rows = self.found, tuple(self.rows)
        verb, between, _ = self.title or (None, None, None)
        local, remote = found.get("local"), found.get("remote")
        table = Table(
            rows,
            "bandwidth" if rows[0].average is not None else "latency",
            step=0.005 * _UNITS[self.unit] if self.unit else 0.0,
            verb=_VERBS.get(verb),
            bidirectional=None if between is None else "Bidirectional" in between,
            **{key: found.get(key) for key in ("device", "link", "connection", "clocks")},
            **{key: int(found[key]) if key in found else None for key in ("mtu", "qps")},
            gpu="gpu" in found,
            loopback=bool(local) and local == remote and len(local) == 1 and local != {0},
            echoes=self.echoes,
        )
        before = self.tables[-1] if self.tables else None
        if (
            before
            and (before.verb, before.kind) == (table.verb, table.kind)
            and set(rows) <= set(before.rows)
        ):
            self.tables[-1] = Table(
                **{**vars(before), "echoes": before.echoes + len(rows) + self.echoes}
            )
        else:
            self.tables.append(table)
        self._fresh()

    def end(self, last):
        if self.rows:
            self._close()
        elif self.columns or not self.tables or self.title:
            if not self.tables:
                why = f"; it says {shorten(self.error[1], 120)}" if self.error else ""
                refuse(
                    self.path,
                    self.error[0] if self.error else last,
                    "perftest began, but no row of results: it waits for the other side, it died,"
                    f" or the file is cut{why}",
                    Died,
                )
            self._dies()
        elif self.error:
            self.died.append((self.error[0], self.error[1][:200]))
        return Reading(name(self.path), tuple(self.tables), tuple(self.died))


def read(path: Part) -> "Reading":
    """A `Reading` of perftest output at `path`.

    Raises ValueError naming file, line and reason for a row that is cut or has too many columns,
    for numbers that cannot be (a median above the largest), for columns or units not known here,
    and for a test without a row.
    """
    reader, last = _Reader(path), 0
    for line in as_lines(path, told):
        last = line.number
        reader.take(line)
    return reader.end(last)
