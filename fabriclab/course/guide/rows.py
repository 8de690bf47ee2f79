"""The field guide on all but scale-up: its tiers, InfiniBand and RoCE, rails, the systems it names,
NCCL, failures, adapters, its numbers.
"""

from fabriclab import catalog, link, nccl, reliability, scaleup, topology
from fabriclab.course.engine.ledger import Row
from fabriclab.units import GB, MB, MW, TB, Gbps, GiB, day, hour, minute, ms, us

HBM, NODE, RACK, NETWORK, WIDE = catalog.TIERS
BAD_DAY = catalog.HUNDRED_THOUSAND
LLAMA = catalog.LLAMA3
NVIDIA_MTTF = 50_000 * hour  # of a GPU: the chapter's appendix
SAVING = (30, 60, 120)  # seconds a checkpoint
EIGHT_PORTS = nccl.settings({})


def _behind_gen5(port):
    return scaleup.behind_host(port, scaleup.pcie_rate(5))


def _adapter(number):
    return next(adapter for adapter in catalog.CONNECTX if adapter.name == f"ConnectX-{number}")


def _lost(above, below):
    return catalog.step_between(above, below, "bandwidth")


def _gained(above, below):
    return catalog.step_between(above, below, "latency")


def _between(factors):
    least, most = factors
    return f"{least:,.1f} to {most:,.1f}" if most < 100 else f"{least:,.0f} to {most:,.0f}"


def _apart(share=1.0):
    """Seconds between failures of the guide's 100,000 GPUs, or of a share of them, at the middle of
    its counts.
    """
    return day / ((BAD_DAY.least + BAD_DAY.most) / 2 * share)


def _young(share=1.0):
    return ", ".join(
        f"{reliability.young_interval(cost, _apart(share)) / minute:.1f}" for cost in SAVING
    )


def _free(a_day):
    return reliability.failure_free(a_day / day, 1, hour)


def _daily():
    """The chance of a GPU to fail within a day."""
    return BAD_DAY.gpu / BAD_DAY.gpus


def _ten_thousand(size):
    """An AllReduce of `size` bytes on 10,000 H100."""
    return nccl.allreduce_time(size, 1250, EIGHT_PORTS)


def _host_generation(accelerator):
    return float(accelerator.host.name.split()[1])


def _rate(name):
    return lambda: catalog.link_rate(name).per_direction


def _pod_path(nodes):
    """Switches between GPU 0 of the first and of another of the first `nodes` nodes of a SuperPOD,
    at most.
    """
    return topology.paths(topology.superpod_h100(4), range(0, 8 * nodes, 8)).switches_on_path.worst


ROWS = [
    # tiers
    Row(
        "tiers/bandwidth",
        "field guide, opening",
        "5-10 x",
        lambda: _lost(HBM, NODE)[0],
        "differs",
        f"bandwidth lost a tier. Its own table: HBM to NVLink {_between(_lost(HBM, NODE))}, NVLink"
        f" to the rack none, to InfiniBand {_between(_lost(RACK, NETWORK))}; 9 one way for an H100"
        " (E-B1, E-X5)",
    ),
    Row(
        "tiers/latency",
        "field guide, opening",
        "5-10 x",
        lambda: _gained(NODE, RACK)[0],
        "differs",
        f"latency gained a tier. Its own table: from node to rack {_gained(NODE, RACK)[0]:.2f}, to"
        f" InfiniBand {_between(_gained(RACK, NETWORK))}; and to the wide area, which the opening"
        f" leaves out, {_between(_gained(NETWORK, WIDE))} (E-B1)",
    ),
    Row(
        "tiers/domain",
        "field guide, opening",
        "72-576",
        lambda: catalog.NVL72.packages,
        "assumed",
        "GPUs tightly coupled; elsewhere in the same text 8-1,024 accelerators and 10-1,000 nodes",
    ),
    # why not TCP
    Row(
        "tcp/latency",
        "field guide, Ethernet and TCP",
        "5-50 us",
        lambda: catalog.TCP.alpha,
        "assumed",
        "the chapter has 10-20 us (figure 7), tens of us, and 50 us in its appendix (E-18)",
    ),
    Row(
        "tcp/collectives",
        "field guide, Ethernet and TCP",
        "thousands",
        lambda: 4 * 96 * 8,
        "assumed",
        "collectives a step, and more: tensor parallelism has four AllReduces a layer and"
        " micro-batch (Shoeybi et al. 2019); GPT-3's 96 layers and 8 micro-batches make 3,072",
        between=(1000, 99_999),
    ),
    # InfiniBand and RoCE
    Row(
        "guide-ib/since",
        "field guide, InfiniBand",
        "2000",
        None,
        "assumed",
        "year; the first specification is of October 2000, the first clusters of 2003",
    ),
    Row(
        "guide-ib/rack",
        "field guide, InfiniBand",
        "1-2 us",
        lambda: catalog.NDR.alpha,
        "assumed",
        "inside a machine, it says; the chapter models 1.5 us for a whole path",
    ),
    Row(
        "guide-ib/across",
        "field guide, InfiniBand",
        "3-5 us",
        lambda: catalog.NDR_APPENDIX.alpha,
        "assumed",
        "across racks; the chapter's appendix has 5 us, its examples 1.5 (E-05)",
    ),
    *[
        Row(
            f"guide-ib/{name.lower()}",
            "field guide, generations",
            f"{rate} Gb/s",
            _rate(name),
            "agrees",
            "four lanes, one way",
        )
        for name, rate in (("EDR", 100), ("HDR", 200), ("NDR", 400), ("XDR", 800))
    ],
    Row(
        "guide-ib/mellanox",
        "field guide, InfiniBand",
        "2019",
        None,
        "assumed",
        "announced in March 2019, closed in April 2020",
    ),
    Row(
        "guide-roce/price",
        "field guide, RoCE v2",
        "30-40 %",
        None,
        "assumed",
        "cheaper than InfiniBand; no source and no outside figure found",
    ),
    Row(
        "guide-roce/gap",
        "field guide, RoCE v2",
        "1.5-2 us",
        lambda: catalog.ROCE_100G.alpha - catalog.NDR.alpha,
        "conflicts",
        "slower than InfiniBand; the chapter models 5 and 1.5 us, its appendix 10 and 5 (E-X2)",
        other="3.5 us",
    ),
    Row(
        "guide-roce/ports",
        "field guide, RoCE v2",
        "100-400 Gb/s",
        lambda: catalog.link_rate("400GbE").per_direction,
        "agrees",
        f"Ethernet; since {catalog.link_rate('800GbE').year} also 800",
    ),
    Row(
        "guide-roce/either",
        "field guide, IB or RoCE",
        "1,000",
        None,
        "assumed",
        "cards up to which either will do; an opinion",
    ),
    Row(
        "guide-roce/large",
        "field guide, IB or RoCE",
        "10,000",
        None,
        "assumed",
        "cards from which InfiniBand is said to be steadier; Colossus and Meta run RDMA over"
        " Ethernet at 24,576 and 100,000 (E-B2)",
    ),
    # rails
    Row(
        "guide-rails/adapters",
        "field guide, plain fat-tree",
        "1-2",
        None,
        "assumed",
        "a node, for eight GPUs; the DGX-1 with V100 had four already, DGX A100 and H100 have one"
        " a GPU",
    ),
    Row(
        "guide-rails/shared",
        "field guide, plain fat-tree",
        "400 Gb/s",
        _rate("NDR"),
        "agrees",
        f"one port for eight GPUs, {catalog.link_rate('NDR').per_direction / 8 / GB:.3g} GB/s each",
    ),
    Row(
        "guide-rails/rails",
        "field guide, rails",
        "8",
        lambda: len(nccl.DGX_H100.hcas),
        "agrees",
        "one a GPU of the node",
    ),
    Row(
        "guide-rails/one-hop",
        "field guide, rails",
        "1",
        lambda: _pod_path(32),
        "agrees",
        f"switch between nodes of one scalable unit; {_pod_path(64):.0f} between units, rail"
        " or not",
    ),
    Row(
        "guide-superpod/nodes",
        "field guide, SuperPOD",
        "32",
        lambda: topology.one_hop_nodes(catalog.QM9700.ports),
        "agrees",
        "nodes a scalable unit: half of a leaf's ports",
    ),
    Row(
        "guide-superpod/gpus",
        "field guide, SuperPOD",
        "1,024",
        lambda: topology.superpod_b200(4).hosts,
        "agrees",
        "GPUs, 4 x 256; the H100 system gives one node up and has"
        f" {topology.superpod_h100(4).hosts:,} (E-X7)",
    ),
    Row(
        "guide-superpod/ports",
        "field guide, SuperPOD",
        "64",
        lambda: catalog.QM9700.ports,
        "agrees",
        "NDR ports of a QM9700",
    ),
    Row(
        "guide-superpod/storage",
        "field guide, SuperPOD",
        "1-2",
        None,
        "assumed",
        "further ports of 200 Gb/s a node for storage and management; a DGX H100 has two more"
        " ConnectX-7",
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
    # failures
    Row(
        "failures/gpu",
        "field guide, failures",
        "about 50",
        lambda: reliability.expected_failures(
            reliability.rate_from_mttf(NVIDIA_MTTF), BAD_DAY.gpus, day
        ),
        "agrees",
        f"a day of 100,000 GPUs: {1e6 * _daily():.0f} ppm a day, an MTTF of"
        f" {day / _daily() / hour:,.0f} h, {365 * 100 * _daily():.2f} % a year; the appendix's"
        " 50,000 h give 48",
        between=(45, 55),
    ),
    Row(
        "failures/ppm",
        "field guide, failures",
        "a few ppm",
        _daily,
        "differs",
        "a day and GPU: 50 of 100,000 are 500 (E-B10)",
        between=(1e-6, 1e-5),
    ),
    Row(
        "failures/formula",
        "field guide, failures",
        "about 50",
        lambda: 5e-6 * 10_000 * 365,
        "differs",
        "5 ppm x 10,000 x 365, its formula, are 18, and a year's failures of a tenth of the GPUs"
        " (E-B10)",
        between=(45, 55),
    ),
    Row(
        "failures/flaps",
        "field guide, failures",
        "5-10",
        None,
        "assumed",
        "link flaps a day of 100,000 GPUs",
    ),
    Row(
        "failures/power",
        "field guide, failures",
        "about 10",
        None,
        "assumed",
        f"power supplies and fans a day; with the others {BAD_DAY.least:.0f} to {BAD_DAY.most:.0f},"
        f" one in {day / BAD_DAY.most / minute:.1f} to {day / BAD_DAY.least / minute:.1f} min."
        f" Llama 3 had {LLAMA.interruptions} unexpected interruptions on {LLAMA.gpus:,} GPUs in"
        f" 54 days: {LLAMA.interruptions / 54 / LLAMA.gpus * 1e5:.0f} a day of 100,000,"
        f" {LLAMA.by_gpu / 54 / LLAMA.gpus * 1e5:.0f} of them GPUs",
    ),
    Row(
        "failures/checkpoint",
        "field guide, failures",
        "1 h",
        lambda: reliability.young_interval(60, _apart()),
        "differs",
        f"often enough, it says; but only {100 * _free(BAD_DAY.most):.1f} to"
        f" {100 * _free(BAD_DAY.least):.1f} % of hours pass without a failure. Least is lost at"
        f" every {_young()} min for checkpoints of 30, 60, 120 s (E-B11); on 10,000 GPUs at every"
        f" {_young(0.1)} min",
    ),
    Row(
        "failures/ten-thousand",
        "field guide, summary",
        "tens",
        lambda: (BAD_DAY.least + BAD_DAY.most) / 2 / 10,
        "differs",
        f"failures a day of 10,000 cards: the list is for 100,000, so {BAD_DAY.least / 10:.1f} to"
        f" {BAD_DAY.most / 10:.1f} (E-B10)",
        between=(20, 99),
    ),
    # adapters
    *[
        Row(
            f"adapters/connectx-{n}",
            "field guide, generations of NICs",
            f"{rate} Gb/s",
            lambda n=n: _adapter(n).port.per_direction,
            "agrees",
            "a port, one way",
        )
        for n, rate in ((5, 100), (6, 200), (7, 400), (8, 800))
    ],
    *[
        Row(
            f"adapters/connectx-{n}-year",
            "field guide, generations of NICs",
            str(_adapter(n).year_in_text),
            None,
            "assumed",
            f"announced in {_adapter(n).announced}; shipped later, by a date that no source at hand"
            " gives",
        )
        for n in (5, 6, 7)
    ],
    Row(
        "adapters/connectx-8-year",
        "field guide, generations of NICs",
        "2024",
        None,
        "assumed",
        "announced in March 2024",
    ),
    Row(
        "host/pcie5",
        "field guide, why 800G does not help",
        "64 GB/s",
        lambda: scaleup.pcie_rate(5, coded=False),
        "agrees",
        f"one way, before coding; {scaleup.pcie_rate(5) / GB:.1f} after 128b/130b. Elsewhere the"
        " same link is 128, both ways",
    ),
    Row(
        "host/pcie5-bits",
        "field guide, why 800G does not help",
        "512 Gb/s",
        lambda: scaleup.pcie_rate(5, coded=False),
        "agrees",
    ),
    Row(
        "host/doubles",
        "field guide, why 800G does not help",
        "doubles",
        lambda: catalog.link_rate("XDR").per_direction / catalog.link_rate("NDR").per_direction,
        "agrees",
        "InfiniBand's bandwidth a generation, from EDR on; PCIe 3 to 6 doubled too, after 7, 2 and"
        " 3 years",
        between=(2, 2),
    ),
    Row(
        "host/400",
        "field guide, why 800G does not help",
        "near the limit",
        lambda: 400 * Gbps / scaleup.pcie_rate(5, coded=False),
        "agrees",
        f"of PCIe 5 x16; {100 * 400 * Gbps / scaleup.payload_rate(5):.0f} % of what packets of 256"
        " bytes leave of it",
        between=(0.75, 1),
    ),
    Row(
        "host/800",
        "field guide, why 800G does not help",
        "more than it carries",
        lambda: 800 * Gbps / scaleup.pcie_rate(5, coded=False),
        "agrees",
        "800G behind PCIe 5 cannot be filled: it gains"
        f" {_behind_gen5(800 * Gbps) / _behind_gen5(400 * Gbps):.2f}"
        " times over 400G, not 2",
        between=(1, 100),
    ),
    Row(
        "host/b200",
        "field guide, why 800G does not help",
        "6",
        lambda: _host_generation(catalog.B200),
        "differs",
        "generation of PCIe a B200 was designed with; its host link is PCIe 5, as the chapter's"
        " figure 3 has it (E-B12, E-X4)",
    ),
    Row(
        "host/b200-nvlink",
        "field guide, why 800G does not help",
        "5",
        lambda: float(catalog.B200.nvlink.name.split()[1]),
        "agrees",
        "generation of NVLink of a B200",
    ),
    # the last table
    Row(
        "stack/shared",
        "field guide, last table",
        "TB/s",
        lambda: 132 * 128 * 1.8e9,
        "assumed",
        "shared memory: 128 bytes a clock an SM (CUDA C++ Programming Guide), 0.23 TB/s each at 1.8"
        " GHz; an H100's 132 together 30",
        between=(1 * TB, 999 * TB),
    ),
    Row(
        "stack/hbm",
        "field guide, last table",
        "3-8 TB/s",
        lambda: catalog.H100.hbm,
        "agrees",
        f"an H100's; a B200 has {catalog.B200.hbm / TB:.0f} TB/s",
    ),
    Row(
        "stack/nvlink",
        "field guide, last table",
        "1.8 TB/s",
        lambda: catalog.B200.nvlink.both_directions,
        "agrees",
        "NVLink 5 in both directions; 0.9 one way (E-X5)",
    ),
    Row(
        "stack/nvlink-latency",
        "field guide, last table",
        "700 ns",
        lambda: catalog.NVLINK4.alpha,
        "conflicts",
        "the chapter's appendix has 500 ns; NVIDIA prints neither (E-X6)",
        other="500 ns",
    ),
    Row(
        "stack/nvl72",
        "field guide, last table",
        "72",
        lambda: catalog.NVL72.packages,
        "agrees",
        "GPUs",
    ),
    Row(
        "stack/nvl72-latency",
        "field guide, last table",
        "1 us",
        lambda: catalog.NVL72.latency,
        "assumed",
        "no other source (E-X6)",
    ),
    Row("stack/network", "field guide, last table", "400-800 Gb/s", _rate("NDR"), "agrees"),
    Row(
        "stack/network-latency",
        "field guide, last table",
        "3-5 us",
        lambda: NETWORK.latency[1],
        "assumed",
        "the chapter's examples have 1.5 us (E-05)",
    ),
    Row(
        "stack/wide",
        "field guide, last table",
        "10-100 ms",
        lambda: link.propagation_delay(2e6),
        "assumed",
        "fibre alone takes 10 ms for 2,000 km one way, and 100 ms half round the globe",
    ),
    # numbers from experience
    Row(
        "numbers/nvlink",
        "field guide, numbers from experience",
        "1,500 GB/s",
        lambda: catalog.H100_BUSBW[1],
        "differs",
        "busbw of a node of H100: a ring has at most one direction of NVLink 4,"
        f" {catalog.H100.nvlink.per_direction / GB:.0f}; with the switches adding up 480 was"
        f" measured, and {catalog.H100.nvlink.per_direction * 1.75 / GB:.0f} is the ideal (E-B13)",
    ),
    Row(
        "numbers/ib",
        "field guide, numbers from experience",
        "about 360 GB/s",
        lambda: catalog.H100_BUSBW[4],
        "agrees",
        f"busbw across nodes, 8 x 400G; {100 * 360 * GB / nccl.network_bandwidth(EIGHT_PORTS):.0f}"
        f" % of {nccl.network_bandwidth(EIGHT_PORTS) / GB:.0f}. Measured on four nodes",
        between=(350 * GB, 370 * GB),
    ),
    Row(
        "numbers/roce",
        "field guide, numbers from experience",
        "340 GB/s",
        None,
        "assumed",
        f"with PFC in order; {100 * 340 / 360:.0f} % of its InfiniBand,"
        f" {100 * 340 * GB / nccl.network_bandwidth(EIGHT_PORTS):.0f} % of the ports",
    ),
    Row(
        "numbers/ten-thousand",
        "field guide, numbers from experience",
        "1-3 ms",
        lambda: _ten_thousand(360 * MB),
        "assumed",
        "AllReduce of 10,000 GPUs, by gradient size, of which it names none; here 360 MB. 1 MB"
        f" takes {_ten_thousand(1 * MB) / us:.0f} us, 6 GB {_ten_thousand(6 * GB) / ms:.0f} ms, and"
        f" 140 GB of gradients {_ten_thousand(140 * GB) / ms:.0f} ms over all eight ports of a"
        f" node, {_ten_thousand(140 * GB) / ms * 8 / 1000:.1f} s over one: 1-3 ms are a bucket, not"
        " a gradient",
    ),
    Row(
        "numbers/pcie5",
        "field guide, numbers from experience",
        "50-60 GB/s",
        lambda: scaleup.payload_rate(5),
        "agrees",
        "end to end; what packets of 256 bytes leave, acknowledgements not counted",
    ),
    Row(
        "numbers/pcie5-most",
        "field guide, numbers from experience",
        "64 GB/s",
        lambda: scaleup.pcie_rate(5, coded=False),
        "agrees",
        "in theory, one way",
    ),
    Row(
        "numbers/connectx-7",
        "field guide, numbers from experience",
        "50 GB/s",
        lambda: _adapter(7).port.per_direction,
        "agrees",
        "a port of 400 Gb/s, one way",
    ),
    Row(
        "guide/written",
        "field guide, colophon",
        "2026",
        None,
        "assumed",
        "year, 15 June, from slides of OCP and from SemiAnalysis",
    ),
]
