"""Level 4 alive: an incast, hashing, congestion control, deadlock, and fleets that fail. Floor 6."""


def incast(senders=256, rate=50e9, buffer=32e6, round_trip=5e-6, ports=None, packets=False):
    """Figure 12 alive: an incast as a fluid, and packet by packet where asked: fill, drain, loss, and whether feedback can save it."""


def hashing(flows=8, paths=4):
    """Flows hashed onto equal paths: one draw as bars, and the exact odds of the fullest path."""


def congestion_control(flows=10, rate=5e9, gain=1 / 256):
    """DCQCN and HPCC from the same start: the rates of the flows above, the queue below."""


def deadlock(network="ring"):
    """Which buffers wait for which: a ring, a torus, a tree; with a dateline or without, with few flows or many."""


def reliability(parts=24_576, mttf=2.4e6 * 3600, days=1):
    """At least one of so many parts fails; how long to the first; how often to save the state."""
