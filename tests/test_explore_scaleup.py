"""Scale-up alive: picture and words follow the models wherever the controls stand."""

import math
import re

import numpy as np
import pytest
from explored import near, quantities

from fabriclab import units
from fabriclab.course.scaleup import explorers

MAKERS = {"headers": explorers.headers, "tree": explorers.tree}
INSIDE = {"ESUN": 4, "IPv4": 20, "IPv6": 40, "RoCEv2": 44}
TRANSFERS = {3: 8 * 128 / 130, 4: 16 * 128 / 130, 5: 32 * 128 / 130, 6: 64 * 242 / 256}


def payload(stack, size, k, command):
    return k * size / (38 + np.maximum(46, INSIDE[stack] + k * (size + command)))


def rates(line):
    return [units.read(text) for text in re.findall(r"[\d.,]*\d [KMGT]?B/s", line)]


def per_cent(line):
    return [float(text) for text in re.findall(r"([\d.]+)%", line)]


def assert_headers_is_the_model(explorer):
    at = explorer.values
    packet = at["size"], at["transactions"], at["command"]
    shares = {stack: payload(stack, *packet) for stack in INSIDE}
    first, second, third = explorer.readout.splitlines()
    assert first.startswith(f"{at['transactions']} x {at['size']:,} B:") and re.findall(
        r"([A-Z]\w+) [\d.]+%", first
    ) == list(INSIDE)
    assert per_cent(first) == pytest.approx([100 * share for share in shares.values()], abs=0.051)
    assert per_cent(second) == pytest.approx(
        [100 * (shares["ESUN"] / shares[stack] - 1) for stack in ("IPv4", "IPv6")], abs=0.051
    )
    if at["transactions"] == 1:
        assert third.startswith("Alone, it waits for nobody.")
    else:
        assert near(quantities(third)[0], (at["transactions"] - 1) * at["size"] / at["rate"])
    longest = 44 + at["transactions"] * (at["size"] + at["command"])
    assert ("do not fit" in third) == (longest > 9000)
    if longest > 9000:
        assert f" {longest:,} B do not fit" in third
    for line, stack in zip(explorer.figure.axes[0].lines[1::2], INSIDE, strict=True):
        sizes, curve = line.get_data()
        np.testing.assert_allclose(curve, payload(stack, sizes, *packet[1:]), rtol=1e-9)


def assert_tree_is_the_model(explorer):
    at = explorer.values
    n, down, rate = (
        at["gpus"],
        at["lanes"] // at["width"] - 1,
        at["width"] * TRANSFERS[at["generation"]] / 8 * 1e9,
    )
    levels = next(level for level in range(1, 20) if down**level >= n)
    under = down ** (levels - 1)
    evenly = min(rate * (n - 1) / (down**k * (n - down**k)) for k in range(levels))
    doubling = next(level for level in range(1, 20) if 2**level >= n)
    first, second, third, fourth = explorer.readout.splitlines()
    assert [int(text) for text in re.findall(r"\d+", first)] == [levels, down, doubling]
    assert all(
        near(q, value) or q.value == pytest.approx(value, rel=6e-3)
        for q, value in zip(rates(second), (rate / under, evenly, rate / n), strict=True)
    )
    assert (
        rates(third)[0].value == pytest.approx(2 * rate / 2**doubling, rel=6e-3)
        and f" {doubling} time" in third
    )
    assert rates(fourth)[0].value == pytest.approx(rate, rel=6e-3)
    assert quantities(fourth)[-2].value == pytest.approx(
        2 * (n - 1) * (1e-6 + 64e6 / n / rate), rel=6e-3
    )
    ends = [bar.get_x() + bar.get_width() for bar in explorer.figure.axes[0].patches]
    assert ends == pytest.approx(
        [max(value, 1e6) for value in (rate / n, rate / under, evenly, rate)], rel=1e-9
    )


CHECKS = {"headers": assert_headers_is_the_model, "tree": assert_tree_is_the_model}
OPENINGS = {
    "headers": [
        "1 x 64 B: payload ESUN 60.4%, IPv4 52.5%, IPv6 45.1%, RoCEv2 43.8%.",
        "ESUN carries 15.1% more than IPv4 on the same wire, 34.0% more than IPv6.",
        "Alone, it waits for nobody.",
    ],
    "tree": [
        "2 levels of switches, 8 ports down from each; by doubling it would be 6.",
        "All at once, one way: across the root 7.88 GB/s, evenly 8.86 GB/s, to the host 985 MB/s.",
        "The text's rule, both directions halved 6 times: 1.97 GB/s.",
        "A ring keeps 63 GB/s: 64 MB in 2.13 ms, at 1 us a step.",
    ],
}


@pytest.mark.parametrize("name", MAKERS)
def test_it_opens_on_the_texts_numbers(name):
    """What a reader sees first is not the text's case: 64 B under four stacks (R307), 64 GPUs under
    PCIe 5 (R312).
    """
    explorer = MAKERS[name]()
    assert repr(explorer).splitlines() == OPENINGS[name]
    CHECKS[name](explorer)


@pytest.mark.parametrize(
    "size, transactions, fits",
    [(2048, 4, True), (4096, 3, False), (8192, 1, True), (8192, 2, False)],
)
def test_a_packet_too_long_for_a_frame_is_said_to_be(size, transactions, fits):
    """Packing beyond a frame of 9,000 B passes unremarked, or one that fits is refused."""
    explorer = explorers.headers(size, transactions)
    assert ("do not fit" not in explorer.readout) == fits
    CHECKS["headers"](explorer)


def test_doubling_is_the_whole_number_of_halvings():
    """A power of two gets a level too many, as a rounded logarithm would give."""
    assert [math.ceil(math.log2(n)) for n in explorers.GPUS] == [
        (n - 1).bit_length() for n in explorers.GPUS
    ]
