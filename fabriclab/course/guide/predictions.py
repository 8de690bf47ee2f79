"""What a reader of this part is asked to guess, in the order of the notebook."""

from fabriclab import catalog, collectives, link, nccl, reliability, scaleup
from fabriclab.course.engine.exercises.slips import Slip
from fabriclab.course.engine.predict import Prediction
from fabriclab.units import GB, KB, MB, Gbps, day, hour, ms, us

SIX = {
    "NCCL_IB_DISABLE": "0",
    "NCCL_IB_HCA": "mlx5_0,mlx5_1",
    "NCCL_IB_GID_INDEX": "3",
    "NCCL_P2P_LEVEL": "NVL",
}
PLAIN = nccl.settings({})


def _step():
    """The least factor of bandwidth from the NVL72 rack to the network."""
    above, below = catalog.TIERS[2], catalog.TIERS[3]
    return catalog.step_between(above, below, "bandwidth")[0]


def _grew():
    first, last = catalog.INFINIBAND[0], catalog.INFINIBAND[-1]
    factors = {"lanes": last.lanes / first.lanes, "speed": last.lane_rate / first.lane_rate}
    return min(factors, key=lambda name: abs(factors[name] - 1))


def _slowest_line():
    times = {
        name: nccl.allreduce_time(6 * GB, 128, nccl.settings({name: value}))
        for name, value in SIX.items()
    }
    return max(times, key=times.get)


def _pair(size):
    return " ".join(nccl.choice(size, 16, PLAIN))


def _telling():
    """Whether one port for eight, which a log tells in its network line, costs the difference."""
    one = nccl.settings({"NCCL_IB_HCA": "mlx5_0"})
    ratio = nccl.busbw(8 * GB, 2, PLAIN) / nccl.busbw(8 * GB, 2, one)
    return "the line that names the ports" if ratio > 4 else "the version"


def _start_ups(allreduce, ranks):
    """Seconds that 2 us more a message add to an AllReduce."""
    return allreduce(0.0, ranks, 2 * us, catalog.NDR.beta)


def _modules():
    """Optical modules of a CloudMatrix384: scale-up, and two tiers of scale-out on fibre."""
    one = catalog.CLOUDMATRIX_384
    out = link.tree_optics(one.accelerators, 64, hosts_on_fibre=True)
    return int(one.accelerators * one.modules + out.switch_ends + out.host_ends)


def _needs(port):
    return next(g for g in (3, 4, 5, 6) if scaleup.payload_rate(g) >= port * Gbps)


PAIRS = ("Tree LL", "Tree LL128", "NVLSTree Simple", "Ring Simple")
PREDICTIONS = (
    Prediction(
        "guide.step",
        "the least factor between 1.8 TB/s and the network",
        _step,
        "x",
        slips=(Slip("bits", "one is in bytes, the other in bits", lambda: 1800 / 800),),
    ),
    Prediction(
        "guide.nothing",
        "which contributed nothing",
        _grew,
        options=("lanes", "speed", "line code", "levels"),
    ),
    Prediction(
        "guide.step_grows",
        "by how much the training step grows",
        lambda: _start_ups(collectives.ring_allreduce, 1024) / 4.2,
        "%",
    ),
    Prediction(
        "guide.token_grows",
        "by how much the token's time grows",
        lambda: 160 * _start_ups(collectives.recursive_doubling_allreduce, 16) / (20 * ms),
        "%",
        slips=(Slip("once", "it is 160 AllReduces a token", lambda: 4 * 2 * us / (20 * ms)),),
    ),
    Prediction(
        "guide.modules",
        "optical modules for each of the 384 chips",
        lambda: _modules() / catalog.CLOUDMATRIX_384.accelerators,
        slips=(
            Slip("ends", "a link has two ends", lambda: 9),
            Slip("scale-up", "the scale-out network has modules too", lambda: 14),
        ),
    ),
    Prediction(
        "guide.modules_a_year",
        "failed modules a year at one in 100,000 a day",
        lambda: reliability.expected_failures(
            reliability.rate_from_ppm(10), _modules(), reliability.YEAR
        ),
        slips=(Slip("day", "that is a day's", lambda: 1e-5 * _modules()),),
    ),
    Prediction(
        "guide.spines",
        "spines of 64 ports under which 32 leaves are non-blocking",
        lambda: 32 * (catalog.QM9700.ports // 2) // catalog.QM9700.ports,
        slips=(Slip("guide", "the guide draws them, and it is 2:1", lambda: 8),),
    ),
    Prediction(
        "guide.line", "the line that takes the network away", _slowest_line, options=tuple(SIX)
    ),
    Prediction("guide.small", "for 8 KB", lambda: _pair(8 * KB), options=PAIRS),
    Prediction("guide.middle", "for 4 MB", lambda: _pair(4 * MB), options=PAIRS),
    Prediction("guide.large", "for 8 GB", lambda: _pair(8 * GB), options=PAIRS),
    Prediction(
        "guide.log",
        "the line of a log that tells 48 from 380 GB/s",
        _telling,
        options=("the version", "the line that names the ports", "the line of the rings"),
    ),
    Prediction(
        "guide.per_million",
        "50 of 100,000 a day, in parts per million",
        lambda: 1e6 * catalog.HUNDRED_THOUSAND.gpu / catalog.HUNDRED_THOUSAND.gpus,
    ),
    Prediction(
        "guide.quiet_hours",
        "the share of hours without a failure",
        lambda: reliability.failure_free(catalog.HUNDRED_THOUSAND.least / day, 1, hour),
        "%",
    ),
    Prediction(
        "guide.generation",
        "the generation of PCIe that 800 Gb/s need",
        lambda: str(_needs(800)),
        options=("3", "4", "5", "6"),
    ),
    Prediction(
        "guide.ring",
        "the most that a ring shows in an H100 node",
        lambda: catalog.H100.nvlink.per_direction,
        "B/s",
        slips=(Slip("both", "a ring sends one way", lambda: 900 * GB),),
    ),
    Prediction(
        "guide.at_all",
        "the most at all",
        lambda: collectives.bus_factor("all_reduce", 8) * catalog.H100.nvlink.per_direction,
        "B/s",
    ),
)
