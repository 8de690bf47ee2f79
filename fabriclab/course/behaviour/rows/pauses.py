"""Rows of level 4: pauses, headroom and deadlock."""

from fabriclab import congestion, link, reliability
from fabriclab.course.behaviour.rows.common import BUFFER, PORT
from fabriclab.course.engine.ledger import Row
from fabriclab.units import GB, KB, MB, ms, us

ROWS = [
    # bulk-synchronous steps
    Row(
        "bsp/web-delay",
        "Level 4, opening",
        "50 ms",
        None,
        "assumed",
        "an illustration: one user's delay, which no other user notices",
    ),
    Row(
        "bsp/one-link",
        "Level 4, opening",
        "1 of 10,000",
        None,
        "assumed",
        "an illustration: one congested link doubles its latency, and the step, a maximum, takes as"
        " long as it does",
    ),
    Row(
        "bsp/slower",
        "Definition 1.6",
        "10 %",
        None,
        "assumed",
        "an input: one GPU, and by the barrier every step",
    ),
    Row(
        "bsp/idle-gpus",
        "Definition 1.6",
        "102",
        lambda: congestion.idle_workers(1024, 0.1),
        "agrees",
        "0.1 x 1,023 = 102.3 where the step takes 10 % longer; a GPU whose speed drops by 10 %"
        f" takes 11.1 % longer, {congestion.idle_workers(1024, 1 / 0.9 - 1):.1f}",
    ),
    Row(
        "bsp/gap",
        "Definition 1.6",
        "5 %",
        None,
        "assumed",
        "of the run, an input of its own: the 10 % of the sentence before would be twice the money",
    ),
    Row(
        "bsp/run",
        "Definition 1.6",
        "$50 M",
        None,
        "assumed",
        f"a training run, an input: at $3 a GPU-hour {50e6 / 3 / 1024 / 24:.0f} days of 1,024 GPUs",
    ),
    Row(
        "bsp/cost",
        "Definition 1.6",
        "$2.5 M",
        lambda: 0.05 * 50e6,
        "agrees",
        "5 % of $50 M, added to the run; as a share of the run so lengthened, 0.05/1.05,"
        f" ${congestion.straggler_cost(50e6, 0.05) / 1e6:.2f} M. The translation lost the dollar"
        " signs (E-T6)",
    ),
    Row(
        "bsp/gpu-hour",
        "Definition 1.6; Monitoring and debugging",
        "$3",
        None,
        "assumed",
        "per GPU-hour; it does not enter the $2.5 M: $50 M would be 16.7 million GPU-hours",
    ),
    Row(
        "bsp/p99",
        "after Definition 1.6",
        "p99",
        None,
        "assumed",
        "the tail that is said to decide. Of 1,024 workers at least one is beyond its own 99th"
        f" percentile in {100 * reliability.at_least_one(0.01, 1024):.3f} % of steps: what decides"
        " is the maximum, p99.9 and further",
    ),
    # priority flow control
    Row(
        "pfc/round-trip",
        "Definition 1.7",
        "1-5 us",
        lambda: 2 * 100 * 5e-9,
        "assumed",
        "100 m of fibre there and back at 5 ns/m is 1 us; the peer may take"
        f" {congestion.peer_response(PORT) / us:.2f} us to obey (IEEE 802.3). It asks for"
        f" {congestion.pfc_headroom(PORT, 1 * us, response=0, mac_phy=0) / KB:.0f}"
        f"-{congestion.pfc_headroom(PORT, 5 * us, response=0, mac_phy=0) / KB:.0f}"
        " KB of headroom per port and priority at 400 Gb/s, two packets of 9,216 bytes included:"
        f" {64 * congestion.pfc_headroom(PORT, 5 * us, response=0, mac_phy=0) / MB:.0f} MB for 64"
        " ports, half of the 32 MB buffer",
    ),
    Row(
        "pfc/hops",
        "Definition 1.7",
        "3-5",
        lambda: link.switches_on_path(3),
        "agrees",
        "upstream: 3 switches are the longest path of two tiers, 5 of three",
    ),
    Row(
        "pfc/nodes",
        "Definition 1.7",
        "1,000",
        None,
        "assumed",
        "nodes, an input: 8,000 GPUs, nearly four times what two tiers of 64 ports hold",
    ),
    Row(
        "pfc/cascade",
        "Definition 1.7; PFC storms and victim flows",
        "10-50 ms",
        lambda: congestion.pause_spread_time(5, BUFFER, 10 * GB, 5 * us),
        "assumed",
        "depends on the buffers and the excess, which the text does not give: five"
        " buffers of 32 MB, each"
        " filled by 10 GB/s too much, pass the pauses on in 16 ms. The signal alone would"
        " cross 5 hops"
        f" of 5 us in {congestion.pause_signal_time(5, 5 * us) / us:.0f} us (E-21)",
    ),
    Row(
        "pfc/freeze",
        "Definition 1.7, common misconception",
        "200 ms",
        None,
        "assumed",
        "for a whole fabric, where 10-50 ms are 3 to 5 hops; no source is given, and a"
        " watchdog set to"
        " 50-200 ms may end it first (E-21)",
    ),
    Row(
        "pfc/victims",
        "Definition 1.7",
        "thousands",
        None,
        "assumed",
        "GPU pairs, from one slow receiver among 1,000 nodes; no input is given",
    ),
    Row(
        "pfc/loss-stall",
        "Priority flow control, opening",
        "several ms",
        None,
        "assumed",
        "a retransmission timeout; no input is given",
    ),
    # deadlock
    Row(
        "deadlock/war-story",
        "War Story 1.1",
        "2016",
        None,
        "assumed",
        "Guo et al., SIGCOMM 2016, pages 202-215; a fact, not a calculation",
    ),
    Row(
        "deadlock/servers",
        "War Story 1.1",
        "tens of thousands",
        None,
        "assumed",
        "of servers: Guo et al., the same paper; the fleet that RoCE was rolled out to, not the"
        " part of it that froze",
    ),
    Row(
        "deadlock/equation-1",
        "Equation 1",
        "if and only if",
        None,
        "assumed",
        "a circle of buffer dependencies is necessary; at a given moment it also takes every buffer"
        " of the circle full, and waiting for the next",
    ),
    Row(
        "deadlock/watchdog",
        "Watchdog recovery",
        "50-200 ms",
        lambda: 200 * ms,
        "assumed",
        "SONiC's default is 200 ms for detection; one vendor names 100-400 ms as typical",
    ),
    Row(
        "deadlock/watchdog-stall",
        "Watchdog recovery",
        "tens of ms",
        None,
        "assumed",
        f"sending a whole 32 MB buffer again takes {congestion.drain_time(BUFFER, PORT) / ms:.2f}"
        " ms at 50 GB/s: the rest is the senders' timeout, for which no input is given, and the"
        " watchdog's own 50-200 ms come on top",
    ),
]
