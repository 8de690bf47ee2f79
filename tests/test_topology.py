"""Families and published designs: what is wired, held against tables and formulas from
elsewhere.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabriclab import catalog
from fabriclab.topology import (
    assemble,
    bill,
    bisection,
    build,
    card,
    dragonfly,
    failure,
    fat_tree,
    leaf_spine,
    meta_24k,
    paths,
    rail_optimised,
    superpod_b200,
    superpod_h100,
    torus,
    without_cable,
    without_vertex,
)
from fabriclab.units import GB

LINK = 50 * GB


@pytest.mark.parametrize(
    ("units", "nodes", "gpus", "leaves", "spines", "down", "up"),
    [
        (1, 31, 248, 8, 4, 252, 256),
        (2, 63, 504, 16, 8, 508, 512),
        (3, 95, 760, 24, 16, 764, 768),
        (4, 127, 1016, 32, 16, 1020, 1024),
    ],
)
def test_superpod_h100(units, nodes, gpus, leaves, spines, down, up):
    """Every row of NVIDIA's DGX H100 SuperPOD table; the one of 3 units fails for whoever rounds
    768/64 cables up to 12 spines.
    """
    pod = superpod_h100(units)
    assert (np.unique(pod.node).size, pod.hosts, pod.switches) == (
        nodes,
        gpus,
        {"leaf": leaves, "spine": spines},
    )
    assert (pod.cables["host-leaf"] + pod.management, pod.cables["leaf-spine"]) == (down, up)


@pytest.mark.parametrize(
    ("units", "nodes", "gpus", "leaves", "spines", "cores"),
    [
        (2, 64, 512, 16, 8, 0),
        (4, 128, 1024, 32, 16, 0),
        (8, 256, 2048, 64, 32, 0),
        (16, 512, 4096, 128, 128, 64),
        (32, 1024, 8192, 256, 256, 128),
        (64, 2048, 16384, 512, 512, 256),
    ],
)
def test_superpod_b200(units, nodes, gpus, leaves, spines, cores):
    """Every row of NVIDIA's DGX B200 SuperPOD table: a third tier above 8 units, as many cables on
    every layer as GPUs.
    """
    pod = superpod_b200(units)
    assert (np.unique(pod.node).size, pod.hosts) == (nodes, gpus)
    assert pod.switches == {"leaf": leaves, "spine": spines} | ({"core": cores} if cores else {})
    assert set(pod.cables.values()) == {gpus}


@pytest.mark.parametrize(
    ("units", "leaves", "spines"), [(1, 8, 4), (2, 16, 8), (4, 32, 18), (8, 64, 36), (18, 144, 72)]
)
def test_superpod_b300(units, leaves, spines):
    """NVIDIA's DGX B300 XDR table (144-port switches, 72-node units): even wiring, not rounding up,
    gives 18 spines and 36.
    """
    pod = rail_optimised(72 * units, radix=144)
    assert pod.switches == {"leaf": leaves, "spine": spines}
    assert set(pod.cables.values()) == {576 * units}


@pytest.mark.parametrize(
    ("k", "hosts", "switches", "cables", "cut"),
    [(4, 16, 20, 48, 8), (8, 128, 80, 384, 64), (48, 27_648, 2_880, 82_944, 13_824)],
)
def test_full_fat_tree(k, hosts, switches, cables, cut):
    """Counts and bisection of Al-Fares et al. 2008; worst path 5 switches and 6 links."""
    tree = fat_tree(k)
    assert (tree.hosts, sum(tree.counts), sum(tree.cables.values()), bisection(tree) / LINK) == (
        hosts,
        switches,
        cables,
        cut,
    )
    assert (paths(tree).links_on_path.worst, paths(tree).switches_on_path.worst) == (6, 5)


def test_fat_tree_mean_path():
    """Mean host-to-host links, counted by hand for k = 4: (1·2 + 2·4 + 12·6)/15; and the reference
    value for k = 8.
    """
    assert paths(fat_tree(4)).links_on_path.mean == pytest.approx(82 / 15)
    assert paths(fat_tree(8)).links_on_path.mean == pytest.approx(5.7165, abs=5e-5)


@pytest.mark.parametrize(
    ("tiers", "hosts", "switches"),
    [(2, 1024, 48), (2, 2048, 96), (3, 1024, 80), (3, 4096, 320), (3, 65_536, 5_120)],
)
def test_cut_fat_tree(tiers, hosts, switches):
    """(2t-1)N/k switches and tN cables for whole pods at k = 64: fails when cores do not shrink
    with the pods.
    """
    tree = fat_tree(64, tiers, hosts)
    assert (sum(tree.counts), sum(tree.cables.values())) == (switches, tiers * hosts)


@pytest.mark.parametrize(
    ("p", "a", "h", "groups", "hosts", "routers", "local", "far"),
    [(2, 4, 2, 9, 72, 36, 54, 36), (4, 8, 4, 33, 1056, 264, 924, 528)],
)
def test_dragonfly_counts(p, a, h, groups, hosts, routers, local, far):
    """Kim et al. 2008: sizes, one global cable between any two groups, router diameter 3."""
    fly = dragonfly(p, a, h)
    assert (fly.hosts, fly.counts, fly.cables["local"], fly.cables["global"]) == (
        hosts,
        (routers,),
        local,
        far,
    )
    far_ends = [(end[fly.layer == 2] - fly.hosts) // a for end in (fly.a, fly.b)]
    pairs = {tuple(sorted(pair)) for pair in zip(*far_ends, strict=True)}
    assert len(pairs) == groups * (groups - 1) // 2
    assert paths(fly).links_on_path.worst == 5  # 3 between routers, and the two host cables
    assert set(fly.ports()[fly.hosts :]) == {p + a - 1 + h}


@pytest.mark.parametrize(
    ("side", "cables", "cut", "diameter"), [(4, 192, 32, 6), (16, 12_288, 512, 24)]
)
def test_torus_counts(side, cables, cut, diameter):
    """Cables, bisection and diameter of cubes, from the reference table."""
    cube = torus((side,) * 3)
    assert (sum(cube.cables.values()), bisection(cube) / LINK, paths(cube).links_on_path.worst) == (
        cables,
        cut,
        diameter,
    )


def test_torus_of_twos():
    """A side of 2 has one cable between its two hosts, not two: 2x2x2 is a cube of 12 edges."""
    assert sum(torus((2, 2, 2)).cables.values()) == 12
    assert sum(torus((1, 2)).cables.values()) == 1


def test_meta():
    """24,576 GPUs in pods of 3,072 at 1:1, and about 7:1 above: 7.3 GB/s a GPU across pods (Llama
    3, section 3.3.1).
    """
    meta = meta_24k()
    pods = np.bincount(meta.position[:, 0])
    assert (meta.hosts, pods.tolist(), np.unique(meta.node).size) == (24_576, [3072] * 8, 3072)
    assert round(meta.hosts / 2 * LINK / bisection(meta)) == 7


def test_tiers_begin_where_they_must():
    """Two tiers end at radix²/2 end points, three at radix³/4: one more needs another tier, or
    cannot be.
    """
    assert [len(build(n, 8).tiers) for n in (8, 9, 32, 33, 128)] == [1, 2, 2, 3, 3]
    with pytest.raises(ValueError, match="129 of them need"):
        build(129, 8)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: build(0, 64), "end_points"),
        (lambda: build(1e12, 64), "at most 600,000 hosts"),
        (lambda: fat_tree(1000), "at most 600,000 hosts"),
        (lambda: leaf_spine(10**6, 1, 100, 1, 10**7), "at most 600,000 hosts"),
        (lambda: build(10.5, 4), "end_points"),
        (lambda: build(100, 64, 0.5), "oversubscription"),
        (lambda: build(100, 8, 20), "at least one uplink"),
        (lambda: build(100, 64, (1, 1, 1)), "oversubscription"),
        (lambda: build(100, 1), "radix"),
        (lambda: build(100, 64, bandwidth=0), "bandwidth"),
        (lambda: build(100, 64, per_node=8), "per_node"),
        (lambda: leaf_spine(32, 8, 32, 32), "a spine switch would need 128 ports and has 64"),
        (lambda: leaf_spine(4, 3, 32, 32), "spines must divide"),
        (lambda: leaf_spine(4, 4, 40, 32), "a leaf switch would need 72 ports"),
        (lambda: build(100, 64, bandwidth=[1, 2]), "bandwidth must be one number"),
        (lambda: build([100, 200], 64), "end_points must be one number"),
        (lambda: torus((4, [4, 4])), "sides must be one number"),
        (lambda: failure(fat_tree(4), fat_tree(6)), "broken must be fat-tree k=4"),
        (lambda: fat_tree(5), "radix must be even"),
        (lambda: fat_tree(8, 4), "tiers"),
        (lambda: fat_tree(8, hosts=129), "hosts must be at most 128"),
        (lambda: fat_tree(8, 2, hosts=33), "hosts must be at most 32"),
        (lambda: rail_optimised(60_000, radix=64), "cannot be wired"),
        (lambda: rail_optimised(float("nan")), "nodes"),
        (lambda: dragonfly(1, 0, 1), "a must be"),
        (lambda: dragonfly(100, 1000, 1000), "at most 600,000 hosts"),
        (lambda: torus(()), "sides"),
        (lambda: torus((3, -1)), "sides"),
        (lambda: torus((10**4, 10**4)), "at most 600,000 hosts"),
        (lambda: superpod_h100(0), "units"),
        (lambda: without_vertex(fat_tree(4), 36), "vertex must be below 36"),
        (lambda: without_cable(fat_tree(4), 48), "bundle must be below 48"),
        (lambda: fat_tree(4).first("mezzanine"), "tier must be one of leaf, spine, core"),
        (lambda: paths(fat_tree(4), [16]), "among"),
        (lambda: paths(fat_tree(4), []), "among"),
        (lambda: bill(fat_tree(128, 2)), "at least the 128 ports"),
        (
            lambda: assemble("loop", 2, ("s",), (1,), (4,), {"x": (0, 0, 1, 1.0)}, [[0], [0]]),
            "two different ends",
        ),
    ],
)
def test_bad_input_is_refused(make, says):
    """Bad input names the argument or the reason; anything else would be a traceback from numpy, or
    a network that cannot be.
    """
    with pytest.raises(ValueError, match=says):
        make()


sizes = st.integers(1, 400)
ratio = st.sampled_from([1, 1, 1.5, 2, 3, 7])


@given(
    hosts=sizes,
    radix=st.integers(4, 24),
    leaf=ratio,
    spine=ratio,
    per_node=st.sampled_from([1, 2, 4]),
)
def test_every_build_is_even_and_fits(hosts, radix, leaf, spine, per_node):
    """Whatever is built: no port too many, every host wired once, no ratio above the one asked for,
    equal cables from a leaf to each spine.
    """
    try:
        tree = build(hosts * per_node, radix, (leaf, spine), per_node)
    except ValueError:
        return
    ports = tree.ports()
    assert (ports[: tree.hosts] == 1).all()
    assert all(used <= radix for used in tree.ports_used.values())
    if len(tree.tiers) == 1:
        return
    up = tree.layer == 1
    assert np.unique(tree.multiplicity[up]).size == 1
    above, below = (
        np.bincount(tree.a[up] - tree.hosts, tree.multiplicity[up]),
        np.bincount(tree.b[~up & (tree.layer == 0)] - tree.hosts),
    )
    assert below.max() <= leaf * above.min() + 1e-9
    assert below.max() - below.min() <= per_node
    if len(tree.tiers) == 3:
        first, core = tree.first("spine"), tree.layer == 2
        down, out = (
            ports[first : first + tree.counts[1]],
            np.bincount(tree.a[core] - first, tree.multiplicity[core]),
        )
        assert (down - out <= spine * out + 1e-9).all()
        assert np.unique(tree.multiplicity[core]).size == 1


@given(
    st.one_of(
        st.tuples(st.just(build), st.tuples(st.integers(1, 500), st.integers(4, 16), ratio)),
        st.tuples(
            st.just(rail_optimised),
            st.tuples(
                st.integers(1, 60),
                st.integers(1, 4),
                st.sampled_from([4, 6, 8, 16]),
                ratio,
                st.booleans(),
            ),
        ),
        st.tuples(
            st.just(dragonfly), st.tuples(st.integers(1, 3), st.integers(1, 6), st.integers(1, 3))
        ),
        st.tuples(st.just(torus), st.tuples(st.lists(st.integers(1, 5), min_size=1, max_size=3))),
    )
)
def test_closed_forms_agree_with_the_wiring(drawn):
    """Wherever a closed form is offered, counting and measuring the wiring gives the same
    number.
    """
    make, arguments = drawn
    try:
        network = make(*arguments)
    except ValueError:
        return
    for name, (derived, closed) in card(network).items():
        assert closed is None or derived == pytest.approx(closed, rel=1e-9), (network, name)


def test_one_unit_of_oversubscribed_rails_has_no_middle_in_its_spines():
    """The formula of two units would be offered for one, whose nodes meet on their leaves without
    going up.
    """
    one, two = rail_optimised(2, 2, 4, 2), rail_optimised(4, 2, 4, 2)
    assert "bisection" not in one.closed and bisection(one) == 100 * GB
    assert two.closed["bisection"] == bisection(two) == 100 * GB


def test_rails_differ_from_racks_only_in_who_shares_a_leaf():
    """1,024 GPUs by rails or by racks: the same bill and the same bisection; a rail leaf sees 32
    nodes, a rack leaf 4.
    """
    rails, racks = rail_optimised(128), build(1024, 64, per_node=8)
    assert (rails.switches, rails.cables, bisection(rails)) == (
        racks.switches,
        racks.cables,
        bisection(racks),
    )
    nodes = [np.unique(t.node[t.a[(t.layer == 0) & (t.b == t.hosts)]]).size for t in (rails, racks)]
    assert nodes == [32, 4]


def test_one_hop_holds_inside_a_scalable_unit_only():
    """Same-rail GPUs share one switch within 32 nodes at radix 64, and no further: 128 nodes do not
    fit one rail switch (E-16).
    """
    rails = rail_optimised(128)
    assert paths(rails, np.arange(32) * 8).switches_on_path == (1, 1.0)
    assert paths(rails, np.arange(33) * 8).switches_on_path.worst == 3
    assert paths(rail_optimised(64, joined=False), np.arange(64) * 8).switches_on_path.worst == 1
    assert paths(rail_optimised(65, joined=False), np.arange(65) * 8).switches_on_path.worst == 3


def test_separate_rails_do_not_meet():
    """Rails without a shared spine: no path between ranks of different rails, nothing across a cut
    between rails, all of a cut between nodes.
    """
    rails = rail_optimised(128, joined=False)
    assert paths(rails).unreachable == pytest.approx(1 - 127 / 1023)
    assert (bisection(rails, whole_nodes=False), bisection(rails)) == (0.0, 25.6e12)


def test_bill():
    """By hand: 48 switches at $10,000 to $50,000; 1,024 copper at $50 and 1,024 optical links at
    $500, 2 modules each at 20 W.
    """
    paid = bill(build(1024, 64))
    assert (paid.switches, paid.cables, paid.modules) == (48, 2048, 2048)
    assert (paid.switch_price, paid.cable_price) == ((480e3, 2.4e6), 1024 * 550)
    assert paid.watts == 48 * catalog.QM9700.watts + 2048 * 20
    assert bill(superpod_h100(4)).cables == 1020 + 1024
    assert bill(torus((4, 4))).switch_price == (0.0, 0.0)


def test_arrays_cannot_be_written():
    """A topology is a value: nobody can rewire it in place and leave its closed forms behind."""
    with pytest.raises(ValueError, match="read-only"):
        fat_tree(4).a[0] = 3
