"""Drawings of the ledger: verdicts part by part, and how far off each erratum is."""

import numpy as np

from fabriclab.course.engine.plot import COLOURS, drawing

_FILLS = {
    "agrees": "third",
    "rounds": "wire",
    "assumed": "pale",
    "differs": "second",
    "conflicts": "startup",
}


@drawing
def verdicts(ax, parts):
    """Rows by verdict for each of `parts`, a dict of a part's name and its rows, as bars from left
    to right.
    """
    names = list(parts)
    places = np.arange(len(names))[::-1]
    ax.set(yticks=places, yticklabels=names, xlabel="numbers the texts print")
    ax.tick_params(axis="y", length=0)
    artists, left = {}, np.zeros(len(names))
    for verdict, colour in _FILLS.items():
        counts = np.array([sum(row.verdict == verdict for row in parts[name]) for name in names])
        artists[verdict] = list(
            ax.barh(
                places,
                counts,
                left=left,
                height=0.7,
                color=COLOURS[colour],
                edgecolor=COLOURS["ink"],
                linewidth=0.6,
                label=verdict,
            )
        )
        left += counts
    ax.set_xlim(0, 1.04 * left.max())
    artists["legend"] = ax.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=5,
        borderaxespad=0.2,
        columnspacing=1.2,
        handlelength=1.4,
    )
    return artists


@drawing
def factors(ax, rows, most=100_000):
    """How far off each of `rows` is, `ledger.Row.factor`, from the furthest to the nearest; beyond
    `most` at the edge.

    The dashed lines are a factor of two and a tenth. The furthest of all, of those below 100 and of
    those below 10 are named.
    """
    far = np.array([min(row.factor(), most) for row in rows])
    order = np.argsort(-far, kind="stable")
    ax.set(
        yscale="log",
        ylim=(0.95, 1.3 * most),
        xlim=(-1, len(rows)),
        xlabel="errata, the furthest off first",
        ylabel="off by a factor of",
    )
    ticks = [1, 2, *(10**power for power in range(1, 6))]
    ax.set_yticks(ticks, [f"{tick:,}" for tick in ticks])
    ax.yaxis.set_minor_formatter(lambda value, _: "")
    artists = {
        "lines": [
            ax.axhline(level, color=COLOURS["muted"], linestyle="--", linewidth=1.2)
            for level in (2.0, 1.1)
        ],
        "dots": [],
        "labels": [],
    }
    for verdict, mark, colour in (("differs", "o", "second"), ("conflicts", "D", "first")):
        at = [place for place, index in enumerate(order) if rows[index].verdict == verdict]
        artists["dots"] += ax.plot(
            at, far[order][at], mark, color=COLOURS[colour], markersize=6, label=verdict
        )
    for place in dict.fromkeys(int((far >= high).sum()) for high in (np.inf, 100, 10)):
        if place < len(rows):
            artists["labels"].append(
                ax.annotate(
                    rows[order[place]].id,
                    (place, far[order[place]]),
                    (8, 2),
                    textcoords="offset points",
                    va="bottom",
                )
            )
    artists["legend"] = ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2
    )
    return artists
