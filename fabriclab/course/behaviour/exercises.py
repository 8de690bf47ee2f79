"""The exercises on level 4: waiting for the slowest, pauses, locks, fleets that fail, incast,
hashing, marks.

The lists numbers are drawn from are part of what students were given: add exercises, but do not
change these lists.
"""

import math

import numpy as np

from fabriclab import congestion, deadlock, reliability
from fabriclab.congestion import Dcqcn
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.formula import Formula
from fabriclab.course.engine.exercises.function import Function
from fabriclab.course.engine.exercises.kinds import Choice, Free, Option, Ordering, Quantity
from fabriclab.course.engine.exercises.slips import BITS, BOTH_WAYS, Slip
from fabriclab.units import GB, KB, MB, Gbps, day, ms, si, us

PER_METRE = 5e-9  # seconds, in fibre


def _headroom(x, ways=2, reaction=1, packets=1):
    return congestion.pfc_headroom(
        x.rate,
        ways * x.length * PER_METRE,
        packets * x.packet,
        response=reaction * x.reaction,
        mac_phy=0,
    )


def _spread(x, excess):
    return congestion.pause_spread_time(x.hops, x.buffer, excess, x.trip)


def _fleet(draw, ppms=(5, 10, 20)):
    return {
        "gpus": draw.pick("gpus", (2048, 4096, 8192)),
        "tiers": draw.pick("tiers", (2, 3)),
        "ppm": draw.pick("ppm", ppms),
    }


def _modules(x):
    return reliability.transceivers(x.gpus, x.tiers)


def _fleet_words(x):
    return (
        f"{x.gpus:,} GPUs hang on a non-blocking tree of {x.tiers} tiers, every link of it optical,"
        " the hosts' included, with a transceiver at each end. Each transceiver degrades with"
        f" {x.ppm} in a million a day"
    )


def _stall(x, detection=1, timeout=1):
    return deadlock.watchdog(
        detection * x.detection, x.held, x.rate, timeout * x.timeout, x.flows, x.in_flight
    ).stall


def _incast(draw):
    return {
        "senders": draw.pick("senders", (256, 384, 512)),
        "ports": draw.pick("ports", (32, 64, 128)),
        "rate": draw.pick("rate", (200, 400, 800)) * Gbps,
        "buffer": draw.pick("buffer", (16, 32, 64)) * MB,
    }


def _fill(x, arrival):
    return congestion.fill_time(arrival, x.rate, x.buffer)


def _queues(draw):
    """Inputs that fill, overflow, drain, run dry and stand still."""
    buffer, service = (
        draw.pick("buffer", (8, 16, 32)) * MB,
        draw.pick("service", (25, 50, 100)) * GB,
    )
    held = draw.pick("held", (0.2, 0.4, 0.6)) * buffer
    fill, dry = buffer / service, held / service
    return [
        (0.1 * fill, 3 * service, service, buffer, held),
        (2 * fill, 3 * service, service, buffer, held),
        (0.5 * dry, 0.0, service, buffer, held),
        (3 * dry, 0.2 * service, service, buffer, held),
        (fill, service, service, buffer, held),
        ([0.0, 0.05 * fill, 5 * fill], 4 * service, service, buffer, 0.0),
    ]


def _one_bound(time, arrival, service, buffer, initial):
    """The chapter's law: it knows the full buffer, and not the empty one."""
    return np.minimum(buffer, initial + (arrival - service) * time)


def _save(x, rate=1, mark_at=1):
    return congestion.largest_fan_in(
        rate * x.rate, rate * x.rate, x.buffer, x.trip, mark_at * x.mark_at
    )


def _flows_on_ramp(settings, marking):
    """The most flows whose fixed point lies on the ramp."""
    flows = 1
    while marking(flows + 1, settings) <= settings.pmax:
        flows += 1
    return float(flows)


def _exact(flows, settings):
    return congestion.fixed_point(flows, settings).marking


def _settings(x):
    return Dcqcn(capacity=x.rate, pmax=x.pmax)


def _scales(x):
    incast = congestion.offered_load(x.senders, x.rate)
    return {
        "pause signal": congestion.pause_signal_time(1, 2 * x.length * PER_METRE),
        "buffer fills": congestion.fill_time(incast, x.rate, x.buffer),
        "longest pause": congestion.pause_time(congestion.MAX_QUANTA, x.rate),
        "buffer drains": congestion.drain_time(x.buffer, x.rate),
        "watchdog": 200 * ms,
    }


def _between_mine(x):
    """Seconds between two failures of the student's job."""
    rate = reliability.rate_from_events(x.events, x.days * day, x.theirs)
    return 1 / (x.mine * rate)


EXERCISES = [
    Exercise(
        id="behaviour.idle",
        title="What one slow GPU costs a step",
        chinese="大规模同步并行与慢节点",
        numbers=lambda draw: {
            "gpus": draw.pick("gpus", (256, 512, 1024, 2048, 4096)),
            "drop": draw.pick("drop", (0.05, 0.08, 0.1, 0.15, 0.2)),
        },
        prompt=lambda x: (
            f"One of {x.gpus:,} GPUs gets hot, and its *speed* drops by {100 * x.drop:g} %. At the"
            " barrier all others wait for it. How many GPU-steps does a step waste, a GPU-step"
            " being what a healthy GPU does in a healthy step? The chapter says 102 for its case;"
            " was that speed, or time?"
        ),
        kind=Quantity(
            lambda x: congestion.idle_workers(x.gpus, 1 / (1 - x.drop) - 1),
            "number",
            slips=(
                Slip(
                    "slower for longer",
                    "you let the step take as many per cent longer as the speed dropped; at half"
                    " the speed it takes twice as long, not half as long again",
                    lambda x: congestion.idle_workers(x.gpus, x.drop),
                ),
                Slip(
                    "the slow one alone",
                    "you counted what the slow GPU loses; it is the only one that works all the"
                    " time",
                    lambda x: 1 / (1 - x.drop) - 1,
                ),
            ),
        ),
        hints=(
            "How long does its step take, if a healthy one takes 1?",
            "Everybody but the slow GPU waits for the difference.",
        ),
        moral=(
            "The chapter's 102 is a step that takes 10 % longer; a speed that drops by 10 % wastes"
            " 114."
        ),
    ),
    Exercise(
        id="behaviour.hiccups",
        title="The tail of one is the mean of all",
        chinese="尾延迟主导平均步长",
        numbers=lambda draw: {
            "compute": draw.pick("compute", (100, 120, 150)) * ms,
            "delay": draw.pick("delay", (30, 50, 80)) * ms,
            "chance": draw.pick("chance", (5e-4, 1e-3, 2e-3)),
            "workers": draw.pick("workers", (1024, 2048, 4096)),
        },
        prompt=lambda x: (
            f"{x.workers:,} workers do steps of {si(x.compute, 's')}. In each step each worker is"
            f" late by {si(x.delay, 's')} with chance {x.chance:g}, independently. How long is a"
            " step on average? A dashboard of single workers would call them all healthy."
        ),
        kind=Quantity(
            lambda x: congestion.step_with_hiccups(x.compute, x.delay, x.chance, x.workers),
            "time",
            tolerance=0.005,
            slips=(
                Slip(
                    "one worker's mean",
                    "you gave the mean of one worker; the step is the slowest of all",
                    lambda x: x.compute + x.delay * x.chance,
                ),
                Slip(
                    "added up the delays",
                    "you added up the delays; two workers late in one step make it no later"
                    " than one",
                    lambda x: x.compute + x.delay * x.chance * x.workers,
                ),
            ),
        ),
        hints=(
            "What is the chance that nobody is late?",
            "Late is late: the step is longer by one delay, however many had one.",
        ),
        moral="What happens to one worker in a thousand steps happens to the job in most of them.",
    ),
    Exercise(
        id="behaviour.headroom",
        title="Room for what is on its way",
        chinese="PFC 余量缓冲",
        numbers=lambda draw: {
            "rate": draw.pick("rate", (100, 200, 400, 800)) * Gbps,
            "length": draw.pick("length", (50, 100, 200, 300)),
            "reaction": draw.pick("reaction", (0.5, 1, 2)) * us,
            "packet": draw.pick("packet", (4200, 9216)),
        },
        prompt=lambda x: (
            f"A lossless port of {si(x.rate, 'b/s')} decides to pause its peer, {x.length} m of"
            f" fibre away (5 ns a metre), which takes {si(x.reaction, 's')} to obey. Packets are up"
            f" to {x.packet:,} bytes: one is just being sent before the PAUSE, and one the peer has"
            " begun will still come. How much must stay free in the buffer, for this port and"
            " priority?"
        ),
        kind=Quantity(
            _headroom,
            "size",
            tolerance=0.005,
            slips=(
                Slip(
                    "one way",
                    "you counted the cable one way; the PAUSE goes out, and what was on the cable"
                    " still comes in",
                    lambda x: _headroom(x, ways=1),
                ),
                Slip(
                    "forgot the packets",
                    "you left out the two packets that nobody can interrupt",
                    lambda x: _headroom(x, packets=0),
                ),
                Slip(
                    "forgot the reaction",
                    "you let the peer obey at once",
                    lambda x: _headroom(x, reaction=0),
                ),
                Slip(
                    BITS,
                    "you took the port's bits per second for bytes per second",
                    lambda x: 8 * _headroom(x, packets=0) + 2 * x.packet,
                ),
            ),
        ),
        hints=(
            (
                "From the decision to the last byte that still arrives: which times follow one"
                " another?"
            ),
            "Rate × (there + obey + back), and two packets on top.",
        ),
        moral=(
            "Times 64 ports and a few priorities, it is much of a switch's buffer, kept empty on"
            " purpose."
        ),
    ),
    Exercise(
        id="behaviour.spread",
        title="How fast a jam spreads",
        chinese="拥塞扩散",
        numbers=lambda draw: {
            "hops": draw.pick("hops", (3, 4, 5)),
            "buffer": draw.pick("buffer", (16, 32, 64)) * MB,
            "takes": draw.pick("takes", (30, 35, 40, 45)) * GB,
            "port": 400 * Gbps,
            "trip": draw.pick("trip", (1, 2, 5)) * us,
        },
        prompt=lambda x: (
            f"A slow receiver takes {si(x.takes, 'B/s')} of its port's {si(x.port, 'b/s')}. Switch"
            f" after switch upstream fills its {si(x.buffer, 'B')} with the excess, then sends a"
            f" PAUSE that takes effect after {si(x.trip, 's')}. How long until {x.hops} switches"
            " have done so? The chapter says 10 to 50 ms; a PAUSE alone needs microseconds."
        ),
        kind=Quantity(
            lambda x: _spread(x, x.port - x.takes),
            "time",
            slips=(
                Slip(
                    "signal alone",
                    "you let the PAUSE travel through buffers that are full already",
                    lambda x: congestion.pause_signal_time(x.hops, x.trip),
                ),
                Slip(
                    "whole port in excess",
                    "you stopped the receiver altogether; it still takes its share",
                    lambda x: _spread(x, x.port),
                ),
                Slip(
                    "what it takes for the excess",
                    "you filled the buffers with what the receiver takes; what it does not take"
                    " stays",
                    lambda x: _spread(x, x.takes),
                ),
                Slip(
                    BITS,
                    "you took the port's bits per second for bytes per second",
                    lambda x: _spread(x, 8 * x.port - x.takes),
                ),
                Slip(
                    "one switch",
                    "you filled one switch; each must fill before it pauses the next",
                    lambda x: _spread(x, x.port - x.takes) / x.hops,
                ),
            ),
        ),
        hints=(
            "What arrives and is not taken piles up. At what rate?",
            "Fill one buffer, signal, fill the next: the same time for each switch.",
        ),
        moral="Milliseconds are buffers that fill; the faster the jam comes, the more has stopped.",
    ),
    Exercise(
        id="behaviour.cycle",
        title="Possible, or certain",
        chinese="循环缓冲区依赖与死锁",
        numbers=lambda draw: {},
        prompt=lambda x: (
            "Four lossless fabrics, and what is known of each. Which one is certainly deadlocked at"
            " this moment? The chapter's equation 1 says \"if and only if the graph contains a"
            ' cycle"; look at what it leaves out.'
        ),
        kind=Choice(
            (
                Option(
                    "A ring of four switches: every buffer is over its pause threshold, its first"
                    " packet bound for the next",
                    "Each waits for the next, and the last for the first: nobody can move, with or"
                    " without new traffic.",
                    right=True,
                    also=(
                        "A ring of four switches: each buffer is past its pause threshold, and"
                        " its head must enter the next one",
                    ),
                ),
                Option(
                    "A ring of four switches: each sends clockwise over two links, so the"
                    " dependency graph has a cycle, and traffic flows",
                    "A cycle makes a deadlock possible. While one buffer of it has room, its"
                    " packets move.",
                ),
                Option(
                    "A leaf-spine with up/down routes: one receiver has stopped, and every buffer"
                    " on the way to it is full",
                    "That is a storm. No circle: when the receiver takes packets again, the buffers"
                    " drain in order.",
                ),
                Option(
                    "A leaf-spine with up/down routes, into which 256 hosts send to one at full"
                    " rate, so that every leaf is paused",
                    "Incast pauses many and loses time, but up/down routes close no circle,"
                    " whatever the load.",
                ),
            )
        ),
        hints=(
            (
                "Ask of each: whom does the packet at the head of the line wait for, and whom does"
                " that one wait for?"
            ),
            "Necessary: a cycle. What else, for nobody to move?",
        ),
        moral=(
            'Of routes the "only if" is right: no cycle, no deadlock, ever. That is what a network'
            " can be designed for."
        ),
    ),
    Exercise(
        id="behaviour.watchdog",
        title="What the watchdog's cure costs",
        chinese="看门狗恢复",
        numbers=lambda draw: {
            "detection": draw.pick("detection", (100, 200, 400)) * ms,
            "timeout": draw.pick("timeout", (8, 16, 33, 67)) * ms,
            "rate": 400 * Gbps,
            "held": 1 * MB,
            "flows": draw.pick("flows", (16, 32, 64)),
            "in_flight": 250 * KB,
        },
        prompt=lambda x: (
            "A ring of buffers has locked. The watchdog drops what a queue holds,"
            f" {si(x.held, 'B')} of {x.flows} flows, once it has stood paused for"
            f" {si(x.detection, 's')}. The senders notice after a timeout of {si(x.timeout, 's')},"
            f" go back N, and send {si(x.in_flight, 'B')} each again, over one port of"
            f" {si(x.rate, 'b/s')}. For how long does the step stall? Before you compute: which of"
            " the three decides?"
        ),
        kind=Quantity(
            _stall,
            "time",
            tolerance=0.005,
            slips=(
                Slip(
                    "sending alone",
                    "you counted the sending alone; long before it somebody waits",
                    lambda x: _stall(x, 0, 0),
                ),
                Slip(
                    "forgot the timeout",
                    "you let the senders know at once what the watchdog dropped",
                    lambda x: _stall(x, timeout=0),
                ),
                Slip(
                    "forgot the watchdog",
                    "you left out the time until the watchdog acts",
                    lambda x: _stall(x, detection=0),
                ),
            ),
        ),
        hints=(
            "Three waits follow one another.",
            "How long do all the bytes take that are sent again, at 50 GB/s?",
        ),
        moral=(
            "Sending again is lost beside the two waits. Whoever wants it shorter must notice"
            " sooner."
        ),
    ),
    Exercise(
        id="behaviour.week",
        title="At least one, in a week",
        chinese="至少一个收发器发生性能退化的概率",
        numbers=_fleet,
        prompt=lambda x: (
            f"{_fleet_words(x)}, independently of the others. What is the chance that in a *week*"
            " at least one does? Napkin Math 1.5 asks it of a day."
        ),
        kind=Quantity(
            lambda x: reliability.at_least_one(x.ppm * 1e-6, _modules(x), 7),
            "number",
            slips=(
                Slip(
                    "links for transceivers",
                    "you counted links; each has a transceiver at either end",
                    lambda x: reliability.at_least_one(x.ppm * 1e-6, _modules(x) / 2, 7),
                ),
                Slip(
                    "a day for a week",
                    "you gave the chance for a day",
                    lambda x: reliability.at_least_one(x.ppm * 1e-6, _modules(x)),
                ),
                Slip(
                    "added up the days",
                    "you added up the chances of seven days; the complements multiply",
                    lambda x: 7 * reliability.at_least_one(x.ppm * 1e-6, _modules(x)),
                ),
                Slip(
                    "added up the parts",
                    "you gave how many degrade in a week on average, which may well exceed one",
                    lambda x: x.ppm * 1e-6 * _modules(x) * 7,
                ),
            ),
        ),
        hints=(
            "How many links does a tree of so many tiers have, and how many transceivers?",
            (
                "The chance that none does, in any of seven days; then its complement. `1 -"
                " (1-p)**n` or -expm1(n log1p(-p))."
            ),
        ),
        moral=(
            "It says nothing of a PFC storm: for that you need the chance that a bad part sets one"
            " off."
        ),
    ),
    Exercise(
        id="behaviour.between",
        title="How long between two",
        chinese="平均故障间隔",
        numbers=_fleet,
        prompt=lambda x: (
            f"{_fleet_words(x)}, day and night alike, and is replaced at once. How much time passes"
            " on average from one degraded part of this fleet to the next? It is the M that"
            " checkpoint intervals are made from."
        ),
        kind=Quantity(
            lambda x: reliability.time_to_first(reliability.rate_from_ppm(x.ppm), _modules(x)),
            "time",
            slips=(
                Slip(
                    "first bad day",
                    "you gave the average number of days up to the first bad one; a day with two"
                    " failures is one bad day, and a day counts in full",
                    lambda x: reliability.periods_to_first(x.ppm * 1e-6, _modules(x)) * day,
                ),
                Slip(
                    BOTH_WAYS,
                    "you counted links; each has a transceiver at either end",
                    lambda x: reliability.time_to_first(
                        reliability.rate_from_ppm(x.ppm), _modules(x) / 2
                    ),
                ),
                Slip(
                    "one part's",
                    "you gave one transceiver's time between failures",
                    lambda x: reliability.time_to_first(reliability.rate_from_ppm(x.ppm)),
                ),
            ),
        ),
        hints=(
            "How many degrade in a day on average, in the whole fleet?",
            "Rates add up. The mean time between two is one over the fleet's rate.",
        ),
        moral=(
            "Napkin Math 1.5's fleet: one every 4.07 days, while its first bad day is on average"
            " the 4.59th."
        ),
    ),
    Exercise(
        id="behaviour.young",
        title="How often to save",
        chinese="检查点间隔",
        numbers=lambda draw: {},
        prompt=lambda x: (
            "A job saves its state after every tau seconds of work; a save takes C seconds."
            " Failures come M seconds apart on average, M far above C, and one costs half of an"
            " interval on average, which is done again. Write down the share of time lost, and"
            " derive the tau at which it is least."
        ),
        kind=Formula(
            ("C", "M"),
            lambda C, M: reliability.young_interval(C, M),
            lambda draw: [
                {"C": 10 ** (2.5 * draw.share(f"C {i}")), "M": 10 ** (3 + 3 * draw.share(f"M {i}"))}
                for i in range(10)
            ],
            slips=(
                (
                    "lost the whole interval",
                    (
                        "you lost a whole interval to each failure; they come anywhere in it, on"
                        " average half-way"
                    ),
                    lambda C, M: math.sqrt(C * M),
                ),
                (
                    "forgot the root",
                    "you did not take the root; check the unit: the answer is a time",
                    lambda C, M: 2 * C * M,
                ),
                (
                    "upside down",
                    (
                        "numerator and denominator changed places: rarer failures ask for longer"
                        " intervals, cheaper saves for shorter ones"
                    ),
                    lambda C, M: math.sqrt(2 * M / C),
                ),
            ),
        ),
        hints=(
            "Saving costs C in every tau; a failure, once in M, costs tau/2.",
            "sympy.diff, then sympy.solve, with the symbols positive.",
        ),
        moral=(
            "Young, 1974. It is flat at its bottom: half or double the interval costs a quarter"
            " more waste, no more."
        ),
    ),
    Exercise(
        id="behaviour.fill",
        title="An incast on a switch one can buy",
        chinese="Incast 与缓冲区填满时间",
        numbers=_incast,
        prompt=lambda x: (
            f"{x.senders} hosts, at {si(x.rate, 'b/s')} each, send to one host of the same rate on"
            f" a switch of {x.ports} such ports and {si(x.buffer, 'B')} of buffer. All paths before"
            " the switch are as wide as need be. How long until the buffer is full? Figure 12"
            " counts senders; look at what can reach the switch."
        ),
        kind=Quantity(
            lambda x: _fill(x, congestion.offered_load(x.senders, x.rate, x.ports)),
            "time",
            tolerance=0.005,
            slips=(
                Slip(
                    "senders for ports",
                    "you let every sender reach the port at once; the switch has fewer ports to"
                    " receive on",
                    lambda x: _fill(x, congestion.offered_load(x.senders, x.rate)),
                ),
                Slip(
                    "one port off",
                    "you were one port off: the receiver's own port does not feed it, and while the"
                    " others fill the buffer it drains one port's worth",
                    lambda x: x.buffer / ((x.ports - 1) * x.rate),
                ),
                Slip(
                    BITS,
                    "you took the ports' bits per second for bytes per second",
                    lambda x: _fill(x, congestion.offered_load(x.senders, x.rate, x.ports)) / 8,
                ),
            ),
        ),
        hints=(
            "Through how many ports can packets for this host come in?",
            "The buffer grows by what comes in, less what goes out.",
        ),
        moral=(
            "The chapter's 2.5 us needs a switch of 257 ports; with 64 it is 10.3 us. The moral is"
            " the same: microseconds."
        ),
    ),
    Exercise(
        id="behaviour.write_queue",
        title="Write the queue",
        chinese="写出队列方程",
        numbers=lambda draw: {},
        prompt=lambda x: (
            "Write `queue(time, arrival, service, buffer, initial)`: the bytes queued after `time`"
            " seconds at constant rates, for a buffer that held `initial` bytes at first. `time`"
            " may be a numpy array. The chapter's law has one bound, min(B, Q0 + (λ - μ) t). Try it"
            " on a queue that drains."
        ),
        kind=Function(
            ("time", "arrival", "service", "buffer", "initial"),
            congestion.queue_after,
            _queues,
            "size",
            ("time", "rate", "rate", "size", "size"),
            slips=(
                (
                    "no floor",
                    (
                        "your queue falls below zero: the chapter's law has one bound, and a queue"
                        " has two"
                    ),
                    _one_bound,
                ),
                (
                    "no ceiling",
                    "your queue outgrows the buffer; what does not fit is lost, or must be paused",
                    lambda t, a, s, b, q: congestion.queue_after(t, a, s, math.inf, q),
                ),
                (
                    "forgot what was there",
                    "you began with an empty buffer",
                    lambda t, a, s, b, q: congestion.queue_after(t, a, s, b),
                ),
            ),
        ),
        hints=(
            "A straight line, and two walls.",
            "np.minimum and np.maximum take numbers and arrays alike; min and max do not.",
        ),
        moral="Two walls and a line: every queue of this part is made of these.",
    ),
    Exercise(
        id="behaviour.save",
        title="Whom feedback can still save",
        chinese="反馈能挽救的扇入",
        numbers=lambda draw: {
            "rate": draw.pick("rate", (400, 800)) * Gbps,
            "buffer": draw.pick("buffer", (16, 24, 32)) * MB,
            "trip": draw.pick("trip", (4, 5, 8, 10)) * us,
            "mark_at": draw.pick("mark at", (1.3, 1.35, 1.7)) * MB,
        },
        prompt=lambda x: (
            f"A switch marks packets once a port's queue reaches {si(x.mark_at, 'B')}; the buffer"
            f" holds {si(x.buffer, 'B')}. Senders at {si(x.rate, 'b/s')} each, the port's own rate,"
            f" hear of a mark one round trip of {si(x.trip, 's')} later, and are silent from then"
            " on, at best. With how many senders at most, a whole number, is nothing lost? Beyond"
            " them it takes PFC, or a smaller fan-in."
        ),
        kind=Quantity(
            _save,
            "number",
            whole=True,
            tolerance=0.001,
            slips=(
                Slip(
                    "forgot the marking threshold",
                    "you had the switch mark from the first byte",
                    lambda x: _save(x, mark_at=0),
                ),
                Slip(
                    "forgot that the port drains",
                    "you forgot that the port sends all the while: one sender's worth never queues",
                    lambda x: _save(x) - 1,
                ),
                Slip(
                    BITS,
                    "you took the ports' bits per second for bytes per second",
                    lambda x: _save(x, rate=8),
                ),
            ),
        ),
        hints=(
            "How many bytes arrive in the round trip that nobody can call back? How many leave?",
            "(N rate - rate) × trip must fit between the threshold and the buffer's end.",
        ),
        moral="Figure 12's 256 senders are beyond any of these: no mark comes in time for them.",
    ),
    Exercise(
        id="behaviour.times",
        title="Which comes first",
        chinese="时间尺度",
        numbers=lambda draw: {
            "length": 100,
            "senders": draw.pick("senders", (3, 6, 11, 33, 63)),
            "rate": draw.pick("rate", (100, 200, 400)) * Gbps,
            "buffer": draw.pick("buffer", (16, 32, 64)) * MB,
        },
        prompt=lambda x: (
            f"A port of {si(x.rate, 'b/s')}, {si(x.buffer, 'B')} of buffer, {x.senders} senders of"
            f" the port's rate. Order these times. *pause signal*: there and back over {x.length} m"
            " of fibre, 5 ns a metre. *buffer fills*: by these senders. *longest pause*: 65,535"
            " quanta of 512 bit times. *buffer drains*: a full one, with nothing coming in."
            " *watchdog*: SONiC's 200 ms. Whoever has this order in mind reads PFC logs the right"
            " way."
        ),
        kind=Ordering(
            _scales,
            "shortest",
            look=(
                "work out each in microseconds; mind bits and bytes, and that a port drains while"
                " it fills."
            ),
        ),
        hints=(
            "A bit time is 1/rate; 65,535 × 512 of them are 4.2 MB.",
            "The buffer grows by (senders - 1) ports' worth.",
        ),
        moral=(
            "From a PAUSE's flight to the watchdog they span five powers of ten: name the mechanism"
            " before you believe a time."
        ),
    ),
    Exercise(
        id="behaviour.collision",
        title="No two on one path",
        chinese="ECMP 哈希碰撞",
        numbers=lambda draw: {"flows": draw.pick("flows", (4, 5, 6, 7, 8))},
        prompt=lambda x: (
            f"{x.flows} flows are hashed onto {x.flows} equal paths, each flow to each path alike."
            " What is the chance that no two share one? For a few large flows that last for days,"
            " hashing is drawn once."
        ),
        kind=Quantity(
            lambda x: float(congestion.even_split(x.flows, x.flows)),
            "number",
            slips=(
                Slip(
                    "one order only",
                    "you counted one of the ways to give each flow a path of its own",
                    lambda x: x.flows**-x.flows,
                ),
                Slip(
                    "pairs as if independent",
                    "you took the pairs of flows as independent of each other; they share flows",
                    lambda x: (1 - 1 / x.flows) ** (x.flows * (x.flows - 1) / 2),
                ),
                Slip(
                    "complement",
                    "you gave the chance that some two do share",
                    lambda x: 1 - float(congestion.even_split(x.flows, x.flows)),
                ),
            ),
        ),
        hints=(
            (
                "Place the flows one by one: how many paths are still free for the second, the"
                " third, the last?"
            ),
            "Favourable ways over all ways: n! over n^n.",
        ),
        moral="For 64 on 64 it is 3e-27: with hashing, collisions are the rule.",
    ),
    Exercise(
        id="behaviour.speed",
        title="What collisions cost on average",
        chinese="哈希碰撞与有效带宽",
        numbers=lambda draw: dict(
            zip(
                ("flows", "paths"),
                draw.pick("flows and paths", ((8, 4), (16, 8), (12, 4), (24, 8), (12, 6), (32, 8))),
                strict=True,
            )
        ),
        prompt=lambda x: (
            f"{x.flows} equal flows are hashed onto {x.paths} equal paths; a step waits for the"
            " slowest. Against an even split, how fast is the slowest flow on average, over all"
            " ways the hash may fall? Use the exact odds, `congestion.fullest_path`, or a"
            " simulation of your own with enough draws."
        ),
        kind=Quantity(
            lambda x: congestion.mean_speed(x.flows, x.paths),
            "number",
            slips=(
                Slip(
                    "speed at the mean load",
                    "you took the speed at the mean load; the mean of 1/max is more than one over"
                    " the mean of max",
                    lambda x: x.flows / x.paths / congestion.mean_fullest(x.flows, x.paths),
                ),
                Slip(
                    "load for speed",
                    "you gave the slowdown, not the speed",
                    lambda x: congestion.mean_fullest(x.flows, x.paths) * x.paths / x.flows,
                ),
            ),
        ),
        hints=(
            "With k flows on the fullest path, how fast is each of them? And in an even split?",
            (
                "odds = congestion.fullest_path(flows, paths) gives P(max = k); weigh the speed for"
                " each k."
            ),
        ),
        moral=(
            "More flows per path even it out, if slowly: this is why large flows are split over"
            " several queue pairs."
        ),
    ),
    Exercise(
        id="behaviour.dcqcn",
        title="Too many for the ramp",
        chinese="DCQCN 不动点",
        numbers=lambda draw: {
            "rate": draw.pick("rate", (40, 100)) * Gbps,
            "pmax": draw.pick("pmax", (0.01, 0.02, 0.05)),
        },
        prompt=lambda x: (
            f"DCQCN with its authors' settings, but a port of {si(x.rate, 'b/s')} and Pmax ="
            f" {x.pmax:g}: `congestion.Dcqcn(capacity=…, pmax=…)`. What is the largest number of"
            " equal flows whose exact fixed point still lies on the marking ramp? With more, the"
            " queue swings across Kmax, where every packet is marked."
        ),
        kind=Quantity(
            lambda x: _flows_on_ramp(_settings(x), _exact),
            "number",
            whole=True,
            tolerance=0.001,
            slips=(
                Slip(
                    "cube root",
                    "you took the authors' cube-root approximation, which marks some 20 % too high",
                    lambda x: _flows_on_ramp(_settings(x), congestion.cube_root_marking),
                ),
                Slip(
                    "first without",
                    "you gave the first number of flows that has none",
                    lambda x: _flows_on_ramp(_settings(x), _exact) + 1,
                ),
            ),
        ),
        hints=(
            "congestion.fixed_point(flows, settings) says in `.exists` whether there is one.",
            "Go up from one flow until there is none.",
        ),
        moral=(
            "A higher Pmax takes more flows before the queue swings; the authors' own settings end"
            " at 14."
        ),
    ),
    Exercise(
        id="behaviour.utilisation",
        title="Checkpoint 1.5: does the utilisation fit",
        chinese="诊断训练作业变慢",
        numbers=lambda draw: {
            "before": draw.pick("before", (3.6, 4.2, 4.8)),
            "more": draw.pick("more", (0.6, 0.8, 1.0)),
            "busy": draw.pick("busy", (0.9, 0.92, 0.94)),
        },
        prompt=lambda x: (
            f"A job's step has grown from {x.before} s to {x.before + x.more:.1f} s; before, the"
            f" GPUs were busy for {100 * x.busy:g} % of the time. If the work per step is the same"
            " and all the growth is idle waiting, what utilisation do you expect now? Checkpoint"
            " 1.5 reports 92 % before and 85 % after."
        ),
        kind=Quantity(
            lambda x: x.busy * x.before / (x.before + x.more),
            "number",
            tolerance=0.005,
            slips=(
                Slip(
                    "points for per cent",
                    "you took the growth off in percentage points",
                    lambda x: x.busy - x.more / x.before,
                ),
                Slip(
                    "of the wrong base",
                    "you took the growth's share of the old step off; the busy seconds are now"
                    " spread over the new one",
                    lambda x: x.busy * (1 - x.more / x.before),
                ),
            ),
        ),
        hints=(
            "How many seconds of a step were the GPUs busy?",
            "The same seconds, over the longer step.",
        ),
        moral=(
            "The checkpoint's numbers would give 80.5 %, and it reports 85 %: nvidia-smi counts a"
            " NCCL kernel that spins while it waits as busy."
        ),
    ),
    Exercise(
        id="behaviour.diagnosis",
        title="Checkpoint 1.5, first part: where to look first",
        chinese="第一步诊断",
        numbers=lambda draw: {
            "gpus": draw.pick("gpus", (256, 512, 1024)),
            "before": draw.pick("before", (3.6, 4.2, 4.8)),
            "more": draw.pick("more", (0.6, 0.8)),
        },
        prompt=lambda x: (
            f"A job has run on {x.gpus} GPUs for three days. Its step has crept from {x.before} s"
            f" to {x.before + x.more:.1f} s, and nvidia-smi shows less utilisation than at first."
            " Choose the first thing you do. Name the tool that tells a job bound by communication"
            " from one bound by computing, and two pieces of evidence, each with what it would"
            " show in either case."
        ),
        kind=Free(least_words=50, worth=8),
        hints=(
            (
                "Which part of a step grew? Something must time the parts of a step, on more than"
                " one rank."
            ),
            "What would a slow GPU show that a slow link does not, and the other way round?",
        ),
    ),
    Exercise(
        id="behaviour.rate",
        title="From their cluster to yours",
        chinese="由事件数推算故障率",
        numbers=lambda draw: {
            "events": draw.pick("events", (120, 210, 419, 640)),
            "days": draw.pick("days", (30, 54, 90)),
            "theirs": draw.pick("theirs", (8192, 16_384, 24_576)),
            "mine": draw.pick("mine", (512, 1024, 2048, 4096)),
        },
        prompt=lambda x: (
            f"A report has {x.events} interruptions in {x.days} days of a job on {x.theirs:,} GPUs."
            f" Your job will have {x.mine:,} GPUs of the same kind. If interruptions grow with the"
            " number of GPUs, how long will it run between two of them, on average?"
        ),
        kind=Quantity(
            _between_mine,
            "time",
            slips=(
                Slip(
                    "their job",
                    "that is the time between two interruptions of their job, not of yours",
                    lambda x: x.days * day / x.events,
                ),
                Slip(
                    "one GPU",
                    "that is the time of a single GPU; all of yours can interrupt the job",
                    lambda x: _between_mine(x) * x.mine,
                ),
                Slip(
                    "upside down",
                    "you made the smaller job fail more often",
                    lambda x: x.days * day / x.events * x.mine / x.theirs,
                ),
            ),
        ),
        hints=(
            "How many GPU-days did they watch, and how many interruptions is that for each?",
            "A rate is events over (GPUs × time); your rate is that times your GPUs.",
        ),
        moral=(
            "With 419 events the rate is known to about a tenth; with four, hardly to a factor of"
            " three."
        ),
    ),
]
