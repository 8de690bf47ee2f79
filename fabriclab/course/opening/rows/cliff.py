"""Rows of the opening: the bandwidth cliff."""

from fabriclab import catalog, collectives, nccl
from fabriclab.catalog import H100, NDR, fastest, link_rate
from fabriclab.course.engine.ledger import Row
from fabriclab.course.opening.rows.common import GRADIENT, RANKS, _cliff


def _gap(other, year):
    """The fastest NVLink of a year over the fastest link of another family, each one way."""
    return fastest("NVLink", year).per_direction / fastest(other, year).per_direction


ROWS = [
    # the running example
    Row(
        "opening/purpose",
        "Purpose",
        "hundreds of billions of operations",
        lambda: catalog.H100_PEAK_FP16,
        "differs",
        "one H100 does 989e12 operations a second, hundreds of trillions; a slip of the"
        " translation, the source says trillions (E-T1)",
        between=(1e11, 1e12),
    ),
    Row(
        "opening/parameters",
        "opening and throughout",
        "175 billion",
        lambda: GRADIENT / 2.0,
        "assumed",
        "GPT-3's count: Brown et al. 2020",
    ),
    Row(
        "opening/gradient",
        "opening and throughout",
        "350 GB",
        lambda: GRADIENT,
        "agrees",
        "175e9 parameters of 2 bytes, a precision the text leaves unsaid; Napkin Math 1.2 uses 4"
        " bytes, which would make it 700 GB",
    ),
    Row(
        "opening/gpus", "opening and throughout", "1,024", lambda: RANKS, "agrees", "128 nodes of 8"
    ),
    Row(
        "opening/gpus-older",
        "earliest edition, against the later ones",
        "1,000",
        lambda: RANKS,
        "conflicts",
        "GPUs of the running cluster: 125 nodes of eight then, 128 since",
        other="1,024",
    ),
    Row(
        "opening/waiting",
        "opening",
        "1,023",
        lambda: RANKS - 1,
        "agrees",
        "all but the one at the slow link",
    ),
    Row(
        "opening/h100-peak",
        "The gradient bus",
        "989 TFLOP/s",
        lambda: catalog.H100_PEAK_FP16,
        "assumed",
        "dense FP16: NVIDIA H100 SXM data sheet",
    ),
    Row(
        "opening/h100-hbm",
        "The gradient bus",
        "3.35 TB/s",
        lambda: H100.hbm,
        "assumed",
        "NVIDIA H100 SXM data sheet",
    ),
    # the cliff
    Row(
        "cliff/node",
        "The gradient bus; figure 4; DGX SuperPOD; Optical interconnects",
        "8",
        lambda: nccl.DGX_H100.gpus,
        "agrees",
        "GPUs of a node: NVIDIA DGX H100",
    ),
    Row(
        "cliff/nvlink-both",
        "The gradient bus",
        "900 GB/s",
        lambda: H100.nvlink.both_directions,
        "agrees",
        "18 links of 25 GB/s each way, both directions together",
    ),
    Row(
        "cliff/nvlink-one-way",
        "The gradient bus",
        "450 GB/s",
        lambda: H100.nvlink.per_direction,
        "agrees",
    ),
    Row(
        "cliff/ndr",
        "The gradient bus; figures 4 and 12; Napkin Math 1.1",
        "50 GB/s",
        lambda: link_rate("NDR").per_direction,
        "agrees",
        "400 Gb/s over 8",
    ),
    Row(
        "cliff/like-for-like",
        "The gradient bus; figure 3; the gradient bus of level 5",
        "9x",
        lambda: _cliff(H100, H100.port),
        "agrees",
        "450 over 50 GB/s, both one way; elsewhere an order of magnitude",
    ),
    Row(
        "cliff/mixed",
        "older edition, its quiz and two appendices",
        "18x",
        lambda: _cliff(H100, H100.port),
        "differs",
        "900 GB/s counts both directions of NVLink and 50 GB/s one of InfiniBand; like for like it"
        " is 450/50 = 9. The newest text says 9; its figures 3 and 4 still carry the other base"
        " (E-01)",
    ),
    Row(
        "cliff/seconds",
        "The gradient bus",
        "seconds",
        lambda: GRADIENT / NDR.beta,
        "agrees",
        "350 GB / 50 GB/s = 7.0 s once through one link; a ring over 1,024 ranks sends nearly"
        f" twice that, {collectives.ring_allreduce(GRADIENT, RANKS, NDR.alpha, NDR.beta):.2f} s",
        between=(2.0, 60.0),
    ),
    Row(
        "cliff/wires",
        "after figure 3",
        "millimetres",
        None,
        "assumed",
        "of copper under NVLink, against metres of cable: that is so inside a package. Between the"
        " packages of a board it is decimetres, and in an NVL72 cables across the rack. What holds:"
        " no light, and no switch of the cluster's network",
    ),
    # figure 2: the text's series are not recoverable; these are the public line rates in the
    # catalogue
    *[
        Row(
            f"figure-2/{other.lower()}",
            "Figure 2",
            "about 10x",
            lambda other=other: _gap(other, 2024),
            "agrees",
            f"public rates of 2024, one way: {fastest('NVLink', 2024).name} over"
            f" {fastest(other, 2024).name}{extra}; the figure's own series could not be recovered",
            between=(5, 20),
        )
        for other, extra in (
            ("InfiniBand", ""),
            ("Ethernet", ""),
            ("PCIe", ", a standard ahead of its products: over PCIe 5.0 it is 14"),
        )
    ],
    Row(
        "figure-2/span",
        "Figure 2",
        "2010-2024",
        lambda: min(r.year for r in catalog.LINK_RATES if r.family == "NVLink"),
        "assumed",
        "years of the axis; the line of NVLink can begin with the P100 of 2016 only",
    ),
    Row(
        "figure-2/widens",
        "The gradient bus",
        "a gap that widens",
        lambda: _gap("InfiniBand", 2024) / _gap("InfiniBand", 2016),
        "agrees",
        "NVLink over InfiniBand one way was "
        + ", ".join(f"{_gap('InfiniBand', y):.3g} in {y}" for y in (2016, 2018, 2019, 2020, 2024))
        + ": wider than at the start, but a saw and no trend, for both keep doubling; the"
        " difference in GB/s does grow throughout",
        between=(1.0, 10.0),
    ),
]
