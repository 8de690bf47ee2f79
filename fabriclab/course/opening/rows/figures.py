"""Rows of the opening: figures 1 to 4."""

from fabriclab import nccl
from fabriclab.catalog import A100, B200, H100, NDR, V100
from fabriclab.collectives import Step, bus_factor, utilisation
from fabriclab.course.engine.ledger import Row
from fabriclab.course.opening.rows.common import GRADIENT, RANKS, _cliff
from fabriclab.units import GB, day, hour, ms

INSIDE, ACROSS = Step(100 * ms, 100 * ms, 1 * ms), Step(100 * ms, 100 * ms, 30 * ms)


CM = 100 * ms / 4  # figure 4 is drawn at 4 cm to 100 ms


def _mixed(gpu, port):
    """Both directions of NVLink over `port` bytes per second one way, as older figures have it."""
    return gpu.nvlink.both_directions / port


def _ring_per_byte(ranks, beta):
    return bus_factor("all_reduce", ranks) / beta


PAYLOAD_30MS = (
    30 * ms / _ring_per_byte(64, NDR.beta)
)  # bytes whose ring takes figure 4's 30 ms on 64 ranks


ROWS = [
    # figure 3
    *[
        Row(
            f"figure-3/hbm-{gpu.name}",
            "Figure 3",
            says,
            lambda gpu=gpu: gpu.hbm,
            "assumed",
            gpu.source.split(";")[0],
        )
        for gpu, says in (
            (V100, "900 GB/s"),
            (A100, "2039 GB/s"),
            (H100, "3350 GB/s"),
            (B200, "8000 GB/s"),
        )
    ],
    *[
        Row(
            f"figure-3/nvlink-{gpu.name}",
            "Figure 3",
            says,
            lambda gpu=gpu: gpu.nvlink.both_directions,
            "assumed",
            gpu.nvlink.source + "; both directions together",
        )
        for gpu, says in (
            (V100, "300 GB/s"),
            (A100, "600 GB/s"),
            (H100, "900 GB/s"),
            (B200, "1800 GB/s"),
        )
    ],
    *[
        Row(
            f"figure-3/year-{gpu.name}",
            "Figure 3, older edition",
            says,
            lambda gpu=gpu: gpu.nvlink.year,
            "agrees",
            f"year, with {gpu.nvlink.name}; {gpu.port_in_text.name}, the port drawn beside it, is"
            f" of {gpu.port_in_text.year}{extra}",
        )
        for gpu, says, extra in (
            (V100, "2017", " (E-03)"),
            (A100, "2020", ""),
            (H100, "2022", ""),
            (B200, "2024", ""),
        )
    ],
    Row(
        "figure-3/ib-V100",
        "Figure 3, older edition",
        "24 GB/s",
        lambda: V100.port.per_direction,
        "differs",
        "V100 systems shipped with EDR, 100 Gb/s = 12.5 GB/s; 24 is HDR, of about 2019, less 4 %."
        " With EDR the figure's ratio is 24 (12 one way) (E-03)",
    ),
    Row(
        "figure-3/ib-A100",
        "Figure 3, older edition",
        "24 GB/s",
        lambda: 0.96 * A100.port.per_direction,
        "assumed",
        "96 % of HDR's 25 GB/s: what arrives, not the line rate",
    ),
    Row(
        "figure-3/ib-H100",
        "Figure 3, older edition",
        "48 GB/s",
        lambda: 0.96 * H100.port.per_direction,
        "assumed",
        "96 % of NDR's 50 GB/s",
    ),
    Row(
        "figure-3/ib-B200",
        "Figure 3, older edition",
        "100 GB/s",
        lambda: 0.96 * B200.port_in_text.per_direction,
        "differs",
        "the other three are 96 % of the line rate, this one is XDR's line rate itself; on the"
        " series' own base it is 96 (E-02). The DGX B200 itself has 400 Gb/s ports, 50 GB/s",
    ),
    Row(
        "figure-3/pcie-V100",
        "Figure 3, older edition",
        "15.75 GB/s",
        lambda: V100.host.per_direction,
        "agrees",
        "16 lanes of 8 GT/s after 128b/130b",
    ),
    Row(
        "figure-3/pcie-A100",
        "Figure 3, older edition",
        "32 GB/s",
        lambda: A100.host.per_direction,
        "agrees",
        "31.5 after 128b/130b",
    ),
    *[
        Row(
            f"figure-3/pcie-{gpu.name}",
            "Figure 3, older edition",
            "64 GB/s",
            lambda gpu=gpu: gpu.host.per_direction,
            "differs",
            "64 is 16 lanes of 32 GT/s before line coding; after 128b/130b, the base of the series'"
            " 15.75, it is 63.0: the mix of E-02 in small",
        )
        for gpu in (H100, B200)
    ],
    Row(
        "figure-3/growth-hbm",
        "Figure 3",
        "9x",
        lambda: B200.hbm / V100.hbm,
        "agrees",
        "8,000 over 900 GB/s",
    ),
    Row(
        "figure-3/growth-nvlink",
        "Figure 3",
        "6x",
        lambda: B200.nvlink.per_direction / V100.nvlink.per_direction,
        "agrees",
        "1,800 over 300 GB/s, or 900 over 150 one way",
    ),
    Row(
        "figure-3/growth-ib",
        "Figure 3",
        "4x",
        lambda: B200.port_in_text.per_direction / V100.port_in_text.per_direction,
        "agrees",
        "XDR over HDR, the ports that the figure draws",
    ),
    Row(
        "figure-3/growth-ib-from-edr",
        "Figure 3",
        "4x",
        lambda: B200.port.per_direction / V100.port.per_direction,
        "agrees",
        "makers' own systems went from EDR to NDR, 50/12.5. To XDR, which the older"
        " figure draws, it"
        " would be 8 (E-03)",
    ),
    *[
        Row(
            f"figure-3/note-{gpu.name}",
            "Figure 3, older edition",
            says,
            lambda gpu=gpu, port=port: _mixed(gpu, port * GB),
            "agrees",
            f"{gpu.nvlink.both_directions / GB:.0f}/{port}: both directions over one (E-01){extra}",
        )
        for gpu, port, says, extra in (
            (V100, 24, "12x", "; 12.5, rounded half to even"),
            (A100, 24, "25x", ""),
            (H100, 48, "19x", ""),
            (B200, 100, "18x", ""),
        )
    ],
    Row(
        "figure-3/note-newest",
        "Figure 3",
        "18x",
        lambda: _mixed(H100, H100.port.per_direction),
        "agrees",
        "900/50; the text names the mixed base, and halves it to 9 beside the figure",
    ),
    *[
        Row(
            f"figure-3/one-way-{gpu.name}",
            "Figure 3",
            "9x",
            lambda gpu=gpu: _cliff(gpu, gpu.port_in_text),
            verdict,
            note,
        )
        for gpu, verdict, note in (
            (
                V100,
                "differs",
                (
                    "150/25 = 6 one way with the figure's HDR, 12 with the EDR it shipped with:"
                    " about 9 holds for the last two generations"
                ),
            ),
            (A100, "differs", "300/25 = 12 one way: about 9 holds for the last two generations"),
            (H100, "agrees", "450/50"),
            (
                B200,
                "agrees",
                "900/100 with the figure's XDR; 18 with the 400 Gb/s ports of the DGX B200",
            ),
        )
    ],
    Row(
        "figure-3/nvlink-over-pcie-least",
        "appendix, inside the node",
        "14.1x",
        lambda: _mixed(H100, 64 * GB),
        "agrees",
        "900/64: both directions over one, as in E-01; like for like 450/63 = 7.1",
    ),
    Row(
        "figure-3/nvlink-over-pcie-most",
        "appendix, inside the node",
        "19x",
        lambda: _mixed(V100, 15.75 * GB),
        "agrees",
        "300/15.75; like for like 9.5",
    ),
    # figure 4
    Row(
        "figure-4/phase",
        "Figure 4",
        "100 ms",
        None,
        "assumed",
        "an input, forward and backward each; Napkin Math 1.2 has 101 ms for all the computing of a"
        " step",
    ),
    Row(
        "figure-4/gpus",
        "Figure 4",
        "64",
        lambda: 8 * nccl.DGX_H100.gpus,
        "assumed",
        "GPUs: eight nodes. The 50 GB/s beside them are one GPU's port, and a node has eight",
    ),
    Row(
        "figure-4/inside",
        "Figure 4",
        "99.5 %",
        lambda: INSIDE.utilisation,
        "agrees",
        "200 of 201 ms",
    ),
    Row(
        "figure-4/across",
        "Figure 4",
        "87 %",
        lambda: ACROSS.utilisation,
        "agrees",
        "200 of 230 ms; 30/230 = 13 % is the idle share",
    ),
    Row(
        "figure-4/across-older",
        "Figure 4, older description",
        "87.8 %",
        lambda: ACROSS.utilisation,
        "differs",
        "200/230 = 87.0 %; corrected since",
    ),
    Row(
        "figure-4/gap",
        "Figure 4",
        "12.5 %",
        lambda: utilisation(200 * ms, 1 * ms) - utilisation(200 * ms, 30 * ms),
        "agrees",
        "percentage points: 99.502 less 86.957 is 12.546",
    ),
    Row(
        "figure-4/idle",
        "Figure 4",
        "30 ms",
        lambda: ACROSS.idle,
        "agrees",
        "nothing overlaps, so all of the AllReduce is idle time",
    ),
    Row(
        "figure-4/drawn-inside",
        "Figure 4, as drawn",
        "1 ms",
        lambda: 0.04 * CM,
        "agrees",
        "0.04 cm at 25 ms a cm",
    ),
    Row(
        "figure-4/drawn-across", "Figure 4, as drawn", "30 ms", lambda: 1.2 * CM, "agrees", "1.2 cm"
    ),
    Row(
        "figure-4/drawn-total", "Figure 4, as drawn", "230 ms", lambda: 9.2 * CM, "agrees", "9.2 cm"
    ),
    Row(
        "figure-4/ratio",
        "Figure 4",
        "30x",
        lambda: _ring_per_byte(64, NDR.beta) / _ring_per_byte(8, H100.nvlink.per_direction),
        "differs",
        "a ring over 64 ranks at 50 GB/s takes 10.1 times as long as one over 8 at 450 (20.3 at"
        f" 900); the {PAYLOAD_30MS / GB:.3f} GB that take 30 ms across take"
        f" {PAYLOAD_30MS * _ring_per_byte(8, H100.nvlink.per_direction) / ms:.2f} ms inside, not 1."
        " The text does call the bars illustrative (E-04)",
    ),
    Row(
        "figure-4/nvlink-label",
        "Figure 4",
        "900 GB/s",
        lambda: H100.nvlink.per_direction,
        "differs",
        "900 is both directions, beside an InfiniBand port's 50 one way: 450 is meant (E-01)",
    ),
    Row(
        "figure-4/millions",
        "after figure 4",
        "millions of dollars",
        None,
        "assumed",
        "no cluster or price is given; 12.5 % of 1,024 GPUs at $3 an hour are"
        f" ${1024 * 3 * 0.125 * 90 * day / hour / 1e6:.2f} M in 90 days, so it takes some thousand"
        " GPUs more, or most of a year",
    ),
    # the inversion and the levels
    Row(
        "inversion/delay",
        "How ML inverts the assumptions",
        "100 ms for all 1,024 GPUs",
        lambda: RANKS * 100 * ms,
        "agrees",
        "102.4 GPU-seconds; 102.3 without the delayed GPU itself",
        between=(102.3, 102.4),
    ),
    Row(
        "inversion/elephant",
        "How ML inverts the assumptions",
        "350 GB",
        lambda: GRADIENT,
        "agrees",
        "of gradient; in a ring each rank sends its neighbour"
        f" {bus_factor('all_reduce', RANKS) * GRADIENT / GB:.1f} GB, in {2 * (RANKS - 1):,} chunks"
        f" of {GRADIENT / RANKS / GB:.3f} GB",
    ),
    Row(
        "inversion/bsp",
        "footnote 1",
        "1990",
        None,
        "assumed",
        "Valiant, Communications of the ACM 33(8), 103-111",
    ),
    Row(
        "levels/five",
        "The five-level model",
        "5",
        None,
        "assumed",
        "wire and link, transport, switches and topology, behaviour, cluster: sections 1.2 to 1.6;"
        " the translation at hand lacks all of 1.4",
    ),
    Row(
        "levels/collectives",
        "opening",
        "3",
        None,
        "assumed",
        "AllReduce, AllGather, AllToAll; a ring's AllReduce is a ReduceScatter and an AllGather,"
        " half of its bytes each",
    ),
    Row(
        "levels/patterns",
        "traffic-pattern table",
        "4",
        None,
        "assumed",
        "global reduction, pipeline, expert AllToAll, checkpoints and tenants; the table is in the"
        " newest edition only",
    ),
]
