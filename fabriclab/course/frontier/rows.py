"""Beyond the levels: faster ports and flatter trees, light in the package (Napkin Math 1.6), pools
and composed nodes.
"""

from fabriclab import catalog, link
from fabriclab.course.engine.ledger import Row
from fabriclab.units import GB, MW, Gbps, Tbps, kW, pJ

ASIC = catalog.ASIC_51T
SWITCH = link.optical_dividend(link.switch_ports(ASIC.capacity, 400 * Gbps))
FLEET = link.optical_dividend(link.switch_ports(ASIC.capacity, 400 * Gbps), switches=1000)
VENDOR = {module.name: module.watts for module in catalog.MODULES}
GPUS = 10_000
COPPER = link.tree_optics(GPUS, 64)
FIBRE = link.tree_optics(GPUS, 64, hosts_on_fibre=True)


def _reach(lane_rate):
    """The text's own reach of copper at that lane rate, in its section on optics."""
    return next(
        r
        for r in catalog.COPPER_REACH
        if r.lane_rate == lane_rate and "optical interconnects" in r.source
    )


def _saved(tree):
    return tree.pluggable - tree.copackaged


def _ends(tiers, hosts_on_fibre=False):
    tree = link.tree_optics(GPUS, {3: 64, 2: 256}[tiers], hosts_on_fibre=hosts_on_fibre)
    return tree.switch_ends + tree.host_ends


ROWS = [
    # faster ports, flatter trees
    Row(
        "density/xdr",
        "Protocol convergence and link density",
        "800 Gb/s",
        lambda: catalog.link_rate("XDR").per_direction,
        "agrees",
        "a port of four lanes, one way; 800GbE is as fast",
    ),
    Row(
        "density/rate",
        "Protocol convergence and link density; SerDes, link budgets, power",
        "1.6 Tb/s",
        lambda: catalog.ASIC_102T.capacity / 64,
        "agrees",
        "a port of the newest switch chip: eight lanes of 200 Gb/s",
    ),
    Row(
        "density/port",
        "Protocol convergence and link density",
        "4x",
        lambda: 1.6 * Tbps / (400 * Gbps),
        "agrees",
        "400G ports in one of 1.6T",
    ),
    Row(
        "density/asic",
        "Protocol convergence and link density",
        "102.4 Tb/s",
        lambda: 64 * 1.6 * Tbps,
        "agrees",
        "64 ports of 1.6 Tb/s. The same chip is"
        f" {link.switch_ports(catalog.ASIC_102T.capacity, 400 * Gbps):.0f} ports of 400 Gb/s, and"
        f" then two tiers hold {256**2 // 2:,} hosts, not {64**2 // 2:,}",
    ),
    Row(
        "density/transceivers",
        "Protocol convergence and link density",
        "halved",
        lambda: _ends(2) / _ends(3),
        "agrees",
        f"from three tiers to two, if hosts hang on copper: two ends a host a tier, {_ends(3):,.0f}"
        f" to {_ends(2):,.0f} for 10,000 GPUs. With hosts on fibre it is a third less,"
        f" {_ends(3, True):,.0f} to {_ends(2, True):,.0f}",
        between=(0.495, 0.505),
    ),
    Row(
        "density/scale",
        "The next technologies",
        "100,000",
        None,
        "assumed",
        "nodes, as the opening sentence has it, are 800,000 GPUs at eight a node; elsewhere the"
        " texts speak of 100,000 GPUs",
    ),
    # copper
    Row(
        "optics/lane-112",
        "Optical interconnects",
        "112 Gb/s",
        None,
        "assumed",
        "a lane; the name of a class, CEI-112G: NDR's lane signals"
        f" {link.KP4.line_rate(100 * Gbps) / Gbps:g} Gb/s, of which 100 are data",
    ),
    Row(
        "optics/copper-112-least",
        "Optical interconnects",
        "7 pJ/bit",
        lambda: catalog.SERDES_112G[0],
        "assumed",
        f"an input; {link.serdes_power(400 * Gbps, catalog.SERDES_112G[0]):.1f} W for 400 Gb/s",
    ),
    Row(
        "optics/copper-112-most",
        "Optical interconnects",
        "10 pJ/bit",
        lambda: catalog.SERDES_112G[1],
        "assumed",
        f"an input; {link.serdes_power(400 * Gbps, catalog.SERDES_112G[1]):.1f} W for 400 Gb/s",
    ),
    Row(
        "optics/copper-112-reach",
        "Optical interconnects",
        "2-3 m",
        lambda: link.longest_cable(30, link.loss_per_metre(100 * Gbps), 2),
        "agrees",
        "the budget of the text's level 1, 30 dB less two connectors, ends at 3.14 m; and level 1"
        " says 1 to 2 m for the same lanes (E-14)",
    ),
    Row(
        "optics/lane-224",
        "Optical interconnects",
        "224 Gb/s",
        None,
        "assumed",
        f"a lane; CEI-224G: XDR's signals {link.KP4.line_rate(200 * Gbps) / Gbps:g} Gb/s, of which"
        " 200 are data",
    ),
    Row(
        "optics/copper-224-least",
        "Optical interconnects",
        "15 pJ/bit",
        lambda: catalog.SERDES_224G[0],
        "assumed",
        f"an input; {link.serdes_power(800 * Gbps, catalog.SERDES_224G[0]):.0f} W for 800 Gb/s",
    ),
    Row(
        "optics/copper-224-most",
        "Optical interconnects",
        "20 pJ/bit",
        lambda: catalog.SERDES_224G[1],
        "assumed",
        f"an input; {link.serdes_power(800 * Gbps, catalog.SERDES_224G[1]):.0f} W for 800 Gb/s",
    ),
    Row(
        "optics/copper-doubles",
        "Optical interconnects",
        "roughly doubles",
        lambda: catalog.SERDES_224G[0] / catalog.SERDES_112G[0],
        "agrees",
        "15/7 = 2.1, and 20/10 = 2.0: a bit; the port carries twice the bits, so its watts are four"
        " times as many",
        between=(1.8, 2.2),
    ),
    Row(
        "optics/copper-224-reach",
        "Optical interconnects",
        "1-1.5 m",
        lambda: _reach(200 * Gbps).most,
        "assumed",
        "the budget of level 1 would give"
        f" {link.longest_cable(30, link.loss_per_metre(200 * Gbps), 2):.1f} m at 200G lanes: 1 to"
        " 1.5 m leaves some of it unspent",
        between=(1.0, 1.5),
    ),
    Row(
        "optics/fibre-reach",
        "Optical interconnects",
        "100 m",
        lambda: catalog.CPO.reach,
        "assumed",
        "an input; single-mode modules of the DR kind are specified to 100 to 500 m",
    ),
    Row(
        "optics/fibre-loss",
        "Optical interconnects",
        "negligible",
        None,
        "assumed",
        "over tens of metres: single-mode fibre loses 0.4 dB a kilometre at most (ITU-T G.652),"
        " 0.02 in 50 m; each connector ten times that",
    ),
    Row(
        "optics/electrical-path",
        "Optical interconnects",
        "centimetres to millimetres",
        None,
        "assumed",
        "from SerDes to light, pluggable to co-packaged: the copper whose loss the equaliser's"
        " pJ/bit make good",
    ),
    # Napkin Math 1.6
    Row(
        "napkin-1.6/ports",
        "Napkin Math 1.6",
        "128",
        lambda: SWITCH.ports,
        "agrees",
        "51.2 Tb/s / 400 Gb/s, an Ethernet chip. The registry takes 51.2 from the QM9700, whose"
        " count has both directions: that box has"
        f" {link.switch_ports(catalog.ASIC_25T.capacity, 400 * Gbps):.0f} ports (E-25)",
    ),
    Row(
        "napkin-1.6/capacity",
        "registry, switch constants",
        "51.2 Tb/s",
        lambda: catalog.QM9700.ports * catalog.QM9700.port_rate,
        "differs",
        "the QM9700 it names has 64 ports of 400 Gb/s: 25.6 Tb/s one way, 51.2 both ways (E-25)",
    ),
    Row(
        "napkin-1.6/module",
        "Napkin Math 1.6; The cost of distance",
        "20 W",
        None,
        "assumed",
        f"an input, high for today: NVIDIA's 400G modules take {VENDOR['400G SR4']:.0f}"
        f" to {VENDOR['400G DR4']:.0f} W: 128 of"
        f" them {link.optical_dividend(128, VENDOR['400G DR4']).pluggable / kW:.2f} kW, less than"
        " the text's co-packaged switch (E-26)",
    ),
    Row(
        "napkin-1.6/engine",
        "Napkin Math 1.6",
        "10 W",
        lambda: catalog.CPO.watts,
        "assumed",
        f"{link.energy_per_bit(10, 400 * Gbps) / pJ:.0f} pJ/bit; NVIDIA gives 9 W for 1.6 Tb/s,"
        f" {link.energy_per_bit(9, 1600 * Gbps) / pJ:.1f} pJ/bit, against"
        f" {link.energy_per_bit(30, 1600 * Gbps) / pJ:.1f} plugged in: a factor of 3.3, not 2",
    ),
    Row(
        "napkin-1.6/pluggable",
        "Napkin Math 1.6",
        "2.56 kW",
        lambda: SWITCH.pluggable,
        "agrees",
        f"128 x 20 W, {link.energy_per_bit(20, 400 * Gbps) / pJ:.0f} pJ/bit",
    ),
    Row("napkin-1.6/copackaged", "Napkin Math 1.6", "1.28 kW", lambda: SWITCH.copackaged, "agrees"),
    Row(
        "napkin-1.6/saved", "Napkin Math 1.6", "1.28 kW", lambda: SWITCH.saved, "agrees", "a switch"
    ),
    Row(
        "napkin-1.6/fleet",
        "Napkin Math 1.6",
        "2.56 MW",
        lambda: FLEET.pluggable,
        "agrees",
        "1,000 switches; an older edition prints 1.28 MW for the same",
    ),
    Row("napkin-1.6/fleet-saved", "Napkin Math 1.6", "1.28 MW", lambda: FLEET.saved, "agrees"),
    Row(
        "napkin-1.6/fleet-older",
        "older edition, Napkin Math 1.6",
        "1.28 MW",
        lambda: FLEET.pluggable,
        "differs",
        "total of pluggable optics: 1,000 x 2.56 kW = 2.56 MW; corrected since",
    ),
    Row(
        "napkin-1.6/gpus",
        "Napkin Math 1.6",
        "1,800",
        lambda: link.accelerators_fed(FLEET.saved),
        "rounds",
        "1.28 MW / 700 W = 1,829 chips; whole nodes take 1,275 W a GPU, and then it feeds"
        f" {link.accelerators_fed(FLEET.saved, catalog.DGX_H100_POWER / 8):,.0f}",
        step="100",
    ),
    Row(
        "napkin-1.6/cluster",
        "Optical interconnects",
        "more than 1 MW",
        lambda: _saved(FIBRE),
        "differs",
        f"10,000 GPUs under three tiers have {FIBRE.switch_ends:,.0f} switch ports: 10 W less at"
        f" each is {_saved(FIBRE) / MW:.1f} MW, and {_saved(COPPER) / MW:.1f} with hosts on copper."
        " Only all 20 W at all of them make 1.0, and The cost of distance has 0.4 MW for all the"
        " optics of the same cluster (E-11)",
        between=(1 * MW, 10 * MW),
    ),
    Row(
        "napkin-1.6/cluster-older",
        "older edition, Optical interconnects",
        "more than 100 kW",
        lambda: _saved(COPPER),
        "agrees",
        "400 kW with hosts on copper",
        between=(100 * kW, 999 * kW),
    ),
    # what it opens
    Row(
        "cpo/tensor-parallel",
        "Optical interconnects",
        "2-4",
        None,
        "assumed",
        "nodes that tensor parallelism could span, an outlook of the text; notebook 10 works out"
        " what such a group pays on each wire",
    ),
    Row(
        "cpo/per-gpu",
        "Optical interconnects",
        "hundreds of GB/s",
        lambda: catalog.H100.nvlink.per_direction,
        "agrees",
        "NVLink-class, 450 GB/s one way:"
        f" {catalog.H100.nvlink.per_direction / catalog.NDR.beta:.0f} NDR ports a GPU",
        between=(100 * GB, 999 * GB),
    ),
    Row(
        "cpo/package",
        "Optical interconnects",
        "1,000 W",
        lambda: catalog.B200.tdp,
        "assumed",
        "a GPU package; NVIDIA's figure for B200. A B300's is 1,400 W (Lambda, 2026)",
    ),
]
