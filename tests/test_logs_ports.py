"""Readers of ibstat and its kin, topo -m, RDMA counters, ibqueryerrors, nvlink, lspci, JSON, and
PyTorch's watchdog. The inputs are made here in the tools' formats.
"""

import pytest

from fabriclab import logs
from fabriclab.logs import layout
from fabriclab.units import GB, Gbps

IBSTAT = """CA 'mlx5_0'
\tCA type: MT4123
\tNumber of ports: 1
\tFirmware version: 20.31.1014
\tNode GUID: 0x0000000000000001
\tPort 1:
\t\tState: Active
\t\tPhysical state: LinkUp
\t\tRate: 200
\t\tBase lid: 5
\t\tCapability mask: 0x2651e84a
\t\tLink layer: InfiniBand
CA 'mlx5_1'
\tCA type: MT4123
\tPort 1:
\t\tState: Down
\t\tPhysical state: Polling
\t\tRate: 10
\t\tLink layer: InfiniBand
"""
IBSTATUS = """Infiniband device 'mlx5_0' port 1 status:
\tdefault gid:\t fe80:0000:0000:0000:0000:0000:0000:0001
\tbase lid:\t 0x81
\tstate:\t\t 4: ACTIVE
\tphys state:\t 5: LinkUp
\trate:\t\t 100 Gb/sec (2X HDR)
\tlink_layer:\t InfiniBand
"""
DEVINFO = """hca_id:\tmlx5_2
\ttransport:\t\t\tInfiniBand (0)
\tfw_ver:\t\t\t\t16.35.1012
\tphys_port_cnt:\t\t\t1
\t\tport:\t1
\t\t\tstate:\t\t\tPORT_ACTIVE (4)
\t\t\tmax_mtu:\t\t4096 (5)
\t\t\tactive_mtu:\t\t1024 (3)
\t\t\tlink_layer:\t\tEthernet
\t\t\tactive_width:\t\t4X (2)
\t\t\tactive_speed:\t\t25.0 Gbps (32)
"""
TOPO = (
    "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tNV18\tPIX\tSYS\t0-31\t0\nGPU1\tNV18\t X \tSYS\tSYS\t32-63\t1\n"
    "NIC0\tPIX\tSYS\t X \tSYS\nNIC1\tSYS\tSYS\tSYS\t X \n\nNIC Legend:\n\n  NIC0: mlx5_0\n"
    "  NIC1: mlx5_3\n"
)
RDMA = "link mlx5_0/1 rx_write_requests 9 out_of_sequence 31 local_ack_timeout_err 4\n"
QUERY = """Errors for 0x00000000000000b0 "leaf-1"
   GUID 0xb0 port ALL: [PortXmitDiscards == 9]
   GUID 0xb0 port 5: [SymbolErrorCounter == 65535] [PortXmitWait == 77]
## Summary: 4 nodes checked, 1 bad nodes found
##          43 ports checked, 1 ports have errors beyond threshold
"""
NVLINK = "GPU 0: NVIDIA H100 (UUID: GPU-1)\n\t Link 0: 26.562 GB/s\n\t Link 1: <inactive>\n"
LSPCI = """3b:00.0 Infiniband controller: Mellanox ConnectX-7
\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM not supported
\t\tLnkSta:\tSpeed 32GT/s, Width x8 (downgraded)
"""
TORCH = (
    "[rank{0}]:[E1218 20:27:21.426 ProcessGroupNCCL.cpp:629] [Rank {0}] Watchdog caught collective"
    " operation timeout: WorkNCCL(SeqNum={1}, OpType={2}, NumelIn=8, NumelOut=8,"
    " Timeout(ms)=600000) ran for 600081 milliseconds before timing out.\n"
)
ALL = {
    "ibstat": IBSTAT,
    "ibstatus": IBSTATUS,
    "ibv_devinfo": DEVINFO,
    "topo": TOPO,
    "rdma": RDMA,
    "ibqueryerrors": QUERY,
    "nvlink": NVLINK,
    "lspci": LSPCI,
}


@pytest.fixture
def file(tmp_path):
    def put(text):
        path = tmp_path / "log.txt"
        path.write_text(text)
        return path

    return put


def names(file, text):
    return [sign.name for sign in logs.signs(logs.read(file(text)))]


def test_ports_of_a_host(file):
    """State, rate or MTU of a port would be another's, or a port that is down pass for one up."""
    one, other = logs.read(file(IBSTAT)).ports
    assert (one.called, one.up, one.rate, one.layer) == ("mlx5_0", True, 200 * Gbps, "InfiniBand")
    assert (other.called, other.up, other.physical) == ("mlx5_1", False, "polling")
    (narrow,) = logs.read(file(IBSTATUS)).ports
    assert (narrow.width, narrow.speed, narrow.rate) == (2, "HDR", 100 * Gbps)
    (port,) = logs.read(file(DEVINFO)).ports
    assert (port.mtu, port.most_mtu, port.rate, port.up) == (1024, 4096, 100 * Gbps, True)
    assert names(file, IBSTAT) == ["port-idle"]
    assert names(file, IBSTATUS) == ["one-lane"] and names(file, DEVINFO) == ["mtu-below"]
    line = "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev eth2\n"
    assert logs.read(file(line)).ports[0].netdev == "eth2"


def test_distances(file):
    """A NIC would be called near that lies across the sockets, or the words change places."""
    reading = logs.read(file(TOPO))
    assert reading.nearest("GPU0") == ("PIX", ("NIC0",))
    assert reading.nearest("GPU1") == ("SYS", ("NIC0", "NIC1"))
    assert "mlx5_0" in logs.report(file(TOPO)) and names(file, TOPO) == ["nic-far"]
    with pytest.raises(ValueError, match="line 2: not a whole row of 4 devices"):
        logs.read(file(TOPO.replace("NV18\tPIX\tSYS\t0-31\t0", "NV18\tPIX")))


def test_counters_of_rdma(file):
    """Retransmissions would pass for traffic, or a file of sysfs be unknown."""
    assert names(file, RDMA) == ["rdma-retry", "rdma-loss"]
    text = "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence:31\n"
    assert logs.read(file(text)).ports[0].count("out_of_sequence") == 31
    with pytest.raises(ValueError, match="not a count"):
        logs.read(file(text.replace("31", "x")))


def test_ports_above_the_threshold(file):
    """The sum over a switch would be counted as a port, or a full counter taken for a count."""
    reading = logs.read(file(QUERY))
    assert (reading.nodes, reading.checked, len(reading.ports)) == (4, 43, 2)
    assert names(file, QUERY) == ["errors-once"] and "at least" in logs.report(file(QUERY))


def test_nvlink_and_pcie(file):
    """A link that is off, or half of the lanes of a slot, would not stand out."""
    assert logs.read(file(NVLINK)).gpus[0].speeds == ((0, 26.562 * GB), (1, None))
    assert names(file, NVLINK) == ["nvlink-down"] and names(file, LSPCI) == ["pcie-narrow"]
    counted = "GPU 0: H100 (UUID: GPU-1)\n\t Link 0: CRC Errors: {}\n\t Link 1: Replay Errors: 3\n"
    assert names(file, counted.format(7)) == ["nvlink-errors"]
    said = logs.report(file(counted.format(7)))
    assert "GPU 0: 2 links, 2 counters not zero" in said and "CRC Errors 7" in said
    on = "\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl-\n"
    assert names(file, on) == ["acs-on"]
    assert names(file, on.replace("+", "-")) == []


def test_watchdog_of_torch(file):
    """A job that hung would leave no trace, or ranks in different collectives look alike."""
    reading = logs.read(file(TORCH.format(0, 7, "ALLREDUCE") + TORCH.format(1, 7, "ALLREDUCE")))
    assert [(one.rank, one.sequence) for one in reading.timeouts] == [(0, 7), (1, 7)]
    text = TORCH.format(0, 7, "ALLREDUCE") + TORCH.format(1, 8, "BROADCAST")
    assert "collectives-differ" in names(file, text) and "10 min" in logs.report(file(text))


def test_json_says_the_same_as_text(file):
    """The same test would read differently by its form, or Gb/s be taken for MB/s."""
    row = '"MsgSize": 65536, "n_iterations": 5000, "BW_peak": {0}, "BW_average": {0}'
    text = (
        '{{\n "test_info": {{"test": "RDMA_Write_BW_Test", "Device": "mlx5_0", "Mtu": 4096}},\n'
        ' "results": {{{row}, "MsgRate": 0.5}}\n}}\n'
    )
    for printed in ("262.144", "31250.0"):
        (table,) = logs.read(file(text.format(row=row.format(printed)))).tables
        assert table.one_way(table.best) == pytest.approx(65536 * 0.5e6, rel=1e-3)
        assert (table.verb, table.device, table.mtu) == ("write", "mlx5_0", 4096)
    text = (
        '{"result": {"output": {"Operational Info": {"State": "Active", "Speed": "IB-NDR"},'
        ' "Physical Counters and BER Info": {"Raw Physical Errors Per Lane": {"values": ["1",'
        ' "2"]}}}}}\n'
    )
    assert logs.read(file(text)).ports[0].raw_errors_per_lane == (1, 2)
    with pytest.raises(ValueError, match="cut or broken"):
        logs.read(file(text[:-3] + "\n"))


def test_light_of_a_module(file):
    """A lane in the dark would pass, as mlxlink -m only prints it."""
    text = "Module Info\n-----------\nTemperature [C] : 44 [-10..70]\nRx Power Current [dBm] : {}\n"
    assert names(file, text.format("1.0,1.1,0.9,1.0 [-9..5]")) == []
    assert names(file, text.format("1.0,1.1,-40,1.0 [-9..5]")) == ["weak-light"]
    assert names(file, text.format("1,1,1,1").replace("44", "71")) == ["hot-module"]


def test_names_of_every_driver(file):
    """A card's pauses would be unknown because its driver spells them in its own way."""
    for line, way in (
        ("rx_pfc_ena_frames_pri3: 5", "rx"),
        ("tx_priority_3_xoff.nic: 5", "tx"),
        ("port.rx_priority_3_xoff: 5", "rx"),
    ):
        (port,) = logs.read(file(f"NIC statistics:\n     {line}\n")).ports
        assert getattr(port, way)[3] == 5
    assert names(file, "NIC statistics:\n rx_crc_errors_phy: 7\n") == ["errors-once"]
    assert names(file, "NIC statistics:\n link_down_events_phy: 7\n") == ["link-downs"]


@pytest.mark.parametrize("tool", ALL)
def test_cut_or_alone_it_is_read_or_refused(tool, file):
    """A listing that ends in the middle would crash its reader."""
    text = ALL[tool]
    assert logs.report(file(text))
    for at in range(0, len(text), 7):
        try:
            logs.report(file(text[:at]))
        except ValueError as error:
            assert str(error).startswith(str(file(text[:at])))


def test_a_layout_refuses_what_it_does_not_know(file):
    """A line that a table's layout does not have would be skipped without a word."""
    table = layout.Layout("x", {"head": "Port {n:int}:"}, {"rate": "Rate: {r:float}"}, ("lid: {}",))
    found = [match.form for match in table.read(file("noise\nPort 1:\n  Rate: 4.5\n"))]
    assert found == ["head", "rate"]
    with pytest.raises(ValueError, match="line 2: not a line of x"):
        list(table.read(file("Port 1:\n  Rat: 4.5\n")))
