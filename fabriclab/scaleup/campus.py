"""The campus as a pyramid of bandwidth: what each tier adds up to, and what a ratio of tiers is
worth when their bases differ.

A slide's rate counts one direction or both; a ratio of two rates means something only where both
count the same.

Source: field guide, Scale-Up vs Scale-Out, after Broadcom's talk at OCP EMEA 2026.
"""

from dataclasses import dataclass

import numpy as np

from fabriclab import catalog
from fabriclab.catalog.scaleup import CampusTier, Regime
from fabriclab.checks import (
    Values,
    broadcastable,
    each,
    instance,
    nonnegative,
    number,
    positive,
    scalar,
    scalar_or_array,
)


@dataclass(frozen=True)
class Pyramid:
    """Tiers of a campus of `xpus`: totals `stated` and `per_direction`, bytes per second; ratios
    are of the first to the sum of the rest.
    """

    xpus: int
    names: tuple
    stated: tuple
    per_direction: tuple

    @property
    def ratio_stated(self):
        return self.stated[0] / sum(self.stated[1:])

    @property
    def ratio_per_direction(self):
        return self.per_direction[0] / sum(self.per_direction[1:])


def pyramid(
    directions: tuple[int, ...] = (2, 1, 1),
    xpus: Values = catalog.CAMPUS_XPUS,
    tiers: tuple[CampusTier, ...] = catalog.CAMPUS,
) -> Pyramid:
    """The `Pyramid` of `xpus` accelerators; `directions` says for each tier how many its stated
    rate counts, 1 or 2.

    The text says of none; the first is NVLink 5's rate in both. Raises ValueError unless there is
    one entry for each tier.

    >>> [round(pyramid(bases).ratio_per_direction, 1) for bases in ((2, 2, 2), (2, 1, 1))]
    [8.2, 4.1]
    """
    xpus = int(scalar("xpus", number("xpus", xpus, 1, 1e9, "1 to 10^9", whole=True)))
    tiers = tuple(
        instance("tiers", tier, catalog.CampusTier, "those of catalog.CAMPUS")
        for tier in each("tiers", tiers)
    )
    bases = [
        scalar(
            "directions",
            number(
                "directions", base, least=1, most=2, expected="1 or 2 for each tier", whole=True
            ),
        )
        for base in each("directions", directions)
    ]
    if len(bases) != len(tiers) or len(tiers) < 2:
        raise ValueError(
            f"directions must name 1 or 2 for each of {len(tiers)} tiers, two or more, not"
            f" {directions!r}"
        )
    stated = tuple(xpus * tier.rate for tier in tiers)
    return Pyramid(
        xpus,
        tuple(tier.name for tier in tiers),
        stated,
        tuple(total / base for total, base in zip(stated, bases)),
    )


def watts_each(regime: Regime) -> tuple[float, ...]:
    """(for the fewest, for the most) watts that a `catalog.Regime` has for one accelerator.

    >>> [tuple(round(watts) for watts in watts_each(regime)) for regime in catalog.REGIMES]
    [(1500, 977), (1800, 1800), (1000, 1000)]
    """
    if not isinstance(regime, catalog.Regime):
        raise ValueError(f"regime must be a catalog.Regime, not {regime!r}")
    return regime.watts_least / regime.least, regime.watts_most / regime.most


def planes_to_match(rate: Values, port: Values) -> int:
    """Planes: switches side by side, each with a `port` for every accelerator, whose ports add up
    to `rate`: ``ceil(rate/port)``.

    Both count the same directions. A port of 200 Gb/s sends 200 and receives 200.

    >>> from fabriclab.units import Gbps, Tbps
    >>> # two directions against one; one against one
    >>> planes_to_match(14.4 * Tbps, 200 * Gbps), planes_to_match(7.2 * Tbps, 200 * Gbps)
    (72, 36)
    """
    rate, port = nonnegative("rate", rate), positive("port", port)
    broadcastable(rate=rate, port=port)
    # a ratio a hair above a whole number is that number
    planes = np.ceil(rate / port * (1 - 1e-12))
    return scalar_or_array(planes) if np.ndim(planes) else int(planes)
