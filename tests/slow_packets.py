"""The packet simulator once more, slowly: written from `packets.run`'s docstring and the papers,
with heapq and nothing of the engine's, so that the two can be held against each other.

One lane, one given route per flow, no watchdog; senders at line rate or DCQCN. Times are whole
picoseconds, as there.
"""

import heapq
from collections import Counter, deque
from dataclasses import dataclass, field
from itertools import count, pairwise
from types import SimpleNamespace


@dataclass
class Port:
    """One direction of a cable: what waits at its near end, and what it has brought to the far."""

    delay: int
    per_byte: float
    queue: deque = field(default_factory=deque)
    turns: deque = field(default_factory=deque)  # flows of this host that want to send
    own_next: bool = False
    queued: int = 0
    free_at: int = 0
    asked: bool = False
    paused: bool = False
    ahead: int = 0  # headers since the last whole packet
    credit: int | None = None  # places left at the far end
    held: int = 0
    stopping: bool = False
    pauses: int = 0
    peak: int = 0


class Network:
    """Flows are (source, target, size, start in ps, route); cables are
    {(from, to): (delay in ps, ps per byte)}.

    `pfc` is (xoff, xon, headroom), or the places of a cable under credits, or None; `trim` is
    (header, bytes before it that a packet may find) or None; `dcqcn` a namespace of its parameters,
    in ps and bytes.
    """

    def __init__(
        self,
        cables,
        flows,
        *,
        packet,
        buffer,
        pfc,
        selective,
        timeout,
        until,
        dcqcn=None,
        trim=None,
    ):
        self.packet, self.buffer, self.pfc, self.selective = packet, buffer, pfc, selective
        self.timeout, self.dcqcn, self.trim = timeout, dcqcn, trim
        self.now, self.heap, self.order = 0, [], count()
        self.ports = {ends: Port(*values) for ends, values in cables.items()}
        if isinstance(pfc, int):
            self.pfc = None
            for port in self.ports.values():
                port.credit = pfc
        self.used, self.flows = Counter(), []
        for source, target, size, start, route in flows:
            whole, rest = divmod(size, packet)
            line = 1 / self.ports[route[0], route[1]].per_byte
            sizes = [packet] * whole + [rest] * (rest > 0)
            f = SimpleNamespace(
                source=source, target=target, start=start, sizes=sizes, hops=dict(pairwise(route)),
                next=0, lined=False, pace=0, again=set(), got=set(), expected=0, nacked=False,
                heard=0, highest=0, touched=start, end=None, next_cnp=0, line=line, rate=line,
                target_rate=line, alpha=1.0, bytes=0, byte_steps=0, time_steps=0, cuts=0,
                sent=0, delivered=0, discarded=0, dropped=0, marked=0, trimmed=0,
            )  # fmt: skip
            self.flows.append(f)
            self.at(start, self.begin, f)
        while self.heap and any(f.end is None for f in self.flows) and self.heap[0][0] <= until:
            self.now, _, call, args = heapq.heappop(self.heap)
            call(*args)

    def at(self, when, call, *args):
        heapq.heappush(self.heap, (when, next(self.order), call, args))

    # ---- ports

    def serve(self, ends):
        """Send what is next, if the wire is free and not paused."""
        port, k = self.ports[ends], None
        if port.paused or not (port.queue or port.turns):
            return
        if port.free_at > self.now:
            if not port.asked:
                port.asked = True
                self.at(port.free_at, self.freed, ends)
            return
        if port.turns and (port.own_next or not port.queue):
            k, port.own_next = self.inject(port), False
        own = k is not None
        if not own and port.queue:
            k, port.own_next = port.queue[0], True
            if k.cut and port.ahead >= 10 and not all(other.cut for other in port.queue):
                k = next(other for other in port.queue if not other.cut)
            port.queue.remove(k)
            port.ahead = port.ahead + 1 if k.cut else 0
            self.leave(ends, k)
            if self.dcqcn and port.queued > self.dcqcn.mark_above:
                k.marked = True
        if k is None:
            return
        if port.credit is not None:
            port.credit -= 1
            if port.credit == 0:
                port.paused, port.pauses = True, port.pauses + 1
        lasts = max(1, round(k.size * port.per_byte))
        port.free_at = self.now + lasts
        k.came, k.back = ends, k.back + port.delay
        self.at(port.free_at + port.delay, self.arrive, k)
        if own:
            self.offer(k.flow)
        self.serve(ends)

    def freed(self, ends):
        self.ports[ends].asked = False
        self.serve(ends)

    def leave(self, ends, k):
        cable = self.ports[k.came]
        self.credit(k)
        if k.cut:
            return
        self.ports[ends].queued -= k.size
        self.used[ends[0]] -= k.size
        cable.held -= k.size
        if cable.stopping and cable.held <= self.pfc[1]:
            cable.stopping = False
            self.at(self.now + cable.delay, self.pause, k.came, False)

    def credit(self, k):
        if self.ports[k.came].credit is not None:
            self.at(self.now + self.ports[k.came].delay, self.credited, k.came)

    def credited(self, ends):
        self.ports[ends].credit += 1
        if self.ports[ends].paused:
            self.pause(ends, False)

    def arrive(self, k):
        cable, here = self.ports[k.came], k.came[1]
        if here == k.flow.target:
            self.credit(k)
            self.receive(k)
            return
        lost = self.used[here] + k.size > self.buffer
        if self.pfc:
            xoff, _, headroom = self.pfc
            lost = lost or cable.held + k.size > xoff + headroom
            if not cable.stopping and cable.held + k.size > xoff and (cable.held or not lost):
                cable.stopping = True
                self.at(self.now + cable.delay, self.pause, k.came, True)
        ends = here, k.flow.hops[here]
        port = self.ports[ends]
        if self.trim and not k.cut and (lost or port.queued + k.size > self.trim[1]):
            left = min(k.size, self.trim[0])
            k.flow.dropped += k.size - left
            k.flow.trimmed += 1
            k.size, k.cut = left, True
        elif lost and not k.cut:
            k.flow.dropped += k.size
            self.credit(k)
            return
        if k.cut:  # behind the other headers, before all else, in a memory of their own
            port.queue.insert(sum(other.cut for other in port.queue), k)
            self.serve(ends)
            return
        port.queue.append(k)
        port.queued += k.size
        port.peak = max(port.peak, port.queued)
        self.used[here] += k.size
        cable.held += k.size
        self.serve(ends)

    def pause(self, ends, on):
        self.ports[ends].paused = on
        self.ports[ends].pauses += on
        self.serve(ends)

    # ---- senders

    def begin(self, f):
        self.at(self.now + self.timeout, self.expire, f)
        if self.dcqcn:
            self.restart_timers(f)
        self.offer(f)

    def has_more(self, f):
        return f.end is None and (f.again or f.next < len(f.sizes))

    def offer(self, f):
        """Stand in line once, when the pace allows."""
        if not f.lined and self.has_more(f):
            f.lined = True
            if f.pace > self.now:
                self.at(f.pace, self.line_up, f)
            else:
                self.line_up(f)

    def line_up(self, f):
        ends = f.source, f.hops[f.source]
        self.ports[ends].turns.append(f)
        self.serve(ends)

    def inject(self, port):
        while port.turns:
            f = port.turns.popleft()
            f.lined = False
            if self.has_more(f):
                break
        else:
            return None
        if f.again:
            number = min(f.again)
            f.again.remove(number)
        else:
            number, f.next = f.next, f.next + 1
        size = f.sizes[number]
        f.sent += size
        f.touched = self.now
        if self.dcqcn:
            f.pace = self.now + max(1, round(size / f.rate))
            f.bytes += size
            if f.bytes >= self.dcqcn.byte_counter:
                f.bytes, f.byte_steps = 0, f.byte_steps + 1
                self.climb(f)
        return SimpleNamespace(
            flow=f, number=number, size=size, marked=False, back=0, came=None, cut=False
        )

    def expire(self, f):
        if f.end is None:
            self.at(self.now + self.timeout, self.expire, f)
            if f.touched + self.timeout <= self.now:
                if self.selective:
                    f.again = {n for n in range(f.next) if n not in f.got}
                else:
                    f.next = f.heard = f.expected
                self.offer(f)

    def hear(self, f, first, end, cnp):
        """A negative acknowledgement of packets from `first` up to `end`, or None, and a CNP."""
        if first is not None and self.selective:
            f.again |= {n for n in range(first, end) if n not in f.got}
        elif first is not None and first >= f.heard:
            f.next = f.heard = first
        if cnp:
            f.cuts += 1
            f.target_rate, f.rate = f.rate, max(1e-4 * f.line, f.rate * (1 - f.alpha / 2))
            f.alpha = (1 - self.dcqcn.gain) * f.alpha + self.dcqcn.gain
            f.bytes = f.byte_steps = f.time_steps = 0
            self.restart_timers(f)
        self.offer(f)

    # ---- DCQCN's rates

    def restart_timers(self, f):
        self.at(self.now + self.dcqcn.timer, self.timed_climb, f, f.cuts)
        self.at(self.now + self.dcqcn.alpha_every, self.forget, f, f.cuts)

    def timed_climb(self, f, cuts):
        if cuts == f.cuts and f.end is None:
            f.time_steps += 1
            self.climb(f)
            self.at(self.now + self.dcqcn.timer, self.timed_climb, f, cuts)

    def forget(self, f, cuts):
        if cuts == f.cuts and f.end is None:
            f.alpha *= 1 - self.dcqcn.gain
            self.at(self.now + self.dcqcn.alpha_every, self.forget, f, cuts)

    def climb(self, f):
        if max(f.byte_steps, f.time_steps) > self.dcqcn.fast_steps:
            f.target_rate = min(f.line, f.target_rate + self.dcqcn.increase)
        f.rate = (f.rate + f.target_rate) / 2

    # ---- receivers

    def receive(self, k):
        f, first, cnp, end = k.flow, None, False, k.number
        if k.cut:
            kept, first, end = False, k.number, k.number + 1
        elif self.selective:
            kept = k.number not in f.got
            f.again.discard(k.number)
            if k.number > f.highest and not self.trim:
                first = f.highest
            f.highest = max(f.highest, k.number + 1)
        else:
            kept = k.number == f.expected
            if kept:
                f.nacked = False
            elif k.number > f.expected and not f.nacked:
                first, f.nacked = f.expected, True
        if kept:
            f.got.add(k.number)
            f.expected += 1
            f.delivered += k.size
            f.touched = self.now
            if len(f.got) == len(f.sizes):
                f.end = self.now
        else:
            f.discarded += k.size
        if k.marked:
            f.marked += k.size
            if self.now >= f.next_cnp:
                cnp, f.next_cnp = True, self.now + self.dcqcn.cut_every
        if (first is not None or cnp) and f.end is None:
            self.at(self.now + k.back, self.hear, f, first, end, cnp)
