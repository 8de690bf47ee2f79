"""PFC counters of ethtool and SONiC: real listings value by value, written and read back, who
stopped whom, damage refused.
"""

import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabriclab import logs
from fabriclab.logs import pauses

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = Path(os.environ.get("FABRICLAB_SAMPLES", ROOT.parent / "shared" / "samples"))
needs_samples = pytest.mark.skipif(
    not SAMPLES.is_dir(), reason="no folder of real tools' output here (FABRICLAB_SAMPLES)"
)
many = settings(
    max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
QUIET = (0,) * 8


@pytest.fixture
def file(tmp_path):
    def put(content):
        path = tmp_path / "pauses.txt"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put


def ethtool(**counters):
    return "NIC statistics:\n" + "".join(
        f"     {counter}: {value}\n" for counter, value in counters.items()
    )


def sonic(rx, tx):
    """The two tables of ``show pfc counters`` from {port: eight counts}, None for N/A."""

    def table(way, ports):
        head = f"{'Port ' + way:>14}" + "".join(
            f"  {'PFC' + str(priority):>12}" for priority in range(8)
        )
        rule = "  ".join(["-" * 14] + ["-" * 12] * 8)
        rows = [
            f"{port:>14}"
            + "".join(f"  {'N/A' if value is None else format(value, ','):>12}" for value in counts)
            for port, counts in ports.items()
        ]
        return "\n".join([head, rule, *rows]) + "\n"

    return table("Rx", rx) + "\n" + table("Tx", tx)


# Real listings


@needs_samples
def test_ethtool():
    """A card's pause counters would go to the wrong priority or direction, or other counters be
    taken for pauses.
    """
    reading = logs.read(SAMPLES / "ethtool_pfc_annotated.txt")
    (port,) = reading.ports
    assert (reading.source, port.name) == ("ethtool", None)
    assert port.rx == (0, None, None, 142, None, None, None, None) and port.tx == (
        0,
        None,
        None,
        87,
        None,
        None,
        None,
        None,
    )
    assert (port.paused("rx"), port.paused("tx"), port.lost) == (
        (3,),
        (3,),
        (("rx_discards_phy", 0),),
    )
    text = logs.report(SAMPLES / "ethtool_pfc_annotated.txt")
    assert "rx priority 3: 142" in text and "tx priority 3: 87" in text and "!" not in text


@needs_samples
def test_sonic():
    """Commas would end a number, N/A be told as zero, or Rx and Tx be mixed."""
    reading = logs.read(SAMPLES / "sonic_show_pfc_counters_commas_NA.txt")
    ports = {port.name: port for port in reading.ports}
    assert reading.source == "SONiC" and list(ports) == [
        "Ethernet0",
        "Ethernet4",
        "Ethernet-BP0",
        "Ethernet-BP4",
        "Ethernet-BP256",
        "Ethernet-BP260",
    ]
    for number, which in enumerate(("Ethernet0", "Ethernet4", "Ethernet-BP0", "Ethernet-BP4"), 1):
        base = 200 * number
        assert ports[which].rx == (base + 1000, *(base + priority for priority in range(1, 8)))
        assert ports[which].tx == (base + 1010, *(base + 10 + priority for priority in range(1, 8)))
    assert ports["Ethernet-BP256"].rx == (None,) * 8 and not ports["Ethernet-BP260"].counted
    assert "no data and not zeros: Ethernet-BP256, Ethernet-BP260" in logs.report(
        SAMPLES / "sonic_show_pfc_counters_commas_NA.txt"
    )


@needs_samples
@pytest.mark.parametrize("which", ["ethtool_pfc_annotated", "sonic_show_pfc_counters_commas_NA"])
def test_real_listings_cut_anywhere(file, which):
    """A listing cut at any byte would crash the reader or give a count that it does not print."""
    whole = (SAMPLES / f"{which}.txt").read_text()
    true = {port.name: port for port in logs.read(SAMPLES / f"{which}.txt").ports}
    for at in range(0, len(whole), 1 if len(whole) < 500 else 5):
        try:
            ports = pauses.read(file(whole[:at])).ports
        except ValueError as refused:
            assert "pauses.txt" in str(refused)
        else:
            for port in ports:
                for way in ("rx", "tx"):
                    assert all(
                        got in (None, value)
                        for got, value in zip(getattr(port, way), getattr(true[port.name], way))
                    )


# Our own


counts = st.one_of(st.none(), st.integers(0, 10**15))
eight = st.lists(counts, min_size=8, max_size=8).map(tuple)


@many
@given(
    st.dictionaries(
        st.from_regex(r"Ethernet\d{1,3}|PortChannel\d{1,3}", fullmatch=True),
        st.tuples(eight, eight),
        min_size=1,
        max_size=5,
    )
)
def test_sonic_is_read_back(file, ports):
    """A count that goes into SONiC's table would not come out of it, at its port, priority and
    direction.
    """
    text = sonic(
        {port: rx for port, (rx, _) in ports.items()}, {port: tx for port, (_, tx) in ports.items()}
    )
    if all(value is None for both in ports.values() for way in both for value in way):
        with pytest.raises(ValueError, match="missing data is not zero"):
            logs.read(file(text))
        return
    assert {port.name: (port.rx, port.tx) for port in logs.read(file(text)).ports} == ports
    assert logs.report(file(text))


@many
@given(
    st.dictionaries(
        st.tuples(st.sampled_from(["rx", "tx"]), st.integers(0, 7)),
        st.tuples(st.integers(0, 2**63), st.integers(0, 10**12)),
        min_size=1,
    )
)
def test_ethtool_is_read_back(file, found):
    """A count or a duration (microseconds) that goes into ethtool's listing would not come out of
    it.
    """
    counters = {
        f"{way}_prio{priority}_pause": frames for (way, priority), (frames, _) in found.items()
    }
    counters |= {
        f"{way}_prio{priority}_pause_duration": lasted
        for (way, priority), (_, lasted) in found.items()
    }
    (port,) = logs.read(file(ethtool(rx_packets=5, **counters))).ports
    for way in ("rx", "tx"):
        assert getattr(port, way) == tuple(
            found.get((way, priority), (None, None))[0] for priority in range(8)
        )
        lasted = [found.get((way, priority), (None, None))[1] for priority in range(8)]
        assert getattr(port, f"{way}_seconds") == tuple(
            None if one is None else pytest.approx(one / 1e6) for one in lasted
        )


@pytest.mark.parametrize(
    "rx, tx, told",
    [
        (
            (0, 0, 0, 7, 0, 0, 0, 0),
            QUIET,
            "the peer stopped us: what we send piles up at or behind the peer",
        ),
        (
            QUIET,
            (0, 0, 0, 7, 0, 0, 0, 0),
            "we stopped the peer: what it sends piles up here or behind us",
        ),
        (
            (0, 0, 0, 7, 0, 0, 0, 0),
            (0, 0, 0, 7, 0, 0, 0, 0),
            "the peer stopped us and we stopped the peer",
        ),
        (QUIET, QUIET, "no pause either way"),
        ((None,) * 8, (None,) * 8, "missing data is not zero"),
    ],
)
def test_who_stopped_whom(rx, tx, told):
    """Received pauses would be told as ours, or sent ones as the peer's."""
    assert pauses.saying(pauses.Port(1, rx=rx, tx=tx)).startswith(told) or told in pauses.saying(
        pauses.Port(1, rx=rx, tx=tx)
    )
    assert "we stopped" not in pauses.saying(
        pauses.Port(1, rx=rx)
    ) and "stopped us" not in pauses.saying(pauses.Port(1, tx=tx))


@pytest.mark.parametrize(
    "counters, told",
    [
        ({"rx_prio3_pause": 9, "tx_pause_storm_error_events": 2}, "its own watchdog noticed"),
        (
            {"rx_prio3_pause": 9, "rx_discards_phy": 41},
            "rx_discards_phy 41: packets were dropped all the same",
        ),
        ({"rx_prio3_pause": 0, "rx_prio3_buf_discard": 4}, "rx_prio3_buf_discard 4"),
        (
            {"rx_prio0_pause": 1, "tx_prio3_pause": 1, "rx_prio4_pause": 1},
            "priorities 0, 3, 4 are paused",
        ),
        (
            {"rx_prio3_pause": 9, "rx_prio3_pause_duration": 91442},
            "rx priority 3: 9 (91.44 ms in all)",
        ),
    ],
)
def test_faults_are_named(file, counters, told):
    """A fault that the counters show would pass unmentioned."""
    assert told in logs.report(file(ethtool(**counters)))
    assert "!" not in logs.report(
        file(ethtool(rx_prio3_pause=9, tx_prio3_pause=9, rx_prio4_pause=1, rx_discards_phy=0))
    )


def test_layouts(file):
    """A listing through grep, one with notes behind the values, several cards or a prompt after the
    table would be refused or mixed.
    """
    (port,) = logs.read(file("rx_prio3_pause: 12\ntx_prio3_pause: 4   <- growing\n")).ports
    assert (port.rx[3], port.tx[3]) == (12, 4)
    one, other = logs.read(file(ethtool(rx_prio3_pause=1) + ethtool(tx_prio3_pause=2))).ports
    assert (one.rx[3], one.tx[3], other.rx[3], other.tx[3]) == (1, None, None, 2)
    table = sonic({"Ethernet0": QUIET}, {"Ethernet0": (1,) * 8})
    (port,) = logs.read(
        file(
            "Last cached time was 2025-03-01 10:11:12\n"
            + table.replace("\n", "\r\n")
            + "admin@leaf1:~$ exit\n"
        )
    ).ports
    assert (port.rx, port.tx) == (QUIET, (1,) * 8)
    assert (
        len(
            logs.report(
                file(sonic({f"Ethernet{n}": (1,) * 8 for n in range(5000)}, {}))
            ).splitlines()
        )
        < 60
    )


@pytest.mark.parametrize(
    "text, told",
    [
        ("rx_prio3_pause: x\n", "line 1: rx_prio3_pause is 'x': not a count"),
        ("rx_prio3_pause: 1 2\n", "not a count"),
        ("rx_prio3_pause: 1.5\n", "not a count"),
        ("rx_prio3_pause: -1\n", "not a count"),
        ("rx_prio3_pause:\n", "not a count"),
        (
            "rx_prio3_pause: 1\nrx_prio8_pause: 1\n",
            "line 2: rx_prio8_pause: there are priorities 0 to 7",
        ),
        ("rx_prio3_pause: 1\nrx_prio3_pause: 2\n", "line 2: rx_prio3_pause is listed twice"),
        (
            "rx_prio3_pause: 1\nrx_prio3_pause: 2",
            "line 2: the file ends in the middle of rx_prio3_pause",
        ),
        ("NIC statistics:\n     rx_packets: 5\n", "no counter of pauses or errors"),
        (
            "rx_prio3_pause: 1\n" + sonic({"Ethernet0": QUIET}, {}),
            "save each tool's output in its own",
        ),
        (sonic({"Ethernet0": QUIET}, {}) + sonic({"Ethernet0": QUIET}, {}), "holds 2 readings"),
        (sonic({"Ethernet0": QUIET}, {}).replace("  0\n", "\n", 1), "not a whole row"),
        (
            sonic({"Ethernet0": (1234,) * 8}, {}).replace("1,234", "12,34", 1),
            "line 3: not a whole row of a port and 8 counts",
        ),
        (sonic({"Ethernet0": QUIET}, {}).replace("PFC7", ""), "head is not whole"),
        (
            sonic({"Ethernet0": QUIET}, {}) + "\n Ethernet4 1 2\n",
            "table row before any table header",
        ),
        (
            "".join(sonic({"Ethernet0": QUIET}, {}).splitlines(True)[:3] * 1)
            + "     Ethernet0  1 1 1 1 1 1 1 1\n",
            "line 4: Ethernet0 is listed twice",
        ),
    ],
)
def test_refused_with_line_and_reason(file, text, told):
    """A listing that cannot be read whole would be read, or refused without saying where."""
    with pytest.raises(ValueError, match=re.escape(told)):
        logs.read(file(text))


@many
@given(st.binary(max_size=200), st.integers(0, 900))
def test_any_bytes(file, junk, at):
    """Some sequence of bytes within a listing would raise something other than ValueError."""
    for whole in (
        ethtool(rx_prio3_pause=142, rx_discards_phy=2),
        sonic({"Ethernet0": (1234,) * 8}, {"Ethernet0": (None,) * 8}),
    ):
        try:
            logs.report(file(whole.encode()[:at] + junk + whole.encode()[at:]))
        except ValueError as refused:
            assert "pauses.txt" in str(refused)


def test_other_drivers_names_of_loss_and_damage_are_known(tmp_path):
    """What a bnxt card dropped by class of service, or an mlx5 module that overheats, would be read
    past.
    """
    path = tmp_path / "ethtool.txt"
    for counter, name in (
        ("rx_discard_packets_cos3", "dropped"),
        ("tx_total_ring_discards", "dropped"),
        ("rx_jbr_frames", "errors-once"),
        ("module_unplug", "link-downs"),
        ("module_high_temp", "hot-module"),
    ):
        for value in (0, 9):
            path.write_text(f"NIC statistics:\n     rx_pause_frames: 0\n     {counter}: {value}\n")
            assert [sign.name for sign in logs.signs(logs.read(path))] == [name] * (value > 0), (
                counter
            )
