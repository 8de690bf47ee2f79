"""The capstone: each line of a report against sums done here, each limit broken once, and nothing
that knows a good design.
"""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from drawn import assert_clear
from scipy import optimize

from fabriclab import catalog, topology
from fabriclab.classroom import results, standin
from fabriclab.course.design import figures
from fabriclab.course.design.brief import BRIEF, Collective, asked
from fabriclab.course.design.exercises import OURS, PLAIN
from fabriclab.course.design.judge import Report, exchange, front, judge
from fabriclab.course.design.order import Design, bought, handed_in, lengths, wired
from fabriclab.course.engine import exercises, plot
from fabriclab.course.engine.exercises import bank
from fabriclab.units import Gbps

DAY = 86_400
FAST = replace(PLAIN, port=800 * Gbps, module="800G 2xDR4", hosts_on_fibre=True)


@pytest.fixture(scope="module")
def plain():
    return judge(PLAIN)


def test_every_line_of_the_plain_tree_by_hand(plain):
    """A line of the report would be another sum than its name says."""
    # 520 nodes, eight to a leaf of 128 ports: 65 leaves, their 64 uplinks to a spine each
    assert plain.line("switches").value == 65 + 64 and plain.line("wiring").value == 129
    assert plain.line("bisection").value == pytest.approx(2048 * 50e9)
    links = 65 * 64
    assert plain.dollars == pytest.approx(129 * 60e3 + links * (500 + 50) + 8 * 300e3)
    assert plain.line("optics").value == pytest.approx(2 * links * 9)
    assert plain.watts == pytest.approx(520 * 10_200 + 129 * 2 * 747 + 2 * links * 9)
    assert plain.racks == plain.line("racks").value == 130 + 7
    assert plain.line("host cable").value == pytest.approx(1.4 + 0.6)
    assert plain.line("longest cable").value == pytest.approx(1.4 + 39 * 0.6 + 3 * 2.4)
    assert plain.line("a dead leaf").value == 64
    # a gather of 140 GB: seven steps inside a node, 511 between nodes on an eighth
    once = 7 * (0.5e-6 + 140e9 / 8 / 450e9) + 511 * (1.5e-6 + 140e9 / 8 / 512 / 50e9)
    experts = 128 * (7 * (0.5e-6 + 200e6 / 8 / 450e9) + 31 * (1.5e-6 + 200e6 / 32 / 50e9))
    scatter = 7 * (0.5e-6 + 5e9 / 450e9) + 511 * (1.5e-6 + 5e9 / 512 / 50e9)
    dense, mixture = (job.name for job in BRIEF.jobs)
    took = [
        plain.line(f"{job}: {kind}").value
        for job, kind in (
            (dense, "all_gather"),
            (dense, "reduce_scatter"),
            (mixture, "all_to_all"),
            (mixture, "reduce_scatter"),
        )
    ]
    assert took == pytest.approx([2 * once, once, experts, scatter], rel=1e-9)
    steps = [2 + 2 * once - 1 + once - 0.5, 1.5 + experts - 0.3 + scatter - 0.15]
    assert [plain.line(f"{job}: step").value for job in (dense, mixture)] == pytest.approx(steps)
    assert plain.step == pytest.approx(0.6 * steps[0] + 0.4 * steps[1])
    stops = 4096 * 419 / 54 / 16_384 + 2 * links * 1e-5  # a day
    assert plain.line("between failures").value == pytest.approx(DAY / stops)
    assert plain.line("spares").limit == pytest.approx(2 * 419 / 54 / 4)
    mean = DAY / stops

    def lost(work):  # Daly: the whole time of one piece of work, over and over until it is done
        whole = mean * np.exp(600 / mean) * np.expm1((work + 60) / mean)
        return 1 - work / whole

    best = optimize.minimize_scalar(lost, bounds=(60, mean), options={"xatol": 1e-3})
    assert plain.line("checkpoint").value == pytest.approx(best.x, rel=1e-3)
    useful = 4096 * (0.6 * 2 / steps[0] + 0.4 * 1.5 / steps[1]) * (1 - best.fun)
    assert plain.useful == pytest.approx(useful, rel=1e-9)
    assert plain.price == pytest.approx((512 * 300e3 + plain.dollars) / useful, rel=1e-9)
    assert plain.feasible and plain.reasons == ()


def test_the_bill_is_that_of_the_models_at_the_chapters_prices():
    """The capstone would count links or modules otherwise than the fabrics of part 4."""
    design = replace(PLAIN, chip=catalog.ASIC_25T.name, spares=0)
    net = wired(design, 4096)
    bill = topology.bill(net, module=catalog.MODULES[3])
    mine = bought(design, net)
    assert (mine["switches"], mine["modules"]) == (bill.switches, bill.modules)
    assert mine["watts"] == pytest.approx(bill.watts)
    assert mine["dollars"] == pytest.approx(bill.cable_price + sum(bill.switch_price) / 2)


def test_planes_multiply_switches_and_divide_nothing_else():
    """Planes would be charged with fibres of their own, or with one plane's switches."""
    design = replace(FAST, planes=4, spares=0)
    net, mine = wired(design, 4096), bought(design, wired(design, 4096))
    # 256 ports of 200 Gb/s: 16 nodes a leaf, 32 leaves and 16 spines of 256 ports in each plane
    assert (net.radix[0], mine["switches"]) == (256, 4 * (32 + 16))
    assert mine["fibre"] == 2 * 4096 and mine["modules"] == 4 * 4096 and mine["copper"] == 0
    report = judge(design)
    assert report.line("bisection").value == pytest.approx(2048 * 100e9)
    assert report.line("a dead leaf").value == 0
    assert report.line("between failures").value == pytest.approx(DAY / (4096 * 419 / 54 / 16_384))


@pytest.mark.parametrize("ratio", [1, 3])
def test_an_alltoall_meets_what_leaves_the_fullest_leaf(ratio):
    """A taper would cost an AllToAll nothing; against bytes counted pair by pair."""
    small = replace(BRIEF, accelerators=512)
    design = replace(Design(), oversubscription=ratio, spares=0)
    net = wired(design, 512, small)
    one = Collective("all_to_all", 512e6, 512, 1, 0.0)
    leaf = net.position[:, -1]
    out = np.zeros((leaf.max() + 1, leaf.max() + 1))
    for here, there in itertools.product(range(512), range(512)):
        out[leaf[here], leaf[there]] += 1e6
    np.fill_diagonal(out, 0)
    uplinks = {1: 32, 3: 16}[ratio]
    ports, least = exchange(one, net, design, small)
    assert least == pytest.approx(out.sum(axis=1).max() / (uplinks * 50e9), rel=1e-9)
    assert ports == pytest.approx(7 * (0.5e-6 + 64e6 / 450e9) + 63 * (1.5e-6 + 8e6 / 50e9))
    # groups of 64 spread over the machine send as large a share over the same uplinks
    apart = exchange(replace(one, ranks=64, spread=True), net, design, small)[1]
    assert apart == pytest.approx(least)


def test_groups_that_are_spread_share_the_machines_cut():
    """Each group would have the whole machine's cut, though all send at once."""
    small = replace(BRIEF, accelerators=512)
    design = replace(FAST, port=400 * Gbps, planes=4, spares=0)  # one switch a plane
    net = wired(design, 512, small)
    assert len(net.counts) == 1
    for ranks in (512, 64):  # half of each buffer goes over, by half of the ports
        one = Collective("all_to_all", 1e9, ranks, 1, 0.0, spread=True)
        assert exchange(one, net, design, small)[1] == pytest.approx(1e9 / 2 / 50e9)


def test_rings_meet_a_taper_only_below_a_nodes_ports():
    """A ring would pay for every taper, or for none, however few uplinks are left."""
    one = Collective("reduce_scatter", 8e9, 4096, 1, 0.0)
    times = {}
    for ratio in (1, 7, 15):  # 32, 8 and 4 uplinks of 64 ports, for the eight ports of a node
        design = Design(oversubscription=ratio)
        times[ratio] = exchange(one, wired(design, 4096), design)[0]
    assert times[1] == pytest.approx(times[7])
    inside = 7 * (0.5e-6 + 1e9 / 450e9)
    assert times[15] == pytest.approx(inside + 511 * (1.5e-6 + 1e9 / 512 / 25e9))


BROKEN = {
    "dollars": (PLAIN, replace(BRIEF, dollars=12.4e6)),
    "watts": (replace(PLAIN, spares=27), replace(BRIEF, dollars=1e9)),
    "racks": (PLAIN, replace(BRIEF, racks=136)),
    "host cable": (replace(PLAIN, oversubscription=3), BRIEF),
    "longest cable": (PLAIN, replace(BRIEF, aisle=30.0, growth=4096)),
    "module": (replace(PLAIN, module="1.6T co-packaged engine"), BRIEF),
    "spares": (replace(PLAIN, spares=3), BRIEF),
    "planes": (replace(PLAIN, planes=8), BRIEF),
    "end_points": (replace(PLAIN, chip="Quantum-2", port=1600 * Gbps), BRIEF),
    "growth": (replace(PLAIN, module="400G SR4"), BRIEF),
    "growth: end_points": (PLAIN, replace(BRIEF, growth=600_000)),
}


@pytest.mark.parametrize("name", BROKEN)
def test_each_broken_limit_is_named_in_the_fields_terms(name):
    """A design would be refused without a reason, or for another, or pass with a limit broken."""
    report = judge(*BROKEN[name])
    assert not report.feasible and report.reasons
    wanted = [reason for reason in report.reasons if reason.startswith(name)]
    others = [r for r in report.reasons if r not in wanted and not r.startswith("growth")]
    assert wanted and not others, report.reasons
    assert front([report]) == [] and wanted[0] in str(report)


def test_limits_hold_at_their_very_value(plain):
    """A design that just fits would be refused."""
    exact = replace(BRIEF, dollars=plain.dollars, watts=plain.watts, racks=plain.racks)
    assert judge(PLAIN, exact).feasible


def test_a_better_design_than_ours_wins():
    """The bank would hold a design of ours to be the best there is."""
    # one switch a rail and plane, with no tier above
    better = replace(OURS, chip=catalog.ASIC_102T.name, planes=8, oversubscription=1)
    x = bank.numbers("demo", "design.order")
    brief = asked(x.dollars, x.watts, x.experts)
    ours, theirs = judge(OURS, brief), judge(better, brief)
    assert theirs.feasible and theirs.price < ours.price and theirs.step < ours.step
    assert front([ours, theirs]) == [theirs] and len(wired(better, 4096).counts) == 1
    assert exercises.grade("demo", "design.order", better).status == "right"


def test_another_price_makes_another_winner():
    """The winner would be typed in, not worked out."""

    def winner(brief):
        able = {d: judge(d, brief) for d in (PLAIN, OURS)}
        return min((d for d in able if able[d].feasible), key=lambda d: able[d].price)

    assert winner(BRIEF) == OURS
    dear = replace(BRIEF, dollars=60e6, nic_price=5 * BRIEF.nic_price)
    assert judge(OURS, dear).feasible and winner(dear) == PLAIN
    assert winner(replace(BRIEF, watts=5.6e6)) == PLAIN


def test_growth_is_the_same_order_over_more(plain):
    """The fabric that grows would keep its tiers, or its price, where the closed form does not."""
    # 2,056 nodes: 257 leaves, over 128 of them a third tier of half as many cores as spines
    net = wired(PLAIN, 16_384)
    leaves, spines, cores = net.counts
    assert leaves == 257 and spines >= 257 and cores >= 257 * 64 / 128
    cables = net.cables
    dollars = sum(net.counts) * 60e3 + 16_448 * 50 + 8 * 300e3
    dollars += 500 * (cables["leaf-spine"] + cables["spine-core"])
    assert plain.line("growth").value == pytest.approx(dollars / 16_384)
    assert "3 tiers" in plain.line("growth").shown
    assert "2 tiers" in judge(OURS).line("growth").shown
    assert lengths(net, 560)[1] == pytest.approx(1.4 + 39 * 0.6 + 13 * 2.4)


def test_the_front_is_what_none_beats():
    """A beaten design would stand on the front, or a choice be missing; against a sweep."""
    draw = np.random.default_rng(3)
    reports = [
        Report(PLAIN, BRIEF, (), float(d), 0.0, 0, float(s))
        for d, s in draw.integers(1, 9, (60, 2))
    ]
    wanted, least = set(), np.inf
    for dollars, step in sorted({(r.dollars, r.step) for r in reports}):
        if step < least:
            wanted.add((dollars, step))
            least = step
    assert {(r.dollars, r.step) for r in front(reports)} == wanted


def test_a_design_refuses_what_nobody_sells():
    """A misspelt chip would end in a KeyError, or a negative spare be bought."""
    for field, value in (
        ("fabric", "torus"),
        ("chip", "Tomahawk"),
        ("module", 3),
        ("module", []),
        ("port", -1),
        ("oversubscription", 0.5),
        ("oversubscription", float("nan")),
        ("planes", 1.5),
        ("spares", -1),
        ("hosts_on_fibre", "yes"),
        ("checkpoint", 0),
    ):
        with pytest.raises(ValueError, match=field):
            Design(**{field: value})
    assert json.dumps(Design(spares=np.int64(3), port=np.float64(5e10)).settings())
    with pytest.raises(ValueError, match="design must be a Design"):
        judge("tree")


def test_a_design_is_graded_alike_at_home_and_in_the_box():
    """A class's designs would be lost on their way, or marked otherwise than at home."""
    kind = bank.find("design.order").kind
    sheet = standin.sheet("demo", ["design.order"])["design.order"]
    box = type(kind).rebuild(sheet["needs"])
    for design, status in ((OURS, "right"), (PLAIN, "wrong"), (replace(OURS, spares=0), "wrong")):
        data = box.take(design, None)
        assert standin.plain(data)
        assert bank.judge("demo", "design.order", data).status == status
        assert exercises.grade("demo", "design.order", design).status == status
    few = exercises.grade("demo", "design.order", replace(OURS, spares=0))
    assert few.slips == ("Spares",) and "3.9 nodes are in repair" in few.message
    assert "are to be beaten" in exercises.grade("demo", "design.order", PLAIN).message
    forged = (
        3,
        [],
        {},
        "{}",
        "[]",
        "nan",
        '{"spares": 1e999}',
        '{"a": 1}',
        json.dumps({"port": []}),
    )
    for text in forged:
        assert exercises.grade("demo", "design.order", text).status in ("could not read", "wrong")


def test_a_classs_designs_come_back_from_what_grading_kept(tmp_path):
    """An instructor would type in forty designs, or one odd answer would cost the picture."""
    data = {
        "ada": {"text": json.dumps(OURS.settings())},
        "bob": {"text": json.dumps(PLAIN.settings())},
        "cy": {"text": "{}}"},
        "di": {"unreadable": "this asks for a Design(...)"},
        "ed": None,
    }
    for student, answer in data.items():
        kept = results.Graded(student, "14-design", "", "k", {}, {"design.order": answer})
        results.save(tmp_path, kept)
    assert handed_in(tmp_path) == {"ada": OURS, "bob": PLAIN} and handed_in(tmp_path / "no") == {}


def test_every_students_brief_can_be_met():
    """Some draw of the budget would leave no design that passes, or one that passes untouched."""
    seen = set()
    for number in range(300):
        x = bank.numbers(f"s{number:04d}", "design.order")
        if (key := (x.dollars, x.watts, x.experts)) not in seen:
            seen.add(key)
            kind = bank.find("design.order").kind
            assert kind.faults(OURS, x) == [] and kind.faults(PLAIN, x) != [], key
    assert len(seen) == 18


def test_the_picture_shows_dollars_steps_and_watts(plain):
    """A disc would stand elsewhere than its design, or the front pass over one."""
    named = {
        "plain": plain,
        "ours": judge(OURS),
        "fast": judge(FAST),
        "none": judge(*BROKEN["planes"]),
    }
    figure, axes = plot.new(8.2, 4.6)
    artists = figures.tries(axes, named)
    able = sorted((plain, named["ours"]), key=lambda report: report.dollars)
    assert artists["able"].get_offsets().tolist() == [[r.dollars, r.step] for r in able]
    assert artists["not"].get_offsets().tolist() == [[named["fast"].dollars, named["fast"].step]]
    areas = artists["able"].get_sizes()
    assert np.diff(areas) == pytest.approx(400 * (able[1].watts - able[0].watts) / 0.5e6)
    assert artists["front"][0].get_xdata().tolist() == [report.dollars for report in able]
    assert artists["budget"].get_xdata()[0] == BRIEF.dollars
    names = [text.get_text() for text in artists["names"]]
    assert names == ["1  plain", "2  ours", "3  fast"]
    assert_clear(figure)
    told = figures.words(named)
    assert "none cannot be wired" in told and told.count("on the front") == 2
