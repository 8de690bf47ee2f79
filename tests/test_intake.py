"""How text comes in: prefixes, pipes, packed files, several tools in one file, several hosts."""

import gzip
import io
import json
import os
import re
import subprocess
import sys
import threading
import time
import zipfile

import pytest

from fabriclab import logs
from fabriclab.__main__ import main
from fabriclab.logs import (
    diagnose,
    mlxlink,
    pauses,
    perfquery,
    perftest,
    ports,
    prefix,
    source,
    stream,
    watchdog,
)
from fabriclab.units import day
from tools import samples as made

PERFTEST = made.perftest_bandwidth([65536, 1 << 20], [24e9, 24.4e9])
MLXLINK = made.mlxlink([10, 20, 30, 10], day)
ETHTOOL = made.ethtool({"rx_prio3_pause": 142, "tx_prio3_pause": 0})
STATS = made.pfcwd_stats({"Ethernet0:3": (True, 4, 3, 100, 300, 90, 0)})
NCCL = next(text for name, text in made.shipped().items() if name.startswith("allreduce"))
TEXTS = {"perftest": PERFTEST, "mlxlink": MLXLINK, "ethtool": ETHTOOL, "pfcwd": STATS, "nccl": NCCL}
CLOCK = "2026-11-30T20:00:{:02d}.123456789Z"


@pytest.fixture
def file(tmp_path):
    def put(content, name="log.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put


def plain(found):
    """What is said of every part, without labels and paths."""
    return [one.reader.report(one.reading) for one in found.found]


def docker(text):
    return json.dumps({"log": text + "\n", "stream": "stdout", "time": CLOCK.format(1)})


PREFIXES = {
    "pdsh": lambda at, text: f"node01: {text}",
    "clush of a pair": lambda at, text: f"gpu-b200-7.cluster: {text}",
    "srun -l": lambda at, text: f"{0:>2}: {text}",
    "mpirun --tag-output": lambda at, text: f"[1,0]<stdout>:{text}",
    "kubectl --timestamps": lambda at, text: f"{CLOCK.format(at % 60)} {text}",
    "kubectl --prefix": lambda at, text: f"[pod/worker-0/main] {text}",
    "containerd": lambda at, text: f"{CLOCK.format(at % 60)} stdout F {text}",
    "docker": lambda at, text: docker(text),
    "compose": lambda at, text: f"worker-1  | {text}",
    "syslog": lambda at, text: f"Nov 30 20:00:{at % 60:02d} node7 srun[4242]: {text}",
    "journald": lambda at, text: f"2026-11-30T20:00:{at % 60:02d}+0000 node7 bash[1]: {text}",
    "RFC 5424": lambda at, text: f"<14>1 {CLOCK.format(1)} node7 srun 12 - - {text}",
    "CloudWatch": lambda at, text: f"  | 2026-11-30T20:00:01.208-07:00 | {text}",
    "[date]": lambda at, text: f"[2026-11-30 20:00:{at % 60:02d}] {text}",
    "dmesg": lambda at, text: f"[12345.678901] {text}",
    "python": lambda at, text: f"2026-11-30 20:00:01,123 INFO {text}",
    "torchrun": lambda at, text: f"[default0]:{text}",
    "mpiexec": lambda at, text: f"[0] {text}",
    "mail": lambda at, text: f"> {text}".rstrip(),
    "mail twice": lambda at, text: f"> > {text}".rstrip(),
    "pssh and time": lambda at, text: f"[node01] {CLOCK.format(at % 60)} {text}",
}


@pytest.mark.parametrize("tool", TEXTS)
@pytest.mark.parametrize("kind", PREFIXES)
def test_a_prefix_of_all_lines_comes_off(kind, tool, file):
    """A log from a launcher, a collector or a mail would be refused, or its rows lost."""
    put = PREFIXES[kind]
    text = "".join(put(at, line) + "\n" for at, line in enumerate(TEXTS[tool].splitlines()))
    bare, found = logs.readings(file(TEXTS[tool])), logs.readings(file(text))
    assert plain(found) == plain(bare) and not found.refused and not found.left


@pytest.mark.parametrize("tool", TEXTS)
def test_the_command_in_front_has_no_prefix(tool, file):
    """The prefix would stay on because the line that started it has none."""
    text = "$ kubectl logs --timestamps job-0\n" + "".join(
        f"{CLOCK.format(1)} {line}\n" for line in TEXTS[tool].splitlines()
    )
    found, bare = (logs.readings(file(one)) for one in (text, TEXTS[tool]))
    without = [re.sub(r"line \d+", "line", said) for said in plain(found)]
    assert without == [re.sub(r"line \d+", "line", said) for said in plain(bare)]


def test_lines_of_two_hosts_come_apart(file):
    """pdsh mixes the lines of its hosts: one host's counts would be taken for another's."""
    one = made.ethtool({"rx_prio3_pause": 142}).splitlines()
    other = made.ethtool({"rx_prio3_pause": 7}).splitlines()
    mixed = "".join(f"a1: {x}\nb2: {y}\n" for x, y in zip(one, other, strict=True))
    found = logs.readings(file(mixed)).found
    assert [(part.host, part.reading.ports[0].rx[3]) for part in found] == [("a1", 142), ("b2", 7)]
    assert "-- a1" in logs.report(file(mixed))


def test_names_of_counters_are_no_hosts(file):
    """Counters without indentation would lose their names as if they were hosts."""
    text = "".join(f"rx_prio3_pause: {count}\ntx_prio3_pause: 0\n" for count in (1,)) * 1
    (port,) = logs.read(file(text + "rx_discards_phy: 5\nrx_prio4_pause: 2\n")).ports
    assert (port.rx[3], port.rx[4], port.lost) == (1, 2, (("rx_discards_phy", 5),))
    assert prefix.layers(["a: 1", "b: 2", "c: 3", "d: 4"], lambda text: False) == []


def test_a_scroll_back_is_read_part_by_part(file):
    """Of several tools in one terminal only the first would be read, or none."""
    text = (
        "Last login: Mon Nov 30\n"
        f"[me@node7 ~]$ mlxlink -d mlx5_0 -c\n{MLXLINK}"
        f"[me@node7 ~]$ ib_write_bw -d mlx5_0 node8\n{PERFTEST}"
        f"[me@node7 ~]$ ssh leaf1\nadmin@leaf1:~$ show pfcwd stats\n{STATS}"
        f"admin@leaf1:~$ show pfcwd stats\n{STATS.replace('4/3', '9/8')}"
        "admin@leaf1:~$ exit\n"
    )
    found = logs.readings(file(text))
    assert [part.reader for part in found.found] == [mlxlink, perftest, watchdog, watchdog]
    assert [part.host for part in found.found] == ["node7", "node7", "leaf1", "leaf1"]
    assert [part.reading.queues[0].detected for part in found.found[2:]] == [4, 9]
    assert not found.refused and not found.left


def test_one_damaged_part_leaves_the_others(file, capsys):
    """A cut table would take the whole scroll-back with it, or go unmentioned."""
    text = MLXLINK + "$ ib_write_bw\n" + re.sub(r"(?m)^( 65536 .*) \S+$", r"\1", PERFTEST)
    assert main(["read", str(file(text))]) == 2
    said = capsys.readouterr()
    assert said.out.startswith("mlxlink") and "not a whole row" in said.err


def test_rows_that_belong_to_nothing_are_told(file, capsys):
    """Rows pasted without their head would pass in silence, with exit status 0."""
    row = " 65536      5000             118.64             118.17             0.225391\n"
    path = file(MLXLINK + "\n" + row * 3)
    assert main(["read", str(path)]) == 1
    assert "2 more lines look like perftest" in capsys.readouterr().out


@pytest.mark.parametrize(
    "line, words",
    [
        ("# OSU MPI Bandwidth Test v7.0", "OSU"),
        ("[ ID] Interval           Transfer     Bitrate         Retr  Cwnd", "iperf"),
        ("nvbandwidth Version: v0.4", "nvbandwidth"),
        ("[ 123.456] NVRM: Xid (PCI:0000:18:00): 79, pid=0, GPU has fallen off the bus", "Xid"),
        ("-I- Discovering ... 12 nodes (2 Switches & 10 CA-s) discovered.", "ibdiagnet"),
        ("# Benchmarking Allreduce", "Intel MPI Benchmarks"),
    ],
)
def test_what_is_known_but_not_read_is_named(line, words, file, capsys):
    """A tool that is known would be called unknown, or its output lost beside another's."""
    assert main(["read", str(file(line + "\n1 2 3\n"))]) == 2
    said = capsys.readouterr().err
    assert words in said and "look at" in said
    assert main(["read", str(file(MLXLINK + "\n" + line + "\n"))]) == 1
    assert words in capsys.readouterr().out


def test_standard_input_and_pipes(tmp_path):
    """`ib_write_bw | fabriclab read -` would wait for ever, or be refused."""
    command = [sys.executable, "-m", "fabriclab", "read"]
    done = subprocess.run([*command, "-"], input=PERFTEST, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("perftest")
    done = subprocess.run([*command, "-"], input="nothing\n", capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith("standard input, line 1")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: (time.sleep(0.2), pipe.write_text(PERFTEST)))
    writer.start()
    assert logs.report(pipe).startswith("perftest")
    writer.join()


def test_a_pipe_that_nobody_writes_ends(tmp_path, monkeypatch):
    """A pipe without a writer, or a plain file such as /proc/kmsg, would be waited for forever."""
    monkeypatch.setattr(stream, "PATIENCE", {"plain": 0.2, "pipe": 0.2})
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    began = time.monotonic()
    with pytest.raises(ValueError, match=r"nothing more came for 0\.2 s"):
        logs.read(pipe)
    assert time.monotonic() - began < 30


def test_a_plain_file_that_never_ends(tmp_path, monkeypatch):
    """A file of the kernel's that blocks when it is empty would be waited for for ever."""
    monkeypatch.setattr(stream, "PATIENCE", {"plain": 0.2, "pipe": 0.2})
    path = tmp_path / "kmsg"
    path.write_text("x\n")

    def read(handle, size):
        raise BlockingIOError

    monkeypatch.setattr(stream.os, "read", read)
    with pytest.raises(ValueError, match=r"nothing more came for 0\.2 s"):
        logs.read(path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-8-sig"])
def test_encodings_of_windows(encoding, file):
    """What PowerShell writes would be refused as a binary file."""
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    raw = mark + PERFTEST.replace("\n", "\r\n").encode(encoding)
    assert logs.read(file(raw)).tables == logs.read(file(PERFTEST)).tables


def zipped(entries):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in entries.items():
            archive.writestr(name, text)
    return held.getvalue()


def test_packed_files(file):
    """A log as it is archived would have to be unpacked by hand."""
    raw = PERFTEST.encode()
    for packed in (gzip.compress(raw), gzip.compress(raw[:500]) + gzip.compress(raw[500:])):
        assert logs.read(file(packed, "log.gz")).tables == logs.read(file(raw)).tables
    found = logs.readings(file(zipped({"a/x.txt": PERFTEST, "b/y.txt": MLXLINK}), "z.zip"))
    assert [part.reader for part in found.found] == [perftest, mlxlink]
    assert "a/x.txt" in found.found[0].label
    nested = zipped({"x.gz": gzip.compress(raw)})
    assert logs.read(file(nested, "z.zip")).tables


def test_packed_files_are_bounded(file, monkeypatch):
    """A bomb would fill memory or time, a cut archive end in another exception."""
    bomb = gzip.compress(b"\n" * 50_000_000)
    with pytest.raises(ValueError, match="unpacks to more than"):
        logs.read(file(bomb, "bomb.gz"))
    with pytest.raises(ValueError, match="unpacks to more than"):
        logs.read(file(zipped({"a": b"\n" * 50_000_000}), "bomb.zip"))
    with pytest.raises(ValueError, match="more than 500 files"):
        logs.read(file(zipped({f"f{at}": "x" for at in range(501)}), "many.zip"))
    whole = gzip.compress(os.urandom(2000) + PERFTEST.encode())
    with pytest.raises(ValueError, match="cut|damaged"):
        logs.read(file(whole[:-20], "cut.gz"))
    with pytest.raises(ValueError, match="damaged zip"):
        logs.read(file(zipped({"a": PERFTEST})[:-40], "cut.zip"))
    tar = b"a.txt".ljust(257, b"\0") + b"ustar".ljust(300, b"\0")
    with pytest.raises(ValueError, match="tar archive"):
        logs.read(file(gzip.compress(tar), "t.tgz"))


@pytest.mark.parametrize("line", ["a\n", "ab\n", "\n", "a\r\n"])
def test_tiny_lines_cost_no_more_than_a_log(line, file):
    """A megabyte of one letter a line would take many times as long as a megabyte of a log."""

    def seconds(text):
        began = time.process_time()
        with pytest.raises(ValueError):
            logs.read(file(text))
        return time.process_time() - began

    usual = "node-0001:123:456 some other program's line, of no interest here 1.00 2.00\n"
    size = 1_000_000
    seconds(usual)
    assert seconds(line * (size // len(line))) < 2 * seconds(usual * (size // len(usual))) + 0.1


def test_numbers_of_lines_stay_true(file):
    """Behind a run of tiny lines a refusal would name the wrong line."""
    path = file("a\n" * 1000 + "NIC statistics:\n   rx_prio3_pause: x\n")
    with pytest.raises(ValueError, match="line 1002: rx_prio3_pause"):
        logs.read(path)
    assert [line.number for line in source.lines(file("x\n" * 300 + "end"))][-1] == 301


def test_a_file_is_streamed_once(file, monkeypatch):
    """A long log would be read twice, once to be recognised and once to be read."""
    opened, real = [], os.open

    def counted(path, *rest):
        opened.append(os.fspath(path))
        return real(path, *rest)

    monkeypatch.setattr(stream.os, "open", counted)
    path = file(PERFTEST)
    logs.report(path)
    assert opened.count(str(path)) == 1


def test_one_folder_per_host(tmp_path):
    """The same file name from two hosts would be one file, and ports without a name one port."""
    for host, count in (("node1", 5), ("node2", 900)):
        (tmp_path / host).mkdir()
        (tmp_path / host / "perfquery.txt").write_text(
            f"PortSelect:......................1\nPortXmitData:....................{count}\n"
            "PortRcvErrors:...................0\nPortXmitWait:....................0\n"
        )
    (tmp_path / "node1" / "deep").mkdir()
    found = diagnose.diagnose(tmp_path)
    files = {file for step in found.steps for file in step.files}
    assert files == {"node1/perfquery.txt", "node2/perfquery.txt"}
    assert any("node1" in finding.says for step in found.steps for finding in step.findings)
    assert [file for file, _ in found.unread] == ["node1/deep"]


def test_parts_of_a_file_reach_diagnose(tmp_path):
    """A scroll-back in the folder would be refused as two tools in one file."""
    (tmp_path / "all.txt").write_text(MLXLINK + "\n" + PERFTEST)
    found = diagnose.diagnose(tmp_path)
    assert {file.split(" ")[0] for step in found.steps for file in step.files} == {"all.txt"}
    assert sum(len(step.files) for step in found.steps) == 2


def test_readers_named_here_exist():
    """The parts above would be compared with nothing."""
    assert {perfquery, pauses, ports} <= set(logs.READERS)
