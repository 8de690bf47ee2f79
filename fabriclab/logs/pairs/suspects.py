"""Which part explains the cold cells: candidates from the wiring, the verdict, and what to measure
next.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from fabriclab.checks import positive, scalar
from fabriclab.logs.pairs.evidence import (
    SEEN,
    VERY_STRONG,
    Case,
    Family,
    residual_noise,
    scatter_of,
)
from fabriclab.logs.pairs.model import PATHS, passes, spines_between
from fabriclab.logs.pairs.records import Pairs, Part, wiring
from fabriclab.logs.pairs.verdict import Finding, Suspect, Verdict, _listed
from fabriclab.topology.graph import Topology

_SHOWN = 8  # suspects kept for a ranking


_FEW = 16  # measurements that cannot show their own noise


_WEIGHED = 64  # parts that advice tells apart


def explain(
    pairs: Pairs,
    where: Topology | Mapping | None = None,
    paths: str = "hash",
    noise: float = 0.01,
    spines: int | Sequence[str] | None = None,
) -> Verdict:
    """The `Verdict` on `pairs`: the fewest slow parts that explain the cold cells, and where the
    evidence does not tell which.

    `pairs`: `Pairs`, or a reading of this reader. `where`: what `wiring` takes, with `spines`;
    hosts go by their names; None: only hosts can be named, and spines where paths are pinned.
    `paths`: how it was measured, "hash" (one QP a pair) or "spread" (many, over all spines); pinned
    paths are known as such. `noise`: the least relative deviation believed of a repeated
    measurement; where the cells scatter more, their own counts; fewer than 16 cannot show it, and
    three times that is believed.

    How: see `fabriclab.logs.pairs.evidence`. Each fault costs ``2 ln(parts) + ln(cells)`` and
    must gain 10 beyond it; parts within 10 of the best are not told apart; a part counts only if
    all cells through it are slow (2 % may be wrong), by 2 % or more.

    Raises ValueError for hosts that `where` has not, and for paths that contradict it.

    >>> from fabriclab import topology
    >>> from fabriclab.logs.pairs import measure
    >>> network = topology.leaf_spine(4, 2, 4, 4)
    >>> explain(measure(network, {Part("host", "host-05"): 0.5}), network)
    host-05: 30 cold pairs at 50% of 48.08 GB/s
    >>> explain(measure(network, {Part("spine", "spine-2"): 0.5}, pinned=True), network).parts
    (Part(kind='spine', name='spine-2', spine=None, way='both'),)
    """
    pairs = getattr(pairs, "pairs", pairs)
    if not isinstance(pairs, Pairs):
        raise ValueError(f"pairs must be Pairs, or a reading of them, not {pairs!r:.60}")
    if paths not in PATHS:
        raise ValueError(f"paths must be {' or '.join(PATHS)}, not {paths!r}")
    floor = scalar("noise", positive("noise", noise))
    where = (
        None
        if where is None
        else _placed(pairs, wiring(where, pairs.spines or None if spines is None else spines))
    )
    families = _families(pairs, where, paths)
    values = pairs.bandwidth
    floor *= 1 if values.size >= _FEW else 3
    noise = max(floor, scatter_of(values))
    fit = Case(values, families, noise).search()
    if fit.score > -np.inf and values.size >= 8:
        again = max(floor, residual_noise(fit))
        if abs(again - noise) > 0.1 * noise:
            noise, fit = again, Case(values, families, again).search()
    if fit.score == -np.inf:
        level = float(np.median(values))
        return Verdict(
            level, noise, (), (), np.zeros(0, int), where is not None, _warm(values, level, noise)
        )
    findings = [
        _finding(pairs, where, paths, fit, j)
        for j, cold in enumerate(fit.fractions)
        if cold <= 1 - SEEN * noise
    ]
    nothing = fit.case.fit()
    ranked = [_suspect(other, nothing) for other in fit.case.alternatives(nothing)[:_SHOWN]]
    left = np.flatnonzero(values < fit.predicted - 5 * fit.width)
    return Verdict(
        fit.level,
        noise,
        tuple(sorted(findings, key=lambda finding: -finding.gain)),
        tuple(ranked),
        left,
        where is not None,
        _warm(values, fit.level, noise),
    )


def _warm(values, level, noise):
    above = int((values > level * (1 + SEEN * noise)).sum())
    return above if above > 0.02 * values.size else 0


def _placed(pairs, where):
    """`where` for the hosts of `pairs`, in their order.

    The spines of a pinned measurement must be those of the wiring.
    """
    at = {host: number for number, host in enumerate(where.hosts)}
    lost = [host for host in pairs.hosts if host not in at]
    if lost:
        raise ValueError(
            f"where must say the leaf of every host, and does not know {lost[0]}; it knows"
            f" {', '.join(where.hosts[:3])}, …"
        )
    where = replace(where, hosts=pairs.hosts, leaf=where.leaf[[at[host] for host in pairs.hosts]])
    out, into = where.leaf[pairs.source], where.leaf[pairs.target]
    apart = np.flatnonzero((where.plane[out] != where.plane[into]) & (out != into))
    if apart.size:
        first = apart[0]
        raise ValueError(
            "where must have a path for every pair, and has none from"
            f" {pairs.hosts[pairs.source[first]]} to {pairs.hosts[pairs.target[first]]}"
        )
    if pairs.via is not None:
        known = {name for names in where.spines for name in names}
        strange = [name for name in pairs.spines if name not in known]
        if strange:
            raise ValueError(
                f"where must have every spine that a path was pinned to, and has no {strange[0]}"
            )
        wrong = np.flatnonzero((pairs.via < 0) != (out == into))
        if wrong.size:
            first = wrong[0]
            raise ValueError(
                "pairs must name a spine exactly between leaves:"
                f" {pairs.hosts[pairs.source[first]]} to {pairs.hosts[pairs.target[first]]}"
                f" {'names none' if pairs.via[first] < 0 else 'lies on one leaf'}"
            )
    return where


def _families(pairs, where, paths):
    """Every part that can be named, by the records that pass it; parts with the same records are
    one candidate.
    """
    source, target, hosts = pairs.source, pairs.target, pairs.hosts
    by_size = np.argsort(pairs.bandwidth, kind="stable")
    found = []

    def add(labels, many, parts, share=None, over=None):
        found.append(Family(labels, many, parts, by_size, share, over))

    for way, labels in (("both", (source, target)), ("out", (source,)), ("in", (target,))):
        add(labels, len(hosts), lambda g, way=way: (Part("host", hosts[g], way=way),))
    if where is None:
        if pairs.via is not None:
            add((pairs.via,), len(pairs.spines), lambda g: (Part("spine", pairs.spines[g]),))
        return found
    out, into, leaves = where.leaf[source], where.leaf[target], where.leaves
    cross = out != into
    add((out, np.where(cross, into, -1)), len(leaves), lambda g: (Part("leaf", leaves[g]),))
    many = spines_between(where, source, target)
    if not many.any():
        return found
    if pairs.via is not None:
        spines, via = pairs.spines, pairs.via
        ends = {
            "out": np.where(cross, out * len(spines) + via, -1),
            "in": np.where(cross, into * len(spines) + via, -1),
        }
        for way, labels in (
            ("both", (ends["out"], ends["in"])),
            ("out", (ends["out"],)),
            ("in", (ends["in"],)),
        ):
            add(
                labels,
                len(leaves) * len(spines),
                lambda g, way=way: (
                    Part("bundle", leaves[g // len(spines)], spines[g % len(spines)], way),
                ),
            )
        add((via,), len(spines), lambda g: (Part("spine", spines[g]),))
        return found
    # one spine is no lottery, and many QPs meet them all
    times = np.maximum(many, 1)
    share = None if paths == "spread" or (many[cross] == 1).all() else 1 / times
    over = times if paths == "spread" else None
    up, down = np.where(cross, out, -1), np.where(cross, into, -1)
    for way, labels in (("both", (up, down)), ("out", (up,)), ("in", (down,))):
        add(
            labels,
            len(leaves),
            lambda g, way=way: tuple(
                Part("bundle", leaves[g], spine, way) for spine in where.spines[where.plane[g]]
            ),
            share,
            over,
        )
    add(
        (np.where(cross, where.plane[out], -1),),
        len(where.spines),
        lambda g: tuple(Part("spine", spine) for spine in where.spines[g]),
        share,
        over,
    )
    return found


def _suspect(fit, nothing):
    family, g = fit.chosen[-1]
    at = family.members(g)
    against = (
        0
        if family.share is not None
        else int((fit.values[at] > fit.predicted[at] + 4 * fit.width).sum())
    )
    return Suspect(family.parts(g), fit.fractions[-1], fit.score - nothing.score, at.size, against)


def _finding(pairs, where, paths, fit, j):
    rest = fit.without(j)
    rivals = [
        other.added(rest)
        for other in fit.case.alternatives(rest)
        if other.score > fit.score - VERY_STRONG
    ]
    family, g = fit.chosen[j]
    parts = tuple(
        dict.fromkeys(
            part for other, group in [(family, g), *rivals] for part in other.parts(group)
        )
    )
    at, cold = family.members(g), fit.fractions[j]
    cold_at = np.sort(
        at[
            (fit.predicted[at] < fit.level - 2 * fit.width)
            & (abs(pairs.bandwidth[at] - fit.predicted[at]) <= 5 * fit.width)
        ]
    )
    return Finding(
        parts, cold, cold_at, fit.score - rest.score, _advice(pairs, where, paths, parts, cold_at)
    )


def _advice(pairs, where, paths, parts, cold):
    """What would tell `parts` apart: a pair not measured yet, else a path to pin, else the ports'
    own counters. None for one part.
    """
    if len(parts) == 1:
        return None
    unmeasured = np.isnan(pairs.matrix)
    np.fill_diagonal(unmeasured, False)
    source, target = np.nonzero(unmeasured)
    if source.size:
        sure = np.array(
            [_sure(where, paths, part, pairs, source, target) for part in parts[:_WEIGHED]]
        )
        hit, missed = (sure == 1).sum(0), (sure == 0).sum(0)
        split = np.minimum(hit, missed)
        best = int(split.argmax())
        if split[best]:
            slow = _listed([part for part, known in zip(parts, sure[:, best]) if known == 1])
            return (
                f"measure {pairs.hosts[source[best]]} to {pairs.hosts[target[best]]}: slow if it is"
                f" {slow}"
            )
    if (
        pairs.via is None
        and len({part.spine or part.name for part in parts if part.kind in ("bundle", "spine")}) > 1
        and cold.size
    ):
        first = cold[0]
        return (
            f"pin the path: measure {pairs.hosts[pairs.source[first]]} to"
            f" {pairs.hosts[pairs.target[first]]} over each spine in turn"
        )
    return (
        "no pair tells them apart: read the counters of the ports themselves (perfquery, mlxlink)"
    )


def _sure(where, paths, part, pairs, source, target):
    """1 where the pair surely passes `part`, 0 where it surely does not,
    0.5 where a hash decides.
    """
    if part.kind in ("host",) or where is None:
        at = pairs.hosts.index(part.name) if part.kind == "host" else None
        return (
            np.full(source.size, 0.5)
            if at is None
            else (
                ((source == at) & (part.way != "in")) | ((target == at) & (part.way != "out"))
            ).astype(float)
        )
    if part.kind == "leaf":
        return passes(where, part, source, target, np.full(source.size, -1)).astype(float)
    many = spines_between(where, source, target)
    lies = np.zeros(source.size)
    for spine in range(int(many.max(initial=0))):
        there = spine < many
        lies[there] += passes(
            where, part, source[there], target[there], np.full(there.sum(), spine)
        )
    share = lies / np.maximum(many, 1)
    return (
        (share > 0).astype(float)
        if paths == "spread"
        else np.where((share > 0) & (share < 1), 0.5, share)
    )
