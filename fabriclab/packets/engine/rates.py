"""What the senders of DCQCN and HPCC do when they hear of congestion, or hear nothing."""

from fabriclab.packets.engine.events import push
from fabriclab.packets.engine.records import CLIMB, FORGET, compiled


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


@compiled
def steer(s, f, k):
    """Set the window by the busiest link on the way, which is estimated from two visits to each
    switch.
    """
    setup, flow, control, packet = s.setup[0], s.flows[f], s.control[f], s.packets[k]
    busiest, between = 0.0, 0
    for hop in range(packet.hop - s.given[f].via):
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
