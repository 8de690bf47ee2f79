"""What each exercise asks of a student: its level, minutes, section of the notebooks, and the
exercises it builds on.
"""

from dataclasses import dataclass

LEVELS = ("warm-up", "standard", "hard")


@dataclass(frozen=True)
class Level:
    """`level` is one of LEVELS, `minutes` for a student who has read `section`; `needs` are ids."""

    level: str
    minutes: int
    section: str
    needs: tuple[str, ...] = ()

    def __str__(self):
        return f"{self.level}, {self.minutes} min, section {self.section}"


# id: w(arm-up), s(tandard) or h(ard), minutes, section, then what it needs before
_TABLE = """
opening.gradient w 4 1.1
opening.cliff w 4 1.3
opening.ladder s 6 1.2 opening.cliff
opening.step s 6 1.4 opening.gradient
opening.port h 12 1.4 opening.step
opening.straggler s 6 1.6 opening.step
opening.pattern s 4 1.6
wires.eye s 6 2.1
wires.gray h 10 2.2 wires.eye
wires.codeword h 15 2.3 wires.gray
wires.hops w 4 2.3
wires.reach s 6 2.4
wires.bill s 6 2.5
wires.share s 6 2.6 wires.bill
wires.unseen s 8 2.2
wires.seen h 10 2.2 wires.unseen
wires.diagnosis s 6 2.7 wires.hops
wires.geometry h 20 2.4 wires.reach
wires.burst s 8 2.3 wires.codeword
transport.protocol s 5 3.1 transport.crossover
transport.fabric h 20 3.2 transport.protocol
transport.crossover w 4 3.3
transport.time w 4 3.3
transport.break_even s 8 3.3 transport.crossover
transport.fit h 12 3.3 transport.time
transport.staging w 3 3.1
transport.tail s 6 3.2
transport.ring w 6 3.4 transport.time
transport.sharded s 6 3.4 transport.ring
transport.threshold h 12 3.4 transport.ring
transport.write_ring s 10 3.4 transport.ring
transport.order h 12 3.4 transport.ring
transport.busbw s 6 3.5
transport.guess w 4 3.4
transport.bug s 6 3.4 transport.ring
transport.curve s 5 3.3 transport.crossover
transport.objections s 6 3.3 transport.crossover
transport.invest h 12 3.5 transport.objections
transport.explain s 6 3.3 transport.crossover
topology.two_tier w 4 4.2
topology.nonblocking s 5 4.2
topology.bisection s 8 4.1
topology.third_tier s 6 4.4
topology.switches h 12 4.4 topology.two_tier
topology.money s 8 4.2
topology.floor h 20 4.5 topology.bisection
topology.alltoall h 15 4.5 topology.bisection
topology.routes s 8 4.8
topology.rack s 6 4.3
topology.spine w 5 4.3
topology.axis s 10 4.7 topology.alltoall
topology.rails s 5 4.6
topology.one_hop s 6 4.6
topology.no_core s 5 4.6 topology.rails
topology.efficiency h 10 4.2 topology.money
topology.order h 12 4.7 topology.bisection
topology.pick s 6 4.8 topology.order
topology.mixed h 20 4.8 topology.pick
topology.leaf s 8 4.10
topology.placement s 6 4.7
behaviour.idle w 5 5.1
behaviour.hiccups s 8 5.1
behaviour.headroom s 8 5.2
behaviour.cells h 10 5.2 behaviour.headroom
behaviour.spread s 8 5.2 behaviour.headroom
behaviour.cycle s 5 5.4
behaviour.loop s 6 5.4 behaviour.cycle
behaviour.watchdog s 8 5.4
behaviour.week s 8 5.3
behaviour.between w 5 5.3
behaviour.young h 12 5.3 behaviour.between
behaviour.interval h 12 5.3 behaviour.young
behaviour.fill s 6 5.5
behaviour.write_queue h 20 5.5 behaviour.fill
behaviour.stagger s 8 5.5 behaviour.fill
behaviour.save h 10 5.5 behaviour.fill
behaviour.times h 10 5.6 behaviour.fill
behaviour.collision s 6 5.7
behaviour.speed h 15 5.7 behaviour.collision
behaviour.dcqcn h 20 5.6
behaviour.utilisation s 8 5.7
behaviour.diagnosis h 20 5.7
behaviour.rate s 6 5.3
behaviour.guess w 4 5.3
behaviour.bug s 6 5.5 behaviour.fill
behaviour.trace s 5 5.5 behaviour.fill
behaviour.objections s 6 5.5 behaviour.fill
behaviour.drain h 10 5.3
behaviour.explain s 6 5.2
behaviour.retry s 8 5.7
behaviour.stale h 10 5.1
cluster.buckets h 12 6.1
cluster.silent s 8 6.3
cluster.money w 5 6.3
cluster.ring s 8 6.2
cluster.units s 8 6.4
cluster.base h 8 6.6
sharing.caps s 6 7.2
sharing.four s 8 7.3
sharing.burst s 8 7.4
sharing.rules h 12 7.4 sharing.burst
sharing.write h 20 7.3 sharing.four
sharing.lanes s 5 7.5
monitoring.rates w 4 8.2
monitoring.full s 6 8.2 monitoring.rates
monitoring.most h 15 8.2 monitoring.full
monitoring.share s 8 8.6
monitoring.trees h 12 8.6
monitoring.signs s 6 8.3
monitoring.flat s 5 8.2 monitoring.full
monitoring.incident h 8 8.5 monitoring.signs
monitoring.order s 6 8.5
monitoring.checkpoint h 25 8.6 monitoring.order
frontier.ends s 8 9.1
frontier.fed s 6 9.3
frontier.lane w 3 9.2
frontier.claim h 8 9.3 frontier.ends
frontier.pool h 10 9.4
frontier.tiers h 20 9.1 frontier.ends
frontier.planes s 6 9.1
scaleup.peer s 6 10.2
scaleup.packing h 12 10.4
scaleup.planes w 4 10.3
scaleup.host h 10 10.3 scaleup.planes
scaleup.order h 12 10.5
scaleup.dies s 5 10.5
guide.tiers s 6 11.1
guide.busbw s 8 11.3
guide.settings h 12 11.4
guide.log s 6 11.4
guide.hour s 8 11.5
guide.hourly h 12 11.5 guide.hour
fallacies.upgrade s 6 12.1
fallacies.iperf s 5 12.5
fallacies.loss h 12 12.3
fallacies.early h 15 12.8
fallacies.own h 25 12.9
design.stops w 5 14.2
design.order h 30 14.3 design.stops
design.defence h 30 14.6 design.order
"""


def _rows():
    whole = {level[0]: level for level in LEVELS}
    for line in _TABLE.split("\n"):
        if line:
            name, level, minutes, section, *needs = line.split()
            yield name, Level(whole[level], int(minutes), section, tuple(needs))


_KNOWN = dict(_rows())


def add(exercise):
    """Take in an exercise that says its level itself."""
    level = Level(exercise.level, exercise.minutes, exercise.section, exercise.needs)
    _KNOWN[exercise.id] = level


def of(exercise_id):
    """The `Level` of an exercise, or None for one that has no line here.

    >>> str(of("transport.ring"))
    'warm-up, 6 min, section 3.4'
    """
    return _KNOWN.get(exercise_id)


def hardness(exercise_id):
    """A key that sorts exercises from easy to hard, and within a level by minutes."""
    known = of(exercise_id)
    return (LEVELS.index(known.level), known.minutes) if known else (1, 8)


def in_order(ids):
    """The same ids from easy to hard, with none before what it needs.

    >>> in_order(["transport.threshold", "transport.ring"])
    ['transport.ring', 'transport.threshold']
    """
    waiting, done = sorted(ids, key=hardness), []
    while waiting:
        free = [n for n in waiting if not of(n) or not set(of(n).needs) & set(waiting)]
        done.append((free or waiting)[0])
        waiting.remove(done[-1])
    return done
