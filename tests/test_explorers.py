"""All explorers alike: picture and words follow the model wherever the controls stand, and nothing
is left behind.

What an explorer must say and draw is checked by the `CHECKS` of its part's tests.
"""

import functools
import importlib
import pkgutil

import ipywidgets
import numpy as np
import pytest
import test_explore
import test_explore_behaviour
import test_explore_cluster
import test_explore_frontier
import test_explore_guide
import test_explore_link
import test_explore_opening
import test_explore_pairs
import test_explore_scaleup
import test_explore_sharing
import test_explore_topology
from explored import assert_fault_passes, assert_fits, move, set_all
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fabriclab.course
from fabriclab import cluster, collectives, congestion, deadlock, link, nccl, scaleup, transport
from fabriclab.course.engine.explorer import Explorer
from fabriclab.course.fallacies import explorers as fallacies
from fabriclab.course.monitoring import explorers as monitoring
from fabriclab.course.topology import explorers as topology

PARTS = [
    test_explore,
    test_explore_behaviour,
    test_explore_cluster,
    test_explore_frontier,
    test_explore_guide,
    test_explore_link,
    test_explore_opening,
    test_explore_pairs,
    test_explore_scaleup,
    test_explore_sharing,
    test_explore_topology,
]
MAKERS = {name: make for part in PARTS for name, make in part.MAKERS.items()}
MAKERS["upgrade"] = fallacies.upgrade
CHECKS = {name: check for part in PARTS for name, check in part.CHECKS.items()}
# where every control does something
START = {
    "headers": {"transactions": 4},
    "settings": {"ports": 2},
    "heat_map": {"fault": "a spine"},
    ("heat_map", "host"): {},  # a spine is nobody's own
    "fabric": {"family": "rails, joined", "hosts": 512, "radix": 32},
}
WORDS_ALONE = {
    ("slow_link", "days"),
    ("slow_link", "compute"),
    ("optics", "pluggable"),
    ("optics", "copackaged"),
    ("headers", "rate"),
}
# a slower algorithm that is hidden changes nothing that is said
PICTURE_ALONE = {("allreduce", "ring"), ("allreduce", "tree"), ("allreduce", "pipelined_tree")}
PICTURE_ALONE |= {("allreduce", "recursive_doubling")}
# what the model refuses, by the function asked: (where, its name, the control that is moved)
FAULTS = {
    "crossover": (transport, "break_even", "alpha_a"),
    "allreduce": (collectives, "hidden_payload", "payload"),
    "buckets": (cluster, "bucketed_step", "payload"),
    "slow_link": (cluster, "slow_link", "ranks"),
    "shares": (cluster, "max_min", "training_wants"),
    "isolation": (cluster, "isolation", "size"),
    "eye": (link, "eye", "snr"),
    "budget": (link, "longest_cable", "metres"),
    "heat_map": (monitoring, "explain", "left"),
    "fabric": (topology.topology, "allreduce_cut_bound", "payload"),
    "failure": (topology, "_damage", "design"),
    "incast": (congestion, "fluid_queue", "rate"),
    "hashing": (congestion, "idle_path", "paths"),
    "congestion_control": (congestion, "fixed_point", "flows"),
    "deadlock": (deadlock, "dependencies", "share"),
    "reliability": (test_explore_behaviour.explorers.drawings, "move_at_least_one", "parts"),
    "upgrade": (transport, "time_saved", "size"),
    "optics": (link, "tree_optics", "hosts"),
    "settings": (nccl, "allreduce_time", "size"),
    "step": (collectives, "ring_allreduce", "payload"),
    "headers": (scaleup, "payload_efficiency", "transactions"),
    "tree": (scaleup, "pcie_rate", "lanes"),
}
# of these something in the picture is dragged
GRIPPED = {"crossover", "allreduce", "shares", "budget", "heat_map", "failure", "optics"}
# of these a move may redraw the axes: they follow what is drawn, or a curve comes and goes
AXES_MOVE = {
    "incast",
    "buckets",
    "shares",
    "isolation",
    "step",
    "slow_link",
    "allreduce",
    "heat_map",
}


def check(name, explorer):
    """What its part's tests ask of an explorer wherever it stands, a refusal among it."""
    if name in CHECKS and (explorer.error is None or name in ("allreduce", "fabric", "failure")):
        CHECKS[name](explorer)


def artists(explorer):
    """All that is in the picture, but for ticks, which come and go with the limits of an axis."""
    return [each for axes in explorer.figure.axes for each in axes.get_children()]


def test_none_is_left_out():
    """An explorer is added to a part, and these tests do not look at it."""
    there = set()
    for part in pkgutil.iter_modules(fabriclab.course.__path__):
        folder = importlib.import_module(f"fabriclab.course.{part.name}")
        for module in pkgutil.iter_modules(folder.__path__):
            if module.name.endswith("explorers"):
                here = importlib.import_module(f"{folder.__name__}.{module.name}")
                there |= {
                    name
                    for name, value in vars(here).items()
                    if hasattr(value, "__wrapped__") and not name.startswith("_")
                    if not hasattr(value, "cache_info")
                }
    assert there == set(MAKERS) == set(FAULTS) == {*CHECKS, "upgrade"}


@functools.cache
def kept(name):
    """An explorer kept from test to test, where a control has been must not matter; and how many
    lines it said at first.
    """
    explorer = MAKERS[name]()
    return explorer, explorer.readout.count("\n")


@pytest.mark.parametrize("name", MAKERS)
def test_it_opens_in_the_clear(name):
    """Words collide or outgrow the picture before anything has moved."""
    explorer = MAKERS[name]()
    assert isinstance(explorer, Explorer) and explorer.error is None
    check(name, explorer)
    assert_fits(explorer)


@pytest.mark.parametrize("name", MAKERS)
def test_at_most_five_sliders_stand_in_front(name):
    """A reader meets a wall of sliders instead of a picture."""
    explorer, _ = kept(name)
    assert bool(explorer.grips()) == (name in GRIPPED)
    shown = [explorer.controls[name] for row in explorer._rows for name in row]
    sliders = [each for each in shown if isinstance(each, ipywidgets.SelectionSlider)]
    assert shown and len(sliders) <= 5
    hidden = set(explorer.controls) - {name for row in explorer._rows for name in row}
    assert bool(hidden) == any(
        isinstance(each, ipywidgets.ToggleButton) for each in explorer.widget.children
    )


def pull(explorer, number, place, down=True):
    explorer._asked({"grip": number, "at": place, "down": down})


@pytest.mark.parametrize("name", sorted(GRIPPED))
def test_what_is_dragged_stays_under_the_pointer(name):
    """A grip stands beside what it moves, jumps when it is taken, or sets another control than the
    one whose value the pointer shows.
    """
    explorer = MAKERS[name]()
    before = explorer.values
    for number, place in enumerate(explorer._places()):
        if len(place) == 4:
            continue
        assert 0 <= place[0] <= 1 and 0 <= place[1] <= 1
        if name == "failure":
            continue  # its grips are clicked, not dragged
        pull(explorer, number, place)
        for control, value in before.items():
            assert explorer.values[control] == value, (number, control)
        # a little each way: it follows, where it is not at the end of its way
        followed = []
        for way in ((0.06, 0), (-0.06, 0), (0, 0.06), (0, -0.06)):
            goal = np.add(place, way).tolist()
            pull(explorer, number, goal, down=False)
            step = np.subtract(explorer._places()[number], place)
            followed.append(round(float(step @ way), 5))
            assert explorer.error is None
            check(name, explorer)
        assert min(followed) >= 0 < max(followed), (number, followed)
        for control, value in before.items():
            explorer.controls[control].value = value


def test_a_click_kills_the_switch_and_plants_the_fault():
    """A click on the wiring kills something else, or one on a cell plants the fault elsewhere."""
    failure = MAKERS["failure"]()
    places = np.array(failure._places())
    for part, number in (
        ("spine", int(places[:, 1].argmin())),
        ("host's cable", int(places[:, 1].argmax())),
    ):
        pull(failure, number, places[number].tolist())
        assert failure.values["part"] == part
    leaf = np.argsort(places[:, 1])[len(places) // 2]
    pull(failure, int(leaf), places[leaf].tolist())
    assert failure.values["part"] in ("switch at the hosts", "host's cable")
    cells = MAKERS["heat_map"](fault="nothing")
    ((left, top, right, bottom),) = cells._places()
    # sender 5, receiver 20
    pull(cells, 0, [left + (right - left) * 19.5 / 32, top + (bottom - top) * 4.5 / 32])
    assert cells.values["fault"] == "a host, receiving" and cells.values["host"] == 20
    cells.controls["fault"].value = "a host, sending"
    pull(cells, 0, [left + (right - left) * 19.5 / 32, top + (bottom - top) * 4.5 / 32])
    assert cells.values["host"] == 5 and "Named: host-05 sending" in cells.readout


def test_a_drag_of_two_controls_is_one_move(monkeypatch):
    """Payload and compute, dragged together, draw twice: the picture lags behind the hand."""
    explorer, sent = MAKERS["allreduce"](), []
    monkeypatch.setattr(
        type(explorer.canvas), "send", lambda self, content, buffers=None: sent.append(content)
    )
    pull(explorer, 0, [0.3, 0.3])
    assert len(sent) == 1 and sent[0]["readout"] == explorer.readout
    # and a message that moves nothing is answered too, for the browser waits for it
    pull(explorer, 0, [0.3, 0.3], down=False)
    assert len(sent) == 2


@pytest.mark.parametrize("name", MAKERS)
def test_every_control_changes_something(name):
    """A control does nothing that a reader can see, or what it shows is not the model's."""
    usual = MAKERS[name](**START.get(name, {}))
    for control in usual.controls:
        own = START.get((name, control))
        explorer = usual if own is None else MAKERS[name](**own)
        widget, seen = explorer.controls[control], set()
        was = widget.value
        for _ in range(2 if isinstance(widget, ipywidgets.Checkbox) else len(widget.options)):
            frame, readout = explorer.frame, explorer.readout
            move(widget, 1)
            if explorer.error is None:
                seen |= {"picture"} if explorer.frame != frame else set()
                seen |= {"words"} if explorer.readout != readout else set()
            if seen == {"picture", "words"}:
                break
        check(name, explorer)
        assert ("picture" in seen) == ((name, control) not in WORDS_ALONE), control
        assert ("words" in seen) == ((name, control) not in PICTURE_ALONE), control
        widget.value = was


@pytest.mark.parametrize("name", MAKERS)
@settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(data=st.data())
def test_whatever_the_controls_say_the_picture_is_the_model(name, data):
    """Somewhere a number is wrong, an error shows, words collide, outgrow the picture or gain a
    line, or the frame is not what a fresh drawing gives.
    """
    explorer, lines = kept(name)
    place = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0]))
    count = len(explorer.controls)
    set_all(explorer, data.draw(st.lists(place, min_size=count, max_size=count)))
    if explorer.error is None:
        assert "nan" not in explorer.readout.lower() and "inf" not in explorer.readout.lower()
        # what is planted and named may wrap there
        assert explorer.readout.count("\n") == lines or name == "heat_map"
        assert_fits(explorer)
    else:
        # what cannot be wired, set or ticked is told in place
        assert isinstance(explorer.error, ValueError)
        assert name in ("allreduce", "fabric", "failure", "settings")
    assert name != "settings" or not explorer.error or "allow no way" in explorer.readout
    assert name != "heat_map" or "Wrong" not in explorer.readout
    check(name, explorer)


@pytest.mark.parametrize("name", MAKERS)
def test_moving_leaves_nothing_behind_and_draws_only_what_moves(name, monkeypatch):
    """Each move adds artists to the figure, or redraws ticks and labels too: the explorer grows
    slow.
    """
    explorer, drawn = MAKERS[name](), []
    before, whole = len(artists(explorer)), explorer.figure.canvas.draw
    monkeypatch.setattr(explorer.figure.canvas, "draw", lambda: (drawn.append(1), whole()))
    for control in [*explorer.controls.values()] * 3:
        move(control, 1)
    assert len(artists(explorer)) == before
    assert not drawn or name in AXES_MOVE


@pytest.mark.parametrize("name", MAKERS)
def test_a_fault_of_the_model_is_shown_in_place_and_passes(name):
    """A refusal by the model leaves a wrong picture under old words, or stays after the reader has
    moved on.
    """
    explorer = MAKERS[name]()
    where, function, control = FAULTS[name]
    assert_fault_passes(explorer, explorer.controls[control], where, function, by=-1)
    check(name, explorer)
