"""The training step alive: bars and words follow the closed form wherever the controls stand."""

import re

import pytest
from explored import move, near, quantities

from fabriclab.course.opening import explorers as opening
from fabriclab.units import GB, MB


def spans(explorer):
    """(start, end) of the bars of the two steps, by phase, as the time line shows them: forward,
    backward, idle, AllReduce.
    """
    bars = explorer.figure.axes[0].patches
    # four to a row, the lower row (across) last
    rows = [bars[:4], bars[4:8]]
    return [[(bar.get_x(), bar.get_x() + bar.get_width()) for bar in row] for row in rows]


def ring(size, ranks, alpha, beta):
    return 2 * (ranks - 1) / ranks * size / beta + 2 * (ranks - 1) * alpha


def assert_step_is_the_model(explorer):
    at = explorer.values
    compute = at["compute"]
    times = [
        ring(at["payload"], 8, 0.5e-6, 450e9),
        ring(at["payload"], at["ranks"], 1.5e-6, at["beta"]),
    ]
    idle = [max(0.0, time - at["overlap"] * compute) for time in times]
    for row, time, wait in zip(spans(explorer), times, idle):
        starts = (2 - at["overlap"]) * compute
        for (start, end), expected in zip(
            row,
            [
                (0, compute),
                (compute, 2 * compute),
                (2 * compute, 2 * compute + wait),
                (starts, starts + time),
            ],
        ):
            assert (start, end) == pytest.approx(expected, rel=1e-9, abs=1e-12 * compute)
    first, second, third = explorer.readout.splitlines()
    assert near(quantities(first)[0], at["payload"]) and near(quantities(first)[2], times[1])
    assert near(quantities(second)[0], 2 * compute + idle[1])
    if "all of it hidden" in first:
        assert idle[1] == 0
    else:
        assert near(quantities(first)[3], idle[1])
    busy = 2 * compute / (2 * compute + idle[1])
    assert float(re.search(r"busy ([\d.]+)%", second)[1]) == pytest.approx(100 * busy, abs=0.0501)
    lost = float(re.search(r": ([\d,.e+-]+) GPU-hours", second)[1].replace(",", ""))
    assert lost == pytest.approx(24 * at["ranks"] * (1 - busy), rel=6e-4, abs=1e-9)
    assert near(quantities(third)[0], times[0])
    assert float(re.search(r"takes ([\d.e+-]+) times", third)[1]) == pytest.approx(
        times[1] / times[0], rel=6e-3
    )


MAKERS, CHECKS = {"step": opening.step}, {"step": assert_step_is_the_model}


def test_it_opens_on_figure_4():
    """The chapter's 30 ms of 230 and its 87 % are not what a reader sees first."""
    explorer = opening.step()
    assert repr(explorer).splitlines() == [
        "64 ranks, 757 MB each at 50 GB/s one way: AllReduce 30 ms, 30 ms exposed.",
        "Step 230 ms, busy 87.0%: 200.3 GPU-hours idle a day, all ranks together.",
        "Inside a node of 8: AllReduce 2.951 ms, busy 98.5%. Across takes 10.2 times as long.",
    ]
    assert_step_is_the_model(explorer)


def test_a_full_gradient_over_the_whole_cluster_takes_seconds():
    """The running example, 350 GB over 1,024 ranks, cannot be set, or is not the 13.99 s of its
    ring.
    """
    explorer = opening.step()
    explorer.controls["payload"].value = 350 * GB
    explorer.controls["ranks"].value = 1024
    assert "AllReduce 13.99 s, 13.99 s exposed." in explorer.readout
    assert_step_is_the_model(explorer)


def test_a_payload_of_ones_own_joins_the_slider():
    """A notebook cannot start the explorer on a number that is not a stop."""
    assert opening.step(payload=762 * MB).readout.startswith(
        "64 ranks, 762 MB each at 50 GB/s one way: AllReduce 30.19 ms"
    )


def test_the_time_axis_stands_still_for_most_moves(monkeypatch):
    """Each step of a slider re-labels the time axis, ten times the work, and the picture jumps."""
    explorer, drawn = opening.step(), []
    whole = explorer.figure.canvas.draw
    monkeypatch.setattr(explorer.figure.canvas, "draw", lambda: (drawn.append(1), whole()))
    for control in (explorer.controls["overlap"], explorer.controls["payload"]):
        for _ in range(10):
            move(control, 1)
    assert len(drawn) <= 5
