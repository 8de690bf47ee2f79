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
        ("PATH", "/bin", "no variable of NCCL known here"),
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


def test_ring_by_hand():
    """A ring's steps would be miscounted: 2 nodes of 8, LL128: 14 us, 26 steps inside of 1.9, 4
    between of 4, and 15/8 bytes each through 400 GB/s x 120/128.
    """
    by_hand = (14.0 + 26 * 1.9 + 4 * 4.0) * us + 15 / 8 * 64 * MB / (400 * GB * 120 / 128)
    assert nccl.allreduce_time(64 * MB, 2, settings({}), "Ring", "LL128") == pytest.approx(
        by_hand, rel=1e-12
    )


def test_flags_cost_start_up_inside_and_half_the_rate():
    """LL's start-ups would be those of one node: across 2 nodes 6.6 us, 26 steps inside of 1.8 x
    0.6, 4 between of 2.7, and half of 400 GB/s.
    """
    by_hand = (6.6 + 26 * 1.8 * 0.6 + 4 * 2.7) * us + 15 / 8 * 64 * KB / (200 * GB)
    assert nccl.allreduce_time(64 * KB, 2, settings({}), "Ring", "LL") == pytest.approx(
        by_hand, rel=1e-12
    )
    # one node: nothing goes between, and nothing is slower for it
    assert nccl.allreduce_time(0, 1, settings({}), "Ring", "LL") == pytest.approx(
        (6.6 + 14 * 0.6) * us, rel=1e-12
    )


def test_a_channel_leaves_by_one_port():
    """Few channels would have all of a node's ports, or many more than there are."""
    assert [
        nccl.network_bandwidth(settings({"NCCL_MAX_NCHANNELS": n})) / GB for n in (1, 3, 8, 32)
    ] == [50, 150, 400, 400]
    assert (
        nccl.network_bandwidth(settings({"NCCL_MAX_NCHANNELS": 4, "NCCL_IB_HCA": "=mlx5_0,mlx5_1"}))
        == 100 * GB
    )


def test_tree_by_hand():
    """A tree's depth or bytes would be wrong: 16 nodes, Simple: 8.4 us, twice 7 x 4 and 4 x 14, and
    twice the buffer through 92 % of 400 GB/s.
    """
    by_hand = (8.4 + 2 * (7 * 4.0 + 4 * 14.0)) * us + 2 * 64 * MB / (0.92 * 400 * GB)
    assert nccl.allreduce_time(64 * MB, 16, settings({}), "Tree", "Simple") == pytest.approx(
        by_hand, rel=1e-12
    )


def test_flags_in_a_tree_cost_what_the_table_says():
    """LL in a tree would pass for half the rate, and LL128 be chosen for nothing: NCCL's table lets
    it have 1/3.8 of the tree's bandwidth.
    """
    by_hand = (6.8 + 2 * (7 * 0.6 * 1.8 + 4 * 5.0)) * us + 2 * 4 * MB / (0.92 * 400 * GB / 3.8)
    assert nccl.allreduce_time(4 * MB, 16, settings({}), "Tree", "LL") == pytest.approx(
        by_hand, rel=1e-12
    )
    assert nccl.choice(4 * MB, 16, settings({})) == ("Tree", "LL128")


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
        ("NCCL_PROTO", "LL", 2),
        ("NCCL_PROTO", "LL128", 128 / 120),
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
