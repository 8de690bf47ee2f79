"""mlxlink held against its FEC, its lanes and its speed: what stands out at a port."""

import math
import re
import statistics
from collections.abc import Iterator

from fabriclab import link
from fabriclab.link.fec import ReedSolomon
from fabriclab.logs import module
from fabriclab.logs.mlxlink.ports import KP4_LIMIT, Port, Reading, _rate
from fabriclab.logs.sign import Sign
from fabriclab.logs.source import shorten
from fabriclab.units import bit, day, si


def bound(port: Port, rate: float | None = None) -> float | None:
    """The bit error ratio that a port with no error seen stays below, with 95 % confidence: ``3 /
    (bits seen)``.

    No error in n bits has probability (1 - b)^n, which is 5 % at b = 3/n: the rule of three. `rate`
    in bytes per second goes before the speed that the file prints. None where rate or time is not
    known.

    >>> from fabriclab.logs.mlxlink import Port
    >>> from fabriclab.units import Gbps
    >>> f"{bound(Port(1, cleared=60.0), 400 * Gbps):.3e}"
    '1.250e-13'
    """
    rate = rate or port.rate
    if not rate or not port.cleared:
        return None
    return 3 / (rate / bit * port.cleared)


def code_of(port: Port) -> ReedSolomon | None:
    """The Reed-Solomon code that the port's FEC line names, RS(544,514) where the line is missing,
    None where none is in use.
    """
    if port.fec is None:
        return link.KP4
    found = re.search(r"\((\d{2,4}),\s*(\d{2,4})\)", port.fec)
    try:
        return (
            link.ReedSolomon(int(found[1]), int(found[2]), name=f"RS({found[1]},{found[2]})")
            if found
            else None
        )
    except ValueError:
        return None


def threshold(code: ReedSolomon) -> float:
    """The raw bit error ratio at which `code` loses as many codewords as RS(544,514) does at
    2.4e-4, its limit by IEEE 802.3.

    >>> f"{threshold(link.KP4):.2g}"
    '0.00024'
    """
    return code.ber_for(link.KP4.codeword_loss(KP4_LIMIT))


def worst_lane(port: Port) -> tuple[float | int, ...] | None:
    """(lane from 0, its errors over the median of the other lanes, its share of all), or None for
    fewer than two lanes or no errors.

    >>> from fabriclab.logs.mlxlink import Port
    >>> worst_lane(Port(1, raw_errors_per_lane=(10, 20, 600, 10)))
    (2, 60.0, 0.9375)
    """
    lanes = port.raw_errors_per_lane or port.raw_ber_per_lane
    if len(lanes) < 2 or not any(lanes):
        return None
    worst = max(range(len(lanes)), key=lanes.__getitem__)
    others = statistics.median(value for lane, value in enumerate(lanes) if lane != worst)
    return worst, lanes[worst] / others if others else math.inf, lanes[worst] / sum(lanes)


def best(port: Port) -> float | None:
    """Bytes per second that port and cable are both good for over the lanes in use, None where
    neither lists its speeds.
    """
    both = [
        speed
        for speed in port.cable_speeds
        if not port.enabled_speeds or speed in port.enabled_speeds
    ]
    return max(
        (rate for rate in (_rate(speed, port.width) for speed in both) if rate), default=None
    )


def enabled(port: Port) -> float | None:
    """Bytes per second of the fastest speed enabled, over the lanes in use, None where none is
    listed.
    """
    return max(
        (rate for rate in (_rate(speed, port.width) for speed in port.enabled_speeds) if rate),
        default=None,
    )


def signs(reading: Reading, rate: float | None = None) -> Iterator:
    """What stands out at mlxlink's ports. `rate`: bytes per second that a port should carry, where
    it is told.
    """
    for port in reading.ports:
        yield from port_signs(port, rate)


def port_signs(port: Port, rate: float | None = None) -> Iterator:
    """What stands out at one port, the gravest first."""
    if port.state and port.state.split()[0].lower() not in ("active", "up"):
        yield Sign(
            "port-down",
            f"the link is not up: state {port.state[:40]}"
            + (f", physical state {port.physical_state[:40]}" if port.physical_state else ""),
        )
    if port.recommendation and not port.recommendation.startswith("No issue"):
        yield Sign("firmware-says", f"the firmware says: {shorten(port.recommendation, 120)}")
    if port.effective_errors or port.effective_ber:
        seen = (
            f"{port.effective_errors:,} errors"
            if port.effective_errors
            else f"a ratio of {port.effective_ber:g}"
        )
        yield Sign(
            "bit-errors",
            f"errors get past the FEC: {seen} after correction; each costs a packet, which"
            " go-back-N pays for with all that is in flight",
        )
    code = code_of(port)
    if port.raw_ber and code and port.raw_ber > threshold(code) / 10:
        near = "beyond" if port.raw_ber > threshold(code) else "within a factor of ten of"
        yield Sign(
            "fec-margin",
            f"raw BER {port.raw_ber:g} is {near} the {threshold(code):.2g} that {code.name} is"
            " good for",
        )
    worst = worst_lane(port)
    if (
        worst
        and worst[1] > 10
        and (not port.raw_errors_per_lane or max(port.raw_errors_per_lane) > 100)
    ):
        times = (
            f"{_times(worst[1])} times the errors of the median of the others"
            if worst[1] < math.inf
            else "all the errors"
        )
        yield Sign(
            "bad-lane",
            f"lane {worst[0]} alone has {times}: dirt or damage on one fibre or contact, not a weak"
            " module",
        )
    if port.link_downs:
        often = (
            f" in {si(port.cleared, 's')}: {port.link_downs / (port.cleared / day):.3g} a day"
            if port.cleared
            else ""
        )
        yield Sign(
            "link-downs",
            f"the link went down {port.link_downs} time{'s' * (port.link_downs != 1)}{often}",
        )
    if port.recoveries:
        yield Sign(
            "recoveries",
            f"{port.recoveries} link error recover{'ies' if port.recoveries != 1 else 'y'}: it"
            " dropped and came back by itself",
        )
    yield from module.signs(port)
    yield from _speed_signs(port, rate)


def slower(port: Port, rate: float | None) -> bool:
    """Whether a port runs below `rate`, bytes per second."""
    return bool(port.rate and port.rate < 0.99 * rate)


def _speed_signs(port, rate):
    fastest, allowed, runs = best(port), enabled(port), port.rate
    if not runs:
        return
    if rate and slower(port, rate):
        where = f"{si(runs, 'b/s')} ({port.width or '?'}x {port.speed}), where"
        if allowed and runs >= 0.99 * allowed and (port.width or 4) >= 4:
            yield Sign(
                "set-slow",
                f"the port runs at {where} {si(rate, 'b/s')} was to be, and no faster speed is"
                " enabled: it is set so",
            )
        else:
            yield Sign("slow-port", f"the port runs at {where} {si(rate, 'b/s')} was to be")
    elif fastest and slower(port, fastest):
        yield Sign(
            "slow-port",
            f"the port runs at {si(runs, 'b/s')}, though port and cable are good for"
            f" {si(fastest, 'b/s')}: negotiated down, or lanes are dead",
        )


def _times(value):
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"
