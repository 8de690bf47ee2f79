"""What a reader of this part is asked to guess, in the order of the notebook."""

import numpy as np

from fabriclab import congestion, deadlock, packets, reliability, topology
from fabriclab.course.engine.exercises.slips import Slip
from fabriclab.course.engine.predict import Prediction
from fabriclab.units import GB, KB, MB, hour, minute, ms, us

PORT, BUFFER = 50 * GB, 32 * MB
MODULES = reliability.transceivers(4096, 3)


def _ways(routes):
    return [[a for a, _, _ in route] + [route[-1][1]] for route in routes]


def _send(ways, network, size=1 * MB, **options):
    flows = packets.Flows([w[0] for w in ways], [w[-1] for w in ways], size, 0.0, ways)
    return packets.run(network, flows, **options)


def _victim():
    """The slowest bystander beside a crowd of twelve that sends to one host."""
    tree = topology.leaf_spine(4, 2, 4, 4)

    def way(source, target, spine):
        return [source, 16 + source // 4, 20 + spine, 16 + target // 4, target]

    crowd = [way(host, 0, host % 2) for host in range(4, 16)]
    bystanders = [way(5, 2, 0), way(12, 9, 1), way(8, 3, 1)]
    return float(_send(crowd + bystanders, tree, buffer=2 * MB).completion[-3:].max())


def _locks(links):
    run = _send(_ways(deadlock.ring_routes(4, links)), topology.torus((4,)), 2 * MB, buffer=1 * MB)
    return "it locks" if run.outcome == "locked" else "it finishes"


def _detours():
    small = topology.leaf_spine(3, 2, 2, 2)
    updown, valley = list(deadlock.shortest_routes(small)), deadlock.valley_routes(small)
    for count in range(len(valley) + 1):
        if deadlock.dependencies(updown + valley[:count]).verdict() != "none":
            return count
    return np.inf


def _watched():
    pfc = packets.Pfc(watchdog=200 * ms)
    ways = _ways(deadlock.ring_routes(4, 3))
    ring = topology.torus((4,))
    return float(_send(ways, ring, 2 * MB, buffer=1 * MB, until=10.0, pfc=pfc).duration)


def _later():
    """The port takes as long as ever, if the last begins before it is idle."""
    begins, served = 255 * (250 * KB - BUFFER / 255) / PORT, 256 * 250 * KB / PORT
    return "not at all" if begins + 5 * us <= served else "0.6 ms"


def _rests():
    grows = congestion.fixed_point(8).queue > congestion.fixed_point(4).queue
    return "grows, up to a limit" if grows and not congestion.fixed_point(32).exists else "grows"


def _closest():
    schemes = {
        "pauses": {},
        "drops": {"pfc": None},
        "marks": {"congestion": congestion.Dcqcn()},
        "telemetry": {"congestion": packets.Hpcc()},
    }
    ends = {
        name: packets.incast(15, buffer=4 * MB, **options).completion.max()
        for name, options in schemes.items()
    }
    return min(ends, key=ends.get)


def _slowest(routing, recovery):
    target = np.random.default_rng(7).permutation(54)
    others = np.flatnonzero(target != np.arange(54))
    flows = packets.Flows(others, target[others], 1 * MB)
    fat = topology.fat_tree(6)
    run = packets.run(fat, flows, packet=4096, routing=routing, recovery=recovery)
    return float(run.completion.max())


def _trusted():
    run = packets.incast(4, buffer=1 * MB)
    balanced = (run.sent == run.delivered + run.discarded + run.dropped + run.held).all()
    return "that no byte is lost from its books" if balanced else "its speed"


PREDICTIONS = (
    Prediction(
        "behaviour.straggler",
        "GPU-steps wasted in each step",
        lambda: congestion.idle_workers(1024, 0.1),
        slips=(Slip("all", "a tenth of a step, for every other GPU", lambda: 1023),),
    ),
    Prediction(
        "behaviour.hiccups",
        "the mean step of 1,024 workers",
        lambda: congestion.step_with_hiccups(100 * ms, 50 * ms, 0.001, 1024),
        "s",
        slips=(Slip("always", "not every step has a late worker", lambda: 150 * ms),),
    ),
    Prediction(
        "behaviour.stale",
        "the largest k with which 16 workers settle that never wait",
        lambda: congestion.stale_limit(15),
        slips=(
            Slip("fresh", "that is for fresh gradients; these are 15 updates old", lambda: 2.0),
            Slip("shared", "you shared the 2 among the workers", lambda: 2 / 16),
        ),
        moral="About pi over twice the delay: waiting less costs smaller steps.",
    ),
    Prediction(
        "behaviour.headroom",
        "headroom for one port and priority",
        lambda: congestion.pfc_headroom(PORT, 5 * us, response=0),
        "B",
    ),
    Prediction(
        "behaviour.headroom_share",
        "64 ports of it, as a share of 32 MB",
        lambda: 64 * congestion.pfc_headroom(PORT, 5 * us, response=0) / BUFFER,
        "%",
    ),
    Prediction(
        "behaviour.climb",
        "the time in which five buffers of 32 MB fill at 10 GB/s",
        lambda: congestion.pause_spread_time(5, BUFFER, 10 * GB, 5 * us),
        "s",
        slips=(Slip("one buffer", "five fill, one after another", lambda: BUFFER / (10 * GB)),),
        moral="The signal is quick; buffers that fill take the time.",
    ),
    Prediction(
        "behaviour.victims",
        "the slowest of the three, in company",
        _victim,
        "s",
        slips=(Slip("untouched", "they share links with the crowd", lambda: 22.06 * us),),
    ),
    Prediction(
        "behaviour.bad_day",
        "the chance that at least one degrades today",
        lambda: reliability.at_least_one(1e-5, MODULES),
        "%",
    ),
    Prediction(
        "behaviour.first_day",
        "the number of the first bad day, on average",
        lambda: reliability.periods_to_first(1e-5, MODULES),
    ),
    Prediction(
        "behaviour.save_every",
        "the best interval",
        lambda: reliability.young_interval(minute, 2 * hour),
        "s",
    ),
    Prediction(
        "behaviour.ring_two",
        "four hosts over two links each",
        lambda: _locks(2),
        options=("it locks", "it finishes"),
        moral="A circle makes a deadlock possible, not certain.",
    ),
    Prediction(
        "behaviour.ring_three",
        "and over three links",
        lambda: _locks(3),
        options=("it locks", "it finishes"),
    ),
    Prediction(
        "behaviour.detours",
        "how many detours a deadlock needs",
        _detours,
        moral="Alone they do not lock; other traffic closes the circle.",
    ),
    Prediction(
        "behaviour.loop",
        "the rate at which a loop of two locks",
        lambda: deadlock.loop_limit(PORT, 2, 64),
        "b/s",
        slips=(
            Slip("once", "each cable carries every packet 32 times", lambda: PORT),
            Slip("one cable", "the loop has two cables", lambda: PORT / 64),
        ),
    ),
    Prediction("behaviour.watchdog", "when the last byte is there", _watched, "s"),
    Prediction(
        "behaviour.fill",
        "the time until the buffer is full",
        lambda: congestion.fill_time(congestion.offered_load(256, PORT), PORT, BUFFER),
        "s",
    ),
    Prediction(
        "behaviour.drain",
        "the wait of the last byte in it",
        lambda: congestion.drain_time(BUFFER, PORT),
        "s",
    ),
    Prediction(
        "behaviour.fan_in",
        "the most senders that marks can still save",
        lambda: congestion.largest_fan_in(PORT, PORT, BUFFER, 5 * us, 0.0),
    ),
    Prediction(
        "behaviour.stagger",
        "how long after one another they must begin",
        lambda: (250 * KB - BUFFER / 255) / PORT,
        "s",
        slips=(
            Slip("no queue", "that leaves no queue at all: you may use the buffer", lambda: 5 * us),
        ),
    ),
    Prediction(
        "behaviour.stagger_late",
        "and how much later all is there",
        _later,
        options=("not at all", "0.6 ms", "as long again"),
        moral="The port was busy all the time, and is.",
    ),
    Prediction(
        "behaviour.rest",
        "DCQCN's queue at rest, with more flows",
        _rests,
        options=("stays", "grows", "grows, up to a limit"),
        moral="Behind the limit the marks cannot hold the flows down, and the queue swings.",
    ),
    Prediction(
        "behaviour.closest",
        "who comes closest to 2.4 ms",
        _closest,
        options=("pauses", "drops", "marks", "telemetry"),
    ),
    Prediction(
        "behaviour.even",
        "how often hashing finds the even split",
        lambda: float(congestion.even_split(8, 4)),
        "%",
    ),
    Prediction(
        "behaviour.fullest",
        "flows on the fullest path, on average",
        lambda: congestion.mean_fullest(8, 4),
    ),
    Prediction(
        "behaviour.experts",
        "flows on the fullest of 64 paths, with 4,032 flows",
        lambda: congestion.mean_fullest(int(congestion.all_to_all_flows(64)), 64),
        slips=(Slip("even", "that is the mean, not the fullest", lambda: 63),),
    ),
    Prediction(
        "behaviour.hashed",
        "the slowest flow under hashing",
        lambda: _slowest("hash", "go-back-n"),
        "s",
        slips=(Slip("ideal", "that is the time without a collision", lambda: 20 * us),),
    ),
    Prediction(
        "behaviour.sprayed",
        "under spraying, if any order is kept",
        lambda: _slowest("spray", "selective"),
        "s",
    ),
    Prediction(
        "behaviour.unordered",
        "under spraying, if nothing out of order is kept",
        lambda: _slowest("spray", "go-back-n"),
        "s",
    ),
    Prediction(
        "behaviour.trust",
        "what to check first",
        _trusted,
        options=("that no byte is lost from its books", "its speed", "its pictures"),
    ),
)
