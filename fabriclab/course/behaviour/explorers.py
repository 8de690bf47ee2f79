"""Level 4 alive: an incast, hashing onto equal paths, congestion control. Deadlock is in
`lock_explorers`, failing fleets are in `fleet_explorers`.
"""

import functools

import numpy as np

from fabriclab import congestion
from fabriclab.course.behaviour import figures as drawings

# one face for the part
from fabriclab.course.behaviour.fleet_explorers import reliability  # noqa: F401
from fabriclab.course.behaviour.lock_explorers import deadlock  # noqa: F401  one face for the part
from fabriclab.course.engine.explorer import buttons, explorer, slider, steps, tick
from fabriclab.units import GB, KB, MB, Gbps, Mbps, plural, si, us

FEW = 12_000  # packets of a run: what a slider has patience for
FEEDBACK = 20 * us  # a round trip, and a step of both schemes of congestion control
TRIPS, ROUNDS = 2500, 500  # of feedback: 50 ms, in which DCQCN rests or swings, and 10 ms
INCREASE = 50 * Mbps  # HPCC's additive increase, as its authors have it


PORT_RATES = [1.25 * GB, 3.125 * GB, 5 * GB, 12.5 * GB, 25 * GB, 50 * GB, 100 * GB]
SPEEDS = [speed * Gbps for speed in (10, 25, 40, 100, 200, 400)]
FLOWS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024, 2048, 4032]
PATHS = [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64]


def _draw_queue(axes, *numbers):
    artists = drawings.queue(axes, *numbers)
    # the names of the levels stand beside the axes, and move
    axes.figure.get_layout_engine().set(rect=(0, 0, 0.8, 1))
    return artists


@explorer(
    _draw_queue,
    drawings.move_queue,
    [
        {
            "senders": slider(
                "senders N", [*(2**k for k in range(11)), 63, 129, 192, 384, 768], "{:,}"
            ),
            "rate": slider("port rate μ", PORT_RATES, "B/s"),
        },
        {
            "buffer": slider("buffer B", [*(2.0**k * MB for k in range(10)), 64 * 250 * KB], "B"),
            "round_trip": slider("feedback takes", steps(1, 50, us), "s"),
        },
        {"packets": tick("packet by packet too")},
    ],
    alt="Bytes queued before one port against time, left while it fills, right until it is empty: a"
    " fluid and packets; lines mark the buffer and where pauses and marks begin.",
    size=(8.6, 4.2),
    still=("legend", "axes"),
    more=[
        {
            "mark_at": slider(
                "ECN marks from",
                [10 * KB, 30 * KB, 100 * KB, 300 * KB, 1 * MB],
                lambda size: si(size, "B") if size else "first byte",
            )
        },
        {
            "ports": buttons(
                "switch ports",
                [("any number", np.inf), ("32", 32), ("64", 64), ("128", 128), ("257", 257)],
            )
        },
    ],
)
def incast(
    senders=256,
    rate=50 * GB,
    buffer=32 * MB,
    round_trip=5 * us,
    mark_at=0.0,
    ports=np.inf,
    packets=False,
):
    """Figure 12 alive: `senders` at `rate` bytes/s each into one port of that rate with `buffer`
    bytes; fill, drain, loss.

    All send until they can have heard: one `round_trip` s after the queue reaches `mark_at` bytes;
    then none does. That is the best that any feedback can do. A switch of so many `ports` lets in
    what its other ports can bring; the rest waits upstream and is not counted. With `packets` the
    same is run packet by packet.
    """
    offered = congestion.offered_load(senders, rate, None if ports == np.inf else ports)
    silent = round_trip + (mark_at / (offered - rate) if offered > rate else 0.0)
    emptying = congestion.drain_time(congestion.queue_after(silent, offered, rate, buffer), rate)
    trace = congestion.fluid_queue([silent, emptying + 0.05 * silent], [offered, 0.0], rate, buffer)
    cables, each = (
        int(min(senders, ports - 1)),
        congestion.pfc_headroom(rate, round_trip, response=0, mac_phy=0),
    )
    xoff = buffer - cables * each
    levels = {
        "buffer": buffer,
        "PFC pauses at": xoff if xoff > 0 else None,
        "ECN marks at": mark_at or None,
    }
    run = _packets(cables, rate, buffer, silent, float(trace.times[-1])) if packets else None

    fill, lost = congestion.fill_time(offered, rate, buffer), float(trace.lost[-1])
    fills = "never fills" if np.isinf(fill) else f"fills {si(buffer, 'B')} in {si(fill, 's', 3)}"
    drain = si(congestion.drain_time(buffer, rate), "s", 3)
    most = int(congestion.largest_fan_in(rate, rate, buffer, round_trip, mark_at))
    saved = f"is too late, {si(lost, 'B')} lost" if lost else "is in time, nothing lost"
    marked = si(mark_at, "B") if mark_at else "byte"
    fits = f"leaves {si(xoff, 'B')}" if xoff > 0 else "more than the buffer"
    return (trace, levels, run and run[:2]), [
        f"{si(offered, 'B/s')} for a port of {si(rate, 'B/s')}, {offered / rate:,.4g} to 1: it"
        f" {fills}; a full one drains in {drain}.",
        f"Feedback, {si(round_trip, 's', 3)} after the first {marked}, {saved}; it can save up to"
        f" {plural(most, 'sender')}.",
        f"PFC headroom: {plural(cables, 'cable')} x {si(each, 'B')} = {si(cables * each, 'B')},"
        f" {fits}.",
        f"Packets of {si(run[3], 'B')}: highest queue {si(int(run[1].max()), 'B')},"
        f" {si(run[2], 'B')} lost; {si(_apart(trace, run), 'B')} from the fluid at most."
        if run
        else "Packets: tick the box to run the simulator.",
    ]


@functools.lru_cache(maxsize=256)
def _packets(senders, rate, buffer, silent, until):
    """(seconds, bytes queued, bytes dropped, bytes of a packet) of the same incast in the
    simulator, loaded when first asked for.
    """
    from fabriclab import packets

    size = max(1, round(rate * silent))
    packet = min(size, max(1000, senders * size // FEW))
    # what is lost stays lost: a receiver that expects packets in any order asks for none again, and
    # no timeout ends in time
    patient = {"recovery": "selective", "routing": "spray", "timeout": 10.0}
    run = packets.incast(
        senders,
        size,
        rate,
        packet,
        delay=0.0,
        buffer=buffer,
        pfc=None,
        until=until,
        sample=until / 4000,
        watch=[(senders + 1, 0)],
        **patient,
    )
    # a packet counts once it is whole at the switch, bytes of the fluid count as they come
    times = run.times - packet / rate
    return times[times > 0], run.queues[senders + 1, 0][times > 0], int(run.dropped.sum()), packet


def _apart(trace, run):
    return float(np.abs(run[1] - trace.at(run[0])).max())


@explorer(
    drawings.loads,
    drawings.move_loads,
    [
        {"flows": slider("flows n", FLOWS, "{:,}"), "paths": slider("paths m", PATHS, "{:,}")},
        {"seed": slider("draw", range(100), "number {}")},
    ],
    alt="Left, how many flows one draw puts on each path; right, the exact odds of the fullest"
    " path; both in multiples of the most even split.",
    size=(8.2, 4.0),
)
def hashing(flows=8, paths=4, seed=0):
    """ECMP alive: `flows` equal flows, each hashed to one of `paths`; one draw as bars, and the
    exact odds of the fullest path.

    `seed` numbers the draw: the same number, the same draw.
    """
    hashed = np.random.default_rng(seed).integers(0, paths, flows)
    counts, odds = np.bincount(hashed, minlength=paths), _odds(flows, paths)
    least, most = -(-flows // paths), int(counts.max())
    mean, speed = odds @ np.arange(odds.size), odds[least:] @ (least / np.arange(least, odds.size))
    even, bad, idle = map(
        _chance,
        (
            float(congestion.even_split(flows, paths)),
            odds[2 * least :].sum(),
            float(congestion.idle_path(flows, paths)),
        ),
    )
    return (counts, odds), [
        f"This draw: {plural(most, 'flow')} on the fullest path (at best {least:,}),"
        f" {np.count_nonzero(counts == 0)} idle; slowest flows at {least / most:.1%} of full"
        " speed.",
        f"All draws: the fullest path carries {mean:.4g} on average; slowest flows at {speed:.1%}"
        " of full speed.",
        f"Odds: most even {even}, twice that or worse ({2 * least:,} or more) {bad}, a path idle"
        f" {idle}.",
    ]


@functools.lru_cache(maxsize=256)
def _odds(flows, paths):
    return congestion.fullest_path(flows, paths)


def _chance(value):
    """A chance for people: 44.9%, 0.0012%, none below 1e-9, which is as exact as the odds are.

    >>> _chance(0.44885), _chance(1.2e-5), _chance(1e-12)
    ('44.9%', '0.0012%', 'below 1e-9')
    """
    return (
        "below 1e-9"
        if 0 < value < 1e-9
        else f"{value:.1%}"
        if value >= 1e-3 or not value
        else f"{100 * value:.2g}%"
    )


@explorer(
    drawings.control,
    drawings.move_control,
    [
        {
            "flows": slider("flows N", [2, 3, 4, 6, 8, 10, 12, 16, 24, 32], "{}"),
            "rate": slider("port rate C", SPEEDS, "b/s"),
        },
        {
            "gain": slider(
                "DCQCN: gain g",
                [2.0**-k for k in (10, 8, 6, 4, 2)],
                lambda gain: f"1/{1 / gain:.0f}",
            ),
            "eta": slider("HPCC: target η", [0.8, 0.9, 0.95, 0.98, 1.0], "{:.2f}"),
        },
    ],
    alt="DCQCN on the left, HPCC on the right; above the rate of each flow in fair shares, below"
    " the queue, on linear time.",
    size=(8.2, 4.6),
    still=("axes",),
)
def congestion_control(flows=10, rate=40 * Gbps, gain=1 / 256, eta=0.95):
    """DCQCN and HPCC from the same start: `flows` at 20 % to 100 % of a port of `rate` bytes/s;
    rates above, queue below.

    Feedback takes 20 us. `gain` is DCQCN's g, `eta` the utilisation that HPCC steers to. DCQCN is
    the fluid of `congestion.trajectory`, HPCC goes round trip by round trip; both are kept, so that
    coming back costs nothing.
    """
    runs = {"DCQCN": _dcqcn(flows, rate, gain), "HPCC": _hpcc(flows, rate, eta)}
    settled = congestion.fixed_point(flows, congestion.Dcqcn(capacity=rate, gain=gain)).queue
    steady = congestion.steady_queue(rate, flows, INCREASE, FEEDBACK, eta, packet=0)
    rest = (
        f"a queue of {si(settled, 'B')}."
        if np.isfinite(settled)
        else "none below Kmax: the queue swings across it."
    )
    return (rate, runs, {"DCQCN": settled, "HPCC": steady}), [
        *(f"{name}: {_controlled(*run, rate)}" for name, run in runs.items()),
        _less_than_a_packet(flows, rate) or f"DCQCN's fixed point for {flows} flows: {rest}",
    ]


def _starts(flows, rate):
    return np.linspace(0.2, 1.0, flows) * rate


@functools.lru_cache(maxsize=64)
def _dcqcn(flows, rate, gain):
    run = congestion.trajectory(
        flows,
        TRIPS * FEEDBACK,
        FEEDBACK,
        congestion.Dcqcn(capacity=rate, gain=gain),
        step=FEEDBACK,
        rates=_starts(flows, rate),
    )
    return run.times, run.rates, run.queue


@functools.lru_cache(maxsize=512)
def _hpcc(flows, rate, eta):
    run = congestion.rounds(
        rate, flows, INCREASE, FEEDBACK, ROUNDS, eta, rates=_starts(flows, rate), packet=0
    )
    return FEEDBACK * np.arange(1, ROUNDS + 1), run.rates, run.queue


def _less_than_a_packet(flows, rate):
    fit = congestion.most_windows(rate, FEEDBACK)
    if flows <= fit:
        return ""
    return (
        f"HPCC's lines are a fluid's: {flows} windows share {fit:.0f} packets on the path, less"
        " than one each."
    )


def _controlled(times, rates, held, rate):
    late = times > 0.9 * times[-1]
    low, high = float(held[late].min()), float(held[late].max())
    settled = f"{si(low, 'B')} to {si(high, 'B')}" if high - low > 0.02 * high else si(high, "B")
    # a queue keeps the port busy, whatever comes in
    busy = np.where(held[late] > 0, 1.0, np.minimum(1.0, rates[late].sum(axis=1) / rate)).mean()
    unfair = rates[-1].max() / rates[-1].min()
    return (
        f"at most {si(float(held.max()), 'B')} queued; at the end queue {settled}, port"
        f" {busy:.0%} busy, flows {unfair:.3g} to 1."
    )
