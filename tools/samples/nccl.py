"""The text of nccl-tests, from model numbers."""

from fabriclab.logs.nccl import factor

_SHARED = ("reduce_scatter", "all_gather", "alltoall")
_ELEMENT = 4  # bytes of a float


def _float(value, width):
    """A number as nccl-tests prints it: as many decimals as fit, two at most."""
    whole = len(str(int(value))) if value >= 1 else 0
    if whole < width - 2:
        return f"{value:{width}.2f}"
    if whole < width - 1:
        return f"{value:{width}.1f}"
    if whole < width + 1:
        return f"{value:{width}.0f}"
    return f"{value:{width}.1e}" if width >= 7 else f"{value:{width}.0e}"


def _columns(size, time, ranks, collective, wrong):
    algbw = size / time / 1e9
    busbw = algbw * factor(collective, ranks)
    check = "N/A" if wrong is None else f"{wrong:6g}"
    return f"  {_float(time * 1e6, 7)}  {_float(algbw, 6)}  {_float(busbw, 6)}  {check:>6}", busbw


def nccl_tests(
    collective,
    sizes,
    times,
    hosts,
    per_node,
    in_place=None,
    wrong=None,
    validated=True,
    gpu="NVIDIA H100 80GB HBM3",
    alone=False,
):
    """The text that nccl-tests 2.18 prints for runs of `collective` that took `times` seconds at
    `sizes` bytes.

    `collective` by nccl-tests' name ("all_reduce", …); sizes whole numbers of elements (4 bytes a
    rank's share); `in_place` seconds as well, else only out of place is measured twice alike;
    `hosts` names of nodes with `per_node` GPUs each; `wrong` a count of wrong elements a size.
    `validated` False prints N/A. `alone` prints what comes of a program built without MPI: one
    process a GPU, each a world of one rank, their lines interleaved. Rounds as the program does.
    Raises ValueError for an unknown collective or lists of different lengths.

    >>> print(nccl_tests("all_reduce", [1 << 30], [4.9e-3], ["node-a", "node-b"],
    ...     8).splitlines()[-6].strip())
    1073741824     268435456     float     sum      -1  4900.00  219.13  410.87       0  4900.00
    219.13  410.87       0
    """
    in_place = times if in_place is None else in_place
    wrong = [0] * len(sizes) if wrong is None else wrong
    if not len(sizes) == len(times) == len(in_place) == len(wrong) or not len(sizes):
        raise ValueError(
            f"sizes, times, in_place and wrong must be lists of one length, not {len(sizes)},"
            f" {len(times)}, {len(in_place)}, {len(wrong)}"
        )
    processes = [(host, device) for host in hosts for device in range(per_node)]
    ranks = 1 if alone else len(processes)
    redop, root = (
        ("sum" if "reduce" in collective else "none"),
        (0 if collective in ("broadcast", "reduce") else -1),
    )
    lines = []
    for _ in processes if alone else (0,):
        lines += [
            "# nccl-tests version 2.18.0 nccl-headers=22907 nccl-library=22907",
            f"# Collective test starting: {collective}_perf",
            (
                f"# nThread 1 nGpus 1 minBytes {sizes[0]} maxBytes {sizes[-1]} step: 2(factor)"
                f" warmup iters: 1 iters: 20 agg iters: 1 validation: {int(validated)} graph: 0"
                " unalign: 0"
            ),
            "#",
            "# Using devices",
        ]
    for rank, (host, device) in enumerate(processes):
        seat = f"on {host:>10} device {device:2d} [0000:{0x1B + 0x15 * device:02x}:00] {gpu}"
        lines.append(f"#  Rank {0 if alone else rank:2d} Group {0:2d} Pid {41000 + rank:6d} {seat}")
    left = f"# {'':>10}  {'':>12}  {'':>8}  {'':>6}  {'':>6}"
    for _ in processes if alone else (0,):
        lines += [
            "#",
            left + "           out-of-place                       in-place          ",
            f"# {'size':>10}  {'count':>12}  {'type':>8}  {'redop':>6}  {'root':>6}"
            + f"  {'time':>7}  {'algbw':>6}  {'busbw':>6}  {'#wrong':>6}" * 2,
            f"# {'(B)':>10}  {'(elements)':>12}  {'':>8}  {'':>6}  {'':>6}"
            + f"  {'(us)':>7}  {'(GB/s)':>6}  {'(GB/s)':>6}  {'':>6}" * 2,
        ]
    rates = []
    for size, out, into, bad in zip(sizes, times, in_place, wrong):
        count = size // _ELEMENT // (ranks if collective in _SHARED else 1)
        for _ in processes if alone else (0,):
            one, rate = _columns(size, out, ranks, collective, bad if validated else None)
            other, again = _columns(size, into, ranks, collective, bad if validated else None)
            rates += [rate, again]
            lines.append(
                f"{size:12d}  {count:12d}  {'float':>8}  {redop:>6}  {root:6d}{one}{other}"
            )
    bad = sum(1 for count in wrong for _ in (0, 1) if count)
    lines.append(f"# {'Out of bounds values':<20} : {bad} {'FAILED' if bad else 'OK'}")
    lines.append(f"# {'Avg bus bandwidth':<20} : {sum(rates) / len(rates):g} ")
    lines += ["#", f"# Collective test concluded: {collective}_perf", "#"]
    return "\n".join(lines) + "\n"
