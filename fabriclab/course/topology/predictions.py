"""What a reader of this part is asked to guess, in the order of the notebook."""

from fabriclab import catalog, collectives, congestion, topology
from fabriclab.course.engine.exercises.slips import Slip
from fabriclab.course.engine.predict import Prediction
from fabriclab.units import GB

PORT = catalog.NDR.beta


def _eight():
    return topology.leaf_spine(leaves=4, spines=1, down=2, up=1)


def _tapered():
    return topology.leaf_spine(32, 8, 32, 8)


def _lost(part):
    racks = topology.build(1024, 64, per_node=8)
    return next(lost for lost in topology.failures(racks) if lost.part == part)


def _switches(node, gpu):
    rails = topology.rail_optimised(128)
    return topology.paths(rails, among=[0, 8 * node + gpu]).switches_on_path.worst


def _fits(radix):
    try:
        topology.build(100_000, radix)
    except ValueError:
        return False
    return True


def _sooner():
    thin, thick = congestion.mean_fullest(32, 32), congestion.mean_fullest(32, 16) / 2
    return "16 of 800G" if thick < thin else "32 of 400G"


PREDICTIONS = (
    Prediction(
        "topology.inject",
        "what all eight hosts inject together",
        lambda: _eight().injection().sum(),
        "B/s",
    ),
    Prediction(
        "topology.bisection",
        "what half of them can send to the other half, at worst",
        lambda: topology.bisection(_eight()),
        "B/s",
        slips=(Slip("best half", "that is the best half, not the worst", lambda: 200 * GB),),
    ),
    Prediction(
        "topology.one_leaf",
        "the oversubscription of a job on one leaf, to 1",
        lambda: topology.placement_oversubscription(_tapered(), range(32)),
        slips=(Slip("tree", "that is the tree's; this job never leaves its leaf", lambda: 4),),
    ),
    Prediction(
        "topology.two_leaves",
        "and of one that is half on each of two leaves, to 1",
        lambda: topology.placement_oversubscription(_tapered(), [*range(16), *range(32, 48)]),
        slips=(Slip("tree", "half a leaf is idle, and its uplinks are free", lambda: 4),),
    ),
    Prediction(
        "topology.idle_money",
        "the idle part of $300 M",
        lambda: topology.wasted_money(300e6, 0.30, 4),
        "$",
        slips=(Slip("share", "30 % of the money is not 30 % of a step at 4:1", lambda: 90e6),),
    ),
    Prediction(
        "topology.dead_leaf", "hosts gone with a dead leaf", lambda: _lost("leaf switch").hosts_lost
    ),
    Prediction(
        "topology.dead_spine",
        "bisection left without one of 16 spines",
        lambda: _lost("spine switch").bisection_left / _lost("spine switch").bisection_before,
        "%",
    ),
    Prediction(
        "topology.two_tiers",
        "hosts under two tiers of 64 ports",
        lambda: topology.fat_tree(64, 2).hosts,
        slips=(Slip("k squared", "half of a leaf's ports go up", lambda: 64**2),),
    ),
    Prediction(
        "topology.three_tiers",
        "hosts under three tiers",
        lambda: topology.fat_tree(64).hosts,
        moral="One more tier multiplies by half the ports.",
    ),
    Prediction(
        "topology.path_two",
        "switches on the worst path of two tiers",
        lambda: topology.paths(topology.fat_tree(8, 2)).switches_on_path.worst,
    ),
    Prediction(
        "topology.path_three",
        "links on the worst path of three tiers",
        lambda: topology.paths(topology.fat_tree(8)).links_on_path.worst,
    ),
    Prediction(
        "topology.thick",
        "which uplinks are done sooner under a hash",
        _sooner,
        options=("32 of 400G", "16 of 800G", "both alike"),
        moral="Two flows of 400G that meet on 800G lose nothing.",
    ),
    Prediction(
        "topology.cut_least",
        "must the left half send every buffer across",
        lambda: (
            "no, one partial sum each way"
            if topology.allreduce_cut_bound(GB, PORT) < 3 * GB / PORT
            else "yes, every buffer"
        ),
        options=("yes, every buffer", "half of them", "no, one partial sum each way"),
    ),
    Prediction(
        "topology.tighter",
        "is there a tighter cut than the middle",
        lambda: (
            "yes, around a leaf"
            if topology.flow(_tapered(), range(32), range(32, 1024)) < 16 * 32 * PORT
            and 32 * 992 / 1024 * GB / topology.flow(_tapered(), range(32), range(32, 1024))
            > collectives.all_to_all(GB, 1024, 0.0, PORT)
            else "no"
        ),
        options=("no", "yes, around a leaf", "yes, around a host"),
    ),
    Prediction(
        "topology.rail_near",
        "switches from GPU 0 of node 0 to GPU 0 of node 31",
        lambda: _switches(31, 0),
    ),
    Prediction(
        "topology.rail_far",
        "and to GPU 0 of node 32",
        lambda: _switches(32, 0),
        moral="A rail switch joins 32 nodes.",
    ),
    Prediction(
        "topology.separate",
        "bandwidth between rails 0 to 3 and rails 4 to 7 without spines",
        lambda: topology.flow(
            topology.rail_optimised(128, joined=False),
            [h for h in range(1024) if h % 8 < 4],
            [h for h in range(1024) if h % 8 >= 4],
        ),
        "B/s",
        moral="Between halves of the nodes nothing is lost.",
    ),
    Prediction(
        "topology.torus_cut",
        "cables across the middle of a 16 x 16 x 16 torus",
        lambda: topology.bisection(topology.torus((16, 16, 16))) / (50 * GB),
        slips=(Slip("open", "each line closes on itself and crosses twice", lambda: 256),),
    ),
    Prediction(
        "topology.torus_far",
        "links between the farthest two hosts",
        lambda: topology.paths(topology.torus((16, 16, 16))).links_on_path.worst,
        slips=(Slip("corners", "there is no corner: it closes on itself", lambda: 45),),
    ),
    Prediction(
        "topology.ring_gather",
        "an AllGather in the closed ring",
        lambda: collectives.torus("all_gather", GB, (16,), 0.0, PORT, True, False),
        "s",
        slips=(Slip("one way", "a ring sends both ways round", lambda: GB * 15 / 16 / PORT),),
    ),
    Prediction(
        "topology.line_gather",
        "the same on a line",
        lambda: collectives.torus("all_gather", GB, (16,), 0.0, PORT, False, False),
        "s",
    ),
    Prediction(
        "topology.spines", "spines of 63 nodes", lambda: topology.superpod_h100(2).switches["spine"]
    ),
    Prediction(
        "topology.eight_spines",
        "the ratio of 32 leaves under 8 spines, to 1",
        lambda: topology.oversubscription(topology.leaf_spine(32, 8, 32, 16)),
    ),
    Prediction(
        "topology.fits",
        "the ports a switch needs to join 100,000 hosts in three tiers",
        lambda: str(next(radix for radix in (64, 128, 256) if _fits(radix))),
        options=("64", "128", "256"),
    ),
    Prediction(
        "topology.planned",
        "the bisection of four leaves, eight uplinks each, two spines",
        lambda: topology.bisection(topology.leaf_spine(leaves=4, spines=2, down=8, up=8)),
        "B/s",
        slips=(Slip("all", "half of the hosts send", lambda: 1600 * GB),),
    ),
)
