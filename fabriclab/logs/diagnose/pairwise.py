"""Step 3, point to point: what pairs of hosts reach against what their ports carry, and how
steadily.
"""

from fabriclab.logs import pairs, perftest
from fabriclab.logs.diagnose.collective import runs
from fabriclab.logs.diagnose.evidence import TOLD
from fabriclab.logs.diagnose.finding import NEAR, PAYLOAD, VARIES, Finding
from fabriclab.logs.infiniband import Fabric
from fabriclab.units import si


def point_to_point(evidence):
    """Step 3: what pairs of hosts reach against what their ports carry; the tables of one file are
    taken for one pair.
    """
    rate, who = evidence.port()
    tests, found, latencies = [], [], []
    for file, reading in evidence.of(perftest.Reading):
        for table in reading.tables:
            if why := _beside_the_point(table, rate):
                found.append(Finding(3, "no-link", why, file))
            elif table.kind == "latency":
                latencies.append((file, table))
            elif (
                table.bidirectional is not None
                and max(row.size for row in table.rows) >= perftest.LARGE
            ):
                tests.append((file, table, perftest.share(table, rate)))
    slow = [(file, table, share) for file, table, share in tests if share < perftest.GOOD]
    good = [(file, table, share) for file, table, share in tests if share >= perftest.GOOD]
    for file, table, share in good[:1] if not slow else []:
        found.append(
            Finding(
                3,
                "pairs-good",
                f"{len(good)} test{'s' * (len(good) != 1)}, the first at"
                f" {si(table.one_way(table.best), 'B/s')}: {share:.0%} of the port"
                f" ({_port(rate, who)})",
                file,
            )
        )
    if not evidence.port_known and not good:  # half of one port is the whole of another
        says = f"port = … in {TOLD} tells whether that is slow"
        found += [
            Finding(
                3,
                "pair-unjudged",
                f"{si(table.one_way(table.best), 'B/s')}, {share:.0%} of {_port(rate, who)};"
                f" {says}",
                file,
            )
            for file, table, share in slow
        ]
    else:
        found += [
            finding
            for file, table, share in slow
            for finding in _slow_pair(file, table, share, rate)
        ]
    if {file for file, _, _ in good} - {file for file, _, _ in slow} and slow:
        found.append(
            Finding(
                3,
                "some-pairs",
                f"{len(slow)} of {len(tests)} tests are slow, the others reach"
                f" {max(share for _, _, share in good):.0%} of the port",
                slow[0][0],
            )
        )
    for file in dict.fromkeys(file for file, _, _ in slow):
        found += _same_pair(file, [(table, share) for at, table, share in tests if at == file])
    if (
        not slow
        and good
        and evidence.port_known
        and any(run.slowdown >= 1 / perftest.GOOD for run in runs(evidence))
    ):
        found.append(
            Finding(
                3,
                "pairs-good-nccl-low",
                "pairs reach the port's rate, collectives do not: the ports are sound, and are not"
                " all used or not all at once",
                good[0][0],
            )
        )
    found += [finding for file, table in latencies for finding in _latency(file, table)]
    return found + [
        finding
        for file, reading in evidence.of(pairs.Reading)
        for finding in _matrix(evidence, file, reading, rate)
    ]


def _beside_the_point(table, rate):
    """Why a table says nothing about the job's links, "" if it does."""
    if table.loopback:
        return "both ends are one port: a loopback, and no cable was crossed"
    if (table.device or "").startswith(("rxe", "siw")):
        return f"{table.device} is RDMA in software: it measures the CPU"
    if (
        table.kind == "bandwidth"
        and table.bidirectional is not None
        and perftest.share(table, rate) > 1 + NEAR
    ):
        return (
            f"{si(table.one_way(table.best), 'B/s')} is more than the {si(rate, 'b/s')} port"
            " carries: a loopback, or another port"
        )
    return ""


def _matrix(evidence, file, reading, rate):
    """What the cold cells of an all-pairs measurement say: one part that is slow wherever it is
    passed, or cells without a pattern.
    """
    verdict = None
    for fabric in [fabric for _, fabric in evidence.of(Fabric)] + [None]:
        try:
            verdict = verdict or pairs.explain(reading, fabric)
        except ValueError:  # hosts that the fabric names otherwise: then only hosts can be told
            continue
    found = (
        [
            Finding(3, "cold-alike" if verdict.alike else "cold-part", line, file)
            for line in verdict.lines[:3]
        ]
        if verdict.findings
        else []
    )
    if verdict.unexplained.size:
        sign, words = (
            ("cold-scattered", "no one part explains: collisions, or a load that comes and goes")
            if verdict.wired
            else (
                "cold-unexplained",
                (
                    "no one host explains; with ibnetdiscover beside it, leaves and spines are"
                    " looked at"
                ),
            )
        )
        found.append(Finding(3, sign, f"{verdict.unexplained.size} cold pairs that {words}", file))
    if verdict.level < perftest.GOOD * rate and not evidence.port_known:
        found.append(
            Finding(
                3,
                "pair-unjudged",
                f"a usual pair reaches {si(verdict.level, 'B/s')}; port = … in {TOLD} tells whether"
                " that is slow",
                file,
            )
        )
    elif verdict.level < perftest.GOOD * rate:
        found.append(
            Finding(
                3,
                "pair-low",
                f"even a usual pair reaches {si(verdict.level, 'B/s')}, {verdict.level / rate:.0%}"
                f" of the port's {si(rate, 'b/s')}",
                file,
            )
        )
    elif found:
        found.append(
            Finding(
                3,
                "pair-low",
                f"the coldest pair reaches {si(float(reading.pairs.bandwidth.min()), 'B/s')}, a"
                f" usual one {si(verdict.level, 'B/s')}",
                file,
            )
        )
    if not found and not verdict.healthy:
        return [Finding(3, "pairs-unclear", verdict.lines[0], file)]
    return found or [
        Finding(
            3,
            "pairs-good",
            f"{len(reading.pairs)} pairs around {si(verdict.level, 'B/s')}, none of them cold",
            file,
        )
    ]


def _port(rate, who):
    return f"{si(rate, 'b/s')}; {who}"


def _slow_pair(file, table, share, rate):
    reached = f"{si(table.one_way(table.best), 'B/s')}, {share:.0%} of the port's {si(rate, 'b/s')}"
    found = [Finding(3, "pair-low", f"{reached}; a healthy one gives {PAYLOAD:.0%}", file)]
    large = [row for row in table.rows if row.size >= perftest.LARGE]
    halts = [row for row in large if row.peak and row.average < 0.8 * row.peak]
    if halts:
        found.append(
            Finding(
                3,
                "pair-stop-and-go",
                f"the average is {halts[-1].average / halts[-1].peak:.0%} of the peak: it stops and"
                " starts",
                file,
            )
        )
        return found
    parts = [k for k in (2, 4) if abs(share * k / PAYLOAD - 1) < NEAR]
    if parts:
        found.append(
            Finding(
                3,
                "pair-like-lanes",
                f"a steady 1/{parts[0]} of what is healthy: as half the lanes or half the speed"
                f" give, or {parts[0]} flows on one path",
                file,
            )
        )
    return found


def _same_pair(file, tests):
    """What more flows, or another try, change for one pair."""
    one = [share for table, share in tests if (table.qps or 1) == 1]
    many = [(share, table.qps) for table, share in tests if (table.qps or 1) >= 4]
    found = []
    if one and many and max(many)[0] >= VARIES * max(one):
        found.append(
            Finding(
                3,
                "more-flows-cure",
                f"{max(many)[1]} flows reach {max(many)[0]:.0%} where one reaches {max(one):.0%}:"
                " the cable can, one path cannot",
                file,
            )
        )
    if len(one) > 1 and max(one) >= VARIES * min(one):
        found.append(
            Finding(
                3,
                "pair-varies",
                f"the same test reached {min(one):.0%} and {max(one):.0%} of the port",
                file,
            )
        )
    return found


def _latency(file, table):
    row = min(table.rows, key=lambda row: row.size)
    time = table.one_way(row)
    if time is None or row.size > 4096:
        return []
    says = f"{si(time, 's')} one way for {row.size} bytes"
    if time > perftest.SEVERE:
        return [
            Finding(3, "late", says, file),
            Finding(
                3,
                "very-late",
                f"beyond {si(perftest.SEVERE, 's')}: stopped for whole round trips, not queued"
                " once",
                file,
            ),
        ]
    if time > perftest.SUSPICIOUS:
        return [
            Finding(
                3,
                "late",
                f"{says}; above {si(perftest.SUSPICIOUS, 's')}, as queues on the path or a detour"
                " make it",
                file,
            )
        ]
    return (
        [Finding(3, "prompt", f"{says}; below {si(perftest.HEALTHY, 's')}, as it should be", file)]
        if time < perftest.HEALTHY
        else []
    )
