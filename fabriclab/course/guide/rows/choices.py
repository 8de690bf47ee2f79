"""Rows of the field guide: choices of technology."""

from fabriclab import catalog, nccl, topology
from fabriclab.course.engine.ledger import Row
from fabriclab.course.guide.rows.common import HBM, NETWORK, NODE, RACK, WIDE, _rate
from fabriclab.units import GB


def _lost(above, below):
    return catalog.step_between(above, below, "bandwidth")


def _gained(above, below):
    return catalog.step_between(above, below, "latency")


def _between(factors):
    least, most = factors
    return f"{least:,.1f} to {most:,.1f}" if most < 100 else f"{least:,.0f} to {most:,.0f}"


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
]
