"""NCCL's environment variables: read as NCCL reads them, and AllReduce times by its own table,
against hand sums and measurements.
"""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabriclab import catalog, collectives, nccl
from fabriclab.nccl import settings
from fabriclab.units import GB, KB, MB, us

ROCE_TEN = dataclasses.replace(
    nccl.DGX_H100, name="ten", hcas=tuple(f"mlx5_{i}" for i in range(12)), fabric="RoCE"
)
PLAIN = dataclasses.replace(nccl.DGX_H100, nvls=0.0)


def doubts(**environment):
    return " | ".join(settings(environment).doubts)


# Variables


def test_nothing_set_is_the_node_as_it_is():
    """An empty environment would limit something, or raise a doubt."""
    found = settings({})
    assert (found.network, found.hcas, found.inside, found.channels) == (
        "IB",
        nccl.DGX_H100.hcas,
        "NVLink",
        (1, 64),
    )
    assert (found.algorithms, found.protocols, found.effects, found.doubts) == (
        ("Ring", "Tree", "NVLS", "NVLSTree"),
        ("LL", "LL128", "Simple"),
        (),
        (),
    )
    assert nccl.network_bandwidth(found) == 400 * GB and nccl.inside_bandwidth(found) == 450 * GB


@pytest.mark.parametrize(
    "value, left",
    [
        ("mlx5", list(range(12))),
        ("mlx5_0", [0]),
        ("mlx5_1", [1, 10, 11]),
        ("=mlx5_1", [1]),
        ("^mlx5_1", [0, *range(2, 10)]),
        ("^=mlx5_1", [0, *range(2, 12)]),
        ("mlx5_2,mlx5_3", [2, 3]),
        ("=mlx5_2:1,mlx5_3:1", [2, 3]),
        ("=mlx5_2:2", []),
        ("mlx5_12", []),
        ("ib0", []),
        ("", list(range(12))),
        ("^mlx5", []),
    ],
)
def test_hca_filter(value, left):
    """A prefix, an exact name, an exception or a port would be read otherwise than the NCCL user
    guide says.
    """
    assert nccl.chosen_hcas(value, ROCE_TEN.hcas) == tuple(f"mlx5_{i}" for i in left)
    assert settings({"NCCL_IB_HCA": value}, ROCE_TEN).hcas == tuple(f"mlx5_{i}" for i in left)


def test_no_adapter_left_is_sockets_in_silence():
    """A name that matches nothing would leave RDMA on, or go unmentioned."""
    found = settings({"NCCL_IB_HCA": "mlx5_9"})
    assert found.network == "Socket" and nccl.network_bandwidth(found) == catalog.TCP.beta
    assert "mlx5_9, which this node has not" in " ".join(
        found.doubts
    ) and "falls back to TCP sockets" in " ".join(found.doubts)
    assert (
        settings({"NCCL_IB_DISABLE": "1"}).network
        == settings({"NCCL_IB_DISABLE": "1", "NCCL_IB_HCA": "mlx5_0"}).network
        == "Socket"
    )
    assert (
        settings({"NCCL_IB_DISABLE": "0"}).network == "IB"
        and settings({}, ROCE_TEN).network == "RoCE"
    )


@pytest.mark.parametrize(
    "name, value, told",
    [
        ("NCCL_IB_HCA", "mlx5_0,^mlx5_1", "'^mlx5_1' inside the list"),
        ("NCCL_IB_HCA", "=mlx5_0,=mlx5_1", "'=mlx5_1' inside the list"),
        ("NCCL_IB_HCA", "mlx5_0", "leaves 1 of 8 ports"),
        ("NCCL_IB_DISABLE", "yes", "'yes', which NCCL reads as 0"),
        ("NCCL_MAX_NCHANNELS", "8 channels", "reads as 8"),
        ("NCCL_MAX_NCHANNELS", "9" * 30, "out of range"),
        ("NCCL_PROTO", "LL12", "did you mean LL128?"),
        ("NCCL_PROTO", "LL12", "the first collective fails"),
        ("NCCL_ALGO", "Tre", "did you mean Tree?"),
        ("NCCL_ALGO", "PAT", "not for an AllReduce"),
        ("NCCL_ALGO", "CollnetDirect", "this node or this model has not"),
        ("NCCL_PROTO", "LL128", "wrong data"),
        ("NCCL_P2P_LEVEL", "nvl", "in capitals"),
        ("NCCL_DEBUG", "VERBOSE", "stays silent"),
        ("NCCL_TOPO_FILE", "topo.json", "does not look like an XML file"),
        ("NCCL_MAX_NCHANNELS", "0", "1 to 64 channels"),
        ("NCCL_CROSS_NIC", "3", "knows 0, 1 and 2"),
        ("NCCL_IB_DISBLE", "1", "did you mean NCCL_IB_DISABLE?"),
        ("nccl_proto", "LL", "did you mean NCCL_PROTO?"),
        ("PATH", "/bin", "not a known variable of NCCL"),
    ],
)
def test_what_is_passed_over_is_told(name, value, told):
    """A value or name that NCCL ignores, or that was hardly meant, would pass without a word."""
    assert told in doubts(**{name: value})


def test_a_prefix_that_takes_more_than_its_name():
    """mlx5_1 on a node with mlx5_10 would be thought to be one adapter."""
    assert "takes mlx5_1, mlx5_10, mlx5_11; =mlx5_1 takes it alone" in " ".join(
        settings({"NCCL_IB_HCA": "mlx5_1"}, ROCE_TEN).doubts
    )
    assert "prefix" not in " ".join(settings({"NCCL_IB_HCA": "=mlx5_1"}, ROCE_TEN).doubts)


def test_lists_of_algorithms_and_protocols():
    """Lists, exceptions, letters' case or the newer form for one collective would be read
    wrongly.
    """
    assert settings({"NCCL_ALGO": "ring,TREE"}).algorithms == ("Ring", "Tree") and settings(
        {"NCCL_ALGO": "^ring"}
    ).algorithms == ("Tree", "NVLS", "NVLSTree")
    assert (
        settings({"NCCL_ALGO": "ring;allreduce:tree;allgather:ring"}).algorithms == ("Tree",)
        and settings({"NCCL_ALGO": "allgather:ring"}).algorithms == settings({}).algorithms
    )
    assert settings({"NCCL_PROTO": "^LL128"}).protocols == ("LL", "Simple") and settings(
        {"NCCL_PROTO": "ll , simple"}
    ).protocols == ("LL", "Simple")
    assert (
        settings({"NCCL_P2P_LEVEL": "LOC"}).inside
        == settings({"NCCL_P2P_LEVEL": "0"}).inside
        == "host memory"
    )
    assert (
        settings({"NCCL_P2P_LEVEL": "NVL"}).inside
        == settings({"NCCL_P2P_LEVEL": "7"}).inside
        == "NVLink"
    )


@pytest.mark.parametrize(
    "value, channels",
    [
        ("8", 8),
        (" 12", 12),
        ("0x10", 16),
        ("010", 8),
        ("4x", 4),
        ("four", 1),
        ("-3", 1),
        ("+6", 6),
        ("99", 64),
        ("9" * 30, 64),
        ("\u0668", 1),
    ],
)
def test_numbers_are_read_as_c_reads_them(value, channels):
    """A number would be read as Python does: NCCL takes what strtoll finds at the front, octal and
    hexadecimal too, and 0 for words (misc/param.cc).
    """
    assert settings({"NCCL_MAX_NCHANNELS": value}).channels == (1, channels)


def test_a_word_does_not_disable_infiniband():
    """NCCL_IB_DISABLE=true would be thought to do what it says; NCCL reads 0."""
    found = settings({"NCCL_IB_DISABLE": "true"})
    assert found.network == "IB" and "reads as 0" in " ".join(found.doubts)


def test_every_variable_of_the_guide_says_what_it_does():
    """One of the field guide's variables would have no effect told."""
    guide = {
        "NCCL_DEBUG": "INFO",
        "NCCL_IB_DISABLE": 0,
        "NCCL_IB_HCA": "mlx5_0,mlx5_1",
        "NCCL_IB_GID_INDEX": 3,
        "NCCL_TOPO_FILE": "topo.xml",
        "NCCL_P2P_LEVEL": "NVL",
    }
    found = settings(guide)
    assert [effect.split(":")[0] for effect in found.effects] == list(guide)
    # as printed, it takes six of eight ports away
    assert nccl.network_bandwidth(found) == 100 * GB and found.doubts == (
        "NCCL_IB_HCA leaves 2 of 8 ports: all traffic to other nodes goes through them",
    )


@pytest.mark.parametrize(
    "environment",
    [
        None,
        [],
        "NCCL_DEBUG=INFO",
        {1: "x"},
        {"NCCL_DEBUG": 1.5},
        {"NCCL_DEBUG": True},
        {"NCCL_DEBUG": None},
    ],
)
def test_what_is_no_environment(environment):
    """Something else than names and values would be taken for an environment."""
    with pytest.raises(ValueError, match="environment must"):
        settings(environment)
    with pytest.raises(ValueError, match="node must"):
        settings({}, "DGX")


WORDS = st.text(st.sampled_from("mlx5_0129:=^,;RingTreLSPoa0 \u00b2\u0663"), max_size=20)
NAMES = (
    "NCCL_DEBUG",
    "NCCL_IB_DISABLE",
    "NCCL_IB_HCA",
    "NCCL_IB_GID_INDEX",
    "NCCL_TOPO_FILE",
    "NCCL_P2P_LEVEL",
    "NCCL_ALGO",
    "NCCL_PROTO",
    "NCCL_MIN_NCHANNELS",
    "NCCL_MAX_NCHANNELS",
    "NCCL_CROSS_NIC",
    "NCCL_NET",
    "X",
)


@given(st.dictionaries(st.sampled_from(NAMES), WORDS))
def test_any_environment_gives_a_time_or_a_reason(environment):
    """Some value would crash the reader, or end in a time that is none."""
    found = settings(environment)
    assert str(found)
    for nodes in (1, 4):
        try:
            time = nccl.allreduce_time(1 * MB, nodes, found)
        except ValueError as refused:
            assert "settings allow no way" in str(refused)
        else:
            assert 0 < time < 10


# Cost


# What NCCL 2.27.7 has in graph/tuning.cc, in its units (us, GB/s), for Hopper, NVLink and IB: the
# hand calculations below use these and nothing of the package.
BASE = {"Ring": {"LL": 6.6, "LL128": 14.0, "Simple": 8.4},
        "Tree": {"LL": 6.8, "LL128": 14.0, "Simple": 8.4}}  # fmt: skip
NVLINK = {"Ring": {"LL": 0.6, "LL128": 1.9, "Simple": 3.4},
          "Tree": {"LL": 0.6, "LL128": 1.25, "Simple": 4.0}}  # fmt: skip
PCI = {"Ring": {"LL": 1.0, "LL128": 2.5, "Simple": 5.7},
       "Tree": {"LL": 1.0, "LL128": 1.9, "Simple": 4.0}}  # fmt: skip
NET = {"Ring": {"LL": 2.7, "LL128": 4.0, "Simple": 14.0},
       "Tree": {"LL": 5.0, "LL128": 8.5, "Simple": 14.0}}  # fmt: skip
OVERHEAD = {"Intel": 1.0, "AMD": 2.0}
LL_MOST = {("Intel", 2): 39.0, ("Intel", 4): 20.4, ("AMD", 2): 22.5, ("AMD", 4): 19.0}
LL_MOST_ALONE = 141.0
TREE_CHANNEL = {1: 38.7, 2: 41.4, 4: 36.0}
TREE_LL128_CHANNEL = {1: 36.7, 2: 36.7, 4: 29.0}
RING_LL128_CHANNEL = 36.7
AMD = dataclasses.replace(nccl.DGX_H100, cpu="AMD")


def by_the_source(size, nodes, gpus, pair, cpu, wire, channels=64, inside=NVLINK):
    """Microseconds by tuning.cc of a ring or tree whose links together give `wire` GB/s."""
    algorithm, protocol = pair
    ranks, several = nodes * gpus, 4 if nodes > 2 else nodes
    most = LL_MOST_ALONE if nodes == 1 else LL_MOST[cpu, several]
    within = inside[algorithm][protocol]
    between = NET["Tree" if gpus == 1 else algorithm][protocol]
    if algorithm == "Ring":
        limited = {
            "LL": min(most, wire / 2),
            "LL128": min(wire * 0.92, channels * RING_LL128_CHANNEL),
            "Simple": wire,
        }
        rate = limited[protocol] * ranks / (2 * (ranks - 1))
        if nodes > 1:
            within = max(within, OVERHEAD[cpu] * (3 if protocol == "Simple" else 1))
        crossing = 2 * (nodes - 1)
        steps = (2 * (ranks - 1) - crossing) * within + crossing * between
    else:
        tree = min(wire * 0.92, channels * TREE_CHANNEL[several])
        flagged = tree * (7 / 9 if nodes == 1 else 120 / 128)
        limited = {
            "LL": min(tree / 3.8, most),
            "LL128": min(flagged, channels * TREE_LL128_CHANNEL[several]),
            "Simple": tree,
        }
        rate = limited[protocol] / 2
        steps = 2 * ((gpus - 1) * within + (nodes.bit_length() - 1) * between)
    return BASE[algorithm][protocol] + steps + size / rate / 1000


PAIRS = [(a, p) for a in ("Ring", "Tree") for p in ("LL", "LL128", "Simple")]


@pytest.mark.parametrize("pair", PAIRS, ids="/".join)
@pytest.mark.parametrize("node", [nccl.DGX_H100, AMD], ids=["Intel", "AMD"])
@pytest.mark.parametrize("nodes", [1, 2, 3, 4, 5, 16, 127, 128])
def test_costs_are_the_sources(nodes, node, pair):
    """A start-up, a step, a share or a limit would not be that of NCCL 2.27.7's own table."""
    for size in (0, 8 * KB, 1 * MB, 10 * GB):
        # one node has 450 GB/s of NVLink; two nodes' trees cross once, so that NVLink decides
        wire = 450 if nodes == 1 or (nodes == 2 and pair[0] == "Tree") else 400
        by_hand = by_the_source(size, nodes, 8, pair, node.cpu, wire)
        found = nccl.allreduce_time(size, nodes, settings({}, node), *pair)
        assert found / us == pytest.approx(by_hand, rel=1e-9)


@pytest.mark.parametrize("pair", PAIRS, ids="/".join)
def test_few_channels_and_one_gpu_a_node(pair):
    """The limits of each channel, PCIe's steps, or the network's own of nodes with one GPU would
    not be the table's.
    """
    few = settings({"NCCL_MAX_NCHANNELS": 8})
    for nodes in (1, 2, 16):
        wire = min(8 * 36.7, 400)
        assert nccl.allreduce_time(1 * GB, nodes, few, *pair) / us == pytest.approx(
            by_the_source(1 * GB, nodes, 8, pair, "Intel", wire, channels=8), rel=1e-9
        )
    shared = settings({"NCCL_P2P_LEVEL": "LOC"})
    assert nccl.allreduce_time(1 * MB, 4, shared, *pair) / us == pytest.approx(
        by_the_source(1 * MB, 4, 8, pair, "Intel", nccl.DGX_H100.host / GB, inside=PCI), rel=1e-9
    )
    alone = settings({}, dataclasses.replace(nccl.DGX_H100, gpus=1))
    assert nccl.allreduce_time(1 * MB, 4, alone, *pair) / us == pytest.approx(
        by_the_source(1 * MB, 4, 1, pair, "Intel", 400), rel=1e-9
    )


def test_a_channels_limit_on_trees():
    """More wire than the channels can fill: 4 channels on nodes of 8 ports at 200 GB/s give a tree
    36 GB/s each, with LL128 29.
    """
    wide = dataclasses.replace(nccl.DGX_H100, port=200 * GB, nvlink=2000 * GB)
    found = settings({"NCCL_MAX_NCHANNELS": 4}, wide)
    for protocol in ("LL128", "Simple"):
        by_hand = by_the_source(100 * GB, 4, 8, ("Tree", protocol), "Intel", 4 * 36.7, channels=4)
        assert nccl.allreduce_time(100 * GB, 4, found, "Tree", protocol) / us == pytest.approx(
            by_hand, rel=1e-9
        )


def test_by_hand_in_full():
    """Sums written out: LL of 10 GB on 16 nodes is held to 20.4 GB/s, 973 ms (AMD 19.0, 1.04 s); a
    ring of 2 nodes has 28 steps inside and 2 between; 1 MB on 16 nodes goes by LL128.
    """
    only_ll = {"NCCL_PROTO": "LL"}
    ring = 6.6 * us + (254 - 30) * 1.0 * us + 30 * 2.7 * us + 254 / 128 * 10 * GB / (20.4 * GB)
    assert nccl.allreduce_time(10 * GB, 16, settings(only_ll)) == pytest.approx(ring, rel=1e-12)
    assert ring == pytest.approx(0.973, abs=5e-4)
    amd = 6.6 * us + (254 - 30) * 2.0 * us + 30 * 2.7 * us + 254 / 128 * 10 * GB / (19.0 * GB)
    assert nccl.allreduce_time(10 * GB, 16, settings(only_ll, AMD)) == pytest.approx(amd, rel=1e-12)
    two = (14.0 + 28 * 1.9 + 2 * 4.0) * us + 15 / 8 * 64 * MB / (400 * GB * 0.92)
    assert nccl.allreduce_time(64 * MB, 2, settings({}), "Ring", "LL128") == pytest.approx(
        two, rel=1e-12
    )
    assert nccl.choice(1 * MB, 16, settings({})) == ("Tree", "LL128")


def depth(nodes):
    """Levels of the tree that NCCL's trees.cc builds: below 0, a rank's parent is it without its
    lowest bit and with the next one set, or, where that is no rank, without its lowest bit.
    """

    def up(rank):
        low = rank & -rank
        parent = (rank ^ low) | (low << 1)
        return parent if parent < nodes else rank ^ low

    longest = 0
    for rank in range(nodes):
        levels = 0
        while rank:
            rank, levels = up(rank), levels + 1
        longest = max(longest, levels)
    return longest


@pytest.mark.parametrize("nodes", [2, 3, 4, 5, 8, 12, 16, 31, 33, 100])
def test_depth_by_the_table_and_by_the_tree(nodes):
    """The docstring's two depths would be wrong: the table's is log2 rounded down, that of the tree
    NCCL builds log2 rounded up.
    """
    assert depth(nodes) == math.ceil(math.log2(nodes))
    latency = nccl.allreduce_time(0, nodes, settings({}), "Tree", "LL128") / us
    assert (latency - 14.0 - 2 * 7 * 1.25) / 2 / 8.5 == pytest.approx(math.floor(math.log2(nodes)))


def test_sockets_wait_for_each_step_between_nodes():
    """TCP's start-up would be left out, or be paid by steps inside a node: 2 x 3 steps between 4
    nodes, twice two levels of a tree.
    """
    ring, tree = ("Ring", "LL"), ("Tree", "Simple")
    slow, fast = settings({"NCCL_IB_DISABLE": "1"}), settings({})
    waits = [nccl.allreduce_time(0, 4, slow, *p) - nccl.allreduce_time(0, 4, fast, *p)
             for p in (ring, tree, ("NVLSTree", "Simple"))]  # fmt: skip
    assert waits == pytest.approx([6 * catalog.TCP.alpha] + 2 * [4 * catalog.TCP.alpha])
    assert catalog.TCP.alpha > 5 * us
    assert nccl.allreduce_time(0, 1, slow, *ring) == nccl.allreduce_time(0, 1, fast, *ring)


def test_other_cpus_are_refused():
    """A make of CPU that has no limits in the model would pass."""
    with pytest.raises(ValueError, match="cpu must be"):
        dataclasses.replace(nccl.DGX_H100, cpu="amd")


def test_a_channel_leaves_by_one_port():
    """Few channels would have all of a node's ports, or many more than there are."""
    assert [
        nccl.network_bandwidth(settings({"NCCL_MAX_NCHANNELS": n})) / GB for n in (1, 3, 8, 32)
    ] == [50, 150, 400, 400]
    assert (
        nccl.network_bandwidth(settings({"NCCL_MAX_NCHANNELS": 4, "NCCL_IB_HCA": "=mlx5_0,mlx5_1"}))
        == 100 * GB
    )


def test_between_two_nodes_a_tree_crosses_once():
    """Each byte would cross up and down as among many nodes: of two trees' halves each node sends
    one up and one down, the buffer once in all.
    """
    one = settings({"NCCL_IB_HCA": "=mlx5_0"})
    assert nccl.allreduce_time(1000 * GB, 2, one, "NVLSTree") == pytest.approx(1000 / 50, rel=1e-3)
    assert nccl.allreduce_time(1000 * GB, 3, one, "NVLSTree") == pytest.approx(
        2 * 1000 / 50, rel=1e-3
    )
    assert nccl.allreduce_time(1000 * GB, 2, one, "Tree", "Simple") == pytest.approx(
        1000 / (0.92 * 50), rel=1e-3
    )


@pytest.mark.parametrize("nodes", [1, 2, 4, 32])
def test_ring_tends_to_the_model_of_collectives(nodes):
    """For large buffers the ring would not be that of `collectives` over the narrowest place."""
    found, size = settings({"NCCL_ALGO": "Ring", "NCCL_PROTO": "Simple"}, PLAIN), 1000 * GB
    narrowest = min(450 * GB, 400 * GB if nodes > 1 else math.inf)
    assert nccl.allreduce_time(size, nodes, found) == pytest.approx(
        collectives.ring_allreduce(size, 8 * nodes, 0.0, narrowest), rel=1e-3
    )
    assert nccl.busbw(size, nodes, found) == pytest.approx(narrowest, rel=1e-3)


def test_measured_busbw():
    """A node would not show what was measured on H100 (480 GB/s, NVIDIA/nccl issue 1374), or two
    less than their 470, or several more than their ports' 400, or less than 366.
    """
    assert nccl.busbw(16 * GB, 1, settings({})) == pytest.approx(480 * GB, rel=0.01)
    assert 470 * GB < nccl.busbw(16 * GB, 2, settings({})) < 1.1 * 470 * GB
    assert 366 * GB < nccl.busbw(16 * GB, 4, settings({})) <= 400 * GB


@pytest.mark.parametrize(
    "variable, value, factor",
    [
        ("NCCL_IB_HCA", "mlx5_0", 8),
        ("NCCL_IB_HCA", "mlx5_0,mlx5_1", 4),
        ("NCCL_MAX_NCHANNELS", "2", 400 / 73.4),
        ("NCCL_PROTO", "LL", 400 / 20.4),
        ("NCCL_PROTO", "LL128", 1 / 0.92),
        ("NCCL_IB_DISABLE", "1", 400 / 3.75),
    ],
)
def test_what_a_setting_costs_a_large_buffer(variable, value, factor):
    """Ports, channels, flags or sockets would not cost what their share of bandwidth says."""
    ring = {"NCCL_ALGO": "Ring"}
    slow, fast = (
        nccl.allreduce_time(1000 * GB, 4, settings(e)) for e in (ring | {variable: value}, ring)
    )
    assert slow / fast == pytest.approx(factor, rel=2e-3)


def test_small_buffers_go_by_ll_and_tree_large_by_simple_and_ring():
    """The choice would not turn over as NCCL's does: flags and trees for small buffers, full
    bandwidth for large ones.
    """
    found = settings({}, PLAIN)
    assert nccl.choice(8 * KB, 16, found) == ("Tree", "LL") and nccl.choice(64 * GB, 16, found) == (
        "Ring",
        "Simple",
    )
    order = [nccl.choice(float(size), 16, found)[1] for size in np.geomspace(1 * KB, 64 * GB, 60)]
    assert [key for key, _ in itertools.groupby(order)] == ["LL", "LL128", "Simple"]


@given(
    st.integers(1, 300),
    st.floats(1, 1e12),
    st.sampled_from(
        [{}, {"NCCL_PROTO": "Simple"}, {"NCCL_IB_HCA": "mlx5_3"}, {"NCCL_P2P_LEVEL": "LOC"}]
    ),
)
def test_the_choice_is_the_least(nodes, size, environment):
    """A pair that takes longer than another allowed one would be chosen; or a limit would make
    something faster.
    """
    found = settings(environment)
    each = {
        pair: nccl.allreduce_time(size, nodes, found, *pair) for pair in nccl.options(found, nodes)
    }
    assert (
        nccl.allreduce_time(size, nodes, found)
        == min(each.values())
        == each[nccl.choice(size, nodes, found)]
    )
    assert nccl.allreduce_time(size, nodes, found) >= nccl.allreduce_time(
        size, nodes, settings({})
    ) * (1 - 1e-12)


def test_arrays_and_edges():
    """Arrays would not give what their entries give, sizes of 0 cost nothing, or one GPU alone
    something.
    """
    sizes, found = np.array([0.0, 1 * KB, 1 * GB]), settings({})
    assert nccl.allreduce_time(sizes, 4, found).tolist() == [
        nccl.allreduce_time(float(s), 4, found) for s in sizes
    ]
    assert (
        nccl.allreduce_time(0.0, 4, found) > 0 and type(nccl.allreduce_time(1.0, 4, found)) is float
    )
    alone = settings({}, dataclasses.replace(PLAIN, gpus=1))
    assert nccl.allreduce_time(1 * GB, 1, alone) == 0.0 and nccl.busbw(1 * GB, 1, alone) == 0.0


@pytest.mark.parametrize(
    "call, told",
    [
        (lambda: nccl.allreduce_time(-1, 4, settings({})), "size must"),
        (lambda: nccl.allreduce_time(1, 0, settings({})), "nodes must"),
        (lambda: nccl.allreduce_time(1, [1, 2], settings({})), "nodes must be one number"),
        (lambda: nccl.allreduce_time(1, 4, {}), "settings must"),
        (
            lambda: nccl.allreduce_time(1, 4, settings({}), "Star"),
            "algorithm and protocol must be among",
        ),
        (lambda: nccl.allreduce_time(1, 4, settings({}), "NVLS"), "must be among"),
        (lambda: nccl.choice([1, 2], 4, settings({})), "size must be one number"),
        (lambda: nccl.options(settings({"NCCL_ALGO": "NVLS"}), 4), "NVLS is for one node"),
        (
            lambda: nccl.options(settings({"NCCL_ALGO": "NVLSTree", "NCCL_PROTO": "LL"}), 4),
            "Simple only",
        ),
    ],
)
def test_nonsense_is_refused_by_name(call, told):
    """Bad input would end in NaN, a negative time or another exception."""
    with pytest.raises(ValueError, match=told):
        call()
