"""Trimming, credits, bit errors and retry on the cable, in the packet simulator."""

import numpy as np
import pytest

from fabriclab.packets import Credits, Flows, Trim, incast, run
from fabriclab.topology import build, torus
from fabriclab.units import GB, KB, MB, ms, ns

RATE, PACKET, DELAY = 5 * GB, 1000, 500 * ns
LASTS = PACKET / RATE
PAIR = build(2, radix=2, bandwidth=RATE)


def test_three_packets_that_meet_in_a_switch_with_room_for_one_by_hand():
    """1, 2 and 3 send a packet each, a picosecond apart, of 200 ns over cables of 500. 1's is sent
    on from 700 to 900, 2's waits, and 3's finds no room. Its header goes first, to 912.8, and is
    there at 1,412.8; the answer takes 1,000, and the packet again 200 + 500 + 200 + 500. 2's packet
    leaves from 912.8 to 1,112.8. Other times: the header stood elsewhere, or was asked for late.
    """
    star = build(4, radix=4, bandwidth=RATE)
    flows = Flows([1, 2, 3], 0, PACKET, [0.0, 1e-12, 2e-12])
    end = run(
        star, flows, packet=PACKET, delay=DELAY, pfc=None, buffer=PACKET, trim=Trim(),
        recovery="selective", timeout=10 * ms,
    )  # fmt: skip
    assert end.completion / ns == pytest.approx([1400, 1612.8, 3812.8], abs=0.01)
    assert end.trimmed.tolist() == [0, 0, 1]
    assert end.dropped.tolist() == [0, 0, PACKET - 64] and end.discarded.tolist() == [0, 0, 64]


def test_many_headers_leave_room_for_whole_packets():
    """64 into 1 at line rate and a buffer of 64 kB: headers alone could fill the line. With ten
    for each whole packet the line carries 1000 in 1640 bytes of data: not less, or it would starve.
    """
    end = incast(
        64, 50 * KB, packet=PACKET, pfc=None, buffer=64 * KB, trim=Trim(), recovery="selective"
    )
    share = 64 * 50 * KB / 12.5e9 / end.duration
    assert end.outcome == "finished" and 1000 / 1640 * 0.95 < share < 1


def test_trimming_tells_at_once_what_drops_tell_by_the_timer():
    """16 into 1 at line rate through a small buffer. Lost last packets wait for the timer; headers
    always arrive, so a trimmed incast never does, whatever the timer.
    """
    both = {
        timeout: [
            incast(
                16, 100 * KB, packet=PACKET, pfc=None, recovery="selective", buffer=64 * KB,
                trim=trim, timeout=timeout,
            ).duration
            for trim in (None, Trim())
        ]
        for timeout in (1 * ms, 20 * ms)
    }  # fmt: skip
    assert both[20 * ms][0] > 20 * ms > both[1 * ms][0] > 1 * ms
    assert both[20 * ms][1] == both[1 * ms][1] < 0.4 * ms


@pytest.mark.parametrize("places", [1, 3, 5, 6, 7, 20])
def test_credits_give_a_cable_what_its_round_trip_allows(places):
    """n places for packets of t over d each way: ``min(1, n t / (t + 2 d))`` of the line. Here
    2 d = 5 t, so six places fill it, and one less must not.
    """
    size = 1 * MB
    end = run(PAIR, Flows(0, 1, size), packet=PACKET, delay=DELAY, pfc=Credits(places))
    share = size / RATE / end.duration
    assert share == pytest.approx(min(1, places * LASTS / (LASTS + 2 * DELAY)), rel=0.01)
    assert end.dropped.sum() == 0


def test_credits_never_lose_a_packet_and_give_every_place_back():
    """64 into 1: 14 places cover the round trip of 13.5 packets; the switch holds no more."""
    end = incast(64, 100 * KB, packet=PACKET, buffer=920 * KB, pfc=Credits(14))
    assert end.dropped.sum() == end.retransmitted.sum() == 0
    assert end.peak.max() <= 64 * 14 * PACKET
    assert end.duration == pytest.approx(64 * 100 * KB / 12.5e9, rel=0.01)


def test_a_ring_of_credits_locks_like_a_ring_of_pauses():
    """Each waits for a place that only the next can give (Dally, Seitz 1987). Six hosts in a ring,
    each sends three ahead: all stand, and who waits for whom is the whole ring.
    """
    ring = np.arange(6)
    ways = [tuple((h + np.arange(4)) % 6) for h in ring]
    flows = Flows(ring, (ring + 3) % 6, 1 * MB, routes=ways)
    end = run(torus((6,), bandwidth=RATE), flows, packet=PACKET, pfc=Credits(4), until=1.0)
    assert end.outcome == "locked" and len(end.waits) == 6


@pytest.mark.parametrize("ber", [1e-6, 1e-5, 5e-5])
def test_retry_on_the_cable_costs_what_the_closed_form_says(ber):
    """A packet needs 1/(1-p) tries, and each failed one takes its time and a round trip: the mean
    of 20,000 packets is within 4 standard deviations, in order, and nothing is sent twice by the
    host.
    """
    packets = 20_000
    spoilt = 1 - (1 - ber) ** (8 * PACKET)
    end = run(
        PAIR, Flows(0, 1, packets * PACKET), packet=PACKET, delay=DELAY, ber=ber, link_retry=True
    )
    assert end.retransmitted.sum() == end.dropped.sum() == end.discarded.sum() == 0
    tries = end.retried[end.carried > 0]  # two cables, one each way of the switch
    expected = packets * spoilt / (1 - spoilt)
    assert np.all(np.abs(tries - expected) < 4 * np.sqrt(expected / (1 - spoilt)))
    slower = packets * LASTS + tries.max() * (LASTS + 2 * DELAY)
    assert end.duration >= slower and end.duration < slower + tries.min() * (LASTS + 2 * DELAY)


def test_without_retry_the_sender_repeats_what_the_cables_lose():
    """The share lost on two cables is 1 - (1-p)^2, within 4 standard deviations of 20,000 packets
    under selective repeat; on hash, the sender hears of each by the next packet.
    """
    packets, ber = 20_000, 1e-6
    end = run(
        PAIR, Flows(0, 1, packets * PACKET), packet=PACKET, delay=DELAY, ber=ber,
        recovery="selective",
    )  # fmt: skip
    lost = 1 - (1 - ber) ** (16 * PACKET)
    assert end.retried.sum() == 0 and end.delivered.sum() == packets * PACKET
    expected = packets * lost / (1 - lost)
    assert abs(end.dropped.sum() / PACKET - expected) < 4 * np.sqrt(expected)


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("recovery", {"trim": Trim()}),
        ("ber", {"ber": 0.01}),
        ("ber", {"ber": -1e-9}),
        ("buffer", {"pfc": Credits(100), "buffer": 50 * KB}),
        ("trim", {"trim": 64}),
        ("gap", {"gap": 0}),
    ],
)
def test_what_does_not_fit_is_named(words, options):
    """An error ratio with which no packet comes through would run for ever."""
    with pytest.raises(ValueError, match=f"^{words} must"):
        run(PAIR, Flows(0, 1, 1 * MB), packet=PACKET, **options)
