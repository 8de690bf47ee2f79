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
class Credits:
    """Credit-based flow control, instead of pauses: a port sends a packet only where it knows of a
    free place for it at the far end of its cable, and hears of each place that falls free.

    `packets`: places for each cable (and lane); None for an equal share of the buffer. A port whose
    cable takes d there and whose packets last t sends at most ``packets / (t + 2 d)`` packets a
    second. Sources: InfiniBand Architecture Specification, link layer; Ultra Ethernet
    Specification 1.0, credit-based flow control (both count blocks of bytes, not packets).

    >>> Credits(packets=40)
    Credits(packets=40)
    """

    packets: int | None = None

    def __post_init__(self):
        if self.packets is not None:
            scalar("packets", count("packets", self.packets, least=1))


@dataclass(frozen=True)
class Trim:
    """Packet trimming: a packet that finds no room, or more than `queue` bytes before it at its
    port, loses all but a header of `header` bytes.

    Headers go before whole packets of their lane, at most `per_packet` of them for each (else, when
    many send at line rate, headers alone would fill the line for ever), in a memory that no figure
    counts; the receiver asks at once for what they name. `queue`: None to cut only where the buffer
    is full. Sources: Handley et al. 2017 (NDP); Ultra Ethernet Specification 1.0, packet trimming.

    >>> Trim(queue=8 * 4096).header
    64
    """

    header: int = 64
    queue: float | None = None
    per_packet: int = 10

    def __post_init__(self):
        scalar("header", count("header", self.header, least=1))
        scalar("per_packet", count("per_packet", self.per_packet, least=1))
        if self.queue is not None:
            scalar("queue", nonnegative("queue", self.queue))

    @property
    def above(self):
        """`queue` as a number of bytes: without one, more than any buffer holds."""
        return 2**60 if self.queue is None else int(min(self.queue, 2**60))


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
