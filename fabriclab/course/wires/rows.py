"""Level 1: line codes and FEC, media and the cost of distance, SerDes power and link budgets."""

from fabriclab import catalog, link
from fabriclab.catalog import MEDIA
from fabriclab.course.engine.ledger import Row
from fabriclab.link import KP4, NRZ, PAM4
from fabriclab.units import Gbps, kW, ns

DAC, AOC, PLUGGABLE = MEDIA
SPINE_LINKS = link.tree_links(10_000, 3) - link.tree_links(
    10_000, 1
)  # switch to switch: two tiers of cables
CLUSTER = 1024
SHARES = link.power_shares(75 * kW, CLUSTER)
LOSS_100G = link.loss_per_metre(100 * Gbps)

ROWS = [
    # PAM4 and FEC
    Row(
        "pam4/ports",
        "Definition 1.1",
        "400-800 Gb/s",
        lambda: catalog.link_rate("XDR").per_direction,
        "agrees",
        "ports: NDR and XDR have four lanes of 100 and 200 Gb/s; an 800G Ethernet port has eight"
        " of 100",
    ),
    Row(
        "pam4/levels",
        "Definition 1.1; figure 5",
        "4",
        lambda: len(PAM4.levels),
        "agrees",
        f"NRZ has {len(NRZ.levels)}, for {NRZ.bits} bit a symbol",
    ),
    Row(
        "pam4/bits",
        "Definition 1.1",
        "2",
        lambda: PAM4.bits,
        "agrees",
        "log2 of 4 levels, bits a symbol",
    ),
    Row(
        "pam4/rate",
        "Definition 1.1",
        "2x",
        lambda: link.symbol_rate(100 * Gbps, NRZ) / link.symbol_rate(100 * Gbps, PAM4),
        "agrees",
        f"at the same symbol rate; a 100G lane runs at {link.symbol_rate(100 * Gbps) / 1e9:g} GBd"
        " with its FEC",
    ),
    Row(
        "pam4/gap",
        "From NRZ to PAM4",
        "one third",
        lambda: (PAM4.levels[1] - PAM4.levels[0]) / (NRZ.levels[1] - NRZ.levels[0]),
        "agrees",
        "three gaps in the swing of one: 20 log10 3 = 9.54 dB at equal peak, 6.99 at equal power,"
        " 4.77 of optical power",
        between=(0.333, 0.334),
    ),
    Row(
        "fec/code",
        "Definition 1.1",
        "RS(544,514)",
        None,
        "assumed",
        f"IEEE 802.3; 10-bit symbols, corrects {KP4.corrects}, adds {100 * KP4.overhead:.2f} %;"
        f" with 257/256 a 400 Gb/s port runs at {KP4.line_rate(400 * Gbps) / Gbps:g} Gb/s",
    ),
    Row(
        "fec/per-link",
        "Definition 1.1",
        "100 ns",
        None,
        "assumed",
        "host side: Yin, Zhou and Lam 2022. Filling a codeword is"
        f" {KP4.codeword_time(425 * Gbps, 2) / ns:.1f} ns of it at 400G, two at a time,"
        f" {KP4.codeword_time(106.25 * Gbps) / ns:.1f} on one lane of 100G",
    ),
    Row(
        "fec/per-hop",
        "older edition, and 300-600 ns over three hops",
        "100-200 ns",
        None,
        "assumed",
        "decoding and encoding at a switch; a registry value",
    ),
    Row(
        "fec/one-way-least",
        "From NRZ to PAM4",
        "300 ns",
        lambda: link.fec_latency(3, 100 * ns),
        "agrees",
        "three switches: a two-tier path",
    ),
    Row(
        "fec/one-way-most",
        "From NRZ to PAM4",
        "600 ns",
        lambda: link.fec_latency(3, 200 * ns),
        "agrees",
    ),
    Row(
        "fec/both-ways-least",
        "From NRZ to PAM4",
        "600 ns",
        lambda: 2 * link.fec_latency(3, 100 * ns),
        "agrees",
    ),
    Row(
        "fec/both-ways-most",
        "From NRZ to PAM4",
        "1200 ns",
        lambda: 2 * link.fec_latency(3, 200 * ns),
        "agrees",
    ),
    Row(
        "fec/three-tiers",
        "Definition 1.1",
        "3",
        lambda: link.switches_on_path(3),
        "differs",
        "hops each way in a three-tier fat-tree: leaf, spine, core, spine, leaf are 5 switches over"
        " 6 cables, 500 to 1,000 ns of FEC; 3 switches are the two-tier path (E-09)",
    ),
    Row(
        "fec/three-tiers-latency",
        "Definition 1.1",
        "hundreds of ns",
        lambda: link.fec_latency(link.switches_on_path(3), 100 * ns),
        "agrees",
        "500 ns at the least with the 5 switches, so the sentence stands",
        between=(100 * ns, 1000 * ns),
    ),
    # media
    Row(
        "media/dac-reach",
        "media table",
        "3 m",
        lambda: DAC.reach,
        "assumed",
        "IEEE 802.3cd asks for at least 3 m at 50G lanes, 802.3ck for at least 2 m at 100G",
    ),
    Row(
        "media/dac-price",
        "media table",
        "$50",
        lambda: DAC.price,
        "assumed",
        "the text's scenario price",
    ),
    Row(
        "media/dac-power",
        "media table",
        "no module power",
        lambda: DAC.watts_per_end,
        "assumed",
        "NVIDIA MCP1650 DAC specification: at most 0.1 W",
        between=(0.0, 0.1),
    ),
    Row(
        "media/aoc-reach",
        "media table",
        "3-30 m",
        lambda: AOC.reach,
        "assumed",
        "NVIDIA MFS1S50 AOC: sold from 3 to 30 m",
    ),
    Row(
        "media/aoc-price",
        "media table; The cost of distance",
        "$500",
        lambda: AOC.price,
        "assumed",
        "the text's scenario price; The cost of distance takes the same $500 for pluggables, which"
        " the table ranks above it",
    ),
    Row(
        "media/aoc-latency",
        "media table; From NRZ to PAM4, modules end to end",
        "hundreds of ns",
        lambda: link.fec_latency(1, 100 * ns) + link.propagation_delay(30),
        "assumed",
        "about 100 ns of FEC and 5 ns a metre of fibre: 250 ns at 30 m, before the conversions,"
        " which have no figure",
        between=(100 * ns, 1000 * ns),
    ),
    Row(
        "media/pluggable-reach",
        "media table",
        "over 30 m",
        lambda: PLUGGABLE.reach,
        "assumed",
        "to 100 m without loss of rate (optical interconnects); fibre adds 150 ns in 30 m, 500"
        " in 100",
        between=(30.0, 1000.0),
    ),
    # the cost of distance
    Row(
        "distance/gpus",
        "The cost of distance; Optical interconnects",
        "10,000",
        None,
        "assumed",
        "GPUs, an input: more than the 2,048 that two tiers of 64 ports hold, so three",
    ),
    Row(
        "distance/links",
        "The cost of distance",
        "20,000",
        lambda: SPINE_LINKS,
        "agrees",
        "10,000 GPUs in a non-blocking three-tier tree: two tiers of cables between switches, leaf"
        " to spine and spine to core, not the spine's alone",
    ),
    Row(
        "distance/cost",
        "The cost of distance",
        "$10 M",
        lambda: link.optics_bill(SPINE_LINKS, PLUGGABLE.price, PLUGGABLE.watts_per_end).cost,
        "agrees",
        "20,000 at $500",
    ),
    Row(
        "distance/power",
        "The cost of distance",
        "400 kW",
        lambda: SPINE_LINKS * PLUGGABLE.watts_per_end,
        "conflicts",
        "20 W per link, as this section says, are 400 kW for 20,000 links; Napkin Math"
        " 1.6 has 20 W per"
        " module, and a link has two: 800 kW. Two 400G modules of 8-9 W make 16-18 W a link, so 400"
        " kW is the realistic figure (E-11)",
        other="800 kW",
    ),
    Row(
        "distance/power-older",
        "older edition, The cost of distance",
        "200 kW",
        lambda: (
            link.optics_bill(
                SPINE_LINKS, PLUGGABLE.price, catalog.CPO.watts, modules_per_link=1
            ).power
        ),
        "agrees",
        "follows from 10 W a link, but 10 W is the co-packaged engine of Napkin Math 1.6; corrected"
        " since to 20",
    ),
    Row(
        "distance/rack",
        "The cost of distance",
        "70-100 kW",
        None,
        "assumed",
        "a range for dense racks at large: the chapter's own rack of 4 DGX H100 draws"
        f" {link.rack_power(4, catalog.DGX_H100_POWER) / kW:.1f} kW at 10.2 kW a node, 7 to 9 such"
        " nodes 70 to 92 kW (E-12)",
    ),
    # SerDes, power
    Row(
        "serdes/links",
        "SerDes, link budgets, power",
        "about 3,000",
        lambda: link.tree_links(CLUSTER, 3),
        "conflicts",
        "3 x 1,024 = 3,072 links are a tree of three tiers; by the topology section 1,024"
        " GPUs need two:"
        " 2,048 (E-10)",
        between=(2500, 3500),
        other="2,048",
    ),
    Row(
        "serdes/port",
        "SerDes, link budgets, power",
        "25 W",
        lambda: catalog.PORT_POWER,
        "assumed",
        "SerDes and module together; NVIDIA's 400G modules alone draw 8 to 9 W",
    ),
    Row(
        "serdes/power",
        "SerDes, link budgets, power",
        "75 kW",
        lambda: link.optics_bill(3000, 0, catalog.PORT_POWER).power,
        "differs",
        "25 W is one port and a link joins two: 3,000 links are 6,000 ports, 150 kW; with 2,048"
        " links 102.4 kW (E-11)",
    ),
    Row(
        "serdes/share-of-gpus",
        "SerDes, link budgets, power",
        "10.5 %",
        lambda: SHARES.of_accelerators,
        "agrees",
        "75 kW over 1,024 GPUs of 700 W, the GPUs alone",
    ),
    Row(
        "serdes/share-of-cluster",
        "SerDes, link budgets, power",
        "10.5 %",
        lambda: SHARES.of_nodes,
        "differs",
        "of the cluster's power, as the sentence has it: 75 kW are"
        f" {100 * SHARES.of_accelerators_and_network:.1f} % of GPUs and network,"
        f" {100 * SHARES.of_nodes:.1f} % of 128 nodes of 10.2 kW (E-13)",
    ),
    Row(
        "serdes/share-older",
        "older edition",
        "over 10 %",
        lambda: SHARES.of_accelerators,
        "agrees",
        "of the GPUs alone",
        between=(0.1, 0.11),
    ),
    # the link budget
    Row(
        "budget/total",
        "SerDes, link budgets, power",
        "30 dB",
        None,
        "assumed",
        "transmitter power to receiver sensitivity of a 50G PAM4 lane, as the text takes it",
    ),
    Row(
        "budget/cable",
        "SerDes, link budgets, power",
        "18 dB",
        lambda: 3 * link.loss_per_metre(50 * Gbps),
        "assumed",
        "6 dB a metre, the text's cable",
    ),
    Row(
        "budget/connectors",
        "SerDes, link budgets, power",
        "2 dB",
        None,
        "assumed",
        "two connectors of 1 dB",
    ),
    Row(
        "budget/margin",
        "SerDes, link budgets, power",
        "10 dB",
        lambda: link.link_margin(30, 3, link.loss_per_metre(50 * Gbps), 2),
        "agrees",
        "30 - 18 - 2",
    ),
    Row(
        "budget/lane",
        "SerDes, link budgets, power",
        "100 Gb/s",
        lambda: 800 * Gbps / 8,
        "agrees",
        "of an 800 Gb/s port with eight lanes, as OSFP has; XDR's 800 is four of 200",
    ),
    Row(
        "budget/frequency",
        "SerDes, link budgets, power",
        "doubles",
        lambda: link.symbol_rate(100 * Gbps) / link.symbol_rate(50 * Gbps),
        "agrees",
        "from lanes of 50 to 100 Gb/s. The dB a metre grow"
        f" {LOSS_100G / link.loss_per_metre(50 * Gbps):.2f} times: more than the root of 2, as of"
        " skin effect alone, less than 2, as of the dielectric",
        between=(1.99, 2.01),
    ),
    Row(
        "budget/copper-800G",
        "SerDes, link budgets, power",
        "1-2 m",
        lambda: link.longest_cable(30 - 10, LOSS_100G, 2),
        "agrees",
        f"with the 10 dB of margin that the text keeps at 50G, (30 - 2 - 10) dB at"
        f" {LOSS_100G:.1f} dB/m"
        " (skin effect and dielectric from its 6 at 50G) reach 2.0 m; spent to the last dB, 3.1 m."
        " IEEE 802.3ck asks for 2 m (E-14)",
    ),
    Row(
        "budget/quiz-100G",
        "quiz on wires, question 4",
        "under 2 m",
        lambda: link.longest_cable(30, 28 / 3, 2),
        "differs",
        "25-28 dB in 3 m against 30 - 2 = 28 dB leave 3 to 0 dB at 3 m: the reach is"
        f" {link.longest_cable(30, 25 / 3, 2):.2f} to {link.longest_cable(30, 28 / 3, 2):.2f} m"
        " (E-14)",
        between=(0.0, 2.0),
    ),
]
