"""mlxlink: one port as its firmware sees it. `ports` reads the layout, `signs` judges; here it is
told.
"""

import math

from fabriclab.logs import module
from fabriclab.logs.mlxlink.ports import NONE_SEEN, SIGN, TOOL, Port, Reading, read
from fabriclab.logs.mlxlink.signs import (
    _times,
    best,
    bound,
    code_of,
    enabled,
    port_signs,
    signs,
    slower,
    threshold,
    worst_lane,
)
from fabriclab.logs.sign import marked
from fabriclab.units import Gbps, si

__all__ = [
    "NONE_SEEN",
    "Port",
    "Reading",
    "SIGN",
    "TOOL",
    "best",
    "bound",
    "code_of",
    "enabled",
    "port_signs",
    "read",
    "report",
    "signs",
    "slower",
    "threshold",
    "worst_lane",
]


def report(reading: Reading) -> str:
    """The few lines that ``fabriclab read`` prints for mlxlink's output."""
    blocks = [
        _block(port, number, len(reading.ports))
        for number, port in enumerate(reading.ports[:20], 1)
    ]
    if len(reading.ports) > 20:
        blocks.append([f"… and {len(reading.ports) - 20} more ports"])
    return "\n".join(line for block in blocks for line in block)


def _block(port, number, of):
    facts = [port.state, port.speed, f"{port.width} lanes" if port.width else None, port.fec]
    head = f"mlxlink{f', port {number} of {of}' if of > 1 else ''}: " + (
        ", ".join(fact for fact in facts if fact) or "counters only, speed and FEC not printed"
    )
    if port.cleared:
        head += f"; counters since {si(port.cleared, 's')}"
    lines = [
        head,
        *(f"  {line}" for line in (*_raw_lines(port), *_after_lines(port), *module.words(port))),
    ]
    return lines + marked(port_signs(port))


def _raw_lines(port):
    said, code = [], code_of(port)
    if port.raw_ber:
        said.append(f"raw BER {port.raw_ber:g}, before correction")
        if code:
            limit = threshold(code)
            loss = code.codeword_loss(port.raw_ber)
            named = "" if port.fec else " (taken for granted: the file names no FEC)"
            where = (
                f"{_times(limit / port.raw_ber)} times below" if port.raw_ber <= limit else "above"
            )
            said[0] += f": {where} the {limit:.2g} of {code.name}{named}"
            said.append(
                f"if errors were independent, {code.name} would lose"
                f" {'fewer than 1e-300' if loss < 1e-300 else f'{loss:.2g}'} of the codewords"
            )
    elif port.raw_ber == 0.0:
        said.append(f"raw BER: no error seen{_bound_words(port)}")
    if worst := worst_lane(port):
        lane, times, share = worst
        last = len(port.raw_errors_per_lane or port.raw_ber_per_lane) - 1
        beside = f", {_times(times)} times the median of the others" if times < math.inf else ""
        said.append(f"worst lane {lane} (of 0 to {last}): {share:.0%} of the errors{beside}")
    return said


def _after_lines(port):
    if port.effective_ber == 0.0 or (port.effective_ber is None and port.effective_errors == 0):
        return [f"after correction: no error seen{_bound_words(port)}"]
    return [f"after correction: BER {port.effective_ber:g}"] if port.effective_ber else []


def _bound_words(port):
    if limit := bound(port):
        return f", so the ratio is below {limit:.2g} (95 %: fewer than 3 in all bits since)"
    if port.cleared:
        return (
            "; the speed is not printed, at 400 Gb/s the ratio would be below"
            f" {bound(port, 400 * Gbps):.2g} (95 %: fewer than 3 in all bits since)"
        )
    return "; without time and speed that bounds nothing"
