"""Level 5 alive: gradients that travel in buckets, and a ring with one slow link. Floor 6."""

from fabriclab import catalog, cluster, collectives
from fabriclab.course.cluster import figures as drawings
from fabriclab.course.engine import plot
from fabriclab.course.engine.explorer import Explorer, slider, steps
from fabriclab.units import GB, MB, day, ms, si, us

COUNTS = [
    1,
    2,
    3,
    4,
    5,
    6,
    8,
    10,
    12,
    16,
    20,
    25,
    32,
    40,
    50,
    64,
    80,
    100,
    128,
    200,
    256,
    512,
    1024,
]
RANKS = [2**k for k in range(1, 17)]


def _seconds(value):
    return si(value, "s", 4)


def _bytes(value):
    return si(value, "B", 4)


def buckets(backward=500 * ms, payload=7.43 * GB, buckets=8, ranks=1024, alpha=1.5 * us):
    """The gradient bus alive: `payload` bytes of gradients in equal buckets, each a ring AllReduce
    over `ranks`, during a pass of `backward` seconds.

    It starts with the text's 500 ms and 300 ms (7.43 GB over NDR). More buckets hide more, and each
    costs 2(N-1) start-ups.
    """
    controls = {
        "backward": slider("backward pass", steps(10 * ms, 10.0), _seconds, backward),
        "payload": slider("gradients M", steps(100 * MB, 300 * GB), _bytes, payload),
        "buckets": slider("buckets", COUNTS, "{:,}".format, buckets),
        "ranks": slider("ranks N", RANKS, "{:,}".format, ranks),
        "alpha": slider("start-up", [0.0, *steps(0.5, 50, us)], _seconds, alpha),
    }

    def step(backward, payload, buckets, ranks, alpha):
        return cluster.bucketed_step(
            backward,
            buckets,
            collectives.ring_allreduce(payload / buckets, ranks, alpha, catalog.NDR.beta),
        )

    def move(**values):
        now = step(**values)
        drawings.move_buckets(artists, now)
        each = {count: step(**values | {"buckets": count}).exposed for count in COUNTS}
        best = min(each, key=each.get)
        one, n = (
            collectives.ring_allreduce(
                values["payload"], values["ranks"], values["alpha"], catalog.NDR.beta
            ),
            values["buckets"],
        )
        hidden = f"{max(0.0, 1 - now.exposed / now.busy):.1%}"
        return "\n".join(
            [
                (
                    f"{n:,} x {_bytes(values['payload'] / n)}: each {_seconds(now.busy / n)} on the"
                    f" link, {_seconds(now.busy)} in all; as one, {_seconds(one)}."
                ),
                (
                    f"Exposed {_seconds(now.exposed)}, so {hidden} is hidden; max(0, AllReduce -"
                    " backward) says"
                    f" {_seconds(collectives.exposed_time(one, values['backward']))}."
                ),
                (
                    f"Least exposed, of this slider's counts, at {best:,}"
                    f" bucket{'s' if best > 1 else ''}: {_seconds(each[best])}."
                ),
            ]
        )

    figure, axes = plot.new(7.6, 3.2)
    artists = drawings.buckets(
        axes, step(**{name: control.value for name, control in controls.items()})
    )
    return Explorer(
        controls,
        figure,
        [artist for name, group in artists.items() if name != "legend" for artist in group],
        move,
        alt=(
            "Time line of a backward pass, its buckets' AllReduces on the link, and shaded what"
            " runs past the end of the pass."
        ),
        rows=[["backward", "payload"], ["buckets", "ranks"], ["alpha"]],
    )


def slow_link(size=6 * GB, ranks=1024, slowdown=2.0, compute=101 * ms, days=30):
    """A ring AllReduce of `size` bytes over NDR with one link `slowdown` times slower: what the
    step, and `days` of it, cost more.

    `compute` seconds a step, then the AllReduce, nothing hidden; a GPU-hour is $3. It starts with
    Napkin Math 1.2.
    """
    controls = {
        "size": slider("buffer M", [*steps(1 * MB, 100 * GB), 350 * GB], _bytes, size),
        "ranks": slider("ranks N", RANKS, "{:,}".format, ranks),
        "slowdown": slider(
            "slow link's rate",
            [1.0, 1 / 0.9, 1.25, 1.5, 2.0, 3.0, 4.0, 8.0, 16.0],
            lambda factor: f"{1 / factor:.3g} of full",
            slowdown,
        ),
        "compute": slider("compute a step", [0.0, *steps(1 * ms, 100.0)], _seconds, compute),
        "days": slider("run", [1, 2, 3, 7, 14, 30, 54, 90], lambda days: f"{days} d", days),
    }
    path = catalog.NDR.alpha, catalog.NDR.beta

    def move(size, ranks, slowdown, compute, days):
        drawings.move_slow_link(artists, size, ranks, *path, slowdown)
        whole, slow = (cluster.slow_link(size, ranks, *path, factor) for factor in (1.0, slowdown))
        longer = (slow - whole) / (compute + whole)
        lost = cluster.gpu_hours(ranks, days * day, longer)
        times = f"{slow / whole:.3g}"
        return "\n".join(
            [
                (
                    f"AllReduce {_seconds(whole)}, with the slow link {_seconds(slow)}:"
                    f" {'hardly longer' if times == '1' else f'{times} times as long'}."
                ),
                (
                    f"Step {_seconds(compute + whole)}, now {_seconds(compute + slow)}:"
                    f" {longer:.2%} longer; {whole / (compute + whole):.1%} of it was"
                    " communication."
                ),
                (
                    f"The work of {days} d on {ranks:,} GPUs takes {lost:,.0f} GPU-hours more,"
                    f" {si(cluster.cost_of(lost), '$', 4)}."
                ),
            ]
        )

    figure, axes = plot.new()
    artists = drawings.slow_link(axes, size, ranks, *path, slowdown)
    return Explorer(
        controls,
        figure,
        [artist for name, group in artists.items() if name != "legend" for artist in group],
        move,
        alt=(
            "Ring AllReduce time against buffer size, with all links whole and with one of them"
            " slow."
        ),
        rows=[["size", "ranks"], ["slowdown", "compute"], ["days"]],
    )
