"""mlxlink: a real dump value by value, our own written and read back, the verdict against the
codes, damage refused.
"""

import os
import re
from pathlib import Path

import pytest
from damage import says
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabriclab import link, logs
from fabriclab.logs import mlxlink
from fabriclab.units import Gbps, day
from tools import samples as made

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = Path(os.environ.get("FABRICLAB_SAMPLES", ROOT.parent / "shared" / "samples"))
needs_samples = pytest.mark.skipif(
    not SAMPLES.is_dir(), reason="no folder of real tools' output here (FABRICLAB_SAMPLES)"
)

DOWN = """
Operational Info
----------------
State                              : Disable
Physical state                     : Disabled
Speed                              : N/A
Width                              : N/A
FEC                                : N/A

Troubleshooting Info
--------------------
Status Opcode                      : 1024
Recommendation                     : Cable is unplugged
"""


@pytest.fixture
def file(tmp_path):
    def put(content):
        path = tmp_path / "port.txt"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put


def port_of(path):
    (port,) = logs.read(path).ports
    return port


@needs_samples
def test_real_dump():
    """Colours would hide the ratios, 15E-255 would pass for a ratio, or a counter would go to the
    wrong name.
    """
    port = port_of(SAMPLES / "mlxlink_400g_ansi_ber.txt")
    assert port.cleared == pytest.approx(348349.5 * 60)
    assert (
        port.raw_ber,
        port.effective_ber,
        port.effective_errors,
        port.link_downs,
        port.recoveries,
    ) == (2e-9, 0.0, 0, 0, 0)
    assert port.raw_errors_per_lane == (3946476397, 5120336064, 7692183445, 3026261414)
    assert (port.state, port.speed, port.fec, port.rate) == (None, None, None, None)
    lane, times, share = mlxlink.worst_lane(port)
    assert (lane, times, share) == (
        2,
        pytest.approx(7692183445 / 3946476397),
        pytest.approx(0.3888, abs=1e-4),
    )
    assert mlxlink.bound(port, 425 * Gbps) == pytest.approx(3 / (425e9 * 348349.5 * 60))
    # the counts, the time and a 400G line agree with the printed ratio to its one digit
    assert sum(port.raw_errors_per_lane) / (425e9 * port.cleared) == pytest.approx(
        port.raw_ber, rel=0.25
    )
    text = logs.report(SAMPLES / "mlxlink_400g_ansi_ber.txt")
    assert (
        "RS(544,514)" in text
        and "taken for granted" in text
        and "no error seen" in text
        and "!" not in text
    )


@needs_samples
def test_real_dump_cut_anywhere(file):
    """A dump cut at any byte would crash the reader or give a number it does not print."""
    whole = (SAMPLES / "mlxlink_400g_ansi_ber.txt").read_text()
    true = port_of(file(whole))
    kept = (
        "cleared",
        "raw_ber",
        "effective_ber",
        "effective_errors",
        "link_downs",
        "recoveries",
        "raw_errors_per_lane",
    )
    for at in range(len(whole)):
        try:
            ports = logs.read(file(whole[:at])).ports
        except ValueError as refused:
            assert "line" in str(refused)
        else:
            for port in ports:
                assert all(getattr(port, key) in (None, (), getattr(true, key)) for key in kept)


@settings(
    max_examples=26, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    st.lists(st.integers(0, 10**14), min_size=1, max_size=8),
    st.floats(600.0, 1e8),
    st.integers(0, 10**6),
    st.integers(0, 99),
    st.booleans(),
)
def test_what_is_written_is_read_back(file, lanes, seconds, uncorrected, downs, colours):
    """Counts, time or ratios that go into a dump would not come out of it."""
    port = port_of(
        file(
            made.mlxlink(
                lanes, seconds, effective_errors=uncorrected, link_downs=downs, colours=colours
            )
        )
    )
    assert (port.raw_errors_per_lane, port.effective_errors, port.link_downs, port.width) == (
        tuple(lanes),
        uncorrected,
        downs,
        len(lanes),
    )
    assert port.cleared == pytest.approx(seconds, abs=3.1)
    ratio = sum(lanes) / (425e9 * seconds)
    assert port.raw_ber == (pytest.approx(ratio, rel=0.51) if ratio else 0.0)
    assert logs.report(file(made.mlxlink(lanes, seconds)))


@pytest.mark.parametrize(
    "speed, width, rate",
    [
        ("IB-NDR", 4, 400),
        ("IB-HDR", 2, 100),
        ("IB-EDR", 4, 100),
        ("400G", 4, 400),
        ("100G", 4, 100),
        ("IB-XDR", 4, 800),
        ("IB-SDR", 4, 8),
        ("IB-NDR", None, None),
        ("something", 4, None),
    ],
)
def test_rates_by_name(speed, width, rate):
    """A speed's name would be turned into another rate (InfiniBand names count per lane, Ethernet's
    are of the port).
    """
    got = mlxlink.Port(1, speed=speed, width=width).rate
    assert got is None if rate is None else got == pytest.approx(rate * Gbps)


@pytest.mark.parametrize(
    "fec, code",
    [
        ("Standard RS-FEC - RS(528,514)", (528, 514)),
        ("RS-FEC - (544,514) + PLR", (544, 514)),
        ("Standard LL RS-FEC - RS(271,257)", (271, 257)),
        ("No FEC", None),
        ("Firecode FEC", None),
        ("RS(1,2)", None),
    ],
)
def test_code_by_name(fec, code):
    """The verdict would compare with another code than the port uses."""
    got = mlxlink.code_of(mlxlink.Port(1, fec=fec))
    assert got is None if code is None else (got.n, got.k) == code


def test_threshold_of_another_code():
    """A weaker code would be granted the raw ratio of KP4, 2.4e-4."""
    limit = mlxlink.threshold(link.KR4)
    assert 1e-5 < limit < 5e-5
    assert link.KR4.codeword_loss(limit) == pytest.approx(
        8.1515734e-13, rel=1e-5
    )  # published value for KP4 at 2.4e-4


def test_none_seen_is_a_bound(file):
    """No error seen would be told as a ratio of 0 or of 15E-255."""
    path = file(made.mlxlink([0, 0, 0, 0], 1 * day))
    port = port_of(path)
    assert port.raw_ber == 0.0
    assert mlxlink.bound(port) == pytest.approx(3 / (400e9 * 86400))
    text = logs.report(path)
    assert "below 8.7e-17" in text and "255" not in text
    assert mlxlink.bound(mlxlink.Port(1, raw_ber=0.0)) is None


@pytest.mark.parametrize(
    "text, told",
    [
        (DOWN, "the link is not up"),
        (DOWN, "Cable is unplugged"),
        (made.mlxlink([10**9] * 4, day, effective_errors=5), "errors get past the FEC: 5"),
        (made.mlxlink([10**12] * 4, day), "within a factor of ten of the 0.00024"),
        (made.mlxlink([10**14] * 4, day), "beyond the 0.00024"),
        (made.mlxlink([10**6, 10**6, 10**6, 10**9], day), "lane 3 alone has 1,000 times"),
        (made.mlxlink([10**6] * 4, 2 * day, link_downs=6), "went down 6 times in 2 d: 3 a day"),
        (made.mlxlink([10**6] * 4, day, recoveries=1), "1 link error recovery"),
        (
            made.mlxlink([10**6] * 4, day, speed="IB-HDR")
            + "Supported Info\n--------------\nEnabled Link Speed : 0x1 (NDR,HDR,EDR)\nSupported"
            " Cable Speed : 0x2 (NDR,HDR)\n",
            "runs at 200 Gb/s, though port and cable are good for 400 Gb/s",
        ),
    ],
)
def test_faults_are_named(file, text, told):
    """A fault that the dump shows would pass unmentioned."""
    assert told in logs.report(file(text))


def test_a_sound_port_raises_no_doubt(file):
    """A healthy port would be called sick."""
    assert says(mlxlink.port_signs, port_of(ROOT / "notebooks" / "logs" / "mlxlink_400g.txt")) == []
    assert "lane 2 alone" in logs.report(ROOT / "notebooks" / "logs" / "mlxlink_dirty_lane.txt")


def test_several_ports(file):
    """Two dumps in one file would be mixed into one port."""
    one, other = made.mlxlink([1, 2, 3, 4], day), made.mlxlink([5, 6, 7, 8], day, speed="IB-HDR")
    for text in (
        one + other,
        "== mlx5_0 ==\n"
        + re.sub(r"(?m)^(?!Raw|Eff|Time).*\n", "", one)
        + "== mlx5_1 ==\n"
        + re.sub(r"(?m)^(?!Raw|Eff|Time).*\n", "", other),
    ):
        ports = logs.read(file(text)).ports
        assert [port.raw_errors_per_lane for port in ports] == [(1, 2, 3, 4), (5, 6, 7, 8)]
        assert "port 2 of 2" in logs.report(file(text))


@pytest.mark.parametrize(
    "change", [("\n", "\r\n"), ("\x1b[32m", ""), (" :", "\t:"), (": ", ":   ")]
)
def test_layouts_give_the_same(file, change):
    """Windows line ends, no colours or other spacing would change what is read."""
    text = made.mlxlink([1, 2, 3, 4], day)
    plain, other = port_of(file(text)), port_of(file(text.replace(*change)))
    assert (plain.raw_ber, plain.raw_errors_per_lane, plain.cleared, plain.rate) == (
        other.raw_ber,
        other.raw_errors_per_lane,
        other.cleared,
        other.rate,
    )


@pytest.mark.parametrize(
    "old, new, told",
    [
        ("1,2,3,4", "1,2,x,4", "Raw Physical Errors Per Lane is '1,2,x,4': not a count"),
        ("1,2,3,4", "1,2,-3,4", "not a count"),
        (
            "Link Down Counter                  : 0",
            "Link Down Counter                  : 1e999",
            "line 27: Link Down Counter is '1e999'",
        ),
        ("1440.0", "nan", "not a number of minutes"),
        (
            "Raw Physical BER                   : \x1b[32m3E-16",
            "Raw Physical BER                   : 3E16",
            "not a bit error ratio",
        ),
    ],
)
def test_refused_with_line_and_reason(file, old, new, told):
    """A value that cannot be what its name says would be read, or refused without saying where."""
    text = made.mlxlink([1, 2, 3, 4], day)
    assert old in text
    with pytest.raises(ValueError, match=re.escape(told)):
        logs.read(file(text.replace(old, new)))


def test_no_value_at_all(file):
    """A dump of nothing but N/A would give a port that says nothing."""
    with pytest.raises(ValueError, match="no field of mlxlink's"):
        logs.read(file("Physical Counters and BER Info\n----\nRaw Physical BER : N/A\n"))


@settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(st.binary(max_size=300), st.integers(0, 600))
def test_any_bytes(file, junk, at):
    """Some sequence of bytes within a dump would raise something other than ValueError."""
    whole = made.mlxlink([10, 20, 30, 40], day).encode()
    try:
        logs.report(file(whole[:at] + junk + whole[at:]))
    except ValueError as refused:
        assert "port.txt" in str(refused)
