"""Step 5, the physical layer: what ports and cables say of themselves."""

from fabriclab.logs import infiniband, mlxlink, perfquery
from fabriclab.logs.diagnose.evidence import TOLD, Evidence
from fabriclab.logs.diagnose.finding import Finding
from fabriclab.units import si


def physical(evidence: Evidence) -> list[Finding]:
    """Step 5: what the ports and cables say of themselves, beside what their readers mark."""
    rate, _ = evidence.port()
    found, sound, unrated, odd = [], [], [], False
    for file, reading in evidence.of(mlxlink.Reading):
        for port in reading.ports:
            marked = any(mlxlink.port_signs(port, evidence.told.port))
            slower = not marked and mlxlink.slower(port, rate)
            if slower and (port.width or 4) < 4:
                found.append(
                    Finding(
                        5,
                        "slow-port",
                        f"the port runs at {si(port.rate, 'b/s')} over {port.width} of 4 lanes",
                        file,
                    )
                )
            elif slower:
                found.append(
                    Finding(
                        5,
                        "slower-port",
                        f"the port runs at {si(port.rate, 'b/s')}, another one here is good for"
                        f" {si(rate, 'b/s')}; port = … in {TOLD} tells what is meant",
                        file,
                    )
                )
            odd |= marked or slower
            if port.rate:
                sound.append(file)
            elif not marked:
                unrated.append(
                    Finding(
                        5,
                        "no-speed",
                        "no error gets past the FEC, but the port's speed is not printed",
                        file,
                    )
                )
    slow_cable = any(infiniband.degraded(fabric) for _, fabric in evidence.of(infiniband.Fabric))
    if sound and not odd and not slow_cable:
        found.append(
            Finding(
                5,
                "clean",
                f"{len(sound)} port{'s' * (len(sound) != 1)} at full rate, and no error gets past"
                " the FEC",
                sound[0],
            )
        )
    found += unrated
    for answers in evidence.readings_of_ports().values():
        if len(answers) > 1:
            found += _since(answers)
    return found


def _since(answers):
    """What became of a port's errors between two answers: old errors that stand still, counted
    since who knows when, are no sign of today's trouble.
    """
    (_, first), (file, last) = answers[0], answers[-1]
    damaged = [counter for counter in perfquery.CABLE if last.count(counter)]
    grown = [
        counter
        for counter in damaged
        if last.count(counter) > (first.count(counter) or 0) or counter in last.full
    ]
    counts = ", ".join(
        f"{counter} {'at least ' * (counter in last.full)}{last.count(counter):,}"
        for counter in grown or damaged
    )
    if grown:
        says = f"{last.called}: {counts}, and growing: bits arrive damaged"
        return [Finding(5, "receive-errors", says, file)]
    if damaged:
        says = f"{last.called}: {counts}, the same at both readings: old errors"
        return [Finding(5, "errors-old", says, file)]
    return []
