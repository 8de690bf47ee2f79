"""What comes next in the packet simulator, what its compiled code is kept by, and its samples."""

import heapq
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

import fabriclab
from fabriclab.congestion import Dcqcn
from fabriclab.packets import Flows, Lanes, Pfc, run
from fabriclab.packets.engine import events, records
from fabriclab.topology import leaf_spine, torus
from fabriclab.units import GB, KB, MB, us

Waiting = namedtuple("Waiting", "setup clock pushed heap nodes slots bits sums")


@njit(**records.OPTIONS)
def serve(s, ahead, out):
    """Push what is `ahead`, 0 or more, of now; pop at -1. Fills in what came: (time, number)."""
    clock, popped = s.clock[0], 0
    for i in range(ahead.size):
        if ahead[i] >= 0:
            events.push(s, clock.now + ahead[i], records.ARRIVE, i)
            events.place_all(s)
        elif clock.events > 0:
            out[popped, 0] = events.peek(s)
            out[popped, 1] = events.pop(s)[1]
            popped += 1
    return popped


def waiting(slots, shift, room):
    """Empty tables, for so many events."""
    setup, clock = np.zeros(1, records.SETUP), np.zeros(1, records.CLOCK)
    setup["shift"], clock["free_node"] = shift, -1
    return Waiting(
        setup,
        clock,
        np.zeros(8, records.PUSHED),
        np.zeros(room, records.EVENT),
        np.zeros(room, records.NODE),
        np.full(slots, -1, np.int64).view(records.SLOT),
        np.zeros(slots // 64, np.uint64),
        np.zeros(-(-slots // 4096), np.uint64),
    )


def by_heap(ahead):
    heap, now, out = [], 0, []
    for i, step in enumerate(ahead.tolist()):
        if step >= 0:
            heapq.heappush(heap, (now + step, i))
        elif heap:
            now, i = heapq.heappop(heap)
            out.append((now, i))
    return out


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from([64, 128, 4096, 16384]),
    st.integers(0, 6),
    st.integers(1, 5000),
    st.floats(0.3, 0.7),
    st.integers(0, 2**32),
)
def test_wheel_and_heap_serve_in_one_order(slots, shift, most, pops, seed):
    """Equal times come in the order they were pushed, whether near, far, crowded or round the end
    of the wheel; else a run would depend on how its events are kept.
    """
    chance = np.random.default_rng(seed)
    turn = slots << shift
    reach = np.array([1, 3, turn // 50 + 1, turn, 3 * turn])[chance.integers(0, 5, most)]
    ahead = np.where(chance.random(most) < pops, -1, chance.integers(0, reach))
    s, out = waiting(slots, shift, most), np.zeros((most, 2), np.int64)
    popped = serve(s, ahead, out)
    assert list(map(tuple, out[:popped].tolist())) == by_heap(ahead)
    assert s.clock[0]["events"] == (ahead >= 0).sum() - popped


def test_tables_grow():
    """A long cable holds more packets than there were places at first; each must arrive."""
    size, rate, delay = 100 * MB, 50 * GB, 1700 * us
    result = run(torus((2,), bandwidth=rate), Flows(0, 1, size), pfc=None, delay=delay)
    assert delay * rate / 1000 > 65_536  # packets on the wire
    assert result.duration == pytest.approx(size / rate + delay, rel=1e-9)
    stopped = run(
        torus((2,), bandwidth=rate), Flows(0, 1, size), pfc=None, delay=delay, until=1600 * us
    )
    assert stopped.held[0] == stopped.sent[0] == pytest.approx(1600 * us * rate, rel=1e-3)


# ---- the cache


@pytest.mark.parametrize("changed", ["records", "rates"])
def test_a_change_in_any_file_of_the_engine_is_noticed(tmp_path, changed):
    """numba looks at one file's date only, and would go on with code of the others' past."""
    shutil.copytree(
        Path(fabriclab.__file__).parent,
        tmp_path / "fabriclab",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    code = (
        "import numba\n"
        "from fabriclab.packets.engine import loop\n"
        "print(loop.advance.py_func.__closure__[-1].cell_contents)\n"
        "print(loop.advance._cache._index_key(None, numba.core.registry.cpu_target"
        ".target_context.codegen())[-1][1])\n"
    )

    def key():
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return done.stdout

    before = key()
    assert key() == before  # nothing changed: the same code is loaded again
    path = tmp_path / "fabriclab" / "packets" / "engine" / f"{changed}.py"
    path.write_text(path.read_text() + "\n# another\n")
    assert key() != before


# ---- samples

CROWD = leaf_spine(2, 1, 4, 1)
FLOWS = Flows([4, 5, 6, 7, 1], 0, [300 * KB, 200 * KB, 100 * KB, 200 * KB, 200 * KB])


@pytest.mark.parametrize(
    "options",
    [
        {"pfc": None, "buffer": 60 * KB},
        {"pfc": Pfc(20 * KB, 15 * KB, 200 * KB), "congestion": Dcqcn()},
        {"pfc": Pfc(20 * KB, 15 * KB, 2 * KB), "recovery": "selective"},
    ],
)
def test_a_sample_is_what_a_run_up_to_then_counts(options):
    """Scenes are drawn from samples; and the last one must show how it ended."""
    channels = [tuple(ends) for ends in run(CROWD, FLOWS, **options).ports.tolist()]
    result = run(CROWD, FLOWS, sample=1.3331 * us, watch=channels, watch_flows=range(5), **options)
    assert result.times[-1] == result.duration and (np.diff(result.times) > 0).all()
    assert result.dropped.sum() > 0 or result.pauses.sum() > 0
    for at in (3, 9, -1):
        same = run(CROWD, FLOWS, until=result.times[at] + 1e-12, **options)
        for name in ("delivered", "dropped"):
            assert (result.flow_samples[name][at] == getattr(same, name)).all()
        for row, channel in enumerate(channels):
            found = {name: of[channel][at] for name, of in result.channel_samples.items()}
            assert found["carried"] == same.carried[row]
            assert found["paused"] == pytest.approx(same.paused[row], rel=1e-3, abs=0.1 * us)
        lost = sum(of[at] for of in result.channel_samples["dropped"].values())
        assert lost == same.dropped.sum()


def test_lanes_are_sampled_alone_and_together():
    """What a channel carried, dropped and waited is the sum over its lanes."""
    flows = Flows([4, 5, 6, 7], 0, 200 * KB, lane=[0, 1, 1, 0])
    up = CROWD.hosts, 0
    result = run(
        CROWD,
        flows,
        lanes=Lanes((2, 1)),
        pfc=None,
        buffer=60 * KB,
        sample=10 * us,
        watch=[up, (*up, 0), (*up, 1)],
    )
    for of in result.channel_samples.values():
        assert (of[up] == of[*up, 0] + of[*up, 1]).all()
    assert result.channel_samples["carried"][*up, 1][-1] > 0
