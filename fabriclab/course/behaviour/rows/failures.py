"""Rows of level 4: failing fleets and checkpoints."""

from fabriclab import congestion, reliability
from fabriclab.course.behaviour.rows.common import BUFFER, FEEDBACK, PORT
from fabriclab.course.engine.ledger import Row
from fabriclab.units import MB, Gbps, Mbps, MiB, day, hour, us

SENDERS = 256


MODULES = reliability.transceivers(4096, 3)


SWITCH_MODULES = reliability.transceivers(4096, 3, copper_hosts=True)


PER_DAY = 1e-5  # Napkin Math 1.5


FLEET_MTTF = reliability.rate_from_mttf(50_000 * hour)  # the appendix, cable and transceiver


def _some_fails(modules, days=1):
    return reliability.at_least_one(PER_DAY, modules, days)


def _fill(ports=None, buffer=BUFFER):
    return congestion.fill_time(congestion.offered_load(SENDERS, PORT, ports), PORT, buffer)


ROWS = [
    # Napkin Math 1.5
    Row(
        "napkin-1.5/links",
        "Napkin Math 1.5",
        "12,288",
        lambda: MODULES / 2,
        "agrees",
        "4,096 x 3 tiers; a third of them lead to hosts, and the section on media makes those"
        " passive copper",
    ),
    Row(
        "napkin-1.5/transceivers",
        "Napkin Math 1.5",
        "24,576",
        lambda: MODULES,
        "agrees",
        f"without the hosts' copper links 8,192 links and {SWITCH_MODULES:,.0f} transceivers, and a"
        f" chance of {100 * _some_fails(SWITCH_MODULES):.1f} % a day",
    ),
    Row(
        "napkin-1.5/probability",
        "Napkin Math 1.5 against the appendix's MTTF",
        "0.001 %",
        lambda: PER_DAY,
        "conflicts",
        "a transceiver a day, an MTTF of 2.4 million hours; the appendix gives cable and"
        " transceiver 50,000 h, 0.048 % a day:"
        f" {reliability.expected_failures(FLEET_MTTF, MODULES, day):.1f} a day in this fleet, and"
        f" one at least with {100 * (1 - reliability.failure_free(FLEET_MTTF, MODULES, day)):.3f}"
        " %. The section on monitoring has 0.1 % of the links degraded at any time, which at 0.001"
        " % a day takes faults that stay for 50 days (E-22)",
        other="0.048 %",
    ),
    Row("napkin-1.5/none", "Napkin Math 1.5", "0.782", lambda: 1 - _some_fails(MODULES), "agrees"),
    Row(
        "napkin-1.5/at-least-one",
        "Napkin Math 1.5",
        "0.218",
        lambda: _some_fails(MODULES),
        "agrees",
    ),
    Row(
        "napkin-1.5/percent",
        "Napkin Math 1.5",
        "21.8 %",
        lambda: _some_fails(MODULES),
        "agrees",
        f"{100 * _some_fails(MODULES, 7):.1f} % a week; {MODULES * PER_DAY:.3f} failures a day, so"
        f" one every {reliability.time_to_first(PER_DAY / day, MODULES) / day:.1f} days, and the"
        f" first bad day is on average the {reliability.periods_to_first(PER_DAY, MODULES):.1f}th",
    ),
    Row(
        "napkin-1.5/storm",
        "earlier edition, Napkin Math 1.5",
        "22 %",
        lambda: _some_fails(MODULES),
        "agrees",
        "that edition called it the chance of a PFC storm: it is the chance of one degraded part;"
        " corrected since",
    ),
    # figure 12 and incast
    Row(
        "figure-12/offered",
        "Figure 12",
        "12.8 TB/s",
        lambda: congestion.offered_load(SENDERS, PORT),
        "agrees",
        "256 x 50 GB/s, a worst case made up on purpose, as the text says; a switch of 64"
        " ports brings"
        " one of them at most 63 x 50 GB/s = 3.15 TB/s (E-23)",
    ),
    Row(
        "figure-12/ratio",
        "Figure 12; The incast problem",
        "256x",
        lambda: congestion.offered_load(SENDERS, PORT) / PORT,
        "agrees",
    ),
    Row("incast/buffer", "Definition 1.9", "32 MB", lambda: BUFFER, "assumed", "an input; decimal"),
    Row(
        "incast/fill",
        "Definition 1.9",
        "2.5 us",
        lambda: _fill(),
        "agrees",
        f"32 MB / 12.75 TB/s = {_fill() / us:.3f} us; 32 MiB would fill in"
        f" {_fill(buffer=32 * MiB) / us:.3f} us",
    ),
    Row(
        "incast/drain",
        "The incast problem",
        "640 us",
        lambda: congestion.wait(BUFFER, PORT),
        "agrees",
        "32 MB / 50 GB/s: what the last byte of a full buffer waits",
    ),
    Row(
        "incast/feedback",
        "The incast problem",
        "5 us",
        lambda: FEEDBACK,
        "assumed",
        "a round trip of the feedback, an input; in it"
        f" {congestion.feedback_backlog(SENDERS, PORT, PORT, FEEDBACK) / MB:.2f} MB pile up, twice"
        " the buffer: no mark comes in time for more than"
        f" {congestion.largest_fan_in(PORT, PORT, BUFFER, FEEDBACK):.0f} senders",
    ),
    Row(
        "incast/bdp",
        "The incast problem",
        "250 KB",
        lambda: congestion.bandwidth_delay_product(PORT, FEEDBACK),
        "agrees",
        "50 GB/s x 5 us; the buffer is 128 of them",
    ),
    Row(
        "incast/per-step",
        "older edition, Incast",
        "hundreds of times",
        None,
        "assumed",
        "per step; withdrawn since: in a ring AllReduce each rank receives from one other",
    ),
    # congestion control
    Row(
        "dcqcn/year",
        "Active congestion control",
        "2015",
        None,
        "assumed",
        "Zhu et al., SIGCOMM 2015; a fact, not a calculation",
    ),
    Row(
        "dcqcn/utilisation",
        "older edition, Active congestion control",
        "85-90 %",
        lambda: 360 / 400,
        "agrees",
        "340-360 of 400 Gb/s; withdrawn since",
    ),
    Row(
        "hpcc/year",
        "Active congestion control",
        "2019",
        None,
        "assumed",
        "Li et al., SIGCOMM 2019; a fact, not a calculation",
    ),
    Row(
        "hpcc/round-trip",
        "Active congestion control",
        "1",
        None,
        "assumed",
        "round trip from the queue to the new rate: no loop by way of the receiver is faster,"
        " DCQCN's included. What differs is how much one answer tells",
    ),
    Row(
        "hpcc/utilisation",
        "older edition, Active congestion control",
        "more than 95 %",
        lambda: 16 * congestion.steady_rate(100 * Gbps, 16, 50 * Mbps) / (100 * Gbps),
        "agrees",
        "withdrawn since; by its update rule N flows rest at eta + N R_AI/C of the link, with the"
        " authors' eta 0.95 and R_AI 50 Mb/s at 100 Gb/s 95.8 % for 16 flows",
        between=(0.95, 1.0),
    ),
    Row(
        "hpcc/tail",
        "older edition, Active congestion control",
        "95 %",
        None,
        "assumed",
        "less tail latency; withdrawn since, and no input is given",
    ),
    # hashing
    Row(
        "ecmp/even",
        "Adaptive routing",
        "2",
        lambda: 8 / 4,
        "agrees",
        "flows per link; hashing splits 8 flows so evenly with a chance of"
        f" {100 * float(congestion.even_split(8, 4)):.2f} %",
    ),
    Row(
        "ecmp/collision",
        "Adaptive routing",
        "half",
        lambda: 2 / 4,
        "agrees",
        "4 flows on one link where 2 would do; the fullest of the four links has"
        f" {congestion.mean_fullest(8, 4):.3f} on average, 4 or more in"
        f" {100 * congestion.fullest_path(8, 4)[4:].sum():.1f} % of cases, one link is idle in"
        f" {100 * float(congestion.idle_path(8, 4)):.1f} %, and the mean speed is"
        f" {100 * congestion.mean_speed(8, 4):.1f} % of an even split's",
        between=(0.495, 0.505),
    ),
    Row(
        "ecmp/moe-pairs",
        "Adaptive routing",
        "4,032",
        lambda: congestion.all_to_all_flows(64),
        "agrees",
        "64 x 63",
    ),
    Row(
        "ecmp/moe-pairs-older",
        "older edition, Adaptive routing",
        "4,096",
        lambda: congestion.all_to_all_flows(64),
        "differs",
        "64 x 64 counts what a rank sends to itself; 64 x 63 = 4,032; corrected since",
    ),
]
