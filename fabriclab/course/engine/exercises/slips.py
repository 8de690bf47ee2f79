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
TWICE, PER_CENT, ONE_OFF, NOT_WHOLE = (
    "factor of 2",
    "per cent given bare",
    "off by one",
    "not a whole number",
)
_BINARY_NAMES = ("KiB for KB", "MiB for MB", "GiB for GB", "TiB for TB")


def _general(ratio, close, dimension):
    """The general slips a ratio answer / key speaks of, as (name, words): only those that an answer
    of this dimension can hold.
    """
    if dimension in ("size", "rate", "time", "number") and (close(ratio, 8) or close(ratio, 1 / 8)):
        yield BITS, "bits and bytes got mixed up somewhere: a factor of 8"
    for power, name in enumerate(_BINARY_NAMES, start=1):
        near = [math.isclose(ratio, 1.024**p, rel_tol=0.002) for p in (power, -power)]
        if dimension in ("size", "rate") and any(near):
            yield (
                BINARY,
                f"1024 and 1000 got mixed up ({name}, or the other way round); this kit and the"
                " chapter count decimally",
            )
    if close(ratio, 2) or close(ratio, 1 / 2):
        if dimension in ("size", "rate", "time"):
            yield BOTH_WAYS, "one way and both ways got mixed up: a factor of 2"
        else:
            yield TWICE, "something was counted twice that counts once, or once that counts twice"
    power = round(math.log10(ratio))
    if power and close(ratio, 10.0**power):
        slipped = "something with zeros" if dimension == "number" else "a unit prefix"
        yield TEN, f"{slipped} slipped: the digits look good, the power of ten does not"


def _counted(answer, key):
    """The slips of a count: one more or less, or a number that is not whole."""
    if abs(answer - key) == 1:
        yield (
            ONE_OFF,
            "you are one off: are both ends counted, and on which side does the limit itself fall?",
        )
    elif answer != round(answer) and abs(answer - key) < 1:
        yield NOT_WHOLE, "a whole number is asked for: think which way to round"


def explain(answer, key, own, tolerance, dimension="size", whole=False, bare=False):
    """Every slip that leads from `key` to `answer`, as (name, words): the exercise's own first,
    given as (Slip, value). `whole` is for a count; `bare` for a number given without unit or %.
    """
    near = min(tolerance, 0.01)

    def close(a, b):
        return b != 0 and math.isfinite(a) and math.isfinite(b) and abs(a - b) <= near * abs(b)

    found = [(slip.name, slip.says) for slip, value in own if close(answer, value)]
    taken = {slip_name for slip_name, _ in found}
    ratio = answer / key if key and math.isfinite(key) and math.isfinite(answer) else 0.0
    if not (ratio > 0 and math.isfinite(ratio)):
        return found
    if whole and (one := list(_counted(answer, key))):
        return found or one
    if bare and dimension == "number" and key < 1.5 and close(ratio, 100):
        return found or [(PER_CENT, _per_cent(answer))]
    # an exercise that speaks of both ways itself need not hear of a factor of 2 as well
    taken |= {TWICE} if BOTH_WAYS in taken else set()
    general = _general(ratio, close, dimension)
    return found + [(name, says) for name, says in general if name not in taken]


def _per_cent(answer):
    return (
        f"you gave per cent as a bare number: {answer:.4g} % is {answer / 100:.4g}, or write"
        f' "{answer:.4g} %"'
    )


def close_by(answer, key, tolerance):
    """Words for a near miss, or "": how near, in whole per cents, without saying on which side."""
    off = abs(answer / key - 1) if key and math.isfinite(key) and math.isfinite(answer) else 1.0
    if off > max(0.03, 2 * tolerance):
        return ""
    return (
        f"Close: within {max(1, math.ceil(100 * off - 1e-9))} %. Did you round on the way, or leave"
        " out a small term?"
    )


def words(found):
    """One sentence for the slips found: it claims one only where no other explains the number as
    well.
    """
    if len(found) == 1:
        return f"It looks as if {found[0][1]}" + ("" if found[0][1].endswith("?") else ".")
    return "More than one slip leads there: " + "; or ".join(says for _, says in found) + "."
