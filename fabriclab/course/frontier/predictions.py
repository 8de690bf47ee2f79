"""What a reader of this part is asked to guess, in the order of the notebook."""

import numpy as np

from fabriclab import catalog, cluster, link, reliability
from fabriclab.course.engine.exercises.slips import Slip
from fabriclab.course.engine.predict import Prediction
from fabriclab.units import GB, Gbps, Tbps, hour

PORTS = link.switch_ports(catalog.ASIC_51T.capacity, 400 * Gbps)


def _tiers(rate):
    chip = max(catalog.ASICS, key=lambda asic: asic.capacity)
    return link.tree_tiers(10_000, link.switch_ports(chip.capacity, rate))


def _fewer(fibre):
    trees = [link.tree_optics(10_000, radix, hosts_on_fibre=fibre) for radix in (64, 256)]
    before, after = (tree.switch_ends + tree.host_ends for tree in trees)
    return 1 - after / before


def _watts():
    old = link.serdes_power(400 * Gbps, catalog.SERDES_112G[0])
    return link.serdes_power(800 * Gbps, catalog.SERDES_224G[0]) / old


def _saved():
    tree = link.tree_optics(10_000, 64, hosts_on_fibre=False)
    return tree.pluggable - tree.copackaged


def _lost(ports, repair):
    return reliability.port_time_lost(reliability.rate_from_ppm(10), 128_000, ports, repair)


def _stranded():
    draw = np.random.default_rng(6)
    return cluster.stranded(64 * GB * np.where(draw.random((500, 16)) < 0.08, 4.0, 1.0))


PREDICTIONS = (
    Prediction("frontier.wide", "tiers with ports of 1.6 Tb/s", lambda: _tiers(1.6 * Tbps)),
    Prediction("frontier.narrow", "tiers with ports of 400 Gb/s", lambda: _tiers(400 * Gbps)),
    Prediction(
        "frontier.halves",
        "modules saved if the hosts are on fibre",
        lambda: _fewer(True),
        "%",
        slips=(Slip("copper", "that holds for hosts on copper", lambda: _fewer(False)),),
    ),
    Prediction(
        "frontier.watts",
        "how many times the watts of a port grow",
        _watts,
        "x",
        slips=(Slip("bit", "the port has twice the bits as well", lambda: 2.0),),
    ),
    Prediction(
        "frontier.switch_saves",
        "what one switch saves",
        lambda: link.optical_dividend(PORTS).saved,
        "W",
    ),
    Prediction(
        "frontier.fed",
        "H100 chips that the fleet's savings feed",
        lambda: link.accelerators_fed(link.optical_dividend(PORTS, switches=1000).saved),
        moral="With the node around each it is little more than half of that.",
    ),
    Prediction(
        "frontier.megawatt", "what engines save for 10,000 GPUs, hosts on copper", _saved, "W"
    ),
    Prediction(
        "frontier.fixed",
        "port-hours of fixed engines for one of modules",
        lambda: _lost(PORTS, 4 * hour) / _lost(1, 1 * hour),
        "x",
        slips=(
            Slip("hours", "the switch has other ports too", lambda: 4.0),
            Slip("ports", "the repair takes longer as well", lambda: 128.0),
        ),
    ),
    Prediction("frontier.pool", "the memory a pool need not buy", _stranded, "%"),
    Prediction(
        "frontier.planes",
        "tiers of the network with eight planes",
        lambda: link.multi_plane(131_072, 800 * Gbps, 51.2 * Tbps, 8).tiers,
        slips=(
            Slip(
                "one plane",
                "that is one plane's tree; thinner ports make a flatter one",
                lambda: link.multi_plane(131_072, 800 * Gbps, 51.2 * Tbps, 1).tiers,
            ),
        ),
    ),
)
