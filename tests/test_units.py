"""Units, the reader of quantities and the printer: what people type and what they see."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabriclab import units
from fabriclab.units import GB, KB, MB, Gbps, GiB, Tbps, W, hour, kW, ms, read, si, us


@pytest.mark.parametrize(
    "text, value, dimension",
    [
        ("7 ms", 7 * ms, "time"),
        ("0.4 Tb/s", 0.4 * Tbps, "rate"),
        ("46.6 GiB/s", 46.6 * GiB, "rate"),
        ("5 µs", 5 * us, "time"),  # U+00B5, the micro sign
        ("5 μs", 5 * us, "time"),  # U+03BC, the Greek letter
        ("400Gbps", 400 * Gbps, "rate"),
        ("400 Gbit / s", 400 * Gbps, "rate"),
        ("1,024", 1024, "number"),
        ("1_000 B", 1000, "size"),
        ("７５ ＫＢ", 75 * KB, "size"),
        ("1.5 x 10^-6 s", 1.5e-6, "time"),
        ("2 × 10^3 KB", 2 * MB, "size"),
        ("-3 ms", -3 * ms, "time"),
        ("−3 ms", -3 * ms, "time"),
        ("12.5 %", 0.125, "number"),
        ("9.0×", 9, "number"),
        ("$142.1M", 142.1e6, "money"),
        ("$300 million", 300e6, "money"),
        ("10 M$", 10e6, "money"),
        ("4 pJ/bit", 4e-12, "energy per bit"),
        ("25 W", 25 * W, "power"),
        ("75 kW", 75 * kW, "power"),
        ("3 m", 3, "length"),
        ("3 min", 180, "time"),
        ("2 hours", 2 * hour, "time"),
        ("53.125 GBd", 53.125e9, "symbol rate"),
        ("18 dB", 18, "decibels"),
        ("613 million", 613e6, "number"),
    ],
)
def test_reads_what_people_type(text, value, dimension):
    """A common way to type a quantity would be refused, or read as something else."""
    quantity = read(text)
    assert (quantity.value, quantity.dimension) == (pytest.approx(value, rel=1e-12), dimension)


@pytest.mark.parametrize(
    "text, word",
    [
        ("3,5 ms", "decimals with a point"),
        ("1,024,5 s", "decimals with a point"),
        ("400 gb/s", "GB/s or Gb/s"),
        ("5 MS", "ms"),
        ("5 parsec", "not a unit"),
        ("1.2.3 s", "not a unit"),
        ("10² s", "powers"),
        ("½ s", "fractions"),
        ("", "no number"),
        ("abc", "no number"),
        ("nan", "no number"),
        ("inf s", "no number"),
        (".", "no number"),
        ("1e999 s", "too large"),
        ("1 e3 s", "not a unit"),
        ("$5 ms", "dollar"),
        ("9" * 200, "longer"),
        (5, "text"),
        (None, "text"),
        (b"5 s", "text"),
    ],
)
def test_refuses_what_it_would_have_to_guess(text, word):
    """An ambiguous or unreadable quantity would be read as something,
    or refused without a reason.
    """
    with pytest.raises(ValueError, match=word):
        read(text)


def test_resolution_is_one_in_the_last_printed_place():
    """A printed number would be given more or fewer digits than it shows."""
    for text, step in [
        ("242.8 ms", 0.1 * ms),
        ("7.0 ms", 0.1 * ms),
        ("101 ms", ms),
        ("1.90 us", 0.01 * us),
        ("1,024", 1),
        ("1.5e-6 s", 1e-7),
        ("$142.1 M", 1e5),
    ]:
        assert read(text).resolution == pytest.approx(step, rel=1e-12)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text):
    """Some text would crash the reader with anything but its own ValueError, or read as NaN."""
    try:
        assert math.isfinite(read(text).value)
    except ValueError as error:
        assert str(error).startswith("could not read")


@given(st.sampled_from(sorted(units.UNITS)), st.decimals(0, 10**6, places=3))
def test_every_unit_is_read_as_its_si_value(unit, number):
    """A unit would be in the table with a value that the reader does not use."""
    if number == 0:
        return
    quantity = read(f"{number} {unit}")
    dimension, scale = units.UNITS[unit]
    assert quantity.dimension == dimension and quantity.value == pytest.approx(
        float(Fraction(number)) * scale, rel=1e-12
    )


def test_constants_against_each_other():
    """Bits and bytes, decimal and binary, would be mixed up in the constants themselves."""
    assert (
        400 * Gbps == 50 * GB
        and GiB / GB == pytest.approx(1.073741824)
        and pytest.approx(7 * ms) == 350 * MB / (50 * GB)
    )


@pytest.mark.parametrize(
    "value, unit, text",
    [
        (0.242835, "s", "242.8 ms"),
        (0.99996, "s", "1 s"),
        (0, "s", "0 s"),
        (90, "s", "90 s"),
        (50 * hour, "s", "2.083 d"),
        (75e3, "B", "75 KB"),
        (50e9, "b/s", "400 Gb/s"),
        (716.1e12, "B", "716.1 TB"),
        (75e3, "W", "75 kW"),
        (10e6, "$", "$10 M"),
        (142.1e9, "$", "$142.1 B"),
        (-5e-6, "s", "-5 us"),
        (math.inf, "s", "for ever"),
        (math.inf, "B", "no limit"),
        (math.nan, "B", "undefined"),
        (1024, "", "1.024 K"),
        (9.54, "dB", "9.54 dB"),
    ],
)
def test_prints_in_the_prefix_that_suits(value, unit, text):
    """A number would be printed in a prefix nobody uses for it, or with digits that run over."""
    assert si(value, unit) == text


@given(st.floats(1e-8, 1e15), st.sampled_from(["s", "B", "B/s", "b/s", "W"]))
def test_what_is_printed_reads_back(value, unit):
    """A printed quantity would read back as another one: printer and reader would disagree about a
    prefix.
    """
    if unit == "W" and value < 1e-4 or unit != "s" and value < 1 or value > 1e11 and unit == "W":
        return
    assert read(si(value, unit, 9)).value == pytest.approx(value, rel=1e-7)


# SI and IEC 80000-13, byte, second, watt, joule, floating-point operation; nothing computed
CONSTANTS = {
    "B": 1,
    "KB": 1000,
    "MB": 1_000_000,
    "GB": 1_000_000_000,
    "TB": 1_000_000_000_000,
    "PB": 1_000_000_000_000_000,
    "KiB": 1024,
    "MiB": 1_048_576,
    "GiB": 1_073_741_824,
    "TiB": 1_099_511_627_776,
    "bit": 0.125,
    "Mbps": 125_000,
    "Gbps": 125_000_000,
    "Tbps": 125_000_000_000,
    "ns": 0.000_000_001,
    "us": 0.000_001,
    "ms": 0.001,
    "s": 1,
    "minute": 60,
    "hour": 3600,
    "day": 86_400,
    "mW": 0.001,
    "W": 1,
    "kW": 1000,
    "MW": 1_000_000,
    "GW": 1_000_000_000,
    "pJ": 0.000_000_000_001,
    "TFLOPs": 1_000_000_000_000,
    "GBd": 1_000_000_000,
    "percent": 0.01,
}


def test_every_constant_is_the_standards():
    """A constant would be another number than SI or IEC 80000-13 has, or be added without a line
    here.
    """
    named = {name: value for name, value in vars(units).items() if isinstance(value, float)}
    assert named == CONSTANTS
    prefixes = {"p": -12, "n": -9, "u": -6, "m": -3, "": 0, "K": 3, "k": 3, "M": 6, "G": 9}
    prefixes |= {"T": 12, "P": 15, "E": 18}
    assert {name: float(f"1e{power}") for name, power in prefixes.items()} == units.DECIMAL
    assert {f"{name}i": 1024.0 ** (i + 1) for i, name in enumerate("KMGTP")} == units.BINARY


def test_every_unit_reads_as_the_standard_has_it():
    """A spelling of a unit would be read as another quantity or another size: each is built here
    from its prefix and its stem.
    """
    stems = {"B": 1, "b": 0.125, "bits": 0.125, "Hz": 1, "Bd": 1, "FLOP/s": 1}
    for prefix, power in (("", 0), ("K", 3), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15)):
        for stem, size in stems.items():
            assert units.UNITS[prefix + stem][1] == size * float(f"1e{power}")
        for ending in ("/s", "ps"):
            assert units.UNITS[f"{prefix}b{ending}"] == ("rate", 0.125 * float(f"1e{power}"))
    smaller = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86_400}
    smaller |= {"nm": 1e-9, "um": 1e-6, "mm": 1e-3, "cm": 1e-2, "m": 1, "km": 1e3}
    smaller |= {"mW": 1e-3, "W": 1, "kW": 1e3, "MW": 1e6, "GW": 1e9, "pJ/bit": 1e-12, "pJ": 1e-12}
    smaller |= {"%": 0.01, "ppm": 1e-6, "thousand": 1e3, "million": 1e6, "billion": 1e9, "dB": 1}
    smaller |= {"$": 1, "k$": 1e3, "M$": 1e6, "GiB": 2**30, "KiB/s": 2**10, "MiB": 2**20}
    for unit, size in smaller.items():
        assert units.UNITS[unit][1] == size, unit
