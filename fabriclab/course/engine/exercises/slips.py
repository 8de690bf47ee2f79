"""Slips that show in a number: bits for bytes, 1024 for 1000, one way for both, a unit prefix, and
an exercise's own.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Slip:
    """A known wrong way: its `name` in a class report, what to say to the student, and the
    `value(x)` it leads to.

    A slip with the name of a general one (`BITS`, `BINARY`, `BOTH_WAYS`, `TEN`) speaks in its
    place.
    """

    name: str
    says: str
    value: Callable


BITS, BINARY, BOTH_WAYS, TEN = (
    "bits for bytes",
    "1024 for 1000",
    "one way for both ways",
    "power of ten",
)


def _general(ratio, close):
    """The general slips a ratio answer / key speaks of, as (name, words)."""
    found = []
    if close(ratio, 8) or close(ratio, 1 / 8):
        found.append((BITS, "bits and bytes got mixed up somewhere: a factor of 8"))
    for power, name in enumerate(("KiB for KB", "MiB for MB", "GiB for GB", "TiB for TB"), start=1):
        if math.isclose(ratio, 1.024**power, rel_tol=0.005) or math.isclose(
            ratio, 1.024**-power, rel_tol=0.005
        ):
            found.append(
                (
                    BINARY,
                    (
                        f"1024 and 1000 got mixed up ({name}, or the other way round); this kit and"
                        " the chapter count decimally"
                    ),
                )
            )
    if close(ratio, 2) or close(ratio, 1 / 2):
        found.append((BOTH_WAYS, "one way and both ways got mixed up: a factor of 2"))
    power = round(math.log10(ratio))
    if power and close(ratio, 10.0**power):
        found.append(
            (TEN, "a unit prefix slipped: the digits look good, the power of ten does not")
        )
    return found


def explain(answer, key, own, tolerance):
    """Every slip that leads from `key` to `answer`, as (name, words): the exercise's own first,
    given as (Slip, value).
    """
    near = min(tolerance, 0.01)

    def close(a, b):
        return b != 0 and math.isfinite(a) and math.isfinite(b) and abs(a - b) <= near * abs(b)

    found = [(slip.name, slip.says) for slip, value in own if close(answer, value)]
    taken = {slip_name for slip_name, _ in found}
    ratio = answer / key if key and math.isfinite(key) and math.isfinite(answer) else 0.0
    if ratio > 0 and math.isfinite(ratio):
        found += [
            (general, says) for general, says in _general(ratio, close) if general not in taken
        ]
    return found


def words(found):
    """One sentence for the slips found: it claims one only where no other explains the number as
    well.
    """
    if len(found) == 1:
        return f"It looks as if {found[0][1]}."
    return "More than one slip leads there: " + "; or ".join(says for _, says in found) + "."
