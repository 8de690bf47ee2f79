"""Rows of scale-up: from node to campus."""

from fabriclab import catalog, scaleup
from fabriclab.course.engine.ledger import Row
from fabriclab.course.scaleup.rows.common import ACROSS, ONE_WAY, OUT, UP
from fabriclab.units import GB, TB, kW, ns

NETWORK, WIDE = catalog.TIERS[-2:]


def _each(k):
    least, most = scaleup.watts_each(catalog.REGIMES[k])
    return f"{least / kW:.3g} kW" if least == most else f"{least / kW:.3g} to {most / kW:.3g} kW"


ROWS = [
    # three regimes
    Row(
        "regimes/scale-up-count",
        "field guide, Scale-Up vs Scale-Out",
        "8-1,024",
        lambda: catalog.NVL72.packages,
        "assumed",
        "accelerators; elsewhere in the same text 72-576, and 10-1,000 nodes. An NVL72 is inside"
        " all three",
    ),
    Row(
        "regimes/scale-up-power",
        "field guide, Scale-Up vs Scale-Out",
        "12 kW-1 MW",
        None,
        "assumed",
        f"{_each(0)} an accelerator; a DGX H100 is {catalog.DGX_H100_POWER / 8 / kW:.2f} kW for"
        " each of its eight",
    ),
    Row(
        "regimes/scale-up-latency",
        "field guide, Scale-Up vs Scale-Out",
        "nanoseconds",
        lambda: catalog.NVL8.latency,
        "agrees",
        "700 of them in a node by its last table; an NVL72 has 1 us there",
        between=(1 * ns, 999 * ns),
    ),
    Row(
        "regimes/scale-out-count",
        "field guide, Scale-Up vs Scale-Out",
        "100,000",
        None,
        "assumed",
        "about; one data centre",
    ),
    Row(
        "regimes/scale-out-power",
        "field guide, Scale-Up vs Scale-Out",
        "180 MW",
        lambda: 100_000 * catalog.DGX_H100_POWER / 8,
        "conflicts",
        f"{_each(1)} an accelerator, where the line below has {_each(2)}: by that 100,000 take 100"
        " MW. Both lines are rough, the last one a least value; at a DGX H100's draw it is 127.5"
        " MW before cooling",
        other="100 MW",
    ),
    Row(
        "regimes/scale-out-latency",
        "field guide, Scale-Up vs Scale-Out",
        "microseconds",
        lambda: NETWORK.latency[0],
        "agrees",
        "3 to 5 by its last table",
        between=(1000 * ns, 1e6 * ns),
    ),
    Row(
        "regimes/scale-across-count",
        "field guide, Scale-Up vs Scale-Out",
        "1 million",
        None,
        "assumed",
        "or more",
    ),
    Row(
        "regimes/scale-across-power",
        "field guide, Scale-Up vs Scale-Out",
        "1 GW",
        None,
        "assumed",
        f"or more; {_each(2)} an accelerator, the least of the three regimes"
        " (regimes/scale-out-power)",
    ),
    Row(
        "regimes/scale-across-latency",
        "field guide, Scale-Up vs Scale-Out",
        "milliseconds",
        lambda: WIDE.latency[0],
        "agrees",
        "10 to 100 by its last table: fibre of 2,000 km and more; sites of one campus are some us"
        " apart",
        between=(1e6 * ns, 1e9 * ns),
    ),
    Row(
        "regimes/scale-up-nodes",
        "field guide, table of features",
        "10-1,000",
        None,
        "assumed",
        "nodes; 8-1,024 accelerators above",
    ),
    Row(
        "regimes/scale-out-gpus",
        "field guide, table of features",
        "100-10,000",
        None,
        "assumed",
        "the scale of scale-out, nodes in one line and GPUs of a training job in another; 10,000"
        " nodes of eight are 80,000, near the 100,000 accelerators of the picture, 10,000 GPUs a"
        " tenth of them",
    ),
    # the campus
    Row(
        "campus/xpus",
        "field guide, campus",
        "1 million",
        lambda: catalog.CAMPUS_XPUS,
        "assumed",
        "Broadcom's premise",
    ),
    Row(
        "campus/node",
        "field guide, campus",
        "1,000",
        None,
        "assumed",
        "accelerators a scale-up node; largest announced domain: 144 packages",
    ),
    Row(
        "campus/hbm",
        "field guide, campus",
        "100 Tb/s",
        lambda: catalog.CAMPUS_HBM,
        "assumed",
        f"{catalog.CAMPUS_HBM / TB:.1f} TB/s of memory each; B200 has {catalog.B200.hbm / TB:.0f}."
        f" Scale-up as stated is {UP.rate / catalog.CAMPUS_HBM:.1%} of it, one way half of that",
    ),
    Row(
        "campus/scale-up",
        "field guide, campus",
        "14.4 Eb/s",
        lambda: catalog.CAMPUS_XPUS * catalog.B200.nvlink.both_directions,
        "agrees",
        "a million of NVLink 5's 1.8 TB/s, both directions together; one way 7.2 Eb/s (E-B7)",
    ),
    Row(
        "campus/scale-out",
        "field guide, campus",
        "1.6 Eb/s",
        lambda: scaleup.pyramid().stated[1],
        "assumed",
        f"{OUT.rate / GB:.0f} GB/s each: two ports of 800 Gb/s one way, or one both ways; the text"
        " does not say",
    ),
    Row(
        "campus/scale-across",
        "field guide, campus",
        "0.16 Eb/s",
        lambda: scaleup.pyramid().stated[2],
        "assumed",
        f"{ACROSS.rate / GB:.0f} GB/s each; a tenth of scale-out",
    ),
    Row(
        "campus/ratio",
        "field guide, campus",
        "8x",
        lambda: scaleup.pyramid().ratio_stated,
        "agrees",
        f"14.4/(1.6 + 0.16), as stated; {UP.rate / OUT.rate:.1f} over scale-out alone",
    ),
    Row(
        "campus/ratio-one-way",
        "field guide, campus",
        "8x",
        lambda: scaleup.pyramid(ONE_WAY).ratio_per_direction,
        "differs",
        "like for like, if 1.6 and 0.16 count one direction as a port's rate does: 7.2/1.76. The"
        " text names no base (E-B7)",
    ),
    Row(
        "campus/nvlink5",
        "field guide, campus",
        "1.8 TB/s",
        lambda: catalog.B200.nvlink.both_directions,
        "agrees",
        "both directions together; 0.9 one way",
    ),
    Row(
        "esun/ratio",
        "field guide, why ESUN",
        "8-12 x",
        lambda: UP.rate / OUT.rate,
        "agrees",
        "scale-up over scale-out; the campus has 9, H100"
        f" {catalog.H100.nvlink.per_direction / catalog.H100.port.per_direction:.0f} one way, a"
        " B200 with one NDR port"
        f" {catalog.B200.nvlink.per_direction / catalog.B200.port.per_direction:.0f} one way",
    ),
]
