"""Run the simulator, and read its tables."""

from dataclasses import dataclass

import numpy as np

from fabriclab.checks import Values, each, flag, number, positive, scalar
from fabriclab.extras import missing
from fabriclab.packets.arguments import below, bit_errors, channel, kind, one_of, seconds
from fabriclab.packets.network import PICOSECONDS, Flows, Lanes
from fabriclab.packets.settings import Credits, Hpcc, Pfc, Trim
from fabriclab.progress import Bar
from fabriclab.topology import build
from fabriclab.topology.graph import wired
from fabriclab.units import MB, Gbps, ms, ns, us

RECOVERIES = ("go-back-n", "selective")
ROUTINGS = ("hash", "spray", "adaptive", "flowlet")
EVENTS_AT_ONCE = 500_000


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """What happened. Arrays over flows, in the order given:

    `completion`: seconds from a flow's start until its last byte was there, `inf` where it never
    was; and bytes `sent` (what was sent again included), `delivered`, `discarded` by the receiver
    (double, or out of order under go-back-N),
    `dropped` by switches, `held` in the network at the end, `retransmitted`, `marked`. Exactly,
    always: ``sent = delivered + discarded + dropped + held``. `trimmed` counts packets: what is cut
    off is dropped, and the header discarded.

    Over ports, one per direction of a cable and, where there are several, per lane of it, side by
    side: `ports` (from, to),
    `lanes` (its lane), `carried` bytes, `busy` seconds, `peak` bytes queued, `pauses` and `paused`
    seconds (under credits: without any), packets `retried` by the cable's own ends. `pause_log`:
    (seconds, port, 1 for paused and 0 for resumed) in order.

    `times` of the samples, the last of them at the end of the run; `queues` {channel as watched:
    bytes at those times} and `rates` (times, watched flows) in bytes/s. So far, at those times:
    `channel_samples["carried"]`, `["dropped"]` (bytes that the channel brought to where they found
    no room) and `["paused"]` (seconds), each {channel: values}; `flow_samples["delivered"]` and
    `["dropped"]` in bytes, (times, watched flows).
    `duration` in seconds; `outcome` "finished", "out of time" or "locked": a deadlock, and then
    `waits` says which full buffer waits for which, in the form that `deadlock.Dependencies.verdict`
    takes.
    """

    flows: Flows
    completion: np.ndarray
    sent: np.ndarray
    delivered: np.ndarray
    discarded: np.ndarray
    dropped: np.ndarray
    held: np.ndarray
    retransmitted: np.ndarray
    marked: np.ndarray
    trimmed: np.ndarray
    ports: np.ndarray
    lanes: np.ndarray
    carried: np.ndarray
    busy: np.ndarray
    peak: np.ndarray
    pauses: np.ndarray
    paused: np.ndarray
    retried: np.ndarray
    pause_log: np.ndarray
    times: np.ndarray
    queues: dict
    rates: np.ndarray
    channel_samples: dict
    flow_samples: dict
    duration: float
    outcome: str
    waits: dict
    events: int

    def __repr__(self):
        done = int(np.isfinite(self.completion).sum())
        flows = f"{done:,} of {len(self.flows):,} flows complete"
        return (
            f"Run: {self.outcome}, {flows} after {self.duration:.6g} s, {int(self.dropped.sum()):,}"
            " bytes dropped"
        )


def run(
    topology,
    flows,
    *,
    packet: Values = 1000,
    delay=500 * ns,
    buffer: Values = 32 * MB,
    congestion=None,
    lanes=None,
    pfc=Pfc(),  # noqa: B008  frozen, and shown by help()
    trim=None,
    ber: Values = 0.0,
    link_retry: bool = False,
    recovery="go-back-n",
    routing="hash",
    gap=20 * us,
    timeout=4 * ms,
    until=1.0,
    sample=None,
    watch=(),
    watch_flows=(),
    seed: Values = 0,
):
    """Simulate `flows` (a `Flows`) on a `topology.Topology`, packet by packet; returns a `Run`.

    Switches store a packet, queue it at its output and forward it. All queues of a switch share
    `buffer` bytes; a packet that finds no room is dropped. `packet` is bytes, the last of a flow
    may be smaller; `delay` seconds, of every cable or one per bundle. Hosts take turns among their
    flows. What receivers answer takes the path's delays and no bandwidth.

    - `congestion`: None (line rate), `congestion.Dcqcn(...)` or `Hpcc(...)`. Of `Dcqcn`, the
      fluid's `capacity` and `packet` do not enter: those of cables and of this run do.
    - `lanes`: `Lanes(...)`, or None: one lane. Each has queues of its own, which alone mark its
      packets (HPCC's telemetry counts what the whole wire carries), is paused alone, and has an
      equal share of every `buffer`; `pfc` is for each lane.
    - `pfc`: `Pfc(...)`, `Credits(...)` instead of pauses, or None for switches that drop.
    - `trim`: `Trim(...)`: a packet without room is cut to its header, which hurries on and names
      what is missing; needs "selective", which then goes by headers and the timer, not by gaps.
    - `ber`: the bit error ratio (after FEC) of every cable. A spoilt packet is dropped; with
      `link_retry` the cable's two ends repeat it and all behind it, which keeps the order and takes
      ``2 delay`` and the packet's time for each try. Answers, pauses and credits are never spoilt.
    - `recovery`: "go-back-n" keeps nothing out of order; "selective" sends again what is missing.
      Both wait for `timeout` where nobody else tells; selective trusts gaps on "hash" only.
    - `routing`: "hash" keeps a flow on one shortest path, "spray" draws one for each packet,
      "adaptive" takes the emptiest port for each packet, and so reorders as much as spraying does.
      "flowlet" takes the emptiest port for the first packet of a burst, and the same again while a
      flow's packets come to a switch less than `gap` seconds apart: nothing is reordered where
      `gap` is longer than paths' delays differ, and a flow without pauses never moves.
      Under go-back-N "spray" and "adaptive" send most packets many times; and as a receiver asks
      once per gap (InfiniBand's rule), where the last packets of a flow were overtaken only
      `timeout` tells.

    **Not as in htsim and ns-3.** Acknowledgements, NACKs and CNPs take time and no bandwidth: in
    htsim, where 64 bytes answer each packet, a full fabric of 1,064-byte packets takes up to 6 %
    longer. A packet's buffer is free with its first bit sent, there with its last: queues are up to
    a packet shorter here, and pass fewer thresholds. htsim's receiver sends a NACK for every early
    packet and its sender obeys each, so no flow waits for a timer there: many paths under go-back-N
    end sooner. Hashes differ: which flows collide is another draw. In all of them a pause threshold
    below the marking threshold keeps DCQCN idle: queues stop growing before they are marked. For
    DCQCN to act first, choose `xoff` well above `kmin`.

    The run ends when all is delivered, when a deadlock holds, or after `until` seconds. With
    `sample` seconds, what happens to the channels in `watch`, (from, to) or (from, to, lane), and
    to the flows in `watch_flows` is recorded that often, and at the end. One seed, one run.
    Raises ValueError for what does not fit together. Sources: Zhu et al. 2015; Li et al. 2019; for
    flowlets Alizadeh et al. 2014 (CONGA) and Vanini et al. 2017 (LetFlow); IEEE 802.1Qbb and
    802.1Qaz; htsim's roce.cpp (github.com/Broadcom/csg-htsim).

    Other words: simulate packets, flows, queues, PFC, ECN, event simulation.

    >>> from fabriclab.topology import leaf_spine
    >>> from fabriclab.units import GB, us
    >>> # two flows share the one cable up
    >>> end = run(leaf_spine(2, 1, 2, 1), Flows([0, 1], [2, 3], 1 * MB))
    >>> [round(float(t) / us, 2) for t in end.completion], round(2 * MB / (50 * GB) / us)
    ([42.04, 42.06], 40)
    """
    try:  # numba is slow to import, and only a run needs it
        from fabriclab.packets import tables
        from fabriclab.packets.engine import records
        from fabriclab.packets.engine.loop import advance
    except ModuleNotFoundError as fault:
        raise missing(fault) from None

    topology = wired("topology", topology)
    if not isinstance(flows, Flows):
        raise ValueError(
            f"flows must be packets.Flows(source, target, size), not {type(flows).__name__}"
        )
    lanes = Lanes() if lanes is None else lanes
    if not isinstance(lanes, Lanes):
        raise ValueError(f"lanes must be packets.Lanes(...) or None, not {lanes!r}")
    if flows.lane.max() >= len(lanes.weights):
        raise ValueError(
            f"lane must be below {len(lanes.weights)}, as many as `lanes` has weights, not"
            f" {flows.lane.max()}"
        )
    whole = {"expected": "a whole number of bytes", "whole": True}
    settings = {
        "packet": int(scalar("packet", number("packet", packet, least=1, most=1e9, **whole))),
        "buffer": int(scalar("buffer", number("buffer", buffer, least=0, most=1e15, **whole))),
        "delay": delay,
        "control": congestion,
        "kind": kind(congestion, records),
        "lanes": lanes,
        "pfc": pfc,
        "trim": trim,
        "link_retry": flag("link_retry", link_retry),
        "selective": one_of("recovery", recovery, RECOVERIES) == 1,
        "routing": one_of("routing", routing, ROUTINGS),
        "gap": seconds("gap", gap),
        "timeout": seconds("timeout", timeout),
        "until": seconds("until", until),
        "sample": None if sample is None else seconds("sample", sample),
        "watch": tuple(channel(c, lanes) for c in each("watch", watch)),
        "watch_flows": tuple(
            below("watch_flows", scalar("watch_flows", f), len(flows))
            for f in each("watch_flows", watch_flows)
        ),
        "seed": int(
            scalar(
                "seed",
                number(
                    "seed",
                    seed,
                    least=0,
                    most=2**53,
                    expected="a whole number, 0 or more",
                    whole=True,
                ),
            )
        ),
    }
    settings["ber"] = bit_errors(ber, settings["packet"])
    if not isinstance(pfc, (Pfc, Credits, type(None))):
        raise ValueError(f"pfc must be packets.Pfc(...), packets.Credits(...) or None, not {pfc!r}")
    if not isinstance(trim, (Trim, type(None))):
        raise ValueError(f"trim must be packets.Trim(...) or None, not {trim!r}")
    if trim and not settings["selective"]:
        raise ValueError(
            f"recovery must be 'selective' with trimming, whose headers name one packet each, not"
            f" {recovery!r}"
        )
    if isinstance(congestion, Hpcc) and routing != "hash":
        raise ValueError(
            "routing must be 'hash' under HPCC, which compares a switch with itself a round trip"
            f" earlier, not {routing!r}"
        )
    if (settings["watch"] or settings["watch_flows"]) and sample is None:
        raise ValueError("sample must be given, in seconds, to record what is watched, not None")
    state, back, cables, watched = tables.lay_out(topology, flows, **settings)
    total, bar = int(flows.size.sum()), None
    while True:
        why = advance(state, EVENTS_AT_ONCE)
        bar = bar or Bar(
            "packets"
        )  # from here on: the first stretch may have had to compile, which is no part of a run
        bar.show(int(state.clock[0]["delivered"]) / total)
        if why == records.FULL:
            state = tables.grown(state)
        elif why != records.MORE:
            break
    bar.close()
    outcome = {records.DONE: "finished", records.LATE: "out of time", records.LOCKED: "locked"}[why]

    ports, clock = state.ports, state.clock[0]
    table = {
        name: np.array(state.flows[name][back])
        for name in (
            "finished",
            "sent",
            "delivered",
            "discarded",
            "dropped",
            "again",
            "marked",
            "trimmed",
        )
    }
    at, now = slice(int(clock["samples"])), int(clock["now"])
    columns = np.cumsum([0, *map(len, watched)])

    def by_channel(samples):
        return {
            channel: samples[:, a:b].sum(axis=1)
            for channel, a, b in zip(settings["watch"], columns, columns[1:])
        }

    log = state.log[: clock["pauses"]]
    rates = state.rates[at] * PICOSECONDS
    by_port, by_flow = state.port_samples[at], state.flow_samples[at]
    if settings["kind"] == records.PLAIN:
        line = np.array(
            [
                cables.capacity[cables.owner == flows.source[f]].max()
                for f in settings["watch_flows"]
            ]
        )
        rates = np.tile(line, (at.stop, 1))
    return Run(
        flows=flows,
        completion=np.where(
            table["finished"] > 0,
            (table["finished"] - state.given["start"][back]) / PICOSECONDS,
            np.inf,
        ),
        held=tables.held(state)[back],
        retransmitted=table["again"],
        trimmed=table["trimmed"],
        **{name: table[name] for name in ("sent", "delivered", "discarded", "dropped", "marked")},
        ports=np.column_stack([ports["owner"], ports["peer"]]),
        lanes=ports["lane"].copy(),
        busy=(ports["busy"] - tables.unsent(state)) / PICOSECONDS,
        paused=(ports["paused_for"] + np.where(ports["paused"] == 1, now - ports["paused_at"], 0))
        / PICOSECONDS,
        **{name: ports[name].copy() for name in ("carried", "peak", "pauses", "retried")},
        pause_log=np.column_stack([log["time"] / PICOSECONDS, log["port"], log["on"]]),
        times=state.times[at] / PICOSECONDS,
        queues=by_channel(state.queues[at]),
        rates=rates,
        channel_samples={
            "carried": by_channel(by_port["carried"]),
            "dropped": by_channel(by_port["dropped"]),
            "paused": by_channel(by_port["paused"] / PICOSECONDS),
        },
        flow_samples={name: by_flow[name].copy() for name in ("delivered", "dropped")},
        duration=now / PICOSECONDS,
        outcome=outcome,
        waits=tables.waits(state) if outcome == "locked" else {},
        events=int(clock["order"] - clock["events"]),
    )


def incast(
    senders: Values,
    size: Values = 2 * MB,
    bandwidth: Values = 100 * Gbps,
    packet: Values = 1000,
    apart: Values | None = None,
    **options,
):
    """`senders` hosts on one switch send `size` bytes each to host 0; the `Run`. Further options
    are `run`'s.

    At best it takes ``N S / C``. The hosts are vertices 0 (the target) to N, the switch is vertex N
    + 1, the port to watch (N + 1, 0). Senders begin `apart` seconds after one another; without it,
    within one packet's time, evenly: no two real hosts begin at the same instant.

    Other words: many to one, simulate, drops, pauses, buffer.

    >>> from fabriclab.units import us
    >>> end = incast(15)
    >>> round(end.duration / us), round(15 * 2 * MB / (100 * Gbps) / us)
    (2401, 2400)
    """
    senders = int(
        scalar(
            "senders",
            number(
                "senders",
                senders,
                least=1,
                most=1e6,
                expected="a whole number, 1 or more",
                whole=True,
            ),
        )
    )
    packet = scalar(
        "packet",
        number("packet", packet, least=1, most=1e9, expected="a whole number of bytes", whole=True),
    )
    bandwidth = scalar("bandwidth", positive("bandwidth", bandwidth))
    size = positive("size", size)
    if np.shape(size) not in ((), (senders,)):
        raise ValueError(f"size must be one number or {senders}, not of shape {np.shape(size)}")
    switch = build(senders + 1, radix=senders + 1, bandwidth=bandwidth)
    if apart is None:
        start = np.arange(senders) / senders * packet / bandwidth
    else:
        most = 1e5 / max(senders - 1, 1)
        wanted = f"from 0 to {most:g} seconds"
        apart = scalar("apart", number("apart", apart, least=0.0, most=most, expected=wanted))
        start = np.arange(senders) * apart
    return run(switch, Flows(np.arange(1, senders + 1), 0, size, start), packet=packet, **options)
