"""Rows of level 2: the alpha-beta model, Napkin Math 1.1."""

from fabriclab import catalog, transport
from fabriclab.catalog import NDR, ROCE_100G
from fabriclab.course.engine.ledger import Row
from fabriclab.course.transport.rows.common import RANKS
from fabriclab.units import GB, KB, MB, KiB, us


def _time(size, path):
    return transport.transfer_time(size, path.alpha, path.beta)


ROWS = [
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
]
