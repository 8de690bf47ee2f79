"""Step 4, counters: pauses, waits and discards on the path, and whether the job's placement leaves
it enough of it.
"""

import statistics
from dataclasses import replace

from fabriclab import congestion as congestion_model
from fabriclab import topology
from fabriclab.logs import infiniband, pauses, perfquery, perftest, watchdog
from fabriclab.logs.diagnose.evidence import Evidence
from fabriclab.logs.diagnose.finding import Finding
from fabriclab.units import si

_MOST_PORTS = 2048  # for which a placement's cut is computed


def congestion(evidence: Evidence) -> list[Finding]:
    """Who pauses whom, where packets wait or are thrown away, and whether a line is full of someone
    else's bytes.
    """
    found = [
        finding
        for file, reading in evidence.of(watchdog.Reading)
        for finding in _watchdog(file, reading)
    ]
    for file, reading in evidence.of(pauses.Reading):
        found += _pauses(file, reading, evidence.port()[0])
    for (called, _), answers in evidence.readings_of_ports().items():
        found += _port(evidence, called, answers)
    return found + placement(evidence)


def _watchdog(file, reading):
    if reading.storms or not reading.queues:
        return []
    return [Finding(4, "no-storm", f"{len(reading.queues)} queues watched, no storm", file)]


def _pauses(file, reading, rate):
    counted = [port for port in reading.ports if port.counted]
    found = []
    by_rx = sorted(counted, key=lambda port: -sum(value or 0 for value in port.rx))
    frames = [sum(value or 0 for value in port.rx) for port in by_rx]
    # fewer frames than one storm takes, each stopping the line for as long as one can, were none
    storm = watchdog.DEFAULT / congestion_model.pause_time(congestion_model.MAX_QUANTA, rate)
    if frames[0] >= storm and len(frames) > 2 and frames[0] >= 10 * statistics.median(frames[1:]):
        found.append(
            Finding(
                4,
                "one-pauser",
                f"what is plugged into {by_rx[0].name or 'one port'} sent {frames[0]:,} pauses, the"
                f" median of the other ports {statistics.median(frames[1:]):,.0f}",
                file,
            )
        )
    if any(port.paused("rx") or port.paused("tx") for port in counted):
        worst = max(counted, key=lambda port: sum(value or 0 for value in (*port.rx, *port.tx)))
        found.append(
            Finding(4, "paused", f"{worst.name or 'the port'}: {pauses.saying(worst)}", file)
        )
    else:
        found.append(
            Finding(
                4,
                "no-pauses",
                f"{len(counted)} port{'s' * (len(counted) != 1)} counted, no pause either way",
                file,
            )
        )
    return found


def _port(evidence, called, answers):
    """Of one port: what grew between the first answer and the last, or without times what stands
    there.
    """
    (_, first), (file, last) = answers[0], answers[-1]
    found, rate = (
        [
            Finding(
                4,
                "infiniband",
                f"{called} counts as InfiniBand ports do: credits there, no pauses",
                file,
            )
        ],
        evidence.port()[0],
    )
    full = [counter for counter in last.full if counter in ("PortXmitData", "PortRcvData")]
    grown, between = (
        _between(evidence, first, last, len(answers) - 1) if len(answers) > 1 else (None, None)
    )
    if grown is None and len(answers) > 1:
        found.append(Finding(4, "not-comparable", f"{called}: {between}", file))
    if grown is None and len(answers) > 1:
        once = [sign for sign in perfquery.port_signs(last) if sign.name == "discards-once"]
        return found + [Finding(4, *sign, file, odd=True) for sign in once]
    if grown is None:
        return found
    if grown.get("PortXmitDiscards") and not grown.get("PortRcvErrors"):
        found.append(
            Finding(
                4,
                "discards",
                f"{called} threw away {grown['PortXmitDiscards']:,} packets it could not send, with"
                " no receive error beside them: congestion, not a cable",
                file,
            )
        )
    sent = grown.get("PortXmitPkts") or grown.get("PortXmitData")
    waits, packets = (
        grown.get("PortXmitWait", 0),
        grown.get("PortXmitPkts") if "PortXmitPkts" not in last.full else None,
    )
    many = packets is not None and waits > packets  # a tick of waiting, and more, for every packet
    if many:
        found.append(
            Finding(
                4,
                "waits",
                f"{called} had data ready and no credit, or no turn, for {waits:,} ticks, "
                + (f"{waits / packets:.1f} a packet" if packets else "and sent no packet"),
                file,
            )
        )
    if between and "PortXmitData" in grown and "PortXmitData" not in full:
        found += _full_line(
            evidence, called, file, grown["PortXmitData"] * perfquery.WORD / between, rate
        )
    if not full and not sent:
        found.append(
            Finding(
                4,
                "idle",
                f"{called} sent nothing between two readings, which tells nothing of a job",
                file,
            )
        )
    elif not full and packets is not None and not many and not grown.get("PortXmitDiscards"):
        found.append(
            Finding(
                4,
                "quiet",
                f"{called}: no discards, and hardly a wait for credit, between two readings",
                file,
            )
        )
    return found


def _between(evidence, first, last, steps):
    """`steps` readings apart: (by how much each counter rose, seconds or None), or (None, why they
    cannot be compared).
    """
    if first.local != last.local and None not in (first.at, last.at):
        return None, "one time has a zone and the other none: how far apart they are is not known"
    seconds = (
        last.at - first.at
        if None not in (first.at, last.at)
        else (evidence.told.seconds_between or 0.0) * steps or None
    )
    if seconds == 0:
        return None, "two answers of one moment"
    try:
        return dict(perfquery.rates(first, last, seconds or 1.0).grown), seconds
    except ValueError as error:
        return None, str(error)


def _full_line(evidence, called, file, sent, rate):
    """A line that is full although a pair over it gets a part: the rest is someone else's."""
    shares = [
        (table.one_way(table.best), at)
        for at, reading in evidence.of(perftest.Reading)
        for table in reading.tables
        if table.kind == "bandwidth"
        and table.bidirectional is not None
        and max(row.size for row in table.rows) >= perftest.LARGE
    ]
    got, at = min(shares, default=(None, None))
    if sent >= perftest.GOOD * rate and got is not None and got < 0.8 * sent:
        return [
            Finding(
                4,
                "others-fill-it",
                f"{called} sends {si(sent, 'B/s')}, all that it can, and the pair in {at} gets"
                f" {si(got, 'B/s')}: the rest is not this job's",
                file,
            )
        ]
    return [
        Finding(4, "rate", f"{called} sends {si(sent, 'B/s')}, {sent / rate:.0%} of its line", file)
    ]


def placement(evidence: Evidence) -> list:
    """Of step 4: whether the job's own hosts could all send across its middle at once, from the
    fabric as read.
    """
    found, hosts = [], set(evidence.hosts())
    for file, fabric in evidence.of(infiniband.Fabric):
        best = {}
        for link in fabric.links:
            kind = infiniband.kind_of(fabric, link)
            if link.rate and link.rate > (best[kind].rate if kind in best else 0.0):
                best[kind] = link
        # a slow cable is another fault: the placement is judged by the fabric as it was built
        as_built = replace(
            fabric,
            links=tuple(
                (
                    replace(link, width=best[kind].width, speed=best[kind].speed)
                    if (kind := infiniband.kind_of(fabric, link)) in best
                    else link
                )
                for link in fabric.links
            ),
        )
        machines = [vertex.machine for vertex in fabric.nodes]
        job = [at for at, machine in enumerate(machines) if machine in hosts]
        if len(job) < 2 or len(job) > _MOST_PORTS:
            continue
        try:
            ratio = topology.placement_oversubscription(as_built.topology(), job)
        except ValueError as error:
            found.append(
                Finding(4, "fabric-unclear", f"the placement cannot be judged: {error}", file)
            )
            continue
        seats = f"{len(job)} ports of {len(hosts)} hosts"
        if ratio > 1 / perftest.GOOD:
            found.append(
                Finding(
                    4,
                    "tapered",
                    f"{seats} can send {ratio:.3g} times what the uplinks of some of them, or the"
                    " switches between the job's halves, carry",
                    file,
                )
            )
        else:
            found.append(
                Finding(
                    4, "not-tapered", f"{seats}: the switches above carry all that they send", file
                )
            )
    return found
