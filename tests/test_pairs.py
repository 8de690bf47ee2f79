"""All-pairs bandwidth: what a slow part does to the cells, and that the part is named, or that the
evidence is said not to decide.
"""

import itertools
import random
import re
import time
from pathlib import Path

import numpy as np
import pytest

from fabriclab import logs, topology
from fabriclab.logs import pairs
from fabriclab.logs.pairs import Part, explain, measure
from fabriclab.logs.pairs.evidence import Family
from fabriclab.units import GB

LOGS = Path(__file__).resolve().parent.parent / "notebooks" / "logs"
NETWORKS = {
    "4 leaves, 2 spines": topology.leaf_spine(4, 2, 4, 4),
    "3 leaves, 3 spines": topology.leaf_spine(3, 3, 3, 3),
    "8 leaves of 2 hosts": topology.leaf_spine(8, 4, 2, 4),
    "one spine": topology.leaf_spine(4, 1, 4, 4),
    "two leaves": topology.leaf_spine(2, 2, 4, 4),
    "rails": topology.rail_optimised(8, 2, radix=8),
    "separate rails": topology.rail_optimised(16, 2, radix=8, joined=False),
    "one switch": topology.build(8, 16),
}
SMALL = NETWORKS["4 leaves, 2 spines"]


def plan(network):
    """The wiring by hand, from the list of cables: {host: leaf}, {leaf: its spines}, by the names
    that `measure` gives.
    """
    hosts = [f"host-{at + 1:0{len(str(network.hosts))}d}" for at in range(network.hosts)]
    names = [
        f"{tier}-{at + 1:0{len(str(many))}d}"
        for tier, many in network.switches.items()
        for at in range(many)
    ]
    leaf, spines = {}, {name: [] for name in names if name.startswith("leaf")}
    for a, b in zip(network.a.tolist(), network.b.tolist()):
        if a < network.hosts:
            leaf[hosts[a]] = names[b - network.hosts]
        else:
            spines[names[a - network.hosts]].append(names[b - network.hosts])
    return leaf, spines


def every_part(network):
    leaf, spines = plan(network)
    ways = ("both", "out", "in")
    parts = [Part("host", host, way=way) for host in leaf for way in ways] + [
        Part("leaf", name) for name in spines
    ]
    parts += [
        Part("bundle", name, spine, way)
        for name, above in spines.items()
        for spine in above
        for way in ways
    ]
    return parts + [
        Part("spine", spine)
        for spine in sorted({spine for above in spines.values() for spine in above})
    ]


def on_path(sender, receiver, up, down, spine):
    """The parts that a packet from sender by leaf `up`,
    `spine` and leaf `down` to receiver passes.
    """
    ends = {Part("host", sender, way=way) for way in ("both", "out")} | {
        Part("host", receiver, way=way) for way in ("both", "in")
    }
    leaves = {Part("leaf", up), Part("leaf", down)}
    if spine is None:
        return ends | leaves
    above = {Part("bundle", up, spine, way) for way in ("both", "out")} | {
        Part("bundle", down, spine, way) for way in ("both", "in")
    }
    return ends | leaves | above | {Part("spine", spine)}


def shares(network, measured):
    """For every part, on which share of its possible paths each measurement passes it: what any
    reader of the cells can know.
    """
    leaf, spines = plan(network)
    found = {part: [0.0] * len(measured) for part in every_part(network)}
    for at in range(len(measured)):
        ends = measured.hosts[measured.source[at]], measured.hosts[measured.target[at]]
        up, down = leaf[ends[0]], leaf[ends[1]]
        over = (
            [None]
            if up == down
            else spines[up]
            if measured.via is None
            else [measured.spines[measured.via[at]]]
        )
        for spine in over:
            for part in on_path(*ends, up, down, spine):
                found[part][at] += 1 / len(over)
    return {part: tuple(round(share, 9) for share in own) for part, own in found.items()}


def asked(paths):
    return (
        {"paths": "spread"} if paths == "spread" else {"pinned": True} if paths == "pinned" else {}
    )


def told(network, measured, paths, **more):
    return explain(measured, network, "spread" if paths == "spread" else "hash", **more)


# What a slow part does


@pytest.mark.parametrize("name", ["3 leaves, 3 spines", "rails", "one spine", "one switch"])
def test_cells_of_a_slow_part_are_those_of_paths_through_it(name):
    """A part slows a cell that does not pass it, or by something other than its fraction; a spread
    pair loses other than (1-f)/k.
    """
    network = NETWORKS[name]
    ways = ({"pinned": True}, {"paths": "spread"}, {})
    possible = [shares(network, measure(network, noise=0, **way)) for way in ways]
    for part in every_part(network)[::3]:
        surely, mean, maybe = (np.array(groups[part]) for groups in possible)
        pinned, spread, hashed = (
            measure(network, {part: 0.5}, noise=0, **way).bandwidth / (48 * GB) for way in ways
        )
        np.testing.assert_allclose(pinned, 1 - 0.5 * surely)
        np.testing.assert_allclose(spread, 1 - 0.5 * mean)
        assert (
            set(hashed[maybe == 1].tolist()) <= {0.5}
            and set(hashed[maybe == 0].tolist()) <= {1.0}
            and set(hashed.tolist()) <= {0.5, 1.0}
        )


def test_a_hash_spreads_pairs_evenly():
    """A spine gets other than its k-th of the pairs (a thousand pairs, 4.5 standard deviations), or
    a pair its way back.
    """
    cold = (
        measure(topology.leaf_spine(8, 4, 8, 8), {Part("spine", "spine-2"): 0.5}, noise=0).matrix
        == 24 * GB
    )
    crossing = 64 * 56
    assert abs(cold.sum() - crossing / 4) < 4.5 * (crossing * 3 / 16) ** 0.5
    assert abs((cold & cold.T).sum() - crossing / 16) < 4.5 * (crossing * 15 / 256) ** 0.5


def test_two_slow_parts_on_a_path():
    """A cell through two slow parts is not as slow as the slower, or a spread pair not the mean
    over its spines.
    """
    slow = {Part("host", "host-05"): 0.5, Part("spine", "spine-1"): 0.25}
    cells = measure(SMALL, slow, noise=0, paths="spread").matrix / (48 * GB)
    assert (cells[4, 5], cells[4, 9], cells[8, 1], cells[8, 9]) == (0.5, 0.375, 0.625, 1.0)
    pinned = measure(SMALL, slow, noise=0, pinned=True, pairs=[(4, 9), (0, 9)])
    assert (pinned.bandwidth / (48 * GB)).tolist() == [
        0.25,
        0.5,
        0.25,
        1.0,
    ] and pinned.via.tolist() == [0, 1, 0, 1]


def test_noise_is_what_was_asked_for():
    """The cells scatter by another amount than `noise`, beyond three of it, or differently at the
    same seed.
    """
    found = measure(topology.leaf_spine(8, 4, 8, 8), noise=0.02, seed=5).bandwidth / (48 * GB) - 1
    assert (
        found.std() == pytest.approx(0.02, rel=0.05)
        and abs(found).max() <= 0.06
        and abs(found.mean()) < 0.001
    )
    again = measure(topology.leaf_spine(8, 4, 8, 8), noise=0.02, seed=5).bandwidth / (48 * GB) - 1
    assert (found == again).all() and len(measure(SMALL, pairs=17)) == 17


# Who it was


@pytest.mark.parametrize("paths", ["hash", "spread", "pinned"])
@pytest.mark.parametrize("name", NETWORKS)
def test_every_single_fault_is_named_or_lies_among_what_cannot_be_told_apart(name, paths):
    """Of all parts, one is missed or another is named; or parts with other cells are called alike,
    or alike ones told apart.
    """
    network = NETWORKS[name]
    groups = None
    for part in every_part(network)[:: 2 if name == "3 leaves, 3 spines" else 9]:
        measured = measure(network, {part: 0.5}, noise=0.01, seed=7, **asked(paths))
        if groups is None:
            groups = shares(network, measured)
        alike = {other for other in groups if groups[other] == groups[part]}
        verdict = told(network, measured, paths)
        (finding,) = verdict.findings
        # by a hash, chance may draw cold pairs that another part could have drawn as well: all of
        # them, and no other, may lie on it
        cold = np.flatnonzero(measured.bandwidth < 36 * GB)
        others = set(finding.parts) - alike
        assert alike <= set(finding.parts) and not verdict.unexplained.size
        assert all(paths == "hash" and min(np.array(groups[other])[cold]) > 0 for other in others)
        assert finding.decided == (len({other.place for other in finding.parts}) == 1) and (
            finding.next is None
        ) == (len(finding.parts) == 1)
        if max(groups[part]) == 1 and paths != "spread":
            assert finding.fraction == pytest.approx(0.5, abs=0.02)
            slow = np.flatnonzero(np.array(groups[part]) == 1)
            assert finding.cold.tolist() == slow.tolist()


def test_a_sweep_never_names_a_sound_part():
    """Over fabrics, paths, noise, depths and few pairs, some verdict names what is sound, leaves
    out a part alike, or alarms at nothing.
    """
    rng = random.Random(11)
    outcomes = {"named": 0, "not seen": 0, "quiet": 0}
    for _ in range(70):
        network, paths = (
            NETWORKS[rng.choice(list(NETWORKS))],
            rng.choice(["hash", "spread", "pinned"]),
        )
        part, left, noise = (
            rng.choice(every_part(network)),
            rng.choice([0, 0.25, 0.5, 0.7, 0.85, 0.95]),
            rng.choice([0, 0.003, 0.01, 0.03]),
        )
        some, seed = rng.choice([None, 6, 20, 60]), rng.randrange(10**6)
        slow = {} if rng.random() < 0.2 else {part: left}
        some = None if some and some > len(measure(network)) else some
        measured = measure(network, slow, noise=noise, seed=seed, pairs=some, **asked(paths))
        verdict = told(network, measured, paths)
        case = (
            f"{network.name}, {paths}, {part} at {left}, noise {noise}, {some} pairs, seed {seed}:"
            f" {verdict}"
        )
        if not slow:
            assert verdict.healthy, case
            outcomes["quiet"] += 1
        elif verdict.findings:
            (finding,) = verdict.findings
            assert part in finding.parts, case
            groups = shares(network, measured)
            assert {other for other in groups if groups[other] == groups[part]} <= set(
                finding.parts
            ), case
            outcomes["named"] += 1
        else:
            outcomes["not seen"] += 1
    # most faults here are deep enough to be seen, or the sweep says nothing
    assert outcomes["named"] > 35 and outcomes["quiet"] > 6


@pytest.mark.parametrize("paths", ["hash", "spread", "pinned"])
def test_two_faults_at_once(paths):
    """Of two faults one hides the other, or one part that explains both half is named instead of
    the two.
    """
    for one, other in [
        (Part("host", "host-05"), Part("host", "host-07", way="out")),
        (Part("host", "host-05"), Part("spine", "spine-1")),
        (Part("leaf", "leaf-2"), Part("host", "host-12", way="in")),
        (Part("bundle", "leaf-1", "spine-1", "out"), Part("host", "host-15")),
    ]:
        verdict = told(
            SMALL, measure(SMALL, {one: 0.5, other: 0.3}, noise=0.01, seed=3, **asked(paths)), paths
        )
        assert len(verdict.findings) == 2 and not verdict.unexplained.size
        assert {part.place for finding in verdict.findings for part in finding.parts} >= {
            one.place,
            other.place,
        }
        for part in (one, other):
            assert sum(part in finding.parts for finding in verdict.findings) == 1


def test_what_a_part_lets_through_shows_in_its_warmest_cells():
    """A host of whose cells half are colder still, by a spine, is taken for slow one way only, and
    the rest left over.
    """
    verdict = explain(
        measure(SMALL, {Part("host", "host-05"): 0.5, Part("spine", "spine-1"): 0.25}), SMALL
    )
    assert [finding.parts for finding in verdict.findings if finding.decided] == [
        (Part("host", "host-05"),)
    ] and not verdict.unexplained.size


def test_a_warm_cell_clears_a_part():
    """A leaf is named though a cell through it is at full rate: three cold cells of four, each of
    other hosts.
    """
    cells = np.full((16, 16), np.nan)
    cells[8:, 8:] = 48 * GB
    cells[[4, 5, 6, 7], [0, 1, 2, 3]] = np.array([24, 24, 24, 48]) * GB
    verdict = explain(pairs.of_matrix(cells, pairs.hosts(SMALL)), SMALL)
    assert "leaf" not in {part.kind for finding in verdict.findings for part in finding.parts}


def test_what_lies_within_the_noise_is_not_named():
    """A loss of less than five standard deviations of one measurement, which nobody sees on the
    map, is named.
    """
    assert not explain(measure(SMALL, {Part("host", "host-05"): 0.96}), SMALL).findings
    assert explain(
        measure(SMALL, {Part("host", "host-05"): 0.96}, noise=0.003), SMALL, noise=0.003
    ).parts == (Part("host", "host-05"),)


def test_three_hosts_of_a_leaf_are_three_hosts():
    """Three slow hosts of four are called a slow leaf, which would slow the fourth; all four are
    not called one, the fewest faults.
    """
    some = explain(measure(SMALL, {Part("host", f"host-{at:02d}"): 0.5 for at in (5, 6, 7)}), SMALL)
    assert {part.name for part in some.parts} == {"host-05", "host-06", "host-07"}
    every = explain(
        measure(SMALL, {Part("host", f"host-{at:02d}"): 0.5 for at in (5, 6, 7, 8)}), SMALL
    )
    assert [part.name for part in every.parts] == ["leaf-2"] and every.decided


def test_one_pair_cannot_tell_its_two_ends():
    """A host with one measured pair is accused without its partner, or no pair is proposed that
    would tell.
    """
    network = NETWORKS["one switch"]
    ring = [(at, (at + 1) % 8) for at in range(6)]
    measured = measure(network, {Part("host", "host-3", way="out"): 0.5}, pairs=ring)
    (finding,) = explain(measured, network).findings
    assert (
        set(finding.parts) == {Part("host", "host-3", way="out"), Part("host", "host-4", way="in")}
        and not finding.decided
    )
    source, target, suspect = re.fullmatch(
        r"measure (host-\d) to (host-\d): slow if it is (host-\d) (?:sending|receiving)",
        finding.next,
    ).groups()
    # with the pair that is proposed, the same question is answered
    more = [*ring, (int(source[-1]) - 1, int(target[-1]) - 1)]
    assert explain(
        measure(network, {Part("host", "host-3", way="out"): 0.5}, pairs=more), network
    ).parts == (Part("host", "host-3", way="out"),)
    assert suspect in (source, target)


def test_next_asks_for_pinned_paths_and_they_decide():
    """For a hashed spine another thing is proposed than to pin the path, or pinning it does not
    decide; all alike, no pair is proposed.
    """
    hashed = explain(measure(SMALL, {Part("spine", "spine-2"): 0.5}), SMALL)
    assert not hashed.decided and hashed.findings[0].next.startswith("pin the path: measure host-")
    assert explain(measure(SMALL, {Part("spine", "spine-2"): 0.5}, pinned=True), SMALL).parts == (
        Part("spine", "spine-2"),
    )
    two = NETWORKS["two leaves"]
    both = explain(measure(two, {Part("spine", "spine-2"): 0.5}, pinned=True), two)
    assert {part.place for part in both.findings[0].parts} == {
        ("spine", "spine-2", None),
        ("bundle", "leaf-1", "spine-2"),
        ("bundle", "leaf-2", "spine-2"),
    }
    assert "counters" in both.findings[0].next


def test_without_wiring_only_hosts_are_named():
    """Without wiring a leaf or bundle is named, or a spine's cold pairs pass unmentioned; where
    paths are pinned, the spine is not.
    """
    assert explain(measure(SMALL, {Part("host", "host-02"): 0.5})).parts == (
        Part("host", "host-02"),
    )
    blind = explain(measure(SMALL, {Part("spine", "spine-1"): 0.5}))
    assert (
        not blind.findings
        and blind.unexplained.size > 80
        and not blind.healthy
        and "give the wiring" in repr(blind)
    )
    assert explain(measure(SMALL, {Part("spine", "spine-1"): 0.5}, pinned=True)).parts == (
        Part("spine", "spine-1"),
    )


def test_a_wild_cell_is_no_part():
    """One bad measurement among many makes a host bad, or is not mentioned."""
    clean = measure(SMALL)
    cells = clean.matrix
    cells[3, 9] *= 0.3
    verdict = explain(pairs.of_matrix(cells, clean.hosts), SMALL)
    assert not verdict.findings and [
        clean.hosts[end]
        for end in (clean.source[verdict.unexplained[0]], clean.target[verdict.unexplained[0]])
    ] == ["host-04", "host-10"]
    assert "1 cold pair that no part explains: measure it again" in verdict.lines


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, shape: rng.normal(0, 0.02, shape),
        lambda rng, shape: rng.standard_t(3, shape) * 0.01,
        lambda rng, shape: -rng.exponential(0.02, shape),
    ],
)
def test_other_noise_than_the_models(draw):
    """With normal, heavy-tailed or one-sided noise, a sound fabric gets a bad part, or a host at
    half rate is lost.
    """
    rng = np.random.default_rng(2)
    for _ in range(4):
        clean = measure(SMALL, noise=0)
        sound = clean.matrix * (1 + draw(rng, (16, 16)))
        assert not explain(pairs.of_matrix(np.maximum(sound, 0), clean.hosts), SMALL).findings
        slow = measure(SMALL, {Part("host", "host-09"): 0.5}, noise=0).matrix * (
            1 + draw(rng, (16, 16))
        )
        assert explain(pairs.of_matrix(np.maximum(slow, 0), clean.hosts), SMALL).parts == (
            Part("host", "host-09"),
        )


def test_the_ranking_of_suspects():
    """The culprit does not lead the suspects, or one with warm cells against it is among them with
    none counted.
    """
    verdict = explain(measure(SMALL, {Part("host", "host-05"): 0.5}), SMALL)
    assert (
        verdict.suspects[0].parts == (Part("host", "host-05"),) and verdict.suspects[0].cells == 30
    )
    gains = [suspect.gain for suspect in verdict.suspects]
    assert gains == sorted(gains, reverse=True)
    # 26.6 a cell: twice the logarithm of how much likelier a cold cell is as a level than as an
    # accident
    accident = 2 * np.log(1.5 * (1 - 1e-4) / (1e-4 * verdict.noise * np.sqrt(2 * np.pi)))
    assert verdict.suspects[0].gain == pytest.approx(30 * accident, rel=0.1)


def test_dead_and_all_alike():
    """A dead host, a dead half of the fabric or nothing but zeros crashes, or gives a part where
    all is alike.
    """
    assert explain(measure(SMALL, {Part("host", "host-05"): 0}), SMALL).parts == (
        Part("host", "host-05"),
    )
    two = NETWORKS["two leaves"]
    assert explain(measure(two, {Part("leaf", "leaf-2"): 0}), two).parts == (
        Part("leaf", "leaf-2"),
    )
    for level in (0.0, 3.0, 48 * GB):
        assert not explain(pairs.of_matrix(np.full((4, 4), level))).findings
    one = explain(pairs.Pairs(("a", "b"), [0], [1], [48 * GB]))
    assert one.healthy and one.level == 48 * GB


def test_256_hosts_in_seconds():
    """A fabric of 65,000 pairs takes minutes, or a host and a spine in it are not found."""
    network = topology.leaf_spine(8, 8, 32, 32)
    measured = measure(network, {Part("host", "host-005"): 0.5, Part("spine", "spine-3"): 0.5})
    start = time.process_time()
    verdict = explain(measured, network)
    assert time.process_time() - start < 30
    assert {part.place for finding in verdict.findings for part in finding.parts} == {
        ("host", "host-005", None),
        *(("spine", f"spine-{at}", None) for at in range(1, 9)),
    }


def test_group_quantiles_by_definition():
    """The quantile of a group is not that of a sort of its free records."""
    rng = np.random.default_rng(4)
    values, first, second, free = (
        rng.random(200),
        rng.integers(-1, 9, 200),
        rng.integers(-1, 9, 200),
        rng.random(200) < 0.6,
    )
    second = np.where(second == first, -1, second)
    family = Family((first, second), 10, None, np.argsort(values))
    for part in (0.5, 0.9):
        found = family.quantiles(values, free, part)
        for g in range(10):
            own = np.sort(values[((first == g) | (second == g)) & free])
            assert (
                np.isnan(found[g])
                if not own.size
                else found[g] == own[max(1, int(np.ceil(part * own.size))) - 1]
            )


# Wiring and bad input


def test_wiring_from_a_listed_fabric():
    """A fabric that ibnetdiscover listed gives other leaves, spines or host names than its file."""
    fabric = logs.read(LOGS / "ibnetdiscover_32_hosts.txt")
    where = pairs.wiring(fabric)
    assert where.spines == (("spine-1", "spine-2"),) and where.leaves == (
        "leaf-1",
        "leaf-2",
        "leaf-3",
        "leaf-4",
    )
    assert {host: where.leaves[leaf] for host, leaf in zip(where.hosts, where.leaf)} == {
        f"node-{at + 1:04d}": f"leaf-{at // 8 + 1}" for at in range(32)
    }
    assert explain(measure(fabric, {Part("host", "node-0007"): 0.5}), fabric).parts == (
        Part("host", "node-0007"),
    )


def test_a_map_of_leaves_does_as_well():
    """{host: leaf} with a number of spines gives another verdict than the Topology, or names spines
    that nobody told it of.
    """
    leaf, _ = plan(SMALL)
    measured = measure(SMALL, {Part("bundle", "leaf-3", "spine-1"): 0.5})
    assert (
        explain(measured, leaf, spines=2).findings[0].parts
        == explain(measured, SMALL).findings[0].parts
    )
    assert not explain(measured, leaf).findings
    pinned = measure(SMALL, {Part("bundle", "leaf-3", "spine-1"): 0.5}, pinned=True)
    assert explain(pinned, leaf).parts == (Part("bundle", "leaf-3", "spine-1"),)


@pytest.mark.parametrize(
    "call, told_",
    [
        (lambda: pairs.Pairs(("a",), [0], [0], [1]), "hosts must be 2 to 2,048 different names"),
        (
            lambda: pairs.Pairs(("a", "a"), [0], [1], [1]),
            "hosts must be 2 to 2,048 different names, not 2 of them, 1 different",
        ),
        (
            lambda: pairs.Pairs(("a", "b"), [0], [2], [1]),
            "target must be whole numbers from 0 to 1",
        ),
        (lambda: pairs.Pairs(("a", "b"), [0], [0], [1]), "a is both"),
        (lambda: pairs.Pairs(("a", "b"), [0, 0], [1, 1], [1, 2]), "name each pair once"),
        (lambda: pairs.Pairs(("a", "b"), [0], [1], [-1]), "bandwidth must be zero or more"),
        (lambda: pairs.Pairs(("a", "b"), [0], [1], [np.nan]), "bandwidth must be zero or more"),
        (lambda: pairs.Pairs(("a", "b"), [0, 1], [1, 0], [1]), "lists of one length"),
        (lambda: pairs.Pairs(("a", "b"), [], [], []), "one or more"),
        (lambda: pairs.of_matrix([[0, 1, 2]]), "matrix must be square"),
        (lambda: pairs.of_matrix("x"), "matrix must be numbers"),
        (lambda: pairs.of_matrix(np.full((3, 3), np.nan)), "one or more"),
        (lambda: Part("cable", "x"), "of kind host, leaf, bundle, spine"),
        (lambda: Part("bundle", "leaf-1"), "a bundle (leaf and spine)"),
        (lambda: Part("spine", "spine-1", way="out"), "leaf or spine both ways"),
        (
            lambda: measure(SMALL, {Part("host", "host-99"): 0.5}),
            "it has no host-99: hosts are host-01 to host-16",
        ),
        (
            lambda: measure(SMALL, {Part("bundle", "leaf-1", "spine-9"): 0.5}),
            "it has no bundle leaf-1 to spine-9",
        ),
        (
            lambda: measure(SMALL, {Part("host", "host-01"): 1.5}),
            "fraction of host-01 must be between 0 and 1",
        ),
        (lambda: measure(SMALL, {"host-01": 0.5}), "Part objects as keys"),
        (lambda: measure(SMALL, [Part("host", "host-01")]), "slow must be {Part: fraction}"),
        (lambda: measure(SMALL, paths="both"), "paths must be hash or spread"),
        (lambda: measure(SMALL, noise=-1), "noise must be zero or more"),
        (
            lambda: measure(SMALL, pairs=10**6),
            "pairs must be at most the 240 ordered pairs with a path, not 1,000,000",
        ),
        (lambda: measure(SMALL, pairs=[(0, 0)]), "pairs of two different hosts"),
        (lambda: measure(SMALL, pairs=[(0, 16)]), "pairs of two different hosts"),
        (lambda: measure(NETWORKS["separate rails"], pairs=[(0, 1)]), "not joined"),
        (lambda: measure(topology.torus((4, 4))), "one tier of switches or two"),
        (lambda: measure(topology.fat_tree(4)), "one tier of switches or two"),
        (lambda: explain([[1, 2], [3, 4]]), "pairs must be Pairs"),
        (lambda: explain(measure(SMALL), "leaves"), "where must be a Topology"),
        (lambda: explain(measure(SMALL), {"host-01": "leaf-1"}), "does not know host-02"),
        (lambda: explain(measure(SMALL), SMALL, "many"), "paths must be hash or spread"),
        (lambda: explain(measure(SMALL), SMALL, noise=0), "noise must be more than zero"),
        (
            lambda: explain(measure(SMALL, pinned=True), topology.leaf_spine(4, 1, 4, 4)),
            "has no spine-2",
        ),
        (
            lambda: explain(
                pairs.Pairs(pairs.hosts(SMALL), [0], [4], [1], ("spine-1",), [-1]), SMALL
            ),
            "exactly between leaves: host-01 to host-05 names none",
        ),
        (
            lambda: explain(
                pairs.Pairs(pairs.hosts(SMALL), [0], [1], [1], ("spine-1",), [0]), SMALL
            ),
            "host-01 to host-02 lies on one leaf",
        ),
        (
            lambda: explain(
                pairs.Pairs(pairs.hosts(NETWORKS["separate rails"]), [0], [1], [1]),
                NETWORKS["separate rails"],
            ),
            "must have a path for every pair, and has none from host-01 to host-02",
        ),
    ],
)
def test_refused_by_name(call, told_):
    """What cannot be is computed with, or refused without naming the argument."""
    with pytest.raises(ValueError, match=re.escape(told_)):
        call()


def test_parts_that_measure_and_part_names_agree():
    """Two parts print alike, so a reader could not tell which is meant."""
    names = [str(part) for part in every_part(SMALL)]
    assert len(set(names)) == len(names)
    assert all(
        a.place != b.place or a.way != b.way
        for a, b in itertools.combinations(every_part(SMALL), 2)
    )


# What no part of the model does


MORE = topology.leaf_spine(4, 4, 8, 8)


def wild(change, seed=0):
    """The verdict on 32 hosts at 48 GB/s, give or take 1 %, after `change` had its way with the
    matrix.
    """
    rng = np.random.default_rng(seed)
    cells = 48 * GB * (1 + 0.01 * rng.standard_normal((32, 32)))
    return explain(pairs.of_matrix(change(cells, rng), pairs.hosts(MORE)), MORE)


def leaf_of(host):
    return host // 8


OTHERS = {
    "one pair": lambda cells, rng: cells * np.where(np.arange(1024).reshape(32, 32) == 113, 0.5, 1),
    "a host that flutters": lambda cells, rng: (
        cells * np.where(np.arange(32)[:, None] == 5, rng.uniform(0.4, 1, 32), 1)
    ),
    "cells at random": lambda cells, rng: cells * np.where(rng.random((32, 32)) < 0.1, 0.5, 1),
    "a leaf's uplinks": lambda cells, rng: (
        cells
        * np.where((leaf_of(np.arange(32))[:, None] == 1) != (leaf_of(np.arange(32)) == 1), 0.5, 1)
    ),
    "a slow drift": lambda cells, rng: cells * np.linspace(1, 0.5, 1024).reshape(32, 32),
    "all noise": lambda cells, rng: cells * rng.uniform(0.3, 1, (32, 32)),
    "tapered uplinks": lambda cells, rng: (
        cells * np.where(leaf_of(np.arange(32))[:, None] == leaf_of(np.arange(32)), 1, 0.5)
    ),
    "nothing moves": lambda cells, rng: cells * 0,
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_no_part_of_the_model_does_names_none(name):
    """A fault of another kind would be pinned on a sound part, or a network that is dead or in
    uproar be called healthy.
    """
    found = wild(OTHERS[name])
    assert not found.findings and not found.healthy and "nothing stands out" not in repr(found)


@pytest.mark.parametrize(
    "noise, words", [(0.1, "nothing stands out"), (0.4, "not even a dead part would stand out")]
)
def test_how_wild_is_too_wild(noise, words):
    """Pairs that scatter by a tenth would tell nothing at all, or those by nearly half be sound."""
    assert words in repr(
        wild(
            lambda cells, rng: (
                cells * (1 + noise * (2 * rng.random((3, 32, 32)).sum(0) - 3).clip(-2, 2))
            )
        )
    )


def test_hosts_that_are_slow_alike_may_be_one_cause():
    """A load that came while three hosts were measured would be three faults, without a word."""
    same = {Part("host", f"host-{at}", way="out"): 0.6 for at in (14, 15, 16)}
    apart = {part: share for part, share in zip(same, (0.3, 0.5, 0.7))}
    two = dict(list(same.items())[:2])
    for slow, alike in ((same, True), (apart, False), (two, False)):
        found = explain(measure(MORE, slow), MORE)
        assert len(found.findings) == len(slow) and found.alike == alike == (
            "may share one cause" in repr(found)
        )
