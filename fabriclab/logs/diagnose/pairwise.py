"""Step 3, point to point: what pairs of hosts reach against what their ports carry, and how
steadily. What one test shows by itself its reader marks; here tests are held against one another.
"""

from fabriclab.logs import pairs, perftest, ports
from fabriclab.logs.diagnose.collective import runs
from fabriclab.logs.diagnose.evidence import TOLD, Evidence
from fabriclab.logs.diagnose.finding import NEAR, VARIES, Finding
from fabriclab.logs.infiniband import Fabric
from fabriclab.units import si


def point_to_point(evidence: Evidence) -> list[Finding]:
    """Step 3: what pairs of hosts reach against what their ports carry; the tables of one file are
    taken for one pair.
    """
    rate, who = evidence.port()
    found, latencies = [], []
    for file, reading in evidence.of(perftest.Reading):
        latencies += [(file, table) for table in reading.tables if table.kind == "latency"]
    tests = [
        (file, table, perftest.share(table, rate))
        for file, table in evidence.tests()
        if perftest.share(table, rate) <= 1 + NEAR
    ]
    slow = [one for one in tests if not perftest.good(one[1], rate)]
    good = [one for one in tests if perftest.good(one[1], rate)]
    if good and not slow:
        file, table, share = good[0]
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
    if not evidence.rate:  # half of one port is the whole of another
        found += [
            Finding(
                3,
                "pair-unjudged",
                f"{si(table.one_way(table.best), 'B/s')}, {share:.0%} of {_port(rate, who)};"
                f" port = … in {TOLD} tells whether that is slow",
                file,
            )
            for file, table, share in slow
        ]
    found += _beside_each_other(slow, good, tests)
    for file in dict.fromkeys(file for file, _, _ in slow):
        found += _same_pair(file, [(table, share) for at, table, share in tests if at == file])
    if good and not slow and evidence.port_known and any(run.slow for run in runs(evidence)):
        found.append(
            Finding(
                3,
                "pairs-good-nccl-low",
                "pairs reach the port's rate, collectives do not: the ports are sound, and are not"
                " all used or not all at once",
                good[0][0],
            )
        )
    found += _mtus(evidence)
    found += [finding for file, table in latencies for finding in _prompt(file, table)]
    return found + [
        finding
        for file, reading in evidence.of(pairs.Reading)
        for finding in _matrix(evidence, file, reading, rate)
    ]


def _port(rate, who):
    return f"{si(rate, 'b/s')}; {who}"


def _beside_each_other(slow, good, tests):
    """What a slow test beside a good one says: that of GPU memory is not held against a pair."""
    if not slow or not good:
        return []
    host_good = [one for one in good if not one[1].gpu]
    if all(table.gpu for _, table, _ in slow) and host_good:
        return [
            Finding(
                3,
                "host-memory-good",
                f"from host memory {host_good[0][2]:.0%} of the port, from GPU memory"
                f" {slow[0][2]:.0%}: the network is sound, the way from GPU to NIC is not",
                host_good[0][0],
            )
        ]
    if {file for file, _, _ in good} - {file for file, _, _ in slow}:
        return [
            Finding(
                3,
                "some-pairs",
                f"{len(slow)} of {len(tests)} tests are slow, the others reach"
                f" {max(share for _, _, share in good):.0%} of the port",
                slow[0][0],
            )
        ]
    return []


def _mtus(evidence):
    """Whether tests of one kind of link ran with different MTUs, or adapters of one name use
    different ones.
    """
    seen = {}
    for file, reading in evidence.of(perftest.Reading):
        for table in reading.tables:
            if table.mtu and table.link and not table.loopback:
                for key in (table.link, table.device):
                    seen.setdefault(key, {}).setdefault(table.mtu, file)
    for file, reading in evidence.of(ports.Reading):
        for port in reading.ports:
            if port.mtu and port.up:
                seen.setdefault(port.device, {}).setdefault(port.mtu, file)
    seen.pop(None, None)
    differ = {tuple(sorted(found.items())): found for found in seen.values() if len(found) > 1}
    return [
        Finding(
            3,
            "mtu-differs",
            "the MTU differs: "
            + ", ".join(f"{mtu:,} in {file}" for mtu, file in sorted(found.items())[:4])
            + "; what one end sends larger than a port on the way takes is lost",
            next(iter(found.values())),
        )
        for found in list(differ.values())[:1]
    ]


def _matrix(evidence, file, reading, rate):
    """What an all-pairs measurement shows where no pair of it is cold; and where whole hosts are,
    measured with all their ports.
    """
    found = pairs.verdict_of(reading, [fabric for _, fabric in evidence.of(Fabric)])
    known = None if reading.guessed else evidence.rate
    if not known and found.level < perftest.GOOD * rate:
        return [
            Finding(
                3,
                "pair-unjudged",
                f"a usual pair reaches {si(found.level, 'B/s')}; port = … in {TOLD} tells whether"
                " that is slow",
                file,
            )
        ]
    if found.healthy and (not known or found.level >= perftest.GOOD * known):
        return [
            Finding(
                3,
                "pairs-good",
                f"{len(reading.pairs)} pairs around {si(found.level, 'B/s')}, none of them cold",
                file,
            )
        ]
    hosts = [part.name for one in found.findings for part in one.parts[:1] if part.kind == "host"]
    if hosts and known and found.level > 1.5 * known and not found.alike:
        return [
            Finding(
                3,
                "cold-host",
                f"{hosts[0]} is slow with all its ports together: a usual pair reaches"
                f" {si(found.level, 'B/s')}, more than one port carries",
                file,
            )
        ]
    return []


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
                f"{max(many)[1]} flows reach {max(many)[0]:.0%}, one flow {max(one):.0%}: the link"
                " is fine, one path is congested",
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


def _prompt(file, table):
    """That small messages arrive as they should, where the reader marks nothing."""
    row = min(table.rows, key=lambda row: row.size)
    time = table.one_way(row)
    if time is None or row.size > 4096 or any(perftest.table_signs(table)):
        return []
    if time >= perftest.HEALTHY:
        return []
    says = f"{si(time, 's')} one way for {row.size} bytes; below {si(perftest.HEALTHY, 's')}"
    return [Finding(3, "prompt", f"{says}, as it should be", file)]
