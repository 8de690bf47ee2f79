"""The text of perftest, from bandwidths and latencies."""

from fabriclab.units import Gbps, MiB, us


def _perftest(title, device, depth, columns, rows, qps=1, link="IB", mtu=4096, gpu=False):
    rule = "-" * 87
    settings = [
        f" Dual-port       : OFF\t\tDevice         : {device}",
        f" Number of qps   : {qps}\t\tTransport type : IB",
        " Connection type : RC\t\tUsing SRQ      : OFF",
        f" TX depth        : {depth}",
        f" Mtu             : {mtu}[B]",
        f" Link type       : {link}",
        *[" Use CUDA memory : ON"] * gpu,
    ]
    return "\n".join([rule, f"{'':20}{title} Test", *settings, rule, columns, *rows, rule]) + "\n"


def perftest_bandwidth(
    sizes,
    averages,
    peaks=None,
    verb="RDMA_Write",
    unit="Gb/sec",
    device="mlx5_0",
    bidirectional=False,
    iterations=5000,
    qps=1,
    link="IB",
    mtu=4096,
    gpu=False,
):
    """The text that ib_write_bw (or the test of another `verb`) prints for `averages` and `peaks`
    in bytes per second at `sizes` bytes.

    Without peaks 0.00 stands there, as in duration mode. `unit` "Gb/sec", "MB/sec" or "MiB/sec";
    `bidirectional` names the averages as sums of both directions; `qps` flows at once; `link` "IB"
    or "Ethernet"; `gpu` says that GPU memory was sent.

    >>> from fabriclab.units import GB
    >>> perftest_bandwidth([65536], [48.2 * GB]).splitlines()[-2]
    ' 65536      5000             0.00               385.60             0.735474'
    """
    scale = Gbps if unit == "Gb/sec" else MiB
    rows = [
        f" {size:<7}    {iterations:<10}       {peak / scale:<7.2f}           "
        f" {average / scale:<7.2f}            {average / size / 1e6:<7.6f}"
        for size, average, peak in zip(sizes, averages, peaks or [0.0] * len(sizes))
    ]
    columns = f" #bytes     #iterations    BW peak[{unit}]    BW average[{unit}]   MsgRate[Mpps]"
    return _perftest(
        f"{verb} {'Bidirectional ' * bidirectional}BW",
        device,
        128,
        columns,
        rows,
        qps,
        link,
        mtu,
        gpu,
    )


def perftest_latency(sizes, times, verb="RDMA_Write", device="mlx5_0", iterations=1000, link="IB"):
    """The text that ib_write_lat (or the test of another `verb`) prints; `times` are, for each of
    `sizes` bytes, seven numbers of seconds: least, most, median, mean, standard deviation, 99th and
    99.9th percentile, as the test counts them.

    >>> times = [1.0 * us, 3.2 * us, 1.1 * us, 1.12 * us, 0.05 * us, 1.31 * us, 2.4 * us]
    >>> perftest_latency([2], [times]).splitlines()[-2].split()
    ['2', '1000', '1.00', '3.20', '1.10', '1.12', '0.05', '1.31', '2.40']
    """
    rows = []
    for size, each in zip(sizes, times):
        least, most, typical, mean, deviation, p99, p999 = (f"{time / us:<7.2f}" for time in each)
        rows.append(
            f" {size:<7} {iterations}          {least}        {most}      {typical}           "
            f" {mean}          {deviation}         {p99}                 {p999}"
        )
    columns = (
        " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]   "
        " t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]"
    )
    return _perftest(f"{verb} Latency", device, 1, columns, rows, link=link)
