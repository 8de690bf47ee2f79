"""Files that were read wrong once: runs that died, blank lines, counts since boot, MTUs."""

import time

import pytest

from fabriclab import logs
from fabriclab.logs import diagnose
from fabriclab.logs.source import Died

HEAD = """# nThread 1 nGpus 1 minBytes 1048576 maxBytes 2097152 step: 2(factor) validation: 1
#  Rank  0 Group  0 Pid   {pid}0 on  left device  0 [0000:10:00] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid   {pid}1 on  right device  0 [0000:10:00] NVIDIA H100 80GB HBM3
#       size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong
"""
ROWS = """  1048576  262144  float  sum  -1  50.00  20.97  20.97  0  50.00  20.97  20.97  0
  2097152  524288  float  sum  -1  80.00  26.21  26.21  0  80.00  26.21  26.21  0
"""
DEAD = "right: Test NCCL failure common.cu:1055 'unhandled system error'\n"
NVLINK = """GPU 0: NVIDIA H100 (UUID: GPU-1)
\t Link 0: Replay Errors: 0
\t Link 0: CRC Errors: 0

\t Link 1: Replay Errors: 0
\t Link 1: CRC Errors: 177
"""
DEVINFO = """hca_id: mlx5_0
    transport: InfiniBand (0)
    Device ports:
        port: 1
            state: PORT_ACTIVE (4)
            max_mtu: 4096 (5)
            active_mtu: {mtu} (3)
            link_layer: Ethernet
"""
WRITE = """                    RDMA_Write BW Test
 Device         : mlx5_0
 Mtu             : 4096[B]
 Link type       : Ethernet
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 65536      50000            97.80              97.75              0.186443
"""


def named(*parts):
    return [sign.name for sign in logs.signs(*parts)]


@pytest.fixture
def put(tmp_path):
    def made(text, name="log.txt"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return made


def test_a_run_that_died_between_good_ones_is_told(put):
    """A failed try between two good ones would be lost, or its ranks counted with the next."""
    reading = logs.read(
        put(HEAD.format(pid=1) + ROWS + HEAD.format(pid=2) + DEAD + HEAD.format(pid=3) + ROWS)
    )
    assert [len(table.processes) for table in reading.tables] == [2, 2]
    ((line, words),) = reading.died
    assert line == 10 and "unhandled system error" in words and "test-died" in named(reading)
    good = logs.read(put(HEAD.format(pid=1) + ROWS + HEAD.format(pid=3) + ROWS))
    assert not good.died and "test-died" not in named(good)


@pytest.mark.parametrize(
    "text, tool",
    [
        (HEAD.format(pid=1) + DEAD, "nccl-tests"),
        (WRITE[:130] + "\n Couldn't connect to n7\n", "perftest"),
    ],
)
def test_a_test_that_died_is_known_by_its_class(put, text, tool):
    """The words of a refusal would decide what is evidence."""
    with pytest.raises(Died):
        logs.readings(put(text))
    assert tool == logs.recognise(put(text)).TOOL


def test_a_died_test_is_weighed(put):
    """A folder with a dead test would be found without a fault."""
    path = put(HEAD.format(pid=1) + DEAD, "a.txt")
    put(WRITE, "b.txt")
    found = diagnose.diagnose(path.parent)
    assert any(one.sign == "test-died" and one.step == 2 for s in found.steps for one in s.findings)
    assert found.status


def test_what_follows_a_blank_line_is_read(put):
    """Counters of the second NVLink on would be lost behind a blank line."""
    (gpu,) = logs.read(put(NVLINK)).gpus
    assert (1, "CRC Errors", 177) in gpu.errors and named(logs.read(put(NVLINK)))


@pytest.mark.parametrize("mtu, differs", [(1024, True), (4096, False)])
def test_the_mtu_of_an_adapter_is_held_against_its_test(put, mtu, differs):
    """Hosts that disagree on the MTU would pass where one side shows only ibv_devinfo."""
    path = put(DEVINFO.format(mtu=mtu), "host.txt")
    put(WRITE, "write.txt")
    found = diagnose.diagnose(path.parent)
    assert differs == any(
        one.sign == "mtu-differs" for step in found.steps for one in step.findings
    )


def test_counts_since_boot_are_held_against_the_packets(put):
    """Three damaged packets in a year would spoil a healthy folder; many would pass for few."""
    text = (
        "NIC statistics:\n  rx_packets_phy: {}\n  rx_crc_errors_phy: 3\n  link_down_events_phy: 1\n"
    )
    assert named(logs.read(put(text.format(9 * 10**11)))) == []
    assert "rx_crc_errors_phy 3 of" in logs.report(put(text.format(9 * 10**11)))
    assert named(logs.read(put(text.format(10**6)))) == ["errors-once"]


def test_words_alone_cost_no_more_than_a_log(put):
    """A list of words would hold the reader for longer than a log of its length."""

    def seconds(text):
        begun = time.process_time()
        with pytest.raises(ValueError):
            logs.readings(put(text))
        return time.process_time() - begun

    usual = "2026-11-30 10:00:01 INFO worker 7: step 812 loss 2.31 throughput 310.1 tokens/s\n"
    assert seconds("abcde\n" * 170_000) < 2 * seconds(usual * 13_000) + 0.1


def test_a_link_told_by_ibqueryerrors_is_no_iblinkinfo(put):
    """The errors of a port and its summary would be torn apart, and the link refused."""
    text = """Errors for 0xb8599f0300000001 "leaf-3"
   GUID 0xb8599f0300000001 port 7: [PortRcvErrors == 12]
         Link info:     41    7[  ] ==( 4X 25.78125 Gbps Active/  LinkUp)==>  0xb859 9 1[  ] "g" ( )

## Summary: 16 nodes checked, 1 bad nodes found
##          226 ports checked, 1 ports have errors beyond threshold
"""
    assert logs.read(put(text)).checked == 226


@pytest.mark.parametrize(
    ("text", "tool", "look"),
    [
        ("| NVIDIA-SMI 570.86.15   Driver Version: 570.86.15 |\n", "nvidia-smi", "dmon"),
        ("DCBX mode: OS controlled\nPriority trust state: dscp\n", "mlnx_qos", "trust dscp"),
        ("Settings for enp75s0f0np0:\n\tSpeed: 200000Mb/s\n", "ethtool", "Speed and Lanes"),
        ("5: eth2: <BROADCAST,UP,LOWER_UP> mtu 9000 qdisc mq\n", "ip link", "mtu"),
        ("      IFACE    STATE            RX_OK      RX_BPS\n", "SONiC", "RX_DRP"),
        ("Linux 5.15.0-91 (n01)  11/30/2026  _x86_64_  (224 CPU)\n", "sar", "RDMA does not"),
        ('From ca {0xa088c2030001} portnum 1 lid 11-11 "n01"\n', "ibtracert", "switches of the"),
        ("Device #1:\n----------\nDevice type:  ConnectX7\n", "mlxconfig", "LINK_TYPE"),
    ],
)
def test_commands_of_the_guide_are_named_where_they_are_not_read(tmp_path, text, tool, look):
    """Somebody who follows the guide's list of commands would be told that nothing is known of
    one.
    """
    path = tmp_path / "output.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match="not read here") as told:
        logs.report(path)
    assert tool in str(told.value) and look in str(told.value)
