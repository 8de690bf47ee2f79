"""Where a packet goes next, and who is next on a wire."""

import numpy as np

from fabriclab.packets.engine.records import FLOWLET, SPRAY, compiled


@compiled
def chance(s):
    """A number from 0 to 1 (xorshift64), the same in every run of one seed."""
    clock = s.clock[0]
    clock.random ^= clock.random << np.uint64(13)
    clock.random ^= clock.random >> np.uint64(7)
    clock.random ^= clock.random << np.uint64(17)
    return (clock.random >> np.uint64(11)) / 9007199254740992.0


@compiled
def spoilt(s, size):
    """Whether bit errors spoil a packet of so many bytes on one cable."""
    return chance(s) < -np.expm1(size * s.setup[0].spoilt)


@compiled
def choose(s, f, at):
    """The port by which a packet of flow f leaves vertex `at`, among those of its lane on shortest
    paths: any of them, the emptiest, or the one it took last, unless that was too long ago.
    """
    given, way = s.given[f], s.ways[f]
    if at == given.source:
        first, ways = way.up, way.ups
    elif at == way.home:
        first, ways = way.down, way.downs
    else:
        first = s.first[way.row, at - s.setup[0].hosts]
        ways = s.first[way.row, at - s.setup[0].hosts + 1] - first
    if ways == 1:
        return np.int64(s.choices[first] + given.lane)
    now = s.clock[0].now
    if s.setup[0].routing == FLOWLET:
        last = s.left[f, at]
        ago, last.time = now - last.time, now
        if last.known and ago < s.setup[0].gap:
            return np.int64(last.port)
    pick = np.int64(chance(s) * ways)
    best = np.int64(s.choices[first + pick] + given.lane)
    if s.setup[0].routing != SPRAY:
        least = np.inf
        for i in range(ways):
            p = np.int64(s.choices[first + (pick + i) % ways] + given.lane)
            port = s.ports[p]
            load = port.queue * port.per_byte + max(0, s.ports[port.wire].free_at - now)
            if load < least:
                least, best = load, p
    if s.setup[0].routing == FLOWLET:
        s.left[f, at].port, s.left[f, at].known = best, 1
    return best


@compiled
def join(s, p):
    """Of equals, port p is the last: it was served, or has something again."""
    if s.setup[0].lanes > 1:
        s.ports[p].turn = s.clock[0].turns
        s.clock[0].turns += 1


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
