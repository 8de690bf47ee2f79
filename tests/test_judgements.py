"""Right figures, judged right: what crosses the NICs, hosts and NVLink domains, MTU, time, memory,
a stall, a status, and one host's log.
"""

import pytest

from fabriclab import diagnosis, telemetry
from fabriclab.catalog import NDR
from fabriclab.telemetry import made, nccl, perftest
from fabriclab.telemetry.nccl import status, wire
from fabriclab.telemetry.perftest import Row, Table
from fabriclab.units import GB, Gbps

SIZES = [1 << power for power in range(20, 34)]
NODES = ["gpu-a01", "gpu-a02"]


@pytest.fixture
def read(tmp_path):
    def put(text):
        (tmp_path / "file.txt").write_text(text)
        return telemetry.read(tmp_path / "file.txt")

    return put


def signs(reading, rate=None):
    return {sign.name for sign in telemetry.signs(reading, rate)}


def table_of(read, collective, busbw, hosts=NODES, per_node=8, gpu=None):
    n = len(hosts) * per_node
    times = [3e-5 + size * nccl.factor(collective, n) / busbw for size in SIZES]
    text = made.nccl_tests(collective, SIZES, times, hosts, per_node)
    return read(text.replace("NVIDIA H100 80GB HBM3", gpu) if gpu else text)


@pytest.mark.parametrize("collective", ["all_reduce", "alltoall"])
@pytest.mark.parametrize("ranks, hosts", [(16, 2), (32, 4), (12, 3)])
def test_traffic_of_a_collective_by_counting(collective, ranks, hosts):
    """A share that leaves the host would be another than that of messages counted one by one."""
    each = ranks // hosts
    if collective == "alltoall":  # each rank sends S/n to each other
        out = sum(1 for a in range(each) for b in range(ranks) if b // each != 0) / ranks
        per_busbw = out / ((ranks - 1) / ranks)
    else:  # a ring: rank i sends S/n to i + 1 in each of 2(n-1) steps; one rank of a host leaves it
        sent = 2 * (ranks - 1) / ranks
        per_busbw = sent / (2 * (ranks - 1) / ranks)
    assert float(wire.traffic(collective, ranks, hosts)) == pytest.approx(per_busbw)


def test_an_alltoall_at_the_ports_rate_is_healthy(read):
    """Half of an AllToAll stays inside: its busbw would be held against a ring's, and ports that
    are full be called slow.
    """
    reading = table_of(read, "alltoall", 48 * GB * 15 / 8)
    report = nccl.report(reading)
    assert "8/15 leaves the node" in report and "96% of the one NDR port" in report
    assert "nics-low" not in signs(reading)
    assert "nics-low" in signs(table_of(read, "alltoall", 20 * GB * 15 / 8))
    assert "nics-low" in signs(table_of(read, "all_reduce", 8 * 20 * GB))
    assert "nics-low" not in signs(table_of(read, "sendrecv", 20 * GB))


def _elided(text, keep):
    lines = text.splitlines(keepends=True)
    ranks = [at for at, line in enumerate(lines) if line.startswith("#  Rank")]
    gone = {at for number, at in enumerate(ranks) if number not in keep}
    return "".join(line for at, line in enumerate(lines) if at not in gone)


def test_hosts_are_counted_only_where_they_can_be(read):
    """The lines that a page left out would be hosts that were not there."""
    hosts = [f"node-{at:02d}" for at in range(16)]
    times = [3e-5 + size / (600 * GB) for size in SIZES]
    text = made.nccl_tests("all_reduce", SIZES, times, hosts, 4)
    assert wire.hosts(read(text).tables[0]) == wire.Hosts(16)
    few = wire.hosts(read(_elided(text, {0, 1, 2, 3, 62, 63})).tables[0])
    assert few.count == 16 and "if each has 4 GPUs" in few.how
    last = wire.hosts(read(_elided(text, {63})).tables[0])
    assert last.count is None and "not counted" in str(last)


def test_inside_an_nvlink_domain_no_nic_is_judged(read):
    """A rack's NVLink would be a port that carries seven times what it can, and then a verdict."""
    hosts = [f"node-{at:02d}" for at in range(16)]
    reading = table_of(read, "all_reduce", 840 * GB, hosts, 4, "NVIDIA GB300")
    assert "fit into one NVLink domain of 72" in nccl.report(reading)
    assert not signs(reading)


def test_beyond_what_ports_give_is_no_evidence(tmp_path):
    """A model that is not of this machine would count as a proof of health."""
    times = [3e-5 + size / (900 * GB) for size in SIZES]
    (tmp_path / "a.txt").write_text(made.nccl_tests("all_reduce", SIZES, times, NODES, 8))
    (tmp_path / "incident.toml").write_text('port = "400 Gb/s"\n')
    found = diagnosis.diagnose(tmp_path)
    assert [finding.sign for finding in found.steps[1].findings] == ["nccl-beyond"]
    assert not found.steps[1].sound


def test_one_time_at_every_size_is_a_stall(read):
    """A time-out that every size runs into would be "another algorithm"."""
    times = [1e-4 * 1.8**at for at in range(6)] + [0.5] * 8
    stalled = read(made.nccl_tests("all_reduce", SIZES, times, NODES, 8))
    assert "stalled" in signs(stalled) and "busbw-jumps" not in signs(stalled)
    assert "no ceiling" in nccl.report(stalled)
    assert "stalled" not in signs(table_of(read, "all_reduce", 380 * GB))


def test_perftest_by_its_mtu_and_coding():
    """All that an MTU of 1024 or 8b/10b leaves would be too little."""
    frame = 14 + 4 + 8 + 12 + 20 + 8 + 12 + 4  # Ethernet, gap, IPv4, UDP, BTH, ICRC
    for mtu in (256, 1024, 4096):
        most = perftest.ceiling(Table((), "bandwidth", link="Ethernet", mtu=mtu))
        assert most == pytest.approx(mtu / (mtu + frame))

    def table(rate, link, mtu):
        row = Row(1, 1 << 20, 5000, average=rate)
        return Table((row,), "bandwidth", bidirectional=False, link=link, mtu=mtu)

    assert perftest.good(table(92.6 * Gbps, "Ethernet", 1024), 100 * Gbps)
    assert not perftest.good(table(80 * Gbps, "Ethernet", 1024), 100 * Gbps)
    assert perftest.good(table(29.5 * Gbps, "IB", 4096), 40 * Gbps)
    assert not perftest.good(table(80 * Gbps, "IB", 4096), 100 * Gbps)


def test_perftest_by_its_time(read):
    """Start-up that fills most of a short test would be congestion."""
    short = made.perftest_bandwidth([65536], [7 * GB], [45 * GB], iterations=5000)
    long = made.perftest_bandwidth([65536], [7 * GB], [45 * GB], iterations=500_000)
    assert signs(read(short)) == {"too-short"} and signs(read(long)) == {"pair-stop-and-go"}


def test_gpu_memory_is_not_pooled_with_host_memory(tmp_path):
    """A slow way from GPU to NIC would be one slow pair among good ones."""
    large = [1 << 20, 1 << 23]
    (tmp_path / "host.txt").write_text(made.perftest_bandwidth(large, [48 * GB] * 2))
    (tmp_path / "gpu.txt").write_text(made.perftest_bandwidth(large, [18 * GB] * 2, gpu=True))
    (tmp_path / "incident.toml").write_text('port = "400 Gb/s"\n')
    found = diagnosis.diagnose(tmp_path)
    assert found.cause == "ACS, IOMMU or PCIe below the NIC"
    assert "some-pairs" not in {finding.sign for finding in found.steps[2].findings}


@pytest.mark.parametrize(
    "text, code",
    [
        ("NET/IB : Got completion from peer 1.2.3.4<5> with status=12 opcode=0 len=0", 12),
        ("with status=IBV_WC_RNR_RETRY_EXC_ERR(13) opcode=IBV_WC_SEND(0)", 13),
        ("Got completion from peer with error 12, opcode 0", 12),
        ("status: IBV_WC_LOC_PROT_ERR vendor err 81", 4),
        ("Connection closed by remote peer", None),
    ],
)
def test_a_status_and_its_meaning(text, code):
    """An error of the network would be a warning among others, or carry another's meaning."""
    assert status.code_of(text) == code
    (sign,) = status.warning_signs([text])
    assert text in sign.says and (sign.name == "nccl-warns") == (code is None)
    assert status.MEANING.get(code, "") in sign.says


def test_one_hosts_log_is_one_hosts(read):
    """Ranks of other hosts, of which this log does not tell, would be taken for this host's."""
    text = "".join(
        f"n1:15:50 [0] NCCL INFO Channel 00/0 : {a}[0] -> {b}[0] [{way}] via NET/Socket/0\n"
        for a, b, way in ((3, 0, "receive"), (0, 1, "send"))
    )
    text += "n1:15:50 [0] NCCL INFO comm 0x1 rank 0 nranks 4 cudaDev 0 busId 1 - Init COMPLETE\n"
    assert signs(read(text)) == {"socket"}


def test_ib_over_its_ports_is_not_offered_as_sockets(tmp_path):
    """A cause would be offered against what the log has just told."""
    share = 0.3 * 8 * 0.96 * NDR.beta
    times = [3e-5 + size * 1.875 / share for size in SIZES]
    (tmp_path / "a.txt").write_text(made.nccl_tests("all_reduce", SIZES, times, NODES, 8))
    (tmp_path / "nccl.log").write_text(made.nccl_log(NODES, 8, 8))
    (tmp_path / "incident.toml").write_text('ports_per_node = 8\nport = "400 Gb/s"\n')
    found = diagnosis.diagnose(tmp_path)
    offered = {found.cause, *found.between}
    assert not offered & {"fallback to TCP sockets", "wrong or too few HCAs"}
    assert "GPUDirect RDMA is off" not in offered
