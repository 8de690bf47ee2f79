"""Incidents of our own making, each with a known cause: lecture material, exercises, and what the
diagnosis is tried on.

`make(cause, seed)` draws one of a kind: numbers from the models, severity and noise from the seed.
`shipped` holds the folders of ``notebooks/incidents``, written by ``python -m
tools.incidents notebooks/incidents`` and the same bytes on every machine. Their names
tell nothing; `KNOWN` does.
"""

import random
import sys
from datetime import datetime, timedelta
from pathlib import Path

from fabriclab import catalog, cluster, topology
from fabriclab.checks import count
from fabriclab.logs.diagnose.finding import PAYLOAD
from fabriclab.logs.perfquery import WORD
from fabriclab.units import Gbps, day, us
from tools import makers
from tools import samples as made

KNOWN = {  # folder -> (cause, a key of `causes.CAUSES` or a healthy one; seed)
    "01-alder": ("hca", 5),
    "02-birch": ("counters", 3),
    "03-cedar": ("neighbour", 3),
    "04-elm": ("healthy", 4),
    "05-hazel": ("placement", 2),
    "06-juniper": ("link", 6),
    "07-larch": ("alone", 1),
    "08-maple": ("storm", 5),
    "09-rowan": ("input", 5),
    "10-willow": ("ecmp", 6),
    "11-aspen": ("pcie", 4),
    "12-hawthorn": ("host", 2),
    "13-linden": ("healthy-roce", 3),
    "14-spruce": ("gdr", 3),
    "15-yew": ("mtu", 5),
}
PORT = catalog.NDR.beta
GPUS = 8  # a node, with a port each
_SIZES = [1 << power for power in range(16, 34)]  # 64 KiB to 8 GiB
_MESSAGES = [1 << power for power in range(12, 23)]
_MIXED = 0.35  # share of a step that is exposed communication, where a step's length is told


class _Draw:
    """Everything that is drawn for one incident, from one seed; plain arithmetic, so that every
    machine draws the same.
    """

    def __init__(self, seed, nodes):
        self.random = random.Random(seed)
        nodes = self.random.choice(nodes)
        row, first = self.random.choice("abcdefgh"), self.random.randrange(1, 40)
        self.hosts = [f"gpu-{row}{first + at:02d}" for at in range(nodes)]
        self.ranks = nodes * GPUS
        self.moment = datetime(2026, 3, 2, 8) + timedelta(minutes=self.random.randrange(10_000))

    def between(self, low, high):
        return low + (high - low) * self.random.random()

    def noisy(self, times, spread):
        return made.noisy(times, self.random.randrange(10**6), spread)

    def allreduce(self, slowdown=1.0, ports=GPUS):
        """A ring over `ports` ports a node, one of its links slower by `slowdown`."""
        times = [
            cluster.slow_link(size, self.ranks, catalog.NDR.alpha, ports * PORT * PAYLOAD, slowdown)
            for size in _SIZES
        ]
        return made.nccl_tests(
            "all_reduce", _SIZES, self.noisy(times, 0.04), self.hosts, GPUS, self.noisy(times, 0.03)
        )

    def alltoall(self, network, job):
        """Each of the job's ports sends to all others; what crosses the job's middle goes at what
        the cut carries.
        """
        inside = PORT * PAYLOAD
        across = min(topology.flow(network, *halves) for halves in topology.halvings(network, job))
        cut = PAYLOAD * min(across, self.ranks / 2 * PORT)
        nodes = len(self.hosts)
        times = [
            (self.ranks - 1) * catalog.NDR.alpha
            + max(
                size * (nodes - 1) / nodes / inside,
                topology.alltoall_cut_bound(size, self.ranks, cut),
            )
            for size in _SIZES
        ]
        return made.nccl_tests(
            "alltoall", _SIZES, self.noisy(times, 0.04), self.hosts, GPUS, self.noisy(times, 0.03)
        )

    def pair(self, share=1.0, halts=1.0, qps=1, link="IB", mtu=4096, gpu=False):
        """A pair that gets `share` of a healthy port; below 1 `halts` is its average over its
        peak; `gpu` for GPU memory.
        """
        times = self.noisy(
            [max(0.22 * us, size / (share * PAYLOAD * PORT)) for size in _MESSAGES], 0.02
        )
        averages = [size / time for size, time in zip(_MESSAGES, times)]
        device = f"mlx5_{self.random.randrange(GPUS)}"
        return made.perftest_bandwidth(
            _MESSAGES,
            averages,
            [1.01 * average / halts for average in averages],
            qps=qps,
            link=link,
            device=device,
            mtu=mtu,
            gpu=gpu,
        )

    def latency(self, time, link="IB"):
        each = self.noisy([time + size / (PORT * PAYLOAD) for size in (2, 8, 32, 128, 512)], 0.05)
        return made.perftest_latency(
            [2, 8, 32, 128, 512],
            [(0.9 * t, 9 * t, t, 1.1 * t, 0.3 * t, 3 * t, 6 * t) for t in each],
            link=link,
        )

    def port(self, **wrong):
        """A port of four clean lanes, unless told what is wrong."""
        clean = [round(5e7 * self.between(0.7, 1.4)) for _ in range(4)]
        return made.mlxlink(
            wrong.pop("lanes", clean), self.between(3, 12) * day, **{"colours": False, **wrong}
        )

    def counters(self, sent=0.3, wait=0.02, seconds=10, extended=True, **grown):
        """Two answers of one port, `seconds` apart, with times: it sends a share `sent` of its
        line; `wait` ticks a packet; others `grown` a second.
        """
        lid, number = self.random.randrange(10, 90), self.random.randrange(1, 33)
        packets = sent * PORT / 4150
        growth = {
            "PortXmitData": sent * PORT / WORD,
            "PortRcvData": 0.97 * sent * PORT / WORD,
            "PortXmitPkts": packets,
            "PortRcvPkts": packets,
        }
        growth |= {
            "SymbolErrorCounter": 0,
            "LinkErrorRecoveryCounter": 0,
            "LinkDownedCounter": 0,
            "PortRcvErrors": 0,
            "PortXmitDiscards": 0,
            "PortXmitWait": wait * packets,
        }
        growth |= grown
        start = {
            counter: round(rate * self.between(2e4, 9e4))
            for counter, rate in growth.items()
            if counter.endswith(("Data", "Pkts"))
        }
        text = ""
        for at in (0, seconds):
            values = {
                counter: start.get(counter, 0) + round(rate * at)
                for counter, rate in growth.items()
            }
            if not extended:
                values = {counter: min(value, (1 << 32) - 1) for counter, value in values.items()}
            text += (
                f"# {(self.moment + timedelta(seconds=at)).isoformat()}+00:00\n"
                + made.perfquery(lid, number, values, extended)
            )
        return text

    def gpus(self, busy, active):
        """Six samples of a node's GPUs around the shares `busy` and `active`."""

        def near(value):
            return min(1.0, max(0.0, value * self.between(0.97, 1.03)))

        return made.dcgmi_dmon(
            [[(near(busy), near(active)) for _ in range(GPUS)] for _ in range(6)]
        )

    def waiting(self):
        return self.gpus(0.99, self.between(0.25, 0.55))

    def working(self):
        return self.gpus(0.995, self.between(0.93, 0.97))

    def told(self, **more):
        """``incident.toml``, in its own units; lengths of a step under [iteration]."""
        steps = {key: more.pop(key) for key in ("before", "now", "synthetic") if key in more}
        lines = [
            f"nodes = {len(self.hosts)}",
            f"ports_per_node = {GPUS}",
            f'port = "{PORT / Gbps:g} Gb/s"',
            *(f"{key} = {value}" for key, value in more.items()),
        ]
        return (
            "\n".join(
                lines
                + ["", "[iteration]  # seconds a step"] * bool(steps)
                + [f"{key} = {value:.2f}" for key, value in steps.items()]
            )
            + "\n"
        )

    def steps(self, slowdown):
        """Seconds a step before and now, when communication is slower by `slowdown`."""
        before = self.between(1.5, 6)
        return {"before": before, "now": before * (1 + cluster.waste(_MIXED, 1 - 1 / slowdown))}


def _healthy(draw):
    return {
        "gpu.txt": draw.working(),
        "allreduce.txt": draw.allreduce(),
        "write_bw.txt": draw.pair(),
        "perfquery.txt": draw.counters(sent=draw.between(0.2, 0.6)),
        "mlxlink.txt": draw.port(),
        "incident.toml": draw.told(),
    }


def _link(draw):
    kind = draw.random.choice(("two lanes", "one lane", "half speed"))
    slowdown = 4 if kind == "one lane" else 2
    lanes = [
        round(5e7 * draw.between(0.7, 1.4))
        for _ in range({"two lanes": 2, "one lane": 1}.get(kind, 4))
    ]
    speed, rate = (
        ("IB-HDR", 212.5 * Gbps) if kind == "half speed" else ("IB-NDR", 425 * Gbps / slowdown)
    )
    return {
        "gpu.txt": draw.waiting(),
        "allreduce.txt": draw.allreduce(slowdown),
        "write_bw.txt": draw.pair(1 / slowdown),
        "write_bw_other_pair.txt": draw.pair(),
        "mlxlink.txt": draw.port(lanes=lanes, speed=speed, rate=rate),
        "perfquery.txt": draw.counters(
            sent=PAYLOAD / slowdown,
            SymbolErrorCounter=draw.between(1, 40),
            PortRcvErrors=draw.between(0.5, 10),
        ),
        "incident.toml": draw.told(**draw.steps(slowdown)),
    }


def _neighbour(draw):
    share = draw.between(0.3, 0.6)
    return {
        "allreduce_morning.txt": draw.allreduce(draw.between(1.0, 1.08)),
        "allreduce_noon.txt": draw.allreduce(1 / share),
        "write_bw.txt": draw.pair(share, halts=share),
        "perfquery_switch_port.txt": draw.counters(
            sent=draw.between(0.95, 0.985),
            wait=draw.between(2, 20),
            PortXmitDiscards=draw.between(20, 400),
        ),
        "mlxlink.txt": draw.port(),
        "incident.toml": draw.told(**draw.steps(1 / share)),
    }


def _ecmp(draw):
    flows = draw.random.choice((2, 2, 3, 4))
    return {
        "allreduce.txt": draw.allreduce(flows),
        "write_bw.txt": (
            draw.pair(1 / flows, link="Ethernet")
            + draw.pair(draw.between(0.95, 1.0), qps=16, link="Ethernet")
        ),
        "write_bw_other_pair.txt": draw.pair(link="Ethernet"),
        "ethtool.txt": made.ethtool(
            {
                "rx_prio3_pause": draw.random.randrange(5_000, 90_000),
                "tx_prio3_pause": 0,
                "rx_discards_phy": 0,
            }
        ),
        "mlxlink.txt": draw.port(speed="400G"),
        "incident.toml": draw.told(**draw.steps(flows)),
    }


def _input(draw):
    busy = draw.between(0.35, 0.82)
    before = draw.between(0.8, 3)
    return {
        "gpu.txt": draw.gpus(busy, busy * draw.between(0.9, 0.96)),
        "allreduce.txt": draw.allreduce(),
        "write_bw.txt": draw.pair(),
        "perfquery.txt": draw.counters(sent=0.1),
        "mlxlink.txt": draw.port(),
        "incident.toml": draw.told(before=before, now=before / busy),
    }


def _alone(draw):
    copies = draw.noisy([4 * us + 2 * size / 2.6e12 for size in _SIZES[10:]], 0.2)
    return {
        "gpu.txt": draw.working(),
        "allreduce.txt": made.nccl_tests(
            "all_reduce",
            _SIZES[10:],
            copies,
            draw.hosts[:1],
            GPUS,
            [0.31 * us] * len(copies),
            alone=True,
        ),
        "write_bw.txt": draw.pair(),
        "perfquery.txt": draw.counters(sent=0.02),
        "mlxlink.txt": draw.port(),
    }


def _hca(draw):
    ports = draw.random.choice((1, 1, 2))
    return {
        "nccl.log": made.nccl_log(
            draw.hosts,
            GPUS,
            ports,
            channels=2,
            forced=[("NCCL_IB_HCA", ",".join(f"mlx5_{at}" for at in range(ports)))],
        ),
        "allreduce.txt": draw.allreduce(ports=ports),
        "write_bw.txt": draw.pair(),
        "perfquery.txt": draw.counters(sent=draw.between(0.02, 0.1)),
        "mlxlink.txt": draw.port(),
        "incident.toml": draw.told(**draw.steps(GPUS / ports)),
    }


def _counters(draw):
    return {
        "gpu.txt": draw.working(),
        "allreduce.txt": draw.allreduce(),
        "write_bw.txt": draw.pair(),
        "perfquery.txt": draw.counters(sent=draw.between(0.3, 0.6), extended=False),
        "mlxlink.txt": draw.port(),
        "incident.toml": draw.told(),
    }


_MAKERS = {  # cause -> (maker, how many nodes the job has: one of these is drawn)
    "healthy": (_healthy, (2, 4)),
    "link": (_link, (2, 4)),
    "neighbour": (_neighbour, (2, 4)),
    "storm": (makers.storm, (2, 4)),
    "ecmp": (_ecmp, (2, 4)),
    "input": (_input, (2, 4)),
    "alone": (_alone, (1,)),
    "hca": (_hca, (2, 4)),
    "counters": (_counters, (2, 4)),
    "placement": (makers.placement, (4, 6)),
    "gdr": (makers.gdr, (2,)),
    "mtu": (makers.mtu, (2,)),
    "pcie": (makers.pcie, (2,)),
    "host": (makers.host, (6, 8)),
    "healthy-roce": (makers.healthy_roce, (2,)),
}
CAUSES_MADE = tuple(_MAKERS)


def make(cause, seed):
    """The files of an incident of `cause` ("link", "healthy", …: `CAUSES_MADE`), by name; severity
    and noise follow from `seed`.

    Raises ValueError for a cause that none is made of.

    >>> sorted(make("hca", 1))
    ['allreduce.txt', 'incident.toml', 'mlxlink.txt', 'nccl.log', 'perfquery.txt', 'write_bw.txt']
    """
    if not isinstance(cause, str) or cause not in _MAKERS:
        raise ValueError(f"cause must be one of {', '.join(_MAKERS)}, not {cause!r}")
    maker, nodes = _MAKERS[cause]
    return maker(_Draw(f"{cause} {count('seed', seed, least=0):g}", nodes))


def shipped():
    """The incidents of ``notebooks/incidents``: {folder: {file: text}}."""
    return {folder: make(*known) for folder, known in KNOWN.items()}


if __name__ == "__main__":
    for folder, files in shipped().items():
        Path(sys.argv[1], folder).mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            Path(sys.argv[1], folder, file).write_text(text)
