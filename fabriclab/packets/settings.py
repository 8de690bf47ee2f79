"""Settings of a run: priority flow control, and HPCC's senders."""

from dataclasses import dataclass

from fabriclab.checks import count, nonnegative, number, positive, scalar
from fabriclab.units import Mbps


@dataclass(frozen=True)
class Pfc:
    """Priority flow control. A cable is paused when more than `xoff` bytes that came by it wait in
    the switch, and resumed at `xon`.

    >>> Pfc(xoff=64_000, headroom=38_000).xon is None
    True

    `headroom` is what a cable may fill beyond `xoff`. What is left out is computed: the headroom by
    `congestion.pfc_headroom`, `xoff` so that the buffer holds the headroom and an equal share for
    every cable, `xon` two packets less. `watchdog`: seconds after which a paused port drops what
    waits there (real ones also stop obeying pauses).
    """

    xoff: float | None = None
    xon: float | None = None
    headroom: float | None = None
    watchdog: float | None = None

    def __post_init__(self):
        for name in ("xoff", "xon", "headroom"):
            if getattr(self, name) is not None:
                scalar(name, nonnegative(name, getattr(self, name)))
        if self.watchdog is not None:
            scalar(
                "watchdog",
                number(
                    "watchdog",
                    positive("watchdog", self.watchdog),
                    most=1e5,
                    expected="seconds, at most 100,000",
                ),
            )


@dataclass(frozen=True)
class Hpcc:
    """HPCC's senders: the utilisation `eta` they steer to, the additive `increase` R_AI in bytes/s,
    and `max_stage`; see `congestion.hpcc`.

    >>> Hpcc(eta=0.9).max_stage
    5
    """

    eta: float = 0.95
    increase: float = 50 * Mbps
    max_stage: int = 5

    def __post_init__(self):
        scalar(
            "eta",
            number(
                "eta",
                self.eta,
                least=1e-6,
                most=1.0,
                expected="one number, more than 0 and at most 1",
            ),
        )
        scalar("increase", nonnegative("increase", self.increase))
        scalar("max_stage", count("max_stage", self.max_stage, least=0))
