"""Bounds on an error ratio: exact sums, published tables and simulated tests."""

import numpy as np
import pytest
from scipy import stats

from fabriclab import link


def test_bounds_against_the_binomial_itself():
    """At a bound, so few or so many errors as were seen would have another chance than is left."""
    for bits, errors in ((100, 1), (1000, 7), (20, 19), (50, 25)):
        least, most = link.error_ratio_bounds(bits, errors, confidence=0.95)
        assert stats.binom.cdf(errors, bits, most) == pytest.approx(0.05)
        assert stats.binom.sf(errors - 1, bits, least) == pytest.approx(0.05)
    assert link.error_ratio_bounds(20, 20)[1] == 1 and link.error_ratio_bounds(20, 0)[0] == 0
    # scipy's own interval of Clopper and Pearson, both sides at once
    both = stats.binomtest(7, 1000).proportion_ci(0.95, method="exact")
    assert link.error_ratio_bounds(1000, 7, 0.975) == pytest.approx((both.low, both.high))


def test_bounds_hold_as_often_as_they_say():
    """A true ratio would lie outside its bounds in more than one test in twenty, on either side."""
    rng, bits = np.random.default_rng(6), 2000
    for ratio in (3e-4, 2e-3, 0.2):
        least, most = link.error_ratio_bounds(bits, rng.binomial(bits, ratio, 20_000))
        assert np.mean(least > ratio) < 0.055 and np.mean(most < ratio) < 0.055


def test_bits_to_show_of_the_makers_tables():
    """The bits, as multiples of one over the ratio, would not be those that makers' notes on error
    testers print for 95 % (3.00, 4.74, 6.30, 7.75, 9.15) and 99 % (4.61, 6.64, 8.41).
    """
    assert link.bits_to_show(1e-12, np.arange(5)) * 1e-12 == pytest.approx(
        [3.00, 4.74, 6.30, 7.75, 9.15], abs=6e-3
    )
    assert link.bits_to_show(1e-12, np.arange(3), 0.99) * 1e-12 == pytest.approx(
        [4.61, 6.64, 8.41], abs=6e-3
    )
    # and so many bits with so many errors bound the ratio by just that
    for errors in (0, 1, 5):
        bits = np.ceil(link.bits_to_show(1e-9, errors))
        assert link.error_ratio_bounds(bits, errors)[1] == pytest.approx(1e-9, rel=1e-6)


def test_what_is_no_test_is_refused():
    """More errors than bits, or a confidence that is none, would come back as a number."""
    for call, name in (
        (lambda: link.error_ratio_bounds(10, 11), "errors"),
        (lambda: link.error_ratio_bounds(0), "bits"),
        (lambda: link.error_ratio_bounds(10, 1, 1.0), "confidence"),
        (lambda: link.error_ratio_bounds(10, 1, 95), "confidence"),
        (lambda: link.bits_to_show(0), "ratio"),
        (lambda: link.bits_to_show(0.5), "ratio"),
    ):
        with pytest.raises(ValueError, match=f"^{name} must"):
            call()
