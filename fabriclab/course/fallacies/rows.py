"""Fallacies and pitfalls: a faster link and a short message, tapers, a test of the wrong thing,
waste that raises no alarm.
"""

from fabriclab import catalog, cluster, link, topology, transport
from fabriclab.course.engine.ledger import Row
from fabriclab.units import GB, KB, Gbps, day, ns, us

SMALL = 10 * KB
NDR, HDR = catalog.NDR, catalog.HDR


def _small(path):
    return transport.transfer_time(SMALL, path.alpha, path.beta)


def _tapered():
    """1,024 GPUs under leaves at 4:1: 32 down and 8 up."""
    return topology.leaf_spine(32, 8, 32, 8)


def _placed(gpus):
    """What a job on the first `gpus` of them meets."""
    return topology.placement_oversubscription(_tapered(), range(gpus))


def _hops_and_fec(switches):
    return switches * catalog.SWITCH_LATENCY + link.fec_latency(switches, 100 * ns)


ROWS = [
    # more bandwidth is always faster
    Row(
        "fallacy-bandwidth/hdr",
        "Fallacy: more bandwidth, faster training",
        "1.90 us",
        lambda: _small(HDR),
        "agrees",
        "10 KB at 25 GB/s after a start-up of 1.5 us",
    ),
    Row(
        "fallacy-bandwidth/ndr",
        "Fallacy: more bandwidth, faster training",
        "1.70 us",
        lambda: _small(NDR),
        "agrees",
        "the same start-up, 50 GB/s",
    ),
    Row(
        "fallacy-bandwidth/twice",
        "Fallacy: more bandwidth, faster training",
        "2x",
        lambda: NDR.beta / HDR.beta,
        "agrees",
        "the line, 200 to 400 Gb/s",
    ),
    Row(
        "fallacy-bandwidth/gain",
        "Fallacy: more bandwidth, faster training",
        "10.5 %",
        lambda: transport.time_saved(SMALL, HDR.alpha, HDR.beta, 2),
        "agrees",
        "of the time. One alpha for both generations; the registry has 7 us for HDR and 5 for NDR,"
        " and then it is"
        f" {100 * (1 - _small(catalog.NDR_APPENDIX) / _small(catalog.HDR_APPENDIX)):.0f} %, nearly"
        " all of it start-up",
    ),
    Row(
        "fallacy-bandwidth/small",
        "Fallacy: more bandwidth, faster training",
        "10 KB",
        None,
        "assumed",
        "a control message; an eighth of n* ="
        f" {transport.crossover(NDR.alpha, NDR.beta) / KB:.0f} KB",
    ),
    Row(
        "fallacy-bandwidth/alpha",
        "Fallacy: more bandwidth, faster training",
        "about 1 us",
        lambda: _hops_and_fec(1),
        "agrees",
        "hops and FEC: 0.6 us and 0.1 for one switch; a leaf-spine path has three,"
        f" {_hops_and_fec(3) / us:.1f} us, more than the 1.5 us of the whole start-up (E-06)",
        between=(0.5 * us, 1.5 * us),
    ),
    # a taper is harmless
    Row(
        "pitfall-taper/usual",
        "Pitfall: oversubscription",
        "4:1 or 8:1",
        None,
        "assumed",
        f"in general clouds; the same step then keeps {topology.relative_throughput(0.3, 4):.1%} or"
        f" {topology.relative_throughput(0.3, 8):.1%} of its speed",
    ),
    Row(
        "pitfall-taper/4x",
        "Pitfall: oversubscription",
        "4x",
        lambda: topology.oversubscription(_tapered()),
        "agrees",
        "32 hosts on 8 uplinks: the worst permutation is so much slower; an AllReduce sends less"
        " across (E-15)",
    ),
    Row(
        "pitfall-taper/share",
        "Pitfall: oversubscription",
        "30 %",
        None,
        "assumed",
        "of the step is synchronisation; by Amdahl 4 times that is a step 1.9 times as long",
    ),
    Row(
        "pitfall-taper/capital",
        "Pitfall: oversubscription",
        "$300 M",
        None,
        "assumed",
        "an input, as in the topology section and in network virtualisation",
    ),
    Row(
        "pitfall-taper/money",
        "Pitfall: oversubscription",
        "$142.1 M",
        lambda: topology.wasted_money(300e6, 0.3, 4),
        "agrees",
        "(1 - 1/1.9) x $300 M, with the 4x charged to all communication (E-15); at 8:1"
        f" ${topology.wasted_money(300e6, 0.3, 8) / 1e6:.1f} M",
    ),
    # a TCP test will do
    Row(
        "pitfall-iperf/range",
        "Fallacy: TCP bandwidth tests",
        "20-40 Gb/s",
        lambda: transport.kernel_bandwidth(400 * Gbps, 64 * KB, 4 * us, 5 * GB),
        "assumed",
        "one stream of kernel TCP. A core that spends 4 us on a segment of 64 KB and copies at 5"
        " GB/s in all gives 30.5 Gb/s, on any faster link",
    ),
    Row(
        "pitfall-iperf/tcp",
        "Fallacy: TCP bandwidth tests",
        "30 Gb/s",
        None,
        "assumed",
        "iperf's result, a measurement of the host, not of the link",
    ),
    Row(
        "pitfall-iperf/rdma",
        "Fallacy: TCP bandwidth tests",
        "390 Gb/s",
        None,
        "assumed",
        "48.75 GB/s, 97.5 % of the line; Checkpoint 1.5 expects 48 GB/s",
    ),
    # routing instead of placement
    Row(
        "pitfall-placement/gpus",
        "Pitfall: adaptive routing for placement",
        "1,024",
        None,
        "assumed",
        "GPUs over two groups, qualitative. Under leaves at 4:1, 32 GPUs on one leaf see"
        f" {_placed(32):.0f}:1, 64 on two {_placed(64):.0f}:1, however they are routed",
    ),
    # problems are faults
    Row(
        "waste/throughput",
        "Fallacy: problems show as hard faults",
        "10 %",
        None,
        "assumed",
        "an intermittent loss of throughput; the monitoring section has the same share of a link's"
        " bandwidth",
    ),
    Row(
        "waste/congestion",
        "Fallacy: problems show as hard faults",
        "thousands",
        lambda: cluster.gpu_hours(1024, day, 0.1),
        "agrees",
        "GPU-hours a day of 1,024 GPUs at 10 % less throughput",
        between=(1000, 9999),
    ),
]
