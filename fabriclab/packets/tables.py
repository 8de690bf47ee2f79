"""The simulator's tables: laid out before a run, made longer during it, counted after it."""

import numpy as np

from fabriclab.congestion import pfc_headroom
from fabriclab.packets import engine
from fabriclab.packets.network import PICOSECONDS, choices, longest, picoseconds, wires

MOST_PACKETS = 1_000_000_000


def lay_out(
    topology,
    flows,
    *,
    packet,
    delay,
    buffer,
    control,
    kind,
    lanes,
    pfc,
    selective,
    routing,
    timeout,
    until,
    sample,
    watch,
    watch_flows,
    seed,
):
    """(the `State` before the first event, order in which flows start, `Wires`, ports that each
    watched channel has).

    The port of cable c and lane l is c L + l.
    """
    cables = wires(topology, delay)
    row, first, chosen = choices(topology, cables, flows)
    links, trip = longest(cables, flows, row, first, chosen, packet)
    count, buffer = len(lanes.weights), buffer // len(lanes.weights)
    draw = np.random.default_rng(seed)
    order = np.argsort(flows.start, kind="stable")

    setup = np.zeros(1, engine.SETUP)
    times = {
        "timeout": timeout,
        "until": until,
        "sample": sample or 0.0,
        "watchdog": pfc.watchdog or 0.0 if pfc else 0.0,
    }
    values = {name: picoseconds(name, value) for name, value in times.items()}
    values |= {
        "lanes": count,
        "packet": packet,
        "routing": routing,
        "in_order": routing == engine.HASH,
        "selective": selective,
    }
    values |= {"pfc": pfc is not None, "control": kind}
    values["margin"] = (
        int(np.bincount(cables.owner).max()) + 8
    )  # a watchdog may resume every cable of a switch at once
    if kind == engine.DCQCN:
        values |= {
            name: picoseconds(name, getattr(control, name))
            for name in ("cut_every", "alpha_every", "timer")
        }
        values |= {
            name: getattr(control, name)
            for name in ("byte_counter", "fast_steps", "kmin", "kmax", "pmax", "gain")
        }
        values |= {"increase": control.increase / PICOSECONDS, "slowest": 1e-4}
    elif kind == engine.HPCC:
        values |= {
            "eta": control.eta,
            "max_stage": control.max_stage,
            "trip": trip * PICOSECONDS,
            "window_increase": control.increase * trip,
        }
    for name, value in values.items():
        setup[name] = value

    ports = _ports(cables, packet, buffer, lanes, pfc, topology)
    chosen = chosen * count
    given = _given(flows, order, row, packet, draw)
    controls = np.zeros(len(flows) if kind else 1, engine.CONTROL)
    line = ports["per_byte"][chosen[first[row, flows.source]]][order]
    controls["rate"] = controls["target"] = controls["line"] = 1 / line if kind else 0.0
    controls["alpha"] = controls["used"] = 1.0
    controls["window"] = controls["reference"] = controls["line"] * trip * PICOSECONDS

    clock = np.zeros(1, engine.CLOCK)
    for name, value in {
        "unfinished": len(flows),
        "line": -1,
        "spare": -1,
        "random": draw.integers(1, 2**63),
    }.items():
        clock[name] = value
    watched = [
        np.add.outer(count * cables.between(*ends[:2]), ends[2:] or np.arange(count)).ravel()
        for ends in watch
    ]
    rank = np.empty(len(flows), np.int64)
    rank[order] = np.arange(len(flows))
    stamps = links if kind == engine.HPCC else 1
    sampled = len(watch_flows) if kind else 0
    state = engine.State(
        setup=setup,
        clock=clock,
        heap=np.zeros(1024 + setup["margin"][0], engine.EVENT),
        ports=ports,
        given=given,
        flows=np.zeros(len(flows), engine.FLOW),
        control=controls,
        packets=np.zeros(0, engine.PACKET),
        told=np.zeros((0, stamps), engine.STAMP),
        heard=np.zeros((len(flows) if kind == engine.HPCC else 1, stamps), engine.STAMP),
        got=np.zeros(given["packets"].sum() if selective else 1, np.uint8),
        used=np.zeros((topology.vertices, count), np.int64),
        size=np.full(topology.vertices, buffer, np.int64),
        first=first,
        choices=chosen,
        log=np.zeros(64, engine.PAUSED),
        watch=np.concatenate([np.zeros(0, np.int64), *watched]),
        watch_flows=rank[list(watch_flows)[:sampled]],
        times=np.zeros(64, np.int64),
        queues=np.zeros((64, sum(map(len, watched))), np.int64),
        rates=np.zeros((64, sampled)),
    )
    if sample:
        state.heap[0], clock["events"] = (0, 0, engine.SAMPLE, 0), 1
    return state, order, cables, watched


def _ports(cables, packet, buffer, lanes, pfc, topology):
    """The ports; `buffer` is a switch's, for one lane."""
    table = np.zeros((cables.owner.size, len(lanes.weights)), engine.PORT)  # a row per wire
    for name in ("head", "ready"):
        table[name] = -1
    table["lane"] = np.arange(len(lanes.weights))
    table["cost"], table["rank"] = 1 / np.array(lanes.weights), len(lanes.strict)
    for rank, lane in enumerate(lanes.strict):
        table["cost"][:, lane], table["rank"][:, lane] = 0.0, rank
    columns = {
        "wire": np.arange(table.size)[:: table.shape[1]],
        "owner": cables.owner,
        "peer": cables.peer,
        "per_byte": PICOSECONDS / cables.capacity,
    }
    picoseconds("packet", packet / cables.capacity)  # a link too slow to count
    columns |= {"delay": picoseconds("delay", cables.delay)} | (
        _thresholds(cables, packet, buffer, pfc, topology) if pfc else {}
    )
    for name, column in columns.items():
        table[name] = np.reshape(column, (-1, 1))
    return table.ravel()


def _thresholds(cables, packet, buffer, pfc, topology):
    """What each cable may hold in the switch it leads to, in one lane: `xoff`, `xon` and `room`."""
    headroom = (
        np.ceil(pfc_headroom(cables.capacity, 2 * cables.delay, packet, response=0, mac_phy=0))
        if pfc.headroom is None
        else np.full(cables.peer.size, pfc.headroom)
    )
    forwards = np.ones(topology.vertices, bool)
    forwards[: topology.hosts] = topology.direct
    reserved, into = (
        np.bincount(cables.peer, headroom, topology.vertices),
        np.maximum(np.bincount(cables.peer, minlength=topology.vertices), 1),
    )
    share = np.where(forwards, (buffer - reserved) / into, buffer)
    if pfc.xoff is None and share.min() < packet:
        worst = int(share.argmin())
        needs = (
            f"the headroom of {into[worst]} cables, {reserved[worst]:,.0f} bytes, and a packet for"
            " each"
        )
        raise ValueError(
            f"buffer must hold {needs}, not {buffer:,.0f} bytes in all, or in each lane"
        )
    xoff = np.floor(share[cables.peer] if pfc.xoff is None else pfc.xoff)
    xon = np.floor(np.maximum(0, xoff - 2 * packet) if pfc.xon is None else pfc.xon)
    if np.any(xon > xoff):
        raise ValueError(
            f"xon must be at most xoff = {np.min(xoff):,.0f} bytes, not {pfc.xon:,.0f}"
        )
    return {"xoff": xoff, "xon": xon, "room": xoff + headroom}


def _given(flows, order, row, packet, draw):
    given = np.zeros(len(flows), engine.MESSAGE)
    packets = -(-flows.size // packet)
    if packets.sum() > MOST_PACKETS:
        raise ValueError(
            f"size must come to at most {MOST_PACKETS:,} packets in all, not {packets.sum():,}"
        )
    start = picoseconds("start", flows.start)
    columns = {
        "row": row,
        "lane": flows.lane,
        "source": flows.source,
        "target": flows.target,
        "size": flows.size,
        "packets": packets,
        "start": start,
    }
    for name, column in columns.items():
        given[name] = column[order]
    given["first"] = np.cumsum(given["packets"]) - given["packets"]
    given["label"] = draw.integers(0, 2**63, len(flows))
    return given


def grown(s):
    """The same state in tables twice as long, whichever of them are nearly full."""
    clock, setup = s.clock[0], s.setup[0]
    longer = {}

    def twice(name):
        old = getattr(s, name)
        longer[name] = np.concatenate(
            [old, np.zeros((max(64, len(old)), *old.shape[1:]), old.dtype)]
        )

    if clock["events"] + setup["margin"] > s.heap.size:
        twice("heap")
    if clock["pauses"] + 1 > s.log.size:
        twice("log")
    if clock["samples"] + 1 > s.times.size:
        for name in ("times", "queues", "rates"):
            twice(name)
    if clock["spares"] < 2:
        twice("packets")
        old, new = len(s.packets), len(longer["packets"])
        longer["told"] = np.zeros(
            (new, s.told.shape[1]) if setup["control"] == engine.HPCC else (1, 1), engine.STAMP
        )
        longer["told"][: len(s.told)] = s.told
        longer["packets"]["after"][old:] = [*range(old + 1, new), clock["spare"]]
        clock["spare"], clock["spares"] = old, clock["spares"] + new - old
    return s._replace(**longer)


def unsent(s):
    """Picoseconds of each port's transmission under way that are still to come."""
    events, rest = s.heap[: s.clock[0]["events"]], np.zeros(s.ports.size, np.int64)
    coming = events[events["kind"] == engine.ARRIVE]
    port = s.packets["port"][coming["who"]]
    np.add.at(
        rest, port, np.maximum(0, coming["time"] - s.ports["delay"][port] - s.clock[0]["now"])
    )
    return rest


def waiting(s, p):
    """Packets in line at port p, first to last."""
    line, k = [], int(s.ports[p]["head"])
    while k >= 0:
        line.append(k)
        k = int(s.packets[k]["after"])
    return line


def held(s):
    """Bytes of each flow in the network, counted packet by packet:
    in every line and on every wire.
    """
    events = s.heap[: s.clock[0]["events"]]
    found = events["who"][events["kind"] == engine.ARRIVE].tolist()
    for p in np.flatnonzero(s.ports["head"] >= 0):
        found += waiting(s, p)
    bytes_of = np.zeros(s.flows.size, np.int64)
    np.add.at(bytes_of, s.packets["flow"][found], s.packets["size"][found])
    return bytes_of


def waits(s):
    """Which full buffer waits for which: the channel that brought a packet, and the paused channel
    at which it stands.
    """
    found = {}
    for p in np.flatnonzero((s.ports["head"] >= 0) & (s.ports["paused"] == 1)):
        for k in waiting(s, p):
            cable = s.ports[s.packets[k]["port"]]
            if cable["stopping"]:
                found.setdefault(channel(cable), channel(s.ports[p]))
    return found


def channel(port):
    return int(port["owner"]), int(port["peer"]), int(port["lane"])
