"""Senders: turns and pace, retransmission, timers."""

import numpy as np

from fabriclab.packets.engine.events import push
from fabriclab.packets.engine.lines import choose, join
from fabriclab.packets.engine.rates import climb, cut, steer
from fabriclab.packets.engine.records import (
    ACK,
    CLIMB,
    CNP,
    DCQCN,
    FORGET,
    HASH,
    HPCC,
    MISSING,
    NACK,
    PLAIN,
    READY,
    TIMEOUT,
    WANTED,
    compiled,
)


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
    given = s.given[f]
    p = np.int64(s.via[given.via]) if s.setup[0].routing == HASH else choose(s, f, given.source)
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
    if k >= 0:
        clock.spare = s.packets[k].after
    else:
        k = clock.fresh
        clock.fresh += 1
    packet = s.packets[k]
    clock.spares -= 1
    packet.flow, packet.number, packet.size = f, number, size
    packet.hop = given.via
    packet.back = packet.marked = packet.note = 0
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
