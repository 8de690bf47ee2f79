"""A scene of a cable that fails, and of what goes another way."""

import numpy as np

from fabriclab import cluster, topology
from fabriclab.course.engine.scene import Scene, scene
from fabriclab.units import GB, MB, ms, si

LEAVES = SPINES = DOWN = 4
PORT = 50 * GB
NETWORK = topology.leaf_spine(LEAVES, SPINES, DOWN, SPINES)  # hosts 0 to 15, leaves, spines
DEAD = (0, 1)  # leaf, spine
STAGES = {"whole": 0.0, "dead": 60 * ms, "hashed": 110 * ms, "spread": 170 * ms, "mended": 230 * ms}
END = 290 * ms


def split(stage):
    """(flows, spines): the share of each flow over each spine. Flow h goes from host h to the same
    place on the next leaf; whole, each has a spine of its own.
    """
    share = np.zeros((16, SPINES))
    for h in range(16):
        leaf, spine = h // DOWN, h % SPINES
        touched = DEAD[0] in (leaf, (leaf + 1) % LEAVES)
        if stage in ("hashed", "spread") and touched:
            left = [s for s in range(SPINES) if s != DEAD[1]]
            if stage == "spread":
                share[h, left] = 1 / len(left)
                continue
            spine = left[h % len(left)] if spine == DEAD[1] else spine
        share[h, spine] = 1.0
    return share


def channels():
    """The directed cables between leaves and spines: (leaf, spine, 0 up or 1 down)."""
    return [(leaf, s, way) for way in (0, 1) for leaf in range(LEAVES) for s in range(SPINES)]


def rates(stage):
    """(bytes/s of each flow, bytes/s on each of `channels`): max-min fair. Packets that spread
    evenly over what is left see the cables of a leaf as one.
    """
    share, ends = split(stage), channels()
    leaf_of = lambda way: (np.arange(16) // DOWN + way) % LEAVES
    weight = np.array([share[:, s] * (leaf_of(way) == leaf) for leaf, s, way in ends])
    alive = np.ones(16, bool)
    if stage == "dead":
        alive = ~weight[[(leaf, s) == DEAD for leaf, s, _ in ends]].any(axis=0)
    if stage == "spread":
        crosses = np.array([leaf_of(way) == leaf for way in (0, 1) for leaf in range(LEAVES)]) * 1
        room = PORT * np.array([SPINES - (i == DEAD[0]) for _ in (0, 1) for i in range(LEAVES)])
    else:
        crosses, room = weight, np.full(len(ends), PORT)
    rate = np.zeros(16)
    rate[alive] = cluster.max_min_network(np.full(alive.sum(), PORT), room, crosses[:, alive])
    return rate, weight @ rate


@scene
def reroute(step=2 * ms):
    """A cable fails under sixteen flows: a gap, then other paths, by hash and by load."""
    stages = list(STAGES)
    known = {stage: rates(stage) for stage in stages}
    times = np.unique(
        np.round(np.concatenate([np.arange(0, END, step), [*STAGES.values(), END]]), 9)
    )
    stage_of = [stages[k] for k in np.searchsorted(list(STAGES.values()), times, "right") - 1]
    flow = np.array([known[s][0] for s in stage_of])
    load = np.array([known[s][1] for s in stage_of])
    ends = channels()
    bundle = next(
        k
        for k, (a, b) in enumerate(zip(NETWORK.a, NETWORK.b))
        if {int(a), int(b)} == {16 + DEAD[0], 16 + LEAVES + DEAD[1]}
    )
    broken = topology.without_cable(NETWORK, bundle)
    lost = topology.failure(NETWORK, broken)
    cut = topology.flow(broken, range(4), range(4, 16)) / topology.flow(
        NETWORK, range(4), range(4, 16)
    )
    slow = {stage: float(known[stage][0].min()) / PORT for stage in stages}
    count = lambda stage, low, high: int(
        np.sum((known[stage][0] > low * PORT) & (known[stage][0] < high * PORT))
    )
    name = f"leaf {DEAD[0] + 1} and spine {DEAD[1] + 1}"
    stops = [
        (
            0.0,
            "Sixteen flows, each from a host to one on the next leaf, each with a spine of its own:"
            f" all run at {si(PORT, 'B/s')}.",
        ),
        (
            STAGES["dead"],
            f"The cable between {name} fails. {count('dead', -1, 0.01)} flows lose all they"
            " send: the switches do not know yet. (50 ms until they do is assumed here.)",
        ),
        (
            STAGES["hashed"],
            "Routing has taken the dead cable out. The two flows are hashed to other"
            f" spines, where they share: {count('hashed', 0.4, 0.6)} flows run at half their"
            " rate. A"
            f" collective goes at {slow['hashed']:.0%}.",
        ),
        (
            STAGES["spread"],
            f"If each packet may take any spine that is left, {count('spread', 0.6, 0.8)} flows"
            f" share the loss: the slowest has {slow['spread']:.0%}, which is the cut, three of"
            " four cables"
            f" ({cut:.0%}).",
        ),
        (
            STAGES["mended"],
            "The cable is back. Of the whole fabric's bisection"
            f" {lost.bisection_left / lost.bisection_before:.0%} had been left: the average hides"
            " who pays.",
        ),
    ]
    shown = Scene(
        700,
        420,
        times,
        "ms",
        stops=stops,
        seconds=28,
        digits=0,
        telling=STAGES["hashed"],
        alt="A leaf-spine of 16 hosts with one flow from each. A cable fails: two flows stop, then"
        " are hashed to other spines and share there, then all packets are spread.",
    )
    spine = {s: (130 + 148 * s, 66) for s in range(SPINES)}
    leaf = {i: (95 + 170 * i, 214) for i in range(LEAVES)}
    lines = np.array(
        [
            (*(leaf[i] if way == 0 else spine[s]), *(spine[s] if way == 0 else leaf[i]))
            for i, s, way in ends
        ],
        float,
    )
    away = lines[:, 2:] - lines[:, :2]
    aside = np.column_stack([-away[:, 1], away[:, 0]]) / np.hypot(*away.T)[:, None] * 3.5
    x, y, x2, y2 = (lines + np.tile(aside, 2)).T
    down = np.array([(s == "dead" or s == "hashed" or s == "spread") for s in stage_of])
    is_dead = np.array([(i, s) == DEAD for i, s, _ in ends])
    crossing = np.array(
        [
            [
                (
                    (split(stage)[:, s] > 0)
                    & (
                        (
                            np.arange(16) // DOWN
                            if way == 0
                            else (np.arange(16) // DOWN + 1) % LEAVES
                        )
                        == i
                    )
                ).sum()
                for i, s, way in ends
            ]
            for stage in stages
        ]
    )[[stages.index(s) for s in stage_of]]
    dead = down[:, None] & is_dead
    colour = np.where(dead, "bad", np.where(crossing > 1, "startup", "first"))
    bytes_by = np.vstack(
        [np.zeros(len(ends)), np.cumsum(load[:-1] * np.diff(times)[:, None], axis=0)]
    )
    for k in range(len(ends)):
        shown.lines(
            f"cable {k}",
            x=x[k],
            y=y[k],
            x2=x2[k],
            y2=y2[k],
            line=3.5,
            dash=8,
            gap=5,
            stroke=colour[:, [k]],
            offset=np.round(bytes_by[:, [k]] / (32 * MB)),
            alpha=np.where(dead, 0.35, np.where(load > 0, 0.9, 0.15))[:, [k]],
            hold=("alpha",),
        )
    mx, my = (np.add(leaf[DEAD[0]], spine[DEAD[1]]) / 2).tolist()
    for side in (-1, 1):
        shown.lines(
            f"cross {side}",
            x=mx - 13 * side,
            y=my - 13,
            x2=mx + 13 * side,
            y2=my + 13,
            stroke="bad",
            line=6,
            alpha=down[:, None] * 1.0,
            hold=("alpha",),
        )
    for kind, there in (("spine", spine), ("leaf", leaf)):
        px, py = np.array(list(there.values()), float).T
        shown.rects(
            f"{kind} boxes",
            x=px - 42,
            y=py - 15,
            w=84,
            h=30,
            fill="paper",
            stroke="ink",
            line=1.6,
            round=5,
        )
        shown.texts(
            f"{kind} names",
            x=px,
            y=py,
            size=13,
            bold=1,
            text=np.array([f"{kind} {i + 1}" for i in there]),
        )
    hx = np.array([leaf[h // DOWN][0] + (h % DOWN - 1.5) * 38 for h in range(16)])
    lx = np.array([leaf[h // DOWN][0] for h in range(16)], float)
    shown.lines("ports", x=lx, y=229, x2=hx, y2=258, stroke="line", line=1.5)
    shown.circles("hosts", x=hx, y=270, r=13, fill="paper", stroke="ink", line=1.5)
    shown.texts(
        "host names", x=hx, y=270, size=12, bold=1, text=np.array([str(h) for h in range(16)])
    )
    part = flow / PORT
    shown.rects("ground", x=hx - 14, y=292, w=28, h=76, fill="pale")
    shown.rects(
        "rates",
        x=hx - 14,
        y=368 - 76 * part,
        w=28,
        h=76 * part,
        hold=("y", "h"),
        fill=np.where(part > 0.99, "good", np.where(part > 0.01, "startup", "bad")),
    )
    shown.texts(
        "per cents",
        x=hx,
        y=380,
        size=12,
        text=np.array([[f"{p:.0%}" for p in row] for row in part]),
        fill=np.where(part > 0.99, "muted", "ink"),
    )
    shown.texts(
        "what",
        x=14,
        y=406,
        size=13,
        align="left",
        fill="muted",
        text="what each host's flow gets of its port",
    )
    worst = part.min(axis=1)
    shown.texts(
        "pace",
        x=686,
        y=406,
        size=13,
        bold=1,
        align="right",
        text=np.array([[f"the slowest: {p:.0%}"] for p in worst]),
    )
    states = {
        "whole": "all cables up",
        "dead": "a cable is dead, unnoticed",
        "hashed": "hashed to other spines",
        "spread": "packets spread over three spines",
        "mended": "mended",
    }
    shown.texts(
        "state",
        x=14,
        y=20,
        size=14,
        bold=1,
        align="left",
        text=np.array([[states[s]] for s in stage_of]),
    )
    shown.lines(
        "key",
        x=[330, 440],
        x2=[356, 466],
        y=20,
        y2=20,
        line=3.5,
        dash=8,
        gap=5,
        stroke=np.array(["first", "startup"]),
    )
    shown.texts(
        "key words",
        x=[364, 474],
        y=20,
        size=13,
        align="left",
        text=np.array(["one flow", "several share the cable"]),
    )
    return shown
