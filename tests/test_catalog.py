"""The catalogue: every figure has a source, and the figures fit one another and what public documents print."""

import dataclasses

import pytest

from fabriclab import catalog, link
from fabriclab.units import GB, Gbps


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


def test_every_figure_is_positive():
    """A figure would be negative, or a rate, reach or velocity zero."""
    for name, record in records():
        for field in dataclasses.fields(record):
            value = getattr(record, field.name)
            if isinstance(value, (int, float)):
                assert value > 0 or (field.name in ("watts_per_end", "alpha") and value == 0), (name, field.name)


@pytest.mark.parametrize(
    "name, gbps",
    [("QDR", 32), ("FDR", 54.54), ("EDR", 100), ("HDR", 200), ("NDR", 400), ("XDR", 800), ("100GbE", 100), ("800GbE", 800), ("NVLink 1", 640), ("NVLink 5", 7200)],
)
def test_rates_one_way(name, gbps):
    """A rate would be signalling where data is meant, or both directions where one is (IBTA roadmap, IEEE 802.3, NVIDIA)."""
    assert catalog.link_rate(name).per_direction / Gbps == pytest.approx(gbps, rel=1e-3)


@pytest.mark.parametrize("name, gigabytes", [("PCIe 2.0 x16", 8.0), ("PCIe 3.0 x16", 15.754), ("PCIe 4.0 x16", 31.508), ("PCIe 5.0 x16", 63.015), ("PCIe 6.0 x16", 121.0)])
def test_pcie_after_coding(name, gigabytes):
    """A PCIe rate would not be what 16 lanes carry after line coding (the usual table of rates, by PCI-SIG's figures)."""
    assert catalog.link_rate(name).per_direction / GB == pytest.approx(gigabytes, rel=1e-4)


def test_data_sheet_totals():
    """NVIDIA's own totals, both directions together, would not come out: 160, 300, 600, 900, 1,800 GB/s."""
    assert [catalog.link_rate(f"NVLink {v}").both_directions / GB for v in range(1, 6)] == pytest.approx([160, 300, 600, 900, 1800])


def test_families_only_get_faster():
    """A generation would be slower or older than the one before it, or a name be there twice."""
    names = [r.name for r in catalog.LINK_RATES]
    assert len(set(names)) == len(names)
    for family in {r.family for r in catalog.LINK_RATES}:
        of = [r for r in catalog.LINK_RATES if r.family == family]
        assert [r.year for r in of] == sorted(r.year for r in of) and [r.per_direction for r in of] == sorted(r.per_direction for r in of)


def test_fastest():
    """A year would get a link of its future, or none where there is one; unknown names would be accepted."""
    assert [catalog.fastest("NVLink", y) and catalog.fastest("NVLink", y).name for y in (2015, 2016, 2021, 2030)] == [None, "NVLink 1", "NVLink 3", "NVLink 5"]
    assert catalog.fastest("Ethernet", 2010).name == "100GbE"
    with pytest.raises(ValueError, match="family"):
        catalog.fastest("Token Ring", 2000)
    with pytest.raises(ValueError, match="name"):
        catalog.link_rate("NVLink")


def test_one_value_one_place():
    """Two records of the same thing would disagree: the chapter's paths and the links they run over, copper's two media."""
    assert catalog.NDR.beta == catalog.link_rate("NDR").per_direction
    assert catalog.HDR.beta == catalog.link_rate("HDR").per_direction
    assert catalog.ROCE_100G.beta == catalog.link_rate("100GbE").per_direction
    assert catalog.NVLINK4.beta == catalog.H100.nvlink.per_direction
    assert catalog.COPPER_LOSS.lane_rate == 50 * Gbps


def test_the_cliff_by_generation():
    """The drop from NVLink to one InfiniBand port would not be 6, 12, 9, 9 one way with the text's ports, 12, 12, 9, 18 with the makers'."""
    text = [a.nvlink.per_direction / a.port_in_text.per_direction for a in catalog.ACCELERATORS]
    shipped = [a.nvlink.per_direction / a.port.per_direction for a in catalog.ACCELERATORS]
    assert text == pytest.approx([6, 12, 9, 9]) and shipped == pytest.approx([12, 12, 9, 18])


def test_copper_model_beside_its_reaches():
    """The loss model and the standards would part: 30 dB spent to the last must reach IEEE's 3 m at 50G and 2 m at 100G."""
    for reach in catalog.COPPER_REACH:
        if reach.source.startswith("IEEE"):
            assert link.longest_cable(30, link.loss_per_metre(reach.lane_rate)) >= reach.least


def test_modules_per_bit():
    """The chapter's 50 and 25 pJ a bit would not follow from its 20 and 10 W, or vendors' modules not be under half (E-26)."""
    energy = {m.name: m.watts / (m.rate * 8) * 1e12 for m in catalog.MODULES}
    assert energy[catalog.PLUGGABLE.name] == pytest.approx(50) and energy[catalog.CPO.name] == pytest.approx(25)
    assert all(e < 25 for name, e in energy.items() if "chapter" not in name)
