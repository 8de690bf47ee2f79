"""What a folder holds of one incident: every file through the one door of `logs`, and what no
tool prints.

``incident.toml`` is optional, and so is everything in it::

    nodes = 4                   # of the job
    ports_per_node = 8          # RDMA ports that the job should use
    port = "400 Gb/s"           # what one of them should carry, line rate
    seconds_between = 10        # between two counter readings in files of their own
    hosts = ["node-0001"]       # the job's, where no file names them
    [iteration]                 # seconds
    before = 4.2
    now = 4.8
    synthetic = 4.2             # now, with made-up input instead of files
"""

import os
import stat
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from fabriclab import catalog, logs, units
from fabriclab.checks import count, positive, scalar
from fabriclab.logs import (
    gpus,
    mlxlink,
    nccl,
    nccl_log,
    pairs,
    pauses,
    perfquery,
    perftest,
    watchdog,
)
from fabriclab.logs.infiniband import Fabric, kind_of
from fabriclab.logs.source import refuse, shorten

TOLD = "incident.toml"
MOST_FILES = 500
_LARGEST_TOLD = 64 * 1024  # bytes


@dataclass(frozen=True)
class Told:
    """What ``incident.toml`` says, in SI; None where it does not."""

    nodes: int | None = None
    ports_per_node: int | None = None
    port: float | None = None
    seconds_between: float | None = None
    hosts: tuple[str, ...] = ()
    before: float | None = None
    now: float | None = None
    synthetic: float | None = None


@dataclass(frozen=True)
class Evidence:
    """A folder as read: `files` as (name, reading), `unread` as (name, reason), what it is `told`,
    and `on` as (name, host) where a folder, a prefix or a prompt names the host. `died` are the
    tests without a result: (name, step, reason).
    """

    path: str
    files: tuple
    unread: tuple[tuple[str, str], ...] = ()
    told: Told = Told()
    on: tuple[tuple[str, str], ...] = ()
    died: tuple[tuple[str, int, str], ...] = ()

    def host(self, file):
        """The host that a file or part of one comes from, None where nothing names it."""
        return dict(self.on).get(file)

    def of(self, kind):
        """(file, reading) of every reading of one type."""
        return [(file, reading) for file, reading in self.files if isinstance(reading, kind)]

    def logs(self):
        """(file, log) of NCCL's own log, alone or between the rows of a table."""
        beside = [(file, reading.log) for file, reading in self.of(nccl.Reading) if reading.log]
        return self.of(nccl_log.Reading) + beside

    def hosts(self):
        """The job's hosts by name: as told, else as the tables of nccl-tests or the log name
        them.
        """
        named = {
            process.host
            for _, reading in self.of(nccl.Reading)
            for table in reading.tables
            for process in table.processes
        }
        logged = {host for _, log in self.logs() for host in log.hosts}
        return tuple(sorted(self.told.hosts or named or logged or {host for _, host in self.on}))

    def notes(self):
        """What is odd about the files as a whole: those that name no host in common are hardly of
        one incident.
        """
        versions = {log.version: file for file, log in reversed(self.logs()) if log.version}
        mixed = (
            (
                (
                    f"NCCL {' and '.join(sorted(versions))} in"
                    f" {' and '.join(versions[version] for version in sorted(versions))}: one job"
                    " runs one version"
                ),
            )
            if len(versions) > 1
            else ()
        )
        named = [
            (file, {process.host for table in reading.tables for process in table.processes})
            for file, reading in self.of(nccl.Reading)
        ]
        named = [
            (file, hosts)
            for file, hosts in [
                *named,
                *((file, set(log.hosts)) for file, log in self.of(nccl_log.Reading)),
            ]
            if hosts
        ]
        for at, (file, hosts) in enumerate(named):
            for other, others in named[:at]:
                if not hosts & others:
                    return (
                        (
                            f"{other} is of {min(others)[:40]}, {file} of {min(hosts)[:40]}: no"
                            " host in common, so perhaps two incidents in one folder"
                        ),
                        *mixed,
                    )
        return mixed

    def port(self):
        """(bytes per second that a port should carry, who says so)."""
        if self.told.port:
            return self.told.port, TOLD
        found = []
        for file, reading in self.of(mlxlink.Reading):
            found += [
                (rate, file)
                for port in reading.ports
                for rate in (port.rate, mlxlink.best(port))
                if rate
            ]
        for file, fabric in self.of(Fabric):
            found += [
                (link.rate, file)
                for link in fabric.links
                if link.rate and kind_of(fabric, link) == "host-switch"
            ]
        for file, reading in self.of(logs.ports.Reading):
            found += [(port.rate, file) for port in reading.ports if port.up and port.rate]
        for file, reading in self.of(nccl.Reading):
            models = {process.gpu for table in reading.tables for process in table.processes}
            found += [
                (known.port.per_direction, file)
                for known in catalog.ACCELERATORS
                if any(known.name in gpu for gpu in models)
            ]
        return (
            max(found, key=lambda pair: pair[0])
            if found
            else (catalog.NDR.beta, "nothing here, so NDR is taken for granted")
        )

    def tests(self):
        """(file, table) of perftest's tables that say what a port carries."""
        return [
            (file, table)
            for file, reading in self.of(perftest.Reading)
            for table in reading.tables
            if perftest.judged(table)
        ]

    @property
    def rate(self):
        """What a port should carry where that is known: told, read off a port, or reached by a
        test; else None.
        """
        rate, _ = self.port()
        reached = any(perftest.good(table, rate) for _, table in self.tests())
        return rate if self.port_known or reached else None

    def signs(self):
        """(file, step, sign) of all that readers mark as standing out."""
        known, fabrics = self.rate, [fabric for _, fabric in self.of(Fabric)]
        twice = {port for port, answers in self.readings_of_ports().items() if len(answers) > 1}
        for file, reading in self.files:
            if isinstance(reading, perfquery.Reading):
                # what two answers tell of a port, the steps do
                for port in perfquery.latest(reading):
                    key = self._called(file, port), port.set
                    for sign in perfquery.port_signs(port):
                        if sign.name not in _ONCE or key not in twice:
                            yield file, CABLE_STEP.get(sign.name, 4), sign
                continue
            rate = self.told.port if isinstance(reading, mlxlink.Reading) else known
            more = {"fabrics": fabrics} if isinstance(reading, pairs.Reading) else {}
            for sign in logs.signs(reading, rate, **more):
                yield file, CABLE_STEP.get(sign.name, STEP_OF[type(reading)]), sign

    @property
    def port_known(self):
        """Whether `port` is told or read off a port; the GPU's model only says what the maker's own
        node has.
        """
        return self.port()[1] == TOLD or any(
            self.port()[1] == file
            for kind in (mlxlink.Reading, Fabric, logs.ports.Reading)
            for file, _ in self.of(kind)
        )

    def _called(self, file, port):
        """A LID is one port of the fabric; a port not named is one of its host."""
        host = self.host(file) if port.lid is None else None
        return f"{host}: {port.called}" if host else port.called

    def readings_of_ports(self):
        """perfquery's answers port by port, each list from the earliest on: (file, answer),
        earliest meaning least counted.
        """
        found = defaultdict(list)
        for file, reading in self.of(perfquery.Reading):
            for port in reading.ports:
                if port.set in ("plain", "extended"):
                    found[self._called(file, port), port.set].append((file, port))
        for port, answers in found.items():
            timed = [pair for pair in answers if pair[1].at is not None]
            found[port] = answers = (
                timed or answers
            )  # where some have a time, one without has no place among them
            answers.sort(
                key=lambda pair: (pair[1].at or 0.0, sum(value for _, value in pair[1].counters))
            )
        return found


def read_told(path: Path) -> Told:
    """A `Told` from the toml at `path`.

    Raises ValueError naming file and key for what it cannot mean.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe would be waited for
            refuse(path, 0, "not a plain file")
        with open(path, "rb") as file:
            raw = file.read(_LARGEST_TOLD + 1)
        if len(raw) > _LARGEST_TOLD:
            refuse(path, 0, f"more than {_LARGEST_TOLD // 1024} KiB: it holds a few numbers")
        words = tomllib.loads(raw.decode("utf-8"))
    except OSError as error:
        refuse(path, 0, f"cannot be opened: {error.strerror or error}")
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        refuse(path, 0, f"not valid TOML: {error}")
    iteration = words.pop("iteration", {})
    if not isinstance(iteration, dict):
        refuse(path, 0, "iteration must be a table of before, now and synthetic, in seconds")
    unknown = [key for key in words if key not in _READ or key in _ITERATION] + [
        f"iteration.{key}" for key in iteration if key not in _ITERATION
    ]
    if unknown:
        known = [key for key in _READ if key not in _ITERATION] + [
            f"iteration.{key}" for key in _ITERATION
        ]
        refuse(path, 0, f"{shorten(unknown[0])} is an unknown key; allowed: {', '.join(known)}")
    try:
        return Told(**{key: _READ[key](key, value) for key, value in (words | iteration).items()})
    except ValueError as error:
        refuse(path, 0, str(error))


def _count(key, value):
    return int(scalar(key, count(key, value)))


def _positive(key, value):
    return float(scalar(key, positive(key, value)))


def _rate(key, value):
    quantity = units.read(value) if isinstance(value, str) else None
    if quantity is None or quantity.dimension != "rate":
        raise ValueError(
            f'{key} must be a rate in quotes, such as "400 Gb/s", not {shorten(str(value))}'
        )
    return _positive(key, quantity.value)


def _names(key, value):
    if (
        not isinstance(value, list)
        or not all(isinstance(host, str) for host in value)
        or len(value) > 100_000
    ):
        raise ValueError(f"{key} must be a list of host names, not {shorten(str(value))}")
    return tuple(value)


_ITERATION = ("before", "now", "synthetic")
_READ = {
    "nodes": _count,
    "ports_per_node": _count,
    "port": _rate,
    "seconds_between": _positive,
    "hosts": _names,
} | dict.fromkeys(_ITERATION, _positive)

STEP_OF = {  # the step that a kind of reading is looked at in
    gpus.Reading: 1,
    nccl.Reading: 2,
    nccl_log.Reading: 2,
    logs.system.Reading: 2,
    perftest.Reading: 3,
    pairs.Reading: 3,
    pauses.Reading: 4,
    watchdog.Reading: 4,
    perfquery.Reading: 4,
    mlxlink.Reading: 5,
    Fabric: 5,
    logs.topo.Reading: 2,
    logs.nvlink.Reading: 2,
    logs.rdma.Reading: 4,
    logs.queryerrors.Reading: 4,
    logs.ports.Reading: 5,
    logs.lspci.Reading: 5,
}
_ONCE = ("errors-once", "discards-once")
# signs of a cable in counters that are read in another step
CABLE_STEP = dict.fromkeys(
    ("errors-once", "link-downs", "bit-errors", "rdma-damage", "rdma-down"), 5
)
