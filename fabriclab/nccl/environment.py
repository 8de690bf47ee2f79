"""What NCCL's environment variables set: which adapters, which algorithms and protocols, how many
channels, which way inside.

Values are read as NCCL reads them, its silences included: a name that matches nothing filters out
everything, and a word it does not know is passed over. Source: NCCL user guide, Environment
Variables; NCCL sources, misc/param.cc and graph/tuning.cc.
"""

import difflib
from dataclasses import dataclass

from fabriclab import catalog
from fabriclab.checks import count, instance, nonnegative, one_of, positive, scalar
from fabriclab.nccl.variables import MOST_CHANNELS, PROTOCOLS, READERS

# Real, and left out: they change what is not in this model.
_OTHERS = (
    "NCCL_SOCKET_IFNAME",
    "NCCL_SOCKET_NTHREADS",
    "NCCL_NSOCKS_PERTHREAD",
    "NCCL_NET",
    "NCCL_NET_PLUGIN",
    "NCCL_NET_GDR_LEVEL",
    "NCCL_NET_GDR_READ",
    "NCCL_IB_TIMEOUT",
    "NCCL_IB_RETRY_CNT",
    "NCCL_IB_SL",
    "NCCL_IB_TC",
    "NCCL_IB_QPS_PER_CONNECTION",
    "NCCL_IB_ADAPTIVE_ROUTING",
    "NCCL_IB_PCI_RELAXED_ORDERING",
    "NCCL_IB_MERGE_NICS",
    "NCCL_BUFFSIZE",
    "NCCL_NTHREADS",
    "NCCL_DEBUG_SUBSYS",
    "NCCL_DEBUG_FILE",
    "NCCL_TOPO_DUMP_FILE",
    "NCCL_NVLS_ENABLE",
    "NCCL_COLLNET_ENABLE",
    "NCCL_PXN_DISABLE",
    "NCCL_SHM_DISABLE",
    "NCCL_CUMEM_ENABLE",
    "NCCL_LAUNCH_MODE",
    "NCCL_COMM_BLOCKING",
    "NCCL_CONF_FILE",
    "NCCL_HOSTID",
)


@dataclass(frozen=True)
class Node:
    """A machine as NCCL finds it: `gpus`, `hcas` by name, `port` bytes per second one way of each,
    `fabric` "IB" or "RoCE".

    `nvlink` and `host` are bytes per second one way of a GPU; `nvls` the measured busbw with the
    switches adding up, 0 for none; `cpu` "Intel" or "AMD", by which NCCL limits LL and counts the
    time to post to the network.

    >>> from fabriclab.units import GB
    >>> node = Node("4 GPUs", 4, ("mlx5_0",), 50 * GB, "IB", 450 * GB, 25 * GB, 0.0, cpu="AMD")
    >>> node.gpus, node.cpu
    (4, 'AMD')
    """

    name: str
    gpus: int
    hcas: tuple
    port: float
    fabric: str
    nvlink: float
    host: float
    nvls: float
    cpu: str = "Intel"

    def __post_init__(self):
        instance("name", self.name, str, "'DGX H100'")
        scalar("gpus", count("gpus", self.gpus))
        if not isinstance(self.hcas, tuple) or not all(isinstance(h, str) for h in self.hcas):
            raise ValueError(f"hcas must be a tuple of names, not {self.hcas!r:.60}")
        for rate in ("port", "nvlink", "host"):
            scalar(rate, positive(rate, getattr(self, rate)))
        scalar("nvls", nonnegative("nvls", self.nvls))
        one_of("fabric", self.fabric, ("IB", "RoCE"))
        one_of("cpu", self.cpu, ("Intel", "AMD"))


DGX_H100 = Node(
    "DGX H100",
    8,
    tuple(f"mlx5_{i}" for i in range(8)),
    catalog.H100.port.per_direction,
    "IB",
    catalog.H100.nvlink.per_direction,
    catalog.H100.host.per_direction,
    catalog.H100_BUSBW[1],
)


@dataclass(frozen=True)
class Settings:
    """What NCCL works with on `node`: `network` "IB", "RoCE" or "Socket", the `hcas` it uses,
    `algorithms` and `protocols` it may choose.

    `channels` is (least, most); `inside` the way between a node's GPUs. `effects` say what each
    variable does, `doubts` what NCCL would ignore, get wrong, or was probably not meant.
    """

    node: Node
    network: str
    hcas: tuple
    algorithms: tuple
    protocols: tuple
    channels: tuple
    inside: str
    effects: tuple = ()
    doubts: tuple = ()

    def __str__(self):
        uses = (
            f" over {len(self.hcas)} of {len(self.node.hcas)} ports"
            if self.network != "Socket"
            else ""
        )
        lines = [
            f"{self.node.name}: {self.network}{uses}; {self.inside} inside;"
            f" {', '.join(self.algorithms)}; {', '.join(self.protocols)}"
        ]
        return "\n".join(
            [
                *lines,
                *(f"  {effect}" for effect in self.effects),
                *(f"  ! {doubt}" for doubt in self.doubts),
            ]
        )


def settings(environment: dict[str, str], node: Node = DGX_H100) -> Settings:
    """The `Settings` that `environment`, a dict of variables' names and values, gives on `node`.

    Names must be NCCL's; a name that is none is told in `doubts` with the nearest one. Raises
    ValueError for what is no dict of text (numbers are taken as they would be written).

    Other words: environment variables, NCCL_IB_HCA, NCCL_ALGO, NCCL_PROTO, tuning.

    >>> print(settings({"NCCL_IB_HCA": "mlx5_0,mlx5_1", "NCCL_PROTO": "Simple"}))
    DGX H100: IB over 2 of 8 ports; NVLink inside; Ring, Tree, NVLS, NVLSTree; Simple
      NCCL_IB_HCA: only mlx5_0, mlx5_1
      NCCL_PROTO: only Simple
      ! NCCL_IB_HCA leaves 2 of 8 ports: all traffic to other nodes goes through them
    """
    if not isinstance(node, Node):
        raise ValueError(f"node must be a Node, such as DGX_H100, not {node!r}")
    found = {
        "network": node.fabric,
        "hcas": node.hcas,
        "algorithms": _possible(node),
        "protocols": PROTOCOLS,
        "channels": (1, MOST_CHANNELS),
        "inside": "NVLink",
    }
    effects, doubts = [], []
    for name, value in _texts(environment).items():
        if name in READERS:
            READERS[name](
                value,
                found,
                lambda words, name=name: effects.append(f"{name}: {words}"),
                lambda words, name=name: doubts.append(f"{name} {words}"),
                node,
            )
        elif name in _OTHERS:
            effects.append(
                f"{name}: a variable of NCCL that this model does not know; nothing here depends"
                " on it"
            )
        else:
            near = difflib.get_close_matches(name.upper(), [*READERS, *_OTHERS], n=1, cutoff=0.7)
            doubts.append(
                f"{name} is not a known variable of NCCL, and NCCL would not complain"
                + (f"; did you mean {near[0]}?" if near else "")
            )
    if not found["hcas"]:
        found["network"] = "Socket"
    least, most = found["channels"]
    if least > most:
        doubts.append(
            f"NCCL_MIN_NCHANNELS {least} is more than NCCL_MAX_NCHANNELS {most}: the model takes"
            f" {most}"
        )
        found["channels"] = most, most
    return Settings(node, effects=tuple(effects), doubts=tuple(doubts), **found)


def _texts(environment):
    if not isinstance(environment, dict):
        raise ValueError(
            "environment must be a dict of variables, such as {'NCCL_IB_DISABLE': '1'}, not"
            f" {environment!r}"
        )
    for name, value in environment.items():
        if (
            not isinstance(name, str)
            or not isinstance(value, (str, int))
            or isinstance(value, bool)
        ):
            raise ValueError(
                f"environment must hold names and values as text, not {name!r}: {value!r}"
            )
    return {name.strip(): str(value).strip() for name, value in environment.items()}


def _possible(node):
    return ("Ring", "Tree", "NVLS", "NVLSTree") if node.nvls else ("Ring", "Tree")
