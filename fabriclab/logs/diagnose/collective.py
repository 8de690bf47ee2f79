"""Step 2, NCCL: which transport and ports it took, and what its collectives reach against the
model.
"""

from dataclasses import dataclass, replace

from fabriclab import cluster
from fabriclab.logs import nccl, perftest
from fabriclab.logs.diagnose.evidence import TOLD
from fabriclab.logs.diagnose.finding import NEAR, PAYLOAD, VARIES, Finding
from fabriclab.logs.nccl import ways as nccl_ways
from fabriclab.units import si


@dataclass(frozen=True)
class _Run:
    """A table of nccl-tests beside its model: `slowdown` is healthy bandwidth over measured."""

    file: str
    collective: str
    ranks: int
    size: float
    time: float
    measured: float
    healthy: float
    alpha: float
    ports: int

    @property
    def slowdown(self):
        return self.healthy / self.measured

    @property
    def busbw(self):
        """The measured bandwidth as nccl-tests' busbw, in words."""
        return f"busbw {si(self.measured * nccl.factor(self.collective, self.ranks), 'B/s')}"


def runs(evidence):
    """The tables of several nodes that a model exists for, each with its healthy bandwidth (algbw,
    bytes/s).

    A ring over all ports of a node, g GPUs on each: ``S/T = g b n / (2 (n-1))`` for AllReduce,
    twice that for its halves; an AllToAll, of which (n-g)/n leaves the node: ``S/T = b n / (n-g)``;
    b is what a port carries of payload.
    """
    port, found = evidence.port()[0] * PAYLOAD, []
    for file, reading in evidence.of(nccl.Reading):
        for table in reading.tables:
            names, n = nccl.candidates(table), nccl.ranks(table).count
            nodes = len({process.host for process in table.processes}) or evidence.told.nodes or 1
            if len(names) != 1 or not n or nodes < 2 or n % nodes or n <= nodes // 2:
                continue
            ports = evidence.told.ports_per_node or _ports_there(evidence) or n // nodes
            healthy = {
                "all_reduce": ports * port * n / (2 * (n - 1)),
                "reduce_scatter": ports * port * n / (n - 1),
                "all_gather": ports * port * n / (n - 1),
                "alltoall": ports * port * nodes / (nodes - 1) / (n // nodes),
            }.get(names[0])
            row = max(table.rows, key=lambda row: row.size)
            if not healthy or not row.size or row.out_of_place.time <= 0:
                continue
            try:
                line = nccl.fit(table)
                measured, alpha = line.beta, line.alpha
            except ValueError:  # no line fits: the largest message is the nearest to its bandwidth
                measured, alpha = row.size / row.out_of_place.time, 0.0
            found.append(
                _Run(
                    file,
                    names[0],
                    n,
                    row.size,
                    row.out_of_place.time,
                    measured,
                    healthy,
                    alpha,
                    ports,
                )
            )
    return found


def collective(evidence):
    """Step 2: which transport and ports NCCL took, and what its collectives reach against the
    model.
    """
    found = []
    for file, reading in evidence.of(nccl.Reading):
        for table in reading.tables:
            zeros = [process for process in table.processes if process.rank == 0]
            if nccl.ranks(table).count == 1:
                each = f"{len(zeros)} ranks call themselves 0" if len(zeros) > 1 else "n = 1"
                found.append(
                    Finding(
                        2,
                        "alone",
                        f"busbw is 0 although algbw is not, and {each}: each rank ran alone, and no"
                        " link was measured",
                        file,
                    )
                )
    found += _log(evidence)
    seen, measured = {}, runs(evidence)
    for run in measured:
        found += _against_model(evidence, run)
        other = seen.setdefault((run.collective, run.ranks), run)
        if max(run.slowdown, other.slowdown) >= VARIES * min(run.slowdown, other.slowdown):
            both = f"{other.busbw} in {other.file} and {run.busbw} here"
            found.append(
                Finding(
                    2,
                    "nccl-varies",
                    f"the same {run.collective} gave {both}: what slows it comes and goes",
                    run.file,
                )
            )
    if any(finding.sign == "nccl-low" for finding in found):  # good once and low once is not good
        found = [
            replace(finding, sign="nccl-good-once") if finding.sign == "nccl-good" else finding
            for finding in found
        ]
    if any(
        finding.sign == "fewer-than-gpus" for finding in found
    ):  # all that these ports give, and perhaps not all that the node should
        found = [
            replace(finding, sign="nccl-good-so-far") if finding.sign == "nccl-good" else finding
            for finding in found
        ]
    slow = {run.collective for run in measured if run.slowdown >= 1 / perftest.GOOD}
    rings = [run for run in measured if run.collective != "alltoall"]
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


def _log(evidence):
    found = []
    for file, log in evidence.logs():
        per_host = _ports(log)
        gpus, forced = _gpus_per_node(evidence, log), dict(log.forced).get("NCCL_IB_HCA")
        wanted = evidence.told.ports_per_node or gpus
        if log.network == "Socket":
            found.append(Finding(2, "socket", "NCCL took TCP sockets, not RDMA", file))
        few = {host: ports for host, ports in per_host.items() if wanted and ports < wanted}
        if few:
            host, ports = next(iter(few.items()))
            used = ", ".join(
                nccl_ways.ports_used(log).get(host)
                or [port for at, port in log.ports if at == host]
            )
            sure = evidence.told.ports_per_node or _listed(log).get(host, 0) >= wanted
            sign = "few-ports" if sure or forced else "fewer-than-gpus"
            whose = (
                f"where {wanted} were to be used"
                if sure
                else f"with {gpus} GPUs; that each should have one is not told (ports_per_node)"
            )
            found.append(
                Finding(
                    2,
                    sign,
                    f"{host} uses {ports} port{'s' * (ports != 1)} ({used[:80]}), {whose}",
                    file,
                )
            )
        if forced:
            found.append(
                Finding(
                    2,
                    "forced-ports" if few else "told-ports",
                    f"NCCL_IB_HCA is set to {forced[:60]}",
                    file,
                )
            )
        if log.ports and not few and log.network != "Socket":
            found.append(
                Finding(
                    2,
                    "transport",
                    f"NCCL took {log.network or 'RDMA'} over {sum(per_host.values())} ports of"
                    f" {len(per_host)} hosts",
                    file,
                )
            )
        timeouts = [
            text
            for text in log.warnings
            if "error 12" in text or "timeout" in text.lower() or "timed out" in text.lower()
        ]
        if timeouts:
            found.append(
                Finding(
                    2,
                    "nccl-timeouts",
                    f"a transfer was given up after all retries: {timeouts[0][:80]}",
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
            hosts = {process.host for process in table.processes}
            if (
                hosts
                and (nccl.ranks(table).count or 0) > 1
                and len(table.processes) % len(hosts) == 0
            ):
                return len(table.processes) // len(hosts)
    return (
        log.ranks // len(log.hosts)
        if log.ranks and log.hosts and log.ranks % len(log.hosts) == 0
        else None
    )


def _against_model(evidence, run):
    share, says = 1 / run.slowdown, f"{run.collective} of {run.ranks} ranks: {run.busbw}"
    if run.slowdown < 1 / perftest.GOOD:
        return [
            Finding(
                2,
                "nccl-good" if run.collective != "alltoall" else "alltoall-good",
                f"{says}, {share:.0%} of what healthy ports give",
                run.file,
            )
        ]
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
    if run.collective != "alltoall":
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
