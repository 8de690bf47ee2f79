"""The simulator's core: a heap of events, and one function for each thing that can happen.

Everything is an integer: bytes, and picoseconds, so that equal times are equal and a run can be
repeated to the last bit.
All state lies in the tables of a `State`; numba compiles the functions, which read as Python. Where
a packet waits in line `after` names the next one, so that a line costs no memory of its own; -1 is
nobody. A port is one lane of one direction of a cable, with a queue and pauses of its own. Ports of
one wire stand side by side; the first keeps what they share.
"""

from collections import namedtuple

import numpy as np
from numba import njit

# What can happen. From WATCH on it is only a clock that ticks, whether or not anything moves.
ARRIVE, FREE, READY, PAUSE, RESUME, FEEDBACK, WATCH, CLIMB, FORGET, TIMEOUT, SAMPLE = range(11)
HASH, SPRAY, ADAPTIVE = range(3)
PLAIN, DCQCN, HPCC = range(3)
ACK, NACK, CNP = 1, 2, 4  # what a packet brings back; bits of its `note`
MISSING, GOT, WANTED = range(3)  # selective repeat: a packet not here, here, or to be sent again
MORE, DONE, LATE, LOCKED, FULL = range(5)  # why `advance` returns


def _record(integers, floats="", others=()):
    return np.dtype(
        [(n, "i8") for n in integers.split()] + [(n, "f8") for n in floats.split()] + list(others),
        align=True,
    )


EVENT = np.dtype([("time", "i8"), ("order", "i8"), ("kind", "i4"), ("who", "i4")])
CLOCK = _record(
    "now order events moving moved started unfinished spare spares line line_end pauses samples"
    " delivered turns",
    "",
    [("random", "u8")],
)
SETUP = _record(
    "lanes packet routing selective control pfc in_order timeout watchdog until sample margin "
    "cut_every alpha_every timer byte_counter fast_steps max_stage",
    "kmin kmax pmax gain increase slowest eta trip window_increase",
)
# `wire` is the first port of the wire, where `free_at`, `waking` and `begun` belong to the wire;
# `held`, `stopping`, `xoff`,
# `xon` and `room` belong to the buffer at the far end of the port's cable
PORT = _record(
    "wire lane rank owner peer delay free_at waking head tail queue ready ready_end own_turn turn"
    " paused paused_at watched held stopping xoff xon room carried busy peak pauses paused_for",
    "per_byte cost had begun",
)
MESSAGE = _record(
    "row lane source target size packets start first", "", [("label", "u8")]
)  # a flow as it was given, and as it stands:
FLOW = _record(
    "pace touched due next_cnp finished sent again delivered discarded dropped marked",
    "",
    [
        (n, "i4")
        for n in (
            "next reached received beyond acked wanted resend has_turn after later nacked".split()
        )
    ],
)
CONTROL = _record(
    "climb_due forget_due bytes byte_steps time_steps stage settled heard_any",
    "line rate target alpha window reference used",
)
PACKET = _record("flow number size port after back marked note about acked hops")
STAMP = _record(
    "queue carried time", "per_byte"
)  # in-band telemetry: what HPCC's switches write into a packet
PAUSED = _record("time port on")

# The core allocates nothing, so it needs no reference counts: without them it runs three times as
# fast. A call would hand
# over every table of the state: inlined, it is twice as fast again.
OPTIONS = {"error_model": "numpy", "_nrt": False}
compiled = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True, **OPTIONS)

# told and heard: telemetry in packets, and as senders last heard it; got: selective repeat's
# packets; used and size: each lane's
# share of every switch's buffer; first and choices: routes, see `network.choices`; log: pauses; the
# last five: what is sampled, and samples.
State = namedtuple(
    "State",
    "setup clock heap ports given flows control packets told heard got used size first choices log "
    "watch watch_flows times queues rates",
)


# ---- the heap: the earliest event first, and of equal times the one that was pushed first


@compiled
def push(s, time, kind, who):
    clock, heap = s.clock[0], s.heap
    at = clock.events
    clock.events += 1
    clock.order += 1
    clock.moving += kind < WATCH
    while at > 0 and heap[(at - 1) >> 1].time > time:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at].time, heap[at].order, heap[at].kind, heap[at].who = time, clock.order, kind, who


@compiled
def pop(s):
    clock, heap = s.clock[0], s.heap
    kind, who = heap[0].kind, heap[0].who
    clock.now = heap[0].time
    clock.moving -= kind < WATCH
    clock.events -= 1
    size, last, at, child = clock.events, heap[clock.events], 0, 1
    while child < size:
        if child + 1 < size and _before(heap[child + 1], heap[child]):
            child += 1
        if not _before(heap[child], last):
            break
        heap[at] = heap[child]
        at, child = child, 2 * child + 1
    heap[at] = last
    return kind, who


@compiled
def _before(a, b):
    return a.time < b.time or (a.time == b.time and a.order < b.order)


@compiled
def chance(s):
    """A number from 0 to 1 (xorshift64), the same in every run of one seed."""
    clock = s.clock[0]
    clock.random ^= clock.random << np.uint64(13)
    clock.random ^= clock.random >> np.uint64(7)
    clock.random ^= clock.random << np.uint64(17)
    return (clock.random >> np.uint64(11)) / 9007199254740992.0


# ---- ports


@compiled
def choose(s, f, at):
    """The port by which a packet of flow f leaves vertex `at`, among those of its lane on shortest
    paths.
    """
    given = s.given[f]
    first = s.first[given.row, at]
    ways = s.first[given.row, at + 1] - first
    if ways == 1:
        return s.choices[first] + given.lane
    if s.setup[0].routing == HASH:
        # every switch hashes for itself, or all would make the same choice and use few of the paths
        mixed = (given.label ^ np.uint64(at)) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
        return s.choices[first + np.int64((mixed >> np.uint64(32)) % np.uint64(ways))] + given.lane
    pick = np.int64(chance(s) * ways)
    best = s.choices[first + pick] + given.lane
    if s.setup[0].routing == ADAPTIVE:
        least = np.inf
        for i in range(ways):
            p = s.choices[first + (pick + i) % ways] + given.lane
            port = s.ports[p]
            load = port.queue * port.per_byte + max(0, s.ports[port.wire].free_at - s.clock[0].now)
            if load < least:
                least, best = load, p
    return best


@compiled
def serve(s, p):
    """Begin the next transmission on port p's wire, if the wire is free and something may be
    sent.
    """
    clock, wire = s.clock[0], s.ports[s.ports[p].wire]
    if wire.free_at > clock.now:
        wake(s, p)
        return
    k = -1
    while k < 0:
        p = arbitrate(s, p)
        if p < 0:
            return
        k = take(s, p)
    port, packet = s.ports[p], s.packets[k]
    lasts = max(1, round(packet.size * port.per_byte))
    packet.port = p
    packet.back += port.delay
    wire.free_at = clock.now + lasts
    port.busy += lasts
    port.carried += packet.size
    clock.moved = clock.now
    if s.setup[0].lanes > 1:
        charge(s, p, packet.size)
    push(s, wire.free_at + port.delay, ARRIVE, k)
    if not port.own_turn:
        other = offer(s, packet.flow)
        if other >= 0 and s.ports[other].wire != port.wire:
            wake(s, other)
    wake(s, p)


@compiled
def wake(s, p):
    """See to it that port p's wire looks again when it is free; a paused port looks when it is
    resumed.
    """
    wire = s.ports[s.ports[p].wire]
    if not wire.waking and arbitrate(s, p) >= 0:
        wire.waking = 1
        push(s, max(wire.free_at, s.clock[0].now), FREE, p)


@compiled
def arbitrate(s, p):
    """The port that has the next turn on port p's wire, of those that are not paused and have
    something; -1 if none has.
    """
    wire, best = s.ports[p].wire, -1
    for lane in range(s.setup[0].lanes):
        port = s.ports[wire + lane]
        if (
            not port.paused
            and (port.head >= 0 or port.ready >= 0)
            and (best < 0 or goes_before(s, wire + lane, best))
        ):
            best = wire + lane
    return best


@compiled
def goes_before(s, p, q):
    """The stricter first, then the lane that had least for its weight, and of equals the one that
    has waited longest.
    """
    one, other = s.ports[p], s.ports[q]
    if one.rank != other.rank:
        return one.rank < other.rank
    return one.had < other.had or (one.had == other.had and one.turn < other.turn)


@compiled
def charge(s, p, size):
    """Count a packet of so many bytes against port p's lane: start-time fair queueing (Goyal, Vin,
    Cheng 1996).

    A lane that was idle or paused counts from where the wire has got to: nobody saves up turns.
    """
    port, wire = s.ports[p], s.ports[s.ports[p].wire]
    wire.begun = max(wire.begun, port.had)
    port.had = wire.begun + size * port.cost
    join(s, p)


@compiled
def join(s, p):
    """Of equals, port p is the last: it was served, or has something again."""
    s.ports[p].turn = s.clock[0].turns
    s.clock[0].turns += 1


@compiled
def take(s, p):
    """The next packet of port p: from its queue, or a host's own; in turn, where a host also
    forwards. -1 if none is left.
    """
    port, k = s.ports[p], -1
    if port.ready >= 0 and (port.head < 0 or port.own_turn):
        k = inject(s, p)
        port.own_turn = 0
    if k < 0 and port.head >= 0:
        k = dequeue(s, p)
        port.own_turn = 1
    return k


@compiled
def dequeue(s, p):
    """Take the first packet of port p's queue.

    Its buffer is free from here on; marks and telemetry are written now.
    """
    setup, port = s.setup[0], s.ports[p]
    k = port.head
    packet = s.packets[k]
    port.head = packet.after
    leave(s, p, k)
    if setup.control == DCQCN and port.queue > setup.kmin:
        ramp = setup.pmax * (port.queue - setup.kmin) / (setup.kmax - setup.kmin)
        packet.marked |= port.queue > setup.kmax or chance(s) < ramp
    elif setup.control == HPCC:
        stamp = s.told[k, packet.hops]
        stamp.queue, stamp.carried, stamp.time, stamp.per_byte = (
            port.queue,
            packet.size,
            s.clock[0].now,
            port.per_byte,
        )
        for lane in range(setup.lanes):
            stamp.carried += s.ports[port.wire + lane].carried
        packet.hops += 1
    return k


@compiled
def leave(s, p, k):
    """Packet k gives up its buffer at port p; the cable that brought it may be resumed."""
    packet = s.packets[k]
    s.ports[p].queue -= packet.size
    s.used[s.ports[p].owner, s.ports[p].lane] -= packet.size
    cable = s.ports[packet.port]
    cable.held -= packet.size
    if cable.stopping and cable.held <= cable.xon:
        cable.stopping = 0
        push(s, s.clock[0].now + cable.delay, RESUME, packet.port)


@compiled
def arrive(s, k):
    """The last bit of packet k is in: at its target, or at a switch, which stores it, drops it, and
    may ask for a pause.
    """
    packet = s.packets[k]
    cable = s.ports[packet.port]
    at = cable.peer
    if at == s.given[packet.flow].target:
        receive(s, k)
        return -1
    pfc = s.setup[0].pfc
    lost = s.used[at, cable.lane] + packet.size > s.size[at] or (
        pfc and cable.held + packet.size > cable.room
    )
    # what holds nothing is never paused: nothing could leave later, and resume it
    if (
        pfc
        and not cable.stopping
        and cable.held + packet.size > cable.xoff
        and (cable.held > 0 or not lost)
    ):
        cable.stopping = 1
        push(s, s.clock[0].now + cable.delay, PAUSE, packet.port)
    if lost:
        s.flows[packet.flow].dropped += packet.size
        release(s, k)
        return -1
    p = choose(s, packet.flow, at)
    port = s.ports[p]
    packet.after = -1
    if port.head < 0:
        port.head = k
        join(s, p)
    else:
        s.packets[port.tail].after = k
    port.tail = k
    port.queue += packet.size
    port.peak = max(port.peak, port.queue)
    s.used[at, cable.lane] += packet.size
    cable.held += packet.size
    return p


@compiled
def pause(s, p, on):
    clock, port = s.clock[0], s.ports[p]
    entry = s.log[clock.pauses]
    entry.time, entry.port, entry.on = clock.now, p, on
    clock.pauses += 1
    port.paused = on
    if not on:
        port.paused_for += clock.now - port.paused_at
        return p
    port.pauses += 1
    port.paused_at = clock.now
    if s.setup[0].watchdog and not port.watched:
        port.watched = 1
        push(s, clock.now + s.setup[0].watchdog, WATCH, p)
    return -1


@compiled
def watch(s, p):
    """The watchdog: a port that stood paused for so long drops what waits there."""
    clock, port = s.clock[0], s.ports[p]
    port.watched = port.paused
    if not port.paused:
        return
    due = port.paused_at + s.setup[0].watchdog
    if due <= clock.now:
        due = clock.now + s.setup[0].watchdog
        while port.head >= 0:
            k = port.head
            port.head = s.packets[k].after
            leave(s, p, k)
            s.flows[s.packets[k].flow].dropped += s.packets[k].size
            release(s, k)
            clock.moved = clock.now
    push(s, due, WATCH, p)


# ---- senders


@compiled
def begin(s):
    """The next flow starts; timers, all of one length, wait in a line, since they run out in the
    order they were set.
    """
    clock, setup = s.clock[0], s.setup[0]
    f = clock.started
    clock.started += 1
    clock.now = s.given[f].start
    if setup.control == DCQCN:
        control = s.control[f]
        control.climb_due, control.forget_due = (
            clock.now + setup.timer,
            clock.now + setup.alpha_every,
        )
        push(s, control.climb_due, CLIMB, f)
        push(s, control.forget_due, FORGET, f)
    s.flows[f].touched = clock.now
    join_timers(s, f)
    return offer(s, f)


@compiled
def has_more(s, f):
    """Whether flow f has a packet that it may send now."""
    flow = s.flows[f]
    if flow.finished or (flow.wanted == 0 and flow.next >= s.given[f].packets):
        return False
    if s.setup[0].control == HPCC and flow.wanted == 0:
        return (flow.next - flow.acked) * s.setup[0].packet < s.control[f].window
    return True


@compiled
def offer(s, f):
    """Put flow f in line at the port of its next packet, and return the port; or, if it must wait
    or has nothing, -1.
    """
    flow = s.flows[f]
    if flow.has_turn or not has_more(s, f):
        return -1
    flow.has_turn = 1
    if flow.pace > s.clock[0].now:
        push(s, flow.pace, READY, f)
        return -1
    return line_up(s, f)


@compiled
def line_up(s, f):
    flow = s.flows[f]
    p = choose(s, f, s.given[f].source)
    port = s.ports[p]
    flow.after = -1
    if port.ready < 0:
        port.ready = f
        join(s, p)
    else:
        s.flows[port.ready_end].after = f
    port.ready_end = f
    return p


@compiled
def inject(s, p):
    """The next packet of the flow whose turn it is at port p, or -1 if none has anything left to
    send.
    """
    clock, setup, port = s.clock[0], s.setup[0], s.ports[p]
    f = port.ready
    while f >= 0:
        port.ready = s.flows[f].after
        s.flows[f].has_turn = 0
        if has_more(s, f):
            break
        f = port.ready
    if f < 0:
        return -1
    flow, given = s.flows[f], s.given[f]
    if flow.wanted > 0:
        while s.got[given.first + flow.resend] != WANTED:
            flow.resend += 1
        number = flow.resend
        s.got[given.first + number] = MISSING
        flow.wanted -= 1
    else:
        number = flow.next
        flow.next += 1
    size = min(setup.packet, given.size - number * setup.packet)
    flow.sent += size
    flow.touched = clock.now
    if number < flow.reached:
        flow.again += size
    flow.reached = max(flow.reached, number + 1)
    if setup.control != PLAIN:
        control = s.control[f]
        flow.pace = clock.now + max(1, round(size / control.rate))
        control.bytes += size
        if setup.control == DCQCN and control.bytes >= setup.byte_counter:
            control.bytes = 0
            control.byte_steps += 1
            climb(s, f)
    k = clock.spare
    packet = s.packets[k]
    clock.spare = packet.after
    clock.spares -= 1
    packet.flow, packet.number, packet.size = f, number, size
    packet.back = packet.marked = packet.note = packet.hops = 0
    return k


@compiled
def release(s, k):
    s.packets[k].after = s.clock[0].spare
    s.clock[0].spare = k
    s.clock[0].spares += 1


@compiled
def hear(s, k):
    """What packet k brought back reaches the sender."""
    packet, setup = s.packets[k], s.setup[0]
    f, note = packet.flow, packet.note
    flow = s.flows[f]
    if note & NACK and setup.selective:
        for number in range(packet.about, packet.number):
            want(s, f, number)
    elif note & NACK and packet.about >= flow.acked:
        flow.next = flow.acked = packet.about
    if note & ACK:
        flow.acked = max(flow.acked, packet.acked)
        steer(s, f, k)
    if note & CNP:
        cut(s, f)
    release(s, k)
    return offer(s, f)


@compiled
def want(s, f, number):
    flow, at = s.flows[f], s.given[f].first + number
    if s.got[at] == MISSING:
        s.got[at] = WANTED
        flow.resend = number if flow.wanted == 0 else min(flow.resend, number)
        flow.wanted += 1


@compiled
def join_timers(s, f):
    clock, flow = s.clock[0], s.flows[f]
    flow.due, flow.later = clock.now + s.setup[0].timeout, -1
    if clock.line < 0:
        clock.line = f
        push(s, flow.due, TIMEOUT, f)
    else:
        s.flows[clock.line_end].later = f
    clock.line_end = f


@compiled
def expire(s):
    """The first timer runs out.

    A flow that neither sent nor delivered meanwhile sends again what is missing.
    """
    clock, setup = s.clock[0], s.setup[0]
    while clock.line >= 0 and s.flows[clock.line].finished:
        clock.line = s.flows[clock.line].later
    if clock.line < 0:
        return -1
    f = clock.line
    flow = s.flows[f]
    if flow.due > clock.now:
        push(s, flow.due, TIMEOUT, f)
        return -1
    clock.line = flow.later
    if clock.line >= 0:
        push(s, s.flows[clock.line].due, TIMEOUT, clock.line)
    join_timers(s, f)
    if flow.touched + setup.timeout > clock.now:
        return -1
    if setup.selective:
        for number in range(flow.next):
            want(s, f, number)
    else:
        flow.next = flow.received
    flow.acked = flow.received
    return offer(s, f)


# ---- receivers


@compiled
def receive(s, k):
    """Packet k at its target: kept or not, and what has to be told to the sender travels back with
    it.
    """
    clock, setup, packet = s.clock[0], s.setup[0], s.packets[k]
    flow = s.flows[packet.flow]
    number, note = packet.number, 0  # `beyond` is one past the highest number seen
    if setup.selective:
        at = s.given[packet.flow].first + number
        kept = s.got[at] != GOT
        flow.wanted -= s.got[at] == WANTED
        s.got[at] = GOT
        # on a single path a gap is a loss; on many paths it may be a packet that was overtaken, and
        # only the timer tells
        if setup.in_order and number > flow.beyond:
            note, packet.about = NACK, flow.beyond
        flow.beyond = max(flow.beyond, number + 1)
    else:
        kept = number == flow.received
        if kept:
            flow.nacked = 0
        elif number > flow.received and not flow.nacked:
            note, packet.about, flow.nacked = NACK, flow.received, 1
    if kept:
        flow.received += 1
        flow.delivered += packet.size
        clock.delivered += packet.size
        flow.touched = clock.now
        if flow.received == s.given[packet.flow].packets:
            flow.finished = clock.now
            clock.unfinished -= 1
    else:
        flow.discarded += packet.size
    if packet.marked:
        flow.marked += packet.size
        if clock.now >= flow.next_cnp:
            note |= CNP
            flow.next_cnp = clock.now + setup.cut_every
    if setup.control == HPCC:
        note |= ACK
    if note and not flow.finished:
        packet.note, packet.acked = note, flow.received
        push(s, clock.now + packet.back, FEEDBACK, k)
    else:
        release(s, k)


# ---- DCQCN: Zhu et al. 2015, the sender's side


@compiled
def cut(s, f):
    """A congestion notification: cut the rate by alpha/2, and begin to count anew."""
    clock, setup, control = s.clock[0], s.setup[0], s.control[f]
    control.target = control.rate
    control.rate = max(setup.slowest * control.line, control.rate * (1 - control.alpha / 2))
    control.alpha = (1 - setup.gain) * control.alpha + setup.gain
    control.climb_due, control.forget_due = clock.now + setup.timer, clock.now + setup.alpha_every
    control.bytes = control.byte_steps = control.time_steps = 0


@compiled
def climb(s, f):
    """Half the way back to the target; and raise the target itself once timer or byte counter ran
    out more than F times.
    """
    setup, control = s.setup[0], s.control[f]
    if max(control.byte_steps, control.time_steps) > setup.fast_steps:
        control.target = min(control.line, control.target + setup.increase)
    control.rate = (control.rate + control.target) / 2


@compiled
def tick(s, f, kind):
    """The timers that make a sender climb, and forget how much was marked.

    A cut has put both off.
    """
    clock, setup, control = s.clock[0], s.setup[0], s.control[f]
    if s.flows[f].finished:
        return
    if kind == CLIMB:
        if control.climb_due <= clock.now:
            control.time_steps += 1
            climb(s, f)
            control.climb_due = clock.now + setup.timer
        push(s, control.climb_due, CLIMB, f)
    else:
        if control.forget_due <= clock.now:
            control.alpha *= 1 - setup.gain
            control.forget_due = clock.now + setup.alpha_every
        push(s, control.forget_due, FORGET, f)


# ---- HPCC: Li et al. 2019, algorithm 1


@compiled
def steer(s, f, k):
    """Set the window by the busiest link on the way, which is estimated from two visits to each
    switch.
    """
    setup, flow, control, packet = s.setup[0], s.flows[f], s.control[f], s.packets[k]
    busiest, between = 0.0, 0
    for hop in range(packet.hops):
        now, before = s.told[k, hop], s.heard[f, hop]
        if control.heard_any and now.time > before.time:
            rate = (now.carried - before.carried) / (now.time - before.time)
            load = (min(now.queue, before.queue) / setup.trip + rate) * now.per_byte
            if load > busiest:
                busiest, between = load, now.time - before.time
        s.heard[f, hop] = s.told[k, hop]
    if not control.heard_any:
        control.heard_any, control.settled = 1, flow.next
        return
    share = min(1.0, between / setup.trip)
    control.used = (1 - share) * control.used + share * busiest
    settle = (
        packet.number >= control.settled
    )  # this packet was sent after the last change of the reference
    if control.used >= setup.eta or control.stage >= setup.max_stage:
        window, stage = control.reference * setup.eta / control.used + setup.window_increase, 0
    else:
        window, stage = control.reference + setup.window_increase, control.stage + 1
    control.window = min(control.line * setup.trip, window)
    control.rate = control.window / setup.trip
    if settle:
        control.reference, control.stage, control.settled = control.window, stage, flow.next


# ---- the run


@compiled
def sample(s):
    clock = s.clock[0]
    at = clock.samples
    s.times[at] = clock.now
    for i in range(s.watch.size):
        s.queues[at, i] = s.ports[s.watch[i]].queue
    for i in range(s.watch_flows.size):
        s.rates[at, i] = s.control[s.watch_flows[i]].rate
    clock.samples += 1
    push(s, clock.now + s.setup[0].sample, SAMPLE, 0)


@compiled
def nearly_full(s):
    """Whether one more event might not find room for what it leads to."""
    clock, margin = s.clock[0], s.setup[0].margin
    return (
        clock.events + margin > s.heap.size
        or clock.spares < 2
        or clock.pauses + 1 > s.log.size
        or clock.samples + 1 > s.times.size
    )


def advance(s, most):  # noqa: C901  a table of events
    """Let up to `most` events happen, and say why it ended: MORE to come, DONE, LATE, LOCKED, or a
    table is FULL.
    """
    clock, setup = s.clock[0], s.setup[0]
    for _ in range(most):
        if clock.unfinished == 0:
            return DONE
        if nearly_full(s):
            return FULL
        starts = clock.started < s.flows.size and (
            clock.events == 0 or s.given[clock.started].start <= s.heap[0].time
        )
        if (s.given[clock.started].start if starts else s.heap[0].time) > setup.until:
            return LATE
        port = -1  # the port at which something may have changed
        if starts:
            port = begin(s)
            kind = -1
        else:
            kind, who = pop(s)
        if kind == ARRIVE:
            port = arrive(s, who)
        elif kind == FREE:
            port = who
            s.ports[s.ports[port].wire].waking = 0
        elif kind == READY:
            port = line_up(s, who)
        elif kind == PAUSE or kind == RESUME:
            port = pause(s, who, kind == PAUSE)
        elif kind == FEEDBACK:
            port = hear(s, who)
        elif kind == WATCH:
            watch(s, who)
        elif kind == CLIMB or kind == FORGET:
            tick(s, who, kind)
        elif kind == SAMPLE:
            sample(s)
        elif kind == TIMEOUT:
            port = expire(s)
            # nothing moves, and every timer had its say: what is held now is held for ever
            quiet = clock.now - clock.moved > 3 * (setup.timeout + setup.watchdog)
            if quiet and clock.moving == 0 and clock.started == s.flows.size:
                return LOCKED
        if port >= 0:
            serve(s, port)
    return MORE


try:
    advance = njit(cache=True, **OPTIONS)(advance)
except RuntimeError:  # no folder to keep the compiled code in: compile in every process
    advance = njit(**OPTIONS)(advance)
