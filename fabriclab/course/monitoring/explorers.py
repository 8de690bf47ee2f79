"""Level 5 alive: the heat map of all pairs with a fault one plants, and what the evidence says of
it. Floor 6.
"""

import textwrap
from functools import lru_cache

import ipywidgets

from fabriclab import topology
from fabriclab.course.engine import plot
from fabriclab.course.engine.explorer import Explorer, slider
from fabriclab.course.monitoring import heat_map as drawings
from fabriclab.logs.pairs import Part, explain, measure
from fabriclab.units import si

_HOST, _BUNDLE, _SPINE = ("host", "host-13"), ("bundle", "leaf-3", "spine-2"), ("spine", "spine-2")
PLANTS = {
    "nothing": (),
    "a host": (Part(*_HOST),),
    "a host, sending": (Part(*_HOST, way="out"),),
    "a host, receiving": (Part(*_HOST, way="in"),),
    "a leaf": (Part("leaf", "leaf-2"),),
    "a cable bundle": (Part(*_BUNDLE),),
    "a bundle, upwards": (Part(*_BUNDLE, way="out"),),
    "a spine": (Part(*_SPINE),),
    "a host and a spine": (Part(*_HOST), Part(*_SPINE)),
}
PATHS = {"one QP, hashed": "hash", "many QPs, spread": "spread", "pinned, each spine": "pinned"}
_WIDEST = 100  # characters of a line of the readout


@lru_cache(maxsize=1)
def network():
    """The fabric of the explorer: 4 leaves of 8 hosts, 4 spines."""
    return topology.leaf_spine(4, 4, 8, 8)


def heat_map(
    fault="a host, receiving", left=0.5, paths="one QP, hashed", share=1.0, noise=0.01, seed=1
):
    """The heat map alive: plant a fault in 32 hosts on 4 leaves and 4 spines, and see what
    `explain` names, and whether it may.

    `left` is the slow part's share of its rate, `share` how many of the 992 ordered pairs are
    measured, `noise` the relative deviation of one measurement. A fault that is hidden, or that no
    pair can place, is the point: the words say so.
    """
    controls = {
        "fault": _choice("planted", list(PLANTS), fault),
        "paths": _choice("paths", list(PATHS), paths),
        "left": slider(
            "its rate",
            [0.0, 0.1, 0.25, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98],
            "{:.0%} of full".format,
            left,
        ),
        "share": slider(
            "pairs measured",
            [0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0],
            "{:.0%}".format,
            share,
        ),
        "noise": slider(
            "noise", [0.0, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1], "{:.1%}".format, noise
        ),
        "seed": slider("measured anew", list(range(1, 21)), "run {}".format, seed),
    }

    def move(**values):
        planted = dict.fromkeys(PLANTS[values["fault"]], values["left"])
        pairs, verdict = _measured(**values)
        drawings.move_heat_map(artists, pairs, network(), verdict)
        said = f"Measured: {pairs!r}."
        what = (
            f"Planted: {' and '.join(map(str, planted))} at {values['left']:.0%}."
            if planted
            else "Planted: nothing."
        )
        lines = [f"{what} {said}", *_found(verdict), _next(verdict), judged(planted, verdict)]
        return "\n".join(part for line in lines for part in textwrap.wrap(line, _WIDEST))

    figure, axes = plot.new(7.6, 5.0)
    start, verdict = _measured(**{name: control.value for name, control in controls.items()})
    artists = drawings.heat_map(axes, start, network(), verdict)
    return Explorer(
        controls,
        figure,
        [artist for name in ("cells", "leaves", "outline") for artist in artists[name]],
        move,
        alt=(
            "Heat map of bandwidth from each of 32 hosts to each other, leaf by leaf; the cells"
            " that the verdict speaks of are outlined."
        ),
        rows=[["fault", "left"], ["paths", "share"], ["noise", "seed"]],
    )


def _choice(name, options, value):
    return ipywidgets.Dropdown(
        options=options,
        value=value,
        description=name,
        style={"description_width": "130px"},
        layout={"width": "400px", "max_width": "100%"},
    )


def _measured(fault, left, paths, share, noise, seed):
    how, all_of_them = PATHS[paths], network().hosts * (network().hosts - 1)
    pairs = measure(
        network(),
        dict.fromkeys(PLANTS[fault], left),
        "hash" if how == "pinned" else how,
        noise,
        seed,
        None if share == 1 else round(share * all_of_them),
        how == "pinned",
    )
    return pairs, explain(pairs, network(), "hash" if how == "pinned" else how)


def _found(verdict):
    if not verdict.findings:
        return [verdict.lines[0][0].upper() + verdict.lines[0][1:] + "."]
    return [
        f"{'Named' if finding.decided else 'Cannot decide which'}: {finding.words},"
        f" {finding.cold.size:,} pair{'s' * (finding.cold.size != 1)} at {finding.fraction:.0%} of"
        f" {si(verdict.level, 'B/s')}."
        for finding in verdict.findings
    ]


def _next(verdict):
    wanted = [finding.next for finding in verdict.findings if finding.next]
    if verdict.unexplained.size:
        wanted.append(
            f"measure {verdict.unexplained.size:,} cold pair{'s' * (verdict.unexplained.size != 1)}"
            " again that no part explains"
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
