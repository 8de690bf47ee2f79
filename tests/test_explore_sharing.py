"""Sharing alive: picture and words follow the models wherever the controls stand."""

import re

import numpy as np
import pytest
from explored import near, quantities

from fabriclab import units
from fabriclab.course.sharing import explorers
from fabriclab.units import Gbps

MAKERS = {"shares": explorers.shares, "isolation": explorers.isolation}
PORT = 400 * Gbps


def rates_of(line):
    """The rates that a line of a readout names."""
    return [units.read(found) for found in re.findall(r"[\d.]+ [TGMk]?b/s", line)]


def poured(limits, weights):
    """Water poured into vessels in small steps until the port is full, found by bisection."""
    low, high = 0.0, 1e13
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if np.minimum(limits, weights * middle).sum() < PORT else (low, middle)
        )
    return np.minimum(limits, weights * low)


def assert_shares_is_the_model(explorer):
    at = explorer.values
    wants, weights, caps = (
        np.array([at[f"{name}_{what}"] for name in explorers.TENANTS], dtype=float)
        for what in ("wants", "weight", "cap")
    )
    limits = np.minimum(wants, caps)
    rates = limits if limits.sum() <= PORT else poured(limits, weights)
    *lines, last = explorer.readout.splitlines()
    for line, name, rate, want, weight in zip(
        lines, explorers.TENANTS, rates, wants, weights, strict=True
    ):
        got, wanted, guarantee = rates_of(line)
        assert (
            line.startswith(name)
            and near(got, rate)
            and near(wanted, want)
            and near(guarantee, PORT * weight / weights.sum())
        )
    if limits.sum() > PORT:
        level, missed = rates_of(last)
        assert (
            "port is full" in last
            and near(level, max(rates / weights))
            and near(missed, wants.sum() - PORT)
        )
    else:
        full, missed = limits.sum() > PORT * (1 - 1e-9), rates_of(last)
        assert ("just full" in last) == full and ("not full" in last) != full
        assert full or near(missed.pop(0), PORT - limits.sum())
        assert ("all have what they want" in last) == (not missed) == (wants.sum() == limits.sum())
        assert not missed or near(missed[0], wants.sum() - limits.sum())
    tops = [
        path.vertices[:, 1].max() for path in explorer.figure.axes[0].collections[1].get_paths()
    ]
    np.testing.assert_allclose(tops, rates / weights / Gbps, rtol=1e-6, atol=1e-9)


def beside(size, burst, start, share):
    """(end of the AllReduce, end of the checkpoint) where who is alone has all, and `share` is the
    AllReduce's while both are there.
    """
    left = size - PORT * start
    if left <= 0:
        return size / PORT, start + burst / PORT
    both = (left + burst) / PORT
    return start + min(left / (share * PORT), both), start + min(burst / ((1 - share) * PORT), both)


def assert_isolation_is_the_model(explorer):
    at = explorer.values
    size, burst, start, share = (at[name] for name in ("size", "burst", "start", "share"))
    ends = [
        beside(size, burst, start, 1 / (1 + at["flows"])),
        (size / (share * PORT), start + burst / ((1 - share) * PORT)),
        beside(size, burst, start, share),
        (size / PORT, (max(start, size / PORT) if burst else start) + burst / PORT),
    ]
    first, second, third = explorer.readout.splitlines()
    alone, *firsts = quantities(first)
    assert near(alone, size / PORT)
    assert [near(q, end) for q, (end, _) in zip(firsts, ends, strict=True)] == [True] * 4, (
        first,
        ends,
    )
    assert [
        near(q, end) or abs(q.value - end) < 1e-9
        for q, (_, end) in zip(quantities(second), ends, strict=True)
    ] == [True] * 4, (second, ends)
    assert float(re.search(r"takes ([\d]+)% longer", third)[1]) == pytest.approx(
        100 * (ends[0][0] * PORT / size - 1), abs=0.51
    )
    assert near(quantities(third)[0], burst / PORT) or not burst
    shown = [label.get_text() for label in explorer.figure.axes[0].texts]
    for text, (end, last) in zip(shown, ends, strict=True):
        mine, done = quantities(text)
        assert (
            abs(mine.value - end) <= 0.51 * mine.resolution + 5.1e-3 * end
            and abs(done.value - last) <= 0.51 * done.resolution + 5.1e-3 * last
        )


CHECKS = {"shares": assert_shares_is_the_model, "isolation": assert_isolation_is_the_model}
OPENINGS = {
    "shares": [
        "training: gets 328.9 Gb/s of 400 Gb/s; its weight guarantees 320 Gb/s.",
        "serving: gets 30 Gb/s of 30 Gb/s; its weight guarantees 40 Gb/s.",
        "data: gets 41.11 Gb/s of 400 Gb/s; its weight guarantees 40 Gb/s.",
        "The port is full, at 41.11 Gb/s for each unit of weight; 430 Gb/s more is wanted.",
    ],
    "isolation": [
        "AllReduce alone 240 ms; under the rules, from above: 480 ms, 300 ms, 300 ms, 240 ms.",
        "Checkpoint done at 2.24 s, 10 s, 2.24 s, 2.24 s.",
        "In one lane the AllReduce takes 100% longer; whatever the flows, 2 s more at most.",
    ],
}


@pytest.mark.parametrize("name", MAKERS)
def test_it_opens_on_the_chapters_numbers(name):
    """What a reader sees first is not the text's case: 80 % for training, 100 GB beside a ring of 6
    GB.
    """
    explorer = MAKERS[name]()
    assert repr(explorer).splitlines() == OPENINGS[name]
    CHECKS[name](explorer)
