"""Step 5, the physical layer: what ports and cables say of themselves."""

from fabriclab.logs import infiniband, mlxlink, perfquery
from fabriclab.logs.diagnose.evidence import TOLD
from fabriclab.logs.diagnose.finding import Finding
from fabriclab.units import si


def physical(evidence):
    """Step 5: what the ports and cables say of themselves."""
    rate, _ = evidence.port()
    found, looked, unrated = [], [], []
    for file, reading in evidence.of(mlxlink.Reading):
        for port in reading.ports:
            told = _mlxlink(file, port, rate, evidence.told.port)
            found += told
            if port.rate:
                looked.append(file)
            elif not told:
                unrated.append(
                    Finding(
                        5,
                        "no-speed",
                        "no error gets past the FEC, but the port's speed is not printed",
                        file,
                    )
                )
    for file, fabric in evidence.of(infiniband.Fabric):
        for link, why in infiniband.degraded(fabric)[:3]:
            ends = (
                f"{fabric.vertices[link.a].name} port {link.a_port} to"
                f" {fabric.vertices[link.b].name} port {link.b_port}"
            )
            found.append(Finding(5, "slow-cable", f"{ends} runs at {why}", file))
    if looked and not found:
        found.append(
            Finding(
                5,
                "clean",
                f"{len(looked)} port{'s' * (len(looked) != 1)} at full rate, and no error gets past"
                " the FEC",
                looked[0],
            )
        )
    found += unrated
    for answers in evidence.readings_of_ports().values():
        file, last = answers[-1]
        sign, damaged = (
            "errors-once",
            [counter for counter in perfquery.CABLE if last.count(counter)],
        )
        if (
            damaged and len(answers) > 1
        ):  # old errors, counted since who knows when, are no sign of today's trouble
            sign = "receive-errors"
            damaged = [
                counter
                for counter in damaged
                if last.count(counter) > (answers[0][1].count(counter) or 0) or counter in last.full
            ]
        if damaged:
            counts = ", ".join(
                f"{counter} {'at least ' * (counter in last.full)}{last.count(counter):,}"
                for counter in damaged
            )
            found.append(
                Finding(
                    5,
                    sign,
                    f"{last.called}: {counts}: bits arrive damaged"
                    + (", when is not known" if sign == "errors-once" else ""),
                    file,
                )
            )
    return found


def _mlxlink(file, port, rate, told):
    found = []
    if port.state and port.state.split()[0].lower() not in ("active", "up"):
        found.append(Finding(5, "port-down", f"the link is not up: state {port.state[:40]}", file))
    able, enabled = mlxlink.best(port), mlxlink.enabled(port)
    if (
        port.rate
        and port.rate < 0.99 * rate
        and not told
        and not (port.width or 4) < 4
        and not (able and able > 1.01 * port.rate)
    ):
        found.append(
            Finding(
                5,
                "slower-port",
                f"the port runs at {si(port.rate, 'b/s')}, another one here is good for"
                f" {si(rate, 'b/s')}; port = … in {TOLD} tells what is meant",
                file,
            )
        )
    elif (
        port.rate
        and enabled
        and 0.99 * enabled <= port.rate < 0.99 * rate
        and not (port.width or 4) < 4
    ):
        found.append(
            Finding(
                5,
                "set-slow",
                f"the port runs at {si(port.rate, 'b/s')}, where {si(rate, 'b/s')} was to be, and"
                " no faster speed is enabled: it is set so",
                file,
            )
        )
    elif port.rate and port.rate < 0.99 * rate:
        found.append(
            Finding(
                5,
                "slow-port",
                f"the port runs at {si(port.rate, 'b/s')} ({port.width or '?'}x {port.speed}),"
                f" where {si(rate, 'b/s')} was to be",
                file,
            )
        )
    if port.effective_errors or port.effective_ber:
        found.append(
            Finding(
                5,
                "bit-errors",
                "errors get past the FEC:"
                f" {port.effective_errors or f'a ratio of {port.effective_ber:g}'}",
                file,
            )
        )
    worst = mlxlink.worst_lane(port)
    if (
        worst
        and worst[1] > 10
        and (not port.raw_errors_per_lane or max(port.raw_errors_per_lane) > 100)
    ):
        found.append(
            Finding(
                5, "bit-errors", f"lane {worst[0]} alone has {worst[2]:.0%} of the raw errors", file
            )
        )
    if port.link_downs:
        found.append(
            Finding(
                5,
                "link-downs",
                f"the link went down {port.link_downs} time{'s' * (port.link_downs != 1)}",
                file,
            )
        )
    return found
