"""Receivers: what is kept, and what the sender is told."""

from fabriclab.packets.engine.events import push
from fabriclab.packets.engine.records import (
    ACK,
    CNP,
    CUT,
    FEEDBACK,
    GOT,
    HPCC,
    NACK,
    WANTED,
    compiled,
)
from fabriclab.packets.engine.senders import release


@compiled
def receive(s, k):
    """Packet k at its target: kept or not, and what has to be told to the sender travels back with
    it.
    """
    clock, setup, packet = s.clock[0], s.setup[0], s.packets[k]
    flow = s.flows[packet.flow]
    number, note = packet.number, 0  # `beyond` is one past the highest number seen
    if packet.note & CUT:  # just this one is missing, whatever its place
        kept, packet.about, packet.number = False, number, number + 1
        note = NACK
    elif setup.selective:
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
