"""Files of pairs: both layouts in every spelling that people use, what is written read back, damage
refused.
"""

import random
import re
from pathlib import Path

import numpy as np
import pytest
from damage import damaged
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabriclab import logs, topology
from fabriclab.logs import pairs
from fabriclab.logs.pairs import Part, as_list, as_matrix, explain, measure
from fabriclab.units import GB, Gbps, MiB

LOGS = Path(__file__).resolve().parent.parent / "notebooks" / "logs"
many = settings(
    max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
MATRIX = "source\\target [Gb/s],a,b,c\na,,384,192.5\nb,380,-,nan\nc,1e2,0,\n"
LIST = "source,target,bandwidth [GB/s]\nn2,n10,48\nn10,n2,24.5\n"


@pytest.fixture
def file(tmp_path):
    def put(content):
        path = tmp_path / "pairs.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put


def cells(found):
    """{(source, target): bytes per second} of a reading, the spine behind where there is one."""
    p = found.pairs
    via = [()] * len(p) if p.via is None else [(p.spines[at],) if at >= 0 else () for at in p.via]
    return {
        (p.hosts[s], p.hosts[t], *v): rate
        for s, t, v, rate in zip(p.source, p.target, via, p.bandwidth.tolist())
    }


def test_a_matrix(file):
    """A row is not the sender, an empty cell is a zero or a zero no measurement, or the unit is
    another.
    """
    found = logs.read(file(MATRIX))
    assert (found.tool, found.layout, found.unit, found.pairs.hosts) == (
        "all-pairs bandwidth",
        "matrix",
        "Gb/s",
        ("a", "b", "c"),
    )
    expected = {("a", "b"): 384, ("a", "c"): 192.5, ("b", "a"): 380, ("c", "a"): 100, ("c", "b"): 0}
    assert cells(found) == {pair: rate * Gbps for pair, rate in expected.items()}


def test_a_list(file):
    """A pair goes the wrong way, or hosts do not stand in the order in which people count them."""
    found = logs.read(file(LIST))
    assert (found.layout, found.pairs.hosts, found.pairs.via) == ("list", ("n2", "n10"), None)
    assert cells(found) == {("n2", "n10"): 48 * GB, ("n10", "n2"): 24.5 * GB}
    pinned = logs.read(file("src dst bw[GB/s] spine\na b 48 s10\na b 24 s9\nb c 47 -\n"))
    assert pinned.pairs.spines == ("s9", "s10")
    assert cells(pinned) == {
        ("a", "b", "s10"): 48 * GB,
        ("a", "b", "s9"): 24 * GB,
        ("b", "c"): 47 * GB,
    }


@pytest.mark.parametrize(
    "text",
    [
        MATRIX.replace(",", ";"),
        MATRIX.replace(",", "\t"),
        MATRIX.replace("\n", "\r\n"),
        "\ufeff" + MATRIX,
        MATRIX.replace("source\\target [Gb/s]", "src/dst (Gb/s)"),
        MATRIX.replace("source\\target [Gb/s]", "# Gb/s\nfrom > to").replace(" > ", ">"),
        "# Gbps\n" + MATRIX.replace("source\\target [Gb/s]", ""),
        "# all-pairs, Gb/s\n" + MATRIX.replace("source\\target [Gb/s]", "host"),
        "# all pairs Gb/sec\na b c\na - 384 192.5\nb 380 - nan\nc 1e2 0 n/a\n",
        (
            '"source\\target'
            ' [Gb/s]","a","b","c"\n"a",,"384","192.5"\n"b","380","-","nan"\n"c","1e2","0",""\n'
        ),
        MATRIX.replace("Gb/s", "Gbit/s") + "\n# the end\n",
        MATRIX.replace("a,,", "a,900,"),
        "target\\source [Gb/s],a,b,c\na,,380,100\nb,384,-,0\nc,192.5,nan,\n",
    ],
)
def test_other_spellings_of_one_matrix(file, text):
    """Another separator, corner, quote, end of line or order of the corner gives other cells."""
    assert cells(logs.read(file(text))) == cells(logs.read(file(MATRIX)))


@pytest.mark.parametrize(
    "unit, scale",
    [
        ("Gb/s", Gbps),
        ("Gbps", Gbps),
        ("Gbit/s", Gbps),
        ("GBit/s", Gbps),
        ("GB/s", GB),
        ("GBytes/s", GB),
        ("GiB/s", 2**30),
        ("MiB/sec", MiB),
        ("Tb/s", 125 * GB),
        ("Mb/s", Gbps / 1000),
    ],
)
def test_units(file, unit, scale):
    """A unit is read as another."""
    for text in (
        LIST.replace("GB/s", unit),
        LIST.replace("bandwidth [GB/s]", unit),
        f"# {unit}\n" + LIST.replace(" [GB/s]", ""),
        LIST.replace("bandwidth [GB/s]", f"bandwidth_{unit}"),
    ):
        assert cells(logs.read(file(text))) == {
            ("n2", "n10"): pytest.approx(48 * scale),
            ("n10", "n2"): pytest.approx(24.5 * scale),
        }


@pytest.mark.parametrize(
    "text, told",
    [
        (LIST.replace("GB/s", "MB/s"), "line 1: MB/s is two things"),
        (LIST.replace("GB/s", "MB/sec"), "perftest prints it"),
        (LIST.replace("GB/s", "gb/s"), "gb/s is not a known unit, and case matters"),
        (LIST.replace(" [GB/s]", ""), "line 1: no unit"),
        ("# Gb/s\n" + LIST, "line 2: two units, Gb/s and GB/s"),
        (LIST.replace("48", "-48"), "line 2: '-48' is not a bandwidth: it is below zero"),
        (LIST.replace("48", "inf"), "'inf' is not a bandwidth"),
        (LIST.replace("48", "1e99"), "bandwidth must be zero or more"),
        (LIST.replace("48", "4,8"), "line 2: 4 cells, and the head has 3"),
        (LIST.replace("n2,n10,48", "n2,n2,48"), "'n2' is both source and target"),
        (LIST + "n2,n10,47\n", "line 4: 'n2' to 'n10' is listed twice, with different values"),
        (LIST.replace("48", "").replace("24.5", "-"), "no pair was measured"),
        (LIST.replace("n2,n10", ",n10"), "a pair without a name"),
        (LIST.replace("[GB/s]", "[GB/s],latency"), "the head of a list must be"),
        (LIST[:-1], "line 3: the file ends in the middle of a row"),
        (LIST.split("\n")[0], "the file ends in its head"),
        ("# all-pairs, Gb/s\n", "comments, but no head"),
        ("# all-pairs, Gb/s\nhello\n1 2 3\n", "neither the head of a list"),
        (
            MATRIX.replace("b,380,-,nan", "b,380,-"),
            "line 3: row 'b' has 2 values, the header 3 hosts",
        ),
        (MATRIX.replace("b,380", "d,380"), "line 3: 'd' is a row, but no column"),
        (MATRIX.replace("b,380", "a,380"), "line 3: 'a' stands in two rows"),
        (MATRIX.replace("c,1e2,0,\n", ""), "line 1: 'c' is a column, but no row: cut short?"),
        (MATRIX.replace(",a,b,c", ",a,b,b"), "line 1: the head names 'b' twice"),
        (MATRIX.replace(",a,b,c", ",a,,c"), "a column without a name"),
        (MATRIX.replace("384", "x"), "line 2: 'x' is not a bandwidth"),
        (re.sub(r"(?m)^([abc]),.*", r"\1,,,", MATRIX), "no pair was measured"),
        (
            "source\\target [Gb/s]," + ",".join(f"n{at}" for at in range(2049)) + "\n",
            "more than 2,048 hosts",
        ),
        (MATRIX + "rtt min/avg/max\n", "line 5: row 'rtt min"),
    ],
)
def test_refused_with_line_and_reason(file, text, told):
    """A file that cannot be read whole is read, or refused without line and reason."""
    with pytest.raises(ValueError, match=re.escape(told)) as refused:
        pairs.read(file(text))
    assert "pairs.csv" in str(refused.value)


def test_the_same_pair_twice_alike_is_one(file):
    """A list that two people joined is refused though its doubles agree."""
    assert cells(logs.read(file(LIST + "n2,n10,48.0\n"))) == cells(logs.read(file(LIST)))


def test_a_list_without_end(file, monkeypatch):
    """A list of any length is taken into memory."""
    with pytest.raises(ValueError, match="more than 2,048 hosts"):
        pairs.read(file("source,target,Gb/s\n" + "".join(f"h{at},x,3\n" for at in range(3000))))
    monkeypatch.setattr("fabriclab.logs.pairs.table._MOST_PAIRS", 100)
    with pytest.raises(ValueError, match="line 102: more than 100 pairs"):
        pairs.read(
            file("source,target,Gb/s\n" + "".join(f"h{at},h{at + 1},3\n" for at in range(200)))
        )


@many
@given(st.integers(2, 9), st.integers(0, 10**6), st.sampled_from(["Gb/s", "GB/s", "MiB/s"]))
def test_what_is_written_is_read_back(file, size, seed, unit):
    """A bandwidth that goes into a file does not come out of it, to its two decimals."""
    rng = np.random.default_rng(seed)
    matrix = np.where(rng.random((size, size)) < 0.4, np.nan, rng.random((size, size)) * 60 * GB)
    matrix[0, 1] = 48 * GB
    written = pairs.of_matrix(matrix)
    step = 0.0051 * {"Gb/s": Gbps, "GB/s": GB, "MiB/s": MiB}[unit]
    for text in (as_matrix(written, unit), as_list(written, unit)):
        found = cells(logs.read(file(text)))
        there = {
            (written.hosts[s], written.hosts[t]): rate
            for s, t, rate in zip(written.source, written.target, written.bandwidth)
        }
        assert found.keys() == there.keys() and all(
            abs(found[pair] - there[pair]) <= step for pair in there
        )
    assert logs.report(file(text))


@pytest.mark.parametrize(
    "call, told",
    [
        (lambda p: as_matrix(p, "MB/s"), "unit must be a rate that is one thing"),
        (lambda p: as_list(p, "B"), "unit must be a rate"),
        (lambda p: as_list("p"), "pairs must be Pairs"),
        (
            lambda p: as_matrix(measure(topology.leaf_spine(2, 2, 2, 2), pinned=True)),
            "without pinned paths",
        ),
    ],
)
def test_writing_refuses(call, told):
    """A unit that is two things, or a path that a matrix has no room for, is written."""
    with pytest.raises(ValueError, match=re.escape(told)):
        call(measure(topology.leaf_spine(2, 2, 2, 2)))


def test_shipped_files_tell_what_they_were_made_of():
    """A shipped file does not tell its fault, or tells another; the maker's bytes are guarded with
    those of all logs.
    """
    assert explain(logs.read(LOGS / "all_pairs_16_hosts.csv")).parts == (
        Part("host", "host-06", way="in"),
    )
    network = topology.leaf_spine(4, 4, 8, 8)
    (hashed,) = explain(logs.read(LOGS / "all_pairs_32_hosts.csv"), network).findings
    assert {part.name for part in hashed.parts} == {"spine-1", "spine-2", "spine-3", "spine-4"}
    assert explain(logs.read(LOGS / "all_pairs_pinned.csv"), network).parts == (
        Part("spine", "spine-3"),
    )


def test_reports():
    """The report does not name shape, unit, median, the cold host and what the evidence says."""
    said = logs.report(LOGS / "all_pairs_16_hosts.csv")
    for words in (
        "a matrix in Gb/s: 240 of 240 ordered pairs of 16 hosts",
        "median 47.95 GB/s",
        "coldest receivers, by median: host-06 23.98 GB/s",
        "! host-06 receiving: 15 cold pairs at 50%",
    ):
        assert words in said
    blind = logs.report(LOGS / "all_pairs_32_hosts.csv")
    assert "190 cold pairs that no one host explains" in blind and "host-06 receiving" not in blind


def test_no_other_tools_lines_look_like_pairs():
    """A log of another tool is taken for pairs, and so refused as two tools' output."""
    for path in sorted(LOGS.iterdir()):
        mine = logs.recognise(path) is pairs
        assert mine == path.name.startswith("all_pairs")


@pytest.mark.parametrize(
    "text",
    [
        as_matrix(measure(topology.leaf_spine(2, 2, 3, 2))),
        as_list(measure(topology.leaf_spine(2, 2, 3, 2), pinned=True)),
    ],
)
def test_damage(file, text):
    """Lines lost, doubled, swapped or split crash the reader, or give a bandwidth that the file
    does not hold.
    """
    whole = cells(pairs.read(file(text)))
    rng = random.Random(8)
    for _ in range(40):
        try:
            found = cells(pairs.read(file(damaged(text, rng))))
        except ValueError as refused:
            assert "pairs.csv" in str(refused)
        else:
            assert found.items() <= whole.items()


def test_cut_anywhere(file):
    """A file cut at any byte crashes the reader, or gives a bandwidth that it does not hold."""
    text = as_list(measure(topology.leaf_spine(2, 2, 2, 2), pinned=True))
    whole = cells(pairs.read(file(text)))
    for at in range(0, len(text), 7):
        try:
            found = cells(pairs.read(file(text[:at])))
        except ValueError as refused:
            assert "pairs.csv" in str(refused)
        else:
            assert found.items() <= whole.items()


@many
@given(st.binary(max_size=100), st.integers(0, 200))
def test_any_bytes(file, junk, at):
    """Some sequence of bytes within a file raises something other than ValueError."""
    whole = MATRIX.encode()
    try:
        logs.report(file(whole[:at] + junk + whole[at:]))
    except ValueError as refused:
        assert "pairs.csv" in str(refused)
