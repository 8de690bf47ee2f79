"""Level 1, error correction: Reed-Solomon losses against arbitrary precision, simulated codewords
and published values.
"""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from fabriclab import link
from fabriclab.link import INTERLEAVE, KP4, KR4, ReedSolomon
from fabriclab.units import Gbps, ns


def exact_loss(code, ber):
    with mpmath.workdps(60):
        p = 1 - (1 - mpmath.mpf(ber)) ** code.symbol_bits
        return mpmath.fsum(
            mpmath.binomial(code.n, i) * p**i * (1 - p) ** (code.n - i)
            for i in range(code.corrects + 1, code.n + 1)
        )


@pytest.mark.parametrize("code", [KP4, KR4, ReedSolomon(255, 239, 8), ReedSolomon(7, 3, 3)])
@pytest.mark.parametrize("ber", [1e-18, 1e-12, 1e-9, 1e-7, 1e-5, 1e-4, 2.4e-4, 1e-3, 1e-2, 0.3])
def test_codeword_loss_to_arbitrary_depth(code, ber):
    """The sum in logarithms would lose digits far below the 1e-16 of 1 minus a sum: here down to
    1e-250, against 60 digits.
    """
    assert code.codeword_loss(ber) == pytest.approx(float(exact_loss(code, ber)), rel=1e-11)


def test_published_losses():
    """The KP4 code would not give its reference values (project's references, link level)."""
    assert KP4.symbol_error(2.4e-4) == pytest.approx(0.0023974097, abs=1e-10)
    assert KP4.codeword_loss(2.4e-4) == pytest.approx(8.1515734e-13, rel=1e-8)
    assert KP4.codeword_loss(1e-4) == pytest.approx(1.3598111e-18, rel=1e-7)
    assert KP4.codeword_loss(1e-3) == pytest.approx(1.5302586e-4, rel=1e-7)


def test_codes_of_the_standard():
    """The codes, their overheads or their line rates would not be those of IEEE 802.3 clauses 91
    and 119.
    """
    assert (KP4.corrects, KR4.corrects) == (15, 7)
    assert KP4.overhead == pytest.approx(30 / 514) and KR4.overhead == pytest.approx(14 / 514)
    assert KP4.line_factor == 1.0625 and KR4.line_factor == 66 / 64
    assert KP4.line_rate(np.array([50, 100, 400]) * Gbps) / Gbps == pytest.approx(
        [53.125, 106.25, 425.0], rel=1e-15
    )
    # 5,440 bits: alone on a lane of 100G, two at a time at 200G and 400G, twice two at 800G
    for data, time in ((50, 102.4), (100, 51.2), (200, 51.2), (400, 25.6), (800, 25.6)):
        taken = KP4.codeword_time(KP4.line_rate(data * Gbps), INTERLEAVE[data * Gbps])
        assert taken / ns == pytest.approx(time)


def test_frame_loss_at_the_standards_limit():
    """The share of 64-byte frames lost at the raw ratio the standard allows would not be the
    standard's: 1.7e-12 in 802.3bs, 9.2e-13 or a little less in 802.3cd.
    """
    assert f"{KP4.frame_loss(2.4e-4, interleave=INTERLEAVE[400 * Gbps]):.1e}" == "1.7e-12"
    assert f"{KP4.frame_loss(2.4e-4, interleave=INTERLEAVE[200 * Gbps]):.1e}" == "1.7e-12"
    assert 8.5e-13 < KP4.frame_loss(2.4e-4, interleave=INTERLEAVE[100 * Gbps]) < 9.2e-13


@pytest.mark.parametrize("interleave", [1, 2, 4])
def test_frames_over_interleaved_codewords(interleave):
    """Frames laid byte by byte over symbols dealt to several codewords would touch other codewords
    than the closed form counts.
    """
    bits, words = KP4.symbol_bits, KP4.k * interleave
    for frame in (64, 1500):
        starts = np.arange(0, words * bits, 8)
        first, last = starts // bits, (starts + 8 * frame - 1) // bits
        groups = last // words - first // words + 1
        # at most all codewords of each group that the frame lies in
        touched = [
            len({(s // words, s % interleave) for s in range(a, b + 1)})
            for a, b in zip(first.tolist(), last.tolist())
        ]
        assert np.mean(touched) <= interleave * np.mean(groups)
        assert np.mean(touched) == pytest.approx(interleave + frame / KP4.payload, rel=0.01)


def test_bursts_and_erasures_that_are_always_mended():
    """A burst of the length promised would put more than t wrong symbols into a codeword, one bit
    more would not; or the parity would not pay twice for an error and once for an erasure.
    """
    for code in (KP4, KR4):
        for interleave in (1, 2, 4):

            def worst(length):
                return max(
                    np.bincount(
                        np.arange(start // 10, (start + length - 1) // 10 + 1) % interleave
                    ).max()
                    for start in range(10 * interleave)
                )

            length = int(code.burst(interleave))
            assert worst(length) == code.corrects and worst(length + 1) == code.corrects + 1
        for erasures in range(code.n - code.k + 1):
            errors = code.corrects_beside(erasures)
            assert 2 * errors + erasures <= code.n - code.k < 2 * (errors + 1) + erasures
        with pytest.raises(ValueError, match="erasures"):
            code.corrects_beside(code.n - code.k + 1)


def test_simulated_codewords():
    """Bits flipped at random and counted per symbol and codeword would be lost at another rate than
    the tail sum's.
    """
    rng, words = np.random.default_rng(8), 4000
    for ber in (1.5e-3, 2.5e-3):
        flipped = rng.random((words, KP4.n, KP4.symbol_bits)) < ber
        lost = np.mean(flipped.any(axis=2).sum(axis=1) > 15)
        expected = KP4.codeword_loss(ber)
        assert lost == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / words))


def test_simulated_frames():
    """Frames laid over a stream of codewords would meet a lost one at another rate: random starts,
    one codeword in 20 lost.
    """
    rng, trials = np.random.default_rng(9), 200_000
    for frame in (64, 4096):
        bits = KP4.payload * 8
        start = rng.random(trials) * bits
        touched = np.ceil((start + 8 * frame) / bits)
        lost = np.mean(rng.random(trials) < 1 - 0.95**touched)
        assert KP4.frame_loss(KP4.ber_for(0.05), frame) == pytest.approx(lost, rel=0.03)


@given(st.floats(-290, -1e-3), st.sampled_from([KP4, KR4]))
def test_ber_for_inverts(exponent, code):
    """The bit error ratio found for a loss would not give that loss."""
    assert code.codeword_loss(code.ber_for(10**exponent)) == pytest.approx(10**exponent, rel=1e-9)


@given(st.floats(1e-20, 0.5), st.floats(1.001, 2))
def test_more_errors_more_loss(ber, factor):
    """A worse line would lose less, a stronger code more, or a longer frame less."""
    assert KP4.codeword_loss(ber) <= KP4.codeword_loss(min(1.0, ber * factor)) * (1 + 1e-9)
    assert KP4.codeword_loss(ber) <= KR4.codeword_loss(ber) * (1 + 1e-9)
    assert (
        KP4.codeword_loss(ber)
        <= KP4.frame_loss(ber, 64) * (1 + 1e-9)
        <= KP4.frame_loss(ber, 9000) * (1 + 1e-8)
    )


def test_the_tail_is_an_incomplete_beta_function():
    """The sum would part from its closed form I_p(t+1, n-t) somewhere over a sweep; arrays keep
    their shape.
    """
    ber = np.logspace(-15, -1, 30).reshape(5, 6)
    assert KP4.codeword_loss(ber) == pytest.approx(
        special.betainc(16, 529, KP4.symbol_error(ber)), rel=1e-10
    )
    assert KP4.codeword_loss(ber).shape == (5, 6) and isinstance(KP4.codeword_loss(1e-4), float)


def test_ends():
    """A perfect or a hopeless line would give something else than 0 and 1, or a warning."""
    assert (
        KP4.codeword_loss(0),
        KP4.codeword_loss(1),
        KP4.frame_loss(0),
        KP4.frame_loss(1),
        KP4.ber_for(0),
        KP4.ber_for(1),
    ) == (0, 1, 0, 1, 0, 1)


def test_hops_are_counted_by_walking():
    """Switches, cables and tiers would be confused: counted on a leaf-spine and on a three-tier
    tree built as graphs (E-09).
    """
    import networkx as nx

    two = nx.Graph([("h1", "l1"), ("l1", "s"), ("s", "l2"), ("l2", "h2")])
    three = nx.Graph(
        [("h1", "l1"), ("l1", "s1"), ("s1", "c"), ("c", "s2"), ("s2", "l2"), ("l2", "h2")]
    )
    for tiers, graph in ((2, two), (3, three)):
        path = nx.shortest_path(graph, "h1", "h2")
        assert (
            link.switches_on_path(tiers) == len(path) - 2
            and link.links_on_path(tiers) == len(path) - 1
        )
    assert link.switches_on_path(1) == 1


def test_latency_of_the_text():
    """FEC on the chapter's three switches would not be 300 to 600 ns, both ways 600 to 1,200, a
    real three-tier path 500 to 1,000.
    """
    assert [link.fec_latency(3, t * ns) / ns for t in (100, 200)] == pytest.approx([300, 600])
    assert [link.fec_latency(6, t * ns) / ns for t in (100, 200)] == pytest.approx([600, 1200])
    assert [
        link.fec_latency(link.switches_on_path(3), t * ns) / ns for t in (100, 200)
    ] == pytest.approx([500, 1000])


@pytest.mark.parametrize(
    "call, name",
    [
        (lambda: KP4.codeword_loss(-1e-9), "ber"),
        (lambda: KP4.codeword_loss([0.1, math.nan]), "ber"),
        (lambda: KP4.codeword_loss(1.1), "ber"),
        (lambda: KP4.frame_loss(1e-4, 0), "frame"),
        (lambda: KP4.ber_for(2), "codeword_loss"),
        (lambda: KP4.codeword_time(0), "line_rate"),
        (lambda: KP4.line_rate(-1), "data_rate"),
        (lambda: ReedSolomon(514, 544), "n must"),
        (lambda: ReedSolomon(2000, 514, 10), "n must"),
        (lambda: ReedSolomon(544, 0), "k must"),
        (lambda: link.switches_on_path(0), "tiers"),
        (lambda: link.switches_on_path(2.5), "tiers"),
        (lambda: link.fec_latency(-1), "switches"),
        (lambda: link.fec_latency(3, -1), "per_switch"),
    ],
)
def test_bad_input_is_named(call, name):
    """Nonsense would come back as a number, or as an error that does not say which argument it
    means.
    """
    with pytest.raises(ValueError, match=name):
        call()
