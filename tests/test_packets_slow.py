"""The packet simulator against a second, slow one, written from its description alone."""

from types import SimpleNamespace

import networkx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from slow_packets import Network

from fabriclab.congestion import Dcqcn
from fabriclab.packets import Credits, Flows, Pfc, Trim, run
from fabriclab.topology import leaf_spine, torus
from fabriclab.units import GB, KB, us

PS = 1e12
NETWORKS = [
    leaf_spine(1, 1, 5, 1, bandwidth=5 * GB),
    leaf_spine(3, 2, 3, 2, bandwidth=5 * GB),
    torus((5,), bandwidth=5 * GB),
]


@st.composite
def scenes(draw):
    """A network with cables of all lengths, flows on routes that were chosen outside, and options;
    no two things happen at the very same picosecond but by rare chance.
    """
    network, draw_seed = draw(st.sampled_from(NETWORKS)), draw(st.integers(0, 2**32))
    chance = np.random.default_rng(draw_seed)
    delay = chance.integers(1, 3_000_000, network.a.size) / PS
    graph = networkx.Graph(zip(network.a.tolist(), network.b.tolist()))
    count = draw(st.integers(1, 8))
    source = chance.integers(0, network.hosts, count)
    target = (source + chance.integers(1, network.hosts, count)) % network.hosts
    if draw(st.booleans()):  # all to one
        source, target = np.where(source == 0, 1, source), np.zeros(count, int)
    routes = []
    for one, other in zip(source.tolist(), target.tolist()):
        ways = list(networkx.all_shortest_paths(graph, one, other))
        routes.append(ways[chance.integers(len(ways))])
    flows = Flows(
        source,
        target,
        chance.integers(1, 120_000, count),
        chance.integers(0, draw(st.sampled_from([1000, 20_000_000])), count) / PS,
        routes=routes,
    )
    options = {
        "packet": draw(st.sampled_from([997, 1500, 4099])),
        "delay": delay,
        "buffer": draw(st.sampled_from([9 * KB, 40 * KB, 500 * KB])),
        "pfc": draw(
            st.sampled_from([None, Pfc(8 * KB, 5 * KB, 90 * KB), Pfc(12 * KB, 3 * KB, 5 * KB)])
        ),
        "trim": draw(st.sampled_from([None, None, Trim(), Trim(80, 6 * KB)])),
        "recovery": draw(st.sampled_from(["go-back-n", "selective"])),
        "congestion": draw(
            st.sampled_from(
                [
                    None,
                    # marks above one length, always: nothing to draw
                    Dcqcn(
                        kmin=6000,
                        kmax=6001,
                        pmax=1.0,
                        cut_every=20 * us,
                        timer=30 * us,
                        alpha_every=25 * us,
                        byte_counter=30 * KB,
                    ),
                ]
            )
        ),
        "timeout": draw(st.sampled_from([150 * us, 1001 * us])),
        "until": 0.02,
    }
    if options["trim"]:
        options["recovery"] = "selective"
    if draw(st.integers(0, 3)) == 0:
        options["pfc"], options["buffer"] = Credits(draw(st.sampled_from([1, 3, 17]))), 2000 * KB
    return network, flows, options


def slowly(network, flows, options):
    """The same by the slow simulator."""
    cables = {}
    for a, b, capacity, delay in zip(network.a, network.b, network.capacity, options["delay"]):
        for ends in ((int(a), int(b)), (int(b), int(a))):
            cables[ends] = round(delay * PS), PS / capacity
    dcqcn, pfc = options["congestion"], options["pfc"]
    if dcqcn:
        dcqcn = dict(vars(dcqcn), mark_above=dcqcn.kmin, increase=dcqcn.increase / PS)
        for name in ("cut_every", "timer", "alpha_every"):
            dcqcn[name] = round(dcqcn[name] * PS)
    flow_control = (
        pfc.packets if isinstance(pfc, Credits) else pfc and (pfc.xoff, pfc.xon, pfc.headroom)
    )
    columns = (flows.source, flows.target, flows.size, np.rint(flows.start * PS).astype(int))
    return Network(
        cables,
        [*zip(*(c.tolist() for c in columns), flows.routes)],
        packet=options["packet"],
        buffer=options["buffer"],
        pfc=flow_control,
        trim=options["trim"] and (options["trim"].header, options["trim"].above),
        selective=options["recovery"] == "selective",
        timeout=round(options["timeout"] * PS),
        until=round(options["until"] * PS),
        dcqcn=dcqcn and SimpleNamespace(**dcqcn),
    )


PATIENT = {"suppress_health_check": [HealthCheck.too_slow], "deadline": None}


def agree(scene):
    network, flows, options = scene
    quick, slow = run(network, flows, **options), slowly(network, flows, options)
    for name in ("sent", "delivered", "discarded", "dropped", "marked", "trimmed"):
        assert getattr(quick, name).tolist() == [getattr(f, name) for f in slow.flows], name
    ends = [np.inf if f.end is None else (f.end - f.start) / PS for f in slow.flows]
    assert quick.completion.tolist() == ends
    for row, ends in enumerate(quick.ports.tolist()):
        port = slow.ports[tuple(ends)]
        assert (quick.pauses[row], quick.peak[row]) == (port.pauses, port.peak), ends


@settings(max_examples=20, **PATIENT)
@given(scenes())
def test_the_slow_simulator_agrees(scene):
    """Who drops, pauses, marks, sends again, and when each flow is through: any difference is an
    error in one of two programs that share no line.
    """
    agree(scene)


@pytest.mark.slow
@settings(max_examples=400, **PATIENT)
@given(scenes())
def test_the_slow_simulator_agrees_on_many_more(scene):
    """What is rare among networks and settings is met here, or not at all."""
    agree(scene)
