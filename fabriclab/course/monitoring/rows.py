"""Monitoring and debugging: counters and their units, degraded links, latency by rule of thumb, a
healthy port.
"""

from fabriclab import catalog, reliability, topology
from fabriclab.course.engine.ledger import Row
from fabriclab.logs import infiniband, perfquery, perftest
from fabriclab.logs.diagnose.finding import PAYLOAD
from fabriclab.units import day, hour, si

LINKS, DEGRADED, PER_DAY = 3000, 1e-3, 1e-5  # the last from Napkin Math 1.5
HEADERS = (
    8 + 12 + 4 + 2
    # B around a packet's payload: local route, base transport, invariant and variant CRC (IBTA
    # specification)
)
FULL = (
    (1 << 32) * perfquery.WORD / catalog.NDR.beta
)  # s until 32 bits of data counter are full at 400 Gb/s


def _half_of_a_round_trip():
    """What a read's latency, a whole round trip, and a write's, half of one,
    say of the same way.
    """
    row = perftest.Row(1, 2, 1000, typical=2e-6)
    return perftest.Table((), "latency", verb="read").one_way(row) / perftest.Table(
        (), "latency", verb="write"
    ).one_way(row)


def _cables(network):
    return int(network.multiplicity.sum())


TWO_TIERS, THREE_TIERS = topology.leaf_spine(32, 16, 32, 32), topology.fat_tree(16, 3, 1024)

ROWS = [
    # counters
    Row(
        "counters/word",
        "Link-level telemetry",
        "4 B",
        lambda: perfquery.WORD,
        "agrees",
        "a unit of PortXmitData and PortRcvData, whatever the lane count: the IBTA specification",
    ),
    Row(
        "counters/discards",
        "Link-level telemetry",
        "0",
        None,
        "assumed",
        "PortXmitDiscards of a lossless fabric; they also count what is sent to a port that is"
        " down, so a few after a restart are no congestion",
    ),
    Row(
        "counters/polling",
        "Link-level telemetry",
        "10-30 s",
        None,
        "assumed",
        f"how often counters are read; 32 bits of data are full after {si(FULL, 's', 2)} at 400"
        " Gb/s, so only the extended ones bear it",
    ),
    # degraded links
    Row(
        "degraded/qsfp56",
        "Link-level telemetry",
        "400 Gb/s",
        lambda: infiniband.link_rate(4, "HDR"),
        "differs",
        "what a QSFP56 cable is said to fall short of: it has four lanes of 50 Gb/s, which is HDR"
        " and no fall-back; NDR takes QSFP112 or OSFP (E-24)",
    ),
    Row(
        "degraded/hdr",
        "Link-level telemetry",
        "200 Gb/s",
        lambda: infiniband.link_rate(4, "HDR"),
        "agrees",
        "four lanes of 50 Gb/s",
    ),
    Row(
        "degraded/lanes",
        "Link-level telemetry",
        "half",
        lambda: infiniband.link_rate(2, "NDR") / infiniband.link_rate(4, "NDR"),
        "agrees",
        "two lanes of four",
        between=(0.5, 0.5),
    ),
    Row(
        "degraded/links",
        "Link-level telemetry",
        "3,000",
        lambda: _cables(THREE_TIERS),
        "assumed",
        f'links of 1,024 GPUs, "more than": {_cables(THREE_TIERS):,} cables in three tiers, and'
        f" {_cables(TWO_TIERS):,} in the two that suffice",
        between=(3000, 3999),
    ),
    Row(
        "degraded/share",
        "Link-level telemetry",
        "0.1 %",
        None,
        "assumed",
        f"degraded at any time. At the {PER_DAY:.3%} a day and module of Napkin Math 1.5, two"
        f" modules a link, a fault must stay for {DEGRADED / (2 * PER_DAY):.0f} days (E-22); a"
        " translation has percentage points (E-T4)",
    ),
    Row(
        "degraded/expected",
        "Link-level telemetry",
        "3",
        lambda: LINKS * DEGRADED,
        "agrees",
        "links of 3,000",
    ),
    Row(
        "degraded/chance",
        "Link-level telemetry",
        "high",
        lambda: reliability.at_least_one(DEGRADED, LINKS),
        "agrees",
        f"at least one of 3,000: {100 * reliability.at_least_one(DEGRADED, LINKS):.2f} %; at the"
        " registry's 50,000 h a module"
        f" {100 * reliability.at_least_one(day / (50_000 * hour), 2 * LINKS):.0f} % within a day"
        " (E-22)",
        between=(0.9, 1.0),
    ),
    # latency and bandwidth of a pair
    Row(
        "pairs/half",
        "Bandwidth and latency validation",
        "half",
        _half_of_a_round_trip,
        "agrees",
        "of a round trip, as ib_write_lat and ib_send_lat print; ib_read_lat prints a whole one",
        between=(0.5, 0.5),
    ),
    Row(
        "pairs/healthy",
        "Bandwidth and latency validation",
        "2 us",
        None,
        "conflicts",
        f"below it a direct pair is healthy: the examples' {si(catalog.NDR.alpha, 's')} is, the"
        " appendix's start-up of the same link is not (E-05)",
        other="5 us",
    ),
    Row(
        "pairs/suspicious",
        "Bandwidth and latency validation",
        "5 us",
        lambda: perftest.SUSPICIOUS,
        "assumed",
        "above it: queues or a detour. The appendix's NDR port, without either, has just that"
        " (E-05), RoCE there 10 us; several switches and a loaded PCIe add to 1.5 us, so compare"
        " with the same pair when idle",
    ),
    Row(
        "pairs/severe",
        "Bandwidth and latency validation",
        "100 us",
        lambda: perftest.SEVERE,
        "assumed",
        "above it: pauses, a wrong path or configuration; no sign of TCP by itself, which the text"
        " says too",
    ),
    Row(
        "pairs/raw",
        "Bandwidth and latency validation",
        "50 GB/s",
        lambda: catalog.NDR.beta,
        "agrees",
        "400 Gb/s, after the line code",
    ),
    Row(
        "pairs/payload",
        "Checkpoint 1.5",
        "48 GB/s",
        lambda: PAYLOAD * catalog.NDR.beta,
        "assumed",
        "a healthy pair: 96 % of the raw rate; an older edition has 48-49",
    ),
    Row(
        "pairs/payload-older",
        "older edition, Checkpoint 1.5",
        "48-49 GB/s",
        None,
        "assumed",
        f"measured, not derived: {HEADERS} bytes of headers and checks around 4,096 of payload"
        f" leave {100 * 4096 / (4096 + HEADERS):.1f} % of 50 GB/s; credits, PCIe and the card take"
        " the rest",
    ),
    # the workflow
    Row(
        "workflow/busy",
        "Systematic debugging workflow",
        "100 %",
        None,
        "assumed",
        "SM utilisation at which the network is not the limit: true of SM activity (DCGM field"
        " 1002); nvidia-smi counts any running kernel, so a collective that spins shows 100 % as"
        " well",
    ),
]
