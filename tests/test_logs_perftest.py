"""perftest: real tables value by value, our own written and read back, the verdicts, every trap of
its layouts, damage refused.
"""

import os
import re
from pathlib import Path

import pytest
from damage import says
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabriclab import logs
from fabriclab.logs import perftest
from fabriclab.units import GB, Gbps, MiB, us
from tools import samples as made

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "notebooks" / "logs"
SAMPLES = Path(os.environ.get("FABRICLAB_SAMPLES", ROOT.parent / "shared" / "samples"))
needs_samples = pytest.mark.skipif(
    not SAMPLES.is_dir(), reason="no folder of real tools' output here (FABRICLAB_SAMPLES)"
)
many = settings(
    max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
WARNING = (
    "Conflicting CPU frequency values detected: 2400.000000 != 1873.463000. CPU Frequency is not"
    " max.\n"
)
REAL = [
    "ib_read_lat_conflict_one_row",
    "ib_send_bw_65536_mib_cpu_conflict",
    "ib_send_lat_rxe_glued_columns",
    "ib_write_bw_duration_mode_peak_zero",
    "ib_write_bw_mib_cpu_conflict_loopback",
    "ib_write_bw_sweep_two_sides_mixed",
    "ib_write_lat_mlx4_sweep",
]


@pytest.fixture
def file(tmp_path):
    def put(content):
        path = tmp_path / "pair.txt"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put


def only(path):
    (table,) = logs.read(path).tables
    return table


def sample(which):
    return only(SAMPLES / f"{which}.txt")


def latency(median, verb="RDMA_Write", p99=None, size=2):
    return made.perftest_latency(
        [size],
        [
            (
                0.9 * median,
                40 * median,
                median,
                median,
                0.1 * median,
                p99 or 1.2 * median,
                30 * median,
            )
        ],
        verb=verb,
    )


# Real tables


@needs_samples
def test_read_latency():
    """A read's latency would be taken for half a round trip, or the warning between the rows break
    the table.
    """
    table = sample("ib_read_lat_conflict_one_row")
    (row,) = table.rows
    assert (table.kind, table.verb, table.device, table.link, table.mtu, table.clocks) == (
        "latency",
        "read",
        "mlx4_0",
        "IB",
        None,
        (2400.0, 1873.463),
    )
    assert (row.size, row.iterations) == (2, 1000)
    found = (row.least, row.most, row.typical, row.mean, row.deviation, row.p99, row.p999)
    assert found == pytest.approx(
        [value * 1e-6 for value in (1.76, 6.12, 1.79, 1.80, 0.06, 1.88, 6.12)]
    )
    assert table.one_way(row) == pytest.approx(0.895e-6)


@needs_samples
def test_mebibytes():
    """MiB/sec would be read as decimal: 46,557.03 x 2^20 B/s = 390.5 Gb/s, 97.6 % of the port."""
    table = sample("ib_send_bw_65536_mib_cpu_conflict")
    (row,) = table.rows
    assert (table.verb, table.bidirectional, table.qps, table.connection, table.mtu) == (
        "send",
        False,
        1,
        "RC",
        4096,
    )
    assert (row.peak, row.average, row.messages) == (
        pytest.approx(46567.34 * 2**20),
        pytest.approx(46557.03 * 2**20),
        744912.0,
    )
    assert perftest.share(table, 400 * Gbps) == pytest.approx(0.9764, abs=1e-4)
    assert table.clocks == (5008.116, 3295.212) and len(says(perftest.table_signs, table)) == 1


@needs_samples
def test_glued_columns():
    """A standard deviation that ran into the percentile behind it would be read as one number, or
    shift the columns.
    """
    table = sample("ib_send_lat_rxe_glued_columns")
    (row,) = table.rows
    assert (row.deviation, row.p99, row.p999) == (
        pytest.approx(2465.90e-6),
        pytest.approx(1216.65e-6),
        pytest.approx(37330.73e-6),
    )
    assert (table.link, table.mtu, table.device) == ("Ethernet", 1024, "rxe0")
    said = " ".join(says(perftest.table_signs, table))
    assert said == "rxe0 is RDMA in software: it measures the CPU, not an adapter"


@needs_samples
def test_duration_mode():
    """Peak 0.00 would be told as a bandwidth of nothing, or decimal Gb/sec as binary."""
    table = sample("ib_write_bw_duration_mode_peak_zero")
    (row,) = table.rows
    assert (row.size, row.iterations, row.peak, row.average, row.messages) == (
        8,
        224958464,
        None,
        pytest.approx(0.06e9),
        7498617.0,
    )
    text = logs.report(SAMPLES / "ib_write_bw_duration_mode_peak_zero.txt")
    assert (
        "not measured" in text and "tells nothing about the port's rate" in text and "!" not in text
    )


@needs_samples
def test_both_sides_in_one_file():
    """The row that both sides print would count twice, or a loopback pass for a cable."""
    table = sample("ib_write_bw_mib_cpu_conflict_loopback")
    assert (len(table.rows), table.echoes, table.loopback, table.verb, table.bidirectional) == (
        1,
        1,
        True,
        None,
        None,
    )
    assert (table.rows[0].size, table.rows[0].average) == (1000, pytest.approx(4020.54 * MiB))
    with pytest.raises(ValueError, match="with its title"):
        perftest.share(table, 100 * Gbps)
    table = sample("ib_write_bw_sweep_two_sides_mixed")
    assert (len(table.rows), table.echoes, table.bidirectional) == (23, 1, False)
    assert [row.size for row in table.rows] == [2**power for power in range(1, 24)]
    assert (table.best.size, table.best.average) == (4194304, pytest.approx(23277.91 * MiB))
    assert (table.rows[5].peak, table.rows[5].average, table.rows[5].messages) == (
        pytest.approx(173.55 * MiB),
        pytest.approx(171.66 * MiB),
        2812504.0,
    )
    said = logs.report(SAMPLES / "ib_write_bw_sweep_two_sides_mixed.txt")
    assert "a loopback" in said and "of a 200 Gb/s port" not in said


@needs_samples
def test_latency_sweep():
    """A row of the sweep would be lost, or a healthy latency called slow."""
    table = sample("ib_write_lat_mlx4_sweep")
    assert [(row.size, row.iterations) for row in table.rows] == [
        (2**power, 20000) for power in range(1, 7)
    ]
    assert [row.most for row in table.rows] == pytest.approx(
        [value * 1e-6 for value in (6.84, 6.89, 9.06, 6.82, 21.12, 7.07)]
    )
    assert (
        table.one_way(table.rows[0]) == pytest.approx(0.98 * us)
        and says(perftest.table_signs, table) == []
    )


@needs_samples
@pytest.mark.parametrize("which", REAL)
def test_real_tables_cut_anywhere(file, which):
    """A table cut at any byte would crash the reader or give a row that it does not print."""
    whole = (SAMPLES / f"{which}.txt").read_text()
    true = set(sample(which).rows)
    for at in range(0, len(whole), 17 if len(whole) > 2000 else 5):  # steps that reach every column
        try:
            tables = perftest.read(file(whole[:at])).tables
        except ValueError as refused:
            assert "pair.txt" in str(refused)
        else:
            assert all(set(table.rows) <= true for table in tables)


# Our own


def test_shipped_sweeps():
    """The shipped runs would not tell what they were made of: a sound 400 Gb/s port,
    1.05 us away.
    """
    table = only(LOGS / "perftest_write_bw.txt")
    assert (
        0.96 < perftest.share(table, 400 * Gbps) < 0.975
        and says(perftest.table_signs, table, 400 * Gbps) == []
    )
    assert table.rows[0].messages == pytest.approx(1 / 0.22e-6, rel=0.03)
    assert "a 400 Gb/s port" in logs.report(LOGS / "perftest_write_bw.txt")
    table = only(LOGS / "perftest_write_lat.txt")
    assert (
        table.one_way(table.rows[0]) == pytest.approx(1.05e-6, rel=0.05)
        and says(perftest.table_signs, table) == []
    )


rate = st.floats(1e6, 1e11)


@many
@given(
    st.dictionaries(st.integers(1, 2**23), rate, min_size=1, max_size=8),
    st.sampled_from(["Gb/sec", "MB/sec", "MiB/sec"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["RDMA_Write", "RDMA_Read", "Send"]),
)
def test_bandwidths_are_read_back(file, found, unit, both, peaks, verb):
    """A bandwidth that goes into a table would not come out of it in its unit."""
    sizes, averages = list(found), list(found.values())
    text = made.perftest_bandwidth(
        sizes,
        averages,
        [1.1 * one for one in averages] if peaks else None,
        verb,
        unit,
        bidirectional=both,
    )
    table, step = only(file(text)), 0.0051 * (Gbps if unit == "Gb/sec" else 2**20)
    assert (table.bidirectional, table.verb) == (
        both,
        {"RDMA_Write": "write", "RDMA_Read": "read", "Send": "send"}[verb],
    )
    for row, size, average in zip(table.rows, sizes, averages, strict=True):
        assert (
            row.size == size
            and row.average == pytest.approx(average, abs=step)
            and (row.peak is None) == (not peaks or 1.1 * average < step)
        )
        assert table.one_way(row) == row.average / (1 + both)
    assert not any("message rate" in doubt for doubt in says(perftest.table_signs, table))
    assert logs.report(file(text))


@many
@given(
    st.lists(st.floats(0.01, 9e4), min_size=7, max_size=7),
    st.integers(1, 2**23),
    st.sampled_from(["RDMA_Write", "RDMA_Read", "Send"]),
)
def test_latencies_are_read_back(file, values, size, verb):
    """A latency that goes into a table would not come out of it, or halve where it should not."""
    least, typical, p99, most, *others = sorted(values[:4]) + values[4:]
    times = [one * us for one in (least, most, typical, others[0], others[1], p99, others[2])]
    table = only(file(made.perftest_latency([size], [times], verb)))
    (row,) = table.rows
    got = (row.least, row.most, row.typical, row.mean, row.deviation, row.p99, row.p999)
    assert got == pytest.approx(times, abs=0.0051 * us)
    assert table.one_way(row) == row.typical / (2 if verb == "RDMA_Read" else 1)


def test_the_two_unit_names_are_one(file):
    """MB/sec would be read as decimal; perftest divides by 2^20 under either name."""
    one, other = (
        only(file(made.perftest_bandwidth([65536], [24 * GB], unit=unit)))
        for unit in ("MB/sec", "MiB/sec")
    )
    assert one.rows == other.rows and one.rows[0].average == pytest.approx(24 * GB, rel=1e-6)
    lied = only(
        file(made.perftest_bandwidth([65536], [24 * GB], unit="Gb/sec").replace("Gb/sec", "MB/sec"))
    )
    assert "not these units" in says(perftest.table_signs, lied)[0]


@pytest.mark.parametrize(
    "text, told",
    [
        (latency(1.5 * us), "1.5 us one way; below 2 us, as it should be"),
        (latency(3.2 * us), "between 2 us and 5 us"),
        (latency(5.4 * us), "! 5.4 us one way is suspicious"),
        (latency(5.4 * us, "RDMA_Read"), "2.7 us one way, and the reading of memory with it"),
        (latency(240 * us, "Send"), "! 240 us one way is severe"),
        (latency(1.5 * us, p99=33 * us), "! the slowest hundredth takes 22 times the median"),
        (latency(150 * us, size=2**20), "no small message"),
        (latency(1.5 * us).replace("RDMA_Write Latency Test", ""), "the title is missing"),
        (
            made.perftest_bandwidth([65536, 2**20], [24 * GB, 12 * GB]),
            "! the average falls with size: 192 Gb/s at 64 KiB, 96 Gb/s at 1 MiB",
        ),
        (
            made.perftest_bandwidth([2**20], [12 * GB], [24 * GB]),
            "! the average is 50% of the peak at 1 MiB",
        ),
        (made.perftest_bandwidth([2**20], [24 * GB], [12 * GB]), "! the average is above the peak"),
        (made.perftest_bandwidth([2**20], [96 * GB], bidirectional=True), "both directions summed"),
        (made.perftest_bandwidth([2**20], [96 * GB], bidirectional=True), "384 Gb/s one way"),
        (
            made.perftest_bandwidth([2**20], [24.1 * GB]),
            "96% of a 200 Gb/s port (96 % or more is healthy)",
        ),
        (made.perftest_bandwidth([2**20], [240 * GB]), "more than any port carries"),
        (made.perftest_bandwidth([2**20], [24 * GB], device="rxe0"), "RDMA in software"),
        (
            made.perftest_bandwidth([2**20], [24 * GB]).replace(" 1048576", WARNING + " 1048576"),
            "CPU clocks disagree (2,400 and 1,873 MHz)",
        ),
    ],
)
def test_what_is_told(file, text, told):
    """A verdict or a fault that the table shows would pass unmentioned."""
    assert told in logs.report(file(text))


def test_against_the_ports_rate(file):
    """A port at half its rate would pass once its rate is known,
    or both directions count as one.
    """
    half, both = (
        only(file(made.perftest_bandwidth([2**20], [24 * GB]))),
        only(file(made.perftest_bandwidth([2**20], [96 * GB], bidirectional=True))),
    )
    assert perftest.share(half, 400 * Gbps) == pytest.approx(0.48) and perftest.share(
        both, 400 * Gbps
    ) == pytest.approx(0.96)
    assert says(perftest.table_signs, half, 400 * Gbps)[0].startswith(
        "24 GB/s, 48% of the port's 400"
    )
    assert (
        says(perftest.table_signs, half, 200 * Gbps) == []
        and says(perftest.table_signs, both, 400 * Gbps) == []
    )
    assert "more than the port carries" in says(perftest.table_signs, half, 100 * Gbps)[0]
    with pytest.raises(ValueError, match="rate must be more than zero"):
        perftest.share(half, 0)


def test_client_and_server_logs_one_after_the_other(file):
    """Two whole logs of one run would count as two measurements, and two runs as one."""
    one, other = (
        made.perftest_bandwidth([65536, 2**20], [24 * GB, 24.1 * GB]),
        made.perftest_bandwidth([65536, 2**20], [23 * GB, 24.1 * GB]),
    )
    assert (len(only(file(one + one)).rows), only(file(one + one)).echoes) == (2, 2)
    assert [
        table.rows[0].average for table in logs.read(file(one + other)).tables
    ] == pytest.approx([24 * GB, 23 * GB], rel=1e-3)
    mixed = logs.read(file(one + latency(1.5 * us)))
    assert [table.kind for table in mixed.tables] == ["bandwidth", "latency"]
    assert "table 2 of 2" in logs.report(mixed.path)


@pytest.mark.parametrize(
    "head, row, found",
    [
        (
            " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]",
            " 65536   1000   100.00   90.50",
            {"average": 90.5 * MiB, "messages": None},
        ),
        (
            (
                " #bytes    #sl      #iterations    BW peak[Gb/sec]    BW average[Gb/sec]  "
                " MsgRate[Mpps]"
            ),
            " 64  3  1000  0.00  8.00  15.625000",
            {"average": 1e9, "peak": None, "iterations": 1000},
        ),
        (
            (
                " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]  "
                "  CPU_Util[%]"
            ),
            " 64  1000  9.00  8.00  15.625000  12.50",
            {"messages": 15.625e6},
        ),
        (
            " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]",
            " 64  1000  9.008.0015.625000",
            {"peak": 1.125e9, "average": 1e9, "messages": 15.625e6},
        ),
        (
            (
                " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]  "
                " BW Port1[Gb/sec]   MsgRate Port1[Mpps]   BW Port2[Gb/sec]   MsgRate Port2[Mpps]"
            ),
            " 64  1000  9.00  8.00  15.625000  4.00  7.812500  4.00  7.812500",
            {"average": 1e9},
        ),
        (
            " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]",
            " 2  1000  0.90  5.00  1.00",
            {"typical": 1e-6, "p99": None},
        ),
        (
            " #bytes        #iterations       t_avg[usec]    tps average",
            " 2  1000  1.25  800000.00",
            {"mean": 1.25e-6, "typical": None},
        ),
    ],
)
def test_other_heads(file, head, row, found):
    """One of the other tables that the tests print would be refused, or its columns be shifted."""
    (got,) = only(
        file(
            f"                    RDMA_Write {'BW' if 'BW' in head else 'Latency'}"
            f" Test\n{head}\n{row}\n"
        )
    ).rows
    assert {key: getattr(got, key) for key in found} == pytest.approx(found)
    assert logs.report(
        file(
            f"                    Send {'BW' if 'BW' in head else 'Latency'} Test\n{head}\n{row}\n"
        )
    )


@pytest.mark.parametrize(
    "old, new, told",
    [
        ("192.00", "192.x0", "line 11: not a whole row of 5 columns"),
        ("192.00", "", "not a whole row of 5 columns"),
        ("192.00", "192", "line 11: '192' is no measurement"),
        ("192.00", "-192.00", "not a whole row"),
        ("192.00", "nan", "not a whole row"),
        (" 65536", " 65.36", "is no count"),
        (" 65536", " 0", "message size is 0"),
        (" 65536 ", " max. 65536 ", "a row behind other text"),
        (" 65536", "", "not a whole row"),
        ("BW peak[Gb/sec]", "BW peak[Tb/sec]", "line 10: a head with columns not known here"),
        ("BW peak[Gb/sec]", "BW peak[MB/sec]", "a head with columns not known here"),
        ("BW peak[Gb/sec]", "", "columns missing or twice"),
        ("MsgRate[Mpps]\n", "MsgRate[Mp\n", "or cut"),
    ],
)
def test_refused_with_line_and_reason(file, old, new, told):
    """A row or a head that is not whole would be read, or refused without saying where."""
    text = made.perftest_bandwidth([65536], [24 * GB])
    assert old in text
    with pytest.raises(ValueError, match=re.escape(told)):
        logs.read(file(text.replace(old, new)))


def test_orders_that_cannot_be(file):
    """A median above the largest time would be read."""
    text = made.perftest_latency([2], [(1e-6, 2e-6, 3e-6, 1e-6, 0.0, 1e-6, 1e-6)])
    with pytest.raises(ValueError, match="line 11: typical above most"):
        logs.read(file(text))


@pytest.mark.parametrize(
    "text",
    [
        made.perftest_bandwidth([2], [1e6]).rsplit(" 2   ", 1)[0],
        "                    RDMA_Write BW Test\n",
    ],
)
def test_no_row(file, text):
    """A run that never came to a result would give an empty table."""
    with pytest.raises(ValueError, match="no row of results"):
        logs.read(file(text))


def test_another_test_before_any_row(file):
    """A test that died would lend its title to the next one's rows."""
    path = file(
        "                    RDMA_Read BW Test\n Couldn't connect to host-b:18515\n"
        + made.perftest_bandwidth([2], [1e6])
        + "                    Send BW Test\n"
    )
    reading = logs.read(path)
    assert [table.verb for table in reading.tables] == ["write"]
    assert [line for line, _ in reading.died][0] == 2 and len(reading.died) == 2
    assert "Couldn't connect to host-b" in logs.report(path)
    assert [sign.name for sign in logs.signs(reading)].count("test-died") == 2


@many
@given(st.binary(max_size=200), st.integers(0, 900))
def test_any_bytes(file, junk, at):
    """Some sequence of bytes within a table would raise something other than ValueError."""
    for whole in (made.perftest_bandwidth([2, 65536], [1e6, 24 * GB]), latency(1.5 * us)):
        try:
            logs.report(file(whole.encode()[:at] + junk + whole.encode()[at:]))
        except ValueError as refused:
            assert "pair.txt" in str(refused)
