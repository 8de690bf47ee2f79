"""SONiC's PFC watchdog: statistics and configuration value by value, what a storm means, damage
refused.
"""

import random

import pytest
from damage import damaged
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabriclab import logs
from tools import samples as made

many = settings(
    max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
QUEUES = {
    "Ethernet0:3": (True, 4, 3, 1000, 5000, 900, 20),
    "Ethernet4:3": (False, 2, 2, 7, 0, 8, 0),
    "Ethernet8:4": (False, 0, 0, 0, 0, 0, 0),
}
CONFIG = """\
Changed polling interval to 600ms
     PORT    ACTION    DETECTION TIME    RESTORATION TIME
---------  --------  ----------------  ------------------
Ethernet0      drop               200                 200
Ethernet4   forward               600            infinite
"""


@pytest.fixture
def file(tmp_path):
    def put(text):
        path = tmp_path / "pfcwd.txt"
        path.write_text(text)
        return path

    return put


def test_statistics(file):
    """Storms detected and restored, or packets passed and dropped, would change places, or the
    stormed queue be called calm.
    """
    reading = logs.read(file(made.pfcwd_stats(QUEUES)))
    first, second, third = reading.queues
    assert (first.port, first.number, first.stormed, first.detected, first.restored) == (
        "Ethernet0",
        3,
        True,
        4,
        3,
    )
    assert (
        first.sent,
        first.sent_dropped,
        first.received,
        first.received_dropped,
        first.dropped,
    ) == (1000, 5000, 900, 20, 5020)
    assert reading.storms == (first, second) and not third.stormed and reading.settings == ()
    said = logs.report(reading.path)
    assert (
        "3 queues, 2 with a storm" in said
        and "4 storms, and one goes on; 5,020 packets dropped" in said
        and "200 ms unless set otherwise" in said
    )


def test_the_most_storms_come_first_and_one_that_goes_on_is_one(file):
    """Where to look would be the queue that comes first by name; a storm not counted yet would be
    none.
    """
    reading = logs.read(
        file(
            made.pfcwd_stats(
                {
                    "Ethernet0:3": (True, 0, 0, 0, 0, 0, 0),
                    "Ethernet4:3": (False, 2, 2, 0, 0, 0, 0),
                    "Ethernet8:3": (False, 9, 9, 0, 0, 0, 0),
                }
            )
        )
    )
    assert [queue.port for queue in reading.storms] == ["Ethernet8", "Ethernet4", "Ethernet0"]


def test_a_storm_that_was_not_counted_as_restored(file):
    """A queue that works, with a storm more detected than restored, would be all over."""
    said = logs.report(file(made.pfcwd_stats({"Ethernet0:3": (False, 5, 3, 0, 1, 0, 0)})))
    assert "5 storms, 3 of them over, and it works now; 1 packet dropped" in said
    assert "2 storms, all over;" not in said and "2 storms, all over" in logs.report(
        file(made.pfcwd_stats({"Ethernet0:3": (False, 2, 2, 0, 0, 0, 0)}))
    )


def test_configuration(file):
    """Milliseconds would be told as seconds, or a detection time of thrice the default pass in
    silence.
    """
    reading = logs.read(file(CONFIG))
    assert [(one.port, one.action, one.detection, one.restoration) for one in reading.settings] == [
        ("Ethernet0", "drop", 0.2, 0.2),
        ("Ethernet4", "forward", 0.6, None),
    ]
    said = logs.report(reading.path)
    assert (
        "drop after 200 ms, back after 200 ms" in said
        and "Ethernet4 waits 600 ms before it calls a storm, where 200 ms is the default" in said
    )


def test_both_in_one_file(file):
    """The second table of a session would be lost, or a prompt between them be a row."""
    reading = logs.read(
        file(made.pfcwd_stats(QUEUES) + "\nadmin@leaf-1:~$ show pfcwd config\n" + CONFIG)
    )
    assert (len(reading.queues), len(reading.settings)) == (3, 2)


STATS = made.pfcwd_stats(QUEUES)


@pytest.mark.parametrize(
    "text, words",
    [
        (STATS.replace("4/3", "3/4"), "line 3: 4 storms restored of 3 detected"),
        (STATS.replace("1000/5000", "1000"), "line 3: not a whole row"),
        (STATS.replace("Ethernet4:3", "Ethernet0:3"), "line 4: 'Ethernet0:3' is listed twice"),
        (STATS.replace("Ethernet4:3", "Ethernet4"), "line 4: not a whole row"),
        (STATS.replace("operational", "unwell", 1), "line 4: 'unwell' is an unknown queue status"),
        (STATS.rstrip("\n"), "line 5: the file ends in the middle of a row"),
        ("\n".join(STATS.splitlines()[:2]) + "\n", "no rows: missing data"),
        (CONFIG.replace("drop", "fly"), "line 4: not a whole row"),
        (CONFIG.replace("600  ", "0.6  "), "line 5: not a whole row"),
    ],
)
def test_refused(file, text, words):
    """A table that is cut or contradicts itself would pass for a reading."""
    with pytest.raises(ValueError, match="pfcwd.txt") as error:
        logs.read(file(text))
    assert words in str(error.value)


@many
@given(seed=st.integers(0, 10**6))
def test_damage_is_refused_or_changes_no_row(file, seed):
    """A damaged table would give a queue storms that it never had."""
    whole = {
        (queue.port, queue.number): (queue.stormed, queue.detected, queue.dropped)
        for queue in logs.read(file(STATS)).queues
    }
    try:
        reading = logs.read(file(damaged(STATS, random.Random(seed))))
    except ValueError as error:
        assert "pfcwd.txt" in str(error)
    else:
        assert {
            (queue.port, queue.number): (queue.stormed, queue.detected, queue.dropped)
            for queue in reading.queues
        }.items() <= whole.items()
