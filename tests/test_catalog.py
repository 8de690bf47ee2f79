"""The catalogue: every figure has a source, and the figures fit one another and what public
documents print.
"""

import dataclasses
import re

import pytest

from fabriclab import catalog, link, scaleup, topology
from fabriclab.units import GB, Gbps, Tbps


def records():
    for name, value in vars(catalog).items():
        for record in value if isinstance(value, tuple) else (value,):
            if dataclasses.is_dataclass(record) and not isinstance(record, type):
                yield name, record


def test_every_record_has_a_source():
    """A figure would stand in the catalogue with nobody to ask; no addresses, documents by name."""
    found = list(records())
    assert len(found) > 40
    for name, record in found:
        assert record.source.strip() and "://" not in record.source, name


AGELESS = (  # a text, a standard, a year of its own in the record
    "chapter|field guide|IEEE|RFC|IBTA|PCI-SIG|16 lanes; PCI-SIG|IPv4|one chip of 102|three places"
)


def test_what_can_age_says_as_of_when():
    """A product, a price or a cluster would stand there for ever, with no year to doubt it by."""
    for name, record in records():
        dated = hasattr(record, "year") or hasattr(record, "announced") or hasattr(record, "rate")
        ages = isinstance(record, (catalog.System, catalog.Module, catalog.Switch)) or not dated
        if ages and not re.match(AGELESS, record.source):
            assert re.search(r"\b20[0-2]\d\b", record.source), (name, record.source)


def test_recent_rows():
    """A row of 2024 to 2026 would have no date, or not fit what its maker prints: capacities of
    115.2, 102.4 and 409.6 Tb/s, engines of 1.6, 6.4 and 3.2 Tb/s, 1,200 and 392 GB/s a chip.
    """
    assert all(
        re.search(r"\b202[4-6]\b", one.source)
        for one in (*catalog.RECENT_SYSTEMS, *catalog.RECENT_SWITCHES)
    )
    assert [one.capacity / Tbps for one in catalog.RECENT_SWITCHES] == pytest.approx(
        [115.2, 115.2, 102.4, 102.4, 409.6]
    )
    assert [
        one.capacity / one.engines / Tbps for one in catalog.RECENT_SWITCHES if one.engines
    ] == pytest.approx([1.6, 6.4, 3.2, 3.2])
    of = {one.name: one for one in catalog.RECENT_SYSTEMS}
    assert not of.keys() & {one.name for one in catalog.SYSTEMS}
    assert 2 * of["Google TPU7x (Ironwood) pod"].injection / GB == pytest.approx(1200)
    assert of["Huawei CloudMatrix384"].injection / GB == pytest.approx(392)
    assert of["xAI Colossus 2"].injection is None
    # seven ports of 56 GB/s are four lanes of 112 Gb/s each: what is signalled, data is 400 of 448
    assert of["Huawei CloudMatrix384"].port / Gbps == pytest.approx(4 * 112)


def test_supernodes():
    """Ports and modules would not be those that the makers and the press count: 6,912 modules of
    18 a chip, 392 and 900 GB/s, 5,184 cables; the press's 2.1 times, of data both ways.
    """
    big, rack = catalog.SUPERNODES
    out = link.tree_optics(big.accelerators, 64, hosts_on_fibre=True)
    ends = out.switch_ends + out.host_ends
    assert big.accelerators * big.modules + ends == catalog.CLOUDMATRIX_MODULES == 384 * 18
    assert big.ports * big.published / GB == pytest.approx(392)
    assert rack.ports * rack.published / GB == pytest.approx(900) and rack.modules == 0
    assert 4 * rack.accelerators * rack.ports == 5184  # two lanes, a pair each way
    assert big.data / rack.data == pytest.approx(2.1, abs=0.05)
    chips, each, total = catalog.ATLAS_950
    assert chips * each == pytest.approx(total, rel=0.01)
    assert each / (2 * big.ports * big.published) == pytest.approx(2.5, abs=0.06)


def test_every_figure_is_positive():
    """A figure would be negative, or a rate, reach or velocity zero."""
    for name, record in records():
        for field in dataclasses.fields(record):
            value = getattr(record, field.name)
            if isinstance(value, (int, float)):
                assert value > 0 or (
                    field.name in ("watts_per_end", "alpha", "fibre_hops") and value == 0
                ), (name, field.name)


@pytest.mark.parametrize(
    "name, gbps",
    [
        ("QDR", 32),
        ("FDR", 54.54),
        ("EDR", 100),
        ("HDR", 200),
        ("NDR", 400),
        ("XDR", 800),
        ("100GbE", 100),
        ("800GbE", 800),
        ("NVLink 1", 640),
        ("NVLink 5", 7200),
    ],
)
def test_rates_one_way(name, gbps):
    """A rate would be signalling where data is meant, or both directions where one is (IBTA
    roadmap, IEEE 802.3, NVIDIA).
    """
    assert catalog.link_rate(name).per_direction / Gbps == pytest.approx(gbps, rel=1e-3)


@pytest.mark.parametrize(
    "name, gigabytes",
    [
        ("PCIe 2.0 x16", 8.0),
        ("PCIe 3.0 x16", 15.754),
        ("PCIe 4.0 x16", 31.508),
        ("PCIe 5.0 x16", 63.015),
        ("PCIe 6.0 x16", 121.0),
    ],
)
def test_pcie_after_coding(name, gigabytes):
    """A PCIe rate would not be what 16 lanes carry after line coding (the usual table of rates, by
    PCI-SIG's figures).
    """
    assert catalog.link_rate(name).per_direction / GB == pytest.approx(gigabytes, rel=1e-4)


def test_data_sheet_totals():
    """NVIDIA's own totals, both directions together, would not come out: 160, 300, 600, 900, 1,800
    GB/s.
    """
    assert [
        catalog.link_rate(f"NVLink {v}").both_directions / GB for v in range(1, 6)
    ] == pytest.approx([160, 300, 600, 900, 1800])


def test_families_only_get_faster():
    """A generation would be slower or older than the one before it, or a name be there twice."""
    names = [r.name for r in catalog.LINK_RATES]
    assert len(set(names)) == len(names)
    for family in {r.family for r in catalog.LINK_RATES}:
        of = [r for r in catalog.LINK_RATES if r.family == family]
        assert [r.year for r in of] == sorted(r.year for r in of) and [
            r.per_direction for r in of
        ] == sorted(r.per_direction for r in of)


def test_fastest():
    """A year would get a link of its future, or none where there is one; unknown names would be
    accepted.
    """
    assert [
        catalog.fastest("NVLink", y) and catalog.fastest("NVLink", y).name
        for y in (2015, 2016, 2021, 2030)
    ] == [None, "NVLink 1", "NVLink 3", "NVLink 5"]
    assert catalog.fastest("Ethernet", 2010).name == "100GbE"
    with pytest.raises(ValueError, match="family"):
        catalog.fastest("Token Ring", 2000)
    with pytest.raises(ValueError, match="name"):
        catalog.link_rate("NVLink")


def test_one_value_one_place():
    """Two records of the same thing would disagree: the chapter's paths and the links they run
    over, copper's two media.
    """
    assert catalog.NDR.beta == catalog.link_rate("NDR").per_direction
    assert catalog.HDR.beta == catalog.link_rate("HDR").per_direction
    assert catalog.ROCE_100G.beta == catalog.link_rate("100GbE").per_direction
    assert catalog.NVLINK4.beta == catalog.H100.nvlink.per_direction
    assert catalog.COPPER_LOSS.lane_rate == 50 * Gbps


def test_the_cliff_by_generation():
    """The drop from NVLink to one InfiniBand port would not be 6, 12, 9, 9 one way with the text's
    ports, 12, 12, 9, 18 with the makers'.
    """
    text = [a.nvlink.per_direction / a.port_in_text.per_direction for a in catalog.ACCELERATORS]
    shipped = [a.nvlink.per_direction / a.port.per_direction for a in catalog.ACCELERATORS]
    assert text == pytest.approx([6, 12, 9, 9]) and shipped == pytest.approx([12, 12, 9, 18])


def test_copper_model_beside_its_reaches():
    """The loss model and the standards would part: 30 dB spent to the last must reach IEEE's 3 m at
    50G and 2 m at 100G.
    """
    for reach in catalog.COPPER_REACH:
        if reach.source.startswith("IEEE"):
            assert link.longest_cable(30, link.loss_per_metre(reach.lane_rate), 2) >= reach.least


def test_modules_per_bit():
    """The chapter's 50 and 25 pJ a bit would not follow from its 20 and 10 W, or vendors' modules
    not be under half (E-26).
    """
    energy = {m.name: m.watts / (m.rate * 8) * 1e12 for m in catalog.MODULES}
    assert energy[catalog.PLUGGABLE.name] == pytest.approx(50) and energy[
        catalog.CPO.name
    ] == pytest.approx(25)
    assert all(e < 25 for name, e in energy.items() if "chapter" not in name)


@pytest.mark.parametrize(
    "name, lane, data",
    [
        ("SDR", 2.5, 8),
        ("DDR", 5, 16),
        ("QDR", 10, 32),
        ("FDR", 14.0625, 54.545),
        ("EDR", 25.78125, 100),
        ("HDR", 53.125, 200),
        ("NDR", 106.25, 400),
        ("XDR", 212.5, 800),
    ],
)
def test_infiniband_lane_by_lane(name, lane, data):
    """Lanes, line code and rate of a generation would not fit one another, or not IBTA's roadmap
    (four lanes, Gb/s).
    """
    one = next(g for g in catalog.INFINIBAND if g.name == name)
    assert (one.lane_rate / Gbps, one.lanes) == (lane, 4)
    assert one.signalled * one.share == pytest.approx(one.rate.per_direction, rel=1e-12)
    assert one.rate.per_direction / Gbps == pytest.approx(data, rel=1e-4)
    assert one.levels == (4 if data >= 200 else 2)


def test_infiniband_in_order():
    """A generation would be missing, or older or slower than the one before."""
    assert [g.name for g in catalog.INFINIBAND] == [
        "SDR",
        "DDR",
        "QDR",
        "FDR",
        "EDR",
        "HDR",
        "NDR",
        "XDR",
    ]
    assert all(
        a.rate.year < b.rate.year and a.rate.per_direction < b.rate.per_direction
        for a, b in zip(catalog.INFINIBAND, catalog.INFINIBAND[1:])
    )


def test_adapters():
    """An adapter would have a port that its host link cannot feed, or be announced after the year
    that the text gives it.
    """
    for adapter in catalog.CONNECTX:
        assert (
            adapter.port.per_direction < adapter.host.per_direction
            and adapter.announced <= adapter.year_in_text
        )
    assert [a.port.name for a in catalog.CONNECTX] == ["EDR", "HDR", "NDR", "XDR"]


def test_systems():
    """A system's GPUs would not be those of the wiring that `topology` makes of it, or a name be
    accepted that is none.
    """
    assert catalog.system("DGX SuperPOD, 4 units").accelerators == topology.superpod_h100(4).hosts
    assert (
        catalog.system("Meta 24K, RoCE").accelerators
        == topology.meta_24k().hosts
        == catalog.system("Meta 24K, InfiniBand").accelerators
    )
    # Google prints 102.4 TB/s of AllReduce for the pod, and 1,200 GB/s both ways a v5p chip
    assert catalog.system("Google TPU v6e pod").accelerators * catalog.system(
        "Google TPU v6e pod"
    ).injection / GB == pytest.approx(102_400)
    assert 2 * catalog.system("Google TPU v5p pod").injection / GB == pytest.approx(1200)
    # a chip has two ports on each axis of its torus, and a port is one of them, as everywhere
    for name, axes in (("Google TPU v5p pod", 3), ("Google TPU v6e pod", 2)):
        one = catalog.system(name)
        assert (one.ports, one.port) == (2 * axes, 100 * GB)
        assert f"{axes}D torus" == one.shape
    with pytest.raises(ValueError, match="name must be one of"):
        catalog.system("Colossus")


def test_disagreements_are_disagreements():
    """A line of the table would show no two different sayings, or cite no erratum where the ledger
    has one.
    """
    for one in catalog.DISAGREEMENTS:
        assert len({one.chapter, one.guide, one.vendor} - {"-"}) > 1, one.subject
    cited = " ".join(one.errata for one in catalog.DISAGREEMENTS)
    assert all(f"E-X{n}" in cited for n in range(1, 9)) and all(
        f"E-B{n}" in cited for n in (1, 2, 3, 4, 5, 6, 12)
    )


def test_tiers():
    """The rule of five to ten would hold after all, or a factor be turned round (field guide's
    table: 1.4 to 33,000).
    """
    names = [tier.name for tier in catalog.TIERS]
    assert len(set(names)) == 5
    gained = [
        catalog.step_between(a, b, "latency") for a, b in zip(catalog.TIERS[1:], catalog.TIERS[2:])
    ]
    assert (
        gained[0] == pytest.approx((1 / 0.7, 1 / 0.7))
        and gained[1] == pytest.approx((3, 5))
        and gained[2] == pytest.approx((2000, 1e5 / 3))
    )
    assert (
        catalog.step_between(catalog.TIERS[0], catalog.TIERS[1], "latency") is None
        and catalog.step_between(catalog.TIERS[3], catalog.TIERS[4], "bandwidth") is None
    )
    assert (
        catalog.TIERS[1].per_direction == (900 * GB, 900 * GB)
        and catalog.TIERS[4].per_direction is None
    )
    with pytest.raises(ValueError, match="what must be"):
        catalog.step_between(catalog.TIERS[0], catalog.TIERS[1], "price")


def test_a_run_beside_the_list_of_failures():
    """Llama 3's run and the field guide's list would not be within half of each other, scaled to
    100,000 GPUs.
    """
    run = catalog.LLAMA3
    a_day = run.interruptions / (run.seconds / 86_400) / run.gpus * 1e5
    assert a_day == pytest.approx(
        47.4, abs=0.1
    ) and run.by_gpu / run.interruptions == pytest.approx(0.525, abs=0.001)
    assert (catalog.HUNDRED_THOUSAND.least, catalog.HUNDRED_THOUSAND.most) == (
        65,
        70,
    ) and 0.5 < a_day / 67.5 < 1.5


def test_rdma_headers_are_those_of_the_standards():
    """By hand: LRH 8, BTH 12 and two checks make 26; RoCEv2 is what `scaleup` counts; iWARP, a
    frame's 38, IP 20, TCP 20, a length and a check 6, a tagged header 14.
    """
    sums = {stack.name: sum(stack.headers.values()) for stack in catalog.RDMA_STACKS}
    assert sums == {"InfiniBand": 26, "RoCEv2, PFC": 82, "RoCEv2, no PFC": 82, "iWARP": 98}
    assert sums["RoCEv2, PFC"] == scaleup.header_bytes("RoCEv2")
    assert {stack.keeps for stack in catalog.RDMA_STACKS} == {"credits", "pauses", ""}
