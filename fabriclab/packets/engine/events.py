"""What comes next: the earliest event, and of equal times the one that was pushed first.

A calendar wheel (Brown 1988). Time is cut into slots of 2^shift picoseconds, and one turn of the
wheel holds as many slots as there are: an event less than a turn ahead lies in the slot of its
time, in order. Two maps of bits, one for slots and one for groups of 64, lead to the next slot that
holds something. Timers further ahead, and what would have to pass many others in a crowded slot,
wait in a heap.
"""

import numpy as np

from fabriclab.packets.engine.records import WATCH, compiled

FEW = 8  # events that a heap serves sooner than a wheel does
MOST_PASSED = 24  # others that an event passes in its slot; a heap of 100,000 costs as much
ONE = np.uint64(1)
# six bits at a time, from the top, of this number's multiples by powers of two are all different
# (Leiserson, Prokop, Randall 1998)
DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
PLACE = np.zeros(64, np.int64)
PLACE[[(int(DE_BRUIJN) << i & 2**64 - 1) >> 58 for i in range(64)]] = np.arange(64)


@compiled
def push(s, time, kind, who):
    """What is pushed while one event is served is put in its place after it, by `place_all`: code
    that stands at one place in the loop, and not wherever something is pushed, compiles in half the
    time.
    """
    new = s.pushed[s.clock[0].pushed]
    new.time, new.kind, new.who = time, kind, who
    s.clock[0].pushed += 1


@compiled
def place_all(s):
    clock = s.clock[0]
    for i in range(clock.pushed):
        place(s, s.pushed[i].time, s.pushed[i].kind, s.pushed[i].who)
    clock.pushed = 0


@compiled
def place(s, time, kind, who):
    clock = s.clock[0]
    clock.events += 1
    clock.order += 1
    clock.moving += kind < WATCH
    shift = s.setup[0].shift
    ahead = (time >> shift) - (clock.now >> shift)
    if (
        clock.events <= FEW
        or ahead >= s.slots.size
        or not into_slot(s, (time >> shift) & (s.slots.size - 1), time, kind, who)
    ):
        into_heap(s, time, kind, who)


@compiled
def into_slot(s, i, time, kind, who):
    """Whether the event found its place in slot i; not where it would have to pass too many."""
    clock, slot = s.clock[0], s.slots[i]
    before, after = slot.tail, -1
    if slot.head < 0:
        before = -1
        s.bits[i >> 6] |= ONE << np.uint64(i & 63)
        s.sums[i >> 12] |= ONE << np.uint64((i >> 6) & 63)
    elif s.nodes[slot.tail].time > time:
        before, after = -1, slot.head
        passed = 0
        while s.nodes[after].time <= time:
            before, after = after, s.nodes[after].after
            passed += 1
            if passed > MOST_PASSED:
                return False
    n = clock.free_node
    if n >= 0:
        clock.free_node = s.nodes[n].after
    else:
        n = clock.fresh_node
        clock.fresh_node += 1
    node = s.nodes[n]
    node.time, node.order, node.kind, node.who, node.after = time, clock.order, kind, who, after
    if before < 0:
        slot.head = n
    else:
        s.nodes[before].after = n
    if after < 0:
        slot.tail = n
    return True


@compiled
def into_heap(s, time, kind, who):
    clock, heap = s.clock[0], s.heap
    at = clock.timers
    clock.timers += 1
    while at > 0 and heap[(at - 1) >> 1].time > time:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at].time, heap[at].order, heap[at].kind, heap[at].who = time, clock.order, kind, who


@compiled
def lowest(word):
    """The place of the lowest bit that is set; there must be one."""
    return PLACE[((word & (~word + ONE)) * DE_BRUIJN) >> np.uint64(58)]


@compiled
def next_slot(s):
    """The first slot from now on that holds something; there must be one."""
    start = (s.clock[0].now >> s.setup[0].shift) & (s.slots.size - 1)
    word = start >> 6
    rest = s.bits[word] >> np.uint64(start & 63)
    if rest:
        return start + lowest(rest)
    group = word >> 6
    # a shift by 64 is none: shift twice
    rest = (s.sums[group] >> np.uint64(word & 63)) >> ONE
    if rest:
        word += 1 + lowest(rest)
    else:
        group = (group + 1) & (s.sums.size - 1)
        while not s.sums[group]:
            group = (group + 1) & (s.sums.size - 1)
        word = (group << 6) + lowest(s.sums[group])
    return (word << 6) + lowest(s.bits[word])


@compiled
def peek(s):
    """The earliest time; `found` is the slot that holds it, -1 for the heap. There must be one."""
    clock = s.clock[0]
    clock.found = -1
    if clock.events == clock.timers:
        return s.heap[0].time
    i = next_slot(s)
    node = s.nodes[s.slots[i].head]
    if clock.timers > 0 and _before(s.heap[0], node):
        return s.heap[0].time
    clock.found = i
    return node.time


@compiled
def pop(s):
    """Take the event that `peek` found: (kind, who)."""
    clock = s.clock[0]
    if clock.found < 0:
        kind, who = s.heap[0].kind, s.heap[0].who
        clock.now = s.heap[0].time
        clock.timers -= 1
        sink(s.heap, clock.timers)
    else:
        i = clock.found
        slot = s.slots[i]
        n = slot.head
        node = s.nodes[n]
        kind, who = node.kind, node.who
        clock.now = node.time
        slot.head = node.after
        if slot.head < 0:
            s.bits[i >> 6] &= ~(ONE << np.uint64(i & 63))
            if not s.bits[i >> 6]:
                s.sums[i >> 12] &= ~(ONE << np.uint64((i >> 6) & 63))
        node.kind, node.after = -1, clock.free_node
        clock.free_node = n
    clock.moving -= kind < WATCH
    clock.events -= 1
    return kind, who


@compiled
def sink(heap, size):
    """The heap's last event takes the place of the first, and sinks to where it belongs."""
    last, at, child = heap[size], 0, 1
    while child < size:
        if child + 1 < size and _before(heap[child + 1], heap[child]):
            child += 1
        if not _before(heap[child], last):
            break
        heap[at] = heap[child]
        at, child = child, 2 * child + 1
    heap[at] = last


@compiled
def _before(a, b):
    return a.time < b.time or (a.time == b.time and a.order < b.order)
