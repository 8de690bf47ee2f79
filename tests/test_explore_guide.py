"""NCCL's settings alive: picture and words follow the model wherever the controls stand."""

import re

import numpy as np
import pytest

from fabriclab import nccl, units
from fabriclab.course.guide import explorers

# every combination of the two lists that leaves no way is told in place
NO_WAY = "settings allow no way"


def chosen(at):
    return nccl.settings(
        explorers.environment(at["ports"], at["algorithm"], at["protocol"], at["channels"])
    )


def rates(line):
    return [units.read(text) for text in re.findall(r"[\d.]+ [KMGT]?B/s", line)]


def assert_is_the_model(explorer):
    at, plain = explorer.values, nccl.settings({})
    now = chosen(at)
    first, second, third, fourth = explorer.readout.splitlines()
    assert first == (
        " ".join(
            f"{n}={v}"
            for n, v in explorers.environment(
                at["ports"], at["algorithm"], at["protocol"], at["channels"]
            ).items()
        )
        or "Nothing set."
    )
    for line, case in ((second, now), (third, plain)):
        assert rates(line)[0].value == pytest.approx(
            nccl.busbw(at["size"], at["nodes"], case), rel=6e-3
        )
        assert " and ".join(nccl.choice(at["size"], at["nodes"], case)) in line
    factor = nccl.allreduce_time(at["size"], at["nodes"], now) / nccl.allreduce_time(
        at["size"], at["nodes"], plain
    )
    said = re.search(r"([\d.e+]+) times as long", second)
    assert (
        float(said[1]) == pytest.approx(factor, rel=6e-3)
        if said
        else factor == pytest.approx(1, rel=6e-3)
    )
    assert [q.value for q in rates(fourth)] == pytest.approx(
        [nccl.network_bandwidth(now), nccl.inside_bandwidth(now)], rel=6e-3
    )
    lines = {line.get_label(): line for line in explorer.figure.axes[0].lines}
    for label, case in (("nothing set", plain), ("as set", now)):
        sizes, shown = lines[label].get_data()
        np.testing.assert_allclose(shown, nccl.busbw(sizes, at["nodes"], case), rtol=1e-9)


MAKERS, CHECKS = {"settings": explorers.settings}, {"settings": assert_is_the_model}


def test_it_opens_on_a_job_that_was_told_of_one_adapter():
    """What a reader sees first is not the eighth part of the bandwidth."""
    explorer = explorers.settings()
    assert repr(explorer).splitlines()[:2] == [
        "NCCL_IB_HCA==mlx5_0",
        (
            "As set, by NVLSTree and Simple: 40.1 ms, busbw 49.4 GB/s, 7.81 times as long as with"
            " nothing set."
        ),
    ]
    assert_is_the_model(explorer)


def test_a_combination_without_a_way_is_told_and_passes():
    """NVLS with LL would leave the old picture under old words, or the refusal stay after the
    reader has moved on.
    """
    explorer = explorers.settings()
    explorer.controls["protocol"].value = "LL"
    explorer.controls["algorithm"].value = "NVLSTree"
    assert NO_WAY in explorer.readout and explorer.error is not None
    explorer.controls["protocol"].value = ""
    assert explorer.error is None
    assert_is_the_model(explorer)


@pytest.mark.parametrize("ports", explorers.PORTS)
def test_the_environment_leaves_as_many_ports_as_it_says(ports):
    """The variables shown would leave more or fewer adapters than the slider."""
    assert len(nccl.settings(explorers.environment(ports)).hcas) == ports
