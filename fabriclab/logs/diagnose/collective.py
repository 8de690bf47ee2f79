"""Step 2, NCCL: which transport and ports it took, and what its collectives reach against the
model.
"""

from dataclasses import dataclass, replace

from fabriclab import cluster
from fabriclab.logs import nccl, perftest
from fabriclab.logs.diagnose.evidence import TOLD, Evidence
from fabriclab.logs.diagnose.finding import NEAR, PAYLOAD, VARIES, Finding
from fabriclab.logs.nccl import ways as nccl_ways
from fabriclab.logs.nccl import wire
from fabriclab.units import si

_RING = ("all_reduce", "reduce_scatter", "all_gather")  # whose steps `cluster.slow_link` counts
_SPOILT = {
    "wrong-results",
    "out-of-bounds",
    "beyond-memory",
    "shared-gpu",
    "algbw-off",
    "busbw-off",
}


@dataclass(frozen=True)
class Run:
    """A table of nccl-tests beside its model: `slowdown` is healthy bandwidth over measured;
    `hosts` by name, as far as they are listed.
    """

    file: str
    collective: str
    ranks: int
    size: float
    time: float
    measured: float
    healthy: float
    alpha: float
    ports: int
    hosts: frozenset

    @property
    def slowdown(self):
        return self.healthy / self.measured

    @property
    def slow(self):
        return self.slowdown > 1 / perftest.GOOD

    @property
    def fits(self):
        """Whether the model can be of this machine at all: nothing is faster than healthy."""
        return self.slowdown >= 1 / wire.FITS

    @property
    def busbw(self):
        """The measured bandwidth as nccl-tests' busbw, in words."""
        return f"busbw {si(self.measured * nccl.factor(self.collective, self.ranks), 'B/s')}"


def runs(evidence: Evidence) -> list[Run]:
    """The tables of several nodes that a model exists for, each with its healthy bandwidth (algbw,
    bytes/s): ``busbw = p b / traffic``, with p ports a node of b payload each and
    `nccl.wire.traffic`. Tables that are spoilt, of one NVLink domain, or without a count of hosts
    are left out.
    """
    port, found = evidence.port()[0] * PAYLOAD, []
    for file, reading in evidence.of(nccl.Reading):
        for table in reading.tables:
            names, n = nccl.candidates(table), nccl.ranks(table).count
            nodes = wire.hosts(table).count or evidence.told.nodes
            if len(names) != 1 or not n or not nodes or wire.in_racks(table):
                continue
            if _SPOILT & {sign.name for sign in nccl.table_signs(table, port)}:
                continue
            times = wire.traffic(names[0], n, nodes)
            if not times or names[0] in ("sendrecv", "gather", "scatter") or n <= nodes // 2:
                continue
            ports = evidence.told.ports_per_node or _ports_there(evidence) or n // nodes
            healthy = ports * port / float(times) / nccl.factor(names[0], n)
            row = max(table.rows, key=lambda row: row.size)
            if not row.size or row.out_of_place.time <= 0:
                continue
            measured, alpha = _speed(table, row)
            found.append(
                Run(
                    file,
                    names[0],
                    n,
                    row.size,
                    row.out_of_place.time,
                    measured,
                    healthy,
                    alpha,
                    ports,
                    frozenset(process.host for process in table.processes),
                )
            )
    return found


def _speed(table, row):
    """(algbw, start-up): by the fit, or where no line fits by the largest message, which is the
    nearest to its bandwidth.
    """
    try:
        line = nccl.fit(table)
    except ValueError:
        line = None
    if line is None or line.worst > nccl.BAD_FIT:
        return row.size / row.out_of_place.time, 0.0
    return line.beta, line.alpha


def collective(evidence: Evidence) -> list[Finding]:
    """Step 2: which transport and ports NCCL took, and what its collectives reach against the
    model.
    """
    found = _log(evidence)
    measured = runs(evidence)
    for run in measured:
        found += _against_model(evidence, run)
    found += _repeats(measured)
    if any(finding.sign == "nccl-low" for finding in found):  # good once and low once is not good
        found = _renamed(found, "nccl-good-once")
    if any(finding.sign == "fewer-than-gpus" for finding in found):
        # all that these ports give, and perhaps not all that the node should
        found = _renamed(found, "nccl-good-so-far")
    fitting = [run for run in measured if run.fits]
    slow = {run.collective for run in fitting if run.slow}
    rings = [run for run in fitting if run.collective != "alltoall"]
    if slow == {"alltoall"} and rings:
        found.append(
            Finding(
                2,
                "alltoall-only",
                "AllToAll is slow and the ring is not: what crosses between leaves is scarce, no"
                " single link is",
                rings[0].file,
            )
        )
    return found


def _renamed(found, sign):
    return [
        replace(finding, sign=sign) if finding.sign == "nccl-good" else finding for finding in found
    ]


def _repeats(measured):
    """What the same collective gave at another time, or on other hosts, which is no repeat."""
    found, seen = [], {}
    for run in measured:
        for other in seen.setdefault((run.collective, run.ranks), []):
            slow, fast = sorted((run, other), key=lambda one: one.measured)
            if slow.slowdown < VARIES * fast.slowdown:
                continue
            both = f"{fast.busbw} in {fast.file} and {slow.busbw} in {slow.file}"
            if fast.hosts == slow.hosts or not fast.hosts or not slow.hosts:
                found.append(
                    Finding(
                        2,
                        "nccl-varies",
                        f"the same {run.collective} gave {both}: what slows it comes and goes",
                        slow.file,
                    )
                )
            elif not fast.slow:
                apart = sorted(slow.hosts - fast.hosts) or sorted(slow.hosts)
                found.append(
                    Finding(
                        2,
                        "slow-on-some-hosts",
                        f"{run.collective} gave {both}, on other hosts: look at"
                        f" {', '.join(apart[:4])}",
                        slow.file,
                    )
                )
            break
        seen[run.collective, run.ranks].append(run)
    return found


def _log(evidence):
    found = []
    for file, log in evidence.logs():
        per_host = _ports(log)
        gpus, forced = _gpus_per_node(evidence, log), dict(log.forced).get("NCCL_IB_HCA")
        wanted = evidence.told.ports_per_node or gpus
        few = {host: ports for host, ports in per_host.items() if wanted and ports < wanted}
        if few:
            host, ports = next(iter(few.items()))
            used = ", ".join(
                nccl_ways.ports_used(log).get(host)
                or [port for at, port in log.ports if at == host]
            )
            sure = evidence.told.ports_per_node or _listed(log).get(host, 0) >= wanted
            whose = (
                f"where {wanted} were to be used"
                if sure
                else f"with {gpus} GPUs; that each should have one is not told (ports_per_node)"
            )
            says = f"{host} uses {ports} port{'s' * (ports != 1)} ({used[:80]}), {whose}"
            if sure or forced:
                found.append(Finding(2, "few-ports", says, file))
            else:
                found.append(Finding(2, "fewer-than-gpus", says, file))
        if forced and few:
            found.append(Finding(2, "forced-ports", f"NCCL_IB_HCA is set to {forced}", file))
        elif forced:
            found.append(Finding(2, "told-ports", f"NCCL_IB_HCA is set to {forced}", file))
        if log.connections and set(nccl_ways.ways(log)) >= {"NET/IB (direct)"}:
            found.append(Finding(2, "gdr-on", "the NICs read and write GPU memory directly", file))
        if log.ports and not few and not nccl_ways.on_sockets(log):
            found.append(
                Finding(
                    2,
                    "transport",
                    f"NCCL took {log.network or 'RDMA'} over {sum(per_host.values())} ports of"
                    f" {len(per_host)} hosts",
                    file,
                )
            )
        if per_host and not few and evidence.told.ports_per_node and log.ports:
            found.append(
                Finding(
                    2,
                    "ports-all",
                    f"all {evidence.told.ports_per_node} ports a node are used",
                    file,
                )
            )
    return found


def _ports(log):
    """How many ports of each host NCCL uses: by its channels, else as it lists them."""
    return _listed(log) | {host: len(ports) for host, ports in nccl_ways.ports_used(log).items()}


def _listed(log):
    return {host: sum(at == host for at, _ in log.ports) for host, _ in log.ports}


def _ports_there(evidence):
    """How many ports a node has, listed or used, by NCCL's log, where nothing kept NCCL from using
    them all; None where that is not known.
    """
    logs = [log for _, log in evidence.logs() if _ports(log)]
    free = [
        ports
        for log in logs
        if "NCCL_IB_HCA" not in dict(log.forced)
        for ports in (*_listed(log).values(), *_ports(log).values())
    ]
    return (
        max(free)
        if free and len(logs) == sum("NCCL_IB_HCA" not in dict(log.forced) for log in logs)
        else None
    )


def _gpus_per_node(evidence, log):
    for _, reading in evidence.of(nccl.Reading):
        for table in reading.tables:
            n, nodes = nccl.ranks(table).count or 0, wire.hosts(table).count
            if nodes and n > 1 and n % nodes == 0:
                return n // nodes
    nodes = evidence.told.nodes or len(log.hosts)  # one host's log is one host's
    return log.ranks // nodes if log.ranks and nodes and log.ranks % nodes == 0 else None


def _against_model(evidence, run):
    share, says = 1 / run.slowdown, f"{run.collective} of {run.ranks} ranks: {run.busbw}"
    of_healthy = f"{says}, {share:.0%} of what healthy ports give"
    if not run.fits:
        return [
            Finding(
                2,
                "nccl-beyond",
                f"{of_healthy}: the model of {run.ports} ports a node does not hold here, so this"
                " is no evidence",
                run.file,
            )
        ]
    if not run.slow:
        if run.collective == "alltoall":
            return [Finding(2, "alltoall-good", of_healthy, run.file)]
        return [Finding(2, "nccl-good", of_healthy, run.file)]
    if not evidence.port_known:
        rate, who = evidence.port()
        return [
            Finding(
                2,
                "nccl-unjudged",
                f"{says}, {share:.0%} of what {run.ports} ports of {si(rate, 'b/s')} a node would"
                f" give ({who}); port = … in {TOLD} tells whether that is slow",
                run.file,
            )
        ]
    ports, like, found = run.ports, "", []
    used = {ports for _, log in evidence.logs() for ports in _ports(log).values()}
    few = [k for k in used or {1} if k < ports and abs(share * ports / k - 1) < 2 * NEAR]
    if run.collective in _RING:
        steps = nccl.steps(run.collective, run.ranks)
        beta = run.healthy * nccl.factor(run.collective, run.ranks)
        for slowdown in (2, 4):
            model = cluster.slow_link(run.size, run.ranks, run.alpha / steps, beta, slowdown) * (
                1 if run.collective == "all_reduce" else 0.5
            )
            if abs(run.time / model - 1) < NEAR:
                like = f", as a ring does with one link at 1/{slowdown}"
                found.append(
                    Finding(
                        2,
                        "nccl-like-lanes",
                        f"{si(run.time, 's')} for the largest message; the model of a ring with one"
                        f" link at 1/{slowdown} has {si(model, 's')}",
                        run.file,
                    )
                )
    if few and (used or ports >= 8):
        found.append(
            Finding(
                2,
                "nccl-like-ports",
                f"{share:.0%} is what {few[0]} of {ports} ports give",
                run.file,
            )
        )
    if run.collective == "alltoall":
        return [
            Finding(2, "alltoall-low", f"{says}, {share:.0%} of what healthy ports give", run.file)
        ]
    return [
        Finding(2, "nccl-low", f"{says}, {share:.0%} of what healthy ports give{like}", run.file),
        *found,
    ]
