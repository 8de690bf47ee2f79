"""Level 4 alive: an incast, hashing onto equal paths, congestion control. Deadlock and failing
fleets: `explore.locks`, `explore.fleets`.
"""

import functools

import ipywidgets
import numpy as np

from fabriclab import congestion
from fabriclab.course.behaviour import figures as drawings
from fabriclab.course.behaviour.fleet_explorers import reliability  # noqa: F401  one face for the part
from fabriclab.course.behaviour.lock_explorers import deadlock  # noqa: F401  one face for the part
from fabriclab.course.engine import plot
from fabriclab.course.engine.explorer import Explorer, slider, steps
from fabriclab.units import GB, KB, MB, Gbps, Mbps, si, us

FEW = 12_000  # packets of a run: what a slider has patience for
FEEDBACK = 20 * us  # a round trip, and a step of both schemes of congestion control
TRIPS = 500  # of feedback: 10 ms
INCREASE = 50 * Mbps  # HPCC's additive increase, as its authors have it


def _seconds(value):
    return si(value, "s", 3)


def _bytes(value):
    return si(value, "B")


def _per_second(value):
    return si(value, "B/s")


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
    controls = {
        "senders": slider(
            "senders N",
            [*(2**k for k in range(11)), 63, 129, 192, 384, 768],
            "{:,}".format,
            senders,
        ),
        "rate": slider(
            "port rate μ",
            [1.25 * GB, 3.125 * GB, 5 * GB, 12.5 * GB, 25 * GB, 50 * GB, 100 * GB],
            _per_second,
            rate,
        ),
        "buffer": slider(
            "buffer B", [*(2.0**k * MB for k in range(10)), 64 * 250 * KB], _bytes, buffer
        ),
        "round_trip": slider("feedback takes", steps(1, 50, us), _seconds, round_trip),
        "mark_at": slider(
            "ECN marks from",
            [10 * KB, 30 * KB, 100 * KB, 300 * KB, 1 * MB],
            lambda size: _bytes(size) if size else "first byte",
            mark_at,
        ),
        "ports": ipywidgets.ToggleButtons(
            options=[("any number", np.inf), ("32", 32), ("64", 64), ("128", 128), ("257", 257)],
            value=ports,
            description="switch ports",
            style={"description_width": "130px", "button_width": "auto"},
        ),
        "packets": ipywidgets.Checkbox(
            packets,
            description="packet by packet too",
            indent=False,
            layout={"width": "auto", "margin": "0 14px 0 0"},
        ),
    }

    def state(senders, rate, buffer, round_trip, mark_at, ports):
        offered = _offered(senders, rate, ports)
        silent = round_trip + (mark_at / (offered - rate) if offered > rate else 0.0)
        emptying = congestion.drain_time(
            congestion.queue_after(silent, offered, rate, buffer), rate
        )
        trace = congestion.fluid_queue(
            [silent, emptying + 0.05 * silent], [offered, 0.0], rate, buffer
        )
        cables = int(min(senders, ports - 1))
        return trace, silent, cables

    def levels(cables, rate, buffer, round_trip, mark_at):
        xoff = buffer - cables * congestion.pfc_headroom(rate, round_trip, response=0, mac_phy=0)
        return {
            "buffer": buffer,
            "PFC pauses at": xoff if xoff > 0 else None,
            "ECN marks at": mark_at or None,
        }

    def move(packets, **values):
        trace, silent, cables = state(**values)
        rate, buffer = values["rate"], values["buffer"]
        run = _packets(cables, rate, buffer, silent, float(trace.times[-1])) if packets else None
        shown = levels(cables, rate, buffer, values["round_trip"], values["mark_at"])
        drawings.move_queue(artists, trace, shown, run and run[:2])
        return _incast(trace, cables, shown["PFC pauses at"], run, **values)

    figure, axes = plot.new(8.2, 4.4)
    starts = {name: control.value for name, control in controls.items() if name != "packets"}
    trace, _, cables = state(**starts)
    artists = drawings.queue(axes, trace, levels(cables, rate, buffer, round_trip, mark_at))
    # the names of the levels stand beside the axes, and move
    figure.get_layout_engine().set(rect=(0, 0, 0.77, 1))
    return Explorer(
        controls,
        figure,
        [artist for name, group in artists.items() if name != "legend" for artist in group],
        move,
        alt=(
            "Bytes queued before one port against time, both axes logarithmic: a fluid and packets;"
            " lines mark the buffer and where pauses and marks begin."
        ),
        rows=[["senders", "rate"], ["buffer", "round_trip"], ["mark_at"], ["ports"], ["packets"]],
    )


def _offered(senders, rate, ports):
    return congestion.offered_load(senders, rate, None if ports == np.inf else ports)


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


def _incast(trace, cables, xoff, run, senders, rate, buffer, round_trip, mark_at, ports):
    offered = _offered(senders, rate, ports)
    fill, lost = congestion.fill_time(offered, rate, buffer), float(trace.lost[-1])
    fills = "never fills" if np.isinf(fill) else f"fills {_bytes(buffer)} in {_seconds(fill)}"
    drain = _seconds(congestion.drain_time(buffer, rate))
    most = congestion.largest_fan_in(rate, rate, buffer, round_trip, mark_at)
    saved = f"is too late, {_bytes(lost)} lost" if lost else "is in time, nothing lost"
    each, marked = (
        congestion.pfc_headroom(rate, round_trip, response=0, mac_phy=0),
        _bytes(mark_at) if mark_at else "byte",
    )
    fits = f"leaves {_bytes(xoff)}" if xoff else "more than the buffer"
    simulated = (
        f"Packets of {_bytes(run[3])}: highest queue {_bytes(int(run[1].max()))}, {_bytes(run[2])}"
        " lost."
        if run
        else "Packets: tick the box to run the simulator."
    )
    return "\n".join(
        [
            (
                f"{_per_second(offered)} for a port of {_per_second(rate)}, {offered / rate:,.4g}"
                f" to 1: it {fills}; a full one drains in {drain}."
            ),
            (
                f"Feedback, {_seconds(round_trip)} after the first {marked}, {saved}; it can save"
                f" up to {most:,.0f} sender{'s' * (most != 1)}."
            ),
            (
                f"PFC headroom: {cables:,} cable{'s' * (cables != 1)} x {_bytes(each)} ="
                f" {_bytes(cables * each)}, {fits}."
            ),
            simulated,
        ]
    )


def hashing(flows=8, paths=4, seed=0):
    """ECMP alive: `flows` equal flows, each hashed to one of `paths`; one draw as bars, and the
    exact odds of the fullest path.

    `seed` numbers the draw: the same number, the same draw.
    """
    controls = {
        "flows": slider(
            "flows n",
            [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024, 2048, 4032],
            "{:,}".format,
            flows,
        ),
        "paths": slider("paths m", [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64], "{:,}".format, paths),
        "seed": slider("draw", range(100), "number {}".format, seed),
    }

    def draw(flows, paths, seed):
        return np.bincount(
            np.random.default_rng(seed).integers(0, paths, flows), minlength=paths
        ), _odds(flows, paths)

    def move(flows, paths, seed):
        counts, odds = draw(flows, paths, seed)
        drawings.move_loads(artists, counts, odds)
        return _hashed(counts, odds)

    figure, axes = plot.new(8.2, 4.0)
    artists = drawings.loads(axes, *draw(flows, paths, seed))
    return Explorer(
        controls,
        figure,
        sum(artists.values(), []),
        move,
        alt=(
            "Left, how many flows one draw puts on each path; right, the exact odds of the fullest"
            " path; both in multiples of the most even split."
        ),
        rows=[["flows", "paths"], ["seed"]],
    )


@functools.lru_cache(maxsize=256)
def _odds(flows, paths):
    return congestion.fullest_path(flows, paths)


def _hashed(counts, odds):
    flows, paths, most = int(counts.sum()), counts.size, int(counts.max())
    least = -(-flows // paths)
    bad = odds[2 * least :].sum()
    idle = float(congestion.idle_path(flows, paths))
    mean, speed = odds @ np.arange(odds.size), odds[least:] @ (least / np.arange(least, odds.size))
    return "\n".join(
        [
            (
                f"This draw: {most:,} flow{'s' * (most != 1)} on the fullest path (at best"
                f" {least:,}), {np.count_nonzero(counts == 0)} idle; slowest flows at"
                f" {least / most:.1%} of full speed."
            ),
            (
                f"All draws: the fullest path carries {mean:.4g} on average; slowest flows at"
                f" {speed:.1%} of full speed."
            ),
            (
                f"Odds: most even {_chance(float(congestion.even_split(flows, paths)))}, twice that"
                f" or worse ({2 * least:,} or more) {_chance(bad)}, a path idle {_chance(idle)}."
            ),
        ]
    )


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


def congestion_control(flows=10, rate=40 * Gbps, gain=1 / 256, eta=0.95):
    """DCQCN and HPCC from the same start: `flows` at 20 % to 100 % of a port of `rate` bytes/s;
    rates above, queue below.

    Feedback takes 20 us. `gain` is DCQCN's g, `eta` the utilisation that HPCC steers to. DCQCN is
    the fluid of `congestion.trajectory`, HPCC goes round trip by round trip; both are kept, so that
    coming back costs nothing.
    """
    controls = {
        "flows": slider("flows N", [2, 3, 4, 6, 8, 10, 12, 16, 24, 32], str, flows),
        "rate": slider(
            "port rate C",
            [10 * Gbps, 25 * Gbps, 40 * Gbps, 100 * Gbps, 200 * Gbps, 400 * Gbps],
            lambda value: si(value, "b/s"),
            rate,
        ),
        "gain": slider(
            "DCQCN: gain g",
            [2.0**-k for k in (10, 8, 6, 4, 2)],
            lambda value: f"1/{1 / value:.0f}",
            gain,
        ),
        "eta": slider("HPCC: target η", [0.8, 0.9, 0.95, 0.98, 1.0], "{:.2f}".format, eta),
    }

    def runs(flows, rate, gain, eta):
        return {"DCQCN": _dcqcn(flows, rate, gain), "HPCC": _hpcc(flows, rate, eta)}

    def rests(flows, rate, gain, eta):
        return {
            "DCQCN": (
                congestion.fixed_point(flows, congestion.Dcqcn(capacity=rate, gain=gain)).queue
            ),
            "HPCC": congestion.steady_queue(rate, flows, INCREASE, FEEDBACK, eta, packet=0),
        }

    def move(**values):
        found, at_rest = runs(**values), rests(**values)
        drawings.move_control(artists, values["rate"], found, at_rest)
        return _controlled(found, at_rest, values["flows"], values["rate"])

    figure, axes = plot.new(8.2, 4.6)
    starts = {name: control.value for name, control in controls.items()}
    artists = drawings.control(axes, rate, runs(**starts), rests(**starts))
    return Explorer(
        controls,
        figure,
        [artist for name, group in artists.items() if name != "axes" for artist in group],
        move,
        alt=(
            "DCQCN on the left, HPCC on the right; above the rate of each flow, below the queue,"
            " against logarithmic time."
        ),
        rows=[["flows", "rate"], ["gain", "eta"]],
    )


def _starts(flows, rate):
    return np.linspace(0.2, 1.0, flows) * rate


@functools.lru_cache(maxsize=512)
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
        rate, flows, INCREASE, FEEDBACK, TRIPS, eta, rates=_starts(flows, rate), packet=0
    )
    return FEEDBACK * np.arange(1, TRIPS + 1), run.rates, run.queue


def _controlled(runs, rests, flows, rate):
    lines = []
    for name, (times, rates, held) in runs.items():
        late = times > 0.9 * TRIPS * FEEDBACK
        low, high = float(held[late].min()), float(held[late].max())
        settled = (
            f"queue {_bytes(low)} to {_bytes(high)}"
            if high - low > 0.02 * high
            else f"queue {_bytes(high)}"
        )
        # a queue keeps the port busy, whatever comes in
        busy = np.where(held[late] > 0, 1.0, np.minimum(1.0, rates[late].sum(axis=1) / rate)).mean()
        unfair = rates[-1].max() / rates[-1].min()
        lines.append(
            f"{name}: at most {_bytes(float(held.max()))} queued; at the end {settled}, port"
            f" {busy:.0%} busy, flows {unfair:.3g} to 1."
        )
    rest = rests["DCQCN"]
    lines.append(
        f"DCQCN's fixed point for {flows} flows: "
        + (
            f"a queue of {_bytes(rest)}."
            if np.isfinite(rest)
            else "none below Kmax; the queue swings across it."
        )
    )
    fit = congestion.most_windows(rate, FEEDBACK)
    if flows > fit:
        lines.append(
            f"HPCC's lines are a fluid's: {flows} windows share {fit:.0f} packets on the path, less"
            " than one each. Real packets leave the port idle and queue all the same."
        )
    return "\n".join(lines)
