"""The tiers that data climb down, from a GPU's memory to the wide area, as the field guide's last
table has them.
"""

from dataclasses import dataclass

from fabriclab.checks import instance, one_of
from fabriclab.units import GB, TB, Gbps, ms, ns, us


@dataclass(frozen=True)
class Tier:
    """A tier: `bandwidth` in bytes per second and `latency` in seconds, each (least, most), or None
    where the table has none.

    `directions` is how many the printed bandwidth counts: 2 where it is both ways together.
    """

    name: str
    chinese: str
    bandwidth: tuple | None
    latency: tuple | None
    directions: int
    source: str

    @property
    def per_direction(self):
        """`bandwidth` one way."""
        return self.bandwidth and tuple(end / self.directions for end in self.bandwidth)


TIERS = (
    Tier("HBM", "GPU 内 HBM", (3 * TB, 8 * TB), None, 1, "field guide, last table"),
    Tier(
        "NVLink in a node",
        "NVLink 节点内",
        (1800 * GB, 1800 * GB),
        (700 * ns, 700 * ns),
        2,
        "field guide, last table; 1.8 TB/s is NVLink 5, both directions",
    ),
    Tier(
        "NVL72 rack",
        "NVL72 机柜",
        (1800 * GB, 1800 * GB),
        (1 * us, 1 * us),
        2,
        "field guide, last table; bandwidth: NVLink 5, as inside the node",
    ),
    Tier(
        "InfiniBand, RoCE",
        "InfiniBand/RoCE",
        (400 * Gbps, 800 * Gbps),
        (3 * us, 5 * us),
        1,
        "field guide, last table",
    ),
    Tier(
        "wide area",
        "跨数据中心 WAN",
        None,
        (10 * ms, 100 * ms),
        1,
        "field guide, last table, which has no bandwidth for it",
    ),
)


def step_between(above: Tier, below: Tier, what: str) -> tuple[float, ...]:
    """(least, most) factor from one tier to the next below: bandwidth lost, as printed, or latency
    gained; None where one lacks it.

    `what` is "bandwidth" or "latency".

    >>> step_between(TIERS[1], TIERS[3], "bandwidth")
    (18.0, 36.0)
    >>> [round(factor) for factor in step_between(TIERS[3], TIERS[4], "latency")]
    [2000, 33333]
    """
    for name, tier in (("above", above), ("below", below)):
        instance(name, tier, Tier, "TIERS[0]")
    one_of("what", what, ("bandwidth", "latency"))
    high, low = (above, below) if what == "bandwidth" else (below, above)
    over, under = getattr(high, what), getattr(low, what)
    return over and under and (over[0] / under[1], over[1] / under[0])
