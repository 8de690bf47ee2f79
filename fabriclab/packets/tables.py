"""The simulator's tables: laid out before a run, made longer during it, counted after it."""

import numpy as np

from fabriclab.congestion import pfc_headroom
from fabriclab.packets.engine import records
from fabriclab.packets.network import PICOSECONDS, picoseconds, wires
from fabriclab.packets.routes import MOST_ENTRIES, hashed, longest, routes
from fabriclab.packets.settings import Credits, Pfc

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
    trim,
    ber,
    link_retry,
    selective,
    routing,
    gap,
    timeout,
    until,
    sample,
    watch,
    watch_flows,
    seed,
):
    """(the `State` before the first event, where in its tables the flows are, `Wires`, ports that
    each watched channel has).

    The port of cable c and lane l is c L + l.
    """
    cables = wires(topology, delay)
    ways = routes(topology, cables, flows)
    links, trip = longest(cables, flows, ways, packet) if kind == records.HPCC else (1, 0.0)
    count, buffer = len(lanes.weights), buffer // len(lanes.weights)
    draw = np.random.default_rng(seed)
    order = back = slice(None)  # of a hundred thousand flows, sorting costs as much as the run
    if (flows.start[1:] < flows.start[:-1]).any():
        order = np.argsort(flows.start, kind="stable")
        back = np.argsort(order)

    setup = np.zeros(1, records.SETUP)
    times = {
        "timeout": timeout,
        "gap": gap,
        "until": until,
        "sample": sample or 0.0,
        "watchdog": pfc.watchdog or 0.0 if isinstance(pfc, Pfc) else 0.0,
    }
    values = {name: picoseconds(name, value) for name, value in times.items()}
    values |= {
        "lanes": count,
        "packet": packet,
        "routing": routing,
        "in_order": routing == records.HASH and not trim,
        "hosts": ways.hosts,
        "selective": selective,
    }
    values |= {"pfc": isinstance(pfc, Pfc), "credits": isinstance(pfc, Credits), "control": kind}
    values |= {"spoilt": 8 * np.log1p(-ber), "link_retry": link_retry and ber > 0}
    if trim:
        values |= {"trim": trim.header, "above": trim.above, "per_packet": trim.per_packet}
    values["margin"] = (
        int(np.bincount(cables.owner).max()) + 8
    )  # a watchdog may resume every cable of a switch at once
    if kind == records.DCQCN:
        values |= {
            name: picoseconds(name, getattr(control, name))
            for name in ("cut_every", "alpha_every", "timer")
        }
        values |= {
            name: getattr(control, name)
            for name in ("byte_counter", "fast_steps", "kmin", "kmax", "pmax", "gain")
        }
        values |= {"increase": control.increase / PICOSECONDS, "slowest": 1e-4}
    elif kind == records.HPCC:
        values |= {
            "eta": control.eta,
            "max_stage": control.max_stage,
            "trip": trip * PICOSECONDS,
            "window_increase": control.increase * trip,
        }
    for name, value in values.items():
        setup[name] = value

    ports = _ports(cables, packet, buffer, lanes, pfc, topology)
    given = _given(flows, order, packet)
    label = np.empty(len(flows), np.uint64)
    label[order] = draw.integers(0, 2**63, len(flows))
    controls = np.zeros(len(flows) if kind else 1, records.CONTROL)
    if kind:
        line = ports["per_byte"][ways.choices[ways.up] * count][order]
        controls["rate"] = controls["target"] = controls["line"] = 1 / line
        controls["alpha"] = controls["used"] = 1.0
        controls["window"] = controls["reference"] = controls["line"] * trip * PICOSECONDS

    if routing == records.HASH:
        begin, via, hops = hashed(cables, flows, ways, label)
        given["via"] = begin[order]
        if count > 1:
            via = via * np.int32(count) + np.repeat(flows.lane.astype(np.int32), hops)
        way, first, choices = np.zeros(1, records.WAY), np.zeros((1, 1), np.int64), via[:1]
    else:
        via, first, choices = np.zeros(1, np.int32), ways.first, ways.choices * np.int32(count)
        way = np.zeros(len(flows), records.WAY)
        for name in records.WAY.names:
            way[name] = getattr(ways, name)[order]

    # what is never used is never touched, and costs no memory
    left = (len(flows), topology.vertices) if routing == records.FLOWLET else (1, 1)
    if left[0] * left[1] > MOST_ENTRIES:
        raise ValueError(
            f"flows must be fewer than {left[0]:,} for flowlets over {left[1]:,} vertices"
        )
    room = int(np.clip(given["packets"].sum(), 1024, 65536))
    clock = np.zeros(1, records.CLOCK)
    for name, value in {
        "unfinished": len(flows),
        "spares": room,
        "line": -1,
        "spare": -1,
        "free_node": -1,
        "random": draw.integers(1, 2**63),
    }.items():
        clock[name] = value
    watched = [
        np.add.outer(count * cables.between(*ends[:2]), ends[2:] or np.arange(count)).ravel()
        for ends in watch
    ]
    shift, slots = _wheel(ports, packet)
    setup["shift"] = shift
    state = records.State(
        setup=setup,
        clock=clock,
        pushed=np.zeros(setup["margin"][0], records.PUSHED),
        heap=np.zeros(1024 + setup["margin"][0], records.EVENT),
        nodes=np.zeros(1024 + setup["margin"][0], records.NODE),
        slots=np.full(slots, -1, np.int64).view(records.SLOT),
        bits=np.zeros(slots // 64, np.uint64),
        sums=np.zeros(-(-slots // 4096), np.uint64),
        ports=ports,
        given=given,
        flows=np.zeros(len(flows), records.FLOW),
        control=controls,
        packets=np.zeros(room, records.PACKET),
        via=via,
        told=np.zeros((room if kind == records.HPCC else 1, links), records.STAMP),
        heard=np.zeros((len(flows) if kind == records.HPCC else 1, links), records.STAMP),
        got=np.zeros(given["packets"].sum() if selective else 1, np.uint8),
        used=np.zeros((topology.vertices, count), np.int64),
        size=np.full(topology.vertices, buffer, np.int64),
        ways=way,
        first=first,
        choices=choices,
        left=np.zeros(left, records.LEFT),
        log=np.zeros(64, records.PAUSED),
        watch=np.concatenate([np.zeros(0, np.int64), *watched]),
        watch_flows=np.arange(len(flows))[back][list(watch_flows)],
        times=np.zeros(64, np.int64),
        queues=np.zeros((64, sum(map(len, watched))), np.int64),
        rates=np.zeros((64, len(watch_flows))),
        port_samples=np.zeros((64, sum(map(len, watched))), records.PORT_SAMPLE),
        flow_samples=np.zeros((64, len(watch_flows)), records.FLOW_SAMPLE),
    )
    if sample:
        state.heap[0], clock["events"], clock["timers"] = (0, 0, records.SAMPLE, 0), 1, 1
    return state, back, cables, watched


def _wheel(ports, packet):
    """(shift, slots) of the wheel: see `engine.events`.

    A turn is somewhat longer than a packet takes on a usual cable. If all ports were busy, about
    three events would lie in a slot.
    """
    lasts = np.median(ports["per_byte"]) * packet
    turn = max(1.3 * (lasts + np.median(ports["delay"])), 1)
    slots = 1 << int(np.clip(np.ceil(np.log2(4 * ports.size * turn / lasts / 6)), 12, 20))
    return int(max(0, np.ceil(np.log2(turn / slots)))), slots


def _ports(cables, packet, buffer, lanes, pfc, topology):
    """The ports; `buffer` is a switch's, for one lane."""
    table = np.zeros((cables.owner.size, len(lanes.weights)), records.PORT)  # a row per wire
    for name in ("head", "ready", "cut_end"):
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
        _thresholds(cables, packet, buffer, pfc, topology) if isinstance(pfc, Pfc) else {}
    )
    if isinstance(pfc, Credits):
        columns["credit"] = _places(cables, packet, buffer, pfc, topology)
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


def _places(cables, packet, buffer, credits, topology):
    """Packets that each cable may have at its far end."""
    into = np.maximum(np.bincount(cables.peer, minlength=topology.vertices), 1)
    most = buffer // packet // into
    places = (
        most[cables.peer] if credits.packets is None else np.full(cables.peer.size, credits.packets)
    )
    if places.min() < 1 or np.any(places > most[cables.peer]):
        raise ValueError(
            f"buffer must hold one packet or more for each cable, and all that have credits, not"
            f" {buffer:,.0f} bytes in all, or in each lane, for {into.max()} cables"
        )
    return np.minimum(places, 2**31 - 1)


def _given(flows, order, packet):
    given = np.zeros(len(flows), records.MESSAGE)
    packets = -(-flows.size // packet)
    if packets.sum() > MOST_PACKETS:
        raise ValueError(
            f"size must come to at most {MOST_PACKETS:,} packets in all, not {packets.sum():,}"
        )
    start = picoseconds("start", flows.start)
    columns = {
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
    return given


def grown(s):
    """The same state in tables twice as long, whichever of them are nearly full."""
    clock, setup = s.clock[0], s.setup[0]
    longer = {}

    def twice(name):
        old = getattr(s, name)
        longer[name] = np.zeros((2 * len(old), *old.shape[1:]), old.dtype)
        row = np.dtype((np.void, old.dtype.itemsize))  # numpy copies records field by field
        longer[name].view(row)[: len(old)] = old.view(row)

    if clock["timers"] + setup["margin"] > s.heap.size:
        twice("heap")
    if clock["events"] - clock["timers"] + setup["margin"] > s.nodes.size:
        twice("nodes")
    if clock["pauses"] + 2 > s.log.size:
        twice("log")
    if clock["samples"] + 2 > s.times.size:
        for name in ("times", "queues", "rates", "port_samples", "flow_samples"):
            twice(name)
    if clock["spares"] < 2:
        twice("packets")
        old, new = len(s.packets), len(longer["packets"])
        if setup["control"] == records.HPCC:
            twice("told")
        clock["spares"] += new - old
    return s._replace(**longer)


def under_way(s):
    """(when each packet on a wire arrives, the packets)."""
    clock = s.clock[0]
    coming = [
        table[["time", "who"]][table["kind"] == records.ARRIVE]
        for table in (s.heap[: clock["timers"]], s.nodes[: clock["fresh_node"]])
    ]
    return tuple(np.concatenate([table[name] for table in coming]) for name in ("time", "who"))


def unsent(s):
    """Picoseconds of each port's transmission under way that are still to come."""
    time, packet = under_way(s)
    rest, port = np.zeros(s.ports.size, np.int64), s.packets["port"][packet]
    np.add.at(rest, port, np.maximum(0, time - s.ports["delay"][port] - s.clock[0]["now"]))
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
    found = under_way(s)[1].tolist()
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
            if cable["stopping"] or (s.setup[0]["credits"] and cable["paused"]):
                found.setdefault(channel(cable), channel(s.ports[p]))
    return found


def channel(port):
    return int(port["owner"]), int(port["peer"]), int(port["lane"])
