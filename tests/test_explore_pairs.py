"""The heat map alive: picture and words follow measurement and verdict wherever the controls
stand.
"""

import re

import numpy as np
import pytest

from fabriclab.course.monitoring import explorers
from fabriclab.course.monitoring import heat_map as drawings
from fabriclab.logs.pairs import Part, explain, measure
from fabriclab.units import GB


def assert_is_the_model(explorer):
    """Picture and words against a measurement of one's own, by the controls."""
    at, network = explorer.values, explorers.network()
    planted = explorers.planted(at["fault"], at["host"])
    pinned, how = at["paths"].startswith("pinned"), "spread" if "spread" in at["paths"] else "hash"
    some = None if at["share"] == 1 else round(at["share"] * 992)
    measured = measure(
        network, dict.fromkeys(planted, at["left"]), how, at["noise"], at["seed"], some, pinned
    )
    shown = explorer.artists[0].get_array()
    np.testing.assert_array_equal(np.ma.filled(shown, np.nan), measured.matrix)
    verdict = explain(measured, network, how)
    hosts = np.arange(32)
    spoken = (
        np.concatenate([finding.cold for finding in verdict.findings])
        if verdict.findings
        else np.zeros(0, int)
    )
    assert len(explorer.artists[2].get_segments()) == len(
        drawings.outline(drawings.cells_of(measured, spoken, hosts))
    )
    text = " ".join(explorer.readout.splitlines())
    assert (
        text.startswith(
            f"Planted: {' and '.join(map(str, planted))} at {at['left']:.0%}."
            if planted
            else "Planted: nothing."
        )
        and repr(measured) in text
    )
    for finding in verdict.findings:
        assert (
            f"{'Named' if finding.decided else 'Cannot decide which'}: {finding.words},"
            f" {finding.cold.size:,} pair" in text
        )
        assert f"at {finding.fraction:.0%} of {verdict.level / GB:.4g} GB/s" in text
    assert_judged(text, {part.place for part in planted}, verdict)


def assert_judged(text, planted, verdict):
    """What the last words say against places by hand."""
    named = [{part.place for part in finding.parts} for finding in verdict.findings]
    if any(not places & planted for places in named):
        assert text.endswith("Wrong: it names a part that is sound.")
    elif re.search(r"Right: (nothing is wrong|it names what was planted)\.$", text):
        assert (not planted and verdict.healthy) or (
            named
            and all(len(places) == 1 for places in named)
            and set.union(*named) == planted
            and not verdict.unexplained.size
        )
    elif "Missed" in text:
        assert planted and not named
    elif "Half right" in text:
        assert len(planted) == 2 and len(planted & set.union(*named)) == 1
    elif "Right as far as it goes" in text:
        assert planted <= set.union(*named) and (
            any(len(places) > 1 for places in named) or verdict.unexplained.size
        )
    else:
        assert (
            text.endswith("some pairs were measured badly.")
            and not planted
            and verdict.unexplained.size
        )


MAKERS, CHECKS = {"heat_map": explorers.heat_map}, {"heat_map": assert_is_the_model}


def test_it_opens_on_a_host_that_receives_slowly():
    """What a reader sees first is another fault, another verdict, or no verdict."""
    explorer = explorers.heat_map()
    assert repr(explorer).splitlines() == [
        "Planted: host-13 receiving at 50%.",
        "Measured: 992 of 992 ordered pairs of 32 hosts.",
        "Named: host-13 receiving, 31 pairs at 50% of 47.98 GB/s.",
        "Next: no further measurement is asked for.",
        "Right: it names what was planted.",
    ]
    assert_is_the_model(explorer)


@pytest.mark.parametrize(
    "settings_, words",
    [
        (
            {"fault": "a spine"},
            [
                "Cannot decide which: one of 4 spines",
                "Next: pin the path",
                "Right as far as it goes",
            ],
        ),
        (
            {"fault": "a spine", "paths": "pinned, each spine"},
            ["Named: spine-2", "Right: it names what was planted."],
        ),
        (
            {"fault": "a cable bundle", "paths": "many QPs, spread"},
            ["Cannot decide which: bundle leaf-2 to one of 4 spines", "at 87% of"],
        ),
        (
            {"fault": "a host", "share": 0.03},
            ["Cannot decide which: host-13", "Next: measure host-"],
        ),
        ({"fault": "a host", "left": 0.98}, ["nothing stands out".capitalize(), "Missed"]),
        ({"fault": "nothing"}, ["Right: nothing is wrong."]),
        (
            {"fault": "a host and a spine", "paths": "pinned, each spine"},
            ["Named: spine-2", "Named: host-13", "Right: it names what was planted."],
        ),
    ],
)
def test_what_there_is_to_learn(settings_, words):
    """The lessons that the explorer is there for are not in its words."""
    said = explorers.heat_map(**settings_).readout
    assert all(word in said for word in words)


def test_a_wrong_verdict_is_called_wrong():
    """A verdict that names a sound part, or half of what was planted, is called right."""
    network = explorers.network()
    host, spine = Part("host", "host-13"), Part("spine", "spine-2")
    verdict = explain(measure(network, {host: 0.5}), network)
    assert explorers.judged({spine: 0.5}, verdict).startswith("Wrong")
    assert explorers.judged({}, verdict).startswith("Wrong")
    assert explorers.judged({host: 0.5, spine: 0.5}, verdict).startswith("Half right")
    assert explorers.judged({host: 0.5}, explain(measure(network), network)).startswith("Missed")
