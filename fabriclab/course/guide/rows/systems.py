"""Rows of the field guide: the systems named."""

from fabriclab import catalog, nccl, topology
from fabriclab.course.engine.ledger import Row
from fabriclab.units import GB, MW, GiB, us

ROWS = [
    # domestic
    Row(
        "guide-domestic/latency",
        "field guide, domestic networks",
        "microseconds",
        None,
        "assumed",
        "end to end; below 1 us on UnifiedBus by its maker, and no outside measurement found",
        between=(1 * us, 10 * us),
    ),
    Row(
        "guide-domestic/cards",
        "field guide, domestic networks",
        "10,000",
        None,
        "assumed",
        "a cluster of so many cards in service: unverified. Over 300 supernodes of 384 were"
        f" deployed by September 2025, {300 * catalog.CLOUDMATRIX_384.accelerators:,} chips in all",
    ),
    Row(
        "guide-domestic/modules",
        "field guide, domestic networks",
        "800 Gb/s",
        None,
        "assumed",
        "optical modules, which the guide lists under RDMA NICs; their maker makes no NICs",
    ),
    # systems
    Row(
        "guide-systems/colossus",
        "field guide, xAI Colossus",
        "100,000",
        lambda: catalog.system("xAI Colossus").accelerators,
        "agrees",
        "H100; on Spectrum-X Ethernet, not InfiniBand (E-B2)",
    ),
    Row(
        "guide-systems/colossus-port",
        "field guide, xAI Colossus",
        "400 Gb/s",
        lambda: catalog.system("xAI Colossus").port,
        "agrees",
        "a GPU, as 400GbE",
    ),
    Row(
        "guide-systems/colossus-cooling",
        "field guide, xAI Colossus",
        "100 %",
        None,
        "assumed",
        "cooled by liquid; no source at hand gives a share",
    ),
    Row(
        "guide-systems/year",
        "field guide, xAI Colossus; Meta 24K",
        "2024",
        None,
        "assumed",
        "Meta's clusters were announced in March, Colossus by NVIDIA on 28 October",
    ),
    Row(
        "guide-systems/colossus-power",
        "field guide, xAI Colossus",
        "150 MW",
        lambda: 100_000 * catalog.DGX_H100_POWER / 8 * 1.18,
        "assumed",
        f"{catalog.COLOSSUS_POWER / 1e5:,.0f} W a GPU; GPUs alone"
        f" {100_000 * catalog.H100.tdp / MW:.0f} MW, whole DGX nodes"
        f" {100_000 * catalog.DGX_H100_POWER / 8 / MW:.1f}, which a PUE of 1.18 brings to 150",
    ),
    Row(
        "guide-systems/meta",
        "field guide, Meta 24K",
        "24,576",
        lambda: catalog.system("Meta 24K, RoCE").accelerators,
        "agrees",
        "H100, 3,072 nodes of 8; there are two such clusters, one on InfiniBand (E-B3, E-X1)",
    ),
    Row(
        "guide-systems/meta-tiers",
        "field guide, Meta 24K",
        "3",
        lambda: len(topology.meta_24k().switches),
        "agrees",
        "tiers of switches",
    ),
    Row(
        "guide-systems/meta-taper",
        "field guide, Meta 24K",
        "no oversubscription",
        lambda: 192 / 28,
        "differs",
        "无收敛, 1:1; above its pods of 3,072 it is 1:7,"
        f" {catalog.link_rate('400GbE').per_direction / 7 / GB:.1f} GB/s a GPU between pods, and"
        " the rack switches are Minipack2 (E-B3)",
        between=(1, 1),
    ),
    Row(
        "guide-systems/tpu",
        "field guide, Google TPU",
        "3",
        None,
        "assumed",
        "dimensions of a v5p pod's torus, 8,960 chips; Trillium's pod of 256 has two",
    ),
    # NCCL
    Row(
        "guide-nccl/gid",
        "field guide, NCCL tuning",
        "3",
        None,
        "assumed",
        "NCCL_IB_GID_INDEX: the entry where RoCE v2 usually stands; from 2.21 on NCCL finds it by"
        " itself",
    ),
    Row(
        "guide-nccl/begin",
        "field guide, all_reduce_perf",
        "1 GiB",
        lambda: GiB,
        "agrees",
        "written 1G, which nccl-tests takes as a power of two",
    ),
    Row(
        "guide-nccl/end",
        "field guide, all_reduce_perf",
        "16 GiB",
        lambda: GiB * 2.0**4,
        "agrees",
        "written 16G; with -f 2 that is five sizes: 1, 2, 4, 8, 16 GiB, none small enough to show a"
        " start-up",
    ),
    Row(
        "guide-nccl/factor",
        "field guide, all_reduce_perf",
        "2",
        None,
        "assumed",
        "-f, from a size to the next; a sweep that finds n* begins at 8 bytes: with the same factor"
        " 32 sizes up to 16 GiB",
    ),
    Row(
        "guide-nccl/gpus",
        "field guide, all_reduce_perf",
        "8",
        lambda: nccl.DGX_H100.gpus,
        "agrees",
        "GPUs of one process, hence one node: no network is measured",
    ),
    Row(
        "guide-roce/operations",
        "field guide, ECN",
        "10x",
        None,
        "assumed",
        "harder to run than a data centre; an opinion",
    ),
]
