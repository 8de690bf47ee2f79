"""Rows of level 2: RDMA and delivery."""

from fabriclab import catalog, collectives, topology, transport
from fabriclab.catalog import NDR
from fabriclab.course.engine.ledger import Row
from fabriclab.course.transport.rows.common import RANKS
from fabriclab.units import GB, MB, PB, TB, KiB, us

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
]
