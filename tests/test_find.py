"""`fabriclab find`: questions in plain words, written down before the index was made."""

import pytest

from fabriclab import __main__ as cli
from fabriclab import doctor, find

QUESTIONS = {
    "how long does it take to send a message over a link": "transport.transfer_time",
    "message size where latency and bandwidth cost the same": "transport.crossover",
    "when do two paths take the same time": "transport.break_even",
    "fit latency and bandwidth to measurements": "transport.fit",
    "time of a ring allreduce": "collectives.ring_allreduce",
    "collect the shards of every GPU": "collectives.all_gather",
    "time of an AllToAll for mixture of experts": "collectives.all_to_all",
    "bus bandwidth factor of nccl-tests": "collectives.bus_factor",
    "what is left when communication hides behind compute": "collectives.exposed_time",
    "birthday collision of flows hashed onto uplinks": "congestion.even_split",
    "how loaded is the fullest link with ECMP": "congestion.mean_fullest",
    "diameter of a network": "topology.paths",
    "average number of hops": "topology.paths",
    "number of edge and aggregation switches in a fat-tree": "topology.fat_tree",
    "bisection bandwidth": "topology.bisection",
    "how many hosts does a leaf-spine connect": "topology.leaf_spine",
    "what happens when a switch fails": "topology.failures",
    "price of a fabric": "topology.bill",
    "bit error rate for a signal to noise ratio": "link.bit_error_ratio",
    "loss of a copper cable": "link.loss_per_metre",
    "how long may a copper cable be": "link.longest_cable",
    "link budget margin in dB": "link.link_margin",
    "signal propagation delay in fibre": "link.propagation_delay",
    "latency of forward error correction": "link.fec_latency",
    "eye diagram": "link.eye",
    "mean time between failures of a cluster": "reliability.system_mttf",
    "how often should a checkpoint be saved": "reliability.young_interval",
    "probability that at least one transceiver fails in a week": "reliability.at_least_one",
    "headroom buffer for PFC": "congestion.pfc_headroom",
    "time until a switch buffer overflows under incast": "congestion.fill_time",
    "waiting time in an M/D/1 queue": "congestion.md1_wait",
    "DCQCN queue at rest": "congestion.fixed_point",
    "stragglers slow down a synchronous step": "congestion.step_with_hiccups",
    "cycle of buffer dependencies": "deadlock.Dependencies",
    "cost of power for optical transceivers": "link.optics_bill",
    "fair share of bandwidth between tenants": "cluster.max_min",
    "overlap gradient buckets with the backward pass": "cluster.bucketed_step",
    "one slow link in an allreduce": "cluster.slow_link",
    "PCIe bandwidth of generation 5": "scaleup.pcie_rate",
    "header overhead of small packets": "scaleup.payload_efficiency",
}


def first(question, entries, most=3):
    return [entry.name for entry in find.find(question, entries, most)["function"]]


def test_questions_find_their_function():
    """A student or an engineer would look through 260 names for the function that exists."""
    entries = list(find.functions())
    missed = {
        q: first(q, entries) for q, name in QUESTIONS.items() if name not in first(q, entries)
    }
    assert len(QUESTIONS) == 40 and len(missed) <= 4, missed


def test_every_function_named_exists():
    """A question would wait for a function that is called otherwise, and never be answered."""
    names = {entry.name for entry in find.functions()}
    assert set(QUESTIONS.values()) <= names


def test_all_kinds_are_found():
    """Sections, exercises, rows and terms would stay out of the index."""
    folder = doctor.notebook_folder()
    found = find.find("bisection 对分带宽", find.index(folder))
    assert all(found.values()), {kind: len(entries) for kind, entries in found.items()}
    assert any("isection" in entry.name for entry in found["term"])
    assert any(entry.name.startswith("04") for entry in found["section"])


def test_find_as_a_command(capsys):
    """The command would end in a traceback, or say nothing where there is nothing."""
    assert cli.main(["find", "ring", "allreduce"]) == 0
    assert "collectives.ring_allreduce" in capsys.readouterr().out
    assert cli.main(["find", "xyzzyplugh"]) == 1
    assert "nothing" in capsys.readouterr().err
    assert cli.main(["find", "the of"]) == 2
    assert "no word to look for" in capsys.readouterr().err


@pytest.mark.parametrize("word, other", [("queues", "queueing"), ("latencies", "latency")])
def test_endings_do_not_matter(word, other):
    """A question in the plural would not find the singular."""
    assert find.words(word) == find.words(other)
