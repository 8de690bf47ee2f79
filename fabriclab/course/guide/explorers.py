"""The field guide alive: what NCCL's settings do to an AllReduce. Failures and checkpoints are in
`fabriclab.course.behaviour.fleet_explorers`.
"""

from fabriclab import nccl
from fabriclab.course.engine.explorer import explorer, slider, steps
from fabriclab.course.guide import figures as drawings
from fabriclab.units import GB, KB, si

PORTS = range(9)  # of which none is NCCL_IB_DISABLE=1
ALGORITHMS = ("", "Ring", "Tree", "NVLS", "NVLSTree")
PROTOCOLS = ("", "LL", "LL128", "Simple")
CHANNELS = (1, 2, 4, 8, 12, 16, 24, 32, 64)
NODES = (1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1250)


def environment(ports=8, algorithm="", protocol="", channels=64):
    """The variables that a DGX H100 with `ports` of its eight adapters in use would have set; what
    is left open is not set.

    >>> environment(ports=2, protocol="Simple"), environment(ports=7)
    ({'NCCL_IB_HCA': '=mlx5_0,mlx5_1', 'NCCL_PROTO': 'Simple'}, {'NCCL_IB_HCA': '^=mlx5_7'})
    """
    hcas, found = nccl.DGX_H100.hcas, {}
    if not ports:
        found["NCCL_IB_DISABLE"] = "1"
    elif ports < len(hcas):
        # whichever list is the shorter
        found["NCCL_IB_HCA"] = (
            "=" + ",".join(hcas[:ports])
            if ports <= len(hcas) / 2
            else "^=" + ",".join(hcas[ports:])
        )
    limits = {
        "NCCL_ALGO": algorithm,
        "NCCL_PROTO": protocol,
        "NCCL_MAX_NCHANNELS": str(channels) if channels < nccl.MOST_CHANNELS else "",
    }
    return found | {name: value for name, value in limits.items() if value}


def _open(word):
    return word or "NCCL's choice"


@explorer(
    drawings.busbw,
    drawings.move_busbw,
    [
        {
            "ports": slider(
                "adapters named", PORTS, lambda ports: f"{ports} of 8" if ports else "0: sockets"
            ),
            "size": slider("buffer", steps(1 * KB, 100 * GB), "B"),
        },
        {
            "algorithm": slider("NCCL_ALGO", ALGORITHMS, _open),
            "protocol": slider("NCCL_PROTO", PROTOCOLS, _open),
        },
        {"nodes": slider("nodes of 8", NODES, "{:,}")},
    ],
    alt="Bus bandwidth of an AllReduce against buffer size, with nothing set and with the chosen"
    " settings of NCCL.",
    size=(7.6, 3.8),
    more=[{"channels": slider("channels, at most", CHANNELS, "{}")}],
)
def settings(ports=1, algorithm="", protocol="", channels=64, nodes=16, size=1 * GB):
    """An AllReduce of `size` bytes on `nodes` DGX H100, with these `ports`, algorithm, protocol and
    channels, beside one with nothing set.

    No ports are TCP sockets. Text left empty is NCCL's own choice. It starts with a job that was
    told of one adapter only.
    """
    set_to = environment(ports, algorithm, protocol, channels)
    chosen, plain = nccl.settings(set_to), nccl.settings({})
    now, before = (nccl.allreduce_time(size, nodes, case) for case in (chosen, plain))
    slower = f"{now / before:.3g}"

    def run(case, time):
        return (
            f"by {' and '.join(nccl.choice(size, nodes, case))}: {si(time, 's', 3)}, busbw"
            f" {si(nccl.busbw(size, nodes, case), 'B/s', 3)}"
        )

    return (size, nodes, chosen, plain), [
        " ".join(f"{name}={value}" for name, value in set_to.items()) or "Nothing set.",
        f"As set, {run(chosen, now)},"
        f" {'as long as' if slower == '1' else f'{slower} times as long as'} with nothing set.",
        f"Nothing set, {run(plain, before)}.",
        f"A node has {si(nccl.network_bandwidth(chosen), 'B/s', 3)} one way to others, a GPU"
        f" {si(nccl.inside_bandwidth(chosen), 'B/s', 3)} to its neighbours.",
    ]
