"""The diagnosis: the fifteen incidents and their kin get their known cause, less evidence never
another, and nothing crashes it.
"""

import os
import random
import re

import pytest
from damage import damaged
from test_logs_perfquery import ROOT

from fabriclab import cluster, topology
from fabriclab.__main__ import main
from fabriclab.logs import diagnose, pairs
from fabriclab.logs.diagnose import CAUSES, SIGNS, causes, walk
from fabriclab.logs.diagnose.evidence import MOST_FILES, Evidence
from fabriclab.logs.diagnose.finding import Finding
from fabriclab.units import GB, us
from tools import incidents
from tools import samples as made

SHIPPED = ROOT / "notebooks" / "incidents"
NAMES = {"healthy": None, "healthy-roce": None} | {key: cause.name for key, cause in CAUSES.items()}
NDR = 'port = "400 Gb/s"'


@pytest.fixture
def folder(tmp_path):
    def put(files, name="incident"):
        at = tmp_path / name
        at.mkdir()
        for file, content in files.items():
            (at / file).write_bytes(content if isinstance(content, bytes) else content.encode())
        return at

    return put


def wrong(found, *known):
    """What is wrong with a verdict that must be one of `known`, or open; "" if nothing."""
    if found.confidence == "cannot decide":
        return ""
    return (
        ""
        if found.cause in [NAMES[key] for key in known]
        and (found.cause or found.confidence == "healthy")
        else found.verdict
    )


# The fifteen, and their kin


def test_shipped_files_are_the_made_ones():
    """The incidents in the notebooks' folder would not be those that the maker's table of causes is
    about.
    """
    assert {path.name for path in SHIPPED.iterdir() if not path.name.startswith(".")} == set(
        incidents.KNOWN
    )
    for name, files in incidents.shipped().items():
        assert {path.name: path.read_text() for path in (SHIPPED / name).iterdir()} == files
        assert 3 <= len(files) <= 7
    assert (
        sum(len(text) for files in incidents.shipped().values() for text in files.values())
        < 300_000
    )


@pytest.mark.parametrize("name", incidents.KNOWN)
def test_each_of_the_fifteen_gets_its_cause(name, capsys):
    """A student would be told another cause than the one that was built in, or more than fits a
    screen.
    """
    known, _ = incidents.KNOWN[name]
    found = diagnose.diagnose(SHIPPED / name)
    assert found.cause == NAMES[known] and found.confidence in ("clear", "likely", "healthy"), found
    assert (found.layer is None) == known.startswith("healthy")
    assert (
        main(["diagnose", str(SHIPPED / name)])
        == found.status
        == (0 if known.startswith("healthy") else 1)
    )
    said = capsys.readouterr().out.splitlines()
    assert len(said) <= 40 and any(
        line.startswith("= ") and (found.cause or "healthy") in line for line in said
    )
    assert (
        [step.number for step in found.steps] == [1, 2, 3, 4, 5]
        and (not found.unread or known == "mtu")  # of which a test died
        and not found.also
        and not found.notes
    )
    assert known not in name


# what must be seen in each of the fifteen, by whoever walks the five steps with pencil and paper
SEEN = {
    "hca": (
        "slow one-port gdr-on few-ports forced-ports nccl-low nccl-like-ports pairs-good"
        " pairs-good-nccl-low"
        " infiniband rate quiet clean"
    ),
    "counters": "gpu-full nccl-good pairs-good infiniband counters-full clean",
    "neighbour": (
        "slow nccl-good-once nccl-low nccl-varies pair-low pair-stop-and-go infiniband discards"
        " waits others-fill-it clean"
    ),
    "healthy": "gpu-full nccl-good pairs-good infiniband rate quiet clean",
    "placement": (
        "nccl-good alltoall-low alltoall-only pairs-good pairs-good-nccl-low infiniband rate waits"
        " tapered"
    ),
    "link": (
        "slow gpu-waits nccl-low nccl-like-lanes pair-low pair-like-lanes some-pairs infiniband"
        " rate quiet slow-port receive-errors"
    ),
    "alone": "gpu-full alone beyond-memory pairs-good infiniband rate quiet clean",
    "storm": "slow nccl-low late very-late one-pauser paused stormed clean",
    "input": "slow slow-without-network gpu-holes nccl-good pairs-good infiniband rate quiet clean",
    "gdr": (
        "slow gpu-waits no-gdr transport ports-all nccl-low pairs-good pairs-good-nccl-low"
        " infiniband rate quiet clean"
    ),
    "pcie": (
        "slow gpu-waits gdr-on transport ports-all nccl-low gpu-memory-low host-memory-good clean"
    ),
    "host": ("slow nccl-low nccl-good-once slow-on-some-hosts cold-part cold-host pair-low clean"),
    "mtu": (
        "gdr-on transport ports-all status-length status-retry test-died pairs-good mtu-differs"
        " clean"
    ),
    "healthy-roce": "gpu-full nccl-good alltoall-good pairs-good no-pauses clean",
    "ecmp": "slow nccl-low pair-low more-flows-cure some-pairs paused clean",
}


@pytest.mark.parametrize("name", incidents.KNOWN)
def test_what_is_seen_in_each_of_the_fifteen(name):
    """A sign would be missed, or seen where it is not, and others happen to make up for it."""
    found = diagnose.diagnose(SHIPPED / name)
    assert {finding.sign for step in found.steps for finding in step.findings} == set(
        SEEN[incidents.KNOWN[name][0]].split()
    )
    for step in found.steps:
        assert all(
            finding.step == step.number
            and (SHIPPED / name / finding.file).exists()
            or finding.file == "steps 1 to 3"
            for finding in step.findings
        )


@pytest.mark.parametrize("name", incidents.KNOWN)
def test_with_any_file_removed_it_is_still_right_or_open(name, folder):
    """A verdict would hang on one file, and without it name something else:
    worst of all "healthy".
    """
    known, _ = incidents.KNOWN[name]
    files = incidents.shipped()[name]
    for number, gone in enumerate(files):
        found = diagnose.diagnose(
            folder({file: text for file, text in files.items() if file != gone}, str(number))
        )
        assert not wrong(found, known), (gone, found)
        if gone not in ("incident.toml", "alltoall.txt") and known.startswith("healthy"):
            assert found.confidence == "cannot decide" and found.status == 2


@pytest.mark.parametrize("known", incidents.CAUSES_MADE)
def test_other_draws_of_each_cause_keep_the_verdict(known, folder):
    """The table of signs would fit ten files and not the causes behind them."""
    for seed in range(1000, 1005):
        found = diagnose.diagnose(folder(incidents.make(known, seed), str(seed)))
        assert found.cause == NAMES[known] and found.confidence != "cannot decide", (seed, found)


@pytest.mark.slow
@pytest.mark.parametrize("known", incidents.CAUSES_MADE)
def test_twelve_further_draws_and_each_file_missing(known, folder):
    """As above, for more seeds, and with any one file of each missing."""
    for seed in range(3000, 3012):
        files = incidents.make(known, seed)
        found = diagnose.diagnose(folder(files, str(seed)))
        assert found.cause == NAMES[known] and found.confidence != "cannot decide", (seed, found)
        for number, gone in enumerate(files):
            rest = {file: text for file, text in files.items() if file != gone}
            less = diagnose.diagnose(folder(rest, f"{seed}-{number}"))
            assert not wrong(less, known), (seed, gone, less)


@pytest.mark.parametrize("known", incidents.CAUSES_MADE)
def test_with_half_of_the_files_it_names_no_other_cause(known, folder):
    """Too little evidence would be taken for evidence of something else."""
    rng = random.Random(known)
    for number in range(4):
        files = incidents.make(known, 2000 + number)
        some = rng.sample(
            sorted(file for file in files if file != "incident.toml"), rng.randint(1, 3)
        )
        found = diagnose.diagnose(folder({file: files[file] for file in some}, str(number)))
        assert not wrong(found, known), (some, found)


@pytest.mark.parametrize(
    "one, other",
    [
        ("link", "storm"),
        ("alone", "link"),
        ("hca", "counters"),
        ("placement", "neighbour"),
        ("input", "ecmp"),
        ("storm", "input"),
    ],
)
def test_two_incidents_in_one_folder(one, other, folder):
    """Files of two incidents would make a third cause of them, or hide one without a word."""
    first, second = incidents.make(one, 1), incidents.make(other, 3)
    found = diagnose.diagnose(
        folder(
            first
            | {
                f"other_{file}" if file != "incident.toml" else file: text
                for file, text in second.items()
            }
        )
    )
    assert not wrong(found, one, other), found
    assert {NAMES[one], NAMES[other]} & {found.cause, *found.between, *found.also}
    assert "no host in common" in found.notes[0] and "note: " in repr(found)


def test_the_two_faults_of_one_folder_are_both_named(folder):
    """A cable that is bad would be forgotten because every rank ran alone."""
    first, second = incidents.make("alone", 1), incidents.make("link", 2)
    found = diagnose.diagnose(
        folder(
            first
            | {f"other_{file}": text for file, text in second.items() if file != "incident.toml"}
        )
    )
    assert {NAMES["alone"], NAMES["link"]} <= {found.cause, *found.between, *found.also}


def test_damage_on_the_way_names_no_other_cause(folder):
    """Lines lost, doubled or split in one file would turn the verdict to another cause, or end the
    walk.
    """
    rng = random.Random(5)
    for number, (known, seed) in enumerate(incidents.KNOWN.values()):
        files = incidents.make(known, seed)
        hurt = rng.choice([file for file in sorted(files) if file != "incident.toml"])
        found = diagnose.diagnose(folder(files | {hurt: damaged(files[hurt], rng)}, str(number)))
        assert not wrong(found, known), (hurt, found)


# What the texts and the references say


def test_checkpoint_1_5(folder):
    """The chapter's own case would be misread: 4.2 to 4.8 s, 92 to 85 % busy, a pair at 24 of 48
    GB/s, symbol errors that grow.
    """
    sizes = [1 << 16, 1 << 20, 1 << 23]
    found = diagnose.diagnose(
        folder(
            {
                "smi.txt": made.nvidia_smi_dmon([[0.85] * 8] * 5),
                "bw.txt": made.perftest_bandwidth(sizes, [24 * GB] * 3, [24.2 * GB] * 3),
                "port.txt": "".join(
                    f"2026-01-05T10:00:{at:02d}+00:00\n"
                    + made.perfquery(
                        7,
                        3,
                        {
                            "PortXmitData": at * 10**10,
                            "PortXmitPkts": at * 10**7,
                            "SymbolErrorCounter": 90 * at,
                            "PortRcvErrors": at,
                            "PortXmitWait": 0,
                            "PortXmitDiscards": 0,
                        },
                    )
                    for at in (0, 10)
                ),
                "incident.toml": 'port = "400 Gb/s"\n[iteration]\nbefore = 4.2\nnow = 4.8\n',
            }
        )
    )
    assert found.cause == NAMES["link"]
    assert "a step takes 4.8 s, 14% more than the 4.2 s before" in repr(found)


def test_discards_without_receive_errors_are_not_a_cable(folder):
    """A switch that threw packets away would get its cable blamed."""
    text = "".join(
        f"17644100{at:02d}\n"
        + made.perfquery(
            7,
            3,
            {
                "PortXmitData": at,
                "PortXmitPkts": at,
                "PortRcvErrors": 0,
                "SymbolErrorCounter": 0,
                "PortXmitDiscards": 99 * at,
                "PortXmitWait": 10**9 * at,
            },
        )
        for at in (10, 20)
    )
    found = diagnose.diagnose(folder({"a.txt": text}))
    assert dict(found.scores)[NAMES["link"]] < 0 and found.cause != NAMES["link"]
    assert any("congestion, not a cable" in finding.says for finding in found.steps[3].findings)


def test_bytes_of_a_full_line(folder):
    """Words would be taken for bytes: a line that another job fills would pass for a quarter
    full.
    """
    port = "".join(
        f"17644100{at:02d}\n"
        + made.perfquery(
            7, 3, {"PortXmitData": 12 * 10**9 * at, "PortXmitPkts": 10**7 * at, "PortXmitWait": 0}
        )
        for at in (10, 12)
    )
    files = {"p.txt": port, "bw.txt": made.perftest_bandwidth([1 << 20], [20 * GB])}
    assert "sends 48 GB/s, all that it can, and the pair in bw.txt gets 20 GB/s" in walk.report(
        diagnose.diagnose(folder(files, "full"))
    )
    found = diagnose.diagnose(folder({"p.txt": port.replace("24000000000", "13000000000")}, "part"))
    assert {finding.sign for finding in found.steps[3].findings} == {"infiniband", "rate", "quiet"}


def test_full_counters_are_lower_bounds(folder):
    """32-bit counters that stand still would be told as a port that sends nothing."""
    found = diagnose.diagnose(folder(incidents.make("counters", 3)))
    assert "at least 17.18 GB" in repr(found) and " sends 0 B/s" not in repr(found)


def test_full_counters_do_not_explain_what_is_slow(folder):
    """A slow collective would be put down to counters that only cannot count."""
    found = diagnose.diagnose(
        folder(
            {
                "a.txt": incidents.make("hca", 5)["allreduce.txt"],
                "p.txt": incidents.make("counters", 3)["perfquery.txt"],
            }
        )
    )
    assert dict(found.scores)[NAMES["counters"]] <= 1 and NAMES["counters"] not in (
        found.cause,
        *found.between[:1],
    )


def test_a_ring_with_one_slow_link_is_recognised_by_the_model(folder):
    """A halved link in a ring would not be seen in the collective's time, or be seen in a ring at
    another speed.
    """
    sizes = [1 << power for power in range(20, 34)]
    for slowdown, like in ((2, True), (4, True), (3, False)):
        times = [cluster.slow_link(size, 16, 1.5 * us, 8 * 48 * GB, slowdown) for size in sizes]
        found = diagnose.diagnose(
            folder(
                {
                    "a.txt": made.nccl_tests("all_reduce", sizes, times, ["n1", "n2"], 8),
                    "incident.toml": NDR,
                },
                f"s{slowdown}",
            )
        )
        assert (
            "nccl-like-lanes" in {finding.sign for step in found.steps for finding in step.findings}
        ) == like


def test_all_pairs(folder):
    """A cold row of the heat map would not reach the walk, or a calm map not count as sound."""
    network = topology.leaf_spine(4, 4, 4, 4)
    cold = pairs.as_matrix(pairs.measure(network, {pairs.Part("host", "host-06"): 0.5}, seed=1))
    found = diagnose.diagnose(folder({"m.csv": cold}, "cold"))
    assert found.scores[0][0] == NAMES["link"] and "host-06" in repr(found)
    assert (
        diagnose.diagnose(
            folder({"m.csv": pairs.as_matrix(pairs.measure(network, seed=1))}, "calm")
        )
        .steps[2]
        .sound
    )


def test_pairs_that_tell_nothing_are_not_good(folder):
    """A matrix of zeros, or one in uproar, would show that pairs are sound; hosts slow by one load
    be three bad cables.
    """
    head = "source\\target [Gb/s]," + ",".join("abcdefgh") + "\n"
    rows = {
        "zero": lambda at, to: 0,
        "wild": lambda at, to: 90 + 37 * (at * 5 + to * 3 + at * to) % 290,
    }
    for name, cell in rows.items():
        text = head + "".join(
            f"{host}," + ",".join(str(cell(at, to)) if at != to else "" for to in range(8)) + "\n"
            for at, host in enumerate("abcdefgh")
        )
        found = diagnose.diagnose(folder({"m.csv": text}, name))
        assert (
            not found.steps[2].sound
            and "pairs-good" not in signs(found)
            and "nothing stands out" not in repr(found)
        ), found
    network = topology.leaf_spine(4, 4, 4, 4)
    slow = {pairs.Part("host", f"host-{at:02d}", way="out"): 0.5 for at in (4, 5, 6)}
    assert {"cold-alike"} == signs(
        diagnose.diagnose(
            folder({"m.csv": pairs.as_matrix(pairs.measure(network, slow, seed=1))}, "alike")
        )
    ) - {"pair-low"}


@pytest.mark.parametrize(
    "rate, device, sign", [(40 * GB, "rxe0", "software"), (90 * GB, "mlx5_0", "too-fast")]
)
def test_what_crosses_no_link_says_nothing_about_links(rate, device, sign, folder):
    """RDMA in software would be a slow cable, and a loopback, faster than the port, a sound one."""
    found = diagnose.diagnose(
        folder(
            {
                "bw.txt": made.perftest_bandwidth([1 << 20], [rate], device=device),
                "incident.toml": 'port = "400 Gb/s"',
            }
        )
    )
    assert (
        [finding.sign for finding in found.steps[2].findings] == [sign]
        and not found.steps[2].sound
        and found.status == 2
    )


def test_placement_is_judged_as_built(folder):
    """One slow cable would be told as an oversubscribed placement, or a placement under one leaf as
    tapered.
    """
    files = incidents.make("placement", 2)
    blocks = files["ibnetdiscover.txt"].split(
        "\n\n"
    )  # every cable of one spine at half its lanes, as both ends list it
    halves = [
        [
            (
                line.replace("4x", "2x")
                if '"spine-1"' in line or '# "spine-1"' in block.splitlines()[2]
                else line
            )
            for line in block.splitlines()
        ]
        for block in blocks
    ]
    slow = "\n\n".join("\n".join(lines) for lines in halves) + "\n"
    found = diagnose.diagnose(
        folder({"f.txt": slow, "incident.toml": 'hosts = ["gpu-x02", "gpu-x05"]'}, "a")
    )
    signs = {finding.sign for step in found.steps for finding in step.findings}
    assert {"slow-cable", "not-tapered"} <= signs and found.cause == NAMES["link"]


# A guess is no reading, and what looks bad is not always a fault


def signs(found):
    return {finding.sign for step in found.steps for finding in step.findings}


def port(at, sent=10**9, **more):
    """One answer of a port that sent `sent` packets of 4 KB up to now."""
    return (
        made.perfquery(
            7,
            3,
            {
                "PortXmitData": sent * 1024,
                "PortXmitPkts": sent,
                "PortXmitWait": 0,
                "PortXmitDiscards": 0,
            }
            | more,
        )
        if at is None
        else f"{at}\n" + port(None, sent, **more)
    )


def test_a_sound_pair_of_a_slower_port_is_not_half_of_a_faster_one(folder):
    """On a cluster of 200 Gb/s every newcomer without incident.toml would be told of half the
    lanes.
    """
    sizes = [1 << 16, 1 << 20, 1 << 23]
    sound = made.perftest_bandwidth(sizes, [24 * GB] * 3, [24.2 * GB] * 3)
    slow = made.nccl_tests(
        "all_reduce", sizes, [size / (60 * GB) for size in sizes], ["n1", "n2"], 8
    )
    found = diagnose.diagnose(folder({"bw.txt": sound, "all.txt": slow}, "open"))
    assert (
        signs(found) == {"pair-unjudged", "nccl-unjudged", "nics-low"}
        and found.status == 2
        and "port = … in incident.toml" in found.verdict
    )
    assert signs(
        diagnose.diagnose(folder({"bw.txt": sound, "incident.toml": 'port = "200 Gb/s"'}, "sound"))
    ) == {"pairs-good"}
    assert "pair-low" in signs(
        diagnose.diagnose(folder({"bw.txt": sound, "incident.toml": NDR}, "slow"))
    )
    assert "pair-low" in signs(
        diagnose.diagnose(
            folder(
                {"bw.txt": sound, "other.txt": made.perftest_bandwidth(sizes, [48 * GB] * 3)},
                "beside",
            )
        )
    )


def test_a_node_may_have_fewer_ports_than_gpus(folder):
    """A node built with four ports for eight GPUs would be a wrong setting of NCCL, and one that
    lost four healthy.
    """
    files = incidents.make("hca", 5)
    hosts, healthy = ["n1", "n2"], incidents.make("healthy", 4)
    log = made.nccl_log(hosts, 8, 4, channels=4)
    sizes = [1 << power for power in range(16, 34)]
    half = made.nccl_tests(
        "all_reduce",
        sizes,
        [cluster.slow_link(size, 16, 1.5 * us, 4 * 48 * GB, 1) for size in sizes],
        hosts,
        8,
    )
    for more in ({}, healthy):
        found = diagnose.diagnose(
            folder(
                more | {"nccl.log": log, "allreduce.txt": half, "incident.toml": NDR},
                f"built{len(more)}",
            )
        )
        assert found.confidence == "cannot decide" and {
            "fewer-than-gpus",
            "nccl-good-so-far",
        } <= signs(found)
    assert (
        diagnose.diagnose(
            folder(
                healthy
                | {
                    "nccl.log": log,
                    "allreduce.txt": half,
                    "incident.toml": f"ports_per_node = 4\n{NDR}",
                },
                "told",
            )
        ).confidence
        == "healthy"
    )
    assert "few-ports" in signs(
        diagnose.diagnose(folder({"nccl.log": files["nccl.log"]}, "forced"))
    )


@pytest.mark.parametrize(
    "files, most",
    [
        ({"p.txt": port(None, SymbolErrorCounter=1, PortRcvErrors=1)}, "errors-once"),
        (
            {"w.txt": made.pfcwd_stats({"Ethernet4:3": (False, 3, 3, 90, 10, 1, 0)})},
            "stormed-before",
        ),
        (
            {
                "c.txt": made.pfc_counters(
                    {f"Ethernet{at}": [0, 0, 0, 9 * (at == 4), 0, 0, 0, 0] for at in range(6)},
                    {f"Ethernet{at}": [0] * 8 for at in range(6)},
                )
            },
            "paused",
        ),
        (
            {
                "e.txt": made.ethtool(
                    {"rx_prio3_pause": 0, "tx_prio3_pause_storm_warning_events": 3}
                )
            },
            None,
        ),
        ({"g.txt": made.dcgmi_dmon([[(0.6, 0.55)] * 8] * 4)}, "gpu-holes"),
        ({"p.txt": incidents.make("counters", 3)["perfquery.txt"]}, "counters-full"),
        ({"m.txt": made.mlxlink([1, 2, 3, 900], 3e5, colours=False)}, None),
    ],
)
def test_where_nothing_is_slow_a_weak_sign_names_no_cause(files, most, folder):
    """An old count or an idle minute in a sound cluster would be a storm, a bad cable, a starved
    input.
    """
    found = diagnose.diagnose(folder(files))
    assert found.cause is None and found.confidence == "cannot decide"
    assert most is None or most in signs(found)


def test_a_storm_that_is_over_does_not_outweigh_what_is_there(folder):
    """Storms of last year would be today's cause."""
    old = made.pfcwd_stats({"Ethernet4:3": (False, 3, 3, 90, 10, 1, 0)})
    found = diagnose.diagnose(folder(incidents.make("ecmp", 3) | {"w.txt": old}))
    assert found.cause == NAMES["ecmp"] and "all over, and when is not told" in repr(found)


def test_pauses_too_few_for_a_storm(folder):
    """A port that paused nine times since the switch was started would be the source of a storm."""
    rx = {f"Ethernet{at}": [0, 0, 0, 0, 0, 0, 0, 0] for at in range(6)}
    for frames, source in (
        (2000, False),
        (3000, True),
    ):  # 200 ms at 400 Gb/s are 2,384 pauses of 83.9 us
        text = made.pfc_counters(rx | {"Ethernet4": [0, 0, 0, frames, 0, 0, 0, 0]}, rx)
        assert (
            "one-pauser"
            in signs(diagnose.diagnose(folder({"c.txt": text, "incident.toml": NDR}, str(frames))))
        ) == source


def test_slow_steps_alone_do_not_starve_the_input(folder):
    """One GPU that is slow itself would be the loader's fault, as long as nobody looked at the
    GPUs.
    """
    files = incidents.make("input", 5)
    assert diagnose.diagnose(folder(files, "seen")).cause == NAMES["input"]
    found = diagnose.diagnose(
        folder({file: text for file, text in files.items() if file != "gpu.txt"}, "unseen")
    )
    assert found.cause is None and "slow-elsewhere" in signs(found)


@pytest.mark.parametrize(
    "text, sign",
    [
        (port("1764410000") + port("1764410000"), "not-comparable"),  # one moment
        (port("1764410000") + port("1764410010"), "idle"),
        (port(None) + port(None), "idle"),
        (
            port("2026-03-02T08:00:00+00:00") + port("2026-03-02T09:00:00", 2 * 10**9),
            "not-comparable",
        ),  # a clock without its zone
        (port("2026-03-02T08:00:00+00:00") + port("2026-03-02T09:00:10+01:00", 2 * 10**9), "quiet"),
        (port("1764410000", 2 * 10**9) + port("1764410010"), "not-comparable"),  # backwards
    ],
)
def test_two_answers_that_say_nothing_are_not_quiet(text, sign, folder):
    """A port that sent nothing, or one answer twice, would show that nothing waits on it."""
    found = diagnose.diagnose(folder({"p.txt": text}))
    assert {"not-comparable", "idle", "quiet"} & signs(found) == {sign} and found.steps[
        3
    ].sound == (sign == "quiet")


def test_three_files_lie_two_waits_apart(folder):
    """Of three readings ten seconds apart, what twenty seconds sent would be a rate of ten."""
    files = {f"{at}.txt": port(None, 10**9 + at * 10**7) for at in range(3)} | {
        "incident.toml": f"seconds_between = 10\n{NDR}"
    }
    assert "sends 4.096 GB/s" in repr(diagnose.diagnose(folder(files)))
    timed = {
        "a.txt": port("1764410000"),
        "b.txt": port("1764410010", 10**9 + 10**7),
        "c.txt": port(None, 5 * 10**9),
    }
    assert "sends 4.096 GB/s" in repr(diagnose.diagnose(folder(timed, "mixed")))


PORT = """Operational Info
----------------
State                              : Active
Physical state                     : LinkUp
Speed                              : IB-HDR
Width                              : 4x

Supported Info
--------------
Enabled Link Speed                 : 0x00000040 (HDR)
Supported Cable Speed              : 0x000000c0 (NDR,HDR)
"""


@pytest.mark.parametrize(
    "text, toml, sign",
    [
        (PORT, NDR, "set-slow"),
        (PORT.replace("40 (HDR)", "c0 (NDR,HDR)"), NDR, "slow-port"),
        (PORT.replace("40 (HDR)", "c0 (NDR,HDR)"), "nodes = 2", "slow-port"),  # by its own word
        (PORT, 'port = "200 Gb/s"', "clean"),
        (PORT.replace("IB-HDR", "N/A").replace("Active", "Polling"), NDR, "port-down"),
        (PORT.replace("Speed                              : IB-HDR\n", ""), NDR, "no-speed"),
    ],
)
def test_what_a_port_says_of_its_speed(text, toml, sign, folder):
    """A port that is down or shows no speed would run at full rate, and one that is set to half a
    damaged cable.
    """
    found = diagnose.diagnose(folder({"m.txt": text, "incident.toml": toml}))
    assert {finding.sign for finding in found.steps[4].findings} == {sign}, found
    assert found.cause == {"set-slow": CAUSES["setting"].name, "slow-port": NAMES["link"]}.get(sign)


def test_a_port_of_another_kind_beside(folder):
    """A storage port of 200 Gb/s would be a degraded link, because a port beside it has 400."""
    both = {
        "a.txt": PORT,
        "b.txt": PORT.replace("IB-HDR", "IB-NDR").replace("40 (HDR)", "c0 (NDR,HDR)"),
    }
    found = diagnose.diagnose(folder(both))
    assert "slower-port" in signs(found) and found.cause is None
    assert (
        diagnose.diagnose(folder(both | {"a.txt": PORT.replace(": 4x", ": 2x")}, "half")).cause
        == NAMES["link"]
    )


def test_two_versions_of_nccl_are_noted(folder):
    """Nodes with different libraries would look alike."""
    log = made.nccl_log(["n1", "n2"], 8, 8, channels=2)
    found = diagnose.diagnose(
        folder({"1.log": log, "2.log": re.sub(r"(NCCL version )\S+", r"\g<1>2.7.8", log)})
    )
    assert any("2.7.8" in note and "one job runs one version" in note for note in found.notes)
    assert not diagnose.diagnose(folder({"1.log": log, "2.log": log}, "same")).notes


# Where each rule ends


def concluded(*seen):
    """The conclusion from `seen` signs alone."""
    steps = [
        walk.Step(
            number,
            "",
            ("f",),
            tuple(Finding(3, sign, "", "f") for sign in seen) if number == 3 else (),
            "",
        )
        for number in range(1, 6)
    ]
    return walk._conclude(
        Evidence("x", ()), steps, [finding for step in steps for finding in step.findings]
    )


def test_how_much_of_a_lead_is_enough():
    """A verdict would be clear by a hair, or causes far behind stand among those left."""
    assert concluded("slow", "slow-port").confidence == "clear"  # 4 to 0
    assert (
        concluded("slow", "bit-errors", "link-downs", "some-pairs", "paused").confidence == "likely"
    )  # 4 to 2
    found = concluded("slow", "bit-errors", "some-pairs", "cold-scattered")  # 3 to 2, then 1
    assert found.cause is None and found.between == (NAMES["ecmp"], NAMES["link"])
    assert not walk.Step(
        3, "", ("f",), (Finding(3, "pairs-good", "", "f"), Finding(3, "pair-low", "", "f")), ""
    ).sound


def test_no_fault_is_only_said_where_all_was_looked_at(folder):
    """Full counters and a busy GPU would be told as "no fault", though no collective and no cable
    was looked at.
    """
    files = incidents.make("counters", 3)
    for some in (
        ["gpu.txt"],
        ["allreduce.txt", "incident.toml"],
        ["write_bw.txt", "mlxlink.txt", "incident.toml"],
    ):
        assert (
            diagnose.diagnose(
                folder({file: files[file] for file in [*some, "perfquery.txt"]}, some[0])
            ).cause
            is None
        )


@pytest.mark.parametrize("collective", ["reduce_scatter", "all_gather"])
def test_half_of_an_allreduce(collective, folder):
    """A ReduceScatter at full rate would be slow by an AllReduce's model, or one with a halved link
    not be recognised.
    """
    sizes = [1 << power for power in range(20, 34)]
    for slowdown, sign in ((1, "nccl-good"), (2, "nccl-like-lanes")):
        times = [cluster.slow_link(size, 16, 1.5 * us, 8 * 48 * GB, slowdown) / 2 for size in sizes]
        found = diagnose.diagnose(
            folder(
                {
                    "a.txt": made.nccl_tests(collective, sizes, times, ["n1", "n2"], 8),
                    "incident.toml": NDR,
                },
                str(slowdown),
            )
        )
        assert sign in signs(found) and ("100%" in repr(found)) == (slowdown == 1), found


def test_one_node_short_of_ports_beside_a_whole_one(folder):
    """The node that lost four ports would set what all are held against."""
    sizes = [1 << power for power in range(16, 34)]
    half = made.nccl_tests(
        "all_reduce",
        sizes,
        [cluster.slow_link(size, 16, 1.5 * us, 4 * 48 * GB, 1) for size in sizes],
        ["n1", "n2"],
        8,
    )
    logs = {
        "1.log": made.nccl_log(["n1", "n2"], 8, 8),
        "2.log": made.nccl_log(["n3", "n4"], 8, 4, channels=2),
    }
    assert "nccl-low" in signs(
        diagnose.diagnose(folder(logs | {"a.txt": half, "incident.toml": NDR}))
    )


def test_ports_that_are_listed_and_not_used(folder):
    """Two channels over two of eight ports would be a node that has two."""
    found = diagnose.diagnose(folder({"n.log": made.nccl_log(["n1", "n2"], 8, 8, used=2)}))
    assert "few-ports" in signs(found) and "where 8 were to be used" in repr(found)


def test_retries_that_ran_out(folder):
    """NCCL's own word for a peer that does not answer would be passed over."""
    log = (
        made.nccl_log(["n1", "n2"], 8, 8, channels=2)
        + "n1:10:20 [0] NCCL WARN NET/IB : Got completion from peer with error 12, opcode 0, len 0,"
        " vendor err 129\n"
    )
    assert "status-retry" in signs(diagnose.diagnose(folder({"n.log": log})))


def test_the_same_test_twice_is_not_more_flows(folder):
    """A pair that was slow once would be cured by flows that nobody added."""
    sizes = [1 << 16, 1 << 20, 1 << 23]
    tests = [made.perftest_bandwidth(sizes, [rate * GB] * 3) for rate in (24, 48)]
    found = signs(diagnose.diagnose(folder({"bw.txt": "".join(tests), "incident.toml": NDR})))
    assert "pair-varies" in found and "more-flows-cure" not in found


def test_large_messages_are_late_by_their_length(folder):
    """A megabyte that takes 22 us on a sound port would be queued on the path."""
    for size, late in ((2, True), (1 << 20, False)):
        text = made.perftest_latency(
            [size], [(20 * us, 90 * us, 22 * us, 23 * us, 3 * us, 30 * us, 60 * us)], link="IB"
        )
        assert ("late" in signs(diagnose.diagnose(folder({"lat.txt": text}, str(size))))) == late


def test_where_all_pause_no_one_is_the_source(folder):
    """One of ten ports that pause alike would be the source of a storm; a card's own word of one be
    unheard.
    """
    ports = [f"Ethernet{at}" for at in range(10)]
    text = made.pfc_counters(
        {port: [0, 0, 0, 30_000 + 9_000 * (port == "Ethernet4"), 0, 0, 0, 0] for port in ports},
        {port: [0] * 8 for port in ports},
    )
    assert signs(diagnose.diagnose(folder({"c.txt": text, "incident.toml": NDR}))) == {"paused"}
    assert "card-storms" in signs(
        diagnose.diagnose(
            folder(
                {"e.txt": made.ethtool({"rx_prio3_pause": 0, "tx_pause_storm_warning_events": 3})},
                "card",
            )
        )
    )


def test_a_line_that_is_half_full_is_not_filled_by_others(folder):
    """A slow pair would be put down to a neighbour that leaves it room enough."""
    text = "".join(
        f"17644100{at:02d}\n"
        + made.perfquery(
            7, 3, {"PortXmitData": 6 * 10**9 * at, "PortXmitPkts": 10**7 * at, "PortXmitWait": 0}
        )
        for at in (10, 12)
    )
    found = signs(
        diagnose.diagnose(
            folder(
                {
                    "p.txt": text,
                    "bw.txt": made.perftest_bandwidth([1 << 20], [12 * GB]),
                    "incident.toml": NDR,
                }
            )
        )
    )
    assert "rate" in found and "others-fill-it" not in found


def test_error_counters_that_are_full_may_still_count(folder):
    """Errors that stand at all ones would be old ones, because they cannot grow."""
    text = "".join(
        f"17644100{at:02d}\n"
        + made.perfquery(
            7, 3, {"SymbolErrorCounter": 65535, "PortXmitData": at, "PortXmitPkts": at}, False
        )
        for at in (10, 20)
    )
    assert "receive-errors" in signs(diagnose.diagnose(folder({"p.txt": text}, "full")))
    assert "receive-errors" not in signs(
        diagnose.diagnose(folder({"p.txt": text.replace("65535", "65534")}, "old"))
    )


def test_a_link_that_went_down(folder):
    """A link that comes and goes would be clean."""
    text = incidents.make("healthy", 4)["mlxlink.txt"]
    assert signs(
        diagnose.diagnose(folder({"m.txt": re.sub(r"(Link Down Counter +: )0", r"\g<1>3", text)}))
    ) == {"link-downs"}


@pytest.mark.parametrize(
    "now, synthetic, sign",
    [(2.6, 2.55, "input-cleared"), (4, 3, "input-partly"), (4, 2.05, "input-cures")],
)
def test_what_made_up_input_shows(now, synthetic, sign, folder):
    """Input that is half of the trouble would be all of it, or none."""
    assert sign in signs(
        diagnose.diagnose(
            folder(
                {
                    "p.txt": port(None),
                    "incident.toml": (
                        f"[iteration]\nbefore = 2\nnow = {now}\nsynthetic = {synthetic}\n"
                    ),
                }
            )
        )
    )


# The table


def test_the_table_is_whole():
    """A cause that no sign names could never be found; one spelt wrongly in the table would be
    weighed for nobody.
    """
    assert {cause for weights in SIGNS.values() for cause in weights} == set(CAUSES)
    for cause in CAUSES:
        assert max(weights.get(cause, 0) for weights in SIGNS.values()) >= 3, cause
    assert {abs(weight) for weights in SIGNS.values() for weight in weights.values()} <= {
        1,
        2,
        3,
        4,
    }
    assert set().union(*causes.SOUND.values()) <= {*SIGNS}
    assert {cause for cause, _ in incidents.KNOWN.values()} == set(incidents.CAUSES_MADE)


def test_a_sign_seen_twice_weighs_once():
    """Ten copies of one file would make a sure cause of a weak sign."""
    assert diagnose.weigh(["nccl-low"] * 10) == diagnose.weigh(["nccl-low"])


# Odd folders


@pytest.mark.parametrize(
    "case, words",
    [
        ("empty", "an empty folder"),
        ("hidden", "an empty folder"),
        ("file", "no folder that can be opened"),
        ("missing", "no folder that can be opened"),
        ("many", f"more than {MOST_FILES} files"),
        ("binary", "zero byte"),
        ("prose", "not the output of a tool known here"),
    ],
)
def test_nothing_to_go_by(case, words, tmp_path, capsys):
    """A folder without evidence would end in a traceback, or in a diagnosis."""
    at = tmp_path / "x"
    if case != "missing" and case != "file":
        at.mkdir()
    if case == "file":
        at.write_text("x")
    for number in range({"many": MOST_FILES + 1}.get(case, 0)):
        (at / str(number)).touch()
    if case in ("hidden", "binary", "prose"):
        (at / {"hidden": ".x"}.get(case, "x")).write_bytes(
            {"binary": b"\0\1\2" * 99}.get(case, b"Dear all,\nit is slow.\n")
        )
    assert main(["diagnose", str(at)]) == 2
    said = capsys.readouterr()
    assert not said.out and words in said.err and said.err.count("\n") == 1


def test_odd_files_are_named_with_their_reason_and_end_nothing(folder):
    """One unreadable file would hide what the others say, or be passed over in silence."""
    at = folder(
        incidents.make("link", 3)
        | {
            "core": b"\0" * 999,
            "bad\x1b[31m\nname": "x",
            "cut.txt": "# Port extended counters: Lid 4",
            "empty": "",
        }
    )
    (at / "loop").symlink_to(at / "loop")
    (at / "away").symlink_to(at)
    os.mkfifo(at / "pipe")
    with open(at / "huge", "wb") as file:
        file.truncate(1 << 40)
    found = diagnose.diagnose(at)
    assert found.cause == NAMES["link"]
    reasons = dict(found.unread)
    assert set(reasons) == {
        "core",
        "bad?[31m?name",
        "cut.txt",
        "empty",
        "loop",
        "away",
        "pipe",
        "huge",
    }
    for file, words in {
        "core": "zero byte",
        "cut.txt": "truncated perfquery header",
        "empty": "empty",
        "loop": "symbolic links",
        "away": "a folder",
        "pipe": "not a plain file",
        "huge": "larger than",
    }.items():
        assert words in reasons[file]
    assert (
        "\x1b" not in repr(found)
        and "8 not" in " ".join(repr(found).split())
        and len(repr(found).splitlines()) <= 45
    )


@pytest.mark.parametrize("kind", ["pipe", "folder", "loop", "device"])
def test_what_is_told_must_be_a_file(kind, folder):
    """A pipe named incident.toml would be waited for, for ever."""
    at = folder({"p.txt": port(None)})
    told = at / "incident.toml"
    {
        "pipe": lambda: os.mkfifo(told),
        "folder": told.mkdir,
        "loop": lambda: told.symlink_to(told),
        "device": lambda: told.symlink_to("/dev/zero"),
    }[kind]()
    ((file, reason),) = diagnose.diagnose(at).unread
    assert (
        file == "incident.toml"
        and ("symbolic links" if kind == "loop" else "not a plain file") in reason
    )


@pytest.mark.parametrize(
    "text, words",
    [
        ("nodes = 0", "nodes must be a whole number"),
        ("nodes = nan", "nodes must be"),
        ("nodes = true", "nodes must be"),
        ("port = 400", "port must be a rate in quotes"),
        ('port = "400 GB"', "port must be a rate"),
        ('port = "fast"', ""),
        ("seconds_between = -3", "seconds_between must be more than zero"),
        ("[iteration]\nbefore = [1, 2]", "before must be"),
        ("iteration = 3", "iteration must be a table"),
        ("hosts = [1]", "hosts must be a list of host names"),
        ("speed = 3", "'speed' is an unknown key; allowed"),
        ("before = 3", "'before' is an unknown key"),
        ("nodes = ", "not valid TOML"),
        ("\x00", "not valid TOML"),
        ("x = " + "[" * 40_000, ""),
        ("#" * 70_000, "more than 64 KiB"),
    ],
)
def test_what_cannot_be_told(text, words, folder):
    """A slip in incident.toml would be taken for a fact, or end the walk."""
    found = diagnose.diagnose(folder(incidents.make("hca", 5) | {"incident.toml": text}))
    assert found.cause == NAMES["hca"]
    ((file, reason),) = found.unread
    assert file == "incident.toml" and words in reason and len(reason) < 400


def test_shown_in_a_notebook(folder):
    """A file's name with markup would run in the page."""
    found = diagnose.diagnose(folder({"<b>$x$<b>": incidents.make("link", 3)["mlxlink.txt"]}))
    assert (
        "<b>" not in found._repr_html_()
        and "$" not in found._repr_html_()
        and found._repr_html_().startswith("<pre>")
    )


@pytest.mark.parametrize("cause", ["nothing", None, ["link"]])
def test_no_such_incident(cause):
    """A cause that none is made of would be another error than the one that names it."""
    with pytest.raises(ValueError, match="cause must be one of"):
        incidents.make(cause, 1)
