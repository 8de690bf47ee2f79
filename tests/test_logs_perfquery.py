"""perfquery: real answers value by value, our own written and read back, pairs into rates, damage
refused.
"""

import os
import re
from pathlib import Path

import pytest
from damage import says
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabriclab import logs
from fabriclab.logs import perfquery
from fabriclab.units import GB
from tools import samples as made

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "notebooks" / "logs"
SAMPLES = Path(os.environ.get("FABRICLAB_SAMPLES", ROOT.parent / "shared" / "samples"))
needs_samples = pytest.mark.skipif(
    not SAMPLES.is_dir(), reason="no folder of real tools' output here (FABRICLAB_SAMPLES)"
)
many = settings(
    max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)


@pytest.fixture
def file(tmp_path):
    def put(content):
        path = tmp_path / "counters.txt"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put


def only(path):
    (port,) = logs.read(path).ports
    return port


def port_with(number=1, lid=5, set="extended", **counters):
    return perfquery.Port(1, lid, None, number, set, tuple(counters.items()))


# Real answers


@needs_samples
def test_extended():
    """A counter of a real extended answer would go to the wrong name, or words of 4 bytes be told
    as bytes.
    """
    port = only(SAMPLES / "perfquery_x_hca.txt")
    assert (port.lid, port.number, port.set, port.full) == (133, 1, "extended", ())
    assert (port.sent, port.received) == (148434707415420, 148901607811540)
    assert (
        port.count("PortXmitPkts"),
        port.count("PortRcvPkts"),
        port.count("PortMulticastRcvPkts"),
    ) == (96917117320, 100583719365, 3732373137)
    assert port.count("PortXmitPkts") == port.count("PortUnicastXmitPkts") + port.count(
        "PortMulticastXmitPkts"
    )
    assert len(port.counters) == 22 and says(perfquery.port_signs, port) == []


@needs_samples
def test_discards_are_not_a_cable():
    """Discards without receive errors would be called a bad cable."""
    port = only(SAMPLES / "perfquery_x_switch_port_with_discards.txt")
    assert (
        port.lid,
        port.count("PortXmitDiscards"),
        port.count("PortXmitWait"),
        port.count("LinkDownedCounter"),
        port.count("PortRcvSwitchRelayErrors"),
    ) == (2052, 20046, 41864608, 1, 7)
    said = says(perfquery.port_signs, port)
    assert "PortXmitDiscards 20,046" in said[0] and "not a bad cable" in said[0]
    assert not any("mlxlink" in line for line in said)


@needs_samples
def test_full_32_bit_counters():
    """Counters stuck at all ones would be told as amounts, and short names not be known."""
    port = only(SAMPLES / "perfquery_32bit_saturated_SYNTHETIC.txt")
    assert (port.set, port.full, port.sent) == (
        "plain",
        ("PortXmitData", "PortRcvData"),
        4 * (2**32 - 1),
    )
    assert (port.count("PortXmitPkts"), port.count("PortRcvPkts"), port.count("VL15Dropped")) == (
        22945597,
        26264095,
        0,
    )
    text = logs.report(SAMPLES / "perfquery_32bit_saturated_SYNTHETIC.txt")
    assert (
        "sent at least 17.18 GB" in text and "340 ms at 400 Gb/s" in text
    )  # 2^32 x 4 B / 50 GB/s = 0.3436 s


@needs_samples
def test_pair():
    """Two real-looking readings would give another rate than (after - before) x 4 / seconds by
    hand.
    """
    before, after = (
        only(SAMPLES / "perfquery_pair_t0_SYNTHETIC.txt"),
        only(SAMPLES / "perfquery_pair_t1_SYNTHETIC.txt"),
    )
    found = perfquery.rates(before, after, 2.0)
    assert (found.sent, found.received, found.packets_sent, found.wait, found.at_least) == (
        50e9,
        15.625e9,
        0.0,
        500_000.0,
        (),
    )
    with pytest.raises(ValueError, match="must not count less"):
        perfquery.rates(after, before, 2.0)


@needs_samples
def test_details_and_nothing():
    """Counters of details would be refused, or an empty answer be read as zeros."""
    port = only(SAMPLES / "perfquery_rcv_error_details.txt")
    assert (port.lid, port.number, port.set, len(port.counters), port.sent) == (
        1719,
        2,
        "PortRcvErrorDetails",
        6,
        None,
    )
    for reader in (logs.read, perfquery.read):
        with pytest.raises(ValueError, match="line 1: .*(no data|missing data is not zero)"):
            reader(SAMPLES / "perfquery_empty.txt")


# Our own


def test_shipped_pair():
    """The shipped pair would not tell the congested port that it was made of."""
    found = perfquery.rates(
        only(LOGS / "perfquery_before.txt"), only(LOGS / "perfquery_after.txt"), 10.0
    )
    assert (found.sent, found.received) == (pytest.approx(48.3 * GB), pytest.approx(11.7 * GB))
    assert dict(found.grown)["PortXmitDiscards"] == 1812 and dict(found.grown)["PortRcvErrors"] == 0
    assert "congestion" in logs.report(LOGS / "perfquery_after.txt")


@many
@given(
    st.dictionaries(
        st.sampled_from(sorted(perfquery.counters._BITS)), st.integers(0, 2**64 - 1), min_size=1
    ),
    st.integers(0, 65535),
    st.integers(0, 255),
)
def test_what_is_written_is_read_back(file, counters, lid, number):
    """Counts that go into an extended answer would not come out of it."""
    port = only(file(made.perfquery(lid, number, counters)))
    assert (port.lid, port.number, dict(port.counters)) == (lid, number, counters)
    assert set(port.full) == {counter for counter, value in counters.items() if value == 2**64 - 1}
    assert logs.report(file(made.perfquery(lid, number, counters)))


@many
@given(
    st.sampled_from(sorted(perfquery.counters._BITS)),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**32 - 1),
    st.floats(1e-3, 1e6),
)
def test_rates_by_definition(counter, value, more, seconds):
    """A rise would not be the difference, or a full counter pass for an exact one."""
    found = perfquery.rates(
        port_with(**{counter: value}), port_with(**{counter: value + more}), seconds
    )
    assert found.grown == ((counter, more),) and found.at_least == ()
    if counter == "PortRcvData":
        assert found.received * seconds == pytest.approx(4 * more)


@pytest.mark.parametrize(
    "counter, bits",
    [
        ("PortXmitData", 32),
        ("PortXmitDiscards", 16),
        ("LinkDownedCounter", 8),
        ("LocalLinkIntegrityErrors", 4),
    ],
)
def test_full_counters_bound_the_rate(counter, bits):
    """All ones of a plain counter (widths: IBTA specification, PortCounters) would not make the
    rate a lower bound.
    """
    top = 2**bits - 1
    found = perfquery.rates(
        port_with(set="plain", **{counter: 3}), port_with(set="plain", **{counter: top}), 1.0
    )
    assert found.at_least == (counter,) and dict(found.grown) == {counter: top - 3}
    stuck = perfquery.rates(
        port_with(set="plain", **{counter: top}), port_with(set="plain", **{counter: top}), 1.0
    )
    assert stuck.grown == () and (stuck.sent, stuck.received) == (None, None)
    assert (
        perfquery.rates(port_with(**{counter: 3}), port_with(**{counter: top}), 1.0).at_least == ()
    )


@pytest.mark.parametrize(
    "before, after, seconds, told",
    [
        (port_with(PortXmitData=1), port_with(PortXmitData=2), 0, "seconds must be more than zero"),
        (port_with(PortXmitData=1), port_with(PortXmitData=2), float("nan"), "seconds must be"),
        (
            port_with(PortXmitData=1),
            port_with(number=2, PortXmitData=2),
            1.0,
            "LID 5, port 1 and LID 5, port 2",
        ),
        (port_with(PortXmitData=1), port_with(lid=6, PortXmitData=2), 1.0, "of one port"),
        (
            port_with(PortXmitData=1),
            port_with(set="plain", PortXmitData=2),
            1.0,
            "one set of counters",
        ),
        (
            port_with(PortXmitData=9),
            port_with(PortXmitData=2),
            1.0,
            "PortXmitData fell from 9 to 2",
        ),
        (
            port_with(PortXmitData=1, PortXmitWait=9),
            port_with(PortXmitData=2, PortXmitWait=0),
            1.0,
            "PortXmitWait fell",
        ),
        (port_with(PortXmitData=1), port_with(PortRcvData=2), 1.0, "a counter in common"),
        ("before", port_with(PortRcvData=2), 1.0, "before must be a perfquery.Port, not str"),
    ],
)
def test_rates_refuses(before, after, seconds, told):
    """Readings that no rate can be made of would give one."""
    with pytest.raises(ValueError, match=re.escape(told)):
        perfquery.rates(before, after, seconds)


def test_several_ports(file):
    """Two answers in one file would be mixed, or an empty one in between be read as zeros."""
    one, other = (
        made.perfquery(5, 1, {"PortXmitData": 10, "PortRcvErrors": 0}),
        made.perfquery(5, 2, {"PortXmitData": 20}),
    )
    empty = "# Port extended counters: Lid 5 port 3 (CapMask: 0x5A00)\n"
    path = file(one + "some other line\n" + empty + other)
    ports = logs.read(path).ports
    assert [(port.number, port.sent) for port in ports] == [(1, 40), (3, None), (2, 80)]
    assert "no counter was answered: missing data is not zero" in logs.report(path)
    assert "read more than once" in logs.report(file(one + one))
    with pytest.raises(ValueError, match="missing data is not zero"):
        logs.read(file(empty))


def test_without_its_comment(file):
    """An answer that lost its first line would get another width of counter, or two of them be
    taken for one port.
    """
    text = made.perfquery(5, 7, {"PortXmitData": 2**40, "PortRcvData": 3}).split("\n", 1)[1]
    port = only(file(text))
    assert (port.lid, port.number, port.set, port.sent) == (None, 7, "extended", 2**42)
    assert len(logs.read(file(text + text)).ports) == 2
    assert only(
        file(made.perfquery(5, 7, {"PortXmitData": 2**32 - 1}, extended=False).split("\n", 1)[1])
    ).full == ("PortXmitData",)


def test_directed_route(file):
    """An answer to a directed route, which has no LID, would be refused."""
    port = only(
        file(
            made.perfquery(5, 1, {"PortXmitData": 1}).replace(
                "Lid 5", "DR path slid 0; dlid 0; 0,1,14"
            )
        )
    )
    assert (port.lid, port.route, port.number) == (None, "DR path slid 0; dlid 0; 0,1,14", 1)


@pytest.mark.parametrize(
    "counters, told",
    [
        (
            {"SymbolErrorCounter": 41, "PortRcvErrors": 3},
            "SymbolErrorCounter 41, PortRcvErrors 3: bits arrive damaged",
        ),
        (
            {"PortRcvErrors": 3, "PortXmitDiscards": 2},
            (
                "PortXmitDiscards 2: packets that could not leave; congestion or a port that is or"
                " was down"
            ),
        ),
        ({"LinkDownedCounter": 2}, "went down 2 times"),
        ({"PortRcvRemotePhysicalErrors": 5}, "look further up the path"),
        ({"PortXmitData": 2**64 - 1}, "stopped at all ones"),
        ({"PortXmitWait": 12}, "12 ticks"),
    ],
)
def test_faults_are_named(file, counters, told):
    """A fault that the counters show would pass unmentioned."""
    text = logs.report(file(made.perfquery(5, 1, counters)))
    assert told in text and ("PortXmitDiscards" not in counters or "not a bad cable" not in text)


@pytest.mark.parametrize(
    "old, new, told",
    [
        ("9876", "98x6", "line 4: PortXmitData is '98x6': not a count"),
        ("9876", "", "not a count"),
        ("9876", "-1", "not a count"),
        ("9876", "1e9", "not a count"),
        (
            "9876",
            str(2**64),
            "line 4: PortXmitData is 18,446,744,073,709,551,616, more than its 64 bits hold",
        ),
        ("Lid 5 port 1", "Lid 5", "line 1: truncated perfquery header"),
        ("Lid 5 port 1", "Lid 5 port 1111", "truncated perfquery header"),
    ],
)
def test_refused_with_line_and_reason(file, old, new, told):
    """A value that cannot be would be read, or refused without saying where."""
    text = made.perfquery(5, 1, {"PortXmitData": 9876, "PortRcvData": 1})
    assert old in text
    with pytest.raises(ValueError, match=re.escape(told)):
        logs.read(file(text.replace(old, new)))
    with pytest.raises(ValueError, match="more than its 16 bits"):
        logs.read(file(made.perfquery(5, 1, {"PortXmitDiscards": 65536}, extended=False)))


def test_cut_anywhere(file):
    """An answer cut at any byte would crash the reader or give a count it does not print."""
    text = made.perfquery(
        41, 17, {"PortXmitData": 51324867880312, "PortRcvErrors": 120, "PortXmitWait": 98606811}
    )
    true = only(file(text))
    for at in range(len(text)):
        try:
            ports = logs.read(file(text[:at])).ports
        except ValueError as refused:
            assert "counters.txt" in str(refused)
        else:
            (port,) = ports
            assert (port.lid, port.number, port.set) == (41, 17, "extended")
            assert set(port.counters) <= set(true.counters)


@many
@given(st.binary(max_size=200), st.integers(0, 500))
def test_any_bytes(file, junk, at):
    """Some sequence of bytes within an answer would raise something other than ValueError."""
    whole = made.perfquery(5, 1, {"PortXmitData": 987654321, "PortRcvErrors": 4}).encode()
    try:
        logs.report(file(whole[:at] + junk + whole[at:]))
    except ValueError as refused:
        assert "counters.txt" in str(refused)


# Two answers and the time between them


def dated(*times):
    """Answers of one port at `times`, each as `date` prints it, 10 GB/s apart a second."""
    return "".join(
        f"{at}\n"
        + made.perfquery(
            7,
            3,
            {
                "PortXmitData": 25 * 10**8 * number,
                "PortXmitPkts": number,
                "PortXmitDiscards": 3 * number,
            },
        )
        for number, at in enumerate(times, 1)
    )


@pytest.mark.parametrize(
    "first, second, seconds",
    [
        ("2026-01-05T10:00:00+00:00", "2026-01-05T10:00:01+00:00", 1.0),
        ("# 2026-01-05T23:59:59+02:00", "# 2026-01-05T22:00:01Z", 2.0),
        ("2026-01-05 10:00:00.25", "2026-01-05 10:00:00.75", 0.5),
        ("1764410000", "1764410004", 4.0),
        ("1764410000.5", "1764410000.75", 0.25),
    ],
)
def test_times_make_rates(file, first, second, seconds):
    """A line of date between two answers would be overlooked, or its zone or fraction lost: the
    rate would be another.
    """
    reading = logs.read(file(dated(first, second)))
    ((before, after, apart),) = perfquery.pairs(reading)
    assert apart == pytest.approx(seconds) and before.at < after.at
    found = perfquery.rates(before, after, apart)
    assert found.sent == pytest.approx(10 * GB / seconds)
    said = logs.report(reading.path)
    assert (
        f"sent {10 / seconds:g} GB/s" in said
        and "PortXmitDiscards by 3" in said
        and "read more than once" not in said
    )


def test_told_beside_a_line_rate():
    """A rate from counters that were full would be told as exact, or its share of the line be of
    something else.
    """
    full = 2**32 - 1
    before, after = (
        port_with(set="plain", PortXmitData=full - 10**9, PortRcvData=full),
        port_with(set="plain", PortXmitData=full, PortRcvData=full),
    )
    said = perfquery.told(perfquery.rates(before, after, 1.0), rate=50 * GB)
    assert said == [
        "sent at least 4 GB/s, 8% of the line",
        "no error counter grew",
        "full at both readings, so they tell nothing: PortRcvData",
    ]


@pytest.mark.parametrize(
    "times, words",
    [
        (
            ("2026-01-05T10:00:01+00:00", "2026-01-05T10:00:00+00:00"),
            "no rates of LID 7, port 3, lines 2 and 9: seconds must be more than zero",
        ),
        (("2026-01-05T10:00:00+00:00",) * 2, "no rates of LID 7, port 3"),
        (("", ""), "a line of date -Is before each answer gives the rates"),
    ],
)
def test_times_that_give_no_rate(file, times, words):
    """No time in between, or one that runs backwards, would give a rate all the same."""
    assert words in logs.report(file(dated(*times)))


def test_a_time_that_there_is_not(file):
    """The thirtieth of February would be some other day."""
    with pytest.raises(ValueError, match="line 1: .* not a valid time"):
        logs.read(file(dated("2026-02-30T10:00:00+00:00")))


@pytest.mark.parametrize(
    "one, other, seconds",
    [
        ("2026-01-01T00:00:10Z", "2026-01-01T08:00:20+08:00", 10),
        ("2026-01-01T00:00:10", "2026-01-01T00:00:20", 10),
        ("1767225610", "2026-01-01T00:00:20Z", 10),  # date +%s counts from one moment everywhere
        ("2026-01-01T00:00:10", "2026-01-01T08:00:20+08:00", None),
        ("1767225610", "2026-01-01T00:00:20", None),
    ],
)
def test_a_clock_without_its_zone_is_no_clock_beside_one_with(file, one, other, seconds):
    """Hours between two zones would be taken for time that passed."""
    path = file(
        "".join(
            f"{at}\n{made.perfquery(5, 1, {'PortXmitData': 1000 + number})}"
            for number, at in enumerate((one, other))
        )
    )
    assert [between for *_, between in perfquery.pairs(logs.read(path))] == [seconds]
    assert ("in the 10 s" in logs.report(path)) == (seconds is not None)


def test_plain_and_extended_answers_are_no_pair(file):
    """A 32-bit count would be taken from a 64-bit one."""
    path = file(
        made.perfquery(5, 1, {"PortXmitData": 1000})
        + made.perfquery(5, 1, {"PortXmitData": 2000}, False)
    )
    assert perfquery.pairs(logs.read(path)) == []


def test_a_time_that_is_cut_is_none(file):
    """Ten digits of a time cut short would be seconds of another year."""
    path = file("1767225610\n" + made.perfquery(5, 1, {"PortXmitData": 1}) + "1767225620")
    assert [port.at for port in logs.read(path).ports] == [1767225610.0]
