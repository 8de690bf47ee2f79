"""What the models say of a `Design`: `judge(design)` wires it, prices it, checks reach and
watts, bounds the collectives, exposes the steps, kills parts, times the checkpoints and grows it.

Nothing here knows a good design: every line of a `Report` is a call of a model, and every limit is
the brief's.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np

from fabriclab import catalog, collectives, link, reliability, topology
from fabriclab.course.design.brief import BRIEF, Brief
from fabriclab.course.design.order import MODULES, Design, bought, lengths, nodes_under_leaf, wired
from fabriclab.units import Gbps, si

_HALF = {"all_gather": 0.5, "reduce_scatter": 0.5, "all_reduce": 1.0}


@dataclass(frozen=True)
class Line:
    """One line of a report: a `value` in SI, how it reads, the `limit` it must keep (or None), and
    the model it comes from. `fault`: why it fails, or nothing.
    """

    name: str
    value: float
    shown: str
    limit: float | None = None
    source: str = ""
    fault: str = ""


@dataclass(frozen=True)
class Report:
    """What the models say of a design. `useful`: accelerators' worth of work that is left, after
    waiting and lost work; `step`: the jobs' mean seconds a step; `price`: dollars of the whole
    machine per useful accelerator. An infeasible design has `reasons`.
    """

    design: Design
    brief: Brief
    lines: tuple
    dollars: float = math.inf
    watts: float = math.inf
    racks: int = 0
    step: float = math.inf
    useful: float = 0.0

    @property
    def reasons(self):
        return tuple(line.fault for line in self.lines if line.fault)

    @property
    def feasible(self):
        return not self.reasons

    @property
    def price(self):
        nodes = self.brief.nodes * self.brief.node_price
        return (nodes + self.dollars) / self.useful if self.useful else math.inf

    def line(self, name):
        """The line of that name. Raises KeyError."""
        return {line.name: line for line in self.lines}[name]

    def __str__(self):
        wide = max(len(line.name) for line in self.lines)
        rows = [f"{line.name:<{wide}}  {line.shown}" for line in self.lines]
        ends = [f"no: {fault}" for fault in self.reasons] or [
            f"feasible: {self.useful:,.0f} useful accelerators, {si(self.price, '$')} each"
        ]
        return "\n".join([*rows, *ends])


def exchange(
    collective, net: topology.Topology, design: Design, brief: Brief = BRIEF
) -> tuple[float, float]:
    """Seconds of one collective on an idle fabric: what its rings or exchanges take through the
    ports, and the least that its cut allows; it takes the larger.

    A ring of neighbours leaves a leaf with one node's ports, so the uplinks of one leaf must carry
    those. What crosses the narrowest halving of the hosts has its bandwidth; groups that are spread
    share that of the machine. Of an AllToAll over N ranks, d of them under one leaf, the share
    ``1 - d/N`` leaves by the leaf's uplinks: ``r (1 - d/N) M/beta``.
    """
    spread = brief.accelerators if collective.spread else collective.ranks
    inside, rate = brief.per_node, design.port
    if collective.kind != "all_to_all":
        rate /= _crowd(net, spread, inside)
    levels = [
        (inside, catalog.NVLINK4.alpha, catalog.NVLINK4.beta),
        (collective.ranks // inside, catalog.NDR.alpha, rate),
    ]
    ports = collectives.hierarchical(collective.kind, collective.size, levels)
    cut = design.planes * _narrowest(net, spread) * collective.ranks / spread
    if collective.kind == "all_to_all":
        least = topology.alltoall_cut_bound(collective.size, collective.ranks, cut)
        near = min(1.0, nodes_under_leaf(net) * inside / spread)
        least = max(least, _taper(net) * (1 - near) * collective.size / rate)
    else:
        least = topology.allreduce_cut_bound(_HALF[collective.kind] * collective.size, cut)
    return ports, least


@functools.lru_cache(maxsize=256)
def _narrowest(net, hosts):
    """Bytes per second through the narrowest halving of the first hosts."""
    return min(topology.flow(net, *halves) for halves in topology.halvings(net, np.arange(hosts)))


@functools.lru_cache(maxsize=256)
def _crowd(net, hosts, inside):
    """How many times a leaf's uplinks are asked for by rings over the first hosts: by the ports of
    the two nodes where one leaf ends and the next begins.
    """
    leaf = net.position[:hosts:inside]
    change = np.flatnonzero((leaf[1:] != leaf[:-1]).any(axis=1))
    first = inside * int(change[0]) if change.size else 0
    border = np.arange(first, min(first + 2 * inside, hosts))
    return topology.placement_oversubscription(net, border)


def _taper(net):
    return topology.oversubscription(net, "leaf") if len(net.counts) > 1 else 0.0


@functools.lru_cache(maxsize=256)
def _without_a_leaf(net):
    return topology.failure(net, topology.without_vertex(net, net.hosts), "leaf switch")


def judge(design: Design, brief: Brief = BRIEF) -> Report:
    """The `Report` on a design.

    >>> judge(Design()).feasible
    False
    """
    if not isinstance(design, Design):
        raise ValueError(f"design must be a Design, such as Design(), not {design!r:.60}")
    try:
        _lanes(design)
        net = wired(design, brief.accelerators, brief)
    except ValueError as reason:
        return Report(design, brief, (Line("wiring", 0.0, "none", None, "topology", str(reason)),))
    bill = bought(design, net, brief)
    nodes = brief.nodes + int(design.spares)
    racks = _racks(nodes, bill, brief)
    watts = link.rack_power(nodes, brief.node_watts, other=bill["watts"])
    cut = design.planes * _narrowest(net, brief.accelerators)
    steps = [_step(job, net, design, brief) for job in brief.jobs]
    failing, kept = _failures(design, net, bill, brief)
    share = sum(job.share * job.compute / step for job, (step, _) in zip(brief.jobs, steps))
    each = f", in each of {design.planes} planes" if design.planes > 1 else ""
    lines = [
        _line("wiring", sum(net.counts), f"{net}{each}", source="topology.build, rail_optimised"),
        _line("switches", bill["switches"], f"{bill['switches']:,} in {len(net.counts)} tiers"),
        _line("bisection", cut, si(cut, "B/s"), source="topology.halvings, flow"),
        _most("dollars", bill["dollars"], brief.dollars, "$", "network and spares come"),
        _most("watts", watts, brief.watts, "W", "everything comes"),
        _line("optics", bill["optics"], si(bill["optics"], "W"), source="link.optics_bill"),
        _most("racks", racks, brief.racks, "", "nodes and switches come"),
        *_reach(design, net, racks, brief),
        *(line for _, lines in steps for line in lines),
        *failing,
        _growth(design, bill["dollars"], brief),
    ]
    step = sum(job.share * step for job, (step, _) in zip(brief.jobs, steps))
    useful = brief.accelerators * share * kept
    return Report(design, brief, tuple(lines), bill["dollars"], watts, racks, step, useful)


def _racks(nodes, bill, brief):
    switches = math.ceil(bill["switches"] / brief.switches_in_rack)
    return math.ceil(nodes / brief.nodes_in_rack) + switches


def _line(name, value, shown, limit=None, source="", fault=""):
    return Line(name, float(value), str(shown), limit, source, fault)


def _most(name, value, limit, unit, of):
    """A line of the budget."""
    read = (lambda v: si(v, unit, 4)) if unit else (lambda v: f"{v:,.0f}")
    fault = "" if value <= limit else f"{name}: {of} to {read(value)}, over {read(limit)}"
    return _line(name, value, f"{read(value)} of {read(limit)}", limit, "the brief", fault)


def _lane(port):
    """Bytes per second of a lane: ports to 800 Gb/s have lanes of 100, faster ones of 200 Gb/s."""
    return (100 if port <= 800 * Gbps else 200) * Gbps


def _lanes(design):
    lanes = max(1, round(design.port / _lane(design.port)))
    if design.planes > lanes:
        raise ValueError(
            f"planes: a port of {si(design.port, 'b/s')} has {lanes} lanes, and each of"
            f" {design.planes} planes needs one"
        )


def _reach(design, net, racks, brief):
    """Lines of the two longest cables against what their media reach, and of the modules' rate."""
    module = MODULES[design.module]
    near, far = lengths(net, racks, brief)
    # what every source of the catalogue grants at this lane rate
    copper = min(r.most for r in catalog.COPPER_REACH if r.lane_rate == _lane(design.port))
    reach = module.reach if design.hosts_on_fibre else copper
    of = (
        module.name if design.hosts_on_fibre else f"copper at {si(_lane(design.port), 'b/s')} lanes"
    )
    for name, metres, most, medium in (
        ("host cable", near, reach, of),
        ("longest cable", far, module.reach, module.name),
    ):
        if name == "longest cable" and len(net.counts) == 1:
            continue
        fault = (
            ""
            if metres <= most + 1e-9
            else (f"{name}: {metres:.1f} m, and {medium} reaches {most:g} m")
        )
        shown = f"{metres:.1f} m of {most:g} m"
        yield _line(name, metres, shown, most, "catalog.COPPER_REACH, MODULES", fault)
    fits = math.isclose(module.rate, design.port)
    yield _line(
        "module",
        module.rate,
        module.name,
        design.port,
        "catalog.MODULES",
        "" if fits else f"module: {module.name} does not run at {si(design.port, 'b/s')}",
    )


def _step(job, net, design, brief):
    """(seconds of a step, its lines)."""
    lines, total = [], job.compute
    for one in job.collectives:
        ports, least = exchange(one, net, design, brief)
        took = one.times * max(ports, least)
        exposed = collectives.exposed_time(took, one.hidden)
        total += exposed
        by = "ports" if ports >= least else "cut"
        lines.append(
            _line(
                f"{job.name}: {one.kind}",
                took,
                f"{si(took, 's')} by its {by} (the cut alone {si(one.times * least, 's')}),"
                f" {si(exposed, 's')} exposed",
                source="collectives.hierarchical, topology bounds",
            )
        )
    lines.append(
        _line(f"{job.name}: step", total, f"{si(total, 's', 4)}, {job.compute / total:.1%} compute")
    )
    return total, lines


def _failures(design, net, bill, brief):
    """(lines, share of the time that is work)."""
    single = design.planes == 1
    broken = _without_a_leaf(net)
    rates = [brief.accelerator_rate, brief.module_rate * single]
    parts = [brief.accelerators, bill["modules"]]
    mtbf = 1 / sum(reliability.expected_failures(rate, n, 1.0) for rate, n in zip(rates, parts))
    down = reliability.expected_failures(brief.accelerator_rate, brief.accelerators, brief.repair)
    best = reliability.best_interval(brief.save, mtbf)
    every = design.checkpoint or best
    lost = reliability.wasted_share(every, brief.save, mtbf, restart=brief.restart)
    off = broken.hosts_lost if single else 0
    short = design.spares < down
    return [
        _line(
            "a dead leaf",
            off,
            f"{off} accelerators off" if single else f"1/{design.planes} of a port's rate lost",
            source="topology.failure",
        ),
        _line("between failures", mtbf, si(mtbf, "s"), source="reliability.expected_failures"),
        _line(
            "spares",
            design.spares,
            f"{design.spares} nodes, {down:.1f} in repair on average",
            down,
            "reliability.expected_failures",
            f"spares: {down:.1f} nodes are in repair on average, and there are {design.spares}"
            if short
            else "",
        ),
        _line(
            "checkpoint",
            every,
            f"every {si(every, 's')} (best {si(best, 's')}), {lost:.2%} of the time lost",
            source="reliability.best_interval, wasted_share",
        ),
    ], 1 - lost


def _growth(design, dollars, brief):
    """The line of the same order over `brief.growth` accelerators: dollars for each of them."""
    source = "topology.build, rail_optimised"
    try:
        larger = wired(design, brief.growth, brief)
    except ValueError as reason:
        return _line("growth", math.inf, "none", None, source, f"growth: {reason}")
    bill = bought(design, larger, brief)
    then = bill["dollars"] / brief.growth
    now = dollars / brief.accelerators
    tiers = f"{len(larger.counts)} tiers"
    shown = f"{tiers} at {brief.growth:,}, {si(then, '$')} an accelerator ({si(now, '$')} now)"
    nodes = brief.growth // brief.per_node + int(design.spares)
    far, module = lengths(larger, _racks(nodes, bill, brief), brief)[1], MODULES[design.module]
    fault = (
        f"growth: at {brief.growth:,} the longest cable has {far:.1f} m, and {module.name} reaches"
        f" {module.reach:g} m"
    )
    return _line("growth", then, shown, None, source, fault if far > module.reach else "")


def front(reports):
    """The reports that no other one beats: none of the feasible is at once as cheap and as quick a
    step, and better in one of the two.
    """
    able = [report for report in reports if report.feasible]
    return [
        one
        for one in able
        if not any(
            other.dollars <= one.dollars
            and other.step <= one.step
            and (other.dollars, other.step) != (one.dollars, one.step)
            for other in able
        )
    ]
