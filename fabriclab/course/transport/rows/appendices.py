"""Rows of level 2: the appendices."""

from fabriclab import catalog, collectives, link, reliability, transport
from fabriclab.catalog import NDR, ROCE_100G
from fabriclab.course.engine.ledger import Row
from fabriclab.units import GB, MB, day, hour, ms, us

MTTF = {
    "gpu": 50_000,
    "nic": 150_000,
    "psu": 100_000,
    "pcie": 200_000,
    "hbm": 200_000,
}  # hours, the appendix


IN_A_NODE = {"gpu": 8, "nic": 8, "psu": 2, "pcie": 1, "hbm": 8}


def _tree_from(ranks, alpha=5 * us, beta=50 * GB):
    """Bytes below which the unpipelined tree beats the ring: their two costs set equal."""
    levels = collectives.tree_allreduce(0, ranks, 1.0, 1.0) / 2
    return 2 * (ranks - 1 - levels) * alpha * beta / (2 * levels - 2 * (ranks - 1) / ranks)


def _appendix_ring(size):
    return collectives.ring_allreduce(size, 256, 5 * us, 50 * GB)


ROWS = [
    # the appendices
    Row(
        "appendix/n-star",
        "appendix, alpha-beta model",
        "250 KB",
        lambda: transport.crossover(catalog.NDR_APPENDIX.alpha, catalog.NDR_APPENDIX.beta),
        "agrees",
        "follows from its 5 us; the chapter's 1.5 us gives 75 KB (E-05)",
    ),
    Row(
        "appendix/nvlink",
        "appendix, alpha-beta table",
        "900 GB/s",
        lambda: catalog.NVLINK4.beta,
        "differs",
        "900 GB/s is both directions; the other rows of the table are one way, and NVLink is then"
        " 450 (E-01)",
    ),
    Row(
        "appendix/nvlink-alpha",
        "appendix, alpha-beta table",
        "500 ns",
        lambda: catalog.NVLINK4.alpha,
        "assumed",
        "start-up, a registry value; the field guide has 700 ns (E-X6)",
    ),
    Row(
        "appendix/pcie-alpha",
        "appendix, alpha-beta table",
        "1,000 ns",
        None,
        "conflicts",
        "start-up of PCIe 5; version 0.3.0 of the same registry gives a range that starts at twice"
        " that",
        other="2-5 us",
    ),
    Row(
        "appendix/pcie",
        "appendix, alpha-beta table",
        "64 GB/s",
        lambda: 16 * catalog.PCIE[3].signalling,
        "agrees",
        f"PCIe 5 x16 one way, before line coding; {catalog.H100.host.per_direction / GB:.1f} after",
    ),
    Row(
        "appendix/hdr-alpha",
        "appendix, alpha-beta table",
        "7 us",
        lambda: catalog.HDR_APPENDIX.alpha,
        "assumed",
        "a registry value; the first fallacy uses 1.5 us for the same port",
    ),
    Row(
        "appendix/tcp-alpha",
        "appendix, alpha-beta table",
        "50 us",
        None,
        "assumed",
        "kernel TCP; a registry value, unsourced",
    ),
    Row(
        "appendix/range-ndr",
        "registry 0.3.0, ranges",
        "1-3 us",
        lambda: NDR.alpha,
        "conflicts",
        "start-up of NDR; the examples' 1.5 us is inside, the appendix's table has 5 us (E-05)",
        other="5 us",
    ),
    Row(
        "appendix/range-hdr",
        "registry 0.3.0, ranges",
        "2-5 us",
        None,
        "conflicts",
        "start-up of HDR; the appendix's table has 7 us, the first fallacy 1.5",
        other="7 us",
    ),
    Row(
        "appendix/range-roce",
        "registry 0.3.0, ranges",
        "5-10 us",
        lambda: ROCE_100G.alpha,
        "assumed",
        "start-up of RoCE: from the examples' 5 us to the appendix's 10",
    ),
    Row(
        "appendix/range-nvlink",
        "registry 0.3.0, ranges",
        "1-2 us",
        None,
        "assumed",
        "start-up of NVLink; the same registry's single value is 500 ns, the field guide has 1 us"
        " for an NVL72 (E-X6)",
    ),
    Row(
        "appendix/tcp-over-ndr",
        "fleet numbers",
        "10x",
        lambda: 50 * us / catalog.NDR_APPENDIX.alpha,
        "agrees",
        "50 us over 5 us",
    ),
    Row(
        "appendix/ring",
        "appendix, ring against tree",
        "42.4 ms",
        lambda: _appendix_ring(1 * GB),
        "agrees",
        "256 ranks, 1 GB, 5 us, 50 GB/s",
    ),
    Row(
        "appendix/tree",
        "appendix, ring against tree",
        "320.1 ms",
        lambda: collectives.tree_allreduce(1 * GB, 256, 5 * us, 50 * GB),
        "agrees",
        "the unpipelined tree, which NCCL's is not",
    ),
    Row(
        "appendix/ring-rule",
        "appendix, which algorithm when",
        "10x",
        lambda: _tree_from(256) / transport.crossover(5 * us, 50 * GB),
        "differs",
        f"the rule says ring above 10 n*; ring and tree cross at {_tree_from(256) / MB:.1f} MB = 35"
        f" n* for 256 ranks and at {_tree_from(1024) / MB:.1f} MB for 1,024: the boundary grows"
        " with N (E-27)",
    ),
    Row(
        "appendix/hierarchical",
        "appendix, hierarchical AllReduce",
        "8x",
        lambda: (
            collectives.ring_allreduce(0, 1024, 1.0, 1.0)
            / collectives.ring_allreduce(0, 1024 / 8, 1.0, 1.0)
        ),
        "agrees",
        "2(N-1) steps over 2(N/8-1): a ring of nodes is one eighth as long",
    ),
    Row(
        "appendix/topk-comm",
        "appendix, gradient compression",
        "3.2 ms",
        lambda: _appendix_ring(1 * GB / 64),
        "agrees",
        "the ring over 1 GB / 64",
    ),
    Row(
        "appendix/topk-total",
        "appendix, gradient compression",
        "5.2 ms",
        lambda: _appendix_ring(1 * GB / 64) + 2 * ms,
        "agrees",
        "with 2 ms of coding",
    ),
    Row(
        "appendix/topk-gain",
        "appendix, gradient compression",
        "8.2x",
        lambda: _appendix_ring(1 * GB) / (_appendix_ring(1 * GB / 64) + 2 * ms),
        "agrees",
    ),
    *[
        Row(
            f"appendix/break-even-{c}-{t}ms",
            "appendix, break-even table",
            says,
            lambda c=c, t=t: t * ms * (1 - 1 / c),
            "agrees",
            "t(1 - 1/C); leaves out the start-ups, which do not compress",
        )
        for c, prints in (
            (4, ("7.5 ms", "30 ms", "75 ms")),
            (16, ("9.4 ms", "37.5 ms", "93.8 ms")),
            (64, ("9.8 ms", "39.4 ms", "98.4 ms")),
            (256, ("9.96 ms", "39.8 ms", "99.6 ms")),
        )
        for t, says in zip((10, 40, 100), prints)
    ],
    *[
        Row(
            f"appendix/bubble-{p}-{m}",
            "appendix, pipeline bubble",
            says,
            lambda p=p, m=m: (p - 1) / (p - 1 + m),
            "agrees",
            "(p-1)/(p-1+m)",
        )
        for p, prints in (
            (4, ("27.3 %", "15.8 %", "8.6 %", "4.5 %")),
            (8, ("46.7 %", "30.4 %", "17.9 %", "9.9 %")),
        )
        for m, says in zip((8, 16, 32, 64), prints)
    ],
    Row(
        "appendix/interleaving",
        "appendix, pipeline bubble",
        "9.9 %",
        lambda: 7 / (7 + 4 * 16),
        "agrees",
        "8 stages, 16 micro-batches, 4 interleaved: (p-1)/(p-1+Vm)",
    ),
    Row(
        "appendix/interleaving-gain",
        "appendix, pipeline bubble",
        "3.1x",
        lambda: (7 / 23) / (7 / 71),
        "agrees",
    ),
    Row(
        "appendix/failures-8192-hour",
        "appendix, failures",
        "0.16",
        lambda: 8192 / 50_000,
        "agrees",
        "per hour: N / MTTF",
    ),
    Row(
        "appendix/failures-8192-day",
        "appendix, failures",
        "3.9",
        lambda: 8192 * 24 / 50_000,
        "agrees",
        "per day",
    ),
    Row(
        "appendix/failures-100k-day",
        "appendix, failures",
        "48",
        lambda: 100_000 * 24 / 50_000,
        "agrees",
        "per day",
    ),
    Row(
        "appendix/other-parts",
        "appendix, failures",
        "doubles",
        lambda: (
            MTTF["gpu"] / 8 / reliability.system_mttf(list(MTTF.values()), list(IN_A_NODE.values()))
        ),
        "differs",
        "with a node's 8 NICs, 2 power supplies, a PCIe switch and 8 HBM stacks at the MTTF it"
        " lists, all parts fail 1.74 times as often as the GPUs alone, cables left out",
        between=(1.95, 2.05),
    ),
    Row(
        "appendix/allreduce-70B",
        "appendix, quick estimates",
        "5.6 s",
        lambda: 2 * 70e9 * 2.0 / NDR.beta,
        "agrees",
        "2 M/beta with M = 140 GB",
    ),
    Row(
        "appendix/wan",
        "appendix, quick estimates",
        "25 ms",
        lambda: 5000e3 / 2e8,
        "conflicts",
        "5,000 km of fibre at 200,000 km/s; the fleet table prints 40 ms for a link between data"
        " centres",
        other="40 ms",
    ),
    Row(
        "appendix/mttf-gpu",
        "appendix, failures",
        "50000 h",
        None,
        "assumed",
        "a registry value; Llama 3's 419 interruptions on 16,384 GPUs in 54 days are one per 50,677"
        " GPU-hours, all causes together",
    ),
    *[
        Row(
            f"appendix/mttf-{name}",
            "appendix, failures",
            f"{mttf} h",
            None,
            "assumed",
            f"{what}, a registry value: about {count * 365 * day / hour / mttf:.0f} a year of"
            f" {count:,} in the running cluster{extra}",
        )
        for name, mttf, what, count, extra in (
            ("nic", MTTF["nic"], "a network adapter", 1024, ""),
            ("psu", MTTF["psu"], "a power supply", 256, ""),
            ("pcie", MTTF["pcie"], "a PCIe switch", 128, ""),
            ("hbm", MTTF["hbm"], "a GPU's memory", 1024, ""),
            ("tor", 300_000, "a rack's switch", 32, ", each time with 32 GPUs"),
            (
                "cable",
                50_000,
                "a cable with its transceivers",
                int(link.tree_links(1024, 2)),
                ", twice the GPUs' own. Napkin Math 1.5 has 2.4 million hours a transceiver (E-22)",
            ),
        )
    ],
    Row(
        "appendix/hop",
        "fabric constants",
        "0.6 us",
        None,
        "assumed",
        "per switch traversal; a registry value",
    ),
    Row(
        "appendix/fec",
        "fabric constants",
        "100-200 ns",
        None,
        "assumed",
        "per hop; a registry value: `link` gives the time a codeword takes to fill, which bounds it"
        " below",
    ),
    Row(
        "appendix/ndr-port",
        "fabric constants",
        "400 Gb/s",
        lambda: NDR.beta,
        "assumed",
        "InfiniBand NDR: 4 lanes of 100 Gb/s, as the trade association's roadmap has it",
    ),
    Row(
        "appendix/h100-peak",
        "Napkin Math 1.2",
        "989 TFLOP/s",
        lambda: catalog.H100_PEAK_FP16,
        "assumed",
        "NVIDIA's H100 SXM data sheet, dense FP16",
    ),
]
