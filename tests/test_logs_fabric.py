"""ibnetdiscover, ibsim, iblinkinfo and NCCL's topology file: real excerpts value by value, our own
fabrics read back, damage refused.
"""

import os
import random
import re
from pathlib import Path

import networkx
import pytest
from damage import damaged, says
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabriclab import logs, topology
from fabriclab.logs import infiniband
from fabriclab.logs.nccl import system
from fabriclab.units import GB, Gbps
from tools import samples as made

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = Path(os.environ.get("FABRICLAB_SAMPLES", ROOT.parent / "shared" / "samples"))
needs_samples = pytest.mark.skipif(
    not SAMPLES.is_dir(), reason="no folder of real tools' output here (FABRICLAB_SAMPLES)"
)
REAL = (
    "iblinkinfo_v100_edr_hdr_mix",
    "ibnetdiscover_dgx_leaf_spine_fragment",
    "ibnetdiscover_p_flat_edr",
    "ibsim_net",
    "ibsim_net_2sw2path",
    "nccl_topo_azure_ndv5",
)


@pytest.fixture
def file(tmp_path):
    def put(content):
        path = tmp_path / "fabric.txt"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put


def sample(which):
    return logs.read(SAMPLES / f"{which}.txt")


def cables(fabric):
    """Each link as ((name, port), (name, port), width, speed), the ends in order."""
    found = []
    for link in fabric.links:
        ends = sorted(
            (
                (fabric.vertices[link.a].name, link.a_port),
                (fabric.vertices[link.b].name, link.b_port),
            )
        )
        found.append((*ends, link.width, link.speed))
    return sorted(found, key=str)


# Real excerpts


@needs_samples
def test_iblinkinfo():
    """Ports known by LID alone would be joined wrongly, a cable be counted from both ends, or an
    aggregation node be a host.
    """
    fabric = sample("iblinkinfo_v100_edr_hdr_mix")
    switch = "MF0;sw01:MQM8700/U1"
    assert cables(fabric) == sorted(
        [
            (
                ((switch, port), (f"gpu-node-{node} HCA-1", 1), 4, "EDR")
                if switch < f"gpu-node-{node}"
                else None
            )
            for port, node in ((1, 0), (2, 1), (3, 3), (4, 2))
        ]
        + [((switch, 41), ("Mellanox Technologies Aggregation Node", 1), 4, "HDR")],
        key=str,
    )
    assert (len(fabric.nodes), len(fabric.switches)) == (4, 1)
    assert [vertex.kind for vertex in fabric.vertices if "Aggregation" in vertex.name] == [
        "aggregation"
    ]
    assert infiniband.degraded(fabric) == []
    net = fabric.topology()
    assert (net.hosts, net.switches, net.cables) == (4, {"leaf": 1}, {"host-leaf": 4})
    assert net.capacity == pytest.approx(12.5 * GB)


@needs_samples
def test_ibnetdiscover_fragment():
    """An excerpt of leaves and spines would lose a link, or get a speed for the line that prints
    none.
    """
    fabric = sample("ibnetdiscover_dgx_leaf_spine_fragment")
    assert (len(fabric.switches), len(fabric.nodes), len(fabric.links)) == (6, 1, 5)
    assert fabric.nodes[0].name == "gpu-node-0001 mlx5_3"
    assert cables(fabric)[0] == (
        ("MF0;IB-ComputeLeaf-007:MQM8700/U1", 21),
        ("MF0;IB-ComputeSpine-01:MQM8700/U1", 39),
        4,
        "HDR",
    )
    assert [link.speed for link in fabric.links].count(None) == 1
    assert {vertex.name: vertex.ports for vertex in fabric.switches}[
        "MF0;IB-ComputeSpine-03:MQM8700/U1"
    ] == 41
    with pytest.raises(ValueError, match="no host reaches"):
        fabric.topology()


@needs_samples
def test_ibnetdiscover_ports():
    """The layout of a line a port would not be known, or free ports be counted as links."""
    fabric = sample("ibnetdiscover_p_flat_edr")
    assert (len(fabric.nodes), len(fabric.switches), len(fabric.links), len(fabric.down)) == (
        3,
        4,
        4,
        2,
    )
    assert cables(fabric)[0] == (("ib-i1l1s01", 1), ("ib-i1l2s01", 1), 4, "EDR")
    assert (("ib-i4l1s01", 35), ("p0001 HCA-1", 1), 4, "EDR") in cables(fabric)


@needs_samples
@pytest.mark.parametrize(
    "which, expected",
    [
        (
            "ibsim_net",
            [
                (("Hca1", 1), ("Switch1", 1)),
                (("Hca2", 2), ("Switch1", 2)),
                (("Switch1", 3), ("Switch2", 3)),
                (("Switch1", 4), ("Switch2", 4)),
            ],
        ),
        (
            "ibsim_net_2sw2path",
            [
                (("Hca1", 1), ("Switch1", 1)),
                (("Hca2", 1), ("Switch2", 1)),
                (("Switch1", 3), ("Switch2", 3)),
                (("Switch1", 5), ("Switch2", 5)),
            ],
        ),
    ],
)
def test_ibsim(which, expected):
    """ibsim's net files, where no prefix tells a switch from a host, would be wired wrongly."""
    fabric = sample(which)
    assert fabric.tool == "ibsim net"
    assert [(a, b) for a, b, *_ in cables(fabric)] == expected
    net = fabric.topology(rate=25 * GB)
    assert (net.hosts, sum(net.switches.values()), sum(net.cables.values())) == (2, 2, 4)
    with pytest.raises(ValueError, match="speed is not printed"):
        fabric.topology()


@needs_samples
def test_nccl_system():
    """A machine's GPUs and cards would be counted, paired or rated wrongly."""
    machine = sample("nccl_topo_azure_ndv5")
    assert [
        sum(d.kind == kind for d in machine.devices)
        for kind in ("CPU", "GPU", "InfiniBand", "bridge")
    ] == [2, 8, 8, 8]
    gpu = next(d for d in machine.devices if d.bus == "000a:00:00.0")
    assert (gpu.kind, gpu.numa, gpu.speed, gpu.width, machine.devices[gpu.above].bus) == (
        "GPU",
        1,
        32.0,
        16,
        "ffff:ff:06.0",
    )
    assert gpu.rate == pytest.approx(16 * 32e9 * 128 / 130 / 8)  # PCI Express 5.0 x16, one way
    assert machine.graph().sum() == 2 * 24 and len(machine.links) == 24
    assert says(system.signs, machine) == []
    assert "8 of 8 GPUs share a bridge" in logs.report(SAMPLES / "nccl_topo_azure_ndv5.txt")


@needs_samples
@pytest.mark.parametrize("which", REAL)
def test_cut_anywhere(which, tmp_path):
    """A file cut at any byte would crash the reader, or show a cable or a device that the whole one
    does not have.
    """
    whole = (SAMPLES / f"{which}.txt").read_bytes()
    true = sample(which)
    known = (
        {d.bus for d in true.devices}
        if which.startswith("nccl")
        else {cable[:2] for cable in cables(true)}
    )
    speeds = {} if which.startswith("nccl") else {cable[:2]: cable[2:] for cable in cables(true)}
    path = tmp_path / "cut.txt"
    for at in range(0, len(whole), 7):
        path.write_bytes(whole[:at])
        try:
            reading = logs.read(path)
            logs.report(path)
        except ValueError as refused:
            assert "line" in str(refused)
            continue
        if which.startswith("nccl"):
            assert {d.bus for d in reading.devices} <= known
            continue
        for a, b, *speed in cables(reading):
            if any(name.startswith(("S-", "H-")) for name, _ in (a, b)):
                continue  # a name may be cut away, then the GUID stands for it
            assert tuple(sorted((a, b))) in known and (tuple(speed) in ((None, None), speeds[a, b]))


# Our own fabrics


@settings(
    max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    st.sampled_from(
        [
            topology.leaf_spine(4, 2, 8, 8),
            topology.leaf_spine(3, 4, 5, 4),
            topology.fat_tree(4),
            topology.fat_tree(6),
            topology.rail_optimised(8, 8),
        ]
    ),
    st.randoms(use_true_random=False),
)
def test_the_same_graph_comes_back(file, net, rng):
    """A network written as ibnetdiscover prints it would be read as another: with the blocks in any
    order, up to renaming.
    """
    head, *blocks = made.ibnetdiscover(net).split("\n\n")
    rng.shuffle(blocks)
    got = logs.read(file("\n\n".join([head, *blocks]) + "\n")).topology()
    assert (got.hosts, got.switches, got.cables) == (net.hosts, net.switches, net.cables)
    drawn = [networkx.from_scipy_sparse_array(one.graph()) for one in (net, got)]
    if net.hosts < 100:
        hashes = [
            networkx.weisfeiler_lehman_graph_hash(graph, edge_attr="weight", iterations=6)
            for graph in drawn
        ]
        assert hashes[0] == hashes[1]
    # names carry over which host is which, and with it every cable
    order = {
        vertex.name: at for at, vertex in enumerate(logs.read(file(made.ibnetdiscover(net))).nodes)
    }
    assert len(order) == net.hosts


def test_written_in_order_reads_the_same_numbers(file):
    """Hosts listed in order would come back under other numbers, so that what is measured on them
    would be misplaced.
    """
    net = topology.leaf_spine(4, 2, 8, 8)
    head, *blocks = made.ibnetdiscover(net).split("\n\n")
    hosts, switches = [b for b in blocks if "\nCa\t" in b], [b for b in blocks if "\nSwitch\t" in b]
    got = logs.read(file("\n\n".join([head, *hosts, *switches]))).topology()
    assert (
        abs(got.graph()[: net.hosts, : net.hosts] - net.graph()[: net.hosts, : net.hosts]).sum()
        == 0
    )
    assert got.injection().tolist() == net.injection().tolist()
    assert topology.bisection(got) == topology.bisection(net)


def test_shipped_fabric_tells_its_faults():
    """The lane that fell and the missing uplink of the shipped fabric would not be found, or others
    be.
    """
    path = ROOT / "notebooks" / "logs" / "ibnetdiscover_32_hosts.txt"
    doubts = says(infiniband.signs, logs.read(path))
    assert len(doubts) == 3 and "leaf-2 port 9 to spine-1 port 5 runs at 1x NDR" in doubts[0]
    assert (
        "leaf-3 has 7 uplinks, where most have 8" in doubts[1] and "fewest to spine-2" in doubts[2]
    )
    assert says(infiniband.signs, logs.read(path)) == doubts
    healthy = topology.leaf_spine(4, 2, 8, 8, radix=40)
    assert logs.read(path).topology().cables["leaf-spine"] == healthy.cables["leaf-spine"] - 1


def test_every_rate_by_name():
    """A generation would be given another rate: IBTA's data rates of four lanes."""
    four = {"SDR": 8, "DDR": 16, "QDR": 32, "EDR": 100, "HDR": 200, "NDR": 400, "XDR": 800}
    assert {speed: round(infiniband.link_rate(4, speed) / Gbps) for speed in four} == four
    assert infiniband.link_rate(4, "FDR") / Gbps == pytest.approx(54.545, abs=1e-3)


LINE = (
    "           3    {port}[  ] ==( {width}X      {signal} Gbps {state}/  LinkUp)==>       {lid}   "
    ' 1[  ] "node-{lid} HCA-1" ( {more})\n'
)
SWITCH = "Switch: 0x0200000000000001 sw:\n"


def linkinfo(*ports):
    return SWITCH + "".join(
        LINE.format(
            **{
                "width": 4,
                "signal": "106.25",
                "state": "Active",
                "more": "",
                "port": at + 1,
                "lid": at + 10,
            }
            | port
        )
        for at, port in enumerate(ports)
    )


@pytest.mark.parametrize(
    "text, told",
    [
        (
            linkinfo({}, {"width": 1, "more": "Could be 4X "}),
            "runs at 1x NDR, though both ends could do 4x",
        ),
        (
            linkinfo({}, {"signal": "53.125", "more": " Could be 106.25 Gbps"}),
            "runs at 4x HDR, though both ends could do NDR",
        ),
        (linkinfo({}, {"width": 2}), "runs at 2x NDR, where the best host-switch link is 4x NDR"),
        (linkinfo({}, {"state": "Initialize"}), "1 link connected but Initialize"),
        (
            linkinfo({})
            + '           3   40[  ] ==(                Down/ Polling)==>             [  ] ""'
            " ( )\n",
            "1 port with nothing at the far end",
        ),
        (linkinfo({}, {"lid": 10}), "plugs port 1 of node-10 HCA-1 elsewhere"),
    ],
)
def test_iblinkinfo_faults_are_named(file, text, told):
    """A link below what it could be, a port that is down or wired twice would pass unmentioned."""
    assert told in logs.report(file(text))


def test_iblinkinfo_in_one_line_a_port(file):
    """The layout of -l, which names both ends in each line and no kind, would be refused or take
    the switch for a host.
    """
    text = "".join(
        f'0x00000000000000aa "{"sw":>30}"      3    {p}[  ] ==( 4X      106.25 Gbps Active/ '
        f' LinkUp)==>  0x00000000000000{p:02x}     {p + 10}    1[  ] "node-{p} HCA-1" ( )\n'
        for p in (1, 2)
    )
    fabric = logs.read(file(text))
    assert ([v.name for v in fabric.switches], [v.machine for v in fabric.nodes]) == (
        ["sw"],
        ["node-1", "node-2"],
    )


def test_list_of_devices(file):
    """The list of -l, devices without links, would be refused."""
    fabric = logs.read(
        file(
            'Switch\t : 0x0200000000000001 ports 40 devid 0xd2f2 vendid 0x2c9 "leaf-1"\nCa\t :'
            ' 0x0200000000000002 ports 1 devid 0x1021 vendid 0x2c9 "node-1 mlx5_0"\n'
        )
    )
    assert (len(fabric.switches), len(fabric.nodes), fabric.links) == (1, 1, ())


XML = """<system version="1">
  <cpu numaid="0" arch="x86_64">
    <pci busid="0000:01:00.0" class="0x060400" link_speed="16.0 GT/s PCIe" link_width="16">
      <pci busid="0000:02:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="90" rank="0" gdr="1"><nvlink target="0000:99:00.0" count="18" \
tclass="0x068000"/></gpu>
      </pci>
      <pci busid="0000:03:00.0" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="16">
        <nic><net name="mlx5_0" dev="0" speed="400000" port="1" gdr="1"/></nic>
      </pci>
    </pci>
  </cpu>
  <cpu numaid="1" arch="x86_64">
    <pci busid="0000:82:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="8">
      <gpu dev="1" sm="90" rank="1" gdr="1"><nvlink target="0000:99:00.0" count="12" \
tclass="0x068000"/></gpu>
    </pci>
  </cpu>
</system>
"""


def test_system_faults_are_named(file):
    """A GPU on half of its lanes, a narrow bridge, uneven NVLinks or a GPU far from a card would
    pass unmentioned.
    """
    text = logs.report(file(XML))
    assert "port mlx5_0: 400 Gb/s" in text and "1 of 2 GPUs share a bridge" in text
    for told in (
        "82:00.0 (line 13) has PCIe 32 GT/s x8",
        "the bridge 0000:01:00.0 has less bandwidth upwards",
        "1 have 12, 1 have 18",
        "1 GPUs share no bridge",
    ):
        assert told in text


BOMB = '<!DOCTYPE system [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>\n'


@pytest.mark.parametrize(
    "content, told",
    [
        (BOMB + XML, "line 1: declares a document type"),
        (
            '<?xml version="1.0"?>\n<!DOCTYPE system SYSTEM "file:///etc/passwd">\n' + XML,
            "line 2: declares a document type",
        ),
        (XML.replace("</cpu>", "", 1), "XML is malformed or truncated: mismatched tag"),
        (XML[:300], "XML is malformed or truncated"),
        (XML.replace("16.0 GT/s PCIe", "fast"), "line 3: link_speed is 'fast'"),
        (XML.replace('link_width="8"', 'link_width="1e999"'), "link_width is '1e999'"),
        ('<system version="1">\n' + "<pci>" * 100, "more than 64 levels"),
        ("<system version='1'>&b;</system>\n", "XML is malformed or truncated: undefined entity"),
        ("<system version='1'>\n</system>\n", "no device in it"),
        ('Switch\t40 "S-1"\n[1]\t"S-2"[\n', "line 2: not a whole line of ibnetdiscover"),
        ('Switch\t40 "S-1"\n[x]\n[1]\t"S-2"\n', "line 3: not a whole line"),
        (
            'Switch\tforty "S-1"\nCa\t1 "H-1"\n[1]\t"S-2"[1]\nSwitch\t99999 "S-3"\n',
            "line 4: not a whole line",
        ),
        (
            linkinfo({}).replace("106.25", "99.9"),
            "no generation of InfiniBand signals at 99.9 Gb/s",
        ),
        (linkinfo({})[:-20] + "\n", "line 2: the remote end of this line is incomplete"),
        (
            linkinfo({}).replace("Active", "") + linkinfo({}),
            "line 2: not a whole line of iblinkinfo",
        ),
        (
            linkinfo({}) + 'Ca\t1 "H-1"\n',
            "line 3: holds 2 readings (iblinkinfo at line 2, ibnetdiscover at line 3",
        ),
    ],
)
def test_refused_with_line_and_reason(file, content, told):
    """Something broken or hostile would be read, or refused without saying where and why."""
    with pytest.raises(ValueError, match=re.escape(told)):
        logs.read(file(content))


@settings(
    max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    st.sampled_from([made.ibnetdiscover(topology.fat_tree(4)), linkinfo({}, {}, {}), XML]),
    st.binary(max_size=60),
    st.integers(0, 3000),
)
def test_any_bytes(file, text, junk, at):
    """Some sequence of bytes within a file would raise something other than ValueError."""
    try:
        logs.report(file(text.encode()[:at] + junk + text.encode()[at:]))
    except ValueError as refused:
        assert "fabric.txt" in str(refused)


@needs_samples
@pytest.mark.parametrize("which", REAL)
def test_damaged_anywhere(which, tmp_path):
    """Lines lost, doubled, swapped or split would crash the reader."""
    whole, rng, path = (
        (SAMPLES / f"{which}.txt").read_text(),
        random.Random(which),
        tmp_path / "damaged.txt",
    )
    for _ in range(40):
        path.write_text(damaged(whole, rng))
        try:
            logs.report(path)
        except ValueError as refused:
            assert "line" in str(refused)
