"""Units as plain floats, numbers as people print them, and a reader for quantities as people type
them.

Inside fabriclab everything is SI: bytes, bytes per second, seconds, watts, metres,
dollars. The constants carry the unit, so ``350 * MB / (50 * GB)`` is seconds and costs nothing to
compute. K, M and G are decimal, as in the chapter; KiB, MiB and GiB are the powers of two.
"""

import math
import re
import unicodedata
from dataclasses import dataclass

B = 1.0
KB, MB, GB, TB, PB = 1e3, 1e6, 1e9, 1e12, 1e15
KiB, MiB, GiB, TiB = 2.0**10, 2.0**20, 2.0**30, 2.0**40
bit = 1 / 8
Mbps, Gbps, Tbps = 1e6 / 8, 1e9 / 8, 1e12 / 8  # bits per second, held as bytes per second
ns, us, ms, s = 1e-9, 1e-6, 1e-3, 1.0
minute, hour, day = 60.0, 3600.0, 86400.0
mW, W, kW, MW, GW = 1e-3, 1.0, 1e3, 1e6, 1e9
pJ = 1e-12
TFLOPs = 1e12
GBd = 1e9
percent = 0.01

DECIMAL = {
    "p": 1e-12,
    "n": 1e-9,
    "u": 1e-6,
    "m": 1e-3,
    "": 1.0,
    "K": 1e3,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "P": 1e15,
    "E": 1e18,
}
BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50}


def _spellings():
    """Every unit the reader knows: spelling -> (dimension, SI value)."""
    known = {}
    for prefix, scale in {k: v for k, v in (DECIMAL | BINARY).items() if v >= 1}.items():
        for name, size in (
            ("B", 1.0),
            ("byte", 1.0),
            ("bytes", 1.0),
            ("b", bit),
            ("bit", bit),
            ("bits", bit),
        ):
            known[prefix + name] = ("size", scale * size)
            known[prefix + name + "/s"] = known[prefix + name + "ps"] = ("rate", scale * size)
        known[prefix + "Bd"] = ("symbol rate", scale)
        known[prefix + "Hz"] = ("frequency", scale)
        known[prefix + "FLOP/s"] = ("operations per second", scale)
    for prefix in ("n", "u", "m", ""):
        for name in ("s", "sec", "secs", "second", "seconds"):
            known[prefix + name] = ("time", DECIMAL[prefix])
    for names, value in (
        (("min", "minute", "minutes"), minute),
        (("h", "hour", "hours"), hour),
        (("d", "day", "days"), day),
    ):
        known |= {name: ("time", value) for name in names}
    for word, value in (("nano", ns), ("micro", us), ("milli", ms)):
        known |= {word + "second": ("time", value), word + "seconds": ("time", value)}
    for prefix in ("m", "", "k", "M", "G"):
        known[prefix + "W"] = ("power", DECIMAL[prefix])
    for prefix in ("p", "n", "u", "m", "", "k", "M"):
        known[prefix + "J"] = ("energy", DECIMAL[prefix])
        known[prefix + "J/bit"] = known[prefix + "J/b"] = ("energy per bit", DECIMAL[prefix])
    for prefix, value in (
        ("n", 1e-9),
        ("u", 1e-6),
        ("m", 1e-3),
        ("c", 1e-2),
        ("", 1.0),
        ("k", 1e3),
    ):
        known[prefix + "m"] = ("length", value)
    known |= {
        "dB": ("decibels", 1.0),
        "": ("number", 1.0),
        "x": ("number", 1.0),
        "times": ("number", 1.0),
        "%": ("number", 0.01),
        "ppm": ("number", 1e-6),
        "thousand": ("number", 1e3),
        "million": ("number", 1e6),
        "billion": ("number", 1e9),
    }
    known |= {"$": ("money", 1.0), "USD": ("money", 1.0), "dollars": ("money", 1.0)}
    known |= {prefix + "$": ("money", scale) for prefix, scale in (("k", 1e3), ("M", 1e6))}
    return known


UNITS = _spellings()
_NUMBER = r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d*)?(?:(?:[eE]|x10\^)[+-]?\d+)?"
_MULTIPLE = {
    "k": 1e3,
    "K": 1e3,
    "thousand": 1e3,
    "M": 1e6,
    "million": 1e6,
    "B": 1e9,
    "billion": 1e9,
    "": 1.0,
}


@dataclass(frozen=True)
class Quantity:
    """A quantity as read: SI `value`, what it measures, the `resolution` of its printed digits (one
    last place, SI), its `unit` as typed.
    """

    value: float
    dimension: str
    resolution: float
    unit: str = ""


def read(text: str) -> "Quantity":
    """A `Quantity` from text such as "390 Gb/s", "46.6 GiB/s", "5 µs", "1,024", "12.5 %" or "$142.1
    M".

    K, M, G are decimal and Ki, Mi, Gi binary; b is a bit and B a byte, and case matters. Both
    codings of µ are read.
    Raises ValueError, saying what it could not read, rather than guess: a comma that does not group
    thousands is refused.

    Other words: parse text with a unit, convert GB, Gb/s.

    >>> read("390 Gb/s").value / GB
    48.75
    >>> read("242.8 ms").resolution == 0.1 * ms
    True
    >>> read("3,5 ms")
    Traceback (most recent call last):
    ValueError: could not read '3,5 ms': write decimals with a point, as in 3.5
    """
    if not isinstance(text, str):
        raise ValueError(f"could not read {text!r}: a quantity is text such as '7 ms'")
    if any(unicodedata.category(sign) == "No" for sign in text):
        raise ValueError(
            f"could not read {text!r}: write powers as 10^2, and fractions as decimals"
        )
    plain = (
        unicodedata.normalize("NFKC", text)
        .replace("μ", "u")
        .replace("−", "-")
        .replace("×", "x")
        .replace("⋅", "x")
        .strip()
    )
    if len(plain) > 100:
        raise ValueError(f"could not read '{plain[:40]}…': longer than any quantity")
    money = plain.startswith("$")
    body = re.sub(r"\s*x\s*10\s*(?:\^|\*\*)\s*", "x10^", plain.lstrip("$").strip().replace("_", ""))
    match = re.match(_NUMBER, body)
    number, unit = match.group(), body[match.end() :].strip()
    if not re.search(r"\d", number.split("e")[0]):
        raise ValueError(f"could not read {text!r}: no number in front")
    if re.match(r",\d", unit):
        raise ValueError(f"could not read {text!r}: write decimals with a point, as in 3.5")
    unit = re.sub(r"\s*/\s*", "/", unit)
    value, step = _parse(number)
    if money:
        if unit not in _MULTIPLE:
            raise ValueError(
                f"could not read {text!r}: after a dollar amount only k, M or B, not '{unit}'"
            )
        dimension, scale = "money", _MULTIPLE[unit]
    elif unit in UNITS:
        dimension, scale = UNITS[unit]
    elif unit.endswith("$") and unit[:-1].strip() in _MULTIPLE:
        dimension, scale = "money", _MULTIPLE[unit[:-1].strip()]
    else:
        raise ValueError(f"could not read {text!r}: {_why_not(unit)}")
    value, step = value * scale, step * scale
    if not math.isfinite(value):
        raise ValueError(f"could not read {text!r}: too large")
    return Quantity(value, dimension, step, "$" if dimension == "money" else unit)


def _parse(number):
    mantissa, _, power = number.replace(",", "").replace("x10^", "e").lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    power = int(power or 0)
    if abs(power) > 300:
        return math.inf, math.inf
    return float(f"{mantissa or 1}e{power}"), float(f"1e{power - decimals}")


def _why_not(unit):
    close = [known for known in UNITS if known and known.lower() == unit.lower()]
    if close:
        return (
            f"'{unit}' is not a unit; did you mean {' or '.join(close)}? (b is a bit, B a byte, and"
            " case matters)"
        )
    if unit in DECIMAL or unit in BINARY:
        return f"'{unit}' is a prefix: name the unit behind it"
    return f"'{unit}' is not a unit known here"


def si(value: float, unit: str, digits: int = 4) -> str:
    """`value` for people, in the prefix that suits it, to `digits` significant digits.

    `unit` is "B", "B/s", "b/s" (shown in bits; the value stays bytes per second), "s", "W", "m",
    "Bd", "$" or any name.

    Other words: format a number with a unit, human readable, bytes, seconds.

    >>> si(0.242835, "s"), si(75e3, "B"), si(50e9, "b/s"), si(3.15e12, "B/s")
    ('242.8 ms', '75 KB', '400 Gb/s', '3.15 TB/s')
    >>> si(10e6, "$"), si(float("inf"), "s")
    ('$10 M', 'for ever')
    """
    value, digits = _plain("value", value), _digits(digits)
    if not isinstance(unit, str):
        raise ValueError(f"unit must be text such as 's' or 'B/s', not {unit!r:.60}")
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "for ever" if unit == "s" else "no limit"
    if unit in ("b", "b/s"):
        value *= 8
    if unit == "s" and abs(value) >= 120:
        for size, name in ((day, "d"), (hour, "h"), (minute, "min")):
            if abs(value) >= 2 * size:
                return f"{si_digits(value / size, digits)} {name}"
    small = {"s": "num", "W": "m", "J": "pnum", "m": "m"}.get(unit, "")
    ladder = [(DECIMAL[p], p) for p in small] + [(1.0, "")]
    if unit not in ("s", "m", "dB", "%", "x"):
        ladder += [
            (1e3, "k" if unit in ("W", "$") else "K"),
            (1e6, "M"),
            (1e9, "B" if unit == "$" else "G"),
            (1e12, "T"),
            (1e15, "P"),
            (1e18, "E"),
        ]
    scale, prefix = ladder[0] if value else (1.0, "")
    for scale_here, prefix_here in ladder:
        # round first, so that 999.96 ms prints as 1 s and not as 1000 ms
        if value and abs(float(f"{value / scale_here:.{digits}g}")) >= 1:
            scale, prefix = scale_here, prefix_here
    shown = si_digits(value / scale, digits)
    return f"${shown} {prefix}".rstrip() if unit == "$" else f"{shown} {prefix}{unit}".rstrip()


def _plain(name, value):
    try:
        if getattr(value, "ndim", 0) or isinstance(value, str) or not hasattr(value, "__float__"):
            raise TypeError
        return float(value)
    except (TypeError, OverflowError):
        raise ValueError(f"{name} must be one number, not {value!r:.60}") from None


def _digits(digits):
    if _plain("digits", digits) not in range(1, 18):
        raise ValueError(f"digits must be a whole number from 1 to 17, not {digits!r}")
    return int(digits)


def plural(count: int, thing: str) -> str:
    """`count` and a `thing` whose plural takes an s: "1 port", "1,024 ports".

    >>> plural(1, "port"), plural(0, "port"), plural(1024, "port")
    ('1 port', '0 ports', '1,024 ports')
    """
    count = _plain("count", count)
    shown = int(count) if math.isfinite(count) and count == int(count) else count
    return f"{shown:,} {thing}{'s' * (count != 1)}"


def si_digits(value: float, digits: int) -> str:
    """`value` to `digits` significant digits, without trailing zeros: 7.0015 to 4 is "7.002", 1024
    is "1,024".

    >>> si_digits(7.0015, 4), si_digits(1024, 4)
    ('7.002', '1,024')
    """
    value, digits = _plain("value", value), _digits(digits)
    if not math.isfinite(value):
        raise ValueError(f"value must be a finite number, not {value!r}")
    rounded = float(f"{value:.{digits}g}")
    if rounded and not 1e-4 <= abs(rounded) < 1e7:
        return f"{rounded:.{digits}g}"
    return (
        f"{rounded:,.{max(0, digits - 1 - math.floor(math.log10(abs(rounded))))}f}".rstrip(
            "0"
        ).rstrip(".")
        if rounded and rounded != int(rounded)
        else f"{int(rounded):,}"
    )
