"""Level 5 alive: the heat map of all pairs with a fault one plants, and what the evidence says of
it.
"""

import textwrap
from functools import lru_cache

from fabriclab import topology
from fabriclab.course.engine.explorer import Grip, dropdown, explorer, slider
from fabriclab.course.monitoring import heat_map as drawings
from fabriclab.logs.pairs import Part, explain, measure, wiring
from fabriclab.logs.pairs.evidence import SEEN
from fabriclab.units import GB, plural, si

# what is planted, of the host chosen, its leaf, and one spine: kinds and the way that is slow
PLANTS = {
    "nothing": (),
    "a host": (("host", "both"),),
    "a host, sending": (("host", "out"),),
    "a host, receiving": (("host", "in"),),
    "a leaf": (("leaf", "both"),),
    "a cable bundle": (("bundle", "both"),),
    "a bundle, upwards": (("bundle", "out"),),
    "a spine": (("spine", "both"),),
    "a host and a spine": (("host", "both"), ("spine", "both")),
}
SPINE = "spine-2"
HEALTHY_RATE = 50 * GB  # of a port: the end of the colour scale
PATHS = {"one QP, hashed": "hash", "many QPs, spread": "spread", "pinned, each spine": "pinned"}
_WIDEST = 100  # characters of a line of the readout


@lru_cache(maxsize=1)
def network():
    """The fabric of the explorer: 4 leaves of 8 hosts, 4 spines."""
    return topology.leaf_spine(4, 4, 8, 8)


def planted(fault, host):
    """The `Part`s that `fault` plants at host number `host`."""
    leaf = wiring(network()).leaves[wiring(network()).leaf[host - 1]]
    names = {
        "host": (f"host-{host:02d}",),
        "leaf": (leaf,),
        "bundle": (leaf, SPINE),
        "spine": (SPINE,),
    }
    return tuple(Part(kind, *names[kind], way=way) for kind, way in PLANTS[fault])


def _grips(fault, **_):
    """A cell clicked: the host that sends or receives there is the one that is planted."""
    by_row = fault in ("a host, sending", "a bundle, upwards")
    start = {"fault": "a host, receiving"} if fault == "nothing" else {}
    yield Grip(None, lambda x, y: start | {"host": 1 + round(y if by_row else x)})


def _draw(axes, *numbers):
    return drawings.heat_map(axes, *numbers, HEALTHY_RATE)


def _move(artists, *numbers):
    drawings.move_heat_map(artists, *numbers, HEALTHY_RATE)


LEFT = [0.0, 0.1, 0.25, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98]
SHARES = [0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0]
NOISE = [0.0, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1]


@explorer(
    _draw,
    _move,
    [
        {
            "fault": dropdown("planted", list(PLANTS)),
            "host": slider("at", range(1, 33), "host-{:02d}"),
        },
        {"left": slider("its rate", LEFT, "{:.0%} of full")},
        {
            "paths": dropdown("paths", list(PATHS)),
            "share": slider("pairs measured", SHARES, "{:.0%}"),
        },
        {
            "noise": slider("noise", NOISE, "{:.1%}"),
            "seed": slider("measured anew", range(1, 21), "run {}"),
        },
    ],
    alt="Heat map of bandwidth from each of 32 hosts to each other, leaf by leaf; the cells that"
    " the verdict speaks of are outlined.",
    size=(7.6, 5.0),
    still=("scale",),
    grips=_grips,
)
def heat_map(
    fault="a host, receiving",
    host=13,
    left=0.5,
    paths="one QP, hashed",
    share=1.0,
    noise=0.01,
    seed=1,
):
    """The heat map alive: plant a fault in 32 hosts on 4 leaves and 4 spines, and see what
    `explain` names, and whether it may.

    A click on a cell plants the fault at that `host`, a number from 1; a leaf or a bundle is that
    host's. `left` is the slow part's share of its rate, `share` how many of the 992 ordered pairs
    are measured, `noise` the relative deviation of one measurement. A fault that is hidden, or
    that no pair can place, is the point: the words say so.
    """
    slow = dict.fromkeys(planted(fault, host), left)
    pairs, verdict = _measured(slow, PATHS[paths], share, noise, seed)
    what = f"{' and '.join(map(str, slow))} at {left:.0%}" if slow else "nothing"
    lines = [
        f"Planted: {what}.",
        f"Measured: {pairs!r}.",
        *_found(verdict),
        _next(verdict),
        judged(slow, verdict),
    ]
    return (pairs, network(), verdict), [
        part for line in lines for part in textwrap.wrap(line, _WIDEST)
    ]


def _measured(planted, how, share, noise, seed):
    every = network().hosts * (network().hosts - 1)
    some, pinned = None if share == 1 else round(share * every), how == "pinned"
    routing = "hash" if pinned else how
    pairs = measure(network(), planted, routing, noise, seed, some, pinned)
    return pairs, explain(pairs, network(), routing)


def _found(verdict):
    if verdict.healthy:
        seen = f"{SEEN * verdict.noise:.0%} below {si(verdict.level, 'B/s')}"
        return [f"Nothing stands out: no part is slow by {seen}."]
    if not verdict.findings:
        return [verdict.lines[0][0].upper() + verdict.lines[0][1:] + "."]
    return [
        f"{'Named' if finding.decided else 'Cannot decide which'}: {finding.words},"
        f" {plural(finding.cold.size, 'pair')} at {finding.fraction:.0%} of"
        f" {si(verdict.level, 'B/s')}."
        for finding in verdict.findings
    ]


def _next(verdict):
    wanted = [finding.next for finding in verdict.findings if finding.next]
    if verdict.unexplained.size:
        wanted.append(
            f"measure {plural(verdict.unexplained.size, 'cold pair')} again that no part explains"
        )
    return f"Next: {wanted[0]}." if wanted else "Next: no further measurement is asked for."


def judged(planted, verdict):
    """Whether a `Verdict` is right about the parts in `planted`, in a sentence."""
    there = [
        any(part.place in {other.place for other in finding.parts} for part in planted)
        for finding in verdict.findings
    ]
    found = [
        any(part.place in {other.place for other in finding.parts} for finding in verdict.findings)
        for part in planted
    ]
    if not all(there):
        return "Wrong: it names a part that is sound."
    if not planted:
        return (
            "Right: nothing is wrong."
            if verdict.healthy
            else "Not quite: nothing is wrong, and some pairs were measured badly."
        )
    if not any(found):
        return "Missed: too few pairs, too much noise or too little lost to show."
    if not all(found):
        return "Half right: one of the two parts is missed."
    if verdict.decided:
        return "Right: it names what was planted."
    return (
        "Right as far as it goes: the planted part is among those that these pairs do not tell"
        " apart."
    )
