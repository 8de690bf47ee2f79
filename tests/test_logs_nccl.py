"""nccl-tests and rccl-tests: real tables read value by value, our own written and read back, damage
refused by its line.
"""

import os
import random
import re
import stat
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from damage import damaged, says
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabriclab import collectives, logs
from fabriclab.logs import nccl, stream
from fabriclab.logs.nccl import facts
from fabriclab.logs.nccl import log as nccl_log
from fabriclab.units import GB, us
from tools import samples as made

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = Path(os.environ.get("FABRICLAB_SAMPLES", ROOT.parent / "shared" / "samples"))
needs_samples = pytest.mark.skipif(
    not SAMPLES.is_dir(), reason="no folder of real tools' output here (FABRICLAB_SAMPLES)"
)
TABLES = (
    "allreduce_16xA100_8B_to_8GB",
    "allreduce_16xA100_v2_17_9_no_avg_line",
    "allreduce_mpi_tag_output_prefix",
    "alltoall_8xA100",
    "broadcast_8xA100",
    "busbw_zero_every_rank_alone",
    "reducescatter_8xA100",
)

HEAD = """# nThread 1 nGpus 8 minBytes 8 maxBytes 16 step: 2(factor) warmup iters: 5 iters: 20 agg \
iters: 1 validation: 1 graph: 0
#
# Using devices
#
#                                                              out-of-place                       \
in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   \
algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  \
(GB/s)  (GB/s)
"""
ROW = (
    "    16777216       4194304     float     sum      -1    282.7   59.35  111.28      0    265.9 "
    "  63.10  118.31      0\n"
)
NEXT = (
    "    33554432       8388608     float     sum      -1    452.3   74.19  139.10      0    452.0 "
    "  74.24  139.19      0\n"
)


@pytest.fixture
def file(tmp_path):
    def put(content):
        path = tmp_path / "log.txt"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put


def sample(which):
    return logs.read(SAMPLES / f"nccl_{which}.txt")


def only(reading):
    (table,) = reading.tables
    return table


def numbers_of(row):
    return [(one.time, one.algbw, one.busbw, one.check) for one in row.passes]


# Real tables


@needs_samples
def test_sixteen_a100():
    """A plain AllReduce table of two nodes would be misread: sizes, units, ranks, hosts or the
    printed average.
    """
    table = only(sample("allreduce_16xA100_8B_to_8GB"))
    assert (nccl.candidates(table), nccl.ranks(table).count, len(table.rows)) == (
        ("all_reduce",),
        16,
        31,
    )
    assert {(p.host, p.device) for p in table.processes} == {
        (f"node-{n}", d) for n in (0, 1) for d in range(8)
    }
    assert (table.rows[0].size, table.rows[0].count, table.rows[0].redop, table.rows[0].root) == (
        8,
        2,
        "sum",
        -1,
    )
    assert numbers_of(table.rows[0]) == [
        (pytest.approx(36.47e-6), 0, 0, 0),
        (pytest.approx(34.74e-6), 0, 0, 0),
    ]
    assert table.rows[-1].size == 8 * 2**30
    assert numbers_of(table.rows[-1]) == [
        (pytest.approx(67689e-6), 126.90e9, 237.94e9, 0),
        (pytest.approx(67811e-6), pytest.approx(126.68e9), pytest.approx(237.52e9), 0),
    ]
    assert (table.average, table.out_of_bounds, table.validation, table.largest) == (
        pytest.approx(66.4834e9),
        0,
        True,
        8 * 2**30,
    )
    line = nccl.fit(table)
    assert 36 * us < line.alpha < 60 * us and 90 * GB < line.beta < 130 * GB
    assert any("jumps" in doubt for doubt in says(nccl.table_signs, table))


@needs_samples
def test_partial_list_of_ranks():
    """A list that names ranks 0, 7, 8 and 15 would be counted as four ranks; without the line of
    the average nothing would be read.
    """
    table = only(sample("allreduce_16xA100_v2_17_9_no_avg_line"))
    assert (nccl.candidates(table), nccl.ranks(table).count, table.version, table.average) == (
        ("all_reduce",),
        16,
        "nccl-tests 2.17.9",
        None,
    )
    assert "only 4" in nccl.ranks(table).how
    assert [row.size for row in table.rows] == [2**30, 2**31, 2**32, 2**33]
    assert numbers_of(table.rows[0])[0] == (
        pytest.approx(10887.4e-6),
        pytest.approx(98.62e9),
        pytest.approx(184.92e9),
        0,
    )
    assert nccl.fit(table).beta == pytest.approx(101.3 * GB, rel=0.01)
    assert "extrapolated" in logs.report(SAMPLES / "nccl_allreduce_16xA100_v2_17_9_no_avg_line.txt")
    assert not says(nccl.table_signs, table)


@needs_samples
def test_rank_tags_in_front():
    """mpirun's tags in front of every line would hide the table; two ranks on one GPU would pass
    for a link.
    """
    table = only(sample("allreduce_mpi_tag_output_prefix"))
    assert (nccl.candidates(table), nccl.ranks(table).count, len(table.rows)) == (
        ("all_reduce",),
        2,
        8,
    )
    assert numbers_of(table.rows[4]) == [
        (pytest.approx(7728.29e-6), 2.17e9, 2.17e9, 0),
        (pytest.approx(7659.38e-6), pytest.approx(2.19e9), pytest.approx(2.19e9), 0),
    ]
    assert any("share one GPU" in doubt for doubt in says(nccl.table_signs, table))


@needs_samples
def test_alltoall_with_a_blank_column():
    """A reduction column left blank would shift every number by one; size-0 rows and N/A checks
    would break or count.
    """
    table = only(sample("alltoall_8xA100"))
    assert (nccl.candidates(table), nccl.ranks(table).count, len(table.rows)) == (
        ("alltoall",),
        8,
        34,
    )
    assert [row.size for row in table.rows[:6]] == [0, 0, 0, 0, 0, 32]
    assert (table.rows[5].redop, table.rows[5].root, table.rows[5].passes[0].check) == (
        None,
        None,
        None,
    )
    assert table.rows[-1].passes[0].busbw == pytest.approx(224.31e9)
    line = nccl.fit(table)
    assert 80 * us < line.alpha < 90 * us and 240 * GB < line.beta < 260 * GB
    assert any("not validated" in doubt for doubt in says(nccl.table_signs, table))


@needs_samples
def test_broadcast_with_a_log_line_between():
    """A root without a reduction would be read as a time, or NCCL's line between header and rows
    would end the table.
    """
    reading = sample("broadcast_8xA100")
    table = only(reading)
    assert (nccl.candidates(table), nccl.ranks(table).count, len(table.rows)) == (
        ("broadcast",),
        8,
        34,
    )
    assert {(row.redop, row.root) for row in table.rows} == {(None, 0)}
    assert numbers_of(table.rows[-1])[0] == (
        pytest.approx(36896e-6),
        pytest.approx(232.81e9),
        pytest.approx(232.81e9),
        None,
    )
    assert reading.log.hosts == ("hostname",)
    assert 30 * us < nccl.fit(table).alpha < 45 * us


@needs_samples
def test_reduce_scatter():
    """A reduction without a root would be taken for AllReduce, and the buffer of all ranks for that
    of one.
    """
    table = only(sample("reducescatter_8xA100"))
    assert (nccl.candidates(table), len(table.rows)) == (("reduce_scatter",), 34)
    assert facts._by_elements(table).count == nccl.ranks(table).count == 8
    assert (table.rows[-1].size, table.rows[-1].count) == (2**33, 2**28)
    assert table.rows[-1].passes[1].time == pytest.approx(32502e-6)


@needs_samples
def test_every_rank_alone():
    """Rows without a header from processes that ran alone would be read as a bandwidth."""
    table = only(sample("busbw_zero_every_rank_alone"))
    assert (nccl.candidates(table), nccl.ranks(table).count, nccl.ranks(table).how) == (
        ("all_reduce",),
        1,
        "inferred from busbw/algbw",
    )
    assert [row.size for row in table.rows] == [2**27, 2**27, 2**29, 2**29, 2**28]
    assert table.rows[3].passes[1].algbw == pytest.approx(1777718.25e9)
    doubts = says(nccl.table_signs, table)
    assert "n = 1" in doubts[0] and any("faster than any memory" in doubt for doubt in doubts)


@needs_samples
def test_logs_without_a_table():
    """NCCL's own log would pass for a measurement, or its ring,
    ports and bandwidth would be lost.
    """
    roce = sample("debug_info_roce_single_nic")
    assert isinstance(roce, nccl_log.Reading)
    assert (roce.version, roce.hosts, roce.network, roce.ranks) == (
        "2.10.3+cuda11.0",
        ("nodea", "nodeb"),
        "IB",
        16,
    )
    assert roce.ports == (("nodea", "mlx5_6:1/RoCE"), ("nodeb", "mlx5_6:1/RoCE"))
    assert roce.rings == ((0, 7, 6, 5, 12, 11, 10, 9, 8, 15, 14, 13, 4, 3, 2, 1),)
    graph = sample("debug_graph_h100_nvs")
    assert (graph.graph_bandwidth, graph.ranks) == (360e9, None)
    assert "no measurement" in logs.report(SAMPLES / "nccl_debug_graph_h100_nvs.txt")


@needs_samples
@pytest.mark.parametrize("which", TABLES)
def test_real_tables_agree_with_themselves(which):
    """Every real row must satisfy algbw = size/time and busbw = factor x algbw, and the average
    must be the mean: a misread column would show.
    """
    table = only(sample(which))
    assert not [
        doubt
        for doubt in says(nccl.table_signs, table)
        if "algbw is not size" in doubt or "busbw is not algbw" in doubt or "average" in doubt
    ]


def _printed_numbers(text):
    return {
        float(token) for token in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?:e[+-]\d+)?(?![\w.])", text)
    }


def _read_numbers(reading):
    for table in reading.tables:
        for row in table.rows:
            yield from (row.size, row.count)
            for one in row.passes:
                yield from (
                    float(f"{one.time * 1e6:.6g}"),
                    float(f"{one.algbw / 1e9:.9g}"),
                    float(f"{one.busbw / 1e9:.9g}"),
                )
                if one.check is not None:
                    yield one.check
        if table.average is not None:
            yield float(f"{table.average / 1e9:.6g}")


@needs_samples
@pytest.mark.parametrize("which", TABLES)
def test_cut_anywhere(which, tmp_path):
    """A file cut at any byte would crash the reader, or give a number that the whole file does not
    print.
    """
    whole = (SAMPLES / f"nccl_{which}.txt").read_bytes()
    printed = _printed_numbers(whole.decode())
    path = tmp_path / "cut.txt"
    for at in range(0, len(whole), max(1, len(whole) // 150)):
        path.write_bytes(whole[:at])
        try:
            reading = logs.read(path)
        except ValueError as refused:
            assert "line" in str(refused)
        else:
            assert set(_read_numbers(reading)) <= printed


@needs_samples
@pytest.mark.parametrize("which", TABLES)
def test_damaged_anywhere(which, tmp_path):
    """Lines lost, doubled, swapped or split would crash the reader, or make numbers that the file
    does not print.
    """
    whole = (SAMPLES / f"nccl_{which}.txt").read_text()
    printed, rng, path = _printed_numbers(whole), random.Random(which), tmp_path / "damaged.txt"
    for _ in range(60):
        path.write_text(damaged(whole, rng))
        try:
            reading = logs.read(path)
            logs.report(path)
        except ValueError as refused:
            assert "line" in str(refused)
        else:
            made_up = set(_read_numbers(reading)) - printed
            # the line of the average may lose its last digits to the next line; nothing is computed
            # from it
            made_up -= {
                float(f"{table.average / 1e9:.6g}")
                for table in reading.tables
                if table.average is not None and f"{table.average / 1e9:.6g}" in whole
            }
            # a size may lose its first digits to the line above, but then algbw gives it away
            assert not made_up or any(
                "algbw is not size" in doubt
                for table in reading.tables
                for doubt in says(nccl.table_signs, table)
            )


# Our own tables


@settings(
    max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    st.integers(1, 12),
    st.integers(1, 8),
    st.floats(1e-6, 5e-5),
    st.floats(1e9, 9e11),
    st.sampled_from(["all_reduce", "reduce_scatter", "all_gather"]),
)
def test_what_is_written_is_read_back(file, hosts, per_node, alpha, beta, collective):
    """Start-up and bandwidth that go into a table would not come out of it: a unit, a column or the
    ranks are wrong.
    """
    n = hosts * per_node
    if n == 1:
        return
    sizes = [4 * n << power for power in range(0, 30, 2)]
    model = {
        "all_reduce": collectives.ring_allreduce,
        "reduce_scatter": collectives.reduce_scatter,
        "all_gather": collectives.all_gather,
    }[collective]
    times = [model(size, n, alpha, beta) for size in sizes]
    table = only(
        logs.read(
            file(
                made.nccl_tests(
                    collective, sizes, times, [f"node-{i}" for i in range(hosts)], per_node
                )
            )
        )
    )
    assert (nccl.candidates(table), nccl.ranks(table).count) == ((collective,), n)
    assert [row.size for row in table.rows] == sizes
    for row, t in zip(table.rows, times):
        assert abs(row.passes[0].time - t) <= 1.001 * row.passes[0].half_steps[0]
    line = nccl.fit(table)
    printed = max(row.passes[0].half_steps[0] / row.passes[0].time for row in table.rows)
    assert line.alpha / nccl.steps(collective, n) == pytest.approx(alpha, rel=0.01 + 4 * printed)
    assert line.beta * nccl.factor(collective, n) == pytest.approx(beta, rel=0.02 + 20 * printed)
    assert not [
        one for one in nccl.table_signs(table) if one.name not in ("nvlink-low", "nics-low")
    ]


@settings(
    max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(st.integers(1, 3000), st.floats(1.0, 900.0))
def test_ranks_from_rows_alone(file, n, rate):
    """The rank count inferred from busbw/algbw would not contain the true one, or claim to be
    sharper than the printed places.
    """
    sizes = [1 << power for power in range(20, 34)]
    text = made.nccl_tests(
        "all_reduce", sizes, [1e-5 + size / (rate * 1e9) for size in sizes], ["node"], n
    )
    rows = "".join(line + "\n" for line in text.splitlines() if not line.startswith("#"))
    who = nccl.ranks(only(logs.read(file(rows))))
    assert who.least <= n <= who.most
    assert n == 2 or "inferred" in who.how  # two ranks look like SendRecv
    if n != 2 and n <= 8 and rate > 20:
        assert who.count == n


def test_rounding_of_the_program():
    """Numbers would not be printed as nccl-tests' getFloatStr prints them, so that our logs could
    be told from real ones.
    """
    assert [
        made.nccl._float(v, 7)
        for v in (0.31, 36.47, 9999.99, 10887.4, 100123.4, 1234567.0, 12345678.0)
    ] == ["   0.31", "  36.47", "9999.99", "10887.4", " 100123", "1234567", "1.2e+07"]
    assert [made.nccl._float(v, 6) for v in (0.004, 126.9, 1234.56, 123456.7, 1234567.0)] == [
        "  0.00",
        "126.90",
        "1234.6",
        "123457",
        " 1e+06",
    ]


def test_shipped_logs_are_what_the_package_makes():
    """A log in notebooks/logs would differ from its recipe: edited by hand, or the recipe changed
    without it.
    """
    for name, text in made.shipped().items():
        same = (ROOT / "notebooks" / "logs" / name).read_bytes() == text.encode()
        assert same, name


def test_shipped_allreduce_tells_its_model():
    """The notebook's log would not give back the ring it was made from."""
    table = only(logs.read(ROOT / "notebooks" / "logs" / "allreduce_16_ranks.txt"))
    line = nccl.fit(table)
    assert line.alpha / 30 == pytest.approx(
        1.5 * us, rel=0.05
    ) and line.beta * 1.875 == pytest.approx(388 * GB, rel=0.05)
    assert not says(nccl.table_signs, table)
    slow = logs.report(ROOT / "notebooks" / "logs" / "allreduce_slow_port.txt")
    assert "! under 60 %" in slow and "slowest link" in slow
    alone = logs.report(ROOT / "notebooks" / "logs" / "allreduce_each_alone.txt")
    assert "n = 1" in alone and "8 processes each call themselves rank 0" in alone


# Layouts


def same(file, text):
    """The table that `text` gives, compared with the plain one."""
    plain = only(logs.read(file(HEAD + ROW + NEXT)))
    other = only(logs.read(file(text)))
    assert [(r.size, r.count, r.redop, r.root, numbers_of(r)) for r in other.rows] == [
        (r.size, r.count, r.redop, r.root, numbers_of(r)) for r in plain.rows
    ]
    return other


@pytest.mark.parametrize(
    "text",
    [
        (HEAD + ROW + NEXT).replace("\n", "\r\n"),
        "\ufeff" + HEAD + ROW + NEXT,
        re.sub(r"(?m)^ +", "", re.sub(r" {2,}", "\t", HEAD + ROW + NEXT)),
        re.sub(r"111\.28", "\x1b[31m111.28\x1b[0m", HEAD + ROW + NEXT),
        re.sub(r"(?m)^", "[1,0]<stdout>:", HEAD + ROW + NEXT),
        HEAD
        + ROW.replace("      -1 ", "      -1[1,0]<stdout>: ").replace(
            "      0    265", "      0[1,0]<stdout>:    265"
        )
        + NEXT,
        re.sub(r"(?m)^", "0: ", HEAD + ROW + NEXT),
        re.sub(r"(?m)^", "2025-01-01T00:00:00.123Z ", HEAD + ROW + NEXT),
        HEAD
        + "gpu-1:12:34 [0] NCCL INFO comm 0x1 rank 0 nranks 8\nmpirun: a word of warning\n"
        + ROW
        + "# a remark\n"
        + NEXT,
        HEAD
        + ROW.replace("      -1 ", "      -1gpu-1:12:34 [0] NCCL INFO Connected all rings\n ")
        + NEXT,
        HEAD
        + ROW.replace(
            "      0    265",
            "      0gpu-1:12:34 [0] net.cc:99 NCCL WARN slow\ngpu-1:12:35 [0] NCCL INFO x\n    265",
        )
        + NEXT,
        HEAD + ROW.replace("-1    282.7   59.35  111.28", "-1    282.7   59.35111.28") + NEXT,
        (HEAD + ROW + NEXT).rstrip("\n"),
        ROW + NEXT,
        HEAD.replace("#wrong     time", "#wrong     time", 1)
        + ROW.rstrip("\n")
        + "  2025-01-01 00:00:00\n"
        + NEXT,
    ],
    ids=[
        "crlf",
        "bom",
        "tabs",
        "colours",
        "tags",
        "tags-inside",
        "srun",
        "timestamps",
        "log-lines",
        "log-in-row",
        "warning-in-row",
        "glued",
        "no-last-newline",
        "rows-only",
        "clock",
    ],
)
def test_layouts_give_the_same_rows(file, text):
    """One of the ways these tables reach people (tags, logs in between, Windows line ends, …) would
    be refused or misread.
    """
    same(file, text)


def test_warning_of_the_log_is_told(file):
    """A warning that NCCL printed into the table would be lost."""
    text = (
        HEAD
        + ROW.replace("      0    265", "      0gpu-1:12:34 [0] net.cc:99 NCCL WARN slow\n    265")
        + NEXT
    )
    assert "NCCL warns: slow" in logs.report(file(text))


def test_out_of_place_alone(file):
    """A program that measures out of place only would be refused, or its numbers doubled."""
    cut = HEAD.replace("     time   algbw   busbw #wrong\n", "\n").replace(
        "            (us)  (GB/s)  (GB/s)\n", "\n"
    )
    half = ROW[: ROW.index("    265")] + "\n"
    for text in (cut + half, half, HEAD + half + half.replace("282.7", "282.8")):
        assert all(row.in_place is None for row in only(logs.read(file(text))).rows)


def test_per_iteration_columns(file):
    """The four further columns of newer versions would be taken for the second measurement."""
    head = HEAD.replace("#wrong", "#wrong    i_min    i_max    i_p99    i_cv%")
    row = ROW.replace("  111.28      0", "  111.28      0   280.0   290.0   289.0    1.20").replace(
        "  118.31      0", "  118.31      0   260.0   270.0   269.0    1.10"
    )
    assert only(logs.read(file(head + row))).rows[0].passes[1].time == pytest.approx(265.9e-6)


def test_several_tables(file):
    """Tables of several runs in one file would run into one another."""
    a = made.nccl_tests("all_reduce", [2**20, 2**21], [1e-4, 2e-4], ["a", "b"], 2)
    b = made.nccl_tests("alltoall", [2**20, 2**21], [1e-4, 2e-4], ["a", "b", "c", "d"], 2)
    reading = logs.read(file(a + "some words\n" + b))
    assert [(nccl.candidates(t), nccl.ranks(t).count, len(t.rows)) for t in reading.tables] == [
        (("all_reduce",), 4, 2),
        (("alltoall",), 8, 2),
    ]
    assert "table 2 of 2" in logs.report(file(a + b))


def test_rccl(file):
    """rccl-tests, which prints the same with its own version line, would not be known."""
    text = (HEAD + ROW).replace(
        "#\n# Using devices\n",
        "#\nrccl-tests: Version develop:abc\n# Using devices\n#  Rank  0 Pid  77 on host device  0"
        " [0000:05:00.0] AMD Instinct MI300X\n",
        1,
    )
    table = only(logs.read(file(text)))
    assert (
        table.version == "rccl-tests develop:abc"
        and table.processes[0].gpu == "AMD Instinct MI300X"
    )


def test_old_error_column_is_no_count(file):
    """Old versions print the largest deviation (2e-07) where newer ones count wrong elements: it
    would be told as wrong data.
    """
    text = (HEAD + ROW).replace("#wrong", " error").replace("      0", "  2e-07")
    table = only(logs.read(file(text)))
    assert table.check == "error" and not any(
        "wrong" in doubt for doubt in says(nccl.table_signs, table)
    )


# What looks wrong


def doubts_of(file, text):
    return " | ".join(says(nccl.table_signs, only(logs.read(file(text)))))


def _text(busbw, **more):
    sizes = [1 << power for power in range(20, 20 + len(busbw))]
    return made.nccl_tests(
        "all_reduce",
        sizes,
        [size * 1.75 / (rate * 1e9) for size, rate in zip(sizes, busbw)],
        ["a"],
        8,
        **more,
    )


RISING = [50, 90, 150, 220, 290, 340, 370, 390, 400, 402, 404, 405]


def test_a_sound_table_raises_no_doubt(file):
    """A healthy run would be called sick."""
    assert doubts_of(file, _text(RISING)) == ""


@pytest.mark.parametrize(
    "text, told",
    [
        (_text(RISING, wrong=[0] * 11 + [512]), "wrong results"),
        (_text(RISING, validated=False), "not validated"),
        (_text(RISING[:-2] + [300, 250]), "falls with size"),
        (_text(RISING[:8] + [200] + RISING[9:]), "a hole at 256 MiB"),
        (_text(RISING, in_place=[1e-9 * 512] * 12), "faster than any memory"),
        (
            _text(RISING).replace("maxBytes 2147483648", "maxBytes 8589934592"),
            "stops at 2 GiB of 8 GiB",
        ),
        (
            re.sub(r"(Avg bus bandwidth    : )\S+", r"\g<1>77.7", _text(RISING)),
            "not the mean of these rows",
        ),
        (_text(RISING).replace("405.00", "415.00"), "busbw is not algbw x 1.75"),
        (_text(RISING).replace("231.43", "331.43"), "algbw is not size/time"),
        (_text(RISING).replace("Rank  0", "Rank  9"), "but the numbers are those of 8 ranks"),
    ],
    ids=[
        "wrong",
        "unvalidated",
        "falls",
        "hole",
        "absurd",
        "stops",
        "average",
        "busbw",
        "algbw",
        "ranks",
    ],
)
def test_faults_are_named(file, text, told):
    """A fault that the table shows would pass unmentioned."""
    assert told in doubts_of(file, text)


# Refusals


@pytest.mark.parametrize(
    "content, told",
    [
        (b"", "line 1: empty"),
        (b"\n  \n", "only blank lines"),
        (b"hello\n", "line 1: begins 'hello', which is not the output of a tool known here"),
        (b"\x1f\x8b\x08abc", "a damaged gzip file"),
        (HEAD.encode() + b"\0\0" + ROW.encode(), "line 8: holds a zero byte"),
        ((HEAD + ROW).encode("utf-16-le"), "UTF-16 without its mark"),
        (HEAD, "no row of results"),
        (HEAD + ROW[:70], "line 8: the file ends in the middle of a row"),
        (HEAD + ROW[:70] + "\n" + NEXT, "line 8: a row that is not whole"),
        (
            HEAD + ROW + NEXT.rstrip("\n") + "  12.5\n",
            "line 9: 9 columns of results, where 8 belong",
        ),
        (HEAD + ROW.replace("282.7", "  nan"), "line 8: time is 'nan'"),
        (HEAD + ROW.replace("282.7", "   -5"), "line 8: time is '-5'"),
        (HEAD + ROW.replace("59.35", "1e999"), "line 8: algbw is '1e999'"),
        (HEAD + ROW.replace("16777216", "9" * 30), "is implausibly large"),
        (HEAD.replace("(GB/s)", "(MB/s)") + ROW, "line 7: units (MB/s)"),
        (HEAD.replace("busbw", "speed") + ROW, "line 6: columns"),
        (
            HEAD + "    265.9   63.10  118.31      0\n" + ROW,
            "line 8: results with no size in front",
        ),
        (HEAD + "words " + ROW, "line 8: a row behind other text"),
        (HEAD + ROW.rstrip() + " " * 3 + "x" * 70_000 + "\n", "line 8: longer than 64 KiB"),
        (HEAD + "a " * 20_000 + "\n" + "8 2 float " + "1 " * 20_000 + "\n", "a row of"),
        (ROW.replace("59.35", "99.35"), "line 1: no header names the columns"),
        (
            HEAD + ROW + "Physical Counters and BER Info\n",
            "line 9: no field of mlxlink's with a value in it",
        ),
    ],
)
def test_refused_with_line_and_reason(file, content, told):
    """Something that is no whole table would be read, or refused without saying where and why."""
    with pytest.raises(ValueError, match=re.escape(told)) as refused:
        logs.read(file(content))
    assert "log.txt" in str(refused.value)


def test_what_is_no_file(tmp_path):
    """A folder, a missing file, a device or a number would end in another exception,
    or never end.
    """
    for path, told in (
        (tmp_path, "a folder"),
        (tmp_path / "no", "cannot be opened"),
        ("/dev/zero", "not a plain file"),
        (5, "a file's path"),
        (None, "a file's path"),
        ("a\0b", "not a valid file name"),
    ):
        with pytest.raises(ValueError, match=told):
            logs.read(path)


def test_too_many_rows(file, monkeypatch):
    """A table without end would fill the memory."""
    monkeypatch.setattr("fabriclab.logs.nccl.table.MOST_ROWS", 5)
    with pytest.raises(ValueError, match="line 13: more than 5 rows"):
        logs.read(file(HEAD + ROW * 6))


def test_endless_file(file, monkeypatch):
    """A gigabyte of other lines would be read, for minutes,
    or one that grows meanwhile to its end.
    """
    monkeypatch.setattr(stream, "LARGEST_FILE", 10_000)
    path = file(HEAD + "words\n" * 3000 + ROW)
    with pytest.raises(ValueError, match="larger than"):
        logs.read(path)
    nothing_yet = os.stat_result((stat.S_IFREG, *[0] * 9))
    monkeypatch.setattr(stream, "_BLOCK", 4096)
    monkeypatch.setattr(
        stream, "os", SimpleNamespace(**{**vars(os), "stat": lambda path: nothing_yet})
    )
    with pytest.raises(ValueError, match="larger than"):
        logs.read(path)


@settings(
    max_examples=26, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(st.binary(max_size=400), st.integers(0, 3))
def test_any_bytes(file, junk, where):
    """Some sequence of bytes would raise something other than ValueError, or give a table to
    nobody's measurement.
    """
    content = [
        junk,
        HEAD.encode() + junk,
        HEAD.encode() + ROW.encode() + junk + NEXT.encode(),
        ROW[:60].encode() + junk + ROW[60:].encode(),
    ][where]
    try:
        reading = logs.read(file(content))
        assert logs.report(file(content))
        assert all(row.size >= 0 for table in getattr(reading, "tables", ()) for row in table.rows)
    except ValueError as refused:
        assert "log.txt" in str(refused)


TOKENS = st.sampled_from(
    [
        "#",
        "8",
        "16777216",
        "float",
        "sum",
        "none",
        "-1",
        "0",
        "282.7",
        "59.35",
        "111.28",
        "N/A",
        "nan",
        "1e+06",
        "time",
        "busbw",
        "size",
        "count",
        "type",
        "\n",
        "\t",
        "  ",
        "Rank",
        "nThread",
        "1e999",
        "36.470.000.00",
        "gpu:1:2 [0] NCCL INFO x",
        "[1,0]<stdout>:",
    ]
)


@settings(
    max_examples=26, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(st.lists(TOKENS, max_size=80))
def test_any_words_of_the_trade(file, words):
    """Some shuffling of the tools' own words would crash the reader or its report."""
    path = file(HEAD + " ".join(words) + "\n" + ROW)
    try:
        logs.report(path)
    except ValueError as refused:
        assert "log.txt" in str(refused)


@pytest.mark.parametrize(
    "line",
    [
        "a" * 60_000,
        ":" * 60_000,
        "1 1 int " * 7_000,
        "a:1:1 " * 9_000,
        "[" * 60_000,
        "\x1b]" * 30_000,
        " " * 60_000 + "x",
        "1" + " " * 60_000 + "x",
        "# Rank" + " " * 60_000 + "x",
        "a1" * 30_000 + " NCCL INFO",
        "1.1" * 20_000,
        "36.47" * 100,
    ],
)
def test_hostile_lines_take_no_time(file, line):
    """A line made to send a pattern back and forth would hang the reader."""
    began = time.process_time()
    try:
        logs.read(file(HEAD + (line + "\n") * 20 + ROW))
    except ValueError:
        pass
    assert time.process_time() - began < 10


def test_a_single_row_is_said_in_the_singular(tmp_path):
    """A run of one size would be reported as "all 1 rows"."""
    lines = (ROOT / "notebooks" / "logs" / "allreduce_each_alone.txt").read_text().splitlines()
    first = next(i for i, line in enumerate(lines) if line.split()[:1] == ["8388608"])
    short = tmp_path / "short.txt"
    short.write_text("\n".join(lines[: first + 1]) + "\n")
    assert "in all 1 row\n" in str(logs.report(short)) + "\n"
