"""The run: one event after the other, and samples."""

import hashlib
from pathlib import Path

from numba import njit

from fabriclab.packets.engine.events import peek, place_all, pop, push
from fabriclab.packets.engine.ports import arrive, credit, pause, serve, watch
from fabriclab.packets.engine.rates import tick
from fabriclab.packets.engine.records import (
    ARRIVE,
    CLIMB,
    CREDIT,
    DONE,
    FEEDBACK,
    FORGET,
    FREE,
    FULL,
    LATE,
    LOCKED,
    MORE,
    OPTIONS,
    PAUSE,
    PLAIN,
    READY,
    RESUME,
    SAMPLE,
    TIMEOUT,
    WATCH,
    compiled,
)
from fabriclab.packets.engine.senders import begin, expire, hear, line_up

FOREVER = 2**62


@compiled
def record(s):
    """Write down a sample."""
    clock, at = s.clock[0], s.clock[0].samples
    s.times[at] = clock.now
    for i in range(s.watch.size):
        port, into = s.ports[s.watch[i]], s.port_samples[at, i]
        s.queues[at, i] = port.queue
        into.carried, into.dropped = port.carried, port.dropped
        into.paused = port.paused_for + port.paused * (clock.now - port.paused_at)
    for i in range(s.watch_flows.size):
        flow, into = s.flows[s.watch_flows[i]], s.flow_samples[at, i]
        into.delivered, into.dropped = flow.delivered, flow.dropped
        if s.setup[0].control != PLAIN:
            s.rates[at, i] = s.control[s.watch_flows[i]].rate
    clock.samples += 1


@compiled
def room(s):
    """How many events will find room in every table for what they lead to."""
    clock, margin = s.clock[0], s.setup[0].margin
    queued = min(s.heap.size - clock.timers, s.nodes.size - clock.events + clock.timers) // margin
    noted = min((s.log.size - clock.pauses) // 2, s.times.size - clock.samples - 1)
    return max(0, min(queued, noted, clock.spares - 1))


@compiled
def happen(s, most):  # noqa: C901  a table of events
    """Let up to `most` events happen, and say why it ended: MORE to come, DONE, LATE, LOCKED, or a
    table is FULL.
    """
    clock, setup, why, left = s.clock[0], s.setup[0], MORE, 0
    for _ in range(most):
        if left == 0:
            left = room(s)
            if left == 0:
                return FULL
        left -= 1
        if clock.unfinished == 0:
            why = DONE
            break
        soon = peek(s) if clock.events > 0 else FOREVER
        starts = clock.started < s.flows.size and s.given[clock.started].start <= soon
        if (s.given[clock.started].start if starts else soon) > setup.until:
            why = LATE
            break
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
        elif kind == CREDIT:
            port = credit(s, who)
        elif kind == WATCH:
            watch(s, who)
        elif kind == CLIMB or kind == FORGET:
            tick(s, who, kind)
        elif kind == SAMPLE:
            record(s)
            push(s, clock.now + setup.sample, SAMPLE, 0)
        elif kind == TIMEOUT:
            port = expire(s)
            # nothing moves, and every timer had its say: what is held now is held for ever
            quiet = clock.now - clock.moved > 3 * (setup.timeout + setup.watchdog)
            if quiet and clock.moving == 0 and clock.started == s.flows.size:
                why = LOCKED
                break
        if port >= 0:
            serve(s, port)
        place_all(s)
    if why != MORE and setup.sample > 0 and (s.times[clock.samples - 1] < clock.now):
        record(s)  # how it ended
    return why


def _keyed(sources):
    """`advance`, compiled: from the disk where there is a folder that keeps it between processes.

    To see whether what it kept is still good, numba looks at the date of this file alone, though
    code of the other files lies in it; but also at what a function encloses: `sources`, a number
    made from all of them.
    """

    def advance(s, most):
        _ = sources
        return happen(s, most)

    advance.__doc__ = happen.__doc__
    try:
        return njit(cache=True, **OPTIONS)(advance)
    except RuntimeError:  # no such folder: compile in every process
        return njit(**OPTIONS)(advance)


def _number_of(files):
    text = b"".join(path.read_bytes() for path in sorted(files))
    return int.from_bytes(hashlib.sha256(text).digest()[:7], "big")


advance = _keyed(_number_of(Path(__file__).parent.glob("*.py")))
