"""Ports: queues, buffers, pauses and wires."""

import numpy as np

from fabriclab.packets.engine.events import push
from fabriclab.packets.engine.lines import arbitrate, chance, charge, choose, join, spoilt
from fabriclab.packets.engine.receivers import receive
from fabriclab.packets.engine.records import (
    ARRIVE,
    CREDIT,
    CUT,
    DCQCN,
    FREE,
    HASH,
    HPCC,
    PAUSE,
    RESUME,
    WATCH,
    compiled,
)
from fabriclab.packets.engine.senders import inject, offer, release


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
    setup, port, packet = s.setup[0], s.ports[p], s.packets[k]
    lasts = max(1, round(packet.size * port.per_byte))
    if setup.link_retry:  # the other end asks, and all from this packet on goes again, in order
        again = lasts + 2 * port.delay
        while spoilt(s, packet.size):
            lasts += again
            port.retried += 1
    packet.port = p
    packet.back += port.delay
    wire.free_at = clock.now + lasts
    port.busy += lasts
    port.carried += packet.size
    clock.moved = clock.now
    if setup.lanes > 1:
        charge(s, p, packet.size)
    if setup.credits:
        port.credit -= 1
        if port.credit == 0:
            pause(s, p, 1)
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
    if packet.note and port.ahead >= setup.per_packet and s.packets[port.cut_end].after >= 0:
        last = s.packets[port.cut_end]  # enough headers: the first whole packet's turn
        k = last.after
        packet = s.packets[k]
        last.after = packet.after
        if port.tail == k:
            port.tail = port.cut_end
    else:
        port.head = packet.after
    if setup.trim:
        port.ahead = port.ahead + 1 if packet.note else 0
    leave(s, p, k)
    if setup.control == DCQCN and port.queue > setup.kmin:
        ramp = setup.pmax * (port.queue - setup.kmin) / (setup.kmax - setup.kmin)
        packet.marked |= port.queue > setup.kmax or chance(s) < ramp
    elif setup.control == HPCC:
        stamp = s.told[k, packet.hop - s.given[packet.flow].via - 1]
        stamp.queue, stamp.carried, stamp.time, stamp.per_byte = (
            port.queue,
            packet.size,
            s.clock[0].now,
            port.per_byte,
        )
        for lane in range(setup.lanes):
            stamp.carried += s.ports[port.wire + lane].carried
    return k


@compiled
def leave(s, p, k):
    """Packet k gives up its buffer at port p; the cable that brought it may be resumed. Headers
    have a small memory of their own, which is not counted."""
    packet = s.packets[k]
    if s.ports[p].cut_end == k:
        s.ports[p].cut_end = -1
    give_back(s, k)
    if packet.note:
        return
    s.ports[p].queue -= packet.size
    s.used[s.ports[p].owner, s.ports[p].lane] -= packet.size
    cable = s.ports[packet.port]
    cable.held -= packet.size
    if cable.stopping and cable.held <= cable.xon:
        cable.stopping = 0
        push(s, s.clock[0].now + cable.delay, RESUME, packet.port)


@compiled
def give_back(s, k):
    """The place that packet k took at the far end of its cable is free: the near end is told."""
    if s.setup[0].credits:
        p = s.packets[k].port
        push(s, s.clock[0].now + s.ports[p].delay, CREDIT, p)


@compiled
def credit(s, p):
    """Port p may send one packet more."""
    s.ports[p].credit += 1
    return pause(s, p, 0) if s.ports[p].paused else -1


@compiled
def arrive(s, k):
    """The last bit of packet k is in: at its target, or at a switch, which stores it, drops it, and
    may ask for a pause.
    """
    setup, packet = s.setup[0], s.packets[k]
    cable = s.ports[packet.port]
    at = cable.peer
    if setup.spoilt < 0 and not setup.link_retry and spoilt(s, packet.size):
        give_back(s, k)
        drop(s, k)
        return -1
    if at == s.given[packet.flow].target:
        give_back(s, k)
        receive(s, k)
        return -1
    pfc = setup.pfc
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
    if lost and not setup.trim:
        give_back(s, k)
        drop(s, k)
        return -1
    if setup.routing == HASH:
        packet.hop += 1
        p = np.int64(s.via[packet.hop])
    else:
        p = choose(s, packet.flow, at)
    port = s.ports[p]
    if setup.trim and not packet.note and (lost or port.queue + packet.size > setup.above):
        trim(s, k)
    if port.head < 0:
        join(s, p)
    before = port.cut_end if packet.note else (port.tail if port.head >= 0 else -1)
    if before < 0:
        packet.after = port.head
        port.head = k
    else:
        packet.after = s.packets[before].after
        s.packets[before].after = k
    if packet.after < 0:
        port.tail = k
    if packet.note:
        port.cut_end = k
        return p
    port.queue += packet.size
    port.peak = max(port.peak, port.queue)
    s.used[at, cable.lane] += packet.size
    cable.held += packet.size
    return p


@compiled
def trim(s, k):
    """Nothing but the header of packet k goes on."""
    packet, flow = s.packets[k], s.flows[s.packets[k].flow]
    left = min(packet.size, s.setup[0].trim)
    flow.dropped += packet.size - left
    s.ports[packet.port].dropped += packet.size - left
    packet.size, packet.note = left, CUT
    flow.trimmed += 1


@compiled
def drop(s, k):
    packet = s.packets[k]
    s.flows[packet.flow].dropped += packet.size
    s.ports[packet.port].dropped += packet.size
    release(s, k)


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
            drop(s, k)
            clock.moved = clock.now
    push(s, due, WATCH, p)
