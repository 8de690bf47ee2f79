"""NCCL's own log: ways, ports, rails and rings read from lines as several versions write them, and
from logs of our own.
"""

import os
import random
import re
import time
from pathlib import Path

import pytest
from damage import damaged
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabriclab import logs
from fabriclab.logs.nccl import log, ways
from fabriclab.units import Gbps
from tools import samples as made

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = Path(os.environ.get("FABRICLAB_SAMPLES", ROOT.parent / "shared" / "samples"))
HOSTS = ["gpu-a01", "gpu-a02"]
WEAVING = [rank for pair in zip(range(8), range(8, 16)) for rank in pair]


@pytest.fixture
def file(tmp_path):
    def put(text):
        path = tmp_path / "log.txt"
        path.write_text(text)
        return path

    return put


def line(text, host="h1", level="INFO"):
    return f"{host}:10:20 [0] NCCL {level} {text}\n"


def connection(file, text):
    (only,) = logs.read(file(line(text))).connections
    return only


@pytest.mark.parametrize(
    "text, way, port, direct",
    [
        ("Channel 00/0 : 9[1] -> 0[0] [receive] via NET/IB/0/GDRDMA", "NET/IB", 0, True),
        ("Channel 00 : 9[7000] -> 0[b000] [receive] via NET/IB/10", "NET/IB", 10, False),
        ("Channel 03/0 : 9[1] -> 0[0] [send] via NET/IB/2(3)/GDRDMA/Shared", "NET/IB", 2, True),
        ("Channel 01/1 : 9[1] -> 0[0] [send] via NET/IBext_v8/1/GDRDMA", "NET/IBext_v8", 1, True),
        (
            "Channel 01/0 : 9[1] -> 0[0] [send] via NET/AWS Libfabric/4",
            "NET/AWS Libfabric",
            4,
            False,
        ),
        ("Channel 01/0 : 9[1] -> 0[0] [send] via NET/Socket/0", "NET/Socket", 0, False),
        ("Channel 07/0 : 0[0] -> 7[7] via P2P/CUMEM/read", "P2P", None, False),
        ("Channel 07 : 0[7000] -> 1[b000] via P2P/IPC", "P2P", None, False),
        ("Channel 07 : 0[0] -> 1[1] via P2P/indirect/3[3]", "P2P", None, False),
        ("Channel 07 : 0[0] -> 1[1] via SHM/direct/direct", "SHM", None, False),
        ("Channel 07 : 0[0] -> 1[1] via direct shared memory", "SHM", None, False),
    ],
)
def test_the_ways_that_versions_write(file, text, way, port, direct):
    """A way would be taken for another, or a line of one version be passed over."""
    one = connection(file, text)
    assert (one.way, one.port, one.direct) == (way, port, direct)
    assert (one.channel, one.sender, one.receiver) == tuple(
        int(n) for n in re.match(r"Channel (\d+)(?:/\d+)? : (\d+)\[\w+\] -> (\d+)", text).groups()
    )
    assert one.side == ("receive" if "[receive]" in text else "send")


def test_both_ends_are_one_connection_and_the_worse_counts(file):
    """A pair of lines would count twice, or a receiver without GPU Direct RDMA hide behind a sender
    that has it.
    """
    both = line("Channel 00 : 0[0] -> 8[0] [send] via NET/IB/1/GDRDMA") + line(
        "Channel 00 : 0[0] -> 8[0] [receive] via NET/IB/0", "h2"
    )
    reading = logs.read(file(both))
    assert ways.ways(reading) == {"NET/IB (through host memory)": 1} and ways.rail_changes(
        reading
    ) == (1, 1)
    assert "no GPUDirect RDMA" in logs.report(
        file(both)
    ) and "1 of 1 connections change the rail" in logs.report(file(both))


def test_speeds_and_direct_access(file):
    """A port's rate would be lost or off by eight, or an adapter that cannot reach GPU memory go
    unnamed.
    """
    text = line(
        "NET/IB: [0] mlx5_0:uverbs0:1/IB provider=Mlx5 speed=400000 context=0x7 ar=1"
    ) + line("NET/IB: [1] mlx5_1:uverbs1:1/IB speed=100000 context=0x8")
    text += line("NET/IB : GPU Direct RDMA Disabled for HCA 1 'mlx5_1' (no module)") + line(
        "NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'"
    )
    reading = logs.read(file(text))
    assert reading.speeds == (("h1", "mlx5_0:1/IB", 400 * Gbps), ("h1", "mlx5_1:1/IB", 100 * Gbps))
    assert reading.direct == (("h1", "mlx5_1", False), ("h1", "mlx5_0", True))
    report = logs.report(file(text))
    assert "different speeds" in report and "no GPUDirect RDMA for mlx5_1:" in report


def test_the_network_that_is_used(file):
    """The sockets of the bootstrap, which some versions name first or between, would be taken for
    the network.
    """
    ib, tcp = (
        line("NET/IB : Using [0]mlx5_0:1/IB ; OOB ib0:192.0.2.1<0>"),
        line("NET/Socket : Using [0]ib0:192.0.2.1<0>"),
    )
    assert logs.read(file(tcp + ib + tcp)).network == "IB"
    assert logs.read(file(tcp)).network == "Socket"
    assert logs.read(file(ib + line("Using network Socket"))).network == "Socket"
    mixed = logs.report(
        file(
            ib
            + line("NET/IB : No device found.", "h2")
            + line("NET/Socket : Using [0]eth0:192.0.2.2<0>", "h2")
        )
    )
    assert "not all hosts use the same network" in mixed or "TCP sockets" in mixed


def report_of(file, **use):
    return logs.report(file(made.nccl_log(HOSTS, **use)))


def test_a_sound_log_raises_no_doubt(file):
    """A healthy run would be called sick, or its connections, ports or ring miscounted."""
    reading = logs.read(file(made.nccl_log(HOSTS)))
    assert "!" not in logs.report(file(made.nccl_log(HOSTS)))
    assert (reading.version, reading.ranks, reading.channels, len(reading.rings)) == (
        "2.21.5+cuda12.4",
        16,
        8,
        8,
    )
    # eight channels round a ring of sixteen, two steps of each between the nodes
    assert ways.ways(reading) == {"P2P": 112, "NET/IB (direct)": 16} and ways.rail_changes(
        reading
    ) == (0, 16)
    assert {host: len(ports) for host, ports in ways.ports_used(reading).items()} == {
        "gpu-a01": 8,
        "gpu-a02": 8,
    }
    assert [ways.crossings(ring, dict(reading.seats)) for ring in reading.rings] == [2] * 8


@pytest.mark.parametrize(
    "use, told",
    [
        ({"ports": 1}, "all ranks of a node share one port"),
        (
            {"ports": 1, "forced": [("NCCL_IB_HCA", "mlx5_0")]},
            "NCCL_IB_HCA = 'mlx5_0' left no other",
        ),
        ({"used": 1}, "gpu-a01's channels use 1 of its 8 ports (mlx5_0:1/IB)"),
        (
            {"direct": False},
            "no GPUDirect RDMA: what the network carries is copied through host memory",
        ),
        ({"ports": 0}, "TCP sockets, not RDMA"),
        ({"ports": 0}, "it says: no device found"),
        ({"ports": 0, "forced": [("NCCL_IB_DISABLE", "1")]}, "NCCL_IB_DISABLE = '1' is set"),
        ({"order": WEAVING}, "crosses between hosts 16 times where 2 would do"),
    ],
)
def test_faults_are_named(file, use, told):
    """A fault that the log shows would pass unmentioned."""
    report = report_of(file, **use)
    assert any(told in one for one in report.splitlines() if one.startswith("  ! "))


def test_host_memory_and_the_network_inside_a_node(file):
    """GPUs of one node that talk through host memory or through the NIC would pass for NVLink."""
    text = made.nccl_log(HOSTS)
    assert "112 connections by SHM" in logs.report(
        file(text.replace("P2P/CUMEM/read", "SHM/direct/direct"))
    )
    looped = re.sub(
        r"(gpu-a01.* : 0\[0\] -> 1\[1\]) via P2P/CUMEM/read", r"\1 [send] via NET/IB/0/GDRDMA", text
    )
    assert "7 connections of GPUs on one host through the network" in logs.report(file(looped))


def test_seats_are_inferred_only_where_nothing_speaks_against_it(file):
    """Ranks would be put on hosts that the log contradicts, and rings judged by it."""
    ring = line("Channel 00/01 : " + " ".join(map(str, WEAVING)))
    reading = logs.read(file(ring + line("x", "h2")))
    assert ways.seats(reading) == ({rank: "h1" if rank < 8 else "h2" for rank in range(16)}, True)
    assert "if ranks fill the hosts in order" in logs.report(file(ring + line("x", "h2")))
    against = logs.read(
        file(
            ring
            + line("x", "h2")
            + line("comm 0x1 rank 1 nranks 16 cudaDev 0", "h2")
            + line("comm 0x1 rank 0 nranks 16 cudaDev 0")
        )
    )
    assert ways.seats(against) == ({0: "h1", 1: "h2"}, False)
    assert "crosses between hosts" not in logs.report(
        file(ring + line("x", "h2") + line("y", "h3"))
    )


@pytest.mark.skipif(
    not SAMPLES.is_dir(), reason="no folder of real tools' output here (FABRICLAB_SAMPLES)"
)
def test_a_real_log():
    """The one-port fault of a real log would not be seen, or its ring be judged wrongly."""
    report = logs.report(SAMPLES / "nccl_debug_info_roce_single_nic.txt")
    assert "all ranks of a node share one port" in report and "RoCE" in report
    assert (
        "crosses between hosts 2 times (the minimum is 2), if ranks fill the hosts in order"
        in report
    )


def test_cut_and_damaged(file):
    """A log cut or damaged anywhere would crash the reader, or show a way, rank or port that the
    whole does not have.
    """
    whole = made.nccl_log(HOSTS, per_node=2, ports=2, channels=2)
    known, draw = set(logs.read(file(whole)).connections), random.Random(1)
    for at in range(0, len(whole), 37):
        try:
            assert set(logs.read(file(whole[:at])).connections) <= known
        except ValueError as refused:
            assert "line" in str(refused)
    for _ in range(80):
        logs.report(file(damaged(whole, draw)))


WORDS = st.sampled_from(
    [
        "Channel",
        "00/02",
        "00/0",
        ":",
        "0[0]",
        "->",
        "1[1]",
        "[send]",
        "[receive]",
        "via",
        "NET/IB/0",
        "NET/IB/0/GDRDMA",
        "NET/",
        "P2P/IPC",
        "SHM",
        "99999999",
        "-1",
        "comm 0x1 rank 3 nranks 2",
        "NET/IB : Using [0]mlx5_0:1/IB",
        "\nh1:1:2 [0] NCCL INFO ",
        "\nh2:1:2 [7] NCCL WARN ",
        "24 coll channels",
        "NCCL_IB_HCA set by environment to",
    ]
)


@settings(
    max_examples=26, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(st.lists(WORDS, max_size=60))
def test_any_words_of_the_trade(file, words):
    """Some shuffling of the log's own words would crash the reader or its report."""
    assert logs.report(file(line("x") + line(" ".join(words)))).startswith("NCCL's log")


@pytest.mark.parametrize(
    "text",
    [
        "Channel 0" + " 1" * 30_000,
        "Channel 00 : 0[0] -> 1[1] via " + "P2P/" * 15_000,
        "Channel 00 : 0[0] -> 1[1] via NET/" + "a " * 30_000,
        "NET/IB: [0] " + "a" * 60_000,
        "comm " + "x" * 60_000,
        "NET/IB : Using " + "[0]mlx5_0:1/IB " * 4_000,
    ],
)
def test_hostile_lines_take_no_time(file, text):
    """A line made to send a pattern back and forth would hang the reader."""
    began = time.process_time()
    logs.read(file(line(text) * 20))
    assert time.process_time() - began < 10


def test_a_log_without_end(file, monkeypatch):
    """Connections without end would fill the memory."""
    monkeypatch.setattr(log, "MOST_ROWS", 50)
    reading = logs.read(
        file("".join(line(f"Channel 00/0 : {n}[0] -> {n + 1}[1] via P2P/IPC") for n in range(500)))
    )
    assert len(reading.connections) + len(reading.seats) < 60


def test_the_maker_refuses_a_ring_that_is_none():
    """A ring that leaves a rank out would be written down as one."""
    with pytest.raises(ValueError, match="each of 16 ranks once"):
        made.nccl_log(HOSTS, order=[0, 1])


def test_what_the_file_ends_in_the_middle_of_is_no_fact(file):
    """A list of ports, or a speed, would be shorter where the file was cut, and a node be short of
    ports.
    """
    head = "n1:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 16 - Init COMPLETE\n"
    ports = (
        "n1:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [2]mlx5_2:1/IB ; OOB"
        " eth0:10.0.0.1<0>"
    )

    def log_of(text):
        return logs.read(file(text))

    assert len(log_of(head + ports + "\n").ports) == 3
    assert log_of(head + ports[:70]).ports == log_of(head + ports).ports == ()
    with pytest.raises(ValueError, match="line 1: the file ends in the middle of its only line"):
        log_of(ports[:70])
