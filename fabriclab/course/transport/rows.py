"""Level 2: transport, the alpha-beta model, AllReduce thresholds, and the appendices the chapter
leans on for them.
"""

from fabriclab import catalog, collectives, link, reliability, topology, transport
from fabriclab.catalog import HDR, NDR, ROCE_100G
from fabriclab.course.engine.ledger import Row
from fabriclab.units import GB, KB, MB, PB, TB, KiB, day, hour, ms, us

RANKS = 1024
COMPUTE = 5e13 / (
    catalog.H100_PEAK_FP16 * 0.5
)  # Napkin Math 1.2: FLOP per step over peak times utilisation

MTTF = {
    "gpu": 50_000,
    "nic": 150_000,
    "psu": 100_000,
    "pcie": 200_000,
    "hbm": 200_000,
}  # hours, the appendix
IN_A_NODE = {"gpu": 8, "nic": 8, "psu": 2, "pcie": 1, "hbm": 8}


def _time(size, path):
    return transport.transfer_time(size, path.alpha, path.beta)


def _ring(size, path=NDR, ranks=RANKS):
    return collectives.ring_allreduce(size, ranks, path.alpha, path.beta)


def _tree_from(ranks, alpha=5 * us, beta=50 * GB):
    """Bytes below which the unpipelined tree beats the ring: their two costs set equal."""
    levels = collectives.tree_allreduce(0, ranks, 1.0, 1.0) / 2
    return 2 * (ranks - 1 - levels) * alpha * beta / (2 * levels - 2 * (ranks - 1) / ranks)


def _appendix_ring(size):
    return collectives.ring_allreduce(size, 256, 5 * us, 50 * GB)


ROWS = [
    # RDMA, GPUDirect
    Row(
        "rdma/total-traffic",
        "Level 2, opening",
        "hundreds of TB",
        lambda: RANKS * collectives.bus_factor("all_reduce", RANKS) * 350 * GB,
        "agrees",
        "1,024 ranks x 2(N-1)/N x 350 GB = 716.1 TB sent in all; an older edition said terabytes",
        between=(100 * TB, 1 * PB),
    ),
    Row(
        "rdma/staging",
        "Definition 1.2",
        "700 GB",
        lambda: transport.staging_traffic(350 * GB),
        "agrees",
        "one write and one read of host RAM, for one participant",
    ),
    Row(
        "rdma/staging-older",
        "older edition, Definition 1.2",
        "700 GB",
        lambda: RANKS * transport.staging_traffic(350 * GB),
        "differs",
        "called the cluster's a step: 700 GB are one participant's, 1,024 of them 716.8 TB;"
        " corrected since",
    ),
    Row(
        "rdma/kernel",
        "Definition 1.2",
        "tens of us",
        lambda: catalog.TCP.alpha,
        "assumed",
        "by kernel TCP; figure 7 has 10-20 us, the fleet numbers 50, the quiz 50-100 (E-18)",
        between=(10 * us, 99 * us),
    ),
    Row(
        "rdma/offloaded",
        "Definition 1.2",
        "single-digit us",
        lambda: NDR.alpha,
        "agrees",
        "by RDMA: 1.5 us here, 5 in the appendix (E-05)",
        between=(1 * us, 9.9 * us),
    ),
    Row(
        "rdma/latency-gain",
        "older edition, Definition 1.2",
        "25-50x",
        lambda: 50 * us / (2 * us),
        "agrees",
        "50-100 us to 1-2 us; 50/2 = 25 and 100/2 = 50",
    ),
    Row(
        "rdma/tcp-latency",
        "Figure 7, kernel TCP",
        "10-20 us",
        None,
        "conflicts",
        "the quiz of an older edition prints 50-100 us for the same path; measured values span"
        " both: the load and the stack decide (E-18)",
        other="50-100 us",
    ),
    Row(
        "rdma/figure-7",
        "Figure 7, RDMA",
        "1-3 us",
        lambda: NDR.alpha,
        "assumed",
        "the modelled start-up of the NDR path, 1.5 us, lies inside; against 10-20 us that is 3.3"
        " to 20 times less",
    ),
    Row(
        "rdma/copies",
        "Figure 7, kernel TCP",
        "2-3",
        None,
        "assumed",
        "copies by the CPU; each is a read and a write of host memory, so a line of 50 GB/s asks"
        " 200 to 300 GB/s of it",
    ),
    Row(
        "rdma/zero-copies",
        "Figure 7, RDMA; field guide, RDMA",
        "0",
        None,
        "assumed",
        "copies by the CPU. Without GPUDirect the data still pass through host memory twice, as"
        " Definition 1.2 counts",
    ),
    Row(
        "rdma/gpudirect",
        "Level 2, footnote 4",
        "5.0",
        None,
        "assumed",
        "of CUDA, with Kepler GPUs; an older edition has the year 2013",
    ),
    Row(
        "rdma/infiniband-origin",
        "Level 2, footnote 5",
        "1999",
        None,
        "assumed",
        "the year Future I/O and NGIO merged; a fact, not a calculation",
    ),
    # loss recovery
    Row(
        "recovery/message",
        "Reliable delivery and loss recovery",
        "1 GB",
        None,
        "assumed",
        f"an input: {1000 * MB / (4 * KiB):,.0f} packets of 4,096 bytes, of which one is lost",
    ),
    Row(
        "recovery/offset",
        "Reliable delivery and loss recovery",
        "900 MB",
        None,
        "assumed",
        "an input: where the packet is lost; in the translation, what is lost (E-T2)",
    ),
    Row(
        "recovery/tail-900MB",
        "Reliable delivery and loss recovery",
        "100 MB",
        lambda: transport.tail_go_back_n(1000 * MB, 900 * MB),
        "agrees",
        "one packet lost at offset 900 MB of 1 GB; the translation reads as if 900 MB were dropped"
        " (E-T2)",
    ),
    Row(
        "recovery/tail-950MB",
        "quiz on transport",
        "50 MB",
        lambda: transport.tail_go_back_n(1000 * MB, 950 * MB),
        "agrees",
    ),
    Row(
        "recovery/tail-950MB-time",
        "quiz on transport",
        "1 ms",
        lambda: transport.tail_go_back_n(1000 * MB, 950 * MB) / NDR.beta,
        "agrees",
    ),
    Row(
        "recovery/stall",
        "older edition, transport",
        "100-500 ms",
        None,
        "assumed",
        "no input is given; sending 100 MB again takes 100 MB / 50 GB/s = 2 ms, so a stall of 100"
        " ms and more must be a retransmission timeout",
    ),
    Row(
        "recovery/packets",
        "Reliable delivery and loss recovery",
        "far longer than a packet",
        lambda: transport.tail_go_back_n(1000 * MB, 900 * MB) / (4 * KiB),
        "agrees",
        f"100 MB are 2 ms at 400 Gb/s, a packet of 4,096 bytes {4 * KiB / NDR.beta * 1e9:.0f} ns:"
        " 24,414 of them",
        between=(100, 1e6),
    ),
    Row(
        "checkpoint-1.1/gpus",
        "Checkpoint 1.1",
        "2,048",
        lambda: topology.fat_tree(catalog.QM9700.ports, 2).hosts,
        "assumed",
        "an input, and just what two tiers of 64 ports hold; gigabytes of gradients lie more than"
        " 10,000 times above n*, control messages below it",
    ),
    # the model and Napkin Math 1.1
    Row(
        "alpha-beta/n-star-ndr",
        "The alpha-beta performance model",
        "75 KB",
        lambda: transport.crossover(NDR.alpha, NDR.beta),
        "agrees",
    ),
    Row(
        "alpha-beta/n-star-roce",
        "Figure 8",
        "62.5 KB",
        lambda: transport.crossover(ROCE_100G.alpha, ROCE_100G.beta),
        "agrees",
    ),
    Row(
        "alpha-beta/alpha-ndr",
        "Napkin Math 1.1",
        "1.5 us",
        lambda: NDR.alpha,
        "conflicts",
        "the appendix models the same port with 5 us, which moves n* from 75 to"
        f" {transport.crossover(5 * us, 50 * GB) / KB:.0f} KB; the monitoring section calls more"
        " than 5 us suspicious (E-05)",
        other="5 us",
    ),
    Row(
        "alpha-beta/alpha-roce",
        "Napkin Math 1.1",
        "5 us",
        lambda: ROCE_100G.alpha,
        "conflicts",
        "the appendix models the same port with 10 us (E-05)",
        other="10 us",
    ),
    Row(
        "alpha-beta/beta-roce",
        "Napkin Math 1.1; figure 8",
        "12.5 GB/s",
        lambda: catalog.link_rate("100GbE").per_direction,
        "agrees",
        "100 Gb/s beside NDR's 400: the fourfold is two generations of Ethernet, not the protocol;"
        " RoCE over 400GbE has NDR's bandwidth",
    ),
    Row(
        "alpha-beta/alpha-parts",
        "Napkin Math 1.1 against 1.4",
        "1.5 us",
        lambda: NDR.alpha,
        "conflicts",
        "three switch traversals at 0.6 us are 1.8 us: more than the whole start-up of a path that"
        " has them (E-06)",
        other="1.8 us",
    ),
    Row(
        "napkin-1.1/4KB",
        "Napkin Math 1.1",
        "4 KB",
        lambda: 4 * KiB,
        "assumed",
        "a control message, an input; one packet, for InfiniBand's largest MTU is 4,096 bytes",
    ),
    Row(
        "napkin-1.1/350MB",
        "Napkin Math 1.1",
        "350 MB",
        lambda: 350 * GB / 1000,
        "assumed",
        "an input, a thousandth of the gradient; a rank's chunk of the ring is"
        f" {350 * GB / RANKS / MB:.0f} MB, a layer of GPT-3's 96 is {350 / 96:.1f} GB",
    ),
    Row("napkin-1.1/4KB-ndr", "Napkin Math 1.1", "1.58 us", lambda: _time(4 * KB, NDR), "agrees"),
    Row(
        "napkin-1.1/4KB-ndr-transfer",
        "Napkin Math 1.1",
        "0.08 us",
        lambda: 4 * KB / NDR.beta,
        "agrees",
    ),
    Row(
        "napkin-1.1/4KB-roce",
        "Napkin Math 1.1",
        "5.32 us",
        lambda: _time(4 * KB, ROCE_100G),
        "agrees",
    ),
    Row(
        "napkin-1.1/4KB-roce-transfer",
        "Napkin Math 1.1",
        "0.32 us",
        lambda: 4 * KB / ROCE_100G.beta,
        "agrees",
    ),
    Row(
        "napkin-1.1/4KB-ratio",
        "Napkin Math 1.1",
        "3.4x",
        lambda: _time(4 * KB, ROCE_100G) / _time(4 * KB, NDR),
        "agrees",
    ),
    Row(
        "napkin-1.1/latency-gap",
        "older edition, beside figure 8",
        "5x",
        lambda: ROCE_100G.alpha / NDR.alpha,
        "differs",
        "5 us / 1.5 us = 3.33 (E-17)",
    ),
    Row(
        "napkin-1.1/350MB-ndr",
        "Napkin Math 1.1",
        "7.0 ms",
        lambda: _time(350 * MB, NDR),
        "agrees",
        "decimal MB: 350 MiB would take 7.34 ms",
    ),
    Row(
        "napkin-1.1/350MB-roce",
        "Napkin Math 1.1",
        "28.01 ms",
        lambda: _time(350 * MB, ROCE_100G),
        "agrees",
        "28.005 exactly, rounded up",
    ),
    Row(
        "napkin-1.1/350MB-ratio",
        "Napkin Math 1.1",
        "4x",
        lambda: _time(350 * MB, ROCE_100G) / _time(350 * MB, NDR),
        "agrees",
    ),
    Row(
        "napkin-1.1/100MB",
        "Napkin Math 1.1, older edition",
        "100 MB",
        None,
        "assumed",
        "of its solution, where its problem said 350 MB; corrected since",
    ),
    Row(
        "napkin-1.1/100MB-ndr",
        "Napkin Math 1.1, older edition",
        "2.00 ms",
        lambda: _time(100 * MB, NDR),
        "agrees",
        "start-up is 0.075 % of it",
    ),
    Row(
        "napkin-1.1/100MB-roce",
        "Napkin Math 1.1, older edition",
        "8.01 ms",
        lambda: _time(100 * MB, ROCE_100G),
        "agrees",
    ),
    Row(
        "napkin-1.1/4KB-bandwidth-share",
        "after Napkin Math 1.1",
        "5.1 %",
        lambda: 1 - transport.latency_share(4 * KB, NDR.alpha, NDR.beta),
        "agrees",
    ),
    Row(
        "napkin-1.1/4KB-twice-the-link",
        "after Napkin Math 1.1",
        "a negligible gain",
        lambda: 1 - transport.transfer_time(4 * KB, NDR.alpha, 2 * NDR.beta) / _time(4 * KB, NDR),
        "agrees",
        "twice the link saves 0.04 us of 1.58, 2.5 %",
        between=(0, 0.05),
    ),
    Row(
        "napkin-1.1/350MB-twice-the-link",
        "after Napkin Math 1.1",
        "half the time",
        lambda: transport.transfer_time(350 * MB, NDR.alpha, 2 * NDR.beta) / _time(350 * MB, NDR),
        "agrees",
        "start-up is 0.02 % of it",
        between=(0.495, 0.505),
    ),
    Row(
        "figure-8/axis",
        "Figure 8",
        "1 B-10 GB",
        None,
        "assumed",
        f"the width of the picture, from {NDR.alpha / us:g} and {ROCE_100G.alpha / us:g} us, all"
        f" start-up, to {_time(10 * GB, NDR):.1f} and {_time(10 * GB, ROCE_100G):.1f} s, none"
        " of it",
    ),
    Row(
        "figure-8/marker-ndr",
        "Figure 8",
        "3 us",
        lambda: _time(transport.crossover(NDR.alpha, NDR.beta), NDR),
        "agrees",
        "at n* the time is 2 alpha",
    ),
    Row(
        "figure-8/marker-roce",
        "Figure 8",
        "10 us",
        lambda: _time(transport.crossover(ROCE_100G.alpha, ROCE_100G.beta), ROCE_100G),
        "agrees",
    ),
    # Napkin Math 1.2
    Row(
        "napkin-1.2/work",
        "Napkin Math 1.2, English source",
        "5e13",
        lambda: 101 * ms * catalog.H100_PEAK_FP16 * 0.5,
        "agrees",
        "FLOP a step and GPU, back from the printed 101 ms; at 6 FLOP a parameter and token GPT-2"
        f" does {5e13 / 6 / 1.5e9:,.0f} tokens with them",
    ),
    Row(
        "napkin-1.2/work-earlier",
        "earlier edition, Napkin Math 1.2",
        "2e18",
        lambda: 101 * ms * catalog.H100_PEAK_FP16 * 0.5,
        "differs",
        f"FLOP a step: {2e18 / catalog.H100_PEAK_FP16 / 0.5 / 60:.0f} min of one H100 at 50 %, not"
        " 101 ms; corrected since",
    ),
    Row(
        "napkin-1.2/utilisation",
        "Napkin Math 1.2",
        "50 %",
        None,
        "assumed",
        "of the H100's peak, an input; Llama 3 reports 38 to 43 % on 8,192 to 16,384 GPUs",
    ),
    Row(
        "napkin-1.2/compute",
        "Napkin Math 1.2",
        "101 ms",
        lambda: COMPUTE,
        "agrees",
        "5e13 FLOP / (989 TFLOP/s x 50 %); the 5e13 is missing from the translation",
    ),
    Row(
        "napkin-1.2/payload",
        "Napkin Math 1.2",
        "6 GB",
        lambda: 1.5e9 * 4.0,
        "agrees",
        "GPT-2: 1.5 billion parameters of 4 bytes",
    ),
    Row("napkin-1.2/ring-6GB", "Napkin Math 1.2", "242.8 ms", lambda: _ring(6 * GB), "agrees"),
    Row(
        "napkin-1.2/fraction",
        "Napkin Math 1.2",
        "70.6 %",
        lambda: _ring(6 * GB) / (_ring(6 * GB) + COMPUTE),
        "agrees",
        "of a step in which nothing overlaps",
    ),
    Row(
        "napkin-1.2/parameters-70B",
        "Napkin Math 1.2",
        "70 billion",
        None,
        "assumed",
        f"an input; at FP32 they are {70 / 1.5:.0f} times GPT-2's, and so is the ring's time",
    ),
    Row(
        "napkin-1.2/payload-70B",
        "Napkin Math 1.2",
        "280 GB",
        lambda: 70e9 * 4.0,
        "agrees",
        "70 billion parameters of 4 bytes; 140 GB in BF16, as the appendix takes them",
    ),
    Row(
        "napkin-1.2/ring-280GB", "Napkin Math 1.2", "11192.1 ms", lambda: _ring(280 * GB), "agrees"
    ),
    Row(
        "napkin-1.2/dominance",
        "older edition, after Napkin Math 1.2",
        "more than 100x",
        lambda: _ring(280 * GB) / COMPUTE,
        "agrees",
        "11,192 ms over 101.1 ms",
        between=(100, 1000),
    ),
    Row(
        "napkin-1.2/dominance-earlier",
        "earlier edition, after Napkin Math 1.2",
        "3x",
        lambda: _ring(280 * GB) / COMPUTE,
        "differs",
        "11,192.1 ms / 101.1 ms = 110.7; corrected since",
    ),
    Row(
        "napkin-1.2/175B",
        "older edition, after Napkin Math 1.2",
        "2.5x",
        lambda: 175e9 / 70e9,
        "agrees",
        "parameters; the ring then takes 27.98 s in FP32, 13.99 s in FP16",
    ),
    Row(
        "napkin-1.2/fabric",
        "Napkin Math 1.2 against the cluster registry",
        "50 GB/s",
        lambda: NDR.beta,
        "conflicts",
        "the registry gives the running cluster HDR, 25 GB/s: its ring over 6 GB takes"
        f" {_ring(6 * GB, HDR) / ms:.1f} ms, not 242.8 (E-07)",
        other="25 GB/s",
    ),
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
