"""Level 5 alive: gradients that travel in buckets, and a ring with one slow link."""

from fabriclab import catalog, cluster, collectives
from fabriclab.course.cluster import figures as drawings
from fabriclab.course.engine.explorer import explorer, slider, steps
from fabriclab.units import GB, MB, day, ms, plural, si, us

COUNTS = sorted([*(2**k for k in range(11)), 3, 5, 6, 10, 12, 20, 25, 40, 50, 80, 100, 200])
RANKS = [2**k for k in range(1, 17)]
NDR = catalog.NDR.alpha, catalog.NDR.beta


@explorer(
    drawings.buckets,
    drawings.move_buckets,
    [
        {
            "backward": slider("backward pass", steps(10 * ms, 10.0), "s"),
            "payload": slider("gradients M", steps(100 * MB, 300 * GB), "B"),
        },
        {"buckets": slider("buckets", COUNTS, "{:,}"), "ranks": slider("ranks N", RANKS, "{:,}")},
        {"alpha": slider("start-up", [0.0, *steps(0.5, 50, us)], "s")},
    ],
    alt="Time line of a backward pass, its buckets' AllReduces on the link, and shaded what runs"
    " past the end of the pass.",
    size=(7.6, 3.2),
)
def buckets(backward=500 * ms, payload=7.43 * GB, buckets=8, ranks=1024, alpha=1.5 * us):
    """The gradient bus alive: `payload` bytes of gradients in equal buckets, each a ring AllReduce
    over `ranks`, during a pass of `backward` seconds.

    It starts with the text's 500 ms and 300 ms (7.43 GB over NDR). More buckets hide more, and each
    costs 2(N-1) start-ups.
    """

    def ring(count):
        return collectives.ring_allreduce(payload / count, ranks, alpha, catalog.NDR.beta)

    now = cluster.bucketed_step(backward, buckets, ring(buckets))
    each = {n: cluster.bucketed_step(backward, n, ring(n)).exposed for n in COUNTS}
    best, one = min(each, key=each.get), ring(1)
    ideal = collectives.exposed_time(one, backward)
    return [now], [
        f"{buckets:,} x {si(payload / buckets, 'B')}: each {si(now.busy / buckets, 's')} on the"
        f" link, {si(now.busy, 's')} in all; as one, {si(one, 's')}.",
        f"Exposed {si(now.exposed, 's')}, so {max(0.0, 1 - now.exposed / now.busy):.1%} is hidden;"
        f" max(0, AllReduce - backward) says {si(ideal, 's')}.",
        f"Least exposed, of this slider's counts, at {plural(best, 'bucket')}:"
        f" {si(each[best], 's')}.",
    ]


@explorer(
    drawings.slow_link,
    drawings.move_slow_link,
    [
        {
            "size": slider("buffer M", [*steps(1 * MB, 100 * GB), 350 * GB], "B"),
            "ranks": slider("ranks N", RANKS, "{:,}"),
        },
        {
            "slowdown": slider(
                "slow link's rate",
                [1.0, 1 / 0.9, 1.25, 1.5, 2.0, 3.0, 4.0, 8.0, 16.0],
                lambda factor: f"{1 / factor:.3g} of full",
            ),
            "compute": slider("compute a step", [0.0, *steps(1 * ms, 100.0)], "s"),
        },
        {"days": slider("run", [1, 2, 3, 7, 14, 30, 54, 90], "{} d")},
    ],
    alt="Ring AllReduce time against buffer size, with all links whole and with one of them slow.",
)
def slow_link(size=6 * GB, ranks=1024, slowdown=2.0, compute=101 * ms, days=30):
    """A ring AllReduce of `size` bytes over NDR with one link `slowdown` times slower: what the
    step, and `days` of it, cost more.

    `compute` seconds a step, then the AllReduce, nothing hidden; a GPU-hour is $3. It starts with
    Napkin Math 1.2.
    """
    whole, slow = (cluster.slow_link(size, ranks, *NDR, factor) for factor in (1.0, slowdown))
    longer = (slow - whole) / (compute + whole)
    lost = cluster.gpu_hours(ranks, days * day, longer)
    times = f"{slow / whole:.3g}"
    return (size, ranks, *NDR, slowdown), [
        f"AllReduce {si(whole, 's')}, with the slow link {si(slow, 's')}:"
        f" {'hardly longer' if times == '1' else f'{times} times as long'}.",
        f"Step {si(compute + whole, 's')}, now {si(compute + slow, 's')}: {longer:.2%} longer;"
        f" {whole / (compute + whole):.1%} of it was communication.",
        f"The work of {days} d on {ranks:,} GPUs takes {lost:,.0f} GPU-hours more,"
        f" {si(cluster.cost_of(lost), '$')}.",
    ]
