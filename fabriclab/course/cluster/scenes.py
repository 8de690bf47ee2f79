"""A scene of gradients that travel while the backward pass goes on."""

import numpy as np

from fabriclab import cluster, collectives
from fabriclab.catalog import NDR
from fabriclab.course.engine.scene import Scene, scene
from fabriclab.units import GB, ms, si

COUNTS = (1, 10, 100)


def passes(size=7.43 * GB, ranks=1024, backward=500 * ms):
    """{buckets: (BucketedStep, seconds of one AllReduce, start-up of it)} of notebook 6's ring."""
    startup = collectives.ring_allreduce(0, ranks, NDR.alpha, NDR.beta)
    there = {}
    for n in COUNTS:
        each = collectives.ring_allreduce(size / n, ranks, NDR.alpha, NDR.beta)
        there[n] = (cluster.bucketed_step(backward, n, each), each, startup)
    return there


@scene
def buckets(size=7.43 * GB, ranks=1024, backward=500 * ms):
    """The backward pass, and the AllReduces of 1, 10 and 100 buckets under it."""
    runs = passes(size, ranks, backward)
    end = max(step.total for step, _, _ in runs.values())
    times = np.unique(np.concatenate([np.linspace(0, end, 160), [backward]]))
    one, ten, many = (runs[n][0] for n in COUNTS)
    stops = [
        (
            0.0,
            f"The backward pass begins with the last layer: {si(backward, 's')} in all,"
            f" {si(size, 'B')}"
            " of gradients. Three jobs, which differ in how they hand them over.",
        ),
        (
            many.ready[0],
            f"100 buckets: the first is complete after {si(many.ready[0], 's')} and sets off at"
            f" once. Each pays its own start-ups, {si(runs[100][2], 's')}.",
        ),
        (
            ten.ready[0],
            f"10 buckets: the first is complete after {si(ten.ready[0], 's')}. The link is"
            f" done with it in {si(ten.finish[0] - ten.start[0], 's')}, then waits for the next.",
        ),
        (
            backward,
            "The pass is over, and the job waits for what still travels. With one bucket nothing"
            " has travelled yet.",
        ),
        (ten.total, f"10 buckets: {si(ten.exposed, 's')} exposed, one last bucket."),
        (
            many.total,
            f"100 buckets: {si(many.exposed, 's', 3)} exposed. The link never rested since the"
            f" first bucket, and had {si(many.busy, 's', 3)} of work: start-ups times a hundred.",
        ),
        (
            one.total,
            f"1 bucket: {si(one.exposed, 's', 3)} exposed, the whole AllReduce. Best is between:"
            " small last bucket, few start-ups.",
        ),
    ]
    shown = Scene(
        700,
        400,
        times,
        "ms",
        stops=stops,
        seconds=26,
        digits=0,
        alt="A backward pass of 500 ms and below it three ways to send its gradients: in 1, 10 and"
        " 100 buckets, whose AllReduces fill the link while the pass goes on, or after it.",
    )
    left, wide = 14, 670
    spot = lambda t: left + wide * np.asarray(t) / end
    grown = lambda start, finish: (
        wide * np.clip(times[:, None] - np.asarray(start), 0, np.subtract(finish, start)) / end
    )
    layers = np.linspace(0, backward, 11)
    shown.texts(
        "pass name",
        x=left,
        y=18,
        size=14,
        bold=1,
        align="left",
        text="backward pass, last layer first",
    )
    shown.rects(
        "pass ground",
        x=spot(layers[:-1]),
        y=32,
        h=26,
        fill="pale",
        w=wide * np.diff(layers) / end - 2,
    )
    shown.rects(
        "pass",
        x=spot(layers[:-1]),
        y=32,
        h=26,
        fill="good",
        w=np.maximum(0, grown(layers[:-1], layers[1:]) - 2),
    )
    shown.lines(
        "end of pass",
        x=spot(backward),
        x2=spot(backward),
        y=26,
        y2=372,
        stroke="muted",
        line=1.5,
        dash=4,
        gap=4,
    )
    for row, (n, (step, _, startup)) in enumerate(runs.items()):
        y = 92 + 98 * row
        start, finish = np.array(step.start), np.array(step.finish)
        ready = np.array(step.ready)
        waits = ((ready <= times[:, None] + 1e-12) & (start > times[:, None] + 1e-12)).sum(axis=1)
        free = (times[:, None] >= start - 1e-12) & (times[:, None] < finish - 1e-12)
        shown.texts(
            f"name {row}",
            x=left,
            y=y,
            size=14,
            bold=1,
            align="left",
            text=f"{n} bucket{'s' * (n > 1)} of {si(size / n, 'B', 3)}",
        )
        shown.rects(f"link {row}", x=left, y=y + 14, w=wide, h=30, fill="pale")
        gap = 1.5 if n <= 10 else 0.6
        shown.rects(
            f"start-up {row}",
            x=spot(start),
            y=y + 14,
            h=30,
            fill="startup",
            w=grown(start, start + startup),
        )
        shown.rects(
            f"wire {row}",
            x=spot(start + startup),
            y=y + 14,
            h=30,
            fill="wire",
            w=np.maximum(0, grown(start + startup, finish) - gap),
        )
        late = np.clip(times - backward, 0, step.exposed)
        shown.rects(
            f"exposed {row}",
            x=spot(backward),
            y=y + 48,
            h=7,
            fill="bad",
            w=(wide * late / end)[:, None],
        )
        told = [
            f"done: {si(step.exposed, 's', 3)} exposed"
            if t >= step.total - 1e-9
            else f"{'link busy' if f else 'link idle'}, {w} waiting"
            if t < backward or w or f
            else ""
            for t, w, f in zip(times, waits, free.any(axis=1))
        ]
        shown.texts(
            f"told {row}", x=left, y=y + 58, size=13, align="left", text=np.array(told)[:, None]
        )
    shown.lines("now", x=spot(times)[:, None], x2=spot(times)[:, None], y=26, y2=372, line=2)
    shown.rects(
        "key", x=[330, 430, 510], y=11, w=13, h=13, fill=np.array(["startup", "wire", "bad"])
    )
    shown.texts(
        "key words",
        x=[349, 449, 529],
        y=18,
        size=13,
        align="left",
        text=np.array(["start-ups", "bytes", "exposed: the job waits"]),
    )
    shown.texts(
        "marks",
        x=np.clip(spot([0, 0.25 * backward, 0.5 * backward, 0.75 * backward]), 24, 680),
        y=388,
        size=12,
        fill="muted",
        text=np.array([si(q * backward, "s") for q in (0, 0.25, 0.5, 0.75)]),
    )
    shown.texts("end word", x=spot(backward), y=388, size=12, bold=1, text=si(backward, "s"))
    return shown
