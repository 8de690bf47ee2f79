"""The field guide alive: what NCCL's settings do to an AllReduce. Failures and checkpoints are in
`fabriclab.course.behaviour.fleet_explorers`. Floor 6.
"""

from fabriclab import nccl
from fabriclab.course.engine import plot
from fabriclab.course.engine.explorer import Explorer, slider, steps
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


def settings(ports=1, algorithm="", protocol="", channels=64, nodes=16, size=1 * GB):
    """An AllReduce of `size` bytes on `nodes` DGX H100, with these `ports`, algorithm, protocol and
    channels, beside one with nothing set.

    No ports are TCP sockets. Text left empty is NCCL's own choice. It starts with a job that was
    told of one adapter only.
    """
    controls = {
        "ports": slider(
            "adapters named", PORTS, lambda ports: f"{ports} of 8" if ports else "0: sockets", ports
        ),
        "algorithm": slider(
            "NCCL_ALGO",
            range(len(ALGORITHMS)),
            lambda stop: _open(ALGORITHMS[stop]),
            ALGORITHMS.index(algorithm),
        ),
        "protocol": slider(
            "NCCL_PROTO",
            range(len(PROTOCOLS)),
            lambda stop: _open(PROTOCOLS[stop]),
            PROTOCOLS.index(protocol),
        ),
        "channels": slider("channels, at most", CHANNELS, "{}".format, channels),
        "nodes": slider("nodes of 8", NODES, "{:,}".format, nodes),
        "size": slider("buffer", steps(1 * KB, 100 * GB), lambda size: si(size, "B", 3), size),
    }

    def read(ports, algorithm, protocol, channels):
        return nccl.settings(
            environment(ports, ALGORITHMS[algorithm], PROTOCOLS[protocol], channels)
        )

    def move(ports, algorithm, protocol, channels, nodes, size):
        chosen, plain = read(ports, algorithm, protocol, channels), nccl.settings({})
        times = nccl.allreduce_time(size, nodes, plain), nccl.allreduce_time(size, nodes, chosen)
        drawings.move_busbw(artists, size, nodes, chosen, plain)
        set_to = " ".join(
            f"{name}={value}"
            for name, value in environment(
                ports, ALGORITHMS[algorithm], PROTOCOLS[protocol], channels
            ).items()
        )
        slower = f"{times[1] / times[0]:.3g}"
        return "\n".join(
            [
                set_to or "Nothing set.",
                (
                    f"As set, by {' and '.join(nccl.choice(size, nodes, chosen))}:"
                    f" {si(times[1], 's', 3)}, busbw"
                    f" {si(nccl.busbw(size, nodes, chosen), 'B/s', 3)},"
                    f" {'as long as' if slower == '1' else f'{slower} times as long as'} with"
                    " nothing set."
                ),
                (
                    f"Nothing set, by {' and '.join(nccl.choice(size, nodes, plain))}:"
                    f" {si(times[0], 's', 3)}, busbw"
                    f" {si(nccl.busbw(size, nodes, plain), 'B/s', 3)}."
                ),
                (
                    f"A node has {si(nccl.network_bandwidth(chosen), 'B/s', 3)} one way to others,"
                    f" a GPU {si(nccl.inside_bandwidth(chosen), 'B/s', 3)} to its neighbours."
                ),
            ]
        )

    figure, axes = plot.new(7.6, 3.8)
    values = {name: controls[name].value for name in ("ports", "algorithm", "protocol", "channels")}
    artists = drawings.busbw(axes, size, nodes, read(**values), nccl.settings({}))
    return Explorer(
        controls,
        figure,
        [artist for name, group in artists.items() if name != "legend" for artist in group],
        move,
        alt=(
            "Bus bandwidth of an AllReduce against buffer size, with nothing set and with the"
            " chosen settings of NCCL."
        ),
        rows=[["ports", "channels"], ["algorithm", "protocol"], ["nodes", "size"]],
    )
